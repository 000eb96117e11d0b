package generate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/policy"
)

// Mark begins every name and every text that a question brings itself.
const Mark = "qz"

// Maker makes questions about a dataset.
type Maker struct {
	dataset   *policy.Dataset
	options   plan.Options
	functions []function
	filter    bool // whether aggregates can have FILTER
	sharp     bool // see Sharp
}

// NewMaker finds out which lines of the language the planner takes.
func NewMaker(ds *policy.Dataset, o plan.Options) *Maker {
	m := &Maker{dataset: ds, options: o}
	for _, f := range functions {
		if m.taken(f) {
			m.functions = append(m.functions, f)
		}
	}
	_, err := Prepare(ds, "SELECT COUNT(*) FILTER (WHERE true) FROM "+m.private()[0], o)
	m.filter = err == nil
	return m
}

// Now is when questions are asked.
var Now = time.Date(2022, 1, 10, 6, 30, 0, 1000, time.UTC)

// Prepare checks a question that is asked Now.
func Prepare(ds *policy.Dataset, text string, o plan.Options) (*plan.Statement, error) {
	return plan.PrepareText(ds, syntax.Open(text, nil).At(Now), o)
}

// Lines says how many lines of the language the planner takes, and of how many.
func (m *Maker) Lines() (taken, of int) { return len(m.functions), len(functions) }

// taken tries a function on some table that has its arguments.
func (m *Maker) taken(f function) bool {
	for i, name := range slices.Repeat(m.private(), m.tries()) {
		q := &question{Maker: m, d: NewDice(f.text, uint64(i))}
		s := q.table(name)
		args := make([]any, len(f.of))
		for i, k := range []byte(f.of) {
			c, ok := q.column(s, kind(k))
			if !ok && m.sharp {
				c, ok = column{ref: q.tip(s, kind(k))}, true
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

// several are the tables in which a person can have several rows.
func (m *Maker) several() []string {
	return slices.DeleteFunc(m.private(), func(n string) bool { return m.dataset.Tables[n].UnitKind != policy.Many })
}

// column is something that can be named.
type column struct {
	ref      string
	kind     kind // 0 for an identity that is not listed
	identity string
	source   *policy.Column
}

// source is an item of FROM.
type source struct {
	text    string
	private bool
	columns []column
}

func (s source) and(t source, text string) source {
	return source{text, s.private || t.private, slices.Concat(s.columns, t.columns)}
}

// question is a question in the making.
type question struct {
	*Maker
	d     Dice
	names int
	depth int // of subqueries in expressions, where it is sharp
	ctes  []cte
	bare  map[string]bool // the tables that have no other name
	shown []string        // the names of what was selected last
}

type cte struct {
	name, text string
	private    bool
	columns    []column
}

// name makes a new name.
func (q *question) name() string { q.names++; return fmt.Sprint(Mark, q.names) }

// Question makes a question.
func (m *Maker) Question(d Dice) string {
	q := &question{Maker: m, d: d}
	for range d.Below(3) {
		if d.One(3) && (!m.sharp || d.One(2)) {
			s := q.subquery(2)
			name := q.name()
			cols := slices.Clone(s.columns)
			q.ctes = append(q.ctes, cte{name, s.text, s.private, cols})
		}
	}
	body := q.body
	if m.sharp {
		body = q.edgeBody
	}
	switch d.Below(40) {
	case 0:
		body = q.listing
	case 1:
		if len(q.public()) > 0 {
			return q.free()
		}
	}
	text := q.with() + body()
	if d.One(15) {
		text = q.around(text)
	}
	return text
}

// with is the WITH of a question.
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

// table is a table under a new name.
func (q *question) table(name string) source {
	t := q.dataset.Tables[name]
	text, alias := q.called(name)
	s := source{text: text, private: !t.Public}
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

// column picks a column of a kind.
func (q *question) column(s source, k kind) (column, bool) {
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
func (q *question) expr(s source, k kind, depth int) string {
	if q.sharp {
		return q.edge(s, k, depth)
	}
	if depth > 0 && !q.d.One(3) {
		var fit []function
		for _, f := range q.functions {
			if f.makes.fits(k) {
				fit = append(fit, f)
			}
		}
		if k == truth && q.d.One(6) {
			if text, ok := q.exists(s); ok {
				// A value that is read after the condition, and widens the row that asks.
				if value, ok := q.scalar(s); ok && s.private && q.d.One(2) {
					text = "(" + text + " AND " + value + detrand.Pick(q.d, []string{" >= 0)", " IS NULL)", " > 1)"})
				}
				return text
			}
		}
		if (k == wide || k == number || k == whole1) && s.private && q.d.One(6) {
			if text, ok := q.scalar(s); ok {
				return text
			}
		}
		if len(fit) > 0 {
			f := detrand.Pick(q.d, fit)
			args := make([]any, len(f.of))
			for i, a := range []byte(f.of) {
				args[i] = q.expr(s, kind(a), depth-1)
			}
			return fmt.Sprintf(f.text, args...)
		}
	}
	if c, ok := q.column(s, k); ok && !q.d.One(6) {
		return c.ref
	}
	switch k {
	case words:
		return detrand.Pick(q.d, []string{"'F'", "'a'", "'" + Mark + "'", "''", "'p'"})
	case truth:
		return detrand.Pick(q.d, []string{"true", "false"})
	case date:
		return detrand.Pick(q.d, []string{"DATE '2022-01-08'", "DATE '1970-01-01'"})
	case moment:
		return detrand.Pick(q.d, []string{"TIMESTAMP '2022-01-08 10:00:00'", "TIMESTAMP '2022-01-09 23:59:59.999999'", "now()"})
	case float:
		return "0.5"
	}
	return detrand.Pick(q.d, []string{"0", "1", "2", "3", "7"})
}

// exists makes a condition with a subquery: about the same person, or about a public table.
func (q *question) exists(s source) (string, bool) {
	not := detrand.Pick(q.d, []string{"", "NOT "})
	if len(q.public()) > 0 && (!s.private || q.d.One(3)) {
		t := q.table(detrand.Pick(q.d, q.public()))
		x, ok1 := q.column(s, wide)
		y, ok2 := q.column(t, wide)
		if !ok1 || !ok2 {
			return "", false
		}
		if q.d.One(2) {
			return x.ref + " " + not + "IN (SELECT " + y.ref + " FROM " + t.text + ")", true
		}
		return not + "EXISTS (SELECT 1 FROM " + t.text + " WHERE " + x.ref + " = " + y.ref + ")", true
	}
	t := q.table(detrand.Pick(q.d, q.private()))
	if q.d.One(3) {
		t = q.from(1)
	}
	both := s.and(t, "")
	if q.d.One(4) { // boldly
		return not + "EXISTS (SELECT 1 FROM " + t.text + " WHERE " + q.expr(both, truth, 1) + ")", true
	}
	a, b, ok := q.linked(s, t)
	if !ok {
		return "", false
	}
	switch q.d.Below(5) {
	case 0, 1:
		return a + " " + not + "IN (SELECT " + b + " FROM " + t.text + " WHERE " + q.expr(both, truth, 1) + ")", true
	case 2: // of what each person has
		having, c := q.line(t, personal)
		if c.kind != truth {
			having = "count(*) > 1"
		}
		return a + " " + not + "IN (SELECT " + b + " FROM " + t.text + q.where(t) + " GROUP BY " + b + " HAVING " + having + ")", true
	}
	return not + "EXISTS (SELECT 1 FROM " + t.text + " WHERE " + a + " = " + b + " AND " + q.expr(both, truth, 1) + ")", true
}

// scalar makes a subquery that is one number about the person of the row.
func (q *question) scalar(s source) (string, bool) {
	t := q.table(detrand.Pick(q.d, q.private()))
	a, b, ok := q.linked(s, t)
	if !ok {
		return "", false
	}
	value := "COUNT(*)"
	if c, ok := q.column(t, number); ok && q.d.One(2) {
		value = strings.ReplaceAll(detrand.Pick(q.d, []string{"SUM(%)", "MAX(%)", "MIN(%)", "COUNT(%)", "MAX(%) - MIN(%)",
			"coalesce(SUM(%), -1)", "COUNT(DISTINCT %)"}), "%", c.ref)
	}
	return "(SELECT " + value + " FROM " + t.text + " WHERE " + a + " = " + b + " AND " + q.expr(t, truth, 1) + ")", true
}

// bold says that something is tried that should be refused: were it taken, it would be found out.
func (q *question) bold() bool { return q.d.One(10) }

// linked picks two columns that mean the same person or thing; or, boldly, that do not.
func (q *question) linked(s, t source) (a, b string, ok bool) {
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
