package plan

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/policy"
)

// subquery reads a SELECT of rows: without aggregates, or grouped by the unit.
func (e *env) subquery(s *pg.SelectStmt, pos int32) (Relation, error) {
	if s == nil {
		return nil, refuse(pos, "write (SELECT ... FROM ...)", "this is not a SELECT")
	}
	if err := refuseRows(s, pos); err != nil {
		return nil, err
	}
	e, err := e.inside(pos)
	if err != nil {
		return nil, err
	}
	if e, err = e.with(s.WithClause); err != nil {
		return nil, err
	}
	if isSet(s) {
		return e.union(s, pos)
	}
	from, err := e.from(s.FromClause)
	if err != nil {
		return nil, err
	}
	q := &question{env: e, rows: from, extend: true}
	if err := q.where(s); err != nil {
		return nil, err
	}
	if isAggregated(s) {
		return q.persons(s, pos)
	}
	names, columns, err := q.columns(s.TargetList)
	if err != nil {
		return nil, err
	}
	return newSelect(q.rows.Relation, q.filter, names, columns), nil
}

// refuseRows refuses what would let one person's row decide about another's: which rows there are is
// decided row by row below the noise.
func refuseRows(s *pg.SelectStmt, pos int32) error {
	if err := refuseClauses(s); err != nil {
		return err
	}
	for _, c := range []struct {
		present       bool
		at            int32
		what, instead string
	}{
		{len(s.DistinctClause) > 0, first(s.DistinctClause), "DISTINCT", "count with COUNT(DISTINCT ...), or group outside"},
		{s.LimitCount != nil, location(s.LimitCount), "LIMIT", "put it outside, where it is applied to the answer"},
		{s.LimitOffset != nil, location(s.LimitOffset), "OFFSET", "put it outside, where it is applied to the answer"},
		{s.HavingClause != nil, location(s.HavingClause), "HAVING", "put the condition into WHERE outside of the subquery"},
	} {
		if c.present {
			return refuse(c.at, c.instead, "%s cannot be used in a subquery of rows", c.what)
		}
	}
	return nil
}

// columns reads the SELECT list of rows.
func (q *question) columns(targets []*pg.Node) (names []string, columns []Expr, err error) {
	for _, n := range targets {
		t := n.GetResTarget()
		if ref := t.GetVal().GetColumnRef(); ref != nil && ref.Fields[len(ref.Fields)-1].GetAStar() != nil {
			if err := q.star(ref, func(c *Column) {
				names, columns = append(names, c.Field.Name), append(columns, c)
			}); err != nil {
				return nil, nil, err
			}
			continue
		}
		e, err := checkExpr(below{q}, t.GetVal())
		if err != nil {
			return nil, nil, err
		}
		if err := checkLevels(e, location(t.GetVal())); err != nil {
			return nil, nil, err
		}
		e = normal(adoptText(e))
		name := t.GetName()
		if name == "" {
			name = targetName(t.GetVal())
		}
		names, columns = append(names, name), append(columns, e)
	}
	if name := repeated(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "?column?" })); name != "" {
		return nil, nil, refuse(first(targets), "give every column a name of its own with AS", "two columns of the subquery are called %q", name)
	}
	if len(columns) > maxColumns {
		return nil, nil, refuse(first(targets), "select fewer columns", "the subquery has more than %d columns", maxColumns)
	}
	return names, columns, nil
}

// maxColumns bounds the columns of a subquery, which * makes longer than its text.
const maxColumns = 500

// star calls f for the columns that * or table.* stands for.
func (q *question) star(ref *pg.ColumnRef, f func(*Column)) error {
	table := ""
	if len(ref.Fields) == 2 {
		table = ref.Fields[0].GetString_().GetSval()
	}
	found := false
	for _, b := range q.rows.names {
		if table != "" && !strings.EqualFold(b.name, table) {
			continue
		}
		found = true
		for i := b.from; i < b.upto; i++ {
			field := q.rows.Fields()[i]
			if field.Name != "" && !(field.raw() && q.listed(b, field.Name)) && (table != "" || !slices.Contains(b.hidden, i)) {
				f(columnOf(q.rows.Relation, i))
			}
		}
	}
	if !found || len(ref.Fields) > 2 {
		return refuse(ref.Location, "the tables here are "+q.rows.bindings(), "there is no such table in this subquery")
	}
	return nil
}

// listed reports whether a name of a table is also a listed column, whose stored form then comes along by itself.
func (q *question) listed(b binding, name string) bool {
	return slices.ContainsFunc(q.rows.Fields()[b.from:b.upto], func(f Field) bool { return !f.raw() && strings.EqualFold(f.Name, name) })
}

// targetName is what PostgreSQL calls a column that has no AS.
func targetName(n *pg.Node) string {
	switch x := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return x.ColumnRef.Fields[len(x.ColumnRef.Fields)-1].GetString_().GetSval()
	case *pg.Node_FuncCall:
		name := functionName(x.FuncCall)
		return name[strings.LastIndexByte(name, '.')+1:]
	case *pg.Node_TypeCast:
		return targetName(x.TypeCast.Arg)
	case *pg.Node_CaseExpr:
		return "case"
	case *pg.Node_CoalesceExpr:
		return "coalesce"
	}
	return "?column?"
}

// adoptText gives a constant without a type the one it has on its own.
func adoptText(e Expr) Expr {
	if e.Type().Kind == 0 {
		return adopt(e, newText(""))
	}
	return e
}

func isSet(s *pg.SelectStmt) bool {
	return s.Op != pg.SetOperation_SETOP_NONE && s.Op != pg.SetOperation_SET_OPERATION_UNDEFINED
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
