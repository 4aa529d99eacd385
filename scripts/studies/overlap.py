#!/usr/bin/env python3
"""The overlap operator on quenched configurations: index, charge, susceptibility, Ward identity, locality, cost, solvers.

usage: overlap.py index|ward|locality|cost|solvers --out FILE [--lattice X,Y,Z,T] [--beta B] [--configurations N] ...

index:    the index of every configuration beside the charge of its field after flow to --flow-time, and the
          susceptibility (sum of Q^2) / (N V) of both.
ward:     m (sum of the pion's correlator) over the trace of the propagator at its source, which is 1 on every
          configuration and for every mass as D obeys the Ginsparg-Wilson relation (integrated axial Ward
          identity, Gell-Mann-Oakes-Renner), and the condensate, mean over configurations.
locality: the largest |D eta|(x) at taxi distances from a point source eta, mean over configurations
          (hep-lat/9808010); --plot FILE.svg draws it, with the rate of its decay.
cost:     for each of --lattices: modes, degree for each of --deltas, seconds of an application per site
          and degree and of the modes per site and mode (J. C. Walk, sections 5.2: Figs. 5.4 and 5.5).
solvers:  twelve columns for each of --lattices and masses by each of the solvers: iterations, seconds and, of one
          thread, seconds of the processor, which other programs do not disturb. A run with the same modes and
          without propagators is subtracted. --low modes of either chirality are taken out of the start.
Configurations come from heatbath. Tables go to the standard output, in Markdown; errors are those of the mean
over independent configurations. With --seconds a study ends with the configurations that it has by then.
"""
import argparse
import json
import math
import pathlib
import resource
import statistics
import subprocess
import sys

import programs


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("study", choices=["index", "ward", "locality", "cost", "solvers"])
    p.add_argument("--out", type=pathlib.Path, required=True, help="JSON file")
    p.add_argument("--lattice", default="8,8,8,8")
    p.add_argument("--lattices", default="4,4,4,8:8,8,8,8", help="cost, solvers: several, with colons between")
    p.add_argument("--beta", default="5.9")
    p.add_argument("--configurations", type=int, default=10)
    p.add_argument("--separation", default="100", help="sweeps between configurations (100); 0: each from a hot start of its own")
    p.add_argument("--thermalise", default="300", help="sweeps from a hot start (300)")
    p.add_argument("--seed", default="1")
    p.add_argument("--mass", default="0.02,0.05,0.1", help="ward, solvers: quark masses")
    p.add_argument("--low", default="4", help="index, solvers: low modes of either chirality")
    p.add_argument("--delta", default="1e-7")
    p.add_argument("--tol", default="1e-6", help="ward, solvers: largest residual (1e-6)")
    p.add_argument("--deltas", default="1e-2,1e-5,1e-8", help="cost")
    p.add_argument("--s", default="0.4")
    p.add_argument("--smear-steps", default="1", help="stout steps of the kernel's links (1)")
    p.add_argument("--flow-time", default="4", help="index: in units of a^2")
    programs.where(p)
    p.add_argument("--plot", type=pathlib.Path, help="locality: SVG")
    return p.parse_args()


class Study(programs.Runs):
    def run(self, name, *arguments):
        """The JSON of a program's run; status 3 is one that did not converge."""
        report = self.work / f"{self.o.out.stem}.run"
        report.unlink(missing_ok=True)
        command = [*self.command(name), *arguments]
        if name != "heatbath":
            command += ["--json", str(report)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        status = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if status not in (0, 3):
            sys.exit(f"{' '.join(command)}: status {status}")
        if name == "heatbath":
            return None
        run = json.loads(report.read_text())
        report.unlink()
        self.result["device"] = run.get("device", self.result.get("device"))
        return run

    def configurations(self, lattice, count):
        """Files of an ensemble, made as they are asked for, so that a study may end early."""
        o = self.o
        stem = self.work / f"b{o.beta}-{lattice.replace(',', 'x')}-s{o.seed}"
        before = None
        for n in range(count):
            path = stem.with_name(f"{stem.name}-{n}.00001")
            if not path.exists():
                start = ["--lattice", lattice, "--thermalise", o.thermalise]
                if before and int(o.separation) > 0:
                    start = ["--start", str(before), "--thermalise", o.separation]
                seed = str(int(o.seed) + (1000 if int(o.separation) > 0 else 1) * n)
                self.run("heatbath", *start, "--beta", o.beta, "--seed", seed, "--out", str(path.with_suffix("")))
            before = path
            yield str(path)

    def overlap(self, gauge, task, *more):
        o = self.o
        return self.run("overlap", "--gauge", gauge, "--task", task, "--s", o.s, "--smear-links", f"stout,0.1,{o.smear_steps}", *more)


def row(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


def head(*cells):
    row(*cells)
    row(*("---" for _ in cells))


def mean(values):
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return statistics.fmean(values), error


def index(study):
    o = study.o
    volume = math.prod(int(n) for n in o.lattice.split(","))
    head("configuration", "index", "n+, n-", f"charge at t = {o.flow_time}", "least \\|λ\\|² that is not zero")
    for n, gauge in enumerate(study.configurations(o.lattice, o.configurations)):
        flow = study.run("flow", "--gauge", gauge, "--time", o.flow_time, "--step", "0.05", "--every", "1000")
        found = study.overlap(gauge, "index", "--low", o.low, "--delta", o.delta)
        charge = flow["flow"]["charge"][-1]
        zeros = found["overlap"]["zeros"]
        low = found["overlap"]["low"]
        rest = min(low["plus"][zeros[0]:] + low["minus"][zeros[1]:], default=math.nan)
        row(n, found["index"], f"{zeros[0]}, {zeros[1]}", f"{charge:.3f}", f"{rest:.4f}")
        study.result["configurations"].append({"index": found["index"], "zeros": zeros, "charge": charge,
                                               "low": low, "seconds": found["seconds"],
                                               "degree": found["operator"]["degree"]})
        study.write()
        if study.left() <= 0:
            break
    done = study.result["configurations"]
    equal = sum(c["index"] == round(c["charge"]) for c in done)
    print(f"\n{equal} of {len(done)}: the index is the charge, rounded.")
    for name, values in ("index", [c["index"] for c in done]), ("charge", [c["charge"] for c in done]):
        value, error = mean([q * q / volume for q in values])
        print(f"a^4 chi of the {name}: {value:.2e} +- {error:.1e}")


def ward(study):
    o = study.o
    for gauge in study.configurations(o.lattice, o.configurations):
        found = study.overlap(gauge, "propagator", "--mass", o.mass, "--low", o.low, "--delta", o.delta, "--tol", o.tol)
        entries = [{"mass": c["mass"], "sum": c["mass"] * sum(c["pion"]), "condensate": c["condensate"],
                    "pion": c["pion"]} for c in found["correlators"]]
        study.result["configurations"].append({"masses": entries, "index": found.get("index"), "solver": found["solver"],
                                               "seconds": found["seconds"]})
        study.write()
        if study.left() <= 0:
            break
    done = study.result["configurations"]
    head("m", "m Σ pion", "tr S(0,0)", "largest \\|ratio − 1\\|")
    for k in range(len(done[0]["masses"])):
        entries = [c["masses"][k] for c in done]
        sums, traces = mean([e["sum"] for e in entries]), mean([e["condensate"] for e in entries])
        worst = max(abs(e["sum"] / e["condensate"] - 1) for e in entries)
        row(entries[0]["mass"], *(f"{v:.5f} ± {e:.5f}" for v, e in (sums, traces)), f"{worst:.1e}")


def locality(study):
    o = study.o
    for gauge in study.configurations(o.lattice, o.configurations):
        found = study.overlap(gauge, "modes", "--delta", o.delta, "--locality", "yes")
        study.result["configurations"].append({"locality": found["locality"]})
        study.write()
        if study.left() <= 0:
            break
    rows = list(zip(*(c["locality"] for c in study.result["configurations"])))
    means = [mean(values) for values in rows]
    head("r", "largest \\|D η\\|")
    for r, (value, error) in enumerate(means):
        row(r, f"{value:.3e} ± {error:.0e}")
    # Distances at which the lattice does not yet close around the source.
    far = min(int(n) for n in o.lattice.split(",")) // 2 + 2
    points = [(r, math.log(means[r][0])) for r in range(2, min(far + 3, len(means)))]
    x, y = (statistics.fmean(p[i] for p in points) for i in (0, 1))
    rate = -sum((p[0] - x) * (p[1] - y) for p in points) / sum((p[0] - x) ** 2 for p in points)
    study.result["rate"] = rate
    print(f"\nexp(-{rate:.3f} r) for r = {points[0][0]} to {points[-1][0]}")
    if o.plot:
        o.plot.write_text(picture([m[0] for m in means], rate))


def picture(values, rate):
    low = math.floor(math.log10(min(values)))
    high = math.ceil(math.log10(max(values)))

    def at(r, value):
        return 60 + 420 * r / (len(values) - 1), 20 + 300 * (high - math.log10(value)) / (high - low)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="500" height="370" font-family="sans-serif" font-size="13">',
           '<rect width="500" height="370" fill="white"/>', '<path d="M60 20V320H480" fill="none" stroke="#444"/>']
    for k in range(low, high + 1):
        y = at(0, 10.0 ** k)[1]
        out.append(f'<path d="M55 {y:.1f}H60" stroke="#444"/><text x="50" y="{y + 4:.1f}" text-anchor="end">1e{k}</text>')
    for r in range(0, len(values), 2):
        x = at(r, values[0])[0]
        out.append(f'<path d="M{x:.1f} 320V325" stroke="#444"/><text x="{x:.1f}" y="340" text-anchor="middle">{r}</text>')
    out += ['<circle cx="{:.1f}" cy="{:.1f}" r="4" fill="#0072b2"/>'.format(*at(r, v)) for r, v in enumerate(values)]
    out.append(f'<text x="270" y="362" text-anchor="middle">taxi distance r</text><text x="300" y="40">largest |D η|, '
               f'decay {rate:.2f}</text></svg>')
    return "\n".join(out) + "\n"


def cost(study):
    o = study.o
    head("lattice", "modes", "interval of \\|Q\\|", "δ", "degree", "µs of an application per site and degree",
         "µs of the modes per site and mode", "Ginsparg–Wilson")
    for lattice in o.lattices.split(":"):
        sites = math.prod(int(n) for n in lattice.split(","))
        for gauge in study.configurations(lattice, 1):
            saved = study.work / f"{o.out.stem}.modes"
            saved.unlink(missing_ok=True)
            for k, delta in enumerate(o.deltas.split(",")):
                files = ["--save-modes", str(saved)] if k == 0 else ["--load-modes", str(saved)]
                found = study.overlap(gauge, "modes", "--delta", delta, *files)
                sign, modes = found["operator"], len(found["kernel"]["low"])
                seconds = found["seconds"]
                # The check of the Ginsparg-Wilson relation applies the operator twice.
                apply = seconds["ginsparg_wilson"] / 2 / sites / sign["degree"]
                searched = f"{1e6 * seconds['modes'] / sites / max(modes, 1):.1f}" if k == 0 else "–"
                row(lattice.replace(",", "·"), modes, f"{sign['low']:.3f} to {sign['high']:.2f}", delta, sign["degree"],
                    f"{1e6 * apply:.3f}", searched, f"{found['ginsparg_wilson']:.1e}")
                study.result["configurations"].append({"lattice": lattice, "modes": modes, "sign": sign,
                                                       "seconds": seconds, "violation": found["ginsparg_wilson"]})
                study.write()
            saved.unlink()


SOLVERS = [("cg", "none"), ("sumr", "none"), ("gcr", "none"), ("gcr", "wilson"), ("gcr", "multigrid"), ("auto", "none")]


def solvers(study):
    o = study.o
    head("lattice", "m", "solver", "iterations", "seconds", "of the processor", "residual")
    for lattice in o.lattices.split(":"):
        for gauge in study.configurations(lattice, 1):
            saved = study.work / f"{o.out.stem}.modes"
            saved.unlink(missing_ok=True)
            common = ["--delta", o.delta, "--low", o.low]
            study.overlap(gauge, "index", *common, "--save-modes", str(saved))
            common += ["--load-modes", str(saved)]
            for mass in o.mass.split(","):
                study.overlap(gauge, "index", "--mass", mass, *common)
                without = study.processor
                for solver, preconditioner in SOLVERS:
                    found = study.overlap(gauge, "propagator", "--mass", mass, "--tol", o.tol, "--solver", solver,
                                          "--preconditioner", preconditioner, *common)
                    taken, seconds = found["solver"], found["seconds"]["propagator"]
                    name = taken["name"] + ("" if taken["preconditioner"] == "none" else f", {taken['preconditioner']}")
                    name = f"auto: {name}" if solver == "auto" else name
                    row(lattice.replace(",", "·"), mass, name, taken["iterations"], f"{seconds:.2f}",
                        f"{study.processor - without:.2f}", f"{taken['residual']:.1e}")
                    study.result["configurations"].append(
                        {"lattice": lattice, "mass": mass, "solver": taken, "asked": solver, "seconds": seconds,
                         "processor": study.processor - without, "degree": found["operator"]["degree"]})
                    study.write()
                if study.left() <= 0:
                    break
            saved.unlink()


def main():
    o = options()
    study = Study(o, {"study": o.study, "beta": float(o.beta), "s": float(o.s), "smear_steps": int(o.smear_steps),
                      "configurations": []})
    print(f"# {o.study}, beta {o.beta}, {o.lattices if o.study in ('cost', 'solvers') else o.lattice}\n")
    {"index": index, "ward": ward, "locality": locality, "cost": cost, "solvers": solvers}[o.study](study)
    study.write()
    print(f"\n{study.result.get('device', '')}, {study.result['seconds']:.0f} s")


if __name__ == "__main__":
    main()
