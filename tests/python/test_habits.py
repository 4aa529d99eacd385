"""What a program in Python expects: arrays of other frameworks, interrupts, threads, logging, memory."""

import ast
import gc
import logging
import pickle
import signal
import sys
import threading
import time
import types
import warnings
from pathlib import Path

import numpy as np
import plaq
import reference as ref
from common import close, lattice, refused, spinors


class Foreign:
    """An array of another framework, which is known by DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **more):
        return self.array.__dlpack__(**more)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnGpu:
    """An array that says that it is in memory of a GPU."""

    def __init__(self, array, strides=None):
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ctypes.data, False),
            "version": 3,
            "strides": strides,
            "stream": 1,
        }


def test_dlpack():
    u, gauge = lattice()
    psi = spinors()
    d = plaq.Wilson(gauge, mass=0.1)
    close(d @ Foreign(psi), d @ psi, 1e-15)
    close(plaq.Gauge.from_array(Foreign(u)).numpy(), u, 1e-14)


def test_strides_and_byte_orders():
    _, gauge = lattice()
    d = plaq.Wilson(gauge, mass=0.1)
    psi = spinors()
    close(d @ np.asfortranarray(psi), d @ psi, 1e-15)
    close(d @ psi.astype(">c16"), d @ psi, 1e-15)
    close(d @ np.repeat(psi, 2, axis=0)[::2], d @ psi, 1e-15)


def test_arrays_of_a_gpu_need_one():
    _, gauge = lattice()
    if gauge.context.on_gpu:
        raise ModuleNotFoundError("this context computes on a GPU")
    refused(
        TypeError, "psi|memory of a GPU|computes on the CPU", lambda: plaq.Wilson(gauge, mass=0.1) @ OnGpu(spinors())
    )
    refused(ValueError, "C-contiguous", lambda: plaq.capi.plaq_gauge_load(gauge, None, OnGpu(spinors(), (8, 16))))


def test_arrays_of_a_gpu_are_borrowed():
    """With a stand-in of CuPy, whose arrays say that they are in memory of a GPU."""
    from plaq import _arrays, capi

    class ndarray(OnGpu):
        __module__ = "cupy"

        def __init__(self, array):
            super().__init__(array, array.strides)
            self.array = array

        def transpose(self, axes):
            return ndarray(self.array.transpose(axes))

    cupy = types.ModuleType("cupy")
    cupy.empty = lambda shape, dtype: ndarray(np.empty(shape, dtype))
    cupy.ascontiguousarray = lambda of: ndarray(np.ascontiguousarray(of.array))
    array = spinors(2).astype(np.complex64)
    sys.modules["cupy"] = cupy
    try:
        found = _arrays.borrow(ndarray(array), "psi", True)
        assert found.address == array.ctypes.data and found.shape == array.shape and found.device
        layout = found.layout("qdp")
        assert (layout.location, layout.stream) == (capi.plaq_location.DEVICE, 1)
        assert layout.precision == capi.plaq_precision.SINGLE
        order = (0, 2, 1, 3, 4, 5, 6)
        assert np.array_equal(found.permuted(order).array.array, array.transpose(order))
        refused(ValueError, "psi|C-contiguous", lambda: _arrays.borrow(ndarray(array.transpose(order)), "psi", True))
        refused(TypeError, "float64", lambda: _arrays.borrow(ndarray(array.real.astype(float)), "psi", True))
        to, made = _arrays.room(ndarray(array), (2, 3), np.complex128)
        assert isinstance(made, ndarray) and to.device and _arrays.handed(made, made) is made
    finally:
        del sys.modules["cupy"]


def on_streams(gauge, stream, asynchronous):
    """Arrays that are still being written on a stream of their own, through operators on the same stream."""
    d = plaq.Wilson(gauge, mass=0.1)
    host = spinors(2)
    expected = d @ host
    for _ in range(20):
        with stream:
            psi = asynchronous(host)
            found = d @ psi
            twice = 2 * found
        close(np.asarray(twice.get() if hasattr(twice, "get") else twice.cpu()), 2 * expected, 1e-13)
    links = plaq.Gauge.from_array(asynchronous(gauge.numpy()))
    close(links.numpy(), gauge.numpy(), 1e-14)


def test_cupy_on_a_stream():
    import cupy

    _, gauge = lattice()
    if not gauge.context.on_gpu:
        raise ModuleNotFoundError("no GPU")
    stream = cupy.cuda.Stream(non_blocking=True)

    def late(host):
        work = cupy.ones((2000, 2000))
        for _ in range(10):
            work = work @ work / 2000
        return cupy.asarray(host) * (work[0, 0] / work[0, 0])

    on_streams(gauge, stream, late)


def test_torch_on_a_stream():
    import torch

    _, gauge = lattice()
    if not (torch.cuda.is_available() and gauge.context.on_gpu):
        raise ModuleNotFoundError("no GPU")

    def late(host):
        work = torch.ones((2000, 2000), dtype=torch.float64, device="cuda")
        for _ in range(10):
            work = work @ work / 2000
        return torch.from_numpy(host).cuda() * (work[0, 0] / work[0, 0])

    on_streams(gauge, torch.cuda.stream(torch.cuda.Stream()), late)


def test_torch():
    import torch

    _, gauge = lattice()
    d = plaq.Wilson(gauge, mass=0.1)
    psi = torch.from_numpy(spinors(2))
    found = d @ psi
    assert isinstance(found, torch.Tensor) and found.dtype == torch.complex128
    close(found.numpy(), d @ psi.numpy(), 1e-15)
    close((d @ psi.clone().requires_grad_()).numpy(), found.numpy(), 1e-15)
    close((d @ psi.conj()).numpy(), d @ psi.numpy().conj(), 1e-15)


def test_jax():
    import jax

    jax.config.update("jax_enable_x64", True)
    _, gauge = lattice()
    d = plaq.Wilson(gauge, mass=0.1)
    found = d @ jax.numpy.asarray(spinors())
    assert isinstance(found, jax.Array)
    close(found, d @ spinors(), 1e-15)


def test_fields():
    psi = plaq.Fermion.from_array(spinors(3))
    array = psi.numpy()
    close(psi.norm2(), (np.abs(array) ** 2).sum(axis=(1, 2, 3, 4, 5, 6)))
    chi = plaq.Fermion.noise(psi, 3, seed=1, kind="normal")
    close(psi.dot(chi), (array.conj() * chi.numpy()).sum(axis=(1, 2, 3, 4, 5, 6)))
    other = psi.copy()
    other.add(chi, a=2j, b=-1)
    close(other.numpy(), 2j * chi.numpy() - array)
    u, gauge = lattice()
    moved = psi.shift(gauge, [0, 3, 7])
    step = lambda x, mu: np.einsum("...ab,...ib->...ia", u[mu], ref.shift(x, mu))
    expected = np.einsum("...ba,...ib->...ia", ref.shift(u[0], 0, -1).conj(), ref.shift(array[1], 0, -1))
    close(moved.numpy()[1], step(step(expected, 3), 0))
    odd = psi.evenodd()
    assert odd.shape == (3, 2, 8, 2, 6, 2, 4, 3) and np.array_equal(odd[0, 1, 1, 0, 0, 0], array[0, 1, 0, 0, 0])
    close(plaq.Fermion.from_array(odd, slices=1).numpy(), array, 1e-15)
    # The axis of two flavours must not be taken for that of even and odd sites.
    pair = plaq.Doublet(plaq.Gauge.unit((4, 6, 2, 8)), mass=0.1, mu=0.2, epsilon=0.1).field(2)
    flavours = np.random.default_rng(1).normal(size=pair.numpy().shape) + 0j
    pair.set(flavours)
    refused(ValueError, "slices: expected 2", lambda: plaq.Fermion.from_array(flavours))
    for given in (flavours, pair.evenodd()):
        found = plaq.Fermion.from_array(given, slices=2)
        assert (found.extents, found.n, found.slices) == ([4, 6, 2, 8], 2, 2)
        close(found.numpy(), flavours)
    assert plaq.Fermion.from_array(flavours[0], slices=2).n == 1
    refused(ValueError, "array: expected shape", lambda: plaq.Fermion.from_array(array, slices=2))

    class Bare:
        """An array that has __array_interface__ alone."""

        def __init__(self, of):
            self.of, self.__array_interface__ = of, of.__array_interface__

    close(plaq.Fermion.from_array(Bare(np.ascontiguousarray(array))).numpy(), array)
    assert plaq.Fermion.from_array(spinors(2).astype(np.complex64)).precision == "single"
    values = plaq.Fermion.noise([2, 2, 2, 4], 1, kind="z4").numpy()
    close(values**4, np.ones_like(values))
    refused(TypeError, "cannot be pickled", lambda: pickle.dumps(psi))
    vector = plaq.Fermion([2, 2, 2, 4], spins=1)
    assert vector.numpy().shape == (1, 4, 2, 2, 2, 1, 3) and not vector.numpy().any()


def test_an_exception_in_a_callback_ends_the_solve():
    _, gauge = lattice()
    d = plaq.Wilson(gauge, mass=0.0)
    b = spinors()

    def stop(iteration, residual, seconds):
        if iteration == 3:
            raise KeyboardInterrupt

    d.solve(b), d.propagator()  # solvers stay, with their memory
    for call in (lambda: d.solve(b, progress=stop), lambda: d.propagator(progress=stop)):
        gc.collect()
        used = gauge.context.report().memory_used
        try:
            call()
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("the interrupt was lost")
        assert gauge.context.report().memory_used <= used
    close(d @ d.solve(b, tol=1e-11), b, 1e-9)
    heard = []
    d.solve(b, progress=lambda *state: heard.append(state))
    assert [n for n, _, _ in heard] == list(range(1, len(heard) + 1)) and heard[-1][1] < heard[0][1]


class Bar:
    """What tqdm.auto.tqdm is called with, and what it would show."""

    made = []

    def __init__(self, total=None, desc=None, unit=None, bar_format=None, delay=0, disable=False):
        self.total, self.desc, self.n, self.shown = total, desc, 0, []
        self.made.append(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.closed = True

    def set_postfix_str(self, text, refresh=True):
        self.shown.append(text)

    def update(self, more):
        self.n += more


def bars(call):
    """The bars that a call with progress=True makes, all of which are closed."""
    Bar.made.clear()
    before = {name: sys.modules.get(name) for name in ("tqdm", "tqdm.auto")}
    sys.modules["tqdm"] = types.ModuleType("tqdm")
    sys.modules["tqdm.auto"] = types.SimpleNamespace(tqdm=Bar)
    try:
        call()
    finally:
        for name, module in before.items():
            sys.modules.pop(name) if module is None else sys.modules.update({name: module})
    assert all(bar.closed and bar.shown for bar in Bar.made)
    return list(Bar.made)


def test_bars():
    _, gauge = lattice()
    d, b = plaq.Wilson(gauge, mass=0.3), spinors()
    (bar,) = bars(lambda: d.solve(b, tol=1e-9, progress=True))
    assert bar.total == 9 and bar.n == 9 and "residual" in bar.shown[-1]
    assert len(bar.shown) == d.report.iterations
    (bar,) = bars(lambda: d.propagator(progress=True, tol=1e-6))
    assert bar.total == 6 and len(bar.shown) == d.report.iterations
    (bar,) = bars(lambda: d.multishift(b, [0.1, 0.2], progress=True))
    assert bar.total == 10 and bar.n > 9
    (bar,) = bars(lambda: d.eigen(2, progress=True))
    assert bar.desc == "eigenvectors"
    (bar,) = bars(lambda: plaq.Overlap(gauge, modes=4, progress=True))
    (bar,) = bars(lambda: gauge.flow(0.4, every=5, progress=True))
    assert bar.total == 0.4 and abs(bar.n - 0.4) < 1e-12 and bar.shown[0].startswith("t^2 E = ")
    (bar,) = bars(lambda: gauge.fix("coulomb", progress=True))
    assert bar.desc == "coulomb gauge" and bar.n > 0
    (bar,) = bars(lambda: gauge.copy().heatbath(5.7, 3, progress=True))
    assert (bar.total, bar.n) == (3, 3)
    table = {
        "length": 0.2,
        "run": {"lattice": [4, 4, 4, 4]},
        "monomial": [{"name": "gauge", "type": "gauge", "action": "wilson", "beta": 5.5}],
        "level": [{"integrator": "leapfrog", "steps": 2, "monomials": ["gauge"]}],
    }
    (bar,) = bars(lambda: list(plaq.hmc(table, trajectories=2, progress=True)))
    assert (bar.total, bar.n) == (2, 2) and "dH" in bar.shown[-1]
    (bar,) = bars(lambda: plaq.hmc(table).step(2, progress=True))
    assert (bar.total, bar.n) == (2, 2)
    # Making an overlap operator shows a bar by default if it takes long, and none if none is wanted.
    (bar,) = bars(lambda: plaq.Overlap(gauge, modes=4))
    assert bar.desc == "modes" and bar.n <= bar.total
    assert not bars(lambda: plaq.Overlap(gauge, modes=4, progress=False))
    (bar,) = bars(lambda: d.multigrid(progress=True))
    assert bar.desc == "multigrid" and bar.n > 5
    # Without tqdm a message says so once, and calls do their work.
    before = {name: sys.modules.get(name) for name in ("tqdm", "tqdm.auto")}
    sys.modules.update(dict.fromkeys(before))
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            x = d.solve(b, progress=True)
    finally:
        for name, module in before.items():
            sys.modules.pop(name) if module is None else sys.modules.update({name: module})
    assert [one.category for one in said] == [UserWarning] and said[0].filename == __file__
    close(d @ x, b, 1e-8)


def test_ctrl_c_ends_a_call():
    import _thread

    _, gauge = lattice(shape=(8, 8, 8, 8))
    d = plaq.Wilson(gauge, mass=-0.9)
    # A shell starts its background jobs with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    begin = time.perf_counter()
    try:
        b = spinors(12, shape=(8, 8, 8, 8))
        for _ in range(20):
            d.solve(b, tol=1e-14, max_iterations=10**6, max_seconds=2)
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("the interrupt was lost")
    finally:
        timer.cancel()
    assert time.perf_counter() - begin < 20
    assert np.isfinite(gauge.plaquette().total)


def test_threads():
    """Calls let other threads of Python run, and threads share a context."""
    _, gauge = lattice()
    b = spinors(4)
    expected = plaq.Wilson(gauge, mass=0.3).solve(b)
    found, ticks, done = [], [0], threading.Event()

    def tick():
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0)

    def work():
        d = plaq.Wilson(gauge, mass=0.3)
        for _ in range(3):
            found.append(d.solve(b))

    clock = threading.Thread(target=tick)
    clock.start()
    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    done.set()
    clock.join()
    assert len(found) == 6 and ticks[0] > 10
    for x in found:
        close(x, expected, 1e-8)


def test_logging():
    lines = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append((record.levelno, record.getMessage()))
    logger = logging.getLogger("plaq")
    logger.addHandler(handler)
    logger.setLevel(1)
    try:
        plaq.log("trace")
        lattice(seed=1)[1].plaquette()
        assert any("plaq_gauge_plaquette" in message for _, message in lines)
        plaq.log("off")
        count = len(lines)
        lattice(seed=1)[1].plaquette()
        assert len(lines) == count
        refused(ValueError, "off|trace|'loud'", lambda: plaq.log("loud"))
    finally:
        logger.removeHandler(handler)


def test_memory_comes_back():
    context = plaq.Context("cpu", threads=1, memory_limit=1 << 24)
    gc.collect()
    for _ in range(20):
        gauge = plaq.Gauge.unit([8, 8, 8, 8], context=context)  # 4.7 MB each
    assert context.report().memory_used < 1 << 24
    keep = [gauge]
    refused(MemoryError, "", lambda: [keep.append(plaq.Gauge.unit([8, 8, 8, 8], context=context)) for _ in range(9)])
    keep.clear()
    del gauge
    gc.collect()
    assert context.report().memory_used == 0 and "cpu" in repr(context)
    assert context.gather(np.zeros(3)) is not None
    context.synchronize()


def test_overhead():
    """A hop from Python costs at most 20 us more than the call of C, timed inside of the same call: two threads' hops take
    one time or another, as they are placed, and no other call is to be compared with. On 4^4: larger fields push Python
    itself out of the caches."""
    gauge = plaq.Gauge.hot([4, 4, 4, 4])
    d = plaq.Wilson(gauge, mass=0.1)
    x, y = plaq.Fermion.noise(gauge), d.field()
    hop, c, python = plaq.capi._plaq_dirac_apply, [], []

    def timed(*arguments):
        begin = time.perf_counter()
        status = hop(*arguments)
        c.append(time.perf_counter() - begin)
        return status

    plaq.capi._plaq_dirac_apply = timed
    try:
        for _ in range(1000):
            begin = time.perf_counter()
            d.apply(x, out=y)
            python.append(time.perf_counter() - begin)
    finally:
        plaq.capi._plaq_dirac_apply = hop
    assert len(c) == len(python)
    more = np.quantile(np.subtract(python, c), 0.1)
    assert more < 20e-6, f"{1e6 * more:.1f} us"


def test_modules_import_no_circle():
    folder = Path(plaq.__file__).parent
    names = {file.stem for file in folder.glob("*.py")} - {"__init__", "__main__"}

    def imported(module):
        """Modules of the package that a module imports outside of functions, also for annotations only."""
        found, left = set(), list(ast.parse((folder / f"{module}.py").read_text()).body)
        while left:
            node = left.pop()
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                found |= names & ({node.module} if node.module else {alias.name for alias in node.names})
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                left += ast.iter_child_nodes(node)
        return found

    left = {module: imported(module) for module in names}
    while left:
        free = [module for module, uses in left.items() if not uses & left.keys()]
        assert free, f"modules that import each other in a circle, or use such: {sorted(left)}"
        for module in free:
            del left[module]
