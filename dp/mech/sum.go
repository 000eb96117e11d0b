package mech

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// Term is a number of independent noises of one mechanism, each multiplied by the same weight.
type Term struct {
	Mechanism Mechanism
	Count     int
	Weight    int64
}

// errTerm is returned when the terms or the beta of a sum make no sense.
var errTerm = errors.New("not a sum of noises")

// HalfWidthOfSum returns a k with P(|S| > k) <= beta, where S is the sum of the
// terms' independent noises, each times its weight. It is never too small. How
// near to the smallest it is, with N the number of noises:
//
//   - one noise: exact, as HalfWidth is;
//   - where all of S that matters is within 2^16 steps of the common divisor of the weights:
//     exact up to an error of about 1e-13 N + 1e-11 in the probability;
//   - beyond that, with equal weights: too large by a share of about 2e-8 N;
//   - beyond that, with different weights: too large by a share of about
//     2e-4 sqrt N up to N = 16, and half that share above.
//
// It takes microseconds for one noise and some tens of milliseconds at most otherwise.
func HalfWidthOfSum(beta float64, terms ...Term) (int64, error) {
	if !(beta > 0 && beta < 1) {
		return 0, fmt.Errorf("%w: beta must be above 0 and below 1", errTerm)
	}
	s, err := newNoiseSum(terms)
	if err != nil {
		return 0, err
	}
	w := s.halfWidth(beta)
	if more := s.off(terms); w <= math.MaxInt64-more {
		return w + more, nil
	}
	return math.MaxInt64, nil
}

// off is how many steps more than the sum of Gaussian noises a sum with averages in it is off. An
// average is within its ExtraSteps of a normal ([AveragedNoise]), and a discrete Gaussian within 1
// of one ([MarginalNoise]), so it is within Off and one more of a discrete Gaussian of its own. One
// alone is compared by its probabilities, and needs no more than its Off.
func (s noiseSum) off(terms []Term) int64 {
	all := 0.0
	for _, t := range terms {
		a, ok := t.Mechanism.(*AveragedNoise)
		if !ok {
			continue
		}
		each := a.off + 1
		if s.copies == 1 {
			each = a.off
		}
		all += float64(each) * float64(t.Count) * math.Abs(float64(t.Weight))
	}
	return roundUp(all)
}

// noiseSum is a sum of noises over the common divisor of the weights.
type noiseSum struct {
	parts   []noiseTerm
	copies  float64 // the number of noises
	divisor int64
	even    bool // all weights are equal, so they are all 1 here
}

type noiseTerm struct {
	law    law
	count  int
	weight int64 // positive
}

func newNoiseSum(terms []Term) (noiseSum, error) {
	s, radial := noiseSum{even: true}, false
	for _, t := range terms {
		switch {
		case t.Mechanism == nil:
			return s, fmt.Errorf("%w: a term has no mechanism", errTerm)
		case t.Count < 0 || t.Count > 1<<30:
			return s, fmt.Errorf("%w: a count must be from 0 to 2^30", errTerm)
		case t.Weight == math.MinInt64:
			return s, fmt.Errorf("%w: a weight must be above -2^63", errTerm)
		case t.Count == 0 || t.Weight == 0:
			continue
		}
		// The noise is symmetric, so the sign of a weight does not matter.
		w := max(t.Weight, -t.Weight)
		s.parts = append(s.parts, noiseTerm{t.Mechanism.law(), t.Count, w})
		s.copies += float64(t.Count)
		s.divisor = gcd(s.divisor, w)
		radial = radial || isJoint(t.Mechanism)
	}
	if radial && s.copies > 1 {
		return s, fmt.Errorf("%w: the coordinates of radial noise and of marginals are not independent; ask for the half width of one",
			errTerm)
	}
	for i := range s.parts {
		s.parts[i].weight /= s.divisor
		s.even = s.even && s.parts[i].weight == 1
	}
	return s, nil
}

// isJoint reports whether the coordinates of a mechanism's noise depend on each other.
func isJoint(m Mechanism) bool {
	switch m.(type) {
	case *radialNoise, *MarginalNoise:
		return true
	}
	return false
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

const (
	// Small sums are computed on all of their support.
	exactPoints = 1 << 17
	// Points of the coarse lattice, for equal weights and for different ones.
	evenPoints  = 1 << 16
	mixedPoints = 1 << 17
	// The share of beta that is to pay for S outside of the lattice, and for the residue of
	// rounding. It moves k by about 2^-14 of a standard deviation.
	residueShare = 0x1p-14
)

func (s noiseSum) halfWidth(beta float64) int64 {
	switch {
	case len(s.parts) == 0:
		return 0
	case len(s.parts) == 1 && s.parts[0].count == 1:
		return s.scaled(float64(s.parts[0].law.halfWidth(beta)))
	}
	simple, _ := s.chernoff(beta)
	far, tilt := s.chernoff(beta * residueShare)
	best := math.Inf(1)
	switch {
	case far > 0x1p60:
	case 2*far+4 <= exactPoints:
		best = s.onLattice(beta, tilt, 1, powerOfTwo(2*far+4))
	case s.even:
		best = s.onLattice(beta, tilt, oddStep(far, evenPoints), evenPoints)
	case s.copies <= 16:
		best = s.onLattice(beta, tilt, oddStep(far, mixedPoints), mixedPoints)
	default:
		best = s.onLattice(beta, tilt, oddStep(far, 2*mixedPoints), 2*mixedPoints)
	}
	return s.scaled(math.Min(best, simple))
}

// scaled returns k times the divisor, rounded up.
func (s noiseSum) scaled(k float64) int64 {
	k = math.Ceil(k)
	if k >= 0x1p53 || k*float64(s.divisor) >= 0x1p53 {
		return roundUp(k * float64(s.divisor) * (1 + 0x1p-50))
	}
	return int64(k) * s.divisor
}

// chernoff returns a k with P(|S| > k) <= p, and the t that proves it: for every t > 0, P(|S| > k)
// <= 2 E exp(tS) exp(-tk), so that k = (ln E exp(tS) + ln(2/p))/t. Every t gives a valid k; the
// search for the best one need not be exact.
func (s noiseSum) chernoff(p float64) (k, t float64) {
	need := (math.Ln2 - math.Log(p)) * (1 + 0x1p-48)
	horizon, variance := math.Inf(1), 0.0
	for _, q := range s.parts {
		horizon = math.Min(horizon, q.law.horizon()/float64(q.weight))
		variance += float64(q.count) * q.law.variance() * float64(q.weight) * float64(q.weight)
	}
	at := func(t float64) float64 {
		total := need
		for _, q := range s.parts {
			total += float64(q.count) * q.law.logMGF(t*float64(q.weight)*(1+0x1p-50))
		}
		return total / t * (1 + 1e-12)
	}
	// The best t for a Gaussian of this variance; from there on, search between
	// a thousandth of it and the horizon.
	middle := math.Sqrt(2 * need / math.Max(variance, 1e-300))
	low, high := math.Log(math.Min(middle, horizon))-7, math.Log(math.Min(1000*middle, horizon))
	k = math.Inf(1)
	// Mirrored, so that the smaller of two t is kept that are as good.
	numeric.Minimise(func(x float64) float64 {
		now := at(math.Exp(-x))
		if now < k {
			k, t = now, math.Exp(-x)
		}
		return now
	}, -high, -low, (high-low)*3.7e-13)
	return k, t
}

func powerOfTwo(atLeast float64) int {
	n := 2
	for float64(n) < atLeast {
		n *= 2
	}
	return n
}

// oddStep is an odd step for which the range fits into n points, with a little to spare.
func oddStep(far float64, n int) int64 { return int64(2.04*far/float64(n)) | 1 }

// onLattice computes the distribution of S on the multiples of an odd step h
// and returns a k with P(|S| > k) <= beta.
//
// Every noise X, times its weight, is rounded to the nearest multiple of h: X = hB + V with |V| <=
// (h-1)/2. The B are added modulo n: P(|sum of B| > j) is at most the same modulo n plus P(|sum of
// B| >= n/2), which is Chernoff's bound for the B themselves (outside). What is lost with V is paid
// for in one of three ways.
//
// h = 1. V is zero.
//
// Equal weights. hB + U, with U uniform on the block of V and independent of B, is *more spread*
// than X: P(|X| > t) <= P(|hB + U| > t) for every t, because the probabilities of X fall in |x|. It
// is itself symmetric and unimodal. Sums keep the order when their terms are symmetric and unimodal
// on one lattice (Birnbaum 1948: P(|X + y| <= t) falls in |y|, so spreading y lowers its mean;
// replace the terms one by one). The sum of two such variables is in block B + B' + c, where c is
// the block of U + U': -1, 0 or 1 with probabilities w, 1-2w, w, where w = (h^2-1)/(8 h^2). It is
// symmetric and unimodal, so making it uniform on its blocks spreads it again, and so on for all N
// noises. What this costs is variance: less than h^2/4 for each noise.
//
// Different weights. V is symmetric and bounded, so by Hoeffding 1963, Theorem 2, P(|sum of V| > c)
// <= 2 exp(-2c^2/(N h^2)). The V depend on the B, and need not be independent of them for P(|S| >
// hj + c) <= P(|sum of B| > j) + P(|sum of V| > c).
func (s noiseSum) onLattice(beta, tilt float64, h int64, n int) float64 {
	product := make([]float64, n)
	for i := range product {
		product[i] = 1
	}
	// lost bounds the probability that is not where the computation says.
	lost, spread, smallest := 0.0, 0.0, 1.0
	outside := newOutsideBound(tilt*float64(h), n)
	for _, q := range s.parts {
		b := newRoundedLaw(q, h, n)
		outside.add(b.values, float64(q.count))
		lost += float64(q.count) * b.err
		spread += float64(q.count) * b.norm
		smallest = math.Min(smallest, b.norm)
		multiply(product, b.values, q.count)
	}
	if s.even && h > 1 {
		// The block c, once for every addition.
		w := (1 - 1/(float64(h)*float64(h))) / 8
		outside.kernel(w, s.copies-1)
		for i := range product {
			f := 1 - 2*w*(1-math.Cos(2*math.Pi*float64(i)/float64(n)))
			product[i] *= intPower(f, int(s.copies)-1)
		}
	}
	lost += outside.bound()
	x := make([]complex128, n)
	for i, f := range product {
		x[i] = complex(f/float64(n), 0)
	}
	transform(x)
	// The 2-norm of the error of x: each transformed law is off by a share of its norm, once for
	// each copy, the other factors being at most 1; powers and products are off by at most 32 N
	// 2^-53 of the result, and the last transform by its share of it. The result's norm is at most
	// that of any term (Young). By Cauchy and Schwarz the sum of n errors is at most sqrt n times
	// that.
	e := transformError(n)
	lost += 1.1 * math.Sqrt(float64(n)) * (e*spread + (e+32*s.copies*0x1p-53)*smallest)
	c := 0.0
	if !s.even && h > 1 {
		c = float64(h) * math.Sqrt(s.copies/2*(math.Ln2-math.Log(beta*residueShare))) * (1 + 0x1p-48)
		lost += beta * residueShare
	}
	budget := beta - lost*(1+1e-9)
	if !(budget > 0) {
		return math.Inf(1) // Chernoff's bound is what remains.
	}
	// From the far end inwards, the first block that does not fit into the budget.
	tail := math.Max(0, real(x[n/2]))
	j := n/2 - 1
	for ; j > 0; j-- {
		if next := tail + 2*math.Max(0, real(x[j])); next > budget {
			break
		} else {
			tail = next
		}
	}
	if !s.even || h == 1 {
		return float64(j)*float64(h) + c
	}
	// Within block j the probability is spread evenly over h integers, on each side; some of them
	// from the outside still fit. The block around zero has half of its integers on each side.
	mass, width, end := 2*math.Max(0, real(x[j])), float64(h), float64(j)*float64(h)+float64(h-1)/2
	if j == 0 {
		mass, width = math.Max(0, real(x[0])), float64(h)/2
	}
	fit := math.Floor(width * (budget - tail) / math.Max(mass, 1e-300) * (1 - 1e-12))
	return math.Max(0, end-math.Min(fit, width))
}

// multiply multiplies the product by the count-th power of the transform of values. A symmetric law
// has a real transform between -1 and 1, so what is not is error, and goes.
func multiply(product []float64, values []complex128, count int) {
	transform(values)
	for i, v := range values {
		product[i] *= intPower(math.Max(-1, math.Min(1, real(v))), count)
	}
}

// intPower is f^n by squaring, for its error: at most 2n roundings.
func intPower(f float64, n int) float64 {
	r := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r *= f
		}
		f *= f
	}
	return r
}

// roundedLaw is the law of one noise of a part, times its weight, rounded to
// multiples of h, on n points modulo n.
type roundedLaw struct {
	values []complex128
	norm   float64 // at least the 2-norm
	err    float64 // at least the sum of all errors, what lies outside of the n points included
}

func newRoundedLaw(q noiseTerm, h int64, n int) roundedLaw {
	b := roundedLaw{values: make([]complex128, n)}
	half, last := (h-1)/2, int64(n/2)-1
	for m := int64(0); m <= last; m++ {
		// The x with |weight x - m h| <= half.
		lo, hi := ceilDiv(m*h-half, q.weight), floorDiv(m*h+half, q.weight)
		if lo > hi {
			continue
		}
		mass, e := q.law.block(lo, hi)
		b.values[m] = complex(mass, 0)
		if m == 0 {
			b.norm, b.err = mass*mass, e
			continue
		}
		b.values[int64(n)-m] = complex(mass, 0)
		b.norm += 2 * mass * mass
		b.err += 2 * e
	}
	b.norm = math.Sqrt(b.norm) * (1 + 1e-9)
	b.err += q.law.tail(floorDiv(last*h+half, q.weight))
	return b
}

// outsideBound bounds P(|sum of B| >= n/2) by Chernoff's inequality at a few tilts.
type outsideBound struct {
	n     int
	tilts [4]float64
	log   [4]float64
}

func newOutsideBound(tilt float64, n int) *outsideBound {
	o := &outsideBound{n: n}
	for i := range o.tilts {
		o.tilts[i] = tilt * (1 - 0.15*float64(i))
	}
	return o
}

// add counts a law that is given by its values on 0 to n/2, count times.
func (o *outsideBound) add(values []complex128, count float64) {
	for i, t := range o.tilts {
		total := 0.0
		for m := o.n/2 - 1; m > 0; m-- {
			if p := real(values[m]); p > 0 {
				total += 2 * p * math.Cosh(t*float64(m))
			}
		}
		o.log[i] += count * math.Log((total+real(values[0]))*(1+1e-11))
	}
}

// kernel counts the law -1, 0, 1 with probabilities w, 1-2w, w.
func (o *outsideBound) kernel(w, count float64) {
	for i, t := range o.tilts {
		o.log[i] += count * math.Log1p(2*w*(math.Cosh(t)-1)*(1+1e-11))
	}
}

func (o *outsideBound) bound() float64 {
	best := math.Inf(1)
	for i, t := range o.tilts {
		best = math.Min(best, 2*math.Exp(o.log[i]-t*float64(o.n/2))*(1+1e-9))
	}
	return best
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }

// transform is the discrete Fourier transform of a vector whose length is a
// power of two, in place: Cooley and Tukey's, radix two. Sums need it for a few
// vectors of a fixed kind only, with a proven error, so we do not import one.
//
// Error: with roots of unity that are within 2u of the true ones, the result is within 8 u log2(n)
// of itself in the 2-norm (Higham 2002, Theorem 24.2, u = 2^-53); transformError allows twice that.
func transform(x []complex128) {
	n := len(x)
	shift := 64 - uint(bits.TrailingZeros(uint(n)))
	for i := range x {
		if j := int(bits.Reverse64(uint64(i)) >> shift); n > 1 && i < j {
			x[i], x[j] = x[j], x[i]
		}
	}
	roots := make([]complex128, n/2)
	for i := range roots {
		sin, cos := math.Sincos(-2 * math.Pi * float64(i) / float64(n))
		roots[i] = complex(cos, sin)
	}
	for size := 2; size <= n; size *= 2 {
		half, step := size/2, n/size
		for start := 0; start < n; start += size {
			low, high := x[start:start+half], x[start+half:start+size]
			for i := range low {
				t := high[i] * roots[i*step]
				low[i], high[i] = low[i]+t, low[i]-t
			}
		}
	}
}

func transformError(n int) float64 { return 16 * float64(bits.Len(uint(n))) * 0x1p-53 }
