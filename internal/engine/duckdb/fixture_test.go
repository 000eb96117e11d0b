package duckdb

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/audit/sample"
	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// owner runs statements in a DuckDB that nobody has locked, as the owner of the
// data does. With a path it is that database file, otherwise it is in memory.
func owner(t testing.TB, path string, statements ...string) {
	t.Helper()
	connector, err := driver.NewConnector(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%v in %.300s", err, s)
		}
	}
}

// write makes a file in a folder.
func write(t testing.TB, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// dataset reads a policy with one dataset whose files are in a folder. What
// is given are the dataset's keys below the budget.
func dataset(t testing.TB, folder, keys string) *policy.Dataset {
	t.Helper()
	return datasetWith(t, folder, "{epsilon: 1}", keys)
}

// datasetWith is dataset with a budget.
func datasetWith(t testing.TB, folder, budget, keys string) *policy.Dataset {
	t.Helper()
	head := "datasets:\n  d:\n    engine: duckdb\n    budget: " + budget + "\n    analysts: {a: {}}\n"
	p, err := policy.Parse(filepath.Join(folder, "policy.yaml"), []byte(head+indent(keys)))
	if err != nil {
		t.Fatal(err)
	}
	return p.Datasets["d"]
}

// indent puts the keys below their dataset.
func indent(keys string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.Trim(keys, "\n") + "\n") {
		b.WriteString("    " + line)
	}
	return b.String()
}

func open(t testing.TB, ds *policy.Dataset) *Engine {
	t.Helper()
	e, err := Open(t.Context(), ds)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// Questions are planned as those of every engine are.
var prepare, prepareOne = sample.MustPlan, sample.Plan

// check returns what is found in the data.
func check(t testing.TB, ds *policy.Dataset) ([]engine.Finding, error) {
	found, _, err := Inspect(t.Context(), ds)
	return found, err
}

// ask returns the exact vectors of a question, in the order of its measures.
func ask(t testing.TB, e *Engine, text string) [][]int64 {
	t.Helper()
	q := &prepare(t, e.dataset, text).Query
	result, err := e.Run(t.Context(), q)
	if err != nil {
		t.Fatalf("%s: %v", text, why(t, e, q))
	}
	out := make([][]int64, len(result.Measures))
	for i, v := range result.Measures {
		out[i] = v.Open()
	}
	return out
}

// watchSpills gives a test a folder of its own for temporary files. What it returns
// fails the test where a folder for large questions is left in it.
func watchSpills(t *testing.T) func() {
	t.Helper()
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	return func() {
		t.Helper()
		if found, err := filepath.Glob(filepath.Join(folder, "discreet-spill-*")); err != nil || len(found) > 0 {
			t.Errorf("left behind: %v, %v", found, err)
		}
	}
}

// why runs a query again to see what DuckDB says, which nobody else is told.
func why(t testing.TB, e *Engine, q *tree.Query) error {
	t.Helper()
	for _, st := range e.now.Statements(q) {
		rows, err := e.now.DB.QueryContext(t.Context(), st.Text, st.Args...)
		if err != nil {
			return fmt.Errorf("%w in %.4000s", err, st.Text)
		}
		for rows.Next() {
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return fmt.Errorf("%w in %.4000s", err, st.Text)
		}
	}
	return nil
}

// mutant returns statements with their text changed, and whether any was.
func mutant(all []dialect.Statement, change func(string) string) ([]dialect.Statement, bool) {
	out, changed := slices.Clone(all), false
	for i := range out {
		out[i].Text = change(out[i].Text)
		changed = changed || out[i].Text != all[i].Text
	}
	return out, changed
}
