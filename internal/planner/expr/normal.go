package expr

import (
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// Normal rewrites an expression so that questions that mean the same are, in the common cases, the
// same tree: constants are folded, AND and OR are flattened, sorted and without repetitions, and
// what they say about one expression is joined. The value is the same for every row. What may be
// done where only the truth of a condition counts is in truth.
func Normal(e tree.Expr) tree.Expr { return newNormalizer(nil).normal(e) }

// CountNormal is Normal for who plans: what it takes is counted.
func CountNormal(m *meter.Meter, e tree.Expr) tree.Expr { return newNormalizer(m).normal(e) }

func NormalLogic(x *tree.Logic) tree.Expr { return newNormalizer(nil).logic(x) }

type normalizer struct {
	meter *meter.Meter
	// fixed are those that are their own normal form. What stands in the condition of a CASE is
	// made normal once more for its truth, so without them it would be done twice as often for
	// each CASE inside of another.
	fixed map[*tree.Case]bool
}

func newNormalizer(m *meter.Meter) normalizer { return normalizer{m, map[*tree.Case]bool{}} }

func (n normalizer) spell(e tree.Expr) string {
	if n.meter != nil {
		n.meter.Write(tree.Size(e) + Texts(e))
	}
	return tree.Format(e)
}

// normalBytes is what a node takes that is made anew.
const normalBytes = 208

func (n normalizer) normal(e tree.Expr) tree.Expr {
	n.meter.Work(1, meter.Written)
	n.meter.Build(normalBytes)
	switch x := e.(type) {
	case *tree.Logic:
		e = n.logic(x)
	case *tree.Not:
		e = n.negated(n.normal(x.X))
	case *tree.In:
		n.meter.Work(len(x.List), meter.Node)
		n.meter.Build(16 * len(x.List))
		e = listMembers(n.normal(x.X), x.List)
		if c, ok := e.(*tree.Compare); ok {
			e = n.simpleCompare(c)
		}
	case *tree.Compare:
		e = n.simpleCompare(n.compare(&tree.Compare{Op: x.Op, L: n.normal(x.L), R: n.normal(x.R)}))
	case *tree.IsNull:
		e = &tree.IsNull{X: n.normal(x.X)}
	case *tree.Exists:
		if x.On != nil {
			e = &tree.Exists{From: x.From, Outer: x.Outer, On: outsideFirst(n.normal(x.On), x.Outer)}
		}
	case *tree.Rescale:
		e = oneFactor(&tree.Rescale{X: n.normal(x.X), Factor: x.Factor, Typ: x.Typ})
	case *tree.ToReal:
		e = &tree.ToReal{X: n.normal(x.X), Typ: x.Typ}
	case *tree.Arith:
		e = n.simpleArith(&tree.Arith{Op: x.Op, L: n.normal(x.L), R: n.normal(x.R), Typ: x.Typ})
	case *tree.Case:
		if n.fixed[x] {
			return x
		}
		e = n.cases(x)
	case *tree.Call:
		args := make([]tree.Expr, len(x.Args))
		for i, a := range x.Args {
			args[i] = n.normal(a)
		}
		e = &tree.Call{Fn: x.Fn, Args: args, Typ: x.Typ}
	case *tree.Within:
		e = &tree.Within{X: n.normal(x.X), Typ: x.Typ}
	case *tree.Like:
		e = &tree.Like{X: n.normal(x.X), Pattern: x.Pattern}
	}
	return n.fold(e)
}

func (n normalizer) cases(x *tree.Case) tree.Expr {
	e := n.normalCase(x)
	if _, ok := e.(*tree.Case); ok && n.spell(e) == n.spell(x) {
		n.fixed[x] = true
		return x
	}
	return e
}

// negated is NOT of a normal expression, with the NOT moved as far down as it
// goes. All of it holds for NULL too: NOT of a comparison is the opposite
// comparison, both NULL where a side is, and De Morgan's laws are those of SQL.
func (n normalizer) negated(e tree.Expr) tree.Expr {
	switch e := e.(type) {
	case *tree.Not:
		return e.X
	case *tree.Compare:
		return n.simpleCompare(n.compare(&tree.Compare{Op: opposite(e.Op), L: e.L, R: e.R}))
	case *tree.Logic:
		op := tree.And
		if e.Op == tree.And {
			op = tree.Or
		}
		args := make([]tree.Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = n.negated(a)
		}
		return n.logic(&tree.Logic{Op: op, Args: args})
	}
	return &tree.Not{X: e}
}

// opposite is the comparison that holds where op does not.
func opposite(op tree.CompareOp) tree.CompareOp {
	return map[tree.CompareOp]tree.CompareOp{tree.Eq: tree.Ne, tree.Ne: tree.Eq, tree.Lt: tree.Ge, tree.Ge: tree.Lt, tree.Gt: tree.Le,
		tree.Le: tree.Gt, tree.Distinct: tree.NotDistinct, tree.NotDistinct: tree.Distinct}[op]
}

// compare decides which side is the left one, so that a < b and b > a are
// one question: a constant, which folding may have made only now, goes to the right.
func (n normalizer) compare(c *tree.Compare) *tree.Compare {
	_, l := c.L.(*tree.Literal)
	_, r := c.R.(*tree.Literal)
	a, b := n.spell(c.L), n.spell(c.R)
	if l && !r || l == r && (a > b || a == b && (c.Op == tree.Gt || c.Op == tree.Ge)) {
		return &tree.Compare{Op: flipComparison(c.Op), L: c.R, R: c.L}
	}
	return c
}

// outsideFirst puts the row outside on the left where a condition of a subquery compares a column
// of it with one inside. By their spelling it would depend on how many columns there are outside:
// 10 comes before 4.
func outsideFirst(e tree.Expr, outer int) tree.Expr {
	switch e := e.(type) {
	case *tree.Logic:
		args := make([]tree.Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = outsideFirst(a, outer)
		}
		return &tree.Logic{Op: e.Op, Args: args}
	case *tree.Compare:
		l, ok1 := e.L.(*tree.Column)
		r, ok2 := e.R.(*tree.Column)
		if ok1 && ok2 && l.Index >= outer && r.Index < outer {
			return &tree.Compare{Op: flipComparison(e.Op), L: r, R: l}
		}
	}
	return e
}

func (n normalizer) logic(x *tree.Logic) tree.Expr {
	var args []tree.Expr
	for _, a := range x.Args {
		a = n.normal(a)
		if l, ok := a.(*tree.Logic); ok && l.Op == x.Op {
			args = append(args, l.Args...)
			continue
		}
		if b, ok := a.(*tree.Literal); ok && b.Bool != nil {
			if *b.Bool == (x.Op == tree.Or) {
				return b // x OR true, x AND false
			}
			continue // x AND true, x OR false
		}
		args = append(args, a)
	}
	args = n.merged(x.Op, args)
	spelled := make(map[tree.Expr]string, len(args))
	for _, a := range args {
		spelled[a] = n.spell(a)
	}
	slices.SortFunc(args, func(a, b tree.Expr) int { return strings.Compare(spelled[a], spelled[b]) })
	args = slices.CompactFunc(args, func(a, b tree.Expr) bool { return spelled[a] == spelled[b] })
	switch len(args) {
	case 0:
		return NewBool(x.Op == tree.And)
	case 1:
		return args[0]
	}
	return &tree.Logic{Op: x.Op, Args: args}
}

// fold replaces an expression without columns by its value.
func (n normalizer) fold(e tree.Expr) tree.Expr {
	constant := true
	tree.Walk(e, func(x tree.Expr) {
		n.meter.Work(1, meter.Node)
		switch x.(type) {
		case *tree.Column, *tree.Released, *tree.Exists:
			constant = false
		}
	})
	if _, ok := e.(*tree.Literal); ok || !constant || e.Type().Kind == tree.Real {
		return e
	}
	return FromValue(Compute(n.meter, e, nil), e.Type())
}

// No two constants of a product or a sum stand where an engine's optimizer could bring them
// together: (x * 4e9) * 4e9 is nothing that overflows where x is 0, and x * (4e9 * 4e9) is an error
// on the first row. So they are brought together here, in integers of any size. The value is the
// same for every row, NULL included, and so are lattice and interval.

// oneFactor brings the constants of a product together, of a type that stays as it is. A number
// that is never anything but 0 is multiplied by 0: what it was multiplied by may be larger than any
// number that an engine has.
func oneFactor(e tree.Expr) tree.Expr {
	y, f := tree.ConstantFactor(e)
	if y == e {
		return e
	}
	if tree.IsZero(y) {
		f = new(big.Int)
	}
	if r, ok := e.(*tree.Rescale); ok && r.X == y && !tree.IsZero(y) {
		return e
	}
	// The literal's step is what is left of the product's.
	t := e.Type()
	return &tree.Arith{Op: tree.Mul, L: y,
		R: &tree.Literal{Typ: tree.NumberType(new(big.Rat).Quo(t.Step, y.Type().Step), f, f, true), Number: f}, Typ: t}
}

// oneSummand brings the constants of a sum together, where what they make is a number that an
// engine has.
func oneSummand(e *tree.Arith) tree.Expr {
	c, ok := e.R.(*tree.Literal)
	if e.Op != tree.Add || !ok || c.Number == nil {
		return e
	}
	inner, ok := e.L.(*tree.Arith)
	if !ok || inner.Op != tree.Add || inner.Typ.Kind != tree.Number {
		return e
	}
	d, ok := inner.R.(*tree.Literal)
	if !ok || d.Number == nil {
		return e
	}
	n := new(big.Int).Add(c.Number, d.Number)
	sum := &tree.Literal{Typ: tree.NumberType(c.Typ.Step, n, n, true), Number: n}
	if sum.Typ.TooWide() {
		return e
	}
	return &tree.Arith{Op: tree.Add, L: inner.L, R: sum, Typ: e.Typ}
}

// Truth rewrites a normal condition of which only counts whether it is true: that of WHERE, of
// FILTER and of CASE. To them false and NULL are the same, so more conditions are the same one:
//
//   - a comparison that the interval of a number decides: it is x IS NOT NULL, or false;
//   - x IS TRUE, coalesce(x, false) and CASE WHEN x THEN true ELSE false END are x, and x IS FALSE
//     is NOT x;
//   - x IS NOT NULL beside something that is not true where x is NULL is left out.
func Truth(e tree.Expr) tree.Expr { return newNormalizer(nil).truth(e) }

// CountTruth is Truth of the normal form of a condition, for who plans: what it takes is counted.
func CountTruth(m *meter.Meter, e tree.Expr) tree.Expr {
	n := newNormalizer(m)
	return n.truth(n.normal(e))
}

func (n normalizer) truth(e tree.Expr) tree.Expr {
	switch x := e.(type) {
	case *tree.Literal:
		return NewBool(x.Bool != nil && *x.Bool)
	case *tree.Logic:
		// AND and OR are true by what is true of their parts alone.
		args := make([]tree.Expr, len(x.Args))
		for i, a := range x.Args {
			args[i] = n.truth(a)
		}
		if x.Op == tree.And {
			args = n.present(args)
		}
		return n.logic(&tree.Logic{Op: x.Op, Args: args})
	case *tree.Call:
		if y, ok := coalesceArgument(x, false); ok {
			return n.truth(y)
		}
	case *tree.Not:
		if c, ok := x.X.(*tree.Call); ok {
			if y, ok := coalesceArgument(c, true); ok {
				return n.truth(n.negated(y))
			}
		}
	case *tree.Case:
		if len(x.Whens) == 1 && isTrue(x.Whens[0].Then) && !isTrue(x.Else) {
			if _, constant := x.Else.(*tree.Literal); constant {
				return n.truth(x.Whens[0].If)
			}
		}
	case *tree.Compare:
		return decideCompare(x)
	}
	return e
}

func isTrue(e tree.Expr) bool {
	l, ok := e.(*tree.Literal)
	return ok && l.Bool != nil && *l.Bool
}

// coalesceArgument returns x of coalesce(x, constant).
func coalesceArgument(c *tree.Call, constant bool) (tree.Expr, bool) {
	if c.Fn != "coalesce" || len(c.Args) != 2 {
		return nil, false
	}
	l, ok := c.Args[1].(*tree.Literal)
	return c.Args[0], ok && l.Bool != nil && *l.Bool == constant
}

// decideCompare looks whether a number's interval decides a comparison with a constant.
func decideCompare(c *tree.Compare) tree.Expr {
	lit, ok := c.R.(*tree.Literal)
	t := c.L.Type()
	if !ok || t.Kind != tree.Number {
		return c
	}
	if lit.IsNullLiteral() && c.Op != tree.Distinct && c.Op != tree.NotDistinct {
		return NewBool(false)
	}
	if lit.Number == nil {
		return c
	}
	var always, never bool
	low, high := lit.Number.Cmp(t.Lo), lit.Number.Cmp(t.Hi) // where the constant stands
	switch c.Op {
	case tree.Ge:
		always, never = low <= 0, high > 0
	case tree.Gt:
		always, never = low < 0, high >= 0
	case tree.Le:
		always, never = high >= 0, low < 0
	case tree.Lt:
		always, never = high > 0, low <= 0
	case tree.Eq:
		never = low < 0 || high > 0
	case tree.Ne:
		always = low < 0 || high > 0
	}
	switch {
	case never:
		return NewBool(false)
	case always:
		return &tree.Not{X: &tree.IsNull{X: c.L}}
	}
	return c
}

// present leaves out that something is not NULL where another condition says so too, by not being
// true otherwise.
func (n normalizer) present(args []tree.Expr) []tree.Expr {
	strict := map[string]bool{}
	for _, a := range args {
		if not, ok := a.(*tree.Not); ok {
			a = not.X
		}
		switch a := a.(type) {
		case *tree.Compare:
			if a.Op != tree.Distinct && a.Op != tree.NotDistinct {
				strict[n.spell(a.L)], strict[n.spell(a.R)] = true, true
			}
		case *tree.In:
			strict[n.spell(a.X)] = true
		case *tree.Like:
			strict[n.spell(a.X)] = true
		case *tree.Column: // a truth, or its NOT
			strict[n.spell(a)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(args), func(e tree.Expr) bool {
		not, ok := e.(*tree.Not)
		if !ok {
			return false
		}
		null, ok := not.X.(*tree.IsNull)
		return ok && strict[n.spell(null.X)]
	})
}
