package duckdb

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/policy"
)

// identityTypes are types that somebody may store an identity in, with values at their edges.
var identityTypes = map[string][]string{
	"TINYINT":       {"1", "-128"},
	"BIGINT":        {"1", "9223372036854775807", "-9223372036854775808"},
	"UBIGINT":       {"1", "18446744073709551615"},
	"HUGEINT":       {"1", "-170141183460469231731687303715884105728"},
	"UHUGEINT":      {"1", "340282366920938463463374607431768211455"},
	"DOUBLE":        {"1", "'NaN'", "'inf'", "'-0.0'", "1e308"},
	"DECIMAL(18,3)": {"1", "-999999999999999.999"},
	"VARCHAR":       {"'1'", "'abc'", "''", "'é'", "'1 '", "'0x1'", "'1e400'"},
	"BLOB":          {"'1'", "'\\xFF\\x00'"},
	"UUID":          {"'00000000-0000-0000-0000-000000000001'"},
	"DATE":          {"'2024-01-01'", "'infinity'", "'5877642-06-25 (BC)'"},
	"TIMESTAMP":     {"'2024-01-01'", "'-infinity'"},
	"TIMESTAMPTZ":   {"'2024-01-01 00:00:00+00'"},
	"TIME":          {"'12:00:00'"},
	"INTERVAL":      {"'1 day'", "'24 hours'"},
	"BOOLEAN":       {"true", "false"},
	"BIT":           {"'101'"},
	"INTEGER[]":     {"[1, NULL]", "[]"},
	"STRUCT(a INT)": {"{'a': 1}"},
	"ENUM('1')":     {"'1'"},
}

// TestIdentitiesOfAllTypes: no type of a column that says whose a row is makes a question fail,
// whatever is in it.
func TestIdentitiesOfAllTypes(t *testing.T) {
	var types []string
	for typ := range identityTypes {
		types = append(types, typ)
	}
	slices.Sort(types)
	values := func(typ string) string {
		var out []string
		for _, v := range append(identityTypes[typ], "NULL") {
			out = append(out, "CAST("+v+" AS "+typ+")")
		}
		return "unnest([" + strings.Join(out, ", ") + "])"
	}
	for i, unit := range types {
		if testing.Short() && i%4 != 0 {
			continue
		}
		other, order := types[(i*7+3)%len(types)], types[(i*11+5)%len(types)]
		t.Run(unit+" and "+other, func(t *testing.T) {
			folder := t.TempDir()
			owner(t, filepath.Join(folder, "shop.duckdb"),
				"CREATE TABLE customers AS SELECT "+values(unit)+" AS cid, 'N' AS region, 3 AS age, 'x' AS city",
				fmt.Sprintf("CREATE TABLE orders AS SELECT %s AS cust, CAST(1 AS HUGEINT) AS code, 3 AS amount, 'y' AS shop, %s AS oid",
					values(unit), values(order)),
				"CREATE TABLE items AS SELECT "+values(other)+" AS iid, "+values(order)+" AS order_id, 3 AS qty",
				"CREATE TABLE parts AS SELECT "+values(other)+" AS item, 1 AS w",
				"CREATE TABLE products AS SELECT 1 AS code, 'p' AS label",
				"CREATE TABLE tags AS SELECT 1 AS code, 't' AS tag")
			e := open(t, shopDataset(t, folder, "shop.duckdb", "add-remove", 2, 2))
			for k, text := range shopQuestions() {
				if !*full && (i+k)%4 != 0 {
					continue // every type is on three sides, and asked about here or there
				}
				q := question(t, e, text)
				if _, err := e.Run(t.Context(), q); err != nil {
					t.Errorf("%s: %v", text, why(t, e, q))
				}
			}
			if _, err := check(t, e.dataset); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCommonType(t *testing.T) {
	for _, c := range []struct{ types, want string }{
		{"INTEGER", "INTEGER"}, {"INTEGER INTEGER", "INTEGER"}, {"INTEGER UINTEGER TINYINT", "BIGINT"}, {"BIGINT UBIGINT", "VARCHAR"},
		{"UBIGINT UBIGINT", "UBIGINT"},
		{"BIGINT HUGEINT", "VARCHAR"}, {"VARCHAR VARCHAR", "VARCHAR"}, {"DECIMAL(18,0) INTEGER", "VARCHAR"},
	} {
		if got := common(strings.Fields(c.types)); got != c.want {
			t.Errorf("%s: %s", c.types, got)
		}
	}
}

// TestValues: the values of public columns, and of no others.
func TestValues(t *testing.T) {
	folder := t.TempDir()
	e := open(t, shopDataset(t, folder, storeShop(t, folder, "duckdb", nil, map[string]string{"tags": "3,b\n1,a\n,b\n2,\n"}),
		"add-remove", 2, 2))
	for _, c := range []struct {
		table, column string
		limit         int
		want          string
	}{
		{"tags", "tag", 2, "[a b]"}, {"tags", "tag", 1, "error"}, {"tags", "tag", 2, "[a b]"}, {"tags", "code", 100, "[1 2 3]"},
		{"tags", "code", 2, "error"},
		{"products", "label", 100, "[ink pad pen]"},
		{"customers", "region", 100, "error"}, {"orders", "shop", 100, "error"}, {"tags", "none", 100, "error"},
		{"none", "tag", 100, "error"},
	} {
		got, err := e.Values(t.Context(), c.table, c.column, c.limit)
		text := fmt.Sprint(got)
		if err != nil {
			text = "error"
		}
		if text != c.want {
			t.Errorf("%s.%s: %s, %v", c.table, c.column, text, err)
		}
		for _, v := range got {
			if v.Null || v.Type != policy.Text && v.Type != policy.Integer {
				t.Errorf("%+v", v)
			}
		}
	}
}

// TestValuesByAnyName: a column of the owner's may be called what the engine calls its own.
func TestValuesByAnyName(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", "u,k0,a0,f0\n1,2,3,4\n")
	write(t, folder, "p.csv", "v,k0,n,f0\n,a,1,2\n,b,1,2\n")
	e := open(t, dataset(t, folder, `
source: .
unit: t.u
tables:
  t: {max_rows: 1, max_groups: 1, columns: {k0: {type: integer, bounds: [0, 9]}, a0: {type: integer, bounds: [0, 9]}, f0: {type: integer}}}
  p: {public: true, columns: {v: {type: integer}, k0: {type: text}, n: {type: integer}, f0: {type: integer}}}`))
	if got, err := e.Values(t.Context(), "p", "k0", 9); err != nil || fmt.Sprint(got) != "[a b]" {
		t.Error(got, err)
	}
	if got := answer(t, e, "SELECT COUNT(*), SUM(a0) FROM t JOIN p ON t.f0 = p.f0 + 2 WHERE t.k0 = 2 AND p.n = 1"); got != "[1] [6]" {
		t.Error(got)
	}
}

// TestPublicUnique: a public table that is not what the policy says of it is refused before there
// are questions.
func TestPublicUnique(t *testing.T) {
	folder := t.TempDir()
	source := storeShop(t, folder, "csv", nil, map[string]string{"products": "1,pen\n01,ink\n"})
	if _, err := Open(t.Context(), shopDataset(t, folder, source, "add-remove", 2, 2)); err == nil ||
		!strings.Contains(err.Error(), "column code is unique") {
		t.Error(err)
	}
	if found, err := check(t, shopDataset(t, folder, source, "add-remove", 2, 2)); err != nil || len(found) == 0 {
		t.Error(found, err)
	}
}
