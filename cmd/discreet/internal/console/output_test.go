package console

import (
	"math"
	"slices"
	"testing"
)

func TestOutward(t *testing.T) {
	for _, c := range []struct {
		x        float64
		down, up string
	}{
		{10, "10", "10"}, {10.000000000000002, "10", "10"}, {0.1, "0.1", "0.1"}, {1.0 / 3, "0.33333333", "0.33333334"},
		{2.0 / 3, "0.66666666", "0.66666667"},
		{0, "0", "0"}, {1e-300, "1e-300", "1e-300"}, {99999999.6, "99999999", "1e+08"}, {math.Nextafter(1, 0), "1", "1"},
	} {
		if down, up := RoundOutward(c.x, 8, false), RoundOutward(c.x, 8, true); down != c.down || up != c.up {
			t.Errorf("%v is written %s and %s", c.x, down, up)
		}
	}
}

// Curves are computed at few places, from the first to the last.
func TestPlaces(t *testing.T) {
	// On logarithmic axes the places are as far apart as they look.
	for _, times := range []int{2, 48, 49, 1000, 1_000_000_000} {
		for _, log := range []bool{false, true} {
			at := CurvePoints(times, log)
			if at[0] != 1 || at[len(at)-1] != times || len(at) > maxCurvePoints+1 || !slices.IsSorted(at) {
				t.Errorf("%d: %v", times, at)
			}
			if i := slices.IndexFunc(at, func(k int) bool { return k > 10 }); log && i > 0 && float64(at[i]) > 1.6*float64(at[i-1]) {
				t.Errorf("%d: %v", times, at)
			}
		}
	}
}
