-- One query to a line, compared with PostgreSQL: columns, types, rows and SQLSTATEs. SELECT may be left out.
1, 1::int2, 10000000000, 1.5, 'x', NULL, true
1 + 1, 1 - 2, 3 * 4, 7 / 2, -7 / 2, 7 % 3, -7 % 3, 2 + 1.5, 1::int2 + 1::int2, 1 + 1::int8
2147483647 + 1
9223372036854775807 + 1
1 / 0
1.0 / 0
5 & 3, 5 | 3, 256 >> 2
NULL AND true, NULL AND false, NULL OR true, NULL OR false, NOT NULL::bool
NULL = NULL, NULL <> 1, NULL IS NULL, 1 IS NOT NULL, NULL IS DISTINCT FROM 1, NULL IS NOT DISTINCT FROM NULL
NULL::bool IS TRUE, NULL::bool IS NOT TRUE, false IS FALSE, NULL::bool IS UNKNOWN, true IS NOT UNKNOWN
1 IN (1, 2), 3 IN (1, 2), 3 IN (1, NULL), 1 NOT IN (2, NULL), 1 NOT IN (1, NULL), NULL IN (1)
1 = ANY (ARRAY[1, 2]), 3 = ANY (ARRAY[1, NULL]), 3 <> ALL (ARRAY[1, 2]), 3 <> ALL (ARRAY[1, NULL]), 'a' = ANY ('{a,b}')
1 BETWEEN 0 AND 2, 3 NOT BETWEEN 0 AND 2, NULL BETWEEN 1 AND 2, 1 BETWEEN 2 AND NULL
CASE WHEN NULL THEN 1 ELSE 2 END, CASE 1 WHEN 1 THEN 'one' WHEN 2 THEN 'two' END, CASE WHEN false THEN 1 END
CASE WHEN true THEN 1 ELSE 1.5 END, CASE WHEN true THEN 'a' ELSE 'b'::name END, CASE WHEN true THEN 'a'::text ELSE 'b'::varchar END
COALESCE(NULL, 1), COALESCE(NULL, 'a', 'b'), NULLIF(1, 1), NULLIF(1, 2), NULLIF('a', 'b'), GREATEST(1, 3, NULL), LEAST(2, 1.5)
'a' || 'b', 'a' || 1, 1 || 'b', 'a' || NULL, 'a'::name || 'b'
1 || 2
'abc' LIKE 'a%', 'abc' LIKE '_b_', 'abc' LIKE 'ab', 'ABC' ILIKE 'a%', 'a%c' LIKE 'a\%c', 'abc' NOT LIKE 'b%', 'a_c' LIKE 'a!_c' ESCAPE '!'
'abc' ~ '^a', 'abc' ~ 'B', 'abc' ~* 'B', 'abc' !~ 'd', 'abc' !~* 'A', 'a.c' ~ '^(a\.c)$', 'x' ~ '[[:alpha:]]', 'pg_x' ~ '^pg_'
'a' ~ '('
'a' ~ '[a-'
'1'::int, '1'::int8, '1.5'::numeric, 't'::bool, 'yes'::bool, 'off'::bool, 1::text, true::text, 'x'::name, 'xyz'::"char", 1::bool, true::int
'x'::int
'maybe'::bool
'99999999999'::int
70000::int2
'1.5'::int
1.5::int, 2.5::int, -1.5::int, 1.4::int, 2.5::float8::int
'integer'::regtype, 'int4'::regtype, 'text[]'::regtype, 'timestamp with time zone'::regtype, 'varchar'::regtype::oid, 25::regtype, 'character varying(10)'::regtype
ARRAY[1, 2, NULL], ARRAY['a', 'b'], ARRAY[1, 2.5], ARRAY[]::int[], '{1,2}'::int[], '{a,"b c",NULL}'::text[], ARRAY['a']::name[]
(ARRAY[1, 2, 3])[2], (ARRAY[1, 2, 3])[0], (ARRAY[1, 2, 3])[4], ('{a,b}'::text[])[1]
ARRAY[1, 2] || 3, 0 || ARRAY[1, 2], ARRAY[1] || ARRAY[2], ARRAY['a'] || 'b'::text, ARRAY[1, 2] @> ARRAY[1], ARRAY[1] <@ ARRAY[1, 2], ARRAY[1] && ARRAY[2]
array_length(ARRAY[1, 2], 1), array_length('{}'::int[], 1), array_upper(ARRAY[1, 2], 1), array_lower(ARRAY[1, 2], 1), cardinality(ARRAY[1, 2])
array_to_string(ARRAY['a', NULL, 'b'], ','), array_to_string(ARRAY['a', NULL], ',', '*'), string_to_array('a,b', ','), string_to_array('a', NULL), array_position(ARRAY['a', 'b'], 'b')
'1 2 3'::int2vector, ('1 2 3'::int2vector)[0], array_lower('1 2'::int2vector, 1), array_upper('1 2'::int2vector, 1), '1 2'::oidvector
'{1,2'::int[]
lower('ABC'), upper('abc'), length('äb'), substring('abcdef', 2), substring('abcdef', 2, 3), substring('abcdef' from 'c(.)'), substr('abc', 0), substr('abc', -1, 3)
left('abcdef', 2), left('abcdef', -2), replace('aXbX', 'X', 'yy'), position('c' in 'abc'), strpos('abc', 'z')
trim('  a '), btrim('xax', 'x'), ltrim(' a'), rtrim('a '), trim(both '"' from '"a"'), trim(leading 'x' from 'xxa'), repeat('ab', 2), repeat('a', -1)
split_part('a.b.c', '.', 2), split_part('a.b', '.', 5), split_part('a.b.c', '.', -1), concat('a', NULL, 1, true), concat_ws(',', 'a', NULL, 'b'), format('%s %I %L %%', 'a', 'b c', 'd''e'), format('%2$s %1$s', 'a', 'b')
quote_ident('abc'), quote_ident('Abc'), quote_ident('select'), quote_ident('a b'), quote_literal('a''b'), quote_literal(E'a\\b')
regexp_replace('abcabc', 'b', 'x'), regexp_replace('abcabc', 'b', 'x', 'g'), regexp_replace('abc', '(a)(b)', '\2\1')
abs(-1), abs(-1.5), floor(1.5), ceil(1.5), round(2.5), round(1.234, 2), trunc(1.9)
pg_typeof(1), pg_typeof('a'::text), pg_typeof(1.5), pg_typeof(ARRAY[1]), pg_typeof('a'::name)
ROW(1, 'a', NULL), ROW(1, 2) = ROW(1, 2), ROW(1, NULL) = ROW(1, 2), ROW(1, NULL) = ROW(2, NULL), (1, 2) < (1, 3), ROW(NULL, NULL) IS NULL, ROW(1, NULL) IS NOT NULL
(1, 2) IN ((1, 2), (3, 4)), (1, 2) IN (SELECT 1, 2), 1 IN (SELECT 1 UNION SELECT 2), 5 > ALL (SELECT 1 UNION SELECT 2), 5 = ANY (SELECT NULL::int), 1 NOT IN (SELECT NULL::int)
EXISTS (SELECT 1), EXISTS (SELECT 1 WHERE false), (SELECT 1 WHERE false), ARRAY(SELECT 1 UNION SELECT 2 ORDER BY 1), ARRAY(SELECT 1 WHERE false)
(SELECT 1 UNION ALL SELECT 2)
(SELECT 1, 2)
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v
SELECT v.b, a FROM (VALUES (1, 'a'), (2, NULL)) v(a, b) ORDER BY b NULLS FIRST, 2
SELECT column1 FROM (VALUES (3), (1), (2)) v ORDER BY 1 DESC LIMIT 2
SELECT column1 FROM (VALUES (3), (1), (2)) v ORDER BY column1 OFFSET 1
SELECT x, count(*), sum(y), min(y), max(y), avg(y::float8) FROM (VALUES ('a', 1), ('b', 2), ('a', 3)) v(x, y) GROUP BY x ORDER BY x
SELECT count(*), count(x), count(DISTINCT x), sum(x), min(x), bool_or(x > 1), bool_and(x > 1), array_agg(x ORDER BY x DESC), string_agg(x::text, ',' ORDER BY x) FROM (VALUES (1), (2), (NULL), (2)) v(x)
SELECT count(*), sum(x), min(x), array_agg(x), bool_or(x > 1) FROM (SELECT 1 AS x WHERE false) v
SELECT x FROM (VALUES (1), (2), (2)) v(x) GROUP BY x HAVING count(*) > 1
SELECT count(*) FILTER (WHERE x > 1) FROM (VALUES (1), (2)) v(x)
SELECT x % 2 AS p, count(*) FROM generate_series(1, 5) x GROUP BY p ORDER BY p
SELECT x % 2, count(*) FROM generate_series(1, 5) x GROUP BY 1 ORDER BY 1 DESC
SELECT DISTINCT x FROM (VALUES (1), (2), (1)) v(x) ORDER BY x
SELECT 1 UNION SELECT 1 UNION ALL SELECT 1
SELECT 1 AS a UNION SELECT NULL ORDER BY a NULLS FIRST
SELECT 1 UNION SELECT 'a'
SELECT 1 UNION SELECT 1, 2
SELECT a.x, b.y FROM (VALUES (1), (2)) a(x) LEFT JOIN (VALUES (1, 'p')) b(x, y) ON a.x = b.x ORDER BY 1
SELECT a.x, b.y FROM (VALUES (1), (2)) a(x) RIGHT JOIN (VALUES (1, 'p'), (3, 'q')) b(x, y) ON a.x = b.x ORDER BY 2
SELECT * FROM (VALUES (1, 2)) a(x, y) JOIN (VALUES (1, 3)) b(x, z) USING (x)
SELECT x FROM (VALUES (1, 2)) a(x, y) JOIN (VALUES (1, 3)) b(x, z) ON a.x = b.x
SELECT a.x, b.x FROM (VALUES (1), (2)) a(x), (VALUES (1), (2)) b(x) WHERE a.x < b.x
SELECT a.x, l.y FROM (VALUES (1), (2)) a(x), LATERAL (SELECT a.x * 10 AS y) l ORDER BY 1
SELECT a.x, g FROM (VALUES (1), (2)) a(x), generate_series(1, a.x) g ORDER BY 1, 2
SELECT a.x, g FROM (VALUES (0), (2)) a(x) LEFT JOIN LATERAL generate_series(1, a.x) g ON true ORDER BY 1, 2
SELECT a.x FROM (VALUES (1)) a(x), (SELECT a.x) b
SELECT (SELECT max(b.y) FROM (VALUES (1, 5), (1, 7), (2, 9)) b(x, y) WHERE b.x = a.x) FROM (VALUES (1), (2), (3)) a(x) ORDER BY 1 NULLS LAST
WITH t AS (SELECT 1 AS a), u(b) AS (SELECT a + 1 FROM t) SELECT * FROM t, u
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT sum(n) FROM r
WITH RECURSIVE r(n) AS (VALUES (1) UNION SELECT n % 3 + 1 FROM r) SELECT n FROM r ORDER BY n
SELECT unnest(ARRAY[1, 2]), 'x'
SELECT unnest(ARRAY[1, 2, 3]), unnest(ARRAY['a', 'b'])
SELECT * FROM unnest(ARRAY['a', 'b']) WITH ORDINALITY u(v, n)
SELECT * FROM generate_series(5, 1, -2)
SELECT generate_subscripts(ARRAY['a', 'b'], 1)
SELECT row_number() OVER (ORDER BY x DESC), x FROM (VALUES (1), (3), (2)) v(x) ORDER BY x
SELECT x, y, row_number() OVER (PARTITION BY x ORDER BY y), rank() OVER (PARTITION BY x ORDER BY y), dense_rank() OVER (ORDER BY x) FROM (VALUES (1, 1), (1, 1), (1, 2), (2, 5)) v(x, y) ORDER BY 1, 2, 3
SELECT v FROM (VALUES (1, 'a')) v(x, y)
SELECT (v).y, v.* FROM (VALUES (1, 'a')) v(x, y)
SELECT row_to_json(v), to_json(ARRAY['a"b', NULL]), json_build_object('a', 1, 'b', 'c') IS NULL FROM (VALUES (1, 'a')) v(x, y)
SELECT 1 AS "A b", 2 AS c
SELECT lower(1, 2)
SELECT 'a' + 1
SELECT 'a'::text + 1
SELECT 'a'::text = 1
SELECT 1 WHERE 1
SELECT 1 WHERE count(*) > 1
SELECT sum(count(*))
SELECT sum('a'::text)
SELECT 1 ORDER BY 2
SELECT 1 LIMIT -1
SELECT * 
SELECT FROM WHERE
SELECT 1 IS DISTINCT FROM 'a'
SELECT extract(year FROM '2024-05-06'::date), date_part('month', '2024-05-06 10:00:00'::timestamp), '2024-05-06'::date::text, '2024-05-06 01:02:03'::timestamp, '2024-05-06'::date < '2024-05-07'
SELECT '2024-13-01'::date
SELECT x, x IS NULL FROM unnest(ARRAY[1, NULL]) x
SELECT '(' || x || ')' FROM unnest('{a,b}'::text[]) AS x
SELECT string_agg(DISTINCT x, ',') FROM (VALUES ('b'), ('a'), ('b')) v(x)
SELECT i, (SELECT count(*) FROM generate_series(1, i)) FROM generate_series(1, 3) i
SELECT 'a' COLLATE "C" < 'B', 'a' < 'b' COLLATE "C"
SELECT 'text'::text::varchar(2), 'abc'::char(2), 'abc'::varchar
SELECT $$dollar$$, E'a\nb', U&'\0041'
SELECT 1e3, 1.5e-3, 0.1 + 0.2, 1e3::int
SELECT a.x FROM (VALUES (1), (2)) a(x) LEFT JOIN (VALUES (1)) b(x) ON a.x = b.x WHERE b.x IS NULL
SELECT a.x, b.x FROM (VALUES (1), (2)) a(x) LEFT JOIN (VALUES (1), (2)) b(x) ON a.x = b.x AND a.x > 1 ORDER BY 1
SELECT a.x, b.x FROM (VALUES (1), (2)) a(x) LEFT JOIN (VALUES (1), (2)) b(x) ON a.x = b.x AND b.x > 1 WHERE a.x < 3 ORDER BY 1
SELECT a.x, c.x FROM (VALUES (1), (2)) a(x) LEFT JOIN ((VALUES (1), (2)) b(x) JOIN (VALUES (2)) c(x) ON b.x = c.x) ON a.x = b.x ORDER BY 1
SELECT a.x FROM (VALUES (1, NULL), (NULL, 1)) a(x, y) JOIN (VALUES (NULL), (1)) b(x) ON a.x = b.x
SELECT count(*) FROM (VALUES (1), (NULL)) a(x) JOIN (VALUES (1), (NULL)) b(x) USING (x)
SELECT x FROM (VALUES (1), (NULL), (2)) v(x) WHERE x NOT IN (SELECT y FROM (VALUES (1)) w(y))
SELECT E'\xff'
SELECT 'ä'::"char"
SELECT DISTINCT ON (x % 2) x FROM generate_series(1, 5) x ORDER BY x % 2, x DESC
SELECT DISTINCT ON (a, b) a, b, c FROM (VALUES (1, NULL, 3), (1, NULL, 4), (2, 1, 5), (2, 1, 6)) v(a, b, c) ORDER BY a, b, c DESC
SELECT DISTINCT ON (1) x % 3, x FROM generate_series(1, 7) x ORDER BY 1, 2 LIMIT 2
SELECT DISTINCT ON (y) x % 3 AS y, count(*) FROM generate_series(1, 7) x GROUP BY 1 ORDER BY y DESC
SELECT x FROM generate_series(1, 5) x EXCEPT SELECT x FROM generate_series(2, 3) x ORDER BY 1
SELECT 1 EXCEPT SELECT NULL
SELECT NULL EXCEPT SELECT NULL
SELECT unnest(ARRAY[3, 3, 1]) EXCEPT SELECT 1
SELECT 1, 2 EXCEPT SELECT 1
array(SELECT unnest('{a,b,c}'::text[]) EXCEPT SELECT unnest('{b,d}'::text[]) ORDER BY 1)
(ARRAY[1, 2, 3])[1:2], (ARRAY[1, 2, 3])[2:], (ARRAY[1, 2, 3])[:2], (ARRAY[1, 2, 3])[0:9], (ARRAY[1, 2, 3])[3:1], (ARRAY[1, 2, 3])[NULL:1]
(ARRAY['a', 'b'])[1:1], (string_to_array('a,b,c', ','))[1:2], ('{1,2}'::int[])[:]
'2025-01-03 12:00:00'::timestamp - '2025-01-01 10:30:00'::timestamp, '2025-01-01'::timestamp - '2025-01-01 00:00:01.25'::timestamp
'2025-01-02'::timestamptz - '2025-01-01'::timestamptz, '2025-01-01'::timestamp - '2025-03-01'::timestamp, now() - now()
extract(epoch FROM '2025-01-02 00:00:01.5'::timestamp - '2025-01-01'::timestamp)::float8, date_part('epoch', '1 day 01:00:00'::interval)
extract(epoch FROM '-01:30:00'::interval)::float8, extract(epoch FROM '2 hours'::interval)::float8
round(extract(epoch FROM now() - now())::numeric), now() - NULL
