#!/usr/bin/env bash
# Creates the content of the image in a folder. The Dockerfile copies it; CI runs it without a container engine.
#
#   deploy/container-build.sh packages TARGET   the packages that the running service needs
#   deploy/container-build.sh files TARGET      the compiled program and the files that it reads
#   deploy/container-build.sh all TARGET        both
#
# The parts are separate, so that a change of sources rebuilds only the second layer of the image.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'container build: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

readonly part="${1:-}" target="${2:-}"
[[ -n "$target" ]] || fail 'Usage: deploy/container-build.sh packages|files|all TARGET'
mkdir -p "$target"

packages() {
  cp package.json package-lock.json "$target/"
  npm ci --prefix "$target" --omit=dev --no-audit --no-fund
  # The WebGPU library contains its program for five systems; only one of them is needed. Source maps, types and tests
  # are only for developers.
  local system
  system="$(node -p '`${process.platform}-${process.arch}`')"
  find "$target/node_modules/webgpu/dist" -mindepth 1 -maxdepth 1 ! -name "$system" -exec rm -r {} +
  find "$target/node_modules" -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete
  find "$target/node_modules" -type d \( -name test -o -name tests -o -name __tests__ \) -prune -exec rm -r {} +
}

files() {
  node deploy/prepare.mjs --product
  mkdir -p "$target/dist" "$target/gpu" "$target/examples" "$target/src/plan"
  cp package.json LICENSE "$target/"
  # Remove the files of an earlier build.
  rm -rf "$target"/{dist/src,dist/gpu,dist/page,gpu/kernels,examples/pairs,checker,proto,src/plan/costs}
  cp -R dist/src dist/gpu dist/page "$target/dist/"
  find "$target/dist" -type f \( -name '*.map' -o -name '*.d.ts' \) -delete
  cp -R gpu/kernels "$target/gpu/"
  cp -R examples/pairs "$target/examples/"
  cp -R checker "$target/"
  cp -R proto "$target/"
  cp -R src/plan/costs "$target/src/plan/"
}

case "$part" in
  packages) packages ;;
  files) files ;;
  all) packages; files ;;
  *) fail "The part $part is unknown. Expected packages, files or all." ;;
esac
say "$part in $target: $(du -sh "$target" | cut -f1)"
