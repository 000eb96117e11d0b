# Steps with their time, for .ci/run and .ci/night, which source this.
#   step NAME COMMAND ...       runs it here, and goes on where it fails
#   beside NAME COMMAND ...     starts it, and goes on at once
#   installing NAME COMMAND ... the same for what fetches and installs, which is counted apart
#   await NAME ...              waits for what was started, and shows what it printed
#   table                       all steps; fails where one failed
#   start_trino, name_trino     a Trino cluster, and variables that name it
# Seconds are those of the clock, and those of all processors together.

steps=$(mktemp -d)
order=() waited=0 begun=${EPOCHREALTIME/[.,]/}
declare -A pids=() kinds=()

# stop_steps ends what still runs, with what it has started.
stop_steps() {
  local name
  for name in "${!pids[@]}"; do kill -- -"${pids[$name]}" 2>/dev/null || true; done
  for name in "${!pids[@]}"; do wait "${pids[$name]}" 2>/dev/null || true; done
  rm -rf "$steps"
}

minutes() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# timed runs a command and keeps how it ended.
timed() {
  local name=$1 TIMEFORMAT='%R %U %S'
  shift
  { time "$@" >&3 2>&4 </dev/null && echo 0 >"$steps/$name.ended" || echo $? >"$steps/$name.ended"; } 3>&1 4>&2 2>"$steps/$name.time"
}

ended() { # prints one line
  awk -v name="$1" -v rc="$(cat "$steps/$1.ended" 2>/dev/null || echo stopped)" -v kind="${kinds[$1]}" '{
    printf "%-28s %7.0f s %7.0f s of processors%s%s\n", name, $1, $2 + $3, kind ? "  (" kind ")" : "", rc == "0" ? "" : "  FAILED: " rc }' \
    <(tail -1 "$steps/$1.time" 2>/dev/null | grep . || echo 0 0 0)
}

step() {
  local name=$1
  order+=("$name")
  kinds[$name]=
  echo "== $name"
  timed "$@"
  echo "== $(ended "$name")"
}

beside() {
  local name=$1
  order+=("$name")
  kinds[$name]=${kind:-}
  set -m # a group of its own, which can be ended as one
  timed "$@" >"$steps/$name.said" 2>&1 &
  pids[$name]=$!
  set +m
}

installing() { kind=installation beside "$@"; }

await() {
  local name from
  for name in "$@"; do
    from=${EPOCHREALTIME/[.,]/}
    wait "${pids[$name]}" || true
    unset "pids[$name]"
    [ -z "${kinds[$name]}" ] || waited=$((waited + ${EPOCHREALTIME/[.,]/} - from))
    echo "== $name"
    cat "$steps/$name.said"
    echo "== $(ended "$name")"
  done
}

table() {
  local name failed=0 now=${EPOCHREALTIME/[.,]/}
  printf '\n'
  for name in "${order[@]}"; do
    ended "$name"
    [ "$(cat "$steps/$name.ended" 2>/dev/null)" = 0 ] || failed=$((failed + 1))
  done
  printf '%s in all, of which %s waiting for installations; %d of %d steps failed\n' "$(minutes $(((now - begun) / 1000000)))" \
    "$(minutes $((waited / 1000000)))" $failed ${#order[@]}
  [ $failed = 0 ]
}

# One Trino cluster for all packages: its own port believes every name, and another one wants TLS and passwords. DISCREET_TRINO_HOME names
# another folder to keep the server in, DISCREET_TRINO a cluster that runs already.
start_trino() { # its folder, and more options
  deploy/trino/cluster start "$1" --light --port 0 --secure --set http-server.authentication.allow-insecure-over-http=true "${@:2}"
}
name_trino() {
  DISCREET_TRINO=http://127.0.0.1:$(sed -n 's/^http-server.http.port=//p' "$1/coordinator/etc/config.properties" || true)
  DISCREET_TRINO_SECURE=$1
  export DISCREET_TRINO DISCREET_TRINO_SECURE
}
