package meter

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
)

// Everything ends where it is used up, and says so; what can be left out ends before.
func TestMeter(t *testing.T) {
	m := New(context.Background())
	done := 0
	work := func() {
		for {
			m.Work(1, time.Millisecond)
			done++
		}
	}
	if m.Try(work) || done != 750 {
		t.Errorf("%d were tried", done)
	}
	if m.Try(func() { m.Work(1, time.Nanosecond) }) {
		t.Error("more was tried")
	}
	var refusal *api.Refusal
	err := Run(func() error { work(); return nil })
	if !errors.As(err, &refusal) || !Spent(err) || refusal.Instead == "" || done != 999 {
		t.Errorf("%d were done: %v", done, err)
	}
	m = New(context.Background())
	if err := Run(func() error { m.Build(MostBytes); m.Build(1); return nil }); !Spent(err) {
		t.Error(err)
	}
	if err := Run(func() error { return errors.ErrUnsupported }); err != errors.ErrUnsupported || Spent(err) {
		t.Error(err)
	}
	m = Part(context.Background(), 4)
	if err := Run(func() error { m.Work(1, MostTime/4+1); return nil }); !Spent(err) {
		t.Error(err)
	}
}

// A fault is no refusal.
func TestFault(t *testing.T) {
	defer func() {
		if recover() != "fault" {
			t.Error("a fault was taken for a refusal")
		}
	}()
	New(context.Background()).Try(func() { Run(func() error { panic("fault") }) })
}

// Who is gone is not worked for.
func TestGone(t *testing.T) {
	ctx, stop := context.WithCancelCause(context.Background())
	m := New(ctx)
	why, done := errors.New("gone"), 0
	err := Run(func() error {
		m.Try(func() {
			for {
				if m.Work(1, time.Microsecond); done == 5000 {
					stop(why)
				}
				done++
			}
		})
		return nil
	})
	if err != why || done > 5000+int(checkInterval/time.Microsecond) {
		t.Errorf("%d were done: %v", done, err)
	}
}

// All that has one context has one meter, where that was asked for.
func TestOf(t *testing.T) {
	ctx := context.Background()
	if first, second := Of(ctx), Of(ctx); first == second {
		t.Error("two texts have one meter")
	}
	one := With(ctx)
	if Of(one) != Of(With(one)) {
		t.Error("one has two")
	}
	var none *Meter
	none.Work(1, time.Hour)
	none.Build(MostBytes + 1)
	if !none.Try(func() {}) {
		t.Error("nothing is counted, and it was ended")
	}
}
