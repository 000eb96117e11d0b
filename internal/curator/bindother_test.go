package curator

import (
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/api"
)

// A request that was charged and stopped keeps its right to its answer when its name is used for
// another question, which was paid for before.
func TestBoundToAnotherQuestion(t *testing.T) {
	w := newWorld(t, plenty)
	const first, other = "SELECT COUNT(*) FROM patients WHERE sex = 'F'", "SELECT SUM(cost) FROM visits"
	w.mustAsk(other)
	r := w.record()
	r.before["keep"] = func() error {
		delete(r.before, "keep")
		return errors.New("killed")
	}
	q := api.Question{Analyst: "ana", SQL: first, Request: "mine"}
	if _, err := w.Ask(ctx, q); err == nil {
		t.Fatal("was not killed")
	}
	if a, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: other, Request: "mine"}); err != nil || !a.Receipt.Free {
		t.Errorf("the other question, which was paid for: %+v, %v", a, err)
	}
	if _, err := w.Ask(ctx, q); err != nil {
		t.Errorf("what was paid for: %v", err)
	}
}
