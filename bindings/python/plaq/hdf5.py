"""Arrays, correlators and perambulators in HDF5 files, by h5py: names are paths of groups, complex numbers compounds (r, i),
and every dataset has the attribute `indices`, what its axes are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, List, Mapping, Tuple

import numpy as np

from ._files import new_file
from ._signatures import checks_keywords
from .analysis import Correlator
from .perambulators import Perambulators, of_modes

#: Axes of the array of a correlator.
CORRELATOR = "configuration, t"


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise ImportError("HDF5 files need h5py: pip install h5py") from None
    return h5py


def _opened(path: Any, mode: str = "r") -> Any:
    """Opens a file that exists by h5py; errors name it."""
    name = os.fsdecode(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{name}: No such file or directory")
    if os.path.isdir(path):
        raise IsADirectoryError(f"{name}: expected a file in HDF5, found a folder")
    h5py = _h5py()
    if os.access(path, os.R_OK) and not h5py.is_hdf5(path):
        raise OSError(f"{name}: expected a file in HDF5, found one of another kind")
    try:
        return h5py.File(path, mode)
    except OSError as error:
        raise OSError(f"{name}: expected a whole HDF5 file, found: {error}") from None


def _parts(name: str, value: Any) -> List[Tuple[str, np.ndarray, Dict[str, Any]]]:
    """Datasets that a value is stored in: name, numbers, attributes."""
    if isinstance(value, Correlator):
        about: Dict[str, Any] = {"name": value.name, "form": value.form, "configurations": value.configurations}
        about["gammas"], about["boundary_time"] = list(value.gammas), value.boundary_time
        if value.source_time is not None:
            about["source_time"] = value.source_time
        return [(name, value.data, {"kind": "correlator", "indices": CORRELATOR, **about})]
    if isinstance(value, Perambulators):
        each = zip(value.times, value.numbers)
        return [(f"{name}/t{t}", numbers, {**value.about, "source_time": t}) for t, numbers in each]
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{name}: expected numbers, a Correlator or Perambulators, found {type(value).__name__}")
    return [(name, array, {"indices": ", ".join(f"axis {i}" for i in range(array.ndim))})]


def write(
    file: Any, contents: Mapping[str, Any], *, overwrite: bool = False, append: bool = False, **attributes: Any
) -> None:
    """Writes arrays, Correlators and Perambulators under these names ("group/name"), `attributes` at the root with the version
    of the library. A file that exists is refused unless overwrite=True replaces it or append=True adds to it, names that it
    has are refused then. A new file appears complete or not at all. Attributes of one dataset: contents
    {"name": (array, {"indices": "momentum, t"})}."""
    from . import capi

    file = Path(file)
    exists = new_file(file, overwrite, append)
    parts = []
    for name, value in contents.items():
        more = value[1] if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], dict) else {}
        found = _parts(name, value[0] if more else value)
        parts += [(where, numbers, {**about, **more}) for where, numbers, about in found]
    adding = exists and append
    to = file if adding else file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with _opened(to, "r+") if adding else _h5py().File(to, "w") as opened:
            there = [where for where, _, _ in parts if where in opened]
            if there:
                raise FileExistsError(f"{file}: {', '.join(there)}: there already")
            for where, numbers, about in parts:
                opened.create_dataset(where, data=numbers).attrs.update(about)
            opened.attrs.update({"plaq_version": capi.plaq_version(), **attributes})
            opened.flush()
        if not adding:
            os.replace(to, file)
    finally:
        if not adding and to.exists():
            to.unlink()


def read(file: Any) -> Dict[str, Any]:
    """The values that write wrote, by name: arrays, Correlators, and Perambulators of all source times of a group."""
    contents: Dict[str, Any] = {}

    def take(where: str, item: Any) -> None:
        kind = item.attrs.get("kind") if hasattr(item, "shape") else "group"
        if kind == "correlator":
            about = item.attrs
            contents[where] = Correlator(
                item[()],
                name=about["name"],
                form=about["form"],
                configurations=about["configurations"],
                gammas=tuple(about["gammas"]),
                source_time=int(about["source_time"]) if "source_time" in about else None,
                boundary_time=about.get("boundary_time", "periodic"),
            )
        elif kind == "perambulator":
            about = dict(item.attrs)
            time, boundary = int(about.pop("source_time")), float(about.get("boundary", 0.0))
            one = Perambulators(of_modes(item[()][None], about, about), [time], boundary, about)
            group = where.rsplit("/", 1)[0]
            contents[group] = contents[group].beside(one) if group in contents else one
        elif kind != "group":
            contents[where] = item[()]

    with _opened(file) as opened:
        opened.visititems(take)
    return contents


def times(file: Any, name: str, about: Mapping[str, Any]) -> List[int]:
    """Source times of the perambulators `name` in a file; none if there is no file. Their stored description must
    equal `about`."""
    if not Path(file).exists():
        return []
    found: Dict[int, Dict[str, Any]] = {}
    with _opened(file) as opened:
        for item in opened[name].values() if name in opened else []:
            found[int(item.attrs["source_time"])] = dict(item.attrs)
    for t, theirs in found.items():
        for key, value in about.items():
            there = theirs.get(key)
            if key == "tol":
                same, value = there is not None and there <= value * (1 + 1e-9), f"at most {value:g}"
            elif key.startswith("links_projection"):
                # This number has a larger rounding error for links in single precision.
                same = there is None or abs(there - value) < 1e-5
            elif isinstance(value, (float, list)):
                same = there is not None and np.shape(there) == np.shape(value) and np.allclose(there, value, rtol=0, atol=1e-9)
            else:
                same = there == value
            if not same:
                raise ValueError(
                    f"{file}: {name}/t{t}: {key}: expected {value}, found {there}: "
                    "perambulators of other links, modes or quarks"
                )
    return sorted(found)


checks_keywords(globals())
