"""Perambulators, and the spin bases in which their indices can be given."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple

import numpy as np

from ._signatures import checks_keywords


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


class Perambulators(NamedTuple):
    """tau(t', t) = V(t')^dagger D^-1 V(t): `numbers` (source times, T, 4, 4, n, n) in the DeGrand-Rossi basis, of these source
    `times`; `boundary`: the phase of the fermions in time in units of pi, which is in them; `about`: modes, links and quarks."""

    numbers: np.ndarray
    times: List[int]
    boundary: float
    about: Dict[str, Any]

    def beside(self, other: "Perambulators") -> "Perambulators":
        """Joins the source times of two perambulators."""
        numbers = np.concatenate([self.numbers, other.numbers])
        return self._replace(numbers=numbers, times=[*self.times, *other.times])

    def dirac_pauli(self) -> np.ndarray:
        """The numbers in the Dirac-Pauli basis, gamma_t = diag(1, 1, -1, -1)."""
        return contract("ps,...sukl,qu->...pqkl", BASES["dirac_pauli"], self.numbers, BASES["dirac_pauli"])

    def __repr__(self) -> str:
        n = self.numbers.shape[-1]
        return f"<Perambulators of {n} modes from times {self.times}>"


checks_keywords(globals())
