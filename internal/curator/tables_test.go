package curator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/hospital"
	"github.com/discreet-dp/discreet/policy"
)

// withFloors is a hospital beside a public table.
func withFloors(t *testing.T, budget string) *world {
	t.Helper()
	w := &world{t: t, dir: inMemory(t)}
	w.check(hospital.New(200, 1).Write(filepath.Join(w.dir, "data")))
	w.check(os.WriteFile(filepath.Join(w.dir, "data", "floors.csv"),
		[]byte("ward,floor,price,opened,closes\nsurgery,2,1.5,2001-02-03,\ninternal,1,2.25,1999-12-31,2030-01-01 12:30:00\n"+
			"emergency,,900,,\n"), 0o600))
	path := filepath.Join(w.dir, "policy.yaml")
	w.check(os.WriteFile(path, []byte("datasets:\n"+hospital.Dataset("hospital", "data", budget)+`      floors:
        public: true
        unique: ward
        columns:
          ward:   {type: text}
          floor:  {type: integer}
          price:  {type: decimal, granularity: 0.25, bounds: [0, 100]}
          opened: {type: date}
          closes: {type: timestamp}
`), 0o600))
	p, err := policy.Load(path)
	w.check(err)
	w.dataset = p.Datasets["hospital"]
	w.data, err = duckdb.Open(ctx, w.dataset)
	w.check(err)
	t.Cleanup(func() { w.data.Close() })
	w.openBooks()
	w.Curator = New(w.dataset, w.data, w.books, seeded(1))
	return w
}

// Questions about public tables alone are answered as they are, and nothing is charged for them.
func TestPublicTablesAreFree(t *testing.T) {
	w := withFloors(t, plenty)
	r := w.record()
	for sql, want := range map[string]string{
		"SELECT * FROM floors ORDER BY ward": "[[emergency <nil> 100.00 <nil> <nil>] [internal 1 2.25 1999-12-31 2030-01-01 12:30:00] " +
			"[surgery 2 1.50 2001-02-03 <nil>]]",
		"SELECT count(*), sum(floor), max(price), min(opened) FROM floors":                            "[[3 3 100.00 1999-12-31]]",
		"SELECT ward FROM floors WHERE floor IS NULL":                                                 "[[emergency]]",
		"SELECT DISTINCT a.floor > 1 FROM floors a, floors b WHERE a.floor IS NOT NULL ORDER BY 1":    "[[false] [true]]",
		"SELECT ward, rank() OVER (ORDER BY price) FROM floors ORDER BY 2 LIMIT 1":                    "[[surgery 1]]",
		"WITH f AS (SELECT * FROM floors) SELECT f.ward FROM f JOIN floors USING (floor) ORDER BY 1":  "[[internal] [surgery]]",
		"SELECT ward FROM floors UNION ALL SELECT ward FROM floors ORDER BY 1 LIMIT 1":                "[[emergency]]",
		"SELECT floor, count(*) FROM floors GROUP BY ROLLUP (floor) ORDER BY 1 NULLS LAST, 2 LIMIT 1": "[[1 1]]",
	} {
		a := w.mustAsk(sql)
		if got := fmt.Sprint(a.Rows); got != want || a.Cost != (dp.Cost{}) || !a.Receipt.Free || a.Receipt.Sequence != 0 ||
			len(a.Notes) > 0 {
			t.Errorf("%s: %s; want %s; %+v %v", sql, got, want, a.Receipt, a.Notes)
		}
		for _, c := range a.Columns {
			if c.Noisy || c.Approximate {
				t.Errorf("%s: %+v", sql, c)
			}
		}
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: sql})
		if err != nil || e.Pay != (dp.Cost{}) || !e.Known || len(e.Questions) != 0 {
			t.Errorf("%s: explained as %+v, %v", sql, e, err)
		}
	}
	if slices.ContainsFunc(r.take(), func(call string) bool { return call == "charge" || call == "run" || call == "keep" }) {
		t.Error("something was charged or run")
	}
	for _, sql := range []string{
		"SELECT * FROM floors, visits",
		"SELECT * FROM floors WHERE ward IN (SELECT ward FROM visits)",
		"SELECT (SELECT max(cost) FROM visits v WHERE v.ward = f.ward) FROM floors f",
		"SELECT * FROM floors f WHERE EXISTS (SELECT 1 FROM visits v WHERE v.ward = f.ward)",
		"SELECT ward FROM floors UNION SELECT ward FROM visits",
		"SELECT read_text('/etc/hostname') FROM floors",
		"SELECT * FROM released_public_0",
	} {
		var refused *api.Refusal
		if _, err := w.ask(sql); !errors.As(err, &refused) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// A public table stands beside answers too, and costs nothing there.
func TestPublicTablesBesideAnswers(t *testing.T) {
	w := withFloors(t, plenty)
	const inner = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
	alone := w.mustAsk(inner)
	joined := w.mustAsk("SELECT t.ward, n, floor FROM (" + inner + ") t JOIN floors USING (ward) ORDER BY 1")
	if !joined.Receipt.Free || len(joined.Rows) != 3 || fmt.Sprint(joined.Rows[1][:2]) != fmt.Sprint(alone.Rows[slices.IndexFunc(alone.Rows,
		func(row []any) bool { return row[0] == "internal" })]) || fmt.Sprint(joined.Rows[2][2]) != "2" {
		t.Errorf("%v of %v", joined.Rows, alone.Rows)
	}
	// A query that is named by a question, and around it.
	both := w.mustAsk("WITH f AS (SELECT ward, floor FROM floors WHERE floor > 0) SELECT t.n, f.floor FROM (SELECT ward, COUNT(*) AS n " +
		"FROM visits JOIN f USING (ward) GROUP BY ward) t JOIN f USING (ward)")
	if len(both.Rows) != 2 {
		t.Errorf("%v", both.Rows)
	}
}

// What a dashboard asks to show the largest series: an answer chooses among the groups of another.
func TestSeriesLimit(t *testing.T) {
	for _, budget := range []string{plenty, rich} {
		w := withFloors(t, budget)
		const inner = "SELECT ward AS ward__, COUNT(*) AS mme_inner__ FROM visits GROUP BY ward ORDER BY mme_inner__ DESC LIMIT 2"
		const series = "SELECT ward, cost > 500 AS dear, SUM(cost) AS s FROM visits JOIN (" + inner + ") AS anon_1 ON ward = ward__ " +
			"GROUP BY ward, dear ORDER BY s DESC LIMIT 10000"
		r := w.record()
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: series})
		w.check(err)
		r.take()
		a := w.mustAsk(series)
		if calls := r.take(); len(r.charges) != 1 || !slices.Equal(calls,
			[]string{"version", "recall", "charge", "run", "run", "version", "recall", "keep", "balances"}) {
			t.Errorf("the order is %v", calls)
		}
		if a.Cost != e.Pay || len(e.Questions) != 2 || e.Questions[0].Cost.Add(e.Questions[1].Cost) != r.charges[0].Cost {
			t.Errorf("cost %v, explained %+v, charged %v", a.Cost, e, r.charges)
		}
		// The inner answer is kept, and so are all groups of the outer one.
		share := e.Pay.Epsilon / 3
		top, err := w.askAs("ana", inner, share)
		w.check(err)
		whole, err := w.askAs("ana", "SELECT ward, cost > 500 AS dear, SUM(cost) AS s FROM visits GROUP BY ward, dear", share)
		w.check(err)
		if !top.Receipt.Free || !whole.Receipt.Free || len(top.Rows) != 2 || len(a.Rows) != 4 {
			t.Fatalf("%+v %+v %v", top.Receipt, whole.Receipt, a.Rows)
		}
		for i, row := range a.Rows {
			if row[0] != top.Rows[0][0] && row[0] != top.Rows[1][0] || a.Errors[i][2] == nil ||
				!slices.ContainsFunc(whole.Rows, func(all []any) bool { return fmt.Sprint(all) == fmt.Sprint(row) }) {
				t.Errorf("%v, %v; of %v by %v", row, a.Errors[i], whole.Rows, top.Rows)
			}
		}
		if !strings.Contains(strings.Join(a.Notes, "; "), "chosen by another noisy answer") {
			t.Errorf("notes %v", a.Notes)
		}
		listed := w.mustAsk("SELECT ward, cost > 500 AS dear, SUM(cost) AS s FROM visits WHERE ward IN (SELECT ward FROM visits " +
			"GROUP BY ward ORDER BY COUNT(*) DESC, ward LIMIT 1) GROUP BY ward, dear")
		if len(listed.Rows) != 2 || listed.Rows[0][0] != listed.Rows[1][0] {
			t.Errorf("%v", listed.Rows)
		}
		// Keys alone are not exact where such an answer chooses among them.
		keys := w.mustAsk("SELECT ward FROM visits WHERE ward IN (SELECT ward FROM visits GROUP BY ward HAVING COUNT(*) > 1) GROUP BY ward")
		if notes := strings.Join(keys.Notes, "; "); strings.Contains(notes, "exact") || !strings.Contains(notes, "noisy") {
			t.Errorf("notes %q", notes)
		}
	}
}
