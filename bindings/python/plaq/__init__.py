"""plaq, lattice QCD: configurations to hadrons in three lines.

    import plaq
    U = plaq.open(plaq.sample)
    S = plaq.Clover(U, mass=0.1, csw=1.2).propagator()
    print(S.pion())

Arrays are NumPy's, extents [x, y, z, t], indices of arrays from t to x: links (4, T, Z, Y, X, 3, 3), quark fields
(n, T, Z, Y, X, 4, 3), propagators (T, Z, Y, X, 4, 4, 3, 3). All is in units of the lattice spacing.
`plaq.capi` has every function of the C interface. `python -m plaq` runs the program plaq.
"""

from importlib import import_module as _import
from pathlib import Path as _Path
from typing import TYPE_CHECKING as _CHECKING
from typing import Any as _Any

if _CHECKING:
    from . import capi as capi
    from ._native import Error as Error
    from ._objects import Context as Context, init as init, log as log
    from .analysis import Correlator as Correlator, Estimate as Estimate, gevp as gevp, jackknife as jackknife
    from .analysis import observable as observable
    from .chains import Hmc as Hmc, hmc as hmc, toml as toml
    from .distillation import Modes as Modes, Perambulators as Perambulators, modes as modes
    from .fields import Fermion as Fermion, Propagator as Propagator, point as point, volume as volume, wall as wall
    from .gauge import Fixed as Fixed, Flow as Flow, Gauge as Gauge, file_text as file_text, heatbath as heatbath
    from .gauge import open as open
    from .gammas import gamma as gamma
    from .hdf5 import read as read, write as write
    from .hadrons import baryons as baryons, mesons as mesons
    from .operators import Eigen as Eigen, Multigrid as Multigrid, Plan as Plan
    from .quarks import Clover as Clover, Doublet as Doublet, Laplace as Laplace, Twisted as Twisted, Wilson as Wilson
    from .overlap import Overlap as Overlap
    from ._progress import NotConvergedWarning as NotConvergedWarning

#: Where the files of the wheel are: the library, its headers, what pkg-config and CMake read.
prefix = _Path(__file__).resolve().parent
libdir = prefix / "lib"
library = next(iter(sorted(libdir.glob("libplaq.so.*"))), libdir / "libplaq.so")
include = prefix / "include"
pkgconfig = libdir / "pkgconfig"  # for PKG_CONFIG_PATH
cmake = libdir / "cmake" / "plaq"  # for plaq_DIR

#: A small configuration to try things with, quenched, 4x4x4x8: plaq.open(plaq.sample).
sample = prefix / "data" / "quenched-b6.0-4x4x4x8.ildg"
if not sample.exists():  # in the source tree
    sample = prefix.parents[2] / "tests" / "data" / sample.name

_NAMES = {
    "_native": ["Error"],
    "_objects": ["Context", "init", "log"],
    "gauge": ["Gauge", "Flow", "Fixed", "open", "file_text", "heatbath"],
    "fields": ["Fermion", "Propagator", "point", "wall", "volume"],
    "quarks": [
        "Wilson",
        "Clover",
        "Twisted",
        "Doublet",
        "Laplace",
    ],
    "operators": ["Multigrid", "Eigen", "Plan"],
    "_progress": ["NotConvergedWarning"],
    "overlap": ["Overlap"],
    "gammas": ["gamma"],
    "distillation": ["modes", "Modes", "Perambulators"],
    "hadrons": ["mesons", "baryons"],
    "hdf5": ["read", "write"],
    "analysis": ["Correlator", "Estimate", "gevp", "jackknife", "observable"],
    "chains": ["Hmc", "hmc", "toml"],
}
_MODULES = ["arrays", "capi", "distillation", "fits", "hdf5", "loops", "reweighting", "structure"]
_WHERE = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> _Any:
    """Imports a name of the package when it is first used: `plaq --PATH` needs neither NumPy nor the library."""
    if name in _MODULES:
        return _import(f".{name}", __name__)
    if name == "__version__":
        metadata = _import("importlib.metadata")
        try:
            return metadata.version("plaq")
        except metadata.PackageNotFoundError:  # not installed, in the source tree
            return _import(".capi", __name__).plaq_version()
    if name in _WHERE:
        return getattr(_import(f".{_WHERE[name]}", __name__), name)
    raise AttributeError(f"module 'plaq' has no attribute {name!r}")


def __dir__() -> "list[str]":
    return sorted([*globals(), *_MODULES, *_WHERE, "__version__"])
