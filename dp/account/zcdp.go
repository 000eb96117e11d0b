package account

import (
	"errors"
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// ZCDP is rho-zero-concentrated differential privacy (Bun, Steinke 2016): a Rényi
// divergence of at most rho alpha at every order alpha > 1.
type ZCDP struct{ Rho float64 }

func (z ZCDP) Validate() error { return checkNonNegative("rho", z.Rho) }

// EpsilonAt returns the epsilon of the tight conversion of Canonne, Kamath, Steinke
// 2020 (Corollary 13 of the full version), rounded up. Delta is above 0 unless rho is 0.
func (z ZCDP) EpsilonAt(delta float64) (float64, error) { return z.convert(delta, tightEpsilon) }

// convert checks what every conversion needs, and answers where there is nothing to convert.
func (z ZCDP) convert(delta float64, by func(rho, delta float64) float64) (float64, error) {
	if err := z.Validate(); err != nil {
		return 0, err
	}
	if err := checkAskedDelta(delta); err != nil {
		return 0, err
	}
	switch {
	case z.Rho == 0:
		return 0, nil
	case delta == 0:
		return 0, errDelta
	}
	return checkFinite(math.Max(0, by(z.Rho, delta)))
}

// DeltaAt is the same conversion at epsilon.
func (z ZCDP) DeltaAt(epsilon float64) (float64, error) {
	if err := z.Validate(); err != nil {
		return 0, err
	}
	d, err := z.rdp().DeltaAt(epsilon)
	if z.Rho == 0 {
		d = 0
	}
	return d, err
}

// BunSteinkeEpsilon returns rho + 2 sqrt(rho ln(1/delta)), rounded up: the well-known
// conversion (Bun, Steinke 2016, Proposition 1.3), never better than EpsilonAt.
func (z ZCDP) BunSteinkeEpsilon(delta float64) (float64, error) {
	return z.convert(delta, func(rho, delta float64) float64 {
		r := exactly(rho)
		return r.add(exactly(2).mul(r.mul(exactly(delta).minusLog()).sqrt())).hi
	})
}

// Approx returns the claim at delta; see EpsilonAt.
func (z ZCDP) Approx(delta float64) (Approx, error) { return approxAt(z, delta) }

// ApproxZCDP is the same claim with a delta of zero.
func (z ZCDP) ApproxZCDP() ApproxZCDP { return ApproxZCDP{Rho: z.Rho} }

// RDP returns the curve alpha rho, which is the definition.
func (z ZCDP) RDP() (RDP, error) {
	if err := z.Validate(); err != nil {
		return RDP{}, err
	}
	return z.rdp(), nil
}

func (z ZCDP) rdp() RDP { return NewRDP(func(alpha float64) float64 { return mulUp(alpha, z.Rho) }) }

// Compose returns the claim of all mechanisms together: the sum (Bun, Steinke 2016, Lemma 1.7).
func (z ZCDP) Compose(others ...ZCDP) (ZCDP, error) {
	if err := checkAll(append([]ZCDP{z}, others...)); err != nil {
		return ZCDP{}, err
	}
	rho, err := checkFinite(sumUpward(z, others, func(z ZCDP) float64 { return z.Rho }))
	return ZCDP{rho}, err
}

// Parallel returns the claim of mechanisms on disjoint parts: the largest. See
// [Pure.Parallel] for when it holds.
func (z ZCDP) Parallel(others ...ZCDP) (ZCDP, error) {
	if err := checkAll(append([]ZCDP{z}, others...)); err != nil {
		return ZCDP{}, err
	}
	return ZCDP{largestOf(z, others, func(z ZCDP) float64 { return z.Rho })}, nil
}

// Group returns the claim for k units at once: k^2 rho (Bun, Steinke 2016, Proposition 1.9).
func (z ZCDP) Group(k int) (ZCDP, error) {
	if err := z.Validate(); err != nil {
		return ZCDP{}, err
	}
	if err := checkAtLeastOne("the size of a group", k); err != nil {
		return ZCDP{}, err
	}
	rho, err := checkFinite(mulUp(float64(k), mulUp(float64(k), z.Rho)))
	return ZCDP{rho}, err
}

// ApproxZCDP is delta-approximate rho-zCDP (Bun, Steinke 2016, Definition 8.1):
// outside of an event of probability delta, rho-zCDP.
type ApproxZCDP struct {
	Rho   float64 `json:"rho"`
	Delta float64 `json:"delta"`
}

func (z ApproxZCDP) Validate() error {
	if err := checkNonNegative("rho", z.Rho); err != nil {
		return err
	}
	return checkProbability("delta", z.Delta)
}

// EpsilonAt returns the epsilon of rho at what is left of delta: outside of the
// event the mechanism is (epsilon, x)-private, so altogether it is (epsilon, d + (1-d)
// x)-private (Bun, Steinke 2016, Lemma 8.8, with the tight conversion of [ZCDP]).
func (z ApproxZCDP) EpsilonAt(delta float64) (float64, error) {
	if err := z.Validate(); err != nil {
		return 0, err
	}
	if err := checkAskedDelta(delta); err != nil {
		return 0, err
	}
	x, err := unreveal(delta, z.Delta)
	if err != nil {
		return 0, err
	}
	if x.lo == 0 && z.Delta > 0 && z.Rho > 0 {
		return 0, ErrDeltaTooSmall
	}
	return ZCDP{z.Rho}.EpsilonAt(x.lo)
}

// DeltaAt returns the delta of the same conversion at epsilon.
func (z ApproxZCDP) DeltaAt(epsilon float64) (float64, error) {
	if err := z.Validate(); err != nil {
		return 0, err
	}
	x, err := ZCDP{z.Rho}.DeltaAt(epsilon)
	if err != nil {
		return 0, err
	}
	if x == 0 {
		return z.Delta, nil
	}
	return Approx{Delta: z.Delta}.reveal(exactly(x)).atMost(1).hi, nil
}

// Approx returns the claim at delta; see EpsilonAt.
func (z ApproxZCDP) Approx(delta float64) (Approx, error) { return approxAt(z, delta) }

// Compose returns the claim of all mechanisms together: the sums (Bun, Steinke 2016, Lemma 8.2).
func (z ApproxZCDP) Compose(others ...ApproxZCDP) (ApproxZCDP, error) {
	if err := checkAll(append([]ApproxZCDP{z}, others...)); err != nil {
		return ApproxZCDP{}, err
	}
	rho, err := checkFinite(sumUpward(z, others, func(z ApproxZCDP) float64 { return z.Rho }))
	delta := sumUpward(z, others, func(z ApproxZCDP) float64 { return z.Delta })
	return ApproxZCDP{rho, min(delta, 1)}, err
}

// Parallel returns the claim of mechanisms on disjoint parts: the largest rho
// with the largest delta. See [Pure.Parallel] for when it holds.
func (z ApproxZCDP) Parallel(others ...ApproxZCDP) (ApproxZCDP, error) {
	if err := checkAll(append([]ApproxZCDP{z}, others...)); err != nil {
		return ApproxZCDP{}, err
	}
	return ApproxZCDP{
		largestOf(z, others, func(z ApproxZCDP) float64 { return z.Rho }),
		largestOf(z, others, func(z ApproxZCDP) float64 { return z.Delta }),
	}, nil
}

var (
	// errDelta is returned when a conversion between rho and epsilon is asked
	// for at a delta where none exists.
	errDelta = errors.New("rho and epsilon convert at a delta above 0 and below 1 only: write one such as 1e-6, or use a pure budget")
	// errUnbounded is returned when the amount to be converted is no claim at
	// all, or when its worth is larger than any amount.
	errUnbounded = errors.New("this amount of privacy loss is unbounded and has no conversion")
)

// maxAmount is the largest amount that conversions speak of, the largest that anybody can ask for.
const maxAmount = dp.One << 20

// Epsilon returns an epsilon such that every rho-zCDP mechanism is (epsilon, delta)-differentially
// private: the tight conversion of Canonne, Kamath, Steinke 2020 (Corollary 13 of the full
// version), the minimum over alpha > 1 of
//
//	rho alpha + ln(1 - 1/alpha) - (ln delta + ln alpha)/(alpha - 1),
//
// rounded up. It is above the minimum by at most one unit and about 2e-12 (1 +
// epsilon), and it never decreases when rho grows.
func Epsilon(rho, delta dp.Amount) (dp.Amount, error) {
	switch {
	case delta == 0 || delta >= dp.One:
		return 0, errDelta
	case rho == dp.Unbounded:
		return 0, errUnbounded
	case rho == 0:
		return 0, nil
	}
	e := tightEpsilon(rho.Float(), delta.Float())
	if e <= 0 {
		// A negative epsilon is a claim stronger than we can write down; zero follows.
		return 0, nil
	}
	a, err := dp.CeilFloat(e)
	if err != nil {
		return 0, errUnbounded
	}
	return a, nil
}

// Rho returns the largest rho that [Epsilon] says is within epsilon at delta. It is found by
// bisection on whole units with Epsilon itself as the judge, so the two cannot disagree.
func Rho(epsilon, delta dp.Amount) (dp.Amount, error) {
	switch {
	case delta == 0 || delta >= dp.One:
		return 0, errDelta
	case epsilon == dp.Unbounded:
		return 0, errUnbounded
	}
	fits := func(rho dp.Amount) bool {
		e, err := Epsilon(rho, delta)
		return err == nil && e <= epsilon
	}
	if fits(maxAmount) {
		return maxAmount, nil
	}
	rho, _ := numeric.BisectWhole(0, maxAmount, fits)
	return rho, nil
}

// The conversion is evaluated at t = alpha - 1 on a fixed grid of float64 numbers, 2^18 to each
// power of two. Every point of the grid is a valid choice of alpha, so a coarse grid costs accuracy
// and never privacy. In ln t the second derivative at the minimum is 1/alpha + 2 rho t, so the
// nearest point is too high by at most (2^-18)^2/8 = 1.8e-12 of that. A grid that does not depend
// on rho is what makes the result monotone in rho to the last bit: at each point the expression is
// a chain of correctly rounded, monotone operations on rho, and a minimum of monotone functions is
// monotone.
const (
	gridBits = 18
	gridLow  = -64 << gridBits // t = 2^-64
	gridHigh = 64 << gridBits  // t = 2^64
)

func gridPoint(i int) float64 {
	mantissa := float64(i&(1<<gridBits-1)) / (1 << gridBits)
	return math.Ldexp(1+mantissa, i>>gridBits)
}

// tightEpsilon is an upper bound on the conversion for finite rho > 0 and 0 < delta < 1.
//
// The derivative in alpha is rho + (ln delta + ln alpha)/(alpha-1)^2: the two
// terms 1/(alpha(alpha-1)) cancel. It has the sign of rho t^2 + ln(1+t) + ln
// delta, which increases in t, so there is one minimum and bisection finds it.
func tightEpsilon(rho, delta float64) float64 {
	logDelta := math.Log(delta)
	low, high := numeric.BisectWhole(gridLow, gridHigh, func(i int) bool {
		t := gridPoint(i)
		return rho*t*t+math.Log1p(t)+logDelta < 0
	})
	// The sign is computed in floating point and can be wrong only within some
	// 2^-50 of the root, far less than one grid step; two points to each side
	// hold the smallest value whichever way that went.
	best := math.Inf(1)
	for i := max(low-2, gridLow); i <= min(high+2, gridHigh); i++ {
		best = min(best, epsilonAt(gridPoint(i), rho, logDelta))
	}
	return best
}

// epsilonAt bounds the expression at alpha = 1 + t from above. Go's Log and Log1p are within one
// unit in the last place, so each of the three terms, made of at most four rounded operations on
// positive parts, is within 8 * 2^-53 of the sum of its parts; the margin allows 32.
func epsilonAt(t, rho, logDelta float64) float64 {
	linear := rho + rho*t
	shrink := math.Log1p(1 / t) // -ln(1 - 1/alpha)
	logAlpha := math.Log1p(t)
	tail := -(logDelta + logAlpha) / t
	size := linear + (shrink + (logAlpha-logDelta)/t)
	return (linear + (tail - shrink)) + size*0x1p-48
}
