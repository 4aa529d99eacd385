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
#   PLAQ_TEST_THREADS  tests of one program at a time (default 4)
#   PLAQ_TEST_SECONDS  limit of one program (default 900)
#   PLAQ_RESULTS       folder for logs and results (default results/ here)
set -u
cd "$(dirname "$0")"
export PLAQ_TEST_DEVICE=${PLAQ_TEST_DEVICE:-cuda}
export PLAQ_CONFIGS=${PLAQ_CONFIGS:-$PWD/configs} PLAQ_EXAMPLES=$PWD/bin
limit=${PLAQ_TEST_SECONDS:-900}
results=${PLAQ_RESULTS:-results}
want=" ${*:-tests examples bench} "
for word in $want; do
  case $word in
  tests | examples | bench) ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' run.sh && exit 2 ;;
  esac
done
for packed in tests/bin/*.gz bin/*.gz; do
  [ ! -e "$packed" ] || gzip -d "$packed" || exit 2
done
mkdir -p "$results"
passed=0 failed=0 ignored=0

# What happened to a program that left no count.
outcome() { case $1 in 0) echo ok ;; 124) echo "timed out after $limit s" ;; *) echo "status $1" ;; esac; }

command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
echo "$(uname -m), $(nproc) cores, device $PLAQ_TEST_DEVICE"

if [[ $want == *" tests "* ]]; then
  printf '\n%-28s %7s %7s %8s %8s\n' test passed failed ignored seconds
  # The first words of the tests' names are those of the files in the source tree.
  for name in unit $(tests/bin/device --list 2>/dev/null | sed -n 's/::.*: test$//p' | uniq); do
    case " ${PLAQ_TEST_ONLY:-$name} " in *" $name "*) ;; *) continue ;; esac
    case " ${PLAQ_TEST_SKIP:-} " in
    *" $name "*)
      printf '%-28s left out\n' "$name"
      continue
      ;;
    esac
    log=$results/test-$name.log start=$SECONDS
    program=(tests/bin/device "$name::")
    [ "$name" = unit ] && program=(tests/bin/unit)
    timeout "$limit" "${program[@]}" --test-threads "${PLAQ_TEST_THREADS:-4}" >"$log" 2>&1
    rc=$?
    read -r p f i < <(awk '/^test result:/ { p += $4; f += $6; i += $8 } END { print p + 0, f + 0, i + 0 }' "$log")
    note=
    if [ $rc != 0 ] && [ "$f" = 0 ]; then f=1 note=$(outcome $rc); fi
    printf '%-28s %7d %7d %8d %8d %s\n' "$name" "$p" "$f" "$i" $((SECONDS - start)) "$note"
    if [ "$f" != 0 ]; then
      grep -E '^test .*FAILED|panicked at' "$log" | sed 's/^/    /' | head -20
      tail -5 "$log" | sed 's/^/    | /'
    fi
    passed=$((passed + p)) failed=$((failed + f)) ignored=$((ignored + i))
  done
fi

if [[ $want == *" examples "* ]] && [ -s examples.list ]; then
  printf '\n%-28s %8s\n' example seconds
  n=0
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
