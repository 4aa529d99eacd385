"""What studies with the Python package share: options, links of a file or of the heat bath, seconds of finished work."""

import argparse
import time

import plaq


def parser(doc, lattice, kappa):
    """Options of links and of the clover operator; the lattice and kappa by default."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file", nargs="?", help="configuration; without it the heat bath makes one")
    p.add_argument("--lattice", default=lattice, help=f"X,Y,Z,T of the heat bath ({lattice})")
    p.add_argument("--beta", type=float, default=6.0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--thermalise", type=int, default=200, help="heat bath sweeps from a hot start, four of overrelaxation each")
    p.add_argument("--kappa", type=float, default=kappa)
    p.add_argument("--csw", type=float, default=1.769)
    return p


class Clock:
    """Seconds since it was asked last, with the device's work finished."""

    def __init__(self, context):
        self.context, self.begun, self.last = context, time.monotonic(), time.monotonic()

    def __call__(self):
        self.context.synchronize()
        before, self.last = self.last, time.monotonic()
        return self.last - before

    def total(self):
        return time.monotonic() - self.begun


def begin(asked):
    """The links and the operator of the options, and a clock."""
    if asked.file:
        U = plaq.open(asked.file)
    else:
        extents = [int(length) for length in asked.lattice.split(",")]
        U = next(plaq.heatbath(extents, asked.beta, seed=asked.seed, thermalise=asked.thermalise))
    D = plaq.Clover(U, kappa=asked.kappa, csw=asked.csw, normalisation="mass")
    source = asked.file or f"heat bath, beta {asked.beta}, seed {asked.seed}, {asked.thermalise} sweeps"
    print(f"# {plaq.__version__}, {U.context.name}, {'x'.join(map(str, U.extents))}, {source}")
    print(f"# plaquette {U.plaquette().total:.6f}, clover, kappa {asked.kappa}, csw {asked.csw}", flush=True)
    return U, D, Clock(U.context)
