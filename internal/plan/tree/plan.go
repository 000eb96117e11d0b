package tree

import "math/big"

// Plan is a checked question: the private query, what is released, and
// what is done with it after the noise, which is free.
type Plan struct {
	Query   Query
	Stats   []Stat   // what is released for each group
	Columns []Output // what the analyst sees, made of Stats
	Having  Expr     // on Released values; nil where there is none
	Order   []Order
	Limit   *int64
	Offset  int64
	// Distinct says that equal rows are shown once: SELECT DISTINCT above the noise.
	Distinct bool
	// Continues says that its rows are in one answer with those of the plan before it: the sets of
	// one GROUP BY. Columns, Order, Limit and all else that is above the noise mean the same in
	// both.
	Continues bool
	// Running are the measures of which running totals are made around the answer, in the order of
	// its one key.
	Running []int
	// Within are other answers of the same statement that choose among the rows.
	Within []Among
}

// Among says that rows are shown where their keys, which are not NULL, are in another answer.
type Among struct {
	Answer  int    // the first plan of the other, among those of the statement; it comes after this one
	By      []Expr // keys, on Released values
	Columns []int  // the columns of the other that they are compared with
}

// Output is a column of the answer.
type Output struct {
	Name string
	Expr Expr // on Released values
	// Cast is PostgreSQL's name of the type that the whole column is cast to, or nothing.
	Cast string
}

// Stat is a value that is released for each group: a key, or a statistic made of noisy measures.
type Stat struct {
	Kind StatKind
	// Key is the index into Query.Keys for KeyStat. For AbsentStat it numbers the keys of other
	// sets, and for GroupingStat it is how many bits there are.
	Key int
	// Measure is the index into Query.Measures of the count, the sum, or the quantiles.
	Measure int
	// Count is the index of the measure that an average or a variance divides by, unless it divides
	// by People, which is how many people there are, exactly, where that is public; and what
	// PeopleStat is.
	Count  int
	People *int64
	// Twin says that an average is made of twins: Measure is the sum of distances from Center,
	// which is the lower end, and Count that of distances from the upper end.
	Twin bool
	// Square is the index of the sum of squares of a variance.
	Square int
	// Center is what was subtracted from each value before it was summed, and SquareCenter before
	// it was squared, in steps: an average is taken around the middle of its bounds, because noise
	// is in proportion to the largest distance from zero.
	Center, SquareCenter *big.Int
	// Sample divides by one less than the count, and Root takes the square root of a variance.
	Sample, Root bool
	// Quantile is the index into the measure's At.
	Quantile int
	// Note says what the analyst should know about the value, as of MIN.
	Note string
	// Bits is what GROUPING(...) is for GroupingStat.
	Bits int64
	// Of is the expression that the statistic is about; nil for keys and COUNT(*).
	Of Expr

	Typ Type
}

// StatKind says what a Stat is made of.
type StatKind int

const (
	// KeyStat is a group's key.
	KeyStat StatKind = iota
	// MeasureStat is a noisy count or sum.
	MeasureStat
	// AverageStat is a noisy sum over a noisy count.
	AverageStat
	// VarianceStat is made of a noisy sum of squares, a sum and a count.
	VarianceStat
	// QuantileStat is one of the quantiles of a measure.
	QuantileStat
	// AbsentStat is a key that other sets of the same GROUP BY have, and is NULL.
	AbsentStat
	// GroupingStat says which of some keys a set does not have.
	GroupingStat
	// PeopleStat is how many people there are, where that is public.
	PeopleStat
)

// Exact reports whether a stat has no noise: it follows from the question and the group, or is
// public.
func (k StatKind) Exact() bool {
	return k == KeyStat || k == AbsentStat || k == GroupingStat || k == PeopleStat
}

// Type returns the type of the value.
func (s Stat) Type() Type { return s.Typ }

// Order is one item of ORDER BY, on released values.
type Order struct {
	By         Expr
	Descending bool
	NullsFirst bool
}
