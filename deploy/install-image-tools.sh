#!/usr/bin/env bash
# Installs the tools that build and run the container images without an image registry (Debian, as root): mmdebstrap
# makes the bases, buildah builds, podman runs, netavark and related tools join containers to a network. Does nothing if
# all are installed.
set -euo pipefail

exec "$(dirname "$0")/install-packages.sh" 'image tools' buildah podman runc catatonit mmdebstrap netavark aardvark-dns iptables iproute2
