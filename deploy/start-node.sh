#!/bin/sh
# Starts one node in a container. The others reach it over TLS, with a certificate that it makes itself at its first start
# and that stands in the database. Needs TUTTI_DATABASE and TUTTI_CLUSTER_KEY; TUTTI_PUBLIC_URL is the address of the balancer.
set -eu
umask 077
state=${TUTTI_STATE:-/state/tutti}
name=${TUTTI_NODE:-$(hostname)}
address=${TUTTI_ADDRESS:-$(hostname -i | cut -d ' ' -f 1)}
mkdir -p "$state"
if [ ! -f "$state/node.crt" ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "/CN=$name" \
    -keyout "$state/node.key" -out "$state/node.crt" 2>/dev/null
fi
set -- --tls-cert "$state/node.crt" --tls-key "$state/node.key" "$@"
[ -z "${TUTTI_PUBLIC_URL:-}" ] || set -- --public-url "$TUTTI_PUBLIC_URL" "$@"
exec tutti up --state "$state" --node "$name" --host 0.0.0.0 --port 7878 --advertise "https://$address:7878" "$@"
