"""Base of all objects of the package: a handle that lives as long as the object does, and the context that it
belongs to."""

from __future__ import annotations

import logging
import time
import weakref
from typing import Any, Callable, List, Optional, Sequence, Tuple, TypeVar, Union

import numpy as np

from . import _native, capi
from ._signatures import checks_keywords, passes_on

Self = TypeVar("Self", bound="Object")
_late: List[Tuple[Any, Any]] = []  # objects that were in use when they were to be destroyed


def _destroy(function: Any, handle: Any) -> None:
    if function(handle) == capi.Busy.status:
        _late.append((function, handle))


def _destroy_late() -> None:
    waiting, _late[:] = list(_late), []
    for function, handle in waiting:
        _destroy(function, handle)


class Object:
    """An object of the library. It is destroyed by close(), at the end of a `with`, or when nothing refers to it."""

    def __init__(self, handle: Any, context: Optional["Context"]) -> None:
        _destroy_late()
        self._handle = handle
        self._context = context
        function = getattr(_native.library, f"{type(handle).__name__}_destroy")
        self._end = weakref.finalize(self, _destroy, function, handle)

    @property
    def handle(self) -> Any:
        """The handle for plaq.capi."""
        if not self._end.alive:
            raise capi.InvalidHandle(f"this {type(self).__name__} was closed")
        if self._context is not None and not self._context._end.alive:
            raise capi.InvalidHandle(f"the context of this {type(self).__name__} was closed")
        return self._handle

    @property
    def context(self) -> "Context":
        """The context whose device holds the object."""
        assert self._context is not None
        return self._context

    def close(self) -> None:
        """Gives the memory of the device back."""
        self._end()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(
            f"a {type(self).__name__} lives in the library's memory and cannot be pickled or copied: "
            "pickle an array of it, or write it to a file"
        )

    def _say(self, text: str) -> str:
        return f"<{type(self).__name__} {text}{'' if self._end.alive else ', closed'}>"


class Context(Object):
    """A device with its memory and threads, and the ranks that share a lattice."""

    @passes_on(capi.plaq_context_params)
    def __init__(
        self,
        device: str = "auto",
        *,
        threads: int = 0,
        comm: Any = None,
        grid: Optional[Sequence[int]] = None,
        **more: Any,
    ) -> None:
        """`comm`: of mpi4py, with the process `grid` [x, y, z, t]."""
        params = capi.plaq_context_params(device=device, threads=threads, **more)
        if grid is not None:
            params.grid = grid
        if comm is not None:
            # mpi4py's communicators tell the address of their MPI_Comm.
            from mpi4py import MPI

            params.communicator_kind = "c"
            params.communicator = MPI._addressof(comm)
        self._comm = comm
        super().__init__(capi.plaq_context_create(params), None)
        self.name = capi.plaq_context_name(self)
        report = self.report()
        self.on_gpu = report.device == capi.plaq_device.CUDA
        self.grid, self.coords = list(report.grid), list(report.coords)
        self.ranks, self.rank = report.ranks, report.rank

    @property
    def context(self) -> "Context":
        return self

    def report(self) -> capi.plaq_context_report:
        """Device, memory in bytes, ranks."""
        report = capi.plaq_context_report()
        capi.plaq_context_describe(self, report)
        return report

    def synchronize(self) -> None:
        """Waits until everything asked of the device is done."""
        capi.plaq_context_synchronize(self)

    def gather(self, array: np.ndarray, first: Optional[int] = None) -> Any:
        """Joins every rank's part of an array; returns the array of the whole lattice on rank 0, None on others. Axes `first` to
        `first` + 3 are t, z, y, x: by default those before the spins and colours of a spinor, propagator or link; for other arrays
        `first` must be given."""
        if self.ranks == 1:
            return array
        if first is None:
            sites = [np.ndim(array) - len(end) - 4 for end in _ENDS if np.shape(array)[-len(end) :] == end]
            if not sites or sites[0] < 0:
                raise ValueError(f"first: expected the axis of t in an array of shape {np.shape(array)}, found none")
            first = sites[0]
        parts = self._comm.gather((self.coords, array))
        if parts is None:
            return None
        shape = list(array.shape)
        local = shape[first : first + 4]
        shape[first : first + 4] = [n * g for n, g in zip(local, reversed(self.grid))]
        whole = np.empty(shape, array.dtype)
        for coords, part in parts:
            places = tuple(slice(c * n, (c + 1) * n) for c, n in zip(reversed(coords), local))
            whole[(slice(None),) * first + places] = part
        return whole

    def __repr__(self) -> str:
        ranks = f", {self.ranks} ranks {self.grid}" if self.ranks > 1 else ""
        return self._say(f"{self.name}{ranks}")


#: Last axes of arrays of propagators, spinors, colour vectors and links.
_ENDS = ((4, 4, 3, 3), (4, 3), (1, 3), (3, 3))

_default: Optional[Context] = None


@passes_on(Context.__init__)
def init(device: str = "auto", **more: Any) -> Context:
    """Creates the default context of all objects: `device` "auto" (a GPU where there is one), "cpu" or "cuda",
    `threads` of the CPU, `comm` of mpi4py and the process `grid` [x, y, z, t]; the other members of
    capi.plaq_context_params by keyword. Without a call of init it is created with the defaults when it is first
    needed."""
    global _default
    _default = Context(device, **more)
    return _default


def current(context: Optional[Context] = None) -> Context:
    if context is not None:
        return context
    if _default is None or not _default._end.alive:
        return init()
    return _default


_LEVELS = {0: 100, 1: logging.ERROR, 2: logging.WARNING, 3: logging.INFO, 4: logging.DEBUG, 5: 5}


def log(level: str = "info") -> None:
    """Sends the library's log up to `level` (off, error, warn, info, debug, trace) to the logger "plaq"."""
    number = capi.plaq_log_level.named(level)
    logger = logging.getLogger("plaq")

    def write(of: int, message: str) -> None:
        logger.log(_LEVELS.get(of, logging.INFO), "%s", message)

    capi.plaq_log_set(write if number else None, number)


def sites(extents: Sequence[int]) -> Tuple[int, ...]:
    """The shape (T, Z, Y, X) of an array over the sites of a lattice with extents [x, y, z, t]."""
    return tuple(reversed(list(extents)))


def whole(value: Any, name: str) -> int:
    """Converts a value to a whole number; 4.0 is one, 4.5 is refused."""
    return _native.int32(value, name)


def integers(values: Any, name: str) -> np.ndarray:
    """Converts values to an array of whole numbers; values that are not whole are refused, not rounded."""
    found = np.asarray(values)
    if found.dtype.kind not in "iuf" or not (found == np.rint(found)).all():
        raise TypeError(f"{name}: expected whole numbers, found {values!r:.80}")
    if not ((found > -(2**31)) & (found < 2**31)).all():
        raise OverflowError(f"{name}: expected whole numbers of 32 bits, found {values!r:.80}")
    return found.astype(np.int32)


def lattice(extents: Sequence[int], name: str = "extents") -> List[int]:
    found = [whole(extent, name) for extent in extents]
    if len(found) != 4:
        raise ValueError(f"{name}: expected four numbers x, y, z, t, found {found}")
    return found


def in_steps(call: Callable[[], None], params: Any) -> None:
    """Makes a call of params.steps equal steps in parts of about a quarter of a second, between which Python handles
    signals."""
    left, part = params.steps, 1
    params.steps = min(left, part)
    while True:
        start = time.monotonic()
        call()
        seconds = time.monotonic() - start
        left -= params.steps
        if left <= 0:
            return
        part = part * 2 if seconds < 0.12 else max(1, part // 2) if seconds > 0.5 else part
        params.steps = min(left, part)


def bits(value: Any) -> int:
    """The bits of directions (bit mu for direction mu), from a number or from letters of x, y, z, t."""
    if isinstance(value, str):
        if not value or set(value) - set("xyzt"):
            raise ValueError(f"directions: expected letters of x, y, z, t, found {value!r}")
        return sum(1 << "xyzt".index(letter) for letter in set(value))
    return whole(value, "directions")


def axis(value: Union[int, str]) -> int:
    """The number of a direction, from 0 to 3 or a letter of xyzt."""
    letter = value.lower() if isinstance(value, str) else ""
    if isinstance(value, str) and letter not in tuple("xyzt"):
        raise ValueError(f"direction: expected 0 to 3 or a letter of xyzt, found {value!r}")
    return "xyzt".index(letter) if letter else whole(value, "direction")


def phases(boundary: Union[None, str, Sequence[float]]) -> Tuple[float, ...]:
    """Boundary phases in x, y, z, t in units of pi, from four numbers or a word; by default antiperiodic in time."""
    known = {"periodic": (0.0, 0.0, 0.0, 0.0), "antiperiodic": (0.0, 0.0, 0.0, 1.0)}
    if boundary is None:
        return known["antiperiodic"]
    if isinstance(boundary, str) and boundary.lower() in known:
        return known[boundary.lower()]
    expected = 'four numbers in units of pi, "periodic" or "antiperiodic"'
    if isinstance(boundary, str):
        raise ValueError(f"boundary: expected {expected}, found {boundary!r}")
    try:
        found = tuple(float(angle) for angle in boundary)
    except TypeError:
        raise TypeError(f"boundary: expected {expected}, found {boundary!r}") from None
    if len(found) != 4:
        raise ValueError(f"boundary: expected {expected}, found {boundary!r}")
    return found


checks_keywords(globals())
