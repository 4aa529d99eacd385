#!/bin/bash
# What `make install` and `make uninstall` do; VERSION, BUILT, WORK, PREFIX, LIBDIR, INCLUDEDIR, DATADIR,
# QUDADIR and DESTDIR come from the Makefile. Paths inside the installed files leave DESTDIR out, and are
# relative where they can be: a prefix that is moved as a whole still works.
set -eu
cd "$(dirname "$0")/.."
major=${VERSION%%.*}
lib=$DESTDIR$LIBDIR
data=$DESTDIR$DATADIR
list=$data/installed

if [ "${1:-}" = uninstall ]; then
  [ -f "$list" ] || { echo "uninstall: nothing is installed in $DESTDIR$PREFIX" >&2; exit 1; }
  mapfile -t files <"$list"
  mapfile -t folders < <(dirname "${files[@]}" | sort -ru)
  for file in "${files[@]}"; do rm -f "$DESTDIR$file"; done
  rm -f "$list"
  # Removes folders that are empty now.
  for folder in "${folders[@]}"; do
    (cd "$DESTDIR$PREFIX" && rmdir -p --ignore-fail-on-non-empty "$(realpath -m --relative-to="$PREFIX" "$folder")") \
      2>/dev/null || true
  done
  echo "removed plaq from $DESTDIR$PREFIX"
  exit 0
fi

for file in libplaq.so libplaq.a; do
  [ -f "$BUILT/$file" ] || { echo "install: $BUILT/$file is missing: run make first" >&2; exit 1; }
done
install -d "$data"
: >"$list"
# mode, file, path below DESTDIR
put() {
  install -D -m "$1" "$2" "$DESTDIR$3"
  echo "$3" >>"$list"
}
link() { # target, path below DESTDIR
  ln -sfn "$1" "$DESTDIR$2"
  echo "$2" >>"$list"
}
stripped() { # options of strip, path below DESTDIR; without binutils the file stays as it is
  strip "$1" "$DESTDIR$2" 2>/dev/null || true
}

put 755 "$BUILT/libplaq.so" "$LIBDIR/libplaq.so.$VERSION"
stripped --strip-unneeded "$LIBDIR/libplaq.so.$VERSION"
link "libplaq.so.$VERSION" "$LIBDIR/libplaq.so.$major"
link "libplaq.so.$major" "$LIBDIR/libplaq.so"
put 644 "$BUILT/libplaq.a" "$LIBDIR/libplaq.a"
stripped --strip-debug "$LIBDIR/libplaq.a"
# Installs plaq's library for MPI if `make mpi` found an MPI.
[ ! -f build/mpi/libplaq_mpi.so ] || put 755 build/mpi/libplaq_mpi.so "$LIBDIR/libplaq_mpi.so"

while read -r header; do
  put 644 "include/$header" "$INCLUDEDIR/$header"
done < <(cd include && find . -path ./quda -prune -o -name '*.h' -printf '%P\n')
MAJOR=$major scripts/quda-home.sh "$lib" "$DESTDIR$QUDADIR"
(cd "$DESTDIR$QUDADIR" && find . ! -type d -printf '%P\n') | sed "s|^|$QUDADIR/|" >>"$list"
for module in bindings/fortran/*.f90; do put 644 "$module" "$DATADIR/fortran/${module##*/}"; done
# Programs find the library through a path relative to their own.
if [ -f "$WORK/bin/plaq" ]; then
  put 755 "$WORK/bin/plaq" "$PREFIX/bin/plaq"
  # printed PATH ARGUMENT...: installs what the program prints with these arguments at PATH below DESTDIR.
  printed() {
    local to=$1
    shift
    "$WORK/bin/plaq" "$@" >"$list.part"
    put 644 "$list.part" "$to"
    rm -f "$list.part"
  }
  share=$PREFIX/share
  printed "$share/bash-completion/completions/plaq" completion bash
  printed "$share/zsh/site-functions/_plaq" completion zsh
  printed "$share/fish/vendor_completions.d/plaq.fish" completion fish
  printed "$share/man/man1/plaq.1" man
  for subcommand in $(sed -n 's/^complete .* -n __fish_use_subcommand -a \([a-z]*\) .*/\1/p' "$DESTDIR$share/fish/vendor_completions.d/plaq.fish"); do
    case $subcommand in completion | man) ;; *) printed "$share/man/man1/plaq-$subcommand.1" man "$subcommand" ;; esac
  done
fi
while read -r source; do put 644 "$source" "$DATADIR/$source"; done < <(find examples-c -type f)
for page in README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md LICENSE-*; do put 644 "$page" "$DATADIR/$page"; done
while read -r page; do put 644 "$page" "$DATADIR/$page"; done < <(find docs -name '*.md' -o -path 'docs/figures/*' -type f -o -path 'docs/tutorial/*.py')

# Files that examples and pages of the documentation name; examples run in $DATADIR as in the source tree.
for file in tests/data/quenched-b6.0-4x4x4x8.ildg tests/data/quenched-b6.0-8x8x8x8.nersc; do put 644 "$file" "$DATADIR/$file"; done

from_prefix() { realpath -m --relative-to="$PREFIX" "$1"; }
fill() { # template, path below DESTDIR
  sed -e "s|@LIBDIR@|$(from_prefix "$LIBDIR")|g" \
    -e "s|@INCLUDEDIR@|$(from_prefix "$INCLUDEDIR")|g" -e "s|@DATADIR@|$(from_prefix "$DATADIR")|g" \
    -e "s|@TO_PREFIX@|$(realpath -m --relative-to="${2%/*}" "$PREFIX")|g" \
    -e "s|@VERSION@|$VERSION|g" -e "s|@MAJOR@|$major|g" "$1" >"$list.part"
  put 644 "$list.part" "$2"
  rm -f "$list.part"
}
fill packaging/plaq.pc.in "$LIBDIR/pkgconfig/plaq.pc"
fill packaging/plaq-static.pc.in "$LIBDIR/pkgconfig/plaq-static.pc"
fill packaging/plaqConfig.cmake.in "$LIBDIR/cmake/plaq/plaqConfig.cmake"
fill packaging/plaqConfigVersion.cmake.in "$LIBDIR/cmake/plaq/plaqConfigVersion.cmake"
echo "installed plaq $VERSION in $DESTDIR$PREFIX"
