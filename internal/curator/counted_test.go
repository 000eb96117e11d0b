package curator_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/profile"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

// busy is a hospital whose policy cuts most of what people have.
func busy(t *testing.T, budget string) *curatortest.World {
	t.Helper()
	text := strings.NewReplacer("max_rows: 6", "max_rows: 2", "max_groups: 2", "max_groups: 1").
		Replace(hospital.Dataset("hospital", "data", budget))
	return curatortest.Build(t, hospital.New(2000, 1), text, 1)
}

// Once a profile was paid for, answers say which part of the rows counts, and the intervals of what
// was asked hold the truth; until then they say nothing of it.
func TestCounted(t *testing.T) {
	for name, budget := range map[string]string{"pure": curatortest.Plenty,
		"concentrated": "{epsilon: 100, delta: 1e-6, per_query: {default: 0.1, max: 1}}"} {
		t.Run(name, func(t *testing.T) {
			w := busy(t, budget)
			truth := float64(len(hospital.New(2000, 1).Visits))
			const text = "SELECT COUNT(*) FROM visits"
			before := w.MustAsk(text)
			if !before.Cut || before.Counted != nil || before.Whole != nil {
				t.Errorf("without a profile: %+v, %v", before.Limits, before.Whole)
			}
			if _, err := w.AskAs("ana", profile.Question(w.Dataset.Tables["visits"]), curatortest.Amount("0.5")); err != nil {
				t.Fatal(err)
			}
			after, calls := w.Record(), []string(nil)
			a := w.MustAsk(text)
			for _, call := range after.Take() {
				if call == "charge" || call == "run" {
					calls = append(calls, call)
				}
			}
			if len(calls) > 0 || !a.Receipt.Free {
				t.Errorf("what a profile says was not free: %v, %+v", calls, a.Receipt)
			}
			c := a.Counted
			if c == nil || c.AtLeast || c.Low > c.About || c.About > c.High || c.About < 0.4 || c.About > 0.65 {
				t.Fatalf("counted %+v", c)
			}
			if r := a.Whole[0][0]; r == nil || r.Low > truth || r.High < truth || r.Low < truth/2 || r.High > truth*2 {
				t.Errorf("%v rows are in %+v", truth, r)
			}
			if !strings.Contains(strings.Join(a.Notes, "\n"), "of the rows count (max_rows 2), if nobody has more than") {
				t.Errorf("notes %q", a.Notes)
			}
			checkWhole(t, w)
			byWard := w.MustAsk("SELECT ward, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY ward")
			byWard.ShowErrors(api.ErrorWhole)
			for i, row := range byWard.Rows { // averages have none
				r := byWard.Whole[i][1]
				if len(row) != 7 || byWard.Columns[3].Name != "n_low" || byWard.Columns[4].Name != "n_high" || row[5] != nil ||
					row[6] != nil || curatortest.AsFloat(row[3]) != r.Low || curatortest.AsFloat(row[4]) != r.High {
					t.Errorf("%v: %v, and %+v", byWard.Columns, row, r)
				}
			}
			for _, columns := range []string{api.ErrorColumns, api.ErrorIntervals} {
				a := w.MustAsk("SELECT COUNT(*), SUM(cost) FROM visits")
				a.ShowErrors(columns)
				var out strings.Builder
				render.Answer(&out, a)
				if len(a.Columns) < 4 || len(a.Whole[0]) != len(a.Columns) || !strings.Contains(out.String(), "with what is cut") {
					t.Errorf("with %s: %v\n%s", columns, a.Whole, out.String())
				}
			}
		})
	}
}

// Of questions that leave rows out by themselves, or put people into several groups, less is known.
func checkWhole(t *testing.T, w *curatortest.World) {
	t.Helper()
	for text, wants := range map[string]func(a *api.Answer) bool{
		"SELECT COUNT(*), SUM(cost), AVG(cost) FROM visits WHERE cost > 100": func(a *api.Answer) bool {
			return a.Counted != nil && a.Counted.AtLeast && a.Whole[0][0] != nil && a.Whole[0][1] != nil && a.Whole[0][2] == nil &&
				a.Whole[0][1].Low <= a.Whole[0][1].High && a.Whole[0][0].Low < a.Whole[0][0].High
		},
		"SELECT ward, COUNT(*) FROM visits GROUP BY ward": func(a *api.Answer) bool {
			return a.Counted != nil && a.Counted.AtLeast && a.Whole[0][0] == nil && a.Whole[2][1] != nil
		},
		"SELECT ward, SUM(cost) FROM visits GROUP BY ward HAVING COUNT(*) > 10": func(a *api.Answer) bool {
			return a.Counted == nil
		},
		"SELECT SUM(cost) FROM visits": func(a *api.Answer) bool {
			return a.Counted != nil && a.Whole[0][0] != nil
		},
		"SELECT COUNT(*) FROM patients": func(a *api.Answer) bool {
			return a.Counted == nil && a.Whole == nil
		},
		"SELECT COUNT(*) FROM visits JOIN patients USING (pid)": func(a *api.Answer) bool {
			return a.Counted == nil && a.Whole == nil
		},
	} {
		if a := w.MustAsk(text); !wants(a) {
			t.Errorf("%s: %+v, %v", text, a.Counted, a.Whole)
		}
	}
}

// No interval is said to hold what was asked where a limit cuts more than a profile knows of: rows
// of other groups, rows that a condition looks at, and what noise made negative.
func TestCountedTooLittle(t *testing.T) {
	text := strings.Replace(hospital.Dataset("hospital", "data", curatortest.Plenty), "max_groups: 2", "max_groups: 1", 1)
	w := curatortest.Build(t, hospital.New(2000, 1), text, 1)
	if _, err := w.AskAs("ana", profile.Question(w.Dataset.Tables["visits"]), curatortest.Amount("0.5")); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"SELECT ward, SUM(cost) FROM visits GROUP BY ward",
		"SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING COUNT(*) > -1000000",
		"SELECT SUM(cost) FROM visits WHERE pid IN (SELECT pid FROM visits GROUP BY pid HAVING COUNT(*) <= 6)",
		"SELECT COUNT(*) FROM (SELECT * FROM visits WHERE pid IN (SELECT pid FROM visits GROUP BY pid HAVING COUNT(*) <= 6)) AS v",
	} {
		if a := w.MustAsk(text); a.Whole != nil {
			t.Errorf("%s: %v %v", text, a.Whole, a.Notes)
		}
	}
	a := w.MustAsk("SELECT SUM(cost) FROM visits WHERE cost > 100")
	if notes := strings.Join(a.Notes, "\n"); a.Whole == nil || a.Counted != nil || !strings.Contains(notes, "if nobody has more than") {
		t.Errorf("an interval does not say when it holds: %v, %q", a.Whole, notes)
	}
	for counts, known := range map[string]bool{"": true, "nonnegative": false} {
		q := api.Question{Analyst: "ana", SQL: "SELECT ward, COUNT(*) FROM visits GROUP BY ward", Request: curatortest.FreshID(),
			Settings: api.Settings{Counts: counts}}
		a, err := w.Ask(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if (a.Counted != nil) != known || (a.Whole != nil) != known {
			t.Errorf("counts %q: %+v, %v", counts, a.Counted, a.Whole)
		}
	}
}
