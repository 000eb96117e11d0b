package mech

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
)

// claims wraps a mechanism's noise in the claims of another: a calibration bug.
type claims struct {
	Mechanism
	noise Mechanism
}

func (c claims) Parameter() *big.Rat                 { return c.noise.Parameter() }
func (c claims) fill(src *noise.Source, out []int64) { c.noise.fill(src, out) }

// Every bug here was made in some library or textbook. A checker that does not
// catch them proves nothing about the mechanisms that pass it.
func TestPlantedBugs(t *testing.T) {
	const n = draws / 4
	pure1 := map[float64]float64{1: 0}
	good := laplace(t, 3, "1")
	half := claims{good, laplace(t, 3, "2")}
	forgotten := claims{good, laplace(t, 1, "1")}

	gauss := gaussian(t, 9, "0.5")
	lostSquare := claims{gauss, gaussian(t, 3, "0.5")} // sigma^2 = D/(2 rho)
	exact := map[float64]float64{}
	for _, e := range []float64{0.5, 1, 2} {
		exact[e] = hockeyStick(gaussianLogs(gauss.Parameter()), 3, e)
	}

	// One noise for all coordinates.
	reused := func(m Mechanism) under {
		return func(r *Releaser, x []int64) []int64 {
			d := r.Release(Exactly(x[0]), m)[0] - x[0]
			out := make([]int64, len(x))
			for i := range out {
				out[i] = x[i] + d
			}
			return out
		}
	}
	// Noise on the multiples of five, added to a value that is not rounded to
	// them.
	offLattice := func(r *Releaser, x []int64) []int64 {
		out := append([]int64(nil), x...)
		for i, z := range r.Release(Exactly(make([]int64, len(x))...), good) {
			out[i] += 5 * z
		}
		return out
	}
	// An empty group gets no noise, because there is nobody in it.
	skipsZero := func(r *Releaser, x []int64) []int64 {
		out := append([]int64(nil), x...)
		for i, v := range x {
			if v != 0 {
				out[i] = r.Release(Exactly(v), good)[0]
			}
		}
		return out
	}
	// The noise is rounded together with the value.
	roundsAfter := func(r *Releaser, x []int64) []int64 {
		out := r.Release(Exactly(x...), good)
		for i := range out {
			out[i] = out[i] / 10 * 10
		}
		return out
	}
	// The scale is read off the data.
	dataScale := func(r *Releaser, x []int64) []int64 {
		return r.Release(Exactly(x...), laplace(t, max(1, x[0]), "1"))
	}
	// Three people's worth of movement under one person's bound.
	doubleCount := func(r *Releaser, x []int64) []int64 {
		y := append([]int64(nil), x...)
		for i := range y {
			y[i] *= 2
		}
		return r.Release(Exactly(y...), good)
	}

	for _, c := range []struct {
		name  string
		check func() error
	}{
		{"half the scale, exact", func() error { return checkPure(half.Parameter(), 3, half.Cost().Epsilon) }},
		{"half the scale, zCDP", func() error {
			return checkConcentrated(laplaceLogs(half.Parameter()), [][2]int64{{3, 0}}, half.Cost().Rho)
		}},
		{"half the scale, statistical", func() error { return catchHockeyStick(with(half), []int64{10}, []int64{13}, n, pure1) }},
		{"forgotten D1, exact", func() error { return checkPure(forgotten.Parameter(), 3, forgotten.Cost().Epsilon) }},
		{"forgotten D1, statistical", func() error { return catchHockeyStick(with(forgotten), []int64{10}, []int64{13}, n, pure1) }},
		{"lost square, exact", func() error {
			return checkConcentrated(gaussianLogs(lostSquare.Parameter()), pairs(9), lostSquare.Cost().Rho)
		}},
		{"lost square, statistical", func() error { return catchHockeyStick(with(lostSquare), []int64{10}, []int64{13}, n, exact) }},
		{"reused noise, Laplace", func() error {
			return catchHockeyStick(reused(good), []int64{10, 10}, []int64{13, 10}, n, pure1)
		}},
		{"reused noise, Gaussian", func() error {
			return catchHockeyStick(reused(gauss), []int64{10, 10}, []int64{13, 10}, n, exact)
		}},
		{"noise off the value's lattice", func() error {
			return catchHockeyStick(offLattice, []int64{10}, []int64{13}, n, pure1)
		}},
		{"no noise for zero, statistical", func() error {
			return catchHockeyStick(skipsZero, []int64{0}, []int64{3}, n, pure1)
		}},
		{"no noise for zero, replay", func() error { return checkReplay(skipsZero, []int64{0, 9}, []int64{3, 9}, dp.L1) }},
		{"rounding after noise, replay", func() error { return checkReplay(roundsAfter, []int64{10, 9}, []int64{13, 9}, dp.L1) }},
		{"scale from data, replay", func() error { return checkReplay(dataScale, []int64{10}, []int64{13}, dp.L1) }},
		{"moves too far, replay", func() error { return checkReplay(doubleCount, []int64{10}, []int64{13}, dp.L1) }},
		{"moves too far, statistical", func() error { return catchHockeyStick(doubleCount, []int64{10}, []int64{13}, n, pure1) }},
		{"answers without the releaser, replay", func() error {
			return checkReplay(func(_ *Releaser, x []int64) []int64 { return x }, []int64{10}, []int64{13}, dp.L1)
		}},
	} {
		if err := c.check(); err == nil {
			t.Errorf("%s: not caught", c.name)
		} else {
			t.Logf("%s: %v", c.name, err)
		}
	}
}
