"""Arrays, correlators and perambulators in HDF5 files, by h5py: names are paths of groups, complex numbers compounds (r, i),
and every dataset has the attribute `indices`, what its axes are."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from ._files import file_name, in_place_of, new_file
from ._signatures import checks_keywords
from .analysis import Correlator, Estimate
from .arrays import KNOWN_BY, Labelled, from_attributes
from .perambulators import Perambulators, check_same, joined, perambulators

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
    name = file_name(path)
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
        of = {"kind": "correlator", "indices": CORRELATOR, "name": value.name, "form": value.form}
        about: Dict[str, Any] = {**value.about, **of, "configurations": value.configurations}
        about["gammas"], about["boundary_time"] = list(value.gammas), value.boundary_time
        if value.source_time is not None:
            about["source_time"] = value.source_time
        return [(name, value.data, about)]
    if isinstance(value, Perambulators):
        basis = getattr(value.numbers, "spin_basis", None)
        about = {**value.about, **({} if basis is None else {"spin_basis": basis})}
        each = zip(value.times, np.asarray(value.numbers))
        return [(f"{name}/t{t}", numbers, {**about, "source_time": t}) for t, numbers in each]
    if isinstance(value, Labelled):
        about = value.attributes()
        # A name of one source time of perambulators, which this is not.
        return [(name, np.asarray(value), {**about, ALONE: 1} if _of_group(name, about) else about)]
    if isinstance(value, Estimate):
        return [part for key, numbers in value._asdict().items() for part in _parts(f"{name}/{key}", numbers)]
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.asarray(None)  # lists of unequal lengths
    if array.dtype.kind not in "biufc":
        known = "numbers, a Correlator, an Estimate or Perambulators"
        raise TypeError(f"{name}: expected {known}, found {type(value).__name__} {value!r:.80}")
    return [(name, array, {"indices": ", ".join(f"axis {i}" for i in range(array.ndim))})]


def write(
    file: Any, contents: Mapping[str, Any], *, overwrite: bool = False, append: bool = False, **attributes: Any
) -> None:
    """Writes arrays, Correlators and Perambulators under these names ("group/name"), of an Estimate its `value`, `error` and
    `samples` under NAME/value and so on, `attributes` at the root with the version of the library. Of several ranks one calls
    it, `if U.context.rank == 0:`. A file that exists is refused unless overwrite=True replaces it or append=True adds to it,
    names that it has are refused then. A new file appears complete or not at all, and one that is added to stays as it was
    where the disk has no space. Attributes of one dataset: contents {"name": (array, {"indices": "momentum, t"})}."""
    from . import capi

    if not isinstance(contents, Mapping):
        raise TypeError(f"contents: expected a dict of names and values, found {type(contents).__name__}")
    file = Path(file_name(file))
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
    with nullcontext(file) if adding else in_place_of(file) as to:
        with _opened(to, "r+") if adding else _h5py().File(to, "w") as opened:
            made = []
            for _, numbers, about in parts:
                chunks = chunks_of(numbers)
                made.append(opened.create_dataset(None, data=numbers, chunks=chunks, fletcher32=bool(chunks)))
                made[-1].attrs.update(about)
            # Datasets get their names when they are on the disk: a process that is killed leaves no name of anything that
            # is not.
            opened.flush()
            for (where, _, _), dataset in zip(parts, made):
                opened[where] = dataset
            opened.attrs.update({"plaq_version": capi.plaq_version(), **attributes})
            opened.flush()


#: Largest number of bytes of a chunk, of which each has a checksum, and more bytes than HDF5's list of chunks takes for one.
CHUNK, OF_CHUNK = 1 << 22, 512


def chunks_of(numbers: np.ndarray) -> Optional[Tuple[int, ...]]:
    """Extents of a dataset's chunks: whole last axes, and an equal part of the one before them; None: a single value or no
    number, which have none."""
    if not numbers.shape or not numbers.size:
        return None
    chunks, room = [1] * numbers.ndim, max(1, CHUNK // numbers.itemsize)
    for k in reversed(range(numbers.ndim)):
        extent = numbers.shape[k]
        parts = -(-extent // room)
        chunks[k] = -(-extent // parts)
        if parts > 1:
            break
        room //= extent
    return tuple(chunks)


def _bytes(numbers: np.ndarray) -> int:
    """Bytes of a dataset in a file, chunks at the ends being whole ones."""
    chunks = chunks_of(numbers) or numbers.shape
    count = int(np.prod([-(-n // max(part, 1)) for n, part in zip(numbers.shape, chunks)]))
    return count * (int(np.prod(chunks)) * numbers.itemsize + OF_CHUNK)


#: More bytes than entries of a dataset in groups and its attributes take, of which each has at most 64 KiB and four can
#: have half of that.
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
    size, need = os.path.getsize(file), sum(_bytes(numbers) + BESIDE for _, numbers, _ in parts)
    handle = os.open(file, os.O_RDWR)
    try:
        os.posix_fallocate(handle, size, need)
    except OSError as error:
        os.ftruncate(handle, size)
        raise OSError(error.errno, f"{error.strerror}: space for {need} bytes more", str(file)) from None
    finally:
        os.close(handle)


#: Attributes of a correlator that are arguments of Correlator.
_ARGUMENTS = ("name", "form", "configurations", "gammas", "source_time", "boundary_time")


#: Attribute of an array that is a single source time of perambulators by itself, under a name as those of a group have.
ALONE = "alone"


def _of_group(name: str, about: Mapping[str, Any]) -> bool:
    """Whether a dataset is a source time of the perambulators of its group."""
    there = about.get("kind") == "perambulator" and name.rpartition("/")[2] == f"t{about.get('source_time')}"
    return there and ALONE not in about


def _about(item: Any) -> Dict[str, Any]:
    """Attributes of a dataset."""
    return {key: value.decode() if isinstance(value, bytes) else value for key, value in item.attrs.items()}


def _numbers(file: Any, where: str, item: Any) -> Any:
    """Numbers of a dataset."""
    try:
        return item[()]
    except OSError as error:
        raise OSError(f"{file}: {where}: expected numbers with the checksums of the file, found damaged ones: {error}") from None


def _source_time(file: Any, where: str, item: Any) -> Perambulators:
    """The perambulators of a source time."""
    about = _about(item)
    return perambulators(_numbers(file, where, item)[None], [int(about.pop("source_time"))], about)


def source_times(file: Any, name: str, wanted: Sequence[int]) -> Perambulators:
    """Perambulators `name` of these source times, which the file has; nothing else is read."""
    places = [f"{name}/t{t}" for t in wanted]
    with _opened(file) as opened:
        parts = [_source_time(file, where, opened[where]) for where in places]
    return joined(parts, [f"{file}: {where}" for where in places])


def read(file: Any) -> Dict[str, Any]:
    """The values that write or the program wrote, by name: Correlators, Perambulators of all source times of a group, in the
    DeGrand-Rossi basis, and plaq.arrays.Labelled, arrays that know what their axes are and with their attributes in
    `about`. Source times of one group must be of the same quark."""
    contents: Dict[str, Any] = {}
    groups: Dict[str, Dict[str, Perambulators]] = {}

    def take(where: str, item: Any) -> None:
        if not hasattr(item, "shape"):
            return
        about = _about(item)
        if about.get("kind") == "correlator" and all(key in about for key in _ARGUMENTS[:4]):
            found = Correlator(
                _numbers(file, where, item),
                name=about["name"],
                form=about["form"],
                configurations=about["configurations"],
                gammas=tuple(about["gammas"]),
                source_time=int(about["source_time"]) if "source_time" in about else None,
                boundary_time=about.get("boundary_time", "periodic"),
            )
            found.about = {key: value for key, value in about.items() if key not in (*_ARGUMENTS, "kind", "indices")}
            contents[where] = found
        elif _of_group(where, about):
            group = where.rpartition("/")[0]
            # The group has its place among the names.
            contents[group] = None
            groups.setdefault(group, {})[f"{file}: {where}"] = _source_time(file, where, item)
        else:
            about.pop(ALONE, None)
            contents[where] = from_attributes(_numbers(file, where, item), about)

    with _opened(file) as opened:
        opened.visititems(take)
    for group, parts in groups.items():
        contents[group] = joined(list(parts.values()), list(parts))
    return contents


def times(file: Any, name: str, about: Mapping[str, Any], asked: Sequence[int] = ()) -> List[int]:
    """Source times of the perambulators `name` in a file; none if there is no file. Their stored description must
    equal `about`, but the tolerance only of the times `asked` for, and modes in the file must be the same."""
    check_name(name)
    if not os.path.exists(file_name(file)):
        return []
    found: Dict[int, Dict[str, Any]] = {}
    with _opened(file) as opened:
        places = ["/".join(name.split("/")[:k]) for k in range(1, name.count("/") + 2)]
        for place in places:
            if place in opened and hasattr(opened[place], "shape"):
                raise FileExistsError(f"{file}: {place}: expected a group, found a dataset")
        for item in opened[name].values() if name in opened else []:
            theirs = _about(item)
            if not _of_group(item.name, theirs):
                raise ValueError(f"{file}: {item.name.strip('/')}: expected perambulators of a source time, found something else")
            found[int(theirs["source_time"])] = theirs
        elementals = dict(opened["values"].attrs) if "values" in opened else {}
    if "plaquette_spatial" in elementals:
        check_same(f"{file}: values", elementals, {key: about[key] for key in about if key in OF_MODES})
    others = {key: value for key, value in about.items() if key != "tol"}
    for t, theirs in found.items():
        check_same(f"{file}: {name}/t{t}", theirs, about if t in asked else others)
    return sorted(found)


#: Entries of plaq_modes_about without a solver, by which the modes of a file are compared.
OF_MODES = ("modes", *KNOWN_BY)


checks_keywords(globals())
