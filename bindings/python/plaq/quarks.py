"""Operators: Wilson, clover, twisted mass, Laplace, overlap; solves, propagators, multigrid, eigenvectors."""

from __future__ import annotations

import cmath
import math
import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import capi
from ._arrays import borrow, handed, is_array, room
from ._objects import Object, bits, sites
from ._progress import Progress, residuals
from .fields import Fermion, Propagator, source_of
from .gauge import Gauge, links


class Plan(NamedTuple):
    """What a solve for `n` columns takes on the device: bytes of memory beside b and x (`solver`) and of these (`fields`),
    names of `kernels`, how many of these are `to_compile` when they are first used (0 on a CPU), the `seconds`
    that this takes, a rough estimate, and bytes of `solver` that stay allocated afterwards (`kept`)."""

    n: int
    solver: int
    fields: int
    kernels: Tuple[str, ...]
    to_compile: int
    seconds: float
    kept: int = 0

    def __repr__(self) -> str:
        compiled = f"{self.to_compile} to compile in about {self.seconds:.0f} s" if self.to_compile else "all compiled"
        return (
            f"<Plan of {self.n} columns: {self.solver / 2**20:.1f} MiB for the solver, {self.fields / 2**20:.1f} MiB "
            f"for b and x; {len(self.kernels)} kernels, {compiled}>"
        )


class NotConvergedWarning(UserWarning):
    """A solve that ended before its tolerance; the report says why."""


def phases(boundary_phases: Optional[Sequence[complex]]) -> Tuple[float, ...]:
    """Boundary phases in units of pi; by default antiperiodic in time."""
    if boundary_phases is None:
        return 0.0, 0.0, 0.0, 1.0
    found = [complex(phase) for phase in boundary_phases]
    if len(found) != 4 or any(abs(abs(phase) - 1) > 1e-12 for phase in found):
        raise ValueError(
            f"boundary_phases: expected four complex numbers of modulus 1, e.g. [1, 1, 1, -1], found {boundary_phases}"
        )
    return tuple(cmath.phase(phase) / math.pi for phase in found)


def _plan(n: int, report: capi.plaq_plan_report, names: str, fields: int) -> Plan:
    return Plan(n, report.memory, fields, tuple(names.splitlines()), report.to_compile, report.seconds, report.kept)


def _warn(report: capi.plaq_solve_report, what: str) -> None:
    if not report.converged:
        ended = capi.plaq_stopped_by(report.stopped_by).name.lower()
        warnings.warn(
            f"{what}: not converged: residual {report.residual:.2e} after {report.iterations} iterations, "
            f"ended by {ended}",
            NotConvergedWarning,
            stacklevel=3,
        )


def _tol(params: Dict[str, Any]) -> float:
    return float(params.get("tol", capi.plaq_solver_params().tol))


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
        report = capi.plaq_dirac_report()
        capi.plaq_dirac_describe(self, report)
        self.precision = capi.plaq_precision(report.precision).name.lower()
        self._solvers: Dict[Any, Object] = {}
        self._boundary = 0.0
        #: Of the last solve, a capi.plaq_solve_report and |b - D x| / |b| of every column.
        self.report: Any = None
        self.residuals: Any = None

    def close(self) -> None:
        """Gives the memory of the device back, that of solvers included."""
        while self._solvers:
            self._solvers.popitem()[1].close()
        super().close()

    def update(self, gauge: Gauge) -> None:
        """Takes the links of `gauge`, in the memory that the operator has."""
        capi.plaq_dirac_update(self, gauge)

    def field(self, n: int = 1) -> Fermion:
        """A field of n columns that the operator takes."""
        return Fermion(
            self.extents, n, spins=self.spins, slices=self.slices, precision=self.precision, context=self.context
        )

    def _column(self) -> Tuple[int, ...]:
        """The shape of one column."""
        slices = (self.slices,) if self.slices > 1 else ()
        return (*slices, *sites(self.extents), self.spins, 3)

    def _taken(self, value: Any, name: str) -> Tuple[Fermion, bool]:
        """An argument as a field, and whether it has an index of columns."""
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
        """The result as what came in: a field, or an array of the same type and framework."""
        if isinstance(like, Fermion):
            return field
        dtype = borrow(like, "psi", self.context.on_gpu).dtype
        to, array = room(like, field._shape() if many else field._shape()[1:], dtype)
        capi.plaq_spinor_save(field, to.layout("lexicographic"), to.address)
        return handed(array, like)

    def apply(self, psi: Any, *, form: str = "m", out: Optional[Fermion] = None) -> Any:
        """D psi, with form "mdag", "mdagm" or "mmdag" D^dagger psi, D^dagger D psi, D D^dagger psi. psi: a Fermion, or
        an array (T, Z, Y, X, 4, 3) or (n, T, Z, Y, X, 4, 3), which comes back as such."""
        x, many = self._taken(psi, "psi")
        y = out if out is not None else self.field(x.n)
        capi.plaq_dirac_apply(self, "full", form, y, x)
        return y if out is not None else self._given(y, psi, many)

    def __matmul__(self, psi: Any) -> Any:
        return self.apply(psi)

    @property
    def H(self) -> "Adjoint":
        """The adjoint: D.H @ psi."""
        return Adjoint(self)

    def _solver(self, multigrid: Optional["Multigrid"], params: Dict[str, Any]) -> Object:
        if multigrid is not None:
            params = {"algorithm": "gcr", "nkrylov": 4, **params}
        if "solver" in params:
            params["algorithm"] = params.pop("solver")
        how = capi.plaq_solver_params(**params)
        key = (bytes(how), multigrid.handle.id if multigrid is not None else 0)
        if key not in self._solvers:
            if len(self._solvers) >= SOLVERS:
                self._solvers.pop(next(iter(self._solvers))).close()
            solver = Object(capi.plaq_solver_create(self, how), self.context)
            if multigrid is not None:
                capi.plaq_solver_set_multigrid(solver, multigrid)
            self._solvers[key] = solver
        return self._solvers[key]

    def solve(
        self,
        b: Any,
        *,
        x0: Any = None,
        multigrid: Optional["Multigrid"] = None,
        progress: Progress = None,
        **params: Any,
    ) -> Any:
        """x with D x = b for any number of right-hand sides at once, b a Fermion or an array (n, T, Z, Y, X, 4, 3) or
        (T, Z, Y, X, 4, 3), which x is then, too. Members of capi.plaq_solver_params by keyword: tol=1e-10,
        solver="cgnr", "bicgstab", "gcr", ..., max_iterations; `multigrid`: that of D.multigrid(); x0: a guess;
        progress=True draws a bar, a function progress(iteration, residual, seconds) is called after every iteration, and a
        result that is true ends the solve.
        `report` and `residuals` of the operator say how it went; what did not converge is a warning."""
        right, many = self._taken(b, "b")
        x = self.field(right.n)
        x.position, x.boundary = list(right.position), self._boundary
        if x0 is not None:
            guess, _ = self._taken(x0, "x0")
            capi.plaq_spinor_copy(guess, x)
            params["initial_guess"] = 1
        solver = self._solver(multigrid, params)
        report, found = capi.plaq_solve_report(), np.empty(right.n)
        with residuals(progress, "solve", _tol(params)) as callback:
            capi.plaq_solver_solve(solver, x, right, callback, report, found)
        self.report, self.residuals = report, found
        _warn(report, "solve")
        return self._given(x, b, many)

    def multishift(self, b: Any, sigma: Sequence[float], tol: float = 1e-10, progress: Progress = None) -> List[Any]:
        """(D^dagger D + sigma_k) x_k = b for all shifts at once."""
        right, many = self._taken(b, "b")
        solver = self._solver(None, {"solution": "mdagm", "algorithm": "cg", "system": "full"})
        fields = [self.field(right.n) for _ in sigma]
        report = capi.plaq_solve_report()
        with residuals(progress, "multishift", tol) as callback:
            capi.plaq_solver_multishift(
                solver, fields, list(sigma), [tol] * len(fields), len(fields), right, callback, report
            )
        self.report = report
        _warn(report, "multishift")
        return [self._given(field, b, many) for field in fields]

    def history(self, **params: Any) -> np.ndarray:
        """Largest |r| / |b| after every iteration of the last solve with these parameters."""
        multigrid = params.pop("multigrid", None)
        solver = self._solver(multigrid, params)
        count = capi.plaq_solver_history(solver, None, 0)
        history = np.empty(count)
        capi.plaq_solver_history(solver, history, count)
        return history

    def plan(self, n: int = 12, *, multigrid: Optional["Multigrid"] = None, **params: Any) -> "Plan":
        """Memory and kernels of a solve for n columns, parameters as of solve, before anything runs. What the default
        solver may set up on the way, if it goes on to multigrid, is not in it."""
        solver = self._solver(multigrid, params)
        report = capi.plaq_plan_report()
        names = capi.plaq_solver_plan(solver, n, report)
        return _plan(n, report, names, 2 * n * self._column_bytes())

    def _column_bytes(self) -> int:
        return 2 * int(np.prod(self._column())) * capi.plaq_precision[self.precision.upper()]

    def eigen(
        self, count: int = 8, *, guess: Optional[Fermion] = None, progress: Progress = None, **params: Any
    ) -> "Eigen":
        """Eigenvectors of D^dagger D, the smallest first; members of capi.plaq_eigen_params by keyword: end="largest",
        method="ritz", tol, verify, vectors="host"."""
        how = capi.plaq_eigen_params(count=count, **params)
        report = capi.plaq_eigen_report()
        with residuals(progress, "eigenvectors", how.tol) as callback:
            return Eigen(capi.plaq_eigen_create(self, how, guess, callback, report), self, report)

    def load_eigen(self, path: Any) -> "Eigen":
        """Eigenvectors of a file that Eigen.save wrote; values and residuals are measured with this operator."""
        report = capi.plaq_eigen_report()
        return Eigen(capi.plaq_eigen_load(self, path, report), self, report)

    def __repr__(self) -> str:
        size = "x".join(map(str, self.extents))
        return self._say(f"{self.name}, {size}, {self.precision} precision")


class Adjoint:
    """The adjoint of an operator."""

    def __init__(self, operator: Any) -> None:
        self.H = operator

    def __matmul__(self, psi: Any) -> Any:
        return self.H.apply(psi, form=self.H.adjoint_form)

    def __repr__(self) -> str:
        return f"<adjoint of {self.H!r}>"


class Wilson(Operator):
    """D = m + sum_mu h_mu - 1/2 sum_mu h_mu [(1 - gamma_mu) U_mu(x) psi(x+mu) + (1 + gamma_mu) U_mu(x-mu)^dagger psi(x-mu)].

    One of `mass` m and `kappa` = 1/(2m + 8). boundary_phases: complex factors of x, y, z, t, by default [1, 1, 1, -1],
    antiperiodic in time. xi, nu: hops in space are nu/xi times those in time. precision: "double", "single" or "half"
    of the operator, by default that of the links. normalisation: "mass", D as above, or "kappa", 2 kappa D."""

    def __init__(
        self,
        gauge: Gauge,
        *,
        mass: Optional[float] = None,
        kappa: Optional[float] = None,
        boundary_phases: Optional[Sequence[complex]] = None,
        xi: float = 1,
        nu: float = 1,
        precision: Any = 0,
        normalisation: str = "mass",
        **more: Any,
    ) -> None:
        links(gauge)
        if (mass is None) == (kappa is None):
            raise TypeError(
                f"{type(self).__name__}: expected one of mass and kappa, found {'none' if mass is None else 'both'}"
            )
        if kappa == 0:
            raise ValueError("kappa: expected a number other than 0")
        boundary = phases(boundary_phases)
        params = capi.plaq_dirac_params(
            boundary=boundary,
            hop=(nu / xi, nu / xi, nu / xi, 1),
            precision=precision,
            normalisation=normalisation,
            **more,
        )
        if mass is not None:
            params.mass = mass
        else:
            params.kappa = kappa  # type: ignore[assignment]
        handle = self._create(gauge, params)
        report = capi.plaq_dirac_report()
        capi.plaq_dirac_describe(handle, report)
        #: Both, whichever was given.
        self.mass, self.kappa, self.boundary_phases = report.mass, report.kappa, boundary
        factor = "2 kappa " if normalisation == "kappa" else ""
        extra = "".join(f", {key} {value:g}" for key, value in more.items() if isinstance(value, (int, float)))
        said = ", ".join(f"{phase:g}" for phase in boundary)
        super().__init__(
            handle,
            gauge,
            f"{factor}D, mass {self.mass:.6g}, kappa {self.kappa:.6g}{extra}, boundary phases exp(i pi [{said}])",
        )
        self._boundary, self.normalisation = boundary[3], normalisation

    def _create(self, gauge: Gauge, params: capi.plaq_dirac_params) -> capi.plaq_dirac:
        return capi.plaq_dirac_create(gauge.context, gauge, params)

    def propagator(
        self, source: Any = None, *, multigrid: Optional["Multigrid"] = None, progress: Progress = None, **params: Any
    ) -> Any:
        """S(x, source) = D^-1 source. source: plaq.point(...), plaq.wall(...), plaq.volume(...), coordinates
        (x, y, z, t), by default the origin, or columns of your own, a Fermion or an array (n, T, Z, Y, X, 4, 3).
        Parameters as of solve. A Propagator where the source has twelve columns, else a Fermion."""
        solver = self._solver(multigrid, params)
        report = capi.plaq_solve_report()
        if source is None or isinstance(source, (tuple, list)) and not is_array(source):
            source = source_of(source)
        if isinstance(source, capi.plaq_source_params):
            reached, position = np.empty(capi.plaq_source_columns(source)), list(source.position)
        elif isinstance(source, str):
            raise TypeError(f"source: expected plaq.point(), wall(), volume(), coordinates or columns, found {source!r}")
        else:
            columns, _ = self._taken(source, "source")
            reached, position = np.empty(columns.n), list(columns.position)
        with residuals(progress, "propagator", _tol(params)) as callback:
            if isinstance(source, capi.plaq_source_params):
                handle = capi.plaq_solver_propagator(solver, source, callback, report, reached)
            else:
                handle = capi.plaq_solver_columns(solver, columns, callback, report, reached)
        kind = Propagator if len(reached) == 12 else Fermion
        found = kind(None, context=self.context, _handle=handle)
        found.position, found.boundary = position, self._boundary
        self.report, self.residuals = report, reached
        if isinstance(found, Propagator):
            found.report, found.residuals = report, reached
            found.of, found.normalisation = f"{type(self).__name__} {self.name}", self.normalisation
        _warn(report, "propagator")
        return found

    def multigrid(self, load: Any = None, start: Optional[Fermion] = None, **params: Any) -> "Multigrid":
        """A multigrid preconditioner for solves with this operator, D.solve(b, multigrid=mg). Members of
        capi.plaq_multigrid_params by keyword: levels=3, smoother="mr"; those of levels, `block`, `vectors`, `pre` and
        `post`, as one value for all of them or a list with one for each, the finest first: block=[[4, 4, 4, 4],
        [2, 2, 2, 2]], vectors=24. Null vectors from a file `load`, or from the columns of `start`."""
        of_levels = {name: params.pop(name) for name in capi.plaq_multigrid_level_params.names() if name in params}
        how = capi.plaq_multigrid_params(**params)
        for name, value in of_levels.items():
            alone = np.ndim(value) == (1 if name == "block" else 0)
            # Blocks that are given make levels: one block is that of the levels that there are.
            count = (max(how.levels, 2) - 1 if name == "block" else len(how.level)) if alone else len(value)
            if count > len(how.level):
                raise ValueError(f"{name}: expected a value for at most {len(how.level)} levels, found {count}")
            for number in range(count):
                setattr(how.level[number], name, value if alone else value[number])
        if load is not None:
            return Multigrid(capi.plaq_multigrid_load(self, how, load), self)
        if start is not None:
            return Multigrid(capi.plaq_multigrid_create_from(self, how, start), self)
        return Multigrid(capi.plaq_multigrid_create(self, how), self)

    def hop(self, psi: Fermion, parity: int, dagger: bool = False) -> Fermion:
        """The hopping term H from the other parity to `parity`, a field on the whole lattice whose other sites are 0."""
        out = self.field(psi.n)
        capi.plaq_dirac_hop(self, parity, int(dagger), out, psi)
        return out


class Clover(Wilson):
    """The Wilson operator + csw (i/4) sum_munu sigma_munu F_munu; csw_t: its value in planes with t."""

    def __init__(self, gauge: Gauge, *, csw: float, **more: Any) -> None:
        super().__init__(gauge, csw=csw, **more)


class Twisted(Wilson):
    """The Wilson or, with csw, the clover operator + i mu gamma5."""

    def __init__(self, gauge: Gauge, *, mu: float, csw: float = 0, **more: Any) -> None:
        super().__init__(gauge, mu=mu, csw=csw, **more)


class Doublet(Wilson):
    """Two twisted flavours whose masses differ: the Wilson or clover operator of both + i mu gamma5 tau3 - epsilon
    tau1, on fields (n, 2, T, Z, Y, X, 4, 3), up before down. It has no propagator(): solve for columns of your own."""

    slices = 2

    def __init__(self, gauge: Gauge, *, mu: float, epsilon: float, csw: float = 0, **more: Any) -> None:
        self.epsilon = epsilon
        super().__init__(gauge, mu=mu, csw=csw, **more)
        self.name += f", epsilon {epsilon:g}"

    def _create(self, gauge: Gauge, params: capi.plaq_dirac_params) -> capi.plaq_dirac:
        return capi.plaq_doublet_create(gauge.context, gauge, params, self.epsilon)

    def propagator(self, *arguments: Any, **more: Any) -> Any:
        raise capi.Unsupported(
            "a doublet has no propagator of twelve columns: solve(b) with b (n, 2, T, Z, Y, X, 4, 3)"
        )


class Laplace(Operator):
    """-D^2 + mass2, D^2 the covariant second difference in `directions`, on periodic fields: of colour vectors
    (n, T, Z, Y, X, 1, 3), or with spins=4 of quark fields."""

    def __init__(
        self, gauge: Gauge, *, mass2: float = 0, directions: Any = "xyz", spins: int = 1, precision: Any = 0
    ) -> None:
        links(gauge)
        params = capi.plaq_laplace_params(mass2=mass2, directions=bits(directions), spins=spins, precision=precision)
        self.spins = spins
        super().__init__(
            capi.plaq_laplace_create(gauge.context, gauge, params), gauge, f"mass2 {mass2:g}, directions {directions}"
        )


class Multigrid(Object):
    """Null vectors and coarse operators of a Dirac operator, which its solves take as a preconditioner."""

    def __init__(self, handle: Any, operator: Operator) -> None:
        super().__init__(handle, operator.context)

    def update(self, operator: Operator, refresh: str = "refine", passes: int = 1) -> capi.plaq_multigrid_report:
        """Takes the operator's links as they are now: "keep", "refine" or make "anew" the null vectors."""
        capi.plaq_multigrid_update(self, operator, refresh, passes)
        return self.report()

    def report(self) -> capi.plaq_multigrid_report:
        """Levels, seconds of the set-up, reduction of the residual by an iteration, bytes."""
        report = capi.plaq_multigrid_report()
        capi.plaq_multigrid_describe(self, report)
        return report

    def levels(self) -> List[capi.plaq_multigrid_level]:
        """Every level, the finest first."""
        levels = []
        for number in range(self.report().levels):
            level = capi.plaq_multigrid_level()
            capi.plaq_multigrid_describe_level(self, number, level)
            levels.append(level)
        return levels

    def vectors(self, precision: str = "single") -> Fermion:
        """The null vectors of the finest level."""
        return Fermion(None, context=self.context, _handle=capi.plaq_multigrid_vectors(self, precision))

    def save(self, path: Any) -> None:
        """Writes the null vectors to a file for D.multigrid(load=path)."""
        capi.plaq_multigrid_save(self, path)

    def __repr__(self) -> str:
        levels = " > ".join("x".join(map(str, level.extents)) for level in self.levels()) if self._end.alive else ""
        return self._say(levels)


class Eigen(Object):
    """Eigenvectors of D^dagger D: `values` from the end of the spectrum inwards, `residuals` |A v - lambda v|, `bounds`
    on the errors of the values, and `vectors`."""

    def __init__(self, handle: Any, operator: Operator, report: capi.plaq_eigen_report) -> None:
        super().__init__(handle, operator.context)
        self.report = report
        self.converged = bool(report.converged)
        self.values, self.residuals, self.bounds = (np.empty(report.count) for _ in range(3))
        capi.plaq_eigen_values(self, self.values, self.residuals, self.bounds, report.count)

    @property
    def vectors(self) -> Fermion:
        """A new field with all eigenvectors, orthonormal, one for each column."""
        return Fermion(None, context=self.context, _handle=capi.plaq_eigen_vectors(self))

    def some(self, first: int, count: int = 1) -> Fermion:
        """A new field with `count` eigenvectors from number `first` on, where the device has no room for all of them."""
        return Fermion(None, context=self.context, _handle=capi.plaq_eigen_some(self, first, count))

    def save(self, path: Any) -> None:
        """Writes vectors, values and residuals to a file for D.load_eigen(path)."""
        capi.plaq_eigen_save(self, path)

    def __repr__(self) -> str:
        state = "converged" if self.converged else "NOT converged"
        return self._say(f"{len(self.values)} eigenvectors, {state}")


class Overlap(Operator):
    """D_N(m) = (1 - m / (2 rho)) rho (1 + gamma5 sign(Q)) + m, rho = 1 + s, Q = gamma5 (D_W - rho). Members of
    capi.plaq_overlap_params by keyword: delta, sign="zolotarev", modes, csw, smearing_steps with smearing_alpha."""

    adjoint_form = "ddag"

    def __init__(
        self,
        gauge: Gauge,
        *,
        mass: float = 0,
        s: float = 0.4,
        boundary_phases: Optional[Sequence[complex]] = None,
        modes: Any = None,
        load: Any = None,
        progress: Progress = None,
        _handle: Any = None,
        **params: Any,
    ) -> None:
        links(gauge)
        if isinstance(modes, int):
            params["modes"], modes = modes, None
        boundary = phases(boundary_phases)
        how = capi.plaq_overlap_params(mass=mass, s=s, boundary=boundary, **params)
        made = _handle
        if made is None and load is not None:
            made = capi.plaq_overlap_load(gauge.context, gauge, how, load)
        elif made is None:
            with residuals(progress, "modes", 0) as callback:
                made = capi.plaq_overlap_create(gauge.context, gauge, how, modes, callback)
        Object.__init__(self, made, gauge.context)
        self.extents, self._solvers = gauge.extents, {}
        about = self.describe()
        self.mass, self.s, self.rho = about.mass, about.s, 1 + about.s
        self.precision = capi.plaq_precision(about.precision).name.lower()
        self.name = f"D, mass {mass:g}, s {s:g}"
        self.report, self.residuals, self._boundary = None, None, boundary[3]
        self._arguments = (gauge, s, boundary_phases)

    def describe(self) -> capi.plaq_overlap_report:
        """Approximation of the sign function, modes, error bounds, cost so far."""
        report = capi.plaq_overlap_report()
        capi.plaq_overlap_describe(self, report)
        return report

    def with_mass(self, mass: float) -> "Overlap":
        """The same operator with another mass; modes are shared."""
        gauge, s, boundary = self._arguments
        handle = capi.plaq_overlap_with_mass(self, mass)
        return Overlap(gauge, mass=mass, s=s, boundary_phases=boundary, _handle=handle)

    def update(self, gauge: Gauge) -> None:
        raise capi.Unsupported("an overlap operator has the modes of its links: make another one")

    def apply(self, psi: Any, *, form: str = "d", out: Optional[Fermion] = None) -> Any:
        """D psi, or with form "ddag", "ddagd", "sign", "q" what plaq_overlap_form says."""
        x, many = self._taken(psi, "psi")
        y = out if out is not None else self.field(x.n)
        capi.plaq_overlap_apply(self, form, y, x)
        return y if out is not None else self._given(y, psi, many)

    def solve(
        self, b: Any, *, x0: Any = None, multigrid: Optional[Multigrid] = None, progress: Progress = None, **params: Any
    ) -> Any:
        """x with D x = b; members of capi.plaq_overlap_solve_params by keyword: tol, algorithm="cg", ..."""
        if x0 is not None:
            raise capi.Unsupported("x0: solves with the overlap operator take no guess")
        if multigrid is not None:
            capi.plaq_overlap_set_multigrid(self, multigrid)
            params["multigrid"] = 1
        right, many = self._taken(b, "b")
        x = self.field(right.n)
        report, found = capi.plaq_solve_report(), np.empty(right.n)
        how = capi.plaq_overlap_solve_params(**params)
        with residuals(progress, "solve", how.tol) as callback:
            capi.plaq_overlap_solve(self, how, x, right, callback, report, found)
        self.report, self.residuals = report, found
        _warn(report, "solve")
        return self._given(x, b, many)

    def plan(self, n: int = 12, *, multigrid: Optional[Multigrid] = None, **params: Any) -> Plan:
        """Memory and kernels of a solve for n columns, parameters as of solve, before anything runs; a `multigrid` stays
        that of later solves, as it does with solve. A propagator solves six columns of one chirality at a time."""
        if multigrid is not None:
            capi.plaq_overlap_set_multigrid(self, multigrid)
            params["multigrid"] = 1
        report = capi.plaq_plan_report()
        names = capi.plaq_overlap_plan(self, capi.plaq_overlap_solve_params(**params), n, report)
        return _plan(n, report, names, 2 * n * self._column_bytes())

    @staticmethod
    def plan_new(
        gauge: Gauge,
        n: int = 0,
        *,
        boundary_phases: Optional[Sequence[complex]] = None,
        solve: Optional[Dict[str, Any]] = None,
        **params: Any,
    ) -> Plan:
        """Memory and kernels of Overlap(gauge, ...), parameters as there, with the search for as many modes as it may
        find, and of a solve with it for n columns (0: none), parameters of this in `solve`, before anything runs.
        `kept`: bytes of the operator with its modes."""
        links(gauge)
        how = capi.plaq_overlap_params(boundary=phases(boundary_phases), **params)
        report = capi.plaq_plan_report()
        names = capi.plaq_overlap_create_plan(gauge, how, capi.plaq_overlap_solve_params(**(solve or {})), n, report)
        return _plan(n, report, names, 0)

    def propagator(
        self, source: Any = None, *, masses: Optional[Sequence[float]] = None, progress: Progress = None, **params: Any
    ) -> Any:
        """(D(m)^-1 - 1 / (2 rho)) / (1 - m / (2 rho)) source, or with subtract=0 D(m)^-1 source: a Propagator, with
        `masses` a list of one for each."""
        source = source_of(source)
        wanted = [self.mass] if masses is None else list(masses)
        handles = (capi.plaq_spinor * len(wanted))()
        report = capi.plaq_solve_report()
        how = capi.plaq_overlap_solve_params(**params)
        try:
            with residuals(progress, "propagator", how.tol) as callback:
                capi.plaq_overlap_propagators(self, how, wanted, len(wanted), source, callback, handles, report)
        except BaseException:
            for handle in handles:  # made before the callback raised
                capi.plaq_spinor_destroy(handle)
            raise
        self.report = report
        found = []
        for mass, handle in zip(wanted, handles):
            made = Propagator(None, context=self.context, _handle=capi.plaq_spinor(handle.id))
            made.position, made.boundary, made.report = list(source.position), self._boundary, report
            made.of = f"Overlap, mass {mass:g}, s {self.s:g}"
            found.append(made)
        _warn(report, "propagator")
        return found[0] if masses is None else found

    def index(self, count: int = 4, tol: float = 1e-6, progress: Progress = None) -> Dict[str, Any]:
        """Low modes of D^dagger D of the massless operator: eigenvalues |lambda|^2 of chirality `plus` and `minus`,
        numbers of zero modes `zeros` (n_+, n_-) and the `index` n_- - n_+."""
        plus, minus, zeros = np.empty(count), np.empty(count), np.empty(2, np.int32)
        with residuals(progress, "index", tol) as callback:
            capi.plaq_overlap_index(self, count, tol, callback, plus, minus, zeros)
        return {"plus": plus, "minus": minus, "zeros": zeros.tolist(), "index": int(zeros[1] - zeros[0])}

    def kernel(self) -> np.ndarray:
        """Eigenvalues of the modes of Q that are projected, by modulus."""
        values = np.empty(self.describe().modes)
        capi.plaq_overlap_kernel(self, values, None, None, len(values))
        return values

    def modes(self) -> Fermion:
        """A new field with all vectors of the search for modes, those that are projected first."""
        return Fermion(None, context=self.context, _handle=capi.plaq_overlap_modes(self))

    def ginsparg_wilson(self, seed: int = 1) -> float:
        """|gamma5 D + D gamma5 - D gamma5 D / rho| x over |x| of the massless operator for a random x."""
        return capi.plaq_overlap_ginsparg_wilson(self, seed)

    def save(self, path: Any) -> None:
        """Writes the modes to a file for Overlap(U, load=path)."""
        capi.plaq_overlap_save(self, path)

    def eigen(self, *arguments: Any, **more: Any) -> Any:
        raise capi.Unsupported("of the overlap operator index() finds low modes, kernel() those of Q")

    multishift = history = load_eigen = eigen
