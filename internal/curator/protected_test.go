package curator

import (
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/books"
	"github.com/discreet-dp/discreet/internal/hospital"
)

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
			if !errors.As(err, new(*books.ChangedError)) {
				t.Errorf("after %s, %s: %v", c.name, what, err)
			}
		}
		neighbours(c.before)
		if again := w.mustAsk(c.question); numbers(again) != numbers(first) || !again.Receipt.Free {
			t.Errorf("put back, %s is %+v, and was %+v", c.name, again, first)
		}
	}
}
