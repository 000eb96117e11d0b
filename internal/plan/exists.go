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
func (s below) sublink(l *pg.SubLink) (tree.Expr, error) {
	q := s.question
	sub := l.Subselect.GetSelectStmt()
	if sub != nil && l.SubLinkType == pg.SubLinkType_EXPR_SUBLINK {
		return q.scalar(l, sub)
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
		return s.amongPersons(l, sub)
	}
	// The left side of IN comes first: it belongs to the row outside, and a subquery that is a
	// value there gives that row more fields. Only then are they counted, because those of the
	// inner row are numbered from there on.
	var x tree.Expr
	if l.SubLinkType == pg.SubLinkType_ANY_SUBLINK {
		var err error
		if x, err = checkExpr(s, l.Testexpr); err != nil {
			return nil, err
		}
	}
	inside, inner, err := q.inner(sub, l.Location)
	if err != nil {
		return nil, err
	}
	n := len(q.rows.Fields())
	c := q.aboutInner(inside, inner)
	if err := c.where(sub); err != nil {
		return nil, err
	}
	on := c.filter
	if x != nil {
		equal, err := c.member(x, l, sub)
		if err != nil {
			return nil, err
		}
		if on != nil {
			equal = &tree.Logic{Op: tree.And, Args: []tree.Expr{equal, on}}
		}
		on = q.normal(equal)
	}
	if tree.Private(inner) && !(tree.Private(q.rows) && expr.Linked(on, n)) {
		return nil, syntax.Refuse(l.Location, "add the condition that both rows are about one person: "+q.linkInside(q.rows, inner),
			"a subquery over a private table must be about the same person as the row outside")
	}
	e := &tree.Exists{From: inner.Relation, Outer: n, On: on}
	return e, expr.NotTooLarge(e, l.Location)
}

// amongPersons reads x IN (SELECT ...) with a subquery that is grouped or partitioned by the
// person: it is read on its own, and the condition that its column is x links it to the row that
// asks.
func (s below) amongPersons(l *pg.SubLink, sub *pg.SelectStmt) (tree.Expr, error) {
	q := s.question
	if l.SubLinkType != pg.SubLinkType_ANY_SUBLINK || len(sub.TargetList) != 1 {
		return nil, syntax.Refuse(l.Location, "write pid IN (SELECT pid FROM ... GROUP BY pid HAVING ...)",
			"a subquery with aggregates or windows in a condition is one column after IN")
	}
	x, err := checkExpr(s, l.Testexpr)
	if err != nil {
		return nil, err
	}
	r, err := q.subquery(sub, l.Location)
	if err != nil {
		return nil, err
	}
	n := len(q.rows.Fields())
	at := slices.IndexFunc(r.Fields(), func(f tree.Field) bool { return f.Name != "" })
	if at < 0 {
		return nil, syntax.Refuse(l.Location, "select one column", "the subquery of IN must have one column")
	}
	on, err := expr.NewCompare(tree.Eq, x, &tree.Column{Index: n + at, Field: r.Fields()[at]}, l.Location)
	if err != nil {
		return nil, err
	}
	on = q.normal(on)
	if tree.Private(r) && !(tree.Private(q.rows) && expr.Linked(on, n)) {
		return nil, syntax.Refuse(l.Location,
			"compare the person's column with that of the subquery, as in pid IN (SELECT pid FROM ... GROUP BY pid)",
			"a subquery over a private table must be about the same person as the row outside")
	}
	e := &tree.Exists{From: r, Outer: n, On: on}
	return e, expr.NotTooLarge(e, l.Location)
}

// inner reads the FROM of a subquery in an expression.
func (q *question) inner(sub *pg.SelectStmt, pos int32) (*env, rows, error) {
	if err := refuseRows(sub, pos); err != nil {
		return nil, rows{}, err
	}
	inside, err := q.descend(pos)
	if err != nil {
		return nil, rows{}, err
	}
	if inside, err = inside.addNames(sub.WithClause); err != nil {
		return nil, rows{}, err
	}
	from, err := inside.readFrom(sub)
	return inside, from, err
}

// member is the condition of x IN (SELECT y ...): that y = x.
func (q *question) member(x tree.Expr, l *pg.SubLink, sub *pg.SelectStmt) (tree.Expr, error) {
	if len(sub.TargetList) != 1 {
		return nil, syntax.Refuse(l.Location, "select one column", "the subquery of IN must have one column")
	}
	y, err := checkExpr(below{q}, sub.TargetList[0].GetResTarget().GetVal())
	if err != nil {
		return nil, err
	}
	return expr.NewCompare(tree.Eq, x, y, l.Location)
}
