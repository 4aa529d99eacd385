"""Landau gauge and a gluon propagator.

python docs/tutorial/2_gluons.py [FILE]
"""

import sys

import numpy as np
import plaq

if len(sys.argv) > 1:
    U = plaq.open(sys.argv[1])
else:
    U = next(plaq.heatbath([6, 6, 6, 6], 6.0, seed=2, thermalise=30))

fixed = U.fix("landau", stop_theta=1e-14)
print(fixed)
g = fixed.transformation  # (T, Z, Y, X, 3, 3)
V = fixed.gauge.numpy()  # (4, T, Z, Y, X, 3, 3)

# The links became g(x) U_mu(x) g(x+mu)^dagger. x is the last index of sites, so that x + mu is a roll of axis 3 - mu.
for mu in range(4):
    turned = g @ U.numpy()[mu] @ np.roll(g, -1, axis=3 - mu).conj().swapaxes(-1, -2)
    assert np.allclose(turned, V[mu], atol=1e-12)

# A_mu(x + mu/2): the traceless antihermitian part of the links over i.
A = (V - V.conj().swapaxes(-1, -2)) / 2j
A -= np.trace(A, axis1=-2, axis2=-1)[..., None, None] / 3 * np.eye(3)

# Its Fourier transform, with the phase of the middle of the link.
n = [np.fft.fftfreq(extent) for extent in V.shape[1:5]]
momenta = np.meshgrid(*n, indexing="ij")  # t, z, y, x
A_p = np.fft.fftn(A, axes=(1, 2, 3, 4))
for mu in range(4):
    A_p[mu] *= np.exp(-1j * np.pi * momenta[3 - mu])[..., None, None]

# In Landau gauge it is transverse: sum_mu 2 sin(p_mu / 2) A_mu(p) = 0.
p_hat = [2 * np.sin(np.pi * momenta[3 - mu]) for mu in range(4)]
longitudinal = sum(p_hat[mu][..., None, None] * A_p[mu] for mu in range(4))
assert np.abs(longitudinal).max() < 1e-4 * np.abs(A_p).max()

# D(p^2) = 2 sum_mu tr A_mu(p) A_mu(-p) / (8 * 3 V).
volume = np.prod(V.shape[1:5])
D = 2 * np.einsum("mtzyxab,mtzyxab->tzyx", A_p, A_p.conj()).real / (24 * volume)
p2 = sum(p**2 for p in p_hat)
for value in np.unique(p2.round(6))[1:8]:
    print(f"p^2 = {value:8.4f}  p^2 D = {value * D[np.isclose(p2, value, atol=1e-6)].mean():.4f}")
