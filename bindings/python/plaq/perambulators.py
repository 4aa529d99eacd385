"""Perambulators, and the spin bases in which their indices can be given."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from ._signatures import checks_keywords
from . import capi


def contract(text: str, *arrays: Any) -> np.ndarray:
    """Calls einsum, with a contraction order from opt_einsum if it is installed."""
    try:
        from opt_einsum import contract
    except ImportError:
        return np.einsum(text, *arrays, optimize="greedy")
    return np.asarray(contract(text, *arrays))


def _bases() -> Dict[str, np.ndarray]:
    """Matrices that convert spinors of the DeGrand-Rossi basis to another one; real and orthogonal."""
    r = 2**-0.5
    # psi_DeGrandRossi = T psi, T blocks of a 2 x 2 matrix times i sigma_2 (docs/physics.md).
    block, eps = np.array([[r, -r], [r, r]]), np.array([[0, 1], [-1, 0]])
    return {"dirac_pauli": np.kron(block, eps).T}


BASES = _bases()


#: Entries of plaq_modes_about by which sets of modes are compared. The number of modes is not among them: a larger set
#: begins with the modes of a smaller one.
_KNOWN_BY = ("stout_steps", "stout_rho", "momentum", "plaquette_spatial", "links_projection_re", "links_projection_im")


class OfModes(np.ndarray):
    """An array whose last two axes count modes. `modes`: descriptions of the modes of the last axis but one and of the
    last axis, None where they are not known; parts of the array and arrays computed from it keep them."""

    modes: Optional[Tuple[Dict[str, Any], Dict[str, Any]]]

    def __array_finalize__(self, other: Any) -> None:
        self.modes = getattr(other, "modes", None)


def of_modes(array: np.ndarray, left: Mapping[str, Any], right: Mapping[str, Any]) -> OfModes:
    """The array with descriptions of the modes that its last two axes count."""
    made = array.view(OfModes)
    left, right = ({key: one[key] for key in _KNOWN_BY if key in one} for one in (left, right))
    made.modes = (left, right)
    return made


def check_modes(name: str, array: Any, end: int, owner: str, other: Any, theirs: int) -> None:
    """Refuses arrays of which axis `end` (0: the last but one, 1: the last one) counts other modes than axis `theirs` of `other`."""
    found, wanted = (getattr(one, "modes", None) for one in (array, other))
    if found is None or wanted is None:
        return
    for key in found[end].keys() & wanted[theirs].keys():
        one, expected = found[end][key], wanted[theirs][key]
        if not np.allclose(one, expected, rtol=0, atol=1e-5 if key.startswith("links") else 1e-6):
            raise capi.FieldMismatch(f"{name}: expected the modes of {owner}, {key} {expected}, found {one}")


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
        numbers = np.concatenate([self.numbers, other.numbers]).view(OfModes)
        numbers.modes = getattr(self.numbers, "modes", None)
        return self._replace(numbers=numbers, times=[*self.times, *other.times])

    def dirac_pauli(self) -> np.ndarray:
        """The numbers in the Dirac-Pauli basis, gamma_t = diag(1, 1, -1, -1)."""
        return contract("ps,...sukl,qu->...pqkl", BASES["dirac_pauli"], self.numbers, BASES["dirac_pauli"])

    def __repr__(self) -> str:
        n = self.numbers.shape[-1]
        return f"<Perambulators of {n} modes from times {self.times}>"


checks_keywords(globals())
