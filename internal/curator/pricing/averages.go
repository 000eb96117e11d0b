package pricing

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// priceOfAverages finds the smallest price at which averages have about the error that was asked
// for, if they are of as many values as the analyst expects. Counts and sums beside them are of
// other things, in other units, and are as exact as they become. An average is made of two numbers,
// so that shares stay equal.
func priceOfAverages(p *Priced, ds *policy.Dataset) error {
	target, _ := p.Settings.Error.Float64()
	misses := func(epsilon dp.Amount) bool {
		return p.divide(ds, p.Currency.Amount(epsilon)) != nil || worstError(p) > target
	}
	if misses(ds.Budget.MaxEpsilon) {
		return p.refuseTooExact(ds)
	}
	p.Epsilon = Largest(0, ds.Budget.MaxEpsilon, misses) + 1
	if least := p.leastPrice(ds.Budget); p.Epsilon < least {
		p.Epsilon, p.raised = least, true
	}
	return p.divide(ds, p.Currency.Amount(p.Epsilon))
}

func hasAverages(st *planner.Statement) bool {
	return slices.ContainsFunc(st.Plans, (*tree.Plan).HasAverages)
}

// worstError is the largest error that dp.error is about: of averages, if they are of as many
// values as the analyst expects, or else of counts and sums.
func worstError(p *Priced) (worst float64) {
	means := hasAverages(p.Statement)
	for i, one := range p.Statement.Plans {
		b := p.Purchases[p.AnsweredBy[i]]
		for _, s := range one.Stats {
			switch {
			case s.Kind == tree.AverageStat:
				worst = max(worst, errorOfOne(b, s, p.Beta())/float64(p.Settings.Values))
			case s.Kind == tree.MeasureStat && !means:
				worst = max(worst, Scaled(big.NewInt(b.Noise[s.Measure].HalfWidth(p.Beta())), b.Query.Measures[s.Measure].Step()))
			}
		}
	}
	return worst
}

// averages are those that a purchase's numbers are for.
func averages(p *Priced, b *Purchase) []api.AverageInquiry {
	var out []api.AverageInquiry
	for i, one := range p.Statement.Plans {
		for _, s := range one.Stats {
			if p.Purchases[p.AnsweredBy[i]] == b && s.Kind == tree.AverageStat && max(s.Measure, s.Count) < len(b.Noise) {
				sums := []string{b.Query.Measures[s.Measure].Describe()}
				if s.Twin {
					sums = append(sums, b.Query.Measures[s.Count].Describe())
				}
				a := api.AverageInquiry{Average: "avg(" + tree.Describe(s.Of) + ")", ErrorOfOne: errorOfOne(b, s, p.Beta()),
					ErrorMost: widthOf(b.Query.Measures[s.Measure]) / 2, Sums: sums}
				if p.Settings.Values > 0 {
					a.Values = p.Settings.Values
					expected := min(a.ErrorMost, a.ErrorOfOne/float64(p.Settings.Values))
					a.Error = &expected
				}
				out = append(out, a)
			}
		}
	}
	return out
}

// errorOfOne is about how far off an average of one value is, where its error is that divided by
// how many values there are. It follows from the same law as error bars do ([mech.RatioNoise]), for
// an average that lies in the middle of either half of its bounds: of x - a y, where the sum x is
// of distances from the middle of the bounds, a is a quarter of the width; and of twins, a quarter
// of one and three quarters of the other.
func errorOfOne(b *Purchase, s tree.Stat, beta float64) float64 {
	m := b.Query.Measures[s.Measure]
	step, _ := m.Step().Float64()
	x, y := mech.NumberNoise{Mechanism: b.Noise[s.Measure].Mechanism}, mech.NumberNoise{}
	if s.People == nil {
		y.Mechanism = b.Noise[s.Count].Mechanism
	}
	if s.Twin {
		return mech.RatioHalfWidth(beta, x, y, 1.0/3) * 3 / 4 * step
	}
	lo, _ := new(big.Float).SetInt(m.Arg.Type().Lo).Float64()
	hi, _ := new(big.Float).SetInt(m.Arg.Type().Hi).Float64()
	return mech.RatioHalfWidth(beta, x, y, (hi-lo)/4) * step
}

// widthOf is how far apart the values of a sum can be.
func widthOf(m tree.Measure) float64 {
	return Scaled(new(big.Int).Sub(m.Arg.Type().Hi, m.Arg.Type().Lo), m.Step())
}
