package mech

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/lab/stat"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

func TestRatioInterval(t *testing.T) {
	for _, c := range []struct {
		name           string
		sum, count     Noisy
		low, high      float64
		estimate, half float64
	}{
		{"exact", Noisy{500, 0}, Noisy{10, 0}, 0, 100, 50, 0},
		{"sum only", Noisy{500, 50}, Noisy{10, 0}, 0, 100, 50, 5},
		{"both", Noisy{500, 50}, Noisy{10, 2}, 0, 100, 50, 18.75},
		{"negative", Noisy{-500, 50}, Noisy{10, 2}, -100, 0, -50, 18.75},
		{"cut to the range", Noisy{500, 50}, Noisy{10, 2}, 0, 60, 50, 12.5},
		{"estimate clamped", Noisy{700, 150}, Noisy{10, 0}, 0, 60, 60, 5},
		{"count may be zero", Noisy{500, 50}, Noisy{2, 2}, 0, 100, 100, 100},
		{"count negative", Noisy{500, 50}, Noisy{-3, 2}, 0, 100, 50, 50},
		{"impossible", Noisy{5000, 1}, Noisy{10, 1}, 0, 100, 100, 100},
		{"overflow", Noisy{math.MaxInt64, math.MaxInt64}, Noisy{math.MaxInt64, 1}, 0, 3, 1, 1},
	} {
		e, h := RatioInterval(c.sum, c.count, c.low, c.high)
		if e != c.estimate || math.Abs(h-c.half) > 1e-12 {
			t.Errorf("%s: %v +- %v, want %v +- %v", c.name, e, h, c.estimate, c.half)
		}
	}
}

// Whenever both errors are within their half widths the quotient is inside.
func TestRatioIntervalHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Int64Range(1, 1000).Draw(t, "count")
		low := float64(rapid.Int64Range(-50, 50).Draw(t, "low"))
		high := low + float64(rapid.Int64Range(0, 100).Draw(t, "range"))
		sum := rapid.Int64Range(int64(low)*count, int64(high)*count).Draw(t, "sum")
		a, b := rapid.Int64Range(0, 3000).Draw(t, "a"), rapid.Int64Range(0, 200).Draw(t, "b")
		s := Noisy{sum + rapid.Int64Range(-a, a).Draw(t, "sum noise"), a}
		c := Noisy{count + rapid.Int64Range(-b, b).Draw(t, "count noise"), b}
		e, h := RatioInterval(s, c, low, high)
		if truth := float64(sum) / float64(count); math.Abs(truth-e) > h*(1+1e-12)+1e-12 {
			t.Fatalf("%v is outside of %v +- %v", truth, e, h)
		}
		if e < low || e > high || h > high-low {
			t.Fatalf("%v +- %v leaves the public range", e, h)
		}
	})
}

func TestRatioIntervalCoverage(t *testing.T) {
	const beta = 0.1
	runs := daily.Rounds(12_000, 30_000)
	sums, counts := laplace(100, "0.5"), laplace(1, "0.5")
	a, b := sums.HalfWidth(beta/2), counts.HalfWidth(beta/2)
	r := seeded(3)
	for _, c := range [][2]int64{{4000, 100}, {100, 5}, {0, 40}, {99 * 30, 30}} {
		inside := 0
		for range runs {
			s := r.Release(Seal(c[0]), sums)[0]
			n := r.Release(Seal(c[1]), counts)[0]
			e, h := RatioInterval(Noisy{s, a}, Noisy{n, b}, 0, 100)
			if math.Abs(float64(c[0])/float64(c[1])-e) <= h {
				inside++
			}
		}
		if high := stat.UpperBound(inside, runs, 1e-6); high < 1-beta {
			t.Errorf("%v: %d of %d inside", c, inside, runs)
		}
	}
}

func TestRatioIntervalRefusesNoRange(t *testing.T) {
	for _, c := range [][2]float64{{1, 0}, {math.NaN(), 1}, {0, math.Inf(1)}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v was taken for a range", c)
				}
			}()
			RatioInterval(Noisy{1, 1}, Noisy{1, 1}, c[0], c[1])
		}()
	}
}

// The interval of a part holds for every pair of sums within their half widths, and its ends are
// reached.
func TestPartInterval(t *testing.T) {
	for _, width := range []float64{1, 10, 110} {
		for a := int64(-4); a <= 12; a++ {
			for b := int64(-4); b <= 12; b++ {
				for half := int64(0); half <= 5; half++ {
					estimate, reach := PartInterval(Noisy{a, half}, Noisy{b, half}, width)
					if !(estimate >= 0 && estimate <= width) || !(reach >= 0 && reach <= width) {
						t.Fatalf("%d and %d within %d: %v by %v", a, b, half, estimate, reach)
					}
					farthest := 0.0
					for x := max(0, a-half); x <= a+half; x++ {
						for y := max(0, b-half); y <= b+half; y++ {
							if x+y == 0 { // of nobody: any average will do
								farthest = max(farthest, estimate, width-estimate)
								continue
							}
							farthest = max(farthest, math.Abs(width*float64(x)/float64(x+y)-estimate))
						}
					}
					if reach < farthest-1e-9 {
						t.Errorf("%d and %d within %d of %v: %v by %v, and %v is possible", a, b, half, width, estimate, reach, farthest)
					}
				}
			}
		}
	}
	if e, r := PartInterval(Noisy{30, 0}, Noisy{10, 0}, 8); e != 6 || r > 1e-12 {
		t.Error(e, r)
	}
}
