package pricing

import (
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

// TestTouchedGroups: quantiles are paid for in every group in which neighbours can differ. Where
// people are substituted that is the groups of two, as far as there are so many.
func TestTouchedGroups(t *testing.T) {
	for _, c := range []struct {
		sql                string
		maxGroups          int64
		removed, exchanged int64
	}{
		{"SELECT MEDIAN(cost) FROM visits", 1, 1, 1},
		{"SELECT ward, MEDIAN(cost) FROM visits GROUP BY ward", 1, 1, 2},
		{"SELECT ward, MEDIAN(cost) FROM visits GROUP BY ward", 2, 2, 3}, // of three wards
		{"SELECT sex, MEDIAN(age) FROM patients GROUP BY sex", 1, 1, 2},
	} {
		for i, dataset := range []string{hospital.Dataset("hospital", "data", plenty),
			substitute(hospital.Dataset("hospital", "data", plenty))} {
			q, want := query(t, parsed(t, dataset), c.sql, c.maxGroups), []int64{c.removed, c.exchanged}[i]
			n, err := newQuantiles(q, q.Measures[0], Currency{Pure: true}, dp.One)
			if err != nil {
				t.Fatal(err)
			}
			each := n.Quantiles.Cost().Epsilon
			if got := touchedGroups(q); got != want || n.cost().Epsilon != each.Mul(uint64(want)) || n.cost().Epsilon > dp.One {
				t.Errorf("%s, %v: %d groups, and %v is paid, %v for each; want %d", c.sql, q.Neighbours, got, n.cost().Epsilon, each, want)
			}
		}
	}
}
