package interpret

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
)

// span is an interval: months, days and microseconds, which PostgreSQL keeps apart. As a value it
// is the text that it is written as.
type span struct {
	months, days, micros int64
}

// units are those of an interval: how many months, days or microseconds each has.
var units = func() map[string]span {
	m := map[string]span{}
	for names, s := range map[string]span{
		"microsecond us usec microsec": {micros: 1}, "millisecond ms msec millisec": {micros: 1000},
		"second s sec": {micros: 1e6}, "minute m min": {micros: 60e6}, "hour h hr": {micros: 3600e6},
		"day d": {days: 1}, "week w": {days: 7}, "month mon": {months: 1}, "year y yr": {months: 12}, "decade dec": {months: 120},
		"century c cent": {months: 1200}, "millennium mil": {months: 12000},
	} {
		for name := range strings.FieldsSeq(names) {
			m[name], m[name+"s"] = s, s
		}
	}
	m["centuries"], m["millennia"] = span{months: 1200}, span{months: 12000}
	return m
}()

const (
	dayMicros   = 86400_000_000
	daysOfMonth = 30
)

// add adds a number of units. What is no whole number of months goes into days, and of days into
// microseconds.
func (s *span) add(n float64, u span) bool {
	if math.Abs(n) > 1e12 {
		return false
	}
	whole, part := math.Modf(n * float64(u.months))
	s.months += int64(whole)
	days := n*float64(u.days) + part*daysOfMonth
	whole, part = math.Modf(roundTo(days, 1e9))
	s.days += int64(whole)
	s.micros += int64(math.RoundToEven(n*float64(u.micros) + part*dayMicros))
	return true
}

func roundTo(f, places float64) float64 { return math.Round(f*places) / places }

// readSpan reads an interval such as 1 year 2 mons 3 days 04:05:06.7 ago.
func readSpan(text string) (s span, ok bool) {
	words := strings.Fields(strings.ToLower(strings.TrimPrefix(strings.TrimSpace(text), "@")))
	ago := len(words) > 0 && words[len(words)-1] == "ago"
	if ago {
		words = words[:len(words)-1]
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		if strings.Contains(w, ":") {
			seconds, ok := clockSeconds(strings.TrimPrefix(w, "+"))
			if !ok {
				return s, false
			}
			s.micros += int64(math.RoundToEven(seconds * 1e6))
			continue
		}
		digits := len(w) - len(strings.TrimLeft(w, "+-.0123456789"))
		n, err := strconv.ParseFloat(w[:digits], 64)
		unit := w[digits:]
		if err != nil {
			return s, false
		}
		if unit == "" && i+1 < len(words) && !strings.Contains(words[i+1], ":") {
			i++
			unit = words[i]
		} else if unit == "" && i+1 < len(words) {
			unit = "day"
		} else if unit == "" {
			unit = "second"
		}
		u, known := units[unit]
		if !known || !s.add(n, u) {
			return s, false
		}
	}
	if ago {
		s = s.times(-1)
	}
	return s, len(words) > 0
}

func (s span) times(n int64) span { return span{s.months * n, s.days * n, s.micros * n} }

func (s span) plus(o span) span {
	return span{s.months + o.months, s.days + o.days, s.micros + o.micros}
}

// scaled is a span n times. Parts of months and days go down into days and microseconds.
func (s span) scaled(n float64) (span, error) {
	months, days := float64(s.months)*n, float64(s.days)*n
	if math.IsNaN(n) || math.IsInf(n, 0) || math.Abs(months) > math.MaxInt32 || math.Abs(days) > math.MaxInt32 {
		return span{}, Fail("22008", "interval out of range")
	}
	out := span{months: int64(months), days: int64(days)}
	monthDays := roundTo((months-math.Trunc(months))*daysOfMonth, 1e6)
	seconds := roundTo((days-math.Trunc(days)+monthDays-math.Trunc(monthDays))*86400, 1e6)
	if math.Abs(seconds) >= 86400 {
		out.days += int64(seconds / 86400)
		seconds -= math.Trunc(seconds/86400) * 86400
	}
	out.days += int64(monthDays)
	micros := math.RoundToEven(float64(s.micros)*n + seconds*1e6)
	if math.Abs(micros) > 9.2e18 {
		return span{}, Fail("22008", "interval out of range")
	}
	out.micros = int64(micros)
	return out, nil
}

// order is that of intervals: a month has 30 days and a day 24 hours.
func (s span) order() float64 {
	return (float64(s.months)*daysOfMonth+float64(s.days))*dayMicros + float64(s.micros)
}

// String writes an interval as PostgreSQL does.
func (s span) String() string {
	var parts []string
	negative := false // what came before, so that what follows has a sign
	add := func(n int64, unit string) {
		if n == 0 {
			return
		}
		sign := ""
		if negative && n > 0 {
			sign = "+"
		}
		negative = n < 0
		if n != 1 {
			unit += "s"
		}
		parts = append(parts, fmt.Sprintf("%s%d %s", sign, n, unit))
	}
	add(s.months/12, "year")
	add(s.months%12, "mon")
	add(s.days, "day")
	if s.micros != 0 || len(parts) == 0 {
		sign, n := "", s.micros
		switch {
		case n < 0:
			sign, n = "-", -n
		case negative:
			sign = "+"
		}
		text := fmt.Sprintf("%s%02d:%02d:%02d", sign, n/3600e6, n/60e6%60, n/1e6%60)
		if part := n % 1e6; part != 0 {
			text += strings.TrimRight(fmt.Sprintf(".%06d", part), "0")
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

func (s span) value() datum.Value { return datum.Text(s.String()) }

// span is an argument that is an interval.
func (c *Call) span(i int) span { return spanOf(c.Args[i]) }

func spanOf(v datum.Value) span {
	text, _ := v.(datum.Text)
	s, _ := readSpan(string(text))
	return s
}

// after is a time some span later: months first, to the last day where a month is too short, then
// days, then the rest.
func (s span) after(t time.Time) (datum.Value, error) {
	if s.months != 0 {
		y, m, d := t.Date()
		first := time.Date(y, m+time.Month(s.months), 1, 0, 0, 0, 0, time.UTC)
		d = min(d, first.AddDate(0, 1, -1).Day())
		t = time.Date(first.Year(), first.Month(), d, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	}
	if s.days > 4e6 || s.days < -4e6 {
		return nil, Fail("22008", "timestamp out of range")
	}
	t = t.AddDate(0, 0, int(s.days))
	t = t.Add(time.Duration(s.micros%dayMicros)*time.Microsecond).AddDate(0, 0, int(s.micros/dayMicros))
	if t.Year() < 1 || t.Year() > 9999 {
		return nil, Fail("22008", "timestamp out of range")
	}
	return datum.Time{Time: t}, nil
}

// clockSeconds are those of hours, minutes and seconds with colons between them.
func clockSeconds(text string) (total float64, ok bool) {
	body, negative := strings.CutPrefix(text, "-")
	parts := strings.Split(body, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, false
	}
	for i, unit := range []float64{3600, 60, 1}[:len(parts)] {
		n, err := strconv.ParseFloat(parts[i], 64)
		if err != nil || n < 0 || n > 1e9 {
			return 0, false
		}
		total += n * unit
	}
	if negative {
		total = -total
	}
	return total, true
}

// difference is how long it is from one time to another: in days and what is left of one.
func difference(from, to datum.Time) datum.Value {
	micros := to.UnixMicro() - from.UnixMicro()
	return span{days: micros / dayMicros, micros: micros % dayMicros}.value()
}
