"""The same numbers on many ranks: mpirun -n 2 python ranks.py."""

import os
import shutil
import tempfile

import numpy as np
import plaq
import reference as ref
from mpi4py import MPI

comm = MPI.COMM_WORLD
context = plaq.init("cpu", threads=1, comm=comm, grid=[1, 1, 1, comm.size])
assert context.ranks == comm.size and "ranks" in repr(context)
shape = (8, 4, 2, 4)
rng = np.random.default_rng(1)
u, psi = ref.random_su3((4, *shape), rng), ref.random_spinor(shape, rng)

length = shape[0] // comm.size
part = slice(context.coords[3] * length, (context.coords[3] + 1) * length)
gauge = plaq.Gauge.from_array(u[:, part])
assert gauge.extents == [4, 2, 4, length]
assert abs(gauge.plaquette().total - ref.plaquette(u)[0]) < 1e-12
d = plaq.Clover(gauge, mass=0.3, csw=1.1)
whole = context.gather(d @ psi[part])
links, columns = context.gather(gauge.numpy()), context.gather(plaq.Fermion.from_array(psi[None, part]).lexico())
s = d.propagator(source=(1, 0, 1, 3), tol=1e-11)
pion, array = s.pion(), context.gather(s.numpy())
assert len(pion.data[0]) == 8 and s.n == 12
if context.rank == 0:
    assert np.abs(links - u).max() < 1e-13 and np.array_equal(columns[0], psi)
    assert np.abs(whole - ref.dirac(u, psi, 0.3, csw=1.1)).max() < 1e-11
    expected = np.roll(np.einsum("tzyxijab,tzyxijab->t", array, array.conj()).real, -3)
    assert np.abs(pion.data[0] / expected - 1).max() < 1e-10
else:
    assert whole is None
modes = plaq.modes(gauge, 5, rho=0.1, steps=2, tol=1e-12)
tau, phi, triples = modes.perambulators(d, 3, tol=1e-11), modes.mesons([(1, 0, 0)])[0, 0], modes.baryons()
basis = np.array(modes.about["modes_basis"])
if context.rank == 0:
    alone = plaq.Context("cpu", threads=1)
    same = plaq.Gauge.from_array(u, context=alone)
    one = plaq.modes(same, 5, rho=0.1, steps=2, tol=1e-12)
    for found, expected in [
        (modes.values, one.values),
        (tau.numbers, one.perambulators(plaq.Clover(same, mass=0.3, csw=1.1), 3, tol=1e-11).numbers),
        (phi, one.mesons([(1, 0, 0)])[0, 0]),
        (triples, one.baryons()),
        (basis, np.array(one.about["modes_basis"])),
    ]:
        assert np.abs(found - expected).max() < 1e-7 * np.abs(expected).max()
try:
    plaq.Gauge.from_array((1.1 if context.rank == 0 else 1) * u[:, part])
except plaq.capi.NotUnitary:
    pass  # on all ranks
else:
    raise AssertionError("links that are not unitary were taken")
# What the first rank finds wrong with a file ends the call on all ranks.
if os.environ.get("PLAQ_HDF5"):
    folder = comm.bcast(tempfile.mkdtemp() if context.rank == 0 else None)
    modes.perambulators(d, 0, tol=1e-9, file=f"{folder}/tau.h5")
    try:
        modes.perambulators(plaq.Clover(gauge, mass=0.4, csw=1.1), [0, 4], tol=1e-9, file=f"{folder}/tau.h5")
    except ValueError as error:
        assert "t0" in str(error)
    else:
        raise AssertionError("perambulators of another quark were added to a file")
    comm.barrier()
    if context.rank == 0:
        shutil.rmtree(folder)
print(f"rank {context.rank} ok", flush=True)
