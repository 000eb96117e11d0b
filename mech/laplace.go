package mech

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// Laplace adds discrete Laplace noise, P(k) ~ exp(-|k|/b).
type Laplace struct {
	sensitivity dp.Sensitivity
	cost        dp.Cost
	scale       *big.Rat
	sampler     *noise.Laplace
	dist        laplaceLaw
}

// NewLaplace calibrates Laplace noise to an l1 sensitivity: b = D1/epsilon, as
// an exact rational, so that the cost is exactly epsilon.
//
// Between neighbours x and y the probability of any output z changes by the
// factor exp((|z-y| - |z-x|)/b) summed over the coordinates, at most exp(D1/b)
// = exp(epsilon): Dwork, McSherry, Nissim, Smith 2006, Theorem 1, on the
// integers (Ghosh, Roughgarden, Sundararajan 2009).
func NewLaplace(s dp.Sensitivity, epsilon dp.Amount) (*Laplace, error) {
	if s.Norm() != dp.L1 {
		return nil, fmt.Errorf("%w: Laplace noise needs l1, not %v", ErrNorm, s)
	}
	if err := checkAmount(epsilon); err != nil {
		return nil, err
	}
	scale := new(big.Rat).SetInt(s.L1())
	scale.Quo(scale, epsilon.Rat())
	if err := checkScale(scale, smallestScale, largestScale); err != nil {
		return nil, err
	}
	rho, err := rhoOfLaplace(s.L1(), epsilon)
	if err != nil {
		return nil, err
	}
	sampler, err := noise.NewLaplace(new(big.Rat).Set(scale))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrScale, err)
	}
	return &Laplace{
		sensitivity: s,
		cost:        dp.Cost{Epsilon: epsilon, Rho: rho},
		scale:       scale,
		sampler:     sampler,
		dist:        newLaplaceLaw(scale),
	}, nil
}

// rhoOfLaplace returns the zCDP cost of Laplace noise with b = D/epsilon,
// rounded up.
//
// One coordinate that moves D steps costs, with a = 1/b and q = exp(-a),
//
//	rho(D) = a (D - 2q/(1-q^2) (1 - q^D)) = epsilon - (a/sinh a) (1 - exp(-epsilon)),
//
// the Kullback-Leibler divergence, which is the largest of D_alpha/alpha
// (Harrison, Manurangsi 2025, the tight bound for discrete Laplace; our tests
// compute D_alpha/alpha besides).
//
// A vector can move in several coordinates, D = sum of D_i, and Renyi
// divergences of independent coordinates add. rho is convex in D, because q^D
// is, and rho(0) = 0, so it is superadditive: rho(D_1) + ... + rho(D_n) <=
// rho(D_1 + ... + D_n). The worst split is no split, and rho(D) holds for all
// vectors. rho also increases in D, so moving less costs less.
//
// Whatever has a pure epsilon costs dp.RhoOfPure at most. At D = 1 the two are
// equal; rounding takes the smaller.
func rhoOfLaplace(d *big.Int, epsilon dp.Amount) (dp.Amount, error) {
	e := epsilon.Float()
	steps, _ := new(big.Float).SetInt(d).Float64()
	a := e / steps
	// Each factor is within a few units in the last place, and both terms are
	// at most e, so 2^-48 e is more than all rounding errors together. That is
	// below one unit of account for every epsilon up to 2^8.
	lattice := e + a/math.Sinh(a)*math.Expm1(-e) + e*0x1p-48
	return dp.CeilFloat(math.Min(lattice, dp.RhoOfPure(e)))
}

// Name returns "laplace".
func (*Laplace) Name() string { return "laplace" }

// Norm returns l1.
func (*Laplace) Norm() dp.Norm { return dp.L1 }

// Sensitivity returns the l1 bound.
func (m *Laplace) Sensitivity() dp.Sensitivity { return m.sensitivity }

// Cost returns the pure epsilon, and the rho that follows on this lattice.
func (m *Laplace) Cost() dp.Cost { return m.cost }

// Parameter returns the scale b.
func (m *Laplace) Parameter() *big.Rat { return new(big.Rat).Set(m.scale) }

// Tail bounds P(|noise| > k) from above, by its closed form.
func (m *Laplace) Tail(k int64) float64 { return m.dist.tail(k) }

// HalfWidth returns the smallest k with P(|noise| > k) <= beta. The result can
// be one too large where beta is within k 2^-48 of itself to the probability at
// k-1.
func (m *Laplace) HalfWidth(beta float64) int64 { return m.dist.halfWidth(beta) }

func (m *Laplace) fill(src *noise.Source, out []int64) { m.sampler.Fill(src, out) }

func (m *Laplace) law() law { return m.dist }
