"""Hadron structure: operators between two propagators, baryons of any three quarks, sequential sources.

Times count from the source everywhere, and phases of momenta from its position; p_i = 2 pi n_i / L_i, shifted by boundary
phases in space that do not cancel (docs/hadrons.md). A spin matrix is a name or number of plaq.gamma or a 4 x 4 array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import capi
from ._signatures import checks_keywords, passes_on
from .fields import Fermion, Propagator
from .gammas import gamma
from .gauge import Gauge, path_of
from .hadrons import _listed, _pairs, _times, _triples, _weighted

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import _keywords

Spin = Union[int, str, np.ndarray, Sequence[Sequence[complex]]]
#: An operator's line: steps "+z" or "z", "-z" and "dz" in a text with spaces or a list, also as numbers; or several such texts or
#: tuples with their weights.
Path = Union[str, Sequence[Union[str, int]]]
Line = Union[Path, Mapping[Any, complex]]

#: Contractions of three quarks: for the quarks at positions 1, 2, 3 of the sink's operator the positions in the
#: source's operator to which they are connected.
PAIRINGS = ("123", "213", "132", "321", "231", "312")


class Matrices(Mapping[str, np.ndarray]):
    """Spin matrices of the library by their names."""

    def __init__(self, names: Sequence[str], read: Callable[[str, np.ndarray], None]) -> None:
        self._names, self._read = names, read

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._names:
            raise KeyError(name)
        matrix = np.empty((4, 4), complex)
        self._read(name, matrix)
        return matrix

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


#: Matrices of the pair in eps_abc (q1_a^T Gamma q2_b) q3_c, C = gamma_y gamma_t: C gamma5, C gamma_t gamma5, ..., C gamma_x, ...
DIQUARKS = Matrices(("C5", "Ct5", "Cz5", "Cx", "Cy", "Cz"), capi.plaq_diquark_matrix)
#: Projectors of the free spin: positive parity, and with it polarised along x, y, z.
PROJECTORS = Matrices(
    ("unpolarised", "x", "y", "z"), lambda name, matrix: capi.plaq_projector_matrix(name, 1, matrix)
)

#: For an operator on the u or the d quarks of the nucleon eps_abc (u_a^T Gamma d_b) u_c: its pairings, each with the
#: position at the sink of the quark on which it acts.
NUCLEON: Dict[str, List[Tuple[str, int]]] = {
    "u": [("123", 1), ("123", 3), ("321", 1), ("321", 3)],
    "d": [("123", 2), ("321", 2)],
}


def _matrix(which: Spin, name: str, named: Mapping[str, np.ndarray] = {}) -> np.ndarray:
    if isinstance(which, str) and which in named:
        return named[which]
    expected = f"a number, a name{' of ' + ', '.join(named) if named else ''} or a 4 x 4 matrix"
    try:
        found = gamma[which] if np.ndim(which) == 0 else np.asarray(which, complex)  # type: ignore[index]
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: expected {expected}, found {which!r}: {error}") from None
    if found.shape != (4, 4):
        raise ValueError(f"{name}: expected a 4 x 4 matrix, found shape {found.shape}")
    if not np.isfinite(found).all():
        raise ValueError(f"{name}: expected a 4 x 4 matrix of finite numbers, found {found}")
    return np.ascontiguousarray(found, complex)


def _ends(sink: Spin, source: Optional[Spin], named: Mapping[str, np.ndarray] = {}) -> Tuple[np.ndarray, np.ndarray]:
    """Spin matrices at sink and source, which by default are the same."""
    return _matrix(sink, "sink", named), _matrix(sink if source is None else source, "source", named)


def _hashable(line: Any) -> Any:
    return tuple(line) if isinstance(line, (list, np.ndarray)) else line


def combined(lines: Sequence[Line]) -> Tuple[List[List[int]], np.ndarray]:
    """The factors of the different products that lines are sums of, and the weights (lines, products)."""
    if lines is None or isinstance(lines, (str, Mapping)):
        raise ValueError(f'lines: expected a list of lines, ["", "+z", ...], found {lines!r:.80}')
    sums: List[Dict[Tuple[int, ...], complex]] = []
    for line in lines:
        terms: Mapping[Any, complex] = line if isinstance(line, Mapping) else {_hashable(line): 1.0}
        found: Dict[Tuple[int, ...], complex] = {}
        for term, weight in terms.items():
            if isinstance(weight, str) or not np.isfinite(weight):
                raise ValueError(f"lines: expected finite numbers as weights, found {weight!r}")
            steps = tuple(path_of(term, "lines", derivatives=True))
            found[steps] = found.get(steps, 0) + weight
        sums.append(found)
    if not sums or not all(sums):
        raise ValueError(f'lines: expected at least one, "" for a local operator, found {lines!r}')
    products = list(dict.fromkeys(product for one in sums for product in one))
    weights = np.array([[one.get(product, 0) for product in products] for one in sums])
    return [list(product) for product in products], weights


def _step(word: str) -> str:
    if len(word) != 2 or word[0] not in "+-" or word[1] not in "xyzt":
        raise ValueError(f'direction: expected "+x", "-x" and so on of x, y, z, t, found {word!r}')
    return word


def _whole(name: str, number: int) -> int:
    if not isinstance(number, (int, np.integer)):
        raise ValueError(f"{name}: expected a whole number, found {number!r}")
    return int(number)


def straight(direction: str, length: int) -> str:
    """The line of `length` links in direction x, y, z or t, which goes backward if the length is negative."""
    return " ".join([_step(("+" if length > 0 else "-") + direction)] * abs(_whole("length", length)))


def staple(direction: str, length: int, side: str, width: int) -> str:
    """The line that goes `width` links along `side` ("+x", "-y", ...), `length` links in `direction`, and `width`
    links back."""
    back = {"+": "-", "-": "+"}[_step(side)[0]] + side[1:]
    if _whole("width", width) < 0:
        raise ValueError(f"width: expected 0 or more links along {side}, found {width}")
    if side[1] == direction:
        raise ValueError(f"side: expected another direction than {direction}, that of the line, found {side!r}")
    return " ".join([*[side] * width, straight(direction, length), *[back] * width])


def derivatives(traceless: bool = False) -> Dict[str, Dict[str, complex]]:
    """Lines of the symmetrised second derivatives {d_mu d_nu} = (d_mu d_nu + d_nu d_mu) / 2, by "xx", "xy", ... "tt"; traceless: without
    delta_munu / 4 of their trace."""
    out: Dict[str, Dict[str, complex]] = {}
    for i, mu in enumerate("xyzt"):
        for nu in "xyzt"[i:]:
            line: Dict[str, complex] = {}
            for one in (f"d{mu} d{nu}", f"d{nu} d{mu}"):
                line[one] = line.get(one, 0) + 0.5
            if traceless and mu == nu:
                for axis in "xyzt":
                    line[f"d{axis} d{axis}"] = line.get(f"d{axis} d{axis}", 0) - 0.25
            out[mu + nu] = line
    return out


@passes_on(capi.plaq_contract_params)
def insertions(
    back: Fermion,
    forward: Fermion,
    gauge: Optional[Gauge] = None,
    *,
    lines: Sequence[Line] = ("",),
    momenta: Sequence[Sequence[int]] = ((0, 0, 0),),
    **params: "Unpack[_keywords.Contract]",
) -> np.ndarray:
    """Operators between a propagator `forward` and the solution X = `back` of a sequential source, as an array (lines, 16 gammas,
    momenta, T): sum over z of exp(i q (z - x0)) X^dagger gamma5 Gamma [line] S. A line is "" for a local operator, or steps of which
    the last acts first, in a text or a list: "+z" (or "z") and "-z" carry the quark along a link, "dz" is (D - D')_z / 2 with D q = [U q(z + 1) - U^dagger q(z - 1)] / 2
    and D' the same of the antiquark; {"dx dz": 0.5, "dz dx": 0.5} adds some. Without `gauge` links are 1. Quarks of other masses need
    flavour_changing=True."""
    factors, weights = combined(lines)
    steps = [step for one in factors for step in one]
    numbers, times = _triples(momenta), _times(forward)
    found = np.empty((len(factors), 16, len(numbers), times), complex)
    capi.plaq_spinor_contract_insertions(
        back,
        forward,
        gauge,
        capi.plaq_contract_params(**params),
        [len(one) for one in factors],
        len(factors),
        steps,
        len(steps),
        numbers,
        len(numbers),
        times,
        found,
    )
    return np.tensordot(weights, found, 1)


@passes_on(capi.plaq_contract_params)
def current(
    back: Fermion,
    forward: Fermion,
    gauge: Gauge,
    *,
    momenta: Sequence[Sequence[int]] = ((0, 0, 0),),
    **params: "Unpack[_keywords.Contract]",
) -> np.ndarray:
    """The conserved vector current V_mu(z) = [qbar(z + mu) (1 + gamma_mu) U_mu(z)^dagger q(z) - qbar(z) (1 - gamma_mu) U_mu(z)
    q(z + mu)] / 2 between two lines like those of insertions, an array (4, momenta, T)."""
    numbers, times = _triples(momenta), _times(forward)
    found = np.empty((4, len(numbers), times), complex)
    capi.plaq_spinor_contract_current(
        back, forward, gauge, capi.plaq_contract_params(**params), numbers, len(numbers), times, found
    )
    return found


@passes_on(capi.plaq_contract_params)
def conserved_mesons(
    quark: Propagator,
    antiquark: Optional[Propagator] = None,
    *,
    gauge: Gauge,
    gammas: Any = ("X", "Y", "Z", "T"),
    momenta: Sequence[Sequence[int]] = ((0, 0, 0),),
    **params: "Unpack[_keywords.Contract]",
) -> np.ndarray:
    """Correlators of the conserved vector current at the sink, sum_x exp(-i p (x - x0)) <V_mu(x) (qbar' Gamma q)(x0)^dagger>, as an
    array (momenta, gammas, 4, T), in the signs of plaq.mesons. `gammas` at the source: names or numbers of plaq.gamma or 4 x 4
    arrays; `gauge`: the links of the propagators' operator; `antiquark`: S', by default S."""
    listed = _listed(gammas, "gammas")
    if any(isinstance(which, (tuple, list)) and np.ndim(which) < 2 for which in listed):
        raise ValueError(f"gammas: expected matrices at the source, as that at the sink is the current's, found {gammas!r:.80}")
    pairs, weights = _pairs([("1", which) for which in listed])
    numbers, times = _triples(momenta), _times(quark)
    found = np.empty((len(numbers), len(pairs), 4 * times), complex)
    how = capi.plaq_contract_params(**params)
    capi.plaq_spinor_contract_conserved(
        quark, antiquark, gauge, how, pairs[:, 1].copy(), len(pairs), numbers, len(numbers), times, found
    )
    return _weighted(weights, found).reshape(len(numbers), -1, 4, times)


@passes_on(capi.plaq_contract_params)
def quarks(
    first: Propagator,
    second: Optional[Propagator] = None,
    third: Optional[Propagator] = None,
    *,
    sink: Spin = "C5",
    source: Optional[Spin] = None,
    projector: Union[None, Spin, Sequence[Spin]] = None,
    momenta: Sequence[Sequence[int]] = ((0, 0, 0),),
    **params: "Unpack[_keywords.Contract]",
) -> np.ndarray:
    """Baryons eps_abc (q1_a^T Gamma q2_b) q3_c of three propagators (by default the first one) with open spins, an array (6, momenta, T,
    4, 4) of all PAIRINGS: quarks belong to the slots of the sink. Gamma is a 4 x 4 array or one of DIQUARKS, at the source by default the
    sink's. With a projector, one of PROJECTORS or a 4 x 4 array, or a list of these: tr[P C] as (6, projectors, momenta, T)."""
    ends, closing = _ends(sink, source, DIQUARKS), None
    if projector is not None:
        closing = np.array([_matrix(one, "projector", PROJECTORS) for one in _listed(projector, "projector")])
    numbers, times = _triples(momenta), _times(first)
    found = np.empty((6, len(numbers), times, 4, 4), complex)
    how = capi.plaq_contract_params(**params)
    capi.plaq_spinor_contract_quarks(first, second, third, how, ends[0], ends[1], numbers, len(numbers), times, found)
    if closing is None:
        return found
    closed: np.ndarray = np.einsum("kji,nptij->nkpt", closing, found)
    return closed




@passes_on(capi.plaq_contract_params)
def through_operator(
    field: Fermion,
    gauge: Optional[Gauge] = None,
    *,
    gamma: Spin = "5",
    line: Path = "",
    momentum: Sequence[int] = (0, 0, 0),
    time: int = -1,
    **params: "Unpack[_keywords.Contract]",
) -> Fermion:
    """exp(i q (z - x0)) Gamma [line] S on the time slice `time`, counted from the source, or on all with -1;
    D.propagator of the result is the quark line that continues from the operator. `line` must not contain
    derivatives."""
    steps = path_of(line, "line")
    out = field._like()
    how, matrix = capi.plaq_contract_params(**params), _matrix(gamma, "gamma")
    capi.plaq_spinor_sequential_operator(
        field, out, gauge, how, matrix, steps, len(steps), list(momentum), time
    )
    return out


@passes_on(capi.plaq_contract_params)
def through_meson(
    antiquark: Propagator,
    *,
    sink: Spin = "5",
    source: Optional[Spin] = None,
    momentum: Sequence[int] = (0, 0, 0),
    time: int,
    **params: "Unpack[_keywords.Contract]",
) -> Fermion:
    """The sequential source through the sink of a meson at `time` from the source, from the propagator of the antiquark, smeared where
    the sink is; smear the result, too. With X = D.propagator of it insertions(X, S) is sum_x exp(-i p (x - x0)) <O(x) J O(x0)^dagger>."""
    ends = _ends(sink, source)
    out = antiquark._like()
    how = capi.plaq_contract_params(**params)
    capi.plaq_spinor_sequential_meson(antiquark, out, how, ends[0], ends[1], list(momentum), time)
    return out


@passes_on(capi.plaq_contract_params)
def through_baryon(
    first: Propagator,
    second: Optional[Propagator] = None,
    third: Optional[Propagator] = None,
    *,
    quark: Union[str, Sequence[Tuple[str, int]]] = "u",
    projector: Spin = "unpolarised",
    sink: Spin = "C5",
    source: Optional[Spin] = None,
    weights: Optional[Sequence[float]] = None,
    momentum: Sequence[int] = (0, 0, 0),
    time: int,
    **params: "Unpack[_keywords.Contract]",
) -> Fermion:
    """The sequential source through the sink of a baryon at `time` from the source, from propagators smeared where the sink is; smear
    the result, too. `quark`: "u" or "d" of the nucleon, or a list of (pairing of PAIRINGS, slot 1 to 3 of the quark that the
    operator acts on) with `weights`. With X = D.propagator of it insertions(X, S) is sum_x exp(-i p (x - x0)) tr[P <O(x) J Obar(x0)>]."""
    ends = _ends(sink, source, DIQUARKS)
    if isinstance(quark, str) and quark not in NUCLEON:
        raise ValueError(f"quark: expected u or d, or pairs of a pairing and a slot, found {quark!r}")
    try:
        terms = [(pairing, slot) for pairing, slot in (NUCLEON[quark] if isinstance(quark, str) else quark)]
    except (TypeError, ValueError):
        raise ValueError(f"quark: expected u or d, or pairs of a pairing and a slot, found {quark!r:.80}") from None
    if not terms:
        raise ValueError("quark: expected at least one pair of a pairing and a slot, found none")
    for pairing, slot in terms:
        if pairing not in PAIRINGS or slot not in (1, 2, 3):
            raise ValueError(f"quark: expected pairs of one of {PAIRINGS} and a slot 1 to 3, found {(pairing, slot)}")
    factors = np.asarray([1.0] * len(terms) if weights is None else weights)
    if factors.shape != (len(terms),) or factors.dtype.kind not in "biuf":
        raise ValueError(f"weights: expected {len(terms)} real numbers, one for each pair of quark, found {weights!r:.80}")
    out = first._like()
    capi.plaq_spinor_sequential_baryon(
        first,
        second,
        third,
        out,
        capi.plaq_contract_params(**params),
        ends[0],
        ends[1],
        _matrix(projector, "projector", PROJECTORS),
        [PAIRINGS.index(pairing) for pairing, _ in terms],
        [int(slot) - 1 for _, slot in terms],
        factors.astype(float).tolist(),
        len(terms),
        list(momentum),
        time,
    )
    return out


#: Planes of field strengths, in the order of gluons.
PLANES = ("xy", "xz", "yz", "xt", "yt", "zt")


def gluons(gauge: Gauge, line: Path = "", *, momenta: Sequence[Sequence[int]] = ((0, 0, 0),)) -> np.ndarray:
    """Gluon operators sum_x exp(-i p x) tr[F_a(x) W F_b(x + d) W^dagger] as an array (1 + steps, 6, 6, momenta, T): W are the links
    along the first steps of `line`, words "+z" and "-z" like those of insertions, from none to all of them; a and b are PLANES; F = (Q -
    Q^dagger) / 8 of the clover leaves without its trace, antihermitian; t and x are those of F_a from the lattice's origin. The
    links may have flowed, U.flow(t).gauge."""
    steps, numbers = path_of(line, "line"), _triples(momenta)
    times = gauge.extents[3] * gauge.context.grid[3]
    found = np.empty((len(steps) + 1, 6, 6, len(numbers), times), complex)
    capi.plaq_gauge_gluon_pairs(
        gauge, steps, len(steps), numbers, len(numbers), len(steps) + 1, times, found
    )
    return found


def improved_axial(
    found: np.ndarray,
    extents: Sequence[int],
    *,
    ca: float,
    momenta: Sequence[Sequence[int]] = ((0, 0, 0),),
    shift: Sequence[float] = (0, 0, 0),
) -> np.ndarray:
    """The improved axial current A_mu + ca (d_mu + d*_mu) P / 2, A_mu = qbar gamma_mu gamma5 q, P = qbar gamma5 q
    (Luescher, Sint, Sommer, Weisz, Nucl. Phys. B 478 (1996) 365), as an array (..., 4, momenta, T). `found`: local
    operators (..., 16 gammas, momenta, T), as insertions returns them for one line and these `momenta`; `extents`:
    those of the lattice; `shift`: s of momenta (2 pi n - pi s) / L where the phases in space of S and X differ, those of S less those
    of X above -1 and up to 1. The result has no renormalisation factors and no mass-dependent ones."""
    array, numbers = np.asarray(found), _triples(momenta)
    if len(extents) != 4:
        raise ValueError(f"extents: expected four numbers, found {tuple(extents)}")
    if len(shift) != 3 or not np.all(np.isfinite(shift)):
        raise ValueError(f"shift: expected three angles in units of pi, found {tuple(shift)}")
    if not isinstance(ca, (int, float, np.integer, np.floating)) or not np.isfinite(ca):
        raise ValueError(f"ca: expected a finite real number, found {ca!r}")
    if array.ndim < 3 or array.shape[-3] != 16 or array.shape[-2] != len(numbers) or array.shape[-1] != extents[3]:
        raise ValueError(
            f"found: expected shape (..., 16, {len(numbers)} momenta, {extents[3]} times), found {array.shape}"
        )
    five, pseudo = gamma[15], array[..., 15, :, :]
    out = []
    for mu in range(4):
        wanted, n = gamma[1 << mu] @ five, 15 ^ (1 << mu)
        sign = np.vdot(gamma[n], wanted).real / 4
        if mu == 3:
            slope = (np.roll(pseudo, -1, axis=-1) - np.roll(pseudo, 1, axis=-1)) / 2
        else:
            # exp(i q z) at z: sums of P(z + mu) have exp(-i q_mu).
            angles = np.pi * (2 * np.array(numbers, float).reshape(-1, 3)[:, mu] - shift[mu]) / extents[mu]
            slope = -1j * np.sin(angles)[:, None] * pseudo
        out.append(sign * array[..., n, :, :] + ca * slope)
    return np.stack(out, axis=-3)


checks_keywords(globals())
