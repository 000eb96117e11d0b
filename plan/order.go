package plan

// Compare orders two rows of released values by ORDER BY; the leaves give each
// row's values.
func (p *Plan) Compare(a, b func(Expr) Value) int {
	for _, o := range p.Order {
		l, r := Eval(o.By, a), Eval(o.By, b)
		c := 0
		switch {
		case l == nil && r == nil:
			continue
		case l == nil || r == nil:
			// Where NULLs stand does not depend on the direction.
			if (l == nil) == o.NullsFirst {
				return -1
			}
			return 1
		default:
			c = compareValues(l, r)
		}
		if o.Descending {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}
