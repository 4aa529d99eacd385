"""plaq, a library of lattice QCD: where its files are. `python -m plaq` runs its programs."""

from pathlib import Path

__version__ = "@VERSION@"

prefix = Path(__file__).resolve().parent
library = prefix / "lib" / "libplaq.so.@MAJOR@"  # for ctypes and cffi
libdir = prefix / "lib"
include = prefix / "include"
pkgconfig = libdir / "pkgconfig"  # for PKG_CONFIG_PATH
cmake = libdir / "cmake" / "plaq"  # for plaq_DIR
