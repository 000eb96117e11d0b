package curator

import (
	"errors"
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/hospital"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/stream"
)

// When the accounts are empty a question that would have to be paid is refused as every other is,
// nothing is spent by it, and what was answered stays free.
func TestStreamAccountsEmpty(t *testing.T) {
	w := streamWorld(t, "{epsilon: 0.113, per_query: {default: 0.1, max: 0.113}}", "")
	first := w.mustAsk("SELECT COUNT(*) FROM patients WHERE sex = 'F'")
	if len(first.Through) != 1 {
		t.Fatalf("%+v", first)
	}
	if _, err := w.askAs("ana", "SELECT COUNT(*) FROM visits", amount("0.1")); err != nil {
		t.Fatal(err)
	}
	spent := w.spent()
	for i := range 5 {
		text := fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE diagnosis = '%s' AND smoker",
			[]string{"flu", "HIV", "asthma", "diabetes", "fracture"}[i])
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: text})
		w.check(err)
		if e.Affordable {
			t.Errorf("%s is said to be affordable: %+v", text, e)
		}
		if _, err := w.ask(text); !errors.As(err, new(*ledger.BudgetError)) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if w.spent() != spent {
		t.Errorf("%v was spent by refusals", w.spent())
	}
	if again := w.mustAsk("SELECT COUNT(*) FROM patients WHERE NOT (sex <> 'F')"); numbers(again) != numbers(first) || !again.Receipt.Free {
		t.Errorf("%+v", again)
	}
	// Asked itself, the stream says what it thinks, without a promise, or why not.
	a, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "smoker"})
	if err == nil && (a.Way != stream.Unchecked || a.Error != nil) || err != nil && !errors.As(err, new(*ledger.BudgetError)) {
		t.Errorf("%+v %v", a, err)
	}
}

// The budget that a policy gives a stream is for all versions of the data together, on budgets of
// either kind. When it is gone, SQL asks by itself.
func TestStreamBudgetOverVersions(t *testing.T) {
	for name, c := range map[string]struct{ budget, stream string }{
		"pure":         {plenty, "0.3"},
		"concentrated": {"{epsilon: 10, delta: 1e-6, per_query: {default: 0.1, max: 1}}", "0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := streamWorld(t, c.budget, "        budget: "+c.stream+"\n")
			quota, _ := w.dataset.StreamQuota("people")
			var spent dp.Cost
			refused := 0
			for version := range 4 {
				w.write(hospital.New(200, uint64(10+version)))
				for _, a := range []string{"flu", "HIV", "asthma", "diabetes", "fracture"} {
					for _, b := range []string{"sex = 'F'", "sex = 'M'", "smoker", "NOT smoker"} {
						before := w.spent()
						_, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: fmt.Sprintf("diagnosis = '%s' AND %s", a, b)})
						if errors.As(err, new(*api.Refusal)) {
							refused++
						} else {
							w.check(err)
						}
						now := w.spent()
						spent = spent.Add(dp.Cost{Epsilon: now.Epsilon.Sub(before.Epsilon), Rho: now.Rho.Sub(before.Rho)})
					}
				}
			}
			if limit := quota.Limit(); !spent.Fits(limit) {
				t.Errorf("the stream was charged %v of %v", spent, limit)
			}
			if refused == 0 {
				t.Errorf("nothing was refused, and %v of %v was charged", spent, quota.Limit())
			}
			a := w.mustAsk("SELECT COUNT(*) FROM patients WHERE diagnosis = 'flu' AND sex = 'F' AND smoker")
			if len(a.Through) != 0 || a.Receipt.Free {
				t.Errorf("asked through the stream: %+v", a)
			}
		})
	}
}
