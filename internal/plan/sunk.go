package plan

import (
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// sunk moves conditions of WHERE into the joins that they are about: FROM a, b WHERE a.x = b.x is a
// JOIN b ON a.x = b.x. Rows are the same, because none of a join that is not a LEFT JOIN are kept
// for another reason. Only equalities are moved, and only to public relations: they say how many of
// their rows are met, wherever an analyst writes them.
func sunk(from tree.Relation, where tree.Expr) (tree.Relation, tree.Expr) {
	var left []tree.Expr
	for _, c := range expr.Conjuncts(where) {
		if r, ok := sink(from, c); ok {
			from = r
			continue
		}
		left = append(left, c)
	}
	switch len(left) {
	case 0:
		return from, nil
	case len(expr.Conjuncts(where)):
		return from, where
	case 1:
		return from, left[0]
	}
	return from, &tree.Logic{Op: tree.And, Args: left}
}

// sink moves one condition. The fields of a left side are the first of a join, so that they are
// called the same there.
func sink(r tree.Relation, c tree.Expr) (tree.Relation, bool) {
	j, ok := r.(*tree.Join)
	eq, compares := c.(*tree.Compare)
	if !ok || j.Full || !compares || eq.Op != tree.Eq || asks(c) {
		return r, false // a subquery counts the fields of the row that asks, and here are fewer
	}
	n := len(j.L.Fields())
	out := *j
	if !names(c, n, len(j.Row)) {
		l, ok := sink(j.L, c)
		out.L = l
		return &out, ok
	}
	if j.Left || tree.Private(j.L) == tree.Private(j.R) || !names(c, 0, n) {
		return r, false
	}
	if out.On = c; j.On != nil {
		out.On = expr.NormalLogic(&tree.Logic{Op: tree.And, Args: []tree.Expr{j.On, c}})
	}
	return &out, true
}

// asks reports whether an expression has a subquery.
func asks(e tree.Expr) bool {
	found := false
	tree.Walk(e, func(x tree.Expr) {
		_, ok := x.(*tree.Exists)
		found = found || ok
	})
	return found
}
