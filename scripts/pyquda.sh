#!/bin/bash
# usage: pyquda.sh [QUDA_HOME]
# Installs PyQUDA from the package registry into build/pyquda on the headers and the libquda.so of QUDA_HOME, by default
# of the library of the tests, installed there too, and runs tests/clients/pyquda_numbers.py on one rank and on two, and
# with PLAQ_PYQUDA_TESTS, the folder `tests` of PyQUDA's repository, those test files as they are, by
# tests/clients/pyquda_tests.py. Fails where PyQUDA or a compiler warns of anything.
# Skipped, with the reason, where the registry cannot be reached or there is no MPI.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=scripts/harness.sh
. scripts/harness.sh
mkdir -p build/pyquda/resources
if [ $# = 0 ]; then
  make --no-print-directory install PREFIX="$PWD/build/pyquda/prefix"
fi
home=$(realpath "${1:-build/pyquda/prefix/quda}")
venv=$PWD/build/pyquda/venv python=$PWD/build/pyquda/venv/bin/python
configs=${PLAQ_CONFIGS:-../shared/configs}

skip() {
  echo "skipped: PyQUDA: $1"
  exit 0
}
install() { "$venv/bin/pip" install --quiet --disable-pip-version-check --no-compile "$@"; }

command -v mpicc >/dev/null || skip "no mpicc: mpi4py needs an MPI"
[ -x "$python" ] || python3 -m venv "$venv" || skip "no module venv"
# PyQUDA is compiled against the headers, and again if they changed.
state=$(cat "$home"/include/*.h <(echo "$home") | sha256sum)
if [ "$state" != "$(cat build/pyquda/state 2>/dev/null)" ]; then
  install numpy mpi4py 2>build/pyquda/pip.log || {
    cat build/pyquda/pip.log >&2
    skip "the package registry cannot be reached"
  }
  # The log has the compilers' messages.
  QUDA_PATH=$home "$venv/bin/pip" install --verbose --disable-pip-version-check --no-deps --no-cache-dir \
    --force-reinstall pyquda==0.10.54 >build/pyquda/pip.log 2>&1 || {
    cat build/pyquda/pip.log >&2
    exit 1
  }
  if grep -E '(:[0-9]+: [wW]arning:|[wW]arning: [^ ]+:[0-9]+:)' build/pyquda/pip.log >&2; then
    echo "PyQUDA does not compile without warnings on $home/include" >&2
    exit 1
  fi
  install --no-deps pyquda-utils==0.10.54.post0
  echo "$state" >build/pyquda/state
fi
configuration=$configs/weak_field.lime
if [ ! -f "$configuration" ]; then
  echo "skipped: no $configuration (set PLAQ_CONFIGS)"
  configuration=
fi
set -o pipefail
# The reference of the tests, which is compiled here unless PLAQ_TEST_REFERENCE names it.
[ -n "${PLAQ_TEST_REFERENCE:-}" ] || reference
numbers() { "$@" "$python" tests/clients/pyquda_numbers.py build/pyquda/resources ${configuration:+"$configuration"} | grep '^pyquda: '; }
numbers env
if [ ! -f build/mpi/libplaq_mpi.so ]; then
  echo "skipped: no build/mpi/libplaq_mpi.so (make mpi)"
elif [ -n "$configuration" ]; then
  numbers scripts/ranks.sh 1,1,1,2
fi

data=${PLAQ_PYQUDA_DATA:-../shared/clients/pyquda-data}
if [ -z "${PLAQ_PYQUDA_TESTS:-}" ]; then
  echo "skipped: PyQUDA's own test files (set PLAQ_PYQUDA_TESTS to the folder tests of its repository)"
elif [ ! -f "$data/pt_prop_3" ]; then
  echo "skipped: PyQUDA's own test files: no $data/pt_prop_3 (set PLAQ_PYQUDA_DATA)"
else
  "$python" tests/clients/pyquda_tests.py "$PLAQ_PYQUDA_TESTS" "$data" "$PWD/build/pyquda/own"
fi
