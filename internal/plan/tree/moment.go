package tree

import (
	"time"

	"github.com/discreet-dp/discreet/policy"
)

// Moment is a timestamp in microseconds since 1970-01-01 00:00:00 UTC.
type Moment int64

func (m Moment) String() string { return policy.FormatTimestamp(int64(m)) }

const (
	DayMicros = 24 * 60 * 60 * 1_000_000
	// FirstDay and lastDay are 0001-01-01 and 9999-12-31. Functions of times outside are NULL.
	FirstDay, LastDay       = -719162, 2932896
	FirstMicros, LastMicros = FirstDay * DayMicros, (LastDay+1)*DayMicros - 1
)

// Day is the date of a moment.
func (m Moment) Day() Day {
	d := int64(m) / DayMicros
	if int64(m)%DayMicros < 0 {
		d--
	}
	return Day(d)
}

func (d Day) Time() time.Time         { return time.Unix(int64(d)*(DayMicros/1_000_000), 0).UTC() }
func (d Day) Start() Moment           { return Moment(int64(d) * DayMicros) }
func NewDay(t time.Time) Day          { return Day(t.Unix() / (DayMicros / 1_000_000)) }
func (m Moment) TimeOfDay() int64     { return int64(m) - int64(m.Day())*DayMicros }
func CivilDate(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }

// AddMonths moves a day by months; a day that the month has not becomes its last one.
func (d Day) AddMonths(n int) Day {
	t := d.Time()
	first := CivilDate(t.Year(), int(t.Month())+n, 1)
	last := CivilDate(first.Year(), int(first.Month())+1, 0).Day()
	return NewDay(first) + Day(min(t.Day(), last)-1)
}
