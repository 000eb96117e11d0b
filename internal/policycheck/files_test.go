package policycheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/policy"
)

// TestFilesThatMayBeOne: public tables may have many names, other tables of one database are other
// data, and labels are not a table too.
func TestFilesThatMayBeOne(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"people.csv", "towns.csv", "all.duckdb"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("pid,age,label\n1,2,1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(filepath.Join(dir, name), filepath.Join(dir, "same-"+name)); err != nil {
			t.Skip(err)
		}
	}
	const head = "{engine: duckdb, unit: %.pid, budget: {epsilon: 1}, analysts: {ana: }, "
	private := func(source string) string {
		return "{source: " + source + ", unique: pid, columns: {age: {type: integer}}}"
	}
	public := func(source string) string {
		return "{source: " + source + ", public: true, columns: {age: {type: integer}}}"
	}
	one := func(name, tables string) string {
		return "  " + name + ": " + strings.Replace(head, "%", "p"+name, 1) + "tables: {p" + name + ": " + private(name+".csv") + tables +
			"}"
	}
	for _, c := range []struct{ name, text, says string }{
		{"public tables", one("x", ", t: "+public("towns.csv")) + "}\n" + one("y", ", t: "+public("same-towns.csv")) + "}\n", ""},
		{"public and private", one("x", ", t: "+public("towns.csv")) + "}\n" +
			one("y", ", t: {source: same-towns.csv, path: age -> py.pid, max_rows: 1, max_groups: 1, columns: {}}") + "}\n",
			"only one of them is public"},
		{"in one dataset",
			one("x", ", t: {source: people.csv, path: age -> px.pid, max_rows: 1, max_groups: 1, columns: {}}, u: {source: "+
				"same-people.csv, path: age -> px.pid, max_rows: 1, max_groups: 1, columns: {}}") + "}\n", "under two names"},
		{"other tables", "  x: {engine: duckdb, source: all.duckdb, unit: a.pid, budget: {epsilon: 1}, analysts: {ana: }, tables: {a: " +
			"{unique: pid, columns: {}}}}\n" +
			"  y: {engine: duckdb, source: same-all.duckdb, unit: b.pid, budget: {epsilon: 1}, analysts: {ana: }, tables: {b: {unique: " +
			"pid, columns: {}}}}\n", ""},
		{"labels and a table", one("x", "") + ", holdouts: {e: {labels: people.csv, column: label, threshold: 0.04, noise: 0.01, " +
			"answers: 2}}}\n" + one("y", ", t: {source: same-people.csv, path: age -> py.pid, max_rows: 1, max_groups: 1, columns: {}}") +
			"}\n", "write table: to hold out"},
		{"labels of two datasets", one("x", "") +
			", holdouts: {e: {labels: people.csv, column: label, threshold: 0.04, noise: 0.01, answers: 2}}}\n" + one("y", "") +
			", holdouts: {e: {labels: same-people.csv, column: label, threshold: 0.04, noise: 0.01, answers: 2}}}\n", "two budgets"},
		{"the same table", "  x: {engine: duckdb, source: all.duckdb, unit: a.pid, budget: {epsilon: 1}, analysts: {ana: }, tables: {a: " +
			"{unique: pid, columns: {}}}}\n" +
			"  y: {engine: duckdb, source: same-all.duckdb, unit: A.pid, budget: {epsilon: 1}, analysts: {ana: }, tables: {A: {unique: " +
			"pid, columns: {}}}}\n", "two budgets"},
	} {
		p, err := policy.Parse(filepath.Join(dir, "p.yaml"), []byte("datasets:\n"+c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if err := Files(p); (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
