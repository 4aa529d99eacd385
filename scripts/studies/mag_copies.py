#!/usr/bin/env python3
"""Maximally Abelian gauge from random starts: overrelaxation alone against annealing, stochastic
relaxation and overrelaxation (Schroeck and Vogt, Comput. Phys. Commun. 184 (2013) 1907, section 6.5).

usage: mag_copies.py --out FILE [--lattice X,Y,Z,T] [--copies N] [--seconds LIMIT] ...

The paper's parameters: omega 1.35, theta < 1e-12, overrelaxation given up after 100000 iterations;
2000 annealing steps with three microcanonical sweeps each and up to 2000 of stochastic relaxation.
Temperatures are not in the paper: 2, below which its Fig. 7 has the functional change, to 1e-4.
"""
import programs


def main():
    p = programs.parser(__doc__, "16,16,16,16", 100)
    p.add_argument("--temperatures", type=int, default=2000)
    p.add_argument("--stochastic-sweeps", default="2000")
    p.add_argument("--max-iterations", default="100000")
    o = p.parse_args()
    common = ["--condition", "maximally_abelian", "--omega", "1.35", "--tol", "1e-12", "--check-every", "50"]
    common += ["--max-iterations", o.max_iterations]
    anneal = ["--method", "combined", "--temperatures", str(o.temperatures), "--microcanonical", "3"]
    anneal += ["--hot", "2", "--cold", "1e-4", "--stochastic-sweeps", o.stochastic_sweeps]
    study = programs.Study("mag_copies", o)
    study.copies([("SA/SR/OR", common + anneal, 4 * o.temperatures), ("OR", common, 0)])


if __name__ == "__main__":
    main()
