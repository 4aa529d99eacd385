"""Clover terms, traditional and exponentiated, their forces and molecular dynamics against numbers of openQCD 2.4.2:
beta 5.3, kappa 0.13, csw 1.9, mu 0.1 and 0.5, on a configuration of its own (tests/data)."""

import numpy as np
import plaq
import reference as ref
from common import ROOT, close
from plaq import capi

T, X, Y, Z = 8, 4, 4, 4
KAPPA, CSW, MU, MU2 = 0.13, 1.9, 0.1, 0.5
#: What openQCD computed, by the form of the clover term; "dh": Delta H of six leapfrog steps of 0.04.
FOUND = {
    "traditional": {
        "action": "wilson",
        "log_det": (4072.1696486136034, 4071.7276236458943),
        "dw": 79350.84050771942,
        "eta_dw": 15795.578869713701 - 35.292218203307j,
        "dw_mu": 79391.977914802,
        "dhat": 34886.243197616895,
        "solution": 528.4057494369919,
        "full": (525.9941994695378, 1220.0535217351098, 2.118907697367577, 101.18909502671077),
        "tm2": (126.23860787268907, 70.2750828519423),
        "even": (319.74393690644155, 149.70612655035964, 32.26517918564396),
        "dh": {"full": -0.948373804656, "even": -0.870416261785},
    },
    "exponential": {
        "action": "symanzik",
        "log_det": (4138.2102465534135, 4138.2102465534135),
        "dw": 81993.93920412792,
        "eta_dw": 16126.794660967871 - 35.292218203306994j,
        "dw_mu": 82035.07661121046,
        "dhat": 36008.815045674186,
        "solution": 474.07110239880564,
        "full": (474.4405291654633, 603.8774728395408, 1.4577527779272235, 76.54128699723506),
        "tm2": (113.8657269997112, 34.78334243555754),
        "even": (173.080658798864, 50.458591392832346, 24.912742423351222),
        "dh": {"full": -4.73163031286, "even": -4.76712585048},
    },
}


def hashed(seed, count):
    """Numbers in [-1, 1) by splitmix64."""
    with np.errstate(over="ignore"):
        v = np.uint64(seed << 32) + np.arange(count, dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        v = (v ^ (v >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        v = (v ^ (v >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        v = v ^ (v >> np.uint64(31))
    return (v >> np.uint64(11)).astype(float) * 2.0**-52 - 1


def turn():
    """The matrix S with gamma(openQCD) S = S gamma(plaq): openQCD's basis is chiral, time is its direction 0."""
    sigma = [np.array([[0, 1], [1, 0]]), np.array([[0, -1j], [1j, 0]]), np.array([[1, 0], [0, -1]])]
    corner = [-1j * s for s in sigma] + [-np.eye(2)]
    theirs = [np.block([[np.zeros((2, 2)), e], [np.conj(e.T), np.zeros((2, 2))]]) for e in corner]
    rows = [np.kron(np.eye(4), a) - np.kron(b.T, np.eye(4)) for a, b in zip(theirs, ref.GAMMA)]
    s = np.linalg.svd(np.concatenate(rows))[2][-1].conj().reshape(4, 4).T
    return s / abs(np.linalg.det(s)) ** 0.25


TURN = turn()


def spinor(seed):
    """openQCD's array [t][x][y][z][spin][colour] of hashed numbers as plaq has it."""
    numbers = hashed(seed, 24 * T * X * Y * Z).reshape(T, X, Y, Z, 4, 3, 2)
    psi = (numbers[..., 0] + 1j * numbers[..., 1]).transpose(0, 3, 2, 1, 4, 5)
    return np.ascontiguousarray(np.einsum("ji,...jc->...ic", TURN.conj(), psi))


PARITY = np.indices((T, Z, Y, X)).sum(0) % 2
ETA, PHI = spinor(101), spinor(202)
EVEN = np.where(PARITY[..., None, None] == 0, PHI, 0)
#: Test momenta [t][z][y][x][mu][8], as su3_alg_dble.
PI = np.ascontiguousarray(
    hashed(77, 32 * T * X * Y * Z).reshape(T, X, Y, Z, 4, 8).transpose(0, 3, 2, 1, 4, 5)[..., [1, 2, 3, 0], :]
)


def product(a, b):
    """-2 tr XY of anti-hermitian matrices."""
    diagonal = [(v[..., 0] + v[..., 1], v[..., 1] - 2 * v[..., 0], v[..., 0] - 2 * v[..., 1]) for v in (a, b)]
    return 2 * sum(x * y for x, y in zip(*diagonal)) + 4 * (a[..., 2:] * b[..., 2:]).sum(-1)


def numbers(momentum):
    array = np.empty(PI.shape)
    capi.plaq_momentum_save(momentum, "openqcd", "lexicographic", 1.0, array)
    return array


def half(d, values):
    field = capi.plaq_spinor_create(d.context, capi.plaq_spinor_params(extents=(X, Y, Z, T), subset="even"))
    capi.plaq_spinor_load(field, capi.plaq_layout_params(), values.ctypes.data)
    return field


def product_of(a, b):
    result = np.empty(1, complex)
    capi.plaq_spinor_dot(a, b, result, 1)
    return result[0].real


def full(d, momentum, step, coefficient=-1.0):
    """(phi, (D^dagger D + mu^2)^-1 phi), and momentum -= step times its force times -coefficient."""
    x = d.multishift(PHI, [MU**2], 1e-13)[0]
    fields = [plaq.Fermion.from_array(v) for v in (x, d @ x)]
    capi.plaq_dirac_hop_force(d, momentum, step, *fields, [coefficient], 1)
    capi.plaq_dirac_clover_force(d, momentum, step, *fields, [coefficient], 1, 0.0, 0.0)
    return np.vdot(PHI, x).real


def even(d, momentum, step):
    """(phi, (Dhat^dagger Dhat + mu^2)^-1 phi) - ln det^2 A of the odd sites, and momentum -= step times its force."""
    b, x, y = half(d, EVEN), half(d, EVEN), half(d, EVEN)
    how = capi.plaq_solver_params(solution="pdagp", solver="cg", system="even_asymmetric")
    capi.plaq_solver_multishift(capi.plaq_solver_create(d, how), [x], [MU**2], [1e-13], 1, b)
    capi.plaq_dirac_apply(d, "even_asymmetric", "m", y, x)
    capi.plaq_dirac_schur_force(d, "even_asymmetric", momentum, step, x, y, [-1.0], 1, -1.0)
    log_det = np.empty(2)
    capi.plaq_clover_log_det(capi.plaq_dirac_clover(d), 0.0, log_det)
    return product_of(b, x) - 2 * log_det[1]


def test_openqcd_operators():
    gauge = plaq.open(ROOT / "tests/data/openqcd-b6.0-4x4x4x8.openqcd")
    for form, found in FOUND.items():
        d = plaq.Clover(gauge, kappa=KAPPA, csw=CSW, clover=form)
        image = d @ ETA
        close(np.vdot(image, image).real, found["dw"], 1e-13)
        close(np.vdot(ETA, image), found["eta_dw"], 1e-13)
        # In openQCD gamma5 is the product of gammas with time first, which has the opposite sign.
        twisted = plaq.Twisted(gauge, kappa=KAPPA, csw=CSW, mu=-MU, clover=form) @ ETA
        close(np.vdot(twisted, twisted).real, found["dw_mu"], 1e-13)
        log_det = np.empty(2)
        capi.plaq_clover_log_det(capi.plaq_dirac_clover(d), 0.0, log_det)
        close(log_det + 3 * T * X * Y * Z * 2 * np.log(0.5 / KAPPA), found["log_det"], 1e-13)
        x, y = half(d, np.where(PARITY[..., None, None] == 0, ETA, 0)), half(d, EVEN)
        capi.plaq_dirac_apply(d, "even_asymmetric", "m", y, x)
        close(product_of(y, y), found["dhat"], 1e-13)
        solution = d.solve(ETA, tol=1e-13)
        close(np.vdot(solution, solution).real, found["solution"], 1e-12)


def test_openqcd_forces():
    gauge = plaq.open(ROOT / "tests/data/openqcd-b6.0-4x4x4x8.openqcd")
    for form, found in FOUND.items():
        d = plaq.Clover(gauge, kappa=KAPPA, csw=CSW, clover=form)
        momentum = capi.plaq_momentum_create(gauge)
        action = full(d, momentum, -1.0)
        force = numbers(momentum)
        sizes = product(force, force)
        close([action, sizes.sum(), np.sqrt(sizes.max()), product(PI, force).sum()], found["full"], 1e-11)
        # The action (phi, (D^dagger D + mu2^2) (D^dagger D + mu^2)^-1 phi) - (phi, phi)
        factor = MU2**2 - MU**2
        momentum = capi.plaq_momentum_create(gauge)
        action = factor * full(d, momentum, -1.0, -factor)
        force = numbers(momentum)
        close([action, product(force, force).sum()], found["tm2"], 1e-11)
        momentum = capi.plaq_momentum_create(gauge)
        action = even(d, momentum, -1.0)
        force = numbers(momentum)
        close([action, product(force, force).sum(), product(PI, force).sum()], found["even"], 1e-11)


def test_openqcd_molecular_dynamics():
    start = plaq.open(ROOT / "tests/data/openqcd-b6.0-4x4x4x8.openqcd").numpy()
    steps, step = 6, 0.04
    for form, found in FOUND.items():
        params = capi.plaq_gauge_action_params(action=found["action"], beta=5.3)
        for kind, expected in found["dh"].items():
            gauge = plaq.Gauge.from_array(start)
            d = plaq.Clover(gauge, kappa=KAPPA, csw=CSW, clover=form)
            momentum, scratch = capi.plaq_momentum_create(gauge), capi.plaq_momentum_create(gauge)
            capi.plaq_momentum_load(momentum, "openqcd", "lexicographic", 1.0, 0.5 * PI)
            quarks = full if kind == "full" else even

            def energy():
                d.update(gauge)
                gluons = capi.plaq_gauge_action(gauge, params)
                return np.array([capi.plaq_momentum_kinetic(momentum), gluons, quarks(d, scratch, 0.0)])

            def kick(time):
                d.update(gauge)
                capi.plaq_gauge_force(gauge, params, momentum, time)
                quarks(d, momentum, time)

            before = energy()
            kick(step / 2)
            for number in range(steps):
                capi.plaq_gauge_evolve(gauge, momentum, step)
                kick(step if number < steps - 1 else step / 2)
            error = abs((energy() - before).sum() - expected)
            assert error < 1e-8, f"{form}, {kind}: Delta H is off by {error:.1e}"
