"""From configurations to effective masses with errors.

Runs in a minute: python docs/tutorial/1_masses.py [FILE...]; without files it makes three small quenched ones.
"""

import itertools
import sys

import numpy as np
import plaq

# beta = 6.0 on 4^3 x 8: too small for physics, right for learning.
quenched = itertools.islice(plaq.heatbath([4, 4, 4, 8], 6.0, seed=1, thermalise=50, separation=10), 8)
configurations = map(plaq.open, sys.argv[1:]) if sys.argv[1:] else quenched

pions, rhos = [], []
for U in configurations:
    print(U, U.plaquette().total)
    D = plaq.Clover(U, mass=0.2, csw=1.5)  # antiperiodic in time, as its repr says
    S = D.propagator(source=(0, 0, 0, 0))
    pions.append(S.pion())
    rhos.append(S.rho())

# The pion is sum_x tr S S^dagger; in an array of the propagator the indices are
# [t, z, y, x, sink spin, source spin, sink colour, source colour].
array = S.numpy()
by_hand = np.einsum("tzyxijab,tzyxijab->t", array, array.conj()).real
assert np.allclose(by_hand, pions[-1].data[0], rtol=1e-10)

# Correlators of all configurations: .data is an array (configurations, T).
pion, rho = plaq.Correlator.join(pions), plaq.Correlator.join(rhos)
print(pion)
mass = pion.effective_mass()
print("pion at t = 3:", mass.value[3], "+-", mass.error[3])
print("pion from t = 2 to 5:", pion.plateau(2, 5))
assert mass.value[3] > 0 and np.isfinite(mass.error[3])

try:
    import matplotlib.pyplot as plot
except ImportError:
    print("no matplotlib: no picture")
else:
    figure, ax = plot.subplots()
    pion.folded().plot(ax)
    rho.folded().plot(ax)
    ax.legend()
    figure.savefig("masses.svg")
