#!/usr/bin/env bash
# Installs what builds and runs the container image without a registry of images (Debian, as root): mmdebstrap makes the base,
# buildah builds, podman runs. Does nothing if all are installed.
set -euo pipefail

exec "$(dirname "$0")/install-packages.sh" 'image tools' buildah podman runc catatonit mmdebstrap
