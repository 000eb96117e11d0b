package curator_test

import (
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/profile"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

// Where limits choose themselves, an average has a limit for its values too, once a profile of the
// column was paid for: it is much less noisy under bounds that are far too wide, as near to the
// truth, and free when it is asked again.
func TestNarrowedAverages(t *testing.T) {
	h := hospital.New(2000, 1)
	text := strings.NewReplacer("[0, 2000]", "[0, 20000]", "max_rows: 6", "max_rows: 50").
		Replace(hospital.Dataset("hospital", "data", curatortest.Plenty))
	w := curatortest.Build(t, h, text, 1)
	sum, n := 0.0, 0.0
	for _, v := range h.Visits {
		sum, n = sum+float64(v.Cents)/100, n+1
	}
	visits := w.Dataset.Tables["visits"]
	ask := func(sql, price string) *api.Answer {
		_, a := askChoosing(t, w, api.Question{Analyst: "ana", SQL: sql, Epsilon: curatortest.Amount(price), Settings: automatic})
		return a
	}
	const sql = "SELECT AVG(v.cost) FROM visits v ORDER BY avg(v.cost)"
	before := ask(sql, "1")
	if strings.Contains(strings.Join(before.Notes, " "), "cost above") {
		t.Errorf("without a profile: %q", before.Notes)
	}
	_, err := w.AskAs("ana", profile.ValuesQuestion(visits, visits.Columns["cost"]), curatortest.Amount("1"))
	w.Check(err)
	a := ask(sql, "1")
	wide, narrow := *before.Errors[0][0], *a.Errors[0][0]
	if off := math.Abs(curatortest.AsFloat(a.Rows[0][0]) - sum/n); narrow > wide/3 || off > 2*narrow+10 {
		t.Errorf("±%v with a profile and ±%v without, and %v off", narrow, wide, off)
	}
	if len(a.Columns) != 1 || a.Columns[0].Name != before.Columns[0].Name || !strings.Contains(strings.Join(a.Notes, "\n"),
		"a cost above 2000 counts as 2000, chosen for the least error") {
		t.Errorf("%+v, %q", a.Columns, a.Notes)
	}
	if again := ask(sql, "1"); !again.Receipt.Free || again.Rows[0][0] != a.Rows[0][0] {
		t.Errorf("again %+v", again)
	}
	e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: sql, Epsilon: curatortest.Amount("1"), Settings: automatic})
	if err != nil || !e.Known || !strings.Contains(e.Limits, "a cost above 2000") {
		t.Errorf("%v, %+v", err, e)
	}
	for _, other := range []string{"SELECT SUM(cost) FROM visits", "SELECT AVG(cost * 2) FROM visits",
		"SELECT AVG(cost), AVG(cost * cost) FROM visits",
		"SELECT MAX(a) FROM (SELECT ward, AVG(cost) AS a FROM visits GROUP BY ward) AS t"} {
		q := api.Question{Analyst: "ana", SQL: other, Epsilon: curatortest.Amount("1"), Settings: automatic}
		if strings.HasPrefix(other, "SELECT MAX") {
			q.Settings = api.Settings{}
		}
		if e, err := w.Explain(ctx, q); err != nil || strings.Contains(e.Limits, "cost above") {
			t.Errorf("%s: %v, %q", other, err, e.Limits)
		}
	}
	// Of people with one row, sums too.
	patients := w.Dataset.Tables["patients"]
	_, err = w.AskAs("ana", profile.ValuesQuestion(patients, patients.Columns["cost"]), curatortest.Amount("1"))
	w.Check(err)
	a = ask("SELECT sex, SUM(cost) FROM patients GROUP BY sex", "0.5")
	if !strings.Contains(strings.Join(a.Notes, "\n"), "a cost above ") {
		t.Errorf("%q", a.Notes)
	}
}
