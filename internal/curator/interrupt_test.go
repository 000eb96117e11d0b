package curator

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/interactive"
	"github.com/discreet-dp/discreet/policy"
)

// heavy is a world whose questions take seconds: many rows with long texts, once with one row a
// person and once with many.
func heavy(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	db, err := sql.Open("duckdb", filepath.Join(w.dir, "heavy.duckdb"))
	w.check(err)
	_, err =
		db.Exec(
			`CREATE TABLE people AS SELECT range AS pid, md5(CAST(range AS VARCHAR)) || md5(CAST(range + 1 AS VARCHAR)) AS s FROM range(700000);
		CREATE TABLE calls AS SELECT pid // 4 AS pid, s FROM people`)
	w.check(err)
	w.check(db.Close())
	text := `datasets:
  hospital:
    engine: duckdb
    source: heavy.duckdb
    unit: people.pid
    budget: {epsilon: 1, per_query: {default: 0.1, max: 1}}
    analysts: {ana: {}}
    tables:
      people: {unique: pid, columns: {s: {type: text}}}
      calls: {path: pid -> people.pid, max_rows: 10, max_groups: 1, columns: {s: {type: text}}}
`
	path := filepath.Join(w.dir, "policy.yaml")
	w.check(os.WriteFile(path, []byte(text), 0o600))
	p, err := policy.Load(path)
	w.check(err)
	w.dataset = p.Datasets["hospital"]
	w.data, err = duckdb.OpenWith(ctx, w.dataset, duckdb.Limits{Threads: 1})
	w.check(err)
	t.Cleanup(func() { w.data.Close() })
	w.openBooks()
	w.Curator = New(w.dataset, w.data, w.books, seeded(1))
	return w
}

// TestInterrupted stops a question while DuckDB computes it: DuckDB looks up between groups of
// 122,880 rows, and there are six. A question that is not stopped would be answered. The charge
// stays, others can ask, and the same request gets its answer without paying again.
func TestInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("the questions take seconds")
	}
	w := heavy(t)
	r := w.record()
	var like []string
	for i := range 2 {
		like = append(like, fmt.Sprintf("s LIKE '%%%x%%a%%b%%c%%d%%%x%%e%%f%%0%%1%%2%%3%%4%%5%%6%%7%%8%%9%%'", i, 15-i))
	}
	for i, table := range []string{"people", "calls"} {
		q := api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM " + table + " WHERE " + strings.Join(like, " OR "),
			Request: "slow " + table}
		waiting, cancel := context.WithCancel(ctx)
		r.before["run"] = func() error {
			time.AfterFunc(50*time.Millisecond, cancel) // when DuckDB is at work
			return nil
		}
		if _, err := w.Ask(waiting, q); err != interactive.ErrRun {
			t.Fatalf("%s: %v", table, err)
		}
		delete(r.before, "run")
		paid := w.spent().Epsilon
		if paid != []dp.Amount{1, 3}[i]*amount("0.1") {
			t.Errorf("%s: spent %v; the charge must stay", table, paid)
		}
		w.mustAsk("SELECT COUNT(*) FROM " + table)
		a, err := w.Ask(ctx, q)
		w.check(err)
		if !a.Receipt.Free || w.spent().Epsilon != paid+amount("0.1") {
			t.Errorf("%s: the retry paid again: %+v, spent %v", table, a.Receipt, w.spent())
		}
	}
}
