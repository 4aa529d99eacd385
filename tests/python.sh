#!/bin/bash
# usage: python.sh [WORD...]
# Tests of the Python package (tests/python) in an environment of its own with NumPy, from the source tree with the
# library of `make`; mypy, where there is one; the tutorial (docs/tutorial). What else is
# there (JAX, pyerrors, gvar, xarray, h5py, matplotlib, mpi4py) is tested with, PyTorch also where only the system's
# Python has it (Debian's python3-torch); PLAQ_PYTHON names another Python.
set -u
cd "$(dirname "$0")/.."
# shellcheck source=scripts/harness.sh
. scripts/harness.sh
python=${PLAQ_PYTHON:-$PWD/build/python/bin/python}
# Packages are compiled as tests import them, which is a part of them.
install() { "$python" -m pip install --quiet --disable-pip-version-check --no-compile "$@"; }
if [ -z "${PLAQ_PYTHON:-}" ] && ! "$python" -c 'import numpy' 2>/dev/null; then
  mkdir -p build
  if ! python3 -m venv build/python || ! install numpy; then
    ignore python "no venv, or no NumPy from PyPI"
    totals
    exit
  fi
  # More to test with.
  install mypy matplotlib pyerrors gvar xarray h5py mpi4py auditwheel tqdm || true
  install jax || true
fi
reference || exit 1
export PLAQ_LIBRARY=${CARGO_TARGET_DIR:-$PWD/target}/${PROFILE/#dev/debug}/libplaq.so PYTHONPATH=$PWD/bindings/python
export MPLBACKEND=svg PYTHONPYCACHEPREFIX=$PWD/build/python-cache
"$python" tests/python/run.py "$@" | tee "$scratch/python"
rc=${PIPESTATUS[0]}
[ $# = 0 ] || exit "$rc"
# PyTorch of the system, where the environment has none: that of PyPI brings gigabytes of CUDA's libraries.
if ! "$python" -c 'import torch' 2>/dev/null; then
  if /usr/bin/python3 -c 'import numpy, torch' 2>/dev/null; then
    check torch /usr/bin/python3 tests/python/run.py torch
  else
    ignore torch "no PyTorch"
  fi
fi
if "$python" -c 'import mypy' 2>/dev/null; then
  types() {
    local mypy=("$python" -m mypy --cache-dir "$scratch/mypy" --ignore-missing-imports) script
    (cd bindings/python && "${mypy[@]}" plaq) || return 1
    for script in docs/tutorial/*.py; do MYPYPATH=bindings/python "${mypy[@]}" "$script" || return 1; done
  }
  check mypy types
else
  ignore mypy "no mypy"
fi
if have_mpi && "$python" -c 'from mpi4py import MPI' 2>/dev/null; then
  ranks() { make --no-print-directory mpi && scripts/ranks.sh 1,1,1,2 "$python" tests/python/ranks.py; }
  check ranks ranks
else
  ignore ranks "no MPI, or no mpi4py"
fi
for script in docs/tutorial/*.py; do
  tutorial() { (mkdir -p "$scratch/tutorial" && cd "$scratch/tutorial" && "$python" "$OLDPWD/$script"); }
  check "$script" tutorial
done
totals && exit "$rc"
