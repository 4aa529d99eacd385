#!/bin/bash
# Prints the full path of an NVRTC library: PLAQ_NVRTC, or the wheel from PyPI in build/venv.
set -eu
cd "$(dirname "$0")/.."
if [ -n "${PLAQ_NVRTC:-}" ]; then
  echo "$PLAQ_NVRTC"
  exit
fi
find_it() { find "$PWD/build/venv" -name 'libnvrtc.so.*' 2>/dev/null | sort | tail -1; }
if [ -z "$(find_it)" ]; then
  mkdir -p build
  python3 -m venv build/venv >&2
  build/venv/bin/pip install --quiet --disable-pip-version-check 'nvidia-cuda-nvrtc==13.0.*' >&2
fi
path=$(find_it)
[ -n "$path" ] && echo "$path"
