package account

import (
	"math"

	"github.com/discreet-dp/discreet/internal/normal"
)

// Pure is pure epsilon-differential privacy (Dwork, McSherry, Nissim, Smith 2006).
type Pure struct{ Epsilon float64 }

// Validate refuses what is no claim.
func (p Pure) Validate() error { return nonNegative("epsilon", p.Epsilon) }

// Approx is the same claim with a delta of zero.
func (p Pure) Approx() Approx { return Approx{Epsilon: p.Epsilon} }

// EpsilonAt returns the smallest epsilon that is implied at delta: that of randomized
// response, which dominates every pure mechanism. See [Approx.DeltaAt].
func (p Pure) EpsilonAt(delta float64) (float64, error) { return p.Approx().EpsilonAt(delta) }

// DeltaAt returns the smallest delta that is implied at epsilon.
func (p Pure) DeltaAt(epsilon float64) (float64, error) { return p.Approx().DeltaAt(epsilon) }

// Compose returns the claim of all mechanisms together: the sum (Dwork et al.
// 2006).
func (p Pure) Compose(others ...Pure) (Pure, error) {
	if err := validated(append([]Pure{p}, others...)); err != nil {
		return Pure{}, err
	}
	e, err := finite(sumUp(p, others, func(p Pure) float64 { return p.Epsilon }))
	return Pure{e}, err
}

// Parallel returns the claim of mechanisms on disjoint parts of the data, where
// the parts are fixed and a neighbour differs in one part only: the largest
// (McSherry 2009, Theorem 4). Under substitution a unit may leave one part and
// enter another; then the claim is for the composition of two parts.
func (p Pure) Parallel(others ...Pure) (Pure, error) {
	if err := validated(append([]Pure{p}, others...)); err != nil {
		return Pure{}, err
	}
	return Pure{largestOf(p, others, func(p Pure) float64 { return p.Epsilon })}, nil
}

// Group returns the claim for k units at once: k epsilon (Dwork, Roth 2014, Theorem 2.2).
func (p Pure) Group(k int) (Pure, error) {
	if err := p.Validate(); err != nil {
		return Pure{}, err
	}
	if err := atLeastOne("the size of a group", k); err != nil {
		return Pure{}, err
	}
	e, err := finite(mulUp(float64(k), p.Epsilon))
	return Pure{e}, err
}

// ZCDP returns the zero-concentrated claim: rho = epsilon tanh(epsilon/2), the
// divergence of randomized response at order 1, which is at most the epsilon^2/2
// of Bun, Steinke 2016, Proposition 3.3.
func (p Pure) ZCDP() (ZCDP, error) {
	if err := p.Validate(); err != nil {
		return ZCDP{}, err
	}
	rho, err := finite(responseRho(p.Epsilon))
	return ZCDP{rho}, err
}

// responseRho is epsilon tanh(epsilon/2) = epsilon (1 - exp(-epsilon))/(1 +
// exp(-epsilon)), rounded up.
func responseRho(epsilon float64) float64 {
	if epsilon == 0 {
		return 0
	}
	e := exactly(epsilon)
	return e.mul(e.oneMinusExpMinus().div(exactly(1).add(e.expMinus())).atMost(1)).hi
}

// RDP returns the curve of randomized response, which dominates every pure
// mechanism; see [Approx.DeltaAt].
func (p Pure) RDP() (RDP, error) {
	if err := p.Validate(); err != nil {
		return RDP{}, err
	}
	return NewRDP(func(alpha float64) float64 { return pureCurve(p.Epsilon, alpha) }), nil
}

// GDP returns the Gaussian claim mu = 2 Phi^-1(exp(epsilon)/(1 + exp(epsilon))).
// The trade-off function of a pure claim (Wasserman, Zhou 2010) is the polygon through
// (0, 1), the fixed point (1/(1+exp(epsilon)), same) and (1, 0). The trade-off
// function of mu-GDP is convex and goes through the same three points, so it lies
// below the polygon, its chords: a weaker claim (Dong, Roth, Su 2022, Definition
// 2.3). No smaller mu is below the fixed point.
func (p Pure) GDP() (GDP, error) {
	if err := p.Validate(); err != nil {
		return GDP{}, err
	}
	var x float64 // the normal quantile with tail 1/(1 + exp(epsilon))
	switch e := p.Epsilon; {
	case e == 0:
		return GDP{}, nil
	case e < 2:
		// The tail is 1/2 - tanh(epsilon/2)/2.
		x = math.Sqrt2 * math.Erfinv(-math.Expm1(-e)/(1+math.Exp(-e)))
	default:
		x = normal.LogQuantile(-e - math.Log1p(math.Exp(-e)))
	}
	// Both ways are within 2^-47: the quantile's 2^-48 and its argument's
	// rounding, which the quantile does not multiply by more than 2.
	mu, err := finite(2 * x * (1 + 0x1p-45))
	return GDP{mu}, err
}
