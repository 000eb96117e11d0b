package pgwire

import (
	"context"
	"errors"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"

	"github.com/discreet-dp/discreet/internal/grammar"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
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

// read reads a text when it is the user's turn.
func (s *session) read(text string) (all []*statement, err error) {
	var unreadable error
	err = s.running(func(ctx context.Context) error {
		return s.server.options.Dispatcher.Read(ctx, s.user.Name, len(text), func() { all, unreadable = split(text) })
	})
	if err != nil {
		return nil, err
	}
	return all, unreadable
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

// describe finds out what a statement takes and returns, once.
func (s *session) describe(st *statement) error {
	if st.described {
		return nil
	}
	parameters, columns, err := s.shape(st)
	if err != nil {
		return err
	}
	n := max(st.values, len(parameters), len(st.given))
	st.parameters = make([]uint32, n)
	for i := range st.parameters {
		if i < len(parameters) {
			st.parameters[i] = parameters[i]
		}
		if i < len(st.given) && st.given[i] != 0 && st.given[i] != unknownOID {
			st.parameters[i] = st.given[i]
		}
		if st.parameters[i] == 0 {
			st.parameters[i] = textOID
		}
	}
	// What a cursor and a prepared statement are another one may be called next.
	st.columns, st.described = columns, st.kind != fetching && st.kind != executing
	st.errors = s.settings.now.dp.Errors
	if err := s.recount(st); err != nil {
		st.parameters, st.columns, st.described = nil, nil, false
		return err
	}
	return nil
}

// describeInner finds out what the SELECT inside of a statement takes and returns.
func (s *session) describeInner(st *statement) error {
	if err := s.describe(st.inner); err != nil {
		return st.moved(err)
	}
	return s.recount(st)
}

// shape asks who will answer.
func (s *session) shape(st *statement) (parameters []uint32, columns []column, err error) {
	switch st.kind {
	case question:
		return s.shapeQuestion(st, st.sql())
	case catalogue:
		return s.shapeCatalogue(st.sql(), st.given)
	case explaining:
		if st.explained.execute != nil {
			_, _, err = s.executed(st.explained.execute)
			return nil, st.explained.columns(), err
		}
		if st.explained.catalogue {
			parameters, _, err = s.shapeCatalogue(st.explained.sql, st.given)
		} else {
			parameters, _, err = s.shapeQuestion(st, st.explained.sql)
		}
		return parameters, st.explained.columns(), st.explained.shift(err)
	case showing:
		return nil, showColumns(st.node.GetVariableShowStmt().GetName()), nil
	case copying, declaring:
		st.inner.given = st.given
		err = s.describeInner(st)
		return st.inner.parameters, nil, err
	case fetching:
		columns, err = s.shapeFetch(st.node.GetFetchStmt())
		return nil, columns, err
	case executing:
		found, _, err := s.executed(st.node.GetExecuteStmt())
		if err != nil {
			return nil, nil, err
		}
		return nil, found.columns, nil
	}
	return nil, nil, nil
}

func (s *session) shapeQuestion(st *statement, sql string) (parameters []uint32, columns []column, err error) {
	q := s.ask(st, sql, nil, "")
	for _, t := range st.given {
		kind := ""
		if t != 0 && t != unknownOID {
			kind = kindOf(t)
		}
		q.Kinds = append(q.Kinds, kind)
	}
	err = s.running(func(ctx context.Context) error {
		d, err := s.server.asked.Describe(ctx, q)
		if err != nil {
			return err
		}
		for _, k := range d.Parameters {
			parameters = append(parameters, oidOf(k))
		}
		columns = []column{}
		for _, c := range d.Columns {
			columns = append(columns, columnOf(c))
		}
		return nil
	})
	return parameters, columns, err
}

func (s *session) shapeCatalogue(sql string, given []uint32) (parameters []uint32, columns []column, err error) {
	err = s.looking(func(context.Context) error {
		var found []datum.Column
		if parameters, found, err = s.catalog.Describe(sql, given); err == nil {
			columns = columnsOf(found)
		}
		return err
	})
	return parameters, columns, err
}
