#!/usr/bin/env bash
# Installs Blender from the distribution (Debian or Ubuntu, as root), for the headless test of the Blender add-on.
# Does nothing if it is installed.
set -euo pipefail

exec "$(dirname "$0")/install-packages.sh" blender blender python3-numpy
