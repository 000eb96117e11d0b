package generate

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/detrand"
)

// computed is a line of the language of one person's rows: what it makes, and of what.
type computed struct {
	of, makes kind
	text      string
}

// personal are the aggregates of one person's rows.
var personal = []computed{
	{nothing, whole1, "count(*)"}, {words, whole1, "count(%s)"}, {number, number, "sum(%s)"}, {whole1, whole1, "sum(%s)"},
	{number, number, "min(%s)"}, {whole1, whole1, "max(%s)"}, {date, date, "max(%s)"}, {words, words, "max(%s)"},
	{truth, truth, "bool_or(%s)"}, {truth, truth, "bool_and(%s)"}, {number, float, "avg(%s)"}, {number, number, "round(avg(%s), 1)"},
	{words, whole1, "count(DISTINCT %s)"}, {date, whole1, "count(DISTINCT %s)"}, {whole1, whole1, "(max(%[1]s) - min(%[1]s))"},
	{date, whole1, "(max(%[1]s) - min(%[1]s))"}, {number, number, "coalesce(sum(%s), 0)"},
	{truth, whole1, "CASE WHEN bool_or(%s) THEN count(*) ELSE 0 END"}, {moment, moment, "max(%s)"},
	{moment, number, "extract(epoch FROM max(%[1]s) - min(%[1]s))"},
}

// windows are what is computed of the rows of the same person.
var windows = []computed{
	{nothing, whole1, "row_number()"}, {nothing, whole1, "rank()"}, {nothing, whole1, "dense_rank()"}, {nothing, whole1, "ntile(3)"},
	{number, number, "lag(%s)"}, {words, words, "lead(%s, 2)"}, {number, number, "lag(%s, 1, 0)"}, {date, date, "lag(%s)"},
	{words, words, "first_value(%s)"}, {number, number, "first_value(%s)"}, {number, number, "last_value(%s)"},
	{date, date, "last_value(%s)"}, {number, number, "nth_value(%s, 2)"}, {truth, truth, "first_value(%s)"},
	{nothing, whole1, "count(*)"}, {words, whole1, "count(%s)"}, {number, number, "sum(%s)"}, {whole1, whole1, "max(%s)"},
	{date, date, "min(%s)"}, {truth, truth, "bool_or(%s)"}, {truth, truth, "bool_and(%s)"}, {number, float, "avg(%s)"},
	{truth, number, "count(*) FILTER (WHERE %s)"}, {number, number, "lag(%s, {n}, {c})"}, {wide, wide, "lead(%s, 1, {i})"},
	{words, words, "lag(%s, 1, {s})"}, {whole1, whole1, "nth_value(%s, {n})"}, {nothing, whole1, "ntile({n})"},
	{moment, moment, "lag(%s)"}, {moment, moment, "first_value(%s)"},
}

// own makes a subquery about the rows of the same person: grouped by the person, with windows, or
// of different ones.
func (q *question) own(depth int) (source, bool) {
	s := q.from(depth)
	switch several := q.several(); {
	case q.d.One(3):
		s = q.together()
	case q.sharp && len(several) > 0 && q.d.One(2): // of which a person has several, so that it matters which
		s = q.table(detrand.Pick(q.d, several))
	}
	unit, ok := q.column(s, 'i')
	if q.bold() && q.d.One(2) {
		unit, ok = detrand.Pick(q.d, s.columns), true
	}
	if !ok {
		return source{}, false
	}
	switch q.d.Below(5) {
	case 0, 1:
		return q.persons(s, unit), true
	case 2:
		return q.different(s, unit), true
	}
	out, first := q.windowed(s, unit)
	if first != "" && q.d.One(2) { // the first row of each
		alias := q.name()
		out.text = "(SELECT * FROM " + out.text + " AS " + alias + " WHERE " + alias + "." + first + " = " +
			detrand.Pick(q.d, []string{"1", "1", "1", "2", "50"}) + ")"
	}
	return out, true
}

// ranked makes a subquery of rows of which a person has several: put into an order by a column in
// which many of them are equal, with much that is computed with each, and often without the columns
// that tell them apart.
func (q *question) ranked() (source, bool) {
	several := q.several()
	if len(several) == 0 {
		return source{}, false
	}
	s := q.table(detrand.Pick(q.d, several))
	unit, ok := q.column(s, 'i')
	order, ok2 := q.column(s, detrand.Pick(q.d, []kind{truth, words, whole1, whole1, date}))
	of := s
	if order.kind == whole1 {
		of.columns = []column{order} // so that nothing else is looked at
	}
	heavy, ok3 := q.heavy(of)
	if !ok || !ok2 || !ok3 {
		return source{}, false
	}
	out := source{private: true}
	var list []string
	show := func(text string, c column) string {
		name := q.name()
		list = append(list, text+" AS "+name)
		c.ref = "." + name
		out.columns = append(out.columns, c)
		return name
	}
	show(unit.ref, column{identity: unit.identity})
	show(heavy, column{kind: truth})
	if c, ok := q.column(s, words); ok && q.d.One(5) {
		show(c.ref, column{kind: words})
	}
	distinct, after, where := "", "", ""
	if q.d.One(4) {
		distinct, after = "DISTINCT ON ("+unit.ref+") ", " ORDER BY "+unit.ref+", "+q.sorted(order.ref)
	} else {
		over := " OVER (PARTITION BY " + unit.ref + " ORDER BY " + q.sorted(order.ref) + ")"
		text, c := "row_number()", column{kind: whole1}
		if other, made := q.line(s, windows); q.d.One(3) {
			text, c = other, made
		}
		name := show(text+over, c)
		if text == "row_number()" && !q.d.One(3) {
			where = " WHERE " + name + detrand.Pick(q.d, []string{" = 1", " = 2", " <= 2", " > 3"})
		}
	}
	out.text = "(SELECT " + distinct + strings.Join(list, ", ") + " FROM " + s.text + q.where(s) + after + ")"
	if where != "" {
		out.text = "(SELECT * FROM " + out.text + " AS " + q.name() + where + ")"
	}
	return out, true
}

// together makes rows that are joined by the person, in every way that SQL has for it.
func (q *question) together() source {
	l, r := q.base(), q.base()
	a, b, ok := q.linked(l, r)
	if !ok || q.d.One(4) {
		if c, ok := q.commas(); ok {
			alias := q.name()
			return source{c.text + " AS " + alias, true, renamed(c.columns, alias)}
		}
	}
	if !ok {
		return l
	}
	how := detrand.Pick(q.d, []string{" FULL JOIN ", " FULL JOIN ", " LEFT JOIN ", " JOIN "})
	name := a[strings.LastIndexByte(a, '.')+1:]
	if !strings.HasSuffix(b, "."+name) || q.d.One(3) {
		return l.and(r, l.text+how+r.text+" ON "+a+" = "+b)
	}
	return l.and(r, l.text+detrand.Pick(q.d, []string{how + r.text + " USING (" + name + ")", " NATURAL" + how + r.text}))
}

// line makes one of some lines, and its column.
func (q *question) line(s source, of []computed) (string, column) {
	p := detrand.Pick(q.d, of)
	for !q.sharp && strings.Contains(p.text, "{") {
		p = detrand.Pick(q.d, of)
	}
	text := q.fill(p.text)
	if p.of != nothing {
		arg := q.expr(s, p.of, 1)
		if c, ok := q.column(s, p.of); ok && q.d.One(2) {
			arg = c.ref // what differs between rows
		}
		text = fmt.Sprintf(text, arg)
	}
	return text, column{ref: "." + q.name(), kind: p.makes}
}

// persons makes a subquery with one row for each person, or for each person and key.
func (q *question) persons(s source, unit column) source {
	who := q.name()
	out := source{private: true, columns: []column{{ref: "." + who, identity: q.dataset.Unit.String()}}}
	list, keys := []string{unit.ref + " AS " + who}, []string{unit.ref}
	if q.d.One(3) {
		k := detrand.Pick(q.d, []kind{words, truth, whole1, date})
		key, name := q.expr(s, k, q.d.Below(2)), q.name()
		list, keys = append(list, key+" AS "+name), append(keys, fmt.Sprint(len(list)+1))
		out.columns = append(out.columns, column{ref: "." + name, kind: k})
		if q.bold() {
			keys = keys[1:]
		}
	}
	for range 1 + q.d.Below(3) {
		text, c := q.line(s, personal)
		if q.d.One(6) && strings.HasSuffix(text, ")") && strings.HasPrefix(text, "count(") {
			text += " FILTER (WHERE " + q.expr(s, truth, 1) + ")"
		}
		list = append(list, text+" AS "+c.ref[1:])
		out.columns = append(out.columns, c)
	}
	having := ""
	if q.d.One(4) {
		having = " HAVING " + detrand.Pick(q.d, []string{"count(*) > 1", "count(*) < 3 OR " + unit.ref + " IS NULL"})
		if text, c := q.line(s, personal); c.kind == truth {
			having = " HAVING " + text
		}
	}
	out.text = "(SELECT " + strings.Join(list, ", ") + " FROM " + s.text + q.where(s) + " GROUP BY " + strings.Join(keys, ", ") +
		having + ")"
	return out
}

// different makes a subquery with DISTINCT.
func (q *question) different(s source, unit column) source {
	who := q.name()
	out := source{private: true, columns: []column{{ref: "." + who, identity: q.dataset.Unit.String()}}}
	list, order := []string{unit.ref + " AS " + who}, []string{unit.ref}
	for _, k := range []kind{detrand.Pick(q.d, []kind{words, truth}), detrand.Pick(q.d, []kind{whole1, number, date})} {
		text, name := q.expr(s, k, 1), q.name()
		list = append(list, text+" AS "+name)
		out.columns = append(out.columns, column{ref: "." + name, kind: k})
		order = append(order, q.sorted(text))
	}
	if q.sharp && q.d.One(3) {
		if text, ok := q.heavy(s); ok {
			name := q.name()
			list = append(list, text+" AS "+name)
			out.columns = append(out.columns, column{ref: "." + name, kind: truth})
		}
	}
	distinct, after := "DISTINCT ", ""
	if q.d.One(2) {
		distinct = "DISTINCT ON (" + unit.ref + ") "
		after = " ORDER BY " + strings.Join(order[:1+q.d.Below(len(order))], ", ")
	}
	out.text = "(SELECT " + distinct + strings.Join(list, ", ") + " FROM " + s.text + q.where(s) + after + ")"
	return out
}

// windowed makes a subquery with windows, and names the column of one that numbers rows.
func (q *question) windowed(s source, unit column) (out source, first string) {
	out = source{private: true}
	var list []string
	show := func(text string, c column) {
		name := q.name()
		list = append(list, text+" AS "+name)
		c.ref = "." + name
		out.columns = append(out.columns, c)
	}
	bare := q.d.One(2) // so that whatever is asked is about windows
	for _, c := range s.columns {
		if c.identity != "" && !q.d.One(4) || c.identity == "" && !bare && q.d.One(3) {
			show(c.ref, c)
		}
	}
	over := q.over(s, unit)
	for range 1 + q.d.Below(3) {
		text, c := q.line(s, windows)
		if q.d.One(2) {
			over = q.over(s, unit)
		}
		list = append(list, text+" OVER "+over+" AS "+c.ref[1:])
		out.columns = append(out.columns, c)
		if text == "row_number()" {
			first = c.ref[1:]
		}
	}
	if !bare && q.d.One(3) {
		k := detrand.Pick(q.d, []kind{whole1, words, truth})
		show(q.expr(s, k, 1), column{kind: k})
	}
	if q.sharp && q.d.One(2) {
		if text, ok := q.heavy(s); ok {
			show(text, column{kind: truth})
		}
	}
	out.text = "(SELECT " + strings.Join(list, ", ") + " FROM " + s.text + q.where(s) + ")"
	return out, first
}

// over makes what stands after OVER: rows of the same person, and boldly of others.
func (q *question) over(s source, unit column) string {
	by := []string{unit.ref}
	if q.d.One(3) {
		by = append(by, q.expr(s, detrand.Pick(q.d, []kind{words, truth, whole1}), 1))
	}
	if q.bold() && q.d.One(2) {
		by = by[1:]
	}
	text := ""
	if len(by) > 0 {
		text = "PARTITION BY " + strings.Join(by, ", ")
	}
	order := ""
	if !q.d.One(3) {
		order = " ORDER BY " + q.sorted(q.expr(s, detrand.Pick(q.d, []kind{date, moment, number, words, truth}), q.d.Below(2)))
		if q.d.One(3) {
			order += ", " + q.sorted(q.expr(s, detrand.Pick(q.d, []kind{whole1, words}), 0))
		}
	}
	frame := ""
	if order != "" && q.d.One(3) {
		frame = detrand.Pick(q.d, []string{" ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", " ROWS UNBOUNDED PRECEDING",
			" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", " ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING",
			" ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING", " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
			" RANGE UNBOUNDED PRECEDING", " GROUPS BETWEEN CURRENT ROW AND CURRENT ROW"})
	}
	return "(" + text + order + frame + ")"
}

// sorted is an item of ORDER BY.
func (q *question) sorted(x string) string {
	return x + detrand.Pick(q.d, []string{"", "", " DESC", " DESC NULLS LAST", " NULLS FIRST"})
}
