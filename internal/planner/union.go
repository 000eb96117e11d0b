package planner

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// newSelect makes a subquery from named columns over a relation's fields.
func newSelect(from tree.Relation, where tree.Expr, names []string, columns []tree.Expr) *tree.Select {
	s := &tree.Select{From: from, Where: where, UnitField: -1}
	for i, e := range columns {
		f := tree.Field{Name: names[i], Type: e.Type(), Nullable: expr.Nullable(e), Derived: tree.Derived(e) != nil}
		if c, ok := e.(*tree.Column); ok {
			f = c.Field
			f.Name = names[i]
		}
		s.Columns, s.Row = append(s.Columns, e), append(s.Row, f)
	}
	for i, e := range columns {
		if c, ok := e.(*tree.Column); ok && c.Field.Identity != "" && !c.Field.Raw() {
			s.Row[i].Twin = passField(s, c.Index+c.Field.Twin) - i
		}
	}
	if tree.Private(from) {
		s.UnitField = passField(s, from.Unit())
	}
	return s
}

// passField adds a field of From as it is, without a name, once.
func passField(s *tree.Select, field int) int {
	for i, e := range s.Columns {
		if c, ok := e.(*tree.Column); ok && c.Index == field && s.Row[i].Raw() && s.Row[i].Name == "" {
			return i
		}
	}
	return appendField(s, field)
}

// appendField adds a field of From as it is, without a name.
func appendField(s *tree.Select, field int) int {
	f := s.From.Fields()[field]
	f.Name = ""
	s.Columns, s.Row = append(s.Columns, tree.NewColumn(s.From, field)), append(s.Row, f)
	return len(s.Row) - 1
}

func (rr rowReader) readUnion(s *pg.SelectStmt, pos int32) (tree.Relation, error) {
	if s.Op != pg.SetOperation_SETOP_UNION || !s.All {
		return nil, syntax.Refuse(syntax.Unsupported, pos, "use UNION ALL, or combine answers outside",
			"UNION without ALL, INTERSECT and EXCEPT cannot be used on rows, because one person's row would affect another's")
	}
	var parts []*tree.Select
	var gather func(s *pg.SelectStmt) error
	gather = func(s *pg.SelectStmt) error {
		if isSet(s) && s.Op == pg.SetOperation_SETOP_UNION && s.All && s.WithClause == nil {
			if err := gather(s.Larg); err != nil {
				return err
			}
			return gather(s.Rarg)
		}
		r, err := rr.readSubquery(s, pos)
		if err != nil {
			return err
		}
		part, ok := r.(*tree.Select)
		if !ok {
			part = selectNamed(r)
		}
		parts = append(parts, part)
		return nil
	}
	for _, side := range []*pg.SelectStmt{s.Larg, s.Rarg} {
		if err := gather(side); err != nil {
			return nil, err
		}
	}
	return rr.newUnion(parts, pos)
}

func selectNamed(r tree.Relation) *tree.Select {
	var names []string
	var columns []tree.Expr
	for i, f := range r.Fields() {
		if f.Name != "" {
			names, columns = append(names, f.Name), append(columns, tree.NewColumn(r, i))
		}
	}
	return newSelect(r, nil, names, columns)
}

// newUnion brings the parts to one type, column by column. The unit stays, and identities that mean
// the same in all parts.
func (rr rowReader) newUnion(parts []*tree.Select, pos int32) (tree.Relation, error) {
	visible := func(s *tree.Select) (names []string, columns []tree.Expr) {
		for i, f := range s.Row {
			if f.Name != "" {
				names, columns = append(names, f.Name), append(columns, s.Columns[i])
			}
		}
		return names, columns
	}
	names, _ := visible(parts[0])
	all := make([][]tree.Expr, len(parts))
	for i, p := range parts {
		var these []string
		these, all[i] = visible(p)
		if len(these) != len(names) {
			return nil, syntax.Refuse(syntax.Malformed, pos, "select the same number of columns in each",
				"the parts of UNION ALL have %d and %d columns",
				len(names), len(these))
		}
		if tree.Private(p) != tree.Private(parts[0]) {
			return nil, syntax.Refuse(syntax.Unsupported, pos, "combine private with private and public with public",
				"UNION ALL of private and public rows cannot be used")
		}
	}
	kept := make([]bool, len(names)) // columns that are one identity in all parts
	for c := range names {
		column := make([]tree.Expr, len(parts))
		for i := range parts {
			column[i] = all[i][c]
		}
		kept[c] = oneIdentity(column)
		column, err := expr.Unify(column, "UNION ALL", pos)
		if err != nil {
			return nil, err
		}
		for i := range parts {
			all[i][c] = rr.env.normal(column[i])
			_, plain := all[i][c].(*tree.Column) // one on a finer lattice is none any more
			kept[c] = kept[c] && plain
		}
	}
	u := &tree.Union{}
	for i, p := range parts {
		u.Parts = append(u.Parts, newPart(p, names, all[i], kept))
	}
	if err := refuseRepeatedUnit(u, pos); err != nil {
		return nil, err
	}
	for c := range u.Parts[0].Row {
		u.Row = append(u.Row, unionField(u, c))
	}
	return u, nil
}

// oneIdentity reports whether a column means the same persons or things in all parts of a union.
// Where it is not listed in all of them, it is taken as it is stored.
func oneIdentity(column []tree.Expr) bool {
	first, ok := column[0].(*tree.Column)
	if !ok || first.Field.Identity == "" {
		return false
	}
	raw := false
	for _, e := range column {
		c, ok := e.(*tree.Column)
		if !ok || c.Field.Identity != first.Field.Identity {
			return false
		}
		raw = raw || c.Field.Raw()
	}
	for i, e := range column {
		if raw {
			column[i] = e.(*tree.Column).Stored()
		}
	}
	return true
}

// newPart is a part of a union: its columns, the identities that are kept, and the unit.
func newPart(s *tree.Select, names []string, columns []tree.Expr, kept []bool) *tree.Select {
	p := &tree.Select{From: s.From, Where: s.Where, UnitField: -1}
	for i, e := range columns {
		f := tree.Field{Name: names[i], Type: e.Type(), Nullable: expr.Nullable(e), Derived: tree.Derived(e) != nil}
		if c, ok := e.(*tree.Column); ok {
			f.Source, f.Public = c.Field.Source, c.Field.Public
		}
		p.Columns, p.Row = append(p.Columns, e), append(p.Row, f)
	}
	for i, e := range columns {
		if c, ok := e.(*tree.Column); ok && kept[i] {
			p.Row[i].Identity, p.Row[i].Derived = c.Field.Identity, false
			if !c.Field.Raw() {
				p.Row[i].Twin = appendField(p, c.Index+c.Field.Twin) - i
			}
		}
	}
	if tree.Private(s) {
		p.UnitField = appendField(p, s.From.Unit()) // at one place in all parts, whatever else they pass on
	}
	return p
}

// refuseRepeatedUnit makes sure that a person is one person in all parts. Where every row is a
// person, that is so only if no table is there twice; then nobody has more than one row.
func refuseRepeatedUnit(u *tree.Union, pos int32) error {
	if !tree.Private(u.Parts[0]) {
		return nil
	}
	identity := func(s *tree.Select) string { return s.Row[s.UnitField].Identity }
	same := true
	for _, p := range u.Parts {
		same = same && identity(p) == identity(u.Parts[0])
	}
	rowUnit := false // said by the tables, because a table may be called "row of"
	u.EachTable(func(t *policy.Table) { rowUnit = rowUnit || !t.Public && t.UnitKind == policy.Row })
	if same && !rowUnit {
		return nil
	}
	seen := map[*policy.Table]bool{}
	twice := false
	u.IsSingle = true
	for _, p := range u.Parts {
		u.IsSingle = u.IsSingle && p.Single()
		p.EachTable(func(t *policy.Table) {
			twice = twice || seen[t] && !t.Public
			seen[t] = true
		})
	}
	if twice || !u.IsSingle {
		return syntax.Refuse(syntax.Unsupported, pos, "ask about each table separately",
			"every row is a separate person here, and UNION ALL would show some of them several times")
	}
	return nil
}

// unionField is a column of the union: as wide as the widest part.
func unionField(u *tree.Union, c int) tree.Field {
	f := u.Parts[0].Row[c]
	var columns []tree.Expr
	for _, p := range u.Parts {
		columns = append(columns, p.Columns[c])
	}
	f.Type = expr.Hull(columns)
	for _, p := range u.Parts[1:] {
		g := p.Row[c]
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
