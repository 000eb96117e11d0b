package generate

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/detrand"
)

// from makes an item of FROM, with people in it unless nobody needs to be.
func (q *question) from(depth int) source {
	for _, c := range q.ctes {
		if q.d.One(3) && c.private {
			alias := q.name()
			return source{c.name + " AS " + alias, c.private, renamed(c.columns, alias)}
		}
	}
	if depth <= 0 {
		return q.base()
	}
	switch q.d.Below(8) {
	case 0, 1:
		s := q.subquery(depth - 1)
		alias := q.name()
		return source{s.text + " AS " + alias, s.private, renamed(s.columns, alias)}
	case 2, 3, 4:
		return q.join(depth - 1)
	}
	return q.base()
}

func (q *question) base() source {
	if views := q.dataset.ViewNames(); len(views) > 0 && q.d.One(12) {
		alias := q.name()
		unit := q.dataset.Unit.String()
		switch name := detrand.Pick(q.d, views); name { // of the worlds of this package
		case "dear":
			return source{name + " AS " + alias, true,
				[]column{{alias + ".pid", 0, unit, nil}, {alias + ".cost", number, "", nil}, {alias + ".ward", words, "", nil}}}
		case "everyday":
			return source{name + " AS " + alias, true, []column{{alias + ".who", 0, unit, nil}, {alias + ".often", whole1, "", nil}}}
		}
	}
	return q.table(detrand.Pick(q.d, q.private()))
}

// renamed gives columns another table's name.
func renamed(columns []column, alias string) []column {
	out := make([]column, len(columns))
	for i, c := range columns {
		c.ref = alias + c.ref[strings.LastIndexByte(c.ref, '.'):]
		out[i] = c
	}
	return out
}

// where makes a condition, or none.
func (q *question) where(s source) string {
	if !q.d.One(3) {
		return ""
	}
	return " WHERE " + q.expr(s, truth, 1+q.d.Below(2))
}

// subquery makes a SELECT of rows in parentheses.
func (q *question) subquery(depth int) source {
	if q.d.One(3) {
		if s, ok := q.own(depth); ok {
			return s
		}
	}
	if q.d.One(4) {
		return q.union(depth)
	}
	if q.d.One(6) {
		if s, ok := q.commas(); ok {
			return s
		}
	}
	s := q.from(depth)
	out := source{private: s.private}
	if strings.Count(s.text, " ") == 2 && q.d.One(4) { // a single name: its columns keep theirs
		for _, c := range s.columns {
			c.ref = c.ref[strings.LastIndexByte(c.ref, '.'):]
			out.columns = append(out.columns, c)
		}
		out.text = "(SELECT " + detrand.Pick(q.d, []string{"*", strings.Fields(s.text)[2] + ".*"}) + " FROM " + s.text + q.where(s) + ")"
		return out
	}
	var list []string
	show := func(text string, c column) {
		name := q.name()
		list = append(list, text+" AS "+name)
		c.ref = "." + name
		out.columns = append(out.columns, c)
	}
	for _, c := range s.columns {
		if c.identity != "" && !q.d.One(4) || c.identity == "" && q.d.One(2) {
			show(c.ref, c)
		}
	}
	for range 1 + q.d.Below(2) {
		k := detrand.Pick(q.d, []kind{whole1, number, words, truth, date})
		show(q.expr(s, k, 2), column{kind: k})
	}
	out.text = "(SELECT " + strings.Join(list, ", ") + " FROM " + s.text + q.where(s) + ")"
	return out
}

// commas makes a SELECT of rows of several tables that WHERE joins; boldly, of something else than
// the person, or only perhaps.
func (q *question) commas() (source, bool) {
	all := []source{q.base(), q.base()}
	if q.d.One(3) {
		all = append(all, q.base())
	}
	if len(q.public()) > 0 && q.d.One(4) {
		all = append(all, q.table(detrand.Pick(q.d, q.public())))
	}
	var from, where []string
	both := all[0]
	for i, s := range all {
		from = append(from, s.text)
		if i == 0 || !s.private {
			continue
		}
		a, b, ok := q.linked(all[q.d.Below(i)], s)
		if !ok {
			return source{}, false
		}
		link := a + " = " + b
		if q.bold() {
			link = detrand.Pick(q.d, []string{a + " <> " + b, "(" + link + " OR " + q.expr(both, truth, 1) + ")", a + " = " + a,
				"NOT (" + link + ")"})
		}
		where, both = append(where, link), both.and(s, "")
	}
	if q.d.One(2) {
		where = append([]string{q.expr(both, truth, 1)}, where...)
	}
	out := source{private: true}
	var list []string
	for _, c := range both.columns {
		if c.identity == "" && !q.d.One(3) {
			continue
		}
		name := q.name()
		list = append(list, c.ref+" AS "+name)
		c.ref = "." + name
		out.columns = append(out.columns, c)
	}
	if len(list) == 0 {
		return source{}, false
	}
	out.text = "(SELECT " + strings.Join(list, ", ") + " FROM " + strings.Join(from, detrand.Pick(q.d, []string{", ", " CROSS JOIN "})) +
		" WHERE " + strings.Join(where, " AND ") + ")"
	return out, q.bold() || q.accepts("SELECT COUNT(*) FROM "+out.text+" AS "+q.name())
}

// union makes a UNION ALL of rows.
func (q *question) union(depth int) source {
	kinds := []kind{detrand.Pick(q.d, []kind{whole1, number}), detrand.Pick(q.d, []kind{words, truth, date})}
	out := source{private: true}
	var parts []string
	who := !q.dataset.Unit.Row() && q.d.One(2)
	for i := range 2 + q.d.Below(2) {
		s := q.from(depth - 1)
		var list []string
		unit, ok := q.column(s, 'i')
		for tries := 0; who && !ok && tries < 9; tries++ { // all parts have it
			s = q.base()
			unit, ok = q.column(s, 'i')
		}
		if who && ok {
			name := q.name()
			list = append(list, unit.ref+" AS "+name)
			if i == 0 {
				out.columns = append(out.columns, column{ref: "." + name, identity: unit.identity})
			}
		}
		for _, k := range kinds {
			name := q.name()
			list = append(list, q.expr(s, k, 1)+" AS "+name)
			if i == 0 {
				out.columns = append(out.columns, column{ref: "." + name, kind: k})
			}
		}
		parts = append(parts, "SELECT "+strings.Join(list, ", ")+" FROM "+s.text+q.where(s))
	}
	out.text = "(" + strings.Join(parts, " UNION ALL ") + ")"
	return out
}

// join makes a join: with a public table, or of rows of the same person.
func (q *question) join(depth int) source {
	l := q.from(depth)
	if len(q.public()) > 0 && q.d.One(2) {
		r := q.table(detrand.Pick(q.d, q.public()))
		x, ok1 := q.column(l, wide)
		y, ok2 := q.column(r, wide)
		on := q.expr(l.and(r, ""), truth, 1)
		if ok1 && ok2 && !q.d.One(4) {
			on = x.ref + " = " + y.ref
		}
		switch q.d.Below(6) {
		case 0:
			if q.bold() {
				return l.and(r, r.text+" LEFT JOIN "+l.text+" ON "+on)
			}
			return l.and(r, l.text+" CROSS JOIN "+r.text)
		case 1:
			return l.and(r, r.text+" JOIN "+l.text+" ON "+on)
		case 2:
			return l.and(r, r.text+" RIGHT JOIN "+l.text+" ON "+on)
		case 3:
			return l.and(r, l.text+" LEFT JOIN "+r.text+" ON "+on)
		}
		return l.and(r, l.text+" JOIN "+r.text+" ON "+on)
	}
	r := q.from(depth - 1)
	a, b, ok := q.linked(l, r)
	if !ok {
		return l
	}
	on := a + " = " + b
	if q.bold() { // a link to itself, or one of two
		on = detrand.Pick(q.d, []string{a + " = " + a, "(" + on + " OR " + q.expr(l.and(r, ""), truth, 1) + ")",
			q.expr(l.and(r, ""), truth, 1), a + " <> " + b})
	}
	if q.d.One(3) {
		on += " AND " + q.expr(l.and(r, ""), truth, 1)
	}
	how := detrand.Pick(q.d, []string{" JOIN ", " JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN "})
	if how == " FULL JOIN " && !q.bold() { // of persons, and of nothing else
		if on = a + " = " + b; !q.accepts("SELECT COUNT(*) FROM " + l.text + how + r.text + " ON " + on) {
			how = " JOIN "
		}
	}
	if strings.Contains(r.text, " JOIN ") {
		r.text = "(" + r.text + ")"
	}
	if name := a[strings.LastIndexByte(a, '.')+1:]; strings.HasSuffix(b, "."+name) && strings.Count(l.text+r.text, " ") == 4 && q.d.One(2) {
		if q.d.One(2) {
			return l.and(r, l.text+" NATURAL"+how+r.text)
		}
		return l.and(r, l.text+how+r.text+" USING ("+name+")")
	}
	return l.and(r, l.text+how+r.text+" ON "+on)
}
