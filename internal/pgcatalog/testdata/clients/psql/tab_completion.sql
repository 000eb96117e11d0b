-- psql 15.18, tab completion, recorded from a server log. Each query is after the words that were completed.
-- SELECT * FROM pat
SELECT 1;
;;
-- SELECT * FROM pat
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND (c.relname) LIKE 'pat%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
	UNION ALL
	SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'pat%' AND n.nspname NOT LIKE E'pg\\_%'
	LIMIT 1000
;;
-- SELECT * FROM public.
SELECT c.relname, n.nspname FROM pg_catalog.pg_class c, pg_catalog.pg_namespace n WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND (c.relname) LIKE '%' AND n.nspname = 'public'
	LIMIT 1000
;;
-- \d pa
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE (c.relname) LIKE 'pa%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
	UNION ALL
	SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'pa%' AND n.nspname NOT LIKE E'pg\\_%'
	LIMIT 1000
;;
-- \dt p
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p') AND (c.relname) LIKE 'p%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
	UNION ALL
	SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'p%' AND n.nspname NOT LIKE E'pg\\_%'
	LIMIT 1000
;;
-- \dv e
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE c.relkind IN ('v') AND (c.relname) LIKE 'e%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
	UNION ALL
	SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'e%' AND n.nspname NOT LIKE E'pg\\_%'
	LIMIT 1000
;;
-- \dn p
SELECT nspname FROM pg_catalog.pg_namespace  WHERE nspname LIKE 'p%'
	LIMIT 1000
;;
-- \l ho
SELECT datname FROM pg_catalog.pg_database  WHERE datname LIKE 'ho%'
	LIMIT 1000
;;
-- \c h
SELECT rolname    FROM pg_catalog.pg_roles   WHERE rolname LIKE '%'
	LIMIT 1000
;;
-- \df lo
SELECT p.proname, NULL::pg_catalog.text FROM pg_catalog.pg_proc p WHERE p.prokind != 'p' AND (p.proname) LIKE 'lo%' AND pg_catalog.pg_function_is_visible(p.oid)
	UNION ALL
	SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'lo%' AND n.nspname NOT LIKE E'pg\\_%'
	LIMIT 1000
;;
-- \dT in
SELECT t.typname, NULL::pg_catalog.text FROM pg_catalog.pg_type t WHERE (t.typrelid = 0  OR (SELECT c.relkind = 'c'     FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid)) AND t.typname !~ '^_' AND (t.typname) LIKE 'in%' AND pg_catalog.pg_type_is_visible(t.oid)
	UNION ALL
	SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'in%' AND n.nspname NOT LIKE E'pg\\_%'
	LIMIT 1000
;;
-- \sf lo
SELECT p.proname, NULL::pg_catalog.text FROM pg_catalog.pg_proc p WHERE (p.proname) LIKE 'lo%' AND pg_catalog.pg_function_is_visible(p.oid)
	UNION ALL
	SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'lo%' AND n.nspname NOT LIKE E'pg\\_%'
	LIMIT 1000
;;
-- \des x
SELECT srvname    FROM pg_catalog.pg_foreign_server   WHERE srvname LIKE 'x%'
	LIMIT 1000
;;
-- \dx p
SELECT extname    FROM pg_catalog.pg_extension   WHERE extname LIKE 'p%'
	LIMIT 1000
;;
-- \db p
SELECT spcname FROM pg_catalog.pg_tablespace  WHERE spcname LIKE 'p%'
	LIMIT 1000
;;
-- \dD x
SELECT t.typname, NULL::pg_catalog.text FROM pg_catalog.pg_type t WHERE t.typtype = 'd' AND (t.typname) LIKE 'x%' AND pg_catalog.pg_type_is_visible(t.oid)
	UNION ALL
	SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'x%' AND n.nspname NOT LIKE E'pg\\_%'
	LIMIT 1000
;;
-- \dF x
SELECT c.cfgname, NULL::pg_catalog.text FROM pg_catalog.pg_ts_config c WHERE (c.cfgname) LIKE 'x%' AND pg_catalog.pg_ts_config_is_visible(c.oid)
	UNION ALL
	SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'x%' AND n.nspname NOT LIKE E'pg\\_%'
	LIMIT 1000
;;
-- \dA b
SELECT amname    FROM pg_catalog.pg_am   WHERE amname LIKE 'b%'
	LIMIT 1000
;;
-- \dconfig wo
SELECT pg_catalog.lower(name) FROM pg_catalog.pg_settings  WHERE pg_catalog.lower(name) LIKE pg_catalog.lower('wo%')
	LIMIT 1000
;;
-- SET sea
SELECT pg_catalog.lower(name) FROM pg_catalog.pg_settings  WHERE context IN ('user', 'superuser')    AND pg_catalog.lower(name) LIKE pg_catalog.lower('sea%')
	LIMIT 1000
;;
-- SET search_path TO pu
SELECT nspname FROM pg_catalog.pg_namespace  WHERE nspname LIKE 'pu%' AND nspname NOT LIKE E'pg\\_toast%' AND nspname NOT LIKE E'pg\\_temp%'
	LIMIT 1000
;;
-- SET timezone TO ''Eu
SELECT name    FROM pg_catalog.pg_timezone_names()   WHERE pg_catalog.lower(name) LIKE pg_catalog.lower('Eu%')
	LIMIT 1000
;;
-- SELECT * FROM patients WHERE ag
SELECT a.attname, NULL::pg_catalog.text FROM pg_catalog.pg_attribute a, pg_catalog.pg_class c WHERE c.oid = a.attrelid and a.attnum > 0 and not a.attisdropped AND (a.attname) LIKE 'ag%' AND c.relname = 'patients' AND pg_catalog.pg_table_is_visible(c.oid)
	LIMIT 1000
;;
-- SELECT * FROM public.patients ORDER BY ag
SELECT a.attname, NULL::pg_catalog.text FROM pg_catalog.pg_attribute a, pg_catalog.pg_class c, pg_catalog.pg_namespace nr WHERE c.oid = a.attrelid and a.attnum > 0 and not a.attisdropped AND (a.attname) LIKE 'ag%' AND c.relname = 'patients' AND c.relnamespace = nr.oid AND nr.nspname = 'public'
	LIMIT 1000
;;
-- ANALYZE pa
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p', 'm', 'f') AND (c.relname) LIKE 'pa%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
	UNION ALL
	SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'pa%' AND n.nspname NOT LIKE E'pg\\_%'
	LIMIT 1000
;;
-- ALTER TABLE patients DROP CONSTRAINT pa
SELECT con.conname, NULL::pg_catalog.text FROM pg_catalog.pg_constraint con, pg_catalog.pg_class c1 WHERE con.conrelid=c1.oid AND (con.conname) LIKE 'pa%' AND c1.relname = 'patients' AND pg_catalog.pg_table_is_visible(c1.oid)
	LIMIT 1000
;;
-- CREATE INDEX ON pa
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p', 'm') AND (c.relname) LIKE 'pa%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
	UNION ALL
	SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'pa%' AND n.nspname NOT LIKE E'pg\\_%'
	LIMIT 1000
;;
-- CREATE EXTENSION pl
SELECT name    FROM pg_catalog.pg_available_extensions   WHERE name LIKE 'pl%' AND installed_version IS NULL
	LIMIT 1000
;;
-- ALTER SYSTEM SET wo
SELECT pg_catalog.lower(name) FROM pg_catalog.pg_settings  WHERE context != 'internal'    AND pg_catalog.lower(name) LIKE pg_catalog.lower('wo%')
	LIMIT 1000
;;
-- EXECUTE x
SELECT name    FROM pg_catalog.pg_prepared_statements   WHERE name LIKE 'x%'
	LIMIT 1000
;;
-- NOTIFY x
SELECT channel    FROM pg_catalog.pg_listening_channels() AS channel   WHERE channel LIKE 'x%'
	LIMIT 1000
;;
-- CALL x
SELECT p.proname, NULL::pg_catalog.text FROM pg_catalog.pg_proc p WHERE p.prokind = 'p' AND (p.proname) LIKE 'x%' AND pg_catalog.pg_function_is_visible(p.oid)
	UNION ALL
	SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'x%' AND n.nspname NOT LIKE E'pg\\_%'
	LIMIT 1000
;;
-- ALTER FUNCTION lower(
SELECT pg_catalog.oidvectortypes(p.proargtypes)||')', NULL::pg_catalog.text FROM pg_catalog.pg_proc p WHERE (pg_catalog.oidvectortypes(p.proargtypes)||')') LIKE '%' AND p.proname = 'lower' AND pg_catalog.pg_function_is_visible(p.oid)
	LIMIT 1000
;;
-- DROP PUBLICATION x
SELECT pubname    FROM pg_catalog.pg_publication   WHERE pubname LIKE 'x%'
	LIMIT 1000
;;
-- DROP SUBSCRIPTION x
SELECT s.subname    FROM pg_catalog.pg_subscription s, pg_catalog.pg_database d   WHERE s.subname LIKE 'x%'     AND d.datname = pg_catalog.current_database()     AND s.subdbid = d.oid
	LIMIT 1000
;;
-- DROP COLLATION C
SELECT c.collname, NULL::pg_catalog.text FROM pg_catalog.pg_collation c WHERE c.collencoding IN (-1, pg_catalog.pg_char_to_encoding(pg_catalog.getdatabaseencoding())) AND (c.collname) LIKE 'c%' AND pg_catalog.pg_collation_is_visible(c.oid)
	UNION ALL
	SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'c%' AND n.nspname NOT LIKE E'pg\\_%'
	LIMIT 1000
;;
-- DROP TRIGGER x
SELECT tgname FROM pg_catalog.pg_trigger WHERE tgname LIKE 'x%' AND NOT tgisinternal
	LIMIT 1000
;;
-- DROP POLICY x
SELECT polname    FROM pg_catalog.pg_policy   WHERE polname LIKE 'x%'
	LIMIT 1000
;;
-- DROP RULE x
SELECT rulename FROM pg_catalog.pg_rules WHERE rulename LIKE 'x%'
	LIMIT 1000
;;
-- DROP STATISTICS x
SELECT s.stxname, NULL::pg_catalog.text FROM pg_catalog.pg_statistic_ext s WHERE (s.stxname) LIKE 'x%' AND pg_catalog.pg_statistics_obj_is_visible(s.oid)
	UNION ALL
	SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'x%' AND n.nspname NOT LIKE E'pg\\_%'
	LIMIT 1000
;;
-- DROP LANGUAGE p
SELECT lanname   FROM pg_catalog.pg_language  WHERE lanname != 'internal'    AND lanname LIKE 'p%'
	LIMIT 1000
;;
-- DROP CONVERSION x
SELECT conname FROM pg_catalog.pg_conversion WHERE conname LIKE 'x%'
	LIMIT 1000
;;
-- DROP EVENT TRIGGER x
SELECT evtname    FROM pg_catalog.pg_event_trigger   WHERE evtname LIKE 'x%'
	LIMIT 1000
;;
