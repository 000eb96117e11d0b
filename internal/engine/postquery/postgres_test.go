package postquery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/internal/test/testpg"
)

// likePostgres are statements whose every byte and type PostgreSQL says too.
var likePostgres = []string{
	// rows
	"SELECT row_to_json(r) FROM r ORDER BY k",
	"SELECT to_json(r), to_jsonb(r) FROM r ORDER BY k",
	"SELECT row_to_json(t) FROM (SELECT k, m FROM s) AS t ORDER BY m",
	"SELECT row_to_json(t.*) FROM (SELECT k, m FROM s) AS t ORDER BY m",
	`SELECT row_to_json((SELECT "_e" FROM (SELECT s.k AS "sex", s.m AS "a ""b"" 'c'") AS "_e")) FROM s ORDER BY m`,
	"SELECT row_to_json(ROW(1, 'a'::text, NULL::int)), to_json(ROW(k, m)) FROM s ORDER BY m",
	"SELECT row_to_json(t) FROM (SELECT k, (SELECT json_agg(r.n) FROM r WHERE r.k = s.k) AS js, s AS whole FROM s) AS t ORDER BY k",
	"SELECT row_to_json(t) FROM (SELECT m AS a, m AS a FROM s) AS t(a, b) ORDER BY 1::text LIMIT 0",
	"SELECT row_to_json(u) FROM (SELECT * FROM r JOIN s USING (k)) AS u ORDER BY k",
	"SELECT row_to_json(u) FROM (SELECT s.*, r.k AS other FROM s JOIN r ON r.k = s.k) AS u ORDER BY k",
	"SELECT row_to_json(h) FROM (SELECT * FROM generate_series(1, 2) AS g) AS h",
	"SELECT to_json(g) FROM generate_series(1, 2) AS g(n)",
	"WITH a AS (SELECT k, m FROM s) SELECT row_to_json(a) FROM a ORDER BY m",
	"WITH a(l, z) AS (SELECT k, m FROM s) SELECT row_to_json(x) FROM a AS x ORDER BY z",
	"SELECT row_to_json(v) FROM (VALUES (1, 'a'), (2, NULL)) AS v ORDER BY column1",
	// values
	"SELECT to_json(k), to_json(n), to_json(d), to_json(x), to_json(b), to_json(day), to_json(at) FROM r ORDER BY k",
	"SELECT to_jsonb(k), to_jsonb(n), to_jsonb(d), to_jsonb(x), to_jsonb(b), to_jsonb(day), to_jsonb(at) FROM r ORDER BY k",
	"SELECT to_json(1::int), to_json(1.5::float8), to_json(1e15::float8), to_json(1e14::float8), to_json(1e-4::float8), " +
		"to_json(1e-5::float8)",
	"SELECT to_json(0.1::float4), to_json(1e6::float4), to_json(1e5::float4), to_json(12345678::float4)",
	"SELECT to_json('a\"b\\c/d'::text), to_json(E'\\b\\f\\n\\r\\t\\x01é🙂'::text), to_json('<&>'::text), to_json(true), " +
		"to_jsonb(E'\\x7f'::text)",
	"SELECT to_json(1.50::numeric(10, 2)), to_json(count(*)), to_json(max(d)), to_json(sum(n)) FROM r",
	// builders
	"SELECT json_build_object('k', k, 'n', n, 'd', d, 'x', x, 'b', b, 'day', day, 'at', at) FROM r ORDER BY k",
	"SELECT jsonb_build_object('k', k, 'n', n, 'd', d, 'x', x, 'b', b, 'day', day, 'at', at) FROM r ORDER BY k",
	"SELECT json_build_object(), jsonb_build_object(), json_build_array(), jsonb_build_array()",
	"SELECT json_build_object(1, 2, true, 'x', day, NULL, at, 1.5, n, k) FROM r WHERE k = 'a'",
	"SELECT json_build_array(k, n, d, x, b, day, at, NULL, 'c', 1, json_build_array(1)) FROM r ORDER BY k",
	"SELECT jsonb_build_array(k, n, d, x, b, day, at, NULL, 'c', 1, jsonb_build_array(1)) FROM r ORDER BY k",
	"SELECT json_build_object('a', to_jsonb(s), 'b', row_to_json(s), 'c', s) FROM s ORDER BY k",
	"SELECT jsonb_build_object('bb', 1, 'a', 2, 'ccc', 3, 'aa', 4, 'é', 5, 'a', 6)",
	// aggregates
	"SELECT json_agg(x) FROM (SELECT k, m FROM s ORDER BY m) AS x",
	"SELECT jsonb_agg(x) FROM (SELECT k, m FROM s ORDER BY m) AS x",
	"SELECT json_agg(row_to_json(x)) FROM (SELECT k, m FROM s ORDER BY m) AS x",
	"SELECT json_agg(n ORDER BY k), json_agg(k ORDER BY k DESC), jsonb_agg(d ORDER BY k), json_agg(at ORDER BY k), " +
		"json_agg(day ORDER BY k) FROM r",
	"SELECT json_agg(n ORDER BY n NULLS FIRST) FILTER (WHERE k <> 'a'), json_agg(n) FILTER (WHERE k = 'zz') FROM r",
	"SELECT json_agg(DISTINCT b), jsonb_agg(DISTINCT b) FROM r WHERE b IS NOT NULL AND n > 0",
	"SELECT b, json_agg(k ORDER BY k) FROM r GROUP BY b ORDER BY b",
	"SELECT json_agg(json_build_object('k', k) ORDER BY k) FROM r",
	"SELECT json_object_agg(k, n ORDER BY k), jsonb_object_agg(k, n) FROM r",
	"SELECT json_object_agg(k, s ORDER BY k), json_object_agg(m, k ORDER BY k) FROM s",
	"SELECT json_agg(k), jsonb_agg(k), json_object_agg(k, m), array_agg(k) FROM s WHERE m > 100",
	"SELECT coalesce(json_agg(x), '[]'::json), coalesce(json_agg(x), '[]') FROM (SELECT * FROM s WHERE m > 100) AS x",
	"SELECT coalesce(jsonb_agg(x), '[ ]'::jsonb), coalesce(jsonb_agg(x), '[ 1,2]') FROM (SELECT * FROM s WHERE m > 100) AS x",
	"SELECT json_agg(ARRAY[m, 1] ORDER BY m) FROM s",
	"SELECT json_agg(DISTINCT m % 20), jsonb_agg(DISTINCT k ORDER BY k DESC), array_agg(DISTINCT -m) FROM s",
	"SELECT json_agg(DISTINCT n) FROM r",
	"SELECT json_build_object('r', rank() OVER (ORDER BY m), 's', (SELECT max(m) FROM s), 'c', CASE WHEN m > 10 THEN k " +
		"END) FROM s ORDER BY m",
	"SELECT b, json_build_object('n', count(*), 'k', array_agg(k ORDER BY k), 'b', b) FROM r GROUP BY b ORDER BY b",
	"SELECT j ->> 'k' AS j FROM (SELECT to_jsonb(s) AS j FROM s) AS t ORDER BY j DESC",
	"SELECT json_agg(s.m) AS k FROM s GROUP BY k ORDER BY max(m)",
	"SELECT json_agg(t) FROM (SELECT k, json_agg(m) AS ms, array_agg(m) AS a FROM s GROUP BY k ORDER BY k) AS t",
	"SELECT json_agg(a ORDER BY k) FROM (SELECT k, ARRAY[k, 'x'] AS a FROM s) AS t",
	"SELECT json_build_object('a', json_agg(DISTINCT x.k ORDER BY x.k), 'b', jsonb_agg(y.m ORDER BY y.m)) FROM r AS x JOIN " +
		"s AS y ON x.k = y.k",
	"SELECT (SELECT row_to_json(x) FROM (SELECT s.k, max(r.n) AS top FROM r WHERE r.k <= s.k) AS x) FROM s ORDER BY s.k",
	"SELECT row_to_json(x) FROM s JOIN LATERAL (SELECT s.k, count(*) AS c FROM r WHERE r.k <= s.k) AS x ON true ORDER BY s.k",
	"SELECT jsonb_build_object('f', 0.1::float4, 'g', 1e20::float8, 'h', -0.0::float8, 'i', 1::int2, 'j', DATE '2024-02-29')",
	"SELECT to_jsonb(t) -> 'a' -> 0 ->> 'm' FROM (SELECT jsonb_agg(s ORDER BY k) AS a FROM s) AS t",
	// json and jsonb
	`SELECT ' { "b" : 1, "a": [1, 2.50, 1e3, -0, -0.0, 1E-5] , "b":2}'::json, '{"b" : 1, "a": [1, 2.50, 1e3, -0, -0.0,
		1E-5] , "b":2}'::jsonb`,
	`SELECT '"\u00e9\ud83d\ude42\n\/"'::jsonb, '"\u00e9\/"'::json, '[]'::jsonb, '{}'::jsonb, 'null'::jsonb, ' true
		'::jsonb, '[{}, []]'::jsonb`,
	`SELECT '{"a": {"b": [10, 20, null]}}'::json -> 'a' -> 'b' -> 1, '{"a": {"b": [10, 20, null]}}'::json -> 'a' ->> 'b'`,
	`SELECT '{"a": {"b": [10, 20, null]}}'::jsonb -> 'a' -> 'b' -> -2, '{"a":"x\ny"}'::jsonb ->> 'a', '[1,null]'::json ->>
		1, '[1]'::json -> 5`,
	`SELECT '{"a": 1, "a": "2"}'::json -> 'a', '[1, "b"]'::json ->> 1, '{"a":1}'::json -> 'b', '{"a":1}'::json -> 0, '1'::json -> 'a'`,
	"SELECT row_to_json(s) ->> 'k', (to_jsonb(s) ->> 'm')::int + 1, json_build_object('x', s) -> 'x' -> 'm' FROM s ORDER BY k",
	"SELECT json_typeof('[1]'), json_typeof('1'::json), jsonb_typeof('{}'::jsonb), json_array_length('[1, 2]'::json), " +
		"jsonb_array_length(jsonb_agg(m)) FROM s",
	"SELECT row_to_json(s)::jsonb, to_jsonb(s)::json, to_json(to_jsonb(s)), to_jsonb(row_to_json(s)) FROM s ORDER BY k",
	"SELECT json_agg(s ORDER BY k)::text, coalesce(json_agg(s ORDER BY k), '[]')::character varying, jsonb_agg(m ORDER BY " +
		"m)::text FROM s",
	"SELECT length(j), upper(j), j FROM (SELECT json_agg(k ORDER BY k)::text AS j FROM s) AS t",
	"SELECT CASE WHEN m > 10 THEN json_build_object('m', m) END, CASE WHEN m > 10 THEN to_jsonb(m) ELSE '[]' END FROM s ORDER BY m",
	"SELECT to_json(k) IS NULL, json_agg(k) IS NOT NULL FROM s GROUP BY k ORDER BY k",
	"SELECT count(t), count(t.*), count(*) FROM s AS t",
	"SELECT json_build_array(1) UNION ALL SELECT json_build_array(2)",
	"SELECT to_json(json_agg(k ORDER BY k)::text) FROM s",
	"SELECT lag(to_jsonb(s)) OVER (ORDER BY m), first_value(row_to_json(s)) OVER (ORDER BY m) FROM s ORDER BY m",
	// arrays
	"SELECT array_agg(k ORDER BY k), array_agg(n ORDER BY k), array_agg(d ORDER BY k), array_agg(x ORDER BY k), " +
		"array_agg(b ORDER BY k) FROM r",
	"SELECT array_agg(day ORDER BY k), array_agg(at ORDER BY k), array_agg(DISTINCT b ORDER BY b), array_agg(n) FILTER " +
		"(WHERE n > 1000) FROM r",
	`SELECT ARRAY[1, 2, NULL], ARRAY['a b', '', 'null', 'q"\', 'x,y', '{z}']::text[], ARRAY[1.5, 2]::float8[], ARRAY[true,
		false], ARRAY[k, 'x'] FROM s ORDER BY k`,
	"SELECT ARRAY(SELECT m FROM s ORDER BY m DESC), ARRAY(SELECT m FROM s WHERE m > 100), array(SELECT k FROM r WHERE r.k " +
		"= s.k) FROM s ORDER BY k",
	"SELECT '{}'::int[], ARRAY[]::text[], coalesce(array_agg(k), '{}') FROM s WHERE m > 100",
	"SELECT unnest(ARRAY[3, 1]), unnest(array_agg(m ORDER BY m)) FROM s",
	"SELECT u FROM (SELECT array_agg(k ORDER BY k) AS a FROM s) AS t, unnest(t.a) AS u ORDER BY u",
	"SELECT k, u FROM (SELECT k, ARRAY[m, m + 1] AS a FROM s) AS t CROSS JOIN LATERAL unnest(a) AS u ORDER BY k, u",
	"SELECT array_to_json(ARRAY[1, 2]), to_json(ARRAY['a', NULL]), to_jsonb(ARRAY[1, 2]), array_to_json(array_agg(k ORDER BY k)) FROM s",
	"SELECT to_json(array_agg(x ORDER BY k)), to_json(array_agg(at ORDER BY k)), to_jsonb(array_agg(day ORDER BY k)) FROM r",
	"SELECT array_to_string(array_agg(k ORDER BY k), ','), array_to_string(array_agg(n ORDER BY k), ', ', '?'), " +
		"array_to_string(array_agg(b ORDER BY k), '') FROM r",
	"SELECT array_length(ARRAY[1, 2], 1), array_length('{}'::int[], 1), cardinality(ARRAY[1]), cardinality('{}'::int[])",
	"SELECT (ARRAY[1, 2])[1], (ARRAY[1, 2])[0], (ARRAY[1, 2])[3], (ARRAY[1, 2])[-1], (array_agg(k ORDER BY m DESC))[1] FROM s",
	"SELECT 10 = ANY(array_agg(m)), 10 = ALL(array_agg(m)), 5 < ALL(array_agg(m)) FROM s",
	"SELECT k FROM s WHERE m = ANY(ARRAY(SELECT max(m) FROM s)) ORDER BY 1",
	"SELECT string_agg(k, ',' ORDER BY k), array_agg(k ORDER BY k)::text FROM s",
	// what tools write
	`SELECT coalesce(json_agg("root"), '[]') AS "root" FROM (SELECT row_to_json((SELECT "_e" FROM (SELECT "_0_root.base"."k" AS "sex",
		"_0_root.base"."m" AS "n") AS "_e")) AS "root" FROM (SELECT * FROM s ORDER BY m) AS "_0_root.base") AS "_0_root"`,
	`WITH pgrst_source AS (SELECT s.k, s.m FROM s ORDER BY m) SELECT null::bigint AS total_result_set,
		pg_catalog.count(_postgrest_t) AS page_total, coalesce(json_agg(_postgrest_t), '[]') AS body
		FROM (SELECT * FROM pgrst_source) _postgrest_t`,
	`SELECT s.k, COALESCE("r_1"."r_1", '[]') AS "r" FROM s LEFT JOIN LATERAL (SELECT json_agg("r_1") AS "r_1" FROM
		(SELECT r.n, r.d FROM r WHERE r.k = s.k) AS "r_1") AS "r_1" ON TRUE ORDER BY s.k`,
	`SELECT s.k, (SELECT coalesce(jsonb_agg(jsonb_build_array("v0", "v1")), jsonb_build_array())
		FROM (SELECT r.n AS "v0", r.b AS "v1" FROM r WHERE r.k <= s.k ORDER BY r.k) AS "t") FROM s ORDER BY 1`,
	`SELECT row_to_json(finalStage) AS row FROM (WITH __stage0 AS (SELECT k AS "k", m AS "n" FROM s) SELECT * FROM
		__stage0 ORDER BY 2) AS finalStage`,
}

// TestLikePostgres asks both about tables of the same values, and compares texts and types.
func TestLikePostgres(t *testing.T) {
	c, err := pgx.Connect(t.Context(), testpg.Shared(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	for _, table := range released() {
		var columns []string
		for _, column := range table.Columns {
			kind := map[Kind]string{Integer: "int8", Decimal: "numeric(38, 2)", Real: "float8", Text: "text", Boolean: "bool",
				Date: "date", Timestamp: "timestamp"}[column.Kind]
			columns = append(columns, column.Name+" "+kind)
		}
		statements := []string{"CREATE TEMP TABLE " + table.Name + " (" + strings.Join(columns, ", ") + ")"}
		for _, row := range table.Rows {
			cells := make([]string, len(row))
			for i, v := range row {
				if cells[i] = "NULL"; v != nil {
					cells[i] = fmt.Sprintf("'%v'", v)
				}
			}
			statements = append(statements, "INSERT INTO "+table.Name+" VALUES ("+strings.Join(cells, ", ")+")")
		}
		for _, s := range statements {
			if _, err := c.Exec(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, text := range likePostgres {
		want, wantTypes, err := askPostgres(t, c, text)
		if err != nil {
			t.Errorf("%s\nPostgreSQL says %v", text, err)
			continue
		}
		out, err := ask(t, text)
		if err != nil {
			t.Errorf("%s\n%v", text, err)
			continue
		}
		got := make([][]string, len(out.Rows))
		for i, row := range out.Rows {
			for _, v := range row {
				s := fmt.Sprint(v)
				if b, ok := v.(bool); ok {
					s = map[bool]string{true: "t", false: "f"}[b]
				}
				if v == nil {
					s = "NULL"
				}
				got[i] = append(got[i], s)
			}
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("%s\ngot  %q\nwant %q", text, got, want)
		}
		for i, column := range out.Columns {
			if column.made() && column.Type != strings.Replace(wantTypes[i], "varchar", "text", 1) { // which is told of the cast

				t.Errorf("%s\ncolumn %d is %s, and %s in PostgreSQL", text, i+1, column.Type, wantTypes[i])
			}
		}
	}
}

// askPostgres returns rows as text, and the types of columns.
func askPostgres(t *testing.T, c *pgx.Conn, text string) (out [][]string, types []string, err error) {
	t.Helper()
	rows, err := c.Query(t.Context(), text, pgx.QueryResultFormats{pgtype.TextFormatCode})
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var row []string
		for _, cell := range rows.RawValues() {
			if cell == nil {
				row = append(row, "NULL")
			} else {
				row = append(row, string(cell))
			}
		}
		out = append(out, row)
	}
	for _, f := range rows.FieldDescriptions() {
		name := fmt.Sprint(f.DataTypeOID)
		if is, ok := c.TypeMap().TypeForOID(f.DataTypeOID); ok {
			if name = is.Name; strings.HasPrefix(name, "_") {
				name = name[1:] + "[]"
			}
		}
		types = append(types, name)
	}
	return out, types, rows.Err()
}
