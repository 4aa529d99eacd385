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
