package main

import (
	"path/filepath"
	"strings"
	"testing"
)

const manyVisits = `
datasets:
  clinic:
    engine: duckdb
    source: clinic.duckdb
    unit: visits.pid
    budget: {epsilon: 10}
    analysts: {ana: {}}
    tables:
      visits:
        max_rows: 5
        max_groups: 2
        columns:
          cost: {type: decimal, bounds: [0, 100], granularity: 0.01}
          ward: {type: text, keys: [A, B]}
`

// An owner's walk: prepare, change the lines as it says, check, ask.
func TestPrepare(t *testing.T) {
	dir := t.TempDir()
	policy := write(t, filepath.Join(dir, "clinic.yaml"), manyVisits)
	duck(t, filepath.Join(dir, "clinic.duckdb"), "CREATE TABLE visits AS SELECT 'person ' || (i * 7919 % 1003) AS pid, i / 7 AS cost, "+
		"CASE i % 3 WHEN 0 THEN 'A' WHEN 1 THEN 'B' END AS ward FROM range(20000) r(i)")
	r := command("prepare", policy).wants(t, 0, "discreet check "+policy,
		"  clinic:\n    tables:\n      visits:\n        prepared: \"prepared/visits.duckdb\"\n")
	if strings.Contains(r.out+r.err, "person 1") {
		t.Error("it shows data")
	}
	out := filepath.Join(dir, "else where")
	if v := command("prepare", policy, "--out", out, "--json").wants(t, 0).decode(t); len(v["tables"].([]any)) != 1 {
		t.Errorf("got %v", v)
	}
	const question = "SELECT ward, COUNT(*), SUM(cost) FROM visits GROUP BY ward"
	asks(policy, question).wants(t, 0, "ward")
	change(t, policy, func(s string) string {
		return strings.Replace(s, "      visits:\n", "      visits:\n        prepared: \"prepared/visits.duckdb\"\n", 1)
	})
	command("check", policy).wants(t, 0, "the policy and the data were read")
	asks(policy, question).wants(t, 0, "free") // it is the same data, and was paid for
	asks(policy, "SELECT COUNT(*) FROM visits").wants(t, 0, "count")
	change(t, policy, func(s string) string { return strings.Replace(s, "[0, 100]", "[0, 1000]", 1) })
	command("check", policy).wants(t, 1, "discreet prepare")
	command("prepare", policy).wants(t, 0, "where the policy has them")
	command("check", policy).wants(t, 0)
	// Other data is refused until it is prepared.
	duck(t, filepath.Join(dir, "clinic.duckdb"), "INSERT INTO visits VALUES ('somebody', 1, 'A')")
	command("check", policy).wants(t, 1, "has changed since")
	asks(policy, question).wants(t, 1, "discreet prepare")
	command("prepare", policy).wants(t, 0)
	asks(policy, question).wants(t, 0, "ward")

	nothing := write(t, filepath.Join(t.TempDir(), "p.yaml"), strings.Replace(strings.Replace(manyVisits, "unit: visits.pid", "unit: row",
		1), "        max_rows: 5\n        max_groups: 2\n", "", 1))
	duck(t, filepath.Join(filepath.Dir(nothing), "clinic.duckdb"), "CREATE TABLE visits AS SELECT 1.5 AS cost, 'A' AS ward")
	command("prepare", nothing).wants(t, 0, "nothing to prepare")
	command("prepare", filepath.Join(dir, "no.yaml")).wants(t, 1)
}
