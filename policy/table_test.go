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
		if got := p.Datasets["d"].CountsEverybody(); (got != nil) != c.want || got != nil && got.Name != "people" {
			t.Errorf("%s: %v", what, got)
		}
	}
}

func swap(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }

// What a person adds to a sum is a number of which something is left, of a column that is summed.
func TestMaxSum(t *testing.T) {
	const text = `datasets:
  d:
    engine: duckdb
    source: people.duckdb
    unit: row
    budget: {epsilon: 1}
    analysts: {ana: }
    tables: {people: {columns: {x: {COLUMN}}}}
`
	for column, want := range map[string]string{
		"type: decimal, bounds: [0, 5], granularity: 0.01, max_sum: 0.01": "",
		"type: integer, bounds: [0, 5], max_sum: 2.5":                     "",
		"type: integer, bounds: [0, 5], max_sum: 0":                       "at least the granularity, 1",
		"type: integer, bounds: [0, 5], max_sum: -3":                      "at least the granularity, 1",
		"type: decimal, bounds: [0, 5], granularity: 0.5, max_sum: 0.4":   "at least the granularity, 0.5",
		"type: integer, max_sum: 3":                                       "without bounds",
		"type: text, max_sum: 3":                                          "a text column cannot be summed",
		"type: integer, bounds: [0, 5], max_sum: much":                    "max_sum",
	} {
		p, err := Parse("p.yaml", []byte(strings.Replace(text, "COLUMN", column, 1)))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", column, err)
		case want == "":
			if got := p.Datasets["d"].Tables["people"].Columns["x"].MaxSum; got == nil || !strings.HasSuffix(column, " "+decimal(got)) {
				t.Errorf("%s: %v", column, got)
			}
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v", column, err)
		}
	}
}

// Limits can be left to each question where a column of the table names the person.
func TestAutoLimits(t *testing.T) {
	const one = `datasets:
  d:
    engine: duckdb
    source: d.duckdb
    unit: people.who
    budget: {epsilon: 1}
    analysts: {ana: }
    tables:
      people: {unique: who, columns: {}}
      orders: {path: who -> people.who, max_rows: 5, max_groups: 2, columns: {oid: {type: integer}}}
      items: {path: oid -> orders.oid, max_rows: 9, max_groups: 3, columns: {}}
`
	for _, c := range [][2]string{
		{"max_rows: 5", "max_rows: auto"}, {"max_groups: 2", "max_groups: auto"},
		{"max_rows: 5", "max_rows: Auto"}, {"max_rows: 9", "max_rows: auto"},
	} {
		p, err := Parse("p.yaml", []byte(strings.Replace(one, c[0], c[1], 1)))
		want := map[string]string{"max_rows: Auto": "write max_rows: auto, in small letters", "max_rows: 9": "has 2 steps; write numbers"}
		if says := want[c[1]] + want[c[0]]; says != "" {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%v: %v", c, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(c, err)
		}
		o := p.Datasets["d"].Tables["orders"]
		if o.AutoRows == o.AutoGroups || !o.Auto() || o.AutoRows && o.MaxRows != mostAutoRows ||
			o.AutoGroups && o.MaxGroups != mostAutoGroups {
			t.Errorf("%v: %+v", c, o)
		}
	}
}
