#!/usr/bin/env bash
# Installs a Redis server and HAProxy from the distribution (Debian, as root), for the tests of sessions in a store and of several
# processes behind a proxy. Neither is started. Does nothing if both are installed.
set -euo pipefail

# The packages start their services on installation unless a policy forbids it; tests start their own on free ports.
policy=/usr/sbin/policy-rc.d
if [[ ! -e "$policy" && "$(id -u)" == 0 ]]; then
  printf '#!/bin/sh\nexit 101\n' > "$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
"$(dirname "$0")/install-packages.sh" cluster redis-server haproxy
