"""Correlators over configurations: copies, symmetries, numbers of configurations, jackknife."""

import itertools
import os
import subprocess
import sys
import tempfile

import numpy as np
import plaq
from common import ROOT, close, refused

T = np.arange(16)


def test_arrays_are_copies():
    C = plaq.Correlator(np.ones((2, 8)))
    array = np.array(C)
    array[0, 0] = 99
    assert C.data[0, 0] == 1
    assert np.asarray(C, np.complex64).dtype == np.complex64
    U = plaq.Gauge.unit((2, 2, 2, 2))
    for field in (U, plaq.Fermion(U), plaq.Wilson(U, mass=1).propagator()):
        # NumPy before version 2 does not tell whether a copy is allowed.
        refused(ValueError, "copy", lambda: field.__array__(copy=False))
        assert np.array(field).shape == field.numpy().shape


def test_a_correlator_is_a_sequence_over_time():
    data = np.random.default_rng(1).normal(size=(3, 8))
    C = plaq.Correlator(data)
    assert len(C) == 8 and list(C) == list(data.mean(axis=0)) and C[3] == data[:, 3].mean()
    close(C[2:5], data.mean(axis=0)[2:5])
    assert C.data.shape == (3, 8)


def test_folding_follows_the_symmetry():
    even, odd = np.cosh(0.4 * (8 - T)), np.sinh(0.4 * (8 - T)) * (T > 0)
    for data, form in ((even, "cosh"), (odd, "sinh")):
        C = plaq.Correlator(np.array([data, 2 * data]))
        assert C.form == form
        close(C.folded().data, C.data, 1e-14)
        close(C.folded().effective_mass().value[2:7], np.full(5, 0.4), 1e-12)
    assert plaq.Correlator(even, form="sinh").folded().data.max() < 1e-12
    N = plaq.Correlator(np.exp(-T) + 0.2 * np.exp(-1.6 * (16 - T)), name="nucleon", form="log")
    refused(ValueError, "nucleon|parity", N.folded)
    refused(ValueError, "cosh, sinh or log", lambda: plaq.Correlator(even, form="tanh"))
    S = plaq.Wilson(plaq.Gauge.warm([2, 2, 2, 8], 1, 0.1), mass=0.3).propagator()
    axial = plaq.Correlator(plaq.mesons(S, gammas=[("T5", "5")])[0, 0].real)
    assert axial.form == "sinh" and abs(axial.folded().data).max() > 0


def test_what_is_known_stays_with_folded_and_averaged_correlators():
    even = np.cosh(0.4 * (8 - T))
    parts = []
    for source, more in ((2, {"run": "a"}), (4, {"run": "b"})):
        C = plaq.Correlator(even, source_time=source)
        C.about = {"kappa": 0.13, "convention": "C(t) = ...", **more}
        parts.append(C)
    assert parts[0].folded().about == {"kappa": 0.13, "run": "a"} and "convention" in parts[0].about
    assert plaq.Correlator.average(parts).about == {"kappa": 0.13, "convention": "C(t) = ..."}
    # Of a mirror image between boundaries in time the formula of C(t) is not that of the average.
    ends = [plaq.Correlator(even, source_time=source, boundary_time="open") for source in (3, 12)]
    for C in ends:
        C.about = parts[0].about
    assert plaq.Correlator.average(ends).about == {"kappa": 0.13, "run": "a"}


def test_joining():
    one = [plaq.Correlator(np.full(8, n), configurations=[n]) for n in (10, 20)]
    joined = plaq.Correlator.join(one)
    assert joined.configurations == [10, 20] and joined.folded().configurations == [10, 20]
    counted = plaq.Correlator.join([plaq.Correlator(np.ones(8)).folded() for _ in range(3)])
    assert counted.configurations == [1, 2, 3]
    assert plaq.Correlator.join(one, configurations=[3, 4]).configurations == [3, 4]
    refused(ValueError, "number 10 twice", lambda: plaq.Correlator.join([one[0], one[0]]))
    S = plaq.Wilson(plaq.Gauge.unit([2, 2, 2, 4]), mass=1).propagator()
    refused(ValueError, "parts[1]|name|pion|rho", lambda: plaq.Correlator.join([S.pion(), S.rho()]))
    refused(ValueError, "times", lambda: plaq.Correlator.join([one[0], plaq.Correlator(np.ones(4))]))
    refused(TypeError, "parts[0]|ndarray", lambda: plaq.Correlator.join([np.ones(8)]))


def test_files_are_not_added_to_in_silence():
    import h5py

    C = plaq.Correlator(np.ones((2, 8)), configurations=[5, 6])
    with tempfile.TemporaryDirectory() as folder:
        names = C.to_hdf5(f"{folder}/pion")
        os.remove(names[0])
        refused(FileExistsError, "pion.6.h5|overwrite|append", lambda: C.to_hdf5(f"{folder}/pion"))
        assert not os.path.exists(names[0])
        twice = plaq.Correlator(2 * C.data, configurations=[5, 6])
        for mode, value in (("append", 1), ("overwrite", 2)):
            twice.to_hdf5(f"{folder}/pion", **{mode: True})
            with h5py.File(names[1]) as file:
                assert file["meson/meson_0/corr"][0]["re"] == value
                assert len(file["meson"]) == (2 if mode == "append" else 1)
        refused(ValueError, "one of overwrite and append", lambda: C.to_hdf5("x", overwrite=True, append=True))


def test_files_are_replaced_when_the_new_ones_are_complete():
    import h5py

    C = plaq.Correlator(np.ones((1, 8)), gammas=("5", "5"))
    # A text that cannot be written, after the file was begun.
    broken = plaq.Correlator(2 * np.ones((1, 8)), gammas=("5", None))
    with tempfile.TemporaryDirectory() as folder:
        name = C.to_hdf5(f"{folder}/pion")[0]
        with open(name, "rb") as file:
            before = file.read()
        for mode in ("overwrite", "append"):
            refused(AttributeError, "encode", lambda mode=mode: broken.to_hdf5(f"{folder}/pion", **{mode: True}))
            with open(name, "rb") as file:
                assert file.read() == before, mode
        refused(AttributeError, "encode", lambda: broken.to_hdf5(f"{folder}/new"))
        assert os.listdir(folder) == ["pion.1.h5"]
        C.to_hdf5(f"{folder}/pion", append=True)
        with h5py.File(name) as file:
            assert len(file["meson"]) == 2


def test_the_last_bin_takes_what_is_left_over():
    """The program's definition: docs/propagator.md."""
    x = np.random.default_rng(3).normal(size=(11, 5)) + 3
    ratio = lambda mean: mean[0] / mean[1]  # noqa: E731
    for bin, ends in ((3, [3, 6, 11]), (4, [4, 11]), (5, [5, 11]), (1, range(1, 12)), (2, [2, 4, 6, 8, 11])):
        edges = list(zip([0, *ends], ends))
        samples = np.array([ratio(np.delete(x, np.s_[a:b], 0).mean(0)) for a, b in edges])
        found = plaq.jackknife(x, ratio, bin=bin)
        close(found.samples, samples, 1e-13)
        close(found.error, np.sqrt((len(edges) - 1) * np.mean((samples - samples.mean()) ** 2)), 1e-12)
        close(found.value, ratio(x.mean(0)), 1e-13)


def test_what_is_empty_or_absent_is_said():
    refused(ValueError, "data|configurations|(0,)", lambda: plaq.jackknife([]))
    refused(FileNotFoundError, "nofile.h5: No such file", lambda: plaq.read("nofile.h5"))
    refused(IsADirectoryError, "tests: expected a file in HDF5", lambda: plaq.read(ROOT / "tests"))
    refused(OSError, "common.py: expected a file in HDF5, found one of another kind", lambda: plaq.read(ROOT / "tests/python/common.py"))
    refused(ValueError, "[run] with lattice", lambda: plaq.hmc("seed = 1"))
    run = subprocess.run([sys.executable, "-m", "plaq", "flow"], capture_output=True, text=True)
    assert "Traceback" not in run.stderr, run.stderr


def test_iterators_yield_fields_that_stay_what_they_were():
    kept = list(itertools.islice(plaq.heatbath([2, 2, 2, 4], 5.7, seed=3, thermalise=2, separation=1), 3))
    values = [U.plaquette().total for U in kept]
    assert len(set(values)) == 3
    # A chain whose fields are copied is the same as one without copies.
    chain, alone = plaq.heatbath([2, 2, 2, 4], 5.7, seed=3, thermalise=2, separation=1), []
    for _ in range(3):
        U = next(chain)
        alone.append(U.plaquette().total)
        del U
    assert alone == values
    # A chain goes on in its own field if nobody else refers to that.
    chain = plaq.heatbath([2, 2, 2, 4], 5.7, seed=3, thermalise=0)
    assert next(chain).handle.id == next(chain).handle.id
    table = {
        "length": 0.5,
        "seed": 5,
        "monomial": [{"name": "gauge", "type": "gauge", "action": "wilson", "beta": 5.5}],
        "level": [{"integrator": "omelyan2", "steps": 10, "monomials": ["gauge"]}],
    }
    start = plaq.Gauge.warm([2, 2, 2, 4], 1, 0.3)
    before = start.plaquette().total
    chain = plaq.hmc(table, start, trajectories=3)
    kept = [(report.plaquette, chain.gauge) for report in chain]
    assert start.plaquette().total == before
    assert len({expected for expected, _ in kept}) == 3
    for expected, gauge in kept:
        close(gauge.plaquette().total, expected, 1e-12)
    del kept, gauge
    chain = plaq.hmc(table, plaq.Gauge.warm([2, 2, 2, 4], 1, 0.3))
    first = chain.gauge.handle.id
    chain.step(2)
    assert chain.gauge.handle.id == first
