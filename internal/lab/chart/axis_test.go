package chart

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func tickLabels(a axis, most int) string {
	var out []string
	for _, t := range a.ticks(most) {
		out = append(out, t.label)
	}
	return strings.Join(out, " ")
}

func TestTicks(t *testing.T) {
	linear := func(lo, hi float64) axis { return axis{lo: lo, hi: hi} }
	log := func(lo, hi float64) axis { return newLogAxis([]float64{lo, hi}, 0) }
	for _, c := range []struct {
		axis axis
		most int
		want string
	}{
		{linear(0, 1000), 8, "0 200 400 600 800 1000"},
		{linear(0, 1000), 4, "0 500 1000"},
		{linear(0, 8000), 8, "0 2000 4000 6000 8000"},
		{linear(0, 10000), 8, "0 2k 4k 6k 8k 10k"},
		{linear(0, 3e6), 8, "0 500k 1M 1.5M 2M 2.5M 3M"},
		{linear(10000, 10500), 8, "10000 10100 10200 10300 10400 10500"},
		{linear(-1, 1), 8, "−1.0 −0.5 0 0.5 1.0"},
		{linear(0, 0.3), 8, "0 0.05 0.10 0.15 0.20 0.25 0.30"},
		{linear(0, 3e-5), 8, "0 5·10⁻⁶ 10⁻⁵ 1.5·10⁻⁵ 2·10⁻⁵ 2.5·10⁻⁵ 3·10⁻⁵"},
		{linear(0, 2e9), 3, "0 10⁹ 2·10⁹"},
		{log(1, 1000), 8, "1 10 100 1000"},
		{log(1, 1e6), 8, "1 10 100 1000 10k 100k 1M"},
		{log(1e-6, 1), 8, "10⁻⁶ 10⁻⁵ 10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 1"},
		{log(1e-12, 1), 8, "10⁻¹² 10⁻¹⁰ 10⁻⁸ 10⁻⁶ 10⁻⁴ 10⁻² 1"},
		{log(1, 50), 8, "1 2 5 10 20 50"},
		{log(3, 4), 8, "3.0 3.2 3.4 3.6 3.8 4.0"},
		{log(5e-324, math.MaxFloat64), 4, "10⁻²⁰⁰ 1 10²⁰⁰"},
	} {
		if got := tickLabels(c.axis, c.most); got != c.want {
			t.Errorf("from %v to %v: %s; want %s", c.axis.lo, c.axis.hi, got, c.want)
		}
	}
}

// An axis holds its values, and its ticks are on it, apart, few, and never all the same.
func TestAnyAxis(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		values := rapid.SliceOfN(rapid.Map(drawnNumber, func(v float64) float64 {
			if !isFinite(v) {
				return 0
			}
			return v
		}), 1, 5).Draw(r, "values")
		var a axis
		var err error
		switch rapid.IntRange(0, 2).Draw(r, "kind") {
		case 0:
			a, err = newXAxis(values, rapid.Bool().Draw(r, "stems"))
		case 1:
			a, err = newYAxis(values)
		case 2:
			for i, v := range values {
				if values[i] = math.Abs(v); v == 0 {
					values[i] = 1
				}
			}
			a = newLogAxis(values, axisHeadroom)
		}
		if err != nil {
			return
		}
		for _, v := range values {
			if p := a.fraction(v); !(p >= 0 && p <= 1) {
				r.Fatalf("%v is at %v of %v", v, p, a)
			}
		}
		most := rapid.IntRange(2, 10).Draw(r, "most")
		ticks := a.ticks(most)
		if len(ticks) > most {
			r.Fatalf("%d ticks, at most %d: %v", len(ticks), most, ticks)
		}
		for i, t := range ticks {
			if t.part < 0 || t.part > 1 || i > 0 && (t.part <= ticks[i-1].part || t.label == ticks[i-1].label) {
				r.Fatalf("%v on %v", ticks, a)
			}
		}
	})
}

func TestRanges(t *testing.T) {
	along := func(v ...float64) axis { a, _ := newXAxis(v, false); return a }
	upright := func(v ...float64) axis { a, _ := newYAxis(v); return a }
	for _, c := range []struct{ got, want axis }{
		{along(1, 1000), axis{lo: 0, hi: 1000}},
		{along(500, 1000), axis{lo: 500, hi: 1000}},
		{along(-3, 4), axis{lo: -3, hi: 4}},
		{along(5), axis{lo: 2.5, hi: 7.5}},
		{upright(2, 4), axis{lo: 0, hi: 4.2}},
		{upright(0), axis{lo: 0, hi: 1.05}},
		{upright(-2, -4), axis{lo: -4.2, hi: 0}},
		{newLogAxis([]float64{10}, 0), axis{lo: 0.5, hi: 1.5, log: true}},
	} {
		if c.got != c.want {
			t.Errorf("%v; want %v", c.got, c.want)
		}
	}
}

// The smallest float64 is 2 to the -1074. math.Log10 of it is wrong on amd64.
func TestSubnormal(t *testing.T) {
	if a, want := newLogAxis([]float64{5e-324, 1}, 0), -1074*math.Log10(2); math.Abs(a.lo-want) > 1e-9 {
		t.Errorf("10 to the %v; want %v", a.lo, want)
	}
}

func TestSpread(t *testing.T) {
	got, gap := moveApart([]float64{50, 10, 12, 11}, 5, 0, 100)
	if want := []float64{50, 6, 16, 11}; !slices.Equal(got, want) || gap != 5 {
		t.Errorf("%v, gap %v; want %v", got, gap, want)
	}
	got, _ = moveApart([]float64{1, 0, 99, 100}, 5, 0, 100)
	if want := []float64{5, 0, 95, 100}; !slices.Equal(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
	got, gap = moveApart([]float64{9, 9, 9}, 50, 0, 10)
	if want := []float64{0, 5, 10}; !slices.Equal(got, want) || gap != 5 {
		t.Errorf("%v, gap %v; want %v", got, gap, want)
	}
}

func TestThin(t *testing.T) {
	var line []Point
	for i := range 1000 {
		line = append(line, Point{float64(i), 100 * math.Sqrt(float64(i))})
	}
	short := thinLine(line, 0.1)
	if len(short) > 200 || short[0] != line[0] || short[len(short)-1] != line[999] {
		t.Errorf("%d points of 1000", len(short))
	}
	for _, p := range line {
		near := math.Inf(1)
		for i := 1; i < len(short); i++ {
			near = min(near, segmentDistance(p, short[i-1], short[i]))
		}
		if near > 0.1 {
			t.Errorf("%v is %v away", p, near)
		}
	}
	if corner := thinLine([]Point{{0, 0}, {1, 1}, {0, 0}}, 0.1); len(corner) != 3 {
		t.Errorf("a line there and back became %v", corner)
	}
}

func TestASCII(t *testing.T) {
	for text, want := range map[string]string{
		"ε = 2.5·10⁻⁶":    "epsilon = 2.5e-6",
		"δ ≤ 10⁻⁶ or 10²": "delta <= 1e-6 or 1e2",
		"0.5·100, −1":     "0.5*100, -1",
		"x² + 110³":       "x^2 + 110^3",
		"東京…":             "??...",
	} {
		if got := spellASCII(text); got != want {
			t.Errorf("%s is %s; want %s", text, got, want)
		}
	}
}

// TestScript wants a text that is too wide to get smaller first and shorter then.
func TestScript(t *testing.T) {
	full := titleScript.width("epsilon")
	s, text := titleScript.fit("epsilon", full*0.9)
	if text != "epsilon" || s.size >= titleScript.size || s.width(text) > full*0.9 {
		t.Errorf("%q in size %v", text, s.size)
	}
	s, text = titleScript.fit("epsilon", full/2)
	if !strings.HasSuffix(text, "…") || len(text) < 4 || s.width(text) > full/2 {
		t.Errorf("%q in size %v", text, s.size)
	}
	if titleScript.width("10⁻⁶") >= titleScript.width("10−6") {
		t.Error("an exponent is as wide as a number")
	}
}
