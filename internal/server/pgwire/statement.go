package pgwire

import (
	"errors"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"

	"github.com/discreet-dp/discreet/internal/grammar"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/server/catalog"
)

// statement is one statement of a text.
type statement struct {
	name     string
	text     string // all of what was sent
	from, to int    // where the statement is in it
	kind     kind
	read     *grammar.Parsed // until it is routed
	node     *pg.Node        // of small statements only: trees are large
	question *syntax.Text    // of the SELECT that was prepared last: trees are large
	values   int             // the highest $n
	words    int             // of the whole text

	given      []uint32 // types of parameters, as the client has them
	described  bool
	errors     string // the columns of error bars that were described
	parameters []uint32
	columns    []column // nil where no rows come
	explained  explained
	inner      *statement   // of COPY, DECLARE, PREPARE and CREATE VIEW: the SELECT inside
	copy       *copyOptions // of a COPY
	cursor     cursor       // of a DECLARE
	view       view         // of a CREATE VIEW
	keepers    int          // that keep it: its name, and portals
	bytes      int          // that it was counted with, where somebody keeps it
	since      time.Time    // when it was prepared
	named      bool         // by a PREPARE
}

func (st *statement) sql() string { return st.text[st.from:st.to] }

// size is about what keeping it takes.
func (st *statement) size() int {
	n := 2048 + len(st.text) + len(st.name) + 4*len(st.given) + 4*len(st.parameters)
	if st.node != nil || st.question != nil || st.explained.execute != nil {
		n += wordSize * st.words
	}
	for _, c := range st.columns {
		n += 48 + len(c.name)
	}
	for _, name := range st.view.columns {
		n += 16 + len(name)
	}
	if st.copy != nil {
		for _, name := range st.copy.force {
			n += 16 + len(name)
		}
	}
	if st.inner != nil {
		n += st.inner.size()
	}
	return n
}

// split reads a text: into its statements, or why it cannot be read.
func split(text string) ([]*statement, error) {
	parsed, err := grammar.Parse(text, texts)
	if err != nil {
		return nil, unreadable(err)
	}
	if len(parsed.Statements) > maxStatements {
		return nil, failure(tooComplex, "the text has more than %d statements", maxStatements)
	}
	var all []*statement
	words := len(parsed.Words(0, len(text)))
	for _, raw := range parsed.Statements {
		st := &statement{text: text, from: int(raw.StmtLocation), to: len(text), read: parsed, node: raw.Stmt, words: words}
		if raw.StmtLen > 0 {
			st.to = st.from + int(raw.StmtLen)
		}
		if st.from < 0 || st.from > st.to || st.to > len(text) {
			return nil, internal()
		}
		if st.values = highest(parsed.Words(st.from, st.to), st.sql()); st.values > maxParameters {
			return nil, failure(tooComplex, "a statement has at most %d parameters", maxParameters)
		}
		all = append(all, st)
	}
	return all, nil
}

// highest returns the highest $n.
func highest(words []grammar.Word, text string) int {
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

// unreadable says why a text cannot be read, which follows from the text alone.
func unreadable(err error) error {
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
			failed = failed.hinting("leave comments out")
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

// kind says who answers a statement.
type kind int

const (
	empty kind = iota
	question
	catalogue
	explaining
	changing
	showing
	transaction
	discarding
	deallocating
	closing
	idling
	viewing
	dropping
	copying
	declaring
	fetching
	preparing
	executing
)

// router decides who answers statements, from their trees, or refuses them.
type router struct {
	identity
	catalog  *catalog.Catalog
	settings *settings
}

// route decides who answers a statement, from its tree, or refuses it.
func (r *router) route(st *statement) error {
	node, read := st.node, st.read
	defer func() { st.read = nil }()
	switch n := node.GetNode().(type) {
	case *pg.Node_SelectStmt:
		st.node = nil
		st.kind = question
		if r.catalog.About(n.SelectStmt) {
			st.kind = catalogue
		} else {
			if err := r.refuseView(n.SelectStmt); err != nil {
				return err
			}
			st.question = syntax.NewText(read, n.SelectStmt, st.from, st.to)
		}
		return r.allowQuestion(st.kind)
	case *pg.Node_ExplainStmt:
		st.kind, st.node = explaining, nil
		var err error
		if st.explained, err = r.readExplain(st, n.ExplainStmt); err != nil {
			return err
		}
		if st.explained.catalogue || st.explained.execute != nil {
			return nil
		}
		st.question = syntax.NewText(read, n.ExplainStmt.Query.GetSelectStmt(), st.from+st.explained.at, st.to)
		return r.allowQuestion(question)
	case *pg.Node_CopyStmt:
		st.kind, st.node = copying, nil
		return r.routeCopy(st, n.CopyStmt)
	case *pg.Node_DeclareCursorStmt:
		st.kind, st.node = declaring, nil
		return r.routeDeclare(st, n.DeclareCursorStmt)
	case *pg.Node_PrepareStmt:
		st.kind, st.node = preparing, nil
		return r.routePrepare(st, n.PrepareStmt)
	case *pg.Node_ViewStmt:
		st.kind, st.node = viewing, nil
		return r.routeView(st, n.ViewStmt)
	}
	// Of everything else the tree is kept, which is far larger than its text.
	if st.to-st.from > maxCommand {
		return failure(tooComplex, "a statement that is no SELECT has at most %d bytes", maxCommand)
	}
	switch n := node.GetNode().(type) {
	case *pg.Node_VariableSetStmt:
		st.kind = changing
	case *pg.Node_VariableShowStmt:
		st.kind = showing
		return r.checkShow(n.VariableShowStmt.Name)
	case *pg.Node_TransactionStmt:
		st.kind = transaction
	case *pg.Node_DiscardStmt:
		st.kind = discarding
	case *pg.Node_DeallocateStmt:
		st.kind = deallocating
	case *pg.Node_ClosePortalStmt:
		st.kind = closing
	case *pg.Node_ListenStmt, *pg.Node_UnlistenStmt, *pg.Node_ConstraintsSetStmt:
		st.kind = idling
	case *pg.Node_DropStmt:
		return r.routeDrop(st, n.DropStmt)
	case *pg.Node_FetchStmt:
		st.kind = fetching
	case *pg.Node_ExecuteStmt:
		st.kind = executing
	default:
		return refused(node)
	}
	return nil
}

// allowQuestion refuses the questions of owners who are no analysts.
func (r *router) allowQuestion(k kind) error {
	if k == question && !r.analyst {
		return failure(notPermitted,
			"the policy does not list you as an analyst of this dataset, so you can look at the catalogue and ask nothing")
	}
	return nil
}

// refused says why a statement is for other servers.
func refused(node *pg.Node) error {
	const ask = "write a SELECT of aggregates, as in SELECT count(*) FROM table"
	switch node.GetNode().(type) {
	case *pg.Node_InsertStmt, *pg.Node_UpdateStmt, *pg.Node_DeleteStmt, *pg.Node_MergeStmt, *pg.Node_TruncateStmt,
		*pg.Node_CreateTableAsStmt, *pg.Node_CreateStmt,
		*pg.Node_DropStmt, *pg.Node_AlterTableStmt, *pg.Node_IndexStmt, *pg.Node_ViewStmt, *pg.Node_CreateSchemaStmt,
		*pg.Node_CreateSeqStmt, *pg.Node_CreateFunctionStmt,
		*pg.Node_RenameStmt, *pg.Node_CommentStmt, *pg.Node_RefreshMatViewStmt, *pg.Node_CreateExtensionStmt, *pg.Node_CreatedbStmt,
		*pg.Node_DropdbStmt:
		return failure(readOnly, "nothing can be written here").hinting(ask)
	case *pg.Node_GrantStmt, *pg.Node_GrantRoleStmt, *pg.Node_CreateRoleStmt, *pg.Node_AlterRoleStmt, *pg.Node_AlterRoleSetStmt,
		*pg.Node_DropRoleStmt, *pg.Node_AlterSystemStmt:
		return failure(notPermitted, "users and what they may do are for the owner of the data").hinting("the owner uses 'discreet " +
			"user', and the policy")
	case *pg.Node_NotifyStmt:
		return failure(notPermitted, "sessions tell one another nothing here")
	case *pg.Node_VacuumStmt:
		return failure(notPermitted, "nothing is written here, and no statistics of the data are gathered: they would tell about people").
			hinting(ask)
	case *pg.Node_LockStmt:
		return failure(notSupported, "there is nothing to lock: nobody writes")
	}
	return failure(notSupported, "this statement is not supported").hinting(ask)
}

// enclose finds the SELECT inside of a statement, which stands behind a word of its own, and
// decides who answers that. What it costs and when its answer leaves is decided where every SELECT
// is run: there is no second way to the data.
func (r *router) enclose(st *statement, inside *pg.Node, behind pg.Token) error {
	if inside.GetSelectStmt() == nil {
		return failure(notSupported, "this statement takes a SELECT, and nothing else").hinting("nothing is written here")
	}
	from, to := between(st.read.Words(st.from, st.to), behind, st.to-st.from)
	st.inner = &statement{text: st.text, from: st.from + from, to: st.from + to, read: st.read, node: inside, values: st.values,
		words: st.words}
	return st.moved(r.route(st.inner))
}

// between is what stands behind the first word of a kind, of which the tree does not say where it
// is: up to its closing parenthesis, where the word is an opening one, and otherwise up to the end.
func between(words []grammar.Word, behind pg.Token, end int) (from, to int) {
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

// moved is an error of the statement inside, with its place in the whole.
func (st *statement) moved(err error) error {
	if st.inner.text != st.text {
		return placeless(err)
	}
	return shifted(err, st.inner.from-st.from)
}

// shifted moves the place of an error.
func shifted(err error, by int) error {
	var wire *wireError
	if errors.As(err, &wire) && wire.position > 0 {
		moved := *wire
		moved.position += by
		return &moved
	}
	return err
}

// placeless takes the place off an error: it is one in another text than the client has sent.
func placeless(err error) error {
	var wire *wireError
	if errors.As(err, &wire) {
		bare := *wire
		bare.position, bare.character = 0, 0
		return &bare
	}
	return err
}

// alone is the statement inside, in a text of its own, for who keeps it.
func (st *statement) alone() *statement {
	out := *st.inner
	out.text = strings.Clone(st.inner.sql())
	out.from, out.to = 0, len(out.text)
	out.question = nil // trees are large
	return &out
}
