"""Hybrid Monte Carlo from Python, and calls that end early."""

import copy
import tempfile

import numpy as np
import plaq
from common import ROOT, close, refused

INPUT = {
    "length": 0.5,
    "seed": 5,
    "run": {"lattice": [4, 4, 4, 4], "start": "cold", "trajectories": 3},
    "monomial": [
        {"name": "gauge", "type": "gauge", "action": "wilson", "beta": 5.5},
        {"name": "quarks", "type": "two_flavours", "operator": {"kappa": 0.12, "csw": 1.0}},
    ],
    "level": [
        {"integrator": "omelyan2", "steps": 2, "monomials": ["quarks"]},
        {"integrator": "omelyan2", "steps": 2, "monomials": ["gauge"]},
    ],
}


def test_a_chain_is_an_iterator():
    chain = plaq.hmc(INPUT)
    assert len(chain) == 3 and chain.memory() > 0
    reports = list(chain)
    assert [report.next_trajectory for report in reports] == [1, 2, 3]
    close(reports[-1].plaquette, chain.gauge.plaquette().total, 1e-10)
    assert set(chain.monomials()) == {"gauge", "quarks"} and chain.monomials()["quarks"].force_iterations > 0
    assert np.isfinite(chain.column("delta_h")).all()
    assert chain.place == {"seed": 5, "trajectory": 3}
    text = plaq.hmc(plaq.toml(INPUT))
    assert [r.delta_h for r in text] == list(chain.column("delta_h"))


def test_delta_h_falls_with_the_step():
    small = copy.deepcopy(INPUT)
    for level in small["level"]:
        level["steps"] = 4
    gauge = plaq.Gauge.warm([4, 4, 4, 4], 2, 0.5)
    coarse, fine = (abs(plaq.hmc(i, gauge.copy()).step().delta_h) for i in (INPUT, small))
    assert fine < coarse / 4


def test_keys_of_run_are_those_of_the_program():
    for key, meant in {"latice": "lattice", "save_evry": "save_every", "trajectory": "trajectories"}.items():
        wrong = {**INPUT, "run": {**INPUT["run"], key: 1}}
        for input in (wrong, plaq.toml(wrong)):
            refused(plaq.capi.InvalidArgument, f"run.{key}|did you mean {meant}?", lambda: plaq.hmc(input))
            refused(plaq.capi.InvalidArgument, f"run.{key}", lambda: plaq.hmc(input, plaq.Gauge.unit([4, 4, 4, 4])))
    plaq.hmc({**INPUT, "run": {**INPUT["run"], "until": 5, "log": "log.jsonl", "flow_every": 2}})


def test_checkpoints():
    chain = plaq.hmc(INPUT)
    chain.step(2)
    with tempfile.TemporaryDirectory() as folder:
        chain.save(f"{folder}/checkpoint")
        refused(FileExistsError, "overwrite=True", lambda: chain.save(f"{folder}/checkpoint"))
        last = chain.step()
        other = plaq.hmc(INPUT)
        other.load(f"{folder}/checkpoint")
        assert other.step().delta_h == last.delta_h
        assert np.array_equal(other.gauge.numpy(), chain.gauge.numpy())
        run = {**INPUT["run"], "start": "checkpoint", "checkpoint": f"{folder}/checkpoint"}
        assert plaq.hmc({**INPUT, "run": run}).step().delta_h == last.delta_h
        run["checkpoint"] = f"{folder}/absent"
        assert plaq.hmc({**INPUT, "run": run}).place["trajectory"] == 0
    other.set_place(9, 0)
    assert other.place == {"seed": 9, "trajectory": 0}


def test_cycles_of_stochastic_molecular_dynamics():
    quark = {"kappa": 0.12, "csw": 1.0, "clover": "exponential"}
    terms = [INPUT["monomial"][0], {**INPUT["monomial"][1], "operator": quark}]
    cycles = {**INPUT, "algorithm": "smd", "friction": 0.8, "length": 0.2, "monomial": terms}
    chain = plaq.hmc(cycles)
    chain.step(2)
    with tempfile.TemporaryDirectory() as folder:
        chain.save(f"{folder}/checkpoint")
        last = [chain.step().delta_h for _ in range(2)]
        other = plaq.hmc(cycles)
        other.load(f"{folder}/checkpoint")
        assert [other.step().delta_h for _ in range(2)] == last
        assert np.array_equal(other.gauge.numpy(), chain.gauge.numpy())
        # With a large friction cycles draw all momenta anew, as trajectories of HMC do.
        anew = plaq.hmc({**cycles, "friction": 1e6})
        anew.load(f"{folder}/checkpoint")
        drawn = plaq.hmc({key: value for key, value in cycles.items() if key not in ("algorithm", "friction")})
        drawn.load(f"{folder}/checkpoint")
        assert anew.step().delta_h == drawn.step().delta_h != last[0]
    refused(plaq.capi.InvalidArgument, "hmc, smd", lambda: plaq.hmc({**INPUT, "algorithm": "langevin"}))
    refused(plaq.capi.InvalidArgument, "algorithm smd", lambda: plaq.hmc({**INPUT, "friction": 0.3}))


def test_twisted_masses_on_the_sites_of_the_schur_complement():
    gauge = plaq.Gauge.warm([4, 4, 4, 4], 1, 0.3)

    def run(mu, of_preconditioner=None, **more):
        light = {"name": "light", "type": "two_flavours", "operator": {"kappa": 0.12, "csw": 1.0, "mu_schur": mu}, **more}
        if of_preconditioner is not None:
            light["preconditioner"] = {"kappa": 0.12, "csw": 1.0, "mu_schur": of_preconditioner}
        level = {"integrator": "omelyan2", "steps": 4, "monomials": ["light", "gauge"]}
        input = {"length": 0.2, "seed": 3, "monomial": [INPUT["monomial"][0], light], "level": [level]}
        chain = plaq.hmc(input, gauge.copy())
        return chain.step(), chain.monomials()

    def energies(report, monomials):
        actions = [(m.action_start, m.action_end, m.rms) for m in (monomials["light"], monomials["gauge"])]
        return [report.delta_h, report.kinetic_start, report.kinetic_end, report.plaquette, *np.ravel(actions)]

    capi = plaq.capi
    for mu, of_preconditioner in ((0.2, None), (-0.2, None), (0.1, 0.4)):
        found = energies(*run(mu, of_preconditioner, asymmetric=True))
        assert abs(found[0]) < 0.5 and found[0] != 0, found
        parts = capi.plaq_hmc_parts_create(gauge, capi.plaq_hmc_params(length=0.2, seed=3))
        capi.plaq_hmc_parts_add_level(parts, "omelyan2", 4)
        quarks = capi.plaq_quarks_params(system="even-asymmetric", mu_schur=[mu, of_preconditioner or 0])
        dirac = capi.plaq_dirac_params(kappa=0.12, csw=1.0)
        capi.plaq_hmc_parts_add_quarks(parts, "light", quarks, dirac, dirac if of_preconditioner else None, None)
        capi.plaq_hmc_parts_add_gauge(parts, "gauge", capi.plaq_gauge_action_params(beta=5.5))
        chain = plaq.Hmc(capi.plaq_hmc_create_from(parts), gauge.copy(), None)
        assert energies(chain.step(), chain.monomials()) == found
        # The twisted mass is in the force.
        other = energies(*run(2 * mu, of_preconditioner, asymmetric=True))
        assert other[1] == found[1] and abs(other[2] - found[2]) > 1e-3, (other, found)
    bad = capi.BadParameter
    refused(bad, "mu_schur: expected 0, or an asymmetric Schur complement, found 0.2 and 0 with even-symmetric", lambda: run(0.2))
    refused(bad, "mu_schur: expected 0, or CG|found 0.2 and 0 with multigrid", lambda: run(0.2, asymmetric=True, solver="multigrid"))
    refused(bad, "operator.mu_schur: expected a finite number, found NaN", lambda: run(float("nan"), asymmetric=True))
    refused(bad, "preconditioner.mu_schur: expected a finite number, found inf", lambda: run(0, float("inf"), asymmetric=True))
    one = {"asymmetric": True, "type": "one_flavour"}
    refused(capi.InvalidArgument, "expected a monomial of type two_flavours, found one_flavour", lambda: run(0.2, **one))
    parts = capi.plaq_hmc_parts_create(gauge, None)
    capi.plaq_hmc_parts_add_level(parts, "leapfrog", 3)
    quarks = capi.plaq_quarks_params(system="even-asymmetric", mu_schur=[0, 0.4])
    dirac = capi.plaq_dirac_params(kappa=0.12)
    words = "mu_schur[1]: expected 0 without a preconditioner, found 0.4"
    refused(bad, words, lambda: capi.plaq_hmc_parts_add_quarks(parts, "light", quarks, dirac, None, None))


def test_files_of_inputs():
    chain = plaq.hmc(ROOT / "examples-c/hmc/quenched.toml", trajectories=1)
    assert len(list(chain)) == 1 and chain.gauge.extents == [4, 4, 4, 4]
    refused(OSError, "absent.toml", lambda: plaq.hmc("absent.toml"))
    refused(plaq.capi.InvalidArgument, "kapa", lambda: plaq.hmc({**INPUT, "kapa": 1}))
    without = {key: value for key, value in INPUT.items() if key != "run"}
    refused(ValueError, "lattice = [x, y, z, t]", lambda: plaq.hmc(without))
    chain = plaq.hmc(without, plaq.Gauge.unit([4, 4, 4, 4]))
    refused(TypeError, "no end", lambda: len(chain))
    refused(TypeError, "object", lambda: plaq.toml({"a": object()}))


def test_an_observable_of_a_chain():
    import pyerrors  # noqa: F401

    chain = plaq.hmc(INPUT, trajectories=6)
    list(chain)
    found = chain.to_pyerrors("plaquette", "chain")
    close(found.value, chain.column("plaquette").mean(), 1e-12)
