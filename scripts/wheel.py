#!/usr/bin/env python3
"""usage: wheel.py PREFIX FOLDER

Packs what `make install` put into PREFIX into a wheel for Python in FOLDER: the shared library, the header, the
files of pkg-config, CMake and Fortran, the programs, and the Python package of bindings/python.
Left out are what is of this machine (the library for MPI) or needs links (quda), the archive, documentation and
sources of examples. The same files give the same wheel."""

import base64
import hashlib
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

SUMMARY = "Lattice QCD as a library: operators, solvers, hybrid Monte Carlo and gauge fixing on CPUs and GPUs"


def platform_tag(programs):
    """Of the oldest glibc that they run with."""
    glibc = subprocess.check_output([Path(__file__).with_name("glibc.sh"), *programs], text=True).strip()
    return f"manylinux_{glibc.replace('.', '_')}_{platform.machine()}"


def main(prefix, folder):
    top = Path(__file__).resolve().parent.parent
    version = re.search(r"^Version: (.*)$", (prefix / "lib/pkgconfig/plaq.pc").read_text(), re.M)[1]
    soname = f"libplaq.so.{version.split('.')[0]}"
    files = {}  # path in the wheel: bytes, whether it is a program

    def take(path, below):
        for file in sorted(f for f in (prefix / below).rglob("*") if f.is_file()):
            files[f"plaq/{path}{file.relative_to(prefix / below)}"] = (file.read_bytes(), path == "bin/")

    take("bin/", "bin")
    take("include/", "include")
    take("lib/cmake/", "lib/cmake")
    take("share/plaq/fortran/", "share/plaq/fortran")
    files["plaq/lib/pkgconfig/plaq.pc"] = ((prefix / "lib/pkgconfig/plaq.pc").read_bytes(), False)
    files[f"plaq/lib/{soname}"] = ((prefix / "lib" / soname).read_bytes(), True)
    # A wheel has no links: for the linker a script that names the library.
    files["plaq/lib/libplaq.so"] = (f"INPUT({soname})\n".encode(), False)
    for module in sorted((top / "bindings/python/plaq").glob("*.py")):
        files[f"plaq/{module.name}"] = (module.read_bytes(), False)
    files["plaq/py.typed"] = (b"", False)
    sample = "quenched-b6.0-4x4x4x8.ildg"  # that of plaq.sample
    files[f"plaq/data/{sample}"] = ((prefix / "share/plaq/tests/data" / sample).read_bytes(), False)

    tag = "py3-none-" + platform_tag([prefix / "lib" / soname, *(prefix / "bin").iterdir()])
    info = f"plaq-{version}.dist-info/"
    for text in sorted(top.glob("LICENSE-*")):
        files[info + text.name] = (text.read_bytes(), False)
    about = {
        "METADATA": f"Metadata-Version: 2.1\nName: plaq\nVersion: {version}\nSummary: {SUMMARY}\n"
        "License: Apache-2.0 OR MIT\nRequires-Python: >=3.8\nRequires-Dist: numpy\n",
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: plaq\nRoot-Is-Purelib: false\nTag: {tag}\n",
        "entry_points.txt": "[console_scripts]\nplaq = plaq.__main__:main\n",
    }
    for name, text in about.items():
        files[info + name] = (text.encode(), False)
    record = ""
    for name, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[info + "RECORD"] = (f"{record}{info}RECORD,,\n".encode(), False)

    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"plaq-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (data, program) in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            archive.writestr(entry, data)
    print(f"{wheel}: {wheel.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
