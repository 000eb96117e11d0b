package plan

import (
	"errors"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/posix"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// onCluster refuses what a Trino cluster cannot be asked, before it costs anything. It is found out
// from the finished tree, like all work.
func (w *work) onCluster(from tree.Relation, over ...tree.Expr) {
	if !w.cluster {
		return
	}
	eachExpr(from, over, func(e tree.Expr) {
		if nested(e) > maxNested {
			w.fail(syntax.Refuse(w.pos, "write it with fewer operations inside of each other",
				"a Trino cluster reads what is computed for a row operation by operation, and these are nested too deep for it"))
		}
		if left := maxCompiled; !compilable(e, &left) {
			w.fail(syntax.Refuse(w.pos, "write it with fewer operations",
				"a Trino cluster compiles what is computed for a row, and this is too long for it"))
		}
		if x, ok := e.(*tree.Exists); ok && asksOutside(x) {
			w.fail(syntax.Refuse(w.pos, "compare it with the row of the subquery around it instead",
				"Trino has no EXISTS inside of EXISTS that names a row outside of both"))
		}
		c, ok := e.(*tree.Call)
		if !ok || c.Fn != "matches" {
			return
		}
		_, err := posix.NewAutomaton(*c.Args[1].(*tree.Literal).Text)
		if e := (*posix.Error)(nil); errors.As(err, &e) {
			w.fail(syntax.Refuse(w.pos, e.Instead, "%s", e.Reason))
		} else if err != nil {
			w.fail(syntax.Refuse(w.pos, "write a simpler pattern", "this pattern cannot be used"))
		}
	})
	eachRelation(from, func(r tree.Relation) {
		window, ok := r.(*tree.Window)
		if !ok {
			return
		}
		for _, o := range window.Calls {
			if o.Kind == tree.PartDistinct {
				w.fail(syntax.Refuse(w.pos, "count the different values of a person in a subquery that is grouped by the person",
					"Trino has no COUNT(DISTINCT ...) OVER"))
			}
		}
	})
}

// asksOutside reports whether a subquery inside of this one names the row that this one is asked
// of.
func asksOutside(x *tree.Exists) (yes bool) {
	if x.On == nil {
		return false
	}
	tree.Walk(x.On, func(e tree.Expr) {
		if inner, ok := e.(*tree.Exists); ok && inner.On != nil {
			tree.Walk(inner.On, func(e tree.Expr) {
				c, ok := e.(*tree.Column)
				yes = yes || ok && c.Index < x.Outer
			})
		}
	})
	return yes
}

// maxCompiled is how many operations, each as often as it is written, an expression has at most on
// a cluster: Trino makes one method of it, and a method has an end.
const maxCompiled = 1000

// compilable counts operations until none is left.
func compilable(e tree.Expr, left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	for i, p := range tree.Parts(e) {
		for range expr.Copies(e, i) {
			if !compilable(p, left) {
				return false
			}
		}
	}
	return true
}

// maxNested is how deep a printed expression is at most: a bracket counts as 1, CASE as 2, and a
// function as 3. Trino's parser has no more room on its stack from about 750 on (from 820 brackets,
// 380 CASEs and 320 functions, in a thread of 1 MB), and says so after the charge.
const maxNested = 400

// nested is how deep an expression gets where it is printed. A time is made, moved and taken apart
// again by functions in functions.
func nested(e tree.Expr) int {
	most := 0
	for _, p := range tree.Parts(e) {
		most = max(most, nested(p))
	}
	if c, ok := e.(*tree.Call); ok {
		for _, x := range append([]tree.Expr{e}, c.Args...) {
			if k := x.Type().Kind; k == tree.Date || k == tree.Timestamp {
				return most + 20
			}
		}
		return most + 7
	}
	return most + 4
}

// eachExpr calls f for all expressions of a relation, and of some over it.
func eachExpr(from tree.Relation, over []tree.Expr, f func(tree.Expr)) {
	look := func(e tree.Expr) {
		if e == nil {
			return
		}
		tree.Walk(e, func(e tree.Expr) {
			f(e)
			if x, ok := e.(*tree.Exists); ok {
				eachExpr(x.From, nil, f)
			}
		})
	}
	for _, e := range over {
		look(e)
	}
	eachRelation(from, func(r tree.Relation) {
		switch r := r.(type) {
		case *tree.Join:
			look(r.On)
		case *tree.Select:
			look(r.Where)
			for _, e := range r.Columns {
				look(e)
			}
		case *tree.Persons:
			look(r.Where)
			for _, e := range r.Keys {
				look(e)
			}
			for _, p := range r.Parts {
				look(p.Arg)
			}
		case *tree.Window:
			look(r.Where)
			for _, o := range r.Calls {
				look(o.Arg)
				look(o.Otherwise)
				for _, e := range o.By {
					look(e)
				}
				for _, by := range o.Order {
					look(by.By)
				}
			}
		}
	})
}

// eachRelation calls f for a relation and those that it is made of, without those of subqueries in
// conditions.
func eachRelation(r tree.Relation, f func(tree.Relation)) {
	f(r)
	switch r := r.(type) {
	case *tree.Join:
		eachRelation(r.L, f)
		eachRelation(r.R, f)
	case *tree.Select:
		eachRelation(r.From, f)
	case *tree.Union:
		for _, p := range r.Parts {
			eachRelation(p, f)
		}
	case *tree.Persons:
		eachRelation(r.From, f)
	case *tree.Window:
		eachRelation(r.From, f)
	case *tree.Cut:
		eachRelation(r.From, f)
	}
}
