#!/bin/bash
# usage: examples.sh [--list | one | ranks]
# Builds the program plaq and the programs of examples-c/ and runs them as tests: the lines of tests/examples/runs.txt,
# and of every example each line `test: ARGUMENTS` of its opening comment, is one run from the root of the repository
# that must end with status 0; $OUT in it is a fresh folder. Then plaq on several ranks prints what it prints on one.
# `one` leaves out what runs on several ranks, `ranks` all else; --list prints the lines, PROGRAM ARGUMENTS, instead.
set -u
cd "$(dirname "$0")/.."
shopt -s nullglob

runs() {
  local source name
  cat tests/examples/runs.txt
  for source in examples-c/*.c examples-c/*.f90; do
    name=$(basename "$source")
    case $name in *.c) name=${name%.c} ;; *) name=${name%.f90}_f ;; esac
    if ! grep -qE '^[ !/*]*test:' "$source"; then
      echo "$source has no line 'test: ARGUMENTS' in its opening comment" >&2
      return 1
    fi
    sed -nE "s,^[ !/*]*test: *,$name ,p" "$source"
  done
}

which=${1:-all}
list=$(runs) || exit 1
if [ "$which" = --list ]; then
  echo "$list"
  exit
fi
# shellcheck source=scripts/harness.sh
. scripts/harness.sh
make --no-print-directory examples || exit 1
! have_mpi || make --no-print-directory mpi || exit 1
wanted() { [ "$which" = all ] || [ "$which" = "$1" ]; }
export OUT=$scratch
plaq=build/$PROFILE/bin/plaq
out=$scratch
while read -r name args; do
  [ -n "$name" ] || continue
  case $name in
  04_ranks*) wanted ranks || continue; on="scripts/ranks.sh 1,1,1,2" ;;
  *) wanted one || continue; on= ;;
  esac
  if [ -x "build/$PROFILE/bin/$name" ]; then
    check "$name $args" bash -c "exec $on build/$PROFILE/bin/$name $args"
  else
    ignore "$name" "no compiler for it"
  fi
done <<<"$list"

# Many ranks print what one prints: words alike, numbers to rounding (solutions to their tolerance); lines with
# times are left out.
alike() {
  awk 'function number(x) { return x ~ /^[-+]?[0-9.]+([eE][-+]?[0-9]+)?$/ }
    /iterations,/ { next }
    { gsub(/[,;]/, " "); for (i = 1; i <= NF; i++) token[FNR == NR, ++n[FNR == NR]] = $i }
    END {
      if (!n[1] || n[1] != n[0]) exit 1
      for (i = 1; i <= n[1]; i++) {
        a = token[1, i]; b = token[0, i]; d = a - b
        if (number(a) && number(b) ? d * d > (1e-6 * a) ^ 2 + 1e-22 : a "" != b "") {
          print "expected " a ", found " b
          exit 1
        }
      }
    }' "$1" "$2"
}

refused() { # status, part of the message, command
  local status=$1 message=$2 found
  shift 2
  "$@" >"$out/said" 2>&1 </dev/null
  found=$?
  cat "$out/said"
  echo "expected status $status and '$message', found status $found"
  [ "$found" = "$status" ] && grep -qF -e "$message" "$out/said"
}

# The fixed links have the plaquette of the original ones, and as link trace the functional of
# Landau gauge.
same_field() { # original, fixed, JSON
  paste -d' ' <("$plaq" plaquette "$1") <("$plaq" plaquette "$2") |
    awk -v json="$3" 'function apart(x, y) { return (x - y) ^ 2 > 1e-20 }
      BEGIN {
        while ((getline line < json) > 0)
          if (!functional && match(line, /"functional": [^,]*/)) functional = substr(line, RSTART + 14, RLENGTH - 14)
      }
      $1 == "plaquette" { seen++; if (apart($2, $4)) { print "plaquettes " $2 ", " $4; exit 1 } }
      $1 == "link" { seen++; if (apart($6, functional)) { print "link trace " $6 ", functional " functional; exit 1 } }
      END { if (seen != 2) exit 1 }'
}

slices() { # expected number, JSON
  local found
  found=$(awk '/"slices"/ { on = 1 } on && /"theta"/ { n++ } END { print n + 0 }' "$2")
  echo "expected $1 slices, found $found"
  [ "$found" = "$1" ]
}

# The default theta to reach was set, as the JSON says, and was reached.
default_theta() { # value, JSON
  awk -v want="$1" 'function value(name) { match(text, "\"" name "\": [^,]*"); return substr(text, RSTART + length(name) + 4, RLENGTH - length(name) - 4) }
    { text = text $0 }
    END {
      stop = value("stop_theta"); theta = value("theta")
      print "theta " theta ", stop_theta " stop ", expected " want ", converged " value("converged")
      exit !((stop / want - 1) ^ 2 < 1e-24 && theta + 0 <= stop + 0 && value("converged") == "true")
    }' "$2"
}

# In double the last line of the history is the copy that the JSON reports.
last_check() { # JSON, history
  awk -v json="$1" 'function value(name) { match(text, "\"" name "\": [^,]*"); return substr(text, RSTART + length(name) + 4, RLENGTH - length(name) - 4) }
    BEGIN { while ((getline line < json) > 0) text = text line }
    !/^#/ { lines++; sweeps = $2; functional = $3; theta = $4 }
    END {
      n = value("iterations"); f = value("functional"); t = value("theta")
      print lines " lines, " sweeps " " functional " " theta ", expected " n " " f " " t
      exit !(lines == n / 10 + 1 && sweeps == n && (functional - f) ^ 2 < 1e-28 && (theta - t) ^ 2 < 1e-12 * t ^ 2)
    }' "$2"
}

gaugefix() {
  local program=("$plaq" gaugefix) file=tests/data/quenched-b6.0-4x4x4x8.ildg time
  "${program[@]}" --gauge "$file" --out "$out/gaugefix" --transformation "$out/gaugefix.g" --json "$out/gaugefix.json" >"$out/log" 2>&1
  check "gaugefix, fixed links" same_field "$file" "$out/gaugefix" "$out/gaugefix.json"
  check "gaugefix, size of the transformation" [ "$(wc -c <"$out/gaugefix.g")" = $((4 * 4 * 4 * 8 * 9 * 16)) ]
  for time in 0 3; do
    "${program[@]}" --gauge "$file" --condition coulomb --direction "$time" --copies 2 --json "$out/gaugefix-$time.json" >"$out/log" 2>&1
    check "gaugefix, slices across direction $time" slices $((time == 3 ? 8 : 4)) "$out/gaugefix-$time.json"
  done
  "${program[@]}" --gauge "$file" --method fourier-cg --json "$out/gaugefix-fourier.json" >"$out/log" 2>&1
  "${program[@]}" --gauge "$file" --condition maximally_abelian --residual yes --method combined --temperatures 20 --stochastic-sweeps 20 \
    --json "$out/gaugefix-mag.json" >"$out/log" 2>&1
  "${program[@]}" --gauge "$file" --condition maximally_abelian --precision single --json "$out/gaugefix-single.json" >"$out/log" 2>&1
  check "gaugefix, default theta in single precision" default_theta 1e-11 "$out/gaugefix-single.json"
  check "gaugefix, default theta" default_theta 1e-12 "$out/gaugefix.json"
  "${program[@]}" --gauge "$file" --precision double --method overrelaxation --json "$out/gaugefix-last.json" --history "$out/gaugefix.history" >"$out/log" 2>&1
  check "gaugefix, history" last_check "$out/gaugefix-last.json" "$out/gaugefix.history"
  check "gaugefix without --gauge" refused 2 --gauge "${program[@]}"
  check "gaugefix, unknown gauge" refused 2 axial "${program[@]}" --gauge "$file" --condition axial
  check "gaugefix, no such direction" refused 2 --direction "${program[@]}" --gauge "$file" --condition coulomb --direction 4
  check "gaugefix, relaxation with omega" refused 2 --omega "${program[@]}" --gauge "$file" --method relaxation --omega 1.5
  check "gaugefix, no such file" refused 1 absent "${program[@]}" --gauge absent
  check "gaugefix, alpha out of range" refused 2 alpha "${program[@]}" --gauge "$file" --method fourier-cg --alpha 0
  check "gaugefix, Fourier acceleration in the Abelian gauge" refused 1 overrelaxation "${program[@]}" --gauge "$file" --condition maximally_abelian --method fourier-cg
  check "gaugefix, omega out of range" refused 2 omega "${program[@]}" --gauge "$file" --omega 2.5
  check "gaugefix, not converged" refused 3 "NOT CONVERGED" "${program[@]}" --gauge "$file" --max-iterations 10
}
wanted one && gaugefix

# A field that gluon fixes and one that comes fixed from a file have the same propagator.
gluon() {
  local program=("$plaq" gluon) file=tests/data/quenched-b6.0-4x4x4x8.ildg table='^ .*[0-9]$'
  "${program[@]}" "$file" --fix yes --cut 2 --json "$out/fixed-gluon.json" 2>"$out/log" | grep "$table" >"$out/one"
  "${program[@]}" "$out/gaugefix" --cut 2 2>"$out/log" | grep "$table" >"$out/many"
  check "gluon, fixed before" alike "$out/one" "$out/many"
  check "gluon, links that are not fixed" refused 1 "not in Landau gauge" "${program[@]}" --gauge "$file"
  check "gluon without --gauge" refused 2 --gauge "${program[@]}"
  check "gluon, no such file" refused 1 absent "${program[@]}" --gauge absent
  check "gluon, negative cut" refused 2 --cut "${program[@]}" --gauge "$file" --cut -1
}
wanted one && gluon

# Short runs of the studies, and of the programs that read their files.
studies() {
  local common=(--lattice 4,4,4,8 --thermalise 5 --bin build/$PROFILE/bin)
  check "study of accuracy" scripts/studies/accuracy.py "${common[@]}" --iterations 100 --out "$out/accuracy.json"
  check "study of Abelian copies" scripts/studies/mag_copies.py "${common[@]}" --copies 3 --chunk 2 --temperatures 5 \
    --stochastic-sweeps 10 --max-iterations 1000 --out "$out/mag.json"
  check "study of Landau copies" scripts/studies/landau_copies.py "${common[@]}" --copies 3 --steps 0,5 --out "$out/landau.json"
  scripts/studies/plots.py "$out/accuracy.json" "$out/mag.json" "$out/landau.json" >"$out/tables" 2>&1
  check "tables of the studies" rows "$out/tables" 13 2 3
  scripts/studies/multigrid.py "${common[@]}" --beta 6.0 --kappa 0.12,0.13 --csw 1.2 --tol 1e-8 --error 1e-12 \
    --out "$out/multigrid.json" --plot "$out/multigrid.svg" >"$out/masses" 2>"$out/said"
  check "study of multigrid" multigrid_study
  check "study of multigrid, from its file" again_from_its_file
  check "study of the overlap operator" scripts/studies/overlap.py locality "${common[@]}" --beta 6.0 --delta 1e-4 \
    --configurations 2 --separation 5 --out "$out/locality.json" --plot "$out/locality.svg"
  scripts/studies/hmc.py flavours "${common[@]}" --lattice 4,4,4,4 --trajectories 10 --thermalise 4 --only "omelyan2,Hasenbusch" \
    --out "$out/flavours.json" >"$out/forms" 2>&1
  check "study of hybrid Monte Carlo" forms_agree
  check "averages and picture of a chain's log" chain_averages
  check "errors of Markov chains" autocorrelation
  scripts/plots/gluon.py "$out/fixed-gluon.json" "$out/fixed-gluon.json" >"$out/averages" 2>&1
  check "averages of gluon" averages
}

# x' = a x + noise has tau = (1 + a) / (2 (1 - a)), here 4.5, and the mean's variance is 2 tau var / n.
autocorrelation() {
  PYTHONPATH=scripts/studies PYTHONDONTWRITEBYTECODE=1 python3 -c '
import math, random, series
random.seed(1)
x, chain, a, n = 0.0, [], 0.8, 40000
for _ in range(n):
    x = a * x + random.gauss(0, 1)
    chain.append(x)
mean = series.Mean(chain)
error = math.sqrt(9 / (1 - a * a) / n)
assert abs(mean.tau - 4.5) < 4 * mean.tau_error < 1.5, (mean.tau, mean.tau_error)
assert abs(mean.error / error - 1) < 0.1 and abs(mean.value) < 4 * error, (mean.value, mean.error, error)
value, spread = series.jackknife([[c] for c in chain[:400]], lambda m: m[0])
assert abs(spread / series.statistics.stdev(chain[:400]) * 20 - 1) < 1e-9'
}

# The table has a row for each form, and their common values.
forms_agree() {
  cat "$out/forms"
  [ "$(grep -cE '^\| (omelyan2|Hasenbusch) \|' "$out/forms")" = 2 ] && grep -q '^All: 0\.[0-9]*([0-9]*), ' "$out/forms"
}

# Plaquette and acceptance are those of the study that wrote the log; the plot has four curves.
chain_averages() {
  scripts/studies/chain.py --thermalise 4 --plot "$out/chain.svg" "$out/flavours-omelyan2.jsonl" >"$out/chain" || return 1
  cat "$out/forms" "$out/chain"
  [ "$(grep -c '<polyline' "$out/chain.svg")" = 4 ] || return 1
  python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$out/chain.svg" &&
    awk -F' *[|] *' '$2 == "omelyan2" { p = $3; a = $5; n = $8 } $2 == n && p { found = $3 == p && $7 == a } END { exit !found }' \
      "$out/forms" "$out/chain"
}

rows() { # file, lines of tables, kinds of runs, copies of each
  cat "$1"
  [ "$(grep -c '^|' "$1")" = "$2" ] && [ "$(grep -cE "^\\| (SA/SR/OR|OR|. steps) \\| $4 \\|" "$1")" = $((2 * $3)) ]
}

# Both solvers run at both masses, errors fit their residuals, and the plot has three panels with a line for each.
multigrid_study() {
  cat "$out/said" "$out/masses"
  [ "$(grep -cE '^\| 0.1[23] \| (BiCGStab|multigrid) \| [0-9]+ \|' "$out/masses")" = 4 ] || return 1
  [ "$(grep -c '<polyline' "$out/multigrid.svg")" = 6 ] &&
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$out/multigrid.svg" &&
    awk '/"error_over_residual"/ { n++; x = $2 + 0; if (!(x > 0.05 && x < 1000)) bad = 1 } END { exit bad || n != 4 }' "$out/multigrid.json"
}

# Table and plot of a finished study do not change when it is started again.
again_from_its_file() {
  scripts/studies/multigrid.py --from "$out/multigrid.json" --plot "$out/again.svg" >"$out/again" || return 1
  grep -q '^|' "$out/again" && diff <(grep '^|' "$out/masses") <(grep '^|' "$out/again") && cmp "$out/multigrid.svg" "$out/again.svg"
}

same_iterations() { # JSON, JSON
  local file
  for file in "$@"; do
    grep '"solver": {' "$file" | grep -oE '"(iterations|reliable_updates|restarts)": [0-9]+' | paste -sd' ' -
  done | tee "$out/iterations"
  [ "$(grep -c 'iterations.*reliable_updates.*restarts' "$out/iterations")" = 2 ] && [ "$(sort -u "$out/iterations" | wc -l)" = 1 ]
}

# Null vectors of a file take as many iterations as those that were saved; a damaged file is refused.
null_vectors() {
  local run=("$plaq" propagator --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.13 --csw 1.2 --solver mg)
  check "propagator, null vectors of a file" same_iterations "$out/mg.json" "$out/mg-loaded.json"
  head -c 100000 "$out/null.lime" >"$out/short.lime"
  check "propagator, null vectors cut short" refused 1 short.lime "${run[@]}" --load-multigrid "$out/short.lime"
  check "propagator, no null vectors" refused 1 absent "${run[@]}" --load-multigrid absent
  check "propagator, null vectors without multigrid" refused 2 --load-multigrid "$plaq" propagator \
    --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.13 --load-multigrid "$out/null.lime"
}
wanted one && null_vectors

# The average of a file with itself is the file, without error.
averages() {
  cat "$out/averages"
  paste -d' ' <("$plaq" gluon --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --fix yes --cut 2 2>/dev/null | grep -v '^#') \
    <(grep -v '^#' "$out/averages") | awk '{ n++; if (($5 - $13) ^ 2 > 1e-18 || ($6 - $14) ^ 2 > 1e-18 || $15 != 0) exit 1 } END { exit n < 5 }'
}
if ! wanted one; then
  :
elif command -v python3 >/dev/null; then
  studies
else
  ignore studies "no Python"
fi

many_as_one() { # grid, command
  scripts/ranks.sh "$@" >"$out/many" 2>"$out/said" &&
    alike <(grep '^[ #a-z]' "$out/one") <(grep '^[ #a-z]' "$out/many") || { cat "$out/said" "$out/many"; return 1; }
}

on_ranks() { # subcommand, arguments
  local name=$1 grid
  shift
  "$plaq" "$name" "$@" >"$out/one" 2>"$out/log"
  for grid in 1,1,1,2 2,1,1,1 1,2,2,1; do
    check "$name --grid $grid $*" many_as_one "$grid" "$plaq" "$name" --grid "$grid" "$@"
  done
}

# Rank 1 is stopped (SIGSTOP) once the first file exists: rank 0 reports that it is gone and ends the job, with a status
# that is neither success nor that of `timeout` (124, or 137 after -k).
a_rank_is_gone() {
  local found
  rm -f "$out"/gone.*
  # shellcheck disable=SC2016
  GONE="$out/gone.00001" PLAQ_TEST_SECONDS=100 PLAQ_COMM_TIMEOUT=3 scripts/ranks.sh 1,1,1,2 bash -c '
    [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 0 ] || {
      { until [ -e "$GONE" ]; do sleep 0.1; done; kill -STOP $$; } &
    }
    exec "$@"' - "$plaq" heatbath --grid 1,1,1,2 --lattice 4,4,4,8 --beta 6.0 --thermalise 1 --separation 50 \
    --configurations 1000000 --out "$out/gone" --threads 1 >"$out/said" 2>&1
  found=$?
  rm -f "$out"/gone.*
  tail -c 3000 "$out/said"
  echo "status $found"
  [ "$found" != 0 ] && [ "$found" != 124 ] && [ "$found" != 137 ] && grep -q "no answer for" "$out/said"
}

# A chain goes on from its checkpoint on other ranks, as if it had been on one all the time.
a_chain_moves() {
  local start=hot grid chain
  for chain in stays moves; do
    sed "/^\[run\]/a checkpoint = \"$out/$chain.lime\"" examples-c/hmc/quenched.toml >"$out/$chain.toml"
  done
  "$plaq" hmc "$out/stays.toml" --trajectories 4 --overwrite yes || return
  for grid in 1,1,1,2 1,2,2,1 2,1,1,1; do
    scripts/ranks.sh $grid "$plaq" hmc "$out/moves.toml" --grid $grid --start $start --trajectories 1 || return
    start=checkpoint
  done
  "$plaq" hmc "$out/moves.toml" --start checkpoint --trajectories 1 || return
  for chain in stays moves; do "$plaq" plaquette "$out/$chain.lime" | grep -v "$out" >"$out/$chain.txt"; done
  cat "$out/stays.txt" "$out/moves.txt"
  grep -q '[0-9]' "$out/stays.txt" && alike "$out/stays.txt" "$out/moves.txt"
}

if ! wanted ranks; then
  :
elif have_mpi; then
  file=tests/data/quenched-b6.0-4x4x4x8.ildg
  on_ranks plaquette --threads 1 --wilson-loops 2,2 "$file"
  # From a cold start: where staples nearly cancel, as in a hot one, rounding grows by 1e4 a sweep.
  on_ranks heatbath --lattice 4,4,4,8 --beta 6.0 --start cold --thermalise 3 --separation 2 --configurations 2 --out "$out/chain" --overwrite yes --threads 1
  on_ranks flow "$file" --time 0.1 --threads 1
  # A chain without quarks, since the number of iterations of their solves depends on the order of sums.
  on_ranks hmc examples-c/hmc/quenched.toml --trajectories 2 --log "$out/ranks.jsonl" --overwrite yes --threads 1
  on_ranks propagator "$file" --kappa 0.12 --csw 1.2 --threads 1
  on_ranks overlap "$file" --task modes --modes 2 --delta 1e-3 --locality yes --threads 1
  on_ranks gaugefix "$file" --condition coulomb --precision double --threads 1
  on_ranks gaugefix "$file" --condition maximally_abelian --method annealing --temperatures 5 --residual yes --precision double --threads 1
  check "gaugefix --transformation on ranks" refused 2 "one rank" scripts/ranks.sh 1,1,1,2 \
    "$plaq" gaugefix "$file" --transformation "$out/many.g"
  check "heatbath, a rank is gone" a_rank_is_gone
  check "hmc goes on with other numbers of ranks" a_chain_moves
else
  ignore "examples on many ranks" "no MPI"
fi
totals
