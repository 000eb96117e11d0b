package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/policy"
)

// Table is rows to train on: what an engine reads for a training, and all that it sees of it. Every row has a whole number for each column, or NULL. Who sees
// the rows are a trainer, and nobody else.
//
// At most MaxRows rows of one person are in it. Which ones depends on that person's rows alone, so that neighbouring databases have tables that
// differ in that many rows: they appear or disappear, or are replaced by as many others.
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
	// Values are what a category can be. The code of a row is the place of its value, or -1 where that is another. NULL is not among them. Nil
	// where the column is a number.
	Values []policy.Value
}

// Bounds returns the interval of a number's codes and the size of one step: of a date in days, of a timestamp in microseconds.
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

// Describe writes the column for a reader.
func (c TableColumn) Describe() string { return Describe(c.Expr) }

// Features are the columns without the target.
func (t *Table) Features() []TableColumn { return t.Columns[:len(t.Columns)-1] }

// Target is what is to be predicted.
func (t *Table) Target() TableColumn { return t.Columns[len(t.Columns)-1] }

// MaxRows is how many rows of one person are in the table.
func (t *Table) MaxRows() int64 { return t.RowLimit }

// Single says that nobody has more than one row.
func (t *Table) Single() bool { return t.From.Single() }

// Bounded reports whether a person's rows have to be cut to MaxRows. They need not where nobody has more than one.
func (t *Table) Bounded() bool { return !t.Single() }

// Format writes the table in its canonical spelling: two with the same spelling have the same rows on the same data, in any order.
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

// AsQuery is the table as a question that groups by its columns, for what is done with questions: subqueries that only name and filter are taken away, and
// everything is looked at once more.
func (t *Table) AsQuery() *Query {
	q := &Query{Dataset: t.Dataset, Neighbours: t.Neighbours, From: t.From, Where: t.Where, RowLimit: t.RowLimit, GroupLimit: 1}
	for _, c := range t.Columns {
		q.Keys = append(q.Keys, Key{Expr: c.Expr, Values: c.Values})
	}
	return q
}
