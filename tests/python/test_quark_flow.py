"""The gradient flow of quark fields and its adjoint: plane waves, the links, the transpose, whose boundary counts."""

import numpy as np
import plaq
from common import EXTENTS, SHAPE, close, lattice, refused, spinors


def test_plane_waves_fall_by_the_scheme():
    links = np.broadcast_to(np.eye(3), (4, *SHAPE, 3, 3)) + 0j
    t, z, _, x = np.indices(SHAPE)
    step, boundary = 0.03, [0.5, 0, 0, 1]
    p = [2 * np.pi * 1.25 / EXTENTS[0], 0, np.pi, np.pi * 3 / EXTENTS[3]]
    wave = np.zeros((1, *SHAPE, 4, 3), complex)
    wave[0, ..., 1, 2] = np.exp(1j * (p[0] * x + p[2] * z + p[3] * t))
    # A step multiplies plane waves by 1 - s + s^2 / 2 - s^3 / 6, s = step sum 4 sin^2(p / 2): third order.
    s = step * sum(4 * np.sin(q / 2) ** 2 for q in p)
    factor = (1 - s + s**2 / 2 - s**3 / 6) ** 7
    chi, flowed = plaq.Fermion.from_array(wave).flow(
        plaq.Gauge.from_array(links), 0.21, step=step, boundary=boundary
    )
    close(chi.numpy(), factor * wave, 1e-13)
    close(np.asarray(flowed), links, 1e-14)


def test_links_flow_along_and_the_adjoint_is_the_transpose():
    _, gauge = lattice()
    chi, phi = (plaq.Fermion.from_array(spinors(2, seed)) for seed in (3, 4))
    for kind in "wilson", "symanzik", "zeuthen":
        flowed, links = chi.flow(gauge, 0.1, step=0.02, kind=kind)
        close(np.asarray(links), np.asarray(gauge.flow(0.1, step=0.02, kind=kind).gauge), 1e-13)
        whole = phi.dot(flowed)
        for checkpoints in -1, 0, 2:
            back = phi.adjoint_flow(gauge, 0.1, step=0.02, kind=kind, checkpoints=checkpoints)
            close(back.dot(chi), whole, 1e-13)
    # A flow in two pieces equals the whole flow.
    first, links = chi.flow(gauge, 0.04, step=0.02)
    second, _ = first.flow(links, 0.06, step=0.02)
    close(second.numpy(), chi.flow(gauge, 0.1, step=0.02)[0].numpy(), 1e-13)
    colours = plaq.Fermion(gauge, 3, spins=1)
    assert colours.flow(gauge, 0.1)[0].spins == 1


def test_a_propagator_knows_its_boundary():
    _, gauge = lattice()
    d = plaq.Wilson(gauge, mass=0.5, boundary=[0, 0, 0, 0])
    s = d.propagator((0, 0, 0, 0))
    found, _ = s.flow(gauge, 0.1, step=0.05)
    assert isinstance(found, plaq.Propagator) and found.position == s.position
    columns = plaq.Fermion.from_array(s.columns())
    close(found.columns(), columns.flow(gauge, 0.1, step=0.05, boundary=[0, 0, 0, 0])[0].columns(), 1e-14)
    other = columns.flow(gauge, 0.1, step=0.05)[0].columns()
    assert np.abs(other - found.columns()).max() > 1e-4


def test_steps_are_told():
    _, gauge = lattice()
    chi, heard = plaq.Fermion.from_array(spinors(1)), []
    chi.flow(gauge, 0.1, step=0.02, progress=lambda *state: heard.append(state))
    assert [state[:2] for state in heard] == [(n, 5) for n in range(1, 6)]
    heard.clear()
    chi.adjoint_flow(gauge, 0.1, step=0.02, checkpoints=0, progress=lambda *state: heard.append(state))
    assert len(heard) == 5 + 10 and heard[-1][:2] == (5, 5)


def test_bad_input():
    _, gauge = lattice()
    chi = plaq.Fermion.from_array(spinors(1))
    refused(plaq.capi.BadParameter, "step|0.157", lambda: chi.flow(gauge, 0.1, step=0.2))
    refused(plaq.capi.BadParameter, "time", lambda: chi.flow(gauge, -0.1))
    refused(plaq.capi.BadParameter, "checkpoints", lambda: chi.adjoint_flow(gauge, 0.1, checkpoints=-2))
    refused(plaq.capi.FieldMismatch, "gauge|lattice", lambda: chi.flow(plaq.Gauge([4, 4, 4, 4]), 0.1))
    refused(TypeError, "stepp", lambda: chi.flow(gauge, 0.1, stepp=1))
