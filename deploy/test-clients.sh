#!/usr/bin/env bash
# Builds the clients in three languages and runs each against the real server, which is killed and restarted meanwhile; then
# repeats that over TLS, with certificates that openssl generates. Ends with "N passed, N failed, N skipped". A client whose
# build tools are missing counts as skipped, or as failed with INTERSTICE_REQUIRE_CLIENTS=1; deploy/install-client-tools.sh
# installs them. `test-clients.sh plain` runs only the first part, with the client in TypeScript and either that in Python or that in C++,
# and one transport of each, which the day chooses; `test-clients.sh tls` runs only the second part.
set -euo pipefail
cd "$(dirname "$0")/.."
node deploy/prepare.mjs
exec node deploy/test-clients.mjs "$@"
