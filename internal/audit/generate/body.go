package generate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/policy"
)

// body makes a SELECT with aggregates.
func (q *question) body() string {
	s := q.from(2)
	where := ""
	if q.d.One(3) {
		where = q.expr(s, truth, 1+q.d.Below(2))
	}
	var keys []string
	for range q.d.Below(3) {
		k, condition, ok := q.key(s)
		if !ok {
			continue
		}
		keys = append(keys, k)
		if condition != "" && where != "" {
			where = "(" + where + ") AND "
		}
		where += condition
	}
	if len(keys) > 0 && q.d.One(10) {
		where = q.among(keys, s.text, where)
	}
	choice := len(keys) > 0 && q.d.One(6)
	list := append([]string{}, keys...)
	group, several := q.sets(keys)
	if several && q.d.One(2) {
		list = append(list, "GROUPING("+strings.Join(keys, ", ")+")")
	}
	var stats []string
	for range 1 + q.d.Below(3) {
		stats = append(stats, q.aggregate(s))
	}
	if !choice {
		list = append(list, stats...)
	}
	from := s.text
	if len(keys) > 0 && q.d.One(10) {
		from, where = q.limited(from, where, keys, stats[0])
	}
	text := "SELECT " + strings.Join(named(q, list), ", ") + " FROM " + from
	if where != "" {
		text += " WHERE " + where
	}
	text += group
	switch {
	case choice:
		weight := detrand.Pick(q.d, []string{"", "", " * 2", " * -3"})
		text += " ORDER BY " + stats[0] + weight + detrand.Pick(q.d, []string{" DESC", "", " DESC"}) + fmt.Sprint(" LIMIT ", 1+q.d.Below(3))
	case q.d.One(4):
		text += " HAVING " + detrand.Pick(q.d, stats) + " > 2"
	case q.d.One(4):
		text += " ORDER BY 1 DESC LIMIT 5"
	}
	return text
}

// among lets answers of other questions choose among the groups, of one key or of each.
func (q *question) among(keys []string, from, where string) string {
	among := ""
	if where != "" {
		among = " WHERE " + where
		where = "(" + where + ") AND "
	}
	var all []string
	for _, k := range keys[:1+q.d.Below(len(keys))] {
		all = append(all, k+" IN (SELECT "+k+" FROM "+from+among+" GROUP BY "+k+
			detrand.Pick(q.d, []string{" HAVING COUNT(*) > 1", " ORDER BY COUNT(*) DESC LIMIT 1"})+")")
	}
	return where + strings.Join(all, " AND ")
}

// sets groups by keys: by all of them, mostly, or by several sets of them.
func (q *question) sets(keys []string) (group string, several bool) {
	all := strings.Join(keys, ", ")
	switch {
	case len(keys) == 0:
		return "", false
	case !q.d.One(5):
		return " GROUP BY " + all, false
	}
	return " GROUP BY " + detrand.Pick(q.d, []string{"ROLLUP (" + all + ")", "CUBE (" + all + ")",
		"GROUPING SETS ((" + all + "), (" + keys[0] + "), ())",
		keys[0] + ", ROLLUP (" + all + ")", "DISTINCT ROLLUP (" + all + "), CUBE (" + keys[0] + ")", "GROUPING SETS ((), ())",
		"GROUPING SETS (ROLLUP (" + all + "), (" + keys[len(keys)-1] + "))"}), true
}

func named(q *question, list []string) []string {
	out := make([]string, len(list))
	q.shown = nil
	for i, x := range list {
		q.shown = append(q.shown, q.name())
		out[i] = x + " AS " + q.shown[i]
	}
	return out
}

// aggregate makes a statistic.
func (q *question) aggregate(s source) string {
	a := detrand.Pick(q.d, aggregates)
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
		if c, ok := q.column(s, a.of); ok {
			text = fmt.Sprintf(text, c.ref)
			if a.of != date && q.d.One(2) {
				text = fmt.Sprintf(a.text, q.expr(s, a.of, 1))
			}
		} else {
			text = "COUNT(*)"
		}
	}
	if q.filter && q.d.One(5) {
		text += " FILTER (WHERE " + q.expr(s, truth, 1) + ")"
	}
	return text
}

// key makes something to group by, and what WHERE must say for it.
func (q *question) key(s source) (key, condition string, ok bool) {
	switch q.d.Below(7) {
	case 0:
		return q.expr(s, truth, 1), "", true
	case 6:
		if key, condition, ok := q.timeKey(s); ok {
			return key, condition, true
		}
	case 1:
		if c, ok := q.column(s, words); ok {
			return c.ref, c.ref + " IN ('a', 'b', 'F', '" + Mark + "')", true
		}
	case 2:
		if c, ok := q.column(s, whole1); ok && c.identity == "" {
			return c.ref + " % 2", "", true
		}
	case 3:
		if c, ok := q.column(s, wide); ok && c.identity == "" {
			return c.ref, c.ref + " IN (0, 1, 2)", true
		}
	case 4: // what a public table lists, or what has to be equal to that
		if all := q.besidePublic(s); len(all) > 0 {
			return detrand.Pick(q.d, all).ref, "", true
		}
	}
	for range 8 {
		c := detrand.Pick(q.d, s.columns)
		if c.identity == "" && (c.kind == truth || c.kind == whole1 && c.source == nil ||
			c.source != nil && (c.source.Keys != policy.NoKeys || len(c.source.PublicValues()) > 0)) {
			return c.ref, "", true
		}
	}
	return "", "", false
}

// besidePublic are the columns of public tables, and those of the same names beside them, on which
// joins are.
func (q *question) besidePublic(s source) (out []column) {
	names := map[string]bool{}
	for _, table := range q.public() {
		for _, c := range q.dataset.Tables[table].Columns {
			if slices.ContainsFunc(s.columns, func(have column) bool { return have.source == c }) {
				names[c.Name] = true
			}
		}
	}
	for _, c := range s.columns {
		if c.source != nil && c.identity == "" && names[c.source.Name] {
			out = append(out, c)
		}
	}
	return out
}
