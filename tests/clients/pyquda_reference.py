"""Operators and paths in NumPy, on arrays [t][z][y][x]... of the whole lattice: what PyQUDA on plaq is compared with."""

import numpy as np

# Gamma matrices of DeGrand and Rossi.
j = 1j
GAMMA = np.array(
    [
        [[0, 0, 0, j], [0, 0, j, 0], [0, -j, 0, 0], [-j, 0, 0, 0]],
        [[0, 0, 0, -1], [0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0]],
        [[0, 0, j, 0], [0, 0, 0, -j], [-j, 0, 0, 0], [0, j, 0, 0]],
        [[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]],
    ]
)


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


def hopping(u, psi, scale=(1, 1, 1, 1)):
    """The sum over both neighbours in each direction, with a factor of each, antiperiodic in t."""
    u = u.copy()
    u[3, -1] *= -1
    out = np.zeros_like(psi)
    for mu in range(4):
        out += scale[mu] * (np.eye(4) - GAMMA[mu]) @ forward(u, psi, mu)
        out += scale[mu] * (np.eye(4) + GAMMA[mu]) @ backward(u, psi, mu)
    return out


def along(u, steps):
    """Products of links along a path from every site; steps 0 to 3 forward, 7 - mu back."""
    product = np.broadcast_to(np.eye(3), u[0].shape)
    for step in reversed(steps):
        link = u[step] if step < 4 else neighbour(dagger(u[7 - step]), 7 - step, -1)
        product = link @ (neighbour(product, step, 1) if step < 4 else neighbour(product, 7 - step, -1))
    return product


def strength(u, mu, nu):
    """F = (Q - Q^dagger) / 8 of the four leaves around every site."""
    leaf = [mu, nu, 7 - mu, 7 - nu]
    q = sum(along(u, leaf[k:] + leaf[:k]) for k in range(4))
    return (q - dagger(q)) / 8


def clover_term(u, space, time):
    """sum_(mu<nu) c sigma F of every site, a matrix of spin and colour, with these c of planes in space and with time."""
    term = 0
    for nu in range(4):
        for mu in range(nu):
            c = time if nu == 3 else space
            term = term - c * np.einsum("st,TZYXab->TZYXsatb", GAMMA[mu] @ GAMMA[nu], strength(u, mu, nu))
    return term.reshape(*u.shape[1:5], 12, 12)


def smeared(u, psi, alpha, steps):
    """[(1 + alpha sum (U + U^dagger)) / (1 + 6 alpha)]^steps psi, the sum over neighbours in space."""
    for _ in range(steps):
        near = sum(forward(u, psi, mu) + backward(u, psi, mu) for mu in range(3))
        psi = (psi + alpha * near) / (1 + 6 * alpha)
    return psi


def propagator(u, kappa, anisotropy=1.0, clover=(0.0, 0.0), smearing=(0.0, 0)):
    """From a source at the origin that is smeared with this alpha so often, [t][z][y][x][s][s'][c][c'] with the source's
    indices last: 2 kappa times the inverse of 1 - kappa H + kappa c sigma F, hops in space divided by the anisotropy,
    clover: c in space and with time."""
    scale = [1 / anisotropy] * 3 + [1]
    term = clover_term(u, kappa * clover[0], kappa * clover[1])

    def apply(x):
        flat = x.reshape(*x.shape[:-2], 12)
        return x - kappa * hopping(u, x, scale) + times(term, flat).reshape(x.shape)

    flip = np.array([1, 1, -1, -1])[:, None]

    def square(x):
        return flip * apply(flip * apply(x))

    sites = u.shape[1:5]
    b = np.zeros((*sites, 12, 4, 3), complex)
    b[0, 0, 0, 0] = np.eye(12).reshape(12, 4, 3)
    b = smeared(u, b, *smearing)
    # CG on M^dagger M, M^dagger = g5 M g5, each column with numbers of its own.
    r = flip * apply(flip * b)
    x, p = np.zeros_like(b), r

    def dot(v, w):
        return np.einsum("tzyxnsc,tzyxnsc->n", v.conj(), w).real

    norm = start = dot(r, r)
    while np.any(norm > 1e-30 * start):
        q = square(p)
        step = (norm / dot(p, q))[:, None, None]
        x, r = x + step * p, r - step * q
        norm, old = dot(r, r), norm
        p = r + (norm / old)[:, None, None] * p
    return 2 * kappa * np.moveaxis(x.reshape(*sites, 4, 3, 4, 3), [6, 4, 7, 5], [4, 5, 6, 7])
