package generate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/detrand"
)

// limited limits a question by one answer, and sometimes by two.
func (q *question) limited(from, where string, keys []string, stat string) (string, string) {
	limited, condition := q.series(from, where, keys, stat)
	if q.d.One(4) {
		if again, other := q.series(from, where, keys, "COUNT(*)"); again != from {
			limited += strings.TrimPrefix(again, from)
		} else if condition == where {
			condition = other
		}
	}
	return limited, condition
}

// series limits a question to the groups of another answer, as dashboards do that show the largest
// series: by a join with it, or by IN; boldly, by something that it is not grouped by.
func (q *question) series(from, where string, keys []string, stat string) (string, string) {
	by := keys[:1+q.d.Below(len(keys))]
	if q.d.One(3) {
		stat = "COUNT(*)"
	}
	rest := " FROM " + from
	if where != "" {
		rest += " WHERE " + where
	}
	rest += " GROUP BY " + strings.Join(by, ", ") + " ORDER BY "
	last := detrand.Pick(q.d, []string{" DESC", ""}) + fmt.Sprint(" LIMIT ", 1+q.d.Below(3))
	if q.d.One(3) {
		in := by
		if q.bold() {
			in = slices.Repeat([]string{stat}, len(by))
		}
		limit := "(" + strings.Join(by, ", ") + ") IN (SELECT " + strings.Join(in, ", ") + rest + stat + last + ")"
		if where == "" {
			return from, limit
		}
		return from, "(" + where + ") AND " + limit
	}
	var list, on []string
	top := q.name()
	for _, k := range by {
		name := q.name()
		list, on = append(list, k+" AS "+name), append(on, k+" = "+top+"."+name)
	}
	n := q.name()
	if q.bold() {
		on[0] = by[0] + " = " + top + "." + n
	}
	return from + " JOIN (SELECT " + strings.Join(list, ", ") + ", " + stat + " AS " + n + rest + n + last + ") AS " + top + " ON " +
		strings.Join(on, " AND "), where
}

// listing makes a question for keys and nothing else.
func (q *question) listing() string {
	s := q.from(1)
	var keys, where []string
	for range 1 + q.d.Below(2) {
		if key, condition, ok := q.key(s); ok {
			if keys = append(keys, key); condition != "" {
				where = append(where, condition)
			}
		}
	}
	if len(keys) == 0 {
		return q.body()
	}
	text := strings.Join(named(q, keys), ", ") + " FROM " + s.text
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	if q.d.One(2) {
		return "SELECT DISTINCT " + text + detrand.Pick(q.d, []string{"", " ORDER BY 1", " LIMIT 3"})
	}
	group, _ := q.sets(keys)
	return "SELECT " + text + group
}

// free makes a question about public tables alone.
func (q *question) free() string {
	s := q.table(detrand.Pick(q.d, q.public()))
	if q.d.One(3) {
		r := q.table(detrand.Pick(q.d, q.public()))
		s = s.and(r, s.text+detrand.Pick(q.d, []string{" JOIN ", " LEFT JOIN ", " FULL JOIN "})+r.text+" ON "+q.code(s)+" = "+q.code(r))
	}
	key := detrand.Pick(q.d, s.columns).ref
	switch q.d.Below(4) {
	case 0:
		return "SELECT " + strings.Join(named(q, []string{key, q.code(s)}), ", ") + " FROM " + s.text + " ORDER BY 1, 2 LIMIT 5"
	case 1:
		return "SELECT " + strings.Join(named(q, []string{"COUNT(*)", "MAX(" + key + ")"}), ", ") + " FROM " + s.text
	case 2: // boldly, beside somebody
		p := q.table(detrand.Pick(q.d, q.private()))
		return "SELECT COUNT(*) AS " + q.name() + " FROM " + s.text + " WHERE EXISTS (SELECT 1 FROM " + p.text + ")"
	}
	return "SELECT " + strings.Join(named(q, []string{key, "COUNT(*)", "SUM(" + q.code(s) + ")"}), ", ") + " FROM " + s.text +
		" GROUP BY " + key
}

// code is the column of a public table that others are joined by.
func (q *question) code(s source) string {
	i := slices.IndexFunc(s.columns, func(c column) bool { return strings.HasSuffix(strings.TrimSuffix(c.ref, `"`), "code") })
	return s.columns[i].ref
}

// around makes something over an answer, sometimes beside a public table.
func (q *question) around(text string) string {
	answer := q.name()
	if len(q.public()) == 0 || len(q.shown) == 0 || q.d.One(2) {
		return "SELECT * FROM (" + text + ") AS " + answer
	}
	shown, t := detrand.Pick(q.d, q.shown), q.table(detrand.Pick(q.d, q.public()))
	return "SELECT " + answer + "." + shown + ", " + q.code(t) + " FROM (" + text + ") AS " + answer +
		detrand.Pick(q.d, []string{" JOIN ", " LEFT JOIN "}) + t.text + " ON CAST(" + answer + "." + shown + " AS text) = CAST(" +
		q.code(t) + " AS text)"
}
