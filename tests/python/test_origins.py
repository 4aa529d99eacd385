"""What propagators know of where they come from: position of the source, boundary phase, normalisation."""

import itertools
import tempfile

import numpy as np
import plaq
from common import close, refused

EXTENTS = [4, 2, 4, 8]
PERIODIC = (0.0, 0.0, 0.0, 0.0)


def links(seed=1):
    return plaq.Gauge.warm(EXTENTS, seed, 0.3)


def wilson(U, time=1.0, **more):
    """An operator with this phase in time, in units of pi."""
    D = plaq.Wilson(U, mass=0.2, **more)
    return D if time == 1.0 else plaq.Wilson(U, mass=0.2, boundary=[0, 0, 0, time], **more)


def same(S, R):
    for name in ("pion", "rho", "nucleon"):
        close(getattr(R, name)().mean, getattr(S, name)().mean, 1e-14)
    momenta = [(1, 0, 0), (0, 0, -1)]
    close(plaq.mesons(R, momenta=momenta), plaq.mesons(S, momenta=momenta), 1e-14)


def test_a_file_keeps_position_boundary_and_normalisation():
    U, place = links(), (1, 0, 3, 5)
    with tempfile.TemporaryDirectory() as folder:
        for phase, kind in itertools.product((1.0, 0.0, 0.25), ("mass", "kappa")):
            S = wilson(U, phase, normalisation=kind).propagator(source=place)
            for sources in (None, plaq.Fermion.source(U, plaq.point(*place))):
                S.write(f"{folder}/S", sources=sources, overwrite=True)
                R = plaq.Propagator.open(f"{folder}/S")
                assert (R.position, R.normalisation) == (list(place), kind) == (S.position, S.normalisation)
                close(R.boundary, S.boundary, 1e-15)
                same(S, R)
        S = plaq.Twisted(U, mass=0.2, mu=0.3, boundary=[0.1, 0, -0.5, 1]).propagator(source=place)
        S.write(f"{folder}/twisted")
        R = plaq.Propagator.open(f"{folder}/twisted")
        assert R.phases == S.phases == [0.1, 0, -0.5, 1]
        for found in (S._origin(), R._origin()):
            assert (found.mass, found.mu) == (0.2, 0.3)
            close(list(found.links), [U.plaquette().spatial, U.plaquette().temporal, U.plaquette().link_trace], 1e-12)
        of_other = plaq.Twisted(links(2), mass=0.2, mu=0.3, boundary=[0.1, 0, -0.5, 1]).propagator(source=place)
        refused(plaq.capi.FieldMismatch, "antiquark|links of quark", lambda: plaq.mesons(R, of_other))
        # Propagators from files can be smeared with links that were smeared here, of which the file cannot know; links
        # of another configuration are refused.
        smeared = U.smear_stout(0.1)
        S.write(f"{folder}/to_smear")
        close(plaq.Propagator.open(f"{folder}/to_smear").smear(smeared, 0.2, 1).numpy(), S.smear(smeared, 0.2, 1).numpy(), 1e-12)
        refused(plaq.capi.FieldMismatch, "gauge|links of", lambda: R.smear(links(2), 0.2, 1))
        # Vectors without a position, such as pseudofermions, may be used with other links.
        other = plaq.Wilson(links(2), mass=0.3)
        vector = wilson(U, 1.0).solve(plaq.Fermion.noise(U))
        close((other @ other.solve(vector, tol=1e-10)).numpy(), vector.numpy(), 1e-8)
        # Setting one property of a propagator leaves the others as they were.
        R.boundary = 0.5
        assert R.phases == [0.1, 0, -0.5, 0.5] and R._origin().mass == 0.2
        R.boundary = None
        assert R.phases == [None] * 4
        S = wilson(U, 0.25, normalisation="kappa").propagator(source=place)
        S.write(f"{folder}/S", overwrite=True)
        kappa = plaq.Propagator.open(f"{folder}/S")
        refused(plaq.capi.InvalidArgument, "antiquark|normalisation", lambda: plaq.mesons(kappa, wilson(U, normalisation="mass").propagator(source=place)))
        # The file does not state its origin.
        bare = plaq.Propagator.from_array(S.numpy())
        bare.write(f"{folder}/bare")
        R = plaq.Propagator.open(f"{folder}/bare")
        assert R.position is None and R.boundary is None and R.normalisation == ""
        refused(plaq.capi.InvalidArgument, "position", R.pion)
        same(S, plaq.Propagator.open(f"{folder}/bare", position=place, boundary=0.25))


def test_columns_tell_their_position():
    U, D = links(), plaq.Wilson(links(), mass=0.2)
    S = D.propagator(source=(3, 0, 1, 6))
    b = np.zeros((12, 8, 4, 2, 4, 4, 3), complex)
    for k in range(12):
        b[k, 6, 1, 0, 3, k // 3, k % 3] = 1
    R = D.propagator(source=b)
    assert R.position == [3, 0, 1, 6]
    same(S, R)
    # A smeared source has a time, which suffices for momentum zero.
    R = D.propagator(source=plaq.Fermion.from_array(b).smear(U, 0.3, 3))
    assert R.position[3] == 6 and None in R.position[:3]
    known = D.propagator(source=plaq.Fermion.source(U, plaq.point(3, 0, 1, 6)).smear(U, 0.3, 3))
    assert known.position == [3, 0, 1, 6]
    close(R.pion().mean, known.pion().mean)
    close(R.nucleon().mean, known.nucleon().mean)
    refused(plaq.capi.InvalidArgument, "the x of the source", lambda: plaq.mesons(R, momenta=[(1, 0, 0)]))
    R.position = (3, 0, 1, 6)
    same(known, R)
    # Noise on all sites has no position.
    rng = np.random.default_rng(1)
    noise = rng.normal(size=b.shape) + 0j
    R = D.propagator(source=noise)
    assert R.position is None
    refused(plaq.capi.InvalidArgument, "position|the t of the source", R.pion)
    R = D.propagator(source=noise, position=(0, 0, 0, 3))
    close(R.pion().mean, np.roll(plaq.mesons(R, position=(0, 0, 0, 0))[0, 0].real, -3))
    refused(TypeError, "position", lambda: D.propagator(source=(0, 0, 0, 1), position=(0, 0, 0, 1)))
    # Propagators that other codes have computed.
    array = S.numpy()
    R = plaq.Propagator.from_array(array, position=S.position)
    same(S, R)
    refused(plaq.capi.InvalidArgument, "position", plaq.Propagator.from_array(array).nucleon)
    refused(ValueError, "four numbers", lambda: plaq.Propagator.from_array(array, position=(1, 2, 3)))
    refused(TypeError, "whole", lambda: plaq.Propagator.from_array(array, position=(1, 2, 3, 0.5)))
    refused(plaq.capi.InvalidArgument, "position", lambda: plaq.Propagator.from_array(array, position=(4, 0, 0, 0)))


def test_fields_hand_their_origin_on():
    U, D = links(), plaq.Wilson(links(), mass=0.2)
    S = D.propagator(source=(1, 0, 2, 5))
    for made in (S.copy(), S.smear(U, 0.2, 1), S.shift(U, [0]), S.sequential(3), D.solve(S.sequential(3))):
        assert made.position == [1, 0, 2, 5] and made.boundary == 1
    b = plaq.Fermion.source(U, plaq.wall(3))
    assert b.position == [0, 0, 0, 3] and b.boundary is None
    b.set(b.numpy())
    assert b.position is None
    b.position = [None, None, None, 3]
    assert D.solve(b).position == [None, None, None, 3]
    refused(plaq.capi.InvalidArgument, "antiquark|t = 5", lambda: plaq.mesons(S, D.propagator(source=(1, 0, 2, 4))))


def test_phases_of_each_line_are_taken_out():
    """On unit links nothing depends on where the source is, whatever the phases of the quarks are."""
    U = plaq.Gauge.unit([4, 4, 4, 8])
    quarks = [wilson(U, phase) for phase in (1.0, 0.0, 0.3)]
    for A, P in itertools.permutations(quarks, 2):
        found = []
        for t in (0, 3, 7):
            a, p = A.propagator(source=(0, 0, 0, t)), P.propagator(source=(0, 0, 0, t))
            names = ["nucleon", "sigma", "xi", "lambda", "sigma_star", "xi_star", "omega"]
            found.append((plaq.mesons(a, p, gammas=["5", "T", "X"]), plaq.baryons(a, p, names=names)))
        for mesons, baryons in found[1:]:
            close(mesons, found[0][0], 1e-8)
            close(baryons, found[0][1], 1e-8)


def test_distance_preconditioning_is_for_the_source_s_time():
    D = plaq.Wilson(plaq.Gauge.warm((2, 2, 4, 32), 1, 0.3), mass=2.25)
    for t in (4, 16):
        right = D.propagator(source=(0, 0, 0, t), distance_alpha=1.17, distance_t0=t)
        found = D.propagator(source=(0, 0, 0, t), distance_alpha=1.17)
        columns = plaq.Fermion.source(D.field(), plaq.point(0, 0, 0, t))
        assert np.array_equal(found.pion().mean, right.pion().mean)
        assert np.array_equal(D.propagator(source=columns, distance_alpha=1.17).pion().mean, right.pion().mean)
        assert np.array_equal(D.solve(columns, distance_alpha=1.17).numpy(), right.columns())
        # The source time of a second solve is the sink time of the first, here slice 7 of the lattice.
        second = right.sequential((7 - t) % 32)
        close(D.propagator(source=second, distance_alpha=1.17).columns(), D.propagator(source=second, distance_alpha=1.17, distance_t0=7).columns(), 1e-15)
    noise = plaq.Fermion.noise(D.field(), 12, seed=1)
    refused(ValueError, "distance_t0", lambda: D.propagator(source=noise, distance_alpha=1.17))


def test_numbers_that_are_not_whole_are_refused():
    U = links()
    S = plaq.Wilson(U, mass=0.2).propagator()
    for call in (
        lambda: plaq.Gauge.unit((4.5, 4, 4, 4)),
        lambda: plaq.Wilson(U, mass=0.2).propagator(source=(0, 0, 0, 2.5)),
        lambda: plaq.mesons(S, momenta=[(0.5, 0, 0)]),
        lambda: plaq.mesons(S, momenta=[(float("nan"), 0, 0)]),
        lambda: plaq.baryons(S, momenta=[(-0.9, 0, 0)]),
        lambda: plaq.mesons(S, gammas=[3.7]),
        lambda: S.sequential(3, "5", (0.5, 0, 0)),
        lambda: plaq.point(1.5),
        lambda: plaq.Laplace(U, directions=7.9),
        lambda: U.polyakov_loop(2.5),
        lambda: U.loops([[0.6, 1, 7, 6]]),
        lambda: S.shift(U, [0.5]),
        lambda: plaq.Fermion(U, 2.5),
        lambda: plaq.Laplace(U).eigen(2.5),
        lambda: plaq.Correlator(np.ones(4), configurations=[1.5]),
    ):
        refused(TypeError, "", call)
    assert plaq.Gauge.unit((4.0, 4, 4, 4)).extents == [4, 4, 4, 4]
    close(plaq.mesons(S, momenta=[(1.0, 0, 0)]), plaq.mesons(S, momenta=[(1, 0, 0)]))
