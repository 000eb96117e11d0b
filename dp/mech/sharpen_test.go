package mech

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// averagedTail is P(|noise| > k) of the average of two discrete Gaussians, by summing up both.
func averagedTail(m *gaussianSharpener, sigma2, more float64, k int64) float64 {
	gauss := func(s2 float64) []float64 {
		reach := int(12*math.Sqrt(s2)) + 3
		p, sum := make([]float64, 2*reach+1), 0.0
		for i := range p {
			x := float64(i - reach)
			p[i] = math.Exp(-x * x / (2 * s2))
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		return p
	}
	a, b := gauss(sigma2), gauss(more)
	w1, w2 := m.first.Int64(), m.more.Int64()
	beyond := 0.0
	for i, p := range a {
		for j, q := range b {
			x := float64(w1)*float64(i-len(a)/2) + float64(w2)*float64(j-len(b)/2)
			if r := math.Floor(x/float64(w1+w2) + 0.5); math.Abs(r) > float64(k) {
				beyond += p * q
			}
		}
	}
	return beyond
}

// quarters is noise for so many quarters of rho.
func quarters(t *testing.T, d2, rho int64) *Gaussian {
	return must(NewGaussian(l2squared(d2), dp.Amount(rho)*dp.One/4))
}

func newAverageFor(t *testing.T, from, to *Gaussian) *gaussianSharpener {
	return must(newGaussianSharpener(from, to))
}

// TestAveragedBars: the error bars of an average hold, by its exact law, where the noise is as
// small as the steps and where it is not, and have the variance that was paid for.
func TestAveragedBars(t *testing.T) {
	for _, c := range []struct{ d2, from, to int64 }{{1, 1, 2}, {1, 1, 9}, {1, 7, 8}, {1, 40, 41}, {16, 1, 4}, {400, 1, 2}, {900, 3, 4}} {
		from, to := quarters(t, c.d2, c.from), quarters(t, c.d2, c.to)
		m := newAverageFor(t, from, to)
		if got := from.Cost().Add(m.Cost()); got.Rho != to.Cost().Rho {
			t.Errorf("%v: both cost %v, and one %v", c, got, to.Cost())
		}
		more, _ := m.sampler.Parameter().Float64()
		sigma2, _ := from.Parameter().Float64()
		for _, beta := range []float64{0.5, 0.1, 0.05, 0.01, 1e-4} {
			k := to.HalfWidth(beta) + m.ExtraSteps()
			if p := averagedTail(m, sigma2, more, k); p > beta*(1+1e-9) {
				t.Errorf("%v: P(|noise| > %d) is %v, above %v", c, k, p, beta)
			}
			again := must(NewAveragedNoise(to, m.ExtraSteps()))
			if p := averagedTail(m, sigma2, more, again.HalfWidth(beta)); p > beta*(1+1e-9) {
				t.Errorf("%v: as a source P(|noise| > %d) is %v, above %v", c, again.HalfWidth(beta), p, beta)
			}
		}
		whole := float64(c.to)
		v := (math.Pow(float64(c.from), 2)*sigma2 + math.Pow(float64(c.to-c.from), 2)*more) / whole / whole
		if want, _ := to.Parameter().Float64(); math.Abs(v/want-1) > 1e-12 {
			t.Errorf("%v: the variance is %v and was to be %v", c, v, want)
		}
	}
}

// TestAveragedValues: a second release of its own, however large the numbers are, and the nearest
// integer to the average. What was cut to fit is not averaged.
func TestAveragedValues(t *testing.T) {
	m := newAverageFor(t, quarters(t, 1, 1), quarters(t, 1, 4))
	x := []int64{0, -7, math.MaxInt64 / 2, math.MinInt64 / 2, 3}
	first := []int64{9, -11, math.MaxInt64/2 - 5, math.MinInt64/2 + 4, -4}
	var calls []Call
	r := seeded(1)
	r.Record(func(c Call) { calls = append(calls, c) })
	got := must(r.Sharpen(Seal(x...), first, m))
	second := seeded(1).Release(Seal(x...), m.sampler)
	for i := range got {
		// The first has a quarter of the weight.
		sum := new(big.Rat).SetInt64(first[i])
		sum.Add(sum, new(big.Rat).Mul(big.NewRat(3, 1), new(big.Rat).SetInt64(second[i]))).Quo(sum, big.NewRat(4, 1))
		off := sum.Sub(sum, new(big.Rat).SetInt64(got[i]))
		if off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 {
			t.Errorf("%d: %d of %d and %d", i, got[i], first[i], second[i])
		}
	}
	if len(calls) != 1 || calls[0].Before != nil || calls[0].Parameter.Cmp(m.sampler.Parameter()) != 0 {
		t.Errorf("the calls are %+v", calls)
	}
	if _, err := r.Sharpen(Seal(1), []int64{math.MaxInt64}, m); err == nil {
		t.Error("what was cut is averaged")
	}
	if _, err := r.Sharpen(Seal(1, 2), []int64{1}, m); err == nil {
		t.Error("vectors of two lengths")
	}
}

// TestAveragedRefuses: other noise, other sensitivities, and what is not sharper.
func TestAveragedRefuses(t *testing.T) {
	residuals := must(NewMarginalNoise("residuals", l2squared(1), quarters(t, 1, 1).Cost(), big.NewRat(5, 1), big.NewRat(1, 1)))
	g := func(d2, rho int64) *Gaussian { return quarters(t, d2, rho) }
	l := laplace(1, "1")
	for _, c := range []struct{ from, to Mechanism }{
		{g(1, 4), g(4, 8)}, {g(1, 4), g(1, 4)}, {g(1, 8), g(1, 4)}, {l, g(1, 4)}, {g(1, 4), l}, {residuals, g(1, 4)}, {g(1, 4), residuals},
	} {
		if m, err := NewSharper(c.from, c.to); !errors.Is(err, ErrScale) && !errors.Is(err, errNorm) {
			t.Errorf("%v to %v: %v, %v", c.from.Name(), c.to.Name(), m, err)
		}
	}
}

// TestAveragedSums: the error bars of sums of averages hold, by simulation.
func TestAveragedSums(t *testing.T) {
	from, to := quarters(t, 4, 1), quarters(t, 4, 2)
	m := newAverageFor(t, from, to)
	noise := must(NewAveragedNoise(to, m.ExtraSteps()))
	const cells, trials, beta = 5, 20_000, 0.1
	width := must(HalfWidthOfSum(beta, Term{noise, cells, 1}))
	alone, err := HalfWidthOfSum(beta, Term{to, cells, 1})
	if err != nil || width != alone+cells*(m.ExtraSteps()+1) {
		t.Errorf("%d, and without rounding %d (%v)", width, alone, err)
	}
	if one, err := HalfWidthOfSum(beta, Term{noise, 1, 1}); err != nil || one != noise.HalfWidth(beta) {
		t.Errorf("of one it is %d (%v), and by itself %d", one, err, noise.HalfWidth(beta))
	}
	r, zeros := seeded(7), Seal(make([]int64, cells)...)
	beyond := 0
	for range trials {
		got := must(r.Sharpen(zeros, r.Release(zeros, from), m))
		sum := int64(0)
		for _, v := range got {
			sum += v
		}
		if max(sum, -sum) > width {
			beyond++
		}
	}
	if beyond > beta*trials {
		t.Errorf("%d of %d sums are beyond %d", beyond, trials, width)
	}
}
