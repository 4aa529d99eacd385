#!/bin/bash
# usage: test.sh [check]
# Runs every test of the repository, once what they need is installed, or with `check` the quick ones; one line per part,
# then one line to count by.
set -u
cd "$(dirname "$0")/.."
# shellcheck source=scripts/harness.sh
. scripts/harness.sh
logs=build/test-logs
mkdir -p "$logs"
# A line for each part: passed, failed, ignored, left out, skipped. Parts may run beside each other.
counts=$logs/counts
: >"$counts"

report() { printf '%-10s %-7s %s\n' "$1" "$2" "$3"; }

skip() { # name, reason
  echo 0 0 0 0 1 >>"$counts"
  report "$1" skipped "$2"
}

# name, command...: the command reports with lines `test result: ... N passed; M failed; K ignored`
# (or, without one, counts as one test).
part() {
  local name=$1 log=$logs/$1.log start=$SECONDS rc p f i s
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
  # Tests that had to leave something out say so in a line.
  s=$(grep -c '^skipped: ' "$log")
  echo "$p" "$f" "$i" "$s" 0 >>"$counts"
  if [ "$f" = 0 ]; then
    report "$name" ok "$p passed, $i ignored, $s left out, $((SECONDS - start)) s"
  else
    report "$name" FAILED "$f of $((p + f)), $((SECONDS - start)) s; the end of $log:"
    grep -E '^test .*FAILED|^error|panicked at' "$log" | head -40
    tail -40 "$log"
  fi
}

# Prints the line with the counts.
finish() {
  local passed failed ignored left_out skipped
  read -r passed failed ignored left_out skipped < <(awk '{ for (k = 1; k <= 5; k++) sum[k] += $k }
    END { print sum[1] + 0, sum[2] + 0, sum[3] + 0, sum[4] + 0, sum[5] + 0 }' "$counts")
  echo "plaq tests: $passed passed, $failed failed, $ignored ignored, $skipped parts skipped, $left_out left out in tests"
  [ "$failed" = 0 ]
  exit
}

# name of the part, program, words of tests_of, command before the program
chosen() {
  local name=$1 program=$2 words=$3 names
  shift 3
  # shellcheck disable=SC2086
  if names=$(tests_of "$program" $words 2>/dev/null); then
    part "$name" "$@" "$program" --exact $names
  else
    part "$name" tests_of "$program" $words # says which words name no test
  fi
}

# Tests of `host` that take seconds and fail most often: files are current, layers hold.
first="abi:generated,exported,header,layout architecture"

# `make check`: the quick tests that find most faults.
if [ "${1:-}" = check ]; then
  part build "$CARGO" test --no-run --profile "$PROFILE" --test device --test host
  device=$(program device) host=$(program host)
  chosen host "$host" "$first comm:together fuzz:the_calls_are_written reference_selfcheck:dirac"
  chosen device "$device" "backends boundaries:operators,observables config correlators device_arrays dirac flow:stages halo hmc:links_follow,momenta io
    laplace layouts memory observables propagator recon smearing solvers:every_solution"
  finish
fi

# Installs and downloads what tests need, while the compilers run.
{
  scripts/setup.sh test >"$logs/setup" 2>&1
  scripts/nvrtc.sh >"$logs/nvrtc" 2>"$logs/nvrtc.log"
} &
downloads=$!
part build "$CARGO" test --no-run --profile "$PROFILE" --test device --test host --test program --examples
wait $downloads
nvrtc=$?
grep '^setup: ' "$logs/setup"
if [ $nvrtc = 0 ]; then
  export PLAQ_NVRTC PLAQ_REQUIRE_NVRTC=1
  PLAQ_NVRTC=$(<"$logs/nvrtc")
else
  skip nvrtc "no NVRTC ($logs/nvrtc.log): kernels are not compiled for GPUs"
fi
device=$(program device) host=$(program host) program=$(program program)
chosen first "$host" "$first"
part documentation "$CARGO" test --profile "$PROFILE" --doc
part device "$device" --show-output
part program "$program" --show-output
have_mpi && part mpi make --no-print-directory mpi

# Unit tests are compiled with a library of their own, which takes longer to optimise than it saves them.
unit() {
  "$CARGO" test --profile "$PROFILE" -p plaq-core -p plaq --lib --config "profile.$PROFILE.package.plaq.opt-level=0" \
    --config "profile.$PROFILE.package.plaq-core.opt-level=0" -- --show-output
}

# Parts that mostly use one thread run beside a part that keeps all cores busy, and one after the other, as `make` in
# two of them would write the same files.
single() {
  part library unit
  part python tests/python.sh
  part moved tests/moved.sh
  if [ -f include/plaq.h ]; then
    part examples scripts/examples.sh one
    part install tests/install.sh
    part pyquda scripts/pyquda.sh
  else
    skip examples "include/plaq.h is absent"
    skip install "include/plaq.h is absent"
    skip pyquda "include/plaq.h is absent"
  fi
}
# These parts run in a process group of their own, which ends with this script.
set -m
single </dev/null &
single=$!
set +m
trap 'kill -- -$single 2>/dev/null; rm -rf "$scratch"' EXIT
# shellcheck disable=SC2046,SC2086
part host "$host" --show-output --skip _on_ranks --skip _of_ranks --skip comm:: \
  $(tests_of "$host" $first | sed 's/^/--skip /')
wait $single
trap 'rm -rf "$scratch"' EXIT
# Programs on many ranks wait for each other without rest: beside other tests they take eight times as long.
part ranks env RUST_TEST_THREADS=1 "$host" --show-output _on_ranks _of_ranks comm::
have_mpi && part programs scripts/examples.sh ranks

# Tests of `device` again on more ranks, as the words of tests_of: the reference is slow on every rank.
# halo:: compares many ranks with one on every grid; comm:: of `host` starts mpirun itself. PLAQ_RANK_TESTS names
# tests to run instead, on all grids.
RANK_TESTS="
  1,1,1,2 halo distillation boundaries:operators,observables,flow,solutions,noise,files,stout,overrelaxation,fermion_forces,shifts_and schroedinger:free,boundary_correlators faults memory:short_memory actions laplace doublet distance smearing:covariant,takes hmc:forces_are,heat_bath,take_fused fermion:force,memory,shifted,over_ranks dirac eigen:time_is_over,short_memory gluons overlap_solve:every_algorithm,multigrid_is,time_is_over solvers:every_solution,shifts,right_hand_sides,time_is_over,preconditioned_solves,heavy_quark_goals,numbers_below,sums propagator quark_flow heatbath:depend,philox hmc:forces,momenta,checkpoint flow:generators hadrons:what_is,sources_agree structure loops multigrid:gathered,any_solver,prolongators,announced,updates_keep,null_space,short_memory,standstill monitors smoothers:ranks,domains,announced boundary_quarks boundary_files
  2,1,1,1 halo distillation:modes_that,elementals laplace hmc:links_follow,actions multigrid:coarse gaugefix:slices_stop,best_copy,callback,descents_match_the_reference_su3,descents_refuse dirac:full observables
  1,2,2,1 halo faults actions:paths laplace:equals eigen:operations overlap:identities,a_hop_adds smearing:reference gaugefix:slices_stop,closed_loops observables correlators config dirac:full
  2,1,1,2 halo boundaries:shifts_and hadrons:files_have,what_is,mesons,sequential,multiplets structure:operators fermion:preconditioned multigrid:hierarchies,gathered observables correlators config solvers:right_hand_sides,initial_guess,sums_in_order,products_share heatbath:depend,refused hmc:along_momenta,checkpoint,loops_traces
"
# Tests of documented bits and of identities, with the other sets of kernels that the library has (PLAQ_CPU_ISAS).
SET_TESTS="halo heatbath:depend dirac gaugefix:threads_and_halos,closed_loops,functional_never_falls hmc:checkpoint,links_follow
  fermion:goes_on laplace doublet:the_operator,schur distance:the_weighted recon observables"
# Tests on one rank, with halos to itself in all directions.
HALO_TESTS="dirac boundaries:operators,observables,flow doublet:the_operator,schur distance:the_weighted observables correlators config propagator quark_flow heatbath:depend,overrelaxation solvers:every_solution,shifts
  gaugefix:sweeps_match,slices_stop,descents_match hmc:forces,momenta,power flow:generators,order"

# Ways of messages between GPUs, on CPUs that stand in for them: grid, ranks of a host, tests. Two kinds of library besides
# stand in: for NCCL, and for an MPI that takes GPU memory.
WAY_TESTS="halo:faces_go,operators,fewer,one_rank,announced,add_up faults:without_messages"
ways() {
  local folder=build/ways grid per_host
  mkdir -p $folder
  ${CC:-cc} -std=gnu11 -O1 -shared -fPIC -o $folder/libnccl.so tests/comm/nccl.c -lpthread &&
    ${MPICC:-mpicc} -std=c99 -O1 -fPIC -fvisibility=hidden -shared -o $folder/libplaq_mpi_gpu.so tests/comm/gpu_mpi.c || return
  while read -r grid per_host; do
    chosen "ways-$grid" "$device" "$WAY_TESTS" env RUST_TEST_THREADS=1 PLAQ_RANKS_PER_HOST="$per_host" \
      PLAQ_TEST_NCCL=$folder/libnccl.so scripts/ranks.sh "$grid" </dev/null
  done <<<"1,1,1,4 2
1,1,2,2 2
1,2,2,2 2"
  # Tests with a driver that does nothing: plaq's calls for a GPU's streams and to NCCL. Kernels are compiled for it.
  if [ -n "${PLAQ_NVRTC:-}" ]; then
    mkdir -p $folder/cuda
    ${CC:-cc} -std=gnu99 -O1 -shared -fPIC -DREAL_MEMORY -o $folder/cuda/libcuda.so.1 tests/ends/fake_cuda.c || return
    for way in nccl staged mpi; do
      chosen "driver-$way" "$device" halo:faces_go env LD_LIBRARY_PATH=$folder/cuda PLAQ_TEST_DEVICE=cuda PLAQ_HALO=$way \
        PLAQ_NCCL_LIBRARY=$folder/libnccl.so PLAQ_TUNE=off PLAQ_MPI_LIBRARY="$PWD/$folder/libplaq_mpi_gpu.so" \
        scripts/ranks.sh 1,1,2,2 </dev/null
    done
  fi
  chosen gpu-mpi "$device" "$WAY_TESTS" env RUST_TEST_THREADS=1 PLAQ_MPI_LIBRARY=$PWD/$folder/libplaq_mpi_gpu.so \
    scripts/ranks.sh 1,1,1,2 </dev/null
  chosen sockets "$device" "$WAY_TESTS" env RUST_TEST_THREADS=1 OMPI_MCA_btl=tcp,self scripts/ranks.sh 1,1,2,2 </dev/null
}

# All sets of 16 lanes that this processor runs but the best one, on which the tests above ran.
other_sets() {
  PLAQ_CPU_ISA=none "$device" --exact backends::used_and_peak_follow_buffers 2>&1 |
    sed -nE 's/.*this library on this processor has \[(.*)\].*/generic \1/p' | tr -d '"\\,' | awk '{ NF--; print; exit }'
}

for set in $(other_sets); do chosen "$set" "$device" "$SET_TESTS" env PLAQ_CPU_ISA="$set"; done
chosen halo "$device" "$HALO_TESTS" env PLAQ_TEST_HALO=1,1,1,1
if have_mpi; then
  while read -r grid tests; do
    chosen "$grid" "$device" "${PLAQ_RANK_TESTS:-$tests}" \
      env RUST_TEST_THREADS=1 PLAQ_TEST_SECONDS=1800 scripts/ranks.sh "$grid" </dev/null
  done < <(grep . <<<"$RANK_TESTS")
  ways || part ways false
else
  skip mpi "no ${MPICC:-mpicc} or no ${MPIRUN:-mpirun}: nothing was tested on more than one rank"
fi

finish
