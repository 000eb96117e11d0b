package curator_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/profile"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

var automatic = api.Settings{MaxRows: api.Auto, MaxGroups: api.Auto}

// askChoosing asks a question as a library does: what limits are chosen from first.
func askChoosing(t *testing.T, w *curatortest.World, q api.Question) (first, a *api.Answer) {
	t.Helper()
	before, then, err := w.First(t.Context(), q)
	if err != nil {
		t.Fatal(q.SQL, err)
	}
	if before != nil {
		if before.Request == "" {
			before.Request = curatortest.FreshID()
		}
		if first, err = w.Ask(t.Context(), *before); err != nil {
			t.Fatal(before.SQL, err)
		}
		then.Count = first
	}
	then.Request = curatortest.FreshID()
	if a, err = w.Ask(t.Context(), then); err != nil {
		t.Fatal(then.SQL, err)
	}
	return first, a
}

// Limits are chosen from a count that is paid for once, out of the price of the question; asked
// again both are free, and another question about the same rows has its whole price for itself.
func TestLimitsAreChosen(t *testing.T) {
	for name, budget := range map[string]string{"pure": curatortest.Plenty,
		"concentrated": "{epsilon: 100, delta: 1e-6, per_query: {default: 0.1, max: 1}}",
		"either":       "{epsilon: 100, delta: 1e-6, noise: auto, per_query: {default: 0.1, max: 1}}"} {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer("max_rows: 6", "max_rows: 500", "max_groups: 2", "max_groups: 5").
				Replace(hospital.Dataset("hospital", "data", budget))
			w := curatortest.Build(t, hospital.New(2000, 1), text, 1)
			price := curatortest.Amount("0.5")
			for _, sql := range []string{"SELECT COUNT(*) FROM visits", "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
				"SELECT SUM(cost) FROM visits WHERE cost > 100",
				"SELECT AVG(v.cost) FROM visits v JOIN patients p USING (pid) WHERE p.age > 40"} {
				q := api.Question{Analyst: "ana", SQL: sql, Epsilon: price, Settings: automatic}
				e, err := w.Explain(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if e.Known || e.Questions[0].Measures[0].Error != nil || !strings.Contains(e.Limits, "chosen first") {
					t.Errorf("%s: before: %+v", sql, e)
				}
				if _, err := w.AskFree(t.Context(), q); !errors.As(err, new(*api.PriceError)) {
					t.Errorf("%s was free: %v", sql, err)
				}
				before := w.Spent()
				first, a := askChoosing(t, w, q)
				paid := w.Spent()
				if first == nil || first.Receipt.Free || a.Receipt.Free || !paid.Fits(before.Add(e.Cost)) && !paid.Fits(before.Add(dp.Cost{
					Epsilon: dp.Unbounded, Rho: e.Cost.Rho})) {
					t.Errorf("%s: paid %v, and %v was told", sql, paid, e.Cost)
				}
				// The price is that of both, and of questions that are left each pays as much.
				if n, _ := a.Remaining.Questions(price); a.Cost.Epsilon < price-price/1000 || a.Cost.Epsilon > price ||
					a.Cost.Sub(first.Cost) == a.Cost || a.More == nil || *a.More > n+1 || *a.More+1 < n {
					t.Errorf("%s: cost %v of %v, of which %v for the count; %v more, want %d", sql, a.Cost, price, first.Cost, a.More, n)
				}
				limits, notes := a.Limits, strings.Join(a.Notes, "\n")
				if limits.MaxRows > 60 && !strings.Contains(sql, "SUM") || !strings.Contains(notes, "chosen for the least error") {
					t.Errorf("%s: %+v, %s", sql, limits, notes)
				}
				again, b := askChoosing(t, w, q)
				if again != nil || !b.Receipt.Free || w.Spent() != paid || fmt.Sprint(a.Rows) != fmt.Sprint(b.Rows) {
					t.Errorf("%s asked again: %v %v %+v", sql, a.Rows, b.Rows, b.Receipt)
				}
				if e, err = w.Explain(t.Context(), q); err != nil || !e.Known || !strings.Contains(e.Limits, "chosen for the least error") {
					t.Errorf("%s: explained again: %+v, %v", sql, e, err)
				}
			}
			first, a := askChoosing(t, w, api.Question{Analyst: "ana", SQL: "SELECT COUNT(cost), COUNT(*) FROM visits", Epsilon: price,
				Settings: automatic})
			if first != nil || a.Receipt.Free || a.Cost.Epsilon < price-price/1000 || a.Cost.Epsilon > price {
				t.Errorf("another question about the same rows: %+v", a.Receipt)
			}
			if a := mustBeFree(t, w, profile.Question(w.Dataset.Tables["visits"])); len(a.Rows) == 0 {
				t.Error("the profile of the table is not what a question without a condition pays for")
			}
		})
	}
}

func mustBeFree(t *testing.T, w *curatortest.World, sql string) *api.Answer {
	t.Helper()
	q := api.Question{Analyst: "ana", SQL: sql, Request: curatortest.FreshID(), Epsilon: w.Dataset.Budget.MinEpsilon}
	a, err := w.AskFree(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Where the policy says auto nobody has to say it, a number in a setting is taken instead, and what
// has no limits is not asked about.
func TestPolicyChooses(t *testing.T) {
	text := strings.NewReplacer("max_rows: 6", "max_rows: auto", "max_groups: 2", "max_groups: auto").
		Replace(hospital.Dataset("hospital", "data", curatortest.Plenty))
	h := hospital.New(2000, 1)
	w := curatortest.Build(t, h, text, 1)
	ask := func(sql string, s api.Settings) (first, a *api.Answer) {
		return askChoosing(t, w, api.Question{Analyst: "ana", SQL: sql, Epsilon: curatortest.Amount("1"), Settings: s})
	}
	first, a := ask("SELECT COUNT(*) FROM visits", api.Settings{})
	if v, err := strconv.ParseFloat(fmt.Sprint(a.Rows[0][0]), 64); first == nil || err != nil || math.Abs(v-float64(len(h.Visits))) > 400 {
		t.Errorf("%v of %d", a.Rows, len(h.Visits))
	}
	if first, a = ask("SELECT COUNT(*) FROM visits", api.Settings{MaxRows: 7, MaxGroups: 1}); first != nil || a.MaxRows != 7 {
		t.Errorf("a number: %v, %+v", first, a.Limits)
	}
	if first, a = ask("SELECT COUNT(*) FROM visits WHERE cost > 0", api.Settings{MaxRows: 7}); first != nil && a.MaxRows != 7 {
		t.Errorf("a number for the rows alone: %+v", a.Limits)
	}
	for _, sql := range []string{"SELECT COUNT(*) FROM patients", "SELECT COUNT(DISTINCT pid) FROM visits"} {
		if first, a := ask(sql, api.Settings{}); first != nil || strings.Contains(strings.Join(a.Notes, " "), "chosen") {
			t.Errorf("%s: %+v", sql, a.Notes)
		}
	}
	for sql, want := range map[string]string{
		"SELECT COUNT(*) FROM (SELECT COUNT(*) FROM visits) AS x, (SELECT COUNT(*) FROM patients) AS y": "SELECT by itself",
	} {
		q := api.Question{Analyst: "ana", SQL: sql, Epsilon: curatortest.Amount("1")}
		if _, _, err := w.First(t.Context(), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", sql, err)
		}
		q.Request = curatortest.FreshID()
		if _, err := w.Ask(t.Context(), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s was asked: %v", sql, err)
		}
	}
}

// The interval that includes what is cut holds the truth: with a condition too, because limits that
// are chosen come from a count of the rows that the condition leaves, of sums, and in each group.
func TestChosenIntervals(t *testing.T) {
	text := strings.NewReplacer("max_rows: 6", "max_rows: 500", "max_groups: 2", "max_groups: 5").
		Replace(hospital.Dataset("hospital", "data", curatortest.Plenty))
	h := hospital.New(2000, 1)
	for i := range 100 { // who have many more than others
		for n := range 20 + 2*i {
			v := h.Visits[(17*i+n)%len(h.Visits)]
			v.Patient = h.Patients[20*i].ID
			h.Visits = append(h.Visits, v)
		}
	}
	many, sum, counts, sums := 0.0, 0.0, map[string]float64{}, map[string]float64{}
	for _, v := range h.Visits {
		cost := float64(v.Cents) / 100
		if sum += cost; cost > 200 {
			many++
		}
		counts[v.Ward]++
		sums[v.Ward] += cost
	}
	const draws = 15
	held, of := map[string]int{}, map[string]int{}
	asked := map[string]func(row []any) float64{
		"SELECT COUNT(*) FROM visits WHERE cost > 200":    func([]any) float64 { return many },
		"SELECT SUM(-cost) FROM visits":                   func([]any) float64 { return -sum },
		"SELECT COUNT(*), ward FROM visits GROUP BY ward": func(row []any) float64 { return counts[row[1].(string)] },
		"SELECT SUM(cost), ward FROM visits GROUP BY 2":   func(row []any) float64 { return sums[row[1].(string)] },
		"SELECT SUM(cost - 100), COUNT(*) FROM visits":    func([]any) float64 { return sum - 100*float64(len(h.Visits)) },
		// Most are on the shorter side of the bounds, where they are cut first.
		"SELECT SUM(cost - 1000) FROM visits": func([]any) float64 { return sum - 1000*float64(len(h.Visits)) },
	}
	for seed := range byte(draws) {
		w := curatortest.Build(t, h, text, seed)
		for _, sql := range slices.Sorted(maps.Keys(asked)) {
			truth := asked[sql]
			_, a := askChoosing(t, w, api.Question{Analyst: "ana", SQL: sql, Epsilon: curatortest.Amount("1"), Settings: automatic})
			if a.Whole == nil || !strings.Contains(strings.Join(a.Notes, "\n"), "if nobody has") {
				t.Fatalf("%s: %v, %q", sql, a.Whole, a.Notes)
			}
			if strings.Contains(strings.Join(a.Notes, "\n"), "no value is beyond its bounds") != strings.Contains(sql, "SUM") {
				t.Errorf("%s: %q", sql, a.Notes)
			}
			for i, row := range a.Rows {
				of[sql]++
				if r, n := a.Whole[i][0], truth(row); r.Low <= n && n <= r.High {
					held[sql]++
				}
			}
		}
		w.Leave()
	}
	for sql := range asked {
		if held[sql] < of[sql]*93/100 {
			t.Errorf("%s: %d of %d intervals hold the truth", sql, held[sql], of[sql])
		}
	}
}

// What cannot be chosen is refused before anything is paid.
func TestNothingToChooseFrom(t *testing.T) {
	w := busy(t, curatortest.Plenty)
	for want, change := range map[string]func(q *api.Question){
		"these are chosen for a price": func(q *api.Question) {
			q.Epsilon, q.Settings.Error = 0, curatortest.Amount("10").Rat()
		},
		"each choose limits of their own": func(q *api.Question) { q.Parts = true },
		"half of the price":               func(q *api.Question) { q.Epsilon = w.Dataset.Budget.MinEpsilon },
	} {
		q := api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM visits", Epsilon: curatortest.Amount("1"), Settings: automatic}
		change(&q)
		if _, _, err := w.First(t.Context(), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	q := api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM visits", Epsilon: curatortest.Amount("1"), Settings: automatic,
		Request: curatortest.FreshID()}
	if _, err := w.Ask(t.Context(), q); !errors.Is(err, api.ErrChanging) {
		t.Errorf("a question whose limits nobody chose was asked: %v", err)
	}
	if spent := w.Spent(); spent != (dp.Cost{}) {
		t.Errorf("spent %v", spent)
	}
}
