package admission

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/policy"
)

// burn keeps a processor busy for so long.
func burn(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	worked := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(1, &u); err != nil { // of this thread
			panic(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	for begin := worked(); worked()-begin < d; {
	}
}

// What takes long to plan, or to look up, counts as many: the next one comes too early. Who does
// little of that is not held up, and neither is anybody else.
func TestWorkCounts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the time of a thread is not known")
	}
	works := func(d time.Duration) fake {
		return fake{ask: func(_ context.Context, q api.Question) (*api.Answer, error) {
			if q.Analyst == "ana" {
				burn(d)
			}
			return paidFor(), nil
		}}
	}
	const long, longLook = 15 * planTimePerQuestion, 300 * lookTimePerLook // more than may come at once
	for _, c := range []struct {
		release      string
		works, looks time.Duration
		limited      bool
	}{
		{"{deadline: 10ms}", time.Millisecond, time.Millisecond, false}, {"{deadline: 10ms}", long, longLook, true},
		{"{tick: 10ms}", long, longLook, true}, {"immediate", time.Millisecond, time.Millisecond, false},
		{"immediate", long, longLook, true},
	} {
		d := newDispatcher(people(t, c.release), works(c.works), Options{Rate: 60, Patience: -1})
		explain := func(who string) error {
			_, err := d.Explain(t.Context(), from(who))
			return err
		}
		look := func(who string) error {
			return d.RunLookup(t.Context(), who, func(context.Context) error {
				if who == "ana" {
					burn(c.looks)
				}
				return nil
			})
		}
		for name, do := range map[string]func(string) error{"explain": explain, "look": look} {
			if err := do("ana"); err != nil {
				t.Error(err)
			}
			do("ana")
			err := do("ana")
			var limit *LimitError
			if errors.As(err, &limit) != c.limited || err != nil && limit == nil {
				t.Errorf("%s for %v: %v", name, c.works, err)
			}
			if limit != nil && (limit.Wait <= 0 || limit.Wait > 12*time.Second) {
				t.Errorf("%s: wait for %v", name, limit.Wait)
			}
			if err := do("ben"); err != nil {
				t.Error(err)
			}
		}
	}
}

// Who asks one thing after another waits, whatever each takes, and is not turned away.
func TestWorkWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{}.withDefaults()
		for _, perMinute := range []int{60, o.Rate, looksPerQuestion * o.Rate} {
			l := newLimits(people(t, "immediate"), "questions", perMinute)
			for range 10 {
				if err := l.wait(t.Context(), "ana", 1, o.Patience, nil); err != nil {
					t.Fatalf("%d a minute: %v", perMinute, err)
				}
				l.add("ana", 1_000_000, 1)
			}
		}
	})
}

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
		time.Sleep(d.ticks.clock.next(time.Second))
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
			return releaseclock.Await(ctx, func(context.Context) error { // for ben, who has no turn before this
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
			return releaseclock.RunOnReleased(ctx, func(context.Context) error {
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
			leave, err := (&turn{queue: d.runner.queue, aside: d.runner.aside, slow: d.runner.slow, who: who}).Aside(t.Context())
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

// Who comes has a limit of their own, who goes shares one with strangers, and who stays has used up
// what was used up.
func TestLimitsFollow(t *testing.T) {
	of := func(names ...string) *policy.Policy {
		analysts := map[string]*policy.Analyst{}
		for _, name := range names {
			analysts[name] = &policy.Analyst{Name: name}
		}
		return &policy.Policy{Datasets: map[string]*policy.Dataset{"hospital": {Analysts: analysts}}}
	}
	l := newLimits(of("ana", "ben"), "questions", 6)
	for l.limiterOf("ana").Allow() {
	}
	l.follow(of("ana", "eve"))
	if l.nameOf("eve") != "eve" || l.nameOf("ben") != "" || l.limiterOf("ana").Allow() || !l.limiterOf("eve").Allow() {
		t.Error("the limits are not those of the new policy")
	}
}
