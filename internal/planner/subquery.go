package planner

import (
	"slices"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// rowScope is the scope below the noise: the rows of one SELECT, and what was read of it.
type rowScope struct {
	env    *env
	rows   rows
	filter tree.Expr // WHERE
	// extend says that subqueries that are values may be joined to rows, and extended where they
	// are.
	extend   bool
	extended map[string]int
	// over is what the windows of a subquery are computed as.
	over map[*pg.FuncCall]tree.Expr
	// joined are the texts of which the key is made that is read.
	joined []*pg.Node
}

func (in *rowScope) person(args []*pg.Node) tree.Expr { return in.rows.person(args) }
func (in *rowScope) meter() *meter.Meter              { return in.env.meter() }
func (in *rowScope) beyond() *beyondBounds            { return in.env.beyond() }
func (in *rowScope) whole(*pg.Node) (tree.Expr, bool) { return nil, false }

func (in *rowScope) column(name string, pos int32) (tree.Expr, error) {
	c, err := in.rows.resolve(name, pos)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (in *rowScope) call(f *pg.FuncCall) (tree.Expr, error) {
	name := functionName(f)
	if f.Over != nil {
		if e, ok := in.over[f]; ok {
			return e, nil
		}
		return nil, syntax.Refuse(syntax.Windowing, f.Location,
			"put it into the SELECT list of a subquery, partitioned by the person, and use its column here",
			"a window cannot be used here")
	}
	if isPersonal(name) {
		return nil, syntax.Refuse(syntax.Grouping, f.Location, "put it into SELECT, HAVING or ORDER BY",
			"an aggregate cannot be used inside a condition on rows or inside another aggregate")
	}
	return checkCall(in, f)
}

func (in *rowScope) readWhere(s *pg.SelectStmt) error {
	n := in.rows.withoutTaken(s.WhereClause)
	if n == nil {
		return nil
	}
	e, err := checkCondition(in, n)
	if err != nil {
		return err
	}
	if err := expr.CheckLevels(e, syntax.Location(n)); err != nil {
		return err
	}
	e = in.env.truth(e)
	if l, ok := e.(*tree.Literal); ok && l.Bool != nil && *l.Bool {
		return nil // WHERE true
	}
	in.filter = e
	in.keepOneEach()
	return nil
}

// keepOneEach notices where WHERE leaves one row of each person: the one with a number, as in
//
//	SELECT ... FROM (SELECT *, row_number() OVER (PARTITION BY pid ORDER BY day) AS n FROM visits) AS t WHERE n = 1
func (in *rowScope) keepOneEach() {
	if !tree.Private(in.rows) || in.rows.Single() || in.filter == nil || hasExists(in.filter) {
		return // a subquery counts the fields of the row that asks
	}
	var rest []tree.Expr
	var number tree.Expr
	for _, c := range expr.Conjuncts(in.filter) {
		if number == nil && isNumber(c) {
			number = c
			continue
		}
		rest = append(rest, c)
	}
	if number == nil {
		return
	}
	in.rows.Relation = onlyOne(in.rows.Relation, number)
	switch len(rest) {
	case 0:
		in.filter = nil
	case 1:
		in.filter = rest[0]
	default:
		in.filter = &tree.Logic{Op: tree.And, Args: rest}
	}
}

// isNumber reports whether a condition says which of a person's rows it is.
func isNumber(e tree.Expr) bool {
	eq, ok := e.(*tree.Compare)
	if !ok || eq.Op != tree.Eq {
		return false
	}
	c, ok1 := eq.L.(*tree.Column)
	n, ok2 := eq.R.(*tree.Literal)
	return ok1 && ok2 && c.Field.Serial && n.Number != nil && n.Typ.Integer() && n.Number.Cmp(c.Field.Type.Hi) < 0
}

// onlyOne is a relation with the same fields, and the rows with a number.
func onlyOne(r tree.Relation, number tree.Expr) *tree.Select {
	r = withoutNames(r)
	s := &tree.Select{From: r, Where: number, One: true, UnitField: r.Unit(), Row: slices.Clone(r.Fields())}
	for i := range s.Row {
		s.Columns = append(s.Columns, tree.NewColumn(r, i))
	}
	return s
}

func (in *rowScope) read(n *pg.Node) (tree.Expr, error) {
	arg, err := checkExpr(in, n)
	if err != nil {
		return nil, err
	}
	if err := expr.CheckLevels(arg, syntax.Location(n)); err != nil {
		return nil, err
	}
	return in.env.normal(arg), nil
}

// readExact reads what is summed, ranked, counted or grouped by. A cast of an exact number to a
// floating-point one is left out, so that what is added up stays a whole number of steps; inexact
// says that there was one, which the answer has again.
func (in *rowScope) readExact(n *pg.Node) (e tree.Expr, inexact bool, err error) {
	if e, err = in.read(n); err != nil || e.Type().Kind != tree.Real {
		return e, false, err
	}
	exact, ok := expr.Exact(e, syntax.Location(n))
	if !ok {
		return e, false, nil
	}
	if err := expr.CheckLevels(exact, syntax.Location(n)); err != nil {
		return nil, false, err
	}
	return in.env.normal(exact), true, nil
}

// restoreReal is a released value as the floating-point number that the question has cast it to.
func restoreReal(e tree.Expr, inexact bool) tree.Expr {
	if inexact && e.Type().Kind == tree.Number {
		return expr.Real(e)
	}
	return e
}

// readJoined is readExact for what is grouped by, which may be texts that are joined.
func readJoined(in *rowScope, n *pg.Node) (e tree.Expr, inexact bool, err error) {
	in.joined = joinedTexts(n)
	defer func() { in.joined = nil }()
	return in.readExact(n)
}

// longestListed is how long the texts of a column are that the policy or WHERE lists, or 0, where
// it is joined with others to a key.
func (in *rowScope) longestListed(n *pg.Node, e tree.Expr) (longest int) {
	c, ok := e.(*tree.Column)
	if !ok || !slices.Contains(in.joined, n) {
		return 0
	}
	if c.Field.Source != nil && c.Field.Source.Keys == policy.PublicKeys {
		for _, v := range c.Field.Source.KeyValues {
			longest = max(longest, utf8.RuneCountInString(v.Text))
		}
		return longest
	}
	for _, cond := range expr.Conjuncts(in.filter) {
		if x, list := expr.Constants(cond); x != nil && isField(x, c.Index) {
			for _, l := range list {
				if l.Text != nil {
					longest = max(longest, utf8.RuneCountInString(*l.Text))
				}
			}
		}
	}
	return longest
}

// hasNoRows reports whether no row counts, whatever the data is.
func (in *rowScope) hasNoRows() bool {
	return in.filter != nil && in.env.isNever(in.filter) || in.env.hasNone(in.rows.Relation)
}

// neverMet reports whether no row meets the condition of a FILTER.
func (in *rowScope) neverMet(filter tree.Expr) bool {
	return filter != nil && in.env.isNever(in.env.truth(filter))
}

// onlyWhere is an expression where a condition holds, and NULL where it does not.
func (in *rowScope) onlyWhere(filter, arg tree.Expr, pos int32) (tree.Expr, error) {
	if filter == nil {
		return arg, nil
	}
	e, err := expr.NewCase([]tree.When{{If: filter, Then: arg}}, expr.NewNull(tree.Type{}), pos)
	if err != nil {
		return nil, err
	}
	e = in.env.normal(e)
	if l, ok := e.(*tree.Literal); ok && l.IsNullLiteral() || in.neverMet(filter) {
		return nil, syntax.Refuse(syntax.Unsupported, pos, "write a condition that some rows can meet",
			"no row can meet this condition, or what is aggregated is NULL")
	}
	return e, nil
}

func (in *rowScope) readFilter(f *pg.FuncCall) (tree.Expr, error) {
	if f.AggFilter == nil {
		return nil, nil
	}
	filter, err := checkCondition(in, f.AggFilter)
	if err != nil {
		return nil, err
	}
	return filter, expr.CheckLevels(filter, syntax.Location(f.AggFilter))
}

// readGroupItem reads an item of GROUP BY: a position, a name of the SELECT list, or an expression.
// It returns what stands there, or in the SELECT list.
func (in *rowScope) readGroupItem(n *pg.Node, targets []*pg.Node) (*pg.Node, tree.Expr, error) {
	if n.GetGroupingSet() != nil {
		return nil, nil, syntax.Refuse(syntax.Unsupported, syntax.Location(n), "write plain columns into GROUP BY",
			"a subquery by person cannot have GROUPING SETS")
	}
	if n.GetAConst() != nil {
		i, ok := ordinal(n, len(targets))
		if !ok {
			return nil, nil, syntax.Refuse(syntax.BadReference, syntax.Location(n), "write the column's name",
				"this is not a column of the SELECT list")
		}
		n = targets[i].GetResTarget().GetVal()
	}
	e, err := in.read(n)
	if ref := n.GetColumnRef(); err != nil && ref != nil {
		if name, bad := columnName(ref); bad == nil {
			if aliased := aliasTarget(targets, name); aliased != nil && aliased.GetColumnRef() != ref {
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
		return syntax.Refuse(syntax.Unsupported, pos, "round it first, as in round(x, 2)",
			"this is a floating-point number, and rows cannot be grouped by one")
	case tree.Identity:
		return syntax.Refuse(syntax.Private, pos, "list the column in the policy, or group only by the person",
			"a column that says what a row is part of and is not listed in the policy can only be joined on")
	}
	return nil
}

// readSubquery reads a SELECT of rows: as they are, with windows over those of one person, or
// grouped by the unit.
func (rr rowReader) readSubquery(s *pg.SelectStmt, pos int32) (tree.Relation, error) {
	if s == nil {
		return nil, syntax.Refuse(syntax.Unsupported, pos, "write (SELECT ... FROM ...)", "this is not a SELECT")
	}
	s = withoutRows(s)
	if err := refuseRows(s, pos); err != nil {
		return nil, err
	}
	e, err := rr.env.descend(pos)
	if err != nil {
		return nil, err
	}
	if e, err = e.addNames(s.WithClause); err != nil {
		return nil, err
	}
	rr = rowReader{e}
	if isSet(s) {
		return rr.readUnion(s, pos)
	}
	if isDistinct(s) {
		return rr.readDistinct(s, pos)
	}
	from, err := rr.readFrom(s)
	if err != nil {
		return nil, err
	}
	in := &rowScope{env: e, rows: from, extend: true}
	if err := in.readWhere(s); err != nil {
		return nil, err
	}
	if isAggregated(s) {
		return in.readPersons(s, pos)
	}
	w, chosen, err := (&windowReader{in}).read(s)
	if err != nil {
		return nil, err
	}
	names, columns, err := in.readColumns(in, s.TargetList)
	if err != nil {
		return nil, err
	}
	if chosen != nil {
		in.filter = chosen
	}
	out := newSelect(in.rows.Relation, in.filter, names, columns)
	if w != nil {
		setTies(w, out)
		out.One = chosen != nil && isNumber(chosen)
	}
	return out, nil
}

// refuseRows refuses what would let one person's row decide about another's: which rows there are
// is decided row by row below the noise.
func refuseRows(s *pg.SelectStmt, pos int32) error {
	if err := refuseClauses(s); err != nil {
		return err
	}
	for _, c := range []struct {
		present       bool
		at            int32
		what, instead string
	}{
		{len(s.DistinctClause) > 0 && !isDistinct(s) && isAggregated(s), firstLocation(s.DistinctClause), "DISTINCT ON with aggregates",
			"group in a subquery, and use it in the query around that"},
		{s.LimitCount != nil && !isEverything(s.LimitCount), syntax.Location(s.LimitCount), "LIMIT",
			"put it outside, where it is applied to the answer"},
		{s.LimitOffset != nil && !isFromFirst(s.LimitOffset), syntax.Location(s.LimitOffset), "OFFSET",
			"put it outside, where it is applied to the answer"},
	} {
		if c.present {
			return syntax.Refuse(syntax.Unsupported, c.at, c.instead, "%s cannot be used in a subquery of rows", c.what)
		}
	}
	return nil
}

// readColumns reads the SELECT list of rows, or of what each person has.
func (in *rowScope) readColumns(as scope, targets []*pg.Node) (names []string, columns []tree.Expr, err error) {
	for _, n := range targets {
		t := n.GetResTarget()
		_, rows := as.(*rowScope)
		if ref := t.GetVal().GetColumnRef(); rows && ref != nil && ref.Fields[len(ref.Fields)-1].GetAStar() != nil {
			if err := in.star(ref, func(c *tree.Column) {
				names, columns = append(names, c.Field.Name), append(columns, c)
			}); err != nil {
				return nil, nil, err
			}
			continue
		}
		e, err := checkExpr(as, t.GetVal())
		if err != nil {
			return nil, nil, err
		}
		if err := expr.CheckLevels(e, syntax.Location(t.GetVal())); err != nil {
			return nil, nil, err
		}
		e = in.env.normal(adoptText(e))
		name := t.GetName()
		if name == "" {
			name = targetName(t.GetVal())
		}
		names, columns = append(names, name), append(columns, e)
	}
	if name := repeatedName(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "?column?" })); name != "" {
		return nil, nil,
			syntax.Refuse(syntax.Duplicate, firstLocation(targets), "give every column its own name with AS",
				"two columns of the subquery are called %q", name)
	}
	if len(columns) > maxColumns {
		return nil, nil, syntax.Refuse(syntax.TooComplex, firstLocation(targets), "select fewer columns",
			"the subquery has more than %d columns", maxColumns)
	}
	return names, columns, nil
}

// maxColumns bounds the columns of a subquery, which * makes longer than its text.
const maxColumns = 500

// star calls f for the columns that * or table.* stands for.
func (in *rowScope) star(ref *pg.ColumnRef, f func(*tree.Column)) error {
	table := ""
	if len(ref.Fields) == 2 {
		table = ref.Fields[0].GetString_().GetSval()
	}
	found := false
	for _, b := range in.rows.names {
		if table != "" && !strings.EqualFold(b.name, table) {
			continue
		}
		found = true
		for i := b.from; i < b.upto; i++ {
			field := in.rows.Fields()[i]
			if field.Name != "" && !(field.Raw() && in.rows.listed(b, field.Name)) && (table != "" || !slices.Contains(b.hidden, i)) {
				f(tree.NewColumn(in.rows.Relation, i))
			}
		}
	}
	if !found || len(ref.Fields) > 2 {
		return syntax.Refuse(syntax.NoTable, ref.Location, "the tables here are "+in.rows.bindings(),
			"this subquery does not have this table")
	}
	return nil
}

// withoutRows is a SELECT of rows with LIMIT 0, written with WHERE false: the same, and nothing in
// it looks from one row at another.
func withoutRows(s *pg.SelectStmt) *pg.SelectStmt {
	if !zeroLimit(s) || isAggregated(s) || isSet(s) {
		return s
	}
	s = proto.Clone(s).(*pg.SelectStmt)
	s.LimitCount, s.LimitOffset, s.SortClause = nil, nil, nil
	no := &pg.Node{Node: &pg.Node_AConst{AConst: &pg.A_Const{Val: &pg.A_Const_Boolval{Boolval: &pg.Boolean{}}, Location: -1}}}
	if s.WhereClause != nil { // which is checked all the same
		no = &pg.Node{Node: &pg.Node_BoolExpr{BoolExpr: &pg.BoolExpr{Boolop: pg.BoolExprType_AND_EXPR,
			Args: []*pg.Node{no, s.WhereClause}, Location: -1}}}
	}
	s.WhereClause = no
	return s
}
