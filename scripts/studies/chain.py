#!/usr/bin/env python3
"""Averages of logs of `hmc`, and a picture of them: plaquette, delta H, acceptance, autocorrelation of the plaquette.

usage: chain.py [--thermalise N] [--plot FILE.svg] LOG.jsonl...

Several logs are parts of one chain, in this order. Errors are those of the Gamma method (series.py); erfc: Creutz's
acceptance erfc(sqrt(<delta H>) / 2). Python's standard library is enough.
"""
import argparse
import json
import math
import pathlib
import sys

import series


def read(paths):
    """The trajectories of all logs; a line that was cut off ends its log."""
    rows = []
    for path in paths:
        for line in path.read_text().splitlines():
            if not line.endswith("}"):
                break
            rows.append(json.loads(line))
    return rows


def autocorrelation(chain, most):
    """rho(t) of a chain for t up to `most`."""
    mean = math.fsum(chain) / len(chain)
    d = [x - mean for x in chain]
    gamma = [math.fsum(a * b for a, b in zip(d, d[t:])) / (len(d) - t) for t in range(most + 1)]
    return [g / gamma[0] if gamma[0] > 0 else 0.0 for g in gamma]


def panel(out, top, label, across, points, colour):
    """One curve in axes of its own."""
    xs, ys = zip(*points)
    x0, x1, y0, y1 = min(xs), max(xs), min(ys), max(ys)
    if y1 == y0:
        y0, y1 = y0 - 0.5, y1 + 0.5

    def at(x, y):
        return 80 + 400 * (x - x0) / max(x1 - x0, 1), top + 100 * (y1 - y) / (y1 - y0)
    out.append(f'<path d="M80 {top}V{top + 100}H480" fill="none" stroke="#444"/>')
    out.append(f'<text x="280" y="{top - 8}" text-anchor="middle">{label}</text>')
    out.append(f'<text x="280" y="{top + 130}" text-anchor="middle">{across}</text>')
    for y in (y0, y1):
        out.append(f'<text x="75" y="{at(x0, y)[1] + 4:.1f}" text-anchor="end">{y:.4g}</text>')
    for x in (x0, x1):
        out.append(f'<text x="{at(x, y0)[0]:.1f}" y="{top + 115}" text-anchor="middle">{x}</text>')
    path = " ".join("{:.1f},{:.1f}".format(*at(x, y)) for x, y in points)
    out.append(f'<polyline points="{path}" fill="none" stroke="{colour}"/>')


def picture(rows, rho):
    numbers = [r["trajectory"] for r in rows]
    accepted, share = 0, []
    for n, r in enumerate(rows, 1):
        accepted += r["accepted"]
        share.append(accepted / n)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="500" height="690" font-family="sans-serif" font-size="13">',
           '<rect width="500" height="690" fill="white"/>']
    panel(out, 30, "plaquette", "trajectory", list(zip(numbers, (r["plaquette"] for r in rows))), "#0072b2")
    panel(out, 200, "ΔH", "trajectory", list(zip(numbers, (r["delta_h"] for r in rows))), "#d55e00")
    panel(out, 370, "accepted so far", "trajectory", list(zip(numbers, share)), "#009e73")
    panel(out, 540, "autocorrelation of the plaquette", "t", list(enumerate(rho)), "#cc79a7")
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("logs", nargs="+", type=pathlib.Path)
    p.add_argument("--thermalise", type=int, default=0, help="trajectories that are left out at the beginning (0)")
    p.add_argument("--plot", type=pathlib.Path, help="picture, SVG")
    o = p.parse_args()
    rows = read(o.logs)[o.thermalise:]
    if len(rows) < 2:
        sys.exit(f"chain.py: expected two trajectories or more after --thermalise, found {len(rows)}")
    plaquette = series.Mean([r["plaquette"] for r in rows])
    energy = series.Mean([r["delta_h"] for r in rows])
    weight = series.Mean([math.exp(min(-r["delta_h"], 700)) for r in rows])
    acceptance = series.Mean([float(r["accepted"]) for r in rows])
    print("| trajectories | plaquette | τ | ⟨ΔH⟩ | ⟨exp(−ΔH)⟩ | acceptance | erfc | seconds each |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    means = [series.digits(m.value, m.error) for m in (plaquette, energy, weight, acceptance)]
    cells = [str(len(rows)), means[0], f"{plaquette.tau:.1f}", *means[1:],
             f"{math.erfc(0.5 * math.sqrt(max(energy.value, 0.0))):.4f}",
             f"{sum(r['seconds'] for r in rows) / len(rows):.3g}"]
    print("| " + " | ".join(cells) + " |")
    if o.plot:
        rho = autocorrelation([r["plaquette"] for r in rows], min(len(rows) // 2, max(10, 4 * plaquette.window)))
        o.plot.write_text(picture(rows, rho))


if __name__ == "__main__":
    main()
