package admission

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-dp/discreet/api"
)

// While the data is opened questions wait, and nothing is asked; looks do not.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		d := newDispatcher(people(t, "immediate"), fake{ask: func(context.Context, api.Question) (*api.Answer, error) {
			asked.Add(1)
			return paidFor(), nil
		}}, Options{Opening: true})
		if err := d.Look(t.Context(), "ana", func(context.Context) error { return nil }); err != nil {
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
