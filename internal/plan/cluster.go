package plan

import (
	"errors"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/posix"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// engineCheck refuses what an engine cannot be asked, before it costs anything. It is found out from
// the finished tree, like all work.
type engineCheck struct {
	*verdict
	limits policy.EngineLimits
}

func (ec *engineCheck) check(from tree.Relation, over []tree.Expr) {
	ec.limitComparisons(from, over)
	ec.checkExpressions(from, over)
	ec.checkWindows(from)
}

// limitComparisons refuses too many comparisons of two values: from each two DuckDB makes a third one when
// it plans, and 200 of them take it minutes, in which nobody can stop it.
func (ec *engineCheck) limitComparisons(from tree.Relation, over []tree.Expr) {
	n := 0
	eachExpr(from, over, func(e tree.Expr) {
		if c, ok := e.(*tree.Compare); ok && c.Equates() {
			n++
		}
	})
	if n > maxCompared {
		ec.fail(syntax.Refuse(ec.pos, "compare fewer columns with each other", "%d conditions compare two columns, and %d may", n,
			maxCompared))
	}
}

func (ec *engineCheck) checkExpressions(from tree.Relation, over []tree.Expr) {
	most := ec.limits
	if most == (policy.EngineLimits{}) {
		return
	}
	eachExpr(from, over, func(e tree.Expr) {
		if most.MaxDepth > 0 && nested(e) > most.MaxDepth {
			ec.fail(syntax.Refuse(ec.pos, "write it with fewer operations inside of each other",
				"a %s cluster reads what is computed for a row operation by operation, and these are nested too deep for it", most.Name))
		}
		if left := most.MaxOperations; left > 0 && !compilable(e, &left) {
			ec.fail(syntax.Refuse(ec.pos, "write it with fewer operations",
				"a %s cluster compiles what is computed for a row, and this is too long for it", most.Name))
		}
		if x, ok := e.(*tree.Exists); ok && most.NoOuterExists && asksOutside(x) {
			ec.fail(syntax.Refuse(ec.pos, "compare it with the row of the subquery around it instead",
				"%s has no EXISTS inside of EXISTS that names a row outside of both", most.Name))
		}
		c, ok := e.(*tree.Call)
		if !ok || c.Fn != "matches" || !most.AutomatonPatterns {
			return
		}
		_, err := posix.NewAutomaton(*c.Args[1].(*tree.Literal).Text)
		if e := (*posix.Error)(nil); errors.As(err, &e) {
			ec.fail(syntax.Refuse(ec.pos, e.Instead, "%s", e.Reason))
		} else if err != nil {
			ec.fail(syntax.Refuse(ec.pos, "write a simpler pattern", "this pattern cannot be used"))
		}
	})
}

func (ec *engineCheck) checkWindows(from tree.Relation) {
	eachRelation(from, func(r tree.Relation) {
		window, ok := r.(*tree.Window)
		if !ok {
			return
		}
		for _, o := range window.Calls {
			if o.Kind == tree.PartDistinct && ec.limits.NoDistinctWindows {
				ec.fail(syntax.Refuse(ec.pos, "count the different values of a person in a subquery that is grouped by the person",
					"%s has no COUNT(DISTINCT ...) OVER", ec.limits.Name))
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

// nested is how deep an expression gets where it is printed. A time is made, moved and taken apart
// again by functions in functions. A bracket counts as 1, CASE as 2, and a function as 3.
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
