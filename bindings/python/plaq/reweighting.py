"""Reweighting factors of quark determinants by noise."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import capi
from ._progress import Progress, residuals, tol_of
from ._signatures import checks_keywords, passes_on
from .operators import Quark


class Reweighting(NamedTuple):
    """Estimates of factors by noise vectors: `minus_ln` (factors, vectors) is -ln of each, `norms` (factors, vectors) the square norm of
    its noise. `ln`: the logarithm of the product of the factors' averages, `error` its relative error."""

    minus_ln: np.ndarray
    norms: np.ndarray
    ln: float
    error: float

    @property
    def factors(self) -> np.ndarray:
        """Logarithm of the average of each factor."""
        least = self.minus_ln.min(axis=1)
        found: np.ndarray = np.log(np.exp(least[:, None] - self.minus_ln).mean(axis=1)) - least
        return found

    @property
    def value(self) -> float:
        """The product of the factors' averages."""
        return float(np.exp(self.ln))


def _ends(interval: Optional[Sequence[float]], rational: bool) -> Tuple[float, float]:
    """The ends of the interval of a rational function; 0 and 0 without one."""
    if not rational:
        if interval is not None:
            raise ValueError(f"interval: expected with kind='rational' only, found {interval!r:.80}")
        return 0.0, 0.0
    expected = "interval: expected two numbers [low, high], 0 < low < high, that hold the spectrum of P^dagger P"
    if interval is None:
        raise ValueError(f"{expected}, as kind='rational' needs one")
    ends = list(interval) if np.ndim(interval) == 1 else []
    if len(ends) != 2 or not all(np.ndim(end) == 0 and isinstance(end, (int, float, np.number)) for end in ends):
        raise ValueError(f"{expected}, found {interval!r:.80}")
    low, high = float(ends[0]), float(ends[1])
    if not 0 < low < high < float("inf"):
        raise ValueError(f"{expected}, found {interval!r:.80}")
    return low, high


@passes_on(capi.plaq_solver_params, without=["initial_guess"])
def reweighting(
    operator: Quark,
    mu: Union[float, Sequence[float]] = (),
    *,
    kind: Union[int, str] = 0,
    system: Union[None, int, str] = None,
    vectors: int = 12,
    first: int = 0,
    seed: int = 0,
    interval: Optional[Sequence[float]] = None,
    poles: int = 0,
    error: float = 1e-12,
    fields: int = 1,
    shifts: int = 3,
    multigrid: Any = None,
    progress: Progress = None,
    **params: Any,
) -> Reweighting:
    """Computes reweighting factors; see D.reweighting."""
    masses = np.atleast_1d(np.asarray(mu, float))
    rational = capi.plaq_reweighting_params(kind=kind).kind == capi.plaq_reweighting_kind.RATIONAL
    low, high = _ends(interval, rational)
    if system is None:
        system = "even_symmetric" if rational else "full"
    how = capi.plaq_reweighting_params(
        kind=kind,
        system=system,
        vectors=vectors,
        first=first,
        seed=seed,
        low=low,
        high=high,
        poles=poles,
        error=error,
        fields=fields,
        shifts=shifts,
    )
    by = operator._solver(multigrid, params)
    shape = (1 if rational else len(masses), vectors)
    found, norms = np.empty(shape), np.empty(shape)
    report = capi.plaq_reweighting_report()
    room = masses if len(masses) else np.zeros(1)
    with residuals(progress, "reweighting", tol_of(params)) as callback:
        capi.plaq_solver_reweighting(by, how, room, len(masses), callback, found, norms, found.size, report)
    return Reweighting(found, norms, report.ln, report.error)


checks_keywords(globals())
