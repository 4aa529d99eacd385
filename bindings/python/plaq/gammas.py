"""Gamma matrices."""

from __future__ import annotations

from operator import index
from typing import Iterator, List, Union

import numpy as np


class Gammas:
    """Gamma matrices in the DeGrand-Rossi basis, numbered by bits: gamma_x^a gamma_y^b gamma_z^c gamma_t^d is
    plaq.gamma[a + 2 b + 4 c + 8 d]. Names: "1", "X", "Y", "Z", "T", "5" and products such as "X5" or "TX"."""

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
            product.setflags(write=False)
            self._matrices.append(product)

    def number(self, which: Union[int, str]) -> int:
        """The number of a Gamma's name: a letter stands for one bit, 5 for all four; two names together are the
        product up to a sign or i."""
        if isinstance(which, str):
            number = 0
            for letter in which.upper():
                if letter not in "1XYZT5":
                    raise ValueError(
                        f"gamma: expected letters of 1, X, Y, Z, T, 5 or a number 0 to 15, found {which!r}"
                    )
                number ^= {"1": 0, "X": 1, "Y": 2, "Z": 4, "T": 8, "5": 15}[letter]
            return number
        try:
            number = int(which) if isinstance(which, float) and which == int(which) else index(which)
        except TypeError:
            raise TypeError(f"gamma: expected a name or a number 0 to 15, found {which!r:.80}") from None
        if not 0 <= number < 16:
            raise ValueError(f"gamma: expected a number 0 to 15, found {which}")
        return number

    def __getitem__(self, which: Union[int, str]) -> np.ndarray:
        return self._matrices[self.number(which)]

    def __call__(self, which: Union[int, str]) -> np.ndarray:
        return self[which]

    def __len__(self) -> int:
        return 16

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self._matrices)


gamma = Gammas()
