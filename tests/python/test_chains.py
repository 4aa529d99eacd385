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
