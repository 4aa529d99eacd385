"""The overlap operator."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import capi
from ._files import new_file
from ._objects import Object, phases
from ._progress import Progress, residuals, search, warn_of
from ._signatures import checks_keywords, passes_on
from .fields import Fermion, Propagator, source_of
from .gauge import Gauge, links
from .operators import Columns, Multigrid, Operator, Plan, _plan

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import _keywords


class Overlap(Operator):
    """D_N(m) = (1 - m / (2 rho)) rho (1 + gamma5 sign(Q)) + m, rho = 1 + s, Q = gamma5 (D_W - rho). Members of
    capi.plaq_overlap_params by keyword: delta, sign="zolotarev", modes, csw, smearing_steps with smearing_alpha.
    Making it searches for modes of Q, on 8^4 about a minute of two CPU cores: in a terminal or notebook a bar with the time
    that is left appears after two seconds, if tqdm is installed; progress=False shows none."""

    adjoint_form = "ddag"

    @passes_on(capi.plaq_overlap_params, without=["boundary"])
    def __init__(
        self,
        gauge: Gauge,
        *,
        mass: float = 0,
        s: float = 0.4,
        boundary: Union[None, str, Sequence[float]] = None,
        modes: Any = None,
        load: Any = None,
        progress: Progress = None,
        _handle: Any = None,
        **params: "Unpack[_keywords.Overlap]",
    ) -> None:
        links(gauge)
        angles = phases(boundary)
        how = capi.plaq_overlap_params(mass=mass, s=s, boundary=angles, **params)
        if isinstance(modes, int):
            how.modes, modes = modes, None
        made = _handle
        if made is None and load is not None:
            made = capi.plaq_overlap_read(gauge.context, gauge, how, load)
        elif made is None:
            # What the library takes by itself, by the precision of its search.
            with search(progress, "modes", how.modes_tol if 0 < how.modes_tol < 1 else 1e-13) as callback:
                made = capi.plaq_overlap_create(gauge.context, gauge, how, modes, callback)
        Object.__init__(self, made, gauge.context)
        self.extents, self._solvers, self._with_multigrid = gauge.extents, {}, weakref.WeakSet()
        self.boundary_time = gauge.boundary_time
        about = self.describe()
        self.mass, self.s, self.rho = about.mass, about.s, 1 + about.s
        self.precision = capi.plaq_precision(about.precision).name.lower()
        self.name = f"D, mass {mass:g}, s {s:g}"
        self.report, self.residuals = None, None  # type: ignore[assignment]
        self._boundary = angles[3]
        self._arguments = (gauge, s, angles)

    def _solver(self, multigrid: Optional[Multigrid], params: Dict[str, Any]) -> Any:
        raise capi.Unsupported("operator: expected Wilson, Clover or Twisted, found Overlap, whose solves are its own")

    def _inverse(self, multigrid: Optional[Multigrid], params: Dict[str, Any]) -> Tuple[Object, float]:
        how = capi.plaq_overlap_solve_params(**params)
        if multigrid is not None:
            capi.plaq_overlap_set_multigrid(self, multigrid)
            how.multigrid = 1
        return Object(capi.plaq_solver_create_overlap(self, how), self.context), how.tol

    def describe(self) -> capi.plaq_overlap_report:
        """The approximation of the sign function: its modes and error bounds, and the cost so far."""
        report = capi.plaq_overlap_report()
        capi.plaq_overlap_describe(self, report)
        return report

    def with_mass(self, mass: float) -> "Overlap":
        """The same operator with another mass; modes are shared."""
        gauge, s, boundary = self._arguments
        handle = capi.plaq_overlap_create_with_mass(self, mass)
        return Overlap(gauge, mass=mass, s=s, boundary=boundary, _handle=handle)

    def update(self, gauge: Gauge) -> None:
        raise capi.Unsupported("an overlap operator has the modes of its links: make another one")

    def apply(self, psi: Columns, *, form: str = "d", out: Optional[Fermion] = None) -> Columns:
        """Computes D psi, or with another `form`, "ddag", "ddagd", "sign" or "q", the operator that
        plaq_overlap_form describes, applied to psi."""
        x, many = self._taken(psi, "psi")
        y = out if out is not None else self.field(x.n)
        capi.plaq_overlap_apply(self, form, y, x)
        return y if out is not None else self._given(y, psi, many)  # type: ignore[return-value]

    @passes_on(capi.plaq_overlap_solve_params)
    def solve(  # type: ignore[override]
        self,
        b: Columns,
        *,
        x0: Any = None,
        multigrid: Optional[Multigrid] = None,
        progress: Progress = None,
        **params: "Unpack[_keywords.OverlapSolve]",
    ) -> Columns:
        """Solves D x = b. Members of capi.plaq_overlap_solve_params by keyword: tol, solver="cg", ..."""
        if x0 is not None:
            raise capi.Unsupported("x0: solves with the overlap operator take no guess")
        if multigrid is not None:
            capi.plaq_overlap_set_multigrid(self, multigrid)
        right, many = self._taken(b, "b")
        x = self.field(right.n)
        report, found = capi.plaq_solve_report(), np.empty(right.n)
        how = capi.plaq_overlap_solve_params(**params)
        if multigrid is not None:
            how.multigrid = 1
        with residuals(progress, "solve", how.tol) as callback, self._reported(report, found):
            capi.plaq_overlap_solve(self, how, x, right, callback, report, found)
        warn_of(report, "solve")
        return self._given(x, b, many)

    @passes_on(capi.plaq_overlap_solve_params)
    def plan(  # type: ignore[override]
        self, n: int = 12, *, multigrid: Optional[Multigrid] = None, **params: "Unpack[_keywords.OverlapSolve]"
    ) -> Plan:
        """Memory and kernels of a solve for n columns, before anything runs; parameters are those of solve; a `multigrid` stays
        that of later solves, as it does with solve. A propagator solves six columns of one chirality at a time."""
        how = capi.plaq_overlap_solve_params(**params)
        if multigrid is not None:
            capi.plaq_overlap_set_multigrid(self, multigrid)
            how.multigrid = 1
        report = capi.plaq_plan_report()
        names = capi.plaq_overlap_plan(self, how, n, report)
        return _plan(n, report, names, 2 * n * self._column_bytes())

    @staticmethod
    @passes_on(capi.plaq_overlap_params, without=["boundary"])
    def plan_new(
        gauge: Gauge,
        n: int = 0,
        *,
        boundary: Union[None, str, Sequence[float]] = None,
        solve: Optional[Dict[str, Any]] = None,
        **params: Any,
    ) -> Plan:
        """Memory and kernels of Overlap(gauge, ...) with these parameters, and of a solve with it for n columns (0: no solve), whose parameters `solve` has, before anything runs; the search is for as many modes as it may find. `kept`: bytes of the operator with its modes."""
        links(gauge)
        how = capi.plaq_overlap_params(boundary=phases(boundary), **params)
        report = capi.plaq_plan_report()
        names = capi.plaq_overlap_create_plan(gauge, how, capi.plaq_overlap_solve_params(**(solve or {})), n, report)
        return _plan(n, report, names, 0)

    @overload  # type: ignore[override]
    def propagator(
        self,
        source: Any = None,
        *,
        masses: None = None,
        progress: Progress = None,
        **params: "Unpack[_keywords.OverlapSolve]",
    ) -> Propagator: ...

    @overload
    def propagator(
        self,
        source: Any = None,
        *,
        masses: Sequence[float],
        progress: Progress = None,
        **params: "Unpack[_keywords.OverlapSolve]",
    ) -> List[Propagator]: ...

    @passes_on(capi.plaq_overlap_solve_params, without=["multigrid"])
    def propagator(
        self,
        source: Any = None,
        *,
        masses: Optional[Sequence[float]] = None,
        progress: Progress = None,
        **params: "Unpack[_keywords.OverlapSolve]",
    ) -> Union[Propagator, List[Propagator]]:
        """(D(m)^-1 - 1 / (2 rho)) / (1 - m / (2 rho)) source, or with subtract=0 D(m)^-1 source: a Propagator, with
        `masses` a list of one for each."""
        source = source_of(source)
        wanted = [self.mass] if masses is None else list(masses)
        handles = (capi.plaq_spinor * len(wanted))()
        report = capi.plaq_solve_report()
        how = capi.plaq_overlap_solve_params(**params)
        try:
            with residuals(progress, "propagator", how.tol) as callback, self._reported(report, None):
                capi.plaq_overlap_propagators(self, how, wanted, len(wanted), source, callback, handles, report)
        except BaseException:
            for handle in handles:  # made before the callback raised
                capi.plaq_spinor_destroy(handle)
            raise
        found = []
        for mass, handle in zip(wanted, handles):
            made = Propagator(None, context=self.context, _handle=capi.plaq_spinor(handle.id))
            made.report = report
            made.of = f"Overlap, mass {mass:g}, s {self.s:g}"
            found.append(made)
        warn_of(report, "propagator")
        return found[0] if masses is None else found

    def index(self, count: int = 4, tol: float = 1e-6, progress: Progress = None) -> Dict[str, Any]:
        """Low modes of D^dagger D of the massless operator: eigenvalues |lambda|^2 of chirality `plus` and `minus`,
        numbers of zero modes `zeros` (n_+, n_-) and the `index` n_- - n_+."""
        plus, minus, zeros = np.empty(count), np.empty(count), np.empty(2, np.int32)
        with residuals(progress, "index", tol) as callback:
            capi.plaq_overlap_index(self, count, tol, callback, plus, minus, zeros)
        return {"plus": plus, "minus": minus, "zeros": zeros.tolist(), "index": int(zeros[1] - zeros[0])}

    def kernel(self) -> np.ndarray:
        """Eigenvalues of the projected modes of Q, ordered by modulus."""
        values = np.empty(self.describe().modes)
        capi.plaq_overlap_kernel_values(self, values, None, None, len(values))
        return values

    def modes(self) -> Fermion:
        """A new field with all vectors of the search for modes, the projected ones first."""
        return Fermion(None, context=self.context, _handle=capi.plaq_overlap_vectors(self))

    def ginsparg_wilson(self, seed: int = 1) -> float:
        """The violation of the Ginsparg-Wilson relation, |(gamma5 D + D gamma5 - D gamma5 D / rho) x| / |x| of the
        massless operator for a random x."""
        return capi.plaq_overlap_ginsparg_wilson(self, seed)

    def save(self, file: Any, overwrite: bool = False) -> None:
        """Writes the modes to a file for Overlap(U, load=file); an existing file is refused unless overwrite=True
        replaces it."""
        new_file(file, overwrite)
        capi.plaq_overlap_write(self, file)

    def eigen(self, *arguments: Any, **more: Any) -> Any:
        """Refused: of the overlap operator index() finds low modes, kernel() those of Q."""
        raise capi.Unsupported("of the overlap operator index() finds low modes, kernel() those of Q")

    def load_eigen(self, file: Any) -> Any:
        """Refused as eigen is; Overlap(U, load=file) takes the modes of a file."""
        raise capi.Unsupported("eigenvectors of a file: the modes of an overlap operator come with Overlap(U, load=file)")

    def multishift(self, *arguments: Any, **more: Any) -> Any:
        """Refused: propagator(source, masses=[...]) solves for several masses at once."""
        raise capi.Unsupported("multishift: propagator(source, masses=[...]) solves with an overlap operator for several masses")

    def history(self, *arguments: Any, **more: Any) -> Any:
        """Refused: solves with the overlap operator keep no history; solve(b, progress=function) passes every residual to the function."""
        raise capi.Unsupported("history: solves with an overlap operator keep none; solve(b, progress=function) hears of residuals")


checks_keywords(globals())
