package planner

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

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
			if ok && at >= offset && at < offset+len(r.Fields()) && !namesField(pair[1], offset, offset+len(r.Fields())) {
				equal = append(equal, at-offset)
			}
		}
	}
	return max(1, ps.most(r, equal))
}

// namesField reports whether an expression names a field from one place up to another, or has a
// subquery, which may.
func namesField(e tree.Expr, from, upto int) bool {
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
			n = addCapped(n, ps.most(p, slices.Clone(fields)))
		}
		return n
	case *tree.Join:
		return ps.mostPairs(r, fields)
	}
	return unlimited // there is no other public relation
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
	fromLeft := mulCapped(max(1, ps.most(j.L, l)), ps.fanout(j.R, j.On, n))
	if j.Left {
		return fromLeft // rows of L may be without a partner
	}
	return min(fromLeft, mulCapped(max(1, ps.most(j.R, r)), ps.fanout(j.L, j.On, 0)))
}

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
		ps.fail(syntax.Refuse(syntax.TooComplex, ps.pos, "ask the owner to run 'discreet check'", "%v", err))
	}
	return n
}

const unlimited = int64(1) << 62

// addCapped adds numbers of which none is below 0. Two that are endless are more than an int64 has.
func addCapped(a, b int64) int64 {
	if a > unlimited-b {
		return unlimited
	}
	return a + b
}

func mulCapped(a, b int64) int64 {
	if a > 0 && b > unlimited/a {
		return unlimited
	}
	return a * b
}

// cost is what it takes to compute expressions for one row: how many rows of public tables are
// looked at in their subqueries, and how many of all, and how many operations there are.
type cost struct{ public, rows, size int64 }

// looks is how many times it is as if the row were looked at.
func (c cost) looks() int64 { return max(c.rows, c.size/operationsPerLook) }

// times is the cost of so many pairs for each row.
func (c cost) times(n int64) cost {
	return cost{public: mulCapped(n, max(1, c.public)), rows: mulCapped(n, max(1, c.looks()))}
}

func (c *cost) add(d cost) {
	c.public, c.rows, c.size = addCapped(c.public, d.public), addCapped(c.rows, d.rows), addCapped(c.size, d.size)
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
		c.size = addCapped(c.size, operations(x))
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
			n += textPieces(x.Args[0].Type())
		}
	}
	return n
}

// textPieces is how many pieces of 64 characters a text has; of one that can have any length it is
// taken to be a few.
func textPieces(t tree.Type) int64 {
	if t.Kind != tree.Text || t.MaxLength == 0 {
		return 4
	}
	return 1 + int64(t.MaxLength)/64
}

// patternOperations is how many operations a pattern counts as: one that is no beginning, end or
// part looks at each character of the text with each of its own.
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
			return int64(len(e.Pattern)) * textPieces(e.X.Type())
		}
	}
	return textPieces(e.X.Type())
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
	if rows > 1 && !onlyEqualities(e.On, e.Outer) {
		// A person's rows times those of the same person. Those outside are cut where they are
		// computed for.
		if w.levels == 0 {
			w.levels = countPairwise(e)
			defer func() { w.levels = 0 }()
		}
		out.From, l.rows = cutTo(out.From, l.rows, rowShare(e.From, w.levels))
		n = l.rows
	}
	out.On = w.expr(e.On, &inside, mulCapped(rows, l.rows))
	w.counts.countLooks(l, inside)
	out.From, _ = w.cutBefore(out.From, load{l.rows, 1, l.size}, cost{rows: inside.looks()})
	all := inside.times(n)
	all.public = inside.public // for one row of the person, of which there are so many
	c.add(all)
	return &out
}

// rowShare is how many rows of a person are left of each of so many subqueries inside of each
// other, and of the row that asks, so that all combinations are as many as for one.
func rowShare(r tree.Relation, levels int) int64 {
	n := tree.Joinable(r)
	return max(1, min(n, int64(math.Pow(float64(n)*maxRowMultiple, 1/float64(levels+1))+0.001)))
}

// countPairwise is how many subqueries over private rows stand inside of each other, this one among
// them, of which each pair of rows is looked at.
func countPairwise(e *tree.Exists) int {
	deepest := 0
	for _, p := range tree.Parts(e) {
		tree.WalkRow(p, func(x tree.Expr) {
			if inner, ok := x.(*tree.Exists); ok {
				deepest = max(deepest, countPairwise(inner))
			}
		})
	}
	if tree.Private(e.From) && !onlyEqualities(e.On, e.Outer) {
		deepest++
	}
	return deepest
}

// onlyEqualities reports whether On has nothing that is to be looked at pair by pair: only
// comparisons of a field outside with a field inside by =, and conditions on the inside alone. Such
// rows are found by a table of hashes. A condition on the outside alone, and an equality of
// something that is computed, make DuckDB look at all pairs of a person's rows.
func onlyEqualities(on tree.Expr, outer int) bool {
	for _, c := range expr.Conjuncts(on) {
		if outside, _ := namedSides(c, outer); !outside {
			continue
		}
		a, b, ok := expr.EqualColumns(c)
		if !ok || (a.Index < outer) == (b.Index < outer) {
			return false
		}
	}
	return true
}

// namedSides says whether an expression names fields before a place and from it on. A subquery's
// own fields are neither.
func namedSides(e tree.Expr, outer int) (outside, inside bool) {
	var visit func(e tree.Expr, upto int)
	visit = func(e tree.Expr, upto int) {
		switch x := e.(type) {
		case *tree.Column:
			outside = outside || x.Index < outer
			inside = inside || x.Index >= outer && x.Index < upto
		case *tree.Exists:
			upto = min(upto, x.Outer)
		}
		for _, p := range tree.Parts(e) {
			visit(p, upto)
		}
	}
	visit(e, tree.NoOutside)
	return outside, inside
}

// sinkConditions moves conditions of WHERE into the joins that they are about: FROM a, b WHERE a.x
// = b.x is a JOIN b ON a.x = b.x. Rows are the same, because none of a join that is not a LEFT JOIN
// are kept for another reason. Only equalities are moved, and only to public relations: they say
// how many of their rows are met, wherever an analyst writes them.
func sinkConditions(from tree.Relation, where tree.Expr) (tree.Relation, tree.Expr) {
	var left []tree.Expr
	for _, c := range expr.Conjuncts(where) {
		if r, ok := sinkCondition(from, c); ok {
			from = r
			continue
		}
		left = append(left, c)
	}
	switch len(left) {
	case 0:
		return from, nil
	case len(expr.Conjuncts(where)):
		return from, where
	case 1:
		return from, left[0]
	}
	return from, &tree.Logic{Op: tree.And, Args: left}
}

// sinkCondition moves one condition. The fields of a left side are the first of a join, so that
// they are called the same there.
func sinkCondition(r tree.Relation, c tree.Expr) (tree.Relation, bool) {
	j, ok := r.(*tree.Join)
	eq, compares := c.(*tree.Compare)
	if !ok || j.Full || !compares || eq.Op != tree.Eq || hasExists(c) {
		return r, false // a subquery counts the fields of the row that asks, and here are fewer
	}
	n := len(j.L.Fields())
	out := *j
	if !namesField(c, n, len(j.Row)) {
		l, ok := sinkCondition(j.L, c)
		out.L = l
		return &out, ok
	}
	if j.Left || tree.Private(j.L) == tree.Private(j.R) || !namesField(c, 0, n) {
		return r, false
	}
	if out.On = c; j.On != nil {
		out.On = expr.NormalLogic(&tree.Logic{Op: tree.And, Args: []tree.Expr{j.On, c}})
	}
	return &out, true
}
