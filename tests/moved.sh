#!/bin/bash
# usage: moved.sh [TESTS]
# Runs tests of the kit as on a machine that never had the source tree: the program and its data in a folder elsewhere,
# the source tree covered. TESTS: words `module:part,part`, by default those that read data.
set -u
cd "$(dirname "$0")/.."
# shellcheck source=scripts/harness.sh
. scripts/harness.sh
source=$PWD target=$(realpath "${CARGO_TARGET_DIR:-target}") kit=$scratch
if ! unshare --mount --map-root-user mount -t tmpfs none "$source" 2>"$kit/why"; then
  echo "skipped: the source tree cannot be covered here: $(head -1 "$kit/why")"
  exit
fi
mkdir -p "$kit/tests/data" "$kit/bin"
cp -r tests/data/. "$kit/tests/data/"
program=$(program device) && cp "$program" "$kit/bin/device" || exit 1
tests=$(tests_of "$program" ${*:-io:configurations config:carried solvers:conjugate_gradient_in_half}) || exit 1
# Configurations come with a kit, or a test says that it has none.
export PLAQ_CONFIGS=$kit/configs
# shellcheck disable=SC2016,SC2086
unshare --mount --map-root-user bash -c '
  mount -t tmpfs none "$0" && { [ ! -d "$1" ] || mount -t tmpfs none "$1"; } && cd "$2" && shift 2 && exec "$@"' \
  "$source" "$target" "$kit" bin/device --show-output --exact $tests
