\set ON_ERROR_STOP off
\set VERBOSITY verbose
\echo == what there is
\conninfo
\l
\dn
\dt
\d patients
\d visits
\d+ patients
\du
\df
\dv
\echo == a question, and the same again
\pset format unaligned
SELECT sex, count(*) AS n, sum(cost) AS paid FROM patients GROUP BY sex ORDER BY sex;
SELECT sex, count(*) AS n, sum(cost) AS paid FROM patients GROUP BY sex ORDER BY sex;
\echo == what it would cost
EXPLAIN SELECT sum(cost) FROM visits;
EXPLAIN (FORMAT JSON) SELECT count(*) FROM visits WHERE ward = 'surgery';
EXPLAIN ANALYZE SELECT count(*) FROM visits;
EXPLAIN SELECT 1;
\echo == settings
SHOW dp.epsilon;
SET dp.epsilon = 0.5;
SHOW dp.epsilon;
SET dp.error = 20;
SHOW dp.epsilon;
SET dp.epsilon = 'much';
RESET dp.error;
SHOW dp.budget;
SET work_mem = '64MB';
SHOW work_mem;
SET nothing_at_all = 1;
\echo == refusals
SELECT age FROM patients;
SELECT * FROM patients WHERE age > 50 \gdesc
PREPARE never AS SELECT age FROM patients WHERE age > $1;
EXECUTE never (50);
SELECT 'ä', count(*) FROM doctors;
SELECT count(*) FROM WHERE;
INSERT INTO patients VALUES (1);
COPY patients TO STDOUT;
\copy patients TO '/dev/null'
CREATE TABLE x (a int);
\echo == transactions
BEGIN;
SET LOCAL dp.epsilon = 0.25;
SHOW dp.epsilon;
SELECT age FROM patients;
SHOW dp.epsilon;
COMMIT;
SHOW dp.epsilon;
COMMIT;
\echo == no table
SELECT 1 + 1 AS two, current_user, current_database();
SELECT name FROM pg_timezone_names;
\echo == several
SHOW dp.confidence\; SHOW dp.mechanism;
;
\echo == tab completion
SELECT pg_catalog.quote_ident(c.relname) FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND substring(pg_catalog.quote_ident(c.relname),1,2)='pa' AND pg_catalog.pg_table_is_visible(c.oid) LIMIT 1000;
\c other
SELECT count(*) FROM patients;
\c nothing
