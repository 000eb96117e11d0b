package admission

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/pace"
)

// asksAtOnce lets several ask at once, where there is one turn, and returns who left after how many
// seconds.
func asksAtOnce(t *testing.T, asks func() func(ctx context.Context, analyst string) error, analysts ...string) (left []time.Duration) {
	left = make([]time.Duration, len(analysts))
	synctest.Test(t, func(t *testing.T) {
		ask := asks()
		d := newDispatcher(people(t, "{deadline: 1s}"), fake{ask: func(ctx context.Context, q api.Question) (*api.Answer, error) {
			if err := ask(ctx, q.Analyst); err != nil {
				return nil, err
			}
			return paidFor(), nil
		}}, Options{Running: 1})
		time.Sleep(d.clock.next(time.Second))
		began := time.Now()
		var all sync.WaitGroup
		for i, name := range analysts {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond) // in this order
				if _, err := d.Ask(t.Context(), from(name)); err != nil {
					t.Error(err)
				}
				left[i] = time.Since(began)
			})
		}
		all.Wait()
		quiet(t, d)
	})
	return left
}

// Who waits for somebody else's question keeps nobody from theirs.
func TestWaitsWithoutTurn(t *testing.T) {
	left := asksAtOnce(t, func() func(context.Context, string) error {
		there := make(chan struct{})
		return func(ctx context.Context, analyst string) error {
			if analyst != "ana" {
				close(there)
				return nil
			}
			return pace.Await(ctx, func(context.Context) error { // for ben, who has no turn before this
				<-there
				return nil
			})
		}
	}, "ana", "ben")
	if !slices.Equal(left, []time.Duration{time.Second, time.Second}) {
		t.Error(left)
	}
}

// A long query over an answer keeps nobody waiting who has none, and of one analyst there is one at
// a time.
func TestAside(t *testing.T) {
	var mu sync.Mutex
	begun := map[string][]time.Time{}
	left := asksAtOnce(t, func() func(context.Context, string) error {
		return func(ctx context.Context, analyst string) error {
			if analyst == "ben" {
				return nil
			}
			return pace.Aside(ctx, func(context.Context) error {
				mu.Lock()
				begun[analyst] = append(begun[analyst], time.Now())
				mu.Unlock()
				time.Sleep(9 * time.Second)
				return nil
			})
		}
	}, "ana", "ana", "ben", "cleo")
	if left[2] > 2*time.Second {
		t.Errorf("who has no such query left after %v", left[2])
	}
	ana := begun["ana"]
	if second := ana[1].Sub(ana[0]); second < 9*time.Second || begun["cleo"][0].Sub(ana[0]) > 2*time.Second {
		t.Errorf("they began at %v", begun)
	}
}

// Those whose queries over answers take long share a place, so that somebody else's begins at once.
func TestLongAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), takes(0), Options{})
		begin := time.Now()
		aside := func(who string, takes time.Duration) (waited time.Duration) {
			begin := time.Now()
			leave, err := (&turn{queue: d.queue, aside: d.aside, slow: d.slow, who: who}).Aside(t.Context())
			if err != nil {
				t.Error(err)
				return 0
			}
			waited = time.Since(begin)
			time.Sleep(takes)
			leave()
			return waited
		}
		var all sync.WaitGroup
		for _, who := range []string{"ana", "ben"} {
			all.Go(func() {
				for time.Since(begin) < 5*time.Minute {
					aside(who, 9*time.Second)
				}
			})
		}
		time.Sleep(10 * time.Second) // nobody knew it before
		for time.Since(begin) < 5*time.Minute {
			if waited := aside("cleo", 100*time.Millisecond); waited > 0 {
				t.Errorf("after %v somebody waited for %v", time.Since(begin), waited)
			}
			time.Sleep(700 * time.Millisecond)
		}
		all.Wait()
		quiet(t, d)
	})
}
