package pgwire

import (
	"errors"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"

	"github.com/discreet-dp/discreet/internal/pgcatalog"
	"github.com/discreet-dp/discreet/internal/planner/grammar"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/policy"
)

type statement struct {
	name           string
	text           string // all of what was sent
	from, to       int    // where the statement is in it
	kind           statementKind
	parsed         *grammar.Parsed // until it is routed
	node           *pg.Node        // of small statements only: trees are large
	question       *syntax.Text    // of the SELECT that was prepared last: trees are large
	parameterCount int             // the highest $n
	wordCount      int             // of the whole text
	own            ownSettings     // of the comment before it

	givenTypes     []uint32 // types of parameters, as the client has them
	described      bool
	errorColumns   string         // the columns of error bars that were described
	policy         *policy.Policy // under which it was described
	parameterTypes []uint32
	columns        []column // nil where no rows come
	explained      explainTarget
	inner          *statement   // of COPY, DECLARE, PREPARE and CREATE VIEW: the SELECT inside
	copy           *copyOptions // of a COPY
	cursor         cursor       // of a DECLARE
	view           view         // of a CREATE VIEW
	keepers        int          // that keep it: its name, and portals
	keptBytes      int          // that it was counted with, where somebody keeps it
	preparedAt     time.Time
	fromPrepare    bool // and not from a message of the protocol
}

func (st *statement) sql() string { return st.text[st.from:st.to] }

// size is about what keeping it takes.
func (st *statement) size() int {
	n := 2048 + len(st.text) + len(st.name) + 4*len(st.givenTypes) + 4*len(st.parameterTypes)
	if st.node != nil || st.question != nil || st.explained.execute != nil {
		n += treeBytesPerWord * st.wordCount
	}
	for _, c := range st.columns {
		n += 48 + len(c.name)
	}
	for _, name := range st.view.columns {
		n += 16 + len(name)
	}
	if st.copy != nil {
		for _, name := range st.copy.forcedColumns {
			n += 16 + len(name)
		}
	}
	if st.inner != nil {
		n += st.inner.size()
	}
	return n
}

// splitStatements reads a text: into its statements, or why it cannot be read.
func splitStatements(text string) ([]*statement, error) {
	parsed, err := grammar.Parse(text, textLimits)
	if err != nil {
		return nil, parseError(err)
	}
	if len(parsed.Statements) > maxStatements {
		return nil, failure(tooComplex, "the text has more than %d statements", maxStatements)
	}
	var all []*statement
	words := len(parsed.Words(0, len(text)))
	for _, raw := range parsed.Statements {
		st := &statement{text: text, from: int(raw.StmtLocation), to: len(text), parsed: parsed, node: raw.Stmt, wordCount: words}
		if raw.StmtLen > 0 {
			st.to = st.from + int(raw.StmtLen)
		}
		if st.from < 0 || st.from > st.to || st.to > len(text) {
			return nil, internalFailure()
		}
		if st.parameterCount = highestParameter(parsed.Words(st.from, st.to), st.sql()); st.parameterCount > maxParameters {
			return nil, failure(tooComplex, "a statement can have at most %d parameters", maxParameters)
		}
		if st.own, err = readComments(parsed.Words(st.from, st.to), st.sql()); err != nil {
			return nil, shiftPosition(err, st.from)
		}
		all = append(all, st)
	}
	return all, nil
}

func highestParameter(words []grammar.Word, text string) int {
	most := 0
	for _, w := range words {
		if w.Kind != pg.Token_PARAM {
			continue
		}
		n := 0
		for _, c := range text[w.Start+1 : w.End] {
			if n = 10*n + int(c-'0'); c < '0' || c > '9' || n > maxParameters {
				n = maxParameters + 1
				break
			}
		}
		most = max(most, n)
	}
	return most
}

// parseError says why a text cannot be read, which follows from the text alone.
func parseError(err error) error {
	var e *grammar.Excess
	if errors.As(err, &e) {
		code := tooComplex
		if e.Kind == grammar.NotUTF8 || e.Kind == grammar.ZeroByte {
			code = invalidEncoding
		}
		failed := failure(code, "the text %s", e.Says)
		if e.Kind == grammar.TooDeep {
			failed.position = int(e.At) + 1
		}
		if e.Kind == grammar.TooManyComments {
			failed = failed.withHint("leave comments out")
		}
		return failed
	}
	var p *parser.Error
	if !errors.As(err, &p) {
		return failure(syntaxError, "the text cannot be parsed")
	}
	failed := failure(syntaxError, "%s", grammar.Message(p))
	failed.character = p.Cursorpos
	return failed
}

type statementKind int

const (
	emptyStatement statementKind = iota
	questionStatement
	catalogueStatement
	explainStatement
	setStatement
	showStatement
	transactionStatement
	discardStatement
	deallocateStatement
	closeStatement
	listenStatement
	createViewStatement
	dropViewStatement
	copyStatement
	declareStatement
	fetchStatement
	prepareStatement
	executeStatement
)

type router struct {
	identity
	catalog  *pgcatalog.Catalog
	settings *settings
}

// route decides who answers a statement, from its tree, or refuses it.
func (r *router) route(st *statement) error {
	node, read := st.node, st.parsed
	defer func() { st.parsed = nil }()
	switch n := node.GetNode().(type) {
	case *pg.Node_SelectStmt:
		st.node = nil
		st.kind = questionStatement
		if r.catalog.About(n.SelectStmt) {
			st.kind = catalogueStatement
		} else {
			if err := r.refuseView(n.SelectStmt); err != nil {
				return err
			}
			st.question = syntax.NewText(read, n.SelectStmt, st.from, st.to)
		}
		return r.refuseNonAnalyst(st.kind)
	case *pg.Node_ExplainStmt:
		st.kind, st.node = explainStatement, nil
		var err error
		if st.explained, err = r.readExplain(st, n.ExplainStmt); err != nil {
			return err
		}
		if st.explained.execute != nil {
			return st.own.refuseElsewhere(executeStatement)
		}
		if st.explained.catalogue {
			return nil
		}
		st.question = syntax.NewText(read, n.ExplainStmt.Query.GetSelectStmt(), st.from+st.explained.at, st.to)
		return r.refuseNonAnalyst(questionStatement)
	case *pg.Node_CopyStmt:
		st.kind, st.node = copyStatement, nil
		return r.routeCopy(st, n.CopyStmt)
	case *pg.Node_DeclareCursorStmt:
		st.kind, st.node = declareStatement, nil
		return r.routeDeclare(st, n.DeclareCursorStmt)
	case *pg.Node_PrepareStmt:
		st.kind, st.node = prepareStatement, nil
		return r.routePrepare(st, n.PrepareStmt)
	case *pg.Node_ViewStmt:
		st.kind, st.node = createViewStatement, nil
		return r.routeView(st, n.ViewStmt)
	}
	// Of everything else the tree is kept, which is far larger than its text.
	if st.to-st.from > maxCommandBytes {
		return failure(tooComplex, "a statement that is not a SELECT can have at most %d bytes", maxCommandBytes)
	}
	switch n := node.GetNode().(type) {
	case *pg.Node_VariableSetStmt:
		st.kind = setStatement
	case *pg.Node_VariableShowStmt:
		st.kind = showStatement
		return r.checkShow(n.VariableShowStmt.Name)
	case *pg.Node_TransactionStmt:
		st.kind = transactionStatement
	case *pg.Node_DiscardStmt:
		st.kind = discardStatement
	case *pg.Node_DeallocateStmt:
		st.kind = deallocateStatement
	case *pg.Node_ClosePortalStmt:
		st.kind = closeStatement
	case *pg.Node_ListenStmt, *pg.Node_UnlistenStmt, *pg.Node_ConstraintsSetStmt:
		st.kind = listenStatement
	case *pg.Node_DropStmt:
		if n.DropStmt.RemoveType != pg.ObjectType_OBJECT_VIEW {
			return refuseStatement(node)
		}
		st.kind = dropViewStatement
	case *pg.Node_FetchStmt:
		st.kind = fetchStatement
	case *pg.Node_ExecuteStmt:
		st.kind = executeStatement
	default:
		return refuseStatement(node)
	}
	return st.own.refuseElsewhere(st.kind)
}

// refuseNonAnalyst refuses the questions of owners who are no analysts.
func (r *router) refuseNonAnalyst(k statementKind) error {
	if k == questionStatement && !r.analyst {
		return failure(notPermitted,
			"the policy does not list you as an analyst of this dataset, so you can look at the catalogue but cannot ask")
	}
	return nil
}

// refuseStatement says why a statement is for other servers.
func refuseStatement(node *pg.Node) error {
	const ask = "write a SELECT of aggregates, as in SELECT count(*) FROM table"
	switch node.GetNode().(type) {
	case *pg.Node_InsertStmt, *pg.Node_UpdateStmt, *pg.Node_DeleteStmt, *pg.Node_MergeStmt, *pg.Node_TruncateStmt,
		*pg.Node_CreateTableAsStmt, *pg.Node_CreateStmt,
		*pg.Node_DropStmt, *pg.Node_AlterTableStmt, *pg.Node_IndexStmt, *pg.Node_ViewStmt, *pg.Node_CreateSchemaStmt,
		*pg.Node_CreateSeqStmt, *pg.Node_CreateFunctionStmt,
		*pg.Node_RenameStmt, *pg.Node_CommentStmt, *pg.Node_RefreshMatViewStmt, *pg.Node_CreateExtensionStmt, *pg.Node_CreatedbStmt,
		*pg.Node_DropdbStmt:
		return failure(readOnly, "nothing can be written here").withHint(ask)
	case *pg.Node_GrantStmt, *pg.Node_GrantRoleStmt, *pg.Node_CreateRoleStmt, *pg.Node_AlterRoleStmt, *pg.Node_AlterRoleSetStmt,
		*pg.Node_DropRoleStmt, *pg.Node_AlterSystemStmt:
		return failure(notPermitted, "only the owner of the data manages users and their rights").withHint("the owner uses 'discreet " +
			"user' and the policy")
	case *pg.Node_NotifyStmt:
		return failure(notPermitted, "sessions cannot notify one another here")
	case *pg.Node_VacuumStmt:
		return failure(notPermitted, "nothing is written here, and no statistics of the data are gathered: they would reveal things "+
			"about people").
			withHint(ask)
	case *pg.Node_LockStmt:
		return failure(notPermitted, "there is nothing to lock, because nobody writes").
			withHint("pg_dump cannot be used, because rows of people are not shown; \\d in psql shows the tables")
	}
	return failure(notSupported, "this statement is not supported").withHint(ask)
}

// enclose finds the SELECT inside of a statement, which stands behind a word of its own, and
// decides who answers that. What it costs and when its answer leaves is decided where every SELECT
// is run: there is no second way to the data.
func (r *router) enclose(st *statement, inside *pg.Node, behind pg.Token) error {
	if inside.GetSelectStmt() == nil {
		return failure(notSupported, "this statement takes only a SELECT").withHint("nothing is written here")
	}
	from, to := findInside(st.parsed.Words(st.from, st.to), behind, st.to-st.from)
	st.inner = &statement{text: st.text, from: st.from + from, to: st.from + to, parsed: st.parsed, node: inside,
		parameterCount: st.parameterCount, wordCount: st.wordCount, own: st.own}
	return st.relocateError(r.route(st.inner))
}

// findInside is what stands behind the first word of a kind, of which the tree does not say where
// it is: up to its closing parenthesis, where the word is an opening one, and otherwise up to the
// end.
func findInside(words []grammar.Word, behind pg.Token, end int) (from, to int) {
	depth, found := 0, false
	for _, w := range words {
		switch {
		case w.Kind == behind && depth == 0 && !found:
			from, found = int(w.End), true
		case w.Kind == pg.Token_ASCII_41 && depth == 0 && found && behind == pg.Token_ASCII_40:
			return from, int(w.Start)
		case w.Kind == pg.Token_ASCII_40:
			depth++
		case w.Kind == pg.Token_ASCII_41:
			depth--
		}
	}
	return from, end
}

// relocateError gives an error of the statement inside its position in the whole.
func (st *statement) relocateError(err error) error {
	if st.inner.text != st.text {
		return dropPosition(err)
	}
	return shiftPosition(err, st.inner.from-st.from)
}

func shiftPosition(err error, by int) error {
	var wire *wireError
	if errors.As(err, &wire) && wire.position > 0 {
		moved := *wire
		moved.position += by
		return &moved
	}
	return err
}

// dropPosition is for errors in another text than the client has sent.
func dropPosition(err error) error {
	var wire *wireError
	if errors.As(err, &wire) {
		bare := *wire
		bare.position, bare.character = 0, 0
		return &bare
	}
	return err
}

// detachInner is the statement inside, in a text of its own, for who keeps it.
func (st *statement) detachInner() *statement {
	out := *st.inner
	out.text = strings.Clone(st.inner.sql())
	out.from, out.to = 0, len(out.text)
	out.question = nil // trees are large
	return &out
}
