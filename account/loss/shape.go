package loss

import (
	"math"
	"math/cmplx"
)

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
		if shape, ok := known(s.terms[0].law, points); ok {
			return shape
		}
	}
	r := s.rough(1e-12)
	mean, deviation := r.moments()
	low, high := mean-6*deviation, min(mean+7*deviation, s.top())
	if spacing, offset, ok := common(r.analytic); ok && len(r.sketches) == 0 && (high-low)/spacing < float64(4*points) {
		return r.atoms(low, high, spacing, offset)
	}
	return r.density(low, high, points)
}

// known returns the laws that can be written down.
func known(law Law, points int) (Shape, bool) {
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
func (r rough) characteristic(y float64) complex128 {
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
func (r rough) moments() (mean, deviation float64) {
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
func (r rough) atoms(low, high, spacing, offset float64) (out Shape) {
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
func (r rough) density(low, high float64, points int) (out Shape) {
	step := (high - low) / float64(points)
	// Beyond the picture there is room for what the period would fold into it.
	for i, p := range r.invert(low, step, 1.5*(high-low), points+1, points, step) {
		out.Density = append(out.Density, Point{low + float64(i)*step, max(0, p)})
	}
	return out
}

// invert returns the density at n points from low on, by the Fourier series of period
// window, with a Gaussian filter of the given width.
func (r rough) invert(low, step, window float64, n, frequencies int, width float64) []float64 {
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
