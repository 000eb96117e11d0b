package sessionhost_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/session/training"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

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
		w := curatortest.New(t, curatortest.Plenty)
		q, fits := curatortest.Smokers("0.4"), 0
		c := curator.New(w.Dataset, curatortest.LastingEngine{Engine: w.Data, Takes: 20 * time.Millisecond}, w.Ledger,
			curatortest.Seeded(85))
		c.Trainings = training.New(c.Access(), answercache.New(w.Ledger), func(
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
			if _, err := c.Trainings.Train(p.WithClock(ctx), q, nil); err != api.ErrTraining {
				t.Errorf("%s: %v", name, err)
			}
			if got := w.Incidents(); len(got) == 0 || got[0] != "ana time" {
				t.Errorf("%s: %q", name, got)
			}
			w.LetIn("ana")
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
	h := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
	for _, takes := range []time.Duration{each, time.Minute + 1} {
		looked := 0
		r := &curatortest.Recorder{Ledger: h.Ledger, Engine: h.Data,
			Before: map[string]func() error{"run": func() error { looked++; return nil }}}
		c := curator.New(h.Dataset, curatortest.LastingEngine{Engine: r, Takes: takes}, r, curatortest.Seeded(82))
		p := releaseclock.New(func() {})
		p.SetSchedule(releaseclock.NewSchedule(nil), time.Minute, nil)
		began := time.Now()
		_, err := c.Explain(p.WithClock(ctx), api.Question{Analyst: "ana", SQL: "SELECT holdout_mean(smoker) FROM patients"})
		p.Leave()
		if took := time.Since(began); takes == each && (err != nil || looked != 1 || took < each) {
			t.Errorf("%v, it ran %d times, and left after %v", err, looked, took)
		}
		if refusal := (*api.Refusal)(nil); takes > each && (!errors.As(err, &refusal) || looked > 0) {
			t.Errorf("%v, and it ran %d times", err, looked)
		}
	}
}

// The same for models of another server: priced and listed.
func TestModelsElsewhere(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	servers := w.Servers(2)
	before := time.Now()
	q := curatortest.Smokers("0.5")
	first, err := servers[0].Trainings.Train(ctx, q, nil)
	w.Check(err)
	after := time.Now()
	r := w.ChargesOf(servers[1].Ledger)[0]
	for _, c := range []struct {
		at    time.Time
		shown bool
	}{{before.Add(time.Second), false}, {after.Add(2 * time.Second), true}} {
		q.AsOf, q.Request = c.at, curatortest.FreshID()
		quote, err := servers[1].Trainings.Quote(ctx, q)
		w.Check(err)
		if quote.Known != c.shown {
			t.Errorf("as of %v it is known: %v", c.at.Sub(before), quote.Known)
		}
		if _, err := servers[1].Trainings.Model(ctx, r, c.at); (err == nil) != c.shown {
			t.Errorf("as of %v: %v", c.at.Sub(before), err)
		}
	}
	q.AsOf, q.Request = before, r.Request // and who asks has it
	got, err := servers[1].Trainings.Train(ctx, q, nil)
	w.Check(err)
	if got.ID != first.ID || got.Cost.Epsilon != 0 {
		t.Errorf("%s cost %v; it was %s", got.ID, got.Cost, first.ID)
	}
}

// The same for a training that is stopped while its rows are fetched.
func TestTrainingReruns(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	w.BearFailures()
	r := w.Record()
	q := curatortest.Smokers("0.5")
	train := func() error {
		waiting, cancel := context.WithCancel(ctx)
		defer cancel()
		r.Before["fetch"] = func() error { cancel(); return waiting.Err() }
		_, err := w.Trainings.Train(waiting, q, nil)
		return err
	}
	for range 6 {
		if err := train(); err == nil {
			t.Fatal("it was not stopped")
		}
	}
	fetched := 0
	for _, e := range r.Take() {
		if e == "fetch" {
			fetched++
		}
	}
	if fetched != 1+3 || !errors.As(train(), new(*api.Refusal)) {
		t.Errorf("it was fetched %d times for one charge", fetched)
	}
}

// A model of other data than it was charged for is given for its request alone: nobody finds it
// under the version that it is not of, also where that is back.
func TestTrainedOnOtherData(t *testing.T) {
	for name, back := range map[string]bool{"there": false, "there and back": true} {
		t.Run(name, func(t *testing.T) {
			w := curatortest.New(t, curatortest.Plenty)
			was := hospital.New(200, 1)
			moves := &curatortest.LoadingEngine{Engine: w.Wire.Engine, Load: func() { w.WriteData(hospital.New(300, 2)) }, Back: nil}
			if back {
				moves.Back = func() { w.WriteData(was) }
			}
			w.Wire.Engine = moves
			q := curatortest.Smokers("0.5")
			first := mustTrain(w, q)
			w.WriteData(was)
			if !curatortest.ContainsAll(fmt.Sprint(first.Notes), "changed while this was computed") {
				t.Errorf("notes %q", first.Notes)
			}
			if other := mustTrain(w, curatortest.Smokers("0.5")); other.Receipt.Free || other.ID == first.ID || len(other.Notes) > 0 {
				t.Errorf("%+v is kept as a model of other data", other.Receipt)
			}
			again := mustTrain(w, q)
			if !again.Receipt.Free || again.ID != first.ID || written(w, again.Model) != written(w, first.Model) ||
				fmt.Sprint(again.Notes) != fmt.Sprint(first.Notes) {
				t.Errorf("the same request: %+v; want %+v", again, first)
			}
			for r, err := range w.Ledger.Records(ctx, first.Receipt.Sequence) {
				w.Check(err)
				if kept, err := w.Trainings.Model(ctx, r, time.Time{}); err != nil || kept.ID != first.ID {
					t.Errorf("by its name: %+v, %v", kept, err)
				}
				break
			}
		})
	}
}
