#!/usr/bin/env bash
# Creates the content of the image in a folder. The Dockerfile copies it; CI runs it without a container engine.
#
#   deploy/container-build.sh packages TARGET   the packages that the running service needs
#   deploy/container-build.sh files TARGET      the compiled program and the files that it reads
#   deploy/container-build.sh all TARGET        both
#
# The parts are separate, so that a change of sources alone rebuilds only the second layer of the image.
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
}

files() {
  node deploy/prepare.mjs
  mkdir -p "$target/dist" "$target/gpu" "$target/examples"
  cp package.json LICENSE "$target/"
  # Remove the files of an earlier build.
  rm -rf "$target"/{dist/src,dist/gpu,gpu/kernels,examples/pairs,proto}
  cp -R dist/src dist/gpu "$target/dist/"
  cp -R gpu/kernels "$target/gpu/"
  cp -R examples/pairs "$target/examples/"
  cp -R proto "$target/"
}

case "$part" in
  packages) packages ;;
  files) files ;;
  all) packages; files ;;
  *) fail "The part $part is unknown. Expected packages, files or all." ;;
esac
say "$part in $target: $(du -sh "$target" | cut -f1)"
