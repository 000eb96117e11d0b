#!/bin/sh
# Makes an authority of your own, certificates for the ledger's database and for the servers, and a password for the ledger:
#   ./certificates.sh db.example.org
# The name is the one under which analysts reach the load balancer. What is there already stays.
set -eu
cd "$(dirname "$0")"
name=${1:?"write the name under which analysts reach the servers, such as db.example.org"}
umask 077
mkdir -p certificates
cd certificates
if [ ! -e authority.key ]; then
  openssl req -x509 -newkey rsa:3072 -nodes -days 3650 -subj "/CN=Discreet's own authority" -keyout authority.key -out authority.crt
fi
certificate() { # its file, and the names in it
  if [ -e "$1.crt" ]; then return; fi
  openssl req -newkey rsa:3072 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr"
  printf 'subjectAltName=%s\n' "$2" >"$1.ext"
  openssl x509 -req -in "$1.csr" -CA authority.crt -CAkey authority.key -CAcreateserial -days 825 -extfile "$1.ext" -out "$1.crt"
  rm "$1.csr" "$1.ext"
}
certificate ledger DNS:ledger
certificate server "DNS:$name,DNS:server-1,DNS:server-2"
if [ ! -e ledger-password ]; then
  openssl rand -hex 24 | tr -d '\n' >ledger-password
  printf 'ledger:5432:*:discreet:%s\n' "$(cat ledger-password)" >pgpass
fi
# The servers run as user 65532 in their containers, and nobody else may read their key and the password.
chmod 755 .
chmod 644 authority.crt ledger.crt server.crt
chown 65532 server.key pgpass || {
  echo "run this as root: the servers' key and the password have to belong to user 65532, as whom they run" >&2
  exit 1
}
