package expr

import (
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// Functions of dates and timestamps, in the calendar that is used everywhere, also
// before it was, and in UTC.

func timeFunctions() []Function {
	return []Function{
		{
			names: "extract", Usage: "extract(year from day)", least: 2, most: 2, build: newExtract, Signature: Signature{Gives: "integer"},
			eval: func(_ *tree.Call, a []tree.Value) tree.Value { return evalExtract(a[0].(string), a[1]) },
		},
		{names: "date_part", Usage: "date_part('year', day)", least: 2, most: 2, build: newExtract,
			Signature: Signature{"text -", "integer"}},
		{
			names: "date_trunc", Usage: "date_trunc('month', day)", least: 2, most: 3, build: newDateTrunc,
			Signature: Signature{"text -", "timestamp"},
			eval:      func(_ *tree.Call, a []tree.Value) tree.Value { return Trunc(a[0].(string), a[1]) },
		},
		{names: "timestamp", eval: func(_ *tree.Call, a []tree.Value) tree.Value { return a[0].(tree.Day).Start() }},
		{names: "date", eval: func(_ *tree.Call, a []tree.Value) tree.Value { return a[0].(tree.Moment).Day() }},
		{names: "add_days", eval: func(_ *tree.Call, a []tree.Value) tree.Value {
			return a[0].(tree.Day) + tree.Day(a[1].(*big.Int).Int64())
		}},
		{names: "days_between", eval: func(_ *tree.Call, a []tree.Value) tree.Value {
			return big.NewInt(int64(a[0].(tree.Day) - a[1].(tree.Day)))
		}},
		{names: "add_micros", eval: func(_ *tree.Call, a []tree.Value) tree.Value {
			return a[0].(tree.Moment) + tree.Moment(a[1].(*big.Int).Int64())
		}},
		{names: "date_bin", Usage: "date_bin(INTERVAL '15 minutes', at, '2024-01-01')", least: 3, most: 3, build: refuseBin,
			Signature: Signature{"text - -", "timestamp"}},
		{names: "to_timestamp", Usage: "to_timestamp(1700000000) or to_timestamp('31.01.2024 12:30', 'DD.MM.YYYY HH24:MI')",
			least: 1, most: 2, build: newToTimestamp, Signature: Signature{Gives: "timestamp"}},
		{names: "to_date", Usage: "to_date('31.01.2024', 'DD.MM.YYYY')", least: 2, most: 2, build: newToDate,
			Signature: Signature{"text text", "date"}},
		{names: "to_char", Usage: "to_char(day, 'YYYY-MM')", least: 2, most: 2, build: newToChar, Signature: Signature{"- text", "text"}},
		{names: "timezone", Usage: "at AT TIME ZONE 'UTC'", least: 2, most: 2, build: newTimezone, Signature: Signature{"text timestamp",
			"timestamp"}},
		{names: "add_interval", eval: func(_ *tree.Call, a []tree.Value) tree.Value {
			n := func(i int) int64 { return a[i].(*big.Int).Int64() }
			return AddInterval(a[0].(tree.Moment), Duration{int(n(1)), n(2), n(3)})
		}},
	}
}

// units are what date_trunc takes, and fields what extract takes besides.
var (
	units = []string{"millennium", "century", "decade", "year", "quarter", "month", "week", "day", "hour", "minute", "second",
		"milliseconds", "microseconds"}
	fields = append(slices.Clone(units), "dow", "isodow", "doy", "isoyear", "epoch", "julian")
)

// otherNames are other words for units, as PostgreSQL has them.
var otherNames = map[string]string{"millennia": "millennium", "mil": "millennium", "centuries": "century", "cent": "century",
	"qtr": "quarter", "mon": "month", "min": "minute", "sec": "second", "millisecond": "milliseconds", "msec": "milliseconds",
	"ms": "milliseconds", "microsecond": "microseconds", "usec": "microseconds", "us": "microseconds"}

func unitName(text string) string {
	name := strings.ToLower(strings.TrimSpace(text))
	for _, known := range []string{name, strings.TrimSuffix(name, "s")} {
		if other, ok := otherNames[known]; ok {
			return other
		}
		if slices.Contains(fields, known) {
			return known
		}
	}
	return name
}

func newExtract(args []tree.Expr, pos int32) (tree.Expr, error) {
	field, err := TextConstant(args[0], 20, "extract(year from day)", pos)
	if err != nil {
		return nil, err
	}
	field = unitName(field)
	if !slices.Contains(fields, field) {
		return nil, syntax.Refuse(syntax.BadValue, pos, "use "+strings.Join(fields, ", "), "there is no field %q", field)
	}
	x, err := requireKind("extract", args[1], pos, tree.Date, tree.Timestamp)
	if err != nil {
		return nil, err
	}
	if x.Type().Kind == tree.Date && slices.Contains([]string{"hour", "minute", "second", "milliseconds", "microseconds"}, field) {
		return nil, syntax.Refuse(syntax.Unsupported, pos, "take it from a timestamp", "a date has no %s", field)
	}
	if x, err = Civil(x, pos); err != nil {
		return nil, err
	}
	if e, done, err := deriveField(field, x, pos); done {
		return e, err
	}
	return NewCall("extract", extractType(field, x.Type()), pos, NewText(field), x)
}

// extractType is the type of a field of a time: years and seconds since 1970 lie between
// those of the ends, the others between ends of their own.
func extractType(field string, t tree.Type) tree.Type {
	own := map[string][2]int64{"quarter": {1, 4}, "month": {1, 12}, "week": {1, 53}, "day": {1, 31}, "dow": {0, 6},
		"isodow": {1, 7}, "doy": {1, 366},
		"hour": {0, 23}, "minute": {0, 59}, "second": {0, 59_999_999}}
	step := tree.One
	if field == "second" || field == "epoch" && t.Kind == tree.Timestamp {
		step = big.NewRat(1, 1_000_000)
	}
	if o, ok := own[field]; ok {
		return tree.NumberType(step, big.NewInt(o[0]), big.NewInt(o[1]), true)
	}
	lo, hi := t.Span()
	at := func(n *big.Int) *big.Int { return evalExtract(field, timeValue(t.Kind, n)).(*big.Int) }
	return tree.NumberType(step, at(lo), at(hi), t.Declared)
}

func timeValue(k tree.Kind, n *big.Int) tree.Value {
	if k == tree.Date {
		return tree.Day(n.Int64())
	}
	return tree.Moment(n.Int64())
}

func evalExtract(field string, v tree.Value) tree.Value {
	m, stamp := v.(tree.Moment)
	d, _ := v.(tree.Day)
	if stamp {
		d = m.Day()
	}
	t := d.Time()
	year, week := t.ISOWeek()
	n := int64(0)
	switch field {
	case "year":
		n = int64(t.Year())
	case "quarter":
		n = int64(t.Month()+2) / 3
	case "month":
		n = int64(t.Month())
	case "week":
		n = int64(week)
	case "isoyear":
		n = int64(year)
	case "day":
		n = int64(t.Day())
	case "dow":
		n = int64(t.Weekday())
	case "isodow":
		n = int64(t.Weekday()+6)%7 + 1
	case "doy":
		n = int64(t.YearDay())
	case "hour":
		n = m.TimeOfDay() / 3_600_000_000
	case "minute":
		n = m.TimeOfDay() / 60_000_000 % 60
	case "second":
		n = m.TimeOfDay() % 60_000_000
	case "epoch":
		n = int64(d) * 86400
		if stamp {
			n = int64(m)
		}
	}
	return big.NewInt(n)
}

func newDateTrunc(args []tree.Expr, pos int32) (tree.Expr, error) {
	unit, err := TextConstant(args[0], 20, "date_trunc('month', day)", pos)
	if err != nil {
		return nil, err
	}
	unit = unitName(unit)
	if !slices.Contains(units, unit) {
		return nil, syntax.Refuse(syntax.BadValue, pos, "use "+strings.Join(units, ", "), "there is no unit %q", unit)
	}
	if len(args) == 3 {
		if err := onlyUTC(args[2], pos); err != nil {
			return nil, err
		}
	}
	x, err := requireKind("date_trunc", args[1], pos, tree.Date, tree.Timestamp)
	if err != nil {
		return nil, err
	}
	if x, err = Civil(x, pos); err != nil {
		return nil, err
	}
	t := x.Type()
	if t.Kind == tree.Date && slices.Index(units, unit) >= slices.Index(units, "day") {
		return x, nil // a date is one already
	}
	switch unit {
	case "microseconds":
		return x, nil
	case "decade", "century", "millennium":
		return truncLong(unit, x, pos)
	}
	lo, hi := t.Span()
	at := func(n *big.Int) *big.Int { return timeNumber(Trunc(unit, timeValue(t.Kind, n))) }
	return NewCall("date_trunc", tree.TimeType(t.Kind, at(lo), at(hi), t.Declared), pos, NewText(unit), x)
}

func timeNumber(v tree.Value) *big.Int {
	if d, ok := v.(tree.Day); ok {
		return big.NewInt(int64(d))
	}
	return big.NewInt(int64(v.(tree.Moment)))
}

// Trunc is the beginning of a unit of time.
func Trunc(unit string, v tree.Value) tree.Value {
	m, stamp := v.(tree.Moment)
	d, _ := v.(tree.Day)
	if stamp {
		size := map[string]int64{"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "milliseconds": 1000}[unit]
		if size > 0 {
			return m - tree.Moment(m.TimeOfDay()%size)
		}
		d = m.Day()
	}
	t := d.Time()
	switch unit {
	case "year":
		d = tree.NewDay(tree.CivilDate(t.Year(), 1, 1))
	case "quarter":
		d = tree.NewDay(tree.CivilDate(t.Year(), (int(t.Month())-1)/3*3+1, 1))
	case "month":
		d = tree.NewDay(tree.CivilDate(t.Year(), int(t.Month()), 1))
	case "week":
		d -= tree.Day(t.Weekday()+6) % 7
	}
	if stamp {
		return d.Start()
	}
	return d
}

// newDateArith makes day + 7, day - 7 and day - day. It reports whether a side is a time,
// so that there is nothing else to try.
func newDateArith(op string, l, r tree.Expr, pos int32) (tree.Expr, bool, error) {
	a, b := l.Type().Kind, r.Type().Kind
	if a != tree.Date && b != tree.Date && a != tree.Timestamp && b != tree.Timestamp {
		return nil, false, nil
	}
	if op == "+" && a != tree.Date && a != tree.Timestamp {
		l, r, a, b = r, l, b, a
	}
	// A quoted constant is a number of days after +, and a date after -.
	if a == tree.Date && op == "-" {
		r = Adopt(Adopt(r, l), NewNumber(tree.One))
	} else if a == tree.Date {
		r = AdoptNumber(r)
	}
	if b == tree.Date && op == "-" {
		l = Adopt(l, r)
	}
	switch a, b = l.Type().Kind, r.Type().Kind; {
	case a == tree.Date && r.Type().Integer():
		e, err := addDays(op, l, r, pos)
		return e, true, err
	case a == tree.Date && b == tree.Date && op == "-":
		lo, hi := l.Type().Span()
		from, to := r.Type().Span()
		t := tree.NumberType(tree.One, new(big.Int).Sub(lo, to), new(big.Int).Sub(hi, from), l.Type().Declared && r.Type().Declared)
		e, err := NewCall("days_between", t, pos, l, r)
		return e, true, err
	case (a == tree.Timestamp || b == tree.Timestamp) && op == "-" && (a == tree.Timestamp || a == tree.Date) &&
		(b == tree.Timestamp || b == tree.Date):
		return nil, true,
			syntax.Refuse(syntax.Unsupported, pos,
				"write extract(epoch from x) - extract(epoch from y), which is a number of seconds, or CAST(x AS date) - "+
					"CAST(y AS date), which is a number of days",
				"timestamps cannot be subtracted")
	}
	return nil, true, syntax.Refuse(syntax.NoFunction, pos, "write day + 7, day - 7, day - other_day, or at + INTERVAL '1 hour'",
		"%s and %s cannot be combined with %s", Article(a), Article(b), op)
}

// maxDays is more than there are between the years 1 and 9999.
var maxDays = big.NewInt(4_000_000)

func addDays(op string, day, n tree.Expr, pos int32) (tree.Expr, error) {
	n, err := restrict(n, new(big.Int).Neg(maxDays), maxDays, false, pos)
	if err == nil && op == "-" {
		n, err = NewArith(tree.Sub, NewNumber(big.NewRat(0, 1)), n, pos)
	}
	if err != nil {
		return nil, err
	}
	if day, err = Civil(day, pos); err != nil {
		return nil, err
	}
	lo, hi := day.Type().Span()
	t := tree.TimeType(tree.Date, new(big.Int).Add(lo, n.Type().Lo), new(big.Int).Add(hi, n.Type().Hi),
		day.Type().Declared && n.Type().Declared)
	e, err := NewCall("add_days", t, pos, day, n)
	if err != nil {
		return nil, err
	}
	return Civil(e, pos)
}

// AddInterval adds months, then days, then the rest, as PostgreSQL does.
func AddInterval(m tree.Moment, by Duration) tree.Moment {
	day, rest := m.Day(), m.TimeOfDay()
	if by.Months != 0 {
		day = day.AddMonths(by.Months)
	}
	return (day + tree.Day(by.Days)).Start() + tree.Moment(rest) + tree.Moment(by.Micros)
}
