"""Files of distillation: what identifies modes, links and quarks, and what is refused."""

import resource
import signal
import tempfile
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
import plaq
from common import close, refused
from plaq import capi, distillation
from plaq.perambulators import BASES

EXTENTS, N = [4, 4, 2, 4], 4


@lru_cache(None)
def made():
    links = plaq.Gauge.hot(EXTENTS, seed=2)
    return links, plaq.modes(links, N, rho=0.1, steps=2, tol=1e-12), plaq.Clover(links, mass=1.0, csw=1.1)


def limited(more, work):
    """What `work` returns where files may not grow by more than `more` bytes beyond the size of the file named first."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (more, before[1]))
    try:
        return work()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_leaves_the_file_as_it_was():
    _, V, D = made()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tau.h5"
        V.perambulators(D, [0, 2], file=file)
        before = file.read_bytes()
        most = len(before) + 5000

        def add():
            refused(OSError, "tau.h5|File too large", lambda: V.perambulators(D, [1], file=file))

        limited(most, add)
        assert file.read_bytes() == before
        assert V.perambulators(D, [0, 1, 2], file=file).times == [0, 1, 2]
        # Space that is reserved is given back.
        assert file.stat().st_size < len(before) + 16 * N * N * 4 * 16 + 40000


def test_a_group_is_of_one_quark():
    U, V, D = made()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tau.h5"
        V.perambulators(D, 0, file=file)
        before = file.read_bytes()
        smeared = plaq.Clover(U.smear_stout(0.1), mass=1.0, csw=1.1)
        for times in (0, 1):
            words = "quark_plaquette_spatial|perambulators of other links"
            refused(ValueError, words, lambda times=times: V.perambulators(smeared, times, file=file))
        assert file.read_bytes() == before


def test_only_the_source_times_that_are_asked_for_are_read():
    _, V, D = made()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tau.h5"
        noise = np.random.default_rng(3).standard_normal(1000)
        plaq.write(file, {"others": noise})
        V.perambulators(D, [0, 1], file=file, tol=1e-6)
        kept = plaq.read(file)["perambulators"]
        data = bytearray(file.read_bytes())
        for numbers in (noise, np.asarray(kept.numbers[1])):
            at = bytes(data).index(numbers.tobytes()[:64])
            data[at + 17] ^= 4
        file.write_bytes(data)
        refused(OSError, "others|damaged", lambda: plaq.read(file))
        found = V.perambulators(D, [2, 0], file=file, tol=1e-6)
        assert found.times == found.numbers.times == [2, 0] and np.array_equal(np.asarray(found.numbers[1]), np.asarray(kept.numbers[0]))
        refused(OSError, "perambulators/t1|damaged", lambda: V.perambulators(D, [1, 0], file=file, tol=1e-6))


def test_all_source_times_are_checked_before_the_first_solve():
    _, V, D = made()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tau.h5"
        refused(ValueError, "times|0 to 3|4", lambda: V.perambulators(D, range(5), file=file))
        refused(ValueError, "times|0 to 3|-1", lambda: V.perambulators(D, [0, -1], file=file))
        assert not file.exists()


def test_ctrl_c_leaves_complete_source_times_in_the_file():
    _, V, D = made()
    solves = []

    def progress(iteration, residual, seconds):
        solves.append(iteration)
        if solves.count(1) > 3:
            raise KeyboardInterrupt

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tau.h5"
        refused(KeyboardInterrupt, "", lambda: V.perambulators(D, range(4), file=file, progress=progress, solver="cgnr"))
        held = plaq.read(file)["perambulators"].times
        assert held and held != [0, 1, 2, 3], held
        assert V.perambulators(D, range(4), file=file).times == [0, 1, 2, 3]


def test_modes_that_did_not_converge_say_so():
    links = plaq.Gauge.hot([8, 8, 8, 4], seed=2)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        V = plaq.modes(links, 40, max_restarts=1)
    assert not V.converged and "NOT converged" in repr(V)
    assert any(one.category is plaq.NotConvergedWarning and "residual" in str(one.message) for one in heard), heard
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "modes.lime"
        V.save(file)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            again = plaq.Modes.load(file, links)
        assert not again.converged and not again.report.verified and abs(again.report.tol - 1e-10) < 1e-20
        assert any(one.category is plaq.NotConvergedWarning for one in heard), heard
    assert V.about["modes_converged"] == 0 and V.about["modes_tol"] == 1e-10
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        V.perambulators(plaq.Wilson(links, mass=2.0), 0, tol=1e-2)
    assert any("perambulators: the modes" in str(one.message) for one in heard), heard


def test_a_level_that_is_cut_is_said():
    unit = plaq.Gauge((4, 4, 4, 4))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert plaq.modes(unit, 6).report.cut_levels == 4
    assert any("4 time slices a degenerate level" in str(one.message) for one in heard), heard
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The levels at 0 and 2 - 2 cos(pi / 2) = 2, of three colours and 1 and 6 momenta.
        assert plaq.modes(unit, 21).report.cut_levels == 0
        assert made()[1].report.cut_levels == 0


def test_bases_of_modes_are_told_apart():
    U, V, D = made()
    own = plaq.modes(U, N, smeared=U.smear_stout(0.12), tol=1e-12)
    assert own.about != plaq.modes(U, N, smeared=U, tol=1e-12).about and own.about["smeared_by_caller"] == 1
    again = plaq.modes(U, N, rho=0.1, steps=2, tol=1e-12, seed=5, mixed=True)
    close(again.about["modes_basis"], V.about["modes_basis"], 1e-5)
    more = plaq.modes(U, N + 2, rho=0.1, steps=2, tol=1e-12)
    close(more.about["modes_basis"][:N], V.about["modes_basis"], 1e-5)
    unit = plaq.Gauge(EXTENTS)
    E = plaq.Wilson(unit, mass=1.0)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        one, other = (plaq.modes(unit, 6, seed=seed) for seed in (1, 2))
        file = Path(folder) / "tau.h5"
        one.perambulators(E, 0, file=file)
        refused(ValueError, "modes_basis|another search", lambda: other.perambulators(E, 1, file=file))
        tau, phi = one.perambulators(E, 0).numbers[0], other.mesons()[0, 0]
        refused(capi.FieldMismatch, "sink|mode 0 of another search", lambda: distillation.meson(tau, 0, ("5", phi), ("5", phi)))
        # Elementals and perambulators of one file, of whole and of damaged modes.
        two = Path(folder) / "two.h5"
        plaq.write(two, {"values": (own.values, own.about)})
        own.perambulators(D, 0, file=two)
        refused(ValueError, "values: stout_steps", lambda: V.perambulators(D, 0, file=two, name="others"))
        own = plaq.modes(U, N, smeared=U, tol=1e-12)
        refused(ValueError, "values: modes_basis", lambda: own.perambulators(D, 0, file=two, name="others"))
    close(distillation.meson(V.perambulators(D, 0).numbers[0], 0, *[("5", again.mesons()[0, 0])] * 2),
          distillation.meson(V.perambulators(D, 0).numbers[0], 0, *[("5", V.mesons()[0, 0])] * 2), 1e-8)


def test_modes_in_single_precision_serve_links_in_double():
    U, V, D = made()
    single = plaq.Gauge.from_array(U.lexico().astype(np.complex64), precision="single")
    W = plaq.modes(single, N, rho=0.1, steps=2)
    tau = V.perambulators(D, 1, tol=1e-11).numbers
    with tempfile.TemporaryDirectory() as folder:
        for name in ("modes.lime", "modes.h5"):
            file = Path(folder) / name
            try:
                W.save(file)
            except capi.Unsupported as missing:
                # Without libhdf5.
                assert name.endswith(".h5") and "libhdf5" in str(missing), missing
                continue
            again = plaq.Modes.load(file, U)
            assert again.vectors().precision == "single"
            close(again.about["modes_basis"], W.about["modes_basis"], 1e-5)
            close(again.values, W.values, 1e-15)
            found = again.perambulators(D, 1, tol=1e-11)
            close(found.numbers, tau, 1e-3)
            close(again.mesons([(0, 0, 1)], ["", "dx"]), W.mesons([(0, 0, 1)], ["", "dx"]), 1e-5)
            # In the other direction, too.
            V.save(file, overwrite=True)
            back = plaq.Modes.load(file, single)
            assert back.vectors().precision == "single"
            close(back.about["modes_basis"], V.about["modes_basis"], 1e-5)
        file = Path(folder) / "modes.lime"
        refused(capi.FieldMismatch, "links", lambda: plaq.Modes.load(file, plaq.Gauge.hot(EXTENTS, seed=3)))
        # Another search is the same modes, as well as these are determined by their residuals.
        X = plaq.modes(single, N, rho=0.1, steps=2, seed=5)
        error = np.array(W.about["modes_basis_error"]) + X.about["modes_basis_error"]
        off = np.abs(np.subtract(X.about["modes_basis"], W.about["modes_basis"]))
        assert (off <= 1e-5 + error).all() and (error > 0).all() and (error < 0.02).all(), (off, error)
        assert (np.array(V.about["modes_basis_error"]) < 1e-8).all()
        coarse = plaq.modes(single, N, rho=0.1, steps=2, seed=5, tol=1e-5)
        five, tau = ("5", coarse.mesons()[0, 0]), W.perambulators(D, 0, tol=1e-6)
        distillation.meson(tau.numbers[0], 0, five, five)
        file = Path(folder) / "tau.h5"
        W.perambulators(D, 0, file=file, tol=1e-6)
        assert coarse.perambulators(D, [0, 1], file=file, tol=1e-6).times == [0, 1]
        # A level that is degenerate is not determined: only the same vectors are the same.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert plaq.modes(plaq.Gauge(EXTENTS), 6).about["modes_basis_error"] == [0.0] * 6


def test_spins_of_files():
    import h5py

    _, V, D = made()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tau.h5"
        tau = V.perambulators(D, [0, 2], tol=1e-11)
        found = V.perambulators(D, [0, 2], file=file, spin_basis="dirac_pauli", tol=1e-11)
        close(found.numbers, tau.numbers, 1e-12)
        basis = BASES["dirac_pauli"]
        with h5py.File(file) as opened:
            stored = opened["perambulators/t2"]
            assert stored.attrs["spin_basis"] == "Dirac-Pauli"
            close(stored[()], np.einsum("ps,tsuab,qu->tpqab", basis, tau.numbers[1], basis), 1e-12)
        close(plaq.read(file)["perambulators"].numbers, tau.numbers, 1e-12)
        refused(ValueError, "spin_basis", lambda: V.perambulators(D, 1, file=file))
        refused(ValueError, "spin_basis|dirac_pauli|weyl", lambda: V.perambulators(D, 1, file=file, spin_basis="weyl"))
        # The label follows the numbers.
        other = Path(folder) / "other.h5"
        plaq.write(other, {"p": tau._replace(numbers=tau.dirac_pauli()), "q": tau.dirac_pauli()[1]})
        with h5py.File(other) as opened:
            assert opened["p/t0"].attrs["spin_basis"] == opened["q"].attrs["spin_basis"] == "Dirac-Pauli"
            assert opened["q"].attrs["source_time"] == 2
        close(plaq.read(other)["p"].numbers, tau.numbers, 1e-12)
        phi = V.mesons()[0, 0]
        wrong = tau.dirac_pauli()[0]
        refused(ValueError, "DeGrand-Rossi|Dirac-Pauli", lambda: distillation.meson(wrong, 0, ("5", phi), ("5", phi)))


def test_arrays_of_modes_keep_what_they_are():
    import h5py

    U, V, D = made()
    momenta = [(0, 0, 0), (0, 1, -1)]
    W = plaq.modes(plaq.Gauge.hot(EXTENTS, seed=9), N)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "phi.h5"
        contents = {"phi": V.mesons(momenta, ["", "dx +y"]), "b": V.baryons(momenta), "part": V.mesons(momenta)[1, 0]}
        contents["g"] = V.generalised(D, 1, [2, 3], ["T"], tol=1e-4)
        plaq.write(file, {**contents, "w": W.mesons()})
        with h5py.File(file) as opened:
            about = dict(opened["phi"].attrs)
            assert about["indices"] == "momentum, operator, t, left mode, right mode"
            assert about["momenta"].tolist() == [list(p) for p in momenta] and list(about["operators"]) == ["1", "dx +y"]
            assert about["stout_steps"] == 2 and "links_projection_re" in about
            assert opened["part"].attrs["indices"] == "t, left mode, right mode"
            assert opened["g"].attrs["source_time"] == 1 and opened["g"].attrs["spin_basis"] == "DeGrand-Rossi"
        found = plaq.read(file)
        for name, array in contents.items():
            assert (np.asarray(found[name]) == np.asarray(array)).all()
        tau = V.perambulators(D, 0, tol=1e-8).numbers[0]
        five = ("5", found["phi"][0, 0])
        distillation.meson(tau, 0, five, ("5", found["part"]))
        refused(capi.FieldMismatch, "sink|modes", lambda: distillation.meson(tau, 0, ("5", found["w"][0, 0]), five))
        plaq.write(Path(folder) / "again.h5", found)
        with h5py.File(Path(folder) / "again.h5") as opened:
            assert opened["phi"].attrs["indices"] == about["indices"] and opened["phi"].attrs["modes_basis"].shape == (N,)


def test_files_of_modes_are_not_lost():
    U, V, _ = made()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "modes.lime"
        V.save(file)
        before = file.read_bytes()
        refused(capi.FileWrite, "modes.lime|expected a new file", lambda: capi.plaq_modes_write(V, file, "refuse"))
        refused(capi.Unsupported, "if_exists", lambda: capi.plaq_modes_write(V, file, "append"))
        assert file.read_bytes() == before
        capi.plaq_modes_write(V, file, "overwrite")
        close(plaq.Modes.load(file, U).values, V.values, 1e-15)


def test_distillation_names_what_is_wrong():
    U, V, D = made()
    tau, phi = V.perambulators(D, [0, 1], tol=1e-6), V.mesons()[0, 0]
    five = ("5", phi)
    refused(ValueError, "rho|steps", lambda: plaq.modes(U, 4, rho=0.12))
    refused(ValueError, "rho|steps", lambda: plaq.modes(U, 4, rho=0.12, smeared=U))
    refused(capi.BadParameter, "rho|steps", lambda: capi.plaq_modes_create(U, None, capi.plaq_modes_params(rho=0.12), None))
    for file in (None, "/no/such/folder/tau.h5"):
        refused(ValueError, "times|each time once|0 twice", lambda file=file: V.perambulators(D, [0, 1, 0], file=file))
    numbers = np.empty((2, 4, 4, 4, N, N), complex)
    solver = D._solver(None, {})
    twice = lambda: capi.plaq_modes_perambulators(V, solver, [1, 1], 2, None, numbers, numbers.size)  # noqa: E731
    refused(capi.InvalidArgument, "times|once|1 twice", twice)
    pion = np.array([15, 15], np.int32)
    for t0 in (4, 99, -1):
        out = np.empty((1, 4), complex)
        one = tau.numbers[0]
        call = lambda t0=t0: capi.plaq_modes_mesons(one, one, N, 4, t0, phi, phi[0], pion, 1, out)  # noqa: E731
        refused(capi.InvalidArgument, f"source_time|0 to 3|{t0}", call)
        refused(ValueError, f"source_time|0 to 3|{t0}", lambda t0=t0: distillation.meson(one, t0, five, five))
        sunk = lambda t0=t0: distillation.three_point(one, 0, five, five, one, sink_time=t0)  # noqa: E731
        refused(ValueError, f"sink_time|0 to 3|{t0}", sunk)
    refused(ValueError, "source_time|expected 1|found 0", lambda: distillation.meson(tau.numbers[1], 0, five, five))
    refused(TypeError, "numbers of one source time|Perambulators", lambda: distillation.meson(tau, 0, five, five))
    elsewhere = plaq.Wilson(plaq.Gauge.hot([4, 4, 4, 4], seed=2), mass=1.0)
    refused(capi.FieldMismatch, "solver|4 x 4 x 2 x 4|found 4 x 4 x 4 x 4", lambda: V.perambulators(elsewhere, 0))
    doublet = plaq.Doublet(U, mass=1.0, mu=0.1, epsilon=0.1)
    refused(capi.Unsupported, "solver|expected an operator on|found one on", lambda: V.perambulators(doublet, 0))
    overlap = plaq.Overlap(plaq.Gauge.warm(EXTENTS, 3, 0.15), mass=0.2, modes=4, delta=1e-3)
    refused(capi.FieldMismatch, "solver|links of modes", lambda: V.perambulators(overlap, 0))
    refused(capi.Unsupported, "operator|Wilson|found Overlap", lambda: plaq.Wilson.loops(overlap, U))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "all.h5"
        for name in ("", "a//b", "/a", "a/.."):
            refused(ValueError, "name|with / between", lambda name=name: V.perambulators(D, 0, file=file, name=name))
            refused(ValueError, "contents|with / between", lambda name=name: plaq.write(file, {name: [1]}))
        assert not file.exists()
        refused(ValueError, "contents|'a' beside 'a/b'", lambda: plaq.write(file, {"a": [1], "a/b": [2]}))
        refused(TypeError, "contents|dict|list", lambda: plaq.write(file, [1, 2]))
        refused(FileNotFoundError, "all.h5|folder", lambda: plaq.write(Path(folder) / "no/all.h5", {"a": [1]}))
        plaq.write(file, {"values": [1.0]})
        refused(FileExistsError, "values|group|dataset", lambda: V.perambulators(D, 0, file=file, name="values"))
        refused(FileExistsError, "values|group|dataset", lambda: plaq.write(file, {"values/a": [1]}, append=True))
        assert list(plaq.read(file)) == ["values"]
