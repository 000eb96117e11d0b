package postquery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"
	pg "github.com/pganalyze/pg_query_go/v6"
)

func parse(text string) (*pg.SelectStmt, error) {
	tree, err := pg.Parse(text)
	if err != nil {
		return nil, err
	}
	if len(tree.Stmts) != 1 || tree.Stmts[0].Stmt.GetSelectStmt() == nil {
		return nil, fmt.Errorf("not a SELECT")
	}
	return tree.Stmts[0].Stmt.GetSelectStmt(), nil
}

func released() []Table {
	n := func(s string) any { return json.Number(s) }
	return []Table{
		{Name: "r", Columns: []Column{{"k", Text, 0, ""}, {"n", Integer, 0, ""}, {"d", Decimal, 2, ""}, {"x", Real, 0, ""},
			{"b", Boolean, 0, ""},
			{"day", Date, 0, ""}, {"at", Timestamp, 0, ""}}, Rows: [][]any{
			{"a", n("7"), n("1.50"), n("2.5"), true, "2024-01-31", "2024-01-31 13:45:00"},
			{"b", n("-7"), n("-0.25"), n("0.1"), false, "2024-02-29", "2024-02-29 00:00:00.5"},
			{"c", nil, nil, nil, nil, nil, nil},
			{"d", n("3"), n("99999999999999999999.99"), n("1e300"), true, "2023-12-31", "2023-12-31 23:59:59"},
		}},
		{Name: "s", Columns: []Column{{"k", Text, 0, ""}, {"m", Integer, 0, ""}},
			Rows: [][]any{{"a", n("10")}, {"b", n("20")}, {"e", n("30")}}},
	}
}

func names(tables []Table) map[string][]string {
	out := map[string][]string{}
	for _, t := range tables {
		out[t.Name] = nil
		for _, c := range t.Columns {
			out[t.Name] = append(out[t.Name], c.Name)
		}
	}
	return out
}

func ask(t testing.TB, text string) (*Table, error) {
	t.Helper()
	stmt, err := parse(text)
	if err != nil {
		return nil, err
	}
	sql, err := Check(stmt, names(released()))
	if err != nil {
		return nil, err
	}
	columns, err := Describe(t.Context(), sql, released())
	if err != nil {
		return nil, err
	}
	out, err := Run(t.Context(), sql, released())
	if err == nil && fmt.Sprint(columns) != fmt.Sprint(out.Columns) {
		t.Errorf("%s: Describe says %v and Run %v", text, columns, out.Columns)
	}
	return out, err
}

func show(t *Table) string {
	rows := make([]string, len(t.Rows))
	for i, r := range t.Rows {
		cells := make([]string, len(r))
		for j, v := range r {
			if cells[j] = fmt.Sprint(v); v == nil {
				cells[j] = "NULL"
			}
		}
		rows[i] = strings.Join(cells, " ")
	}
	return strings.Join(rows, " | ")
}

// reaching are errors that only a statement has that wants something it should not, or that is
// printed wrongly.
var reaching = []driver.ErrorType{
	driver.ErrorTypePermission, driver.ErrorTypeIO, driver.ErrorTypeHTTP, driver.ErrorTypeMissingExtension, driver.ErrorTypeAutoLoad,
	driver.ErrorTypeCatalog,
	driver.ErrorTypeInvalidConfiguration, driver.ErrorTypeSettings, driver.ErrorTypeInternal, driver.ErrorTypeFatal, driver.ErrorTypeSyntax,
}

// FuzzCheck: no text makes Check panic, and what Check lets through touches no file and names no
// table but the released ones, even where files of tempting names are at hand.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"SELECT k, sum(n) OVER (PARTITION BY b ORDER BY k ROWS 2 PRECEDING) FROM r JOIN s USING (k) WHERE n > 1 ORDER BY 1 LIMIT 3",
		"WITH t AS (SELECT * FROM r) SELECT count(*) FILTER (WHERE b), string_agg(k, ',' ORDER BY k) FROM t GROUP BY ROLLUP (k)",
		"SELECT * FROM 'secret.csv'", `SELECT * FROM "secret.csv"`, "SELECT * FROM read_text('secret.csv')",
		"SELECT 1 UNION ALL VALUES (2)",
		"SELECT CASE k WHEN 'a' THEN 1 END, k LIKE 'a' ESCAPE '!', k ~ 'x', nullif(n, 1), n::numeric(3, 1), EXTRACT(year FROM day) FROM r",
		"SELECT g FROM generate_series(1, 3) g, unnest(ARRAY[1, 2]) u WHERE g = ANY(ARRAY[1]) AND EXISTS (SELECT 1 FROM s)",
		"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n) FROM r", "SELECT (SELECT max(m) FROM s WHERE s.k = r.k) FROM r",
		`SELECT U&"\0061" FROM r`,
		"SELECT repeat('x', 3) || lpad(k, 3) || replace(k, 'a', 'b') FROM r", "SELECT k FROM r FOR UPDATE",
		`SELECT row_to_json(r), json_build_object('k', k, 'n', n), to_jsonb(r) -> 'k' ->> 0 FROM r`,
		"SELECT coalesce(json_agg(x ORDER BY k), '[]')::text, array_agg(k), (array_agg(k))[1] FROM (SELECT * FROM r) AS x",
		"SELECT u, ARRAY(SELECT m FROM s) FROM (SELECT array_agg(k) AS a FROM r) AS t, unnest(t.a) AS u WHERE u = ANY(t.a)",
		"SELECT -(-1), - -1.5, 1e5, .5, TRUE IS NOT TRUE",
	} {
		f.Add(seed)
	}
	folder := f.TempDir()
	secret := filepath.Join(folder, "secret.csv")
	if err := os.WriteFile(secret, []byte("secret\nvery secret\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Chdir(folder)
	f.Fuzz(func(t *testing.T, text string) {
		stmt, err := parse(text)
		if err != nil {
			return
		}
		sql, err := Check(stmt, names(released()))
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		in, err := open(ctx, released())
		if err != nil {
			return // no time
		}
		defer in.close()
		rows, err := in.conn.QueryContext(ctx, sql)
		var d *driver.Error
		if errors.As(err, &d) && ctx.Err() == nil && (slices.Contains(reaching, d.Type) || strings.Contains(d.Msg, "syntax error")) {
			t.Errorf("%s\n%v", sql, err)
		}
		out := &Table{}
		if err == nil {
			columns, _ := rows.Columns()
			out.Columns = make([]Column, len(columns))
			out.read(ctx, in, rows)
			rows.Close()
		}
		if strings.Contains(show(out), "very secret") && !strings.Contains(text, "very secret") {
			t.Errorf("%s\nread a file", sql)
		}
		if left, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || len(left) != 1 {
			t.Errorf("%s\nwrote a file: %v %v", sql, left, err)
		}
	})
}
