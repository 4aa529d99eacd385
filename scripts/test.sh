#!/bin/bash
# Runs every test of the repository; one line per part, then one line to count by.
set -u
cd "$(dirname "$0")/.."
logs=build/test-logs
mkdir -p "$logs"
passed=0 failed=0 ignored=0 skipped=0
CARGO=${CARGO:-cargo}

report() { printf '%-10s %-7s %s\n' "$1" "$2" "$3"; }

skip() { # name, reason
  skipped=$((skipped + 1))
  report "$1" skipped "$2"
}

# name, command...: the command reports with lines `test result: ... N passed; M failed; K ignored`
# (or, without one, counts as one test).
part() {
  local name=$1 log=$logs/$1.log start=$SECONDS rc p f i
  shift
  "$@" >"$log" 2>&1
  rc=$?
  read -r p f i < <(awk '/^test result:/ { for (k = 2; k <= NF; k++) {
      if ($k == "passed;") p += $(k-1); if ($k == "failed;") f += $(k-1); if ($k == "ignored;") i += $(k-1) } }
    END { print p + 0, f + 0, i + 0 }' "$log")
  if [ $((p + f)) = 0 ]; then
    if [ $rc = 0 ]; then p=1; else f=1; fi
  elif [ $rc != 0 ] && [ "$f" = 0 ]; then
    f=1 # it died before it could report
  fi
  passed=$((passed + p)) failed=$((failed + f)) ignored=$((ignored + i))
  if [ "$f" = 0 ]; then
    report "$name" ok "$p passed, $i ignored, $((SECONDS - start)) s"
  else
    report "$name" FAILED "$f of $((p + f)), $((SECONDS - start)) s; the end of $log:"
    grep -E '^test .*FAILED|^error|panicked at' "$log" | head -40
    tail -40 "$log"
  fi
}

if path=$(scripts/nvrtc.sh 2>"$logs/nvrtc.log"); then
  export PLAQ_NVRTC=$path PLAQ_REQUIRE_NVRTC=1
else
  skip nvrtc "no NVRTC ($logs/nvrtc.log): kernels are not compiled for GPUs"
fi

part build "$CARGO" build
part cargo "$CARGO" test --no-fail-fast
if [ -f include/plaq.h ]; then
  part examples scripts/examples.sh
  part install tests/install.sh
else
  skip examples "include/plaq.h is absent"
  skip install "include/plaq.h is absent"
fi

echo "plaq tests: $passed passed, $failed failed, $ignored ignored, $skipped parts skipped"
[ "$failed" = 0 ]
