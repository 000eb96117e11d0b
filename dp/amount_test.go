package dp

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustParse(text string) Amount { return must(Parse(text)) }

// What floating point gets wrong: ten tenths fit into one, and an eleventh does not.
func TestTenTenthsFitIntoOne(t *testing.T) {
	tenth, sum := mustParse("0.1"), Amount(0)
	for range 10 {
		sum = sum.Add(tenth)
	}
	if sum > One || sum.Add(tenth) <= One {
		t.Errorf("ten tenths are %d units of %d", sum, One)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]Amount{
		"0": 0, "1": One, "1.0": One, "0.5": One / 2, ".5": One / 2, "5e-1": One / 2, "1E0": One, "+1": One, "010": 10 * One,
		"1048576": One << 20, "1e-12": 1, "0.1": 109951162777,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " ", "NaN", "nan", "inf", "Inf", "-1", "-0.1", "1e20", "1e999999", "1e-999999", "0x1", "0b1", "0x1p-2", "1/3", "1_000",
		"1,5", "one", "1e", "e5", ".", "1.2.3", "1e5e5", "--1", "1e1.5", "1048577", "٣", "1 ", strings.Repeat("1", 65),
	} {
		if got, err := Parse(text); !errors.Is(err, ErrAmount) {
			t.Errorf("%q was taken for %v, %v", text, got, err)
		}
	}
}

func TestParseRoundsDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[0-9]{1,5}(\.[0-9]{1,20})?(e-[0-9])?`).Draw(t, "text")
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		a := must(Parse(text))
		if a.Rat().Cmp(exact) > 0 || (a+1).Rat().Cmp(exact) <= 0 {
			t.Fatalf("%s became %d units", text, a)
		}
		up, err := Ceil(exact)
		if err != nil || up.Rat().Cmp(exact) < 0 || up > a+1 {
			t.Fatalf("%s is charged as %d, asked as %d", text, up, a)
		}
	})
}

func TestFloats(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, -1e-300, 1e20} {
		if _, err := FloorFloat(f); !errors.Is(err, ErrAmount) {
			t.Errorf("%v: %v", f, err)
		}
		if _, err := CeilFloat(f); !errors.Is(err, ErrAmount) {
			t.Errorf("%v: %v", f, err)
		}
	}
	if a, err := CeilFloat(math.SmallestNonzeroFloat64); a != 1 || err != nil {
		t.Errorf("the smallest cost is %d, %v", a, err)
	}
	if a, err := FloorFloat(math.Copysign(0, -1)); a != 0 || err != nil {
		t.Errorf("minus zero is %d, %v", a, err)
	}
}

func TestStringIsShortest(t *testing.T) {
	for _, text := range []string{"0", "0.1", "0.5", "1", "2.5", "10", "0.01", "1048576", "0.0001", "1e-05", "1e-06", "1e-09",
		"0.3333333", "123.456"} {
		if got := mustParse(text).String(); got != text {
			t.Errorf("%s is shown as %s", text, got)
		}
	}
	if Unbounded.String() != "unbounded" {
		t.Error(Unbounded.String())
	}
	rapid.Check(t, func(t *rapid.T) {
		// A single unit is shown as a little less than it is, which is no amount.
		a := Amount(rapid.Uint64Range(2, uint64(One)).Draw(t, "amount"))
		back := must(Parse(a.String()))
		if d := int64(back) - int64(a); max(d, -d) > 60 {
			t.Fatalf("%d units are shown as %v, which is %d", a, a, back)
		}
	})
}

func TestJSON(t *testing.T) {
	c := Cost{Epsilon: Unbounded, Rho: mustParse("0.1"), Delta: mustParse("1e-6")}
	text := must(json.Marshal(c))
	if want := `{"epsilon":null,"rho":0.1,"delta":1e-06}`; string(text) != want {
		t.Errorf("%s, want %s", text, want)
	}
	if !json.Valid(text) {
		t.Error("not JSON")
	}
}

func TestSaturation(t *testing.T) {
	if got := (Unbounded - 1).Add(2); got != Unbounded {
		t.Errorf("a sum wrapped around to %d", got)
	}
	if got := Unbounded.Add(Unbounded); got != Unbounded {
		t.Errorf("%d", got)
	}
	if got := Unbounded.Sub(One); got != Unbounded {
		t.Errorf("something was taken from the unbounded: %d", got)
	}
	if got := One.Sub(Unbounded); got != 0 {
		t.Errorf("%d is left", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := Amount(rapid.Uint64().Draw(t, "a")), Amount(rapid.Uint64().Draw(t, "b"))
		if s := a.Add(b); s < a || s < b || s != b.Add(a) {
			t.Fatalf("%d + %d = %d", a, b, s)
		}
		if d := a.Sub(b); d > a {
			t.Fatalf("%d - %d = %d", a, b, d)
		}
	})
	if !math.IsInf(Unbounded.Float(), 1) {
		t.Error("unbounded is finite")
	}
	defer func() {
		if recover() == nil {
			t.Error("the unbounded has a rational value")
		}
	}()
	Unbounded.Rat()
}

// What would be rounded down to nothing is refused, because nothing can mean the default.
func TestParseTooSmall(t *testing.T) {
	for text, ok := range map[string]bool{"0": true, "0.0": true, "1e-12": true, "9e-13": false, "1e-13": false, "1e-300": false} {
		if _, err := Parse(text); ok != (err == nil) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
