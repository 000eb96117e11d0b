package curator

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/ledger/replay"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/internal/session/sparsesession"
	"github.com/discreet-dp/discreet/ledger"
)

var errStopped = errors.New("stopped")

// replayed decides the ledger once more, and returns what differs and what is in doubt.
func (w *world) replayed() (differs, doubts []string) {
	w.t.Helper()
	p := replay.New()
	for r, err := range w.books.Records(ctx, 0) {
		w.check(err)
		d := p.Next(r, ledger.Hash(r.Encode()))
		differs, doubts = append(differs, d.Differs...), append(doubts, d.Doubts...)
	}
	return differs, doubts
}

// answeredIn is the cost of the answers that were written down in each window.
func (w *world) answeredIn() map[uint64]dp.Amount {
	w.t.Helper()
	window, cost, seen := uint64(1), map[uint64]dp.Amount{}, map[uint64]dp.Amount{}
	for r, err := range w.books.Records(ctx, 0) {
		w.check(err)
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
	w := team(t, monthly, twoAnalysts)
	w.bear()
	r := w.record()
	half := dp.One / 2
	question := func(window string) api.Question {
		return api.Question{Analyst: "ana", SQL: byAge(len(window)), Epsilon: half, Request: window}
	}
	smoking := smokers("0.5")
	smoking.Request = "a model of window 2"
	r.before["run"] = func() error { return errStopped }
	r.before["fetch"] = func() error { return errStopped }
	if _, err := w.Ask(ctx, question("1")); err != sessionhost.ErrRun {
		t.Fatal(err)
	}
	w.renew()
	if _, err := w.Trainings.Train(ctx, smoking, nil); err != api.ErrTraining {
		t.Fatal(err)
	}
	w.renew()
	clear(r.before)
	r.take()
	_, err := w.Ask(ctx, question("1"))
	var lapsed *ledger.LapsedError
	if !errors.As(err, &lapsed) || lapsed.Charged || lapsed.Window != 1 || lapsed.Now != 3 ||
		!contains(err.Error(), "another request identifier", "Nothing was spent now") {
		t.Errorf("the question of window 1: %v", err)
	}
	if _, err := w.Trainings.Train(ctx, smoking, nil); !errors.As(err, &lapsed) || lapsed.Window != 2 {
		t.Errorf("the training of window 2: %v", err)
	}
	if calls := r.take(); slices.Contains(calls, "run") || slices.Contains(calls, "fetch") {
		t.Errorf("the engine was asked: %v", calls)
	}
	again := question("1")
	again.Request = "1, in window 3"
	if a, err := w.Ask(ctx, again); err != nil || a.Cost.Epsilon != half {
		t.Errorf("with another request: %+v, %v", a, err)
	}
	if seen := w.answeredIn(); seen[3] != half || w.balance("hospital#3").Epsilon != half {
		t.Errorf("%v was seen, and window 3 has spent %v", seen, w.balance("hospital#3"))
	}
	// What has its answer keeps it: the same request finds it in every window.
	w.Curator = New(w.dataset, nil, w.books, seeded(2))
	if _, found, err := w.books.Answer(ctx, again.Request); err != nil || !found {
		t.Error(found, err)
	}
	if differs, _ := w.replayed(); len(differs) > 0 {
		t.Error(differs)
	}
}

// TestWindowEndsMeanwhile: an answer that comes after its window has ended is not released,
// whatever had begun by then.
func TestWindowEndsMeanwhile(t *testing.T) {
	w := team(t, monthly, twoAnalysts)
	r := w.record()
	q := api.Question{Analyst: "ana", SQL: byAge(1), Request: "slow"}
	r.before["run"] = func() error { w.renew(); return nil }
	var lapsed *ledger.LapsedError
	if a, err := w.Ask(ctx, q); !errors.As(err, &lapsed) || !lapsed.Charged || a != nil ||
		!strings.Contains(err.Error(), "ended before the answer") {
		t.Errorf("%v, %v", a, err)
	}
	clear(r.before)
	if _, err := w.Ask(ctx, q); !errors.As(err, &lapsed) || lapsed.Charged {
		t.Error(err)
	}
	r.before["fetch"] = func() error { w.renew(); return nil }
	if m, err := w.Trainings.Train(ctx, smokers("0.1"), nil); !errors.As(err, &lapsed) || m != nil {
		t.Error(m, err)
	}
	if seen := w.answeredIn(); len(seen) > 0 {
		t.Errorf("answered: %v", seen)
	}
}

// TestSparseEndsWithItsWindow: a session that was opened in one window does not answer in the next.
func TestSparseEndsWithItsWindow(t *testing.T) {
	w := team(t, monthly, twoAnalysts)
	r := w.record()
	session := func() *sparsesession.Session {
		s, err := w.Sparse.Open(ctx, api.SparseQuestion{Analyst: "ana", Epsilon: dp.One / 4, Above: 2, Sensitivity: 1, Request: freshID()})
		w.check(err)
		_, err = s.Ask(ctx, patients, "100000")
		w.check(err)
		return s
	}
	first, second := session(), session()
	w.renew()
	r.take()
	for range 2 {
		if v, err := first.Ask(ctx, patients, "100000"); err != api.ErrSessionWindow || v != nil {
			t.Errorf("%+v, %v", v, err)
		}
	}
	if calls := r.take(); slices.Contains(calls, "run") {
		t.Errorf("the engine was asked: %v", calls)
	}
	if v, err := second.Ask(ctx, patients, "-100000"); err != api.ErrSessionWindow || v != nil || second.Left() != 2 {
		t.Errorf("%+v, %v, %d left", v, err, second.Left())
	}
	// Also where it ends while the engine runs, and nothing is told of what was drawn.
	third := session()
	r.before["run"] = func() error { w.renew(); return nil }
	if v, err := third.Ask(ctx, patients, "-100000"); err != api.ErrSessionWindow || v != nil || third.Left() != 2 {
		t.Errorf("%+v, %v, %d left", v, err, third.Left())
	}
	if differs, doubts := w.replayed(); len(differs)+len(doubts) > 0 {
		t.Error(differs, doubts)
	}
}

// A budget that is renewed while the engine runs ends what the window before has paid for: it is
// neither noted nor told, and who asks again pays in the new window.
func TestSessionsCrossNoWindow(t *testing.T) {
	streams := build(t, large(),
		streaming(hospital.Dataset("hospital", "data",
			"{epsilon: 5, per_query: {default: 0.5, max: 5}, renewal: {every: month, windows: 3}}"), crowd,
			"        alpha: 0.05\n        queries: 100000\n"), 1)
	holdouts := newHoldouts(t, "{epsilon: 2, per_query: {default: 0.1, max: 2}, renewal: {every: month, windows: 3}}", nil)
	for name, c := range map[string]struct {
		w   *world
		ask func() error
	}{
		"stream": {streams, func() error {
			_, err := streams.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
			return err
		}},
		"holdout": {holdouts, func() error {
			_, err := holdouts.score(api.HoldoutQuestion{Holdout: "rows", SQL: "smoker", Training: "0.3"})
			return err
		}},
	} {
		r := c.w.record()
		r.before["run"] = func() error {
			delete(r.before, "run")
			c.w.renew()
			return nil
		}
		var lapsed *ledger.LapsedError
		if err := c.ask(); !errors.As(err, &lapsed) || lapsed.Window != 1 || lapsed.Now != 2 {
			t.Errorf("%s: told in another window: %v", name, err)
		}
		if err := c.ask(); err != nil {
			t.Errorf("%s: asked again: %v", name, err)
		}
		of, err := c.w.Accounts(ctx, "ana")
		c.w.check(err)
		if len(of) == 0 || of[0].Spent.Epsilon == 0 && of[0].Spent.Rho == 0 {
			t.Errorf("%s: the new window has paid nothing: %+v", name, of)
		}
	}
}

// TestPolicyProtectsOthers: after a charge, or after something was told exactly, no question is
// answered or explained under a policy that protects others, and nothing is promised. Put back, all
// is as it was.
func TestPolicyProtectsOthers(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after dp.Neighbours
		question      string
	}{
		{"a charge", dp.AddRemove, dp.Substitute, byAge(1)},
		{"a charge under substitution", dp.Substitute, dp.AddRemove, byAge(1)},
		{"the number of people, for nothing", dp.Substitute, dp.AddRemove, "SELECT COUNT(*) FROM patients"},
	} {
		w := build(t, hospital.New(200, 1), replaced("{epsilon: 1}"), 1)
		neighbours := func(n dp.Neighbours) {
			w.dataset.Neighbours = n
			w.reopen()
		}
		neighbours(c.after)
		if _, err := w.Promise(ctx); err != nil {
			t.Errorf("%s: nothing was told yet: %v", c.name, err)
		}
		neighbours(c.before)
		first := w.mustAsk(c.question)
		if free := c.question != byAge(1); first.Receipt.Free != free {
			t.Fatalf("%s: %+v", c.name, first)
		}
		neighbours(c.after)
		_, asked := w.ask(byAge(2))
		_, free := w.ask(c.question)
		_, explained := w.Explain(ctx, api.Question{Analyst: "ana", SQL: byAge(2)})
		_, opened := w.Sparse.Open(ctx, api.SparseQuestion{Analyst: "ana", Epsilon: dp.One / 8, Above: 1, Sensitivity: 1})
		_, promised := w.Promise(ctx)
		for what, err := range map[string]error{"asked": asked, "asked again": free, "explained": explained, "opened": opened,
			"promised": promised} {
			if !errors.As(err, new(*budgets.ChangedError)) {
				t.Errorf("after %s, %s: %v", c.name, what, err)
			}
		}
		neighbours(c.before)
		if again := w.mustAsk(c.question); numbers(again) != numbers(first) || !again.Receipt.Free {
			t.Errorf("put back, %s is %+v, and was %+v", c.name, again, first)
		}
	}
}
