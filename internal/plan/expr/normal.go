package expr

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Normal rewrites an expression so that questions that mean the same are, in the common cases, the
// same tree: constants are folded, AND and OR are flattened, sorted and without repetitions, and
// what they say about one expression is joined. The value is the same for every row. What may be
// done where only the truth of a condition counts is in truth.
func Normal(e tree.Expr) tree.Expr { return newNormalizer(nil).normal(e) }

// CountNormal is Normal for who plans: what it takes is counted.
func CountNormal(m *meter.Meter, e tree.Expr) tree.Expr { return newNormalizer(m).normal(e) }

// NormalLogic is Normal of AND or OR.
func NormalLogic(x *tree.Logic) tree.Expr { return newNormalizer(nil).logic(x) }

// normalizer brings one expression into its normal form.
type normalizer struct {
	meter *meter.Meter
	// fixed are those that are their own normal form. What stands in the condition of a CASE is
	// made normal once more for its truth, so without them it would be done twice as often for
	// each CASE inside of another.
	fixed map[*tree.Case]bool
}

func newNormalizer(m *meter.Meter) normalizer { return normalizer{m, map[*tree.Case]bool{}} }

// spell writes an expression in its canonical spelling.
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
		e = listed(n.normal(x.X), x.List)
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

// cases is the normal form of a CASE.
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

// normalCompare decides which side is the left one, so that a < b and b > a are
// one question: a constant, which folding may have made only now, goes to the right.
func (n normalizer) compare(c *tree.Compare) *tree.Compare {
	_, l := c.L.(*tree.Literal)
	_, r := c.R.(*tree.Literal)
	a, b := n.spell(c.L), n.spell(c.R)
	if l && !r || l == r && (a > b || a == b && (c.Op == tree.Gt || c.Op == tree.Ge)) {
		return &tree.Compare{Op: flipped(c.Op), L: c.R, R: c.L}
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
			return &tree.Compare{Op: flipped(e.Op), L: r, R: l}
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
