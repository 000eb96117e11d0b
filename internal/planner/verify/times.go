package verify

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

const dayMicros = 86_400_000_000

// The years 1 to 9999, in which all calendars of engines agree.
var (
	firstDay, lastDay = big.NewInt(days(1, 1, 1)), big.NewInt(days(9999, 12, 31))
	firstMicros       = new(big.Int).Mul(firstDay, big.NewInt(dayMicros))
	lastMicros        = new(big.Int).Add(new(big.Int).Mul(lastDay, big.NewInt(dayMicros)), big.NewInt(dayMicros-1))
)

// days is the number of a day since 1970-01-01. Years begin in March here, so that the day that
// leap years have is their last.
func days(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	leaps := floor(year, 4) - floor(year, 100) + floor(year, 400)
	return 365*year + leaps + (153*(month-3)+2)/5 + day - 1 - 719468
}

// calendar is the date of a day, by counting eras of 400 years.
func calendar(n int64) (year, month, day int64) {
	n += 719468
	era := floor(n, 146097)
	of := n - era*146097
	inEra := (of - of/1460 + of/36524 - of/146096) / 365
	ofYear := of - (365*inEra + inEra/4 - inEra/100)
	m := (5*ofYear + 2) / 153
	year, month, day = inEra+era*400, m+3, ofYear-(153*m+2)/5+1
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}

func floor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// monday is the first day of a week.
func monday(n int64) int64 { return n - (n + 3 - 7*floor(n+3, 7)) } // 1970-01-01 was a Thursday

func (c *functions) checkCivil(x fact) {
	lo, hi := firstDay, lastDay
	if x.kind == tree.Timestamp {
		lo, hi = firstMicros, lastMicros
	} else {
		c.must(x.kind == tree.Date, "a time that is %v", x.kind)
	}
	c.must(x.never || lo.Cmp(x.lo) <= 0 && x.hi.Cmp(hi) <= 0, "a time outside of the years 1 to 9999 is computed with")
}

// checkClaimedCivil makes sure that a printer, which moves a time by its claimed ends, finds some.
func (c *functions) checkClaimedCivil(e tree.Expr) {
	lo, hi := span(e.Type())
	c.checkCivil(fact{kind: e.Type().Kind, lo: lo, hi: hi})
}

func (c *functions) time(e *tree.Call, args []fact) fact {
	switch e.Fn {
	case "extract":
		return c.extract(c.word(e.Args[0]), e.Args[1], args[1])
	case "date_trunc":
		return c.dateTrunc(c.word(e.Args[0]), e.Args[1], args[1])
	case "days_between":
		a, b := args[0], args[1]
		c.must(a.kind == tree.Date && b.kind == tree.Date, "days between what are no dates")
		if a.never || b.never {
			return fact{kind: tree.Number, step: whole, never: true}
		}
		return number(whole, new(big.Int).Sub(a.lo, b.hi), new(big.Int).Sub(a.hi, b.lo))
	case "add_days":
		day, n := args[0], args[1]
		c.must(day.kind == tree.Date && n.kind == tree.Number && sameStep(n.step, whole),
			"days are added to what is no date, or are not whole")
		c.checkClaimedCivil(e.Args[0])
		c.must(!wide(e.Args[1].Type()), "too many days are added")
		if day.never || n.never {
			return fact{kind: tree.Date, never: true}
		}
		return fact{kind: tree.Date, lo: new(big.Int).Add(day.lo, n.lo), hi: new(big.Int).Add(day.hi, n.hi)}
	case "add_micros":
		at, n := args[0], args[1]
		c.must(at.kind == tree.Timestamp && n.kind == tree.Number && sameStep(n.step, big.NewRat(1, 1_000_000)),
			"microseconds are added to what is no timestamp, or are none")
		c.checkClaimedCivil(e.Args[0])
		c.must(!wide(e.Args[1].Type()), "too many microseconds are added")
		if at.never || n.never {
			return fact{kind: tree.Timestamp, never: true}
		}
		lo, hi := new(big.Int).Add(at.lo, n.lo), new(big.Int).Add(at.hi, n.hi)
		c.must(lo.CmpAbs(narrow) <= 0 && hi.CmpAbs(narrow) <= 0, "a moment that has more than 62 bits")
		return fact{kind: tree.Timestamp, lo: lo, hi: hi}
	case "add_interval":
		return c.addInterval(e, args[0])
	}
	x := args[0]
	c.checkClaimedCivil(e.Args[0])
	kind, other := tree.Date, tree.Timestamp
	move := func(n *big.Int) *big.Int { return new(big.Int).Div(n, big.NewInt(dayMicros)) } // rounded down
	if e.Fn == "timestamp" {
		kind, other = other, kind
		move = func(n *big.Int) *big.Int { return new(big.Int).Mul(n, big.NewInt(dayMicros)) }
	}
	c.must(x.kind == other, "%s of %v", e.Fn, x.kind)
	if x.never {
		return fact{kind: kind, never: true}
	}
	return fact{kind: kind, lo: move(x.lo), hi: move(x.hi)}
}

// fixed are the fields of a time that have ends of their own.
var fixed = map[string][2]int64{
	"quarter": {1, 4}, "month": {1, 12}, "week": {1, 53}, "day": {1, 31}, "dow": {0, 6}, "isodow": {1, 7}, "doy": {1, 366},
	"hour": {0, 23}, "minute": {0, 59}, "second": {0, 59_999_999},
}

func (c *functions) extract(field string, e tree.Expr, x fact) fact {
	c.must(x.kind == tree.Date || x.kind == tree.Timestamp, "a field of %v", x.kind)
	c.checkClaimedCivil(e)
	stamp := x.kind == tree.Timestamp
	micros := big.NewRat(1, 1_000_000)
	if ends, ok := fixed[field]; ok {
		out := integers(ends[0], ends[1])
		switch field {
		case "second":
			out.step = micros
			fallthrough
		case "hour", "minute":
			c.must(stamp, "a day has no %s", field)
		}
		return out
	}
	at, step := func(n int64) int64 { y, _, _ := calendar(n); return y }, whole
	switch field {
	case "year":
	case "isoyear": // that of the Thursday of its week
		at = func(n int64) int64 { y, _, _ := calendar(monday(n) + 3); return y }
	case "epoch":
		if stamp {
			out := x
			out.kind, out.step = tree.Number, micros
			return out
		}
		at = func(n int64) int64 { return n * 86400 }
	default:
		c.fail("no field of a time that is known here")
	}
	if x.never {
		return fact{kind: tree.Number, step: step, never: true}
	}
	day := func(n *big.Int) int64 {
		if stamp {
			return floor(n.Int64(), dayMicros)
		}
		return n.Int64()
	}
	return integers(at(day(x.lo)), at(day(x.hi)))
}

func (c *functions) dateTrunc(unit string, e tree.Expr, x fact) fact {
	c.must(x.kind == tree.Date || x.kind == tree.Timestamp, "a truncation of %v", x.kind)
	c.checkClaimedCivil(e)
	stamp := x.kind == tree.Timestamp
	size, ofDay := map[string]int64{"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "milliseconds": 1000}[unit]
	at := func(n int64) int64 { // of a day
		y, m, _ := calendar(n)
		switch unit {
		case "year":
			return days(y, 1, 1)
		case "quarter":
			return days(y, (m-1)/3*3+1, 1)
		case "month":
			return days(y, m, 1)
		case "week":
			return monday(n)
		case "day":
			return n
		}
		c.fail("no unit of time that is known here")
		return 0
	}
	c.must(!ofDay || stamp, "a day has no %s", unit)
	if x.never {
		return x
	}
	move := func(n *big.Int) *big.Int {
		switch {
		case ofDay:
			return big.NewInt(floor(n.Int64(), size) * size)
		case stamp:
			return big.NewInt(at(floor(n.Int64(), dayMicros)) * dayMicros)
		}
		return big.NewInt(at(n.Int64()))
	}
	return fact{kind: x.kind, lo: move(x.lo), hi: move(x.hi)}
}

// addInterval moves a moment by months, then days, then microseconds. A day that a month has not
// becomes its last, so months do not keep the order of moments; of days they do.
func (c *functions) addInterval(e *tree.Call, x fact) fact {
	c.must(x.kind == tree.Timestamp, "an interval is added to %v", x.kind)
	c.checkClaimedCivil(e.Args[0])
	months, more := c.constant(e.Args[1], -120_000, 120_000), c.constant(e.Args[2], -4_000_000, 4_000_000)
	micros := c.constant(e.Args[3], -4_000_000*dayMicros, 4_000_000*dayMicros)
	if x.never {
		return x
	}
	lo, hi := x.lo.Int64(), x.hi.Int64()
	if months != 0 {
		lo, hi = addMonths(floor(lo, dayMicros), months)*dayMicros, addMonths(floor(hi, dayMicros), months)*dayMicros+dayMicros-1
	}
	by := new(big.Int).Add(new(big.Int).Mul(big.NewInt(more), big.NewInt(dayMicros)), big.NewInt(micros))
	return fact{kind: tree.Timestamp, lo: new(big.Int).Add(big.NewInt(lo), by), hi: new(big.Int).Add(big.NewInt(hi), by)}
}

func addMonths(n, months int64) int64 {
	y, m, d := calendar(n)
	at := 12*y + m - 1 + months
	y, m = floor(at, 12), at-12*floor(at, 12)+1
	last := days(y+m/12, m%12+1, 1) - days(y, m, 1)
	return days(y, m, 1) + min(d, last) - 1
}
