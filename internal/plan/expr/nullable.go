package expr

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

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

// LeavesOutNull reports whether rows without a value of the key are in no group although nobody has listed its values.
func LeavesOutNull(k tree.Key) bool {
	c, column := k.Expr.(*tree.Column)
	listed := column && c.Field.Source != nil && c.Field.Source.Keys == policy.PublicKeys
	return !k.Private && !listed && Nullable(k.Expr) && !slices.ContainsFunc(k.Values, func(v policy.Value) bool { return v.Null })
}
