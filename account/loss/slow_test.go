package loss

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// slow is an accountant of another kind: losses are rounded up, or down, to
// multiples of a step and convolved as they are.
type slow struct {
	step  float64
	low   int
	mass  []float64
	never float64
}

// slowly rounds a law that is given by P(L <= l), and has no mass outside [from, to]
// that would not be moved to infinity.
func slowly(below func(l float64) float64, from, to, step float64, up bool) *slow {
	s := &slow{step: step, low: int(math.Floor(from/step)) - 1}
	last := int(math.Ceil(to/step)) + 1
	s.mass = make([]float64, last-s.low+1)
	before := 0.0
	for i := range s.mass {
		// The mass of ((i-1) step, i step], rounded up to i step, or down to the other.
		next := below(float64(s.low+i) * step)
		switch {
		case up:
			s.mass[i] += next - before
		case i > 0:
			s.mass[i-1] += next - before
		}
		before = next
	}
	if up {
		s.never = 1 - before
	}
	return s
}

func (s *slow) times(o *slow) *slow {
	out := &slow{step: s.step, low: s.low + o.low, mass: make([]float64, len(s.mass)+len(o.mass)-1)}
	out.never = 1 - (1-s.never)*(1-o.never)
	for i, a := range s.mass {
		if a == 0 {
			continue
		}
		for j, b := range o.mass {
			out.mass[i+j] += a * b
		}
	}
	return out
}

func (s *slow) delta(epsilon float64) float64 {
	d := s.never
	for i, m := range s.mass {
		if l := float64(s.low+i) * s.step; l > epsilon {
			d += m * -math.Expm1(epsilon-l)
		}
	}
	return d
}

// TestAgainstSlowAccountant: brackets of both ways must overlap, in sums of unlike
// mechanisms too.
func TestAgainstSlowAccountant(t *testing.T) {
	cdf := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	laplace := func(e float64) func(l float64) float64 {
		return func(l float64) float64 {
			switch {
			case l < -e:
				return 0
			case l >= e:
				return 1
			}
			// The noise is beyond x = (e - l)/(2e) of the way.
			return math.Exp(-(e-l)/2) / 2
		}
	}
	normal := func(mu float64) func(l float64) float64 {
		return func(l float64) float64 { return cdf(l/mu - mu/2) }
	}
	removed := func(mu, q float64) func(l float64) float64 {
		return func(l float64) float64 {
			s := 1 + math.Expm1(l)/q
			if s <= 0 {
				return 0
			}
			x := math.Log(s)/mu + mu/2
			return (1-q)*cdf(x) + q*cdf(x-mu)
		}
	}
	added := func(mu, q float64) func(l float64) float64 {
		return func(l float64) float64 {
			s := 1 + math.Expm1(-l)/q
			if s <= 0 {
				return 1
			}
			return 1 - cdf(math.Log(s)/mu+mu/2)
		}
	}
	const step = 4e-3
	for _, c := range []struct {
		name     string
		one, two func(l float64) float64
		reach    float64 // of one of them
		sum      Sum
		squares  int // how often the two together are doubled
	}{
		{"Laplace", laplace(0.25), laplace(0.25), 0.25, times(t, lap(t, 0.25), 8), 2},
		{"Laplace and Gaussian", laplace(0.5), normal(0.3), 2.5, times(t, lap(t, 0.5), 2).plus(t, gauss(t, 0.3), 2), 1},
		{"sampled, removed", removed(1, 0.1), removed(1, 0.1), 4, times(t, poisson(t, gauss(t, 1), 0.1, Remove), 4), 1},
		{"sampled, added", added(1, 0.1), added(1, 0.1), 4, times(t, poisson(t, gauss(t, 1), 0.1, Add), 4), 1},
		{"sampled and not", removed(1, 0.1), laplace(0.4), 4, times(t, poisson(t, gauss(t, 1), 0.1, Remove), 2).plus(t, lap(t, 0.4), 2), 1},
	} {
		var ends [2]*slow
		for i, up := range []bool{false, true} {
			s := slowly(c.one, -c.reach, c.reach, step, up).times(slowly(c.two, -c.reach, c.reach, step, up))
			for range c.squares {
				s = s.times(s)
			}
			ends[i] = s
		}
		for _, e := range []float64{0, 0.1, 0.301, 0.8, 1.5} {
			b := dp.Bracket{Lower: ends[0].delta(e) * (1 - 1e-9), Upper: ends[1].delta(e)*(1+1e-9) + 1e-12}
			got := deltaOf(t, c.sum, e)
			if !overlap(got, b) {
				t.Errorf("%s at %v: %v, slowly %v", c.name, e, got, b)
			}
		}
	}
}
