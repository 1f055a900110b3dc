#!/usr/bin/env bash
# Builds both images of the Dockerfile, runs them with a read-only root, asks for health and resolves over both doors, drains them.
# As root, on Debian: no registry of images is asked. What the Dockerfile names as its bases is made of Debian's packages and of
# Node from npm, under the same names, in a store of images of its own.
#
#     deploy/test-image.sh [NODE_PACKAGE]     NODE_PACKAGE: node_modules of an installed npm package "node"; without it npm fetches one
#
# INTERSTICE_IMAGE_STORE names a folder that keeps images from one run to the next, bases included.
# Ends with "N passed, N failed, N skipped". Where no image can be built for lack of rights or programs it says so and smokes the
# content of the image instead; INTERSTICE_REQUIRE_IMAGE=1 makes that a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly node_major=24 suite=bookworm
# Bytes that the images may have: with software Vulkan, and with the engine cpu alone.
declare -rA most_bytes=([both]=450000000 [cpu]=250000000)
readonly stop_seconds=60 ready_tries=600

work="$(mktemp -d)"
store="${INTERSTICE_IMAGE_STORE:-$work}"
passed=0 failed=0 skipped=0

say() { printf 'image: %s\n' "$*"; }
check() {
  local what="$1"; shift
  if "$@" > "$work/check.log" 2>&1; then passed=$((passed + 1)); say " ok   $what"
  else failed=$((failed + 1)); say "FAIL  $what"; tail -n 20 "$work/check.log"; fi
}
finish() { printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"; ((failed == 0)); }

containers=()
cleanup() {
  local name
  for name in "${containers[@]}"; do podman rm --force "$name" > /dev/null 2>&1 || true; done
  # Without the settings below it would be the machine's own store.
  if [[ -f "$CONTAINERS_STORAGE_CONF" ]]; then buildah rm --all > /dev/null 2>&1 || true; fi
  rm -rf "$work"
}
trap cleanup EXIT

# ---- engine: a store of its own, runc (crun refuses some kernels' control groups), no service manager
export CONTAINERS_CONF="$work/containers.conf" CONTAINERS_STORAGE_CONF="$work/storage.conf" STORAGE_DRIVER=
configure() {
  printf '[containers]\ndefault_ulimits=["nofile=20000:20000","nproc=4096:4096"]\ninit_path="/usr/bin/catatonit"\n' > "$CONTAINERS_CONF"
  printf '[engine]\nruntime="runc"\ncgroup_manager="cgroupfs"\nevents_logger="file"\n' >> "$CONTAINERS_CONF"
  printf '[storage]\ndriver="%s"\ngraphroot="%s/images"\nrunroot="%s/run"\n' "$1" "$store" "$work" > "$CONTAINERS_STORAGE_CONF"
}

# Prints why no container can be built and run here; nothing if one can.
obstacle() {
  local tool
  [[ "$(id -u)" == 0 ]] || { echo 'it needs root'; return; }
  for tool in buildah podman runc catatonit mmdebstrap; do
    command -v "$tool" > /dev/null || { echo "$tool is missing (deploy/install-image-tools.sh)"; return; }
  done
  for driver in overlay vfs; do
    configure "$driver"
    local probe
    if probe="$(buildah from scratch 2>> "$work/probe.log")" && buildah mount "$probe" > /dev/null 2>> "$work/probe.log"; then
      buildah rm "$probe" > /dev/null
      return
    fi
  done
  echo "buildah may not mount here: $(tail -n 1 "$work/probe.log")"
}

smoke_content() {
  deploy/container-build.sh all "$work/content"
  node deploy/smoke.mjs "$(command -v node)" "$work/content" | tee "$work/smoke.log"
  local tally
  tally="$(tail -n 1 "$work/smoke.log")"
  [[ "$tally" =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]] || { failed=$((failed + 1)); return; }
  passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
}

reason="$(obstacle)"
if [[ -n "$reason" ]]; then
  say "NO IMAGE IS BUILT OR RUN: $reason."
  if [[ "${INTERSTICE_REQUIRE_IMAGE:-}" == 1 ]]; then failed=1; else skipped=1; fi
  say 'In its place the content of the image is made and used without a container.'
  smoke_content
  finish
  exit
fi

# ---- bases
make_bases() {
  local node_package="${1:-}" mirror='http://deb.debian.org'
  buildah inspect --type image "docker.io/library/node:$node_major-$suite-slim" > /dev/null 2>&1 && return 0
  if [[ -z "$node_package" ]]; then
    printf '{}' > "$work/package.json"
    npm install --prefix "$work" --no-audit --no-fund --ignore-scripts=false "node@$node_major" > "$work/npm.log" 2>&1
    node_package="$work/node_modules"
  fi
  local paths=(--dpkgopt=force-unsafe-io) path
  for path in doc man locale info lintian; do paths+=("--dpkgopt=path-exclude=/usr/share/$path/*"); done
  mmdebstrap --variant=essential --include=apt,debian-archive-keyring,usr-is-merged --mode=root \
    --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr "${paths[@]}" "$suite" "$work/base.tar" \
    "deb $mirror/debian $suite main" "deb $mirror/debian $suite-updates main" "deb $mirror/debian-security $suite-security main" \
    > "$work/mmdebstrap.log" 2>&1 || { tail -n 20 "$work/mmdebstrap.log"; return 1; }
  local container folder
  container="$(buildah from scratch)"
  buildah add --quiet "$container" "$work/base.tar" / > /dev/null
  rm "$work/base.tar"
  buildah config --cmd bash "$container"
  buildah commit --quiet "$container" "docker.io/library/debian:$suite-slim" > /dev/null
  folder="$(buildah mount "$container")"
  cp -L "$node_package/node/bin/node" "$folder/usr/local/bin/node"
  cp -R "$(npm root -g)/npm" "$folder/usr/local/lib/npm"
  ln -s ../lib/npm/bin/npm-cli.js "$folder/usr/local/bin/npm"
  buildah commit --quiet --rm "$container" "docker.io/library/node:$node_major-$suite-slim" > /dev/null
}

# Networks whose gateway signs for others give their authority in this variable; npm is told by a user's file, which it keeps.
mounts=()
if [[ -r "${NODE_EXTRA_CA_CERTS:-}" ]]; then
  printf 'cafile=/etc/interstice-authority.pem\n' > "$work/npmrc"
  mounts+=(--volume "$(readlink -f "$NODE_EXTRA_CA_CERTS"):/etc/interstice-authority.pem:ro" --volume "$work/npmrc:/root/.npmrc:ro")
fi
cache="$(npm config get cache 2> /dev/null)"
[[ -d "$cache" ]] && mounts+=(--volume "$cache:/root/.npm")

build() {
  local name="$1"; shift
  buildah bud --isolation chroot --pull-never --layers --format docker "${mounts[@]}" --tag "interstice-$name" "$@" . \
    > "$work/build-$name.log" 2>&1 || { tail -n 40 "$work/build-$name.log"; return 1; }
}

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
  containers+=("$image")
  podman run --detach --name "$image" --init --network none --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
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
