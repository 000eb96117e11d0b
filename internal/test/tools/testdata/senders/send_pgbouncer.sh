#!/usr/bin/env bash
# PgBouncer before the server, in session and in transaction mode; psql and psycopg behind it.
echo "tool $(PATH=$PATH:/usr/sbin pgbouncer --version | head -1)"
as=()
if [ "$(id -u)" = 0 ]; then as=(runuser -u postgres --); fi
folder=$(mktemp -d)
chmod 755 "$folder"
pids=()
leave() { kill "${pids[@]}" 2>/dev/null; rm -rf "$folder"; }
trap leave EXIT
free_port() { "$DISCREET_TOOLS/python/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
step() {
  printf '%s' "$1" >"$DISCREET_STEP"
  local name=$1 said
  shift
  if said=$("$@" 2>&1 >/dev/null) && ! grep -q 'ERROR' <<<"$said"; then
    echo "ok $name"
  else
    echo "no $name | $(grep -m1 -oE '(ERROR|FATAL|error):.*' <<<"$said" | cut -c1-300)"
  fi
}
for mode in session transaction; do
  port=$(free_port)
  cat >"$folder/$mode.ini" <<INI
[databases]
$PGDATABASE = host=$PGHOST port=$PGPORT user=$PGUSER password='$PGPASSWORD' dbname=$PGDATABASE
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = any
pool_mode = $mode
default_pool_size = 1
ignore_startup_parameters = extra_float_digits,application_name
INI
  chmod 644 "$folder/$mode.ini"
  PATH=$PATH:/usr/sbin "${as[@]}" pgbouncer -q "$folder/$mode.ini" >/dev/null 2>&1 &
  pids+=($!)
  for _ in $(seq 50); do if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi; sleep 0.1; done
  ask() { PGPASSWORD= PGHOST=127.0.0.1 PGPORT=$port psql -X -q -v ON_ERROR_STOP=1 "$@"; }
  step "$mode: count" ask -c 'SELECT COUNT(*) FROM patients'
  step "$mode: settings" ask -c 'SET statement_timeout = 60000' -c 'SELECT sex, COUNT(*) FROM patients GROUP BY sex'
  step "$mode: transaction" ask -c 'BEGIN' -c 'SELECT COUNT(*) FROM visits' -c 'COMMIT'
  step "$mode: describe" ask -c '\d patients'
  step "$mode: public table" ask -c 'SELECT * FROM wards'
  step "$mode: first rows" ask -c 'SELECT * FROM patients LIMIT 10'
  step "$mode: driver" env PGPASSWORD= "$DISCREET_TOOLS/python/bin/python" -c "
import psycopg
with psycopg.connect('host=127.0.0.1 port=$port user=$PGUSER dbname=$PGDATABASE', prepare_threshold=None) as c:
    for age in (20, 40, 20):
        c.execute('SELECT COUNT(*) FROM patients WHERE age > %s', [age]).fetchall()"
done
