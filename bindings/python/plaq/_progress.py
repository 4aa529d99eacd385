"""Progress of long calls: functions that hear of it, or bars of tqdm."""

from __future__ import annotations

import math
import warnings
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional, Tuple, Union

from ._native import level

#: What `progress=` takes: None or False for nothing, True for a bar, or a function, whose result, if true, ends the call.
Progress = Union[None, bool, Callable[..., Any]]
#: How much of the whole is done, and what the bar says besides.
Shown = Tuple[float, str]


@contextmanager
def watched(
    progress: Progress, title: str, shown: Callable[..., Shown], total: Optional[float] = None, unit: str = "it"
) -> Iterator[Optional[Callable[..., Any]]]:
    """The callback of a call: the function, or one that moves a bar in a terminal or notebook as `shown` says of its
    arguments. tqdm is imported where a bar is asked for; without it there is a warning and no bar."""
    if progress is not True:
        yield progress or None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        warnings.warn("progress=True: tqdm, which draws the bar, is not installed", stacklevel=level())
        yield None
        return
    # Digits of a residual and flow times are no whole numbers.
    layout = None if unit == "it" else "{l_bar}{bar}| {n:.3g}/{total:.3g} " + unit + " [{elapsed}<{remaining}{postfix}]"
    with tqdm(total=total, desc=title, unit=unit, bar_format=layout) as bar:

        def move(*state: Any) -> None:
            done, text = shown(*state)
            bar.set_postfix_str(text, refresh=False)
            bar.update(done - bar.n)

        yield move


def residuals(progress: Progress, title: str, tol: float) -> Any:
    """Of a call whose progress is (iteration, residual, seconds): the bar counts digits of the residual down to `tol`."""
    digits = -math.log10(tol) if 0 < tol < 1 else None

    def shown(iteration: int, residual: float, seconds: float) -> Shown:
        text = f"{iteration} iterations, residual {residual:.1e}"
        if digits is None:
            return iteration, text
        return min(max(-math.log10(residual), 0.0), digits) if residual > 0 else digits, text

    return watched(progress, title, shown, digits, "it" if digits is None else "digits")
