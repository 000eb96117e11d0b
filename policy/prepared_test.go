package policy

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestPrepared: a prepared file belongs to one table with many rows of a person, and is not its
// source.
func TestPrepared(t *testing.T) {
	const text = `
datasets:
  d:
    engine: duckdb
    source: d.duckdb
    unit: people.pid
    budget: {epsilon: 1}
    analysts: {ana: }
    tables:
      people: {unique: pid, columns: {}}
      visits: {path: pid -> people.pid, max_rows: 2, max_groups: 2, prepared: p/visits.duckdb, columns: {}}
      tests: {path: pid -> people.pid, max_rows: 2, max_groups: 2, columns: {}}
`
	p, err := Parse("x/policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d := p.Datasets["d"]
	if got := d.Tables["visits"].Prepared; filepath.ToSlash(got) != "x/p/visits.duckdb" || d.Tables["tests"].Prepared != "" {
		t.Errorf("got %q", got)
	}
	for _, c := range []struct{ from, to, want string }{
		{"p/visits.duckdb", "p/visits.parquet", "must end in .duckdb"},
		{"p/visits.duckdb", "d.duckdb", "the dataset's source"},
		{"p/visits.duckdb", "[1]", "prepared"},
		{"p/visits.duckdb", "https://x/y.duckdb", "is an address"},
		{"people: {unique: pid,", "people: {unique: pid, prepared: p/people.duckdb,", "remove 'prepared'"},
		{"max_groups: 2, columns", "max_groups: 2, prepared: p/visits.duckdb, columns", "the table 'visits' has this prepared file"},
	} {
		_, err := Parse("x/policy.yaml", []byte(strings.Replace(text, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.to, err)
		}
	}
}
