#!/bin/bash
# usage: run.sh [tests] [examples] [bench]      (nothing named: all three)
# Runs this kit on the GPU and prints a summary; the status is not 0 if anything failed. The first
# run compiles kernels for the GPU, which takes minutes; PLAQ_CACHE keeps them for the next ones.
#   PLAQ_TEST_DEVICE   cuda (default) or cpu
#   PLAQ_TEST_ONLY     tests to run, e.g. "solvers layouts"
#   PLAQ_TEST_SKIP     tests to leave out, e.g. dirac
#   PLAQ_BENCH         arguments of the benchmark, e.g. "--only hop --lattice 32x32x32x64"
#   PLAQ_NVRTC         full path of libnvrtc, where the loader does not find it
#   PLAQ_CUFFT         full path of libcufft, where that is neither beside it nor found
#   PLAQ_TEST_THREADS  tests at a time (default: as many as there are cores)
#   PLAQ_TEST_GRID     process grid, e.g. 1,1,1,2: the tests of divided lattices on that many ranks under
#                      mpirun, one GPU each (PLAQ_MPI_LIBRARY: what `make mpi` made for this machine)
#   PLAQ_TEST_SECONDS  limit of all tests together, and of one example (default 1800)
#   PLAQ_RESULTS       folder for logs and results (default results/ here)
set -u
cd "$(dirname "$0")"
export PLAQ_TEST_DEVICE=${PLAQ_TEST_DEVICE:-cuda}
export PLAQ_CONFIGS=${PLAQ_CONFIGS:-$PWD/configs} PLAQ_EXAMPLES=$PWD/bin
limit=${PLAQ_TEST_SECONDS:-1800}
results=${PLAQ_RESULTS:-results}
threads=${PLAQ_TEST_THREADS:-$(nproc)}
ranks=()
if [ -n "${PLAQ_TEST_GRID:-}" ]; then
  ranks=(./ranks.sh "$PLAQ_TEST_GRID") threads=1
  export PLAQ_TEST_SECONDS=$limit
  export PLAQ_TEST_ONLY=${PLAQ_TEST_ONLY:-halo faults observables correlators config dirac propagator}
fi
want=" ${*:-tests examples bench} "
for word in $want; do
  case $word in
  tests | examples | bench) ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' run.sh && exit 2 ;;
  esac
done
# xz, or Python where there is none.
unpacked() {
  if command -v xz >/dev/null; then xz -dc "$1"; else
    python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)' "$1"
  fi
}
if [ -e programs.tar.xz ]; then
  (set -o pipefail && unpacked programs.tar.xz | tar xf -) && rm programs.tar.xz || exit 2
fi
mkdir -p "$results"
passed=0 failed=0 ignored=0

# Says what happened to a program that printed no count.
outcome() { case $1 in 0) echo ok ;; 124) echo "timed out after $limit s" ;; *) echo "status $1" ;; esac; }

command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
echo "$(uname -m), $(nproc) cores, device $PLAQ_TEST_DEVICE"

# Tests whose names begin so, several at a time: rows of the table, one for each first word.
run_tests() { # log, threads, program, beginnings of names...
  local log=$results/$1.log threads=$2 rc p f i table start=$SECONDS
  shift 2
  timeout "$limit" "${ranks[@]}" "$@" --test-threads "$threads" --color never >"$log" 2>&1
  rc=$?
  # Tests of the library itself are named after modules of many kinds: one row.
  table=$(awk -v unit="$([[ $1 == tests/bin/unit* ]] && echo "${1##*/}")" '
    /^test .* \.\.\. / {
      name = $2
      if (unit) name = unit; else sub(/::.*/, "", name)
      seen[name] = 1
      if ($NF == "ok") p[name]++; else if (/ \.\.\. FAILED/) f[name]++; else if (/ \.\.\. ignored/) i[name]++
    }
    END {
      for (name in seen) {
        printf "%-28s %7d %7d %8d\n", name, p[name], f[name], i[name]
        P += p[name]; F += f[name]; I += i[name]
      }
      print "~", P + 0, F + 0, I + 0
    }' "$log" | LC_ALL=C sort)
  head -n -1 <<<"$table"
  read -r _ p f i <<<"${table##*$'\n'}"
  if [ $rc != 0 ] && [ "$f" = 0 ]; then
    f=1
    echo "$1: $(outcome $rc)"
  fi
  if [ "$f" != 0 ]; then
    grep -E '^test .*FAILED|panicked at' "$log" | sed 's/^/    /' | head -40
    tail -5 "$log" | sed 's/^/    | /'
  fi
  echo "  $((p + f)) tests in $((SECONDS - start)) s"
  passed=$((passed + p)) failed=$((failed + f)) ignored=$((ignored + i))
}

if [[ $want == *" tests "* ]]; then
  printf '\n%-28s %7s %7s %8s\n' test passed failed ignored
  # The first words of the tests' names are those of the files in the source tree.
  together=() alone=() programs=()
  modules() { "tests/bin/$1" --list 2>/dev/null | sed -n 's/::.*: test$//p' | uniq; }
  of_program=" $(modules program | tr '\n' ' ')"
  for name in unit unit_interface $(modules device) $of_program; do
    case " ${PLAQ_TEST_ONLY:-$name} " in *" $name "*) ;; *) continue ;; esac
    case " ${PLAQ_TEST_SKIP:-} " in *" $name "*) printf '%-28s left out\n' "$name" && continue ;; esac
    case $name in
    unit | unit_interface) run_tests "test-$name" "$threads" "tests/bin/$name" ;;
    # These tests measure the memory of the whole device, so they run alone.
    memory | transfer_speed) alone+=("$name::") ;;
    *) case $of_program in *" $name "*) programs+=("$name::") ;; *) together+=("$name::") ;; esac ;;
    esac
  done
  [ ${#together[@]} = 0 ] || run_tests tests "$threads" tests/bin/device "${together[@]}"
  [ ${#programs[@]} = 0 ] || run_tests tests-program "$threads" tests/bin/program "${programs[@]}"
  [ ${#alone[@]} = 0 ] || run_tests tests-alone 1 tests/bin/device "${alone[@]}"
fi

if [[ $want == *" examples "* ]] && [ -s examples.list ]; then
  printf '\n%-28s %8s\n' example seconds
  n=0
  rm -rf "$results/out" # programs keep files that are there
  while read -r name args; do
    [ -x "bin/$name" ] || continue
    n=$((n + 1)) start=$SECONDS log=$results/example-$name-$n.log
    mkdir -p "$results/out"
    OUT=$results/out timeout "$limit" bash -c "exec bin/$name $args" >"$log" 2>&1 </dev/null
    rc=$?
    printf '%-28s %8d %s\n' "$name" $((SECONDS - start)) "$(outcome $rc)"
    if [ $rc = 0 ]; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      tail -10 "$log" | sed 's/^/    | /'
    fi
  done <examples.list
fi

if [[ $want == *" bench "* ]] && [ -x bin/plaq_bench ]; then
  echo
  # shellcheck disable=SC2086
  if bin/plaq_bench ${PLAQ_BENCH:-} 2>&1 | tee "$results/bench.log" && [ "${PIPESTATUS[0]}" = 0 ]; then
    passed=$((passed + 1))
  else
    echo "the benchmarks failed"
    failed=$((failed + 1))
  fi
fi

echo
echo "plaq kit on $PLAQ_TEST_DEVICE: $passed passed, $failed failed, $ignored ignored; logs in $results/"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
