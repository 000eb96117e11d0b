package solve

import (
	"context"
	"math"
	"math/big"
)

// pairBits is how many bits a pair of float64 holds.
const pairBits = 106

// pairDepth is the largest number of sums that a row's share meets in a pass over pairs.
func pairDepth(n int) int { return min(n, block) + (n/segments/block + 2) + segments }

// pairs computes the gradient at w in pairs of float64 that are added up, twice as precise as
// float64. It changes w to what pairs can hold. The package's comment has the proof of its error.
// It returns nil when ctx is done.
func (f *sum) pairs(ctx context.Context, w, b []*big.Float) *precise {
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
		return &precise{numbers(f.dim, 64), above(math.Inf(1)), above(math.Inf(1))}
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
	error := plus(above(f.pairError(norm(high), norm(low))),
		times(above(8), above(0).Set(finish),
			plus(times(above(f.lambda), length(w)), length(b), above(2*float64(n)*f.radius*f.loss.Slope()))))
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

// two returns a + b as it rounds, and what that lost: together they are exactly a + b (Knuth 1969).
// There is no product in it that could be fused.
func two(a, b float64) (sum, lost float64) {
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
		sum, e = two(sum, product)
		rest += (e + lost) + low[j]*v
	}
	return sum, rest
}

// pairAdd adds (t + small) x.
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
		high[j], e = two(high[j], product)
		low[j] += (e + lost) + small*v
	}
}

// pairMerge adds one vector of pairs to another.
func pairMerge(high, low, h, l []float64) {
	for j := range high {
		var e float64
		high[j], e = two(high[j], h[j])
		low[j] += e + l[j]
	}
}

const slopeBits = 112

// pairSlope is the weight of row i times phi' at z + rest.
func (f *sum) pairSlope(i int, z, rest float64) (t, small float64) {
	if math.IsNaN(z+rest) || math.IsInf(z+rest, 0) {
		return math.NaN(), 0
	}
	score := new(big.Float).SetPrec(slopeBits + 64).SetFloat64(z)
	score.Add(score, new(big.Float).SetFloat64(rest))
	v := f.loss.Precise(score, f.y[i], slopeBits)
	if f.a != nil {
		v = new(big.Float).SetPrec(slopeBits+64).Mul(v, new(big.Float).SetFloat64(f.a[i]))
	}
	t, _ = v.Float64()
	small, _ = new(big.Float).Sub(v, new(big.Float).SetFloat64(t)).Float64()
	return t, small
}

// pairError bounds what the sum over rows is wrong by.
func (f *sum) pairError(high, low float64) float64 {
	n, d, r := float64(len(f.x)), f.dim, f.radius
	slope, curvature := f.loss.Slope()*up, f.loss.Curvature()*up
	score := gamma(d+4)*(gamma(d+4)*high+low)*r + 0x1p-160*(high+low)*r
	coefficient := math.Ldexp(2, -slopeBits) + 0x1p-104*slope + curvature*score
	k := pairDepth(len(f.x)) + 8
	return (n*r*(coefficient+gamma(k)*gamma(k)*slope) + tiny) * up * up
}
