#!/usr/bin/env python3
"""Multigrid and BiCGStab over the quark mass: iterations, seconds and error over residual of a propagator
(Clark et al., arXiv:1612.07873, table 3).

usage: multigrid.py --out FILE [--kappa K,K,...] [--csw C] [--kappa-critical K] [--plot FILE.svg] ...
       multigrid.py --from FILE [--plot FILE.svg]

One quenched configuration, or that of --gauge; twelve columns for every kappa, heavy quarks first, in a run of
propagator by each solver. Iterations
are those of the slowest column, seconds those of all twelve together, and the error is the distance from
a solution to the residual --error: |x - y| / |y| over |b - M x| / |b|, mean over columns. The table goes
to the standard output, in Markdown. Null vectors are set up once, for the heaviest quark of the run by multigrid, and
kept from a mass to the next unless they are bad there: the column of the set-up says what was done. They serve the
better solutions too. What does not converge is in the table and says so. With three masses or
more: the critical kappa, where the square of the pion's mass, linear in 1/kappa through the three lightest of
those that fall with 1/kappa (that of one configuration may rise again near the end), is 0;
the mass is the mean of the effective masses of the middle half of all times, of this one configuration.
"""
import json
import math
import pathlib
import statistics
import subprocess
import sys

import programs

SOLVERS = ("bicgstab", "mg")
NAMES = {"bicgstab": "BiCGStab", "mg": "multigrid"}
REFRESHES = {"keep": ", vectors kept", "refine": ", vectors refined", "anew": ", anew"}
COLOURS = {"bicgstab": "#d55e00", "mg": "#0072b2"}


def propagator(study, kappas, solver):
    """The JSON of a run of propagator for every kappa. Multigrid comes first and leaves its null vectors for the other one."""
    o = study.o
    report, vectors = (study.work / f"{o.out.stem}.{end}" for end in ("run", "null"))
    report.unlink(missing_ok=True)
    if solver == "mg":
        vectors.unlink(missing_ok=True)
    command = study.command("propagator") + ["--gauge", str(study.gauge), "--kappa", kappas, "--csw", o.csw]
    command += ["--solver", solver, "--tol", o.tol, "--error", o.error, "--precision", o.precision, "--columns", o.columns]
    command += ["--max-iterations", o.max_iterations, "--baryons", "none", "--json", str(report)]
    command += o.multigrid.split() if solver == "mg" else []
    command += ["--save-multigrid" if solver == "mg" else "--load-multigrid", str(vectors)]
    status = subprocess.run(command, stdout=subprocess.DEVNULL).returncode
    # Status 3: a solve has not converged.
    if status not in (0, 3):
        sys.exit(f"{' '.join(command)}: status {status}")
    run = json.loads(report.read_text())
    report.unlink()
    if solver != "mg":
        vectors.unlink()
    return run.get("runs", [run])


def entry(run, solver):
    s = run["solver"]
    ratios = [e / r for e, r in zip(s["errors"], s["residuals"])]
    result = {"solver": solver, "finished": "mg" if s["name"] == "multigrid" else s["name"], "kappa": run["action"]["kappa"], "mass": run["action"]["mass"],
              "converged": s["converged"], "iterations": s["iterations"], "seconds": s["seconds"],
              "residual": s["residual"], "error_over_residual": statistics.fmean(ratios)}
    if solver == "mg":
        result["setup_seconds"] = run["multigrid"]["setup_seconds"]
        result["refresh"] = run["multigrid"]["refresh"]
        result["levels"] = run["multigrid"]["levels"]
        masses = run["effective_mass"]["pion"]
        middle = [m for m in masses[len(masses) // 4:3 * len(masses) // 4 + 1] if m is not None]
        result["pion_mass"] = statistics.fmean(middle) if middle else None
    return result


def pairs(study):
    """Runs by kappa, heavy quarks first."""
    found = {}
    for run in study["runs"]:
        found.setdefault(run["kappa"], {})[run["solver"]] = run
    return [found[kappa] for kappa in sorted(found) if len(found[kappa]) == len(SOLVERS)]


def critical_kappa(study):
    """From the squares of pion masses, or None."""
    runs = [pair["mg"] for pair in pairs(study) if pair["mg"]["converged"] and pair["mg"]["pion_mass"]]
    runs = sorted(runs, key=lambda run: run["kappa"])
    while len(runs) > 1 and runs[-1]["pion_mass"] >= runs[-2]["pion_mass"]:
        runs.pop()
    runs = runs[-3:]
    if len(runs) < 3:
        return None
    x, y = [1 / run["kappa"] for run in runs], [run["pion_mass"] ** 2 for run in runs]
    mean_x, mean_y = statistics.fmean(x), statistics.fmean(y)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)
    return slope / (slope * mean_x - mean_y) if slope > 0 else None


def setup(run):
    """Seconds, and what became of the null vectors of the mass before."""
    return f"{run['setup_seconds']:.3g}" + REFRESHES.get(run.get("refresh"), "")


def row(*cells):
    print("| " + " | ".join(cells) + " |")


def table(study):
    print(f"\n{'·'.join(map(str, study['lattice']))}, plaquette {study['plaquette']:.6f}, csw {study['csw']}, "
          f"residual {study['tol']}, {study['device']}, {study['seconds']:.0f} s in all\n")
    critical = study.get("kappa_critical")
    masses = ["a m"] if critical else []
    row("κ", *masses, "solver", "iterations", "seconds", "set-up, seconds", "error/residual", "faster by")
    row(*["---"] * (7 + len(masses)))
    for pair in pairs(study):
        for solver in SOLVERS:
            run = pair[solver]
            mass = [f"{(1 / run['kappa'] - 1 / critical) / 2:.5f}"] if critical else []
            name = NAMES[solver]
            if run["finished"] != solver:
                name += f", finished by {run['finished']}"
            row(f"{run['kappa']:.6g}", *mass, name, str(run["iterations"]) + ("" if run["converged"] else ", not converged"),
                f"{run['seconds']:.3g}", setup(run) if solver == "mg" else "–",
                f"{run['error_over_residual']:.1f}",
                f"{pair['bicgstab']['seconds'] / run['seconds']:.1f}" if solver == "mg" else "–")
    found = critical_kappa(study)
    if found:
        masses = ", ".join(f"{pair['mg']['pion_mass']:.4f} ({pair['mg']['kappa']:.6g})" for pair in pairs(study)
                           if pair["mg"]["pion_mass"])
        print(f"\nPion masses (κ): {masses}; κ_c = {found:.5f}")


def decades(values):
    """Powers of ten that enclose positive numbers."""
    low = 10.0 ** math.floor(math.log10(min(values)))
    return low, max(10.0 ** math.ceil(math.log10(max(values))), 10 * low)


def panel(out, study, key, label, top):
    """A panel over kappa with a logarithmic axis of values."""
    left, width, height = 70, 400, 150
    runs = [run for pair in pairs(study) for run in pair.values()]
    kappas = [run["kappa"] for run in runs]
    least, most = min(kappas), max(kappas)
    low, high = decades([run[key] for run in runs])

    def x(kappa):
        return left + width * (0.05 + 0.9 * ((kappa - least) / (most - least) if most > least else 0.5))

    def y(value):
        return top + height * (1 - math.log(value / low) / math.log(high / low))

    out.append(f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#000"/>')
    tick = low
    while tick < high * 1.5:
        out.append(f'<path d="M{left} {y(tick):.1f}h{width}" stroke="#ccc" stroke-width="0.5"/>')
        out.append(f'<text x="{left - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
        tick *= 10
    middle = top + height / 2
    out.append(f'<text transform="translate(16 {middle})rotate(-90)" text-anchor="middle">{label}</text>')
    for solver in SOLVERS:
        points = [(x(pair[solver]["kappa"]), y(pair[solver][key])) for pair in pairs(study)]
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[solver]}" stroke-width="1.5"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{COLOURS[solver]}"/>' for a, b in points]
    return x, top + height


def plot(study, path):
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="500" height="590" viewBox="0 0 500 590" '
           'font-family="sans-serif" font-size="11">', '<rect width="500" height="590" fill="#fff"/>']
    for n, solver in enumerate(SOLVERS):
        out.append(f'<text x="{90 + 110 * n}" y="18" fill="{COLOURS[solver]}">● {NAMES[solver]}</text>')
    keys = (("iterations", "iterations"), ("seconds", "seconds"), ("error_over_residual", "error / residual"))
    for n, (key, label) in enumerate(keys):
        x, bottom = panel(out, study, key, label, 30 + 170 * n)
    last = -math.inf
    for kappa in sorted(pair["mg"]["kappa"] for pair in pairs(study)):
        # Labels that would overlap the one before are left out.
        if x(kappa) - last > 36:
            last = x(kappa)
            out.append(f'<text x="{last:.1f}" y="{bottom + 16}" text-anchor="middle">{kappa:.6g}</text>')
    lattice = "·".join(map(str, study["lattice"]))
    out.append(f'<text x="270" y="{bottom + 36}" text-anchor="middle">κ, {lattice}, csw {study["csw"]}</text>')
    out.append("</svg>")
    path.write_text("\n".join(out) + "\n")


def show(result, path):
    if pairs(result):
        table(result)
        if path:
            plot(result, path)


def main():
    p = programs.parser(__doc__, "16,16,16,32", None, runs=False)
    p.set_defaults(beta="6.0")
    p.add_argument("--gauge", type=pathlib.Path, help="a configuration that there is, in place of --lattice and --beta")
    p.add_argument("--kappa", default="0.13,0.1325,0.134,0.1345", help="list of hopping parameters (0.13,0.1325,0.134,0.1345)")
    p.add_argument("--kappa-critical", type=float, help="for a column with quark masses (1/kappa - 1/kappa_c)/2")
    p.add_argument("--csw", default="1.769")
    p.add_argument("--tol", default="1e-10", help="residual (1e-10)")
    p.add_argument("--error", default="1e-13", help="residual of the better solutions (1e-13)")
    p.add_argument("--precision", default="single", help="of the iteration inside double (single)")
    p.add_argument("--columns", default="12", help="right-hand sides at a time (12)")
    p.add_argument("--max-iterations", default="100000")
    p.add_argument("--multigrid", default="", help="options of propagator for the runs by multigrid, such as '--mg-smoother red-black'")
    p.add_argument("--plot", type=pathlib.Path, help="SVG file")
    p.add_argument("--from", dest="finished", type=pathlib.Path, help="JSON of a study: its table and plot again, without runs")
    o = p.parse_args()
    if not o.finished and not o.out:
        p.error("expected --out or --from")
    if o.finished:
        show(json.loads(o.finished.read_text()), o.plot)
        return
    study = programs.Study("multigrid", o)
    study.result.update({"csw": float(o.csw), "tol": float(o.tol), "kappa_critical": o.kappa_critical})
    if o.gauge:
        study.result["beta"] = None
    for solver in "mg", "bicgstab":
        if study.left() <= 0:
            break
        for run in propagator(study, o.kappa, solver):
            study.result.update({"version": run["version"], "device": run["device"], "lattice": run["gauge"]["lattice"],
                                 "plaquette": run["plaquette"]["total"]})
            study.result["runs"].append(entry(run, solver))
        study.write()
    show(study.result, o.plot)


if __name__ == "__main__":
    main()
