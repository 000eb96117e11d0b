package mech

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// Mechanism is a calibrated way of adding noise to an integer vector.
// Mechanisms are made by this package only and are immutable, so they may be
// shared.
type Mechanism interface {
	// Name is "laplace", "gaussian" or "radial".
	Name() string
	// Norm is the norm in which the sensitivity must be bounded.
	Norm() dp.Norm
	// Sensitivity is the bound that the noise was calibrated to.
	Sensitivity() dp.Sensitivity
	// Cost is what one release of a vector costs, whatever its length.
	Cost() dp.Cost
	// Parameter is the exact scale b of Laplace noise, the exact sigma^2 of
	// Gaussian noise, or the scale s of radial noise, in lattice steps.
	Parameter() *big.Rat
	// Tail returns an upper bound on the probability that one coordinate's
	// noise is beyond k in absolute value.
	Tail(k int64) float64
	// HalfWidth returns the smallest k >= 0 with P(|noise| > k) <= beta, for
	// one coordinate. It is never too small; see the implementations for when
	// it can be one too large. A beta that nothing satisfies (zero, NaN) gives
	// the largest int64.
	HalfWidth(beta float64) int64

	// fill draws the noise of a vector: an independent one for each element, or a radial
	// vector.
	fill(src *noise.Source, out []int64)
	// law is the distribution of one coordinate's noise.
	law() law
}

// The noise package samples scales in this range; outside of it there is no
// mechanism.
var (
	smallestScale = big.NewRat(1, 1<<20)
	largestScale  = big.NewRat(1<<40, 1)
)

var (
	// ErrNorm is returned when a sensitivity is in another norm than the
	// mechanism needs.
	ErrNorm = errors.New("this mechanism needs a sensitivity in another norm")
	// ErrNoPrivacy is returned when a mechanism is asked for without an amount
	// of privacy to spend.
	ErrNoPrivacy = errors.New("noise needs a privacy loss above zero: ask for an epsilon such as 0.1")
	// ErrScale is returned when the noise would be larger or smaller than can
	// be drawn.
	ErrScale = errors.New("the noise cannot be drawn at this scale")
)

// checkAmount refuses what calibrates no noise.
func checkAmount(a dp.Amount) error {
	switch a {
	case 0:
		return ErrNoPrivacy
	case dp.Unbounded:
		return fmt.Errorf("%w; an unbounded loss calibrates no noise", ErrNoPrivacy)
	}
	return nil
}

// checkScale compares a scale, or the square of one, to its range.
func checkScale(scale, smallest, largest *big.Rat) error {
	switch {
	case scale.Cmp(largest) > 0:
		return fmt.Errorf("%w: it is more than 2^40 lattice steps wide; spend a larger epsilon, or give the column a coarser granularity "+
			"or narrower bounds", ErrScale)
	case scale.Cmp(smallest) < 0:
		return fmt.Errorf("%w: it is less than 2^-20 of a lattice step wide; spend a smaller epsilon, or give the column a "+
			"finer granularity", ErrScale)
	}
	return nil
}
