package loss

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
)

// grid is a sum's generating function on the line Re z = t at the frequencies 2 pi
// j/window, ready to give delta(epsilon) for any epsilon. See the package comment
// for the formula.
type grid struct {
	t, window float64
	log, slip float64    // K(t), and a bound on its error
	never     dp.Bracket // the mass at infinity
	top       float64    // the largest loss
	tail      tail       // for the upper tail
	shift     float64    // bounds what losses were moved by, all together
	weigh     weigher
}

// weigher computes the expectation, under the tilted law, of the periodic exp(-t
// x)(1 - exp(-x)) at x = loss - epsilon, with a bound on its error.
type weigher interface {
	weigh(epsilon float64) (value, wrong float64)
}

// tail is K(s) at an s > t, rounded up.
type tail struct{ s, log float64 }

// delta encloses delta(epsilon).
func (g *grid) delta(epsilon float64) dp.Bracket {
	exponent := g.log - g.t*epsilon
	loose := g.slip + unit*(8+4*math.Abs(g.log)+4*g.t*math.Abs(epsilon))
	if exponent+loose < -690 {
		// Smaller than we can say: the expectation is at most 1.
		return clampUnit(dp.Bracket{Lower: g.never.Lower, Upper: g.never.Upper + 1e-290})
	}
	scale := math.Exp(exponent)
	value, wrong := g.weigh.weigh(epsilon)
	upper := scale * (value + wrong) * math.Exp(loose)
	lower := scale*(value-wrong)*math.Exp(-loose) - g.alias(epsilon)
	return clampUnit(dp.Bracket{
		Lower: g.never.Lower + max(0, lower)*(1-8*unit),
		Upper: (g.never.Upper + max(0, upper)) * (1 + 8*unit),
	})
}

// alias bounds what the periods other than our own add: the sum over m >= 1 of
// exp(-t m W) delta(e - m W) and of exp(t m W) delta(e + m W). In the first delta is
// at most 1, in the second at most peak(s) exp(K(s) - s (e + m W)) for any s.
func (g *grid) alias(epsilon float64) float64 {
	// The sum of exp(log - m step) over m >= 1.
	geometric := func(log, step float64) float64 { return math.Exp(log-step) / -math.Expm1(-step) }
	left := geometric(0, g.t*g.window)
	right := math.Inf(1)
	if epsilon+g.window >= g.top {
		right = 0
	}
	if f := g.tail; f.s > g.t {
		right = min(right, geometric(f.log+logPeak(f.s)-f.s*epsilon, (f.s-g.t)*g.window))
	}
	return (left + right) * (1 + 1e-9)
}

// factors is the generating function of a sum: the laws with a closed form, and
// those on a lattice as their spectra.
type factors struct {
	t         float64
	analytic  []analyticTerm
	product   product      // of the spectra without atoms
	spectra   []*spectrum  // those with atoms
	origin    float64      // of all lattices in the product together
	atZero    []complex128 // the cumulants of analytic at t
	slackZero []float64
}

// What is below exp(dead) is too small to matter, and at most tiny.
const (
	dead = -80.0
	tiny = 1e-34
)

// plus adds times a logarithm to another, with bounds on their errors.
func plus(log complex128, slack, times float64, more complex128, wrong float64) (complex128, float64) {
	log += complex(times*real(more), times*imag(more))
	// The product is rounded, and the sum is.
	return log, slack + times*(wrong+unit*(math.Abs(real(more))+math.Abs(imag(more)))) + unit*(math.Abs(real(log))+math.Abs(imag(log)))
}

// log returns the logarithm of M(t+iy)/M(t) at y = 2 pi j/window, with a bound on
// its error, or something below dead.
func (f *factors) log(j int, y float64) (log complex128, slack float64) {
	if f.product.logs != nil {
		log, slack = f.product.at(j)
	}
	if f.origin != 0 {
		log, slack = plus(log, slack, 1, complex(0, y*f.origin), 8*unit*math.Abs(y*f.origin))
	}
	for _, s := range f.spectra {
		if real(log)+slack < dead {
			return log, slack
		}
		v, wrong := logOf(s.at(j, y))
		log, slack = plus(log, slack, s.times, v, wrong)
	}
	for i, a := range f.analytic {
		if real(log)+slack < dead {
			return log, slack
		}
		v, wrong := a.law.cumulant(complex(f.t, y))
		wrong += f.slackZero[i] + unit*(math.Abs(imag(v))+math.Abs(real(v)))
		log, slack = plus(log, slack, a.times, v-f.atZero[i], wrong)
	}
	return log, slack
}

// at returns M(t+iy)/M(t) at y = 2 pi j/window, with a bound on its error. A value
// that is known to be below tiny is 0.
func (f *factors) at(j int, y float64) (phi complex128, wrong float64) {
	log, slack := f.log(j, y)
	if real(log)+slack < dead {
		return 0, tiny
	}
	// |phi| <= 1, so that a bound of 1 always holds for 0.
	slack += 16 * unit * (1 + math.Abs(real(log)))
	if !(slack < 1) {
		return 0, max(tiny, min(1, math.Exp(min(0, real(log)+slack))))
	}
	r := math.Exp(real(log))
	sin, cos := math.Sincos(imag(log))
	return complex(r*cos, r*sin), r * math.Expm1(slack)
}

// newGrid prepares everything but the weigher. The upper tail is bounded at far, or
// not if that is 0, which upper bounds do without.
func newGrid(analytics []analyticTerm, lattices []latticeTerm, t, far, window float64, points int) (*grid, *factors) {
	g, f := &grid{t: t, window: window}, &factors{t: t, analytic: analytics}
	g.tail.s = far
	never, total := 0.0, 0.0
	add := func(times, log, slip, tail, over float64) {
		g.log += times * log
		g.slip += times * slip
		g.tail.log += times * tail
		total += times * (math.Abs(log) + math.Abs(tail))
		never += times * math.Log1p(-over)
	}
	var all *frequencies
	if len(lattices) > 0 {
		all = newFrequencies(points)
	}
	for _, l := range lattices {
		live := f.product.live
		if len(l.law.atoms) > 0 {
			live = nil
		}
		s, log, slip := all.transform(l.law, t, l.times, live)
		if len(s.atoms) == 0 {
			f.product.multiply(s)
			f.origin += l.times * l.law.origin
		} else {
			f.spectra = append(f.spectra, s)
		}
		g.shift += l.times * l.law.shift * (1 + 1e-9)
		var v, slack float64
		if far > 0 {
			v, slack = l.law.log(far)
		}
		add(l.times, log, slip, v+slack, l.law.over)
	}
	for _, a := range analytics {
		log, slip := a.law.cumulant(complex(t, 0))
		f.atZero = append(f.atZero, log)
		f.slackZero = append(f.slackZero, slip)
		v, slack := a.law.cumulant(complex(far, 0))
		add(a.times, real(log), slip, real(v)+slack, a.law.infinite())
	}
	terms := float64(len(lattices) + len(analytics))
	g.slip += unit * (terms + 8) * total
	g.tail.log += unit * (terms + 8) * total
	mass := -math.Expm1(never)
	g.never = bracket(mass, mass*unit*(32+2*terms))
	return g, f
}
