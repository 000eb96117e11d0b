package duckdb

import (
	"path/filepath"
	"testing"
)

// TestExistsBesideValue: a subquery that is a value is joined to the row after EXISTS was read, and
// must not move what EXISTS names. When it did, one order of one person decided about every
// customer.
func TestExistsBesideValue(t *testing.T) {
	text := `SELECT COUNT(*) FROM customers c
	 WHERE EXISTS (SELECT 1 FROM (SELECT cust, CASE WHEN amount = 50 THEN 9 ELSE 0 END AS pad, amount + 0 AS pad2, code AS test FROM orders) o WHERE o.cust = c.cid AND o.test = 9)
	 AND (SELECT COUNT(*) FROM orders o WHERE o.cust = c.cid) >= 0`
	var got [2]string
	for i, rich := range []string{"1", "50"} {
		folder := t.TempDir()
		owner(t, filepath.Join(folder, "shop.duckdb"),
			"CREATE TABLE customers AS SELECT range AS cid, 'N' AS region, 3 AS age, 'x' AS city FROM range(1000)",
			"CREATE TABLE orders AS SELECT range AS oid, range AS cust, 1 AS code, CASE WHEN range = 7 THEN "+rich+" ELSE 2 END AS "+
				"amount, 'x' AS shop FROM range(1000)",
			"CREATE TABLE items AS SELECT range AS iid, range // 2 AS order_id, 3 AS qty FROM range(6)",
			"CREATE TABLE parts AS SELECT range AS item, 1 AS w FROM range(10)",
			"CREATE TABLE products AS SELECT range AS code, 'p' || range AS label FROM range(9)",
			"CREATE TABLE tags AS SELECT range AS code, 't' || range % 3 AS tag FROM range(9)")
		e := open(t, shopDataset(t, folder, "shop.duckdb", "substitute", 2, 2))
		got[i] = answer(t, e, text)
	}
	if got[0] != got[1] {
		t.Errorf("one order of one person moves COUNT(*) from %s to %s", got[0], got[1])
	}
}

// TestOnePersonTwoTypes: a whole number is one person, whatever types of whole numbers the columns
// have. What else is alike is in alike_test.go.
func TestOnePersonTwoTypes(t *testing.T) {
	for _, typ := range []string{"INTEGER", "UTINYINT", "UHUGEINT", "DECIMAL(9,0)"} {
		var got []string
		for _, who := range []string{"", " WHERE range <> 7"} {
			folder := t.TempDir()
			owner(t, filepath.Join(folder, "shop.duckdb"),
				"CREATE TABLE customers AS SELECT CAST(range AS INTEGER) AS cid, 'N' AS region, 3 AS age, 'x' AS city FROM range(10)"+who,
				"CREATE TABLE orders AS SELECT range AS oid, CAST(range AS "+typ+") AS cust, 1 AS code, 2 AS amount, 'x' AS shop FROM "+
					"range(10)"+who,
				"CREATE TABLE items AS SELECT range AS iid, range // 2 AS order_id, 3 AS qty FROM range(6)",
				"CREATE TABLE parts AS SELECT range AS item, 1 AS w FROM range(10)",
				"CREATE TABLE products AS SELECT range AS code, 'p' || range AS label FROM range(9)",
				"CREATE TABLE tags AS SELECT range AS code, 't' || range % 3 AS tag FROM range(9)")
			e := open(t, shopDataset(t, folder, "shop.duckdb", "add-remove", 2, 2))
			got = append(got, answer(t, e, "SELECT COUNT(DISTINCT who) FROM (SELECT cid AS who FROM customers UNION ALL SELECT cust AS "+
				"who FROM orders) AS u"))
		}
		if got[0] != "[10]" || got[1] != "[9]" {
			t.Errorf("%s: one person moves COUNT(DISTINCT person) from %s to %s", typ, got[0], got[1])
		}
	}
}
