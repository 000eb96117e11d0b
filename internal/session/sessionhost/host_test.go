package sessionhost_test

import (
	"errors"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
)

// A budget error of the host is a session's, and the curator's own.
func TestHostBudget(t *testing.T) {
	w := curatortest.NewStreams(t, "{epsilon: 0.02, per_query: {default: 0.01, max: 0.02}}", "")
	h := &sessionhost.Host{Access: w.Access(), ID: "a"}
	charge := session.Charge{Name: "round 1", Mechanisms: "none", Cost: dp.Cost{Epsilon: curatortest.Amount("0.015"), Rho: 1}}
	if _, err := h.Charge(ctx, charge); err == nil {
		t.Error("charged to nobody")
	}
	as := func(name string) (session.Receipt, error) {
		return (&sessionhost.Host{Access: w.Access(), ID: "a", Payer: &sessionhost.Payer{Analyst: name}}).Charge(ctx, charge)
	}
	first, err := as("ana")
	w.Check(err)
	second, err := as("ana")
	w.Check(err)
	if !second.Again || second.Sequence != first.Sequence || w.Spent().Epsilon != curatortest.Amount("0.015") {
		t.Errorf("%+v and %+v", first, second)
	}
	// Somebody else who needs the same pays for themselves.
	charge.Name, charge.Cost.Epsilon = "round 3", curatortest.Amount("0.001")
	third, err := as("ana")
	w.Check(err)
	fourth, err := as("ben")
	if err != nil || fourth.Again || fourth.Sequence == third.Sequence {
		t.Errorf("%+v %v", fourth, err)
	}
	charge.Name, charge.Cost.Epsilon = "round 2", curatortest.Amount("0.015")
	_, err = as("ana")
	if !errors.Is(err, session.ErrBudget) || !errors.As(err, new(*ledger.BudgetError)) {
		t.Errorf("%v", err)
	}
	w.Check(h.Append(ctx, []byte("one")))
	w.Check(h.Append(ctx, []byte("two")))
	all, err := h.Entries(ctx)
	if err != nil || len(all) != 2 || string(all[0]) != "one" || string(all[1]) != "two" {
		t.Errorf("%q %v", all, err)
	}
	other := &sessionhost.Host{Access: w.Access(), ID: "b"}
	if all, err := other.Entries(ctx); err != nil || len(all) != 0 {
		t.Errorf("%q %v", all, err)
	}
}

// A question that failed was not answered.
func TestSessionsQuoteAfterFailure(t *testing.T) {
	w := curatortest.NewStreams(t, curatortest.Plenty, "")
	r := w.Record()
	r.Before["charge"] = func() error { return errors.New("no") }
	_, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
	if err == nil {
		t.Fatal("no error")
	}
	q, err := w.Streams.Quote(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'", AsOf: time.Now()})
	w.Check(err)
	if q.Way == stream.Cached {
		t.Errorf("a question that failed is quoted as answered: %+v", q)
	}
}

// What an answer says that it cost is what it cost, also after a failure.
func TestSessionsCostAgain(t *testing.T) {
	w := curatortest.NewStreams(t, curatortest.Plenty, "")
	w.BearFailures()
	r := w.Record()
	r.Before["run"] = func() error { return errors.New("no") }
	_, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
	if err == nil {
		t.Fatal("no error")
	}
	r.Before["run"] = nil
	before, charges := w.Spent(), len(r.Charges)
	a, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
	w.Check(err)
	t.Logf("%d charges more", len(r.Charges)-charges)
	if got := w.Spent().Epsilon.Sub(before.Epsilon); got != a.Cost.Epsilon {
		t.Errorf("the answer says it cost %v, and %v was spent", a.Cost.Epsilon, got)
	}
}

// A refusal has spent nothing, also where a statement has two questions of which a stream can pay
// for one.
func TestSessionsRefusalSpent(t *testing.T) {
	w := curatortest.NewStreams(t, curatortest.Plenty, "        budget: 0.05\n")
	plans, err := w.Streams.List()
	w.Check(err)
	plain := plans[0].Plain.Epsilon
	quota, _ := w.Dataset.StreamQuota("people")
	limit := quota.Limit().Epsilon
	values := plans[0].Attributes
	i := 0
	for _, a := range values[2].Values {
		for _, b := range values[3].Values {
			r, err := w.Streams.Report(ctx, "people")
			w.Check(err)
			if left := limit.Sub(r.Spent.Epsilon); left < 2*plain {
				i = -1
				break
			}
			_, err = w.Streams.Ask(ctx,
				api.StreamQuestion{Analyst: "ana", Where: map[string][]string{values[2].Name: {a}, values[3].Name: {b}}})
			w.Check(err)
		}
	}
	if i == 0 {
		t.Fatalf("not spent: %v of %v", w.Spent(), limit)
	}
	before := w.Spent()
	_, err = w.Ask(ctx,
		api.Question{Analyst: "ana", Request: curatortest.FreshID(),
			SQL: "SELECT a.n + b.n FROM (SELECT COUNT(*) AS n FROM patients WHERE sex = 'F' AND smoker) AS a, (SELECT COUNT(*) AS n FROM " +
				"patients WHERE sex = 'M' AND NOT smoker) AS b"})
	t.Logf("%v: spent %v and then %v", err, before, w.Spent())
	var r *api.Refusal
	if errors.As(err, &r) && w.Spent() != before {
		t.Errorf("a refusal, %q, spent %v", err, w.Spent().Epsilon.Sub(before.Epsilon))
	}
}

// A budget that is renewed while the engine runs ends what the window before has paid for: it is
// neither noted nor told, and who asks again pays in the new window.
func TestSessionsCrossNoWindow(t *testing.T) {
	streams := curatortest.Build(t, curatortest.Large(),
		curatortest.WithStream(hospital.Dataset("hospital", "data",
			"{epsilon: 5, per_query: {default: 0.5, max: 5}, renewal: {every: month, windows: 3}}"), curatortest.Crowd,
			"        alpha: 0.05\n        queries: 100000\n"), 1)
	holdouts := curatortest.NewHoldouts(t, "{epsilon: 2, per_query: {default: 0.1, max: 2}, renewal: {every: month, windows: 3}}", nil)
	for name, c := range map[string]struct {
		w   *curatortest.World
		ask func() error
	}{
		"stream": {streams, func() error {
			_, err := streams.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
			return err
		}},
		"holdout": {holdouts, func() error {
			_, err := holdouts.Score(api.HoldoutQuestion{Holdout: "rows", SQL: "smoker", Training: "0.3"})
			return err
		}},
	} {
		r := c.w.Record()
		r.Before["run"] = func() error {
			delete(r.Before, "run")
			c.w.RenewNow()
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
		c.w.Check(err)
		if len(of) == 0 || of[0].Spent.Epsilon == 0 && of[0].Spent.Rho == 0 {
			t.Errorf("%s: the new window has paid nothing: %+v", name, of)
		}
	}
}
