package planner

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// firstLocation returns the place of the first of some nodes.
func firstLocation(nodes []*pg.Node) int32 {
	if len(nodes) == 0 {
		return -1
	}
	return syntax.Location(nodes[0])
}

// refuseClauses refuses every clause that has no place in a question or a subquery.
func refuseClauses(s *pg.SelectStmt) error {
	for _, c := range []struct {
		present       bool
		at            int32
		what, instead string
	}{
		{len(s.ValuesLists) > 0, firstLocation(s.ValuesLists), "VALUES", "write SELECT ... FROM a table"},
		{s.IntoClause != nil, -1, "INTO", "leave it out"},
		{len(s.LockingClause) > 0, -1, "FOR UPDATE or FOR SHARE", "leave it out"},
	} {
		if c.present {
			return syntax.Refuse(syntax.Unsupported, c.at, c.instead, "%s cannot be used", c.what)
		}
	}
	return nil
}

// refuseWindows refuses the WINDOW clause of a SELECT that is no subquery of rows.
func refuseWindows(s *pg.SelectStmt) error {
	if len(s.WindowClause) > 0 {
		return syntax.Refuse(syntax.Unsupported, firstLocation(s.WindowClause),
			"use GROUP BY, or a window over the answer, as in SELECT ..., sum(n) OVER () FROM (SELECT ..., COUNT(*) AS n ...) AS t",
			"WINDOW cannot be used")
	}
	return nil
}

func isSet(s *pg.SelectStmt) bool {
	return s.Op != pg.SetOperation_SETOP_NONE && s.Op != pg.SetOperation_SET_OPERATION_UNDEFINED
}

// isDistinct reports whether a SELECT is one of DISTINCT rows, and not of DISTINCT ON.
func isDistinct(s *pg.SelectStmt) bool {
	return len(s.DistinctClause) > 0 && s.DistinctClause[0].GetNode() == nil
}

// isAggregated reports whether a SELECT has groups or aggregates of its own: one that it has in a
// subquery is not.
func isAggregated(s *pg.SelectStmt) bool {
	if len(s.GroupClause) > 0 || s.HavingClause != nil {
		return true
	}
	found := false
	for _, list := range [][]*pg.Node{s.TargetList, s.SortClause} {
		for _, n := range list {
			syntax.EachNode(n, func(n *pg.Node) bool {
				if n.GetSubLink() != nil {
					return false
				}
				if f := n.GetFuncCall(); f != nil && f.Over == nil {
					name := functionName(f)
					found = found || isPersonal(name) || f.AggStar || f.AggWithinGroup || f.AggFilter != nil
				}
				return true
			})
		}
	}
	return found
}

var aggregates = map[string]expr.Signature{
	"count": {Gives: "integer"}, "sum": {Gives: "alike"}, "min": {Gives: "alike"}, "max": {Gives: "alike"}, "median": {Gives: "alike"},
	"avg": {Gives: "decimal"}, "variance": {Gives: "decimal"}, "var_pop": {Gives: "decimal"}, "var_samp": {Gives: "decimal"},
	"stddev": {Gives: "decimal"}, "stddev_pop": {Gives: "decimal"}, "stddev_samp": {Gives: "decimal"},
	"percentile_cont": {Takes: "decimal", Gives: "alike"}, "percentile_disc": {Takes: "decimal", Gives: "alike"},
}

func isAggregate(name string) bool { _, ok := aggregates[name]; return ok }

// allRows is how many rows of a person there are, and allSum what a column of them comes to, also
// beyond max_rows: what limits are chosen by. A person is still in one group of it, or adds one
// number that is cut.
const allRows, allSum = "dp_rows", "dp_sum"

// isPersonal reports whether a function is an aggregate of one person's rows. Those of a question
// that are none of them are refused where they stand.
func isPersonal(name string) bool {
	switch name {
	case "bool_or", "bool_and", "every", allRows, allSum:
		return true
	}
	return isAggregate(name)
}

func functionName(f *pg.FuncCall) string {
	var parts []string
	for _, n := range f.Funcname {
		parts = append(parts, n.GetString_().GetSval())
	}
	if len(parts) == 2 && parts[0] == "pg_catalog" {
		parts = parts[1:]
	}
	return strings.Join(parts, ".")
}

// targetName is what PostgreSQL calls a column that has no AS.
func targetName(n *pg.Node) string {
	switch x := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return x.ColumnRef.Fields[len(x.ColumnRef.Fields)-1].GetString_().GetSval()
	case *pg.Node_FuncCall:
		name := functionName(x.FuncCall)
		return name[strings.LastIndexByte(name, '.')+1:]
	case *pg.Node_TypeCast:
		if name := targetName(x.TypeCast.Arg); name != "?column?" && name != "case" {
			return name
		}
		return syntax.TypeName(x.TypeCast)
	case *pg.Node_SubLink:
		if x.SubLink.SubLinkType == pg.SubLinkType_EXISTS_SUBLINK {
			return "exists"
		}
	case *pg.Node_CollateClause:
		return targetName(x.CollateClause.Arg)
	case *pg.Node_GroupingFunc:
		return "grouping"
	case *pg.Node_CaseExpr:
		if x.CaseExpr.Defresult != nil {
			if name := targetName(x.CaseExpr.Defresult); name != "?column?" && x.CaseExpr.Defresult.GetTypeCast() == nil {
				return name
			}
		}
		return "case"
	case *pg.Node_CoalesceExpr:
		return "coalesce"
	case *pg.Node_MinMaxExpr:
		return map[bool]string{true: "least", false: "greatest"}[x.MinMaxExpr.Op == pg.MinMaxOp_IS_LEAST]
	case *pg.Node_AExpr:
		if x.AExpr.Kind == pg.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif"
		}
	}
	return "?column?"
}

// conditions are the parts of a WHERE that all must hold.
func conditions(n *pg.Node) []*pg.Node {
	if n == nil {
		return nil
	}
	if b := n.GetBoolExpr(); b != nil && b.Boolop == pg.BoolExprType_AND_EXPR {
		var out []*pg.Node
		for _, a := range b.Args {
			out = append(out, conditions(a)...)
		}
		return out
	}
	return []*pg.Node{n}
}

// andOf is a condition that all of some hold; nil where there are none.
func andOf(all []*pg.Node) *pg.Node {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return &pg.Node{Node: &pg.Node_BoolExpr{BoolExpr: &pg.BoolExpr{Boolop: pg.BoolExprType_AND_EXPR, Args: all,
		Location: syntax.Location(all[0])}}}
}

func reference(names ...string) *pg.Node {
	ref := &pg.ColumnRef{Location: -1}
	for _, n := range names {
		ref.Fields = append(ref.Fields, &pg.Node{Node: &pg.Node_String_{String_: &pg.String{Sval: n}}})
	}
	return &pg.Node{Node: &pg.Node_ColumnRef{ColumnRef: ref}}
}

func equation(a, b *pg.Node) *pg.Node {
	return &pg.Node{Node: &pg.Node_AExpr{AExpr: &pg.A_Expr{Kind: pg.A_Expr_Kind_AEXPR_OP, Lexpr: a, Rexpr: b, Location: -1,
		Name: []*pg.Node{{Node: &pg.Node_String_{String_: &pg.String{Sval: "="}}}}}}}
}

// ordinal reads a constant as a position, counted from 1, in a list of n.
func ordinal(n *pg.Node, length int) (int, bool) {
	v, ok := n.GetAConst().GetVal().(*pg.A_Const_Ival)
	if !ok || v.Ival.GetIval() < 1 || int(v.Ival.GetIval()) > length {
		return 0, false
	}
	return int(v.Ival.GetIval()) - 1, true
}

// aliasTarget returns what a name of the SELECT list stands for.
func aliasTarget(targets []*pg.Node, name string) *pg.Node {
	for _, n := range targets {
		if t := n.GetResTarget(); t != nil && t.Name != "" && strings.EqualFold(t.Name, name) {
			return t.Val
		}
	}
	return nil
}

// selected is what a position or a name of the SELECT list stands for, or else the node itself.
func selected(n *pg.Node, targets []*pg.Node) *pg.Node {
	if i, ok := ordinal(n, len(targets)); ok {
		return targets[i].GetResTarget().GetVal()
	}
	if ref := n.GetColumnRef(); ref != nil && len(ref.Fields) == 1 {
		if name, err := columnName(ref); err == nil {
			if aliased := aliasTarget(targets, name); aliased != nil {
				return aliased
			}
		}
	}
	return n
}

// sortOrder reads the direction of an item of ORDER BY.
func sortOrder(n *pg.Node) (tree.Order, error) {
	by := n.GetSortBy()
	if by == nil || len(by.UseOp) > 0 {
		return tree.Order{}, syntax.Refuse(syntax.Unsupported, syntax.Location(n), "write ORDER BY column ASC or DESC",
			"ORDER BY ... USING cannot be used")
	}
	o := tree.Order{Descending: by.SortbyDir == pg.SortByDir_SORTBY_DESC}
	// As in PostgreSQL, NULL counts as larger than everything.
	o.NullsFirst = o.Descending
	switch by.SortbyNulls {
	case pg.SortByNulls_SORTBY_NULLS_FIRST:
		o.NullsFirst = true
	case pg.SortByNulls_SORTBY_NULLS_LAST:
		o.NullsFirst = false
	}
	return o, nil
}

// listItems are the expressions of a list in parentheses, as in ROLLUP ((a, b), c).
func listItems(n *pg.Node) []*pg.Node {
	if r := n.GetRowExpr(); r != nil {
		return r.Args
	}
	return []*pg.Node{n}
}

// windowCalls are the calls with OVER in a SELECT list, and not those inside of its subqueries.
func windowCalls(targets []*pg.Node) (out []*pg.FuncCall) {
	for _, n := range targets {
		syntax.EachNode(n, func(n *pg.Node) bool {
			f := n.GetFuncCall()
			if f != nil && f.Over != nil {
				out = append(out, f)
			}
			return n.GetSubLink() == nil && (f == nil || f.Over == nil)
		})
	}
	return out
}

// sequence are the numbers from one up to another.
func sequence(from, upto int) []int {
	out := make([]int, 0, upto-from)
	for i := from; i < upto; i++ {
		out = append(out, i)
	}
	return out
}

func usingNames(j *pg.JoinExpr) []string {
	var out []string
	for _, u := range j.UsingClause {
		out = append(out, u.GetString_().GetSval())
	}
	return out
}

func aliasColumns(a *pg.Alias) []string {
	var out []string
	for _, n := range a.GetColnames() {
		out = append(out, n.GetString_().GetSval())
	}
	return out
}

// isEverything reports whether a LIMIT leaves all rows: LIMIT ALL.
func isEverything(n *pg.Node) bool { return n.GetAConst().GetIsnull() }

// isFromFirst reports whether an OFFSET leaves all rows: OFFSET 0, which tools write to keep a
// planner from looking into a subquery.
func isFromFirst(n *pg.Node) bool {
	v, ok := n.GetAConst().GetVal().(*pg.A_Const_Ival)
	return n.GetAConst().GetIsnull() || ok && v.Ival.GetIval() == 0
}

// withTies reports whether rows stay that tie with the last one that LIMIT leaves.
func withTies(s *pg.SelectStmt) bool { return s.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES }

func zeroLimit(s *pg.SelectStmt) bool {
	v, ok := s.GetLimitCount().GetAConst().GetVal().(*pg.A_Const_Ival)
	return ok && v.Ival.GetIval() == 0 // of which none ties with the last
}

// isConstant reports whether a SELECT has nothing but constants as its columns.
func isConstant(targets []*pg.Node) bool {
	for _, n := range targets {
		if n.GetResTarget().GetVal().GetAConst() == nil {
			return false
		}
	}
	return len(targets) > 0
}

func hasSubquery(n *pg.Node) bool {
	found := false
	syntax.EachNode(n, func(n *pg.Node) bool {
		found = found || n.GetSubLink() != nil
		return !found
	})
	return found
}

// exampleKey stands in what a refusal proposes for a column that a table of the question can be
// grouped by, which is not known where a name is read.
const exampleKey = "\x00"

const exampleQuestion = "SELECT " + exampleKey + ", COUNT(*) ... GROUP BY " + exampleKey

// columnName returns the name of a column reference, with its table where it has one.
func columnName(c *pg.ColumnRef) (string, error) {
	var parts []string
	for _, f := range c.Fields {
		s := f.GetString_()
		if s == nil {
			return "", syntax.Refuse(syntax.Private, c.Location, "name aggregates and keys, as in "+exampleQuestion,
				"* would show rows of the data")
		}
		parts = append(parts, s.GetSval())
	}
	if len(parts) > 2 {
		return "", syntax.Refuse(syntax.Malformed, c.Location, "write column or table.column", "a column's name has too many parts")
	}
	return strings.Join(parts, "\x00"), nil
}

func hasSets(s *pg.SelectStmt) bool {
	return slices.ContainsFunc(s.GroupClause, func(n *pg.Node) bool { return n.GetGroupingSet() != nil })
}
