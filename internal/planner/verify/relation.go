package verify

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// rows is what follows about the rows of a relation.
type rows struct {
	fields []field
	unit   int  // the field that says whose a row is; -1 where rows are about nobody
	single bool // nobody has more than one row
	// limit and groups are the most that of one person's rows, and groups, may count.
	limit, groups int64
	// cuts are how many fields a row had before subqueries that are values were joined to it, and
	// the number that it has now: the row that asks, for an EXISTS in an expression over it.
	cuts []int
	// private are the private tables in it, each as often as it is there.
	private []*policy.Table
}

// mostRows is the largest limit that a policy can say, and so that of a join.
const mostRows = 1_000_000

func limited(n int64) int64 { return max(1, min(n, mostRows)) }

func product(a, b int64) int64 { return limited(limited(a) * limited(b)) }

// relation derives the rows of a relation, and compares them with what it claims.
func (c *relationChecker) relation(r tree.Relation) (out rows) {
	c.locate(r, func() {
		switch r := r.(type) {
		case *tree.Scan:
			out = c.scan(r)
		case *tree.Join:
			out = c.join(r)
		case *tree.Select:
			out = c.selection(r)
		case *tree.Union:
			out = c.union(r)
		case *tree.Persons:
			out = c.persons(r)
		case *tree.Window:
			out = c.window(r)
		case *tree.Cut:
			out = c.cut(r)
		default:
			c.fail("no relation that is known here")
		}
		c.compareClaims(r, out)
	})
	return out
}

func (c *relationChecker) compareClaims(r tree.Relation, own rows) {
	fields := r.Fields()
	c.must(len(fields) == len(own.fields), "it has %d fields and claims %d", len(own.fields), len(fields))
	c.must(r.Unit() == own.unit, "its unit is claimed to be field %d and is field %d", r.Unit(), own.unit)
	c.must(own.unit < 0 || own.fields[own.unit].raw(), "its unit is not an identity as it is stored")
	c.must(!r.Single() || own.single, "that nobody has more than one row does not follow")
	for i, f := range own.fields {
		c.compareField(fields[i], f)
		// A listed column that is an identity knows where the same stands as it is stored.
		if g := fields[i]; g.Twin != 0 {
			at := i + g.Twin
			c.must(at >= 0 && at < len(own.fields) && own.fields[at].raw() && own.fields[at].identity == f.identity,
				"field %d does not stand there as it is stored", i)
		}
	}
}

// compareField compares what is claimed of a field with what it is. An identity may be given up,
// but then the field still says that it was one.
func (c *relationChecker) compareField(claimed tree.Field, own field) {
	c.claim(claimed.Type, own.fact)
	if claimed.Identity != own.identity && claimed.Identity != "" {
		c.fail("a field claims to name %q and names %q", claimed.Identity, own.identity)
	}
	c.must(claimed.Derived || !own.derived && (own.identity == "" || claimed.Identity != ""),
		"a field does not say that it is about who or what a row is about")
	c.must(!claimed.Serial || own.serial, "that no two rows of one person have the same number in a field does not follow")
	c.must(!claimed.Key || own.key, "that no two rows have the same value in a field does not follow")
	c.must(claimed.Source == own.source || claimed.Source == nil, "a field claims to be a column of the policy that it is not")
	c.must(claimed.Public == own.public || claimed.Source == nil && claimed.Public == "",
		"a field claims to be of a public table that it is not of")
}

// scan derives the fields of a table from the policy: the listed columns as declared, and then the
// identities as they are stored.
func (c *relationChecker) scan(s *tree.Scan) rows {
	t := s.Table
	c.must(t != nil && c.ds.Tables[t.Name] == t, "it is no table of the policy")
	out := rows{unit: -1, limit: t.MaxRows, groups: t.MaxGroups}
	for _, name := range t.ColumnNames() {
		col := t.Columns[name]
		f := field{fact: declared(col), name: col.Name, source: col}
		if t.Public {
			f.public, f.key = t.Name, t.UniqueColumn != "" && col.Name == t.UniqueColumn
		}
		out.fields = append(out.fields, f)
	}
	if !t.Public {
		c.must(t.UnitKind != policy.NoUnit, "a private table in which nobody is named")
		out.private = []*policy.Table{t}
		out.single = t.UnitKind == policy.Unique || t.UnitKind == policy.Row
		c.identities(t, &out)
	}
	out.cuts = []int{len(out.fields)}
	for i, f := range s.Fields() {
		if i < len(out.fields) {
			if f.Name != out.fields[i].name {
				c.fail("field %d of the table %q is called %q and should be %q", i, t.Name, f.Name, out.fields[i].name)
			}
		}
	}
	return out
}

// identities adds the columns that say whose a row of a table is, and what it is a part of.
func (c *relationChecker) identities(t *policy.Table, out *rows) {
	add := func(name, identity string, key bool) int {
		for i, f := range out.fields {
			if f.raw() && f.identity == identity && f.name == name {
				return i
			}
		}
		for i := range out.fields {
			if f := &out.fields[i]; !f.raw() && f.identity == "" && name != "" && sameName(f.name, name) {
				f.identity = identity // a declared column may be clamped, so that two rows are one in it: no key
			}
		}
		out.fields = append(out.fields, field{fact: fact{kind: tree.Identity}, name: name, identity: identity, key: key})
		return len(out.fields) - 1
	}
	if c.ds.Unit.Row() {
		out.unit = add("", "row of "+t.Name, true)
	} else {
		out.unit = add(t.UnitColumn, named(c.ds.Unit.Table, c.ds.Unit.Column), t.UnitKind == policy.Unique)
	}
	if len(t.Path) > 1 {
		first := t.Path[0]
		add(first.Column, named(first.Table, first.Key), false)
	}
	for _, name := range c.ds.TableNames() {
		if child := c.ds.Tables[name]; len(child.Path) > 1 && child.Path[0].Table == t.Name {
			add(child.Path[0].Key, named(t.Name, child.Path[0].Key), true)
		}
	}
}

func (c *relationChecker) join(j *tree.Join) rows {
	l, r := c.relation(j.L), c.relation(j.R)
	n := len(l.fields)
	on := l.scope(j.L).join(n, r, j.R)
	out := rows{fields: slices.Clone(on.fields), unit: -1, private: slices.Concat(l.private, r.private)}
	c.exprs.checkCondition(on, j.On)
	bothPrivate := l.unit >= 0 && r.unit >= 0
	c.must(!bothPrivate || linked(on, j.On, n), "rows of two people can meet in it")
	c.must(!j.Left || l.unit >= 0 || r.unit < 0, "rows that belong to nobody are kept beside private ones")
	switch {
	case l.unit >= 0 && (r.unit < 0 || j.Left || j.Unit() == l.unit):
		out.unit = l.unit
	case r.unit >= 0:
		out.unit = n + r.unit
	}
	keyedL, keyedR := keyed(on, j.On, 0, n), keyed(on, j.On, n, len(out.fields))
	for i := range out.fields {
		// A row that has at most one partner is not there twice.
		partner := keyedR
		if i >= n {
			partner = keyedL
		}
		out.fields[i].key, out.fields[i].serial = out.fields[i].key && partner, out.fields[i].serial && partner
	}
	out.limit, out.groups = product(l.limit, r.limit), max(l.groups, r.groups)
	switch {
	case bothPrivate:
		out.single = l.single && r.single // one row of each, or none
		switch {
		case keyedR:
			out.limit = l.limit
		case keyedL && !j.Left:
			out.limit = r.limit
		case keyedL:
			out.limit = max(l.limit, r.limit)
		}
	case l.unit >= 0:
		out.single = l.single && keyedR
		if out.groups = max(l.groups, limited(r.limit)); keyedR {
			out.limit = l.limit
		}
	case r.unit >= 0:
		out.single = r.single && keyedL
		if out.groups = max(r.groups, limited(l.limit)); keyedL {
			out.limit = r.limit
		}
	}
	if j.Full {
		c.fullJoin(j, on, l, r, &out)
	}
	out.cuts = []int{len(out.fields)}
	if _, value := j.R.(*tree.Persons); value && j.Left {
		out.cuts = append(out.cuts, l.cuts...)
	}
	return out
}

func conjuncts(e tree.Expr) []tree.Expr {
	switch x := e.(type) {
	case nil:
		return nil
	case *tree.Logic:
		if x.Op == tree.And {
			var out []tree.Expr
			for _, a := range x.Args {
				out = append(out, conjuncts(a)...)
			}
			return out
		}
	}
	return []tree.Expr{e}
}

// fullJoin derives what a FULL JOIN has beside the pairs. Whose a row without a partner is, is
// known on the one side that it comes from; that it has none must be decided by that person's rows
// alone, and it is where On compares the persons and nothing else.
func (c *relationChecker) fullJoin(j *tree.Join, on *scope, l, r rows, out *rows) {
	n := len(l.fields)
	c.must(j.Left && l.unit >= 0 && r.unit >= 0, "rows that belong to nobody are kept beside private ones")
	var a, b *tree.Column
	if eq, ok := j.On.(*tree.Compare); ok && eq.Op == tree.Eq {
		a, _ = eq.L.(*tree.Column)
		b, _ = eq.R.(*tree.Column)
	}
	c.must(a != nil && b != nil && min(a.Index, b.Index) == l.unit && max(a.Index, b.Index) == n+r.unit,
		"something else than the person decides which rows have a partner")
	for i := range out.fields {
		out.fields[i].key = false
	}
	person := field{fact: fact{kind: tree.Identity}, identity: on.fields[l.unit].identity}
	out.unit, out.fields = len(out.fields), append(out.fields, person)
	if out.limit = limited(max(product(l.limit, r.limit), l.limit+r.limit)); out.single {
		out.limit = 1
	}
}

// linked reports whether a condition asks that a row of the first n fields and a row of the others
// are about one person: that the same identity is equal in both, as it is stored.
func linked(s *scope, on tree.Expr, n int) bool {
	for _, e := range conjuncts(on) {
		eq, ok := e.(*tree.Compare)
		if !ok || eq.Op != tree.Eq {
			continue
		}
		a, ok1 := eq.L.(*tree.Column)
		b, ok2 := eq.R.(*tree.Column)
		if !ok1 || !ok2 || (a.Index < n) == (b.Index < n) {
			continue
		}
		x, y := s.fields[a.Index], s.fields[b.Index]
		if x.raw() && y.raw() && x.identity != "" && x.identity == y.identity {
			return true
		}
	}
	return false
}

// keyed reports whether at most one row of the side with the fields from..upto fits to a row of the
// other: a key of it is equal to something that the other row alone decides.
func keyed(s *scope, on tree.Expr, from, upto int) bool {
	own := func(i int) bool { return i >= from && i < upto }
	for _, e := range conjuncts(on) {
		eq, ok := e.(*tree.Compare)
		if !ok || eq.Op != tree.Eq {
			continue
		}
		for _, sides := range [][2]tree.Expr{{eq.L, eq.R}, {eq.R, eq.L}} {
			if k, ok := sides[0].(*tree.Column); ok && own(k.Index) && s.fields[k.Index].key && !names(sides[1], own) {
				return true
			}
		}
	}
	return false
}

// names reports whether an expression could depend on one of some fields. Of a subquery nobody
// looks which.
func names(e tree.Expr, which func(int) bool) bool {
	switch e := e.(type) {
	case *tree.Column:
		return which(e.Index)
	case *tree.Exists:
		return true
	}
	return slices.ContainsFunc(parts(e), func(p tree.Expr) bool { return names(p, which) })
}

// selection derives the rows of a subquery without aggregates.
func (c *relationChecker) selection(s *tree.Select) rows {
	from := c.relation(s.From)
	in := from.scope(s.From)
	c.exprs.checkCondition(in, s.Where)
	out := rows{unit: -1, single: from.single, limit: from.limit, groups: from.groups, private: from.private, cuts: []int{len(s.Columns)}}
	if s.One {
		c.must(from.unit >= 0 && slices.ContainsFunc(conjuncts(s.Where), func(e tree.Expr) bool { return numbered(in, e) }),
			"that one row of each person is left does not follow")
		out.single, out.limit, out.groups = true, 1, 1
	}
	for _, e := range s.Columns {
		f := field{fact: c.exprs.expr(in, e)}
		if col, ok := e.(*tree.Column); ok {
			f = from.fields[col.Index]
		}
		out.fields = append(out.fields, f)
	}
	if at := s.Unit(); from.unit >= 0 && at >= 0 && at < len(s.Columns) {
		if col, ok := s.Columns[at].(*tree.Column); ok && col.Index == from.unit {
			out.unit = at
		}
	}
	c.must((from.unit < 0) == (out.unit < 0), "it does not pass on whose a row is")
	return out
}

// numbered reports whether a condition says which of a person's rows it is: that a number which no
// two of them share is a constant. The largest one stands for all above it.
func numbered(s *scope, e tree.Expr) bool {
	eq, ok := e.(*tree.Compare)
	if !ok || eq.Op != tree.Eq {
		return false
	}
	col, ok1 := eq.L.(*tree.Column)
	n, ok2 := eq.R.(*tree.Literal)
	if !ok1 || !ok2 || n.Number == nil {
		return false
	}
	f := s.fields[col.Index]
	return f.serial && sameStep(n.Type().Step, f.step) && n.Number.Cmp(f.hi) < 0
}

func (c *relationChecker) union(u *tree.Union) rows {
	c.must(len(u.Parts) > 0, "a union of nothing")
	parts := make([]rows, len(u.Parts))
	for i, p := range u.Parts {
		parts[i] = c.relation(p)
	}
	first := parts[0]
	out := rows{unit: first.unit, single: true, cuts: []int{len(first.fields)}}
	for _, p := range parts {
		c.must(len(p.fields) == len(first.fields), "its parts have %d and %d fields", len(first.fields), len(p.fields))
		c.must(p.unit == first.unit, "its parts do not have the unit at one place")
		out.limit, out.groups = limited(out.limit+p.limit), limited(out.groups+p.groups)
		out.single = out.single && p.single
		out.private = append(out.private, p.private...)
	}
	for i := range first.fields {
		out.fields = append(out.fields, c.unionField(parts, i))
	}
	// Where every row is a person of its own, rows of different tables are of different people, and
	// nobody has two.
	twice, byRow := false, false
	for i, t := range out.private {
		twice = twice || slices.Contains(out.private[:i], t)
		byRow = byRow || t.UnitKind == policy.Row
	}
	if byRow {
		c.must(out.single && !twice, "some people of whom every row is one are there several times")
		out.limit, out.groups = 1, 1
	} else {
		out.single = false
		c.must(out.unit < 0 || out.fields[out.unit].identity != "", "its parts are about different kinds of people")
	}
	return out
}

// unionField is a field of a union: what holds in all parts.
func (c *relationChecker) unionField(parts []rows, i int) field {
	out := parts[0].fields[i]
	all := make([]fact, len(parts))
	for k, p := range parts {
		f := p.fields[i]
		all[k] = f.fact
		if f.source != out.source {
			out.source, out.public = nil, ""
		}
		if f.identity != out.identity {
			all[k].derived = true
			out.identity = ""
		}
	}
	out.fact = c.hull(all)
	out.key, out.serial = false, false
	return out
}

// cut derives the rows of which so many of each person are there: the same ones, and none of
// nobody. Which ones is decided by all their fields, so an engine may have decided none of them.
func (c *relationChecker) cut(r *tree.Cut) rows {
	out := c.relation(r.From)
	c.must(out.unit >= 0, "rows of nobody are cut by the person")
	c.must(r.Rows >= 1, "of one person %d rows are left", r.Rows)
	c.must(!slices.ContainsFunc(out.fields, func(f field) bool { return f.lost }),
		"which rows of a person are left depends on where they are stored")
	return out
}
