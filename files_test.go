package discreet_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/api"
)

// TestOneHome: two datasets that are one file by another name are refused before anything is
// charged, whatever hides it.
func TestOneHome(t *testing.T) {
	const csv, more = "pid,age\n1,30\n2,40\n", "pid,age\n3,50\n"
	table := func(source string) string {
		return "{engine: duckdb, source: " + source + ", unit: people.pid, budget: {epsilon: 1, per_query: {default: 0.1}}, analysts: " +
			"{ana: }, tables: {people: {unique: pid, columns: {age: {type: integer, bounds: [0, 120]}}}}}"
	}
	for _, c := range []struct {
		name         string
		link         func(dir string) error
		first, other string
		says         string // empty where both may be asked
	}{
		{"two files", nil, "a/people.csv", "b/people.csv", ""},
		{"a symbolic link", func(dir string) error {
			return os.Symlink("people.csv", filepath.Join(dir, "a", "same.csv"))
		}, "a/people.csv", "a/same.csv", "two budgets"},
		{"a hard link", func(dir string) error {
			return os.Link(filepath.Join(dir, "a", "people.csv"), filepath.Join(dir, "a", "same.csv"))
		}, "a/people.csv", "a/same.csv", "two budgets"},
		{"a link to a folder", func(dir string) error { return os.Symlink("a", filepath.Join(dir, "c")) }, "a", "c", "two budgets"},
		{"a database", func(dir string) error {
			return os.Link(filepath.Join(dir, "all.duckdb"), filepath.Join(dir, "same.db"))
		}, "all.duckdb", "same.db", "two budgets"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"a": csv, "b": more} {
			if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name, "people.csv"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		db, err := sql.Open("duckdb", filepath.Join(dir, "all.duckdb"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("CREATE TABLE people AS SELECT range AS pid, range AS age FROM range(9)"); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if c.link != nil {
			if err := c.link(dir); err != nil {
				t.Skip(err) // a system without links has none to hide behind
			}
		}
		path := filepath.Join(dir, "policy.yaml")
		text := "datasets:\n  first: " + table(c.first) + "\n  other: " + table(c.other) + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		opened := open(t, path)
		for _, name := range []string{"first", "other"} {
			_, err := opened.Ask(background, api.Question{Dataset: name, Analyst: "ana", SQL: "SELECT COUNT(*) FROM people"})
			if c.says == "" && err != nil || c.says != "" &&
				(err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "are the same file")) {
				t.Errorf("%s, %s: %v", c.name, name, err)
			}
		}
		if err := opened.Warm(background); (err == nil) != (c.says == "") {
			t.Errorf("%s: %v", c.name, err)
		}
		for r, err := range opened.Records(background, 0) {
			if err != nil || c.says != "" && r.Sequence > 0 {
				t.Errorf("%s: %v, %v", c.name, r, err)
			}
		}
	}
}

// A file that becomes that of another dataset while the server runs is data that cannot be opened.
func TestOneHomeLater(t *testing.T) {
	path := deployment(t)
	db := open(t, path)
	for _, name := range []string{"north", "south"} {
		if _, err := db.Ask(background, api.Question{Dataset: name, Analyst: "ana", SQL: people}); err != nil {
			t.Fatal(err)
		}
	}
	own := filepath.Join(filepath.Dir(path), "south", "patients.csv")
	if err := os.Rename(own, own+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(filepath.Dir(path), "north", "patients.csv"), own); err != nil {
		t.Fatal(err)
	}
	if a, err := db.Ask(background, api.Question{Dataset: "south", Analyst: "ana", SQL: people + " WHERE age > 30"}); err == nil ||
		!strings.Contains(err.Error(), "two budgets") {
		t.Errorf("the people of one dataset in another: %+v, %v", a, err)
	}
	if err := os.Rename(own+".old", own); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"north", "south"} {
		if _, err := db.Ask(background, api.Question{Dataset: name, Analyst: "ana", SQL: people + " WHERE age > 30"}); err != nil {
			t.Errorf("%s, when it is as it was: %v", name, err)
		}
	}
}
