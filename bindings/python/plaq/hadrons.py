"""Mesons and baryons of propagators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Protocol, Sequence, Tuple

import numpy as np

from . import capi
from ._objects import Context, integers
from ._signatures import checks_keywords, passes_on
from .analysis import Correlator
from .gammas import gamma

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import _keywords


class Quark(Protocol):
    """The data of a Propagator, besides its handle, that contractions need."""

    extents: List[int]

    @property
    def context(self) -> Context:
        """The context whose device holds the object."""


def _times(quark: Quark) -> int:
    return quark.extents[3] * quark.context.grid[3]


def _triples(momenta: Sequence[Sequence[int]]) -> np.ndarray:
    found = integers(momenta, "momenta")
    if found.ndim != 2 or found.shape[1] != 3:
        raise ValueError(f"momenta: expected a list of triples [n_x, n_y, n_z], found shape {found.shape}")
    return found


def _parts(which: Any) -> Dict[int, complex]:
    """Coefficients of a spin matrix as a sum of the sixteen Gammas, by their number."""
    try:
        if np.ndim(which) == 0:
            number, sign = gamma.signed(which)
            return {number: sign}
        matrix = np.asarray(which, complex)
    except (TypeError, ValueError) as error:
        raise type(error)(f"gammas: expected numbers, names or 4 x 4 arrays, found {which!r:.80}: {error}") from None
    if matrix.shape != (4, 4):
        raise ValueError(f"gammas: expected numbers, names or 4 x 4 arrays, found shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ValueError(f"gammas: expected 4 x 4 arrays of finite numbers, found {matrix}")
    parts = {n: complex(np.trace(gamma[n].conj().T @ matrix) / 4) for n in range(16)}
    return {n: z for n, z in parts.items() if z}


@passes_on(capi.plaq_contract_params)
def mesons(
    quark: Quark,
    antiquark: Optional[Quark] = None,
    *,
    gammas: Any = ("5",),
    momenta: Sequence[Sequence[int]] = ((0, 0, 0),),
    **params: "Unpack[_keywords.Contract]",
) -> np.ndarray:
    """Connected correlators C_AB(t, p) = -sum_x exp(-i p (x - x0)) tr[Gamma_A S gamma_t Gamma_B^dagger gamma_t gamma5
    S'^dagger gamma5] as a complex array (momenta, gammas, T), t the time from the source. `gammas`: numbers or names
    of plaq.gamma, 4 x 4 arrays, or pairs (A at the sink, B at the source), one or a list; a single pair stands in a list, too: [(A, B)]; `antiquark`: S', by default S."""
    pairs, weights = _pairs(gammas)
    numbers, times = _triples(momenta), _times(quark)
    result = np.empty((len(numbers), len(pairs), times), complex)
    capi.plaq_spinor_contract_mesons(
        quark,
        antiquark,
        capi.plaq_contract_params(**params),
        pairs,
        len(pairs),
        numbers,
        len(numbers),
        times,
        result,
    )
    return _weighted(weights, result)


def _is_matrix(one: Any) -> bool:
    """Whether a value is an array with two indices, or four lists of four numbers."""
    if isinstance(one, np.ndarray):
        return one.ndim == 2
    try:
        return np.asarray(one, complex).shape == (4, 4)
    except (TypeError, ValueError):
        return False


def _listed(given: Any, name: str) -> List[Any]:
    """A list of spin matrices, or of a single one: a name, a number or a 4 x 4 array."""
    single = isinstance(given, str) or not isinstance(given, Iterable) or _is_matrix(given)
    listed = [given] if single else list(given)
    if not listed:
        raise ValueError(f"{name}: expected one matrix or more, found none")
    return listed


def _pairs(gammas: Any) -> Tuple[np.ndarray, np.ndarray]:
    """Pairs of numbers of Gammas at sink and source, and the weights (gammas, pairs) with which their correlators
    add up to the requested ones."""
    ends = [one if isinstance(one, (tuple, list)) and len(one) == 2 else (one, one) for one in _listed(gammas, "gammas")]
    # Any matrix is a sum of the sixteen, linear in A and antilinear in B.
    parts = [(_parts(sink), _parts(source)) for sink, source in ends]
    # Matrices that are zero have no parts; correlators are then 0 times those of any pair.
    pairs = sorted({(i, j) for sink, source in parts for i in sink for j in source}) or [(0, 0)]
    weights = np.zeros((len(parts), len(pairs)), complex)
    for k, (sink, source) in enumerate(parts):
        for (i, a), (j, b) in ((x, y) for x in sink.items() for y in source.items()):
            weights[k, pairs.index((i, j))] = a * np.conj(b)
    return np.array(pairs, np.int32), weights


def _weighted(weights: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Adds correlators (momenta, pairs, T) with their weights to (momenta, gammas, T)."""
    if weights.shape[0] == weights.shape[1] and (weights == np.eye(len(weights))).all():
        return found
    summed: np.ndarray = np.einsum("kn,pnt->pkt", weights, found)
    return summed


@passes_on(capi.plaq_contract_params)
def baryons(
    light: Quark,
    strange: Optional[Quark] = None,
    *,
    names: Sequence[str] = ("nucleon",),
    projector: str = "unpolarised",
    momenta: Sequence[Sequence[int]] = ((0, 0, 0),),
    **params: "Unpack[_keywords.Contract]",
) -> np.ndarray:
    """Correlators of the octet and decuplet as a complex array (momenta, names, T): "nucleon", "sigma", "xi", "lambda",
    "delta", "sigma_star", "xi_star", "omega"; `projector`: one of structure.PROJECTORS; members of capi.plaq_contract_params by
    keyword: parity=-1, projection="three_halves"."""
    if not isinstance(projector, (str, int, np.integer)):
        known = ", ".join(member.name.lower() for member in capi.plaq_projector)
        found = type(projector).__name__
        raise TypeError(f"projector: expected one of {known}, found {found}; structure.quarks takes any 4 x 4 matrix")
    listed = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    kinds = [int(capi.plaq_baryon.named(name)) for name in listed]
    numbers, times = _triples(momenta), _times(light)
    result = np.empty((len(numbers), len(kinds), times), complex)
    how = capi.plaq_contract_params(projector=projector, **params)
    capi.plaq_spinor_contract_baryons(light, strange, how, kinds, len(kinds), numbers, len(numbers), times, result)
    return result


def two_point(quark: Quark, name: str) -> Correlator:
    """The correlator "pion", "rho" or "nucleon" of a propagator."""
    place = getattr(quark, "position", None)
    time = None if place is None else place[3]
    how: Dict[str, Any]
    if name == "nucleon":
        data, how = baryons(quark)[0, 0].real, {"form": "log"}
    elif name == "rho":
        data, how = mesons(quark, gammas=["X", "Y", "Z"])[0].real.mean(axis=0), {"gammas": ("GammaI", "GammaI")}
    else:
        data, how = mesons(quark)[0, 0].real, {"gammas": ("Gamma5", "Gamma5")}
    known = getattr(quark, "boundary_time", "")
    if not known and time is not None and data[-time % len(data)] == 0:
        raise ValueError(
            "boundary_time: expected open, sf or open_sf for a propagator that vanishes on slice 0, found none; set its "
            "boundary_time to that of its links"
        )
    return Correlator(data, name=name, source_time=time, boundary_time=known or "periodic", **how)


checks_keywords(globals())
