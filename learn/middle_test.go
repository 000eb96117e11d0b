package learn

import (
	"context"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/learn/solve"
	"github.com/discreet-dp/discreet/mech"
)

// Without a random linear term rows can have a minimiser in the middle between two steps. Where
// float64 does not show that a gradient is short, which is so for many millions of rows, such a
// training must not fail: whether it does would tell these rows from their neighbours, always.
func TestMinimiserInTheMiddle(t *testing.T) {
	e := &Encoding{
		Features: []Column{{Name: "x", Lo: -2048, Hi: 2048, Step: big.NewRat(1, 1)}},
		Target:   Column{Name: "y", Lo: -1, Hi: 1, Step: big.NewRat(1, 1)},
	}
	p := prepared(t, e, Spec{Method: Output, Budget: Budget{Epsilon: eps(t, "1")}, Regulariser: 1, Residual: 0x1p-10, Radius: 2}, one)
	if far := p.recipe.tolerance / (p.recipe.lambda * p.recipe.step); far < solve.Slack {
		t.Fatalf("the sensitivity has room for %g steps", far)
	}
	p.recipe.tolerance = 1e-300 // as if there were many millions of rows
	for _, code := range []int64{1, 2} {
		// Far from its target a row pulls with all its slope, 2^-10, so the minimiser is 2^-10 x:
		// 2^-21 for the code 1.
		if ratio := 0x1p-21 / p.recipe.step; ratio != 0.5 {
			t.Fatalf("this is %g steps, and not in the middle", ratio)
		}
		table := p.NewTable()
		table.Add([]int64{code, 1})
		if _, err := Fit(context.Background(), p, table, mech.NewReleaser(detrand.Noise("middle", 1)), nil); err != nil {
			t.Errorf("code %d: %v", code, err)
		}
	}
}

// What is rounded where the tolerance cannot be shown is within what the sensitivity has room for.
func TestRoomForSlack(t *testing.T) {
	for _, method := range []string{Output, Minima} {
		for _, b := range []Budget{{Epsilon: eps(t, "0.1")}, {Epsilon: eps(t, "20"), Delta: eps(t, "1e-9")}, {Rho: eps(t, "0.01")}} {
			for _, tune := range [][]float64{nil, {1, 1e6, 30}} {
				for _, radius := range []float64{0, 0x1p-30, 0x1p20} {
					p, err := Prepare(made(4), Spec{Method: method, Budget: b, Tune: tune, Radius: radius}, one)
					if err != nil {
						continue
					}
					if far := p.recipe.tolerance / (p.recipe.lambda * p.recipe.step); far < 2*solve.Slack {
						t.Errorf("%s, %v, %v, radius %g: %g steps", method, b, tune, radius, far)
					}
				}
			}
		}
	}
}
