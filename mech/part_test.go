package mech

import (
	"math"
	"testing"
)

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
