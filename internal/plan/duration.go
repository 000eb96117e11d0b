package plan

import (
	"math/big"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/dp"
)

// interval is a constant distance between moments, in the three parts that SQL keeps apart.
type interval struct {
	months       int
	days, micros int64
}

// Limits of an interval: with them no engine leaves the range of its timestamps.
const (
	maxMonths = 12 * 10_000
	maxDays   = 4_000_000
	maxMicros = maxDays * dayMicros
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
func readInterval(c *pg.TypeCast) (interval, error) {
	pos := castPlace(c)
	const how = "write for example INTERVAL '1 month', INTERVAL '90 days' or INTERVAL '1 day 12 hours'"
	wrong := func() (interval, error) {
		return interval{}, refuse(pos, how, "this interval cannot be read")
	}
	text, ok := c.Arg.GetAConst().GetVal().(*pg.A_Const_Sval)
	if !ok {
		return interval{}, refuse(pos, how, "an INTERVAL must be a constant")
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
		size := ratOf(max(unit.months, unit.days, unit.micros))
		if n.Mul(n, size); !n.IsInt() {
			return interval{}, refuse(pos, "use a smaller unit, as in INTERVAL '90 minutes'", "months, days and microseconds of an interval are whole numbers")
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
		return interval{}, refuse(pos, how, "this interval is longer than ten thousand years")
	}
	return interval{int(months.Int64()), days.Int64(), micros.Int64()}, nil
}
