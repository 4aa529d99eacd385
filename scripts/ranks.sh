#!/bin/bash
# usage: ranks.sh GRID PROGRAM [ARGUMENTS]
# Runs a program on as many ranks of this machine as the process grid (e.g. 1,1,2,2) has places;
# tests find the grid in PLAQ_TEST_GRID. Prints what rank 0 prints, and on failure the ends of
# the others' output.
#   MPIRUN             mpirun (default), mpirun.mpich, ...
#   PLAQ_MPI_LIBRARY   default build/mpi/libplaq_mpi.so (make mpi)
#   PLAQ_TEST_SECONDS  limit of the whole run (default 900)
#   PLAQ_COMM_TIMEOUT  limit of one wait for another rank (default 120)
set -u
[ $# -ge 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | head -n -1; exit 2; }
here=$(cd "$(dirname "$0")/.." && pwd)
export PLAQ_TEST_GRID=$1
shift
ranks=$((${PLAQ_TEST_GRID//,/*}))
mpirun=${MPIRUN:-mpirun}
export PLAQ_MPI_LIBRARY=${PLAQ_MPI_LIBRARY:-$here/build/mpi/libplaq_mpi.so}
export PLAQ_COMM_TIMEOUT=${PLAQ_COMM_TIMEOUT:-120}
[ -f "$PLAQ_MPI_LIBRARY" ] || { echo "ranks: $PLAQ_MPI_LIBRARY is missing: make mpi" >&2; exit 2; }
if "$mpirun" --version 2>/dev/null | grep -q 'Open MPI'; then
  flags=(--oversubscribe --bind-to none)
  [ "$(id -u)" = 0 ] && flags+=(--allow-run-as-root)
else
  flags=(-bind-to none)
fi
PLAQ_RANK_LOGS=$(mktemp -d)
export PLAQ_RANK_LOGS
trap 'rm -rf "$PLAQ_RANK_LOGS"' EXIT
timeout -k 5 "${PLAQ_TEST_SECONDS:-900}" "$mpirun" "${flags[@]}" -n "$ranks" bash -c '
  rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${PMIX_RANK:-0}}}
  [ "$rank" = 0 ] || exec "$@" >"$PLAQ_RANK_LOGS/$rank" 2>&1
  exec "$@"' ranks "$@"
rc=$?
[ $rc = 124 ] && echo "ranks: timed out after ${PLAQ_TEST_SECONDS:-900} s"
if [ $rc != 0 ]; then
  for log in "$PLAQ_RANK_LOGS"/*; do
    [ -f "$log" ] && echo "---- rank ${log##*/}" && tail -25 "$log"
  done
fi
exit $rc
