#!/usr/bin/env python3
"""Tables (Markdown, standard output) and figures (SVG) of the studies.

usage: plots.py [--figures FOLDER] STUDY.json...

Figures need matplotlib; without --figures there are none.
"""
import argparse
import json
import math
import pathlib
import statistics
import sys


def size(study):
    lattice = study["lattice"]
    return f"{lattice[0]}⁴" if len(set(lattice)) == 1 else "·".join(map(str, lattice))


def file_of(study):
    return f"{study['study']}-{'x'.join(map(str, study['lattice']))}.svg"


def heading(study):
    return (f"\n{size(study)}, β = {study['beta']}, plaquette {study['plaquette']:.6f}, {study['device']}, "
            f"{study['seconds']:.0f} s in all\n")


def row(*cells):
    print("| " + " | ".join(cells) + " |")


def head(*cells):
    row(*cells)
    row(*("---" for _ in cells))


def converged(run):
    return [c for c in run["copies"] if c["converged"]]


def mean_error(values, digits):
    if not values:
        return "–"
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{statistics.fmean(values):.{digits}f} ± {error:.{digits}f}"


def seconds_each(run):
    return f"{statistics.fmean(c['seconds'] for c in run['copies']):.2f}" if run["copies"] else "–"


def mag_table(study):
    head("updates", "copies", "converged", "sweeps of these, annealing included", "F of these", "best F",
         "seconds a copy, all")
    for run in study["runs"]:
        good = converged(run)
        f = [c["functional"] for c in good]
        row(run["name"], str(len(run["copies"])), str(len(good)),
            mean_error([run["annealing"] + c["iterations"] for c in good], 0), mean_error(f, 6),
            f"{max(f):.8f}" if f else "–", seconds_each(run))


def best(study):
    return max(c["functional"] for run in study["runs"] for c in converged(run))


def relative(study, run):
    top = best(study)
    return [(top - c["functional"]) / top for c in converged(run)]


def landau_table(study):
    head("annealing", "copies", "converged", "F_rel", "within 1e-6 of the best", "seconds a copy, all")
    for run in study["runs"]:
        f = relative(study, run)
        mean = mean_error([1e4 * x for x in f], 2) + " · 1e-4" if f else "–"
        row(run["name"], str(len(run["copies"])), str(len(f)), mean, str(sum(x < 1e-6 for x in f)), seconds_each(run))


def accuracy_table(study):
    head("sweeps", "iterations", "seconds", "F − F of double", "θ", "largest \\|U U† − 1\\|", "change of the plaquette")
    double = next(run for run in study["runs"] if run["name"] == "double")
    for run in study["runs"]:
        change = run["plaquette_after"]["total"] - run["plaquette_before"]["total"]
        row(run["name"], str(run["iterations"]), f"{run['seconds']:.2f}",
            f"{run['functional'] - double['functional']:.1e}", f"{run['theta']:.1e}",
            f"{run['unitarity']['unitary']:.1e}", f"{change:.1e}")


def histograms(pyplot, study, values, label):
    """One panel per kind of run, with the same bins."""
    runs = [run for run in study["runs"] if converged(run)]
    lists = [values(run) for run in runs]
    low, high = min(map(min, lists)), max(map(max, lists))
    bins = [low + (high - low or 1) * n / 25 for n in range(26)]
    figure, panels = pyplot.subplots(len(runs), 1, sharex=True, figsize=(5, 1 + 1.2 * len(runs)), squeeze=False)
    for axes, run, list_ in zip(panels[:, 0], runs, lists):
        axes.hist(list_, bins)
        axes.set_ylabel("copies")
        axes.set_title(f"{run['name']}, {len(list_)} copies", fontsize="small")
    panels[-1, 0].set_xlabel(label)
    panels[-1, 0].locator_params(axis="x", nbins=5)
    return figure


def mag_figure(pyplot, study):
    return histograms(pyplot, study, lambda run: [c["functional"] for c in converged(run)], f"F, {size(study)}")


def landau_figure(pyplot, study):
    return histograms(pyplot, study, lambda run: relative(study, run), f"(F_max − F) / F_max, {size(study)}")


def thinned(history, n=150):
    """Rows about evenly spaced in the logarithm of the iteration."""
    last, kept = history[-1][0], []
    for entry in history:
        if entry[0] and (not kept or entry[0] >= kept[-1][0] * last ** (1 / n)):
            kept.append(entry)
    return kept


def accuracy_figure(pyplot, study):
    figure, (above, below) = pyplot.subplots(2, 1, sharex=True, figsize=(5, 5))
    top = next(run for run in study["runs"] if run["name"] == "double")["functional"]
    for run, style in zip(study["runs"], ("-", "--", ":")):
        rows = thinned(run["history"])
        iterations = [r[0] for r in rows]
        above.loglog(iterations, [abs(top - r[1]) or math.nan for r in rows], style, label=run["name"])
        below.loglog(iterations, [r[2] or math.nan for r in rows], style)
    above.set_ylabel("|F of double at the end − F|")
    above.legend()
    below.set_ylabel("θ")
    below.set_xlabel(f"iterations, {size(study)}")
    return figure


KINDS = {"mag_copies": (mag_table, mag_figure), "landau_copies": (landau_table, landau_figure),
         "accuracy": (accuracy_table, accuracy_figure)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--figures", type=pathlib.Path)
    options = parser.parse_args()
    pyplot = None
    if options.figures:
        try:
            import matplotlib
        except ImportError:
            sys.exit("plots.py: --figures needs matplotlib")
        matplotlib.use("svg")
        matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "plaq", "font.size": 9})
        from matplotlib import pyplot
    for file in options.files:
        study = json.loads(file.read_text())
        table, figure = KINDS[study["study"]]
        print(heading(study))
        table(study)
        if pyplot:
            drawn = figure(pyplot, study)
            drawn.tight_layout()
            drawn.savefig(options.figures / file_of(study), metadata={"Date": None})


if __name__ == "__main__":
    main()
