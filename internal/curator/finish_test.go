package curator

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/policy"
)

// parsed reads a dataset's policy; its data need not exist.
func parsed(t testing.TB, dataset string) *policy.Dataset {
	t.Helper()
	p, err := policy.Parse("policy.yaml", []byte("datasets:\n"+dataset))
	if err != nil {
		t.Fatal(err)
	}
	return p.Datasets[p.Names()[0]]
}

// checkErrors compares the shape of the errors with that of the rows.
func checkErrors(t *testing.T, a *api.Answer) {
	t.Helper()
	for i, row := range a.Rows {
		for j := range row {
			if bar := a.Errors[i][j]; (bar == nil) == a.Columns[j].Noisy || bar != nil && *bar < 0 {
				t.Errorf("column %s: noisy %v, error %v", a.Columns[j].Name, a.Columns[j].Noisy, bar)
			}
		}
	}
}

func lines(a *api.Answer) string {
	rows := make([]string, len(a.Rows))
	for i, r := range a.Rows {
		cells := make([]string, len(r))
		for j, v := range r {
			if v == nil {
				v = "NULL"
			}
			if n, ok := v.(json.Number); ok {
				v = n.String()
			}
			cells[j] = fmt.Sprint(v)
		}
		rows[i] = strings.Join(cells, " ")
	}
	return strings.Join(rows, "|")
}

// A group that no row is in is in the answer like all others.
func TestEmptyGroups(t *testing.T) {
	w := newWorld(t, plenty)
	a := w.mustAsk("SELECT sex, zip, COUNT(*), SUM(cost), AVG(age) FROM patients WHERE age > 200 GROUP BY sex, zip")
	if len(a.Rows) != 15 {
		t.Errorf("%d rows; want one for each of 3 x 5 keys", len(a.Rows))
	}
	checkErrors(t, a)
}
