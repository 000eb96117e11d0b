package curator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
)

// A round that was paid for in one window answers in the next: the promise of a window is then not
// kept by its account.
func TestSessionsHoldoutWindow(t *testing.T) {
	w := newHoldouts(t, "{epsilon: 2, per_query: {default: 0.1, max: 2}, renewal: {every: month, windows: 3}}", nil)
	a := w.mustScore(api.HoldoutQuestion{Holdout: "rows", SQL: "smoker", Training: "0.3"})
	t.Logf("first: spent %v cost %v", a.Spent, a.Cost)
	_, err := w.Renew(ctx, "next")
	w.check(err)
	got := 0
	for i := range 50 {
		b := w.mustScore(api.HoldoutQuestion{Holdout: "rows", SQL: fmt.Sprintf("age > %d", i), Training: "0"})
		if b.Cost != (dp.Cost{}) {
			break
		}
		got++
		if b.Spent {
			t.Errorf("an answer from the holdout in window 2, after %d, and its account was charged nothing", i)
			break
		}
	}
	t.Logf("%d free comparisons in window 2 on a round of window 1", got)
}

func TestSessionsStreamWindow(t *testing.T) {
	w := build(t, large(),
		streaming(hospital.Dataset("hospital", "data",
			"{epsilon: 5, per_query: {default: 0.5, max: 5}, renewal: {every: month, windows: 3}}"), crowd,
			"        alpha: 0.05\n        queries: 100000\n"), 1)
	sets := func(i int) api.StreamQuestion {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		where := map[string][]string{}
		infos, err := w.Streams.List()
		w.check(err)
		for _, a := range infos[0].Attributes {
			for _, v := range a.Values {
				if r.IntN(2) == 0 {
					where[a.Name] = append(where[a.Name], v)
				}
			}
		}
		return api.StreamQuestion{Analyst: "ana", Where: where}
	}
	i := 0
	opened := false
	for ; i < 600 && !opened; i++ {
		a, err := w.Streams.Ask(ctx, sets(i))
		if err != nil {
			t.Log(err)
			break
		}
		opened = a.Way == stream.Predicted
	}
	if !opened {
		t.Fatalf("no round in %d", i)
	}
	_, err := w.Renew(ctx, "next")
	w.check(err)
	free := 0
	for ; i < 3000; i++ {
		a, err := w.Streams.Ask(ctx, sets(i))
		w.check(err)
		if a.Way != stream.Predicted && a.Way != stream.Paid || !a.Free {
			break
		}
		free++
		if a.Way == stream.Paid {
			t.Errorf("a noisy answer in window 2, and its account was charged nothing")
			break
		}
	}
	if free > 0 {
		t.Errorf("%d comparisons in window 2 on a round of window 1", free)
	}
}

// Who stops waiting while the cells are counted has the engine count them again, for the same
// charge, as often as they like: each time is a bit about how long that takes.
func TestSessionsStreamLoadCancelled(t *testing.T) {
	w := streamWorld(t, plenty, "")
	r := w.record()
	runs := 0
	var stop context.CancelFunc
	r.before["run"] = func() error { runs++; stop(); return nil }
	for range 5 {
		c, cancel := context.WithCancel(ctx)
		stop = cancel
		_, err := w.Streams.Ask(c, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
		t.Logf("%v", err)
		cancel()
	}
	if runs > 1 {
		t.Errorf("the engine ran %d times, and was charged for %d times", runs, chargesOf(w, ""))
	}
	// What an answer says that it cost is what it cost.
	r.before["run"] = nil
	before := w.spent()
	a, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
	w.check(err)
	if got := w.spent().Epsilon.Sub(before.Epsilon); got != a.Cost.Epsilon {
		t.Errorf("the answer says it cost %v, and %v was spent", a.Cost.Epsilon, got)
	}
}

// EXPLAIN as of a moment must not speak of what was answered after it.
func TestSessionsHoldoutExplainAsOf(t *testing.T) {
	w := newHoldouts(t, plenty, nil)
	before := time.Now()
	q := api.Question{Analyst: "ana", SQL: "SELECT holdout_mean(smoker, 0.3) FROM patients", Request: freshID(), AsOf: before}
	e, err := w.Explain(ctx, q)
	w.check(err)
	_, err = w.Ask(ctx, api.Question{Analyst: "ben", SQL: q.SQL, Request: freshID(), AsOf: before})
	w.check(err)
	f, err := w.Explain(ctx, q)
	w.check(err)
	if e.Known != f.Known || e.Pay != f.Pay || asJSON(e.Questions) != asJSON(f.Questions) {
		t.Errorf("as of before the answer: known %v, pay %v; and then known %v, pay %v", e.Known, e.Pay, f.Known, f.Pay)
	}
}

// A question that failed was not answered.
func TestSessionsQuoteAfterFailure(t *testing.T) {
	w := streamWorld(t, plenty, "")
	r := w.record()
	r.before["charge"] = func() error { return errors.New("no") }
	_, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
	if err == nil {
		t.Fatal("no error")
	}
	q, err := w.Streams.Quote(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'", AsOf: time.Now()})
	w.check(err)
	if q.Way == stream.Cached {
		t.Errorf("a question that failed is quoted as answered: %+v", q)
	}
}

// The labels have not changed, and a charge for them speaks of tables that are no more.
func TestSessionsLabelsVersion(t *testing.T) {
	w := newHoldouts(t, plenty, nil)
	w.mustScore(api.HoldoutQuestion{Holdout: "trial", Predictions: guesses(600), Training: "0.1"}) // contradicted
	first := w.mustAsk("SELECT COUNT(*) FROM patients").Version
	w.check(hospital.New(210, 2).Write(filepath.Join(w.dir, "data")))
	second := w.mustAsk("SELECT COUNT(*) FROM patients").Version
	w.mustScore(api.HoldoutQuestion{Holdout: "trial", Predictions: guesses(599), Training: "0.1"})
	third := w.mustAsk("SELECT COUNT(*) FROM patients WHERE age > 50")
	t.Log(first, second, third.Version, third.Notes)
	if strings.Contains(fmt.Sprint(third.Notes), "has changed") {
		t.Errorf("the data did not change, and an answer says: %v", third.Notes)
	}
	if third.Version != second {
		t.Errorf("the data did not change between %v and %v", second, third.Version)
	}
}

func asJSON(x any) string {
	text, err := json.Marshal(x)
	return string(text) + fmt.Sprint(err)
}

// What an answer says that it cost is what it cost, also after a failure.
func TestSessionsCostAgain(t *testing.T) {
	w := streamWorld(t, plenty, "")
	w.bear()
	r := w.record()
	r.before["run"] = func() error { return errors.New("no") }
	_, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
	if err == nil {
		t.Fatal("no error")
	}
	r.before["run"] = nil
	before, charges := w.spent(), len(r.charges)
	a, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
	w.check(err)
	t.Logf("%d charges more", len(r.charges)-charges)
	if got := w.spent().Epsilon.Sub(before.Epsilon); got != a.Cost.Epsilon {
		t.Errorf("the answer says it cost %v, and %v was spent", a.Cost.Epsilon, got)
	}
}

// A refusal has spent nothing, also where a statement has two questions of which a stream can pay
// for one.
func TestSessionsRefusalSpent(t *testing.T) {
	w := streamWorld(t, plenty, "        budget: 0.05\n")
	plans, err := w.Streams.List()
	w.check(err)
	plain := plans[0].Plain.Epsilon
	quota, _ := w.dataset.StreamQuota("people")
	limit := quota.Limit().Epsilon
	values := plans[0].Attributes
	i := 0
	for _, a := range values[2].Values {
		for _, b := range values[3].Values {
			r, err := w.Streams.Report(ctx, "people")
			w.check(err)
			if left := limit.Sub(r.Spent.Epsilon); left < 2*plain {
				i = -1
				break
			}
			_, err = w.Streams.Ask(ctx,
				api.StreamQuestion{Analyst: "ana", Where: map[string][]string{values[2].Name: {a}, values[3].Name: {b}}})
			w.check(err)
		}
	}
	if i == 0 {
		t.Fatalf("not spent: %v of %v", w.spent(), limit)
	}
	before := w.spent()
	_, err = w.Ask(ctx,
		api.Question{Analyst: "ana", Request: freshID(),
			SQL: "SELECT a.n + b.n FROM (SELECT COUNT(*) AS n FROM patients WHERE sex = 'F' AND smoker) AS a, (SELECT COUNT(*) AS n FROM " +
				"patients WHERE sex = 'M' AND NOT smoker) AS b"})
	t.Logf("%v: spent %v and then %v", err, before, w.spent())
	var r *api.Refusal
	if errors.As(err, &r) && w.spent() != before {
		t.Errorf("a refusal, %q, spent %v", err, w.spent().Epsilon.Sub(before.Epsilon))
	}
}
