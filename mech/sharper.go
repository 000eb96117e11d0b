package mech

import (
	"fmt"

	"github.com/discreet-dp/discreet/dp"
)

// Sharper is how an answer becomes one with less noise for the difference of the two prices:
// [Sharpened] where epsilon adds up, [Averaged] where rho does.
type Sharper interface {
	// Cost is what the second answer costs after the first.
	Cost() dp.Cost
	// Off is how many steps wider the error bars are than those of the second noise.
	Off() int64
	// Holds reports whether an answer can be sharpened. It looks at nothing but what was released.
	Holds(first []int64) bool

	sharpen(r *Releaser, x Exact, first []int64) []int64
}

// NewSharper returns how an answer with some noise becomes one with less.
func NewSharper(from, to Mechanism) (Sharper, error) {
	switch to := to.(type) {
	case *Laplace:
		if from, ok := from.(*Laplace); ok {
			return NewSharpened(from, to)
		}
	case *Gaussian:
		return NewAveraged(from, to)
	}
	return nil, fmt.Errorf("%w: %s noise becomes no %s noise", ErrScale, from.Name(), to.Name())
}

// Sharpen releases x again, of which first was released before with the noise that m is from.
func (r *Releaser) Sharpen(x Exact, first []int64, m Sharper) ([]int64, error) {
	if x.Len() != len(first) || !m.Holds(first) {
		return nil, fmt.Errorf("%w: the answer before has another shape", ErrNorm)
	}
	return m.sharpen(r, x, first), nil
}
