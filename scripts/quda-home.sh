#!/bin/bash
# usage: quda-home.sh LIB HOME
# Makes HOME what QUDA_HOME is to MILC and QUDA's prefix to CMake: QUDA's headers as far as plaq has them, libquda.so,
# which is the libplaq of LIB, by relative links, and lib/cmake/QUDA. MAJOR comes from the Makefile.
set -eu
cd "$(dirname "$0")/.."
lib=$1 home=$2
install -d "$home/include" "$home/lib"
install -m 644 include/quda/*.h "$home/include/"
install -D -m 644 packaging/QUDAConfig.cmake "$home/lib/cmake/QUDA/QUDAConfig.cmake"
there=$(realpath -sm --relative-to="$home/lib" "$lib")
# The linker looks for libquda.so; programs linked with it look for libplaq's soname.
for name in libquda.so "libplaq.so.$MAJOR"; do
  ln -sfn "$there/libplaq.so.$MAJOR" "$home/lib/$name"
done
