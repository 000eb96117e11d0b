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

// Query is the private part of a question: what an engine computes exactly, and all that an engine
// sees. Its result is, for each measure, one integer per combination of keys.
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
	// Scaled says that of a person with more rows in a group than count, a Sum is scaled down to as
	// many rows as count: times MaxRows over how many they are, to the nearest integer, and from
	// the middle away from 0. It is within [Query.Interval], as the sum of any MaxRows rows is.
	// With the count of the same rows, which is cut to MaxRows, it makes an average in which all of
	// a person's rows have a part, and weigh as MaxRows rows do. Clamped by itself such a sum would
	// draw the average to an end of its bounds.
	Scaled Scaling
}

// Scaling says which rows of a person in a group tell by how much their sum is scaled.
type Scaling int

const (
	Unscaled Scaling = iota
	// ByRows is by all rows, where Arg is never NULL; ByValues by those where it is not.
	ByRows
	ByValues
)

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
func (q *Query) PublicKeys() []Key  { return q.Keys[:q.firstPrivate()] }
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
	switch {
	case m.Most != nil:
		return "sum at most " + m.Most.String() + " " + Format(m.Arg)
	case m.Scaled == ByRows:
		return "sum scaled by rows " + Format(m.Arg)
	case m.Scaled == ByValues:
		return "sum scaled by values " + Format(m.Arg)
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

// Sensitivity returns how far one person can move a measure's vector over all
// groups, in steps, in the given norm.
//
// The argument. The engine reduces a person to one partial per group, keeps at most C =
// MaxGroups of them, and clamps each to [lo, hi], which holds 0 (Interval): what MaxRows rows come
// to, or less where a sum of one person is bounded by itself (Measure.Most). Which
// groups are kept depends on that person's rows and on nobody else's. So a
// person contributes a vector with at most C entries that are not 0, each in
// [lo, hi]. Let M be the larger of -lo and hi, and R = hi - lo <= 2M.
//
// Partials are clamped after they were scaled (Measure.Scaled), which makes them another function
// of the person's own rows, and changes nothing of this.
//
//   - add-remove: one such vector appears or disappears: l1 <= C M, l2^2 <= C M^2.
//   - substitute: one vector replaces another. Where both have an entry, in j
//     groups, they differ by at most R; in the others, at most 2(C-j), by at
//     most M. So l1 <= j R + 2 (C-j) M and l2^2 <= j R^2 + 2 (C-j) M^2, both
//     linear in j and so largest at one end: j = C, or the fewest that two sets
//     of C groups among all G can share, max(0, 2C - G).
//
// One group moves by M where a person is added, and by R where one is replaced, whatever the others
// do.
func (q *Query) Sensitivity(m Measure, norm dp.Norm) dp.Sensitivity {
	lo, hi := q.Interval(m)
	larger := new(big.Int).Neg(lo)
	if larger.Cmp(hi) < 0 {
		larger = hi
	}
	width := new(big.Int).Sub(hi, lo)
	power := func(x *big.Int) *big.Int {
		if norm == dp.L2 {
			return new(big.Int).Mul(x, x)
		}
		return x
	}
	c, g := q.MaxGroups(), int64(q.Groups())
	if len(q.PrivateKeys()) > 0 {
		g = 2 * c // nobody knows how many groups there are
	}
	var d *big.Int
	if q.Neighbours == dp.AddRemove {
		d = Times(c, power(larger))
	} else {
		at := func(j int64) *big.Int {
			d := Times(j, power(width))
			return d.Add(d, Times(2*(c-j), power(larger)))
		}
		d = at(c)
		if e := at(max(0, 2*c-g)); e.Cmp(d) > 0 {
			d = e
		}
	}
	if norm == dp.L2 {
		return dp.NewL2Squared(d)
	}
	if q.Neighbours == dp.AddRemove {
		return dp.NewL1Each(d, larger)
	}
	return dp.NewL1Each(d, width)
}

func Times(n int64, x *big.Int) *big.Int { return new(big.Int).Mul(big.NewInt(n), x) }

// Twins are pairs of sums that share what one person moves: of x - l and of u - x, for the ends l
// and u of x, where nobody has more than one row. See [Query.TwinSensitivity].
func (q *Query) Twins() [][2]int {
	if q.Neighbours != dp.AddRemove || q.Choice != nil || !Private(q.From) || !q.From.Single() {
		return nil
	}
	var out [][2]int
	taken := map[int]bool{}
	for i, up := range q.Measures {
		for j, down := range q.Measures {
			if !taken[i] && !taken[j] && i != j && isTwin(up, down) {
				out = append(out, [2]int{i, j})
				taken[i], taken[j] = true, true
			}
		}
	}
	return out
}

// isTwin reports whether one sum is of x - l and the other of u - x, in the same steps, both from 0
// to u - l.
func isTwin(up, down Measure) bool {
	if up.Kind != Sum || down.Kind != Sum || up.Most != nil || down.Most != nil || up.Scaled != down.Scaled {
		return false
	}
	a, b := up.Arg.Type(), down.Arg.Type()
	rest, ok := down.Arg.(*Arith)
	if !ok || rest.Op != Sub || !isConstant(rest.L, a.Step) || b.Step == nil || a.Step.Cmp(b.Step) != 0 || a.Lo.Sign() != 0 ||
		b.Lo.Sign() != 0 || a.Hi.Cmp(b.Hi) != 0 {
		return false
	}
	x := up.Arg
	if moved, ok := x.(*Arith); ok && (moved.Op == Sub || moved.Op == Add) && isConstant(moved.R, a.Step) {
		x = moved.L
	}
	return Format(x) == Format(rest.R) && rest.R.Type().Step.Cmp(a.Step) == 0
}

// isConstant reports whether an expression is a number that is written in these steps.
func isConstant(e Expr, step *big.Rat) bool {
	l, ok := e.(*Literal)
	return ok && l.Number != nil && step != nil && l.Typ.Step != nil && l.Typ.Step.Cmp(step) == 0
}

// TwinSensitivity is how far one person moves both sums of twins together, in l1.
//
// A row adds a = x - l to the one and b = u - x to the other, each clamped to [0, W], W = u - l.
// Where l <= x <= u that is W together. Where an engine has an x beyond its ends, one of the two is
// clamped to W and the other to 0, which is W as well; where x is NULL both are 0. One person has
// one row, which is in one group, and is there or not: the vector of both sums over all groups
// moves by at most W. Released apart they would be calibrated to W each.
//
// An average is l + W A/(A+B). With Laplace noise of scale W/e on both its variance is about
// (W/e)^2 (1 + t^2)/n^2, where t from -1 to 1 is how far the average is from the middle of its
// ends. A sum around the middle and a count, at e/2 each, have noise of scales W/e and 2/e, and the
// average of them twice that variance. With Gaussian noise both ways are the same: (a, b) is
// (x - (l+u)/2, W/2) turned by an eighth of a circle, which that noise does not notice.
func (q *Query) TwinSensitivity(pair [2]int) dp.Sensitivity {
	return dp.NewL1(new(big.Int).Set(q.Measures[pair[0]].Arg.Type().Hi))
}

// Decider returns the measure that decides which combinations of private keys are shown, or -1
// where people are counted for that alone, beside what is shown.
//
// A key is shown where enough people have it. Where the question asks how many that are, the
// number that is shown is the number that decides, and it is released once (mech.KeyThreshold,
// which says why that is private). So it has to be a number to which a person adds 0 or 1, to at
// most MaxGroups groups: the people of a group, or its rows where nobody counts with more than one.
// Noise and threshold are calibrated to that, which is [Query.Interval] and [Query.Sensitivity] as
// for every measure: what a person adds is clamped to it, and derived a second time
// (internal/planner/verify).
//
// Three that look alike do not decide. COUNT(x), and what has a FILTER, is 0 in groups whose people
// have no x: they would be left out where SQL shows a 0. Where there are public keys too a
// combination of private ones has several such numbers, and all of them are shown or none. Of
// several rows a person the number of rows is not one of people: the threshold would have to be as
// high as if all people had all of them.
func (q *Query) Decider() int {
	if q.Choice != nil || len(q.PrivateKeys()) == 0 || q.Groups() != 1 {
		return -1
	}
	for i, m := range q.Measures {
		if m.Arg != nil || m.Kind != CountRows && m.Kind != CountPersons {
			continue
		}
		if lo, hi := q.Interval(m); lo.Sign() == 0 && hi.Cmp(One.Num()) == 0 {
			return i
		}
	}
	return -1
}

// Weighs reports whether an engine says which combinations of private keys each person is in, and
// not only how many people each has: where somebody can be in several, and no count decides, people
// are weighed (mech.KeyWeights).
func (q *Query) Weighs() bool {
	return len(q.PrivateKeys()) > 0 && q.MaxGroups() > 1 && q.Bounded() && q.Decider() < 0
}
