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

// maxBits is where Exactly gives up. A real random number stays that near a boundary less often
// than once in 2^900 trainings.
const maxBits = 1024

// MinimiseExactly returns round(w/step) for the exact minimiser w of the problem plus linear: real
// numbers, and not what some arithmetic made of them. step is a power of two. Numbers that do not
// fit are the nearest that do. linear may be nil.
func MinimiseExactly(ctx context.Context, p *Problem, linear Approximator, step float64, progress func(float64)) ([]int64, error) {
	return minimiseOnGrid(ctx, p, linear, step, 0, progress)
}

// NearlySteps is how far, in steps and as a vector, what Nearly rounds is from the minimiser at
// most.
const NearlySteps = 1. / 8

// MinimiseNearly returns round(v/step) for some v that is at most Slack steps away from the
// minimiser. Unlike Exactly it does not fail where the minimiser is in the middle between two
// steps. That is for those whose linear term is not random, for whom there are rows with such a
// minimiser.
func MinimiseNearly(ctx context.Context, p *Problem, linear Approximator, step float64, progress func(float64)) ([]int64, error) {
	return minimiseOnGrid(ctx, p, linear, step, NearlySteps, progress)
}

func minimiseOnGrid(ctx context.Context, p *Problem, linear Approximator, step, slack float64, progress func(float64)) ([]int64, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if m, _ := math.Frexp(step); m != 0.5 || step < 0x1p-500 || step > 0x1p500 {
		return nil, fmt.Errorf("%w: the step is %g, but must be a power of two", errProblem, step)
	}
	if linear != nil && linear.Len() != p.Rows.Dim() {
		return nil, fmt.Errorf("%w: the linear term has %d numbers and a row has %d features", errProblem, linear.Len(), p.Rows.Dim())
	}
	f := p.objective()
	grid := &grid{step, f.lambda, slack}

	// In float64 first. What is not known of the linear term adds to the error of the gradient.
	b, unknown := f.linear(linear, 64+f.scaleBits())
	short := upFloat(0)
	for j, v := range b {
		f.b[j], _ = v.Float64()
		// exact: Sub takes the larger precision, and these agree in 53 bits
		short.Add(short, upFloat(0).Abs(new(big.Float).Sub(v, big.NewFloat(f.b[j]))))
	}
	if !finite(f.b) {
		return nil, ErrNotReached
	}
	w, err := f.warmStart(ctx)
	if err != nil {
		return nil, err
	}
	floor := f.error(float64(len(f.x))*f.loss.Slope(), 0)
	at, err := f.descend(ctx, w, func(p *iterate) float64 { return p.error / 4 }, f.reporter(floor, progress))
	if err != nil {
		return nil, err
	}
	start, ok := at.bigPoint()
	if !ok {
		return nil, ErrNotReached
	}
	if z, ok := at.roundIfCertain(grid, start, unknown, short); ok {
		return z, nil
	}
	return f.refine(ctx, grid, linear, at, start)
}

// bigPoint is the point in numbers that can have more bits, if it is one.
func (p *iterate) bigPoint() ([]*big.Float, bool) {
	out := make([]*big.Float, len(p.w))
	for j, v := range p.w {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
		out[j] = new(big.Float).SetFloat64(v)
	}
	return out, true
}

// roundIfCertain returns what the minimiser rounds to, if it follows from the gradient at this
// place. However far from the minimum a descent ended, that is told by the gradient's own length,
// and not by its error alone.
func (p *iterate) roundIfCertain(grid *grid, w []*big.Float, unknown ...*big.Float) ([]int64, bool) {
	bound := p.bound()
	if !(bound < math.Inf(1)) {
		return nil, false
	}
	return grid.round(w, addUp(append([]*big.Float{upFloat(bound)}, unknown...)...))
}

// linear returns the linear term in so many bits, and how far off in norm that is at most.
func (f *objective) linear(b Approximator, bits uint) ([]*big.Float, *big.Float) {
	if b == nil {
		return numbers(f.dim, 64), upFloat(0)
	}
	off := mulUp(upFloat(float64(f.dim)))
	off.SetMantExp(off, -int(bits))
	return b.Approximate(bits), off
}

// scaleBits is how many more bits after the point a linear term needs, because gradients are as
// small as slope x radius.
func (f *objective) scaleBits() uint {
	_, e := math.Frexp(f.loss.Slope() * f.radius)
	return uint(max(0, -e))
}

// refine goes on in numbers of more and more bits.
//
// Steps are Newton's, and each is made shorter until the slope along it says that it went about as
// far as the sum falls. Without that they need not converge where float64 ended far from the
// minimum, and whether they do depends on the rows.
func (f *objective) refine(ctx context.Context, grid *grid, linear Approximator, at *iterate, w []*big.Float) ([]int64, error) {
	m := f.model(at.z, slacks[0], nil)
	models := 1
	for bits := uint(128); bits <= maxBits; bits *= 2 {
		b, unknown := f.linear(linear, bits+f.scaleBits())
		gradient := func() *precise { return f.precise(ctx, w, b, bits) }
		if bits == 128 {
			gradient = func() *precise { return f.pairs(ctx, w, b) }
		}
		for j := range w {
			w[j].SetPrec(bits)
		}
		var s *newtonStep
		for range 1000 {
			p := gradient()
			if p == nil {
				return nil, ctx.Err()
			}
			if z, ok := grid.round(w, addUp(p.norm, p.error, unknown)); ok {
				return z, nil
			}
			// More steps help only while the gradient is longer than what is not known of it.
			if mulUp(upFloat(4), p.norm).Cmp(addUp(p.error, unknown)) <= 0 {
				break
			}
			if s != nil && s.tooFar(p) {
				s.moveTo(w)
				continue
			}
			if s != nil && mulUp(upFloat(4), p.norm).Cmp(s.norm) >= 0 {
				here := make([]float64, len(w))
				for j := range w {
					here[j], _ = w[j].Float64()
				}
				m = f.model(f.at(here).z, slacks[models%len(slacks)], nil)
				models++
			}
			s = m.newtonStep(ctx, w, p)
			s.moveTo(w)
		}
	}
	return nil, ErrNotReached
}

// slacks are, in turns, how far from a bend in its slope a row counts as if it were in it. With
// more, steps are too short rather than too long; with none, none is too short because of rows that
// only seem to be there.
var slacks = []float64{0x1p-20, 0, 0x1p-40}

// newtonStep is a step from a point, and how much of it is taken.
type newtonStep struct {
	from  []*big.Float
	step  []float64 // in units of 2^exp
	exp   int
	slope float64    // of the sum along step at from; below 0
	norm  *big.Float // of the gradient at from
	share float64
	tries int
}

// newtonStep is a step of Newton's from w, computed in float64 for a gradient that is brought to a
// length near 1.
func (m *model) newtonStep(ctx context.Context, w []*big.Float, p *precise) *newtonStep {
	s := &newtonStep{exp: p.norm.MantExp(nil), norm: p.norm, share: 1}
	for _, v := range w {
		s.from = append(s.from, new(big.Float).Copy(v))
	}
	g := s.scaled(p)
	s.step, _ = m.step(ctx, g, 1e-9, 200+m.f.dim)
	if s.slope = dot(g, s.step); !(s.slope < 0) || !finite(s.step) {
		// Downhill, by less than the most that the sum can bend.
		for j, v := range g {
			s.step[j] = -v / (m.f.lambda + float64(len(m.f.x))*m.f.loss.Curvature()*m.f.radius*m.f.radius)
		}
		s.slope = dot(g, s.step)
	}
	return s
}

// scaled is a gradient in the units of the step.
func (s *newtonStep) scaled(p *precise) []float64 {
	g := make([]float64, len(p.g))
	for j, v := range p.g {
		g[j], _ = new(big.Float).SetMantExp(v, -s.exp).Float64()
	}
	return g
}

// tooFar says that the sum rises at the end of the step, where p is, nearly as much as it fell at
// its beginning, and takes less of it.
func (s *newtonStep) tooFar(p *precise) bool {
	now := dot(s.scaled(p), s.step)
	if !(now > -0.1*s.slope) || s.tries >= 100 {
		return false
	}
	s.tries++
	s.share *= max(0.1, min(0.9, s.slope/(s.slope-now)))
	return true
}

// moveTo sets w to the end of the step.
func (s *newtonStep) moveTo(w []*big.Float) {
	for j, v := range s.step {
		by := new(big.Float).SetFloat64(s.share * v)
		w[j].Add(s.from[j], by.SetMantExp(by, s.exp))
	}
}
