"""Links in arrays and files, observables, smearing, flow, gauge fixing, updates."""

import itertools
import pickle
import tempfile
from pathlib import Path

import numpy as np
import plaq
import reference as ref
from common import CONFIGURATION, EXTENTS, SHAPE, close, lattice, refused


def test_arrays_come_back():
    u, gauge = lattice()
    assert gauge.extents == EXTENTS and gauge.precision == "double"
    for array in (gauge.lexico(), gauge.numpy(), np.asarray(gauge)):
        assert array.shape == (4, *SHAPE, 3, 3) and array.flags.c_contiguous
        close(array, u, 1e-14)
    # A link by its coordinates: direction z, site (3, 5, 1, 6).
    close(gauge.lexico()[2, 6, 1, 5, 3], u[2, 6, 1, 5, 3], 1e-14)


def test_even_odd():
    u, gauge = lattice()
    array = gauge.evenodd()
    assert array.shape == (4, 2, 8, 2, 6, 2, 3, 3)
    for t, z, y, x in itertools.product(*map(range, SHAPE)):
        assert np.array_equal(array[:, (x + y + z + t) % 2, t, z, y, x // 2], gauge.lexico()[:, t, z, y, x])
    close(plaq.Gauge.from_array(array).lexico(), u, 1e-14)


def test_precisions_and_su2():
    u, gauge = lattice()
    single = plaq.Gauge.from_array(u.astype(np.complex64))
    assert single.precision == "single" and single.numpy().dtype == np.complex64
    close(single.numpy(), u, 1e-6)
    close(gauge.copy("single").numpy(), u, 1e-6)
    small = plaq.Gauge.hot([2, 2, 2, 4], 1, colours=2)
    assert small.numpy().shape == (4, 4, 2, 2, 2, 2, 2)
    close(plaq.Gauge.from_array(small.numpy()).plaquette(), small.plaquette(), 1e-10)


def test_plaquette_is_the_reference():
    u, gauge = lattice()
    total, spatial, temporal = ref.plaquette(u)
    close(gauge.plaquette()[:3], [total, spatial, temporal], 1e-11)
    close(gauge.plaquette().link_trace, np.trace(u, axis1=-2, axis2=-1).real.mean() / 3, 1e-10)
    line = u[3, 0]
    for t in range(1, 8):
        line = line @ u[3, t]
    close(gauge.polyakov_loop("t"), np.trace(line, axis1=-2, axis2=-1).mean() / 3, 1e-10)
    loop = np.trace(ref.plaquette_field(u, 0, 1), axis1=-2, axis2=-1).sum()
    close(gauge.loops(["x y -x -y", [0, 1, 7, 6]]), [loop, loop], 1e-10)
    read = plaq.open(CONFIGURATION)
    close(ref.plaquette(read.numpy())[0], read.info.plaquette, 1e-6)


def test_boundaries_in_time():
    """Links with boundaries keep them; energies by slice add up; quarks vanish where they must."""
    hot = plaq.Gauge.warm([4, 4, 4, 8], 3, boundary_time="open")
    assert hot.boundary_time == "open" and hot.copy().boundary_time == "open"
    links = hot.lexico()
    assert not links[3, -1].any() and links[3, :-1].any(axis=(-2, -1)).all()
    same = plaq.Gauge.from_array(links, boundary_time="open")
    assert same.plaquette() == hot.plaquette()
    refused(plaq.capi.NotUnitary, "violation", lambda: plaq.Gauge.from_array(links))
    # The sum of E over all slices is 36 (1 - P) for each site, where those of boundary slices count half: 64 x 7 sites.
    energy = hot.time_slices().plaquette.sum()
    assert abs(energy / (64 * 7) - 36 * (1 - hot.plaquette().total)) < 1e-9 * energy
    slices = hot.time_slices()
    assert slices.clover[0] == slices.clover[-1] == slices.charge[0] == 0
    assert abs(slices.charge.sum() - hot.topology().charge) < 1e-10
    flowed = hot.flow(0.1).gauge
    assert flowed.time_slices().plaquette.sum() < 0.7 * energy
    with tempfile.TemporaryDirectory() as folder:
        for name, known, error in (("openqcd", {}, 1e-14), ("ildg", {}, 1e-14), ("milc", {"boundary_time": "open"}, 1e-6)):
            path = f"{folder}/{name}"
            hot.write(path, name)
            read = plaq.open(path, **known)
            assert read.boundary_time == "open" and np.abs(read.lexico() - links).max() < error
        refused(plaq.capi.NotUnitary, "boundary_time|open", lambda: plaq.open(path))
        refused(plaq.capi.BadParameter, "phi|three angles", lambda: plaq.open(path, boundary_time="sf"))
        angles = {"phi": [0.1, 0.2, -0.3], "phi_prime": [0.5, -0.25, -0.25]}
        fixed = plaq.Gauge.hot([4, 4, 4, 4], 1, boundary_time="sf", **angles)
        diagonal = np.exp(1j * np.array(angles["phi"]) / 4)
        assert np.abs(fixed.lexico()[:3, 0] - np.diag(diagonal)).max() < 1e-14
        assert fixed.phi == angles["phi"] and fixed.phi_prime == angles["phi_prime"]
        fixed.write(f"{folder}/sf", "ildg")
        assert plaq.open(f"{folder}/sf", boundary_time="sf", **angles).plaquette() == fixed.plaquette()
    quark = plaq.Clover(hot, kappa=0.11, csw=1.0, cf=0.9)
    b = np.random.default_rng(5).normal(size=(8, 4, 4, 4, 4, 3)) + 0j
    x = quark.solve(b, tol=1e-11)
    inside = b.copy()
    inside[0] = inside[-1] = 0
    assert np.abs(quark @ x - inside).max() < 1e-8 and not x[0].any()
    # A sign in time has no effect, in contractions neither; sources lie where quarks are.
    both = [plaq.Clover(hot, kappa=0.11, csw=1.0, boundary=word) for word in ("Periodic", "antiperiodic")]
    there = [one.propagator((0, 0, 0, 4), tol=1e-11) for one in both]
    for hadron in ("pion", "nucleon"):
        numbers = [getattr(one, hadron)().data for one in there]
        assert np.abs(numbers[0] - numbers[1]).max() < 1e-9 * np.abs(numbers[0]).max()
    refused(plaq.capi.InvalidArgument, "position|quarks do not vanish", lambda: quark.propagator((0, 0, 0, 7)))
    closed = plaq.Gauge.hot([4, 4, 4, 8], 3)
    refused(
        plaq.capi.FieldMismatch,
        "thin links|boundaries",
        lambda: plaq.Clover(hot, kappa=0.11, csw=1.0, thin=closed, clover_links="thin"),
    )
    # Momenta of links that do not exist are zero.
    momenta = plaq.capi.plaq_momentum_create(hot)
    plaq.capi.plaq_momentum_load(momenta, "coefficients", "lexicographic", 1.0, np.ones((8, 4, 4, 4, 4, 8)))
    assert plaq.capi.plaq_momentum_kinetic(momenta) == 0.5 * 8 * (4 * 512 - 64)
    refused(plaq.capi.BadParameter, "cf|periodic in time", lambda: plaq.Clover(plaq.Gauge.unit([4] * 4), kappa=0.11, csw=1.0, cf=0.9))
    text = "length = 0.5\n[run]\nlattice = [4, 4, 4, 4]\nstart = 'cold'\nboundary_time = 'open_sf'\nphi_prime = [0.5, -0.5, 0.0]\n"
    text += "[[monomial]]\nname = 'g'\ntype = 'gauge'\nbeta = 6.0\ncg = 0.9\n"
    text += "[[level]]\nintegrator = 'omelyan2'\nsteps = 20\nmonomials = ['g']\n"
    chain = plaq.hmc(text)
    assert chain.gauge.boundary_time == "open_sf" and abs(chain.step().delta_h) < 0.1
    # NaN is no value: cg_prime and cf_prime are then as cg and cf, in TOML, by keyword and in C.
    as_cg = plaq.hmc(text.replace("cg = 0.9", "cg = 0.9\ncg_prime = nan"))
    assert as_cg.step().delta_h == chain.history[0].delta_h
    for spelt in ("cg_prime = 'cg'", "cg_prime = 0.9"):
        assert plaq.hmc(text.replace("cg = 0.9", f"cg = 0.9\n{spelt}")).step().delta_h == as_cg.history[0].delta_h
    assert plaq.hmc(text.replace("cg = 0.9", "cg = 0.9\ncg_prime = 1.2")).step().delta_h != as_cg.history[0].delta_h
    by_default, by_nan = (plaq.Gauge.hot([4, 4, 4, 4], 2, boundary_time="open") for _ in range(2))
    by_default.heatbath(6.0, cg=1.1), by_nan.heatbath(6.0, cg=1.1, cg_prime=float("nan"))
    assert np.array_equal(by_default.numpy(), by_nan.numpy())
    open_links = plaq.Gauge.warm([4, 4, 4, 4], 2, 0.3, boundary_time="open")
    psi = plaq.Fermion.noise(open_links, seed=2)
    images = [
        plaq.Clover(open_links, kappa=0.11, csw=1.0, cf=0.9, **more) @ psi
        for more in ({}, {"cf_prime": float("nan")}, {"cf_prime": 0.9}, {"cf_prime": 1.1})
    ]
    same = [np.array_equal(images[0].numpy(), image.numpy()) for image in images]
    assert same == [True, True, True, False]
    assert "cf_prime" not in repr(plaq.Clover(open_links, kappa=0.11, csw=1.0, cf=0.9, cf_prime=float("nan")))
    refused(plaq.capi.Unsupported, "gauge fixing|open", lambda: hot.fix("landau"))


def test_topology_is_of_the_field_strength():
    gauge = plaq.Gauge.warm([4, 4, 4, 4], 3, 0.3)
    u = gauge.numpy()
    # F hermitian and, but for topology(trace=True), without trace.
    f = {(m, n): -1j * ref.field_strength(u, m, n) for m in range(4) for n in range(4) if m != n}
    for trace in (True, False):
        if not trace:
            f = {k: v - np.trace(v, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) / 3 for k, v in f.items()}
        dot = lambda a, b: np.einsum("tzyxab,tzyxba->tzyx", a, b).real
        charge = 8 * (dot(f[0, 1], f[2, 3]) - dot(f[0, 2], f[1, 3]) + dot(f[0, 3], f[1, 2])) / (32 * np.pi**2)
        found = gauge.topology(trace)
        close(found.charge, charge.sum(), 1e-9)
        close(gauge.charge_density(trace), charge, 1e-9)
        close(found.energy_spatial, sum(dot(f[p], f[p]).sum() for p in ((0, 1), (0, 2), (1, 2))) / 256, 1e-9)


def test_smearing_is_the_reference():
    u, gauge = lattice()
    close(gauge.smear_stout(0.07, 2).numpy(), ref.smeared(u, ref.STOUT, 0.07, steps=2), 1e-11)
    close(gauge.numpy(), u, 1e-14)  # the links stay
    for along in ("xyz", "xyzt"):
        for found, rule, alpha in [
            (gauge.smear_stout(0.1, directions=along), ref.STOUT, 0.1),
            (gauge.smear_overimproved(0.07, -0.3, directions=along), ref.OVERIMPROVED, [0.07, -0.3]),
            (gauge.smear_ape(0.6, directions=along), ref.APE, 0.6),
            (gauge.smear_hyp((0.75, 0.6, 0.3), directions=along), ref.HYP, [0.75, 0.6, 0.3]),
        ]:
            close(found.numpy(), ref.smeared(u, rule, alpha, along), 1e-11)
    for other in (gauge.smear_ape(0.5, 2), gauge.smear_hyp(), gauge.smear_hyp(directions="xyz"), gauge.smear_overimproved()):
        assert other.plaquette().total > gauge.plaquette().total + 0.1
        assert other.unitarity().unitary < 1e-12


def test_flow():
    gauge = plaq.open(CONFIGURATION)
    before = gauge.numpy()
    heard = []
    flow = gauge.flow(1.0, step=0.02, every=5, progress=lambda *point: heard.append(point))
    close(flow.time, np.arange(11) / 10, 1e-9)
    close([time for time, _, _ in heard], flow.time, 1e-9)
    close(flow.energy[0], sum(gauge.topology()[1:]), 1e-10)
    close(flow.charge[-1], flow.gauge.topology().charge, 1e-9)
    close(gauge.numpy(), before, 1e-15)
    # Wilson's flow for a short time is stout smearing by small steps.
    short = gauge.flow(0.001, step=0.0005, every=1).gauge
    close(short.numpy(), gauge.smear_stout(0.0001, 10).numpy(), 1e-6)
    adaptive = gauge.flow(1.0, tolerance=1e-5, every=1, kind="symanzik")
    assert adaptive.report.steps == len(adaptive.time) - 1 and adaptive.time[-1] == 1
    assert np.isnan(flow.t0) == (flow.t2e[-1] < 0.3)


def test_gauge_fixing():
    u = plaq.open(CONFIGURATION).numpy()
    gauge = plaq.Gauge.from_array(u)
    heard = []
    fixed = gauge.fix("landau", stop_theta=1e-14, progress=lambda *state: heard.append(state))
    assert fixed.converged and heard
    g = fixed.transformation
    close(fixed.gauge.numpy(), ref.transformed(u, g), 1e-12)
    close(fixed.apply(gauge).numpy(), fixed.gauge.numpy(), 1e-12)
    # Landau gauge: the lattice divergence of the antihermitian part is gone.
    v = fixed.gauge.numpy()
    a = (v - ref.dag(v)) / 2j
    a = a - np.trace(a, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) / 3
    divergence = sum(a[mu] - ref.shift(a[mu], mu, -1) for mu in range(4))
    assert np.abs(divergence).max() < 1e-5
    close(fixed.functional, np.trace(v, axis1=-2, axis2=-1).real.mean() / 3, 1e-9)
    coulomb = gauge.fix("coulomb", copies=2, method="overrelaxation")
    assert len(coulomb.copies()) == 2 and len(coulomb.slices()) == 8
    assert gauge.fix("maximally_abelian", stop_theta=1e-8).functional > 0.5


def test_files():
    gauge = plaq.open(CONFIGURATION)
    assert gauge.info.sequence_number == 300 and gauge.extents == [4, 4, 4, 8]
    with tempfile.TemporaryDirectory() as folder:
        for format in ("ildg", "nersc", "nersc_3x3", "milc", "openqcd", "ddalphaamg"):
            path = Path(folder) / format
            gauge.write(path, format)
            close(plaq.open(path).numpy(), gauge.numpy(), 1e-6 if format == "milc" else 1e-14)
        gauge.write(f"{folder}/named", "ildg", lfn="lfn://here", sequence_number=7)
        refused(FileExistsError, "named: the file exists|overwrite=True", lambda: gauge.write(f"{folder}/named"))
        refused(TypeError, "file|name of a file|int 3", lambda: gauge.write(3))
        plaq.Gauge(gauge.extents).write(f"{folder}/named", overwrite=True)
        assert plaq.open(f"{folder}/named").plaquette().total == 1
        gauge.write(f"{folder}/named", "ildg", lfn="lfn://here", sequence_number=7, overwrite=True)
        assert plaq.file_text(f"{folder}/named", "lfn") == "lfn://here"
        assert plaq.file_text(f"{folder}/named", "ensemble_id") is None
        assert plaq.open(f"{folder}/named", precision="single").precision == "single"
        refused(OSError, "No such file", lambda: plaq.open(f"{folder}/absent"))
        refused(plaq.capi.FileExtents, "8", lambda: plaq.open(f"{folder}/named", extents=[8, 8, 8, 8]))
        refused(ValueError, "format|ildg|'hdf5'", lambda: gauge.write(f"{folder}/x", "hdf5"))


def test_heat_bath_goes_on():
    chain = plaq.heatbath([4, 4, 4, 4], 5.7, seed=3, thermalise=4, separation=2)
    fields = [gauge.copy().numpy() for gauge in itertools.islice(chain, 3)]
    gauge = plaq.Gauge.hot([4, 4, 4, 4], 3)
    gauge.heatbath(5.7, 8, seed=3)
    assert np.array_equal(gauge.numpy(), fields[2])
    assert not np.array_equal(fields[0], fields[1])
    heard = []
    other = plaq.Gauge.hot([4, 4, 4, 4], 3)
    other.heatbath(5.7, 5, seed=3, progress=lambda done, *rest: heard.append(done) or done == 2)
    assert heard == [1, 2]
    other.heatbath(5.7, 6, seed=3)
    assert np.array_equal(other.numpy(), fields[2])
    # Strong coupling: <P> = beta / 18 + beta^2 / 216 + ..., N = 3.
    strong = plaq.Gauge.hot([8, 8, 8, 8], 1)
    strong.heatbath(0.5, 20)
    values = [strong.heatbath(0.5, 1).total for _ in range(20)]
    assert abs(np.mean(values) - (0.5 / 18 + 0.25 / 216)) < 4e-4
    assert strong.reunitarise() < 1e-12


def test_mistakes():
    u, gauge = lattice()
    refused(ValueError, "(4, T, Z, Y, X, N, N)|(3, 8, 2, 6, 4, 3, 3)", lambda: plaq.Gauge.from_array(u[:3]))
    refused(ValueError, "(4, 8, 2, 6, 4, 3, 3)|(4, 4, 2, 6, 4, 3, 3)", lambda: gauge.set(u[:, :4]))
    refused(TypeError, "complex128|float64", lambda: plaq.Gauge.from_array(u.real))
    refused(ValueError, "flow|above 0|-1", lambda: gauge.flow(-1))
    refused(ValueError, "direction|xyzt|'q'", lambda: gauge.polyakov_loop("q"))
    refused(plaq.capi.NotUnitary, "link at|exceeds", lambda: plaq.Gauge.from_array(1.1 * u))
    refused(plaq.capi.BadExtents, "extent x is 3", lambda: plaq.Gauge.unit([3, 4, 4, 4]))
    refused(ValueError, "four numbers x, y, z, t", lambda: plaq.Gauge.unit([4, 4, 4]))
    refused(ValueError, "expected 3 or 2, found 4", lambda: plaq.Gauge.unit([4, 4, 4, 4], colours=4))
    refused(ValueError, "letters of x, y, z, t", lambda: gauge.smear_stout(0.1, directions="xw"))
    refused(ValueError, "'-w'", lambda: gauge.loops(["x -w"]))
    refused(ValueError, "condition|landau|'Feynman'", lambda: gauge.fix("Feynman"))
    refused(TypeError, "did you mean omega", lambda: gauge.fix("landau", omga=1.7))
    refused(TypeError, "cannot be pickled|write it to a file", lambda: pickle.dumps(gauge))
    with plaq.Gauge.unit([2, 2, 2, 2]) as small:
        assert small.plaquette().total == 1
    assert "closed" in repr(small) and small._repr_html_() is None
    refused(plaq.capi.InvalidHandle, "this Gauge was closed", small.plaquette)
    context = plaq.Context("cpu", threads=1)
    inside = plaq.Gauge.unit([2, 2, 2, 2], context=context)
    context.close()
    refused(plaq.capi.InvalidHandle, "the context of this Gauge was closed", inside.plaquette)
    assert "Gauge" in gauge._repr_html_() and "4x6x2x8" in repr(gauge)
