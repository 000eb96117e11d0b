package privacyloss

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// Law is the distribution of one mechanism's privacy loss: of ln(P/Q) under P, for a pair of
// distributions (P, Q) that dominates the mechanism on neighbouring databases (Zhu, Dong, Wang
// 2022, Definition 7). Laws are made by the functions of this package and compare with ==.
type Law interface {
	// infinite is the mass of P where Q has none: no epsilon covers it.
	infinite() float64
	// top is the largest finite loss, rounded up, or +Inf.
	top() float64
}

// closed is a law whose own curve has a closed form.
type closed interface {
	Law
	// curve encloses delta(epsilon), the hockey-stick divergence of the pair, for epsilon >= 0.
	curve(epsilon float64) dp.Bracket
}

// analytic is a law whose moment generating function has a closed form.
type analytic interface {
	Law
	// cumulant returns ln M(z), M(z) = E[exp(z L); L finite] under P, for Re z >= 0, and a bound on
	// its error: exp(value) times a number within expm1(slack) of 1 is M(z). The imaginary part of
	// z may be off by 4 units. For real z the slack bounds the error of the value itself.
	cumulant(z complex128) (value complex128, slack float64)
	// decay bounds ln |M(t+iv)|/M(t) for all v >= y. The y may be off by 4 units.
	decay(t, y float64) float64
}

// spaced is an analytic law whose losses are offset + spacing Z, where the offset
// is 0, or half the spacing if odd.
type spaced interface {
	analytic
	lattice() (spacing spacing, odd bool)
	// fade bounds ln |M(t+iv)|/M(t) for v from y to pi/spacing, the half of its period.
	fade(t, y float64) float64
}

// spacing is a quotient that is not rounded, so that equal ones are equal.
type spacing struct{ over, under float64 }

// sampled is a law without a closed form, which is enclosed between two others on a lattice.
type sampled interface {
	Law
	// enclose returns laws on the lattice origin + step Z, one that this law dominates and one that
	// dominates it. Up to about spare of the mass may be given up, that is moved to infinity above,
	// and left out below. A law without atoms may choose another origin. What matters of the law is
	// what matters when it is tilted by t.
	enclose(step, origin, spare, t float64) (below, above *lattice)
	// atoms returns the losses of the law's two atoms, if it has them.
	atoms() (low, high float64, ok bool)
	// sketch returns an approximation by some atoms in order, of which nothing is proven.
	sketch(spare float64) sketch
}

const unitRoundoff = 0x1p-53

// clampUnit keeps a bracket of probabilities within [0, 1]. What is not a number bounds nothing.
func clampUnit(b dp.Bracket) dp.Bracket {
	out := dp.Bracket{Lower: 0, Upper: 1}
	if b.Lower > 0 {
		out.Lower = min(1, b.Lower)
	}
	if b.Upper < 1 {
		out.Upper = max(0, b.Upper)
	}
	return out
}

// bracket is the bracket of a probability that is known up to slack.
func bracket(value, slack float64) dp.Bracket {
	return clampUnit(dp.Bracket{Lower: value - slack, Upper: value + slack})
}

// exactBracket is the bracket of a probability that was computed without cancellation, in
// a handful of rounded operations.
func exactBracket(value float64) dp.Bracket { return bracket(value, 32*unitRoundoff*value) }

// errParameter is returned when a mechanism's parameter, a delta or an epsilon is
// not one that the theory speaks of, or so extreme that it means nothing.
var errParameter = errors.New("a parameter is out of range")

func checkEpsilon(epsilon float64) error {
	if !(epsilon >= 1e-9 && epsilon <= 1e6) {
		return fmt.Errorf("%w: epsilon is %v, but must be between 1e-9 and 1e6", errParameter, epsilon)
	}
	return nil
}

type gaussian struct{ mu float64 }

// Gaussian is the loss of Gaussian noise: mu is the l2 sensitivity over the standard deviation. The
// loss is normal with mean mu^2/2 and variance mu^2, and M(z) = exp(mu^2 z(z+1)/2).
func Gaussian(mu float64) (Law, error) {
	if !(mu >= 1e-9 && mu <= 1e6) {
		return nil, fmt.Errorf("%w: the sensitivity over sigma is %v, but must be between 1e-9 and 1e6", errParameter, mu)
	}
	return gaussian{mu}, nil
}

func (g gaussian) infinite() float64 { return 0 }
func (g gaussian) top() float64      { return math.Inf(1) }

// gaussians is a sum of Gaussian losses, which is one: the squares of mu add up. It
// is known up to a relative error of loose.
type gaussians struct{ square, loose float64 }

// mergeGaussians returns the terms with all Gaussian losses in one, which comes first.
func mergeGaussians(terms []term) []term {
	var all gaussians
	out := make([]term, 1, len(terms)+1)
	for _, t := range terms {
		if g, ok := t.law.(gaussian); ok {
			all.square += float64(t.times) * g.mu * g.mu
			all.loose += unitRoundoff // of the addition
			continue
		}
		out = append(out, t)
	}
	if all.square == 0 {
		return out[1:]
	}
	all.loose += 4 * unitRoundoff
	out[0] = term{all, 1}
	return out
}

func (g gaussians) curve(epsilon float64) dp.Bracket {
	// delta(epsilon) increases in mu.
	mu := math.Sqrt(g.square)
	return dp.Bracket{
		Lower: numeric.Delta(mu*(1-g.loose-4*unitRoundoff), epsilon).Lower,
		Upper: numeric.Delta(mu*(1+g.loose+4*unitRoundoff), epsilon).Upper,
	}
}

func (g gaussians) infinite() float64 { return 0 }
func (g gaussians) top() float64      { return math.Inf(1) }

func (g gaussians) cumulant(z complex128) (complex128, float64) {
	t, y := real(z), imag(z)
	value := complex((t*(t+1)-y*y)*g.square/2, (2*t+1)*y*g.square/2)
	return value, (8*unitRoundoff + g.loose) * g.square * (t*(t+1) + y*y + (2*t+1)*math.Abs(y))
}

func (g gaussians) decay(_, y float64) float64 {
	return -g.square * y * y / 2 * (1 - g.loose - 16*unitRoundoff)
}

type laplace struct{ epsilon float64 }

// Laplace is the loss of continuous Laplace noise, epsilon being the l1 sensitivity over the scale:
// atoms at -epsilon and epsilon and a density between them. With w = exp(-(2z+1) epsilon),
//
//	M(z) = exp(z epsilon) ((z+1) + z w)/(2z+1)
//
// (Mironov 2017, Table II, at order z+1).
func Laplace(epsilon float64) (Law, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return nil, err
	}
	return laplace{epsilon}, nil
}

// delta(e) = 1 - exp((e - epsilon)/2): Balle, Barthe, Gaboardi 2018, Theorem 3.
func (l laplace) curve(epsilon float64) dp.Bracket {
	if epsilon >= l.epsilon {
		return dp.Bracket{}
	}
	return exactBracket(-math.Expm1((epsilon - l.epsilon) / 2))
}

func (l laplace) infinite() float64 { return 0 }
func (l laplace) top() float64      { return l.epsilon }

func (l laplace) cumulant(z complex128) (complex128, float64) {
	w, slack := twoSidedExp(z, l.epsilon)
	// ((z+1) + z w)/(2z+1) = 1 + z (w-1)/(2z+1).
	part := z / (2*z + 1)
	log, slack := logOnePlus(part*(w-1), slack+8*unitRoundoff)
	return z*complex(l.epsilon, 0) + log, slack + 8*unitRoundoff*size(z)*l.epsilon
}

func (l laplace) decay(t, y float64) float64 {
	// M(z) = (exp(z e) + exp(-(z+1) e))/2 + (exp(z e) - exp(-(z+1) e))/(2 (2z+1)).
	w := math.Exp(-(2*t + 1) * l.epsilon)
	most := (1 + w) / 2 * (1 + 1/(2*y))
	return min(0, math.Log(most*(2*t+1)/(t+1+t*w))+64*unitRoundoff)
}

// latticed returns a sum with few equal Laplace losses, the case in which the series
// converges slowest, as one that goes on a lattice: most of each loss is in its two
// atoms, where the generating function does not decay, and the lattice can hold
// them both. A sample of everybody is no sample, so it is a mixture of rate 1.
func (s Sum) latticed(epsilon float64) Sum {
	if len(s.terms) != 1 {
		return s
	}
	t := s.terms[0]
	l, ok := t.law.(laplace)
	switch {
	case !ok, l.epsilon < 1e-4, l.epsilon > 30:
		return s // extreme laws are next to nothing, or next to their upper atom
	case float64(t.times)*(math.Ln2-math.Log1p(math.Exp(-l.epsilon))) > 20:
		return s // ((1 + exp(-epsilon))/2)^times, the decay of the atoms, is enough
	case s.roughCumulant(0).tilt(epsilon)*l.epsilon > 100:
		return s // near the largest loss a lattice would have to be very fine
	}
	return Sum{[]term{{mixture{laplaceBase(l), 1, Remove}, t.times}}}
}

type exponential struct{ epsilon float64 }

// Exponential is a loss that dominates the exponential mechanism, and everything
// else of epsilon-bounded range (Durfee, Rogers 2019): where the losses of one
// pair of databases lie within an interval [t - epsilon, t].
//
// For a given t the worst pair has two outcomes, of losses t and t - epsilon
// (Dong, Durfee, Rogers 2020). With E = exp(epsilon), u = exp(t), x = exp(e), its
// curve is (E - u)(1 - x/u)/(E - 1), and the largest over t is at u = sqrt(x E):
//
//	delta(e) = (sqrt E - sqrt x)^2/(E - 1),   1/E <= x <= E.
//
// A largest of convex curves is convex, so it is the curve of a pair (Zhu, Dong,
// Wang 2022, Proposition 8), whose loss has density proportional to exp(l/2) on
// [-epsilon, epsilon]. So M(z) = sinh((z+1/2) epsilon)/((2z+1) sinh(epsilon/2)).
func Exponential(epsilon float64) (Law, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return nil, err
	}
	return exponential{epsilon}, nil
}

func (x exponential) curve(epsilon float64) dp.Bracket {
	if epsilon >= x.epsilon {
		return dp.Bracket{}
	}
	gap := math.Expm1((epsilon - x.epsilon) / 2)
	return exactBracket(gap * gap / -math.Expm1(-x.epsilon))
}

func (x exponential) infinite() float64 { return 0 }
func (x exponential) top() float64      { return x.epsilon }

func (x exponential) cumulant(z complex128) (complex128, float64) {
	// exp(z e) (1 - w)/((2z+1)(1 - exp(-e))).
	w, slack := expm1(-(2*z + 1) * complex(x.epsilon, 0))
	ratio := -w / (2*z + 1) / complex(-math.Expm1(-x.epsilon), 0)
	scale := size(ratio) / size(w)
	log, slack := logOf(ratio, slack*scale+16*unitRoundoff*size(ratio))
	return z*complex(x.epsilon, 0) + log, slack + 8*unitRoundoff*size(z)*x.epsilon
}

func (x exponential) decay(t, y float64) float64 {
	// |sinh(a+ib)| <= cosh(a).
	w := math.Expm1(-(2*t + 1) * x.epsilon)
	return min(0, math.Log((2+w)/-w*(2*t+1)/(2*y))+64*unitRoundoff)
}

type response struct{ epsilon, delta float64 }

// Response is the loss of randomized response with epsilon that tells the whole truth with
// probability delta. It dominates every (epsilon, delta)-differentially private mechanism (Kairouz,
// Oh, Viswanath 2015, Theorem 3.1; Murtagh, Vadhan 2016, Lemma 3.2). The loss is epsilon or
// -epsilon or, with probability delta, infinite.
func Response(epsilon, delta float64) (Law, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return nil, err
	}
	if !(delta >= 0 && delta < 1) {
		return nil, fmt.Errorf("%w: delta is %v, but must be at least 0 and below 1", errParameter, delta)
	}
	return response{epsilon, delta}, nil
}

func (r response) curve(epsilon float64) dp.Bracket {
	if epsilon >= r.epsilon {
		return dp.Bracket{Lower: r.delta, Upper: r.delta}
	}
	// (exp(E) - exp(e))/(1 + exp(E)), of the part without delta.
	inner := exactBracket(-math.Expm1(epsilon-r.epsilon) / (1 + math.Exp(-r.epsilon)))
	return clampUnit(dp.Bracket{
		Lower: (r.delta + (1-r.delta)*inner.Lower) * (1 - 8*unitRoundoff),
		Upper: (r.delta + (1-r.delta)*inner.Upper) * (1 + 8*unitRoundoff),
	})
}

func (r response) infinite() float64 { return r.delta }
func (r response) top() float64      { return r.epsilon }

func (r response) cumulant(z complex128) (complex128, float64) {
	w, slack := twoSidedExp(z, r.epsilon)
	log, slack := logOnePlus(w, slack)
	constant := math.Log1p(-r.delta) - math.Log1p(math.Exp(-r.epsilon))
	return z*complex(r.epsilon, 0) + log + complex(constant, 0), slack + 8*unitRoundoff*(size(z)*r.epsilon+math.Abs(constant))
}

// The losses are atoms: M does not decay for good, but repeats itself.
func (r response) decay(_, _ float64) float64 { return 0 }

func (r response) lattice() (spacing, bool) { return spacing{2 * r.epsilon, 1}, true }

// fade: |1 + w| decreases as the angle of w goes from 0 to pi.
func (r response) fade(t, y float64) float64 { return falling(r, t, y) }

// falling is fade for laws whose |M| decreases on the half period.
func falling(law analytic, t, y float64) float64 {
	v, wrong := law.cumulant(complex(t, y))
	zero, wrongZero := law.cumulant(complex(t, 0))
	return min(0, (real(v)-real(zero))*(1-4*unitRoundoff)+wrong+wrongZero)
}

// Renyi returns an upper bound on the Renyi divergence of order alpha > 1 of a law's
// pair, ln M(alpha-1)/(alpha-1), up to rounding; +Inf if the law has no closed form.
func Renyi(law Law, alpha float64) float64 {
	a, ok := mergeGaussians([]term{{law, 1}})[0].law.(analytic)
	if !ok || !(alpha > 1) || law.infinite() > 0 {
		return math.Inf(1)
	}
	value, slack := a.cumulant(complex(alpha-1, 0))
	r := (real(value) + slack) / (alpha - 1)
	if math.IsNaN(r) {
		return math.Inf(1)
	}
	return r + 4*unitRoundoff*math.Abs(r)
}
