package curator_test

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/profile"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/policy"
)

// Each person is in one cell of a profile of values: that of their largest, however many rows they
// have, and those beyond the bounds are with those at the upper one.
func TestProfileOfValues(t *testing.T) {
	h := hospital.New(2000, 1)
	for i := range h.Visits[:300] {
		h.Visits[i].Cents = 900_000 // beyond the bounds
	}
	w := curatortest.Build(t, h, hospital.Dataset("hospital", "data", curatortest.Plenty), 1)
	largest, ages := map[int]float64{}, map[int]float64{}
	for _, v := range h.Visits {
		largest[v.Patient] = max(largest[v.Patient], float64(v.Cents)/100)
	}
	for _, p := range h.Patients {
		ages[p.ID] = float64(p.Age)
	}
	for _, c := range []struct {
		table, column string
		truth         map[int]float64
	}{{"visits", "cost", largest}, {"patients", "age", ages}} {
		table := w.Dataset.Tables[c.table]
		column := table.Columns[c.column]
		if !profile.OfValues(table, column) {
			t.Fatalf("%s.%s has no profile", c.table, c.column)
		}
		a, err := w.AskAs("ana", profile.ValuesQuestion(table, column), curatortest.Amount("1"))
		w.Check(err)
		if a.Cost.Epsilon != curatortest.Amount("1") {
			t.Errorf("%s costs %v", c.table, a.Cost)
		}
		v, err := profile.ReadValues(column, a)
		w.Check(err)
		cells := make([]float64, len(v.Cells))
		for _, x := range c.truth {
			at := 0
			for at+1 < len(cells) {
				if from, _ := strconv.ParseFloat(v.Cells[at+1].From, 64); x < from {
					break
				}
				at++
			}
			cells[at]++
		}
		lowest := 0.0
		for _, x := range c.truth { // nobody has a smaller value than the bound that is not their largest
			if from, _ := strconv.ParseFloat(v.Lowest.To, 64); x <= from {
				lowest++
			}
		}
		if math.Abs(v.Lowest.People-lowest) > 2*v.Lowest.Error {
			t.Errorf("%s: %+v, and there are %v", c.column, v.Lowest, lowest)
		}
		for i, cell := range v.Cells {
			if math.Abs(cell.People-cells[i]) > 2*cell.Error {
				t.Errorf("%s from %s to %s: %v ± %v people, and there are %v", c.column, cell.From, cell.To, cell.People, cell.Error,
					cells[i])
			}
		}
	}
	if visits := w.Dataset.Tables["visits"]; profile.OfValues(visits, visits.Columns["ward"]) {
		t.Error("a text has a profile of values")
	}
}

// Answers say how many people have values that bounds cut, where that was paid for, and otherwise
// that nobody knows; and nothing of what a question cuts itself.
func TestBeyondBounds(t *testing.T) {
	h := hospital.New(2000, 1)
	beyond := map[int]bool{}
	for i := range h.Visits[:300] {
		h.Visits[i].Cents = 900_000
		beyond[h.Visits[i].Patient] = true
	}
	w := curatortest.Build(t, h, hospital.Dataset("hospital", "data", curatortest.Plenty), 1)
	visits := w.Dataset.Tables["visits"]
	cost := visits.Columns["cost"]
	says := func(text string) []string {
		return slices.DeleteFunc(w.MustAsk(text).Notes, func(n string) bool { return !strings.Contains(n, " cost ") })
	}
	cutting := []string{"SELECT AVG(cost) FROM visits", "SELECT ward, SUM(2 * cost) FROM visits GROUP BY ward",
		"SELECT MEDIAN(cost) FROM visits"}
	cutting = append(cutting, "SELECT COUNT(cost) FROM visits", "SELECT SUM(LEAST(cost, 100)) FROM visits",
		"SELECT SUM(ABS(cost)) FROM visits",
		"SELECT AVG(m) FROM (SELECT pid, MAX(cost) AS m FROM visits GROUP BY pid) AS t",
		"SELECT floor(cost / 500), COUNT(*) FROM visits GROUP BY 1")
	others := []string{"SELECT COUNT(*) FROM visits WHERE ward = 'east'", "SELECT AVG(age) FROM patients"}
	for _, text := range cutting {
		if notes := says(text); len(notes) != 1 || !strings.HasPrefix(notes[0], profile.Bounds([]*policy.Column{cost})) {
			t.Errorf("%s: without a profile: %q", text, notes)
		}
	}
	a, err := w.AskAs("ana", profile.ValuesQuestion(visits, cost), curatortest.Amount("1"))
	w.Check(err)
	v, err := profile.ReadValues(cost, a)
	w.Check(err)
	if top := v.Cells[len(v.Cells)-1]; math.Abs(top.People-float64(len(beyond))) > 2*top.Error || !top.Told() || v.Lowest.Told() {
		t.Errorf("%d people are beyond, and it says %+v and %+v", len(beyond), top, v.Lowest)
	}
	for _, text := range append(cutting, "SELECT COUNT(*) FROM visits WHERE cost < 1000") {
		notes := says(text)
		if len(notes) != 1 || !strings.HasPrefix(notes[0], "of all people in visits, ") || !strings.Contains(notes[0],
			" of 2000 or more, which count as these bounds; error bars") {
			t.Errorf("%s: with a profile: %q", text, notes)
		}
	}
	constant := "2500 is beyond the bounds of cost, 0 to 2000: what is beyond them counts as the nearer of the two, " +
		"in conditions too"
	for _, text := range []string{"SELECT COUNT(*) FROM visits WHERE cost > 2500",
		"SELECT COUNT(*) FILTER (WHERE cost <= 2500) FROM visits",
		"SELECT CASE WHEN cost > 2500 THEN 'dear' ELSE 'cheap' END AS k, COUNT(*) FROM visits GROUP BY k",
		"SELECT COUNT(*) FROM patients WHERE pid IN (SELECT pid FROM visits WHERE cost < 2500)"} {
		if notes := w.MustAsk(text).Notes; !slices.Contains(notes, constant) {
			t.Errorf("%s: %q", text, notes)
		}
	}
	for _, text := range others {
		if notes := says(text); len(notes) > 0 {
			t.Errorf("%s: %q", text, notes)
		}
	}
}

// With dp.errors = whole the interval is the error bar's where limits cut nothing, and where
// nothing tells what they cut that is said.
func TestWholeEnds(t *testing.T) {
	w := busy(t, curatortest.Plenty)
	ask := func(text string) *api.Answer {
		a, err := w.Ask(t.Context(), api.Question{Analyst: "ana", SQL: text, Request: curatortest.FreshID(),
			Settings: api.Settings{Errors: api.ErrorWhole}})
		w.Check(err)
		a.ShowErrors(api.ErrorWhole)
		return a
	}
	says := func(a *api.Answer) bool {
		return strings.Contains(strings.Join(a.Notes, "\n"), "what limits cut of n is not known")
	}
	a := ask("SELECT COUNT(*) AS n, AVG(age) AS m FROM patients")
	for j := range 2 {
		v, e := curatortest.AsFloat(a.Rows[0][j]), *a.Errors[0][j]
		if curatortest.AsFloat(a.Rows[0][2+2*j]) != v-e || curatortest.AsFloat(a.Rows[0][3+2*j]) != v+e || says(a) {
			t.Errorf("nothing is cut: %v ± %v, %v, %q", v, e, a.Rows, a.Notes)
		}
	}
	if a := ask("SELECT COUNT(*) AS n FROM visits"); a.Rows[0][1] != nil || !says(a) {
		t.Errorf("without a profile: %v, %q", a.Rows, a.Notes)
	}
	one := api.Question{Analyst: "ana", SQL: "SELECT SUM(age) AS n FROM patients", Request: curatortest.FreshID(),
		Settings: api.Settings{Errors: api.ErrorWhole, MaxSum: big.NewRat(30, 1)}}
	if a, err := w.Ask(t.Context(), one); err != nil || a.Whole != nil {
		t.Errorf("with max_sum: %+v, %v", a, err)
	}
}
