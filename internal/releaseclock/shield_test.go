package releaseclock

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestShield: who cancels a question ends its work as long as it has not looked at data, and not
// any more once it has.
func TestShield(t *testing.T) {
	for _, looked := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := New(func() {})
			ctx, cancel := context.WithCancel(c.WithClock(t.Context()))
			shielded, end := c.Shield(ctx)
			defer end()
			if looked {
				BeginPrivateWork(shielded)
			}
			cancel()
			synctest.Wait()
			if stopped := shielded.Err() != nil; stopped == looked {
				t.Errorf("it has looked: %v, and was stopped: %v", looked, stopped)
			}
		})
	}
}

// TestDoneTooLateAlone: a question that works for longer than its public time when it is alone has
// failed, also where it gets done.
func TestDoneTooLateAlone(t *testing.T) {
	for _, took := range []time.Duration{time.Second / 2, 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := busySchedule(1)
			err := s.runAlone(t.Context(), time.Second, func(context.Context) error {
				time.Sleep(took) // and does not look whether it is stopped
				return nil
			})
			if late := took > time.Second; errors.Is(err, ErrLate) != late {
				t.Errorf("after %v: %v", took, err)
			}
		})
	}
}

// TestAloneIsAlone: who runs alone begins when nobody runs any more, also where somebody takes
// longer than their public time.
func TestAloneIsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := busySchedule(1), &job{}
		var beside atomic.Bool
		over := s.add(j, time.Second)
		go func() {
			_, _ = s.runBeside(t.Context(), j, over, time.Second, func(context.Context) error {
				beside.Store(true)
				time.Sleep(3 * time.Second)
				beside.Store(false)
				return nil
			})
		}()
		synctest.Wait()
		err := s.runAlone(t.Context(), time.Second, func(context.Context) error {
			if beside.Load() {
				t.Error("somebody else runs")
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
