package mech

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/noise"
)

// Average is the noise of a number that [Averaged] has made: that of Gaussian noise at the same
// price, and some steps more. It is never drawn by itself.
type Average struct {
	*Gaussian
	off int64
}

// NewAverage returns the noise of an average at the price of m, which is off by so many steps more.
func NewAverage(m *Gaussian, off int64) (*Average, error) {
	if off < 1 {
		return nil, fmt.Errorf("%w: an average is rounded", ErrScale)
	}
	return &Average{m, off}, nil
}

// Name returns "averaged".
func (*Average) Name() string { return "averaged" }

// Off is how many steps more the number is off.
func (m *Average) Off() int64 { return m.off }

// Tail bounds P(|noise| > k) from above.
func (m *Average) Tail(k int64) float64 {
	if k < m.off {
		return 1
	}
	return m.Gaussian.Tail(k - m.off)
}

// HalfWidth returns a k with P(|noise| > k) <= beta.
func (m *Average) HalfWidth(beta float64) int64 {
	if w := m.Gaussian.HalfWidth(beta); w <= math.MaxInt64-m.off {
		return w + m.off
	}
	return math.MaxInt64
}

func (m *Average) fill(*noise.Source, []int64) { panic(ErrAlone) }
