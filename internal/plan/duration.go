package plan

import (
	"math/big"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
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
func readInterval(c *pg.TypeCast) (expr.Duration, error) {
	pos := castPlace(c)
	const how = "write for example INTERVAL '1 month', INTERVAL '90 days' or INTERVAL '1 day 12 hours'"
	wrong := func() (expr.Duration, error) {
		return expr.Duration{}, syntax.Refuse(pos, how, "this interval cannot be read")
	}
	text, ok := c.Arg.GetAConst().GetVal().(*pg.A_Const_Sval)
	if !ok {
		return expr.Duration{}, syntax.Refuse(pos, how, "an INTERVAL must be a constant")
	}
	words := strings.Fields(strings.ToLower(text.Sval.GetSval()))
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
			return expr.Duration{}, syntax.Refuse(pos, "use a smaller unit, as in INTERVAL '90 minutes'",
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
		return expr.Duration{}, syntax.Refuse(pos, how, "this interval is longer than ten thousand years")
	}
	return expr.Duration{Months: int(months.Int64()), Days: days.Int64(), Micros: micros.Int64()}, nil
}

// isInterval reports whether a node is INTERVAL '...'.
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
		return nil, syntax.Refuse(a.Location, "write at + INTERVAL '1 month'",
			"an INTERVAL can be added to a date or a timestamp, or subtracted from it, and nothing else")
	}
	by, err := readInterval(right.GetTypeCast())
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
			syntax.Refuse(a.Location, "write at + INTERVAL '1 month', where at is a date or a timestamp, as in DATE '2024-01-31' + "+
				"INTERVAL '1 month'", "an INTERVAL cannot be added to %s", expr.Article(k))
	}
	if err != nil {
		return nil, err
	}
	return shifted(x, by, a.Location)
}

// shifted moves a moment.
func shifted(x tree.Expr, by expr.Duration, pos int32) (tree.Expr, error) {
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
