#!/usr/bin/env python3
"""Landau gauge from random starts with more and more annealing: how close F comes to the largest one
(Schroeck and Vogt, Comput. Phys. Commun. 184 (2013) 1907, section 6.6).

usage: landau_copies.py --out FILE [--lattice X,Y,Z,T] [--copies N] [--steps LIST] [--seconds LIMIT] ...

The paper's parameters: temperatures from 4 to 1e-4, three microcanonical sweeps after each, then
overrelaxation to theta < 1e-10; omega, which it does not name, is the library's 1.7.
"""
import programs


def main():
    p = programs.parser(__doc__, "16,16,16,16", 100)
    p.add_argument("--steps", default="0,3000,10000", help="annealing steps (0,3000,10000)")
    p.add_argument("--max-iterations", default="20000")
    o = p.parse_args()
    common = ["--tol", "1e-10", "--check-every", "50", "--max-iterations", o.max_iterations]
    kinds = []
    for steps in map(int, o.steps.split(",")):
        anneal = ["--method", "annealing", "--temperatures", str(steps), "--microcanonical", "3"]
        anneal += ["--hot", "4", "--cold", "1e-4"]
        kinds.append((f"{steps} steps", common + (anneal if steps else []), 4 * steps))
    programs.Study("landau_copies", o).copies(kinds)


if __name__ == "__main__":
    main()
