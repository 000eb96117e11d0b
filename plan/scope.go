package plan

import (
	"strings"

	"github.com/discreet-dp/discreet/policy"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// scope says what names and functions mean in one part of a question. Below the
// noise a name is a private column and no aggregate exists; above it a name is
// a released key, and aggregates are released values.
type scope interface {
	column(name string, pos int32) (Expr, error)
	call(f *pg.FuncCall) (Expr, error)
}

// below is the scope below the noise: private rows.
type below struct{ *checker }

func (s below) column(name string, pos int32) (Expr, error) {
	col, err := s.resolve(name, pos)
	if err != nil {
		return nil, err
	}
	return columnExpr(col), nil
}

func (s below) call(f *pg.FuncCall) (Expr, error) {
	name := functionName(f)
	if isAggregate(name) {
		return nil, refuse(f.Location, "put it into SELECT, HAVING or ORDER BY", "an aggregate cannot be used inside a condition on rows or inside another aggregate")
	}
	return checkCall(s, f)
}

// above is the scope above the noise: released keys and aggregates.
type above struct{ *checker }

func (s above) column(name string, pos int32) (Expr, error) {
	col, err := s.resolve(name, pos)
	if err != nil {
		return nil, err
	}
	i, err := s.keyOutput(col, pos)
	if err != nil {
		return nil, err
	}
	return s.released(i), nil
}

func (s above) call(f *pg.FuncCall) (Expr, error) {
	if isFunction(functionName(f)) {
		return checkCall(s, f)
	}
	i, err := s.aggregateOutput(f)
	if err != nil {
		return nil, err
	}
	return s.released(i), nil
}

func (c *checker) released(i int) Expr { return &Released{Output: i, typ: c.outputs[i].typ} }

// resolve finds a column of the table.
func (c *checker) resolve(name string, pos int32) (*policy.Column, error) {
	if qualifier, rest, ok := strings.Cut(name, "\x00"); ok {
		if !strings.EqualFold(qualifier, c.alias) {
			return nil, refuse(pos, "the table here is "+c.alias, "there is no table %q in this question", qualifier)
		}
		name = rest
	}
	col, ok := lookup(c.table.Columns, name)
	if !ok {
		return nil, refuse(pos, known("columns of "+c.table.Name, c.table.Columns), "there is no column %q", name)
	}
	return col, nil
}
