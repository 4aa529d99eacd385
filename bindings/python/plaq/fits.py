"""Correlated fits with one and two states, ratios of three- and two-point functions, plateaus and the summation method.

All begin with an `Estimate`: a mean with its jackknife samples, as C.estimate(), plaq.jackknife and ratio give them. What
comes out are Estimates again, whose samples go on to whatever is computed from several of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._native import int32
from ._signatures import checks_keywords
from .analysis import Correlator, Estimate, jackknife

Basis = Callable[[np.ndarray], np.ndarray]


def estimate_of(value: np.ndarray, samples: np.ndarray) -> Estimate:
    """An Estimate with the jackknife error of its samples."""
    n = len(samples)
    apart = samples - samples.mean(axis=0)
    error = np.sqrt((n - 1) * np.mean(np.abs(apart) ** 2, axis=0)) if n > 1 else np.full(np.shape(value), np.nan)
    return Estimate(np.asarray(value), error, samples)


def covariance(found: Estimate, *, shrink: Union[float, str] = 0, cut: float = 0) -> np.ndarray:
    """The covariance (n, n) of an estimate of n real numbers, (B - 1) / B sum_b (f_b - f)(f_b - f)^T of its B jackknife
    samples. `shrink` in 0 to 1 moves it towards its diagonal, (1 - shrink) C + shrink diag C, "auto" by the amount of
    Ledoit and Wolf (J. Multivar. Anal. 88 (2004) 365) for correlations, as Schaefer and Strimmer (Stat. Appl. Genet. Mol.
    Biol. 4 (2005) 32) have it. `cut`: eigenvalues of the correlation matrix below cut times the largest are raised to it.
    Either makes errors of fits to few configurations too small (separable)."""
    samples = np.asarray(_estimate(found, "covariance").samples)
    n = len(samples)
    if samples.ndim != 2 or np.iscomplexobj(samples):
        raise ValueError(f"covariance: expected an estimate of real numbers (n,), found samples {samples.dtype} {samples.shape}")
    if n < 2:
        raise ValueError(f"covariance: expected two jackknife samples or more, found {n}")
    if not 0 <= cut < 1:
        raise ValueError(f"cut: expected 0 to below 1, found {cut}")
    apart = samples - samples.mean(axis=0)
    matrix = (n - 1) / n * apart.T @ apart
    sigma = np.sqrt(np.diag(matrix))
    if not (np.isfinite(matrix).all() and (sigma > 0).all()):
        raise ValueError(f"covariance: expected numbers that are finite and have errors, found errors {sigma}")
    correlation = matrix / np.outer(sigma, sigma)
    if shrink == "auto":
        unit = apart / apart.std(axis=0)
        products = unit[:, :, None] * unit[:, None, :]
        spread = n / (n - 1) ** 3 * ((products - products.mean(axis=0)) ** 2).sum(axis=0)
        off = ~np.eye(len(sigma), dtype=bool)
        size = (correlation[off] ** 2).sum()
        shrink = min(1.0, spread[off].sum() / size) if size > 0 else 1.0
    if isinstance(shrink, str) or not 0 <= shrink <= 1:
        raise ValueError(f'shrink: expected 0 to 1 or "auto", found {shrink!r}')
    correlation = (1 - shrink) * correlation + shrink * np.eye(len(sigma))
    if cut:
        values, vectors = np.linalg.eigh(correlation)
        correlation = (vectors * np.maximum(values, cut * values[-1])) @ vectors.T
    return correlation * np.outer(sigma, sigma)


@dataclass(frozen=True)
class Fit:
    """The result of a fit: `parameters` in the order of `names` as an Estimate, fit["E0"] one of them as an Estimate; chi2 with
    `dof` degrees of freedom, and the probability p of a larger chi2."""

    names: Tuple[str, ...]
    parameters: Estimate
    chi2: float
    dof: int
    p: float

    def __getitem__(self, name: str) -> Estimate:
        if name not in self.names:
            raise KeyError(f"{name!r}: expected one of {', '.join(self.names)}")
        k = self.names.index(name)
        value, error, samples = self.parameters
        return Estimate(value[k], error[k], samples[:, k])

    def __str__(self) -> str:
        pairs = zip(self.names, self.parameters.value, self.parameters.error)
        found = ", ".join(f"{name} = {value:.6g} +- {error:.2g}" for name, value, error in pairs)
        return f"{found}, chi2/dof = {self.chi2:.3g}/{self.dof}, p = {self.p:.2g}"


def separable(
    basis: Basis,
    start: Sequence[Sequence[float]],
    found: Estimate,
    names: Sequence[str],
    convert: Callable[[np.ndarray], np.ndarray] = lambda x: x,
    *,
    shrink: Union[float, str] = 0,
    cut: float = 0,
) -> Fit:
    """The fit sum_k a_k basis(x)[:, k] to an estimate of n numbers: linear parameters a are solved for at every x
    (variable projection, Golub, Pereyra, SIAM J. Numer. Anal. 10 (1973) 413), x by Levenberg's and Marquardt's
    method from the best of the values `start`; an empty x is a linear fit. `names` are the names of convert(x), then
    of a. Every jackknife sample is fitted with the covariance of the mean (`shrink` and `cut` are those of covariance()).
    Where that is neither shrunk nor cut the spread of the samples is multiplied by sqrt((B - 1)(B - 2) / ((B - 1 -
    dof)(B - 2 - dof))) for the noise of the covariance of B samples, with which errors of linear fits to normal data
    are exact, and p is that of Hotelling's distribution. Else p is that of chi2, which it does not follow, and errors of few
    configurations are too small: with 12 of 8 numbers about half of the intervals hold the truth (docs/fits.md). Fit fewer
    numbers or take more configurations, and neither shrink nor cut, or trust the errors, not the p, of shrink=1."""
    data, samples = np.asarray(_estimate(found, "fit").value), np.asarray(found.samples)
    if np.iscomplexobj(data) or data.ndim != 1:
        raise ValueError(f"fit: expected an estimate of real numbers (n,), found {data.dtype} {data.shape}")
    dof, bins = len(data) - len(names), len(samples)
    if dof < 0:
        raise ValueError(f"fit: expected at least {len(names)} numbers for {', '.join(names)}, found {len(data)}")
    whole = shrink == 0 and cut == 0
    if whole and bins < len(data) + 3:
        raise ValueError(
            f"fit: expected at least {len(data) + 3} jackknife samples for the covariance of {len(data)} numbers, found {bins}: "
            "shrink or cut it, or fit fewer"
        )
    # Residuals with unit covariance.
    try:
        root = np.linalg.cholesky(covariance(found, shrink=shrink, cut=cut))
    except np.linalg.LinAlgError:
        raise ValueError("fit: expected a positive covariance, found one that is not: shrink or cut it, or fit fewer") from None
    scale = np.abs(np.diag(root)).min()

    def whitened(x: np.ndarray) -> np.ndarray:
        return np.linalg.solve(root / scale, basis(x)) / scale

    def residual(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        columns = whitened(x)
        return y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]

    def fitted(y: np.ndarray, starts: Sequence[np.ndarray]) -> Tuple[np.ndarray, np.ndarray]:
        tried = [minimise(lambda x: residual(x, y), x) for x in starts]
        x = min(tried, key=lambda x: float((residual(x, y) ** 2).sum()))
        return x, np.concatenate([convert(x), np.linalg.lstsq(whitened(x), y, rcond=None)[0]])

    white = np.linalg.solve(root, np.concatenate([data[None], samples]).T).T
    best, value = fitted(white[0], [np.array(x, float) for x in start])
    spread = np.array([fitted(y, [best])[1] for y in white[1:]])
    chi2 = float((residual(best, white[0]) ** 2).sum())
    if whole:
        factor = (bins - 1) * (bins - 2) / ((bins - 1 - dof) * (bins - 2 - dof))
        middle = spread.mean(axis=0)
        spread = middle + math.sqrt(factor) * (spread - middle)
    p = 1.0 if dof == 0 else hotelling(chi2, dof, bins - 1) if whole else gamma_tail(dof / 2, chi2 / 2)
    return Fit(tuple(names), estimate_of(value, spread), chi2, dof, p)


def minimise(residual: Callable[[np.ndarray], np.ndarray], start: np.ndarray, steps: int = 200) -> np.ndarray:
    """The x near `start` with the least sum of squares of residual(x), by Levenberg's and Marquardt's method."""
    x, damping = np.array(start, float), 1e-3
    if not len(x):
        return x
    r = residual(x)
    for _ in range(steps):
        h = 1e-6 * np.maximum(np.abs(x), 1e-2)
        slopes = np.array([(residual(x + e) - residual(x - e)) / (2 * e.max()) for e in np.diag(h)]).T
        matrix, gradient = slopes.T @ slopes, slopes.T @ r
        while True:
            step = -np.linalg.solve(matrix + damping * np.diag(np.diag(matrix) + 1e-300), gradient)
            with np.errstate(over="ignore", invalid="ignore"):
                try:
                    next_r = residual(x + step)
                    better = (next_r**2).sum() <= (r**2).sum()
                except np.linalg.LinAlgError:  # too far
                    better = False
            if better or damping > 1e12:
                break
            damping *= 10
        if not better:
            break
        small = np.abs(step).max() < 1e-10 * max(1.0, float(np.abs(x).max()))
        x, r, damping = x + step, next_r, damping / 10
        if small:
            break
    return x


def correlator(
    data: Union[Correlator, Estimate],
    first: int,
    last: int,
    *,
    states: int = 1,
    form: Optional[str] = None,
    bin: int = 1,
    shrink: Union[float, str] = 0,
    cut: float = 0,
) -> Fit:
    """Energies "E0", "E1" and amplitudes "A0", "A1" of C(t) = sum_n A_n [exp(-E_n t) + s exp(-E_n (T - t))] from times
    `first` to `last`, with one or two `states`: s = 1 of the form "cosh", -1 of "sinh", 0 of "log". `data` is a Correlator, or
    an Estimate (T,) with a `form`. A Correlator that is symmetric in time is folded, and fitted to half of the times at most.
    `shrink` and `cut` of the covariance make errors of few configurations too small (separable)."""
    if states not in (1, 2):
        raise ValueError(f"states: expected 1 or 2, found {states}")
    if isinstance(data, Correlator):
        form = form or data.form
        found = (data if form == "log" else data.folded()).estimate(bin)
    else:
        found = _estimate(data, "data", "a Correlator or an Estimate")
    if form not in ("cosh", "sinh", "log"):
        raise ValueError(f"form: expected cosh, sinh or log, found {form!r}")
    times = len(found.value)
    final = times // 2 if form != "log" and isinstance(data, Correlator) else times - 1
    first, last = _window(first, last, final)
    t = np.arange(first, last + 1)
    sign = {"cosh": 1, "sinh": -1, "log": 0}[form]

    def energies(x: np.ndarray) -> np.ndarray:
        return np.cumsum(np.exp(np.clip(x, -30, 30)))

    def basis(x: np.ndarray) -> np.ndarray:
        e = energies(x)
        return np.exp(-np.outer(t, e)) + sign * np.exp(-np.outer(times - t, e))

    part = Estimate(*(np.asarray(numbers)[..., first : last + 1].real for numbers in found))
    # Where the correlator falls by itself: its slope in the second half of the times.
    middle, end = len(t) // 2, max(1, min(len(t) - 1, times // 2 - first if sign else len(t)))
    middle = min(middle, end - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = np.log(np.abs(part.value[middle] / part.value[end])) / (end - middle) if len(t) > 1 else 0.5
    slope = slope if np.isfinite(slope) and slope > 1e-3 else 0.5
    gaps = [[]] if states == 1 else [[math.log(gap)] for gap in (0.2, 0.6, 1.5)]
    start = [[math.log(slope)] + gap for gap in gaps]
    names = [f"{letter}{n}" for letter in "EA" for n in range(states)]
    fit = separable(basis, start, part, names, energies, shrink=shrink, cut=cut)
    if not 1e-10 < fit.parameters.value[0] < 1e10:
        raise ValueError(f"data: no positive energy fits times {first} to {last}: the correlator does not fall there")
    return fit


def ratio(three: Any, two_sink: Any, sink: int, two_source: Any = None, *, bin: int = 1) -> Estimate:
    """R(tau), tau = 0 to `sink`, of three-point functions `three` and two-point functions with the momentum of the sink,
    p', and of the source, p (by default the same), arrays (configurations, T), times from the source:
    C3(tau) / C2'(sink) sqrt[C2(sink - tau) C2'(tau) C2'(sink) / (C2'(sink - tau) C2(tau) C2(sink))], which becomes the matrix
    element between the lowest states, up to kinematic factors, far from source and sink; at rest C3(tau) / C2(sink). NaN where
    noise has made the root's argument negative."""
    sink = int32(sink, "sink")
    if sink < 0:
        raise ValueError(f"sink: expected a time from 0 on, found {sink}")
    arrays = [np.asarray(data) for data in (three, two_sink, two_sink if two_source is None else two_source)]
    for name, data in zip(("three", "two_sink", "two_source"), arrays):
        if data.ndim != 2 or data.shape[0] != arrays[0].shape[0] or not 0 <= sink < data.shape[1]:
            raise ValueError(
                f"{name}: expected an array ({arrays[0].shape[0]} configurations, more than {sink} times), found {data.shape}"
            )
    joined = np.stack([data[:, : sink + 1] for data in arrays], axis=1)

    def value(mean: np.ndarray) -> np.ndarray:
        c3, end, begin = mean
        if two_source is None:
            return c3 / end[sink].real
        end, begin = end.real, begin.real
        with np.errstate(invalid="ignore", divide="ignore"):
            inside = begin[::-1] * end * end[sink] / (end[::-1] * begin * begin[sink])
            return c3 / end[sink] * np.sqrt(inside)

    return jackknife(joined, value, bin)


def _estimate(found: Any, name: str, expected: str = "an Estimate") -> Estimate:
    if not isinstance(found, Estimate):
        kind = type(found).__name__
        raise TypeError(f"{name}: expected {expected}, as plaq.jackknife, C.estimate() and fits.ratio give it, found {kind}")
    return found


def _real(found: Estimate, name: str) -> Estimate:
    if np.iscomplexobj(_estimate(found, name).value):
        raise ValueError(f"{name}: expected real numbers, found {found.value.dtype}: take the real or imaginary part of the data")
    return found


def _window(first: int, last: int, final: int) -> Tuple[int, int]:
    """The first and the last time of a fit, which must be whole numbers from 0 to `final`."""
    first, last = int32(first, "first"), int32(last, "last")
    if not 0 <= first <= last <= final:
        raise ValueError(f"first, last: expected times from 0 to {final}, found {first} to {last}")
    return first, last


def plateau(found: Estimate, first: int, last: int, *, shrink: Union[float, str] = 0, cut: float = 0) -> Fit:
    """The constant "value" of an estimate (T,), a ratio or effective masses, from times `first` to `last`."""
    first, last = _window(first, last, len(_real(found, "plateau").value) - 1)
    part = Estimate(*(numbers[..., first : last + 1] for numbers in found))
    return separable(lambda _: np.ones((last + 1 - first, 1)), [[]], part, ["value"], shrink=shrink, cut=cut)


def _joined(ratios: Mapping[int, Estimate], skip: int) -> Tuple[np.ndarray, np.ndarray, Estimate]:
    """Sink times, times of the operator at least `skip` away from source and sink, and the ratios at these times in
    one array."""
    rows: List[Tuple[int, int]] = []
    values: List[np.ndarray] = []
    samples: List[np.ndarray] = []
    if not isinstance(ratios, Mapping):
        raise TypeError(f"ratios: expected {{sink: ratio, ...}}, found {type(ratios).__name__}")
    for sink, found in sorted(ratios.items()):
        if len(_real(found, f"ratios[{sink}]").value) != sink + 1:
            raise ValueError(f"ratios[{sink}]: expected {sink + 1} times, found {len(found.value)}")
        if samples and len(found.samples) != len(samples[0]):
            raise ValueError(f"ratios[{sink}]: expected {len(samples[0])} samples, found {len(found.samples)}")
        if not 0 <= 2 * skip <= sink:
            raise ValueError(f"skip: expected 0 to half of the sink's time {sink}, found {skip}")
        rows += [(sink, tau) for tau in range(skip, sink + 1 - skip)]
        values.append(found.value[skip : sink + 1 - skip])
        samples.append(found.samples[:, skip : sink + 1 - skip])
    if not rows:
        raise ValueError("ratios: expected some, found none")
    sinks, taus = np.array(rows).T
    together = np.concatenate(samples, axis=1)
    return sinks, taus, estimate_of(np.concatenate(values), together)


def summation(ratios: Mapping[int, Estimate], skip: int = 1, *, shrink: Union[float, str] = 0, cut: float = 0) -> Fit:
    """The summation method (Maiani et al., Nucl. Phys. B 293 (1987) 420): sums of the ratios {sink: R(tau)} over tau from
    `skip` to sink - skip are "constant" + "slope" sink, where the slope is the matrix element, other states falling off by
    their gap times the sink's time."""
    sinks, _, found = _joined(ratios, skip)
    times = np.unique(sinks)
    if len(times) < 2:
        raise ValueError(f"ratios: expected two sinks or more, found {len(times)}")
    chosen = (sinks == times[:, None]).astype(float)
    sums = estimate_of(chosen @ found.value, found.samples @ chosen.T)
    line = np.stack([times.astype(float), np.ones(len(times))], axis=1)
    return separable(lambda _: line, [[]], sums, ["slope", "constant"], shrink=shrink, cut=cut)


def two_states(
    ratios: Mapping[int, Estimate],
    skip: int = 1,
    *,
    gap: float = 0.5,
    shrink: Union[float, str] = 0,
    cut: float = 0,
) -> Fit:
    """Two states in ratios {sink: R(tau)} between equal momenta: "value" + "mixed" (exp(-gap tau) + exp(-gap (sink - tau))) +
    "excited" exp(-gap sink), tau from `skip` to sink - skip, with the "gap" between the states, which begins at `gap`. Of one
    sink "excited" is part of the value, and left out."""
    if not 0 < gap < math.inf:
        raise ValueError(f"gap: expected a positive number, found {gap}")
    sinks, taus, found = _joined(ratios, skip)
    more = len(np.unique(sinks)) > 1

    def basis(x: np.ndarray) -> np.ndarray:
        e = math.exp(min(max(x[0], -30), 30))
        columns = [np.ones(len(taus)), np.exp(-e * taus) + np.exp(-e * (sinks - taus))]
        return np.stack(columns + [np.exp(-e * sinks)] * more, axis=1)

    names = ["gap", "value", "mixed"] + ["excited"] * more
    start = [[math.log(gap * f)] for f in (1, 0.5, 2)]
    return separable(basis, start, found, names, np.exp, shrink=shrink, cut=cut)


def to_gvar(found: Estimate) -> Any:
    """An estimate of real numbers as gvar's variables with their covariance."""
    import gvar

    found = _estimate(found, "to_gvar")
    flat = Estimate(np.ravel(found.value), np.ravel(found.error), found.samples.reshape(len(found.samples), -1))
    return gvar.gvar(flat.value, covariance(flat)).reshape(np.shape(found.value))


def to_pyerrors(found: Estimate, ensemble: str) -> Any:
    """An estimate of real numbers as a list of pyerrors.Obs, of one number as an Obs, on the ensemble of this name."""
    import pyerrors

    columns = _estimate(found, "to_pyerrors").samples.reshape(len(found.samples), -1).T
    made = [
        pyerrors.import_jackknife(np.concatenate([[value], column]), ensemble)
        for value, column in zip(np.ravel(found.value), columns)
    ]
    return made if np.ndim(found.value) else made[0]


# ---- probabilities ----


def gamma_tail(a: float, x: float) -> float:
    """The regularised incomplete gamma function Q(a, x): gamma_tail(dof / 2, chi2 / 2) is the probability of a larger chi2."""
    if x <= 0:
        return 1.0
    head = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while abs(term) > 1e-16 * total:
            n += 1
            term *= x / n
            total += term
        return max(0.0, 1 - head * total)
    # The continued fraction, from the inside out.
    fraction = 0.0
    for k in range(500, 0, -1):
        fraction = k * (k - a) / (x + 2 * k + 1 - a - fraction)
    return head / (x + 1 - a - fraction)


def beta_head(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_head(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(1 - x)) / a
    fraction = 1.0
    for m in range(300, 0, -1):
        half, odd = m // 2, m % 2
        if odd:
            d = -(a + half) * (a + b + half) * x / ((a + m - 1) * (a + m))
        else:
            d = half * (b - half) * x / ((a + m - 1) * (a + m))
        fraction = 1 + d / fraction
    return front / fraction


def hotelling(t2: float, dof: int, samples: int) -> float:
    """The probability of a larger T^2 of Hotelling's distribution, chi2 with a covariance of so many degrees of freedom, the
    number of configurations or bins less one."""
    d, n = dof, samples
    if n < d:
        return math.nan
    f = (n - d + 1) / (d * n) * t2
    return beta_head((n - d + 1) / (n - d + 1 + d * f), (n - d + 1) / 2, d / 2)


checks_keywords(globals())
