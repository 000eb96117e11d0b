package plan

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// readScalar reads a subquery that is one number about the person of a row, as in
//
//	(SELECT COUNT(*) FROM visits v WHERE v.pid = p.pid AND v.cost > 100)
//
// It is a column of a LEFT JOIN with a subquery that is grouped by the person, and is read as one.
func (in *rowScope) readScalar(l *pg.SubLink, sub *pg.SelectStmt) (tree.Expr, error) {
	const instead = "write (SELECT COUNT(*) FROM visits v WHERE v.pid = p.pid), or join a subquery that is grouped by the person"
	if !in.extend || !tree.Private(in.rows) {
		return nil, syntax.Refuse(l.Location, "join a subquery that is grouped by the person", "a subquery cannot be used as a value here")
	}
	if len(sub.TargetList) != 1 || len(sub.GroupClause) > 0 || !isAggregated(sub) {
		return nil, syntax.Refuse(l.Location, instead, "a subquery that is a value must be one aggregate, without GROUP BY")
	}
	inside, inner, err := in.readInner(sub, l.Location)
	if err != nil {
		return nil, err
	}
	if !tree.Private(inner) {
		return nil, syntax.Refuse(l.Location, "join the public table", "a subquery over public tables cannot be used as a value")
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
		return nil, 0, nil, syntax.Refuse(pos, instead, "%s", reason)
	}
	n := len(in.rows.Fields())
	own := &rowScope{env: inside, rows: inner}
	both := in.inside(inside, inner)
	who = -1
	for _, c := range conditions(inner.unsaid(sub.WhereClause)) {
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
		if !ok || !expr.Linked(e, n) || !in.rows.isUnit(a) || !own.rows.isUnit(b) {
			return refuse(syntax.Location(c), "compare only "+rowReader{in.env}.link(in.rows, inner)+" with the row outside",
				"a subquery that is a value can only be linked to the row outside by the person")
		}
		outside, within := min(a.Index, b.Index), max(a.Index, b.Index)-n
		if isAlwaysUnit(in.rows.Relation, outside) {
			outside = in.rows.Unit()
		}
		if who >= 0 && who != outside {
			return refuse(syntax.Location(c), "compare "+rowReader{in.env}.link(in.rows, inner)+" alone",
				"a subquery that is a value is linked to two tables outside, one of which may have no row")
		}
		who = outside
		// A row in which it is NULL, as a LEFT JOIN makes them, is linked to nothing.
		own.filter = own.rows.present(tree.NewColumn(inner.Relation, within), own.filter)
	}
	if who < 0 {
		return refuse(pos, "ask for a number about everybody first, and write it here; or add the condition that both rows are about "+
			"one person: "+rowReader{in.env}.linkInside(in.rows, inner),
			"a subquery over a private table must be about the same person as the row outside")
	}
	if own.filter != nil {
		if err := expr.CheckLevels(own.filter, pos); err != nil {
			return nil, 0, nil, err
		}
		own.filter = own.env.normal(own.filter)
	}
	p := &personScope{in: own, none: true}
	p.begin()
	value, err = checkExpr(p, sub.TargetList[0].GetResTarget().GetVal())
	if err != nil {
		return nil, 0, nil, err
	}
	if err := expr.CheckLevels(value, pos); err != nil {
		return nil, 0, nil, err
	}
	return p.relation(), who, own.env.normal(adoptText(value)), nil
}

// conditions are the parts of a WHERE that all must hold.
func conditions(n *pg.Node) []*pg.Node {
	if n == nil {
		return nil
	}
	if b := n.GetBoolExpr(); b != nil && b.Boolop == pg.BoolExprType_AND_EXPR {
		var out []*pg.Node
		for _, a := range b.Args {
			out = append(out, conditions(a)...)
		}
		return out
	}
	return []*pg.Node{n}
}

// inside is the scope of a subquery's WHERE: its own names come first, then those
// outside.
func (in *rowScope) inside(inside *env, inner rows) *rowScope {
	n := len(in.rows.Fields())
	both := rows{Relation: newJoin(in.rows.Relation, inner.Relation, nil, false), said: inner.said}
	for _, b := range inner.names {
		hidden := make([]int, len(b.hidden))
		for i, h := range b.hidden {
			hidden[i] = h + n
		}
		both.names = append(both.names, binding{b.name, b.from + n, b.upto + n, hidden})
	}
	both.around = &rows{Relation: both.Relation, names: in.rows.names, around: in.rows.around}
	return &rowScope{env: inside, rows: both}
}
