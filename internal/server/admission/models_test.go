package admission

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// trains is a library whose trainings take some time, and whose questions take none. The most
// trainings that ran at once are counted.
func trains(d time.Duration, most *int) fake {
	now := 0
	f := takes(0)
	f.train = func(ctx context.Context, q api.TrainingQuestion) (*api.Training, error) {
		switch q.Target {
		case "no":
			return nil, &api.Refusal{Reason: "no", Position: -1}
		case "poor":
			return nil, &ledger.BudgetError{}
		}
		now++
		*most = max(*most, now)
		defer func() { now-- }()
		if work(ctx, d) != nil {
			return nil, api.ErrTraining
		}
		t := &api.Training{ID: "7-a", Cost: dp.Cost{Epsilon: dp.One}}
		t.Receipt.Sequence = 7
		return t, nil
	}
	return f
}

func model(analyst string) api.TrainingQuestion {
	return api.TrainingQuestion{Analyst: analyst, Features: "SELECT 1", Target: "x", Request: "r"}
}

// Few are trained at once, and short questions go on beside them.
func TestTrainingsLeaveTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		most := 0
		d := newDispatcher(people(t, "immediate"), trains(time.Minute, &most), Options{Running: 3})
		for i := range 6 {
			go d.Models().Train(t.Context(), model([]string{"ana", "ben", "cleo"}[i%3]))
		}
		synctest.Wait()
		for _, who := range []string{"ana", "ben", "cleo"} {
			begin := time.Now()
			if _, err := d.Ask(t.Context(), from(who)); err != nil || time.Since(begin) != 0 {
				t.Errorf("%s waited for %v: %v", who, time.Since(begin), err)
			}
		}
		time.Sleep(7 * time.Minute)
		if s := d.Stats(); most != 1 || s.Answered != 9 {
			t.Errorf("%d at once, %+v", most, s)
		}
		quiet(t, d)
	})
}

// How a training ends: like a question.
func TestTrainingsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		most := 0
		d := newDispatcher(people(t, "{tick: 1s}"), trains(2500*time.Millisecond, &most), Options{Running: 2, Timeout: 10 * time.Second})
		ctx := t.Context()
		begin := time.Now()
		got, err := d.Models().Train(ctx, model("ana"))
		if err != nil || got.ID != "7-a" || time.Since(begin) != 3*time.Second {
			t.Errorf("%+v, %v after %v", got, err, time.Since(begin))
		}
		var refusal *api.Refusal
		var budget *ledger.BudgetError
		q := model("ana")
		q.Target = "no"
		if _, err := d.Models().Train(ctx, q); !errors.As(err, &refusal) {
			t.Error(err)
		}
		if _, err := d.Models().Quote(ctx, q); !errors.As(err, &refusal) {
			t.Error(err)
		}
		q.Target = "poor"
		if _, err := d.Models().Train(ctx, q); !errors.As(err, &budget) {
			t.Error(err)
		}
		// One that is canceled while it runs ends on a tick, and one that waits was not charged.
		running, stop := context.WithCancel(ctx)
		waiting, withdraw := context.WithCancel(ctx)
		first, second := make(chan error), make(chan error)
		go func() { _, err := d.Models().Train(running, model("ana")); first <- err }()
		synctest.Wait()
		go func() { _, err := d.Models().Train(waiting, model("ben")); second <- err }()
		synctest.Wait()
		time.Sleep(300 * time.Millisecond)
		// One after the other: on the same tick the second could have the place that the first
		// leaves.
		withdraw()
		if err := <-second; err != ErrWithdrawn {
			t.Error(err)
		}
		stop()
		if err := <-first; err != ErrCanceled {
			t.Error(err)
		}
		// The end of the server: who has a place is waited for, who waits for one is sent away.
		go func() { _, err := d.Models().Train(ctx, model("ana")); first <- err }()
		synctest.Wait()
		go func() { _, err := d.Models().Train(ctx, model("ben")); second <- err }()
		synctest.Wait()
		begin = time.Now()
		go d.Drain(ctx)
		if err := <-second; err != ErrEnding || time.Since(begin) != 0 {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
		quiet(t, d)
	})
}

// A training that takes too long is stopped, and its place is free again.
func TestTrainingTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		most := 0
		d := newDispatcher(people(t, "immediate"), trains(time.Hour, &most), Options{Timeout: time.Minute})
		for range 3 {
			begin := time.Now()
			if _, err := d.Models().Train(t.Context(), model("ana")); err != ErrTimeout || time.Since(begin) != time.Minute {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
		}
		quiet(t, d)
	})
}

// Looks at models see what there was at the last tick.
func TestModelsAreAsOfTheTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		most := 0
		d := newDispatcher(people(t, "{tick: 1s}"), trains(0, &most), Options{})
		time.Sleep(2700 * time.Millisecond)
		last := d.ticks.clock.begin.Add(2 * time.Second)
		all, _, err := d.Models().List(t.Context(), "ana", []string{"people"}, api.ModelsQuestion{Analyst: "ana", After: -1, Limit: 10})
		if err != nil || len(all) != 1 || !all[0].Time.Equal(last) {
			t.Errorf("%+v, %v", all, err)
		}
		used := false
		err = d.Models().Use(t.Context(), "ana", []string{"people"}, "7-a", "ana", func(_ context.Context, m *api.KeptModel) error {
			used = m.Time.Equal(last) && m.Analyst == "ana"
			return nil
		})
		if err != nil || !used {
			t.Error(err)
		}
		if err := d.Models().Use(t.Context(), "ana", nil, "8-b", "ana", nil); !errors.Is(err, api.ErrNoModel) {
			t.Error(err)
		}
	})
}
