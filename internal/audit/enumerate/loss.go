package enumerate

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/root"
)

// Loss returns the largest |ln P/Q| over all outcomes, +Inf where one of the two is
// impossible: the smallest epsilon for which the pair is purely private (Dwork,
// McSherry, Nissim, Smith 2006, Definition 1; on countable sets outcomes suffice,
// because the ratio of sums is at most the largest ratio of terms).
func Loss(p, q Law) float64 { return math.Max(oneSidedLoss(p, q), oneSidedLoss(q, p)) }

func oneSidedLoss(p, q Law) float64 {
	worst := 0.0
	for i, k := range p.outcomes {
		worst = math.Max(worst, p.logs[i]-q.atMost(k))
	}
	return worst
}

// Delta encloses the hockey-stick divergence, the sum over the outcomes of
// max(0, P - exp(epsilon) Q): the smallest delta with P(S) <= exp(epsilon) Q(S) +
// delta for all sets S (Barthe, Olmedo 2013). It looks in one direction.
func Delta(p, q Law, epsilon float64) dp.Bracket {
	e := math.Exp(epsilon)
	var listed, alone float64
	for i, k := range p.outcomes {
		if v, ok := q.log(k); ok {
			if p.logs[i] > v+epsilon {
				// P (1 - exp(epsilon) Q/P) loses no digits where the two are close.
				listed += math.Exp(p.logs[i]) * -math.Expm1(v+epsilon-p.logs[i])
			}
			continue
		}
		alone += math.Exp(p.logs[i])
	}
	b := dp.Bracket{Lower: listed, Upper: math.Min(1, listed+alone+p.rest)}
	// All of q that is not listed can be on these outcomes, and no more than that.
	if gain := alone - e*q.rest; gain > 0 {
		b.Lower += gain
	}
	return b
}

// Epsilon returns the smallest epsilon at which both directions have a delta of at
// most this one, up to 1e-12, and +Inf where none below 700 has. Delta falls as
// epsilon rises, so bisection finds it.
func Epsilon(p, q Law, delta float64) float64 {
	if delta == 0 {
		return Loss(p, q)
	}
	within := func(e float64) bool {
		return Delta(p, q, e).Lower <= delta*(1+Rounding) && Delta(q, p, e).Lower <= delta*(1+Rounding)
	}
	if within(0) {
		return 0
	}
	if !within(700) {
		return math.Inf(1)
	}
	low, _ := root.Halve(0, 700, 50, func(e float64) bool { return !within(e) })
	return low
}

// Renyi returns the Renyi divergence of order alpha > 1, ln(sum of P^alpha
// Q^(1-alpha))/(alpha - 1), over what both list; the terms are positive, so that what
// is left out only adds. It is +Inf where Q cannot be what P is.
func Renyi(p, q Law, alpha float64) float64 {
	var terms []float64
	top := math.Inf(-1)
	for i, k := range p.outcomes {
		v, ok := q.log(k)
		if !ok {
			if q.rest == 0 {
				return math.Inf(1)
			}
			continue
		}
		terms = append(terms, alpha*p.logs[i]-(alpha-1)*v)
		top = math.Max(top, terms[len(terms)-1])
	}
	sum := 0.0
	for _, t := range terms {
		sum += math.Exp(t - top)
	}
	return (top + math.Log(sum)) / (alpha - 1)
}
