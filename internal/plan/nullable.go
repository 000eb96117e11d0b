package plan

// nullable reports whether an expression can be NULL on some row. Where in doubt it says so.
func nullable(e Expr) bool {
	switch e := e.(type) {
	case *Column:
		return e.Field.Nullable
	case *Literal:
		return e.IsNullLiteral()
	case *Arith:
		return e.Op == Quo || e.Op == Rem || e.Op == Div || nullable(e.L) || nullable(e.R)
	case *IsNull, *Exists:
		return false
	}
	if mayVanish(e) {
		return true
	}
	for _, p := range parts(e) {
		if nullable(p) {
			return true
		}
	}
	return false
}
