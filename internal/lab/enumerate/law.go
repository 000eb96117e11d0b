package enumerate

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// Law is the distribution of a mechanism's outcome on one input. Outcomes are numbered; what a
// number stands for is the caller's business, and the same on all inputs.
type Law struct {
	outcomes []int64
	logs     []float64
	rest     float64
}

// NewLaw makes a law from the logarithms of probabilities, and from an upper bound on
// the probability of all outcomes that are not listed. Impossible ones can be left out.
func NewLaw(logs map[int64]float64, rest float64) Law {
	l := Law{rest: rest}
	for k, v := range logs {
		if !math.IsInf(v, -1) {
			l.outcomes = append(l.outcomes, k)
		}
	}
	slices.Sort(l.outcomes)
	for _, k := range l.outcomes {
		l.logs = append(l.logs, logs[k])
	}
	return l
}

// FromMap makes a law from probabilities that are all there are.
func FromMap(p map[int64]float64) Law {
	logs := make(map[int64]float64, len(p))
	for k, v := range p {
		logs[k] = math.Log(v)
	}
	return NewLaw(logs, 0)
}

// Outcomes returns what is listed, in rising order.
func (l Law) Outcomes() []int64 { return slices.Clone(l.outcomes) }

// Rest bounds the probability of what is not listed.
func (l Law) Rest() float64 { return l.rest }

// P returns the probability of an outcome, and 0 for one that is not listed.
func (l Law) P(outcome int64) float64 {
	v, ok := l.log(outcome)
	if !ok {
		return 0
	}
	return math.Exp(v)
}

func (l Law) log(outcome int64) (float64, bool) {
	i, ok := slices.BinarySearch(l.outcomes, outcome)
	if !ok {
		return math.Inf(-1), false
	}
	return l.logs[i], true
}

// atMost is the logarithm of an upper bound on an outcome's probability.
func (l Law) atMost(outcome int64) float64 {
	if v, ok := l.log(outcome); ok {
		return v
	}
	return math.Log(l.rest)
}

// Sum returns the probability of all that is listed, which is 1 up to the rest and
// rounding, or the law is wrong.
func (l Law) Sum() float64 {
	sum := 0.0
	for _, v := range l.logs {
		sum += math.Exp(v)
	}
	return sum
}

// Pair is a mechanism's laws on two neighbours.
type Pair struct {
	P, Q Law
	Name string // which neighbours, for the reader of a finding
}

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
		return Delta(p, q, e).Lower <= delta*(1+RoundingError) && Delta(q, p, e).Lower <= delta*(1+RoundingError)
	}
	if within(0) {
		return 0
	}
	if !within(700) {
		return math.Inf(1)
	}
	low, _ := numeric.Bisect(0, 700, 50, func(e float64) bool { return !within(e) })
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

// Pure compares the loss of all pairs to a claim of (epsilon, delta)-differential
// privacy, delta 0 for a pure one.
func Pure(subject string, epsilon, delta float64, pairs []Pair) Finding {
	f := Finding{Subject: subject, Check: "exact", Claim: epsilon, Unit: "epsilon"}
	at := ""
	for _, n := range pairs {
		if e := math.Min(Epsilon(n.P, n.Q, delta), MaxReportedLoss); e > f.Lower {
			f.Lower, at = e, n.Name
		}
	}
	f.Stands = f.Lower <= epsilon*(1+RoundingError)
	f.Detail = findingDetail(len(pairs), at)
	if delta > 0 {
		f.Detail += fmt.Sprintf(", at delta %g", delta)
	}
	return f
}

// renyiOrders are those of the Renyi divergences that a claim of rho is compared at.
var renyiOrders = []float64{1.0625, 1.25, 1.5, 2, 3, 4, 8, 16, 32}

// Concentrated compares the Renyi divergences of all pairs to a claim of rho-zCDP: that of order
// alpha is at most alpha rho (Bun, Steinke 2016, Definition 1.1). The finding is in mu = sqrt(2
// rho), the sensitivity in standard deviations, in which Gaussian noise is spoken of.
func Concentrated(subject string, rho float64, pairs []Pair) Finding {
	f := Finding{Subject: subject, Check: "exact", Claim: math.Sqrt(2 * rho), Unit: "mu"}
	at := ""
	for _, n := range pairs {
		for _, a := range renyiOrders {
			for _, d := range []float64{Renyi(n.P, n.Q, a), Renyi(n.Q, n.P, a)} {
				if mu := math.Min(math.Sqrt(math.Max(0, 2*d/a)), MaxReportedLoss); mu > f.Lower {
					f.Lower, at = mu, n.Name
				}
			}
		}
	}
	f.Stands = f.Lower <= f.Claim*(1+RoundingError)
	f.Detail = findingDetail(len(pairs), at) + fmt.Sprintf(", Renyi orders %g to %g", renyiOrders[0], renyiOrders[len(renyiOrders)-1])
	return f
}

func findingDetail(pairs int, at string) string {
	if pairs == 1 {
		return "neighbours " + at
	}
	return fmt.Sprintf("%d pairs of neighbours, worst %s", pairs, at)
}
