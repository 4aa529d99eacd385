#!/bin/bash
# Installs into a temporary prefix and builds, links and runs a C program against it: with
# pkg-config (shared and static), with CMake's find_package, and through DESTDIR.
set -u
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CC=${CC:-cc}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
major=${version%%.*}
good=0 bad=0 ignored=0

run() { # name, command...
  local name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    echo "test $name ... ok"
    good=$((good + 1))
  else
    echo "test $name ... FAILED"
    cat "$work/log"
    bad=$((bad + 1))
  fi
}
ignore() {
  echo "test $1 ... ignored, $2"
  ignored=$((ignored + 1))
}

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
run install make --no-print-directory install PROFILE=dev PREFIX="$prefix"

if command -v "${MPICC:-mpicc}" >/dev/null; then
  run mpi_library test -f "$prefix/lib/libplaq_mpi.so"
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
  run readme_program readme
  run pkg_config_shared shared
  run pkg_config_static static
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
  run cmake_find_package with_cmake
  run cmake_refuses_another_version wrong_version
else
  ignore cmake "no cmake"
fi

# Moved as a whole the prefix still works, shared, static and with its programs.
moved() {
  local to=$work/moved
  mv "$prefix" "$to" || return 1
  PKG_CONFIG_PATH=$to/lib/pkgconfig
  # shellcheck disable=SC2046
  if command -v pkg-config >/dev/null; then
    $CC -std=c99 "$work/src/main.c" -o "$work/m1" $(pkg-config --define-prefix --cflags --libs plaq) -Wl,-rpath,"$to/lib" &&
      $CC -std=c99 "$work/src/main.c" -o "$work/m2" $(pkg-config --define-prefix --cflags --libs plaq-static) &&
      [ "$("$work/m1")$("$work/m2")" = "$version$version" ] && ! ldd "$work/m2" | grep libplaq || return 1
  fi
  if command -v cmake >/dev/null; then
    sed -i "s/find_package(plaq [^ ]*/find_package(plaq $version/" "$work/src/CMakeLists.txt"
    cmake -S "$work/src" -B "$work/cmake3" -DCMAKE_PREFIX_PATH="$to" && cmake --build "$work/cmake3" &&
      [ "$("$work/cmake3/use_plaq")" = "$version" ] || return 1
  fi
  "$to/bin/plaquette" --help >/dev/null && ! nm "$to/lib/libplaq.so" | grep -q . && mv "$to" "$prefix"
}
run moved_prefix moved

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
run quda_home quda_home

staged() {
  make --no-print-directory install PROFILE=dev DESTDIR="$work/stage" PREFIX=/opt/plaq &&
    [ -f "$work/stage/opt/plaq/include/plaq.h" ] &&
    [ "$(readlink "$work/stage/opt/plaq/lib/libplaq.so")" = "libplaq.so.$major" ] &&
    [ "$(readlink "$work/stage/opt/plaq/quda/lib/libquda.so")" = "../../lib/libplaq.so.$major" ] &&
    grep -q '^prefix=/opt/plaq$' "$work/stage/opt/plaq/lib/pkgconfig/plaq.pc" &&
    ! grep -rqF "$work" "$work/stage/opt/plaq/lib/pkgconfig" "$work/stage/opt/plaq/lib/cmake"
}
run destdir staged

uninstalled() {
  make --no-print-directory uninstall PROFILE=dev PREFIX="$prefix" && [ -z "$(find "$prefix" ! -type d)" ] &&
    ! make --no-print-directory uninstall PROFILE=dev PREFIX="$prefix"
}
run uninstall uninstalled

echo "test result: $good passed; $bad failed; $ignored ignored;"
[ "$bad" = 0 ]
