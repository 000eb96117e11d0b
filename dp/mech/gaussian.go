package mech

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// Gaussian adds discrete Gaussian noise, P(k) ~ exp(-k^2/(2 sigma^2)).
type Gaussian struct {
	sensitivity dp.Sensitivity
	cost        dp.Cost
	sigma2      *big.Rat
	sampler     *noise.Gaussian
	dist        gaussianLaw
}

// NewGaussian calibrates Gaussian noise to an l2 sensitivity: sigma^2 = D2^2/(2
// rho), as an exact rational, so that the cost is exactly rho.
//
// Canonne, Kamath, Steinke 2020, Theorem 4: an integer query of sensitivity D is D^2/(2
// sigma^2)-zCDP; Theorem 14: so is an integer vector of l2 sensitivity D with independent noise in
// its coordinates, because Renyi divergences add and D^2 = sum of D_i^2. It is the *square* of D
// that is divided. The discrete Gaussian has no pure epsilon.
func NewGaussian(s dp.Sensitivity, rho dp.Amount) (*Gaussian, error) {
	if s.Norm() != dp.L2 {
		return nil, fmt.Errorf("%w: Gaussian noise needs l2, not %v", errNorm, s)
	}
	if err := checkAmount(rho); err != nil {
		return nil, err
	}
	sigma2 := new(big.Rat).SetInt(s.L2Squared())
	sigma2.Quo(sigma2, rho.Rat())
	sigma2.Quo(sigma2, big.NewRat(2, 1))
	square := func(r *big.Rat) *big.Rat { return new(big.Rat).Mul(r, r) }
	if err := checkScale(sigma2, square(smallestScale), square(largestScale)); err != nil {
		return nil, err
	}
	sampler, err := noise.NewGaussian(new(big.Rat).Set(sigma2))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrScale, err)
	}
	return &Gaussian{
		sensitivity: s,
		cost:        dp.Cost{Epsilon: dp.Unbounded, Rho: rho},
		sigma2:      sigma2,
		sampler:     sampler,
		dist:        newGaussianLaw(sigma2),
	}, nil
}

func (*Gaussian) Name() string                  { return "gaussian" }
func (*Gaussian) Norm() dp.Norm                 { return dp.L2 }
func (m *Gaussian) Sensitivity() dp.Sensitivity { return m.sensitivity }
func (m *Gaussian) Cost() dp.Cost               { return m.cost }
func (m *Gaussian) Parameter() *big.Rat         { return new(big.Rat).Set(m.sigma2) }
func (m *Gaussian) Tail(k int64) float64        { return m.dist.tail(k) }

// HalfWidth returns the smallest k with P(|noise| > k) <= beta. The result can be one too large
// where beta is within 1e-11 of itself to the probability at k-1, within 4/sigma^4 or k 2^-46 where
// those are larger, and a few parts in a thousand too large for beta below 1e-290.
func (m *Gaussian) HalfWidth(beta float64) int64 { return m.dist.halfWidth(beta) }

func (m *Gaussian) fill(src *noise.Source, out []int64) { m.sampler.Fill(src, out) }
func (m *Gaussian) law() law                            { return m.dist }

// gaussianLaw is P(k) = exp(-k^2/(2 s^2))/Z.
type gaussianLaw struct{ numeric.Lattice }

// Below this s a block is summed term by term. Blocks are many and their
// errors add up, so they get the exact sum for longer.
const maxSummedDeviation = 1024

func newGaussianLaw(sigma2 *big.Rat) gaussianLaw {
	s2, _ := sigma2.Float64()
	return gaussianLaw{numeric.NewLattice(s2)}
}

func (l gaussianLaw) tail(k int64) float64 {
	if k < 0 {
		return 1
	}
	if float64(k) >= numeric.LastDeviation*l.S {
		return l.subgaussian(float64(k))
	}
	var p float64
	if l.S >= numeric.SummedBelowSigma {
		p = l.TailBeyond(float64(k))
	} else {
		var sum float64
		for j := l.Last(); j > k; j-- {
			sum += l.Weight(float64(j))
		}
		p = 2*sum/l.Z*(1+numeric.SumError) + 1e-300
	}
	return math.Min(1, p)
}

// subgaussian is P(|X| >= k) <= 2 exp(-k^2/(2 s^2)): Chernoff's bound with logMGF.
func (l gaussianLaw) subgaussian(k float64) float64 {
	x := k * k / (2 * l.S2)
	return math.Min(1, 2*math.Exp(-x)*(1+(x+4)*0x1p-49)+2*math.SmallestNonzeroFloat64)
}

func (l gaussianLaw) halfWidth(beta float64) int64 {
	if !(beta > 0) {
		return math.MaxInt64
	}
	if beta >= 1 {
		return 0
	}
	// P(|X| > k) <= 2 exp(-(k+1)^2/(2 s^2)) gives a k that is always enough.
	upper := roundUp(l.S * math.Sqrt(2*(math.Ln2-math.Log(beta))) * (1 + 0x1p-48))
	switch {
	case beta < smallestTail:
		return upper
	case l.S < numeric.SummedBelowSigma:
		return l.HalfWidth(beta)
	}
	_, high := numeric.BisectWhole(-1, upper, func(k int64) bool { return !(l.tail(k) <= beta) })
	return high
}

func (l gaussianLaw) block(lo, hi int64) (mass, err float64) {
	if lo <= 0 {
		if hi == 0 {
			return 1 / l.Z, numeric.SumError / l.Z
		}
		mass, err = l.block(1, hi)
		return 2*mass + 1/l.Z, 2*err + numeric.SumError/l.Z
	}
	if lo == hi || l.S < maxSummedDeviation {
		var sum float64
		for j := min(hi, l.Last()); j >= lo; j-- {
			sum += l.Weight(float64(j))
		}
		mass = sum / l.Z
		return mass, mass*numeric.SumError + 1e-300
	}
	a, errA := l.SumBeyond(float64(lo - 1))
	b, errB := l.SumBeyond(float64(hi))
	mass = math.Max(0, a-b) / l.Z
	return mass, (errA+errB)/l.Z + mass*0x1p-50
}

// logMGF: E exp(tX) is exp(t^2 s^2/2) times the quotient of the sum of g over the integers shifted
// by t s^2 and the sum over the integers, and no shift makes that sum larger (Poisson summation;
// Canonne, Kamath, Steinke 2020 say it of their discrete Gaussian's tails).
func (l gaussianLaw) logMGF(t float64) float64 { return t * t * l.S2 / 2 * (1 + 0x1p-50) }

func (l gaussianLaw) horizon() float64 { return math.Inf(1) }

// variance is that of the continuous Gaussian from s = 1 up, and the sum of the first terms below.
func (l gaussianLaw) variance() float64 {
	if l.S >= 1 {
		return l.S2
	}
	sum := 0.0
	for k := 1.0; k < 8; k++ {
		sum += 2 * k * k * l.Weight(k)
	}
	return sum / l.Z
}
