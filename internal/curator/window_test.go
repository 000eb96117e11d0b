package curator_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
)

var errStopped = errors.New("stopped")

// answeredIn is the cost of the answers that were written down in each window.
func answeredIn(w *curatortest.World) map[uint64]dp.Amount {
	w.T.Helper()
	window, cost, seen := uint64(1), map[uint64]dp.Amount{}, map[uint64]dp.Amount{}
	for r, err := range w.Ledger.Records(ctx, 0) {
		w.Check(err)
		switch r.Kind {
		case ledger.KindRenewal:
			window = r.Window
		case ledger.KindCharge:
			cost[r.Sequence] = r.Cost.Epsilon
		case ledger.KindAnswer:
			seen[window] = seen[window].Add(cost[r.Charge])
		}
	}
	return seen
}

// TestChargeOfAnotherWindow: questions and trainings that were charged in one window and never
// answered are not answered in a later one for the same charge. Before this was so, 1.5 was seen in
// window 3 of a budget of 0.5.
func TestChargeOfAnotherWindow(t *testing.T) {
	w := curatortest.NewTeam(t, curatortest.Monthly, curatortest.TwoAnalysts)
	w.BearFailures()
	r := w.Record()
	half := dp.One / 2
	question := func(window string) api.Question {
		return api.Question{Analyst: "ana", SQL: curatortest.ByAge(len(window)), Epsilon: half, Request: window}
	}
	smoking := curatortest.Smokers("0.5")
	smoking.Request = "a model of window 2"
	r.Before["run"] = func() error { return errStopped }
	r.Before["fetch"] = func() error { return errStopped }
	if _, err := w.Ask(ctx, question("1")); err != sessionhost.ErrRun {
		t.Fatal(err)
	}
	w.RenewNow()
	if _, err := w.Trainings.Train(ctx, smoking, nil); err != api.ErrTraining {
		t.Fatal(err)
	}
	w.RenewNow()
	clear(r.Before)
	r.Take()
	_, err := w.Ask(ctx, question("1"))
	var lapsed *ledger.LapsedError
	if !errors.As(err, &lapsed) || lapsed.Charged || lapsed.Window != 1 || lapsed.Now != 3 ||
		!curatortest.ContainsAll(err.Error(), "another request identifier", "Nothing was spent now") {
		t.Errorf("the question of window 1: %v", err)
	}
	if _, err := w.Trainings.Train(ctx, smoking, nil); !errors.As(err, &lapsed) || lapsed.Window != 2 {
		t.Errorf("the training of window 2: %v", err)
	}
	if calls := r.Take(); slices.Contains(calls, "run") || slices.Contains(calls, "fetch") {
		t.Errorf("the engine was asked: %v", calls)
	}
	again := question("1")
	again.Request = "1, in window 3"
	if a, err := w.Ask(ctx, again); err != nil || a.Cost.Epsilon != half {
		t.Errorf("with another request: %+v, %v", a, err)
	}
	if seen := answeredIn(w); seen[3] != half || balance(w, "hospital#3").Epsilon != half {
		t.Errorf("%v was seen, and window 3 has spent %v", seen, balance(w, "hospital#3"))
	}
	// What has its answer keeps it: the same request finds it in every window.
	w.Curator = curator.New(w.Dataset, nil, w.Ledger, curatortest.Seeded(2))
	if _, found, err := w.Ledger.Answer(ctx, again.Request); err != nil || !found {
		t.Error(found, err)
	}
	if differs, _ := w.Replayed(); len(differs) > 0 {
		t.Error(differs)
	}
}

// TestWindowEndsMeanwhile: an answer that comes after its window has ended is not released,
// whatever had begun by then.
func TestWindowEndsMeanwhile(t *testing.T) {
	w := curatortest.NewTeam(t, curatortest.Monthly, curatortest.TwoAnalysts)
	r := w.Record()
	q := api.Question{Analyst: "ana", SQL: curatortest.ByAge(1), Request: "slow"}
	r.Before["run"] = func() error { w.RenewNow(); return nil }
	var lapsed *ledger.LapsedError
	if a, err := w.Ask(ctx, q); !errors.As(err, &lapsed) || !lapsed.Charged || a != nil ||
		!strings.Contains(err.Error(), "ended before the answer") {
		t.Errorf("%v, %v", a, err)
	}
	clear(r.Before)
	if _, err := w.Ask(ctx, q); !errors.As(err, &lapsed) || lapsed.Charged {
		t.Error(err)
	}
	r.Before["fetch"] = func() error { w.RenewNow(); return nil }
	if m, err := w.Trainings.Train(ctx, curatortest.Smokers("0.1"), nil); !errors.As(err, &lapsed) || m != nil {
		t.Error(m, err)
	}
	if seen := answeredIn(w); len(seen) > 0 {
		t.Errorf("answered: %v", seen)
	}
}

// TestPolicyProtectsOthersThanAsked: after a charge, or after something was told exactly, no
// question is answered or explained under a policy that protects others, and nothing is promised.
// Put back, all is as it was.
func TestPolicyProtectsOthersThanAsked(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after dp.Neighbours
		question      string
	}{
		{"a charge", dp.AddRemove, dp.Substitute, curatortest.ByAge(1)},
		{"a charge under substitution", dp.Substitute, dp.AddRemove, curatortest.ByAge(1)},
		{"the number of people, for nothing", dp.Substitute, dp.AddRemove, "SELECT COUNT(*) FROM patients"},
	} {
		w := curatortest.Build(t, hospital.New(200, 1), curatortest.CountedPeople("{epsilon: 1}"), 1)
		neighbours := func(n dp.Neighbours) {
			w.Dataset.Neighbours = n
			w.Reopen()
		}
		neighbours(c.after)
		if _, err := w.Promise(ctx); err != nil {
			t.Errorf("%s: nothing was told yet: %v", c.name, err)
		}
		neighbours(c.before)
		first := w.MustAsk(c.question)
		if free := c.question != curatortest.ByAge(1); first.Receipt.Free != free {
			t.Fatalf("%s: %+v", c.name, first)
		}
		neighbours(c.after)
		_, asked := w.AskSQL(curatortest.ByAge(2))
		_, free := w.AskSQL(c.question)
		_, explained := w.Explain(ctx, api.Question{Analyst: "ana", SQL: curatortest.ByAge(2)})
		_, opened := w.Sparse.Open(ctx, api.SparseQuestion{Analyst: "ana", Epsilon: dp.One / 8, Above: 1, Sensitivity: 1})
		_, promised := w.Promise(ctx)
		for what, err := range map[string]error{"asked": asked, "asked again": free, "explained": explained, "opened": opened,
			"promised": promised} {
			if !errors.As(err, new(*budgets.ChangedError)) {
				t.Errorf("after %s, %s: %v", c.name, what, err)
			}
		}
		neighbours(c.before)
		if again := w.MustAsk(c.question); curatortest.Numbers(again) != curatortest.Numbers(first) || !again.Receipt.Free {
			t.Errorf("put back, %s is %+v, and was %+v", c.name, again, first)
		}
		w.Leave()
	}
}
