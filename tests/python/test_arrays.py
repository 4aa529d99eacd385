"""Arrays that know what their axes are: what happens to labels, and what files keep."""

import pickle
import tempfile
from copy import deepcopy
from functools import lru_cache
from pathlib import Path

import numpy as np
import plaq
from common import close, refused
from plaq import capi, distillation
from plaq.arrays import KINDS, Labelled, from_attributes

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
    # What is sent to other processes and ranks knows the same.
    part = phi[1, :, ::2, :3]
    for there in (pickle.loads(pickle.dumps(part)), pickle.loads(pickle.dumps(part, 2)), deepcopy(part)):
        assert there.axes == part.axes and there.fixed == part.fixed and there.about == part.about
        assert np.array_equal(np.asarray(there), np.asarray(part))
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


def test_contractions_refuse_axes_in_another_order():
    _, V, D = made()
    tau, t0 = V.perambulators(D, 1, tol=1e-6).numbers[0], 1
    line = V.generalised(D, 1, 3, ["T"], tol=1e-6)[0]
    phi, b, steps = V.mesons()[0, 0], V.baryons()[0], V.baryons(operators=["dx", "", ""])[0]

    def meson(t=tau, u=tau, sink=phi, source=phi):
        return distillation.meson(t, t0, ("5", sink), ("5", source), antiquark=u)

    def three(t=line, u=tau, sink=phi):
        return distillation.three_point(t, t0, ("5", sink), ("5", phi), u, sink_time=3)

    def baryon(t=tau, sink=b, source=b):
        return distillation.baryon(t, t0, ("YT5", sink), ("YT5", source))

    whole = meson()
    quark, anti = "the quark's perambulators", "the antiquark's perambulators"
    turned = "sink time; sink spin; source spin; source mode; sink mode"
    swapped = "found t; right mode; left mode"
    cut = [3, 2, 1, 0]
    for words, call in (
        (f"{quark}|sink mode; source mode, found {turned}", lambda: meson(t=tau.swapaxes(3, 4))),
        (f"{anti}|sink mode; source mode, found {turned}", lambda: meson(u=tau.swapaxes(3, 4))),
        (f"{quark}|found sink time; source spin; sink spin", lambda: meson(t=tau.swapaxes(1, 2))),
        (f"{quark}|found t; source spin; sink spin", lambda: three(t=line.swapaxes(1, 2))),
        (f"sink|t; left mode; right mode, {swapped}", lambda: meson(sink=phi.swapaxes(1, 2))),
        (f"source|t; left mode; right mode, {swapped}", lambda: meson(source=phi.swapaxes(1, 2))),
        (f"sink|{swapped}", lambda: three(sink=phi.transpose(0, 2, 1))),
        (f"sink|every t once and in order|{cut}", lambda: meson(sink=phi[::-1])),
        (f"{quark}|every sink time once and in order|{cut}", lambda: meson(t=tau[::-1])),
        (f"{anti}|every sink time|{cut}", lambda: meson(u=tau[::-1])),
        (f"{quark}|every sink spin|{cut}", lambda: meson(t=tau[:, ::-1])),
        (f"{quark}|every t once|{cut}", lambda: three(t=line[::-1])),
        (f"{quark}|every sink time|the part [0, 1]", lambda: meson(t=tau[:2], u=tau[:2], sink=phi[:2], source=phi[:2])),
        (f"{quark}|every sink time|[0, 1]", lambda: meson(t=tau[:3][:2], u=tau[:3][:2], sink=phi[:2], source=phi[:2])),
        (f"{quark}|every sink time|[0, 1]", lambda: meson(t=tau[[0, 1]][:], u=tau[:2], sink=phi[:2], source=phi[:2])),
        ("sink|(T, n, n) = (4, 4, 4)|found shape (2, 4, 4)", lambda: meson(sink=phi[:2])),
        (f"{anti}|(4, 4, 4, 4, 4)|found shape (2, 4, 4, 4, 4)", lambda: meson(u=tau[:2])),
        ("the perambulators|source mode; sink mode", lambda: baryon(t=tau.swapaxes(3, 4))),
        (f"sink|every t once|{cut}", lambda: baryon(sink=b[::-1])),
        (f"source|every triple of modes|{cut}", lambda: baryon(source=b[:, ::-1])),
        ("sink|found t; mode of quark 2; mode of quark 1", lambda: baryon(sink=steps.swapaxes(1, 2))),
        (f"sink|modes all from 0 on|{cut}", lambda: baryon(sink=steps[:, ::-1])),
        (f"sink|modes all from 0 on|{cut}", lambda: baryon(t=tau, sink=steps[:, :, ::-1])),
        (f"sink|modes {cut}|found all from 0 on", lambda: meson(t=tau[..., ::-1, :])),
        (f"source|modes {cut}|found all from 0 on", lambda: meson(t=tau[..., ::-1])),
    ):
        refused(ValueError, words, call)
    # Arrays that know nothing are taken as they are, if they fit.
    bare = np.asarray(tau)
    close(meson(bare, bare, np.asarray(phi), np.asarray(phi)), whole, 1e-13)
    assert np.abs(meson(bare.swapaxes(3, 4), bare) - whole).max() > 1e-3 * np.abs(whole).max()
    refused(ValueError, "sink|(4, 4, 4)|(4, 3, 3)", lambda: meson(bare, bare, np.asarray(phi)[:, :3, :3]))
    refused(ValueError, "(4, 4, 4, 4, 4)|(4, 4, 4, 3, 4)", lambda: meson(bare[:, :, :, :3]))
    refused(ValueError, "(4, 4, 4, 4, 4)|(4, 3, 4, 4, 4)", lambda: meson(bare[:, :3]))
    # Fewer modes of all, in any order that is the same for all, and axes with names of others.
    few = [2, 0, 1]
    part = tau[..., few, :][..., few]
    close(meson(part, part, phi[:, few][..., few], phi[:, few][..., few]), meson(*[bare[..., :3, :3]] * 2, *[np.asarray(phi)[:, :3, :3]] * 2), 1e-12)
    own = from_attributes(np.array(phi), {"indices": "time, a, b"})
    close(meson(sink=own), whole, 1e-13)


def test_distillation_says_what_an_argument_should_be():
    _, V, D = made()
    tau, phi, b = V.perambulators(D, 1, tol=1e-6).numbers[0], V.mesons(), V.baryons()[0]
    five, g = ("5", phi[0, 0]), plaq.gamma["YT5"]
    few = plaq.modes(made()[0], 3, rho=0.1, steps=2, tol=1e-12)
    refused(ValueError, "sink|(T, n, n) = (4, 4, 4)|(1, 1, 4, 4, 4)", lambda: distillation.meson(tau, 1, ("5", phi), five))
    refused(ValueError, "source|(T, n, n) = (4, 4, 4)|(4, 3, 3)", lambda: distillation.meson(tau, 1, five, ("5", few.mesons()[0, 0])))
    refused(ValueError, "sink|(T, triples) = (4, 4)|(4, 1)", lambda: distillation.baryon(tau, 1, (g, few.baryons()[0]), (g, b)))
    refused(TypeError, "sink|pair (Gamma, elemental)|Labelled", lambda: distillation.meson(tau, 1, phi[0, 0], five))
    refused(ValueError, "source|(4, 4)|(3, 3)", lambda: distillation.baryon(tau, 1, (g, b), (np.eye(3), b)))
    # Names and numbers of Gammas, as mesons take them.
    expected = distillation.baryon(tau, 1, (g, b), (plaq.gamma["5"], b))
    close(distillation.baryon(tau, 1, ("YT5", b), (15, b)), expected, 1e-14)
    assert distillation.baryon(tau, 1, ("YT5", b), (15, b)).about["sink_gamma"] == "YT5"
    refused(ValueError, "triples|(..., 10)|5 modes|(4, 4)", lambda: distillation.full(b, 5))
    refused(TypeError, 'operators|"dx +y"|None', lambda: V.mesons(operators=[None]))
    refused(TypeError, "operators|steps|[1]", lambda: V.mesons(operators=[[1]]))
    for call in (lambda: V.perambulators(D, 0, file=5), lambda: plaq.write(5, {"a": [1]}), lambda: plaq.read(5)):
        refused(TypeError, "file: expected the name of a file, found int 5", call)


def test_perambulators_of_other_quarks_are_not_joined():
    U, V, D = made()
    tau = V.perambulators(D, 0, tol=1e-6)
    loose = V.perambulators(D, [2, 1], tol=1e-4)
    both = tau.beside(loose)
    assert both.times == [0, 2, 1] and both.numbers.times == [0, 2, 1] and both.about["tol"] == both.numbers.about["tol"] == 1e-4
    assert np.array_equal(np.asarray(both.numbers), np.concatenate([np.asarray(one.numbers) for one in (tau, loose)]))
    heavy = V.perambulators(plaq.Clover(U, mass=1.5, csw=1.1), 1, tol=1e-6)
    periodic = V.perambulators(plaq.Clover(U, mass=1.0, csw=1.1, boundary="periodic"), 1, tol=1e-6)
    twisted = V.perambulators(plaq.Twisted(U, mass=1.0, csw=1.1, mu=0.1), 1, tol=1e-6)
    for other, words in ((heavy, "kappa: expected 0.1, found 0.09"), (periodic, "boundary: expected 1.0, found 0.0"), (twisted, "mu: expected 0.0, found 0.1")):
        refused(ValueError, f"other: {words}", lambda other=other: tau.beside(other))
    refused(ValueError, "other|each source time once|2 again", lambda: loose.beside(loose))
    refused(TypeError, "other|Perambulators|Labelled", lambda: tau.beside(tau.numbers))
    few = plaq.modes(U, 3, rho=0.1, steps=2, tol=1e-12).perambulators(D, 1, tol=1e-6)
    refused(ValueError, "other|modes: expected 4, found 3", lambda: tau.beside(few))
    bare = [one._replace(numbers=np.asarray(one.numbers), about={}) for one in (tau, few)]
    refused(ValueError, "other|(4, 4, 4, 4, 4)|(4, 4, 4, 3, 3)", lambda: bare[0].beside(bare[1]))
    refused(ValueError, "boundary: expected 1|found 0", lambda: bare[0].beside(periodic._replace(about={})))
    turned = loose._replace(numbers=loose.dirac_pauli())
    refused(ValueError, "other|DeGrand-Rossi|Dirac-Pauli", lambda: tau.beside(turned))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tau.h5"
        plaq.write(file, {"p": tau})
        plaq.write(file, {"p": heavy}, append=True)
        refused(ValueError, "tau.h5: p/t1: kappa: expected 0.1, found 0.09", lambda: plaq.read(file))


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


def test_files_keep_names_and_estimates():
    _, V, D = made()
    tau = V.perambulators(D, [0, 1], tol=1e-6)
    found = plaq.gevp(np.random.default_rng(1).uniform(1, 2, (3, 1, 1, 4)), 1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "all.h5"
        for contents in ({"g/t0": tau.numbers[0], "p": tau, "e": found}, None):
            plaq.write(file, contents or back, overwrite=True)
            back = plaq.read(file)
            assert sorted(back) == ["e/error", "e/samples", "e/value", "g/t0", "p"]
            one = back["g/t0"]
            assert isinstance(one, Labelled) and one.axes == tau.numbers[0].axes and one.times == 0
            assert one.about == tau.numbers[0].about and np.array_equal(np.asarray(one), np.asarray(tau.numbers[0]))
            assert back["p"].times == [0, 1] and all((np.asarray(back[f"e/{key}"]) == value).all() for key, value in found._asdict().items())
        refused(TypeError, "a: expected numbers|list [[1], [1, 2]]", lambda: plaq.write(Path(folder) / "no.h5", {"a": [[1], [1, 2]]}))


def test_correlators_keep_what_all_share():
    U, V, D = made()
    five, rho = ("5", V.mesons()[0, 0]), ("X", V.mesons()[0, 0])
    tau = V.perambulators(D, [1, 2], tol=1e-6)
    one, two = (distillation.meson(tau.numbers[k], tau.times[k], five, five) for k in (0, 1))
    same = plaq.Correlator([one, one])
    assert same.source_time == 1 and same.about == plaq.Correlator(one).about and same.about["sink_gamma"] == "5"
    assert same.about["kind"] == "correlator of modes" and plaq.Correlator(one).source_time == 1
    apart = plaq.Correlator([one, two])
    assert apart.source_time is None and apart.about == same.about
    assert plaq.Correlator([one, two], source_time=3).source_time == 3
    other = plaq.Correlator([one, distillation.meson(tau.numbers[0], 1, five, rho)]).about
    assert other == {key: value for key, value in same.about.items() if key != "source_gamma"}
    assert not plaq.Correlator([one, np.asarray(one)]).about
    # Of a part in time the source's slice says nothing.
    assert plaq.Correlator(one[:3]).source_time is None and plaq.Correlator(one[[0, 1]]).source_time is None


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
