package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/policy"
)

// Query is the private part of a question: what an engine computes exactly, and
// all that an engine sees. Its result is, for each measure, one integer per
// combination of public keys.
type Query struct {
	Dataset    string
	Table      *policy.Table
	Neighbours dp.Neighbours
	Where      Expr // nil where there is no condition
	Keys       []Key
	Measures   []Measure
}

// Key is a column to group by, with its public values. The answer has a row
// for every combination of values, whether or not the data has.
type Key struct {
	Column *Column
	Values []policy.Value
}

// Measure is one aggregate per group: an exact integer before noise.
type Measure struct {
	Kind MeasureKind
	Arg  Expr // nil for CountRows
}

// MeasureKind says what a measure adds up.
type MeasureKind int

const (
	// CountRows counts rows: COUNT(*).
	CountRows MeasureKind = iota
	// CountValues counts rows where Arg is not NULL: COUNT(x).
	CountValues
	// Sum adds up Arg in steps of its lattice; NULL adds nothing.
	Sum
)

// Groups returns the number of rows of the result: a product of public numbers.
func (q *Query) Groups() int {
	n := 1
	for _, k := range q.Keys {
		n *= len(k.Values)
	}
	return n
}

// Group returns the key values of a group, in the order of Keys. The last key
// changes fastest.
func (q *Query) Group(i int) []policy.Value {
	out := make([]policy.Value, len(q.Keys))
	for k := len(q.Keys) - 1; k >= 0; k-- {
		n := len(q.Keys[k].Values)
		out[k], i = q.Keys[k].Values[i%n], i/n
	}
	return out
}

// MaxRows is how many rows of one person count in one group.
func (q *Query) MaxRows() int64 { return q.Table.MaxRows }

// MaxGroups is how many groups one person can be in: one where a person has
// one row, and never more than there are groups.
func (q *Query) MaxGroups() int64 { return min(q.Table.MaxGroups, int64(q.Groups())) }

// Interval returns the interval, in steps, that the rows of one person in one
// group are clamped to. It holds 0, because a person may have no row there.
func (q *Query) Interval(m Measure) (lo, hi *big.Int) {
	rows := big.NewInt(q.MaxRows())
	if m.Kind != Sum {
		return new(big.Int), rows
	}
	lo, hi = new(big.Int), new(big.Int)
	if t := m.Arg.Type(); t.Lo.Sign() < 0 {
		lo.Mul(rows, t.Lo)
	}
	if t := m.Arg.Type(); t.Hi.Sign() > 0 {
		hi.Mul(rows, t.Hi)
	}
	return lo, hi
}

// Step returns the size of one step of a measure's integer.
func (m Measure) Step() *big.Rat {
	if m.Kind == Sum {
		return m.Arg.Type().Step
	}
	return one
}

// Format writes the measure in its canonical spelling.
func (m Measure) Format() string {
	switch m.Kind {
	case CountRows:
		return "count rows"
	case CountValues:
		return "count " + Format(m.Arg)
	}
	return "sum " + Format(m.Arg)
}

// Describe writes the measure for a reader: the columns' names without their lattices.
func (m Measure) Describe() string {
	switch m.Kind {
	case CountRows:
		return "count(*)"
	case CountValues:
		return "count(" + describe(m.Arg) + ")"
	}
	return "sum(" + describe(m.Arg) + ")"
}

// Format writes the query in its canonical spelling: two questions with the
// same spelling have the same exact result on the same data, and the same sensitivities.
func (q *Query) Format() string {
	var b strings.Builder
	fmt.Fprintf(&b, "dataset %q\ntable %q unit %v %q rows %d groups %d neighbours %v\n",
		q.Dataset, q.Table.Name, q.Table.UnitKind, q.Table.UnitColumn, q.MaxRows(), q.MaxGroups(), q.Neighbours)
	if q.Where != nil {
		fmt.Fprintf(&b, "where %s\n", Format(q.Where))
	}
	for _, k := range q.Keys {
		fmt.Fprintf(&b, "key %s in", Format(k.Column))
		for _, v := range k.Values {
			fmt.Fprintf(&b, " %q", v.String())
			if v.Null {
				b.WriteString("(null)")
			}
		}
		b.WriteByte('\n')
	}
	for _, m := range q.Measures {
		fmt.Fprintf(&b, "measure %s\n", m.Format())
	}
	return b.String()
}

// Hash names the query: the SHA-256 of its canonical spelling, in hex.
func (q *Query) Hash() string {
	h := sha256.Sum256([]byte(q.Format()))
	return hex.EncodeToString(h[:])
}
