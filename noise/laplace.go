package noise

import (
	"fmt"
	"math"
	"math/big"
)

// Laplace is the discrete Laplace distribution, P(k) ~ exp(-|k|/b) on the
// integers, known as the two-sided geometric distribution (Ghosh, Roughgarden,
// Sundararajan 2009). It does not change and is safe for concurrent use with
// different Sources.
type Laplace struct {
	scale *big.Rat
	l     *lattice
}

// NewLaplace returns the discrete Laplace distribution with scale b, from 2^-20
// to 2^40.
func NewLaplace(scale *big.Rat) (*Laplace, error) {
	if scale == nil || !inRange(scale, -20, 40) {
		return nil, fmt.Errorf("%w: the scale of Laplace noise must be from 2^-20 to 2^40, and is %s; choose another granularity",
			ErrScale, short(scale))
	}
	b := new(big.Rat).Set(scale)
	shift := max(0, floorLog2(b)-3) // W = 2^shift is at most b/8, and above b/16
	return &Laplace{b, newLattice(1, b.Denom(), b.Num(), uint(shift))}, nil
}

// Draw returns one draw.
func (l *Laplace) Draw(src *Source) int64 { return l.l.draw(random{src}) }

// Fill fills dst with independent draws.
func (l *Laplace) Fill(src *Source, dst []int64) {
	for i := range dst {
		dst[i] = l.l.draw(random{src})
	}
}

// Scale returns b.
func (l *Laplace) Scale() *big.Rat { return new(big.Rat).Set(l.scale) }

// Variance returns the variance, 2q/(1-q)^2 with q = exp(-1/b), for reports: it
// is a rounded number and decides nothing. It is computed as
// 1/(2 sinh^2(1/(2b))), which loses no digits where q is close to 1.
func (l *Laplace) Variance() float64 {
	b, _ := l.scale.Float64()
	s := math.Sinh(1 / (2 * b))
	return 1 / (2 * s * s)
}
