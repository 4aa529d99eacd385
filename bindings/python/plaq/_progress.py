"""Progress of long calls: functions that are called with it, or bars of tqdm."""

from __future__ import annotations

import math
import sys
import warnings
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, Optional, Tuple, Union

from . import capi
from ._native import level

#: What `progress=` takes: None or False for nothing, True for a bar, or a function, whose result, if true, ends the call.
#: Of calls that take minutes None is a bar, too, see `late` below.
Progress = Union[None, bool, Callable[..., Any]]
#: How much of the whole is done, and what the bar says besides.
Shown = Tuple[float, str]


#: Seconds before a bar that was not asked for appears.
LATE = 2.0


@contextmanager
def watched(
    progress: Progress,
    title: str,
    shown: Callable[..., Shown],
    total: Optional[float] = None,
    unit: str = "it",
    late: bool = False,
) -> Iterator[Optional[Callable[..., Any]]]:
    """The callback of a call: the user's function, or one that draws a bar in a terminal or notebook with the
    numbers that `shown` returns for its arguments. tqdm is imported only for a bar; without it there is a warning
    and no bar. If `late` is true, progress=None draws a bar that appears after LATE seconds, in a terminal or
    notebook with tqdm."""
    unasked = progress is None and late
    if progress is not True and not unasked:
        yield progress or None  # type: ignore[misc]
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if not unasked:
            warnings.warn("progress=True: tqdm, which draws the bar, is not installed", stacklevel=level())
        yield None
        return
    # With disable=None tqdm draws no bar where the output is not a terminal; that of a notebook is not, but shows bars.
    how: Dict[str, Any] = {"delay": LATE, "disable": False if "ipykernel" in sys.modules else None} if unasked else {}
    # Digits of a residual and flow times are no whole numbers.
    layout = None if unit == "it" else "{l_bar}{bar}| {n:.3g}/{total:.3g} " + unit + " [{elapsed}<{remaining}{postfix}]"
    with tqdm(total=total, desc=title, unit=unit, bar_format=layout, **how) as bar:

        def move(*state: Any) -> None:
            done, text = shown(*state)
            bar.set_postfix_str(text, refresh=False)
            bar.update(done - bar.n)

        yield move


def residuals(progress: Progress, title: str, tol: float) -> Any:
    """The callback of a call whose progress is (iteration, residual, seconds): the bar counts digits of the residual
    down to `tol`."""
    digits = -math.log10(tol) if 0 < tol < 1 else None

    def shown(iteration: int, residual: float, seconds: float) -> Shown:
        text = f"{iteration} iterations, residual {residual:.1e}"
        if digits is None:
            return iteration, text
        return min(max(-math.log10(residual), 0.0), digits) if residual > 0 else digits, text

    return watched(progress, title, shown, digits, "it" if digits is None else "digits")


def steps(progress: Progress, title: str) -> Any:
    """The callback of a call whose steps have no common goal: the bar counts the steps."""
    return watched(progress, title, lambda step, *_: (step, ""))


def search(progress: Progress, title: str, tol: float) -> Any:
    """The callback of a search for eigenvectors to a residual of `tol`, which may begin anew: the bar counts the digits
    of the best residual so far. It appears by itself where the search takes long."""
    digits, best = -math.log10(tol), 0.0

    def shown(restart: int, residual: float, seconds: float) -> Shown:
        nonlocal best
        best = max(best, min(-math.log10(residual), digits) if 0 < residual < 1 else 0.0)
        return best, f"{restart} restarts, residual {residual:.1e}"

    return watched(progress, title, shown, digits, "digits", late=True)


class NotConvergedWarning(UserWarning):
    """A solve that ended before its tolerance; the report says why."""


def warn_of(report: capi.plaq_solve_report, what: str) -> None:
    """Warns of solves that did not converge, with the residual and what ended them."""
    if not report.converged:
        ended = capi.plaq_stopped_by(report.stopped_by).name.lower()
        warnings.warn(
            f"{what}: not converged: residual {report.residual:.2e} after {report.iterations} iterations, "
            f"ended by {ended}",
            NotConvergedWarning,
            stacklevel=level(),
        )


def tol_of(params: Dict[str, Any]) -> float:
    """The tolerance of solves with these parameters."""
    return float(params.get("tol", capi.plaq_solver_params().tol))
