package mech

import "math"

func powerOfTwo(atLeast float64) int {
	n := 2
	for float64(n) < atLeast {
		n *= 2
	}
	return n
}

// oddStep is an odd step for which the range fits into n points, with a little
// to spare.
func oddStep(far float64, n int) int64 {
	return int64(2.04*far/float64(n)) | 1
}

// onLattice computes the distribution of S on the multiples of an odd step h
// and returns a k with P(|S| > k) <= beta.
//
// Every noise X, times its weight, is rounded to the nearest multiple of h: X =
// hB + V with |V| <= (h-1)/2. The B are added modulo n: P(|sum of B| > j) is at
// most the same modulo n plus P(|sum of B| >= n/2), which is Chernoff's bound
// for the B themselves (outside). What is lost with V is paid for in one of
// three ways.
//
// h = 1. V is zero.
//
// Equal weights. hB + U, with U uniform on the block of V and independent of B,
// is *more spread* than X: P(|X| > t) <= P(|hB + U| > t) for every t, because
// the probabilities of X fall in |x|. It is itself symmetric and unimodal. Sums
// keep the order when their terms are symmetric and unimodal on one lattice
// (Birnbaum 1948: P(|X + y| <= t) falls in |y|, so spreading y lowers its mean;
// replace the terms one by one). The sum of two such variables is in block B +
// B' + c, where c is the block of U + U': -1, 0 or 1 with probabilities w,
// 1-2w, w, where w = (h^2-1)/(8 h^2). It is symmetric and unimodal, so making
// it uniform on its blocks spreads it again, and so on for all N noises. What
// this costs is variance: less than h^2/4 for each noise.
//
// Different weights. V is symmetric and bounded, so by Hoeffding 1963, Theorem
// 2, P(|sum of V| > c) <= 2 exp(-2c^2/(N h^2)). The V depend on the B, and need
// not be independent of them for P(|S| > hj + c) <= P(|sum of B| > j) + P(|sum
// of V| > c).
func (s sum) onLattice(beta, tilt float64, h int64, n int) float64 {
	product := make([]float64, n)
	for i := range product {
		product[i] = 1
	}
	// lost bounds the probability that is not where the computation says.
	lost, spread, smallest := 0.0, 0.0, 1.0
	outside := newOutside(tilt*float64(h), n)
	for _, q := range s.parts {
		b := newBlocks(q, h, n)
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
			product[i] *= power(f, int(s.copies)-1)
		}
	}
	lost += outside.bound()
	x := make([]complex128, n)
	for i, f := range product {
		x[i] = complex(f/float64(n), 0)
	}
	transform(x)
	// The 2-norm of the error of x: each transformed law is off by a share of
	// its norm, once for each copy, the other factors being at most 1; powers
	// and products are off by at most 32 N 2^-53 of the result, and the last
	// transform by its share of it. The result's norm is at most that of any
	// term (Young). By Cauchy and Schwarz the sum of n errors is at most sqrt n
	// times that.
	e := transformError(n)
	lost += 1.1 * math.Sqrt(float64(n)) * (e*spread + (e+32*s.copies*0x1p-53)*smallest)
	c := 0.0
	if !s.even && h > 1 {
		c = float64(h) * math.Sqrt(s.copies/2*(math.Ln2-math.Log(beta*share))) * (1 + 0x1p-48)
		lost += beta * share
	}
	budget := beta - lost*(1+1e-9)
	if !(budget > 0) {
		return math.Inf(1) // Chernoff's bound is what remains.
	}
	// From the far end inwards, the first block that does not fit into the
	// budget.
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
	// Within block j the probability is spread evenly over h integers, on each
	// side; some of them from the outside still fit. The block around zero has
	// half of its integers on each side.
	mass, width, end := 2*math.Max(0, real(x[j])), float64(h), float64(j)*float64(h)+float64(h-1)/2
	if j == 0 {
		mass, width = math.Max(0, real(x[0])), float64(h)/2
	}
	fit := math.Floor(width * (budget - tail) / math.Max(mass, 1e-300) * (1 - 1e-12))
	return math.Max(0, end-math.Min(fit, width))
}

// multiply multiplies the product by the count-th power of the transform of
// values. A symmetric law has a real transform between -1 and 1, so what is not
// is error, and goes.
func multiply(product []float64, values []complex128, count int) {
	transform(values)
	for i, v := range values {
		product[i] *= power(math.Max(-1, math.Min(1, real(v))), count)
	}
}

// power is f^n by squaring, for its error: at most 2n roundings.
func power(f float64, n int) float64 {
	r := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r *= f
		}
		f *= f
	}
	return r
}

// blocks is the law of one noise of a part, times its weight, rounded to
// multiples of h, on n points modulo n.
type blocks struct {
	values []complex128
	norm   float64 // at least the 2-norm
	err    float64 // at least the sum of all errors, what lies outside of the n points included
}

func newBlocks(q part, h int64, n int) blocks {
	b := blocks{values: make([]complex128, n)}
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

// outside bounds P(|sum of B| >= n/2) by Chernoff's inequality at a few tilts.
type outside struct {
	n     int
	tilts [4]float64
	log   [4]float64
}

func newOutside(tilt float64, n int) *outside {
	o := &outside{n: n}
	for i := range o.tilts {
		o.tilts[i] = tilt * (1 - 0.15*float64(i))
	}
	return o
}

// add counts a law that is given by its values on 0 to n/2, count times.
func (o *outside) add(values []complex128, count float64) {
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
func (o *outside) kernel(w, count float64) {
	for i, t := range o.tilts {
		o.log[i] += count * math.Log1p(2*w*(math.Cosh(t)-1)*(1+1e-11))
	}
}

func (o *outside) bound() float64 {
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
