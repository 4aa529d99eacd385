"""Quark loops by noise: dilution, hierarchical probing, the one-end trick, differences of masses."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import capi
from ._progress import Progress, residuals
from .gauge import Gauge
from .hadrons import _triples
from .quarks import Wilson, _tol, _warn
from .structure import Line, combined

DILUTIONS = {"spin": 1, "colour": 2, "parity": 4, "time": 8}


class Loops(NamedTuple):
    """Estimates by noise vector: `lines` (vectors, lines, 16 gammas, momenta, T) of sum_x exp(-i p x) tr[Gamma line D^-1], without the sign
    of the fermion loop, and `current` (vectors, 4, momenta, T) of the conserved vector current; times are those of the lattice."""

    lines: np.ndarray
    current: np.ndarray

    def mean(self) -> np.ndarray:
        """The mean of `lines` over the vectors."""
        found: np.ndarray = self.lines.mean(axis=0)
        return found

    def error(self) -> np.ndarray:
        """The error of the mean by the scatter of the vectors, that of the real plus i times that of the imaginary part."""
        n = len(self.lines)
        if n < 2:
            raise ValueError(f"error: expected two noise vectors or more, found {n}")
        found: np.ndarray = (self.lines.real.std(axis=0, ddof=1) + 1j * self.lines.imag.std(axis=0, ddof=1)) / n**0.5
        return found

    def beside(self, other: "Loops") -> "Loops":
        """These vectors and those of another one."""
        return Loops(np.concatenate([self.lines, other.lines]), np.concatenate([self.current, other.current]))


def loops(
    operator: "Wilson",
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
    minus: Optional["Wilson"] = None,
    one_end: bool = False,
    progress: Progress = None,
    **params: Any,
) -> Loops:
    """As of D.loops."""
    known: Dict[str, Any] = {"kind": "plain"}
    multigrid = params.pop("multigrid", None)
    by, other = operator._solver(multigrid, params), None
    if operator.normalisation != "mass" and (one_end or minus is not None):
        raise ValueError("loops: differences need operators with normalisation='mass'")
    if one_end and minus is not None:
        raise ValueError("loops: expected one of `one_end` and `minus`")
    if one_end:
        if not operator.mu:
            raise ValueError("one_end: expected an operator with a twisted mass mu")
        known = {"kind": "one_end", "factor": (0.0, -2 * operator.mu)}
    if minus is not None:
        if minus.mu or operator.mu:
            raise ValueError("minus: expected operators without a twisted mass")
        known = {"kind": "difference", "factor": (minus.mass - operator.mass, 0.0)}
        other = minus._solver(None, params)
    asked = dilute.replace(",", " ").split()
    for word in asked:
        if word not in DILUTIONS:
            raise ValueError(f"dilute: expected words of {', '.join(DILUTIONS)}, found {word!r}")
    bits = sum(DILUTIONS[word] for word in asked)
    words, factors, weights = combined(lines)
    steps = [step for one in factors for step in one]
    numbers, times = _triples(momenta), operator.extents[3] * operator.context.grid[3]
    how = capi.plaq_loops_params(
        noise=noise, seed=seed, first=first, vectors=vectors, dilute=bits, time_parts=time_parts, probes=probes, **known
    )
    found = np.empty((vectors, len(words), 16, len(numbers), times), complex)
    current = np.empty((vectors, 4, len(numbers), times), complex)
    report = capi.plaq_solve_report()
    with residuals(progress, "loops", _tol(params)) as callback:
        done = capi.plaq_solver_loops(
            by,
            other,
            gauge,
            how,
            [len(one) for one in factors],
            len(words),
            steps or [0],
            len(steps),
            numbers,
            len(numbers),
            vectors,
            times,
            callback,
            found,
            current,
            report,
        )
    operator.report = report
    _warn(report, "loops")
    return Loops(np.moveaxis(np.tensordot(weights, found[:done], (1, 1)), 0, 1), current[:done])


def probe(extents: Sequence[int], number: int) -> np.ndarray:
    """Integers n of the plane wave exp(2 pi i sum_mu n_mu x_mu / L_mu) number `number` of hierarchical probing."""
    wave = np.empty(4, np.int32)
    capi.plaq_source_probe(list(extents), number, wave)
    return wave
