# Sourced from the root of the repository by the scripts that test: checks that are counted, test programs and their tests.
CARGO=${CARGO:-cargo}
# Cargo's profile of the library and its tests: that of `make` and `make demo`, which have compiled it, or another.
export PROFILE=${PROFILE:-release}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
good=0 bad=0 missing=0

# check NAME COMMAND...: runs the command and prints one line with its seconds, and what it printed if it fails.
check() {
  local name=$1 begin=$EPOCHREALTIME rc
  shift
  "$@" >"$scratch/log" 2>&1 </dev/null
  rc=$?
  if [ $rc = 0 ]; then
    echo "test $name ... ok ($(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", b - a }'))"
    good=$((good + 1))
  else
    echo "test $name ... FAILED (status $rc)"
    cat "$scratch/log"
    bad=$((bad + 1))
  fi
}

ignore() { # name, reason
  echo "test $1 ... ignored, $2"
  missing=$((missing + 1))
}

# Prints the line from which scripts/test.sh counts; the status is that of all checks.
totals() {
  echo "test result: $good passed; $bad failed; $missing ignored;"
  [ "$bad" = 0 ]
}

have_mpi() { command -v "${MPICC:-mpicc}" >/dev/null && command -v "${MPIRUN:-mpirun}" >/dev/null; }

# Compiles the library and a test program, device or host; prints the path of the program.
program() {
  "$CARGO" test --no-run --profile "$PROFILE" --test "$1" 2>&1 | tee "$scratch/build" | sed -nE 's,^ *Executable .*\((.*)\)$,\1,p' | grep . ||
    { cat "$scratch/build" >&2; return 1; }
}

# Compiles the library, and the reference as programs in Python load it (tests/reference/plaq_reference.py).
reference() {
  "$CARGO" build --quiet --profile "$PROFILE" -p plaq -p plaq-reference || return 1
  export PLAQ_TEST_REFERENCE=${CARGO_TARGET_DIR:-$PWD/target}/${PROFILE/#dev/debug}/libplaq_reference.so
}

# Names of the tests of a program in words `module` or `module:part,part`, where a part is any piece of a test's name.
# A word without a test is an error.
tests_of() { # program, word...
  local program=$1
  shift
  "$program" --list --format terse | sed -n 's/: test$//p' | awk -v words="$*" '
    { name[++n] = $0 }
    END {
      count = split(words, word, " ")
      for (w = 1; w <= count; w++) {
        module = word[w]; sub(/:.*/, "", module)
        parts = split(index(word[w], ":") ? substr(word[w], length(module) + 2) : "", part, ",")
        if (!parts) { parts = 1; part[1] = "" }
        for (p = 1; p <= parts; p++) {
          found = 0
          for (i = 1; i <= n; i++)
            if (index(name[i], module "::") == 1 && index(substr(name[i], length(module) + 3), part[p])) { found = 1; chosen[i] = 1 }
          if (!found) { print "no test " module "::" part[p] > "/dev/stderr"; bad = 1 }
        }
      }
      for (i = 1; i <= n; i++) if (chosen[i]) print name[i]
      exit bad
    }'
}
