package curator

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/api"
)

// TestDescribe asks every question that the tests have, and compares its columns with those that
// were described before.
func TestDescribe(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	described := 0
	for _, budget := range []string{plenty, "{epsilon: 100, delta: 1e-6, per_query: {default: 0.1, max: 1}}"} {
		w := newWorld(t, budget)
		records := w.records()
		for _, text := range append(append([]string{}, questions...), attacks...) {
			before, err := w.Describe(ctx, api.Question{Analyst: "ana", SQL: text})
			if n := w.records(); n != records {
				t.Fatalf("%s: describing is in the ledger", text)
			}
			a, asked := w.ask(text)
			records = w.records()
			switch {
			case asked == nil && err != nil:
				t.Errorf("%s: answered and not described: %v", text, err)
			case asked == nil:
				described++
				if !slices.Equal(before, a.Columns) {
					t.Errorf("%s:\ndescribed %+v\nanswered  %+v", text, before, a.Columns)
				}
			}
		}
	}
	if described < 2*len(questions) {
		t.Errorf("%d questions were described", described)
	}
}

// TestDescribeReadsNothing has neither data nor ledger.
func TestDescribeReadsNothing(t *testing.T) {
	w := newWorld(t, pure)
	c := New(w.dataset, nil, nil, nil)
	for _, text := range questions {
		if _, err := c.Describe(ctx, api.Question{Analyst: "ana", SQL: text}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, q := range []api.Question{{Analyst: "nobody", SQL: questions[0]}, {Analyst: "ana", SQL: "SELECT pid FROM patients"},
		{Analyst: "ana", SQL: "SELECT"}} {
		if _, err := c.Describe(ctx, q); err == nil {
			t.Errorf("%+v is described", q)
		}
	}
}
