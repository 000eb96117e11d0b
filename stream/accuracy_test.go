package stream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/session"
)

// What is calibrated keeps the promise of its proof: whatever is sold goes wrong with no more than
// its share of beta, in budgets from tiny to huge.
func TestPrices(t *testing.T) {
	d := domain(t, 2, 3, 4)
	for seed := range uint64(150) {
		dice := detrand.New("prices", seed)
		c := Config{Domain: d, Size: int64(1) << dice.Below(24), Alpha: math.Exp(-6 * float64(1+dice.Below(100)) / 100),
			Beta: math.Exp(-9 * float64(1+dice.Below(100)) / 100), Queries: 1 << dice.Below(20),
			Steps: int64(1 + dice.Below(4)), Currency: mech.Budget(1 + dice.Below(2)), Budget: dp.Amount(1) << dice.Below(60),
			Predictor: []Kind{Weights, None, Halving}[dice.Below(3)], Neighbours: dp.Neighbours(dice.Below(2))}
		tariff, err := Price(c)
		if err != nil {
			if !errors.Is(err, ErrConfig) && !errors.Is(err, mech.ErrScale) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		where := fmt.Sprintf("%+v: %+v", c, tariff)
		if tariff.Limit > c.Budget || tariff.MostPlain < 1 {
			t.Errorf("the limit is beyond the budget: %s", where)
		}
		per := func(wrong float64, price dp.Amount) float64 { return wrong / price.Float() * tariff.Limit.Float() }
		if all := per(tariff.plain.Tail(tariff.Error), c.amount(tariff.Plain)); all > c.Beta*(1+1e-6) {
			t.Errorf("plain answers go wrong with probability %v: %s", all, where)
		}
		if price := c.amount(tariff.Plain); 5*float64(price) > 6*float64(c.amount(tariff.Cache)) {
			t.Errorf("a plain answer is too dear: %s", where)
		}
		if q := tariff.plain.Tail(tariff.Error) * float64(min(c.Queries, tariff.MostPlain)); c.Predictor == None && q > c.Beta*(1+1e-6) {
			t.Errorf("a cache goes wrong with probability %v: %s", q, where)
		}
		if c.Predictor == None {
			continue
		}
		threshold := math.Exp(-float64(tariff.Error+2-tariff.Threshold) * tariff.prices.First.Float() / float64(c.Steps))
		if all := per(threshold+tariff.paid.Tail(tariff.Error), c.amount(tariff.Round)); all > c.Beta*(1+1e-6) || tariff.Threshold < 1 ||
			tariff.Threshold > tariff.Error {
			t.Errorf("rounds go wrong with probability %v: %s", all, where)
		}
	}
}

// Streams with a beta that can be seen: somebody asks about what is just beyond the error, again
// and again, until the budget is gone. No more than beta of them have an answer that is too far
// off.
func TestAccuracy(t *testing.T) {
	d := domain(t, 12)
	const n, runs = 24_000, 200
	c := Config{Domain: d, Size: n, Alpha: 0.05, Beta: 0.4, Queries: 300, Steps: 1, Currency: mech.Pure, Budget: amountOf(t, "0.15"),
		Predictor: Weights}
	tariff, err := Price(c)
	if err != nil {
		t.Fatal(err)
	}
	far, rounds := 0, 0
	for seed := range uint64(runs) {
		dice := detrand.New("accuracy", seed)
		// Half of the cells are too full by what is just too much for one of them.
		counts := make([]int64, 12)
		for i := range counts {
			counts[i] = n/12 + (tariff.Error+1)*int64(1-2*(i%2))
		}
		s := openDear(t, c, dense(t, d, counts), seed)
		s.state.hopeful = false // no marginals, which would make it easy
		bad := false
		for range 200 {
			set := uint64(1 + dice.Below(1<<12-1))
			a, err := s.Ask(context.Background(), subsets(t, d, 1, set))
			if err != nil && !errors.Is(err, ErrSpent) && !errors.Is(err, session.ErrBudget) {
				t.Fatal(err)
			}
			if err != nil || a.Way == Unchecked {
				continue
			}
			var truth int64
			for i, x := range counts {
				truth += x * int64(set>>i&1)
			}
			bad = bad || max(a.Value-truth, truth-a.Value) > a.Error
		}
		if bad {
			far++
		}
		rounds += s.state.rounds
	}
	t.Logf("%d of %d streams had a wrong answer; %d rounds", far, runs, rounds)
	if limit := c.Beta*runs + 4*math.Sqrt(c.Beta*(1-c.Beta)*runs); float64(far) > limit {
		t.Errorf("%d of %d streams had a wrong answer, with beta %v", far, runs, c.Beta)
	}
	if far == 0 {
		t.Error("no stream was ever wrong: nothing was tested")
	}
}
