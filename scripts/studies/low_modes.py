#!/usr/bin/env python3
"""usage: low_modes.py [FILE] [--lattice X,Y,Z,T] [--kappa K] [--csw C] [--sources N] [--modes M] [--limit S]

Pion and rho correlators on a configuration by N point sources, and by low-mode averaging with the same sources, of M eigenvectors and of
multigrid's coarse space. At equal cost n sources alone and n' sources beside the average over all sources have squared errors
V / n and V' / n', where V and V' are the variances of C[S, S] and of C[S, S] - C[L, L] of a source: the gain is
(V / V') (n' / n), with n' s' + s_low = n s of the seconds s of a source. Printed are V / V' and the gain at the cost of all N point
sources and of ten times as many. Needs the Python package; set-ups of multigrid are not counted, as all solve with it, eigenvectors are.
Without FILE the heat bath makes links."""

import numpy as np
import plaq
import quenched

parser = quenched.parser(__doc__, "16,16,16,32", 0.1348)
parser.add_argument("--sources", type=int, default=24)
parser.add_argument("--block", type=int, default=4)
parser.add_argument("--null-vectors", type=int, default=16)
parser.add_argument("--modes", type=int, default=24, help="eigenvectors, 0: multigrid alone")
parser.add_argument("--limit", type=float, default=240, help="seconds after which no further space begins")
asked = parser.parse_args()

U, D, clock = quenched.begin(asked)
multigrid = D.multigrid(block=[[asked.block] * 4], vectors=[asked.null_vectors])
print(f"# {multigrid}: {clock():.1f} s", flush=True)
how = {"gammas": ["5", "X", "Y", "Z"]}
rng = np.random.default_rng(1)
sources = [tuple(int(rng.integers(length)) for length in U.extents) for _ in range(asked.sources)]


def points(x):
    return plaq.mesons(D.propagator(x, multigrid=multigrid, tol=1e-8), **how)


points(sources[0])  # what is used for the first time is made then
clock()
plain = np.array([points(x) for x in sources])[:, 0].real
of_points = clock()
print(f"# {asked.sources} point sources: {of_points:.1f} s", flush=True)


def channel(found, t):
    """Pion and rho, the mean of x, y, z, of every source."""
    return [found[:, which, t].mean(axis=1) for which in (slice(0, 1), slice(1, 4))]


def study(space, of_space):
    """Prints the gains of low modes, which took `of_space` seconds."""
    space.propagator(sources[0])
    clock()
    differences = []
    for x, full in zip(sources, plain):
        differences.append(full - plaq.mesons(space.propagator(x), **how)[0].real)
    of_sources = clock()
    low = space.mesons(**how)[0].real
    of_low = clock() + of_space
    each, both = of_points / len(sources), (of_points + of_sources) / len(sources)
    print(f"# {space}: {of_sources:.1f} s of C[L, L] at the sources, {of_low:.1f} s of all sources with {of_space:.1f} s of the space")
    print("| t | pion | V / V' | gain | at ten times the cost | rho | V / V' | gain | at ten times the cost |")
    rest = np.array(differences)
    for t in range(plain.shape[-1]):
        row = []
        for k, (one, other) in enumerate(zip(channel(plain, t), channel(rest, t))):
            value = channel(low[None], t)[k][0] + other.mean()
            ratio = one.var(ddof=1) / other.var(ddof=1)
            cells = [f"{value:.5g}", f"{ratio:.3g}"]
            for budget in (of_points, 10 * of_points):
                left = (budget - of_low) / both
                cells.append(f"{ratio * left / (budget / each):.3g}" if left >= 2 else "-")
            row.append(" | ".join(cells))
        print(f"| {t} | {' | '.join(row)} |")
    print(end="", flush=True)


if asked.modes:
    modes = D.eigen(asked.modes, tol=1e-6)
    study(D.space(eigen=modes), clock())
if clock.total() < asked.limit:
    study(D.space(multigrid=multigrid, tol=1e-8), 0.0)
print(f"# {clock.total():.0f} s in all")
