package mech

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"sync"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// radialNoise adds a random vector of density ~ exp(-|b|/s), |b| its Euclidean norm,
// rounded to integers: pure privacy for an l2 sensitivity.
type radialNoise struct {
	sensitivity dp.Sensitivity
	cost        dp.Cost
	scale       *big.Rat
	dist        radialLaw
}

// errLength is returned when radial noise is asked for a vector that has no
// coordinates, or too many for the noise to fit in an int64.
var errLength = errors.New("radial noise is for vectors of 1 to 2^20 numbers")

// A coordinate that does not fit in an int64 becomes its end. With s up to 2^40 that takes a norm
// of 2^23 s, and for n up to 2^20 a Gamma(n) number is above 2^23 with a probability below exp(2^20
// (1 + ln 8) - 2^23), less than exp(-2^22): as rare as for Laplace noise.
const maxRadialLen = 1 << 20

// NewRadial calibrates radial noise for vectors of length n to an l2 sensitivity:
// s = D2/epsilon, rounded up to a rational number.
//
// Hardt, Talwar 2010, Section 4 (the K-norm mechanism) with the unit ball as K; Chaudhuri,
// Monteleoni, Sarwate 2011, Theorem 6, use the same noise. Between neighbours x and y the density
// at any v changes by the factor exp((|v-y| - |v-x|)/s), at most exp(D2/s) <= exp(epsilon), by the
// triangle inequality. That is said of the real vector x + b. What is released is x + round(b), and
// because x has integer coordinates that is round(x + b): a function of the real vector, which
// needs no data. The real numbers are not approximated: package noise draws digits until the
// rounding is certain.
//
// The claim does not depend on n. It is needed for HalfWidth: the norm of the
// noise is about n s, and a coordinate's deviation about s sqrt(n+1).
//
// The square root of D2^2 is the only number here that need not be rational. A
// larger s is more private, so it is rounded up, by a part in 2^64 at most.
func NewRadial(s dp.Sensitivity, n int, epsilon dp.Amount) (Mechanism, error) {
	if s.Norm() != dp.L2 {
		return nil, fmt.Errorf("%w: radial noise needs l2, not %v", errNorm, s)
	}
	if n < 1 || n > maxRadialLen {
		return nil, fmt.Errorf("%w, and not %d", errLength, n)
	}
	if err := checkAmount(epsilon); err != nil {
		return nil, err
	}
	scale := rootUp(s.L2Squared())
	scale.Quo(scale, epsilon.Rat())
	if err := checkScale(scale, smallestScale, largestScale); err != nil {
		return nil, err
	}
	rho, err := dp.CeilFloat(dp.RhoOfPure(epsilon.Float()))
	if err != nil {
		return nil, err
	}
	return &radialNoise{
		sensitivity: s, cost: dp.Cost{Epsilon: epsilon, Rho: rho}, scale: scale, dist: newRadialLaw(scale, n),
	}, nil
}

// rootUp returns the square root of an integer, or the next multiple of 2^-64 above it.
func rootUp(square *big.Int) *big.Rat {
	const digits = 64
	fine := new(big.Int).Lsh(square, 2*digits)
	root := new(big.Int).Sqrt(fine)
	if new(big.Int).Mul(root, root).Cmp(fine) < 0 {
		root.Add(root, big.NewInt(1))
	}
	return new(big.Rat).SetFrac(root, new(big.Int).Lsh(big.NewInt(1), digits))
}

func (*radialNoise) Name() string                  { return "radial" }
func (*radialNoise) Norm() dp.Norm                 { return dp.L2 }
func (m *radialNoise) Sensitivity() dp.Sensitivity { return m.sensitivity }

// Cost returns the pure epsilon, and the rho that follows from every pure epsilon.
func (m *radialNoise) Cost() dp.Cost { return m.cost }

func (m *radialNoise) Parameter() *big.Rat { return new(big.Rat).Set(m.scale) }

// Tail bounds P(|noise| > k) of one coordinate from above, for vectors of the length that
// the mechanism was made for, and for shorter ones.
func (m *radialNoise) Tail(k int64) float64 { return m.dist.tail(k) }

// HalfWidth returns a k with P(|noise| > k) <= beta for one coordinate. It is the smallest for odd
// lengths up to 16,000, but for rounding; for an even length n it is that of n + 1, too large by a
// share of about 1/(2n); for longer vectors it is Chernoff's, some tenths too large.
func (m *radialNoise) HalfWidth(beta float64) int64 { return m.dist.halfWidth(beta) }

func (m *radialNoise) fill(src *noise.Source, out []int64) {
	copy(out, noise.NewRadial(src, len(out)).Round(m.scale))
}

func (m *radialNoise) law() law { return m.dist }

// radialLaw is the law of round(s b), where b is one coordinate of a vector of n real
// numbers with density ~ exp(-|x|).
//
// Such a vector is sqrt(V) z with independent normal z and V of the chi-square law with n + 1
// degrees of freedom, because given V = v the density at |x| = t is in proportion to v^(-n/2)
// exp(-t^2/(2v)), V has v^((n-1)/2) exp(-v/2), and the integral of v^(-1/2) exp(-(t^2/v + v)/2) is
// sqrt(2 pi) exp(-t). So E exp(u b) = E exp(u^2 V/2) = (1 - u^2)^-m with m = (n+1)/2, which is the
// transform of G - G' for two independent Gamma(m) numbers. For whole m, G > t + G' where a Poisson
// number of mean t + G' is below m, and a Poisson number of mean G' is negative binomial: so
//
//	P(b > t) = P(B + K < m),   P(B = l) = C(m+l-1, l) 2^-(m+l),   K Poisson of mean t.
//
// V grows with n, so |b| does, and for even n the law here is that of n + 1: for an odd n it is
// exact.
type radialLaw struct {
	s float64
	m int
}

func newRadialLaw(scale *big.Rat, n int) radialLaw {
	s, _ := scale.Float64()
	return radialLaw{s, n/2 + 1}
}

// maxSummedLen is up to which m a tail is summed. The vectors beyond have some ten
// thousand coordinates, each nearly normal, and Chernoff's bound is good enough.
const maxSummedLen = 1 << 13

// beyond returns P(b > t) for t > 0, and a bound on its error relative to itself, but
// for what is below the smallest numbers.
//
// It goes through the pairs (l, m-1-l) from l = m-1 on, with logarithms of the
// probabilities. Each step adds at most a few units in the last place of the largest
// logarithm, and the first one has some of Lgamma's.
func (l radialLaw) beyond(t float64) (p, err float64) {
	m := float64(l.m)
	all, _ := math.Lgamma(2*m - 1)
	one, _ := math.Lgamma(m)
	b, k := all-2*one-(2*m-1)*math.Ln2, -t
	largest := math.Max(all+2*one+2*m, t)
	below := math.Exp(k) // P(K <= j)
	p = math.Exp(b) * below
	for j := 1.0; j < m; j++ {
		k += math.Log(t / j)
		b += math.Log(2 * (m - j) / (2*m - j - 1))
		largest = math.Max(largest, math.Abs(k))
		below += math.Exp(k)
		p += math.Exp(b) * below
	}
	return p, (m + 8) * (largest + 8) * 0x1p-49
}

func (l radialLaw) at(k int64) float64 { return (float64(k) + 0.5) / l.s * (1 - 0x1p-50) }

// tail: |round(x)| > k where |x| >= k + 1/2.
func (l radialLaw) tail(k int64) float64 {
	if k < 0 {
		return 1
	}
	t := l.at(k)
	simple := l.chernoff(t)
	if simple < smallestTail || l.m > maxSummedLen {
		return simple
	}
	p, err := l.beyond(t)
	return math.Min(simple, 2*p*(1+err)+float64(l.m)*1e-300)
}

// chernoff is P(|b| > t) <= 2 (1 - u^2)^-m exp(-u t), which holds for every u below 1;
// this u is about the best.
func (l radialLaw) chernoff(t float64) float64 {
	m := float64(l.m)
	u := t / (m + math.Hypot(m, t))
	x := u*t + m*math.Log1p(-u*u)
	return math.Min(1, 2*math.Exp(-x)*(1+(u*t+m+4)*0x1p-46)+2*math.SmallestNonzeroFloat64)
}

func (l radialLaw) halfWidth(beta float64) int64 {
	if !(beta > 0) {
		return math.MaxInt64
	}
	if beta >= 1 {
		return 0
	}
	high := int64(1)
	for high < 1<<62 && l.chernoff(l.at(high)) > beta {
		high *= 2
	}
	_, high = numeric.BisectWhole(-1, high, func(k int64) bool { return !(l.tail(k) <= beta) })
	return high
}

func (l radialLaw) block(lo, hi int64) (mass, err float64) {
	outer, e := l.beyond(l.at(hi))
	const rounding = 0x1p-48 // of the difference, and of where the blocks end
	if lo <= 0 {
		return 1 - 2*outer, 2*outer*e + rounding
	}
	inner, f := l.beyond(l.at(lo - 1))
	return math.Max(0, inner-outer), inner*f + outer*e + inner*(l.at(hi)+1)*rounding
}

// logMGF: rounding moves the noise by 1/2 at most.
func (l radialLaw) logMGF(t float64) float64 {
	u := t * l.s * (1 + 0x1p-50)
	if u >= 1 {
		return math.Inf(1)
	}
	return (t/2 - float64(l.m)*math.Log1p(-u*u)) * (1 + 0x1p-48)
}

func (l radialLaw) horizon() float64  { return 1 / l.s }
func (l radialLaw) variance() float64 { return 2*float64(l.m)*l.s*l.s + 1.0/12 }

// Reals is a vector of real noise for objective perturbation: it enters a function that is
// minimised, and the minimiser is released. Its digits are drawn as they are asked for; the numbers
// are those that they are from the beginning. It is safe for concurrent use, and prints as [noise].
type Reals struct {
	scale float64
	mu    sync.Mutex
	reals *noise.Reals
}

// Names of the calls that [Releaser.DrawReals] is recorded as.
const (
	objectiveRadial   = "objective radial"
	objectiveGaussian = "objective gaussian"
)

// DrawReals draws n real numbers: of density ~ exp(-|b|/scale) with the Euclidean norm,
// or independent normal ones of standard deviation scale where gaussian is true. It
// panics where the scale is not a positive number.
//
// The noise alone promises nothing: what the minimiser costs is computed by package
// learn, and that only a function of the exact minimiser leaves is the
// caller's part. It is recorded as a call without values, whose Parameter is the scale.
//
// How many digits are asked for later can depend on private values. So the numbers
// have a source of their own, and nothing that this releaser draws for others depends on it.
func (r *Releaser) DrawReals(n int, gaussian bool, scale float64) *Reals {
	if !(scale > 0) || math.IsInf(scale, 1) {
		panic("mech: real noise needs a positive scale")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	name, draw := objectiveRadial, noise.NewRadial
	if gaussian {
		name, draw = objectiveGaussian, noise.NewNormals
	}
	out := &Reals{scale: scale, reals: draw(r.src.Split(), n)}
	if r.record != nil {
		r.record(Call{Mechanism: name, Parameter: new(big.Rat).SetFloat64(scale), Values: Seal()})
	}
	return out
}

func (r *Reals) Len() int                 { return r.reals.Len() }
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
