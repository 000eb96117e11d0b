package duckdb

import (
	"path/filepath"
	"strings"
	"testing"
)

// explained returns DuckDB's plan of a question.
func explained(t *testing.T, e *Engine, text string) string {
	t.Helper()
	out := ""
	for _, st := range e.now.Statements(question(t, e, text)) {
		var kind, plan string
		if err := e.now.DB.QueryRowContext(t.Context(), "EXPLAIN "+st.Text, st.Args...).Scan(&kind, &plan); err != nil {
			t.Fatal(err, st.Text)
		}
		out += plan
	}
	return out
}

// TestExistsIsAJoin: a subquery about a person is not computed anew for each row.
func TestExistsIsAJoin(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "shop.duckdb"),
		"CREATE TABLE customers AS SELECT range AS cid, 'N' AS region, 3 AS age, 'x' AS city FROM range(100000)",
		"CREATE TABLE orders AS SELECT range AS oid, range // 3 AS cust, range % 9 AS code, range % 50 AS amount, 'x' AS shop FROM "+
			"range(300000)",
		"CREATE TABLE items AS SELECT range AS iid, range // 2 AS order_id, 3 AS qty FROM range(600000)",
		"CREATE TABLE parts AS SELECT range AS item, 1 AS w FROM range(10)",
		"CREATE TABLE products AS SELECT range AS code, 'p' || range AS label FROM range(9)",
		"CREATE TABLE tags AS SELECT range AS code, 't' || range % 3 AS tag FROM range(9)")
	e := open(t, shopDataset(t, folder, "shop.duckdb", "add-remove", 2, 2))
	for _, text := range []string{
		"SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.cust = c.cid AND o.amount > c.age)",
		"SELECT COUNT(*) FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.cust = c.cid AND o.amount > 48)",
		"SELECT COUNT(*) FROM customers c WHERE c.age = 1 OR EXISTS (SELECT 1 FROM orders o WHERE o.cust = c.cid AND o.amount > 48)",
		"SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o JOIN items i ON o.oid = i.order_id WHERE o.cust = c.cid)",
		"SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM items i WHERE i.order_id = o.oid AND i.qty > o.code)",
		"SELECT COUNT(*) FROM orders WHERE code IN (SELECT code FROM tags WHERE tag = 't1')",
		"SELECT COUNT(*) FROM items WHERE qty > 2",
	} {
		plan := explained(t, e, text)
		for _, slow := range []string{"NESTED_LOOP", "CROSS_PRODUCT", "BLOCKWISE"} {
			if strings.Contains(plan, slow) {
				t.Errorf("%s has a %s\n%s", text, slow, plan)
			}
		}
		answer(t, e, text)
	}
}
