#!/bin/bash
# usage: setup.sh build|test
# Checks for the programs that building (or testing) plaq needs, and installs the missing ones
# with apt where this user may. Fails with a list where something required stays missing.
# PLAQ_NO_INSTALL=1: only check.
set -u
what=${1:-build}
required=() optional=() packages=()

have() { command -v "$1" >/dev/null 2>&1; }
want() { # list, package, what it is for, command that succeeds where it is there
  local -n list=$1
  if ! eval "$4" >/dev/null 2>&1; then
    list+=("$2: $3")
    packages+=("$2")
  fi
}

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "$0")/../Cargo.toml")
check() {
  local found
  required=() optional=() packages=()
  # Rust does not come from Debian, whose version is older.
  found=$("${CARGO:-cargo}" --version 2>/dev/null | awk '{ print $2 }')
  if [ "$(printf '%s\n' "$oldest" "$found" | sort -V | head -1)" != "$oldest" ]; then
    required+=("Rust $oldest or newer, found ${found:-none}: see https://rustup.rs, or rustup update")
  fi
  want required gcc "C compiler" "have ${CC:-cc} || have gcc"
  want required g++ "C++ compiler for the kernels" "have ${CXX:-c++} || have g++"
  want required libc6-dev "C library headers" "echo '#include <math.h>' | ${CC:-cc} -E -"
  if [ "$what" = test ]; then
    want optional gfortran "Fortran programs" "have ${FC:-gfortran}"
    want optional libopenmpi-dev "tests on many ranks" "have ${MPICC:-mpicc}"
    want optional openmpi-bin "tests on many ranks" "have ${MPIRUN:-mpirun}"
    want optional valgrind "leak checks" "have valgrind"
    want optional pkg-config "test of the installed package" "have pkg-config"
    want optional cmake "test of the installed package" "have cmake"
    want optional python3-venv "GPU compiler from PyPI: kernels are compiled for GPUs without one" \
      "python3 -c 'import venv, ensurepip'"
    # Only in CI, since the package takes 150 MB.
    [ -z "${CI:-}" ] || want optional python3-torch "Python package with PyTorch" "/usr/bin/python3 -c 'import torch'"
  fi
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif have sudo && sudo -n true 2>/dev/null; then sudo -n "$@"
  else return 1; fi
}

check
if [ ${#packages[@]} -gt 0 ] && [ -z "${PLAQ_NO_INSTALL:-}" ] && have apt-get; then
  if as_root true; then
    echo "setup: installing ${packages[*]}"
    as_root apt-get update -qq &&
      as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
    check
  else
    echo "setup: not root, and sudo asks for a password: nothing was installed"
  fi
fi
for line in "${optional[@]+"${optional[@]}"}"; do echo "setup: not found, its tests are skipped: $line"; done
if [ ${#required[@]} -gt 0 ]; then
  echo "setup: please install (names before a colon are Debian packages), then try again:" >&2
  printf '  %s\n' "${required[@]}" >&2
  exit 1
fi
