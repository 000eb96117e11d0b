package plan

import (
	"math"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// cost is what it takes to compute expressions for one row: how many rows of public tables are
// looked at in their subqueries, and how many of all, and how many operations there are.
type cost struct{ public, rows, size int64 }

// looks is how many times it is as if the row were looked at.
func (c cost) looks() int64 { return max(c.rows, c.size/heavy) }

// times is the cost of so many pairs for each row.
func (c cost) times(n int64) cost {
	return cost{public: times64(n, max(1, c.public)), rows: times64(n, max(1, c.looks()))}
}

func (c *cost) add(d cost) {
	c.public, c.rows, c.size = plus(c.public, d.public), plus(c.rows, d.rows), plus(c.size, d.size)
}

// expr bounds the subqueries of an expression that is computed for so many rows of a person, and
// adds what they cost.
func (w *workLimiter) expr(e tree.Expr, c *cost, rows int64) tree.Expr {
	if e == nil {
		return nil
	}
	tree.WalkRow(e, func(x tree.Expr) {
		if _, ok := x.(*tree.Exists); ok {
			return
		}
		c.size = plus(c.size, operations(x))
	})
	return expr.Replaced(e, func(x tree.Expr) tree.Expr {
		inner, ok := x.(*tree.Exists)
		if !ok {
			return nil
		}
		return w.exists(inner, c, rows)
	})
}

// operations is how many operations a node counts as, each of some nanoseconds: one for each part
// of it that is written, one for each value of a list, and for texts as long as they can be.
func operations(e tree.Expr) int64 {
	n := int64(0)
	for i := range tree.Parts(e) {
		n += int64(expr.Copies(e, i))
	}
	switch x := e.(type) {
	case *tree.In:
		n += int64(len(x.List))
	case *tree.Like:
		n += patternOperations(x)
	case *tree.Call:
		if x.Typ.Kind == tree.Text || len(x.Args) > 0 && x.Args[0].Type().Kind == tree.Text {
			n += pieces(x.Args[0].Type())
		}
	}
	return n
}

// pieces is how many pieces of 64 characters a text has; of one that can have any length it is
// taken to be a few.
func pieces(t tree.Type) int64 {
	if t.Kind != tree.Text || t.MaxLength == 0 {
		return 4
	}
	return 1 + int64(t.MaxLength)/64
}

// operations is how many operations a pattern counts as: one that is no beginning, end or part
// looks at each character of the text with each of its own.
func patternOperations(e *tree.Like) int64 {
	inner := e.Pattern
	if len(inner) > 0 && inner[0].Anything() {
		inner = inner[1:]
	}
	if len(inner) > 0 && inner[len(inner)-1].Anything() {
		inner = inner[:len(inner)-1]
	}
	for _, p := range inner {
		if p.Anything() || p.One() {
			return int64(len(e.Pattern)) * pieces(e.X.Type())
		}
	}
	return pieces(e.X.Type())
}

// exists bounds a subquery in a condition. For the row that asks, all rows that may fit are looked
// at.
func (w *workLimiter) exists(e *tree.Exists, c *cost, rows int64) tree.Expr {
	out := *e
	var l load
	var inside cost
	out.From, l = w.relation(e.From)
	if !tree.Private(e.From) {
		out.On = w.expr(e.On, &inside, rows)
		f := w.sizes.fanout(e.From, e.On, e.Outer)
		w.counts.limitComputed(f, inside)
		c.add(inside.times(f))
		return &out
	}
	w.counts.countRead(e.From)
	n := int64(1)
	if rows > 1 && !equalities(e.On, e.Outer) {
		// A person's rows times those of the same person. Those outside are cut where they are
		// computed for.
		if w.levels == 0 {
			w.levels = pairwise(e)
			defer func() { w.levels = 0 }()
		}
		out.From, l.rows = cutTo(out.From, l.rows, share(e.From, w.levels))
		n = l.rows
	}
	out.On = w.expr(e.On, &inside, times64(rows, l.rows))
	w.counts.countLooks(l, inside)
	out.From, _ = w.cutBefore(out.From, load{l.rows, 1, l.size}, cost{rows: inside.looks()})
	all := inside.times(n)
	all.public = inside.public // for one row of the person, of which there are so many
	c.add(all)
	return &out
}

// share is how many rows of a person are left of each of so many subqueries inside of each other,
// and of the row that asks, so that all combinations are as many as for one.
func share(r tree.Relation, levels int) int64 {
	n := tree.Joinable(r)
	return max(1, min(n, int64(math.Pow(float64(n)*spread, 1/float64(levels+1))+0.001)))
}

// pairwise is how many subqueries over private rows stand inside of each other, this one among
// them, of which each pair of rows is looked at.
func pairwise(e *tree.Exists) int {
	deepest := 0
	for _, p := range tree.Parts(e) {
		tree.WalkRow(p, func(x tree.Expr) {
			if inner, ok := x.(*tree.Exists); ok {
				deepest = max(deepest, pairwise(inner))
			}
		})
	}
	if tree.Private(e.From) && !equalities(e.On, e.Outer) {
		deepest++
	}
	return deepest
}

// equalities reports whether On has nothing that is to be looked at pair by pair: only comparisons
// of a field outside with a field inside by =, and conditions on the inside alone. Such rows are
// found by a table of hashes. A condition on the outside alone, and an equality of something that
// is computed, make DuckDB look at all pairs of a person's rows.
func equalities(on tree.Expr, outer int) bool {
	for _, c := range expr.Conjuncts(on) {
		if outside, _ := sides(c, outer); !outside {
			continue
		}
		a, b, ok := expr.EqualColumns(c)
		if !ok || (a.Index < outer) == (b.Index < outer) {
			return false
		}
	}
	return true
}

// sides says whether an expression names fields before a place and from it on. A subquery's own
// fields are neither.
func sides(e tree.Expr, outer int) (outside, inside bool) {
	var look func(e tree.Expr, upto int)
	look = func(e tree.Expr, upto int) {
		switch x := e.(type) {
		case *tree.Column:
			outside = outside || x.Index < outer
			inside = inside || x.Index >= outer && x.Index < upto
		case *tree.Exists:
			upto = min(upto, x.Outer)
		}
		for _, p := range tree.Parts(e) {
			look(p, upto)
		}
	}
	look(e, tree.NoOutside)
	return outside, inside
}
