# Sourced by image-bases.sh, test-image.sh and test-compose.sh: a separate store of images, a probe of what this machine
# allows, the images that the Dockerfile and docker-compose.yml name as their bases, and the image of the service. Needs
# root, on Debian. It uses no image registry: the bases are made from Debian packages and Node from npm, under the same
# names.
#
# INTERSTICE_IMAGE_STORE names a folder that keeps images from one run to the next, bases included.
# shellcheck shell=bash

readonly node_major=24 suite=bookworm

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
# Counts a check that this machine does not allow: a failure if INTERSTICE_REQUIRE_IMAGE=1, else a skip.
miss() {
  say "$*"
  if [[ "${INTERSTICE_REQUIRE_IMAGE:-}" == 1 ]]; then failed=$((failed + 1)); else skipped=$((skipped + 1)); fi
}

# Runs a program that ends with such a line, and adds it.
count() {
  "$@" 2>&1 | tee "$work/count.log" || true
  [[ "$(tail -n 1 "$work/count.log")" =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]] || { failed=$((failed + 1)); return; }
  passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2])) skipped=$((skipped + BASH_REMATCH[3]))
}

cleanup() {
  # Without the settings below it would be the system's own store.
  if [[ -f "$CONTAINERS_STORAGE_CONF" ]]; then
    podman rm --force --all --time 0 > /dev/null 2>&1 || true
    buildah rm --all > /dev/null 2>&1 || true
  fi
  rm -rf "$work"
}
trap cleanup EXIT

# ---- engine: a store of its own, runc (crun refuses some kernels' control groups), no service manager
export CONTAINERS_CONF="$work/containers.conf" CONTAINERS_STORAGE_CONF="$work/storage.conf" STORAGE_DRIVER=
configure() {
  printf '[containers]\ndefault_ulimits=["nofile=20000:20000","nproc=4096:4096"]\ninit_path="/usr/bin/catatonit"\n' > "$CONTAINERS_CONF"
  printf '[engine]\nruntime="runc"\ncgroup_manager="cgroupfs"\nevents_logger="file"\n' >> "$CONTAINERS_CONF"
  printf '[network]\nnetwork_backend="netavark"\nnetwork_config_dir="%s/networks"\n' "$work" >> "$CONTAINERS_CONF"
  printf '[storage]\ndriver="%s"\ngraphroot="%s/images"\nrunroot="%s/run"\n' "$1" "$store" "$work" > "$CONTAINERS_STORAGE_CONF"
}

# ---- what this machine allows
# A container as docker-compose.yml makes one of the service.
readonly confined=(--init --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges)
# An image of one static program, and a container of it; building also needs the right to change the root.
readonly probe_image=localhost/interstice-probe
probe_container() {
  local probe folder
  probe="$(buildah from scratch)" || return
  folder="$(buildah mount "$probe")" || return
  cp /usr/bin/catatonit "$folder/catatonit" || return
  chroot "$folder" /catatonit --version || return
  buildah commit --quiet --rm "$probe" "$probe_image" || return
  podman run --rm "${confined[@]}" --network none "$probe_image" /catatonit --version
}

# Prints why no container can be made and run here; nothing if one can. Also sets up the engine.
obstacle() {
  local tool
  [[ "$(id -u)" == 0 ]] || { echo 'it needs root'; return; }
  for tool in buildah podman runc catatonit mmdebstrap; do
    command -v "$tool" > /dev/null || { echo "$tool is missing (deploy/install-image-tools.sh)"; return; }
  done
  for driver in overlay vfs; do
    configure "$driver"
    probe_container > "$work/probe.log" 2>&1 && return
    buildah rm --all > /dev/null 2>&1 || true
  done
  echo "a container of one static program does not run here: $(tail -n 1 "$work/probe.log")"
}

# Runs a command in a network of its own.
in_own_network() {
  unshare --net --mount bash -c 'ip link set lo up && exec "$@"' bash "$@"
}
# Prints why no containers can be joined to a network here; nothing if they can. Needs the image of the probe.
network_obstacle() {
  in_own_network bash -c 'podman network create probe && podman run --rm --network probe --publish 127.0.0.1:8080:8080 "$@"' \
    bash "${confined[@]}" "$probe_image" /catatonit --version > "$work/probe.log" 2>&1 \
    || echo "containers cannot be joined to a network here: $(tail -n 1 "$work/probe.log")"
}

# ---- bases
has_image() { buildah inspect --type image "$1" > /dev/null 2>&1; }

# make_bases [NODE_PACKAGE]: node_modules of an installed npm package "node"; without it npm fetches one.
make_bases() {
  local node_package="${1:-}" mirror='http://deb.debian.org'
  has_image "docker.io/library/node:$node_major-$suite-slim" && return 0
  if [[ -z "$node_package" ]]; then
    printf '{}' > "$work/package.json"
    npm install --prefix "$work" --no-audit --no-fund --ignore-scripts=false "node@$node_major" > "$work/npm.log" 2>&1 || return
    node_package="$work/node_modules"
  fi
  local paths=(--dpkgopt=force-unsafe-io) path
  for path in doc man locale info lintian; do paths+=("--dpkgopt=path-exclude=/usr/share/$path/*"); done
  mmdebstrap --variant=essential --include=apt,debian-archive-keyring,usr-is-merged --mode=root \
    --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr "${paths[@]}" "$suite" "$work/base.tar" \
    "deb $mirror/debian $suite main" "deb $mirror/debian $suite-updates main" "deb $mirror/debian-security $suite-security main" \
    > "$work/mmdebstrap.log" 2>&1 || { tail -n 20 "$work/mmdebstrap.log"; return 1; }
  local container folder
  container="$(buildah from scratch)" || return
  buildah add --quiet "$container" "$work/base.tar" / || return
  rm "$work/base.tar"
  buildah config --cmd bash "$container"
  buildah commit --quiet "$container" "docker.io/library/debian:$suite-slim" || return
  folder="$(buildah mount "$container")" || return
  cp -L "$node_package/node/bin/node" "$folder/usr/local/bin/node" || return
  cp -R "$(npm root -g)/npm" "$folder/usr/local/lib/npm" || return
  ln -s ../lib/npm/bin/npm-cli.js "$folder/usr/local/bin/npm"
  buildah commit --quiet --rm "$container" "docker.io/library/node:$node_major-$suite-slim"
}

# The programs that docker-compose.yml runs beside the service and that Debian has: one image with all of them, under
# the names of the original images and with their commands. (Redis in that image accepts connections of other containers
# without a password.)
make_neighbours() {
  local redis haproxy prometheus container
  redis="$(image_of redis)" haproxy="$(image_of haproxy)" prometheus="$(image_of prometheus)"
  has_image "$redis" && has_image "$haproxy" && has_image "$prometheus" && return 0
  container="$(buildah from --pull-never "debian:$suite-slim")" || return
  buildah run --isolation chroot "$container" sh -c 'apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y \
    --no-install-recommends redis-server haproxy prometheus && rm -rf /var/lib/apt/lists/* /var/cache/apt/*' || return
  buildah config --cmd 'haproxy -W -db -f /usr/local/etc/haproxy/haproxy.cfg' "$container"
  buildah commit --quiet "$container" "$haproxy" || return
  buildah config --workingdir /data --entrypoint '["/bin/sh", "-c", "exec \"$@\" --protected-mode no", "--"]' --cmd redis-server "$container"
  buildah commit --quiet "$container" "$redis" || return
  buildah config --workingdir /prometheus --entrypoint '["prometheus", "--config.file=/etc/prometheus/prometheus.yml"]' --cmd '' "$container"
  buildah commit --quiet --rm "$container" "$prometheus"
}
# image_of SERVICE: the full name of its image in docker-compose.yml.
image_of() {
  local name
  name="$(sed -n "/^  $1:/,/image:/s/^ *image: //p" docker-compose.yml)"
  [[ "$name" == */* ]] || name="library/$name"
  printf 'docker.io/%s' "$name"
}

# ---- the image of the service
# build NAME [FLAG...]: builds the unchanged Dockerfile as interstice-NAME.
build() {
  local name="$1" mounts=() cache; shift
  # This variable names the authority of networks whose gateway re-signs TLS; npm reads it from a user's file, which it
  # keeps.
  if [[ -r "${NODE_EXTRA_CA_CERTS:-}" ]]; then
    printf 'cafile=/etc/interstice-authority.pem\n' > "$work/npmrc"
    mounts+=(--volume "$(readlink -f "$NODE_EXTRA_CA_CERTS"):/etc/interstice-authority.pem:ro" --volume "$work/npmrc:/root/.npmrc:ro")
  fi
  cache="$(npm config get cache 2> /dev/null)"
  [[ -d "$cache" ]] && mounts+=(--volume "$cache:/root/.npm")
  buildah bud --isolation chroot --pull-never --layers --format docker "${mounts[@]}" --tag "interstice-$name" "$@" . \
    > "$work/build-$name.log" 2>&1 || { tail -n 40 "$work/build-$name.log"; return 1; }
}
