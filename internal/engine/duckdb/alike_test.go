package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
)

// twoTables is a database in which a person is in two tables, under identities of two types.
func twoTables(t *testing.T, one, first, other, second string) string {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "d.duckdb")
	db, err := sql.Open("duckdb", path)
	if err != nil {
		t.Fatal(err)
	}
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
	for _, c := range []struct {
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
	} {
		for range 2 {
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
