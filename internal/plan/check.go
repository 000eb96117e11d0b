package plan

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// checkExpr turns a node of the grammar into a checked expression, or refuses.
func checkExpr(s scope, n *pg.Node) (tree.Expr, error) {
	if e, ok := s.whole(n); ok {
		return e, nil
	}
	s.meter().Work(1, meter.Written)
	e, err := checkNode(s, n)
	if err != nil {
		return nil, err
	}
	countNode(s.meter(), e)
	if _, column := e.(*tree.Column); !column && e.Type().Kind == tree.Identity {
		return nil,
			syntax.Refuse(syntax.Location(n), "compare it with = to the same column of another table, or count it with COUNT(DISTINCT ...)",
				"a column that says who or what a row is about cannot be computed with")
	}
	return e, nil
}

func checkNode(s scope, n *pg.Node) (tree.Expr, error) {
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
	case *pg.Node_GroupingFunc:
		if s, ok := s.(groupingScope); ok {
			return s.groupingOf(x.GroupingFunc)
		}
	case *pg.Node_AExpr:
		return checkOperator(s, x.AExpr)
	case *pg.Node_BoolExpr:
		return checkLogic(s, x.BoolExpr)
	case *pg.Node_NullTest:
		return checkNull(s, x.NullTest)
	case *pg.Node_SubLink:
		return s.sublink(x.SubLink)
	case *pg.Node_TypeCast:
		return checkCast(s, x.TypeCast)
	case *pg.Node_CaseExpr:
		return checkCase(s, x.CaseExpr)
	case *pg.Node_CollateClause:
		return checkCollate(s, x.CollateClause)
	case *pg.Node_BooleanTest:
		return checkTruth(s, x.BooleanTest)
	case *pg.Node_CoalesceExpr:
		if s, ok := s.(personNames); ok {
			if person := s.person(x.CoalesceExpr.Args); person != nil {
				return person, nil
			}
		}
		return checkNamed(s, "coalesce", x.CoalesceExpr.Args, x.CoalesceExpr.Location)
	case *pg.Node_MinMaxExpr:
		name := "greatest"
		if x.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST {
			name = "least"
		}
		return checkNamed(s, name, x.MinMaxExpr.Args, x.MinMaxExpr.Location)
	}
	what, instead := unsupported(n)
	return nil, syntax.Refuse(syntax.Location(n), instead, "%s cannot be used here", what)
}

func checkNull(s scope, n *pg.NullTest) (tree.Expr, error) {
	if n.Argisrow {
		return nil, syntax.Refuse(n.Location, "test a single value", "rows cannot be tested for NULL")
	}
	x, err := checkExpr(s, n.Arg)
	if err != nil {
		return nil, err
	}
	var e tree.Expr = &tree.IsNull{X: x}
	if n.Nulltesttype == pg.NullTestType_IS_NOT_NULL {
		e = &tree.Not{X: e}
	}
	return e, nil
}

// unsupported names a node of the grammar that has no place in a question, in
// the words of its users.
func unsupported(n *pg.Node) (what, instead string) {
	const plain = "use columns, constants, operators, CASE and the functions of docs/sql-functions.md"
	switch n.GetNode().(type) {
	case *pg.Node_SqlvalueFunction:
		return "CURRENT_DATE or the like", "write the value itself, as in '2024-01-31'"
	case *pg.Node_ParamRef:
		return "a parameter such as $1", "write the value itself"
	case *pg.Node_GroupingFunc:
		return "GROUPING", "put it into SELECT, HAVING or ORDER BY of a question with GROUP BY"
	case *pg.Node_AArrayExpr, *pg.Node_RowExpr, *pg.Node_AIndirection:
		return "an array or a row", plain
	}
	return "this expression", plain
}

// checkCondition is checkExpr for something that must be true or false.
func checkCondition(s scope, n *pg.Node) (tree.Expr, error) {
	e, err := checkExpr(s, n)
	if err != nil {
		return nil, err
	}
	e = expr.Adopt(e, expr.NewBool(true))
	if k := e.Type().Kind; k != tree.Boolean {
		return nil, syntax.Refuse(syntax.Location(n), "write a comparison, such as age > 40",
			"a condition must be true or false, and this is %s", expr.Article(k))
	}
	return e, nil
}

// columnName returns the name of a column reference, with its table where it has one.
func columnName(c *pg.ColumnRef) (string, error) {
	var parts []string
	for _, f := range c.Fields {
		s := f.GetString_()
		if s == nil {
			return "", syntax.Refuse(c.Location, "name aggregates and keys, as in SELECT sex, COUNT(*) ... GROUP BY sex",
				"* would show rows of the data")
		}
		parts = append(parts, s.GetSval())
	}
	if len(parts) > 2 {
		return "", syntax.Refuse(c.Location, "write column or table.column", "a column's name has too many parts")
	}
	return strings.Join(parts, "\x00"), nil
}
