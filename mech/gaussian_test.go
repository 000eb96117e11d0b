package mech

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
)

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
		m := gaussian(t, c.d2, c.rho)
		cost := m.Cost()
		if cost.Epsilon != dp.Unbounded || cost.Rho != amount(t, c.rho) || cost.Delta != 0 {
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
	m := gaussian(t, 4, "0.5")
	if got := renyi(gaussianLogs(m.Parameter()), 2, 2); math.Abs(got-1) > 1e-9 {
		t.Errorf("the divergence of order 2 is %v, want 2 rho = 1", got)
	}
}

func TestGaussianReplay(t *testing.T) {
	f := with(gaussian(t, 9, "0.1"))
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
	m := gaussian(t, 9, "0.5")
	claims := map[float64]float64{}
	for _, e := range []float64{0, 0.5, 1, 2, 3} {
		claims[e] = hockeyStick(gaussianLogs(m.Parameter()), 3, e)
	}
	answered := drawn(with(m), []int64{10}, []int64{13}, draws)
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
		{"wrong norm", l1(1), dp.One, ErrNorm},
		{"no norm", dp.Sensitivity{}, dp.One, ErrNorm},
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
