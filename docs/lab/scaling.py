#!/usr/bin/env python3
"""A model of solves on many GPUs: prints the tables of docs/lab/scaling.md.

Plain Python, no options, the same output every time. Times are in microseconds, sizes in MB, so
that bandwidths are in TB/s; n is the number of sites of one parity of one rank.
"""

import itertools
import math

# ---- Measurements (docs/performance.md, H200, 2026-11-21) ----------------------------------------

COPY = 4.27  # TB/s, read plus written
COPY_L2 = 4.9  # the same of 32 MB, which stay in the second-level cache
L2_HELD, L2_GONE = 32.0, 60.0  # MB: all of it stays, none of it does
LINK_PEAK = 0.450  # NVLink, each way, data sheet

N0 = 32**3 * 64 // 2
N48, N96 = 48**3 * 64 // 2, 48**3 * 96 // 2
HOP, CLOVER_HOP, EVEN_ODD = 1320, 1872, 3792  # flop per site
ITERATION = 2 * EVEN_ODD + 960  # BiCGStab: two applications and its vector passes
SPINOR16 = 24 * 2 + 4  # bytes, the unit included

# Kernels that waited for nobody: name, flop or bytes per site, rates at 32^3 x 64 and 48^3 x 64
# (TFLOPS, or TB/s as fractions of copy), launches.
KERNELS = [
    ("hop f32", HOP, 9.36, 9.49, 1),
    ("hop f16", HOP, 14.5, 15.2, 1),
    ("A^-1 hop f16", CLOVER_HOP, 15.86, 15.87, 1),
    ("even-odd operator f16", EVEN_ODD, 15.43, 15.57, 2),
    ("cg_update f32", 5 * 96, 0.98 * COPY, 1.00 * COPY, 1),
    ("cg_update f16", 5 * SPINOR16, 0.91 * COPY, 0.97 * COPY, 1),
]
# The same with a sum that the host waits for.
SUMS = [
    ("axpy_norm f32", 3 * 96, 0.81 * COPY, 0.92 * COPY, 1),
    ("axpy_norm f16", 3 * SPINOR16, 0.71 * COPY, 0.84 * COPY, 1),
    ("dot f32", 2 * 96, 0.76 * COPY, 0.92 * COPY, 1),
    ("dot f16", 2 * SPINOR16, 0.61 * COPY, 0.87 * COPY, 1),
]
# Lattice, grid, TFLOPS of all ranks: hop f64, f32, f16, f32 with 12 right-hand sides, solve. One GPU's
# solve is that of another run: 8.66 of the same one would make sums over ranks cost less than nothing.
L32, L48 = (32, 32, 32, 64), (48, 48, 48, 96)
ONE = {"f64": 4.71, "f32": 9.31, "f16": 13.5, "12": 14.8, "solve": 9.44}
ONE48 = {"f32": 9.45, "solve": 9.87}
MANY = [
    ("weak", (32, 32, 32, 128), (1, 1, 1, 2), (9.24, 18.4, 26.1, 29.0, 17.9)),
    ("weak", (32, 32, 32, 256), (1, 1, 1, 4), (18.5, 36.7, 52.1, 56.2, 33.9)),
    ("weak", (32, 32, 64, 128), (1, 1, 2, 2), (17.6, 35.3, 46.7, 56.3, 36.4)),
    ("strong", L32, (1, 1, 1, 4), (17.0, 32.8, 45.0, 52.5, 30.0)),
    ("strong", L32, (1, 1, 2, 2), (16.0, 32.0, 45.8, 52.4, 29.2)),
    ("strong", L48, (1, 1, 1, 4), (None, 36.0, None, None, 37.0)),
    ("strong", L48, (1, 1, 2, 2), (None, 33.8, None, None, 36.3)),
]
KINDS = ("f64", "f32", "f16", "12", "solve")
STAGED_SOLVE = 21.8  # weak 1.1.1.4 through copies on the host

# ---- Assumptions: nothing of this was measured ---------------------------------------------------

NODE = 8  # GPUs of a node, joined by NVLink as the measured four are
NET = 0.045  # TB/s each way and GPU: InfiniBand NDR, 400 Gb/s, at 90 %
NET_LATENCY = 2.5  # from GPU memory to GPU memory, one message
HOST = 10.0  # until the host knows that messages are packed and has handed them to MPI

# ---- Geometry ------------------------------------------------------------------------------------

# Bytes of a face site: a projected spinor of 12 reals, and the unit of 16-bit ones.
FACE = {"f64": 96, "f32": 48, "f16": 24 + 4, "12": 12 * 48}


def local(lattice, grid):
    return tuple(l // g for l, g in zip(lattice, grid))


def sites(part):
    return math.prod(part) // 2


def faces(part, grid, node=None):
    """Face sites of one parity that go to GPUs of this node, and to others, for the rank for which
    that takes longest: one at a corner of its node's block."""
    near = far = 0
    for mu in range(4):
        if grid[mu] == 1:
            continue
        face = sites(part) // part[mu]
        if node is None or node[mu] == grid[mu]:
            near += 2 * face
        elif node[mu] == 1:
            far += 2 * face
        else:
            near, far = near + face, far + face
    return near, far


# ---- Fits ----------------------------------------------------------------------------------------


def least_squares(rows, values):
    """x that minimises |A x - b|, by the normal equations."""
    m = len(rows[0])
    a = [[sum(r[i] * r[j] for r in rows) for j in range(m)] for i in range(m)]
    b = [sum(r[i] * v for r, v in zip(rows, values)) for i in range(m)]
    for i in range(m):
        p = max(range(i, m), key=lambda k: abs(a[k][i]))
        a[i], a[p], b[i], b[p] = a[p], a[i], b[p], b[i]
        for k in range(i + 1, m):
            f = a[k][i] / a[i][i]
            a[k] = [u - f * v for u, v in zip(a[k], a[i])]
            b[k] -= f * b[i]
    x = [0.0] * m
    for i in reversed(range(m)):
        x[i] = (b[i] - sum(a[i][j] * x[j] for j in range(i + 1, m))) / a[i][i]
    return x


def microseconds(work, n, rate):
    return work * n / rate * 1e-6


def offset(kernel):
    """Time at no sites, by the line through both volumes, for each launch."""
    _, work, small, large, launches = kernel
    at0, at1 = microseconds(work, N0, small), microseconds(work, N48, large)
    return (at0 - (at1 - at0) / (N48 - N0) * N0) / launches


def mean(values):
    values = list(values)
    return sum(values) / len(values)


LAUNCH = mean(offset(k) for k in KERNELS)
SUM = mean(offset(k) for k in SUMS) - LAUNCH

# Microseconds per site of a hop on one GPU, beyond its launch.
SITE = {k: (microseconds(HOP * (12 if k == "12" else 1), N0, ONE[k]) - LAUNCH) / N0 for k in FACE}
SITE_CLOVER = (microseconds(CLOVER_HOP, N0, 15.4) - LAUNCH) / N0

# An iteration on one GPU, its share of the reliable updates included: fixed part, and per site.
_small, _large = microseconds(ITERATION, N0, ONE["solve"]), microseconds(ITERATION, N96, ONE48["solve"])
ITERATION_SITE = (_large - _small) / (N96 - N0)
ITERATION_FIXED = _small - ITERATION_SITE * N0


def measured(kind, lattice, rate):
    work = ITERATION if kind == "solve" else HOP * (12 if kind == "12" else 1)
    return microseconds(work, math.prod(lattice) // 2, rate)


def fit_hop():
    """Fixed cost of a divided hop and microseconds per MB of faces, relative errors least."""
    rows, values = [], []
    for _, lattice, grid, rates in MANY:
        part = local(lattice, grid)
        for kind, rate in zip(("f64", "f32", "f16"), rates):
            if rate is None:
                continue
            time = measured(kind, lattice, rate)
            megabytes = faces(part, grid)[0] * FACE[kind] * 1e-6
            rows.append((1 / time, megabytes / time))
            values.append((time - LAUNCH - SITE[kind] * sites(part)) / time)
    fixed, per_mb = least_squares(rows, values)
    return fixed, 1 / per_mb


DIVIDED, LINK = fit_hop()


def hop(kind, part, grid):
    """A divided hop inside a node."""
    inside = SITE[kind] * sites(part) * (SLOW12 if kind == "12" else 1)
    return LAUNCH + inside + DIVIDED + faces(part, grid)[0] * FACE[kind] * 1e-6 / LINK


def fit_12():
    """How much slower sites of twelve right-hand sides are once the lattice is divided."""
    rows, values = [], []
    for _, lattice, grid, rates in MANY:
        if rates[3] is None:
            continue
        part, time = local(lattice, grid), measured("12", lattice, rates[3])
        rest = LAUNCH + DIVIDED + faces(part, grid)[0] * FACE["12"] * 1e-6 / LINK
        rows.append((SITE["12"] * sites(part) / time,))
        values.append((time - rest) / time)
    return least_squares(rows, values)[0]


def fit_solve():
    """Slower sites, and what a sum takes for each doubling of the ranks."""
    rows, values = [], []
    for _, lattice, grid, rates in MANY:
        part, time = local(lattice, grid), measured("solve", lattice, rates[4])
        halo = 4 * (DIVIDED + faces(part, grid)[0] * FACE["f16"] * 1e-6 / LINK)
        rows.append((ITERATION_SITE * sites(part) / time, 3 * math.log2(math.prod(grid)) / time))
        values.append((time - ITERATION_FIXED - halo) / time)
    return least_squares(rows, values)


SLOW12 = fit_12()
SLOW, SUM_DOUBLING = fit_solve()


def staged_rate():
    """TB/s of faces through copies on the host, from the one solve that was measured so."""
    part, grid = L32, (1, 1, 1, 4)
    time = measured("solve", (32, 32, 32, 256), STAGED_SOLVE)
    rest = ITERATION_FIXED + SLOW * ITERATION_SITE * N0 + 3 * 2 * SUM_DOUBLING + 4 * DIVIDED
    return 4 * faces(part, grid)[0] * FACE["f16"] * 1e-6 / (time - rest)


STAGED = staged_rate()

# ---- Prediction ----------------------------------------------------------------------------------


def cache_gain(n):
    """Less time per site where an iteration's fields stay in the second-level cache: links, blocks
    of the clover term and six vectors, in 16 bits."""
    megabytes = n * (2 * 4 * 24 + 2 * 148 + 6 * SPINOR16) * 1e-6
    share = min(max((L2_GONE - megabytes) / (L2_GONE - L2_HELD), 0), 1)
    return 1 - share * (1 - COPY / COPY_L2)


class Ways:
    """What is done about messages and sums."""

    host = HOST  # of a message that leaves the node
    outer_launch = True  # outer sites of messages from outside need a launch of their own
    sum_host = SUM
    sums = 3
    extra_vectors = 0
    face = FACE["f16"]
    rhs = 1
    net = NET
    staged = False  # all faces through copies on the host
    launches = 1.0  # of the fixed times of launches
    schwarz = 0  # applications without messages for each with them

    def __init__(self, **changes):
        vars(self).update(changes)


def iteration(part, grid, node, ways=Ways()):
    """Microseconds of one BiCGStab iteration and one right-hand side, in parts."""
    n, ranks = sites(part), math.prod(grid)
    near, far = (f * ways.face * 1e-6 * ways.rhs for f in faces(part, grid, node))
    if ways.staged:
        near, far = 0, near + far
    site = SLOW * ITERATION_SITE * cache_gain(n)
    vectors = ways.extra_vectors * SPINOR16 * n * 1e-6 / COPY
    inner = SITE_CLOVER * cache_gain(n) * ways.rhs
    inner *= math.prod(l - (2 if g > 1 else 0) for l, g in zip(part, grid)) / 2
    flight = ways.host + NET_LATENCY + far / ways.net if far else 0
    exposed = ways.host + NET_LATENCY + far / STAGED if ways.staged else max(0, flight - inner)
    # Packing reads whole spinors and writes projected ones.
    packing = 3 * far / COPY
    launches = DIVIDED + (LAUNCH if far and ways.outer_launch else 0)
    inside = min(ranks, NODE)
    one_sum = SUM_DOUBLING * math.log2(inside) + NET_LATENCY * math.log2(ranks / inside)
    # The fixed part of an iteration holds three sums on one GPU: their launches and the host's wait.
    fixed = ITERATION_FIXED - 3 * (SUM + LAUNCH)
    parts = {
        "sites": site * n + vectors,
        "launches": ways.launches * (fixed + 4 * launches) / ways.rhs,
        "NVLink": 4 * near / LINK / ways.rhs,
        "network": 4 * (exposed + packing) / ways.rhs,
        "sums": ways.sums * (LAUNCH + ways.sum_host + one_sum) / ways.rhs,
    }
    if ways.schwarz:
        # Without messages; sums of the domain's own.
        alone = site * n + fixed + 3 * (SUM + LAUNCH)
        whole = sum(parts.values())
        return {"sites": (ways.schwarz * alone + whole) / (ways.schwarz + 1)}
    return parts


def one_gpu(n):
    return ITERATION_FIXED + ITERATION_SITE * n


def placements(lattice, ranks):
    """Grids whose parts have even extents from 4 on, and blocks of them for the nodes."""
    fits = [[g for g in range(1, l // 4 + 1) if l % (2 * g) == 0] for l in lattice]
    blocks = [b for b in itertools.product(range(1, NODE + 1), repeat=4) if math.prod(b) == NODE]
    for grid in itertools.product(*fits):
        # x, y and z have the same extent: one order of them is enough.
        if math.prod(grid) == ranks and grid[0] <= grid[1] <= grid[2]:
            for node in blocks:
                if all(g % b == 0 for g, b in zip(grid, node)):
                    yield grid, node


def best(lattice, ranks, ways=Ways()):
    found = None
    for grid, node in placements(lattice, ranks):
        time = sum(iteration(local(lattice, grid), grid, node, ways).values())
        if found is None or time < found[0]:
            found = (time, grid, node)
    return found


# ---- Tables --------------------------------------------------------------------------------------


def row(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |")


def head(*cells):
    row(*cells)
    row(*["---"] * len(cells))


def dots(numbers):
    return "·".join(str(n) for n in numbers)


def title(text):
    print(f"\n{text}\n")


def constants():
    title("Constants")
    head("constant", "value", "from")
    spread = lambda kernels: " ".join(f"{offset(k):.1f}" for k in kernels)
    row("fixed time of a launch", f"{LAUNCH:.1f} µs", f"kernels at two volumes: {spread(KERNELS)}")
    row("wait for a sum", f"{SUM:.1f} µs", f"the same with sums, less a launch: {spread(SUMS)}")
    row("iteration on one GPU, fixed", f"{ITERATION_FIXED:.0f} µs", "solves at two volumes")
    row("iteration on one GPU, per site", f"{1e3 * ITERATION_SITE:.3f} ns", "the same")
    row("dividing a hop", f"{DIVIDED:.1f} µs", "17 hops")
    row("faces over NVLink", f"{1e3 * LINK:.0f} GB/s", "the same; data sheet: 450")
    row("sites of 12 right-hand sides once divided", f"× {SLOW12:.2f}", "5 hops")
    row("sites of a solve once divided", f"× {SLOW:.3f}", "7 solves")
    row("a sum, for each doubling of the ranks", f"{SUM_DOUBLING:.1f} µs", "the same")
    row("faces through the host", f"{1e3 * STAGED:.1f} GB/s", "one solve")


def comparison():
    title("Model and measurement")
    head("lattice, grid", *(f"{k} measured / model µs" for k in ("hop f64", "hop f32", "hop f16", "hop f32, 12 rhs", "iteration")))
    worst, squares = 0.0, []
    for name, lattice, grid, rates in MANY:
        part, cells = local(lattice, grid), []
        for kind, rate in zip(KINDS, rates):
            if rate is None:
                cells.append("")
                continue
            time = measured(kind, lattice, rate)
            if kind == "solve":
                model = ITERATION_FIXED + SLOW * ITERATION_SITE * sites(part)
                model += 4 * (DIVIDED + faces(part, grid)[0] * FACE["f16"] * 1e-6 / LINK)
                model += 3 * SUM_DOUBLING * math.log2(math.prod(grid))
            else:
                model = hop(kind, part, grid)
            error = model / time - 1
            worst, squares = max(worst, abs(error)), squares + [error**2]
            cells.append(f"{time:.0f} / {model:.0f} ({100 * error:+.0f} %)")
        row(f"{name}: {dots(lattice)}, {dots(grid)}", *cells)
    print(f"\n{len(squares)} figures: residuals {100 * math.sqrt(mean(squares)):.1f} % rms, {100 * worst:.1f} % at most.")


GPUS = (64, 256, 1024, 4096)
TARGETS = (L48, (96, 96, 96, 192))


def predictions():
    title("Prediction")
    names = ("sites", "launches", "NVLink", "network", "sums")
    head("lattice", "GPUs", "grid (block of a node)", "part", "µs", "efficiency", "TFLOPS", *names)
    for lattice in TARGETS:
        volume = math.prod(lattice) // 2
        for ranks in GPUS:
            found = best(lattice, ranks)
            if found is None:
                row(dots(lattice), ranks, "none", *[""] * 9)
                continue
            time, grid, node = found
            part = local(lattice, grid)
            parts = iteration(part, grid, node)
            row(
                dots(lattice),
                ranks,
                f"{dots(grid)} ({dots(node)})",
                dots(part),
                f"{time:.0f}",
                f"{one_gpu(volume) / ranks / time:.2f}",
                f"{microseconds(ITERATION, volume, time):.0f}",
                *(f"{parts[k]:.0f}" for k in names),
            )


NEXT = [
    ("faces through the host", {"staged": True}),
    ("messages between nodes started by the GPU", {"host": 0, "outer_launch": False}),
    ("sums without the host", {"sum_host": 0}),
    ("both", {"host": 0, "outer_launch": False, "sum_host": 0}),
    ("half the launches", {"launches": 0.5}),
    ("sums behind the operator, 8 more vectors", {"sums": 0, "extra_vectors": 8}),
    ("faces in 8 bits", {"face": 12 + 4}),
    ("Schwarz, 1 of 5 applications with messages", {"schwarz": 4}),
    ("12 right-hand sides", {"rhs": 12}),
    ("12 right-hand sides, both", {"rhs": 12, "host": 0, "outer_launch": False, "sum_host": 0}),
]


TARGET_NAMES = [f"{dots(l)} on {p}" for l in TARGETS for p in GPUS]


def times(ways=Ways()):
    return [best(l, p, ways)[0] for l in TARGETS for p in GPUS]


def what_next():
    title("What would come next: microseconds per iteration and right-hand side (gain)")
    before = times()
    head("", *TARGET_NAMES)
    row("as above", *(f"{t:.0f}" for t in before))
    for name, changes in NEXT:
        cells = zip(times(Ways(**changes)), before)
        row(name, *(f"{t:.0f} ({b / t:.2f})" for t, b in cells))
    title("Faces of 16 bits in a hop of higher precision: microseconds (gain)")
    head("lattice, grid", "f64", "f32")
    for _, lattice, grid, _ in MANY:
        cells = []
        for kind in ("f64", "f32"):
            part = local(lattice, grid)
            now = hop(kind, part, grid)
            less = faces(part, grid)[0] * (FACE[kind] - FACE["f16"]) * 1e-6 / LINK
            cells.append(f"{now:.0f} → {now - less:.0f} ({now / (now - less):.2f})")
        row(f"{dots(lattice)}, {dots(grid)}", *cells)


def sensitivity():
    title("What the assumptions weigh: microseconds per iteration")
    head("", *TARGET_NAMES)
    global NET_LATENCY
    row("as above", *(f"{t:.0f}" for t in times()))
    for name, latency, changes in [
        ("latency 5 µs", 5, {}),
        ("25 GB/s", NET_LATENCY, {"net": 0.025}),
        ("20 µs for the host", NET_LATENCY, {"host": 20}),
    ]:
        kept, NET_LATENCY = NET_LATENCY, latency
        row(name, *(f"{t:.0f}" for t in times(Ways(**changes))))
        NET_LATENCY = kept


if __name__ == "__main__":
    constants()
    comparison()
    predictions()
    what_next()
    sensitivity()
