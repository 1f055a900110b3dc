#!/usr/bin/env bash
# Installs a Vulkan loader and Mesa's software driver (llvmpipe), so that the WebGPU engine runs without a graphics card.
#
# Debian 12 has Mesa 22.3, which Dawn refuses (it lacks dynamic indexing of uniform and storage arrays); there the
# driver comes from bookworm-backports. Other distributions use their own Mesa. Does nothing if a driver that is new
# enough is installed.
set -euo pipefail

readonly minimum_major=23
readonly packages=(libvulkan1 mesa-vulkan-drivers)
readonly backports_list=/etc/apt/sources.list.d/interstice-backports.sources

say() { printf 'software vulkan: %s\n' "$*"; }
fail() { printf 'software vulkan: %s\n' "$*" >&2; exit 1; }

# Debian versions may carry an epoch ("1:25.0.7-2"); only the major number matters here.
major_of() { local version="${1#*:}"; printf '%s' "${version%%.*}"; }

# Prints nothing if the package is not installed, which dpkg-query itself treats as a failure.
installed_version() {
  { dpkg-query --show --showformat='${db:Status-Status} ${Version}\n' "$1" 2> /dev/null || true; } | sed -n 's/^installed //p'
}

is_new_enough() { [[ "$1" =~ ^([0-9]+:)?[0-9]+\. ]] && (( $(major_of "$1") >= minimum_major )); }

# Mirrors sometimes answer 503; a second attempt after a pause has been sufficient. Returns the status of the second attempt.
twice() {
  "$@" && return 0
  say "The command '$*' failed. It is retried once in 15 s."
  sleep 15
  "$@"
}

apt() { DEBIAN_FRONTEND=noninteractive apt-get -y -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@"; }

# grep -q would close the pipe early, and pipefail would treat that as a failure.
has_suite() { apt-cache policy | grep "n=$1\b\|a=$1\b" > /dev/null; }

add_backports() {
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  [[ -r "$keyring" ]] || fail "$keyring is missing. Install debian-archive-keyring."
  say "Adding $1-backports to $backports_list."
  printf 'Types: deb\nURIs: http://deb.debian.org/debian\nSuites: %s-backports\nComponents: main\nSigned-By: %s\n' \
    "$1" "$keyring" > "$backports_list"
}

command -v apt-get > /dev/null || fail 'This script supports only Debian and Ubuntu. Install a Vulkan loader and Mesa by other means.'

mesa="$(installed_version mesa-vulkan-drivers)"
if is_new_enough "$mesa" && [[ -n "$(installed_version libvulkan1)" ]]; then
  say "Mesa $mesa is already installed."
  exit 0
fi

[[ "$(id -u)" == 0 ]] || fail 'Run this as root (it calls apt-get).'

# shellcheck source=/dev/null
. /etc/os-release
codename="${VERSION_CODENAME:-}"
target=()

twice apt update
if [[ "${ID:-}" == debian && "$codename" == bookworm ]]; then
  if ! has_suite "$codename-backports"; then
    add_backports "$codename"
    twice apt update
  fi
  target=(--target-release "$codename-backports")
fi

say "Installing ${packages[*]} ${target[*]}."
twice apt install --no-install-recommends "${target[@]}" "${packages[@]}"

mesa="$(installed_version mesa-vulkan-drivers)"
is_new_enough "$mesa" || fail "Mesa ${mesa:-(none)} is too old. Version $minimum_major or newer is required."
say "Mesa $mesa is installed."
