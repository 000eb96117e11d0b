package solve

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/learn/lossfn"
	"github.com/discreet-dp/discreet/internal/learn/rows"
)

// Problem is what is minimised: the sum of Weight(i) phi(w.x_i, Target(i)) over the rows that Keep
// keeps, and Lambda/2 |w|^2.
type Problem struct {
	Loss lossfn.Loss
	Rows *rows.Rows
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
	MinRadius = 0x1p-100
	MaxRadius = 0x1p+100
	// MaxRatio is what curvature x radius^2/Lambda is at most. Less regularisation makes no sense
	// where there is privacy, and is too much to ask of float64.
	MaxRatio = 0x1p+24
	// MinRatio is what it is at least. With more regularisation there is nothing but 0.
	MinRatio = 0x1p-200
)

// ErrProblem is returned for a problem that cannot be solved whatever its rows are.
var ErrProblem = errors.New("nothing can be minimised here")

// Validate says what is wrong with a problem. It does not look at rows.
func (p *Problem) Validate() error {
	if p.Loss.Name() == "" || p.Rows == nil {
		return fmt.Errorf("%w: a problem has a loss and rows", ErrProblem)
	}
	r := p.Rows.Radius()
	if !(r >= MinRadius && r <= MaxRadius) {
		return fmt.Errorf("%w: the radius is %g, and has to be from 2^-100 to 2^100", ErrProblem, r)
	}
	if p.Rows.Dim() < 1 {
		return fmt.Errorf("%w: rows without features", ErrProblem)
	}
	least := p.Loss.Curvature() * r * r / MaxRatio
	if most := p.Loss.Curvature() * r * r / MinRatio; !(p.Lambda >= least && p.Lambda <= most) {
		return fmt.Errorf("%w: the regulariser is %g; take one from %.3g to %.3g", ErrProblem, p.Lambda, least, most)
	}
	return nil
}

// sum is a problem with the functions called and the rows looked up, and a linear term.
type sum struct {
	loss   lossfn.Loss
	x      [][]float32
	y      []float64
	a      []float64 // nil: all 1
	dim    int
	radius float64
	lambda float64
	b      []float64
}

func (p *Problem) sum() *sum {
	f := &sum{loss: p.Loss, dim: p.Rows.Dim(), radius: p.Rows.Radius(), lambda: p.Lambda, b: make([]float64, p.Rows.Dim())}
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
func (f *sum) thinned(every int) *sum {
	out := &sum{loss: f.loss, dim: f.dim, radius: f.radius, lambda: f.lambda / float64(every), b: make([]float64, f.dim)}
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
func (f *sum) weighted(i int, v float64) float64 {
	if f.a == nil {
		return v
	}
	return f.a[i] * v
}
