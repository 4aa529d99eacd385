"""Correlators over configurations: jackknife errors, effective masses, and what other packages take."""

from __future__ import annotations

import io
import operator
import os
import shutil
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._files import in_place_of, new_file
from ._native import int32
from ._signatures import checks_keywords
from .arrays import Labelled


class Estimate(NamedTuple):
    """A value, or an array of values, with its error and its jackknife samples (samples, ...)."""

    value: np.ndarray
    error: np.ndarray
    samples: np.ndarray

    def __repr__(self) -> str:
        return f"<Estimate {self}, {len(self.samples)} samples>"

    def __str__(self) -> str:
        pairs = zip(np.ravel(self.value), np.ravel(self.error))
        return ", ".join(f"{value:.6g} +- {error:.2g}" for value, error in pairs)


def jackknife(data: Any, function: Optional[Callable[[np.ndarray], Any]] = None, bin: int = 1) -> Estimate:
    """`function` of the mean over the first index of `data` (by default the mean itself), with the jackknife error of
    leaving out `bin` configurations at a time: sqrt((B - 1) / B sum_b (f_b - f)^2) of B bins, f the mean of the f_b.
    Configurations that fill no bin at the end belong to the last one."""
    data = np.asarray(data)
    if data.ndim == 0 or len(data) == 0:
        raise ValueError(f"data: expected numbers of configurations, found shape {data.shape}")
    function = function or (lambda mean: mean)
    value = np.asarray(function(data.mean(axis=0)))
    if not 1 <= bin <= len(data):
        raise ValueError(f"bin: expected 1 to {len(data)}, the number of configurations, found {bin}")
    bins = len(data) // bin
    if bins < 2:
        return Estimate(value, np.full(value.shape, np.nan), value[None])
    ends = [(b + 1) * bin for b in range(bins - 1)] + [len(data)]
    total = data.sum(axis=0)
    samples = np.array(
        [
            function((total - data[first:end].sum(axis=0)) / (len(data) - (end - first)))
            for first, end in zip(range(0, bins * bin, bin), ends)
        ]
    )
    error = np.sqrt((bins - 1) * np.mean(np.abs(samples - samples.mean(axis=0)) ** 2, axis=0))
    return Estimate(value, error, samples)


def gevp(data: Any, t0: int, bin: int = 1) -> Estimate:
    """Generalised eigenvalues of correlator matrices: `data` (configurations, N, N, T), C(t) v = lambda(t) C(t0) v for all t,
    the largest first, with jackknife errors; value (T, N). Where C(t) = sum_n exp(-E_n t) u_n u_n^dagger, lambda_n is
    exp(-E_n (t - t0)) (Luescher, Wolff, Nucl. Phys. B 339, 222). Matrices count as hermitian."""
    data = np.asarray(data)
    if data.ndim != 4 or data.shape[1] != data.shape[2]:
        raise ValueError(f"data: expected an array (configurations, N, N, T), found shape {data.shape}")
    if not np.isfinite(data).all():
        raise ValueError("data: expected finite numbers, found others")
    t0 = int32(t0, "t0")
    if not 0 <= t0 < data.shape[3]:
        raise ValueError(f"t0: expected 0 to {data.shape[3] - 1}, found {t0}")

    def values(mean: np.ndarray) -> np.ndarray:
        matrices = np.moveaxis(mean, 2, 0)
        matrices = (matrices + matrices.conj().swapaxes(1, 2)) / 2
        try:
            inverse = np.linalg.inv(np.linalg.cholesky(matrices[t0]))
        except np.linalg.LinAlgError:
            raise ValueError(f"t0: expected a positive matrix at time {t0}, found eigenvalues that are not") from None
        return np.linalg.eigvalsh(inverse @ matrices @ inverse.conj().T)[:, ::-1]

    return jackknife(data, values, bin)


def energies(found: Estimate) -> Estimate:
    """Effective energies ln[lambda(t) / lambda(t + 1)] (T - 1, N) of what gevp found, NaN where there is none."""

    def logarithm(values: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.log(values[..., :-1, :] / values[..., 1:, :])

    samples = logarithm(found.samples)
    n = len(samples)
    error = np.sqrt((n - 1) * np.var(samples, axis=0)) if n > 1 else np.full(samples.shape[1:], np.nan)
    return Estimate(logarithm(found.value), error, samples)


def picture(plot: Callable[[Any], Any]) -> Optional[str]:
    """A figure as SVG, which `plot` draws on matplotlib's axes, for notebooks; None without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure, text = Figure(figsize=(5, 3.2)), io.StringIO()
    plot(figure.subplots())
    figure.savefig(text, format="svg")
    return text.getvalue()


def _mirrored(data: np.ndarray) -> np.ndarray:
    """The correlators reflected in time: C(T - t) at t, and C(0) at 0."""
    return np.roll(data[..., ::-1], 1, axis=-1)


def _symmetry(data: np.ndarray) -> str:
    mean = data.mean(axis=0)
    return "sinh" if np.vdot(_mirrored(mean)[1:], mean[1:]).real < 0 else "cosh"


class Distances(NamedTuple):
    """Places of the times 0 .. T - 1 of a correlator on a lattice, arrays (T,)."""

    #: The time slice of the lattice.
    slices: np.ndarray
    #: From the source, positive behind it; with periodic time the shorter way around.
    source: np.ndarray
    #: From slice 0, and from the last one T of the lattice, where links have boundaries in time; else None.
    lower: Optional[np.ndarray]
    upper: Optional[np.ndarray]


#: How far the last slice T is beyond slice N_t - 1, by boundary in time.
_BEYOND = {"open": 0, "sf": 1, "open_sf": 1}


def _equal(one: Any, other: Any) -> bool:
    return np.shape(one) == np.shape(other) and bool(np.all(np.asarray(one) == np.asarray(other)))


def _shared(abouts: Sequence[Dict[str, Any]]) -> Dict[str, Any]:
    """The entries that all descriptions have, with equal values."""
    return {key: value for key, value in abouts[0].items() if all(key in one and _equal(one[key], value) for one in abouts)}


def _turned(about: Dict[str, Any]) -> Dict[str, Any]:
    """What stays true of a correlator with C(T - t) in it: all but the formula of C(t)."""
    return {key: value for key, value in about.items() if key != "convention"}


def _source(array: Labelled) -> Optional[int]:
    """The source time of a correlator at all times, where the array knows it."""
    axis, time = array.axes[-1] if array.ndim else None, array.times
    return time if axis is not None and axis.values is None and isinstance(time, int) else None


class Correlator:
    """A correlator C(t), t the time from the source in lattice units, of one or more configurations: `data` is an
    array (configurations, T), which np.array(C) copies. As a sequence, C[t], len(C) = T, it is the mean over them.
    `source_time`: the source's time slice, by default that which correlators of distillation know, and `boundary_time` of
    links, from which `distances` follow. `about` has what all of a list of correlators say. With boundaries in
    time the slices before the source are at the end, as with periodic time, and the form is "log"."""

    def __init__(
        self,
        data: Any,
        *,
        name: str = "",
        form: Optional[str] = None,
        configurations: Optional[Sequence[int]] = None,
        gammas: Tuple[str, str] = ("", ""),
        source_time: Optional[int] = None,
        boundary_time: str = "periodic",
    ) -> None:
        #: What else is known of the numbers: attributes of a file, or what they were contracted from.
        self.about: Dict[str, Any] = dict(getattr(data, "about", {}))
        known = list(data) if isinstance(data, (list, tuple)) else [data]
        if known and all(isinstance(one, Labelled) for one in known):
            self.about = _shared([one.about for one in known])
            if source_time is None and len({_source(one) for one in known}) == 1:
                source_time = _source(known[0])
        data = np.array(data)
        if data.ndim == 1:
            data = data[None]
        if data.ndim != 2:
            raise ValueError(f"data: expected an array (configurations, T), found shape {data.shape}")
        self.data, self.name, self.gammas = data, name, gammas
        #: How it falls: "cosh" of mesons, "sinh" of those that are odd in time, else "log", exp(-m t), of baryons. Where
        #: nothing is said, "cosh" or "sinh" as C(t) and C(T - t) have mostly the same sign or the other one.
        self.form = form or ("log" if boundary_time != "periodic" else _symmetry(data))
        if self.form not in ("cosh", "sinh", "log"):
            raise ValueError(f"form: expected cosh, sinh or log, found {form!r}")
        if boundary_time != "periodic" and boundary_time not in _BEYOND:
            raise ValueError(f"boundary_time: expected periodic, {', '.join(_BEYOND)}, found {boundary_time!r}")
        if boundary_time != "periodic" and self.form != "log":
            raise ValueError(f"form: expected log with boundary_time {boundary_time}, found {form!r}")
        if source_time is not None and not 0 <= source_time < data.shape[1]:
            raise ValueError(f"source_time: expected 0 to {data.shape[1] - 1}, found {source_time}")
        #: Time slice of the source, None where nothing tells it, and boundaries of the links in time.
        self.source_time = None if source_time is None else operator.index(source_time)
        self.boundary_time = boundary_time
        self._counted = configurations is None
        numbers = list(range(1, len(data) + 1)) if configurations is None else [operator.index(n) for n in configurations]
        if len(numbers) != len(data):
            raise ValueError(f"configurations: expected {len(data)} numbers, found {len(numbers)}")
        self.configurations: List[int] = numbers

    @classmethod
    def join(cls, parts: Iterable["Correlator"], configurations: Optional[Sequence[int]] = None) -> "Correlator":
        """The correlator of several configurations from correlators of some each, all of one kind. Their numbers are kept
        where parts were made with numbers, else configurations are counted from 1."""
        listed = list(parts)
        if not listed:
            raise ValueError("parts: expected at least one correlator, found none")
        first = listed[0]
        for number, one in enumerate(listed):
            if not isinstance(one, Correlator):
                raise TypeError(f"parts[{number}]: expected a Correlator, found {type(one).__name__}")
            if one.times != first.times:
                raise ValueError(f"parts[{number}]: expected {first.times} times, found {one.times}")
            whats = ["name", "form", "gammas", "boundary_time"]
            if first.boundary_time != "periodic":
                # At other distances from the boundaries it is another correlator.
                whats.append("source_time")
            for what in whats:
                mine, theirs = getattr(first, what), getattr(one, what)
                if mine != theirs:
                    raise ValueError(f"parts[{number}]: expected the {what} {mine!r} of the first, found {theirs!r}")
        data = np.concatenate([one.data for one in listed])
        if configurations is None and not all(one._counted for one in listed):
            configurations = [n for one in listed for n in one.configurations]
            twice = [n for k, n in enumerate(configurations) if n in configurations[:k]]
            if twice:
                raise ValueError(f"parts: expected each configuration once, found number {twice[0]} twice")
        same = all(one.source_time == first.source_time for one in listed)
        return first._like(data, configurations, first.source_time if same else None, _shared([one.about for one in listed]))

    def _like(
        self, data: np.ndarray, configurations: Optional[Sequence[int]], source_time: Optional[int], about: Dict[str, Any]
    ) -> "Correlator":
        found = Correlator(
            data,
            name=self.name,
            form=self.form,
            configurations=configurations,
            gammas=self.gammas,
            source_time=source_time,
            boundary_time=self.boundary_time,
        )
        found.about = about
        return found

    @classmethod
    def average(cls, parts: Iterable["Correlator"], odd: bool = False) -> "Correlator":
        """The average over sources of correlators of the same configurations; `about` has what all of them say. With
        boundaries in time sources must have the same distances from them: on the slice of the first one, or between two
        boundaries of one kind on its mirror image T - t, whose correlator is reflected in time, with the other sign if it
        is `odd` under this."""
        listed = list(parts)
        if not listed:
            raise ValueError("parts: expected at least one correlator, found none")
        first, rows, abouts = listed[0], [], [one.about for one in listed]
        for number, one in enumerate(listed):
            for what in ("times", "configurations", "name", "form", "gammas", "boundary_time"):
                mine, theirs = getattr(first, what), getattr(one, what)
                if mine != theirs:
                    raise ValueError(f"parts[{number}]: expected the {what} {mine!r} of the first, found {theirs!r}")
            if first.boundary_time == "periodic" or one.source_time is not None and one.source_time == first.source_time:
                rows.append(one.data)
                continue
            at, image = first.source_time, None
            if at is not None and first.boundary_time != "open_sf":
                image = first.times - 1 + _BEYOND[first.boundary_time] - at
            if one.source_time is None or one.source_time != image:
                beside = f" or {image}" if image is not None else ""
                raise ValueError(
                    f"parts[{number}]: expected a source on slice {at}{beside}, as the first one has with boundary_time "
                    f"{first.boundary_time}, found {one.source_time}"
                )
            rows.append((-1 if odd else 1) * _mirrored(one.data))
            abouts[number] = _turned(one.about)
        same = all(one.source_time == first.source_time for one in listed)
        kept = same or first.boundary_time != "periodic"
        numbers = None if first._counted else first.configurations
        return first._like(np.mean(rows, axis=0), numbers, first.source_time if kept else None, _shared(abouts))

    def __len__(self) -> int:
        return self.times

    def __getitem__(self, t: Any) -> Any:
        return self.mean[t]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.mean)

    @property
    def times(self) -> int:
        """The extent of the lattice in time."""
        return self.data.shape[1]

    @property
    def distances(self) -> Distances:
        """Positions of the times of the correlator on the lattice: `slices`, and distances from the `source` and, with
        boundaries in time, from the `lower` and the `upper` one."""
        if self.source_time is None:
            raise ValueError(f"source_time: expected the slice of the source of {self.name or 'the correlator'}, found None")
        t = np.arange(self.times)
        slices = (self.source_time + t) % self.times
        if self.boundary_time == "periodic":
            return Distances(slices, np.minimum(t, self.times - t), None, None)
        last = self.times - 1 + _BEYOND[self.boundary_time]
        return Distances(slices, slices - self.source_time, slices, last - slices)

    @property
    def mean(self) -> np.ndarray:
        """Average over the configurations, (T,)."""
        return self.data.mean(axis=0)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        wanted = self.data.dtype if dtype is None else np.dtype(dtype)
        if copy is False and wanted != self.data.dtype:
            raise ValueError(f"copy: numbers of {self.data.dtype} cannot be had as {wanted} without a copy")
        return self.data.astype(wanted, copy=bool(copy))

    def estimate(self, bin: int = 1) -> Estimate:
        """C(t) with jackknife errors."""
        return jackknife(self.data, bin=bin)

    def folded(self) -> "Correlator":
        """The average of C(t) and C(T - t), of the form "sinh" of C(t) and -C(T - t). Of a baryon ("log") C(T - t) is
        the partner of other parity: it is refused; the partner's own correlator is that of parity=-1. With boundaries in
        time, where C(T - t) is at another distance from them, it is refused, too."""
        if self.boundary_time != "periodic":
            raise ValueError(
                f"folded: expected a correlator that is periodic in time, found boundary_time {self.boundary_time}; "
                "Correlator.average takes mirror images"
            )
        if self.form == "log":
            raise ValueError(
                f"folded: {self.name or 'a correlator of the form log'} is another state at T - t, for baryons that of "
                "the other parity: expected the form cosh or sinh"
            )
        sign = -1 if self.form == "sinh" else 1
        data = (self.data + sign * _mirrored(self.data)) / 2
        numbers = None if self._counted else self.configurations
        return self._like(data, numbers, self.source_time, _turned(self.about))

    def effective_mass(self, form: Optional[str] = None, bin: int = 1) -> Estimate:
        """Effective masses with jackknife errors, NaN where there is none: "cosh" and "sinh",
        arcosh[(C(t-1) + C(t+1)) / 2 C(t)], or "log", ln[C(t) / C(t+1)]. With boundaries in time "log" alone, with the
        neighbour that is farther from the source, and none where that is a boundary."""
        from . import capi

        kind = form or self.form
        if self.boundary_time != "periodic":
            if kind != "log":
                raise ValueError(f"form: expected log with boundary_time {self.boundary_time}, found {kind!r}")
            return jackknife(self.data, self._outward, bin)
        if kind == "sinh":  # obeys the same relation of three neighbours
            kind = "cosh"

        def masses(mean: np.ndarray) -> np.ndarray:
            found = np.empty(self.times)
            capi.plaq_correlator_effective_mass(np.ascontiguousarray(mean.real, float), self.times, kind, found)
            return found

        return jackknife(self.data, masses, bin)

    def _outward(self, mean: np.ndarray) -> np.ndarray:
        """ln of C over C one slice farther from the source, NaN where there is no such slice inside the lattice."""
        from . import capi

        source, found = int(self.distances.slices[0]), np.empty(self.times)
        values = np.ascontiguousarray(mean.real, float)
        capi.plaq_correlator_outward_mass(values, self.times, source, self.boundary_time, found)
        return found

    def plateau(self, first: int, last: int, form: Optional[str] = None, bin: int = 1) -> Estimate:
        """The mean of the effective masses at times `first` to `last`, weighted by their errors, with its jackknife
        error; of one configuration the plain mean."""
        found = self.effective_mass(form, bin)
        times = slice(first, last + 1)
        values, errors = found.value[times], found.error[times]
        if not 0 <= first <= last < self.times or np.isnan(values).any():
            raise ValueError(f"plateau: expected times with effective masses, found {first} to {last}: {found.value}")
        weights = np.ones(len(values)) if np.isnan(errors).any() or not errors.all() else errors**-2
        samples = np.average(found.samples[:, times], axis=1, weights=weights)
        n = len(samples)
        spread = np.sqrt((n - 1) * np.var(samples)) if n > 1 else np.nan
        return Estimate(np.average(values, weights=weights), np.asarray(spread), samples)

    def plot(self, ax: Any = None, *, mass: bool = True, bin: int = 1, **more: Any) -> Any:
        """Effective masses, or with mass=False the correlator, with errors by matplotlib. With boundaries in time over the
        slices of the lattice, with lines at the source and, dashed, at the boundaries."""
        if ax is None:
            import matplotlib.pyplot

            ax = matplotlib.pyplot.gca()
        found = self.effective_mass(bin=bin) if mass else self.estimate(bin=bin)
        more.setdefault("label", self.name)
        across = np.arange(self.times)
        if self.boundary_time != "periodic":
            across, upper = self.distances.slices, self.distances.upper
            assert upper is not None
            ax.axvline(self.source_time, color="0.6", linewidth=0.8)
            for end in (0, int(across[0] + upper[0])):
                ax.axvline(end, color="0.6", linewidth=0.8, linestyle="--")
        ax.errorbar(across, found.value.real, found.error, fmt=more.pop("fmt", "."), **more)
        ax.set_xlabel("t / a" if self.boundary_time == "periodic" else "x0 / a")
        ax.set_ylabel("effective mass × a" if mass else "C(t)")
        if not mass:
            ax.set_yscale("log")
        return ax

    def _repr_svg_(self) -> Optional[str]:
        return picture(self.plot)

    # ---- for other packages, which are imported here only ----

    def to_pyerrors(self, ensemble: str) -> Any:
        """A pyerrors.Corr on the ensemble of this name."""
        import pyerrors

        observables = [pyerrors.Obs([column], [ensemble], idl=[self.configurations]) for column in self.data.real.T]
        corr = pyerrors.Corr(observables)
        corr.tag = self.name
        return corr

    def to_gvar(self, bin: int = 1) -> Any:
        """An array of gvar's variables with the covariance of the mean."""
        import gvar

        samples = jackknife(self.data.real, bin=bin).samples
        if len(samples) < 2:
            raise ValueError(f"to_gvar: expected two configurations or more for a covariance, found {len(samples)}")
        apart = samples - samples.mean(axis=0)
        return gvar.gvar(self.mean.real, (len(samples) - 1) / len(samples) * apart.T @ apart)

    def to_xarray(self) -> Any:
        """An xarray.DataArray with dimensions configuration and t."""
        import xarray

        return xarray.DataArray(
            self.data,
            dims=("configuration", "t"),
            name=self.name or None,
            coords={"configuration": self.configurations, "t": np.arange(self.times)},
        )

    def to_hdf5(
        self, stem: Any, group: str = "meson", *, overwrite: bool = False, append: bool = False
    ) -> List[str]:
        """A file STEM.NUMBER.h5 for every configuration as Hadrons writes it, which pyerrors.input.hadrons reads:
        entry GROUP/GROUP_0 with attributes gamma_snk and gamma_src. Where one of the files exists all are refused, unless
        overwrite=True replaces them or append=True adds an entry to each. Every file appears complete or stays as it was."""
        import h5py

        for number in self.configurations:
            new_file(f"{stem}.{number}.h5", overwrite, append)
        written = []
        numbers = np.dtype([("re", "<f8"), ("im", "<f8")])
        for number, row in zip(self.configurations, self.data):
            path = f"{stem}.{number}.h5"
            adding = not overwrite and os.path.exists(path)
            with in_place_of(path) as to:
                if adding:
                    shutil.copy(path, to)
                with h5py.File(to, "r+" if adding else "w") as file:
                    top = file.require_group(group)
                    entry = top.create_group(f"{group}_{len(top)}")
                    values = np.ascontiguousarray(row, complex).view(numbers)
                    entry.create_dataset("corr", data=values)
                    texts = {"gamma_snk": self.gammas[0], "gamma_src": self.gammas[1], "name": self.name}
                    for key, value in texts.items():
                        entry.attrs[key] = np.array([value.encode() or b"-"])
            written.append(path)
        return written

    def __repr__(self) -> str:
        return f"<Correlator {self.name}, {len(self.data)} configurations, T = {self.times}>"

    def __str__(self) -> str:
        found = self.effective_mass()
        lines = [f"# {self.name}, {len(self.data)} configurations: t, C(t), effective mass"]
        estimate = self.estimate()
        for t in range(self.times):
            mass = f"{found.value[t]:.6f}"
            error, spread = f" +- {estimate.error[t]:.1e}", f" +- {found.error[t]:.6f}"
            many = len(self.data) > 1
            lines.append(f"{t:3d}  {estimate.value[t].real:.9e}{error * many}  {mass}{spread * many}")
        return "\n".join(lines)


def observable(data: Any, ensemble: str, configurations: Any = None) -> Any:
    """A pyerrors.Obs of one number a configuration or trajectory, e.g. of a chain's plaquettes."""
    import pyerrors

    values = np.asarray(data, float)
    numbers: Union[range, List[int]] = (
        range(1, len(values) + 1) if configurations is None else [operator.index(n) for n in configurations]
    )
    return pyerrors.Obs([values], [ensemble], idl=[numbers])


checks_keywords(globals())
