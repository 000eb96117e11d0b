package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestDemo(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "my hospital")
	command("demo", "--dir", dir).wants(t, 0, "== 6. The budgets ==", "asked 100 times in 3 spellings: 1 answer, epsilon 0.1 spent",
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

// A database reads the files, and every row finds what it refers to.
func TestDemoShop(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "my shop")
	rows := command("demo", "shop", "--scale", "0.002", "--json", dir).wants(t, 0).decode(t)["rows"].(map[string]any)
	db, err := sql.Open("duckdb", "")
	must(t, err)
	defer db.Close()
	for _, name := range []string{"customers", "orders", "items", "nations", "parts"} {
		must(t, errorOf(db.Exec("CREATE TABLE "+name+" AS FROM read_csv('"+filepath.Join(dir, name)+".csv')")))
	}
	for _, c := range []struct {
		sql  string
		want any
	}{
		{"SELECT COUNT(*) FROM customers JOIN nations USING (nation)", rows["customers"]},
		{"SELECT COUNT(*) FROM orders JOIN customers USING (cid)", rows["orders"]},
		{"SELECT COUNT(*) FROM items JOIN orders USING (oid) JOIN customers USING (cid) JOIN nations USING (nation)", rows["items"]},
		{"SELECT COUNT(*) FROM items JOIN parts USING (part) WHERE round(100 * price) = quantity * round(100 * retail_price)",
			rows["items"]},
		{"SELECT COUNT(*) FROM orders WHERE day BETWEEN DATE '1992-01-01' AND DATE '1998-12-31'", rows["orders"]},
		{"SELECT COUNT(DISTINCT cid) FROM customers", 300.0},
	} {
		var got float64
		if err := db.QueryRow(c.sql).Scan(&got); err != nil || got != c.want {
			t.Errorf("%s: %v, %v; want %v", c.sql, got, err, c.want)
		}
	}
	command("demo", "shop", dir).wants(t, 2, "is not empty; name a new folder")
	again := filepath.Join(t.TempDir(), "again")
	command("demo", "shop", "--scale=0.0001", again).wants(t, 0, "15 customers", "discreet query --policy "+again)
	for _, scale := range []string{"0", "1000", "NaN", "x"} {
		command("demo", "shop", "--scale", scale, filepath.Join(again, "not")).wants(t, 2, "--scale")
	}
	command("demo", "shop").wants(t, 2, "see discreet demo shop --help")
	if _, err := os.Stat(filepath.Join(again, "not")); err == nil {
		t.Error("a refused shop was begun")
	}
}
