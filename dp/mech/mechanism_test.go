package mech

import (
	"errors"
	"math"
	"math/big"
	"os"
	"runtime/debug"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

func TestLaplaceExact(t *testing.T) {
	for _, c := range []struct {
		d       int64
		epsilon string
	}{{1, "1"}, {1, "0.1"}, {2, "1"}, {3, "0.7"}, {5, "2"}, {7, "0.05"}, {4, "8"}} {
		m := laplace(c.d, c.epsilon)
		cost := m.Cost()
		if cost.Epsilon != amount(c.epsilon) || cost.Delta != 0 {
			t.Errorf("cost %v for epsilon %v", cost, c.epsilon)
		}
		if err := checkPure(m.Parameter(), c.d, cost.Epsilon); err != nil {
			t.Errorf("d %d, epsilon %v: %v", c.d, c.epsilon, err)
		}
		var splits [][2]int64
		for i := int64(0); i <= c.d; i++ {
			for j := int64(0); i+j <= c.d; j++ {
				splits = append(splits, [2]int64{i, j})
			}
		}
		p := laplaceLogs(m.Parameter())
		if err := checkConcentrated(p, splits, cost.Rho); err != nil {
			t.Errorf("d %d, epsilon %v: %v", c.d, c.epsilon, err)
		}
		// The claim is tight: the order near 1 attains it, without a split.
		if got := renyi(p, c.d, 1.0001); got < 0.999*cost.Rho.Float()-1e-8 {
			t.Errorf("d %d, epsilon %v: rho %v, but the divergence is %v", c.d, c.epsilon, cost.Rho, got)
		}
		// The answer's distribution is the noise's, moved by the exact value.
		sum := 0.0
		for k := -len(p) / 2; k <= len(p)/2; k++ {
			mass, _ := m.law().block(max(int64(k), int64(-k)), max(int64(k), int64(-k)))
			if want := math.Exp(p[k+len(p)/2]); math.Abs(mass-want) > 1e-12*want+1e-300 {
				t.Fatalf("P(%d) = %v, want %v", k, mass, want)
			}
			sum += mass
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("probabilities sum to %v", sum)
		}
	}
}

// One step costs epsilon tanh(epsilon/2), tanh(1/2) here; a fine lattice
// approaches the continuous epsilon + exp(-epsilon) - 1, exp(-1) here.
func TestLaplaceRho(t *testing.T) {
	if got := laplace(1, "1").Cost().Rho.Float(); math.Abs(got-0.46211715726000976) > 2e-12 || got < 0.46211715726000976 {
		t.Errorf("one step: rho %v", got)
	}
	if got := laplace(1<<30, "1").Cost().Rho.Float(); math.Abs(got-0.36787944117144233) > 2e-12 || got < 0.36787944117144233 {
		t.Errorf("2^30 steps: rho %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Int64Range(1, 1<<40).Draw(t, "d")
		epsilon := dp.Amount(rapid.Uint64Range(1<<10, uint64(dp.One)<<8).Draw(t, "epsilon"))
		m, err := NewLaplace(l1(d), epsilon)
		if errors.Is(err, ErrScale) {
			t.Skip()
		}
		if err != nil {
			t.Fatal(err)
		}
		e, rho := epsilon.Float(), m.Cost().Rho.Float()
		unit := math.Ldexp(1, -40) + e*0x1p-47
		if rho > e*math.Tanh(e/2)+unit || rho < e+math.Expm1(-e)-1e-15 {
			t.Fatalf("epsilon %v, d %d: rho %v", e, d, rho)
		}
		more, err := NewLaplace(l1(d), epsilon+1<<9)
		if err == nil && more.Cost().Rho < m.Cost().Rho {
			t.Fatalf("more epsilon costs less rho")
		}
	})
}

func TestLaplaceReplay(t *testing.T) {
	f := releaseWith(laplace(5, "0.5"))
	for _, y := range [][]int64{{10, 20, 30}, {15, 20, 30}, {12, 19, 32}, {10, 20, 25}} {
		if err := checkReplay(f, []int64{10, 20, 30}, y, dp.L1); err != nil {
			t.Errorf("%v: %v", y, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Int64Range(-1<<40, 1<<40), 1, 6).Draw(t, "x")
		y := append([]int64(nil), x...)
		left := int64(5)
		for i := range y {
			d := rapid.Int64Range(-left, left).Draw(t, "move")
			y[i] += d
			left -= abs(d)
		}
		if err := checkReplay(f, x, y, dp.L1); err != nil {
			t.Fatal(err)
		}
	})
}

const draws = 1_000_000

// TestMain lets garbage lie longer: a fifth of the time went into collecting it.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

func TestLaplaceStatistical(t *testing.T) {
	// The claim is pure: delta is 0 at epsilon. Just below it, it is not.
	m := drawAnswers(releaseWith(laplace(3, "1")), []int64{10}, []int64{13}, daily.Rounds(draws/4, draws))
	if err := m.check(map[float64]float64{1: 0}); err != nil {
		t.Error(err)
	}
	if err := m.check(map[float64]float64{0.95: 0}); err == nil {
		t.Error("the test cannot tell epsilon 1 from 0.95: it would see nothing")
	}
	f, claims := releaseWith(laplace(3, "1")), map[float64]float64{1: 0}
	if err := checkHockeyStick(f, []int64{10, 10}, []int64{12, 9}, daily.Rounds(draws/10, draws/4), claims); err != nil {
		t.Error(err)
	}
}

func TestLaplaceRefusals(t *testing.T) {
	for _, c := range []struct {
		name    string
		s       dp.Sensitivity
		epsilon dp.Amount
		want    error
	}{
		{"wrong norm", l2squared(1), dp.One, errNorm},
		{"no norm", dp.Sensitivity{}, dp.One, errNorm},
		{"no privacy loss", l1(1), 0, ErrNoPrivacy},
		{"unbounded", l1(1), dp.Unbounded, ErrNoPrivacy},
		{"too wide", dp.NewL1(new(big.Int).Lsh(big.NewInt(1), 41)), dp.One, ErrScale},
		{"too wide by epsilon", l1(2), 1, ErrScale},
		{"too narrow", l1(1), dp.One<<20 + 1, ErrScale},
	} {
		if _, err := NewLaplace(c.s, c.epsilon); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, epsilon := range []dp.Amount{1, dp.One << 20} {
		if _, err := NewLaplace(l1(1), epsilon); err != nil {
			t.Errorf("the ends of the range: %v", err)
		}
	}
}

// pairs returns the moves of two coordinates within a squared distance.
func pairs(d2 int64) (all [][2]int64) {
	for i := int64(0); i*i <= d2; i++ {
		for j := int64(0); i*i+j*j <= d2; j++ {
			all = append(all, [2]int64{i, j})
		}
	}
	return all
}

func TestGaussianExact(t *testing.T) {
	for _, c := range []struct {
		d2  int64
		rho string
	}{{1, "0.5"}, {1, "0.01"}, {2, "0.1"}, {9, "0.125"}, {25, "1"}, {5, "4"}, {1, "8"}} {
		m := gaussian(c.d2, c.rho)
		cost := m.Cost()
		if cost.Epsilon != dp.Unbounded || cost.Rho != amount(c.rho) || cost.Delta != 0 {
			t.Errorf("cost %v for rho %v", cost, c.rho)
		}
		// sigma^2 = D^2/(2 rho), exactly.
		back := new(big.Rat).Mul(m.Parameter(), cost.Rho.Rat())
		if back.Cmp(big.NewRat(c.d2, 2)) != 0 {
			t.Errorf("sigma^2 is %v", m.Parameter())
		}
		p := gaussianLogs(m.Parameter())
		if err := checkConcentrated(p, pairs(c.d2), cost.Rho); err != nil {
			t.Errorf("d^2 %d, rho %v: %v", c.d2, c.rho, err)
		}
		for k := -len(p) / 2; k <= len(p)/2; k++ {
			mass, err := m.law().block(abs(int64(k)), abs(int64(k)))
			if want := math.Exp(p[k+len(p)/2]); math.Abs(mass-want) > err+1e-12*want+1e-300 {
				t.Fatalf("P(%d) = %v, want %v", k, mass, want)
			}
		}
	}
	// An integer order at which the bound is attained: moved by d, order 2.
	m := gaussian(4, "0.5")
	if got := renyi(gaussianLogs(m.Parameter()), 2, 2); math.Abs(got-1) > 1e-9 {
		t.Errorf("the divergence of order 2 is %v, want 2 rho = 1", got)
	}
}

func TestGaussianReplay(t *testing.T) {
	f := releaseWith(gaussian(9, "0.1"))
	for _, y := range [][]int64{{10, 20, 30}, {13, 20, 30}, {12, 18, 31}, {10, 20, 27}} {
		if err := checkReplay(f, []int64{10, 20, 30}, y, dp.L2); err != nil {
			t.Errorf("%v: %v", y, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Int64Range(-1<<40, 1<<40), 2, 6).Draw(t, "x")
		y := append([]int64(nil), x...)
		move := rapid.SampledFrom(pairs(9)).Draw(t, "move")
		y[0] += move[0]
		y[len(y)-1] -= move[1]
		if err := checkReplay(f, x, y, dp.L2); err != nil {
			t.Fatal(err)
		}
	})
}

func TestGaussianStatistical(t *testing.T) {
	m := gaussian(9, "0.5")
	claims := map[float64]float64{}
	for _, e := range []float64{0, 0.5, 1, 2, 3} {
		claims[e] = hockeyStick(gaussianLogs(m.Parameter()), 3, e)
	}
	answered := drawAnswers(releaseWith(m), []int64{10}, []int64{13}, daily.Rounds(draws/2, draws))
	if err := answered.check(claims); err != nil {
		t.Error(err)
	}
	for e := range claims {
		claims[e] *= 0.95
	}
	if err := answered.check(claims); err == nil {
		t.Error("the test cannot tell delta from 0.95 delta: it would see nothing")
	}
}

func TestGaussianRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		s    dp.Sensitivity
		rho  dp.Amount
		want error
	}{
		{"wrong norm", l1(1), dp.One, errNorm},
		{"no norm", dp.Sensitivity{}, dp.One, errNorm},
		{"no privacy loss", l2squared(1), 0, ErrNoPrivacy},
		{"unbounded", l2squared(1), dp.Unbounded, ErrNoPrivacy},
		{"too wide", dp.NewL2Squared(new(big.Int).Lsh(big.NewInt(1), 82)), dp.One, ErrScale},
	} {
		if _, err := NewGaussian(c.s, c.rho); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := NewGaussian(dp.NewL2Squared(new(big.Int).Lsh(big.NewInt(1), 81)), dp.One); err != nil {
		t.Errorf("the end of the range: %v", err)
	}
}

// slowTail is P(|X| > k) for the discrete Gaussian, term by term from the far end.
func slowTail(s2 float64, k int64) float64 {
	sum, z := 0.0, 0.0
	for j := int64(39*math.Sqrt(s2)) + 2; j > 0; j-- {
		g := math.Exp(-float64(j) * float64(j) / (2 * s2))
		z += 2 * g
		if j > k {
			sum += 2 * g
		}
	}
	return sum / (z + 1)
}

func rat(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }

func TestGaussianTail(t *testing.T) {
	for _, s := range []float64{0.05, 0.3, 1, 7, 31.9, 32, 33, 60, 200, 2000} {
		l := newGaussianLaw(rat(s * s))
		for _, u := range []float64{0, 0.1, 0.5, 1, 2, 3, 5, 8, 15, 30} {
			k := int64(u * s)
			want, got := slowTail(s*s, k), l.tail(k)
			if got < want*(1-1e-12) || got > want*(1+3e-12+4*math.Pow((1+u)/s, 4))+2e-300 {
				t.Errorf("s %v, k %d: tail %v, want %v", s, k, got, want)
			}
		}
		for _, k := range []int64{0, 1, 5, 17} {
			width := int64(1 + s/3)
			mass, err := l.block(k+1, k+width)
			want := (slowTail(s*s, k) - slowTail(s*s, k+width)) / 2
			if math.Abs(mass-want) > err+1e-15 || err > 1e-11 {
				t.Errorf("s %v: block %d+%d has %v (+- %v), want %v", s, k, width, mass, err, want)
			}
		}
	}
}

func TestHalfWidthIsTheSmallest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := math.Exp(rapid.Float64Range(-3, 7).Draw(t, "ln s"))
		beta := math.Exp(rapid.Float64Range(-60, -0.01).Draw(t, "ln beta"))
		k := newGaussianLaw(rat(s * s)).halfWidth(beta)
		if p := slowTail(s*s, k); p > beta*(1+1e-11) {
			t.Fatalf("s %v: P(|X| > %d) = %v > %v", s, k, p, beta)
		}
		if k > 0 {
			if p := slowTail(s*s, k-1); p < beta*(1-1e-9-5e3/math.Pow(math.Max(s, 32), 4)) {
				t.Fatalf("s %v: P(|X| > %d) = %v is within %v already", s, k-1, p, beta)
			}
		}
		b := math.Exp(rapid.Float64Range(-3, 20).Draw(t, "ln b"))
		l := newLaplaceLaw(rat(b))
		k = l.halfWidth(beta)
		q := math.Exp(-1 / b)
		at := func(k int64) float64 { return 2 * math.Exp(-float64(k+1)/b) / (1 + q) }
		if at(k) > beta*(1+1e-12) || (k > 0 && at(k-1) < beta*(1-1e-12)) {
			t.Fatalf("b %v: %d for %v, but the tails are %v and %v", b, k, beta, at(k), at(k-1))
		}
		if l.tail(k) < at(k)*(1-1e-15) {
			t.Fatal("the tail is not an upper bound")
		}
	})
}

// At the ends of the range the answers are finite, quick and in proportion.
func TestHalfWidthExtremes(t *testing.T) {
	laws := map[string]func(float64) law{
		"laplace":  func(s float64) law { return newLaplaceLaw(rat(s)) },
		"gaussian": func(s float64) law { return newGaussianLaw(rat(s * s)) },
	}
	for name, make := range laws {
		if k := make(0x1p-20).halfWidth(1e-9); k != 0 {
			t.Errorf("%s: hardly any noise has the half width %d", name, k)
		}
		k40, k20 := make(0x1p40).halfWidth(0.05), make(0x1p20).halfWidth(0.05)
		if r := float64(k40) / float64(k20); math.Abs(r/0x1p20-1) > 1e-6 {
			t.Errorf("%s: half widths %d and %d", name, k40, k20)
		}
		for _, s := range []float64{0x1p-20, 1, 31, 32, 0x1p40} {
			l := make(s)
			if k := l.halfWidth(math.SmallestNonzeroFloat64); k < 0 || float64(k) > 760*s+1 {
				t.Errorf("%s, %v: half width %d at the smallest beta", name, s, k)
			}
			if l.halfWidth(1) != 0 || l.halfWidth(2) != 0 {
				t.Errorf("%s: certainty needs no width", name)
			}
			for _, b := range []float64{0, -1, math.NaN()} {
				if l.halfWidth(b) != math.MaxInt64 {
					t.Errorf("%s: beta %v", name, b)
				}
			}
			if l.tail(-1) != 1 || l.tail(math.MaxInt64) <= 0 {
				t.Errorf("%s: tails %v and %v", name, l.tail(-1), l.tail(math.MaxInt64))
			}
		}
	}
}

// Known to everybody: 95 % of a Gaussian are within 1.959964 sigma.
func TestHalfWidthKnown(t *testing.T) {
	l := newGaussianLaw(rat(0x1p60))
	if k := float64(l.halfWidth(0.05)) / 0x1p30; math.Abs(k-1.9599639845400545) > 1e-9 {
		t.Errorf("%v sigma", k)
	}
	e := newLaplaceLaw(rat(0x1p30))
	if k := float64(e.halfWidth(0.05)) / 0x1p30; math.Abs(k-math.Log(20)) > 1e-8 {
		t.Errorf("%v b", k)
	}
}

func TestMGFIsAnUpperBound(t *testing.T) {
	for _, s := range []float64{0.2, 0.7, 3, 20} {
		for _, share := range []float64{0.01, 0.3, 0.9} {
			check := func(l law, logs []float64, tt float64) {
				sum := 0.0
				for i, p := range logs {
					sum += math.Exp(p + tt*float64(i-len(logs)/2))
				}
				if got := l.logMGF(tt); got < math.Log(sum)-1e-12 || math.IsInf(got, 0) {
					t.Errorf("s %v, t %v: %v, want at least %v", s, tt, got, math.Log(sum))
				}
			}
			check(newLaplaceLaw(rat(s)), laplaceLogs(rat(s)), share/s)
			check(newGaussianLaw(rat(s*s)), gaussianLogs(rat(s*s)), 3*share/s)
		}
	}
	if !math.IsInf(newLaplaceLaw(rat(2)).logMGF(0.5), 1) {
		t.Error("at 1/b it is infinite")
	}
}

// The variances were computed to 17 digits from first principles.
func TestVariances(t *testing.T) {
	for b, want := range map[float64]float64{1: 1.8413471884155846, 10: 199.83341663360945, 0.5: 0.36203083048315523} {
		if got := newLaplaceLaw(rat(b)).variance(); math.Abs(got-want) > 1e-12*want {
			t.Errorf("Laplace %v: %v, want %v", b, got, want)
		}
	}
	for s2, want := range map[float64]float64{1: 0.99999978876772808, 4: 4, 0.25: 0.21501267508813849} {
		if got := newGaussianLaw(rat(s2)).variance(); math.Abs(got-want) > 1e-6*want {
			t.Errorf("Gaussian %v: %v, want %v", s2, got, want)
		}
	}
}

func BenchmarkHalfWidth(b *testing.B) {
	for _, s := range []float64{1, 31, 1000, 0x1p40} {
		l := newGaussianLaw(rat(s * s))
		b.Run(rat(s).FloatString(0), func(b *testing.B) {
			for b.Loop() {
				l.halfWidth(0.05)
			}
		})
	}
}
