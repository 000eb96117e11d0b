package expr

import "github.com/discreet-dp/discreet/internal/plan/tree"

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

// Conjuncts returns the conditions that all must hold.
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
