package loss

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestDecay: what is said about |M| at all higher frequencies is so at some of them.
func TestDecay(t *testing.T) {
	check(t, 3000, func(t *rapid.T) {
		f := families[rapid.IntRange(0, closedForms-1).Draw(t, "family")]
		size := drawSize(t, "size")
		terms := gathered([]term{{f.make(t, size), 1}})
		l := terms[0].law.(analytic)
		tilt := math.Exp(rapid.Float64Range(-3, 4).Draw(t, "log tilt"))
		y := math.Exp(rapid.Float64Range(-5, 9).Draw(t, "log y")) / size
		v := y * (1 + rapid.Float64Range(0, 3).Draw(t, "more"))
		zero, slackZero := l.cumulant(complex(tilt, 0))
		at := func(v float64) float64 {
			value, slack := l.cumulant(complex(tilt, v))
			return real(value) - real(zero) - slack - slackZero
		}
		if d := l.decay(tilt, y); at(v) > d {
			t.Fatalf("%s %v: ln |M| is %v at %v and must be below %v from %v on", f.name, size, at(v), v, d, y)
		}
		if s, ok := l.(spaced); ok {
			step, _ := s.lattice()
			half := math.Pi * step.under / step.over
			y = math.Mod(y, half)
			v = y + (half-y)*rapid.Float64Range(0, 1).Draw(t, "part")
			if d := s.fade(tilt, y); at(v) > d || d > 0 {
				t.Fatalf("%s %v: ln |M| is %v at %v and must be below %v from %v to %v", f.name, size, at(v), v, d, y, half)
			}
			// Only what is below tiny may be left out.
			many := &factors{t: tilt, analytic: []analyticTerm{{l, 40}}}
			if many.faded(y) && 40*at(v) > math.Log(tiny) {
				t.Fatalf("%s %v, 40 times: ln |M| is %v at %v, and was left out from %v on", f.name, size, 40*at(v), v, y)
			}
		}
	})
}

// TestRemainder: the bound on what is cut off is one, and is reached where a law does
// not decay and all frequencies meet it at its largest.
func TestRemainder(t *testing.T) {
	const count = 200
	for _, c := range []struct {
		law    Law
		times  float64
		window float64
		tight  bool
	}{
		{rr(t, 0.5, 0), 1, 1, true}, // the window is the spacing: |phi| = 1 at all j
		{rr(t, 0.5, 0), 7, 1.37, false},
		{lap(t, 1), 1, 20, false},
		{lap(t, 0.01), 5, 3, false},
		{exponential{0.3}, 2, 9, false},
		{discreteLaplace{30, 7}, 3, 11, false},
		{discreteGaussian{50, 3}, 2, 100, false},
		{gaussians{1, 0}, 1, 1000, false},
	} {
		f := &factors{t: 0.7, analytic: []analyticTerm{{c.law.(analytic), c.times}}}
		v, slack := f.analytic[0].law.cumulant(0.7)
		f.atZero, f.slackZero = []complex128{v}, []float64{slack}
		y := func(j int) float64 { return 2 * math.Pi * float64(j) / c.window }
		sum := 0.0
		for j := 1000 * count; j > count; j-- {
			phi, _ := f.at(j, y(j))
			sum += size(phi) / (float64(j) * float64(j))
		}
		bound := f.remainder(count, 0, y(count+1))
		if sum > bound || c.tight && sum < 0.99*bound {
			t.Errorf("%v, %v times: the rest is %v, its bound %v", c.law, c.times, sum, bound)
		}
	}
}
