"""Distillation: modes of the Laplacian of time slices, perambulators, elementals, and contractions of these.

Arrays: perambulators (source times, T, 4, 4, n, n), indices source time, sink time, spins and then modes of sink and source;
elementals of mesons (momenta, operators, T, n, n), of baryons (momenta, T, triples). Times are those of the lattice; correlators
count from the source.
"""

from __future__ import annotations

import json
import warnings
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import capi, hdf5
from .arrays import OF_MODES, WHOLE, Labelled, common_about, labelled
from ._files import new_file
from ._objects import Object, whole
from ._native import level
from ._progress import NotConvergedWarning, Progress, residuals, tol_of, warn_of
from ._signatures import checks_keywords, passes_on
from .fields import Fermion
from .gammas import NAMES, gamma
from .gauge import Gauge, links
from .hadrons import _triples
from .overlap import Overlap
from .perambulators import (
    APART,
    SPINS,
    Perambulators,
    check_axes,
    check_boundary,
    check_line,
    check_modes,
    check_sink,
    check_time,
    contract,
    perambulators,
    turned,
)
from .operators import Multigrid, Operator

#: An operator between modes: steps such as "dx", "+y", "-z", of which the last acts first, as a list or with spaces.
Steps = Union[str, Sequence[str]]


def _flat(operators: Iterable[Steps]) -> Tuple[List[int], List[int]]:
    """Lengths of operators, and all their steps in one list."""
    if isinstance(operators, str):
        raise TypeError(f"operators: expected a list of them, found the text {operators!r:.80}")
    listed = [one.split() if isinstance(one, str) else one for one in operators]
    for one in listed:
        if not isinstance(one, (list, tuple)) or not all(isinstance(step, str) for step in one):
            raise TypeError(f'operators: expected texts of steps, "" or "dx +y", or lists of them, found {one!r:.80}')
    if not listed:
        raise ValueError('operators: expected at least one, "" for none between modes, found []')
    by_word = {"d": "DERIVATIVE_", "+": "FORWARD_", "-": "BACK_"}
    numbers = []
    for word in (step for one in listed for step in one):
        kind, axis = by_word.get(word[:1]), word[1:].upper()
        if kind is None or axis not in ("X", "Y", "Z"):
            raise ValueError(f'operators: expected steps "dx", "+x", "-x" and so on of x, y, z, found {word!r}')
        numbers.append(int(capi.plaq_modes_step[kind + axis]))
    return [len(one) for one in listed], numbers


@passes_on(capi.plaq_modes_params)
def modes(
    gauge: Gauge,
    count: int = 16,
    *,
    smeared: Optional[Gauge] = None,
    progress: Progress = None,
    **params: Any,
) -> "Modes":
    """The `count` lowest modes of -D^2 on every time slice, D^2 the covariant second difference in x, y, z, of links with
    `steps` of stout smearing in space with weight `rho`, or of `smeared` ones; the other members of
    capi.plaq_modes_params by keyword: tol, verify, max_seconds, `vectors="host"` for modes that leave the device to solves,
    and `momentum`, phases exp(2 pi i momentum_j / L_j) of the links in a moving frame."""
    links(gauge)
    if "rho" in params and not params.get("steps"):
        raise ValueError("rho: expected steps of smearing with this weight, steps > 0, found none")
    how = capi.plaq_modes_params(count=count, **params)
    report = capi.plaq_modes_report()
    with residuals(progress, "modes", how.tol) as callback:
        return Modes(capi.plaq_modes_create(gauge, smeared, how, callback, report), gauge, report)


def _shift(word: Any) -> int:
    """The number of a step "+x", "-z" and so on: 0 to 2, backward ones 7 to 5."""
    steps = {sign + axis: mu if sign == "+" else 7 - mu for mu, axis in enumerate("xyz") for sign in "+-"}
    if word not in steps:
        raise ValueError(f"insertions: expected a path of {', '.join(steps)}, found {word!r:.80}")
    return steps[word]


def _slices(times: Any, name: str) -> Tuple[List[int], bool]:
    """Converts a time slice, or several of them, to a list of whole numbers; also returns whether there were
    several."""
    several = isinstance(times, Iterable) and getattr(times, "ndim", 1) > 0
    found = [whole(t, name) for t in (times if several else [times])]
    if not found:
        raise ValueError(f"{name}: expected one time slice or more, found none")
    twice = [t for k, t in enumerate(found) if t in found[:k]]
    if twice:
        raise ValueError(f"{name}: expected each time once, found {twice[0]} twice")
    return found, several


def _operator(operator: Any) -> Operator:
    if not isinstance(operator, Operator):
        raise TypeError(f"operator: expected a Wilson, Clover, Twisted or Overlap, found {type(operator).__name__} {operator!r:.80}")
    return operator


def _words(which: int, momentum: Sequence[int], path: Sequence[int]) -> str:
    """An insertion in words, as files of the library have it."""
    x, y, z = (int(n) for n in momentum)
    steps = "".join(f" {'+' if step < 4 else '-'}{'xyz'[step if step < 4 else 7 - step]}" for step in path)
    return f"{NAMES[which]} {x},{y},{z}{steps}"


def _settings(how: capi.plaq_modes_noise_params) -> str:
    """The settings of noise as a text `name value, ...`, for messages."""
    return ", ".join(f"{name} {value}" for name, value in how.to_dict().items())


def _whole(about: Dict[str, Any]) -> Dict[str, Any]:
    """The entries of a description that hold for a whole array of quark lines: basis of spins and boundary."""
    return {name: about[key] for name, key in WHOLE.items() if key in about}


def _quarks(about: Dict[str, Any]) -> Dict[str, Any]:
    """The entries about the quarks in a description of perambulators."""
    return {key: value for key, value in about.items() if key not in (*APART, *OF_MODES)}


class Memory(NamedTuple):
    """Bytes that modes take on a rank: on the device during the search, besides the links, and afterwards, and on
    the host; and the number of the rank's time slices that are searched together."""

    search: int
    device: int
    host: int
    slices: int


@passes_on(capi.plaq_modes_params)
def memory(gauge: Gauge, count: int = 16, **params: Any) -> Memory:
    """The memory that `modes` with these parameters will take."""
    links(gauge)
    return Memory(*capi.plaq_modes_memory(gauge, capi.plaq_modes_params(count=count, **params)))


class Modes(Object):
    """Modes of time slices: `values` (T, n), ascending, `residuals` (T, n), and `next` (T,), the eigenvalue above
    the last one, or infinity if there is none. The component of colour 0 at the site 0, 0, 0 of a slice is real and
    positive."""

    def __init__(self, handle: Any, gauge: Gauge, report: capi.plaq_modes_report) -> None:
        super().__init__(handle, gauge.context)
        self.report, self.extents = report, gauge.extents
        self.converged = bool(report.converged)
        self.count, self.times = report.count, report.times
        shape = (self.times, self.count)
        self.values, self.residuals, self.next = np.empty(shape), np.empty(shape), np.empty(self.times)
        capi.plaq_modes_values(self, self.values, self.residuals, self.values.size, self.next, self.times)
        for name in ("values", "residuals"):
            setattr(self, name, labelled(getattr(self, name), name, self.about))
        self._warn("modes")
        if report.cut_levels:
            warnings.warn(
                f"modes: on {report.cut_levels} time slices a degenerate level has further modes than the {self.count} asked "
                "for: the space depends on the basis that the search came upon",
                stacklevel=level(),
            )

    def _warn(self, what: str) -> None:
        """Warns of modes that have not converged, with the largest residual."""
        if not self.converged:
            worst = f"largest residual {self.residuals.max():.2e}, tolerance {self.report.tol:.1e} of the largest value"
            found = "" if self.report.verified else ", lower values may be missing"
            warnings.warn(f"{what}: the modes have not converged: {worst}{found}", NotConvergedWarning, stacklevel=level())

    @classmethod
    def load(cls, file: Any, gauge: Gauge, smeared: Optional[Gauge] = None) -> "Modes":
        """Reads modes from a file that save wrote. The links must be those that the modes were computed from; others
        are refused."""
        report = capi.plaq_modes_report()
        return cls(capi.plaq_modes_read(gauge, smeared, file, report), gauge, report)

    def save(self, file: Any, overwrite: bool = False) -> None:
        """Writes modes, values, smearing and an identification of the links to a file for Modes.load; an existing
        file is refused unless overwrite=True replaces it."""
        new_file(file, overwrite)
        capi.plaq_modes_write(self, file, "overwrite")

    def vectors(self, first: int = 0, count: Optional[int] = None) -> Fermion:
        """The modes as a new field of colour vectors, by default all of them."""
        made = capi.plaq_modes_vectors(self, first, self.count - first if count is None else count)
        return Fermion(None, context=self.context, _handle=made)

    @passes_on(capi.plaq_solver_params, Overlap.solve, without=["initial_guess", "x0"])
    def perambulators(
        self,
        operator: Operator,
        times: Union[int, Sequence[int]] = (0,),
        *,
        file: Any = None,
        name: str = "perambulators",
        spin_basis: str = "degrand_rossi",
        multigrid: Optional[Multigrid] = None,
        progress: Progress = None,
        **params: Any,
    ) -> "Perambulators":
        """Computes tau(t', t) = V(t')^dagger D^-1 V(t) for these source times; `multigrid` and members of
        capi.plaq_solver_params by keyword, of the overlap operator those of its propagator(), without the contact term
        unless subtract=0. If a progress function ends the work, `times` of the result lists the complete source times; after an
        exception, as of Ctrl-C, only those in `file` are kept. With `file`, of HDF5, every source time is added to the
        group `name` of it as soon as it is complete and converged; source times that the file already holds are read; they
        must be of these modes and this operator. `spin_basis`: that of the file, for instance "dirac_pauli"; `numbers` are
        in the DeGrand-Rossi basis."""
        listed, _ = _slices(times, "times")
        if spin_basis not in SPINS:
            raise ValueError(f"spin_basis: expected one of {', '.join(SPINS)}, found {spin_basis!r:.80}")
        self._warn("perambulators")
        if file is not None:
            more = {**params, "multigrid": multigrid}
            return self._continued(operator, listed, (file, name, spin_basis), progress, more)
        if spin_basis != "degrand_rossi":
            raise ValueError(f"spin_basis: expected a file with it, found {spin_basis!r}; tau.dirac_pauli() turns numbers")
        solver, tol = _operator(operator)._inverse(multigrid, params)
        numbers = np.empty((len(listed), self.times, 4, 4, self.count, self.count), complex)
        report = capi.plaq_solve_report()
        with residuals(progress, "perambulators", tol) as callback:
            done = capi.plaq_modes_perambulators(
                self, solver, listed, len(listed), callback, numbers, numbers.size, report
            )
        operator.report = report
        warn_of(report, "perambulators")
        about = json.loads(capi.plaq_modes_about(self, solver))
        return perambulators(numbers[:done], listed[:done], about)

    @property
    def about(self) -> Dict[str, Any]:
        """Identification of the modes in files: their number, smearing and links."""
        return dict(json.loads(capi.plaq_modes_about(self, None)))

    def _continued(
        self,
        operator: Operator,
        listed: List[int],
        to: Tuple[Any, str, str],
        progress: Progress,
        params: Dict[str, Any],
    ) -> "Perambulators":
        (file, name, basis), context = to, self.context
        plain = {key: value for key, value in params.items() if key != "multigrid"}
        about = json.loads(capi.plaq_modes_about(self, _operator(operator)._inverse(params["multigrid"], plain)[0]))
        about["spin_basis"] = SPINS[basis]
        for t in listed:
            check_time("times", t, self.times)
        there = _on_first(context, lambda: hdf5.times(file, name, about, listed))
        for t in listed:
            if t in there:
                continue
            one = self.perambulators(operator, t, progress=progress, **params)
            if not one.times or not operator.report.converged:
                break
            stored = one if basis == "degrand_rossi" else one._replace(numbers=turned(one.numbers, basis))
            _on_first(context, lambda: hdf5.write(file, {name: stored}, append=True))
            there.append(t)
        wanted = [t for t in listed if t in there]
        if not wanted:
            raise RuntimeError(f"{file}: no source time is complete: the solves did not converge or were ended")
        found: Perambulators = _on_first(context, lambda: hdf5.source_times(file, name, wanted))
        return found

    @passes_on(capi.plaq_solver_params, Overlap.solve, without=["initial_guess", "x0"])
    def generalised(
        self,
        operator: Operator,
        source_time: int,
        sink_time: Union[int, Sequence[int]],
        insertions: Sequence[Any],
        *,
        multigrid: Optional[Multigrid] = None,
        progress: Progress = None,
        **params: Any,
    ) -> np.ndarray:
        """Computes V(t1)^dagger D^-1 O(t) D^-1 V(t0) as an array (insertions, T, 4, 4, n, n) over all times t, or of
        several sink times (sink times, insertions, T, 4, 4, n, n), for which the source's columns are solved for
        once. With twisted mass the line to the sinks is that of the other flavour, -mu, solved for as gamma5
        D(-mu)^dagger gamma5. An insertion is a Gamma, or a tuple (Gamma, momentum, path): sum_x exp(i q x) Gamma [shift along the
        path "+x", "-z", ...]. D must be gamma5-hermitian, up to the sign of mu. Work that a progress function ends raises
        InterruptedError, and nothing of it is kept."""
        gammas, momenta, paths = [], [], []
        for one in insertions:
            if isinstance(one, tuple) and len(one) != 3:
                raise ValueError(f"insertions: expected a Gamma or tuples (Gamma, momentum, path), found {one!r:.80}")
            which, momentum, path = one if isinstance(one, tuple) else (one, (0, 0, 0), "")
            words = path.split() if isinstance(path, str) else list(path)
            gammas.append(gamma.number(which))
            momenta.append(momentum)
            paths.append([_shift(word) for word in words])
        if not gammas:
            raise ValueError("insertions: expected at least one, found none")
        solver, tol = _operator(operator)._inverse(multigrid, params)
        steps = [step for path in paths for step in path]
        sinks, several = _slices(sink_time, "sink_time")
        numbers = np.empty((len(sinks), len(gammas), self.times, 4, 4, self.count, self.count), complex)
        report = capi.plaq_solve_report()
        with residuals(progress, "perambulators", tol) as callback:
            done = capi.plaq_modes_generalised_perambulators(
                self,
                solver,
                source_time,
                sinks,
                len(sinks),
                gammas,
                _triples(momenta),
                [len(path) for path in paths],
                len(gammas),
                steps,
                len(steps),
                callback,
                numbers,
                numbers.size,
                report,
            )
        operator.report = report
        if not done:
            raise InterruptedError("generalised perambulators: the work was ended before it was complete")
        warn_of(report, "generalised perambulators")
        about = json.loads(capi.plaq_modes_about(self, solver))
        words = [_words(*one) for one in zip(gammas, _triples(momenta), paths)]
        made = labelled(
            numbers,
            "generalised",
            about,
            values={"sink time": sinks, "insertion": words},
            fixed={"source time": whole(source_time, "source_time"), **_whole(about)},
            parameters=_quarks(about),
        )
        return made if several else made[0]

    @passes_on(capi.plaq_modes_noise_params)
    def noise(self, **params: Any) -> np.ndarray:
        """Random vectors in the space of modes as an array (columns, T, 4, n). Members of
        capi.plaq_modes_noise_params by keyword: noise="z2", seed, vectors, time="full", mode="interlace" with
        mode_parts=8, spin="block" with spin_parts=2."""
        how = capi.plaq_modes_noise_params(**params)
        numbers = np.empty((capi.plaq_modes_noise_columns(self, how), self.times, 4, self.count), complex)
        capi.plaq_modes_noise(self, how, numbers, numbers.size)
        return labelled(numbers, "noise", self.about, parameters={"noise": _settings(how)})

    @passes_on(capi.plaq_solver_params, Overlap.solve, without=["initial_guess", "x0"])
    def solve_noise(
        self,
        operator: Operator,
        noise: Dict[str, Any],
        *,
        multigrid: Optional[Multigrid] = None,
        progress: Progress = None,
        **params: Any,
    ) -> np.ndarray:
        """Computes V(t')^dagger D^-1 b for the columns b of noise(**noise), as an array (columns, T, 4, n). Work that a
        progress function ends raises InterruptedError, and nothing of it is kept; `first` and `count` of noise make parts."""
        how = capi.plaq_modes_noise_params(**noise)
        solver, tol = _operator(operator)._inverse(multigrid, params)
        numbers = np.empty((capi.plaq_modes_noise_columns(self, how), self.times, 4, self.count), complex)
        report = capi.plaq_solve_report()
        with residuals(progress, "noise", tol) as callback:
            done = capi.plaq_modes_solve_noise(self, solver, how, callback, numbers, numbers.size, report)
        operator.report = report
        if not done:
            raise InterruptedError("noise: the work was ended before it was complete")
        warn_of(report, "noise")
        about = json.loads(capi.plaq_modes_about(self, solver))
        return labelled(numbers, "solutions", about, fixed=_whole(about), parameters={"noise": _settings(how), **_quarks(about)})

    def mesons(
        self,
        momenta: Sequence[Sequence[int]] = ((0, 0, 0),),
        operators: Sequence[Steps] = ("",),
        left: Optional["Modes"] = None,
    ) -> np.ndarray:
        """Elementals Phi_ab(p) = sum_x exp(-i p x) u_a(x)^dagger [O v_b](x) as an array (momenta, operators, T, n,
        n), where u are the modes `left`, those of the antiquark in a moving frame, by default the same as v. An
        operator is a text of steps of which the last acts first: "dx" is the derivative [U_x v(n + x) - U_x^dagger
        v(n - x)] / 2, "+x" is U_x v(n + x), and "-x" is U_x^dagger v(n - x), e.g. ["", "dx", "dy dz", "+z +z"]."""
        numbers = _triples(momenta)
        lengths, steps = _flat(operators)
        rows = self.count if left is None else left.count
        found = np.empty((len(numbers), len(lengths), self.times, rows, self.count), complex)
        capi.plaq_modes_meson_elementals(
            self, left, lengths, len(lengths), steps, len(steps), numbers, len(numbers), found, found.size
        )
        words = ["1" if not one else one if isinstance(one, str) else " ".join(one) for one in operators]
        values = {"momentum": numbers, "operator": words}
        return labelled(found, "mesons", self.about, (left or self).about, values=values)

    def baryons(
        self, momenta: Sequence[Sequence[int]] = ((0, 0, 0),), operators: Sequence[Steps] = ("", "", "")
    ) -> np.ndarray:
        """Elementals B_abc(p) = sum_x exp(-i p x) eps_ijk [O_1 v_a]^i [O_2 v_b]^j [O_3 v_c]^k: without operators an
        array (momenta, T, triples) for a < b < c, with c fastest, else (momenta, T, n, n, n)."""
        numbers, n = _triples(momenta), self.count
        lengths, steps = _flat(operators)
        if len(lengths) != 3:
            raise ValueError(f"operators: expected one for each of three quarks, found {len(lengths)}")
        last = (n, n, n) if steps else (n * (n - 1) * (n - 2) // 6,)
        found = np.empty((len(numbers), self.times, *last), complex)
        if found.size:
            capi.plaq_modes_baryon_elementals(
                self, lengths, steps, len(steps), numbers, len(numbers), found, found.size
            )
        values = {"momentum": numbers}
        if not steps:
            return labelled(found, "baryons", self.about, values=values)
        words = ["1" if not one else one if isinstance(one, str) else " ".join(one) for one in operators]
        return labelled(found, "baryons with steps", self.about, values=values, parameters={"operators": words})

    def __repr__(self) -> str:
        state = "converged" if self.converged else "NOT converged"
        return self._say(f"{self.count} modes on each of {self.times} time slices, {state}")


def full(triples: np.ndarray, n: int) -> np.ndarray:
    """Elementals of baryons for all indices (..., n, n, n), from those with a < b < c."""
    shape, count = np.shape(triples), n * (n - 1) * (n - 2) // 6
    if shape[-1:] != (count,):
        raise ValueError(f"triples: expected an array (..., {count}), the a < b < c of {n} modes, found shape {shape}")
    out = np.zeros((*shape[:-1], n, n, n), complex)
    a, b, c = np.array([(i, j, k) for i in range(n) for j in range(i + 1, n) for k in range(j + 1, n)]).reshape(-1, 3).T
    for p, q, r, sign in ((a, b, c, 1), (b, c, a, 1), (c, a, b, 1), (b, a, c, -1), (a, c, b, -1), (c, b, a, -1)):
        out[..., p, q, r] = sign * triples
    return out


def _on_first(context: Any, work: Callable[[], Any]) -> Any:
    """Calls `work` on the first rank; returns its result, or raises its exception, on all ranks."""
    if context.ranks == 1:
        return work()
    found, raised = None, None
    if context.rank == 0:
        try:
            found = work()
        except Exception as error:
            raised = error
    found, raised = context._comm.bcast((found, raised))
    if raised is not None:
        raise raised
    return found


def _side(name: str, which: Any) -> np.ndarray:
    """The matrix of spins at one end of a correlator."""
    if np.ndim(which) == 0:
        return gamma[which]
    if np.shape(which) != (4, 4):
        raise ValueError(f"{name}: expected a name or number of a Gamma or an array (4, 4), found shape {np.shape(which)}")
    return np.asarray(which, complex)


def _pair(name: str, end: Any) -> Tuple[Any, Any]:
    """A Gamma and an elemental."""
    if not isinstance(end, (tuple, list)) or len(end) != 2:
        raise TypeError(f"{name}: expected a pair (Gamma, elemental), found {type(end).__name__} {end!r:.80}")
    return end[0], end[1]


def _correlator(numbers: np.ndarray, kind: str, source_time: int, lines: Sequence[Any], sides: Dict[str, Tuple[Any, Any]]) -> Labelled:
    """A correlator with what is known of the arrays that it is contracted from: quarks, links, and of the operators at both
    ends Gamma, momentum and steps."""
    about = common_about(lines)
    about.pop("kind", None)
    fixed: Dict[str, Any] = {"source time": source_time}
    for line in (line for line in lines if isinstance(line, Labelled)):
        axis = line.axes[-1]
        about.update(axis.modes or {} if axis is not None else {})
        fixed.update({name: value for name, value in line.fixed.items() if name in (*WHOLE, "sink time", "insertion")})
    for end, (which, elemental) in sides.items():
        about[f"{end}_gamma"] = which if np.ndim(which) == 0 else np.asarray(which, complex).tolist()
        for name, value in getattr(elemental, "fixed", {}).items():
            about[f"{end}_{name}"] = value
    return labelled(numbers, kind, {}, fixed=fixed, parameters=about)


def meson(
    tau: np.ndarray,
    source_time: int,
    sink: Tuple[Any, np.ndarray],
    source: Tuple[Any, np.ndarray],
    antiquark: Optional[np.ndarray] = None,
) -> np.ndarray:
    """The connected correlator C(t) = <O_A(t0 + t) O_B(t0)^dagger> (T,) from perambulators (T, 4, 4, n, n) of one
    source time; sink and source: (Gamma, elemental (T, n, n)), O = sum_x exp(-i p x) qbar' Gamma O q. `antiquark`:
    perambulators of q', by default the same. C = -tr[(A x Phi_A) tau (gamma_t B^dagger gamma_t x Phi_B^dagger)
    gamma5 tau'^dagger gamma5]. Arrays that know their axes must have these, with all times in order; np.asarray(array) is
    taken as it is."""
    return three_point(tau, source_time, sink, source, tau if antiquark is None else antiquark)


def three_point(
    line: np.ndarray,
    source_time: int,
    sink: Tuple[Any, np.ndarray],
    source: Tuple[Any, np.ndarray],
    antiquark: np.ndarray,
    sink_time: Optional[int] = None,
) -> np.ndarray:
    """The three-point correlator <O_A(t1) J(t) O_B(t0)^dagger> as a function of t - t0, the time of the operator J
    on the quark. It is contracted as meson, with a generalised perambulator (T, 4, 4, n, n) between `source_time`
    and `sink_time` in place of tau."""
    source_time, times = check_line("the quark's perambulators", line, source_time), len(line)
    check_line("the antiquark's perambulators", antiquark, source_time, times)
    if sink_time is not None:
        sink_time = check_time("sink_time", sink_time, len(line))
    check_sink("the quark's perambulators", line, sink_time)
    check_sink("the antiquark's perambulators", antiquark, None)
    (a, phi_a), (b, phi_b), t = _pair("sink", sink), _pair("source", source), gamma["T"]
    lines, sides = (line, antiquark), {"sink": sink, "source": source}
    shape = (times, np.shape(antiquark)[-1], np.shape(line)[-1])
    for end, (name, phi) in enumerate((("sink", phi_a), ("source", phi_b))):
        check_modes(name, phi, 1, "the quark's perambulators", line, end)
        check_modes(name, phi, 0, "the antiquark's perambulators", antiquark, end)
        check_axes(name, phi, "(T, n, n)", shape, "mesons")
    line, antiquark, phi_a, phi_b = (np.asarray(one) for one in (line, antiquark, phi_a, phi_b))
    a, b = gamma["5"] @ _side("sink", a), t @ _side("source", b).conj().T @ t @ gamma["5"]
    back = antiquark
    if sink_time is not None:
        back, phi_a = np.broadcast_to(back[sink_time], line.shape), np.broadcast_to(phi_a[sink_time], phi_a.shape)
    right = contract("vw,cd,trwad->trvac", b, phi_b[source_time].conj().T, back.conj())
    left = contract("ru,tak,tuvkc->trvac", a, phi_a, line)
    found = np.roll(-np.einsum("trvac,trvac->t", left, right), -source_time)
    kind = "meson correlator" if sink_time is None else "three-point correlator"
    return _correlator(found, kind, source_time, lines, sides)


def baryon(
    tau: np.ndarray,
    source_time: int,
    sink: Tuple[Any, np.ndarray],
    source: Tuple[Any, np.ndarray],
    boundary: Optional[float] = None,
) -> np.ndarray:
    """C(t) = <O_s(t0 + t) Obar_s'(t0)> (T, 4, 4) of O = eps (u^T G d) u, the nucleon with G = C gamma5, from
    perambulators (T, 4, 4, n, n); sink and source: (G, elementals (T, triples), or (T, n, n, n) with the modes of u,
    d and u), G a (4, 4) array or a Gamma, "YT5". For times beyond the end of the lattice the boundary phase of the three quarks is divided out: that of the
    perambulators, or where these do not know it `boundary`, the phase of one quark in time in units of pi."""
    source_time, n = check_line("the perambulators", tau, source_time), np.shape(tau)[-1]
    boundary, lines, sides = check_boundary(tau, boundary), (tau,), {"sink": sink, "source": source}
    check_sink("the perambulators", tau, None)
    (g, b_sink), (h, b_source) = _pair("sink", sink), _pair("source", source)
    for end, (name, elemental) in enumerate((("sink", b_sink), ("source", b_source))):
        steps = np.ndim(elemental) == 4
        for quark in (-1, 0, 1) if steps else (1,):
            check_modes(name, elemental, quark, "the perambulators", tau, end)
        if steps:
            check_axes(name, elemental, "(T, n, n, n)", (len(tau), n, n, n), "baryons with steps")
        else:
            check_axes(name, elemental, "(T, triples)", (len(tau), n * (n - 1) * (n - 2) // 6), "baryons")
    tau, b_sink, b_source = (np.asarray(one) for one in (tau, b_sink, b_source))
    wide = [one if one.ndim == 4 else full(one, n) for one in (b_sink, b_source)]
    t, spins = gamma["T"], [_side("sink", g), _side("source", h)]
    bar, theirs = t @ spins[1].conj().T @ t, wide[1][source_time].conj()
    out = []
    for now in range(len(tau)):
        s, b = tau[now], wide[0][now]
        # Quark d with the spins of the diquark: P_il, modes b at the sink and e at the source.
        p = contract("ij,jkbe,kl->ilbe", spins[0], s, bar)
        # Modes a, b, c and spins i, s at the sink, d, e, f and l, t at the source; [a, c, i, l, e].
        diquark = np.tensordot(b, p, ([1], [2]))
        both = np.tensordot(np.tensordot(diquark, s, ([2, 3, 0], [0, 1, 2])), theirs, ([1, 2], [1, 0]))
        straight = np.tensordot(s, both, ([2, 3], [0, 1]))
        open_ = np.tensordot(np.tensordot(diquark, s, ([2, 0], [0, 2])), s, ([0, 1], [2, 1]))
        crossed = np.einsum("etfsd,def->st", open_, theirs)
        out.append(straight - crossed)
    found = np.roll(np.array(out), -source_time, axis=0)
    passed = source_time + np.arange(len(tau)) >= len(tau)
    found[passed] *= np.exp(-3j * np.pi * boundary)
    return _correlator(found, "baryon correlator", source_time, lines, sides)


checks_keywords(globals())
