"""D psi, solves and propagators against operators in NumPy."""

import warnings

import numpy as np
import plaq
import reference as ref
from common import ROOT, SHAPE, close, lattice, refused, spinors

PHASES = [1, np.exp(0.3j), 1, -1]


def test_wilson_is_the_reference():
    u, gauge = lattice()
    psi = spinors()
    close(plaq.Wilson(gauge, mass=0.2) @ psi, ref.dirac(u, psi, 0.2))
    close(plaq.Wilson(gauge, kappa=0.12) @ psi, ref.dirac(u, psi, 0.5 / 0.12 - 4))
    close(plaq.Wilson(gauge, mass=0.2, boundary=[0, 0.3 / np.pi, 0, 1]) @ psi, ref.dirac(u, psi, 0.2, PHASES))
    close(plaq.Wilson(gauge, mass=0.2, xi=2.0, nu=0.9) @ psi, ref.dirac(u, psi, 0.2, hops=(0.45, 0.45, 0.45, 1)))
    kappa = 1 / (2 * 0.2 + 8)
    close(plaq.Wilson(gauge, mass=0.2, normalisation="kappa") @ psi, 2 * kappa * ref.dirac(u, psi, 0.2))


def test_clover_and_twisted_are_the_reference():
    u, gauge = lattice()
    psi = spinors()
    close(plaq.Clover(gauge, mass=-0.1, csw=1.7) @ psi, ref.dirac(u, psi, -0.1, csw=1.7))
    close(plaq.Twisted(gauge, mass=0.1, mu=0.3) @ psi, ref.dirac(u, psi, 0.1, twist=0.3))
    close(plaq.Twisted(gauge, mass=0.1, mu=-0.3, csw=1.1) @ psi, ref.dirac(u, psi, 0.1, twist=-0.3, csw=1.1))


def test_an_exponentiated_clover_term_is_the_reference():
    u, gauge = lattice()
    psi = spinors()
    d = plaq.Clover(gauge, mass=-0.1, csw=1.7, clover="exponential")
    close(d @ psi, ref.dirac(u, psi, -0.1, csw=1.7, exponentiated=True))
    assert "exponential clover term" in repr(d)
    close(d @ d.solve(psi, tol=1e-11), psi, 1e-9)
    kappa = 1 / (2 * -0.1 + 8)
    scaled = plaq.Clover(gauge, mass=-0.1, csw=1.7, clover="exponential", normalisation="kappa")
    close(scaled @ psi, 2 * kappa * (d @ psi))
    twisted = plaq.Twisted(gauge, mass=0.1, mu=-0.3, csw=9.0, clover="exponential")
    close(twisted @ psi, ref.dirac(u, psi, 0.1, twist=-0.3, csw=9.0, exponentiated=True))
    other, changed = lattice(seed=9)
    d.update(changed)
    close(d @ psi, ref.dirac(other, psi, -0.1, csw=1.7, exponentiated=True))
    refused(ValueError, "traditional, exponential", lambda: plaq.Clover(gauge, mass=1, csw=1, clover="linear"))
    refused(NotImplementedError, "clover_links", lambda: plaq.Clover(gauge, mass=1, csw=1, clover_links="thin"))


def test_a_clover_term_of_thin_links():
    u, gauge = lattice()
    v = ref.smeared(u, ref.STOUT, 0.1)
    smeared = plaq.Gauge.from_array(v)
    psi = spinors()
    d = plaq.Clover(smeared, mass=0.2, csw=1.4, thin=gauge)
    expected = ref.dirac(v, psi, 0.2) + ref.dirac(u, psi, 0.2, csw=1.4) - ref.dirac(u, psi, 0.2)
    close(d @ psi, expected)
    close(d @ d.solve(psi, tol=1e-11), psi, 1e-9)
    e = plaq.Clover(smeared, mass=0.2, csw=1.4, thin=gauge, clover="exponential")
    close(e @ psi, ref.dirac(v, psi, 0.2) - 4.2 * psi + ref.dirac(u, psi, 0.2, csw=1.4, exponentiated=True)
          - ref.dirac(u, psi, 0.2) + 4.2 * psi)
    low = plaq.Clover(smeared, mass=0.2, csw=1.4, thin=gauge, precision="single")
    close(low @ psi, expected, 1e-5)
    refused(NotImplementedError, "thin links", lambda: d.update(gauge))
    refused(TypeError, "Gauge", lambda: plaq.Clover(smeared, mass=0.2, csw=1.4, thin=u))
    refused(NotImplementedError, "thin", lambda: plaq.Doublet(smeared, mass=1, mu=0.2, epsilon=0.1, csw=1, thin=gauge))


def test_doublet_is_the_reference():
    u, gauge = lattice()
    d = plaq.Doublet(gauge, mass=0.4, mu=0.3, epsilon=0.2, csw=1.1)
    psi = spinors(2)  # up and down
    up, down = (ref.dirac(u, flavour, 0.4, csw=1.1, twist=mu) for flavour, mu in zip(psi, (0.3, -0.3)))
    expected = np.stack([up - 0.2 * psi[1], down - 0.2 * psi[0]])
    close(d @ psi, expected)
    close(d @ np.stack([psi, 2j * psi]), np.stack([expected, 2j * expected]))
    close(d @ d.solve(psi, tol=1e-11), psi, 1e-9)
    field = plaq.Fermion(gauge, 3, slices=2)
    field.set(np.stack([psi] * 3))
    close(field.numpy()[2], psi, 1e-15)
    assert field.evenodd().shape == (3, 2, 2, 8, 2, 6, 2, 4, 3) and "epsilon 0.2" in repr(d)
    refused(ValueError, "flavours, T, Z, Y, X", lambda: d @ psi[0])
    refused(NotImplementedError, "twelve columns", d.propagator)


def test_laplace_is_the_reference():
    u, gauge = lattice()
    x = spinors()[..., :1, :]
    close(plaq.Laplace(gauge, mass2=0.3) @ x, ref.laplace(u, x, 0.3, range(3)))
    close(plaq.Laplace(gauge, directions="xt", spins=4) @ spinors(), ref.laplace(u, spinors(), 0, [0, 3]))


def test_adjoint_and_gamma5():
    _, gauge = lattice()
    d = plaq.Clover(gauge, mass=0.1, csw=1.3)
    psi, chi = spinors(), spinors(seed=3)
    g5 = lambda x: np.einsum("ij,...jc->...ic", plaq.gamma[15], x)
    close(d.H @ psi, g5(d @ g5(psi)))
    close(np.vdot(chi, d @ psi), np.vdot(d.H @ chi, psi))
    close(d.apply(psi, form="mdagm"), d.H @ (d @ psi))


def test_gauge_covariance():
    u, gauge = lattice()
    g = ref.random_su3(SHAPE, np.random.default_rng(5))
    rotated = plaq.Gauge.from_array(ref.transformed(u, g))
    psi = spinors()
    turn = lambda x: np.einsum("...ab,...ib->...ia", g, x)
    for make in (lambda w: plaq.Clover(w, mass=0.1, csw=1.5), lambda w: plaq.Laplace(w, spins=4)):
        close(make(rotated) @ turn(psi), turn(make(gauge) @ psi))
    close(rotated.plaquette()[:3], gauge.plaquette()[:3], 1e-11)


def test_many_columns_and_precisions():
    u, gauge = lattice()
    psi = spinors(3)
    d = plaq.Wilson(gauge, mass=0.2)
    close(d @ psi, np.stack([ref.dirac(u, column, 0.2) for column in psi]))
    single = d @ psi.astype(np.complex64)
    assert single.dtype == np.complex64
    close(single, d @ psi, 1e-6)
    low = plaq.Wilson(gauge, mass=0.2, precision="single")
    assert low.precision == "single"
    close(low @ psi, d @ psi, 1e-5)
    field = plaq.Fermion.from_array(psi)
    close((d @ field).numpy(), d @ psi)
    out = d.field(3)
    assert d.apply(field, out=out) is out
    close(out.numpy(), d @ psi)


def test_update_follows_the_links():
    u, gauge = lattice()
    other, changed = lattice(seed=9)
    d = plaq.Clover(gauge, mass=0.2, csw=1.0)
    d.update(changed)
    close(d @ spinors(), ref.dirac(other, spinors(), 0.2, csw=1.0))


def test_solve():
    u, gauge = lattice()
    b = spinors(4)
    d = plaq.Clover(gauge, mass=0.5, csw=1.0)
    x = d.solve(b, tol=1e-11)
    for column in range(4):
        close(ref.dirac(u, x[column], 0.5, csw=1.0), b[column], 1e-10)
    assert d.report.converged and (d.residuals < 1e-11).all() and len(d.residuals) == 4
    close(d.solve(b[0], solver="bicgstab", tol=1e-11), x[0], 1e-9)
    again = d.solve(b, x0=x)
    assert d.report.iterations <= 1
    close(again, x, 1e-9)
    history = d.history()
    assert len(history) == d.report.iterations
    shifted = d.multishift(b[0], [0.1, 2.0], 1e-11)
    for sigma, solution in zip([0.1, 2.0], shifted):
        close(d.apply(solution, form="mdagm") + sigma * solution, b[0], 1e-9)
    plan = d.plan(4)
    assert plan.solver == plaq.capi.plaq_solver_memory(d._solver(None, {}), 4) > 0
    assert plan.fields == 2 * 4 * d.field().numpy().nbytes
    # A plan for columns has the same kernels as one for a field, in the order of their first launches; on a CPU all are
    # compiled.
    assert set(d.plan(8).kernels) == set(plan.kernels) and any(name.startswith("hop_f32") for name in plan.kernels)
    assert (plan.to_compile, plan.seconds) == (0, 0) and "all compiled" in repr(plan)
    assert plan.chain.startswith("automatic(4 columns at a time > scaled > ") and "BiCGStab" in repr(plan)
    # A plan for another solver has other kernels, and one for multigrid has many more.
    other = d.plan(4, solver="cgnr", sloppy_precision="double")
    assert not any("f32" in name for name in other.kernels) and set(other.kernels) & set(plan.kernels)


def test_solves_stop_by_the_largest_site():
    u, gauge = lattice()
    b = spinors(2)
    b[1] = 0
    b[1, 1, 1, 2, 3, 0, 0] = 1  # a point, of which the largest site is all
    d = plaq.Clover(gauge, mass=0.3, csw=1.0, clover="exponential")
    largest = lambda v: np.sqrt((abs(v) ** 2).sum((-2, -1)).max((1, 2, 3, 4)))
    found = lambda x: largest(b - np.stack([ref.dirac(u, column, 0.3, csw=1.0, exponentiated=True) for column in x])) / largest(b)
    # A solve that ends by the 2-norm alone leaves a larger residual on single sites.
    loose = found(d.solve(b, tol=1e-4))
    assert d.report.residual_site == 0
    tight = found(d.solve(b, tol=1e-4, tol_site=1e-6))
    assert (tight <= 1e-6).all() and (loose > 1e-6).any() and d.report.converged
    close(tight.max(), d.report.residual_site, 1e-6)
    alone = found(d.solve(b, tol=0, tol_site=1e-5))
    assert (alone <= 1e-5).all()
    close(alone.max(), d.report.residual_site, 1e-6)
    refused(plaq.capi.BadParameter, "tol_site", lambda: d.solve(b, tol_site=2.0))


def test_sums_of_iterations_are_asked_for_by_name():
    u, gauge = lattice()
    b = spinors(1)
    d = plaq.Wilson(gauge, mass=0.3)
    for sums in (0, "separate", "fused", plaq.capi.plaq_iteration_sums.FUSED):
        x = d.solve(b, solver="cgnr", sums=sums)
        close(ref.dirac(u, x[0], 0.3), b[0], 1e-8)
    refused(plaq.capi.Unsupported, "sums", lambda: d.solve(b, solver="gcr", sums="fused"))
    refused(Exception, "sums", lambda: d.solve(b, sums="pipelined"))


def test_a_solve_that_does_not_converge_warns():
    _, gauge = lattice()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        plaq.Wilson(gauge, mass=0.1).solve(spinors(), max_iterations=2)
    assert len(seen) == 1 and seen[0].category is plaq.NotConvergedWarning
    assert "ended by iterations" in str(seen[0].message) and seen[0].filename == __file__


def test_solvers_that_are_kept():
    """An operator keeps solvers for a few choices of parameters, and gives their memory back."""
    _, gauge = lattice()
    context = gauge.context
    before = context.report().memory_used
    d = plaq.Wilson(gauge, mass=0.4)
    b = spinors()
    used = []
    for digits in range(4, 14):
        d.solve(b, tol=10.0**-digits)
        used.append(context.report().memory_used)
    assert len(d._solvers) == 4 and max(used[4:]) <= used[3]
    d.close()
    assert context.report().memory_used <= before


def test_multigrid():
    u, gauge = lattice(shape=(8, 4, 4, 4))
    d = plaq.Wilson(gauge, mass=0.3)
    mg = d.multigrid(levels=2, block=[2, 2, 2, 2], vectors=6, refinements=1)
    b = spinors(2, shape=(8, 4, 4, 4))
    x = d.solve(b, multigrid=mg, tol=1e-10)
    close(ref.dirac(u, x[1], 0.3), b[1], 1e-9)
    assert d.report.solver == plaq.capi.plaq_solver_kind.GCR
    plain = plaq.Wilson(gauge, mass=0.3)
    plain.solve(b, solver="gcr")
    assert d.report.iterations < plain.report.iterations
    assert [list(level.extents) for level in mg.levels()] == [[4, 4, 4, 8], [2, 2, 2, 4]]
    assert mg.levels()[0].vectors == 6 and mg.vectors().n == 6
    used = gauge.context.report().memory_used
    plan, without = d.plan(2, multigrid=mg), d.plan(2, solver="gcr")
    assert gauge.context.report().memory_used == used
    coarse = [name for name in plan.kernels if name.startswith(("coarse_apply", "aggregate_"))]
    assert len(coarse) >= 3 and not any(name in without.kernels for name in coarse)
    assert mg.update(d, "keep").refresh == plaq.capi.plaq_refresh.KEEP


def test_multigrid_of_a_doublet():
    shape = (8, 4, 4, 4)
    u, gauge = lattice(shape=shape)
    d = plaq.Doublet(gauge, mass=0.3, mu=0.12, epsilon=0.125, csw=1.1)
    mg = d.multigrid(levels=2, block=[2, 2, 2, 2], vectors=6, refinements=1)
    b = spinors(2, shape=shape)
    psi = d.solve(b, multigrid=mg, tol=1e-10)
    up, down = (ref.dirac(u, flavour, 0.3, csw=1.1, twist=mu) for flavour, mu in zip(psi, (0.12, -0.12)))
    close(np.stack([up - 0.125 * psi[1], down - 0.125 * psi[0]]), b, 1e-9)
    iterations = d.report.iterations
    plain = plaq.Doublet(gauge, mass=0.3, mu=0.12, epsilon=0.125, csw=1.1)
    plain.solve(b, solver="gcr")
    assert iterations < plain.report.iterations
    # Null vectors belong to one flavour.
    assert mg.levels()[0].vectors == 6 and mg.vectors().n == 6
    assert mg.update(d, "refine").refresh == plaq.capi.plaq_refresh.REFINE
    close(d @ d.solve(b, multigrid=mg, tol=1e-11), b, 1e-9)


def test_propagator_is_the_inverse_of_the_reference():
    shape = (4, 4, 4, 4)
    u, gauge = lattice(shape=shape)
    s = plaq.Wilson(gauge, mass=0.4).propagator(source=(1, 2, 3, 0), tol=1e-12)
    array = s.numpy()
    assert array.shape == (4, 4, 4, 4, 4, 4, 3, 3) and s.position == [1, 2, 3, 0]
    for spin in range(4):
        for colour in range(3):
            source = np.zeros((*shape, 4, 3), complex)
            source[0, 3, 2, 1, spin, colour] = 1
            close(ref.dirac(u, array[..., :, spin, :, colour], 0.4), source, 1e-10)
    close(s.columns()[3 * 2 + 1], array[..., :, 2, :, 1])
    close(plaq.Propagator.from_array(array).numpy(), array, 1e-15)
    assert s.report.converged and len(s.residuals) == 12


def test_sources():
    u, gauge = lattice()
    d = plaq.Clover(gauge, mass=0.6, csw=1.0)
    smeared = plaq.Fermion.source(gauge, plaq.point(1, 1, 1, 2)).smear(gauge, 0.3, 4)
    s = d.propagator(source=smeared, tol=1e-11)
    assert isinstance(s, plaq.Propagator) and s.position == [1, 1, 1, 2]
    eta = smeared.numpy()
    point = np.zeros((*SHAPE, 4, 3), complex)
    point[2, 1, 1, 1, 1, 2] = 1
    close(eta[5], ref.smeared_spinor(u, point, 0.3, 4))
    close(ref.dirac(u, s.columns()[5], 0.6, csw=1.0), eta[5], 1e-9)
    close(d.propagator(source=eta, tol=1e-11).columns(), s.columns(), 1e-8)
    wall = plaq.Fermion.source(gauge, plaq.wall(t=3, momentum=[1, 0, 0, 0])).numpy()
    expected = np.zeros((*SHAPE, 4, 3), complex)
    expected[3, ..., 0, 0] = np.exp(2j * np.pi * np.arange(4) / 4)
    close(wall[0], expected)
    noise = d.propagator(source=plaq.wall(t=1, noise="z2", seed=3, dilute="spin"))
    assert isinstance(noise, plaq.Fermion) and noise.n == 4
    sequential = s.sequential(time=2, gamma="5", momentum=[0, 1, 0]).numpy()
    phase = np.exp(2j * np.pi * (np.arange(6) - 1) / 6)
    expected = np.zeros_like(sequential)
    expected[:, 4] = np.einsum("ij,y,nzyxjc->nzyxic", plaq.gamma["5"], phase, s.columns()[:, 4])
    close(sequential, expected)


def test_eigenvectors():
    u, gauge = lattice(shape=(4, 2, 2, 2))
    d = plaq.Wilson(gauge, mass=0.4)
    found = d.eigen(3)
    assert found.converged and len(found.values) == 3
    unit = np.eye(4 * 2 * 2 * 2 * 12).reshape(-1, 4, 2, 2, 2, 4, 3)
    matrix = np.stack([ref.dirac(u, column.astype(complex), 0.4).ravel() for column in unit], axis=1)
    close(found.values, np.linalg.svd(matrix, compute_uv=False)[::-1][:3] ** 2, 1e-8)
    vectors = found.vectors.numpy()
    close(d.apply(vectors, form="mdagm"), found.values[:, None, None, None, None, None, None] * vectors, 1e-6)
    assert (found.some(1, 2).numpy() == vectors[1:]).all() and found.report.on_device > found.report.max_vectors
    host = d.eigen(3, vectors="host")
    assert host.converged and host.report.on_device == 1
    close(host.values, found.values, 1e-9)


def test_overlap():
    u, gauge = lattice(seed=4, shape=(4, 4, 4, 4))
    smooth = plaq.Gauge.warm([4, 4, 4, 4], 3, 0.15)
    d = plaq.Overlap(smooth, mass=0.0, s=0.4)
    psi = spinors(shape=(4, 4, 4, 4))
    # The relation of Ginsparg and Wilson, and gamma5-hermiticity.
    g5 = lambda x: np.einsum("ij,...jc->...ic", plaq.gamma[15], x)
    close(g5(d @ psi) + d @ g5(psi), d @ g5(d @ psi) / d.rho, 1e-6)
    close(d.H @ psi, g5(d @ g5(psi)), 1e-6)
    # The kernel Q is gamma5 times the Wilson operator with a negative mass.
    close(d.apply(psi, form="q"), g5(ref.dirac(smooth.numpy(), psi, -1.4)), 1e-10)
    heavy = d.with_mass(0.3)
    close(heavy @ psi, (1 - 0.3 / 2.8) * (d @ psi) + 0.3 * psi, 1e-10)
    x = heavy.solve(psi, tol=1e-8)
    close(heavy @ x, psi, 1e-7)
    light, massive = d.propagator(masses=[0.3, 0.5], tol=1e-7)
    column = massive.columns()[0]
    full = (1 - 0.5 / 2.8) * column
    source = np.zeros_like(column)
    source[0, 0, 0, 0, 0, 0] = 1
    close(d.with_mass(0.5) @ (full + source / 2.8), source, 1e-5)
    context = smooth.context
    d.propagator(masses=[0.3], tol=1e-2)
    before = context.report().memory_used
    refused(ZeroDivisionError, "zero", lambda: d.propagator(masses=[0.3, 0.5], progress=lambda *state: 1 / 0))
    assert context.report().memory_used <= before
    assert d.ginsparg_wilson() < 1e-6 and len(d.kernel()) == d.describe().modes
    refused(NotImplementedError, "make another one", lambda: d.update(gauge))
    # A plan announces the memory that the solve takes; Zolotarev's function needs vectors for its poles.
    plan = heavy.plan(6, solver="cg", relax=0)
    before = context.report().memory_used
    heavy.solve(np.stack([psi] * 6), tol=1e-6, solver="cg", relax=0)
    assert plan.fields == 12 * psi.nbytes and plan.kept >= 0
    assert abs(plan.solver + plan.fields - (heavy.report.memory_peak - before)) < 0.1 * plan.solver
    assert any(name.startswith("hop_f64") for name in plan.kernels) and "all compiled" in repr(plan)
    assert any("f32" in name for name in heavy.plan(6, sloppy_precision="single").kernels)
    used = context.report().memory_used
    new = [plaq.Overlap.plan_new(smooth, mass=0.3, modes=modes) for modes in (4, 20)]
    whole = plaq.Overlap.plan_new(smooth, 6, solve={"solver": "cg"}, mass=0.3, modes=4, sign="zolotarev")
    assert context.report().memory_used == used
    assert new[1].kept - new[0].kept >= 16 * psi.nbytes and new[0].solver > new[0].kept > 4 * psi.nbytes
    assert whole.solver > plan.solver + plan.fields + new[0].kept and set(new[0].kernels) <= set(whole.kernels)
    refused(ValueError, "nrhs|expected 1 to 4096|0", lambda: heavy.plan(0))
    refused(plaq.capi.BadParameter, "s|between -1 and 1", lambda: plaq.Overlap.plan_new(smooth, s=2.0))


def test_mistakes():
    _, gauge = lattice()
    d = plaq.Wilson(gauge, mass=0.1)
    psi = spinors()
    refused(TypeError, "one of mass and kappa|none", lambda: plaq.Wilson(gauge))
    refused(TypeError, "one of mass and kappa|both", lambda: plaq.Wilson(gauge, mass=1, kappa=0.1))
    refused(TypeError, "csw", lambda: plaq.Clover(gauge, mass=1))
    for make in (lambda u: plaq.Wilson(u, mass=1), plaq.Laplace, plaq.Overlap):
        refused(TypeError, "expected a Gauge|from_array|ndarray", lambda: make(gauge.numpy()))
    refused(ValueError, "source|four numbers|[0, 0, 0]", lambda: d.propagator((0, 0, 0)))
    refused(TypeError, "source|plaq.point|'point'", lambda: d.propagator("point"))
    refused(ValueError, "source|four numbers|[1, 2]", lambda: plaq.Fermion.source(gauge, [1, 2]))
    refused(TypeError, "boundary_phases|boundary", lambda: plaq.Wilson(gauge, mass=1, boundary_phases=[1, 1, 1, -1]))
    refused(ValueError, "boundary|four numbers|periodic", lambda: plaq.Wilson(gauge, mass=1, boundary="open"))
    refused(ValueError, "boundary|four numbers", lambda: plaq.Wilson(gauge, mass=1, boundary=[0, 0, 1]))
    refused(TypeError, "did you mean csw_t", lambda: plaq.Wilson(gauge, mass=1, cswt=2))
    refused(ValueError, "precision|half|'quad'", lambda: plaq.Wilson(gauge, mass=1, precision="quad"))
    wrong = np.moveaxis(psi, [0, 1, 2, 3], [3, 2, 1, 0])
    refused(ValueError, "psi|(T, Z, Y, X, 4, 3) = (8, 2, 6, 4, 4, 3)|(4, 6, 2, 8, 4, 3)", lambda: d @ wrong)
    refused(TypeError, "complex128 or complex64|float64", lambda: d @ psi.real)
    refused(TypeError, "expected an array|str", lambda: d @ "psi")
    refused(ValueError, "solver|cgnr|'fast'", lambda: d.solve(psi, solver="fast"))
    refused(TypeError, "did you mean tol", lambda: d.solve(psi, tool=1))
    refused(plaq.capi.NotFinite, "not finite", lambda: d.solve(np.full_like(psi, np.nan)))
    refused(ValueError, "(n, T, Z, Y, X, 4, 3)", lambda: plaq.Fermion.from_array(psi[0]))
    refused(TypeError, "plaq_gauge|str", lambda: plaq.capi.plaq_gauge_plaquette("links"))
    _, other = lattice(seed=1, shape=(4, 4, 4, 4))
    refused(plaq.capi.FieldMismatch, "", lambda: d.update(other))
    refused(ValueError, "1, X, Y, Z, T, 5", lambda: plaq.gamma["Q"])
    refused(ValueError, "twelve columns", lambda: plaq.Propagator(gauge, 3))
    d.close()
    refused(plaq.capi.InvalidHandle, "this Wilson was closed", lambda: d @ psi)


def test_automatic_solves_look_at_normal_equations():
    """Where BiCGStab leads nowhere CGNR takes over soon, and where it does well it goes on."""
    gauge = plaq.open(ROOT / "tests/data/quenched-b6.0-8x8x8x8.nersc")
    b = plaq.Fermion.noise(gauge, 1, seed=7)

    def iterations(mass, solver):
        d = plaq.Clover(gauge, mass=mass, csw=1.1)
        d.solve(b, tol=1e-10, solver=solver)
        assert d.report.converged
        return d.report.iterations

    assert iterations(-0.6, "auto") <= 1.4 * iterations(-0.6, "cgnr")
    few = iterations(-0.5, "auto")
    assert few <= 0.6 * iterations(-0.5, "cgnr"), few


def test_memory_of_a_multigrid_is_free_when_nothing_refers_to_it():
    U = plaq.Gauge.warm((4, 4, 4, 8), seed=1)
    D, context = plaq.Wilson(U, kappa=0.12), U.context
    D.propagator()
    before = context.report().memory_used
    multigrid = D.multigrid(block=[[2, 2, 2, 2]], vectors=[4])
    D.propagator(multigrid=multigrid)
    assert context.report().memory_used > before
    del multigrid
    assert context.report().memory_used == before
    multigrid = D.multigrid(block=[[2, 2, 2, 2]], vectors=[4])
    D.propagator(multigrid=multigrid)
    after = plaq.Wilson(U, kappa=0.12)
    D.close()
    after.propagator(multigrid=multigrid)
    del after
    used = context.report().memory_used
    for kappa in (0.11, 0.115):
        plaq.Wilson(U, kappa=kappa).propagator(multigrid=multigrid)
    assert context.report().memory_used == used
