package solve

import (
	"context"
	"errors"
	"math"
	"math/big"
	"runtime"
	"sync"
	"sync/atomic"
)

// Point is a point near the minimum.
type Point struct {
	W []float64
	// Bound is what the norm of the gradient at W is at most, proven.
	Bound float64
}

// ErrNotReached is returned where the proof that was asked for cannot be had: by Minimise where the
// tolerance is so small that no point of float64 is near enough, about 2^-52 |w| times curvature
// times radius^2 for each row, and by Exactly where a weight is so near the middle between two
// steps that thousand digits do not tell. It says something about the rows, so whoever sees it ends
// the training, and says no more.
var ErrNotReached = errors.New("the training did not reach the accuracy that its guarantee needs, and nothing is released")

// Minimise returns a point at which the gradient of the problem, plus linear, has a norm of at most
// tolerance, proven. linear may be nil.
func Minimise(ctx context.Context, p *Problem, linear []float64, tolerance float64, progress func(float64)) (*Point, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	f := p.objective()
	if linear != nil {
		if len(linear) != f.dim || !finite(linear) {
			return nil, errProblem
		}
		f.b = linear
	}
	w, err := f.warmStart(ctx)
	if err != nil {
		return nil, err
	}
	at, err := f.descend(ctx, w, func(p *iterate) float64 { return (tolerance*(1-0x1p-30) - p.error) }, f.reporter(tolerance, progress))
	if err != nil {
		return nil, err
	}
	if at.bound() <= tolerance {
		return &Point{at.w, at.bound()}, nil
	}
	return f.refineInPairs(ctx, at, tolerance)
}

// refineInPairs goes on with gradients in pairs, for a tolerance that float64 cannot prove. The
// point stays one of float64.
func (f *objective) refineInPairs(ctx context.Context, at *iterate, tolerance float64) (*Point, error) {
	if !finite(at.w) {
		return nil, ErrNotReached
	}
	m := f.model(at.z, 0x1p-20, nil)
	w, b := numbers(f.dim, pairBits), numbers(f.dim, 64)
	for j := range w {
		w[j].SetFloat64(at.w[j])
		b[j].SetFloat64(f.b[j])
	}
	for range 20 {
		p := f.pairs(ctx, w, b) // of float64, which are pairs, so that it does not change them
		if p == nil {
			return nil, ctx.Err()
		}
		bound, _ := addUp(p.norm, p.error).Float64()
		if bound = bound*roundUpFactor + underflow; bound <= tolerance {
			out := make([]float64, f.dim)
			for j := range out {
				out[j], _ = w[j].Float64()
			}
			return &Point{out, bound}, nil
		}
		m.newtonStep(ctx, w, p).moveTo(w)
		for j := range w {
			w[j].SetPrec(53).SetPrec(pairBits)
		}
	}
	return nil, ErrNotReached
}

// reporter tells progress how far the gradient has come on its way to a norm, by digits.
func (f *objective) reporter(goal float64, progress func(float64)) func(*iterate) {
	if progress == nil {
		return func(*iterate) {}
	}
	first := float64(len(f.x))*f.radius*f.loss.Slope() + norm(f.b)
	last := 0.0
	return func(p *iterate) {
		if share := math.Log(first/p.norm) / math.Log(first/goal); share > last && share <= 1 {
			last = share
		}
		progress(last)
	}
}

// iterate is a point with the gradient there, as computed, and how far that can be from what it is.
type iterate struct {
	w, z  []float64 // z_i = w.x_i, about
	g     []float64
	norm  float64 // |g|, rounded up
	error float64 // |g - gradient| is at most that, proven; not a number, or infinite, where nothing is
}

// bound is what the gradient's norm is at most.
func (p *iterate) bound() float64 { return (p.norm + p.error) * roundUpFactor }

const (
	unitRoundoff  = 0x1p-53
	roundUpFactor = 1 + 0x1p-40 // for the roundings of a formula of positive terms, far fewer than 2^12 of them
	underflow     = 0x1p-500    // for everything that underflows
)

// at computes the gradient at w, and proves its error. The package's comment has the proof.
func (f *objective) at(w []float64) *iterate {
	n := len(f.x)
	p := &iterate{w: w, z: make([]float64, n)}
	slopes := make([]float64, n)
	p.g = f.pass(w, func(lo int, products, t []float64) {
		copy(p.z[lo:], products)
		for k, z := range products {
			t[k] = f.weighted(lo+k, f.loss.Derivative(z, f.y[lo+k]))
		}
		copy(slopes[lo:], t)
	})
	size := 0.0
	for _, t := range slopes {
		size += math.Abs(t)
	}
	size *= 1 + 2*float64(n+1)*unitRoundoff

	data := norm(p.g)
	for j := range p.g {
		p.g[j] = (p.g[j] + f.lambda*w[j]) + f.b[j]
	}
	p.norm = norm(p.g)
	length := norm(w)
	p.error = f.error(size, length) + 3*unitRoundoff*(data+f.lambda*length+norm(f.b))*roundUpFactor
	return p
}

// error bounds what the sum over rows is wrong by, where the sizes of the coefficients add up to
// size at most and |w| is at most length.
func (f *objective) error(size, length float64) float64 {
	n, r := float64(len(f.x)), f.radius
	product := gamma(f.dim) * length * r // of w.x
	slope := f.loss.DerivativeError() + f.loss.Curvature()*roundUpFactor*product
	return (r*(gamma(depth(len(f.x))+1)*size+n*slope) + underflow) * roundUpFactor
}

// gamma is k u/(1 - k u), rounded up: the largest error in proportion of k roundings.
func gamma(k int) float64 {
	ku := float64(k) * unitRoundoff
	return ku / (1 - ku) * roundUpFactor
}

func norm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return (math.Sqrt(sum*(1+gamma(len(v)+1))) + underflow) * roundUpFactor
}

// pairBits is how many bits a pair of float64 holds.
const pairBits = 106

// pairDepth is the largest number of sums that a row's share meets in a pass over pairs.
func pairDepth(n int) int { return min(n, block) + (n/segments/block + 2) + segments }

// pairs computes the gradient at w in pairs of float64 that are added up, twice as precise as
// float64. It changes w to what pairs can hold. The package's comment has the proof of its error.
// It returns nil when ctx is done.
func (f *objective) pairs(ctx context.Context, w, b []*big.Float) *precise {
	high, low := make([]float64, f.dim), make([]float64, f.dim)
	for j := range w {
		high[j], low[j] = split(w[j])
	}
	n := len(f.x)
	type part struct{ high, low []float64 }
	room := func() part { return part{make([]float64, f.dim), make([]float64, f.dim)} }
	parts := make([]part, segments)
	f.segments(func(s, lo, hi int) {
		total, acc := room(), room()
		for from := lo; from < hi && ctx.Err() == nil; from += block {
			clear(acc.high)
			clear(acc.low)
			for i := from; i < min(from+block, hi); i++ {
				z, rest := pairDot(high, low, f.x[i])
				t, small := f.pairSlope(i, z, rest)
				pairAdd(acc.high, acc.low, t, small, f.x[i])
			}
			pairMerge(total.high, total.low, acc.high, acc.low)
		}
		parts[s] = total
	})
	if ctx.Err() != nil {
		return nil
	}
	total := room()
	for _, p := range parts {
		if p.high == nil {
			continue // no rows
		}
		pairMerge(total.high, total.low, p.high, p.low)
	}

	if !finite(total.high) || !finite(total.low) {
		return &precise{numbers(f.dim, 64), upFloat(math.Inf(1)), upFloat(math.Inf(1))}
	}
	const bits = 400
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }
	g := make([]*big.Float, f.dim)
	for j := range g {
		g[j] = number(f.lambda)
		g[j].Mul(g[j], w[j])
		g[j].Add(g[j], b[j])
		g[j].Add(g[j], number(total.high[j]))
		g[j].Add(g[j], number(total.low[j]))
	}
	finish := number(1)
	finish.SetMantExp(finish, -bits)
	error := addUp(upFloat(f.pairError(norm(high), norm(low))),
		mulUp(upFloat(8), upFloat(0).Set(finish),
			addUp(mulUp(upFloat(f.lambda), length(w)), length(b), upFloat(2*float64(n)*f.radius*f.loss.Slope()))))
	return &precise{g, length(g), error}
}

// split rounds w to what a pair can hold, and returns the pair.
func split(w *big.Float) (high, low float64) {
	w.SetPrec(pairBits)
	high, _ = w.Float64()
	if math.Abs(high) > 0x1p-800 {
		low, _ = new(big.Float).Sub(w, big.NewFloat(high)).Float64()
	}
	// Nothing is lost but where numbers are near the smallest there are; in any case w is the pair
	// now.
	w.Add(new(big.Float).SetFloat64(high), new(big.Float).SetFloat64(low))
	return high, low
}

// twoSum returns a + b as it rounds, and what that lost: together they are exactly a + b (Knuth
// 1969). There is no product in it that could be fused.
func twoSum(a, b float64) (sum, lost float64) {
	sum = a + b
	c := sum - a
	return sum, (a - (sum - c)) + (b - c)
}

// pairDot is (high + low).x. A product is rounded by a conversion, because else a compiler may fuse
// it with the sum that follows.
func pairDot(high, low []float64, x []float32) (sum, rest float64) {
	x = x[:len(high)]
	low = low[:len(high)]
	for j, h := range high {
		v := float64(x[j])
		if v == 0 {
			continue
		}
		product := float64(h * v)
		lost := math.FMA(h, v, -product)
		var e float64
		sum, e = twoSum(sum, product)
		rest += (e + lost) + low[j]*v
	}
	return sum, rest
}

func pairAdd(high, low []float64, t, small float64, x []float32) {
	x = x[:len(high)]
	low = low[:len(high)]
	for j := range high {
		v := float64(x[j])
		if v == 0 {
			continue
		}
		product := float64(t * v)
		lost := math.FMA(t, v, -product)
		var e float64
		high[j], e = twoSum(high[j], product)
		low[j] += (e + lost) + small*v
	}
}

// pairMerge adds one vector of pairs to another.
func pairMerge(high, low, h, l []float64) {
	for j := range high {
		var e float64
		high[j], e = twoSum(high[j], h[j])
		low[j] += e + l[j]
	}
}

const slopeBits = 112

// pairSlope is the weight of row i times phi' at z + rest.
func (f *objective) pairSlope(i int, z, rest float64) (t, small float64) {
	if math.IsNaN(z+rest) || math.IsInf(z+rest, 0) {
		return math.NaN(), 0
	}
	score := new(big.Float).SetPrec(slopeBits + 64).SetFloat64(z)
	score.Add(score, new(big.Float).SetFloat64(rest))
	v := f.loss.PreciseDerivative(score, f.y[i], slopeBits)
	if f.a != nil {
		v = new(big.Float).SetPrec(slopeBits+64).Mul(v, new(big.Float).SetFloat64(f.a[i]))
	}
	t, _ = v.Float64()
	small, _ = new(big.Float).Sub(v, new(big.Float).SetFloat64(t)).Float64()
	return t, small
}

// pairError bounds what the sum over rows is wrong by.
func (f *objective) pairError(high, low float64) float64 {
	n, d, r := float64(len(f.x)), f.dim, f.radius
	slope, curvature := f.loss.Slope()*roundUpFactor, f.loss.Curvature()*roundUpFactor
	score := gamma(d+4)*(gamma(d+4)*high+low)*r + 0x1p-160*(high+low)*r
	coefficient := math.Ldexp(2, -slopeBits) + 0x1p-104*slope + curvature*score
	k := pairDepth(len(f.x)) + 8
	return (n*r*(coefficient+gamma(k)*gamma(k)*slope) + underflow) * roundUpFactor * roundUpFactor
}

// Sizes of a pass over the rows. Which rows are added up with which depends on these and on the
// number of rows, and not on the machine.
const (
	segments   = 64  // each is one worker's at a time
	block      = 512 // rows that are added up by themselves
	cachedRows = 64  // rows that are read twice while they are in the nearest cache
)

// depth is the largest number of roundings that a row's share of the result of a pass meets: its
// product, two sums with three other rows, sums within its block, of blocks within its segment, and
// of segments.
func depth(n int) int {
	const inBlock = block/4 + 3 + block/cachedRows*3 // by fours, and what does not divide by four
	return 3 + inBlock + (n/segments/block + 2) + segments
}

// parallel does work 0..n-1 on all processors.
func parallel(n int, work func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				work(i)
			}
		})
	}
	all.Wait()
}

// maxSerialRows is up to how many rows it is faster not to share the work.
const maxSerialRows = 4096

// segments does work for every segment that has rows.
func (f *objective) segments(work func(s, lo, hi int)) {
	one := func(s int) {
		if lo, hi := segment(s, len(f.x)); lo < hi {
			work(s, lo, hi)
		}
	}
	if len(f.x) > maxSerialRows {
		parallel(segments, one)
		return
	}
	for s := range min(segments, len(f.x)) { // the first ones are the longest
		one(s)
	}
}

// segment is the rows of segment s of n.
func segment(s, n int) (lo, hi int) {
	return s*(n/segments) + min(s, n%segments), (s+1)*(n/segments) + min(s+1, n%segments)
}

// pass returns the sum of t_i x_i over all rows, where t is what coefficients makes of the products
// w.x_i of rows lo and following.
func (f *objective) pass(w []float64, coefficients func(lo int, products, t []float64)) []float64 {
	parts := make([][]float64, segments)
	f.segments(func(s, lo, hi int) {
		part, acc := make([]float64, f.dim), make([]float64, f.dim)
		var products, t [cachedRows]float64
		for from := lo; from < hi; from += block {
			clear(acc)
			for at := from; at < min(from+block, hi); at += cachedRows {
				end := min(at+cachedRows, from+block, hi)
				x := f.x[at:end]
				dots(products[:], w, x)
				coefficients(at, products[:len(x)], t[:len(x)])
				combine(acc, t[:], x)
			}
			for j, v := range acc {
				part[j] += v
			}
		}
		parts[s] = part
	})
	out := make([]float64, f.dim)
	for _, part := range parts {
		for j, v := range part {
			out[j] += v
		}
	}
	return out
}

// dots sets out to the products of w with rows.
func dots(out, w []float64, x [][]float32) {
	k := 0
	for ; k+4 <= len(x); k += 4 {
		x0, x1, x2, x3 := x[k][:len(w)], x[k+1][:len(w)], x[k+2][:len(w)], x[k+3][:len(w)]
		var s0, s1, s2, s3 float64
		for j, v := range w {
			s0 += v * float64(x0[j])
			s1 += v * float64(x1[j])
			s2 += v * float64(x2[j])
			s3 += v * float64(x3[j])
		}
		out[k], out[k+1], out[k+2], out[k+3] = s0, s1, s2, s3
	}
	for ; k < len(x); k++ {
		x0 := x[k][:len(w)]
		s0 := 0.0
		for j, v := range w {
			s0 += v * float64(x0[j])
		}
		out[k] = s0
	}
}

// combine adds the sum of t_k x_k to acc.
func combine(acc, t []float64, x [][]float32) {
	k := 0
	for ; k+4 <= len(x); k += 4 {
		x0, x1, x2, x3 := x[k][:len(acc)], x[k+1][:len(acc)], x[k+2][:len(acc)], x[k+3][:len(acc)]
		t0, t1, t2, t3 := t[k], t[k+1], t[k+2], t[k+3]
		for j := range acc {
			acc[j] += (t0*float64(x0[j]) + t1*float64(x1[j])) + (t2*float64(x2[j]) + t3*float64(x3[j]))
		}
	}
	for ; k < len(x); k++ {
		x0, t0 := x[k][:len(acc)], t[k]
		for j := range acc {
			acc[j] += t0 * float64(x0[j])
		}
	}
}
