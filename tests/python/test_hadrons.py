"""Gamma matrices, mesons and baryons of propagators, correlators and what other packages make of them."""

import itertools
import tempfile

import numpy as np
import plaq
import reference as ref
from common import CONFIGURATION, SHAPE, close, refused


def propagators(shape=SHAPE, seed=7):
    """A random propagator as a field and an array."""
    rng = np.random.default_rng(seed)
    array = rng.standard_normal((*shape, 4, 4, 3, 3)) + 1j * rng.standard_normal((*shape, 4, 4, 3, 3))
    return plaq.Propagator.from_array(array), array


def test_gamma_matrices():
    assert len(plaq.gamma) == 16
    for mu, name in enumerate("XYZT"):
        close(plaq.gamma[name], ref.GAMMA[mu])
        close(plaq.gamma[1 << mu], ref.GAMMA[mu])
    close(plaq.gamma["5"], np.diag([1, 1, -1, -1]))
    close(plaq.gamma(15), ref.GAMMA5)
    for m, n in itertools.product(range(4), repeat=2):
        close(
            plaq.gamma[1 << m] @ plaq.gamma[1 << n] + plaq.gamma[1 << n] @ plaq.gamma[1 << m], 2 * (m == n) * np.eye(4)
        )
    assert plaq.gamma.number("X5") == 14 and plaq.gamma.number("1") == 0
    # A name is the product that it spells; where a number is asked for, one of the sixteen.
    for letters in itertools.product("1XYZT5", repeat=3):
        product = plaq.gamma[letters[0]] @ plaq.gamma[letters[1]] @ plaq.gamma[letters[2]]
        assert np.array_equal(plaq.gamma["".join(letters)], product)
    refused(ValueError, "'T5'|minus|7|'5T'", lambda: plaq.gamma.number("T5"))
    refused(ValueError, "'YX'|minus|3|'XY'", lambda: plaq.Fermion.noise([2, 2, 2, 4], 1).sequential(gamma="YX"))
    # The gamma matrices are those of the library, by which a sequential source multiplies.
    psi = plaq.Fermion.noise([2, 2, 2, 4], 1, seed=4)
    for number in range(16):
        expected = np.einsum("ij,...jc->...ic", plaq.gamma[number], psi.numpy())
        close(psi.sequential(gamma=number).numpy(), expected)


def test_einsum_pion_is_the_library_s():
    gauge = plaq.open(CONFIGURATION)
    s = plaq.Clover(gauge, mass=0.2, csw=1.2).propagator()
    array = s.numpy()
    close(s.pion().data[0], np.einsum("tzyxijab,tzyxijab->t", array, array.conj()).real, 1e-12)
    rho = 0
    for name in "XYZ":
        g = plaq.gamma["5"] @ plaq.gamma[name]
        # The rho's correlator sum tr G S G^dagger S^dagger
        rho = rho + np.einsum("ij,tzyxjkab,kl,tzyxilab->t", g, array, g.conj().T, array.conj()).real / 3
    close(s.rho().data[0], rho, 1e-11)


def test_mesons_are_the_definition():
    quark, s = propagators()
    anti, sbar = propagators(seed=8)
    quark.position = anti.position = [1, 3, 0, 2]
    gt, g5 = plaq.gamma["T"], plaq.gamma["5"]
    pairs, momenta = ["5", ("X", "X"), ("T5", "5"), (3, 12)], [[0, 0, 0], [1, 0, -1]]
    found = plaq.mesons(quark, anti, gammas=pairs, momenta=momenta)
    assert found.shape == (2, 4, 8)
    x, y, z = np.arange(4) - 1, np.arange(6) - 3, np.arange(2)
    for p, (nx, ny, nz) in enumerate(momenta):
        phase = np.exp(-2j * np.pi * (nx * x[None, None] / 4 + ny * y[None, :, None] / 6 + nz * z[:, None, None] / 2))
        for g, pair in enumerate(pairs):
            a, b = pair if isinstance(pair, tuple) else (pair, pair)
            middle = gt @ plaq.gamma[b].conj().T @ gt @ g5
            # A meson's correlator -tr[Gamma_A S gt Gamma_B^dagger gt g5 S'^dagger g5]
            left = np.einsum("ij,tzyxjkab->tzyxikab", g5 @ plaq.gamma[a], s)
            c = -np.einsum("tzyxikab,kl,tzyxilab,zyx->t", left, middle, sbar.conj(), phase)
            close(found[p, g], np.roll(c, -2), 1e-11)
    refused(ValueError, "triples|(3,)", lambda: plaq.mesons(quark, momenta=[1, 0, 0]))
    refused(ValueError, "0 to 15|16", lambda: plaq.mesons(quark, gammas=[16]))
    close(plaq.mesons(quark, gammas=plaq.gamma["T5"]), plaq.mesons(quark, gammas=["T5"]))
    close(plaq.mesons(quark, gammas=[("T5", "5")]), -plaq.mesons(quark, gammas=[(7, "5")]))


def test_hadrons_do_not_know_where_they_start():
    """The same configuration moved in time gives the same correlators, antiperiodic signs included."""
    gauge = plaq.open(CONFIGURATION)
    moved = plaq.Gauge.from_array(np.roll(gauge.numpy(), 3, axis=1))
    here = plaq.Wilson(gauge, mass=0.3).propagator(tol=1e-12)
    there = plaq.Wilson(moved, mass=0.3).propagator(source=(0, 0, 0, 3), tol=1e-12)
    for name in ("pion", "rho", "nucleon"):
        close(getattr(there, name)().data, getattr(here, name)().data, 1e-8)
    names = ["nucleon", "lambda", "delta", "omega"]
    b = plaq.baryons(here, here, names=names)
    assert b.shape == (1, 4, 8)
    close(b[0, 0], b[0, 1], 1e-10)  # one mass: the octet is degenerate
    assert here.nucleon().form == "log" and here.pion().data[0, 0] > 0
    # Contractions use the phases of the operator.
    periodic = plaq.Wilson(gauge, mass=0.3, boundary="periodic")
    assert periodic.propagator().boundary == 0
    close(there.smear(moved, 0.2, 2).position, [0, 0, 0, 3])


def test_propagators_that_do_not_go_together():
    gauge = plaq.open(CONFIGURATION)
    s = plaq.Wilson(gauge, mass=0.5).propagator()
    kappa = plaq.Wilson(gauge, mass=0.5, normalisation="kappa").propagator()
    close(kappa.numpy(), 4.5 * s.numpy(), 1e-8)  # the inverse of 2 kappa D, with 2 kappa = 1 / (m + 4)
    refused(ValueError, "antiquark|normalisation|mass|kappa", lambda: plaq.mesons(s, kappa))
    moved = plaq.Wilson(gauge, mass=0.5).propagator(source=(0, 0, 0, 1))
    refused(ValueError, "strange|t = 0|found 1", lambda: plaq.baryons(s, moved))


def test_propagator_files():
    gauge = plaq.open(CONFIGURATION)
    s = plaq.Wilson(gauge, mass=0.3).propagator(source=(0, 0, 0, 0))
    eta = plaq.Fermion.source(gauge)
    with tempfile.TemporaryDirectory() as folder:
        s.write(f"{folder}/matrix")
        refused(FileExistsError, "overwrite=True", lambda: s.write(f"{folder}/matrix"))
        s.write(f"{folder}/pairs", sources=eta, kind="pairs", precision="single")
        close(plaq.Propagator.open(f"{folder}/matrix").numpy(), s.numpy(), 1e-15)
        close(plaq.Propagator.open(f"{folder}/pairs", precision="double").numpy(), s.numpy(), 1e-6)
        refused(OSError, "absent", lambda: plaq.Propagator.open(f"{folder}/absent"))
    close(s.evenodd()[0, 0, 0, 0, 0], s.lexico()[0, 0, 0, 0], 1e-15)


def sample(n=20):
    rng = np.random.default_rng(3)
    t = np.arange(8)
    shape = np.cosh(0.4 * (t - 4))
    return plaq.Correlator(
        shape * (1 + 0.01 * rng.standard_normal((n, 8))),
        name="pion",
        configurations=range(10, 10 + 2 * n, 2),
        gammas=("Gamma5", "Gamma5"),
    )


def test_jackknife():
    data = np.random.default_rng(1).standard_normal((50, 3))
    found = plaq.jackknife(data)
    close(found.value, data.mean(axis=0))
    close(found.error, data.std(axis=0, ddof=1) / np.sqrt(50))
    binned = data[:48].reshape(12, 4, 3).mean(axis=1)
    close(plaq.jackknife(data[:48], bin=4).error, binned.std(axis=0, ddof=1) / np.sqrt(12))
    square = plaq.jackknife(data, lambda mean: mean**2)
    close(square.samples[7], ((data.sum(axis=0) - data[7]) / 49) ** 2)
    refused(ValueError, "1 to 50", lambda: plaq.jackknife(data, bin=51))


def test_correlators():
    c = sample()
    assert c.data.shape == (20, 8) and len(c) == c.times == 8
    mass = c.effective_mass()
    assert np.isnan(mass.value[0]) and np.abs(mass.value[1:7] - 0.4).max() < 5 * mass.error[1:7].max()
    close(plaq.Correlator(np.exp(-0.3 * np.arange(8))).effective_mass("log").value[:7], np.full(7, 0.3), 1e-10)
    close(c.folded().mean[1], (c.mean[1] + c.mean[7]) / 2)
    plateau = c.plateau(1, 6)
    assert abs(plateau.value - 0.4) < 4 * plateau.error and plateau.error < mass.error[1:7].min()
    samples = [plaq.Correlator(np.delete(c.data, n, 0)).effective_mass().value[1:7] for n in range(20)]
    close(plateau.samples, np.average(samples, axis=1, weights=mass.error[1:7] ** -2), 1e-10)
    refused(ValueError, "0 to 3", lambda: c.plateau(0, 3))
    parts = [plaq.Correlator(row, name="pion") for row in c.data]
    joined = plaq.Correlator.join(parts, configurations=c.configurations)
    close(joined.data, c.data)
    assert "20 configurations" in repr(c) and len(str(c).splitlines()) == 9
    refused(ValueError, "(configurations, T)", lambda: plaq.Correlator(np.zeros((2, 2, 2))))


def test_pyerrors():
    import pyerrors

    c = sample()
    corr = c.to_pyerrors("ensemble")
    corr.gamma_method()
    close([o[0].value for o in corr.content], c.mean, 1e-12)
    assert corr.content[0][0].idl["ensemble"] == range(10, 50, 2)
    history = plaq.observable(c.data[:, 0], "chain", c.configurations)
    history.gamma_method()
    close(history.value, c.mean[0], 1e-12)
    # pyerrors reads files in the format of Hadrons.
    import pyerrors.input.hadrons

    with tempfile.TemporaryDirectory() as folder:
        written = c.to_hdf5(f"{folder}/meson")
        assert written[1].endswith("meson.12.h5") and len(written) == 20
        read = pyerrors.input.hadrons.read_meson_hd5(folder, "meson", "ensemble", gammas=("Gamma5", "Gamma5"))
        close([o[0].value for o in read.content], c.mean, 1e-12)
        refused(FileExistsError, "meson.10.h5|overwrite|append", lambda: c.to_hdf5(f"{folder}/meson"))
        import h5py

        for how, entries in [({"append": True}, 2), ({"overwrite": True}, 1)]:
            c.to_hdf5(f"{folder}/meson", **how)
            with h5py.File(written[0]) as file:
                assert len(file["meson"]) == entries


def test_gvar():
    import gvar

    c = sample()
    found = c.to_gvar()
    close(gvar.mean(found), c.mean)
    close(gvar.sdev(found), c.estimate().error)


def test_xarray():
    import xarray  # noqa: F401

    found = sample().to_xarray()
    assert found.dims == ("configuration", "t") and found.sel(configuration=12).shape == (8,)


def test_plots():
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plot

    for more in ({}, {"mass": False}):
        figure, ax = plot.subplots()
        sample().plot(ax, **more)
        assert len(ax.containers) == 1
        plot.close(figure)
    assert "<svg" in sample()._repr_svg_()
    figure, ax = plot.subplots()
    flow = plaq.open(CONFIGURATION).flow(0.2)
    assert flow.plot(ax) is ax and "<svg" in flow._repr_svg_()
    plot.close(figure)
