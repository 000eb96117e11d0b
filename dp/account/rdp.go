package account

import (
	"math"
	"sync"

	"github.com/discreet-dp/discreet/internal/numeric"
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
		return errNoCurve
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
	if err := checkAskedDelta(delta); err != nil {
		return 0, err
	}
	if delta == 0 {
		return 0, errDelta
	}
	logDelta := math.Log(delta)
	return checkFinite(math.Max(0, minimise(func(alpha, t float64) float64 {
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
	if err := checkNonNegative("epsilon", epsilon); err != nil {
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
	return math.Min(1, roundExpUp(math.Exp(log))), nil
}

// minimise returns about the smallest value of f at t = alpha - 1 between exp(-30) and exp(40): a
// scan of ln t, and golden section around the best point. Every alpha is a valid choice, so an
// inexact minimum costs accuracy and never privacy. (For a curve that is a divergence, (alpha - 1)
// r is convex in alpha; then the relation between delta and t is convex for each epsilon, both
// functions have one valley, and nothing is lost.)
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
	numeric.Minimise(func(x float64) float64 { return eval(-x) }, -at-step, -at+step, 2.5e-10)
	return best
}

// Approx returns the claim at delta; see EpsilonAt.
func (r RDP) Approx(delta float64) (Approx, error) { return approxAt(r, delta) }

// Compose returns the guarantee of all mechanisms together: the sum of the curves
// (Mironov 2017, Proposition 1).
func (r RDP) Compose(others ...RDP) (RDP, error) {
	all := append([]RDP{r}, others...)
	if err := checkAll(all); err != nil {
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
	if err := checkAtLeastOne("the number of times", k); err != nil {
		return RDP{}, err
	}
	return NewRDP(func(alpha float64) float64 { return mulUp(float64(k), r.at(alpha)) }), nil
}

// Parallel returns the guarantee of mechanisms on disjoint parts: the largest
// curve, point by point. See [Pure.Parallel] for when it holds.
func (r RDP) Parallel(others ...RDP) (RDP, error) {
	all := append([]RDP{r}, others...)
	if err := checkAll(all); err != nil {
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
	if err := checkAtLeastOne("the size of a group", k); err != nil {
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

// The curves below are evaluated without cancellation, so a few roundoffs are
// all there is; they are rounded up by 2^-46, which is 128 of them.
func roundOutward(r float64) float64 {
	if r < 0x1p-900 {
		return r + 0x1p-900
	}
	return r * (1 + 0x1p-46)
}

// GaussianRDP returns the curve of Gaussian noise with sensitivity over deviation
// mu: alpha mu^2/2 (Mironov 2017, Corollary 3).
func GaussianRDP(mu float64) (RDP, error) { return GDP{mu}.RDP() }

// LaplaceRDP returns the curve of Laplace noise with sensitivity over scale epsilon
// (Mironov 2017, Proposition 6).
func LaplaceRDP(epsilon float64) (RDP, error) {
	if err := checkNonNegative("epsilon", epsilon); err != nil {
		return RDP{}, err
	}
	return NewRDP(func(alpha float64) float64 { return laplaceCurve(epsilon, alpha) }), nil
}

// ExponentialRDP returns the curve of the exponential mechanism with epsilon. It
// has bounded range epsilon, and so is epsilon^2/8-zCDP (Cesar, Rogers 2021),
// and it is epsilon-private; the smaller curve holds.
func ExponentialRDP(epsilon float64) (RDP, error) {
	if err := checkNonNegative("epsilon", epsilon); err != nil {
		return RDP{}, err
	}
	return NewRDP(func(alpha float64) float64 {
		if epsilon == 0 {
			return 0
		}
		return math.Min(roundOutward(alpha*epsilon*epsilon/8), pureCurve(epsilon, alpha))
	}), nil
}

// pureCurve is the curve of randomized response (Mironov 2017, Proposition 5; Bun, Steinke
// 2016, Proposition 3.3), ln((sinh(a e) - sinh((a-1) e))/sinh e)/(a-1). By the
// addition theorems the fraction is
//
//	cosh((a - 1/2) e)/cosh(e/2) = 1 + 2 sinh(a e/2) sinh((a-1) e/2)/cosh(e/2),
//
// where nothing cancels.
func pureCurve(e, a float64) float64 {
	t := a - 1
	switch {
	case e == 0:
		return 0
	case a*e < 30:
		return math.Min(e, roundOutward(math.Log1p(2*math.Sinh(a*e/2)*math.Sinh(t*e/2)/math.Cosh(e/2))/t))
	default:
		// The two logarithms differ by at most ln 2 = 0.7 where (a-1) e, or e, is 15.
		return math.Min(e, roundOutward(e+(math.Log1p(math.Exp(-(a+t)*e))-math.Log1p(math.Exp(-e)))/t))
	}
}

// laplaceCurve is ln(M)/(a-1) with the moment
//
//	M = a/(2a-1) exp((a-1) e) + (a-1)/(2a-1) exp(-a e).
//
// Where a e is large, exp((a-1) e) is taken out. Where it is small the linear
// terms of the exponentials cancel, and are cancelled here by hand:
//
//	M - 1 = a (a-1) e^2 ((a-1) g((a-1) e) + a g(-a e))/(2a-1), g(x) = (exp(x) - 1 - x)/x^2.
func laplaceCurve(e, a float64) float64 {
	t := a - 1
	switch {
	case e == 0:
		return 0
	case a*e < 1:
		m := a * t * (e * e) * (t*secondRest(t*e) + a*secondRest(-a*e)) / (a + t)
		return math.Min(e, roundOutward(math.Log1p(m)/t))
	default:
		return math.Min(e, roundOutward(e+math.Log1p(t/(a+t)*math.Expm1(-(a+t)*e))/t))
	}
}

// secondRest returns (exp(x) - 1 - x)/x^2.
func secondRest(x float64) float64 {
	if math.Abs(x) > 0.5 {
		return (math.Expm1(x) - x) / (x * x)
	}
	sum, term := 0.0, 0.5
	for i := 3.0; sum+term != sum; i++ {
		sum += term
		term *= x / i
	}
	return sum
}

// maxOrder is the largest order at which subsampled curves are computed. Above
// it they are +Inf, which costs accuracy where epsilon is below some hundredths.
const maxOrder = 1024

// SubsampledGaussianRDP returns the curve of Gaussian noise with sensitivity over
// deviation mu on a Poisson sample: every unit is in it with probability rate,
// independently; neighbours by adding or removing a unit.
func SubsampledGaussianRDP(mu, rate float64) (RDP, error) {
	g, err := GaussianRDP(mu)
	if err != nil {
		return RDP{}, err
	}
	return subsampled(g, rate)
}

// SubsampledLaplaceRDP returns the curve of Laplace noise on one number, with
// sensitivity over scale epsilon, on a Poisson sample.
func SubsampledLaplaceRDP(epsilon, rate float64) (RDP, error) {
	l, err := LaplaceRDP(epsilon)
	if err != nil {
		return RDP{}, err
	}
	return subsampled(l, rate)
}

// subsampled returns the curve of a Poisson sample of rate q from the curve of noise Q and its
// shift P. Removing a unit compares (1-q) Q + q P with Q. For noise that a reflection carries into
// its shift, as all symmetric noise, that divergence is at least the one of adding a unit (Mironov,
// Talwar, Zhang 2019, Theorem 5), so it is the only one to compute. At a whole order a, with B
// binomial with a trials of probability q,
//
//	E_Q[((1-q) + q P/Q)^a] = E[M(B)], M(j) = E_Q[(P/Q)^j] = exp((j-1) r(j)),
//
// and since M(0) = M(1) = 1 it is 1 + sum over j >= 2 of P(B = j) (M(j) - 1): positive
// parts, summed as logarithms. M grows with r, so an upper bound of r will do.
//
// Between whole orders (a-1) r(a), a cumulant generating function, is convex, so the chord
// is above it.
func subsampled(base RDP, rate float64) (RDP, error) {
	if err := checkProbability("the sampling rate", rate); err != nil {
		return RDP{}, err
	}
	switch rate {
	case 0:
		return NewRDP(func(float64) float64 { return 0 }), nil
	case 1:
		return base, nil
	}
	s := &sample{base: base, rate: rate, known: map[int]float64{1: 0}}
	return NewRDP(func(alpha float64) float64 {
		if alpha > maxOrder {
			return math.Inf(1)
		}
		low := math.Floor(alpha)
		left := s.cumulant(int(low))
		if low == alpha {
			return roundOutward(left / (alpha - 1))
		}
		right := s.cumulant(int(low) + 1)
		part := alpha - low
		return roundOutward(((1-part)*left + part*right) / (alpha - 1))
	}), nil
}

// sample remembers what it has computed, for several goroutines.
type sample struct {
	base RDP
	rate float64

	mutex sync.Mutex
	known map[int]float64
}

// cumulant returns (a-1) r(a) at a whole order, rounded up.
func (s *sample) cumulant(a int) float64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if v, ok := s.known[a]; ok {
		return v
	}
	logs := make([]float64, 0, a)
	most := math.Inf(-1)
	for j := 2; j <= a; j++ {
		// 1 - rate is rounded by half a unit; binomialLog allows for more.
		p, bound := binomialLog(float64(a), float64(j), s.rate, 1-s.rate)
		y := float64(j-1) * s.base.at(float64(j))
		l := p + bound + logExpm1(y)
		// The sums here, and y, are rounded by 4 roundoff of their sizes.
		l += roundoff * 16 * (math.Abs(p) + y + math.Abs(l) + 1)
		logs = append(logs, l)
		most = math.Max(most, l)
	}
	v := math.Inf(1)
	if most < v {
		sum := 0.0
		for _, l := range logs {
			sum += math.Exp(l - most)
		}
		v = logAdd1(most + math.Log(sum)*(1+0x1p-50) + roundoff*(4*float64(a)+16*math.Abs(most)+64))
	}
	s.known[a] = v
	return v
}

// logExpm1 returns ln(exp(y) - 1) for y >= 0.
func logExpm1(y float64) float64 {
	if y > 40 {
		return y // above it, by less than exp(-40)
	}
	return math.Log(math.Expm1(y))
}

// logAdd1 returns ln(1 + exp(l)), rounded up.
func logAdd1(l float64) float64 {
	if l > 40 {
		return l + 0x1p-52*l
	}
	return roundOutward(math.Log1p(math.Exp(l)))
}
