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

# Many ranks print what one prints: words alike, numbers to rounding (solutions to their tolerance);
# lines with times are left out.
alike() {
  awk 'function number(x) { return x ~ /^[-+]?[0-9.]+(e[-+]?[0-9]+)?$/ }
    /iterations,/ { next }
    { for (i = 1; i <= NF; i++) token[FNR == NR, ++n[FNR == NR]] = $i }
    END {
      if (!n[1] || n[1] != n[0]) exit 1
      for (i = 1; i <= n[1]; i++) {
        a = token[1, i]; b = token[0, i]; d = a - b
        if (number(a) && number(b) ? d * d > (1e-6 * a) ^ 2 + 1e-22 : a "" != b "") {
          print "expected " a ", found " b
          exit 1
        }
      }
    }' "$1" "$2"
}

on_ranks() { # program, arguments
  local name=$1 grid
  shift
  [ -x "build/dev/bin/${name}_mpi" ] || { missing=$((missing + 1)); return; }
  "build/dev/bin/$name" "$@" >"$out/one" 2>"$out/log"
  for grid in 1,1,1,2 2,1,1,1 1,2,2,1; do
    if scripts/ranks.sh "$grid" "build/dev/bin/${name}_mpi" --grid "$grid" "$@" >"$out/many" 2>"$out/log" &&
      alike <(grep '^[ #a-z]' "$out/one") <(grep '^[ #a-z]' "$out/many") >"$out/apart"; then
      echo "test ${name}_mpi --grid $grid $* ... ok"
      good=$((good + 1))
    else
      echo "test ${name}_mpi --grid $grid $* ... FAILED"
      cat "$out/apart" "$out/log" "$out/many"
      bad=$((bad + 1))
    fi
  done
}

if command -v "${MPICC:-mpicc}" >/dev/null && command -v "${MPIRUN:-mpirun}" >/dev/null; then
  make --no-print-directory examples-mpi PROFILE=dev || exit 1
  file=tests/data/quenched-b6.0-4x4x4x8.ildg
  for twin in "" _f; do
    on_ranks plaquette$twin --threads 1 "$file"
    # From a cold start: where staples nearly cancel, as in a hot one, rounding grows by 1e4 a sweep.
    on_ranks heatbath$twin --lattice 4,4,4,8 --beta 6.0 --start cold --thermalise 3 --separation 2 --configurations 2 --out "$out/chain" --threads 1
    on_ranks propagator$twin --gauge "$file" --kappa 0.12 --csw 1.2 --threads 1
  done
else
  echo "test examples on many ranks ... ignored, no MPI"
  missing=$((missing + 1))
fi
echo "test result: $good passed; $bad failed; $missing ignored;"
[ "$bad" = 0 ]
