package admission

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-dp/discreet/api"
)

// What is asked only where it is free begins and leaves on a tick, whatever comes of it: a kept
// answer, a price, or an answer that is put together in a turn; and sees what was kept by the tick.
func TestFreeTick(t *testing.T) {
	const tick = 10 * time.Second
	for _, busy := range []int{0, 1, 3} { // a turn is free; it waits in line; there is no room
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var seen []time.Time
			see := func(q api.Question) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, q.AsOf)
			}
			library := remembers(time.Hour, see)
			engine := library.ask
			library.ask = func(ctx context.Context, q api.Question) (*api.Answer, error) {
				if q.Free && q.SQL != "kept" {
					see(q)
					return nil, &api.PriceError{Explanation: &api.Explanation{}}
				}
				return engine(ctx, q)
			}
			d := newDispatcher(people(t, "{tick: 10s}"), explaining{library}, Options{Running: 2, Waiting: 1, Timeout: 10 * time.Hour})
			begin := d.clock.begin
			var all sync.WaitGroup
			for range busy {
				all.Go(func() { d.Ask(t.Context(), from("ana")) })
			}
			time.Sleep(tick + time.Second)
			for _, sql := range []string{"kept", "new"} {
				q := api.Question{Analyst: "ana", SQL: sql, Free: true}
				a, err := d.Ask(t.Context(), q)
				var price *api.PriceError
				if sql == "kept" && (err != nil || !a.Receipt.Free) || sql == "new" && !errors.As(err, &price) {
					t.Errorf("busy %d, %s: %v, %v", busy, sql, a, err)
				}
				if since := time.Since(begin); since%tick != 0 {
					t.Errorf("busy %d, %s: it left after %v", busy, sql, since)
				}
				mu.Lock()
				for _, at := range seen {
					if at.Sub(begin)%tick != 0 {
						t.Errorf("busy %d, %s: it saw what was kept by %v", busy, sql, at.Sub(begin))
					}
				}
				mu.Unlock()
				time.Sleep(time.Second)
			}
			if len(seen) == 0 {
				t.Errorf("busy %d: nobody looked", busy)
			}
			if s := d.Stats(); s.Limited+s.Refused+s.Exhausted != 0 {
				t.Errorf("%+v", s)
			}
			all.Wait()
		})
	}
}

// explaining is a library that prices at once, which the other asks for.
type explaining struct{ fake }

func (explaining) Explain(context.Context, api.Question) (*api.Explanation, error) {
	time.Sleep(time.Millisecond)
	return &api.Explanation{}, nil
}

// Whatever is asked about is asked under a name of who asks, also what costs nothing: nobody names
// the requests of others.
func TestFreeRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		library := fake{ask: func(_ context.Context, q api.Question) (*api.Answer, error) {
			names = append(names, q.Request)
			return &api.Answer{}, nil
		}, recall: func(_ context.Context, q api.Question) (*api.Answer, bool) {
			names = append(names, q.Request)
			return &api.Answer{}, true
		}}
		d := newDispatcher(people(t, "{tick: 10s}"), library, Options{Running: 2, Waiting: 1})
		q := api.Question{Analyst: "ana", SQL: "x", Request: "ben:1"}
		if _, err := d.Explain(t.Context(), q); err != nil {
			t.Error(err)
		}
		for _, q.Free = range []bool{true, false} {
			if _, err := d.Ask(t.Context(), q); err != nil {
				t.Error(err)
			}
		}
		if len(names) != 3 || names[0] != "ana:ben:1" || names[1] != names[0] || names[2] != names[0] {
			t.Errorf("it was asked as %q", names)
		}
	})
}
