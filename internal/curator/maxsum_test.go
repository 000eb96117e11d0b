package curator

import (
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// A bound on what a person adds to a sum is another question: it is told, charged for and
// remembered by itself, and never answered by one with another bound.
func TestMaxSumIsRemembered(t *testing.T) {
	w := newWorld(t, plenty)
	ask := func(max, epsilon string) (*api.Answer, *api.Explanation) {
		t.Helper()
		q := api.Question{Analyst: "ana", SQL: "SELECT ward, SUM(cost) FROM visits GROUP BY ward", Epsilon: amount(epsilon),
			Request: freshID()}
		if max != "" {
			q.Settings.MaxSum, _ = new(big.Rat).SetString(max)
		}
		e, err := w.Explain(ctx, q)
		w.check(err)
		a, err := w.Ask(ctx, q)
		w.check(err)
		if a.Cost != e.Pay {
			t.Errorf("it costs %v, and %v was said", a.Cost, e.Pay)
		}
		return a, e
	}
	// Six rows of at most 2,000 in each of two wards.
	wide, e := ask("", "0.5")
	if m := e.Questions[0].Measures[0]; m.Sensitivity != 24000 || contains(strings.Join(wide.Notes, "\n"), "max_sum") {
		t.Errorf("%+v %q", m, wide.Notes)
	}
	narrow, e := ask("300", "0.5")
	if m := e.Questions[0].Measures[0]; m.Sensitivity != 600 || !contains(m.Why, "adds at most 300.00 to a group") || narrow.Receipt.Free {
		t.Errorf("%+v", m)
	}
	if !contains(strings.Join(narrow.Notes, "\n"), "one person adds at most 300 to a group (max_sum)") ||
		*narrow.Errors[0][1]*39 > *wide.Errors[0][1] {
		t.Errorf("%q %v %v", narrow.Notes, *narrow.Errors[0][1], *wide.Errors[0][1])
	}
	for _, max := range []string{"", "300"} {
		if again, _ := ask(max, "0.5"); !again.Receipt.Free || again.Cost != (dp.Cost{}) {
			t.Errorf("%q: asked again it is charged", max)
		}
		if less, _ := ask(max, "0.1"); !less.Receipt.Free { // the better answer is there
			t.Errorf("%q: at a lower price it is charged", max)
		}
	}
	// A narrower sum has less noise than any price of a wider one buys, and is another number.
	if other, _ := ask("301", "0.1"); other.Receipt.Free {
		t.Error("another bound was answered by this one")
	}
	if other, _ := ask("100000", "0.5"); !other.Receipt.Free || numbers(other) != numbers(wide) {
		t.Error("a bound that nobody reaches is the same question")
	}
}
