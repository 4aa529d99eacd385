"""HDF5 files of the program."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import plaq
from common import close
from plaq.perambulators import BASES

#: The program's main function, which the library has.
PROGRAM = """
import ctypes, sys
words = [word.encode() for word in ["plaq", *sys.argv[2:]]]
sys.exit(ctypes.CDLL(sys.argv[1]).plaq_program_main(len(words), (ctypes.c_char_p * len(words))(*words)))
"""


def hdf5_of_the_wheel():
    """The environment with libhdf5 of h5py's wheel, where there is one."""
    import h5py

    wheel = Path(h5py.__file__).resolve().parent.parent / "h5py.libs"
    found = sorted(wheel.glob("libhdf5-*.so*")) + sorted(wheel.glob("libhdf5.so*"))
    return {**os.environ, **({"PLAQ_HDF5": str(found[0])} if found else {})}


def command(*words):
    library = os.environ.get("PLAQ_LIBRARY") or str(plaq.library)
    return [sys.executable, "-c", PROGRAM, library, *map(str, words)]


def run(*words, largest=None):
    """The program's exit status and what it said on stderr; `largest`: bytes that a file may have."""

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))

    before = limited if largest is not None else None
    done = subprocess.run(command(*words), capture_output=True, text=True, env=hdf5_of_the_wheel(), preexec_fn=before)
    return done.returncode, done.stderr


def from_c(program, *words):
    """Runs a text in Python that calls functions of C, with libhdf5 of the wheel."""
    library = {"PLAQ_LIBRARY": os.environ.get("PLAQ_LIBRARY") or str(plaq.library)}
    call = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.run(call, capture_output=True, text=True, env={**hdf5_of_the_wheel(), **library})


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
        import h5py

        with h5py.File(to) as file:
            for entry, means in (("mesons/ll/p_1_0_0/X", "-sum_x"), ("baryons/p_0_0_0/delta", "tr[P")):
                of = file[entry].attrs
                assert means in of["convention"] and of["spin_basis"] == "DeGrand-Rossi" and "t_source" in of["time"]
                for k, name in enumerate(names):
                    links = plaq.open(name)
                    assert abs(of["plaquette"][k] - links.plaquette().total) < 1e-12
                    known = plaq.modes(links, 1).about
                    for part in ("links_projection_re", "links_projection_im"):
                        assert abs(of[part][k] - known[part]) < 1e-9
        for entry in about["mesons"]:
            name = ["1", "X", "Y", "XY", "Z", "XZ", "YZ", "5T", "T", "XT", "YT", "Z5", "ZT", "5Y", "X5", "5"][entry["gamma"]]
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
        # The other source time is added to the file, whose contents are kept.
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
        # A file of another quark, and an existing file, are refused and not changed.
        before = to.read_bytes()
        more = [*common, "--load-modes", modes, "--continue", "--times", "3,5"]
        code, said = run(*more, largest=len(before) + 5000)
        assert code == 1 and "tau.h5" in said and "File too large" in said and to.read_bytes() == before, said
        others = Path(folder) / "others.lime"
        plaq.modes(U, 4, rho=0.12, steps=1, tol=1e-12).save(others)
        code, said = run(*common, "--load-modes", others, "--continue", "--times", "5")
        assert code == 1 and "values: stout_steps: expected 1, found 2" in said and to.read_bytes() == before, said
        code, said = run("distillation", links, "--modes", "4", "--rho", "0.12", "--out", Path(folder) / "new.h5")
        assert code == 2 and "--steps" in said, said
        code, said = run(*[w if w != "0.12" else "0.11" for w in common], "--load-modes", modes, "--continue", "--times", "3")
        assert code == 1 and "perambulators/t3: kappa: expected 0.11, found 0.12" in said, said
        code, said = run(*words)
        assert code == 1 and "tau.h5: exists; go on with --continue yes and its modes (--load-modes), or" in said, said
        for more, wanted in (["--times", "8"], "times 0 to 7"), (["--operators", "dw"], "--operators"), (["--continue"], "--load-modes"):
            code, said = run(*words, "--overwrite", *more)
            assert code == 2 and wanted in said, said
        # Outputs that are inputs are refused, elementals are those of the file, and results that did not converge are
        # not kept.
        code, said = run(*words, "--overwrite", "--json", links)
        assert code == 2 and "it is the file of --gauge" in said, said
        again = [*common, "--load-modes", modes, "--continue"]
        sharper = ["1e-12" if w == "1e-11" else w for w in again]
        code, said = run(*sharper, "--times", "3")
        assert code == 1 and "perambulators/t3: tol: expected at most 1e-12, found 1e-11" in said, said
        coarser = ["1e-8" if w == "1e-11" else w for w in again]
        code, said = run(*coarser, "--times", "3")
        assert code == 0 and to.read_bytes() == before, said
        code, said = run(*again, "--times", "3", "--momenta", "1,0,0")
        assert code == 1 and "mesons: elementals: expected" in said, said
        code, said = run(*again, "--times", "5", "--max-iterations", "2")
        assert code == 3, said
        assert to.read_bytes() == before
        assert plaq.read(to)["perambulators"].times == [3, 6]


def test_distillation_of_the_program_with_insertions_and_noise():
    with tempfile.TemporaryDirectory() as folder:
        links, to, modes = (Path(folder) / name for name in ("links", "tau.h5", "modes.lime"))
        U = plaq.Gauge((4, 4, 4, 8))
        U.heatbath(5.9, 3, seed=1)
        U.write(links)
        V = plaq.modes(U, 4, rho=0.1, steps=2, tol=1e-12)
        V.save(modes)
        words = ["distillation", links, "--kappa", "0.16", "--csw", "1.1", "--csw-t", "0.9", "--mu", "0.1", "--tol", "1e-11"]
        words += ["--hop", "0.5,0.5,0.5,1", "--device", "cpu", "--load-modes", modes, "--out", to, "--times", "1"]
        more = ["--insertions", "8,0,0,0:14,1,0,-1,+x,-z", "--sink-times", "3,5", "--spin-basis", "dirac-pauli"]
        more += ["--noise", "z4", "--noise-seed", "3", "--noise-time", "interlace", "--noise-time-parts", "2"]
        code, said = run(*words, *more)
        assert code == 0, said
        D = plaq.Clover(U, kappa=0.16, csw=1.1, csw_t=0.9, mu=0.1, xi=2.0)
        found, tol = plaq.read(to), {"tol": 1e-11}
        close(found["perambulators"].numbers, V.perambulators(D, 1, **tol).numbers, 1e-8)
        lines = V.generalised(D, 1, [3, 5], ["T", ("X5", (1, 0, -1), "+x -z")], **tol)
        basis = BASES["dirac_pauli"]
        stored = found["generalised/t1"]
        close(stored, np.einsum("ps,...suab,qu->...pqab", basis, lines, basis), 1e-8)
        assert stored.times == 1 and stored.spin_basis == "Dirac-Pauli" and stored.sink_times == [3, 5]
        assert stored.axes[1].values == ["T 0,0,0", "X5 1,0,-1 +x -z"], stored.axes
        how = {"noise": "z4", "seed": 3, "time": "interlace", "time_parts": 2}
        close(found["noise/sources"], V.noise(**how), 1e-15)
        close(found["noise/solutions"], V.solve_noise(D, how, **tol), 1e-8)
        # What is there is not done again, and is that of the same settings.
        before = to.read_bytes()
        code, said = run(*words, *more, "--continue")
        assert code == 0 and to.read_bytes() == before, said
        code, said = run(*words, "--continue", "--insertions", "8,0,0,0", "--sink-times", "3", "--spin-basis", "dirac-pauli")
        assert code == 1 and "generalised/t1: " in said and to.read_bytes() == before, said
        code, said = run(*words, "--continue", "--noise", "z2", "--noise-seed", "3", "--spin-basis", "dirac-pauli")
        assert code == 1 and "noise/solutions: noise: expected z2" in said and to.read_bytes() == before, said
        for wrong in ("16,0,0,0", "8,0,0", "8,0,0,0,+t", "8,0,0,0,x", "8,0,0,0,", "8,0,0,0,,+x"):
            code, said = run(*words, "--continue", "--sink-times", "3", "--insertions", wrong)
            assert code == 2 and "--insertions" in said, said
        code, said = run(*words, "--continue", "--sink-times", "8", "--insertions", "8,0,0,0")
        assert code == 2 and "times 0 to 7" in said, said


def test_distillation_of_the_program_with_left_modes_and_steps_of_baryons():
    import h5py

    with tempfile.TemporaryDirectory() as folder:
        links, to, *files = (Path(folder) / name for name in ("links", "phi.h5", "v.lime", "u.lime", "w.lime"))
        U = plaq.Gauge((4, 4, 4, 8))
        U.heatbath(5.9, 3, seed=1)
        U.write(links)
        of = {"rho": 0.1, "steps": 2, "tol": 1e-12}
        V, W = plaq.modes(U, 4, **of), plaq.modes(U, 3, momentum=(0, 0, 0.5), **of)
        for modes, file in zip((V, W, plaq.modes(U, 3, momentum=(0.5, 0, 0), **of)), files):
            modes.save(file)
        words = ["distillation", links, "--device", "cpu", "--load-modes", files[0], "--out", to]
        more = ["--momenta", "0,0,0:0,1,-1", "--operators", "1:dx,+y", "--left-modes", files[1]]
        more += ["--baryons", "--baryon-operators", "1:dx:+z,-y"]
        code, said = run(*words, *more)
        assert code == 0, said
        found, momenta = plaq.read(to), [(0, 0, 0), (0, 1, -1)]
        mine = {"mesons": V.mesons(momenta, ["", "dx +y"], left=W), "baryons": V.baryons(momenta, ["", "dx", "+z -y"])}
        plaq.write(Path(folder) / "mine.h5", mine)
        with h5py.File(to) as theirs, h5py.File(Path(folder) / "mine.h5") as own:
            for name, array in mine.items():
                close(found[name], array, 1e-11)
                for key in ("kind", "indices", "convention", "momenta", "operators"):
                    assert np.array_equal(theirs[name].attrs[key], own[name].attrs[key]), (name, key)
            assert all(item.fletcher32 for item in theirs.values())
        assert found["mesons"].axes == mine["mesons"].axes and found["baryons"].axes == mine["baryons"].axes
        # C writes the same datasets.
        done = from_c(ELEMENTALS, links, *files[:2], Path(folder) / "c.h5")
        assert done.returncode == 0, done.stderr
        with h5py.File(to) as theirs, h5py.File(Path(folder) / "c.h5") as own:
            assert sorted(theirs) == sorted(own) == ["baryons", "mesons", "residuals", "values"]
            for name in theirs:
                assert theirs[name].dtype == own[name].dtype and own[name].fletcher32, name
                assert np.array_equal(theirs[name][()], own[name][()]), name
                one, other = (dict(file[name].attrs) for file in (theirs, own))
                assert sorted(one) == sorted(other) and all(np.array_equal(one[key], other[key]) for key in one), name
        # What is there is that of the same operators and left modes.
        before = to.read_bytes()
        code, said = run(*words, *more, "--continue")
        assert code == 0 and to.read_bytes() == before, said
        other = [files[2] if word == files[1] else word for word in more]
        code, said = run(*words, *other, "--continue")
        assert code == 1 and "left_modes_basis" in said and to.read_bytes() == before, said
        other = ["1:dx:+z" if word == "1:dx:+z,-y" else word for word in more]
        code, said = run(*words, *other, "--continue")
        assert code == 1 and "mesons: elementals: expected" in said and to.read_bytes() == before, said
        # Bad input.
        for wrong, wanted in (
            (["--baryon-operators", "1:dx:1"], "--baryons"),
            (["--baryons", "--baryon-operators", "1:dx"], "one for each of three quarks"),
            (["--baryons", "--baryon-operators", "1:dx:dw"], "--baryon-operators"),
            (["--left-modes", Path(folder) / "none.lime"], "none.lime"),
        ):
            code, said = run(*words, *wrong, "--overwrite")
            assert code in (1, 2) and wanted in said and to.read_bytes() == before, (wrong, said)
        W = plaq.modes(plaq.Gauge.hot((4, 4, 4, 8), seed=3), 3)
        W.save(files[2], overwrite=True)
        code, said = run(*words, "--left-modes", files[2], "--overwrite")
        assert code == 1 and "w.lime" in said and "links" in said and to.read_bytes() == before, said


#: Elementals written by C's function, in a process of its own: libhdf5 is found by the environment.
ELEMENTALS = """
import sys, plaq
from plaq import capi

links, modes, left, to = sys.argv[1:5]
U = plaq.open(links)
V, W = plaq.Modes.load(modes, U), plaq.Modes.load(left, U)
dx, y, z, minus_y = (int(capi.plaq_modes_step[name]) for name in ("DERIVATIVE_X", "FORWARD_Y", "FORWARD_Z", "BACK_Y"))
mesons, baryons = ([0, 2], 2, [dx, y], 2), ([0, 1, 2], 3, [dx, z, minus_y], 3)
capi.plaq_modes_write_elementals(V, W, *mesons, [0, 0, 0, 0, 1, -1], 2, *baryons, to, "refuse")
"""

#: What C's functions write, in a process of its own: libhdf5 is found by the environment.
WRITES = """
import sys, plaq
from plaq import capi

links, modes, to = sys.argv[1:4]
U = plaq.open(links)
V, D = plaq.Modes.load(modes, U), plaq.Clover(U, kappa=0.12, csw=1.1)
solver = D._solver(None, {"tol": 1e-11})
wrong = {}


def refused(name, call):
    try:
        call()
    except plaq.Error as error:
        wrong[name] = f"{type(error).__name__}: {error}"


def elementals(path, how, momenta=(0, 0, 0)):
    step = capi.plaq_modes_step.DERIVATIVE_X
    quarks = ([0, 0, 0], 3, [], 0)
    capi.plaq_modes_write_elementals(V, None, [0, 1], 2, [int(step)], 1, list(momenta), 1, *quarks, path, how)


def perambulators(times, path=to, group="perambulators", of=solver, callback=None, basis="degrand_rossi"):
    return capi.plaq_modes_write_perambulators(V, of, times, len(times), path, group, basis, callback, None)


import numpy as np

elementals(to, "refuse")
V.save(modes + ".h5")
again = plaq.Modes.load(modes + ".h5", U)
print(perambulators([3, 0]), perambulators([0, 3, 5]), perambulators([2], group="other/quark"), perambulators([2], group="nonrel", basis="dirac_pauli"))
largest = lambda a, b: np.abs(a - b).max()
print(
    largest(again.vectors().columns(), V.vectors().columns()),
    largest(again.values, V.values),
    again.report.steps == V.report.steps and list(again.next) == list(V.next),
)
refused("damaged", lambda: plaq.Modes.load(to, U))
whole = open(modes + ".h5", "rb").read()


def changed(name, data):
    with open(modes + name + ".h5", "wb") as file:
        file.write(data)
    refused(name, lambda: plaq.Modes.load(modes + name + ".h5", U))


numbers = V.vectors(2, 1).columns().astype(complex).tobytes()
place = whole.index(numbers) + len(numbers) // 2 + 7
changed("cut", whole[: len(whole) // 2])
changed("flipped", whole[:place] + bytes([whole[place] ^ 0x40]) + whole[place + 1 :])
changed("sign", whole[:place] + bytes([whole[place] ^ 0x80]) + whole[place + 1 :])
changed("empty", b"")
refused("h5 lattice", lambda: plaq.Modes.load(modes + ".h5", plaq.Gauge.hot([4, 4, 4, 4], seed=3)))
refused("h5 links", lambda: plaq.Modes.load(modes + ".h5", plaq.Gauge.hot(U.extents, seed=3)))
refused("exists", lambda: elementals(to, "refuse"))
refused("names", lambda: elementals(to, "append"))
refused("time", lambda: perambulators([8]))
refused("negative", lambda: perambulators([-1]))
refused("group", lambda: perambulators([0], group="a//b"))
refused("quark", lambda: perambulators([0], of=plaq.Clover(U, kappa=0.11, csw=1.1)._solver(None, {"tol": 1e-11})))
refused("tol", lambda: perambulators([0], of=D._solver(None, {"tol": 1e-12})))
refused("no file", lambda: perambulators([0], path=links))
refused("no place", lambda: perambulators([0], path="/no/such/folder/tau.h5"))
W = plaq.Gauge.hot(U.extents, seed=3)
refused("links", lambda: perambulators([1], of=plaq.Clover(W, kappa=0.12, csw=1.1)._solver(None, {"tol": 1e-11})))
refused("load", lambda: plaq.Modes.load(modes, plaq.Gauge.hot([4, 4, 4, 4], seed=3)))
import json
print(json.dumps(wrong))
"""


def test_distillation_from_c_is_what_python_and_the_program_write():
    with tempfile.TemporaryDirectory() as folder:
        links, to, ours, modes = (Path(folder) / name for name in ("links", "c.h5", "python.h5", "modes.lime"))
        U = plaq.Gauge((4, 4, 4, 8))
        U.heatbath(5.9, 3, seed=1)
        U.write(links)
        V, D = plaq.modes(U, 4, rho=0.1, steps=2, tol=1e-13), plaq.Clover(U, kappa=0.12, csw=1.1)
        V.save(modes)
        done = from_c(WRITES, links, modes, to)
        assert done.returncode == 0, done.stderr
        counts, kept, wrong = done.stdout.splitlines()
        assert kept == "0.0 0.0 True", kept
        assert counts == "2 3 1 1"
        wrong = json.loads(wrong)
        for name, words in {
            "exists": "FileWrite|expected a new file",
            "names": "FileWrite|values",
            "time": "InvalidArgument|0 to 7|8",
            "negative": "InvalidArgument|0 to 7",
            "group": "InvalidArgument|group|a//b",
            "quark": "FieldMismatch|t0: kappa: expected 0.11, found 0.12",
            "tol": "FieldMismatch|tol: expected at most 1e-12, found 1e-11",
            "no file": "FileFormat|HDF5",
            "no place": "File|folder",
            "links": "FieldMismatch|links",
            "load": "4",
            "damaged": "FileFormat|lattice",
            "cut": "FileTruncated|cut.h5|a whole file",
            "flipped": "File|damaged|flipped.h5",
            "sign": "FileChecksum|damaged|modes/2",
            "empty": "FileFormat|HDF5|empty.h5",
            "h5 lattice": "FileFormat|[4, 4, 4, 4]|[4, 4, 4, 8]",
            "h5 links": "FieldMismatch|links",
        }.items():
            assert all(word in wrong[name] for word in words.split("|")), (name, wrong[name])
        # Python continues a file of C, and the program one of Python.
        import h5py

        tau = V.perambulators(D, [0, 6], file=to, tol=1e-11)
        assert tau.times == [0, 6] and plaq.read(to)["perambulators"].times == [0, 3, 5, 6]
        V.perambulators(D, [0, 3], file=ours, tol=1e-11)
        with h5py.File(to) as c, h5py.File(ours) as python:
            one, other = (dict(file["perambulators/t3"].attrs) for file in (c, python))
            assert sorted(one) == sorted(other)
            assert all(np.array_equal(one[key], other[key]) for key in one), (one, other)
            assert one["operator"] == "Clover" and abs(one["kappa"] - 0.12) < 1e-15 and one["tol"] == 1e-11
            close(c["perambulators/t3"][()], python["perambulators/t3"][()], 1e-9)
            assert sorted(c) == ["baryons", "mesons", "nonrel", "other", "perambulators", "residuals", "values"]
            assert list(c["mesons"].attrs["operators"]) == ["1", "dx"] and c["mesons"].attrs["momenta"].shape == (1, 3)
            assert c["mesons"].attrs["modes_tol"] == 1e-13 and c["nonrel/t2"].attrs["spin_basis"] == "Dirac-Pauli"
            back = plaq.read(to)
            close(back["nonrel"].numbers[0], V.perambulators(D, 2, tol=1e-11).numbers[0], 1e-9)
            left, right = back["mesons"].axes[-2:]
            assert left.modes["modes_basis"] == right.modes["modes_basis"] == V.about["modes_basis"]
            close(c["mesons"][()], V.mesons(operators=["", "dx"]), 1e-12)
        with h5py.File(f"{modes}.h5") as file:
            assert sorted(file["modes"]) == ["0", "1", "2", "3"] and file["modes/2"].shape == (8, 4, 4, 4, 3)
            close(file["modes/2"][()], V.vectors(2, 1).columns()[0].reshape(8, 4, 4, 4, 3), 1e-15)
            assert file["lattice"].dtype == "i8" and file["bits"][()] == 64 and file["values"].shape == (8, 4)
            assert file["values"].attrs["indices"] == "t, mode" and abs(file["quality"][2] - 1e-13) < 1e-20
            assert file["values"].attrs["modes"] == 4 and file["modes/2"].attrs["indices"] == "t, z, y, x, colour"
        words = ["distillation", links, "--kappa", "0.12", "--csw", "1.1", "--tol", "1e-11", "--device", "cpu", "--out", ours]
        code, said = run(*words, "--load-modes", modes, "--continue", "--times", "0,3,4")
        assert code == 0 and plaq.read(ours)["perambulators"].times == [0, 3, 4], said


def test_distillation_of_the_program_refuses_and_goes_on():
    import time

    with tempfile.TemporaryDirectory() as folder:
        links, others, small, to, modes = (Path(folder) / name for name in ("a", "b", "c", "tau.h5", "modes.lime"))
        for seed, (name, extents) in enumerate(((links, (4, 4, 4, 8)), (others, (4, 4, 4, 8)), (small, (4, 4, 4, 4)))):
            U = plaq.Gauge(extents)
            U.heatbath(5.9, 3, seed=seed)
            U.write(name)
        common = ["--kappa", "0.12", "--tol", "1e-11", "--device", "cpu", "--out", to]
        code, said = run("distillation", links, *common, "--modes", "193")
        assert code == 2 and "--modes: 193; expected at most 192" in said, said
        words = ["distillation", links, *common, "--modes", "4", "--save-modes", modes, "--times", "all"]
        process = subprocess.Popen(command(*words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=hdf5_of_the_wheel())
        # The program is ended when the first source time may be in the file: in the midst of its work, or after it.
        for _ in range(600):
            if process.poll() is not None or (to.exists() and to.stat().st_size > 100_000):
                break
            time.sleep(0.02)
        process.kill()
        process.wait()
        kept = plaq.read(to).get("perambulators") if to.exists() else None
        again = [*common, "--load-modes", modes]
        code, said = run("distillation", links, *again, "--continue", "--times", "all")
        assert code == 0, said
        found = plaq.read(to)["perambulators"]
        assert sorted(found.times) == list(range(8))
        for k, t in enumerate(kept.times if kept else []):
            assert np.array_equal(kept.numbers[k], found.numbers[found.times.index(t)])
        before = to.read_bytes()
        for other, wanted in ((others, "expected the links of"), (small, "4")):
            code, said = run("distillation", other, *again, "--continue", "--times", "0")
            assert code == 1 and wanted in said, said
        code, said = run("distillation", others, *common, "--modes", "4", "--times", "0")
        assert code == 1 and "exists" in said, said
        fewer = Path(folder) / "fewer.lime"
        V = plaq.modes(plaq.open(links), 3)
        V.save(fewer)
        code, said = run("distillation", links, *common, "--load-modes", fewer, "--continue", "--times", "0")
        assert code == 1 and "modes: expected 3, found 4" in said, said
        assert to.read_bytes() == before


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
        # Files of several configurations, and averages; Gammas have the names of plaq.gamma.
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
