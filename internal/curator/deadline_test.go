package curator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
)

// kindsOfQuestions are questions of every kind that looks at data.
func kindsOfQuestions(h, s *curatortest.World) map[string]struct {
	w   *curatortest.World
	ask func(context.Context, *curator.Curator) error
} {
	type kind = struct {
		w   *curatortest.World
		ask func(context.Context, *curator.Curator) error
	}
	ask := func(text string) func(context.Context, *curator.Curator) error {
		return func(ctx context.Context, c *curator.Curator) error {
			_, err := c.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Request: curatortest.FreshID()})
			return err
		}
	}
	return map[string]kind{
		"a question": {h, ask("SELECT AVG(cost) FROM patients WHERE age > 40")},
		"several": {h, ask("SELECT (SELECT SUM(cost) FROM patients WHERE age > 41), (SELECT SUM(cost) FROM patients WHERE age > 42), " +
			"(SELECT SUM(cost) FROM patients WHERE age > 43), (SELECT SUM(cost) FROM patients WHERE age > 44)")},
		"a holdout": {h, ask("SELECT holdout_mean(smoker, 0.5) FROM patients")},
		"a stream": {s, func(ctx context.Context, c *curator.Curator) error {
			_, err := c.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "smoker"})
			return err
		}},
		"a model": {h, func(ctx context.Context, c *curator.Curator) error {
			_, err := c.Trainings.Train(ctx, curatortest.Smokers("0.5"), nil)
			return err
		}},
		"a sparse vector": {h, func(ctx context.Context, c *curator.Curator) error {
			s, err := c.Sparse.Open(context.Background(), api.SparseQuestion{Analyst: "ana", Above: 1, Sensitivity: 1,
				Request: curatortest.FreshID()})
			if err == nil {
				_, err = s.Ask(ctx, "SELECT COUNT(*) FROM patients", "10")
			}
			return err
		}},
	}
}

// What may take longer than a question may is refused, whatever kind of question it is, before it
// is charged and before it has a part of the machine: most questions of sessions are free.
func TestTooLong(t *testing.T) {
	h, s := curatortest.NewHoldouts(t, curatortest.Plenty, nil), curatortest.NewStreams(t, curatortest.Plenty, "")
	for name, k := range kindsOfQuestions(h, s) {
		for _, takes := range []time.Duration{time.Minute + 1, math.MaxInt64/4 + 1, math.MaxInt64} {
			schedule := releaseclock.NewSchedule(nil)
			began := make(chan struct{})
			p := releaseclock.New(func() {})
			p.SetSchedule(schedule, time.Minute, began)
			looked := 0
			r := &curatortest.Recorder{Ledger: k.w.Ledger, Engine: k.w.Data, Before: map[string]func() error{}}
			look := func() error { looked++; return nil }
			r.Before["run"], r.Before["fetch"], r.Before["fail"] = look, look, look
			before := k.w.Spent()
			c := curator.New(k.w.Dataset, curatortest.LastingEngine{Engine: r, Takes: takes}, r, curatortest.Seeded(82))
			var refusal *api.Refusal
			if err := k.ask(p.WithClock(ctx), c); !errors.As(err, &refusal) {
				t.Errorf("%s of %v: %v", name, takes, err)
			}
			if looked > 0 || name != "a sparse vector" && k.w.Spent() != before {
				t.Errorf("%s of %v: it looked %d times, and spent %v of %v", name, takes, looked, k.w.Spent(), before)
			}
			select {
			case <-began:
				t.Errorf("%s of %v: it has a part of the machine", name, takes)
			default:
			}
		}
	}
}

// What fails is written no sooner than what does not: under a lockout both are told the same,
// and when must not say which it was. Nor is anything read before that changes by itself, the state
// of the data and of the lockout: what it was when the work was done would decide what becomes of
// it.
func TestFailsAtTheEnd(t *testing.T) {
	t.Parallel() // it waits
	const each = 100 * time.Millisecond
	h, s := curatortest.NewHoldouts(t, curatortest.Plenty, nil), curatortest.NewStreams(t, curatortest.Plenty, "")
	looks := map[string]time.Duration{"several": 4, "a model": 2}
	for name, k := range kindsOfQuestions(h, s) {
		for _, broken := range []bool{true, false} {
			k.w.BearFailures()
			r := &curatortest.Recorder{Ledger: k.w.Ledger, Engine: k.w.Data, Before: map[string]func() error{}}
			var looked, wrote time.Time
			look := func() error {
				if looked.IsZero() {
					looked = time.Now()
				}
				if broken {
					return errors.New("broken")
				}
				return nil
			}
			write := func() error {
				if wrote.IsZero() && !looked.IsZero() {
					wrote = time.Now()
				}
				return nil
			}
			r.Before["run"], r.Before["fetch"] = look, look
			for _, name := range []string{"fail", "keep", "note", "version", "lockout"} {
				r.Before[name] = write
			}
			p := releaseclock.New(func() {})
			p.SetSchedule(releaseclock.NewSchedule(nil), time.Minute, make(chan struct{}))
			began := time.Now() // a busy machine looks at the data long after the public time has begun
			if err := k.ask(p.WithClock(ctx), curator.New(k.w.Dataset, curatortest.LastingEngine{Engine: r, Takes: each}, r,
				curatortest.Seeded(83))); (err != nil) != broken {
				t.Errorf("%s: %v", name, err)
			}
			if want := max(1, looks[name]) * each; wrote.Sub(began) < want-each/10 {
				t.Errorf("%s, broken %v: it was written after %v, and its public time is %v", name, broken, wrote.Sub(began), want)
			}
		}
	}
}

// working is an engine on a cluster whose processors work for so long for every question, by what
// it says, and which is done when its public time is over.
type working struct {
	curatortest.LastingEngine
	worked time.Duration
}

func (e working) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	releaseclock.WorkOf(ctx).Worked("a statement", e.worked)
	time.Sleep(e.Takes * 3 / 2)
	return e.Engine.Run(ctx, q)
}

func (e working) Fetch(ctx context.Context, t *tree.Table, into engine.Collector) (engine.ReadFrom, error) {
	releaseclock.WorkOf(ctx).Worked("a statement", e.worked)
	time.Sleep(e.Takes * 3 / 2)
	return e.Engine.Fetch(ctx, t, into)
}

// On a cluster a question that is late because it worked is an incident, and one that waited is
// none, whatever kind of question it is.
func TestLateOnCluster(t *testing.T) {
	t.Parallel() // it waits
	const takes = 100 * time.Millisecond
	for _, worked := range []time.Duration{takes / 10, takes} {
		h, s := curatortest.NewHoldouts(t, curatortest.Plenty, nil), curatortest.NewStreams(t, curatortest.Plenty, "")
		for name, k := range kindsOfQuestions(h, s) {
			k.w.BearFailures()
			elsewhere := *k.w.Dataset
			elsewhere.Source = "trino://discreet@127.0.0.1:8080/lake/clinic?sslmode=disable"
			p := releaseclock.New(func() {})
			p.SetSchedule(releaseclock.NewSchedule(nil), time.Minute, nil)
			before := len(k.w.Incidents())
			slow := working{curatortest.LastingEngine{Engine: k.w.Data, Takes: takes}, worked}
			err := k.ask(p.WithClock(ctx), curator.New(&elsewhere, slow,
				k.w.Ledger, curatortest.Seeded(84)))
			added := k.w.Incidents()[before:]
			switch late := worked == takes; {
			case late && (err == nil || len(added) == 0 || added[0] != "ana time"):
				t.Errorf("%s has worked for too long: %v, %q", name, err, added)
			case !late && (err != nil || len(added) > 0):
				t.Errorf("%s has waited: %v, %q", name, err, added)
			}
		}
		h.Leave()
		s.Leave()
	}
}

// Noise of running totals and of cubes takes longer than noise on each number, and has its own
// public time: it begins when the engine is done, and would end so much later. A price says so.
func TestReleaseTime(t *testing.T) {
	const each = 50 * time.Millisecond
	for text, times := range map[string]time.Duration{"SELECT COUNT(*) FROM patients": 1, curatortest.Yearly: 2, curatortest.Cubed: 2} {
		w := curatortest.New(t, curatortest.Rich)
		c := curator.New(w.Dataset, curatortest.LastingEngine{Engine: w.Data, Takes: each}, w.Ledger, curatortest.Seeded(82))
		p := releaseclock.New(func() {})
		p.SetSchedule(releaseclock.NewSchedule(nil), time.Minute, nil)
		x, err := c.Explain(p.WithClock(ctx), api.Question{Analyst: "ana", SQL: text})
		if err != nil || x.Deadline == nil || *x.Deadline != (times*each).Seconds() {
			t.Errorf("%s: %v, %v", text, x.Deadline, err)
		}
		began := time.Now()
		if _, err := c.Ask(p.WithClock(ctx), api.Question{Analyst: "ana", SQL: text, Request: curatortest.FreshID()}); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < times*each {
			t.Errorf("%s left after %v", text, took)
		}
	}
}

// paces asks something by a curator whose ledger and engine are watched, and returns what happened:
// looks at data, ticks that were waited for, and what was written.
func paces(w *curatortest.World, ask func(context.Context, *curator.Curator) error, broken bool) (events []string, settled bool) {
	w.T.Helper()
	r := &curatortest.Recorder{Ledger: w.Ledger, Engine: w.Data, Before: map[string]func() error{}}
	happens := func(what string, err error) func() error {
		return func() error { events = append(events, what); return err }
	}
	var fails error
	if broken {
		fails = errors.New("broken")
	}
	r.Before["run"], r.Before["fetch"] = happens("look", fails), happens("look", fails)
	for _, name := range []string{"charge", "keep", "note", "fail"} {
		r.Before[name] = happens(name, nil)
	}
	p := releaseclock.New(func() { events = append(events, "tick") })
	if err := ask(p.WithClock(ctx), curator.New(w.Dataset, r, r, curatortest.Seeded(81))); (err != nil) != broken {
		w.T.Error(err)
	}
	return events, p.Settled()
}

// What a question writes after it has looked at data it writes on a tick, whatever it is: others
// see that it is there. What it writes before waits for nothing.
func TestPaced(t *testing.T) {
	const opaque = "SELECT AVG(cost) FROM patients WHERE age > 40"
	const beside = "SELECT (SELECT SUM(cost) FROM patients), (SELECT COUNT(*) FROM patients WHERE sex = 'F')"
	h, s := curatortest.NewHoldouts(t, curatortest.Plenty, nil), curatortest.NewStreams(t, curatortest.Plenty, "")
	ask := func(text string) func(context.Context, *curator.Curator) error {
		return func(ctx context.Context, c *curator.Curator) error {
			_, err := c.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Request: curatortest.FreshID()})
			return err
		}
	}
	for name, c := range map[string]struct {
		w       *curatortest.World
		ask     func(context.Context, *curator.Curator) error
		settled bool // nothing was looked at after the last tick
	}{
		"a question": {h, ask(opaque), true},
		"a holdout":  {h, ask("SELECT holdout_mean(smoker, 0.5) FROM patients"), false},
		"a stream": {s, func(ctx context.Context, c *curator.Curator) error {
			_, err := c.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "smoker"})
			return err
		}, false},
		"a question beside a stream": {s, ask(beside), false},
		"a model": {h, func(ctx context.Context, c *curator.Curator) error {
			_, err := c.Trainings.Train(ctx, curatortest.Smokers("0.5"), nil)
			return err
		}, true},
		"a sparse vector": {h, func(ctx context.Context, c *curator.Curator) error {
			s, err := c.Sparse.Open(ctx, api.SparseQuestion{Analyst: "ana", Above: 1, Sensitivity: 1, Request: curatortest.FreshID()})
			if err == nil {
				_, err = s.Ask(ctx, "SELECT COUNT(*) FROM patients", "10")
			}
			return err
		}, true},
	} {
		for _, broken := range []bool{true, false} {
			c.w.BearFailures()
			events, settled := paces(c.w, c.ask, broken)
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

// Under a lockout that began meanwhile a question that failed leaves as one that did not: the
// incident takes a write, and the answer that is not kept takes none, so both wait for a tick after
// it.
func TestPacedUnderLockout(t *testing.T) {
	for name, ask := range map[string]func(context.Context, *curator.Curator) error{
		"a question": func(ctx context.Context, c *curator.Curator) error {
			_, err := c.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT AVG(cost) FROM patients WHERE age > 41",
				Request: curatortest.FreshID()})
			return err
		},
		"a model": func(ctx context.Context, c *curator.Curator) error {
			_, err := c.Trainings.Train(ctx, curatortest.Smokers("0.5"), nil)
			return err
		},
	} {
		var told []string
		for _, broken := range []error{nil, errors.New("broken")} {
			w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
			r := &curatortest.Recorder{Ledger: w.Ledger, Engine: w.Data, Before: map[string]func() error{}}
			r.Before["run"] = func() error {
				// Meanwhile another question has failed.
				if _, err := w.Ledger.Fail(ctx, ledger.Incident{Analyst: "ana", Dataset: w.Dataset.Name, Failure: ledger.FailedError,
					ByAnalyst: 1, ByDataset: 1}); err != nil {
					t.Fatal(err)
				}
				return broken
			}
			r.Before["fetch"] = r.Before["run"]
			p := releaseclock.New(func() {})
			err := ask(p.WithClock(ctx), curator.New(w.Dataset, r, r, curatortest.Seeded(82)))
			if !errors.As(err, new(*ledger.LockoutError)) {
				t.Errorf("%s: %v", name, err)
			}
			told = append(told, fmt.Sprint(err))
			if p.Settled() {
				t.Errorf("%s that fails with %v leaves when its last write is done", name, broken)
			}
			w.Leave()
		}
		if told[0] != told[1] {
			t.Errorf("%s: %q", name, told)
		}
	}
}
