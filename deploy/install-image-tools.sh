#!/usr/bin/env bash
# Installs what builds and runs the container images without a registry of images (Debian, as root): mmdebstrap makes the bases, buildah
# builds, podman runs, netavark and its friends join containers to a network. Does nothing if all are installed.
set -euo pipefail

exec "$(dirname "$0")/install-packages.sh" 'image tools' buildah podman runc catatonit mmdebstrap netavark aardvark-dns iptables iproute2
