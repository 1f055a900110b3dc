#!/usr/bin/env bash
# Installs what the Python and C++ clients are built with, from the distribution alone (Debian or Ubuntu, as root).
# Safe to run again: it does nothing when all of it is there.
set -euo pipefail

readonly packages=(python3 python3-numpy python3-grpcio python3-protobuf protobuf-compiler protobuf-compiler-grpc
  g++ cmake make pkg-config libgrpc++-dev libprotobuf-dev libssl-dev)

say() { printf 'client tools: %s\n' "$*"; }
is_installed() { [[ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2> /dev/null || true)" == installed ]]; }

missing=()
for package in "${packages[@]}"; do is_installed "$package" || missing+=("$package"); done
if (( ${#missing[@]} == 0 )); then
  say 'all there; nothing to do'
  exit 0
fi
[[ "$(id -u)" == 0 ]] || { say "run this as root (it calls apt-get); missing: ${missing[*]}" >&2; exit 1; }

apt() { DEBIAN_FRONTEND=noninteractive apt-get -y -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@"; }
install() { apt update && apt install --no-install-recommends "${missing[@]}"; }

say "installing ${missing[*]}"
# Mirrors answer 503 now and then; one more try after a pause has been enough.
install || { say 'failed; trying once more in 15 s'; sleep 15; install; }
