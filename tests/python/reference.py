"""Lattice QCD in slow, obvious NumPy, which shares nothing with the library: what the tests compare with."""

import numpy as np

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


def with_phases(u, phases):
    """Links that cross the boundary times the fermions' phase."""
    u = u.copy()
    for mu, phase in enumerate(phases):
        last = [slice(None)] * 4
        last[3 - mu] = -1
        u[(mu, *last)] *= phase
    return u


def field_strength(u, mu, nu):
    """(Q - Q^dagger) / 8 of four clover leaves."""
    a, b = u[mu], u[nu]
    am, bm = shift(a, mu, -1), shift(b, nu, -1)
    leaves = plaquette_field(u, mu, nu)
    leaves = leaves + b @ dag(shift(am, nu)) @ dag(shift(b, mu, -1)) @ am
    leaves = leaves + dag(am) @ dag(shift(bm, mu, -1)) @ shift(am, nu, -1) @ bm
    leaves = leaves + dag(bm) @ shift(a, nu, -1) @ shift(bm, mu) @ dag(a)
    return (leaves - dag(leaves)) / 8


def dirac(u, psi, mass, phases=(1, 1, 1, -1), csw=0.0, twist=0.0, hops=(1, 1, 1, 1), exponentiated=False):
    """D psi = (m + sum h) psi - 1/2 sum h [(1 - g_mu) U psi(x+mu) + (1 + g_mu) U^dagger psi(x-mu)]
    + csw (i/4) sum sigma F psi + i twist g5 psi, or with `exponentiated` (m + sum h) exp(csw / (m + sum h) (i/4) sum
    sigma F) psi in place of the first and the clover term."""
    v = with_phases(u, phases)
    diagonal = mass + sum(hops)
    out = (0 if exponentiated else diagonal) * psi + 1j * twist * np.einsum("ij,...jc->...ic", GAMMA5, psi)
    for mu in range(4):
        forward = np.einsum("...ab,...ib->...ia", v[mu], shift(psi, mu))
        backward = np.einsum("...ba,...ib->...ia", shift(v[mu], mu, -1).conj(), shift(psi, mu, -1))
        out = out - hops[mu] / 2 * np.einsum("ij,...jc->...ic", ONE - GAMMA[mu], forward)
        out = out - hops[mu] / 2 * np.einsum("ij,...jc->...ic", ONE + GAMMA[mu], backward)
    if exponentiated:
        term = np.zeros((*psi.shape, 4, 3), complex)
        for mu in range(4):
            for nu in range(mu):
                sigma = I * GAMMA[mu] @ GAMMA[nu]
                term += csw * I / 2 * np.einsum("ij,...ab->...iajb", sigma, field_strength(u, mu, nu))
        values, vectors = np.linalg.eigh(term.reshape(*psi.shape[:-2], 12, 12) / diagonal)
        rotated = np.einsum("...ki,...k->...i", vectors.conj(), psi.reshape(*psi.shape[:-2], 12))
        out = out + diagonal * np.einsum("...ki,...i->...k", vectors, np.exp(values) * rotated).reshape(psi.shape)
    elif csw:
        for mu in range(4):
            for nu in range(4):
                if mu == nu:
                    continue
                sigma = I / 2 * (GAMMA[mu] @ GAMMA[nu] - GAMMA[nu] @ GAMMA[mu])
                out = out + csw * I / 4 * np.einsum("ij,...ab,...jb->...ia", sigma, field_strength(u, mu, nu), psi)
    return out


def laplace(u, x, mass2, directions):
    out = (2 * len(directions) + mass2) * x
    for mu in directions:
        out = out - np.einsum("...ab,...ib->...ia", u[mu], shift(x, mu))
        out = out - np.einsum("...ba,...ib->...ia", shift(u[mu], mu, -1).conj(), shift(x, mu, -1))
    return out


def exponential(a):
    """exp of antihermitian matrices."""
    values, vectors = np.linalg.eigh(-1j * a)
    return vectors @ (np.exp(1j * values)[..., None] * dag(vectors))


def stout(u, rho):
    """A step of stout smearing in all directions."""
    out = []
    for mu in range(4):
        staples = 0
        for nu in range(4):
            if nu != mu:
                staples = staples + u[nu] @ shift(u[mu], nu) @ dag(shift(u[nu], mu))
                low = shift(u[nu], nu, -1)
                staples = staples + dag(low) @ shift(u[mu], nu, -1) @ shift(low, mu)
        omega = rho * staples @ dag(u[mu])
        a = (omega - dag(omega)) / 2
        a = a - np.trace(a, axis1=-2, axis2=-1)[..., None, None] / 3 * np.eye(3)
        out.append(exponential(a) @ u[mu])
    return np.stack(out)


def gaussian_smear(u, psi, alpha, steps):
    for _ in range(steps):
        hop = 0
        for mu in range(3):
            hop = hop + np.einsum("...ab,...ib->...ia", u[mu], shift(psi, mu))
            hop = hop + np.einsum("...ba,...ib->...ia", shift(u[mu], mu, -1).conj(), shift(psi, mu, -1))
        psi = (psi + alpha * hop) / (1 + 6 * alpha)
    return psi
