package generate

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/detrand"
)

// from makes an item of FROM, with people in it unless nobody needs to be.
func (f fromMaker) from(depth int) fromItem {
	for _, c := range f.q.ctes {
		if f.q.d.One(3) && c.private {
			alias := f.q.name()
			return fromItem{c.name + " AS " + alias, c.private, renamed(c.columns, alias)}
		}
	}
	if depth <= 0 {
		return f.base()
	}
	switch f.q.d.Below(8) {
	case 0, 1:
		s := f.subquery(depth - 1)
		alias := f.q.name()
		if f.q.d.One(6) && !strings.HasPrefix(s.text, "(SELECT *") && !strings.HasPrefix(s.text, "(SELECT "+Mark) {
			return f.namedColumns(s, alias)
		}
		return fromItem{s.text + " AS " + alias, s.private, renamed(s.columns, alias)}
	case 2, 3, 4:
		return f.join(depth - 1)
	}
	return f.base()
}

// namedColumns names the first columns of a subquery after its alias.
func (f fromMaker) namedColumns(s fromItem, alias string) fromItem {
	columns := renamed(s.columns, alias)
	var names []string
	for i := range columns[:1+f.q.d.Below(len(columns))] {
		names = append(names, f.q.name())
		columns[i].ref = alias + "." + names[i]
	}
	return fromItem{s.text + " AS " + alias + "(" + strings.Join(names, ", ") + ")", s.private, columns}
}

// kept makes a join in which the rows of a public table stay that nobody has a row for.
func (f fromMaker) kept() (fromItem, bool) {
	if len(f.q.public()) == 0 {
		return fromItem{}, false
	}
	l, r := f.q.table(detrand.Pick(f.q.d, f.q.public())), f.from(1)
	x, ok1 := f.q.column(l, wide)
	y, ok2 := f.q.column(r, wide)
	if !ok1 || !ok2 || strings.Contains(r.text, " JOIN ") {
		return fromItem{}, false
	}
	on := " ON " + x.ref + " = " + y.ref
	if f.q.d.One(3) {
		on += " AND " + f.q.exprs().expr(r, truth, 1)
	}
	if f.q.d.One(3) {
		return r.and(l, r.text+" RIGHT JOIN "+l.text+on), true
	}
	return r.and(l, l.text+" LEFT JOIN "+r.text+on), true
}

func (f fromMaker) base() fromItem {
	if views := f.q.dataset.ViewNames(); len(views) > 0 && f.q.d.One(12) {
		alias := f.q.name()
		unit := f.q.dataset.Unit.String()
		switch name := detrand.Pick(f.q.d, views); name { // of the worlds of this package
		case "dear":
			return fromItem{name + " AS " + alias, true,
				[]column{{alias + ".pid", 0, unit, nil}, {alias + ".cost", number, "", nil}, {alias + ".ward", words, "", nil}}}
		case "everyday":
			return fromItem{name + " AS " + alias, true, []column{{alias + ".who", 0, unit, nil}, {alias + ".often", whole1, "", nil}}}
		}
	}
	return f.q.table(detrand.Pick(f.q.d, f.q.private()))
}

func renamed(columns []column, alias string) []column {
	out := make([]column, len(columns))
	for i, c := range columns {
		c.ref = alias + c.ref[strings.LastIndexByte(c.ref, '.'):]
		out[i] = c
	}
	return out
}

func (f fromMaker) where(s fromItem) string {
	if !f.q.d.One(3) {
		return ""
	}
	return " WHERE " + f.q.exprs().expr(s, truth, 1+f.q.d.Below(2))
}

func (f fromMaker) subquery(depth int) fromItem {
	if f.q.d.One(3) {
		if s, ok := f.own(depth); ok {
			return s
		}
	}
	if f.q.d.One(4) {
		return f.union(depth)
	}
	if f.q.d.One(6) {
		if s, ok := f.commas(); ok {
			return s
		}
	}
	s := f.from(depth)
	out := fromItem{private: s.private}
	if strings.Count(s.text, " ") == 2 && f.q.d.One(4) { // a single name: its columns keep theirs
		for _, c := range s.columns {
			c.ref = c.ref[strings.LastIndexByte(c.ref, '.'):]
			out.columns = append(out.columns, c)
		}
		out.text = "(SELECT " + detrand.Pick(f.q.d, []string{"*", strings.Fields(s.text)[2] + ".*"}) + " FROM " + s.text + f.where(s) + ")"
		return out
	}
	var list []string
	show := func(text string, c column) {
		name := f.q.name()
		list = append(list, text+" AS "+name)
		c.ref = "." + name
		out.columns = append(out.columns, c)
	}
	for _, c := range s.columns {
		if c.identity != "" && !f.q.d.One(4) || c.identity == "" && f.q.d.One(2) {
			show(c.ref, c)
		}
	}
	for range 1 + f.q.d.Below(2) {
		k := detrand.Pick(f.q.d, []kind{whole1, number, words, truth, date})
		show(f.q.exprs().expr(s, k, 2), column{kind: k})
	}
	out.text = "(SELECT " + strings.Join(list, ", ") + " FROM " + s.text + f.where(s) + ")"
	return out
}

// commas makes a SELECT of rows of several tables that WHERE joins; boldly, of something else than
// the person, or only perhaps.
func (f fromMaker) commas() (fromItem, bool) {
	all := []fromItem{f.base(), f.base()}
	if f.q.d.One(3) {
		all = append(all, f.base())
	}
	if len(f.q.public()) > 0 && f.q.d.One(4) {
		all = append(all, f.q.table(detrand.Pick(f.q.d, f.q.public())))
	}
	var from, where []string
	both := all[0]
	for i, s := range all {
		from = append(from, s.text)
		if i == 0 || !s.private {
			continue
		}
		a, b, ok := f.q.linked(all[f.q.d.Below(i)], s)
		if !ok {
			return fromItem{}, false
		}
		link := a + " = " + b
		if f.q.bold() {
			link = detrand.Pick(f.q.d, []string{a + " <> " + b, "(" + link + " OR " + f.q.exprs().expr(both, truth, 1) + ")", a + " = " + a,
				"NOT (" + link + ")"})
		}
		where, both = append(where, link), both.and(s, "")
	}
	if f.q.d.One(2) {
		where = append([]string{f.q.exprs().expr(both, truth, 1)}, where...)
	}
	out := fromItem{private: true}
	var list []string
	for _, c := range both.columns {
		if c.identity == "" && !f.q.d.One(3) {
			continue
		}
		name := f.q.name()
		list = append(list, c.ref+" AS "+name)
		c.ref = "." + name
		out.columns = append(out.columns, c)
	}
	if len(list) == 0 {
		return fromItem{}, false
	}
	out.text = "(SELECT " + strings.Join(list, ", ") + " FROM " + strings.Join(from, detrand.Pick(f.q.d, []string{", ", " CROSS JOIN "})) +
		" WHERE " + strings.Join(where, " AND ") + ")"
	return out, f.q.bold() || f.q.accepts("SELECT COUNT(*) FROM "+out.text+" AS "+f.q.name())
}

func (f fromMaker) union(depth int) fromItem {
	kinds := []kind{detrand.Pick(f.q.d, []kind{whole1, number}), detrand.Pick(f.q.d, []kind{words, truth, date})}
	out := fromItem{private: true}
	var parts []string
	who := !f.q.dataset.Unit.Row() && f.q.d.One(2)
	for i := range 2 + f.q.d.Below(2) {
		s := f.from(depth - 1)
		var list []string
		unit, ok := f.q.column(s, 'i')
		for tries := 0; who && !ok && tries < 9; tries++ { // all parts have it
			s = f.base()
			unit, ok = f.q.column(s, 'i')
		}
		if who && ok {
			name := f.q.name()
			list = append(list, unit.ref+" AS "+name)
			if i == 0 {
				out.columns = append(out.columns, column{ref: "." + name, identity: unit.identity})
			}
		}
		for _, k := range kinds {
			name := f.q.name()
			list = append(list, f.q.exprs().expr(s, k, 1)+" AS "+name)
			if i == 0 {
				out.columns = append(out.columns, column{ref: "." + name, kind: k})
			}
		}
		parts = append(parts, "SELECT "+strings.Join(list, ", ")+" FROM "+s.text+f.where(s))
	}
	out.text = "(" + strings.Join(parts, " UNION ALL ") + ")"
	return out
}

// join makes a join: with a public table, or of rows of the same person.
func (f fromMaker) join(depth int) fromItem {
	l := f.from(depth)
	if len(f.q.public()) > 0 && f.q.d.One(2) {
		r := f.q.table(detrand.Pick(f.q.d, f.q.public()))
		x, ok1 := f.q.column(l, wide)
		y, ok2 := f.q.column(r, wide)
		on := f.q.exprs().expr(l.and(r, ""), truth, 1)
		if ok1 && ok2 && !f.q.d.One(4) {
			on = x.ref + " = " + y.ref
		}
		switch f.q.d.Below(6) {
		case 0:
			if f.q.bold() {
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
	r := f.from(depth - 1)
	a, b, ok := f.q.linked(l, r)
	if !ok {
		return l
	}
	on := a + " = " + b
	if f.q.bold() { // a link to itself, or one of two
		on = detrand.Pick(f.q.d, []string{a + " = " + a, "(" + on + " OR " + f.q.exprs().expr(l.and(r, ""), truth, 1) + ")",
			f.q.exprs().expr(l.and(r, ""), truth, 1), a + " <> " + b})
	}
	if f.q.d.One(3) {
		on += " AND " + f.q.exprs().expr(l.and(r, ""), truth, 1)
	}
	how := detrand.Pick(f.q.d, []string{" JOIN ", " JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN "})
	if how == " FULL JOIN " && !f.q.bold() { // of persons, and of nothing else
		if on = a + " = " + b; !f.q.accepts("SELECT COUNT(*) FROM " + l.text + how + r.text + " ON " + on) {
			how = " JOIN "
		}
	}
	if strings.Contains(r.text, " JOIN ") {
		r.text = "(" + r.text + ")"
	}
	if name := a[strings.LastIndexByte(a, '.')+1:]; strings.HasSuffix(b, "."+name) &&
		strings.Count(l.text+r.text, " ") == 4 && f.q.d.One(2) {
		if f.q.d.One(2) {
			return l.and(r, l.text+" NATURAL"+how+r.text)
		}
		return l.and(r, l.text+how+r.text+" USING ("+name+")")
	}
	return l.and(r, l.text+how+r.text+" ON "+on)
}
