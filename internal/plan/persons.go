package plan

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// personScope is the scope of a SELECT that is grouped by the person, and perhaps by more: a name
// is what is grouped by, and an aggregate is one of the rows of a group, which are one person's.
type personScope struct {
	in       *rowScope
	who      *tree.Column // the column of GROUP BY that says whose a row is
	keys     []tree.Expr
	computed bool // some key is no column
	parts    []tree.Part
	row      []tree.Field // the unit, the keys and the parts
	// none says that there may be no group at all, and then counts are 0.
	none bool
}

// readPersons reads a subquery that is grouped by the unit: one row for each person, or for each
// person and key.
func (in *rowScope) readPersons(s *pg.SelectStmt, pos int32) (tree.Relation, error) {
	p, err := in.personScope(s, pos)
	if err != nil {
		return nil, err
	}
	in.filter = in.rows.present(p.who, in.filter)
	if in.filter != nil {
		in.filter = in.env.normal(in.filter)
	}
	names, columns, err := in.readColumns(p, s.TargetList)
	if err != nil {
		return nil, err
	}
	var having tree.Expr
	if s.HavingClause != nil {
		if having, err = checkCondition(p, s.HavingClause); err != nil {
			return nil, err
		}
		if err := expr.CheckLevels(having, syntax.Location(s.HavingClause)); err != nil {
			return nil, err
		}
		having = in.env.truth(having)
	}
	return newSelect(p.relation(), having, names, columns), nil
}

// personScope reads GROUP BY. One of its columns says who a row is about.
func (in *rowScope) personScope(s *pg.SelectStmt, pos int32) (*personScope, error) {
	refuse := func(pos int32) (*personScope, error) {
		return nil, syntax.Refuse(pos, "group by the column that says who a row is about, or ask the inner question on its own",
			"a subquery with aggregates among private rows must be grouped by the person")
	}
	groups := s.GroupClause
	if !tree.Private(in.rows) || len(groups) == 0 {
		return refuse(pos)
	}
	p := &personScope{in: in}
	for _, n := range groups {
		n, e, err := in.readGroupItem(n, s.TargetList)
		if err != nil {
			return nil, err
		}
		if c, ok := e.(*tree.Column); ok && in.rows.isUnit(c) && in.rows.isName(n) {
			if p.who == nil {
				p.who = c
			}
			if c.Stored().Index == p.who.Stored().Index {
				continue
			}
			if p.isBetter(c) {
				e, p.who = p.who, c
			}
		}
		if err := groupable(e, syntax.Location(n)); err != nil {
			return nil, err
		}
		if p.keyIndex(e) < 0 {
			p.keys = append(p.keys, e)
		}
	}
	if p.who == nil {
		return refuse(first(groups))
	}
	if err := p.refuseTwo(first(groups)); err != nil {
		return nil, err
	}
	if len(p.keys) > maxKeys {
		return nil, syntax.Refuse(first(groups), "group by fewer columns", "there are more than %d keys", maxKeys)
	}
	p.begin()
	return p, nil
}

// readDistinct reads SELECT DISTINCT: the rows without it, grouped by all of their columns, of
// which one says who a row is about.
func (rr rowReader) readDistinct(s *pg.SelectStmt, pos int32) (tree.Relation, error) {
	all := proto.Clone(s).(*pg.SelectStmt)
	all.DistinctClause = nil
	r, err := rr.readSubquery(all, pos)
	if err != nil {
		return nil, err
	}
	p := &personScope{in: &rowScope{env: rr.env, rows: rows{Relation: r}}}
	var names []string
	var at []int
	for i, f := range r.Fields() {
		if c := tree.NewColumn(r, i); f.Name != "" && p.in.rows.isUnit(c) && (p.who == nil || p.isBetter(c)) {
			p.who = c
		}
	}
	for i, f := range r.Fields() {
		if f.Name == "" {
			continue
		}
		c := tree.NewColumn(r, i)
		names = append(names, f.Name)
		if p.who != nil && p.in.rows.isUnit(c) && c.Stored().Index == p.who.Stored().Index {
			at = append(at, 0)
			continue
		}
		if err := groupable(c, pos); err != nil {
			return nil, err
		}
		if p.keyIndex(c) < 0 {
			p.keys = append(p.keys, c)
		}
		at = append(at, 1+p.keyIndex(c))
	}
	if p.who == nil {
		return nil, syntax.Refuse(first(s.TargetList),
			"select the column that says who a row is about beside the others, or count with COUNT(DISTINCT ...)",
			"DISTINCT among private rows must be about the rows of one person")
	}
	if err := p.refuseTwo(first(s.TargetList)); err != nil {
		return nil, err
	}
	p.in.filter = p.in.rows.present(p.who, nil)
	p.begin()
	columns := make([]tree.Expr, len(at))
	for i, field := range at {
		columns[i] = p.field(field)
	}
	return newSelect(p.relation(), nil, names, columns), nil
}

// refuseTwo refuses what is grouped by two columns that both say whose a row is, of which neither
// does so of every row: that of one of them would leave out what only the other has.
func (s *personScope) refuseTwo(pos int32) error {
	other := slices.ContainsFunc(s.keys, func(e tree.Expr) bool {
		c, ok := e.(*tree.Column)
		return ok && s.in.rows.isUnit(c)
	})
	if !other || s.in.rows.isAlways(s.who, s.in.filter) {
		return nil
	}
	return syntax.Refuse(pos, "name the person once: by the column of FULL JOIN ... USING (pid), by COALESCE(a.pid, b.pid) after FULL "+
		"JOIN ... ON, or by the column of the table on the left of LEFT JOIN",
		"each of these columns says only of some rows whose they are")
}

// isBetter reports whether a column says of every row whose it is, where the one that was found
// first is NULL in some, as that of a LEFT JOIN.
func (s *personScope) isBetter(c *tree.Column) bool {
	return s.in.rows.isAlways(c, s.in.filter) && !s.in.rows.isAlways(s.who, s.in.filter)
}

// readGroupItem reads an item of GROUP BY: a position, a name of the SELECT list, or an expression.
// It returns what stands there, or in the SELECT list.
func (in *rowScope) readGroupItem(n *pg.Node, targets []*pg.Node) (*pg.Node, tree.Expr, error) {
	if n.GetGroupingSet() != nil {
		return nil, nil, syntax.Refuse(syntax.Location(n), "write plain columns into GROUP BY",
			"a subquery by person has no GROUPING SETS")
	}
	if n.GetAConst() != nil {
		i, ok := ordinal(n, len(targets))
		if !ok {
			return nil, nil, syntax.Refuse(syntax.Location(n), "write the column's name", "this is not a column of the SELECT list")
		}
		n = targets[i].GetResTarget().GetVal()
	}
	e, err := in.read(n)
	if ref := n.GetColumnRef(); err != nil && ref != nil {
		if name, bad := columnName(ref); bad == nil {
			if aliased := target(targets, name); aliased != nil && aliased.GetColumnRef() != ref {
				n = aliased
				e, err = in.read(n)
			}
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return n, adoptText(e), nil
}

// groupable refuses what tells a person's rows apart in no exact way.
func groupable(e tree.Expr, pos int32) error {
	switch e.Type().Kind {
	case tree.Real:
		return syntax.Refuse(pos, "round it first, as in round(x, 2)", "this is a floating-point number, and rows are not grouped by such")
	case tree.Identity:
		return syntax.Refuse(pos, "list the column in the policy, or group by the person alone",
			"a column that says what a row is a part of, and that the policy does not list, can only be joined on")
	}
	return nil
}

// begin makes the fields of the unit and of the keys.
func (s *personScope) begin() {
	unit := s.in.rows.Fields()[s.in.rows.Unit()]
	unit.Name, unit.Key, unit.Nullable, unit.Serial = "", len(s.keys) == 0, false, false
	s.row = []tree.Field{unit}
	for _, e := range s.keys {
		f := tree.Field{Type: e.Type(), Nullable: expr.Nullable(e), Derived: tree.Derived(e) != nil}
		c, ok := e.(*tree.Column)
		if ok {
			f.Source, f.Public = c.Field.Source, c.Field.Public
		}
		s.computed = s.computed || !ok
		s.row = append(s.row, f)
	}
}

// relation is what was read so far.
func (s *personScope) relation() *tree.Persons {
	return &tree.Persons{From: s.in.rows.Relation, Where: s.in.filter, Keys: s.keys, Parts: s.parts, Row: s.row}
}

func (s *personScope) meter() *meter.Meter { return s.in.meter() }

// field names a field of the group.
func (s *personScope) field(i int) *tree.Column { return &tree.Column{Index: i, Field: s.row[i]} }

func (s *personScope) keyIndex(e tree.Expr) int {
	spelled := s.in.env.spell(e)
	return slices.IndexFunc(s.keys, func(k tree.Expr) bool { return s.in.env.spell(k) == spelled })
}

// whole recognises what is grouped by.
func (s *personScope) whole(n *pg.Node) (tree.Expr, bool) {
	if n.GetAConst() != nil || !s.in.rows.isName(n) && !s.computed || hasSubquery(n) {
		return nil, false
	}
	e, err := checkExpr(s.in, n)
	if err != nil {
		return nil, false
	}
	if c, ok := e.(*tree.Column); ok && s.who != nil && s.in.rows.isUnit(c) && c.Stored().Index == s.who.Stored().Index {
		return s.field(0), true
	}
	if i := s.keyIndex(s.in.env.normal(adoptText(e))); i >= 0 {
		return s.field(1 + i), true
	}
	return nil, false
}

func hasSubquery(n *pg.Node) bool {
	found := false
	syntax.EachNode(n, func(n *pg.Node) bool {
		found = found || n.GetSubLink() != nil
		return !found
	})
	return found
}

func (s *personScope) column(name string, pos int32) (tree.Expr, error) {
	c, err := s.in.rows.resolve(name, pos)
	if err != nil {
		return nil, err
	}
	return nil, syntax.Refuse(pos, "put it into GROUP BY beside the person, or into an aggregate such as COUNT, SUM or MAX",
		"%s is not in GROUP BY of this subquery", c.Field.Describe())
}

func (s *personScope) call(f *pg.FuncCall) (tree.Expr, error) {
	name := functionName(f)
	if f.Over != nil {
		return nil, syntax.Refuse(f.Location, "group in a subquery, and put the window into the SELECT around it",
			"a window cannot stand beside GROUP BY in a subquery by person")
	}
	if !isPersonal(name) {
		return checkCall(s, f)
	}
	return partReader{s.in}.aggregate(f, name, func(p tree.Part, t tree.Type) tree.Expr { return s.add(p, t, name) })
}

func (s *personScope) sublink(l *pg.SubLink) (tree.Expr, error) {
	return nil, syntax.Refuse(l.Location, "put it into WHERE or into the argument of an aggregate",
		"a subquery cannot be used beside aggregates")
}

// add adds an aggregate, once. Its name is for readers; nobody can write it.
func (s *personScope) add(p tree.Part, t tree.Type, name string) tree.Expr {
	spelled := s.in.env.spellPart(p)
	at := slices.IndexFunc(s.parts, func(have tree.Part) bool { return s.in.env.spellPart(have) == spelled })
	if at < 0 {
		if s.none {
			name = ""
		}
		at = len(s.parts)
		s.parts = append(s.parts, p)
		// The smallest of a person's identities is one; what others come to is a value.
		itself := (p.Kind == tree.PartMin || p.Kind == tree.PartMax) && tree.Derived(p.Arg) != nil
		s.row = append(s.row, tree.Field{Name: name, Type: t, Nullable: !p.Kind.Counts(), Derived: itself})
	}
	c := s.field(1 + len(s.keys) + at)
	if s.none && p.Kind.Counts() {
		return orZero(c)
	}
	return c
}

// isUnit reports whether a column says who a row is about.
func (r rows) isUnit(c *tree.Column) bool {
	unit := r.Unit()
	return unit >= 0 && c.Field.Identity != "" && c.Field.Identity == r.Fields()[unit].Identity
}
