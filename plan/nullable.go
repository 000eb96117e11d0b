package plan

// nullable reports whether an expression can be NULL on some row. Where in doubt it says so.
func nullable(e Expr) bool {
	switch e := e.(type) {
	case *Column:
		return e.Field.Nullable
	case *Literal:
		return e.IsNullLiteral()
	case *Rescale:
		return nullable(e.X)
	case *ToReal:
		return nullable(e.X)
	case *Arith:
		return e.Op == Quo || e.Op == Rem || e.Op == Div || nullable(e.L) || nullable(e.R)
	case *Compare:
		return nullable(e.L) || nullable(e.R)
	case *IsNull, *Exists:
		return false
	}
	return true
}
