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

var personal = []computed{
	{nothing, whole1, "count(*)"}, {words, whole1, "count(%s)"}, {number, number, "sum(%s)"}, {whole1, whole1, "sum(%s)"},
	{nothing, number, "least(dp_rows(), 99)"}, {nothing, whole1, "width_bucket(dp_rows(), ARRAY[1,2,3,5,9])"},
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
func (f fromMaker) own(depth int) (fromItem, bool) {
	s := f.from(depth)
	switch several := f.q.manyRowTables(); {
	case f.q.d.One(3):
		s = f.personJoin()
	case f.q.sharp && len(several) > 0 && f.q.d.One(2): // of which a person has several, so that it matters which
		s = f.q.table(detrand.Pick(f.q.d, several))
	}
	unit, ok := f.q.column(s, 'i')
	if f.q.bold() && f.q.d.One(2) {
		unit, ok = detrand.Pick(f.q.d, s.columns), true
	}
	if !ok {
		return fromItem{}, false
	}
	switch f.q.d.Below(5) {
	case 0, 1:
		return f.persons(s, unit), true
	case 2:
		return f.different(s, unit), true
	}
	out, first := f.windowed(s, unit)
	if first != "" && f.q.d.One(2) { // the first row of each
		alias := f.q.name()
		out.text = "(SELECT * FROM " + out.text + " AS " + alias + " WHERE " + alias + "." + first + " = " +
			detrand.Pick(f.q.d, []string{"1", "1", "1", "2", "50"}) + ")"
	}
	return out, true
}

// ranked makes a subquery of rows of which a person has several: put into an order by a column in
// which many of them are equal, with much that is computed with each, and often without the columns
// that tell them apart.
func (f fromMaker) ranked() (fromItem, bool) {
	several := f.q.manyRowTables()
	if len(several) == 0 {
		return fromItem{}, false
	}
	s := f.q.table(detrand.Pick(f.q.d, several))
	unit, ok := f.q.column(s, 'i')
	order, ok2 := f.q.column(s, detrand.Pick(f.q.d, []kind{truth, words, whole1, whole1, date}))
	of := s
	if order.kind == whole1 {
		of.columns = []column{order} // so that nothing else is looked at
	}
	heavy, ok3 := f.q.edges().costlyCondition(of)
	if !ok || !ok2 || !ok3 {
		return fromItem{}, false
	}
	out := fromItem{private: true}
	var list []string
	show := func(text string, c column) string {
		name := f.q.name()
		list = append(list, text+" AS "+name)
		c.ref = "." + name
		out.columns = append(out.columns, c)
		return name
	}
	show(unit.ref, column{identity: unit.identity})
	show(heavy, column{kind: truth})
	if c, ok := f.q.column(s, words); ok && f.q.d.One(5) {
		show(c.ref, column{kind: words})
	}
	distinct, after, where := "", "", ""
	if f.q.d.One(4) {
		distinct, after = "DISTINCT ON ("+unit.ref+") ", " ORDER BY "+unit.ref+", "+f.q.sorted(order.ref)
	} else {
		over := " OVER (PARTITION BY " + unit.ref + " ORDER BY " + f.q.sorted(order.ref) + ")"
		text, c := "row_number()", column{kind: whole1}
		if other, made := f.line(s, windows); f.q.d.One(3) {
			text, c = other, made
		}
		name := show(text+over, c)
		if text == "row_number()" && !f.q.d.One(3) {
			where = " WHERE " + name + detrand.Pick(f.q.d, []string{" = 1", " = 2", " <= 2", " > 3"})
		}
	}
	out.text = "(SELECT " + distinct + strings.Join(list, ", ") + " FROM " + s.text + f.where(s) + after + ")"
	if where != "" {
		out.text = "(SELECT * FROM " + out.text + " AS " + f.q.name() + where + ")"
	}
	return out, true
}

// personJoin makes rows that are joined by the person, in every way that SQL has for it.
func (f fromMaker) personJoin() fromItem {
	l, r := f.base(), f.base()
	a, b, ok := f.q.linked(l, r)
	if !ok || f.q.d.One(4) {
		if c, ok := f.commas(); ok {
			alias := f.q.name()
			return fromItem{c.text + " AS " + alias, true, renamed(c.columns, alias)}
		}
	}
	if !ok {
		return l
	}
	how := detrand.Pick(f.q.d, []string{" FULL JOIN ", " FULL JOIN ", " LEFT JOIN ", " JOIN "})
	name := a[strings.LastIndexByte(a, '.')+1:]
	if !strings.HasSuffix(b, "."+name) || f.q.d.One(3) {
		return l.and(r, l.text+how+r.text+" ON "+a+" = "+b)
	}
	return l.and(r, l.text+detrand.Pick(f.q.d, []string{how + r.text + " USING (" + name + ")", " NATURAL" + how + r.text}))
}

// line makes one of some lines, and its column.
func (f fromMaker) line(s fromItem, of []computed) (string, column) {
	p := detrand.Pick(f.q.d, of)
	for !f.q.sharp && strings.Contains(p.text, "{") {
		p = detrand.Pick(f.q.d, of)
	}
	text := f.q.fill(p.text)
	if p.of != nothing {
		arg := f.q.exprs().expr(s, p.of, 1)
		if c, ok := f.q.column(s, p.of); ok && f.q.d.One(2) {
			arg = c.ref // what differs between rows
		}
		text = fmt.Sprintf(text, arg)
	}
	return text, column{ref: "." + f.q.name(), kind: p.makes}
}

// persons makes a subquery with one row for each person, or for each person and key.
func (f fromMaker) persons(s fromItem, unit column) fromItem {
	who := f.q.name()
	out := fromItem{private: true, columns: []column{{ref: "." + who, identity: f.q.dataset.Unit.String()}}}
	list, keys := []string{unit.ref + " AS " + who}, []string{unit.ref}
	if f.q.d.One(3) {
		k := detrand.Pick(f.q.d, []kind{words, truth, whole1, date})
		key, name := f.q.exprs().expr(s, k, f.q.d.Below(2)), f.q.name()
		list, keys = append(list, key+" AS "+name), append(keys, fmt.Sprint(len(list)+1))
		out.columns = append(out.columns, column{ref: "." + name, kind: k})
		if f.q.bold() {
			keys = keys[1:]
		}
	}
	for range 1 + f.q.d.Below(3) {
		text, c := f.line(s, personal)
		if f.q.d.One(6) && strings.HasSuffix(text, ")") && strings.HasPrefix(text, "count(") {
			text += " FILTER (WHERE " + f.q.exprs().expr(s, truth, 1) + ")"
		}
		list = append(list, text+" AS "+c.ref[1:])
		out.columns = append(out.columns, c)
	}
	having := ""
	if f.q.d.One(4) {
		having = " HAVING " + detrand.Pick(f.q.d, []string{"count(*) > 1", "count(*) < 3 OR " + unit.ref + " IS NULL"})
		if text, c := f.line(s, personal); c.kind == truth {
			having = " HAVING " + text
		}
	}
	out.text = "(SELECT " + strings.Join(list, ", ") + " FROM " + s.text + f.where(s) + " GROUP BY " + strings.Join(keys, ", ") +
		having + ")"
	return out
}

func (f fromMaker) different(s fromItem, unit column) fromItem {
	who := f.q.name()
	out := fromItem{private: true, columns: []column{{ref: "." + who, identity: f.q.dataset.Unit.String()}}}
	list, order := []string{unit.ref + " AS " + who}, []string{unit.ref}
	for _, k := range []kind{detrand.Pick(f.q.d, []kind{words, truth}), detrand.Pick(f.q.d, []kind{whole1, number, date})} {
		text, name := f.q.exprs().expr(s, k, 1), f.q.name()
		list = append(list, text+" AS "+name)
		out.columns = append(out.columns, column{ref: "." + name, kind: k})
		order = append(order, f.q.sorted(text))
	}
	if f.q.sharp && f.q.d.One(3) {
		if text, ok := f.q.edges().costlyCondition(s); ok {
			name := f.q.name()
			list = append(list, text+" AS "+name)
			out.columns = append(out.columns, column{ref: "." + name, kind: truth})
		}
	}
	distinct, after := "DISTINCT ", ""
	if f.q.d.One(2) {
		distinct = "DISTINCT ON (" + unit.ref + ") "
		after = " ORDER BY " + strings.Join(order[:1+f.q.d.Below(len(order))], ", ")
	}
	out.text = "(SELECT " + distinct + strings.Join(list, ", ") + " FROM " + s.text + f.where(s) + after + ")"
	return out
}

// windowed makes a subquery with windows, and names the column of one that numbers rows.
func (f fromMaker) windowed(s fromItem, unit column) (out fromItem, first string) {
	out = fromItem{private: true}
	var list []string
	show := func(text string, c column) {
		name := f.q.name()
		list = append(list, text+" AS "+name)
		c.ref = "." + name
		out.columns = append(out.columns, c)
	}
	bare := f.q.d.One(2) // so that whatever is asked is about windows
	for _, c := range s.columns {
		if c.identity != "" && !f.q.d.One(4) || c.identity == "" && !bare && f.q.d.One(3) {
			show(c.ref, c)
		}
	}
	over := f.over(s, unit)
	for range 1 + f.q.d.Below(3) {
		text, c := f.line(s, windows)
		if f.q.d.One(2) {
			over = f.over(s, unit)
		}
		list = append(list, text+" OVER "+over+" AS "+c.ref[1:])
		out.columns = append(out.columns, c)
		if text == "row_number()" {
			first = c.ref[1:]
		}
	}
	if !bare && f.q.d.One(3) {
		k := detrand.Pick(f.q.d, []kind{whole1, words, truth})
		show(f.q.exprs().expr(s, k, 1), column{kind: k})
	}
	if f.q.sharp && f.q.d.One(2) {
		if text, ok := f.q.edges().costlyCondition(s); ok {
			show(text, column{kind: truth})
		}
	}
	out.text = "(SELECT " + strings.Join(list, ", ") + " FROM " + s.text + f.where(s) + ")"
	return out, first
}

// over makes what stands after OVER: rows of the same person, and boldly of others.
func (f fromMaker) over(s fromItem, unit column) string {
	by := []string{unit.ref}
	if f.q.d.One(3) {
		by = append(by, f.q.exprs().expr(s, detrand.Pick(f.q.d, []kind{words, truth, whole1}), 1))
	}
	if f.q.bold() && f.q.d.One(2) {
		by = by[1:]
	}
	text := ""
	if len(by) > 0 {
		text = "PARTITION BY " + strings.Join(by, ", ")
	}
	order := ""
	if !f.q.d.One(3) {
		of := detrand.Pick(f.q.d, []kind{date, moment, number, words, truth})
		order = " ORDER BY " + f.q.sorted(f.q.exprs().expr(s, of, f.q.d.Below(2)))
		if f.q.d.One(3) {
			order += ", " + f.q.sorted(f.q.exprs().expr(s, detrand.Pick(f.q.d, []kind{whole1, words}), 0))
		}
	}
	frame := ""
	if order != "" && f.q.d.One(3) {
		frame = detrand.Pick(f.q.d, []string{" ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", " ROWS UNBOUNDED PRECEDING",
			" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", " ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING",
			" ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING", " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
			" RANGE UNBOUNDED PRECEDING", " GROUPS BETWEEN CURRENT ROW AND CURRENT ROW"})
	}
	return "(" + text + order + frame + ")"
}

func (q *question) sorted(x string) string {
	return x + detrand.Pick(q.d, []string{"", "", " DESC", " DESC NULLS LAST", " NULLS FIRST"})
}
