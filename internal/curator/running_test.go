package curator

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/hospital"
)

const (
	daily  = "SELECT day, COUNT(*) AS n FROM visits WHERE day BETWEEN '2025-01-01' AND '2025-12-31' GROUP BY day"
	yearly = "SELECT day, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY day) AS total FROM visits " +
		"WHERE day BETWEEN '2025-01-01' AND '2025-12-31' GROUP BY day ORDER BY day"
)

// Running totals over days have noise that nearly takes itself away in them. They are the sums of
// what is shown, are paid for once, are the same when they are asked again, and are not made of
// days that were released by themselves.
func TestRunningTotals(t *testing.T) {
	w := newWorld(t, rich)
	if plain := w.mustAsk(daily); len(plain.Rows) != 365 || plain.Receipt.Free {
		t.Fatalf("%d days", len(plain.Rows))
	}
	e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: yearly})
	w.check(err)
	if m := e.Questions[0].Measures[0]; m.Mechanism != "running totals" || !strings.Contains(m.Why, "running totals") || e.Known {
		t.Errorf("%+v", e)
	}
	a := w.mustAsk(yearly)
	if a.Receipt.Free || a.Cost != e.Pay {
		t.Errorf("%v was explained, %v charged", e.Pay, a.Cost)
	}
	if !strings.Contains(strings.Join(a.Notes, "\n"), "a running total is within ") {
		t.Errorf("nothing is said of the error of totals: %v", a.Notes)
	}
	sum := 0.0
	for _, row := range a.Rows {
		if sum += asFloat(row[1]); sum != asFloat(row[2]) {
			t.Fatalf("%v, and the days so far add up to %v", row, sum)
		}
	}
	exact := float64(len(hospital.New(200, 1).Visits))
	if got := asFloat(a.Rows[364][2]); math.Abs(got-exact) > 6*6*math.Sqrt(2*9/(2*0.005))*2 {
		t.Errorf("%v visits, and there are %v", got, exact)
	}
	w.reopen()
	if again := w.mustAsk(yearly); !again.Receipt.Free || numbers(again) != numbers(a) {
		t.Error("asked again it is another answer")
	}
}

// Neighbours differ by what is paid for, also where people are in several days.
func TestRunningNeighbours(t *testing.T) {
	for _, dataset := range []string{hospital.Dataset("hospital", "data", rich), substitute(hospital.Dataset("hospital", "data", rich))} {
		calm, wild := hospital.New(60, 1), restless(60, 1)
		if !strings.Contains(dataset, "substitute") {
			calm = wild.Without(hospital.Target)
		}
		p := newPair(t, dataset, wild, calm)
		if _, _, err := p.judge(yearly); err != nil {
			t.Error(err)
		}
	}
}

// Anything else than a running total of one ordered public key has plain noise.
func TestNoRunningTotals(t *testing.T) {
	for _, c := range []struct {
		budget, text string
		settings     api.Settings
	}{
		{plenty, yearly, api.Settings{}},
		{rich, yearly, api.Settings{Mechanism: "laplace"}},
		{rich, strings.Replace(yearly, "OVER (ORDER BY day)", "OVER (ORDER BY day DESC)", 1), api.Settings{}},
		{rich, strings.Replace(yearly, "OVER (ORDER BY day)", "OVER (ORDER BY COUNT(*))", 1), api.Settings{}},
		{rich, strings.Replace(yearly, "OVER (ORDER BY day)", "OVER (ORDER BY day ROWS 6 PRECEDING)", 1), api.Settings{}},
		{rich, strings.Replace(yearly, "OVER (ORDER BY day)", "OVER ()", 1), api.Settings{}},
		{rich, strings.Replace(yearly, "SUM(COUNT(*))", "AVG(COUNT(*))", 1), api.Settings{}},
		{rich, "SELECT sex, SUM(COUNT(*)) OVER (PARTITION BY sex ORDER BY sex) FROM patients GROUP BY sex", api.Settings{}},
	} {
		w := newWorld(t, c.budget)
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: c.text, Settings: c.settings})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if m := e.Questions[0].Measures[0].Mechanism; m == "running totals" {
			t.Errorf("%s: %s", c.text, fmt.Sprint(m))
		}
	}
}
