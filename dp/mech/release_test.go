package mech

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/entropy"
)

func TestReleaseKeepsItsInput(t *testing.T) {
	v := []int64{1, 2, 3}
	x := Seal(v...)
	v[0] = 99
	out := seeded(1).Release(x, laplace(1, "0.1"))
	if len(out) != 3 || x.Open()[0] != 1 || x.Open()[2] != 3 {
		t.Errorf("release changed its input: %v", x.Open())
	}
	if got := seeded(1).Release(Seal(), laplace(1, "1")); len(got) != 0 {
		t.Errorf("nothing became %v", got)
	}
}

// How many bytes a release reads depends on the length and the mechanism.
func TestReleaseDrawsFirst(t *testing.T) {
	read := func(v ...int64) int {
		s := newStream(5)
		NewReleaser(entropy.FromReader(s)).Release(Seal(v...), gaussian(4, "0.1"))
		return s.read
	}
	want := read(0, 0, 0, 0)
	for _, v := range [][]int64{{1, 2, 3, 4}, {math.MaxInt64, math.MinInt64, 0, -1}, {7, 7, 7, 7}} {
		if got := read(v...); got != want {
			t.Errorf("%v reads %d bytes, not %d", v, got, want)
		}
	}
}

func TestReleaseClamps(t *testing.T) {
	for _, c := range [][3]int64{
		{1, 2, 3}, {math.MaxInt64, 1, math.MaxInt64}, {math.MinInt64, -1, math.MinInt64},
		{math.MaxInt64, -1, math.MaxInt64 - 1}, {math.MinInt64, 1, math.MinInt64 + 1},
		{math.MaxInt64, math.MinInt64, -1}, {math.MinInt64, math.MinInt64, math.MinInt64},
	} {
		if got := addClamped(c[0], c[1]); got != c[2] {
			t.Errorf("%d + %d = %d, want %d", c[0], c[1], got, c[2])
		}
	}
	for range 100 {
		for _, v := range seeded(9).Release(Seal(math.MaxInt64, math.MinInt64), laplace(1000, "0.1")) {
			if abs(v/2) < math.MaxInt64/4 {
				t.Fatalf("a sum wrapped around to %d", v)
			}
		}
	}
}

// What is recorded stays sealed, and reads the same in every format.
func TestRecord(t *testing.T) {
	r := seeded(1)
	var calls []Call
	r.Record(func(c Call) { calls = append(calls, c) })
	r.Release(Seal(123456), laplace(2, "0.5"))
	r.Release(Seal(123456, 7), gaussian(2, "0.5"))
	r.Record(nil)
	r.Release(Seal(1), laplace(2, "0.5"))
	if len(calls) != 2 || calls[0].Mechanism != "laplace" || calls[1].Mechanism != "gaussian" {
		t.Fatalf("calls %v", calls)
	}
	if calls[0].Parameter.RatString() != "4" || calls[1].Parameter.RatString() != "2" {
		t.Errorf("parameters %v and %v", calls[0].Parameter, calls[1].Parameter)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%s", "%x"} {
		if text := fmt.Sprintf(verb, calls[0]); strings.Contains(text, "123456") || strings.Contains(text, "1e240") {
			t.Errorf("%s shows the value: %s", verb, text)
		}
	}
	if _, err := json.Marshal(calls[0]); err == nil {
		t.Error("an exact value was encoded")
	}
}

func TestReleaserIsSafeForConcurrentUse(t *testing.T) {
	r := NewReleaser(noise.NewSource())
	m := laplace(1, "1")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				r.Release(Seal(1, 2, 3), m)
			}
		})
	}
	wg.Wait()
}

// Scaled numbers are within their bound of better ones, for large and small scales.
func TestRealsApproximate(t *testing.T) {
	for _, gaussian := range []bool{false, true} {
		unit := seeded(4).DrawReals(5, gaussian, 1).Approximate(2000)
		for _, scale := range []float64{1, 0.7, 1e-300, 3e5, 1.5e300, math.SmallestNonzeroFloat64} {
			r := seeded(4).DrawReals(5, gaussian, scale)
			if r.Len() != 5 || r.scale != scale {
				t.Errorf("%d numbers of scale %v", r.Len(), r.scale)
			}
			for _, bits := range []uint{0, 10, 64, 300, 500} {
				for i, x := range r.Approximate(bits) {
					want := new(big.Float).SetPrec(4000).Mul(unit[i], big.NewFloat(scale))
					d := want.Sub(want, x)
					if d.Abs(d).Cmp(new(big.Float).SetMantExp(big.NewFloat(1.0001), -int(bits))) > 0 {
						t.Errorf("scale %v, %d bits: number %d is off by %v", scale, bits, i, d)
					}
				}
			}
		}
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("scale %v was accepted", bad)
				}
			}()
			seeded(1).DrawReals(1, false, bad)
		}()
	}
}

// What is drawn of them, and when, changes nothing that the releaser draws for others,
// and the other way around.
func TestRealsAreApart(t *testing.T) {
	m := laplace(1, "0.01")
	run := func(bits []uint, between bool) (noisy []int64, a, b []*big.Float) {
		r := seeded(6)
		x := r.DrawReals(3, false, 2)
		for _, n := range bits {
			x.Approximate(n)
		}
		y := r.DrawReals(3, true, 2)
		if between {
			x.Approximate(400)
		}
		noisy = r.Release(Seal(1, 2, 3), m)
		return noisy, x.Approximate(900), y.Approximate(900)
	}
	n1, a1, b1 := run(nil, false)
	for _, bits := range [][]uint{{64}, {500, 10}, {1, 200, 1000}} {
		n2, a2, b2 := run(bits, true)
		if !slices.Equal(n1, n2) {
			t.Errorf("%v: the releases are %v and %v", bits, n1, n2)
		}
		for i := range a1 {
			if a1[i].Text('g', 200) != a2[i].Text('g', 200) || b1[i].Text('g', 200) != b2[i].Text('g', 200) {
				t.Errorf("%v: number %d depends on who asks when", bits, i)
			}
		}
		if a1[0].Cmp(b1[0]) == 0 {
			t.Error("two vectors are one")
		}
	}
}

// A call says which noise, and its scale, and holds no value.
func TestRealsRecord(t *testing.T) {
	r := seeded(1)
	var calls []Call
	r.Record(func(c Call) { calls = append(calls, c) })
	x := r.DrawReals(3, false, 0.75)
	r.DrawReals(4, true, 3)
	x.Approximate(1000)
	if len(calls) != 2 || calls[0].Mechanism != objectiveRadial || calls[1].Mechanism != objectiveGaussian {
		t.Fatalf("calls %v", calls)
	}
	if calls[0].Parameter.RatString() != "3/4" || calls[1].Parameter.RatString() != "3" || calls[0].Values.Len() != 0 ||
		calls[0].Sensitivity.Norm() != 0 {
		t.Errorf("calls %v", calls)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%d"} {
		if text := fmt.Sprintf(verb, x); text != "[noise]" {
			t.Errorf("%s shows %s", verb, text)
		}
	}
}

// TestRealsConcurrent is for the race detector.
func TestRealsConcurrent(t *testing.T) {
	r := seeded(1)
	x, m := r.DrawReals(10, false, 3), laplace(1, "1")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 20 {
				x.Approximate(uint(100*i + 50*j))
				r.Release(Seal(1, 2), m)
			}
		})
	}
	wg.Wait()
}

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
	good := laplace(3, "1")
	half := claims{good, laplace(3, "2")}
	forgotten := claims{good, laplace(1, "1")}

	gauss := gaussian(9, "0.5")
	lostSquare := claims{gauss, gaussian(3, "0.5")} // sigma^2 = D/(2 rho)
	exact := map[float64]float64{}
	for _, e := range []float64{0.5, 1, 2} {
		exact[e] = hockeyStick(gaussianLogs(gauss.Parameter()), 3, e)
	}

	// One noise for all coordinates.
	reused := func(m Mechanism) releaseFunc {
		return func(r *Releaser, x []int64) []int64 {
			d := r.Release(Seal(x[0]), m)[0] - x[0]
			out := make([]int64, len(x))
			for i := range out {
				out[i] = x[i] + d
			}
			return out
		}
	}
	// Noise on the multiples of five, added to a value that is not rounded to them.
	offLattice := func(r *Releaser, x []int64) []int64 {
		out := append([]int64(nil), x...)
		for i, z := range r.Release(Seal(make([]int64, len(x))...), good) {
			out[i] += 5 * z
		}
		return out
	}
	// An empty group gets no noise, because there is nobody in it.
	skipsZero := func(r *Releaser, x []int64) []int64 {
		out := append([]int64(nil), x...)
		for i, v := range x {
			if v != 0 {
				out[i] = r.Release(Seal(v), good)[0]
			}
		}
		return out
	}
	// The noise is rounded together with the value.
	roundsAfter := func(r *Releaser, x []int64) []int64 {
		out := r.Release(Seal(x...), good)
		for i := range out {
			out[i] = out[i] / 10 * 10
		}
		return out
	}
	// The scale is read off the data.
	dataScale := func(r *Releaser, x []int64) []int64 {
		return r.Release(Seal(x...), laplace(max(1, x[0]), "1"))
	}
	// Three people's worth of movement under one person's bound.
	doubleCount := func(r *Releaser, x []int64) []int64 {
		y := append([]int64(nil), x...)
		for i := range y {
			y[i] *= 2
		}
		return r.Release(Seal(y...), good)
	}

	for _, c := range []struct {
		name  string
		check func() error
	}{
		{"half the scale, exact", func() error { return checkPure(half.Parameter(), 3, half.Cost().Epsilon) }},
		{"half the scale, zCDP", func() error {
			return checkConcentrated(laplaceLogs(half.Parameter()), [][2]int64{{3, 0}}, half.Cost().Rho)
		}},
		{"half the scale, statistical", func() error { return catchHockeyStick(releaseWith(half), []int64{10}, []int64{13}, n, pure1) }},
		{"forgotten D1, exact", func() error { return checkPure(forgotten.Parameter(), 3, forgotten.Cost().Epsilon) }},
		{"forgotten D1, statistical", func() error { return catchHockeyStick(releaseWith(forgotten), []int64{10}, []int64{13}, n, pure1) }},
		{"lost square, exact", func() error {
			return checkConcentrated(gaussianLogs(lostSquare.Parameter()), pairs(9), lostSquare.Cost().Rho)
		}},
		{"lost square, statistical", func() error { return catchHockeyStick(releaseWith(lostSquare), []int64{10}, []int64{13}, n, exact) }},
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
