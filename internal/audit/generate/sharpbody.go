package generate

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/detrand"
)

// edgeBody makes a SELECT with aggregates, as body does, part by part: each is one that the planner
// takes by itself.
func (q *question) edgeBody() string {
	s := q.accepted()
	counted := func(x string) string { return "SELECT COUNT(*) FROM " + s.text + " WHERE " + x }
	where := ""
	switch q.d.Below(5) { // not always: what no row passes is not computed
	case 0:
		where = q.single(s)
	case 1, 2:
		where = q.tried(3, func(depth int) string { return q.edge(s, truth, depth) }, counted)
	}
	key, condition, ok := "", "", false
	if q.d.One(4) {
		if key, condition, ok = q.edgeKey(s); ok && condition != "" {
			if where != "" {
				where = "(" + where + ") AND "
			}
			where += condition
		}
	}
	after := ""
	if where != "" {
		after = " WHERE " + where
	}
	var stats []string
	for range 1 + q.d.Below(5)/4 {
		stats = append(stats, q.tried(3, func(depth int) string { return q.edgeAggregate(s, depth) }, func(x string) string {
			return "SELECT " + x + " FROM " + s.text + after
		}))
	}
	list := stats
	group := ""
	if key != "" {
		several := false
		group, several = q.sets([]string{key})
		if q.d.One(6) {
			return "SELECT " + key + " AS " + q.name() + " FROM " + s.text + after + group + " ORDER BY " + stats[0] +
				detrand.Pick(q.d, []string{" DESC", "", " * -3 DESC"}) + fmt.Sprint(" LIMIT ", 1+q.d.Below(3))
		}
		if list = append([]string{key}, stats...); several {
			list = append(list, "GROUPING("+key+")")
		}
	}
	from := s.text
	if key != "" && q.d.One(4) {
		if from, where = q.limited(from, where, []string{key}, stats[0]); where != "" {
			after = " WHERE " + where
		}
	}
	text := "SELECT " + strings.Join(named(q, list), ", ") + " FROM " + from + after + group
	if q.d.One(8) {
		text += " HAVING " + stats[0] + " > " + constant(q.d)
	}
	return text
}

// accepted makes something to ask about.
func (q *question) accepted() source {
	if q.d.One(3) { // what each person has, which is as cheap as a table
		made := func() (source, bool) { return q.own(0) }
		if q.d.One(2) {
			made = q.ranked
		}
		if s, ok := made(); ok {
			alias := q.name()
			s = source{s.text + " AS " + alias, s.private, renamed(s.columns, alias)}
			if q.accepts("SELECT COUNT(*) FROM " + s.text) {
				return s
			}
		}
	}
	for range 3 {
		// Mostly tables: what is asked of them is what is hard, and every join takes an engine's
		// time.
		if s := q.from(detrand.Pick(q.d, []int{0, 0, 0, 0, 1, 1, 2})); s.private && q.accepts("SELECT COUNT(*) FROM "+s.text) {
			return s
		}
	}
	return q.base()
}

// edgeAggregate makes a statistic of an expression.
func (q *question) edgeAggregate(s source, depth int) string {
	if depth == 0 {
		return "COUNT(*)"
	}
	a := detrand.Pick(q.d, aggregates)
	if q.d.One(2) {
		a.of, a.text = number, "SUM(%s)"
	}
	text := a.text
	switch a.of {
	case nothing:
	case 'i':
		c, ok := q.column(s, 'i')
		if !ok {
			return "COUNT(*)"
		}
		text = fmt.Sprintf(text, c.ref)
	default:
		text = fmt.Sprintf(text, q.edge(s, a.of, depth))
	}
	if q.filter && (a.of == nothing || q.d.One(5)) {
		text += " FILTER (WHERE " + q.edge(s, truth, depth) + ")"
	}
	return text
}

// edgeKey makes something to group by, and what WHERE must say for it.
func (q *question) edgeKey(s source) (key, condition string, ok bool) {
	if q.d.One(3) {
		if key, condition, ok = q.timeKey(s); ok && q.accepts("SELECT COUNT(*) FROM "+s.text+" WHERE "+condition+" GROUP BY "+key) {
			return key, condition, true
		}
	}
	if q.d.One(3) { // what the policy lists
		return q.key(s)
	}
	k := detrand.Pick(q.d, []kind{truth, truth, words, whole1})
	list := map[kind]string{words: " IN ('', '" + Target + "', '0', '9')", whole1: " IN (0, 1, 9, 39)"}[k]
	key = q.tried(2, func(depth int) string {
		if depth == 0 {
			return ""
		}
		return q.edge(s, k, depth)
	}, func(x string) string {
		if list != "" {
			return "SELECT COUNT(*) FROM " + s.text + " WHERE (" + x + ")" + list + " GROUP BY " + x
		}
		return "SELECT COUNT(*) FROM " + s.text + " GROUP BY " + x
	})
	if key == "" {
		return q.key(s)
	}
	if list != "" {
		condition = "(" + key + ")" + list
	}
	return key, condition, true
}
