#!/usr/bin/env python3
"""usage: low_modes.py FILE [--kappa K] [--csw C] [--sources N]

Errors of pion and rho correlators on a configuration by N point sources, and by low-mode averaging with the same sources, with the seconds
of each: squared errors times seconds, over t. Needs the Python package; the set-up of multigrid and eigenvectors are not counted."""

import argparse
import time

import numpy as np
import plaq

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("file")
parser.add_argument("--kappa", type=float, default=0.1345)
parser.add_argument("--csw", type=float, default=1.769)
parser.add_argument("--sources", type=int, default=16)
parser.add_argument("--block", type=int, default=4)
parser.add_argument("--null-vectors", type=int, default=16)
parser.add_argument("--modes", type=int, default=0, help="so many eigenvectors in place of multigrid")
asked = parser.parse_args()

U = plaq.open(asked.file)
D = plaq.Clover(U, kappa=asked.kappa, csw=asked.csw, normalisation="mass")
multigrid = D.multigrid(block=[[asked.block] * 4], vectors=[asked.null_vectors])
space = D.space(eigen=D.eigen(asked.modes, tol=1e-6)) if asked.modes else D.space(multigrid=multigrid, tol=1e-8)
how = {"gammas": ["5", "X", "Y", "Z"]}
rng = np.random.default_rng(1)
sources = [tuple(int(rng.integers(length)) for length in U.extents) for _ in range(asked.sources)]
D.propagator(sources[0], multigrid=multigrid, tol=1e-8)  # what is used for the first time is made then
start = time.time()
plain = np.array([plaq.mesons(D.propagator(x, multigrid=multigrid, tol=1e-8), **how) for x in sources])[:, 0].real
points = time.time() - start
start = time.time()
low = space.mesons(**how)
of_low = time.time() - start
found = space.averaged_mesons(sources, multigrid=multigrid, tol=1e-8, **how)
both = time.time() - start
# averaged_mesons contracted the low modes once more.
cost = {"points": points, "averaged": both - of_low, "low": of_low}
rest = found.differences[0][:, 0].real
print(f"# {asked.file}, kappa {asked.kappa}, csw {asked.csw}, {space}, {asked.sources} sources")
print("# seconds: " + ", ".join(f"{name} {seconds:.1f}" for name, seconds in cost.items()))
print("|    t | pion | ratio of variances of a source | rho | ratio |")
for t in range(plain.shape[-1]):
    row = []
    for which in (slice(0, 1), slice(1, 4)):
        one, other = (x[:, which, t].mean(axis=1) for x in (plain, rest))
        row.append(f"{one.mean():.4g} | {one.var(ddof=1) / other.var(ddof=1):.2f}")
    print(f"| {t} | {' | '.join(row)} |")
