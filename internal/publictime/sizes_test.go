package publictime

import (
	"math"
	"math/big"
	"testing"
)

// A size is rounded up to a half-octave, and by no more than that.
func TestRound(t *testing.T) {
	for n, want := range map[int64]int64{-3: 0, 0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 6, 7: 8, 9: 12, 12: 12, 13: 16, 1000: 1024,
		1025: 1449,
		1449: 1449, 1450: 2048, 100_000: 131_072, 1_000_000: 1_048_576, 1_100_000: 1_482_911, math.MaxInt64: math.MaxInt64} {
		if got := Round(n); got != want {
			t.Errorf("Round(%d) = %d, want %d", n, got, want)
		}
	}
	for n := int64(1); n < 1<<62; n += 1 + n/7 {
		r := Round(n)
		square := new(big.Int).Mul(big.NewInt(r), big.NewInt(r))
		most := new(big.Int).Mul(big.NewInt(n), big.NewInt(2*n))
		if r < n || n > 100 && square.Cmp(most.Add(most, big.NewInt(4*n))) > 0 || Round(r) != r || Round(n+1) < r {
			t.Fatalf("Round(%d) = %d", n, r)
		}
	}
}
