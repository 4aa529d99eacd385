"""Hybrid Monte Carlo: chains as iterators over trajectories."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _native, capi
from ._files import new_file
from ._objects import Context, Object, whole
from ._progress import Progress, watched
from ._signatures import checks_keywords
from .gauge import Gauge
from .gauge import open as open_gauge


def toml(tables: Mapping[str, Any]) -> str:
    """The text in TOML of a dict whose values are numbers, texts, lists and dicts; lists of dicts are [[tables]]."""

    def value(of: Any) -> str:
        if isinstance(of, bool):
            return "true" if of else "false"
        if isinstance(of, str):
            return '"' + of.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        if isinstance(of, Mapping):
            return "{ " + ", ".join(f"{key} = {value(item)}" for key, item in of.items()) + " }"
        if isinstance(of, (list, tuple, np.ndarray)):
            return "[" + ", ".join(value(item) for item in of) + "]"
        if isinstance(of, (int, np.integer)):
            return str(int(of))
        if isinstance(of, (float, np.floating)):
            return repr(float(of))
        raise TypeError(f"input: expected numbers, texts, lists and dicts, found {type(of).__name__}")

    def is_tables(item: Any) -> bool:
        return isinstance(item, (list, tuple)) and bool(item) and all(isinstance(one, Mapping) for one in item)

    lines = [f"{k} = {value(v)}" for k, v in tables.items() if not isinstance(v, Mapping) and not is_tables(v)]
    for key, item in tables.items():
        parts = [item] if isinstance(item, Mapping) else item if is_tables(item) else []
        for part in parts:
            lines.append(f"\n[{key}]" if isinstance(item, Mapping) else f"\n[[{key}]]")
            lines.extend(f"{name} = {value(of)}" for name, of in part.items())
    return "\n".join(lines) + "\n"


class Hmc(Object):
    """A Markov chain of trajectories. Iterating runs them and gives the report of each: trajectory (its number), delta_h,
    accepted, plaquette, iterations, seconds. Between two of them `gauge` holds the links: a field that is still
    referred to elsewhere when the chain goes on stays what it is, and the chain takes a copy. Ctrl-C ends the chain after the trajectory that is running."""

    def __init__(self, handle: Any, gauge: Gauge, trajectories: Optional[int], progress: bool = False) -> None:
        super().__init__(handle, gauge.context)
        self.gauge, self._alone, self._progress = gauge, object(), progress
        #: Number of trajectories that an iteration runs; None: it does not end.
        self.trajectories = trajectories
        #: Reports of the trajectories that were run.
        self.history: List[capi.plaq_hmc_report] = []

    def _release(self) -> None:
        """Continues with a copy of the links if somebody else refers to them, who keeps them unchanged."""
        # If the links have more references than an object that this chain alone knows, somebody else holds them, too.
        if sys.getrefcount(self.gauge) > sys.getrefcount(self._alone):
            self.gauge = self.gauge.copy()

    def step(self, trajectories: int = 1, progress: Progress = None) -> capi.plaq_hmc_report:
        """Runs trajectories; returns a report of the last one and of averages over all. progress=True draws a bar; a
        function is called after each trajectory with trajectory, delta_h, accepted, plaquette, iterations and
        seconds."""
        self._release()
        report, done = capi.plaq_hmc_report(), iter(range(1, trajectories + 1))

        def shown(number: int, delta_h: float, accepted: int, plaquette: float, *_: Any) -> Tuple[float, str]:
            return next(done, trajectories), _says(plaquette, delta_h)

        with watched(progress, "trajectories", shown, trajectories) as callback:
            capi.plaq_hmc_run(self, self.gauge, trajectories, callback, report)
        self.history.append(report)
        return report

    def __iter__(self) -> Iterator[capi.plaq_hmc_report]:
        done = 0
        with watched(self._progress, "trajectories", lambda *state: state, self.trajectories) as tell:
            while self.trajectories is None or done < self.trajectories:
                report = self.step()
                done += 1
                if tell:
                    tell(done, _says(report.plaquette, report.delta_h))
                yield report

    def __len__(self) -> int:
        if self.trajectories is None:
            raise TypeError("this chain has no end")
        return self.trajectories

    @property
    def place(self) -> Dict[str, int]:
        """Position in the random streams: the seed, and the number of the next trajectory."""
        seed, trajectory = capi.plaq_hmc_place(self)
        return {"seed": seed, "trajectory": trajectory}

    def set_place(self, seed: int, trajectory: int) -> None:
        """Sets the position in the random streams, from which the chain goes on."""
        capi.plaq_hmc_set_place(self, seed, trajectory)

    def memory(self) -> int:
        """Largest memory of the device in bytes that trajectories take, besides that which the chain already holds."""
        return capi.plaq_hmc_memory(self, self.gauge)

    def monomials(self) -> Dict[str, capi.plaq_monomial_report]:
        """Numbers of each monomial in the last trajectory, by the monomial's name."""
        found = {}
        for number in range(capi.plaq_hmc_monomials(self)):
            report = capi.plaq_monomial_report()
            found[capi.plaq_hmc_monomial(self, number, report=report)] = report
        return found

    def save(self, file: Any, overwrite: bool = False) -> None:
        """Writes a checkpoint, an ILDG file from which load goes on bit for bit; an existing file is refused unless
        overwrite=True replaces it."""
        new_file(file, overwrite)
        capi.plaq_hmc_write(self, self.gauge, file)

    def load(self, file: Any) -> None:
        """Continues with the links and the position of a checkpoint."""
        self._release()
        capi.plaq_hmc_read(self, self.gauge, file)

    def column(self, name: str) -> np.ndarray:
        """One number of every trajectory so far: "plaquette", "delta_h", "accepted", ..."""
        return np.array([getattr(report, name) for report in self.history])

    def to_pyerrors(self, name: str = "plaquette", ensemble: str = "chain") -> Any:
        """A pyerrors.Obs of one number of every trajectory, whose names are those that column() takes, with the trajectories' numbers."""
        from .analysis import observable

        return observable(self.column(name), ensemble, self.column("next_trajectory"))

    def __repr__(self) -> str:
        place = f"next trajectory {self.place['trajectory']}" if self._end.alive else ""
        return self._say(f"{place}, {len(self.history)} done here")


def _says(plaquette: float, delta_h: float) -> str:
    return f"plaquette {plaquette:.6f}, dH {delta_h:+.3f}"


def hmc(
    input: Union[str, Path, Mapping[str, Any]],
    gauge: Optional[Gauge] = None,
    *,
    trajectories: Optional[int] = None,
    progress: bool = False,
    context: Optional[Context] = None,
) -> Hmc:
    """Creates a chain from an input: the path of a file in TOML, its text, or a dict of the same keys (docs/hmc.md).
    The first links are a copy of `gauge`, or those of the input's table `run`: its `lattice`, and its `start` "hot",
    "cold", the path of a configuration, or "checkpoint", which goes on from the file of the key `checkpoint`, or
    with hot links if that does not exist yet. Other keys of `run`, for files and measurements, are those of the
    program `plaq hmc` and have no effect here; unknown ones are refused. `trajectories` is the number of
    trajectories of an iteration, by default that of `run`; `progress` draws a bar."""
    if isinstance(input, Mapping):
        text = toml(input)
    elif isinstance(input, Path) or ("\n" not in input and ("=" not in input or Path(input).exists())):
        text = Path(input).read_text()
    else:
        text = input
    capi.plaq_input_check_run(text)
    if trajectories is None:
        number, found = capi.plaq_input_number(text, "run.trajectories", 0)
        trajectories = whole(number, "run.trajectories") if found else None
    if gauge is None:
        read = [capi.plaq_input_number(text, f"run.lattice.{i}", 0) for i in range(4)]
        start, _ = capi.plaq_input_text(text, "run.start")
        if start.lower() in ("hot", "cold", "checkpoint"):
            start = start.lower()
        seed, _ = capi.plaq_input_number(text, "seed", 0)
        bounds: Dict[str, Any] = {}
        for key in ("phi", "phi_prime"):
            angles = [capi.plaq_input_number(text, f"run.{key}.{i}", 0) for i in range(3)]
            if any(found for _, found in angles):
                bounds[key] = [angle for angle, _ in angles]
        kind, found = capi.plaq_input_text(text, "run.boundary_time")
        if found:
            bounds["boundary_time"] = kind
        if start not in ("", "hot", "cold", "checkpoint"):
            gauge = open_gauge(start, context=context, **bounds)
        elif not all(found for _, found in read):
            raise ValueError("hmc: expected a gauge field, or [run] with lattice = [x, y, z, t] in the input")
        else:
            extents = [whole(number, "run.lattice") for number, _ in read]
            if capi.plaq_input_number(text, "run.lattice.4", 0)[1]:
                raise ValueError("hmc: run.lattice: expected four numbers [x, y, z, t], found more")
            gauge = (
                Gauge.unit(extents, context=context, **bounds)
                if start == "cold"
                else Gauge.hot(extents, _native.int64(seed, "seed"), context=context, **bounds)
            )
        kept, found = capi.plaq_input_text(text, "run.checkpoint")
        if start == "checkpoint" and found and Path(kept).exists():
            chain = Hmc(capi.plaq_hmc_create(gauge, text), gauge, trajectories, progress)
            chain.load(kept)
            return chain
    return Hmc(capi.plaq_hmc_create(gauge, text), gauge, trajectories, progress)


checks_keywords(globals())
