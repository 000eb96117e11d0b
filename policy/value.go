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
	// the days since 1970-01-01 of a date, 0 or 1 for a boolean.
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
	}
	return strconv.FormatInt(v.Int, 10)
}

const (
	dateLayout = "2006-01-02"
	daySeconds = 24 * 60 * 60
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
