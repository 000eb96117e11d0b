package curator_test

import (
	"encoding/json"
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

const bySex = "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex"

// A query around an answer is free, and computes with what was released.
func TestAround(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	inner := w.MustAsk(bySex)
	total := 0.0
	for _, row := range inner.Rows {
		total += curatortest.AsFloat(row[1])
	}
	before := w.RecordCount()
	a := w.MustAsk("SELECT sum(n) AS people, max(sex) AS last FROM (" + bySex + ") AS t")
	if !a.Receipt.Free || a.Cost != (dp.Cost{}) || w.RecordCount() != before {
		t.Errorf("cost %v, receipt %+v", a.Cost, a.Receipt)
	}
	if curatortest.AsFloat(a.Rows[0][0]) != total || a.Rows[0][1] != "X" || a.Errors != nil ||
		!curatortest.ContainsAll(strings.Join(a.Notes, " "), "error bars are known for the answers inside") {
		t.Errorf("%v of %v; errors %v, notes %v", a.Rows, inner.Rows, a.Errors, a.Notes)
	}
	if c := a.Columns; c[0].Name != "people" || !c[0].Noisy || c[1].Noisy || c[1].Kind != "text" {
		t.Errorf("columns %+v", c)
	}
	// Names that are there twice, and names without a name.
	twice := w.MustAsk("SELECT * FROM (SELECT COUNT(*), COUNT(*), COUNT(*) + 1, COUNT(*) + 2, sex FROM patients GROUP BY sex) AS t " +
		"ORDER BY 5 DESC")
	if len(twice.Columns) != 5 || len(twice.Rows) != 3 || twice.Rows[0][4] != "X" || twice.Rows[0][0] != twice.Rows[0][1] {
		t.Errorf("%+v: %v", twice.Columns, twice.Rows)
	}
}

// What is wrong with the query around is known before anything is paid.
func TestAroundIsCheckedFirst(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	r := w.Record()
	for _, sql := range []string{
		"SELECT nothing FROM (" + bySex + ") AS t",
		"SELECT sum(sex) FROM (" + bySex + ") AS t",
		"SELECT pg_sleep(n) FROM (" + bySex + ") AS t",
		"SELECT * FROM (" + bySex + ") AS t, patients",
		"SELECT * FROM (" + bySex + ") AS t, released_7",
		"SELECT random() FROM (" + bySex + ") AS t",
	} {
		var refused *api.Refusal
		if _, err := w.AskSQL(sql); !errors.As(err, &refused) {
			t.Errorf("%s: %v", sql, err)
		}
		if _, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: sql}); !errors.As(err, &refused) {
			t.Errorf("explain %s: %v", sql, err)
		}
	}
	if got := r.Take(); len(got) > 0 {
		t.Errorf("refused questions called %v", got)
	}
}

// Several questions are charged once, in equal parts, all or nothing, and are remembered.
func TestSeveralQuestions(t *testing.T) {
	for _, budget := range []string{curatortest.Plenty, curatortest.Rich} {
		w := curatortest.New(t, budget)
		r := w.Record()
		const both = "SELECT a.n, b.n FROM (SELECT COUNT(*) AS n FROM patients) AS a, (SELECT COUNT(*) AS n FROM visits) AS b"
		a := w.MustAsk(both)
		want := []string{"version", "recall", "charge", "run", "run", "version", "recall", "keep", "balances"}
		if calls := r.Take(); !slices.Equal(calls, want) {
			t.Errorf("the order is %v", calls)
		}
		if len(r.Charges) != 1 || a.Cost.Epsilon != curatortest.Amount("0.1") && a.Cost.Epsilon != curatortest.Amount("0.1")-1 ||
			r.Charges[0].Cost.Rho != w.Spent().Rho {
			t.Errorf("charged %v; cost %v", r.Charges, a.Cost)
		}
		same := func(sql string, free bool) *api.Answer {
			t.Helper()
			got, err := w.AskSQL(sql)
			w.Check(err)
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
		w.Check(err)
		if len(e.Questions) != 2 || !e.Questions[0].Known || e.Questions[1].Known || e.Known || e.Pay.Rho >= e.Cost.Rho {
			t.Errorf("explained as %+v", e)
		}
		spent := w.Spent()
		half := same(other, false)
		if half.Rows[0][0] != a.Rows[0][0] || half.Cost.Epsilon > curatortest.Amount("0.08") || half.Cost != e.Pay ||
			w.Spent().Sub(spent).Rho != e.Pay.Rho {
			t.Errorf("%v for %v; explained %v", half.Rows, half.Cost, e.Pay)
		}
		// In another process the pair is found as a pair, and what was bought alone is found alone.
		w.Reopen()
		w.Record()
		if again := same(both, true); curatortest.Numbers(again) != curatortest.Numbers(a) {
			t.Errorf("%v, and before %v", again.Rows, a.Rows)
		}
		if again := same(other, true); curatortest.Numbers(again) != curatortest.Numbers(half) {
			t.Errorf("%v, and before %v", again.Rows, half.Rows)
		}
		// One of them by itself, at its share of the price.
		if budget == curatortest.Plenty {
			if alone, err := w.AskAs("ben", "SELECT COUNT(*) FROM visits", curatortest.Amount("0.1")/2); err != nil ||
				!alone.Receipt.Free ||
				alone.Rows[0][0] != a.Rows[0][1] {
				t.Errorf("%+v, %v", alone, err)
			}
		}
	}
	w := curatortest.New(t, curatortest.Pure)
	w.Check(func() error {
		_, err := w.AskAs("ana", "SELECT COUNT(*) FROM visits", curatortest.Amount("0.95"))
		return err
	}())
	spent := w.Spent()
	var over *ledger.BudgetError
	if _, err := w.AskSQL("SELECT COUNT(*) FROM patients UNION ALL SELECT COUNT(age) FROM patients WHERE age > 3"); !errors.As(err,
		&over) ||
		w.Spent() != spent {
		t.Errorf("got %v, spent %v", err, w.Spent())
	}
}

// A query around that fails while it runs leaves the answers inside paid for and free.
func TestAroundFailsLate(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	const sql = "SELECT CAST(n + 9e18 AS integer) FROM (SELECT COUNT(*) AS n FROM patients) AS t"
	_, err := w.AskSQL(sql)
	if refused := new(api.Refusal); errors.As(err, &refused) {
		t.Skipf("refused before: %v", err)
	}
	if err == nil || !curatortest.ContainsAll(err.Error(), "stay free") {
		t.Errorf("got %v", err)
	}
	if a := w.MustAsk("SELECT COUNT(*) AS n FROM patients"); !a.Receipt.Free {
		t.Error("what was paid for was lost")
	}
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
	w := curatortest.New(t, curatortest.Plenty)
	a := w.MustAsk("SELECT sex, zip, COUNT(*), SUM(cost), AVG(age) FROM patients WHERE age > 200 GROUP BY sex, zip")
	if len(a.Rows) != 15 {
		t.Errorf("%d rows; want one for each of 3 x 5 keys", len(a.Rows))
	}
	checkErrors(t, a)
}

// A choice finds the best groups where they are far ahead, shows no score, and is remembered.
func TestChoice(t *testing.T) {
	h := hospital.New(2000, 1)
	for i := range h.Patients {
		h.Patients[i].ZIP = []string{"1004C", "1004C", "1004C", "1004C", "1002B", "1002B", "1002B", "1001A", "1001A", "1003A"}[i%10]
	}
	for _, budget := range []string{curatortest.Plenty, curatortest.Rich} {
		w := curatortest.Build(t, h, hospital.Dataset("hospital", "data", budget), 5)
		for sql, want := range map[string]string{
			"SELECT zip FROM patients GROUP BY zip ORDER BY COUNT(*) DESC LIMIT 2": "1004C|1002B",
			"SELECT zip FROM patients GROUP BY zip ORDER BY COUNT(*) LIMIT 1":      "1005D",
		} {
			a, err := w.AskAs("ana", sql, dp.One)
			w.Check(err)
			if lines(a) != want || a.Columns[0].Noisy {
				t.Errorf("%s: %s", sql, lines(a))
			}
			if again, err := w.AskAs("ana", sql, dp.One); err != nil || !again.Receipt.Free || lines(again) != want {
				t.Errorf("again: %v, %v", again, err)
			}
			if a.Cost.Epsilon > dp.One || a.Cost.Epsilon < dp.One-10 && budget == curatortest.Plenty {
				t.Errorf("%s: cost %v", sql, a.Cost)
			}
		}
	}
}

// A choice of very many groups is refused and not begun.
func TestChoiceOfTooMany(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	const keys = "age, sex, zip, diagnosis, smoker"
	sql := "SELECT " + keys + " FROM patients GROUP BY " + keys + " ORDER BY COUNT(*) DESC LIMIT "
	if _, err := w.AskSQL(sql + "10000"); err == nil || !curatortest.ContainsAll(err.Error(), "takes too long") {
		t.Errorf("got %v", err)
	}
	if a, err := w.AskAs("ana", sql+"20", dp.One); err != nil || len(a.Rows) != 20 {
		t.Errorf("got %v", err)
	}
}

// withFloors is a hospital beside a public table.
func withFloors(t *testing.T, budget string) *curatortest.World {
	t.Helper()
	return curatortest.Build(t, hospital.New(200, 1), hospital.Dataset("hospital", "data", budget)+`      floors:
        public: true
        unique: ward
        columns:
          ward:   {type: text}
          floor:  {type: integer}
          price:  {type: decimal, granularity: 0.25, bounds: [0, 100]}
          opened: {type: date}
          closes: {type: timestamp}
`, 1, map[string]string{"data/floors.csv": "ward,floor,price,opened,closes\nsurgery,2,1.5,2001-02-03,\n" +
		"internal,1,2.25,1999-12-31,2030-01-01 12:30:00\nemergency,,900,,\n"})
}

// Questions about public tables alone are answered as they are, and nothing is charged for them.
func TestPublicTablesAreFree(t *testing.T) {
	w := withFloors(t, curatortest.Plenty)
	r := w.Record()
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
		a := w.MustAsk(sql)
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
	if slices.ContainsFunc(r.Take(), func(call string) bool { return call == "charge" || call == "run" || call == "keep" }) {
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
		if _, err := w.AskSQL(sql); !errors.As(err, &refused) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// A public table stands beside answers too, and costs nothing there.
func TestPublicTablesBesideAnswers(t *testing.T) {
	w := withFloors(t, curatortest.Plenty)
	const inner = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
	alone := w.MustAsk(inner)
	joined := w.MustAsk("SELECT t.ward, n, floor FROM (" + inner + ") t JOIN floors USING (ward) ORDER BY 1")
	if !joined.Receipt.Free || len(joined.Rows) != 3 || fmt.Sprint(joined.Rows[1][:2]) != fmt.Sprint(alone.Rows[slices.IndexFunc(alone.Rows,
		func(row []any) bool { return row[0] == "internal" })]) || fmt.Sprint(joined.Rows[2][2]) != "2" {
		t.Errorf("%v of %v", joined.Rows, alone.Rows)
	}
	// A query that is named by a question, and around it.
	both := w.MustAsk("WITH f AS (SELECT ward, floor FROM floors WHERE floor > 0) SELECT t.n, f.floor FROM (SELECT ward, COUNT(*) AS n " +
		"FROM visits JOIN f USING (ward) GROUP BY ward) t JOIN f USING (ward)")
	if len(both.Rows) != 2 {
		t.Errorf("%v", both.Rows)
	}
}

// What a dashboard asks to show the largest series: an answer chooses among the groups of another.
func TestSeriesLimit(t *testing.T) {
	for _, budget := range []string{curatortest.Plenty, curatortest.Rich} {
		w := withFloors(t, budget)
		const inner = "SELECT ward AS ward__, COUNT(*) AS mme_inner__ FROM visits GROUP BY ward ORDER BY mme_inner__ DESC LIMIT 2"
		const series = "SELECT ward, cost > 500 AS dear, SUM(cost) AS s FROM visits JOIN (" + inner + ") AS anon_1 ON ward = ward__ " +
			"GROUP BY ward, dear ORDER BY s DESC LIMIT 10000"
		r := w.Record()
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: series})
		w.Check(err)
		r.Take()
		a := w.MustAsk(series)
		if calls := r.Take(); len(r.Charges) != 1 || !slices.Equal(calls,
			[]string{"version", "recall", "charge", "run", "run", "version", "recall", "keep", "balances", "recall"}) {
			t.Errorf("the order is %v", calls)
		}
		if a.Cost != e.Pay || len(e.Questions) != 2 || e.Questions[0].Cost.Add(e.Questions[1].Cost) != r.Charges[0].Cost {
			t.Errorf("cost %v, explained %+v, charged %v", a.Cost, e, r.Charges)
		}
		// The inner answer is kept, and so are all groups of the outer one.
		share := e.Pay.Epsilon / 3
		top, err := w.AskAs("ana", inner, share)
		w.Check(err)
		whole, err := w.AskAs("ana", "SELECT ward, cost > 500 AS dear, SUM(cost) AS s FROM visits GROUP BY ward, dear", share)
		w.Check(err)
		if !top.Receipt.Free || !whole.Receipt.Free || len(top.Rows) != 2 || len(a.Rows) != 4 {
			t.Fatalf("%+v %+v %v", top.Receipt, whole.Receipt, a.Rows)
		}
		for i, row := range a.Rows {
			if row[0] != top.Rows[0][0] && row[0] != top.Rows[1][0] || a.Errors[i][2] == nil ||
				!slices.ContainsFunc(whole.Rows, func(all []any) bool { return fmt.Sprint(all) == fmt.Sprint(row) }) {
				t.Errorf("%v, %v; of %v by %v", row, a.Errors[i], whole.Rows, top.Rows)
			}
		}
		if !strings.Contains(strings.Join(a.Notes, "; "), "another noisy answer chose") {
			t.Errorf("notes %v", a.Notes)
		}
		listed := w.MustAsk("SELECT ward, cost > 500 AS dear, SUM(cost) AS s FROM visits WHERE ward IN (SELECT ward FROM visits " +
			"GROUP BY ward ORDER BY COUNT(*) DESC, ward LIMIT 1) GROUP BY ward, dear")
		if len(listed.Rows) != 2 || listed.Rows[0][0] != listed.Rows[1][0] {
			t.Errorf("%v", listed.Rows)
		}
		// Keys alone are not exact where such an answer chooses among them.
		keys := w.MustAsk("SELECT ward FROM visits WHERE ward IN (SELECT ward FROM visits GROUP BY ward HAVING COUNT(*) > 1) GROUP BY ward")
		if notes := strings.Join(keys.Notes, "; "); strings.Contains(notes, "exact") || !strings.Contains(notes, "noisy") {
			t.Errorf("notes %q", notes)
		}
	}
}
