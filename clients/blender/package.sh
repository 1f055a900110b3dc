#!/usr/bin/env bash
# Packs the add-on as a zip that Blender installs: package.sh [FILE], by default interstice_blender.zip in the current folder.
set -euo pipefail

target="$(realpath "${1:-interstice_blender.zip}")"
readonly target
cd "$(dirname "$0")"
python3 - "$target" interstice_blender/*.py << 'PYTHON'
import sys
import zipfile

target, *names = sys.argv[1:]
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
    for name in names:
        archive.write(name)
PYTHON
printf '%s\n' "$target"
