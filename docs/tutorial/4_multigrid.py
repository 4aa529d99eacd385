"""Solves at small quark mass: multigrid against CG.

python docs/tutorial/4_multigrid.py [FILE]
"""

import sys

import numpy as np
import plaq

if len(sys.argv) > 1:
    U = plaq.open(sys.argv[1])
else:
    U = next(plaq.heatbath([8, 8, 8, 8], 6.0, seed=4, thermalise=40))

# Several right-hand sides at once: an array (4, T, Z, Y, X, 4, 3).
b = plaq.Fermion.noise(U, 4, seed=1)
for mass in (0.0, -0.3, -0.4):
    D = plaq.Clover(U, mass=mass, csw=1.5)
    D.solve(b, tol=1e-9)
    cg = D.report
    mg = D.multigrid()
    x = D.solve(b, multigrid=mg, tol=1e-9)
    found = D.report
    print(
        f"mass {mass:5.2f}: CG {cg.iterations:4d} iterations, {cg.seconds:.2f} s; "
        f"multigrid {found.iterations:3d}, {found.seconds:.2f} s after {mg.report().setup_seconds:.2f} s of set-up"
    )
    assert found.converged and found.iterations < cg.iterations
    residual = (D @ x).numpy() - b.numpy()
    assert np.linalg.norm(residual) < 1e-8 * np.linalg.norm(b.numpy())
print(mg)
for level in mg.levels():
    print(level)
