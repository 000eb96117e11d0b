package plan

import (
	"fmt"
	"math/big"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

func checkOperator(s scope, a *pg.A_Expr) (tree.Expr, error) {
	if len(a.Name) != 1 {
		return nil, syntax.Refuse(a.Location, "write the operator alone", "an operator with a schema cannot be used")
	}
	op := a.Name[0].GetString_().GetSval()
	switch a.Kind {
	case pg.A_Expr_Kind_AEXPR_OP:
		if a.Lexpr == nil {
			return checkPrefix(s, op, a)
		}
		if isInterval(a.Rexpr) || isInterval(a.Lexpr) {
			return checkShift(s, op, a)
		}
		if isManyTimes(a.Rexpr) || isManyTimes(a.Lexpr) {
			return checkManyTimes(s, op, a)
		}
		l, r, err := checkSides(s, a)
		if err != nil {
			return nil, err
		}
		return expr.NewOperator(op, l, r, a.Location)
	case pg.A_Expr_Kind_AEXPR_IN:
		return checkIn(s, op == "<>", a)
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		return checkBetween(s, a)
	case pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE:
		return checkLike(s, op, a)
	case pg.A_Expr_Kind_AEXPR_SIMILAR:
		return checkSimilar(s, op, a)
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		l, r, err := checkSides(s, a)
		if err != nil {
			return nil, err
		}
		if a.Kind == pg.A_Expr_Kind_AEXPR_DISTINCT {
			return expr.NewCompare(tree.Distinct, l, r, a.Location)
		}
		return expr.NewCompare(tree.NotDistinct, l, r, a.Location)
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL: // of constants they are lists by now
		return nil, syntax.Refuse(a.Location, fmt.Sprintf("compare with a list of at most %d constants, as in x = ANY (ARRAY['a', 'b']), "+
			"x = ANY ($1) or x IN ('a', 'b')", syntax.MaxElements), "this array cannot be compared with")
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return checkNamed(s, "nullif", []*pg.Node{a.Lexpr, a.Rexpr}, a.Location)
	}
	return nil, syntax.Refuse(a.Location, expr.Operators, "this operator cannot be used here")
}

// checkSides checks both sides of an operator.
func checkSides(s scope, a *pg.A_Expr) (l, r tree.Expr, err error) {
	if l, err = checkExpr(s, a.Lexpr); err == nil {
		r, err = checkExpr(s, a.Rexpr)
	}
	return l, r, err
}

func checkPrefix(s scope, op string, a *pg.A_Expr) (tree.Expr, error) {
	x, err := checkExpr(s, a.Rexpr)
	if err != nil {
		return nil, err
	}
	switch op {
	case "-":
		return expr.NewArith(tree.Sub, expr.NewNumber(big.NewRat(0, 1)), expr.AdoptNumber(x), a.Location)
	case "+":
		return expr.NewArith(tree.Add, expr.NewNumber(big.NewRat(0, 1)), expr.AdoptNumber(x), a.Location)
	}
	return nil, syntax.Refuse(a.Location, "use - or NOT", "the operator %s cannot be used", op)
}

func checkLogic(s scope, b *pg.BoolExpr) (tree.Expr, error) {
	var args []tree.Expr
	for _, n := range b.Args {
		e, err := checkCondition(s, n)
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	switch b.Boolop {
	case pg.BoolExprType_AND_EXPR:
		return &tree.Logic{Op: tree.And, Args: args}, nil
	case pg.BoolExprType_OR_EXPR:
		return &tree.Logic{Op: tree.Or, Args: args}, nil
	case pg.BoolExprType_NOT_EXPR:
		return &tree.Not{X: args[0]}, nil
	}
	return nil, syntax.Refuse(b.Location, "use AND, OR and NOT", "this cannot be used here")
}

func checkBetween(s scope, a *pg.A_Expr) (tree.Expr, error) {
	items := a.Rexpr.GetList().GetItems()
	if len(items) != 2 {
		return nil, syntax.Refuse(a.Location, "write x BETWEEN low AND high", "BETWEEN needs two ends")
	}
	x, err := checkExpr(s, a.Lexpr)
	if err != nil {
		return nil, err
	}
	var ends [2]tree.Expr
	for i, op := range []tree.CompareOp{tree.Ge, tree.Le} {
		end, err := checkExpr(s, items[i])
		if err != nil {
			return nil, err
		}
		if ends[i], err = expr.NewCompare(op, x, end, a.Location); err != nil {
			return nil, err
		}
	}
	var e tree.Expr = &tree.Logic{Op: tree.And, Args: ends[:]}
	if err := expr.NotTooLarge(e, a.Location); err != nil {
		return nil, err
	}
	if a.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN {
		e = &tree.Not{X: e}
	}
	return e, nil
}

// checkIn reads x IN (...). A NULL in the list is equal to nothing, so beside it x is among the
// others, or nobody knows.
func checkIn(s scope, not bool, a *pg.A_Expr) (tree.Expr, error) {
	x, err := checkExpr(s, a.Lexpr)
	if err != nil {
		return nil, err
	}
	var list []tree.Expr
	unknown := false
	for _, n := range a.Rexpr.GetList().GetItems() {
		e, err := checkExpr(s, n)
		if err != nil {
			return nil, err
		}
		if lit, ok := expr.Normal(e).(*tree.Literal); ok {
			e = lit
		}
		// Comparing brings x to the finest lattice of the list.
		if x, e, err = expr.Unite(x, e, a.Location); err != nil {
			return nil, err
		}
		if lit, ok := e.(*tree.Literal); ok && lit.IsNullLiteral() {
			unknown = true
			continue
		}
		list = append(list, e)
	}
	var e tree.Expr = expr.NewNull(tree.Bool)
	if len(list) > 0 || !unknown {
		if e, err = expr.NewIn(x, list, a.Location); err != nil {
			return nil, err
		}
		if unknown {
			e = &tree.Logic{Op: tree.Or, Args: []tree.Expr{e, expr.NewNull(tree.Bool)}}
		}
	}
	if not {
		e = &tree.Not{X: e}
	}
	return e, nil
}
