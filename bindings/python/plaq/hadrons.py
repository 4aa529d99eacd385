"""Gamma matrices, and mesons and baryons of propagators."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import capi
from .analysis import Correlator
from .fields import Fermion


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
        """The number of a name: a letter's bit, 5 all of them; two names together are the product up to a sign or i."""
        if isinstance(which, str):
            number = 0
            for letter in which.upper():
                if letter not in "1XYZT5":
                    raise ValueError(
                        f"gamma: expected letters of 1, X, Y, Z, T, 5 or a number 0 to 15, found {which!r}"
                    )
                number ^= {"1": 0, "X": 1, "Y": 2, "Z": 4, "T": 8, "5": 15}[letter]
            return number
        if not 0 <= int(which) < 16:
            raise ValueError(f"gamma: expected a number 0 to 15, found {which}")
        return int(which)

    def __getitem__(self, which: Union[int, str]) -> np.ndarray:
        return self._matrices[self.number(which)]

    def __call__(self, which: Union[int, str]) -> np.ndarray:
        return self[which]

    def __len__(self) -> int:
        return 16

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self._matrices)


gamma = Gammas()


def _params(quark: Fermion, other: Optional[Fermion], more: Dict[str, Any]) -> capi.plaq_contract_params:
    names = {getattr(field, "normalisation", "") for field in (quark, other)} - {""}
    if len(names) > 1:
        raise ValueError("propagators of D and of 2 kappa D were mixed: give both operators the same normalisation")
    if other is not None and list(other.position) != list(quark.position):
        raise ValueError(f"propagators with sources at {quark.position} and {other.position} were mixed")
    more.setdefault("position", tuple(quark.position))
    more.setdefault("boundary", quark.boundary)
    return capi.plaq_contract_params(**more)


def _times(quark: Fermion) -> int:
    return quark.extents[3] * quark.context.grid[3]


def _triples(momenta: Sequence[Sequence[int]]) -> np.ndarray:
    found = np.asarray(momenta, np.int32)
    if found.ndim != 2 or found.shape[1] != 3:
        raise ValueError(f"momenta: expected a list of triples [n_x, n_y, n_z], found shape {found.shape}")
    return found


def mesons(
    quark: Fermion,
    antiquark: Optional[Fermion] = None,
    *,
    gammas: Any = ("5",),
    momenta: Sequence[Sequence[int]] = ((0, 0, 0),),
    **params: Any,
) -> np.ndarray:
    """Connected correlators C_AB(t, p) = -sum_x exp(-i p (x - x0)) tr[Gamma_A S gamma_t Gamma_B^dagger gamma_t gamma5
    S'^dagger gamma5] as a complex array (momenta, gammas, T), t the time from the source. `gammas`: numbers or names
    of plaq.gamma, or pairs (A at the sink, B at the source); `antiquark`: S', by default S."""
    listed = [gammas] if isinstance(gammas, (str, int)) else list(gammas)
    pairs: List[Tuple[int, int]] = []
    for one in listed:
        sink, source = one if isinstance(one, (tuple, list)) else (one, one)
        pairs.append((gamma.number(sink), gamma.number(source)))
    numbers, times = _triples(momenta), _times(quark)
    result = np.empty((len(numbers), len(pairs), times), complex)
    capi.plaq_contract_mesons(
        quark,
        antiquark,
        _params(quark, antiquark, params),
        np.array(pairs, np.int32),
        len(pairs),
        numbers,
        len(numbers),
        times,
        result,
    )
    return result


def baryons(
    light: Fermion,
    strange: Optional[Fermion] = None,
    *,
    names: Sequence[str] = ("nucleon",),
    momenta: Sequence[Sequence[int]] = ((0, 0, 0),),
    **params: Any,
) -> np.ndarray:
    """Correlators of the octet and decuplet as a complex array (momenta, names, T): "nucleon", "sigma", "xi", "lambda",
    "delta", "sigma_star", "xi_star", "omega"; members of capi.plaq_contract_params by keyword: parity=-1,
    projection="three_halves"."""
    listed = [names] if isinstance(names, str) else list(names)
    kinds = [int(capi.plaq_baryon.named(name)) for name in listed]
    numbers, times = _triples(momenta), _times(light)
    result = np.empty((len(numbers), len(kinds), times), complex)
    capi.plaq_contract_baryons(
        light, strange, _params(light, strange, params), kinds, len(kinds), numbers, len(numbers), times, result
    )
    return result


def two_point(quark: Fermion, name: str) -> Correlator:
    """The correlator "pion", "rho" or "nucleon" of a propagator."""
    if name == "nucleon":
        return Correlator(baryons(quark)[0, 0].real, name=name, form="log")
    if name == "rho":
        found = mesons(quark, gammas=["X", "Y", "Z"])[0]
        return Correlator(found.real.mean(axis=0), name=name, gammas=("GammaI", "GammaI"))
    return Correlator(mesons(quark)[0, 0].real, name=name, gammas=("Gamma5", "Gamma5"))
