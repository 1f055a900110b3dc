#!/usr/bin/env bash
# Makes the base images of test-image.sh and test-compose.sh in the store that INTERSTICE_IMAGE_STORE names, so that CI
# can do this while other tests run. If the machine runs no containers, it says why and ends successfully: the tests
# report and count this.
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
