package plan

import (
	"slices"
	"strings"
)

// flat takes a subquery away that only names and filters: (SELECT age AS a FROM t WHERE c) is t where c. Its rows are
// t's rows where c is true, and it passes on whose they are and how many count, so the same rows come to
// the same groups. Where a column of it is computed, or a condition asks about other rows, it stays.
func (p *Plan) flat() {
	for {
		s, ok := p.Query.From.(*Select)
		if !ok || p.Query.Choice != nil || !p.Query.onto(s) {
			return
		}
		p.sorted()
	}
}

// onto moves a query from a subquery to what the subquery is made from.
func (q *Query) onto(s *Select) bool {
	out := *q
	ok := true
	move := func(e Expr) Expr {
		if e == nil {
			return nil
		}
		moved, fits := onto(e, s)
		ok = ok && fits
		return moved
	}
	out.From, out.Where = s.From, s.Where
	if q.Where != nil {
		out.Where = move(q.Where)
		if s.Where != nil && ok {
			out.Where = truth(normalLogic(&Logic{And, []Expr{out.Where, s.Where}}))
		}
	}
	out.Keys, out.Measures = slices.Clone(q.Keys), slices.Clone(q.Measures)
	for i, k := range q.Keys {
		out.Keys[i].Expr = move(k.Expr)
	}
	for i, m := range q.Measures {
		out.Measures[i].Arg = move(m.Arg)
	}
	if !ok || s.From.rows() != s.rows() || s.From.groups() != s.groups() || s.From.Single() != s.Single() {
		return false
	}
	*q = out
	return true
}

// sorted puts keys and measures into their canonical order again.
func (p *Plan) sorted() {
	keys := order(len(p.Query.Keys), func(a, b int) int {
		x, y := p.Query.Keys[a], p.Query.Keys[b]
		if x.Private != y.Private {
			if x.Private {
				return 1
			}
			return -1
		}
		return strings.Compare(Format(x.Expr), Format(y.Expr))
	})
	measures := order(len(p.Query.Measures), func(a, b int) int {
		return strings.Compare(p.Query.Measures[a].Format(), p.Query.Measures[b].Format())
	})
	p.Query.Keys, p.Query.Measures = picked(p.Query.Keys, keys), picked(p.Query.Measures, measures)
	for i := range p.Stats {
		s := &p.Stats[i]
		if s.Kind == KeyStat {
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

// onto writes an expression over a subquery's fields as one over the fields below it, where each is one of them.
func onto(e Expr, s *Select) (Expr, bool) {
	ok := true
	walkRow(e, func(x Expr) { // what is inside of EXISTS counts its fields in another way
		switch x := x.(type) {
		case *Column:
			_, plain := s.Columns[x.Index].(*Column)
			ok = ok && plain
		case *Exists:
			ok = false
		}
	})
	if !ok {
		return e, false
	}
	return normal(replaced(e, func(x Expr) Expr {
		if c, ok := x.(*Column); ok {
			return s.Columns[c.Index]
		}
		return nil
	})), true
}

// replaced returns an expression in which f has put something else for some parts, and nil for those that stay.
// Nothing is looked for inside of EXISTS.
func replaced(e Expr, f func(Expr) Expr) Expr {
	if x := f(e); x != nil {
		return x
	}
	down := func(x Expr) Expr { return replaced(x, f) }
	all := func(list []Expr) []Expr {
		out := make([]Expr, len(list))
		for i, x := range list {
			out[i] = down(x)
		}
		return out
	}
	switch e := e.(type) {
	case *Rescale:
		return &Rescale{X: down(e.X), Factor: e.Factor, typ: e.typ}
	case *ToReal:
		return &ToReal{X: down(e.X), typ: e.typ}
	case *Arith:
		return &Arith{Op: e.Op, L: down(e.L), R: down(e.R), typ: e.typ}
	case *Compare:
		return &Compare{Op: e.Op, L: down(e.L), R: down(e.R)}
	case *Logic:
		return &Logic{e.Op, all(e.Args)}
	case *Not:
		return &Not{down(e.X)}
	case *In:
		return &In{X: down(e.X), List: e.List}
	case *IsNull:
		return &IsNull{down(e.X)}
	case *Case:
		out := &Case{Else: down(e.Else), typ: e.typ}
		for _, w := range e.Whens {
			out.Whens = append(out.Whens, When{down(w.If), down(w.Then)})
		}
		return out
	case *Call:
		return &Call{Fn: e.Fn, Args: all(e.Args), typ: e.typ}
	case *Within:
		return &Within{X: down(e.X), typ: e.typ}
	case *Like:
		return &Like{X: down(e.X), Pattern: e.Pattern}
	}
	return e
}
