package expr

import (
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

const Operators = "use =, <>, <, <=, >, >=, IN, BETWEEN, IS NULL, LIKE, ~, ||, + - * / % and ^"

func NewOperator(op string, l, r tree.Expr, pos int32) (tree.Expr, error) {
	if op == "+" || op == "-" {
		if e, ok, err := newDateArith(op, l, r, pos); ok {
			return e, err
		}
	}
	switch op {
	case "+", "-", "*", "/":
		return NewArith(tree.ArithOp(op), AdoptNumber(l), AdoptNumber(r), pos)
	case "%":
		return NewArith(tree.Rem, AdoptNumber(l), AdoptNumber(r), pos)
	case "=", "<>", "<", "<=", ">", ">=":
		return NewCompare(tree.CompareOp(op), l, r, pos)
	case "||":
		return Named("||", []tree.Expr{l, r}, pos)
	case "^":
		return Named("power", []tree.Expr{l, r}, pos)
	case "~", "!~", "~*", "!~*":
		return newOperatorMatch(op, l, r, pos)
	}
	return nil, syntax.Refuse(pos, Operators, "the operator %s cannot be used", op)
}

// AdoptNumber reads a quoted constant as a number where arithmetic needs one.
func AdoptNumber(e tree.Expr) tree.Expr { return Adopt(e, NewNumber(tree.One)) }

func NewIn(x tree.Expr, list []tree.Expr, pos int32) (tree.Expr, error) {
	if len(list) == 0 {
		return nil, syntax.Refuse(pos, "list constants, as in IN ('a', 'b')", "the list of IN is empty")
	}
	in := &tree.In{X: x}
	var equals []tree.Expr
	for _, e := range list {
		_, e, err := Unite(x, e, pos)
		if err != nil {
			return nil, err
		}
		if lit, ok := e.(*tree.Literal); ok {
			in.List = append(in.List, lit)
		}
		equals = append(equals, &tree.Compare{Op: tree.Eq, L: x, R: e})
	}
	if len(in.List) < len(list) { // something else than constants; reals have none
		e := &tree.Logic{Op: tree.Or, Args: equals}
		return e, NotTooLarge(e, pos)
	}
	return in, nil
}
