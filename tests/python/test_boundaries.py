"""Reweighting factors, and boundary fields of the Schroedinger functional."""

import tempfile

import numpy as np
import plaq
import reference as ref
from common import close, refused
from plaq import capi

PHI, PHI_PRIME = [-0.7, 0.15, 0.55], [-2.1, 0.8, 1.3]


def matrix(gauge, d):
    """D as a matrix."""
    size = 12 * int(np.prod(gauge.extents))
    units = np.eye(size, dtype=complex).reshape(size, *gauge.extents[::-1], 4, 3)
    return np.asarray(d.apply(units)).reshape(size, size).T


def test_reweighting_is_that_of_the_determinant():
    u = ref.random_su3((4, 4, 2, 2, 2), np.random.default_rng(3))
    gauge = plaq.Gauge.from_array(u)
    d = plaq.Clover(gauge, mass=1.0, csw=1.1)
    m = matrix(gauge, d)
    x = m.conj().T @ m
    one = np.eye(len(x))

    def ln(mu2):
        return np.linalg.slogdet(x + mu2 * one)[1]

    mu = [0.2, 0.35]
    last = mu[-1] ** 2
    for kind, wanted in [
        ("twisted-mass-1", ln(0) - ln(last)),
        ("twisted-mass-2", ln(0) + ln(2 * last) - 2 * ln(last)),
    ]:
        found = d.reweighting(mu, kind=kind, vectors=24, seed=7, tol=1e-11)
        assert found.minus_ln.shape == (2, 24) and abs(found.ln - wanted) < 4 * found.error, (kind, found.ln, wanted)
        close(found.ln, found.factors.sum())
        close(found.value, np.exp(found.ln))
        # The mean squared norm of normal noise is the number of components; the same random numbers give the same
        # estimates.
        assert abs(found.norms.mean() / len(x) - 1) < 0.05
        more = d.reweighting(mu, kind=kind, vectors=2, first=22, seed=7, tol=1e-11)
        close(more.minus_ln, found.minus_ln[:, 22:])
    found = d.reweighting(0.3, system="even_asymmetric", vectors=4)
    assert found.minus_ln.shape == (1, 4) and found.ln < 0
    refused(capi.InvalidArgument, "mu", lambda: d.reweighting([0.3, 0.2]))
    refused(capi.Unsupported, "system: expected", lambda: d.reweighting(0.3, system="even_symmetric"))


def test_a_good_rational_function_needs_no_reweighting():
    u = ref.random_su3((4, 4, 2, 2, 2), np.random.default_rng(4))
    d = plaq.Wilson(plaq.Gauge.from_array(u), mass=1.0)
    good = d.reweighting(kind="rational", interval=(0.02, 3), error=1e-9, vectors=2, tol=1e-12)
    assert abs(good.minus_ln).max() < 1e-6
    rough = d.reweighting(kind="rational", interval=(0.02, 3), poles=2, vectors=8)
    assert abs(rough.ln) > 1e-4
    refused(capi.SpectralBounds, "low, high", lambda: d.reweighting(kind="rational", interval=(20, 30), poles=2))
    for interval in (None, (0.02,), (3, 0.02), (0, 1), 5.0, ("a", "b"), (0.1, float("nan"))):
        words = "interval: expected two numbers [low, high], 0 < low < high"
        refused(ValueError, words, lambda: d.reweighting(kind="rational", interval=interval))
    refused(ValueError, "interval: expected with kind='rational' only", lambda: d.reweighting(0.3, interval=(0.02, 3)))
    refused(ValueError, "kind|rational|twisted_mass", lambda: d.reweighting(kind="rationale", interval=(0.02, 3)))


def test_reweighting_solves_with_multigrid():
    d = plaq.Clover(plaq.Gauge.warm([4, 4, 4, 8], 3, boundary_time="open"), mass=0.3, csw=1)
    plain, preconditioned = (d.reweighting([0.1], vectors=2, tol=1e-11, **how) for how in ({}, {"multigrid": d.multigrid()}))
    close(preconditioned.minus_ln, plain.minus_ln, 1e-8)
    assert (preconditioned.minus_ln != plain.minus_ln).any()
    how = {"kind": "rational", "interval": (0.1, 3), "poles": 2, "vectors": 2, "tol": 1e-11}
    plain = d.reweighting(**how)
    for shifts in (0, 1, 9):
        found = d.reweighting(shifts=shifts, multigrid=d.multigrid(), **how)
        close(found.minus_ln, plain.minus_ln, 1e-8)
    refused(capi.Unsupported, "multigrid: expected", lambda: d.reweighting(system="full", multigrid=d.multigrid(), **how))


def zolotarev(low, high, poles):
    """The function r(x) near x^(-1/2) on [low, high], A prod_k (x + c_2k) / (x + c_2k-1) with c_l = low (sn / cn)^2(l K /
    (2 poles + 1)), modulus^2 1 - low / high: ln sqrt(x) r(x) has the same size at all its extrema, the ends among them."""

    def mean(a, b):
        for _ in range(40):
            a, b = (a + b) / 2, np.sqrt(a * b)
        return a

    # K = pi / (2 mean(1, k')), and sn / cn in theta functions of the nome q = exp(-pi K' / K).
    q = np.exp(-np.pi * mean(1, np.sqrt(low / high)) / mean(1, np.sqrt(1 - low / high)))
    n, sign = np.arange(60), (-1) ** np.arange(60)
    theta3, theta4 = 2 * np.sum(q ** n**2) - 1, 2 * np.sum(sign * q ** n**2) - 1
    z = np.pi / 2 * np.arange(1, 2 * poles + 1)[:, None] / (2 * poles + 1)
    terms = q ** (n + 0.5) ** 2
    ratio = theta3 / theta4 * np.sum(sign * terms * np.sin((2 * n + 1) * z), 1) / np.sum(terms * np.cos((2 * n + 1) * z), 1)
    c = low * ratio**2

    def product(x):
        x = np.asarray(x)[:, None]
        return np.prod((x + c[1::2]) / (x + c[::2]), 1)

    ends = np.sqrt([low, high]) * product([low, high])
    return lambda x: product(x) / np.sqrt(ends.prod())


def test_rational_reweighting_by_multigrid_is_that_of_the_determinant():
    """Noise vector by noise vector, and the average, on an extent of 6 and for each number of shifts of multigrid."""
    gauge = plaq.Gauge.warm([6, 2, 2, 4], 5)
    d, u = plaq.Clover(gauge, mass=0.2, csw=1.2), gauge.numpy()
    shape, size = gauge.extents[::-1], 12 * int(np.prod(gauge.extents))
    units = np.eye(size, dtype=complex).reshape(size, *shape, 4, 3)
    m = np.stack([ref.dirac(u, unit, 0.2, csw=1.2).ravel() for unit in units], 1)
    even = np.repeat(np.indices(shape).sum(0).ravel() % 2 == 0, 12)
    a_ee, d_eo, d_oe, a_oo = (m[np.ix_(row, column)] for row in (even, ~even) for column in (even, ~even))
    p = np.eye(len(a_ee)) - np.linalg.solve(a_ee, d_eo @ np.linalg.solve(a_oo, d_oe))
    x, vectors = np.linalg.eigh(p.conj().T @ p)
    low, high = x[0] / 5, 5 * x[-1]
    # The factor is the average of exp(-(eta, (b - 1) eta)), b = (x r(x)^2)^(-1/2).
    b = 1 / (np.sqrt(x) * zolotarev(low, high, 3)(x))
    noise = d.field(24)
    capi.plaq_spinor_noise(noise, "normal", 11, 0)
    eta = noise.numpy().reshape(24, size)[:, even]
    expected = np.abs(eta @ vectors.conj()) ** 2 @ (b - 1)
    how = {"kind": "rational", "interval": (low, high), "poles": 3, "seed": 11, "tol": 1e-12}
    found = d.reweighting(vectors=24, **how)
    assert np.abs(found.minus_ln[0] - expected).max() < 1e-8 * np.abs(expected).max()
    assert np.abs(expected).max() > 1e-3 and abs(found.ln + np.log(b).sum()) < 4 * found.error
    multigrid = d.multigrid()
    for shifts in range(4):
        by_multigrid = d.reweighting(vectors=2, shifts=shifts, multigrid=multigrid, **how)
        assert np.abs(by_multigrid.minus_ln[0] - expected[:2]).max() < 1e-8 * np.abs(expected).max(), shifts


def test_chains_refuse_other_boundaries():
    gauge = plaq.Gauge.hot([4, 4, 4, 4], boundary_time="open")
    text = """[run]
boundary_time = "KIND"
[[monomial]]
name = "gluons"
type = "gauge"
beta = 6.0
[[level]]
integrator = "leapfrog"
steps = 1
monomials = ["gluons"]
"""
    plaq.hmc(text.replace("KIND", "open"), gauge)
    refused(capi.BadParameter, "run.boundary_time|boundary_time open|found boundary_time periodic", lambda: plaq.hmc(text.replace("KIND", "periodic"), gauge))
    refused(capi.BadParameter, "boundary[3]|exp(i pi 0.5)", lambda: plaq.Wilson(gauge, mass=0.3, boundary=(0, 0, 0, 0.5)))


def test_quarks_beyond_boundaries_are_zero():
    fixed = [dict(boundary_time="sf", phi=PHI, phi_prime=PHI_PRIME), dict(boundary_time="open_sf", phi_prime=PHI_PRIME)]
    for bounds in [*fixed, dict(boundary_time="open")]:
        gauge = plaq.Gauge.hot([4, 2, 2, 6], 3, **bounds)
        u, rng = np.array(gauge)[3], np.random.default_rng(1)
        psi = rng.normal(size=(1, 6, 2, 2, 4, 4, 3)) + 1j * rng.normal(size=(1, 6, 2, 2, 4, 4, 3))
        vanish = [0, 5] if bounds["boundary_time"] == "open" else [0]
        inside = psi.copy()
        inside[:, vanish] = 0
        field = plaq.Fermion.from_array(psi)
        shifted = np.zeros_like(inside)
        both = np.einsum("tzyxij,tzyxjk->tzyxik", u[:-2], u[1:-1]).conj()
        shifted[:, 2:] = np.einsum("tzyxba,ntzyxsb->ntzyxsa", both, inside[:, :-2])
        close(np.asarray(field.shift(gauge, "-t -t")), shifted)
        flowed, _ = field.flow(gauge, 0.1, boundary=(0, 0, 0, 0))
        again, _ = plaq.Fermion.from_array(inside).flow(gauge, 0.1, boundary=(0, 0, 0, 0))
        close(np.asarray(flowed), np.asarray(again))
        assert not np.asarray(flowed)[:, vanish].any()


def test_copies_keep_boundaries_apart():
    open_links = plaq.Gauge.hot([4, 4, 4, 4], 1, boundary_time="open")
    periodic = plaq.Gauge.hot([4, 4, 4, 4], 2)
    before = np.array(periodic)
    words = "boundary_time periodic|boundary_time open"
    refused(capi.FieldMismatch, words, lambda: capi.plaq_gauge_copy(open_links, periodic))
    assert periodic.boundary_time == "periodic" and (np.array(periodic) == before).all()
    zero = before.copy()
    zero[1, 2, 1, 3, 0] = 0
    refused(capi.NotUnitary, "[0, 3, 1, 2], direction y", lambda: periodic.set(zero, project=True, tolerance=2))
    assert (np.array(periodic) == before).all()


def free():
    """Links that are one between boundaries with phi = 0."""
    return plaq.Gauge.unit([4, 4, 2, 8], boundary_time="sf", phi=[0, 0, 0], phi_prime=[0, 0, 0])


def test_boundary_correlators_of_free_quarks():
    m, t = 0.3, 8
    d = plaq.Wilson(free(), mass=m)
    found = d.boundary_correlators(tol=1e-12)
    x = np.arange(1, t)
    close(found.f_p[1:], 3 * (1 + m) ** (-2.0 * x))
    close(found.f_a, -found.f_p)
    close(found.g_p[1:], 3 * (1 + m) ** (-2.0 * (t - x)))
    close(found.f_1, 3 * (1 + m) ** (-2.0 * (t - 1)))
    h = d.boundary_propagator("upper", tol=1e-12)
    close(np.array(h.pion())[0] / 2 / 32, found.g_p)
    refused(capi.Unsupported, "boundary_time: expected fixed links", lambda: plaq.Wilson(plaq.Gauge.hot([4, 4, 4, 4], boundary_time="open"), mass=m).boundary_propagator())


def test_boundary_correlators_of_one_fixed_boundary():
    gauge = plaq.Gauge.hot([4, 4, 4, 6], seed=2, boundary_time="open_sf", phi_prime=PHI_PRIME)
    found = plaq.Clover(gauge, mass=0.5, csw=1, boundary=(0.1, 0, 0, 0)).boundary_correlators()
    assert np.isnan(found.f_1) and np.isnan(found.f_p).all() and (found.g_p[1:] > 0).all()


def test_heat_bath_keeps_boundaries():
    for boundary in ({"boundary_time": "open"}, {"boundary_time": "sf", "phi": PHI, "phi_prime": PHI_PRIME}):
        gauge = plaq.Gauge.hot([4, 4, 4, 6], seed=3, **boundary)
        before = np.array(gauge)
        gauge.heatbath(5.5, 3, cg=1.1, cg_prime=0.9)
        after = np.array(gauge)
        assert f"boundary_time {gauge.boundary_time}" in repr(gauge)
        assert f"boundary_time {gauge.boundary_time}" in repr(plaq.Wilson(gauge, mass=0.1))
        still = {"open": (3, -1), "sf": (slice(0, 3), 0)}[gauge.boundary_time]
        assert (after[still] == before[still]).all() and gauge.unitarity().unitary < 1e-12
        assert (after[0, 2] != before[0, 2]).all()
    other = plaq.Gauge.hot([4, 4, 4, 6], seed=3)
    refused(capi.BadParameter, "cg, cg_prime", lambda: other.heatbath(5.5, cg=1.1))


def test_links_of_other_angles_are_named():
    one, two = (
        plaq.Gauge.hot([4, 4, 4, 6], boundary_time="open_sf", phi_prime=[angle, -angle, 0]) for angle in (0.1, 0.2)
    )
    d = plaq.Wilson(one, mass=0.5)
    refused(capi.FieldMismatch, "phi_prime [0.1, -0.1, 0.0]|phi_prime [0.2, -0.2, 0.0]", lambda: d.update(two))


def test_files_name_their_boundaries():
    sf = {"boundary_time": "sf", "phi": PHI, "phi_prime": PHI_PRIME}
    with tempfile.TemporaryDirectory() as folder:
        for boundary in ({"boundary_time": "open"}, sf, {"boundary_time": "open_sf", "phi_prime": PHI_PRIME}):
            gauge = plaq.Gauge.hot([4, 4, 2, 6], seed=4, **boundary)
            for format in ("ildg", "nersc3x3"):
                file = f"{folder}/{gauge.boundary_time}.{format}"
                gauge.write(file, format=format)
                found = plaq.open(file)
                assert found.boundary_time == gauge.boundary_time and found._ends() == gauge._ends()
                assert (np.array(found) == np.array(gauge)).all()
                wrong = {"boundary_time": "sf", "phi": PHI, "phi_prime": PHI}
                words = f"boundary_time {gauge.boundary_time}|which the file names|phi_prime {PHI}"
                refused(capi.BadParameter, words, lambda: plaq.open(file, **wrong))


def test_files_of_propagators_know_the_boundary():
    gauge = plaq.Gauge.hot([4, 4, 4, 8], seed=5, boundary_time="open")
    s = plaq.Clover(gauge, mass=0.8, csw=1).propagator((0, 0, 0, 2))
    pion = s.pion()
    assert s.boundary_time == "open" and pion.boundary_time == "open"
    # Fields made from a field with boundaries have them too.
    smeared = s.smear(gauge, alpha=0.2, steps=2)
    assert smeared.boundary_time == "open" and smeared.pion().boundary_time == "open"
    with tempfile.TemporaryDirectory() as folder:
        file, old = f"{folder}/s.lime", f"{folder}/old.lime"
        s.write(file)
        found = plaq.Propagator.open(file)
        assert found.boundary_time == "open"
        for name in ("pion", "rho", "nucleon"):
            one, other = getattr(found, name)(), getattr(s, name)()
            assert (one.boundary_time, one.source_time, one.form) == ("open", 2, "log")
            close(one.effective_mass().value[:4], other.effective_mass().value[:4], 1e-12)
        # A file that does not state its boundary, like those of earlier versions and of other codes.
        s.boundary_time = ""
        s.write(old)
        found = plaq.Propagator.open(old)
        assert found.boundary_time == ""
        for kind in (found, plaq.Propagator.from_array(np.asarray(found), position=(0, 0, 0, 2))):
            refused(ValueError, "boundary_time: expected open, sf or open_sf|vanishes on slice 0", kind.pion)
        found = plaq.Propagator.open(old, boundary_time=gauge.boundary_time)
        close(found.pion().mean, pion.mean)
        assert found.pion().boundary_time == "open"
        # What the file names is not overridden.
        assert plaq.Propagator.open(file, boundary_time="open").boundary_time == "open"
        for wrong in ("periodic", capi.plaq_boundary_time.SF):
            refused(ValueError, "boundary_time: expected open, which|s.lime names, found", lambda: plaq.Propagator.open(file, boundary_time=wrong))
    periodic = plaq.Wilson(plaq.Gauge.hot([2, 2, 2, 4], seed=5), mass=0.8).propagator()
    assert periodic.boundary_time == "periodic" and periodic.pion().form == "cosh"


def test_correlators_know_their_distances():
    gauge = plaq.Gauge.hot([4, 4, 4, 8], seed=5, boundary_time="open")
    d = plaq.Clover(gauge, mass=0.8, csw=1)
    pion, image = (d.propagator((0, 0, 0, t)).pion() for t in (2, 5))
    there = pion.distances
    assert there.slices.tolist() == [2, 3, 4, 5, 6, 7, 0, 1]
    assert there.source.tolist() == [0, 1, 2, 3, 4, 5, -2, -1]
    assert there.lower.tolist() == there.slices.tolist() and (there.upper == 7 - there.slices).all()
    # Correlators vanish on boundary slices, and masses compare a slice with the next one farther from the source.
    mean = pion.mean
    assert mean[5] == 0 and mean[6] == 0 and (mean[[0, 1, 2, 3, 4, 7]] > 0).all()
    masses = pion.effective_mass().value
    close(masses[:4], np.log(mean[:4] / mean[1:5]))
    assert np.isnan(masses[4:]).all()
    close(image.effective_mass().value[7], np.log(image.mean[7] / image.mean[6]))
    # The mirror image counts times from the other end of the lattice.
    both = plaq.Correlator.average([pion, image])
    reflected = [image.mean[-t % 8] for t in range(8)]
    close(both.mean, (mean + reflected) / 2)
    assert both.source_time == 2 and both.boundary_time == "open"
    close(plaq.Correlator.average([pion, image], odd=True).mean, (mean - reflected) / 2)
    joined = plaq.Correlator.join([pion, pion])
    assert joined.source_time == 2 and joined.distances.upper.tolist() == there.upper.tolist()
    elsewhere = d.propagator((0, 0, 0, 3)).pion()
    refused(ValueError, "parts[1]|slice 2 or 5|found 3", lambda: plaq.Correlator.average([pion, elsewhere]))
    refused(ValueError, "parts[1]|source_time", lambda: plaq.Correlator.join([pion, elsewhere]))
    refused(ValueError, "folded|boundary_time open", pion.folded)
    refused(ValueError, "expected log with boundary_time open", lambda: pion.effective_mass("cosh"))
    refused(ValueError, "source_time: expected 0 to 7, found 8", lambda: plaq.Correlator(mean, source_time=8))
    refused(ValueError, "source_time", lambda: plaq.Correlator(mean, boundary_time="open").distances)
    refused(ValueError, "boundary_time: expected periodic, open, sf, open_sf, found 'closed'", lambda: plaq.Correlator(mean, boundary_time="closed"))
    # With the Schroedinger functional slice N_t is the upper boundary. With one boundary of each kind there is no
    # mirror image.
    sf = plaq.Correlator(mean, source_time=3, boundary_time="sf")
    assert sf.distances.upper.tolist() == [5, 4, 3, 2, 1, 8, 7, 6]
    plaq.Correlator.average([sf, plaq.Correlator(mean, source_time=5, boundary_time="sf")])
    mixed = [plaq.Correlator(mean, source_time=t, boundary_time="open_sf") for t in (3, 5)]
    refused(ValueError, "parts[1]|slice 3,|found 5", lambda: plaq.Correlator.average(mixed))
    # Without boundaries all source times are equivalent.
    periodic = [plaq.Correlator(mean[::-1], source_time=t) for t in (0, 3)]
    close(plaq.Correlator.average(periodic).mean, mean[::-1])
    assert periodic[1].distances.source.tolist() == [0, 1, 2, 3, 4, 3, 2, 1] and periodic[1].distances.lower is None


def test_fixed_links_of_any_precision_are_exact():
    sf = {"boundary_time": "sf", "phi": PHI, "phi_prime": PHI_PRIME}
    exact = plaq.Gauge.hot([4, 4, 4, 4], 3, **sf)
    short = plaq.Gauge.hot([4, 4, 4, 4], 3, precision="single", **sf)
    rounded = plaq.Gauge.from_array(np.array(exact).astype(np.complex64), **sf)
    mixed = plaq.Gauge.from_array(np.array(exact).astype(np.complex64).astype(complex), tolerance=1e-5, **sf)
    fixed = np.array(exact)[:3, 0]
    with tempfile.TemporaryDirectory() as folder:
        for number, gauge in enumerate([exact, short, rounded, mixed]):
            file = f"{folder}/{number}"
            gauge.write(file, format="openqcd")
            found = plaq.open(file, **sf)
            assert abs(np.array(found)[:3, 0] - fixed).max() < 1e-15, number
            if gauge.precision == "double":
                assert abs(np.array(gauge)[:3, 0] - fixed).max() < 1e-15, number


def test_perambulators_of_sources_without_quarks_are_refused():
    gauge = plaq.Gauge.warm([2, 2, 2, 6], 3, boundary_time="open")
    modes, d = plaq.modes(gauge, 2), plaq.Clover(gauge, mass=0.3, csw=1)
    words = "expected a time slice where quarks do not vanish, as links have open|found"
    for times in (0, 5, [1, 0]):
        refused(capi.InvalidArgument, "times: " + words, lambda: modes.perambulators(d, times))
    refused(capi.InvalidArgument, "times: " + words, lambda: modes.perambulators(d))
    refused(capi.InvalidArgument, "source_time: " + words, lambda: modes.generalised(d, 0, 2, ["T"]))
    refused(capi.InvalidArgument, "sink_times: " + words, lambda: modes.generalised(d, 2, 5, ["T"]))
    assert abs(np.asarray(modes.perambulators(d, 1).numbers)).max() > 1e-3
