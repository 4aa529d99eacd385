"""What the studies share: options, configurations by heatbath, runs of gaugefix within a time limit.

Python's standard library is enough. The programs are those of --bin, else of the kit's bin/ beside
this folder, else of build/release/bin or build/dev/bin.
"""
import argparse
import json
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def parser(doc, lattice, copies, runs=True):
    """`runs`: the study cannot do without, and --out is required."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--lattice", default=lattice, help=f"X,Y,Z,T ({lattice})")
    p.add_argument("--beta", default="5.7")
    if copies:
        p.add_argument("--copies", type=int, default=copies, help=f"of each kind ({copies})")
        p.add_argument("--chunk", type=int, default=10, help="copies of one run of gaugefix (10)")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--thermalise", default="300", help="sweeps of heatbath from a hot start (300)")
    where(p)
    p.add_argument("--out", type=pathlib.Path, required=runs, help="JSON file")
    return p


def where(p):
    """Options that say where the program runs, and until when."""
    p.add_argument("--seconds", type=float, default=1e9, help="of runs, after which the study ends with what it has")
    p.add_argument("--bin", type=pathlib.Path, help="folder of the program plaq")
    p.add_argument("--device", default="auto")
    p.add_argument("--threads", default="0")
    p.add_argument("--work", type=pathlib.Path, help="folder of configurations and logs (that of --out)")


class Runs:
    """Runs of the program plaq until the time is over, and what comes of them, for the JSON file."""
    seconds = "seconds"

    def __init__(self, options, result):
        self.o = options
        self.work = options.work or options.out.parent
        places = [HERE.parent / "bin"] + [HERE.parent.parent / "build" / kind / "bin" for kind in ("release", "dev")]
        found = [options.bin] if options.bin else [p for p in places if (p / "plaq").exists()]
        if not found:
            sys.exit("no plaq found: build it (make) or name its folder with --bin")
        self.bin = found[0].resolve()
        for folder in self.work, options.out.parent:
            folder.mkdir(parents=True, exist_ok=True)
        self.result = result
        self.begun = time.monotonic()

    def left(self):
        return self.o.seconds - (time.monotonic() - self.begun)

    def command(self, name):
        return [str(self.bin / "plaq"), name, "--device", self.o.device, "--threads", self.o.threads]

    def write(self):
        self.result[self.seconds] = time.monotonic() - self.begun
        self.o.out.write_text(json.dumps(self.result, indent=1) + "\n")


class Study(Runs):
    def __init__(self, name, options):
        lattice = [int(n) for n in options.lattice.split(",")]
        super().__init__(options, {"study": name, "lattice": lattice, "beta": float(options.beta), "runs": []})
        self.gauge = self.configuration()
        self.begun = time.monotonic()

    def configuration(self):
        """One quenched configuration, made unless it is there or --gauge names one."""
        o = self.o
        if getattr(o, "gauge", None):
            return o.gauge
        stem = self.work / f"b{o.beta}-{o.lattice.replace(',', 'x')}-s{o.seed}-{o.thermalise}"
        path = stem.with_name(stem.name + ".00001")
        if not path.exists():
            heatbath = self.command("heatbath") + ["--lattice", o.lattice, "--beta", o.beta, "--seed", str(o.seed)]
            heatbath += ["--thermalise", o.thermalise, "--out", str(stem), "--format", "nersc"]
            subprocess.run(heatbath, check=True)
        return path

    def gaugefix(self, arguments):
        """Runs gaugefix; its JSON without a copy that the time limit cut short, and its history."""
        report, history = (self.work / f"{self.o.out.stem}.{end}" for end in ("run", "history"))
        for file in report, history:
            file.unlink(missing_ok=True)
        command = self.command("gaugefix") + ["--gauge", str(self.gauge), "--json", str(report)] + arguments
        if "--history" in arguments:
            command[command.index("--history") + 1] = str(history)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                process.wait(max(self.left(), 1))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
        # Status 3: something did not converge.
        if process.returncode not in (0, 3):
            sys.exit(f"{' '.join(command)}: status {process.returncode}")
        run = json.loads(report.read_text())
        if run["stopped"]:
            run["copies"].pop()
        rows = [line.split() for line in history.read_text().splitlines()[1:]] if history.exists() else []
        for key in "version", "device":
            self.result[key] = run[key]
        self.result["plaquette"] = run["plaquette_before"]["total"]
        return run, rows

    def copies(self, kinds):
        """Random copies of every kind (name, arguments, sweeps of its annealing), chunk by chunk, so
        that kinds have about as many where time runs out."""
        o = self.o
        runs = [{"name": name, "arguments": arguments, "annealing": sweeps, "copies": []}
                for name, arguments, sweeps in kinds]
        self.result["runs"] = runs
        for first in range(0, o.copies, o.chunk):
            for run in runs:
                if self.left() <= 0:
                    break
                count = min(o.chunk, o.copies - first)
                start = ["--random-start", "yes", "--copies", str(count), "--seed", str(o.seed + first)]
                run["copies"] += self.gaugefix(start + run["arguments"])[0]["copies"]
                print(f"{run['name']}: {len(run['copies'])} copies, {time.monotonic() - self.begun:.0f} s", flush=True)
                self.write()
