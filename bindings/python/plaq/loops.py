"""Quark loops: noise with dilution, hierarchical probing, the one-end trick, differences of masses; sums part by part with low modes."""

from __future__ import annotations

import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import capi
from ._files import new_file
from ._native import level
from ._objects import Object
from ._progress import NotConvergedWarning, Progress, residuals, tol_of, warn_of
from ._signatures import checks_keywords, passes_on
from .fields import Fermion, Propagator, source_of
from .gammas import gamma as _gamma
from .gauge import Gauge
from .hadrons import _pairs, _triples, _weighted, mesons
from .operators import Eigen, Multigrid, Quark
from .structure import Line, combined

DILUTIONS = {"spin": 1, "colour": 2, "parity": 4, "time": 8}


class Loops(NamedTuple):
    """Estimates by noise vector: `lines` (vectors, lines, 16 gammas, momenta, T) of sum_x exp(-i p x) tr[Gamma line D^-1], without the sign
    of the fermion loop, and `current` (vectors, 4, momenta, T) of the conserved vector current; times are those of the lattice."""

    lines: np.ndarray
    current: np.ndarray

    def mean(self) -> np.ndarray:
        """The mean of `lines` over the vectors."""
        if not len(self.lines):
            raise ValueError("mean: expected a noise vector or more, found none: the work was ended before the first one")
        found: np.ndarray = self.lines.mean(axis=0)
        return found

    def error(self) -> np.ndarray:
        """The error of the mean from the scatter of the vectors: error of the real part plus i times that of the
        imaginary part."""
        n = len(self.lines)
        if n < 2:
            raise ValueError(f"error: expected two noise vectors or more, found {n}")
        found: np.ndarray = (self.lines.real.std(axis=0, ddof=1) + 1j * self.lines.imag.std(axis=0, ddof=1)) / n**0.5
        return found

    def beside(self, other: "Loops") -> "Loops":
        """Joins the noise vectors of two estimates."""
        return Loops(np.concatenate([self.lines, other.lines]), np.concatenate([self.current, other.current]))


@passes_on(capi.plaq_solver_params, without=["initial_guess"])
def loops(
    operator: Quark,
    gauge: Gauge,
    *,
    lines: Sequence[Line] = ("",),
    momenta: Sequence[Sequence[int]] = ((0, 0, 0),),
    noise: str = "z4",
    vectors: int = 1,
    first: int = 0,
    seed: int = 0,
    dilute: str = "",
    time_parts: int = 0,
    probes: int = 1,
    minus: Optional[Quark] = None,
    one_end: bool = False,
    multigrid: Optional[Multigrid] = None,
    progress: Progress = None,
    **params: Any,
) -> Loops:
    """Computes loops; see D.loops."""
    if vectors < 0:
        raise ValueError(f"vectors: expected 1 or more, found {vectors}")
    asked = _asked(operator, lines, momenta, dilute, minus, one_end, multigrid, params)
    how = capi.plaq_loops_params(
        noise=noise, seed=seed, first=first, vectors=vectors, time_parts=time_parts, probes=probes, **asked.known
    )
    factors, numbers = asked.factors, asked.momenta
    found = np.empty((vectors, len(factors), 16, len(numbers), asked.times), complex)
    current = np.empty((vectors, 4, len(numbers), asked.times), complex)
    report = capi.plaq_solve_report()
    with residuals(progress, "loops", tol_of(params)) as callback:
        done = capi.plaq_solver_loops(
            asked.solver,
            asked.other,
            gauge,
            how,
            *asked.operators(),
            vectors,
            asked.times,
            callback,
            found,
            current,
            report,
        )
    operator.report = report
    warn_of(report, "loops")
    return Loops(np.moveaxis(np.tensordot(asked.weights, found[:done], (1, 1)), 0, 1), current[:done])


class _Asked(NamedTuple):
    """Converted arguments of loops: solvers, members of plaq_loops_params, factors of lines with the weights of
    sums, momenta, T."""

    solver: Any
    other: Any
    known: Dict[str, Any]
    factors: List[List[int]]
    weights: np.ndarray
    momenta: np.ndarray
    times: int

    def operators(self) -> Tuple[List[int], int, List[int], int, np.ndarray, int]:
        """The lines and momenta in the form of the C functions."""
        steps = [step for one in self.factors for step in one]
        lengths = [len(one) for one in self.factors]
        return lengths, len(lengths), steps, len(steps), self.momenta, len(self.momenta)


def _asked(
    operator: Quark,
    lines: Sequence[Line],
    momenta: Sequence[Sequence[int]],
    dilute: str,
    minus: Optional[Quark],
    one_end: bool,
    multigrid: Optional[Multigrid],
    params: Dict[str, Any],
) -> _Asked:
    known: Dict[str, Any] = {"kind": "plain"}
    _check_flavours(operator, "operator")
    by, other = operator._solver(multigrid, params), None
    if operator.normalisation != "mass" and (one_end or minus is not None):
        raise ValueError("loops: differences need operators with normalisation='mass'")
    if one_end and minus is not None:
        raise ValueError("loops: expected one of `one_end` and `minus`")
    if one_end:
        known = {"kind": "one_end", "factor": (0.0, -2 * operator.mu)}
    if minus is not None:
        _check_flavours(minus, "minus")
        if minus.normalisation != "mass":
            raise ValueError("minus: expected an operator with normalisation='mass'")
        known = {"kind": "difference", "factor": (minus.mass - operator.mass, 0.0)}
        other = minus._solver(None, params)
    if not isinstance(dilute, str):
        raise TypeError(f'dilute: expected words of {", ".join(DILUTIONS)} in a text, found {dilute!r:.80}')
    words = dilute.replace(",", " ").split()
    for word in words:
        if word not in DILUTIONS:
            raise ValueError(f"dilute: expected words of {', '.join(DILUTIONS)}, found {word!r}")
    known["dilute"] = sum(DILUTIONS[word] for word in words)
    factors, weights = combined(lines)
    times = operator.extents[3] * operator.context.grid[3]
    return _Asked(by, other, known, factors, weights, _triples(momenta), times)


def _check_flavours(operator: Quark, name: str) -> None:
    """Refuses a doublet, whose inverse has no propagator of one flavour."""
    if operator.slices > 1:
        raise capi.Unsupported(f"{name}: loops and low modes are those of one flavour: expected its operator, found a doublet")


def _is_position(one: Any) -> bool:
    return np.shape(one) == (4,) and all(isinstance(x, (int, np.integer)) for x in one)


class Space(Object):
    """Low modes of an operator, levels with approximate inverses L = P D_c^-1 R of D, from 1 on: coarse levels of multigrid, or
    eigenvectors."""

    def __init__(self, handle: Any, operator: Quark) -> None:
        super().__init__(handle, operator.context)
        self.operator, self._updates = operator, operator._updates
        report = self._report(1)
        #: Dimension of each level.
        self.unknowns = [self._report(level).unknowns for level in range(1, report.levels + 1)]

    def _report(self, level: int) -> capi.plaq_space_report:
        report = capi.plaq_space_report()
        capi.plaq_space_describe(self, level, report)
        return report

    def _check_links(self) -> None:
        """Refuses a space whose operator has got other links since it was made."""
        if self.operator._updates != self._updates:
            raise capi.FieldMismatch(
                "space: expected one that was made for the operator with its present links, found one that was made before D.update"
            )

    @property
    def levels(self) -> int:
        """Number of levels, not counting the lattice itself."""
        return len(self.unknowns)

    def apply(self, b: Any, level: int = 1) -> Any:
        """Computes L b on a level; b is what D.apply takes."""
        self._check_links()
        right, many = self.operator._taken(b, "b")
        x = self.operator.field(right.n)
        capi.plaq_space_apply(self, level, x, right)
        return self.operator._given(x, b, many)

    def propagator(self, source: Any = None, level: int = 1) -> Any:
        """Computes L(x, source) on a level. source: plaq.point(...), plaq.wall(...), coordinates (x, y, z, t), by
        default the origin."""
        self._check_links()
        if not isinstance(source, capi.plaq_source_params):
            source = source_of(source)
        handle = capi.plaq_space_propagator(self, level, source)
        kind = Propagator if capi.plaq_source_columns(source) == 12 else Fermion
        return kind(None, context=self.context, _handle=handle)

    def mesons(
        self,
        level: int = 1,
        *,
        gammas: Any = ("5",),
        momenta: Sequence[Sequence[int]] = ((0, 0, 0),),
        progress: Progress = None,
    ) -> np.ndarray:
        """Correlators like those of plaq.mesons with L in place of propagators, (momenta, gammas, T), exactly averaged over all sites of the lattice
        as sources."""
        self._check_links()
        pairs, weights = _pairs(gammas)
        numbers, times = _triples(momenta), self.operator.extents[3] * self.operator.context.grid[3]
        found = np.empty((len(numbers), len(pairs), times), complex)
        with residuals(progress, "low modes", 0.0) as callback:
            capi.plaq_space_mesons(self, level, pairs, len(pairs), numbers, len(numbers), times, callback, found)
        return _weighted(weights, found)

    @passes_on(capi.plaq_solver_params, without=["initial_guess"])
    def averaged_mesons(
        self,
        sources: Sequence[Any],
        *,
        gammas: Any = ("5",),
        momenta: Sequence[Sequence[int]] = ((0, 0, 0),),
        multigrid: Optional[Multigrid] = None,
        progress: Progress = None,
        **params: Any,
    ) -> "Averaged":
        """Low-mode averaging: C[L, L] of the last level, averaged over all sources, plus at chosen sources C[S, S] - C[L_1, L_1] and
        C[L_l, L_l] - C[L_l+1, L_l+1] of each level. `sources`: positions (x, y, z, t) for all of these, or lists of positions, one for the
        propagators S and one for each level but the last. Members of capi.plaq_solver_params by keyword for S."""
        self._check_links()
        own = list(sources)
        if own and all(np.shape(one) == (4,) for one in own):
            own = [own] * self.levels
        whole = [all(map(_is_position, positions)) and len(positions) > 0 for positions in own if np.ndim(positions)]
        if len(own) != self.levels or len(whole) != len(own) or not all(whole):
            raise ValueError(
                f"sources: expected positions of four whole numbers, or {self.levels} lists of positions, found {sources!r}"
            )
        places = [[tuple(int(x) for x in position) for position in positions] for positions in own]
        differences = []
        for number, positions in enumerate(places):
            found = []
            for place in positions:
                if number == 0:
                    upper = self.operator.propagator(place, multigrid=multigrid, progress=progress, **params)
                else:
                    upper = self.propagator(place, number)
                lower = self.propagator(place, number + 1)
                one, other = (mesons(s, gammas=gammas, momenta=momenta) for s in (upper, lower))
                found.append(one - other)
            differences.append(np.array(found))
        low = self.mesons(self.levels, gammas=gammas, momenta=momenta, progress=progress)
        return Averaged(low, differences, places)

    def __repr__(self) -> str:
        return self._say(" > ".join(map(str, self.unknowns)))


class Averaged(NamedTuple):
    """Correlators of low-mode averaging: `low` (momenta, gammas, T), C[L, L] of the last level averaged over all sources, and
    `differences` for S and each level but the last (sources, momenta, gammas, T), with the positions of their `sources`."""

    low: np.ndarray
    differences: List[np.ndarray]
    sources: List[List[Tuple[int, ...]]]

    def mean(self) -> np.ndarray:
        """The sum of `low` and the means of the differences over their sources."""
        found: np.ndarray = self.low + sum(one.mean(axis=0) for one in self.differences)
        return found

    def error(self) -> np.ndarray:
        """The error of the mean on this configuration by the scatter of sources, of the real part plus i times that of the imaginary one.
        Differences of several levels at the same source are correlated: they are added before their squares are."""
        if any(len(one) < 2 for one in self.differences):
            raise ValueError("error: expected two sources or more for every difference")
        deviations: Dict[Tuple[Tuple[int, ...], int], np.ndarray] = {}
        for one, positions in zip(self.differences, self.sources):
            n = len(one)
            for k, deviation in enumerate((one - one.mean(axis=0)) / (n * (n - 1)) ** 0.5):
                # A position that a list holds twice counts as two sources.
                place = positions[k], positions[:k].count(positions[k])
                deviations[place] = deviations.get(place, 0) + deviation
        return _joined(*(np.sqrt(sum(getattr(z, part) ** 2 for z in deviations.values())) for part in ("real", "imag")))


@passes_on(capi.plaq_solver_params, without=["initial_guess", "tol"])
def space(
    operator: Quark,
    *,
    multigrid: Optional[Multigrid] = None,
    eigen: Optional[Eigen] = None,
    levels: int = 0,
    tol: float = 1e-6,
    **params: Any,
) -> Space:
    """Creates the space of low modes; see D.space."""
    _check_flavours(operator, "operator")
    by = operator._solver(multigrid, params)
    if (multigrid is None) == (eigen is None):
        raise ValueError("space: expected one of `multigrid` and `eigen`")
    if eigen is not None:
        return Space(capi.plaq_space_create_eigen(by, eigen), operator)
    return Space(capi.plaq_space_create_multigrid(by, multigrid, levels, tol), operator)


def _joined(real: np.ndarray, imag: np.ndarray) -> np.ndarray:
    """Joins real and imaginary parts, which may be infinite, to complex numbers."""
    found = np.empty(real.shape, complex)
    found.real, found.imag = real, imag
    return found


class Part(NamedTuple):
    """A part of loops: `term` "noise", "exact" or "hopping" of a `level`; number `done` of noise vectors, or of
    columns for an exact part, which has `total` columns; number of columns solved for, seconds, number of solves
    that did not converge; the mean (lines, 16 gammas, momenta, T), and the variance of one noise vector, that of
    real parts plus i times that of imaginary ones."""

    term: str
    level: int
    done: int
    total: int
    solves: int
    seconds: float
    failed: int
    mean: np.ndarray
    variance: np.ndarray


class Sums(Object):
    """Loops summed up part by part: Tr O D^-1 is the sum over levels of low modes of Tr O (L_l - L_l+1), L_0 = D^-1, by noise of the
    level, and of Tr O L of the last one. `add` goes on until a goal is reached; `write` and `read` keep sums in files."""

    def __init__(self, handle: Any, operator: Quark, asked: _Asked, keeps: Sequence[Any]) -> None:
        super().__init__(handle, operator.context)
        self._asked, self._keeps, self._operator = asked, keeps, operator
        about = capi.plaq_loops_report()
        capi.plaq_loops_describe(self, about)
        self._count = about.parts
        #: Report of the last call of add, a capi.plaq_loops_report.
        self.report = capi.plaq_loops_report()

    def add(
        self,
        *,
        error: float = 0.0,
        gamma: Any = "1",
        seconds: float = 0.0,
        vectors: int = 0,
        progress: Progress = None,
    ) -> bool:
        """Adds noise where it lowers the error most for its cost, until the error of the loop of the first line and momentum with
        `gamma` at a time slice (root mean square) is `error`, so many seconds are over, or each part has so many noise vectors; true
        where the error, or without one the number of vectors, is reached. A progress function that returns true ends it, as an
        exception and Ctrl-C do, and what is complete stays."""
        goals = capi.plaq_loop_goals(error=error, seconds=seconds, vectors=vectors, gamma=_gamma.number(gamma))
        report = capi.plaq_loops_report()
        with residuals(progress, "loops", error) as callback:
            capi.plaq_loops_add(self, goals, callback, report)
        self.report = report
        if report.failed:
            warnings.warn(f"loops: {report.failed} solves have not converged", NotConvergedWarning, stacklevel=level())
        return bool(report.reached)

    def _values(self, part: int) -> Tuple[np.ndarray, ...]:
        asked = self._asked
        shape = (len(asked.factors), 16, len(asked.momenta), asked.times)
        mean, variance = np.empty(shape, complex), np.empty(shape, complex)
        current, of_current = np.empty((4, *shape[2:]), complex), np.empty((4, *shape[2:]), complex)
        capi.plaq_loops_values(self, part, mean, variance, mean.size, current, of_current, current.size)
        # The terms of a sum of lines share their noise, so that this is an upper bound of the error.
        with np.errstate(invalid="ignore"):
            scatter = [np.tensordot(abs(asked.weights), np.sqrt(v), (1, 0)) ** 2 for v in (variance.real, variance.imag)]
        return np.tensordot(asked.weights, mean, (1, 0)), _joined(*scatter), current, of_current

    def mean(self) -> np.ndarray:
        """The sum of all parts (lines, 16 gammas, momenta, T), without the sign of the fermion loop, times of the lattice."""
        return self._values(-1)[0]

    def error(self) -> np.ndarray:
        """The error of `mean` by noise: that of the real part plus i times that of the imaginary part; infinite while an exact part
        is incomplete; for a line that is a sum of lines an upper bound. Errors below 1e-8 of the values are rounding."""
        squares = self._values(-1)[1]
        return _joined(np.sqrt(squares.real), np.sqrt(squares.imag))

    def current(self) -> Tuple[np.ndarray, np.ndarray]:
        """The loops of the conserved vector current (4, momenta, T), and their errors."""
        _, _, mean, squares = self._values(-1)
        return mean, _joined(np.sqrt(squares.real), np.sqrt(squares.imag))

    @property
    def parts(self) -> List[Part]:
        """The parts, that of the lattice first."""
        found = []
        for number in range(self._count):
            report = capi.plaq_loops_part_report()
            capi.plaq_loops_describe_part(self, number, report)
            mean, variance, _, _ = self._values(number)
            term = capi.plaq_loops_term(report.term).name.lower()
            counts = report.done, report.total, report.solves, report.seconds, report.failed
            found.append(Part(term, report.level, *counts, mean, variance))
        return found

    def write(self, file: Any, overwrite: bool = False) -> None:
        """Writes the sums and a description of the loops to a file; an existing file is refused unless overwrite=True
        replaces it."""
        new_file(file, overwrite)
        capi.plaq_loops_write(self, file)

    def read(self, file: Any) -> None:
        """Replaces the sums by those of a file that write made; a file of other links, operators, spaces, noise, lines
        or momenta is refused."""
        capi.plaq_loops_read(self, file)


@passes_on(capi.plaq_solver_params, without=["initial_guess"])
def sums(
    operator: Quark,
    gauge: Gauge,
    *,
    space: Optional[Space] = None,
    lines: Sequence[Line] = ("",),
    momenta: Sequence[Sequence[int]] = ((0, 0, 0),),
    noise: str = "z4",
    first: int = 0,
    seed: int = 0,
    dilute: str = "",
    time_parts: int = 0,
    probes: int = 1,
    minus: Optional[Quark] = None,
    one_end: bool = False,
    traces: str = "auto",
    hopping: int = 0,
    multigrid: Optional[Multigrid] = None,
    **params: Any,
) -> Sums:
    """Creates sums of loops; see D.loop_sums."""
    asked = _asked(operator, lines, momenta, dilute, minus, one_end, multigrid, params)
    how = capi.plaq_loops_params(noise=noise, seed=seed, first=first, time_parts=time_parts, probes=probes, **asked.known)
    terms = capi.plaq_loop_sums_params(traces=traces, hopping=hopping)
    made = capi.plaq_loops_create(asked.solver, asked.other, space, gauge, how, terms, *asked.operators())
    return Sums(made, operator, asked, [gauge, space, minus])


def probe(extents: Sequence[int], number: int) -> np.ndarray:
    """Integers n of the plane wave exp(2 pi i sum_mu n_mu x_mu / L_mu) number `number` of hierarchical probing."""
    wave = np.empty(4, np.int32)
    capi.plaq_source_probe(list(extents), number, wave)
    return wave


checks_keywords(globals())
