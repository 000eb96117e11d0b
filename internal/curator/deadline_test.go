package curator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/session/training"
	"github.com/discreet-dp/discreet/ledger"
)

// lasting is an engine on which everything takes so long, by public numbers.
type lasting struct {
	engine.Engine
	takes time.Duration
}

func (l lasting) QueryTime(context.Context, *tree.Query) (time.Duration, error) { return l.takes, nil }
func (l lasting) FetchTime(context.Context, *tree.Table) (time.Duration, error) { return l.takes, nil }
func (l lasting) FitTime(context.Context, *tree.Table, int, int) (time.Duration, error) {
	return l.takes, nil
}

func (l lasting) StepsTime(context.Context, float64) (time.Duration, error) { return l.takes, nil }

// kindsOfQuestions are questions of every kind that looks at data.
func kindsOfQuestions(h, s *world) map[string]struct {
	w   *world
	ask func(context.Context, *Curator) error
} {
	type kind = struct {
		w   *world
		ask func(context.Context, *Curator) error
	}
	ask := func(text string) func(context.Context, *Curator) error {
		return func(ctx context.Context, c *Curator) error {
			_, err := c.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Request: freshID()})
			return err
		}
	}
	return map[string]kind{
		"a question": {h, ask("SELECT AVG(cost) FROM patients WHERE age > 40")},
		"several": {h, ask("SELECT (SELECT SUM(cost) FROM patients WHERE age > 41), (SELECT SUM(cost) FROM patients WHERE age > 42), " +
			"(SELECT SUM(cost) FROM patients WHERE age > 43), (SELECT SUM(cost) FROM patients WHERE age > 44)")},
		"a holdout": {h, ask("SELECT holdout_mean(smoker, 0.5) FROM patients")},
		"a stream": {s, func(ctx context.Context, c *Curator) error {
			_, err := c.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "smoker"})
			return err
		}},
		"a model": {h, func(ctx context.Context, c *Curator) error {
			_, err := c.Trainings.Train(ctx, smokers("0.5"), nil)
			return err
		}},
		"a sparse vector": {h, func(ctx context.Context, c *Curator) error {
			s, err := c.Sparse.Open(context.Background(), api.SparseQuestion{Analyst: "ana", Above: 1, Sensitivity: 1, Request: freshID()})
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
	h, s := newHoldouts(t, plenty, nil), streamWorld(t, plenty, "")
	for name, k := range kindsOfQuestions(h, s) {
		for _, takes := range []time.Duration{time.Minute + 1, math.MaxInt64/4 + 1, math.MaxInt64} {
			schedule := releaseclock.NewSchedule(nil)
			began := make(chan struct{})
			p := releaseclock.New(func() {})
			p.SetSchedule(schedule, time.Minute, began)
			looked := 0
			r := &recorder{Ledger: k.w.books, Engine: k.w.data, before: map[string]func() error{}}
			look := func() error { looked++; return nil }
			r.before["run"], r.before["fetch"], r.before["fail"] = look, look, look
			before := k.w.spent()
			c := New(k.w.dataset, lasting{r, takes}, r, seeded(82))
			var refusal *api.Refusal
			if err := k.ask(p.Set(ctx), c); !errors.As(err, &refusal) {
				t.Errorf("%s of %v: %v", name, takes, err)
			}
			if looked > 0 || name != "a sparse vector" && k.w.spent() != before {
				t.Errorf("%s of %v: it looked %d times, and spent %v of %v", name, takes, looked, k.w.spent(), before)
			}
			select {
			case <-began:
				t.Errorf("%s of %v: it has a part of the machine", name, takes)
			default:
			}
		}
	}
}

// What fails is written no sooner than what does not: behind a closed door both are told the same,
// and when must not say which it was. Nor is anything read before that changes by itself, the state
// of the data and of the door: what it was when the work was done would decide what becomes of it.
func TestFailsAtTheEnd(t *testing.T) {
	const each = 100 * time.Millisecond
	h, s := newHoldouts(t, plenty, nil), streamWorld(t, plenty, "")
	looks := map[string]time.Duration{"several": 4, "a model": 2}
	for name, k := range kindsOfQuestions(h, s) {
		for _, broken := range []bool{true, false} {
			k.w.bear()
			r := &recorder{Ledger: k.w.books, Engine: k.w.data, before: map[string]func() error{}}
			var began, wrote time.Time
			look := func() error {
				if began.IsZero() {
					began = time.Now()
				}
				if broken {
					return errors.New("broken")
				}
				return nil
			}
			write := func() error {
				if wrote.IsZero() && !began.IsZero() {
					wrote = time.Now()
				}
				return nil
			}
			r.before["run"], r.before["fetch"] = look, look
			for _, name := range []string{"fail", "keep", "note", "version", "door"} {
				r.before[name] = write
			}
			p := releaseclock.New(func() {})
			p.SetSchedule(releaseclock.NewSchedule(nil), time.Minute, make(chan struct{}))
			if err := k.ask(p.Set(ctx), New(k.w.dataset, lasting{r, each}, r, seeded(83))); (err != nil) != broken {
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
	lasting
	worked time.Duration
}

func (e working) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	releaseclock.WorkOf(ctx).Worked("a statement", e.worked)
	time.Sleep(e.takes * 3 / 2)
	return e.Engine.Run(ctx, q)
}

func (e working) Fetch(ctx context.Context, t *tree.Table, into engine.Collector) (engine.ReadFrom, error) {
	releaseclock.WorkOf(ctx).Worked("a statement", e.worked)
	time.Sleep(e.takes * 3 / 2)
	return e.Engine.Fetch(ctx, t, into)
}

// On a cluster a question that is late because it worked is an incident, and one that waited is
// none, whatever kind of question it is.
func TestLateOnCluster(t *testing.T) {
	const takes = 100 * time.Millisecond
	for _, worked := range []time.Duration{takes / 10, takes} {
		h, s := newHoldouts(t, plenty, nil), streamWorld(t, plenty, "")
		for name, k := range kindsOfQuestions(h, s) {
			k.w.bear()
			elsewhere := *k.w.dataset
			elsewhere.Source = "trino://discreet@127.0.0.1:8080/lake/clinic?sslmode=disable"
			p := releaseclock.New(func() {})
			p.SetSchedule(releaseclock.NewSchedule(nil), time.Minute, nil)
			before := len(k.w.incidents())
			err := k.ask(p.Set(ctx), New(&elsewhere, working{lasting{k.w.data, takes}, worked}, k.w.books, seeded(84)))
			added := k.w.incidents()[before:]
			switch late := worked == takes; {
			case late && (err == nil || len(added) == 0 || added[0] != "ana time"):
				t.Errorf("%s has worked for too long: %v, %q", name, err, added)
			case !late && (err != nil || len(added) > 0):
				t.Errorf("%s has waited: %v, %q", name, err, added)
			}
		}
	}
}

// A training that works for longer than its public time is an incident, whether it gets done or
// not. Nobody gets noise from it again for the same charge.
func TestLateTraining(t *testing.T) {
	for name, work := range map[string]func(context.Context) error{
		"stopped": func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return learn.ErrFit
			case <-time.After(time.Minute):
				return errors.New("nobody stopped it")
			}
		},
		"done": func(ctx context.Context) error {
			for end := time.Now().Add(time.Minute); ctx.Err() == nil && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			return nil
		},
	} {
		w := newWorld(t, plenty)
		q, fits := smokers("0.4"), 0
		c := New(w.dataset, lasting{w.data, 20 * time.Millisecond}, w.books, seeded(85))
		c.Trainings = training.New(c.Access(), answercache.New(w.books), func(
			ctx context.Context, p *learn.Plan, t *learn.Table, r *mech.Releaser, progress func(learn.Progress),
		) (*learn.Model, error) {
			fits++
			if err := work(ctx); err != nil {
				return nil, err
			}
			return learn.Fit(context.WithoutCancel(ctx), p, t, r, progress)
		})
		for range 2 {
			p := releaseclock.New(func() {})
			p.SetSchedule(releaseclock.NewSchedule(nil), time.Minute, nil)
			if _, err := c.Trainings.Train(p.Set(ctx), q, nil); err != api.ErrTraining {
				t.Errorf("%s: %v", name, err)
			}
			if got := w.incidents(); len(got) == 0 || got[0] != "ana time" {
				t.Errorf("%s: %q", name, got)
			}
			w.letIn("ana")
		}
		if fits != 1 {
			t.Errorf("%s: it was trained %d times", name, fits)
		}
	}
}

// What a holdout computes of public rows runs where private questions do, and is longer beside
// them: so it has a public time as well, also where a price is all that is asked for.
func TestTrainingRowsAtDeadline(t *testing.T) {
	const each = 100 * time.Millisecond
	h := newHoldouts(t, plenty, nil)
	for _, takes := range []time.Duration{each, time.Minute + 1} {
		looked := 0
		r := &recorder{Ledger: h.books, Engine: h.data, before: map[string]func() error{"run": func() error { looked++; return nil }}}
		c := New(h.dataset, lasting{r, takes}, r, seeded(82))
		p := releaseclock.New(func() {})
		p.SetSchedule(releaseclock.NewSchedule(nil), time.Minute, nil)
		began := time.Now()
		_, err := c.Explain(p.Set(ctx), api.Question{Analyst: "ana", SQL: "SELECT holdout_mean(smoker) FROM patients"})
		p.Leave()
		if took := time.Since(began); takes == each && (err != nil || looked != 1 || took < each) {
			t.Errorf("%v, it ran %d times, and left after %v", err, looked, took)
		}
		if refusal := (*api.Refusal)(nil); takes > each && (!errors.As(err, &refusal) || looked > 0) {
			t.Errorf("%v, and it ran %d times", err, looked)
		}
	}
}

// Noise of running totals and of cubes takes longer than noise on each number, and has its own
// public time: it begins when the engine is done, and would end so much later. A price says so.
func TestReleaseTime(t *testing.T) {
	const each = 50 * time.Millisecond
	for text, times := range map[string]time.Duration{"SELECT COUNT(*) FROM patients": 1, yearly: 2, cubed: 2} {
		w := newWorld(t, rich)
		c := New(w.dataset, lasting{w.data, each}, w.books, seeded(82))
		p := releaseclock.New(func() {})
		p.SetSchedule(releaseclock.NewSchedule(nil), time.Minute, nil)
		x, err := c.Explain(p.Set(ctx), api.Question{Analyst: "ana", SQL: text})
		if err != nil || x.Deadline == nil || *x.Deadline != (times*each).Seconds() {
			t.Errorf("%s: %v, %v", text, x.Deadline, err)
		}
		began := time.Now()
		if _, err := c.Ask(p.Set(ctx), api.Question{Analyst: "ana", SQL: text, Request: freshID()}); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < times*each {
			t.Errorf("%s left after %v", text, took)
		}
	}
}

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
	p := releaseclock.New(func() { events = append(events, "tick") })
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
			p := releaseclock.New(func() {})
			err := ask(p.Set(ctx), New(w.dataset, r, r, seeded(82)))
			if !errors.As(err, new(*ledger.LockoutError)) {
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
