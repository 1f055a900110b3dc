#!/usr/bin/env bash
# Installs promtool from the distribution (Debian or Ubuntu, as root), which checks the alert rules of deploy/monitoring.
# Does nothing if it is installed. The package's server is not started: whoever runs it does so by its own command.
set -euo pipefail

# Without a service manager the package's scripts only say that they start nothing.
exec "$(dirname "$0")/install-packages.sh" 'monitoring tools' prometheus
