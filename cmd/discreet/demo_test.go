package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestDemo(t *testing.T) {
	start := time.Now()
	d := command("demo", "--json").wants(t, 0).decode(t)
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("the demonstration took %v", took)
	}
	attack := d["attack"].(map[string]any)
	with, without := attack["with"].(map[string]any), attack["without"].(map[string]any)
	if with["plain"] != 1.0 || without["plain"] != 0.0 {
		t.Errorf("plain SQL gives %v and %v", with["plain"], without["plain"])
	}
	again := d["again"].(map[string]any)
	if again["asked"] != 100.0 || again["answers"] != 1.0 || again["epsilon"] != 0.1 {
		t.Errorf("asked again: %v", again)
	}
	if n := len(d["refused"].([]any)); n != 3 {
		t.Errorf("%d refusals", n)
	}
	exhausted := d["exhausted"].(map[string]any)
	accounts := exhausted["accounts"].([]any)
	if exhausted["answered"].(float64) < 1 || fmt.Sprint(accounts[0].(map[string]any)["guarantee"]) != "map[delta:0 epsilon:2]" {
		t.Errorf("exhausted: %v", exhausted)
	}
	honest := d["honest"].(map[string]any)
	if honest["of"] != 12.0 || honest["inside"].(float64) < 6 {
		t.Errorf("%v of %v are within their bars", honest["inside"], honest["of"])
	}
	if d["ledger"].(map[string]any)["answers"].(float64) < 10 {
		t.Errorf("ledger: %v", d["ledger"])
	}
}

func TestDemoKeepsItsFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my hospital")
	command("demo", "--dir", dir).wants(t, 0, "== 6. The books ==", "asked 100 times in 3 spellings: 1 answer, epsilon 0.1 spent",
		"discreet query --policy '"+dir)
	policy := filepath.Join(dir, "policy.yaml")
	command("query", "--policy", policy, "--dataset", "without", "--as", "ben",
		"SELECT ward, COUNT(*) FROM visits GROUP BY ward").wants(t, 0, "surgery")
	command("query", "--policy", policy, "--dataset", "hospital", "--as", "ben", people).wants(t, 3)
	command("check", policy).wants(t, 0)
	command("ledger", "verify", "-p", policy).wants(t, 0, "is whole")

	command("demo", "--dir", dir).wants(t, 2, "is not empty; name a new folder")
	// Nothing of somebody else's is touched.
	other := t.TempDir()
	write(t, filepath.Join(other, "thesis.txt"), "mine")
	command("demo", "--dir", other).wants(t, 2, "is not empty")
	command("demo", "--dir", filepath.Join(other, "thesis.txt")).wants(t, 1)
	if entries, _ := os.ReadDir(other); len(entries) != 1 {
		t.Errorf("the folder has %v", entries)
	}
	command("demo", "--seed", "x").wants(t, 2, "--seed")
}
