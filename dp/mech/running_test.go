package mech

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/entropy"
)

func days(n int) RunningTotalsConfig {
	return RunningTotalsConfig{Len: n, Low: new(big.Int), High: big.NewInt(1), Groups: 1}
}

func running(of RunningTotalsConfig, rho string) *RunningTotals {
	return must(NewRunningTotals(of, amount(rho)))
}

// The figure: running totals of a year have a mean variance of less than 8 times that of one count
// at the same price, where a tree has 41 and days that are added up 183.
func TestRunningTotalsOfAYear(t *testing.T) {
	m := running(days(365), "0.005")
	single := 1 / (2 * 0.005)
	each, _ := m.TermNoise().Parameter().Float64()
	last, _ := m.TotalNoise().Parameter().Float64()
	t.Logf("mean %.3f, last %.3f, a day %.3f", m.MeanVariance()/single, last/single, each/single)
	if m.MeanVariance() > 8*single || last > 9*single || each > 4*single {
		t.Errorf("mean %v, last %v, a day %v", m.MeanVariance()/single, last/single, each/single)
	}
	// By its definition: row norms of C, and the norm of its first column.
	f, sum, rows := 1.0, 0.0, 0.0
	for k := range 365 {
		if k > 0 {
			f *= float64(2*k-1) / float64(2*k)
		}
		sum += f * f
		rows += sum
	}
	if want := rows / 365 * sum; math.Abs(m.MeanVariance()/single-want) > 0.001*want {
		t.Errorf("the mean variance is %v, and the factorisation has %v", m.MeanVariance()/single, want)
	}
}

// Without noise the numbers are what they were, and with noise the totals are near.
func TestRunningIsTheSequence(t *testing.T) {
	m := running(days(60), "1000000")
	x := madeUpTable(60, 4)
	if got := seeded(1).ReleaseRunningTotals(Seal(x...), m); !slices.Equal(got, x) {
		t.Errorf("%v, want %v", got, x)
	}
	m = running(days(60), "0.02")
	r := NewReleaser(entropy.FromReader(newStream(3)))
	const n = 600
	outside, single, squares := 0, 0, 0.0
	for range n {
		sum, exact := int64(0), int64(0)
		got := r.ReleaseRunningTotals(Seal(x...), m)
		for i, v := range got {
			sum, exact = sum+v, exact+x[i]
			squares += float64((sum-exact)*(sum-exact)) / n / 60
		}
		if abs(sum-exact) > m.TotalNoise().HalfWidth(0.05) {
			outside++
		}
		if abs(got[59]-x[59]) > m.TermNoise().HalfWidth(0.05) {
			single++
		}
	}
	if outside > n*8/100 || single > n*8/100 || outside < n/100 || single < n/100 {
		t.Errorf("%d totals and %d numbers of %d are outside", outside, single, n)
	}
	if squares > 1.2*m.MeanVariance() || squares < 0.8*m.MeanVariance() {
		t.Errorf("the mean variance is %v, and %v is said", squares, m.MeanVariance())
	}
}

// One person moves Kx no further than it is calibrated to, in any numbers that are theirs; one
// number, and those next to each other at the beginning, reach it.
func TestRunningSensitivity(t *testing.T) {
	for _, of := range []RunningTotalsConfig{days(5), {Len: 5, Low: new(big.Int), High: big.NewInt(3), Groups: 3},
		{Len: 5, Low: big.NewInt(-2), High: big.NewInt(1), Groups: 2}, {Len: 4, Low: new(big.Int), High: big.NewInt(2), Groups: 2,
			Neighbours: dp.Substitute}, {Len: 4, Low: big.NewInt(-1), High: big.NewInt(1), Groups: 9, Neighbours: dp.Substitute},
		{Len: 4, Low: big.NewInt(-2), High: new(big.Int), Groups: 1, Neighbours: dp.Substitute}} {
		m := running(of, "1")
		var own [][]int64 // what one person may add
		var list func(x []int64, groups int64)
		list = func(x []int64, groups int64) {
			if len(x) == of.Len {
				own = append(own, slices.Clone(x))
				return
			}
			list(append(x, 0), groups)
			for _, v := range []int64{of.Low.Int64(), of.High.Int64()} {
				if groups > 0 && v != 0 {
					list(append(slices.Clip(x), v), groups-1)
				}
			}
		}
		list(nil, of.Groups)
		worst, claim := new(big.Int), m.noise.Sensitivity().L2Squared()
		try := func(x []int64) {
			sum := new(big.Int)
			for _, v := range m.multiplyFactor(x) {
				sum.Add(sum, new(big.Int).Mul(&v, &v))
			}
			if sum.Cmp(worst) > 0 {
				worst = sum
			}
		}
		for _, a := range own {
			try(a)
			for _, b := range own {
				if of.Neighbours == dp.Substitute {
					d := slices.Clone(a)
					for i := range d {
						d[i] -= b[i]
					}
					try(d)
				}
			}
		}
		ratio, _ := new(big.Rat).SetFrac(worst, claim).Float64()
		if ratio > 1 || ratio < 0.45 || of.Neighbours == dp.AddRemove && of.Groups == 1 && ratio != 1 {
			t.Errorf("%+v: one person moves it by %v of the claim", of, ratio)
		}
		// Whoever adds nothing but what is below 0 moves it as far as whoever adds as much above.
		mirror := of
		mirror.Low, mirror.High = new(big.Int).Neg(of.High), new(big.Int).Neg(of.Low)
		if got := running(mirror, "1").noise.Sensitivity().L2Squared(); got.Cmp(claim) != 0 {
			t.Errorf("%+v: %v is claimed, and of its mirror image %v", of, claim, got)
		}
	}
}

// The law, number by number: what a person of one day loses, at every day, is what is claimed or
// less. Noise for a day alone, and for one day where people have two, loses more.
func TestRunningExactly(t *testing.T) {
	m := running(days(4), "5")
	loss := func(sigma2 *big.Rat, x []int64) float64 {
		p, sum := gaussianLogs(sigma2), 0.0
		for _, d := range m.multiplyFactor(x) {
			sum += renyi(p, d.Int64(), 2)
		}
		return sum
	}
	sigma2 := m.noise.Parameter()
	for day := range 4 {
		x := make([]int64, 4)
		x[day] = 1
		if got := loss(sigma2, x); got > 10*(1+1e-6) || day == 0 && got < 9.99 {
			t.Errorf("day %d: the divergence of order 2 is %v, and 10 is claimed", day, got)
		}
	}
	short := new(big.Rat).SetInt(m.factor[0])
	short.Mul(short, short).Quo(short, big.NewRat(10, 1)) // the column's first entry, and not its length
	first, second := loss(short, []int64{1, 0, 0, 0})/10, loss(sigma2, []int64{1, 1, 0, 0})/10
	t.Logf("a column that is too short: %.3f of the claim; a second day: %.3f", first, second)
	if first < 1.2 || second < 2 {
		t.Error("a column that is too short, or a second day, is not seen")
	}
}

func TestRunningReplay(t *testing.T) {
	of := RunningTotalsConfig{Len: 30, Low: new(big.Int), High: big.NewInt(4), Groups: 2}
	m := running(of, "0.1")
	silent := func(r *Releaser, v []int64) []int64 {
		r.ReleaseRunningTotals(Seal(v...), m)
		return nil
	}
	x := madeUpTable(30, 8)
	y := slices.Clone(x)
	y[0], y[1] = y[0]+4, y[1]+4
	if err := checkReplay(silent, x, y, dp.L2); err != nil {
		t.Error(err)
	}
	y[2]++
	if checkReplay(silent, x, y, dp.L2) == nil {
		t.Error("three days of a person were not noticed")
	}
}

func TestRunningBlackBox(t *testing.T) {
	f := func(m *RunningTotals) releaseFunc {
		return func(r *Releaser, x []int64) []int64 { return r.ReleaseRunningTotals(Seal(x...), m) }
	}
	x, y := []int64{10, 20}, []int64{11, 20}
	claims := map[float64]float64{}
	for _, e := range []float64{0.5, 1, 1.5, 2} {
		claims[e] = deltaOf(0.5, e)
	}
	if err := checkHockeyStick(f(running(days(2), "0.5")), x, y, draws/32, claims); err != nil {
		t.Error(err)
	}
	if catchHockeyStick(f(running(days(2), "4")), x, y, draws/16, claims) == nil {
		t.Error("eight times the price was not noticed")
	}
}

func TestRunningRefused(t *testing.T) {
	for _, of := range []RunningTotalsConfig{{}, days(1), days(2000), {Len: 3, Low: new(big.Int), High: new(big.Int), Groups: 1},
		{Len: 3, Low: new(big.Int), High: big.NewInt(1)}} {
		if _, err := NewRunningTotals(of, dp.One); err == nil {
			t.Errorf("%+v", of)
		}
	}
}

// A price is free, and a question has a hundred measures at most over one sequence: what follows
// from its length alone is computed once for all of them.
func TestRunningIsFactorisedOnce(t *testing.T) {
	of := RunningTotalsConfig{Len: 365, Low: new(big.Int), High: big.NewInt(7), Groups: 20}
	if n := testing.AllocsPerRun(5, func() {
		if _, err := NewRunningTotals(of, dp.One/100); err != nil {
			t.Fatal(err)
		}
	}); n > 3000 {
		t.Errorf("%v allocations for one more measure", n)
	}
}
