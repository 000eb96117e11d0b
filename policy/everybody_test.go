package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// How many people there are is public where the relation and the table say so, and nowhere else.
func TestEverybody(t *testing.T) {
	const one = `datasets:
  d:
    engine: duckdb
    source: people.duckdb
    unit: people.who
    neighbours: substitute
    budget: {epsilon: 1}
    analysts: {ana: }
    tables:
      people: {unique: who, columns: {age: {type: integer, bounds: [0, 110]}}}
      towns: {public: true, columns: {town: {type: text}}}
`
	for what, c := range map[string]struct {
		edit func(string) string
		want bool
	}{
		"a list of people": {nil, true},
		"rows are people":  {swap("people.who", "row", "unique: who, ", ""), true},
		"events of people": {swap("unique: who", "max_rows: 3, max_groups: 2"), true},
		"Parquet": {swap("source: people.duckdb", "",
			"people: {", "people: {source: a.parquet, ", "towns: {", "towns: {source: b.csv, "), true},
		"CSV, every line": {swap("people.duckdb", "folder", "unique", "bad_lines: refuse, unique"), true},
		"CSV":             {swap("people.duckdb", "folder"), false},
		"one file of CSV": {swap("people.duckdb", "people.csv",
			"      towns: {public: true, columns: {town: {type: text}}}\n", ""), false},
		"add-remove": {swap("    neighbours: substitute\n", ""), false},
		"two tables": {swap("      towns",
			"      orders: {path: who -> people.who, max_rows: 2, max_groups: 2, columns: {}}\n      towns"), false},
		"two tables of rows": {swap("people.who", "row", "unique: who, ", "",
			"      towns", "      more: {columns: {}}\n      towns"), false},
	} {
		text := one
		if c.edit != nil {
			text = c.edit(one)
		}
		path := filepath.Join(t.TempDir(), "policy.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := Load(path)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := p.Datasets["d"].Everybody(); (got != nil) != c.want || got != nil && got.Name != "people" {
			t.Errorf("%s: %v", what, got)
		}
	}
}

func swap(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }
