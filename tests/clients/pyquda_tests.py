"""PyQUDA's own test files as they are in its repository, on plaq's libquda.so: what they print is read and checked.
scripts/pyquda.sh runs it.

usage: pyquda_tests.py TESTS DATA FOLDER [BACKEND]
TESTS: the folder `tests` of PyQUDA's repository. DATA: reference files of these tests that NumPy made, pt_prop_0,
pt_prop_3, ape.lime, stout.lime, hyp.lime, wflow.lime; pt_prop_1 and pt_prop_4 are made here. FOLDER: where the tests run."""

import os
import re
import shutil
import struct
import subprocess
import sys
import zlib

import numpy as np

import pyquda_reference as reference

tests, data, folder, backend = *sys.argv[1:4], (sys.argv[4:] or ["numpy"])[0]
LATTICE = [4, 4, 4, 8]
MAGIC = 0x456789AB


def records(path):
    """Records of a LIME file by name."""
    with open(path, "rb") as file:
        text = file.read()
    found, at = {}, 0
    while at + 144 <= len(text):
        (length,) = struct.unpack(">Q", text[at + 8 : at + 16])
        found[text[at + 16 : at + 144].rstrip(b"\0").decode()] = text[at + 144 : at + 144 + length]
        at += 144 + -(-length // 8) * 8
    return found


def write_propagator(path, numbers):
    """A propagator [t][z][y][x][s][s'][c][c'] as QIO writes it, with its checksums."""
    sites = numbers.astype(">c16").reshape(-1, 144)
    sums = [0, 0]
    for rank, site in enumerate(sites):
        crc = zlib.crc32(site.tobytes())
        for k, turn in enumerate([rank % 29, rank % 31]):
            sums[k] ^= (crc << turn | crc >> (32 - turn)) & 0xFFFFFFFF
    size = " ".join(map(str, LATTICE))
    parts = [
        ("scidac-private-file-xml", f"<scidacFile><spacetime>4</spacetime><dims>{size}</dims></scidacFile>"),
        (
            "scidac-private-record-xml",
            "<scidacRecord><precision>D</precision><colors>3</colors><spins>4</spins>"
            "<typesize>2304</typesize><datacount>1</datacount></scidacRecord>",
        ),
        ("scidac-binary-data", sites.tobytes()),
        ("scidac-checksum", "<scidacChecksum><suma>%x</suma><sumb>%x</sumb></scidacChecksum>" % tuple(sums)),
    ]
    with open(path, "wb") as file:
        for i, (name, text) in enumerate(parts):
            text = text if isinstance(text, bytes) else text.encode()
            flags = (i == 0) << 15 | (i == len(parts) - 1) << 14
            file.write(struct.pack(">IHHQ128s", MAGIC, 1, flags, len(text), name.encode()))
            file.write(text + b"\0" * (-len(text) % 8))


def make_references(links, into):
    """The propagators of an anisotropic clover action that no file has; that of an isotropic one checks how they are made."""
    u = np.frombuffer(records(links)["ildg-binary-data"], ">c16").reshape(8, 4, 4, 4, 4, 3, 3)
    u = u.transpose(4, 0, 1, 2, 3, 5, 6).astype(complex)
    known = np.frombuffer(records(f"{into}/pt_prop_3")["scidac-binary-data"], ">c16")
    made = reference.propagator(u, 0.115, clover=(1.17, 1.17))
    off = np.max(np.abs(made.ravel() - known))
    if not off < 1e-14:
        sys.exit(f"NumPy's propagator is not that of pt_prop_3: off by {off}")
    # mass = 1 / (2 0.115) - 4 of kappa = 1 / (2 (mass + 1 + 3 / xi)).
    xi_0, anisotropy = 2.464, 2.464 / 0.95
    action = {"anisotropy": anisotropy, "clover": (0.91 / xi_0, 1.07)}
    kappa = 1 / (2 * (1 / (2 * 0.115) - 3 + 3 / anisotropy))
    for name, smearing in [("pt_prop_1", (0.0, 0)), ("pt_prop_4", (1 / (4 * 5 / 2.0**2 - 6), 5))]:
        write_propagator(f"{into}/{name}", reference.propagator(u, kappa, smearing=smearing, **action))


def below(limit, count=1):
    """A check of `count` differences."""

    def check(numbers):
        return len(numbers) == count and all(abs(n) <= limit for n in numbers)

    return check


def flowed(numbers):
    """Energies of every step, [total, space, time] each, and the difference of links."""
    totals, difference = numbers[:-1:3], numbers[-1]
    known = [0.023522109418113, 0.020533333760291, 0.017958176632620, 0.015736188753828, 2.424645902590e-05]
    right = all(abs(found / value - 1) < 1e-10 for found, value in zip(totals[:4] + totals[-1:], known))
    return len(numbers) == 3 * 101 + 1 and right and abs(difference) <= 1e-12


# Numbers that each file of tests prints, and their bounds.
SOLVES = below(1e-10)
TABLE = [
    ("test_wilson.py", SOLVES),
    ("test_clover_isotropic.py", SOLVES),
    ("test_clover.py", SOLVES),
    ("test_clover_numpy.py", SOLVES),
    ("test_clover_multigrid.py", SOLVES),
    ("test_clover_distance.py", SOLVES),
    ("test_clover_cli.py", SOLVES),
    ("test_gaussian.py", SOLVES),
    ("test_smear.py", below(1e-12, 3)),
    ("test_wflow.py", flowed),
    ("test_loop.py", below(1e-12, 3)),
]
SECOND = "PyQUDA is already initialized"


def run(name):
    """The numbers of the lines that hold nothing else. It ends with status 0, and logs no warning or error but that its own
    init comes second."""
    # This test is started from the repository's root, and leaves init to the command.
    cli = name == "test_clover_cli.py"
    place = [folder, f"tests/{name}"] if cli else [f"{folder}/tests", name]
    size = [str(n) for n in LATTICE]
    command = [sys.executable, "-m", "pyquda", "-b", backend, "-l", *size, "-p", f"{folder}/resources", place[1]]
    done = subprocess.run(command, cwd=place[0], capture_output=True, text=True)
    said = [line for line in done.stderr.splitlines() if line.strip()]
    expected = [] if cli else [f"PyQUDA WARNING: {SECOND}", f"RuntimeWarning: {SECOND}"]
    if done.returncode or said != expected:
        sys.exit(f"{name}: status {done.returncode}\n{done.stdout}{done.stderr}")
    lines = [line for line in done.stdout.splitlines() if re.fullmatch(r"[-+\d.e, ()\[\]]+", line.strip())]
    return [float(n) for n in re.findall(r"[-+\d.e]+", " ".join(lines))]


shutil.rmtree(f"{folder}/tests", ignore_errors=True)
shutil.copytree(tests, f"{folder}/tests", ignore=lambda _, names: [n for n in names if not n.endswith((".py", ".lime"))])
os.makedirs(f"{folder}/resources", exist_ok=True)
shutil.copytree(data, f"{folder}/tests/data")
make_references(f"{folder}/tests/weak_field.lime", f"{folder}/tests/data")
for name, check in TABLE:
    numbers = run(name)
    shown = " ".join(f"{n:.3g}" for n in numbers[-3:])
    if not check(numbers):
        sys.exit(f"{name}: found {numbers}")
    print(f"pyquda: {name}: {shown}")
