"""Mesons and baryons of propagators."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Protocol, Sequence, Tuple

import numpy as np

from . import capi
from ._objects import Context
from .analysis import Correlator
from .gammas import gamma


class Quark(Protocol):
    """What hadrons ask of a Propagator besides its handle."""

    extents: List[int]
    position: List[int]
    boundary: float

    @property
    def context(self) -> Context:
        """The device that it lives on."""


def _params(quark: Quark, other: Optional[Quark], more: Dict[str, Any]) -> capi.plaq_contract_params:
    names = {getattr(field, "normalisation", "") for field in (quark, other)} - {""}
    if len(names) > 1:
        raise ValueError("propagators of D and of 2 kappa D were mixed: give both operators the same normalisation")
    if other is not None and list(other.position) != list(quark.position):
        raise ValueError(f"propagators with sources at {quark.position} and {other.position} were mixed")
    more.setdefault("position", tuple(quark.position))
    more.setdefault("boundary", quark.boundary)
    return capi.plaq_contract_params(**more)


def _times(quark: Quark) -> int:
    return quark.extents[3] * quark.context.grid[3]


def _triples(momenta: Sequence[Sequence[int]]) -> np.ndarray:
    found = np.asarray(momenta, np.int32)
    if found.ndim != 2 or found.shape[1] != 3:
        raise ValueError(f"momenta: expected a list of triples [n_x, n_y, n_z], found shape {found.shape}")
    return found


def mesons(
    quark: Quark,
    antiquark: Optional[Quark] = None,
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
    light: Quark,
    strange: Optional[Quark] = None,
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


def two_point(quark: Quark, name: str) -> Correlator:
    """The correlator "pion", "rho" or "nucleon" of a propagator."""
    if name == "nucleon":
        return Correlator(baryons(quark)[0, 0].real, name=name, form="log")
    if name == "rho":
        found = mesons(quark, gammas=["X", "Y", "Z"])[0]
        return Correlator(found.real.mean(axis=0), name=name, gammas=("GammaI", "GammaI"))
    return Correlator(mesons(quark)[0, 0].real, name=name, gammas=("Gamma5", "Gamma5"))
