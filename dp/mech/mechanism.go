package mech

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"sync"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/sealed"
)

// Mechanism is a calibrated way of adding noise to an integer vector. Mechanisms are made by this
// package only and are immutable, so they may be shared.
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
	// HalfWidth returns the smallest k >= 0 with P(|noise| > k) <= beta, for one coordinate. It is
	// never too small; see the implementations for when it can be one too large. A beta that
	// nothing satisfies (zero, NaN) gives the largest int64.
	HalfWidth(beta float64) int64

	// fill draws the noise of a vector: an independent one for each element, or a radial vector.
	fill(src *noise.Source, out []int64)
	// law is the distribution of one coordinate's noise.
	law() law
}

// The noise package samples scales in this range; outside of it there is no mechanism.
var (
	smallestScale = big.NewRat(1, 1<<20)
	largestScale  = big.NewRat(1<<40, 1)
)

var (
	// errNorm is returned when a sensitivity is in another norm than the mechanism needs.
	errNorm = errors.New("this mechanism needs a sensitivity in another norm")
	// ErrNoPrivacy is returned when a mechanism is asked for without an amount of privacy to spend.
	ErrNoPrivacy = errors.New("noise needs a privacy loss above zero: ask for an epsilon such as 0.1")
	// ErrScale is returned when the noise would be larger or smaller than can be drawn.
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

// Exact is a vector of exact integers that cannot be printed, logged or encoded.
type Exact = sealed.Vector

// Seal seals a copy of v.
func Seal(v ...int64) Exact { return sealed.Seal(append([]int64(nil), v...)) }

// Releaser owns a source of randomness and adds noise from it. It is safe for concurrent use.
type Releaser struct {
	mu     sync.Mutex
	src    *noise.Source
	record func(Call)
}

// NewReleaser returns a releaser that draws from src, which must not be used by anybody else.
func NewReleaser(src *noise.Source) *Releaser { return &Releaser{src: src} }

// Call is what a release or a selection was asked to do.
type Call struct {
	Mechanism   string         // the mechanism's Name
	Parameter   *big.Rat       // its exact Parameter
	Sensitivity dp.Sensitivity // what noise was calibrated to; none for a selection
	Scoring     Scoring        // what a selection was calibrated to; zero for noise
	Values      Exact          // stays sealed
	Before      *big.Rat       // the Parameter of an answer that this one sharpens, or nil
}

// Record has every later release and selection reported to f before anybody has
// the answer, or to nobody where f is nil. It exists for replay tests and the audit kit, which
// compare the calls of two runs on neighbouring databases. A server never uses
// it. f is called with the releaser locked and must not call it.
func (r *Releaser) Record(f func(Call)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record = f
}

// Release returns x with fresh noise of m added to every coordinate. It and the other methods of
// Releaser (Select, Top, Quantiles, ReleaseKeys, SelectKeys, EstimateBounds, and Ask of a session
// that it opened) are the only functions of the project that turn exact values into an answer.
//
// The promise of m's Cost holds for the vector as a whole, provided that x moves by at most
// m.Sensitivity() between neighbouring databases. Proving that is the caller's part.
//
// All noise is drawn first, so neither what is drawn nor how long it takes can depend on a value. A
// sum outside of int64 becomes the nearest end. That is the function clamp applied to the unbounded
// integer that the theorems speak of, one coordinate at a time and without looking at the exact
// value, so it is post-processing.
func (r *Releaser) Release(x Exact, m Mechanism) []int64 {
	out := make([]int64, x.Len())
	r.draw(x, m, out)
	for i, v := range x.Open() {
		out[i] = addClamped(v, out[i])
	}
	return out
}

func (r *Releaser) draw(x Exact, m Mechanism, out []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m.fill(r.src, out)
	if r.record != nil {
		r.record(Call{Mechanism: m.Name(), Parameter: m.Parameter(), Sensitivity: m.Sensitivity(), Values: x})
	}
}

// addClamped returns the int64 nearest to a + b.
func addClamped(a, b int64) int64 {
	s := a + b
	switch {
	case b > 0 && s < a:
		return math.MaxInt64
	case b < 0 && s > a:
		return math.MinInt64
	}
	return s
}

// Described is noise that somebody else has drawn, of which its name and its parameter are known.
// It has error bars and a variance, alone and in [HalfWidthOfSum], and is never drawn here. It
// claims nothing about privacy: what it cost is known where it was drawn.
type describedNoise struct {
	name      string
	parameter *big.Rat
	dist      law
}

// NewDescribedNoise returns noise by the name and the parameter that [Mechanism] has: "laplace"
// with its scale, or "gaussian" with its variance, in lattice steps.
func NewDescribedNoise(name string, parameter *big.Rat) (Mechanism, error) {
	if parameter == nil {
		return nil, fmt.Errorf("%w: it has no parameter", ErrScale)
	}
	m := &describedNoise{name: name, parameter: new(big.Rat).Set(parameter)}
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
		err = fmt.Errorf("%w: no noise is described as %q", ErrScale, name)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Name returns the name that it was described by.
func (m *describedNoise) Name() string { return m.name }

// Norm returns that of the noise of this name.
func (m *describedNoise) Norm() dp.Norm {
	if m.name == "laplace" {
		return dp.L1
	}
	return dp.L2
}

// Sensitivity is not known: it is zero.
func (*describedNoise) Sensitivity() dp.Sensitivity { return dp.Sensitivity{} }

// Cost is not known, and no limit admits that.
func (*describedNoise) Cost() dp.Cost {
	return dp.Cost{Epsilon: dp.Unbounded, Rho: dp.Unbounded, Delta: dp.Unbounded}
}

// Parameter returns the parameter that it was described by.
func (m *describedNoise) Parameter() *big.Rat { return new(big.Rat).Set(m.parameter) }

func (m *describedNoise) Tail(k int64) float64 { return m.dist.tail(k) }

// HalfWidth returns a k with P(|noise| > k) <= beta.
func (m *describedNoise) HalfWidth(beta float64) int64 { return m.dist.halfWidth(beta) }

func (*describedNoise) fill(*noise.Source, []int64) { panic(errAlone) }
func (m *describedNoise) law() law                  { return m.dist }

// Variance is that of one coordinate's noise, in steps squared. It is computed from the law, in
// floating point.
func Variance(m Mechanism) float64 { return m.law().variance() }

// law is the distribution of one coordinate's noise: symmetric, and falling to both sides.
// Everything that error bars need is here; nothing that privacy needs is.
type law interface {
	// tail is an upper bound on P(|X| > k).
	tail(k int64) float64
	// halfWidth is the smallest k whose tail is at most beta.
	halfWidth(beta float64) int64
	// block returns P(lo <= X <= hi) and a bound on its absolute error, for 0 <
	// lo <= hi and for -hi = lo <= 0.
	block(lo, hi int64) (mass, err float64)
	// logMGF is an upper bound on ln E exp(tX), +Inf where that is infinite.
	logMGF(t float64) float64
	// horizon is the supremum of the t for which logMGF is finite.
	horizon() float64
	// variance is an approximation, for choosing lattices and never for a bound.
	variance() float64
}

// Tail probabilities below this are at the end of what a float64 can hold, and
// are bounded more coarsely.
const smallestTail = 1e-290
