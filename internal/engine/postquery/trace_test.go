package postquery

import (
	"fmt"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// traced are released results whose numbers have error bars beside them.
func traced() map[string][]string {
	return map[string][]string{"r": {"k", "n", "x"}, "s": {"k", "m"}}
}

func barOf(o Origin) string {
	if o.Column == "k" {
		return ""
	}
	return "bar of " + o.Column
}

func TestTrace(t *testing.T) {
	for _, x := range []struct{ sql, want, printed string }{
		{"SELECT * FROM r", "r.k; r.n with 3; r.x with 4",
			`SELECT k AS k, n AS n, x AS x, "bar of n" AS "beside 1", "bar of x" AS "beside 2" FROM r`},
		{"SELECT * FROM (SELECT * FROM r) AS t ORDER BY n LIMIT 10", "r.k; r.n with 3; r.x with 4", ""},
		{"SELECT n AS m, k FROM r WHERE n > 5", "r.n with 2; r.k", `SELECT n AS m, k, "bar of n" AS "beside 1" FROM r WHERE n > 5`},
		{"SELECT t.m, t.m FROM (SELECT * FROM r) AS t(l, m)", "r.n with 2; r.n with 3", ""},
		{"SELECT N FROM r AS T", "r.n with 1", ""},
		{"SELECT n, n + 1, sum(n) OVER (), CAST(n AS text) FROM r", "r.n with 4; -; -; -", ""},
		{"WITH a AS (SELECT * FROM r) SELECT * FROM a", "r.k; r.n with 3; r.x with 4", ""},
		{"WITH a(b, c) AS (SELECT k, n FROM r) SELECT c FROM a", "r.n with 1", ""},
		{"SELECT * FROM r CROSS JOIN (SELECT * FROM s) AS t", "r.k; r.n with 5; r.x with 6; s.k; s.m with 7", ""},
		{"SELECT r.k, m FROM r LEFT JOIN (SELECT * FROM s) AS t ON r.k = t.k", "r.k; s.m with 2", ""},
		// Each row must be one row of what it is from.
		{"SELECT k, n FROM r GROUP BY k, n", "r.k; r.n", ""},
		{"SELECT DISTINCT n FROM r", "r.n", ""},
		{"SELECT max(n), count(*) FROM r", "-; -", ""},
		{"SELECT n FROM r ORDER BY count(*)", "r.n", ""},
		// What is not understood is left alone.
		{"SELECT * FROM r UNION ALL SELECT * FROM r", "nothing", ""},
		{"SELECT * FROM (SELECT * FROM r) AS t JOIN (SELECT * FROM s) AS u USING (k)", "nothing", ""},
		{"SELECT * FROM (SELECT * FROM r) AS t NATURAL JOIN (SELECT * FROM s) AS u", "nothing", ""},
		{"SELECT n FROM r, generate_series(1, 2) AS g", "r.n with 1", ""},
		{"SELECT g, g.g + 1 FROM r, generate_series(1, 2) AS g", ".a constant; -", ""},
		{"SELECT x FROM r, generate_series(1, (SELECT max(n) FROM r AS o)) AS g(x)", "-", ""},
		{"SELECT y FROM r CROSS JOIN generate_series(1, r.n) AS g(y)", "-", ""},
		{"SELECT r.n FROM r, generate_series(1, 2) AS g", "r.n with 1", ""},
		{"SELECT k FROM r, s", "-", ""},
		{"WITH a AS (SELECT * FROM r) SELECT x.n, y.* FROM a AS x, a AS y", "nothing", ""},
		{"VALUES (1)", "nothing", ""},
		{"SELECT 1", "-", ""},
	} {
		stmt, err := parse(x.sql)
		if err != nil {
			t.Fatal(err)
		}
		origins, added := Trace(stmt, traced(), barOf)
		if got := trails(origins, added); got != x.want {
			t.Errorf("%s\ngot  %s\nwant %s", x.sql, got, x.want)
		}
		if x.printed == "" {
			continue
		}
		n := &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: stmt}}
		text, err := pg.Deparse(&pg.ParseResult{Version: 170007, Stmts: []*pg.RawStmt{{Stmt: n}}})
		if text = strings.ReplaceAll(text, Hidden, ""); err != nil || text != x.printed {
			t.Errorf("%s\ngot  %s (%v)\nwant %s", x.sql, text, err, x.printed)
		}
	}
}

func trails(origins []Origin, added []int) string {
	if origins == nil {
		return "nothing"
	}
	out := make([]string, len(origins))
	for i, o := range origins {
		if out[i] = "-"; o != (Origin{}) {
			out[i] = o.Table + "." + o.Column
		}
		if added[i] >= 0 {
			out[i] += fmt.Sprint(" with ", added[i])
		}
	}
	return strings.Join(out, "; ")
}

// TestTraceHides looks for a way to see the columns that belong to others without asking for them.
func TestTraceHides(t *testing.T) {
	full := map[string][]string{}
	for table, columns := range traced() {
		full[table] = columns
		for _, c := range columns {
			full[table] = append(full[table], "bar of "+c)
		}
	}
	tables := []Table{{Name: "r"}, {Name: "s"}}
	for i := range tables {
		for _, c := range full[tables[i].Name] {
			tables[i].Columns = append(tables[i].Columns, Column{Name: c, Kind: Integer})
		}
	}
	star := func(s string) string { return "(SELECT * FROM " + s + ")" }
	for sql, want := range map[string]int{
		"SELECT * FROM " + star("r") + " AS t JOIN " + star("s") + " AS u USING (k)":                   4,
		"SELECT * FROM " + star("r") + " AS t NATURAL JOIN " + star("s") + " AS u":                     4,
		star("s") + " UNION ALL " + star("s"):                                                          2,
		"WITH a AS " + star("r") + " SELECT y.*, x.n AS l FROM a AS x, a AS y":                         4,
		"WITH a AS " + star("r") + " SELECT * FROM a WHERE EXISTS (SELECT * FROM a)":                   3,
		"SELECT * FROM " + star("r") + " AS t, LATERAL (SELECT t.n + 1 AS z) AS u":                     4,
		"SELECT * FROM " + star("r") + " AS t WHERE (k, n, x) IN " + star("r"):                         3,
		"SELECT * FROM (SELECT *, 1 AS one FROM " + star("r") + " AS t) AS u, generate_series(1, 2)":   5,
		"SELECT count(*) FROM (SELECT DISTINCT * FROM " + star("r") + " AS t) AS u":                    1,
		"SELECT u.* FROM (SELECT * FROM " + star("r") + " AS t LIMIT 3) AS u FULL JOIN s ON u.n = s.m": 3,
	} {
		stmt, err := parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		_, added := Trace(stmt, traced(), barOf)
		for _, at := range added {
			if at >= 0 {
				want++
			}
		}
		text, err := Check(stmt, full)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		columns, err := Describe(t.Context(), text, tables)
		if err != nil || len(columns) != want {
			t.Errorf("%s: %d columns (%v), and %d are right: %v", sql, len(columns), err, want, columns)
		}
	}
}
