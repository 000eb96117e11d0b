package curator

import (
	"errors"
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/api"
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
