package stream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/audit/stat"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/session"
)

// What is calibrated keeps the promise of its proof: whatever is sold goes wrong with no more than
// its share of beta, in budgets from tiny to huge.
func TestPrices(t *testing.T) {
	d, rounds := domain(t, 2, 3, 4), 0
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
		if tariff.prices.First < dp.One>>13 {
			continue // too many steps to add up
		}
		rounds++
		if tariff.Threshold < 1 || tariff.Threshold > tariff.Error {
			t.Errorf("a threshold that is none: %s", where)
		}
		if all := per(missed(tariff, c)+tariff.paid.Tail(tariff.Error), c.amount(tariff.Round)); all > c.Beta*(1+1e-6) {
			t.Errorf("rounds go wrong with probability %v: %s", all, where)
		}
		// The theorem of halving: alarms are true but with half of beta.
		if c.Predictor == Halving && float64(c.Queries)*alarmed(tariff, c) > c.Beta/2 {
			t.Errorf("%v false alarms are to be expected: %s", float64(c.Queries)*alarmed(tariff, c), where)
		}
	}
	if rounds < 20 {
		t.Errorf("only %d rounds were added up", rounds)
	}
}

// missed is the probability that a prediction which is beyond the error is free, by adding up over
// the noise of the threshold: the question's is below Z - (w + 1 - T).
func missed(t *Tariff, c Config) (sum float64) {
	p, q := t.prices.First.Float()/float64(c.Steps), t.prices.Each.Float()/float64(2*c.Steps)
	beyond := float64(t.Error + 1 - t.Threshold)
	for z := beyond + 1; z < beyond+2+50/min(p, 1); z++ {
		sum += math.Exp(-p*z) * -math.Expm1(-p) * -math.Expm1(-q*(z-beyond))
	}
	return sum
}

// alarmed is the probability that a prediction within half of the threshold sets off an alarm.
func alarmed(t *Tariff, c Config) (sum float64) {
	p, q := t.prices.First.Float()/float64(c.Steps), t.prices.Each.Float()/float64(2*c.Steps)
	short := float64(t.Threshold) - math.Floor(float64(t.Threshold)/2)
	for z := 0.0; z < 1+50/min(p, 1); z++ {
		sum += math.Exp(-p*z) * -math.Expm1(-p) * math.Exp(-q*(short+z))
	}
	return sum
}

// Streams with a beta that can be seen: somebody asks about what is just beyond the error, again
// and again, until the budget is gone. No more than beta of them have an answer that is too far
// off. Where the noise of a threshold is ten times what it should be, more do: the analyst is one
// who finds out.
func TestAccuracy(t *testing.T) {
	const runs = 200
	c := Config{Domain: domain(t, 12), Size: 24_000, Alpha: 0.05, Beta: 0.4, Queries: 300, Steps: 1, Currency: mech.Pure,
		Budget: amountOf(t, "0.15"), Predictor: Weights}
	p, err := calibrate(c)
	if err != nil {
		t.Fatal(err)
	}
	far := wrongStreams(t, c, p, runs)
	t.Logf("%d of %d streams had a wrong answer", far, runs)
	if sure := stat.LowerBound(far, runs, 1e-4); sure > c.Beta {
		t.Errorf("%d of %d streams had a wrong answer, with beta %v", far, runs, c.Beta)
	}
	if far == 0 {
		t.Error("no stream was ever wrong: nothing was tested")
	}
	p.First /= 10
	far = wrongStreams(t, c, p, runs)
	if sure := stat.LowerBound(far, runs, 1e-4); sure <= c.Beta {
		t.Errorf("with too much noise on the threshold only %d of %d streams had a wrong answer", far, runs)
	}
}

// wrongStreams counts the streams with these prices that have a wrong answer.
func wrongStreams(t *testing.T, c Config, p prices, runs uint64) (far int) {
	d, n := c.Domain, c.Size
	for seed := range runs {
		dice := detrand.New("accuracy", seed)
		// Half of the cells are too full by what is just too much for one of them.
		counts := make([]int64, 12)
		for i := range counts {
			counts[i] = n/12 + (c.error()+1)*int64(1-2*(i%2))
		}
		s := openAt(t, c, p, dense(t, d, counts), seed)
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
	}
	return far
}
