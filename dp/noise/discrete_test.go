package noise

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// geometricPMF is the definition: (1 - q) q^k with q = exp(-1/b), and nothing below zero.
func geometricPMF(b float64) func(int64) float64 {
	return func(k int64) float64 {
		if k < 0 {
			return 0
		}
		return -math.Expm1(-1/b) * math.Exp(-float64(k)/b)
	}
}

func newGeometric(scale string) *Geometric { return must(NewGeometric(rat(scale))) }

// TestGeometricEnumeration walks through every way that a draw can go, on both sides of the
// scale where offsets begin, and at the narrow end.
func TestGeometricEnumeration(t *testing.T) {
	for _, scale := range []string{"1/1048576", "1/2", "1", "3.7", "15.99", "16", "100"} {
		t.Run(scale, func(t *testing.T) {
			t.Parallel()
			g := newGeometric(scale)
			pmf := enumerate(newMeasure(g.two.l), g.draw)
			b, _ := rat(scale).Float64()
			if d := distance(pmf, geometricPMF(b)); !(d < closeEnough) {
				t.Errorf("the sampler is %.3g from its definition in total variation", d)
			}
			mean := 0.0
			for k, p := range pmf {
				if k < 0 {
					t.Errorf("%d came with probability %g", k, p)
				}
				mean += p * float64(k)
			}
			if want := 1 / math.Expm1(1/b); math.Abs(mean-want) > 1e-9*(1+want) {
				t.Errorf("mean %.12g, want %.12g", mean, want)
			}
		})
	}
}

// TestGeometricPlantedBugs shows that the enumeration can fail.
func TestGeometricPlantedBugs(t *testing.T) {
	for _, scale := range []string{"2", "20"} {
		g := newGeometric(scale)
		b, _ := rat(scale).Float64()
		m := newMeasure(g.two.l)
		for bug, draw := range map[string]func(choices) int64{
			"folded over: zero counted half": func(c choices) int64 {
				k := g.two.l.draw(c)
				return max(k, -k)
			},
			"negative draws become zero": func(c choices) int64 { return max(0, g.two.l.draw(c)) },
			"zero refused": func(c choices) int64 {
				for {
					if k := g.two.l.draw(c); k > 0 {
						return k
					}
				}
			},
			"begins at one":  func(c choices) int64 { return g.draw(c) + 1 },
			"the other side": func(c choices) int64 { return -g.draw(c) },
			"both sides":     g.two.l.draw,
		} {
			if d := distance(enumerate(m, draw), geometricPMF(b)); d < closeEnough {
				t.Errorf("scale %s, %s: not caught, distance %.3g", scale, bug, d)
			}
		}
	}
}

// TestGeometricDraws holds the drawn numbers, of real bits, against the definition: a chi-square
// over bins, wide scales included, that the enumeration does not reach.
func TestGeometricDraws(t *testing.T) {
	const n, bins = 200_000, 40
	for _, scale := range []string{"1/2", "3.7", "1000", "1e6", "1e12"} {
		g := newGeometric(scale)
		b, _ := rat(scale).Float64()
		w := math.Max(1, math.Floor(b/8))
		var count [bins + 1]int
		src := NewSource()
		for range n {
			k := g.Draw(src)
			if k < 0 {
				t.Fatalf("scale %s: drew %d", scale, k)
			}
			count[min(int(float64(k)/w), bins)]++
		}
		chi, free := 0.0, 0
		for i, c := range count {
			p := math.Exp(-float64(i) * w / b) // P(k >= i w)
			if i < bins {
				p *= -math.Expm1(-w / b)
			}
			if p*n < 1e-3 {
				if c > 5 {
					t.Errorf("scale %s: %d draws in a bin of probability %g", scale, c, p)
				}
				continue
			}
			chi += (float64(c) - p*n) * (float64(c) - p*n) / (p * n)
			free++
		}
		if chi > limit(free) {
			t.Errorf("scale %s: chi-square %.1f with %d bins, want at most %.1f", scale, chi, free, limit(free))
		}
	}
}

// The range is that of Laplace noise, and what is refused is named.
func TestGeometricRange(t *testing.T) {
	for _, c := range []struct {
		scale *big.Rat
		ok    bool
	}{
		{powerOfTwo(-20), true}, {powerOfTwo(40), true}, {powerOfTwo(-21), false}, {powerOfTwo(41), false},
		{new(big.Rat), false}, {rat("-1"), false}, {nil, false}, {rat("1e400"), false}, {rat("1e-400"), false},
	} {
		g, err := NewGeometric(c.scale)
		if (err == nil) != c.ok || (g != nil) != c.ok {
			t.Errorf("NewGeometric(%s): %v", shortDecimal(c.scale), err)
		}
		if err != nil && (!errors.Is(err, ErrScale) || !strings.Contains(err.Error(), "2^40")) {
			t.Errorf("unclear: %v", err)
		}
	}
	r := rat("3/2")
	g, _ := NewGeometric(r)
	r.SetInt64(9)
	g.Scale().SetInt64(7)
	if g.Scale().Cmp(rat("3/2")) != 0 {
		t.Errorf("the scale became %v", g.Scale())
	}
}

func TestGeometricSaturates(t *testing.T) {
	g, _ := NewGeometric(powerOfTwo(40))
	if k := g.draw(farChoices{0}); k != math.MaxInt64 {
		t.Errorf("%d", k)
	}
}

func TestGeometricAllocates(t *testing.T) {
	g, src := newGeometric("1000"), NewSource()
	if n := testing.AllocsPerRun(10000, func() { sink += g.Draw(src) }); n != 0 {
		t.Errorf("%v allocations per draw", n)
	}
}

// geometricLaw is that of a geometric number of a scale, cut off where nothing is left.
func geometricLaw(scale float64) []float64 {
	a := math.Exp(-1 / scale)
	var law []float64
	for p := 1 - a; p > 1e-14; p *= a {
		law = append(law, p)
	}
	return law
}

func laplaceAt(scale float64, k int64) float64 {
	a := math.Exp(-1 / scale)
	return (1 - a) / (1 + a) * math.Pow(a, math.Abs(float64(k)))
}

// sharpenedLaw is the law of what the coins make of x, by going through all of them.
func sharpenedLaw(pair, thin float64, x int64) map[int64]float64 {
	out := map[int64]float64{}
	back, by := geometricLaw(pair), geometricLaw(thin)
	for m, pm := range back {
		for j, pj := range by {
			for k, pk := range by {
				out[Coins{int64(m), int64(j), int64(k)}.Sharpen(x)] += pm * pj * pk
			}
		}
	}
	return out
}

// lawOff is how far the law of the pair is from that of the theorem at most: the second draw that
// of its own scale, times a mixture of nothing and noise of the first scale for the difference,
// which is another way to write it.
func lawOff(from, to, pair, thin float64) (most float64) {
	a1, a2 := math.Exp(-1/from), math.Exp(-1/to)
	none := a2 / a1 * math.Pow((1-a1)/(1-a2), 2)
	for x := int64(-5); x <= 5; x++ {
		law := sharpenedLaw(pair, thin, x)
		for y := int64(-5); y <= 5; y++ {
			left := (1 - none) * laplaceAt(from, x-y)
			if x == y {
				left += none
			}
			most = max(most, math.Abs(laplaceAt(from, x)*law[y]-laplaceAt(to, y)*left))
		}
	}
	return most
}

// The pair has the law of the theorem, and coins of other scales are caught.
func TestSharpenedLaw(t *testing.T) {
	for _, c := range [][2]float64{{1, 0.5}, {1.5, 1}, {2, 0.4}} {
		from, to := c[0], c[1]
		r := must(NewSharpened(new(big.Rat).SetFloat64(from), new(big.Rat).SetFloat64(to)))
		pair, _ := r.pair.Scale().Float64()
		thin, _ := r.limit.Scale().Float64()
		if off := lawOff(from, to, pair, thin); off > 1e-12 {
			t.Errorf("scales %v: the law is off by %v", c, off)
		}
		for name, scales := range map[string][2]float64{
			"drawn back with the scale and not half of it": {2 * pair, thin},
			"thinned by its own scale":                     {pair, to},
			"thinned too little":                           {pair, 1.05 * thin},
		} {
			if lawOff(from, to, scales[0], scales[1]) < 1e-4 {
				t.Errorf("scales %v, %s: not caught", c, name)
			}
		}
	}
}

// sharpenedLoss is the most that the pair tells about a number that moves by one.
func sharpenedLoss(from, pair, thin float64) float64 {
	most := 0.0
	joint := map[[2]int64]float64{}
	for x := int64(-9); x <= 9; x++ {
		for y, p := range sharpenedLaw(pair, thin, x) {
			joint[[2]int64{x, y}] = laplaceAt(from, x) * p
		}
	}
	for at, p := range joint {
		if q := joint[[2]int64{at[0] - 1, at[1] - 1}]; p > 1e-12 && q > 1e-12 && at[0] > -8 && at[0] < 8 {
			most = max(most, math.Log(p/q))
		}
	}
	return most
}

// Both answers together cost what the second costs alone. A second draw that does not look at the
// first, charged with the difference, would cost both.
func TestSharpenedLoss(t *testing.T) {
	const from, to = 2.0, 1.0
	if got := sharpenedLoss(from, from/2, from*to/(from-to)); math.Abs(got-1/to) > 1e-6 {
		t.Errorf("the pair loses %v; want %v", got, 1/to)
	}
	independent := 0.0
	for x := int64(-3); x <= 3; x++ {
		for y := int64(-3); y <= 3; y++ {
			p, q := laplaceAt(from, x)*laplaceAt(to, y), laplaceAt(from, x-1)*laplaceAt(to, y-1)
			independent = max(independent, math.Log(p/q))
		}
	}
	if independent < 1/from+1/to-1e-9 {
		t.Errorf("two draws of their own lose %v", independent)
	}
}

// What is drawn is that law: the sampler, black box.
func TestSharpenedDraws(t *testing.T) {
	src := entropy.FromReader(rand.NewChaCha8([32]byte{7}))
	from, to := big.NewRat(5, 1), big.NewRat(2, 1)
	first := must(NewLaplace(from))
	r := must(NewSharpened(from, to))
	const n = 200_000
	counts, product := map[int64]int{}, 0.0
	draws := make([]int64, n)
	first.Fill(src, draws)
	for _, x := range draws {
		y := r.Draw(src).Sharpen(x)
		counts[y]++
		product += float64(y) * float64(x-y)
	}
	for k := int64(-8); k <= 8; k++ {
		p := laplaceAt(2, k)
		if got, want := float64(counts[k]), n*p; math.Abs(got-want) > 6*math.Sqrt(want) {
			t.Errorf("%d was drawn %v times; want %v", k, got, want)
		}
	}
	// The difference is not correlated with the second draw.
	if scale := math.Sqrt(8.0*(50-8)) * math.Sqrt(n); math.Abs(product) > 8*scale {
		t.Errorf("the difference goes with the second draw: %v of %v", product, scale)
	}
}

func TestSharpenedBounds(t *testing.T) {
	one := big.NewRat(1, 1)
	for _, to := range []*big.Rat{one, big.NewRat(2, 1), new(big.Rat)} {
		if _, err := NewSharpened(one, to); err == nil {
			t.Errorf("1 was sharpened to %v", to)
		}
	}
	for _, x := range []int64{math.MinInt64, math.MaxInt64} {
		if y := (Coins{math.MaxInt64, 3, 4}).Sharpen(x); y != 3-4 {
			t.Errorf("%d becomes %d", x, y)
		}
	}
	if y := (Coins{0, 3, 4}).Sharpen(math.MinInt64); y != -4 {
		t.Error(y)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
