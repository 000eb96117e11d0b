package admission

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Looks are few at once, one for each user, and none takes for ever.
func TestLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "{tick: 10s}"), takes(time.Hour), Options{Running: 1})
		var now, most, anas, mostAnas atomic.Int64
		look := func(user string, takes time.Duration) error {
			return d.Look(t.Context(), user, func(ctx context.Context) error {
				most.Store(max(most.Load(), now.Add(1)))
				defer now.Add(-1)
				if user == "ana" {
					mostAnas.Store(max(mostAnas.Load(), anas.Add(1)))
					defer anas.Add(-1)
				}
				return work(ctx, takes)
			})
		}
		var all sync.WaitGroup
		begin := time.Now()
		for _, user := range []string{"ana", "ana", "ana", "ben", "cleo", "boss"} {
			all.Go(func() {
				if err := look(user, time.Second); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		// Ana's three are one after the other, and how well the others fit beside them depends on
		// who came first.
		if took := time.Since(begin); most.Load() != 2 || mostAnas.Load() != 1 || took < 3*time.Second || took > 4*time.Second {
			t.Errorf("%d at once, %d of ana, for %v", most.Load(), mostAnas.Load(), took)
		}
		begin = time.Now()
		var limit *LimitError
		if err := look("ana", time.Hour); !errors.As(err, &limit) || time.Since(begin) != lookTimeout {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

// Looks have a rate of their own.
func TestLookRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), takes(0), Options{Rate: 60, Patience: -1})
		limited := 0
		for range 200 {
			var limit *LimitError
			if err := d.Look(t.Context(), "ana", func(context.Context) error { return nil }); errors.As(err, &limit) {
				limited++
			}
		}
		if limited != 100 {
			t.Errorf("%d were limited", limited)
		}
		if _, err := d.Ask(t.Context(), from("ana")); err != nil {
			t.Error(err)
		}
	})
}
