package curator

import (
	"fmt"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

const rolled = "SELECT sex, smoker, COUNT(*) AS n, GROUPING(sex, smoker) AS g FROM patients GROUP BY ROLLUP (sex, smoker)"

// All sets of a GROUP BY are one purchase: one charge, which is what they cost together.
func TestSetsAreOneCharge(t *testing.T) {
	for _, budget := range []string{plenty, rich} {
		w := newWorld(t, budget)
		r := w.record()
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: rolled})
		w.check(err)
		r.take()
		a := w.mustAsk(rolled)
		want := []string{"version", "recall", "charge", "run", "run", "run", "version", "recall", "keep", "balances"}
		if budget == rich { // one table, of which all sets are marginals
			want = []string{"version", "recall", "charge", "run", "version", "recall", "keep", "balances"}
		}
		if calls := r.take(); !slices.Equal(calls, want) {
			t.Errorf("the order is %v", calls)
		}
		if len(r.charges) != 1 || a.Cost != e.Pay || len(e.Questions) != 3 || r.charges[0].Cost.Rho != w.spent().Rho {
			t.Errorf("charged %v; cost %v, explained %v", r.charges, a.Cost, e.Pay)
		}
		var sum dp.Cost
		for _, q := range e.Questions {
			sum = sum.Add(q.Cost)
		}
		if sum != r.charges[0].Cost {
			t.Errorf("the sets cost %v, and %v was charged", sum, r.charges[0].Cost)
		}
		// Each by itself, at its share of the price, is known; of those that are released together
		// the coarse ones have a little less.
		share := e.Pay.Epsilon / 3
		if budget == rich {
			share = e.Pay.Epsilon * 4 / 10
		}
		for _, alone := range []string{"SELECT COUNT(*) FROM patients", "SELECT sex, COUNT(*) FROM patients GROUP BY sex"} {
			got, err := w.askAs("ana", alone, share-1000)
			if err != nil || !got.Receipt.Free {
				t.Errorf("%s: %v %+v", alone, err, got)
			}
		}
		w.reopen()
		if again := w.mustAsk(rolled); !again.Receipt.Free || numbers(again) != numbers(a) {
			t.Errorf("%v, and before %v", again.Rows, a.Rows)
		}
	}
}

// Rows of a set have NULL where they are not grouped by a key, GROUPING tells them from keys that
// are NULL, and everything above the noise is about all rows.
func TestSetsAreOneAnswer(t *testing.T) {
	w := newWorld(t, plenty)
	a := w.mustAsk(rolled)
	seen := map[string]int{}
	for i, row := range a.Rows {
		seen[fmt.Sprint(row[3], " ", row[0] == nil, row[1] == nil)]++
		if e := a.Errors[i]; e[2] == nil || *e[2] <= 0 || e[0] != nil || e[3] != nil {
			t.Errorf("row %v has the error bars %v", row, e)
		}
	}
	if want := map[string]int{"0 false false": 6, "1 false true": 3, "3 true true": 1}; fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("%v; want %v", seen, want)
	}
	if c := a.Columns; !c[2].Noisy || c[0].Noisy || c[3].Noisy || c[3].Kind != "integer" || c[1].Kind != "boolean" {
		t.Errorf("columns %+v", c)
	}
	sorted := w.mustAsk(rolled + " ORDER BY g DESC, n LIMIT 4")
	if !sorted.Receipt.Free || len(sorted.Rows) != 4 || fmt.Sprint(sorted.Rows[0][3]) != "3" || fmt.Sprint(sorted.Rows[1][3]) != "1" ||
		asFloat(sorted.Rows[1][2]) > asFloat(sorted.Rows[2][2]) {
		t.Errorf("%v", sorted.Rows)
	}
	left := w.mustAsk(rolled + " HAVING GROUPING(sex, smoker) = 1")
	if !left.Receipt.Free || len(left.Rows) != 3 || left.Rows[0][0] == nil {
		t.Errorf("%v", left.Rows)
	}
	around := w.mustAsk("SELECT g, count(*) FROM (" + rolled + ") t GROUP BY g ORDER BY g")
	if !around.Receipt.Free || fmt.Sprint(around.Rows) != "[[0 6] [1 3] [3 1]]" {
		t.Errorf("%v", around.Rows)
	}
	ranked := w.mustAsk("SELECT sex, smoker, COUNT(*) AS n, row_number() OVER (PARTITION BY GROUPING(sex, smoker) ORDER BY COUNT(*)) " +
		"AS i FROM patients GROUP BY ROLLUP (1, 2) ORDER BY i DESC LIMIT 1")
	if !ranked.Receipt.Free || fmt.Sprint(ranked.Rows[0][3]) != "6" || ranked.Errors[0][2] == nil {
		t.Errorf("%v", ranked.Rows)
	}
	// A set that is there twice is released once, and shown twice.
	twice := w.mustAsk("SELECT COUNT(*) FROM patients WHERE age > 3 GROUP BY GROUPING SETS ((), ())")
	if len(twice.Rows) != 2 || fmt.Sprint(twice.Rows[0]) != fmt.Sprint(twice.Rows[1]) {
		t.Errorf("%v", twice.Rows)
	}
}
