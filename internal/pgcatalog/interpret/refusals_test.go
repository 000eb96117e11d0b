package interpret

import (
	"context"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// TestRefusals has queries that must fail, with their SQLSTATEs.
func TestRefusals(t *testing.T) {
	all := "many a, many b, many c, many d"
	for _, test := range daily.Sample(t, []struct{ code, sql string }{
		{"42P01", "SELECT * FROM nothing"},
		{"42P01", "SELECT * FROM elsewhere.staff"},
		{"42703", "SELECT nothing FROM staff"},
		{"42702", "SELECT name FROM staff, many"},
		{"0A000", "SELECT random()"},
		{"42883", "SELECT public.lower('A')"},
		{"0A000", "SELECT * FROM hidden"},
		{"0A000", "SELECT * FROM other.public.staff"},
		{"54000", "SELECT count(*) FROM " + all},
		{"54000", "SELECT count(*) FROM many a JOIN many b ON a.name <= b.name"},
		{"54000", "SELECT (SELECT count(*) FROM many b WHERE b.name >= a.name) FROM many a"},
		{"54000", "SELECT row_number() OVER (ORDER BY a.name) FROM many a, many b"},
		{"54000", "SELECT DISTINCT ON (a.name) b.name FROM many a, many b"},
		{"42601", "SELECT 1; SELECT 2"},
		{"42601", "SELEC 1"},
		{"0A000", "SELECT 1 INTO x"},
		{"0A000", "CREATE TABLE x (a int)"},
		{"42P02", "SELECT $0"},
		{"42P02", "SELECT $100000"},
		{"08P01", "SELECT $1"},
		// more than there is room or time for
		{"54000", "SELECT * FROM generate_series(1, 1000000000)"},
		{"54000", "SELECT generate_series(1, 1000000000)"},
		{"54000", "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT * FROM r"},
		{"54000", "WITH RECURSIVE r(n) AS (SELECT 'a' UNION ALL SELECT n || n FROM r) SELECT max(n) FROM r"},
		{"54000", "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r, generate_series(1, 10)) SELECT count(*) FROM r"},
		{"54000", "SELECT repeat('a', 2000000000)"},
		{"54000", "SELECT lpad('a', 2000000000, 'bc')"},
		{"54000", "SELECT rpad('', 2000000000, 'é')"},
		{"54000", "SELECT count(translate(repeat('a', 100000), repeat('b', 100000), '')) FROM generate_series(1, 10000)"},
		{"54000", "SELECT count(reverse(repeat('a', 1000000))) FROM generate_series(1, 1000)"},
		{"54000", "SELECT count(md5(repeat('a', 1000000))) FROM generate_series(1, 10000)"},
		{"54000", "SELECT regexp_matches(repeat('a', 100000), 'a.*z|a', 'g')"},
		{"54000", "SELECT count(md5(x)) FROM (SELECT repeat('a', 1000000) AS x) t, generate_series(1, 100000)"},
		{"54000", "SELECT count(length(x)) FROM (SELECT repeat('a', 1000000) AS x) t, generate_series(1, 100000)"},
		{"54000", "SELECT count(jsonb_typeof(x)) FROM " +
			"(SELECT ('[' || repeat('\"\",', 200000) || '1]')::jsonb AS x) t, generate_series(1, 100000)"},
		{"54000", "SELECT count(x * x) FROM (SELECT 1e400 / 7 AS x) t, generate_series(1, 100000000)"},
		{"54000", "SELECT regexp_split_to_array(repeat('a', 100000), 'b|(a.*z)')"},
		{"54000", "SELECT count(array_positions(a, 1)) FROM " +
			"(SELECT array_agg(x) AS a FROM generate_series(1, 10000) x) t, generate_series(1, 1000)"},
		{"54000", "SELECT count(array_append(a, 1)) FROM " +
			"(SELECT array_agg(x) AS a FROM generate_series(1, 100000) x) t, generate_series(1, 1000)"},
		{"54000", "WITH RECURSIVE r(a) AS (SELECT ARRAY[1] UNION ALL SELECT array_cat(a, a) FROM r) SELECT count(*) FROM r"},
		{"54000", "SELECT generate_series(now(), now() + interval '900 years', interval '1 second')"},
		{"54000", "SELECT * FROM ROWS FROM (generate_series(1, 1000000000), generate_series(1, 2)) AS t(a, b)"},
		{"54000", "SELECT count(jsonb_pretty(('[' || repeat('1,', 200000) || '1]')::jsonb)) FROM generate_series(1, 100)"},
		{"54001", "SELECT (repeat('[', 1000) || repeat(']', 1000))::json"},
		{"54000", "SELECT ('[' || repeat('[1],', 2000) || '1]')::jsonb @> ('[' || repeat('[1],', 3000) || '1]')::jsonb"},
		{"54000", "SELECT json_agg(repeat('a', 100000)) FROM generate_series(1, 100)"},
		{"22003", "SELECT factorial(1000000)"},
		{"22003", "SELECT 1e2000000000"},
		{"22003", "WITH RECURSIVE r(n) AS (SELECT 1e500 UNION ALL SELECT n * n FROM r) SELECT count(*) FROM r"},
		{"54000", "SELECT count(1e900 / g) FROM generate_series(1, 100000000) g"},
		{"54000", "SELECT count(factorial(440)) FROM generate_series(1, 10000)"},
		{"54000", "SELECT 1::bit(2000000000)"},
		{"54000", "SELECT replace(repeat('a', 100000), 'a', repeat('b', 1000))"},
		{"54000", "SELECT regexp_replace(repeat('a', 100000), 'a', repeat('b', 1000), 'g')"},
		{"54000", "SELECT regexp_replace(repeat('a', 100000), 'a.*z|a', '', 'g')"},
		{"54000", "SELECT string_agg(repeat('a', 100000), '') FROM generate_series(1, 100)"},
		{"54000", "SELECT array_agg(repeat('a', 1000000)) FROM generate_series(1, 1000)"},
		{"54000", "SELECT array_to_string(array_agg(repeat('a', 10000)), '') FROM generate_series(1, 1000)"},
		{"54000", "SELECT format('%1$s%1$s%1$s%1$s%1$s%1$s%1$s%1$s%1$s%1$s%1$s%1$s', repeat('a', 100000))"},
		{"54000", "SELECT 'a' ~ repeat('a', 5000)"},
		{"54000", "SELECT count(*) FROM generate_series(1, 100000) g WHERE repeat('a', 10000 + g % 2) ~ '(a*)*b'"},
		{"54000", "SELECT count(*) FROM generate_series(1, 5000) g WHERE 'x' ~ ('[ab]{100}' || g)"},
		{"2201B", "SELECT 'a' ~ 'a{1000}{1000}{1000}'"},
		{"2201B", `SELECT 'aa' ~ '(a)\1'`},
		{"54000", "SELECT " + strings.Repeat("1,", 4000) + "1"},
		{"54000", "SELECT '" + strings.Repeat("x", 70000) + "'"},
		{"54001", "SELECT " + strings.Repeat("(", 500) + "1" + strings.Repeat(")", 500)},
		{"54001", "SELECT " + strings.Repeat("NOT ", 500) + "true"},
		{"54001", "SELECT " + strings.Repeat("- ", 500) + "1"},
		{"54001", strings.Repeat("SELECT (", 100) + "SELECT 1" + strings.Repeat(")", 100)},
		{"54000", strings.Repeat("SELECT 1 UNION ", 400) + "SELECT 1"},
		{"54000", "SELECT 1 FROM " + strings.TrimSuffix(strings.Repeat("(SELECT 1),", 100), ",")},
		{"22021", "SELECT 'a\x00'"},
		{"22021", "SELECT '\xff'"},
		{"54000", doubled("ROW(x, x)") + "SELECT DISTINCT x FROM t60"},
		{"54000", doubled("ROW(x, x)") + "SELECT a.x = b.x FROM t60 a, t60 b"},
		{"54000", doubled("ROW(x, x)") + "SELECT x::text FROM t60"},
		{"54000", doubled("x || x") + "SELECT length(x::text) FROM t60"},
		{"0A000", doubled("ARRAY[x, x]") + "SELECT DISTINCT x FROM t60"},
		{"54000", "SELECT DISTINCT array_agg(x) FROM (SELECT repeat('a', 1000000) AS x) a, generate_series(1, 1000)"},
		{"54000", "SELECT array_agg(x) FROM (SELECT repeat('a', 1000000) AS x) a, generate_series(1, 1000)"},
		{"54000", "SELECT x" + strings.Repeat(", x", 1000) + " FROM (SELECT repeat('a', 1000000) AS x) a"},
		{"54000", "SELECT DISTINCT x" + strings.Repeat(", x", 1000) + " FROM (SELECT repeat('a', 1000000) AS x) a"},
		{"54000", "SELECT DISTINCT ON (x) g FROM (SELECT repeat('a', 1000000) AS x) a, generate_series(1, 1000) g"},
		{"54000", "SELECT x FROM (SELECT repeat('a', 1000000) AS x) a, generate_series(1, 1000) EXCEPT SELECT 'b'"},
		{"54000", "SELECT 'b' EXCEPT SELECT x FROM (SELECT repeat('a', 1000000) AS x) a, generate_series(1, 1000)"},
		{"54000", "SELECT a[1:g] FROM (SELECT array_agg(x) AS a FROM generate_series(1, 10000) x) t, generate_series(1, 10000) g"},
		{"54000", doubled("ROW(x, x)") + "SELECT DISTINCT ON (x) 1 FROM t60"},
		{"54000", doubled("ROW(x, x)") + "SELECT x FROM t60 EXCEPT SELECT x FROM t60"},
	}, 44) {
		if _, _, err := ask(t.Context(), test.sql); codeOf(err) != test.code {
			t.Errorf("%.120s: %v, and not %s", test.sql, err, test.code)
		}
	}
}

// doubled is a chain of WITH queries, each of which has the one before it twice.
func doubled(x string) string {
	sql := "WITH t0 AS (SELECT ARRAY[1] AS x)"
	for i := range 60 {
		sql += ", t" + oid.Format(uint32(i+1)) + " AS (SELECT " + x + " AS x FROM t" + oid.Format(uint32(i)) + ")"
	}
	return sql + " "
}

// TestLongChains: what nests without parentheses is bounded by the number of words alone, and must
// not end in a crash.
func TestLongChains(t *testing.T) {
	for _, sql := range []string{
		"SELECT 1" + strings.Repeat("+1", 2900),
		"SELECT '1'" + strings.Repeat("::text", 2900),
		"SELECT true" + strings.Repeat(" AND true", 2900),
		"SELECT 1" + strings.Repeat(" IS NULL", 1900),
		"SELECT 'a'" + strings.Repeat("||'a'", 2900),
		"SELECT 1 WHERE 1 IN (1" + strings.Repeat(",1", 2900) + ")",
	} {
		if _, _, err := ask(t.Context(), sql); err != nil {
			t.Errorf("%.40s: %v", sql, err)
		}
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := ask(ctx, "SELECT count(*) FROM many a, many b"); codeOf(err) != "57014" {
		t.Error(err)
	}
}
