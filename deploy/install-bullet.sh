#!/usr/bin/env bash
# Installs Bullet from the distribution (Debian or Ubuntu, as root), for the C++ example that makes its cloth safe.
# Does nothing if it is installed.
set -euo pipefail

exec "$(dirname "$0")/install-packages.sh" bullet libbullet-dev
