"""usage: plaq SUBCOMMAND [options]  runs the program, e.g. plaq propagator --help
plaq --PATH               prints a path: prefix, library, libdir, include, pkgconfig, cmake"""

import os
import sys

import plaq


def main():
    program = plaq.prefix / "bin" / "plaq"
    words = sys.argv[1:] or ["--help"]
    if words[0] in ("--prefix", "--library", "--libdir", "--include", "--pkgconfig", "--cmake"):
        print(getattr(plaq, words[0][2:]))
        return
    if words[0] in ("--help", "-h"):
        print(__doc__, flush=True)
    if not program.exists():
        sys.exit(f"plaq: {program}: the program is in the wheel and in an installed prefix, not in this source tree")
    os.execv(program, [str(program), *words])


if __name__ == "__main__":
    main()
