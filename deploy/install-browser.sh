#!/usr/bin/env bash
# Installs Chromium from the distribution (Debian, as root), for the tests that press the buttons of /docs and run the
# TypeScript client in a page, and for the pictures of README and scenes, with a font for their words. Does nothing if it is installed.
set -euo pipefail

exec "$(dirname "$0")/install-packages.sh" browser chromium fonts-dejavu-core
