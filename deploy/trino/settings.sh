# What each node reads: FOLDER/NODE/etc.

# options reads those of the first start.
options() {
  workers=2 heap=1G coordinator= port=18080 retry= secure= light= works= groups= lines=
  while [ $# -gt 0 ]; do
    case $1 in
    --retry) retry=1 ;;
    --secure) secure=1 ;;
    --light) light=1 ;;
    --working-coordinator) works=1 ;;
    --workers | --heap | --coordinator | --port | --resource-groups | --set)
      [ $# -gt 1 ] || fail "$1 needs a value"
      case $1 in
      --workers) workers=$2 ;;
      --heap) heap=$2 ;;
      --coordinator) coordinator=$2 ;;
      --port) port=$2 ;;
      --resource-groups) groups=$2 ;;
      --set) lines+=$2$'\n' ;;
      esac
      shift
      ;;
    *) fail "there is no option $1; cluster help has those that are" ;;
    esac
    shift
  done
  [[ $workers =~ ^[0-9]+$ ]] || fail "--workers is a number, such as 2, and not $workers"
  [[ $heap =~ ^[0-9]+[MGmg]$ ]] || fail "--heap is a size, such as 1G or 1500M, and not $heap"
  # It keeps the plans of all statements for a while, of which long questions have large ones.
  : "${coordinator:=$(twice "$heap")}"
  [[ $coordinator =~ ^[0-9]+[MGmg]$ ]] || fail "--coordinator is a size, such as 1G or 1500M, and not $coordinator"
  [[ $port =~ ^[0-9]+$ ]] || fail "--port is a number, such as 18080, and not $port"
  [ -z "$groups" ] || [ -r "$groups" ] || fail "--resource-groups: $groups cannot be read"
  if [ "$port" -eq 0 ]; then
    port=$(free_ports 1)
  elif in_use "$port"; then
    fail "port $port is in use: stop what listens there, or take another by --port"
  fi
}

# settings writes the folders of all nodes, by the options.
settings() {
  umask 077
  local common node ports internal=$port
  ports=($(free_ports $((workers + 1)))) # they stay when a node starts again
  if [ -n "$secure" ]; then
    internal=${ports[0]} # for the nodes alone
  fi
  ports[0]=$internal
  mkdir -p "$folder/warehouse"/{hive,iceberg,delta} "$folder/exchange"
  # Every node looks at all tasks that it remembers, five times a second. By default it remembers them for a quarter of an hour, and a
  # test run has thousands.
  common="node.environment=discreet
node.bind-ip=127.0.0.1
node.internal-address=127.0.0.1
plugin.dir=$home/plugin
discovery.uri=http://127.0.0.1:$internal
internal-communication.shared-secret=$(random)
catalog.management=dynamic
query.min-expire-age=1m
query.max-history=50
task.info.max-age=30s
${retry:+retry-policy=TASK
fault-tolerant-execution-task-memory=100MB
fault-tolerant-execution-max-partition-count=8
fault-tolerant-execution-min-partition-count-for-write=8
}$lines"
  for ((i = 0; i <= workers; i++)); do
    node=worker$i
    [ "$i" -gt 0 ] || node=coordinator
    mkdir -p "$folder/$node/etc/catalog" "$folder/$node/data"
    jvm "$([ "$i" -gt 0 ] && echo "$heap" || echo "$coordinator")" "$light" >"$folder/$node/etc/jvm.config"
    {
      echo "node.id=$node"
      echo "coordinator=$([ "$i" -gt 0 ] && echo false || echo true)"
      echo "node-scheduler.include-coordinator=$([ "$workers" -gt 0 ] && [ -z "$works" ] && echo false || echo true)"
      echo "http-server.http.port=${ports[$i]}"
      echo "$common"
    } >"$folder/$node/etc/config.properties"
    if [ -n "$retry" ]; then
      printf 'exchange-manager.name=filesystem\nexchange.base-directories=%s/exchange\n' "$folder" >"$folder/$node/etc/exchange-manager.properties"
    fi
  done
  catalogs
  printf 'access-control.name=file\nsecurity.refresh-period=1s\nsecurity.config-file=%s\n' "$folder/coordinator/etc/rules.json" \
    >"$folder/coordinator/etc/access-control.properties"
  cp "$here/rules.json" "$folder/coordinator/etc/rules.json"
  if [ -n "$groups" ]; then
    cp "$groups" "$folder/coordinator/etc/resource-groups.json"
    printf 'resource-groups.configuration-manager=file\nresource-groups.config-file=%s\n' \
      "$folder/coordinator/etc/resource-groups.json" >"$folder/coordinator/etc/resource-groups.properties"
  fi
  if [ -n "$secure" ]; then
    secrets "$port"
    echo "https://127.0.0.1:$port" >"$folder/url"
  else
    echo "http://127.0.0.1:$port" >"$folder/url"
  fi
}

# secrets makes an authority of its own, a certificate for the coordinator, passwords, and a key for
# JWTs. The nodes speak with one another by the secret that they share.
secrets() { # the port with TLS
  command -v openssl >/dev/null || fail "--secure needs openssl, which makes the certificates"
  local at=$folder/secrets user salt
  mkdir -p "$at"
  {
    openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj "/CN=Trino's own authority" -keyout "$at/authority.key" -out "$at/authority.crt"
    openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout "$at/server.key" -out "$at/server.csr"
    openssl x509 -req -in "$at/server.csr" -CA "$at/authority.crt" -CAkey "$at/authority.key" -CAcreateserial -days 3650 \
      -extfile <(echo subjectAltName=DNS:localhost,IP:127.0.0.1) -out "$at/server.crt"
  } 2>"$at/log" || {
    cat "$at/log" >&2
    fail "openssl could not make the certificates"
  }
  cat "$at/server.key" "$at/server.crt" >"$at/server.pem"
  random | openssl base64 -A >"$at/jwt.key"
  for user in admin discreet writer clinic; do
    random >"$at/$user.password"
    salt=$(random)
    echo "$user:10000:$salt:$(openssl kdf -keylen 32 -kdfopt digest:SHA1 -kdfopt "pass:$(cat "$at/$user.password")" \
      -kdfopt "hexsalt:$salt" -kdfopt iter:10000 PBKDF2 | tr -d ':\n' | tr A-F a-f)" >>"$at/passwords"
  done
  cat >>"$folder/coordinator/etc/config.properties" <<TEXT
http-server.https.enabled=true
http-server.https.port=$1
http-server.https.keystore.path=$at/server.pem
http-server.authentication.type=PASSWORD,JWT
http-server.authentication.jwt.key-file=$at/jwt.key
TEXT
  printf 'password-authenticator.name=file\nfile.password-file=%s\n' "$at/passwords" >"$folder/coordinator/etc/password-authenticator.properties"
}

twice() { echo "$((2 * ${1%[MGmg]}))${1: -1}"; }

jvm() { # the size of the heap, and whether to compile less
  cat <<TEXT
-server
-Xmx$1
-XX:+UseG1GC
-XX:+ExplicitGCInvokesConcurrent
-XX:+ExitOnOutOfMemoryError
-XX:-OmitStackTraceInFastThrow
-XX:ReservedCodeCacheSize=256M
-XX:PerMethodRecompilationCutoff=10000
-XX:PerBytecodeRecompilationCutoff=10000
-XX:+EnableDynamicAgentLoading
-Djdk.attach.allowAttachSelf=true
-Djdk.nio.maxCachedBufferSize=2000000
-Dfile.encoding=UTF-8
--add-modules=jdk.incubator.vector
--enable-native-access=ALL-UNNAMED
--sun-misc-unsafe-memory-access=allow
${2:+-XX:TieredStopAtLevel=1}
TEXT
}

# catalogs are the coordinator's alone: it tells the workers, and CREATE CATALOG adds others.
catalogs() {
  local at=$folder/coordinator/etc/catalog
  local files="fs.native-local.enabled=true
local.location=$folder/warehouse
hive.metastore.catalog.dir=local:///"
  printf 'connector.name=memory\nmemory.max-data-per-node=256MB\n' >"$at/memory.properties"
  printf 'connector.name=tpch\ntpch.splits-per-node=4\n' >"$at/tpch.properties"
  printf 'connector.name=hive\nhive.metastore=file\nhive.non-managed-table-writes-enabled=true\nhive.storage-format=PARQUET\n%shive\n' \
    "$files" >"$at/hive.properties"
  printf 'connector.name=iceberg\niceberg.catalog.type=TESTING_FILE_METASTORE\n%siceberg\n' "$files" >"$at/iceberg.properties"
  printf 'connector.name=delta_lake\nhive.metastore=file\n%sdelta\n' "$files" >"$at/delta.properties"
}
