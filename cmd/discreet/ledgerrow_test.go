package main

import (
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/ownercmd"
	"github.com/discreet-dp/discreet/dp"
)

// Amounts are written to their last place: read back they are the same number, whatever it is.
func TestExactDecimal(t *testing.T) {
	t.Parallel()
	for _, a := range []dp.Amount{0, 1, 2, dp.One - 1, dp.One, dp.One + 1, 3 * dp.One / 4, 109951162777, 10 * dp.One,
		dp.One << 20, dp.Unbounded - 1} {
		text := ownercmd.ExactDecimal(a)
		got, ok := new(big.Rat).SetString(*text)
		if !ok || got.Cmp(a.Rat()) != 0 || strings.HasSuffix(*text, ".") || strings.Contains(*text, ".") && strings.HasSuffix(*text, "0") {
			t.Errorf("%d units are written %s", uint64(a), *text)
		}
	}
	if ownercmd.ExactDecimal(dp.Unbounded) != nil || *ownercmd.ExactDecimal(3 * dp.One / 4) != "0.75" {
		t.Error("an unbounded amount has no decimal, and 3/4 is 0.75")
	}
}
