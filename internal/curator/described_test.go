package curator

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/plan"
)

// What was described is planned once, taken once, and is the plan of the same text and settings and
// of no other.
func TestDrafts(t *testing.T) {
	w := newWorld(t, wealthy)
	const text = "SELECT sex, COUNT(*) FROM patients GROUP BY sex"
	for range 2 {
		_, err := w.Describe(ctx, api.Question{Analyst: "ana", SQL: text})
		w.check(err)
	}
	key := describedKey{text, 0}
	if w.described.take(describedKey{text, 1}) != nil || w.described.take(describedKey{text + " ", 0}) != nil {
		t.Error("another question was taken for it")
	}
	if w.described.take(key) == nil || w.described.take(key) != nil {
		t.Error("it is not there once")
	}
	_, err := w.Describe(ctx, api.Question{Analyst: "ana", SQL: text})
	w.check(err)
	a, err := w.askAs("ana", text, amount("0.1"))
	w.check(err)
	if w.described.take(key) != nil {
		t.Error("the question did not take it")
	}
	b, err := w.askAs("ana", text, amount("0.1"))
	w.check(err)
	if fmt.Sprint(a.Columns, a.Rows) != fmt.Sprint(b.Columns, b.Rows) || !b.Receipt.Free {
		t.Error("with a draft and without it the answers differ")
	}
	// An analyst whom the policy does not list gets nothing, described or not.
	_, err = w.Describe(ctx, api.Question{Analyst: "ana", SQL: text})
	w.check(err)
	if _, err := w.askAs("nobody", text, amount("0.1")); err == nil {
		t.Error("nobody was answered")
	}
	for i := range 3 * mostDescribed {
		w.described.keep(describedKey{fmt.Sprint(i), 0}, &plan.Statement{})
	}
	if len(w.described.of) > mostDescribed || len(w.described.order) > mostDescribed {
		t.Errorf("%d are kept", len(w.described.of))
	}
}
