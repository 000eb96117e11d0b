package noise

import (
	"fmt"
	"math"
	"math/big"
)

// Gaussian is the discrete Gaussian distribution, P(k) ~ exp(-k^2/(2 sigma^2)) on
// the integers (Canonne, Kamath, Steinke 2020, Definition 1). It does not change
// and is safe for concurrent use with different Sources.
type Gaussian struct {
	sigma2 *big.Rat
	l      *lattice
}

// NewGaussian returns the discrete Gaussian distribution with the parameter
// sigma^2, from 2^-40 to 2^80. The variance is below sigma^2, and hardly so from
// sigma = 1 on (Canonne, Kamath, Steinke 2020).
func NewGaussian(sigma2 *big.Rat) (*Gaussian, error) {
	if sigma2 == nil || !inRange(sigma2, -40, 80) {
		return nil, fmt.Errorf("%w: the sigma^2 of Gaussian noise must be from 2^-40 to 2^80, and is %s; choose another granularity",
			ErrScale, short(sigma2))
	}
	s := new(big.Rat).Set(sigma2)
	// W = 2^shift is at most sigma/8, and above sigma/16: 64 W^2 <= sigma^2 < 256 W^2.
	shift := max(0, (floorLog2(s)-6)>>1)
	return &Gaussian{s, newLattice(2, s.Denom(), new(big.Int).Lsh(s.Num(), 1), uint(shift))}, nil
}

// Draw returns one draw.
func (g *Gaussian) Draw(src *Source) int64 { return g.l.draw(random{src}) }

// Fill fills dst with independent draws.
func (g *Gaussian) Fill(src *Source, dst []int64) {
	for i := range dst {
		dst[i] = g.l.draw(random{src})
	}
}

// Sigma2 returns sigma^2.
func (g *Gaussian) Sigma2() *big.Rat { return new(big.Rat).Set(g.sigma2) }

// Variance returns the variance, for reports: it is a rounded number and decides
// nothing. From sigma^2 = 4 on it differs from sigma^2 by a share of less than
// 1e-30, because the Poisson sum of the distribution has its next term at
// exp(-2 pi^2 sigma^2).
func (g *Gaussian) Variance() float64 {
	s, _ := g.sigma2.Float64()
	if s >= 4 {
		return s
	}
	total, squares := 1.0, 0.0
	for k := 1.0; k < 40; k++ {
		w := 2 * math.Exp(-k*k/(2*s))
		total += w
		squares += k * k * w
	}
	return squares / total
}
