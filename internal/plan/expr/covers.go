package expr

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

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

// SameKey compares values of one key.
func SameKey(a, b policy.Value) bool {
	return a.Null == b.Null && (a.Null || a.Text == b.Text && a.Int == b.Int)
}
