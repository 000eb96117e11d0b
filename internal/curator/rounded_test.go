package curator

import (
	"math"
	"strings"
	"testing"
)

// Rounding keeps the order of numbers, so what is rounded has the error bar of the rounded ends:
// never narrower than the noise less one step of the rounding.
func TestRoundedHasABar(t *testing.T) {
	w := newWorld(t, plenty)
	a := w.mustAsk("SELECT COUNT(*), greatest(COUNT(*), 0), least(COUNT(*), 0), AVG(age), round(AVG(age), 1), floor(AVG(age)), " +
		"CAST(AVG(age) AS numeric(5,1)) FROM patients")
	bar := func(i int) float64 {
		if a.Errors[0][i] == nil {
			t.Fatalf("%s has no error bar: %v", a.Columns[i].Name, a.Errors[0])
		}
		return *a.Errors[0][i]
	}
	if math.Abs(bar(1)-bar(0)) > 1e-9 || math.Abs(bar(2)) > 1e-9 {
		t.Errorf("count ±%v, its greatest ±%v, its least ±%v", bar(0), bar(1), bar(2))
	}
	for i, step := range map[int]float64{4: 0.1, 5: 1, 6: 0.1} {
		if bar(i) < bar(3)-step-1e-9 || bar(i) > bar(3)+step+1e-9 {
			t.Errorf("avg ±%v, rounded to %v ±%v", bar(3), step, bar(i))
		}
	}
}

// A subquery by person cuts each person to max_rows, and the answer says so.
func TestPersonCutsAreSaid(t *testing.T) {
	w := newWorld(t, plenty)
	a := w.mustAsk("SELECT AVG(n) FROM (SELECT pid, COUNT(*) AS n, SUM(cost) AS s, MAX(cost) AS m FROM visits GROUP BY pid) AS t")
	notes := strings.Join(a.Notes, "\n")
	if strings.Count(notes, "in the subquery a person's") != 2 || !strings.Contains(notes, "count is at most") ||
		!strings.Contains(notes, "sum is from 0 to") {
		t.Errorf("notes %q", a.Notes)
	}
	if a := w.mustAsk("SELECT AVG(n) FROM (SELECT pid, COUNT(*) AS n FROM patients GROUP BY pid) AS t"); len(a.Notes) != 0 {
		t.Errorf("nobody has two rows: notes %q", a.Notes)
	}
}
