"""Arguments that cannot be: each is refused by its name, with what was expected and found."""

import tempfile

import numpy as np
import plaq
from common import close, lattice, refused


def test_sources_and_momenta():
    _, U = lattice()
    D = plaq.Wilson(U, mass=0.3)
    S = D.propagator(source=np.array([1, 5, 0, 7]))
    assert S.position == [1, 5, 0, 7]
    close(S.numpy(), D.propagator(source=(1, 5, 0, 7)).numpy(), 1e-15)
    refused(ValueError, "source: expected four numbers|[1, 2, 3, 4, 5]", lambda: D.propagator(source=np.arange(1, 6)))
    refused(TypeError, "source: expected a whole number|0.5", lambda: D.propagator(source=np.array([0.5, 0, 0, 0])))
    for far in (2**40, -(2**63)):
        refused(OverflowError, f"momenta|32 bits|{far}", lambda: plaq.mesons(S, momenta=[(far, 0, 0)]))
    refused(ValueError, "mass: expected a finite number, found nan", lambda: plaq.Wilson(U, mass=np.nan))
    refused(ValueError, "mass: expected a finite number, found inf", lambda: plaq.Wilson(U, mass=np.inf))
    refused(ValueError, "xi: expected a finite number, found -inf", lambda: plaq.Wilson(U, mass=1, xi=-np.inf))
    refused(ValueError, "kappa: expected a finite number, found nan", lambda: plaq.Clover(U, kappa=np.nan, csw=1))
    refused(ValueError, "flow: expected a time|inf", lambda: U.flow(np.inf))


def test_files_that_are_folders():
    _, U = lattice()
    with tempfile.TemporaryDirectory() as folder:
        for overwrite in (False, True):
            refused(IsADirectoryError, f"{folder}: expected the name of a file", lambda: U.write(folder, overwrite=overwrite))


def test_words_of_starts_and_directions():
    U = next(plaq.heatbath((2, 2, 2, 4), 6.0, seed=3, start="HOT", thermalise=0))
    assert (U.numpy() == plaq.Gauge.hot((2, 2, 2, 4), 3).numpy()).all()
    for word in ("unit", "Cold"):
        assert next(plaq.heatbath((2, 2, 2, 4), 6.0, start=word, thermalise=0)).plaquette().total == 1
    refused(ValueError, "start: expected hot or unit, found 'warm'", lambda: next(plaq.heatbath((2, 2, 2, 4), 6.0, start="warm")))
    fixed = [U.fix("coulomb", direction=d, max_iterations=20, method="overrelaxation") for d in (0, "x", "X", "t")]
    first, *others = [f.report.functional for f in fixed]
    assert others[:2] == [first, first] and others[2] != first
    refused(ValueError, "direction: expected 0 to 3 or a letter of xyzt, found 'u'", lambda: U.fix("coulomb", direction="u"))
    refused(TypeError, "'time'|its name is direction now", lambda: U.fix("coulomb", time=2))


def test_names_of_files_that_are_none():
    _, U = lattice()
    D = plaq.Wilson(U, mass=0.3)
    for call in (plaq.open, plaq.Propagator.open, D.load_eigen, U.write):
        for found in (3, None, ["links"]):
            refused(TypeError, f"file: expected the name of a file|{found!r:.40}", lambda: call(found))


def test_positions_that_contradict_the_source():
    _, U = lattice()
    D = plaq.Wilson(U, mass=0.3)
    b = plaq.Fermion(U, 12)
    plaq.capi.plaq_spinor_source(b, plaq.point(1, 2, 0, 3))
    wrong = [2, 2, 0, 3]
    says = "position: expected [1, 2, 0, 3]|found [2, 2, 0, 3]"
    refused(ValueError, f"{says}|records", lambda: D.propagator(source=b, position=wrong))
    refused(ValueError, f"{says}|only site", lambda: D.propagator(source=b.numpy(), position=wrong))
    assert D.propagator(source=b.numpy(), position=(1, 2, 0, 3)).position == [1, 2, 0, 3]
    assert D.propagator(source=b, position=(1, None, 0, 3)).position is not None
    # A wall is at no single site, and a source that says so is elsewhere.
    w = plaq.Fermion(U, 12)
    plaq.capi.plaq_spinor_source(w, plaq.wall(3))
    assert D.propagator(source=w.numpy(), position=(1, 2, 0, 5)).position == [1, 2, 0, 5]
    b.position = wrong
    assert D.propagator(source=b, position=wrong).position == wrong


def test_operators_between_modes():
    _, U = lattice()
    V, D = plaq.modes(U, 2), plaq.Wilson(U, mass=0.3)
    refused(TypeError, "operators: expected a list|'dx'", lambda: V.mesons(operators="dx"))
    refused(ValueError, "operators: expected at least one", lambda: V.mesons(operators=[]))
    refused(ValueError, "operators|found 't'", lambda: V.mesons(operators=["t"]))
    refused(ValueError, "insertions|(Gamma, momentum, path)|('5', '')", lambda: V.generalised(D, 0, 2, [("5", "")]))
    refused(ValueError, "insertions: expected at least one", lambda: V.generalised(D, 0, 2, []))
    for path in ("dx", "+t", "x"):
        refused(ValueError, f"insertions: expected a path|{path}", lambda: V.generalised(D, 0, 2, [("5", (0, 0, 0), path)]))


def test_analyses():
    matrices = np.exp(-np.arange(6)) * np.eye(2)[..., None] * np.linspace(1, 1.1, 9)[:, None, None, None]
    refused(ValueError, "data: expected finite numbers", lambda: plaq.gevp(matrices * np.nan, 1))
    refused(TypeError, "t0: expected a whole number|1.5", lambda: plaq.gevp(matrices, 1.5))
    constant = plaq.jackknife(np.random.default_rng(1).normal(1, 0.1, (20, 6)))
    refused(TypeError, "first: expected a whole number|2.5", lambda: plaq.fits.plateau(constant, 2.5, 4))
    refused(ValueError, "first, last: expected times from 0 to 5, found 4 to 2", lambda: plaq.fits.plateau(constant, 4, 2))
    assert plaq.fits.plateau(constant, np.int64(2), 4.0).dof == 2
    fits, data = plaq.fits, np.ones((20, 6))
    refused(TypeError, "sink: expected a whole number|2.5", lambda: fits.ratio(data, data, 2.5))
    close(fits.ratio(data, data, 2.0).value, np.ones(3))
    for call, name in (
        (lambda found: fits.plateau(found, 0, 2), "plateau: expected an Estimate"),
        (lambda found: fits.correlator(found, 0, 2, form="log"), "data: expected a Correlator or an Estimate"),
        (lambda found: fits.summation({4: found, 5: found}), "ratios[4]: expected an Estimate"),
        (fits.two_states, "ratios: expected {sink: ratio, ...}"),
        (fits.covariance, "covariance: expected an Estimate"),
    ):
        for found in ([1, 2, 3], None, data):
            refused(TypeError, f"{name}|found {type(found).__name__}", lambda: call(found))


def test_matrices_quarks_and_words_of_hadrons():
    _, U = lattice()
    D = plaq.Wilson(U, mass=0.3)
    S, five = D.propagator(), plaq.gamma["5"]
    # One matrix is that in lists, too, and a whole number of any kind is that of a Gamma.
    for given in (five.tolist(), 15, 15.0, np.int64(15)):
        close(plaq.mesons(S, gammas=given), plaq.mesons(S, gammas=five), 1e-15)
    polarised = plaq.structure.PROJECTORS["z"]
    close(plaq.structure.quarks(S, projector=polarised.tolist()), plaq.structure.quarks(S, projector=["z"]), 1e-15)
    for found in (None, object()):
        refused(TypeError, f"gammas: expected numbers, names or 4 x 4 arrays, found {found!r}", lambda: plaq.mesons(S, gammas=found))
    refused(ValueError, "gammas: expected one matrix or more, found none", lambda: plaq.mesons(S, gammas=[]))
    refused(ValueError, "sink: expected a number, a name of C5|found None", lambda: plaq.structure.quarks(S, sink=None))
    for found in (None, 3, [1], ["123"], [("123",)], {"123": 1}):
        words = f"quark: expected u or d, or pairs of a pairing and a slot, found {found!r}"
        refused(ValueError, words, lambda: plaq.structure.through_baryon(S, quark=found, time=1))
    words = "projector: expected one of unpolarised, x, y, z, found ndarray|structure.quarks takes any 4 x 4 matrix"
    refused(TypeError, words, lambda: plaq.baryons(S, projector=polarised))
    for made in (D.loops, D.loop_sums):
        for found in (3, None, ["spin"]):
            refused(TypeError, f"dilute: expected words of spin, colour, parity, time|found {found!r}", lambda: made(U, dilute=found))


def test_loops_of_doublets():
    _, U = lattice()
    D, doublet = plaq.Wilson(U, mass=0.3), plaq.Doublet(U, mass=0.3, mu=0.1, epsilon=0.05)
    words = "expected its operator, found a doublet"
    for made in (doublet.loops, doublet.loop_sums):
        refused(plaq.capi.Unsupported, f"operator: loops|{words}", lambda: made(U))
    refused(plaq.capi.Unsupported, f"minus: loops|{words}", lambda: D.loops(U, minus=doublet))
    refused(plaq.capi.Unsupported, f"operator: loops and low modes|{words}", lambda: doublet.space(eigen=doublet.eigen(1)))
