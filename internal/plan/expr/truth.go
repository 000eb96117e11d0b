package expr

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

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
		if y, ok := otherwise(x, false); ok {
			return n.truth(y)
		}
	case *tree.Not:
		if c, ok := x.X.(*tree.Call); ok {
			if y, ok := otherwise(c, true); ok {
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
		return decided(x)
	}
	return e
}

func isTrue(e tree.Expr) bool {
	l, ok := e.(*tree.Literal)
	return ok && l.Bool != nil && *l.Bool
}

// otherwise returns x of coalesce(x, constant).
func otherwise(c *tree.Call, constant bool) (tree.Expr, bool) {
	if c.Fn != "coalesce" || len(c.Args) != 2 {
		return nil, false
	}
	l, ok := c.Args[1].(*tree.Literal)
	return c.Args[0], ok && l.Bool != nil && *l.Bool == constant
}

// decided looks whether a number's interval decides a comparison with a constant.
func decided(c *tree.Compare) tree.Expr {
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
