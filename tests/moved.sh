#!/bin/bash
# Runs tests of the kit (tests/kit.rs) as on a machine that never had the source tree: their programs and
# their data in a folder elsewhere, the source tree covered. Named are those that read data.
set -u
cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}
tests=${*:-io config solvers}
source=$PWD target=$(realpath "${CARGO_TARGET_DIR:-target}")
kit=$(mktemp -d)
trap 'rm -rf "$kit"' EXIT
if ! unshare --mount --map-root-user mount -t tmpfs none "$source" 2>"$kit/why"; then
  echo "skipped: the source tree cannot be covered here: $(head -1 "$kit/why")"
  exit
fi
mkdir -p "$kit/tests/data" "$kit/bin"
cp -r tests/data/. "$kit/tests/data/"
for test in $tests; do
  program=$("$CARGO" test --no-run --test "$test" 2>&1 | sed -nE 's,^ *Executable .*\((.*)\)$,\1,p')
  cp "$program" "$kit/bin/$test" || exit 1
done
# Configurations come with a kit, or a test says that it has none.
export PLAQ_CONFIGS=$kit/configs
failed=0
for test in $tests; do
  # Those that read data.
  case $test in
  io) words=configurations ;;
  config) words=carried ;;
  solvers) words=conjugate_gradient_in_half ;;
  *) words= ;;
  esac
  # shellcheck disable=SC2016,SC2086
  unshare --mount --map-root-user bash -c '
    mount -t tmpfs none "$0" && { [ ! -d "$1" ] || mount -t tmpfs none "$1"; } && cd "$2" && shift 2 && exec "$@"' \
    "$source" "$target" "$kit" "bin/$test" --show-output $words || failed=1
done
exit $failed
