package plan

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

func checkOperator(s scope, a *pg.A_Expr) (Expr, error) {
	if len(a.Name) != 1 {
		return nil, refuse(a.Location, "write the operator alone", "an operator with a schema cannot be used")
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
		l, r, err := checkSides(s, a)
		if err != nil {
			return nil, err
		}
		return newOperator(op, l, r, a.Location)
	case pg.A_Expr_Kind_AEXPR_IN:
		return checkIn(s, op == "<>", a)
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		return checkBetween(s, a)
	case pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE:
		return checkLike(s, op, a)
	case pg.A_Expr_Kind_AEXPR_SIMILAR:
		return nil, refuse(a.Location, "use LIKE, where % stands for anything and _ for one character", "regular expressions cannot be used")
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		l, r, err := checkSides(s, a)
		if err != nil {
			return nil, err
		}
		if a.Kind == pg.A_Expr_Kind_AEXPR_DISTINCT {
			return newCompare(Distinct, l, r, a.Location)
		}
		return newCompare(NotDistinct, l, r, a.Location)
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return checkNamed(s, "nullif", []*pg.Node{a.Lexpr, a.Rexpr}, a.Location)
	}
	return nil, refuse(a.Location, operators, "this operator cannot be used here")
}

const operators = "use =, <>, <, <=, >, >=, IN, BETWEEN, IS NULL, LIKE, ||, + - * / % and ^"

// checkSides checks both sides of an operator.
func checkSides(s scope, a *pg.A_Expr) (l, r Expr, err error) {
	if l, err = checkExpr(s, a.Lexpr); err == nil {
		r, err = checkExpr(s, a.Rexpr)
	}
	return l, r, err
}

func newOperator(op string, l, r Expr, pos int32) (Expr, error) {
	if op == "+" || op == "-" {
		if e, ok, err := newDateArith(op, l, r, pos); ok {
			return e, err
		}
	}
	switch op {
	case "+", "-", "*", "/":
		return newArith(ArithOp(op), adoptNumber(l), adoptNumber(r), pos)
	case "%":
		return newArith(Rem, adoptNumber(l), adoptNumber(r), pos)
	case "=", "<>", "<", "<=", ">", ">=":
		return newCompare(CompareOp(op), l, r, pos)
	case "||":
		return named("||", []Expr{l, r}, pos)
	case "^":
		return named("power", []Expr{l, r}, pos)
	case "~", "!~", "~*", "!~*":
		return nil, refuse(pos, "use LIKE, where % stands for anything and _ for one character", "regular expressions cannot be used")
	}
	return nil, refuse(pos, operators, "the operator %s cannot be used", op)
}

// adoptNumber reads a quoted constant as a number where arithmetic needs one.
func adoptNumber(e Expr) Expr { return adopt(e, newNumber(one)) }

func checkPrefix(s scope, op string, a *pg.A_Expr) (Expr, error) {
	x, err := checkExpr(s, a.Rexpr)
	if err != nil {
		return nil, err
	}
	switch op {
	case "-":
		return newArith(Sub, newNumber(ratOf(0)), adoptNumber(x), a.Location)
	case "+":
		return newArith(Add, newNumber(ratOf(0)), adoptNumber(x), a.Location)
	}
	return nil, refuse(a.Location, "use - or NOT", "the operator %s cannot be used", op)
}

func checkLogic(s scope, b *pg.BoolExpr) (Expr, error) {
	var args []Expr
	for _, n := range b.Args {
		e, err := checkCondition(s, n)
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	switch b.Boolop {
	case pg.BoolExprType_AND_EXPR:
		return &Logic{And, args}, nil
	case pg.BoolExprType_OR_EXPR:
		return &Logic{Or, args}, nil
	case pg.BoolExprType_NOT_EXPR:
		return &Not{args[0]}, nil
	}
	return nil, refuse(b.Location, "use AND, OR and NOT", "this cannot be used here")
}

func checkBetween(s scope, a *pg.A_Expr) (Expr, error) {
	items := a.Rexpr.GetList().GetItems()
	if len(items) != 2 {
		return nil, refuse(a.Location, "write x BETWEEN low AND high", "BETWEEN needs two ends")
	}
	x, err := checkExpr(s, a.Lexpr)
	if err != nil {
		return nil, err
	}
	var ends [2]Expr
	for i, op := range []CompareOp{Ge, Le} {
		end, err := checkExpr(s, items[i])
		if err != nil {
			return nil, err
		}
		if ends[i], err = newCompare(op, x, end, a.Location); err != nil {
			return nil, err
		}
	}
	var e Expr = &Logic{And, ends[:]}
	if err := notTooLarge(e, a.Location); err != nil {
		return nil, err
	}
	if a.Kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN {
		e = &Not{e}
	}
	return e, nil
}

func checkIn(s scope, not bool, a *pg.A_Expr) (Expr, error) {
	x, err := checkExpr(s, a.Lexpr)
	if err != nil {
		return nil, err
	}
	items := a.Rexpr.GetList().GetItems()
	list := make([]Expr, len(items))
	for i, n := range items {
		e, err := checkExpr(s, n)
		if err != nil {
			return nil, err
		}
		lit, ok := normal(e).(*Literal)
		if ok && lit.IsNullLiteral() {
			return nil, refuse(a.Location, "list values, as in IN ('a', 'b'); write IS NULL for NULL", "nothing is equal to NULL")
		}
		if ok {
			e = lit
		}
		// Comparing brings x to the finest lattice of the list.
		if x, list[i], err = comparable2(x, e, a.Location); err != nil {
			return nil, err
		}
	}
	e, err := newIn(x, list, a.Location)
	if err != nil {
		return nil, err
	}
	if not {
		e = &Not{e}
	}
	return e, nil
}

func newIn(x Expr, list []Expr, pos int32) (Expr, error) {
	if len(list) == 0 {
		return nil, refuse(pos, "list constants, as in IN ('a', 'b')", "the list of IN is empty")
	}
	in := &In{X: x}
	var equals []Expr
	for _, e := range list {
		_, e, err := comparable2(x, e, pos)
		if err != nil {
			return nil, err
		}
		if lit, ok := e.(*Literal); ok {
			in.List = append(in.List, lit)
		}
		equals = append(equals, &Compare{Op: Eq, L: x, R: e})
	}
	if len(in.List) < len(list) { // something else than constants; reals have none
		e := &Logic{Or, equals}
		return e, notTooLarge(e, pos)
	}
	return in, nil
}
