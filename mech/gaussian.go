package mech

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
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
// Canonne, Kamath, Steinke 2020, Theorem 4: an integer query of sensitivity D
// is D^2/(2 sigma^2)-zCDP; Theorem 14: so is an integer vector of l2
// sensitivity D with independent noise in its coordinates, because Renyi
// divergences add and D^2 = sum of D_i^2. It is the *square* of D that is
// divided. The discrete Gaussian has no pure epsilon.
func NewGaussian(s dp.Sensitivity, rho dp.Amount) (*Gaussian, error) {
	if s.Norm() != dp.L2 {
		return nil, fmt.Errorf("%w: Gaussian noise needs l2, not %v", ErrNorm, s)
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

// Name returns "gaussian".
func (*Gaussian) Name() string { return "gaussian" }

// Norm returns l2.
func (*Gaussian) Norm() dp.Norm { return dp.L2 }

// Sensitivity returns the l2 bound.
func (m *Gaussian) Sensitivity() dp.Sensitivity { return m.sensitivity }

// Cost returns rho, and no pure epsilon.
func (m *Gaussian) Cost() dp.Cost { return m.cost }

// Parameter returns sigma^2.
func (m *Gaussian) Parameter() *big.Rat { return new(big.Rat).Set(m.sigma2) }

// Tail bounds P(|noise| > k) from above.
func (m *Gaussian) Tail(k int64) float64 { return m.dist.tail(k) }

// HalfWidth returns the smallest k with P(|noise| > k) <= beta. The result can
// be one too large where beta is within 1e-11 of itself to the probability at
// k-1, within 4/sigma^4 or k 2^-46 where those are larger, and a few parts in a
// thousand too large for beta below 1e-290.
func (m *Gaussian) HalfWidth(beta float64) int64 { return m.dist.halfWidth(beta) }

func (m *Gaussian) fill(src *noise.Source, out []int64) { m.sampler.Fill(src, out) }

func (m *Gaussian) law() law { return m.dist }
