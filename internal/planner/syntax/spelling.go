package syntax

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// respell writes what has several spellings in the one that everybody after this knows. Each means
// the same for every row, NULL included, so an answer that was paid for in one of them is free in
// the others:
//
//   - OPERATOR(pg_catalog.=) is =; ~~, !~~, ~~* and !~~* are LIKE, NOT LIKE, ILIKE and NOT ILIKE;
//   - x = ANY (SELECT ...) is x IN (SELECT ...), and x <> ALL (SELECT ...) is NOT IN;
//   - (SELECT 30), of constants and without FROM, is 30;
//   - COUNT(CASE WHEN c THEN x END) is COUNT(x) FILTER (WHERE c);
//   - comparisons with arrays are lists (expandArrays);
//   - EXISTS (... LIMIT 1) is EXISTS (...).
func respell(s *pg.SelectStmt) {
	kept := map[*pg.Node]bool{} // where a constant would be the position of a column
	EachNode(SelectNode(s), func(n *pg.Node) bool {
		keepPlaces(n, kept)
		switch x := n.GetNode().(type) {
		case *pg.Node_AExpr:
			respellOperator(n, x.AExpr)
		case *pg.Node_FuncCall:
			respellCount(x.FuncCall)
			if f := x.FuncCall; bareName(f) == "timezone" && len(f.Args) == 1 { // at AT LOCAL, and all are in UTC
				zone := "UTC"
				f.Args = append([]*pg.Node{textNode(&zone, f.Location)}, f.Args...)
			}
		}
		for v := constantSelect(n); v != nil && !kept[n]; v = constantSelect(n) {
			n.Node = v.Node
		}
		respellComparison(n)
		return true
	})
	expandArrays(s)
	EachNode(SelectNode(s), func(n *pg.Node) bool {
		l := n.GetSubLink()
		if sub := l.GetSubselect().GetSelectStmt(); sub != nil && l.SubLinkType == pg.SubLinkType_EXISTS_SUBLINK && LeavesARow(sub) {
			sub.LimitCount, sub.LimitOffset, sub.LimitOption = nil, nil, pg.LimitOption_LIMIT_OPTION_DEFAULT
		}
		return true
	})
}

// keepPlaces notes the items of lists in which a constant is not a value: GROUP BY 1 is about a
// column, and GROUP BY (SELECT 1) is not. What SELECT (SELECT 1 AS one) is called stays too.
func keepPlaces(n *pg.Node, kept map[*pg.Node]bool) {
	keep := func(lists ...[]*pg.Node) {
		for _, item := range slices.Concat(lists...) {
			kept[item] = true
		}
	}
	switch x := n.GetNode().(type) {
	case *pg.Node_SelectStmt:
		keep(x.SelectStmt.GroupClause, x.SelectStmt.DistinctClause)
	case *pg.Node_GroupingSet:
		keep(x.GroupingSet.Content)
	case *pg.Node_RowExpr:
		keep(x.RowExpr.Args)
	case *pg.Node_SortBy:
		keep([]*pg.Node{x.SortBy.Node})
	case *pg.Node_ResTarget:
		if x.ResTarget.Name == "" && constantSelect(x.ResTarget.Val) != nil {
			x.ResTarget.Name = x.ResTarget.Val.GetSubLink().Subselect.GetSelectStmt().TargetList[0].GetResTarget().GetName()
		}
	}
}

// bareOperator is the name of an operator without PostgreSQL's own schema, which has all of them.
func bareOperator(names []*pg.Node) []*pg.Node {
	if len(names) == 2 && names[0].GetString_().GetSval() == "pg_catalog" {
		return names[1:]
	}
	return names
}

func isOperator(names []*pg.Node, op string) bool {
	return len(names) == 1 && names[0].GetString_().GetSval() == op
}

func respellOperator(n *pg.Node, a *pg.A_Expr) {
	a.Name = bareOperator(a.Name)
	if len(a.Name) != 1 {
		return
	}
	array := a.Rexpr.GetSubLink()
	switch op := a.Name[0].GetString_().GetSval(); a.Kind {
	case pg.A_Expr_Kind_AEXPR_OP:
		if a.Lexpr != nil {
			a.Kind = likeKind(op)
		}
	case pg.A_Expr_Kind_AEXPR_OP_ANY: // of the array of all rows of a SELECT
		if array.GetSubLinkType() == pg.SubLinkType_ARRAY_SUBLINK && op == "=" {
			array.SubLinkType, array.Testexpr, n.Node = pg.SubLinkType_ANY_SUBLINK, a.Lexpr, a.Rexpr.Node
		}
	}
}

// likeKind is the kind of a comparison by an operator: LIKE where it is one that stands for that.
func likeKind(op string) pg.A_Expr_Kind {
	switch op {
	case "~~", "!~~":
		return pg.A_Expr_Kind_AEXPR_LIKE
	case "~~*", "!~~*":
		return pg.A_Expr_Kind_AEXPR_ILIKE
	}
	return pg.A_Expr_Kind_AEXPR_OP
}

// respellComparison writes comparisons with a SELECT as IN and NOT IN.
func respellComparison(n *pg.Node) {
	l := n.GetSubLink()
	if l == nil {
		return
	}
	l.OperName = bareOperator(l.OperName)
	switch {
	case l.SubLinkType == pg.SubLinkType_ANY_SUBLINK && isOperator(l.OperName, "="):
		l.OperName = nil
	case l.SubLinkType == pg.SubLinkType_ALL_SUBLINK && isOperator(l.OperName, "<>"):
		l.SubLinkType, l.OperName = pg.SubLinkType_ANY_SUBLINK, nil
		in := &pg.Node{Node: &pg.Node_SubLink{SubLink: l}}
		n.Node = &pg.Node_BoolExpr{BoolExpr: &pg.BoolExpr{Boolop: pg.BoolExprType_NOT_EXPR, Args: []*pg.Node{in}, Location: l.Location}}
	}
}

// constantSelect is what a SELECT of one constant, as a value, comes to; nil where it is another.
func constantSelect(n *pg.Node) *pg.Node {
	l := n.GetSubLink()
	s := l.GetSubselect().GetSelectStmt()
	if s == nil || l.SubLinkType != pg.SubLinkType_EXPR_SUBLINK || len(s.TargetList) != 1 || !LeavesARow(s) || len(s.FromClause) > 0 ||
		s.WhereClause != nil || len(s.GroupClause) > 0 || s.HavingClause != nil || len(s.DistinctClause) > 0 || len(s.WindowClause) > 0 ||
		s.WithClause != nil || len(s.ValuesLists) > 0 || s.IntoClause != nil || len(s.LockingClause) > 0 || len(s.SortClause) > 0 ||
		s.Larg != nil {
		return nil
	}
	v := s.TargetList[0].GetResTarget().GetVal()
	constant := v != nil
	EachNode(v, func(n *pg.Node) bool {
		switch x := n.GetNode().(type) {
		case *pg.Node_AConst, *pg.Node_AExpr, *pg.Node_BoolExpr, *pg.Node_TypeCast, *pg.Node_TypeName, *pg.Node_String_, *pg.Node_List,
			*pg.Node_BooleanTest, *pg.Node_NullTest, *pg.Node_ParamRef, *pg.Node_SqlvalueFunction, *pg.Node_AArrayExpr,
			*pg.Node_CoalesceExpr, *pg.Node_MinMaxExpr, *pg.Node_Integer:
		case *pg.Node_FuncCall: // and no aggregate, which would be one of the rows around it
			constant = constant && slices.Contains(rowFunctions, bareName(x.FuncCall)) && x.FuncCall.Over == nil
		case *pg.Node_SubLink:
			constant = constant && constantSelect(n) != nil
			return false
		default:
			constant = false
		}
		return constant
	})
	if !constant {
		return nil
	}
	return v
}

// rowFunctions are what constants are made of.
var rowFunctions = []string{"now", "transaction_timestamp", "statement_timestamp", "date_trunc", "date_part", "extract", "timezone",
	"to_date", "to_timestamp", "make_date", "round", "floor", "ceil", "abs", "lower", "upper", "concat"}

// LeavesARow reports whether LIMIT and OFFSET leave a row where there is one.
func LeavesARow(s *pg.SelectStmt) bool {
	count, first := s.LimitCount.GetAConst(), s.LimitOffset.GetAConst()
	none := first.GetIval() != nil && first.GetIval().Ival == 0
	return (s.LimitCount == nil || count.GetIsnull() || count.GetIval().GetIval() > 0) &&
		(s.LimitOffset == nil || first.GetIsnull() || none)
}

// respellCount writes what is counted under a condition with FILTER: of a CASE with one WHEN that
// is NULL elsewhere.
func respellCount(f *pg.FuncCall) {
	if bareName(f) != "count" || len(f.Args) != 1 || f.Over != nil || f.AggWithinGroup || len(f.AggOrder) > 0 || f.FuncVariadic {
		return
	}
	c := f.Args[0].GetCaseExpr()
	if c == nil || len(c.Args) != 1 {
		return
	}
	when := c.Args[0].GetCaseWhen()
	holds := when.GetExpr()
	if c.Arg != nil {
		holds = &pg.Node{Node: &pg.Node_AExpr{AExpr: &pg.A_Expr{Kind: pg.A_Expr_Kind_AEXPR_OP, Lexpr: c.Arg, Rexpr: when.Expr,
			Name: []*pg.Node{{Node: &pg.Node_String_{String_: &pg.String{Sval: "="}}}}, Location: when.Location}}}
	}
	of := when.GetResult()
	switch {
	case isNullConstant(of) && c.Defresult != nil && !isNullConstant(c.Defresult): // counted where it does not hold
		of = c.Defresult
		holds = &pg.Node{Node: &pg.Node_BooleanTest{BooleanTest: &pg.BooleanTest{Arg: holds,
			Booltesttype: pg.BoolTestType_IS_NOT_TRUE, Location: when.Location}}}
	case isNullConstant(of) || c.Defresult != nil && !isNullConstant(c.Defresult):
		return
	}
	if f.AggFilter != nil {
		holds = &pg.Node{Node: &pg.Node_BoolExpr{BoolExpr: &pg.BoolExpr{Boolop: pg.BoolExprType_AND_EXPR,
			Args: []*pg.Node{f.AggFilter, holds}, Location: when.Location}}}
	}
	f.Args[0], f.AggFilter = of, holds
}

// isNullConstant reports whether a node is NULL, perhaps of a type.
func isNullConstant(n *pg.Node) bool {
	if c := n.GetTypeCast(); c != nil {
		return isNullConstant(c.Arg)
	}
	return n.GetAConst().GetIsnull()
}
