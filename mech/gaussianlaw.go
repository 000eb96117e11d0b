package mech

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/normal"
	"github.com/discreet-dp/discreet/internal/root"
)

// gaussianLaw is P(k) = exp(-k^2/(2 s^2))/Z.
type gaussianLaw struct{ normal.Lattice }

// Below this s a block is summed term by term. Blocks are many and their
// errors add up, so they get the exact sum for longer.
const summedBlock = 1024

func newGaussianLaw(sigma2 *big.Rat) gaussianLaw {
	s2, _ := sigma2.Float64()
	return gaussianLaw{normal.NewLattice(s2)}
}

func (l gaussianLaw) tail(k int64) float64 {
	if k < 0 {
		return 1
	}
	if float64(k) >= normal.Farthest*l.S {
		return l.subgaussian(float64(k))
	}
	var p float64
	if l.S >= normal.SumsBelow {
		p = l.TailBeyond(float64(k))
	} else {
		var sum float64
		for j := l.Last(); j > k; j-- {
			sum += l.Weight(float64(j))
		}
		p = 2*sum/l.Z*(1+normal.SumError) + 1e-300
	}
	return math.Min(1, p)
}

// subgaussian is P(|X| >= k) <= 2 exp(-k^2/(2 s^2)): Chernoff's bound with
// logMGF.
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
	enough := roundUp(l.S * math.Sqrt(2*(math.Ln2-math.Log(beta))) * (1 + 0x1p-48))
	switch {
	case beta < tiny:
		return enough
	case l.S < normal.SumsBelow:
		return l.HalfWidth(beta)
	}
	_, high := root.Whole(-1, enough, func(k int64) bool { return !(l.tail(k) <= beta) })
	return high
}

func (l gaussianLaw) block(lo, hi int64) (mass, err float64) {
	if lo <= 0 {
		if hi == 0 {
			return 1 / l.Z, normal.SumError / l.Z
		}
		mass, err = l.block(1, hi)
		return 2*mass + 1/l.Z, 2*err + normal.SumError/l.Z
	}
	if lo == hi || l.S < summedBlock {
		var sum float64
		for j := min(hi, l.Last()); j >= lo; j-- {
			sum += l.Weight(float64(j))
		}
		mass = sum / l.Z
		return mass, mass*normal.SumError + 1e-300
	}
	a, errA := l.Beyond(float64(lo - 1))
	b, errB := l.Beyond(float64(hi))
	mass = math.Max(0, a-b) / l.Z
	return mass, (errA+errB)/l.Z + mass*0x1p-50
}

// logMGF: E exp(tX) is exp(t^2 s^2/2) times the quotient of the sum of g over
// the integers shifted by t s^2 and the sum over the integers, and no shift
// makes that sum larger (Poisson summation; Canonne, Kamath, Steinke 2020 say
// it of their discrete Gaussian's tails).
func (l gaussianLaw) logMGF(t float64) float64 { return t * t * l.S2 / 2 * (1 + 0x1p-50) }

func (l gaussianLaw) horizon() float64 { return math.Inf(1) }

// variance is that of the continuous Gaussian from s = 1 up, and the sum of the
// first terms below.
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
