package solve

import (
	"context"
	"fmt"
	"math"
	"math/big"
)

// Approximator is a vector of real numbers that are known to as many digits as somebody asks for.
type Approximator interface {
	Len() int
	// Approximate returns the numbers, each within 2^-bits.
	Approximate(bits uint) []*big.Float
}

// maxBits is where Exactly gives up. A real random number stays that near a boundary less often than once in 2^900 trainings.
const maxBits = 1024

// Exactly returns round(w/step) for the exact minimiser w of the problem plus linear: real numbers, and not what some arithmetic made of them. step is a power of two. Numbers that do not fit are the nearest that do. linear may be nil.
func Exactly(ctx context.Context, p *Problem, linear Approximator, step float64, progress func(float64)) ([]int64, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if m, _ := math.Frexp(step); m != 0.5 || step < 0x1p-500 || step > 0x1p500 {
		return nil, fmt.Errorf("%w: the step is %g, and has to be a power of two", ErrProblem, step)
	}
	if linear != nil && linear.Len() != p.Rows.Dim() {
		return nil, fmt.Errorf("%w: the linear term has %d numbers and a row has %d features", ErrProblem, linear.Len(), p.Rows.Dim())
	}
	f := p.sum()
	grid := &grid{step, f.lambda}

	// In float64 first. What is not known of the linear term adds to the error of the gradient.
	b, unknown := f.linear(linear, 64+f.scaleBits())
	short := above(0)
	for j, v := range b {
		f.b[j], _ = v.Float64()
		short.Add(short, above(0).Abs(new(big.Float).Sub(v, big.NewFloat(f.b[j])))) // exact: Sub takes the larger precision, and these agree in 53 bits
	}
	if !finite(f.b) {
		return nil, ErrNotReached
	}
	w, err := f.warm(ctx)
	if err != nil {
		return nil, err
	}
	floor := f.error(float64(len(f.x))*f.loss.Slope(), 0)
	at, err := f.descend(ctx, w, func(p *place) float64 { return p.error / 4 }, f.reporter(floor, progress))
	if err != nil {
		return nil, err
	}
	start := make([]*big.Float, f.dim)
	for j, v := range at.w {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, ErrNotReached
		}
		start[j] = new(big.Float).SetFloat64(v)
	}
	if bound := at.bound(); bound < math.Inf(1) {
		if z, ok := grid.round(start, plus(above(bound), unknown, short)); ok {
			return z, nil
		}
	}
	return f.refine(ctx, grid, linear, at, start)
}

// linear returns the linear term in so many bits, and how far off in norm that is at most.
func (f *sum) linear(b Approximator, bits uint) ([]*big.Float, *big.Float) {
	if b == nil {
		return numbers(f.dim, 64), above(0)
	}
	off := times(above(float64(f.dim)))
	off.SetMantExp(off, -int(bits))
	return b.Approximate(bits), off
}

// scaleBits is how many more bits after the point a linear term needs, because gradients are as small as slope x radius.
func (f *sum) scaleBits() uint {
	_, e := math.Frexp(f.loss.Slope() * f.radius)
	return uint(max(0, -e))
}

// refine goes on in numbers of more and more bits.
func (f *sum) refine(ctx context.Context, grid *grid, linear Approximator, at *place, w []*big.Float) ([]int64, error) {
	// Curvature that is never too small makes steps too short rather than too long, so that they converge also where rows are at corners of their slopes: rows count with the most curvature within slack.
	slack := 0x1p-20
	m := f.model(at.z, slack, nil)
	for bits := uint(128); bits <= maxBits; bits *= 2 {
		b, unknown := f.linear(linear, bits+f.scaleBits())
		gradient := func() *precise { return f.precise(ctx, w, b, bits) }
		if bits == 128 {
			gradient = func() *precise { return f.pairs(ctx, w, b) }
		}
		for j := range w {
			w[j].SetPrec(bits)
		}
		var last *big.Float
		for range 200 {
			p := gradient()
			if p == nil {
				return nil, ctx.Err()
			}
			if z, ok := grid.round(w, plus(p.norm, p.error, unknown)); ok {
				return z, nil
			}
			// More steps help only while the gradient is longer than what is not known of it, and while they make it shorter.
			if times(above(4), p.norm).Cmp(plus(p.error, unknown)) <= 0 {
				break
			}
			if last != nil && times(above(1.01), p.norm).Cmp(last) >= 0 {
				slack *= 16
				for j := range w {
					at.w[j], _ = w[j].Float64()
				}
				at = f.at(at.w)
				m = f.model(at.z, slack, nil)
			}
			last = p.norm
			m.move(ctx, w, p)
		}
	}
	return nil, ErrNotReached
}

// move takes a step of Newton's from w, computed in float64 for a gradient that is brought to a length near 1.
func (m *model) move(ctx context.Context, w []*big.Float, p *precise) {
	e := p.norm.MantExp(nil)
	g := make([]float64, len(w))
	for j, v := range p.g {
		g[j], _ = new(big.Float).SetMantExp(v, -e).Float64()
	}
	s, _ := m.step(ctx, g, 1e-9, 200+m.f.dim)
	for j, v := range s {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			step := new(big.Float).SetFloat64(v)
			w[j].Add(w[j], step.SetMantExp(step, e))
		}
	}
}
