#!/usr/bin/env bash
# Builds the clients in three languages and runs each against the real server, which is killed and started again meanwhile.
# Ends with "N passed, N failed, N skipped". What cannot be built here for want of tools counts as skipped, and says so;
# with INTERSTICE_REQUIRE_CLIENTS=1 it counts as failed. deploy/install-client-tools.sh installs the tools. Then the same over
# TLS, with certificates made here (openssl). `test-clients.sh plain` and `test-clients.sh tls` do one of the two.
set -euo pipefail
cd "$(dirname "$0")/.."
node deploy/prepare.mjs
exec node deploy/test-clients.mjs "$@"
