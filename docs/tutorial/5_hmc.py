"""A short chain of hybrid Monte Carlo with two flavours, and its history.

python docs/tutorial/5_hmc.py
"""

import numpy as np
import plaq

# The keys of docs/hmc.md as a dict; the path of a file in TOML does as well.
chain = plaq.hmc(
    {
        "length": 1.0,
        "seed": 1,
        "accept_until": 5,  # thermalisation
        "run": {"lattice": [4, 4, 4, 4], "start": "hot"},
        "monomial": [
            {"name": "gauge", "type": "gauge", "action": "wilson", "beta": 5.3},
            {"name": "quarks", "type": "two_flavours", "operator": {"kappa": 0.14}},
        ],
        "level": [
            {"integrator": "omelyan2", "steps": 6, "monomials": ["quarks"]},
            {"integrator": "omelyan2", "steps": 3, "monomials": ["gauge"]},
        ],
    },
    trajectories=30,
)
for trajectory in chain:  # with progress=True in the call above there is a bar
    if trajectory.next_trajectory % 10 == 0:
        print(
            f"trajectory {trajectory.next_trajectory}: plaquette {trajectory.plaquette:.5f}, "
            f"Delta H {trajectory.delta_h:+.4f}, {'accepted' if trajectory.accepted else 'rejected'}"
        )

# Between trajectories chain.gauge holds the links.
D = plaq.Wilson(chain.gauge, kappa=0.14)
print(D.propagator().pion())

# Measured numbers of all trajectories, with errors; to_pyerrors gives them with autocorrelations.
plaquettes = chain.column("plaquette")[10:]
estimate = plaq.jackknife(plaquettes, bin=5)
print("plaquette", estimate.value, "+-", estimate.error)
assert 0.3 < estimate.value < 0.7
assert chain.column("accepted")[5:].mean() > 0.3
print({name: (report.kicks, report.rms) for name, report in chain.monomials().items()})
assert np.isfinite(chain.column("delta_h")).all()
