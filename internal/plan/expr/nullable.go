package expr

import "github.com/discreet-dp/discreet/internal/plan/tree"

// Nullable reports whether an expression can be NULL on some row. Where in doubt it says so.
func Nullable(e tree.Expr) bool {
	switch e := e.(type) {
	case *tree.Column:
		return e.Field.Nullable
	case *tree.Literal:
		return e.IsNullLiteral()
	case *tree.Arith:
		return e.Op == tree.Quo || e.Op == tree.Rem || e.Op == tree.Div || Nullable(e.L) || Nullable(e.R)
	case *tree.IsNull, *tree.Exists:
		return false
	}
	if mayVanish(e) {
		return true
	}
	for _, p := range tree.Parts(e) {
		if Nullable(p) {
			return true
		}
	}
	return false
}
