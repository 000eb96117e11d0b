package holdout

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/mech"
)

// The tail in closed form is the sum of what it is the tail of.
func TestDifferenceTail(t *testing.T) {
	law := func(b float64, k int) float64 {
		q := math.Exp(-1 / b)
		return (1 - q) / (1 + q) * math.Pow(q, math.Abs(float64(k)))
	}
	for _, a := range []float64{0.05, 0.3, 1, 2, 7.5} {
		b := 2 * a
		reach := int(45*b) + 50
		beyond := make([]float64, 2*reach+2) // P(Z > k - reach)
		for k := 2 * reach; k >= 0; k-- {
			beyond[k] = beyond[k+1] + law(a, k-reach+1)
		}
		for _, w := range []int{0, 1, 2, 5, 13, 40} {
			want := 0.0
			for n := -reach; n <= reach; n++ {
				if k := n + w + reach; k < len(beyond) {
					want += law(b, n) * beyond[k]
				}
			}
			if got := differenceTail(a, b, float64(w)); got < want*(1-1e-10)-1e-15 || got > want*(1+1e-8)+1e-15 {
				t.Errorf("scales %v and %v beyond %d: %v, want %v", a, b, w, got, want)
			}
		}
	}
	// Continuous noise is the limit of large scales.
	a, b, w := 1e6, 2e6, 5e6
	want := (b*b*math.Exp(-w/b) - a*a*math.Exp(-w/a)) / (2 * (b*b - a*a))
	if got := differenceTail(a, b, w); math.Abs(got/want-1) > 1e-5 {
		t.Errorf("%v, want %v", got, want)
	}
	if got := differenceTail(1e-6, 2e-6, 0); got != 0 {
		t.Error(got)
	}
}

func TestErrorBars(t *testing.T) {
	tariff, err := Price(Config{Size: 10_000, Steps: 1, Threshold: big.NewRat(4, 100), Noise: big.NewRat(1, 100), Answers: 10,
		Currency: mech.Pure})
	if err != nil {
		t.Fatal(err)
	}
	// Laplace noise of scale 0.01 is within 0.01 ln 20 in 95 of 100 cases.
	if got, want := tariff.Answered(0.05), 0.01*math.Log(20); math.Abs(got-want) > 2e-4 {
		t.Errorf("%v, want %v", got, want)
	}
	// T and the 95 % point of Lap(0.02) - Lap(0.04), which (4 exp(-w/4) - exp(-w/2))/6 = 0.05
	// solves, in units of 0.01.
	w := 4 * math.Log(1/(2-math.Sqrt(4-0.3)))
	if got, want := tariff.Confirmed(0.05), 0.04+0.01*w; math.Abs(got-want) > 3e-4 {
		t.Errorf("%v, want %v", got, want)
	}
	if !(tariff.Confirmed(0.05) < tariff.Confirmed(0.01)) || !math.IsInf(tariff.Confirmed(0), 1) || tariff.Confirmed(1e-300) > 1 {
		t.Error("a surer bar is no wider")
	}
}
