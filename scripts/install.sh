#!/bin/bash
# What `make install` does; VERSION, BUILT, PREFIX, LIBDIR, INCLUDEDIR, DATADIR, QUDADIR and DESTDIR
# come from the Makefile. Paths inside the installed files leave DESTDIR out.
set -eu
cd "$(dirname "$0")/.."
major=${VERSION%%.*}
lib=$DESTDIR$LIBDIR

for file in libplaq.so libplaq.a; do
  [ -f "$BUILT/$file" ] || { echo "install: $BUILT/$file is missing: run make first" >&2; exit 1; }
done
install -d "$lib/pkgconfig" "$lib/cmake/plaq" "$DESTDIR$INCLUDEDIR" "$DESTDIR$DATADIR/fortran"
install -m 755 "$BUILT/libplaq.so" "$lib/libplaq.so.$VERSION"
ln -sfn "libplaq.so.$VERSION" "$lib/libplaq.so.$major"
ln -sfn "libplaq.so.$major" "$lib/libplaq.so"
install -m 644 "$BUILT/libplaq.a" "$lib/libplaq.a"
# Where `make mpi` found an MPI.
[ -f build/mpi/libplaq_mpi.so ] && install -m 755 build/mpi/libplaq_mpi.so "$lib/"

(cd include && find . -path ./quda -prune -o -name '*.h' -print) | while read -r header; do
  install -D -m 644 "include/$header" "$DESTDIR$INCLUDEDIR/$header"
done
MAJOR=$major scripts/quda-home.sh "$lib" "$DESTDIR$QUDADIR"
for module in bindings/fortran/*.f90; do
  [ -f "$module" ] && install -m 644 "$module" "$DESTDIR$DATADIR/fortran/"
done

fill() {
  sed -e "s|@PREFIX@|$PREFIX|g" -e "s|@LIBDIR@|$LIBDIR|g" -e "s|@INCLUDEDIR@|$INCLUDEDIR|g" \
    -e "s|@DATADIR@|$DATADIR|g" -e "s|@VERSION@|$VERSION|g" -e "s|@MAJOR@|$major|g" "$1" >"$2"
  chmod 644 "$2"
}
fill packaging/plaq.pc.in "$lib/pkgconfig/plaq.pc"
fill packaging/plaqConfig.cmake.in "$lib/cmake/plaq/plaqConfig.cmake"
fill packaging/plaqConfigVersion.cmake.in "$lib/cmake/plaq/plaqConfigVersion.cmake"
echo "installed plaq $VERSION in $DESTDIR$PREFIX"
