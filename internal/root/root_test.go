package root

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Float64Range(1e-9, 1e9).Draw(t, "at")
		shape := rapid.SampledFrom([]func(x float64) float64{
			func(x float64) float64 { return at - x },
			func(x float64) float64 { return math.Log(at / x) },
			func(x float64) float64 { return math.Exp(-x/at) - math.Exp(-1) },
			func(x float64) float64 { return math.Copysign(1, at-x) },
			func(x float64) float64 { return math.Pow(1-x/at, 3) },
			func(x float64) float64 { // infinite on both sides
				if x < at {
					return math.Inf(1)
				}
				return math.Inf(-1)
			},
		}).Draw(t, "shape")
		calls := 0
		low, high := Between(func(x float64) float64 { calls++; return shape(x) }, 0, 1e10, 1e-10)
		if !(low <= at*(1+1e-15) && at*(1-1e-15) <= high) || high-low > 1e-10*high {
			t.Fatalf("the root %v is not within [%v, %v]", at, low, high)
		}
		// The interval is halved log2(1e10/1e-19) = 97 times.
		if calls > 3*97 {
			t.Fatalf("%d calls", calls)
		}
	})
}
