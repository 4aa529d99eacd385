"""Operators on arrays [t][z][y][x]... of the whole lattice: what PyQUDA on plaq is compared with."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "reference"))

from plaq_reference import dirac, smeared_spinor, solve  # noqa: E402


def dagger(m):
    return np.swapaxes(m.conj(), -1, -2)


def neighbour(f, mu, step):
    """f at x + step mu of an array [t][z][y][x]..."""
    return np.roll(f, -step, axis=3 - mu)


def times(matrices, psi):
    """Matrices of every site times vectors, whose last index is theirs."""
    rows = psi.reshape(*psi.shape[:4], -1, matrices.shape[-1])
    return (rows @ np.swapaxes(matrices, -1, -2)).reshape(psi.shape)


def forward(u, psi, mu):
    return times(u[mu], neighbour(psi, mu, 1))


def backward(u, psi, mu):
    return neighbour(times(dagger(u[mu]), psi), mu, -1)


def hopping(u, psi):
    """The sum over both neighbours in each direction, antiperiodic in t: D = 4 - H / 2 without a mass."""
    return 8 * psi - 2 * dirac(u, psi, 0.0)


def smeared(u, psi, alpha, steps):
    """Gaussian smearing in space of spinors and of colour vectors, which are those of one spin."""
    spinors = psi if psi.ndim == 6 else np.repeat(psi[..., None, :], 4, axis=-2)
    out = smeared_spinor(u, spinors, alpha, steps)
    return out if psi.ndim == 6 else out[..., 0, :]


def propagator(u, kappa, anisotropy=1.0, clover=(0.0, 0.0), smearing=(0.0, 0)):
    """From a source at the origin that is smeared with this alpha so often, [t][z][y][x][s][s'][c][c'] with the source's
    indices last: 2 kappa times the inverse of 1 - kappa H + kappa c sigma F, hops in space divided by the anisotropy,
    clover: c in space and with time."""
    hops = [1 / anisotropy] * 3 + [1]
    sites = u.shape[1:5]
    b = np.zeros((12, *sites, 4, 3), complex)
    for k in range(12):
        b[k, 0, 0, 0, 0, k // 3, k % 3] = 1
        b[k] = smeared_spinor(u, b[k], *smearing)
    x = solve(u, b, 1 / (2 * kappa) - sum(hops), hops=hops, csw=clover[0], csw_t=clover[1], tol=1e-15)
    return np.moveaxis(x.reshape(4, 3, *sites, 4, 3), [6, 0, 7, 1], [4, 5, 6, 7])
