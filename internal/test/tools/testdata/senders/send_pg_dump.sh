#!/usr/bin/env bash
# pg_dump, and postgres_fdw in a PostgreSQL that has the server as a foreign one.
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
echo "tool $("$bin/pg_dump" --version)"

step() { # NAME COMMAND ...
  printf '%s' "$1" >"$DISCREET_STEP"
  local name=$1
  shift
  if said=$("$@" 2>&1 >/dev/null) && ! grep -q 'ERROR' <<<"$said"; then
    echo "ok $name"
  else
    echo "no $name | $(grep -m1 -oE '(ERROR|FATAL|error):.*' <<<"$said" | cut -c1-300)"
  fi
}
step 'schema' "$bin/pg_dump" --schema-only --no-sync
step 'public table' "$bin/pg_dump" --data-only --table=wards --no-sync
step 'everything' "$bin/pg_dump" --no-sync
step 'copies of rows' "$bin/pg_dump" --data-only --inserts --table=patients --no-sync

# A cluster of its own, which does not run as root.
as=()
if [ "$(id -u)" = 0 ]; then as=(runuser -u postgres --); fi
folder=$(mktemp -d)
chmod 755 "$folder"
[ ${#as[@]} = 0 ] || chown postgres "$folder"
leave() { "${as[@]}" "$bin/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1; rm -rf "$folder"; }
trap leave EXIT
"${as[@]}" "$bin/initdb" -D "$folder/data" -U owner -A trust --no-sync >/dev/null 2>&1
"${as[@]}" "$bin/pg_ctl" -D "$folder/data" -w -l "$folder/log" -o "-p 5432 -c listen_addresses= -k $folder" start >/dev/null 2>&1
ask() { psql -X -q -v ON_ERROR_STOP=1 -h "$folder" -p 5432 -U owner -d postgres -c "$1"; }
here() { (unset PGHOST PGPORT PGPASSWORD PGDATABASE; ask "$1"); }
step 'fdw: server' here "CREATE EXTENSION postgres_fdw; CREATE SERVER d FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$PGHOST', port '$PGPORT', dbname '$PGDATABASE');
  CREATE USER MAPPING FOR owner SERVER d OPTIONS (user '$PGUSER', password '$PGPASSWORD')"
step 'fdw: import' here 'IMPORT FOREIGN SCHEMA public FROM SERVER d INTO public'
step 'fdw: count' here 'SELECT count(*) FROM patients'
step 'fdw: group' here 'SELECT diagnosis, count(*), avg(age) FROM patients GROUP BY diagnosis'
step 'fdw: filter' here "SELECT ward, sum(cost) FROM visits WHERE day >= '2025-03-01' GROUP BY ward"
step 'fdw: first rows' here 'SELECT * FROM patients LIMIT 10'
step 'fdw: public table' here 'SELECT * FROM wards ORDER BY ward'
step 'fdw: estimate' here "ALTER SERVER d OPTIONS (ADD use_remote_estimate 'true'); SELECT * FROM wards"
step 'fdw: analyze' here 'ANALYZE wards'
step 'fdw: write' here "INSERT INTO wards VALUES ('new', 'east', 1)"
