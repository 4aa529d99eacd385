"""Perambulators, and arrays whose indices count modes, which know of which modes, source times and spins they are."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from ._objects import whole
from ._signatures import checks_keywords
from . import capi


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
    found = contract("ps,...sukl,qu->...pqkl", one, np.asarray(numbers), one).view(OfModes)
    found.__array_finalize__(numbers)
    found.spin_basis = SPINS["degrand_rossi" if back else basis]
    return found


#: Entries of plaq_modes_about by which sets of modes are compared. The number of modes is not among them: a larger set
#: begins with the modes of a smaller one.
KNOWN_BY = (
    "stout_steps",
    "stout_rho",
    "momentum",
    "plaquette_spatial",
    "plaquette_temporal",
    "link_trace",
    "links_projection_re",
    "links_projection_im",
    "modes_basis",
)


def near(name: str) -> float:
    """By how much numbers of an entry of plaq_modes_about may differ for the same links, modes and quarks."""
    if name == "modes_basis" or "links_projection" in name:
        return 1e-5
    return 1e-6 if "plaquette" in name or name.endswith("link_trace") else 1e-9


class OfModes(np.ndarray):
    """An array whose last two axes count modes; parts of the array and arrays computed from it keep what is known of it.
    `modes`: descriptions of the modes of the last axis but one and of the last axis. `times`: source times of the
    first axis as a list, or that of the whole array. `spin_basis`: name of the basis of its spins. `described`: the
    array's shape, and attributes of arrays of this shape in files. `sink_times`: of generalised perambulators, those of
    the first axis as a list, or that of the whole array. None: not known."""

    modes: Optional[Tuple[Dict[str, Any], Dict[str, Any]]]
    times: Union[None, int, List[int]]
    spin_basis: Optional[str]
    described: Optional[Tuple[Tuple[int, ...], Dict[str, Any]]]
    sink_times: Union[None, int, List[int]]

    def __array_finalize__(self, other: Any) -> None:
        for name in ("modes", "times", "spin_basis", "described", "sink_times"):
            setattr(self, name, getattr(other, name, None))
        # Of which axis a list of times is cannot be told where the shape is another one.
        for name in ("times", "sink_times"):
            if isinstance(getattr(self, name), list) and self.shape != getattr(other, "shape", None):
                setattr(self, name, None)

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        for name in ("times", "sink_times"):
            listed = getattr(self, name)
            if isinstance(found, OfModes) and isinstance(listed, list) and len(listed) == len(self):
                first = key[0] if isinstance(key, tuple) and key else key
                try:
                    picked = np.array(listed)[first]
                except IndexError:  # the key is an array that picks single numbers
                    continue
                setattr(found, name, picked.tolist() if picked.ndim < 2 else None)
        return found

    def attributes(self) -> Dict[str, Any]:
        """Attributes in files: what the axes are, the modes, and where they are known the source times and spins."""
        shape, about = self.described or ((), {})
        if shape != self.shape:
            axes = [f"axis {i}" for i in range(self.ndim - 2)] + ["left mode", "right mode"]
            about = {"kind": "array of modes", "indices": ", ".join(axes[-self.ndim :] if self.ndim else [])}
        about = dict(about)
        if self.modes is not None:
            left, right = self.modes
            about.update(right)
            about.update({f"left_{key}": value for key, value in left.items()})
        if self.times is not None:
            about["source_time" if isinstance(self.times, int) else "source_times"] = self.times
        if self.spin_basis is not None:
            about["spin_basis"] = self.spin_basis
        return about


def of_modes(
    array: np.ndarray,
    left: Mapping[str, Any],
    right: Mapping[str, Any],
    *,
    times: Union[None, int, List[int]] = None,
    spin_basis: Optional[str] = None,
    described: Optional[Mapping[str, Any]] = None,
) -> OfModes:
    """The array with descriptions of the modes that its last two axes count, its source times, and attributes of it
    in files, `described`."""
    made = array.view(OfModes)
    left, right = ({key: one[key] for key in KNOWN_BY if key in one} for one in (left, right))
    made.modes, made.times, made.spin_basis = (left, right), times, spin_basis
    made.described = (array.shape, dict(described)) if described else None
    return made


def from_attributes(array: np.ndarray, about: Mapping[str, Any]) -> OfModes:
    """The array of a file with these attributes, which OfModes.attributes or the library wrote."""
    of_both = {key: about[key] for key in KNOWN_BY if key in about}
    left = {key: about.get(f"left_{key}", value) for key, value in of_both.items()}
    times = about.get("source_time", about.get("source_times"))
    apart = {*of_both, *(f"left_{key}" for key in of_both), "source_time", "source_times", "spin_basis"}
    described = {key: value for key, value in about.items() if key not in apart}
    return of_modes(
        array,
        left,
        of_both,
        times=times if times is None else np.asarray(times).tolist(),
        spin_basis=about.get("spin_basis"),
        described=described,
    )


def check_modes(name: str, array: Any, end: int, owner: str, other: Any, theirs: int) -> None:
    """Refuses arrays of which axis `end` (0: the last but one, 1: the last one) counts other modes than axis `theirs` of `other`."""
    found, wanted = (getattr(one, "modes", None) for one in (array, other))
    if found is None or wanted is None:
        return
    for key in (key for key in KNOWN_BY if key in found[end] and key in wanted[theirs]):
        one, expected = np.asarray(found[end][key]), np.asarray(wanted[theirs][key])
        if key == "modes_basis":
            both = min(len(one), len(expected))
            one, expected = one[:both], expected[:both]
        if not np.allclose(one, expected, rtol=0, atol=near(key)):
            if key == "modes_basis":
                k = int(np.argmax(np.abs(one - expected) > near(key)))
                raise capi.FieldMismatch(
                    f"{name}: expected the modes of {owner}, found mode {k} of another search, smearing or basis of a "
                    "degenerate level"
                )
            raise capi.FieldMismatch(f"{name}: expected the modes of {owner}, {key} {expected}, found {one}")


def check_line(name: str, tau: Any, source_time: Any) -> int:
    """Checks an array (T, 4, 4, n, n) for contractions, and its source time, which it returns as a whole number."""
    if isinstance(tau, Perambulators):
        raise TypeError(f"{name}: expected the numbers of one source time, tau.numbers[k], found {tau!r}")
    if np.ndim(tau) != 5:
        raise ValueError(f"{name}: expected an array (T, 4, 4, n, n), found shape {np.shape(tau)}")
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
        """Joins the source times of two perambulators of the same modes."""
        check_modes("other", other.numbers, 1, "these perambulators", self.numbers, 1)
        times = [*self.times, *other.times]
        numbers = np.concatenate([self.numbers, other.numbers]).view(OfModes)
        numbers.__array_finalize__(self.numbers)
        numbers.times = times
        return self._replace(numbers=numbers, times=times)

    def dirac_pauli(self) -> np.ndarray:
        """The numbers in the Dirac-Pauli basis, gamma_t = diag(1, 1, -1, -1)."""
        return turned(self.numbers, "dirac_pauli")

    def __repr__(self) -> str:
        n = self.numbers.shape[-1]
        return f"<Perambulators of {n} modes from times {self.times}>"


def perambulators(numbers: np.ndarray, times: List[int], about: Mapping[str, Any]) -> Perambulators:
    """Perambulators of these source times with the description `about`, spins in its basis."""
    about = dict(about)
    label = about.get("spin_basis", SPINS["degrand_rossi"])
    found = of_modes(numbers, about, about, times=times, spin_basis=label)
    basis = next((word for word, one in SPINS.items() if one == label), label)
    if basis != "degrand_rossi":
        found = turned(found, basis, back=True)  # type: ignore[assignment]
        about["spin_basis"] = SPINS["degrand_rossi"]
    return Perambulators(found, times, float(about.get("boundary", 0.0)), about)


checks_keywords(globals())
