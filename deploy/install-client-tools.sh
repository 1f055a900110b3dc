#!/usr/bin/env bash
# Installs the build tools of the Python and C++ clients from the distribution (Debian or Ubuntu, as root).
# Does nothing if everything is installed.
set -euo pipefail

exec "$(dirname "$0")/install-packages.sh" 'client tools' \
  python3 python3-numpy python3-grpcio python3-protobuf python3-pip python3-setuptools python3-wheel python3-mypy \
  protobuf-compiler protobuf-compiler-grpc \
  g++ cmake make pkg-config libgrpc++-dev libprotobuf-dev libssl-dev
