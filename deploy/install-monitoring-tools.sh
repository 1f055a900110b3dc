#!/usr/bin/env bash
# Installs promtool from the distribution (Debian or Ubuntu, as root), which checks the alert rules of
# deploy/monitoring. Does nothing if it is installed. The server in the package is not started.
set -euo pipefail

# Without a service manager the package's scripts only report that they start nothing.
exec "$(dirname "$0")/install-packages.sh" 'monitoring tools' prometheus
