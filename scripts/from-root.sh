#!/bin/sh
# usage: from-root.sh PROGRAM [ARGUMENT...]
# Runs a program in the root of the repository: cargo starts it in the folder of its crate.
cd "$(dirname "$0")/.." && exec "$@"
