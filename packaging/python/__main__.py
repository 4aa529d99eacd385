"""usage: plaq PROGRAM [options]    runs a program, e.g. plaq propagator --help
       plaq --PATH              prints a path: prefix, library, libdir, include, pkgconfig, cmake
       plaq --version"""

import os
import sys

import plaq


def main():
    bin = plaq.prefix / "bin"
    word, *options = sys.argv[1:] or ["--help"]
    if word in ("--prefix", "--library", "--libdir", "--include", "--pkgconfig", "--cmake"):
        print(getattr(plaq, word[2:]))
    elif word == "--version":
        print("plaq", plaq.__version__)
    elif word in ("--help", "-h"):
        print(__doc__)
        print("programs:", *sorted(os.listdir(bin)))
    elif (bin / word).is_file():
        os.execv(bin / word, [word, *options])
    else:
        sys.exit(f"plaq: unknown program: {word}; plaq --help lists them")


if __name__ == "__main__":
    main()
