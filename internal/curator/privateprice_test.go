package curator_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
)

func TestPrivateKeys(t *testing.T) {
	w := curatortest.NewPrivateKeys(t, 2000, curatortest.Amount("1e-4"), curatortest.Amount("1e-6"))
	r := w.Record()
	const text = "SELECT ward, COUNT(*), AVG(cost), MEDIAN(cost) FROM visits GROUP BY ward"
	ask := func(sql string) *api.Answer {
		a, err := w.AskAs("ana", sql, dp.One)
		w.Check(err)
		return a
	}
	a := ask(text)
	var wards []string
	for _, row := range a.Rows {
		wards = append(wards, row[0].(string))
	}
	if !slices.Equal(wards, []string{"emergency", "internal", "surgery"}) {
		t.Errorf("the wards are %v", wards)
	}
	if a.Cost.Delta == 0 || a.Cost.Delta > curatortest.Amount("1e-6") || r.Charges[0].Cost.Delta != a.Cost.Delta ||
		w.Spent().Delta != a.Cost.Delta {
		t.Errorf("cost %v, charged %v, spent %v", a.Cost, r.Charges[0].Cost, w.Spent())
	}
	if a.Remaining.KeysDelta != curatortest.Amount("1e-4")-a.Cost.Delta {
		t.Errorf("left: %+v", a.Remaining)
	}
	if !curatortest.ContainsAll(strings.Join(a.Notes, "\n"), "enough people", "rank is within") {
		t.Errorf("notes %q", a.Notes)
	}
	// It is remembered with its keys, by another process too, and what is done after the noise is
	// free.
	for range 2 {
		if again := ask(text); !again.Receipt.Free || curatortest.Numbers(again) != curatortest.Numbers(a) {
			t.Errorf("%v, and before %v", curatortest.Numbers(again), curatortest.Numbers(a))
		}
		if last := ask(text + " ORDER BY ward DESC LIMIT 1"); !last.Receipt.Free || fmt.Sprint(last.Rows[0]) != fmt.Sprint(a.Rows[2]) {
			t.Errorf("%v of %v", last.Rows, a.Rows)
		}
		w.Reopen()
		w.Record()
	}
	// Public keys beside private ones: every combination with a released ward is there.
	both := ask("SELECT cost > 500 AS dear, ward, COUNT(*) FROM visits GROUP BY cost > 500, ward")
	var got []string
	for _, row := range both.Rows {
		got = append(got, fmt.Sprint(row[1], " ", row[0]))
	}
	if want := "[emergency false emergency true internal false internal true surgery false surgery true]"; fmt.Sprint(got) != want {
		t.Errorf("got %v", got)
	}
	only := ask("SELECT DISTINCT ward FROM visits")
	if fmt.Sprint(only.Rows) != "[[emergency] [internal] [surgery]]" || only.Columns[0].Noisy {
		t.Errorf("got %v", only.Rows)
	}
}

// What cannot be paid for in delta is refused, and spends nothing.
func TestPrivateKeysAreRefused(t *testing.T) {
	const text = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"
	var refused *api.Refusal
	w := curatortest.NewPrivateKeys(t, 50, 0, 0)
	if _, err := w.AskSQL(text); !errors.As(err, &refused) {
		t.Errorf("without a delta: %v", err)
	}
	w = curatortest.NewPrivateKeys(t, 50, curatortest.Amount("1e-6"), curatortest.Amount("6e-7"))
	if _, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Settings: api.Settings{Delta: curatortest.Amount("2e-6")},
		Request: curatortest.FreshID()}); !errors.As(err, &refused) {
		t.Errorf("with too much delta: %v", err)
	}
	w.MustAsk(text)
	before := w.Spent()
	_, err := w.AskSQL(text + " HAVING COUNT(*) > 0 ORDER BY SUM(cost)")
	var over *ledger.BudgetError
	if !errors.As(err, &over) || !curatortest.ContainsAll(err.Error(), "dp.delta", "IN (...)") || w.Spent() != before {
		t.Errorf("more delta than there is: %v; spent %v of %v", err, w.Spent(), before)
	}
	// Pure budgets have no delta at all.
	dataset := strings.Replace(hospital.Dataset("hospital", "data", curatortest.Plenty),
		"ward: {type: text, keys: [emergency, internal, surgery]}",
		"ward: {type: text, keys: private}", 1)
	if _, err := curatortest.Build(t, hospital.New(20, 1), dataset, 1).AskSQL(text); !errors.As(err, &refused) {
		t.Errorf("a pure budget: %v", err)
	}
}
