"""Gradient flow, the scale t0 and the topological charge.

python docs/tutorial/3_flow.py [FILE]
"""

import sys

import numpy as np
import plaq

if len(sys.argv) > 1:
    U = plaq.open(sys.argv[1])
else:
    U = next(plaq.heatbath([8, 8, 8, 8], 5.8, seed=3, thermalise=40))

flow = U.flow(3.0, step=0.03, every=5)
print(flow)
for t, t2e, charge in zip(flow.time[::4], flow.t2e[::4], flow.charge[::4]):
    print(f"t/a^2 = {t:5.2f}  t^2 E = {t2e:.4f}  Q = {charge:8.4f}")

# t0 is where t^2 E is 0.3 (NaN where the flow ended before); by hand, from the measurements:
if not np.isnan(flow.t0):
    by_hand = np.interp(0.3, flow.t2e, flow.time)
    print("t0 =", flow.t0, "by hand", by_hand)
    assert abs(by_hand - flow.t0) < 0.02
assert (np.diff(flow.plaquette) > 0).all()  # the flow lowers the action

# The flowed links are a Gauge like any other.
print(flow.gauge.plaquette(), flow.gauge.topology())

try:
    import matplotlib.pyplot as plot
except ImportError:
    print("no matplotlib: no picture")
else:
    figure, ax = plot.subplots()
    flow.plot(ax)
    figure.savefig("flow.svg")
