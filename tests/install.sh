#!/bin/bash
# Installs into a temporary prefix and builds, links and runs programs against it: with pkg-config (shared and
# static), with CMake's find_package, from a wheel, through DESTDIR, and in C, C++ and Fortran from the prefix after it
# moved. Says how long each step took.
set -u
cd "$(dirname "$0")/.."
# shellcheck source=scripts/harness.sh
. scripts/harness.sh
work=$scratch
CC=${CC:-cc} CXX=${CXX:-c++}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
major=${version%%.*}

mkdir "$work/src"
cat >"$work/src/main.c" <<'END'
#include <plaq.h>
#include <stdio.h>
int main(void) {
  puts(plaq_version());
  return 0;
}
END

prefix=$work/prefix
check install make --no-print-directory install PREFIX="$prefix"

# Of the sets of kernels that this machine runs; a release of all sets stays below 40 MiB, too.
small() {
  local size
  size=$(stat -L -c %s "$prefix/lib/libplaq.so")
  echo "libplaq.so: $((size >> 20)) MiB, at most 40"
  [ "$size" -le $((40 << 20)) ]
}
check stripped_size small

if have_mpi; then
  check mpi_library test -f "$prefix/lib/libplaq_mpi.so"
else
  ignore mpi_library "no MPI"
fi

if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  shared() {
    # shellcheck disable=SC2046
    $CC -std=c99 -Wall -Werror "$work/src/main.c" -o "$work/shared" $(pkg-config --cflags --libs plaq) &&
      [ "$(LD_LIBRARY_PATH=$prefix/lib "$work/shared")" = "$version" ] &&
      LD_LIBRARY_PATH=$prefix/lib ldd "$work/shared" | grep -q "libplaq.so.[0-9]* => $prefix/lib"
  }
  static() {
    # shellcheck disable=SC2046
    $CC -std=c99 "$work/src/main.c" -o "$work/static" $(pkg-config --cflags plaq) "$prefix/lib/libplaq.a" \
      $(pkg-config --static --libs-only-l plaq | sed 's/-lplaq//') &&
      [ "$("$work/static")" = "$version" ]
  }
  # The program of the README, as it says.
  readme() {
    sed -n '/^```c$/,/^```$/p' README.md | grep -v '^```' >"$work/src/pion.c"
    # shellcheck disable=SC2046
    $CC -Wall -Werror "$work/src/pion.c" -o "$work/pion" $(pkg-config --cflags --libs plaq) &&
      LD_LIBRARY_PATH=$prefix/lib "$work/pion" tests/data/quenched-b6.0-4x4x4x8.ildg >"$work/pion.txt" &&
      grep -q '^  7  [0-9.]*e-[0-9]*  ' "$work/pion.txt"
  }
  # What an archive needs besides: for a linker that is told to take it.
  private() {
    local flags
    flags=$(pkg-config --static --libs plaq)
    echo "$flags"
    # shellcheck disable=SC2086
    [[ " $flags " = *" -lplaq "*" -lm "* ]] && $CC -std=c99 "$work/src/main.c" -I"$prefix/include" -o "$work/private" $flags &&
      [ "$(LD_LIBRARY_PATH=$prefix/lib "$work/private")" = "$version" ]
  }
  # A program with everything in it, libc too: the unwinder is the compiler's, which knows what -static means.
  whole() {
    local package
    for package in plaq-static plaq; do
      # shellcheck disable=SC2046
      ${CXX##* } -static -x c "$work/src/main.c" -x none -o "$work/whole" $(pkg-config --static --cflags --libs $package) &&
        [ "$("$work/whole")" = "$version" ] && ! ldd "$work/whole" >/dev/null 2>&1 || return 1
    done
  }
  check pkg_config_whole whole
  check readme_program readme
  check pkg_config_private private
  check pkg_config_shared shared
  check pkg_config_static static
else
  ignore pkg_config "no pkg-config"
fi

if command -v cmake >/dev/null; then
  cat >"$work/src/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(client C)
find_package(plaq $version REQUIRED)
foreach(library plaq plaq_static)
  add_executable(use_\${library} main.c)
  target_link_libraries(use_\${library} plaq::\${library})
endforeach()
END
  with_cmake() {
    cmake -S "$work/src" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" &&
      cmake --build "$work/cmake" && [ "$("$work/cmake/use_plaq")" = "$version" ] &&
      [ "$("$work/cmake/use_plaq_static")" = "$version" ]
  }
  wrong_version() {
    sed -i 's/find_package(plaq [^ ]*/find_package(plaq 999/' "$work/src/CMakeLists.txt"
    ! cmake -S "$work/src" -B "$work/cmake2" -DCMAKE_PREFIX_PATH="$prefix"
  }
  check cmake_find_package with_cmake
  check cmake_refuses_another_version wrong_version
else
  ignore cmake "no cmake"
fi

# It and the programs run with older C libraries; auditwheel says the same, where the environment of tests/python.sh has it.
older() {
  local glibc wheel
  glibc=$(scripts/glibc.sh "$prefix"/lib/libplaq.so "$prefix"/bin/*) || return 1
  [ "$(uname -m)" != x86_64 ] || [ "$glibc" = 2.28 ] || return 1
  scripts/wheel.py "$prefix" "$work/dist" || return 1
  wheel=$(echo "$work"/dist/plaq-*-manylinux_"${glibc/./_}"_*.whl)
  [ -f "$wheel" ] || return 1
  ! build/python/bin/python -c 'import auditwheel' 2>/dev/null ||
    build/python/bin/python -m auditwheel show "$wheel" | tr '\n' ' ' | grep "constrains the platform tag to \"manylinux_2_28"
}
if command -v readelf >/dev/null; then
  check older_glibc older
else
  ignore older_glibc "no readelf"
fi

# In a fresh environment of Python without NumPy: paths, the library by ctypes, programs, and a program of one's own.
wheel() {
  scripts/wheel.py "$prefix" "$work/dist" && python3 -m venv --without-pip "$work/venv" &&
    python3 -m pip --python "$work/venv/bin/python" install --quiet --no-index --no-deps "$work"/dist/plaq-*.whl || return 1
  local python=$work/venv/bin/python
  cat >"$work/src/library.py" <<'END'
import ctypes, plaq
version = ctypes.CDLL(str(plaq.library)).plaq_version
version.restype = ctypes.c_char_p
print(version().decode(), plaq.__version__)
END
  [ "$("$python" "$work/src/library.py")" = "$version $version" ] &&
    [ -f "$("$python" -m plaq --cmake)/plaqConfig.cmake" ] || return 1
  [ "$("$work/venv/bin/plaq" plaquette --version)" = "plaq $version" ] &&
    "$python" -m plaq plaquette --device cpu tests/data/quenched-b6.0-4x4x4x8.ildg | grep -q 'plaquette  *0.590438' &&
    ! "$python" -m plaq plaquete || return 1
  # The package itself, with the NumPy of the environment of tests/python.sh.
  local numpy
  if numpy=$(build/python/bin/python -c 'import numpy; print(numpy.__path__[0])' 2>/dev/null); then
    reference || return 1
    echo "${numpy%/*}" >"$(echo "$work"/venv/lib/python3*/site-packages)/numpy.pth"
    env -u PYTHONPATH -u PLAQ_LIBRARY "$python" tests/python/run.py || return 1
    # The sample configuration is there without the source tree.
    (cd "$work" && env -u PYTHONPATH -u PLAQ_LIBRARY "$python" -c 'import plaq; print(plaq.open(plaq.sample).plaquette())') |
      grep -q 'total=0.590438' || return 1
  fi
  # shellcheck disable=SC2046
  if command -v pkg-config >/dev/null; then
    PKG_CONFIG_PATH=$("$python" -m plaq --pkgconfig)
    $CC -std=c99 "$work/src/main.c" -o "$work/w" $(pkg-config --cflags --libs plaq) -Wl,-rpath,"$("$python" -m plaq --libdir)" &&
      [ "$("$work/w")" = "$version" ] && ldd "$work/w" | grep -q "=> $work/venv" || return 1
  fi
}
if python3 -c 'import pip, venv' 2>/dev/null; then
  check wheel wheel
else
  ignore wheel "no pip for python3"
fi

# Moved as a whole the prefix still works, shared, static and with its programs.
moved() {
  local to=$work/moved
  mv "$prefix" "$to" || return 1
  PKG_CONFIG_PATH=$to/lib/pkgconfig
  # shellcheck disable=SC2046
  if command -v pkg-config >/dev/null; then
    $CC -std=c99 "$work/src/main.c" -o "$work/m1" $(pkg-config --cflags --libs plaq) -Wl,-rpath,"$to/lib" &&
      $CC -std=c99 "$work/src/main.c" -o "$work/m2" $(pkg-config --cflags --libs plaq-static) &&
      [ "$("$work/m1")$("$work/m2")" = "$version$version" ] && ! ldd "$work/m2" | grep libplaq || return 1
  fi
  if command -v cmake >/dev/null; then
    sed -i "s/find_package(plaq [^ ]*/find_package(plaq $version/" "$work/src/CMakeLists.txt"
    cmake -S "$work/src" -B "$work/cmake3" -DCMAKE_PREFIX_PATH="$to" && cmake --build "$work/cmake3" &&
      [ "$("$work/cmake3/use_plaq")" = "$version" ] || return 1
  fi
  "$to/bin/plaq" plaquette --help >/dev/null && ! nm "$to/lib/libplaq.so" | grep -q .
}
check moved_prefix moved

# The plaquette of unit links, built with what the moved prefix has, and run.
cat >"$work/src/hello.c" <<'END'
#include <plaq.h>
#include <stdio.h>
#define OK(call) if ((call) != PLAQ_SUCCESS) { fprintf(stderr, "%s\n", plaq_last_error()); return 1; }
int main(void) {
  plaq_context_params p;
  plaq_gauge_params q;
  plaq_context context;
  plaq_gauge gauge;
  plaq_plaquette average;
  int mu;
  OK(plaq_context_params_init(&p, sizeof p))
  p.device = PLAQ_DEVICE_CPU;
  OK(plaq_context_create(&p, &context))
  OK(plaq_gauge_params_init(&q, sizeof q))
  for (mu = 0; mu < 4; mu++) q.extents[mu] = 4;
  OK(plaq_gauge_create(context, &q, &gauge))
  OK(plaq_gauge_unit(gauge))
  OK(plaq_gauge_plaquette(gauge, &average))
  printf("hello, plaquette %.3f\n", average.total);
  OK(plaq_context_destroy(context))
  return 0;
}
END
cp "$work/src/hello.c" "$work/src/hello.cpp"
cat >"$work/src/hello.f90" <<'END'
program hello
  use plaq
  implicit none
  type(plaq_context_params) :: p
  type(plaq_gauge_params) :: q
  type(plaq_context) :: context
  type(plaq_gauge) :: gauge
  type(plaq_plaquette) :: average
  call ok(plaq_context_params_init(p, c_sizeof(p)))
  p%device = PLAQ_DEVICE_CPU
  call ok(plaq_context_create(p, context))
  call ok(plaq_gauge_params_init(q, c_sizeof(q)))
  q%extents = 4
  call ok(plaq_gauge_create(context, q, gauge))
  call ok(plaq_gauge_unit(gauge))
  call ok(plaq_gauge_plaquette(gauge, average))
  print '(a,f5.3)', 'hello, plaquette ', average%total
  call ok(plaq_context_destroy(context))
contains
  subroutine ok(status)
    integer(c_int32_t), intent(in) :: status
    if (status /= PLAQ_SUCCESS) error stop 1
  end subroutine
end program
END
hello() { # shared or static, compiler and sources
  local how=$1 package flags to=$work/moved
  shift
  package=$([ "$how" = static ] && echo plaq-static || echo plaq)
  export PKG_CONFIG_PATH=$to/lib/pkgconfig
  flags="$(pkg-config --cflags --libs $package)"
  [ "$how" = static ] || flags="$flags -Wl,-rpath,$to/lib"
  # shellcheck disable=SC2086
  "$@" -o "$work/hello" $flags || return 1
  [ "$(cd "$work" && ./hello)" = "hello, plaquette 1.000" ] && { [ "$how" = shared ] || ! ldd "$work/hello" | grep libplaq; }
}
if command -v pkg-config >/dev/null && [ -d "$work/moved" ]; then
  for how in shared static; do
    check "hello_c_$how" hello "$how" "$CC" -std=c99 "$work/src/hello.c"
    check "hello_c++_$how" hello "$how" "${CXX##* }" "$work/src/hello.cpp"
    if command -v "${FC:-gfortran}" >/dev/null; then
      check "hello_fortran_$how" hello "$how" "${FC:-gfortran}" -J "$work" "$work/moved/share/plaq/fortran/plaq.f90" "$work/src/hello.f90"
    else
      ignore "hello_fortran_$how" "no Fortran compiler"
    fi
  done
fi
[ ! -d "$work/moved" ] || mv "$work/moved" "$prefix"

cat >"$work/src/milc.c" <<'END'
#include <quda_milc_interface.h>
int main(void) {
  void *sites = qudaAllocatePinned(64);
  qudaFreePinned(sites);
  return sites == 0;
}
END
# As MILC compiles and links with QUDA_HOME.
quda_home() {
  local home=$prefix/quda
  $CC -std=c99 -Wall -Werror -I"$home/include" "$work/src/milc.c" -o "$work/milc" \
    -Wl,-rpath,"$home/lib" -L"$home/lib" -lquda && "$work/milc" &&
    ldd "$work/milc" | grep -q "libplaq.so.[0-9]* => $home/lib"
}
check quda_home quda_home

# As Chroma does: QUDA::quda in C++, found in the prefix, and in a copy of quda/ and lib/ that was moved.
quda_cmake() {
  mkdir "$work/quda_client" && cat >"$work/quda_client/main.cc" <<'END' && cat >"$work/quda_client/CMakeLists.txt" <<'END2'
#include <quda.h>
#include <quda_api.h>
#include <device.h>
#include <complex>
int main() {
  QudaPrecision_s precision = QUDA_DOUBLE_PRECISION;
  QudaInvertParam_s param = newQudaInvertParam();
  param.cpu_prec = precision;
  param.b_5[0] = 1.5;
  return param.cpu_prec != 8 || param.b_5[0] != 1.5;
}
END
cmake_minimum_required(VERSION 3.17)
project(client CXX)
find_package(QUDA REQUIRED)
if(QUDA_TARGET_CUDA OR CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR "QUDAConfig.cmake asks for CUDA")
endif()
add_executable(client main.cc)
target_link_libraries(client PUBLIC QUDA::quda)
END2
  mkdir "$work/elsewhere" && cp -a "$prefix/quda" "$prefix/lib" "$work/elsewhere/" || return 1
  local where
  for where in "$prefix" "$work/elsewhere/quda"; do
    rm -rf "$work/quda_built"
    cmake -S "$work/quda_client" -B "$work/quda_built" -DCMAKE_PREFIX_PATH="$where" -DCMAKE_CXX_COMPILER="${CXX##* }" &&
      cmake --build "$work/quda_built" && "$work/quda_built/client" &&
      ldd "$work/quda_built/client" | grep -q "libplaq.so.[0-9]* => ${where%/quda}/quda/lib" || return 1
  done
}
if command -v cmake >/dev/null; then
  check quda_cmake quda_cmake
else
  ignore quda_cmake "no cmake"
fi

staged() {
  make --no-print-directory install DESTDIR="$work/stage" PREFIX=/opt/plaq &&
    [ -f "$work/stage/opt/plaq/include/plaq.h" ] &&
    [ "$(readlink "$work/stage/opt/plaq/lib/libplaq.so")" = "libplaq.so.$major" ] &&
    [ "$(readlink "$work/stage/opt/plaq/quda/lib/libquda.so")" = "../../lib/libplaq.so.$major" ] &&
    { ! command -v pkg-config >/dev/null ||
      [ "$(PKG_CONFIG_PATH=$work/stage/opt/plaq/lib/pkgconfig pkg-config --static --libs-only-L plaq | sed 's|/lib/pkgconfig/../..||; s/ *$//')" = "-L$work/stage/opt/plaq/lib" ]; } &&
    ! grep -rqF "$work" "$work/stage/opt/plaq/lib/pkgconfig" "$work/stage/opt/plaq/lib/cmake"
}
check destdir staged

uninstalled() {
  make --no-print-directory uninstall PREFIX="$prefix" && [ -z "$(find "$prefix" ! -type d)" ] &&
    ! make --no-print-directory uninstall PREFIX="$prefix"
}
check uninstall uninstalled

totals
