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

// Query is the private part of a question: what an engine computes exactly, and
// all that an engine sees. Its result is, for each measure, one integer per
// combination of keys.
type Query struct {
	Dataset    string
	Neighbours dp.Neighbours
	From       Relation
	Where      Expr  // over From's fields; nil where there is no condition
	Keys       []Key // the private ones last
	Measures   []Measure
	// Choice says that no measure is released: the best groups are chosen. Nil where
	// measures are released.
	Choice *Choice

	// rows and groups are how much of one person counts.
	RowLimit, GroupLimit int64
}

// Key is an expression to group by, over From's fields.
type Key struct {
	Expr Expr
	// Values are the public values, and the answer has a row for every one of them, whether or
	// not the data has. Rows with other values are left out.
	Values []policy.Value
	// Private says that which values there are is itself private: there are no Values, and
	// an engine returns those it finds, sealed.
	Private bool
}

// Measure is one aggregate per group: an exact integer before noise.
type Measure struct {
	Kind MeasureKind
	Arg  Expr // nil for CountRows; for CountPersons, what is not NULL in some row of theirs, or nil for all
	// At are the quantiles of Quantile, from 0 to 1, in rising order.
	At []*big.Rat
	// Most, where it is not nil, is what the rows of one person come to at most in one group of a
	// Sum, in steps and above 0: their sum is clamped to it, and to its negative.
	Most *big.Int
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
	// CountPersons counts people: COUNT(DISTINCT unit).
	CountPersons
	// CountDistinct counts the different values of Arg: COUNT(DISTINCT x). Of one person at most
	// MaxRows values count in a group.
	CountDistinct
	// Quantile is no integer per group but all values of Arg, of which a mechanism releases
	// quantiles. Of one person at most MaxRows values count in a group.
	Quantile
)

// Counts says that a measure is a count, which is never below 0.
func (m Measure) Counts() bool {
	return m.Kind == CountRows || m.Kind == CountValues || m.Kind == CountPersons || m.Kind == CountDistinct
}

// Choice asks for the K groups with the highest scores, best first. The score of a group is
// the first measure times its weight.
type Choice struct {
	K int
	// Weights are whole numbers, one for each group, negative where the lowest measures are
	// asked for; nil where all are 1.
	Weights []int64
}

// PublicKeys returns the keys with public values, and PrivateKeys the others, which come after
// them.
func (q *Query) PublicKeys() []Key { return q.Keys[:q.firstPrivate()] }

// PrivateKeys returns the keys whose values are private.
func (q *Query) PrivateKeys() []Key { return q.Keys[q.firstPrivate():] }

// ListsKeys reports whether nothing is asked for but public keys. They follow from the policy, the
// question and public tables, so they are exact and free, and no engine is asked.
func (q *Query) ListsKeys() bool {
	return len(q.Measures) == 0 && q.Choice == nil && len(q.PrivateKeys()) == 0
}

func (q *Query) firstPrivate() int {
	i := slices.IndexFunc(q.Keys, func(k Key) bool { return k.Private })
	if i < 0 {
		return len(q.Keys)
	}
	return i
}

// Groups returns the number of combinations of public keys: a product of public numbers. Where
// there are private keys too it is the number of rows for each of their combinations.
func (q *Query) Groups() int {
	n := 1
	for _, k := range q.PublicKeys() {
		n *= len(k.Values)
	}
	return n
}

// Group returns the public key values of a group, in the order of Keys. The last key
// changes fastest.
func (q *Query) Group(i int) []policy.Value {
	public := q.PublicKeys()
	out := make([]policy.Value, len(public))
	for k := len(public) - 1; k >= 0; k-- {
		n := len(public[k].Values)
		out[k], i = public[k].Values[i%n], i/n
	}
	return out
}

// MaxRows is how many rows of one person count in one group.
func (q *Query) MaxRows() int64 { return q.RowLimit }

// MaxGroups is how many groups one person can be in: one where a person has
// one row, and never more than there are groups. A choice is among groups that each move by
// one person's part alone, so there all of them count.
func (q *Query) MaxGroups() int64 {
	if len(q.PrivateKeys()) > 0 {
		return q.GroupLimit
	}
	if q.Choice != nil && !q.From.Single() {
		return int64(q.Groups())
	}
	return min(q.GroupLimit, int64(q.Groups()))
}

// Bounded reports whether a person's rows have to be cut to MaxRows and MaxGroups. They need not
// where nobody has more than one row, nor where all rows are public, as in [Holdout].Train.
func (q *Query) Bounded() bool { return Private(q.From) && !q.From.Single() }

// Interval returns the interval, in steps, that the rows of one person in one
// group are clamped to. It holds 0, because a person may have no row there.
func (q *Query) Interval(m Measure) (lo, hi *big.Int) {
	rows := big.NewInt(q.MaxRows())
	switch m.Kind {
	case CountPersons:
		return new(big.Int), big.NewInt(1)
	case Sum:
		lo, hi = new(big.Int), new(big.Int)
		if t := m.Arg.Type(); t.Lo.Sign() < 0 {
			lo.Mul(rows, t.Lo)
		}
		if t := m.Arg.Type(); t.Hi.Sign() > 0 {
			hi.Mul(rows, t.Hi)
		}
		if m.Most != nil && m.Most.Cmp(hi) < 0 {
			hi.Set(m.Most)
		}
		if m.Most != nil && m.Most.CmpAbs(lo) < 0 {
			lo.Neg(m.Most)
		}
		return lo, hi
	}
	return new(big.Int), rows
}

// Step returns the size of one step of a measure's integer.
func (m Measure) Step() *big.Rat {
	if m.Kind == Sum || m.Kind == Quantile {
		if s := m.Arg.Type().Step; s != nil {
			return s
		}
	}
	return One
}

// Format writes the measure in its canonical spelling.
func (m Measure) Format() string {
	switch m.Kind {
	case CountRows:
		return "count rows"
	case CountPersons:
		if m.Arg != nil {
			return "count persons " + Format(m.Arg)
		}
		return "count persons"
	case CountValues:
		return "count " + Format(m.Arg)
	case CountDistinct:
		return "distinct " + Format(m.Arg)
	case Quantile:
		at := make([]string, len(m.At))
		for i, a := range m.At {
			at[i] = a.RatString()
		}
		return "quantile " + strings.Join(at, ",") + " " + Format(m.Arg)
	}
	if m.Most != nil {
		return "sum at most " + m.Most.String() + " " + Format(m.Arg)
	}
	return "sum " + Format(m.Arg)
}

// Describe writes the measure for a reader: the columns' names without their lattices.
func (m Measure) Describe() string {
	switch m.Kind {
	case CountRows:
		return "count(*)"
	case CountPersons:
		if m.Arg != nil {
			return "count(distinct person with " + Describe(m.Arg) + ")"
		}
		return "count(distinct person)"
	case CountValues:
		return "count(" + Describe(m.Arg) + ")"
	case CountDistinct:
		return "count(distinct " + Describe(m.Arg) + ")"
	case Quantile:
		at := make([]string, len(m.At))
		for i, a := range m.At {
			f, _ := a.Float64()
			at[i] = fmt.Sprint(f)
		}
		return "quantile(" + strings.Join(at, ", ") + " of " + Describe(m.Arg) + ")"
	}
	return "sum(" + Describe(m.Arg) + ")"
}

// Describe writes the key for a reader.
func (k Key) Describe() string { return Describe(k.Expr) }

// Format writes the query in its canonical spelling: two questions with the
// same spelling have the same exact result on the same data.
func (q *Query) Format() string {
	var b strings.Builder
	fmt.Fprintf(&b, "dataset %q\nfrom %s\nrows %d groups %d neighbours %v\n",
		q.Dataset, FormatRelation(q.From), q.MaxRows(), q.MaxGroups(), q.Neighbours)
	if q.Where != nil {
		fmt.Fprintf(&b, "where %s\n", Format(q.Where))
	}
	for _, k := range q.Keys {
		if k.Private {
			fmt.Fprintf(&b, "key %s private\n", Format(k.Expr))
			continue
		}
		fmt.Fprintf(&b, "key %s in", Format(k.Expr))
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
	if q.Choice != nil {
		fmt.Fprintf(&b, "choose %d weighing %v\n", q.Choice.K, q.Choice.Weights)
	}
	return b.String()
}

// Hash names the query: the SHA-256 of its canonical spelling, in hex.
func (q *Query) Hash() string {
	h := sha256.Sum256([]byte(q.Format()))
	return hex.EncodeToString(h[:])
}

// Name is the hash of a measure's spelling.
func (m Measure) Name() string { return Hashed("measure", m.Format()) }

// Adds reports whether the measure of a union of groups is the sum of theirs.
func (m Measure) Adds() bool {
	return m.Kind == CountRows || m.Kind == CountValues || m.Kind == Sum || m.Kind == CountPersons
}

// Public reports whether a query is about one public table and nothing else, so that its result may
// be told exactly.
func (q *Query) Public() bool {
	scan, ok := q.From.(*Scan)
	return ok && scan.Table.Public && !Private(scan) && !q.Asks()
}

// Asks reports whether a subquery is asked for each row.
func (q *Query) Asks() (asks bool) {
	for _, e := range q.expressions() {
		Walk(e, func(x Expr) {
			_, subquery := x.(*Exists)
			asks = asks || subquery
		})
	}
	return asks
}

// QuantileRange returns the public ends, in steps or days, between which quantiles of an expression
// are.
func QuantileRange(arg Expr) (lo, hi int64, ok bool) {
	t := arg.Type()
	switch t.Kind {
	case Number, Date, Timestamp:
		if t.Declared && t.Lo.IsInt64() && t.Hi.IsInt64() && t.Lo.Cmp(t.Hi) < 0 {
			return t.Lo.Int64(), t.Hi.Int64(), true
		}
	}
	return 0, 0, false
}
