package account

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/internal/privacyloss"
)

// GDP is mu-Gaussian differential privacy (Dong, Roth, Su 2022): telling two
// neighbours apart is at least as hard as telling N(0, 1) from N(mu, 1). Gaussian
// noise of deviation s on sensitivity D has mu = D/s exactly.
type GDP struct{ Mu float64 }

func (g GDP) Validate() error { return checkNonNegative("mu", g.Mu) }

// DeltaAt returns delta at epsilon, rounded up by at most 2^-41 of it: Balle, Wang
// 2018, Theorem 8; as an equivalence, Dong, Roth, Su 2022, Corollary 2.13.
func (g GDP) DeltaAt(epsilon float64) (float64, error) {
	if err := g.Validate(); err != nil {
		return 0, err
	}
	if err := checkNonNegative("epsilon", epsilon); err != nil {
		return 0, err
	}
	if g.Mu == 0 {
		return 0, nil
	}
	return numeric.Delta(g.Mu, epsilon).Upper, nil
}

// EpsilonAt returns the smallest float64 whose delta, as DeltaAt rounds it up, is
// within delta. Delta is at least 1e-299 unless mu is 0.
func (g GDP) EpsilonAt(delta float64) (float64, error) {
	if err := g.Validate(); err != nil {
		return 0, err
	}
	if err := checkAskedDelta(delta); err != nil {
		return 0, err
	}
	fits := func(epsilon float64) bool { return numeric.Delta(g.Mu, epsilon).Upper <= delta }
	switch {
	case g.Mu == 0 || fits(0):
		return 0, nil
	case delta < 1e-299:
		return 0, &ParameterError{"delta", delta, "a number of at least 1e-299 and below 1: Gaussian noise has no epsilon at 0"}
	}
	// At epsilon/mu = mu/2 + 38 delta is below Tail(38) < 1e-300; the order of
	// positive float64 numbers is that of their bits.
	high := g.Mu*g.Mu/2*(1+0x1p-40) + 38.5*g.Mu
	if !(high <= maxFloat) || !fits(high) {
		return 0, errUnbounded
	}
	lowBits, highBits := uint64(0), math.Float64bits(high)
	for highBits-lowBits > 1 {
		if mid := lowBits + (highBits-lowBits)/2; fits(math.Float64frombits(mid)) {
			highBits = mid
		} else {
			lowBits = mid
		}
	}
	return math.Float64frombits(highBits), nil
}

// Approx returns the claim at delta; see EpsilonAt.
func (g GDP) Approx(delta float64) (Approx, error) { return approxAt(g, delta) }

// ZCDP returns rho = mu^2/2: the divergence of order alpha of the two normal distributions is alpha
// mu^2/2, and post-processing does not increase it (Dong, Roth, Su 2022, Corollary B.6).
func (g GDP) ZCDP() (ZCDP, error) {
	if err := g.Validate(); err != nil {
		return ZCDP{}, err
	}
	rho, err := checkFinite(mulUp(g.Mu, g.Mu/2))
	return ZCDP{rho}, err
}

// RDP returns the curve alpha mu^2/2.
func (g GDP) RDP() (RDP, error) {
	z, err := g.ZCDP()
	if err != nil {
		return RDP{}, err
	}
	return z.RDP()
}

// Compose returns the claim of all mechanisms together: the root of the sum of
// squares (Dong, Roth, Su 2022, Corollary 3.3).
func (g GDP) Compose(others ...GDP) (GDP, error) {
	if err := checkAll(append([]GDP{g}, others...)); err != nil {
		return GDP{}, err
	}
	// The squares are of numbers of at most 1, so that they do not overflow.
	most := largestOf(g, others, func(g GDP) float64 { return g.Mu })
	if most == 0 || len(others) == 0 {
		return g, nil
	}
	sum := span{}
	for _, each := range append([]GDP{g}, others...) {
		if each.Mu > 0 {
			part := exactly(each.Mu).div(exactly(most))
			sum = sum.add(part.mul(part))
		}
	}
	mu, err := checkFinite(exactly(most).mul(sum.sqrt()).hi)
	return GDP{mu}, err
}

// Parallel returns the claim of mechanisms on disjoint parts: the largest. See
// [Pure.Parallel] for when it holds.
func (g GDP) Parallel(others ...GDP) (GDP, error) {
	if err := checkAll(append([]GDP{g}, others...)); err != nil {
		return GDP{}, err
	}
	return GDP{largestOf(g, others, func(g GDP) float64 { return g.Mu })}, nil
}

// Group returns the claim for k units at once: k mu (Dong, Roth, Su 2022, Theorem 2.14).
func (g GDP) Group(k int) (GDP, error) {
	if err := g.Validate(); err != nil {
		return GDP{}, err
	}
	if err := checkAtLeastOne("the size of a group", k); err != nil {
		return GDP{}, err
	}
	mu, err := checkFinite(mulUp(float64(k), g.Mu))
	return GDP{mu}, err
}

// PLD is what is known of a mechanism from the distribution of its privacy loss: its curve of
// (epsilon, delta) claims, enclosed. That is the most that can be known where the law is that of
// the mechanism's worst pair. The exponential mechanism's worst pair depends on its scores, and its
// law here is one that dominates them all: the curve is an upper bound, and its lower end is that
// of the bound and not of the mechanism. See package privacyloss for the laws.
//
// Without sampling the two directions of a neighbouring pair have the same law, and one Sum is
// enough. With sampling, Remove and Add differ, and the guarantee is the larger of both.
type PLD struct{ Directions []privacyloss.Sum }

// Epsilon encloses the smallest epsilon at delta.
func (p PLD) Epsilon(delta float64) (dp.Bracket, error) {
	return p.largest(func(s privacyloss.Sum) (dp.Bracket, error) { return s.Epsilon(delta) })
}

// Delta encloses the smallest delta at epsilon.
func (p PLD) Delta(epsilon float64) (dp.Bracket, error) {
	return p.largest(func(s privacyloss.Sum) (dp.Bracket, error) { return s.Delta(epsilon) })
}

func (p PLD) largest(ask func(privacyloss.Sum) (dp.Bracket, error)) (most dp.Bracket, err error) {
	for _, s := range p.Directions {
		b, err := ask(s)
		if err != nil {
			return dp.Bracket{}, err
		}
		most = dp.Bracket{Lower: max(most.Lower, b.Lower), Upper: max(most.Upper, b.Upper)}
	}
	return most, nil
}

// EpsilonAt returns the upper end of Epsilon.
func (p PLD) EpsilonAt(delta float64) (float64, error) {
	b, err := p.Epsilon(delta)
	if err != nil {
		return 0, err
	}
	return checkFinite(b.Upper)
}

// DeltaAt returns the upper end of Delta.
func (p PLD) DeltaAt(epsilon float64) (float64, error) {
	b, err := p.Delta(epsilon)
	return b.Upper, err
}

// Approx returns the claim at delta; see EpsilonAt.
func (p PLD) Approx(delta float64) (Approx, error) {
	epsilon, err := p.EpsilonAt(delta)
	return Approx{Epsilon: epsilon, Delta: delta}, err
}
