package policy

import (
	"strings"
	"testing"
)

func TestVersionQuery(t *testing.T) {
	for _, c := range []struct{ keys, query, problem string }{
		{"source: a.duckdb, version: SELECT max(loaded_at) FROM load_log", "SELECT max(loaded_at) FROM load_log", ""},
		{"version: 'SELECT 1', source: a.db", "SELECT 1", ""},
		{"source: a.duckdb", "", ""},
		{"source: a.csv, version: SELECT 1", "", "the source is none"},
		{"source: folder, version: SELECT 1", "", "the source is none"},
		{"version: SELECT 1", "", "the source is none"},
		{"source: a.duckdb, version: ''", "", "'version' is empty"},
		{"source: a.duckdb, version: ", "", "'version'"},
		{"source: a.duckdb, version: [SELECT 1]", "", "'version' must be"},
		{"source: a.duckdb, version: \"a\\0\"", "", "at most 4096 bytes"},
		{"source: a.duckdb, version: " + strings.Repeat("x", 4097), "", "at most 4096 bytes"},
	} {
		p, err := Parse("p.yaml",
			[]byte("datasets: {d: {engine: duckdb, unit: row, budget: {epsilon: 1}, analysts: {ana: }, tables: {t: "+
				"{columns: {}}}, "+c.keys+"}}"))
		switch {
		case c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)):
			t.Errorf("%s: %v", c.keys, err)
		case c.problem == "" && err != nil:
			t.Errorf("%s: %v", c.keys, err)
		case c.problem == "" && p.Datasets["d"].VersionQuery != c.query:
			t.Errorf("%s: %q", c.keys, p.Datasets["d"].VersionQuery)
		}
	}
}
