"""A quark loop with its error against its cost: plain noise, dilution, probing, and a difference of masses.

Runs in a minute: python docs/tutorial/8_loops.py [FILE]; without a file it takes a small quenched configuration.
"""

import sys
import time
from typing import Any, Dict

import numpy as np
import plaq

U = plaq.open(sys.argv[1] if len(sys.argv) > 1 else plaq.sample)
D = plaq.Clover(U, mass=0.1, csw=1.0, normalisation="mass")
heavy = plaq.Clover(U, mass=0.4, csw=1.0, normalisation="mass")
one, five = plaq.gamma.number("1"), plaq.gamma.number("5")

# Each row has about as many solves: vectors times parts of the dilution times probes, twice for a difference.
rows: Dict[str, Any] = {
    "plain": dict(vectors=192),
    "spin and colour": dict(vectors=16, dilute="spin,colour"),
    "even and odd too": dict(vectors=8, dilute="spin,colour,parity"),
    "spin, colour, 4 probes": dict(vectors=4, dilute="spin,colour", probes=4),
    "difference of masses": dict(vectors=96, minus=heavy),
}
print(f"{'':24}{'solves':>8}{'seconds':>9}   tr D^-1, all t        error^2 seconds    tr gamma5 D^-1")
found = {}
for name, how in rows.items():
    D.loops(U, vectors=1)  # what is set up once
    start = time.perf_counter()
    L = D.loops(U, lines=[""], seed=7, tol=1e-8, **how)
    seconds = time.perf_counter() - start
    # Of each vector the sum over t, whose scatter is the error of the mean.
    sums = L.lines[:, 0, :, 0].sum(axis=-1).real
    value = sums.mean(axis=0)
    error = sums.std(axis=0, ddof=1) / len(sums) ** 0.5
    parts = 24 if "parity" in how.get("dilute", "") else 12 if "dilute" in how else 1
    solves = how["vectors"] * parts * how.get("probes", 1) * (2 if "minus" in how else 1)
    found[name] = value, error
    print(
        f"{name:24}{solves:8}{seconds:9.2f}   "
        f"{value[one]:10.3f} +- {error[one]:5.3f}   {seconds * error[one] ** 2:12.3f}   {value[five]:10.3f} +- {error[five]:5.3f}"
    )

# Estimates without bias agree; the difference of masses is another number, of which the error is small.
(a, da), (b, db) = found["plain"], found["spin and colour"]
assert np.abs(a[one] - b[one]) < 5 * (np.abs(da[one]) + np.abs(db[one]))
assert found["difference of masses"][1][one] < da[one]
