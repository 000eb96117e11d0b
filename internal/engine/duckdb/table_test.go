package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/policy"
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
		"no such order":   {"items", "77,1\n", "items.order_id", "many of the rows do not lead to a row of orders", false},
		"no order":        {"items", ",1\n", "items.order_id", "many of the rows do not lead to a row of orders", false},
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
			found := must(check(t, ds))(t)
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
	s := must(openSnapshot(t.Context(), dataset(t, folder, shop), asDeclared, Limits{}))(t)
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
	turn, chosen := turnOf(t, 12), daily.Sample(t, types, 3)
	for i, unit := range types {
		if !slices.Contains(chosen, unit) {
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
				if !daily.Full() && (i+k+turn)%12 != 0 {
					continue // every type is on three sides, and asked about here or there
				}
				q := question(t, e, text)
				if _, err := e.Run(t.Context(), q); err != nil {
					t.Errorf("%s: %v", text, runAgain(t, e, q))
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

// twoTables is a database in which a person is in two tables, under identities of two types.
func twoTables(t *testing.T, one, first, other, second string) string {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "d.duckdb")
	db := must(sql.Open("duckdb", path))(t)
	defer db.Close()
	for _, s := range []string{
		fmt.Sprintf("CREATE TABLE a AS SELECT CAST(%s AS %s) AS pid, 1 AS n", first, one),
		fmt.Sprintf("CREATE TABLE b AS SELECT CAST(%s AS %s) AS pid, 1 AS n", second, other),
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(s, err)
		}
	}
	return folder
}

const twoPolicy = `
source: d.duckdb
unit: a.pid
tables:
  a: {unique: pid, columns: {n: {type: integer, bounds: [0, 9]}}}
  b: {path: pid -> a.pid, max_rows: 9, max_groups: 1, columns: {n: {type: integer, bounds: [0, 9]}}}`

// TestUnlikeIdentities: one person under identities of two types is one person, or the data is not
// opened. That there are two of them would be a count of 2 in a union of both tables.
func TestUnlikeIdentities(t *testing.T) {
	today := turnOf(t, 2)
	for i, c := range daily.Sample(t, []struct {
		one, first, other, second string
		alike                     bool
	}{
		{"INTEGER", "7", "INTEGER", "7", true},
		{"INTEGER", "7", "BIGINT", "7", true},
		{"TINYINT", "7", "UBIGINT", "7", true},
		{"BIGINT", "-7", "HUGEINT", "-7", true},
		{"UHUGEINT", "7", "HUGEINT", "7", true},
		{"BIGINT", "7", "DECIMAL(18,0)", "7", true},
		{"DECIMAL(18,0)", "7", "DECIMAL(38,0)", "7", true},
		{"VARCHAR", "'x'", "ENUM('x', 'y')", "'x'", true},
		{"ENUM('x')", "'x'", "ENUM('y', 'x')", "'x'", true},
		{"DOUBLE", "7.5", "DOUBLE", "7.5", true},
		{"DOUBLE", "'-0.0'", "DOUBLE", "0", true},
		{"DOUBLE", "'nan'", "DOUBLE", "'-nan'", true},
		{"FLOAT", "'-0.0'", "FLOAT", "0", true},
		{"DECIMAL(18,2)", "7.5", "DECIMAL(18,2)", "7.5", true},
		{"DECIMAL(18,2)", "7.5", "DECIMAL(19,2)", "7.5", true},
		{"DATE", "'2024-01-01'", "DATE", "'2024-01-01'", true},
		{"UUID", "'00000000-0000-0000-0000-00000000000a'", "UUID", "'{0000000000000000000000000000000A}'", true},

		{"DOUBLE", "7.5", "DECIMAL(18,2)", "7.5", false},
		{"DECIMAL(18,2)", "7.5", "DECIMAL(18,3)", "7.5", false},
		{"FLOAT", "0.1", "DOUBLE", "0.1", false},
		{"INTEGER", "7", "DOUBLE", "7", false},
		{"BIGINT", "9007199254740993", "DOUBLE", "9007199254740993", false},
		{"INTEGER", "7", "DECIMAL(18,2)", "7", false},
		{"HUGEINT", "7", "DOUBLE", "7", false},
		{"DATE", "'2024-01-01'", "TIMESTAMP", "'2024-01-01'", false},
		{"DATE", "'2024-01-01'", "VARCHAR", "'2024-1-1'", false},
		{"TIMESTAMP", "'2024-01-01'", "TIMESTAMPTZ", "'2024-01-01 00:00:00+00'", false},
		{"TIMESTAMP", "'2024-01-01'", "TIMESTAMP_S", "'2024-01-01'", false},
		{"TIMESTAMP", "'2024-01-01'", "TIMESTAMP_NS", "'2024-01-01'", false},
		{"UUID", "'00000000-0000-0000-0000-00000000000a'", "VARCHAR", "'00000000-0000-0000-0000-00000000000A'", false},
		{"UUID", "'00000000-0000-0000-0000-00000000000a'", "BLOB", "'\\x0a'", false},
		{"INTEGER", "7", "VARCHAR", "'07'", false},
		{"VARCHAR", "'é'", "BLOB", "'\\xC3\\xA9'", false},
		{"BOOLEAN", "true", "INTEGER", "1", false},
		{"INTEGER", "5", "BIT", "'101'", false},
		{"ENUM('7')", "'7'", "INTEGER", "7", false},
		{"INTEGER[]", "[7]", "BIGINT[]", "[7]", false},
	}, 6) {
		for turn := range 2 {
			if !daily.Full() && (turn+i+today)%2 != 0 { // the one in front, or the other, by turns
				c.one, c.first, c.other, c.second = c.other, c.second, c.one, c.first
				continue
			}
			name := c.one + " " + c.first + " and " + c.other + " " + c.second
			ds := dataset(t, twoTables(t, c.one, c.first, c.other, c.second), twoPolicy)
			e, err := Open(context.Background(), ds)
			switch {
			case err != nil && c.alike:
				t.Errorf("%s: %v", name, err)
			case err != nil:
				if text := err.Error(); !strings.Contains(text, "a.pid") || !strings.Contains(text, "b.pid") ||
					!strings.Contains(text, "same type") {
					t.Errorf("%s: %v", name, err)
				}
				if found, err := check(t, ds); err == nil {
					t.Errorf("%s: checked, with %v", name, found)
				}
			case !c.alike:
				t.Errorf("%s: opened; people in both tables are %s", name,
					answer(t, e, "SELECT COUNT(DISTINCT pid) FROM (SELECT pid FROM a UNION ALL SELECT pid FROM b) AS t"))
			default:
				for _, sql := range []string{"SELECT COUNT(DISTINCT pid) FROM (SELECT pid FROM a UNION ALL SELECT pid FROM b) AS t",
					"SELECT COUNT(*) FROM a JOIN b ON a.pid = b.pid"} {
					if got := answer(t, e, sql); got != "[1]" {
						t.Errorf("%s: %s is %s", name, sql, got)
					}
				}
			}
			if e != nil {
				e.Close()
			}
			c.one, c.first, c.other, c.second = c.other, c.second, c.one, c.first
		}
	}
}

// TestUnlikeKeys: the columns that a path compares have to be alike too, and a CSV file holds text.
func TestUnlikeKeys(t *testing.T) {
	const policy = `
source: .
unit: a.pid
tables:
  a: {unique: pid, columns: {n: {type: integer, bounds: [0, 9]}}}
  b: {path: pid -> a.pid, max_rows: 9, max_groups: 1, columns: {n: {type: integer, bounds: [0, 9]}}}
  c: {path: oid -> b.oid, max_rows: 9, max_groups: 1, columns: {n: {type: integer, bounds: [0, 9]}}}`
	parquet := func(folder, name, rows string) {
		owner(t, filepath.Join(folder, "x.duckdb"), "COPY ("+rows+") TO '"+filepath.Join(folder, name+".parquet")+"'")
	}
	for want, fill := range map[string]func(folder string){
		"": func(folder string) {
			parquet(folder, "a", "SELECT 7 AS pid, 1 AS n")
			parquet(folder, "b", "SELECT 7::BIGINT AS pid, 1 AS oid, 1 AS n")
			parquet(folder, "c", "SELECT 1::UBIGINT AS oid, 1 AS n")
		},
		"b.oid is INTEGER and c.oid is DOUBLE": func(folder string) {
			parquet(folder, "a", "SELECT 7 AS pid, 1 AS n")
			parquet(folder, "b", "SELECT 7 AS pid, 1 AS oid, 1 AS n")
			parquet(folder, "c", "SELECT 1::DOUBLE AS oid, 1 AS n")
		},
		"a.pid is INTEGER and b.pid is VARCHAR": func(folder string) {
			parquet(folder, "a", "SELECT 7 AS pid, 1 AS n")
			write(t, folder, "b.csv", "pid,oid,n\n07,1,1\n")
			write(t, folder, "c.csv", "oid,n\n1,1\n")
		},
	} {
		folder := t.TempDir()
		fill(folder)
		e, err := Open(t.Context(), dataset(t, folder, policy))
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v", want, err)
		case err == nil:
			if got := answer(t, e, "SELECT COUNT(*), COUNT(DISTINCT pid) FROM (SELECT pid FROM b UNION ALL SELECT pid FROM a) AS "+
				"t"); got != "[1] [2]" {
				t.Error(got)
			}
			if got := answer(t, e, "SELECT COUNT(*) FROM c"); got != "[1]" {
				t.Error(got)
			}
			e.Close()
		}
		if strings.Contains(want, "VARCHAR") && !strings.Contains(fmt.Sprint(err), "a CSV file holds text") {
			t.Error(err)
		}
	}
}
