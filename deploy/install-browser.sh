#!/usr/bin/env bash
# Installs Chromium from the distribution (Debian, as root), for the tests that use the buttons of /docs and run the
# TypeScript client in a page, and for the pictures of the README and the scenes, with a font for their text. Does
# nothing if it is installed.
set -euo pipefail

exec "$(dirname "$0")/install-packages.sh" browser chromium fonts-dejavu-core
