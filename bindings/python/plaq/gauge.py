"""Links: configurations in files and arrays, observables, smearing, gradient flow, gauge fixing, heat bath."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, TypedDict, Union

import numpy as np

from . import capi
from ._arrays import TYPES, as_array, borrow, expect
from ._files import new_file
from ._objects import Context, Object, axis, bits, current, in_steps, lattice, sites, whole
from ._progress import Progress, watched
from ._signatures import checks_keywords, passes_on

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import _keywords

    class Form(TypedDict, total=False):
        """Keywords for new links."""

        precision: str
        colours: int
        boundary_time: Union[str, int]
        phi: Sequence[float]
        phi_prime: Sequence[float]
        context: Optional[Context]


LABELS = "4, T, Z, Y, X, N, N"
#: Angles that are not set.
UNSET = (float("nan"),) * 3


def dtype_of(precision: str) -> np.dtype:
    """The NumPy type of arrays that a field of this precision is saved to."""
    return np.dtype(np.complex128 if precision == "double" else np.complex64)


class Plaquette(NamedTuple):
    """Average plaquettes Re tr U_munu / N, 1 for unit links, and the average link Re tr U / N."""

    total: float
    spatial: float
    temporal: float
    link_trace: float


class Topology(NamedTuple):
    """Topological charge and action densities 1/2 sum tr F F per site, planes without and with t, from clover leaves."""

    charge: float
    energy_spatial: float
    energy_temporal: float


class TimeSlices(NamedTuple):
    """Sums over every time slice of the whole lattice: E = 2 sum Re tr (1 - P) of plaquettes, those with t by half on
    either side, E = 1/2 sum tr F F of clover leaves, and the topological charge."""

    plaquette: np.ndarray
    clover: np.ndarray
    charge: np.ndarray


class Gauge(Object):
    """Links U_mu(x) from x to x + mu, mu = x, y, z, t, of SU(3) or SU(2), periodic, or with boundaries in time:
    boundary_time="open", "sf" (with the angles phi of slice 0 and phi_prime of slice N_t) or "open_sf" (with phi_prime).

    Made by plaq.open, Gauge.unit, Gauge.hot, Gauge.warm, Gauge.from_array; Gauge(extents) is Gauge.unit. What smears,
    flows or fixes gives a new object; update, reunitarise and heatbath change this one.
    """

    def __init__(
        self,
        extents: Sequence[int],
        *,
        precision: str = "double",
        colours: int = 3,
        boundary_time: Union[str, int] = "periodic",
        phi: Sequence[float] = UNSET,
        phi_prime: Sequence[float] = UNSET,
        context: Optional[Context] = None,
        _handle: Any = None,
    ) -> None:
        context = current(context)
        made = _handle
        if made is None:
            storage = {3: "su3_18", 2: "su2"}.get(colours)
            if storage is None:
                raise ValueError(f"colours: expected 3 or 2, found {colours}")
            params = capi.plaq_gauge_params(
                extents=lattice(extents),
                precision=precision,
                storage=storage,
                boundary_time=boundary_time,
                phi=phi,
                phi_prime=phi_prime,
            )
            made = capi.plaq_gauge_create(context, params)
        super().__init__(made, context)
        report = capi.plaq_gauge_report()
        capi.plaq_gauge_describe(self, report)
        #: Sites of this rank in x, y, z, t.
        self.extents: List[int] = list(report.extents)
        self.colours = 2 if report.storage == capi.plaq_storage.SU2 else 3
        self.precision = capi.plaq_precision(report.precision).name.lower()
        #: Boundaries in time: "periodic", "open", "sf" or "open_sf".
        self.boundary_time = capi.plaq_boundary_time(report.boundary_time).name.lower()
        #: Angles of the fixed spatial links of slices 0 and N_t; NaN where links are not fixed.
        self.phi, self.phi_prime = list(report.phi), list(report.phi_prime)
        # Links in other storages are rounded at the end of a call, so that two calls differ from one with all steps.
        self._exact = report.storage == capi.plaq_storage.SU3_18 and self.precision != "half"
        #: Information in the file from which the links were read; None: they were not read from a file.
        self.info: Any = None
        self._sweep = 0
        if _handle is None:
            capi.plaq_gauge_unit(self)

    @classmethod
    @passes_on(__init__)
    def unit(cls, extents: Sequence[int], **more: "Unpack[Form]") -> "Gauge":
        """Links that are all the unit matrix."""
        return cls(extents, **more)

    @classmethod
    @passes_on(__init__)
    def hot(cls, extents: Sequence[int], seed: int = 0, **more: "Unpack[Form]") -> "Gauge":
        """Independent random links from the Haar measure."""
        gauge = cls(extents, **more)
        capi.plaq_gauge_hot(gauge, seed)
        return gauge

    @classmethod
    @passes_on(__init__)
    def warm(cls, extents: Sequence[int], seed: int = 0, width: float = 0.3, **more: "Unpack[Form]") -> "Gauge":
        """Random links exp(i width sum_a p_a T_a) with normally distributed p_a, 0 <= width <= 1."""
        gauge = cls(extents, **more)
        capi.plaq_gauge_warm(gauge, seed, width)
        return gauge

    @classmethod
    def from_array(
        cls,
        array: Any,
        *,
        precision: Optional[str] = None,
        project: bool = False,
        tolerance: float = 0,
        boundary_time: Union[str, int] = "periodic",
        phi: Sequence[float] = UNSET,
        phi_prime: Sequence[float] = UNSET,
        context: Optional[Context] = None,
    ) -> "Gauge":
        """Links from an array (4, T, Z, Y, X, 3, 3), or (4, 2, T, Z, Y, X/2, 3, 3) with even sites before odd ones,
        complex128 or complex64, of NumPy, CuPy, PyTorch or JAX. Links must be unitary to `tolerance` (0: 1e-10, of
        complex64 1e-5; negative: nothing is checked); `project`: they are then put on the group. `precision` of the
        field: by default the array's. With open boundaries temporal links of the last slice are zero matrices."""
        context = current(context)
        found = borrow(array, "array", context.on_gpu)
        shape = found.shape
        even_odd = len(shape) == 8
        if (
            len(shape) not in (7, 8)
            or shape[0] != 4
            or shape[-1] not in (2, 3)
            or shape[-1] != shape[-2]
            or (even_odd and shape[1] != 2)
        ):
            raise ValueError(
                f"array: expected shape ({LABELS}) or (4, 2, T, Z, Y, X/2, N, N) with N = 3 or 2, found {shape}"
            )
        extents = list(reversed(shape[-6:-2]))
        if even_odd:
            extents[0] *= 2
        gauge = cls(
            extents,
            precision=precision or TYPES[found.dtype],
            colours=shape[-1],
            boundary_time=boundary_time,
            phi=phi,
            phi_prime=phi_prime,
            context=context,
        )
        gauge.set(array, project=project, tolerance=tolerance)
        return gauge

    def set(self, array: Any, *, project: bool = False, tolerance: float = 0) -> None:
        """Takes links from an array as Gauge.from_array does. On failure the old ones stay."""
        n, found = self.colours, borrow(array, "array", self.context.on_gpu)
        even_odd = len(found.shape) == 8
        if even_odd:
            expect(found.shape, (4, 2, *self._half(), n, n), "4, 2, T, Z, Y, X/2, N, N", "array")
        else:
            expect(found.shape, (4, *sites(self.extents), n, n), LABELS, "array")
            # The library's lexicographic order has the directions inside the sites.
            found = found.permuted((1, 2, 3, 4, 0, 5, 6))
        layout = found.layout("qdp" if even_odd else "lexicographic", project=project, tolerance=tolerance)
        capi.plaq_gauge_load(self, layout, found.address)

    def _half(self) -> Tuple[int, ...]:
        t, z, y, x = sites(self.extents)
        return t, z, y, x // 2

    def _save(self, order: str, shape: Tuple[int, ...]) -> np.ndarray:
        array = np.empty(shape, dtype_of(self.precision))
        layout = capi.plaq_layout_params(order=order, precision=TYPES[array.dtype])
        capi.plaq_gauge_save(self, layout, array)
        return array

    def lexico(self) -> np.ndarray:
        """Links as a new array (4, T, Z, Y, X, 3, 3)."""
        array = self._save("lexicographic", (*sites(self.extents), 4, self.colours, self.colours))
        return np.ascontiguousarray(np.moveaxis(array, 4, 0))

    def evenodd(self) -> np.ndarray:
        """Links as a new array (4, 2, T, Z, Y, X/2, 3, 3): sites with even x + y + z + t, then odd ones."""
        return self._save("qdp", (4, 2, *self._half(), self.colours, self.colours))

    numpy = lexico

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        return as_array(self.lexico(), dtype, copy)

    def belongs_to(self, configuration: "Gauge") -> None:
        """Says that these links, which came from elsewhere, were smeared from those of `configuration` or have flowed from them, so
        that quarks of that configuration are smeared with these. Links that plaq itself smears or flows carry this record already."""
        capi.plaq_gauge_belongs_to(self, configuration)

    def copy(self, precision: Optional[str] = None) -> "Gauge":
        """A copy of the links, maybe in another precision."""
        other = Gauge(
            self.extents,
            precision=precision or self.precision,
            colours=self.colours,
            boundary_time=self.boundary_time,
            phi=self.phi,
            phi_prime=self.phi_prime,
            context=self.context,
        )
        capi.plaq_gauge_copy(self, other)
        other.info = self.info
        return other

    # ---- observables ----

    def plaquette(self) -> Plaquette:
        """Average plaquettes, 1 for unit links."""
        found = capi.plaq_gauge_plaquette(self)
        return Plaquette(found.total, found.spatial, found.temporal, found.link_trace)

    def polyakov_loop(self, direction: Union[int, str] = 3) -> complex:
        """Average of tr prod U_mu / N along the lines in a direction, 0 to 3 or a letter of xyzt."""
        found = capi.plaq_gauge_polyakov_loop(self, axis(direction))
        return complex(found.re, found.im)

    def topology(self, trace: bool = False) -> Topology:
        """Topological charge and action density from clover leaves; `trace`: of an F that keeps its trace."""
        measure = capi.plaq_gauge_topology_with_trace if trace else capi.plaq_gauge_topology
        found = measure(self)
        return Topology(found.charge, found.energy_spatial, found.energy_temporal)

    def charge_density(self, trace: bool = False) -> np.ndarray:
        """Topological charge of each of this rank's sites, an array (T, Z, Y, X); `trace`: of an F that keeps its trace."""
        density = np.empty(sites(self.extents))
        capi.plaq_gauge_charge_density(self, int(trace), density, density.size)
        return density

    def time_slices(self) -> TimeSlices:
        """Energy and topological charge of every time slice, summed over space. On slices that are boundaries in time
        spatial plaquettes have weight 1/2, and F is zero."""
        slices = self.extents[3] * self.context.grid[3]
        found = TimeSlices(np.empty(slices), np.empty(slices), np.empty(slices))
        capi.plaq_gauge_time_slices(self, found.plaquette, found.clover, found.charge, slices)
        return found

    def unitarity(self) -> capi.plaq_unitarity:
        """The largest violation of unitarity, and where it is."""
        return capi.plaq_gauge_unitarity(self)

    def loops(self, paths: Sequence[Any]) -> np.ndarray:
        """Sums over x of the trace of the product of links along closed paths: complex, one for each path. A path is
        a list of steps, 0 to 3 forward in x, y, z, t and 7 to 4 back, or text: "x y -x -y"."""
        steps = [path_of(path, "paths") for path in paths]
        traces = np.empty(len(steps), complex)
        capi.plaq_gauge_path_traces(self, sum(steps, []), [len(path) for path in steps], len(steps), traces)
        return traces

    # ---- smearing ----

    def _smeared(self, kind: str, alpha: Sequence[float], steps: int, along: Any) -> "Gauge":
        other = self.copy()
        params = capi.plaq_gauge_smear_params(kind=kind, steps=steps, alpha=[*alpha, 0, 0][:3], directions=bits(along))
        if self._exact:
            in_steps(lambda: capi.plaq_gauge_smear(other, params), params)
        else:
            capi.plaq_gauge_smear(other, params)
        return other

    def smear_stout(self, rho: float = 0.1, steps: int = 1, directions: Any = "xyzt") -> "Gauge":
        """Stout links exp(i Q) U; `directions`: "xyz" smears spatial links in spatial planes."""
        return self._smeared("stout", [rho], steps, directions)

    def smear_overimproved(
        self, rho: float = 0.06, epsilon: float = -0.25, steps: int = 1, directions: Any = "xyzt"
    ) -> "Gauge":
        """Over-improved stout links, of staples and rectangles; epsilon 1 is stout smearing."""
        return self._smeared("overimproved", [rho, epsilon], steps, directions)

    def smear_ape(self, alpha: float = 0.5, steps: int = 1, directions: Any = "xyz") -> "Gauge":
        """APE links: projection of (1 - alpha) U + alpha / (2 (d - 1)) (sum of staples)."""
        return self._smeared("ape", [alpha], steps, directions)

    def smear_hyp(
        self, alpha: Sequence[float] = (0.75, 0.6, 0.3), steps: int = 1, directions: Any = "xyzt"
    ) -> "Gauge":
        """HYP links, smeared in three levels inside of hypercubes; in three directions, e.g. "xyz", in two levels inside of
        cubes, with alpha[1] and alpha[2]."""
        return self._smeared("hyp", list(alpha), steps, directions)

    def flow(
        self,
        time: float,
        *,
        kind: str = "wilson",
        step: float = 0.02,
        every: int = 10,
        tolerance: float = 0,
        progress: Progress = None,
    ) -> "Flow":
        """Gradient flow to the flow time t / a^2 = `time` by steps of `step`, measured `every` so many of them; kind
        "wilson", "symanzik" or "zeuthen"; `tolerance`: adaptive steps. progress=True draws a bar, a
        function gets time, t^2 E and charge."""
        params = capi.plaq_flow_params(kind=kind, step=step, every=every, time=time, tolerance=tolerance)
        if not (0 < time < np.inf and 0 < step < np.inf):
            raise ValueError(f"flow: expected a time and a step above 0, found {time} and {step}")
        capacity = int(time / min(step, 0.2) / max(every, 1)) + 3

        def shown(reached: float, t2e: float, charge: float) -> Tuple[float, str]:
            return reached, f"t^2 E = {t2e:.4f}, Q = {charge:.3f}"

        while True:
            flowed = self.copy()
            points = (capi.plaq_flow_point * capacity)()
            report = capi.plaq_flow_report()
            with watched(progress, "flow", shown, time, "flow time") as callback:
                count = capi.plaq_gauge_flow(flowed, params, callback, report, points, capacity)
            if count <= capacity:
                return Flow(flowed, report, points[:count])
            capacity = count  # adaptive steps may be more

    @passes_on(capi.plaq_gaugefix_params, without=["condition"])
    def fix(
        self, gauge: str = "landau", *, progress: Progress = None, **params: "Unpack[_keywords.Gaugefix]"
    ) -> "Fixed":
        """Fixes "landau", "coulomb" or "maximally_abelian" gauge; the members of capi.plaq_gaugefix_params by
        keyword, e.g. method="fourier_cg", copies=10, stop_theta=1e-14; direction: that of Coulomb gauge, 0 to 3 or a
        letter of xyzt. progress=True draws a bar; a function is
        called with copy, sweeps, functional, theta and temperature."""
        fixed = self.copy()
        result = capi.plaq_gaugefix()
        report = capi.plaq_gaugefix_report()
        if "direction" in params:
            params["direction"] = axis(params["direction"])
        how = capi.plaq_gaugefix_params(condition=gauge, **params)

        def shown(copy: int, sweeps: int, functional: float, theta: float, temperature: float) -> Tuple[float, str]:
            return sweeps, f"copy {copy}, F = {functional:.8f}, theta = {theta:.1e}"

        try:
            with watched(progress, f"{gauge} gauge", shown) as callback:
                capi.plaq_gauge_fix(fixed, how, callback, report, result)
        except BaseException:
            capi.plaq_gaugefix_destroy(result)
            raise
        return Fixed(result, fixed, report)

    # ---- updates in place ----

    def heatbath(
        self,
        beta: float,
        sweeps: int = 1,
        *,
        overrelax: int = 4,
        seed: int = 0,
        first_sweep: Optional[int] = None,
        cg: float = 1,
        cg_prime: Optional[float] = None,
        progress: Progress = None,
    ) -> Plaquette:
        """Heat bath sweeps, each followed by `overrelax` of overrelaxation, with the weight
        exp(-beta sum (1 - Re tr U_munu / N)); random numbers go on where the last call ended. With boundaries in time `cg` and
        `cg_prime`, by default as cg, are weights of plaquettes there. Returns the plaquette.
        progress=True draws a bar, a function gets the number of sweeps done, that of all sweeps, and seconds."""
        report = capi.plaq_heatbath_report()
        params = capi.plaq_heatbath_params(
            beta=beta,
            seed=seed,
            sweeps=sweeps,
            overrelax=overrelax,
            first_sweep=self._sweep if first_sweep is None else first_sweep,
            cg=cg,
        )
        if cg_prime is not None:
            params.cg_prime = cg_prime
        with watched(progress, "heat bath", lambda done, *_: (done, ""), sweeps) as callback:
            capi.plaq_gauge_heatbath(self, params, callback, report)
        self._sweep = report.next_sweep
        return self.plaquette()

    def reunitarise(self) -> float:
        """Projects all links onto SU(3); returns the largest change of a matrix element."""
        return capi.plaq_gauge_reunitarise(self)

    @passes_on(capi.plaq_gauge_write_params)
    def write(
        self, file: Any, format: str = "ildg", *, overwrite: bool = False, **params: "Unpack[_keywords.GaugeWrite]"
    ) -> None:
        """Writes "ildg", "nersc", "nersc_3x3", "milc", "openqcd" or "ddalphaamg"; members of capi.plaq_gauge_write_params
        by keyword, e.g. precision="single", ensemble_id="b6.0". A file that exists is refused unless overwrite=True
        replaces it."""
        new_file(file, overwrite)
        capi.plaq_gauge_write(self, file, capi.plaq_gauge_write_params(format=format, **params))

    def __repr__(self) -> str:
        size = "x".join(map(str, self.extents))
        return self._say(f"SU({self.colours}) {size}, {self.precision} precision{self._ends()}, {self.context.name}")

    def _ends(self) -> str:
        """Description of the boundaries in time, if there are any."""
        return "" if self.boundary_time == "periodic" else f", boundary_time {self.boundary_time}"

    def _repr_html_(self) -> Optional[str]:
        try:
            rows = zip(Plaquette._fields, self.plaquette())
        except capi.InvalidHandle:
            return None  # closed, as repr says
        cells = "".join(f"<tr><td>{name}</td><td>{value:.8f}</td></tr>" for name, value in rows)
        title = "×".join(map(str, self.extents))
        return f"<b>Gauge</b> SU({self.colours}), {title}, {self.precision} precision<table>{cells}</table>"


def links(value: Any) -> Gauge:
    """Checks that the argument is a Gauge, and returns it."""
    if not isinstance(value, Gauge):
        raise TypeError(
            f"gauge: expected a Gauge, from plaq.open(file) or Gauge.from_array(array), found {type(value).__name__}"
        )
    return value


def path_of(path: Union[str, Sequence[Any]], name: str, derivatives: bool = False) -> List[int]:
    """The numbers of a path's steps, 0 to 3 forward and 7 to 4 back in x, y, z, t, 8 to 11 derivatives where there may be some, from
    a text with spaces between, "x +y -t dz", or a list of such words or numbers."""
    if path is None or isinstance(path, Mapping) or not isinstance(path, (str, Iterable)):
        raise ValueError(f'{name}: expected a text such as "x y -t" or a list of steps, found {path!r:.80}')
    return [_step(step, name, derivatives) for step in (path.split() if isinstance(path, str) else path)]


def _step(step: Any, name: str, derivatives: bool) -> int:
    if not isinstance(step, str):
        return whole(step, name)
    numbers = {sign + axis: 7 - mu if sign == "-" else mu for mu, axis in enumerate("xyzt") for sign in ("", "+", "-")}
    if derivatives:
        numbers.update({"d" + axis: 8 + mu for mu, axis in enumerate("xyzt")})
    if step not in numbers:
        words = "x, +x, -x, dx of x, y, z, t, or 0 to 11" if derivatives else "x, +x, -x of x, y, z, t, or 0 to 7, without derivatives"
        raise ValueError(f"{name}: expected steps {words}, found {step!r:.80}")
    return numbers[step]


class Flow:
    """Results of a gradient flow: arrays over the flow time, scales in lattice units (NaN if the flow ended before
    reaching them), and the flowed links `gauge`."""

    def __init__(self, gauge: Gauge, report: capi.plaq_flow_report, points: Sequence[Any]) -> None:
        def column(name: str) -> np.ndarray:
            return np.array([getattr(point, name) for point in points])

        self.gauge, self.report = gauge, report
        self.time = column("time")
        #: Action density 1/2 sum tr F F per site from clover leaves, and t^2 E.
        self.energy = column("energy_spatial") + column("energy_temporal")
        self.t2e = self.time**2 * self.energy
        self.charge = column("charge")
        self.plaquette = (column("plaquette_spatial") + column("plaquette_temporal")) / 2
        reached = {name: getattr(report, name) for name in ("t0_clover", "t0_plaquette", "w0_clover", "w0_plaquette")}
        scales = {name: value if value >= 0 else float("nan") for name, value in reached.items()}
        #: t^2 E = 0.3 at t0, t d/dt t^2 E = 0.3 at w0^2.
        self.t0, self.t0_plaquette = scales["t0_clover"], scales["t0_plaquette"]
        self.w0, self.w0_plaquette = scales["w0_clover"], scales["w0_plaquette"]

    def plot(self, ax: Any = None) -> Any:
        """Draws t^2 E over t with matplotlib."""
        if ax is None:
            import matplotlib.pyplot

            ax = matplotlib.pyplot.gca()
        ax.plot(self.time, self.t2e, ".-")
        ax.axhline(0.3, color="grey", linewidth=0.8)
        ax.set_xlabel("t / a²")
        ax.set_ylabel("t² E")
        return ax

    def _repr_svg_(self) -> Optional[str]:
        from .analysis import picture

        return picture(self.plot)

    def __repr__(self) -> str:
        return (
            f"<Flow to t = {self.report.time:g}, {len(self.time)} measurements, t0 = {self.t0:.5g}, w0 = {self.w0:.5g}>"
        )


class Fixed(Object):
    """Links in a fixed gauge: `gauge`, and the `transformation` g(x) that made them."""

    def __init__(self, handle: Any, gauge: Gauge, report: capi.plaq_gaugefix_report) -> None:
        super().__init__(handle, gauge.context)
        self.gauge, self.report = gauge, report
        self.functional, self.theta = report.functional, report.theta
        self.converged = bool(report.converged)

    @property
    def transformation(self) -> np.ndarray:
        """g(x) as an array (T, Z, Y, X, N, N): U_mu(x) became g(x) U_mu(x) g(x+mu)^dagger, quarks become g psi."""
        n = self.gauge.colours
        array = np.empty((*sites(self.gauge.extents), n, n), complex)
        capi.plaq_gaugefix_transformation(self, array)
        return array

    def apply(self, gauge: Gauge) -> Gauge:
        """The transformation applied to a copy of other links of the lattice."""
        other = gauge.copy()
        capi.plaq_gaugefix_apply(self, other)
        return other

    def copies(self) -> List[capi.plaq_gaugefix_state]:
        """Results of all gauge copies, in order."""
        count = capi.plaq_gaugefix_copies(self, None, 0)
        states = (capi.plaq_gaugefix_state * count)()
        capi.plaq_gaugefix_copies(self, states, count)
        return list(states)

    def slices(self, copy: int = -1) -> List[capi.plaq_gaugefix_state]:
        """Results of the slices of Coulomb gauge, for the copy that is kept or for copy number `copy`."""
        count = capi.plaq_gaugefix_slices(self, copy, None, 0)
        states = (capi.plaq_gaugefix_state * count)()
        capi.plaq_gaugefix_slices(self, copy, states, count)
        return list(states)

    def __repr__(self) -> str:
        state = "converged" if self.converged else "NOT converged"
        return self._say(
            f"{state}, F = {self.functional:.10g}, theta = {self.theta:.2e}, {self.report.iterations} sweeps"
        )


@passes_on(capi.plaq_gauge_read_params)
def open(
    file: Any, *, precision: str = "double", context: Optional[Context] = None, **params: "Unpack[_keywords.GaugeRead]"
) -> Gauge:
    """Reads a configuration: NERSC, ILDG, MILC, openQCD or DDalphaAMG, detected automatically. Checksums, unitarity
    and the header's plaquette are checked. Members of capi.plaq_gauge_read_params by keyword, e.g. extents=[8, 8, 8, 16],
    wrong_checksum=True. `info` of the result has what the file says."""
    context = current(context)
    report = capi.plaq_file_report()
    handle = capi.plaq_gauge_read(context, file, capi.plaq_gauge_read_params(precision=precision, **params), report)
    gauge = Gauge(list(report.extents), context=context, _handle=handle)
    gauge.info = report
    return gauge


def file_text(file: Any, text: str) -> Optional[str]:
    """A text in the header of a configuration's file: "ensemble_id", "ensemble_label", "creator", "date", "lfn" or
    "record"; None where there is none."""
    value, found = capi.plaq_gauge_read_text(file, text, capacity=1 << 20)
    return value if found else None


@passes_on(Gauge.__init__)
def heatbath(
    extents: Sequence[int],
    beta: float,
    *,
    seed: int = 0,
    start: str = "hot",
    thermalise: int = 200,
    separation: int = 20,
    overrelax: int = 4,
    cg: float = 1,
    cg_prime: Optional[float] = None,
    **more: "Unpack[Form]",
) -> Iterator[Gauge]:
    """Quenched configurations without end, each after `separation` further sweeps, the first after `thermalise` sweeps
    from a "hot" or "unit" ("cold") start; cg and cg_prime are those of Gauge.heatbath. A configuration that is still referred to when the next one is asked for stays what
    it is, and the chain goes on with a copy."""
    if str(start).lower() not in ("hot", "unit", "cold"):
        raise ValueError(f"start: expected hot or unit, found {start!r}")
    gauge = Gauge.hot(extents, seed, **more) if start.lower() == "hot" else Gauge.unit(extents, **more)
    sweeps, alone = thermalise, object()
    while True:
        if sweeps:
            gauge.heatbath(beta, sweeps, overrelax=overrelax, seed=seed, cg=cg, cg_prime=cg_prime)
        yield gauge
        # If the links have more references than an object that this frame alone knows, the caller still holds them.
        if sys.getrefcount(gauge) > sys.getrefcount(alone):
            sweep, gauge = gauge._sweep, gauge.copy()
            gauge._sweep = sweep
        sweeps = separation


checks_keywords(globals())
