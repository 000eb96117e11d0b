package holdout

import (
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/mech"
)

func TestErrorBars(t *testing.T) {
	tariff, err := Price(Config{Size: 10_000, Steps: 1, Threshold: big.NewRat(4, 100), Noise: big.NewRat(1, 100), Answers: 10,
		Currency: mech.Pure})
	if err != nil {
		t.Fatal(err)
	}
	// Laplace noise of scale 0.01 is within 0.01 ln 20 in 95 of 100 cases.
	if got, want := tariff.Answered(0.05), 0.01*math.Log(20); math.Abs(got-want) > 2e-4 {
		t.Errorf("%v, want %v", got, want)
	}
	// T and the 95 % point of Lap(0.02) - Lap(0.04), which (4 exp(-w/4) - exp(-w/2))/6 = 0.05
	// solves, in units of 0.01.
	w := 4 * math.Log(1/(2-math.Sqrt(4-0.3)))
	if got, want := tariff.Confirmed(0.05), 0.04+0.01*w; math.Abs(got-want) > 3e-4 {
		t.Errorf("%v, want %v", got, want)
	}
	if !(tariff.Confirmed(0.05) < tariff.Confirmed(0.01)) || !math.IsInf(tariff.Confirmed(0), 1) || tariff.Confirmed(1e-300) > 1 {
		t.Error("a surer bar is no wider")
	}
}
