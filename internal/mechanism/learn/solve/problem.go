package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
)

// Problem is what is minimised: the sum of Weight(i) phi(w.x_i, Target(i)) over the rows that Keep
// keeps, and Lambda/2 |w|^2.
type Problem struct {
	Loss Loss
	Rows *Rows
	// Target is the target of row i; nil: that of Rows. What it can be is up to the loss, which
	// brings it there.
	Target func(i int) float64
	// Weight is the weight of row i; nil: 1. It is brought into [0, 1].
	Weight func(i int) float64
	// Keep says which rows count; nil: all.
	Keep   func(i int) bool
	Lambda float64
}

// Limits of what is solved. They are about what is public.
const (
	minRadius = 0x1p-100
	maxRadius = 0x1p+100
	// maxRatio is what curvature x radius^2/Lambda is at most. Less regularisation makes no sense
	// where there is privacy, and is too much to ask of float64.
	maxRatio = 0x1p+24
	// minRatio is what it is at least. With more regularisation there is nothing but 0.
	minRatio = 0x1p-200
)

// errProblem is returned for a problem that cannot be solved whatever its rows are.
var errProblem = errors.New("nothing can be minimised here")

// Validate says what is wrong with a problem. It does not look at rows.
func (p *Problem) Validate() error {
	if p.Loss.Name() == "" || p.Rows == nil {
		return fmt.Errorf("%w: a problem has a loss and rows", errProblem)
	}
	r := p.Rows.Radius()
	if !(r >= minRadius && r <= maxRadius) {
		return fmt.Errorf("%w: the radius is %g, but must be from 2^-100 to 2^100", errProblem, r)
	}
	if p.Rows.Dim() < 1 {
		return fmt.Errorf("%w: rows without features", errProblem)
	}
	least := p.Loss.Curvature() * r * r / maxRatio
	if most := p.Loss.Curvature() * r * r / minRatio; !(p.Lambda >= least && p.Lambda <= most) {
		return fmt.Errorf("%w: the regulariser is %g; choose one from %.3g to %.3g", errProblem, p.Lambda, least, most)
	}
	return nil
}

// objective is a problem with the functions called and the rows looked up, and a linear term.
type objective struct {
	loss   Loss
	x      [][]float32
	y      []float64
	a      []float64 // nil: all 1
	dim    int
	radius float64
	lambda float64
	b      []float64
}

func (p *Problem) objective() *objective {
	f := &objective{loss: p.Loss, dim: p.Rows.Dim(), radius: p.Rows.Radius(), lambda: p.Lambda, b: make([]float64, p.Rows.Dim())}
	n := p.Rows.Len()
	f.x, f.y = make([][]float32, 0, n), make([]float64, 0, n)
	if p.Weight != nil {
		f.a = make([]float64, 0, n)
	}
	for i := range n {
		if p.Keep != nil && !p.Keep(i) {
			continue
		}
		f.x = append(f.x, p.Rows.Row(i))
		y := float64(p.Rows.Target(i))
		if p.Target != nil {
			y = p.Target(i)
		}
		f.y = append(f.y, f.loss.Target(y))
		if p.Weight != nil {
			a := p.Weight(i)
			if !(a > 0) {
				a = 0
			}
			f.a = append(f.a, min(1, a))
		}
	}
	return f
}

// thinned is one row in every few, with as much less of all else, so that its minimum is near.
func (f *objective) thinned(every int) *objective {
	out := &objective{loss: f.loss, dim: f.dim, radius: f.radius, lambda: f.lambda / float64(every), b: make([]float64, f.dim)}
	for j, b := range f.b {
		out.b[j] = b / float64(every)
	}
	for i := 0; i < len(f.x); i += every {
		out.x, out.y = append(out.x, f.x[i]), append(out.y, f.y[i])
		if f.a != nil {
			out.a = append(out.a, f.a[i])
		}
	}
	return out
}

// weighted is the weight of row i times v.
func (f *objective) weighted(i int, v float64) float64 {
	if f.a == nil {
		return v
	}
	return f.a[i] * v
}

// grid is where minimisers are rounded to: multiples of step. lambda is how strongly convex the sum
// is.
type grid struct {
	step, lambda float64
	// slack is how many steps what is rounded may be from the minimiser; 0: it has to be what the
	// minimiser itself rounds to.
	slack float64
}

// round returns round(x/step) of the minimiser x, if that follows: the gradient at w is at most
// gradient long, so x is within gradient/lambda of w. Both ends of where a coordinate can be have
// to round to the same.
func (g *grid) round(w []*big.Float, gradient *big.Float) ([]int64, bool) {
	off := upFloat(0).Quo(gradient, upFloat(g.lambda))
	near := off.Cmp(big.NewFloat(g.slack*g.step)) <= 0 // exact: step is a power of two
	_, e := math.Frexp(g.step)                         // step = 2^(e-1)
	out := make([]int64, len(w))
	for j, v := range w {
		// These two round outward, each in its direction; dividing by step is exact.
		lo := new(big.Float).SetPrec(v.Prec()).SetMode(big.ToNegativeInf).Sub(v, off)
		hi := new(big.Float).SetPrec(v.Prec()).SetMode(big.ToPositiveInf).Add(v, off)
		a, b := nearest(lo.SetMantExp(lo, 1-e)), nearest(hi.SetMantExp(hi, 1-e))
		switch {
		case a == b:
			out[j] = a
		case near:
			whole := new(big.Float).SetPrec(v.Prec()).Set(v)
			out[j] = nearest(whole.SetMantExp(whole, 1-e))
		default:
			return nil, false
		}
	}
	return out, true
}

// nearest is the nearest whole number, halves up, or the nearest one that fits. It never falls
// where x rises.
func nearest(x *big.Float) int64 {
	limit := new(big.Float).SetInt64(math.MaxInt64)
	switch {
	case x.Cmp(limit) >= 0:
		return math.MaxInt64
	case x.Cmp(limit.Neg(limit)) <= 0:
		return -math.MaxInt64
	}
	// 2x+1 below, halved: floor(x + 1/2) without a rounding.
	prec := uint(max(int(x.MinPrec()), 1)) + 130 + uint(max(0, -x.MantExp(nil)))
	sum := new(big.Float).SetPrec(prec).Add(new(big.Float).SetPrec(prec).Set(x), big.NewFloat(0.5))
	whole, _ := sum.Int(nil) // towards 0
	if sum.Signbit() && !sum.IsInt() {
		whole.Sub(whole, big.NewInt(1))
	}
	if !whole.IsInt64() {
		return math.MaxInt64
	}
	return whole.Int64()
}

// precise is a point of many digits with the gradient there.
type precise struct {
	g     []*big.Float
	norm  *big.Float // |g|, rounded up
	error *big.Float // |g - gradient| is at most that, proven, where the linear term is what was given
}

// precise computes the gradient at w in numbers of so many bits, with b for the linear term. Its
// error is bounded as that of at is, with 2^-bits for u, and one sum for all rows. It returns nil
// when ctx is done.
func (f *objective) precise(ctx context.Context, w, b []*big.Float, bits uint) *precise {
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
			t := number().Set(f.loss.PreciseDerivative(score, f.y[i], bits))
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
func (f *objective) preciseError(w, b *big.Float, bits uint) *big.Float {
	n, d := float64(len(f.x)), float64(f.dim)
	u := upFloat(1)
	u.SetMantExp(u, -int(bits))
	r, slope, curvature := upFloat(f.radius), upFloat(f.loss.Slope()*roundUpFactor), upFloat(f.loss.Curvature()*roundUpFactor)

	score := mulUp(upFloat(2*(d+1)), u, w, r) // of w.x
	// of phi': that of Precise, its rounding to bits, the score's
	coefficient := addUp(mulUp(upFloat(2), u), mulUp(curvature, score))
	// of weight, product and sums, in proportion to the slopes
	roundings := mulUp(upFloat(2*(n+segments+8)), u, slope)
	data := mulUp(upFloat(n), r, addUp(coefficient, mulUp(upFloat(2), u, slope), roundings)) // over all rows
	rest := mulUp(upFloat(4), u, addUp(mulUp(upFloat(n), r, slope, upFloat(2)), mulUp(upFloat(f.lambda), w), b))
	return addUp(data, rest)
}

// upFloat is x, in the arithmetic that rounds up. All numbers in it are positive.
func upFloat(x float64) *big.Float {
	return new(big.Float).SetPrec(64).SetMode(big.ToPositiveInf).SetFloat64(x)
}

func addUp(x ...*big.Float) *big.Float {
	out := upFloat(0)
	for _, v := range x {
		out.Add(out, v)
	}
	return out
}

func mulUp(x ...*big.Float) *big.Float {
	out := upFloat(1)
	for _, v := range x {
		out.Mul(out, v)
	}
	return out
}

// length is |v|, rounded up.
func length(v []*big.Float) *big.Float {
	sum := upFloat(0)
	for _, x := range v {
		a := upFloat(0).Abs(x) // rounds up to 64 bits: its mode is the receiver's
		sum.Add(sum, a.Mul(a, a))
	}
	if sum.Sign() == 0 {
		return sum
	}
	// Sqrt rounds to nearest or by mode; two more units are certainly enough.
	root := new(big.Float).SetPrec(80).Sqrt(new(big.Float).SetPrec(80).Set(sum))
	return mulUp(upFloat(1+0x1p-50), upFloat(0).Set(root))
}
