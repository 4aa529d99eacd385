"""PyQUDA as it comes from the package registry, on plaq's libquda.so: numbers of PyQUDA's test configuration, and
operators, gauge fixing and trajectories against NumPy. scripts/pyquda.sh runs it.

usage: pyquda_numbers.py FOLDER [CONFIGURATION [BACKEND]]
FOLDER: for what PyQUDA writes. CONFIGURATION: weak_field.lime of PyQUDA's tests. On two ranks only what is known of the
configuration is checked. BACKEND: numpy, or cupy, whose arrays are on the GPU."""

import sys
import warnings

import numpy as np

# Warnings for PyQUDA and this program are errors.
warnings.filterwarnings("error", module="pyquda|__main__")

from pyquda import getLogger, quda
from pyquda.action import CloverWilsonAction, GaugeAction
from pyquda.action.abstract import LoopParam, RationalParam
from pyquda.enum_quda import QudaBoolean, QudaEigSpectrumType, QudaEigType, QudaGaugeSmearType, QudaMassNormalization, QudaMatPCType, QudaSolutionType, QudaSolveType, QudaInverterType
from pyquda.hmc import HMC, O2Nf1Ng0V, O4Nf4Ng0V
from pyquda_utils import core, eigensolve, io
from pyquda_utils.core import T, X, Y, Z

from pyquda_reference import backward, forward, hopping, neighbour, smeared
from plaq_reference import HYP, OVERIMPROVED, charge_density
from plaq_reference import smeared as links_smeared

folder, configuration, backend = sys.argv[1], *[*sys.argv[2:], "", ""][:2]
backend = backend or "numpy"
checked = 0


def host(numbers):
    """An array on the host."""
    return numbers.get() if hasattr(numbers, "get") else np.asarray(numbers)


def close(name, found, expected, tolerance=1e-10):
    """Relative to the largest number expected."""
    global checked
    found, expected = host(found), host(expected)
    off = np.max(np.abs(found - expected)) / np.max(np.abs(expected))
    if not off <= tolerance:
        sys.exit(f"{name}: expected {expected}, found {found}, off by {off}")
    checked += 1


def below(name, found, limit):
    global checked
    if not abs(found) <= limit:
        sys.exit(f"{name}: expected at most {limit}, found {found}")
    checked += 1


def refuse(message, category):
    """Takes the place of what logs warnings and errors of PyQUDA, which its first rank alone would print."""
    raise category(message)


getLogger().warning = getLogger().error = refuse


def unnoticed(warn):
    """Ends the program unless what warns ends here."""
    global checked
    try:
        warn()
    except RuntimeWarning:
        checked += 1
    else:
        sys.exit("warnings of PyQUDA go unnoticed")


# Constructors of structs work before init, and structs print their members.
for struct, words in [
    (quda.QudaGaugeParam(), ["t_boundary = ", "scale = 1"]),
    (quda.QudaInvertParam(), ["tol_restart = 0.00005", "num_src = 1"]),
    (quda.QudaMultigridParam(), ["n_level = ", "setup_tol = "]),
    (quda.QudaEigParam(), ["n_ev = 0"]),
    (quda.QudaGaugeObservableParam(), ["compute_plaquette = QUDA_BOOLEAN_FALSE"]),
    (quda.QudaBLASParam(), ["batch_count = 1"]),
]:
    text = repr(struct)
    for word in words:
        if word not in text:
            sys.exit(f"{type(struct).__name__}: no '{word}' in\n{text}")
        checked += 1

# The number of ranks is known after the first import of mpi4py.
ranks = core.getMPISize()
grid = [1, 1, 1, ranks]
core.init(grid, [4, 4, 4, 8], backend=backend, resource_path=folder)
unnoticed(lambda: core.init(grid, [4, 4, 4, 8], backend=backend, resource_path=folder))
unnoticed(lambda: warnings.warn_explicit("", RuntimeWarning, "field.py", 1, "pyquda.field"))
info = core.LatticeInfo([4, 4, 4, 8], -1, 1.0)


def squares(propagator):
    """Of all numbers, and of those of each time-slice."""
    data = np.abs(propagator.lexico()) ** 2
    each = np.concatenate(core.getMPIComm().allgather(np.sum(data, axis=(1, 2, 3, 4, 5, 6, 7))))
    return np.sum(each), each


def weak_field(path):
    gauge = io.readQIOGauge(path)
    close("plaquette", gauge.plaquette(), [0.9948041322667, 0.9947985783413, 0.9948096861921])
    close("Polyakov loop", gauge.polyakovLoop(), [2.636308502742334, -0.029741583409707], 1e-12)
    close("energy", gauge.energy(), [0.023522109418113, 0.011485910716666, 0.012036198701447])
    close("charge", gauge.qcharge(), -4.869942571884e-06, 1e-8)
    loops = [[X, Y, -X, -Y], [X, X, Y, -X, -X, -Y], [X, T, -X, -T]]
    close("loops", gauge.loopTrace(loops).real, [1527.864934264816, 1524.107857952950, 1527.848939574301])

    smeared = gauge.copy()
    smeared.stoutSmear(1, 0.241, 3)
    close("stout", smeared.plaquette(), [0.9958603481448, 0.9961244380681, 0.9955962582216])
    smeared = gauge.copy()
    smeared.apeSmearChroma(1, 2.5, 4)
    close("APE", smeared.plaquette(), [0.9994768203642, 0.9994793897610, 0.9994742509675])
    smeared = gauge.copy()
    smeared.hypSmear(1, 0.75, 0.6, 0.3, 4)
    close("HYP", smeared.plaquette(), [0.9997467015156, 0.9997536176807, 0.9997397853506])
    flowed = gauge.copy()
    energies = [0.023522109418113, 0.020533333760291, 0.017958176632620, 0.015736188753828]
    close("Wilson flow", [e[0] for e in flowed.wilsonFlow(3, 0.01)], energies)
    energies = [0.023522109418113, 0.019709737655758, 0.016587712904335, 0.014021348897371]
    flowed = gauge.copy()
    close("Symanzik flow", [e[0] for e in flowed.symanzikFlow(3, 0.01)], energies)
    flowed = gauge.copy()
    last = flowed.wilsonFlow(100, 0.01)[-1]
    close("Wilson flow, end", [last[0], flowed.plaquette()[0]], [2.424645902590e-05, 0.9999989085570])

    # PyQUDA's test_wilson, on an anisotropic lattice.
    kappa = 0.125
    dirac = core.getWilson(core.LatticeInfo([4, 4, 4, 8], -1, 2.464 / 0.95), 1 / (2 * kappa) - 4, 1e-12, 1000)
    slices = [2.575007871921303, 0.393155388870922, 0.145084301040260, 0.081260536791019, 0.067924434187238]
    slices += [0.081233670489190, 0.145036542176374, 0.393164075367242]
    with dirac.useGauge(gauge):
        total, each = squares(core.invert(dirac, "point", [0, 0, 0, 0]))
    close("test_wilson", total, 3.881866820843549)
    close("test_wilson, slices", each, slices)
    dirac = core.getWilson(info, 0.0, 1e-12, 1000)
    with dirac.useGauge(gauge):
        total, each = squares(core.invert(dirac, "point", [0, 0, 0, 0], mrhs=12))
    close("Wilson", [total, *each[:2]], [1.27258086354494, 0.86865156314487, 0.090031858287294])

    # PyQUDA's test_clover_isotropic; several columns at once, restarts, and multigrid.
    mass, csw = 1 / (2 * 0.115) - 4, 1.17
    slices = [0.769915134688507, 0.051458154295660, 0.015868672616806, 0.008732142103099, 0.007075703005559]
    slices += [0.008728024559900, 0.015861881101054, 0.051453773883052]
    cases = [("", None, {}), (", 12 columns", None, {"mrhs": 12}), (", restart", None, {"restart": 1})]
    cases += [(", 2 levels", [[4, 4, 4, 4]], {}), (", 3 levels", [[2, 2, 2, 2], [4, 4, 4, 4]], {"mrhs": 12})]
    for name, blocks, options in cases:
        dirac = core.getClover(info, mass, 1e-12, 1000, 1.0, csw, csw, blocks)
        with dirac.useGauge(gauge) as d:
            total, each = squares(core.invert(d, "point", [0, 0, 0, 0], **options))
        close("test_clover_isotropic" + name, total, 0.9290934862536371)
        close("test_clover_isotropic, slices" + name, each, slices)

    if ranks > 1:
        return
    # The clover term is saved and loaded again; and its determinant.
    dirac = core.getClover(info, mass, 1e-12, 1000, 1.0, csw, csw)
    dirac.invert_param.compute_clover_trlog = 1
    dirac.saveClover(gauge)
    close("ln det A, even", dirac.invert_param.trlogA[0], -0.2153707901565307, 1e-9)
    close("ln det A", dirac.invert_param.trlogA, determinants(host(dirac.clover.data)), 1e-9)
    dirac.invert_param.compute_clover_trlog = 0
    b = core.LatticeFermion(info, random(info, (4, 3)))
    with dirac.useGauge(gauge) as d:
        x = d.invert(b)
        close("M x = b", d.mat(x).data, b.data, 1e-11)
        close("even-odd by hand", d.invertCloverPC(b).data, x.data, 1e-9)
        normal(d, x)


def determinants(packed):
    """ln det of the blocks of each parity: 6 numbers on the diagonal, then 15 complex ones below it by columns."""
    packed = packed.reshape(2, -1, 2, 36)
    blocks = np.zeros((*packed.shape[:3], 6, 6), complex)
    below = [(row, column) for column in range(6) for row in range(column + 1, 6)]
    for i in range(6):
        blocks[..., i, i] = packed[..., i]
    for k, (row, column) in enumerate(below):
        blocks[..., row, column] = packed[..., 6 + 2 * k] + 1j * packed[..., 7 + 2 * k]
        blocks[..., column, row] = blocks[..., row, column].conj()
    return np.sum(np.log(np.linalg.det(blocks).real), axis=(1, 2))


def normal(d, x):
    """Solves with P^dagger P of the asymmetric form, and with shifts."""
    p, info = d.invert_param, x.latt_info
    p.solution_type = QudaSolutionType.QUDA_MATPCDAG_MATPC_SOLUTION
    p.solve_type = QudaSolveType.QUDA_NORMOP_PC_SOLVE
    p.matpc_type = QudaMatPCType.QUDA_MATPC_EVEN_EVEN_ASYMMETRIC
    p.mass_normalization = QudaMassNormalization.QUDA_KAPPA_NORMALIZATION
    p.inv_type = QudaInverterType.QUDA_CG_INVERTER
    y, z = core.LatticeFermion(info), core.LatticeFermion(info)
    p.compute_action = 1
    quda.invertQuda(y.even_ptr, x.even_ptr, p)
    close("action", p.action[0], np.vdot(x.data[0], y.data[0]).real)
    quda.MatDagMatQuda(z.even_ptr, y.even_ptr, p)
    close("P^dagger P y = x", z.data[0], x.data[0], 1e-10)
    shifts = [0.01, 0.3, 2.0]
    p.num_offset = len(shifts)
    p.offset = shifts + [0.0] * (32 - len(shifts))
    p.residue = [0.5, 1.5, 2.5] + [0.0] * (32 - len(shifts))
    p.tol_offset = [1e-11] * 32
    many = core.MultiLatticeFermion(info, len(shifts))
    quda.invertMultiShiftQuda(many.even_ptrs, x.even_ptr, p)
    action = 0.0
    for i, shift in enumerate(shifts):
        quda.MatDagMatQuda(z.even_ptr, many[i].even_ptr, p)
        close(f"shift {shift}", z.data[0] + shift * many[i].data[0], x.data[0], 1e-9)
        action += p.residue[i] * np.vdot(x.data[0], many[i].data[0]).real
    close("action of shifts", p.action[0], action)


rng = np.random.default_rng(7)


def random(info, shape):
    x, y, z, t = info.size
    shape = (2, t, z, y, x // 2, *shape)
    numbers = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    if backend == "numpy":
        return numbers
    import cupy

    return cupy.asarray(numbers)


def random_links(seed, width):
    gauge = core.LatticeGauge(core.LatticeInfo([4, 4, 4, 8], -1, 1.0))
    gauge.gauss(seed, width)
    return gauge


def operators():
    gauge = random_links(5, 0.3)
    u = gauge.lexico()
    unit = np.einsum("mtzyxab,mtzyxcb->mtzyxac", u, u.conj())
    below("random links are unitary", np.max(np.abs(unit - np.eye(3))), 1e-12)
    psi = core.LatticeFermion(info, random(info, (4, 3)))
    mass, kappa = 0.2, 1 / (2 * (0.2 + 4))
    dirac = core.getWilson(info, mass, 1e-12, 1000)
    with dirac.useGauge(gauge) as d:
        close("dslash", d.dslash(psi).lexico(), hopping(u, psi.lexico()), 1e-13)
        mat = psi.lexico() / (2 * kappa) - hopping(u, psi.lexico()) / 2
        close("M", d.mat(psi).lexico(), mat, 1e-13)
        three = core.MultiLatticeFermion(info, 3)
        for i in range(3):
            three[i] = core.LatticeFermion(info, random(info, (4, 3)))
        hops = np.array([hopping(u, three[i].lexico()) for i in range(3)])
        close("dslash of three", d.dslashMultiSrc(three).lexico(), hops, 1e-13)
        close("even-odd by hand, Wilson", d.invertPC(psi).data, d.invert(psi).data, 1e-9)
    for mu in range(4):
        close(f"shift {mu}", gauge.covDev(psi, mu).lexico(), forward(u, psi.lexico(), mu), 1e-13)
        close(f"shift back {mu}", gauge.covDev(psi, mu + 4).lexico(), backward(u, psi.lexico(), mu), 1e-13)
    chi = core.LatticeStaggeredFermion(info, random(info, (3,)))
    near = [forward(u, chi.lexico(), mu) + backward(u, chi.lexico(), mu) for mu in range(4)]
    close("Laplacian in space", gauge.laplace(chi, 3).lexico(), chi.lexico() - sum(near[:3]) / 6, 1e-13)
    close("Laplacian", gauge.laplace(chi, 4).lexico(), chi.lexico() - sum(near) / 8, 1e-13)
    for alpha in [0.7, -0.4]:
        for field, name in [(psi, "spinor"), (chi, "colour vector")]:
            found = gauge.wuppertalSmear(field, 3, alpha).lexico()
            close(f"Wuppertal {alpha}, {name}", found, smeared(u, field.lexico(), alpha, 3), 1e-12)


def extremes(apply, start, steps):
    """Ends of the spectrum of a hermitian operator, by Lanczos with all vectors orthogonal."""
    basis, alpha, beta = np.zeros((steps + 1, start.size), complex), [], []
    basis[0] = start.ravel() / np.linalg.norm(start)
    for k in range(steps):
        v = apply(basis[k].reshape(start.shape)).ravel()
        alpha.append(np.vdot(basis[k], v).real)
        for _ in range(2):
            v = v - (basis[: k + 1].conj() @ v) @ basis[: k + 1]
        beta.append(np.linalg.norm(v))
        basis[k + 1] = v / beta[k]
    found = np.linalg.eigvalsh(np.diag(alpha) + np.diag(beta[:-1], 1) + np.diag(beta[:-1], -1))
    return found[0], found[-1]


def modes():
    gauge = random_links(17, 0.3)
    u = gauge.lexico()
    # The Laplacian of each time-slice as a dense matrix gives the eigenvalues.
    count = 5
    values, vectors = eigensolve.laplace3d(gauge, count, 40, 1e-10, 200, 20, 0.4)
    found = host(vectors.lexico())
    sites = np.eye(4**3 * 3).reshape(1, 4, 4, 4, 3, -1).repeat(8, 0).swapaxes(-1, -2)
    matrix = sites - sum(forward(u, sites, mu) + backward(u, sites, mu) for mu in range(3)) / 6
    for t in range(8):
        dense = np.moveaxis(matrix[t], -2, 0).reshape(192, 192).T
        close(f"Laplacian of slice {t}", values[t], np.linalg.eigvalsh(dense)[:count], 1e-9)
        v = found[:, t].reshape(count, 192)
        close(f"eigenvectors of slice {t}", v @ dense.T, values[t][:, None] * v, 1e-7)
        close(f"they are orthonormal, slice {t}", v.conj() @ v.T, np.eye(count), 1e-12)
    # Eigenvectors of M^dagger M at both ends of its spectrum.
    mass, kappa = 0.2, 1 / (2 * (0.2 + 4))
    gamma5 = np.array([1, 1, -1, -1])[:, None]

    def square(x):
        y = gamma5 * (x - kappa * hopping(u, x))
        return gamma5 * (y - kappa * hopping(u, y))

    start = rng.normal(size=(8, 4, 4, 4, 4, 3)) + 0j
    lowest, highest = extremes(square, start, 500)
    dirac = core.getWilson(info, mass, 1e-12, 1000)
    with dirac.useGauge(gauge) as d:
        p = quda.QudaEigParam()
        p.invert_param = d.invert_param
        p.eig_type = QudaEigType.QUDA_EIG_TR_LANCZOS
        p.use_norm_op = QudaBoolean.QUDA_BOOLEAN_TRUE
        p.n_ev = p.n_conv = 1
        p.n_kr, p.tol, p.max_restarts = 48, 1e-10, 300
        x = core.MultiLatticeFermion(info, 1)
        for spectrum, expected in [("SR", lowest), ("LR", highest)]:
            p.spectrum = QudaEigSpectrumType["QUDA_SPECTRUM_" + spectrum + "_EIG"]
            value = np.zeros(1, "<c16")
            quda.eigensolveQuda(x.data_ptrs, value, p)
            close("M^dagger M, " + spectrum, value, [expected], 1e-8)
            v = x[0].lexico()
            close("eigenvector, " + spectrum, square(v), expected * v, 1e-6)
            close("its length, " + spectrum, np.linalg.norm(v), 1.0, 1e-12)


def links():
    gauge = random_links(13, 0.2)
    u = gauge.lexico()
    density = gauge.qchargeDensity()
    close("charge density", density.lexico(), charge_density(u), 1e-12)
    with gauge.use() as d:
        # PyQUDA leaves this member set, with the address of an array that does not exist any more.
        d.obs_param.compute_qcharge_density = QudaBoolean.QUDA_BOOLEAN_FALSE
    close("charge, of its density", gauge.qcharge(), np.sum(charge_density(u)), 1e-11)
    smeared = gauge.copy()
    smeared.hypSmear(1, 0.75, 0.6, 0.3, 3)
    close("HYP in space", smeared.lexico(), links_smeared(u, HYP, [0.75, 0.6, 0.3], "xyz"), 1e-12)
    smeared = gauge.copy()
    with smeared.use() as d:
        p = d.smear_param
        p.smear_type = QudaGaugeSmearType.QUDA_GAUGE_SMEAR_OVRIMP_STOUT
        p.n_steps, p.meas_interval, p.rho, p.epsilon, p.dir_ignore = 1, 2, 0.07, -0.25, 4
        quda.performGaugeSmearQuda(p, d.obs_param)
        d.saveSmearedGauge(smeared)
        d.freeSmearedGauge()
    close("over-improved stout", smeared.lexico(), links_smeared(u, OVERIMPROVED, [0.07, -0.25]), 1e-12)


def heavy():
    """Distance preconditioning: every time slice is right, without it those near the source alone."""
    gauge = random_links(17, 0.2)

    def slices(tol, alpha):
        dirac = core.getWilson(info, 1 / (2 * 0.02) - 4, tol, 1000)
        dirac.invert_param.distance_pc_alpha0, dirac.invert_param.distance_pc_t0 = alpha, 2
        with dirac.useGauge(gauge) as d:
            return squares(core.invert(d, "point", [0, 0, 0, 2]))[1]

    exact = slices(1e-13, 3.0)
    close("heavy quark", slices(1e-4, 3.0) / exact, np.ones(8), 1e-3)
    if not np.max(np.abs(slices(1e-4, 0.0) / exact - 1)) > 0.1:
        sys.exit("heavy quark: it is right without distance preconditioning")


def theta(u, directions):
    """QUDA's measure: (1 / 3 V) sum tr D D^dagger, D = sum_mu (U_mu(x - mu) - U_mu(x)) - h.c. without its trace."""
    d = sum(neighbour(u[mu], mu, -1) - u[mu] for mu in range(directions))
    d = d - np.swapaxes(d.conj(), -1, -2)
    d -= np.trace(d, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) / 3
    return np.sum(np.abs(d) ** 2) / (3 * 4**3 * 8)


def fixing():
    for name, directions, fix in [
        ("Landau", 4, lambda g: g.fixingOVR(4, 4000, 100, 1.7, 1e-12, 10, 1)),
        ("Coulomb", 3, lambda g: g.fixingOVR(3, 4000, 100, 1.7, 1e-12, 10, 1)),
        ("Landau, Fourier", 4, lambda g: g.fixingFFT(4, 4000, 100, 0.08, 1, 1e-12, 1)),
    ]:
        gauge = random_links(11, 0.2)
        before = gauge.plaquette()
        if not theta(gauge.lexico(), directions) > 1e-3:
            sys.exit(f"{name}: the links are in this gauge already")
        fix(gauge)
        below(f"{name} gauge", theta(gauge.lexico(), directions), 1.1e-12)
        close(f"{name} gauge, plaquette", gauge.plaquette(), before, 1e-11)


def trajectories():
    planes = [[a, b, -a, -b] for a, b in [(X, Y), (X, Z), (Y, Z), (X, T), (Y, T), (Z, T)]]
    action = LoopParam(planes, [1.0] * 6)
    gauge = random_links(3, 0.2)
    for integrator, order in [(O2Nf1Ng0V, 2), (O4Nf4Ng0V, 4)]:
        changes = []
        for steps in [8, 16]:
            hmc = HMC(info, [GaugeAction(info, action, 5.5)], integrator(steps))
            hmc.initialize(1, gauge)
            hmc.gaussMom()
            energy = hmc.momAction() + hmc.gaugeAction()
            hmc.integrate(0.5)
            changes.append(hmc.momAction() + hmc.gaugeAction() - energy)
            if order == 2 and steps == 16:
                hmc.integrate(-0.5)
                back = core.LatticeGauge(info)
                hmc.saveGauge(back)
                below("reversibility", np.max(np.abs(back.data - gauge.data)), 1e-11)
                below("energy comes back", hmc.momAction() + hmc.gaugeAction() - energy, 1e-8)
        ratio = np.log2(abs(changes[0] / changes[1]))
        below(f"order {order}: {ratio}, changes {changes}", ratio - order, 0.3)
    # Two flavours with a clover term, and one flavour with shifts; the pseudofermions are not changed.
    phi = core.LatticeFermion(info, random(info, (4, 3))).even
    for flavours, rational in [
        (2, RationalParam()),
        (1, RationalParam(residue_force=[0.3, 0.8], offset_force=[0.02, 0.4])),
    ]:
        changes = []
        for steps in [16, 32]:
            quarks = CloverWilsonAction(info, rational, 0.3, flavours, 1e-11, 1000, 1.2)
            quarks.phi.even = phi
            hmc = HMC(info, [GaugeAction(info, action, 5.5), quarks], O2Nf1Ng0V(steps))
            hmc.initialize(1, gauge)
            hmc.gaussMom()
            energy = hmc.momAction() + hmc.gaugeAction() + hmc.fermionAction()
            hmc.integrate(0.3)
            changes.append(hmc.momAction() + hmc.gaugeAction() + hmc.fermionAction() - energy)
        ratio = np.log2(abs(changes[0] / changes[1]))
        below(f"{flavours} flavours: {ratio}, changes {changes}", ratio - 2, 0.3)
    # The mean of the momenta's action per link: half of the sum of 8 squared coefficients, minus 4.
    mean = hmc.momAction
    hmc.gaussMom()
    below("mean of the momenta's action", mean() / np.sqrt(4 * 4 * 512), 5)
    hmc.projectSU3(1e-12)
    u = core.LatticeGauge(info)
    hmc.saveGauge(u)
    unit = np.einsum("mtzyxab,mtzyxcb->mtzyxac", u.lexico(), u.lexico().conj())
    below("links are projected", np.max(np.abs(unit - np.eye(3))), 1e-14)


if ranks == 1:
    operators()
    links()
    heavy()
    modes()
    fixing()
    trajectories()
if configuration:
    weak_field(configuration)
if core.getMPIRank() == 0:
    print(f"pyquda: {checked} numbers agree on {ranks} ranks")
