package mech

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// Described is noise that somebody else has drawn, of which its name and its parameter are known.
// It has error bars and a variance, alone and in [HalfWidthOfSum], and is never drawn here. It
// claims nothing about privacy: what it cost is known where it was drawn.
type Described struct {
	name      string
	parameter *big.Rat
	dist      law
}

// NewDescribed returns noise by the name and the parameter that [Mechanism] has: "laplace" with its
// scale, or "gaussian" with its variance, in lattice steps.
func NewDescribed(name string, parameter *big.Rat) (*Described, error) {
	if parameter == nil {
		return nil, fmt.Errorf("%w: it has no parameter", ErrScale)
	}
	m := &Described{name: name, parameter: new(big.Rat).Set(parameter)}
	square := func(r *big.Rat) *big.Rat { return new(big.Rat).Mul(r, r) }
	var err error
	switch name {
	case "laplace":
		if err = checkScale(parameter, smallestScale, largestScale); err == nil {
			m.dist = newLaplaceLaw(parameter)
		}
	case "gaussian":
		if err = checkScale(parameter, square(smallestScale), square(largestScale)); err == nil {
			m.dist = newGaussianLaw(parameter)
		}
	default:
		err = fmt.Errorf("%w: there is no noise that is described as %q", ErrScale, name)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Name returns the name that it was described by.
func (m *Described) Name() string { return m.name }

// Norm returns that of the noise of this name.
func (m *Described) Norm() dp.Norm {
	if m.name == "laplace" {
		return dp.L1
	}
	return dp.L2
}

// Sensitivity is not known: it is zero.
func (*Described) Sensitivity() dp.Sensitivity { return dp.Sensitivity{} }

// Cost is not known, and no limit admits that.
func (*Described) Cost() dp.Cost {
	return dp.Cost{Epsilon: dp.Unbounded, Rho: dp.Unbounded, Delta: dp.Unbounded}
}

// Parameter returns the parameter that it was described by.
func (m *Described) Parameter() *big.Rat { return new(big.Rat).Set(m.parameter) }

// Tail bounds P(|noise| > k) from above.
func (m *Described) Tail(k int64) float64 { return m.dist.tail(k) }

// HalfWidth returns a k with P(|noise| > k) <= beta.
func (m *Described) HalfWidth(beta float64) int64 { return m.dist.halfWidth(beta) }

func (*Described) fill(*noise.Source, []int64) { panic(ErrAlone) }

func (m *Described) law() law { return m.dist }
