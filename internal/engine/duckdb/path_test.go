package duckdb

import (
	"strings"
	"testing"
)

const shop = `
source: .
unit: customers.cid
tables:
  customers: {max_rows: 1, max_groups: 1, columns: {}}
  orders: {path: cust -> customers.cid, max_rows: 2, max_groups: 1, columns: {oid: {type: integer}}}
  items: {path: order_id -> orders.oid, max_rows: 2, max_groups: 1, columns: {code: {type: text}}}
  cards: {path: owner -> customers.cid, unique: owner, columns: {}}
  uses: {path: card -> cards.owner, max_rows: 2, max_groups: 1, columns: {}}
  products: {public: true, unique: code, columns: {code: {type: integer, bounds: [1, 3]}}}
`

// TestCheckPaths makes each finding about paths and public tables appear.
func TestCheckPaths(t *testing.T) {
	// A person may have many rows in the unit's own table, and 1 and 01 are two orders.
	files := map[string]string{
		"customers": "cid\n1\n1\n2\n",
		"orders":    "oid,cust\n1,1\n01,2\n,2\n,1\n",
		"items":     "order_id,code\n1,2\n1,3\n01,3\n",
		"cards":     "owner\n1\n2\n",
		"uses":      "card\n1\n1\n2\n",
		"products":  "code\n1\n2\n3\n\n",
	}
	for name, c := range map[string]struct {
		file, line, finding, text string
		broken                    bool
	}{
		"good":            {},
		"a key twice":     {"orders", "1,2\n", "orders.oid", "so one row leads to several people: THE GUARANTEE DOES NOT HOLD", true},
		"unique twice":    {"cards", "2\n", "cards.owner", "THE GUARANTEE DOES NOT HOLD", true},
		"no such order":   {"items", "77,1\n", "items.order_id", "many of the rows lead to no row of orders", false},
		"no order":        {"items", ",1\n", "items.order_id", "many of the rows lead to no row of orders", false},
		"public twice":    {"products", "2\n", "products.code", "which a join multiplies: THE GUARANTEE DOES NOT HOLD", true},
		"twice when read": {"products", "02\n", "products.code", "which a join multiplies: THE GUARANTEE DOES NOT HOLD", true},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for file, text := range files {
				if file == c.file {
					text += c.line
				}
				write(t, folder, file+".csv", text)
			}
			ds := dataset(t, folder, shop)
			found, err := check(t, ds)
			if err != nil {
				t.Fatal(err)
			}
			if c.text == "" {
				if len(found) > 0 {
					t.Errorf("%+v", found)
				}
				open(t, ds)
				return
			}
			if len(found) != 1 || found[0].Table+"."+found[0].Column != c.finding || !strings.Contains(found[0].Text, c.text) ||
				found[0].Broken != c.broken {
				t.Errorf("%+v", found)
			}
			if len(found) > 0 && strings.ContainsAny(found[0].Text, "0123456789") {
				t.Errorf("it quotes a value: %+v", found[0])
			}
		})
	}
	// What is beyond the bounds is moved onto them, where something else may be already.
	folder := t.TempDir()
	for file, text := range files {
		write(t, folder, file+".csv", strings.Replace(text, "code\n1\n2\n3\n", "code\n1\n2\n3\n4\n", 1))
	}
	found, err := check(t, dataset(t, folder, shop))
	if err != nil || len(found) != 2 || !found[0].Broken || found[1].Broken {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestPathsAsStored: what paths use is not read as the type that the policy gives it, which
// would make one order of 1 and 01.
func TestPathsAsStored(t *testing.T) {
	folder := t.TempDir()
	for file, text := range map[string]string{"customers": "cid\n1\n", "orders": "oid,cust\n1,1\n01,1\nx,1\n",
		"items": "order_id,code\n", "cards": "owner\n", "uses": "card\n", "products": "code\n"} {
		write(t, folder, file+".csv", text)
	}
	s, err := openSnapshot(t.Context(), dataset(t, folder, shop), asDeclared, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	orders := s.tables["orders"]
	var keys, values int
	if err := s.DB.QueryRow("SELECT count(DISTINCT "+orders.Raw("oid")+"), count(DISTINCT "+orders.Cast("oid")+") "+
		"FROM "+orders.From).Scan(&keys, &values); err != nil || keys != 3 || values != 1 {
		t.Errorf("%d keys, %d values, %v", keys, values, err)
	}
}

// TestPathColumns: a column that only a path uses must be there.
func TestPathColumns(t *testing.T) {
	folder := t.TempDir()
	for file, text := range map[string]string{"customers": "cid\n", "orders": "number,cust\n", "items": "order_id,code\n",
		"cards": "owner\n", "uses": "card\n", "products": "code\n"} {
		write(t, folder, file+".csv", text)
	}
	if _, err := Open(t.Context(), dataset(t, folder, shop)); err == nil ||
		!strings.Contains(err.Error(), "table orders: there is no column oid") {
		t.Error(err)
	}
}
