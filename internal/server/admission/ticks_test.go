package admission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/ledger"
)

// Whatever comes of a question, and however long it took, it leaves at a multiple of the tick, at
// the first one.
func TestTick(t *testing.T) {
	const tick = 250 * time.Millisecond
	stopped := func(ctx context.Context) error { <-ctx.Done(); return errRun }
	for name, end := range map[string]func(context.Context) error{
		"answer":  func(context.Context) error { return nil },
		"refusal": func(context.Context) error { return &api.Refusal{Reason: "no"} },
		"budget":  func(context.Context) error { return &ledger.BudgetError{} },
		"failure": func(context.Context) error { return errRun },
		"panic":   func(context.Context) error { panic("secret") },
		"timeout": stopped,
		"cancel":  stopped,
	} {
		for _, takes := range []time.Duration{0, 1, time.Millisecond, tick - 1, tick, tick + 1, 3*tick - 1, 3*tick + 1} {
			for kind, ask := range map[string]func(*Dispatcher, context.Context) error{
				"ask":      func(d *Dispatcher, ctx context.Context) error { _, err := d.Ask(ctx, from("ana")); return err },
				"explain":  func(d *Dispatcher, ctx context.Context) error { _, err := d.Explain(ctx, from("ana")); return err },
				"describe": func(d *Dispatcher, ctx context.Context) error { _, err := d.Describe(ctx, from("ana")); return err },
				"open": func(d *Dispatcher, ctx context.Context) error {
					_, err := d.Sessions().OpenSparse(ctx, api.SparseQuestion{Analyst: "ana"})
					return err
				},
				"session": func(d *Dispatcher, ctx context.Context) error {
					d.sessions.open.reserve("ana")
					s := &Session{Kind: "sparse", Analyst: "ana", Dataset: "people", Sparse: &discreet.Sparse{}, opened: true}
					d.sessions.open.settle(s)
					_, err := d.Sessions().AskSparse(ctx, "ana", s.ID, "SELECT COUNT(*) FROM people", "1")
					return err
				},
				"stream": func(d *Dispatcher, ctx context.Context) error {
					_, err := d.Sessions().AskStream(ctx, "ana", held(d, "stream"), api.StreamQuestion{SQL: "age > 30"})
					return err
				},
				"quote": func(d *Dispatcher, ctx context.Context) error {
					_, err := d.Sessions().QuoteStream(ctx, "ana", held(d, "stream"), api.StreamQuestion{SQL: "age > 30"})
					return err
				},
				"holdout": func(d *Dispatcher, ctx context.Context) error {
					_, err := d.Sessions().AskHoldout(ctx, "ana", held(d, "holdout"), api.HoldoutQuestion{SQL: "age > 30"})
					return err
				},
			} {
				synctest.Test(t, func(t *testing.T) {
					does := func(ctx context.Context) error { time.Sleep(takes); return end(ctx) }
					o := Options{Timeout: 777 * time.Millisecond}
					d := newDispatcher(people(t, "tick"), fake{
						ask: func(ctx context.Context, _ api.Question) (*api.Answer, error) { return paidFor(), does(ctx) },
						open: func(ctx context.Context, _ api.SparseQuestion) (*discreet.Sparse, error) {
							return &discreet.Sparse{}, does(ctx)
						},
						sparse: func(ctx context.Context, _ string) (*api.SparseVerdict, error) {
							return &api.SparseVerdict{}, does(ctx)
						},
						stream: func(ctx context.Context, _ api.StreamQuestion) (*api.StreamAnswer, error) {
							return &api.StreamAnswer{}, does(ctx)
						},
						score: func(ctx context.Context, _ api.HoldoutQuestion) (*api.HoldoutAnswer, error) {
							return &api.HoldoutAnswer{}, does(ctx)
						},
					}, o)
					time.Sleep(13 * time.Millisecond)
					ctx, stop := context.WithCancel(t.Context())
					defer stop()
					ready := tick + takes // it begins on a tick
					switch name {
					case "timeout":
						ready = max(ready, tick+o.Timeout) // which counts from a tick on
					case "cancel":
						time.AfterFunc(tick+20*time.Millisecond, stop)
						ready = max(ready, tick+33*time.Millisecond)
					}
					err := ask(d, ctx)
					left := time.Since(d.ticks.clock.begin)
					if want := (ready + tick - 1) / tick * tick; left != want {
						t.Errorf("%s of %s, which took %v, left after %v; want %v (%v)", name, kind, takes, left, want, err)
					}
				})
			}
		}
	}
}

// As many questions as run at once begin on a tick, and leave on the next; the turn is given back
// before the wait to leave.
func TestTickBeginsAndEnds(t *testing.T) {
	for running, want := range map[int]time.Duration{1: 30 * time.Second, 2: 20 * time.Second, 3: 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			d := newDispatcher(people(t, "{tick: 10s}"), takes(time.Second), Options{Running: running})
			var all sync.WaitGroup
			for _, name := range []string{"ana", "ben", "cleo"} {
				all.Go(func() { d.Ask(t.Context(), from(name)) })
			}
			all.Wait()
			if since := time.Since(d.ticks.clock.begin); since != want {
				t.Errorf("three questions of a second, %d at once, left after %v", running, since)
			}
		})
	}
}

// Whoever asks cannot choose how much of a tick is left for the work: a question of a second takes
// one tick at whatever moment it is sent.
func TestTickHasNoPhase(t *testing.T) {
	for _, at := range []time.Duration{time.Millisecond, 5 * time.Second, 8900 * time.Millisecond, 9999 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			d := newDispatcher(people(t, "{tick: 10s}"), takes(time.Second), Options{Running: 1})
			time.Sleep(at)
			d.Ask(t.Context(), from("ana"))
			if since := time.Since(d.ticks.clock.begin); since != 20*time.Second {
				t.Errorf("sent after %v it left after %v", at, since)
			}
		})
	}
}

// Who stops waiting for the tick does not make it come earlier, and who is still in the queue
// neither.
func TestTickIsNotCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "{tick: 10s}"), takes(time.Second), Options{Running: 1})
		ctx, stop := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer stop()
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				d.Ask(ctx, from("ana"))
				if since := time.Since(d.ticks.clock.begin); since != 10*time.Second {
					t.Errorf("it left after %v", since)
				}
			})
		}
		all.Wait()
	})
}

// What is turned away does not wait.
func TestTurnedAwayAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "{tick: 10s}"), takes(0), Options{Rate: 1})
		time.Sleep(time.Second)
		d.Sessions().AskSparse(t.Context(), "ana", "none", "SELECT 1", "1") // takes the only one of this minute
		d.Ask(t.Context(), from("ana"))
		d.Ask(t.Context(), api.Question{Analyst: "ben", Dataset: "none"})
		if since := time.Since(d.ticks.clock.begin); since != time.Second {
			t.Errorf("they left after %v", since)
		}
	})
}

// Who stops a question at a moment of their choice does not learn whether it was done by then, nor
// whether the one before it was.
func TestStoppingTellsNothing(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct{ patience, timeout time.Duration }{
		"cancel":  {50 * ms, time.Hour},
		"timeout": {time.Hour, 50 * ms},
	} {
		var seen []string
		for _, takes := range []time.Duration{1 * ms, 49 * ms, 51 * ms, 249 * ms} {
			synctest.Test(t, func(t *testing.T) {
				d := newDispatcher(people(t, "tick"), fake{ask: func(ctx context.Context, q api.Question) (*api.Answer, error) {
					if q.Analyst == "ana" {
						return paidFor(), work(ctx, takes)
					}
					return paidFor(), work(ctx, time.Hour)
				}}, Options{Running: 1, Timeout: c.timeout})
				var all sync.WaitGroup
				outcomes := make([]string, 2)
				for i, name := range []string{"ana", "ben"} {
					all.Go(func() {
						ctx, stop := context.WithTimeout(t.Context(), c.patience)
						defer stop()
						_, err := d.Ask(ctx, from(name))
						outcomes[i] = fmt.Sprint(name, ": ", err, " after ", time.Since(d.ticks.clock.begin))
					})
					synctest.Wait()
				}
				all.Wait()
				seen = append(seen, strings.Join(outcomes, "; "))
				quiet(t, d)
			})
		}
		for _, s := range seen {
			if s != seen[0] {
				t.Errorf("%s: %q and %q", name, seen[0], s)
			}
		}
	}
}

// Servers have the same ticks, whenever each of them began.
func TestTicksOfServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := newClock()
		for _, tick := range []time.Duration{250 * time.Millisecond, 7 * time.Second} {
			time.Sleep(1234 * time.Microsecond)
			second := newClock()
			time.Sleep(10*time.Second + 321*time.Microsecond)
			if a, b := first.next(tick), second.next(tick); a != b || a == 0 {
				t.Errorf("the next ticks of %v are in %v and in %v", tick, a, b)
			}
			if a, b := first.last(tick), second.last(tick); !a.Equal(b) || time.Since(a)+first.next(tick) != tick {
				t.Errorf("the last ticks of %v were at %v and at %v", tick, a, b)
			}
		}
	})
}

// A question that is long over leaves nothing behind that waits for the tick.
func TestHoldLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock()
		time.Sleep(time.Nanosecond)
		ctx, stop := context.WithCancel(t.Context())
		held, release := c.holdUntilTick(ctx, time.Minute)
		stop()
		synctest.Wait()
		if held.Err() != nil {
			t.Error("it ended before the tick")
		}
		release()
		synctest.Wait()
		if held.Err() == nil || time.Since(c.begin) != 1 {
			t.Error("it still waits")
		}
	})
}

// held is a session that ana has open.
func held(d *Dispatcher, kind string) string {
	d.sessions.open.reserve("ana")
	s := &Session{Kind: kind, Analyst: "ana", Dataset: "people", Name: "only", opened: true}
	d.sessions.open.settle(s)
	return s.ID
}

// A question that has looked at data waits for the tick before it writes anything, gives its turn
// back meanwhile, and leaves after that without another tick; one that has looked since waits for
// one more.
func TestTickBeforeWriting(t *testing.T) {
	for more, want := range map[time.Duration]time.Duration{0: 10 * time.Second, time.Second: 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var d *Dispatcher
			d = newDispatcher(people(t, "{tick: 10s}"), fake{ask: func(ctx context.Context, _ api.Question) (*api.Answer, error) {
				releaseclock.Settle(ctx) // nothing was looked at yet
				began := time.Since(d.ticks.clock.begin)
				releaseclock.BeginPrivateWork(ctx)
				time.Sleep(3 * time.Second)
				releaseclock.Settle(ctx)
				releaseclock.Settle(ctx) // which is settled
				if at := time.Since(d.ticks.clock.begin) - began; at != 10*time.Second {
					t.Errorf("it wrote after %v", at)
				}
				if more > 0 {
					releaseclock.BeginPrivateWork(ctx)
					time.Sleep(more)
				}
				return paidFor(), nil
			}}, Options{Running: 1})
			var all sync.WaitGroup
			for i, name := range []string{"ana", "ben", "cleo"} {
				all.Go(func() {
					time.Sleep(time.Duration(i)) // in this order
					d.Ask(t.Context(), from(name))
					if left := time.Since(d.ticks.clock.begin); left != time.Duration(i)*10*time.Second+want {
						t.Errorf("%s left after %v", name, left)
					}
				})
			}
			all.Wait()
			quiet(t, d)
		})
	}
}

// While the data is opened questions wait, and nothing is asked; looks do not.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		d := newDispatcher(people(t, "immediate"), fake{ask: func(context.Context, api.Question) (*api.Answer, error) {
			asked.Add(1)
			return paidFor(), nil
		}}, Options{Opening: true})
		if err := d.RunLookup(t.Context(), "ana", func(context.Context) error { return nil }); err != nil {
			t.Errorf("a look: %v", err)
		}
		start := time.Now()
		if _, err := d.Ask(t.Context(), from("ana")); !errors.Is(err, ErrOpening) || time.Since(start) != openingPatience {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		if _, err := d.Explain(t.Context(), from("ana")); !errors.Is(err, ErrOpening) {
			t.Errorf("a price: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := d.Ask(ctx, from("ana")); !errors.Is(err, ErrWithdrawn) {
			t.Errorf("canceled: %v", err)
		}
		got := make(chan error)
		go func() {
			_, err := d.Ask(t.Context(), from("ben"))
			got <- err
		}()
		time.Sleep(time.Second)
		if !d.Opening() || asked.Load() != 0 {
			t.Errorf("%d were asked behind the gate", asked.Load())
		}
		d.Opened(nil)
		if err := <-got; err != nil || asked.Load() != 1 || d.Opening() {
			t.Errorf("after the gate: %v, %d asked", err, asked.Load())
		}
		quiet(t, d)
	})
}

// The end of the server sends those away who wait for the data.
func TestGateEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), fake{}, Options{Opening: true})
		got := make(chan error)
		go func() {
			_, err := d.Ask(t.Context(), from("ana"))
			got <- err
		}()
		synctest.Wait()
		drained := make(chan error)
		go func() { drained <- d.Drain(t.Context()) }()
		if err := <-got; !errors.Is(err, ErrEnding) {
			t.Errorf("got %v", err)
		}
		if err := <-drained; err != nil {
			t.Error(err)
		}
	})
}
