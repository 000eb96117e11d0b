package planner

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// aggregator reads aggregates, and adds what is released for them.
type aggregator struct {
	in     *rowScope
	groups *groups
	out    *releases
	kept   *kept // where rows stay that nobody has; nil elsewhere
}

// oneRowAggregates are aggregates that one person's row decides, and what to ask instead: whether
// any row, or every one, fulfils something has no noise that would hide one of them.
var oneRowAggregates = map[string]string{
	"bool_or": insteadCountRows, "bool_and": insteadCountRows, "every": insteadCountRows,
	"string_agg": insteadGroupBy, "array_agg": insteadGroupBy, "json_agg": insteadAround, "jsonb_agg": insteadAround,
	"json_object_agg": insteadAround, "jsonb_object_agg": insteadAround, "any_value": insteadGroupBy,
	allRows: "use it in a subquery grouped by the person, as in SELECT pid, dp_rows() AS n FROM visits GROUP BY pid",
	allSum:  "use it in a subquery grouped by the person, as in SELECT pid, dp_sum(cost) AS n FROM visits GROUP BY pid",
	"mode":  "select the most frequent value, as in SELECT x ... GROUP BY x ORDER BY COUNT(*) DESC LIMIT 1",
}

const (
	insteadCountRows = "count the rows that do, as in COUNT(*) FILTER (WHERE age > 50), or use it for one person's rows in a " +
		"subquery grouped by the person, or on answers in a SELECT around them"
	insteadGroupBy = "group by it: keys are shown where they are public, or where enough people have them"
)

const insteadAggregates = "use COUNT, SUM, AVG, VARIANCE, STDDEV, MEDIAN, PERCENTILE_CONT, MIN or MAX"

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
			return syntax.Refuse(syntax.Unsupported, f.Location, x.instead, "%s cannot be used with this aggregate", x.what)
		}
	}
	return nil
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
	case makesJSON(name):
		return insteadAround
	case name == "corr", strings.HasPrefix(name, "covar_"), strings.HasPrefix(name, "regr_"):
		return "ask for AVG(x), AVG(y), AVG(x * y), AVG(x * x) and AVG(y * y) at once, and compute it from them"
	case name == "quantile", name == "approx_quantile", name == "approx_percentile", name == "percentile", name == "quantile_cont":
		return "write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY column)"
	case name == "approx_count_distinct", name == "approx_distinct":
		return "write COUNT(DISTINCT x)"
	case name == "countif", name == "count_if":
		return "write COUNT(*) FILTER (WHERE ...)"
	case name == "sumif", name == "sum_if":
		return "write SUM(x) FILTER (WHERE ...)"
	}
	return insteadAggregates
}

// read checks a call of an aggregate and returns the index of what is released for it, or isZero.
func (agg *aggregator) read(f *pg.FuncCall) (int, error) {
	name := functionName(f)
	if instead, ok := oneRowAggregates[name]; ok {
		return 0, syntax.Refuse(syntax.Private, f.Location, instead, "%s depends on one person's row, which noise cannot hide", name)
	}
	if !isAggregate(name) {
		instead := aggregateInstead(name)
		if named := functionInstead(name); instead == insteadAggregates && !strings.HasPrefix(named, insteadFunctions) {
			instead = named
		}
		return 0, syntax.Refuse(syntax.NoFunction, f.Location, instead, "the function %s cannot be used here", name)
	}
	quantile := strings.HasPrefix(name, "percentile")
	if err := refuseModifiers(f, true, quantile); err != nil {
		return 0, err
	}
	if f.AggDistinct && name != "count" {
		return 0, syntax.Refuse(syntax.Unsupported, f.Location, "use it with COUNT, as in COUNT(DISTINCT column)",
			"%s(DISTINCT ...) cannot be used", name)
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
			return 0, syntax.Refuse(syntax.NoFunction, f.Location, "name a column", "%s(*) has no meaning", name)
		}
		return agg.countRows(filter, f.Location)
	}
	if len(f.Args) != 1 {
		return 0, syntax.Refuse(syntax.NoFunction, f.Location, "give it one column or expression", "%s takes one argument", name)
	}
	arg, _, err := agg.in.readExact(f.Args[0])
	if err != nil {
		return 0, err
	}
	if name == "count" {
		return agg.countOf(arg, f.AggDistinct, filter, f.Location)
	}
	if err := refuseUnsummable(arg, name, f.Location); err != nil {
		return 0, err
	}
	if name == "sum" && expr.MaxAbs(arg.Type()).Sign() == 0 {
		return isZero, nil
	}
	if arg, err = agg.in.onlyWhere(filter, arg, f.Location); err != nil {
		return 0, err
	}
	switch name {
	case "sum":
		if c := choice(arg); c != nil && agg.in.neverMet(c.Whens[0].If) {
			return isZero, nil
		}
		if arg, err = agg.sparse(arg, f.Location); err != nil {
			return 0, err
		}
		if isOneOrNull(arg) {
			return agg.out.addNumber(agg.countValues(arg)), nil
		}
		m, err := agg.sumWithin(arg, f.Location)
		if err != nil {
			return 0, err
		}
		return agg.out.addNumber(m), nil
	case "avg":
		return agg.out.add(statDraft{Stat: tree.Stat{Kind: tree.AverageStat, Of: arg, Typ: expr.ReleasedReal}}), nil
	case "median":
		return agg.addQuantile(arg, big.NewRat(1, 2), "", f.Location)
	case "min":
		return agg.addQuantile(arg, big.NewRat(1, 100), "min is the 1 % quantile: the smallest value may be one person's", f.Location)
	case "max":
		return agg.addQuantile(arg, big.NewRat(99, 100), "max is the 99 % quantile: the largest value may be one person's", f.Location)
	}
	return agg.addVariance(arg, name, f.Location)
}

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
		return 0, syntax.Refuse(syntax.Private, pos, "count rows with COUNT(*), or people with COUNT(DISTINCT ...) on the unit's column",
			"this column says what a row is part of, and can only be joined on")
	}
	l, constant := arg.(*tree.Literal)
	switch {
	case constant && l.IsNullLiteral():
		return isZero, nil
	case constant && !distinct:
		return agg.countRows(filter, pos) // COUNT(1)
	}
	arg, err := agg.in.onlyWhere(filter, arg, pos)
	if err != nil {
		return 0, err
	}
	if distinct {
		if arg.Type().Kind == tree.Real {
			return 0, syntax.Refuse(syntax.Unsupported, pos, "round it first, as in round(x, 2)",
				"COUNT(DISTINCT ...) needs exact values, but this is a floating-point number")
		}
		return agg.out.addNumber(tree.Measure{Kind: tree.CountDistinct, Arg: arg}), nil
	}
	return agg.out.addNumber(agg.countValues(arg)), nil
}

// sparse is what is summed with NULL in place of 0 where a condition does not hold: neither adds
// anything, and the interval of a person's part holds 0 in any case.
func (agg *aggregator) sparse(arg tree.Expr, pos int32) (tree.Expr, error) {
	c := choice(arg)
	if c == nil {
		return arg, nil
	}
	return agg.in.onlyWhere(c.Whens[0].If, c.Whens[0].Then, pos)
}

// choice is what is summed where it is something under a condition, and 0 elsewhere; or nil.
func choice(arg tree.Expr) *tree.Case {
	c, ok := arg.(*tree.Case)
	if !ok || len(c.Whens) != 1 || !expr.IsNumber(c.Else, 0) || expr.MaxAbs(c.Whens[0].Then.Type()).Sign() == 0 {
		return nil
	}
	return c
}

// isOneOrNull reports whether an expression is 1 or NULL: its sum is its count. Of one person as
// many rows count in both.
func isOneOrNull(arg tree.Expr) bool {
	if c, ok := arg.(*tree.Case); ok && len(c.Whens) == 1 {
		l, null := c.Else.(*tree.Literal)
		return null && l.IsNullLiteral() && isOneOrNull(c.Whens[0].Then)
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

// releasedNumber is the type of a noisy number. Above the noise numbers have no limits, so the
// interval is there to be narrow enough for products of a few.
func releasedNumber(step *big.Rat) tree.Type {
	return tree.NumberType(step, minReleased, maxReleased, false)
}

var (
	minReleased = big.NewInt(-1 << 40)
	maxReleased = big.NewInt(1 << 40)
)

// readPercentile reads PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x). On a lattice a quantile is a
// lattice point, so CONT and DISC are one.
func (agg *aggregator) readPercentile(f *pg.FuncCall, name string, filter tree.Expr) (int, error) {
	const instead = "write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY column)"
	if !f.AggWithinGroup || len(f.AggOrder) != 1 || len(f.Args) != 1 {
		return 0, syntax.Refuse(syntax.NoFunction, f.Location, instead, "%s takes a number from 0 to 1 and one column to order by", name)
	}
	if list := f.Args[0].GetAArrayExpr(); list != nil {
		return 0, syntax.Refuse(syntax.Unsupported, syntax.Location(f.Args[0]), "write "+oneByOne(name, list, f.AggOrder[0].GetSortBy())+
			": several quantiles of one column share one price", "answers cannot contain arrays, so %s takes one number at a time", name)
	}
	by := f.AggOrder[0].GetSortBy()
	p, err := checkExpr(agg.in, f.Args[0])
	if err != nil {
		return 0, err
	}
	l, ok := expr.Normal(expr.AdoptNumber(p)).(*tree.Literal)
	if !ok || l.Number == nil {
		return 0,
			syntax.Refuse(syntax.BadValue, syntax.Location(f.Args[0]), instead+", one call for each number",
				"the quantile must be a constant from 0 to 1")
	}
	at := new(big.Rat).Mul(new(big.Rat).SetInt(l.Number), l.Typ.Step)
	if at.Sign() < 0 || at.Cmp(tree.One) > 0 {
		return 0, syntax.Refuse(syntax.OutOfRange, syntax.Location(f.Args[0]), instead, "the quantile must be a constant from 0 to 1")
	}
	if by.SortbyDir == pg.SortByDir_SORTBY_DESC {
		at.Sub(tree.One, at)
	}
	arg, _, err := agg.in.readExact(by.GetNode())
	if err != nil {
		return 0, err
	}
	if err := refuseUnsummable(arg, name, f.Location); err != nil {
		return 0, err
	}
	if arg, err = agg.in.onlyWhere(filter, arg, f.Location); err != nil {
		return 0, err
	}
	return agg.addQuantile(arg, at, "", f.Location)
}

// oneByOne writes the calls that an array of quantiles stands for, as far as they are numbers and
// the column has a plain name.
func oneByOne(name string, list *pg.A_ArrayExpr, by *pg.SortBy) string {
	column := "column"
	if ref := by.GetNode().GetColumnRef(); ref != nil {
		if text, err := columnName(ref); err == nil {
			column = strings.ReplaceAll(text, "\x00", ".")
		}
	}
	if by.GetSortbyDir() == pg.SortByDir_SORTBY_DESC {
		column += " DESC"
	}
	if len(list.Elements) == 0 {
		return name + "(0.5) WITHIN GROUP (ORDER BY " + column + ")"
	}
	var out []string
	for _, n := range list.Elements {
		number := "0.5"
		if v := n.GetAConst().GetFval(); v != nil {
			number = v.Fval
		} else if v := n.GetAConst().GetIval(); v != nil {
			number = strconv.Itoa(int(v.Ival))
		}
		if call := name + "(" + number + ") WITHIN GROUP (ORDER BY " + column + ")"; !slices.Contains(out, call) && len(out) < 3 {
			out = append(out, call)
		}
	}
	if len(list.Elements) > len(out) {
		out = append(out, "...")
	}
	return strings.Join(out, ", ")
}

// isZero is what stands for the index of what is released where it is known to be 0.
const isZero = -1

// value is what an aggregate comes to above the noise: what is released for it, or what is known of
// it. Of no rows counts and sums are 0, and all else is NULL.
func (agg *aggregator) value(f *pg.FuncCall, part tree.ReleasedPart) (tree.Expr, error) {
	if agg.kept != nil && isAggregate(functionName(f)) {
		if err := agg.kept.refuse(agg.in, f); err != nil {
			return nil, err
		}
	}
	into, reads := agg, f
	if never := agg.filteredOut(f); never || agg.in.hasNoRows() { // it is read to be refused where it would be
		into = &aggregator{in: agg.in, groups: agg.groups, out: newReleases(agg.in.env)}
		if reads = proto.Clone(f).(*pg.FuncCall); never {
			reads.AggFilter = nil
		}
	}
	i, err := into.read(reads)
	if err != nil {
		return nil, err
	}
	summed := functionName(f) == "sum" && sumsColumn(f.Args[0])
	typ, counted := tree.Type{}, true
	if i == isZero {
		if typ, err = agg.typeOfZero(f); err != nil {
			return nil, err
		}
	} else {
		if typ = into.out.stats[i].Typ; part == tree.PartError && (typ.Kind == tree.Date || typ.Kind == tree.Timestamp) {
			typ = releasedNumber(tree.One)
		}
		if into == agg {
			return &tree.Released{Stat: i, Part: part, Typ: typ, Summed: summed}, nil
		}
		counted = into.out.stats[i].Kind == tree.MeasureStat
	}
	agg.out.known = true
	if !counted {
		return expr.NewNull(typ), nil
	}
	return &tree.Literal{Typ: typ, Number: new(big.Int), Point: summed && typ.Integer()}, nil
}

// filteredOut reports whether no row meets the FILTER of an aggregate, as far as it can be read.
func (agg *aggregator) filteredOut(f *pg.FuncCall) bool {
	filter, err := agg.in.readFilter(f)
	return err == nil && agg.in.neverMet(filter)
}

// typeOfZero is the type that a number which is known to be 0 would have were it not known: what a
// client was told of a question must be true with other values of its parameters.
func (agg *aggregator) typeOfZero(f *pg.FuncCall) (tree.Type, error) {
	if functionName(f) != "sum" {
		return releasedNumber(tree.One), nil
	}
	arg, _, err := agg.in.readExact(f.Args[0])
	if err != nil {
		return tree.Type{}, err
	}
	if expr.MaxAbs(arg.Type()).Sign() == 0 { // of what is always 0 the text says more than the number
		if arg, err = checkExpr(agg.in, f.Args[0]); err != nil {
			return tree.Type{}, err
		}
		arg = expr.AdoptNumber(arg)
	}
	if exact, ok := expr.Exact(arg, f.Location); ok {
		arg = exact
	}
	if arg.Type().Kind != tree.Number {
		return releasedNumber(tree.One), nil
	}
	m, err := agg.sumWithin(arg, f.Location)
	if err != nil { // nobody adds anything to it
		return releasedNumber(arg.Type().Step), nil
	}
	return releasedNumber(m.Step()), nil
}
