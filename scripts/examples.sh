#!/bin/bash
# usage: examples.sh [--list]
# Builds the programs of examples-c/ and runs them as tests. A program says in its opening comment
# how: every line `test: ARGUMENTS` is one run from the root of the repository that must end with
# status 0; $OUT in it is a fresh folder. --list prints `PROGRAM ARGUMENTS` lines instead.
set -u
cd "$(dirname "$0")/.."
shopt -s nullglob

runs() {
  local source name
  for source in examples-c/*.c examples-c/*.f90; do
    name=$(basename "$source")
    case $name in *.c) name=${name%.c} ;; *) name=${name%.f90}_f ;; esac
    if ! grep -qE '^[ !/*]*test:' "$source"; then
      echo "$source has no line 'test: ARGUMENTS' in its opening comment" >&2
      return 1
    fi
    sed -nE "s,^[ !/*]*test: *,$name ,p" "$source"
  done
}

list=$(runs) || exit 1
if [ "${1:-}" = --list ]; then
  echo "$list"
  exit
fi
make --no-print-directory examples PROFILE=dev || exit 1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
good=0 bad=0 missing=0
while read -r name args; do
  [ -n "$name" ] || continue
  if [ ! -x "build/dev/bin/$name" ]; then
    echo "test $name ... ignored, no Fortran compiler"
    missing=$((missing + 1))
  elif OUT=$out bash -c "exec build/dev/bin/$name $args" >"$out/log" 2>&1 </dev/null; then
    echo "test $name $args ... ok"
    good=$((good + 1))
  else
    echo "test $name $args ... FAILED (status $?)"
    cat "$out/log"
    bad=$((bad + 1))
  fi
done <<<"$list"
echo "test result: $good passed; $bad failed; $missing ignored;"
[ "$bad" = 0 ]
