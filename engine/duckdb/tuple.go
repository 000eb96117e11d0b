package duckdb

import (
	"fmt"

	"github.com/discreet-dp/discreet/plan"
)

// tuple says how the fields of a row are called. To name a field is to use it: a relation is printed last, when
// the fields in use are known, and has no others.
type tuple []*frame

// frame is a relation in a FROM clause. Its name is its own in the whole statement, so that
// a subquery can name the rows around it.
type frame struct {
	relation plan.Relation
	alias    string
	used     []bool
	loose    []int // fields that are also used before the clamp to their bounds
}

func (p *printer) frame(r plan.Relation) *frame {
	p.aliases++
	return &frame{relation: r, alias: fmt.Sprintf("t%d", p.aliases), used: make([]bool, len(r.Fields()))}
}

// field names a field by its place among those of all frames.
func (r tuple) field(i int) string {
	for _, f := range r {
		if i < len(f.used) {
			return f.field(i)
		}
		i -= len(f.used)
	}
	panic("duckdb: a field that no row has") // package plan names no such field
}

func (f *frame) field(i int) string {
	f.used[i] = true
	return fmt.Sprintf("%s.f%d", f.alias, i)
}

// unclamped names a field of a table as it is before the clamp to its bounds. Package bound does that faster than DuckDB.
func (f *frame) unclamped(i int) string {
	f.loose = append(f.loose, i)
	return fmt.Sprintf("%s.r%d", f.alias, i)
}

// over prints an expression over some rows, which follow each other.
func (p *printer) over(r tuple, e plan.Expr) string {
	outer := p.row
	p.row = r
	text := p.expr(e)
	p.row = outer
	return text
}

// existing prints EXISTS. Nothing inside of it is computed once a row: DuckDB makes a join of it, because the
// relation itself names no row outside, and the condition alone does.
func (p *printer) existing(e *plan.Exists) string {
	inner := p.frame(e.From)
	where := ""
	if e.On != nil {
		where = " WHERE " + p.over(append(p.row[:len(p.row):len(p.row)], inner), e.On)
	}
	p.exists = true
	return "EXISTS (SELECT 1 FROM " + p.from(inner) + where + ")"
}
