"""Distillation against dense matrices in NumPy."""

import itertools
import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np
import plaq
import reference as ref
from common import close, refused
from plaq import analysis, distillation
from plaq.perambulators import BASES

SHAPE = (4, 2, 2, 4)  # T, Z, Y, X
T, SITES, N = 4, 16, 7
MASS, CSW, RHO, STEPS = 0.4, 1.1, 0.1, 3
MOMENTA = [(0, 0, 0), (1, 0, 1), (-1, 1, 0)]


def moved(v, f, mu, sign):
    """U_mu f(x + mu), or U_mu(x - mu)^dagger f(x - mu), f (T, Z, Y, X, 3)."""
    if sign > 0:
        return np.einsum("...ab,...b->...a", v[mu], ref.shift(f, mu))
    return np.einsum("...ba,...b->...a", ref.shift(v[mu], mu, -1).conj(), ref.shift(f, mu, -1))


def applied(v, f, steps):
    for step in reversed(steps.split()):
        mu = "xyz".index(step[1])
        if step[0] == "d":
            f = (moved(v, f, mu, 1) - moved(v, f, mu, -1)) / 2
        else:
            f = moved(v, f, mu, 1 if step[0] == "+" else -1)
    return f


def wave(n):
    """exp(-i p x) on a slice, (sites,)."""
    z, y, x = np.meshgrid(*(np.arange(s) / s for s in SHAPE[1:]), indexing="ij")
    return np.exp(-2j * np.pi * (n[0] * x + n[1] * y + n[2] * z)).ravel()


@lru_cache(None)
def exact():
    """Links, smeared links, eigenvalues (T, 48), modes (T, sites, 3, N) and D^-1 (T, sites, 4, 3, T, sites, 4, 3)."""
    u = ref.random_su3((4, *SHAPE), np.random.default_rng(5))
    v = ref.smeared(u, ref.STOUT, RHO, "xyz", STEPS)
    matrix = np.empty((T, 3 * SITES, 3 * SITES), complex)
    for k in range(3 * SITES):
        one = np.zeros((T, SITES, 3), complex)
        one[:, k // 3, k % 3] = 1
        image = ref.laplace(v, one.reshape(*SHAPE, 1, 3), 0, range(3))
        matrix[:, :, k] = image.reshape(T, 3 * SITES)
    values, vectors = np.linalg.eigh(matrix)
    vectors = vectors[:, :, :N]
    vectors = vectors * np.exp(-1j * np.angle(vectors[:, :1]))
    size = T * SITES * 12
    d = np.empty((size, size), complex)
    for k in range(size):
        one = np.zeros(size, complex)
        one[k] = 1
        d[:, k] = ref.dirac(u, one.reshape(*SHAPE, 4, 3), MASS, csw=CSW).ravel()
    inverse = np.linalg.inv(d).reshape(T, SITES, 4, 3, T, SITES, 4, 3)
    return u, v, values, vectors.reshape(T, SITES, 3, N), inverse


@lru_cache(None)
def made():
    u = exact()[0]
    gauge = plaq.Gauge.from_array(u)
    return gauge, plaq.modes(gauge, N, rho=RHO, steps=STEPS, tol=1e-13), plaq.Clover(gauge, mass=MASS, csw=CSW)


@lru_cache(None)
def propagators(t0):
    """tau(t, t0) of the library, and densely (T, 4, 4, N, N)."""
    _, modes, d = made()
    _, _, _, v, inverse = exact()
    expected = np.einsum("txca,txscyue,yeb->tsuab", v.conj(), inverse[:, :, :, :, t0], v[t0], optimize=True)
    return modes.perambulators(d, t0, tol=1e-13), expected


def test_distillation_modes():
    u, v, values, vectors, _ = exact()
    gauge, modes, _ = made()
    assert modes.converged and modes.report.verified and modes.times == T and "7 modes" in repr(modes)
    close(modes.values, values[:, :N], 1e-12)
    close(modes.next, values[:, N], 1e-9)
    assert modes.residuals.max() < 1e-11
    found = modes.vectors().columns().reshape(N, T, SITES, 3)
    close(np.moveaxis(found, 0, -1), vectors, 1e-9)
    mixed = plaq.modes(gauge, N, rho=RHO, steps=STEPS, tol=1e-12, mixed=True)
    assert mixed.converged and mixed.report.verified and mixed.residuals.max() < 1e-12 * mixed.report.largest
    close(mixed.values, modes.values, 1e-11)
    # Smeared by the caller; all of a slice; more than there are.
    own = plaq.modes(gauge, N, smeared=plaq.Gauge.from_array(v), tol=1e-12)
    close(own.values, values[:, :N], 1e-11)
    whole = plaq.modes(gauge, 3 * SITES, rho=RHO, steps=STEPS)
    close(whole.values, values, 1e-12)
    assert whole.report.verified and np.isinf(whole.next).all()
    refused(plaq.capi.BadParameter, "count|48|49", lambda: plaq.modes(gauge, 49))
    refused(plaq.capi.BadParameter, "steps", lambda: plaq.modes(gauge, 4, smeared=gauge, steps=1))


def test_distillation_modes_in_files():
    gauge, modes, _ = made()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "modes.lime"
        modes.save(path)
        refused(FileExistsError, "overwrite=True", lambda: modes.save(path))
        again = plaq.Modes.load(path, gauge)
        close(again.values, modes.values, 1e-15)
        close(again.vectors().columns(), modes.vectors().columns(), 1e-15)
        report = plaq.capi.plaq_modes_report()
        plaq.capi.plaq_modes_describe(again, report)
        assert (report.count, report.times, report.bytes) == (N, T, N * T * SITES * 48)
        assert report.converged and report.restarts == report.applications == 0
        plaq.capi.plaq_modes_describe(modes, report)
        assert report.converged and report.restarts == modes.report.restarts > 0 < report.applications
        assert again.report.steps == STEPS and abs(again.report.rho - RHO) < 1e-15
        other = plaq.Gauge.hot(gauge.extents, seed=3)
        refused(plaq.capi.FieldMismatch, "links|plaquettes", lambda: plaq.Modes.load(path, other))
        refused(plaq.capi.FieldMismatch, "residual|smeared", lambda: plaq.Modes.load(path, gauge, smeared=gauge))
        refused(plaq.Error, "4", lambda: plaq.Modes.load(path, plaq.Gauge.hot([4, 4, 2, 4])))


def test_distillation_modes_on_the_host():
    gauge, resident, d = made()
    modes = plaq.modes(gauge, N, rho=RHO, steps=STEPS, tol=1e-13, vectors="host")
    vector = 48 * T * SITES
    assert (modes.report.bytes, modes.report.host_bytes) == (vector, (N - 1) * vector), modes.report
    assert resident.report.host_bytes == 0
    known = distillation.memory(gauge, N, vectors="host")
    assert (known.device, known.host, known.slices) == (vector, (N - 1) * vector, T) and known.search > N * vector
    # The same bits as on the device.
    def same(work):
        assert np.array_equal(work(modes), work(resident))

    same(lambda v: v.vectors().columns())
    same(lambda v: v.perambulators(d, 3, tol=1e-11).numbers)
    same(lambda v: v.mesons(MOMENTA, ["", "dx"]))
    same(lambda v: v.baryons(MOMENTA[:2]))
    same(lambda v: v.generalised(d, 1, 3, ["T"], tol=1e-11))
    how = {"seed": 3, "mode": "interlace", "mode_parts": 2, "first": 3, "count": 5}
    same(lambda v: v.solve_noise(d, how, tol=1e-11))
    with tempfile.TemporaryDirectory() as folder:
        modes.save(Path(folder) / "modes.lime")
        again = plaq.Modes.load(Path(folder) / "modes.lime", gauge)
        close(again.vectors().columns(), resident.vectors().columns(), 1e-15)


def test_distillation_in_moving_frames():
    u, v, _, _, _ = exact()
    gauge, resting, _ = made()

    def phased(momentum):
        turns = [momentum[j] / SHAPE[3 - j] for j in range(3)]
        return np.stack([v[j] * np.exp(2j * np.pi * turns[j]) for j in range(3)] + [v[3]])

    def dense(links):
        matrix = np.empty((T, 3 * SITES, 3 * SITES), complex)
        for k in range(3 * SITES):
            one = np.zeros((T, SITES, 3), complex)
            one[:, k // 3, k % 3] = 1
            matrix[:, :, k] = ref.laplace(links, one.reshape(*SHAPE, 1, 3), 0, range(3)).reshape(T, 3 * SITES)
        values, vectors = np.linalg.eigh(matrix)
        vectors = vectors[:, :, :N]
        return values[:, :N], (vectors * np.exp(-1j * np.angle(vectors[:, :1]))).reshape(T, SITES, 3, N)

    momentum = (0.6, 0, -0.35)
    values, vectors = dense(phased(momentum))
    kept = {"rho": RHO, "steps": STEPS, "tol": 1e-13}
    modes = plaq.modes(gauge, N, momentum=momentum, **kept)
    assert list(modes.report.momentum) == list(momentum) and modes.about["momentum"] == list(momentum)
    close(modes.values, values, 1e-11)
    close(np.moveaxis(modes.vectors().columns().reshape(N, T, SITES, 3), 0, -1), vectors, 1e-8)
    own = plaq.modes(gauge, N, smeared=plaq.Gauge.from_array(v), momentum=momentum, tol=1e-13)
    close(own.values, values, 1e-11)
    # Derivatives with the phases, between the antiquark's modes and the quark's.
    found = modes.mesons(MOMENTA, ["", "dx"], left=resting)
    left = exact()[3]
    fields = vectors.reshape(*SHAPE, 3, N)
    right = np.stack([applied(phased(momentum), fields[..., b], "dx") for b in range(N)], -1).reshape(vectors.shape)
    for i, p in enumerate(MOMENTA):
        for k, w in enumerate((vectors, right)):
            close(found[i, k], np.einsum("x,txca,txcb->tab", wave(p), left.conj(), w), 1e-8)
    # A whole number of waves changes vectors by exp(-i k x) alone.
    waves = plaq.modes(gauge, N, momentum=(1, 0, -1), **kept)
    close(waves.values, resting.values, 1e-11)
    turned = np.einsum("x,txck->txck", wave((1, 0, -1)), left)
    close(np.moveaxis(waves.vectors().columns().reshape(N, T, SITES, 3), 0, -1), turned, 1e-8)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "modes.lime"
        modes.save(path)
        again = plaq.Modes.load(path, gauge)
        assert list(again.report.momentum) == list(momentum)
        close(again.mesons(operators=["dx"]), modes.mesons(operators=["dx"]), 1e-13)
    refused(plaq.capi.BadParameter, "momentum", lambda: plaq.modes(gauge, 4, momentum=(np.nan, 0, 0)))


def test_distillation_perambulators():
    gauge, modes, d = made()
    for t0 in (0, 3):
        found, expected = propagators(t0)
        close(found.numbers[0], expected, 1e-10)
        assert found.times == [t0] and found.boundary == 1
    # tau(t', t) = gamma5 tau(t, t')^dagger gamma5
    there, back = propagators(0)[0].numbers[0, 3], propagators(3)[0].numbers[0, 0]
    g5 = ref.GAMMA5
    close(np.einsum("su,vuba,vw->swab", g5, back.conj(), g5), there, 1e-10)
    both = modes.perambulators(d, [0, 3], tol=1e-11)
    close(both.numbers[1], propagators(3)[1], 1e-8)
    # gamma_t is diag(1, 1, -1, -1) in the Dirac-Pauli basis.
    basis = BASES["dirac_pauli"]
    close(basis @ ref.GAMMA[3] @ basis.T, np.diag([1, 1, -1, -1]), 1e-14)
    close(np.trace(both.dirac_pauli()[1], axis1=1, axis2=2), np.trace(both.numbers[1], axis1=1, axis2=2), 1e-12)
    refused(plaq.capi.InvalidArgument, "times|0 to 3|4", lambda: modes.perambulators(d, [4]))
    other = plaq.Wilson(plaq.Gauge.hot(gauge.extents, seed=3), mass=MASS)
    refused(plaq.capi.FieldMismatch, "solver|links", lambda: modes.perambulators(other, [0]))


def test_distillation_ends_where_it_is_told_to():
    import warnings

    _, modes, d = made()
    heard = []

    def progress(iteration, residual, seconds):
        heard.append(iteration)
        # In the midst of the second source time.
        return heard.count(1) > 3

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = modes.perambulators(d, [0, 3], progress=progress, solver="cgnr", tol=1e-11)
    assert found.times == [0] and found.numbers.shape == (1, T, 4, 4, N, N), (found.times, heard)
    close(found.numbers[0], propagators(0)[1], 1e-8)


def test_distillation_perambulators_in_files():
    try:
        import h5py
    except ImportError:
        return
    _, modes, d = made()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tau.h5"
        modes.perambulators(d, 3, file=path, tol=1e-11)
        with h5py.File(path) as file:
            one = file["perambulators/t3"]
            assert one.attrs["modes"] == N and one.attrs["spin_basis"] == "DeGrand-Rossi" and one.dtype.names is None
            assert one.attrs["indices"].startswith("sink time") and "plaq_version" in file.attrs
            kept = one[()]
        solved = []
        found = modes.perambulators(d, [0, 3], file=path, tol=1e-11, progress=lambda *a: solved.append(a) and None)
        assert found.times == [0, 3] and solved
        close(found.numbers[1], kept, 1e-15)
        close(found.numbers[0], propagators(0)[1], 1e-8)
        solved.clear()
        again = modes.perambulators(d, [3, 0], file=path, progress=lambda *a: solved.append(a) and None)
        assert again.times == [3, 0] and not solved
        close(again.numbers[::-1], found.numbers, 1e-15)
        cut = Path(folder) / "cut.h5"
        cut.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        refused(OSError, "cut.h5|expected a whole HDF5 file", lambda: modes.perambulators(d, 1, file=cut))
        cut.unlink()
        heavier = plaq.Clover(made()[0], mass=0.6, csw=CSW)
        refused(ValueError, "kappa|quarks", lambda: modes.perambulators(heavier, 1, file=path))
        # Arrays and correlators.
        c = plaq.Correlator(np.arange(8.0).reshape(2, 4), name="pion", gammas=("5", "5"))
        file = Path(folder) / "all.h5"
        plaq.write(file, {"a/pion": c, "phi": (modes.mesons(), {"indices": "momentum, operator, t, mode, mode"})}, run="x")
        refused(FileExistsError, "overwrite|append", lambda: plaq.write(file, {"b": [1, 2]}))
        plaq.write(file, {"b": [1, 2]}, append=True)
        refused(FileExistsError, "a/pion|there already", lambda: plaq.write(file, {"a/pion": c}, append=True))
        back = plaq.read(file)
        close(back["phi"], modes.mesons(), 1e-15)
        assert back["a/pion"].name == "pion" and list(back["b"]) == [1, 2] and (back["a/pion"].data == c.data).all()
        plaq.write(file, {"b": [3]}, overwrite=True)
        assert list(plaq.read(file)) == ["b"]
        refused(TypeError, "words|str", lambda: plaq.write(Path(folder) / "c.h5", {"words": "no numbers"}))
        assert not (Path(folder) / "c.h5").exists() and len(list(Path(folder).iterdir())) == 2


def test_distillation_refuses_what_cannot_be():
    _, modes, d = made()
    capi, solver = plaq.capi, d._solver(None, {})
    invalid = capi.InvalidArgument
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "there.h5"
        there.write_bytes(b"no HDF5")

        def perambulators(times, group):
            return lambda: capi.plaq_modes_write_perambulators(modes, solver, times, len(times), there, group, "degrand_rossi", None, None)

        refused(invalid, 'group|"a//b"', perambulators([0], "a//b"))
        def elementals(lengths, steps, nsteps=None):
            quarks = (lengths, len(lengths), steps, len(steps) if nsteps is None else nsteps)
            return lambda: capi.plaq_modes_write_elementals(modes, None, [0], 1, [0], 0, [0, 0, 0], 1, *quarks, there, "refuse")

        refused(capi.FileWrite, "expected a new file", elementals([], []))
        refused(invalid, "baryons|expected 3, one operator for each quark, or 0|found 2", elementals([0, 0], []))
        refused(invalid, "baryon_lengths|0 or more each, 1 together|[0, 0, 2]", elementals([0, 0, 2], [1]))
        refused(invalid, "nbaryon_steps|0 to 100000|found -1", elementals([0, 0, 0], [], -1))
        refused(invalid, "baryon_steps|found 99", elementals([0, 0, 1], [99]))
        assert there.read_bytes() == b"no HDF5" and len(list(Path(folder).iterdir())) == 1
    numbers = np.empty((1, T, 4, 4, N, N), complex)
    for times, count, words in (([-1], numbers.size, "times|0 to 3|found -1"), ([0], 7, f"count|{numbers.size}|7")):
        refused(invalid, words, lambda: capi.plaq_modes_perambulators(modes, solver, times, 1, None, numbers, count))
    refused(invalid, "source_time|0 to 3|4", lambda: modes.generalised(d, 4, 0, ["T"]))
    for times in ([0.5], 0.5, [0, "1"]):
        refused(TypeError, "times|whole number", lambda times=times: modes.perambulators(d, times))
        refused(TypeError, "sink_time|whole number", lambda times=times: modes.generalised(d, 0, times, ["T"]))
    refused(ValueError, "times|one time slice or more|none", lambda: modes.perambulators(d, []))
    refused(ValueError, "sink_time|one time slice or more|none", lambda: modes.generalised(d, 0, [], ["T"]))
    # Modes, smeared links and operators of other configurations, translated ones too.
    gauge, mismatch = made()[0], capi.FieldMismatch
    for array in (plaq.Gauge.hot(gauge.extents, 77).lexico(), np.roll(gauge.lexico(), 1, axis=1)):
        other = plaq.Gauge.from_array(array)
        refused(mismatch, "solver|links of modes", lambda: modes.perambulators(plaq.Clover(other, mass=0.4, csw=CSW), 0))
        refused(mismatch, "smeared|links of gauge", lambda: plaq.modes(gauge, N, smeared=other.smear_stout(0.1)))
        left = plaq.modes(other, N, tol=1e-6)
        five = ("5", modes.mesons()[0, 0])
        tau = modes.perambulators(d, 0).numbers[0]
        for name, ends in (("sink", (("5", left.mesons()[0, 0]), five)), ("source", (five, ("5", left.mesons()[0, 0])))):
            refused(mismatch, f"{name}|modes of the|found", lambda ends=ends: distillation.meson(tau, 0, *ends))
        nucleon = (plaq.gamma["5"], left.baryons()[0])
        refused(mismatch, "sink|modes of the", lambda: distillation.baryon(tau, 0, nucleon, nucleon))
        refused(mismatch, "left|links of modes", lambda: modes.mesons(left=left))
    refused(invalid, "momentum|65536", lambda: modes.mesons([(1 << 20, 0, 0)]))
    refused(invalid, "vectors|7", lambda: plaq.modes(made()[0], N, vectors=7))


def test_distillation_elementals():
    _, v, _, vectors, _ = exact()
    _, modes, _ = made()
    operators = ["", "dx", "dz dy", "+x", "-y +x"]
    found = modes.mesons(MOMENTA, operators)
    fields = vectors.reshape(*SHAPE, 3, N)
    for i, p in enumerate(MOMENTA):
        for k, steps in enumerate(operators):
            right = np.stack([applied(v, fields[..., b], steps) for b in range(N)], -1).reshape(vectors.shape)
            expected = np.einsum("x,txca,txcb->tab", wave(p), vectors.conj(), right)
            close(found[i, k], expected, 1e-9)
    close(found[0, 0], np.broadcast_to(np.eye(N), (T, N, N)), 1e-11)
    refused(ValueError, "operators|ex", lambda: modes.mesons(operators=["ex"]))
    # Elementals of baryons: `cut`, which are completed by antisymmetry here, and `whole` ones with derivatives.
    eps = np.zeros((3, 3, 3))
    for a, b, c in itertools.permutations(range(3)):
        eps[a, b, c] = np.linalg.det(np.eye(3)[[a, b, c]])
    cut, whole = modes.baryons(MOMENTA), modes.baryons(MOMENTA[1:2], ["", "dx", "+z"])
    for i, p in enumerate(MOMENTA):
        expected = np.einsum("x,ijk,txia,txjb,txkc->tabc", wave(p), eps, vectors, vectors, vectors, optimize=True)
        close(distillation.full(cut[i], N), expected, 1e-9)
    one, two = (
        np.stack([applied(v, fields[..., b], s) for b in range(N)], -1).reshape(vectors.shape) for s in ("dx", "+z")
    )
    expected = np.einsum("x,ijk,txia,txjb,txkc->tabc", wave(MOMENTA[1]), eps, vectors, one, two, optimize=True)
    close(whole[0], expected, 1e-9)
    assert plaq.modes(made()[0], 2).baryons().shape == (1, T, 0)


def test_distillation_three_points():
    u, _, _, v, inverse = exact()
    _, modes, d = made()
    t0, t1 = 1, 3
    found = modes.generalised(d, t0, t1, ["T", ("X5", (1, 0, -1), "+x -z")], tol=1e-13)
    left = np.einsum("xca,xscyuet->sayuet", v[t1].conj(), inverse[t1].reshape(SITES, 4, 3, -1, SITES, 4, 3)
                     .transpose(0, 1, 2, 4, 5, 6, 3), optimize=True)  # sink spin, mode; site, spin, colour, time
    right = np.einsum("txscyue,yeb->txscub", inverse[:, :, :, :, t0], v[t0], optimize=True)
    for k, (gamma, n, path) in enumerate([("T", (0, 0, 0), ""), ("X5", (1, 0, -1), "+x -z")]):
        field = right.reshape(*SHAPE, 4, 3, -1)
        other = np.empty_like(field)
        for s in range(4):
            for b in range(field.shape[-1]):
                other[..., s, :, b] = applied(u, field[..., s, :, b], path)
        other = np.einsum("su,txuck->txsck", plaq.gamma[gamma], other.reshape(T, SITES, 4, 3, -1))
        other = other.reshape(right.shape) * wave([-m for m in n])[:, None, None, None, None]
        expected = np.einsum("sayuet,tyuewb->tswab", left, other, optimize=True)
        close(found[k], expected, 1e-9)
    several = modes.generalised(d, t0, [2, t1], ["T"], tol=1e-13)
    assert several.shape == (2, 1, T, 4, 4, N, N)
    close(several[1, 0], found[0], 1e-9)
    close(several[0], modes.generalised(d, t0, 2, ["T"], tol=1e-13), 1e-9)
    refused(plaq.capi.InvalidArgument, "sink_times|0 to 3|4", lambda: modes.generalised(d, t0, [2, 4], ["T"]))
    # Which sink a part of the array belongs to is known.
    one = several[0, 0]
    assert several.sink_times == [2, t1] and one.sink_times == 2
    tau, phi = modes.perambulators(d, t0, tol=1e-13).numbers[0], modes.mesons()[0, 0]
    side = ("5", phi)
    for wrong in (None, t1):
        refused(ValueError, "sink_time=2", lambda wrong=wrong: distillation.three_point(one, t0, side, side, tau, wrong))
    refused(ValueError, "sink_time=2", lambda: distillation.meson(one, t0, side, side))
    # The charge: V_t is not conserved by itself, but the contraction is that of the dense one.
    phi = modes.mesons()[0, 0]
    tau = propagators(t0)[0].numbers[0]
    c = distillation.three_point(found[0], t0, ("5", phi), ("5", phi), tau, sink_time=t1)
    b = ref.GAMMA[3] @ ref.GAMMA5.conj().T @ ref.GAMMA[3] @ ref.GAMMA5
    direct = [
        -sum(
            (plaq.gamma["5"] @ plaq.gamma["5"])[r, r2] * found[0, t, r2, w, i, j] * b[w, q] * tau[t1, r, q, i, j].conj()
            for r in range(4) for r2 in range(4) for w in range(4) for q in range(4) for i in range(N) for j in range(N)
        )
        for t in range(T)
    ]
    close(c, np.roll(direct, -t0), 1e-10)
    # With twisted mass, D + i mu gamma5, the derivative of tau by mu is that with -i gamma5 between two lines.
    mu, step = 0.1, 1e-3
    near = [
        modes.perambulators(plaq.Twisted(made()[0], mass=MASS, mu=mu + k * step, csw=CSW), t0, tol=1e-13).numbers[0, t1]
        for k in (-2, -1, 1, 2)
    ]
    slope = (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * step)
    twisted = plaq.Twisted(made()[0], mass=MASS, mu=mu, csw=CSW)
    found = modes.generalised(twisted, t0, t1, ["5"], tol=1e-13)
    close(-1j * found[0].sum(axis=0), slope, 1e-8)


def test_distillation_noise():
    _, modes, d = made()
    _, _, _, v, inverse = exact()
    how = {"noise": "z4", "seed": 11, "time": "interlace", "time_parts": 2, "spin": "block", "spin_parts": 2,
           "mode": "full", "vectors": 2}
    eta = modes.noise(**how)
    assert eta.shape == (2 * 2 * 2 * N, T, 4, N)
    # Every number is in one column of its vector, and is one of four.
    for vector in np.split(eta, 2):
        assert ((vector != 0).sum(axis=0) == 1).all()
        numbers = vector.sum(axis=0)
        assert np.allclose(numbers**4, 1) and len(np.unique(np.round(numbers, 3))) == 4
    assert (eta[0, 1] == 0).all() and (eta[0, 0, 2:] == 0).all() and (eta[0, 0, :2, 1:] == 0).all() and (eta[0, 2, 0, 0] != 0)
    part = modes.noise(**how, first=5, count=3)
    close(part, eta[5:8], 1e-15)
    again = modes.noise(**{**how, "time": "full", "spin": "none", "mode": "block", "mode_parts": 3})
    assert again.shape == (2 * T * 3, T, 4, N) and (again[0, 0, :, 3:] == 0).all() and (again[0, 0, :, :3] != 0).all()
    close(again[: T * 3].sum(axis=0), eta[: 4 * N].sum(axis=0), 1e-15)
    z2 = modes.noise(**{**how, "noise": "z2"})
    assert set(np.unique(z2)) == {-1, 0, 1}
    found = modes.solve_noise(d, {**how, "first": 20, "count": 13}, tol=1e-13)
    tau = np.einsum("txca,txscryue,ryeb->tsarub", v.conj(), inverse, v, optimize=True)
    close(found, np.einsum("tsarub,krub->ktsa", tau, eta[20:33], optimize=True), 1e-9)
    refused(plaq.capi.BadParameter, "mode_parts|7|8", lambda: modes.noise(mode="block", mode_parts=8))
    refused(plaq.capi.BadParameter, "noise", lambda: modes.noise(noise="normal"))


def dense_meson(a, phi_a, b, phi_b, t0):
    """-tr[(A x V Phi_A V^dagger)(t) D^-1(t, t0) (gt B^dagger gt x V Phi_B^dagger V^dagger)(t0) D^-1(t0, t)]."""
    _, _, _, v, inverse = exact()
    gt = ref.GAMMA[3]
    source = gt @ b.conj().T @ gt
    out = []
    for dt in range(T):
        t = (t0 + dt) % T
        sink = np.einsum("xca,ab,yeb->xcye", v[t], phi_a[t], v[t].conj())
        middle = np.einsum("xca,ba,yeb->xcye", v[t0], phi_b[t0].conj(), v[t0].conj())
        out.append(-contract(a, sink, inverse[t][:, :, :, t0], source, middle, inverse[t0][:, :, :, t]))
    return np.array(out)


def contract(a, sink, there, source, middle, back):
    """tr[(A x sink) there (source x middle) back]; there, back: (sites, 4, 3, sites, 4, 3)."""
    one = np.einsum("su,xcye,yuezwf->xsczwf", a, sink, there, optimize=True)
    two = np.einsum("wk,zfgh,gkhxsc->zwfxsc", source, middle, back, optimize=True)
    return np.einsum("xsczwf,zwfxsc->", one, two)


def test_distillation_mesons():
    _, modes, _ = made()
    t0 = 3
    tau = propagators(t0)[0].numbers[0]
    phi = modes.mesons(MOMENTA[:2], ["", "dx"])
    for (g, i), (h, j) in [(("5", (0, 0)), ("5", (0, 0))), (("X", (1, 0)), ("X", (1, 0))), (("Y", (0, 0)), ("1", (0, 1)))]:
        expected = dense_meson(plaq.gamma[g], phi[i], plaq.gamma[h], phi[j], t0)
        close(distillation.meson(tau, t0, (g, phi[i]), (h, phi[j])), expected, 1e-9)
        pairs = np.array([plaq.gamma.number(g), plaq.gamma.number(h)], np.int32)
        found = np.empty((1, T), complex)
        plaq.capi.plaq_modes_mesons(tau, tau, N, T, t0, phi[i], np.ascontiguousarray(phi[j][t0]), pairs, 1, found)
        close(found[0], expected, 1e-9)


def test_distillation_baryons():
    _, _, _, v, inverse = exact()
    _, modes, _ = made()
    t0, p = 2, MOMENTA[1]
    tau = propagators(t0)[0].numbers[0]
    b = modes.baryons([p])[0]
    g = ref.GAMMA[1] @ ref.GAMMA[3] @ ref.GAMMA5
    found = distillation.baryon(tau, t0, (g, b), (g, b))
    bar = ref.GAMMA[3] @ g.conj().T @ ref.GAMMA[3]
    eps = np.zeros((3, 3, 3))
    for i, j, k in itertools.permutations(range(3)):
        eps[i, j, k] = np.linalg.det(np.eye(3)[[i, j, k]])
    phase = wave(p)
    for dt in (0, 1, 3):
        t = (t0 + dt) % T
        s = np.einsum("xca,suab,yeb->xyscue", v[t], tau[t], v[t0].conj(), optimize=True)
        d = np.einsum("ij,xyjbke,kl->xyible", g, s, bar, optimize=True)
        straight = np.einsum("x,y,abc,def,xyiald,xyible,xysctf->st", phase, phase.conj(), eps, eps, s, d, s, optimize=True)
        crossed = np.einsum("x,y,abc,def,xyiatf,xyible,xyscld->st", phase, phase.conj(), eps, eps, s, d, s, optimize=True)
        sign = -1 if t0 + dt >= T else 1
        close(found[dt], sign * (straight - crossed), 1e-9)


def test_distillation_does_not_know_the_gauge():
    u = exact()[0]
    g = ref.random_su3(SHAPE, np.random.default_rng(8))
    gauge = plaq.Gauge.from_array(ref.transformed(u, g))
    modes, d = plaq.modes(gauge, N, rho=RHO, steps=STEPS, tol=1e-13, seed=9), plaq.Clover(gauge, mass=MASS, csw=CSW)
    tau = modes.perambulators(d, 3, tol=1e-13).numbers[0]
    phi, before = modes.mesons(MOMENTA[:2], ["dx"])[1, 0], made()[1].mesons(MOMENTA[:2], ["dx"])[1, 0]
    close(
        distillation.meson(tau, 3, ("X", phi), ("X", phi)),
        distillation.meson(propagators(3)[0].numbers[0], 3, ("X", before), ("X", before)),
        1e-8,
    )
    refused(plaq.capi.FieldMismatch, "links", lambda: modes.perambulators(made()[2], 0))


def test_distillation_with_all_modes_is_exact():
    """The projector is 1: the distilled pion is that of all points of the source's slice."""
    gauge = plaq.Gauge.from_array(ref.random_su3((4, 4, 2, 2, 2), np.random.default_rng(6)))
    d, t0 = plaq.Wilson(gauge, mass=0.3), 1
    modes = plaq.modes(gauge, 24)
    tau = modes.perambulators(d, t0, tol=1e-12).numbers[0]
    phi = modes.mesons([(0, 0, 0), (0, 1, 0)])[:, 0]
    found = [distillation.meson(tau, t0, ("5", one), ("5", one)) for one in phi]
    points = itertools.product(range(2), repeat=3)
    exact_ = sum(
        plaq.mesons(d.propagator(source=(*x, t0), tol=1e-12), momenta=[(0, 0, 0), (0, 1, 0)])[:, 0] for x in points
    )
    close(np.array(found), exact_, 1e-9)


def test_distillation_of_the_overlap_operator():
    """With all modes V^dagger S V is a change of basis of the propagators from all points of a slice."""
    gauge = plaq.Gauge.warm((2, 2, 2, 4), 5, 0.15)
    d, t0, tol = plaq.Overlap(gauge, mass=0.3, modes=24, delta=1e-8, progress=False), 1, 1e-6
    modes = plaq.modes(gauge, 24, tol=1e-13)
    v = np.moveaxis(modes.vectors().columns().reshape(24, 4, 8, 3), 0, -1)
    tau = modes.perambulators(d, t0, tol=tol)
    assert d.report.converged and tau.boundary == 1 and tau.about["operator"] == "Overlap"
    assert tau.about["contact_term"] == "subtracted" and tau.about["normalisation"] == "mass"
    found = tau.numbers[0]
    points = [(x, y, z, t0) for z in range(2) for y in range(2) for x in range(2)]
    # [site of the source][t][site][spin][spin of the source][colour][colour of the source]
    s = np.array([d.propagator(one, tol=tol).lexico().reshape(4, 8, 4, 4, 3, 3) for one in points])
    expected = np.einsum("txca,ytxsucd,ydb->tsuab", v.conj(), s, v[t0], optimize=True)
    close(found, expected, 1e-5)
    g5 = ref.GAMMA5
    close(np.einsum("su,vuba,vw->swab", g5, found[t0].conj(), g5), found[t0], 1e-5)
    # With a single mode: the contact term, noise, lines, and files.
    one = plaq.modes(gauge, 1, tol=1e-13)
    part = found[..., :1, :1]
    with_it = one.perambulators(d, t0, tol=tol, subtract=0)
    assert with_it.about["contact_term"] == "included"
    contact = np.zeros_like(part)
    contact[t0, range(4), range(4), 0, 0] = 1 / (2 * d.rho)
    close(with_it.numbers[0], np.asarray(part) * (1 - d.mass / (2 * d.rho)) + contact, 1e-5)
    noise = {"seed": 2, "time": "full", "spin": "none", "first": t0, "count": 1}
    solved = one.solve_noise(d, noise, tol=tol)
    close(solved, np.einsum("tsuab,kub->ktsa", part, np.asarray(one.noise(**noise))[:, t0]), 1e-5)
    assert solved.about["operator"] == "Overlap"
    line = one.generalised(d, t0, 0, ["1"], tol=tol)
    assert line.shape == (1, 4, 4, 4, 1, 1) and line.about["operator"] == "Overlap" and line.times == t0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tau.h5"
        one.perambulators(d, 0, file=file, tol=tol)
        assert one.perambulators(d, [0, t0], file=file, tol=tol).times == [0, t0]
        refused(ValueError, "contact_term", lambda: one.perambulators(d, 2, file=file, tol=tol, subtract=0))
        refused(ValueError, "mass", lambda: one.perambulators(d.with_mass(0.4), 2, file=file, tol=tol))
    refused(TypeError, "delta", lambda: modes.perambulators(d, 0, delta=1))
    refused(TypeError, "no keyword|distance_alpha|subtract", lambda: modes.perambulators(d, 0, distance_alpha=1.0))
    # What a solve takes is known before, from C as from Python; other functions of solvers name this one.
    capi = plaq.capi
    solver = capi.plaq_solver_create_overlap(d, capi.plaq_overlap_solve_params())
    assert capi.plaq_solver_memory(solver, 12) == d.plan(12).solver > 0
    report = capi.plaq_plan_report()
    assert "\n" in capi.plaq_solver_plan(solver, 12, report) and report.memory == d.plan(12).solver
    x, b = d.field(1), d.field(1)
    words = "solver|plaq_solver_create|overlap"
    refused(capi.Unsupported, words, lambda: capi.plaq_solver_solve(solver, x, b, None, capi.plaq_solve_report(), None))
    capi.plaq_solver_destroy(solver)
    other = plaq.Overlap(plaq.Gauge.warm((2, 2, 2, 4), 9, 0.15), mass=0.3, modes=8, delta=1e-4, progress=False)
    refused(TypeError, "operator|expected a Wilson|str", lambda: modes.perambulators("d", 0))
    refused(capi.FieldMismatch, "solver|links of modes", lambda: modes.perambulators(other, 0))
    other.close()
    refused(capi.InvalidHandle, "closed", lambda: modes.perambulators(other, 0))


def test_gevp():
    rng = np.random.default_rng(3)
    energies, t = np.array([0.3, 0.7, 1.1]), np.arange(8)
    u = rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3))
    matrix = np.einsum("in,jn,nt->ijt", u, u.conj(), np.exp(-np.outer(energies, t)))
    data = matrix * (1 + 1e-3 * rng.standard_normal((20, 1, 1, 8)))
    found = plaq.gevp(matrix[None], 2)
    close(found.value[2:], np.exp(-np.outer(t - 2, energies))[2:], 1e-9)
    masses = analysis.energies(plaq.gevp(data, 2))
    assert masses.value.shape == (7, 3) and (np.abs(masses.value - energies)[2:] < 5 * masses.error[2:] + 1e-9).all()
    refused(ValueError, "t0", lambda: plaq.gevp(matrix[None], 9))
