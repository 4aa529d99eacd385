"""The nucleon's g_V and g_A, u - d, from links to numbers with errors: plateau, summation method, two states.

Runs in a minute: python docs/tutorial/7_nucleon.py [FILE...]; without files it makes six small quenched configurations.
"""

import itertools
import sys
from typing import Dict, List

import numpy as np
import plaq
from plaq import fits, structure

# beta = 6.0 on 4^3 x 12: too small for physics, right for learning.
quenched = itertools.islice(plaq.heatbath([4, 4, 4, 12], 6.0, seed=1, thermalise=50, separation=10), 6)
configurations = map(plaq.open, sys.argv[1:]) if sys.argv[1:] else quenched

sinks = (3, 4, 5)
# Operators u - d: both quarks' contractions through the sink in one source, since solves are linear.
terms = structure.NUCLEON["u"] + structure.NUCLEON["d"]
weights = [1.0] * len(structure.NUCLEON["u"]) + [-1.0] * len(structure.NUCLEON["d"])

two: List[np.ndarray] = []
vector: Dict[int, List[np.ndarray]] = {sink: [] for sink in sinks}
axial: Dict[int, List[np.ndarray]] = {sink: [] for sink in sinks}
for U in configurations:
    D = plaq.Clover(U, mass=0.3, csw=1.5)
    # Gaussian smearing of the source, and of the sink.
    V = U.smear_stout(0.1, 3, "xyz")
    b = plaq.Fermion(U, 12)
    plaq.capi.plaq_spinor_source(b, plaq.point(0, 0, 0, 0))
    S = D.propagator(b.smear(V, 0.3, 4), position=(0, 0, 0, 0), tol=1e-10)
    sunk = S.smear(V, 0.3, 4)
    c2 = structure.quarks(sunk)
    open_spins = c2[structure.PAIRINGS.index("123")] + c2[structure.PAIRINGS.index("321")]
    two.append(np.einsum("ji,...ij", structure.PROJECTORS["unpolarised"], open_spins)[0])
    for sink in sinks:
        for projector, where in (("unpolarised", vector), ("z", axial)):
            w = structure.through_baryon(sunk, quark=terms, weights=weights, projector=projector, time=sink)
            X = D.propagator(w.smear(V, 0.3, 4), tol=1e-10)
            local = structure.insertions(X, S, U)[0, :, 0]  # (16 gammas, T), all times of the operator
            where[sink].append(local[plaq.gamma.number("T" if where is vector else "Z5")])
            if where is vector:
                # The conserved current counts quarks on every configuration: u - d of the proton is 1.
                charge = structure.current(X, S, U)[3, 0]
                inside, outside = charge[1], charge[sink + 2]
                assert np.allclose(charge[:sink], inside, rtol=1e-6)
                assert abs((inside - outside) / two[-1][sink] - 1) < 1e-6
    print(U, "charge", ((inside - outside) / two[-1][sink]).round(8))

two = [numbers.real for numbers in two]
N = plaq.Correlator(two, name="nucleon", form="log")
# Few configurations know their errors, but not their correlations: the covariance is shrunk to its diagonal.
print("mass:", fits.correlator(N, 2, 5, shrink=1))

# The axial vector's component in z is the spin's, i gamma5 gamma_z = -i gamma_z gamma5.
found = {}
for name, where, phase in (("g_V", vector, 1), ("g_A", axial, -1j)):
    ratios = {sink: fits.ratio((phase * np.array(where[sink])).real, two, sink) for sink in sinks}
    for sink, R in ratios.items():
        print(f"{name}, sink at {sink}:", R)
    plateau = fits.plateau(ratios[sinks[-1]], 2, 3, shrink=1)
    print(f"{name}, local current: plateau {plateau}")
    print(f"{name}, local current: summation {fits.summation(ratios, 1, shrink=1)}")
    found[name] = plateau["value"]

# Samples go on: Z_A is about Z_V = 1 / g_V of the local current.
samples = found["g_A"].samples / found["g_V"].samples
renormalised = fits.estimate_of(found["g_A"].value / found["g_V"].value, samples)
print("g_A / g_V:", renormalised)
assert 0.5 < renormalised.value < 3 and 0 < renormalised.error < 1
