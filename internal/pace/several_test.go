package pace

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// several is a question of several looks, one after the other, and when it left.
func several(t *testing.T, looks ...func(context.Context) error) (left time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		s := busy(0.1) // what is late was delayed by others, and goes on
		p := New(func() {})
		p.On(s, time.Hour, nil)
		for _, look := range looks {
			if err := look(p.Set(context.Background())); err != nil {
				t.Error(err)
			}
		}
		p.Settle()
		left = time.Since(s.began())
	})
	return left
}

func run(public, takes time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		return Run(ctx, public, func(context.Context) error {
			time.Sleep(takes)
			return nil
		})
	}
}

// A question that looks several times leaves when the times of all its looks are over, and where
// one of them was late, at a doubling of what was over first: not when it happens to be done.
func TestSeveralLooks(t *testing.T) {
	memory := func(ctx context.Context) error {
		Looks(ctx)
		return nil
	}
	const second = time.Second
	for name, c := range map[string]struct {
		left  time.Duration
		looks []func(context.Context) error
	}{
		"two runs":                  {3 * second, []func(context.Context) error{run(second, 1), run(2*second, 1)}},
		"memory first":              {2 * second, []func(context.Context) error{memory, run(2*second, 1)}},
		"memory last":               {2 * second, []func(context.Context) error{run(2*second, 1), memory}},
		"a late run, and memory":    {4 * second, []func(context.Context) error{run(second, 2*second+1), memory}},
		"a later run, and memory":   {4 * second, []func(context.Context) error{run(second, 3*second+1), memory}},
		"a late run, and one more":  {8 * second, []func(context.Context) error{run(second, 3*second/2), run(5*second, 1)}},
		"a late run, and a longer":  {8 * second, []func(context.Context) error{run(second, 3*second/2), run(5*second, 4*second)}},
		"two late runs":             {8 * second, []func(context.Context) error{run(second, 3*second/2), run(second, 4*second)}},
		"late, memory and one more": {8 * second, []func(context.Context) error{run(second, 3*second/2), memory, run(5*second, 1)}},
	} {
		if left := several(t, c.looks...); left != c.left {
			t.Errorf("%s: it left after %v, and not after %v", name, left, c.left)
		}
	}
}

// A public time beyond all measure is nobody else's harm.
func TestBeyondMeasure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		s := NewSchedule(ended)
		s.share = func() share { return share{} }
		s.used = func() time.Duration { return time.Since(s.began()) }
		begins.Store(s, time.Now())
		for range 8 {
			p := New(func() {})
			p.On(s, time.Hour, nil)
			for range 8 {
				Works(p.Set(context.Background()), math.MaxInt64/2)
			}
			go p.Settle()
		}
		began := time.Now()
		if err := ask(s, time.Second, takes(1)); err != nil && !errors.Is(err, ErrLate) {
			t.Error(err)
		}
		if took := time.Since(began); took != 9*time.Second {
			t.Errorf("it took %v", took)
		}
		close(ended)
	})
}

// While somebody waits to run alone nobody's time goes on, and it does not tell how long others
// work who are waited for.
func TestHeldForPublicTime(t *testing.T) {
	const second = time.Second
	var left []time.Duration
	for _, private := range []time.Duration{second, 4 * second, 9 * second} {
		synctest.Test(t, func(t *testing.T) {
			s := busy(1)
			var all sync.WaitGroup
			all.Go(func() { ask(s, 10*second, takes(private)) })
			all.Go(func() { ask(s, second, takes(time.Minute, 1)) }) // it is late, and then it is not
			all.Go(func() {
				ask(s, 20*second, takes(1))
				left = append(left, time.Since(s.began()))
			})
			all.Wait()
		})
	}
	if left[0] != left[1] || left[0] != left[2] {
		t.Errorf("beside others who work for longer it left after %v", left)
	}
}
