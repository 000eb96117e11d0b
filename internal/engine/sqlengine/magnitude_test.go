package sqlengine

import (
	"math"
	"testing"
)

func TestPowerOfTen(t *testing.T) {
	for n, want := range map[int64]int{0: 0, 1: 0, 2: 1, 10: 1, 11: 2, 1e17: 17, 1e17 + 1: 18, math.MaxInt64: 18} {
		if got := PowerOfTen(n); got != want {
			t.Errorf("%d: %d", n, got)
		}
	}
}
