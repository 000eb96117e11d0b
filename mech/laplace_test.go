package mech

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
)

func TestLaplaceExact(t *testing.T) {
	for _, c := range []struct {
		d       int64
		epsilon string
	}{{1, "1"}, {1, "0.1"}, {2, "1"}, {3, "0.7"}, {5, "2"}, {7, "0.05"}, {4, "8"}} {
		m := laplace(t, c.d, c.epsilon)
		cost := m.Cost()
		if cost.Epsilon != amount(t, c.epsilon) || cost.Delta != 0 {
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
	if got := laplace(t, 1, "1").Cost().Rho.Float(); math.Abs(got-0.46211715726000976) > 2e-12 || got < 0.46211715726000976 {
		t.Errorf("one step: rho %v", got)
	}
	if got := laplace(t, 1<<30, "1").Cost().Rho.Float(); math.Abs(got-0.36787944117144233) > 2e-12 || got < 0.36787944117144233 {
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
	f := with(laplace(t, 5, "0.5"))
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

func TestLaplaceStatistical(t *testing.T) {
	// The claim is pure: delta is 0 at epsilon. Just below it, it is not.
	m := drawn(with(laplace(t, 3, "1")), []int64{10}, []int64{13}, draws)
	if err := m.check(map[float64]float64{1: 0}); err != nil {
		t.Error(err)
	}
	if err := m.check(map[float64]float64{0.95: 0}); err == nil {
		t.Error("the test cannot tell epsilon 1 from 0.95: it would see nothing")
	}
	if err := checkHockeyStick(with(laplace(t, 3, "1")), []int64{10, 10}, []int64{12, 9}, draws/4, map[float64]float64{1: 0}); err != nil {
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
		{"wrong norm", l2squared(1), dp.One, ErrNorm},
		{"no norm", dp.Sensitivity{}, dp.One, ErrNorm},
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
