package planner

import (
	"fmt"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// sublink reads a subquery in a condition on rows: EXISTS, and IN with a subquery, which means the
// same. It is over public tables, or about the same person as the row that asks: otherwise one
// person's row would decide about another's.
func (in *rowScope) sublink(l *pg.SubLink) (tree.Expr, error) {
	sub := l.Subselect.GetSelectStmt()
	if sub != nil && l.SubLinkType == pg.SubLinkType_EXPR_SUBLINK {
		return in.readScalar(l, sub)
	}
	switch {
	case sub != nil && len(l.OperName) > 0:
		return nil, syntax.Refuse(syntax.Unsupported, l.Location,
			"write it with EXISTS, as in EXISTS (SELECT 1 FROM ... WHERE x > y AND ...)",
			"only = ANY and <> ALL can compare with a subquery")
	case sub == nil || l.SubLinkType != pg.SubLinkType_EXISTS_SUBLINK && l.SubLinkType != pg.SubLinkType_ANY_SUBLINK:
		return nil, syntax.Refuse(syntax.Unsupported, l.Location,
			"use EXISTS or IN, join a public table, or join a subquery grouped by the person",
			"a subquery cannot be used here as a value")
	case isSet(sub):
		return nil, syntax.Refuse(syntax.Unsupported, l.Location, "write a plain SELECT ... FROM ... WHERE",
			"a subquery in a condition cannot have set operations")
	case zeroLimit(sub):
		return nil, syntax.Refuse(syntax.Unsupported, syntax.Location(sub.LimitCount),
			"leave out LIMIT 0, or write false in place of this condition",
			"LIMIT 0 leaves no row, so this condition is never true")
	case isDistinct(sub) && !isAggregated(sub): // whether there is a row is the same
		sub = proto.Clone(sub).(*pg.SelectStmt)
		sub.DistinctClause = nil
	}
	if isAggregated(sub) || len(sub.DistinctClause) > 0 || len(windowCalls(sub.TargetList)) > 0 {
		return in.inPersons(l, sub)
	}
	// The left side of IN comes first: it belongs to the row outside, and a subquery that is a
	// value there gives that row more fields. Only then are they counted, because those of the
	// inner row are numbered from there on.
	var x tree.Expr
	if l.SubLinkType == pg.SubLinkType_ANY_SUBLINK {
		var err error
		if x, err = checkExpr(in, l.Testexpr); err != nil {
			return nil, err
		}
	}
	inside, inner, err := in.readInner(sub, l.Location)
	if err != nil {
		return nil, err
	}
	n := len(in.rows.Fields())
	c := in.inside(inside, inner)
	if err := c.readWhere(sub); err != nil {
		return nil, err
	}
	on := c.filter
	if x != nil {
		equal, err := c.memberOf(x, l, sub)
		if err != nil {
			return nil, err
		}
		if on != nil {
			equal = &tree.Logic{Op: tree.And, Args: []tree.Expr{equal, on}}
		}
		on = in.env.normal(equal)
	}
	if tree.Private(inner) && !(tree.Private(in.rows) && expr.Linked(on, n)) {
		if in.env.dataset.Unit.Row() {
			return nil, rowReader{in.env}.refuseStrangers(l.Location)
		}
		return nil, syntax.Refuse(syntax.Private, l.Location, "add the condition that both rows are about the same person: "+
			rowReader{in.env}.linkInside(in.rows, inner),
			"a subquery over a private table must be about the same person as the outer row")
	}
	e := &tree.Exists{From: inner.Relation, Outer: n, On: on}
	return e, expr.NotTooLarge(e, l.Location)
}

// inPersons reads x IN (SELECT ...) with a subquery that is grouped or partitioned by the person:
// it is read on its own, and the condition that its column is x links it to the row that asks.
func (in *rowScope) inPersons(l *pg.SubLink, sub *pg.SelectStmt) (tree.Expr, error) {
	if l.SubLinkType != pg.SubLinkType_ANY_SUBLINK || len(sub.TargetList) != 1 {
		return nil, syntax.Refuse(syntax.Unsupported, l.Location, "write pid IN (SELECT pid FROM ... GROUP BY pid HAVING ...)",
			"in a condition, a subquery with aggregates or windows must be one column after IN")
	}
	x, err := checkExpr(in, l.Testexpr)
	if err != nil {
		return nil, err
	}
	r, err := rowReader{in.env}.readSubquery(sub, l.Location)
	if err != nil {
		return nil, err
	}
	n := len(in.rows.Fields())
	at := slices.IndexFunc(r.Fields(), func(f tree.Field) bool { return f.Name != "" })
	if at < 0 {
		return nil, syntax.Refuse(syntax.Malformed, l.Location, "select one column", "the subquery of IN must have one column")
	}
	on, err := expr.NewCompare(tree.Eq, x, &tree.Column{Index: n + at, Field: r.Fields()[at]}, l.Location)
	if err != nil {
		return nil, err
	}
	on = in.env.normal(on)
	if tree.Private(r) && !(tree.Private(in.rows) && expr.Linked(on, n)) {
		return nil, syntax.Refuse(syntax.Private, l.Location,
			"compare the person's column with that of the subquery, as in pid IN (SELECT pid FROM ... GROUP BY pid)",
			"a subquery over a private table must be about the same person as the outer row")
	}
	e := &tree.Exists{From: r, Outer: n, On: on}
	return e, expr.NotTooLarge(e, l.Location)
}

// readInner reads the FROM of a subquery in an expression.
func (in *rowScope) readInner(sub *pg.SelectStmt, pos int32) (*env, rows, error) {
	if err := refuseRows(sub, pos); err != nil {
		return nil, rows{}, err
	}
	inside, err := in.env.descend(pos)
	if err != nil {
		return nil, rows{}, err
	}
	if inside, err = inside.addNames(sub.WithClause); err != nil {
		return nil, rows{}, err
	}
	from, err := rowReader{inside}.readFrom(sub)
	return inside, from, err
}

// memberOf is the condition of x IN (SELECT y ...): that y = x.
func (in *rowScope) memberOf(x tree.Expr, l *pg.SubLink, sub *pg.SelectStmt) (tree.Expr, error) {
	if len(sub.TargetList) != 1 {
		return nil, syntax.Refuse(syntax.Malformed, l.Location, "select one column", "the subquery of IN must have one column")
	}
	y, err := checkExpr(in, sub.TargetList[0].GetResTarget().GetVal())
	if err != nil {
		return nil, err
	}
	return expr.NewCompare(tree.Eq, x, y, l.Location)
}

// readScalar reads a subquery that is one number about the person of a row, as in
//
//	(SELECT COUNT(*) FROM visits v WHERE v.pid = p.pid AND v.cost > 100)
//
// It is a column of a LEFT JOIN with a subquery that is grouped by the person, and is read as one.
func (in *rowScope) readScalar(l *pg.SubLink, sub *pg.SelectStmt) (tree.Expr, error) {
	const instead = "write (SELECT COUNT(*) FROM visits v WHERE v.pid = p.pid), or join a subquery grouped by the person"
	if !in.extend || !tree.Private(in.rows) {
		return nil, syntax.Refuse(syntax.Unsupported, l.Location, "join a subquery grouped by the person",
			"a subquery cannot be used as a value here")
	}
	if len(sub.TargetList) != 1 || sub.HavingClause != nil || !isAggregated(sub) || hasSets(sub) {
		return nil, syntax.Refuse(syntax.Unsupported, l.Location, instead,
			"a subquery used as a value must be one aggregate, without HAVING")
	}
	if syntax.LeavesARow(sub) { // of the one that there is
		sub = proto.Clone(sub).(*pg.SelectStmt)
		sub.LimitCount, sub.LimitOffset, sub.LimitOption = nil, nil, pg.LimitOption_LIMIT_OPTION_DEFAULT
	}
	inside, inner, err := in.readInner(sub, l.Location)
	if err != nil {
		return nil, err
	}
	if !tree.Private(inner) {
		return nil, syntax.Refuse(syntax.Unsupported, l.Location, "join the public table",
			"a subquery over public tables cannot be used as a value")
	}
	p, who, value, err := in.aboutPerson(inside, inner, sub, l.Location)
	if err != nil {
		return nil, err
	}
	n := len(in.rows.Fields())
	on := &tree.Compare{Op: tree.Eq, L: tree.NewColumn(in.rows.Relation, who), R: &tree.Column{Index: n, Field: p.Row[0]}}
	name := fmt.Sprint(who, " ", tree.FormatRelation(p))
	at, ok := in.extended[name]
	if !ok {
		at = n
		in.rows.Relation = newJoin(in.rows.Relation, p, on, true)
		if in.extended == nil {
			in.extended = map[string]int{}
		}
		in.extended[name] = at
	}
	return expr.Replaced(value, func(x tree.Expr) tree.Expr {
		if c, ok := x.(*tree.Column); ok {
			return tree.NewColumn(in.rows.Relation, at+c.Index)
		}
		return nil
	}), nil
}

// aboutPerson makes the subquery that is grouped by the person, and what is computed of its row: of
// the conditions one says that both rows are about one person, and the others are about the inner
// row alone. Who is the field of the outer row that says so: the unit, or that of a table which may
// have no row there, and then nothing is found.
func (in *rowScope) aboutPerson(
	inside *env, inner rows, sub *pg.SelectStmt, pos int32,
) (persons *tree.Persons, who int, value tree.Expr, err error) {
	refuse := func(pos int32, instead, reason string) (*tree.Persons, int, tree.Expr, error) {
		return nil, 0, nil, syntax.Refuse(syntax.Private, pos, instead, "%s", reason)
	}
	n := len(in.rows.Fields())
	own := &rowScope{env: inside, rows: inner}
	both := in.inside(inside, inner)
	who = -1
	for _, c := range conditions(inner.withoutTaken(sub.WhereClause)) {
		if e, err := checkCondition(own, c); err == nil {
			if own.filter != nil {
				e = &tree.Logic{Op: tree.And, Args: []tree.Expr{own.filter, e}}
			}
			own.filter = e
			continue
		}
		e, err := checkCondition(both, c)
		if err != nil {
			return nil, 0, nil, err
		}
		a, b, ok := expr.EqualColumns(e)
		linked := ok && expr.Linked(e, n) && in.rows.isUnit(a) && own.rows.isUnit(b)
		if !linked && in.env.dataset.Unit.Row() {
			return nil, 0, nil, rowReader{in.env}.refuseStrangers(syntax.Location(c))
		}
		if !linked {
			return refuse(syntax.Location(c), "compare only "+rowReader{in.env}.link(in.rows, inner)+" with the outer row",
				"a subquery used as a value can only be linked to the outer row by the person")
		}
		outside, within := min(a.Index, b.Index), max(a.Index, b.Index)-n
		if isAlwaysUnit(in.rows.Relation, outside) {
			outside = in.rows.Unit()
		}
		if who >= 0 && who != outside {
			return refuse(syntax.Location(c), "compare "+rowReader{in.env}.link(in.rows, inner)+" and nothing else",
				"a subquery used as a value is linked to two outer tables, one of which may have no row")
		}
		who = outside
		// A row in which it is NULL, as a LEFT JOIN makes them, is linked to nothing.
		own.filter = own.rows.present(tree.NewColumn(inner.Relation, within), own.filter)
	}
	if who < 0 && in.env.dataset.Unit.Row() {
		return refuse(pos, "ask for a number about everybody first, and write it here",
			"every row is a separate person here, so a subquery over a private table is about nobody in the outer row")
	}
	if who < 0 {
		return refuse(pos, "ask for a number about everybody first, and write it here; or add the condition that both rows are "+
			"about the same person: "+rowReader{in.env}.linkInside(in.rows, inner),
			"a subquery over a private table must be about the same person as the outer row")
	}
	if own.filter != nil {
		if err := expr.CheckLevels(own.filter, pos); err != nil {
			return nil, 0, nil, err
		}
		own.filter = own.env.normal(own.filter)
	}
	for _, n := range sub.GroupClause {
		if !isLink(own, both, n, sub.TargetList) {
			return refuse(syntax.Location(n), "leave out GROUP BY, or group by the column that is compared with the outer row",
				"a subquery used as a value has one row for each person, and can only be grouped by the person")
		}
	}
	p := &personScope{in: own, value: true, none: len(sub.GroupClause) == 0}
	p.begin()
	value, err = checkExpr(p, sub.TargetList[0].GetResTarget().GetVal())
	if err != nil {
		return nil, 0, nil, err
	}
	if err := expr.CheckLevels(value, pos); err != nil {
		return nil, 0, nil, err
	}
	value = adoptText(value)
	if _, column := value.(*tree.Column); !p.none && !column { // without a row there is no group, and no value
		there := &tree.Not{X: &tree.IsNull{X: p.field(0)}}
		if value, err = expr.NewCase([]tree.When{{If: there, Then: value}}, expr.NewNull(tree.Type{}), pos); err != nil {
			return nil, 0, nil, err
		}
	}
	return p.relation(), who, own.env.normal(value), nil
}

// isLink reports whether something to group by is the same in all rows that a subquery has for one
// row outside, which are one person's: that person, or a column outside.
func isLink(in, both *rowScope, n *pg.Node, targets []*pg.Node) bool {
	if n.GetColumnRef() == nil {
		return false
	}
	if _, e, err := in.readGroupItem(n, targets); err == nil {
		c, ok := e.(*tree.Column)
		return ok && in.rows.isUnit(c) && in.rows.isAlways(c, in.filter)
	}
	e, err := checkExpr(both, n)
	c, ok := e.(*tree.Column)
	return err == nil && ok && c.Index < len(both.rows.Fields())-len(in.rows.Fields())
}

// inside is the scope of a subquery's WHERE: its own names come first, then those outside.
func (in *rowScope) inside(inside *env, inner rows) *rowScope {
	n := len(in.rows.Fields())
	both := rows{Relation: newJoin(in.rows.Relation, inner.Relation, nil, false), taken: inner.taken}
	for _, b := range inner.names {
		hidden := make([]int, len(b.hidden))
		for i, h := range b.hidden {
			hidden[i] = h + n
		}
		both.names = append(both.names, binding{b.name, b.from + n, b.upto + n, hidden})
	}
	both.outer = &rows{Relation: both.Relation, names: in.rows.names, outer: in.rows.outer}
	return &rowScope{env: inside, rows: both}
}
