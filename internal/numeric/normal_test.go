package numeric

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// reference holds values of testdata/reference.py, to 25 digits.
type reference struct {
	Tail []struct {
		X                float64
		Tail, Log, Mills json.RawMessage
	}
	Quantile []struct {
		P float64
		X json.RawMessage
	}
	Delta []struct {
		Mu, Epsilon float64
		Delta       json.RawMessage
	}
}

func load(t *testing.T) (r reference) {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// exactly reads a number that may have more digits than a float64.
func exactly(t *testing.T, raw json.RawMessage) *big.Float {
	t.Helper()
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		t.Fatal(err)
	}
	f, _, err := big.ParseFloat(text, 10, 200, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func relative(got float64, want *big.Float) float64 {
	if want.Sign() == 0 {
		return math.Abs(got)
	}
	d := new(big.Float).SetPrec(200).SetFloat64(got)
	d.Quo(d.Sub(d, want), want)
	f, _ := d.Float64()
	return math.Abs(f)
}

func TestTailAgainstReference(t *testing.T) {
	worst := map[string]float64{}
	check := func(name string, x, got float64, want *big.Float) {
		e := relative(got, want)
		worst[name] = max(worst[name], e)
		if e > 0x1p-48 {
			t.Errorf("%s(%v) = %v, want %.17g, relative error %g", name, x, got, want, e)
		}
	}
	for _, p := range load(t).Tail {
		if string(p.Tail) != "null" {
			check("Tail", p.X, Tail(p.X), exactly(t, p.Tail))
		}
		check("LogTail", p.X, logTail(p.X), exactly(t, p.Log))
		check("Mills", p.X, mills(p.X), exactly(t, p.Mills))
	}
	t.Log(worst)
}

func TestQuantileAgainstReference(t *testing.T) {
	worst := 0.0
	for _, p := range load(t).Quantile {
		e := relative(Quantile(p.P), exactly(t, p.X))
		worst = max(worst, e)
		if e > 0x1p-48 {
			t.Errorf("Quantile(%v) = %v, want %s, relative error %g", p.P, Quantile(p.P), p.X, e)
		}
	}
	t.Log(worst)
}

func TestDeltaAgainstReference(t *testing.T) {
	worst := 0.0
	for _, p := range load(t).Delta {
		want := exactly(t, p.Delta)
		got := Delta(p.Mu, p.Epsilon)
		// Comparing with the exact number, not with a float64 near it.
		if new(big.Float).SetFloat64(got.Lower).Cmp(want) > 0 || new(big.Float).SetFloat64(got.Upper).Cmp(want) < 0 {
			t.Errorf("Delta(%v, %v) = %v does not hold %.20g", p.Mu, p.Epsilon, got, want)
		}
		if width := got.Upper/got.Lower - 1; width > 0x1p-40 {
			t.Errorf("Delta(%v, %v) = %v is of relative width %g", p.Mu, p.Epsilon, got, width)
		}
		middle := got.Lower / (1 - deltaMargin)
		e := relative(middle, want)
		worst = max(worst, e)
		// The margin must stay a margin.
		if e > deltaMargin/8 {
			t.Errorf("Delta(%v, %v) errs by %g", p.Mu, p.Epsilon, e)
		}
	}
	t.Log(worst)
}

func TestEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"Tail(Inf)", Tail(inf), 0},
		{"Tail(-Inf)", Tail(-inf), 1},
		{"Tail(NaN)", Tail(nan), nan},
		{"LogTail(Inf)", logTail(inf), -inf},
		{"LogTail(-Inf)", logTail(-inf), 0},
		{"LogTail(NaN)", logTail(nan), nan},
		{"Mills(Inf)", mills(inf), 0},
		{"Mills(-Inf)", mills(-inf), inf},
		{"Mills(NaN)", mills(nan), nan},
		{"Quantile(0)", Quantile(0), inf},
		{"Quantile(1)", Quantile(1), -inf},
		{"Quantile(-1)", Quantile(-1), nan},
		{"Quantile(2)", Quantile(2), nan},
		{"Quantile(NaN)", Quantile(nan), nan},
		{"LogQuantile(0)", LogQuantile(0), nan},
		{"LogQuantile(-Inf)", LogQuantile(-inf), inf},
		{"Delta(NaN, 1)", Delta(nan, 1).Upper, 1},
		{"Delta(0, 1)", Delta(0, 1).Upper, 1},
		{"Delta(1, -1)", Delta(1, -1).Upper, 1},
		{"Delta(1, Inf)", Delta(1, inf).Upper, 1},
		{"Delta(1e-300, 1e300)", Delta(1e-300, 1e300).Lower, 0},
		{"Delta(1e300, 1)", Delta(1e300, 1).Upper, 1},
	} {
		if c.got != c.want && !(math.IsNaN(c.got) && math.IsNaN(c.want)) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
	if d := Delta(1, 100); d.Lower != 0 || d.Upper <= 0 {
		t.Errorf("an underflowing delta is %v: the upper end must stay above zero", d)
	}
}

func TestQuantileInvertsTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := -rapid.Float64Range(1.4, 1e6).Draw(t, "minus ln p")
		x := LogQuantile(l)
		if back := logTail(x); math.Abs(back-l) > 0x1p-46*math.Abs(l) {
			t.Fatalf("LogTail(LogQuantile(%v)) = %v", l, back)
		}
	})
}

func TestDeltaIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := math.Exp(rapid.Float64Range(-13, 7).Draw(t, "ln mu"))
		epsilon := math.Max(0, mu*(rapid.Float64Range(-5, 36).Draw(t, "a")+mu/2))
		factor := 1 + math.Exp(rapid.Float64Range(-30, 1).Draw(t, "ln step"))
		here := Delta(mu, epsilon)
		if there := Delta(mu, epsilon*factor); there.Lower > here.Upper {
			t.Fatalf("epsilon %v times %v makes delta %v out of %v", epsilon, factor, there, here)
		}
		if there := Delta(mu*factor, epsilon); there.Upper < here.Lower {
			t.Fatalf("mu %v times %v makes delta %v out of %v", mu, factor, there, here)
		}
	})
}

// Both ways of computing agree where they meet, at mu = 1.
func TestMillsDifferenceIsADifference(t *testing.T) {
	for c := 0.0; c < 20; c += 0.37 {
		series, plain := millsDifference(c, 1), mills(c-0.5)-mills(c+0.5)
		if math.Abs(series/plain-1) > 1e-12 {
			t.Errorf("at %v the series gives %v, the difference %v", c, series, plain)
		}
	}
}

func BenchmarkDelta(b *testing.B) {
	for b.Loop() {
		Delta(0.25, 1.06)
	}
}
