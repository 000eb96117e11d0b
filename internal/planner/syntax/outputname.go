package syntax

import pg "github.com/pganalyze/pg_query_go/v6"

const maxNested = 64 // casts and choices in each other

// OutputName is what PostgreSQL calls a column that has no name (FigureColname in its
// parse_target.c).
func OutputName(n *pg.Node) string {
	name, _ := guessName(n, 0)
	if name == "" {
		return "?column?"
	}
	return name
}

// guessName returns a name and how good it is: 0 none, 1 a type or a keyword, 2 a column or a
// function.
func guessName(n *pg.Node, depth int) (string, int) {
	if depth > maxNested {
		return "", 0
	}
	switch n := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		if k := len(n.ColumnRef.Fields); k > 0 {
			return nameOf(n.ColumnRef.Fields[k-1]), 2
		}
	case *pg.Node_FuncCall:
		if k := len(n.FuncCall.Funcname); k > 0 {
			return nameOf(n.FuncCall.Funcname[k-1]), 2
		}
	case *pg.Node_AExpr:
		if n.AExpr.Kind == pg.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif", 2
		}
	case *pg.Node_TypeCast:
		if name, good := guessName(n.TypeCast.Arg, depth+1); good > 1 {
			return name, good
		}
		if names := n.TypeCast.GetTypeName().GetNames(); len(names) > 0 {
			return nameOf(names[len(names)-1]), 1
		}
	case *pg.Node_CaseExpr:
		if name, good := guessName(n.CaseExpr.Defresult, depth+1); good > 1 {
			return name, good
		}
		return "case", 1
	case *pg.Node_CollateClause:
		return guessName(n.CollateClause.Arg, depth+1)
	case *pg.Node_CoalesceExpr:
		return "coalesce", 2
	case *pg.Node_MinMaxExpr:
		if n.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST {
			return "least", 2
		}
		return "greatest", 2
	case *pg.Node_GroupingFunc:
		return "grouping", 2
	case *pg.Node_RowExpr:
		return "row", 2
	case *pg.Node_AArrayExpr:
		return "array", 2
	case *pg.Node_AIndirection:
		return guessName(n.AIndirection.Arg, depth+1)
	case *pg.Node_SubLink:
		switch n.SubLink.SubLinkType {
		case pg.SubLinkType_EXISTS_SUBLINK:
			return "exists", 2
		case pg.SubLinkType_ARRAY_SUBLINK:
			return "array", 2
		case pg.SubLinkType_EXPR_SUBLINK:
			if targets := n.SubLink.Subselect.GetSelectStmt().GetTargetList(); len(targets) > 0 {
				if t := targets[0].GetResTarget(); t.GetName() != "" {
					return t.Name, 2
				} else {
					return guessName(t.GetVal(), depth+1)
				}
			}
		}
	}
	return "", 0
}

func nameOf(n *pg.Node) string { return n.GetString_().GetSval() }
