#!/usr/bin/env bash
# Builds both images of the Dockerfile, runs them with a read-only root, checks their health, resolves over both
# transports, and drains them. Needs root, on Debian; deploy/containers.sh makes the images.
#
#     deploy/test-image.sh [NODE_PACKAGE]     NODE_PACKAGE: node_modules of an installed npm package "node"; without it npm fetches one
#
# Ends with "N passed, N failed, N skipped". If a probe finds that the machine runs no containers, it says why, counts
# one skip and runs the smoke test on the content of the image instead; INTERSTICE_REQUIRE_IMAGE=1 makes that a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/containers.sh

# Largest sizes of the images in bytes: with software Vulkan, and with the engine cpu only.
declare -rA most_bytes=([both]=450000000 [cpu]=250000000)
readonly stop_seconds=60 ready_tries=600

reason="$(obstacle)"
if [[ -n "$reason" ]]; then
  miss "NO IMAGE IS BUILT OR RUN: $reason."
  say 'In its place the content of the image is made and used without a container.'
  deploy/container-build.sh all "$work/content"
  count node deploy/smoke.mjs "$(command -v node)" "$work/content"
  finish
  exit
fi

# ---- one container, as docker-compose.yml starts it; its network is its own loopback device, where the checks run
is_ready() {
  local k
  for ((k = 0; k < ready_tries; k++)); do
    podman exec "$1" node -e "fetch('http://127.0.0.1:8080/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))" \
      && return 0
    [[ "$(podman inspect --format '{{.State.Running}}' "$1")" == true ]] || { podman logs "$1"; return 1; }
    sleep 0.5
  done
  podman logs "$1"
  return 1
}
is_refused() { ! "$@"; }
ends_well() {
  podman stop --time "$stop_seconds" "$1"
  [[ "$(podman inspect --format '{{.State.ExitCode}}' "$1")" == 0 ]] || { podman logs "$1"; return 1; }
}
use() {
  local name="$1" engine="$2" image="interstice-$1"
  local size
  size="$(podman image inspect --format '{{.Size}}' "$image")"
  say "$image has $((size / 1000000)) MB; at most $((most_bytes[$name] / 1000000)) MB"
  check "$image is small enough" test "$size" -le "${most_bytes[$name]}"
  podman run --detach --name "$image" "${confined[@]}" --network none \
    --env INTERSTICE_INSECURE=1 --env INTERSTICE_ENGINE="$engine" --env INTERSTICE_SHADER_CACHE=/tmp/kernels \
    --volume "$PWD/deploy/use-service.mjs:/app/use-service.mjs:ro" "$image" > "$work/run.log" 2>&1 || { cat "$work/run.log"; failed=$((failed + 1)); return; }
  check "$image becomes ready ($engine)" is_ready "$image"
  check "$image reports its health" podman healthcheck run "$image"
  check "$image resolves over HTTP and gRPC" podman exec "$image" node use-service.mjs "$engine"
  check "$image has a root that cannot be written" is_refused podman exec "$image" touch /app/written
  check "$image runs as a user without rights" podman exec "$image" test "$(podman exec "$image" id -u)" = 1000
  check "$image drains and ends with code 0" ends_well "$image"
}

begun=$SECONDS
check 'bases from packages' make_bases "${1:-}"
say "bases: $((SECONDS - begun)) s"
if ((failed == 0)); then
  check 'the image with both engines is built' build both
  check 'the image with the engine cpu is built' build cpu --target cpu
  say "built: $((SECONDS - begun)) s"
fi
if ((failed == 0)); then
  use both webgpu
  use cpu cpu
fi
say "all: $((SECONDS - begun)) s"
finish
