package privacyloss

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
		add(a.loss, a.mass, 200*unitRoundoff*a.mass)
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
		m := sampledLaw(t, base, rate, direction).(mixture)
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
		m := sampledLaw(t, gauss(t, 1), 0.1, direction).(mixture)
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
			m := sampledLaw(t, l, 0.3, direction).(mixture)
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

// TestDirectAndFast: the two ways to the frequencies agree within their slacks.
func TestDirectAndFast(t *testing.T) {
	const n = 1 << 12
	f := newFrequencies(n)
	_, above := sampledLaw(t, gauss(t, 1), 0.2, Remove).(mixture).enclose(0.01, 0, 1e-12, 3)
	live := []int{0, 1, 2, 17, 100, 999, n / 2}
	all, log, _ := f.transform(above, 3, 1, nil)
	few, again, _ := f.transform(above, 3, 1, live)
	if all.few || !few.few || log != again {
		t.Fatal("both ways are one")
	}
	for i, j := range live {
		if off := size(all.values[j] - few.values[i]); off > all.slack+few.slack || all.slack+few.slack > 1e-9 {
			t.Errorf("frequency %d: %v and %v, with slacks %v and %v", j, all.values[j], few.values[i], all.slack, few.slack)
		}
	}
	// At frequency 0 it is the whole.
	if off := size(few.values[0] - 1); off > few.slack {
		t.Errorf("the masses add up to %v", few.values[0])
	}
}

// TestManySampled: many unlike laws, of which most are summed directly, lose as much
// as some that are alike, in between.
func TestManySampled(t *testing.T) {
	var unlike Sum
	const k = 200
	for i := range k {
		unlike = unlike.plus(t, sampledLaw(t, gauss(t, 1+0.001*float64(i)/k), 0.05, Remove), 1)
	}
	low := epsilonOf(t, times(t, sampledLaw(t, gauss(t, 1), 0.05, Remove), k), 1e-5)
	high := epsilonOf(t, times(t, sampledLaw(t, gauss(t, 1.001), 0.05, Remove), k), 1e-5)
	got := epsilonOf(t, unlike, 1e-5)
	if got.Upper < low.Lower || got.Lower > high.Upper || width(got) > 1e-3 {
		t.Errorf("%v is not between %v and %v", got, low, high)
	}
}

// TestDecay: what is said about |M| at all higher frequencies is so at some of them.
func TestDecay(t *testing.T) {
	check(t, 3000, func(t *rapid.T) {
		f := families[rapid.IntRange(0, closedForms-1).Draw(t, "family")]
		size := drawSize(t, "size")
		terms := mergeGaussians([]term{{f.make(t, size), 1}})
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
			if many.faded(y) && 40*at(v) > math.Log(negligible) {
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

// All probability is in the picture, and delta can be read from it.
func TestShape(t *testing.T) {
	gaussian, _ := Gaussian(1)
	lap, _ := Laplace(1)
	exp, _ := Exponential(0.7)
	resp, _ := Response(0.3, 0)
	dl, _ := DiscreteLaplace(3, 2)
	dg, _ := DiscreteGaussian(9, 1)
	sg, _ := Sampled(gaussian, 0.3, Remove)
	for _, c := range []struct {
		name  string
		law   Law
		times int
	}{
		{"gaussian", gaussian, 1}, {"laplace", lap, 1}, {"exponential", exp, 1}, {"response", resp, 1}, {"discrete laplace", dl, 1},
		{"discrete gaussian", dg, 1}, {"sampled", sg, 1}, {"laplace", lap, 20}, {"response", resp, 50}, {"exponential", exp, 10},
		{"sampled", sg, 20}, {"discrete gaussian", dg, 30},
	} {
		s := must(Sum{}.Plus(c.law, c.times))
		shape := s.Shape(800)
		const epsilon = 0.2
		mass, delta := 0.0, 0.0
		add := func(p Point, width float64) {
			mass += p.Height * width
			delta += p.Height * width * max(0, -math.Expm1(epsilon-p.Loss))
		}
		for _, a := range shape.Atoms {
			add(a, 1)
		}
		for i, p := range shape.Density {
			if i > 0 {
				before := shape.Density[i-1]
				add(Point{(p.Loss + before.Loss) / 2, (p.Height + before.Height) / 2}, p.Loss-before.Loss)
			}
		}
		want, _ := s.Delta(epsilon)
		if math.Abs(mass-1) > 2e-3 || math.Abs(delta-want.Upper) > 3e-3 {
			t.Errorf("%s %d times: the mass is %v and delta %v, not %v", c.name, c.times, mass, delta, want.Upper)
		}
	}
}
