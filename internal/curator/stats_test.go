package curator

import (
	"fmt"
	"math"
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
	for _, list := range []string{"VAR_POP(age), VARIANCE(age), STDDEV_POP(age), STDDEV_SAMP(age)",
		"VAR_POP(age), VARIANCE(age), STDDEV_POP(age), STDDEV_SAMP(age), SUM(age)"} {
		p, err := w.prepare(ctx, api.Question{Analyst: "ana", SQL: "SELECT " + list + " FROM patients", Epsilon: dp.One})
		w.check(err)
		exactly, err := w.data.Run(ctx, query(p))
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

// Quantiles are near the true ones where there is privacy to pay for it, within the rank error that
// the note states.
func TestQuantilesAreNear(t *testing.T) {
	for _, budget := range []string{plenty, rich} {
		h := hospital.New(3000, 1)
		w := build(t, h, hospital.Dataset("hospital", "data", budget), 5)
		var ages []int
		for _, p := range h.Patients {
			ages = append(ages, p.Age)
		}
		slices.Sort(ages)
		p, err := w.prepare(ctx, api.Question{Analyst: "ana", Epsilon: dp.One,
			SQL: "SELECT MIN(age), PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age), MEDIAN(age), MAX(age) FROM patients"})
		w.check(err)
		exactly, err := w.data.Run(ctx, query(p))
		w.check(err)
		bound := p.Purchases[0].Noise[0].Quantiles.RankError(0.05)
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
			if a.Errors[0][0] != nil || !a.Columns[0].Approximate ||
				!contains(strings.Join(a.Notes, " "), "1 % quantile", "99 % quantile", "rank is within") {
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
