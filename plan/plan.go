package plan

import (
	"math/big"
)

// Plan is a checked question: the private query, what the answer's columns are made of, and
// what is done with the answer after the noise, which is free.
type Plan struct {
	Query   Query
	Outputs []Output // the visible ones first
	Visible int      // how many of Outputs the analyst sees
	Having  Expr     // on Released values; nil where there is none
	Order   []Order
	Limit   *int64
	Offset  int64
}

// Output is a column of the answer: a key or an aggregate.
type Output struct {
	Name string
	Kind OutputKind
	// Key is the index into Query.Keys for KeyOutput.
	Key int
	// Measure is the index into Query.Measures of the count or the sum.
	Measure int
	// Count is the index of the measure that an average divides by.
	Count int
	// Center is what was subtracted from each value before it was summed, in
	// steps: an average is taken around the middle of its bounds, because noise
	// is in proportion to the largest distance from zero.
	Center *big.Int

	typ Type
}

// OutputKind says what an Output is made of.
type OutputKind int

const (
	// KeyOutput is a group's key.
	KeyOutput OutputKind = iota
	// MeasureOutput is a noisy count or sum.
	MeasureOutput
	// AverageOutput is a noisy sum over a noisy count.
	AverageOutput
)

// Type returns the type of the column.
func (o Output) Type() Type { return o.typ }

// Order is one item of ORDER BY, on released values.
type Order struct {
	By         Expr
	Descending bool
	NullsFirst bool
}
