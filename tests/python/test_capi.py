"""plaq.capi: what the other tests do not come to, and how arguments are refused."""

import ctypes
import inspect
import tempfile

import numpy as np
import plaq
import reference as ref
from common import CONFIGURATION, SHAPE, close, lattice, refused, spinors
from plaq import capi

FREE = [4, 4, 4, 4]


def test_structs_have_their_defaults():
    kinds = [
        kind
        for _, kind in inspect.getmembers(capi, inspect.isclass)
        if issubclass(kind, capi.Struct) and kind is not capi.Struct and kind._init_
    ]
    assert len(kinds) > 40
    for kind in kinds:
        fresh, other = kind(), kind()
        assert fresh.struct_size == ctypes.sizeof(kind)
        ctypes.memset(ctypes.addressof(other), 0x55, ctypes.sizeof(kind))
        getattr(capi, kind._init_)(other, ctypes.sizeof(kind))
        assert bytes(fresh) == bytes(other), kind
        assert fresh.to_dict().keys() == set(kind.names()) and kind.__name__ in repr(fresh)
        assert all(name in kind.__doc__ for name in kind.names()), kind
    level = capi.plaq_multigrid_level_params()
    assert bytes(level) == bytes(capi.plaq_multigrid_params().level[0]) and level.vectors == 24


def test_members():
    p = capi.plaq_solver_params(solver="gcr", tol=1e-8, nkrylov=np.int64(7))
    assert (p.solver, p.tol, p.nkrylov) == (capi.plaq_solver_kind.GCR, 1e-8, 7)
    assert p.to_dict()["solver"] == "gcr"
    q = capi.plaq_dirac_params(boundary=np.array([0, 0, 0, 0.5]), hop=[1, 1, 1, 2])
    assert list(q.boundary) == [0, 0, 0, 0.5]
    refused(TypeError, "plaq_solver_params|'tole'|did you mean tol", lambda: capi.plaq_solver_params(tole=1))
    refused(ValueError, "solver|bicgstab|'fast'", lambda: setattr(p, "solver", "fast"))
    refused(TypeError, "nkrylov|whole number|7.5", lambda: setattr(p, "nkrylov", 7.5))
    refused(OverflowError, "nkrylov|32 bits", lambda: setattr(p, "nkrylov", 1 << 40))
    refused(TypeError, "tol|real number|str", lambda: setattr(p, "tol", "small"))
    refused(TypeError, "boundary|expected 4 numbers, found 3", lambda: setattr(q, "boundary", [0, 0, 0]))
    refused(TypeError, "plaq_gauge", lambda: capi.plaq_spinor_params(gauge=3))
    w = capi.plaq_gauge_write_params(lfn="name")
    assert w.lfn == b"name" and "name" in repr(w)


def test_statuses():
    assert capi.plaq_version() == plaq.__version__
    for kind in capi.Error._classes.values():
        assert issubclass(kind, capi.Error) and kind.__doc__
        assert kind.__name__.lower() == capi.plaq_status_name(kind.status)[5:].replace("_", "").lower()
        assert capi.plaq_status_help(kind.status)[1:] in kind.__doc__
    error = refused(capi.InvalidHandle, "plaq_gauge_plaquette", lambda: capi.plaq_gauge_plaquette(capi.plaq_gauge()))
    assert error.status == 3 and capi.plaq_last_error_in_words() == capi.plaq_last_error() == str(error) and isinstance(error, ValueError)
    assert issubclass(capi.OutOfMemory, MemoryError) and issubclass(capi.FileOpen, OSError)
    assert issubclass(capi.Unsupported, NotImplementedError) and plaq.Error is capi.Error


def test_arguments():
    _, gauge = lattice()
    field = plaq.Fermion(gauge, 2)
    norms = np.empty(2)
    refused(ValueError, "norms|expected 2 numbers, found 1", lambda: capi.plaq_spinor_norm2(field, norms[:1], 2))
    refused(TypeError, "norms|float64|float32", lambda: capi.plaq_spinor_norm2(field, np.ones(2, "f"), 2))
    refused(ValueError, "C-contiguous", lambda: capi.plaq_spinor_norm2(field, np.empty(4)[::2], 2))
    refused(TypeError, "norms|found None", lambda: capi.plaq_spinor_norm2(field, None, 2))
    refused(TypeError, "spinor|plaq_gauge", lambda: capi.plaq_spinor_zero(gauge.handle))
    refused(TypeError, "layout|plaq_dirac_params", lambda: capi.plaq_spinor_load(field, capi.plaq_dirac_params(), 0))
    refused(TypeError, "file|name of a file|int", lambda: capi.plaq_gauge_write(gauge, 3, None))
    refused(TypeError, "expected an array or an address", lambda: capi.plaq_spinor_load(field, None, "data"))
    refused(TypeError, "coefficients|str", lambda: capi.plaq_gauge_path_action(gauge, [0, 1, 7, 6], [4], ["a"], 1))
    refused(TypeError, "steps|int32|float64", lambda: capi.plaq_gauge_path_action(gauge, [0.5], [1], [1.0], 1))
    refused(capi.NullPointer, "data", lambda: capi.plaq_spinor_load(field, None, None))


def test_objects_are_destroyed():
    names = [name for name in vars(capi) if name.endswith("_destroy") and not name.startswith("_")]
    assert len(names) > 10
    for name in names:
        getattr(capi, name)(None)  # the zero handle
    gauge = capi.plaq_gauge_create(plaq.Gauge.unit(FREE).context, capi.plaq_gauge_params(extents=FREE))
    capi.plaq_gauge_destroy(gauge)
    refused(capi.InvalidHandle, "", lambda: capi.plaq_gauge_destroy(gauge))


def test_hop_and_clover_terms():
    _, gauge = lattice()
    psi = plaq.Fermion.from_array(spinors())
    d = plaq.Wilson(gauge, kappa=0.12, normalisation="kappa")
    hopped = d.hop(psi, 0).numpy() + d.hop(psi, 1).numpy()
    close(psi.numpy() - 0.12 * hopped, (d @ psi).numpy())
    c = plaq.Clover(gauge, kappa=0.12, csw=1.5, normalisation="kappa")
    term, inverse = capi.plaq_dirac_clover(c), capi.plaq_dirac_clover_inverse(c)
    made = capi.plaq_clover_create(gauge.context, capi.plaq_clover_params(gauge=gauge.handle))
    layout = capi.plaq_layout_params(order="milc")
    blocks = np.empty((int(np.prod(SHAPE)), 2, 36))
    capi.plaq_clover_save(term, layout, blocks)
    capi.plaq_clover_load(made, layout, blocks)
    params = capi.plaq_dirac_params(kappa=0.12, normalisation="kappa")
    for host in (None, inverse):
        dirac = capi.plaq_dirac_create_with_clover(gauge.context, gauge, params, made, host)
        out = c.field()
        capi.plaq_dirac_apply(dirac, "full", "m", out, psi)
        close(out.numpy(), (c @ psi).numpy())
        capi.plaq_dirac_destroy(dirac)
    # Blocks by their definition: 6 diagonal reals, then columns below the diagonal.
    matrices = np.zeros((*blocks.shape[:2], 6, 6), complex)
    matrices[..., range(6), range(6)] = blocks[..., :6]
    k = 6
    for column in range(6):
        for row in range(column + 1, 6):
            matrices[..., row, column] = blocks[..., k] + 1j * blocks[..., k + 1]
            matrices[..., column, row] = matrices[..., row, column].conj()
            k += 2
    signs, logs = np.linalg.slogdet(matrices)
    logs = logs.sum(axis=1).reshape(2, -1).sum(axis=1)
    found, sign = np.empty(2), np.empty(2, np.int32)
    capi.plaq_clover_log_det(term, 0, found)
    capi.plaq_clover_det_sign(term, 0, sign)
    close(found, logs, 1e-10)
    close(sign, signs.real.prod(axis=1).reshape(2, -1).prod(axis=1), 1e-10)
    for handle in (term, inverse, made):
        capi.plaq_clover_destroy(handle)


def test_momenta_and_forces():
    rng = np.random.default_rng(6)
    gauge = plaq.Gauge.warm([4, 4, 4, 4], 2, 0.4)
    momentum, other = capi.plaq_momentum_create(gauge), capi.plaq_momentum_create(gauge)
    p = rng.standard_normal((4, 4, 4, 4, 4, 8))
    capi.plaq_momentum_load(momentum, "coefficients", "lexicographic", 1, p)
    close(capi.plaq_momentum_kinetic(momentum), (p**2).sum() / 2)
    capi.plaq_momentum_add(momentum, 2, momentum, 0)
    back = np.empty_like(p)
    capi.plaq_momentum_save(momentum, "coefficients", "lexicographic", 0.5, back)
    close(back, p)
    single = np.empty(p.shape, np.float32)
    capi.plaq_momentum_save_in(momentum, "coefficients", "lexicographic", "single", 0.5, single)
    capi.plaq_momentum_load_in(momentum, "coefficients", "lexicographic", "single", 1, single)
    close(single, p, 1e-6)
    capi.plaq_momentum_gaussian(other, 1, 0)
    assert abs(capi.plaq_momentum_kinetic(other) / (4 * 256 * 8 / 2) - 1) < 0.1

    # Forces are derivatives: S after a step of the momenta P has dS = <P, F> step; F from a kick of zero momenta.
    x, y = (plaq.Fermion.noise(gauge, 1, seed=n) for n in (1, 2))
    even = capi.plaq_spinor_params(gauge=gauge.handle, subset="even")
    ex, ey = (
        plaq.Fermion(None, _handle=capi.plaq_spinor_create(gauge.context, even), context=gauge.context)
        for _ in range(2)
    )
    for number, field in enumerate((ex, ey)):
        capi.plaq_spinor_noise(field, "normal", 5, number)
    plain = capi.plaq_gauge_action_params(action="general", plaquettes=[7.5, 7.5], rectangles=[-0.25, -0.25, -0.25])
    loop = [0, 1, 1, 7, 6, 6]

    # The operators of forces are kappa-normalised: 2 kappa D.
    k = plaq.Clover(gauge, mass=0.3, csw=1.0, normalisation="kappa")

    def schur(links, u, v):
        operator = plaq.Clover(links, mass=0.3, csw=1.0, normalisation="kappa")
        out = plaq.Fermion(None, _handle=capi.plaq_spinor_create(gauge.context, even), context=gauge.context)
        capi.plaq_dirac_apply(operator, "even_symmetric", "m", out, u)
        return 2 * v.dot(out)[0].real

    def full(links):
        operator = plaq.Clover(links, mass=0.3, csw=1.0, normalisation="kappa")
        return 2 * y.dot(operator @ x)[0].real

    def both(m):
        capi.plaq_dirac_hop_force(k, m, 1, x, y, [1.0], 1)
        capi.plaq_dirac_clover_force(k, m, 1, x, y, [1.0], 1, 0, 0)

    cases = [
        (lambda links: capi.plaq_gauge_action(links, plain), lambda m: capi.plaq_gauge_force(gauge, plain, m, 1)),
        (
            lambda links: capi.plaq_gauge_path_action(links, loop, [6], [0.7], 1),
            lambda m: capi.plaq_gauge_path_force(gauge, loop, [6], [0.7], 1, m, 1),
        ),
        (full, both),
        (
            lambda links: schur(links, ex, ey),
            lambda m: capi.plaq_dirac_schur_force(k, "even_symmetric", m, 1, ex, ey, [1.0], 1, 0),
        ),
    ]
    capi.plaq_momentum_load(momentum, "coefficients", "lexicographic", 1, p)
    for action, kick in cases:
        force = capi.plaq_momentum_create(gauge)
        kick(force)
        f = np.empty_like(p)
        capi.plaq_momentum_save(force, "coefficients", "lexicographic", -1, f)
        values, eps = [], 1e-4
        for sign in (1, -1):
            moved = gauge.copy()
            capi.plaq_gauge_evolve(moved, momentum, sign * eps)
            values.append(action(moved))
        close((values[0] - values[1]) / (2 * eps), (f * p).sum(), 1e-5)
        capi.plaq_momentum_destroy(force)
    images = np.empty((16, 4), np.int32)
    assert capi.plaq_path_images([0, 1, 7, 6], 4, images, 16) == 6


def test_chains_in_parts():
    text = plaq.toml(
        {
            "length": 0.5,
            "seed": 3,
            "monomial": [
                {"name": "gauge", "type": "gauge", "action": "wilson", "beta": 5.5},
                {"name": "quarks", "type": "two_flavours", "operator": {"kappa": 0.12}},
            ],
            "level": [
                {"integrator": "omelyan2", "steps": 2, "monomials": ["quarks"]},
                {"integrator": "leapfrog", "steps": 3, "monomials": ["gauge"]},
            ],
        }
    )
    gauge = plaq.Gauge.warm(FREE, 1, 0.3)
    expected = plaq.hmc(text, gauge.copy()).step()
    parts = capi.plaq_hmc_parts_create(gauge, capi.plaq_hmc_params(length=0.5, seed=3))
    capi.plaq_hmc_parts_add_level(parts, "omelyan2", 2)
    capi.plaq_hmc_parts_add_quarks(parts, "quarks", None, capi.plaq_dirac_params(kappa=0.12), None, None)
    capi.plaq_hmc_parts_add_level(parts, "leapfrog", 3)
    capi.plaq_hmc_parts_add_gauge(parts, "gauge", capi.plaq_gauge_action_params(beta=5.5))
    chain = plaq.Hmc(capi.plaq_hmc_create_from(parts), gauge, None)
    assert abs(chain.step().delta_h - expected.delta_h) < 1e-9
    refused(capi.InvalidArgument, "a chain was made", lambda: capi.plaq_hmc_parts_add_level(parts, "leapfrog", 3))
    capi.plaq_hmc_parts_destroy(parts)
    parts = capi.plaq_hmc_parts_create(gauge, None)
    capi.plaq_hmc_parts_add_level(parts, "leapfrog", 3)
    capi.plaq_hmc_parts_add_paths(parts, "loops", [0, 1, 7, 6], [4], [1.0], 1)
    capi.plaq_hmc_parts_destroy(parts)
    capi.plaq_input_check("[run]\na = 1\n", "run", "a b")
    refused(capi.InvalidArgument, "c", lambda: capi.plaq_input_check("[run]\nc = 1\n", "run", "a b"))


def test_files_of_vectors():
    gauge = plaq.Gauge.warm(FREE, 1, 0.3)
    d = plaq.Wilson(gauge, mass=0.3)
    with tempfile.TemporaryDirectory() as folder:
        found = d.eigen(2)
        found.save(f"{folder}/eigen")
        refused(FileExistsError, "overwrite=True", lambda: found.save(f"{folder}/eigen"))
        close(d.load_eigen(f"{folder}/eigen").values, found.values, 1e-9)
        how = {"levels": 2, "block": [2, 2, 2, 2], "vectors": 4, "refinements": 1}
        mg = d.multigrid(**how)
        mg.save(f"{folder}/multigrid")
        refused(FileExistsError, "overwrite=True", lambda: mg.save(f"{folder}/multigrid"))
        b = spinors(shape=(4, 4, 4, 4))
        for again in (d.multigrid(load=f"{folder}/multigrid", **how), d.multigrid(start=mg.vectors("double"), **how)):
            close(d @ d.solve(b, multigrid=again), b, 1e-8)
        params = capi.plaq_multigrid_params(levels=2)
        assert capi.plaq_multigrid_memory(d, params) > capi.plaq_multigrid_update_memory(mg, d, "keep", 1) > 0
        assert "2x2x2x2" in repr(mg)

        overlap = plaq.Overlap(plaq.Gauge.warm(FREE, 3, 0.15), mass=0.2)
        index = overlap.index(2)
        assert index["index"] == index["zeros"][1] - index["zeros"][0] and len(index["plus"]) == 2
        low, high, gaps = np.empty(2), np.empty(1), np.empty(1)
        capi.plaq_overlap_low_values(overlap, 1, low, None, 2)
        close(low, index["plus"], 1e-9)
        capi.plaq_overlap_high_values(overlap, high, None, gaps, 1)
        close(high[0], overlap.describe().largest, 1e-9)
        assert overlap.modes().n == overlap.describe().vectors
        overlap.save(f"{folder}/overlap")
        refused(FileExistsError, "overwrite=True", lambda: overlap.save(f"{folder}/overlap"))
        other = plaq.Overlap(plaq.Gauge.warm(FREE, 3, 0.15), mass=0.2, load=f"{folder}/overlap")
        psi = spinors(shape=(4, 4, 4, 4))
        close(other @ psi, overlap @ psi, 1e-7)
        capi.plaq_overlap_set_multigrid(overlap, None)


def test_the_rest():
    s = plaq.Wilson(plaq.open(CONFIGURATION), mass=0.3).propagator()
    pion, rho, nucleon = np.empty(8), np.empty((3, 8)), np.empty(8, complex)
    capi.plaq_spinor_correlators(s, 0, 1, 8, pion, rho, nucleon)
    close(pion, s.pion().data[0], 1e-12)
    close(rho.mean(axis=0), s.rho().data[0], 1e-12)
    close(nucleon.real, s.nucleon().data[0], 1e-12)
    capi.plaq_spinor_zero(s)
    assert not s.numpy().any()
    capi.plaq_context_reset_peak(s.context)
    assert s.context.report().memory_peak == s.context.report().memory_used
    heard = []
    capi.plaq_quda_set_error_mode("return")
    capi.plaq_quda_set_error_handler(lambda function, status, message: heard.append((function, status)))
    plaq._native.library.loadGaugeQuda(None, None)
    assert heard == [("loadGaugeQuda", capi.plaq_quda_last_status())] and heard[0][1] > 0
    capi.plaq_quda_set_error_handler(None)
    capi.plaq_quda_set_error_mode("end")
