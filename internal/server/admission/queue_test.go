package admission

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/api"
)

// Whoever sends many waits for their own; others are next.
func TestFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		d := newDispatcher(people(t, "immediate"), fake{ask: func(ctx context.Context, q api.Question) (*api.Answer, error) {
			order = append(order, q.Analyst[:1]) // one at a time
			return paidFor(), work(ctx, time.Second)
		}}, Options{Running: 1})
		var all sync.WaitGroup
		for _, name := range strings.Fields("ana ana ana ana ana ana ben cleo cleo ana") {
			all.Go(func() {
				if _, err := d.Ask(t.Context(), from(name)); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		if got := strings.Join(order, ""); got != "abcacaaaaa" {
			t.Errorf("the order was %s", got)
		}
		quiet(t, d)
	})
}

// One who keeps the queue full does not keep another waiting for more than a turn of theirs.
func TestNobodyStarves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), takes(time.Second), Options{Running: 2, Waiting: 500, Rate: 1e6})
		var all sync.WaitGroup
		for range 500 {
			all.Go(func() { d.Ask(t.Context(), from("ana")) })
		}
		synctest.Wait()
		for range 5 {
			begin := time.Now()
			if _, err := d.Ask(t.Context(), from("ben")); err != nil {
				t.Error(err)
			}
			if took := time.Since(begin); took > 3*time.Second {
				t.Errorf("ben waited for %v", took)
			}
		}
		all.Wait()
		quiet(t, d)
	})
}

// Long questions of one analyst leave a turn for another, and it is theirs at once.
func TestTurnForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var most, now atomic.Int64
		d := newDispatcher(people(t, "immediate"), fake{ask: func(ctx context.Context, q api.Question) (*api.Answer, error) {
			if q.Analyst == "ben" {
				return paidFor(), nil
			}
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			return paidFor(), work(ctx, time.Hour)
		}}, Options{Running: 3, Timeout: 2 * time.Hour})
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { d.Ask(t.Context(), from("ana")) })
		}
		synctest.Wait()
		begin := time.Now()
		if _, err := d.Ask(t.Context(), from("ben")); err != nil || time.Since(begin) > 0 {
			t.Errorf("ben waited for %v: %v", time.Since(begin), err)
		}
		all.Wait()
		if most.Load() != 2 || time.Since(begin) != 3*time.Hour {
			t.Errorf("ana had %d at once, for %v", most.Load(), time.Since(begin))
		}
		quiet(t, d)
	})
}

// However questions end, no more than may have a turn at once, everybody gets one, and none is
// lost.
func TestTurns(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		places := rapid.IntRange(1, 4).Draw(r, "places")
		type plan struct {
			who                    string
			comes, takes, patience int // in milliseconds
			panics                 bool
		}
		plans := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) plan {
			return plan{rapid.SampledFrom([]string{"ana", "ben", "cleo", "nobody"}).Draw(r, "who"), rapid.IntRange(0, 20).Draw(r, "comes"),
				rapid.IntRange(0, 20).Draw(r, "takes"), rapid.IntRange(0, 60).Draw(r, "patience"),
				rapid.IntRange(0, 9).Draw(r, "panics") == 0}
		}), 1, 40).Draw(r, "plans")
		synctest.Test(t, func(t *testing.T) {
			var running, begun atomic.Int64
			d := newDispatcher(people(t, "immediate"), nil, Options{Running: places, Waiting: 5, Rate: 1e6, Timeout: 15 * time.Millisecond})
			var all sync.WaitGroup
			for _, p := range plans {
				all.Go(func() {
					time.Sleep(time.Duration(p.comes) * time.Millisecond)
					ctx, stop := context.WithTimeout(context.Background(), time.Duration(p.patience)*time.Millisecond)
					defer stop()
					had := false
					err := d.runner.serve(ctx, &entry{analyst: p.who}, func(ctx context.Context, e *entry) error {
						had = true
						begun.Add(1)
						if n := running.Add(1); n > int64(places) {
							t.Errorf("%d at once", n)
						}
						defer running.Add(-1)
						err := work(ctx, time.Duration(p.takes)*time.Millisecond)
						if p.panics {
							panic("secret 4711")
						}
						return err
					})
					var limit *LimitError
					if turned := errors.As(err, &limit) || err == ErrWithdrawn; had == turned {
						t.Errorf("had a turn: %v, and %v", had, err)
					}
					if had && p.panics != (err == ErrInternal) {
						t.Errorf("got %v", err)
					}
				})
			}
			all.Wait()
			quiet(t, d)
			for i := range places { // none was lost
				who := []string{"ana", "ben"}[i%2]
				if err := d.runner.queue.enter(who); err != nil {
					t.Error(err)
				}
				if w, err := d.runner.queue.enqueue(context.Background(), who); w != nil || err != nil {
					t.Error("a turn was lost")
				}
			}
		})
	})
}

// A turn that comes at the moment of the cancel is not lost, whichever is seen first.
func TestTurnAndCancelAtOnce(t *testing.T) {
	canceled, stop := context.WithCancel(t.Context())
	stop()
	seen := map[error]int{}
	for range 200 {
		q := newQueue(1, 5)
		for _, name := range []string{"ana", "ben"} {
			must(t, q.enter(name))
		}
		if w, err := q.enqueue(t.Context(), "ana"); w != nil || err != nil {
			t.Fatal(w, err)
		}
		w, err := q.enqueue(t.Context(), "ben")
		if w == nil || err != nil {
			t.Fatal(w, err)
		}
		q.endTurn("ana") // ben's turn
		if err = q.await(canceled, "ben", w); err == nil {
			q.endTurn("ben")
		}
		seen[err]++
		if q.turns != 0 {
			t.Fatalf("after %v there are %d turns", err, q.turns)
		}
	}
	if len(seen) != 2 || seen[nil] == 0 || seen[ErrWithdrawn] == 0 {
		t.Errorf("seen were %v", seen)
	}
}

// Who has too many with the dispatcher is told so, and nothing is asked. What has been answered and
// not left counts.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		d := newDispatcher(people(t, "{tick: 10s}"), fake{ask: func(ctx context.Context, q api.Question) (*api.Answer, error) {
			time.Sleep(time.Second)
			asked.Add(1)
			return paidFor(), nil
		}}, Options{Running: 1, Waiting: 2})
		time.Sleep(time.Second)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { d.Ask(t.Context(), from("ana")) })
		}
		synctest.Wait()
		var limit *LimitError
		if _, err := d.Ask(t.Context(), from("ana")); !errors.As(err, &limit) || limit.Wait <= 0 || asked.Load() != 0 {
			t.Errorf("got %v after %d", err, asked.Load())
		}
		if since := time.Since(d.ticks.clock.begin); since != 10*time.Second { // it was looked for in memory, on a tick
			t.Errorf("it left after %v", since)
		}
		if s := d.Stats(); s.Running != 1 || s.Waiting != 2 || s.Limited != 1 || s.Questions != 4 || s.Answered != 0 {
			t.Errorf("got %+v", s)
		}
		if _, err := d.Ask(t.Context(), from("ben")); err != nil {
			t.Error(err)
		}
		all.Wait()
		if s := d.Stats(); s.Running != 0 || s.Waiting != 0 || s.Answered != 4 {
			t.Errorf("got %+v", s)
		}
		quiet(t, d)
	})
}

// Names that somebody makes up share a line and a limit, and leave nothing behind.
func TestStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), takes(0), Options{Rate: 10, Patience: -1})
		limited := 0
		for i := range 100 {
			var limit *LimitError
			if _, err := d.Ask(t.Context(), from(strings.Repeat("x", i))); errors.As(err, &limit) {
				limited++
			}
		}
		if limited != 90 || len(*d.runner.limits.of.Load()) != 3 {
			t.Errorf("%d were limited, %d are remembered", limited, len(*d.runner.limits.of.Load()))
		}
		if _, err := d.Ask(t.Context(), from("ana")); err != nil {
			t.Error(err)
		}
		quiet(t, d)
	})
}

func TestRate(t *testing.T) {
	for rate, burst := range map[int]int{1: 1, 5: 5, 60: 10, 600: 100, 6000: 1000} {
		synctest.Test(t, func(t *testing.T) {
			d := newDispatcher(people(t, "immediate"), fake{ask: func(context.Context, api.Question) (*api.Answer, error) {
				return nil, &api.Refusal{Reason: "no"} // which counts
			}}, Options{Rate: rate, Patience: -1})
			ask := func(name string) *LimitError {
				_, err := d.Ask(t.Context(), from(name))
				var limit *LimitError
				errors.As(err, &limit)
				return limit
			}
			for i := range burst {
				if limit := ask("ana"); limit != nil {
					t.Errorf("rate %d: the %d. was limited", rate, i+1)
				}
			}
			limit := ask("ana")
			if limit == nil || math.Abs(limit.Wait.Seconds()-60/float64(rate)) > 1e-6 {
				t.Fatalf("rate %d: after %d: %+v", rate, burst, limit)
			}
			if ask("ben") != nil {
				t.Error("ben is limited by what ana asks")
			}
			time.Sleep(limit.Wait + time.Microsecond)
			if ask("ana") != nil || ask("ana") == nil {
				t.Errorf("rate %d: after the wait it is not one more", rate)
			}
		})
	}
}

// Who asks now and then comes before all who ask all the time, however many they are; and of those
// who ask alike nobody comes before another.
func TestFewestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 100)
		waiting := map[*waiter]string{}
		stand := func(name string) {
			must(t, q.enter(name))
			if w, err := q.enqueue(t.Context(), name); err != nil {
				t.Fatal(err)
			} else if w != nil {
				waiting[w] = name
			}
		}
		next := func(now string) (name string) {
			time.Sleep(time.Second)
			q.endTurn(now)
			for w, name := range waiting {
				select {
				case <-w.turn:
					delete(waiting, w)
					return name
				default:
				}
			}
			t.Fatal("nobody has the turn")
			return ""
		}
		busy := []string{"ana", "ben", "cem"}
		for range 20 {
			for _, name := range busy {
				stand(name)
			}
		}
		now, had := "ana", map[string]int{}
		for range 30 {
			now = next(now)
			had[now]++
		}
		for _, name := range busy {
			if had[name] < 9 || had[name] > 11 {
				t.Errorf("the turns were %v", had)
			}
		}
		for range 3 {
			stand("dora")
			if now = next(now); now != "dora" {
				t.Errorf("%s came before dora, who had the fewest", now)
			}
			now = next(now)
		}
	})
}

// Of those by one of whose questions a process may have died one has a turn at a time, and nobody
// else waits for that.
func TestApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		var mu sync.Mutex
		var now []string
		begun := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(now)
		}
		d := newDispatcher(people(t, "immediate"), fake{ask: func(ctx context.Context, q api.Question) (*api.Answer, error) {
			mu.Lock()
			now = append(now, q.Analyst)
			mu.Unlock()
			time.Sleep(time.Second)
			return paidFor(), nil
		}}, Options{Running: 4})
		d.runner.queue.isSuspect = func(analyst string) bool { return analyst != "cleo" }
		for _, name := range []string{"ana", "ben", "cleo", "ana"} {
			all.Go(func() { d.Ask(t.Context(), from(name)) })
			synctest.Wait()
		}
		if got := begun(); !slices.Equal(got, []string{"ana", "cleo"}) {
			t.Error(got)
		}
		time.Sleep(1100 * time.Millisecond)
		if got := begun(); !slices.Equal(got, []string{"ana", "cleo", "ben"}) {
			t.Error(got)
		}
		all.Wait()
		if got := begun(); len(got) != 4 {
			t.Error(got)
		}
		quiet(t, d)
	})
}
