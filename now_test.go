package discreet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// TestNow: the time is a constant of a question. At another moment it is another question, which is
// charged for and not answered from what is remembered of the first, also where it was described
// before; with the constant in its place it is the same.
func TestNow(t *testing.T) {
	db := open(t, deployment(t))
	first := time.Date(2024, 6, 1, 12, 0, 0, 123456789, time.UTC)
	ask := func(sql string, now time.Time) *api.Answer {
		t.Helper()
		q := api.Question{Dataset: "north", Analyst: "ana", SQL: sql, Now: now}
		if _, err := db.Describe(background, q); err != nil {
			t.Fatal(sql, err)
		}
		if q.Now = q.Now.Add(time.Nanosecond); now.IsZero() {
			q.Now = now
		}
		e, err := db.Explain(background, q)
		if err != nil {
			t.Fatal(sql, err)
		}
		a, err := db.Ask(background, q)
		if err != nil {
			t.Fatal(sql, err)
		}
		if e.Known != a.Receipt.Free || e.Now != a.Receipt.Now && !now.IsZero() {
			t.Errorf("%s: known %v and free %v, now %q and %q", sql, e.Known, a.Receipt.Free, e.Now, a.Receipt.Now)
		}
		return a
	}
	const week = "SELECT COUNT(*) FROM visits WHERE day > now() - INTERVAL '7 days'"
	a := ask(week, first)
	if a.Receipt.Free || a.Receipt.Now != "2024-06-01 12:00:00.123456" || !strings.Contains(strings.Join(a.Notes, "\n"), a.Receipt.Now) {
		t.Errorf("%+v %v", a.Receipt, a.Notes)
	}
	for _, same := range []string{week, strings.Replace(week, "now()", "CURRENT_TIMESTAMP", 1),
		strings.Replace(week, "now()", "pg_catalog.now()", 1), strings.Replace(week, "now()", "LOCALTIMESTAMP(6)", 1),
		strings.Replace(week, "now()", "TIMESTAMP '"+a.Receipt.Now+"'", 1)} {
		if b := ask(same, first); !b.Receipt.Free || b.Rows[0][0] != a.Rows[0][0] {
			t.Errorf("%s: %+v", same, b.Receipt)
		}
	}
	if b := ask(week, first.Add(time.Microsecond)); b.Receipt.Free {
		t.Error("a microsecond later it is the same")
	}
	q := api.Question{Dataset: "north", Analyst: "ana", SQL: week, Now: first.Add(time.Hour)}
	if _, err := db.Describe(background, q); err != nil {
		t.Fatal(err)
	}
	q.Now = first.Add(2 * time.Hour) // what was described is not what is asked
	if b, err := db.Ask(background, q); err != nil || b.Receipt.Free || b.Receipt.Now != "2024-06-01 14:00:00.123456" {
		t.Error(b.Receipt, err)
	}
	if b := ask(week, time.Time{}); b.Receipt.Free || b.Receipt.Now < "2025" {
		t.Errorf("%+v", b.Receipt)
	}
	const month = "SELECT COUNT(*) FROM visits WHERE day >= CURRENT_DATE - 30"
	today := ask(month, first)
	if b := ask(month, first.Add(6*time.Hour)); !b.Receipt.Free || today.Receipt.Free {
		t.Error("a day is the same until midnight")
	}
	if b := ask(month, first.Add(12*time.Hour)); b.Receipt.Free {
		t.Error("the day has not changed at midnight")
	}
	if b := ask(people, first); b.Receipt.Now != "" || len(b.Notes) > 0 {
		t.Errorf("it does not ask for the time: %+v %v", b.Receipt, b.Notes)
	}
	years := ask("SELECT COUNT(*) FROM visits WHERE extract(year from age(day)) >= 1", first)
	if b := ask("SELECT COUNT(*) FROM visits WHERE extract(year from age(DATE '2024-06-01', day)) >= 1", first); !b.Receipt.Free ||
		years.Receipt.Now == "" {
		t.Error("the age is not that of today")
	}
	for _, sql := range []string{"SELECT COUNT(*) FROM visits WHERE day > now(1)", "SELECT COUNT(*) FROM patients WHERE age > random()",
		"SELECT COUNT(*) FROM visits WHERE CURRENT_TIME IS NULL", "SELECT COUNT(*) FROM visits WHERE day > other.now()"} {
		if _, err := db.Ask(background, api.Question{Dataset: "north", Analyst: "ana", SQL: sql}); err == nil {
			t.Errorf("%s is answered", sql)
		}
	}
}

// TestNowByName: a question that is sent again under its name is the one that was charged, whatever
// time it is by then.
func TestNowByName(t *testing.T) {
	db := open(t, deployment(t))
	q := api.Question{Dataset: "north", Analyst: "ana", Request: "r1",
		SQL: "SELECT COUNT(*) FROM visits WHERE day > now() - INTERVAL '7 days'"}
	first, err := db.Ask(background, q)
	if err != nil || first.Receipt.Free {
		t.Fatal(first, err)
	}
	again, err := db.Ask(background, q)
	if err != nil || !again.Receipt.Free || again.Receipt.Now != first.Receipt.Now || again.Rows[0][0] != first.Rows[0][0] {
		t.Errorf("%+v, %v", again, err)
	}
	q.Request = "r2" // another name is another question
	other, err := db.Ask(background, q)
	if err != nil || other.Receipt.Free || other.Receipt.Now == first.Receipt.Now {
		t.Errorf("%+v, %v", other, err)
	}
	q.Request, q.Epsilon = "r3", dp.One*1000 // what was refused has no moment
	if _, err := db.Ask(background, q); err == nil {
		t.Fatal("too much was paid")
	}
	q.Epsilon, q.Now = 0, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	if later, err := db.Ask(background, q); err != nil || !strings.HasPrefix(later.Receipt.Now, "2030-01-01") {
		t.Errorf("%+v, %v", later, err)
	}
}
