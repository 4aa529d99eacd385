#!/usr/bin/env python3
"""usage: loops.py FILE [--kappa K] [--csw C] [--vectors N] [--seconds T]

Times to equal error of quark loops by several estimators, part by part, from the variances and costs of N noise vectors of each part:
the least cost of an error e is (sum of sqrt(variance * cost))^2 / e^2 plus that of what is exact. e is the error of a time slice (root
mean square) that plain noise has after T seconds. Needs the Python package; the set-up of multigrid is not counted, that of
eigenvectors is."""

import argparse
import time

import numpy as np
import plaq

LOOPS = {"1": ("", "1"), "γ5": ("", "5"), "γzγ5": ("", "Z5"), "γt D_t": ("dt", "T")}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("file")
parser.add_argument("--kappa", type=float, default=0.1345)
parser.add_argument("--csw", type=float, default=1.769)
parser.add_argument("--vectors", type=int, default=32)
parser.add_argument("--seconds", type=float, default=600)
parser.add_argument("--modes", type=int, default=24)
parser.add_argument("--only", default="", help="plain noise, and estimators with this in their names")
asked = parser.parse_args()

U = plaq.open(asked.file)
D = plaq.Clover(U, kappa=asked.kappa, csw=asked.csw, normalisation="mass")
one = D.multigrid(block=[[4, 4, 4, 4]], vectors=[16])
two = D.multigrid(block=[[2, 2, 2, 2], [2, 2, 2, 2]], vectors=[12, 12])
start = time.time()
modes = D.eigen(asked.modes, tol=1e-6)
of_modes = time.time() - start
low = {"one": D.space(multigrid=one), "two": D.space(multigrid=two), "modes": D.space(eigen=modes)}
estimators = {
    "plain": {},
    "spin, colour": {"dilute": "spin,colour"},
    "hopping 2": {"hopping": 2},
    "multigrid": {"space": low["one"], "traces": "last"},
    "multigrid, hopping 2": {"space": low["one"], "traces": "last", "hopping": 2},
    "multigrid, hopping 2, spin, colour": {"space": low["one"], "traces": "last", "hopping": 2, "dilute": "spin,colour"},
    "multigrid, two levels": {"space": low["two"], "traces": "last"},
    f"{asked.modes} modes": {"space": low["modes"], "traces": "last"},
    f"{asked.modes} modes, hopping 2": {"space": low["modes"], "traces": "last", "hopping": 2},
}
goal = {}
print(f"# {asked.file}, kappa {asked.kappa}, csw {asked.csw}, {asked.vectors} vectors, {of_modes:.1f} s of eigenvectors")
for name, how in estimators.items():
    if asked.only not in name and name != "plain":
        continue
    run = D.loop_sums(U, multigrid=one, lines=["", "dt"], tol=1e-8, seed=1, **how)
    # What is used for the first time is made then.
    run.add(vectors=1)
    run = D.loop_sums(U, multigrid=one, lines=["", "dt"], tol=1e-8, seed=1, **how)
    run.add(vectors=asked.vectors if "dilute" not in how else max(asked.vectors // 6, 2))
    exact = sum(part.seconds for part in run.parts if part.term != "noise") + of_modes * ("modes" in name)
    noisy = [part for part in run.parts if part.term == "noise"]
    cost = [part.seconds / part.done for part in noisy]
    row = []
    for label, (line, gamma) in LOOPS.items():
        place = (["", "dt"].index(line), plaq.gamma.number(gamma), 0)
        variance = [(part.variance[place].real + part.variance[place].imag).mean() for part in noisy]
        least = sum((v * c) ** 0.5 for v, c in zip(variance, cost)) ** 2
        if name == "plain":
            goal[label] = least / asked.seconds
        row.append(f"{exact + least / goal[label]:7.0f} ({' + '.join(f'{v:.3g}' for v in variance)})")
    costs = " + ".join(f"{c:.3f}" for c in cost)
    print(f"| {name} | {exact:.1f} | {costs} | {' | '.join(row)} |", flush=True)
