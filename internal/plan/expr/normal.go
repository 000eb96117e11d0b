package expr

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Normal rewrites an expression so that questions that mean the same are, in the common cases, the
// same tree: constants are folded, AND and OR are flattened, sorted and without repetitions, and
// what they say about one expression is joined. The value is the same for every row. What may be
// done where only the truth of a condition counts is in truth.
func Normal(e tree.Expr) tree.Expr {
	switch x := e.(type) {
	case *tree.Logic:
		e = NormalLogic(x)
	case *tree.Not:
		e = negated(Normal(x.X))
	case *tree.In:
		e = listed(Normal(x.X), x.List)
		if c, ok := e.(*tree.Compare); ok {
			e = simpleCompare(c)
		}
	case *tree.Compare:
		e = simpleCompare(normalCompare(&tree.Compare{Op: x.Op, L: Normal(x.L), R: Normal(x.R)}))
	case *tree.IsNull:
		e = &tree.IsNull{X: Normal(x.X)}
	case *tree.Exists:
		if x.On != nil {
			e = &tree.Exists{From: x.From, Outer: x.Outer, On: outsideFirst(Normal(x.On), x.Outer)}
		}
	case *tree.Rescale:
		e = oneFactor(&tree.Rescale{X: Normal(x.X), Factor: x.Factor, Typ: x.Typ})
	case *tree.ToReal:
		e = &tree.ToReal{X: Normal(x.X), Typ: x.Typ}
	case *tree.Arith:
		e = simpleArith(&tree.Arith{Op: x.Op, L: Normal(x.L), R: Normal(x.R), Typ: x.Typ})
	case *tree.Case:
		e = normalCase(x)
	case *tree.Call:
		args := make([]tree.Expr, len(x.Args))
		for i, a := range x.Args {
			args[i] = Normal(a)
		}
		e = &tree.Call{Fn: x.Fn, Args: args, Typ: x.Typ}
	case *tree.Within:
		e = &tree.Within{X: Normal(x.X), Typ: x.Typ}
	case *tree.Like:
		e = &tree.Like{X: Normal(x.X), Pattern: x.Pattern}
	}
	return fold(e)
}

// negated is NOT of a normal expression, with the NOT moved as far down as it
// goes. All of it holds for NULL too: NOT of a comparison is the opposite
// comparison, both NULL where a side is, and De Morgan's laws are those of SQL.
func negated(e tree.Expr) tree.Expr {
	switch e := e.(type) {
	case *tree.Not:
		return e.X
	case *tree.Compare:
		return simpleCompare(normalCompare(&tree.Compare{Op: opposite(e.Op), L: e.L, R: e.R}))
	case *tree.Logic:
		op := tree.And
		if e.Op == tree.And {
			op = tree.Or
		}
		args := make([]tree.Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = negated(a)
		}
		return NormalLogic(&tree.Logic{Op: op, Args: args})
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
func normalCompare(c *tree.Compare) *tree.Compare {
	_, l := c.L.(*tree.Literal)
	_, r := c.R.(*tree.Literal)
	a, b := tree.Format(c.L), tree.Format(c.R)
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

func NormalLogic(x *tree.Logic) tree.Expr {
	var args []tree.Expr
	for _, a := range x.Args {
		a = Normal(a)
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
	args = merged(x.Op, args)
	slices.SortFunc(args, func(a, b tree.Expr) int { return strings.Compare(tree.Format(a), tree.Format(b)) })
	args = slices.CompactFunc(args, func(a, b tree.Expr) bool { return tree.Format(a) == tree.Format(b) })
	switch len(args) {
	case 0:
		return NewBool(x.Op == tree.And)
	case 1:
		return args[0]
	}
	return &tree.Logic{Op: x.Op, Args: args}
}

// fold replaces an expression without columns by its value.
func fold(e tree.Expr) tree.Expr {
	constant := true
	tree.Walk(e, func(x tree.Expr) {
		switch x.(type) {
		case *tree.Column, *tree.Released, *tree.Exists:
			constant = false
		}
	})
	if _, ok := e.(*tree.Literal); ok || !constant || e.Type().Kind == tree.Real {
		return e
	}
	return FromValue(Eval(e, nil), e.Type())
}
