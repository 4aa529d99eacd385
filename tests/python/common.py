"""Lattices of the tests."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import plaq

ROOT = Path(__file__).resolve().parent.parent.parent
CONFIGURATION = ROOT / "tests/data/quenched-b6.0-4x4x4x8.ildg"
EXTENTS = [4, 6, 2, 8]
SHAPE = (8, 2, 6, 4)


@lru_cache(None)
def lattice(seed=1, shape=SHAPE):
    """A random array of links, and the same as a Gauge."""
    import reference

    links = reference.random_su3((4, *shape), np.random.default_rng(seed))
    return links, plaq.Gauge.from_array(links)


def spinors(n=None, seed=2, shape=SHAPE):
    import reference

    rng = np.random.default_rng(seed)
    return reference.random_spinor(shape if n is None else (n, *shape), rng)


def close(found, expected, tolerance=1e-12):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, f"shapes {found.shape} and {expected.shape}"
    error = np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-300)
    assert error < tolerance, f"relative error {error:.2e}, tolerance {tolerance:.0e}"


def refused(kind, words, call):
    """The call raises `kind` with all of the words in its message."""
    try:
        call()
    except kind as error:
        for word in words.split("|"):
            assert word in str(error), f"no {word!r} in: {error}"
        return error
    raise AssertionError(f"expected {kind.__name__}, and nothing was raised")
