"""HDF5 files of the program."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import plaq
from common import close

#: The program's main function, which the library has.
PROGRAM = """
import ctypes, sys
words = [word.encode() for word in ["plaq", *sys.argv[2:]]]
sys.exit(ctypes.CDLL(sys.argv[1]).plaq_program_main(len(words), (ctypes.c_char_p * len(words))(*words)))
"""


def run(*words):
    """The program's exit status and what it said on stderr; libhdf5 is that of h5py's wheel where there is one."""
    import h5py

    wheel = Path(h5py.__file__).resolve().parent.parent / "h5py.libs"
    found = sorted(wheel.glob("libhdf5-*.so*")) + sorted(wheel.glob("libhdf5.so*"))
    env = {**os.environ, **({"PLAQ_HDF5": str(found[0])} if found else {})}
    library = os.environ.get("PLAQ_LIBRARY") or str(plaq.library)
    command = [sys.executable, "-c", PROGRAM, library, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    return done.returncode, done.stderr


def test_correlators_of_the_program():
    with tempfile.TemporaryDirectory() as folder:
        names = [Path(folder) / f"links.{k}" for k in (1, 2)]
        for k, name in enumerate(names):
            links = plaq.Gauge((4, 4, 4, 8))
            links.heatbath(5.9, 3, seed=k)
            links.write(name)
        to, beside = Path(folder) / "out.h5", Path(folder) / "out.json"
        words = ["propagator", *names, "--kappa", "0.12", "--baryons", "nucleon,delta", "--momenta", "0,0,0:1,0,0"]
        words += ["--tol", "1e-11", "--device", "cpu", "--hdf5", to]
        code, said = run(*words, "--json", beside)
        assert code == 0, said
        found, about = plaq.read(to), json.loads(beside.read_text())
        pion = found["mesons/ll/p_0_0_0/5"]
        assert isinstance(pion, plaq.Correlator) and pion.data.shape == (2, 8) and pion.form == "cosh"
        assert pion.configurations == [1, 2] and len(found) == 2 * (16 + 2)
        for entry in about["mesons"]:
            name = ["1", "X", "Y", "XY", "Z", "XZ", "YZ", "T5", "T", "XT", "YT", "Z5", "ZT", "Y5", "X5", "5"][entry["gamma"]]
            assert plaq.gamma.number(name) == entry["gamma"]
            path = "_".join(map(str, entry["momentum"]))
            mean = np.array(entry["re"]) + 1j * np.array(entry["im"])
            close(found[f"mesons/ll/p_{path}/{name}"].data.mean(axis=0), mean, 1e-14)
        for entry in about["baryons"]:
            one = found[f"baryons/p_{'_'.join(map(str, entry['momentum']))}/{entry['name']}"]
            close(one.data.mean(axis=0).real, np.array(entry["re"]), 1e-14)
            assert one.form == "log"
        direct = plaq.Wilson(plaq.open(names[1]), kappa=0.12).propagator((0, 0, 0, 0), tol=1e-11).pion()
        close(pion.data[1].real, direct.data[0], 1e-8)
        code, said = run(*words)
        assert code != 0 and "exists" in said, said


def test_a_missing_library_is_said_before_the_work():
    with tempfile.TemporaryDirectory() as folder:
        name = Path(folder) / "links"
        plaq.Gauge((4, 4, 4, 4)).write(name)
        library = os.environ.get("PLAQ_LIBRARY") or str(plaq.library)
        to = Path(folder) / "out.h5"
        words = ["propagator", name, "--kappa", "0.12", "--device", "cpu", "--hdf5", to]
        command = [sys.executable, "-c", PROGRAM, library, *map(str, words)]
        env = {**os.environ, "PLAQ_HDF5": "/no/libhdf5.so"}
        done = subprocess.run(command, capture_output=True, text=True, env=env)
        assert done.returncode != 0 and "PLAQ_HDF5=/no/libhdf5.so" in done.stderr and not to.exists(), done.stderr


def test_distillation_of_the_program():
    with tempfile.TemporaryDirectory() as folder:
        links, to, modes = (Path(folder) / name for name in ("links", "tau.h5", "modes.lime"))
        U = plaq.Gauge((4, 4, 4, 8))
        U.heatbath(5.9, 3, seed=1)
        U.write(links)
        common = ["distillation", links, "--kappa", "0.12", "--csw", "1.1", "--tol", "1e-11", "--device", "cpu", "--out", to]
        words = [*common, "--modes", "4", "--steps", "2", "--modes-tol", "1e-13", "--momenta", "0,0,0:0,0,1"]
        words += ["--operators", "1:dx,+y", "--baryons"]
        code, said = run(*words, "--times", "3", "--save-modes", modes)
        assert code == 0, said
        V, D = plaq.Modes.load(modes, U), plaq.Clover(U, kappa=0.12, csw=1.1)
        assert V.report.steps == 2 and V.count == 4
        # The other time is added to the file, with what is there kept.
        code, said = run(*common, "--times", "3,6", "--load-modes", modes, "--continue", "--json", Path(folder) / "out.json")
        assert code == 0, said
        about = json.loads((Path(folder) / "out.json").read_text())
        assert about["times"] == [6]
        page = (Path(__file__).parents[2] / "docs" / "json.md").read_text().split("## distillation")[1].split("\n## ")[0]
        assert all(f"`{key}`" in page for key in about if key not in ("subcommand", "schema"))
        found = plaq.read(to)
        tau = V.perambulators(D, [3, 6], tol=1e-11)
        assert found["perambulators"].times == [3, 6]
        close(found["perambulators"].numbers, tau.numbers, 1e-9)
        close(found["mesons"], V.mesons([(0, 0, 0), (0, 0, 1)], ["", "dx +y"]), 1e-12)
        close(found["baryons"], V.baryons([(0, 0, 0), (0, 0, 1)]), 1e-12)
        close(found["values"], V.values, 1e-14)
        # Another quark is refused, as is a file that is there, and nothing is changed.
        before = to.read_bytes()
        code, said = run(*[w if w != "0.12" else "0.11" for w in common], "--load-modes", modes, "--continue", "--times", "3")
        assert code == 1 and "perambulators/t3: kappa: expected 0.11, found 0.12" in said, said
        code, said = run(*words)
        assert code == 1 and "tau.h5: exists; go on with --continue yes and its modes (--load-modes), or" in said, said
        for more, wanted in (["--times", "8"], "times 0 to 7"), (["--operators", "dw"], "--operators"), (["--continue"], "--load-modes"):
            code, said = run(*words, "--overwrite", *more)
            assert code == 2 and wanted in said, said
        # An output is no input, elementals are those of the file, and what has not converged is not kept.
        code, said = run(*words, "--overwrite", "--json", links)
        assert code == 2 and "it is the file of --gauge" in said, said
        again = [*common, "--load-modes", modes, "--continue"]
        code, said = run(*again, "--times", "3", "--momenta", "1,0,0")
        assert code == 1 and "mesons: elementals: expected" in said, said
        code, said = run(*again, "--times", "5", "--max-iterations", "2")
        assert code == 3, said
        assert to.read_bytes() == before
        assert plaq.read(to)["perambulators"].times == [3, 6]


def test_loops_of_the_program():
    with tempfile.TemporaryDirectory() as folder:
        links, to, beside = (Path(folder) / name for name in ("links", "loops.h5", "loops.json"))
        U = plaq.Gauge((4, 4, 4, 4))
        U.heatbath(5.9, 3, seed=1)
        U.write(links)
        words = ["loops", links, "--kappa", "0.12", "--space", "eigen", "--modes", "4", "--dilute", "spin,colour"]
        words += ["--vectors", "2", "--lines", "local:+z", "--device", "cpu", "--hdf5", to, "--json", beside]
        code, said = run(*words)
        assert code == 0, said
        found, about = plaq.read(to), json.loads(beside.read_text())
        mean, error = found["loops/mean"], found["loops/error"]
        assert mean.shape == (1, 2, 16, 1, 4) == error.shape and np.abs(error).max() > 0
        numbers = np.array([np.array(one["re"]) + 1j * np.array(one["im"]) for one in about["loops"]])
        close(mean.reshape(32, 4), numbers, 1e-14)
        assert [one["gamma"] for one in about["loops"]] == 2 * list(range(16))
        code, said = run(*words)
        assert code == 1 and "exists" in said, said
        # Of several configurations each, and averages; names of Gammas are those of plaq.gamma.
        second, sums = Path(folder) / "second", Path(folder) / "sums"
        U.heatbath(5.9, 3, seed=1)
        U.write(second)
        words = ["loops", links, second, "--kappa", "0.12", "--csw", "1.1", "--mu", "0.2", "--one-end", "--device", "cpu"]
        words += ["--momenta", "0,0,0:0,1,0", "--hdf5", to, "--json", beside, "--overwrite"]
        code, said = run(*words, "--vectors", "2", "--state", sums)
        assert code == 0, said
        found, about = plaq.read(to), json.loads(beside.read_text())
        mean = found["loops/mean"]
        assert mean.shape == (2, 1, 16, 2, 4) and found["current/mean"].shape == (2, 4, 2, 4)
        names = [one["name"] for one in about["runs"][0]["loops"]][::2]
        assert [plaq.gamma.number(name) for name in names] == list(range(16))
        average = np.array(about["averages"]["loops"][0]["re"])
        close(average, mean[:, 0, 0, 0].real.mean(axis=0), 1e-14)
        for k, name in enumerate((links, second)):
            U = plaq.open(name)
            D = plaq.Twisted(U, kappa=0.12, csw=1.1, mu=0.2)
            L = D.loops(U, vectors=2, one_end=True, momenta=[(0, 0, 0), (0, 1, 0)], tol=1e-10)
            close(mean[k], L.mean(), 1e-8)
            assert Path(f"{sums}.{Path(name).name}").exists()
        code, said = run(*words, "--vectors", "3", "--state", sums, "--continue")
        assert code == 0, said
        code, said = run(*words, "--vectors", "3", "--state", sums, "--continue", "--mu", "0.3")
        assert code == 2 and "twice" in said, said
        words[words.index("0.2")] = "0.3"
        code, said = run(*words, "--vectors", "3", "--state", sums, "--continue")
        assert code == 1 and "factor: expected 0 -0.6, found 0 -0.4" in said, said


def test_outputs_are_no_other_files():
    with tempfile.TemporaryDirectory() as folder:
        links, other = Path(folder) / "b.00002", Path(folder) / "other"
        plaq.Gauge((4, 4, 4, 4)).write(links)
        before, spelt = links.read_bytes(), Path(folder) / ".." / Path(folder).name / "b.00002"
        new = ["--overwrite", "--device", "cpu"]
        for words, named in (
            (["convert", links, "--out", spelt], "--out: .*--gauge"),
            (["gaugefix", links, "--out", other, "--json", other], "--json: .*--out"),
            (["gaugefix", links, "--history", links], "--history: .*--gauge"),
            (["flow", links, "--json", links], "--json: .*--gauge"),
            (["plaquette", links, "--json", links], "--json: .*--gauge"),
            (["gluon", links, "--json", links], "--json: .*--gauge"),
            (["overlap", links, "--save-modes", links], "--save-modes: .*--gauge"),
            (["loops", links, "--kappa", "0.12", "--vectors", "1", "--state", links], "--state: .*--gauge"),
            (["distillation", links, "--out", other, "--json", other], "--json: .*--out"),
            (["propagator", links, "--kappa", "0.12", "--save", links], "--save: .*--gauge"),
            (["propagator", links, "--kappa", "0.12,0.13", "--save", Path(folder) / "S", "--json", Path(folder) / "S.0.12"], "--save: .*--json"),
            (["heatbath", "--lattice", "4,4,4,4", "--beta", "6", "--start", links, "--out", Path(folder) / "b", "--configurations", "3"], "configurations would be written to .*--start"),
        ):
            code, said = run(*words, *new)
            assert code == 2 and re.search(named, said), (words, code, said)
        toml = Path(folder) / "chain.toml"
        text = 'beta = 6.0\n[run]\nlattice = [4, 4, 4, 4]\ncheckpoint = "%s"\nlog = "%s"\nconfigurations = "%s"\n'
        for checkpoint, log, prefix, named in (
            (toml, other, "", "run.checkpoint: .*--input"),
            (other, other, "", "--log: .*run.checkpoint"),
            (other, "", Path(folder) / "b", "run.configurations: .*--start"),
        ):
            toml.write_text(text % (checkpoint, log, prefix))
            code, said = run("hmc", toml, "--start", links, "--overwrite", "--device", "cpu")
            assert code == 2 and re.search(named, said), (code, said)
        assert links.read_bytes() == before and not other.exists()
