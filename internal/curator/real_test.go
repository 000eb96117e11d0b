package curator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/policy"
)

// sample are rows of the table small: k, f, d, n, m, c. The numbers c are in steps of 0.05.
var sample = [][]tree.Value{
	{"a", true, tree.Day(18321), big.NewInt(3), big.NewInt(1), big.NewInt(30)},
	{"a", false, tree.Day(18321), big.NewInt(4), big.NewInt(-2), big.NewInt(-7)},
	{"a", nil, tree.Day(18322), nil, big.NewInt(3), big.NewInt(40)},
	{"b", true, tree.Day(18322), big.NewInt(10), big.NewInt(0), nil},
	{"b", true, tree.Day(18320), big.NewInt(7), big.NewInt(2), big.NewInt(1)},
	{nil, false, nil, big.NewInt(1), big.NewInt(-3), big.NewInt(11)},
}

// TestMeansWhatPostgreSQLMeans asks the same of exact values here, as if noise had been 0, and of a
// real PostgreSQL that has the rows: expressions of answers, windows beside aggregates, HAVING and
// ORDER BY, and the types that are announced.
func TestMeansWhatPostgreSQLMeans(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), testpg.Shared(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	fillReal(t, conn)
	for _, x := range []struct{ sql, types string }{
		{"SELECT k, COUNT(*), SUM(n), SUM(c) FROM small GROUP BY k ORDER BY k", "text int8 numeric numeric"},
		{"SELECT COUNT(*)::float / 4, COUNT(*)::numeric / 4, COUNT(*) / 4, COUNT(n) * 1.0 / COUNT(*) FROM small",
			"float8 numeric int8 numeric"},
		{"SELECT SUM(n::float), SUM(c::double precision), AVG(n::float), AVG(CAST(n AS real)), SUM(n / 2.0) FROM small",
			"float8 float8 float8 float8 numeric"},
		{"SELECT ROUND(AVG(n)::numeric, 2), ROUND(AVG(n), 1), COUNT(*)::int, COUNT(*)::smallint, COUNT(*)::bigint, " +
			"COUNT(*)::text FROM small",
			"numeric numeric int4 int2 int8 text"},
		{"SELECT AVG(c)::real, SUM(c)::float8, SUM(c)::int, AVG(n)::numeric(6,3), SUM(n)::varchar " +
			"FROM small", "float4 float8 int4 numeric varchar"},
		{"SELECT AVG((n > 3)::int), SUM(CASE WHEN f THEN 1 ELSE 0 END), COUNT(CASE WHEN n > 3 THEN 1 END), COUNT(1) FROM small",
			"numeric int8 int8 int8"},
		{"SELECT COALESCE(SUM(n), 0), NULLIF(COUNT(*), 6), GREATEST(COUNT(*), 10), LEAST(SUM(m), 0), " +
			"CASE WHEN COUNT(*) > 3 THEN 'many' ELSE 'few' END FROM small",
			"numeric int8 int8 numeric text"},
		{"SELECT k, COUNT(*), SUM(COUNT(*)) OVER () AS all, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS share, " +
			"RANK() OVER (ORDER BY COUNT(*) DESC, k) " +
			"FROM small GROUP BY k ORDER BY COUNT(*) DESC, k", "text int8 numeric numeric int8"},
		{"SELECT d, COUNT(*) AS c, SUM(COUNT(*)) OVER (ORDER BY d) AS running, " +
			"COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY d) AS change FROM small " +
			"WHERE d IS NOT NULL GROUP BY d ORDER BY d", "date int8 numeric int8"},
		{"SELECT k, row_number() OVER w, dense_rank() OVER w, first_value(SUM(n)) OVER w, ntile(2) OVER w FROM small GROUP BY k " +
			"WINDOW w AS (ORDER BY SUM(n) DESC) ORDER BY 2", "text int8 int8 numeric int4"},
		{"SELECT k, COUNT(*) * 1.0 / MAX(COUNT(*)) OVER () AS part, COUNT(*) / MAX(COUNT(*)) OVER () AS whole " +
			"FROM small GROUP BY k ORDER BY k",
			"text numeric int8"},
		{"SELECT f, k, COUNT(*), SUM(COUNT(*)) OVER (PARTITION BY k) AS of_k " +
			"FROM small WHERE f AND k IN ('a', 'b') GROUP BY f, k ORDER BY k", ""},
		{"SELECT * FROM (SELECT k, COUNT(*) AS n, row_number() OVER (ORDER BY COUNT(*) DESC, k) AS r " +
			"FROM small GROUP BY 1) AS t WHERE r <= 2 ORDER BY r",
			"text int8 int8"},
		{"SELECT k, COUNT(*) AS n " +
			"FROM small GROUP BY k HAVING COUNT(*) > 1 AND SUM(m) <> 0 ORDER BY COUNT(*) + SUM(m) DESC, k COLLATE \"C\"", "text int8"},
		{"SELECT DISTINCT COUNT(*) > 1, SUM(COUNT(*)) OVER () FROM small GROUP BY k ORDER BY 1", "bool numeric"},
		{"SELECT COUNT(*), SUM(n) FILTER (WHERE f), COUNT(*) FILTER (WHERE k ~ '^[ab]$'), " +
			"COUNT(*) FILTER (WHERE k SIMILAR TO '(b|x)%') FROM small GROUP BY ()",
			"int8 numeric int8 int8"},
		{"SELECT width_bucket(n, ARRAY[3, 7]), COUNT(*) " +
			"FROM small WHERE n IS NOT NULL GROUP BY 1 HAVING COUNT(*) > 0 ORDER BY 1", "int4 int8"},
		{"SELECT SUM(n::int) / SUM(m::int), SUM(n::int) % 7, -SUM(m), abs(SUM(m::int)), sign(SUM(m::int)), " +
			"SUM(n)::float / NULLIF(SUM(m), 0) FROM small",
			"int8 int8 numeric int8 float8 float8"},
		{"SELECT AVG(n)::text, 7::float / 2, COUNT(*) || ' rows', concat('n: ', SUM(c)) FROM small", "text float8 text text"},
		{"SELECT t.k, t.n::numeric / 2, round(t.n / 7.0, 2) FROM (SELECT k, COUNT(*) AS n " +
			"FROM small GROUP BY k) AS t ORDER BY k", "text numeric numeric"},
	} {
		p, err := asked(t, x.sql)
		if err != nil {
			t.Logf("%s: %v", x.sql, err)
			if x.types != "" {
				t.Errorf("it is refused")
			}
			continue
		}
		around, err := answers.Descriptions{}.CheckOuter(t.Context(), p.Statement)
		if err != nil {
			t.Errorf("%s: %v", x.sql, err)
			continue
		}
		var all []*answers.Released
		for _, b := range p.Purchases {
			all = append(all, exactly(b))
		}
		a, err := answers.Finish(t.Context(), p, around, all)
		if err != nil {
			t.Errorf("%s: %v", x.sql, err)
			continue
		}
		there, types := askReal(t, conn, x.sql)
		if got := numbers(a.Rows); got != there {
			t.Errorf("%s\nhere  %s\nthere %s", x.sql, got, there)
		}
		for i, want := range strings.Fields(x.types) {
			ours, theirs, differ := strings.Cut(want, "/")
			if !differ {
				theirs = ours
			}
			if a.Columns[i].Type != ours || types[i] != theirs {
				t.Errorf("%s\ncolumn %d is %s here and %s there; want %s", x.sql, i+1, a.Columns[i].Type, types[i], want)
			}
		}
	}
}

// exactly is what would be released without noise.
func exactly(b *pricing.Purchase) *answers.Released {
	q := b.Query
	out := &answers.Released{Quantiles: make([][][]int64, len(q.Measures))}
	for _, m := range q.Measures {
		sums := make([]int64, q.Groups())
		for _, row := range sample {
			leaf := func(e tree.Expr) tree.Value { return row[e.(*tree.Column).Index] }
			if q.Where != nil && expr.Eval(q.Where, leaf) != true {
				continue
			}
			g := slices.IndexFunc(groups(q), func(keys []policy.Value) bool {
				for i, k := range q.Keys {
					if expr.KeyValue(expr.Eval(k.Expr, leaf), k.Expr.Type()) != keys[i] {
						return false
					}
				}
				return true
			})
			if g < 0 {
				continue
			}
			if m.Arg == nil {
				sums[g]++
				continue
			}
			switch v := expr.Eval(m.Arg, leaf); {
			case v == nil:
			case m.Kind == tree.Sum:
				sums[g] += v.(*big.Int).Int64()
			default:
				sums[g]++
			}
		}
		out.Measures = append(out.Measures, sums)
	}
	return out
}

func groups(q *tree.Query) (out [][]policy.Value) {
	for g := range q.Groups() {
		out = append(out, q.Group(g))
	}
	return out
}

func fillReal(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	sql := "CREATE TABLE small (k text, f boolean, d date, n bigint, m bigint, c numeric)"
	for _, row := range sample {
		cells := make([]string, len(row))
		for i, v := range row {
			switch v := v.(type) {
			case nil:
				cells[i] = "NULL"
			case string, tree.Day:
				cells[i] = fmt.Sprintf("'%v'", v)
			default:
				cells[i] = fmt.Sprint(v)
			}
		}
		sql += "; INSERT INTO small VALUES (" + strings.Join(cells, ", ") + " * 0.05)"
	}
	if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
}

func askReal(t *testing.T, conn *pgx.Conn, sql string) (rows string, types []string) {
	t.Helper()
	all, err := conn.PgConn().Exec(t.Context(), sql).ReadAll()
	if err != nil || len(all) != 1 {
		t.Errorf("%s: %v", sql, err)
		return "", nil
	}
	for _, f := range all[0].FieldDescriptions {
		name := "?"
		if typ, ok := conn.TypeMap().TypeForOID(f.DataTypeOID); ok {
			name = typ.Name
		}
		types = append(types, name)
	}
	return numbers(texts(all[0])), types
}

func texts(r *pgconn.Result) (out [][]any) {
	for _, row := range r.Rows {
		cells := make([]any, len(row))
		for i, v := range row {
			if v != nil {
				cells[i] = string(v)
			}
		}
		out = append(out, cells)
	}
	return out
}

// numbers writes rows with numbers rounded: numeric has more digits there than a double has here.
func numbers(rows [][]any) string {
	var out []string
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, v := range row {
			switch w := v.(type) {
			case nil:
				v = "NULL"
			case json.Number:
				v = w.String()
			case bool:
				v = map[bool]string{true: "t", false: "f"}[w]
			}
			if f, err := strconv.ParseFloat(fmt.Sprint(v), 64); err == nil {
				v = strconv.FormatFloat(f, 'g', 7, 64)
			}
			cells[i] = fmt.Sprint(v)
		}
		out = append(out, strings.Join(cells, " "))
	}
	return strings.Join(out, " | ")
}
