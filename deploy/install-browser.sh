#!/usr/bin/env bash
# Installs Chromium from the distribution (Debian, as root), for the tests that press the buttons of /docs and run the
# TypeScript client in a page. Does nothing if it is installed.
set -euo pipefail

exec "$(dirname "$0")/install-packages.sh" browser chromium
