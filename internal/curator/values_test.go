package curator_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/discreet-dp/discreet/internal/curator/profile"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
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
