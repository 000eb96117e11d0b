package planner

import (
	"fmt"
	"math/big"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/posix"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

func checkOperator(s scope, a *pg.A_Expr) (tree.Expr, error) {
	if len(a.Name) != 1 {
		return nil, syntax.Refuse(syntax.Unsupported, a.Location, "write only the operator", "an operator with a schema cannot be used")
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
		if op == "||" {
			if l, err = shortened(s, a.Lexpr, l, a.Location); err != nil {
				return nil, err
			}
			if r, err = shortened(s, a.Rexpr, r, a.Location); err != nil {
				return nil, err
			}
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
		return nil, syntax.Refuse(syntax.Unsupported, a.Location,
			fmt.Sprintf("compare with a list of at most %d constants, as in x = ANY (ARRAY['a', 'b']), "+
				"x = ANY ($1) or x IN ('a', 'b')", syntax.MaxElements), "this array cannot be used in a comparison")
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return checkNamed(s, "nullif", []*pg.Node{a.Lexpr, a.Rexpr}, a.Location)
	}
	return nil, syntax.Refuse(syntax.Unsupported, a.Location, expr.Operators, "this operator cannot be used here")
}

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
	return nil, syntax.Refuse(syntax.NoFunction, a.Location, "use - or NOT", "the operator %s cannot be used", op)
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
	return nil, syntax.Refuse(syntax.Unsupported, b.Location, "use AND, OR and NOT", "this cannot be used here")
}

func checkBetween(s scope, a *pg.A_Expr) (tree.Expr, error) {
	items := a.Rexpr.GetList().GetItems()
	if len(items) != 2 {
		return nil, syntax.Refuse(syntax.Malformed, a.Location, "write x BETWEEN low AND high", "BETWEEN needs two ends")
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

func checkLike(s scope, op string, a *pg.A_Expr) (tree.Expr, error) {
	const example = "name LIKE 'A%'"
	x, err := checkExpr(s, a.Lexpr)
	if err != nil {
		return nil, err
	}
	right, escape := a.Rexpr, '\\'
	if f := right.GetFuncCall(); f != nil && functionName(f) == "like_escape" && len(f.Args) == 2 {
		right = f.Args[0]
		if escape, err = escapeCharacter(f.Args[1], a.Location); err != nil {
			return nil, err
		}
	}
	r, err := checkExpr(s, right)
	if err != nil {
		return nil, err
	}
	if l, ok := expr.Constant(r); ok && l.IsNullLiteral() {
		return expr.NewNull(tree.Bool), nil
	}
	if l, ok := x.(*tree.Literal); ok && l.IsNullLiteral() {
		return expr.NewNull(tree.Bool), nil
	}
	if k := x.Type().Kind; k != tree.Text {
		return nil, syntax.Refuse(syntax.NoFunction, a.Location, "compare with =, < or BETWEEN, or cast it, as in CAST(age AS text)",
			"LIKE is for text, but this is %s", expr.Article(k))
	}
	text, err := expr.TextConstant(r, expr.MaxNeedle, example, a.Location)
	if err != nil {
		return nil, err
	}
	not := strings.HasPrefix(op, "!")
	p, ok := expr.ReadPattern(text, escape)
	if !ok {
		return nil, syntax.Refuse(syntax.BadEscape, a.Location, "write the escape character twice",
			"the pattern ends with its escape character")
	}
	if strings.HasSuffix(op, "*") { // ILIKE
		for i, c := range p {
			if c >= 0 {
				p[i] = tree.PatternPart([]rune(expr.Lower(string(rune(c))))[0])
			}
		}
		if x, err = expr.Named("lower", []tree.Expr{x}, a.Location); err != nil {
			return nil, err
		}
	}
	e, err := expr.NewLike(x, p, a.Location)
	if err == nil && not {
		e = &tree.Not{X: e}
	}
	return e, err
}

// escapeCharacter reads what stands behind ESCAPE; 0 for none.
func escapeCharacter(n *pg.Node, pos int32) (rune, error) {
	text, isText := n.GetAConst().GetVal().(*pg.A_Const_Sval)
	runes := []rune(constText(text))
	if !isText || len(runes) > 1 {
		return 0, syntax.Refuse(syntax.BadEscape, pos, "write one character in quotes, as in LIKE '10!%' ESCAPE '!'",
			"ESCAPE takes one constant character")
	}
	if len(runes) == 0 {
		return 0, nil
	}
	return runes[0], nil
}

func constText(s *pg.A_Const_Sval) string {
	if s == nil {
		return ""
	}
	return s.Sval.GetSval()
}

// checkSimilar reads x SIMILAR TO 'p' and its negation, with or without ESCAPE.
func checkSimilar(s scope, op string, a *pg.A_Expr) (tree.Expr, error) {
	x, err := checkExpr(s, a.Lexpr)
	if err != nil {
		return nil, err
	}
	right, escape := a.Rexpr, '\\'
	if f := right.GetFuncCall(); f != nil && functionName(f) == "similar_to_escape" && len(f.Args) > 0 {
		right = f.Args[0]
		if len(f.Args) == 2 {
			if escape, err = escapeCharacter(f.Args[1], a.Location); err != nil {
				return nil, err
			}
		}
	}
	r, err := checkExpr(s, right)
	if err != nil {
		return nil, err
	}
	e, err := expr.NewMatch(x, r, func(p string) (string, error) { return posix.Similar(p, escape) }, a.Location)
	if err == nil && strings.HasPrefix(op, "!") {
		e = &tree.Not{X: e}
	}
	return e, err
}

// checkCall checks the call of a function that is not an aggregate.
func checkCall(s scope, f *pg.FuncCall) (tree.Expr, error) {
	name := functionName(f)
	if e, done, err := checkTimeCall(s, name, f); done {
		return e, err
	}
	if expr.Lookup(name) == nil {
		return nil, syntax.Refuse(syntax.NoFunction, f.Location, functionInstead(name), "the function %s cannot be used", name)
	}
	if f.AggDistinct || f.AggFilter != nil || f.Over != nil || len(f.AggOrder) > 0 || f.AggWithinGroup || f.FuncVariadic || f.AggStar {
		return nil, syntax.Refuse(syntax.NotAggregate, f.Location, "write "+expr.Lookup(name).Usage, "%s is not an aggregate", name)
	}
	return checkNamed(s, name, f.Args, f.Location)
}

// insteadAround is for what makes JSON: an answer can be written so, and rows cannot.
const insteadAround = "make JSON of answers, in a SELECT around a question: SELECT json_agg(t) FROM (SELECT sex, COUNT(*) AS n ... " +
	"GROUP BY sex) AS t"

// makesJSON reports whether a function makes JSON or arrays, or reads them, which a SELECT around
// questions may.
func makesJSON(name string) bool {
	return strings.HasPrefix(name, "json") || strings.HasPrefix(name, "array_") || name == "to_json" || name == "to_jsonb" ||
		name == "row_to_json" || name == "unnest" || name == "cardinality"
}

// insteadFunctions is the hint where none is known for the name.
const insteadFunctions = "use the operators and functions of docs/sql-functions.md"

// functionInstead says what to write in place of a function that there is not.
func functionInstead(name string) string {
	if makesJSON(name) {
		return insteadAround
	}
	switch name {
	case "now", "current_timestamp", "clock_timestamp", "random":
		return "write the value itself, as in '2024-01-31'; an answer must not depend on when you ask"
	case "repeat", "regexp_replace", "translate", "format", "reverse", "initcap":
		return "use ||, replace, left, right, substring, lpad, trim, lower or upper, whose results have a bounded length"
	case "regexp_matches", "regexp_match", "regexp_substr", "regexp_count", "regexp_instr":
		return "use ~ or regexp_like, which say whether a pattern is in a text"
	case "median", "percentile_cont", "min", "max", "stddev", "variance":
		return "use COUNT, SUM or AVG"
	case "age":
		return "take a field of it, as in extract(year from age(seen, born)), or subtract dates, as in seen - born, which is a number " +
			"of days"
	case "datediff", "date_diff":
		return "subtract dates, as in discharged - admitted, which is a number of days"
	case "year", "quarter", "month", "week", "day", "dayofweek", "dayofyear", "weekday", "hour", "minute", "second":
		return "use extract, as in extract(year from day)"
	case "dateadd", "date_add", "date_sub":
		return "add an interval, as in day + INTERVAL '1 month', or a number of days, as in day + 7"
	case "ifnull", "isnull", "nvl":
		return "use coalesce(x, y), or x IS NULL"
	case "if", "iff", "iif", "decode":
		return "use CASE WHEN ... THEN ... ELSE ... END"
	case "len", "char_len":
		return "use length(s)"
	case "instr", "charindex", "locate":
		return "use strpos(s, 'x')"
	case "strftime":
		return "use to_char(day, 'YYYY-MM'), extract(year from day) or date_trunc('month', day)"
	case "to_number":
		return "use CAST(x AS numeric(10,2))"
	}
	close := ""
	for _, f := range expr.Functions() {
		if name != "" && (strings.HasPrefix(f, name) || strings.HasPrefix(name, f)) {
			close = "; did you mean " + f + "?"
		}
	}
	return insteadFunctions + close
}

// thresholds are those of width_bucket(x, ARRAY[...]); nil where there are none.
func thresholds(name string, args []*pg.Node) []*pg.Node {
	if name != "width_bucket" || len(args) != 2 {
		return nil
	}
	array := args[1]
	if c := array.GetTypeCast(); c != nil && len(c.GetTypeName().GetArrayBounds()) == 1 {
		array = c.Arg
	}
	return array.GetAArrayExpr().GetElements()
}

// checkNamed checks the arguments of a function and makes it.
func checkNamed(s scope, name string, nodes []*pg.Node, pos int32) (tree.Expr, error) {
	array := thresholds(name, nodes)
	if array != nil {
		nodes = append([]*pg.Node{nodes[0]}, array...)
	}
	args := make([]tree.Expr, len(nodes))
	for i, n := range nodes {
		var err error
		if n.GetNamedArgExpr() != nil {
			return nil, syntax.Refuse(syntax.Unsupported, pos, "write "+expr.Lookup(name).Usage, "arguments cannot be named here")
		}
		if args[i], err = checkExpr(s, n); err != nil {
			return nil, err
		}
		if name == "concat" || name == "concat_ws" {
			if args[i], err = shortened(s, n, args[i], pos); err != nil {
				return nil, err
			}
		}
	}
	if array != nil {
		return expr.NewThresholds(args[0], args[1:], pos)
	}
	return expr.Named(name, args, pos)
}
