#!/bin/bash
# usage: glibc.sh FILE...
# Prints the oldest glibc that these programs and libraries run with. Of x86_64 it fails where that is not 2.28, of
# RHEL 8, or where they need a newer libgcc_s.so.1 than there is: packaging/glibc.c misses a name.
set -euo pipefail
needed=$(readelf -VW "$@" | grep -oE 'Name: (GLIBC|GCC)_[0-9.]+' | sort -Vu)
newest() { sed -n "s/^Name: $1_//p" <<<"$needed" | tail -1; }
later() { [ "$(printf '%s\n' "$1" "$2" | sort -V | tail -1)" != "$2" ]; }
if [ "$(uname -m)" = x86_64 ] && { later "$(newest GLIBC)" 2.28 || later "$(newest GCC)" 7.0.0; }; then
  for file in "$@"; do
    objdump -T "$file" | grep -E 'GLIBC_2\.(29|[3-9][0-9])|GCC_([89]|[1-9][0-9])\.' | sed "s|^|$file: |" >&2 || true
  done
  exit 1
fi
newest GLIBC
