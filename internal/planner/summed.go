package planner

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
)

// sumsColumn reports whether a sum of an expression is a decimal number in PostgreSQL, which then
// divides with a fraction: a sum of values of a column is, as those have 64 bits. A sum of small
// constants, as in SUM(CASE WHEN smoker THEN 1 ELSE 0 END), is a whole number.
func sumsColumn(n *pg.Node) bool {
	switch {
	case n == nil:
		return false
	case n.GetColumnRef() != nil:
		return true
	case n.GetTypeCast() != nil:
		switch syntax.TypeName(n.GetTypeCast()) {
		case "int2", "int4":
			return false
		case "int8", "numeric":
			return true
		}
		return sumsColumn(n.GetTypeCast().Arg)
	case n.GetAExpr() != nil:
		return sumsColumn(n.GetAExpr().Lexpr) || sumsColumn(n.GetAExpr().Rexpr)
	case n.GetCaseExpr() != nil:
		c := n.GetCaseExpr()
		return sumsColumn(c.Defresult) || slices.ContainsFunc(c.Args, func(w *pg.Node) bool { return sumsColumn(w.GetCaseWhen().Result) })
	case n.GetCoalesceExpr() != nil:
		return slices.ContainsFunc(n.GetCoalesceExpr().Args, sumsColumn)
	case n.GetMinMaxExpr() != nil:
		return slices.ContainsFunc(n.GetMinMaxExpr().Args, sumsColumn)
	}
	if f := n.GetFuncCall(); f != nil {
		switch functionName(f) {
		case "extract", "date_part":
			return true
		case "abs", "nullif", "round", "floor", "ceil", "trunc":
			return slices.ContainsFunc(f.Args, sumsColumn)
		}
	}
	return false
}
