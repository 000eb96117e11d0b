package loss

import (
	"math"

	"github.com/discreet-dp/discreet/internal/root"
)

// rough is a sum prepared for quick, approximate values of its cumulant at real t,
// to choose a tilt and a window with. Nothing that is proven rests on it.
type rough struct {
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

func (s Sum) rough(spare float64) rough {
	var r rough
	for _, t := range gathered(s.terms) {
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
func (r rough) at(t float64) float64 {
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

// peak bounds exp(-t x)(1 - exp(-x)) over x: t^t/(t+1)^(t+1), at x = ln(1 + 1/t).
func logPeak(t float64) float64 { return -t*math.Log1p(1/t) - math.Log1p(t) }

// chernoff returns the epsilon that the best of the bounds delta <= peak(t)
// exp(K(t) - t epsilon) gives: the accountant of Renyi divergences.
func (r rough) chernoff(delta float64) float64 {
	f := func(t float64) float64 { return (r.at(t) + logPeak(t) - math.Log(delta)) / t }
	return f(valley(f))
}

// tilt returns the t at which the integrand is smallest on the real line, which is
// where its other values cancel least: the saddle point.
func (r rough) tilt(epsilon float64) float64 {
	return valley(func(t float64) float64 { return r.at(t) - t*epsilon - math.Log(t) - math.Log1p(t) })
}

// window returns a period that keeps what the periodic sum adds below exp(log), and
// the s at which the upper tail is bounded best. See grid.alias for the two terms.
func (r rough) window(t, epsilon, log, top float64) (window, s float64) {
	left := -log / t
	right := math.Inf(1)
	for _, by := range far {
		if w := max(0, r.at(t*by)+logPeak(t*by)-t*by*epsilon-log) / (t*by - t); w < right {
			right, s = w, t*by
		}
	}
	if !math.IsInf(top, 1) {
		right = min(right, max(0, top-epsilon))
	}
	return max(left, right), s
}

// far are the multiples of the tilt at which the upper tail can be bounded.
var far = [...]float64{1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.7, 2, 2.5, 3, 5, 10, 30, 100}

// valley minimises a function of t > 0 with one minimum, on a logarithmic scale, by
// golden section after a walk downhill. A rough minimum is enough.
func valley(f func(t float64) float64) float64 {
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
	low, high := root.Valley(at, u-stride, u+stride, 0.01)
	return math.Exp((low + high) / 2)
}
