# Where the server and a Java for it come from.

# fetch gets the server and its client by their names as packages, and keeps the plugins in use.
fetch() {
  if complete; then
    return
  fi
  command -v mvn >/dev/null || install maven || fail "mvn is not there: install Maven, with which the server is fetched"
  local work pid seconds=0
  mkdir -p "$(dirname "$home")"
  if command -v flock >/dev/null; then # only one at a time
    exec 7>"$home.lock"
    flock -n 7 || {
      say "waiting for somebody else who fetches it"
      flock 7
    }
    ! complete || return 0
  fi
  work=$(mktemp -d "$(dirname "$home")/fetch.XXXXXX")
  # A repository of its own, so that 800 MB do not stay in the user's.
  (
    for package in "trino-server:$version:tar.gz" "trino-cli:$version:jar:executable"; do
      mvn -B -q dependency:copy "-Dartifact=io.trino:$package" "-DoutputDirectory=$work/got" "-Dmaven.repo.local=$work/repository" || exit 1
    done
  ) >"$work/log" 2>&1 &
  pid=$!
  trap 'kill "$pid" 2>/dev/null; rm -rf "$work"; exit 1' INT TERM HUP
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    seconds=$((seconds + 1))
    if [ $((seconds % 5)) -eq 0 ]; then
      say "fetching trino-server $version: $(du -sm "$work" | cut -f1) MB of about 1600 (with a copy of it) after $seconds s"
    fi
  done
  if ! wait "$pid"; then
    tail -n 20 "$work/log" >&2
    rm -rf "$work"
    fail "Maven could not fetch io.trino:trino-server:$version"
  fi
  rm -rf "$work/repository"
  say "unpacking"
  # Everything, and then away with the rest: plugins share files, as links to whichever comes first.
  tar -xzf "$work/got/trino-server-$version.tar.gz" -C "$work"
  rm "$work/got/trino-server-$version.tar.gz"
  mkdir "$work/plugin"
  local plugin
  for plugin in "${plugins[@]}"; do
    mv "$work/trino-server-$version/plugin/$plugin" "$work/plugin/"
  done
  rm -rf "$work/trino-server-$version/plugin"
  mv "$work/plugin" "$work/trino-server-$version/plugin"
  mv "$work/got/trino-cli-$version-executable.jar" "$work/trino-server-$version/trino-cli.jar"
  echo "${plugins[*]}" >"$work/trino-server-$version/complete"
  rm -rf "$home"
  mv "$work/trino-server-$version" "$home"
  rm -rf "$work"
  trap - INT TERM HUP
  exec 7>&-
}

# complete: all of it is there, also where an earlier version of this script kept fewer plugins.
complete() { [ "$(cat "$home/complete" 2>/dev/null)" = "${plugins[*]}" ]; }

# install installs a package where that is possible without asking.
install() {
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    return 1
  fi
  say "installing $1"
  { apt-get update -q && apt-get install -qy --no-install-recommends "$1"; } >&2
}

# java prints the java of a JDK that is new enough, and installs one if there is none.
java() {
  find_java && return
  local package
  for package in openjdk-25-jre-headless temurin-25-jdk openjdk-24-jre-headless; do
    if apt-cache show "$package" >/dev/null 2>&1 && install "$package" && find_java; then
      return
    fi
  done
  fail "Trino $version needs a JDK of 24 or later, and neither JAVA_HOME, PATH nor /usr/lib/jvm has one." \
    "Install one, such as the package openjdk-25-jre-headless or temurin-25-jdk, and set JAVA_HOME to its folder"
}

# ready says what is missing, and fetches and installs nothing.
ready() {
  complete || fail "there is no Trino server in $home: deploy/trino/cluster fetch gets it"
  find_java >/dev/null || fail "there is no JDK of 24 or later in JAVA_HOME, PATH and /usr/lib/jvm"
}

find_java() {
  local folder number path best=23 found=
  path=$(type -P java) && path=$(readlink -f "$path")
  for folder in "${JAVA_HOME:-}" "${path%/bin/java}" /usr/lib/jvm/* /opt/java/*; do
    if [ ! -x "$folder/bin/java" ] || [ ! -e "$folder/release" ]; then
      continue
    fi
    number=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$folder/release")
    if [ "${number:-0}" -gt "$best" ]; then
      best=$number
      found=$folder/bin/java
      if [ "$folder" = "${JAVA_HOME:-}" ]; then
        break
      fi
    fi
  done
  [ -n "$found" ] && echo "$found"
}
