package numeric

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
		low, high := Root(func(x float64) float64 { calls++; return shape(x) }, 0, 1e10, 1e-10)
		if !(low <= at*(1+1e-15) && at*(1-1e-15) <= high) || high-low > 1e-10*high {
			t.Fatalf("the root %v is not within [%v, %v]", at, low, high)
		}
		// The interval is halved log2(1e10/1e-19) = 97 times.
		if calls > 3*97 {
			t.Fatalf("%d calls", calls)
		}
	})
}

func TestWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Int64Range(-1000, 1000).Draw(t, "low")
		high := low + rapid.Int64Range(1, 1<<40).Draw(t, "width")
		at := rapid.Int64Range(low, high-1).Draw(t, "at")
		calls := 0
		if a, b := BisectWhole(low, high, func(n int64) bool { calls++; return n <= at }); a != at || b != at+1 || calls > 41 {
			t.Fatalf("%d and %d after %d calls", a, b, calls)
		}
	})
	if a, b := BisectWhole[uint64](0, math.MaxUint64, func(uint64) bool { return true }); a != math.MaxUint64-1 || b != math.MaxUint64 {
		t.Errorf("%d and %d", a, b)
	}
}

func TestHalve(t *testing.T) {
	below := func(x float64) bool { return x < 0.3 }
	if a, b := Bisect(0, 1, 3, below); a != 0.25 || b != 0.375 {
		t.Errorf("%v and %v", a, b)
	}
	if a, b := BisectScale(0x1p-8, 0x1p8, 3, below); a != 0x1p-2 || b != 1 {
		t.Errorf("%v and %v", a, b)
	}
}

func TestValley(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Float64Range(-5, 5).Draw(t, "at")
		shape := rapid.SampledFrom([]func(x float64) float64{
			func(x float64) float64 { return (x - at) * (x - at) },
			func(x float64) float64 { return math.Abs(x - at) },
			func(x float64) float64 { // infinite below
				if x < at {
					return math.Inf(1)
				}
				return x
			},
		}).Draw(t, "shape")
		low, high := Minimise(shape, -6, 6, 1e-6)
		if !(low <= at+1e-6 && at-1e-6 <= high) || high-low > 1e-6 {
			t.Fatalf("the lowest place %v is not within [%v, %v]", at, low, high)
		}
	})
}
