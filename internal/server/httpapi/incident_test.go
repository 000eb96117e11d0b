package httpapi

import (
	"database/sql"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/hospital"
	"github.com/discreet-dp/discreet/internal/server/admission"
)

// slow is a world with a dataset whose questions about s take DuckDB many seconds, and a dispatcher
// that has half of one.
func slow(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	furnish(t, dir, hospital.New(people, 1), policyText("{epsilon: 10}")+`  heavy:
    engine: duckdb
    source: heavy.duckdb
    unit: people.pid
    budget: {epsilon: 10, per_query: {default: 0.1}}
    analysts: {ana: {}, ben: {}}
    release: tick
    tables: {people: {unique: pid, columns: {s: {type: text}}}}
`)
	path := filepath.Join(dir, "heavy.duckdb")
	db, err := sql.Open("duckdb", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err :=
		db.Exec(
			`CREATE TABLE people AS SELECT range AS pid, md5(CAST(range AS VARCHAR)) || md5(CAST(range + 1 AS VARCHAR)) AS s FROM range(700000)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	w := newWorldIn(t, dir)
	w.want(w.call("POST", "/v1/query", "ana", short), 200) // opens the data
	d := admission.New(w.db, admission.Options{Rate: 100_000_000, Timeout: 500 * time.Millisecond})
	w.door = newDoor(Options{Dispatcher: d, Users: w.users, Version: "1.2.3", Log: slog.New(slog.NewTextHandler(w.log, nil))})
	w.server.Close()
	w.server = httptest.NewServer(w.door.handler())
	t.Cleanup(w.server.Close)
	return w
}

const short = `{"dataset":"heavy","sql":"SELECT COUNT(*) FROM people"}`

// long is a question that takes long, another one for every n.
func long(n int) string {
	var like []string
	for i := range 60 {
		like = append(like, fmt.Sprintf("s LIKE '%%%x%%a%%b%%c%%d%%%x%%e%%f%%0%%1%%2%%3%%4%%5%%6%%7%%8%%9%%%d%%'", i%16, 15-i%16, n+100*i))
	}
	return fmt.Sprintf(`{"dataset":"heavy","sql":%q}`, "SELECT COUNT(*) FROM people WHERE "+strings.Join(like, " OR "))
}

// The owner's limit of time stops DuckDB after the charge. That is told once; from then on the
// analyst gets what was paid for and nothing new, others go on, and the owner sees it.
func TestIncident(t *testing.T) {
	if testing.Short() {
		t.Skip("the questions take seconds")
	}
	w := slow(t)
	if got := w.want(w.call("POST", "/v1/query", "ana", long(1)), 504); !strings.Contains(got.body, "the server's limit of time") ||
		!strings.Contains(got.body, "no new answers until its owner has released it") {
		t.Error(got.body)
	}
	for range 2 {
		got := w.want(w.call("POST", "/v1/query", "ana", long(2)), 423)
		if got.get("kind") != "closed" || got.get("spent") != false || !strings.Contains(got.body, "until its owner has released it") {
			t.Error(got.body)
		}
		w.want(w.call("POST", "/v1/query", "ana", short), 200)
	}
	if got := w.want(w.call("POST", "/v1/explain", "ana", long(2)), 200); got.get("closed") != true {
		t.Error(got.body)
	}
	w.want(w.call("POST", "/v1/query", "ana", count), 200) // another dataset
	metrics := w.want(w.call("GET", "/metrics", "olga", ""), 200).body
	for _, line := range []string{`discreet_incidents{dataset="heavy"} 1`, `discreet_closed{dataset="heavy"} 0`,
		`discreet_analysts_shut_out{dataset="heavy"} 1`, `discreet_questions_declined_total{outcome="closed"} 2`} {
		if !strings.Contains(metrics, line) {
			t.Errorf("there is no %s in %s", line, metrics)
		}
	}
	if got := w.want(w.call("GET", "/v1/ledger", "olga", ""), 200); !strings.Contains(got.body, `"failure":"time"`) {
		t.Error(got.body)
	}
	if got := w.want(w.call("GET", "/v1/receipts", "ana", ""), 200); strings.Contains(got.body, "incident") {
		t.Errorf("an analyst sees %s", got.body)
	}
	if _, err := w.db.Release(t.Context(), "heavy", "ana", "a larger machine", nil); err != nil {
		t.Fatal(err)
	}
	w.want(w.call("POST", "/v1/query", "ana", `{"dataset":"heavy","sql":"SELECT COUNT(*) FROM people WHERE s <> 'x'"}`), 200)
}
