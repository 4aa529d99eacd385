"""The base of all operators: solves, propagators, multigrid, eigenvectors."""

from __future__ import annotations

import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union, overload

import numpy as np

from . import capi
from ._arrays import borrow, handed, is_array, room
from ._files import new_file
from ._objects import Object, sites
from ._progress import Progress, residuals, steps, tol_of, warn_of
from ._signatures import checks_keywords, passes_on
from .fields import Fermion, Propagator, coordinates, source_of
from .gauge import Gauge

if TYPE_CHECKING:
    import os

    from typing_extensions import Unpack

    from . import _keywords

    class Hierarchy(_keywords.Multigrid, total=False):
        """Keywords of multigrid; members of its levels have one value for all levels, or a list with one for each."""

        block: Union[Sequence[int], Sequence[Sequence[int]]]
        vectors: Union[int, Sequence[int]]
        pre: Union[int, Sequence[int]]
        post: Union[int, Sequence[int]]


#: Fields, or arrays of any framework, which come back as what they are.
Columns = TypeVar("Columns")


class Plan(NamedTuple):
    """Resources of a solve for `n` columns on the device: bytes of memory beside b and x (`solver`) and of these
    (`fields`), names of `kernels`, how many of these are `to_compile` when they are first used (0 on a CPU), the
    `seconds` that this takes, a rough estimate, and bytes of `solver` that stay allocated afterwards (`kept`).
    `chain`: the steps of the solve, from the first to the iteration."""

    n: int
    solver: int
    fields: int
    kernels: Tuple[str, ...]
    to_compile: int
    seconds: float
    kept: int = 0
    chain: str = ""

    def __repr__(self) -> str:
        chain = f"{self.chain}; " if self.chain else ""
        compiled = f"{self.to_compile} to compile in about {self.seconds:.0f} s" if self.to_compile else "all compiled"
        return (
            f"<Plan of {self.n} columns: {chain}{self.solver / 2**20:.1f} MiB for the solver, {self.fields / 2**20:.1f} MiB "
            f"for b and x; {len(self.kernels)} kernels, {compiled}>"
        )


def _plan(n: int, report: capi.plaq_plan_report, names: str, fields: int, chain: str = "") -> Plan:
    kernels = tuple(names.splitlines())
    return Plan(n, report.memory, fields, kernels, report.to_compile, report.seconds, report.kept, chain)


def _weigh(params: Dict[str, Any], time: Callable[[], int]) -> None:
    """Sets the centre of distance preconditioning, if that is requested: the requested time, or that of the source."""
    if params.get("distance_alpha") and "distance_t0" not in params:
        params["distance_t0"] = time()


def _support(columns: Fermion) -> List[int]:
    """Coordinates x, y, z, t of the sites at which columns are not 0; -1 for a direction with several."""
    place = np.empty(4, np.int32)
    capi.plaq_spinor_support(columns, place)
    return [int(x) for x in place]


def _check_position(columns: Fermion, position: Sequence[Optional[int]]) -> None:
    """Refuses a position of a source other than the one that its columns record or, where they record none, the only
    site at which they are not 0."""
    given, known = coordinates(position), coordinates(columns.position)
    what = "the position that the source records"
    if known == coordinates(None):
        known, what = _support(columns), "the only site at which the source is not 0"
        if min(known) < 0:
            return
    if any(a != b for a, b in zip(given, known) if a >= 0 and b >= 0):
        place = [None if x < 0 else x for x in known]
        raise ValueError(f"position: expected {place}, {what}, found {list(position)}; source.position sets another")


def _time(columns: Fermion) -> int:
    """The only time slice that columns are on."""
    place = _support(columns)
    if place[3] < 0:
        raise ValueError("distance_t0: expected a number, as the source is not on one time slice")
    return place[3]


def _close(solvers: "weakref.WeakSet[Object]") -> None:
    for solver in list(solvers):
        solver.close()
    solvers.clear()


#: Solvers with their memory that an operator keeps, one for each choice of parameters.
SOLVERS = 4


class Operator(Object):
    """A lattice operator on links of its own: changing the Gauge afterwards does not change it, update(U) does."""

    spins, slices = 4, 1
    #: The `form` of apply that is D^dagger.
    adjoint_form = "mdag"

    def __init__(self, handle: Any, gauge: Gauge, name: str) -> None:
        super().__init__(handle, gauge.context)
        self.extents, self.name = gauge.extents, name
        #: Boundaries in time of its links.
        self.boundary_time: str = gauge.boundary_time
        report = capi.plaq_dirac_report()
        capi.plaq_dirac_describe(self, report)
        self.precision = capi.plaq_precision(report.precision).name.lower()
        self._solvers: Dict[Any, Object] = {}
        #: Its solvers that a Multigrid keeps.
        self._with_multigrid: "weakref.WeakSet[Object]" = weakref.WeakSet()
        weakref.finalize(self, _close, self._with_multigrid).atexit = False
        #: Boundary phase of its fields in time in units of pi.
        self._boundary = 0.0
        #: How often its links were replaced.
        self._updates = 0
        #: Report of the last solve, a capi.plaq_solve_report, and |b - D x| / |b| of every column.
        self.report: capi.plaq_solve_report = None  # type: ignore[assignment]
        self.residuals: Any = None

    def close(self) -> None:
        """Frees the memory of the operator on the device, and that of its solvers."""
        while self._solvers:
            self._solvers.popitem()[1].close()
        _close(self._with_multigrid)
        super().close()

    def update(self, gauge: Gauge) -> None:
        """Replaces the operator's links by those of `gauge`, in the same memory."""
        capi.plaq_dirac_update(self, gauge)
        self._updates += 1

    def field(self, n: int = 1) -> Fermion:
        """Creates a field of n columns that fits the operator."""
        return Fermion(
            self.extents, n, spins=self.spins, slices=self.slices, precision=self.precision, context=self.context
        )

    def _column(self) -> Tuple[int, ...]:
        """The shape of one column."""
        slices = (self.slices,) if self.slices > 1 else ()
        return (*slices, *sites(self.extents), self.spins, 3)

    def _taken(self, value: Any, name: str) -> Tuple[Fermion, bool]:
        """Converts an argument to a field; also returns whether it has an index of columns."""
        if isinstance(value, Fermion):
            if value.precision == self.precision:
                return value, True
            field = self.field(value.n)
            capi.plaq_spinor_copy(value, field)
            return field, True
        found = borrow(value, name, self.context.on_gpu)
        one = self._column()
        many = len(found.shape) == len(one) + 1
        if found.shape[-len(one) :] != one or len(found.shape) - len(one) not in (0, 1):
            shape, flavours = ", ".join(map(str, one)), "flavours, " * (self.slices > 1)
            raise ValueError(
                f"{name}: expected shape ({flavours}T, Z, Y, X, {self.spins}, 3) = ({shape}), or with an index of "
                f"columns before it, found {found.shape}"
            )
        field = self.field(found.shape[0] if many else 1)
        capi.plaq_spinor_load(field, found.layout("lexicographic"), found.address)
        return field, many

    def _given(self, field: Fermion, like: Any, many: bool) -> Any:
        """Converts a result to the type of the argument: a field, or an array of the same type and framework."""
        if isinstance(like, Fermion):
            return field
        dtype = borrow(like, "psi", self.context.on_gpu).dtype
        to, array = room(like, field._shape() if many else field._shape()[1:], dtype)
        capi.plaq_spinor_save(field, to.layout("lexicographic"), to.address)
        return handed(array, like)

    def apply(self, psi: Columns, *, form: str = "m", out: Optional[Fermion] = None) -> Columns:
        """Computes D psi, or with form "mdag", "mdagm" or "mmdag" D^dagger psi, D^dagger D psi or D D^dagger psi.
        psi: a Fermion, or an array (T, Z, Y, X, 4, 3) or (n, T, Z, Y, X, 4, 3), and the result is of the same type."""
        x, many = self._taken(psi, "psi")
        y = out if out is not None else self.field(x.n)
        capi.plaq_dirac_apply(self, "full", form, y, x)
        return y if out is not None else self._given(y, psi, many)  # type: ignore[return-value]

    def __matmul__(self, psi: Columns) -> Columns:
        return self.apply(psi)

    @property
    def H(self) -> "Adjoint":
        """The adjoint of the operator: D.H @ psi is D^dagger psi."""
        return Adjoint(self)

    def _solver(self, multigrid: Optional["Multigrid"], params: Dict[str, Any]) -> Object:
        if multigrid is not None:
            params = {"solver": "gcr", "nkrylov": 4, **params}
        how = capi.plaq_solver_params(**params)
        # Memory of a multigrid is free as soon as nothing else refers to it: it keeps the solvers that use it itself.
        kept = self._solvers if multigrid is None else multigrid._solvers
        key = (self.handle.id, bytes(how))
        # Closing an operator closes its solvers.
        if key not in kept or not kept[key]._end.alive:
            own = [other for other in kept if other[0] == self.handle.id]
            if len(own) >= SOLVERS:
                kept.pop(own[0]).close()
            solver = Object(capi.plaq_solver_create(self, how), self.context)
            if multigrid is not None:
                capi.plaq_solver_set_multigrid(solver, multigrid)
                self._with_multigrid.add(solver)
            kept[key] = solver
        return kept[key]

    def _inverse(self, multigrid: Optional["Multigrid"], params: Dict[str, Any]) -> Tuple[Object, float]:
        """Solver for the columns of perambulators, and its tolerance."""
        return self._solver(multigrid, params), tol_of(params)

    @contextmanager
    def _reported(self, report: capi.plaq_solve_report, residuals: Optional[np.ndarray]) -> Iterator[None]:
        """Stores the report of a solve in the operator, even if a callback raised an exception and ended the solve."""
        try:
            yield
        finally:
            if report.converged or report.stopped or report.iterations or report.seconds:
                self.report, self.residuals = report, residuals

    @passes_on(capi.plaq_solver_params, without=["initial_guess"])
    def solve(
        self,
        b: Columns,
        *,
        x0: Any = None,
        multigrid: Optional["Multigrid"] = None,
        progress: Progress = None,
        **params: "Unpack[_keywords.Solver]",
    ) -> Columns:
        """Solves D x = b for any number of right-hand sides at once. b is a Fermion or an array (n, T, Z, Y, X, 4,
        3) or (T, Z, Y, X, 4, 3), and x is of the same type. Members of capi.plaq_solver_params by keyword:
        tol=1e-10, solver="cgnr", "bicgstab", "gcr", ..., max_iterations; `multigrid`: that of D.multigrid(); x0: a
        guess; progress=True draws a bar, a function progress(iteration, residual, seconds) is called after every
        iteration, and a result that is true ends the solve. `report` and `residuals` of the operator say how it
        went; what did not converge is a warning."""
        right, many = self._taken(b, "b")
        x = self.field(right.n)
        how: Dict[str, Any] = {**params}
        if x0 is not None:
            guess, _ = self._taken(x0, "x0")
            capi.plaq_spinor_copy(guess, x)
            how["initial_guess"] = 1
        _weigh(how, lambda: _time(right))
        by = self._solver(multigrid, how)
        report, found = capi.plaq_solve_report(), np.empty(right.n)
        with residuals(progress, "solve", tol_of(how)) as callback, self._reported(report, found):
            capi.plaq_solver_solve(by, x, right, callback, report, found)
        warn_of(report, "solve")
        return self._given(x, b, many)

    def multishift(
        self, b: Columns, sigma: Sequence[float], tol: float = 1e-10, progress: Progress = None
    ) -> List[Columns]:
        """Solves (D^dagger D + sigma_k) x_k = b for all shifts at once."""
        right, many = self._taken(b, "b")
        solver = self._solver(None, {"solution": "mdagm", "solver": "cg", "system": "full"})
        fields = [self.field(right.n) for _ in sigma]
        report = capi.plaq_solve_report()
        with residuals(progress, "multishift", tol) as callback, self._reported(report, None):
            capi.plaq_solver_multishift(
                solver, fields, list(sigma), [tol] * len(fields), len(fields), right, callback, report
            )
        warn_of(report, "multishift")
        return [self._given(field, b, many) for field in fields]

    @passes_on(capi.plaq_solver_params)
    def history(
        self,
        *,
        multigrid: Optional["Multigrid"] = None,
        **params: "Unpack[_keywords.Solver]",
    ) -> np.ndarray:
        """Largest relative residual |r| / |b| of the right-hand sides after every iteration of the last solve with
        these parameters."""
        by = self._solver(multigrid, {**params})
        count = capi.plaq_solver_history(by, None, 0)
        history = np.empty(count)
        capi.plaq_solver_history(by, history, count)
        return history

    @passes_on(capi.plaq_solver_params)
    def plan(
        self,
        n: int = 12,
        *,
        multigrid: Optional["Multigrid"] = None,
        **params: "Unpack[_keywords.Solver]",
    ) -> "Plan":
        """Memory and kernels of a solve for n columns, before anything runs; parameters are those of solve. Multigrid
        that the default solver may set up during a solve is not included."""
        report = capi.plaq_plan_report()
        text = capi.plaq_solver_plan(self._solver(multigrid, {**params}), n, report)
        chain, _, names = text.partition("\n")
        return _plan(n, report, names, 2 * n * self._column_bytes(), chain)

    def _column_bytes(self) -> int:
        return 2 * int(np.prod(self._column())) * capi.plaq_precision[self.precision.upper()]

    @passes_on(capi.plaq_eigen_params)
    def eigen(
        self,
        count: int = 8,
        *,
        guess: Optional[Fermion] = None,
        progress: Progress = None,
        **params: "Unpack[_keywords.Eigen]",
    ) -> "Eigen":
        """Eigenvectors of D^dagger D, of a Laplacian those of itself, the smallest first; members of
        capi.plaq_eigen_params by keyword: end="largest", method="ritz", tol, verify, vectors="host". With time_slices=1
        the lowest `count` of every time slice, of an operator without hops in time."""
        how = capi.plaq_eigen_params(count=count, **params)
        report = capi.plaq_eigen_report()
        with residuals(progress, "eigenvectors", how.tol) as callback:
            made = capi.plaq_eigen_create(self, how, guess, callback, report)
        return Eigen(made, self, report, bool(how.time_slices))

    def load_eigen(self, file: Any) -> "Eigen":
        """Eigenvectors of a file that Eigen.save wrote; values and residuals are measured with this operator."""
        report = capi.plaq_eigen_report()
        return Eigen(capi.plaq_eigen_read(self, file, report), self, report)

    def __repr__(self) -> str:
        size = "x".join(map(str, self.extents))
        return self._say(f"{self.name}, {size}, {self.precision} precision")


class BoundaryCorrelators(NamedTuple):
    """Correlators of boundary fields of the Schroedinger functional as functions of the time x0, averaged over
    space: `f_a` and `f_p` of the lower boundary, `g_a` and `g_p` of the upper one with time reversed, and `f_1`
    between both; NaN for a boundary that does not have fixed links."""

    f_a: np.ndarray
    f_p: np.ndarray
    g_a: np.ndarray
    g_p: np.ndarray
    f_1: float


class Adjoint:
    """The adjoint of an operator."""

    def __init__(self, operator: Operator) -> None:
        self.H = operator

    def __matmul__(self, psi: Columns) -> Columns:
        return self.H.apply(psi, form=self.H.adjoint_form)

    def __repr__(self) -> str:
        return f"<adjoint of {self.H!r}>"


class Quark(Operator):
    """An operator of a quark of four spins, the base of plaq.Wilson."""

    #: Mass and hopping parameter, whichever of them was given; twisted mass; normalisation, "mass" or "kappa".
    mass: float
    kappa: float
    mu: float
    normalisation: str

    @overload
    def propagator(
        self,
        source: Union[None, Tuple[int, int, int, int], List[int]] = None,
        *,
        multigrid: Optional["Multigrid"] = None,
        progress: Progress = None,
        **params: "Unpack[_keywords.Solver]",
    ) -> Propagator: ...

    @overload
    def propagator(
        self,
        source: Any,
        *,
        position: Optional[Sequence[Optional[int]]] = None,
        multigrid: Optional["Multigrid"] = None,
        progress: Progress = None,
        **params: "Unpack[_keywords.Solver]",
    ) -> Any: ...

    @passes_on(capi.plaq_solver_params, without=["initial_guess"])
    def propagator(
        self,
        source: Any = None,
        *,
        position: Optional[Sequence[Optional[int]]] = None,
        multigrid: Optional["Multigrid"] = None,
        progress: Progress = None,
        **params: "Unpack[_keywords.Solver]",
    ) -> Any:
        """S(x, source) = D^-1 source. source: plaq.point(...), plaq.wall(...), plaq.volume(...), coordinates
        (x, y, z, t), by default the origin, or columns of your own, a Fermion or an array (n, T, Z, Y, X, 4, 3), with the
        `position` x, y, z, t from which times and phases count, where it cannot be seen: the only site, or the only
        time, at which columns are not 0 is found, and a position that contradicts what they record, or their only site,
        is refused. Parameters are those of solve; distance_alpha is for the time of the source,
        or distance_t0. A Propagator where the source has twelve columns, else a Fermion."""
        report, how = capi.plaq_solve_report(), {**params}
        if isinstance(source, np.ndarray) and source.ndim == 1:
            source = source.tolist()
        if source is None or isinstance(source, (tuple, list)) and not is_array(source):
            source = source_of(source)
        if isinstance(source, capi.plaq_source_params):
            if position is not None:
                raise TypeError("position: expected with columns of your own only, a source has its own")
            reached = np.empty(capi.plaq_source_columns(source))
        elif isinstance(source, str):
            raise TypeError(f"source: expected plaq.point(), wall(), volume(), coordinates or columns, found {source!r}")
        else:
            columns, _ = self._taken(source, "source")
            if position is not None:
                _check_position(columns, position)
            reached = np.empty(columns.n)
        if isinstance(source, capi.plaq_source_params):
            _weigh(how, lambda: source.position[3])
        else:
            _weigh(how, lambda: _time(columns))
        by = self._solver(multigrid, how)
        with residuals(progress, "propagator", tol_of(how)) as callback, self._reported(report, reached):
            if isinstance(source, capi.plaq_source_params):
                handle = capi.plaq_solver_propagator(by, source, callback, report, reached)
            else:
                handle = capi.plaq_solver_propagator_from(by, columns, callback, report, reached)
        kind = Propagator if len(reached) == 12 else Fermion
        found = kind(None, context=self.context, _handle=handle)
        if position is not None:
            found.position = list(position)
        if isinstance(found, Propagator):
            found.report, found.residuals = report, reached
            found.of = f"{type(self).__name__} {self.name}"
        warn_of(report, "propagator")
        return found

    @passes_on(capi.plaq_solver_params, without=["initial_guess"])
    def boundary_propagator(
        self,
        end: str = "lower",
        *,
        multigrid: Optional["Multigrid"] = None,
        progress: Progress = None,
        **params: "Unpack[_keywords.Solver]",
    ) -> Propagator:
        """H(x), from the fields of a boundary whose links are fixed to the bulk: cF sum_y D^-1(x, y) U(y - t, t)^dagger (1 + gamma_t) / 2
        with y on slice 1 of the lower end, or cF' sum_y D^-1(x, y) U(y, t) (1 - gamma_t) / 2 with y on the last slice of the "upper" one, at
        momentum zero with the operator's phases in space. Times count from slice 0; parameters are those of solve."""
        report, how = capi.plaq_solve_report(), {**params}
        by = self._solver(multigrid, how)
        with residuals(progress, "boundary propagator", tol_of(how)) as callback, self._reported(report, None):
            handle = capi.plaq_solver_boundary_propagator(by, end, callback, report)
        found = Propagator(None, context=self.context, _handle=handle)
        found.report, found.of = report, f"{type(self).__name__} {self.name}, {end} boundary"
        warn_of(report, "boundary propagator")
        return found

    @passes_on(capi.plaq_solver_params, without=["initial_guess"])
    def boundary_correlators(
        self,
        *,
        multigrid: Optional["Multigrid"] = None,
        progress: Progress = None,
        **params: "Unpack[_keywords.Solver]",
    ) -> BoundaryCorrelators:
        """Computes f_A(x0) = -1/2 tr H^dagger gamma_t H, f_P(x0) = 1/2 tr H^dagger H, g_A, g_P and f_1 of the
        Schroedinger functional, with H from boundary_propagator; parameters are those of solve."""
        report, how = capi.plaq_solve_report(), {**params}
        by = self._solver(multigrid, how)
        times = self.extents[3] * self.context.grid[3]
        f_a, f_p, g_a, g_p = np.empty((4, times))
        last = np.empty(1)
        with residuals(progress, "boundary correlators", tol_of(how)) as callback, self._reported(report, None):
            capi.plaq_solver_boundary_correlators(by, callback, times, f_a, f_p, g_a, g_p, last, report)
        warn_of(report, "boundary correlators")
        return BoundaryCorrelators(f_a, f_p, g_a, g_p, float(last[0]))

    @passes_on(capi.plaq_multigrid_params, capi.plaq_multigrid_level_params, without=["level"])
    def multigrid(
        self,
        load: Union[None, str, bytes, "os.PathLike[Any]"] = None,
        start: Optional[Fermion] = None,
        *,
        progress: Progress = None,
        **params: "Unpack[Hierarchy]",
    ) -> "Multigrid":
        """A multigrid preconditioner for solves with this operator, D.solve(b, multigrid=mg). Members of
        capi.plaq_multigrid_params by keyword: levels=3, smoother="mr"; those of levels, `block`, `vectors`, `pre` and
        `post`, as one value for all of them or a list with one for each, the finest first: block=[[4, 4, 4, 4],
        [2, 2, 2, 2]], vectors=24. Null vectors from a file `load`, or from the columns of `start`. progress=True draws a
        bar, a function progress(step, residual, seconds) is called after every step of the set-up, and a result that is
        true ends it."""
        given: Dict[str, Any] = dict(params)
        of_levels = {name: given.pop(name) for name in capi.plaq_multigrid_level_params.names() if name in given}
        how = capi.plaq_multigrid_params(**given)
        for name, value in of_levels.items():
            alone = np.ndim(value) == (1 if name == "block" else 0)
            # A list of blocks determines the number of levels; a single block is that of all present levels.
            count = (max(how.levels, 2) - 1 if name == "block" else len(how.level)) if alone else len(value)
            if count > len(how.level):
                raise ValueError(f"{name}: expected a value for at most {len(how.level)} levels, found {count}")
            for number in range(count):
                setattr(how.level[number], name, value if alone else value[number])
        with steps(progress, "multigrid") as callback:
            if load is not None:
                made = capi.plaq_multigrid_read(self, how, load, callback)
            elif start is not None:
                made = capi.plaq_multigrid_create_from(self, how, start, callback)
            else:
                made = capi.plaq_multigrid_create(self, how, callback)
        return Multigrid(made, self)

    def hop(self, psi: Fermion, parity: int, dagger: bool = False) -> Fermion:
        """Applies the hopping term H from the other parity to `parity`; the result is a field on the whole lattice,
        0 on the other sites."""
        out = self.field(psi.n)
        capi.plaq_dirac_hop(self, parity, int(dagger), out, psi)
        return out


class Multigrid(Object):
    """Null vectors and coarse operators of a Dirac operator, which its solves take as a preconditioner."""

    def __init__(self, handle: Any, operator: Operator) -> None:
        super().__init__(handle, operator.context)
        self._solvers: Dict[Any, Object] = {}

    def close(self) -> None:
        """Frees the memory of the hierarchy, and that of the solvers that use it."""
        while self._solvers:
            self._solvers.popitem()[1].close()
        super().close()

    def update(
        self, operator: Operator, refresh: str = "refine", passes: int = 1, progress: Progress = None
    ) -> capi.plaq_multigrid_report:
        """Takes the operator's links as they are now: "keep", "refine" or make "anew" the null vectors."""
        with steps(progress, "multigrid") as callback:
            capi.plaq_multigrid_update(self, operator, refresh, passes, callback)
        return self.report()

    def report(self) -> capi.plaq_multigrid_report:
        """Levels, seconds of the set-up, reduction of the residual by an iteration, bytes."""
        report = capi.plaq_multigrid_report()
        capi.plaq_multigrid_describe(self, report)
        return report

    def levels(self) -> List[capi.plaq_multigrid_level_report]:
        """Every level, the finest first."""
        levels = []
        for number in range(self.report().levels):
            level = capi.plaq_multigrid_level_report()
            capi.plaq_multigrid_describe_level(self, number, level)
            levels.append(level)
        return levels

    def vectors(self, precision: str = "single") -> Fermion:
        """The null vectors of the finest level."""
        return Fermion(None, context=self.context, _handle=capi.plaq_multigrid_vectors(self, precision))

    def save(self, file: Any, overwrite: bool = False) -> None:
        """Writes the null vectors to a file for D.multigrid(load=file); one that exists is refused unless overwrite=True
        replaces it."""
        new_file(file, overwrite)
        capi.plaq_multigrid_write(self, file)

    def __repr__(self) -> str:
        levels = " > ".join("x".join(map(str, level.extents)) for level in self.levels()) if self._end.alive else ""
        return self._say(levels)


class Eigen(Object):
    """Eigenvectors of A = D^dagger D, of a Laplacian those of itself: `values` from the end of the spectrum inwards,
    `residuals` |A v - lambda v|, `bounds` on the errors of the values, and `vectors`. Of eigenvectors of time slices these
    are arrays (T, count), and vector k holds number k of every slice, of unit length there."""

    def __init__(
        self, handle: Any, operator: Operator, report: capi.plaq_eigen_report, time_slices: bool = False
    ) -> None:
        super().__init__(handle, operator.context)
        self.report = report
        self.converged = bool(report.converged)
        times = (operator.extents[3] * operator.context.grid[3],) if time_slices else ()
        self.values, self.residuals, self.bounds = (np.empty((*times, report.count)) for _ in range(3))
        capi.plaq_eigen_values(self, self.values, self.residuals, self.bounds, self.values.size)

    @property
    def vectors(self) -> Fermion:
        """A new field with all eigenvectors, orthonormal, one for each column; of time slices orthonormal on each."""
        return Fermion(None, context=self.context, _handle=capi.plaq_eigen_vectors(self))

    def some(self, first: int, count: int = 1) -> Fermion:
        """A new field with `count` eigenvectors from number `first` on, where the device has no room for all of them."""
        return Fermion(None, context=self.context, _handle=capi.plaq_eigen_some_vectors(self, first, count))

    def save(self, file: Any, overwrite: bool = False) -> None:
        """Writes vectors, values and residuals to a file for D.load_eigen(file); one that exists is refused unless
        overwrite=True replaces it."""
        new_file(file, overwrite)
        capi.plaq_eigen_write(self, file)

    def __repr__(self) -> str:
        state = "converged" if self.converged else "NOT converged"
        slices = "" if self.values.ndim == 1 else f" of each of {len(self.values)} time slices"
        return self._say(f"{self.values.shape[-1]} eigenvectors{slices}, {state}")


checks_keywords(globals())
