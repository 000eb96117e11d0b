package generate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/policy"
)

// Mark begins every name and every text that a question brings itself.
const Mark = "qz"

type Maker struct {
	dataset   *policy.Dataset
	options   planner.Options
	functions []function
	filter    bool // whether aggregates can have FILTER
	sharp     bool // see Sharp
}

// NewMaker finds out which lines of the language the planner takes.
func NewMaker(ds *policy.Dataset, o planner.Options) *Maker {
	m := &Maker{dataset: ds, options: o}
	for _, f := range functions {
		if m.knows(f) {
			m.functions = append(m.functions, f)
		}
	}
	_, err := Prepare(ds, "SELECT COUNT(*) FILTER (WHERE true) FROM "+m.private()[0], o)
	m.filter = err == nil
	return m
}

var Now = time.Date(2022, 1, 10, 6, 30, 0, 1000, time.UTC)

func Prepare(ds *policy.Dataset, text string, o planner.Options) (*planner.Statement, error) {
	return planner.PrepareText(ds, syntax.Open(text, nil).At(Now), o)
}

// Lines says how many lines of the language the planner takes, and of how many.
func (m *Maker) Lines() (taken, of int) { return len(m.functions), len(functions) }

// knows tries a function on some table that has its arguments.
func (m *Maker) knows(f function) bool {
	for i, name := range slices.Repeat(m.private(), m.tries()) {
		q := &question{Maker: m, d: NewDice(f.text, uint64(i))}
		s := q.table(name)
		args := make([]any, len(f.of))
		for i, k := range []byte(f.of) {
			c, ok := q.column(s, kind(k))
			if !ok && m.sharp {
				c, ok = column{ref: q.edges().tip(s, kind(k))}, true
			}
			if !ok {
				args = nil
				break
			}
			args[i] = c.ref
		}
		if args == nil {
			continue
		}
		if _, err := Prepare(m.dataset, "SELECT COUNT(*) FROM "+s.text+" WHERE ("+fmt.Sprintf(q.fill(f.text), args...)+") IS NULL",
			m.options); err == nil {
			return true
		}
	}
	return false
}

// tries is how often a line is tried on each table: one with constants may be refused for those
// alone.
func (m *Maker) tries() int {
	if m.sharp {
		return 20
	}
	return 1
}

func (m *Maker) private() []string {
	return slices.DeleteFunc(m.dataset.TableNames(), func(n string) bool { return m.dataset.Tables[n].Public })
}

func (m *Maker) public() []string {
	return slices.DeleteFunc(m.dataset.TableNames(), func(n string) bool { return !m.dataset.Tables[n].Public })
}

// manyRowTables are the tables in which a person can have several rows.
func (m *Maker) manyRowTables() []string {
	return slices.DeleteFunc(m.private(), func(n string) bool { return m.dataset.Tables[n].UnitKind != policy.Many })
}

type column struct {
	ref      string
	kind     kind // 0 for an identity that is not listed
	identity string
	source   *policy.Column
}

type fromItem struct {
	text    string
	private bool
	columns []column
}

func (s fromItem) and(t fromItem, text string) fromItem {
	return fromItem{text, s.private || t.private, slices.Concat(s.columns, t.columns)}
}

type question struct {
	*Maker
	d     Dice
	names int
	depth int // of subqueries in expressions, where it is sharp
	ctes  []cte
	bare  map[string]bool // the tables that have no other name
	shown []string        // the names of what was selected last
}

// What makes the parts of a question: expressions, expressions at the edges of what is accepted,
// items of FROM, and SELECTs. They call each other, as the grammar does.
type (
	exprMaker struct{ q *question }
	edgeMaker struct{ q *question }
	fromMaker struct{ q *question }
	bodyMaker struct{ q *question }
)

func (q *question) exprs() exprMaker   { return exprMaker{q} }
func (q *question) edges() edgeMaker   { return edgeMaker{q} }
func (q *question) sources() fromMaker { return fromMaker{q} }
func (q *question) bodies() bodyMaker  { return bodyMaker{q} }

type cte struct {
	name, text string
	private    bool
	columns    []column
}

func (q *question) name() string { q.names++; return fmt.Sprint(Mark, q.names) }

func (m *Maker) Question(d Dice) string {
	q := &question{Maker: m, d: d}
	for range d.Below(3) {
		if d.One(3) && (!m.sharp || d.One(2)) {
			s := q.sources().subquery(2)
			name := q.name()
			cols := slices.Clone(s.columns)
			q.ctes = append(q.ctes, cte{name, s.text, s.private, cols})
		}
	}
	body := q.bodies().body
	if m.sharp {
		body = q.bodies().edgeBody
	}
	switch d.Below(40) {
	case 0:
		body = q.bodies().listing
	case 1:
		if len(q.public()) > 0 {
			return q.bodies().free()
		}
	case 2:
		body = q.bodies().existence
	}
	text := q.with() + body()
	if d.One(15) {
		text = q.bodies().around(text)
	}
	return text
}

func (q *question) with() string {
	if len(q.ctes) == 0 {
		return ""
	}
	var list []string
	for _, c := range q.ctes {
		list = append(list, c.name+" AS "+c.text)
	}
	return "WITH " + strings.Join(list, ", ") + " "
}

func (q *question) table(name string) fromItem {
	t := q.dataset.Tables[name]
	text, alias := q.spellTable(name)
	s := fromItem{text: text, private: !t.Public}
	ids := identities(q.dataset, t)
	for _, c := range t.ColumnNames() {
		col := t.Columns[c]
		s.columns = append(s.columns, column{alias + "." + c, kindOf(col), ids[c], col})
		delete(ids, c)
	}
	for _, c := range header(q.dataset, t) {
		if ids[c] != "" {
			s.columns = append(s.columns, column{ref: alias + "." + c, identity: ids[c]})
		}
	}
	return s
}

func kindOf(c *policy.Column) kind {
	switch {
	case c.Type == policy.Text:
		return words
	case c.Type == policy.Boolean:
		return truth
	case c.Type == policy.Date:
		return date
	case c.Type == policy.Timestamp:
		return moment
	case c.Granularity == nil:
		return float
	case c.Bounds == nil:
		return wide
	case c.Granularity.IsInt() && c.Granularity.Num().Int64() == 1:
		return whole1
	}
	return number
}

func (q *question) column(s fromItem, k kind) (column, bool) {
	var fit []column
	for _, c := range s.columns {
		if c.kind.fits(k) && c.kind != 0 || k == 'i' && q.isUnit(c) {
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		return column{}, false
	}
	return detrand.Pick(q.d, fit), true
}

func (q *question) isUnit(c column) bool {
	return c.identity != "" && c.identity == q.dataset.Unit.String()
}

// expr makes an expression of a kind over some columns.
func (e exprMaker) expr(s fromItem, k kind, depth int) string {
	if e.q.sharp {
		return e.q.edges().edge(s, k, depth)
	}
	if depth > 0 && !e.q.d.One(3) {
		var fit []function
		for _, f := range e.q.functions {
			if f.makes.fits(k) {
				fit = append(fit, f)
			}
		}
		if k == truth && e.q.d.One(6) {
			if text, ok := e.exists(s); ok {
				// A value that is read after the condition, and widens the row that asks.
				if value, ok := e.scalar(s); ok && s.private && e.q.d.One(2) {
					text = "(" + text + " AND " + value + detrand.Pick(e.q.d, []string{" >= 0)", " IS NULL)", " > 1)"})
				}
				return text
			}
		}
		if (k == wide || k == number || k == whole1) && s.private && e.q.d.One(6) {
			if text, ok := e.scalar(s); ok {
				return text
			}
		}
		if len(fit) > 0 {
			f := detrand.Pick(e.q.d, fit)
			args := make([]any, len(f.of))
			for i, a := range []byte(f.of) {
				args[i] = e.expr(s, kind(a), depth-1)
			}
			return fmt.Sprintf(f.text, args...)
		}
	}
	if c, ok := e.q.column(s, k); ok && !e.q.d.One(6) {
		return c.ref
	}
	switch k {
	case words:
		return detrand.Pick(e.q.d, []string{"'F'", "'a'", "'" + Mark + "'", "''", "'p'"})
	case truth:
		return detrand.Pick(e.q.d, []string{"true", "false"})
	case date:
		return detrand.Pick(e.q.d, []string{"DATE '2022-01-08'", "DATE '1970-01-01'"})
	case moment:
		return detrand.Pick(e.q.d, []string{"TIMESTAMP '2022-01-08 10:00:00'", "TIMESTAMP '2022-01-09 23:59:59.999999'", "now()"})
	case float:
		return "0.5"
	}
	return detrand.Pick(e.q.d, []string{"0", "1", "2", "3", "7"})
}

// exists makes a condition with a subquery: about the same person, or about a public table.
func (e exprMaker) exists(s fromItem) (string, bool) {
	not := detrand.Pick(e.q.d, []string{"", "NOT "})
	if len(e.q.public()) > 0 && (!s.private || e.q.d.One(3)) {
		t := e.q.table(detrand.Pick(e.q.d, e.q.public()))
		x, ok1 := e.q.column(s, wide)
		y, ok2 := e.q.column(t, wide)
		if !ok1 || !ok2 {
			return "", false
		}
		if e.q.d.One(2) {
			return x.ref + " " + e.member(not) + " (SELECT " + y.ref + " FROM " + t.text + ")", true
		}
		return not + "EXISTS (SELECT 1 FROM " + t.text + " WHERE " + x.ref + " = " + y.ref + e.limit() + ")", true
	}
	t := e.q.table(detrand.Pick(e.q.d, e.q.private()))
	if e.q.d.One(3) {
		t = e.q.sources().from(1)
	}
	both := s.and(t, "")
	if e.q.d.One(4) { // boldly
		return not + "EXISTS (SELECT 1 FROM " + t.text + " WHERE " + e.expr(both, truth, 1) + ")", true
	}
	a, b, ok := e.q.linked(s, t)
	if !ok {
		return "", false
	}
	switch e.q.d.Below(5) {
	case 0, 1:
		return a + " " + e.member(not) + " (SELECT " + b + " FROM " + t.text + " WHERE " + e.expr(both, truth, 1) + ")", true
	case 2: // of what each person has
		having, c := e.q.sources().line(t, personal)
		if c.kind != truth {
			having = "count(*) > 1"
		}
		return a + " " + e.member(not) + " (SELECT " + b + " FROM " + t.text + e.q.sources().where(t) +
			" GROUP BY " + b + " HAVING " + having + ")", true
	}
	return not + "EXISTS (SELECT 1 FROM " + t.text + " WHERE " + a + " = " + b + " AND " + e.expr(both, truth, 1) +
		e.limit() + ")", true
}

// member spells IN, or NOT IN.
func (e exprMaker) member(not string) string {
	if not != "" {
		return detrand.Pick(e.q.d, []string{"NOT IN", "<> ALL"})
	}
	return detrand.Pick(e.q.d, []string{"IN", "IN", "= ANY", "= SOME"})
}

// limit is what means nothing in EXISTS.
func (e exprMaker) limit() string {
	return detrand.Pick(e.q.d, []string{"", "", "", " LIMIT 1", " FETCH FIRST ROW ONLY", " OFFSET 0"})
}

// scalar makes a subquery that is one number about the person of the row.
func (e exprMaker) scalar(s fromItem) (string, bool) {
	t := e.q.table(detrand.Pick(e.q.d, e.q.private()))
	a, b, ok := e.q.linked(s, t)
	if !ok {
		return "", false
	}
	value := "COUNT(*)"
	if c, ok := e.q.column(t, number); ok && e.q.d.One(2) {
		value = strings.ReplaceAll(detrand.Pick(e.q.d, []string{"SUM(%)", "MAX(%)", "MIN(%)", "COUNT(%)", "MAX(%) - MIN(%)",
			"coalesce(SUM(%), -1)", "COUNT(DISTINCT %)"}), "%", c.ref)
	}
	return "(SELECT " + value + " FROM " + t.text + " WHERE " + a + " = " + b + " AND " + e.expr(t, truth, 1) +
		detrand.Pick(e.q.d, []string{"", "", "", " GROUP BY " + b, " GROUP BY " + a, " LIMIT 1"}) + ")", true
}

// bold says that something is tried that should be refused: were it taken, it would be found out.
func (q *question) bold() bool { return q.d.One(10) }

// linked picks two columns that mean the same person or thing; or, boldly, that do not.
func (q *question) linked(s, t fromItem) (a, b string, ok bool) {
	var pairs [][2]string
	bold := q.bold()
	for _, x := range s.columns {
		for _, y := range t.columns {
			if x.identity != "" && x.identity == y.identity || bold && x.kind != 0 && x.kind == y.kind {
				pairs = append(pairs, [2]string{x.ref, y.ref})
			}
		}
	}
	if len(pairs) == 0 {
		return "", "", false
	}
	p := detrand.Pick(q.d, pairs)
	return p[0], p[1], true
}

// spellTable makes a table in FROM, and what stands before its columns: mostly another name, and
// sometimes its own with the schema, in quotes and with the dataset, as tools write it.
func (q *question) spellTable(table string) (text, before string) {
	if q.d.One(12) && !q.bare[table] {
		if q.bare == nil {
			q.bare = map[string]bool{}
		}
		q.bare[table] = true
		return detrand.Pick(q.d, []string{`"public"."` + table + `"`, "public." + table, table}), detrand.Pick(q.d, []string{
			`"public"."` + table + `"`, "public." + table, table})
	}
	alias := q.name()
	name := table
	if q.d.One(6) {
		name = detrand.Pick(q.d, []string{"public." + table, `"public"."` + table + `"`, "ONLY " + table, "ONLY public." + table,
			`"` + q.dataset.Name + `".public.` + table})
	}
	return name + " AS " + alias, alias
}

// Dice makes choices, the same for the same name and seed.
type Dice = detrand.Choices

// NewDice returns the dice of a name and a seed.
func NewDice(name string, seed uint64) Dice { return detrand.New(name, seed) }

// grains are parts of time to group by, as charts and dashboards write them; of a day or a moment.
var grains = []string{
	"date_trunc('day', %s)", "date_trunc('week', %s)", "date_trunc('month', %s)", "date_trunc('quarter', %s)", "date_trunc('year', %s)",
	"date_trunc('decade', %s)", "date_trunc('century', %s)", "date_trunc('millennium', %s)", "CAST(%s AS date)", "%s",
	"extract(year FROM %s)", "extract(isoyear FROM %s)", "extract(quarter FROM %s)", "extract(month FROM %s)", "extract(week FROM %s)",
	"extract(day FROM %s)", "extract(dow FROM %s)", "extract(isodow FROM %s)", "extract(doy FROM %s)", "extract(decade FROM %s)",
	"extract(century FROM %s)", "extract(millennium FROM %s)", "extract(year FROM age(DATE '2022-01-10', %s))",
	"to_char(%s, 'YYYY-MM')", "to_char(%s, 'IYYY-IW')", "to_char(%s, 'FMMonth')", "to_char(%s, 'Dy DDD')",
	"date_bin('3 days', %s, '2022-01-07 06:00:00')", "to_timestamp(floor(extract(epoch FROM %s) / 86400) * 86400)",
	"floor(extract(epoch FROM %s) / 604800) * 604800", "CASE WHEN %s < '2022-01-09' THEN 'before' ELSE 'after' END",
}

// hours are parts of time that a moment has, and a day has not.
var hours = []string{
	"date_trunc('hour', %s)", "date_trunc('minute', %s)", "date_trunc('milliseconds', %s)", "extract(hour FROM %s)",
	"extract(minute FROM %s)", "floor(extract(second FROM %s) / 5)", "to_char(%s, 'HH24:MI')",
	"date_trunc('hour', %[1]s) + INTERVAL '15 minutes' * floor(extract(minute FROM %[1]s) / 15)",
	"date_bin(INTERVAL '90 minutes', %s, '1970-01-01 00:00:01')", "floor(extract(epoch FROM %s) / 300) * 300",
}

// spans are two days: at the ends of the calendar, around 1970, and where the people are.
var spans = [][2]string{
	{"2022-01-08", "2022-01-11"}, {"2022-01-08", "2022-01-11"}, {"2021-12-25", "2022-02-03"}, {"2022-01-09", "2022-01-10"},
	{"0001-01-01", "0001-01-09"}, {"9999-12-20", "9999-12-31"}, {"1969-12-28", "1970-01-03"}, {"1999-12-30", "2001-01-02"},
}

// timeKey makes a part of time to group by, and the range that WHERE must say for it: whoever has
// days in it, all of it is shown.
func (e exprMaker) timeKey(s fromItem) (key, condition string, ok bool) {
	if c, ok := e.q.column(s, moment); ok && e.q.d.One(2) {
		return e.momentKey(c.ref)
	}
	c, ok := e.q.column(s, date)
	if !ok {
		return "", "", false
	}
	span := detrand.Pick(e.q.d, spans)
	condition = fmt.Sprintf(detrand.Pick(e.q.d, []string{
		"%[1]s >= '%[2]s' AND %[1]s < '%[3]s'", "%[1]s BETWEEN '%[2]s' AND '%[3]s'", "(%[1]s > '%[2]s' AND %[1]s <= '%[3]s')",
		"NOT (%[1]s < '%[2]s' OR %[1]s >= '%[3]s')", "(%[1]s >= '%[2]s' AND %[1]s < '%[3]s' OR %[1]s = '%[3]s')",
		"%[1]s IN ('%[2]s', '%[3]s')", "CAST(%[1]s AS timestamp) >= '%[2]sT00:00:00Z' AND %[1]s <= DATE '%[3]s'",
		"%[1]s - DATE '%[2]s' BETWEEN 0 AND 3", "date_trunc('day', %[1]s) >= '%[2]s' AND %[1]s + 1 <= '%[3]s'",
	}), c.ref, span[0], span[1])
	if !e.q.d.One(3) {
		return fmt.Sprintf(detrand.Pick(e.q.d, grains), c.ref), condition, true
	}
	by := detrand.Pick(e.q.d, []string{"90 minutes 0.000001 seconds", "-1 second", "23 hours", "1 month"})
	at := "(" + c.ref + " + INTERVAL '" + by + "')"
	return fmt.Sprintf(detrand.Pick(e.q.d, slices.Concat(grains, hours)), at), condition, true
}

// times are two moments, some of them on the hour, some beside it, and some in another zone.
var times = [][2]string{
	{"2022-01-08", "2022-01-11"}, {"2022-01-08 10:00:00", "2022-01-08 12:30:00"},
	{"2022-01-08 10:59:59.999999", "2022-01-08 11:00:00.000001"},
	{"2022-01-08T00:00:00Z", "2022-01-10T01:00:00+02:00"}, {"1969-12-31 23:59:00", "1970-01-01 00:01:00"},
	{"0001-01-01", "0001-01-02 03:00:00"}, {"9999-12-31 20:00:00", "9999-12-31 23:59:59.999999"},
}

// momentKey makes a part of the time of a moment to group by, and a range of it.
func (e exprMaker) momentKey(ref string) (key, condition string, ok bool) {
	span := detrand.Pick(e.q.d, times)
	condition = fmt.Sprintf(detrand.Pick(e.q.d, []string{
		"%[1]s >= '%[2]s' AND %[1]s < '%[3]s'", "%[1]s BETWEEN '%[2]s' AND '%[3]s'", "(%[1]s > '%[2]s' AND %[1]s <= '%[3]s')",
		"%[1]s >= TIMESTAMP '%[2]s' AND %[1]s + INTERVAL '1 hour' < '%[3]s'", "NOT (%[1]s < '%[2]s' OR %[1]s > '%[3]s')",
		"date_trunc('hour', %[1]s) BETWEEN '%[2]s' AND '%[3]s'", "%[1]s > now() - INTERVAL '2 days' AND %[1]s <= CURRENT_TIMESTAMP",
		"CAST(%[1]s AS date) IN (CURRENT_DATE, '2022-01-08')",
	}), ref, span[0], span[1])
	return fmt.Sprintf(detrand.Pick(e.q.d, slices.Concat(grains, hours, hours)), ref), condition, true
}
