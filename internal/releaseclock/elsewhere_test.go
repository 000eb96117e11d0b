package releaseclock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A question on other machines that waits for others leaves at a doubling, up to the limit of all
// questions. One that has worked for half of its public time when that is over, or later, has
// failed, whether it gets done or not; and so has one that is late and does not say what it worked.
func TestElsewhere(t *testing.T) {
	const second = time.Second
	for name, c := range map[string]struct {
		took  time.Duration
		share float64 // of the time that it works; below 0 where nobody says it
		late  bool
		left  time.Duration
	}{
		"in time":                     {second - 1, 0.9, false, second},
		"in time, on many processors": {second - 1, 30, false, second},
		"in time, nobody says":        {second - 1, -1, false, second},
		"it waited":                   {3 * second / 2, 0.3, false, 2 * second},
		"it waited for long":          {7 * second, 0.05, false, 8 * second},
		"it waited too long":          {time.Hour, 0.01, true, 16 * second},
		"it worked":                   {3 * second / 2, 0.4, true, 2 * second},
		"it worked, and got done":     {103 * second / 100, 0.49, true, 2 * second},
		"it worked, among others":     {7 * second, 0.3, true, 2 * second},
		"it worked for long":          {time.Hour, 0.2, true, 4 * second},
		"late, nobody says":           {3 * second / 2, -1, true, 2 * second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := busySchedule(1)
			p := New(func() {})
			p.SetSchedule(s, 10*second, nil)
			err := RunElsewhere(p.WithClock(t.Context()), second, func(ctx context.Context) error {
				began := time.Now()
				for time.Since(began) < c.took {
					select {
					case <-time.After(min(20*time.Millisecond, c.took-time.Since(began))):
					case <-ctx.Done():
						return context.Cause(ctx)
					}
					if c.share >= 0 {
						worked := time.Duration(c.share * float64(time.Since(began)) / 2)
						WorkOf(ctx).Worked("first", worked)
						WorkOf(ctx).Worked("second", worked)
					}
				}
				return nil
			})
			p.Settle()
			if errors.Is(err, ErrLate) != c.late || !c.late && err != nil || time.Since(s.began()) != c.left {
				t.Errorf("%s: it left after %v: %v", name, time.Since(s.began()), err)
			}
		})
	}
}

// What was done in vain, because the data has changed meanwhile, is not the question's work.
func TestElsewhereAnew(t *testing.T) {
	for _, anew := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := New(func() {})
			p.SetSchedule(busySchedule(1), time.Minute, nil)
			err := RunElsewhere(p.WithClock(t.Context()), time.Second, func(ctx context.Context) error {
				for _, statement := range []string{"first", "second", "third"} {
					time.Sleep(400 * time.Millisecond)
					WorkOf(ctx).Worked(statement, 200*time.Millisecond)
					if anew && statement != "third" {
						WorkOf(ctx).Reset()
					}
				}
				return ctx.Err()
			})
			if errors.Is(err, ErrLate) == anew {
				t.Errorf("%v: %v", anew, err)
			}
			p.Settle()
		})
	}
}

// Work that cannot be done twice has failed when it has worked for its public time. On a busy
// machine it goes on for as long as it has not.
func TestOnce(t *testing.T) {
	const second = time.Second
	for name, c := range map[string]struct {
		part float64
		took time.Duration
		late bool
		left time.Duration
	}{
		"in time":                 {1, second - 1, false, second},
		"too long":                {0.9, 6 * second / 5, true, 2 * second},
		"far too long":            {0.9, time.Hour, true, 2 * second},
		"on a busy machine":       {0.25, 7 * second / 2, false, 4 * second},
		"too long, on a busy one": {0.23, time.Hour, true, 8 * second},
		"done too late":           {0.98, 51 * second / 50, false, 2 * second},
		"hardly done too late":    {0.98, 103 * second / 100, true, 2 * second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := busySchedule(c.part)
			p := New(func() {})
			p.SetSchedule(s, time.Hour, nil)
			runs, work := 0, workFor(c.took)
			err := RunOnce(p.WithClock(t.Context()), second, func(ctx context.Context) error {
				runs++
				return work(ctx)
			})
			p.Settle()
			if errors.Is(err, ErrLate) != c.late || !c.late && err != nil || runs != 1 || time.Since(s.began()) != c.left {
				t.Errorf("%s: %d runs, it left after %v: %v", name, runs, time.Since(s.began()), err)
			}
		})
	}
}
