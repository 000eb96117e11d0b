package plan

import (
	"math/big"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// maxSteps bounds one row's value in a sum: 2^53 steps, times a million rows of one
// person, times all rows a table can have, is far below the 2^127 of the sum.
var maxSteps = new(big.Int).Lsh(big.NewInt(1), 53)

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

// aggregator reads aggregates, and adds what is released for them.
type aggregator struct {
	in     *rowScope
	groups *groups
	out    *releases
}

// aggregates are the functions of many rows.
var aggregates = map[string]expr.Signature{
	"count": {Gives: "integer"}, "sum": {Gives: "alike"}, "min": {Gives: "alike"}, "max": {Gives: "alike"}, "median": {Gives: "alike"},
	"avg": {Gives: "decimal"}, "variance": {Gives: "decimal"}, "var_pop": {Gives: "decimal"}, "var_samp": {Gives: "decimal"},
	"stddev": {Gives: "decimal"}, "stddev_pop": {Gives: "decimal"}, "stddev_samp": {Gives: "decimal"},
	"percentile_cont": {Takes: "decimal", Gives: "alike"}, "percentile_disc": {Takes: "decimal", Gives: "alike"},
}

// ofOne are aggregates that one person's row decides, and what to ask instead: whether any row, or
// every one, fulfils something has no noise that would hide one of them.
var ofOne = map[string]string{
	"bool_or": aboutHowMany, "bool_and": aboutHowMany, "every": aboutHowMany,
	"string_agg": theKeys, "array_agg": theKeys, "json_agg": theKeys, "jsonb_agg": theKeys, "any_value": theKeys,
	"mode": "choose it, as in SELECT x ... GROUP BY x ORDER BY COUNT(*) DESC LIMIT 1",
}

const (
	aboutHowMany = "ask about how many rows do, as in COUNT(*) FILTER (WHERE age > 50), of one person in a subquery that is grouped by " +
		"the person, or of answers in a SELECT around them"
	theKeys = "group by it: keys are shown where they are public, or where enough people have them"
)

const theAggregates = "use COUNT, SUM, AVG, VARIANCE, STDDEV, MEDIAN, PERCENTILE_CONT, MIN or MAX"

func isAggregate(name string) bool { _, ok := aggregates[name]; return ok }

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

// refuseModifiers refuses what an aggregate cannot have.
func refuseModifiers(f *pg.FuncCall, distinct, within bool) error {
	for _, x := range []struct {
		present       bool
		what, instead string
	}{
		{f.AggDistinct && !distinct, "DISTINCT", "use it with COUNT only, as in COUNT(DISTINCT column)"},
		{f.Over != nil, "OVER",
			"use GROUP BY, or a window over the answer, as in SELECT n, sum(n) OVER () FROM (SELECT COUNT(*) AS n ...) AS t"},
		{len(f.AggOrder) > 0 && !within, "ORDER BY", "leave it out: the order changes nothing"},
		{f.AggWithinGroup && !within, "WITHIN GROUP", "leave it out"},
		{f.FuncVariadic, "VARIADIC", "leave it out"},
		{f.AggFilter != nil && !distinct && !within, "FILTER", "put the condition into WHERE"},
	} {
		if x.present {
			return syntax.Refuse(f.Location, x.instead, "%s cannot be used with this aggregate", x.what)
		}
	}
	return nil
}

// exactly reads what is summed, ranked, counted or grouped by. A cast of an exact number to a
// floating-point one is left out, so that what is added up stays a whole number of steps; inexact
// says that there was one, which the answer has again.
func (in *rowScope) readExact(n *pg.Node) (e tree.Expr, inexact bool, err error) {
	if e, err = in.read(n); err != nil || e.Type().Kind != tree.Real {
		return e, false, err
	}
	exact, ok := expr.Exact(e, syntax.Location(n))
	if !ok {
		return e, false, nil
	}
	if err := expr.CheckLevels(exact, syntax.Location(n)); err != nil {
		return nil, false, err
	}
	return in.env.normal(exact), true, nil
}

// again is a released value as the floating-point number that the question has cast it to.
func again(e tree.Expr, inexact bool) tree.Expr {
	if inexact && e.Type().Kind == tree.Number {
		return expr.Real(e)
	}
	return e
}

func (in *rowScope) read(n *pg.Node) (tree.Expr, error) {
	arg, err := checkExpr(in, n)
	if err != nil {
		return nil, err
	}
	if err := expr.CheckLevels(arg, syntax.Location(n)); err != nil {
		return nil, err
	}
	return in.env.normal(arg), nil
}

// inexact reports whether an aggregate is of floating-point numbers that are released as exact
// ones.
func (agg *aggregator) inexact(f *pg.FuncCall) bool {
	var of *pg.Node
	switch name := functionName(f); {
	case strings.HasPrefix(name, "percentile"):
		of = f.AggOrder[0].GetSortBy().GetNode()
	case name != "count":
		of = f.Args[0]
	default:
		return false
	}
	_, inexact, err := agg.in.readExact(of)
	return inexact && err == nil
}

// aggregateInstead says what to write in place of a function that is no aggregate here.
func aggregateInstead(name string) string {
	switch {
	case name == "corr", strings.HasPrefix(name, "covar_"), strings.HasPrefix(name, "regr_"):
		return "ask for AVG(x), AVG(y), AVG(x * y), AVG(x * x) and AVG(y * y) at once, and compute it of them"
	case name == "quantile", name == "approx_quantile", name == "approx_percentile", name == "percentile", name == "quantile_cont":
		return "write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY column)"
	case name == "approx_count_distinct", name == "approx_distinct":
		return "write COUNT(DISTINCT x)"
	case name == "countif", name == "count_if":
		return "write COUNT(*) FILTER (WHERE ...)"
	case name == "sumif", name == "sum_if":
		return "write SUM(x) FILTER (WHERE ...)"
	}
	return theAggregates
}

// aggregate checks a call of an aggregate and returns the index of what is released for it.
func (agg *aggregator) read(f *pg.FuncCall) (int, error) {
	name := functionName(f)
	if instead, ok := ofOne[name]; ok {
		return 0, syntax.Refuse(f.Location, instead, "%s tells of one person's row, which noise cannot hide", name)
	}
	if !isAggregate(name) {
		return 0, syntax.Refuse(f.Location, aggregateInstead(name), "the function %s cannot be used here", name)
	}
	quantile := strings.HasPrefix(name, "percentile")
	if err := refuseModifiers(f, true, quantile); err != nil {
		return 0, err
	}
	if f.AggDistinct && name != "count" {
		return 0, syntax.Refuse(f.Location, "use it with COUNT, as in COUNT(DISTINCT column)", "%s(DISTINCT ...) cannot be used", name)
	}
	var filter tree.Expr
	if f.AggFilter != nil {
		var err error
		if filter, err = checkCondition(agg.in, f.AggFilter); err != nil {
			return 0, err
		}
		if err := expr.CheckLevels(filter, syntax.Location(f.AggFilter)); err != nil {
			return 0, err
		}
	}
	if quantile {
		return agg.readPercentile(f, name, filter)
	}
	if f.AggStar {
		if name != "count" {
			return 0, syntax.Refuse(f.Location, "name a column", "%s(*) has no meaning", name)
		}
		return agg.countRows(filter, f.Location)
	}
	if len(f.Args) != 1 {
		return 0, syntax.Refuse(f.Location, "give it one column or expression", "%s takes one argument", name)
	}
	arg, _, err := agg.in.readExact(f.Args[0])
	if err != nil {
		return 0, err
	}
	if name == "count" {
		return agg.countOf(arg, f.AggDistinct, filter, f.Location)
	}
	if err := summable(arg, name, f.Location); err != nil {
		return 0, err
	}
	if arg, err = agg.in.onlyWhere(filter, arg, f.Location); err != nil {
		return 0, err
	}
	switch name {
	case "sum":
		if arg, err = agg.sparse(arg, f.Location); err != nil {
			return 0, err
		}
		if ones(arg) {
			return agg.out.addNumber(agg.countValues(arg)), nil
		}
		m, err := agg.sumWithin(arg, f.Location)
		if err != nil {
			return 0, err
		}
		return agg.out.addNumber(m), nil
	case "avg":
		return agg.out.add(draft{Stat: tree.Stat{Kind: tree.AverageStat, Of: arg, Typ: expr.ReleasedReal}}), nil
	case "median":
		return agg.addQuantile(arg, big.NewRat(1, 2), "", f.Location)
	case "min":
		return agg.addQuantile(arg, big.NewRat(1, 100), "min is the 1 % quantile: the smallest value may be one person's", f.Location)
	case "max":
		return agg.addQuantile(arg, big.NewRat(99, 100), "max is the 99 % quantile: the largest value may be one person's", f.Location)
	}
	return agg.addVariance(arg, name, f.Location)
}

// countRows is COUNT(*).
func (agg *aggregator) countRows(filter tree.Expr, pos int32) (int, error) {
	if filter == nil {
		return agg.out.addNumber(tree.Measure{Kind: tree.CountRows}), nil
	}
	arg, err := agg.in.onlyWhere(filter, expr.NewNumber(tree.One), pos)
	if err != nil {
		return 0, err
	}
	return agg.out.addNumber(agg.countValues(arg)), nil
}

// countOf is COUNT(x) and COUNT(DISTINCT x).
func (agg *aggregator) countOf(arg tree.Expr, distinct bool, filter tree.Expr, pos int32) (int, error) {
	c, isColumn := arg.(*tree.Column)
	if isColumn && agg.in.rows.isUnit(c) && (distinct || c.Field.Raw()) {
		filter = agg.in.rows.present(c, filter)
		if distinct {
			m := tree.Measure{Kind: tree.CountPersons}
			if filter != nil {
				only, err := agg.in.onlyWhere(filter, expr.NewNumber(tree.One), pos)
				if err != nil {
					return 0, err
				}
				m.Arg = only
			}
			return agg.out.addNumber(m), nil
		}
		return agg.countRows(filter, pos) // rows of nobody are not there
	}
	if arg.Type().Kind == tree.Identity {
		return 0, syntax.Refuse(pos, "count rows with COUNT(*), or people with COUNT(DISTINCT ...) of the unit's column",
			"this column says what a row is a part of, and can only be joined on")
	}
	l, constant := arg.(*tree.Literal)
	if constant && !l.IsNullLiteral() && !distinct {
		return agg.countRows(filter, pos) // COUNT(1)
	}
	arg, err := agg.in.onlyWhere(filter, arg, pos)
	if err != nil {
		return 0, err
	}
	if distinct {
		if arg.Type().Kind == tree.Real {
			return 0, syntax.Refuse(pos, "round it first, as in round(x, 2)",
				"COUNT(DISTINCT ...) needs exact values, and this is a floating-point number")
		}
		return agg.out.addNumber(tree.Measure{Kind: tree.CountDistinct, Arg: arg}), nil
	}
	return agg.out.addNumber(agg.countValues(arg)), nil
}

// present adds to a condition that a column which says who a row is about is not NULL, as it is in
// rows of a LEFT JOIN without a partner. Of the relation's own unit that is known.
func (r rows) present(c *tree.Column, filter tree.Expr) tree.Expr {
	stored := c.Stored()
	if isAlwaysUnit(r.Relation, stored.Index) {
		return filter
	}
	var there tree.Expr = &tree.Not{X: &tree.IsNull{X: stored}}
	if filter != nil {
		there = &tree.Logic{Op: tree.And, Args: []tree.Expr{filter, there}}
	}
	return there
}

// sparse is what is summed with NULL in place of 0 where a condition does not hold: neither adds
// anything, and the interval of a person's part holds 0 in any case.
func (agg *aggregator) sparse(arg tree.Expr, pos int32) (tree.Expr, error) {
	c, ok := arg.(*tree.Case)
	if !ok || len(c.Whens) != 1 || !expr.IsNumber(c.Else, 0) || expr.MaxAbs(c.Whens[0].Then.Type()).Sign() == 0 {
		return arg, nil
	}
	return agg.in.onlyWhere(c.Whens[0].If, c.Whens[0].Then, pos)
}

// ones reports whether an expression is 1 or NULL: its sum is its count. Of one person as many rows
// count in both.
func ones(arg tree.Expr) bool {
	if c, ok := arg.(*tree.Case); ok && len(c.Whens) == 1 {
		l, null := c.Else.(*tree.Literal)
		return null && l.IsNullLiteral() && ones(c.Whens[0].Then)
	}
	return expr.IsNumber(arg, 1) && arg.Type().Integer()
}

// countValues counts where an expression is not NULL. Where it cannot be, these are all rows. Where
// it is a constant under a condition, any constant will do.
func (agg *aggregator) countValues(arg tree.Expr) tree.Measure {
	if c, ok := arg.(*tree.Case); ok && len(c.Whens) == 1 {
		then, constant := c.Whens[0].Then.(*tree.Literal)
		none, null := c.Else.(*tree.Literal)
		if constant && null && !then.IsNullLiteral() && none.IsNullLiteral() {
			if one, err := agg.in.onlyWhere(c.Whens[0].If, expr.NewNumber(tree.One), -1); err == nil {
				arg = one
			}
		}
	}
	if !expr.Nullable(arg) {
		return tree.Measure{Kind: tree.CountRows}
	}
	return tree.Measure{Kind: tree.CountValues, Arg: arg}
}

// filtered is an expression where a condition holds, and NULL where it does not.
func (in *rowScope) onlyWhere(filter, arg tree.Expr, pos int32) (tree.Expr, error) {
	if filter == nil {
		return arg, nil
	}
	e, err := expr.NewCase([]tree.When{{If: filter, Then: arg}}, expr.NewNull(tree.Type{}), pos)
	if err != nil {
		return nil, err
	}
	e = in.env.normal(e)
	if l, ok := e.(*tree.Literal); ok && l.IsNullLiteral() {
		return nil, syntax.Refuse(pos, "write a condition that some rows can fulfil",
			"the condition of this FILTER holds for no row, or its aggregate is of NULL")
	}
	return e, nil
}

// summable refuses what has no bounded, exact sum.
func summable(arg tree.Expr, name string, pos int32) error {
	t := arg.Type()
	switch {
	case t.Kind == tree.Real:
		return syntax.Refuse(pos, "round it first, as in round(x, 2), sum the parts and divide the answers, or ask the owner for a "+
			"granularity in the policy", "%s needs exact numbers, and this is the result of a division or a decimal without granularity",
			name)
	case (t.Kind == tree.Date || t.Kind == tree.Timestamp) &&
		(name == "min" || name == "max" || name == "median" || strings.HasPrefix(name, "percentile")):
		return nil
	case t.Kind == tree.Text && (name == "min" || name == "max"):
		return syntax.Refuse(pos, "count by its values where they are public, as in SELECT "+tree.Describe(arg)+", COUNT(*) ... GROUP BY",
			"%s of a text would be the value of one person", name)
	case t.Kind == tree.Boolean:
		return syntax.Refuse(pos, "make 1 and 0 of it, as in "+name+"(CAST("+tree.Describe(arg)+" AS integer))",
			"%s needs numbers, and this is a boolean", name)
	case t.Kind != tree.Number:
		return syntax.Refuse(pos, "use COUNT, or a numeric column", "%s needs numbers, and this is %s", name, expr.Article(t.Kind))
	case !t.Declared:
		return syntax.Refuse(pos, "ask the owner to add bounds: [lowest, highest] to the column in the policy",
			"%s needs a column with bounds, because the noise is in proportion to the largest value one person can have", name)
	case expr.MaxAbs(t).Cmp(maxSteps) > 0:
		return syntax.Refuse(pos, "sum the columns one by one, or ask the owner for a coarser granularity",
			"the values of this %s could exceed 2^53 steps", name)
	case name != "sum" && t.Lo.Cmp(t.Hi) == 0:
		return syntax.Refuse(pos, "use something that differs between rows", "the values of this %s are all the same", name)
	case expr.MaxAbs(t).Sign() == 0:
		return syntax.Refuse(pos, "sum something that can differ from zero", "the values of this %s are all zero", name)
	}
	return nil
}

// releasedNumber is the type of a noisy number. Above the noise numbers have no limits, so the
// interval is there to be narrow enough for products of a few.
func releasedNumber(step *big.Rat) tree.Type {
	return tree.NumberType(step, minReleased, maxReleased, false)
}

var (
	minReleased = big.NewInt(-1 << 40)
	maxReleased = big.NewInt(1 << 40)
)
