package expr

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// Absent knows which columns are NULL in some row, as those of one side of an outer join in a row
// that has no partner there.
type Absent func(*tree.Column) bool

// IsNull reports whether an expression is NULL there. Where in doubt it says no.
func (a Absent) IsNull(e tree.Expr) bool {
	any := func() bool { return slices.ContainsFunc(tree.Parts(e), a.IsNull) }
	all := func(of []tree.Expr) bool {
		return len(of) > 0 && !slices.ContainsFunc(of, func(x tree.Expr) bool { return !a.IsNull(x) })
	}
	switch e := e.(type) {
	case *tree.Column:
		return a(e)
	case *tree.Literal:
		return e.IsNullLiteral()
	case *tree.Rescale, *tree.ToReal, *tree.Arith, *tree.Not, *tree.Within, *tree.Like:
		return any()
	case *tree.In:
		return a.IsNull(e.X)
	case *tree.Compare:
		return e.Op != tree.Distinct && e.Op != tree.NotDistinct && any()
	case *tree.Logic:
		return all(e.Args)
	case *tree.Case:
		for _, w := range e.Whens {
			if !a.IsUntrue(w.If) && !a.IsNull(w.Then) {
				return false
			}
		}
		return e.Else == nil || a.IsNull(e.Else)
	case *tree.Call:
		f := treeFunction(e.Fn)
		switch {
		case f == nil:
			return false
		case f.nulls: // of NULLs alone they are NULL, but what joins texts is a text
			return e.Type().Kind != tree.Text && all(e.Args)
		}
		return any()
	}
	return false
}

// IsUntrue reports whether a condition is false or NULL there. Where in doubt it says no.
func (a Absent) IsUntrue(e tree.Expr) bool {
	switch e := e.(type) {
	case *tree.Literal:
		return e.Bool == nil || !*e.Bool
	case *tree.Logic:
		if e.Op == tree.And {
			return slices.ContainsFunc(e.Args, a.IsUntrue)
		}
		return !slices.ContainsFunc(e.Args, func(x tree.Expr) bool { return !a.IsUntrue(x) })
	case *tree.Not:
		if null, ok := e.X.(*tree.IsNull); ok {
			return a.IsNull(null.X)
		}
	case *tree.Exists:
		return e.On != nil && a.IsUntrue(e.On)
	}
	return a.IsNull(e)
}
