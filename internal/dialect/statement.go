package dialect

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Statement is one SQL statement of a query, and what its columns are: keys first, then what it
// computes. A query may need several, and they all see the same data and keep the same groups of a
// person.
type Statement struct {
	Text string
	Args []any
	// Private says which of the query's keys the first columns are: all, or the private ones alone.
	Private bool
	// Summed says that these are counts and sums by public keys alone: package bound does that
	// faster.
	Summed bool
	// Placed says that the public keys are one column: the place of their combination.
	Placed bool
	// Measures are the measures of the next columns, one integer each.
	Measures []int
	// Persons says that the last column is a number of people, to be added up for each combination
	// of private keys.
	Persons bool
	// Values, where it is not -1, is the quantile whose values stand in the next column, and how
	// often each is there in the last.
	Values int
	// Members says that there is a row for each person and combination of private keys that they
	// are in: the number of the person, and the keys.
	Members bool
}

// Statements prints a query, with its parameters.
func (s *Schema) Statements(q *tree.Query) []Statement {
	var totals []int
	var out []Statement
	for i, m := range q.Measures {
		switch {
		case m.Kind == tree.Quantile:
			out = append(out, s.valueStatement(q, i))
		case m.Kind == tree.CountDistinct && q.Bounded():
			out = append(out, s.distinctStatement(q, i))
		case m.Kind == tree.CountDistinct && len(q.PrivateKeys()) == 0:
			out = append(out, s.rowStatement(q, []int{i}, false)) // by itself: the others are not for SQL
		default:
			totals = append(totals, i)
		}
	}
	private := len(q.PrivateKeys()) > 0
	mixed := private && len(q.PublicKeys()) > 0
	if q.Bounded() && mixed {
		out = append(out, s.peopleStatement(q))
	}
	if q.Weighs() {
		out = append(out, s.memberStatement(q))
	}
	if len(totals) > 0 || private && !(q.Bounded() && mixed) {
		if q.Bounded() {
			out = append(out, s.personStatement(q, totals, private && !mixed))
		} else {
			out = append(out, s.rowStatement(q, totals, private))
		}
	}
	return out
}

// rows is a query's rows on their way to text: keys k0, k1, ..., arguments a0, a1, ... and the unit
// u.
type rows struct {
	*Printer
	q     *tree.Query
	keys  []string
	list  []string
	where []string
	named map[string]string // the arguments' names by their spelling
	// placed says that the public keys are one, the place of their combination, or NULL where they
	// are not public.
	placed bool
}

func (s *Schema) rows(q *tree.Query) *rows {
	r := &rows{Printer: s.Print(q.From), q: q, named: map[string]string{}}
	keys := r.place()
	for i, k := range q.Keys[keys:] {
		name := fmt.Sprintf("k%d", keys+i)
		r.keys = append(r.keys, name)
		r.list = append(r.list, r.Key(k)+" AS "+name)
	}
	if q.Where != nil {
		r.where = append(r.where, r.Expr(q.Where))
	}
	return r
}

// argument returns the name of an expression that is computed for each row.
func (r *rows) argument(e tree.Expr) string {
	spelled := tree.Format(e)
	if name, ok := r.named[spelled]; ok {
		return name
	}
	name := fmt.Sprintf("a%d", len(r.named))
	r.named[spelled] = name
	r.list = append(r.list, r.Expr(e)+" AS "+name)
	return name
}

// unit adds the unit as u. Rows of nobody are left out.
func (r *rows) unit() {
	name := r.Unit()
	r.list = append(r.list, name+" AS u")
	r.where = append(r.where, name+" IS NOT NULL")
}

// text prints the rows as a subquery. It comes last, when all that is used is known.
func (r *rows) text() string {
	list := r.list
	if len(list) == 0 {
		list = []string{"1 AS c"}
	}
	return "(SELECT " + strings.Join(list, ", ") + " FROM " + r.FromClause(r.where...) + ")"
}

// Key prints a key. Numbers are 64-bit integers. One that does not fit, which no public key can be,
// counts as the nearest that does.
func (p *Printer) Key(k tree.Key) string {
	text, t := p.Expr(k.Expr), k.Expr.Type()
	if _, column := k.Expr.(*tree.Column); column || t.Kind != tree.Number && t.Kind != tree.Date && t.Kind != tree.Timestamp {
		return text
	}
	if t.Kind == tree.Number && !(t.Lo.IsInt64() && t.Hi.IsInt64()) {
		text = p.let(text, func(x string) string { return p.clamp(x, minInt64, maxInt64) })
	}
	return p.TryCast(text, p.Int64)
}

var minInt64, maxInt64 = big.NewInt(-1 << 63), big.NewInt(1<<63 - 1)

// total prints an aggregate over the rows of a group. The argument of a sum is proven to fit in 53
// bits, so it is cast without loss. Where a row is all that a person adds, it is clamped here,
// whatever was proven; where somebody may have several rows the partial is.
func (r *rows) total(m tree.Measure) string {
	switch m.Kind {
	case tree.CountValues:
		return "count(" + r.argument(m.Arg) + ")"
	case tree.CountPersons:
		return r.persons(m)
	case tree.CountDistinct:
		return "count(DISTINCT " + r.argument(m.Arg) + ")"
	case tree.Sum:
		x := r.TryCast(r.argument(m.Arg), r.Int64)
		if !r.q.Bounded() {
			lo, hi := r.q.Interval(m)
			return r.sum(r.clamp(x, lo, hi), lo, hi, true, false)
		}
		return r.sum(x, m.Arg.Type().Lo, m.Arg.Type().Hi, false, false)
	}
	return "count(*)"
}

// sum prints a sum of integers that are proven to lie between two ends, and clamped to them or not.
// They are clamped here where the sum would fail if the proof were wrong.
func (d *Dialect) sum(x string, lo, hi *big.Int, clamped, wide bool) string {
	if d.SmallSum == nil || largest(lo, hi).BitLen() > smallBits {
		return d.Sum(x, wide)
	}
	if !clamped {
		x = d.clamp(x, lo, hi)
	}
	return d.SmallSum(x)
}

// smallBits are those of integers of which 2^40 add up to less than 2^63.
const smallBits = 22

// persons prints what counts people. Where somebody may have several rows it is a partial, which is
// clamped to 1. Where nobody has, a row without a unit is not a person, as SQL's count says too.
func (r *rows) persons(m tree.Measure) string {
	who := "1"
	if !r.q.Bounded() && !r.ByRow {
		who = "p"
		if named := r.Unit() + " AS p"; !slices.Contains(r.list, named) {
			r.list = append(r.list, named)
		}
	}
	if m.Arg != nil {
		who = "CASE WHEN " + r.argument(m.Arg) + " IS NOT NULL THEN " + who + " END"
	}
	return "count(" + who + ")"
}

// totals prints the aggregates of some measures, and names them.
func (r *rows) totals(measures []int) []string {
	out := make([]string, len(measures))
	for i, m := range measures {
		out[i] = fmt.Sprintf("%s AS m%d", r.total(r.q.Measures[m]), m)
	}
	return out
}

func names(measures []int) []string {
	out := make([]string, len(measures))
	for i, m := range measures {
		out[i] = fmt.Sprintf("m%d", m)
	}
	return out
}

// rowStatement prints counts and sums where nobody has more than one row: a plain GROUP BY.
func (s *Schema) rowStatement(q *tree.Query, measures []int, persons bool) Statement {
	r := s.rows(q)
	list := append(slices.Clone(r.keys), r.totals(measures)...)
	results := append(slices.Clone(r.keys), names(measures)...)
	public := ""
	if listed := r.listedCondition(); listed != "" || persons {
		list = append(list, "count(*) AS n")
		if listed != "" {
			// Whether a key is public is looked up once a group and not once a row: the comparison
			// with the number of rows, which is always true, keeps a database from moving it down.
			public = " WHERE (" + listed + ") = (n > 0)"
		}
	}
	if persons {
		results = append(results, "n")
	}
	text := "WITH g AS (SELECT " + strings.Join(list, ", ") + " FROM " + r.text() + r.placedCondition() + Grouping(r.keys) +
		") SELECT " + strings.Join(results, ", ") + " FROM g" + public
	distinct := slices.ContainsFunc(measures, func(m int) bool { return q.Measures[m].Kind == tree.CountDistinct })
	return Statement{Text: text, Args: r.Args, Summed: !distinct && !persons, Measures: measures, Persons: persons, Placed: r.placed,
		Values: -1}
}

// Grouping prints GROUP BY, where there are keys.
func Grouping(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return " GROUP BY " + strings.Join(keys, ", ")
}
