package policy

import (
	"strings"
	"testing"
)

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
