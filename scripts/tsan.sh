#!/bin/bash
# usage: tsan.sh [SECONDS] [SEED]
# ThreadSanitizer over the host code: random calls of four threads that share objects (tests/fuzz), with
# plaq and Rust's library compiled for it by the nightly toolchain and its rust-src; kernels are not.
set -eu
cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}
target=${CARGO_TARGET_DIR:-target}
host=$(rustc +nightly -vV | sed -n 's/^host: //p')
# The generated calls.
"$CARGO" test --test host -- --exact fuzz::the_calls_are_written
RUSTFLAGS=-Zsanitizer=thread "$CARGO" +nightly rustc -p plaq -Zbuild-std --target "$host" --lib --crate-type staticlib \
  --target-dir "$target/tsan"
runtime=$(rustc +nightly --print sysroot)/lib/rustlib/$host/lib/librustc-nightly_rt.tsan.a
work=$target/tsan/work
rm -rf "$work"
mkdir -p "$work/files"
${CC:-cc} -std=gnu99 -O1 -g -Iinclude -Itests/fuzz "$target/tmp/fuzz/calls.c" tests/fuzz/engine.c \
  "$target/tsan/$host/debug/libplaq.a" -Wl,--whole-archive "$runtime" -Wl,--no-whole-archive \
  -lm -ldl -lpthread -lrt -o "$work/fuzz"
TSAN_OPTIONS="exitcode=0 log_path=$work/report" \
  setarch -R "$work/fuzz" "${2:-9}" 0 1000000 "${1:-60}" 60 "$work/files" 4
if grep -l 'WARNING: ThreadSanitizer' "$work"/report* 2>/dev/null; then
  grep -h '^SUMMARY' "$work"/report*
  exit 1
fi
echo "ThreadSanitizer: nothing found"
