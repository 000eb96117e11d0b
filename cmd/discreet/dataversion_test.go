package main

import (
	"fmt"
	"path/filepath"
	"testing"
)

// Answers name the version of the data where there is something to say, and JSON always.
func TestDataVersion(t *testing.T) {
	policy := deploy(t, "{epsilon: 10}")
	asks(policy, people).wants(t, 0, "price").lacks(t, "data version", "changed")
	change(t, beside(policy, "data", "patients.csv"), func(s string) string { return s + "\n" })
	change(t, beside(policy, "data", "visits.csv"), func(s string) string { return s[:len(s)-40] })
	asks(policy, people).wants(t, 0, "or how the policy reads it, has changed: answers with receipts before", "data version 2")
	asks(policy, people).wants(t, 0, "free", "data version 2").lacks(t, "changed")
	if got := fmt.Sprint(asks(policy, "--json", people).decode(t)["data_version"]); got != "map[number:2]" {
		t.Error(got)
	}
	command("check", policy).wants(t, 0, "data version: the contents of 2 files")
}

// The owner's version query is shown, by check too, and what is wrong with it only there.
func TestVersionQuery(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "t.duckdb")
	duck(t, file, "CREATE TABLE t AS SELECT 1 AS i", "CREATE TABLE load_log AS SELECT DATE '2026-11-01' AS loaded_at")
	policy := write(t, filepath.Join(folder, "p.yaml"), `datasets:
  d:
    engine: duckdb
    source: t.duckdb
    version: SELECT max(loaded_at) FROM load_log
    unit: row
    budget: {epsilon: 1}
    analysts: {ana: }
    tables: {t: {columns: {i: {type: integer}}}}
`)
	const question = "SELECT COUNT(*) FROM t"
	command("check", policy).wants(t, 0, `data version: "2026-11-01", by the version query; analysts see it`)
	got := command("check", "--json", policy).decode(t)["datasets"].(map[string]any)["d"]
	if fmt.Sprint(got.(map[string]any)["data_version"]) != `"2026-11-01", by the version query; analysts see it` {
		t.Error(got)
	}
	asks(policy, question).wants(t, 0, "data version 1: 2026-11-01")
	duck(t, file, "INSERT INTO load_log VALUES (DATE '2026-11-02')")
	asks(policy, question).wants(t, 0, "data version 2: 2026-11-02", "has changed")
	if got := fmt.Sprint(asks(policy, "--json", question).decode(t)["data_version"]); got != "map[name:2026-11-02 number:2]" {
		t.Error(got)
	}
	duck(t, file, "DELETE FROM load_log")
	asks(policy, question).wants(t, 1, "does not name the data", "discreet check").lacks(t, "NULL")
	command("check", policy).wants(t, 1, "is NULL")
	// The ledger has what the owner calls the versions.
	command("ledger", "verify", "-p", policy).wants(t, 0)
}
