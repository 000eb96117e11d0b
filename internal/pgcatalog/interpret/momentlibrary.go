package interpret

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// momentFunctions are the functions on times and intervals.
var momentFunctions = []Function{
	{"extract(text,interval) numeric", spanPart},
	{"date_part(text,interval) float8", spanPart},
	{"date_trunc(text,timestamp) timestamp", truncateTime},
	{"date_trunc(text,timestamptz) timestamptz", truncateTime},
	{"make_date(int4,int4,int4) date", func(c *Call) (datum.Value, error) { return madeTime(c, 0, 0, 0, "date") }},
	{"make_timestamp(int4,int4,int4,int4,int4,float8) timestamp", func(c *Call) (datum.Value, error) {
		return madeTime(c, c.Int(3), c.Int(4), float(c.Args[5]), "timestamp")
	}},
	{"make_timestamptz(int4,int4,int4,int4,int4,float8) timestamptz", func(c *Call) (datum.Value, error) {
		return madeTime(c, c.Int(3), c.Int(4), float(c.Args[5]), "timestamp")
	}},
	{"make_interval(int4=,int4=,int4=,int4=,int4=,int4=,float8=) interval", madeSpan},
	{"justify_days(interval) interval", func(c *Call) (datum.Value, error) { return justified(c.span(0), true, false), nil }},
	{"justify_hours(interval) interval", func(c *Call) (datum.Value, error) { return justified(c.span(0), false, true), nil }},
	{"justify_interval(interval) interval", func(c *Call) (datum.Value, error) { return justified(c.span(0), true, true), nil }},
	{"to_timestamp(float8) timestamptz", fromEpoch},
	{"timezone(text,timestamptz) timestamp", inZone}, {"timezone(text,timestamp) timestamptz", inZone},
	{"isfinite(date|timestamp|timestamptz|interval) bool", func(*Call) (datum.Value, error) { return datum.True, nil }},
	{"age(timestamp,timestamp) interval", age}, {"age(timestamptz,timestamptz) interval", age},
	{"timeofday() text", func(c *Call) (datum.Value, error) {
		return datum.Text(c.run.now().Format("Mon Jan 02 15:04:05.000000 2006 UTC")), nil
	}},
	{"generate_series(timestamp,timestamp,interval) setof timestamp", timeSeries},
	{"generate_series(timestamptz,timestamptz,interval) setof timestamptz", timeSeries},
}

func badUnit(unit string, t uint32) error {
	return Fail("22023", "unit %q not recognized for type %s", clip(unit), oid.Types(nil).Format(t, -1))
}

// clock is an argument that is a time.
func (c *Call) clock(i int) time.Time {
	t, _ := c.Args[i].(datum.Time)
	return t.UTC()
}

// spanPart is a part of an interval.
func spanPart(c *Call) (datum.Value, error) {
	s, unit := c.span(1), strings.ToLower(c.Text(0))
	years := s.months / 12
	var n float64
	switch strings.TrimSuffix(unit, "s") {
	case "epoch":
		n = float64(years)*365.25*86400 + float64(s.months%12)*daysOfMonth*86400 + float64(s.days)*86400 + float64(s.micros)/1e6
	case "millennium":
		n = float64(years / 1000)
	case "century":
		n = float64(years / 100)
	case "decade":
		n = float64(years / 10)
	case "year":
		n = float64(years)
	case "quarter":
		n = float64(s.months%12/3 + 1)
	case "month", "mon":
		n = float64(s.months % 12)
	case "day":
		n = float64(s.days)
	case "hour":
		n = float64(s.micros / 3600e6)
	case "minute":
		n = float64(s.micros / 60e6 % 60)
	case "second":
		n = float64(s.micros%60e6) / 1e6
	case "millisecond":
		n = float64(s.micros%60e6) / 1e3
	case "microsecond":
		n = float64(s.micros % 60e6)
	default:
		return nil, badUnit(unit, oid.Interval)
	}
	return c.partOf(unit, n)
}

// timePart is a part of a time.
func timePart(c *Call) (datum.Value, error) {
	t, unit := c.clock(1), strings.ToLower(c.Text(0))
	if of := c.Types[1]; of == oid.Date && strings.Contains(" hour minute second milliseconds microseconds timezone ", " "+unit+" ") ||
		of == oid.Timestamp && strings.HasPrefix(unit, "timezone") {
		if strings.HasSuffix(c.Name, "part") && of == oid.Date && !strings.HasPrefix(unit, "timezone") {
			return c.partOf(unit, 0) // it takes a date for a timestamp
		}
		return nil, Fail("0A000", "unit %q not supported for type %s", unit, oid.Types(nil).Format(c.Types[1], -1))
	}
	micros := float64(t.Second())*1e6 + float64(t.Nanosecond()/1000)
	year, week := t.ISOWeek()
	var n float64
	switch unit {
	case "epoch":
		n = float64(t.UnixMicro()) / 1e6
	case "millennium":
		n = float64((t.Year() + 999) / 1000)
	case "century":
		n = float64((t.Year() + 99) / 100)
	case "decade":
		n = float64(t.Year() / 10)
	case "year":
		n = float64(t.Year())
	case "isoyear":
		n = float64(year)
	case "quarter":
		n = float64((int(t.Month()) + 2) / 3)
	case "month":
		n = float64(t.Month())
	case "week":
		n = float64(week)
	case "day":
		n = float64(t.Day())
	case "doy":
		n = float64(t.YearDay())
	case "dow":
		n = float64(t.Weekday())
	case "isodow":
		n = float64((int(t.Weekday())+6)%7 + 1)
	case "hour":
		n = float64(t.Hour())
	case "minute":
		n = float64(t.Minute())
	case "second":
		n = micros / 1e6
	case "milliseconds":
		n = micros / 1e3
	case "microseconds":
		n = micros
	case "timezone", "timezone_hour", "timezone_minute":
	default:
		return nil, badUnit(unit, c.Types[1])
	}
	return c.partOf(unit, n)
}

// partOf is a part of a time: a double for date_part, and for extract a numeric with the digits
// that the unit has.
func (c *Call) partOf(unit string, n float64) (datum.Value, error) {
	if c.Name == "date_part" {
		return datum.Float(n), nil
	}
	scale := 0
	switch strings.TrimSuffix(unit, "s") {
	case "second", "epoch":
		scale = 6
	case "millisecond":
		scale = 3
	}
	out, _ := datum.ParseNumeric(strconv.FormatFloat(n, 'f', scale, 64))
	return out, nil
}

func truncateTime(c *Call) (datum.Value, error) {
	t, unit := c.clock(1), strings.ToLower(c.Text(0))
	y, m, d := t.Date()
	date := func(y int, m time.Month, d int) (datum.Value, error) {
		return datum.Time{Time: time.Date(y, m, d, 0, 0, 0, 0, time.UTC)}, nil
	}
	switch unit {
	case "millennium":
		return date((y-1)/1000*1000+1, 1, 1)
	case "century":
		return date((y-1)/100*100+1, 1, 1)
	case "decade":
		return date(max(1, y/10*10), 1, 1)
	case "year":
		return date(y, 1, 1)
	case "quarter":
		return date(y, (m-1)/3*3+1, 1)
	case "month":
		return date(y, m, 1)
	case "week":
		return date(y, m, d-(int(t.Weekday())+6)%7)
	case "day":
		return date(y, m, d)
	case "hour", "minute", "second", "milliseconds", "microseconds":
		to := map[string]time.Duration{"hour": time.Hour, "minute": time.Minute, "second": time.Second, "milliseconds": time.Millisecond,
			"microseconds": time.Microsecond}[unit]
		return datum.Time{Time: t.Truncate(to)}, nil
	}
	return nil, badUnit(unit, c.Types[1])
}

func madeTime(c *Call, hour, minute int64, second float64, what string) (datum.Value, error) {
	y, m, d := c.Int(0), c.Int(1), c.Int(2)
	out := Fail("22008", "%s field value out of range: %d-%02d-%02d", what, y, m, d)
	if y < 1 || y > 9999 || m < 1 || m > 12 || d < 1 || d > 31 || hour < 0 || hour > 24 || minute < 0 || minute > 59 ||
		!(second >= 0 && second <= 60) {
		return nil, out
	}
	t := time.Date(int(y), time.Month(m), int(d), int(hour), int(minute), 0, 0, time.UTC)
	if t.Day() != int(d) && hour < 24 {
		return nil, out
	}
	return datum.Time{Time: t.Add(time.Duration(math.RoundToEven(second*1e6)) * time.Microsecond)}, nil
}

func madeSpan(c *Call) (datum.Value, error) {
	var n [6]int64
	seconds := 0.0
	for i := range c.Args {
		if i < 6 {
			n[i] = c.Int(i)
		} else {
			seconds = float(c.Args[i])
		}
	}
	if math.IsNaN(seconds) || math.Abs(seconds) > 9e12 {
		return nil, Fail("22008", "interval out of range")
	}
	return span{months: n[0]*12 + n[1], days: n[2]*7 + n[3],
		micros: n[4]*3600e6 + n[5]*60e6 + int64(math.RoundToEven(seconds*1e6))}.value(), nil
}

// justified brings hours over to days, days to months, and all to one sign.
func justified(s span, days, hours bool) datum.Value {
	carry := func(from, to *int64, size int64) {
		*to += *from / size
		*from %= size
		if *to > 0 && *from < 0 {
			*from, *to = *from+size, *to-1
		} else if *to < 0 && *from > 0 {
			*from, *to = *from-size, *to+1
		}
	}
	if hours {
		carry(&s.micros, &s.days, dayMicros)
	}
	if days {
		carry(&s.days, &s.months, daysOfMonth)
	}
	if days && hours && s.months != 0 && s.days == 0 && (s.months > 0) != (s.micros > 0) && s.micros != 0 {
		sign := s.months / max(s.months, -s.months)
		s.months, s.days, s.micros = s.months-sign, sign*(daysOfMonth-1), s.micros+sign*dayMicros
	}
	return s.value()
}

func fromEpoch(c *Call) (datum.Value, error) {
	n := float(c.Args[0])
	if math.IsNaN(n) || n < -62135596800 || n > 253402300799 {
		return nil, Fail("22008", "timestamp out of range: %q", formatFloat(n, 64))
	}
	return datum.Time{Time: time.UnixMicro(int64(math.RoundToEven(n * 1e6))).UTC()}, nil
}

// inZone is AT TIME ZONE: there is only UTC.
func inZone(c *Call) (datum.Value, error) {
	switch strings.ToLower(c.Text(0)) {
	case "utc", "gmt", "z", "zulu", "etc/utc", "etc/gmt", "uct", "universal":
		return c.Args[1], nil
	}
	return nil, Fail("22023", "time zone %q not recognized", clip(c.Text(0)))
}

// age is how long it is from one day to another in years, months and days.
func age(c *Call) (datum.Value, error) {
	to, from := c.clock(0), c.clock(1)
	sign := int64(1)
	if to.Before(from) {
		to, from, sign = from, to, -1
	}
	months := int64(to.Year()-from.Year())*12 + int64(to.Month()-from.Month())
	days := int64(to.Day() - from.Day())
	micros := (to.UnixMicro()-floorDay(to))%dayMicros - (from.UnixMicro()-floorDay(from))%dayMicros
	if micros < 0 {
		micros, days = micros+dayMicros, days-1
	}
	if days < 0 {
		// The days of the month that the earlier one is in.
		days += int64(time.Date(from.Year(), from.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day())
		months--
	}
	return span{months, days, micros}.times(sign).value(), nil
}

func floorDay(t time.Time) int64 {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).UnixMicro()
}

func timeSeries(c *Call) (datum.Value, error) {
	step := c.span(2)
	order := step.order()
	if order == 0 {
		return nil, Fail("22023", "step size cannot equal zero")
	}
	var out datum.List
	end := c.clock(1)
	for t := c.clock(0); order > 0 && !t.After(end) || order < 0 && !t.Before(end); {
		out = append(out, datum.Time{Time: t})
		if err := c.run.spend(1, 64); err != nil {
			return nil, err
		}
		next, err := step.after(t)
		if err != nil {
			return nil, err
		}
		if n := next.(datum.Time).Time; n.Equal(t) {
			return nil, Fail("22023", "step size cannot equal zero")
		} else {
			t = n
		}
	}
	return out, nil
}
