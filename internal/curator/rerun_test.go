package curator

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
)

// TestReruns: a question that is stopped again and again is computed so often for one charge, and
// no more. Asked under another name it is charged.
func TestReruns(t *testing.T) {
	w := newWorld(t, "{epsilon: 1}")
	w.bear()
	r := w.record()
	ask := func(request string) error {
		waiting, cancel := context.WithCancel(ctx)
		defer cancel()
		r.before["run"] = func() error { cancel(); return waiting.Err() }
		_, err := w.Ask(waiting, api.Question{Analyst: "ana", SQL: byAge(7), Request: request})
		return err
	}
	runs := func() (n int) {
		for _, e := range r.take() {
			if strings.HasPrefix(e, "run") {
				n++
			}
		}
		return n
	}
	for range 10 {
		if err := ask("again"); err == nil {
			t.Fatal("it was not stopped")
		}
	}
	var refused *api.Refusal
	if err := ask("again"); !errors.As(err, &refused) || !strings.Contains(err.Error(), "another request identifier") {
		t.Errorf("got %v", err)
	}
	if n := runs(); n != 1+maxReruns {
		t.Errorf("it was computed %d times for one charge", n)
	}
	clear(r.before)
	if _, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: byAge(7), Request: "another"}); err != nil {
		t.Error(err)
	}
}

// The same for a training that is stopped while its rows are fetched.
func TestTrainingReruns(t *testing.T) {
	w := newWorld(t, plenty)
	w.bear()
	r := w.record()
	q := smokers("0.5")
	train := func() error {
		waiting, cancel := context.WithCancel(ctx)
		defer cancel()
		r.before["fetch"] = func() error { cancel(); return waiting.Err() }
		_, err := w.Trainings.Train(waiting, q, nil)
		return err
	}
	for range 6 {
		if err := train(); err == nil {
			t.Fatal("it was not stopped")
		}
	}
	fetched := 0
	for _, e := range r.take() {
		if e == "fetch" {
			fetched++
		}
	}
	if fetched != 1+maxReruns || !errors.As(train(), new(*api.Refusal)) {
		t.Errorf("it was fetched %d times for one charge", fetched)
	}
}
