package account

import (
	"math"

	"github.com/discreet-dp/discreet/internal/root"
)

// RDP is Rényi differential privacy (Mironov 2017) at all orders at once: a curve
// that bounds the divergence of every order alpha > 1. Make one with [NewRDP], with one
// of the named curves, or from another guarantee.
type RDP struct{ curve func(alpha float64) float64 }

// NewRDP returns the guarantee with a curve, which must be an upper bound at every
// alpha > 1, its own rounding included: +Inf where none is known. It is called by
// several goroutines if the guarantee is.
func NewRDP(curve func(alpha float64) float64) RDP { return RDP{curve} }

// Validate refuses a guarantee that was not made by a constructor.
func (r RDP) Validate() error {
	if r.curve == nil {
		return ErrNoCurve
	}
	return nil
}

// At returns the bound at alpha > 1, +Inf where none is known.
func (r RDP) At(alpha float64) (float64, error) {
	if err := r.Validate(); err != nil {
		return 0, err
	}
	if !(alpha > 1) || math.IsInf(alpha, 1) {
		return 0, &ParameterError{"alpha", alpha, "a finite number above 1"}
	}
	return r.at(alpha), nil
}

func (r RDP) at(alpha float64) float64 {
	if v := r.curve(alpha); v >= 0 {
		return v
	}
	return math.Inf(1) // NaN, or a negative number, is no bound.
}

// EpsilonAt returns the minimum over alpha of
//
//	r + ln(1 - 1/alpha) - (ln delta + ln alpha)/(alpha - 1)
//
// (Canonne, Kamath, Steinke 2020, Proposition 12 of the full version), rounded up. Delta
// is above 0.
func (r RDP) EpsilonAt(delta float64) (float64, error) {
	if err := r.Validate(); err != nil {
		return 0, err
	}
	if err := askedDelta(delta); err != nil {
		return 0, err
	}
	if delta == 0 {
		return 0, ErrDelta
	}
	logDelta := math.Log(delta)
	return finite(math.Max(0, minimise(func(alpha, t float64) float64 {
		v := r.at(alpha)
		shrink, logAlpha := math.Log1p(1/t), math.Log1p(t)
		tail := -(logDelta + logAlpha) / t
		// As in units.go: each part is within 8 roundoff of its size.
		return (v + (tail - shrink)) + (v+shrink+(logAlpha-logDelta)/t)*0x1p-48
	})))
}

// DeltaAt returns the minimum over alpha of the same relation, solved for delta:
//
//	ln delta = (alpha - 1) (r - epsilon + ln(1 - 1/alpha)) - ln alpha,
//
// rounded up.
func (r RDP) DeltaAt(epsilon float64) (float64, error) {
	if err := r.Validate(); err != nil {
		return 0, err
	}
	if err := nonNegative("epsilon", epsilon); err != nil {
		return 0, err
	}
	log := minimise(func(alpha, t float64) float64 {
		v := r.at(alpha)
		shrink, logAlpha := math.Log1p(1/t), math.Log1p(t)
		return t*(v-epsilon-shrink) - logAlpha + (t*(v+epsilon+shrink)+logAlpha)*0x1p-48
	})
	if math.IsInf(log, -1) {
		return 0, nil
	}
	return math.Min(1, above(math.Exp(log))), nil
}

// minimise returns about the smallest value of f at t = alpha - 1 between exp(-30)
// and exp(40): a scan of ln t, and golden section around the best point. Every alpha is
// a valid choice, so an inexact minimum costs accuracy and never privacy. (For a curve that
// is a divergence, (alpha - 1) r is convex in alpha; then the relation between
// delta and t is convex for each epsilon, both functions have one valley, and nothing is
// lost.)
func minimise(f func(alpha, t float64) float64) float64 {
	const (
		first, last = -30, 40
		step        = 0.25
	)
	best, at := math.Inf(1), 0.0
	eval := func(x float64) float64 {
		alpha := 1 + math.Exp(x)
		t := alpha - 1 // exact: the t that belongs to alpha as it was rounded
		v := f(alpha, t)
		if t == 0 || math.IsNaN(v) {
			v = math.Inf(1)
		}
		best = math.Min(best, v)
		return v
	}
	for x := float64(first); x <= last; x += step {
		if was := best; eval(x) < was {
			at = x
		}
	}
	// Mirrored, so that the smaller of two orders is kept that are as good.
	root.Valley(func(x float64) float64 { return eval(-x) }, -at-step, -at+step, 2.5e-10)
	return best
}

// Approx returns the claim at delta; see EpsilonAt.
func (r RDP) Approx(delta float64) (Approx, error) { return approxAt(r, delta) }

// Compose returns the guarantee of all mechanisms together: the sum of the curves
// (Mironov 2017, Proposition 1).
func (r RDP) Compose(others ...RDP) (RDP, error) {
	all := append([]RDP{r}, others...)
	if err := validated(all); err != nil {
		return RDP{}, err
	}
	return NewRDP(func(alpha float64) float64 {
		sum := 0.0
		for _, each := range all {
			sum = addUp(sum, each.at(alpha))
		}
		return sum
	}), nil
}

// Times returns the guarantee of k such mechanisms together.
func (r RDP) Times(k int) (RDP, error) {
	if err := r.Validate(); err != nil {
		return RDP{}, err
	}
	if err := atLeastOne("the number of times", k); err != nil {
		return RDP{}, err
	}
	return NewRDP(func(alpha float64) float64 { return mulUp(float64(k), r.at(alpha)) }), nil
}

// Parallel returns the guarantee of mechanisms on disjoint parts: the largest
// curve, point by point. See [Pure.Parallel] for when it holds.
func (r RDP) Parallel(others ...RDP) (RDP, error) {
	all := append([]RDP{r}, others...)
	if err := validated(all); err != nil {
		return RDP{}, err
	}
	return NewRDP(func(alpha float64) float64 {
		most := 0.0
		for _, each := range all {
			most = math.Max(most, each.at(alpha))
		}
		return most
	}), nil
}

// Group returns the guarantee for k units at once (Mironov 2017, Proposition 2): for k
// at most 2^c it is 3^c r(2^c alpha) at every alpha of at least 2, and a
// divergence of lower order is not larger. One doubling is the weak triangle inequality
//
//	D_a(P, Q) <= (a - 1/2)/(a - 1) D_2a(P, R) + D_(2a-1)(R, Q) <= 3 r(2a).
func (r RDP) Group(k int) (RDP, error) {
	if err := r.Validate(); err != nil {
		return RDP{}, err
	}
	if err := atLeastOne("the size of a group", k); err != nil {
		return RDP{}, err
	}
	if k == 1 {
		return r, nil
	}
	orders, times := 1.0, 1.0
	for orders < float64(k) {
		orders, times = 2*orders, 3*times
	}
	return NewRDP(func(alpha float64) float64 { return mulUp(times, r.at(orders*math.Max(2, alpha))) }), nil
}
