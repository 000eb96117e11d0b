package solve

import (
	"context"
	"math/big"
)

// precise is a point of many digits with the gradient there.
type precise struct {
	g     []*big.Float
	norm  *big.Float // |g|, rounded up
	error *big.Float // |g - gradient| is at most that, proven, where the linear term is what was given
}

// precise computes the gradient at w in numbers of so many bits, with b for the linear term. Its
// error is bounded as that of at is, with 2^-bits for u, and one sum for all rows. It returns nil
// when ctx is done.
func (f *sum) precise(ctx context.Context, w, b []*big.Float, bits uint) *precise {
	number := func() *big.Float { return new(big.Float).SetPrec(bits) }
	parts := make([][]*big.Float, segments)
	f.segments(func(s, lo, hi int) {
		part := numbers(f.dim, bits)
		feature, product, score := new(big.Float).SetPrec(24), number(), number()
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			score.SetInt64(0)
			for j, v := range f.x[i] {
				if v != 0 {
					score.Add(score, product.Mul(w[j], feature.SetFloat64(float64(v))))
				}
			}
			t := number().Set(f.loss.Precise(score, f.y[i], bits))
			if f.a != nil {
				t.Mul(t, new(big.Float).SetFloat64(f.a[i]))
			}
			for j, v := range f.x[i] {
				if v != 0 {
					part[j].Add(part[j], product.Mul(t, feature.SetFloat64(float64(v))))
				}
			}
		}
		parts[s] = part
	})
	if ctx.Err() != nil {
		return nil
	}
	g := numbers(f.dim, bits)
	for _, part := range parts {
		for j := range part {
			g[j].Add(g[j], part[j])
		}
	}
	lambda, product := new(big.Float).SetFloat64(f.lambda), number()
	for j := range g {
		g[j].Add(g[j], product.Mul(lambda, w[j]))
		g[j].Add(g[j], b[j])
	}
	return &precise{g, length(g), f.preciseError(length(w), length(b), bits)}
}

func numbers(n int, bits uint) []*big.Float {
	out := make([]*big.Float, n)
	for j := range out {
		out[j] = new(big.Float).SetPrec(bits)
	}
	return out
}

// preciseError bounds the error of precise. gamma_k <= 2ku, generously, while ku < 1/2.
func (f *sum) preciseError(w, b *big.Float, bits uint) *big.Float {
	n, d := float64(len(f.x)), float64(f.dim)
	u := above(1)
	u.SetMantExp(u, -int(bits))
	r, slope, curvature := above(f.radius), above(f.loss.Slope()*up), above(f.loss.Curvature()*up)

	score := times(above(2*(d+1)), u, w, r) // of w.x
	// of phi': that of Precise, its rounding to bits, the score's
	coefficient := plus(times(above(2), u), times(curvature, score))
	// of weight, product and sums, in proportion to the slopes
	roundings := times(above(2*(n+segments+8)), u, slope)
	data := times(above(n), r, plus(coefficient, times(above(2), u, slope), roundings)) // over all rows
	rest := times(above(4), u, plus(times(above(n), r, slope, above(2)), times(above(f.lambda), w), b))
	return plus(data, rest)
}

// above is x, in the arithmetic that rounds up. All numbers in it are positive.
func above(x float64) *big.Float {
	return new(big.Float).SetPrec(64).SetMode(big.ToPositiveInf).SetFloat64(x)
}

func plus(x ...*big.Float) *big.Float {
	out := above(0)
	for _, v := range x {
		out.Add(out, v)
	}
	return out
}

func times(x ...*big.Float) *big.Float {
	out := above(1)
	for _, v := range x {
		out.Mul(out, v)
	}
	return out
}

// length is |v|, rounded up.
func length(v []*big.Float) *big.Float {
	sum := above(0)
	for _, x := range v {
		a := above(0).Abs(x) // rounds up to 64 bits: its mode is the receiver's
		sum.Add(sum, a.Mul(a, a))
	}
	if sum.Sign() == 0 {
		return sum
	}
	// Sqrt rounds to nearest or by mode; two more units are certainly enough.
	root := new(big.Float).SetPrec(80).Sqrt(new(big.Float).SetPrec(80).Set(sum))
	return times(above(1+0x1p-50), above(0).Set(root))
}
