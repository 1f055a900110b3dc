#!/usr/bin/env bash
# Runs the services of docker-compose.yml except Grafana in containers: two of the service, HAProxy, Redis and
# Prometheus. Needs root, on Debian, and uses a separate network; deploy/containers.sh makes the images,
# deploy/test-compose.mjs tests them.
#
#     deploy/test-compose.sh [NODE_PACKAGE]     NODE_PACKAGE: node_modules of an installed npm package "node"; without it npm fetches one
#
# Ends with "N passed, N failed, N skipped". If a probe finds that the machine runs no containers, or cannot join them
# to a network, it says why and counts one skip; INTERSTICE_REQUIRE_IMAGE=1 makes that a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/containers.sh

reason="$(obstacle)"
[[ -n "$reason" ]] || reason="$(network_obstacle)"
if [[ -n "$reason" ]]; then
  miss "NO SERVICE OF docker-compose.yml IS RUN: $reason."
  finish
  exit
fi

begun=$SECONDS
node deploy/prepare.mjs
check 'bases from packages' make_bases "${1:-}"
check 'HAProxy, Redis and Prometheus from packages' make_neighbours
if ((failed == 0)); then
  check 'the image with both engines is built' build both
  check 'it has the name that the file gives it' podman tag interstice-both interstice
fi
if ((failed == 0)); then count in_own_network node deploy/test-compose.mjs; fi
say "services: $((SECONDS - begun)) s"
finish
