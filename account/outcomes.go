package account

import (
	"cmp"
	"math"
	"slices"
)

// outcomes is the privacy loss of randomized responses with different epsilons,
// every value with its probability, largest loss first.
//
// A loss is a sum that was rounded, within slack of the true one. Moving every loss up
// by slack moves epsilon by slack, so that is how it is paid for.
type outcomes struct {
	all   []outcome
	slack float64
}

type outcome struct {
	loss        float64
	probability span
}

// mostOutcomes bounds what is enumerated: a fraction of a second.
const mostOutcomes = 1 << 20

// enumerated multiplies the binomial distributions of the groups, if they have few
// enough values.
func enumerated(groups []Repeated) (outcomes, bool) {
	count := 1
	for _, g := range groups {
		if g.Times >= mostOutcomes || count*(g.Times+1) > mostOutcomes {
			return outcomes{}, false
		}
		count *= g.Times + 1
	}
	all := append(make([]outcome, 0, count), outcome{0, exactly(1)})
	size := 0.0
	for _, g := range groups {
		r := responses{g.Epsilon, g.Times}
		size += float64(g.Times) * g.Epsilon
		before := slices.Clone(all)
		all = all[:0]
		for j := 0; j <= g.Times; j++ {
			lo, hi := r.logProbability(j)
			p := span{below(math.Exp(lo)), above(math.Exp(hi))}
			loss := float64(g.Times-2*j) * g.Epsilon
			for _, o := range before {
				all = append(all, outcome{o.loss + loss, o.probability.mul(p)})
			}
		}
	}
	slices.SortFunc(all, func(a, b outcome) int { return cmp.Compare(b.loss, a.loss) })
	// One product and one sum for each group, each rounded by at most roundoff
	// of size, and size itself.
	return outcomes{all, size * roundoff * float64(4*len(groups)+4)}, true
}

func (o outcomes) delta(epsilon float64) span {
	// The shift also covers its own rounding.
	shift := o.slack + epsilon*0x1p-51
	return span{o.exact(epsilon + shift).lo, o.exact(epsilon - shift).hi}
}

// exact is delta for the losses as they stand. Epsilon may be negative.
func (o outcomes) exact(epsilon float64) span {
	t := tally{}
	at := math.Inf(1)
	for _, next := range o.all {
		if next.loss <= epsilon {
			break
		}
		t.reach(at, next)
		at = next.loss
	}
	if math.IsInf(at, 1) {
		return span{}
	}
	gap := at - epsilon
	return t.shifted(span{down(gap), up(gap)})
}

// reach descends from the loss at to the next outcome.
func (t *tally) reach(at float64, next outcome) {
	if math.IsInf(at, 1) {
		t.mass = next.probability
		return
	}
	gap := at - next.loss
	if gap == 0 {
		t.mass = t.mass.add(next.probability)
		return
	}
	g := span{down(gap), up(gap)}
	t.descend(g.oneMinusExpMinus(), g.expMinus(), next.probability)
}

func (o outcomes) epsilon(x span) span {
	t := tally{}
	at := math.Inf(1)
	limit := math.Inf(1)
	for _, next := range o.all {
		if !math.IsInf(at, 1) {
			gap := at - next.loss
			if t.shifted(span{down(gap), up(gap)}).hi > x.lo && gap > 0 {
				limit = gap
				break
			}
		}
		t.reach(at, next)
		at = next.loss
		if at < -o.slack {
			break // Epsilon is zero.
		}
	}
	s := t.shift(x)
	s.lo = math.Min(s.lo, down(limit))
	slack := o.slack + math.Abs(at)*0x1p-50 // and the rounding below
	return span{down(at - s.hi - slack), upper(at - s.lo + slack)}
}
