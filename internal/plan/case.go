package plan

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

func checkCase(s scope, c *pg.CaseExpr) (tree.Expr, error) {
	var subject tree.Expr
	if c.Arg != nil {
		var err error
		if subject, err = checkExpr(s, c.Arg); err != nil {
			return nil, err
		}
	}
	var whens []tree.When
	for _, n := range c.Args {
		w := n.GetCaseWhen()
		var when tree.When
		var err error
		if subject == nil {
			when.If, err = checkCondition(s, w.Expr)
		} else if when.If, err = checkExpr(s, w.Expr); err == nil {
			when.If, err = expr.NewCompare(tree.Eq, subject, when.If, w.Location)
		}
		if err != nil {
			return nil, err
		}
		if when.Then, err = checkExpr(s, w.Result); err != nil {
			return nil, err
		}
		whens = append(whens, when)
	}
	var otherwise tree.Expr = expr.NewNull(tree.Type{})
	if c.Defresult != nil {
		var err error
		if otherwise, err = checkExpr(s, c.Defresult); err != nil {
			return nil, err
		}
	}
	return expr.NewCase(whens, otherwise, c.Location)
}

// checkTruth makes IS TRUE and its relatives, which are never NULL.
func checkTruth(s scope, b *pg.BooleanTest) (tree.Expr, error) {
	x, err := checkCondition(s, b.Arg)
	if err != nil {
		return nil, err
	}
	known := func(otherwise bool) (tree.Expr, error) {
		return expr.NewCall("coalesce", tree.Bool, b.Location, x, expr.NewBool(otherwise))
	}
	not := func(e tree.Expr, err error) (tree.Expr, error) { return &tree.Not{X: e}, err }
	switch b.Booltesttype {
	case pg.BoolTestType_IS_TRUE:
		return known(false)
	case pg.BoolTestType_IS_NOT_TRUE:
		return not(known(false))
	case pg.BoolTestType_IS_FALSE:
		return not(known(true))
	case pg.BoolTestType_IS_NOT_FALSE:
		return known(true)
	case pg.BoolTestType_IS_UNKNOWN:
		return &tree.IsNull{X: x}, nil
	}
	return &tree.Not{X: &tree.IsNull{X: x}}, nil
}
