"""Arrays that know what their axes are: those that distillation makes, and those of files."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._signatures import checks_keywords


class Kind(NamedTuple):
    """A kind of array: a word for it, names of its axes, and a formula."""

    kind: str
    axes: Tuple[str, ...]
    convention: str


_BARYON = (
    "B_abc(p) = sum_x exp(-i p x) eps_ijk [O_1 v_a]^i [O_2 v_b]^j [O_3 v_c]^k, p_i = 2 pi n_i / L_i, the last step of O first"
)
_SPINS_AND_MODES = ("sink spin", "source spin", "sink mode", "source mode")
_AFTER = "t counts from the source, t = (t_lattice - source_time) mod T"

#: The kinds of arrays of distillation. Those that the library writes itself are the same (src/ops/distillation/kinds.rs).
KINDS: Dict[str, Kind] = {
    "values": Kind(
        "eigenvalues of modes",
        ("t", "mode"),
        "-D^2 v = lambda v on every time slice, D^2 the second covariant difference in x, y, z",
    ),
    "residuals": Kind("residuals of modes", ("t", "mode"), "|D^2 v + lambda v|"),
    "perambulators": Kind(
        "perambulator",
        ("source time", "sink time", *_SPINS_AND_MODES),
        "tau(t', t) = V(t')^dagger M^-1 V(t), t the source_time",
    ),
    "generalised": Kind(
        "generalised perambulators of modes",
        ("sink time", "insertion", "t", *_SPINS_AND_MODES),
        "V(t1)^dagger M^-1 O(t) M^-1 V(t0), O(t) = sum_x exp(i q x) Gamma [shift along the path], t0 the source_time, "
        "q_i = 2 pi n_i / L_i",
    ),
    "mesons": Kind(
        "elementals of modes",
        ("momentum", "operator", "t", "left mode", "right mode"),
        "Phi_ab(p) = sum_x exp(-i p x) u_a(x)^dagger [O v_b](x), p_i = 2 pi n_i / L_i, the last step of O first",
    ),
    "baryons": Kind("elementals of modes", ("momentum", "t", "triple of modes a < b < c with c fastest"), _BARYON),
    "baryons with steps": Kind(
        "elementals of modes",
        ("momentum", "t", "mode of quark 1", "mode of quark 2", "mode of quark 3"),
        _BARYON,
    ),
    "noise": Kind(
        "noise and solutions",
        ("column", "t", "spin", "mode"),
        "eta(t, s, k) of the sources b = sum_tsk eta(t, s, k) v_k",
    ),
    "solutions": Kind(
        "noise and solutions", ("column", "t", "spin", "mode"), "V(t')^dagger M^-1 b of the sources b with these columns"
    ),
    "meson correlator": Kind(
        "correlator of modes",
        ("t",),
        "C(t) = -tr[(A x Phi_A) tau (gamma_t B^dagger gamma_t x Phi_B^dagger) gamma5 tau'^dagger gamma5], " + _AFTER,
    ),
    "three-point correlator": Kind(
        "correlator of modes",
        ("t",),
        "<O_A(t1) J(t) O_B(t0)^dagger>, contracted as a meson's correlator with a generalised perambulator in the place of "
        "tau, t of the operator J; " + _AFTER,
    ),
    "baryon correlator": Kind(
        "correlator of modes",
        ("t", "sink spin", "source spin"),
        "C(t) = <O_s(t0 + t) Obar_s'(t0)>, O = eps (u^T G d) u; " + _AFTER,
    ),
}

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
#: The same with what belongs to them.
OF_MODES = (*KNOWN_BY, "modes_basis_error", "smeared_by_caller")


class Axis(NamedTuple):
    """An axis of an array: its name, the values that the index stands for (None: 0, 1, 2 and so on), and of an index that
    counts modes what these are known by."""

    name: str
    values: Optional[List[Any]] = None
    modes: Optional[Dict[str, Any]] = None

    def listed(self, extent: int) -> List[Any]:
        return list(range(extent)) if self.values is None else self.values


Axes = Tuple[Optional[Axis], ...]
#: Attributes in files of the values of an axis, where they are not named after it: of all, and of a single one.
NAMED = {
    "momentum": ("momenta", "momentum_n"),
    "operator": ("operators", "operator_steps"),
    "source time": ("source_times", "source_time"),
    "sink time": ("sink_times", "sink_time"),
    "insertion": ("insertions", "insertion"),
    "column": ("columns", "column"),
}
#: Axes of all time slices.
SLICES = ("t", "sink time")
#: What a whole array has, with the attribute in files.
WHOLE = {"spin basis": "spin_basis", "boundary": "boundary", "boundary time": "boundary_time"}


def _names(axis: str) -> Tuple[str, str]:
    """Attributes of the values of an axis, and of a single value."""
    word = axis.replace(" ", "_")
    return NAMED.get(axis, (f"values_of_{word}", word))


def _plain(value: Any) -> Any:
    """A value of numpy as one of Python's own."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _counted(values: List[Any]) -> Optional[List[Any]]:
    return None if values == list(range(len(values))) else values


def _part(axis: Axis, extent: int, values: List[Any]) -> Axis:
    """The axis of a part with these values of an axis. Slices 0, 1, 2 of more are kept, so that they do not count as all."""
    cut = axis.name in SLICES and (axis.values is not None or len(values) < extent)
    return axis._replace(values=values if cut else _counted(values))


class Labelled(np.ndarray):
    """An array that knows its axes. Parts of it, its transposes, and arrays that are computed from it entry by entry know
    theirs; what another function of NumPy makes of it knows nothing. `axes`: an Axis, or None if it is not known, for each;
    `fixed`: values of axes of which one entry was taken, and what holds for the whole array, its spin basis for instance;
    `about`: kind, formula and parameters, as long as the numbers are those that were made."""

    _axes: Optional[Axes]
    _labelled: Tuple[int, ...]
    fixed: Dict[str, Any]
    about: Dict[str, Any]

    def __array_finalize__(self, other: Any) -> None:
        self._axes, self._labelled, self.fixed, self.about = None, (), {}, {}

    @property
    def axes(self) -> Axes:
        known = self._axes is not None and self._labelled == self.shape
        return self._axes if known else (None,) * self.ndim  # type: ignore[return-value]

    def _of(self, axes: Sequence[Optional[Axis]], fixed: Mapping[str, Any], about: Mapping[str, Any]) -> "Labelled":
        self._axes, self._labelled = tuple(axes), self.shape
        self.fixed, self.about = dict(fixed), dict(about)
        return self

    def _listed(self, name: str) -> Any:
        """The values along the axis `name` as a list; the single value if one entry was taken of that axis; None if it is not known."""
        for axis, extent in zip(self.axes, self.shape):
            if axis is not None and axis.name == name:
                return axis.listed(extent)
        return self.fixed.get(name)

    @property
    def times(self) -> Union[None, int, List[int]]:
        """Source times: those of the first axis, or that of the whole array; None: not known."""
        return self._listed("source time")

    @property
    def sink_times(self) -> Union[None, int, List[int]]:
        """Sink times of generalised perambulators, as `times`."""
        return None if self._listed("insertion") is None else self._listed("sink time")

    @property
    def spin_basis(self) -> Optional[str]:
        """The name of the basis of the spins; None: not known, or there are none."""
        return self.fixed.get("spin basis")

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(found, Labelled):
            picked = _picked(self.axes, self.shape, key)
            if picked is not None and len(picked[0]) == found.ndim:
                found._of(picked[0], {**self.fixed, **picked[1]}, self.about)
        return found

    def transpose(self, *order: Any) -> "Labelled":
        found = super().transpose(*order)
        given = order[0] if len(order) == 1 and not isinstance(order[0], (int, np.integer)) else order
        places = range(self.ndim)[::-1] if given is None or len(given) == 0 else given
        return found._of([self.axes[k] for k in places], self.fixed, self.about)

    @property
    def T(self) -> "Labelled":  # type: ignore[override]
        return self.transpose()

    def swapaxes(self, axis1: Any, axis2: Any) -> "Labelled":
        axes = list(self.axes)
        axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
        return super().swapaxes(axis1, axis2)._of(axes, self.fixed, self.about)

    def copy(self, order: Any = "C") -> "Labelled":
        return super().copy(order)._of(self.axes, self.fixed, self.about)

    def __deepcopy__(self, memo: Any) -> "Labelled":
        return self.copy()

    def __reduce__(self) -> Any:
        of_numpy: Any = super().__reduce__()
        return (*of_numpy[:2], (of_numpy[2], self.axes, self.fixed, self.about))

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state[0])
        self._of(*state[1:])

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **more: Any) -> Any:
        def bare(value: Any) -> Any:
            return value.view(np.ndarray) if isinstance(value, Labelled) else value

        if out is not None:
            more["out"] = tuple(bare(one) for one in out)
        found = getattr(ufunc, method)(*(bare(one) for one in inputs), **more)
        whole = method == "__call__" and ufunc.signature is None and ufunc.nout == 1
        made = out[0] if out is not None else found.view(Labelled) if whole and isinstance(found, np.ndarray) else found
        if isinstance(made, Labelled):
            known = [one for one in inputs if isinstance(one, Labelled)] if whole else []
            made._of(_common_axes(known, made.shape), _common([one.fixed for one in known]), {})
        return made

    def attributes(self) -> Dict[str, Any]:
        """Attributes in files: kind and formula, what the axes are, and what their values and modes are known by."""
        found = dict(self.about)
        names = [f"axis {k}" if axis is None else axis.name for k, axis in enumerate(self.axes)]
        if "indices" not in found or any(self.axes):
            found["indices"] = ", ".join(names)
        for axis, extent in zip(self.axes, self.shape):
            if axis is None:
                continue
            if axis.values is not None:
                found[_names(axis.name)[0]] = _stored(axis.values)
            if axis.modes is not None:
                left = "left_" if _is_left(axis.name) else ""
                found.update({left + key: value for key, value in axis.modes.items()})
                found.setdefault("kind", "array of modes")
        for name, value in self.fixed.items():
            found[WHOLE.get(name, _names(name)[1])] = _stored(value)
        return found


def _is_left(axis: str) -> bool:
    """Whether an index counts the modes of a sink or an antiquark."""
    return axis in ("left mode", "sink mode")


def _stored(value: Any) -> Any:
    """Values of an axis in a file: insertions and other texts as the library writes them."""
    return list(value) if isinstance(value, (list, tuple)) else value


def _picked(axes: Axes, shape: Tuple[int, ...], key: Any) -> Optional[Tuple[List[Optional[Axis]], Dict[str, Any]]]:
    """Axes of a part of an array, and values of the axes of which one entry is taken; None: they are not known."""
    keys = list(key) if isinstance(key, tuple) else [key]
    lists = [one for one in keys if isinstance(one, (list, np.ndarray))]
    if len(lists) > 1 or lists and any(isinstance(one, (int, np.integer)) for one in keys):
        return None
    if any(isinstance(one, (bool, np.bool_)) for one in keys) or any(np.ndim(one) != 1 for one in lists):
        return None
    taken = sum(one is not None and one is not Ellipsis for one in keys)
    places = [k for k, one in enumerate(keys) if one is Ellipsis]
    at = places[0] if places else len(keys)
    keys[at : at + 1] = [slice(None)] * (len(axes) - taken)
    left: List[Optional[Axis]] = []
    fixed: Dict[str, Any] = {}
    rest = iter(zip(axes, shape))
    for one in keys:
        if one is None:
            left.append(None)
            continue
        axis, extent = next(rest)
        if axis is None:
            left += [] if isinstance(one, (int, np.integer)) else [None]
            continue
        values = axis.listed(extent)
        if isinstance(one, (int, np.integer)):
            fixed[axis.name] = values[one]
        elif isinstance(one, slice):
            left.append(_part(axis, extent, values[one]))
        else:
            which = np.arange(extent)[np.asarray(one)].tolist()
            left.append(_part(axis, extent, [values[k] for k in which]))
    return left, fixed


def _common_axes(arrays: Sequence[Labelled], shape: Tuple[int, ...]) -> List[Optional[Axis]]:
    """Axes of what is computed from arrays entry by entry: those on which all that have the axis agree."""
    found: List[Optional[Axis]] = []
    for k, extent in enumerate(shape, -len(shape)):
        with_it = [one.axes[k] for one in arrays if one.ndim >= -k and one.shape[k] == extent]
        same = bool(with_it) and all(axis == with_it[0] for axis in with_it)
        found.append(with_it[0] if same else None)
    return found


def _common(all_: Sequence[Mapping[str, Any]]) -> Dict[str, Any]:
    """The entries that all descriptions have, with equal values."""
    if not all_:
        return {}
    return {key: value for key, value in all_[0].items() if all(key in one and one[key] == value for one in all_)}


def known_by(about: Mapping[str, Any]) -> Dict[str, Any]:
    """The entries of a description by which modes are identified."""
    return {key: _plain(about[key]) for key in OF_MODES if key in about}


def labelled(
    array: np.ndarray,
    kind: str,
    right: Mapping[str, Any],
    left: Optional[Mapping[str, Any]] = None,
    *,
    values: Optional[Mapping[str, Any]] = None,
    fixed: Optional[Mapping[str, Any]] = None,
    parameters: Optional[Mapping[str, Any]] = None,
) -> Labelled:
    """The array as one of a kind of KINDS. `right` and `left` (by default the same): descriptions of the modes that its
    axes count; `values` of its axes, `fixed` ones, and parameters, attributes in files."""
    of, ends = KINDS[kind], [known_by(right), known_by(right if left is None else left)]
    axes = []
    for name, extent in zip(of.axes, array.shape):
        listed = (values or {}).get(name)
        modes = ends[_is_left(name)] if "mode" in name else None
        axes.append(Axis(name, None if listed is None else _counted(np.asarray(listed).tolist()), modes))
    about = {**(parameters or {}), "kind": of.kind, "convention": of.convention}
    return array.view(Labelled)._of(axes, fixed or {}, about)


def from_attributes(array: np.ndarray, attributes: Mapping[str, Any]) -> Labelled:
    """The array of a file with these attributes, which Labelled.attributes or the library wrote."""
    about = {key: _plain(value) for key, value in attributes.items()}
    names = str(about.get("indices", "")).split(", ")
    made = np.asarray(array).view(Labelled)
    if len(names) == made.ndim and names != [""]:
        del about["indices"]
    else:
        # A text that is no list of the axes stays as it is.
        names = [f"axis {k}" for k in range(made.ndim)]
    ends = [{key: about[key] for key in OF_MODES if key in about}, {}]
    ends[1] = {key: about.get(f"left_{key}", value) for key, value in ends[0].items()}
    axes: List[Optional[Axis]] = []
    for k, (name, extent) in enumerate(zip(names, made.shape)):
        listed = about.get(_names(name)[0])
        if isinstance(listed, str):
            listed = listed.split("; ")
        if isinstance(listed, list) and len(listed) == extent:
            del about[_names(name)[0]]
        else:
            listed = None
        modes = ends[_is_left(name)] if "mode" in name and ends[0] else None
        axes.append(None if name == f"axis {k}" else Axis(name, listed, modes))
    fixed = {name: about.pop(key) for name, key in WHOLE.items() if key in about}
    for name in {name for kind in KINDS.values() for name in kind.axes} - set(names):
        if _names(name)[1] in about:
            fixed[name] = about.pop(_names(name)[1])
    if any(axis is not None and axis.modes for axis in axes):
        apart = {*ends[0], *(f"left_{key}" for key in ends[0])}
        about = {key: value for key, value in about.items() if key not in apart}
    return made._of(axes, fixed, about)


def common_about(arrays: Iterable[Any]) -> Dict[str, Any]:
    """Parameters on which all arrays that know some agree, for what is contracted from them."""
    return _common([one.about for one in arrays if isinstance(one, Labelled) and one.about])


checks_keywords(globals())
