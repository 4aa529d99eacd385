"""What ends a call from outside: Ctrl-C, handlers of other signals, exceptions of callbacks; names of files and texts."""

import os
import signal
import tempfile
import threading
import time
import warnings
from contextlib import contextmanager

import numpy as np
import plaq
from common import close, refused


class Limit(Exception):
    pass


class Mine(Exception):
    pass


def raises(error):
    def handler(*_):
        raise error

    return handler


@contextmanager
def alarm(handler, seconds=0.3, number=signal.SIGALRM):
    before = signal.signal(number, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(number, before)


def long_calls(U):
    """Calls that take longer than a second."""
    D = plaq.Wilson(U, mass=-0.7)
    b = plaq.Fermion.noise(U, 4, seed=1)
    return {
        "flow": lambda **more: U.flow(500.0, **more),
        "quark flow": lambda **more: b.flow(U, 5000.0, **more),
        "adjoint flow": lambda **more: b.adjoint_flow(U, 5000.0, **more),
        "overlap": lambda **more: plaq.Overlap(U, modes=60, **more),
        # A single solve comes to a standstill after a while, so that the signal comes in the midst of one of many.
        "solve": lambda **more: [D.solve(b, solver="cgnr", tol=1e-30, max_iterations=10**6, **more) for _ in range(10**4)],
        "eigen": lambda **more: D.eigen(100, tol=1e-14, **more),
        "ritz": lambda **more: D.eigen(40, tol=1e-14, method="ritz", **more),
        "multigrid": lambda **more: [D.multigrid(setup_iterations=1000, **more) for _ in range(10**4)],
        "heatbath": lambda **more: U.copy().heatbath(5.7, 10**6, **more),
        "fix": lambda **more: U.fix("landau", method="overrelaxation", stop_theta=1e-300, max_iterations=10**7, **more),
    }


def test_handlers_of_signals_end_every_call():
    U = plaq.Gauge.warm((4, 4, 4, 8), 1, 0.5)
    for name, call in long_calls(U).items():
        with alarm(raises(Limit)):
            start = time.time()
            refused(Limit, "", call)
            assert time.time() - start < 10, name
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        refused(Mine, "", lambda: call(progress=raises(Mine)))
    close(U.plaquette().total, U.copy().plaquette().total)

    def leave(number, frame):
        raise SystemExit(3)

    with alarm(leave):
        assert refused(SystemExit, "", long_calls(U)["flow"]).code == 3


def test_a_handler_that_returns_ends_nothing():
    U = plaq.Gauge.warm((4, 4, 4, 8), 1, 0.5)
    heard = []
    with alarm(lambda *_: heard.append(1), 0.05):
        flow = U.flow(20.0)
    assert heard == [1] and abs(flow.report.time - 20) < 1e-9
    # A signal that comes after the last callback, and one that comes while the log calls Python.
    plaq.log("trace")
    try:
        with alarm(raises(Limit), 0.1):
            refused(Limit, "", lambda: [plaq.Gauge.warm((4, 4, 4, 8), n).unitarity() for n in range(10000)])
    finally:
        plaq.log("off")


def test_a_callback_that_calls_the_library_is_interrupted():
    U = plaq.Gauge.warm((4, 4, 4, 8), 1, 0.5)

    def progress(*_):
        U.flow(500.0)

    with alarm(raises(Limit)):
        refused(Limit, "", lambda: U.flow(500.0, progress=progress))
    with alarm(raises(Limit)):
        refused(Limit, "", lambda: U.flow(500.0))


def test_smearing_hears_signals():
    U = plaq.Gauge.warm((4, 4, 4, 8), 1, 0.5)
    b = plaq.Fermion.noise(U, 4, seed=1)
    for call in (lambda: U.smear_stout(0.01, 10**6), lambda: U.smear_hyp(steps=10**6), lambda: b.smear(U, 0.2, 10**5)):
        with alarm(raises(Limit)):
            start = time.time()
            refused(Limit, "", call)
            assert time.time() - start < 10
    # Sweeps in several calls give the same links to the last bit.
    one_by_one = U
    for _ in range(9):
        one_by_one = one_by_one.smear_ape(0.5)
    assert (U.smear_ape(0.5, 9).numpy() == one_by_one.numpy()).all()


def test_multigrid_tells_and_ends():
    U = plaq.Gauge.warm((4, 4, 4, 8), 1, 0.5)
    D = plaq.Wilson(U, mass=0.1)
    for more in ({}, {"start": plaq.Fermion.noise(U, 24, seed=3)}):
        heard = []
        mg = D.multigrid(progress=lambda *state: heard.append(state), **more)
        assert [step for step, *_ in heard] == list(range(1, len(heard) + 1)) and heard
        refused(plaq.capi.NotConverged, "callback", lambda: D.multigrid(progress=lambda *_: True, **more))
    heard.clear()
    mg.update(D, progress=lambda *state: heard.append(state))
    assert heard
    refused(plaq.capi.NotConverged, "callback", lambda: mg.update(D, progress=lambda *_: True))
    refused(Mine, "", lambda: mg.update(D, "anew", progress=raises(Mine)))
    # The hierarchy can be used as before.
    b = plaq.Fermion.noise(U, 2, seed=4)
    D.solve(b, multigrid=mg)
    assert D.report.converged
    # An interrupt also stops the set-up of an automatic solve, during which the number of iterations does not change.
    D, steps = plaq.Wilson(U, mass=-0.85), []

    def stop(step, *_):
        steps.append(step)
        return steps.count(step) > 3

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", plaq.NotConvergedWarning)
        D.solve(b, progress=stop, expected_columns=10**9)
    assert D.report.stopped and not D.report.converged and steps.count(max(steps)) == 4, steps


def test_ctrl_c_and_exceptions_while_modes_are_sought():
    U = plaq.Gauge.warm((4, 4, 4, 8), 1, 0.5)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    refused(KeyboardInterrupt, "", lambda: plaq.Overlap(U, modes=60))
    timer.join()
    refused(Mine, "", lambda: plaq.Overlap(U, progress=raises(Mine)))


def test_the_report_after_an_interrupted_solve_is_that_solve_s():
    U = plaq.Gauge.warm((4, 4, 4, 4), 1, 0.5)
    D = plaq.Wilson(U, mass=0.1)
    b = plaq.Fermion.noise(U, 3, seed=1)

    def stop(iteration, *_):
        if iteration == 2:
            raise Mine

    for call in (lambda: D.solve(b, progress=stop, solver="cgnr"), lambda: D.propagator(progress=stop, solver="cgnr")):
        D.solve(plaq.Fermion.noise(U, 1, seed=2))
        before = D.report
        refused(Mine, "", call)
        assert D.report is not before and D.report.stopped and 2 <= D.report.iterations < 24 * 12
        assert len(D.residuals) in (3, 12)
    # A call that is refused leaves the report as it was.
    before = D.report
    refused(plaq.Error, "tol", lambda: D.solve(b, tol=-1))
    assert D.report is before


def test_names_of_files():
    U = plaq.Gauge.warm((2, 2, 2, 2), 1, 0.3)
    with tempfile.TemporaryDirectory() as folder:
        refused(ValueError, "file|embedded null byte", lambda: U.write(f"{folder}/cut\0rest", "nersc"))
        refused(ValueError, "file|embedded null byte", lambda: plaq.open(f"{folder}/cut\0rest"))
        assert os.listdir(folder) == []
        strange = os.fsencode(folder) + b"/caf\xe9"
        U.write(strange, "nersc")
        assert os.listdir(os.fsencode(folder)) == [b"caf\xe9"]
        for name in (strange, os.fsdecode(strange), os.path.join(folder, os.listdir(folder)[0])):
            close(plaq.open(name).plaquette().total, U.plaquette().total)
        assert plaq.file_text(strange, "lfn") is None
        S = plaq.Wilson(U, mass=1).propagator()
        S.write(strange + b".lime")
        close(plaq.Propagator.open(strange + b".lime").numpy(), S.numpy())
        refused(plaq.capi.FileOpen, "absent", lambda: plaq.open(folder + "/absent\udce9"))
    refused(ValueError, "found '\\ud800' in it", lambda: plaq.open("half\ud800"))


def test_lattices_of_inputs():
    text = 'length = 1.0\nseed = 1\n[[monomial]]\nname = "g"\ntype = "gauge"\naction = "wilson"\nbeta = 5.5\n'
    text += '[[level]]\nintegrator = "leapfrog"\nsteps = 2\nmonomials = ["g"]\n[run]\n'
    assert plaq.hmc(text + "lattice = [4, 4, 4, 4]\n").gauge.extents == [4, 4, 4, 4]
    refused(TypeError, "run.lattice|4.5", lambda: plaq.hmc(text + "lattice = [4.5, 4, 4, 4]\n"))
    refused(ValueError, "run.lattice|four", lambda: plaq.hmc(text + "lattice = [4, 4, 4, 4, 6]\n"))
    refused(ValueError, "input|embedded null byte", lambda: plaq.hmc(text + "lattice = [4, 4, 4, 4]\n\0 rubbish"))


def test_modes_of_time_slices():
    extents, count = [2, 4, 2, 3 * 2], 5
    U = plaq.Gauge.warm(extents, 1, 0.5)
    L = plaq.Laplace(U, mass2=0.3)
    found = L.eigen(count, time_slices=1)
    vectors = found.vectors.numpy()
    assert found.values.shape == found.residuals.shape == (6, count) and "6 time slices" in repr(found)
    n = 3 * 2 * 4 * 2
    columns = np.zeros((n, 6, 2, 4, 2, 1, 3), complex)
    for k in range(n):
        columns[k].reshape(6, n)[:, k] = 1
    dense = (L @ columns).reshape(n, 6, n)
    for t in range(6):
        close(found.values[t], np.linalg.eigvalsh(dense[:, t].T)[:count], 1e-8)
        v = vectors.reshape(count, 6, n)[:, t]
        close(v.conj() @ v.T, np.eye(count), 1e-8)
        close(dense[:, t].T @ v.T, v.T * found.values[t], 1e-7)
    # Eigenvalues of a Laplacian are its own, not those of its square, at both ends of the spectrum and after a file.
    whole = plaq.Laplace(U, directions="xyzt", spins=4)
    for end in ("smallest", "largest"):
        modes = whole.eigen(4, end=end)
        x = modes.vectors
        close(x.dot(whole @ x).real, modes.values, 1e-8)
        with tempfile.TemporaryDirectory() as folder:
            modes.save(f"{folder}/modes")
            close(whole.load_eigen(f"{folder}/modes").values, modes.values)
