package noise

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// falseAlarmExponent is the exponent of the false alarms that these statistical tests allow
// themselves: each fails an exact sampler with probability about exp(-24), less than 1e-10.
const falseAlarmExponent = 24

type distribution struct {
	name     string
	fill     func(*Source, []int64)
	variance float64
	// below is the probability of less than k, for k > 0, in floating point.
	below func(k float64) float64
	scale float64
}

// distributions has both families at every scale. The distribution function of a narrow one is a
// sum; that of a wide Gaussian is the normal one at k - 1/2, which is right to 1/sigma^2.
func distributions(t *testing.T) []distribution {
	t.Helper()
	var ds []distribution
	for _, s := range []*big.Rat{powerOfTwo(-20), rat("0.5"), rat("1"), rat("3.7"), rat("100"), rat("1e6"), powerOfTwo(40)} {
		l := must(NewLaplace(s))
		g := must(NewGaussian(square(s)))
		b, _ := s.Float64()
		lap := func(k float64) float64 { return 1 - math.Exp(-k/b)/(1+math.Exp(-1/b)) }
		gauss := func(k float64) float64 { return (1 + math.Erf((k-0.5)/b/math.Sqrt2)) / 2 }
		if b < 1000 {
			pmf := gaussianPMF(b * b)
			gauss = func(k float64) float64 {
				p := 0.5 + pmf(0)/2
				for i := 1.0; i < k; i++ {
					p += pmf(int64(i))
				}
				return p
			}
		}
		ds = append(ds,
			distribution{"laplace " + shortDecimal(s), l.Fill, l.Variance(), lap, b},
			distribution{"gaussian " + shortDecimal(s), g.Fill, g.Variance(), gauss, b})
	}
	return ds
}

// drawn returns n draws, which one test leaves to the next: each is held against two laws.
func drawn(d distribution, n int) []int64 {
	if draws, ok := leftDraws.LoadAndDelete(d.name); ok {
		return draws.([]int64)
	}
	draws := make([]int64, n)
	d.fill(NewSource(), draws)
	leftDraws.Store(d.name, draws)
	return draws
}

var leftDraws sync.Map

// limit is a bound on chi-square with so many degrees of freedom (Laurent, Massart 2000, Lemma 1).
func limit(free int) float64 {
	return float64(free) + 2*math.Sqrt(float64(free)*falseAlarmExponent) + 2*falseAlarmExponent
}

// TestChiSquare compares a million draws with the distribution, in some dozens of bins.
func TestChiSquare(t *testing.T) {
	const n = 1_000_000
	for _, d := range distributions(t) {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			draws := drawn(d, n)
			// Bins begin at ..., -w, 0, w, ... up to where 100 draws are expected.
			w := math.Max(1, math.Floor(d.scale/8))
			edges := []float64{}
			for k := w; n*(1-d.below(k)) > 200 && len(edges) < 80; k += w {
				edges = append(edges, k)
			}
			// mass[i] is the probability of [edges[i-1], edges[i]), counted on both sides.
			last := 0.5
			chi, free := 0.0, 0
			count := map[int]int{}
			for _, k := range draws {
				i := min(int(math.Abs(float64(k))/w), len(edges))
				if k < 0 {
					i = ^i
				}
				count[i]++
			}
			add := func(got int, p float64) {
				if p*n < 1e-3 {
					if got > 5 {
						t.Errorf("%d draws in a bin of probability %g", got, p)
					}
					return
				}
				chi += (float64(got) - p*n) * (float64(got) - p*n) / (p * n)
				free++
			}
			for i := 0; i <= len(edges); i++ {
				next := 1.0
				if i < len(edges) {
					next = d.below(edges[i])
				}
				p := next - last
				zero := 0.0
				if i == 0 {
					// d.below(k) = 1/2 + P(0)/2 + P(0 < x < k), and zero belongs to the right.
					zero = 2*d.below(1) - 1
					p -= zero / 2
				}
				add(count[i], p+zero)
				add(count[^i], p)
				last = next
			}
			if chi > limit(free) {
				t.Errorf("chi-square %.1f with %d bins, want at most %.1f", chi, free, limit(free))
			}
		})
	}
}

// TestLowBits: the low bits of wide noise are uniform.
func TestLowBits(t *testing.T) {
	const bins = 64
	n := rounds(300_000, 1_000_000)
	for _, d := range distributions(t) {
		if d.scale < 1e6 {
			continue
		}
		draws := make([]int64, n)
		d.fill(NewSource(), draws)
		var count [bins]int
		for _, k := range draws {
			count[uint64(k)%bins]++
		}
		chi := 0.0
		for _, c := range count {
			e := float64(n) / bins
			chi += (float64(c) - e) * (float64(c) - e) / e
		}
		if chi > limit(bins-1) {
			t.Errorf("%s: chi-square of the low bits %.1f, want at most %.1f", d.name, chi, limit(bins-1))
		}
	}
}

// TestMoments compares mean and variance of a million draws. Seven standard
// errors are passed with probability below 1e-11.
func TestMoments(t *testing.T) {
	const n = 1_000_000
	for _, d := range distributions(t) {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			draws := drawn(d, n)
			sum, squares, fourths := 0.0, 0.0, 0.0
			for _, k := range draws {
				x := float64(k)
				sum += x
				squares += x * x
				fourths += x * x * x * x
			}
			mean, square := sum/n, squares/n
			if math.Abs(mean) > 7*math.Sqrt(d.variance/n) {
				t.Errorf("mean %g with variance %g", mean, d.variance)
			}
			if e := math.Sqrt((fourths/n - square*square) / n); math.Abs(square-d.variance) > 7*e {
				t.Errorf("variance %g, want %g, error %g", square, d.variance, e)
			}
		})
	}
}

// TestVariance compares with figures computed to 17 digits from first principles.
func TestVariance(t *testing.T) {
	for scale, want := range map[string]float64{"1": 1.8413471884155846, "10": 199.83341663360945, "0.5": 0.36203083048315523} {
		l, _ := NewLaplace(rat(scale))
		if v := l.Variance(); math.Abs(v/want-1) > 1e-14 {
			t.Errorf("laplace %s: variance %.17g, want %.17g", scale, v, want)
		}
	}
	for sigma2, want := range map[string]float64{"1": 0.99999978876772808, "4": 4, "0.25": 0.21501267508813849} {
		g, _ := NewGaussian(rat(sigma2))
		if v := g.Variance(); math.Abs(v/want-1) > 1e-14 {
			t.Errorf("gaussian %s: variance %.17g, want %.17g", sigma2, v, want)
		}
	}
	// Both ends of the range, where formulas overflow or cancel.
	l, _ := NewLaplace(powerOfTwo(-20))
	g, _ := NewGaussian(powerOfTwo(-40))
	if l.Variance() != 0 || g.Variance() != 0 {
		t.Errorf("variances %g and %g of what is always zero", l.Variance(), g.Variance())
	}
	l, _ = NewLaplace(powerOfTwo(40))
	g, _ = NewGaussian(powerOfTwo(80))
	if math.Abs(l.Variance()/math.Ldexp(1, 81)-1) > 1e-14 || g.Variance() != math.Ldexp(1, 80) {
		t.Errorf("variances %g and %g at the wide end", l.Variance(), g.Variance())
	}
}

// TestRange: the ends of the range are in it, and nothing beyond them.
func TestRange(t *testing.T) {
	above := func(r *big.Rat) *big.Rat { return new(big.Rat).Mul(r, rat("1.0000000000000000000000000001")) }
	under := func(r *big.Rat) *big.Rat { return new(big.Rat).Quo(r, rat("1.0000000000000000000000000001")) }
	for _, c := range []struct {
		scale *big.Rat
		ok    bool
	}{
		{powerOfTwo(-20), true}, {under(powerOfTwo(-20)), false}, {powerOfTwo(40), true}, {above(powerOfTwo(40)), false},
		{new(big.Rat), false}, {rat("-1"), false}, {nil, false}, {rat("1e400"), false}, {rat("1e-400"), false},
	} {
		_, err := NewLaplace(c.scale)
		if (err == nil) != c.ok {
			t.Errorf("NewLaplace(%s): %v", shortDecimal(c.scale), err)
		}
		if err != nil && (!errors.Is(err, ErrScale) || !strings.Contains(err.Error(), "2^40")) {
			t.Errorf("unclear: %v", err)
		}
		var sigma2 *big.Rat
		if c.scale != nil {
			sigma2 = square(c.scale)
			if c.scale.Sign() < 0 {
				sigma2.Neg(sigma2)
			}
		}
		if _, err := NewGaussian(sigma2); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrScale) {
			t.Errorf("NewGaussian(%s): %v", shortDecimal(sigma2), err)
		}
	}
}

// TestParametersAreCopied: a distribution does not change with what it was made from.
func TestParametersAreCopied(t *testing.T) {
	r := rat("3/2")
	l, _ := NewLaplace(r)
	g, _ := NewGaussian(r)
	r.SetInt64(9)
	l.Scale().SetInt64(7)
	g.Sigma2().SetInt64(7)
	if l.Scale().Cmp(rat("3/2")) != 0 || g.Sigma2().Cmp(rat("3/2")) != 0 {
		t.Errorf("scale %v, sigma^2 %v", l.Scale(), g.Sigma2())
	}
	if r := new(big.Rat).SetFrac(l.l.num, l.l.den); r.Cmp(rat("2/3")) != 0 {
		t.Errorf("rate %v", r)
	}
}

// TestAnyRational: every positive rational gives draws or an error. Where it
// gives draws, the step is where the proofs need it.
func TestAnyRational(t *testing.T) {
	src := NewSource()
	rapid.Check(t, func(t *rapid.T) {
		part := func(name string, size int) *big.Int {
			b := rapid.SliceOfN(rapid.Byte(), 40, 40).Draw(t, name)
			return new(big.Int).Rsh(new(big.Int).SetBytes(b), uint(max(0, 320-size)))
		}
		size := rapid.IntRange(1, 230).Draw(t, "size")
		num := part("num", max(0, size+rapid.IntRange(-50, 90).Draw(t, "log")))
		den := part("den", size)
		r := new(big.Rat).SetFrac(num, den.Add(den, bigOne))
		if l, err := NewLaplace(r); err == nil {
			if f := float64(l.l.step.whole) + math.Ldexp(float64(l.l.step.frac), -64); f < 1.0/16 || l.l.shift > 0 && f > 1.0/8 {
				t.Fatalf("laplace %v: step %g", r, f)
			}
			l.Fill(src, make([]int64, 10))
		} else if inRange(r, -20, 40) {
			t.Fatal(err)
		}
		if g, err := NewGaussian(r); err == nil {
			if f := float64(g.l.step.whole) + math.Ldexp(float64(g.l.step.frac), -64); f < 1.0/512 || g.l.shift > 0 && f > 1.0/128 {
				t.Fatalf("gaussian %v: step %g", r, f)
			}
			g.Fill(src, make([]int64, 10))
		} else if inRange(r, -40, 80) {
			t.Fatal(err)
		}
	})
}

// farChoices chooses a block that no stream of bits will reach in a lifetime.
type farChoices struct{ minus uint64 }

func (f farChoices) digits(uint) uint64                 { return f.minus }
func (farChoices) block(*lattice) uint64                { return 1 << 62 }
func (farChoices) accept(*lattice, uint64, uint64) bool { return true }

func TestSaturates(t *testing.T) {
	l, _ := NewLaplace(powerOfTwo(40))
	if a, b := l.l.draw(farChoices{0}), l.l.draw(farChoices{1}); a != math.MaxInt64 || b != -math.MaxInt64 {
		t.Errorf("%d and %d", a, b)
	}
}

// TestConcurrent is for the race detector.
func TestConcurrent(t *testing.T) {
	l, _ := NewLaplace(rat("1e6"))
	g, _ := NewGaussian(rat("1e6"))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			src := NewSource()
			seen := map[int64]bool{}
			for range 10000 {
				seen[l.Draw(src)+g.Draw(src)<<32] = true
			}
			if len(seen) < 9990 {
				t.Errorf("only %d different pairs", len(seen))
			}
		})
	}
	wg.Wait()
}

// TestDrawAllocates nothing, outside refinement.
func TestDrawAllocates(t *testing.T) {
	l, _ := NewLaplace(rat("1000"))
	g, _ := NewGaussian(rat("1000"))
	src := NewSource()
	if n := testing.AllocsPerRun(10000, func() { sink += l.Draw(src) + g.Draw(src) }); n != 0 {
		t.Errorf("%v allocations per draw", n)
	}
}

// The scales of the benchmarks: narrow (no offsets), middling, wide.
var benchScales = []string{"1", "100", "1e6"}

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

func square(r *big.Rat) *big.Rat { return new(big.Rat).Mul(r, r) }

var sink int64

// BenchmarkSource is the cost of 8 random bytes, to compare the others with.
func BenchmarkSource(b *testing.B) {
	src := NewSource()
	b.SetBytes(8)
	for b.Loop() {
		sink += int64(src.Uint64())
	}
}

func BenchmarkLaplace(b *testing.B) {
	for _, s := range benchScales {
		b.Run("scale="+s, func(b *testing.B) {
			d, _ := NewLaplace(rat(s))
			src := NewSource()
			for b.Loop() {
				sink += d.Draw(src)
			}
		})
	}
}

func BenchmarkGaussian(b *testing.B) {
	for _, s := range benchScales {
		b.Run("sigma="+s, func(b *testing.B) {
			d, _ := NewGaussian(square(rat(s)))
			src := NewSource()
			for b.Loop() {
				sink += d.Draw(src)
			}
		})
	}
}

// BenchmarkFill is the cost of a million draws; the metric is per draw.
func BenchmarkFill(b *testing.B) {
	dst := make([]int64, 1_000_000)
	src := NewSource()
	run := func(name string, fill func(*Source, []int64)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				fill(src, dst)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(dst)), "ns/draw")
		})
	}
	for _, s := range benchScales {
		l, _ := NewLaplace(rat(s))
		run("laplace/scale="+s, l.Fill)
		g, _ := NewGaussian(square(rat(s)))
		run("gaussian/sigma="+s, g.Fill)
	}
}

func BenchmarkNewLaplace(b *testing.B) {
	for _, s := range benchScales {
		b.Run("scale="+s, func(b *testing.B) {
			b.ReportAllocs()
			scale := rat(s)
			for b.Loop() {
				NewLaplace(scale)
			}
		})
	}
}

func BenchmarkNewGaussian(b *testing.B) {
	for _, s := range benchScales {
		b.Run("sigma="+s, func(b *testing.B) {
			b.ReportAllocs()
			sigma2 := square(rat(s))
			for b.Loop() {
				NewGaussian(sigma2)
			}
		})
	}
}

func BenchmarkBernoulliExp(b *testing.B) {
	src := NewSource()
	x := rat("0.7")
	for b.Loop() {
		BernoulliExp(src, x)
	}
}

// BenchmarkRefine is the cost of the exact arithmetic, which a draw needs about
// once in ten million times.
func BenchmarkRefine(b *testing.B) {
	run := func(name string, l *lattice) {
		v := uint64(l.table.bound[5])<<32 + 1<<32 - 1
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink += int64(sourceChoices{sourceOf(v)}.block(l))
			}
		})
	}
	l, _ := NewLaplace(rat("1e6"))
	run("laplace", l.l)
	g, _ := NewGaussian(rat("1e12"))
	run("gaussian", g.l)
}
