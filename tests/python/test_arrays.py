"""Arrays that know what their axes are: what happens to labels, and what files keep."""

import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np
import plaq
from common import close, refused
from plaq import capi, distillation
from plaq.arrays import KINDS, Labelled

EXTENTS, N = [4, 4, 2, 4], 4
MOMENTA = [(0, 0, 0), (0, 1, -1)]


@lru_cache(None)
def made():
    links = plaq.Gauge.hot(EXTENTS, seed=2)
    return links, plaq.modes(links, N, rho=0.1, steps=2, tol=1e-12), plaq.Clover(links, mass=1.0, csw=1.1)


def names(array):
    return [None if axis is None else axis.name for axis in array.axes]


def test_labels_follow_or_vanish():
    _, V, D = made()
    phi = V.mesons(MOMENTA, ["", "dx"])
    all_ = ["momentum", "operator", "t", "left mode", "right mode"]
    assert names(phi) == all_ and phi.about["kind"] == "elementals of modes"
    # The last two axes have the same extent, so that no shape tells them apart.
    turns = (lambda a: a.swapaxes(3, 4), lambda a: np.swapaxes(a, -1, -2), lambda a: a.transpose(0, 1, 2, 4, 3),
             lambda a: np.moveaxis(a, 3, 4), lambda a: np.transpose(a, (0, 1, 2, 4, 3)))
    for turn in turns:
        assert names(turn(phi)) == ["momentum", "operator", "t", "right mode", "left mode"]
    assert names(phi[0, 0, 0].T) == ["right mode", "left mode"] == names(np.transpose(phi[0, 0, 0]))
    # Parts.
    part = phi[1, :, ::2, :3]
    assert names(part) == all_[1:] and part.fixed["momentum"] == [0, 1, -1]
    assert part.axes[1].values == [0, 2] and part.axes[2].values is None and part.axes[3].values is None
    assert phi[..., 2:, :].axes[3].values == [2, 3] and phi[..., [1, 0], :].axes[3].values == [1, 0]
    assert names(phi[None]) == [None, *all_] and names(phi[..., np.newaxis, :]) == [*all_[:4], None, all_[4]]
    assert phi[np.array([False, True])].axes[0].values == [[0, 1, -1]]
    assert phi[-1].fixed["momentum"] == [0, 1, -1] and phi[:, 1].fixed["operator"] == "dx"
    # Numbers picked one by one, other shapes, and functions that say nothing of axes.
    for other in (phi[:, [0, 1], [0, 1]], phi[0, :, :, [0, 1]], phi.reshape(phi.shape), phi.reshape(2, -1), phi.ravel(), phi.view(),
                  np.flip(phi, 3).reshape(phi.shape), np.concatenate([phi, phi])):
        assert names(np.asanyarray(other).view(Labelled)) == [None] * other.ndim
        assert not getattr(other, "about", {})
    assert not isinstance(np.einsum("motab->motba", phi), Labelled) or names(np.einsum("motab->motba", phi)) == [None] * 5
    assert names(np.rot90(phi[0, 0, 0])) == ["right mode", "left mode"]
    assert np.flip(phi, 3).axes[3].values == [3, 2, 1, 0]
    # Arithmetic keeps axes and loses what the numbers were.
    for other in (2 * phi, phi.conj(), phi + phi, phi * np.ones(N), -phi, phi.real + 0):
        assert names(np.asanyarray(other)) in (all_, [None] * 5) and not getattr(other, "about", {})
    assert names(2 * phi) == names(phi + phi) == all_
    assert names(phi + phi.swapaxes(3, 4)) == [*all_[:3], None, None]
    W = plaq.modes(plaq.Gauge.hot(EXTENTS, seed=9), N)
    assert names(phi[:, :1] + W.mesons(MOMENTA)) == [*all_[:3], None, None]
    copy = phi.copy()
    assert names(copy) == all_ and copy.about == phi.about
    copy *= 3
    assert names(copy) == all_ and not copy.about
    copy.shape = (2, 2, 4, 16)
    assert names(copy) == [None] * 4
    assert not isinstance(phi.sum(axis=0), Labelled) or names(phi.sum(axis=0)) == [None] * 4
    # What contractions compare follows.
    tau = V.perambulators(D, 0, tol=1e-6).numbers[0]
    five, cut = ("5", phi[0, 0]), ("5", phi[0, 0, :, ::-1, ::-1])
    refused(ValueError, "sink|modes all from 0 on|3, 2, 1, 0", lambda: distillation.meson(tau, 0, cut, five))
    refused(ValueError, "source_time|expected 0|found 1", lambda: distillation.meson(tau, 1, five, five))


def test_boundaries_of_baryons_are_those_of_the_quarks():
    U, V, D = made()
    b = V.baryons()[0]
    g = plaq.gamma["Y"] @ plaq.gamma["T"] @ plaq.gamma["5"]
    t0, passed = 2, slice(2, None)
    for phase in (1.0, 0.5, 0.0):
        E = plaq.Clover(U, mass=1.0, csw=1.1, boundary=[0, 0, 0, phase])
        tau = V.perambulators(E, t0, tol=1e-8).numbers[0]
        found = distillation.baryon(tau, t0, (g, b), (g, b))
        plain = distillation.baryon(np.asarray(tau), t0, (g, b), (g, b), boundary=phase)
        close(found, plain, 1e-13)
        close(found[passed], distillation.baryon(np.asarray(tau), t0, (g, b), (g, b), 0.0)[passed] * np.exp(-3j * np.pi * phase), 1e-13)
        refused(ValueError, f"boundary: expected {phase:g}|found 0.25", lambda tau=tau: distillation.baryon(tau, t0, (g, b), (g, b), 0.25))
    for wrong, error in ((np.nan, ValueError), ("antiperiodic", TypeError)):
        refused(error, "boundary: expected a", lambda wrong=wrong: distillation.baryon(np.asarray(tau), t0, (g, b), (g, b), wrong))
    refused(ValueError, "boundary: expected the phase|None", lambda: distillation.baryon(np.asarray(tau), t0, (g, b), (g, b)))


def test_files_keep_all_that_distillation_makes():
    import h5py

    U, V, D = made()
    W = plaq.modes(U, 3, rho=0.1, steps=2, tol=1e-12, momentum=(0, 0, 0.5))
    tau = V.perambulators(D, [2, 0], tol=1e-8)
    how = {"noise": "z4", "seed": 5, "mode_parts": 2}
    phi, b = V.mesons(MOMENTA, ["", "dx"], left=W), V.baryons(MOMENTA)
    plain, g = V.mesons()[0, 0], plaq.gamma["5"]
    contents = {
        "values": V.values,
        "tau": tau,
        "slice": tau.numbers[1, 2:],
        "lines": V.generalised(D, 1, [2, 3], ["T", ("X5", (1, 0, -1), "+x -z")], tol=1e-6),
        "line": V.generalised(D, 1, 3, ["T"], tol=1e-6)[0],
        "phi": phi,
        "turned": phi.swapaxes(3, 4)[0],
        "b": b,
        "steps": V.baryons(MOMENTA, ["", "dx", "+z"]),
        "eta": V.noise(**how),
        "solutions": V.solve_noise(D, how, tol=1e-6),
        "pion": distillation.meson(tau.numbers[0], 2, ("5", plain), ("5", plain)),
        "nucleon": distillation.baryon(tau.numbers[0], 2, (g, b[0]), (g, b[0])),
        "doubled": 2 * plain,
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "all.h5"
        plaq.write(file, {**contents, "mine": (np.arange(6.0).reshape(2, 3), {"indices": "run, x", "unit": "fm"}), "one": 3.5})
        with h5py.File(file) as opened:
            assert "plaq_version" in opened.attrs
            everything = []
            opened.visititems(lambda name, item: everything.append((name, item)) if hasattr(item, "shape") else None)
            for name, item in everything:
                assert item.fletcher32 or item.shape == (), name
                if name in ("mine", "one"):
                    continue
                of = item.attrs
                assert len(of["indices"].split(", ")) == item.ndim and "axis" not in of["indices"], (name, dict(of))
                assert "plaquette_spatial" in of and "links_projection_re" in of, name
                assert name == "doubled" or "convention" in of and "kind" in of, name
            of = opened["eta"].attrs
            assert "seed 5" in of["noise"] and "mode_parts 2" in of["noise"] and of["indices"] == "column, t, spin, mode"
            assert opened["solutions"].attrs["kappa"] == D.kappa and opened["solutions"].attrs["tol"] == 1e-6
            assert list(opened["lines"].attrs["insertions"]) == ["T 0,0,0", "X5 1,0,-1 +x -z"]
            assert opened["pion"].attrs["source_time"] == 2 and opened["pion"].attrs["sink_gamma"] == "5"
            assert opened["pion"].attrs["kappa"] == D.kappa and "tau'" in opened["pion"].attrs["convention"]
        found = plaq.read(file)
        assert list(found["tau"].times) == [2, 0] or sorted(found["tau"].times) == [0, 2]
        for name, array in contents.items():
            if name == "tau":
                continue
            there = found[name]
            assert isinstance(there, Labelled) and (np.asarray(there) == np.asarray(array)).all(), name
            assert there.axes == array.axes and there.fixed == array.fixed, (name, there.axes, array.axes, there.fixed, array.fixed)
            for key, value in array.about.items():
                assert np.array_equal(np.asarray(there.about[key]), np.asarray(value)), (name, key)
        assert found["lines"].sink_times == [2, 3] and found["line"].sink_times == 3 and found["line"].times == 1
        assert found["slice"].times == 0 and found["slice"].axes[0].values == [2, 3]
        assert found["mine"].about["unit"] == "fm" and names(found["mine"]) == ["run", "x"] and found["one"] == 3.5
        # What was read is written again with all of it.
        again = Path(folder) / "again.h5"
        plaq.write(again, found)
        with h5py.File(file) as one, h5py.File(again) as other:
            for name, item in everything:
                for key, value in one[name].attrs.items():
                    assert np.array_equal(other[name].attrs[key], value), (name, key)
        # Contractions of arrays of a file: modes are compared, boundaries known.
        line = found["tau"].numbers[found["tau"].times.index(2)]
        close(distillation.baryon(line, 2, (g, found["b"][0]), (g, b[0])), contents["nucleon"], 1e-12)
        refused(capi.FieldMismatch, "sink|modes", lambda: distillation.meson(line, 2, ("5", W.mesons()[0, 0]), ("5", plain)))
        # Correlators keep what they were made of.
        c = plaq.Correlator(contents["pion"], name="pion")
        plaq.write(Path(folder) / "c.h5", {"pion": c})
        back = plaq.read(Path(folder) / "c.h5")["pion"]
        assert back.about["kappa"] == D.kappa and back.about["sink_gamma"] == "5" and "tau'" in back.about["convention"]
        assert plaq.Correlator.join([back, back], [1, 2]).about["kappa"] == D.kappa


def test_files_of_looser_solves_name_both_tolerances():
    _, V, D = made()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tau.h5"
        V.perambulators(D, 0, file=file, tol=1e-6)
        refused(ValueError, "t0: tol: expected solves to at most 1e-09|found 1e-06", lambda: V.perambulators(D, 0, file=file, tol=1e-9))


def test_files_of_others_are_read():
    import h5py

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "others.h5"
        with h5py.File(file, "w") as opened:
            opened["c"], opened["n"] = np.zeros(3), 2.5
            opened["c"].attrs["kind"] = "correlator"
            opened["a"] = np.zeros((2, 2))
            opened["a"].attrs.update({"indices": "only one", "unit": "fm", "values_of_x": [1, 2]})
        found = plaq.read(file)
        assert found["c"].about == {"kind": "correlator"} and found["n"] == 2.5 and names(found["a"]) == [None, None]
        plaq.write(file, found, overwrite=True)
        with h5py.File(file) as opened:
            assert opened["a"].attrs["indices"] == "only one" and opened["a"].attrs["unit"] == "fm"


def test_damaged_numbers_are_said():
    _, V, _ = made()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "phi.h5"
        phi = V.mesons()
        plaq.write(file, {"phi": phi})
        data, some = bytearray(file.read_bytes()), np.asarray(phi)[0, 0, 1].tobytes()
        at = bytes(data).index(some[:64])
        data[at + 17] ^= 4
        file.write_bytes(data)
        refused(OSError, "checksum|filter|read", lambda: plaq.read(file))


def test_kinds_are_those_of_the_library():
    source = (Path(__file__).parents[2] / "src/ops/distillation/kinds.rs").read_text()
    texts = " ".join(source.replace("\\\n", "").split())
    for kind in KINDS.values():
        if kind.kind == "correlator of modes":
            continue
        assert f'kind: "{kind.kind}"' in texts or kind.kind == "noise and solutions", kind
        assert " ".join(kind.convention.split()) in texts, kind.convention
        axes = kind.axes[1:] if kind.kind == "perambulator" else kind.axes
        assert f'"{", ".join(axes)}"' in texts, axes
