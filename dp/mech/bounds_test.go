package mech

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/lab/stat"
)

func bounds(c BoundsConfig) *Bounds { return must(NewBounds(c)) }

// Every integer is in one bin, between that bin's ends, and bins are in order.
func TestBoundsBins(t *testing.T) {
	check := func(v int64) {
		bin := BoundsBin(v)
		low, high := boundsOf(bin)
		if bin < 0 || bin >= BoundsBins || v < low || v > high {
			t.Errorf("%d is in bin %d, from %d to %d", v, bin, low, high)
		}
		if v < math.MaxInt64 && BoundsBin(v+1) < bin {
			t.Errorf("%d and %d are out of order", v, v+1)
		}
	}
	for k := range 63 {
		p := int64(1) << k
		for _, v := range []int64{p - 1, p, p + 1, -p - 1, -p, -p + 1} {
			check(v)
		}
		if _, high := boundsOf(BoundsBin(p)); high != p {
			t.Errorf("2^%d is not the end of its bin", k)
		}
		if low, _ := boundsOf(BoundsBin(-p)); low != -p {
			t.Errorf("-2^%d is not the end of its bin", k)
		}
	}
	for _, v := range []int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64 - 1, math.MaxInt64} {
		check(v)
	}
	for bin := range BoundsBins - 1 {
		_, high := boundsOf(bin)
		if low, _ := boundsOf(bin + 1); low < high || low-high > 1 {
			t.Errorf("bin %d ends at %d, and the next begins at %d", bin, high, low)
		}
	}
	if BoundsBin(math.MinInt64) != 0 || BoundsBin(0) != 64 || BoundsBin(math.MaxInt64) != 128 {
		t.Error("the ends of the bins")
	}
}

func histogram(values ...int64) []int64 {
	h := make([]int64, BoundsBins)
	for _, v := range values {
		h[BoundsBin(v)]++
	}
	return h
}

// checkBounds compares the noise to the worst movement of a unit's rows.
func checkBounds(b *Bounds, rows int64, epsilon dp.Amount) error {
	return checkPure(b.noise.Parameter(), rows, epsilon)
}

func TestBoundsArePrivateExactly(t *testing.T) {
	for _, rows := range []int64{1, 2, 5} {
		b := bounds(BoundsConfig{RowsPerUnit: rows, Epsilon: dp.One, Beta: 0.01})
		if err := checkBounds(b, rows, dp.One); err != nil {
			t.Error(err)
		}
		// Replacing rows is a movement of twice as many in l1.
		b = bounds(BoundsConfig{RowsPerUnit: rows, Neighbours: dp.Substitute, Epsilon: dp.One, Beta: 0.01})
		if err := checkBounds(b, 2*rows, dp.One); err != nil {
			t.Error(err)
		}
		b = bounds(BoundsConfig{RowsPerUnit: rows, Neighbours: dp.Substitute, Rho: dp.One, Beta: 0.01})
		if err := checkConcentrated(gaussianLogs(b.noise.Parameter()), [][2]int64{{rows, rows}}, dp.One); err != nil {
			t.Error(err)
		}
	}
}

// All moves of two people's rows: those of one leave the bins, those of another come.
func TestBoundsCostInRho(t *testing.T) {
	for _, rows := range []int64{1, 2, 3} {
		b := bounds(BoundsConfig{RowsPerUnit: rows, Neighbours: dp.Substitute, Epsilon: dp.One, Beta: 0.01})
		p, worst := laplaceLogs(b.noise.Parameter()), 0.0
		var walk func(counts [4]int64, bin int, left int64, f func([4]int64))
		walk = func(counts [4]int64, bin int, left int64, f func([4]int64)) {
			if bin == len(counts) {
				f(counts)
				return
			}
			for counts[bin] = 0; counts[bin] <= left; counts[bin]++ {
				walk(counts, bin+1, left-counts[bin], f)
			}
		}
		walk([4]int64{}, 0, rows, func(went [4]int64) {
			walk([4]int64{}, 0, rows, func(came [4]int64) {
				sum := 0.0
				for i := range went {
					if moved := abs(went[i] - came[i]); moved > 0 {
						sum += leastOrder(p, moved)
					}
				}
				worst = math.Max(worst, sum)
			})
		})
		if rho := b.Cost().Rho.Float(); worst > rho+1e-11 || worst < rho-1e-11 {
			t.Errorf("%d rows cost rho %v, and %v is claimed", rows, worst, rho)
		}
	}
}

// boundsUnder shows a range as two numbers, or none as an empty range.
func boundsUnder(estimate func(*Releaser, Exact) (Range, bool)) releaseFunc {
	return func(r *Releaser, x []int64) []int64 {
		if g, ok := estimate(r, Seal(x...)); ok {
			return []int64{int64(BoundsBin(g.Low)), int64(BoundsBin(g.High))}
		}
		return []int64{-1, -1}
	}
}

func honestBounds(b *Bounds) releaseFunc {
	return boundsUnder(func(r *Releaser, x Exact) (Range, bool) {
		g, ok, err := r.EstimateBounds(x, b)
		if err != nil {
			panic(err)
		}
		return g, ok
	})
}

// checkBoundsStatistics looks at where the range begins and ends.
func checkBoundsStatistics(f releaseFunc, x, y []int64, runs int, epsilon float64) error {
	count := func(r *Releaser, v []int64) map[string]int {
		hits := map[string]int{}
		for range runs {
			z := f(r, v)
			hits[fmt.Sprint("from ", z[0])]++
			hits[fmt.Sprint("to ", z[1])]++
			hits[fmt.Sprint(z)]++
		}
		return hits
	}
	return checkCounts(count(seeded(61), x), count(seeded(62), y), runs, epsilon)
}

func TestBoundsReplayAndStatistics(t *testing.T) {
	b := bounds(BoundsConfig{RowsPerUnit: 2, Epsilon: dp.One, Beta: 0.1})
	x := histogram()
	x[BoundsBin(5)], x[BoundsBin(-300)] = b.tau, b.tau-1
	y := append([]int64(nil), x...)
	y[BoundsBin(5)]++
	y[BoundsBin(-300)]++
	f := honestBounds(b)
	if err := checkKeysReplay(f, x, y); err != nil {
		t.Error(err)
	}
	if err := checkBoundsStatistics(f, x, y, 10000, 1); err != nil {
		t.Error(err)
	}
}

func TestBoundsPlantedBugs(t *testing.T) {
	b := bounds(BoundsConfig{RowsPerUnit: 2, Epsilon: dp.One, Beta: 0.1})
	forgotten := bounds(BoundsConfig{RowsPerUnit: 1, Epsilon: dp.One * 4, Beta: 0.1})
	x := histogram()
	x[BoundsBin(5)] = b.tau
	y := append([]int64(nil), x...)
	y[BoundsBin(5)] += 2
	z := histogram()
	z[BoundsBin(1<<40)] = 1
	occupied := boundsUnder(func(r *Releaser, v Exact) (g Range, ok bool) {
		var bins, counts []int64
		for i, n := range v.Open() {
			if n > 0 {
				bins, counts = append(bins, int64(i)), append(counts, n)
			}
		}
		for i, n := range r.Release(Seal(counts...), b.noise) {
			if n >= b.tau {
				low, high := boundsOf(int(bins[i]))
				if !ok {
					g.Low = low
				}
				g.High, ok = high, true
			}
		}
		return g, ok
	})
	exactEnds := boundsUnder(func(r *Releaser, v Exact) (Range, bool) {
		r.Release(v, b.noise)
		for i, n := range v.Open() {
			if n >= b.tau {
				low, high := boundsOf(i)
				return Range{low, high}, true
			}
		}
		return Range{}, false
	})
	less := histogram()
	less[BoundsBin(5)] = b.tau - 1
	for _, c := range []struct {
		name string
		err  error
	}{
		{"rows per unit forgotten, exact", checkBounds(forgotten, 2, dp.One)},
		{"rows per unit forgotten, statistical",
			checkBoundsStatistics(honestBounds(&Bounds{countThreshold{forgotten.noise, b.tau}}), x, y, 10000, 1)},
		{"empty bins draw nothing, replay", checkKeysReplay(occupied, histogram(), z)},
		{"no noise in the test, statistical", checkBoundsStatistics(exactEnds, x, less, 2000, 1)},
	} {
		if c.err == nil {
			t.Errorf("%s: not caught", c.name)
		} else {
			t.Logf("%s: %v", c.name, c.err)
		}
	}
}

// The two promises, by simulation and by the tail: an empty bin is hardly ever
// an end, and what is outside of the range is small.
func TestBoundsKeepTheirPromises(t *testing.T) {
	const runs, beta = 4000, 0.05
	for _, c := range []BoundsConfig{
		{RowsPerUnit: 1, Epsilon: dp.One, Beta: beta},
		{RowsPerUnit: 3, Rho: dp.One / 5, Beta: beta},
	} {
		b := bounds(c)
		lower := countThreshold{b.noise, b.tau - 1}
		if b.anyPassProbability(0, BoundsBins) > beta || lower.anyPassProbability(0, BoundsBins) <= beta {
			t.Errorf("threshold %d has tail %v", b.tau, b.anyPassProbability(0, BoundsBins))
		}
		missed := b.MissedRows(beta)
		h := histogram()
		h[BoundsBin(-1000)], h[BoundsBin(70)] = missed, missed
		want := Range{-1024, 128}
		empty, seen, r := 0, 0, seeded(71)
		for range runs {
			if _, ok, _ := r.EstimateBounds(Seal(histogram()...), b); ok {
				empty++
			}
			got, ok, err := r.EstimateBounds(Seal(h...), b)
			if err != nil {
				t.Fatal(err)
			}
			if ok && got.Low <= want.Low && got.High >= want.High {
				seen++
			}
		}
		if stat.LowerBound(empty, runs, 1e-6) > beta || stat.UpperBound(seen, runs, 1e-6) < 1-beta {
			t.Errorf("%d empty columns have a range; %d ranges hold all, of %d", empty, seen, runs)
		}
		t.Logf("threshold %d, missed %d: %d and %d of %d", b.tau, missed, empty, seen, runs)
	}
}

func TestBoundsRefuseBadInput(t *testing.T) {
	good := BoundsConfig{RowsPerUnit: 1, Epsilon: dp.One, Beta: 0.05}
	for _, c := range []struct {
		change func(*BoundsConfig)
		want   error
	}{
		{func(b *BoundsConfig) { b.RowsPerUnit = 0 }, errBounds},
		{func(b *BoundsConfig) { b.RowsPerUnit = math.MinInt64 }, errBounds},
		{func(b *BoundsConfig) { b.RowsPerUnit = math.MaxInt64 }, ErrScale},
		{func(b *BoundsConfig) { b.Beta = 0 }, errBounds},
		{func(b *BoundsConfig) { b.Beta = 1 }, errBounds},
		{func(b *BoundsConfig) { b.Beta = math.NaN() }, errBounds},
		{func(b *BoundsConfig) { b.Epsilon = 0 }, ErrNoPrivacy},
		{func(b *BoundsConfig) { b.Epsilon = dp.Unbounded }, ErrNoPrivacy},
		{func(b *BoundsConfig) { b.Rho = dp.One }, errBounds},
	} {
		bad := good
		c.change(&bad)
		if _, err := NewBounds(bad); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	b := bounds(good)
	s := newStream(1)
	r := NewReleaser(entropy.FromReader(s))
	for _, n := range []int{0, 1, 128, 130} {
		if _, _, err := r.EstimateBounds(Seal(make([]int64, n)...), b); !errors.Is(err, errBounds) || s.read != 0 {
			t.Errorf("%d bins: %v", n, err)
		}
	}
	// Counts at the ends of int64 do not wrap around.
	h := histogram()
	h[BoundsBin(9)], h[BoundsBin(-9)] = math.MaxInt64, math.MinInt64
	if got, ok, _ := r.EstimateBounds(Seal(h...), b); !ok || got.High < 16 || got.Low > 8 {
		t.Errorf("%v %v", got, ok)
	}
	if big.NewInt(b.leastNoise(math.MinInt64)).Sign() <= 0 || b.leastNoise(math.MaxInt64) > 0 {
		t.Error("least wraps around")
	}
}
