"""What the tests compare with: functions of tests/reference, and more in slow, obvious NumPy that shares nothing with
the library."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "reference"))

from plaq_reference import APE, HYP, OVERIMPROVED, STOUT, dirac, field_strength, smeared, smeared_spinor  # noqa: E402, F401

I = 1j
GAMMA = [
    np.array([[0, 0, 0, I], [0, 0, I, 0], [0, -I, 0, 0], [-I, 0, 0, 0]]),
    np.array([[0, 0, 0, -1], [0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0]], complex),
    np.array([[0, 0, I, 0], [0, 0, 0, -I], [-I, 0, 0, 0], [0, I, 0, 0]]),
    np.array([[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]], complex),
]
GAMMA5 = GAMMA[0] @ GAMMA[1] @ GAMMA[2] @ GAMMA[3]
ONE = np.eye(4)


def dag(a):
    return a.conj().swapaxes(-1, -2)


def shift(a, mu, steps=1):
    """a(x + steps mu) of an array whose first four indices are t, z, y, x."""
    return np.roll(a, -steps, axis=3 - mu)


def random_su3(shape, rng):
    a = rng.standard_normal((*shape, 3, 3)) + 1j * rng.standard_normal((*shape, 3, 3))
    q, _ = np.linalg.qr(a)
    return q / np.linalg.det(q)[..., None, None] ** (1 / 3)


def random_spinor(shape, rng):
    return rng.standard_normal((*shape, 4, 3)) + 1j * rng.standard_normal((*shape, 4, 3))


def transformed(u, g):
    return np.stack([g @ u[mu] @ dag(shift(g, mu)) for mu in range(4)])


def plaquette_field(u, mu, nu):
    return u[mu] @ shift(u[nu], mu) @ dag(shift(u[mu], nu)) @ dag(u[nu])


def plaquette(u):
    """Averages of Re tr U_munu / 3: all planes, spatial ones, those with t."""
    planes = {
        (m, n): np.trace(plaquette_field(u, m, n), axis1=-2, axis2=-1).real.mean() / 3
        for m in range(4)
        for n in range(m + 1, 4)
    }
    spatial = np.mean([v for (m, n), v in planes.items() if n < 3])
    temporal = np.mean([v for (m, n), v in planes.items() if n == 3])
    return (spatial + temporal) / 2, spatial, temporal


def laplace(u, x, mass2, directions):
    out = (2 * len(directions) + mass2) * x
    for mu in directions:
        out = out - np.einsum("...ab,...ib->...ia", u[mu], shift(x, mu))
        out = out - np.einsum("...ba,...ib->...ia", shift(u[mu], mu, -1).conj(), shift(x, mu, -1))
    return out
