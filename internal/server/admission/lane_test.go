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

// remembers is a library whose engine takes as long as work, and which has some answers in memory.
func remembers(work time.Duration, looks func(api.Question)) fake {
	answer := func() *api.Answer { return &api.Answer{Receipt: api.Receipt{Free: true, Sequence: 3}} }
	return fake{
		ask: func(_ context.Context, q api.Question) (*api.Answer, error) {
			if q.SQL == "kept" {
				time.Sleep(time.Millisecond)
				return answer(), nil
			}
			time.Sleep(work)
			return paidFor(), nil
		},
		recall: func(_ context.Context, q api.Question) (*api.Answer, bool) {
			looks(q)
			time.Sleep(time.Millisecond)
			if q.SQL != "kept" {
				return nil, false
			}
			return answer(), true
		},
	}
}

func again(analyst string) api.Question { return api.Question{Analyst: analyst, SQL: "kept"} }

// What is in memory does not wait for the engine, nor for what waits for it, and does not count.
func TestLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), remembers(time.Hour, func(api.Question) {}),
			Options{Running: 2, Waiting: 3, Timeout: 10 * time.Hour})
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if _, err := d.Ask(t.Context(), from("ana")); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Second) // one runs, and four wait: there is no room
		for range 100 {
			all.Go(func() {
				begin := time.Now()
				a, err := d.Ask(t.Context(), again("ana"))
				if err != nil || !a.Receipt.Free || time.Since(begin) > time.Second {
					t.Errorf("%v, %v, after %v", a, err, time.Since(begin))
				}
			})
		}
		var limit *LimitError
		if _, err := d.Ask(t.Context(), from("ana")); !errors.As(err, &limit) || limit.Wait <= 0 {
			t.Errorf("got %v", err)
		}
		all.Wait()
		if s := d.Stats(); s.Answered != 105 || s.Free != 100 || s.Limited != 1 {
			t.Errorf("%+v", s)
		}
		quiet(t, d)
	})
}

// Nobody's descriptions, which can take a second each to plan, hold up what another remembers.
func TestLaneIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		library := remembers(time.Hour, func(api.Question) {})
		ask := library.ask
		library.ask = func(ctx context.Context, q api.Question) (*api.Answer, error) {
			if q.SQL == "described" {
				time.Sleep(time.Second)
				return nil, nil
			}
			return ask(ctx, q)
		}
		d := newDispatcher(people(t, "immediate"), library, Options{Running: 2, Waiting: 200, Timeout: 10 * time.Hour})
		var all sync.WaitGroup
		for _, who := range []string{"ana", "ben"} { // both turns
			all.Go(func() {
				if _, err := d.Ask(t.Context(), from(who)); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Second)
		for range 90 {
			all.Go(func() {
				if _, err := d.Describe(t.Context(), api.Question{Analyst: "ana", SQL: "described"}); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(100 * time.Millisecond)
		begin := time.Now()
		if a, err := d.Ask(t.Context(), again("ben")); err != nil || !a.Receipt.Free || time.Since(begin) > 3*time.Second {
			t.Errorf("%v, %v, after %v", a, err, time.Since(begin))
		}
		all.Wait()
		quiet(t, d)
	})
}

// With a tick what is in memory begins and leaves when it would with a turn at hand, and what was
// kept after the tick is not seen.
func TestLaneTick(t *testing.T) {
	const tick = 10 * time.Second
	for _, busy := range []int{0, 1, 3} { // a turn is free; it waits in line; there is no room
		synctest.Test(t, func(t *testing.T) {
			var d *Dispatcher
			d = newDispatcher(people(t, "{tick: 10s}"), remembers(time.Hour, func(q api.Question) {
				if !q.AsOf.Equal(d.clock.begin.Add(2 * tick)) {
					t.Errorf("it sees what there was after %v", q.AsOf.Sub(d.clock.begin))
				}
			}), Options{Running: 1, Waiting: 2, Timeout: 10 * time.Hour})
			time.Sleep(time.Second)
			var all sync.WaitGroup
			for i := range busy {
				all.Go(func() {
					d.Ask(t.Context(), from("ana"))
				})
				if i == 0 { // it has the turn
					time.Sleep(12 * time.Second)
				}
			}
			synctest.Wait()
			if busy == 0 {
				time.Sleep(12 * time.Second)
			}
			if _, err := d.Ask(t.Context(), again("ana")); err != nil {
				t.Error(err)
			}
			if since := time.Since(d.clock.begin); since != 3*tick {
				t.Errorf("with %d before it, it left after %v", busy, since)
			}
			all.Wait()
			quiet(t, d)
		})
	}
}

// Who was revoked while they waited is told nothing of what is in memory either.
func TestLaneRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), remembers(time.Hour, func(api.Question) { t.Error("it was looked for") }),
			Options{Running: 1, Timeout: 10 * time.Hour})
		var all sync.WaitGroup
		all.Go(func() { d.Ask(t.Context(), from("ben")) })
		synctest.Wait()
		ctx := Checked(t.Context(), func(context.Context) error { return ErrRevoked })
		if _, err := d.Ask(ctx, again("ana")); !errors.Is(err, ErrRevoked) {
			t.Errorf("got %v", err)
		}
		all.Wait()
		quiet(t, d)
	})
}

// Who asks too fast waits, for as long as the owner says, and then is told so.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), takes(0), Options{Rate: 60, Patience: 5 * time.Second})
		begin := time.Now()
		var all sync.WaitGroup
		var mu sync.Mutex
		limited := 0
		for range 20 { // ten at once, and then one a second
			all.Go(func() {
				_, err := d.Ask(t.Context(), from("ana"))
				mu.Lock()
				defer mu.Unlock()
				var limit *LimitError
				if errors.As(err, &limit) {
					limited++
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if took := time.Since(begin).Round(time.Millisecond); limited != 5 || took != 5*time.Second {
			t.Errorf("%d were limited, after %v", limited, took)
		}
		ctx, stop := context.WithCancel(t.Context())
		all.Go(func() {
			for range 2 {
				if _, err := d.Ask(ctx, from("ana")); err != nil && !errors.Is(err, ErrWithdrawn) {
					t.Error(err)
				}
			}
		})
		synctest.Wait()
		stop()
		all.Wait()
		quiet(t, d)
	})
}

// What goes by the lane leaves when the schedule has given it its time, as with a turn: else how
// long it takes beside a question would tell how long that one works.
func TestLaneSchedule(t *testing.T) {
	const tick = 100 * time.Millisecond
	for _, waiting := range []int{2, 0} { // it waits in line; there is no room
		var seen []time.Duration
		for _, looks := range []time.Duration{205 * time.Millisecond, 240 * time.Millisecond} { // on an idle machine, on a busy one
			synctest.Test(t, func(t *testing.T) {
				library := running(2*time.Second, always(time.Millisecond))
				library.recall = func(_ context.Context, q api.Question) (*api.Answer, bool) {
					if q.SQL != "kept" {
						return nil, false
					}
					time.Sleep(looks)
					return paidFor(), true
				}
				d := newDispatcher(people(t, "{deadline: 100ms}"), library, Options{Running: 1, Waiting: max(waiting, 1)})
				time.Sleep(d.clock.next(tick))
				began := time.Now()
				var all sync.WaitGroup
				for range 2 - waiting/2 {
					all.Go(func() { d.Ask(t.Context(), from("ana")) })
					time.Sleep(tick / 10)
				}
				if _, err := d.Ask(t.Context(), again("ana")); err != nil {
					t.Error(err)
				}
				seen = append(seen, time.Since(began))
				all.Wait()
				quiet(t, d)
			})
		}
		if seen[0] != seen[1] {
			t.Errorf("with room for %d it left after %v", waiting, seen)
		}
	}
}
