package expr

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// Rounding in a machine's numbers is rounding.
func TestRoundSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	done := 0
	for range 200_000 {
		step := func() *big.Rat { return big.NewRat(1+r.Int64N(1<<r.IntN(32)), 1+r.Int64N(1<<r.IntN(32))) }
		from, to := step(), step()
		n := big.NewInt(r.Int64N(1<<(1+r.IntN(60))) * int64(1-2*r.IntN(2)))
		e := &tree.Call{Fn: []string{"round", "trunc", "floor", "ceil"}[r.IntN(4)], Typ: tree.Type{Kind: tree.Number, Step: to},
			Args: []tree.Expr{&tree.Literal{Typ: tree.Type{Kind: tree.Number, Step: from}}}}
		got, ok := roundSmall(e, n)
		if !ok {
			continue
		}
		done++
		p, q := e.RoundingRatio()
		if want := roundRatio(e.Fn, n, p, q); got.Cmp(want) != 0 {
			t.Fatalf("%s of %v steps of %v in steps of %v is %v and not %v", e.Fn, n, from, to, want, got)
		}
	}
	if done < 20_000 {
		t.Errorf("only %d were tried", done)
	}
}
