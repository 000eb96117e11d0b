package account

import (
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/account/loss"
)

var _ Guarantee = PLD{}

func TestPLDIsTheLargerDirection(t *testing.T) {
	gaussian, err := loss.Gaussian(1)
	if err != nil {
		t.Fatal(err)
	}
	var both PLD
	var alone [2]float64
	for i, d := range []loss.Direction{loss.Remove, loss.Add} {
		law, err := loss.Sampled(gaussian, 0.8, d)
		if err != nil {
			t.Fatal(err)
		}
		s, err := loss.Sum{}.Plus(law, 1)
		if err != nil {
			t.Fatal(err)
		}
		both.Directions = append(both.Directions, s)
		if alone[i], err = (PLD{[]loss.Sum{s}}).DeltaAt(1); err != nil {
			t.Fatal(err)
		}
	}
	// Published figures of the two directions; a claim is never below them.
	for i, want := range []float64{0.0816951786585, 0.0231362104091} {
		if d := alone[i]; d < want-1e-13 || d > want+1e-12 {
			t.Errorf("direction %d: delta %v, want %v", i, d, want)
		}
	}
	if d, err := both.DeltaAt(1); err != nil || d != max(alone[0], alone[1]) {
		t.Errorf("delta %v, %v; want the larger of %v", d, err, alone)
	}
	claim, err := both.Approx(1e-5)
	if err != nil {
		t.Fatal(err)
	}
	bracket, err := both.Epsilon(1e-5)
	if err != nil || claim.Epsilon != bracket.Upper || claim.Delta != 1e-5 {
		t.Errorf("claim %v; want the upper end of %v, %v", claim, bracket, err)
	}
	if back, err := both.DeltaAt(claim.Epsilon); err != nil || back > 1e-5*(1+1e-9) {
		t.Errorf("at its own epsilon the claim has delta %v, %v", back, err)
	}
}

// Where some loss is infinite there is no epsilon, and infinity is not given for one.
func TestPLDHasNoEpsilon(t *testing.T) {
	law, err := loss.Response(0.1, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	s, err := loss.Sum{}.Plus(law, 10)
	if err != nil {
		t.Fatal(err)
	}
	if e, err := (PLD{[]loss.Sum{s}}).EpsilonAt(1e-6); !errors.Is(err, ErrUnbounded) {
		t.Errorf("epsilon %v, %v", e, err)
	}
}
