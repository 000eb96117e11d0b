package mech

import (
	"math"
	"math/big"
	"sync"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/noise"
)

// Exact is a vector of exact integers that cannot be printed, logged or
// encoded.
type Exact = exact.Vector

// Exactly seals a copy of v.
func Exactly(v ...int64) Exact { return exact.Seal(append([]int64(nil), v...)) }

// Releaser owns a source of randomness and adds noise from it. It is safe for
// concurrent use.
type Releaser struct {
	mu     sync.Mutex
	src    *noise.Source
	record func(Call)
}

// NewReleaser returns a releaser that draws from src, which must not be used by
// anybody else.
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

// Release returns x with fresh noise of m added to every coordinate. It and the
// other methods of Releaser (Select, Top, Quantiles, ReleaseKeys, SelectKeys,
// EstimateBounds, and Ask of a session that it opened) are the only functions of
// the project that turn exact values into an answer.
//
// The promise of m's Cost holds for the vector as a whole, provided that x
// moves by at most m.Sensitivity() between neighbouring databases. Proving that
// is the caller's part.
//
// All noise is drawn first, so neither what is drawn nor how long it takes can
// depend on a value. A sum outside of int64 becomes the nearest end. That is
// the function clamp applied to the unbounded integer that the theorems speak
// of, one coordinate at a time and without looking at the exact value, so it is
// post-processing.
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
