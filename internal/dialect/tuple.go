package dialect

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// tuple says how the fields of a row are called. To name a field is to use it: a relation is
// printed last, when the fields in use are known, and has no others.
type tuple []*frame

// frame is a relation in a FROM clause. Its name is its own in the whole statement, so that
// a subquery can name the rows around it.
type frame struct {
	relation tree.Relation
	alias    string
	used     []bool
	loose    []bool // fields that are also used before the clamp to their bounds
	coded    []bool // fields of which the code is used
	number   bool   // whether the number of a person is used
	cut      int    // how many fields are seen; 0 stands for all
}

func (p *Printer) frame(r tree.Relation) *frame {
	p.aliases++
	return &frame{relation: r, alias: fmt.Sprintf("t%d", p.aliases), used: make([]bool, len(r.Fields())),
		loose: make([]bool, len(r.Fields())), coded: make([]bool, len(r.Fields()))}
}

// first is a row without the fields that come after the first n.
func (r tuple) first(n int) tuple {
	var out tuple
	for _, f := range r {
		if f.size() > n {
			cut := *f
			cut.cut = n
			f = &cut // it shares used and loose, so that to name a field here is to use it there
		}
		out, n = append(out, f), n-f.size()
		if n == 0 {
			return out
		}
	}
	panic("dialect: a row with fewer fields than a subquery asks about") // package plan makes none
}

// size is how many fields of a frame there are to be named.
func (f *frame) size() int {
	if f.cut > 0 {
		return f.cut
	}
	return len(f.used)
}

// field names a field by its place among those of all frames.
func (r tuple) field(i int) string {
	f, at := r.frame(i)
	return f.field(at)
}

// frame finds the frame of a field, and its place there.
func (r tuple) frame(i int) (*frame, int) {
	for _, f := range r {
		if i < f.size() {
			return f, i
		}
		i -= f.size()
	}
	panic("dialect: a field that no row has") // package plan names no such field
}

func (f *frame) field(i int) string {
	f.used[i] = true
	return fmt.Sprintf("%s.f%d", f.alias, i)
}

// unclamped names a field of a table as it is before the clamp to its bounds: where package bound
// clamps it, which does that faster than DuckDB, and where a comparison says the same of both.
func (f *frame) unclamped(i int) string {
	f.loose[i] = true
	return fmt.Sprintf("%s.r%d", f.alias, i)
}

// exprOf prints an expression of some rows, which follow each other.
func (p *Printer) exprOf(r tuple, e tree.Expr) string {
	outer := p.row
	p.row = r
	text := p.Expr(e)
	p.row = outer
	return text
}

// existing prints EXISTS. Nothing inside of it is computed once a row: a database makes a join of
// it, because the relation itself names no row outside, and the condition alone does.
func (p *Printer) existing(e *tree.Exists) string {
	inner := p.frame(e.From)
	where := ""
	if e.On != nil {
		// The row that asks may have got more fields since: a subquery that is a value is joined to
		// it. On does not know them, and counts the inner row's from Outer on.
		where = " WHERE " + p.exprOf(append(p.row.first(e.Outer), inner), e.On)
	}
	p.exists = true
	return "EXISTS (SELECT 1 FROM " + p.source(inner) + where + ")"
}
