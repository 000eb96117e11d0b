package plan

import (
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// provenTotal looks once more at everything that will run below the noise: no number in it is wider
// than an engine computes with. Every operation has made sure of that already; this is the one
// place that does not depend on them. It looks at whose rows are too.
func provenTotal(q *tree.Query) error {
	var err error
	copied := 0
	var each func(tree.Expr)
	var relation func(tree.Relation)
	each = func(e tree.Expr) {
		if e == nil {
			return
		}
		tree.Walk(e, func(x tree.Expr) {
			if _, wide := expr.Checked(x, -1); wide != nil {
				err = wide
			}
			if expr.Long(x) {
				copied++
			}
			if tree.Computes(x) && tree.CountAsked(x) > maxAsked {
				err = syntax.Refuse(-1, "compute with fewer of them at once, or put them into WHERE",
					"more than %d subqueries stand inside of one computation", maxAsked)
			}
			switch x := x.(type) {
			case *tree.In:
				for _, l := range x.List {
					if _, wide := expr.Checked(l, -1); wide != nil {
						err = wide
					}
				}
			case *tree.Exists:
				relation(x.From)
				if tree.Private(x.From) && !expr.Linked(x.On, x.Outer) {
					err = syntax.Refuse(-1, "write another condition",
						"a subquery over a private table must be about the same person as the row outside")
				}
			}
		})
	}
	relation = func(r tree.Relation) {
		if lost := owned(r); lost != nil {
			err = lost
		}
		switch r := r.(type) {
		case *tree.Join:
			relation(r.L)
			relation(r.R)
			each(r.On)
		case *tree.Cut:
			relation(r.From)
		case *tree.Select:
			relation(r.From)
			each(r.Where)
			for _, c := range r.Columns {
				each(c)
			}
		case *tree.Union:
			for _, p := range r.Parts {
				relation(p)
			}
		case *tree.Persons:
			relation(r.From)
			each(r.Where)
			for _, p := range r.Parts {
				each(p.Arg)
			}
			for _, k := range r.Keys {
				each(k)
			}
		case *tree.Window:
			relation(r.From)
			each(r.Where)
			for _, o := range r.Calls {
				for _, e := range o.Expressions() {
					each(e)
				}
			}
		}
	}
	relation(q.From)
	each(q.Where)
	for _, k := range q.Keys {
		each(k.Expr)
	}
	for _, m := range q.Measures {
		each(m.Arg)
	}
	if err == nil && copied > expr.MaxLong {
		err = syntax.Refuse(-1, "take the beginning of the texts first, as in lower(left(name, 100))",
			"more than %d functions of this question work on texts of any length", expr.MaxLong)
	}
	return err
}

// maxAsked is how many subqueries may stand inside of one computation, which an engine then prints
// for each of their outcomes.
const maxAsked = 3
