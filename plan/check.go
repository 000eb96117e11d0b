package plan

import (
	"strings"

	"github.com/discreet-dp/discreet/dp"
	pg "github.com/pganalyze/pg_query_go/v6"
)

// scope says what names and functions mean in one part of a question. Below the
// noise a name is a private column and no aggregate exists; above it a name is
// a released key, and aggregates are released values.
type scope interface {
	column(name string, pos int32) (Expr, error)
	call(f *pg.FuncCall) (Expr, error)
}

// checkExpr turns a node of the grammar into a checked expression, or refuses.
func checkExpr(s scope, n *pg.Node) (Expr, error) {
	switch x := n.GetNode().(type) {
	case *pg.Node_AConst:
		return checkConst(x.AConst)
	case *pg.Node_ColumnRef:
		name, err := columnName(x.ColumnRef)
		if err != nil {
			return nil, err
		}
		return s.column(name, x.ColumnRef.Location)
	case *pg.Node_FuncCall:
		return s.call(x.FuncCall)
	case *pg.Node_AExpr:
		return checkOperator(s, x.AExpr)
	case *pg.Node_BoolExpr:
		return checkLogic(s, x.BoolExpr)
	case *pg.Node_NullTest:
		return checkNull(s, x.NullTest)
	case *pg.Node_TypeCast:
		return checkCast(x.TypeCast)
	}
	what, instead := unsupported(n)
	return nil, refuse(location(n), instead, "%s cannot be used here", what)
}

func checkNull(s scope, n *pg.NullTest) (Expr, error) {
	if n.Argisrow {
		return nil, refuse(n.Location, "test a single value", "rows cannot be tested for NULL")
	}
	x, err := checkExpr(s, n.Arg)
	if err != nil {
		return nil, err
	}
	var e Expr = &IsNull{x}
	if n.Nulltesttype == pg.NullTestType_IS_NOT_NULL {
		e = &Not{e}
	}
	return e, nil
}

// unsupported names a node of the grammar that has no place in a question, in
// the words of its users.
func unsupported(n *pg.Node) (what, instead string) {
	const plain = "use columns, numbers, comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL and + - * / %"
	switch n.GetNode().(type) {
	case *pg.Node_SubLink:
		return "a subquery", "ask it as a question of its own"
	case *pg.Node_CaseExpr:
		return "CASE", "write the condition into WHERE, with AND and OR"
	case *pg.Node_SqlvalueFunction:
		return "CURRENT_DATE or the like", "write the value itself, as in '2024-01-31'"
	case *pg.Node_ParamRef:
		return "a parameter such as $1", "write the value itself"
	case *pg.Node_BooleanTest:
		return "IS TRUE or IS FALSE", "write the condition itself, or NOT and the condition"
	case *pg.Node_CoalesceExpr, *pg.Node_MinMaxExpr:
		return "COALESCE, GREATEST or LEAST", plain
	case *pg.Node_AArrayExpr, *pg.Node_RowExpr, *pg.Node_AIndirection:
		return "an array or a row", plain
	}
	return "this expression", plain
}

func checkConst(c *pg.A_Const) (Expr, error) {
	if c.Isnull {
		return newNull(Type{}), nil
	}
	switch v := c.Val.(type) {
	case *pg.A_Const_Ival:
		return newNumber(ratOf(int64(v.Ival.GetIval()))), nil
	case *pg.A_Const_Fval:
		r, err := dp.ParseDecimal(v.Fval.GetFval())
		if err != nil {
			return nil, refuse(c.Location, "write a decimal number of at most 64 digits", "this number cannot be read")
		}
		return checked(newNumber(r), c.Location)
	case *pg.A_Const_Boolval:
		return newBool(v.Boolval.GetBoolval()), nil
	case *pg.A_Const_Sval:
		return newText(v.Sval.GetSval()), nil
	}
	return nil, refuse(c.Location, "write a number, a 'text', true, false or a date", "this constant cannot be used here")
}

// checkCast takes a cast of a constant only, which is read now and cannot fail later.
func checkCast(c *pg.TypeCast) (Expr, error) {
	const instead = "casts are for constants, as in DATE '2024-01-31'; the policy gives columns their types"
	pos := c.Location
	if pos < 0 { // DATE '2024-01-31' has no place of its own
		pos = location(c.Arg)
	}
	name := ""
	if names := c.TypeName.GetNames(); len(names) > 0 && len(c.TypeName.GetArrayBounds()) == 0 && !c.TypeName.GetSetof() {
		name = names[len(names)-1].GetString_().GetSval()
	}
	kind, ok := map[string]Kind{
		"date": Date, "bool": Boolean, "text": Text, "varchar": Text,
		"int2": Number, "int4": Number, "int8": Number, "numeric": Number, "float4": Number, "float8": Number,
	}[name]
	if !ok {
		return nil, refuse(pos, instead, "a cast to this type cannot be used here")
	}
	node := c.Arg.GetAConst()
	if node == nil {
		return nil, refuse(pos, instead, "only a constant can be cast")
	}
	e, err := checkConst(node)
	if err != nil {
		return nil, err
	}
	lit := e.(*Literal)
	switch {
	case lit.IsNullLiteral():
		return newNull(Type{}), nil
	case lit.typ.Kind == kind:
	case lit.Text != nil:
		if lit, ok = readLiteral(*lit.Text, kind); !ok {
			return nil, refuse(pos, "write for example DATE '2024-01-31', true or 12.5", "this text is not %s", article(kind))
		}
	default:
		return nil, refuse(pos, instead, "this constant cannot be cast to this type")
	}
	if strings.HasPrefix(name, "int") && !lit.typ.Integer() {
		return nil, refuse(pos, "write a whole number", "this constant is not a whole number")
	}
	return checked(lit, pos)
}

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
		l, err := checkExpr(s, a.Lexpr)
		if err != nil {
			return nil, err
		}
		r, err := checkExpr(s, a.Rexpr)
		if err != nil {
			return nil, err
		}
		return newOperator(op, l, r, a.Location)
	case pg.A_Expr_Kind_AEXPR_IN:
		return checkIn(s, op == "<>", a)
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		return checkBetween(s, a)
	case pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE, pg.A_Expr_Kind_AEXPR_SIMILAR:
		return nil, refuse(a.Location, "compare with = or IN", "patterns cannot be used yet")
	}
	return nil, refuse(a.Location, "use =, <>, <, <=, >, >=, IN, BETWEEN, IS NULL, + - * / %", "this operator cannot be used here")
}

func newOperator(op string, l, r Expr, pos int32) (Expr, error) {
	switch op {
	case "+", "-", "*", "/":
		return newArith(ArithOp(op), adoptNumber(l), adoptNumber(r), pos)
	case "%":
		return newArith(Rem, adoptNumber(l), adoptNumber(r), pos)
	case "=", "<>", "<", "<=", ">", ">=":
		return newCompare(CompareOp(op), l, r, pos)
	}
	return nil, refuse(pos, "use =, <>, <, <=, >, >=, IN, BETWEEN, IS NULL, + - * / %", "the operator %s cannot be used", op)
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

// checkCondition is checkExpr for something that must be true or false.
func checkCondition(s scope, n *pg.Node) (Expr, error) {
	e, err := checkExpr(s, n)
	if err != nil {
		return nil, err
	}
	e = adopt(e, newBool(true))
	if k := e.Type().Kind; k != Boolean {
		return nil, refuse(location(n), "write a comparison, such as age > 40", "a condition must be true or false, and this is %s", article(k))
	}
	return e, nil
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
		if !ok || lit.IsNullLiteral() {
			return nil, refuse(a.Location, "list constants, as in IN ('a', 'b'); write IS NULL for NULL", "IN takes a list of constants")
		}
		// Comparing brings x to the finest lattice of the list.
		if x, list[i], err = comparable2(x, lit, a.Location); err != nil {
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
	if len(in.List) < len(list) { // reals have no literals
		return &Logic{Or, equals}, nil
	}
	return in, nil
}

// columnName returns the name of a column reference, with its table where it has one.
func columnName(c *pg.ColumnRef) (string, error) {
	var parts []string
	for _, f := range c.Fields {
		s := f.GetString_()
		if s == nil {
			return "", refuse(c.Location, "name aggregates and keys, as in SELECT sex, COUNT(*) ... GROUP BY sex", "* would show rows of the data")
		}
		parts = append(parts, s.GetSval())
	}
	if len(parts) > 2 {
		return "", refuse(c.Location, "write column or table.column", "a column's name has too many parts")
	}
	return strings.Join(parts, "\x00"), nil
}
