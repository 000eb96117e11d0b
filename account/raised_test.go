package account

import (
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/audit/stopping"
)

// TestRaisedLimits: what raises are worth, at the epsilon that the last limit has by itself and at
// what Raised says.
func TestRaisedLimits(t *testing.T) {
	const delta = 1e-6
	conversion, err := dp.CeilFloat(delta)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		raises      int
		by          float64
		least, most float64 // of what they are worth at the epsilon of the last limit
	}{
		{0, 0, 2e-7, 2.3e-7},
		{20, 0.2, 1.9e-6, 2e-6},
		{90, 0.1, 3.2e-6, 3.4e-6},
		{400, 0.01, 1.6e-6, 3e-6}, // as good as any amount at any time
	} {
		var rho, naive, raised []float64
		var first dp.Amount
		for j := range c.raises + 1 {
			e, _ := dp.CeilFloat(1 + c.by*float64(j))
			r, err := Rho(e, conversion)
			if err != nil {
				t.Fatal(err)
			}
			if j == 0 {
				first = r
			}
			reading, err := Raised(first, r, conversion)
			if err != nil {
				t.Fatal(err)
			}
			if j == 0 && (reading.Epsilon > e || reading.Delta != conversion) ||
				j > 0 && (reading.Delta != 2*conversion || reading.Epsilon.Float() < raised[j-1]) {
				t.Errorf("%d raises of %v: after %d it is %v", c.raises, c.by, j, reading)
			}
			rho, naive, raised = append(rho, r.Float()), append(naive, e.Float()), append(raised, reading.Epsilon.Float())
		}
		printed, stated := stopping.Worth(rho, naive), stopping.Worth(rho, raised)
		if printed < c.least || printed > c.most || printed > float64(1+c.raises)*delta {
			t.Errorf("%d raises of %v are worth %.3g; want %v to %v", c.raises, c.by, printed, c.least, c.most)
		}
		if stated > delta {
			t.Errorf("%d raises of %v: what is stated is worth %.3g", c.raises, c.by, stated)
		}
		t.Logf("%d raises of %v: at epsilon %.4g delta is %.4g; stated is epsilon %.4g at %v, which is worth %.3g", c.raises, c.by,
			naive[c.raises], printed, raised[c.raises], 2*delta, stated)
	}
}

func TestRaised(t *testing.T) {
	first, delta := dp.One/40, dp.One/1_000_000
	whole, err := Epsilon(first, delta)
	if err != nil {
		t.Fatal(err)
	}
	for _, lower := range []dp.Amount{0, 1, first / 2, first} {
		if got, err := Raised(first, lower, delta); err != nil || got != (Reading{whole, delta}) {
			t.Errorf("%v: %v, %v", lower, got, err)
		}
	}
	last := Reading{whole, delta}
	for limit := first + 1; limit < 100*dp.One; limit += limit / 7 {
		got, err := Raised(first, limit, delta)
		if err != nil || got.Epsilon < last.Epsilon || got.Delta != 2*delta {
			t.Fatalf("%v: %v, %v after %v", limit, got, err, last)
		}
		// What it costs: at most a level, and a part of delta that is logarithmic in the levels.
		if alone, _ := Epsilon(limit, delta); got.Epsilon < alone || got.Epsilon.Float() > 1.5*alone.Float() {
			t.Errorf("%v: %v, and by itself %v", limit, got, alone)
		}
		last = got
	}
	// The smallest delta there is has parts too.
	if got, err := Raised(first, 50*first, 1); err != nil || got.Delta != 2 {
		t.Error(got, err)
	}
	for _, c := range [][3]dp.Amount{{0, 1, delta}, {first, dp.Unbounded, delta}, {first, 2 * first, 0}, {first, 2 * first, dp.One / 2}} {
		if got, err := Raised(c[0], c[1], c[2]); err == nil {
			t.Errorf("%v: %v", c, got)
		}
	}
}
