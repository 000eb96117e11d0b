package stream

import (
	"context"
	"flag"
	"math"
	"sort"
	"testing"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/stream/linear"
	"github.com/discreet-dp/discreet/mech"
)

var (
	covidSeeds = flag.Int("covid-seeds", 2, "how many streams of each kind TestCovid has")
	covidRho   = flag.Bool("covid-rho", false, "TestCovid counts rho and not epsilon")
	covidKind  = flag.String("covid-predictor", "", "of TestCovid")
)

// patients are 1.0 million people in 128 cells of 2x2x4x8: sex, vaccinated, outcome and age group.
// The old are vaccinated and have the worse outcomes, and every cell is off from what that alone
// would give.
func patients(t testing.TB) (*linear.Domain, []int64) {
	d := domain(t, 2, 2, 4, 8)
	dice := detrand.New("patients", 1)
	age := []float64{0.9, 1.2, 1.6, 1.5, 1.3, 0.9, 0.5, 0.25}
	weights := make([]float64, d.Cells())
	for i := range weights {
		c := d.Codes(i)
		sex, shot, outcome, old := c[0], c[1], float64(c[2]), float64(c[3])
		p := 1 / (1 + math.Exp(2-0.6*old))
		if shot == 0 {
			p = 1 - p
		}
		risk := -2.6 + 0.32*old - 0.9*float64(shot) + 0.3*float64(sex)
		weights[i] = age[c[3]] * p * math.Exp(outcome*risk) * (0.9 + 0.2*float64(sex)*old/8) * math.Exp(0.4*normal(dice))
	}
	return d, share(1_003_117, weights)
}

// The stream of the issue: 70,000 questions, drawn from all 34,425 products of nonempty sets of
// values.
func TestCovid(t *testing.T) {
	d, counts := patients(t)
	data := dense(t, d, counts)
	var all []*linear.Query
	for a := uint64(1); a < 4; a++ {
		for b := uint64(1); b < 4; b++ {
			for c := uint64(1); c < 16; c++ {
				for e := uint64(1); e < 256; e++ {
					all = append(all, subsets(t, d, 1, a, b, c, e))
				}
			}
		}
	}
	truth := make([]int64, len(all))
	for i, q := range all {
		q.Runs(func(from, to int, w int64) {
			for k := from; k < to; k++ {
				truth[i] += w * counts[k]
			}
		})
	}
	if len(all) != 34425 {
		t.Fatal(len(all))
	}
	for name, want := range map[string]float64{"uniform": 15, "zipf": 8} {
		for seed := range uint64(*covidSeeds) {
			dice := detrand.New(name, seed)
			draw := func() int { return dice.Below(len(all)) }
			if name == "zipf" {
				draw = zipf(dice, len(all))
			}
			c := Config{Domain: d, Size: 1_003_117, Alpha: 0.05, Beta: 0.001, Queries: 70000, Steps: 1, Currency: mech.Pure,
				Budget: amountOf(t, "1"), Predictor: Kind(*covidKind)}
			if *covidRho {
				c.Currency = mech.Concentrated
			}
			s, _ := open(t, c, data, seed)
			far, most := 0, int64(0)
			for range 70000 {
				i := draw()
				a, err := s.Ask(context.Background(), all[i])
				if err != nil {
					t.Fatal(err)
				}
				off := max(a.Value-truth[i], truth[i]-a.Value)
				most = max(most, off)
				if off > a.Error {
					far++
				}
			}
			r := s.Report()
			ratio := float64(c.amount(r.Cache)) / float64(c.amount(r.Spent))
			t.Logf("%s %d: spent %v, the cache %v, ratio %.0f; different %d, plain %d, paid %d, marginals %d; largest error %d of %d", name,
				seed, c.amount(r.Spent), c.amount(r.Cache), ratio, r.Different, r.Plain, r.Paid, r.Marginals, most, s.Tariff().Error)
			if ratio < want || far > 0 {
				t.Errorf("%s: %.1f times cheaper than the cache, want %v; %d answers further off than promised", name, ratio, want, far)
			}
		}
	}
}

// zipf draws places whose probability falls with 1/rank, in an order that has nothing to do with
// what is there.
func zipf(dice detrand.Dice, n int) func() int {
	order := make([]int, n)
	for i := range order {
		j := dice.Below(i + 1)
		order[i], order[j] = order[j], i
	}
	sums := make([]float64, n)
	total := 0.0
	for i := range sums {
		total += 1 / float64(i+1)
		sums[i] = total
	}
	return func() int {
		u := float64(dice.Below(1<<40)) / (1 << 40) * total
		return order[min(n-1, sort.SearchFloat64s(sums, u))]
	}
}
