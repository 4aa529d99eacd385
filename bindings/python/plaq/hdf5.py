"""Arrays, correlators and perambulators in HDF5 files, by h5py: names are paths of groups, complex numbers compounds (r, i),
and every dataset has the attribute `indices`, what its axes are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence, Tuple

import numpy as np

from ._files import new_file
from ._signatures import checks_keywords
from .analysis import Correlator
from .perambulators import KNOWN_BY, OfModes, Perambulators, from_attributes, near, perambulators

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


def check_name(name: Any, argument: str = "name") -> str:
    """Checks the name of a group or dataset: names with / between."""
    if not isinstance(name, str):
        raise TypeError(f"{argument}: expected a text, found {type(name).__name__} {name!r:.80}")
    if any(part in ("", ".", "..") for part in name.split("/")) or "\0" in name:
        raise ValueError(f"{argument}: expected names with / between, found {name!r:.80}")
    return name


def _parts(name: str, value: Any) -> List[Tuple[str, np.ndarray, Dict[str, Any]]]:
    """Datasets that a value is stored in: name, numbers, attributes."""
    if isinstance(value, Correlator):
        about: Dict[str, Any] = {"name": value.name, "form": value.form, "configurations": value.configurations}
        about["gammas"], about["boundary_time"] = list(value.gammas), value.boundary_time
        if value.source_time is not None:
            about["source_time"] = value.source_time
        return [(name, value.data, {"kind": "correlator", "indices": CORRELATOR, **about})]
    if isinstance(value, Perambulators):
        basis = getattr(value.numbers, "spin_basis", None)
        about = {**value.about, **({} if basis is None else {"spin_basis": basis})}
        each = zip(value.times, value.numbers)
        return [(f"{name}/t{t}", numbers, {**about, "source_time": t}) for t, numbers in each]
    if isinstance(value, OfModes):
        return [(name, np.asarray(value), value.attributes())]
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{name}: expected numbers, a Correlator or Perambulators, found {type(value).__name__}")
    return [(name, array, {"indices": ", ".join(f"axis {i}" for i in range(array.ndim))})]


def write(
    file: Any, contents: Mapping[str, Any], *, overwrite: bool = False, append: bool = False, **attributes: Any
) -> None:
    """Writes arrays, Correlators and Perambulators under these names ("group/name"), `attributes` at the root with the version
    of the library. A file that exists is refused unless overwrite=True replaces it or append=True adds to it, names that it
    has are refused then. A new file appears complete or not at all, and one that is added to stays as it was where the disk
    has no space. Attributes of one dataset: contents {"name": (array, {"indices": "momentum, t"})}."""
    from . import capi

    if not isinstance(contents, Mapping):
        raise TypeError(f"contents: expected a dict of names and values, found {type(contents).__name__}")
    file = Path(file)
    if not file.absolute().parent.is_dir():
        raise FileNotFoundError(f"{file}: the folder {file.absolute().parent} does not exist")
    exists = new_file(file, overwrite, append)
    parts = []
    for name, value in contents.items():
        check_name(name, "contents")
        more = value[1] if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], dict) else {}
        for key, what in more.items():
            if np.asarray(what).dtype.kind not in "biufcUS":
                raise TypeError(f"{name}: attribute {key}: expected numbers or texts, found {what!r:.80}")
        found = _parts(name, value[0] if more else value)
        parts += [(where, numbers, {**about, **more}) for where, numbers, about in found]
    names = [where for where, _, _ in parts]
    for one, other in ((one, other) for one in names for other in names if other.startswith(f"{one}/")):
        raise ValueError(f"contents: expected names of arrays or of groups, found {one!r} beside {other!r}")
    adding = exists and append
    if adding and parts:
        _reserve(file, parts)
    to = file if adding else file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with _opened(to, "r+") if adding else _h5py().File(to, "w") as opened:
            for where, numbers, about in parts:
                opened.create_dataset(where, data=numbers).attrs.update(about)
            opened.attrs.update({"plaq_version": capi.plaq_version(), **attributes})
            opened.flush()
        if not adding:
            os.replace(to, file)
    finally:
        if not adding and to.exists():
            to.unlink()


#: More bytes than entries of a dataset in groups and its attributes take, of which each has at most 64 KiB and two can be
#: that long.
BESIDE = 1 << 18


def _reserve(file: Path, parts: List[Tuple[str, np.ndarray, Dict[str, Any]]]) -> None:
    """Reserves space on the disk for datasets at the end of a file that has none of these names; HDF5 cuts off what
    remains. A disk that is full in the midst of writing would make the whole file unreadable."""
    # Opened for writing, so that nothing is reserved in a file that another process has open.
    with _opened(file, "r+") as opened:
        for where, _, _ in parts:
            place = opened
            for part in where.split("/"):
                if hasattr(place, "shape"):
                    raise FileExistsError(f"{file}: {place.name.strip('/')}: expected a group, found a dataset")
                place = place.get(part)
                if place is None:
                    break
            if place is not None:
                raise FileExistsError(f"{file}: {where}: there already")
    size, need = os.path.getsize(file), sum(numbers.nbytes + BESIDE for _, numbers, _ in parts)
    handle = os.open(file, os.O_RDWR)
    try:
        os.posix_fallocate(handle, size, need)
    except OSError as error:
        os.ftruncate(handle, size)
        raise OSError(error.errno, f"{error.strerror}: space for {need} bytes more", str(file)) from None
    finally:
        os.close(handle)


def read(file: Any) -> Dict[str, Any]:
    """The values that write wrote, by name: arrays, Correlators, and Perambulators of all source times of a group, in the
    DeGrand-Rossi basis. Elementals know of which modes they are."""
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
            one = perambulators(item[()][None], [int(about.pop("source_time"))], about)
            group = where.rsplit("/", 1)[0]
            contents[group] = contents[group].beside(one) if group in contents else one
        elif kind != "group" and "modes" in str(item.attrs.get("kind")):
            contents[where] = from_attributes(item[()], dict(item.attrs))
        elif kind != "group":
            contents[where] = item[()]

    with _opened(file) as opened:
        opened.visititems(take)
    return contents


def times(file: Any, name: str, about: Mapping[str, Any], asked: Sequence[int] = ()) -> List[int]:
    """Source times of the perambulators `name` in a file; none if there is no file. Their stored description must
    equal `about`, but the tolerance only of the times `asked` for, and modes in the file must be the same."""
    check_name(name)
    if not Path(file).exists():
        return []
    found: Dict[int, Dict[str, Any]] = {}
    with _opened(file) as opened:
        places = ["/".join(name.split("/")[:k]) for k in range(1, name.count("/") + 2)]
        for place in places:
            if place in opened and hasattr(opened[place], "shape"):
                raise FileExistsError(f"{file}: {place}: expected a group, found a dataset")
        for item in opened[name].values() if name in opened else []:
            if item.attrs.get("kind") != "perambulator":
                raise ValueError(f"{file}: {item.name.strip('/')}: expected perambulators, found something else")
            found[int(item.attrs["source_time"])] = dict(item.attrs)
        elementals = dict(opened["values"].attrs) if "values" in opened else {}
    if "plaquette_spatial" in elementals:
        _compare(f"{file}: values", elementals, {key: about[key] for key in about if key in OF_MODES})
    others = {key: value for key, value in about.items() if key != "tol"}
    for t, theirs in found.items():
        _compare(f"{file}: {name}/t{t}", theirs, about if t in asked else others)
    return sorted(found)


#: Entries of plaq_modes_about without a solver, by which the modes of a file are compared.
OF_MODES = ("modes", *KNOWN_BY)


def _compare(place: str, theirs: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Refuses a description in a file that differs from `about`."""
    for key, value in about.items():
        there = theirs.get(key)
        if key == "modes_tol":
            continue
        if key == "tol":
            same, value = there is not None and there <= value * (1 + 1e-9), f"at most {value:g}"
        elif isinstance(value, (float, list)):
            same = there is not None and np.shape(there) == np.shape(value) and np.allclose(there, value, rtol=0, atol=near(key))
        else:
            same = there == value
        if not same and key == "modes_basis":
            raise ValueError(f"{place}: {key}: expected that of these modes, found another: of another search or smearing")
        if not same:
            raise ValueError(
                f"{place}: {key}: expected {value}, found {there}: perambulators of other links, modes or quarks"
            )


checks_keywords(globals())
