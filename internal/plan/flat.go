package plan

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// flattener takes subqueries away that change nothing, so that questions that mean the same are
// one.
type flattener struct{ calculator }

// flatten takes a subquery away that only names and filters: (SELECT age AS a FROM t WHERE c) is t
// where c. Its rows are t's rows where c is true, and it passes on whose they are and how many
// count, so the same rows come to the same groups. Where a column of it is computed, or a condition
// asks about other rows, it stays.
func (fl flattener) flatten(p *tree.Plan) {
	for {
		s, ok := p.Query.From.(*tree.Select)
		if !ok || p.Query.Choice != nil || !fl.moveBelow(&p.Query, s) {
			return
		}
		fl.sortParts(p)
	}
}

// onto moves a query from a subquery to what the subquery is made from.
func (fl flattener) moveBelow(q *tree.Query, s *tree.Select) bool {
	out := *q
	ok := true
	move := func(x tree.Expr) tree.Expr {
		if x == nil {
			return nil
		}
		moved, fits := fl.rewrite(x, s)
		ok = ok && fits
		return moved
	}
	out.From, out.Where = s.From, s.Where
	if q.Where != nil {
		out.Where = move(q.Where)
		if s.Where != nil && ok {
			out.Where = fl.truth(&tree.Logic{Op: tree.And, Args: []tree.Expr{out.Where, s.Where}})
		}
	}
	out.Keys, out.Measures = slices.Clone(q.Keys), slices.Clone(q.Measures)
	for i, k := range q.Keys {
		out.Keys[i].Expr = move(k.Expr)
	}
	for i, m := range q.Measures {
		out.Measures[i].Arg = move(m.Arg)
	}
	if !ok || s.From.PersonRows() != s.PersonRows() || s.From.PersonGroups() != s.PersonGroups() || s.From.Single() != s.Single() {
		return false
	}
	*q = out
	return true
}

// sorted puts keys and measures into their canonical order again.
func (fl flattener) sortParts(p *tree.Plan) {
	keys := order(len(p.Query.Keys), func(a, b int) int {
		x, y := p.Query.Keys[a], p.Query.Keys[b]
		if x.Private != y.Private {
			if x.Private {
				return 1
			}
			return -1
		}
		return strings.Compare(fl.spell(x.Expr), fl.spell(y.Expr))
	})
	names := make([]string, len(p.Query.Measures))
	for i, m := range p.Query.Measures {
		names[i] = fl.spellMeasure(m)
	}
	measures := order(len(names), func(a, b int) int { return strings.Compare(names[a], names[b]) })
	p.Query.Keys, p.Query.Measures = picked(p.Query.Keys, keys), picked(p.Query.Measures, measures)
	for i := range p.Stats {
		s := &p.Stats[i]
		if s.Kind == tree.KeyStat {
			s.Key = slices.Index(keys, s.Key)
			continue
		}
		for _, at := range []*int{&s.Measure, &s.Count, &s.Square} {
			*at = max(0, slices.Index(measures, *at))
		}
	}
}

// order returns the numbers below n as a comparison sorts them.
func order(n int, compare func(a, b int) int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, compare)
	return out
}

func picked[T any](all []T, at []int) []T {
	out := make([]T, len(at))
	for i, k := range at {
		out[i] = all[k]
	}
	return out
}

// onto writes an expression over a subquery's fields as one over the fields below it, where each is
// one of them.
func (fl flattener) rewrite(x tree.Expr, s *tree.Select) (tree.Expr, bool) {
	ok := true
	tree.WalkRow(x, func(x tree.Expr) { // what is inside of EXISTS counts its fields in another way
		switch x := x.(type) {
		case *tree.Column:
			_, plain := s.Columns[x.Index].(*tree.Column)
			ok = ok && plain
		case *tree.Exists:
			ok = false
		}
	})
	if !ok {
		return x, false
	}
	return fl.normal(expr.Replaced(x, func(x tree.Expr) tree.Expr {
		if c, ok := x.(*tree.Column); ok {
			return s.Columns[c.Index]
		}
		return nil
	})), true
}
