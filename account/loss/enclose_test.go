package loss

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// direct is a lattice law's delta(epsilon), and what its slacks may be worth.
func (l *lattice) direct(epsilon float64) (delta, slack, total float64) {
	delta, total = l.over, l.over
	add := func(loss, mass, wrong float64) {
		total += mass
		slack += wrong
		if loss > epsilon {
			delta += mass * -math.Expm1(epsilon-loss)
		}
	}
	for i, m := range l.mass {
		add(l.loss(i), m, l.slack[i])
	}
	for _, a := range l.atoms {
		add(a.loss, a.mass, 200*unit*a.mass)
	}
	return delta, slack + 1e-15*delta + l.shift, total
}

// TestEnclose: the two lattice laws are on their sides of the law, near it, and lose
// no more mass than they say.
func TestEnclose(t *testing.T) {
	check(t, 300, func(t *rapid.T) {
		rate := rapid.SampledFrom([]float64{1e-6, 0.01, 0.3, 0.9, 0.999999}).Draw(t, "rate")
		size := math.Exp(rapid.Float64Range(-4, 2.3).Draw(t, "size"))
		direction := rapid.SampledFrom([]Direction{Remove, Add}).Draw(t, "direction")
		base := gauss(t, size)
		if rapid.Bool().Draw(t, "laplace") {
			base = lap(t, size)
		}
		m := poisson(t, base, rate, direction).(mixture)
		spare := math.Exp(rapid.Float64Range(-60, -10).Draw(t, "log spare"))
		sketch := m.sketch(spare)
		low, high := sketch[0].loss, sketch[len(sketch)-1].loss
		tilt := math.Exp(rapid.Float64Range(-3, 4).Draw(t, "log tilt"))
		step := (high - low) / float64(rapid.IntRange(1, 400).Draw(t, "cells"))
		origin := 0.0
		if a, b, ok := m.atoms(); ok && rapid.Bool().Draw(t, "atoms on the lattice") {
			origin, step = a, (b-a)/math.Round((b-a)/step)
		}
		below, above := m.enclose(step, origin, spare, tilt)
		// In terms of the law's own scale, at and between lattice points.
		_, least, _ := below.direct(0)
		for i := range 60 {
			e := high * float64(i) / 50
			if i%3 == 0 {
				e = math.Max(0, origin+math.Round((e-origin)/step)*step)
			}
			want := m.curve(e)
			lower, lowerSlack, lowerTotal := below.direct(e)
			upper, upperSlack, upperTotal := above.direct(e)
			if lower-lowerSlack > want.Upper {
				t.Fatalf("at %v: %v from below, but %v (slack %v)", e, lower, want, lowerSlack)
			}
			if upper+upperSlack < want.Lower {
				t.Fatalf("at %v: %v from above, but %v (slack %v)", e, upper, want, upperSlack)
			}
			if lowerTotal > 1+lowerSlack+1e-14 || math.Abs(upperTotal-1) > upperSlack+1e-14 {
				t.Fatalf("masses are %v and %v", lowerTotal, upperTotal)
			}
			// Mass within a step is moved by less than a step, and by its square on
			// average: delta'' is below 1.
			if upper-lower > 2*math.Expm1(step)+2*spare+1e-12+least {
				t.Fatalf("at %v: from %v to %v with step %v", e, lower, upper, step)
			}
			if step < 0.1 && max(upperSlack, lowerSlack) > 1e-7 {
				t.Fatalf("slacks are %v and %v", lowerSlack, upperSlack)
			}
		}
	})
}

// TestEncloseOfSecondOrder: halving the step divides the distance by about four.
func TestEncloseOfSecondOrder(t *testing.T) {
	for _, direction := range []Direction{Remove, Add} {
		m := poisson(t, gauss(t, 1), 0.1, direction).(mixture)
		gap := func(step float64) float64 {
			below, above := m.enclose(step, 0, 1e-12, 10)
			worst := 0.0
			for e := 0.0; e < 0.1; e += 0.0007 {
				a, _, _ := below.direct(e)
				b, _, _ := above.direct(e)
				worst = max(worst, b-a)
			}
			return worst
		}
		coarse, fine := gap(0.01), gap(0.0025)
		if !(fine < coarse/10) || fine == 0 {
			t.Errorf("direction %d: %v and %v", direction, coarse, fine)
		}
	}
}

// TestGridOfALattice: the inversion gives back the curve of what was put on a lattice,
// with what was given up of it.
func TestGridOfALattice(t *testing.T) {
	for _, l := range []Law{gauss(t, 1), lap(t, 1.5)} {
		for _, direction := range []Direction{Remove, Add} {
			m := poisson(t, l, 0.3, direction).(mixture)
			s := times(t, m, 1)
			p := s.problem(0.2, math.Log(1e-3))
			step, _, n := p.spacing(1 << 12)
			for _, origin := range []float64{0, 0.25 * step} {
				// With much given up, so that it counts.
				below, above := m.enclose(step, origin, 1e-3, p.t)
				for _, one := range []*lattice{below, above} {
					g := p.onLattice([]latticeTerm{{one, 1}}, step, n, p.far)
					for _, e := range []float64{0, 0.01, 0.1, 0.1 + step/2, 0.3} {
						want, slack, _ := one.direct(e)
						if got := g.delta(e); got.Lower > want+slack || got.Upper < want-slack || got.Upper-got.Lower > 0.03*want+1e-5 {
							t.Errorf("direction %d, origin %v, at %v: %v, want %v", direction, origin, e, got, want)
						}
					}
				}
			}
		}
	}
}
