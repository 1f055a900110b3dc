#!/usr/bin/env bash
# Installs packages of the distribution (Debian or Ubuntu, as root); does nothing if all are installed. Concurrent calls
# wait for each other, because apt installs one set at a time.
#
#     install-packages.sh PURPOSE PACKAGE...
set -euo pipefail

readonly purpose="$1"
shift

say() { printf '%s: %s\n' "$purpose" "$*"; }
is_installed() { [[ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2> /dev/null || true)" == installed ]]; }

missing=()
for package in "$@"; do is_installed "$package" || missing+=("$package"); done
if (( ${#missing[@]} == 0 )); then
  say 'Everything is installed.'
  exit 0
fi
[[ "$(id -u)" == 0 ]] || { say "Run this as root (it calls apt-get). Missing packages: ${missing[*]}." >&2; exit 1; }

# The lock is held until this script ends, but not by programs that packages may start.
exec 9< "$0"
flock 9
apt() { DEBIAN_FRONTEND=noninteractive apt-get -y -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@" 9<&-; }
install() { apt update && apt install --no-install-recommends "${missing[@]}"; }

say "Installing ${missing[*]}."
# Mirrors sometimes answer 503; a second attempt after a pause has been sufficient.
install || { say 'The installation failed. It is retried once in 15 s.'; sleep 15; install; }
