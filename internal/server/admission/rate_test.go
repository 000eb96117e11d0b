package admission

import (
	"context"
	"errors"
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-dp/discreet/api"
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
		return fake{ask: func(context.Context, api.Question) (*api.Answer, error) {
			burn(d)
			return paidFor(), nil
		}}
	}
	for _, c := range []struct {
		release string
		works   time.Duration
		limited bool
	}{
		{"{deadline: 10ms}", time.Millisecond, false}, {"{deadline: 10ms}", 300 * time.Millisecond, true},
		{"{tick: 10ms}", 300 * time.Millisecond, true}, {"immediate", time.Millisecond, false}, {"immediate", 300 * time.Millisecond, true},
	} {
		d := newDispatcher(people(t, c.release), works(c.works), Options{Rate: 60, Patience: -1})
		explain := func(who string) error {
			_, err := d.Explain(t.Context(), from(who))
			return err
		}
		look := func(who string) error {
			return d.Look(t.Context(), who, func(context.Context) error {
				burn(c.works)
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
		o := Options{}.filled()
		for _, perMinute := range []int{60, o.Rate, lookFactor * o.Rate} {
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
