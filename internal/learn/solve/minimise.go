package solve

import (
	"context"
	"errors"
	"math"
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
	f := p.sum()
	if linear != nil {
		if len(linear) != f.dim || !finite(linear) {
			return nil, ErrProblem
		}
		f.b = linear
	}
	w, err := f.warm(ctx)
	if err != nil {
		return nil, err
	}
	at, err := f.descend(ctx, w, func(p *place) float64 { return (tolerance*(1-0x1p-30) - p.error) }, f.reporter(tolerance, progress))
	if err != nil {
		return nil, err
	}
	if at.bound() <= tolerance {
		return &Point{at.w, at.bound()}, nil
	}
	return f.closer(ctx, at, tolerance)
}

// closer goes on with gradients in pairs, for a tolerance that float64 cannot prove. The point
// stays one of float64.
func (f *sum) closer(ctx context.Context, at *place, tolerance float64) (*Point, error) {
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
		bound, _ := plus(p.norm, p.error).Float64()
		if bound = bound*up + tiny; bound <= tolerance {
			out := make([]float64, f.dim)
			for j := range out {
				out[j], _ = w[j].Float64()
			}
			return &Point{out, bound}, nil
		}
		m.stride(ctx, w, p).place(w)
		for j := range w {
			w[j].SetPrec(53).SetPrec(pairBits)
		}
	}
	return nil, ErrNotReached
}

// reporter tells progress how far the gradient has come on its way to a norm, by digits.
func (f *sum) reporter(goal float64, progress func(float64)) func(*place) {
	if progress == nil {
		return func(*place) {}
	}
	first := float64(len(f.x))*f.radius*f.loss.Slope() + norm(f.b)
	last := 0.0
	return func(p *place) {
		if share := math.Log(first/p.norm) / math.Log(first/goal); share > last && share <= 1 {
			last = share
		}
		progress(last)
	}
}
