package privacyloss

import (
	"math"
	"math/cmplx"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// roughCumulant is a sum prepared for quick, approximate values of its cumulant at real t,
// to choose a tilt and a window with. Nothing that is proven rests on it.
type roughCumulant struct {
	analytic []analyticTerm
	sketches []sketchTerm
}

// sketch is a law by atoms.
type sketch []struct{ loss, log float64 } // the logarithm of the mass

// at returns ln M(t).
func (s sketch) at(t float64) float64 {
	top, sum := math.Inf(-1), 0.0
	for _, a := range s {
		top = max(top, t*a.loss+a.log)
	}
	for _, a := range s {
		sum += math.Exp(t*a.loss + a.log - top)
	}
	return top + math.Log(sum)
}

type sketchTerm struct {
	of    sketch
	times float64
}

type analyticTerm struct {
	law   analytic
	times float64
}

type latticeTerm struct {
	law   *lattice
	times float64
}

func (s Sum) roughCumulant(spare float64) roughCumulant {
	var r roughCumulant
	for _, t := range mergeGaussians(s.terms) {
		switch l := t.law.(type) {
		case analytic:
			r.analytic = append(r.analytic, analyticTerm{l, float64(t.times)})
		case sampled:
			r.sketches = append(r.sketches, sketchTerm{l.sketch(spare), float64(t.times)})
		}
	}
	return r
}

// at returns K(t).
func (r roughCumulant) at(t float64) float64 {
	sum := 0.0
	for _, a := range r.analytic {
		v, _ := a.law.cumulant(complex(t, 0))
		sum += a.times * real(v)
	}
	for _, s := range r.sketches {
		sum += s.times * s.of.at(t)
	}
	return sum
}

// logPeak bounds exp(-t x)(1 - exp(-x)) over x: t^t/(t+1)^(t+1), at x = ln(1 + 1/t).
func logPeak(t float64) float64 { return -t*math.Log1p(1/t) - math.Log1p(t) }

// chernoff returns the epsilon that the best of the bounds delta <= peak(t)
// exp(K(t) - t epsilon) gives: the accountant of Renyi divergences.
func (r roughCumulant) chernoff(delta float64) float64 {
	f := func(t float64) float64 { return (r.at(t) + logPeak(t) - math.Log(delta)) / t }
	return f(minimiseOverLog(f))
}

// tilt returns the t at which the integrand is smallest on the real line, which is
// where its other values cancel least: the saddle point.
func (r roughCumulant) tilt(epsilon float64) float64 {
	return minimiseOverLog(func(t float64) float64 { return r.at(t) - t*epsilon - math.Log(t) - math.Log1p(t) })
}

// window returns a period that keeps what the periodic sum adds below exp(log), and
// the s at which the upper tail is bounded best. See grid.alias for the two terms.
func (r roughCumulant) window(t, epsilon, log, top float64) (window, s float64) {
	left := -log / t
	right := math.Inf(1)
	for _, by := range tiltMultiples {
		if w := max(0, r.at(t*by)+logPeak(t*by)-t*by*epsilon-log) / (t*by - t); w < right {
			right, s = w, t*by
		}
	}
	if !math.IsInf(top, 1) {
		right = min(right, max(0, top-epsilon))
	}
	return max(left, right), s
}

// tiltMultiples are the multiples of the tilt at which the upper tail can be bounded.
var tiltMultiples = [...]float64{1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.7, 2, 2.5, 3, 5, 10, 30, 100}

// minimiseOverLog minimises a function of t > 0 with one minimum, on a logarithmic scale, by
// golden section after a walk downhill. A rough minimum is enough.
func minimiseOverLog(f func(t float64) float64) float64 {
	at := func(u float64) float64 { return f(math.Exp(u)) }
	const stride = 2.0
	u, v := 0.0, at(0)
	dir := stride
	if at(stride) > v {
		dir = -stride
	}
	for i := 0; i < 30; i++ {
		next := at(u + dir)
		if !(next < v) {
			break
		}
		u, v = u+dir, next
	}
	low, high := numeric.Minimise(at, u-stride, u+stride, 0.01)
	return math.Exp((low + high) / 2)
}

// Shape is a picture of a sum's law, to look at: nothing in it is proven. The loss
// has probability Height at an atom, and the density goes through the points.
type Shape struct {
	Atoms   []Point
	Density []Point
}

// Point is a loss and the probability, or density, there.
type Point struct{ Loss, Height float64 }

// Shape draws the law with about so many points.
func (s Sum) Shape(points int) Shape {
	if len(s.terms) == 1 && s.terms[0].times == 1 {
		if shape, ok := knownShape(s.terms[0].law, points); ok {
			return shape
		}
	}
	r := s.roughCumulant(1e-12)
	mean, deviation := r.moments()
	low, high := mean-6*deviation, min(mean+7*deviation, s.top())
	if spacing, offset, ok := commonLattice(r.analytic); ok && len(r.sketches) == 0 && (high-low)/spacing < float64(4*points) {
		return r.atoms(low, high, spacing, offset)
	}
	return r.density(low, high, points)
}

// knownShape returns the laws that can be written down.
func knownShape(law Law, points int) (Shape, bool) {
	curve := func(e float64, f func(l float64) float64) (out []Point) {
		for i := range points + 1 {
			l := -e + 2*e*float64(i)/float64(points)
			out = append(out, Point{l, f(l)})
		}
		return out
	}
	switch l := law.(type) {
	case laplace:
		return Shape{
			Atoms:   []Point{{-l.epsilon, math.Exp(-l.epsilon) / 2}, {l.epsilon, 0.5}},
			Density: curve(l.epsilon, func(x float64) float64 { return math.Exp((x-l.epsilon)/2) / 4 }),
		}, true
	case exponential:
		return Shape{Density: curve(l.epsilon, func(x float64) float64 { return math.Exp(x/2) / (4 * math.Sinh(l.epsilon/2)) })}, true
	}
	return Shape{}, false
}

// characteristic returns E[exp(i y S)], of the finite part.
func (r roughCumulant) characteristic(y float64) complex128 {
	sum := complex(0, 0)
	for _, a := range r.analytic {
		v, _ := a.law.cumulant(complex(0, y))
		sum += complex(a.times, 0) * v
	}
	for _, s := range r.sketches {
		m := complex(0, 0)
		for _, a := range s.of {
			m += cmplx.Rect(math.Exp(a.log), y*a.loss)
		}
		sum += complex(s.times, 0) * cmplx.Log(m)
	}
	return cmplx.Exp(sum)
}

// moments returns the mean and the deviation, from differences of K at 0.
func (r roughCumulant) moments() (mean, deviation float64) {
	step := 1e-3
	for ; step > 1e-9; step /= 10 {
		if d := 1 - cmplx.Abs(r.characteristic(step)/r.characteristic(0)); d < 1e-3 {
			break
		}
	}
	for cmplx.Abs(r.characteristic(step)/r.characteristic(0)) > 1-1e-5 {
		step *= 2
	}
	ratio := r.characteristic(step) / r.characteristic(0)
	return cmplx.Phase(ratio) / step, math.Sqrt(max(1e-300, -2*math.Log(cmplx.Abs(ratio)))) / step
}

// atoms are the probabilities on a lattice.
func (r roughCumulant) atoms(low, high, spacing, offset float64) (out Shape) {
	first := math.Ceil((low - offset) / spacing)
	n := int(math.Floor((high-offset)/spacing)-first) + 1
	window := spacing * float64(n)
	for i, p := range r.invert(offset+first*spacing, spacing, window, n, n/2, 0) {
		if p > 1e-15 {
			out.Atoms = append(out.Atoms, Point{offset + (first+float64(i))*spacing, p * spacing})
		}
	}
	return out
}

// density is smoothed over the distance of two points, so that atoms are peaks.
func (r roughCumulant) density(low, high float64, points int) (out Shape) {
	step := (high - low) / float64(points)
	// Beyond the picture there is room for what the period would fold into it.
	for i, p := range r.invert(low, step, 1.5*(high-low), points+1, points, step) {
		out.Density = append(out.Density, Point{low + float64(i)*step, max(0, p)})
	}
	return out
}

// invert returns the density at n points from low on, by the Fourier series of period
// window, with a Gaussian filter of the given width.
func (r roughCumulant) invert(low, step, window float64, n, frequencies int, width float64) []float64 {
	out := make([]float64, n)
	for j := 0; j <= frequencies; j++ {
		y := 2 * math.Pi * float64(j) / window
		v := r.characteristic(y) * complex(math.Exp(-y*y*width*width/2)*2/window, 0)
		if j == 0 || 2*j == n && width == 0 {
			v /= 2
		}
		if cmplx.Abs(v)*window < 1e-12 {
			continue
		}
		turn, by := v*cmplx.Rect(1, -y*low), cmplx.Rect(1, -y*step)
		for i := range out {
			out[i] += real(turn)
			turn *= by
		}
	}
	return out
}
