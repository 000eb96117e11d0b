package account

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
)

func amount(text string) dp.Amount { return must(dp.Parse(text)) }

// The golden values were computed to 17 digits from first principles.
func TestTightEpsilonGolden(t *testing.T) {
	for _, g := range []struct{ rho, delta, epsilon float64 }{
		{0.1, 1e-6, 2.1419389283854737},
		{0.5, 1e-5, 4.7283869849433139},
		{1, 1e-9, 9.5214636717922322},
	} {
		got := tightEpsilon(g.rho, g.delta)
		if got < g.epsilon || got > g.epsilon*(1+4e-12) {
			t.Errorf("rho %v, delta %v: epsilon %.17g, want %.17g or at most 4e-12 of it above", g.rho, g.delta, got, g.epsilon)
		}
		// Bun, Steinke 2016, Proposition 1.3 is the looser bound.
		if loose := g.rho + 2*math.Sqrt(g.rho*math.Log(1/g.delta)); got > loose {
			t.Errorf("rho %v, delta %v: epsilon %v is above the simple bound %v", g.rho, g.delta, got, loose)
		}
	}
}

func TestEpsilonGolden(t *testing.T) {
	// At public amounts rho and delta are the units below 0.5 and 1e-5. The derivative in ln delta
	// is about -0.2, so delta's rounding by at most 2^-40 is worth 2e-8.
	got := must(Epsilon(amount("0.5"), amount("1e-5")))
	if d := got.Float() - 4.7283869849433139; d < 0 || d > 3e-8 {
		t.Errorf("epsilon %v is off by %g", got.Float(), d)
	}
}

func TestEpsilonRefusals(t *testing.T) {
	for _, c := range []struct {
		rho, delta dp.Amount
		want       error
	}{
		{dp.One, 0, errDelta},
		{dp.One, dp.One, errDelta},
		{dp.One, dp.Unbounded, errDelta},
		{0, 0, errDelta},
		{dp.Unbounded, 1, errUnbounded},
		{maxAmount, 1, errUnbounded}, // worth more than the largest amount
	} {
		if _, err := Epsilon(c.rho, c.delta); !errors.Is(err, c.want) {
			t.Errorf("Epsilon(%v, %v): %v, want %v", c.rho, c.delta, err, c.want)
		}
	}
	if _, err := Rho(dp.One, 0); !errors.Is(err, errDelta) {
		t.Error(err)
	}
	if _, err := Rho(dp.Unbounded, 1); !errors.Is(err, errUnbounded) {
		t.Error(err)
	}
}

func TestEpsilonEdges(t *testing.T) {
	if e, err := Epsilon(0, 1); e != 0 || err != nil {
		t.Errorf("nothing is worth %v, %v", e, err)
	}
	// The largest delta makes a small rho worth nothing: zero, not a negative number.
	if e, err := Epsilon(dp.One/1000, dp.One-1); e != 0 || err != nil {
		t.Errorf("epsilon %v, %v", e, err)
	}
	// Every corner has a finite, positive value.
	for _, rho := range []dp.Amount{1, dp.One, 1 << 54} {
		for _, delta := range []dp.Amount{1, dp.One / 2} {
			if e, err := Epsilon(rho, delta); err != nil || (e == 0 && delta == 1 && rho > 1) {
				t.Errorf("Epsilon(%d, %d) = %v, %v", rho, delta, e, err)
			}
		}
	}
}

func drawAmount(t *rapid.T, name string, bits int) dp.Amount {
	b := rapid.IntRange(1, bits).Draw(t, name+" bits")
	return dp.Amount(rapid.Uint64Range(1, 1<<b-1).Draw(t, name))
}

func TestEpsilonIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rho := drawAmount(t, "rho", 50)
		delta := drawAmount(t, "delta", 39)
		step := drawAmount(t, "step", 30)
		a, errA := Epsilon(rho, delta)
		b, errB := Epsilon(rho+step, delta)
		if errA != nil || errB != nil || a > b {
			t.Fatalf("rho %d: %d (%v); rho + %d: %d (%v)", rho, a, errA, step, b, errB)
		}
		c, err := Epsilon(rho, delta+step)
		if delta+step < dp.One && (err != nil || c > a.Add(1)) {
			t.Fatalf("a larger delta makes epsilon %d out of %d (%v)", c, a, err)
		}
	})
}

// Epsilon must be an upper bound of the minimum, and so of no less than the
// true minimum, found here by another method: Newton steps on the derivative.
func TestEpsilonIsTheMinimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rho := drawAmount(t, "rho", 45).Float()
		delta := drawAmount(t, "delta", 39).Float()
		x := 1.0
		for range 200 {
			// In x = ln t the function h = rho e^2x + ln(1+e^x) + ln delta is
			// convex and increasing.
			e := math.Exp(x)
			h := rho*e*e + math.Log1p(e) + math.Log(delta)
			x -= math.Max(-1, math.Min(1, h/(2*rho*e*e+e/(1+e))))
		}
		alpha := 1 + math.Exp(x)
		want := rho*alpha + math.Log1p(-1/alpha) - (math.Log(delta)+math.Log(alpha))/(alpha-1)
		size := rho*alpha + math.Abs(math.Log1p(-1/alpha)) + (math.Log(alpha)-math.Log(delta))/(alpha-1)
		got := tightEpsilon(rho, delta)
		if got < want-1e-13*size*(1+1/(alpha-1)) || got > want+1e-11*size*(1+1/(alpha-1)) {
			t.Fatalf("rho %v, delta %v: %v, want %v (alpha %v)", rho, delta, got, want, alpha)
		}
	})
}

func TestRhoIsTheLargest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epsilon := drawAmount(t, "epsilon", 48)
		delta := drawAmount(t, "delta", 39)
		rho := must(Rho(epsilon, delta))
		back, err := Epsilon(rho, delta)
		if err != nil || back > epsilon {
			t.Fatalf("rho %d is worth %d, more than %d (%v)", rho, back, epsilon, err)
		}
		if next, err := Epsilon(rho+1, delta); err == nil && next <= epsilon {
			t.Fatalf("rho %d is not the largest", rho)
		}
	})
}

func BenchmarkEpsilon(b *testing.B) {
	for b.Loop() {
		_, _ = Epsilon(dp.One/7, 1099511)
	}
}

func BenchmarkRho(b *testing.B) {
	for b.Loop() {
		_, _ = Rho(dp.One, 1099511)
	}
}

// TestEpsilonIsRoundedUp: in units of account an epsilon is never below the one that it stands for,
// nor by a unit above it.
func TestEpsilonIsRoundedUp(t *testing.T) {
	for _, rho := range []dp.Amount{1 << 20, dp.One / 1000, dp.One / 7, dp.One, 9 * dp.One} {
		for _, delta := range []dp.Amount{2, dp.One / 1_000_000, dp.One / 3} {
			got, err := Epsilon(rho, delta)
			if err != nil {
				t.Fatal(err)
			}
			want := max(0, tightEpsilon(rho.Float(), delta.Float()))
			if off := got.Float() - want; off < 0 || off >= 0x1p-40 {
				t.Errorf("rho %v, delta %v: %v is %v from %v", rho, delta, got, off, want)
			}
		}
	}
}
