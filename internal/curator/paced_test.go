package curator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/pace"
	"github.com/discreet-dp/discreet/ledger"
)

// paces asks something by a curator whose ledger and engine are watched, and returns what happened:
// looks at data, ticks that were waited for, and what was written.
func (w *world) paces(ask func(context.Context, *Curator) error, broken bool) (events []string, settled bool) {
	w.t.Helper()
	r := &recorder{Ledger: w.books, Engine: w.data, before: map[string]func() error{}}
	happens := func(what string, err error) func() error {
		return func() error { events = append(events, what); return err }
	}
	var fails error
	if broken {
		fails = errors.New("broken")
	}
	r.before["run"], r.before["fetch"] = happens("look", fails), happens("look", fails)
	for _, name := range []string{"charge", "keep", "note", "fail"} {
		r.before[name] = happens(name, nil)
	}
	p := pace.New(func() { events = append(events, "tick") })
	if err := ask(p.Set(ctx), New(w.dataset, r, r, seeded(81))); (err != nil) != broken {
		w.t.Error(err)
	}
	return events, p.Settled()
}

// What a question writes after it has looked at data it writes on a tick, whatever it is: others
// see that it is there. What it writes before waits for nothing.
func TestPaced(t *testing.T) {
	const opaque = "SELECT AVG(cost) FROM patients WHERE age > 40"
	const beside = "SELECT (SELECT SUM(cost) FROM patients), (SELECT COUNT(*) FROM patients WHERE sex = 'F')"
	h, s := newHoldouts(t, plenty, nil), streamWorld(t, plenty, "")
	ask := func(text string) func(context.Context, *Curator) error {
		return func(ctx context.Context, c *Curator) error {
			_, err := c.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Request: freshID()})
			return err
		}
	}
	for name, c := range map[string]struct {
		w       *world
		ask     func(context.Context, *Curator) error
		settled bool // nothing was looked at after the last tick
	}{
		"a question": {h, ask(opaque), true},
		"a holdout":  {h, ask("SELECT holdout_mean(smoker, 0.5) FROM patients"), false},
		"a stream": {s, func(ctx context.Context, c *Curator) error {
			_, err := c.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "smoker"})
			return err
		}, false},
		"a question beside a stream": {s, ask(beside), false},
		"a model": {h, func(ctx context.Context, c *Curator) error {
			_, err := c.Trainings.Train(ctx, smokers("0.5"), nil)
			return err
		}, true},
		"a sparse vector": {h, func(ctx context.Context, c *Curator) error {
			s, err := c.Sparse.Open(ctx, api.SparseQuestion{Analyst: "ana", Above: 1, Sensitivity: 1, Request: freshID()})
			if err == nil {
				_, err = s.Ask(ctx, "SELECT COUNT(*) FROM patients", "10")
			}
			return err
		}, true},
	} {
		for _, broken := range []bool{true, false} {
			c.w.bear()
			events, settled := c.w.paces(c.ask, broken)
			looked, writes := false, 0
			for _, e := range events {
				switch e {
				case "look":
					looked = true
				case "tick":
					if !looked {
						t.Errorf("%s: %v: a tick was waited for before anything was looked at", name, events)
					}
					looked = false
				default:
					if looked {
						t.Errorf("%s: %v: a %s was written before the tick", name, events, e)
					}
					writes++
				}
			}
			if writes < 2 || !slices.Contains(events, "tick") || broken != slices.Contains(events, "fail") {
				t.Errorf("%s: %v", name, events)
			}
			if !broken && settled != c.settled {
				t.Errorf("%s: %v: settled is %v", name, events, settled)
			}
		}
	}
}

// Behind a door that closed meanwhile a question that failed leaves as one that did not: the
// incident takes a write, and the answer that is not kept takes none, so both wait for a tick after
// it.
func TestPacedBehindDoor(t *testing.T) {
	for name, ask := range map[string]func(context.Context, *Curator) error{
		"a question": func(ctx context.Context, c *Curator) error {
			_, err := c.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT AVG(cost) FROM patients WHERE age > 41", Request: freshID()})
			return err
		},
		"a model": func(ctx context.Context, c *Curator) error {
			_, err := c.Trainings.Train(ctx, smokers("0.5"), nil)
			return err
		},
	} {
		var told []string
		for _, broken := range []error{nil, errors.New("broken")} {
			w := newHoldouts(t, plenty, nil)
			r := &recorder{Ledger: w.books, Engine: w.data, before: map[string]func() error{}}
			r.before["run"] = func() error {
				// Meanwhile another question has failed.
				if _, err := w.books.Fail(ctx, ledger.Incident{Analyst: "ana", Dataset: w.dataset.Name, Failure: ledger.FailedError,
					ByAnalyst: 1, ByDataset: 1}); err != nil {
					t.Fatal(err)
				}
				return broken
			}
			r.before["fetch"] = r.before["run"]
			p := pace.New(func() {})
			err := ask(p.Set(ctx), New(w.dataset, r, r, seeded(82)))
			if !errors.As(err, new(*ledger.DoorError)) {
				t.Errorf("%s: %v", name, err)
			}
			told = append(told, fmt.Sprint(err))
			if p.Settled() {
				t.Errorf("%s that fails with %v leaves when its last write is done", name, broken)
			}
		}
		if told[0] != told[1] {
			t.Errorf("%s: %q", name, told)
		}
	}
}
