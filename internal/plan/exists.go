package plan

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
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
	case sub == nil || l.SubLinkType != pg.SubLinkType_EXISTS_SUBLINK && l.SubLinkType != pg.SubLinkType_ANY_SUBLINK || len(l.OperName) > 0:
		return nil, syntax.Refuse(l.Location, "use EXISTS or IN, join a public table, or join a subquery that is grouped by the person",
			"a subquery cannot be used here as a value")
	case isSet(sub):
		return nil, syntax.Refuse(l.Location, "write a plain SELECT ... FROM ... WHERE",
			"a subquery in a condition cannot have set operations")
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
		return nil, syntax.Refuse(l.Location, "add the condition that both rows are about one person: "+
			rowReader{in.env}.linkInside(in.rows, inner), "a subquery over a private table must be about the same person as the row outside")
	}
	e := &tree.Exists{From: inner.Relation, Outer: n, On: on}
	return e, expr.NotTooLarge(e, l.Location)
}

// inPersons reads x IN (SELECT ...) with a subquery that is grouped or partitioned by the
// person: it is read on its own, and the condition that its column is x links it to the row that
// asks.
func (in *rowScope) inPersons(l *pg.SubLink, sub *pg.SelectStmt) (tree.Expr, error) {
	if l.SubLinkType != pg.SubLinkType_ANY_SUBLINK || len(sub.TargetList) != 1 {
		return nil, syntax.Refuse(l.Location, "write pid IN (SELECT pid FROM ... GROUP BY pid HAVING ...)",
			"a subquery with aggregates or windows in a condition is one column after IN")
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
		return nil, syntax.Refuse(l.Location, "select one column", "the subquery of IN must have one column")
	}
	on, err := expr.NewCompare(tree.Eq, x, &tree.Column{Index: n + at, Field: r.Fields()[at]}, l.Location)
	if err != nil {
		return nil, err
	}
	on = in.env.normal(on)
	if tree.Private(r) && !(tree.Private(in.rows) && expr.Linked(on, n)) {
		return nil, syntax.Refuse(l.Location,
			"compare the person's column with that of the subquery, as in pid IN (SELECT pid FROM ... GROUP BY pid)",
			"a subquery over a private table must be about the same person as the row outside")
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
		return nil, syntax.Refuse(l.Location, "select one column", "the subquery of IN must have one column")
	}
	y, err := checkExpr(in, sub.TargetList[0].GetResTarget().GetVal())
	if err != nil {
		return nil, err
	}
	return expr.NewCompare(tree.Eq, x, y, l.Location)
}
