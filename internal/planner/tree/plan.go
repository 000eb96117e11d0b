package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/policy"
)

// Plan is a checked question: the private query, what is released, and
// what is done with it after the noise, which is free.
type Plan struct {
	Query   Query
	Stats   []Stat   // what is released for each group
	Columns []Output // what the analyst sees, made of Stats
	Having  Expr     // on Released values; nil where there is none
	Order   []Order
	Limit   *int64
	Ties    bool // rows that tie with the last of these are shown too
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

func (s Stat) Type() Type { return s.Typ }

// IsNoisy reports whether an expression of released values names an aggregate.
func (p *Plan) IsNoisy(e Expr) bool {
	noisy := false
	Walk(e, func(x Expr) {
		if r, ok := x.(*Released); ok {
			noisy = noisy || !p.Stats[r.Stat].Kind.Exact()
		}
	})
	return noisy
}

// HasAverages reports whether an average is among the stats.
func (p *Plan) HasAverages() bool {
	return slices.ContainsFunc(p.Stats, func(s Stat) bool { return s.Kind == AverageStat })
}

// Order is one item of ORDER BY, on released values.
type Order struct {
	By         Expr
	Descending bool
	NullsFirst bool
}

// Cube is the sets of one GROUP BY as marginals of one table, so that they can be released
// together: see mech.Residuals.
//
// Nobody has more than one row in the table's query, so one person adds to one of its groups. A
// group of a set is the union of those groups of the table that have its keys: a row that counts
// in the set has one value of every key of the table, because keys that may have others have one
// more value, the last, which stands for all of them and is not shown. So what is counted or
// summed in the set is the sum of the table's groups.
type Cube struct {
	// Query is the table: the private query with all keys of the sets.
	Query Query
	// Hidden says of each key that its last value stands for all that are not listed.
	Hidden []bool
	// Sets are which keys each set has, in its own order, and First is the first of its plans in
	// the statement; the others follow it.
	Sets  [][]int
	First int
}

// Holdout is a checked question to a holdout:
//
//	SELECT holdout_mean(expression [, training]) FROM table
//
// The expression has a value from 0 to 1 for every row, or is a condition, which is 1 where it
// holds. NULL counts as 0. Its mean is over all people of the holdout, whose number is public, so
// there is no WHERE: how many people fulfil a condition is not public.
type Holdout struct {
	// Of is the holdout of the policy that is asked.
	Of *policy.Holdout
	// Query has one measure, a sum or a count of one cell, in which a person's part is from 0 to 1.
	// One step of it is Factor parts of 1/Of.Steps.
	Query  Query
	Factor int64
	// Training is the second argument, or nil where there is none.
	Training *big.Rat
	// Train is the same expression over the public table of training rows: its sum, in TrainStep,
	// and after it the number of rows; nil where the policy names no such table, or where Training
	// is given.
	Train     *Query
	TrainStep *big.Rat
	// Name is what the analyst calls the answer.
	Name string

	Averaged Expr
}

func (h *Holdout) Describe() string { return Describe(h.Averaged) }

// Table is rows to train on: what an engine reads for a training, and all that it sees of it. Every
// row has a whole number for each column, or NULL. Who sees the rows are a trainer, and nobody
// else.
//
// At most MaxRows rows of one person are in it. Which ones depends on that person's rows alone, so
// that neighbouring databases have tables that differ in that many rows: they appear or disappear,
// or are replaced by as many others.
type Table struct {
	Dataset    string
	Neighbours dp.Neighbours
	From       Relation
	Where      Expr          // over From's fields; nil where there is no condition
	Columns    []TableColumn // features, sorted by name, and the target at the end

	RowLimit int64
}

// TableColumn is a number with public bounds, or one of some public values.
type TableColumn struct {
	Name string
	Expr Expr // over From's fields
	// Values are what a category can be. The code of a row is the place of its value, or -1 where
	// that is another. NULL is not among them. Nil where the column is a number.
	Values []policy.Value
}

// Bounds returns the interval of a number's codes and the size of one step: of a date in days, of a
// timestamp in microseconds.
func (c TableColumn) Bounds() (lo, hi int64, step *big.Rat) {
	t := c.Expr.Type()
	if c.Values != nil || t.Lo == nil {
		return 0, int64(len(c.Values)) - 1, One
	}
	if step = t.Step; step == nil {
		step = One
	}
	return t.Lo.Int64(), t.Hi.Int64(), step // proven to fit in 53 bits
}

func (c TableColumn) Describe() string { return Describe(c.Expr) }

func (t *Table) Features() []TableColumn { return t.Columns[:len(t.Columns)-1] }
func (t *Table) Target() TableColumn     { return t.Columns[len(t.Columns)-1] }

// MaxRows is how many rows of one person are in the table.
func (t *Table) MaxRows() int64 { return t.RowLimit }

// Single says that nobody has more than one row.
func (t *Table) Single() bool { return t.From.Single() }

// Bounded reports whether a person's rows have to be cut to MaxRows. They need not where nobody has
// more than one.
func (t *Table) Bounded() bool { return !t.Single() }

// Format writes the table in its canonical spelling: two with the same spelling have the same rows
// on the same data, in any order.
func (t *Table) Format() string {
	var b strings.Builder
	fmt.Fprintf(&b, "table of dataset %q\nfrom %s\nrows %d neighbours %v\n", t.Dataset, FormatRelation(t.From), t.MaxRows(), t.Neighbours)
	if t.Where != nil {
		fmt.Fprintf(&b, "where %s\n", Format(t.Where))
	}
	for i, c := range t.Columns {
		what := "feature"
		if i == len(t.Columns)-1 {
			what = "target"
		}
		fmt.Fprintf(&b, "%s %q %s", what, c.Name, Format(c.Expr))
		if c.Values == nil {
			lo, hi, step := c.Bounds()
			fmt.Fprintf(&b, " from %d to %d by %s", lo, hi, step.RatString())
		} else {
			b.WriteString(" in")
			for _, v := range c.Values {
				fmt.Fprintf(&b, " %q", v.String())
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Hash names the table: the SHA-256 of its canonical spelling, in hex.
func (t *Table) Hash() string {
	h := sha256.Sum256([]byte(t.Format()))
	return hex.EncodeToString(h[:])
}

// AsQuery is the table as a question that groups by its columns, for what is done with questions:
// subqueries that only name and filter are taken away, and everything is looked at once more.
func (t *Table) AsQuery() *Query {
	q := &Query{Dataset: t.Dataset, Neighbours: t.Neighbours, From: t.From, Where: t.Where, RowLimit: t.RowLimit, GroupLimit: 1}
	for _, c := range t.Columns {
		q.Keys = append(q.Keys, Key{Expr: c.Expr, Values: c.Values})
	}
	return q
}

// Public tells what is in public tables. It is nobody's, so to look at it tells nothing about
// anybody.
type Public interface {
	// Values returns the different values of a column, sorted.
	Values(table, column string, limit int) ([]policy.Value, error)
	// Most returns how many rows have the same values in some columns at most, as they are
	// declared, NULL left out. In no columns it is how many rows there are.
	Most(table string, columns []string) (int64, error)
	// Rows returns the rows of a table, its columns in the order of [policy.Table.ColumnNames] and
	// as they are declared. More than limit is an error.
	Rows(table string, limit int) ([][]Value, error)
}
