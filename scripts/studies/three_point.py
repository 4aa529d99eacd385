#!/usr/bin/env python3
"""usage: three_point.py [FILE] [--lattice X,Y,Z,T] [--kappa K] [--csw C] [--sink T] [--lines N] [--times R]

Seconds of a nucleon's three-point functions through the sink beside those of their solves: all 16 Gammas, all 27 momenta with numbers
-1, 0, 1, and straight lines of lengths -N to N in z, for an operator on a u quark, one sink and projector. Each row is the least of
R turns, after one that makes what is used for the first time. Needs the Python package. Without FILE the heat bath makes links."""

import itertools

import numpy as np
import plaq
import quenched
from plaq import structure

parser = quenched.parser(__doc__, "32,32,32,64", 0.1340)
parser.add_argument("--sink", type=int, default=12)
parser.add_argument("--lines", type=int, default=8, help="links of the longest line")
parser.add_argument("--times", type=int, default=3)
parser.add_argument("--tol", type=float, default=1e-10)
parser.set_defaults(thermalise=100)
asked = parser.parse_args()

U, D, clock = quenched.begin(asked)
clock()
multigrid = D.multigrid()
print(f"# {multigrid}: {clock():.1f} s", flush=True)
lines = [structure.straight("z", length) for length in range(-asked.lines, asked.lines + 1)]
momenta = list(itertools.product((-1, 0, 1), repeat=3))
print(f"# {len(lines)} lines, {len(momenta)} momenta, sink at {asked.sink}, tolerance {asked.tol:g}", flush=True)

rows = {}


def took(name):
    rows.setdefault(name, []).append(clock())


for turn in range(asked.times + 1):
    clock()
    S = D.propagator((0, 0, 0, 0), multigrid=multigrid, tol=asked.tol)
    took("forward solve, 12 columns")
    two = structure.quarks(S, momenta=momenta)
    took("two-point function, 6 pairings, open spins")
    w = structure.through_baryon(S, quark="u", projector="unpolarised", time=asked.sink)
    took("sequential source")
    X = D.propagator(w, multigrid=multigrid, tol=asked.tol)
    took("sequential solve, 12 columns")
    three = structure.insertions(X, S, U, lines=lines, momenta=momenta)
    took("insertions")
    current = structure.current(X, S, U)
    took("conserved current, zero momentum")

seconds = {name: min(times[1:]) for name, times in rows.items()}
print("| | first, s | s |")
for name, found in seconds.items():
    print(f"| {name} | {rows[name][0]:.3f} | {found:.3f} |")
solves = [found for name, found in seconds.items() if "solve" in name]
own = sum(seconds[name] for name in ("sequential source", "insertions"))
print(f"three-point functions (source and insertions) {own:.3f} s: {own / min(solves):.2f} of twelve columns, {own / sum(solves):.2f} of all solves")

# u quarks of the proton: the charge is 2.
P, zero = structure.PROJECTORS["unpolarised"], momenta.index((0, 0, 0))
pair = two[structure.PAIRINGS.index("123"), zero] + two[structure.PAIRINGS.index("321"), zero]
c2 = np.einsum("ji,tij->t", P, pair)[asked.sink]
inside, outside = current[3, 0, asked.sink // 2], current[3, 0, asked.sink + 2]
print(f"charge of u: {(inside - outside).real / c2.real:.9f}")
local = three[asked.lines, plaq.gamma.number("T"), zero, 1 : asked.sink] / c2
print("g_V of the local current:", np.array2string(local.real, precision=4))
assert abs((inside - outside) / c2 - 2) < 1e-5
