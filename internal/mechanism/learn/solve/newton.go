package solve

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Nothing in this file is proven, and nothing has to be: it proposes points, and what is claimed of
// a point is computed there.

// model is the second derivative at a point, and an approximation of it that is cheap to invert.
type model struct {
	f       *objective
	c       []float64 // by row: its weight times the second derivative of its loss
	factor  *mat.Cholesky
	inverse []float64 // of the diagonal, where there are too many weights for a factor
}

// denseDim is the largest number of weights for which a matrix is kept.
const denseDim = 1024

// thinning is how many rows one row stands for in the approximation: so many that it costs no more
// than a few passes, and few enough that it is near.
func (f *objective) thinning() int {
	d := f.dim
	least := max(2*d, min(16*d, 1_000_000_000/(d*d)))
	return max(1, len(f.x)/max(least, min(4*len(f.x)/d, 100*d)))
}

// model makes a model of the second derivative for scores up to slack away from z. Where old is of
// a point nearby, its approximation will do.
func (f *objective) model(z []float64, slack float64, old *model) *model {
	m := &model{f: f, c: make([]float64, len(z))}
	f.segments(func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			m.c[i] = f.weighted(i, f.loss.LargestSecondDerivative(z[i], slack, f.y[i]))
		}
	})
	switch {
	case old != nil:
		m.factor, m.inverse = old.factor, old.inverse
	case f.dim > denseDim:
		m.diagonal()
	default:
		m.dense()
	}
	return m
}

func (m *model) diagonal() {
	f := m.f
	m.inverse = make([]float64, f.dim)
	every := max(1, len(f.x)/10_000)
	for i := 0; i < len(f.x); i += every {
		for j, v := range f.x[i] {
			m.inverse[j] += m.c[i] * float64(v) * float64(v)
		}
	}
	for j := range m.inverse {
		m.inverse[j] = 1 / (m.inverse[j]*float64(every) + f.lambda)
	}
}

func (m *model) dense() {
	f, d := m.f, m.f.dim
	every := f.thinning()
	h := make([]float64, d*d)
	parts := make([][]float64, min(8, 1+len(f.x)/every/256))
	parallel(len(parts), func(s int) {
		part := make([]float64, d*d)
		for i := s * every; i < len(f.x); i += every * len(parts) {
			outer(part, f.x[i], m.c[i]*float64(every))
		}
		parts[s] = part
	})
	for _, part := range parts {
		for k, v := range part {
			h[k] += v
		}
	}
	// A sample may miss what is rare, and rounding may take what Lambda adds. Then a little more is
	// added until there is a factor.
	trace := 0.0
	for j := range d {
		trace += h[j*d+j]
	}
	more := f.lambda
	for range 200 {
		for j := range d {
			h[j*d+j] += more
		}
		m.factor = new(mat.Cholesky)
		if m.factor.Factorize(mat.NewSymDense(d, h)) {
			return
		}
		more = max(more*4, trace*0x1p-52)
	}
	m.factor = nil
	m.diagonal()
}

// outer adds c x x' to the upper half of h.
func outer(h []float64, x []float32, c float64) {
	d := len(x)
	if c == 0 {
		return
	}
	for j, v := range x {
		if v == 0 {
			continue
		}
		cv := c * float64(v)
		row := h[j*d+j : j*d+d]
		tail := x[j:][:len(row)]
		for k := range row {
			row[k] += cv * float64(tail[k])
		}
	}
}

// precondition returns the approximate inverse times r.
func (m *model) precondition(r []float64) []float64 {
	out := make([]float64, len(r))
	if m.factor != nil {
		v := mat.NewVecDense(len(out), out)
		if m.factor.SolveVecTo(v, mat.NewVecDense(len(r), append([]float64(nil), r...))) == nil || finite(out) {
			return out
		}
	}
	for j, v := range r {
		out[j] = v
		if m.inverse != nil {
			out[j] *= m.inverse[j]
		}
	}
	return out
}

func finite(v []float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// times returns the second derivative times v, and sets products to v.x_i.
func (m *model) times(v, products []float64) []float64 {
	out := m.f.pass(v, func(lo int, u, t []float64) {
		copy(products[lo:], u)
		for k := range u {
			t[k] = m.c[lo+k] * u[k]
		}
	})
	for j := range out {
		out[j] += m.f.lambda * v[j]
	}
	return out
}

// step returns about the s with second derivative times s = -g, by conjugate gradients, and the
// products s.x_i. It stops when the residual is relative of |g|.
func (m *model) step(ctx context.Context, g []float64, relative float64, most int) (s, products []float64) {
	n, d := len(m.f.x), m.f.dim
	s, products = make([]float64, d), make([]float64, n)
	r := make([]float64, d)
	for j, v := range g {
		r[j] = -v
	}
	goal := relative * norm(r)
	y := m.precondition(r)
	p := append([]float64(nil), y...)
	ry := dot(r, y)
	u := make([]float64, n)
	for range most {
		if ctx.Err() != nil {
			return s, products
		}
		hp := m.times(p, u)
		curve := dot(p, hp)
		if !(curve > 0) || !(ry > 0) {
			break
		}
		alpha := ry / curve
		for j := range s {
			s[j] += alpha * p[j]
			r[j] -= alpha * hp[j]
		}
		for i, v := range u {
			products[i] += alpha * v
		}
		if norm(r) <= goal {
			break
		}
		y = m.precondition(r)
		next := dot(r, y)
		for j := range p {
			p[j] = y[j] + next/ry*p[j]
		}
		ry = next
	}
	return s, products
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// search returns how far to go from p in direction s: about where the derivative along s is 0. Only
// the scores are needed, and not the rows.
func (f *objective) search(p *iterate, s, products []float64) float64 {
	ws, ss, bs := dot(p.w, s), dot(s, s), dot(f.b, s)
	slope := func(t float64) float64 {
		var parts [segments]float64
		f.segments(func(k, lo, hi int) {
			part := 0.0
			for i := lo; i < hi; i++ {
				part += f.weighted(i, f.loss.Derivative(p.z[i]+t*products[i], f.y[i])) * products[i]
			}
			parts[k] = part
		})
		sum := f.lambda*(ws+t*ss) + bs
		for _, part := range parts {
			sum += part
		}
		return sum
	}
	first := dot(p.g, s)
	enough := 0.1 * math.Abs(first)
	lo, lowSlope, hi, highSlope := 0.0, first, math.Inf(1), 0.0
	t := 1.0
	for range 60 {
		now := slope(t)
		if math.Abs(now) <= enough || math.IsNaN(now) {
			break
		}
		if now < 0 {
			lo, lowSlope = t, now
		} else {
			hi, highSlope = t, now
		}
		switch {
		case math.IsInf(hi, 1):
			t *= 4
		default:
			// The secant, but well inside.
			share := lowSlope / (lowSlope - highSlope)
			t = lo + (hi-lo)*max(0.1, min(0.9, share))
		}
	}
	return t
}

// maxSteps is far more than any problem needed.
const maxSteps = 1000

// descend goes from w towards the minimum until the gradient is as short as goal says, or rounding
// is all that moves.
func (f *objective) descend(ctx context.Context, w []float64, goal func(*iterate) float64, report func(*iterate)) (*iterate, error) {
	best := f.at(w)
	first := best.norm
	p, idle := best, 0
	var m *model
	// rows that may come into a bend within a part of the last step count as if they were in it, so
	// that few rows with a curvature do not send the others far
	slack := 0.0
	fall := 0.15  // how much shorter the last step made the gradient
	near := false // the last step was Newton's own, and short
	for step := 0; ; step++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		report(best)
		if best.norm <= goal(best) || !(best.norm > 0) || idle >= 4 || step >= maxSteps {
			return best, nil
		}
		// What a step leaves is of second order, so solving for it more precisely than that is
		// wasted; and so is more than the goal needs.
		relative := max(1e-7, min(0.1, max(fall*fall, 0.3*goal(p)/p.norm)))
		if !near {
			m = nil
		}
		m = f.model(p.z, slack, m)
		s, products := m.step(ctx, p.g, relative, 60+f.dim/4)
		t := f.search(p, s, products)
		near = t == 1 && p.norm < 0.1*first
		if f.loss.Name() != "logistic" {
			slack = 0.1 * t * math.Sqrt(dot(products, products)/float64(1+len(products)))
		}
		next := make([]float64, f.dim)
		for j := range next {
			next[j] = p.w[j] + t*s[j]
		}
		before := p.norm
		p = f.at(next)
		fall = p.norm / before
		// Far from the minimum a step may well make the gradient longer; F itself falls. Near it
		// nothing falls any more.
		if p.norm < 0.9*best.norm {
			idle = 0
		} else if p.norm <= 16*p.error || !(p.error < math.Inf(1)) {
			idle++
		} else if f.stuck(s, t, p.w) {
			idle++
		}
		if p.norm < best.norm || math.IsNaN(best.norm) {
			best = p
		}
	}
}

// stuck says that a step was too short to be seen in float64.
func (f *objective) stuck(s []float64, t float64, w []float64) bool {
	return !(t*norm(s) > 0x1p-50*norm(w))
}

// warmStart returns a point to start from: the minimum, about, for a few of the rows, and of a loss
// with a wider bend where that of the loss is narrow. Newton's steps are good at bends that many
// rows are in.
func (f *objective) warmStart(ctx context.Context) ([]float64, error) {
	const every, enough = 8, 20000
	if wider, ok := f.loss.Widened(); ok {
		g := *f
		g.loss = wider
		return g.warmStartThinned(ctx)
	}
	if len(f.x) < enough {
		return make([]float64, f.dim), nil
	}
	return f.thinned(every).warmStartThinned(ctx)
}

// warmStartThinned returns a point that is about as near the minimum as one of so many rows says
// anything.
func (f *objective) warmStartThinned(ctx context.Context) ([]float64, error) {
	w, err := f.warmStart(ctx)
	if err != nil {
		return nil, err
	}
	enough := 0.03 * f.radius * f.loss.Slope() * math.Sqrt(float64(len(f.x)))
	p, err := f.descend(ctx, w, func(*iterate) float64 { return enough }, func(*iterate) {})
	if err != nil {
		return nil, err
	}
	return p.w, nil
}
