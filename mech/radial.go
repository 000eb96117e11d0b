package mech

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// Radial adds a random vector of density ~ exp(-|b|/s), |b| its Euclidean norm,
// rounded to integers: pure privacy for an l2 sensitivity.
type Radial struct {
	sensitivity dp.Sensitivity
	cost        dp.Cost
	scale       *big.Rat
	dist        radialLaw
}

// ErrLength is returned when radial noise is asked for a vector that has no
// coordinates, or too many for the noise to fit in an int64.
var ErrLength = errors.New("radial noise is for vectors of 1 to 2^20 numbers")

// A coordinate that does not fit in an int64 becomes its end. With s up to 2^40 that takes a norm
// of 2^23 s, and for n up to 2^20 a Gamma(n) number is above 2^23 with a probability below exp(2^20
// (1 + ln 8) - 2^23), less than exp(-2^22): as rare as for Laplace noise.
const mostRadial = 1 << 20

// NewRadial calibrates radial noise for vectors of length n to an l2 sensitivity:
// s = D2/epsilon, rounded up to a rational number.
//
// Hardt, Talwar 2010, Section 4 (the K-norm mechanism) with the unit ball as K; Chaudhuri,
// Monteleoni, Sarwate 2011, Theorem 6, use the same noise. Between neighbours x and y the density
// at any v changes by the factor exp((|v-y| - |v-x|)/s), at most exp(D2/s) <= exp(epsilon), by the
// triangle inequality. That is said of the real vector x + b. What is released is x + round(b), and
// because x has integer coordinates that is round(x + b): a function of the real vector, which
// needs no data. The real numbers are not approximated: package noise draws digits until the
// rounding is certain.
//
// The claim does not depend on n. It is needed for HalfWidth: the norm of the
// noise is about n s, and a coordinate's deviation about s sqrt(n+1).
//
// The square root of D2^2 is the only number here that need not be rational. A
// larger s is more private, so it is rounded up, by a part in 2^64 at most.
func NewRadial(s dp.Sensitivity, n int, epsilon dp.Amount) (*Radial, error) {
	if s.Norm() != dp.L2 {
		return nil, fmt.Errorf("%w: radial noise needs l2, not %v", ErrNorm, s)
	}
	if n < 1 || n > mostRadial {
		return nil, fmt.Errorf("%w, and not %d", ErrLength, n)
	}
	if err := checkAmount(epsilon); err != nil {
		return nil, err
	}
	scale := rootUp(s.L2Squared())
	scale.Quo(scale, epsilon.Rat())
	if err := checkScale(scale, smallestScale, largestScale); err != nil {
		return nil, err
	}
	rho, err := dp.CeilFloat(dp.RhoOfPure(epsilon.Float()))
	if err != nil {
		return nil, err
	}
	return &Radial{
		sensitivity: s,
		cost:        dp.Cost{Epsilon: epsilon, Rho: rho},
		scale:       scale,
		dist:        newRadialLaw(scale, n),
	}, nil
}

// rootUp returns the square root of an integer, or the next multiple of 2^-64 above it.
func rootUp(square *big.Int) *big.Rat {
	const digits = 64
	fine := new(big.Int).Lsh(square, 2*digits)
	root := new(big.Int).Sqrt(fine)
	if new(big.Int).Mul(root, root).Cmp(fine) < 0 {
		root.Add(root, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(root, new(big.Int).Lsh(big.NewInt(1), digits))
}

// Name returns "radial".
func (*Radial) Name() string { return "radial" }

// Norm returns l2.
func (*Radial) Norm() dp.Norm { return dp.L2 }

// Sensitivity returns the l2 bound.
func (m *Radial) Sensitivity() dp.Sensitivity { return m.sensitivity }

// Cost returns the pure epsilon, and the rho that follows from every pure epsilon.
func (m *Radial) Cost() dp.Cost { return m.cost }

// Parameter returns the scale s.
func (m *Radial) Parameter() *big.Rat { return new(big.Rat).Set(m.scale) }

// Tail bounds P(|noise| > k) of one coordinate from above, for vectors of the length that
// the mechanism was made for, and for shorter ones.
func (m *Radial) Tail(k int64) float64 { return m.dist.tail(k) }

// HalfWidth returns a k with P(|noise| > k) <= beta for one coordinate. It is the smallest for odd
// lengths up to 16,000, but for rounding; for an even length n it is that of n + 1, too large by a
// share of about 1/(2n); for longer vectors it is Chernoff's, some tenths too large.
func (m *Radial) HalfWidth(beta float64) int64 { return m.dist.halfWidth(beta) }

func (m *Radial) fill(src *noise.Source, out []int64) {
	copy(out, noise.NewRadial(src, len(out)).Round(m.scale))
}

func (m *Radial) law() law { return m.dist }
