"""Quark fields: sources, columns, propagators."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import capi
from ._arrays import TYPES, borrow, expect, on_host, room
from ._objects import Context, Object, bits, current, lattice, sites
from .gammas import gamma as gamma_matrices
from .gauge import Gauge, dtype_of
from .hadrons import two_point

# ---- sources ----


def point(x: int = 0, y: int = 0, z: int = 0, t: int = 0, **more: Any) -> capi.plaq_source_params:
    """A point source; members of capi.plaq_source_params by keyword, e.g. momentum, spin, colour."""
    return capi.plaq_source_params(kind="point", position=(x, y, z, t), **more)


def source_of(value: Any) -> Any:
    """Parameters of a source: as they are, those of a point at coordinates x, y, z, t, for None at the origin."""
    if isinstance(value, capi.plaq_source_params):
        return value
    return point(*lattice(value, "source")) if value is not None else point()


def wall(t: int = 0, **more: Any) -> capi.plaq_source_params:
    """A time slice: momentum=[n_x, n_y, n_z, 0], noise="z2", "z4" or "normal" with a seed and dilute="spin,colour".
    Without noise it is meant for links in a fixed gauge."""
    return _noisy("wall", (0, 0, 0, t), more)


def volume(**more: Any) -> capi.plaq_source_params:
    """All sites, with the same keywords as a wall."""
    return _noisy("volume", (0, 0, 0, 0), more)


def _noisy(kind: str, position: Tuple[int, ...], more: Dict[str, Any]) -> capi.plaq_source_params:
    dilute = more.pop("dilute", "spin,colour" if more.get("noise") else 0)
    if isinstance(dilute, str):
        words = [word.strip() for word in dilute.split(",") if word.strip()]
        dilute = sum(int(capi.plaq_dilute.named(word)) for word in words)
    more.setdefault("position", position)
    return capi.plaq_source_params(kind=kind, dilute=dilute, **more)


# ---- fields ----


class Fermion(Object):
    """Quark fields: n columns of 4 spins and 3 colours on every site, arrays (n, T, Z, Y, X, 4, 3); with spins=1 colour
    vectors, (n, T, Z, Y, X, 1, 3); with slices=2 the two flavours of a doublet, (n, 2, T, Z, Y, X, 4, 3).
    Fermion(U, n) is zero."""

    def __init__(
        self,
        like: Any,
        n: int = 1,
        *,
        spins: int = 4,
        slices: int = 1,
        precision: Optional[str] = None,
        context: Optional[Context] = None,
        _handle: Any = None,
    ) -> None:
        if context is None:
            context = like.context if isinstance(like, Object) else current()
        made = _handle
        if made is None:
            extents = like.extents if isinstance(like, (Gauge, Fermion)) else lattice(like)
            precision = precision or getattr(like, "precision", "double")
            params = capi.plaq_spinor_params(extents=extents, precision=precision, nrhs=n, spins=spins, slices=slices)
            made = capi.plaq_spinor_create(context, params)
        super().__init__(made, context)
        report = capi.plaq_spinor_report()
        capi.plaq_spinor_describe(self, report)
        self.extents: List[int] = list(report.extents)
        self.n, self.spins, self.slices = report.nrhs, report.spins, report.slices
        self.subset = report.subset
        self.precision = capi.plaq_precision(report.precision).name.lower()
        #: Coordinates x, y, z, t that times and phases count from, and the boundary phase in time in units of pi.
        self.position: List[int] = [0, 0, 0, 0]
        self.boundary = 1.0

    @classmethod
    def from_array(cls, array: Any, *, precision: Optional[str] = None, context: Optional[Context] = None) -> "Fermion":
        """Fields from an array (n, T, Z, Y, X, 4, 3), (n, 2, T, Z, Y, X/2, 4, 3) or, for one, (T, Z, Y, X, 4, 3), of
        complex128 or complex64."""
        context = current(context)
        if len(getattr(array, "shape", ())) == 6:
            array = array[None]
        found = borrow(array, "array", context.on_gpu)
        shape = found.shape
        if len(shape) not in (7, 8) or shape[-1] != 3 or shape[-2] not in (1, 4) or (len(shape) == 8 and shape[1] != 2):
            raise ValueError(
                f"array: expected shape (n, T, Z, Y, X, 4, 3) or (n, 2, T, Z, Y, X/2, 4, 3), found {shape}"
            )
        extents = list(reversed(shape[-6:-2]))
        extents[0] *= len(shape) - 6
        field = cls(extents, shape[0], spins=shape[-2], precision=precision or TYPES[found.dtype], context=context)
        field.set(array)
        return field

    @classmethod
    def source(cls, like: Any, source: Any = None, **more: Any) -> "Fermion":
        """The columns of a source (plaq.point, plaq.wall, plaq.volume) on the lattice of `like`, e.g. to smear them."""
        params = source_of(source)
        field = cls(like, capi.plaq_source_columns(params), **more)
        capi.plaq_spinor_source(field, params)
        field.position = list(params.position)
        return field

    @classmethod
    def noise(cls, like: Any, n: int = 1, *, kind: str = "z4", seed: int = 0, first: int = 0, **more: Any) -> "Fermion":
        """Independent random numbers with average |c|^2 = 1: "z2", "z4" or "normal"."""
        field = cls(like, n, **more)
        capi.plaq_spinor_noise(field, kind, seed, first)
        return field

    def _shape(self, even_odd: bool = False) -> Tuple[int, ...]:
        t, z, y, x = sites(self.extents)
        slices = (self.slices,) if self.slices > 1 else ()
        return (self.n, *slices, *((2, t, z, y, x // 2) if even_odd else (t, z, y, x)), self.spins, 3)

    def set(self, array: Any) -> None:
        """Takes numbers from an array of this field's shape."""
        found = borrow(array, "array", self.context.on_gpu)
        even_odd = len(found.shape) == len(self._shape(True))
        labels = ("n, flavours, " if self.slices > 1 else "n, ") + ("2, T, Z, Y, X/2" if even_odd else "T, Z, Y, X")
        labels += ", spins, 3"
        expect(found.shape, self._shape(even_odd), labels, "array")
        capi.plaq_spinor_load(self, found.layout("milc" if even_odd else "lexicographic"), found.address)

    def columns(self, dtype: Any = None) -> np.ndarray:
        """The columns as a new array (n, T, Z, Y, X, 4, 3)."""
        dtype = dtype or dtype_of(self.precision)
        to, array = room(None, self._shape(), dtype)
        capi.plaq_spinor_save(self, to.layout("lexicographic"), to.address)
        return array

    def lexico(self) -> np.ndarray:
        """A new array (n, T, Z, Y, X, 4, 3)."""
        return self.columns()

    def evenodd(self) -> np.ndarray:
        """A new array (n, 2, T, Z, Y, X/2, 4, 3): sites with even x + y + z + t, then odd ones."""
        to, array = room(None, self._shape(True), dtype_of(self.precision))
        capi.plaq_spinor_save(self, to.layout("milc"), to.address)
        return array

    def numpy(self) -> np.ndarray:
        """As lexico()."""
        return self.lexico()

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        array = self.lexico()
        return array if dtype is None else array.astype(dtype)

    def _like(self, n: Optional[int] = None) -> "Fermion":
        field = Fermion(
            self.extents,
            n or self.n,
            spins=self.spins,
            slices=self.slices,
            precision=self.precision,
            context=self.context,
        )
        field.position, field.boundary = list(self.position), self.boundary
        return field

    def copy(self) -> Any:
        """The same numbers in another field."""
        other = self._like()
        capi.plaq_spinor_copy(self, other)
        return self._as(other)

    def _as(self, other: "Fermion") -> Any:
        return other

    def norm2(self) -> np.ndarray:
        """Sum of |psi|^2 of every column."""
        norms = np.empty(self.n)
        capi.plaq_spinor_norm2(self, norms, self.n)
        return norms

    def dot(self, other: "Fermion") -> np.ndarray:
        """Sum of conj(self) other of every column."""
        products = np.empty(self.n, complex)
        capi.plaq_spinor_dot(self, other, products, self.n)
        return products

    def add(self, x: "Fermion", a: complex = 1, b: complex = 1) -> None:
        """self = a x + b self."""
        capi.plaq_spinor_axpby(np.full(self.n, a, complex), x, np.full(self.n, b, complex), self, self.n)

    def smear(self, gauge: Gauge, alpha: float, steps: int, directions: Any = "xyz") -> Any:
        """Gaussian (Wuppertal) smearing with the links of `gauge`: [(1 + alpha H) / (1 + 6 alpha)]^steps."""
        other = self.copy()
        params = capi.plaq_spinor_smear_params(alpha=alpha, steps=steps, directions=bits(directions))
        capi.plaq_spinor_smear(other, gauge, params)
        return other

    def shift(self, gauge: Gauge, path: Sequence[int]) -> "Fermion":
        """The covariant shift along a path of steps, 0 to 3 forward in x, y, z, t and 7 to 4 back; one step forward is
        U_mu(n) psi(n + mu)."""
        other = self._like()
        capi.plaq_spinor_shift(other, gauge, list(path), len(path), self)
        return other

    def sequential(self, time: int = -1, gamma: Any = 15, momentum: Sequence[int] = (0, 0, 0)) -> "Fermion":
        """The source delta(t, time) exp(i p (x - x0)) Gamma self(x) of a second solve; time -1: all times."""
        other = self._like()
        params = capi.plaq_sequential_params(
            time=time, gamma=gamma_matrices.number(gamma), momentum=tuple(momentum), origin=tuple(self.position[:3])
        )
        capi.plaq_spinor_sequential(self, other, params)
        return other

    def __repr__(self) -> str:
        size = "x".join(map(str, self.extents))
        flavours = f"{self.slices} flavours, " if self.slices > 1 else ""
        return self._say(f"{self.n} columns of {self.spins} x 3, {flavours}{size}, {self.precision} precision")


class Propagator(Fermion):
    """S(x, source): twelve columns 3 spin + colour of the source; as an array (T, Z, Y, X, 4, 4, 3, 3) with sink spin,
    source spin, sink colour, source colour. `report` has the solve."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        if (self.n, self.spins) != (12, 4):
            raise ValueError(f"a propagator has twelve columns of four spins, found {self.n} of {self.spins}")
        self.report: Any = None
        #: Largest |b - M x| / |b| of each column.
        self.residuals: Any = None
        #: The operator whose inverse it is, and its normalisation: "mass", D, or "kappa", 2 kappa D; "" if unknown.
        self.of = self.normalisation = ""

    @classmethod
    def from_array(cls, array: Any, *, precision: Optional[str] = None, context: Optional[Context] = None) -> Any:
        """A propagator from an array (T, Z, Y, X, 4, 4, 3, 3) in memory of the host."""
        context = current(context)
        found = on_host(array, "array")
        if found.ndim != 8 or found.shape[4:] != (4, 4, 3, 3):
            raise ValueError(f"array: expected shape (T, Z, Y, X, 4, 4, 3, 3), found {found.shape}")
        columns = found.transpose(5, 7, 0, 1, 2, 3, 4, 6).reshape(12, *found.shape[:4], 4, 3)
        return super().from_array(columns, precision=precision, context=context)

    @classmethod
    def open(cls, path: Any, *, context: Optional[Context] = None, **params: Any) -> "Propagator":
        """Reads a SciDAC file of any kind, as Chroma and MILC write them."""
        context = current(context)
        handle = capi.plaq_propagator_read_file(context, path, capi.plaq_propagator_read_params(**params))
        return cls(None, context=context, _handle=handle)

    def write(self, path: Any, *, sources: Optional[Fermion] = None, **params: Any) -> None:
        """Writes a SciDAC file; members of capi.plaq_propagator_write_params by keyword: kind, precision, info."""
        params.setdefault("info", self.of or None)
        capi.plaq_propagator_write_file(self, sources, path, capi.plaq_propagator_write_params(**params))

    def _as(self, other: Fermion) -> "Propagator":
        return self._of(other, self)

    @classmethod
    def _of(cls, field: Fermion, like: Any) -> "Propagator":
        """The field as a propagator."""
        handle, context = field.handle, field.context
        field._end.detach()
        made = cls(None, context=context, _handle=handle)
        made.position, made.boundary = list(like.position), like.boundary
        if isinstance(like, Propagator):
            made.report, made.residuals = like.report, like.residuals
            made.of, made.normalisation = like.of, like.normalisation
        return made

    def lexico(self) -> np.ndarray:
        """A new array (T, Z, Y, X, 4, 4, 3, 3): sink spin, source spin, sink colour, source colour."""
        columns = self.columns()
        array = columns.reshape(4, 3, *columns.shape[1:]).transpose(2, 3, 4, 5, 6, 0, 7, 1)
        return np.ascontiguousarray(array)

    def evenodd(self) -> np.ndarray:
        """A new array (2, T, Z, Y, X/2, 4, 4, 3, 3): sites with even x + y + z + t, then odd ones."""
        columns = super().evenodd()
        array = columns.reshape(4, 3, *columns.shape[1:]).transpose(2, 3, 4, 5, 6, 7, 0, 8, 1)
        return np.ascontiguousarray(array)

    def pion(self) -> Any:
        """Sum over x of tr S S^dagger at rest over the time from the source, a plaq.Correlator."""
        return two_point(self, "pion")

    def rho(self) -> Any:
        """The vector meson at rest, average over x, y, z, a plaq.Correlator."""
        return two_point(self, "rho")

    def nucleon(self) -> Any:
        """The nucleon of positive parity at rest, a plaq.Correlator."""
        return two_point(self, "nucleon")

    def __repr__(self) -> str:
        size = "x".join(map(str, self.extents))
        of = f" of {self.of}" if self.of else ""
        return self._say(f"{size}, {self.precision} precision, source at {self.position}{of}")
