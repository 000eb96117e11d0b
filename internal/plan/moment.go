package plan

import (
	"math/big"
	"time"

	"github.com/discreet-dp/discreet/policy"
)

// Moment is a timestamp in microseconds since 1970-01-01 00:00:00 UTC.
type Moment int64

func (m Moment) String() string { return policy.FormatTimestamp(int64(m)) }

const (
	dayMicros = 24 * 60 * 60 * 1_000_000
	// firstDay and lastDay are 0001-01-01 and 9999-12-31. Functions of times outside are NULL.
	firstDay, lastDay       = -719162, 2932896
	firstMicros, lastMicros = firstDay * dayMicros, (lastDay+1)*dayMicros - 1
)

// day is the date of a moment.
func (m Moment) day() Day {
	d := int64(m) / dayMicros
	if int64(m)%dayMicros < 0 {
		d--
	}
	return Day(d)
}

func (d Day) time() time.Time    { return time.Unix(int64(d)*(dayMicros/1_000_000), 0).UTC() }
func (d Day) start() Moment      { return Moment(int64(d) * dayMicros) }
func dayOf(t time.Time) Day      { return Day(t.Unix() / (dayMicros / 1_000_000)) }
func (m Moment) ofDay() int64    { return int64(m) - int64(m.day())*dayMicros }
func date(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }

// addMonths moves a day by months; a day that the month has not becomes its last one.
func (d Day) addMonths(n int) Day {
	t := d.time()
	first := date(t.Year(), int(t.Month())+n, 1)
	last := date(first.Year(), int(first.Month())+1, 0).Day()
	return dayOf(first) + Day(min(t.Day(), last)-1)
}

// timeType is the type of a Date or a Timestamp between two ends.
func timeType(k Kind, lo, hi *big.Int, declared bool) Type {
	return Type{Kind: k, Lo: lo, Hi: hi, Declared: declared}
}

func timeColumn(k Kind, c *policy.Column) Type {
	if c.Bounds == nil {
		return Type{Kind: k}
	}
	return timeType(k, big.NewInt(c.Bounds.LoSteps), big.NewInt(c.Bounds.HiSteps), true)
}

// span returns the interval of a time, which is that of its storage where nothing else is known.
func (t Type) span() (lo, hi *big.Int) {
	switch {
	case t.Lo != nil:
		return t.Lo, t.Hi
	case t.Kind == Date:
		return big.NewInt(-1 << 31), big.NewInt(1<<31 - 1)
	}
	return minInt64, maxInt64
}

// civil restricts a time to the years 1 to 9999, in which all calendars of engines agree.
func civil(x Expr, pos int32) (Expr, error) {
	if x.Type().Kind == Date {
		return within(x, big.NewInt(firstDay), big.NewInt(lastDay), false, pos)
	}
	return within(x, big.NewInt(firstMicros), big.NewInt(lastMicros), false, pos)
}

// midnight turns a date into the moment that it begins.
func midnight(x Expr, pos int32) (Expr, error) {
	x, err := civil(x, pos)
	if err != nil {
		return nil, err
	}
	lo, hi := x.Type().span()
	day := big.NewInt(dayMicros)
	return newCall("timestamp", timeType(Timestamp, new(big.Int).Mul(lo, day), new(big.Int).Mul(hi, day), x.Type().Declared), pos, x)
}
