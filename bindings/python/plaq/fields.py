"""Quark fields: sources, columns, propagators."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, TypedDict, TypeVar, Union

import numpy as np

from . import capi
from ._arrays import TYPES, Borrowed, as_array, borrow, expect, on_host, room
from ._files import new_file
from ._objects import Context, Object, bits, current, in_steps, lattice, phases, sites, whole
from ._progress import Progress, watched
from ._signatures import checks_keywords, passes_on
from .gammas import gamma as gamma_matrices
from .gauge import Gauge, dtype_of, links, path_of
from .hadrons import two_point

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import _keywords
    from .analysis import Correlator

    class Form(TypedDict, total=False):
        """Keywords for new fields."""

        spins: int
        slices: int
        precision: Optional[str]
        context: Optional[Context]


Self = TypeVar("Self", bound="Fermion")

#: What a field knows of its source and its operator.
ORIGIN = capi.plaq_origin_report.names()

# ---- sources ----


@passes_on(capi.plaq_source_params, without=["kind", "position"])
def point(
    x: int = 0, y: int = 0, z: int = 0, t: int = 0, **more: "Unpack[_keywords.Source]"
) -> capi.plaq_source_params:
    """A point source, at one site. Members of capi.plaq_source_params by keyword, e.g. momentum, spin, colour."""
    return capi.plaq_source_params(kind="point", position=(x, y, z, t), **more)


def source_of(value: Any) -> Any:
    """Parameters of a source from an argument: parameters themselves, coordinates x, y, z, t of a point source, or
    None for a point source at the origin."""
    if isinstance(value, capi.plaq_source_params):
        return value
    return point(*lattice(value, "source")) if value is not None else point()


@passes_on(capi.plaq_source_params, without=["kind"])
def wall(t: int = 0, *, dilute: Union[None, int, str] = None, **more: "Unpack[_keywords.Source]") -> capi.plaq_source_params:
    """A source on a time slice (wall): momentum=[n_x, n_y, n_z, 0], noise="z2", "z4" or "normal" with a seed and
    dilute="spin,colour". Without noise it is meant for links in a fixed gauge."""
    return _noisy("wall", (0, 0, 0, t), dilute, {**more})


@passes_on(capi.plaq_source_params, without=["kind"])
def volume(*, dilute: Union[None, int, str] = None, **more: "Unpack[_keywords.Source]") -> capi.plaq_source_params:
    """A source on all sites, with the same keywords as a wall."""
    return _noisy("volume", (0, 0, 0, 0), dilute, {**more})


def _noisy(kind: str, position: Tuple[int, ...], dilute: Any, more: Dict[str, Any]) -> capi.plaq_source_params:
    if dilute is None:
        dilute = "spin,colour" if more.get("noise") else 0
    if isinstance(dilute, str):
        words = [word.strip() for word in dilute.split(",") if word.strip()]
        dilute = sum(int(capi.plaq_dilute.named(word)) for word in words)
    more.setdefault("position", position)
    return capi.plaq_source_params(kind=kind, dilute=dilute, **more)


# ---- fields ----


def coordinates(value: Optional[Sequence[Optional[int]]], name: str = "position") -> List[int]:
    """Coordinates x, y, z, t in the form of the library: -1 for unknown ones."""
    if value is None:
        return [-1] * 4
    found = [-1 if x is None else whole(x, name) for x in value]
    if len(found) != 4:
        raise ValueError(f"{name}: expected four numbers x, y, z, t, found {value}")
    return found


#: Boundary phases in units of pi: that in time, or those in x, y, z, t.
Boundary = Union[None, float, Sequence[float]]


def _phases(value: Boundary) -> Dict[str, Any]:
    """Boundary phases that an origin records."""
    if value is None:
        return {"boundary": float("nan"), "boundary_space": (float("nan"),) * 3}
    if np.ndim(value) == 0:
        return {"boundary": float(value)}  # type: ignore[arg-type]
    x, y, z, t = phases(value)  # type: ignore[arg-type]
    return {"boundary": t, "boundary_space": (x, y, z)}


def _known(position: Any, boundary: Boundary, normalisation: str, boundary_time: Union[str, int]) -> Dict[str, Any]:
    """The entries of an origin that are known."""
    said: Dict[str, Any] = {}
    if position is not None:
        said["position"] = coordinates(position)
    if boundary is not None:
        said.update(_phases(boundary))
    if normalisation:
        said["normalisation"] = normalisation
    if boundary_time:
        said["boundary_time"] = boundary_time
    return said



def _flowing(progress: Progress, title: str, params: Any) -> Any:
    """The callback of a flow, called with the number of steps done, the number of all steps, and seconds."""
    # Values out of range give 0 here, and are refused by the call.
    steps = math.ceil(params.time / params.step - 1e-9) if params.step > 0 and 0 < params.time < 1e6 else 0
    return watched(progress, title, lambda done, *_: (done, ""), steps)


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

    def _origin(self, **known: Any) -> capi.plaq_origin_params:
        """The library's record of the source, updated with the arguments."""
        report = capi.plaq_origin_report()
        capi.plaq_spinor_origin(self, report)
        return capi.plaq_origin_params(**{**{name: getattr(report, name) for name in ORIGIN}, **known})

    def _say_origin(self, **known: Any) -> None:
        capi.plaq_spinor_set_origin(self, self._origin(**known))

    @property
    def position(self) -> Optional[List[Optional[int]]]:
        """Coordinates x, y, z, t of the source, from which times and phases count; None if all or single ones are
        unknown. May be set."""
        found = [None if x < 0 else int(x) for x in self._origin().position]
        return None if found == [None] * 4 else found

    @position.setter
    def position(self, value: Optional[Sequence[Optional[int]]]) -> None:
        self._say_origin(position=coordinates(value))

    @property
    def boundary(self) -> Optional[float]:
        """The quarks' boundary phase in time in units of pi (1: antiperiodic); None if unknown. It may be set, also
        to a list of phases in x, y, z, t."""
        found = float(self._origin().boundary)
        return None if found != found else found

    @boundary.setter
    def boundary(self, value: Boundary) -> None:
        self._say_origin(**_phases(value))

    @property
    def phases(self) -> List[Optional[float]]:
        """The quarks' boundary phases in x, y, z, t in units of pi; unknown ones are None."""
        origin = self._origin()
        return [None if x != x else float(x) for x in (*origin.boundary_space, origin.boundary)]

    @property
    def normalisation(self) -> str:
        """The normalisation of a propagator: "mass" for the inverse of D, "kappa" for that of 2 kappa D, "" if
        unknown. It may be set."""
        found = int(self._origin().normalisation)
        return "" if found < 0 else capi.plaq_normalisation(found).name.lower()

    @normalisation.setter
    def normalisation(self, value: str) -> None:
        self._say_origin(normalisation=value or -1)

    @property
    def boundary_time(self) -> str:
        """Boundaries in time of the operator's links, which correlators know: "periodic", "open", "sf" or "open_sf"; "" if
        unknown. May be set."""
        found = int(self._origin().boundary_time)
        return capi.plaq_boundary_time(found).name.lower() if found else ""

    @boundary_time.setter
    def boundary_time(self, value: Union[str, int]) -> None:
        self._say_origin(boundary_time=value or 0)

    @property
    def kind(self) -> str:
        """Kind of the columns in contractions: "propagator", "sequential_source" through a sink, "sequential_propagator", its
        solution; "" if unknown. May be set."""
        found = int(self._origin().kind)
        return capi.plaq_line_kind(found).name.lower() if found else ""

    @kind.setter
    def kind(self, value: str) -> None:
        self._say_origin(kind=value or 0)

    def _kind_in_words(self) -> str:
        try:
            return f", {self.kind.replace('_', ' ')}" if self.kind.startswith("sequential") else ""
        except capi.InvalidHandle:
            return ""  # closed

    @classmethod
    def from_array(
        cls,
        array: Any,
        *,
        slices: Optional[int] = None,
        precision: Optional[str] = None,
        context: Optional[Context] = None,
    ) -> "Fermion":
        """Fields from an array (n, T, Z, Y, X, 4, 3) or, for one, (T, Z, Y, X, 4, 3), of complex128 or complex64; with
        slices=2 the flavours of a doublet, (n, 2, T, Z, Y, X, 4, 3); with even sites before odd ones
        (n, 2, T, Z, Y, X/2, 4, 3), which takes slices=1, or (n, 2, 2, T, Z, Y, X/2, 4, 3)."""
        context = current(context)
        found = borrow(array, "array", context.on_gpu)
        shape = found.shape
        if len(shape) == 8 and slices is None:
            raise ValueError(
                f"slices: expected 2 for an array of a doublet, (n, 2, T, Z, Y, X, 4, 3), or 1 for even sites before odd "
                f"ones, (n, 2, T, Z, Y, X/2, 4, 3), with the shape {shape}"
            )
        slices = slices or (2 if len(shape) == 9 else 1)
        inner = len(shape) - 6 - (slices - 1)  # 0: one column, 1: several, 2: of even and odd sites
        if (
            slices not in (1, 2)
            or inner not in (0, 1, 2)
            or shape[-1] != 3
            or shape[-2] not in (1, 4)
            or any(extent != 2 for extent in shape[min(inner, 1) : -6])
        ):
            flavours = "2, " * (slices - 1)
            raise ValueError(
                f"array: expected shape (n, {flavours}T, Z, Y, X, 4, 3) or (n, {flavours}2, T, Z, Y, X/2, 4, 3), "
                f"found {shape}"
            )
        if inner == 0:
            found = found._replace(shape=(1, *shape))
        extents = list(reversed(shape[-6:-2]))
        extents[0] *= max(inner, 1)
        field = cls(
            extents,
            found.shape[0],
            spins=shape[-2],
            slices=slices,
            precision=precision or TYPES[found.dtype],
            context=context,
        )
        field._take(found)
        return field

    @classmethod
    @passes_on(__init__)
    def source(cls, like: Any, source: Any = None, **more: "Unpack[Form]") -> "Fermion":
        """A field with the columns of a source (plaq.point, plaq.wall, plaq.volume) on the lattice of `like`, e.g.
        to smear them."""
        params = source_of(source)
        field = cls(like, capi.plaq_source_columns(params), **more)
        capi.plaq_spinor_source(field, params)
        return field

    @classmethod
    @passes_on(__init__)
    def noise(
        cls, like: Any, n: int = 1, *, kind: str = "z4", seed: int = 0, first: int = 0, **more: "Unpack[Form]"
    ) -> "Fermion":
        """Independent random numbers with average |c|^2 = 1: "z2", "z4" or "normal"; of four spins."""
        if more.get("spins", 4) != 4:
            raise ValueError(f"spins: expected 4, as there is no noise for colour vectors, found {more['spins']}")
        field = cls(like, n, **more)
        capi.plaq_spinor_noise(field, kind, seed, first)
        return field

    def _shape(self, even_odd: bool = False) -> Tuple[int, ...]:
        t, z, y, x = sites(self.extents)
        slices = (self.slices,) if self.slices > 1 else ()
        return (self.n, *slices, *((2, t, z, y, x // 2) if even_odd else (t, z, y, x)), self.spins, 3)

    def set(self, array: Any) -> None:
        """Replaces the field's numbers by those of an array of its shape."""
        self._take(borrow(array, "array", self.context.on_gpu))

    def _take(self, found: Borrowed) -> None:
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
        """The array of lexico()."""
        return self.lexico()

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        return as_array(self.lexico(), dtype, copy)

    def _like(self, n: Optional[int] = None) -> "Fermion":
        return Fermion(
            self.extents,
            n or self.n,
            spins=self.spins,
            slices=self.slices,
            precision=self.precision,
            context=self.context,
        )

    def copy(self: Self) -> Self:
        """A copy of the field."""
        other = self._like()
        capi.plaq_spinor_copy(self, other)
        return self._as(other)

    def _as(self: Self, other: "Fermion") -> Self:
        return other  # type: ignore[return-value]

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
        """Sets self = a x + b self."""
        capi.plaq_spinor_axpby(np.full(self.n, a, complex), x, np.full(self.n, b, complex), self, self.n)

    def smear(
        self: Self,
        gauge: Gauge,
        alpha: Optional[float] = None,
        steps: Optional[int] = None,
        directions: Any = "xyz",
        momentum: Sequence[float] = (0, 0, 0),
        width: float = 0.0,
    ) -> Self:
        """Gaussian (Wuppertal) smearing with the links of `gauge`: [(1 + alpha H) / (1 + 6 alpha)]^steps. Momentum smearing has
        the links U_j exp(2 pi i momentum_j / L_j): for a meson with sink phase exp(-i p x), p_j = 2 pi n_j / L_j, smear the quark
        with momentum = -zeta n, zeta about 1/2, and the antiquark with +zeta n. With `width` w in place of alpha and steps: sum_r
        exp(-r^2 / (2 w^2) + 2 pi i momentum r / L) psi(x + r) without links, normalised to 1 at momentum 0; this is not
        covariant, so that `gauge` must be in Coulomb gauge."""
        if alpha is None and not width:
            raise ValueError("alpha: expected the weight of smearing by steps, or a width, found neither")
        if alpha is not None and steps is None:
            raise ValueError("steps: expected the number of steps with the weight alpha, found none")
        other = self.copy()
        params = capi.plaq_spinor_smear_params(
            steps=steps or 0, directions=bits(directions), momentum=tuple(momentum), width=width
        )
        if alpha is not None:
            params.alpha = alpha
        in_steps(lambda: capi.plaq_spinor_smear(other, gauge, params), params)
        return other

    def shift(self, gauge: Gauge, path: Union[str, Sequence[int]]) -> "Fermion":
        """The covariant shift along a path of steps, 0 to 3 forward in x, y, z, t and 7 to 4 back, or text: "x y -t"; one
        step forward is U_mu(n) psi(n + mu)."""
        other, steps = self._like(), path_of(path, "path")
        if not steps:
            raise ValueError(f"path: expected one step or more, found {path!r}")
        capi.plaq_spinor_shift(other, gauge, steps, len(steps), self)
        return other

    def flow(
        self: Self,
        gauge: Gauge,
        time: float,
        *,
        kind: str = "wilson",
        step: float = 0.01,
        boundary: Union[str, Sequence[float]] = (0, 0, 0, 1),
        progress: Progress = None,
    ) -> Tuple[Self, Gauge]:
        """The gradient flow of quark fields to the flow time t / a^2 = `time` by steps of `step`, with the links of
        `gauge` at time 0: the flowed columns and the flowed links; kind "wilson", "symanzik" or "zeuthen".
        `boundary`: phases in x, y, z, t in units of pi; a propagator has those of its operator. progress=True draws
        a bar; a function is called with the number of steps done, the number of all steps, and seconds."""
        links(gauge)
        other, flowed = self.copy(), gauge.copy()
        params = capi.plaq_spinor_flow_params(kind=kind, step=step, time=time, boundary=phases(boundary))
        with _flowing(progress, "flow", params) as callback:
            capi.plaq_spinor_flow(other, flowed, flowed, params, callback, capi.plaq_spinor_flow_report())
        return other, flowed

    def adjoint_flow(
        self: Self,
        gauge: Gauge,
        time: float,
        *,
        kind: str = "wilson",
        step: float = 0.01,
        boundary: Union[str, Sequence[float]] = (0, 0, 0, 1),
        checkpoints: int = -1,
        progress: Progress = None,
    ) -> Self:
        """Applies K^dagger, the adjoint of the flow K from the links of `gauge` to `time`: columns at that flow time
        become columns at flow time 0, with (K^dagger phi).dot(chi) == phi.dot(K chi). `checkpoints` is the number of
        intermediate links that are kept, -1 for as many as fit into half of the free memory; other arguments are as
        for flow."""
        other = self.copy()
        params = capi.plaq_spinor_flow_params(
            kind=kind, step=step, time=time, boundary=phases(boundary), checkpoints=checkpoints
        )
        with _flowing(progress, "adjoint flow", params) as callback:
            capi.plaq_spinor_flow_adjoint(other, gauge, params, callback, capi.plaq_spinor_flow_report())
        return other

    def sequential(self, time: int = -1, gamma: Any = 15, momentum: Sequence[int] = (0, 0, 0)) -> "Fermion":
        """The source delta(t, time) exp(i p (x - x0)) Gamma self(x) of a second solve, with the time counted from the source; -1: all
        times. A Gamma by number or name; of other matrices and with a line of links: structure.through_operator."""
        other = self._like()
        params = capi.plaq_sequential_params(time=time, gamma=gamma_matrices.number(gamma), momentum=tuple(momentum))
        capi.plaq_spinor_sequential(self, other, params)
        return other

    def __repr__(self) -> str:
        size = "x".join(map(str, self.extents))
        flavours = f"{self.slices} flavours, " if self.slices > 1 else ""
        return self._say(f"{self.n} columns of {self.spins} x 3, {flavours}{size}, {self.precision} precision{self._kind_in_words()}")


class Propagator(Fermion):
    """S(x, source): twelve columns 3 spin + colour of the source; as an array (T, Z, Y, X, 4, 4, 3, 3) with sink
    spin, source spin, sink colour, source colour. `report` is the report of the solve."""

    @passes_on(Fermion.__init__)
    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        if (self.n, self.spins) != (12, 4):
            raise ValueError(f"a propagator has twelve columns of four spins, found {self.n} of {self.spins}")
        self.report: Any = None
        #: Largest |b - M x| / |b| of each column.
        self.residuals: Any = None
        #: The operator whose inverse it is; "" if unknown.
        self.of = ""

    @classmethod
    def from_array(  # type: ignore[override]
        cls,
        array: Any,
        *,
        position: Optional[Sequence[Optional[int]]] = None,
        boundary: Boundary = None,
        normalisation: str = "",
        boundary_time: Union[str, int] = "",
        precision: Optional[str] = None,
        context: Optional[Context] = None,
    ) -> "Propagator":
        """A propagator from an array (T, Z, Y, X, 4, 4, 3, 3) in memory of the host. `position`: coordinates x, y, z, t of
        its source, without which there are no correlators; `boundary`: the quarks' phase in time in units of pi (1,
        antiperiodic, where it is not said), or those in x, y, z, t; `normalisation`: "mass" or "kappa"; `boundary_time`:
        boundaries of the links, as U.boundary_time."""
        context = current(context)
        found = on_host(array, "array")
        if found.ndim != 8 or found.shape[4:] != (4, 4, 3, 3):
            raise ValueError(f"array: expected shape (T, Z, Y, X, 4, 4, 3, 3), found {found.shape}")
        columns = found.transpose(5, 7, 0, 1, 2, 3, 4, 6).reshape(12, *found.shape[:4], 4, 3)
        made: Any = super().from_array(columns, precision=precision, context=context)
        made._say_origin(**_known(position, boundary, normalisation, boundary_time))
        return made

    @classmethod
    @passes_on(capi.plaq_spinor_read_params)
    def open(
        cls,
        file: Any,
        *,
        position: Optional[Sequence[Optional[int]]] = None,
        boundary: Boundary = None,
        normalisation: str = "",
        boundary_time: Union[str, int] = "",
        context: Optional[Context] = None,
        **params: "Unpack[_keywords.SpinorRead]",
    ) -> "Propagator":
        """Reads a SciDAC file of any kind, as Chroma and MILC write them. Position of the source, boundary phase,
        normalisation and boundaries in time come from the file's records, or the position from its sources; if the
        file lacks them, they can be given like those of from_array; `boundary_time` must be that of the file if this has
        it."""
        context = current(context)
        handle = capi.plaq_spinor_read(context, file, capi.plaq_spinor_read_params(**params))
        made = cls(None, context=context, _handle=handle)
        if made.boundary_time and boundary_time:
            kind = capi.plaq_boundary_time
            stated = kind.named(boundary_time).name.lower()
            if stated != made.boundary_time:
                raise ValueError(f"boundary_time: expected {made.boundary_time}, which {file} names, found {stated}")
        made._say_origin(**_known(position, boundary, normalisation, boundary_time))
        return made

    @passes_on(capi.plaq_spinor_write_params)
    def write(
        self,
        file: Any,
        *,
        sources: Optional[Fermion] = None,
        overwrite: bool = False,
        **params: "Unpack[_keywords.SpinorWrite]",
    ) -> None:
        """Writes a SciDAC file, which keeps position of the source, boundary phase, normalisation and boundaries in time; members of
        capi.plaq_spinor_write_params by keyword: kind, precision, info. A file that exists is refused unless
        overwrite=True replaces it."""
        new_file(file, overwrite)
        params.setdefault("info", self.of or None)
        capi.plaq_spinor_write(self, sources, file, capi.plaq_spinor_write_params(**params))

    def _as(self, other: Fermion) -> "Propagator":  # type: ignore[override]
        return self._of(other, self)

    @classmethod
    def _of(cls, field: Fermion, like: Any) -> "Propagator":
        """The field as a propagator."""
        handle, context = field.handle, field.context
        field._end.detach()
        made = cls(None, context=context, _handle=handle)
        if isinstance(like, Propagator):
            made.report, made.residuals, made.of = like.report, like.residuals, like.of
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

    def pion(self) -> Correlator:
        """The pion's correlator at rest, the sum over x of tr S S^dagger as a function of the time from the source:
        a plaq.Correlator."""
        return two_point(self, "pion")

    def rho(self) -> Correlator:
        """The correlator of the vector meson at rest, averaged over x, y, z: a plaq.Correlator."""
        return two_point(self, "rho")

    def nucleon(self) -> Correlator:
        """The correlator of the nucleon of positive parity at rest: a plaq.Correlator."""
        return two_point(self, "nucleon")

    def __repr__(self) -> str:
        size = "x".join(map(str, self.extents))
        of = f" of {self.of}" if self.of else ""
        try:
            source = f", source at {self.position}" if self.position else ", source unknown"
        except capi.InvalidHandle:
            source = ""  # closed
        return self._say(f"{size}, {self.precision} precision{source}{self._kind_in_words()}{of}")


checks_keywords(globals())
