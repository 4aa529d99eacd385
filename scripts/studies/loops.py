#!/usr/bin/env python3
"""usage: loops.py [FILE] [--lattice X,Y,Z,T] [--kappa K] [--csw C] [--vectors N] [--seconds T] [--limit S]

Times to equal error of quark loops by several estimators, per Gamma and part, from the variances and costs of N noise vectors of each
noise part: the least cost of an error e is (sum of sqrt(variance * cost))^2 / e^2 plus that of what is exact. e is the error of a time
slice (root mean square) that plain noise has after T seconds. The last level of low modes is taken by noise or by all of its
coordinate vectors, whichever costs less; what all of these take is extrapolated from some. Needs the Python package; set-ups
of multigrid are not counted, as all solve with it, eigenvectors are. Without FILE the heat bath makes links. Estimators that would begin
after S seconds are left out."""

import numpy as np
import plaq
import quenched

#: Line and Gamma of each column.
LOOPS = {"1": ("", "1"), "γ5": ("", "5"), "γzγ5": ("", "Z5"), "γt D_t": ("dt", "T")}
LINES = ["", "dt"]

parser = quenched.parser(__doc__, "16,16,16,32", 0.1348)
parser.add_argument("--vectors", type=int, default=32)
parser.add_argument("--seconds", type=float, default=600)
parser.add_argument("--limit", type=float, default=240)
parser.add_argument("--modes", type=int, default=24, help="eigenvectors, 0: none")
parser.add_argument("--block", type=int, default=4, help="extent of aggregates, of two levels half of it and 2")
parser.add_argument("--null-vectors", type=int, default=16)
parser.add_argument("--only", default="", help="plain noise, and estimators with this in their names")
asked = parser.parse_args()

U, D, clock = quenched.begin(asked)
one = D.multigrid(block=[[asked.block] * 4], vectors=[asked.null_vectors])
print(f"# {one}: {clock():.1f} s", flush=True)
spaces = {"multigrid": D.space(multigrid=one)}
if all(length % (2 * asked.block) == 0 for length in U.extents):
    half = max(asked.block // 2, 1)
    two = D.multigrid(block=[[half] * 4, [2] * 4], vectors=[max(asked.null_vectors * 3 // 4, 4)] * 2)
    spaces["two levels"] = D.space(multigrid=two)
    print(f"# {two}: {clock():.1f} s", flush=True)
of_modes = 0.0
if asked.modes:
    spaces[f"{asked.modes} modes"] = D.space(eigen=D.eigen(asked.modes, tol=1e-6))
    of_modes = clock()
    print(f"# {asked.modes} eigenvectors: {of_modes:.1f} s", flush=True)

estimators = {"plain": {}, "spin, colour": {"dilute": "spin,colour"}, "hopping 2": {"hopping": 2}}
for name, space in spaces.items():
    estimators[name] = {"space": space}
    estimators[f"{name}, hopping 2"] = {"space": space, "hopping": 2}
estimators["multigrid, hopping 2, spin, colour"] = {"space": spaces["multigrid"], "hopping": 2, "dilute": "spin,colour"}


def sums(traces, **how):
    return D.loop_sums(U, multigrid=one, lines=LINES, tol=1e-8, seed=1, traces=traces, **how)


def least(parts, place):
    """The least seconds times squared error of noise parts, and the variance of each."""
    variances = [(part.variance[place].real + part.variance[place].imag).mean() for part in parts]
    costs = [part.seconds / part.done for part in parts]
    return sum((v * c) ** 0.5 for v, c in zip(variances, costs)) ** 2, variances


goal = {}
print("| estimator | s of a vector, by part | exact, s | " + " | ".join(f"Γ {label}" for label in LOOPS) + " |")
for name, how in estimators.items():
    if name != "plain" and (asked.only not in name or clock.total() > asked.limit):
        print(f"# left out: {name}")
        continue
    vectors = asked.vectors if "dilute" not in how else max(asked.vectors // 6, 2)
    sums("noise", **how).add(vectors=vectors)  # what is used for the first time is made then
    run = sums("noise", **how)
    run.add(vectors=vectors)
    noisy = [part for part in run.parts if part.term == "noise"]
    fixed = sum(part.seconds for part in run.parts if part.term != "noise") + of_modes * ("modes" in name)
    ways = {"noise": (noisy, fixed)}
    if "space" in how:
        # Pilots of the other parts take their time first.
        pilot = sum(part.seconds / part.done * 4 for part in run.parts if part.term == "noise")
        last = sums("last", **how)
        last.add(seconds=pilot + fixed + 8)
        exact = next(part for part in last.parts if part.term == "exact" and part.level == how["space"].levels)
        if exact.done:
            above = [part for part in noisy if part.level < exact.level]
            ways["exact"] = (above, fixed + exact.seconds / exact.done * exact.total)
    row = []
    for label, (line, gamma) in LOOPS.items():
        place = (LINES.index(line), plaq.gamma.number(gamma), 0)
        if name == "plain":
            goal[label] = least(noisy, place)[0] / asked.seconds
        seconds = {way: constant + least(parts, place)[0] / goal[label] for way, (parts, constant) in ways.items()}
        best = min(seconds, key=seconds.get)
        variances = " + ".join(f"{v:.3g}" for v in least(noisy, place)[1])
        row.append(f"{seconds[best]:.0f} ({variances}){' exact' * (best == 'exact')}")
    costs = " + ".join(f"{part.seconds / part.done:.4f}" for part in noisy)
    constants = ", ".join(f"{way} {constant:.1f}" for way, (_, constant) in ways.items())
    print(f"| {name} | {costs} | {constants} | {' | '.join(row)} |", flush=True)
print(f"# {clock.total():.0f} s in all")
