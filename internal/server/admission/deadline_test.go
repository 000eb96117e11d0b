package admission

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/releaseclock"
)

// running is a library whose questions run on an engine for as long as a test says, and have a
// public time.
func running(public time.Duration, takes func(analyst string, run int) time.Duration) fake {
	var mu sync.Mutex
	runs := map[string]int{}
	engine := func(ctx context.Context, analyst string) error {
		return releaseclock.Run(ctx, public, func(ctx context.Context) error {
			mu.Lock()
			runs[analyst]++
			n := runs[analyst]
			mu.Unlock()
			return work(ctx, takes(analyst, n))
		})
	}
	return fake{
		ask: func(ctx context.Context, q api.Question) (*api.Answer, error) {
			if err := engine(ctx, q.Analyst); err != nil {
				return nil, err
			}
			releaseclock.Settle(ctx) // before the answer is kept
			return paidFor(), nil
		},
		sparse: func(ctx context.Context, _ string) (*api.SparseVerdict, error) {
			return &api.SparseVerdict{}, engine(ctx, "ana") // nothing is written
		},
	}
}

func always(d time.Duration) func(string, int) time.Duration {
	return func(string, int) time.Duration { return d }
}

// When an answer leaves follows from its public time, and not from how long the engine takes.
func TestDeadline(t *testing.T) {
	const tick = 250 * time.Millisecond
	for _, c := range []struct{ public, leaves time.Duration }{
		{time.Millisecond, tick}, {tick - 1, tick}, {tick, tick}, {tick + 1, 2 * tick}, {2 * time.Second, 2 * time.Second},
	} {
		for kind, ask := range map[string]func(*testing.T, *Dispatcher) error{
			"ask": func(t *testing.T, d *Dispatcher) error { _, err := d.Ask(t.Context(), from("ana")); return err },
			"session": func(t *testing.T, d *Dispatcher) error {
				d.sessions.open.reserve("ana")
				s := &Session{Kind: "sparse", Analyst: "ana", Dataset: "people", Sparse: &discreet.Sparse{}, opened: true}
				d.sessions.open.settle(s)
				_, err := d.Sessions().AskSparse(t.Context(), "ana", s.ID, "SELECT COUNT(*) FROM people", "1")
				return err
			},
		} {
			for _, takes := range []time.Duration{0, 1, c.public / 100, c.public / 2, c.public - 1} {
				synctest.Test(t, func(t *testing.T) {
					d := newDispatcher(people(t, "{deadline: 250ms}"), running(c.public, always(takes)), Options{})
					time.Sleep(d.ticks.clock.next(tick))
					began := time.Now()
					must(t, ask(t, d))
					if left := time.Since(began); left != c.leaves {
						t.Errorf("%s: a public time of %v, of which it took %v, left after %v; want %v",
							kind, c.public, takes, left, c.leaves)
					}
					quiet(t, d)
				})
			}
		}
	}
}

// Nobody learns from their own question how long another's takes: questions that run at once, and
// one that waits for a turn, leave when they leave.
func TestDeadlinesOfMany(t *testing.T) {
	var seen []string
	for _, takes := range []time.Duration{time.Millisecond, 900 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			d := newDispatcher(people(t, "{deadline: 100ms}"), running(time.Second, func(analyst string, _ int) time.Duration {
				if analyst == "ana" {
					return takes
				}
				return 300 * time.Millisecond
			}), Options{Running: 2})
			time.Sleep(d.ticks.clock.next(100 * time.Millisecond))
			began := time.Now()
			left := make([]time.Duration, 3)
			var all sync.WaitGroup
			for i, name := range []string{"ana", "ben", "cleo"} {
				all.Go(func() {
					time.Sleep(time.Duration(i) * 10 * time.Millisecond) // in this order
					if _, err := d.Ask(t.Context(), from(name)); err != nil {
						t.Error(err)
					}
					left[i] = time.Since(began)
				})
			}
			all.Wait()
			seen = append(seen, fmt.Sprint(left))
			quiet(t, d)
		})
	}
	if seen[0] != seen[1] || seen[0] != "[1.9s 2.1s 3s]" {
		t.Error(seen)
	}
}

// Who stops a question is told so on the next tick, and does not learn whether it was done. The
// work goes on, and what it cost is kept.
func TestDeadlineStopped(t *testing.T) {
	var seen []string
	for _, takes := range []time.Duration{time.Millisecond, 49 * time.Millisecond, 51 * time.Millisecond, 900 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			kept := false
			l := running(time.Second, always(takes))
			asked := l.ask
			l.ask = func(ctx context.Context, q api.Question) (*api.Answer, error) {
				a, err := asked(ctx, q)
				kept = err == nil && ctx.Err() == nil
				return a, err
			}
			d := newDispatcher(people(t, "{deadline: 100ms}"), l, Options{Running: 1})
			time.Sleep(d.ticks.clock.next(100 * time.Millisecond))
			began := time.Now()
			ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer stop()
			_, err := d.Ask(ctx, from("ana"))
			said := fmt.Sprint(err, " after ", time.Since(began))
			_, err = d.Ask(t.Context(), from("ben")) // has the next turn
			seen = append(seen, fmt.Sprint(said, ", then ", err, " after ", time.Since(began), ", kept ", kept))
			quiet(t, d)
		})
	}
	for _, s := range seen {
		if s != fmt.Sprint(ErrCanceled, " after 100ms, then <nil> after 2s, kept true") {
			t.Error(s)
		}
	}
}
