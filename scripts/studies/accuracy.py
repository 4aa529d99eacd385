#!/usr/bin/env python3
"""Functional and violation of Landau gauge against iterations in single, mixed and double precision
(Schroeck and Vogt, Comput. Phys. Commun. 184 (2013) 1907, section 4.5).

usage: accuracy.py --out FILE [--lattice X,Y,Z,T] [--iterations N] ...

The same random start for all three, omega 1.7. Single precision ends by itself where theta stands
still. The history has F and theta in the precision of the sweeps, the report in double.
"""
import programs


def main():
    p = programs.parser(__doc__, "32,32,32,32", None)
    p.add_argument("--iterations", default="12000", help="the paper's 12000")
    o = p.parse_args()
    study = programs.Study("accuracy", o)
    for precision in "double", "mixed", "single":
        arguments = ["--precision", precision, "--random-start", "yes", "--seed", str(o.seed), "--tol", "1e-40"]
        arguments += ["--max-iterations", o.iterations, "--check-every", "10", "--history", ""]
        report, rows = study.gaugefix(arguments)
        keys = "functional", "theta", "iterations", "seconds", "unitarity", "plaquette_before", "plaquette_after"
        run = {"name": precision, **{key: report[key] for key in keys}}
        run["history"] = [[int(row[1]), float(row[2]), float(row[3])] for row in rows]
        study.result["runs"].append(run)
        study.write()


if __name__ == "__main__":
    main()
