#!/usr/bin/env python3
"""A model of hops and solves on many GPUs: prints the tables of docs/cluster.md.

Plain Python, no options, the same output every time. Times are in microseconds, sizes in MB; n is the number of sites
of one parity of one rank. What is measured names its page of docs/lab; what is assumed says so.
"""

import itertools
import math

# ---- One H200 (docs/lab/hop.md, solves.md, multigrid.md), 32^3 x 64 ------------------------------

N0 = 32**3 * 64 // 2
HOP = {"f64": 293.7, "f32": 149.7, "f16": 96.3, "f32, 12 columns": 1230.0}
# Bytes of a face site: a projected spinor of 12 reals, and the unit of 16-bit ones.
FACE = {"f64": 96, "f32": 48, "f16": 28, "f32, 12 columns": 576, "columns": 288}
LAUNCH = 3.4  # fixed time of a launch (docs/lab/many-gpus.md)
SUM = 11.5  # the host's wait for a sum
BICGSTAB = 1034.0  # an iteration, 16 bits inside double: four hops, three sums
BICGSTAB_FIXED = 80.0  # of that what does not grow with the lattice (solves at two volumes)
# Microseconds of an outer iteration of multigrid on one GPU, and those of them that two GPUs did not halve.
MULTIGRID = {"twelve columns": (49700.0, 7700.0), "one column": (7430.0, 1900.0)}
FINE_HOPS = 46  # hops of all columns in an outer iteration: 0.8 of its time
COARSE = 60  # exchanges of coarse vectors in an outer iteration, from the launches of a cycle
COARSE_SUMS = 20
ITERATIONS = {"bicgstab": 500, "multigrid": 14}  # kappa = 0.1346, and kept for larger lattices

# ---- Ways of faces: time until all messages are there, after MB megabytes each way ---------------


class Way:
    """Latency, and microseconds for a megabyte, up to 4 MB and beyond. Messages of some ways travel beside the inner
    sites, those of others after them."""

    def __init__(self, latency, per_mb, beyond=None, beside=True, launches=2, sums=0):
        self.latency, self.per_mb, self.beside, self.launches = latency, per_mb, beside, launches
        self.sums = sums  # what a sum takes more than in memory
        self.beyond = per_mb if beyond is None else beyond

    def travel(self, mb):
        return self.latency + mb * (self.per_mb if mb <= 4 else self.beyond)

    def exposed(self, mb, inner):
        """What an exchange adds to a hop."""
        if mb == 0:
            return 0.0
        wait = self.travel(mb)
        return self.launches * LAUNCH + (max(0.0, wait - inner) if self.beside else wait)


# 29 hops on up to four H200s of one host: 485 GB/s. One launch packs, works and waits.
PEER = Way(1.9, 1 / 0.485, beside=False, launches=0)
# Fitted to hops of two H200s with PLAQ_HALO=staged as it was before chunks: the host waited for the copies, then sent.
STAGED = Way(66, 123, 214, beside=False)
STAGED_TCP = Way(0, 255, 400, beside=False, sums=100)
# 1.6 MB both ways in 111 us, 16 MB at 22 GB/s; 1.6 MB in 660 to 790 us through sockets.
NCCL = Way(43, 42.8)
NCCL_SOCKETS = Way(60, 417)
# Assumed: chunks hide both copies but for the first and the last; MPI's shared memory as above without one copy.
CHUNKS = Way(40, 100, 190)
# Assumed: 400 Gbit/s a GPU at 90 %, one message from GPU to GPU 20 us by NCCL; 40 GB/s and 35 us through the host.
FABRIC = Way(20, 1 / 0.045)
FABRIC_STAGED = Way(35, 1 / 0.040)
FABRIC_SUM = 3.0  # assumed: an MPI sum takes this for each doubling of the ranks


def least(volume, kind):
    return LAUNCH + (HOP[kind] - LAUNCH) * volume / N0


# ---- Two GPUs, and what they were measured to do -------------------------------------------------


def two(kind, way):
    """Efficiency of a hop of two GPUs in t, 32^3 x 64 each."""
    mb = 2 * 32**3 / 2 * FACE[kind] * 1e-6
    alone = least(N0, kind)
    return alone / (alone + way.exposed(mb, alone * 60 / 64))


def two_bicgstab(way):
    mb = 2 * 32**3 / 2 * FACE["f16"] * 1e-6
    extra = 4 * way.exposed(mb, (BICGSTAB - BICGSTAB_FIXED) / 4 * 0.7)
    return BICGSTAB / (BICGSTAB + extra + 3 * way.sums)


def two_multigrid(way):
    """Twelve columns, strong."""
    alone, fixed = MULTIGRID["twelve columns"]
    mb = 2 * 32**3 / 2 * FACE["columns"] * 1e-6
    inner = 0.8 * alone / 2 / FINE_HOPS * 0.9
    time = (alone - fixed) / 2 + fixed + FINE_HOPS * way.exposed(mb, inner)
    return alone / 2 / time


MEASURED = [
    ("hop f64", lambda way: two("f64", way), (0.98, 0.39, 0.27)),
    ("hop f32", lambda way: two("f32", way), (0.98, 0.36, 0.28)),
    ("hop half", lambda way: two("f16", way), (0.95, 0.34, 0.28)),
    ("hop f32, 12 columns", lambda way: two("f32, 12 columns", way), (0.94, 0.23, 0.14)),
    ("BiCGStab", two_bicgstab, (0.97, 0.60, 0.44)),
    ("multigrid, 12 columns, strong", two_multigrid, (0.83, None, 0.14)),
]


# ---- A cluster -----------------------------------------------------------------------------------

HOST = 8  # GPUs


def far_sites(part, grid):
    """Face sites of one parity of the rank that sends most to other hosts, to its own host and to others. Ranks are
    numbered x fastest, eight consecutive ones on a host."""

    def number(at):
        return ((at[3] * grid[2] + at[2]) * grid[1] + at[1]) * grid[0] + at[0]

    worst = (0.0, 0.0)
    for at in itertools.product(*(range(g) for g in grid)):
        near = far = 0.0
        for mu, step in itertools.product(range(4), (-1, 1)):
            if grid[mu] == 1:
                continue
            there = list(at)
            there[mu] = (at[mu] + step) % grid[mu]
            sites = math.prod(part) / 2 / part[mu]
            if number(at) // HOST == number(there) // HOST:
                near += sites
            else:
                far += sites
        worst = max(worst, (far, near))
    return worst[1], worst[0]


def sum_time(ranks):
    return SUM + FABRIC_SUM * math.log2(ranks) if ranks > HOST else SUM + 1.9 * math.log2(ranks)


def cluster(lattice, grid, way):
    """Microseconds: a hop in single precision, an iteration of BiCGStab, an outer iteration of multigrid for twelve
    columns; and what limits the iteration."""
    part = [extent // g for extent, g in zip(lattice, grid)]
    n, ranks = math.prod(part) / 2, math.prod(grid)
    near, far = far_sites(part, grid)
    inside = math.prod(max(extent - 2, 0) if g > 1 else extent for extent, g in zip(part, grid)) / 2

    def faces(bytes_of_site, inner):
        mb = [sites * bytes_of_site * 1e-6 for sites in (near, far)]
        return PEER.exposed(mb[0], 0), way.exposed(mb[1], inner)

    alone = least(n, "f32")
    hop = alone + sum(faces(FACE["f32"], alone * inside / n))
    sites = (BICGSTAB - BICGSTAB_FIXED) * n / N0
    by_near, by_far = faces(FACE["f16"], sites / 4 * 0.7 * inside / n)
    parts = {
        "sites": sites,
        "launches": BICGSTAB_FIXED - 3 * SUM,
        "NVLink": 4 * by_near,
        "fabric": 4 * by_far,
        "sums": 3 * sum_time(ranks),
    }
    all12, fixed = MULTIGRID["twelve columns"]
    fine = (all12 - fixed) * n / N0
    extra = sum(faces(FACE["columns"], 0.8 * fine / FINE_HOPS * inside / n))
    coarse = COARSE * (way.latency if far else PEER.latency) + COARSE_SUMS * (sum_time(ranks) - SUM)
    return hop, parts, fine + fixed + FINE_HOPS * extra + coarse


def grids(lattice, ranks):
    fits = [[g for g in range(1, extent // 4 + 1) if extent % (2 * g) == 0] for extent in lattice]
    return (grid for grid in itertools.product(*fits) if math.prod(grid) == ranks)


def best(lattice, ranks, way):
    def time(grid):
        return sum(cluster(lattice, grid, way)[1].values())

    return min(grids(lattice, ranks), key=time)


# ---- Tables --------------------------------------------------------------------------------------


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def head(*cells):
    row(*cells)
    row(*["---"] * len(cells))


def checks():
    print("Two H200s, weak but for the last, efficiency: model (measured, difference)\n")
    head("", "peer", "staged, shared memory, before chunks", "staged, TCP loopback, before chunks")
    largest = 0.0
    for name, model, found in MEASURED:
        cells = []
        for way, measured in zip((PEER, STAGED, STAGED_TCP), found):
            if measured is None:
                cells.append("–")
                continue
            apart = model(way) / measured - 1
            largest = max(largest, abs(apart))
            cells.append(f"{model(way):.2f} ({measured:.2f}, {100 * apart:+.0f} %)")
        row(name, *cells)
    print(f"\nLargest difference {100 * largest:.0f} %.\n")
    print("The same, not measured before this was printed\n")
    head("", "staged in chunks, shared memory", "NCCL, shared memory", "NCCL, sockets")
    for name, model, _ in MEASURED:
        row(name, *(f"{model(way):.2f}" for way in (CHUNKS, NCCL, NCCL_SOCKETS)))


def predictions(way, title):
    print(f"\n{title}\n")
    head(
        "lattice", "GPUs", "grid", "part", "hop f32, µs", "BiCGStab, µs an iteration", "of linear",
        "limit after sites", "BiCGStab, s a column", "multigrid, s a column of 12",
    )
    for lattice in ((64, 64, 64, 128), (96, 96, 96, 192)):
        for ranks in (8, 16, 64, 256):
            grid = best(lattice, ranks, way)
            hop, parts, multigrid = cluster(lattice, grid, way)
            time, volume = sum(parts.values()), math.prod(lattice) / 2
            alone = BICGSTAB_FIXED + (BICGSTAB - BICGSTAB_FIXED) * volume / N0
            limit = max((name for name in parts if name != "sites"), key=parts.get)
            # 125 GiB a GPU for 64^3 x 128 on two (docs/lab/many-gpus.md).
            fits = 125 * volume / ranks / (64**3 * 128 / 2 / 2) < 139
            seconds = f"{ITERATIONS['multigrid'] * multigrid / 12 * 1e-6:.3f}" if fits else "too large"
            row(
                "·".join(map(str, lattice)), ranks, "·".join(map(str, grid)),
                "·".join(str(extent // g) for extent, g in zip(lattice, grid)),
                f"{hop:.0f}", f"{time:.0f}", f"{alone / ranks / time:.2f}", f"{limit}, {parts[limit]:.0f} µs",
                f"{ITERATIONS['bicgstab'] * time * 1e-6:.2f}", seconds,
            )


if __name__ == "__main__":
    checks()
    predictions(FABRIC, "H200s in hosts of eight, 400 Gbit/s a GPU, faces between hosts by NCCL")
    predictions(FABRIC_STAGED, "The same, faces between hosts through the host")
