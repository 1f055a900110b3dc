#!/usr/bin/env bash
# Makes what test-image.sh and test-compose.sh begin with, in the store that INTERSTICE_IMAGE_STORE names, so that CI has it done while other
# tests run. Says why where the machine runs no containers, and ends well then: the tests say it again and count it.
#
#     INTERSTICE_IMAGE_STORE=FOLDER deploy/image-bases.sh [NODE_PACKAGE]
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/containers.sh

reason="$(obstacle)"
if [[ -n "$reason" ]]; then
  say "No bases are made: $reason."
  exit
fi
make_bases "$@"
make_neighbours
