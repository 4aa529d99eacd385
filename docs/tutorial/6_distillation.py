"""Energies of pion and rho at three momenta by distillation, beside those of a point source.

Runs in a minute: python docs/tutorial/6_distillation.py [FILE...]; without files it makes three small quenched ones.
"""

import itertools
import sys

import numpy as np
import plaq
from plaq import distillation

# beta = 6.0 on 4^3 x 8: too small for physics, right for learning.
quenched = itertools.islice(plaq.heatbath([4, 4, 4, 8], 6.0, seed=1, thermalise=50, separation=10), 3)
configurations = map(plaq.open, sys.argv[1:]) if sys.argv[1:] else quenched
momenta = [(0, 0, 0), (0, 0, 1), (0, 1, 1)]
gammas = {"pion": "5", "rho": "X"}

smeared, local = [], []
for U in configurations:
    D = plaq.Clover(U, mass=0.2, csw=1.5)
    # The lowest modes of the Laplacian on every time slice, of links that are stout-smeared in space.
    V = plaq.modes(U, 8, rho=0.1, steps=5)
    print(V, "eigenvalues on slice 0:", V.values[0].round(3))
    # Quark propagators between them, from two time slices.
    tau = V.perambulators(D, times=[0, 4])
    phi = V.mesons(momenta)[:, 0]  # (momenta, T, n, n)
    sums = [
        [
            np.mean([distillation.meson(tau.numbers[k], t0, (g, one), (g, one)) for k, t0 in enumerate(tau.times)], axis=0)
            for one in phi
        ]
        for g in gammas.values()
    ]
    smeared.append(sums)
    S = D.propagator()
    local.append(plaq.mesons(S, gammas=list(gammas.values()), momenta=momenta).swapaxes(0, 1))

# The elemental at rest is 1, and perambulators are gamma5-hermitian.
assert np.allclose(phi[0], np.eye(V.count))
g5 = plaq.gamma["5"]
assert np.allclose(np.einsum("su,vuba,vw->swab", g5, tau.numbers[1, 0].conj(), g5), tau.numbers[0, 4], atol=1e-7)

print(f"{'':14}{'distillation':>22}{'point source':>22}   at t = 2")
for i, name in enumerate(gammas):
    for j, n in enumerate(momenta):
        energies = []
        for data in (np.array(smeared), np.array(local)):
            mass = plaq.Correlator(data[:, i, j].real, name=name).folded().effective_mass()
            energies.append(f"{mass.value[2]:10.4f} +- {mass.error[2]:.4f}")
        print(f"{name} {n}".ljust(18), "    ".join(energies))

# Two operators for the pion, of 4 and of 8 modes: generalised eigenvalues of their matrix.
few = np.diag(np.arange(V.count) < 4).astype(complex)
pair = [phi[0], phi[0] * few]
matrix = np.array([[distillation.meson(tau.numbers[0], 0, ("5", a), ("5", b)).real for b in pair] for a in pair])
print("generalised eigenvalues at t = 2, 3:", plaq.gevp(matrix[None], 1).value[2:4].round(4).tolist())
