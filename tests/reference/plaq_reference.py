"""The reference of the tests for programs in Python, by the functions of reference.h. Arrays of the whole lattice are
links [mu][t][z][y][x][a][b] and spinors [t][z][y][x][spin][colour]. PLAQ_TEST_REFERENCE is the path of the library; by
default it is beside PLAQ_LIBRARY."""

import ctypes
import os
from ctypes import POINTER, byref, c_double, c_int32, c_size_t
from pathlib import Path

import numpy as np

NUMBERS = POINTER(c_double)


class Quark(ctypes.Structure):
    _fields_ = [
        *((name, c_double) for name in ("mass", "csw", "csw_t", "mu")),
        ("hop", c_double * 4),
        ("boundary", c_double * 8),
        ("exponential", c_int32),
    ]


_path = os.environ.get("PLAQ_TEST_REFERENCE") or Path(os.environ["PLAQ_LIBRARY"]).with_name("libplaq_reference.so")
_library = ctypes.CDLL(str(_path))
APE, STOUT, HYP, OVERIMPROVED = range(4)


def _call(name, u, *arguments):
    """Calls a function with extents, links and further arguments, arrays of complex numbers or values of ctypes."""
    links = np.ascontiguousarray(np.moveaxis(u, 0, 4), complex)
    extents = (c_int32 * 4)(*reversed(u.shape[1:5]))
    function = getattr(_library, f"reference_{name}")
    function.restype = None
    numbers = [a.ctypes.data_as(NUMBERS) if isinstance(a, np.ndarray) else a for a in (links, *arguments)]
    function(extents, *numbers)


def _columns(u, psi):
    """An array of spinors on the lattice of links u, with or without an index of columns in front."""
    psi = np.ascontiguousarray(psi, complex)
    assert psi.shape[-6:] == (*u.shape[1:5], 4, 3) and psi.ndim < 8, psi.shape
    return psi


def _quark(mass, phases=(1, 1, 1, -1), csw=0.0, csw_t=None, twist=0.0, hops=(1, 1, 1, 1), exponentiated=False):
    boundary = np.array(phases, complex).view(float)
    return byref(Quark(mass, csw, csw if csw_t is None else csw_t, twist, tuple(hops), tuple(boundary), exponentiated))


def dirac(u, psi, mass, *action, **more):
    """D psi = (m + sum h) psi - 1/2 sum h [(1 - g_mu) U psi(x+mu) + (1 + g_mu) U^dagger psi(x-mu)]
    + csw (i/4) sum sigma F psi + i twist g5 psi, or with `exponentiated` (m + sum h) exp(csw / (m + sum h) (i/4) sum
    sigma F) psi in place of the first and the clover term. The action: arguments of `_quark`."""
    psi = _columns(u, psi)
    assert psi.ndim == 6, psi.shape
    out = np.empty_like(psi)
    _call("dirac", u, _quark(mass, *action, **more), psi, out)
    return out


def solve(u, b, mass, *action, tol=1e-14, **more):
    """D^-1 b for columns b, to |b - D x| <= tol |b|."""
    b = _columns(u, b)
    x = np.empty_like(b)
    columns = b.size // (12 * int(np.prod(u.shape[1:5])))
    _call("solve", u, _quark(mass, *action, **more), c_double(tol), c_size_t(columns), b, x)
    return x


def _mask(directions):
    return c_int32(sum(1 << "xyzt".index(letter) for letter in directions))


def smeared(u, rule, alpha, directions="xyzt", steps=1):
    """Links by a rule and its parameters: alpha of APE, rho of STOUT, three alpha of HYP, rho and epsilon of
    OVERIMPROVED."""
    alpha = (c_double * 3)(*np.atleast_1d(alpha))
    for _ in range(steps):
        out = np.empty((*u.shape[1:5], 4, 3, 3), complex)
        _call("smear", u, c_int32(rule), alpha, _mask(directions), out)
        u = np.moveaxis(out, 4, 0)
    return u


def smeared_spinor(u, psi, alpha, steps, directions="xyz"):
    """[(1 + alpha sum (U + U^dagger)) / (1 + 2 d alpha)]^steps psi, of neighbours in d directions."""
    psi = _columns(u, psi)
    assert psi.ndim == 6, psi.shape
    out = np.empty_like(psi)
    _call("smear_spinor", u, c_double(alpha), c_size_t(steps), _mask(directions), psi, out)
    return out


def field_strength(u, mu, nu):
    """(Q - Q^dagger) / 8 of four clover leaves."""
    out = np.empty((*u.shape[1:5], 3, 3), complex)
    _call("field_strength", u, c_int32(mu), c_int32(nu), out)
    return out


def charge_density(u):
    """The density of the topological charge of F with its trace."""
    out = np.empty(u.shape[1:5])
    _call("charge", u, out)
    return out
