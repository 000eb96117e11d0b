package duckdb

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestStoredForOthers: a file that was stored by person is refused where a policy says that
// somebody else is a person: its numbers would make one household as many as it has people.
func TestStoredForOthers(t *testing.T) {
	const policy = "source: t.csv\nunit: t.%s\ntables:\n  t:\n    max_rows: 1\n    max_groups: 1\n    prepared: p/t.duckdb\n" +
		"    columns:\n      household: {type: text}\n      d: {type: integer, bounds: [0, 9]}\n"
	folder := t.TempDir()
	text := "person,household,d\n"
	for i := range 20 {
		text += fmt.Sprintf("p%d,h,1\n", i)
	}
	write(t, folder, "t.csv", text)
	if _, err := Store(t.Context(), dataset(t, folder, fmt.Sprintf(policy, "person")), "", silent); err != nil {
		t.Fatal(err)
	}
	e, err := Open(t.Context(), dataset(t, folder, fmt.Sprintf(policy, "household")))
	if err == nil {
		defer e.Close()
		t.Fatalf("one household adds %v", ask(t, e, "SELECT COUNT(*) FROM t"))
	}
	if !strings.Contains(err.Error(), "run 'discreet prepare' again") {
		t.Error(err)
	}
}

// TestStoredBeforeAPath: a column that was clamped is no key of a path, where one row would lead to
// several people.
func TestStoredBeforeAPath(t *testing.T) {
	const orders = "source: d.duckdb\nunit: customers.cid\ntables:\n  customers:\n    unique: cid\n" +
		"    columns: {x: {type: integer, bounds: [0, 1]}}\n  orders:\n    path: cid -> customers.cid\n    max_rows: 1\n" +
		"    max_groups: 1\n    prepared: p/t.duckdb\n    columns:\n      oid: {type: integer, bounds: [0, 5]}\n"
	const items = "  items:\n    path: oid -> orders.oid\n    max_rows: 1\n    max_groups: 1\n    columns:\n" +
		"      n: {type: integer, bounds: [0, 9]}\n"
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "d.duckdb"), "CREATE TABLE orders AS SELECT range AS oid, range % 20 AS cid FROM range(40)",
		"CREATE TABLE customers AS SELECT range AS cid, 0 AS x FROM range(20)", "CREATE TABLE items AS SELECT 5 AS oid, 1 AS n")
	if _, err := Store(t.Context(), dataset(t, folder, orders), "", silent); err != nil {
		t.Fatal(err)
	}
	e, err := Open(t.Context(), dataset(t, folder, orders+items))
	if err == nil {
		defer e.Close()
		t.Fatalf("one item is %v", ask(t, e, "SELECT COUNT(*) FROM items"))
	}
	if !strings.Contains(err.Error(), "run 'discreet prepare' again") {
		t.Error(err)
	}
}

// TestStoredTwice: a file whose list of texts has one of them twice is read without its codes.
func TestStoredTwice(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", "u,k\n1,a\n2,b\n3,b\n")
	ds := dataset(t, folder, "source: t.csv\nunit: t.u\ntables:\n  t:\n    max_rows: 1\n    max_groups: 1\n    prepared: p/t.duckdb\n"+
		"    columns:\n      k: {type: text, keys: [a, b]}\n")
	if _, err := Store(t.Context(), ds, "", silent); err != nil {
		t.Fatal(err)
	}
	const text = "SELECT k, COUNT(*) FROM t GROUP BY k"
	want := fmt.Sprint(ask(t, open(t, unprepared(ds)), text))
	owner(t, ds.Tables["t"].Prepared, `UPDATE about SET text = replace(text, '"b"', '"a"')`)
	if got := fmt.Sprint(ask(t, open(t, ds), text)); got != want {
		t.Errorf("%s, and not %s", got, want)
	}
}
