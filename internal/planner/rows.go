package planner

import (
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

func NewScan(ds *policy.Dataset, t *policy.Table) *tree.Scan {
	s := &tree.Scan{Table: t, UnitField: -1}
	for _, name := range t.ColumnNames() {
		f := expr.ColumnField(t.Columns[name])
		if t.Public {
			f.Public = t.Name
			f.Key = f.Name == t.UniqueColumn
		}
		s.Row = append(s.Row, f)
	}
	if t.Public {
		return s
	}
	unit := tree.Field{Name: t.UnitColumn, Identity: tree.IdentityName(ds.Unit.Table, ds.Unit.Column), Key: t.UnitKind == policy.Unique}
	if ds.Unit.Row() {
		unit = tree.Field{Identity: "row of " + t.Name, Key: true}
	}
	s.UnitField = identityField(s, unit)
	if len(t.Path) > 1 {
		identityField(s, tree.Field{Name: t.Path[0].Column, Identity: tree.IdentityName(t.Path[0].Table, t.Path[0].Key)})
	}
	for _, name := range ds.TableNames() {
		child := ds.Tables[name]
		if len(child.Path) > 1 && child.Path[0].Table == t.Name {
			identityField(s, tree.Field{Name: child.Path[0].Key, Identity: tree.IdentityName(t.Name, child.Path[0].Key), Key: true})
		}
	}
	return s
}

// identityField adds a stored identity, once, and marks the listed column that it is.
func identityField(s *tree.Scan, f tree.Field) int {
	f.Type = tree.Type{Kind: tree.Identity}
	if i := slices.IndexFunc(s.Row, func(g tree.Field) bool { return g.Raw() && g.Identity == f.Identity && g.Name == f.Name }); i >= 0 {
		return i
	}
	f.Nullable = true
	at := len(s.Row)
	for i := range s.Row {
		if g := &s.Row[i]; !g.Raw() && f.Name != "" && strings.EqualFold(g.Name, f.Name) && g.Identity == "" {
			g.Identity, g.Twin = f.Identity, at-i // no key: a declared column may be clamped, and two rows be one in it
		}
	}
	s.Row = append(s.Row, f)
	return at
}

// rows is a relation with the names that a SELECT has for its fields.
type rows struct {
	tree.Relation
	names []binding
	// outer are the names outside of a subquery in a condition, over the same fields.
	outer *rows
	// taken are the conditions of WHERE that the joins of FROM have taken.
	taken []*pg.Node
}

// binding is a name of FROM and the fields it stands for.
type binding struct {
	name       string
	from, upto int
	// merged fields were joined by USING: the other side's name means the same.
	hidden []int
}

// joined puts the names of two sides side by side.
func (l rows) joined(r rows, j *tree.Join) (rows, error) {
	out := rows{Relation: j, names: slices.Clone(l.names)}
	n := len(l.Fields())
	for _, b := range r.names {
		if slices.ContainsFunc(l.names, func(a binding) bool { return a.name != "" && strings.EqualFold(a.name, b.name) }) {
			return rows{}, syntax.Refuse(syntax.DuplicateAlias, -1,
				"give one of them another name, as in FROM visits AS a JOIN visits AS b",
				"two tables of the question are called %q", b.name)
		}
		hidden := make([]int, len(b.hidden))
		for i, h := range b.hidden {
			hidden[i] = h + n
		}
		out.names = append(out.names, binding{b.name, b.from + n, b.upto + n, hidden})
	}
	return out, nil
}

// resolve finds a field by its name, perhaps with its table's.
func (r rows) resolve(name string, pos int32) (*tree.Column, error) {
	qualifier, column, qualified := strings.Cut(name, "\x00")
	if !qualified {
		column = qualifier
	}
	var found []int
	seen := false
	var near []string
	for _, b := range r.names {
		if qualified && !strings.EqualFold(b.name, qualifier) {
			continue
		}
		seen = true
		var here []int
		for i := b.from; i < b.upto; i++ {
			f := r.Fields()[i]
			if f.Name == "" {
				continue
			}
			near = append(near, f.Name)
			if strings.EqualFold(f.Name, column) && (qualified || !slices.Contains(b.hidden, i)) {
				here = append(here, i)
			}
		}
		// A listed column comes before the same one as it is stored.
		if len(here) > 1 {
			here = slices.DeleteFunc(here, func(i int) bool { return r.Fields()[i].Raw() })
		}
		found = append(found, here...)
	}
	if r.outer != nil && len(found) == 0 {
		c, err := r.outer.resolve(name, pos)
		if dotted := r.dotted(qualifier, column); err != nil && dotted != "" {
			err = refuseDotted(dotted, pos)
		}
		return c, err
	}
	dotted := r.dotted(qualifier, column)
	switch {
	case qualified && len(found) == 0 && dotted != "":
		return nil, refuseDotted(dotted, pos)
	case qualified && !seen:
		return nil, syntax.Refuse(syntax.NoTable, pos, "the tables here are "+r.bindings(), "there is no table %q in this question",
			qualifier)
	case len(found) == 0:
		slices.Sort(near)
		near = slices.Compact(near)
		more := ""
		if len(near) > 20 {
			near, more = near[:20], ", ..."
		}
		return nil, syntax.Refuse(syntax.NoColumn, pos, "the columns of "+r.bindings()+" are "+strings.Join(near, ", ")+more,
			"there is no column %q",
			column)
	case len(found) > 1:
		instead := "name the columns of both tables, as in COALESCE(a." + column + ", b." + column + ")"
		for _, i := range found { // what a FULL JOIN has made of two columns is in no table
			if table := r.owner(i); table != "" {
				instead = "write the table's name before it, as in " + table + "." + column
				break
			}
		}
		return nil, syntax.Refuse(syntax.Ambiguous, pos, instead, "the column %q is in several tables", column)
	}
	return tree.NewColumn(r.Relation, found[0]), nil
}

// dotted is the column whose whole name is what reads as a table's and a column's, or nothing.
func (r rows) dotted(qualifier, column string) string {
	for _, f := range r.Fields() {
		if strings.EqualFold(f.Name, qualifier+"."+column) {
			return f.Name
		}
	}
	return ""
}

func refuseDotted(name string, pos int32) error {
	return syntax.Refuse(syntax.NoColumn, pos, fmt.Sprintf("write \"%s\", in double quotes", name),
		"without quotes, %s is a column of a table, and there is a column with a dot in its name", name)
}

// hide says that some fields are not meant by their names alone.
func (r *rows) hide(fields []int) {
	for i := range r.names {
		for _, h := range fields {
			if h >= r.names[i].from && h < r.names[i].upto {
				r.names[i].hidden = append(slices.Clone(r.names[i].hidden), h)
			}
		}
	}
}

// withPerson gives the person of a FULL JOIN a name.
func (r rows) withPerson(name string) rows {
	j := *r.Relation.(*tree.Join)
	j.Row = slices.Clone(j.Row)
	j.Row[j.UnitField].Name = name
	r.Relation = &j
	r.names = append([]binding{{from: j.UnitField, upto: j.UnitField + 1}}, r.names...)
	return r
}

// visible are the names of columns that need no table before them.
func (r rows) visible() []string {
	var out []string
	for _, b := range r.names {
		for i := b.from; i < b.upto; i++ {
			if name := r.Fields()[i].Name; name != "" && !slices.Contains(b.hidden, i) {
				out = append(out, name)
			}
		}
	}
	return out
}

func (r rows) bindings() string {
	names := make([]string, len(r.names))
	for i, b := range r.names {
		names[i] = b.name
	}
	return strings.Join(names, ", ")
}

func (r rows) owner(field int) string {
	for _, b := range r.names {
		if field >= b.from && field < b.upto {
			return b.name
		}
	}
	return ""
}

// nameRows gives all fields one table's name, and perhaps columns new names. A table has its
// columns in no order that a question could rest on, and a subquery in that of its SELECT list.
func nameRows(r tree.Relation, name string, columns []string, pos int32) (rows, error) {
	if len(columns) > 0 {
		if _, table := r.(*tree.Scan); table {
			return rows{}, syntax.Refuse(syntax.Unsupported, pos,
				"name the columns in a subquery, as in (SELECT age AS a FROM patients) AS t",
				"a list of column names cannot be used after the alias of a table")
		}
		var err error
		if r, err = renameColumns(r, columns, pos); err != nil {
			return rows{}, err
		}
	}
	return rows{Relation: r, names: []binding{{name: name, upto: len(r.Fields())}}}, nil
}

// isUnit reports whether a column says who a row is about.
func (r rows) isUnit(c *tree.Column) bool {
	unit := r.Unit()
	return unit >= 0 && c.Field.Identity != "" && c.Field.Identity == r.Fields()[unit].Identity
}

// isName reports whether an expression is the name of a column, or names the person of a FULL JOIN.
func (r rows) isName(n *pg.Node) bool {
	return n.GetColumnRef() != nil || r.person(n.GetCoalesceExpr().GetArgs()) != nil
}

// person finds the person of a FULL JOIN in COALESCE(a.pid, b.pid): where both sides have one they
// are the same, so it is the person in any order. It is nil where the expression is another.
func (r rows) person(args []*pg.Node) tree.Expr {
	fields, ok := r.coalesced(args, nil)
	if !ok || len(fields) < 2 {
		return nil
	}
	at, ok := personOf(withoutNames(r.Relation), fields)
	all := r.Fields()
	if !ok || slices.ContainsFunc(fields, func(f int) bool { return all[f].Identity != all[at].Identity }) {
		return nil
	}
	return tree.NewColumn(r.Relation, at)
}

// coalesced adds the fields that a COALESCE names, where all are identities.
func (r rows) coalesced(args []*pg.Node, fields []int) ([]int, bool) {
	for _, n := range args {
		if inner := n.GetCoalesceExpr(); inner != nil {
			var ok bool
			if fields, ok = r.coalesced(inner.Args, fields); !ok {
				return nil, false
			}
			continue
		}
		if n.GetColumnRef() == nil {
			return nil, false
		}
		name, err := columnName(n.GetColumnRef())
		if err != nil {
			return nil, false
		}
		c, err := r.resolve(name, -1)
		if err != nil || c.Field.Identity == "" {
			return nil, false
		}
		fields = append(fields, c.Stored().Index)
	}
	return fields, true
}

// personOf is the field that the first of some that is not NULL is equal to in every row: the
// person of a FULL JOIN, where they say of each side whose its rows are. Both sides of another join
// may not be compared yet.
func personOf(r tree.Relation, fields []int) (int, bool) {
	j, ok := r.(*tree.Join)
	if !ok {
		return 0, false
	}
	n := len(j.L.Fields())
	var left, right []int
	for _, f := range fields {
		switch {
		case f < n:
			left = append(left, f)
		case f < n+len(j.R.Fields()):
			right = append(right, f-n)
		default: // its own
			return j.UnitField, j.Full
		}
	}
	switch {
	case j.Full:
		return j.UnitField, saysPerson(j.L, left) && saysPerson(j.R, right)
	case len(right) == 0:
		return personOf(withoutNames(j.L), left)
	}
	return 0, false
}

// saysPerson reports whether one of some fields says of each row whose it is.
func saysPerson(r tree.Relation, fields []int) bool {
	_, ok := personOf(withoutNames(r), fields)
	return ok || slices.ContainsFunc(fields, func(f int) bool { return isAlwaysUnit(r, f) })
}

// isAlways reports whether a column says of every row whose it is. That of a side of a LEFT or a
// FULL JOIN does not, unless WHERE leaves only rows in which it does.
func (r rows) isAlways(c *tree.Column, filter tree.Expr) bool {
	field := c.Stored().Index
	return isAlwaysUnit(r.Relation, field) || slices.ContainsFunc(expr.Conjuncts(filter), func(e tree.Expr) bool {
		not, ok := e.(*tree.Not)
		if !ok {
			return false
		}
		null, ok := not.X.(*tree.IsNull)
		if !ok {
			return false
		}
		there, ok := null.X.(*tree.Column)
		return ok && there.Stored().Index == field
	})
}

// isAlwaysUnit reports whether a field is the relation's unit in every row: its own, or that of a
// side of which each row has one.
func isAlwaysUnit(r tree.Relation, field int) bool {
	if field == r.Unit() {
		return true
	}
	switch r := withoutNames(r).(type) {
	case *tree.Select:
		c, ok := r.Columns[field].(*tree.Column)
		return ok && isAlwaysUnit(r.From, c.Index)
	case *tree.Join:
		if n := len(r.L.Fields()); !r.Full && field < n {
			return isAlwaysUnit(r.L, field)
		} else if !r.Left && field >= n {
			return isAlwaysUnit(r.R, field-n)
		}
	case *tree.Window:
		return field < len(r.From.Fields()) && isAlwaysUnit(r.From, field)
	case *tree.Union:
		return !slices.ContainsFunc(r.Parts, func(p *tree.Select) bool { return !isAlwaysUnit(p, field) })
	}
	return false
}

// present adds to a condition that a column which says who a row is about is not NULL, as it is in
// rows of a LEFT JOIN without a partner. Of the relation's own unit that is known.
func (r rows) present(c *tree.Column, filter tree.Expr) tree.Expr {
	stored := c.Stored()
	if isAlwaysUnit(r.Relation, stored.Index) {
		return filter
	}
	var there tree.Expr = &tree.Not{X: &tree.IsNull{X: stored}}
	if filter != nil {
		there = &tree.Logic{Op: tree.And, Args: []tree.Expr{filter, there}}
	}
	return there
}

// listed reports whether a name of a table is also a listed column, whose stored form then comes
// along by itself.
func (r rows) listed(b binding, name string) bool {
	return slices.ContainsFunc(r.Fields()[b.from:b.upto], func(f tree.Field) bool {
		return !f.Raw() && strings.EqualFold(f.Name, name)
	})
}
