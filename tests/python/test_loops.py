"""Quark loops: exact where noise is diluted and probed to the end, unbiased with the right variance where it is not."""

import warnings

import numpy as np
import plaq
import reference as ref
from common import close, refused
from plaq import loops as quark_loops

SHAPE = (4, 2, 2, 2)
EXACT = {"dilute": "spin,colour", "probes": 32, "tol": 1e-12}
LINES = ["", "+z", "dt"]
MOMENTA = [(0, 0, 0), (1, 0, 0)]


def lattice():
    u = ref.random_su3((4, *SHAPE), np.random.default_rng(8))
    return u, plaq.Gauge.from_array(u)


def inverse(u, mass, mu=0.0, phase=1):
    """D^-1 (T, Z, Y, X, 4, 3, same), antiperiodic in time and with a phase in z."""
    size = int(np.prod(SHAPE)) * 12
    d = np.empty((size, size), complex)
    for k in range(size):
        one = np.zeros(size, complex)
        one[k] = 1
        column = one.reshape(*SHAPE, 4, 3)
        d[:, k] = (ref.dirac(u, column, mass, (1, 1, phase, -1), csw=1.1) + 1j * mu * np.einsum("st,...tc->...sc", ref.GAMMA5, column)).ravel()
    return np.linalg.inv(d).reshape(*SHAPE, 4, 3, *SHAPE, 4, 3)


def traces(s, u, gamma, line, n, phase_z=1):
    """sum_x exp(-i p x) tr[Gamma U S(x + line, x)] by t for "" and "+z", with the quark's phase in z."""
    out = np.zeros(SHAPE[0], complex)
    for t, z, y, x in np.ndindex(*SHAPE):
        z1 = (z + 1) % SHAPE[1] if line else z
        link = u[2][t, z, y, x] * (phase_z if z1 < z else 1) if line else np.eye(3)
        block = np.einsum("ab,sbuc->sauc", link, s[t, z1, y, x][:, :, t, z, y, x])
        phase = np.exp(-2j * np.pi * (n[0] * x / SHAPE[3] + n[1] * y / SHAPE[2] + n[2] * z / SHAPE[1]))
        out[t] += phase * np.einsum("us,saua->", plaq.gamma[gamma], block)
    return out


def test_loops_are_exact_where_each_site_has_its_colour():
    u, gauge = lattice()
    d = plaq.Clover(gauge, mass=0.4, csw=1.1)
    found = d.loops(gauge, lines=LINES, momenta=MOMENTA, **EXACT)
    assert found.lines.shape == (1, 3, 16, 2, 4) and found.current.shape == (1, 4, 2, 4)
    s = inverse(u, 0.4)
    for gamma in (0, 3, 8, 15):
        for k, line in enumerate(LINES[:2]):
            for p, n in enumerate(MOMENTA):
                wanted = traces(s, u, gamma, line, n)
                assert abs(found.lines[0, k, gamma, p] - wanted).max() < 1e-9 * abs(found.lines).max()
    # A boundary phase in space multiplies lines.
    turned = plaq.Clover(gauge, mass=0.4, csw=1.1, boundary=(0, 0, 0.4, 1)).loops(gauge, lines=LINES, **EXACT)
    phase = np.exp(0.4j * np.pi)
    s = inverse(u, 0.4, phase=phase)
    for gamma in (0, 4, 8):
        wanted = traces(s, u, gamma, "+z", (0, 0, 0), phase)
        assert abs(turned.lines[0, 1, gamma, 0] - wanted).max() < 1e-9 * abs(turned.lines).max()
    # Differences of masses and the one-end trick equal differences of loops.
    heavy = plaq.Clover(gauge, mass=0.9, csw=1.1)
    close(
        d.loops(gauge, minus=heavy, lines=LINES, **EXACT).lines,
        found.lines[:, :, :, :1] - heavy.loops(gauge, lines=LINES, **EXACT).lines,
        1e-8,
    )
    both = [plaq.Twisted(gauge, mass=0.4, csw=1.1, mu=mu) for mu in (0.3, -0.3)]
    plus, minus = (operator.loops(gauge, lines=LINES, **EXACT) for operator in both)
    ends = both[0].loops(gauge, lines=LINES, one_end=True, **EXACT)
    close(ends.lines, plus.lines - minus.lines, 1e-8)
    close(ends.current, plus.current - minus.current, 1e-8)


def test_noise_has_no_bias_and_its_variance():
    u, gauge = lattice()
    d = plaq.Clover(gauge, mass=0.4, csw=1.1)
    exact = d.loops(gauge, **EXACT).lines[0, 0, :, 0]
    found = d.loops(gauge, vectors=200, seed=3, tol=1e-8)
    off = (found.mean()[0, :, 0] - exact) / found.error()[0, :, 0].real
    assert abs(off.real).max() < 5, off
    # The variance with Z4 noise is the sum over pairs of off-diagonal elements.
    s = inverse(u, 0.4)
    m = np.einsum("st,zyxtcABCDef->zyxscABCDef", plaq.gamma["5"], s[1]).reshape(8 * 12, -1)
    rows = np.arange(8 * 12)
    wanted = (abs(m) ** 2).sum() - (abs(m[rows, 8 * 12 + rows]) ** 2).sum()
    variance = abs(found.lines[:, 0, 15, 0, 1] - exact[15, 1]) ** 2
    assert abs(variance.mean() / wanted - 1) < 5 * variance.std() / variance.mean() / 200**0.5
    # Noise vectors continue from a given number, and columns that are solved separately add up.
    again = d.loops(gauge, vectors=3, first=5, seed=3, tol=1e-8)
    close(again.lines, found.lines[5:8], 1e-7)
    assert found.beside(again).lines.shape[0] == 203
    refused(ValueError, "two", lambda: d.loops(gauge, tol=1e-8).error())


def test_variances_of_differences_are_the_exact_ones():
    u, gauge = lattice()
    d, heavy = (plaq.Clover(gauge, mass=mass, csw=1.1) for mass in (0.4, 0.7))
    size = int(np.prod(SHAPE)) * 12
    one, other = (inverse(u, mass).reshape(size, size) for mass in (0.4, 0.7))
    close(one - other, 0.3 * one @ other, 1e-11)
    how = {"vectors": 400, "seed": 3, "tol": 1e-9}
    between = d.loops(gauge, minus=heavy, **how).lines[:, 0]
    # The difference of two loops with the same noise has that noise behind the difference.
    behind = d.loops(gauge, **how).lines[:, 0] - heavy.loops(gauge, **how).lines[:, 0]
    for name in ("1", "5", "Z5"):
        gamma = np.kron(np.eye(size // 12), np.kron(plaq.gamma[name], np.eye(3)))
        for t in range(SHAPE[0]):
            slice_t = np.zeros((size, 1))
            slice_t[t * size // SHAPE[0] : (t + 1) * size // SHAPE[0]] = 1
            operator = slice_t * gamma
            for found, matrix in ((behind, operator @ (one - other)), (between, 0.3 * other @ operator @ one)):
                number = plaq.gamma.number(name)
                squares = abs(found[:, number, 0, t] - np.trace(matrix)) ** 2
                # The variance with Z4 noise is the sum over pairs of off-diagonal elements.
                wanted = (abs(matrix) ** 2).sum() - (abs(matrix.diagonal()) ** 2).sum()
                assert abs(squares.mean() - wanted) < 5 * squares.std() / len(squares) ** 0.5, (name, t, squares.mean(), wanted)


def test_probing_waves_separate_colours():
    for extents in ([4, 4, 2, 8], [6, 2, 4, 12], [10, 2, 2, 6]):
        volume = int(np.prod(extents))
        waves = np.array([quark_loops.probe(extents, c) for c in range(volume)])
        assert len({tuple(n) for n in waves}) == volume
        sites = np.indices(extents).reshape(4, -1).T
        for count, same in (
            (2, lambda x: x.sum(1) % 2 == 0),
            (16, lambda x: (x % 2 == 0).all(1)),
            (volume, lambda x: (x == 0).all(1)),
        ):
            mean = np.exp(2j * np.pi * (sites @ (waves[:count] / extents).T)).mean(1)
            close(mean, same(sites).astype(float))
    # Factors of the extents other than 2 are used last, for 48 the 3; tested by pairs of sites on a large lattice.
    extents, rng = np.array([48, 48, 24, 48]), np.random.default_rng(7)
    apart = np.concatenate([rng.integers(0, extents, (2000, 4)), 16 * rng.integers(0, 3, (200, 4)), 8 * rng.integers(0, 6, (200, 4))])
    for power, count in ((1, 16), (2, 256), (3, 4096)):
        waves = np.array([quark_loops.probe(extents, c) for c in range(count)])
        mean = np.exp(2j * np.pi * (apart @ (waves / extents).T)).mean(1)
        close(mean, (apart % 2**power == 0).all(1).astype(float), 1e-10)
    waves = [tuple(quark_loops.probe(extents, c)) for c in range(16**3 * 2 * 8, 16**3 * 2 * 8 + 200)]
    assert len(set(waves)) == 200
    refused(plaq.Error, "probes|1 to 32", lambda: quark_loops.probe([2, 2, 2, 4], 32))
    refused(plaq.Error, "extents|even", lambda: quark_loops.probe([3, 2, 2, 4], 0))


def test_loops_refuse_what_does_not_fit():
    _, gauge = lattice()
    d = plaq.Clover(gauge, mass=0.4, csw=1.1)
    refused(plaq.Error, "probes", lambda: d.loops(gauge, probes=33))
    refused(plaq.capi.FieldMismatch, "gauge|links of solver", lambda: d.loops(plaq.Gauge.hot(gauge.extents, 77)))
    # Links that were smeared from the operator's links, and the same links loaded again, belong to its configuration.
    smeared = d.loops(gauge.smear_stout(0.1, 1), lines=["+z"])
    assert smeared.lines.shape == (1, 1, 16, 1, SHAPE[0])
    # Lines use the links that are passed, and the conserved current those of the operator.
    close(smeared.current, d.loops(gauge).current, 1e-12)
    assert abs(smeared.lines - d.loops(gauge, lines=["+z"]).lines).max() > 1e-3
    assert d.loops(plaq.Gauge.from_array(gauge.lexico())).lines.shape == (1, 1, 16, 1, SHAPE[0])
    for made in (d.loops, d.loop_sums):
        refused(plaq.capi.InvalidArgument, "solver|twisted mass mu|mu = 0", lambda made=made: made(gauge, one_end=True))
        refused(plaq.capi.InvalidArgument, "other|another mass|the same", lambda made=made: made(gauge, minus=d))
    # The other operator of a difference is taken as gamma5-hermitian.
    one, two = (plaq.Twisted(gauge, mass=mass, mu=0.25, csw=1.1) for mass in (0.3, 0.8))
    for pair, named in (((one, two), "solver"), ((one, d), "solver"), ((d, two), "other")):
        for made in (pair[0].loops, pair[0].loop_sums):
            words = f"{named}|without a twisted mass|mu = 0.25"
            refused(plaq.capi.InvalidArgument, words, lambda made=made, pair=pair: made(gauge, minus=pair[1]))
    refused(plaq.Error, "vectors", lambda: d.loops(gauge, vectors=0))
    for made in (d.loops, d.loop_sums):
        refused(plaq.Error, "probes|1 to 32|found 33", lambda made=made: made(gauge, probes=33))
        refused(plaq.Error, "probes|1|found 0", lambda made=made: made(gauge, probes=0))
        refused(plaq.Error, "time_parts|divisor|found 3", lambda made=made: made(gauge, dilute="time", time_parts=3))
        refused(plaq.Error, "time_parts|divisor|found 0", lambda made=made: made(gauge, dilute="time"))
    # Differences are possible between operators that differ in their mass alone.
    for heavy in (
        plaq.Clover(gauge, mass=0.9, csw=2.0),
        plaq.Clover(gauge, mass=0.9, csw=1.1, boundary="periodic"),
        plaq.Clover(plaq.Gauge.hot(gauge.extents, 77), mass=0.9, csw=1.1),
    ):
        refused(plaq.Error, "other|differs in the mass alone", lambda: d.loops(gauge, minus=heavy))
    other = plaq.Clover(gauge, mass=0.9, csw=1.1, normalisation="kappa")
    refused(ValueError, "minus|normalisation", lambda: d.loops(gauge, minus=other))
    refused(plaq.Error, "lines|longer", lambda: d.loops(gauge, lines=["+x +x +x"]))
    refused(plaq.Error, "lines|longer", lambda: d.loops(gauge, lines=["+x +x dx"]))
    refused(ValueError, "dilute|spin, colour, parity, time|flavour", lambda: d.loops(gauge, dilute="spin,flavour"))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        stopped = d.loops(gauge, vectors=3, progress=lambda *_: True)
    assert [w.category for w in told] == [plaq.NotConvergedWarning]
    assert stopped.lines.shape[0] == 0
