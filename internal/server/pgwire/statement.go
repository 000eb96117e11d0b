package pgwire

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
	"github.com/pganalyze/pg_query_go/v6/parser"

	"github.com/discreet-dp/discreet/internal/nesting"
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
)

// statement is one statement of a text.
type statement struct {
	name     string
	text     string // all of what was sent
	from, to int    // where the statement is in it
	kind     kind
	node     *pg.Node // of small statements only: trees are large
	values   int      // the highest $n

	given      []uint32 // types of parameters, as the client has them
	described  bool
	parameters []uint32
	columns    []column // nil where no rows come
	explained  explained
	bytes      int // that it was counted with
}

func (st *statement) sql() string { return st.text[st.from:st.to] }

// size is about what keeping it takes.
func (st *statement) size() int {
	return len(st.text) + len(st.name) + 8*len(st.given) + 2048
}

// split reads a text: into its statements, or why it cannot be read. Limits come before the grammar, which recurses.
func split(text string) ([]*statement, error) {
	if len(text) > maxText {
		return nil, failure(tooComplex, "the text is longer than %d bytes", maxText)
	}
	if !utf8.ValidString(text) {
		return nil, failure(invalidEncoding, "the text is not valid UTF-8")
	}
	if strings.ContainsRune(text, 0) {
		return nil, failure(invalidEncoding, "the text contains a zero byte")
	}
	scan, err := pg.Scan(text)
	if err != nil {
		return nil, syntax(err)
	}
	if err := shallow(scan.Tokens); err != nil {
		return nil, err
	}
	tree, err := pg.Parse(text)
	if err != nil {
		return nil, syntax(err)
	}
	if len(tree.Stmts) > maxStatements {
		return nil, failure(tooComplex, "the text has more than %d statements", maxStatements)
	}
	var all []*statement
	for _, raw := range tree.Stmts {
		st := &statement{text: text, from: int(raw.StmtLocation), to: len(text)}
		if raw.StmtLen > 0 {
			st.to = st.from + int(raw.StmtLen)
		}
		if st.from < 0 || st.from > st.to || st.to > len(text) {
			return nil, internal()
		}
		st.values = highest(scan.Tokens, text, st.from, st.to)
		if st.values > maxParameters {
			return nil, failure(tooComplex, "a statement has at most %d parameters", maxParameters)
		}
		st.node = raw.Stmt
		all = append(all, st)
	}
	return all, nil
}

// shallow refuses texts that are nested deep.
func shallow(tokens []*pg.ScanToken) error {
	if len(tokens) > maxTokens {
		return failure(tooComplex, "the text has more than %d words", maxTokens)
	}
	if at, deeper := nesting.Deeper(tokens, maxDepth); deeper {
		e := failure(tooComplex, "the text is nested more than %d levels deep", maxDepth)
		e.position = int(at) + 1
		return e
	}
	return nil
}

// highest returns the highest $n between two places.
func highest(tokens []*pg.ScanToken, text string, from, to int) int {
	most := 0
	for _, t := range tokens {
		if t.Token != pg.Token_PARAM || int(t.Start) < from || int(t.End) > to {
			continue
		}
		n := 0
		for _, c := range text[t.Start+1 : t.End] {
			if n = 10*n + int(c-'0'); c < '0' || c > '9' || n > maxParameters {
				n = maxParameters + 1
				break
			}
		}
		most = max(most, n)
	}
	return most
}

// syntax is what the grammar says, which is made of the text alone.
func syntax(err error) error {
	var p *parser.Error
	if !errors.As(err, &p) {
		return failure(syntaxError, "the text cannot be parsed")
	}
	message := []rune(strings.TrimSpace(p.Message)) // it may quote all of a long text
	if len(message) > 200 {
		message = append(message[:200], []rune(" ...")...)
	}
	e := failure(syntaxError, "%s", string(message))
	e.character = p.Cursorpos
	return e
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
	st.columns, st.described = columns, true
	return nil
}

// shape asks who will answer.
func (s *session) shape(st *statement) (parameters []uint32, columns []column, err error) {
	switch st.kind {
	case question:
		return s.shapeQuestion(st.sql())
	case catalogue:
		return s.shapeCatalogue(st.sql(), st.given)
	case explaining:
		if st.explained.catalogue {
			parameters, _, err = s.shapeCatalogue(st.explained.sql, st.given)
		} else {
			parameters, _, err = s.shapeQuestion(st.explained.sql)
		}
		return parameters, st.explained.columns(), st.explained.shift(err)
	case showing:
		return nil, showColumns(st.node.GetVariableShowStmt().GetName()), nil
	}
	return nil, nil, nil
}

func (s *session) shapeQuestion(sql string) (parameters []uint32, columns []column, err error) {
	err = s.running(func(ctx context.Context) error {
		d, err := s.server.asked.Describe(ctx, s.ask(sql, nil, ""))
		if err != nil {
			return err
		}
		for _, k := range d.Parameters {
			parameters = append(parameters, oidOf(k))
		}
		columns = []column{}
		for _, c := range d.Columns {
			columns = append(columns, column{c.Name, oidOf(c.Kind)})
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
