package plan

import (
	"math/big"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Functions of dates and timestamps, in the calendar that is used everywhere, also
// before it was, and in UTC.

func init() {
	functions["extract"] = function{2, 2, "extract(year from day)", newExtract}
	functions["date_part"] = function{2, 2, "date_part('year', day)", newExtract}
	nodes["extract"] = node{eval: func(_ *Call, a []Value) Value { return evalExtract(a[0].(string), a[1]) }}
	functions["date_trunc"] = function{2, 2, "date_trunc('month', day)", newDateTrunc}
	nodes["date_trunc"] = node{eval: func(_ *Call, a []Value) Value { return evalTrunc(a[0].(string), a[1]) }}
	nodes["timestamp"] = node{eval: func(_ *Call, a []Value) Value { return a[0].(Day).start() }}
	nodes["date"] = node{eval: func(_ *Call, a []Value) Value { return a[0].(Moment).day() }}
	nodes["add_days"] = node{eval: func(_ *Call, a []Value) Value { return a[0].(Day) + Day(a[1].(*big.Int).Int64()) }}
	nodes["days_between"] = node{eval: func(_ *Call, a []Value) Value { return big.NewInt(int64(a[0].(Day) - a[1].(Day))) }}
	nodes["add_interval"] = node{eval: func(_ *Call, a []Value) Value {
		n := func(i int) int64 { return a[i].(*big.Int).Int64() }
		return addInterval(a[0].(Moment), interval{int(n(1)), n(2), n(3)})
	}}
}

// units are what date_trunc takes, and fields what extract takes besides.
var (
	units  = []string{"year", "quarter", "month", "week", "day", "hour", "minute", "second"}
	fields = append(slices.Clone(units), "dow", "isodow", "doy", "isoyear", "epoch")
)

func newExtract(args []Expr, pos int32) (Expr, error) {
	field, err := textConstant(args[0], 20, "extract(year from day)", pos)
	if err != nil {
		return nil, err
	}
	field = strings.ToLower(field)
	if !slices.Contains(fields, field) {
		return nil, refuse(pos, "use "+strings.Join(fields, ", "), "there is no field %q", field)
	}
	x, err := need("extract", args[1], pos, Date, Timestamp)
	if err != nil {
		return nil, err
	}
	if x.Type().Kind == Date && slices.Contains([]string{"hour", "minute", "second"}, field) {
		return nil, refuse(pos, "take it from a timestamp", "a date has no %s", field)
	}
	if x, err = civil(x, pos); err != nil {
		return nil, err
	}
	return newCall("extract", extractType(field, x.Type()), pos, newText(field), x)
}

// extractType is the type of a field of a time: years and seconds since 1970 lie between
// those of the ends, the others between ends of their own.
func extractType(field string, t Type) Type {
	own := map[string][2]int64{"quarter": {1, 4}, "month": {1, 12}, "week": {1, 53}, "day": {1, 31}, "dow": {0, 6}, "isodow": {1, 7}, "doy": {1, 366},
		"hour": {0, 23}, "minute": {0, 59}, "second": {0, 59_999_999}}
	step := one
	if field == "second" || field == "epoch" && t.Kind == Timestamp {
		step = big.NewRat(1, 1_000_000)
	}
	if o, ok := own[field]; ok {
		return numberType(step, big.NewInt(o[0]), big.NewInt(o[1]), true)
	}
	lo, hi := t.span()
	at := func(n *big.Int) *big.Int { return evalExtract(field, timeValue(t.Kind, n)).(*big.Int) }
	return numberType(step, at(lo), at(hi), t.Declared)
}

func timeValue(k Kind, n *big.Int) Value {
	if k == Date {
		return Day(n.Int64())
	}
	return Moment(n.Int64())
}

func evalExtract(field string, v Value) Value {
	m, stamp := v.(Moment)
	d, _ := v.(Day)
	if stamp {
		d = m.day()
	}
	t := d.time()
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
		n = m.ofDay() / 3_600_000_000
	case "minute":
		n = m.ofDay() / 60_000_000 % 60
	case "second":
		n = m.ofDay() % 60_000_000
	case "epoch":
		n = int64(d) * 86400
		if stamp {
			n = int64(m)
		}
	}
	return big.NewInt(n)
}

func newDateTrunc(args []Expr, pos int32) (Expr, error) {
	unit, err := textConstant(args[0], 20, "date_trunc('month', day)", pos)
	if err != nil {
		return nil, err
	}
	unit = strings.ToLower(unit)
	if !slices.Contains(units, unit) {
		return nil, refuse(pos, "use "+strings.Join(units, ", "), "there is no unit %q", unit)
	}
	x, err := need("date_trunc", args[1], pos, Date, Timestamp)
	if err != nil {
		return nil, err
	}
	if x, err = civil(x, pos); err != nil {
		return nil, err
	}
	t := x.Type()
	if t.Kind == Date && slices.Index(units, unit) >= slices.Index(units, "day") {
		return x, nil // a date is one already
	}
	lo, hi := t.span()
	at := func(n *big.Int) *big.Int { return timeNumber(evalTrunc(unit, timeValue(t.Kind, n))) }
	return newCall("date_trunc", timeType(t.Kind, at(lo), at(hi), t.Declared), pos, newText(unit), x)
}

func timeNumber(v Value) *big.Int {
	if d, ok := v.(Day); ok {
		return big.NewInt(int64(d))
	}
	return big.NewInt(int64(v.(Moment)))
}

func evalTrunc(unit string, v Value) Value {
	m, stamp := v.(Moment)
	d, _ := v.(Day)
	if stamp {
		size := map[string]int64{"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}[unit]
		if size > 0 {
			return m - Moment(m.ofDay()%size)
		}
		d = m.day()
	}
	t := d.time()
	switch unit {
	case "year":
		d = dayOf(date(t.Year(), 1, 1))
	case "quarter":
		d = dayOf(date(t.Year(), (int(t.Month())-1)/3*3+1, 1))
	case "month":
		d = dayOf(date(t.Year(), int(t.Month()), 1))
	case "week":
		d -= Day(t.Weekday()+6) % 7
	}
	if stamp {
		return d.start()
	}
	return d
}

// newDateArith makes day + 7, day - 7 and day - day. It reports whether a side is a time,
// so that there is nothing else to try.
func newDateArith(op string, l, r Expr, pos int32) (Expr, bool, error) {
	a, b := l.Type().Kind, r.Type().Kind
	if a != Date && b != Date && a != Timestamp && b != Timestamp {
		return nil, false, nil
	}
	if op == "+" && a != Date && a != Timestamp {
		l, r, a, b = r, l, b, a
	}
	// A quoted constant is a number of days after +, and a date after -.
	if a == Date && op == "-" {
		r = adopt(adopt(r, l), newNumber(one))
	} else if a == Date {
		r = adoptNumber(r)
	}
	if b == Date && op == "-" {
		l = adopt(l, r)
	}
	switch a, b = l.Type().Kind, r.Type().Kind; {
	case a == Date && r.Type().Integer():
		e, err := addDays(op, l, r, pos)
		return e, true, err
	case a == Date && b == Date && op == "-":
		lo, hi := l.Type().span()
		from, to := r.Type().span()
		t := numberType(one, new(big.Int).Sub(lo, to), new(big.Int).Sub(hi, from), l.Type().Declared && r.Type().Declared)
		e, err := newCall("days_between", t, pos, l, r)
		return e, true, err
	case (a == Timestamp || b == Timestamp) && op == "-" && (a == Timestamp || a == Date) && (b == Timestamp || b == Date):
		return nil, true, refuse(pos, "write extract(epoch from x) - extract(epoch from y), which is a number of seconds, or CAST(x AS date) - CAST(y AS date), which is a number of days",
			"timestamps cannot be subtracted")
	}
	return nil, true, refuse(pos, "write day + 7, day - 7, day - other_day, or at + INTERVAL '1 hour'", "%s and %s cannot be put together with %s", article(a), article(b), op)
}

// mostDays is more than there are between the years 1 and 9999.
var mostDays = big.NewInt(4_000_000)

func addDays(op string, day, n Expr, pos int32) (Expr, error) {
	n, err := within(n, new(big.Int).Neg(mostDays), mostDays, false, pos)
	if err == nil && op == "-" {
		n, err = newArith(Sub, newNumber(ratOf(0)), n, pos)
	}
	if err != nil {
		return nil, err
	}
	if day, err = civil(day, pos); err != nil {
		return nil, err
	}
	lo, hi := day.Type().span()
	t := timeType(Date, new(big.Int).Add(lo, n.Type().Lo), new(big.Int).Add(hi, n.Type().Hi), day.Type().Declared && n.Type().Declared)
	e, err := newCall("add_days", t, pos, day, n)
	if err != nil {
		return nil, err
	}
	return civil(e, pos)
}

// isInterval reports whether a node is INTERVAL '...'.
func isInterval(n *pg.Node) bool { return typeName(n.GetTypeCast()) == "interval" }

// checkShift makes at + INTERVAL '1 month', and at - INTERVAL '1 month'.
func checkShift(s scope, op string, a *pg.A_Expr) (Expr, error) {
	left, right := a.Lexpr, a.Rexpr
	if isInterval(left) && op == "+" {
		left, right = right, left
	}
	if isInterval(left) || op != "+" && op != "-" {
		return nil, refuse(a.Location, "write at + INTERVAL '1 month'", "an INTERVAL can be added to a date or a timestamp, or subtracted from it, and nothing else")
	}
	by, err := readInterval(right.GetTypeCast())
	if err != nil {
		return nil, err
	}
	if op == "-" {
		by = interval{-by.months, -by.days, -by.micros}
	}
	x, err := checkExpr(s, left)
	if err != nil {
		return nil, err
	}
	switch k := x.Type().Kind; k {
	case Timestamp:
		x, err = civil(x, a.Location)
	case Date: // as in PostgreSQL, a timestamp from here on
		x, err = midnight(x, a.Location)
	default:
		return nil, refuse(a.Location, "write at + INTERVAL '1 month', where at is a date or a timestamp, as in DATE '2024-01-31' + INTERVAL '1 month'", "an INTERVAL cannot be added to %s", article(k))
	}
	if err != nil {
		return nil, err
	}
	lo, hi := x.Type().span()
	from, to := Moment(lo.Int64()), Moment(hi.Int64())
	if by.months != 0 {
		// 31 January at noon and 30 January at six can change places: both become the last
		// of February. The days do not.
		from, to = from.day().start(), (to.day()+1).start()-1
	}
	t := timeType(Timestamp, big.NewInt(int64(addInterval(from, by))), big.NewInt(int64(addInterval(to, by))), x.Type().Declared)
	e, err := newCall("add_interval", t, a.Location, x, newNumber(ratOf(int64(by.months))), newNumber(ratOf(by.days)), newNumber(ratOf(by.micros)))
	if err != nil {
		return nil, err
	}
	return civil(e, a.Location)
}

// addInterval adds months, then days, then the rest, as PostgreSQL does.
func addInterval(m Moment, by interval) Moment {
	day, rest := m.day(), m.ofDay()
	if by.months != 0 {
		day = day.addMonths(by.months)
	}
	return (day + Day(by.days)).start() + Moment(rest) + Moment(by.micros)
}
