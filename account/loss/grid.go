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
	if exponent < -690 {
		// Smaller than we can say: the expectation is at most 1.
		return dp.Bracket{Lower: g.never.Lower, Upper: min(1, g.never.Upper+1e-290)}
	}
	scale := math.Exp(exponent)
	loose := g.slip + unit*(8+4*math.Abs(g.log)+4*g.t*epsilon)
	value, wrong := g.weigh.weigh(epsilon)
	upper := scale * (value + wrong) * math.Exp(loose)
	lower := scale*(value-wrong)*math.Exp(-loose) - g.alias(epsilon)
	return clampUnit(dp.Bracket{
		Lower: g.never.Lower + max(0, lower)*(1-8*unit),
		Upper: g.never.Upper + max(0, upper)*(1+8*unit),
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
	spectra   []*spectrum
	atZero    []complex128 // the cumulants of analytic at t
	slackZero []float64
}

// dead marks a value too small to matter: below exp(-80).
var dead = complex(math.Inf(-1), 0)

const tiny = 1e-34 // exp(-80) and some

// at returns the logarithm of M(t+iy)/M(t) at y = 2 pi j/window, with a bound on
// its error, or dead.
func (f *factors) at(j int, y float64) (log complex128, slack float64) {
	for _, s := range f.spectra {
		v, wrong := s.at(j, y)
		if size(v) <= 2*wrong {
			// Nothing is known of the angle; the size is at most 3 wrong. Keep that
			// size, with an error that covers it all; the other factors are at most 1.
			bound := s.times * math.Log(3*wrong)
			if bound < -80 {
				return dead, 0
			}
			return complex(min(0, bound), 0), math.Log(3)
		}
		l, wrong := logOf(v, wrong)
		log += complex(s.times, 0) * l
		slack += s.times * (wrong + 8*unit)
		if real(log)+slack < -80 {
			return dead, 0
		}
	}
	for i, a := range f.analytic {
		v, wrong := a.law.cumulant(complex(f.t, y))
		log += complex(a.times, 0) * (v - f.atZero[i])
		slack += a.times * (wrong + f.slackZero[i] + 8*unit*(1+math.Abs(imag(v))))
		if real(log)+slack < -80 {
			return dead, 0
		}
	}
	return log, slack + 16*unit*(1+math.Abs(imag(log)))
}

// newGrid prepares everything but the weigher. The upper tail is bounded at far.
func newGrid(analytics []analyticTerm, lattices []latticeTerm, t, far, window float64, points int) (*grid, *factors) {
	g, f := &grid{t: t, window: window}, &factors{t: t, analytic: analytics}
	never := 0.0
	for _, l := range lattices {
		s, log, slip := l.law.transform(t, points, l.times)
		f.spectra = append(f.spectra, s)
		g.log += l.times * log
		g.slip += l.times * slip
		never += l.times * math.Log1p(-l.law.over)
	}
	for _, a := range analytics {
		v, slack := a.law.cumulant(complex(t, 0))
		f.atZero = append(f.atZero, v)
		f.slackZero = append(f.slackZero, slack)
		g.log += a.times * real(v)
		g.slip += a.times * slack
		never += a.times * math.Log1p(-a.law.infinite())
	}
	terms := float64(len(lattices) + len(analytics))
	g.slip += unit * (terms + 8) * math.Abs(g.log)
	mass := -math.Expm1(never)
	g.never = clampUnit(dp.Bracket{Lower: mass * (1 - unit*(32+terms)), Upper: mass * (1 + unit*(32+terms))})
	g.tail.s = far
	for _, a := range analytics {
		v, slack := a.law.cumulant(complex(far, 0))
		g.tail.log += a.times * (real(v) + slack)
	}
	for _, l := range lattices {
		v, slack := l.law.log(far)
		g.tail.log += l.times * (v + slack)
	}
	g.tail.log += 1e-12 * (1 + math.Abs(g.tail.log))
	return g, f
}
