package plan

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/policy"
)

// Union is UNION ALL: the rows of all parts. The parts have as many fields, of the same kinds and on the
// same lattices, in the same order; a field's interval holds those of all parts.
type Union struct {
	Parts []*Select

	fields []Field
	single bool
}

func (u *Union) Fields() []Field { return u.fields }
func (u *Union) Unit() int       { return u.Parts[0].Unit() }
func (u *Union) Single() bool    { return u.single }

func (u *Union) rows() int64 {
	if u.single {
		return 1
	}
	n := int64(0)
	for _, p := range u.Parts {
		n = atMost(n + p.rows())
	}
	return n
}

func (u *Union) groups() int64 {
	if u.single {
		return 1
	}
	n := int64(0)
	for _, p := range u.Parts {
		n = atMost(n + p.groups())
	}
	return n
}

func (u *Union) tables(add func(*policy.Table)) {
	for _, p := range u.Parts {
		p.tables(add)
	}
}

func (u *Union) format(b *strings.Builder) {
	b.WriteString("(union")
	for _, p := range u.Parts {
		b.WriteByte(' ')
		p.format(b)
	}
	b.WriteByte(')')
}

// union reads UNION ALL of rows.
func (e *env) union(s *pg.SelectStmt, pos int32) (Relation, error) {
	if s.Op != pg.SetOperation_SETOP_UNION || !s.All {
		return nil, refuse(pos, "use UNION ALL, or combine answers outside", "UNION without ALL, INTERSECT and EXCEPT cannot be used on rows, because one person's row would decide about another's")
	}
	var parts []*Select
	var gather func(s *pg.SelectStmt) error
	gather = func(s *pg.SelectStmt) error {
		if isSet(s) && s.Op == pg.SetOperation_SETOP_UNION && s.All && s.WithClause == nil {
			if err := gather(s.Larg); err != nil {
				return err
			}
			return gather(s.Rarg)
		}
		r, err := e.subquery(s, pos)
		if err != nil {
			return err
		}
		part, ok := r.(*Select)
		if !ok {
			part = identity(r)
		}
		parts = append(parts, part)
		return nil
	}
	for _, side := range []*pg.SelectStmt{s.Larg, s.Rarg} {
		if err := gather(side); err != nil {
			return nil, err
		}
	}
	return newUnion(parts, pos)
}

// identity selects the named fields of a relation.
func identity(r Relation) *Select {
	var names []string
	var columns []Expr
	for i, f := range r.Fields() {
		if f.Name != "" {
			names, columns = append(names, f.Name), append(columns, columnOf(r, i))
		}
	}
	return newSelect(r, nil, names, columns)
}

// newUnion brings the parts to one type, column by column. The unit stays, and identities that mean the same in all parts.
func newUnion(parts []*Select, pos int32) (Relation, error) {
	visible := func(s *Select) (names []string, columns []Expr) {
		for i, f := range s.fields {
			if f.Name != "" {
				names, columns = append(names, f.Name), append(columns, s.Columns[i])
			}
		}
		return names, columns
	}
	names, _ := visible(parts[0])
	all := make([][]Expr, len(parts))
	for i, p := range parts {
		var these []string
		these, all[i] = visible(p)
		if len(these) != len(names) {
			return nil, refuse(pos, "select as many columns in each", "the parts of UNION ALL have %d and %d columns", len(names), len(these))
		}
		if private(p) != private(parts[0]) {
			return nil, refuse(pos, "combine private with private and public with public", "UNION ALL of private and public rows cannot be used")
		}
	}
	kept := make([]bool, len(names)) // columns that are one identity in all parts
	for c := range names {
		column := make([]Expr, len(parts))
		for i := range parts {
			column[i] = all[i][c]
		}
		kept[c] = oneIdentity(column)
		column, err := unify(column, "UNION ALL", pos)
		if err != nil {
			return nil, err
		}
		for i := range parts {
			all[i][c] = normal(column[i])
			_, plain := all[i][c].(*Column) // one on a finer lattice is none any more
			kept[c] = kept[c] && plain
		}
	}
	u := &Union{}
	for i, p := range parts {
		u.Parts = append(u.Parts, newPart(p, names, all[i], kept))
	}
	if err := u.oneUnit(pos); err != nil {
		return nil, err
	}
	for c := range u.Parts[0].fields {
		u.fields = append(u.fields, u.field(c))
	}
	return u, nil
}

// oneIdentity reports whether a column means the same persons or things in all parts of a union. Where it is not listed in all of
// them, it is taken as it is stored.
func oneIdentity(column []Expr) bool {
	first, ok := column[0].(*Column)
	if !ok || first.Field.Identity == "" {
		return false
	}
	raw := false
	for _, e := range column {
		c, ok := e.(*Column)
		if !ok || c.Field.Identity != first.Field.Identity {
			return false
		}
		raw = raw || c.Field.raw()
	}
	for i, e := range column {
		if raw {
			column[i] = e.(*Column).stored()
		}
	}
	return true
}

// newPart is a part of a union: its columns, the identities that are kept, and the unit.
func newPart(s *Select, names []string, columns []Expr, kept []bool) *Select {
	p := &Select{From: s.From, Where: s.Where, unit: -1}
	for i, e := range columns {
		f := Field{Name: names[i], Type: e.Type(), Nullable: nullable(e), Derived: derived(e) != nil}
		if c, ok := e.(*Column); ok {
			f.Source, f.Public = c.Field.Source, c.Field.Public
		}
		p.Columns, p.fields = append(p.Columns, e), append(p.fields, f)
	}
	for i, e := range columns {
		if c, ok := e.(*Column); ok && kept[i] {
			p.fields[i].Identity, p.fields[i].Derived = c.Field.Identity, false
			if !c.Field.raw() {
				p.fields[i].Twin = p.append(c.Index+c.Field.Twin) - i
			}
		}
	}
	if private(s) {
		p.unit = p.append(s.From.Unit()) // at one place in all parts, whatever else they pass on
	}
	return p
}

// oneUnit makes sure that a person is one person in all parts. Where every row is a person, that is so only if no table
// is there twice; then nobody has more than one row.
func (u *Union) oneUnit(pos int32) error {
	if !private(u.Parts[0]) {
		return nil
	}
	identity := func(s *Select) string { return s.fields[s.unit].Identity }
	same := true
	for _, p := range u.Parts {
		same = same && identity(p) == identity(u.Parts[0])
	}
	rowUnit := false // said by the tables, because a table may be called "row of"
	u.tables(func(t *policy.Table) { rowUnit = rowUnit || !t.Public && t.UnitKind == policy.Row })
	if same && !rowUnit {
		return nil
	}
	seen := map[*policy.Table]bool{}
	twice := false
	u.single = true
	for _, p := range u.Parts {
		u.single = u.single && p.Single()
		p.tables(func(t *policy.Table) {
			twice = twice || seen[t] && !t.Public
			seen[t] = true
		})
	}
	if twice || !u.single {
		return refuse(pos, "ask about each table on its own", "every row is a person of its own here, and UNION ALL would show some of them several times")
	}
	return nil
}

// field is a column of the union: as wide as the widest part.
func (u *Union) field(c int) Field {
	f := u.Parts[0].fields[c]
	var columns []Expr
	for _, p := range u.Parts {
		columns = append(columns, p.Columns[c])
	}
	f.Type = hull(columns)
	for _, p := range u.Parts[1:] {
		g := p.fields[c]
		f.Nullable = f.Nullable || g.Nullable
		if f.Source != g.Source {
			f.Source, f.Public = nil, ""
		}
		if f.Identity != g.Identity {
			f.Derived = true
			f.Identity, f.Twin = "", 0
		}
		f.Derived = f.Derived || g.Derived
		f.Key = false
	}
	return f
}
