package expr

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// The rewrites of this file keep the value of an expression for every row, NULL included. None of
// them believes that a column is never NULL because the policy says so: an engine does not make it
// true. (COUNT(x) does believe it: it is then COUNT(*), which costs less together with others; see
// countValues.)

// simpleCompare rewrites a comparison with a constant.
//
//   - Of truths: x = true is x, and x = false is NOT x; all of them are NULL where x is.
//   - On a lattice n < x is n+1 <= x, so strict comparisons become others. A lattice is left for
//     the coarser one of the column: 2x > 79 is x > 39, because x is whole. Days are a lattice too.
func (n normalizer) simpleCompare(c *tree.Compare) tree.Expr {
	lit, ok := c.R.(*tree.Literal)
	if !ok || lit.IsNullLiteral() {
		return c
	}
	switch {
	case lit.Bool != nil && (c.Op == tree.Eq || c.Op == tree.Ne):
		if *lit.Bool == (c.Op == tree.Eq) {
			return c.L
		}
		return n.negated(c.L)
	case lit.Number != nil && c.L.Type().Kind == tree.Number:
		if x, f := tree.ConstantFactor(c.L); x != c.L && f.Sign() > 0 {
			if by, ok := unscaled(c.Op, lit.Number, f); ok {
				return n.simpleCompare(&tree.Compare{Op: c.Op, L: x,
					R: &tree.Literal{Typ: tree.NumberType(x.Type().Step, by, by, true), Number: by}})
			}
		}
		if op, n, ok := weaken(c.Op, lit.Number); ok && isInside(c.L.Type(), n) {
			return &tree.Compare{Op: op, L: c.L, R: &tree.Literal{Typ: tree.NumberType(lit.Typ.Step, n, n, true), Number: n}}
		}
	case lit.Days != nil && c.L.Type().Kind == tree.Date:
		if op, n, ok := weaken(c.Op, big.NewInt(*lit.Days)); ok && n.CmpAbs(manyDays) < 0 && isInside(c.L.Type(), n) {
			return &tree.Compare{Op: op, L: c.L, R: newDate(n.Int64())}
		}
	}
	return c
}

// manyDays is where no calendar of any engine ends yet.
var manyDays = big.NewInt(500_000)

// isInside reports whether a number is in the interval of a type, so that it can be written
// wherever its values can.
func isInside(t tree.Type, n *big.Int) bool {
	return (t.Lo == nil || n.Cmp(t.Lo) >= 0) && (t.Hi == nil || n.Cmp(t.Hi) <= 0)
}

// weaken turns a strict comparison with a whole number into one that is not.
func weaken(op tree.CompareOp, n *big.Int) (tree.CompareOp, *big.Int, bool) {
	switch op {
	case tree.Gt:
		return tree.Ge, new(big.Int).Add(n, big.NewInt(1)), true
	case tree.Lt:
		return tree.Le, new(big.Int).Sub(n, big.NewInt(1)), true
	}
	return op, n, false
}

// unscaled returns m such that f x op n is x op m for all whole x; f is positive.
func unscaled(op tree.CompareOp, n, f *big.Int) (*big.Int, bool) {
	floor, rest := new(big.Int).DivMod(n, f, new(big.Int)) // Euclidean: the rest is not negative
	switch {
	case rest.Sign() == 0:
		return floor, true
	case op == tree.Gt || op == tree.Le:
		return floor, true
	case op == tree.Lt || op == tree.Ge:
		return floor.Add(floor, big.NewInt(1)), true
	}
	return nil, false
}

// simpleArith leaves out what changes nothing, puts both sides of + and * into one order, and has
// one constant of each. Interval and lattice stay the same, and so does the value: sums of numbers
// on a lattice are exact.
func (n normalizer) simpleArith(e *tree.Arith) tree.Expr {
	if e.Typ.Kind != tree.Number {
		return e
	}
	same := func(x tree.Expr) bool {
		t := x.Type()
		return t.Kind == tree.Number && t.Step.Cmp(e.Typ.Step) == 0 && t.Lo.Cmp(e.Typ.Lo) == 0 && t.Hi.Cmp(e.Typ.Hi) == 0 &&
			t.Declared == e.Typ.Declared
	}
	switch e.Op {
	case tree.Add, tree.Sub:
		if IsNumber(e.R, 0) && same(e.L) {
			return e.L
		}
		if e.Op == tree.Add && IsNumber(e.L, 0) && same(e.R) {
			return e.R
		}
	case tree.Mul:
		if IsNumber(e.R, 1) && e.R.Type().Integer() && same(e.L) {
			return e.L
		}
		if IsNumber(e.L, 1) && e.L.Type().Integer() && same(e.R) {
			return e.R
		}
	}
	_, l := e.L.(*tree.Literal)
	_, r := e.R.(*tree.Literal)
	// constants stand on the right
	if (e.Op == tree.Add || e.Op == tree.Mul) && (l && !r || l == r && n.spell(e.L) > n.spell(e.R)) {
		e = &tree.Arith{Op: e.Op, L: e.R, R: e.L, Typ: e.Typ}
	}
	if e.Op == tree.Mul {
		return oneFactor(e)
	}
	return oneSummand(e)
}

func IsNumber(e tree.Expr, n int64) bool {
	l, ok := e.(*tree.Literal)
	return ok && l.Number != nil && l.Number.Cmp(big.NewInt(n)) == 0
}

// merged joins what AND or OR say about one expression. With x for it, and everything NULL where x
// is:
//
//   - x = a OR x IN (b, c) is x IN (a, b, c), and x <> a AND x NOT IN (b, c) is x NOT IN (a, b, c);
//   - x >= a AND x >= b is x >= the larger one, OR is the smaller one, and the other way round for
//     <=;
//   - x >= a AND x <= a is x = a.
func (n normalizer) merged(op tree.LogicOp, args []tree.Expr) []tree.Expr {
	type about struct {
		x        tree.Expr
		list     []*tree.Literal
		low, top *tree.Literal
	}
	var order []string
	all := map[string]*about{}
	var rest []tree.Expr
	find := func(x tree.Expr) *about {
		name := n.spell(x)
		if all[name] == nil {
			all[name] = &about{x: x}
			order = append(order, name)
		}
		return all[name]
	}
	// tighter returns the one that counts.
	tighter := func(a, b *tree.Literal, larger bool) *tree.Literal {
		if a == nil || (CompareValues(b.Value(), a.Value()) > 0) == larger {
			return b
		}
		return a
	}
	for _, e := range args {
		member := e
		if not, ok := e.(*tree.Not); ok && op == tree.And {
			member = not.X
		}
		if in, ok := member.(*tree.In); ok && (op == tree.Or) == (member == e) {
			a := find(in.X)
			a.list = append(a.list, in.List...)
			continue
		}
		c, ok := e.(*tree.Compare)
		if !ok {
			rest = append(rest, e)
			continue
		}
		lit, ok := c.R.(*tree.Literal)
		ordered := ok && (lit.Number != nil && c.L.Type().Kind == tree.Number || lit.Days != nil && c.L.Type().Kind == tree.Date)
		switch {
		case !ok || lit.IsNullLiteral() || c.L.Type().Kind == tree.Real:
			rest = append(rest, e)
		case c.Op == tree.Eq && op == tree.Or || c.Op == tree.Ne && op == tree.And:
			a := find(c.L)
			a.list = append(a.list, lit)
		case c.Op == tree.Ge && ordered:
			a := find(c.L)
			a.low = tighter(a.low, lit, op == tree.And)
		case c.Op == tree.Le && ordered:
			a := find(c.L)
			a.top = tighter(a.top, lit, op == tree.Or)
		default:
			rest = append(rest, e)
		}
	}
	for _, name := range order {
		a := all[name]
		if len(a.list) > 0 {
			e := listMembers(a.x, a.list)
			if op == tree.And {
				e = n.negated(e)
			}
			rest = append(rest, e)
		}
		if op == tree.And && a.low != nil && a.top != nil && CompareValues(a.low.Value(), a.top.Value()) == 0 {
			rest = append(rest, &tree.Compare{Op: tree.Eq, L: a.x, R: a.low})
			continue
		}
		if a.low != nil {
			rest = append(rest, &tree.Compare{Op: tree.Ge, L: a.x, R: a.low})
		}
		if a.top != nil {
			rest = append(rest, &tree.Compare{Op: tree.Le, L: a.x, R: a.top})
		}
	}
	return rest
}

// listMembers is membership in a list, sorted and without repetitions; equality where there is one.
func listMembers(x tree.Expr, list []*tree.Literal) tree.Expr {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *tree.Literal) int { return CompareValues(a.Value(), b.Value()) })
	list = slices.CompactFunc(list, func(a, b *tree.Literal) bool { return CompareValues(a.Value(), b.Value()) == 0 })
	if len(list) == 1 {
		return &tree.Compare{Op: tree.Eq, L: x, R: list[0]}
	}
	return &tree.In{X: x, List: list}
}

// Constants returns what a condition says to be one of some constants.
func Constants(c tree.Expr) (tree.Expr, []*tree.Literal) {
	switch c := c.(type) {
	case *tree.In:
		return c.X, c.List
	case *tree.Compare:
		if l, ok := c.R.(*tree.Literal); ok && c.Op == tree.Eq && !l.IsNullLiteral() {
			return c.L, []*tree.Literal{l}
		}
	case *tree.Column: // a truth
		if c.Type().Kind == tree.Boolean {
			return c, []*tree.Literal{NewBool(true)}
		}
	case *tree.Not:
		if x, ok := c.X.(*tree.Column); ok {
			return x, []*tree.Literal{NewBool(false)}
		}
	}
	return nil, nil
}

func Conjuncts(e tree.Expr) []tree.Expr {
	if e == nil {
		return nil
	}
	if l, ok := e.(*tree.Logic); ok && l.Op == tree.And {
		var out []tree.Expr
		for _, a := range l.Args {
			out = append(out, Conjuncts(a)...)
		}
		return out
	}
	return []tree.Expr{e}
}

func EqualColumns(e tree.Expr) (a, b *tree.Column, ok bool) {
	c, ok := e.(*tree.Compare)
	if !ok || c.Op != tree.Eq {
		return nil, nil, false
	}
	a, ok1 := c.L.(*tree.Column)
	b, ok2 := c.R.(*tree.Column)
	return a, b, ok1 && ok2
}

// Linked reports whether a condition asks that a row of the one side and a row of the other are
// one person's: that two identities of the same kind are equal.
func Linked(on tree.Expr, n int) bool {
	for _, c := range Conjuncts(on) {
		a, b, ok := EqualColumns(c)
		if ok && a.Field.Raw() && b.Field.Raw() && a.Field.Identity != "" && a.Field.Identity == b.Field.Identity &&
			(a.Index < n) != (b.Index < n) {
			return true
		}
	}
	return false
}

// Replaced returns an expression in which f has put something else for some parts, and nil for
// those that stay. Nothing is looked for inside of EXISTS.
func Replaced(e tree.Expr, f func(tree.Expr) tree.Expr) tree.Expr {
	if x := f(e); x != nil {
		return x
	}
	down := func(x tree.Expr) tree.Expr { return Replaced(x, f) }
	all := func(list []tree.Expr) []tree.Expr {
		out := make([]tree.Expr, len(list))
		for i, x := range list {
			out[i] = down(x)
		}
		return out
	}
	switch e := e.(type) {
	case *tree.Rescale:
		return &tree.Rescale{X: down(e.X), Factor: e.Factor, Typ: e.Typ}
	case *tree.ToReal:
		return &tree.ToReal{X: down(e.X), Typ: e.Typ}
	case *tree.Arith:
		return &tree.Arith{Op: e.Op, L: down(e.L), R: down(e.R), Typ: e.Typ}
	case *tree.Compare:
		return &tree.Compare{Op: e.Op, L: down(e.L), R: down(e.R)}
	case *tree.Logic:
		return &tree.Logic{Op: e.Op, Args: all(e.Args)}
	case *tree.Not:
		return &tree.Not{X: down(e.X)}
	case *tree.In:
		return &tree.In{X: down(e.X), List: e.List}
	case *tree.IsNull:
		return &tree.IsNull{X: down(e.X)}
	case *tree.Case:
		out := &tree.Case{Else: down(e.Else), Typ: e.Typ}
		for _, w := range e.Whens {
			out.Whens = append(out.Whens, tree.When{If: down(w.If), Then: down(w.Then)})
		}
		return out
	case *tree.Call:
		return &tree.Call{Fn: e.Fn, Args: all(e.Args), Typ: e.Typ}
	case *tree.Within:
		return &tree.Within{X: down(e.X), Typ: e.Typ}
	case *tree.Like:
		return &tree.Like{X: down(e.X), Pattern: e.Pattern}
	}
	return e
}

// Covers reports whether the public values of a key are all that it can have but NULL, which is
// whole, and whether they are all, which is complete.
func Covers(k tree.Key) (whole, complete bool) {
	has := func(v policy.Value) bool {
		return slices.ContainsFunc(k.Values, func(w policy.Value) bool { return SameKey(v, w) })
	}
	t := k.Expr.Type()
	if results, ok := Results(k.Expr); ok {
		complete = !slices.ContainsFunc(results, func(v policy.Value) bool { return !has(v) })
		return complete, complete
	}
	switch {
	case t.Kind == tree.Boolean:
		whole = has(BoolValue(false)) && has(BoolValue(true))
	case t.Kind == tree.Number && t.Declared:
		all, ok, err := Points(t)
		whole = ok && err == nil && len(all) <= len(k.Values) && !slices.ContainsFunc(all, func(v policy.Value) bool { return !has(v) })
	}
	return whole, whole && has(policy.Value{Null: true})
}

func SameKey(a, b policy.Value) bool {
	return a.Null == b.Null && (a.Null || a.Text == b.Text && a.Int == b.Int)
}
