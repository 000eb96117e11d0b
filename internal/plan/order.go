package plan

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

func (q *question) orderBy(s *pg.SelectStmt) error {
	for _, n := range s.SortClause {
		o, err := sortOrder(n)
		if err != nil {
			return err
		}
		if o.By, err = q.orderItem(n.GetSortBy().Node); err != nil {
			return err
		}
		q.order = append(q.order, o)
	}
	return nil
}

// sortOrder reads the direction of an item of ORDER BY.
func sortOrder(n *pg.Node) (tree.Order, error) {
	by := n.GetSortBy()
	if by == nil || len(by.UseOp) > 0 {
		return tree.Order{}, syntax.Refuse(syntax.Location(n), "write ORDER BY column ASC or DESC", "ORDER BY ... USING cannot be used")
	}
	o := tree.Order{Descending: by.SortbyDir == pg.SortByDir_SORTBY_DESC}
	// As in PostgreSQL, NULL counts as larger than everything.
	o.NullsFirst = o.Descending
	switch by.SortbyNulls {
	case pg.SortByNulls_SORTBY_NULLS_FIRST:
		o.NullsFirst = true
	case pg.SortByNulls_SORTBY_NULLS_LAST:
		o.NullsFirst = false
	}
	return o, nil
}

// orderItem reads a position, a name of the SELECT list, or an expression on
// released values.
func (q *question) orderItem(n *pg.Node) (tree.Expr, error) {
	if k := n.GetAConst(); k != nil {
		i, ok := ordinal(n, len(q.output))
		if !ok {
			return nil, syntax.Refuse(k.Location, "write the column's name or position", "this is not a column of the SELECT list")
		}
		return q.output[i].Expr, nil
	}
	if ref := n.GetColumnRef(); ref != nil {
		if name, err := columnName(ref); err == nil {
			if i := q.outputIndex(name); i >= 0 {
				return q.output[i].Expr, nil
			}
		}
	}
	e, err := checkExpr(above{question: q, named: true}, n)
	if err == nil {
		err = expr.CheckLevels(e, syntax.Location(n))
	}
	return e, err
}

// outputIndex finds a column of the SELECT list by its name.
func (q *question) outputIndex(name string) int {
	return slices.IndexFunc(q.output, func(o tree.Output) bool { return strings.EqualFold(o.Name, name) })
}

func (q *question) limit(s *pg.SelectStmt) error {
	for _, l := range []struct {
		node *pg.Node
		set  func(int64)
		what string
	}{
		{s.LimitCount, func(n int64) { q.count = &n }, "LIMIT"},
		{s.LimitOffset, func(n int64) { q.skip = n }, "OFFSET"},
	} {
		if l.node == nil || l.node.GetAConst().GetIsnull() { // LIMIT ALL
			continue
		}
		v, ok := l.node.GetAConst().GetVal().(*pg.A_Const_Ival)
		if !ok || v.Ival.GetIval() < 0 {
			return syntax.Refuse(syntax.Location(l.node), "write a whole number from 0 to 2147483647",
				"%s takes a constant number of rows", l.what)
		}
		l.set(int64(v.Ival.GetIval()))
	}
	return nil
}
