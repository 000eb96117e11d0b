package curator

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/hospital"
)

func fmtCell(v any) string { return fmt.Sprint(v) }

// Without noise a variance is the variance, whatever it is taken around.
func TestVarianceOfExactNumbers(t *testing.T) {
	h := hospital.New(200, 1)
	w := newWorld(t, plenty)
	var sum, squares, n float64
	for _, p := range h.Patients {
		x := float64(p.Age)
		sum, squares, n = sum+x, squares+x*x, n+1
	}
	population := squares/n - sum/n*sum/n
	for _, list := range []string{"VAR_POP(age), VARIANCE(age), STDDEV_POP(age), STDDEV_SAMP(age)", "VAR_POP(age), VARIANCE(age), STDDEV_POP(age), STDDEV_SAMP(age), SUM(age)"} {
		p, err := w.prepare(ctx, api.Question{Analyst: "ana", SQL: "SELECT " + list + " FROM patients", Epsilon: dp.One})
		w.check(err)
		exactly, err := w.data.Run(ctx, p.query())
		w.check(err)
		var clean [][]int64
		for _, m := range exactly.Measures {
			clean = append(clean, m.Open())
		}
		a := made(t, p, clean)
		for i, want := range []float64{population, population * n / (n - 1), math.Sqrt(population), math.Sqrt(population * n / (n - 1))} {
			if got := asFloat(a.Rows[0][i]); math.Abs(got-want) > 1e-6*want {
				t.Errorf("%s: %s is %v; want %v", list, a.Columns[i].Name, got, want)
			}
		}
	}
}

// Whatever the noise does, a variance is within public limits, finite and without a sign.
func TestVarianceStaysWithinItsLimits(t *testing.T) {
	c := New(parsed(t, small), nil, nil, nil)
	p, err := c.prepare(ctx, api.Question{Analyst: "ana", SQL: "SELECT VARIANCE(n), STDDEV(n), VAR_POP(n), STDDEV_POP(n), SUM(n) / COUNT(*), 0 * AVG(m) FROM small"})
	if err != nil {
		t.Fatal(err)
	}
	extreme := []int64{math.MinInt64, -1 << 40, -100, -1, 0, 1, 2, 3, 100, 1 << 40, math.MaxInt64}
	n := len(p.query().Measures)
	for i := range 3000 {
		noisy := make([][]int64, n)
		for j := range noisy {
			noisy[j] = []int64{extreme[(i*7+j*(i/11+3)+i/5)%len(extreme)]}
		}
		a := made(t, p, noisy)
		for j, most := range []float64{50, math.Sqrt(50), 25, 5} {
			v := asFloat(a.Rows[0][j])
			if e := a.Errors[0][j]; !(v >= 0 && v <= most) || e == nil || !(*e >= 0 && *e <= most*(1+1e-9)) {
				t.Fatalf("%v: %s is %v, with an error of %v", noisy, a.Columns[j].Name, v, e)
			}
		}
		for j, v := range a.Rows[0] {
			if text := fmtCell(v); text == "-0" || contains(text, "NaN") || contains(text, "Inf") {
				t.Fatalf("%v: %s is %s", noisy, a.Columns[j].Name, text)
			}
			if e := a.Errors[0][j]; e != nil && (math.IsNaN(*e) || math.IsInf(*e, 0)) {
				t.Fatalf("%v: %s has the error %v", noisy, a.Columns[j].Name, *e)
			}
		}
	}
}

// Quantiles are near the true ones where there is privacy to pay for it, within the rank error that the note states.
func TestQuantilesAreNear(t *testing.T) {
	for _, budget := range []string{plenty, rich} {
		h := hospital.New(3000, 1)
		w := build(t, h, hospital.Dataset("hospital", "data", budget), 5)
		var ages []int
		for _, p := range h.Patients {
			ages = append(ages, p.Age)
		}
		slices.Sort(ages)
		p, err := w.prepare(ctx, api.Question{Analyst: "ana", Epsilon: dp.One, SQL: "SELECT MIN(age), PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age), MEDIAN(age), MAX(age) FROM patients"})
		w.check(err)
		exactly, err := w.data.Run(ctx, p.query())
		w.check(err)
		bound := p.buys[0].noise[0].quantiles.RankError(0.05)
		misses := 0
		for range 200 {
			a := w.release(p, p, exactly)
			for j, at := range []float64{0.01, 0.25, 0.5, 0.99} {
				v := int(asFloat(a.Rows[0][j]))
				below, upTo := 0, 0
				for _, x := range ages {
					if x < v {
						below++
					}
					if x <= v {
						upTo++
					}
				}
				rank := at * float64(len(ages))
				if float64(below) >= rank+bound || float64(upTo) <= rank-bound {
					misses++
				}
			}
			if a.Errors[0][0] != nil || !a.Columns[0].Approximate || !contains(strings.Join(a.Notes, " "), "1 % quantile", "99 % quantile", "rank is within") {
				t.Fatalf("%+v", a)
			}
		}
		if misses > 30 { // 5 % of 200, and four standard deviations
			t.Errorf("%s: %d answers are outside of the rank error of %v", budget, misses, bound)
		}
	}
}

// A choice finds the best groups where they are far ahead, shows no score, and is remembered.
func TestChoice(t *testing.T) {
	h := hospital.New(2000, 1)
	for i := range h.Patients {
		h.Patients[i].ZIP = []string{"1004C", "1004C", "1004C", "1004C", "1002B", "1002B", "1002B", "1001A", "1001A", "1003A"}[i%10]
	}
	for _, budget := range []string{plenty, rich} {
		w := build(t, h, hospital.Dataset("hospital", "data", budget), 5)
		for sql, want := range map[string]string{
			"SELECT zip FROM patients GROUP BY zip ORDER BY COUNT(*) DESC LIMIT 2": "1004C|1002B",
			"SELECT zip FROM patients GROUP BY zip ORDER BY COUNT(*) LIMIT 1":      "1005D",
		} {
			a, err := w.askAs("ana", sql, dp.One)
			w.check(err)
			if lines(a) != want || a.Columns[0].Noisy {
				t.Errorf("%s: %s", sql, lines(a))
			}
			if again, err := w.askAs("ana", sql, dp.One); err != nil || !again.Receipt.Free || lines(again) != want {
				t.Errorf("again: %v, %v", again, err)
			}
			if a.Cost.Epsilon > dp.One || a.Cost.Epsilon < dp.One-10 && budget == plenty {
				t.Errorf("%s: cost %v", sql, a.Cost)
			}
		}
	}
}

// The error bars of what is computed hold for sure, and are exact for counts and sums alone.
func TestCompositeBars(t *testing.T) {
	c := New(parsed(t, small), nil, nil, nil)
	p, err := c.prepare(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*), SUM(n), COUNT(*) + SUM(n), SUM(n) - COUNT(*), 2 * SUM(n), SUM(c) / COUNT(*), COUNT(*) / 7, COUNT(*) % 7, COUNT(*) > 3, dp_error(SUM(n)), dp_low(SUM(n)), dp_high(COUNT(*)) FROM small"})
	if err != nil {
		t.Fatal(err)
	}
	noisy := make([][]int64, len(p.query().Measures))
	for i := range noisy {
		noisy[i] = []int64{1000}
	}
	a := made(t, p, noisy)
	half := func(i, parts int) float64 {
		return scaled(big.NewInt(p.buys[0].noise[i].HalfWidth(0.05/float64(parts))), p.query().Measures[i].Step())
	}
	count, sum := 0, 2 // count rows, sum c, sum n
	if p.query().Measures[1].Describe() == "sum(n)" {
		sum = 1
	}
	near := func(got *float64, want float64) bool { return got != nil && math.Abs(*got-want) <= 1e-6*want }
	bars := a.Errors[0]
	for i, want := range map[int]float64{
		0: half(count, 1), 1: half(sum, 1), 2: half(count, 2) + half(sum, 2), 3: half(count, 2) + half(sum, 2), 4: 2 * half(sum, 1),
	} {
		if !near(bars[i], want) {
			t.Errorf("%s has the error %v; want %v", a.Columns[i].Name, bars[i], want)
		}
	}
	if bars[5] == nil || bars[6] == nil || bars[7] != nil || bars[8] != nil || bars[9] != nil {
		t.Errorf("errors %v", bars)
	}
	if got := asFloat(a.Rows[0][9]); got != half(sum, 1) || asFloat(a.Rows[0][10]) != 1000-half(sum, 1) || asFloat(a.Rows[0][11]) != 1000+half(count, 1) {
		t.Errorf("dp_error is %v, of %v", got, a.Rows)
	}
	for i, approximate := range []bool{false, false, true, true, true, true} {
		if a.Columns[i].Approximate != approximate {
			t.Errorf("%+v", a.Columns[i])
		}
	}
	// A divisor that may be zero leaves nothing known.
	noisy[count] = []int64{1}
	if a := made(t, p, noisy); a.Errors[0][5] != nil {
		t.Errorf("divided by zero, perhaps, with an error of %v", *a.Errors[0][5])
	}
}

// DISTINCT shows equal rows once.
func TestDistinct(t *testing.T) {
	c := New(parsed(t, small), nil, nil, nil)
	p, err := c.prepare(ctx, api.Question{Analyst: "ana", SQL: "SELECT DISTINCT COUNT(*) > 2 AS many FROM small GROUP BY k ORDER BY many LIMIT 5"})
	if err != nil {
		t.Fatal(err)
	}
	if got := lines(made(t, p, [][]int64{{5, 1, 3}})); got != "false|true" {
		t.Errorf("got %s", got)
	}
}

// A choice of very many groups is refused and not begun.
func TestChoiceOfTooMany(t *testing.T) {
	w := newWorld(t, plenty)
	const keys = "age, sex, zip, diagnosis, smoker"
	sql := "SELECT " + keys + " FROM patients GROUP BY " + keys + " ORDER BY COUNT(*) DESC LIMIT "
	if _, err := w.ask(sql + "10000"); err == nil || !contains(err.Error(), "takes too long") {
		t.Errorf("got %v", err)
	}
	if a, err := w.askAs("ana", sql+"20", dp.One); err != nil || len(a.Rows) != 20 {
		t.Errorf("got %v", err)
	}
}
