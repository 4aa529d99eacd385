#!/bin/bash
# Runs a command and says meanwhile how far the kernels are, which take minutes: build.rs writes the line.
set -u
file=${PLAQ_KERNEL_CACHE:-${CARGO_TARGET_DIR:-target}/plaq-kernels}/progress
every=${PLAQ_PROGRESS:-5}
start=$SECONDS said=
"$@" &
command=$!
trap 'kill "$command" 2>/dev/null; wait "$command"; exit 130' INT TERM
while kill -0 "$command" 2>/dev/null; do
  if read -r line 2>/dev/null <"$file" && [ -n "$line" ] && [ "$line" != "$said" ]; then
    printf '  %3d s  %s\n' $((SECONDS - start)) "$line" >&2
    said=$line
  fi
  sleep "$every" >/dev/null 2>&1 &
  wait -n "$command" $! 2>/dev/null || true
done
wait "$command"
