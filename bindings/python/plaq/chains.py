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
    """A Markov chain of trajectories. Iterating runs them and gives the report of each: trajectory number
    `next_trajectory` - 1, delta_h, last_accepted, plaquette, iterations, trajectory_seconds. Between two of them
    `gauge` holds the links: a field that is still referred to elsewhere when the chain goes on stays what it is, and the
    chain takes a copy. Ctrl-C ends the chain after the trajectory that it comes in."""

    def __init__(self, handle: Any, gauge: Gauge, trajectories: Optional[int], progress: bool = False) -> None:
        super().__init__(handle, gauge.context)
        self.gauge, self._alone, self._progress = gauge, object(), progress
        #: How many an iteration runs; None: no end.
        self.trajectories = trajectories
        #: Reports of the trajectories that were run.
        self.history: List[capi.plaq_hmc_report] = []

    def _release(self) -> None:
        """Leaves links that somebody else refers to as they are, and goes on with a copy."""
        # As many references as to an object that this chain alone knows: nobody else has it.
        if sys.getrefcount(self.gauge) > sys.getrefcount(self._alone):
            self.gauge = self.gauge.copy()

    def step(self, trajectories: int = 1, progress: Progress = None) -> capi.plaq_hmc_report:
        """Runs trajectories; the report is that of the last one and of their averages. progress=True draws a bar, a
        function hears of trajectory, delta_h, accepted, plaquette, iterations and seconds after each."""
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
        """Seed, and number of the next trajectory."""
        seed, trajectory = capi.plaq_hmc_place(self)
        return {"seed": seed, "trajectory": trajectory}

    def set_place(self, seed: int, trajectory: int) -> None:
        """Goes on at another place of the random streams."""
        capi.plaq_hmc_set_place(self, seed, trajectory)

    def memory(self) -> int:
        """Memory of the device in bytes that trajectories take at most, beside what the chain holds."""
        return capi.plaq_hmc_memory(self, self.gauge)

    def monomials(self) -> Dict[str, capi.plaq_monomial_report]:
        """What the monomials did in the last trajectory, by name."""
        found = {}
        for number in range(capi.plaq_hmc_monomials(self)):
            report = capi.plaq_monomial_report()
            found[capi.plaq_hmc_monomial(self, number, report=report)] = report
        return found

    def save(self, path: Any, overwrite: bool = False) -> None:
        """A checkpoint, an ILDG file from which load goes on bit for bit; overwrite=True replaces the one before, else a
        file that exists is refused."""
        new_file(path, overwrite)
        capi.plaq_hmc_write(self, self.gauge, path)

    def load(self, path: Any) -> None:
        """Takes links and place of a checkpoint."""
        self._release()
        capi.plaq_hmc_read(self, self.gauge, path)

    def column(self, name: str) -> np.ndarray:
        """A number of all trajectories so far: "plaquette", "delta_h", "last_accepted", ..."""
        return np.array([getattr(report, name) for report in self.history])

    def to_pyerrors(self, name: str = "plaquette", ensemble: str = "chain") -> Any:
        """A pyerrors.Obs of such numbers, at the numbers of their trajectories."""
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
    """A chain of an input: the path of a file in TOML, its text, or a dict of the same keys (docs/hmc.md). Links are
    those of `gauge`, which stays what it is (the chain goes on with a copy), or begin as its table `run` says: `lattice`, and `start` "hot", "cold"
    the path of a configuration, or "checkpoint": that of the key `checkpoint`, from which the chain goes on, or hot
    links where there is none yet. `trajectories`: how many an iteration runs, by default those of `run`;
    `progress`: with a bar."""
    if isinstance(input, Mapping):
        text = toml(input)
    elif isinstance(input, Path) or ("\n" not in input and ("=" not in input or Path(input).exists())):
        text = Path(input).read_text()
    else:
        text = input
    if trajectories is None:
        number, found = capi.plaq_input_number(text, "run.trajectories", 0)
        trajectories = whole(number, "run.trajectories") if found else None
    if gauge is not None:
        kind, found = capi.plaq_input_text(text, "run.boundary_time")
        if found and kind != gauge.boundary_time:
            raise ValueError(f"hmc: run.boundary_time: expected {gauge.boundary_time}, as links have, found {kind}")
    if gauge is None:
        read = [capi.plaq_input_number(text, f"run.lattice.{i}", 0) for i in range(4)]
        start, _ = capi.plaq_input_text(text, "run.start")
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
