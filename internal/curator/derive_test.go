package curator

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/hospital"
	"github.com/discreet-dp/discreet/internal/memory"
)

// made asks what can be made of earlier answers and checks that it is free and says so.
func (w *world) made(text, epsilon string, from *api.Answer) *api.Answer {
	w.t.Helper()
	r := w.record()
	before := w.records()
	a, err := w.askAs("ben", text, amount(epsilon))
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	note := fmt.Sprintf("computed from answers that were paid for before (record %d)", from.Receipt.Sequence)
	if !a.Receipt.Free || a.Cost != (dp.Cost{}) || w.records() != before || a.Receipt.Sequence != from.Receipt.Sequence ||
		!contains(strings.Join(a.Notes, "\n"), note) {
		w.t.Errorf("%s at %s: cost %v, receipt %+v, notes %q; want it free, from record %d", text, epsilon, a.Cost, a.Receipt, a.Notes,
			from.Receipt.Sequence)
	}
	for _, call := range r.take() {
		if call == "run" || call == "charge" || call == "keep" {
			w.t.Errorf("%s: called %s", text, call)
		}
	}
	e, err := w.Explain(ctx, api.Question{Analyst: "ben", SQL: text, Epsilon: amount(epsilon)})
	w.check(err)
	if q := e.Questions[0]; !e.Known || !q.Derived || q.Record != from.Receipt.Sequence || e.Pay != (dp.Cost{}) {
		w.t.Errorf("%s: explained as %+v", text, q)
	}
	return a
}

func value(a *api.Answer, row, column int) int64 {
	n, err := a.Rows[row][column].(json.Number).Int64()
	if err != nil {
		panic(err)
	}
	return n
}

var wealthy = "{epsilon: 100, delta: 1e-6, per_query: {min: 0.01, default: 0.1, max: 1}}"

// A better answer to the same question is given at a lower price, with the error bars of what was
// released.
func TestBetterAnswer(t *testing.T) {
	for _, budget := range []string{plenty, wealthy} {
		w := newWorld(t, budget)
		for _, text := range []string{
			"SELECT sex, COUNT(*), SUM(cost) FROM patients GROUP BY sex",
			"SELECT ward, COUNT(*), AVG(cost) FROM visits GROUP BY ward", // people have many rows
		} {
			low := w.charged("ana", text, amount("0.2"))
			good := w.charged("ana", text, amount("0.5"))
			a := w.made(text, "0.1", good)
			if numbers(a) != numbers(good) || *a.Errors[0][1] != *good.Errors[0][1] || *a.Errors[0][2] != *good.Errors[0][2] {
				t.Errorf("%s: %v with %v; the better one is %v with %v", text, a.Rows, *a.Errors[0][1], good.Rows, *good.Errors[0][1])
			}
			w.free(w.record(), "ben", strings.Replace(text, "SELECT", "SELECT ALL", 1)+" ORDER BY 1", w.mustAsk(text)) // 0.1 again
			if again, err := w.askAs("ana", text, amount("0.2")); err != nil || numbers(again) != numbers(low) {
				t.Errorf("what was bought is not what is given again: %v, %v", again, err)
			}
			w.charged("ana", text, amount("0.6"))
		}
		// Other limits are another question.
		limits := api.Question{Analyst: "ana", SQL: "SELECT ward, COUNT(*) FROM visits GROUP BY ward", Epsilon: amount("0.1"),
			Settings: api.Settings{MaxGroups: 1}, Request: freshID()}
		if a, err := w.Ask(ctx, limits); err != nil || a.Receipt.Free {
			t.Errorf("another limit was free: %v", err)
		}
	}
}

func TestCells(t *testing.T) {
	for _, budget := range []string{plenty, wealthy} {
		w := newWorld(t, budget)
		groups := w.charged("ana", "SELECT sex, smoker, COUNT(*), SUM(age) FROM patients WHERE cost > 10 GROUP BY sex, smoker", amount("1"))
		cell := func(sex string, smoker any, column int) (n int64) {
			for i, r := range groups.Rows {
				if r[0] == sex && (smoker == nil || r[1] == smoker) {
					n += value(groups, i, column)
				}
			}
			return n
		}
		for _, c := range []struct {
			text string
			want []int64
		}{
			{"SELECT COUNT(*) FROM patients WHERE cost > 10 AND sex = 'F' AND smoker", []int64{cell("F", true, 2)}},
			{"SELECT COUNT(*) FROM patients WHERE cost > 10 AND sex = 'F' AND NOT smoker", []int64{cell("F", false, 2)}},
			{"SELECT SUM(age) FROM patients WHERE 10 < cost AND sex IN ('F', 'M') AND smoker",
				[]int64{cell("F", true, 3) + cell("M", true, 3)}},
			{"SELECT COUNT(*), sex FROM patients WHERE cost > 10 AND smoker GROUP BY sex",
				[]int64{cell("F", true, 2), cell("M", true, 2), cell("X", true, 2)}},
			{"SELECT COUNT(*), sex FROM patients WHERE cost > 10 AND smoker IS NOT NULL GROUP BY sex",
				[]int64{cell("F", nil, 2), cell("M", nil, 2), cell("X", nil, 2)}},
			{"SELECT COUNT(*), sex, smoker FROM patients WHERE cost > 10 AND sex <> 'X' AND smoker GROUP BY sex, smoker",
				[]int64{cell("F", true, 2), cell("M", true, 2)}},
		} {
			a := w.made(c.text, "0.1", groups)
			for i, want := range c.want {
				if got := value(a, i, 0); got != want {
					t.Errorf("%s: row %d is %d; the groups say %d", c.text, i, got, want)
				}
			}
			if len(a.Rows) != len(c.want) {
				t.Errorf("%s: %v", c.text, a.Rows)
			}
		}
		// These are other numbers.
		for _, text := range []string{
			// people of no listed sex are in no group
			"SELECT COUNT(*) FROM patients WHERE cost > 10",
			"SELECT COUNT(*) FROM patients WHERE cost > 10 AND smoker",                       // nor here
			"SELECT COUNT(*) FROM patients WHERE cost > 10 AND sex IN ('F', 'Q') AND smoker", // Q is not listed
			// nor is a smoker who is NULL
			"SELECT COUNT(*) FROM patients WHERE cost > 10 AND sex = 'F'",
			"SELECT COUNT(*) FROM patients WHERE cost > 11 AND sex = 'F' AND smoker",                               // another condition
			"SELECT COUNT(*) FROM patients WHERE sex = 'F' AND smoker",                                             // one less
			"SELECT COUNT(*) FROM patients WHERE cost > 10 AND sex = 'F' AND smoker AND age > 3",                   // one more
			"SELECT COUNT(*) FROM patients WHERE cost > 10 OR sex = 'F' AND smoker",                                //
			"SELECT SUM(cost) FROM patients WHERE cost > 10 AND sex = 'F' AND smoker",                              // another measure
			"SELECT COUNT(*) FROM patients p JOIN visits v USING (pid) WHERE p.cost > 10 AND sex = 'F' AND smoker", // other rows
		} {
			w.charged("ana", text, amount("0.01"))
		}
		// What is made of six noises is less exact than one of them.
		w.charged("ana", "SELECT COUNT(*) FROM patients WHERE cost > 10 AND sex IN ('F', 'M', 'X') AND smoker IS NOT NULL", amount("0.9"))
		// People with many rows are cut in each question differently.
		w.charged("ana", "SELECT ward, COUNT(*) FROM visits GROUP BY ward", amount("1"))
		w.charged("ana", "SELECT COUNT(*) FROM visits WHERE ward = 'surgery'", amount("0.01"))

		w.reopen()
		w.made("SELECT COUNT(*) FROM patients WHERE cost > 10 AND sex = 'M' AND smoker", "0.1", groups)
	}
}

// The best of several is taken, and none that is worse than what was asked for.
func TestBestSource(t *testing.T) {
	w := newWorld(t, plenty)
	w.charged("ana", "SELECT sex, COUNT(*) FROM patients GROUP BY sex", amount("0.1"))
	fine := w.charged("ana", "SELECT sex, smoker, COUNT(*) FROM patients GROUP BY sex, smoker", amount("1"))
	best := w.charged("ana", "SELECT sex, COUNT(*) FROM patients GROUP BY sex", amount("0.9"))
	w.made("SELECT COUNT(*) FROM patients WHERE sex = 'F'", "0.1", best)
	w.made("SELECT COUNT(*) FROM patients WHERE sex = 'F' AND smoker", "1", fine)
	w.charged("ana", "SELECT COUNT(*) FROM patients WHERE sex = 'M'", amount("0.95"))
}

// Other data is another answer, for what is made of answers too.
func TestDerivedOfChangedData(t *testing.T) {
	w := newWorld(t, plenty)
	const groups, one = "SELECT sex, COUNT(*) FROM patients GROUP BY sex", "SELECT COUNT(*) FROM patients WHERE sex = 'F'"
	first := w.charged("ana", groups, amount("0.5"))
	w.made(one, "0.5", first)
	w.check(hospital.New(200, 1).Without(hospital.Target).Write(filepath.Join(w.dir, "data")))
	w.charged("ana", one, amount("0.1"))
	w.charged("ana", groups, amount("0.1"))
	w.check(hospital.New(200, 1).Write(filepath.Join(w.dir, "data")))
	w.made(one, "0.3", first)
}

// Whoever asks for the same number in many ways gets values that are made of what was paid for, so
// that no average of them is nearer to the truth than the best that they paid for.
func TestManyWaysOneNoise(t *testing.T) {
	w := newWorld(t, plenty)
	groups := w.charged("ana", "SELECT sex, COUNT(*) FROM patients GROUP BY sex", amount("0.5"))
	want := value(groups, 0, 1)
	for i, text := range []string{
		"SELECT COUNT(*) FROM patients WHERE sex = 'F'", "SELECT COUNT(*) FROM patients WHERE sex IN ('F')",
		"SELECT SUM(1) FROM patients WHERE sex = 'F' AND sex <> 'M'",
		"SELECT COUNT(*) FROM patients WHERE sex = 'F' AND sex IN ('F', 'X')",
		"SELECT COUNT(*) FROM patients WHERE sex < 'G'  AND sex IN ('F', 'M')",
		"SELECT COUNT(*) FROM (SELECT * FROM patients WHERE sex = 'F') x WHERE sex LIKE 'F%'",
		"SELECT COUNT(*) FROM patients WHERE sex = 'F' GROUP BY sex",
	} {
		for _, epsilon := range []string{"0.5", "0.4", "0.3", "0.01"} {
			if a := w.made(text, epsilon, groups); value(a, 0, 0) != want {
				t.Errorf("%d: %s at %s: %v; want %d", i, text, epsilon, a.Rows, want)
			}
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	w := newWorld(b, plenty)
	for i := range 300 {
		if _, err := w.askAs("ana", fmt.Sprintf("SELECT sex, COUNT(*) FROM patients WHERE age > %d GROUP BY sex", i%100),
			amount("0.1")+dp.Amount(i)); err != nil {
			b.Fatal(err)
		}
	}
	version, err := w.data.Version(ctx)
	w.check(err)
	for _, c := range []struct{ name, text string }{
		{"new", "SELECT COUNT(*) FROM patients WHERE cost > 5 AND zip = 'a' AND NOT smoker"},
		{"cell", "SELECT COUNT(*) FROM patients WHERE sex = 'F' AND age > 7"},
	} {
		p, err := w.prepare(ctx, api.Question{Analyst: "ana", SQL: c.text, Epsilon: amount("0.01")})
		w.check(err)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := w.memory.Recall(ctx, p, version.Key(), memory.Horizon{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
