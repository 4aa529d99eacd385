"""Gamma matrices."""

from __future__ import annotations

from operator import index
from typing import Iterator, List, Tuple, Union

import numpy as np

_BITS = {"1": 0, "X": 1, "Y": 2, "Z": 4, "T": 8, "5": 15}
#: Names of the sixteen Gammas, each the product that it spells.
NAMES = ("1", "X", "Y", "XY", "Z", "XZ", "YZ", "5T", "T", "XT", "YT", "Z5", "ZT", "5Y", "X5", "5")


class Gammas:
    """Gamma matrices in the DeGrand-Rossi basis, numbered by bits: gamma_x^a gamma_y^b gamma_z^c gamma_t^d is
    plaq.gamma[a + 2 b + 4 c + 8 d]. Names: "1", "X", "Y", "Z", "T", "5" and the products that they spell, "X5" or "TX" = -"XT"."""

    def __init__(self) -> None:
        i = 1j
        x = [[0, 0, 0, i], [0, 0, i, 0], [0, -i, 0, 0], [-i, 0, 0, 0]]
        y = [[0, 0, 0, -1], [0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0]]
        z = [[0, 0, i, 0], [0, 0, 0, -i], [-i, 0, 0, 0], [0, i, 0, 0]]
        t = [[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]]
        basis = [np.array(matrix, complex) for matrix in (x, y, z, t)]
        self._matrices: List[np.ndarray] = []
        for number in range(16):
            product = np.eye(4, dtype=complex)
            for bit, matrix in enumerate(basis):
                if number >> bit & 1:
                    product = product @ matrix
            self._matrices.append(product)
        self._negative = [-matrix for matrix in self._matrices]
        for matrix in self._matrices + self._negative:
            matrix.setflags(write=False)

    def signed(self, which: Union[int, str]) -> Tuple[int, int]:
        """The number of the Gamma that is the product a name spells, up to the sign that comes second: "XT" is (9, 1), "TX" (9, -1)."""
        if isinstance(which, str):
            number, sign = 0, 1
            for letter in which.upper():
                if letter not in _BITS:
                    raise ValueError(
                        f"gamma: expected letters of 1, X, Y, Z, T, 5 or a number 0 to 15, found {which!r}"
                    )
                # Each matrix on the right passes those of `number` that stand behind its place, and anticommutes with them.
                for bit in (bit for bit in (1, 2, 4, 8) if _BITS[letter] & bit):
                    sign *= (-1) ** bin(number & -2 * bit).count("1")
                    number ^= bit
            return number, sign
        try:
            number = int(which) if isinstance(which, float) and which == int(which) else index(which)
        except TypeError:
            raise TypeError(f"gamma: expected a name or a number 0 to 15, found {which!r:.80}") from None
        if not 0 <= number < 16:
            raise ValueError(f"gamma: expected a number 0 to 15, found {which}")
        return number, 1

    def number(self, which: Union[int, str]) -> int:
        """The number of the Gamma with this name: its place in arrays of all sixteen. A name whose product is minus that Gamma
        is refused, e.g. "T5", which is -gamma["5T"]."""
        number, sign = self.signed(which)
        if sign < 0:
            raise ValueError(
                f"gamma: {which!r} is minus Gamma number {number}, {NAMES[number]!r}; expected a name of one of the sixteen"
            )
        return number

    def __getitem__(self, which: Union[int, str]) -> np.ndarray:
        number, sign = self.signed(which)
        return self._matrices[number] if sign > 0 else self._negative[number]

    def __call__(self, which: Union[int, str]) -> np.ndarray:
        return self[which]

    def __len__(self) -> int:
        return 16

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self._matrices)


gamma = Gammas()
