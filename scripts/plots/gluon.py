#!/usr/bin/env python3
"""Averages the gluon propagators of several configurations and plots p^2 D(p^2).

usage: gluon.py [--out FIGURE] [--beta B] GLUON.json...

The files are those of `gluon --json`, of one lattice and one cut. Prints k, p^2, D and p^2 D with
standard errors of the mean (configurations count as independent). --out needs matplotlib. --beta
divides by g_0^2 = 6/beta.
"""
import argparse
import json
import math
import sys


def average(values):
    n = len(values)
    mean = math.fsum(values) / n
    if n == 1:
        return mean, math.nan
    return mean, math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n * (n - 1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--out")
    parser.add_argument("--beta", type=float)
    options = parser.parse_args()
    runs = []
    for name in options.files:
        with open(name) as f:
            runs.append(json.load(f))
    shape = [(run["gauge"]["lattice"], run["cut"]) for run in runs]
    if any(s != shape[0] for s in shape):
        sys.exit("gluon.py: the files differ in lattice or cut")
    unit = options.beta / 6 if options.beta else 1
    rows = []
    for points in zip(*(run["points"] for run in runs)):
        d, error = average([unit * p["D"] for p in points])
        rows.append((points[0]["k"], points[0]["p2"], d, error))
    lattice = " x ".join(map(str, shape[0][0]))
    print(f"# {lattice}, {len(runs)} configurations, largest theta {max(run['theta'] for run in runs):.1e}")
    print("#         k             p^2               D           error           p^2 D           error")
    for k, p2, d, error in rows:
        print(*(f"{n:2d}" for n in k), *(f"{x:15.10f}" for x in (p2, d, error, p2 * d, p2 * error)))
    if not options.out:
        return
    try:
        import matplotlib
    except ImportError:
        sys.exit("gluon.py: --out needs matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(5, 3.5))
    p = [math.sqrt(row[1]) for row in rows]
    errors = None if len(runs) == 1 else [row[1] * row[3] for row in rows]
    axes.errorbar(p, [row[1] * row[2] for row in rows], errors, fmt="o", ms=3, capsize=2)
    axes.set_xlabel("a p")
    axes.set_ylabel("p² D(p²)" if options.beta else "g₀² p² D(p²)")
    axes.set_title(f"{lattice}, {len(runs)} configurations", fontsize="medium")
    axes.set_ylim(bottom=0)
    figure.tight_layout()
    figure.savefig(options.out)


if __name__ == "__main__":
    main()
