package curator

import (
	"math"
	"math/big"
	"regexp"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// With dp.error every error bar is as small as was asked for. That the price is the smallest that
// does it is a test of package pricing.
func TestErrorIsWithin(t *testing.T) {
	for _, budget := range []string{plenty, rich} {
		w := newWorld(t, budget)
		for _, c := range []struct {
			sql, want string
			s         api.Settings
		}{
			{"SELECT COUNT(*) FROM patients", "20", api.Settings{}},
			{"SELECT COUNT(*) FROM patients", "20", api.Settings{Confidence: 0.5}},
			{"SELECT COUNT(*) FROM patients", "20", api.Settings{Confidence: 0.9999}},
			{"SELECT sex, COUNT(*), SUM(age) FROM patients GROUP BY sex", "1000.5", api.Settings{}},
			{"SELECT SUM(cost) FROM patients", "99999.999", api.Settings{}},
			{"SELECT ward, COUNT(*) FROM visits GROUP BY ward", "150", api.Settings{}},
			{"SELECT ward, COUNT(*) FROM visits GROUP BY ward", "150", api.Settings{Mechanism: "laplace"}},
			{"SELECT COUNT(*) FROM patients UNION ALL SELECT COUNT(*) FROM visits", "60", api.Settings{}},
		} {
			c.s.Error, _ = new(big.Rat).SetString(c.want)
			target, _ := c.s.Error.Float64()
			a, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: c.sql, Settings: c.s, Request: freshID()})
			w.check(err)
			for _, row := range a.Errors {
				for _, e := range row {
					if e != nil && *e > target {
						t.Errorf("%s: the answer has an error of %v", c.sql, *e)
					}
				}
			}
		}
	}
}

func TestErrorIsRefused(t *testing.T) {
	w := newWorld(t, plenty)
	ask := func(sql, target string) error {
		e, _ := new(big.Rat).SetString(target)
		_, err := w.prepare(ctx, api.Question{Analyst: "ana", SQL: sql, Settings: api.Settings{Error: e}})
		return err
	}
	for _, sql := range []string{
		"SELECT AVG(age) FROM patients", "SELECT STDDEV(age) FROM patients", "SELECT MEDIAN(age) FROM patients",
		"SELECT COUNT(*), MAX(age) FROM patients", "SELECT SUM(age) / COUNT(*) FROM patients",
		"SELECT zip FROM patients GROUP BY zip ORDER BY COUNT(*) DESC LIMIT 1",
	} {
		if err := ask(sql, "1000000"); err == nil || !contains(err.Error(), "dp.error cannot be used") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	// What is said to be possible is.
	for _, c := range [][2]string{{"SELECT COUNT(*) FROM patients", "1"}, {"SELECT COUNT(*) FROM patients", "0.5"},
		{"SELECT COUNT(*), SUM(cost), SUM(age) FROM patients", "20"}} {
		err := ask(c[0], c[1])
		if err == nil {
			t.Errorf("%v was promised", c)
			continue
		}
		found := regexp.MustCompile(`an error of ([0-9.e+]+) can be had`).FindStringSubmatch(err.Error())
		if found == nil || ask(c[0], found[1]) != nil {
			t.Errorf("%v: %v; and then %v", c, err, found)
		}
	}
}

// Every interval covers the truth as often as it says, at several confidences: counts and sums as
// nearly as whole numbers can, and what is made of them at least.
func TestIntervalsCover(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	const n = 1500
	for _, budget := range []string{plenty, rich} {
		for _, confidence := range []float64{0.5, 0.8, 0.99} {
			w := newWorld(t, budget)
			p, err := w.prepare(ctx, api.Question{Analyst: "ana", Epsilon: dp.One, Settings: api.Settings{Confidence: confidence},
				SQL: "SELECT COUNT(*), SUM(age), AVG(age), SUM(age) - 50 * COUNT(*), 100 * SUM(age) / COUNT(*), VARIANCE(age), " +
					"STDDEV_POP(age) FROM patients"})
			w.check(err)
			exactly, err := w.data.Run(ctx, query(p))
			w.check(err)
			// The exact values, by way of the same finish without noise: the measures themselves
			// are checked elsewhere.
			var clean [][]int64
			for _, m := range exactly.Measures {
				clean = append(clean, m.Open())
			}
			truth := made(t, p, clean)
			hits := make([]float64, len(truth.Columns))
			for range n {
				a := w.release(p, p, exactly)
				for j := range hits {
					if a.Errors[0][j] == nil {
						hits[j]++ // nothing is said, so nothing is wrong
						continue
					}
					if math.Abs(asFloat(a.Rows[0][j])-asFloat(truth.Rows[0][j])) <= *a.Errors[0][j]*(1+1e-9) {
						hits[j]++
					}
				}
			}
			slack := 4 * math.Sqrt(confidence*(1-confidence)/n)
			for j, c := range truth.Columns {
				if got := hits[j] / n; got < confidence-slack || !c.Approximate && got > confidence+slack+0.12 {
					t.Errorf("%s at %v: %s is covered in %.4f of the releases", budget, confidence, c.Name, got)
				}
			}
			t.Logf("%s at %v: %.0f of %d", budget, confidence, hits, n)
		}
	}
}

func asFloat(v any) float64 {
	f, err := v.(interface{ Float64() (float64, error) }).Float64()
	if err != nil {
		panic(err)
	}
	return f
}
