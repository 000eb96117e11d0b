#!/usr/bin/env bash
# psql as people use it: the \d family, questions, \gdesc, \copy, FETCH_COUNT, \crosstabview, \watch.
export PSQL_PAGER= PAGER= PGAPPNAME=psql
echo "tool $(psql --version)"

# step NAME: psql runs what comes in, and says whether all of it went well.
step() {
  printf '%s' "$1" >"$DISCREET_STEP"
  if said=$(psql -X -q -v ON_ERROR_STOP=0 2>&1 >/dev/null); then :; fi
  if error=$(grep -m1 -E 'ERROR|FATAL|error:' <<<"$said"); then
    echo "no $1 | $error"
  else
    echo "ok $1"
  fi
}

step 'list' <<'S'
\conninfo
\l
\dn
\dt
\dv
\d
\dt+
\d+
\du
\df
\dp
\dx
\di
\dT
\dD
\ds
\dm
\dconfig work_mem
\encoding
S
step 'describe' <<'S'
\d patients
\d+ visits
\d wards
\d elderly
\d+ elderly
\dt public.*
\dt+ public.visits
\d patients_pkey
\dp patients
\dd
\sv elderly
S
step 'complete' <<'S'
SELECT pg_catalog.quote_ident(c.relname) FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND substring(pg_catalog.quote_ident(c.relname),1,3)='pat' AND pg_catalog.pg_table_is_visible(c.oid) LIMIT 1000;
S
step 'first rows' <<<'SELECT * FROM patients LIMIT 10;'
step 'count' <<<'SELECT COUNT(*) FROM patients;'
step 'group' <<'S'
SELECT diagnosis, COUNT(*) AS n, ROUND(AVG(age), 1) AS mean_age FROM patients GROUP BY diagnosis ORDER BY n DESC;
SELECT sex, smoker, AVG(cost)::numeric(10,2) FROM patients WHERE age BETWEEN 18 AND 65 GROUP BY sex, smoker;
SELECT width_bucket(age, 0, 100, 10) AS bin, COUNT(*) FROM patients GROUP BY bin ORDER BY bin;
S
step 'by month' <<'S'
SELECT date_trunc('month', day) AS month, COUNT(*) FROM visits GROUP BY 1 ORDER BY 1;
SELECT to_char(arrived, 'YYYY-MM') AS month, SUM(cost) FROM visits GROUP BY 1 ORDER BY 1;
SELECT extract(dow FROM arrived) AS weekday, COUNT(*) FROM visits GROUP BY 1 ORDER BY 1;
S
step 'join' <<'S'
SELECT p.sex, v.ward, COUNT(*) FROM patients p JOIN visits v USING (pid) GROUP BY p.sex, v.ward ORDER BY 1, 2;
SELECT w.building, COUNT(*) FROM visits v JOIN wards w ON w.ward = v.ward GROUP BY w.building;
S
step 'public table' <<<'SELECT * FROM wards ORDER BY beds DESC;'
step 'variables' <<'S'
\set least 40
SELECT COUNT(*) FROM patients WHERE age >= :least;
\set x flu
SELECT COUNT(*) FROM patients WHERE diagnosis = :'x';
S
step 'gdesc' <<'S'
SELECT sex, COUNT(*), AVG(cost) FROM patients GROUP BY sex \gdesc
SELECT * FROM patients \gdesc
S
step 'crosstab' <<'S'
SELECT sex, diagnosis, COUNT(*) FROM patients GROUP BY sex, diagnosis
\crosstabview sex diagnosis
S
step 'gexec' <<'S'
SELECT format('SELECT COUNT(%I) FROM patients', attname) FROM pg_catalog.pg_attribute WHERE attrelid = 'patients'::regclass AND attnum BETWEEN 2 AND 3 \gexec
S
step 'copy' <<'S'
\copy (SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis) TO STDOUT WITH (FORMAT csv, HEADER)
\copy wards TO STDOUT CSV HEADER
COPY (SELECT sex, AVG(age) FROM patients GROUP BY sex) TO STDOUT;
S
step 'copy rows' <<'S'
\copy patients TO STDOUT CSV HEADER
S
step 'cursor' <<'S'
\set FETCH_COUNT 2
SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis ORDER BY 1;
S
step 'prepare' <<'S'
PREPARE q (integer) AS SELECT COUNT(*) FROM patients WHERE age >= $1;
EXECUTE q(30);
DEALLOCATE q;
S
step 'explain' <<'S'
EXPLAIN SELECT COUNT(*) FROM patients;
EXPLAIN (COSTS OFF, ANALYZE FALSE) SELECT COUNT(*) FROM patients;
S
step 'settings' <<'S'
SHOW server_version;
SELECT version();
SELECT current_user, current_database();
SET statement_timeout = '60s';
SET search_path TO public;
SET TIME ZONE 'Europe/Zurich';
SELECT current_date >= '2020-01-01' AS modern;
S
step 'error mode' <<'S'
\set ON_ERROR_ROLLBACK on
BEGIN;
SELECT COUNT(*) FROM visits;
SELECT COUNT(*) FROM nothing;
SELECT COUNT(*) FROM visits;
COMMIT;
S
step 'write' <<'S'
INSERT INTO wards VALUES ('new', 'east', 1);
UPDATE patients SET age = 1;
DELETE FROM visits;
CREATE TABLE mine AS SELECT * FROM patients;
CREATE TEMP TABLE mine (a integer);
S
