# Starts nodes, waits for them, and ends them.

start() {
  local java node
  if [ ! -e "$folder/url" ]; then
    options "$@"
    java=$(java)
    fetch
    settings
  elif [ $# -gt 0 ]; then
    fail "$folder has a cluster with settings of its own: start it without options, or take another folder"
  else
    java=$(java)
    fetch
  fi
  for node in $(nodes); do
    if [ -z "$(process "$node")" ]; then
      begin "$java" "$node"
    fi
  done
  await
  cat "$folder/url"
}

# run keeps the cluster as long as standard input lasts. Several may run one at the same time: the
# first starts it, the last one stops it.
run() {
  local linger=0 options=()
  discard= waited=
  while [ $# -gt 0 ]; do
    case $1 in
    --discard) discard=1 ;;
    --linger)
      linger=${2:?--linger needs a number of seconds}
      shift
      ;;
    *) options+=("$1") ;;
    esac
    shift
  done
  command -v flock >/dev/null || fail "run needs flock, of the package util-linux"
  exec 8>"$folder/lock.users" 9>"$folder/lock.start"
  flock -s 8
  trap leave EXIT
  trap 'exit 1' INT TERM HUP
  flock 9
  if [ -n "$(status | grep -v 'does not run')" ]; then
    options=() # those of whom it is shared with
  elif [ -n "$discard" ]; then
    clear # what somebody left who was killed
  fi
  start "${options[@]}"
  flock -u 9
  cat <&0 >/dev/null 8>&- 9>&- &
  waited=$!
  wait "$waited" || true
  sleep "$linger" >/dev/null 2>&1 8>&- 9>&- &
  waited=$!
  exec >/dev/null 2>&1 # who reads our output until it ends does not wait for the rest
  wait "$waited" || true
}

# leave stops the cluster unless somebody else runs it too: then the lock, which was a shared one,
# cannot become ours alone.
leave() {
  kill ${waited:+"$waited"} 2>/dev/null || true # not all of our jobs: the nodes that we began may be of use to others
  flock -u 9
  if flock -n 8; then
    stop
    [ -z "$discard" ] || clear
  fi
}

clear() { find "$folder" -mindepth 1 -maxdepth 1 ! -name 'lock.*' -exec rm -rf {} +; }

begin() { # which java, which node
  # Without our input and our locks: it outlives us.
  (
    cd "$folder/$2"
    readarray -t options < <(grep . etc/jvm.config)
    exec setsid nohup "$1" "${options[@]}" "-Dnode.data-dir=$folder/$2/data" -Dconfig=etc/config.properties \
      -cp "$home/lib/*" io.trino.server.TrinoServer </dev/null >>server.log 2>&1 7>&- 8>&- 9>&-
  ) &
  echo $! >"$folder/$2/pid"
}

nodes() {
  local etc
  for etc in "$folder"/coordinator/etc "$folder"/worker*/etc; do
    if [ -d "$etc" ]; then
      basename "$(dirname "$etc")"
    fi
  done
}

setting() { sed -n "s/^$2=//p" "$folder/$1/etc/config.properties"; }

# process prints the process of a node that runs. A number that another process has by now is none.
process() {
  local pid
  pid=$(cat "$folder/$1/pid" 2>/dev/null) || return 0
  if ps -p "$pid" -o args= 2>/dev/null | grep -qF -e "-Dnode.data-dir=$folder/$1/data"; then
    echo "$pid"
  fi
}

# await returns when all nodes are active.
await() {
  local want have=0 told=5 node
  want=$(nodes | wc -l)
  SECONDS=0
  while have=$(active) && [ "$have" -ne "$want" ]; do
    sleep 1
    if [ "$SECONDS" -ge "$told" ]; then
      say "waiting for $want nodes, $SECONDS s"
      told=$((SECONDS + 5))
    fi
    for node in $(nodes); do
      if [ -z "$(process "$node")" ]; then
        grep -E 'ERROR|[Ee]rror:|^[0-9]+\)' "$folder/$node/server.log" | tail -n 15 >&2 || tail -n 15 "$folder/$node/server.log" >&2
        stop
        fail "$node has ended by itself: $folder/$node/server.log has more"
      fi
    done
    if [ "$SECONDS" -ge 300 ]; then
      stop
      fail "$have of $want nodes are active after five minutes: $folder/*/server.log may say why"
    fi
  done
}

# active prints how many nodes the coordinator counts as active, by a statement like anybody's.
active() {
  local text next node options=()
  # A node that was killed and starts again counts as active for some time: ask itself first.
  for node in $(nodes); do
    text=$(curl -sS --max-time 20 "http://127.0.0.1:$(setting "$node" http-server.http.port)/v1/info" 2>/dev/null) || text=
    if [[ $text != *'"starting":false'* ]]; then
      echo 0
      return
    fi
  done
  if [ -e "$folder/secrets" ]; then
    options=(--cacert "$folder/secrets/authority.crt" -u "admin:$(cat "$folder/secrets/admin.password")")
  fi
  text=$(curl -sS --max-time 20 "${options[@]}" -H 'X-Trino-User: admin' -H 'X-Trino-Source: cluster' \
    --data "SELECT count(*) FROM system.runtime.nodes WHERE state = 'active'" "$(cat "$folder/url")/v1/statement" 2>/dev/null) || text=
  while next=$(sed -n 's/.*"nextUri":"\([^"]*\)".*/\1/p' <<<"$text") && [ -n "$next" ]; do
    if [[ $text =~ \"data\":\[\[([0-9]+) ]]; then
      break
    fi
    text=$(curl -sS --max-time 20 "${options[@]}" "$next" 2>/dev/null) || text=
  done
  if [[ $text =~ \"data\":\[\[([0-9]+) ]]; then
    echo "${BASH_REMATCH[1]}"
  else
    echo 0
  fi
}

stop() {
  local node pid
  for node in $(nodes); do
    pid=$(process "$node")
    [ -z "$pid" ] || kill "$pid" 2>/dev/null || true
  done
  for node in $(nodes); do
    for ((i = 0; i < 150; i++)); do
      [ -n "$(process "$node")" ] || break
      sleep 0.1
    done
    pid=$(process "$node")
    [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
    rm -f "$folder/$node/pid"
  done
}

crash() {
  [ -d "$folder/$1/etc" ] || fail "$folder has no node $1; it has $(nodes | tr '\n' ' ')"
  local pid
  pid=$(process "$1")
  [ -n "$pid" ] || fail "$1 does not run"
  kill -KILL "$pid"
  while [ -n "$(process "$1")" ]; do
    sleep 0.05
  done
}

status() {
  local node pid
  for node in $(nodes); do
    pid=$(process "$node")
    echo "$node ${pid:-does not run}"
  done
}

sql() {
  local options=()
  [ -e "$folder/url" ] || fail "$folder has no cluster: cluster start makes one"
  if [ -e "$folder/secrets" ]; then
    options=(--truststore-path "$folder/secrets/authority.crt" --password)
    TRINO_PASSWORD=$(cat "$folder/secrets/admin.password")
    export TRINO_PASSWORD
  fi
  "$(java)" --enable-native-access=ALL-UNNAMED -Dorg.jline.terminal.dumb=true -jar "$home/trino-cli.jar" --server "$(cat "$folder/url")" --user admin "${options[@]}" \
    --progress=false --output-format ALIGNED --execute "$1"
}

in_use() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

free_ports() { # so many, all different
  local port found=()
  while [ "${#found[@]}" -lt "$1" ]; do
    port=$((20000 + RANDOM % 12000))
    if ! in_use "$port" && [[ " ${found[*]} " != *" $port "* ]]; then
      found+=("$port")
    fi
  done
  echo "${found[@]}"
}

random() { head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
