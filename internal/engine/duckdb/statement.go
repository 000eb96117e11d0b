package duckdb

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// statement is one SQL statement of a query, and what its columns are: keys first, then what it computes. A query may
// need several, and they all see the same data and keep the same groups of a person.
type statement struct {
	text string
	args []any
	// keys says which of the query's keys the first columns are: all, or the private ones alone.
	private bool
	// summed says that these are counts and sums by public keys alone: package bound does that faster.
	summed bool
	// measures are the measures of the next columns, one integer each.
	measures []int
	// persons says that the last column is a number of people, to be added up for each combination of private keys.
	persons bool
	// values, where it is not -1, is the quantile whose values stand in the next column, and how often each
	// is there in the last.
	values int
}

// print writes the statements of a query, with their parameters.
func (s *snapshot) print(q *tree.Query) []statement {
	var totals []int
	var out []statement
	for i, m := range q.Measures {
		switch {
		case m.Kind == tree.Quantile:
			out = append(out, s.printValues(q, i))
		case m.Kind == tree.CountDistinct && q.Bounded():
			out = append(out, s.printDistinct(q, i))
		case m.Kind == tree.CountDistinct && len(q.PrivateKeys()) == 0:
			out = append(out, s.printByRow(q, []int{i}, false)) // by itself: the others are not for SQL
		default:
			totals = append(totals, i)
		}
	}
	private := len(q.PrivateKeys()) > 0
	mixed := private && len(q.PublicKeys()) > 0
	if q.Bounded() && mixed {
		out = append(out, s.printPersons(q))
	}
	if len(totals) > 0 || private && !(q.Bounded() && mixed) {
		if q.Bounded() {
			out = append(out, s.printByPerson(q, totals, private && !mixed))
		} else {
			out = append(out, s.printByRow(q, totals, private))
		}
	}
	return out
}

// rows is a query's rows on their way to text: keys k0, k1, ..., arguments a0, a1, ... and the unit u.
type rows struct {
	*printer
	q     *tree.Query
	from  *frame
	keys  []string
	list  []string
	where []string
	named map[string]string // the arguments' names by their spelling
}

func (s *snapshot) rows(q *tree.Query) *rows {
	p := &printer{snapshot: s}
	r := &rows{printer: p, q: q, from: p.frame(q.From), named: map[string]string{}}
	p.row = tuple{r.from}
	for i, k := range q.Keys {
		name := fmt.Sprintf("k%d", i)
		r.keys = append(r.keys, name)
		r.list = append(r.list, p.key(k)+" AS "+name)
	}
	if q.Where != nil {
		r.where = append(r.where, p.expr(q.Where))
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
	r.list = append(r.list, r.expr(e)+" AS "+name)
	return name
}

// unit adds the unit as u. Rows of nobody are left out.
func (r *rows) unit() {
	name := r.from.field(r.q.From.Unit())
	r.list = append(r.list, name+" AS u")
	r.where = append(r.where, name+" IS NOT NULL")
}

// text prints the rows as a subquery. It comes last, when all that is used is known.
func (r *rows) text() string {
	list := r.list
	if len(list) == 0 {
		list = []string{"1 AS c"}
	}
	where := ""
	if len(r.where) > 0 {
		where = " WHERE " + strings.Join(r.where, " AND ")
	}
	return "(SELECT " + strings.Join(list, ", ") + " FROM " + r.printer.from(r.from) + where + ")"
}

// key prints a key. Numbers are 64-bit integers. One that does not fit, which no public key can be, counts as the nearest that does.
func (p *printer) key(k tree.Key) string {
	text, t := p.expr(k.Expr), k.Expr.Type()
	if _, column := k.Expr.(*tree.Column); column || t.Kind != tree.Number && t.Kind != tree.Date {
		return text
	}
	if t.Kind == tree.Number && !(t.Lo.IsInt64() && t.Hi.IsInt64()) {
		text = clamp(text, minInt64, maxInt64)
	}
	return "TRY_CAST(" + text + " AS BIGINT)"
}

var minInt64, maxInt64 = big.NewInt(-1 << 63), big.NewInt(1<<63 - 1)

// total prints an aggregate over the rows of a group. The argument of a sum is proven to fit in 53 bits, so it is cast without
// loss, and its sum is a HUGEINT. Where a row is all that a person adds, it is clamped here, whatever was proven; where somebody may have several
// rows the partial is.
func (r *rows) total(m tree.Measure) string {
	switch m.Kind {
	case tree.CountValues:
		return "count(" + r.argument(m.Arg) + ")"
	case tree.CountPersons:
		return r.persons(m)
	case tree.CountDistinct:
		return "count(DISTINCT " + r.argument(m.Arg) + ")"
	case tree.Sum:
		x := "TRY_CAST(" + r.argument(m.Arg) + " AS BIGINT)"
		if !r.q.Bounded() {
			lo, hi := r.q.Interval(m)
			x = clamp(x, lo, hi)
		}
		return "sum(" + x + ")"
	}
	return "count(*)"
}

// persons prints what counts people. Where somebody may have several rows it is a partial, which is clamped to 1. Where nobody
// has, a row without a unit is not a person, as SQL's count says too.
func (r *rows) persons(m tree.Measure) string {
	who := "1"
	if !r.q.Bounded() && !r.byRow {
		who = "p"
		if !slices.Contains(r.list, r.whose()) {
			r.list = append(r.list, r.whose())
		}
	}
	if m.Arg != nil {
		who = "CASE WHEN " + r.argument(m.Arg) + " IS NOT NULL THEN " + who + " END"
	}
	return "count(" + who + ")"
}

func (r *rows) whose() string { return r.from.field(r.q.From.Unit()) + " AS p" }

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

// printByRow prints counts and sums where nobody has more than one row: a plain GROUP BY.
func (s *snapshot) printByRow(q *tree.Query, measures []int, persons bool) statement {
	r := s.rows(q)
	list := append(slices.Clone(r.keys), r.totals(measures)...)
	results := append(slices.Clone(r.keys), names(measures)...)
	public := ""
	if listed := r.onlyListed(); listed != "" || persons {
		list = append(list, "count(*) AS n")
		if listed != "" {
			// Whether a key is public is looked up once a group and not once a row: the comparison
			// with the number of rows, which is always true, keeps DuckDB from moving it down.
			public = " WHERE (" + listed + ") = (n > 0)"
		}
	}
	if persons {
		results = append(results, "n")
	}
	text := "WITH g AS (SELECT " + strings.Join(list, ", ") + " FROM " + r.text() + grouping(r.keys) + ") SELECT " + strings.Join(results, ", ") + " FROM g" + public
	distinct := slices.ContainsFunc(measures, func(m int) bool { return q.Measures[m].Kind == tree.CountDistinct })
	return statement{text: text, args: r.printer.args, summed: !distinct && !persons, measures: measures, persons: persons, values: -1}
}

func grouping(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return " GROUP BY " + strings.Join(keys, ", ")
}
