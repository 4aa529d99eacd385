"""Quark loops part by part: exact where every part is, unbiased by noise, continued from files."""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import plaq
import reference as ref
from common import close, refused
from test_loops import LINES, MOMENTA

SHAPE = (8, 2, 2, 2)
ALL = {"dilute": "spin,colour", "probes": 64, "tol": 1e-12}
BLOCKS = {"block": [[2, 2, 2, 2], [1, 1, 1, 2]], "vectors": [4, 4]}


def quark(seed=8, mass=0.4, **more):
    u = ref.random_su3((4, *SHAPE), np.random.default_rng(seed))
    gauge = plaq.Gauge.from_array(u)
    return gauge, plaq.Clover(gauge, mass=mass, csw=1.1, **more)


def dense(apply, d):
    """The matrix of a function of fields."""
    size = int(np.prod(SHAPE)) * 12
    columns = apply(np.eye(size, dtype=complex).reshape(size, *SHAPE, 4, 3))
    return np.asarray(columns).reshape(size, size).T


def test_every_part_exactly_is_the_exact_loop():
    gauge, d = quark()
    exact = d.loops(gauge, lines=LINES, momenta=MOMENTA, **ALL)
    spaces = [d.space(multigrid=d.multigrid(**BLOCKS), tol=1e-13), d.space(eigen=d.eigen(6, tol=1e-9))]
    assert spaces[0].unknowns == [4 * 8, 2 * 8] and spaces[1].unknowns == [6] and "32 > 16" in repr(spaces[0])
    for space in [*spaces, None]:
        for hopping in (0, 2, 3):
            run = d.loop_sums(
                gauge, space=space, lines=LINES, momenta=MOMENTA, traces="every", hopping=hopping, **ALL
            )
            for early in (run.mean, run.error, run.current):
                refused(plaq.capi.InvalidArgument, "loops|every part|part 0", early)
            assert run.add(vectors=1)
            close(run.mean(), exact.lines[0], 1e-11)
            close(run.current()[0], exact.current[0], 1e-11)
            terms = [(part.term, part.level) for part in run.parts]
            levels = space.levels if space else 0
            wanted = [("noise", 0)] + [("exact", level) for level in range(1, levels + 1)]
            assert terms == wanted + [("hopping", 0)] * (hopping > 0)
            for part in run.parts[1:]:
                assert part.done == part.total and not part.failed and not np.any(part.variance)
                # Every part contributes visibly.
                assert abs(part.mean).max() > 1e-3 * abs(run.mean()).max()
    # The exact part is exact whatever noise the others have, of which the normal one has no modulus 1.
    parts = []
    for noise in ("z4", "normal"):
        run = d.loop_sums(gauge, lines=LINES, momenta=MOMENTA, hopping=2, noise=noise)
        run.add(vectors=1)
        parts.append(run.parts[1].mean)
    close(parts[1], parts[0], 1e-11)
    # Results have the normalisation of the operator.
    kappa = plaq.Clover(gauge, mass=0.4, csw=1.1, normalisation="kappa")
    run = kappa.loop_sums(
        gauge, space=kappa.space(multigrid=kappa.multigrid(**BLOCKS), tol=1e-13), traces="every", hopping=2, **ALL
    )
    run.add(vectors=1)
    close(run.mean(), exact.lines[0][:1, :, :1] * 4.4, 1e-11)
    refused(plaq.Error, "space|normalisation", lambda: kappa.loop_sums(gauge, space=spaces[0]))


def test_levels_of_twisted_mass_are_an_identity_too():
    u = ref.random_su3((4, *SHAPE), np.random.default_rng(3))
    gauge = plaq.Gauge.from_array(u)
    d = plaq.Twisted(gauge, mass=0.4, mu=0.2, csw=1.1)
    space = d.space(multigrid=d.multigrid(**BLOCKS), tol=1e-13)
    run = d.loop_sums(gauge, space=space, traces="every", hopping=2, **ALL)
    run.add(vectors=1)
    close(run.mean(), d.loops(gauge, **ALL).lines[0], 1e-11)


def differences():
    """Operators with what makes a difference of quarks of them: of two masses, of the two signs of a twisted mass."""
    gauge, d = quark()
    twisted = plaq.Twisted(gauge, mass=0.4, mu=0.3, csw=1.1)
    return gauge, ((d, {"minus": plaq.Clover(gauge, mass=0.7, csw=1.1)}), (twisted, {"one_end": True}))


def test_low_modes_of_differences_are_identities():
    gauge, all_of_them = differences()
    for d, how in all_of_them:
        exact = d.loops(gauge, lines=LINES, momenta=MOMENTA, **how, **ALL)
        for space in (d.space(multigrid=d.multigrid(**BLOCKS), tol=1e-13), d.space(eigen=d.eigen(6, tol=1e-9))):
            run = d.loop_sums(gauge, space=space, lines=LINES, momenta=MOMENTA, traces="every", **how, **ALL)
            assert run.add(vectors=1)
            close(run.mean(), exact.lines[0], 1e-10)
            close(run.current()[0], exact.current[0], 1e-10)
            for part in run.parts:
                assert abs(part.mean).max() > 1e-4 * abs(run.mean()).max() and not part.failed
        refused(plaq.capi.Unsupported, "kind|plain|two quarks", lambda d=d, how=how: d.loop_sums(gauge, hopping=2, **how))


def test_noise_of_low_modes_of_differences_has_no_bias():
    gauge, all_of_them = differences()
    for d, how in all_of_them:
        exact = d.loops(gauge, **how, **ALL).lines[0, 0, :, 0]
        space = d.space(multigrid=d.multigrid(**BLOCKS), tol=1e-10)
        run = d.loop_sums(gauge, space=space, traces="noise", seed=5, tol=1e-9, **how)
        assert run.add(vectors=200)
        assert [(part.term, part.level) for part in run.parts] == [("noise", 0), ("noise", 1), ("noise", 2)]
        for of in (np.real, np.imag):
            # Contractions that symmetries make zero have errors at the level of rounding.
            off = abs(of(run.mean()[0, :, 0] - exact)) - 5 * of(run.error()[0, :, 0])
            assert off.max() < 1e-7 * abs(exact).max(), (how, off.max())


def test_noise_of_all_parts_has_no_bias_and_its_variance():
    gauge, d = quark()
    exact = d.loops(gauge, **ALL).lines[0, 0, :, 0]
    space = d.space(multigrid=d.multigrid(**BLOCKS), tol=1e-10)
    run = d.loop_sums(gauge, space=space, traces="noise", hopping=2, seed=5, tol=1e-9)
    assert run.add(vectors=200)
    off = (run.mean()[0, :, 0] - exact) / run.error()[0, :, 0].real
    assert abs(off.real).max() < 5, off
    assert [part.done for part in run.parts] == [200, 200, 200, 384]
    # The error of each part, for the first Gamma: root mean square over time slices, of real and imaginary part together.
    squares = []
    for number, part in enumerate(run.parts):
        report = plaq.capi.plaq_loops_part_report()
        plaq.capi.plaq_loops_describe_part(run, number, report)
        one = part.variance[0, 0, 0] / part.done
        squares.append((one.real + one.imag).mean())
        assert abs(report.error**2 - squares[-1]) <= 1e-12 * squares[-1], number
    report = plaq.capi.plaq_loops_report()
    plaq.capi.plaq_loops_describe(run, report)
    assert report.parts == 4 and abs(report.error**2 / sum(squares) - 1) < 1e-12
    # For Z4 noise on the whole lattice the variance is the sum over pairs of off-diagonal elements.
    run = d.loop_sums(gauge, space=space, seed=5, tol=1e-9)
    run.add(vectors=200)
    matrix = dense(lambda b: d.solve(b, tol=1e-10) - space.apply(b), d)
    site, time = 12 * 8, 1
    rows = slice(time * site, (time + 1) * site)
    m = np.einsum("st,xtcj->xscj", plaq.gamma["5"], matrix[rows].reshape(8, 4, 3, -1)).reshape(site, -1)
    wanted = (abs(m) ** 2).sum() - (abs(m[:, rows].diagonal()) ** 2).sum()
    found = run.parts[0].variance[0, 15, 0, time]
    assert abs((found.real + found.imag) / wanted - 1) < 0.4, (found, wanted)
    # A level's approximate inverse is the inverse of the operator in the space of the level.
    low = dense(space.apply, d)
    close(low @ dense(lambda b: d @ b, d) @ low, low, 1e-8)


def test_sums_stop_at_an_error_and_go_on_from_files():
    gauge, d = quark()
    multigrid = d.multigrid(**BLOCKS)
    space = d.space(multigrid=multigrid, tol=1e-10)
    how = {"space": space, "seed": 3, "tol": 1e-9, "traces": "noise", "lines": ["", "dz"]}
    whole = d.loop_sums(gauge, **how)
    refused(plaq.Error, "goals|error, seconds or a number of vectors", lambda: whole.add())
    refused(plaq.Error, "goals.error", lambda: whole.add(error=-1.0))
    assert whole.add(vectors=7)
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "loops"
        some = d.loop_sums(gauge, **how)
        some.add(vectors=4)
        some.write(state)
        refused(FileExistsError, "overwrite=True", lambda: some.write(state))
        other = d.loop_sums(gauge, **how)
        other.read(state)
        close(other.mean(), some.mean(), 1e-15)
        assert other.add(vectors=7)
        close(other.mean(), whole.mean(), 1e-12)
        close(other.error(), whole.error(), 1e-9)
        for words, made in (
            ("seed|expected 4|found 3", d.loop_sums(gauge, **{**how, "seed": 4})),
            ("lines", d.loop_sums(gauge, **{**how, "lines": [""]})),
            ("momenta", d.loop_sums(gauge, momenta=[(1, 0, 0)], **how)),
            ("spaces", d.loop_sums(gauge, **{**how, "space": None})),
            ("hopping", d.loop_sums(gauge, hopping=2, **how)),
            ("part 2: expected exact 2|found noise 2", d.loop_sums(gauge, **{**how, "traces": "last"})),
            ("part 1: expected exact 1|found noise 1", d.loop_sums(gauge, **{**how, "traces": "every"})),
            ("tol: expected 1e-2|found 1e-9", d.loop_sums(gauge, **{**how, "tol": 1e-2})),
        ):
            refused(plaq.capi.FieldMismatch, words, lambda made=made: made.read(state))
        for change, words in (
            ({"seed": 9}, "plaquettes in space|expected 0.00|found 0.01"),
            ({"mass": 0.41}, "mass of the operator|expected 0.41|found 0.4"),
            ({"mu": 0.1}, "mu of the operator|expected 0.1|found 0"),
        ):
            links, heavy = quark(**change)
            low = heavy.space(multigrid=heavy.multigrid(**BLOCKS), tol=1e-10)
            made = heavy.loop_sums(links, **{**how, "space": low})
            refused(plaq.capi.FieldMismatch, words, lambda made=made: made.read(state))
        loose = d.loop_sums(gauge, **{**how, "space": d.space(multigrid=multigrid, tol=1e-1)})
        refused(plaq.capi.FieldMismatch, "space_tol: expected 1e-1|found 1e-10", lambda: loose.read(state))
        anew = d.loop_sums(gauge, **{**how, "space": d.space(multigrid=d.multigrid(**BLOCKS, seed=5), tol=1e-10)})
        refused(plaq.capi.FieldMismatch, "|R eta|^2 of level 1|null vectors", lambda: anew.read(state))
        damaged = bytearray(state.read_bytes())
        damaged[-20] ^= 1
        state.write_bytes(damaged)
        before = other.mean()
        refused(plaq.capi.FileChecksum, "damaged", lambda: other.read(state))
        refused(plaq.capi.FileOpen, "absent", lambda: other.read(Path(folder) / "absent"))
        close(other.mean(), before, 1e-15)
    # A run that continues until it has the error asked for.
    goal = 0.7 * whole.report.error
    assert whole.add(error=goal) and whole.report.error <= goal
    found = np.sqrt((abs(whole.error()[0, 0, 0]) ** 2).mean())
    close(found, whole.report.error, 1e-12)
    # When a callback ends the work, parts that are complete are kept.
    done = [part.done for part in whole.parts]
    calls = []
    assert not whole.add(error=1e-9, progress=lambda *_: calls.append(1) or len(calls) > 40)
    assert whole.report.stopped and [part.done for part in whole.parts] != done
    assert all(now >= before for now, before in zip([part.done for part in whole.parts], done))
    assert not whole.add(error=1e-9, seconds=0.2) and not whole.report.stopped
    # The last level's trace is computed the cheaper way: not exactly if little noise is wanted.
    rough = d.loop_sums(gauge, space=space, tol=1e-9)
    rough.add(vectors=5)
    assert [part.term for part in rough.parts] == ["noise"] * 3
    fine = d.loop_sums(gauge, space=space, tol=1e-9)
    fine.add(error=0.05 * rough.report.error)
    assert [part.term for part in fine.parts] == ["noise", "noise", "exact"]


def test_loop_sums_refuse_what_does_not_fit():
    gauge, d = quark()
    multigrid = d.multigrid(**BLOCKS)
    refused(plaq.capi.InvalidArgument, "levels|at most 2|found 3", lambda: d.space(multigrid=multigrid, levels=3))
    refused(plaq.capi.InvalidArgument, "tol", lambda: d.space(multigrid=multigrid, tol=0.0))
    refused(ValueError, "multigrid|eigen", lambda: d.space())
    # A hierarchy of another configuration is refused, but not one of the same links or of another mass.
    foreign = quark(seed=9)[1].multigrid(**BLOCKS)
    refused(plaq.capi.FieldMismatch, "multigrid: expected the links of solver", lambda: d.space(multigrid=foreign))
    refused(plaq.capi.FieldMismatch, "eigen: expected a field of the links of solver", lambda: d.space(eigen=quark(seed=9)[1].eigen(2)))
    assert d.space(eigen=plaq.Clover(gauge, mass=0.5, csw=1.1).eigen(2)).unknowns == [2]
    d.space(multigrid=quark()[1].multigrid(**BLOCKS))
    d.space(multigrid=plaq.Clover(gauge, mass=0.5, csw=1.1).multigrid(**BLOCKS))
    refused(plaq.capi.InvalidArgument, "levels|at most 2|found 3", lambda: d.space_memory(multigrid, 3))
    # The announced memory is that for making spaces, with twelve columns on the level.
    announced = [d.space_memory(multigrid, levels) for levels in (1, 2)]
    b = plaq.Fermion(gauge, 12)
    plaq.capi.plaq_context_reset_peak(gauge.context)
    before = gauge.context.report().memory_used
    space = d.space(multigrid=multigrid)
    space.apply(b)
    taken = gauge.context.report().memory_peak - before
    assert announced[0] < announced[1] and 0.7 * announced[1] < taken <= announced[1], (announced, taken)
    assert d.space(multigrid=multigrid, levels=1).unknowns == space.unknowns[:1]
    refused(plaq.capi.InvalidArgument, "level|1 to 2", lambda: space.apply(d.field(), 3))
    refused(plaq.capi.FieldMismatch, "space", lambda: quark(mass=0.5)[1].loop_sums(gauge, space=space))
    heavy = plaq.Clover(gauge, mass=0.9, csw=1.1)
    refused(plaq.capi.Unsupported, "kind|plain", lambda: d.loop_sums(gauge, hopping=2, minus=heavy))
    # Without low modes all contractions are summed as well.
    run = d.loop_sums(gauge, minus=heavy, **ALL)
    run.add(vectors=1)
    close(run.mean(), d.loops(gauge, minus=heavy, **ALL).lines[0], 1e-12)
    other = plaq.Gauge.from_array(ref.random_su3((4, *SHAPE), np.random.default_rng(9)))
    refused(plaq.capi.FieldMismatch, "gauge|links of solver", lambda: d.loop_sums(other))
    d.update(other)
    refused(plaq.capi.FieldMismatch, "gauge|links of solver", lambda: run.add(vectors=2))
    source = (0, 0, 0, 0)
    for call in (
        lambda: space.apply(b),
        lambda: space.propagator(source),
        space.mesons,
        lambda: space.averaged_mesons([source]),
    ):
        refused(plaq.capi.FieldMismatch, "space|present links|before D.update", call)
    assert np.isfinite(d.space(eigen=d.eigen(2)).mesons()).all()
    refused(plaq.capi.FieldMismatch, "space|present links", lambda: d.loop_sums(other, space=space))


def test_low_mode_averages_are_all_to_all_correlators():
    shape = (4, 4, 4, 4)
    u = ref.random_su3((4, *shape), np.random.default_rng(2))
    gauge = plaq.Gauge.from_array(u)
    d = plaq.Clover(gauge, mass=0.3, csw=1.1)
    how = {"gammas": ["5", ("X", "X"), ("T5", "5"), plaq.gamma["Z"] + 0.5j * plaq.gamma["5"]], "momenta": [(0, 0, 0), (0, 1, 0)]}
    multigrid = d.multigrid(block=[[2, 2, 2, 2], [2, 1, 2, 1]], vectors=[4, 4])
    everywhere = [(x, y, z, t) for t in range(4) for z in range(4) for y in range(4) for x in range(4)]
    for space in (d.space(multigrid=multigrid, tol=1e-12), d.space(eigen=d.eigen(7, tol=1e-10))):
        for level in range(1, space.levels + 1):
            low = space.mesons(level, **how)
            some = [plaq.mesons(space.propagator(x, level), **how) for x in everywhere]
            close(low, np.mean(some, axis=0), 1e-9)
    # The mean over all sources is the exact correlator, also with separate sources for each level.
    space = d.space(multigrid=multigrid, tol=1e-12)
    exact = np.mean([plaq.mesons(d.propagator(x, tol=1e-12), **how) for x in everywhere], axis=0)
    found = space.averaged_mesons([everywhere, everywhere], tol=1e-12, **how)
    close(found.mean(), exact, 1e-9)
    assert [len(one) for one in found.differences] == [256, 256]
    # With few sources the error agrees with the scatter of these.
    few = space.averaged_mesons([everywhere[::32], everywhere[5::16]], tol=1e-12, **how)
    off = (few.mean() - exact)[0, 0].real / few.error()[0, 0].real
    assert abs(off).max() < 6, off
    squares = [one.real.var(axis=0, ddof=1) / len(one) for one in few.differences]
    close(few.error().real, sum(squares) ** 0.5, 1e-12)
    # Where all levels have the same sources, their differences at a source are added before they scatter.
    shared = space.averaged_mesons(everywhere[::16] + everywhere[:1], tol=1e-12, **how)
    for part in ("real", "imag"):
        total = getattr(sum(shared.differences), part)
        close(getattr(shared.error(), part), total.std(axis=0, ddof=1) / len(total) ** 0.5, 1e-12)
    refused(ValueError, "sources|2 lists", lambda: space.averaged_mesons([everywhere[:1]]))
    refused(plaq.capi.InvalidArgument, "level", lambda: space.mesons(3))
    refused(plaq.capi.NotConverged, "callback", lambda: space.mesons(1, progress=lambda *_: True))


def test_what_is_not_complete_has_no_error():
    """Exact parts count as soon as all of their columns are summed, and solves for a second quark are checked."""
    gauge, _ = quark()
    D = plaq.Wilson(gauge, mass=0.5)
    run = D.loop_sums(gauge, hopping=2)
    seen = []

    def soon(*_):
        seen.append(1)
        return len(seen) > 3

    run.add(vectors=2, progress=soon)
    exact = [part for part in run.parts if part.total]
    if 0 < exact[0].done < exact[0].total:
        assert np.isinf(run.error()).all()
    A, B = plaq.Wilson(gauge, mass=20.0), plaq.Wilson(gauge, mass=-0.2)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        A.loops(gauge, minus=B, vectors=1, tol=1e-10, max_iterations=6, solver="cgnr")
    assert any(one.category is plaq.NotConvergedWarning for one in told)


def test_weights_and_directions_that_mean_something_else_are_refused():
    gauge, _ = quark()
    S = plaq.Wilson(gauge, mass=0.5).propagator()
    pairs = [("ABC", 1)] if "ABC" in plaq.structure.PAIRINGS else [(plaq.structure.PAIRINGS[0], 1)]
    for wrong in ([1 + 0j], [1.0, 2.0], [[1.0]]):
        refused(ValueError, "weights", lambda: plaq.structure.through_baryon(S, quark=pairs, weights=wrong, time=1))
    fixed = gauge.fix("coulomb", stop_theta=1e-14).apply(gauge)
    S = plaq.Wilson(fixed, mass=0.5).propagator()
    refused(plaq.capi.Unsupported, "directions", lambda: S.smear(fixed, width=1.5, directions="xyzt"))
