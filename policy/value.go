package policy

import (
	"strconv"
	"time"
)

// Value is one value of a column that the owner listed, such as a group key. Two
// values are the same when they are equal with ==.
type Value struct {
	Type Type
	// Null is the group of rows whose value is NULL.
	Null bool
	// Text is the value of a text column.
	Text string
	// Int is the value of every other column: the lattice steps of an integer,
	// the days since 1970-01-01 of a date, the microseconds of a timestamp, 0 or 1
	// for a boolean.
	Int int64
}

// Bool returns the value of a boolean column.
func (v Value) Bool() bool { return v.Int != 0 }

// String returns the value for a reader. An integer is shown in lattice steps;
// [Column.Show] knows the granularity.
func (v Value) String() string {
	switch {
	case v.Null:
		return "null"
	case v.Type == Text:
		return v.Text
	case v.Type == Boolean:
		return strconv.FormatBool(v.Bool())
	case v.Type == Date:
		return FormatDate(v.Int)
	case v.Type == Timestamp:
		return FormatTimestamp(v.Int)
	}
	return strconv.FormatInt(v.Int, 10)
}

const (
	dateLayout = "2006-01-02"
	daySeconds = 24 * 60 * 60
	dayMicros  = daySeconds * 1_000_000
)

// ParseDate reads an ISO date and returns the days since 1970-01-01, negative before it.
func ParseDate(text string) (int64, bool) {
	t, err := time.Parse(dateLayout, text)
	if err != nil || len(text) != len(dateLayout) {
		return 0, false
	}
	// Midnight in UTC is a whole number of days, before 1970 too.
	return t.Unix() / daySeconds, true
}

// FormatDate writes days since 1970-01-01 as an ISO date.
func FormatDate(days int64) string {
	return time.Unix(days*daySeconds, 0).UTC().Format(dateLayout)
}

// ParseTimestamp reads a date and a time in UTC, as in 2024-01-31 12:30:00 or
// 2024-01-31T12:30:00.5, and returns the microseconds since 1970. A date alone is
// its midnight.
func ParseTimestamp(text string) (int64, bool) {
	if len(text) < len(dateLayout) {
		return 0, false
	}
	days, ok := ParseDate(text[:len(dateLayout)])
	if !ok || len(text) == len(dateLayout) {
		return days * dayMicros, ok
	}
	const clock = "15:04:05"
	rest := text[len(dateLayout):]
	if rest[0] != ' ' && rest[0] != 'T' || len(rest) <= len(clock) {
		return 0, false
	}
	t, err := time.Parse(clock, rest[1:len(clock)+1])
	if err != nil {
		return 0, false
	}
	micros := int64(t.Hour()*3600+t.Minute()*60+t.Second()) * 1_000_000
	if fraction := rest[len(clock)+1:]; fraction != "" {
		// Up to six digits: time.Parse would take a comma and a ninth digit too.
		if fraction[0] != '.' || len(fraction) < 2 || len(fraction) > 7 {
			return 0, false
		}
		n, err := strconv.ParseUint((fraction[1:] + "000000")[:6], 10, 64)
		if err != nil {
			return 0, false
		}
		micros += int64(n)
	}
	return days*dayMicros + micros, true
}

// FormatTimestamp writes microseconds since 1970 as PostgreSQL does: with a fraction only where
// there is one.
func FormatTimestamp(micros int64) string {
	return time.UnixMicro(micros).UTC().Format(dateLayout + " 15:04:05.999999")
}
