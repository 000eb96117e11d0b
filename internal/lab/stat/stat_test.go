package stat

import (
	"context"
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/lab/enumerate"
)

func TestClopperPearsonGolden(t *testing.T) {
	for _, c := range []struct {
		k, n       int
		beta       float64
		low, upper float64
	}{
		// Closed forms: k = n has beta^(1/n), k = 0 the mirror of it.
		{10, 10, 0.025, math.Pow(0.025, 0.1), 1},
		{0, 10, 0.025, 0, 1 - math.Pow(0.025, 0.1)},
		// Clopper, Pearson 1934 at 95 %: 5 of 10 has (0.1871, 0.8129).
		{5, 10, 0.025, 0.187086, 0.812914},
	} {
		low, upper := LowerBound(c.k, c.n, c.beta), UpperBound(c.k, c.n, c.beta)
		if math.Abs(low-c.low) > 2e-5 || math.Abs(upper-c.upper) > 2e-5 || low > c.low+1e-6 || upper < c.upper-1e-6 {
			t.Errorf("%d of %d: (%v, %v); want (%v, %v)", c.k, c.n, low, upper, c.low, c.upper)
		}
	}
}

// The bounds are wrong with at most the probability that is stated: by summing over all
// counts, not by drawing them.
func TestClopperPearsonCovers(t *testing.T) {
	const n, beta = 60, 0.01
	for _, p := range []float64{0.01, 0.1, 0.37, 0.5, 0.9, 0.999} {
		wrongLow, wrongHigh := 0.0, 0.0
		for k := 0; k <= n; k++ {
			w := math.Exp(logChoose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
			if LowerBound(k, n, beta) > p {
				wrongLow += w
			}
			if UpperBound(k, n, beta) < p {
				wrongHigh += w
			}
		}
		if wrongLow > beta || wrongHigh > beta {
			t.Errorf("at %v the bounds are wrong with %v and %v", p, wrongLow, wrongHigh)
		}
	}
}

func laplaceOn(t testing.TB, scale *big.Rat, value int64, n, seed int) Samples {
	t.Helper()
	l := must(noise.NewLaplace(scale))
	s := must(Draw(context.Background(), n, seeded(seed), func(src *noise.Source) func() int64 {
		return func() int64 { return value + l.Draw(src) }
	}))
	return s
}

// The power that the package comment states: a million samples see a scale that is 5 %
// short at epsilon 1, every time, and never one that is right.
func TestPower(t *testing.T) {
	runs, n := 4, 1_000_000
	for i := range runs {
		short := Epsilon(laplaceOn(t, big.NewRat(95, 100), 0, n, 4*i), laplaceOn(t, big.NewRat(95, 100), 1, n, 4*i+1), true, 0, 1e-6)
		if short.Lower <= 1 {
			t.Errorf("run %d: 5 %% short is not seen: %v (%s)", i, short.Lower, short.Detail)
		}
		right := Epsilon(laplaceOn(t, big.NewRat(1, 1), 0, n, 4*i+2), laplaceOn(t, big.NewRat(1, 1), 1, n, 4*i+3), true, 0, 1e-6)
		if right.Lower > 1 || right.Lower < 0.97 {
			t.Errorf("run %d: the bound is %v (%s)", i, right.Lower, right.Detail)
		}
	}
}

// The error probability is what it says, or less: at one in ten, where it can be counted.
func TestErrorProbability(t *testing.T) {
	const runs, beta = 1000, 0.1
	wrong := 0
	for i := range runs {
		if Epsilon(laplaceOn(t, big.NewRat(1, 1), 0, 2000, 10000+2*i), laplaceOn(t, big.NewRat(1, 1), 1, 2000, 10001+2*i), true,
			0, beta).Lower > 1 {
			wrong++
		}
	}
	// 100 are expected at most; 5 deviations are 47 more.
	if wrong > 147 {
		t.Errorf("%d of %d bounds are above the truth", wrong, runs)
	}
}

func TestMu(t *testing.T) {
	g := must(noise.NewGaussian(big.NewRat(256, 1)))
	on := func(value int64, seed int) Samples {
		s := must(Draw(context.Background(), 400_000, seeded(seed), func(src *noise.Source) func() int64 {
			return func() int64 { return value + g.Draw(src) }
		}))
		return s
	}
	if b := Mu(on(0, 1), on(16, 2), 1e-6); b.Lower > 1 || b.Lower < 0.95 {
		t.Errorf("mu is at least %v (%s)", b.Lower, b.Detail)
	}
}

// Fit sees a law that is a little wrong, an outcome that cannot be, and nothing else.
func TestFit(t *testing.T) {
	all := laplaceOn(t, big.NewRat(2, 1), 0, 200_000, 7).All()
	if err := Fit(all, enumerate.Laplace(2, 0), 1e-6); err != nil {
		t.Error(err)
	}
	for name, l := range map[string]enumerate.Law{"scale": enumerate.Laplace(2.1, 0), "centre": enumerate.Laplace(2, 1),
		"family": enumerate.Gaussian(8, 0)} {
		if Fit(all, l, 1e-6) == nil {
			t.Errorf("another %s fits", name)
		}
	}
	all[math.MaxInt64]++
	if Fit(all, enumerate.Laplace(2, 0), 1e-6) == nil {
		t.Error("an outcome out of the support fits")
	}
}

func TestFitErrorProbability(t *testing.T) {
	const runs, beta = 1000, 0.1
	wrong := 0
	for i := range runs {
		if Fit(laplaceOn(t, big.NewRat(2, 1), 0, 1000, 20000+i).All(), enumerate.Laplace(2, 0), beta) != nil {
			wrong++
		}
	}
	if wrong > 147 {
		t.Errorf("%d of %d honest samples do not fit", wrong, runs)
	}
}

// The same sources give the same samples on any number of cores.
func TestDrawIsDeterministic(t *testing.T) {
	before := laplaceOn(t, big.NewRat(2, 1), 0, 100_001, 3)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	after := laplaceOn(t, big.NewRat(2, 1), 0, 100_001, 3)
	if !reflect.DeepEqual(before, after) {
		t.Error("two cores and one draw different samples")
	}
	if n := before.All().Total(); n != 100_001 {
		t.Errorf("%d samples", n)
	}
}

func TestDrawCanBeCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Draw(ctx, 1000, seeded(1), func(*noise.Source) func() int64 { return func() int64 { return 0 } }); err == nil {
		t.Error("it went on")
	}
}

func seeded(seed int) func(part int) *noise.Source {
	return func(part int) *noise.Source {
		var key [32]byte
		binary.LittleEndian.PutUint64(key[:], uint64(seed))
		binary.LittleEndian.PutUint64(key[8:], uint64(part))
		return entropy.FromReader(rand.NewChaCha8(key))
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
