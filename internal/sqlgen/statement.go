package sqlgen

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// Statement is one SQL statement of a query, and what its columns are: keys first, then what it
// computes. A query may need several, and they all see the same data and keep the same groups of a
// person.
type Statement struct {
	Text string
	Args []any
	// Private says which of the query's keys the first columns are: all, or the private ones alone.
	Private bool
	// Summed says that these are counts and sums by public keys alone: package contribution does
	// that faster.
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
	keys := r.addPlace()
	for i, k := range q.Keys[keys:] {
		name := fmt.Sprintf("k%d", keys+i)
		r.keys = append(r.keys, name)
		r.list = append(r.list, r.Key(k)+" AS "+name)
	}
	if q.Where != nil {
		r.where = append(r.where, r.Row.Expr(q.Where))
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
	r.list = append(r.list, r.Row.Expr(e)+" AS "+name)
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
	text, t := p.Row.Expr(k.Expr), k.Expr.Type()
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
		if m.Scaled != tree.Unscaled { // what it is multiplied by fits beside it, whatever was proven
			return r.Sum(r.clampTo(x, m.Arg.Type()), true)
		}
		return r.sum(x, m.Arg.Type().Lo, m.Arg.Type().Hi, false, false)
	}
	return "count(*)"
}

// scaling prints counts c0 of the rows of measures m0, and the measures: sums that are scaled to
// MaxRows where there are more rows, to the nearest integer, and others as they were added up.
func (r *rows) scaling(measures []int) (counts, scaled []string) {
	for _, m := range measures {
		of, name, n := r.q.Measures[m], fmt.Sprintf("m%d", m), fmt.Sprintf("c%d", m)
		switch of.Scaled {
		case tree.Unscaled:
			scaled = append(scaled, name)
			continue
		case tree.ByRows:
			counts = append(counts, "count(*) AS "+n)
		case tree.ByValues:
			counts = append(counts, "count("+r.argument(of.Arg)+") AS "+n)
		}
		twice := fmt.Sprintf("(%s * %d + CASE WHEN %[1]s < 0 THEN -%[3]s ELSE %[3]s END)", name, 2*r.q.MaxRows(), n)
		scaled = append(scaled, fmt.Sprintf("CASE WHEN %s > %d THEN %s ELSE %s END AS %s", n, r.q.MaxRows(),
			r.Quotient(twice, "(2 * "+n+")", true), name, name))
	}
	return counts, scaled
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

func Grouping(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return " GROUP BY " + strings.Join(keys, ", ")
}

// Where somebody may have several rows they are cut to what counts: at most MaxGroups groups, and
// in each of them a partial within its interval. Which groups are kept depends on the person and on
// the question, and on nobody else: those with the smallest salted hash. It is the same for all
// statements of a query.

func (r *rows) salt() string { return r.typedParameter(r.q.Hash(), r.Text) }

// person prints what a choice among the rows of a person u may know about who that is.
func (p *Printer) person() string {
	if p.ByRow {
		return p.RowHash
	}
	return "u"
}

// cuts reports whether somebody can be in more groups than count.
func cuts(q *tree.Query) bool { return len(q.PrivateKeys()) > 0 || q.MaxGroups() < int64(q.Groups()) }

// groups are the partials of which each person keeps some, with what else is kept of each.
func (r *rows) groups(rest []Kept) Groups {
	g := Groups{Rest: rest}
	var what []Ranked
	for i, name := range r.keys {
		g.Keys, what = append(g.Keys, Kept{Name: name, Type: r.keyType(i)}), append(what, Ranked{name, r.keyType(i)})
	}
	if r.placed {
		g.Keys[0] = r.Dialect.kept("g", new(big.Int), big.NewInt(int64(max(r.q.Groups(), 1)-1)))
	}
	if cuts(r.q) {
		g.Rank, g.Max = r.rank(what...), r.q.MaxGroups()
	}
	return g
}

// keyType is the type of a key as it is printed.
func (r *rows) keyType(i int) string {
	if r.placed && i == 0 {
		return PlaceType
	}
	return r.holder(r.q.Keys[len(r.q.Keys)-len(r.keys)+i].Expr.Type())
}

// partials prints one row for each person and group that counts, as b and what it needs before it,
// the condition on b that the group is kept, and the number of a person.
func (r *rows) partials(measures []int, rest []Kept, number bool) (with, keep, who string) {
	unit := slices.Concat([]string{"u"}, r.keys)
	totals := r.totals(measures)
	counts, scaled := r.scaling(measures)
	partials := "SELECT " + strings.Join(slices.Concat(unit, totals, counts), ", ") + " FROM " + r.text() + r.placedCondition() +
		Grouping(unit)
	if len(counts) > 0 {
		partials = "SELECT " + strings.Join(slices.Concat(unit, scaled), ", ") + " FROM (" + partials + ")"
	}
	g := r.groups(rest)
	g.From, g.Number = "p"+r.publicCondition(), number
	b, keep, who := r.Groups(g)
	return r.ByPerson + "WITH p AS (" + partials + "), b AS (" + b + ")", keep, who
}

// personStatement prints counts and sums where somebody may have several rows: first one partial
// per (person, group), then at most MaxGroups of them a person, then the sum of what
// each is clamped to.
func (s *Schema) personStatement(q *tree.Query, measures []int, persons bool) Statement {
	r := s.rows(q)
	r.unit()
	var rest []Kept
	for _, m := range measures {
		lo, hi := q.Interval(q.Measures[m])
		rest = append(rest, s.Dialect.kept(fmt.Sprintf("m%d", m), lo, hi))
	}
	with, keep, _ := r.partials(measures, rest, false)
	list, results := slices.Clone(r.keys), append(slices.Clone(r.keys), names(measures)...)
	for _, m := range measures {
		lo, hi := q.Interval(q.Measures[m])
		list = append(list, fmt.Sprintf("%s AS m%d", s.sum(s.clamp(fmt.Sprintf("coalesce(m%d, 0)", m), lo, hi), lo, hi, true, true), m))
	}
	if persons {
		list, results = append(list, "count(*) AS persons"), append(results, "persons")
	}
	text := with + ", s AS (SELECT " + strings.Join(list, ", ") + " FROM b" + keep + Grouping(r.keys) + ") SELECT " +
		strings.Join(results, ", ") + " FROM s"
	return Statement{Text: text, Args: r.Args, Summed: len(q.PrivateKeys()) == 0, Measures: measures, Persons: persons,
		Placed: r.placed, Values: -1}
}

// peopleStatement prints how many people are in each combination of private keys, where there are
// public keys too: somebody may be in several groups of one combination.
func (s *Schema) peopleStatement(q *tree.Query) Statement {
	r := s.rows(q)
	r.unit()
	with, keep, _ := r.partials(nil, nil, false)
	private := r.keys[len(r.keys)-len(q.PrivateKeys()):]
	text := with + " SELECT " + strings.Join(private, ", ") + ", count(DISTINCT u) AS persons FROM b" + keep + Grouping(private)
	return Statement{Text: text, Args: r.Args, Private: true, Persons: true, Values: -1}
}

// memberStatement prints which combinations of private keys each person is in. A person is a number
// here, by which the database itself has told them apart: who they are spelled as is nothing to
// compare outside of it.
func (s *Schema) memberStatement(q *tree.Query) Statement {
	r := s.rows(q)
	r.unit()
	with, keep, who := r.partials(nil, nil, true)
	private := strings.Join(r.keys[len(r.keys)-len(q.PrivateKeys()):], ", ")
	text := with + " SELECT DISTINCT " + who + " AS person, " + private + " FROM b" + keep
	return Statement{Text: text, Args: r.Args, Private: true, Members: true, Values: -1}
}

// values prints the rows of people in the groups that are kept, and of each of them MaxRows
// values of an argument in a group at most: those with the smallest rank.
func (r *rows) values(value, typ, distinct string) string {
	unit := slices.Concat([]string{"u"}, r.keys)
	all := "SELECT " + distinct + strings.Join(unit, ", ") + ", " + value + " AS v FROM " + r.text() + r.placedCondition()
	v := Values{Groups: r.groups(nil), Rows: r.q.MaxRows(), Of: r.rank(Ranked{"v", typ})}
	v.From = "p" + r.publicCondition()
	return r.ByPerson + "WITH p AS (" + all + "), " + r.Values(v)
}

// distinctStatement prints COUNT(DISTINCT ...) where somebody may have several rows.
func (s *Schema) distinctStatement(q *tree.Query, m int) Statement {
	r := s.rows(q)
	r.unit()
	arg := q.Measures[m].Arg
	with := r.values(r.argument(arg), r.holder(arg.Type()), "DISTINCT ")
	list := append(slices.Clone(r.keys), fmt.Sprintf("count(DISTINCT v) AS m%d", m))
	return Statement{Text: with + " SELECT " + strings.Join(list, ", ") + " FROM s" + Grouping(r.keys), Args: r.Args,
		Measures: []int{m}, Placed: r.placed, Values: -1}
}

// valueStatement prints the values that a quantile is of, and how often each is there.
func (s *Schema) valueStatement(q *tree.Query, m int) Statement {
	r := s.rows(q)
	// A value outside of what the mechanism looks among counts as the end that is nearest.
	arg := q.Measures[m].Arg
	value := r.clampTo(r.TryCast(r.argument(arg), r.Int64), arg.Type())
	keys := append(slices.Clone(r.keys), "v")
	end := " SELECT " + strings.Join(keys, ", ") + ", count(*) FROM s" + Grouping(keys)
	if !q.Bounded() {
		list := append(slices.Clone(r.keys), value+" AS v")
		text := "WITH s AS (SELECT * FROM (SELECT " + strings.Join(list, ", ") + " FROM " + r.text() + ") WHERE v IS NOT NULL)" + end
		return Statement{Text: text, Args: r.Args, Placed: r.placed, Values: m}
	}
	r.unit()
	with := r.values(value, r.Int64, "")
	return Statement{Text: with + end, Args: r.Args, Placed: r.placed, Values: m}
}

// Groups are partials, one for each person u and group, of which each person keeps at most Max:
// those that come first by their rank, and among equal ranks by their keys. A rank depends on the
// question and on the person's own group, so the same groups are kept wherever, whenever and how
// often it is computed.
type Groups struct {
	From   string // what follows FROM: the partials, and which of them are public
	Rank   string // a number of 64 bits
	Keys   []Kept // the group; no two partials of a person are equal in them
	Rest   []Kept // what else is kept of a partial
	Max    int64  // 0 where everything is kept
	Number bool   // whether a number for each person is needed
}

func (g Groups) order() string { return strings.Join(append([]string{g.Rank}, Names(g.Keys)...), ", ") }

// Kept is a column of a partial. Where Hi is not nil it is an integer that counts as the nearest
// from Lo to Hi, and as 0 where it is NULL, and Steps is how far that lies above Lo.
// Elsewhere Type is the type that it has in the database.
type Kept struct {
	Name   string
	Type   string
	Lo, Hi *big.Int
	Steps  string
}

func Names(columns ...[]Kept) []string {
	var out []string
	for _, list := range columns {
		for _, c := range list {
			out = append(out, c.Name)
		}
	}
	return out
}

// GroupsByWindow is [Dialect.Groups] of a database that numbers rows of a partition fast.
func GroupsByWindow(g Groups) (b, keep, number string) {
	b = "SELECT *"
	if g.Max > 0 {
		b += ", row_number() OVER (PARTITION BY u ORDER BY " + g.order() + ") AS n"
		keep = fmt.Sprintf(" WHERE n <= %d", g.Max)
	}
	return b + " FROM " + g.From, keep, "dense_rank() OVER (ORDER BY u)"
}

// Values are rows (u, keys, v), of which each person keeps groups as in [Groups], and in each of
// them at most Rows values v that are not NULL: those that come first by Rank, and then by v.
type Values struct {
	Groups
	Rows int64
	Of   string // the rank of a value
}

// ValuesByWindow is [Dialect.Values] of a database that numbers rows of a partition fast. A rank
// among a person's groups keeps the same ones as a number among partials does, because the order is
// the same and no two groups are equal in it.
func ValuesByWindow(v Values) string {
	unit, ranks, keep := append([]string{"u"}, Names(v.Keys)...), "", ""
	if v.Max > 0 {
		ranks = ", dense_rank() OVER (PARTITION BY u ORDER BY " + v.order() + ") AS n"
		keep = fmt.Sprintf(" AND n <= %d", v.Max)
	}
	ranks += fmt.Sprintf(", row_number() OVER (PARTITION BY %s ORDER BY v IS NULL, %s, v) AS i", strings.Join(unit, ", "), v.Of)
	return fmt.Sprintf("b AS (SELECT *%s FROM %s), s AS (SELECT * FROM b WHERE v IS NOT NULL AND i <= %d%s)", ranks, v.From, v.Rows, keep)
}

// kept is a column that is an integer between two ends.
func (d *Dialect) kept(name string, lo, hi *big.Int) Kept {
	return Kept{name, d.Int64, lo, hi, "(" + d.clamp("coalesce("+name+", 0)", lo, hi) + " - (" + d.Whole(lo) + "))"}
}

// Ranked is a value that a rank depends on, and the type that it has in the database.
type Ranked struct{ Text, Type string }

// PlaceType is the type of a group's place among those of the public keys.
const PlaceType = "place"

// rank prints the rank of something of a person u. The salt is the question's own hash: public, and
// another for every question.
func (r *rows) rank(what ...Ranked) string {
	who := ""
	if unit := r.q.From.Fields()[r.q.From.Unit()]; !r.ByRow {
		who = r.Kinds[unit.Identity]
	}
	return r.Rank(r.salt(), append([]Ranked{{r.person(), who}}, what...)...)
}
