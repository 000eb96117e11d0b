package mech

import (
	"fmt"
	"math"
	"math/big"
	"sync"

	"github.com/discreet-dp/discreet/noise"
)

// Reals is a vector of real noise for objective perturbation: it enters a function that
// is minimised, and the minimiser is released. Its digits are drawn as they are
// asked for; the numbers are those that they are from the beginning. It is safe
// for concurrent use, and prints as [noise].
type Reals struct {
	scale float64
	mu    sync.Mutex
	reals *noise.Reals
}

// Names of the calls that [Releaser.Reals] is recorded as.
const (
	ObjectiveRadial   = "objective radial"
	ObjectiveGaussian = "objective gaussian"
)

// Reals draws n real numbers: of density ~ exp(-|b|/scale) with the Euclidean norm,
// or independent normal ones of standard deviation scale where gaussian is true. It
// panics where the scale is not a positive number.
//
// The noise alone promises nothing: what the minimiser costs is computed by package
// learn/calibrate, and that only a function of the exact minimiser leaves is the
// caller's part. It is recorded as a call without values, whose Parameter is the scale.
//
// How many digits are asked for later can depend on private values. So the numbers
// have a source of their own, and nothing that this releaser draws for others depends on it.
func (r *Releaser) Reals(n int, gaussian bool, scale float64) *Reals {
	if !(scale > 0) || math.IsInf(scale, 1) {
		panic("mech: real noise needs a positive scale")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	name, draw := ObjectiveRadial, noise.NewRadial
	if gaussian {
		name, draw = ObjectiveGaussian, noise.NewNormals
	}
	out := &Reals{scale: scale, reals: draw(r.src.Split(), n)}
	if r.record != nil {
		r.record(Call{Mechanism: name, Parameter: new(big.Rat).SetFloat64(scale), Values: Exactly()})
	}
	return out
}

// Len returns how many numbers there are.
func (r *Reals) Len() int { return r.reals.Len() }

// Scale returns what the numbers were multiplied by.
func (r *Reals) Scale() float64 { return r.scale }

// Format hides the numbers.
func (*Reals) Format(f fmt.State, _ rune) { fmt.Fprint(f, "[noise]") }

// Approximate returns every number with an error of at most 2^-bits. Asked again with
// more bits, it returns better approximations of the same numbers.
func (r *Reals) Approximate(bits uint) []*big.Float {
	r.mu.Lock()
	defer r.mu.Unlock()
	// scale < 2^exponent, and products are not rounded: an error of 2^-(bits + exponent)
	// becomes less than 2^-bits.
	_, exponent := math.Frexp(r.scale)
	out := r.reals.Approximate(uint(max(0, int(bits)+exponent)))
	scale := big.NewFloat(r.scale)
	for i, x := range out {
		out[i] = new(big.Float).SetPrec(x.Prec()+scale.Prec()).Mul(x, scale)
	}
	return out
}
