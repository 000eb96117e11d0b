package expr

import "github.com/discreet-dp/discreet/internal/plan/tree"

// Replaced returns an expression in which f has put something else for some parts, and nil for those that stay.
// Nothing is looked for inside of EXISTS.
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
