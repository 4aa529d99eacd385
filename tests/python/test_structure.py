"""Hadron structure: charges, the two ways through a three-point function, Ward identities, and what lines mean."""

import itertools
import tempfile
from functools import lru_cache

import numpy as np
import plaq
import reference as ref
from common import close, refused
from plaq import structure

T, SINK, X0 = 6, 3, (1, 0, 1, 4)
TOL = 1e-12


@lru_cache(None)
def quarks():
    """Links, an operator, smeared sources, S, and S smeared at the sink; the sink lies beyond the lattice's end."""
    u = plaq.Gauge.warm([2, 4, 2, T], seed=3, width=0.4)
    d = plaq.Clover(u, mass=0.4, csw=1.1)
    v = u.smear_stout(0.1, 2, "xyz")
    b = plaq.Fermion(u.extents, 12)
    plaq.capi.plaq_spinor_source(b, plaq.point(*X0))
    b = b.smear(v, 0.4, 3)
    s = d.propagator(b, position=X0, tol=TOL)
    return u, d, v, s, s.smear(v, 0.4, 3)


def nucleon(first, second, third, **more):
    """Both contractions of (u Gamma d) u; quarks of the sink's slots."""
    found = structure.quarks(first, second, third, **more)
    return found[structure.PAIRINGS.index("123")] + found[structure.PAIRINGS.index("321")]


def traced(projector, c):
    return np.einsum("ji,...ij", structure.PROJECTORS[projector], c)


def test_the_nucleon_is_that_of_names():
    _, _, _, s, _ = quarks()
    momenta = [(0, 0, 0), (0, 1, 0)]
    found = traced("unpolarised", nucleon(s, s, s, momenta=momenta))
    close(found, plaq.baryons(s, momenta=momenta)[:, 0], 1e-11)
    # With projectors spins are closed: one or several, by name or as matrices.
    each = ["unpolarised", "x", plaq.structure.PROJECTORS["y"]]
    closed = structure.quarks(s, projector=each, momenta=momenta)
    assert closed.shape == (6, 3, 2, T)
    close(closed[0, 0] + closed[3, 0], found, 1e-11)
    for name, one in zip("xy", (closed[:, 1], structure.quarks(s, projector="y", momenta=momenta)[:, 0])):
        close(one, traced(name, structure.quarks(s, momenta=momenta)), 1e-11)
    # Names of baryons take polarised projectors, too; those of negative parity have the other sign of gamma_t.
    heavy = quarks()[1].propagator(X0, tol=TOL)
    for parity, name in itertools.product((1, -1), "xyz"):
        spin = {"x": "YZ", "y": "ZX", "z": "XY"}[name]
        p = (np.eye(4) + parity * plaq.gamma["T"]) / 2 @ (-1j * plaq.gamma[spin])
        wanted = np.einsum("ji,...ij", p, nucleon(s, s, s, momenta=momenta))
        close(plaq.baryons(s, momenta=momenta, parity=parity, projector=name)[:, 0], wanted, 1e-11)
    sigma = nucleon(s, heavy, s)
    close(plaq.baryons(s, heavy, names="sigma", projector="z")[0, 0], traced("z", sigma)[0], 1e-11)
    refused(ValueError, "projector|'w'", lambda: plaq.baryons(s, projector="w"))
    c = plaq.gamma["Y"] @ plaq.gamma["T"]
    for name, spelt in (("C5", "5"), ("Ct5", "T5"), ("Cz5", "Z5"), ("Cx", "X"), ("Cy", "Y"), ("Cz", "Z")):
        close(structure.DIQUARKS[name], c @ plaq.gamma[spelt])
    assert list(structure.PROJECTORS) == ["unpolarised", "x", "y", "z"] and len(structure.DIQUARKS) == 6
    matrix = np.empty((4, 4), complex)
    refused(plaq.capi.InvalidArgument, "parity|1 or -1|2", lambda: plaq.capi.plaq_projector_matrix("x", 2, matrix))


def test_conserved_currents_of_mesons():
    u, d, *_ = quarks()
    s, other = d.propagator(X0, tol=TOL), d.propagator(X0, tol=TOL).smear(u, 0.3, 1)
    momenta, gammas = [(0, 0, 0), (0, 1, 0)], ["Z", "T5", 0.5 * plaq.gamma["X"] + 2j * plaq.gamma["1"]]
    found = structure.conserved_mesons(s, other, gauge=u, gammas=gammas, momenta=momenta)
    assert found.shape == (2, 3, 4, T)
    links, prop, anti = u.numpy(), s.numpy(), other.numpy().conj()
    gt, g5, one = plaq.gamma["T"], plaq.gamma["5"], np.eye(4)
    sites = np.arange(u.extents[1]) - X0[1]
    wave = np.array([np.exp(-2j * np.pi * n[1] * sites / u.extents[1]) for n in momenta])

    def ahead(array, mu):
        moved = np.roll(array, -1, axis=3 - mu)
        if mu == 3:
            moved[-1] *= -1
        return moved

    for k, which in enumerate(gammas):
        gamma = plaq.gamma[which] if isinstance(which, str) else which
        # The antiquark's line from z to the source, with the source's vertex.
        line = np.einsum("ij,tzyxkjab,kl->tzyxilba", gt @ gamma.conj().T @ gt @ g5, anti, g5)
        for mu, name in enumerate("XYZT"):
            plus, minus = (one + plaq.gamma[name]) / 2, (one - plaq.gamma[name]) / 2
            back = np.einsum("mn,tzyxca,tzyxnicb,tzyximba->tzyx", plus, links[mu].conj(), prop, ahead(line, mu), optimize=True)
            forth = np.einsum("mn,tzyxac,tzyxnicb,tzyximba->tzyx", minus, links[mu], ahead(prop, mu), line, optimize=True)
            wanted = -np.einsum("py,tzyx->pt", wave, back - forth)
            close(found[:, k, mu], np.roll(wanted, -X0[3], axis=1), 1e-10)
    heavy = plaq.Clover(u, mass=0.6, csw=1.1).propagator(X0)
    refused(plaq.capi.InvalidArgument, "mass of|0.4|0.6", lambda: structure.conserved_mesons(s, heavy, gauge=u))
    refused(plaq.capi.FieldMismatch, "gauge|links of", lambda: structure.conserved_mesons(s, gauge=u.smear_stout(0.1, 1, "xyz")))


def test_charges_are_exact():
    u, d, v, s, q = quarks()
    momenta = [(0, 0, 0), (0, 1, 0)]
    two = {name: traced(name, nucleon(q, q, q))[0, SINK] for name in ("unpolarised", "z")}
    for flavour, charge in (("u", 2), ("d", 1)):
        for name in two:
            w = structure.through_baryon(q, quark=flavour, projector=name, time=SINK).smear(v, 0.4, 3)
            x = d.propagator(w, tol=TOL)
            time = structure.current(x, s, u)[3, 0]
            # Constant between source and sink, and outside; the difference is the charge.
            inside, outside = time[:SINK], time[SINK:]
            scale = abs(two["unpolarised"])
            assert max(abs(inside - inside[0]).max(), abs(outside - outside[0]).max()) < 1e-9 * scale
            assert abs(inside[0] - outside[0] - charge * two[name]) < 1e-9 * scale
            if name == "unpolarised":
                # Where quarks do not end the divergence with a momentum is 0: V_mu(z) - V_mu(z - mu).
                j = structure.current(x, s, u, momenta=momenta)[:, 1]
                phase = 1 - np.exp(2j * np.pi / u.extents[1])
                divergence = j[3] - np.roll(j[3], 1) + phase * j[1]
                assert abs(divergence[[1, 2, 4, 5]]).max() < 1e-9 * abs(j).max()
    w = structure.through_meson(q, time=SINK).smear(v, 0.4, 3)
    time = structure.current(d.propagator(w, tol=TOL), s, u)[3, 0]
    close(time[:SINK] - time[SINK:], np.full(SINK, plaq.mesons(q)[0, 0, SINK]), 1e-9)


def test_through_the_sink_is_through_the_operator():
    u, d, v, s, q = quarks()
    momentum, gamma, line, tau = (0, 1, 0), "Z5", "+t +y", 5
    sink = (0, -1, 0)
    index = plaq.gamma.number(gamma)
    w = structure.through_operator(s, u, gamma=plaq.gamma[index], line=line, momentum=momentum, time=tau)
    r = d.propagator(w, position=X0, tol=TOL).smear(v, 0.4, 3)
    how = {"lines": [line], "momenta": [momentum]}
    for flavour, lines in (("u", [(r, q, q), (q, q, r)]), ("d", [(q, r, q)])):
        direct = sum(traced("x", nucleon(*three, momenta=[sink]))[0, SINK] for three in lines)
        w = structure.through_baryon(q, quark=flavour, projector="x", momentum=sink, time=SINK).smear(v, 0.4, 3)
        through = structure.insertions(d.propagator(w, tol=TOL), s, u, **how)
        close(through[0, index, 0, tau], direct, 1e-9)
    direct = plaq.mesons(r, q, gammas=["X"], momenta=[sink])[0, 0, SINK]
    w = structure.through_meson(q, sink="X", momentum=sink, time=SINK).smear(v, 0.4, 3)
    close(structure.insertions(d.propagator(w, tol=TOL), s, u, **how)[0, index, 0, tau], direct, 1e-9)


def test_lines_are_sums_and_do_not_depend_on_the_gauge():
    u, _, _, s, q = quarks()
    lines = structure.derivatives(traceless=True)
    found = structure.insertions(q, s, u, lines=list(lines.values()), momenta=[(1, 0, 0)])
    trace = sum(found[list(lines).index(two)] for two in ("xx", "yy", "zz", "tt"))
    assert abs(trace).max() < 1e-12 * abs(found).max()
    both = structure.insertions(q, s, u, lines=["dx dy", "dy dx", {"dx dy": 1, "dy dx": -2j}])
    close(both[2], both[0] - 2j * both[1])
    assert structure.straight("z", -3) == "-z -z -z" and structure.staple("z", 2, "-x", 1) == "-x +z +z +x"
    staple = structure.insertions(q, s, u, lines=[structure.staple("z", 0, "+x", 2), "", "+t", "-t"])
    close(staple[0], staple[1])
    # Without links a line there and back around the lattice is the phase of the boundary.
    free = structure.insertions(q, s, lines=["", " ".join(["+t"] * T)])
    close(free[1], -free[0])
    # Lists of steps and texts are one grammar, that of shifts.
    alike = [[0, 2, 7 - 1], ["x", "+z", "-y"], "x z -y", ("+x", 2, "-y"), {"x z -y": 0.25, (0, 2, 6): 0.75}, "+x +z -y"]
    same = structure.insertions(q, s, u, lines=alike)
    for one in same[:-1]:
        close(one, same[-1])
    close(structure.insertions(q, s, u, lines=[[8, "dy"]]), both[:1])
    close(s.shift(u, "+x z -y").numpy(), s.shift(u, [0, "z", 6]).numpy())
    for wrong in (None, "+z", {"+z": 1.0}):
        refused(ValueError, "lines|expected a list of lines", lambda wrong=wrong: structure.insertions(q, s, u, lines=wrong))
        refused(ValueError, "lines|expected a list of lines", lambda wrong=wrong: quarks()[1].loops(u, lines=wrong))
    refused(ValueError, "path|list of steps|None", lambda: s.shift(u, None))
    refused(ValueError, "lines|dxy", lambda: structure.insertions(q, s, u, lines=["dxy"]))
    refused(plaq.Error, "lines|longer", lambda: structure.insertions(q, s, u, lines=["+x +x +x"]))
    refused(ValueError, "sink|4 x 4", lambda: structure.quarks(s, sink=np.eye(3)))
    refused(plaq.Error, "time|0 to 5", lambda: structure.through_meson(s, time=6))


def twisted(links):
    """The links with elements of the group's centre across the ends in x, y and z, and the phases in units of pi that these are."""
    angles = (2 / 3, -2 / 3, 2 / 3)
    out = np.array(links)
    for mu, angle in enumerate(angles):
        end = [slice(None)] * 4
        end[3 - mu] = -1
        out[(mu, *end)] *= np.exp(1j * np.pi * angle)
    return out, angles


def test_quarks_take_their_phases_along_in_all_directions():
    links = ref.random_su3((4, T, 2, 4, 2), np.random.default_rng(4))
    moved, angles = twisted(links)
    found = []
    for array, phases in ((links, (*angles, 1)), (moved, (0, 0, 0, 1))):
        u = plaq.Gauge.from_array(array)
        d = plaq.Clover(u, mass=0.4, csw=1.1, boundary=phases)
        s = d.propagator(X0, tol=TOL)
        assert s.phases == list(phases)
        x = d.propagator(structure.through_baryon(s, time=SINK), tol=TOL)
        lines = ["+x", "-y +z", "dx", "dz dy", "-z -z", "dt"]
        both = structure.insertions(x, s, u, lines=lines, momenta=[(0, 0, 0), (0, 1, 0)])
        current = structure.current(x, s, u, momenta=[(0, 1, 0)])
        source = structure.through_operator(s, u, line="+x -z", gamma="X")
        flowed, _ = s.flow(u, 0.1, step=0.05)
        found.append((both, current, source.columns(), flowed.columns()))
        bare = plaq.Propagator.from_array(s.lexico(), position=X0, boundary=phases, normalisation="mass")
        close(structure.insertions(x, bare, u, lines=lines), both[:, :, :1])
        said = plaq.Propagator.from_array(s.lexico(), position=X0)
        how = {"boundary": phases[3], "boundary_space": phases[:3]}
        close(structure.insertions(said, said, u, lines=["+x"], **how), structure.insertions(s, s, u, lines=["+x"]))
    for one, other in zip(*found):
        close(one, other, 1e-11)


def test_contractions_refuse_what_is_not_of_one_kind():
    u, d, v, s, _ = quarks()
    other = plaq.Gauge.warm(u.extents, seed=4, width=0.4)
    of_other = plaq.Clover(other, mass=0.4, csw=1.1).propagator(X0)
    named = "links of|plaquettes|found"
    refused(plaq.capi.FieldMismatch, f"antiquark|quark|{named}", lambda: plaq.mesons(s, of_other))
    refused(plaq.capi.FieldMismatch, f"strange|light|{named}", lambda: plaq.baryons(s, of_other))
    refused(plaq.capi.FieldMismatch, f"third|first|{named}", lambda: structure.quarks(s, s, of_other))
    refused(plaq.capi.FieldMismatch, f"back|forward|{named}", lambda: structure.insertions(of_other, s, u))
    refused(plaq.capi.FieldMismatch, f"gauge|forward|{named}", lambda: structure.insertions(s, s, other, lines=["+x"]))
    refused(plaq.capi.FieldMismatch, f"gauge|from|{named}", lambda: structure.through_operator(s, other, line="+x"))
    refused(plaq.capi.FieldMismatch, f"gauge|spinor|{named}", lambda: s.flow(other, 0.1))
    # Smeared and flowed links are of the same configuration, and so are links that are read again.
    for same in (v, v.copy(), u.flow(0.1).gauge, plaq.Gauge.from_array(u.lexico())):
        assert structure.insertions(s, s, same, lines=["+x"]).shape == (1, 16, 1, T)
    refused(plaq.capi.FieldMismatch, f"gauge|forward|{named}", lambda: structure.insertions(s, s, other))
    refused(plaq.capi.FieldMismatch, f"gauge|from|{named}", lambda: structure.through_operator(s, other))
    # Averages do not tell translated or conjugate links apart.
    for alike in (np.roll(u.lexico(), 1, axis=1), u.lexico().conj()):
        moved = plaq.Gauge.from_array(alike)
        close([moved.plaquette().spatial, moved.plaquette().link_trace], [u.plaquette().spatial, u.plaquette().link_trace], 1e-12)
        refused(plaq.capi.FieldMismatch, f"gauge|forward|projection|{named}", lambda: structure.insertions(s, s, moved))
    # The current is conserved with the very links of the operator.
    assert structure.current(s, s, plaq.Gauge.from_array(u.lexico())).shape == (4, 1, T)
    for smeared in (v, u.flow(0.1).gauge):
        refused(plaq.capi.FieldMismatch, f"gauge|forward|{named}", lambda: structure.current(s, s, smeared))
    # What smears, shifts or is solved for is of one configuration.
    refused(plaq.capi.FieldMismatch, f"gauge|spinor|{named}", lambda: s.smear(other, 0.2, 1))
    refused(plaq.capi.FieldMismatch, f"gauge|x|{named}", lambda: s.shift(other, "+x"))
    foreign = plaq.Clover(other, mass=0.4, csw=1.1)
    for solve in (foreign.solve, foreign.propagator):
        refused(plaq.capi.FieldMismatch, f"solver|{named}", lambda: solve(s.sequential(1)))
    # Links that were smeared elsewhere are known where it is said of which they are.
    elsewhere = plaq.Gauge.from_array(v.lexico())
    refused(plaq.capi.FieldMismatch, f"gauge|spinor|plaq_gauge_belongs_to|{named}", lambda: s.smear(elsewhere, 0.2, 1))
    elsewhere.belongs_to(u)
    close(s.smear(elsewhere, 0.2, 1).numpy(), s.smear(v, 0.2, 1).numpy(), 1e-13)
    refused(plaq.capi.FieldMismatch, "from|lattice", lambda: elsewhere.belongs_to(plaq.Gauge.unit([4, 4, 4, 4])))
    changed = u.copy()
    changed.heatbath(5.0, 1, seed=1)
    refused(plaq.capi.FieldMismatch, f"gauge|{named}", lambda: structure.current(s, s, changed))
    heavy = plaq.Clover(u, mass=0.6, csw=1.1).propagator(X0)
    refused(plaq.capi.InvalidArgument, "back|mass of forward, 0.4|0.6", lambda: structure.current(heavy, s, u))
    # The other sign of a twisted mass is that of the line to the sink.
    up, down = (plaq.Twisted(u, mass=0.4, mu=mu).propagator(X0) for mu in (0.2, -0.2))
    assert structure.current(down, up, u).shape == (4, 1, T)
    refused(plaq.capi.InvalidArgument, "back|opposite twisted mass of forward, -0.2|0.2", lambda: structure.current(up, up, u))
    kappa = plaq.Clover(u, mass=0.4, csw=1.1, normalisation="kappa").propagator(X0)
    refused(plaq.capi.InvalidArgument, "back|normalisation of forward, mass|kappa", lambda: structure.insertions(kappa, s, u))
    elsewhere = d.propagator((0, 0, 1, 4))
    refused(plaq.capi.InvalidArgument, "back|source of forward, x = 1|0", lambda: structure.insertions(elsewhere, s, u))
    # Operators that change the flavour are asked for.
    for one, flavour in ((heavy, "mass of forward, 0.4"), (plaq.Twisted(u, mass=0.4, mu=0.2, csw=1.1).propagator(X0), "twisted mass")):
        refused(plaq.capi.InvalidArgument, f"back|{flavour}|flavour_changing", lambda: structure.insertions(one, s, u))
        assert structure.insertions(one, s, u, flavour_changing=True).shape == (1, 16, 1, T)
    moving = plaq.Clover(u, mass=0.4, csw=1.1, boundary=[0.3, 0, 0, 1]).propagator(X0)
    assert structure.insertions(moving, s, u, lines=["+x", "dy"]).shape == (2, 16, 1, T)
    refused(
        plaq.capi.InvalidArgument, "back|phase of forward in x, 0|0.3", lambda: structure.insertions(moving, s, u, lines=["dx"])
    )


def test_sinks_beyond_the_end_do_not_depend_on_the_phases_in_time():
    links = ref.random_su3((4, T, 2, 4, 2), np.random.default_rng(6))
    for phases in ((1, 0), (0.3, 1), (0.3, 0.3)):
        found = []
        for time in (0, 4):
            u = plaq.Gauge.from_array(np.roll(links, time, axis=1))
            quark, antiquark = (plaq.Clover(u, mass=0.4, csw=1.1, boundary=[0, 0, 0, phase]) for phase in phases)
            place = (1, 0, 1, time)
            s, other = (d.propagator(place, tol=TOL) for d in (quark, antiquark))
            x = quark.propagator(structure.through_meson(other, time=4), tol=TOL)
            current = structure.current(x, s, u)[3, 0]
            # Between source and sink the charge is 1 on every configuration.
            close(current[1] - current[5], plaq.mesons(s, other)[0, 0, 4], 1e-10)
            found.append((current, structure.insertions(x, s, u, lines=["", "+z"])))
            if time:
                # Files keep what is left to take out.
                with tempfile.TemporaryDirectory() as folder:
                    x.write(f"{folder}/x")
                    read = plaq.Propagator.open(f"{folder}/x")
                assert read.kind == "sequential_propagator" and read._origin().crossed == phases[1]
                close(structure.current(read, s, u)[3, 0], current, 1e-13)
        for one, other in zip(*found):
            close(one, other, 1e-10)


def test_lines_are_known_by_their_kind():
    u, d, _, _, _ = quarks()
    s = d.propagator(X0, tol=TOL)
    w = structure.through_baryon(s, time=1)
    x = d.propagator(w, tol=TOL)
    assert [one.kind for one in (s, w, x)] == ["propagator", "sequential_source", "sequential_propagator"]
    assert "sequential source" in repr(w) and "sequential propagator" in repr(x) and "sequential" not in repr(s)
    assert [one.kind for one in (w.smear(u, 0.2, 1), x.copy(), s.shift(u, "x"))] == [w.kind, x.kind, s.kind]
    assert d.solve(w, tol=TOL).kind == x.kind and structure.through_meson(s, time=1).kind == w.kind
    # A line that goes on through an operator is one from the source.
    through = d.propagator(structure.through_operator(s, u), tol=TOL)
    assert through.kind == s.kind and structure.quarks(through, s, s).shape[0] == 6
    words = "expected a propagator|found a sequential"
    for contract in (structure.insertions, structure.current):
        refused(plaq.capi.InvalidArgument, f"forward|{words} propagator", lambda contract=contract: contract(s, x, u))
        refused(plaq.capi.InvalidArgument, "back|sequential propagator|found a sequential source", lambda contract=contract: contract(w, s, u))
    for wrong in (w, x):
        for named, call in (
            ("quark", lambda: plaq.mesons(wrong, s)),
            ("antiquark", lambda: plaq.mesons(s, wrong)),
            ("light", lambda: plaq.baryons(wrong)),
            ("first", lambda: structure.quarks(wrong, s, s)),
            ("third", lambda: structure.through_baryon(s, s, wrong, time=1)),
            ("from", lambda: structure.through_meson(wrong, time=1)),
            ("antiquark", lambda: structure.conserved_mesons(s, wrong, gauge=u)),
        ):
            refused(plaq.capi.InvalidArgument, f"{named}|{words}", call)
    # Of fields of the host nothing is known.
    bare = plaq.Propagator.from_array(x.lexico(), position=X0)
    assert bare.kind == "" and plaq.mesons(bare, s).shape == (1, 1, T)
    bare.kind = "sequential_propagator"
    refused(plaq.capi.InvalidArgument, words, lambda: plaq.mesons(bare, s))
    # Lines of one quark have one clover term.
    other, form = plaq.Clover(u, mass=0.4, csw=1.5), plaq.Clover(u, mass=0.4, csw=1.1, clover="exponential")
    for of, named in ((other, "clover coefficients of forward, 1.1 and 1.1|1.5"), (form, "traditional|exponential")):
        line = of.propagator(w, tol=TOL)
        refused(plaq.capi.InvalidArgument, f"back|{named}|flavour_changing", lambda line=line: structure.insertions(line, s, u))
        refused(plaq.capi.InvalidArgument, f"back|{named}", lambda line=line: structure.current(line, s, u))
        assert structure.insertions(line, s, u, flavour_changing=True).shape == (1, 16, 1, T)


def test_bad_input_is_named():
    u, d, _, s, _ = quarks()
    three, infinite = np.eye(3), np.full((4, 4), np.inf)
    for call in (
        lambda m: structure.quarks(s, sink=m),
        lambda m: structure.quarks(s, source=m),
        lambda m: structure.through_meson(s, sink=m, time=1),
        lambda m: structure.through_baryon(s, projector=m, time=1),
        lambda m: structure.through_operator(s, u, gamma=m),
        lambda m: structure.quarks(s, projector=m),
        lambda m: plaq.mesons(s, gammas=[(m, "5")]),
    ):
        refused(ValueError, "4 x 4|found shape (3, 3)", lambda call=call: call(three))
        refused((ValueError, plaq.capi.InvalidArgument), "4 x 4|finite", lambda call=call: call(infinite))
    refused(ValueError, "gamma|4 x 4 matrix|'a'", lambda: structure.through_operator(s, u, gamma=[["a"] * 4] * 4))
    refused(ValueError, "sink|C5|'C7'", lambda: structure.quarks(s, sink="C7"))
    for time in (T, -1, 100):
        for call in (structure.through_baryon, structure.through_meson):
            refused(plaq.capi.InvalidArgument, f"time|0 to {T - 1}|found {time}", lambda call=call, time=time: call(s, time=time))
    # A sink may lie beyond the lattice's end, and counts from the source.
    assert X0[3] + SINK >= T and structure.through_baryon(s, time=SINK).norm2().max() > 0
    long = structure.straight("z", 3)
    for call in (
        lambda: structure.insertions(s, s, u, lines=[long]),
        lambda: structure.through_operator(s, u, line=long),
        lambda: structure.gluons(u, long),
        lambda: d.loops(u, lines=[long]),
        lambda: d.loop_sums(u, lines=[long]),
    ):
        refused(plaq.capi.InvalidArgument, "lines|not longer than the lattice, 2|found 3", call)
    refused(plaq.capi.InvalidArgument, "lines|longer|found 3", lambda: structure.insertions(s, s, u, lines=["-z dz dz"]))
    refused(ValueError, "width|-1", lambda: structure.staple("z", 2, "+x", -1))
    refused(ValueError, "side|another direction than z|'-z'", lambda: structure.staple("z", 2, "-z", 1))
    refused(ValueError, "ca|1j", lambda: structure.improved_axial(np.zeros((16, 1, T)), [2, 4, 2, T], ca=1j))
    refused(plaq.capi.InvalidArgument, "derivatives|4", lambda: structure.insertions(s, s, u, lines=["dx dx dx dx"]))


def test_mesons_of_any_matrix_are_sums():
    *_, s, q = quarks()
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((4, 4)) + 1j * rng.standard_normal((4, 4)) for _ in range(2))
    s_array, q_array = s.numpy(), q.numpy()
    gt, g5 = plaq.gamma["T"], plaq.gamma["5"]
    right = gt @ b.conj().T @ gt @ g5
    found = plaq.mesons(s, q, gammas=[(a, b), "5", a])
    wanted = -np.einsum("ij,tzyxjkab,kl,tzyxmlab,mi->t", a, s_array, right, q_array.conj(), g5, optimize=True)
    close(found[0, 0], np.roll(wanted, -X0[3]), 1e-11)
    close(found[0, 1], plaq.mesons(s, q)[0, 0])
    refused(ValueError, "gammas|4 x 4", lambda: plaq.mesons(s, gammas=[np.eye(3)]))


def test_momentum_smearing_is_its_definition():
    u = plaq.Gauge.hot([2, 4, 6, 4], seed=5)
    psi = plaq.Fermion.noise(u.extents, 2, seed=4)
    momentum, alpha, steps = (0.3, -0.7, 1.25), 0.4, 3
    f, links = psi.numpy(), u.numpy()
    for _ in range(steps):
        h = 0
        for j in range(3):
            turn = np.exp(2j * np.pi * momentum[j] / u.extents[j])
            low = ref.shift(links[j], j, -1).conj()
            ahead, behind = (np.stack([ref.shift(column, j, sign) for column in f]) for sign in (1, -1))
            h = h + turn * np.einsum("tzyxab,ntzyxsb->ntzyxsa", links[j], ahead)
            h = h + np.conj(turn) * np.einsum("tzyxba,ntzyxsb->ntzyxsa", low, behind)
        f = (f + alpha * h) / (1 + 6 * alpha)
    close(psi.smear(u, alpha, steps, momentum=momentum).numpy(), f)
    close(psi.smear(u, alpha, steps, momentum=(0, 0, 0)).numpy(), psi.smear(u, alpha, steps).numpy())
    refused(plaq.Error, "momentum|finite", lambda: psi.smear(u, alpha, steps, momentum=(np.nan, 0, 0)))


def test_momentum_smearing_lifts_a_moving_pion():
    u = plaq.Gauge.warm([8, 2, 2, 4], seed=3, width=0.2)
    d = plaq.Clover(u, mass=0.4, csw=1.0)
    b = plaq.Fermion(u.extents, 12)
    plaq.capi.plaq_spinor_source(b, plaq.point(0, 0, 0, 0))
    n, zeta = 2, 0.5

    def smeared(sign):
        def smear(f):
            return f.smear(u, 2.0, 12, directions="x", momentum=(sign * zeta * n, 0, 0))

        return smear(d.propagator(smear(b), position=(0, 0, 0, 0), tol=1e-10))

    minus, none, plus = (smeared(sign) for sign in (-1, 0, 1))
    pion = [
        abs(plaq.mesons(quark, antiquark, momenta=[(n, 0, 0)])[0, 0, 2])
        for quark, antiquark in ((minus, plus), (none, none), (plus, minus))
    ]
    assert pion[0] > 100 * pion[1] and pion[0] > 100 * pion[2], pion


def test_smearing_by_a_kernel_is_its_definition():
    u = plaq.Gauge.hot([2, 4, 6, 4], seed=5).fix("coulomb").gauge
    psi = plaq.Fermion.noise(u.extents, 2, seed=4)
    momentum, width = (0.3, -0.7, 1.25), 1.4
    f = psi.numpy()
    for axis, (n, length) in enumerate(zip(momentum, u.extents)):
        # The kernel's Fourier transform; both ends of even extents are one site.
        r = np.arange(-(length // 2), length // 2 + 1)
        g = np.exp(-(r**2) / (2 * width**2)) * np.where(abs(r) == length // 2, 0.5, 1)
        p = 2 * np.pi * np.arange(length) / length
        transform = np.exp(1j * np.outer(p, r)) @ (g / g.sum() * np.exp(2j * np.pi * n * r / length))
        shape = [1] * f.ndim
        shape[4 - axis] = length
        f = np.fft.ifft(np.fft.fft(f, axis=4 - axis) * transform.reshape(shape), axis=4 - axis)
    close(psi.smear(u, width=width, momentum=momentum).numpy(), f, 1e-12)
    # On smooth links a wide kernel is the limit of steps with the same momentum.
    unit = plaq.Gauge.unit([64, 2, 2, 4])
    point = plaq.Fermion.source(unit, plaq.point(3, 0, 1, 2))
    wide, steps = point.smear(unit, width=6, directions="x", momentum=(2.6, 0, 0)).numpy(), 2000
    share = 6**2 / 2 / steps
    close(wide, point.smear(unit, share / (1 - 2 * share), steps, "x", momentum=(2.6, 0, 0)).numpy(), 0.02)
    constant = plaq.Fermion.from_array(np.ones((1, 4, 2, 2, 64, 4, 3), complex))
    close(constant.smear(unit, width=6).numpy(), constant.numpy(), 1e-13)
    vector = plaq.Fermion.from_array(psi.numpy()[..., :1, :])
    close(vector.smear(u, width=width, momentum=momentum).numpy(), f[..., :1, :], 1e-12)
    loose = plaq.Gauge.hot(u.extents, seed=5)
    refused(plaq.capi.InvalidArgument, "gauge|Coulomb gauge|theta", lambda: psi.smear(loose, width=width))
    refused(plaq.capi.BadParameter, "width|steps", lambda: psi.smear(u, 0.3, 2, width=width))
    refused(ValueError, "alpha|width", lambda: psi.smear(u))
    refused(ValueError, "steps|found none", lambda: psi.smear(u, 0.3))
    refused(plaq.Error, "width", lambda: psi.smear(u, width=np.inf))
    refused(plaq.Error, "momentum|finite", lambda: psi.smear(u, width=width, momentum=(np.nan, 0, 0)))
    refused(plaq.capi.Unsupported, "width|half", lambda: plaq.Fermion(u.extents, 2, precision="half").smear(u, width=width))


def test_sinks_end_at_boundaries_in_time():
    for kind, start, last in (("open", 2, 4), ("sf", 2, 5), ("open_sf", 3, 4)):
        angles = {"sf": {"phi": [0] * 3, "phi_prime": [0] * 3}, "open_sf": {"phi_prime": [0] * 3}}.get(kind, {})
        u = plaq.Gauge.unit([2, 2, 2, 8], boundary_time=kind, **angles)
        s = plaq.Wilson(u, mass=0.5).propagator((0, 0, 0, start))
        calls = (structure.through_baryon, structure.through_meson, structure.through_operator, lambda f, time: f.sequential(time))
        for call in calls:
            for time in (last + 1, 7):
                words = f"time|0 to {last} from the source at t = {start}|boundary_time {kind}|found {time}"
                refused(plaq.capi.InvalidArgument, words, lambda call=call, time=time: call(s, time=time))
            assert call(s, time=last).norm2().max() > 0


def test_gluons_along_lines():
    u = plaq.Gauge.warm([2, 4, 2, T], seed=5, width=0.4)
    flowed = u.flow(0.1, step=0.02).gauge
    found = structure.gluons(flowed, structure.straight("y", 2) + " -t", momenta=[(0, 0, 0), (0, 1, 0)])
    assert found.shape == (4, 6, 6, 2, T)
    # At no distance the planes commute, and equal ones are the action density.
    close(found[0], found[0].swapaxes(0, 1), 1e-12)
    density = -np.einsum("aat->", found[0, :, :, 0]) / np.prod(u.extents)
    close(density.real, sum(flowed.topology()[1:]), 1e-12)
    # The line from the other end: sum over x is one over x + d.
    other = structure.gluons(flowed, "+t " + structure.straight("y", -2))[3, :, :, 0]
    close(np.roll(other.swapaxes(0, 1), 1, axis=-1), found[3, :, :, 0], 1e-12)
    # Links translated by half of the lattice: the sum with this momentum changes its sign.
    links = np.asarray(flowed)
    moved = plaq.Gauge.from_array(np.roll(links, 2, axis=3))
    close(structure.gluons(moved, momenta=[(0, 1, 0)])[0, :, :, 0], -found[0, :, :, 1], 1e-11)
    refused(ValueError, "line|without derivatives", lambda: structure.gluons(flowed, "dz"))
    refused(ValueError, "x, y, z, t", lambda: structure.gluons(flowed, "+q"))


def test_the_improved_axial_current():
    u, d, v, s, q = quarks()
    x = d.propagator(structure.through_meson(q, time=SINK).smear(v, 0.4, 3), tol=TOL)
    momenta = [(0, 0, 0), (1, 2, 1), (0, 1, 0)]
    found = structure.insertions(x, s, u, momenta=momenta)[0]
    plain = structure.improved_axial(found, u.extents, ca=0, momenta=momenta)
    # Of any matrix Gamma the sum over z is that of its expansion in the sixteen.
    for mu in range(4):
        matrix = plaq.gamma["XYZT"[mu]] @ plaq.gamma["5"]
        weights = [np.vdot(plaq.gamma[n], matrix) / 4 for n in range(16)]
        close(plain[mu], np.tensordot(weights, found, 1), 1e-13)
    better = structure.improved_axial(found, u.extents, ca=-0.05, momenta=momenta)
    # The lattice derivative of P in direction mu, from quark fields that are moved by one site: P(z + mu) at z.
    fields = [f.columns() for f in (x, s)]
    for mu in range(4):
        ends = []
        for step in (-1, 1):
            back, forward = (plaq.Fermion.from_array(np.roll(f, step, axis=4 - mu)) for f in fields)
            moved = structure.insertions(back, forward, u, momenta=momenta, position=X0)[0, 15]
            ends.append(moved)
        slope = (ends[0] - ends[1]) / 2
        assert np.abs((better - plain)[mu] + 0.05 * slope).max() < 1e-12 * np.abs(found[15]).max()
    assert np.abs((better - plain)[1]).max() > 0.01 * np.abs(found[15]).max()
    refused(ValueError, "found|momenta", lambda: structure.improved_axial(found, u.extents, ca=0))


def test_quarks_with_different_phases_in_space():
    """The charge of a quark between meson lines with other phases is 1 where the source is for its phases, else that is refused."""
    u = plaq.Gauge.warm([4, 2, 2, T], seed=3, width=0.3)
    d, other = (plaq.Clover(u, mass=0.4, csw=1.1, boundary=b) for b in [(0.5, 0, 0.3, 1), (0, 0, 0, 1)])
    s, antiquark = d.propagator(X0, tol=TOL), other.propagator(X0, tol=TOL)
    c2 = plaq.mesons(s, antiquark, gammas=["5"])[0, 0]
    source = structure.through_meson(antiquark, time=SINK, next_boundary_space=(0.5, 0, 0.3))
    current = structure.current(d.propagator(source, tol=TOL), s, u)[3, 0]
    close((current[1] - current[5]) / c2[SINK], 1, 1e-9)
    # The derivative of P in the improved axial current, from fields that are moved along links.
    def pseudo(step):
        moved = [f.shift(u, step) for f in (antiquark, s)]
        return structure.insertions(moved[0], moved[1], u, flavour_changing=True)[0, 15]

    found = structure.insertions(antiquark, s, u, flavour_changing=True)[0]
    bare, improved = (structure.improved_axial(found, u.extents, ca=c, shift=(0.5, 0, 0.3)) for c in (0, 1))
    close((improved - bare)[0], (pseudo("x") - pseudo("-x")) / 2, 1e-12)
    close((improved - bare)[2], (pseudo("z") - pseudo("-z")) / 2, 1e-12)
    refused(plaq.Error, "boundary phases", lambda: d.propagator(structure.through_meson(antiquark, time=SINK)))
    refused(plaq.Error, "boundary phases", lambda: other.propagator(structure.through_baryon(s, time=SINK)))


def test_the_conserved_current_refuses_a_line_of_smeared_links():
    u = plaq.Gauge.warm([2, 2, 2, 4], seed=3, width=0.3)
    s, x = (plaq.Wilson(v, mass=0.4).propagator((0, 0, 0, 0)) for v in (u, u.smear_stout(0.1, 1)))
    refused(plaq.Error, "back|gauge", lambda: structure.current(x, s, u))


def test_shifts_of_propagators_take_phases_along():
    u = plaq.Gauge.unit([2, 2, 2, 4])
    s = plaq.Wilson(u, mass=0.4, boundary=(0.5, 0, 0, 1)).propagator((1, 0, 1, 2))
    columns = s.shift(u, "y y").numpy()
    close(s.shift(u, "t t t t").numpy(), -columns, 1e-14)
    close(s.shift(u, "x x").numpy(), 1j * columns, 1e-14)
    close(s.shift(u, "-x").shift(u, "x").numpy(), columns, 1e-14)
    refused(ValueError, "a list of steps", lambda: structure.through_operator(s, u, line={"+z": 0.5}))
    refused(ValueError, "a list of steps", lambda: structure.gluons(u, {"+z": 0.5}))
