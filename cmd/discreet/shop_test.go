package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
)

// A database reads the files, and every row finds what it refers to.
func TestDemoShop(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my shop")
	rows := command("demo", "shop", "--scale", "0.002", "--json", dir).wants(t, 0).decode(t)["rows"].(map[string]any)
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, name := range []string{"customers", "orders", "items", "nations", "parts"} {
		if _, err := db.Exec("CREATE TABLE " + name + " AS FROM read_csv('" + filepath.Join(dir, name) + ".csv')"); err != nil {
			t.Fatal(err)
		}
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
