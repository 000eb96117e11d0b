package plan

import "math"

// cost is what it takes to compute expressions for one row: how many rows of public tables are looked at in their subqueries, and
// how many of all, and how many operations there are.
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

// expr bounds the subqueries of an expression that is computed for so many rows of a person, and adds what they cost.
func (w *work) expr(e Expr, c *cost, rows int64) Expr {
	if e == nil {
		return nil
	}
	walkRow(e, func(x Expr) {
		if _, ok := x.(*Exists); ok {
			return
		}
		for i := range parts(x) {
			c.size = plus(c.size, int64(copies(x, i)))
		}
	})
	return replaced(e, func(x Expr) Expr {
		inner, ok := x.(*Exists)
		if !ok {
			return nil
		}
		return w.exists(inner, c, rows)
	})
}

// exists bounds a subquery in a condition. For the row that asks, all rows that may fit are looked at.
func (w *work) exists(e *Exists, c *cost, rows int64) Expr {
	out := *e
	var l load
	var inside cost
	out.From, l = w.relation(e.From)
	if !private(e.From) {
		out.On = w.expr(e.On, &inside, rows)
		c.add(inside.times(w.fanout(e.From, e.On, e.Outer)))
		return &out
	}
	n := int64(1)
	if rows > 1 && !equalities(e.On, e.Outer) {
		// A person's rows times those of the same person. Those outside are cut where they are computed for.
		if w.levels == 0 {
			w.levels = pairwise(e)
			defer func() { w.levels = 0 }()
		}
		out.From, l.rows = cutTo(out.From, l.rows, share(e.From, w.levels))
		n = l.rows
	}
	out.On = w.expr(e.On, &inside, times64(rows, l.rows))
	out.From, _ = w.before(out.From, load{l.rows, 1}, cost{rows: inside.looks()})
	all := inside.times(n)
	all.public = inside.public // for one row of the person, of which there are so many
	c.add(all)
	return &out
}

// share is how many rows of a person are left of each of so many subqueries inside of each other, and of the row that asks, so that
// all combinations are as many as for one.
func share(r Relation, levels int) int64 {
	n := joinable(r)
	return max(1, min(n, int64(math.Pow(float64(n)*spread, 1/float64(levels+1))+0.001)))
}

// pairwise is how many subqueries over private rows stand inside of each other, this one among them, of which each pair of rows is
// looked at.
func pairwise(e *Exists) int {
	deepest := 0
	for _, p := range parts(e) {
		walkRow(p, func(x Expr) {
			if inner, ok := x.(*Exists); ok {
				deepest = max(deepest, pairwise(inner))
			}
		})
	}
	if private(e.From) && !equalities(e.On, e.Outer) {
		deepest++
	}
	return deepest
}

// equalities reports whether On has nothing that is to be looked at pair by pair: only comparisons of something outside with
// something inside by =, and conditions on one of the two alone. Such rows are found by a table of hashes.
func equalities(on Expr, outer int) bool {
	for _, c := range conjuncts(on) {
		outside, inside := sides(c, outer)
		if !outside || !inside {
			continue
		}
		eq, ok := c.(*Compare)
		if !ok || eq.Op != Eq {
			return false
		}
		a, b := sides(eq.L, outer)
		x, y := sides(eq.R, outer)
		if a && b || x && y {
			return false
		}
	}
	return true
}

// sides says whether an expression names fields before a place and from it on. A subquery's own fields are neither.
func sides(e Expr, outer int) (outside, inside bool) {
	var look func(e Expr, upto int)
	look = func(e Expr, upto int) {
		switch x := e.(type) {
		case *Column:
			outside = outside || x.Index < outer
			inside = inside || x.Index >= outer && x.Index < upto
		case *Exists:
			upto = min(upto, x.Outer)
		}
		for _, p := range parts(e) {
			look(p, upto)
		}
	}
	look(e, noOutside)
	return outside, inside
}
