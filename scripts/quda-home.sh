#!/bin/bash
# usage: quda-home.sh LIB HOME
# Makes HOME what QUDA_HOME is to MILC: QUDA's headers as far as plaq has them, and libquda.so,
# which is the libplaq of LIB, by relative links. MAJOR comes from the Makefile.
set -eu
cd "$(dirname "$0")/.."
lib=$1 home=$2
install -d "$home/include" "$home/lib"
install -m 644 include/quda/*.h "$home/include/"
there=$(realpath -sm --relative-to="$home/lib" "$lib")
# The linker looks for libquda.so, and what it linked for libplaq's soname.
for name in libquda.so "libplaq.so.$MAJOR"; do
  ln -sfn "$there/libplaq.so.$MAJOR" "$home/lib/$name"
done
