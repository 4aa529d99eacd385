"""Arrays, correlators and perambulators in HDF5 files, by h5py: names are paths of groups, complex numbers compounds (r, i),
and every dataset has the attribute `indices`, what its axes are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, List, Mapping, Tuple

import numpy as np

from .analysis import Correlator
from .perambulators import Perambulators

#: What an item of a file is made into again, and the axes of its array.
KINDS: Dict[str, str] = {
    "correlator": "configuration, t",
    "perambulator": "sink time, sink spin, source spin, sink mode, source mode",
}


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise ImportError("HDF5 files need h5py: pip install h5py") from None
    return h5py


def _parts(name: str, value: Any) -> List[Tuple[str, np.ndarray, Dict[str, Any]]]:
    """Datasets that hold a value: name, numbers, attributes."""
    if isinstance(value, Correlator):
        about: Dict[str, Any] = {"name": value.name, "form": value.form, "configurations": value.configurations}
        about["gammas"] = list(value.gammas)
        return [(name, value.data, {"kind": "correlator", "indices": KINDS["correlator"], **about})]
    if isinstance(value, Perambulators):
        about = {"kind": "perambulator", "indices": KINDS["perambulator"], "spin_basis": "DeGrand-Rossi", **value.about}
        about["boundary"] = value.boundary
        each = zip(value.times, value.numbers)
        return [(f"{name}/t{t}", numbers, {**about, "source_time": t}) for t, numbers in each]
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{name}: expected numbers, a Correlator or Perambulators, found {type(value).__name__}")
    return [(name, array, {"indices": ", ".join(f"axis {i}" for i in range(array.ndim))})]


def write(
    path: Any, contents: Mapping[str, Any], *, overwrite: bool = False, append: bool = False, **attributes: Any
) -> None:
    """Writes arrays, Correlators and Perambulators under these names ("group/name"), `attributes` at the root with the version
    of the library. A file that exists is refused unless overwrite=True replaces it or append=True adds to it, names that it
    has are refused then. A new file appears complete or not at all. Attributes of one dataset: contents
    {"name": (array, {"indices": "momentum, t"})}."""
    from . import capi

    path = Path(path)
    if overwrite and append:
        raise ValueError("write: expected one of overwrite and append, found both")
    exists = path.exists()
    if exists and not (overwrite or append):
        raise FileExistsError(f"{path}: the file exists: overwrite=True replaces it, append=True adds to it")
    parts = []
    for name, value in contents.items():
        more = value[1] if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], dict) else {}
        found = _parts(name, value[0] if more else value)
        parts += [(where, numbers, {**about, **more}) for where, numbers, about in found]
    adding = exists and append
    to = path if adding else path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with _h5py().File(to, "r+" if adding else "w") as file:
            there = [where for where, _, _ in parts if where in file]
            if there:
                raise FileExistsError(f"{path}: {', '.join(there)}: there already")
            for where, numbers, about in parts:
                file.create_dataset(where, data=numbers).attrs.update(about)
            file.attrs.update({"plaq_version": capi.plaq_version(), **attributes})
            file.flush()
        if not adding:
            os.replace(to, path)
    finally:
        if not adding and to.exists():
            to.unlink()


def read(path: Any) -> Dict[str, Any]:
    """What write wrote, by name: arrays, Correlators, and Perambulators of all source times of a group."""
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
            )
        elif kind == "perambulator":
            own = ("kind", "indices", "spin_basis", "boundary", "source_time")
            about = {key: value for key, value in item.attrs.items() if key not in own}
            one = Perambulators(item[()][None], [int(item.attrs["source_time"])], float(item.attrs["boundary"]), about)
            group = where.rsplit("/", 1)[0]
            contents[group] = contents[group].beside(one) if group in contents else one
        elif kind != "group":
            contents[where] = item[()]

    with _h5py().File(path, "r") as file:
        file.visititems(take)
    return contents


def times(path: Any, name: str, about: Mapping[str, Any]) -> List[int]:
    """Source times of the perambulators `name` in a file, none where there is no file. What is written beside them must be
    `about`."""
    if not Path(path).exists():
        return []
    found: Dict[int, Dict[str, Any]] = {}
    with _h5py().File(path, "r") as file:
        for item in file[name].values() if name in file else []:
            found[int(item.attrs["source_time"])] = dict(item.attrs)
    for t, theirs in found.items():
        for key, value in about.items():
            same = theirs.get(key) == value or (
                isinstance(value, float) and key in theirs and abs(float(theirs[key]) - value) < 1e-9
            )
            if not same:
                raise ValueError(
                    f"{path}: {name}/t{t}: {key}: expected {value}, found {theirs.get(key)}: "
                    "perambulators of other links, modes or quarks"
                )
    return sorted(found)
