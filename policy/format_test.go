package policy

import (
	"strings"
	"testing"
)

// TestFormat: a policy of a newer format is refused for that and for nothing else, because what it
// says may mean something else; without a format it has the first.
func TestFormat(t *testing.T) {
	const rest = "datasets: {d: {engine: duckdb, source: d.csv, unit: row, budget: {epsilon: 1}, analysts: {ana: }, " +
		"tables: {d: {columns: {}}}}}\n"
	for head, says := range map[string]string{
		"":                        "",
		"format: 1\n":             "",
		"format: 2\n":             "1:9: this policy has the format 2, and this version of Discreet reads 1; use the version that",
		"format: 2\nnovelty: 3\n": "1:9: this policy has the format 2",
		"format: 0\n":             "format must be a whole number from 1 to 1000000",
		"format: '1'\n":           "'format' ",
		"version: 1\n":            "write the format of the policy as format: 1",
		"format: 1\nnovelty: 3\n": "novelty",
		"format: 1\nformat: 1\n":  "twice",
	} {
		_, err := Parse("d.yaml", []byte(head+rest))
		switch {
		case says == "" && err != nil, says != "" && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("%q: %v", head, err)
		case err != nil && strings.Contains(says, "has the format") && strings.Contains(err.Error(), "novelty"):
			t.Errorf("%q tells more than that: %v", head, err)
		}
	}
}
