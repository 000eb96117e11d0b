-- Grafana 10 and 11: equivalents, in our own words, of what the query builder of its PostgreSQL data source asks.
SELECT current_setting('server_version_num')::int / 100 AS version
;;
SELECT e.extversion FROM pg_extension e WHERE e.extname = 'timescaledb'
;;
SELECT s.schema_name AS "name" FROM information_schema.schemata s WHERE s.schema_name NOT IN ('information_schema', 'pg_catalog', 'pg_toast') ORDER BY s.schema_name
;;
WITH path AS (SELECT CASE WHEN trim(p[n]) = '"$user"' THEN user ELSE trim(p[n]) END AS part
  FROM string_to_array(current_setting('search_path'), ',') p, generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1), array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS n)
SELECT CASE WHEN quote_ident(t.table_schema) IN (SELECT part FROM path) THEN quote_ident(t.table_name) ELSE quote_ident(t.table_schema) || '.' || quote_ident(t.table_name) END AS "table"
FROM information_schema.tables t
WHERE quote_ident(t.table_schema) NOT IN ('information_schema', 'pg_catalog')
ORDER BY CASE WHEN quote_ident(t.table_schema) IN (SELECT part FROM path) THEN 0 ELSE 1 END, 1
;;
SELECT quote_ident(c.column_name) AS "column", c.data_type AS "type"
FROM information_schema.columns c
WHERE CASE array_length(parse_ident('public.patients'), 1)
  WHEN 2 THEN quote_ident(c.table_schema) = (parse_ident('public.patients'))[1] AND quote_ident(c.table_name) = (parse_ident('public.patients'))[2]
  ELSE quote_ident(c.table_name) = 'public.patients' END
ORDER BY c.ordinal_position
;;
SELECT column_name FROM information_schema.columns WHERE table_name = 'patients' AND data_type IN ('text', 'character', 'character varying') AND table_schema = 'public'
