"""Perambulators, and checks that arrays which are contracted are of the same modes, times and spins."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._objects import whole
from ._signatures import checks_keywords
from . import capi
from .arrays import KINDS, KNOWN_BY, OF_MODES, WHOLE, Axis, Labelled, labelled


def contract(text: str, *arrays: Any) -> np.ndarray:
    """Calls einsum, with a contraction order from opt_einsum if it is installed."""
    try:
        from opt_einsum import contract
    except ImportError:
        return np.einsum(text, *arrays, optimize="greedy")
    return np.asarray(contract(text, *arrays))


#: Names of bases of spins in files, by the words of capi.plaq_basis.
SPINS = {"degrand_rossi": "DeGrand-Rossi", "ukqcd": "UKQCD", "chiral": "chiral", "dirac_pauli": "Dirac-Pauli"}


def _bases() -> Dict[str, np.ndarray]:
    """Matrices that convert spinors of the DeGrand-Rossi basis to another one; real and orthogonal."""
    r = 2**-0.5
    # psi_DeGrandRossi = T psi, T blocks of a 2 x 2 matrix times i sigma_2 (docs/physics.md).
    eps = np.array([[0, 1], [-1, 0]])
    blocks = {"ukqcd": [[-r, -r], [-r, r]], "chiral": [[0, -1], [1, 0]], "dirac_pauli": [[r, -r], [r, r]]}
    return {"degrand_rossi": np.eye(4), **{name: np.kron(block, eps).T for name, block in blocks.items()}}


BASES = _bases()


def turned(numbers: Any, basis: str, back: bool = False) -> np.ndarray:
    """Numbers (..., 4, 4, n, n) of the DeGrand-Rossi basis in another one, or with `back` those of that basis in
    the DeGrand-Rossi one."""
    if basis not in BASES:
        raise ValueError(f"spin_basis: expected one of {', '.join(BASES)}, found {basis!r:.80}")
    one = BASES[basis].T if back else BASES[basis]
    found = np.asarray(contract("ps,...sukl,qu->...pqkl", one, np.asarray(numbers), one))
    if not isinstance(numbers, Labelled):
        return found
    fixed = {**numbers.fixed, "spin basis": SPINS["degrand_rossi" if back else basis]}
    return found.view(Labelled)._of(numbers.axes, fixed, numbers.about)


def near(name: str) -> float:
    """Largest difference of the numbers of an entry of plaq_modes_about for the same links, modes and quarks."""
    if name == "modes_basis" or "links_projection" in name:
        return 1e-5
    return 1e-6 if "plaquette" in name or name.endswith("link_trace") else 1e-9


def other_mode(one: Mapping[str, Any], other: Mapping[str, Any], which: Optional[List[int]] = None) -> Optional[int]:
    """The first of the modes `which`, by default all, that is another one in two descriptions, by its product with fixed
    noise; None: there is none. Modes that one of them lacks are not compared, and errors of the products are allowed."""
    a, b = (np.asarray(each["modes_basis"], float) for each in (one, other))
    both = [k for k in (which if which is not None else range(len(a))) if k < min(len(a), len(b))]
    errors = np.zeros(len(both))
    for each in (one, other):
        known = np.asarray(each.get("modes_basis_error", []), float)
        errors += [known[k] if k < len(known) else 0.0 for k in both]
    # Numbers of a damaged file that are not finite are not near any.
    off = ~(np.abs(a[both] - b[both]) <= near("modes_basis") + errors)
    return both[int(np.argmax(off))] if off.any() else None


def _counting(array: Any, end: int) -> Optional[Axis]:
    """The axis `end` of an array (0: the last but one, 1: the last one), if it is known which modes it counts."""
    axis = array.axes[end - 2] if isinstance(array, Labelled) and array.ndim >= 2 - end else None
    return axis if axis is not None and axis.modes else None


def check_modes(name: str, array: Any, end: int, owner: str, other: Any, theirs: int) -> None:
    """Refuses arrays of which axis `end` (-1: the third from the end, 0: the last but one, 1: the last one) counts other modes
    than axis `theirs` of `other`."""
    found, wanted = _counting(array, end), _counting(other, theirs)
    if found is None or wanted is None:
        return
    one, expected = found.modes or {}, wanted.modes or {}
    if found.values != wanted.values and "triple" not in found.name:
        said = ["all from 0 on" if axis.values is None else axis.values for axis in (wanted, found)]
        raise ValueError(f"{name}: expected the modes {said[0]} of {owner}, found {said[1]}")
    for key in (key for key in KNOWN_BY if key in one and key in expected):
        if key == "modes_basis":
            k = other_mode(one, expected, wanted.values)
            if k is not None:
                raise capi.FieldMismatch(
                    f"{name}: expected the modes of {owner}, found mode {k} of another search, smearing or basis of a "
                    "degenerate level"
                )
        elif not np.allclose(one[key], expected[key], rtol=0, atol=near(key)):
            raise capi.FieldMismatch(f"{name}: expected the modes of {owner}, {key} {expected[key]}, found {one[key]}")


#: Names of axes that say which array it is; axes in files of others may have any names.
_KNOWN_AXES = {name for kind in KINDS.values() for name in kind.axes}


def check_axes(name: str, array: Any, words: str, shape: Tuple[int, ...], *kinds: str) -> None:
    """Refuses an array of another shape than this, which `words` spell. Of an array that knows its axes they must be the last
    ones of one of `kinds` in KINDS, and those that count no modes be complete and in order."""
    axes = array.axes if isinstance(array, Labelled) else ()
    if len(axes) == len(shape):
        # What is not known, or has a name of others, may be any axis.
        found = [axis.name if axis is not None and axis.name in _KNOWN_AXES else None for axis in axes]
        expected = [KINDS[kind].axes[-len(shape) :] for kind in kinds]
        if not any(all(one in (None, two) for one, two in zip(found, each)) for each in expected):
            words = "; ".join("?" if one is None else one for one in found)
            raise ValueError(f"{name}: expected an array with the axes {'; '.join(expected[0])}, found {words}")
    if np.shape(array) != shape:
        raise ValueError(f"{name}: expected an array {words} = {shape}, found shape {np.shape(array)}")
    for axis in axes:
        if axis is None or axis.name not in _KNOWN_AXES or axis.values is None:
            continue
        if "mode" not in axis.name or "triple" in axis.name:
            raise ValueError(f"{name}: expected every {axis.name} once and in order, found the part {axis.values}")


def check_line(name: str, tau: Any, source_time: Any, times: Optional[int] = None) -> int:
    """Checks an array (T, 4, 4, n, n) for contractions, T this number of times, and its source time, which it returns as a
    whole number."""
    if isinstance(tau, Perambulators):
        raise TypeError(f"{name}: expected the numbers of one source time, tau.numbers[k], found {tau!r}")
    if np.ndim(tau) != 5:
        raise ValueError(f"{name}: expected an array (T, 4, 4, n, n), found shape {np.shape(tau)}")
    n = np.shape(tau)[-1]
    shape = (len(tau) if times is None else times, 4, 4, n, n)
    check_axes(name, tau, "(T, 4, 4, n, n)", shape, "perambulators", "generalised")
    time = check_time("source_time", source_time, len(tau))
    known, basis = getattr(tau, "times", None), getattr(tau, "spin_basis", None)
    if isinstance(known, int) and known != time:
        raise ValueError(f"source_time: expected {known}, that of {name}, found {time}")
    if basis not in (None, SPINS["degrand_rossi"]):
        raise ValueError(f"{name}: expected spins in the DeGrand-Rossi basis, found {basis}")
    return time


def check_sink(name: str, line: Any, sink_time: Optional[int]) -> None:
    """Refuses perambulators whose operator is at another sink time; None: ones without an operator are expected."""
    known = getattr(line, "sink_times", None)
    if known is not None and known != sink_time:
        expected = "perambulators without an operator" if sink_time is None else f"the sink at {sink_time}"
        raise ValueError(f"{name}: expected {expected}, found generalised ones with sink_time={known}")


def check_boundary(tau: Any, given: Optional[float]) -> float:
    """The boundary phase of quarks in time in units of pi: that which perambulators know, or else the one that is given."""
    known = tau.fixed.get("boundary") if isinstance(tau, Labelled) else None
    if known is None and given is None:
        raise ValueError(
            "boundary: expected the phase of a quark in time in units of pi, 1 for antiperiodic quarks, as these perambulators "
            "do not know it; found None"
        )
    if given is not None and not isinstance(given, (int, float, np.number)):
        raise TypeError(f"boundary: expected a number, the phase in units of pi, found {given!r:.80}")
    if given is not None and not np.isfinite(given):
        raise ValueError(f"boundary: expected a finite number, found {given}")
    if known is not None and given is not None and abs(known - given) > 1e-9:
        raise ValueError(f"boundary: expected {known:g}, that of the perambulators, found {given:g}")
    return float(known if given is None else given)  # type: ignore[arg-type]


def check_time(name: str, time: Any, times: int) -> int:
    """Checks the number of a time slice."""
    number = whole(time, name)
    if not 0 <= number < times:
        raise ValueError(f"{name}: expected 0 to {times - 1}, found {number}")
    return number


class Perambulators(NamedTuple):
    """tau(t', t) = V(t')^dagger D^-1 V(t): `numbers` (source times, T, 4, 4, n, n) in the DeGrand-Rossi basis, of these source
    `times`; `boundary`: the phase of the fermions in time in units of pi, which is in them; `about`: modes, links and quarks."""

    numbers: np.ndarray
    times: List[int]
    boundary: float
    about: Dict[str, Any]

    def beside(self, other: "Perambulators") -> "Perambulators":
        """Joins other source times of perambulators of the same modes and quark; `tol` is the larger one then."""
        if not isinstance(other, Perambulators):
            raise TypeError(f"other: expected Perambulators, found {type(other).__name__}")
        return joined([self, other], ["these perambulators", "other"])

    def dirac_pauli(self) -> np.ndarray:
        """The numbers in the Dirac-Pauli basis, gamma_t = diag(1, 1, -1, -1)."""
        return turned(self.numbers, "dirac_pauli")

    def __repr__(self) -> str:
        n = self.numbers.shape[-1]
        return f"<Perambulators of {n} modes from times {self.times}>"


#: Entries of descriptions that may differ for the same modes and quarks.
LOOSE = ("modes_tol", "modes_basis_error", "convention")


def check_same(place: str, theirs: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Refuses perambulators in a place, e.g. of a file, whose description differs from `about`."""
    for key, value in about.items():
        there = theirs.get(key)
        if key in LOOSE:
            continue
        if key == "modes_basis":
            both = there is not None and np.shape(there) == np.shape(value)
            if not both or other_mode(theirs, about) is not None:
                raise ValueError(f"{place}: {key}: expected that of these modes, found another: of another search or smearing")
            continue
        if key == "tol":
            if there is None or there > value * (1 + 1e-9):
                found = "no tolerance" if there is None else f"{there:g}"
                raise ValueError(f"{place}: tol: expected solves to at most {value:g}, as asked for, found {found} in the file")
            continue
        if isinstance(value, (float, list)):
            same = there is not None and np.shape(there) == np.shape(value) and np.allclose(there, value, rtol=0, atol=near(key))
        else:
            same = there == value
        if not same:
            raise ValueError(
                f"{place}: {key}: expected {value}, found {there}: perambulators of other links, modes or quarks"
            )


def joined(parts: Sequence[Perambulators], names: Sequence[str]) -> Perambulators:
    """The perambulators of all source times of one or several of the same modes and quark, which have these names in errors.
    The tolerance is the largest one."""
    first, times = parts[0], list(parts[0].times)
    basis = getattr(first.numbers, "spin_basis", None)
    for name, one in zip(names[1:], parts[1:]):
        twice = [t for t in one.times if t in times]
        if twice:
            raise ValueError(f"{name}: expected each source time once, found {twice[0]} again")
        times += one.times
        check_modes(name, one.numbers, 1, names[0], first.numbers, 1)
        if first.about and one.about:
            mine = {**{key: None for key in one.about if key not in LOOSE}, **first.about}
            check_same(name, one.about, {key: value for key, value in mine.items() if key not in (*OF_ONE, "tol")})
        if abs(one.boundary - first.boundary) > near("boundary"):
            raise ValueError(f"{name}: boundary: expected {first.boundary:g}, that of {names[0]}, found {one.boundary:g}")
        spins = getattr(one.numbers, "spin_basis", None)
        if None not in (spins, basis) and spins != basis:
            raise ValueError(f"{name}: expected spins in the basis of {names[0]}, {basis}, found {spins}")
        shape, found = np.shape(first.numbers)[1:], np.shape(one.numbers)[1:]
        if shape != found:
            raise ValueError(f"{name}: expected numbers (source times, T, 4, 4, n, n) with the last five {shape}, found {found}")
    if len(parts) == 1:
        return first
    loosest = {"tol": max(one.about["tol"] for one in parts)} if all("tol" in one.about for one in parts) else {}
    numbers: np.ndarray = np.concatenate([one.numbers for one in parts])
    if isinstance(first.numbers, Labelled):
        axes = [Axis("source time", times), *first.numbers.axes[1:]]
        numbers = numbers.view(Labelled)._of(axes, first.numbers.fixed, {**first.numbers.about, **loosest})
    return first._replace(numbers=numbers, times=times, about={**first.about, **loosest})


#: Entries of the description of perambulators that are those of an array, or of a single source time, in a file.
OF_ONE = ("indices", "kind", "convention", "spin_basis", "source_time")
#: Entries of the description of perambulators that are no attributes of one array of them.
APART = (*OF_ONE, "boundary", "boundary_time")


def perambulators(numbers: np.ndarray, times: List[int], about: Mapping[str, Any]) -> Perambulators:
    """Perambulators of these source times with the description `about`, spins in its basis."""
    about = {key: value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value for key, value in about.items()}
    label = about.get("spin_basis", SPINS["degrand_rossi"])
    fixed = {name: about[key] for name, key in WHOLE.items() if key in about}
    fixed["spin basis"] = label
    quarks = {key: value for key, value in about.items() if key not in (*APART, *OF_MODES)}
    found: np.ndarray = labelled(numbers, "perambulators", about, values={"source time": times}, fixed=fixed, parameters=quarks)
    basis = next((word for word, one in SPINS.items() if one == label), label)
    if basis != "degrand_rossi":
        found = turned(found, basis, back=True)
        about["spin_basis"] = SPINS["degrand_rossi"]
    return Perambulators(found, times, float(about.get("boundary", 0.0)), about)


checks_keywords(globals())
