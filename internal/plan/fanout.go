package plan

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// publicSizes says how many rows public relations have.
type publicSizes struct {
	*verdict
	public tree.Public
}

// fanout says how many rows of a public relation one row beside it can meet. It follows from sizes
// of public tables: from the number of their rows, and from how often the most frequent value is
// there of the columns that On says are equal to something of the other row. Nothing else of On is
// believed to keep rows apart. The first field of the relation is the one that On calls offset.
func (ps publicSizes) fanout(r tree.Relation, on tree.Expr, offset int) int64 {
	var equal []int
	for _, c := range expr.Conjuncts(on) {
		eq, ok := c.(*tree.Compare)
		if !ok || eq.Op != tree.Eq {
			continue
		}
		for _, pair := range [][2]tree.Expr{{eq.L, eq.R}, {eq.R, eq.L}} {
			at, ok := fieldOf(pair[0])
			if ok && at >= offset && at < offset+len(r.Fields()) && !names(pair[1], offset, offset+len(r.Fields())) {
				equal = append(equal, at-offset)
			}
		}
	}
	return max(1, ps.most(r, equal))
}

// fieldOf is the field that an expression tells apart: two rows with one value of the expression
// have one value of the field.
func fieldOf(e tree.Expr) (int, bool) {
	switch e := e.(type) {
	case *tree.Column:
		return e.Index, true
	case *tree.Rescale:
		return fieldOf(e.X)
	}
	return 0, false
}

// names reports whether an expression names a field from one place up to another, or has a
// subquery, which may.
func names(e tree.Expr, from, upto int) bool {
	found := false
	tree.Walk(e, func(x tree.Expr) {
		switch x := x.(type) {
		case *tree.Column:
			found = found || x.Index >= from && x.Index < upto
		case *tree.Exists:
			found = true
		}
	})
	return found
}

// most is how many rows of a public relation have the same values in some fields at most, NULL left
// out, which is equal to nothing. In no fields it is how many rows there are.
func (ps publicSizes) most(r tree.Relation, fields []int) int64 {
	slices.Sort(fields)
	fields = slices.Compact(fields)
	switch r := r.(type) {
	case *tree.Scan:
		return ps.mostStored(r, fields)
	case *tree.Select:
		var below []int
		for _, f := range fields {
			if at, ok := fieldOf(r.Columns[f]); ok {
				below = append(below, at)
			}
		}
		return ps.most(r.From, below)
	case *tree.Union:
		n := int64(0)
		for _, p := range r.Parts {
			n = plus(n, ps.most(p, slices.Clone(fields)))
		}
		return n
	case *tree.Join:
		return ps.mostPairs(r, fields)
	}
	return endless // there is no other public relation
}

// mostPairs is most for a join: of the rows on one side that fit each meets some on the other.
func (ps publicSizes) mostPairs(j *tree.Join, fields []int) int64 {
	n := len(j.L.Fields())
	var l, r []int
	for _, f := range fields {
		if f < n {
			l = append(l, f)
		} else {
			r = append(r, f-n)
		}
	}
	fromLeft := times64(max(1, ps.most(j.L, l)), ps.fanout(j.R, j.On, n))
	if j.Left {
		return fromLeft // rows of L may be without a partner
	}
	return min(fromLeft, times64(max(1, ps.most(j.R, r)), ps.fanout(j.L, j.On, 0)))
}

// mostStored asks for the rows of a table.
func (ps publicSizes) mostStored(s *tree.Scan, fields []int) int64 {
	var columns []string
	for _, f := range fields {
		if s.Row[f].Key {
			return 1 // checked when the data is opened
		}
		columns = append(columns, s.Row[f].Name)
	}
	if ps.public == nil {
		return 1 // nobody runs the question either
	}
	n, err := ps.public.Most(s.Table.Name, columns)
	if err != nil {
		ps.fail(syntax.Refuse(ps.pos, "ask the owner to run 'discreet check'", "%v", err))
	}
	return n
}

// endless is more than any number of rows.
const endless = int64(1) << 62

// plus adds numbers of which none is below 0. Two that are endless are more than an int64 has.
func plus(a, b int64) int64 {
	if a > endless-b {
		return endless
	}
	return a + b
}

func times64(a, b int64) int64 {
	if a > 0 && b > endless/a {
		return endless
	}
	return a * b
}
