#!/usr/bin/env bash
# pgbench with a question of one's own, in its three protocols.
pgbench=$(command -v pgbench || ls /usr/lib/postgresql/*/bin/pgbench | tail -1)
echo "tool $("$pgbench" --version)"
cat >"$DISCREET_SCRATCH/q.sql" <<'S'
\set least random(40, 40)
SELECT sex, COUNT(*) FROM patients WHERE age > :least GROUP BY sex;
S
step() {
  printf '%s' "$1" >"$DISCREET_STEP"
  shift
  if said=$("$@" 2>&1); then echo "ok $(cat "$DISCREET_STEP")"; else echo "no $(cat "$DISCREET_STEP") | $(grep -m1 -iE 'error|fatal' <<<"$said")"; fi
}
for mode in simple extended prepared; do
  step "$mode" "$pgbench" -n -t 1 -c 1 -M $mode -f "$DISCREET_SCRATCH/q.sql"
done
step "vacuum first" "$pgbench" -t 1 -f "$DISCREET_SCRATCH/q.sql"
step "initialise" "$pgbench" -i -s 1 -q
