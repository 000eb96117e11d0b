package planner

import (
	"math/big"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
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
	// value says that what is computed is a value beside another row, and none that it is one also
	// where the person has no row: then counts are 0.
	value, none bool
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
		return nil, syntax.Refuse(syntax.Private, pos,
			"group by the column that identifies the person, or ask the inner question separately",
			"a subquery with aggregates over private rows must be grouped by the person")
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
		return refuse(firstLocation(groups))
	}
	if err := p.refuseTwo(firstLocation(groups)); err != nil {
		return nil, err
	}
	if len(p.keys) > maxKeys {
		return nil, syntax.Refuse(syntax.TooComplex, firstLocation(groups), "group by fewer columns", "there are more than %d keys",
			maxKeys)
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
		return nil, syntax.Refuse(syntax.Private, firstLocation(s.TargetList),
			"also select the column that identifies the person, or count with COUNT(DISTINCT ...)",
			"DISTINCT on private rows must be within the rows of one person")
	}
	if err := p.refuseTwo(firstLocation(s.TargetList)); err != nil {
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
	return syntax.Refuse(syntax.Unsupported, pos,
		"name the person once: with the column of FULL JOIN ... USING (pid), with COALESCE(a.pid, b.pid) "+
			"after FULL JOIN ... ON, or with the column of the table on the left of LEFT JOIN",
		"each of these columns identifies the person of only some rows")
}

// isBetter reports whether a column says of every row whose it is, where the one that was found
// first is NULL in some, as that of a LEFT JOIN.
func (s *personScope) isBetter(c *tree.Column) bool {
	return s.in.rows.isAlways(c, s.in.filter) && !s.in.rows.isAlways(s.who, s.in.filter)
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

func (s *personScope) relation() *tree.Persons {
	return &tree.Persons{From: s.in.rows.Relation, Where: s.in.filter, Keys: s.keys, Parts: s.parts, Row: s.row}
}

func (s *personScope) meter() *meter.Meter      { return s.in.meter() }
func (s *personScope) beyond() *beyondBounds    { return s.in.beyond() }
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

func (s *personScope) column(name string, pos int32) (tree.Expr, error) {
	c, err := s.in.rows.resolve(name, pos)
	if err != nil {
		return nil, err
	}
	return nil, syntax.Refuse(syntax.Grouping, pos, "put it into GROUP BY with the person, or into an aggregate such as COUNT, SUM or MAX",
		"%s is not in GROUP BY of this subquery", c.Field.Describe())
}

func (s *personScope) call(f *pg.FuncCall) (tree.Expr, error) {
	name := functionName(f)
	if f.Over != nil {
		return nil, syntax.Refuse(syntax.Unsupported, f.Location, "group in a subquery, and put the window into the SELECT around it",
			"a subquery by person cannot have both a window and GROUP BY")
	}
	if !isPersonal(name) {
		return checkCall(s, f)
	}
	return partReader{s.in}.aggregate(f, name, func(p tree.Part, t tree.Type) tree.Expr { return s.add(p, t, name) })
}

func (s *personScope) sublink(l *pg.SubLink) (tree.Expr, error) {
	return nil, syntax.Refuse(syntax.Unsupported, l.Location, "put it into WHERE or into the argument of an aggregate",
		"a subquery cannot be used in the SELECT list or HAVING of what is grouped by the person")
}

// add adds an aggregate, once. Its name is for readers; nobody can write it.
func (s *personScope) add(p tree.Part, t tree.Type, name string) tree.Expr {
	spelled := s.in.env.spellPart(p)
	at := slices.IndexFunc(s.parts, func(have tree.Part) bool { return s.in.env.spellPart(have) == spelled })
	if at < 0 {
		if s.value {
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

const insteadPersonal = "use COUNT, SUM, AVG, MIN, MAX, bool_or or bool_and"

type partReader struct{ in *rowScope }

// aggregate reads an aggregate of one person's rows, and adds what it needs.
func (pr partReader) aggregate(f *pg.FuncCall, name string, add func(tree.Part, tree.Type) tree.Expr) (tree.Expr, error) {
	if name != "avg" {
		p, t, err := pr.read(f, name, false)
		if err != nil {
			return nil, err
		}
		return add(p, t), nil
	}
	sum, total, err := pr.read(f, "sum", true)
	if err != nil {
		return nil, err
	}
	count, n, err := pr.read(f, "count", true)
	if err != nil {
		return nil, err
	}
	return average(add(sum, total), add(count, n), sum.Arg.Type(), f.Location)
}

// average divides a sum by a count, as a floating-point number. It is between the ends of what is
// averaged, whatever a machine rounds.
func average(sum, count tree.Expr, of tree.Type, pos int32) (tree.Expr, error) {
	real, err := expr.NewCast(sum, "float8", tree.Real, nil, pos)
	if err != nil {
		return nil, err
	}
	e, err := expr.NewArith(tree.Div, real, count, pos)
	if err != nil {
		return nil, err
	}
	ends := make([]tree.Expr, 2)
	for i, at := range []*big.Int{of.Lo, of.Hi} {
		end := &tree.Literal{Typ: tree.NumberType(of.Step, at, at, true), Number: at}
		if ends[i], err = expr.NewCast(end, "float8", tree.Real, nil, pos); err != nil {
			return nil, err
		}
	}
	bounded, err := expr.Named("least", []tree.Expr{e, ends[1]}, pos)
	if err != nil {
		return nil, err
	}
	if bounded, err = expr.Named("greatest", []tree.Expr{bounded, ends[0]}, pos); err != nil {
		return nil, err
	}
	// least and greatest leave NULL out, and an average of nothing is NULL.
	there := &tree.Not{X: &tree.IsNull{X: e}}
	return expr.NewCase([]tree.When{{If: there, Then: bounded}}, expr.NewNull(tree.Type{}), pos)
}

// read reads one aggregate of one person's rows. It has bounds, so that it can be summed outside.
func (pr partReader) read(f *pg.FuncCall, name string, uncut bool) (tree.Part, tree.Type, error) {
	none := func(err error) (tree.Part, tree.Type, error) { return tree.Part{}, tree.Type{}, err }
	if err := refusePartModifiers(f, name); err != nil {
		return none(err)
	}
	if name == allRows {
		if f.Over != nil || f.AggFilter != nil || f.AggStar || f.AggDistinct || len(f.Args) > 0 {
			return none(syntax.Refuse(syntax.NoFunction, f.Location,
				"write dp_rows() in a subquery grouped by the person, and conditions into its WHERE",
				"dp_rows() takes no argument, no DISTINCT, no FILTER and no OVER"))
		}
		uncut = true
	}
	if name == allSum {
		if f.Over != nil || f.AggStar || f.AggDistinct || len(f.Args) != 1 {
			return none(syntax.Refuse(syntax.NoFunction, f.Location, "write dp_sum(x) in a subquery grouped by the person",
				"dp_sum takes one argument, no DISTINCT and no OVER"))
		}
		name, uncut = "sum", true
	}
	filter, err := pr.in.readFilter(f)
	if err != nil {
		return none(err)
	}
	rows := big.NewInt(pr.in.rows.PersonRows())
	if uncut {
		rows = big.NewInt(tree.MostUncut)
	}
	count := tree.NumberType(tree.One, new(big.Int), rows, true)
	if name == allRows || f.AggStar && name == "count" && filter == nil {
		return tree.Part{Kind: tree.PartRows, Uncut: uncut}, count, nil
	}
	var arg tree.Expr = expr.NewNumber(tree.One)
	if !f.AggStar {
		if len(f.Args) != 1 {
			return none(syntax.Refuse(syntax.NoFunction, f.Location, "give it one column or expression", "%s takes one argument", name))
		}
		// An average is a floating-point number in any case, so what is averaged may be one.
		if arg, err = pr.in.read(f.Args[0]); uncut {
			arg, _, err = pr.in.readExact(f.Args[0])
		}
		if err != nil {
			return none(err)
		}
	} else if name != "count" {
		return none(syntax.Refuse(syntax.NoFunction, f.Location, "name a column", "%s(*) has no meaning", name))
	}
	if name == "count" && !f.AggDistinct {
		if l, ok := arg.(*tree.Literal); ok && !l.IsNullLiteral() && filter == nil {
			return tree.Part{Kind: tree.PartRows, Uncut: uncut}, count, nil
		}
		if filter != nil { // of an identity too, which stands in no CASE
			there := &tree.Logic{Op: tree.And, Args: []tree.Expr{filter, &tree.Not{X: &tree.IsNull{X: arg}}}}
			if arg, err = pr.in.onlyWhere(there, expr.NewNumber(tree.One), f.Location); err != nil {
				return none(err)
			}
		}
		return tree.Part{Kind: tree.PartValues, Arg: arg, Uncut: uncut}, count, nil
	}
	if arg.Type().Kind == tree.Identity {
		return none(syntax.Refuse(syntax.Private, f.Location, "count rows with COUNT(*)",
			"%s cannot be computed from a column that identifies people or their records", name))
	}
	if arg, err = pr.in.onlyWhere(filter, arg, f.Location); err != nil {
		return none(err)
	}
	p, t, err := pr.ofValues(f, name, arg, rows)
	p.Uncut = uncut
	return p, t, err
}

func (pr partReader) ofValues(f *pg.FuncCall, name string, arg tree.Expr, rows *big.Int) (tree.Part, tree.Type, error) {
	none := func(err error) (tree.Part, tree.Type, error) { return tree.Part{}, tree.Type{}, err }
	t := arg.Type()
	switch name {
	case "count":
		if t.Kind == tree.Real {
			return none(syntax.Refuse(syntax.Unsupported, f.Location, "round it first, as in round(x, 2)",
				"COUNT(DISTINCT ...) needs exact values, but this is a floating-point number"))
		}
		return tree.Part{Kind: tree.PartDistinct, Arg: arg}, tree.NumberType(tree.One, new(big.Int), rows, true), nil
	case "sum":
		if err := refuseUnsummable(arg, name, f.Location); err != nil {
			return none(err)
		}
		lo, hi := expr.Smaller(new(big.Int), new(big.Int).Mul(rows, t.Lo)), expr.Larger(new(big.Int), new(big.Int).Mul(rows, t.Hi))
		typ := tree.NumberType(t.Step, lo, hi, true)
		if typ.TooWide() {
			return none(syntax.Refuse(syntax.OutOfRange, f.Location, "ask the owner for narrower bounds or a smaller max_rows",
				"the sum of one person's values could be too large"))
		}
		return tree.Part{Kind: tree.PartSum, Arg: arg}, typ, nil
	case "min", "max":
		if t.Kind == tree.Boolean || t.Kind == 0 {
			return none(syntax.Refuse(syntax.NoFunction, f.Location, "use bool_or or bool_and, or a number, a date or a text",
				"%s needs something with an order, but this is %s", name, expr.Article(t.Kind)))
		}
		if name == "min" {
			return tree.Part{Kind: tree.PartMin, Arg: arg}, t, nil
		}
		return tree.Part{Kind: tree.PartMax, Arg: arg}, t, nil
	case "bool_or", "bool_and", "every":
		if t.Kind != tree.Boolean {
			return none(syntax.Refuse(syntax.NoFunction, f.Location, "write a comparison, such as bool_or(age > 40)",
				"%s needs something that is true or false, but this is %s", name, expr.Article(t.Kind)))
		}
		if name == "bool_or" {
			return tree.Part{Kind: tree.PartAny, Arg: arg}, tree.Bool, nil
		}
		return tree.Part{Kind: tree.PartAll, Arg: arg}, tree.Bool, nil
	}
	return none(syntax.Refuse(syntax.Unsupported, f.Location, insteadPersonal, "%s cannot be used for one person's rows", name))
}

// refusePartModifiers refuses what an aggregate of one person's rows cannot have.
func refusePartModifiers(f *pg.FuncCall, name string) error {
	switch {
	case f.AggDistinct && (name != "count" || f.Over != nil):
		return syntax.Refuse(syntax.Unsupported, f.Location, "use it as in COUNT(DISTINCT x), in a subquery grouped by the person",
			"DISTINCT cannot be used with this aggregate")
	case len(f.AggOrder) > 0 || f.AggWithinGroup:
		return syntax.Refuse(syntax.Unsupported, f.Location, insteadPersonal,
			"ORDER BY cannot be used with this aggregate of one person's rows")
	case f.FuncVariadic:
		return syntax.Refuse(syntax.Unsupported, f.Location, "leave it out", "VARIADIC cannot be used with this aggregate")
	}
	return nil
}

// orZero is a count that may be missing.
func orZero(c tree.Expr) tree.Expr {
	e, err := expr.NewCoalesce([]tree.Expr{c, expr.NewNumber(new(big.Rat))}, -1)
	if err != nil { // two numbers on one lattice
		return c
	}
	return e
}
