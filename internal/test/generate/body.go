package generate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/policy"
)

func (b bodyMaker) body() string {
	s := b.q.sources().from(2)
	if b.q.d.One(12) {
		if all, ok := b.q.sources().kept(); ok {
			s = all
		}
	}
	where := ""
	if b.q.d.One(3) {
		where = b.q.exprs().expr(s, truth, 1+b.q.d.Below(2))
	}
	var keys []string
	for range b.q.d.Below(3) {
		k, condition, ok := b.q.exprs().key(s)
		if !ok {
			continue
		}
		keys = append(keys, k)
		if condition != "" && where != "" {
			where = "(" + where + ") AND "
		}
		where += condition
	}
	if len(keys) > 0 && b.q.d.One(10) {
		where = b.among(keys, s.text, where)
	}
	choice := len(keys) > 0 && b.q.d.One(6)
	list := append([]string{}, keys...)
	group, several := b.sets(keys)
	if several && b.q.d.One(2) {
		list = append(list, "GROUPING("+strings.Join(keys, ", ")+")")
	}
	var stats []string
	for range 1 + b.q.d.Below(3) {
		stats = append(stats, b.aggregate(s))
	}
	if !choice {
		list = append(list, stats...)
	}
	from := s.text
	if len(keys) > 0 && b.q.d.One(10) {
		from, where = b.limited(from, where, keys, stats[0])
	}
	text := "SELECT " + strings.Join(named(b.q, list), ", ") + " FROM " + from
	if where != "" {
		text += " WHERE " + where
	}
	text += group
	switch {
	case choice:
		weight := detrand.Pick(b.q.d, []string{"", "", " * 2", " * -3"})
		text += " ORDER BY " + stats[0] + weight + detrand.Pick(b.q.d, []string{" DESC", "", " DESC"}) +
			fmt.Sprint(" LIMIT ", 1+b.q.d.Below(3))
	case b.q.d.One(4):
		text += " HAVING " + detrand.Pick(b.q.d, stats) + " > 2"
	case b.q.d.One(4):
		text += " ORDER BY 1 DESC" + detrand.Pick(b.q.d, []string{" LIMIT 5", " FETCH FIRST 2 ROWS WITH TIES", " LIMIT (SELECT 4)"})
	}
	return text
}

// existence asks whether there are rows.
func (b bodyMaker) existence() string {
	s := b.q.sources().from(2)
	rows := " FROM " + s.text
	if b.q.d.One(2) {
		rows += " WHERE " + b.q.exprs().expr(s, truth, 1+b.q.d.Below(2))
	}
	return fmt.Sprintf(detrand.Pick(b.q.d, []string{"SELECT 1 AS one%s LIMIT 1", "SELECT EXISTS (SELECT *%s) AS found",
		"SELECT 1 AS one WHERE NOT EXISTS (SELECT 1%s LIMIT 1)"}), rows)
}

// among lets answers of other questions choose among the groups, of one key or of each.
func (b bodyMaker) among(keys []string, from, where string) string {
	among := ""
	if where != "" {
		among = " WHERE " + where
		where = "(" + where + ") AND "
	}
	var all []string
	for _, k := range keys[:1+b.q.d.Below(len(keys))] {
		all = append(all, k+" IN (SELECT "+k+" FROM "+from+among+" GROUP BY "+k+
			detrand.Pick(b.q.d, []string{" HAVING COUNT(*) > 1", " ORDER BY COUNT(*) DESC LIMIT 1"})+")")
	}
	return where + strings.Join(all, " AND ")
}

// sets groups by keys: by all of them, mostly, or by several sets of them.
func (b bodyMaker) sets(keys []string) (group string, several bool) {
	all := strings.Join(keys, ", ")
	switch {
	case len(keys) == 0:
		return "", false
	case !b.q.d.One(5):
		return " GROUP BY " + all, false
	}
	return " GROUP BY " + detrand.Pick(b.q.d, []string{"ROLLUP (" + all + ")", "CUBE (" + all + ")",
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

func (b bodyMaker) aggregate(s fromItem) string {
	a := detrand.Pick(b.q.d, aggregates)
	text := a.text
	switch a.of {
	case nothing:
	case 'i':
		c, ok := b.q.column(s, 'i')
		if !ok {
			return "COUNT(*)"
		}
		text = fmt.Sprintf(text, b.conditional(s, c.ref))
	default:
		if c, ok := b.q.column(s, a.of); ok {
			text = fmt.Sprintf(text, c.ref)
			if a.of != date && b.q.d.One(2) {
				text = fmt.Sprintf(a.text, b.q.exprs().expr(s, a.of, 1))
			}
		} else {
			text = "COUNT(*)"
		}
	}
	if b.q.filter && b.q.d.One(5) {
		text += " FILTER (WHERE " + b.q.exprs().expr(s, truth, 1) + ")"
	}
	return text
}

// conditional is what is counted, perhaps under a condition.
func (b bodyMaker) conditional(s fromItem, x string) string {
	if !b.q.d.One(3) {
		return x
	}
	return "CASE WHEN " + b.q.exprs().expr(s, truth, 1) + " THEN " + x + detrand.Pick(b.q.d, []string{"", " ELSE NULL"}) + " END"
}

// key makes something to group by, and what WHERE must say for it.
func (e exprMaker) key(s fromItem) (key, condition string, ok bool) {
	switch e.q.d.Below(8) {
	case 7:
		if key, ok := e.joinedKey(s); ok {
			return key, "", true
		}
	case 0:
		return e.expr(s, truth, 1), "", true
	case 6:
		if key, condition, ok := e.timeKey(s); ok {
			return key, condition, true
		}
	case 1:
		if c, ok := e.q.column(s, words); ok {
			return c.ref, c.ref + " IN ('a', 'b', 'F', '" + Mark + "')", true
		}
	case 2:
		if c, ok := e.q.column(s, whole1); ok && c.identity == "" {
			return c.ref + " % 2", "", true
		}
	case 3:
		if c, ok := e.q.column(s, wide); ok && c.identity == "" {
			return c.ref, c.ref + " IN (0, 1, 2)", true
		}
	case 4: // what a public table lists, or what has to be equal to that
		if all := e.besidePublic(s); len(all) > 0 {
			return detrand.Pick(e.q.d, all).ref, "", true
		}
	}
	for range 8 {
		c := detrand.Pick(e.q.d, s.columns)
		if c.identity == "" && (c.kind == truth || c.kind == whole1 && c.source == nil ||
			c.source != nil && (c.source.Keys != policy.NoKeys || len(c.source.PublicValues()) > 0)) {
			return c.ref, "", true
		}
	}
	return "", "", false
}

// joinedKey joins two texts that the policy lists.
func (e exprMaker) joinedKey(s fromItem) (string, bool) {
	var all []string
	for _, c := range s.columns {
		if c.kind == words && c.identity == "" && c.source != nil && c.source.Keys == policy.PublicKeys {
			all = append(all, c.ref)
		}
	}
	if len(all) == 0 {
		return "", false
	}
	between := detrand.Pick(e.q.d, []string{" || ", " || '-' || ", " || 'a' || "})
	return detrand.Pick(e.q.d, all) + between + detrand.Pick(e.q.d, all), true
}

// besidePublic are the columns of public tables, and those of the same names beside them, on which
// joins are.
func (e exprMaker) besidePublic(s fromItem) (out []column) {
	names := map[string]bool{}
	for _, table := range e.q.public() {
		for _, c := range e.q.dataset.Tables[table].Columns {
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

// edgeBody makes a SELECT with aggregates, as body does, part by part: each is one that the planner
// takes by itself.
func (b bodyMaker) edgeBody() string {
	s := b.accepted()
	counted := func(x string) string { return "SELECT COUNT(*) FROM " + s.text + " WHERE " + x }
	where := ""
	switch b.q.d.Below(5) { // not always: what no row passes is not computed
	case 0:
		where = b.q.edges().single(s)
	case 1, 2:
		where = b.q.tryExpr(3, func(depth int) string { return b.q.edges().edge(s, truth, depth) }, counted)
	}
	key, condition, ok := "", "", false
	if b.q.d.One(4) {
		if key, condition, ok = b.edgeKey(s); ok && condition != "" {
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
	for range 1 + b.q.d.Below(5)/4 {
		stats = append(stats, b.q.tryExpr(3, func(depth int) string { return b.edgeAggregate(s, depth) }, func(x string) string {
			return "SELECT " + x + " FROM " + s.text + after
		}))
	}
	list := stats
	group := ""
	if key != "" {
		several := false
		group, several = b.sets([]string{key})
		if b.q.d.One(6) {
			return "SELECT " + key + " AS " + b.q.name() + " FROM " + s.text + after + group + " ORDER BY " + stats[0] +
				detrand.Pick(b.q.d, []string{" DESC", "", " * -3 DESC"}) + fmt.Sprint(" LIMIT ", 1+b.q.d.Below(3))
		}
		if list = append([]string{key}, stats...); several {
			list = append(list, "GROUPING("+key+")")
		}
	}
	from := s.text
	if key != "" && b.q.d.One(4) {
		if from, where = b.limited(from, where, []string{key}, stats[0]); where != "" {
			after = " WHERE " + where
		}
	}
	text := "SELECT " + strings.Join(named(b.q, list), ", ") + " FROM " + from + after + group
	if b.q.d.One(8) {
		text += " HAVING " + stats[0] + " > " + constant(b.q.d)
	}
	return text
}

func (b bodyMaker) accepted() fromItem {
	if b.q.d.One(3) { // what each person has, which is as cheap as a table
		made := func() (fromItem, bool) { return b.q.sources().own(0) }
		if b.q.d.One(2) {
			made = b.q.sources().ranked
		}
		if s, ok := made(); ok {
			alias := b.q.name()
			s = fromItem{s.text + " AS " + alias, s.private, renamed(s.columns, alias)}
			if b.q.accepts("SELECT COUNT(*) FROM " + s.text) {
				return s
			}
		}
	}
	for range 3 {
		// Mostly tables: what is asked of them is what is hard, and every join takes an engine's
		// time.
		s := b.q.sources().from(detrand.Pick(b.q.d, []int{0, 0, 0, 0, 1, 1, 2}))
		if s.private && b.q.accepts("SELECT COUNT(*) FROM "+s.text) {
			return s
		}
	}
	return b.q.sources().base()
}

func (b bodyMaker) edgeAggregate(s fromItem, depth int) string {
	if depth == 0 {
		return "COUNT(*)"
	}
	a := detrand.Pick(b.q.d, aggregates)
	if b.q.d.One(2) {
		a.of, a.text = number, "SUM(%s)"
	}
	text := a.text
	switch a.of {
	case nothing:
	case 'i':
		c, ok := b.q.column(s, 'i')
		if !ok {
			return "COUNT(*)"
		}
		text = fmt.Sprintf(text, c.ref)
	default:
		text = fmt.Sprintf(text, b.q.edges().edge(s, a.of, depth))
	}
	if b.q.filter && (a.of == nothing || b.q.d.One(5)) {
		text += " FILTER (WHERE " + b.q.edges().edge(s, truth, depth) + ")"
	}
	return text
}

// edgeKey makes something to group by, and what WHERE must say for it.
func (b bodyMaker) edgeKey(s fromItem) (key, condition string, ok bool) {
	if b.q.d.One(3) {
		key, condition, ok = b.q.exprs().timeKey(s)
		if ok && b.q.accepts("SELECT COUNT(*) FROM "+s.text+" WHERE "+condition+" GROUP BY "+key) {
			return key, condition, true
		}
	}
	if b.q.d.One(3) { // what the policy lists
		return b.q.exprs().key(s)
	}
	k := detrand.Pick(b.q.d, []kind{truth, truth, words, whole1})
	list := map[kind]string{words: " IN ('', '" + Target + "', '0', '9')", whole1: " IN (0, 1, 9, 39)"}[k]
	key = b.q.tryExpr(2, func(depth int) string {
		if depth == 0 {
			return ""
		}
		return b.q.edges().edge(s, k, depth)
	}, func(x string) string {
		if list != "" {
			return "SELECT COUNT(*) FROM " + s.text + " WHERE (" + x + ")" + list + " GROUP BY " + x
		}
		return "SELECT COUNT(*) FROM " + s.text + " GROUP BY " + x
	})
	if key == "" {
		return b.q.exprs().key(s)
	}
	if list != "" {
		condition = "(" + key + ")" + list
	}
	return key, condition, true
}

// limited limits a question by one answer, and sometimes by two.
func (b bodyMaker) limited(from, where string, keys []string, stat string) (string, string) {
	limited, condition := b.series(from, where, keys, stat)
	if b.q.d.One(4) {
		if again, other := b.series(from, where, keys, "COUNT(*)"); again != from {
			limited += strings.TrimPrefix(again, from)
		} else if condition == where {
			condition = other
		}
	}
	return limited, condition
}

// series limits a question to the groups of another answer, as dashboards do that show the largest
// series: by a join with it, or by IN; boldly, by something that it is not grouped by.
func (b bodyMaker) series(from, where string, keys []string, stat string) (string, string) {
	by := keys[:1+b.q.d.Below(len(keys))]
	if b.q.d.One(3) {
		stat = "COUNT(*)"
	}
	rest := " FROM " + from
	if where != "" {
		rest += " WHERE " + where
	}
	rest += " GROUP BY " + strings.Join(by, ", ") + " ORDER BY "
	last := detrand.Pick(b.q.d, []string{" DESC", ""}) + fmt.Sprint(" LIMIT ", 1+b.q.d.Below(3))
	if b.q.d.One(3) {
		in := by
		if b.q.bold() {
			in = slices.Repeat([]string{stat}, len(by))
		}
		limit := "(" + strings.Join(by, ", ") + ") IN (SELECT " + strings.Join(in, ", ") + rest + stat + last + ")"
		if where == "" {
			return from, limit
		}
		return from, "(" + where + ") AND " + limit
	}
	var list, on []string
	top := b.q.name()
	for _, k := range by {
		name := b.q.name()
		list, on = append(list, k+" AS "+name), append(on, k+" = "+top+"."+name)
	}
	n := b.q.name()
	if b.q.bold() {
		on[0] = by[0] + " = " + top + "." + n
	}
	return from + " JOIN (SELECT " + strings.Join(list, ", ") + ", " + stat + " AS " + n + rest + n + last + ") AS " + top + " ON " +
		strings.Join(on, " AND "), where
}

// listing makes a question for keys and nothing else.
func (b bodyMaker) listing() string {
	s := b.q.sources().from(1)
	var keys, where []string
	for range 1 + b.q.d.Below(2) {
		if key, condition, ok := b.q.exprs().key(s); ok {
			if keys = append(keys, key); condition != "" {
				where = append(where, condition)
			}
		}
	}
	if len(keys) == 0 {
		return b.body()
	}
	text := strings.Join(named(b.q, keys), ", ") + " FROM " + s.text
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	if b.q.d.One(2) {
		return "SELECT DISTINCT " + text + detrand.Pick(b.q.d, []string{"", " ORDER BY 1", " LIMIT 3"})
	}
	group, _ := b.sets(keys)
	return "SELECT " + text + group
}

func (b bodyMaker) free() string {
	s := b.q.table(detrand.Pick(b.q.d, b.q.public()))
	if b.q.d.One(3) {
		r := b.q.table(detrand.Pick(b.q.d, b.q.public()))
		s = s.and(r, s.text+detrand.Pick(b.q.d, []string{" JOIN ", " LEFT JOIN ", " FULL JOIN "})+r.text+
			" ON "+b.q.code(s)+" = "+b.q.code(r))
	}
	key := detrand.Pick(b.q.d, s.columns).ref
	switch b.q.d.Below(4) {
	case 0:
		return "SELECT " + strings.Join(named(b.q, []string{key, b.q.code(s)}), ", ") + " FROM " + s.text + " ORDER BY 1, 2 LIMIT 5"
	case 1:
		return "SELECT " + strings.Join(named(b.q, []string{"COUNT(*)", "MAX(" + key + ")"}), ", ") + " FROM " + s.text
	case 2: // boldly, beside somebody
		p := b.q.table(detrand.Pick(b.q.d, b.q.private()))
		return "SELECT COUNT(*) AS " + b.q.name() + " FROM " + s.text + " WHERE EXISTS (SELECT 1 FROM " + p.text + ")"
	}
	return "SELECT " + strings.Join(named(b.q, []string{key, "COUNT(*)", "SUM(" + b.q.code(s) + ")"}), ", ") + " FROM " + s.text +
		" GROUP BY " + key
}

// code is the column of a public table that others are joined by.
func (q *question) code(s fromItem) string {
	i := slices.IndexFunc(s.columns, func(c column) bool { return strings.HasSuffix(strings.TrimSuffix(c.ref, `"`), "code") })
	return s.columns[i].ref
}

// around makes something over an answer, sometimes beside a public table.
func (b bodyMaker) around(text string) string {
	answer := b.q.name()
	if len(b.q.public()) == 0 || len(b.q.shown) == 0 || b.q.d.One(2) {
		return "SELECT * FROM (" + text + ") AS " + answer
	}
	shown, t := detrand.Pick(b.q.d, b.q.shown), b.q.table(detrand.Pick(b.q.d, b.q.public()))
	return "SELECT " + answer + "." + shown + ", " + b.q.code(t) + " FROM (" + text + ") AS " + answer +
		detrand.Pick(b.q.d, []string{" JOIN ", " LEFT JOIN "}) + t.text + " ON CAST(" + answer + "." + shown + " AS text) = CAST(" +
		b.q.code(t) + " AS text)"
}
