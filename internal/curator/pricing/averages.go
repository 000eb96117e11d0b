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

// priceOfAverages finds the smallest price, within a thousandth, at which averages have about the
// error that was asked for, if they are of as many values as the analyst expects. Counts and sums
// beside them are of other things, in other units, and are as exact as they become. An average is
// made of two numbers, so that shares stay equal.
//
// Laws take long to compute, so that they are tried at a few prices only: below the one at which
// half widths promise the error, which is never smaller.
func priceOfAverages(p *Priced, ds *policy.Dataset) error {
	target, _ := p.Settings.Error.Float64()
	misses := func(epsilon dp.Amount, laws bool) bool {
		return p.divide(ds, p.Currency.Amount(epsilon)) != nil || worstError(p, laws) > target
	}
	most := ds.Budget.MaxEpsilon
	if misses(most, true) {
		return p.refuseTooExact(ds)
	}
	high := min(most, Largest(0, most, func(e dp.Amount) bool { return misses(e, false) })+1)
	low := high / 4
	if !misses(low, true) {
		low, high = 0, low
	}
	for high-low > max(1, high>>10) {
		if e := low + (high-low)/2; misses(e, true) {
			low = e
		} else {
			high = e
		}
	}
	p.Epsilon = high
	if least := p.leastPrice(ds.Budget); p.Epsilon < least {
		p.Epsilon, p.raised = least, true
	}
	return p.divide(ds, p.Currency.Amount(p.Epsilon))
}

func hasAverages(st *planner.Statement) bool {
	return slices.ContainsFunc(st.Plans, (*tree.Plan).HasAverages)
}

// worstError is the largest error that dp.error is about: of averages, if they are of as many
// values as the analyst expects, by their laws or by half widths, or else of counts and sums.
func worstError(p *Priced, laws bool) (worst float64) {
	means := hasAverages(p.Statement)
	for _, of := range errorsOfOne(p, laws, p.Purchases...) {
		for _, e := range of {
			worst = max(worst, e/float64(p.Settings.Values))
		}
	}
	for i, one := range p.Statement.Plans {
		b := p.Purchases[p.AnsweredBy[i]]
		for _, s := range one.Stats {
			if s.Kind == tree.MeasureStat && !means {
				worst = max(worst, Scaled(big.NewInt(b.Noise[s.Measure].HalfWidth(p.Beta())), b.Query.Measures[s.Measure].Step()))
			}
		}
	}
	return worst
}

// averages are those that a purchase's numbers are for.
func averages(p *Priced, b *Purchase) []api.AverageInquiry {
	var out []api.AverageInquiry
	errs := errorsOfOne(p, true, b)
	for i, one := range p.Statement.Plans {
		for j, s := range one.Stats {
			if p.Purchases[p.AnsweredBy[i]] == b && s.Kind == tree.AverageStat && max(s.Measure, s.Count) < len(b.Noise) {
				sums := []string{b.Query.Measures[s.Measure].Describe()}
				if s.Twin {
					sums = append(sums, b.Query.Measures[s.Count].Describe())
				}
				a := api.AverageInquiry{Average: "avg(" + tree.Describe(s.Of) + ")", ErrorOfOne: errs[i][j],
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

// errorsOfOne are those of the averages of some purchases, by plan and stat. Those that come first
// in the statement have them from their laws, where that is wanted.
func errorsOfOne(p *Priced, exact bool, of ...*Purchase) []map[int]float64 {
	out, laws := make([]map[int]float64, len(p.Statement.Plans)), Laws{}
	for i, one := range p.Statement.Plans {
		b := p.Purchases[p.AnsweredBy[i]]
		out[i] = map[int]float64{}
		for j, s := range one.Stats {
			if s.Kind != tree.AverageStat || max(s.Measure, s.Count) >= len(b.Noise) {
				continue
			}
			law, times := lawOfOne(b, s, p.Beta())
			admitted := exact && laws.Admit(law)
			switch {
			case !slices.Contains(of, b):
			case admitted:
				out[i][j] = law.HalfWidth() * times
			default:
				out[i][j] = law.SimpleHalfWidth() * times
			}
		}
	}
	return out
}

// lawOfOne is the law whose half width, times a factor, is about how far off an average of one
// value is, where its error is that divided by how many values there are. It is the law that error
// bars follow from ([mech.RatioNoise]), for an average that lies in the middle of either half of
// its bounds: of x - a y, where the sum x is of distances from the middle of the bounds, a is a
// quarter of the width; and of twins, a quarter of one and three quarters of the other.
func lawOfOne(b *Purchase, s tree.Stat, beta float64) (law mech.RatioLaw, times float64) {
	m := b.Query.Measures[s.Measure]
	step, _ := m.Step().Float64()
	x, y := mech.NumberNoise{Mechanism: b.Noise[s.Measure].Mechanism}, mech.NumberNoise{}
	if s.People == nil {
		y.Mechanism = b.Noise[s.Count].Mechanism
	}
	if s.Twin {
		return mech.NewRatioLaw(beta, x, y, 1.0/3), step * 3 / 4
	}
	lo, _ := new(big.Float).SetInt(m.Arg.Type().Lo).Float64()
	hi, _ := new(big.Float).SetInt(m.Arg.Type().Hi).Float64()
	return mech.NewRatioLaw(beta, x, y, (hi-lo)/4), step
}

// widthOf is how far apart the values of a sum can be.
func widthOf(m tree.Measure) float64 {
	return Scaled(new(big.Int).Sub(m.Arg.Type().Hi, m.Arg.Type().Lo), m.Step())
}
