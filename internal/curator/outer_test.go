package curator

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

const bySex = "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex"

// A query around an answer is free, and computes with what was released.
func TestAround(t *testing.T) {
	w := newWorld(t, plenty)
	inner := w.mustAsk(bySex)
	total := 0.0
	for _, row := range inner.Rows {
		total += asFloat(row[1])
	}
	before := w.records()
	a := w.mustAsk("SELECT sum(n) AS people, max(sex) AS last FROM (" + bySex + ") AS t")
	if !a.Receipt.Free || a.Cost != (dp.Cost{}) || w.records() != before {
		t.Errorf("cost %v, receipt %+v", a.Cost, a.Receipt)
	}
	if asFloat(a.Rows[0][0]) != total || a.Rows[0][1] != "X" || a.Errors != nil ||
		!contains(strings.Join(a.Notes, " "), "error bars are known for the answers inside") {
		t.Errorf("%v of %v; errors %v, notes %v", a.Rows, inner.Rows, a.Errors, a.Notes)
	}
	if c := a.Columns; c[0].Name != "people" || !c[0].Noisy || c[1].Noisy || c[1].Kind != "text" {
		t.Errorf("columns %+v", c)
	}
	// Names that are there twice, and names without a name.
	twice := w.mustAsk("SELECT * FROM (SELECT COUNT(*), COUNT(*), COUNT(*) + 1, COUNT(*) + 2, sex FROM patients GROUP BY sex) AS t " +
		"ORDER BY 5 DESC")
	if len(twice.Columns) != 5 || len(twice.Rows) != 3 || twice.Rows[0][4] != "X" || twice.Rows[0][0] != twice.Rows[0][1] {
		t.Errorf("%+v: %v", twice.Columns, twice.Rows)
	}
}

// What is wrong with the query around is known before anything is paid.
func TestAroundIsCheckedFirst(t *testing.T) {
	w := newWorld(t, plenty)
	r := w.record()
	for _, sql := range []string{
		"SELECT nothing FROM (" + bySex + ") AS t",
		"SELECT sum(sex) FROM (" + bySex + ") AS t",
		"SELECT pg_sleep(n) FROM (" + bySex + ") AS t",
		"SELECT * FROM (" + bySex + ") AS t, patients",
		"SELECT * FROM (" + bySex + ") AS t, released_7",
		"SELECT random() FROM (" + bySex + ") AS t",
	} {
		var refused *api.Refusal
		if _, err := w.ask(sql); !errors.As(err, &refused) {
			t.Errorf("%s: %v", sql, err)
		}
		if _, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: sql}); !errors.As(err, &refused) {
			t.Errorf("explain %s: %v", sql, err)
		}
	}
	if got := r.take(); len(got) > 0 {
		t.Errorf("refused questions called %v", got)
	}
}

// Several questions are charged once, in equal parts, all or nothing, and are remembered.
func TestSeveralQuestions(t *testing.T) {
	for _, budget := range []string{plenty, rich} {
		w := newWorld(t, budget)
		r := w.record()
		const both = "SELECT a.n, b.n FROM (SELECT COUNT(*) AS n FROM patients) AS a, (SELECT COUNT(*) AS n FROM visits) AS b"
		a := w.mustAsk(both)
		want := []string{"version", "recall", "charge", "run", "run", "version", "recall", "keep", "balances"}
		if calls := r.take(); !slices.Equal(calls, want) {
			t.Errorf("the order is %v", calls)
		}
		if len(r.charges) != 1 || a.Cost.Epsilon != amount("0.1") && a.Cost.Epsilon != amount("0.1")-1 ||
			r.charges[0].Cost.Rho != w.spent().Rho {
			t.Errorf("charged %v; cost %v", r.charges, a.Cost)
		}
		same := func(sql string, free bool) *api.Answer {
			t.Helper()
			got, err := w.ask(sql)
			w.check(err)
			if got.Receipt.Free != free || (got.Cost == dp.Cost{}) != free {
				t.Errorf("%s: receipt %+v, cost %v", sql, got.Receipt, got.Cost)
			}
			return got
		}
		// Another query around the same two.
		turned := same("WITH v AS (SELECT COUNT(*) AS n FROM visits), p AS (SELECT COUNT(*) AS n FROM patients) SELECT v.n, "+
			"p.n FROM v, p", true)
		if turned.Rows[0][0] != a.Rows[0][1] || turned.Rows[0][1] != a.Rows[0][0] {
			t.Errorf("%v, and before %v", turned.Rows, a.Rows)
		}
		// Two of which one is known: half is paid.
		const other = "SELECT * FROM (SELECT COUNT(*) AS n FROM patients) AS a, (SELECT SUM(cost) AS s FROM visits) AS b"
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: other})
		w.check(err)
		if len(e.Questions) != 2 || !e.Questions[0].Known || e.Questions[1].Known || e.Known || e.Pay.Rho >= e.Cost.Rho {
			t.Errorf("explained as %+v", e)
		}
		spent := w.spent()
		half := same(other, false)
		if half.Rows[0][0] != a.Rows[0][0] || half.Cost.Epsilon > amount("0.08") || half.Cost != e.Pay ||
			w.spent().Sub(spent).Rho != e.Pay.Rho {
			t.Errorf("%v for %v; explained %v", half.Rows, half.Cost, e.Pay)
		}
		// In another process the pair is found as a pair, and what was bought alone is found alone.
		w.reopen()
		w.record()
		if again := same(both, true); numbers(again) != numbers(a) {
			t.Errorf("%v, and before %v", again.Rows, a.Rows)
		}
		if again := same(other, true); numbers(again) != numbers(half) {
			t.Errorf("%v, and before %v", again.Rows, half.Rows)
		}
		// One of them by itself, at its share of the price.
		if budget == plenty {
			if alone, err := w.askAs("ben", "SELECT COUNT(*) FROM visits", amount("0.1")/2); err != nil || !alone.Receipt.Free ||
				alone.Rows[0][0] != a.Rows[0][1] {
				t.Errorf("%+v, %v", alone, err)
			}
		}
	}
	w := newWorld(t, pure)
	w.check(func() error { _, err := w.askAs("ana", "SELECT COUNT(*) FROM visits", amount("0.95")); return err }())
	spent := w.spent()
	var over *ledger.BudgetError
	if _, err := w.ask("SELECT COUNT(*) FROM patients UNION ALL SELECT COUNT(age) FROM patients WHERE age > 3"); !errors.As(err, &over) ||
		w.spent() != spent {
		t.Errorf("got %v, spent %v", err, w.spent())
	}
}

// A query around that fails while it runs leaves the answers inside paid for and free.
func TestAroundFailsLate(t *testing.T) {
	w := newWorld(t, plenty)
	const sql = "SELECT CAST(n + 9e18 AS integer) FROM (SELECT COUNT(*) AS n FROM patients) AS t"
	_, err := w.ask(sql)
	if refused := new(api.Refusal); errors.As(err, &refused) {
		t.Skipf("refused before: %v", err)
	}
	if err == nil || !contains(err.Error(), "stay free") {
		t.Errorf("got %v", err)
	}
	if a := w.mustAsk("SELECT COUNT(*) AS n FROM patients"); !a.Receipt.Free {
		t.Error("what was paid for was lost")
	}
}
