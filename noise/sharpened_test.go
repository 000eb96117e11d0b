package noise

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/entropy"
)

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
		r, err := NewSharpened(new(big.Rat).SetFloat64(from), new(big.Rat).SetFloat64(to))
		if err != nil {
			t.Fatal(err)
		}
		pair, _ := r.pair.Scale().Float64()
		thin, _ := r.thin.Scale().Float64()
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
	first, err := NewLaplace(from)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewSharpened(from, to)
	if err != nil {
		t.Fatal(err)
	}
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
