package planner

import (
	"math/big"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// Limits of an interval: with them no engine leaves the range of its timestamps.
const (
	maxMonths = 12 * 10_000
	maxDays   = 4_000_000
	maxMicros = maxDays * tree.DayMicros
)

// intervalUnits are the words of an interval, without a plural s.
var intervalUnits = map[string]struct {
	months, days, micros int64
}{
	"year": {12, 0, 0}, "mon": {1, 0, 0}, "month": {1, 0, 0}, "quarter": {3, 0, 0}, "week": {0, 7, 0}, "day": {0, 1, 0},
	"hour": {0, 0, 3_600_000_000}, "minute": {0, 0, 60_000_000}, "min": {0, 0, 60_000_000},
	"second": {0, 0, 1_000_000}, "sec": {0, 0, 1_000_000}, "millisecond": {0, 0, 1000}, "microsecond": {0, 0, 1},
}

// intervalFields are the bits of INTERVAL '3' MONTH in PostgreSQL's tree.
var intervalFields = map[int32]string{1 << 1: "month", 1 << 2: "year", 1 << 3: "day", 1 << 10: "hour", 1 << 11: "minute", 1 << 12: "second"}

// readInterval reads INTERVAL '1 year 2 months' or INTERVAL '3' MONTH.
func readInterval(s scope, c *pg.TypeCast) (expr.Duration, error) {
	pos := castPlace(c)
	const how = "write for example INTERVAL '1 month', INTERVAL '90 days' or INTERVAL '1 day 12 hours'"
	wrong := func() (expr.Duration, error) {
		return expr.Duration{}, syntax.Refuse(syntax.BadTime, pos, how, "this interval cannot be read")
	}
	of, err := checkExpr(s, c.Arg) // perhaps 30 || ' days'
	if err != nil {
		return expr.Duration{}, err
	}
	text, ok := expr.Constant(adoptText(of))
	if !ok || text.Text == nil {
		return expr.Duration{}, syntax.Refuse(syntax.Unsupported, pos, how, "an INTERVAL must be a constant")
	}
	words := strings.Fields(strings.ToLower(*text.Text))
	if mods := c.TypeName.GetTypmods(); len(mods) > 0 {
		unit, ok := intervalFields[mods[0].GetAConst().GetIval().GetIval()]
		if !ok || len(mods) > 1 || len(words) != 1 {
			return wrong()
		}
		words = append(words, unit)
	}
	if len(words) == 0 || len(words)%2 != 0 || len(words) > 40 {
		return wrong()
	}
	var months, days, micros big.Int
	for i := 0; i < len(words); i += 2 {
		n, err := dp.ParseDecimal(words[i])
		unit, ok := intervalUnits[strings.TrimSuffix(words[i+1], "s")]
		if err != nil || !ok {
			return wrong()
		}
		size := big.NewRat(max(unit.months, unit.days, unit.micros), 1)
		if n.Mul(n, size); !n.IsInt() {
			return expr.Duration{}, syntax.Refuse(syntax.Unsupported, pos, "use a smaller unit, as in INTERVAL '90 minutes'",
				"months, days and microseconds of an interval are whole numbers")
		}
		sum := &micros
		if unit.months > 0 {
			sum = &months
		} else if unit.days > 0 {
			sum = &days
		}
		sum.Add(sum, n.Num())
	}
	if months.CmpAbs(big.NewInt(maxMonths)) > 0 || days.CmpAbs(big.NewInt(maxDays)) > 0 || micros.CmpAbs(big.NewInt(maxMicros)) > 0 {
		return expr.Duration{}, syntax.Refuse(syntax.OutOfRange, pos, how, "this interval is longer than ten thousand years")
	}
	return expr.Duration{Months: int(months.Int64()), Days: days.Int64(), Micros: micros.Int64()}, nil
}

func isInterval(n *pg.Node) bool { return syntax.TypeName(n.GetTypeCast()) == "interval" }

// checkShift makes at + INTERVAL '1 month', and at - INTERVAL '1 month'; and a - b > INTERVAL '7
// days'.
func checkShift(s scope, op string, a *pg.A_Expr) (tree.Expr, error) {
	if compare, ok := comparisons[op]; ok {
		return compareDuration(s, compare, a)
	}
	left, right := a.Lexpr, a.Rexpr
	if isInterval(left) && op == "+" {
		left, right = right, left
	}
	if isInterval(left) || op != "+" && op != "-" {
		return nil, syntax.Refuse(syntax.NoFunction, a.Location, "write at + INTERVAL '1 month'",
			"an INTERVAL can only be added to or subtracted from a date or a timestamp")
	}
	by, err := readInterval(s, right.GetTypeCast())
	if err != nil {
		return nil, err
	}
	if op == "-" {
		by = expr.Duration{Months: -by.Months, Days: -by.Days, Micros: -by.Micros}
	}
	x, err := checkExpr(s, left)
	if err != nil {
		return nil, err
	}
	switch k := x.Type().Kind; k {
	case tree.Timestamp:
		x, err = expr.Civil(x, a.Location)
	case tree.Date: // as in PostgreSQL, a timestamp from here on
		x, err = expr.Midnight(x, a.Location)
	default:
		return nil,
			syntax.Refuse(syntax.NoFunction, a.Location,
				"write at + INTERVAL '1 month', where at is a date or a timestamp, as in DATE '2024-01-31' + "+
					"INTERVAL '1 month'", "an INTERVAL cannot be added to %s", expr.Article(k))
	}
	if err != nil {
		return nil, err
	}
	return shiftTime(x, by, a.Location)
}

func shiftTime(x tree.Expr, by expr.Duration, pos int32) (tree.Expr, error) {
	lo, hi := x.Type().Span()
	from, to := tree.Moment(lo.Int64()), tree.Moment(hi.Int64())
	if by.Months != 0 {
		// 31 January at noon and 30 January at six can change places: both become the last
		// of February. The days do not.
		from, to = from.Day().Start(), (to.Day()+1).Start()-1
	}
	t := tree.TimeType(tree.Timestamp, big.NewInt(int64(expr.AddInterval(from, by))),
		big.NewInt(int64(expr.AddInterval(to, by))), x.Type().Declared)
	e, err := expr.NewCall("add_interval", t, pos, x, expr.NewNumber(big.NewRat(int64(by.Months), 1)),
		expr.NewNumber(big.NewRat(by.Days, 1)), expr.NewNumber(big.NewRat(by.Micros, 1)))
	if err != nil {
		return nil, err
	}
	return expr.Civil(e, pos)
}

// There is no kind of value that is an interval. Where one is made and used at once it is a number
// of seconds, or of months.

var comparisons = map[string]tree.CompareOp{"=": tree.Eq, "<>": tree.Ne, "<": tree.Lt, "<=": tree.Le, ">": tree.Gt, ">=": tree.Ge}

// checkTimeCall makes calls whose arguments are intervals: date_bin, and fields of a - b and of
// age(a, b).
func checkTimeCall(s scope, name string, f *pg.FuncCall) (e tree.Expr, done bool, err error) {
	switch {
	case name == "date_bin":
		e, err = checkBin(s, f)
		return e, true, err
	case name != "extract" && name != "date_part" || len(f.Args) != 2:
		return nil, false, nil
	}
	field := f.Args[0].GetAConst().GetSval().GetSval()
	if call := f.Args[1].GetFuncCall(); call != nil && functionName(call) == "age" && len(call.Args) == 2 {
		e, err = checkAge(s, field, call)
		return e, true, err
	}
	seconds, ok, err := checkDifference(s, f.Args[1])
	if !ok || err != nil {
		return nil, ok, err
	}
	e, err = ofDifference(expr.FieldName(field), seconds, f.Location)
	return e, true, err
}

// checkBin makes date_bin(INTERVAL '15 minutes', at, origin).
func checkBin(s scope, f *pg.FuncCall) (tree.Expr, error) {
	const usage = "write date_bin(INTERVAL '15 minutes', at, '2024-01-01')"
	if len(f.Args) != 3 || f.Over != nil || f.AggFilter != nil {
		return nil, syntax.Refuse(syntax.NoFunction, f.Location, usage, "date_bin has the wrong number of arguments")
	}
	stride := f.Args[0]
	if text, ok := stride.GetAConst().GetVal().(*pg.A_Const_Sval); ok { // an interval without the word
		stride = intervalNode(text.Sval.GetSval(), f.Location)
	}
	if !isInterval(stride) {
		return nil, syntax.Refuse(syntax.NoFunction, f.Location, usage, "the first argument of date_bin must be an INTERVAL")
	}
	by, err := readInterval(s, stride.GetTypeCast())
	if err != nil {
		return nil, err
	}
	length := durationSeconds(by)
	if by.Months != 0 || length.Sign() <= 0 {
		return nil, syntax.Refuse(syntax.BadValue, f.Location, "use date_trunc('month', at) for months",
			"the length of a bin must be positive, and "+
				"in days or smaller units")
	}
	at, err := checkExpr(s, f.Args[1])
	if err != nil {
		return nil, err
	}
	origin, err := checkExpr(s, f.Args[2])
	if err != nil {
		return nil, err
	}
	return expr.NewBin(length, at, origin, f.Location)
}

func intervalNode(text string, at int32) *pg.Node {
	names := []*pg.Node{{Node: &pg.Node_String_{String_: &pg.String{Sval: "pg_catalog"}}},
		{Node: &pg.Node_String_{String_: &pg.String{Sval: "interval"}}}}
	arg := &pg.Node{Node: &pg.Node_AConst{AConst: &pg.A_Const{Location: at, Val: &pg.A_Const_Sval{Sval: &pg.String{Sval: text}}}}}
	typ := &pg.TypeName{Names: names, Typemod: -1, Location: at}
	return &pg.Node{Node: &pg.Node_TypeCast{TypeCast: &pg.TypeCast{Arg: arg, TypeName: typ, Location: at}}}
}

// durationSeconds is how long an interval without months is.
func durationSeconds(by expr.Duration) *big.Rat {
	micros := new(big.Int).Mul(big.NewInt(by.Days), big.NewInt(tree.DayMicros))
	return new(big.Rat).SetFrac(micros.Add(micros, big.NewInt(by.Micros)), big.NewInt(1_000_000))
}

// checkDifference makes the number of seconds of a - b, where both are times and one is a
// timestamp.
func checkDifference(s scope, n *pg.Node) (tree.Expr, bool, error) {
	a := n.GetAExpr()
	if a == nil || a.Kind != pg.A_Expr_Kind_AEXPR_OP || a.Lexpr == nil || len(a.Name) != 1 || a.Name[0].GetString_().GetSval() != "-" ||
		isInterval(a.Lexpr) || isInterval(a.Rexpr) || isManyTimes(a.Lexpr) || isManyTimes(a.Rexpr) {
		return nil, false, nil
	}
	l, r, err := checkSides(s, a)
	if err != nil {
		return nil, false, nil // it is refused where it is read as what it is
	}
	if l, r = expr.Adopt(l, r), expr.Adopt(r, l); l.Type().Kind != tree.Timestamp && r.Type().Kind != tree.Timestamp {
		return nil, false, nil
	}
	var sides [2]tree.Expr
	for i, x := range []tree.Expr{l, r} {
		if sides[i], err = expr.Epoch(x, a.Location); err != nil {
			return nil, true, err
		}
	}
	e, err := expr.NewArith(tree.Sub, sides[0], sides[1], a.Location)
	return e, true, err
}

// ofDifference is a field of an interval of so many seconds: whole days, and what is left of them.
func ofDifference(field string, seconds tree.Expr, pos int32) (tree.Expr, error) {
	whole := func(parts int64) (tree.Expr, error) {
		x, err := expr.NewArith(tree.Mul, seconds, expr.NewNumber(big.NewRat(1, parts)), pos)
		if err != nil {
			return nil, err
		}
		return expr.Named("trunc", []tree.Expr{x}, pos)
	}
	rest := func(x tree.Expr, err error, of int64) (tree.Expr, error) {
		if err != nil {
			return nil, err
		}
		return expr.NewArith(tree.Rem, x, expr.NewNumber(big.NewRat(of, 1)), pos)
	}
	switch field {
	case "epoch":
		return seconds, nil
	case "day":
		return whole(86400)
	case "hour":
		x, err := whole(3600)
		return rest(x, err, 24)
	case "minute":
		x, err := whole(60)
		return rest(x, err, 60)
	}
	return nil, syntax.Refuse(syntax.BadValue, pos, "use epoch, which is the number of seconds, day, hour or minute",
		"the difference between two times has no %q", field)
}

// compareDuration makes a - b > INTERVAL '7 days'.
func compareDuration(s scope, op tree.CompareOp, a *pg.A_Expr) (tree.Expr, error) {
	const instead = "compare the times, as in a > b + INTERVAL '1 month', or a number of days, as in CAST(a AS date) - CAST(b AS date) > 30"
	left, right := a.Lexpr, a.Rexpr
	if isInterval(left) {
		left, right = right, left
		op = map[tree.CompareOp]tree.CompareOp{tree.Lt: tree.Gt, tree.Le: tree.Ge, tree.Gt: tree.Lt, tree.Ge: tree.Le, tree.Eq: tree.Eq,
			tree.Ne: tree.Ne}[op]
	}
	apart, ok, err := checkDifference(s, left)
	if err != nil {
		return nil, err
	}
	if !ok || isInterval(left) {
		return nil, syntax.Refuse(syntax.NoFunction, a.Location, instead,
			"an INTERVAL can only be compared with the difference between two timestamps")
	}
	by, err := readInterval(s, right.GetTypeCast())
	if err != nil {
		return nil, err
	}
	if by.Months != 0 {
		return nil, syntax.Refuse(syntax.Unsupported, a.Location, instead, "months do not all have the same length")
	}
	return expr.NewCompare(op, apart, expr.NewNumber(durationSeconds(by)), a.Location)
}

// isManyTimes reports whether a node is an INTERVAL times a number.
func isManyTimes(n *pg.Node) bool {
	a := n.GetAExpr()
	return a != nil && a.Kind == pg.A_Expr_Kind_AEXPR_OP && len(a.Name) == 1 && a.Name[0].GetString_().GetSval() == "*" &&
		a.Lexpr != nil && isInterval(a.Lexpr) != isInterval(a.Rexpr)
}

// checkManyTimes makes at + INTERVAL '15 minutes' * n.
func checkManyTimes(s scope, op string, a *pg.A_Expr) (tree.Expr, error) {
	left, right := a.Lexpr, a.Rexpr
	if isManyTimes(left) && op == "+" {
		left, right = right, left
	}
	if isManyTimes(left) || isInterval(left) || op != "+" && op != "-" {
		return nil, syntax.Refuse(syntax.NoFunction, a.Location, "write at + INTERVAL '15 minutes' * n",
			"an INTERVAL can only be added to or subtracted from a date or a timestamp")
	}
	length, number := right.GetAExpr().Lexpr, right.GetAExpr().Rexpr
	if isInterval(number) {
		length, number = number, length
	}
	by, err := readInterval(s, length.GetTypeCast())
	if err != nil {
		return nil, err
	}
	if by.Months != 0 {
		return nil, syntax.Refuse(syntax.Unsupported, a.Location, "use weeks, days, hours, minutes or seconds",
			"months do not all have the same length")
	}
	size := durationSeconds(by)
	if op == "-" {
		size.Neg(size)
	}
	at, err := checkExpr(s, left)
	if err != nil {
		return nil, err
	}
	n, err := checkExpr(s, number)
	if err != nil {
		return nil, err
	}
	switch at.Type().Kind {
	case tree.Timestamp:
	case tree.Date:
		if at, err = expr.Midnight(at, a.Location); err != nil {
			return nil, err
		}
	default:
		return nil, syntax.Refuse(syntax.NoFunction, a.Location, "write at + INTERVAL '15 minutes' * n, where at is a date or a timestamp",
			"an INTERVAL cannot be added to %s", expr.Article(at.Type().Kind))
	}
	if n, err = expr.NewArith(tree.Mul, expr.AdoptNumber(n), expr.NewNumber(size), a.Location); err != nil {
		return nil, err
	}
	return expr.AddSeconds(at, n, a.Location)
}

// checkAge makes the years and the months of age(a, b), as PostgreSQL counts them: whole months,
// and twelve of them are a year.
func checkAge(s scope, field string, f *pg.FuncCall) (tree.Expr, error) {
	var sides [2]tree.Expr
	for i, n := range f.Args {
		x, err := checkExpr(s, n)
		if err != nil {
			return nil, err
		}
		sides[i] = x
	}
	months, err := expr.MonthsBetween(sides[0], sides[1], f.Location)
	if err != nil {
		return nil, err
	}
	twelve := expr.NewNumber(big.NewRat(12, 1))
	switch expr.FieldName(field) {
	case "year":
		return expr.NewArith(tree.Div, months, twelve, f.Location)
	case "month":
		return expr.NewArith(tree.Rem, months, twelve, f.Location)
	}
	return nil, syntax.Refuse(syntax.Unsupported, f.Location,
		"use year or month, or subtract dates, as in seen - born, which is a number of days",
		"the field %q of an age cannot be used", field)
}
