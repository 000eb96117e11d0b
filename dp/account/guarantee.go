package account

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// Guarantee is a statement about the privacy of a mechanism that says, for every
// delta, an epsilon such that the mechanism is (epsilon, delta)-differentially
// private. Guarantees are values and may be used by several goroutines.
//
// Both answers are the smallest that the cited theorem gives, rounded up: a
// claim that is converted is never stronger than the theorem makes it.
type Guarantee interface {
	// EpsilonAt returns the smallest epsilon that is implied at delta, 0 <= delta < 1.
	EpsilonAt(delta float64) (float64, error)
	// DeltaAt returns the smallest delta that is implied at epsilon >= 0.
	DeltaAt(epsilon float64) (float64, error)
}

var (
	_ Guarantee = Pure{}
	_ Guarantee = Approx{}
	_ Guarantee = ZCDP{}
	_ Guarantee = ApproxZCDP{}
	_ Guarantee = RDP{}
	_ Guarantee = GDP{}
)

// approxAt reads a guarantee off as one claim at delta.
func approxAt(g Guarantee, delta float64) (Approx, error) {
	epsilon, err := g.EpsilonAt(delta)
	if err != nil {
		return Approx{}, err
	}
	return Approx{Epsilon: epsilon, Delta: delta}, nil
}

// sumUpward adds up and largestOf compares one number of every guarantee.
func sumUpward[G any](first G, others []G, number func(G) float64) float64 {
	sum := number(first)
	for _, g := range others {
		sum = addUp(sum, number(g))
	}
	return sum
}

func largestOf[G any](first G, others []G, number func(G) float64) float64 {
	most := number(first)
	for _, g := range others {
		most = max(most, number(g))
	}
	return most
}

// ParameterError is returned when a guarantee, a claim or a question about one
// is written with a number that has no meaning there.
type ParameterError struct {
	Name  string  // epsilon, delta, rho, mu, ...
	Value float64 // what was written
	Want  string  // what to write instead
}

func (e *ParameterError) Error() string {
	return fmt.Sprintf("%s is %v: write %s", e.Name, e.Value, e.Want)
}

var (
	// ErrDeltaTooSmall is returned when an epsilon is asked for at a delta that
	// the claims themselves use up.
	ErrDeltaTooSmall = errors.New("the claims leave nothing of this delta: ask at a delta above the sum of theirs, or make theirs smaller")
	// errNoCurve is returned when an RDP guarantee was not made by a constructor.
	errNoCurve = errors.New("this RDP guarantee has no curve: make it with NewRDP or one of the named curves")
)

const (
	wantNonNegative = "a finite number that is not negative"
	wantDelta       = "a number of at least 0 and below 1, such as 1e-6"
	wantProbability = "a number between 0 and 1"
)

// checkNonNegative refuses NaN, infinities and negative numbers.
func checkNonNegative(name string, x float64) error {
	if !(x >= 0 && x <= maxFloat) {
		return &ParameterError{name, x, wantNonNegative}
	}
	return nil
}

// checkProbability refuses NaN and what is not between 0 and 1.
func checkProbability(name string, x float64) error {
	if !(x >= 0 && x <= 1) {
		return &ParameterError{name, x, wantProbability}
	}
	return nil
}

// checkAskedDelta refuses a delta at which no epsilon can be asked for.
func checkAskedDelta(x float64) error {
	if !(x >= 0 && x < 1) {
		return &ParameterError{"delta", x, wantDelta}
	}
	return nil
}

// maxTimes is the largest count: all counts up to it are float64 numbers.
const maxTimes = 1 << 53

// checkAtLeastOne refuses a number of times or of units below one.
func checkAtLeastOne(name string, k int) error {
	if k < 1 || k > maxTimes {
		return &ParameterError{name, float64(k), "a whole number from 1 to 2^53"}
	}
	return nil
}

// checkFinite turns a claim that overflowed into an error: infinity is no epsilon.
func checkFinite(x float64) (float64, error) {
	if !(x <= maxFloat) {
		return 0, errUnbounded
	}
	return x, nil
}

// checkAll returns the first error there is.
func checkAll[G interface{ Validate() error }](guarantees []G) error {
	for _, g := range guarantees {
		if err := g.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// Pure is pure epsilon-differential privacy (Dwork, McSherry, Nissim, Smith 2006).
type Pure struct{ Epsilon float64 }

func (p Pure) Validate() error { return checkNonNegative("epsilon", p.Epsilon) }

// Approx is the same claim with a delta of zero.
func (p Pure) Approx() Approx { return Approx{Epsilon: p.Epsilon} }

// EpsilonAt returns the smallest epsilon that is implied at delta: that of randomized
// response, which dominates every pure mechanism. See [Approx.DeltaAt].
func (p Pure) EpsilonAt(delta float64) (float64, error) { return p.Approx().EpsilonAt(delta) }

// DeltaAt returns the smallest delta that is implied at epsilon.
func (p Pure) DeltaAt(epsilon float64) (float64, error) { return p.Approx().DeltaAt(epsilon) }

// Compose returns the claim of all mechanisms together: the sum (Dwork et al. 2006).
func (p Pure) Compose(others ...Pure) (Pure, error) {
	if err := checkAll(append([]Pure{p}, others...)); err != nil {
		return Pure{}, err
	}
	e, err := checkFinite(sumUpward(p, others, func(p Pure) float64 { return p.Epsilon }))
	return Pure{e}, err
}

// Parallel returns the claim of mechanisms on disjoint parts of the data, where
// the parts are fixed and a neighbour differs in one part only: the largest
// (McSherry 2009, Theorem 4). Under substitution a unit may leave one part and
// enter another; then the claim is for the composition of two parts.
func (p Pure) Parallel(others ...Pure) (Pure, error) {
	if err := checkAll(append([]Pure{p}, others...)); err != nil {
		return Pure{}, err
	}
	return Pure{largestOf(p, others, func(p Pure) float64 { return p.Epsilon })}, nil
}

// Group returns the claim for k units at once: k epsilon (Dwork, Roth 2014, Theorem 2.2).
func (p Pure) Group(k int) (Pure, error) {
	if err := p.Validate(); err != nil {
		return Pure{}, err
	}
	if err := checkAtLeastOne("the size of a group", k); err != nil {
		return Pure{}, err
	}
	e, err := checkFinite(mulUp(float64(k), p.Epsilon))
	return Pure{e}, err
}

// ZCDP returns the zero-concentrated claim: rho = epsilon tanh(epsilon/2), the
// divergence of randomized response at order 1, which is at most the epsilon^2/2
// of Bun, Steinke 2016, Proposition 3.3.
func (p Pure) ZCDP() (ZCDP, error) {
	if err := p.Validate(); err != nil {
		return ZCDP{}, err
	}
	rho, err := checkFinite(responseRho(p.Epsilon))
	return ZCDP{rho}, err
}

// responseRho is epsilon tanh(epsilon/2) = epsilon (1 - exp(-epsilon))/(1 +
// exp(-epsilon)), rounded up.
func responseRho(epsilon float64) float64 {
	if epsilon == 0 {
		return 0
	}
	e := exactly(epsilon)
	return e.mul(e.oneMinusExpMinus().div(exactly(1).add(e.expMinus())).atMost(1)).hi
}

// RDP returns the curve of randomized response, which dominates every pure
// mechanism; see [Approx.DeltaAt].
func (p Pure) RDP() (RDP, error) {
	if err := p.Validate(); err != nil {
		return RDP{}, err
	}
	return NewRDP(func(alpha float64) float64 { return pureCurve(p.Epsilon, alpha) }), nil
}

// GDP returns the Gaussian claim mu = 2 Phi^-1(exp(epsilon)/(1 + exp(epsilon))). The trade-off
// function of a pure claim (Wasserman, Zhou 2010) is the polygon through (0, 1), the fixed point
// (1/(1+exp(epsilon)), same) and (1, 0). The trade-off function of mu-GDP is convex and goes
// through the same three points, so it lies below the polygon, its chords: a weaker claim (Dong,
// Roth, Su 2022, Definition 2.3). No smaller mu is below the fixed point.
func (p Pure) GDP() (GDP, error) {
	if err := p.Validate(); err != nil {
		return GDP{}, err
	}
	var x float64 // the normal quantile with tail 1/(1 + exp(epsilon))
	switch e := p.Epsilon; {
	case e == 0:
		return GDP{}, nil
	case e < 2:
		// The tail is 1/2 - tanh(epsilon/2)/2.
		x = math.Sqrt2 * math.Erfinv(-math.Expm1(-e)/(1+math.Exp(-e)))
	default:
		x = numeric.LogQuantile(-e - math.Log1p(math.Exp(-e)))
	}
	// Both ways are within 2^-47: the quantile's 2^-48 and its argument's
	// rounding, which the quantile does not multiply by more than 2.
	mu, err := checkFinite(2 * x * (1 + 0x1p-45))
	return GDP{mu}, err
}

// Approx is (epsilon, delta)-differential privacy (Dwork, Kenthapadi, McSherry,
// Mironov, Naor 2006). A delta of 1 claims nothing.
type Approx struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

func (a Approx) Validate() error {
	if err := checkNonNegative("epsilon", a.Epsilon); err != nil {
		return err
	}
	return checkProbability("delta", a.Delta)
}

// DeltaAt returns the smallest delta that is implied at another epsilon. Every (e,
// d) mechanism is a post-processing of: reveal everything with probability d, and
// otherwise answer by randomized response with e (Kairouz, Oh, Viswanath 2015, in the
// proof of Theorem 3.3; Murtagh, Vadhan 2016, Lemma 3.2). At epsilon < e that has
//
//	1 - (1-d) (1 - (exp(e) - exp(epsilon))/(1 + exp(e))).
func (a Approx) DeltaAt(epsilon float64) (float64, error) {
	if err := a.Validate(); err != nil {
		return 0, err
	}
	if err := checkNonNegative("epsilon", epsilon); err != nil {
		return 0, err
	}
	if epsilon >= a.Epsilon {
		return a.Delta, nil
	}
	gap := exactly(a.Epsilon).sub(exactly(epsilon))
	response := gap.oneMinusExpMinus().div(exactly(1).add(exactly(a.Epsilon).expMinus()))
	return a.reveal(response).atMost(1).hi, nil
}

// reveal returns d + (1 - d) delta: revealed, or not and then delta.
func (a Approx) reveal(delta span) span {
	if a.Delta == 0 {
		return delta
	}
	return exactly(a.Delta).add(exactly(1).sub(exactly(a.Delta)).mul(delta))
}

// unreveal solves d + (1 - d) x = delta for x, where that is possible.
func unreveal(delta, d float64) (span, error) {
	switch {
	case d == 0:
		return exactly(delta), nil
	case delta < d || d == 1:
		return span{}, ErrDeltaTooSmall
	case delta == d:
		return span{}, nil
	}
	return exactly(delta).sub(exactly(d)).div(exactly(1).sub(exactly(d))), nil
}

// EpsilonAt returns the smallest epsilon that is implied at another delta, the
// inverse of DeltaAt. There is none at a delta below the claim's own.
func (a Approx) EpsilonAt(delta float64) (float64, error) {
	if err := a.Validate(); err != nil {
		return 0, err
	}
	if err := checkAskedDelta(delta); err != nil {
		return 0, err
	}
	x, err := unreveal(delta, a.Delta)
	if err != nil {
		return 0, err
	}
	if x.hi == 0 {
		return a.Epsilon, nil
	}
	// epsilon + ln(1 - x (1 + exp(-epsilon)))
	y := x.mul(exactly(1).add(exactly(a.Epsilon).expMinus()))
	if y.lo >= 1 {
		return 0, nil
	}
	return exactly(a.Epsilon).sub(span{y.lo, math.Min(y.hi, 1)}.minusLog1pMinus()).atMost(a.Epsilon).hi, nil
}

// Compose returns the claim of all mechanisms together by basic composition; see
// [Basic], and [OptimalEpsilon] for the best there is.
func (a Approx) Compose(others ...Approx) (Approx, error) {
	terms := []Repeated{{a, 1}}
	for _, o := range others {
		terms = append(terms, Repeated{o, 1})
	}
	return Basic(terms)
}

// Parallel returns the claim of mechanisms on disjoint parts: the largest
// epsilon with the largest delta. See [Pure.Parallel] for when it holds.
func (a Approx) Parallel(others ...Approx) (Approx, error) {
	if err := checkAll(append([]Approx{a}, others...)); err != nil {
		return Approx{}, err
	}
	return Approx{
		largestOf(a, others, func(a Approx) float64 { return a.Epsilon }),
		largestOf(a, others, func(a Approx) float64 { return a.Delta }),
	}, nil
}

// Group returns the claim for k units at once: k epsilon, and delta times 1 + exp(epsilon) + ... +
// exp((k-1) epsilon) (Vadhan 2017, Lemma 2.2, before it is simplified).
func (a Approx) Group(k int) (Approx, error) {
	if err := a.Validate(); err != nil {
		return Approx{}, err
	}
	if err := checkAtLeastOne("the size of a group", k); err != nil {
		return Approx{}, err
	}
	epsilon, err := checkFinite(mulUp(float64(k), a.Epsilon))
	if err != nil || a.Delta == 0 || k == 1 {
		return Approx{epsilon, a.Delta}, err
	}
	times := exactly(float64(k))
	if e := exactly(a.Epsilon); a.Epsilon > 0 {
		times = times.mul(e).expm1().div(e.expm1())
	}
	delta := times.mul(exactly(a.Delta)).hi
	if !(delta <= 1) { // NaN where both exponentials overflow
		delta = 1
	}
	return Approx{epsilon, delta}, nil
}

// ApproxZCDP returns the claim as delta-approximate epsilon tanh(epsilon/2)-zCDP: outside of the
// event of probability delta the mechanism that dominates it is randomized response; see
// [Approx.DeltaAt] and [Pure.ZCDP]. (Bun, Steinke 2016, Lemma 8.3, with epsilon^2/2.)
func (a Approx) ApproxZCDP() (ApproxZCDP, error) {
	if err := a.Validate(); err != nil {
		return ApproxZCDP{}, err
	}
	rho, err := checkFinite(responseRho(a.Epsilon))
	return ApproxZCDP{Rho: rho, Delta: a.Delta}, err
}
