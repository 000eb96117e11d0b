package policy

import "math/big"

const maxSumMeans = "what one person adds to a sum of the column in one group of an answer at most, and the noise grows with it"

// readMaxSum reads a bound on what one person's rows come to in one group. Any number will do: who
// has more is cut to it.
func (c *Column) readMaxSum(r *reader, f fields) {
	v, ok := f.get("max_sum")
	if !ok {
		return
	}
	n, ok := r.number(v, "max_sum")
	if !ok {
		return
	}
	least := big.NewRat(1, 1)
	if c.Granularity != nil {
		least = c.Granularity
	}
	switch {
	case c.Type != Integer && c.Type != Decimal:
		r.at(v, "a %s column cannot be summed; remove max_sum", c.Type)
	case c.Bounds == nil:
		r.at(v, "a column without bounds cannot be summed; remove max_sum, or give the column bounds")
	case n.Cmp(least) < 0:
		r.at(v, "max_sum must be at least the granularity, %s; it is %s", decimal(least), maxSumMeans)
	default:
		c.MaxSum = n
	}
}
