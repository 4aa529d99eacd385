"""The C interface of plaq by ctypes: structs, enums, functions, and exceptions for statuses. Generated from
interface/src/capi; do not edit.

Functions have the names and the order of arguments of include/plaq.h, with these differences:
- A status other than 0 is an exception of its class, with plaq's message.
- Results that C writes to an address (`plaq_gauge *gauge`) are returned, several as a tuple.
- Parameters and reports are structs of this module or None; a struct that is made has its defaults and takes members
  by keyword: plaq_dirac_params(kappa=0.13). Enums are also taken by name: plaq_solver_params(solver="gcr").
- Arrays that go in are sequences or NumPy arrays, complex numbers for pairs (re, im); arrays that come out are NumPy
  arrays of the host's, C-contiguous and of the right type. Arrays of fields (`data`) are arrays or addresses.
- A name that Python keeps for itself has an underscore behind it: `from_`.
- Callbacks are Python functions without the argument `user`. What one raises ends the call and is raised again
  after it; without a callback Ctrl-C ends calls that take one.
Handles are structs with an `id`; the objects of the package plaq are taken in their place.
"""

from __future__ import annotations

import ctypes as _c
from typing import Any, Callable, Optional, Union

from . import _native as _n
from ._native import (
    ArgumentError, CommunicationError, DeviceError, Enum, Error, FieldError, FileError, Handle, PhysicsError, Struct)


class InvalidArgument(ArgumentError):
    """An argument is out of its range."""
    status = 1


class NullPointer(ArgumentError):
    """A required pointer is NULL."""
    status = 2


class InvalidHandle(ArgumentError):
    """A handle is stale, foreign, destroyed or of another kind."""
    status = 3


class StructSize(ArgumentError):
    """The struct_size of a parameter struct does not fit this library."""
    status = 4


class Unsupported(ArgumentError, NotImplementedError):
    """The combination asked for does not exist."""
    status = 5


class WrongContext(ArgumentError):
    """Objects of different contexts or devices were mixed."""
    status = 6


class Busy(ArgumentError):
    """An object is being changed, or is to be changed, while another call uses it."""
    status = 8


class NotInitialised(ArgumentError):
    """A function of QUDA's interface was called outside of qudaInit and qudaFinalize."""
    status = 9


class Internal(ArgumentError):
    """A defect inside plaq was caught at the boundary."""
    status = -1


class NoDevice(DeviceError):
    """No usable accelerator was found."""
    status = 100


class DriverMissing(DeviceError):
    """The CUDA driver library is not installed."""
    status = 101


class DriverTooOld(DeviceError):
    """The CUDA driver is older than plaq needs."""
    status = 102


class NvrtcMissing(DeviceError):
    """The CUDA run-time compiler library is not installed."""
    status = 103


class CompileFailed(DeviceError):
    """A kernel did not compile."""
    status = 104


class OutOfMemory(DeviceError, MemoryError):
    """The problem does not fit the memory of the device."""
    status = 105


class CufftMissing(DeviceError):
    """NVIDIA's library for Fourier transforms is not installed."""
    status = 106


class NcclMissing(DeviceError):
    """NVIDIA's library for messages between GPUs is not installed."""
    status = 107


class DeviceLost(DeviceError):
    """The device failed; the context can only be destroyed."""
    status = -100


class ProcessGrid(CommunicationError):
    """The process grid does not fit ranks or lattice."""
    status = 200


class MpiMissing(CommunicationError):
    """Plaq's library for MPI is not installed; docs/mpi.md says how to build it."""
    status = 201


class MpiState(CommunicationError):
    """MPI does not run, is another MPI, or the communicator is null."""
    status = 202


class MpiThread(CommunicationError):
    """MPI's thread level forbids calls from this thread."""
    status = 203


class CommFailed(CommunicationError):
    """A peer was lost or a message timed out."""
    status = -200


class BadExtents(FieldError):
    """Lattice extents are odd, zero or do not match."""
    status = 300


class NotUnitary(FieldError):
    """A link is not unitary to the asked tolerance."""
    status = 301


class NotFinite(FieldError):
    """A field holds NaN or infinity."""
    status = 302


class BadLayout(FieldError):
    """An external layout is unknown or inconsistent."""
    status = 303


class FieldMismatch(FieldError):
    """Fields differ in geometry, precision, parity or count."""
    status = 304


class FileOpen(FileError):
    """A file cannot be opened or created."""
    status = 400


class FileFormat(FileError):
    """A file is not of a known format or its header is wrong."""
    status = 401


class FileTruncated(FileError):
    """A file ends before its data do."""
    status = 402


class FileChecksum(FileError):
    """A checksum in a file does not match its data."""
    status = 403


class FilePlaquette(FileError):
    """Plaquette or link trace in a file's header does not match its links."""
    status = 404


class FileExtents(FileError):
    """The lattice size in a file is not the one asked for."""
    status = 405


class FileWrite(FileError):
    """Writing a file failed; the target is left as it was."""
    status = 406


class SingularClover(PhysicsError):
    """The clover term cannot be inverted on a site."""
    status = 500


class BadParameter(PhysicsError):
    """A parameter is out of its range."""
    status = 501


class SolverBreakdown(PhysicsError):
    """A solver met NaN or infinity."""
    status = 502


class NotConverged(PhysicsError):
    """A solve that the call depends on did not reach its tolerance."""
    status = 520


class SpectralBounds(PhysicsError):
    """Eigenvalues lie outside of what a rational approximation covers."""
    status = 521


class StaleMultigrid(PhysicsError):
    """An operator has other links than multigrid was last set up or updated for."""
    status = 522


class KernelSpectrum(PhysicsError):
    """The spectrum of the overlap kernel does not allow what was asked for; the message says what to change."""
    status = 530


# ---- Library: version, messages, log ----


class plaq_log_level(Enum):
    """Levels of the log; a callback is told everything up to the level that it asked for."""
    #: Nothing (the default).
    OFF = 0
    #: Defects of plaq and lost devices.
    ERROR = 1
    #: Refused calls.
    WARN = 2
    #: What takes long: compilation, tuning, solves.
    INFO = 3
    #: Choices that the library makes on the way.
    DEBUG = 4
    #: Every call and its time.
    TRACE = 5


#: Gets one line of the log; may be called from any thread. Calls of plaq that it makes are
#: refused with PLAQ_BUSY.
#: Arguments: level, message.
plaq_log_callback = _c.CFUNCTYPE(None, _c.c_int32, _c.c_char_p, _c.c_void_p)


_plaq_version = _n.function("plaq_version", _c.c_char_p, [])


def plaq_version() -> str:
    """Gives the version of the library, "major.minor.patch"."""
    return _n.text(_plaq_version())


_plaq_last_error = _n.function("plaq_last_error", _c.c_char_p, [])


def plaq_last_error() -> str:
    """Gives the message of this thread's last failed call: function, argument, expected, found.
    The address stays the same for a thread, the text until it asks again; never NULL.
    """
    return _n.text(_plaq_last_error())


_plaq_last_error_in_words = _n.function("plaq_last_error_in_words", _c.c_char_p, [])


def plaq_last_error_in_words() -> str:
    """Gives it with the words of values and parameters that files and languages other than C use: `full`
    for PLAQ_SYSTEM_FULL, `tol` for params.tol.
    """
    return _n.text(_plaq_last_error_in_words())


_plaq_status_name = _n.function("plaq_status_name", _c.c_char_p, [_c.c_int32])


def plaq_status_name(status: int) -> str:
    """Gives the name of a status, e.g. "PLAQ_NULL_POINTER"; "unknown status" for other numbers."""
    return _n.text(_plaq_status_name(_n.int32(status, "status")))


_plaq_status_help = _n.function("plaq_status_help", _c.c_char_p, [_c.c_int32])


def plaq_status_help(status: int) -> str:
    """Says what a status means, in a sentence."""
    return _n.text(_plaq_status_help(_n.int32(status, "status")))


_plaq_log_set = _n.function("plaq_log_set", _c.c_int32, [plaq_log_callback, _c.c_void_p, _c.c_int32])


def plaq_log_set(callback: Optional[Callable[..., Any]], level: Union[int, str, plaq_log_level]) -> None:
    """Sends the log up to `level` to the host; NULL or PLAQ_LOG_OFF makes plaq quiet again.
    One callback per process.
    """
    callback_ = _n.callback(plaq_log_callback, callback)
    _n.watched(_plaq_log_set, callback_, (), callback_.c, None, _n.enum(plaq_log_level, level, "level"))


# ---- Context: a device and everything on it ----


class plaq_context(Handle):
    """A device with its memory and threads. Fields and operators belong to a context and
    die with it; several contexts live side by side.
    """


class plaq_device(Enum):
    """Kind of device that a context computes on."""
    #: CUDA if there is a usable GPU, else the CPU.
    AUTO = 0
    #: The CPU.
    CPU = 1
    #: An NVIDIA GPU, by CUDA.
    CUDA = 2


class plaq_communicator(Enum):
    """Ways in which a host passes the ranks that share a lattice (docs/mpi.md)."""
    #: One rank, without MPI.
    NONE = 0
    #: The address of an MPI_Comm, in `communicator`.
    C = 1
    #: The integer that Fortran has for it, in `communicator_fortran`.
    FORTRAN = 2
    #: MPI_COMM_WORLD.
    WORLD = 3


#: The rank at four coordinates of the process grid.
#: Arguments: coords.
plaq_rank_callback = _c.CFUNCTYPE(_c.c_int32, _c.POINTER(_c.c_int32), _c.c_void_p)


class plaq_context_params(Struct):
    """Parameters of a context.

    Members:
      device: Device that the context computes on. Default: PLAQ_DEVICE_AUTO.
      ordinal: Number of the GPU, counted from 0; -1: the rank's number on its node, modulo the visible ones.
        0 or more. Default: -1.
      threads: Threads of the CPU back end; 0: as many as this process may use, shared with the ranks
        that may use the same cores. 0 to 4096. Default: 0.
      communicator_kind: How the ranks are passed. Default: PLAQ_COMMUNICATOR_NONE.
      communicator: Address of the host's MPI_Comm, which is duplicated. Default: NULL.
      communicator_fortran: Communicator as Fortran has it, an integer. Default: 0.
      reproducible: Sums over ranks have the same bits in every run with the same process grid. 0 or 1.
        Default: 0.
      grid: Ranks in x, y, z, t; zeros: all in t. Default: 0, 0, 0, 0.
      rank_table: Rank of every place of the grid, x fastest; NULL: place n is rank n, unless
        `rank_callback` says otherwise. Default: NULL.
      rank_callback: Function that says the rank at every place of the grid; NULL: `rank_table` says it.
        Default: NULL.
      rank_user: Address that `rank_callback` gets. Default: NULL.
      timeout: Seconds that a rank waits for another; 0: PLAQ_COMM_TIMEOUT, or 300. Default: 0.
      memory_limit: Most bytes that the fields of this context may hold on the device; 0: no limit but
        the device's memory. What would exceed it is OUT_OF_MEMORY. 0 or more. Default: 0.
      stream: The CUstream (cudaStream_t) on which the host works on device arrays that it passes:
        calls come after what is on it. NULL: the legacy default stream. Frameworks with streams
        of their own (CuPy, PyTorch, JAX) have to name theirs, here or in plaq_layout_params.
        Default: NULL.
    """
    struct_size: int
    device: Any
    ordinal: int
    threads: int
    communicator_kind: Any
    communicator: Any
    communicator_fortran: int
    reproducible: int
    grid: Any
    rank_table: Any
    rank_callback: Any
    rank_user: Any
    timeout: float
    memory_limit: int
    stream: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("device", _c.c_int32),
        ("ordinal", _c.c_int32),
        ("threads", _c.c_int32),
        ("communicator_kind", _c.c_int32),
        ("communicator", _c.c_void_p),
        ("communicator_fortran", _c.c_int32),
        ("reproducible", _c.c_int32),
        ("grid", _c.c_int32 * 4),
        ("rank_table", _c.POINTER(_c.c_int32)),
        ("rank_callback", plaq_rank_callback),
        ("rank_user", _c.c_void_p),
        ("timeout", _c.c_double),
        ("memory_limit", _c.c_int64),
        ("stream", _c.c_void_p),
    ]
    _enums_ = {"device": plaq_device, "communicator_kind": plaq_communicator}
    _init_ = "plaq_context_params_init"


_plaq_context_params_init = _n.function("plaq_context_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_context_params_init(params: plaq_context_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_context_params_init, _n.struct(plaq_context_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_context_report(Struct):
    """Description of a context. Sizes are in bytes.

    Members:
      device: PLAQ_DEVICE_CPU or PLAQ_DEVICE_CUDA.
      lanes: Most virtual nodes (SIMD lanes) that a lattice is divided over.
      memory_total: Memory of the device in bytes.
      memory_free: Bytes of that memory that no program holds.
      memory_used: Bytes that the fields of this context hold now.
      memory_peak: Most bytes that the fields of this context held so far.
      ranks: Number of ranks.
      rank: Number of this rank, counted from 0.
      grid: Number of ranks in x, y, z, t.
      coords: Coordinates of this rank in that grid.
    """
    struct_size: int
    device: Any
    lanes: int
    memory_total: int
    memory_free: int
    memory_used: int
    memory_peak: int
    ranks: int
    rank: int
    grid: Any
    coords: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("device", _c.c_int32),
        ("lanes", _c.c_int32),
        ("memory_total", _c.c_int64),
        ("memory_free", _c.c_int64),
        ("memory_used", _c.c_int64),
        ("memory_peak", _c.c_int64),
        ("ranks", _c.c_int32),
        ("rank", _c.c_int32),
        ("grid", _c.c_int32 * 4),
        ("coords", _c.c_int32 * 4),
    ]
    _enums_ = {"device": plaq_device}
    _init_ = "plaq_context_report_init"


_plaq_context_report_init = _n.function("plaq_context_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_context_report_init(report: plaq_context_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_context_report_init, _n.struct(plaq_context_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_context_create = _n.function("plaq_context_create", _c.c_int32, [_c.c_void_p, _c.c_void_p])


def plaq_context_create(params: Optional[plaq_context_params] = None) -> plaq_context:
    """Makes a context; all ranks of its communicator do so together. Errors: NO_DEVICE,
    DRIVER_MISSING, DRIVER_TOO_OLD, NVRTC_MISSING, PROCESS_GRID, MPI_MISSING, MPI_STATE,
    MPI_THREAD, COMM_FAILED.
    """
    context_ = plaq_context()
    _n.call(_plaq_context_create, _n.struct(plaq_context_params, params, "params"), _c.byref(context_))
    return context_


_plaq_context_destroy = _n.function("plaq_context_destroy", _c.c_int32, [plaq_context])


def plaq_context_destroy(context: Any) -> None:
    """Destroys a context and all its objects. The zero handle is accepted."""
    _n.call(_plaq_context_destroy, _n.handle(plaq_context, context, "context"))


_plaq_context_name = _n.function("plaq_context_name", _c.c_int32, [plaq_context, _c.c_void_p, _c.c_int64])


def plaq_context_name(context: Any, capacity: int = 65536) -> str:
    """Writes the name of the device, e.g. "NVIDIA H200", into a buffer of `capacity` bytes."""
    name_ = _c.create_string_buffer(capacity)
    _n.call(_plaq_context_name, _n.handle(plaq_context, context, "context"), name_, _n.int64(capacity, "capacity"))
    return _n.text(name_.value)


_plaq_context_describe = _n.function("plaq_context_describe", _c.c_int32, [plaq_context, _c.c_void_p])


def plaq_context_describe(context: Any, report: Optional[plaq_context_report] = None) -> None:
    """Describes the device, its memory and the ranks of a context."""
    _n.call(_plaq_context_describe, _n.handle(plaq_context, context, "context"), _n.struct(plaq_context_report, report, "report"))


_plaq_context_reset_peak = _n.function("plaq_context_reset_peak", _c.c_int32, [plaq_context])


def plaq_context_reset_peak(context: Any) -> None:
    """Lets memory_peak start again from memory_used."""
    _n.call(_plaq_context_reset_peak, _n.handle(plaq_context, context, "context"))


_plaq_context_synchronize = _n.function("plaq_context_synchronize", _c.c_int32, [plaq_context])


def plaq_context_synchronize(context: Any) -> None:
    """Waits until everything asked of the device is done."""
    _n.call(_plaq_context_synchronize, _n.handle(plaq_context, context, "context"))


# ---- Fields: what they share ----


class plaq_subset(Enum):
    """Sites that a field has: parity is (x + y + z + t) mod 2."""
    #: All sites.
    FULL = 0
    #: Sites of parity 0.
    EVEN = 1
    #: Sites of parity 1.
    ODD = 2


class plaq_precision(Enum):
    """Storage precision; the number is the bytes of a real. Arithmetic is in double for double fields, in single
    otherwise; sums are in double.
    """
    #: 64-bit floating point.
    DOUBLE = 8
    #: 32-bit floating point.
    SINGLE = 4
    #: 16-bit fixed point, for spinors with one norm per site.
    HALF = 2
    #: 8-bit fixed point: of multigrid's coarse links alone, `link_precision` of plaq_multigrid_params.
    QUARTER = 1


# ---- Layouts: arrays of the host program ----


class plaq_location(Enum):
    """Memory that the pointers point to."""
    #: Memory of the host.
    HOST = 0
    #: Memory of the context's device.
    DEVICE = 1


class plaq_basis(Enum):
    """Gamma matrices that spinors of an array refer to (docs/layouts.md)."""
    #: DeGrand-Rossi basis, of MILC, Chroma and QUDA.
    DEGRAND_ROSSI = 0
    #: UKQCD basis, non-relativistic: gamma_t is diagonal.
    UKQCD = 1
    #: Chiral basis of openQCD.
    CHIRAL = 2
    #: Dirac-Pauli basis: gamma_t is diagonal.
    DIRAC_PAULI = 3


class plaq_order(Enum):
    """Order of an array's indices; docs/layouts.md has the formulas. Complex numbers are
    (re, im), colour matrices row-major unless it says otherwise.
    """
    #: Site (x fastest), then direction, row, column, or spin, colour.
    LEXICOGRAPHIC = 0
    #: Links: four arrays, even sites, then odd. Spinors: spin inside colour.
    QDP = 1
    #: Sites fastest; links in four arrays, clover blocks in two.
    QDPJIT = 2
    #: Even sites, then odd; four links on a site, or spin, colour (QUDA_DIRAC_ORDER), or
    #: packed clover blocks (QUDA_PACKED_CLOVER_ORDER).
    MILC = 3
    #: Links inside an array of structs: site_bytes, site_offset.
    MILC_SITE = 4
    #: Links with columns outside rows; spinors with odd sites first.
    CPS = 5
    #: Links of BQCD.
    BQCD = 6
    #: Links of the TIFR code.
    TIFR = 7
    #: TIFR's order with two slices of halo on both sides of z.
    TIFR_PADDED = 8
    #: openQCD; its spinors are in PLAQ_BASIS_CHIRAL.
    OPENQCD = 9
    #: Links in cuLGT's StandardPattern.
    CULGT_STANDARD = 10
    #: Links in cuLGT's GpuPattern.
    CULGT_GPU = 11
    #: Links in cuLGT's GpuPatternTimeslice.
    CULGT_TIMESLICE = 12
    #: Links in cuLGT's GpuPatternParityPriority.
    CULGT_PARITY = 13
    #: Links in cuLGT's GpuPatternTimesliceParityPriority.
    CULGT_TIMESLICE_PARITY = 14


class plaq_layout_params(Struct):
    """An array of the host.

    Members:
      order: Order of the array's indices. Default: PLAQ_ORDER_LEXICOGRAPHIC.
      precision: Precision of its numbers, double or single. Default: PLAQ_PRECISION_DOUBLE.
      location: Memory that the array is in. Default: PLAQ_LOCATION_HOST.
      basis: Gamma basis of spinors. Default: PLAQ_BASIS_DEGRAND_ROSSI.
      arrays: 0: `data` is the array, several arrays (QDP links, right-hand sides) one after the
        other in it. n: `data` is the address of n pointers to arrays. Default: 0.
      project: Links are put on the group after the check. 0 or 1. Default: 0.
      tolerance: Largest violation of unitarity that loading accepts; 0: 1e-10 in double, 1e-5 in
        single. Negative: nothing is checked, also not for NaN. Default: 0.
      scale: The array holds scale[mu] times the links, e.g. an anisotropy. Default: 1, 1, 1, 1.
      boundary: The array's links that cross the boundary carry exp(i pi boundary[mu]).
        Default: 0, 0, 0, 0.
      site_bytes: Bytes of a site's struct, with PLAQ_ORDER_MILC_SITE. 0 or more. Default: 0.
      site_offset: Bytes that precede the links in that struct. 0 or more. Default: 0.
      stream: Device arrays: the CUstream (cudaStream_t) on which the host works on them; the call
        comes after what is on it. NULL: that of plaq_context_params; 1: the legacy default
        stream; 2: the calling thread's. The call itself returns when its work is done.
        Default: NULL.
    """
    struct_size: int
    order: Any
    precision: Any
    location: Any
    basis: Any
    arrays: int
    project: int
    tolerance: float
    scale: Any
    boundary: Any
    site_bytes: int
    site_offset: int
    stream: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("order", _c.c_int32),
        ("precision", _c.c_int32),
        ("location", _c.c_int32),
        ("basis", _c.c_int32),
        ("arrays", _c.c_int32),
        ("project", _c.c_int32),
        ("tolerance", _c.c_double),
        ("scale", _c.c_double * 4),
        ("boundary", _c.c_double * 4),
        ("site_bytes", _c.c_int64),
        ("site_offset", _c.c_int64),
        ("stream", _c.c_void_p),
    ]
    _enums_ = {"order": plaq_order, "precision": plaq_precision, "location": plaq_location, "basis": plaq_basis}
    _init_ = "plaq_layout_params_init"


_plaq_layout_params_init = _n.function("plaq_layout_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_layout_params_init(params: plaq_layout_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_layout_params_init, _n.struct(plaq_layout_params, params, "params"), _n.int64(struct_size, "struct_size"))


# ---- Gauge fields ----


class plaq_gauge(Handle):
    """Links U_mu(x) from x to x + mu, mu = x, y, z, t; periodic: boundary phases belong to
    operators. Operators keep the links that they were made with.
    """


class plaq_storage(Enum):
    """Real numbers of a link that are stored; this also fixes the gauge group."""
    #: SU(3), whole matrices.
    SU3_18 = 18
    #: SU(3), two rows.
    SU3_12 = 12
    #: SU(3), eight numbers: two unit vectors by stereographic projection.
    SU3_8 = 8
    #: SU(3), eight angles: slower.
    SU3_8_ANGLES = 9
    #: SU(2), a0 + i a.sigma.
    SU2 = 4


class plaq_smearing(Enum):
    """Kinds of link smearing."""
    #: Projection of (1 - alpha) U + alpha / (2 (d - 1)) (sum of staples); alpha[0].
    APE = 0
    #: exp(i Q) U, i Q the algebra part of rho (sum of staples) U^dagger; rho = alpha[0].
    STOUT = 1
    #: Three levels inside of hypercubes; alpha[0..2], directions 15. In three directions two levels inside of
    #: cubes; alpha[1] and alpha[2].
    HYP = 2
    #: Stout, of (5 - 2 epsilon) / 3 times the staples less (1 - epsilon) / 12 times those of 1 x 2 and 2 x 1
    #: rectangles; rho = alpha[0], epsilon = alpha[1], -10 to 10.
    OVERIMPROVED = 3


class plaq_boundary_time(Enum):
    """Boundaries of the lattice in time, with N_t stored slices x0 = 0 .. N_t - 1."""
    #: No links beyond the slices 0 and N_t - 1, on which quarks vanish: open boundaries (Luescher, Schaefer, JHEP
    #: 07 (2011) 036). Temporal links of the last slice do not exist and are zero.
    OPEN = 1
    #: Spatial links of the slices 0 and N_t stand still, and quarks vanish on these: the Schroedinger functional
    #: (Luescher, Narayanan, Weisz, Wolff, Nucl. Phys. B 384 (1992) 168). Slice N_t is not stored.
    SF = 2
    #: Open at slice 0, and at N_t as the Schroedinger functional (Luescher, JHEP 06 (2014) 105).
    OPEN_SF = 3
    #: Periodic.
    PERIODIC = 4


class plaq_gauge_smear_params(Struct):
    """Link smearing.

    Members:
      kind: Kind of smearing. Default: PLAQ_SMEARING_STOUT.
      steps: Steps of smearing. 0 to 100000. Default: 1.
      directions: Links of these directions (bit mu) change, staples lie in planes of these; 7: space, 15: all.
        0 or more. Default: 15.
      alpha: Parameters of the kind, 0 to 1 where it says nothing else. The first must be set.
    """
    struct_size: int
    kind: Any
    steps: int
    directions: int
    alpha: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("kind", _c.c_int32),
        ("steps", _c.c_int32),
        ("directions", _c.c_int32),
        ("alpha", _c.c_double * 3),
    ]
    _enums_ = {"kind": plaq_smearing}
    _init_ = "plaq_gauge_smear_params_init"


_plaq_gauge_smear_params_init = _n.function("plaq_gauge_smear_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_gauge_smear_params_init(params: plaq_gauge_smear_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_gauge_smear_params_init, _n.struct(plaq_gauge_smear_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_gauge_params(Struct):
    """Shape of a gauge field.

    Members:
      extents: Sites of this rank in x, y, z, t; even numbers, the same on all ranks. Must be
        set.
      precision: Precision of the links. Default: PLAQ_PRECISION_DOUBLE.
      storage: Storage of the links, which fixes the gauge group. Default: PLAQ_STORAGE_SU3_18.
      boundary_time: Boundaries of the links in time; 0: periodic. Default: 0.
      phi: Angles of the spatial links exp(i diag(phi) / L_k) of slice 0, of PLAQ_BOUNDARY_TIME_SF: three with the
        sum 0. Default: not set (NaN).
      phi_prime: Angles of those of slice N_t, of PLAQ_BOUNDARY_TIME_SF and PLAQ_BOUNDARY_TIME_OPEN_SF. Default: not
        set (NaN).
    """
    struct_size: int
    extents: Any
    precision: Any
    storage: Any
    boundary_time: Any
    phi: Any
    phi_prime: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("extents", _c.c_int32 * 4),
        ("precision", _c.c_int32),
        ("storage", _c.c_int32),
        ("boundary_time", _c.c_int32),
        ("phi", _c.c_double * 3),
        ("phi_prime", _c.c_double * 3),
    ]
    _enums_ = {"precision": plaq_precision, "storage": plaq_storage, "boundary_time": plaq_boundary_time}
    _init_ = "plaq_gauge_params_init"


_plaq_gauge_params_init = _n.function("plaq_gauge_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_gauge_params_init(params: plaq_gauge_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_gauge_params_init, _n.struct(plaq_gauge_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_gauge_report(Struct):
    """Shape of a gauge field that exists.

    Members:
      extents: Sites of this rank.
      precision: Precision of the links.
      storage: Storage of the links.
      bytes: Device memory of the links.
      boundary_time: Boundaries of the links in time.
      phi: Angles of the spatial links of slice 0 that stand still; NaN where none do.
      phi_prime: Angles of those of slice N_t.
    """
    struct_size: int
    extents: Any
    precision: Any
    storage: Any
    bytes: int
    boundary_time: Any
    phi: Any
    phi_prime: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("extents", _c.c_int32 * 4),
        ("precision", _c.c_int32),
        ("storage", _c.c_int32),
        ("bytes", _c.c_int64),
        ("boundary_time", _c.c_int32),
        ("phi", _c.c_double * 3),
        ("phi_prime", _c.c_double * 3),
    ]
    _enums_ = {"precision": plaq_precision, "storage": plaq_storage, "boundary_time": plaq_boundary_time}
    _init_ = "plaq_gauge_report_init"


_plaq_gauge_report_init = _n.function("plaq_gauge_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_gauge_report_init(report: plaq_gauge_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_gauge_report_init, _n.struct(plaq_gauge_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_gauge_create = _n.function("plaq_gauge_create", _c.c_int32, [plaq_context, _c.c_void_p, _c.c_void_p])


def plaq_gauge_create(context: Any, params: Optional[plaq_gauge_params] = None) -> plaq_gauge:
    """Makes a gauge field of unspecified links.
    Errors: BAD_EXTENTS, OUT_OF_MEMORY, INVALID_ARGUMENT.
    """
    gauge_ = plaq_gauge()
    _n.call(_plaq_gauge_create, _n.handle(plaq_context, context, "context"), _n.struct(plaq_gauge_params, params, "params"), _c.byref(gauge_))
    return gauge_


_plaq_gauge_destroy = _n.function("plaq_gauge_destroy", _c.c_int32, [plaq_gauge])


def plaq_gauge_destroy(gauge: Any) -> None:
    """Destroys a gauge field; operators made with it go on. The zero handle is accepted."""
    _n.call(_plaq_gauge_destroy, _n.handle(plaq_gauge, gauge, "gauge"))


_plaq_gauge_describe = _n.function("plaq_gauge_describe", _c.c_int32, [plaq_gauge, _c.c_void_p])


def plaq_gauge_describe(gauge: Any, report: Optional[plaq_gauge_report] = None) -> None:
    """Describes the shape and size of a gauge field."""
    _n.call(_plaq_gauge_describe, _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_gauge_report, report, "report"))


_plaq_gauge_smear = _n.function("plaq_gauge_smear", _c.c_int32, [plaq_gauge, _c.c_void_p])


def plaq_gauge_smear(gauge: Any, params: Optional[plaq_gauge_smear_params] = None) -> None:
    """Smears the links of an SU(3) field; those projected to SU(3) are the unitary factor of the
    polar decomposition with determinant 1. On failure the old ones stay.
    Errors: BAD_PARAMETER, UNSUPPORTED, OUT_OF_MEMORY.
    """
    _n.call(_plaq_gauge_smear, _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_gauge_smear_params, params, "params"))


_plaq_gauge_copy = _n.function("plaq_gauge_copy", _c.c_int32, [plaq_gauge, plaq_gauge])


def plaq_gauge_copy(from_: Any, to: Any) -> None:
    """Copies the links of `from` with their boundaries in time into `to`, whose own boundaries are given up; precision and
    storage may differ. Errors: FIELD_MISMATCH for another lattice or group.
    """
    _n.call(_plaq_gauge_copy, _n.handle(plaq_gauge, from_, "from_"), _n.handle(plaq_gauge, to, "to"))


_plaq_gauge_load = _n.function("plaq_gauge_load", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p])


def plaq_gauge_load(gauge: Any, layout: Optional[plaq_layout_params], data: Any) -> None:
    """Loads links from the host's array; on failure the old ones stay. Errors: NOT_UNITARY, NOT_FINITE (naming
    the link), BAD_LAYOUT.
    """
    _n.call(_plaq_gauge_load, _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_layout_params, layout, "layout"), _n.address(data, "data"))


_plaq_gauge_save = _n.function("plaq_gauge_save", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p])


def plaq_gauge_save(gauge: Any, layout: Optional[plaq_layout_params], data: Any) -> None:
    """Saves the links into the host's array."""
    _n.call(_plaq_gauge_save, _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_layout_params, layout, "layout"), _n.address(data, "data"))


# ---- Gauge configurations in files ----


class plaq_file_warning(Enum):
    """Faults of a file that could be read."""
    #: ILDG: the record ildg-format is no XML; SciDAC's records gave lattice and precision.
    FORMAT = 1
    #: The checksum is not that of the links (plaq_gauge_read_params.wrong_checksum).
    CHECKSUM = 2
    #: The file has no checksum: damage that keeps links unitary goes unnoticed.
    NO_CHECKSUM = 4
    #: LIME: a message has no end mark, but everything that belongs to it is there.
    MESSAGE_END = 8
    #: LIME: the last record is not filled up to a multiple of 8 bytes.
    PADDING = 16
    #: LIME: bytes follow the last record.
    TRAILING = 32
    #: Links in double precision that are unitary only to single precision.
    SINGLE_PRECISION = 64


class plaq_byte_order(Enum):
    """Orders of the bytes of a number in a file."""
    #: Least significant byte first.
    LITTLE = 1
    #: Most significant byte first.
    BIG = 2


class plaq_file_format(Enum):
    """Formats of files of gauge configurations."""
    #: NERSC archive with two rows of each link.
    NERSC = 1
    #: NERSC archive with three rows of each link.
    NERSC_3X3 = 2
    #: ILDG with SciDAC records in LIME.
    ILDG = 3
    #: MILC version 5, single precision; older versions are read, too.
    MILC = 4
    #: openQCD, double precision.
    OPENQCD = 5
    #: DDalphaAMG, double precision.
    DDALPHAAMG = 6


class plaq_file_text(Enum):
    """Texts in headers of NERSC and ILDG files, those of plaq_gauge_write_params."""
    #: Identifier of the ensemble.
    ENSEMBLE_ID = 1
    #: Label of the ensemble.
    ENSEMBLE_LABEL = 2
    #: Creator of the file.
    CREATOR = 3
    #: Date of its creation.
    DATE = 4
    #: Logical file name of ILDG.
    LFN = 5
    #: ILDG: the whole record scidac-record-xml.
    RECORD = 6


class plaq_gauge_read_params(Struct):
    """Parameters of reading a configuration, whose format and size come from the file.

    Members:
      extents: The whole lattice that the file must have; all 0: any. Default: 0, 0, 0, 0.
      precision: Precision of the links on the device. Default: PLAQ_PRECISION_DOUBLE.
      storage: Storage of the links on the device. Default: PLAQ_STORAGE_SU3_18.
      unitarity: Largest violation of unitarity accepted; 0: 1e-10 for files in double, 1e-5 in single
        precision, and, with a warning, in files in double most of whose links are coarser.
        0 or more. Default: 0.
      header: Largest difference accepted between plaquette and link trace of header and links;
        0: half a unit of the header's last decimal plus 1e-9 (links in double) or 1e-6 (single).
        0 or more. Default: 0.
      project: 1: links are put back into SU(3) after the check. 0 or 1. Default: 1.
      wrong_checksum: 1: links are read although the file's checksum is not theirs; the report's `warnings` say
        so. For files that were changed after they were written, and are known to be good.
        0 or 1. Default: 0.
      boundary_time: Boundaries of the links in time; 0: open for files of openQCD whose last slice has temporal links that
        are all exactly zero, else periodic. Default: 0.
      phi: Angles of the spatial links exp(i diag(phi) / L_k) of slice 0, of PLAQ_BOUNDARY_TIME_SF: three with the
        sum 0. Default: not set (NaN).
      phi_prime: Angles of those of slice N_t, of PLAQ_BOUNDARY_TIME_SF and PLAQ_BOUNDARY_TIME_OPEN_SF. Default: not
        set (NaN).
    """
    struct_size: int
    extents: Any
    precision: Any
    storage: Any
    unitarity: float
    header: float
    project: int
    wrong_checksum: int
    boundary_time: Any
    phi: Any
    phi_prime: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("extents", _c.c_int32 * 4),
        ("precision", _c.c_int32),
        ("storage", _c.c_int32),
        ("unitarity", _c.c_double),
        ("header", _c.c_double),
        ("project", _c.c_int32),
        ("wrong_checksum", _c.c_int32),
        ("boundary_time", _c.c_int32),
        ("phi", _c.c_double * 3),
        ("phi_prime", _c.c_double * 3),
    ]
    _enums_ = {"precision": plaq_precision, "storage": plaq_storage, "boundary_time": plaq_boundary_time}
    _init_ = "plaq_gauge_read_params_init"


_plaq_gauge_read_params_init = _n.function("plaq_gauge_read_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_gauge_read_params_init(params: plaq_gauge_read_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_gauge_read_params_init, _n.struct(plaq_gauge_read_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_gauge_write_params(Struct):
    """Contents of a written file besides the links. Texts are NULL or NUL-terminated UTF-8.

    Members:
      format: Format of the file. Default: PLAQ_FILE_FORMAT_ILDG.
      byte_order: 0: the format's own; only some formats have a choice. Default: 0.
      precision: PLAQ_PRECISION_DOUBLE, PLAQ_PRECISION_SINGLE, or 0: double where the format has it.
        Default: 0.
      sequence_number: Number of the configuration in its ensemble; negative: not stated. Default: -1.
      ensemble_id: Identifier of the ensemble; NULL: not stated. Default: NULL.
      ensemble_label: Label of the ensemble; NULL: not stated. Default: NULL.
      creator: Creator of the file; NULL: not stated. Default: NULL.
      date: Date of creation; NULL: now, in UTC. Default: NULL.
      lfn: Logical file name of ILDG; NULL: none. Default: NULL.
    """
    struct_size: int
    format: Any
    byte_order: Any
    precision: Any
    sequence_number: int
    ensemble_id: Any
    ensemble_label: Any
    creator: Any
    date: Any
    lfn: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("format", _c.c_int32),
        ("byte_order", _c.c_int32),
        ("precision", _c.c_int32),
        ("sequence_number", _c.c_int64),
        ("ensemble_id", _c.c_char_p),
        ("ensemble_label", _c.c_char_p),
        ("creator", _c.c_char_p),
        ("date", _c.c_char_p),
        ("lfn", _c.c_char_p),
    ]
    _enums_ = {"format": plaq_file_format, "byte_order": plaq_byte_order, "precision": plaq_precision}
    _init_ = "plaq_gauge_write_params_init"


_plaq_gauge_write_params_init = _n.function("plaq_gauge_write_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_gauge_write_params_init(params: plaq_gauge_write_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_gauge_write_params_init, _n.struct(plaq_gauge_write_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_file_report(Struct):
    """Contents of the header of a file.

    Members:
      extents: Extents of the whole lattice.
      format: Format of the file.
      precision: Precision of the numbers in the file.
      byte_order: Byte order of the numbers in the file.
      warnings: A sum of PLAQ_FILE_WARNING_..: faults of the file that did not keep it from being read.
      sequence_number: Number of the configuration; -1: not stated.
      plaquette: Plaquette of the header, 1 for unit links; NaN: not stated.
      link_trace: Link trace of the header, 1 for unit links; NaN: not stated.
    """
    struct_size: int
    extents: Any
    format: Any
    precision: Any
    byte_order: Any
    warnings: int
    sequence_number: int
    plaquette: float
    link_trace: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("extents", _c.c_int32 * 4),
        ("format", _c.c_int32),
        ("precision", _c.c_int32),
        ("byte_order", _c.c_int32),
        ("warnings", _c.c_int32),
        ("sequence_number", _c.c_int64),
        ("plaquette", _c.c_double),
        ("link_trace", _c.c_double),
    ]
    _enums_ = {"format": plaq_file_format, "precision": plaq_precision, "byte_order": plaq_byte_order}
    _init_ = "plaq_file_report_init"


_plaq_file_report_init = _n.function("plaq_file_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_file_report_init(report: plaq_file_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_file_report_init, _n.struct(plaq_file_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_gauge_read = _n.function("plaq_gauge_read", _c.c_int32, [plaq_context, _c.c_char_p, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_gauge_read(
        context: Any,
        file: Any,
        params: Optional[plaq_gauge_read_params] = None,
        report: Optional[plaq_file_report] = None,
) -> plaq_gauge:
    """Makes a gauge field of the links of a file in any known format, which is checked: checksums, unitarity,
    plaquette of the header; nothing is made if a check fails. Errors: FILE_OPEN, FILE_FORMAT, FILE_EXTENTS,
    FILE_TRUNCATED, FILE_CHECKSUM, FILE_PLAQUETTE, NOT_UNITARY, NOT_FINITE, BAD_EXTENTS, OUT_OF_MEMORY.
    """
    gauge_ = plaq_gauge()
    _n.call(_plaq_gauge_read, _n.handle(plaq_context, context, "context"), _n.encoded(file, "file"), _n.struct(plaq_gauge_read_params, params, "params"), _c.byref(gauge_), _n.struct(plaq_file_report, report, "report"))
    return gauge_


_plaq_gauge_write = _n.function("plaq_gauge_write", _c.c_int32, [plaq_gauge, _c.c_char_p, _c.c_void_p])


def plaq_gauge_write(gauge: Any, file: Any, params: Optional[plaq_gauge_write_params] = None) -> None:
    """Writes the links to a file, which appears complete or not at all. Errors: FILE_WRITE, UNSUPPORTED."""
    _n.call(_plaq_gauge_write, _n.handle(plaq_gauge, gauge, "gauge"), _n.encoded(file, "file"), _n.struct(plaq_gauge_write_params, params, "params"))


_plaq_gauge_read_text = _n.function("plaq_gauge_read_text", _c.c_int32, [_c.c_char_p, _c.c_int32, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_gauge_read_text(file: Any, text: Union[int, str, plaq_file_text], capacity: int = 65536) -> tuple[str, int]:
    """Reads a text of a configuration's file, without its links, for the rank that asks; `found`: 0 if the
    file has none, and `value` is then empty. Errors: INVALID_ARGUMENT (`capacity` too small too),
    FILE_OPEN, FILE_FORMAT, FILE_TRUNCATED.
    """
    found_ = _c.c_int32()
    value_ = _c.create_string_buffer(capacity)
    _n.call(_plaq_gauge_read_text, _n.encoded(file, "file"), _n.enum(plaq_file_text, text, "text"), value_, _n.int64(capacity, "capacity"), _c.byref(found_))
    return _n.text(value_.value), found_.value


# ---- Spinor fields ----


class plaq_spinor(Handle):
    """Wilson spinors, 4 spins x 3 colours per site, of one or two flavours, or colour vectors, 3 colours per
    site, for one or more right-hand sides.
    """


class plaq_spinor_smear_params(Struct):
    """Gaussian (Wuppertal) smearing: psi <- [(1 + alpha H) / (1 + 2 d alpha)]^steps psi, H the sum
    over the neighbours in d directions, carried by the links.

    Members:
      alpha: Weight of the neighbours, not -1 / (2 d). It must be set.
      steps: Steps of smearing. 0 to 100000. Default: 0.
      directions: Directions of the neighbours, bit mu; 7: x, y, z. Default: 7.
      momentum: Momentum smearing: the links are U_j(x) exp(2 pi i momentum(j) / L_j), any real numbers. A quark of a hadron with
        sink phase exp(-i p x) is at its best with momentum(j) = -zeta n_j, zeta about 1/2 for mesons, p_j = 2 pi n_j / L_j; an
        antiquark, given as a quark, with +zeta n_j. Fields in single or double precision.
        Default: 0, 0, 0.
    """
    struct_size: int
    alpha: float
    steps: int
    directions: int
    momentum: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("alpha", _c.c_double),
        ("steps", _c.c_int32),
        ("directions", _c.c_int32),
        ("momentum", _c.c_double * 3),
    ]
    _init_ = "plaq_spinor_smear_params_init"


_plaq_spinor_smear_params_init = _n.function("plaq_spinor_smear_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_spinor_smear_params_init(params: plaq_spinor_smear_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_spinor_smear_params_init, _n.struct(plaq_spinor_smear_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_spinor_params(Struct):
    """Shape of a spinor field.

    Members:
      extents: Sites of this rank in x, y, z, t; even numbers, the same on all ranks. Must be
        set, here or by `gauge`.
      precision: Precision of the spinors. Default: PLAQ_PRECISION_DOUBLE.
      subset: Sites that the field has. Default: PLAQ_SUBSET_FULL.
      nrhs: Number of right-hand sides. 1 to 4096. Default: 1.
      spins: Spins of a site: 4 for spinors, 1 for colour vectors. Default: 4.
      gauge: A gauge field whose extents count where `extents` are zeros; other ones must be equal to them.
        Default: none.
      slices: Slices of a right-hand side: 1, or 2 for the spinors of a doublet of flavours. In arrays of the host
        slices are slower than sites and faster than right-hand sides. Default: 1.
    """
    struct_size: int
    extents: Any
    precision: Any
    subset: Any
    nrhs: int
    spins: int
    gauge: plaq_gauge
    slices: int
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("extents", _c.c_int32 * 4),
        ("precision", _c.c_int32),
        ("subset", _c.c_int32),
        ("nrhs", _c.c_int32),
        ("spins", _c.c_int32),
        ("gauge", plaq_gauge),
        ("slices", _c.c_int64),
    ]
    _enums_ = {"precision": plaq_precision, "subset": plaq_subset}
    _init_ = "plaq_spinor_params_init"


_plaq_spinor_params_init = _n.function("plaq_spinor_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_spinor_params_init(params: plaq_spinor_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_spinor_params_init, _n.struct(plaq_spinor_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_spinor_report(Struct):
    """Shape of a spinor field that exists.

    Members:
      extents: Sites of this rank.
      precision: Precision of the spinors.
      subset: Sites that the field has.
      nrhs: Number of right-hand sides.
      spins: Spins of a site: 4 for spinors, 1 for colour vectors.
      bytes: Device memory of the spinors.
      slices: Slices of a right-hand side: 2 for a doublet of flavours, else 1.
    """
    struct_size: int
    extents: Any
    precision: Any
    subset: Any
    nrhs: int
    spins: int
    bytes: int
    slices: int
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("extents", _c.c_int32 * 4),
        ("precision", _c.c_int32),
        ("subset", _c.c_int32),
        ("nrhs", _c.c_int32),
        ("spins", _c.c_int32),
        ("bytes", _c.c_int64),
        ("slices", _c.c_int64),
    ]
    _enums_ = {"precision": plaq_precision, "subset": plaq_subset}
    _init_ = "plaq_spinor_report_init"


_plaq_spinor_report_init = _n.function("plaq_spinor_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_spinor_report_init(report: plaq_spinor_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_spinor_report_init, _n.struct(plaq_spinor_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_spinor_create = _n.function("plaq_spinor_create", _c.c_int32, [plaq_context, _c.c_void_p, _c.c_void_p])


def plaq_spinor_create(context: Any, params: Optional[plaq_spinor_params] = None) -> plaq_spinor:
    """Makes a spinor field that is zero. Errors: BAD_EXTENTS, OUT_OF_MEMORY, INVALID_ARGUMENT."""
    spinor_ = plaq_spinor()
    _n.call(_plaq_spinor_create, _n.handle(plaq_context, context, "context"), _n.struct(plaq_spinor_params, params, "params"), _c.byref(spinor_))
    return spinor_


_plaq_spinor_destroy = _n.function("plaq_spinor_destroy", _c.c_int32, [plaq_spinor])


def plaq_spinor_destroy(spinor: Any) -> None:
    """Destroys a spinor field. The zero handle is accepted."""
    _n.call(_plaq_spinor_destroy, _n.handle(plaq_spinor, spinor, "spinor"))


_plaq_spinor_describe = _n.function("plaq_spinor_describe", _c.c_int32, [plaq_spinor, _c.c_void_p])


def plaq_spinor_describe(spinor: Any, report: Optional[plaq_spinor_report] = None) -> None:
    """Describes the shape and size of a spinor field."""
    _n.call(_plaq_spinor_describe, _n.handle(plaq_spinor, spinor, "spinor"), _n.struct(plaq_spinor_report, report, "report"))


_plaq_spinor_load = _n.function("plaq_spinor_load", _c.c_int32, [plaq_spinor, _c.c_void_p, _c.c_void_p])


def plaq_spinor_load(spinor: Any, layout: Optional[plaq_layout_params], data: Any) -> None:
    """Loads spinors from the host's array; on failure the field is as before. A field of one parity takes its
    sites. Errors: NOT_FINITE, BAD_LAYOUT.
    """
    _n.call(_plaq_spinor_load, _n.handle(plaq_spinor, spinor, "spinor"), _n.struct(plaq_layout_params, layout, "layout"), _n.address(data, "data"))


_plaq_spinor_save = _n.function("plaq_spinor_save", _c.c_int32, [plaq_spinor, _c.c_void_p, _c.c_void_p])


def plaq_spinor_save(spinor: Any, layout: Optional[plaq_layout_params], data: Any) -> None:
    """Saves the spinors into the host's array, in which sites that the field lacks stay as they are."""
    _n.call(_plaq_spinor_save, _n.handle(plaq_spinor, spinor, "spinor"), _n.struct(plaq_layout_params, layout, "layout"), _n.address(data, "data"))


_plaq_spinor_zero = _n.function("plaq_spinor_zero", _c.c_int32, [plaq_spinor])


def plaq_spinor_zero(spinor: Any) -> None:
    """Sets every number to zero."""
    _n.call(_plaq_spinor_zero, _n.handle(plaq_spinor, spinor, "spinor"))


_plaq_spinor_copy = _n.function("plaq_spinor_copy", _c.c_int32, [plaq_spinor, plaq_spinor])


def plaq_spinor_copy(from_: Any, to: Any) -> None:
    """Sets `to` to `from`; precisions may differ."""
    _n.call(_plaq_spinor_copy, _n.handle(plaq_spinor, from_, "from_"), _n.handle(plaq_spinor, to, "to"))


_plaq_spinor_axpby = _n.function("plaq_spinor_axpby", _c.c_int32, [_c.c_void_p, plaq_spinor, _c.c_void_p, plaq_spinor, _c.c_int64])


def plaq_spinor_axpby(a: Any, x: Any, b: Any, y: Any, count: int) -> None:
    """Sets y to a x + b y, with one complex (re, im) a and b per right-hand side: `count` = nrhs.
    Arrays: a[2 * count], b[2 * count].
    """
    _n.call(_plaq_spinor_axpby, _n.array(_c.c_double, a, "a", 2 * count), _n.handle(plaq_spinor, x, "x"), _n.array(_c.c_double, b, "b", 2 * count), _n.handle(plaq_spinor, y, "y"), _n.int64(count, "count"))


_plaq_spinor_smear = _n.function("plaq_spinor_smear", _c.c_int32, [plaq_spinor, plaq_gauge, _c.c_void_p])


def plaq_spinor_smear(spinor: Any, gauge: Any, params: Optional[plaq_spinor_smear_params] = None) -> None:
    """Smears every right-hand side of a field on both parities, in any precision, with
    the links of `gauge` (SU(3)); on failure the field is as before.
    Errors: BAD_PARAMETER, UNSUPPORTED, FIELD_MISMATCH, OUT_OF_MEMORY.
    """
    _n.call(_plaq_spinor_smear, _n.handle(plaq_spinor, spinor, "spinor"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_spinor_smear_params, params, "params"))


_plaq_spinor_shift = _n.function("plaq_spinor_shift", _c.c_int32, [plaq_spinor, plaq_gauge, _c.c_void_p, _c.c_int64, plaq_spinor])


def plaq_spinor_shift(y: Any, gauge: Any, steps: Any, length: int, x: Any) -> None:
    """Sets y to the covariant shift of x along a path of `length` steps, 0 to 3 forward in x, y, z, t and 7 to
    4 back: y(n) is x at the end of the path that starts at n, carried back to n by the links of `gauge`
    (SU(3)); one step forward is U_mu(n) x(n + mu). Fields are periodic, on both parities; y and x are
    different fields. Errors: BAD_PARAMETER, FIELD_MISMATCH, OUT_OF_MEMORY.
    """
    _n.call(_plaq_spinor_shift, _n.handle(plaq_spinor, y, "y"), _n.handle(plaq_gauge, gauge, "gauge"), _n.array(_c.c_int32, steps, "steps", None), _n.int64(length, "length"), _n.handle(plaq_spinor, x, "x"))


_plaq_spinor_norm2 = _n.function("plaq_spinor_norm2", _c.c_int32, [plaq_spinor, _c.c_void_p, _c.c_int64])


def plaq_spinor_norm2(x: Any, norms: Any, count: int) -> None:
    """Sums |x|^2 over sites, spin and colour for each right-hand side: `count` = nrhs.
    Arrays: norms[count].
    """
    _n.call(_plaq_spinor_norm2, _n.handle(plaq_spinor, x, "x"), _n.room(_c.c_double, norms, "norms", count), _n.int64(count, "count"))


_plaq_spinor_dot = _n.function("plaq_spinor_dot", _c.c_int32, [plaq_spinor, plaq_spinor, _c.c_void_p, _c.c_int64])


def plaq_spinor_dot(x: Any, y: Any, products: Any, count: int) -> None:
    """Sums conj(x) y over sites, spin and colour, as (re, im) for each right-hand side: `count` = nrhs.
    Arrays: products[2 * count].
    """
    _n.call(_plaq_spinor_dot, _n.handle(plaq_spinor, x, "x"), _n.handle(plaq_spinor, y, "y"), _n.room(_c.c_double, products, "products", 2 * count), _n.int64(count, "count"))


# ---- Gauge observables, random fields, quenched updates ----


class plaq_noise(Enum):
    """Components of a random spinor, independent, with average |c|^2 = 1."""
    #: 1 or -1.
    Z2 = 1
    #: 1, i, -1 or -i.
    Z4 = 2
    #: Complex normal.
    NORMAL = 3


#: Called after every sweep with the number of those done, that of all, and the time since
#: the start; a result other than 0 ends the update, and the report says so. One rank of
#: many may ask for that, or have a callback at all: all ranks stop after the same sweep.
#: Arguments: done, all, seconds.
plaq_sweep_callback = _c.CFUNCTYPE(_c.c_int32, _c.c_int64, _c.c_int64, _c.c_double, _c.c_void_p)


class plaq_heatbath_params(Struct):
    """A quenched update with weight exp(-beta sum (1 - Re tr U_munu / N)).

    Members:
      beta: Coupling beta of the Wilson action. It must be set. 0 to 1000000.
      seed: Seed of the random numbers. Default: 0.
      sweeps: Heat bath sweeps. 0 or more. Default: 1.
      overrelax: Overrelaxation sweeps after each heat bath sweep. 0 or more. Default: 4.
      first_sweep: Heat bath sweeps already done with this seed: to continue a run, next_sweep of its last report.
        0 or more. Default: 0.
      cg: Weight cG at slice 0 of links with boundaries in time: of plaquettes in an open boundary slice, which count one half
        besides, or of those between a slice whose links stand still and the next one. 0 to 100.
        Default: 1.
      cg_prime: Weight cG' at the other boundary; NaN: as cg. Default: NaN.
    """
    struct_size: int
    beta: float
    seed: int
    sweeps: int
    overrelax: int
    first_sweep: int
    cg: float
    cg_prime: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("beta", _c.c_double),
        ("seed", _c.c_int64),
        ("sweeps", _c.c_int64),
        ("overrelax", _c.c_int64),
        ("first_sweep", _c.c_int64),
        ("cg", _c.c_double),
        ("cg_prime", _c.c_double),
    ]
    _init_ = "plaq_heatbath_params_init"


_plaq_heatbath_params_init = _n.function("plaq_heatbath_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_heatbath_params_init(params: plaq_heatbath_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_heatbath_params_init, _n.struct(plaq_heatbath_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_heatbath_report(Struct):
    """Report of heat bath sweeps.

    Members:
      next_sweep: Number of the next heat bath sweep in the stream of random numbers.
      stopped: 1: the callback asked to stop.
      seconds: Seconds that the sweeps took.
    """
    struct_size: int
    next_sweep: int
    stopped: int
    seconds: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("next_sweep", _c.c_int64),
        ("stopped", _c.c_int32),
        ("seconds", _c.c_double),
    ]
    _init_ = "plaq_heatbath_report_init"


_plaq_heatbath_report_init = _n.function("plaq_heatbath_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_heatbath_report_init(report: plaq_heatbath_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_heatbath_report_init, _n.struct(plaq_heatbath_report, report, "report"), _n.int64(struct_size, "struct_size"))


class plaq_plaquette(Struct):
    """Average plaquettes Re tr U_munu / N: 1 for unit links.

    Members:
      total: All six planes.
      spatial: Planes xy, xz, yz.
      temporal: Planes xt, yt, zt.
      link_trace: Average Re tr U / N of the links themselves.
    """
    total: float
    spatial: float
    temporal: float
    link_trace: float
    _fields_ = [
        ("total", _c.c_double),
        ("spatial", _c.c_double),
        ("temporal", _c.c_double),
        ("link_trace", _c.c_double),
    ]


class plaq_complex(Struct):
    """A complex number.

    Members:
      re: Real part.
      im: Imaginary part.
    """
    re: float
    im: float
    _fields_ = [
        ("re", _c.c_double),
        ("im", _c.c_double),
    ]


class plaq_unitarity(Struct):
    """The largest violation of unitarity over all links.

    Members:
      unitary: Largest modulus of an entry of U U^dagger - 1.
      det: Largest |det U - 1|.
      site: Coordinates x, y, z, t of the link with the largest violation.
      direction: Direction of that link, 0 to 3.
    """
    unitary: float
    det: float
    site: Any
    direction: int
    _fields_ = [
        ("unitary", _c.c_double),
        ("det", _c.c_double),
        ("site", _c.c_int32 * 4),
        ("direction", _c.c_int32),
    ]


class plaq_topology(Struct):
    """Averages of the clover-leaf field strength.

    Members:
      charge: Topological charge, near an integer on smooth fields.
      energy_spatial: Average per site of 1/2 sum tr F F over the planes xy, xz and yz.
      energy_temporal: Average per site of 1/2 sum tr F F over the planes xt, yt and zt.
    """
    charge: float
    energy_spatial: float
    energy_temporal: float
    _fields_ = [
        ("charge", _c.c_double),
        ("energy_spatial", _c.c_double),
        ("energy_temporal", _c.c_double),
    ]


_plaq_gauge_plaquette = _n.function("plaq_gauge_plaquette", _c.c_int32, [plaq_gauge, _c.c_void_p])


def plaq_gauge_plaquette(gauge: Any) -> plaq_plaquette:
    """Measures the average plaquettes."""
    plaquette_ = plaq_plaquette()
    _n.call(_plaq_gauge_plaquette, _n.handle(plaq_gauge, gauge, "gauge"), _c.byref(plaquette_))
    return plaquette_


_plaq_gauge_polyakov_loop = _n.function("plaq_gauge_polyakov_loop", _c.c_int32, [plaq_gauge, _c.c_int32, _c.c_void_p])


def plaq_gauge_polyakov_loop(gauge: Any, direction: int) -> plaq_complex:
    """Measures the average over the lattice of tr prod U_mu / N along the lines in `direction` (3: time)."""
    polyakov_ = plaq_complex()
    _n.call(_plaq_gauge_polyakov_loop, _n.handle(plaq_gauge, gauge, "gauge"), _n.int32(direction, "direction"), _c.byref(polyakov_))
    return polyakov_


_plaq_gauge_topology = _n.function("plaq_gauge_topology", _c.c_int32, [plaq_gauge, _c.c_void_p])


def plaq_gauge_topology(gauge: Any) -> plaq_topology:
    """Measures topological charge and action density by a field strength F without its trace."""
    topology_ = plaq_topology()
    _n.call(_plaq_gauge_topology, _n.handle(plaq_gauge, gauge, "gauge"), _c.byref(topology_))
    return topology_


_plaq_gauge_topology_with_trace = _n.function("plaq_gauge_topology_with_trace", _c.c_int32, [plaq_gauge, _c.c_void_p])


def plaq_gauge_topology_with_trace(gauge: Any) -> plaq_topology:
    """Measures them by an F that keeps the trace of the clover leaves, as QUDA's charge does; on rough links
    charge and density differ by some per cent.
    """
    topology_ = plaq_topology()
    _n.call(_plaq_gauge_topology_with_trace, _n.handle(plaq_gauge, gauge, "gauge"), _c.byref(topology_))
    return topology_


_plaq_gauge_charge_density = _n.function("plaq_gauge_charge_density", _c.c_int32, [plaq_gauge, _c.c_int32, _c.c_void_p, _c.c_int64])


def plaq_gauge_charge_density(gauge: Any, trace: int, density: Any, sites: int) -> None:
    """Measures the topological charge of each of this rank's `sites` sites, lexicographic with x fastest,
    whose sum over all ranks is the charge: of an F without its trace, or with `trace` 1 with it.
    Arrays: density[sites].
    """
    _n.call(_plaq_gauge_charge_density, _n.handle(plaq_gauge, gauge, "gauge"), _n.int32(trace, "trace"), _n.room(_c.c_double, density, "density", sites), _n.int64(sites, "sites"))


_plaq_gauge_time_slices = _n.function("plaq_gauge_time_slices", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_gauge_time_slices(gauge: Any, plaquette: Any, clover: Any, charge: Any, slices: int) -> None:
    """Measures energy and charge of every time slice of the whole lattice, summed over space: `plaquette`, E = 2 sum
    of Re tr (1 - P), half of the plaquettes with t on either side, spatial ones of boundary slices with weight
    1/2; `clover`, E = 1/2 sum of tr F F from clover leaves; and the topological charge. All ranks get all slices.
    Arrays: plaquette[slices], clover[slices], charge[slices].
    """
    _n.call(_plaq_gauge_time_slices, _n.handle(plaq_gauge, gauge, "gauge"), _n.room(_c.c_double, plaquette, "plaquette", slices), _n.room(_c.c_double, clover, "clover", slices), _n.room(_c.c_double, charge, "charge", slices), _n.int64(slices, "slices"))


_plaq_gauge_unitarity = _n.function("plaq_gauge_unitarity", _c.c_int32, [plaq_gauge, _c.c_void_p])


def plaq_gauge_unitarity(gauge: Any) -> plaq_unitarity:
    """Measures how far the links are from the group."""
    unitarity_ = plaq_unitarity()
    _n.call(_plaq_gauge_unitarity, _n.handle(plaq_gauge, gauge, "gauge"), _c.byref(unitarity_))
    return unitarity_


_plaq_gauge_unit = _n.function("plaq_gauge_unit", _c.c_int32, [plaq_gauge])


def plaq_gauge_unit(gauge: Any) -> None:
    """Sets all links to the unit matrix."""
    _n.call(_plaq_gauge_unit, _n.handle(plaq_gauge, gauge, "gauge"))


_plaq_gauge_hot = _n.function("plaq_gauge_hot", _c.c_int32, [plaq_gauge, _c.c_int64])


def plaq_gauge_hot(gauge: Any, seed: int) -> None:
    """Draws independent links from the Haar measure; they are the same on every device and decomposition."""
    _n.call(_plaq_gauge_hot, _n.handle(plaq_gauge, gauge, "gauge"), _n.int64(seed, "seed"))


_plaq_gauge_warm = _n.function("plaq_gauge_warm", _c.c_int32, [plaq_gauge, _c.c_int64, _c.c_double])


def plaq_gauge_warm(gauge: Any, seed: int, width: float) -> None:
    """Draws links exp(i width sum_a p_a T_a) with normal p_a; 0 <= width <= 1."""
    _n.call(_plaq_gauge_warm, _n.handle(plaq_gauge, gauge, "gauge"), _n.int64(seed, "seed"), _n.real(width, "width"))


_plaq_gauge_heatbath = _n.function("plaq_gauge_heatbath", _c.c_int32, [plaq_gauge, _c.c_void_p, plaq_sweep_callback, _c.c_void_p, _c.c_void_p])


def plaq_gauge_heatbath(
        gauge: Any,
        params: Optional[plaq_heatbath_params] = None,
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_heatbath_report] = None,
) -> None:
    """Updates the links by heat bath and overrelaxation, SU(3) stored as 18 numbers or SU(2), double or
    single.
    """
    callback_ = _n.callback(plaq_sweep_callback, callback)
    _n.watched(_plaq_gauge_heatbath, callback_, (), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_heatbath_params, params, "params"), callback_.c, None, _n.struct(plaq_heatbath_report, report, "report"))


_plaq_spinor_noise = _n.function("plaq_spinor_noise", _c.c_int32, [plaq_spinor, _c.c_int32, _c.c_int64, _c.c_int32])


def plaq_spinor_noise(spinor: Any, noise: Union[int, str, plaq_noise], seed: int, first: int) -> None:
    """Sets right-hand side b to noise vector number `first` + b of `seed`."""
    _n.call(_plaq_spinor_noise, _n.handle(plaq_spinor, spinor, "spinor"), _n.enum(plaq_noise, noise, "noise"), _n.int64(seed, "seed"), _n.int32(first, "first"))


# ---- Clover terms ----


class plaq_clover(Handle):
    """Blocks A of a clover term, or their inverses: per site and chirality one hermitian
    6 x 6 matrix, row = 3 spin + colour, kappa-normalised: A = 1 + 2 kappa csw (i/4) sum sigma F.
    """


class plaq_clover_params(Struct):
    """Shape of a clover term.

    Members:
      extents: Sites of this rank in x, y, z, t; even numbers, the same on all ranks. Must be
        set, here or by `gauge`.
      precision: Precision of the blocks. Default: PLAQ_PRECISION_DOUBLE.
      gauge: A gauge field whose extents count where `extents` are zeros; other ones must be equal to them.
        Default: none.
    """
    struct_size: int
    extents: Any
    precision: Any
    gauge: plaq_gauge
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("extents", _c.c_int32 * 4),
        ("precision", _c.c_int32),
        ("gauge", plaq_gauge),
    ]
    _enums_ = {"precision": plaq_precision}
    _init_ = "plaq_clover_params_init"


_plaq_clover_params_init = _n.function("plaq_clover_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_clover_params_init(params: plaq_clover_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_clover_params_init, _n.struct(plaq_clover_params, params, "params"), _n.int64(struct_size, "struct_size"))


_plaq_clover_create = _n.function("plaq_clover_create", _c.c_int32, [plaq_context, _c.c_void_p, _c.c_void_p])


def plaq_clover_create(context: Any, params: Optional[plaq_clover_params] = None) -> plaq_clover:
    """Makes a clover term of unspecified blocks, to be loaded."""
    clover_ = plaq_clover()
    _n.call(_plaq_clover_create, _n.handle(plaq_context, context, "context"), _n.struct(plaq_clover_params, params, "params"), _c.byref(clover_))
    return clover_


_plaq_clover_destroy = _n.function("plaq_clover_destroy", _c.c_int32, [plaq_clover])


def plaq_clover_destroy(clover: Any) -> None:
    """Destroys a clover term; operators made with it go on. The zero handle is accepted."""
    _n.call(_plaq_clover_destroy, _n.handle(plaq_clover, clover, "clover"))


_plaq_clover_load = _n.function("plaq_clover_load", _c.c_int32, [plaq_clover, _c.c_void_p, _c.c_void_p])


def plaq_clover_load(clover: Any, layout: Optional[plaq_layout_params], data: Any) -> None:
    """Loads blocks from the host's array: PLAQ_ORDER_MILC (packed) or PLAQ_ORDER_QDPJIT. On failure the old
    ones stay. Errors: NOT_FINITE, BAD_LAYOUT.
    """
    _n.call(_plaq_clover_load, _n.handle(plaq_clover, clover, "clover"), _n.struct(plaq_layout_params, layout, "layout"), _n.address(data, "data"))


_plaq_clover_save = _n.function("plaq_clover_save", _c.c_int32, [plaq_clover, _c.c_void_p, _c.c_void_p])


def plaq_clover_save(clover: Any, layout: Optional[plaq_layout_params], data: Any) -> None:
    """Saves the blocks into the host's array."""
    _n.call(_plaq_clover_save, _n.handle(plaq_clover, clover, "clover"), _n.struct(plaq_layout_params, layout, "layout"), _n.address(data, "data"))


_plaq_clover_log_det = _n.function("plaq_clover_log_det", _c.c_int32, [plaq_clover, _c.c_double, _c.c_void_p])


def plaq_clover_log_det(clover: Any, twist: float, log_det: Any) -> None:
    """Measures ln |det A| on the even and on the odd sites of the whole lattice, 2 numbers; for `twist` not 0
    ln det(A^2 + twist^2) = ln |det(A + i twist gamma5)|^2, where an operator with twisted mass mu has twist
    = 2 kappa mu. A in single or double precision. Errors: SINGULAR_CLOVER, BAD_PARAMETER, UNSUPPORTED.
    Arrays: log_det[2].
    """
    _n.call(_plaq_clover_log_det, _n.handle(plaq_clover, clover, "clover"), _n.real(twist, "twist"), _n.room(_c.c_double, log_det, "log_det", 2))


_plaq_clover_det_sign = _n.function("plaq_clover_det_sign", _c.c_int32, [plaq_clover, _c.c_double, _c.c_void_p])


def plaq_clover_det_sign(clover: Any, twist: float, sign: Any) -> None:
    """Measures the signs, 1 or -1, of these two determinants: -1 where an odd number of eigenvalues of A is
    negative. Errors: as before.
    Arrays: sign[2].
    """
    _n.call(_plaq_clover_det_sign, _n.handle(plaq_clover, clover, "clover"), _n.real(twist, "twist"), _n.room(_c.c_int32, sign, "sign", 2))


# ---- Dirac operators: Wilson, clover, twisted mass ----


class plaq_dirac(Handle):
    """An operator with its own hold on links and clover term: changing the gauge field
    afterwards does not change it.
    """


class plaq_clover_form(Enum):
    """Forms of the clover term."""
    #: 4 + m + csw (i/4) sum sigma F (Sheikholeslami, Wohlert, Nucl. Phys. B 259 (1985) 572).
    TRADITIONAL = 0
    #: (4 + m) exp(csw / (4 + m) (i/4) sum sigma F), whose determinant is a constant (Francis, Fritzsch, Luscher,
    #: Rago, Comput. Phys. Commun. 255 (2020) 107355).
    EXPONENTIAL = 1


class plaq_clover_links(Enum):
    """Links that a clover term is made of."""
    #: The links of the hop.
    HOP = 0
    #: The thin links that those of the hop are smeared from (QCDSF: Cundy et al., Phys. Rev. D 79 (2009) 094507);
    #: in chains whose quarks have smearing.
    THIN = 1


class plaq_normalisation(Enum):
    """Normalisation of an operator. The symmetric P is the same in both."""
    #: M = A - kappa H, 1 - kappa H without clover term (2 kappa D).
    KAPPA = 0
    #: D = m + 4 - H/2 + ...
    MASS = 1


class plaq_system(Enum):
    """The whole lattice or a Schur complement on one parity p, q the other. Symmetric:
    1 - kappa^2 A_p^-1 H_pq A_q^-1 H_qp, which no normalisation scales; asymmetric:
    A_p - kappa^2 H_pq A_q^-1 H_qp.
    """
    #: The whole lattice.
    FULL = 0
    #: The symmetric complement on even sites.
    EVEN_SYMMETRIC = 1
    #: The symmetric complement on odd sites.
    ODD_SYMMETRIC = 2
    #: The asymmetric complement on even sites.
    EVEN_ASYMMETRIC = 3
    #: The asymmetric complement on odd sites.
    ODD_ASYMMETRIC = 4


class plaq_form(Enum):
    """An operator M or what is made of it."""
    #: M.
    M = 0
    #: M^dagger.
    MDAG = 1
    #: M^dagger M.
    MDAGM = 2
    #: M M^dagger.
    MMDAG = 3


class plaq_dirac_params(Struct):
    """A quark of Wilson type: D = m + sum_mu h_mu (1 - ...) Wilson's term, + csw (i/4) sum sigma F, + i mu gamma5.

    Members:
      normalisation: What the operator is: mass: D as above, kappa: 2 kappa D, 1 - kappa H without clover term. Solutions, shifts,
        eigenvalues and propagators follow it. Default: PLAQ_NORMALISATION_MASS.
      kappa: Hopping parameter 1 / (2 m + 2 sum_mu hop[mu]); 0: `mass` counts. One of the two must be set.
        A number above 0, to 2.
      mass: Bare mass m; ignored where kappa is not 0. Default: not set (NaN).
      csw: Sheikholeslami-Wohlert coefficient; 0: no clover term. Default: 0.
      csw_t: Its value in the planes with t; NaN: as csw. Default: NaN.
      cf: Coefficients cF of the boundary counterterm at slice 0, and cF' of that at the upper boundary, of links with
        boundaries in time: cF - 1 is added to the mass on the slice next to that where quarks vanish.
        Default: 1.
      cf_prime: cF'; NaN: as cf. Default: NaN.
      mu: Twisted mass mu. Default: 0.
      hop: Coefficient of the hop in each direction, e.g. (nu/xi, nu/xi, nu/xi, 1).
        Default: 1, 1, 1, 1.
      boundary: Boundary phases in units of pi: psi(x + L_mu) = exp(i pi boundary[mu]) psi(x); 1: antiperiodic. Outside of C
        also a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
        Default: 0, 0, 0, 1.
      precision: Precision of the operator; 0: that of the gauge field. Default: 0.
      storage: Storage of its links; 0: two rows. The clover term is made of the gauge field's.
        Default: 0.
      clover: Form of the clover term: traditional, or exponential: 4 + m + csw (i/4) sum sigma F becomes (4 + m) exp(csw /
        (4 + m) (i/4) sum sigma F), where 4 + m stands for 1 / (2 kappa).
        Default: PLAQ_CLOVER_TRADITIONAL.
      clover_links: Links that the clover term is made of: those of the hop, or the thin ones under a chain's smearing.
        Default: PLAQ_CLOVER_LINKS_HOP.
    """
    struct_size: int
    normalisation: Any
    kappa: float
    mass: float
    csw: float
    csw_t: float
    cf: float
    cf_prime: float
    mu: float
    hop: Any
    boundary: Any
    precision: Any
    storage: Any
    clover: Any
    clover_links: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("normalisation", _c.c_int32),
        ("kappa", _c.c_double),
        ("mass", _c.c_double),
        ("csw", _c.c_double),
        ("csw_t", _c.c_double),
        ("cf", _c.c_double),
        ("cf_prime", _c.c_double),
        ("mu", _c.c_double),
        ("hop", _c.c_double * 4),
        ("boundary", _c.c_double * 4),
        ("precision", _c.c_int32),
        ("storage", _c.c_int32),
        ("clover", _c.c_int32),
        ("clover_links", _c.c_int32),
    ]
    _enums_ = {"normalisation": plaq_normalisation, "precision": plaq_precision, "storage": plaq_storage, "clover": plaq_clover_form, "clover_links": plaq_clover_links}
    _old_ = {"phase": "boundary"}
    _init_ = "plaq_dirac_params_init"


_plaq_dirac_params_init = _n.function("plaq_dirac_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_dirac_params_init(params: plaq_dirac_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_dirac_params_init, _n.struct(plaq_dirac_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_dirac_report(Struct):
    """An operator that exists.

    Members:
      kappa: Hopping parameter.
      mass: Bare mass.
      flops: Floating-point operations of one application to one right-hand side.
      bytes: Compulsory bytes of one application to one right-hand side.
      precision: Precision of the operator.
      storage: Storage of its links.
    """
    struct_size: int
    kappa: float
    mass: float
    flops: float
    bytes: float
    precision: Any
    storage: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("kappa", _c.c_double),
        ("mass", _c.c_double),
        ("flops", _c.c_double),
        ("bytes", _c.c_double),
        ("precision", _c.c_int32),
        ("storage", _c.c_int32),
    ]
    _enums_ = {"precision": plaq_precision, "storage": plaq_storage}
    _init_ = "plaq_dirac_report_init"


_plaq_dirac_report_init = _n.function("plaq_dirac_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_dirac_report_init(report: plaq_dirac_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_dirac_report_init, _n.struct(plaq_dirac_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_dirac_create = _n.function("plaq_dirac_create", _c.c_int32, [plaq_context, plaq_gauge, _c.c_void_p, _c.c_void_p])


def plaq_dirac_create(context: Any, gauge: Any, params: Optional[plaq_dirac_params] = None) -> plaq_dirac:
    """Makes an operator on the links of `gauge` (SU(3), in single or double precision if
    there is a clover term). Where the clover term has no inverse on a site, what takes that is
    SINGULAR_CLOVER: even-odd systems and solves by them, forces. Errors: BAD_PARAMETER, OUT_OF_MEMORY.
    """
    dirac_ = plaq_dirac()
    _n.call(_plaq_dirac_create, _n.handle(plaq_context, context, "context"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_dirac_params, params, "params"), _c.byref(dirac_))
    return dirac_


_plaq_dirac_create_thin = _n.function("plaq_dirac_create_thin", _c.c_int32, [plaq_context, plaq_gauge, plaq_gauge, _c.c_void_p, _c.c_void_p])


def plaq_dirac_create_thin(
        context: Any,
        gauge: Any,
        thin: Any,
        params: Optional[plaq_dirac_params] = None,
) -> plaq_dirac:
    """Makes an operator whose hops have the links of `gauge`, smeared ones, and whose clover term is made of `thin`,
    the links that they are smeared from, on the same lattice and in the same precision; clover_links is then
    PLAQ_CLOVER_LINKS_THIN, whatever `params` say. Errors: as of plaq_dirac_create; FIELD_MISMATCH.
    """
    dirac_ = plaq_dirac()
    _n.call(_plaq_dirac_create_thin, _n.handle(plaq_context, context, "context"), _n.handle(plaq_gauge, gauge, "gauge"), _n.handle(plaq_gauge, thin, "thin"), _n.struct(plaq_dirac_params, params, "params"), _c.byref(dirac_))
    return dirac_


_plaq_dirac_create_with_clover = _n.function("plaq_dirac_create_with_clover", _c.c_int32, [plaq_context, plaq_gauge, _c.c_void_p, plaq_clover, plaq_clover, _c.c_void_p])


def plaq_dirac_create_with_clover(
        context: Any,
        gauge: Any,
        params: Optional[plaq_dirac_params],
        clover: Any,
        inverse: Any = None,
) -> plaq_dirac:
    """Makes an operator with a clover term A of the host in place of the one made of the links, in the
    precision of the gauge field; csw is not used. `inverse` is A^-1, for mu other than 0 or the zero handle
    it is computed.
    """
    dirac_ = plaq_dirac()
    _n.call(_plaq_dirac_create_with_clover, _n.handle(plaq_context, context, "context"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_dirac_params, params, "params"), _n.handle(plaq_clover, clover, "clover"), _n.handle(plaq_clover, inverse, "inverse"), _c.byref(dirac_))
    return dirac_


_plaq_dirac_create_doublet = _n.function("plaq_dirac_create_doublet", _c.c_int32, [plaq_context, plaq_gauge, _c.c_void_p, _c.c_double, _c.c_void_p])


def plaq_dirac_create_doublet(
        context: Any,
        gauge: Any,
        params: Optional[plaq_dirac_params],
        epsilon: float,
) -> plaq_dirac:
    """Makes the operator of two twisted flavours whose masses differ, M + i mu gamma5 tau3 - epsilon tau1 with
    the M of `params` without its mu. Vectors have 2 slices. Errors: as of plaq_dirac_create.
    """
    dirac_ = plaq_dirac()
    _n.call(_plaq_dirac_create_doublet, _n.handle(plaq_context, context, "context"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_dirac_params, params, "params"), _n.real(epsilon, "epsilon"), _c.byref(dirac_))
    return dirac_


_plaq_dirac_update = _n.function("plaq_dirac_update", _c.c_int32, [plaq_dirac, plaq_gauge])


def plaq_dirac_update(dirac: Any, gauge: Any) -> None:
    """Puts the links of `gauge` into the operator, its clover term and its solvers, in the memory
    that they have: nothing is allocated, compiled or tuned again where `gauge` is in the
    operator's precision and stored as 18 or 12 numbers. `gauge` has the lattice of the
    operator. Errors: FIELD_MISMATCH; UNSUPPORTED for a clover term of the host or of thin links.
    """
    _n.call(_plaq_dirac_update, _n.handle(plaq_dirac, dirac, "dirac"), _n.handle(plaq_gauge, gauge, "gauge"))


_plaq_dirac_destroy = _n.function("plaq_dirac_destroy", _c.c_int32, [plaq_dirac])


def plaq_dirac_destroy(dirac: Any) -> None:
    """Destroys an operator. The zero handle is accepted."""
    _n.call(_plaq_dirac_destroy, _n.handle(plaq_dirac, dirac, "dirac"))


_plaq_dirac_describe = _n.function("plaq_dirac_describe", _c.c_int32, [plaq_dirac, _c.c_void_p])


def plaq_dirac_describe(dirac: Any, report: Optional[plaq_dirac_report] = None) -> None:
    """Describes parameters and cost of an operator."""
    _n.call(_plaq_dirac_describe, _n.handle(plaq_dirac, dirac, "dirac"), _n.struct(plaq_dirac_report, report, "report"))


_plaq_dirac_clover = _n.function("plaq_dirac_clover", _c.c_int32, [plaq_dirac, _c.c_void_p])


def plaq_dirac_clover(dirac: Any) -> plaq_clover:
    """Gives a new handle to the clover term A of an operator that has one. Errors: UNSUPPORTED if it has none;
    SINGULAR_CLOVER.
    """
    clover_ = plaq_clover()
    _n.call(_plaq_dirac_clover, _n.handle(plaq_dirac, dirac, "dirac"), _c.byref(clover_))
    return clover_


_plaq_dirac_clover_inverse = _n.function("plaq_dirac_clover_inverse", _c.c_int32, [plaq_dirac, _c.c_void_p])


def plaq_dirac_clover_inverse(dirac: Any) -> plaq_clover:
    """Gives a new handle to A^-1 of an operator that has a clover term A and no twist. Errors: UNSUPPORTED if
    it has none; SINGULAR_CLOVER.
    """
    inverse_ = plaq_clover()
    _n.call(_plaq_dirac_clover_inverse, _n.handle(plaq_dirac, dirac, "dirac"), _c.byref(inverse_))
    return inverse_


_plaq_dirac_apply = _n.function("plaq_dirac_apply", _c.c_int32, [plaq_dirac, _c.c_int32, _c.c_int32, plaq_spinor, plaq_spinor])


def plaq_dirac_apply(
        dirac: Any,
        system: Union[int, str, plaq_system],
        form: Union[int, str, plaq_form],
        y: Any,
        x: Any,
) -> None:
    """Sets y to M x, or another plaq_form of it, for a plaq_system. Fields have the operator's precision and
    the system's subset; y and x are different fields.
    """
    _n.call(_plaq_dirac_apply, _n.handle(plaq_dirac, dirac, "dirac"), _n.enum(plaq_system, system, "system"), _n.enum(plaq_form, form, "form"), _n.handle(plaq_spinor, y, "y"), _n.handle(plaq_spinor, x, "x"))


_plaq_dirac_hop = _n.function("plaq_dirac_hop", _c.c_int32, [plaq_dirac, _c.c_int32, _c.c_int32, plaq_spinor, plaq_spinor])


def plaq_dirac_hop(dirac: Any, parity: int, dagger: int, y: Any, x: Any) -> None:
    """Sets y to H_pq x, the hopping term from parity 1 - p to p = `parity`; dagger: 0 or 1. Fields hold their
    parity or the whole lattice; of `y` only parity p is written.
    """
    _n.call(_plaq_dirac_hop, _n.handle(plaq_dirac, dirac, "dirac"), _n.int32(parity, "parity"), _n.int32(dagger, "dagger"), _n.handle(plaq_spinor, y, "y"), _n.handle(plaq_spinor, x, "x"))


# ---- Laplacians ----


class plaq_laplace_params(Struct):
    """-D^2 + m^2, D^2 the gauge-covariant second difference, on periodic fields:
    (2 d + m^2) x(n) minus the sum over d directions of U_mu(n) x(n + mu) and
    U_mu(n - mu)^dagger x(n - mu).

    Members:
      mass2: m^2 in units of the lattice spacing. Default: 0.
      directions: Directions, bit mu; 7: x, y, z, so that time slices are apart; 15: all four. Default: 7.
      spins: Spins of a site: 1 for colour vectors, 4 for spinors, whose spins it does not mix.
        Default: 1.
      precision: Precision of the operator; 0: that of the gauge field. Default: 0.
      storage: Storage of its links, 18 or 12 numbers; 0: 12. Default: 0.
    """
    struct_size: int
    mass2: float
    directions: int
    spins: int
    precision: Any
    storage: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("mass2", _c.c_double),
        ("directions", _c.c_int32),
        ("spins", _c.c_int32),
        ("precision", _c.c_int32),
        ("storage", _c.c_int32),
    ]
    _enums_ = {"precision": plaq_precision, "storage": plaq_storage}
    _init_ = "plaq_laplace_params_init"


_plaq_laplace_params_init = _n.function("plaq_laplace_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_laplace_params_init(params: plaq_laplace_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_laplace_params_init, _n.struct(plaq_laplace_params, params, "params"), _n.int64(struct_size, "struct_size"))


_plaq_dirac_create_laplace = _n.function("plaq_dirac_create_laplace", _c.c_int32, [plaq_context, plaq_gauge, _c.c_void_p, _c.c_void_p])


def plaq_dirac_create_laplace(context: Any, gauge: Any, params: Optional[plaq_laplace_params] = None) -> plaq_dirac:
    """Makes a Laplacian on the links of `gauge` (SU(3)). Solvers, multi-shift solvers and
    eigensolvers take it like any operator; it is hermitian, and every Schur complement and
    normalisation is that of M = -D^2 + m^2. Errors: BAD_PARAMETER, UNSUPPORTED, OUT_OF_MEMORY.
    """
    dirac_ = plaq_dirac()
    _n.call(_plaq_dirac_create_laplace, _n.handle(plaq_context, context, "context"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_laplace_params, params, "params"), _c.byref(dirac_))
    return dirac_


# ---- Sources of fields ----


class plaq_origin_params(Struct):
    """Source and operator that the columns of a field come from, for plaq_contract_params and files.

    Members:
      position: Coordinates x, y, z, t of the source, from which times and momenta's phases count; -1: not known.
        0 or more. Default: -1, -1, -1, -1.
      normalisation: Normalisation of the operator whose inverse a propagator is; -1: not known. Default: -1.
      boundary: Boundary phase of the fermions in time in units of pi, 1: antiperiodic. NaN: not known.
        Default: NaN.
      boundary_space: Boundary phases in x, y and z in units of pi. NaN: not known. Default: NaN, NaN, NaN.
      mass: Bare mass of the operator. NaN: not known. Default: NaN.
      mu: Twisted mass of the operator. NaN: not known. Default: NaN.
      links: What the operator's links are known by: their average plaquettes in planes of space and with t, and Re tr U / 3.
        NaN: not known. Default: NaN, NaN, NaN.
    """
    struct_size: int
    position: Any
    normalisation: Any
    boundary: float
    boundary_space: Any
    mass: float
    mu: float
    links: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("position", _c.c_int32 * 4),
        ("normalisation", _c.c_int32),
        ("boundary", _c.c_double),
        ("boundary_space", _c.c_double * 3),
        ("mass", _c.c_double),
        ("mu", _c.c_double),
        ("links", _c.c_double * 3),
    ]
    _enums_ = {"normalisation": plaq_normalisation}
    _init_ = "plaq_origin_params_init"


_plaq_origin_params_init = _n.function("plaq_origin_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_origin_params_init(params: plaq_origin_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_origin_params_init, _n.struct(plaq_origin_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_origin_report(Struct):
    """Source and operator that the columns of a field come from, as far as they are known; members are as in
    plaq_origin_params.

    Members:
      position: Coordinates x, y, z, t of the source; -1: not known.
      normalisation: Normalisation of the operator whose inverse a propagator is; -1: not known.
      boundary: Boundary phase of the fermions in time in units of pi; NaN: not known.
      boundary_space: Boundary phases in x, y and z in units of pi; NaN: not known.
      mass: Bare mass of the operator; NaN: not known.
      mu: Twisted mass of the operator; NaN: not known.
      links: What the operator's links are known by; NaN: not known.
    """
    struct_size: int
    position: Any
    normalisation: Any
    boundary: float
    boundary_space: Any
    mass: float
    mu: float
    links: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("position", _c.c_int32 * 4),
        ("normalisation", _c.c_int32),
        ("boundary", _c.c_double),
        ("boundary_space", _c.c_double * 3),
        ("mass", _c.c_double),
        ("mu", _c.c_double),
        ("links", _c.c_double * 3),
    ]
    _enums_ = {"normalisation": plaq_normalisation}
    _init_ = "plaq_origin_report_init"


_plaq_origin_report_init = _n.function("plaq_origin_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_origin_report_init(report: plaq_origin_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_origin_report_init, _n.struct(plaq_origin_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_spinor_origin = _n.function("plaq_spinor_origin", _c.c_int32, [plaq_spinor, _c.c_void_p])


def plaq_spinor_origin(spinor: Any, origin: Optional[plaq_origin_report] = None) -> None:
    """Tells what is known of the source and the operator of a field: propagators, solutions and sources have
    it from the calls that made them or from their file, copies, smeared, shifted and sequential fields from
    the field that they are made of. After plaq_spinor_load nothing is known.
    """
    _n.call(_plaq_spinor_origin, _n.handle(plaq_spinor, spinor, "spinor"), _n.struct(plaq_origin_report, origin, "origin"))


_plaq_spinor_set_origin = _n.function("plaq_spinor_set_origin", _c.c_int32, [plaq_spinor, _c.c_void_p])


def plaq_spinor_set_origin(spinor: Any, origin: Optional[plaq_origin_params] = None) -> None:
    """Sets source and operator of a field that comes from another code. Errors: INVALID_ARGUMENT."""
    _n.call(_plaq_spinor_set_origin, _n.handle(plaq_spinor, spinor, "spinor"), _n.struct(plaq_origin_params, origin, "origin"))


_plaq_spinor_support = _n.function("plaq_spinor_support", _c.c_int32, [plaq_spinor, _c.c_void_p])


def plaq_spinor_support(spinor: Any, position: Any) -> None:
    """Finds the only coordinates x, y, z, t of the whole lattice at which columns of spinors on both parities
    have numbers other than 0: the site of a point, the time of a wall; -1 where there are several, or none
    at all. Columns are looked at on the host.
    Arrays: position[4].
    """
    _n.call(_plaq_spinor_support, _n.handle(plaq_spinor, spinor, "spinor"), _n.room(_c.c_int32, position, "position", 4))


# ---- Progress of long work ----


#: Called after every iteration of a solve, step of a set-up or restart of a search, with the largest relative
#: residual of the recurrence and the time since the start; a result other than 0 ends the work, and the report
#: says so.
#: One rank of many may ask for that, or have a callback at all: all ranks stop after the
#: next iteration, and the callback that asked is not called again.
#: Arguments: iteration, residual, seconds.
plaq_progress_callback = _c.CFUNCTYPE(_c.c_int32, _c.c_int64, _c.c_double, _c.c_double, _c.c_void_p)


# ---- Multigrid ----


class plaq_multigrid(Handle):
    """Null vectors and coarse operators of a Dirac operator: a preconditioner that solvers share."""


class plaq_cycle(Enum):
    """Cycles of multigrid: the ways in which a level solves with the next coarser one."""
    #: One correction.
    V = 0
    #: Two corrections, by GCR.
    W = 1
    #: GCR to a tolerance, preconditioned by the cycle of the level below.
    K = 2


class plaq_smoother(Enum):
    """Smoothers of a level of multigrid."""
    #: Minimal residual, on the finest level with relaxation `omega`.
    MR = 0
    #: Generalised conjugate residual (GCR), with sums in every step.
    GCR = 1
    #: The minimum of GCR over the same Krylov space, with one sum in up to twelve steps.
    CA_GCR = 2
    #: x += omega r, without sums.
    RICHARDSON = 3
    #: Additive Schwarz: corrections of all domains at once, each by steps of minimal residual with sums of
    #: its own; the residual is then minimised along their sum, so that it never grows.
    SCHWARZ_ADDITIVE = 4
    #: Multiplicative Schwarz: the domains of one colour of a chequerboard, then those of the other one.
    SCHWARZ_MULTIPLICATIVE = 5


_n.word(plaq_smoother.SCHWARZ_ADDITIVE, "schwarz")
_n.word(plaq_smoother.SCHWARZ_MULTIPLICATIVE, "red-black")


class plaq_coarsest(Enum):
    """Solvers of the coarsest level of multigrid."""
    #: GCR, restarted after 16 directions.
    GCR = 0
    #: GCR with one sum in up to twelve steps.
    CA_GCR = 1
    #: Stabilised biconjugate gradient.
    BICGSTAB = 2
    #: The inverse of the level's whole operator, a dense matrix of which every rank has its rows: to 1024
    #: unknowns, 2 x vectors of every site that is solved for.
    DIRECT = 3


class plaq_setup_solver(Enum):
    """Solvers that make null vectors of random ones."""
    #: Stabilised biconjugate gradient.
    BICGSTAB = 0
    #: CG on the normal equations.
    CG = 1
    #: GCR with ten directions.
    GCR = 2


class plaq_refresh(Enum):
    """Treatments of the null vectors in an update of multigrid."""
    #: Keeps them: only coarse operators are built.
    KEEP = 0
    #: Applies the cycle to them.
    REFINE = 1
    #: Starts from random ones.
    ANEW = 2
    #: There was none since the set-up: of reports only.
    NONE = 3


class plaq_vector_memory(Enum):
    """Memory in which the vectors of an eigensolver, and the null vectors that a set-up of multigrid makes, are
    kept.
    """
    #: On the device; where its memory is short an eigensolver keeps fewer vectors in the search than `max_vectors` of 0 means, and
    #: where that is not enough, or for a set-up of multigrid, the host has those that do not fit.
    AUTO = 0
    #: On the device, by an eigensolver with fewer vectors where memory is short.
    DEVICE = 1
    #: On the host, but for one of an eigensolver, every step of which brings them all to the device eight times; a
    #: set-up of multigrid brings each of them there once for each refinement.
    HOST = 2


class plaq_multigrid_level_params(Struct):
    """A level of multigrid and its step to the next coarser one.

    Members:
      block: Extents x, y, z, t of aggregates; 0: as the lattice suggests. Those of the finest level divide the part of
        a rank, the others the whole level, or where levels are not gathered a rank's part of it.
        0 or more. Default: 0, 0, 0, 0.
      vectors: Null vectors of each chirality. 1 to 256. Default: 24.
      pre: Steps of the smoother before the correction of the next level. 0 to 10000. Default: 0.
      post: Steps of the smoother after the correction. 0 to 10000. Default: 10.
    """
    block: Any
    vectors: int
    pre: int
    post: int
    _fields_ = [
        ("block", _c.c_int32 * 4),
        ("vectors", _c.c_int32),
        ("pre", _c.c_int32),
        ("post", _c.c_int32),
    ]
    _defaults_ = {"block": (0, 0, 0, 0), "vectors": (24), "pre": (0), "post": (10)}


class plaq_multigrid_params(Struct):
    """Parameters of a hierarchy of multigrid. The defaults need no tuning.

    Members:
      levels: Number of levels, the finest and the coarsest included; automatic (0): as the lattice suggests, and at least those whose
        blocks are given. 2 to 5. Default: 0.
      cycle: Cycle of the second level. Default: PLAQ_CYCLE_K.
      level: The levels but the coarsest, from the finest on.
      smoother: Smoother of the finest level. Default: PLAQ_SMOOTHER_CA_GCR.
      smoother_precision: Precision of the finest level's smoother, half with MR, CA-GCR and Richardson only; automatic (0): half on
        GPUs with CA-GCR where the coarse levels are in single precision, else single.
        Default: 0.
      coarse_precision: Precision of coarse operators and null vectors: double or single.
        Default: PLAQ_PRECISION_SINGLE.
      iterations: Largest number of iterations of GCR on coarse levels but the coarsest. 1 to 100000.
        Default: 8.
      coarsest_iterations: Largest number of iterations on the coarsest level. 1 to 100000. Default: 64.
      setup_iterations: Iterations of the set-up's solver that make null vectors of random ones. 1 to 100000.
        Default: 20.
      refinements: Times that the cycle is then applied to the null vectors, and the hierarchy built anew.
        0 to 10000. Default: 3.
      gather: Coarse levels are gathered on fewer ranks where aggregates do not divide a rank's part, or where it would have
        fewer sites than this in a direction; 0: all levels stay on all ranks. 1 to 65536.
        Default: 2.
      omega: Relaxation of the smoothers MR and Richardson. A number between 0 and 2. Default: 0.85.
      tol: Relative residual at which GCR stops on coarse levels but the coarsest.
        A number between 0 and 1. Default: 0.25.
      coarsest_tol: Relative residual at which the coarsest level's solver stops. A number between 0 and 1.
        Default: 0.25.
      seed: Seed of the random start vectors. Default: 1.
      coarse_smoother: Smoother of the levels between the finest and the coarsest.
        Default: PLAQ_SMOOTHER_CA_GCR.
      coarsest: What solves the coarsest level. Default: PLAQ_COARSEST_CA_GCR.
      coarsest_modes: Low modes of the coarsest level, found at a set-up, that are solved for exactly before the others; 0 where
        it is solved directly; automatic (-1): as the lattice suggests, 96 on large ones, none on small ones.
        0 to 256. Default: -1.
      deep_cycle: Cycle of levels from the third on; -1: that of the second. Default: -1.
      domain: Extents x, y, z, t of the finest level's Schwarz domains, which divide the part of a rank; 0: up to 4. Domains
        of coarse levels have up to 2 sites in a direction. 0 or more. Default: 0, 0, 0, 0.
      domain_steps: Steps of minimal residual in a Schwarz domain. 1 to 10000. Default: 4.
      link_precision: Precision of the links of coarse operators: that of the operator or, where that is single, half or quarter,
        with a scale for each matrix; automatic (0), where the operator is in single precision: half, on GPUs quarter
        where rounding leaves the eigenvalues of low modes as they are. Default: 0.
      setup_columns: Null vectors that are iterated at a time, at a set-up and in refinements. Automatic (0): 8 where the device's
        memory allows it, else 4, 2 or 1. 0 to 256. Default: 0.
      setup_solver: What makes null vectors of random ones. Default: PLAQ_SETUP_BICGSTAB.
      setup_vectors: Where null vectors wait that cycles of the old ones have made, and where they are while they are shortened to 16
        bits; automatic: on the device, or on the host where the device has too little memory for one at a time.
        Default: PLAQ_VECTORS_AUTO.
      twist_factors: Factors of the twisted mass on the coarse levels, from the second level on: a larger mass makes the coarsest
        level easier to solve (Alexandrou et al., arXiv:1610.02370). 0 to 1000000.
        Default: 1, 1, 1, 1.
    """
    struct_size: int
    levels: int
    cycle: Any
    level: Any
    smoother: Any
    smoother_precision: Any
    coarse_precision: Any
    iterations: int
    coarsest_iterations: int
    setup_iterations: int
    refinements: int
    gather: int
    omega: float
    tol: float
    coarsest_tol: float
    seed: int
    coarse_smoother: Any
    coarsest: Any
    coarsest_modes: int
    deep_cycle: Any
    domain: Any
    domain_steps: int
    link_precision: Any
    setup_columns: int
    setup_solver: Any
    setup_vectors: Any
    twist_factors: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("levels", _c.c_int32),
        ("cycle", _c.c_int32),
        ("level", plaq_multigrid_level_params * 4),
        ("smoother", _c.c_int32),
        ("smoother_precision", _c.c_int32),
        ("coarse_precision", _c.c_int32),
        ("iterations", _c.c_int32),
        ("coarsest_iterations", _c.c_int32),
        ("setup_iterations", _c.c_int32),
        ("refinements", _c.c_int32),
        ("gather", _c.c_int32),
        ("omega", _c.c_double),
        ("tol", _c.c_double),
        ("coarsest_tol", _c.c_double),
        ("seed", _c.c_int64),
        ("coarse_smoother", _c.c_int32),
        ("coarsest", _c.c_int32),
        ("coarsest_modes", _c.c_int32),
        ("deep_cycle", _c.c_int32),
        ("domain", _c.c_int32 * 4),
        ("domain_steps", _c.c_int32),
        ("link_precision", _c.c_int32),
        ("setup_columns", _c.c_int32),
        ("setup_solver", _c.c_int32),
        ("setup_vectors", _c.c_int32),
        ("twist_factors", _c.c_double * 4),
    ]
    _enums_ = {"cycle": plaq_cycle, "smoother": plaq_smoother, "smoother_precision": plaq_precision, "coarse_precision": plaq_precision, "coarse_smoother": plaq_smoother, "coarsest": plaq_coarsest, "deep_cycle": plaq_cycle, "link_precision": plaq_precision, "setup_solver": plaq_setup_solver, "setup_vectors": plaq_vector_memory}
    _init_ = "plaq_multigrid_params_init"


_plaq_multigrid_params_init = _n.function("plaq_multigrid_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_multigrid_params_init(params: plaq_multigrid_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_multigrid_params_init, _n.struct(plaq_multigrid_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_multigrid_report(Struct):
    """A hierarchy.

    Members:
      levels: Number of levels.
      refresh: What the last update did in the end; PLAQ_REFRESH_NONE: there was none since the set-up.
      setup_seconds: Seconds of the last set-up or update.
      reduction: Factor by which an iteration of GCR with the cycle reduces the residual of a random
        vector, measured at the last set-up or update.
      bytes: Bytes that null vectors and coarse operators hold on this rank.
    """
    struct_size: int
    levels: int
    refresh: Any
    setup_seconds: float
    reduction: float
    bytes: int
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("levels", _c.c_int32),
        ("refresh", _c.c_int32),
        ("setup_seconds", _c.c_double),
        ("reduction", _c.c_double),
        ("bytes", _c.c_int64),
    ]
    _enums_ = {"refresh": plaq_refresh}
    _init_ = "plaq_multigrid_report_init"


_plaq_multigrid_report_init = _n.function("plaq_multigrid_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_multigrid_report_init(report: plaq_multigrid_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_multigrid_report_init, _n.struct(plaq_multigrid_report, report, "report"), _n.int64(struct_size, "struct_size"))


class plaq_multigrid_level_report(Struct):
    """A level of a hierarchy.

    Members:
      extents: Extents of the whole lattice of the level.
      block: Extents of the aggregates that become sites of the next level; 1 on the coarsest.
      vectors: Null vectors of a chirality; 0 on the coarsest.
      ranks: Ranks that have a part of the level.
      bytes: Bytes of null vectors and the level's coarse operator on this rank.
      iterations: Iterations of all solves since the last set-up or update, each cycle with all of its right-hand sides
        counted once: on the finest level steps of the smoother; on levels between steps of the smoother and
        iterations of the GCR that a W or K cycle has there; on the coarsest iterations of its solver, a
        direct solution being one. 0 on a rank without a part of the level.
      seconds: Seconds that cycles of these solves took in the level and those below it: the finest level's are all of
        the preconditioner. On a GPU the time that the host took to launch them and to wait for sums, which
        is less than the device's; on a rank without a part of the level that of waiting for it.
      setup_seconds: Seconds that the set-up or update took for the level: its null vectors, transfer and the coarse operator
        below it, in all passes; on the coarsest level what its solver finds out before. As the host saw them.
      reduction: Factor by which an iteration reduces the residual of the level's solve: on the finest as the
        report's; on levels between with W or K cycles the mean in solves since the last set-up or update
        of the iterations that norms are known of; 0 where none are.
    """
    struct_size: int
    extents: Any
    block: Any
    vectors: int
    ranks: int
    bytes: int
    iterations: int
    seconds: float
    setup_seconds: float
    reduction: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("extents", _c.c_int32 * 4),
        ("block", _c.c_int32 * 4),
        ("vectors", _c.c_int32),
        ("ranks", _c.c_int32),
        ("bytes", _c.c_int64),
        ("iterations", _c.c_int64),
        ("seconds", _c.c_double),
        ("setup_seconds", _c.c_double),
        ("reduction", _c.c_double),
    ]
    _init_ = "plaq_multigrid_level_report_init"


_plaq_multigrid_level_report_init = _n.function("plaq_multigrid_level_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_multigrid_level_report_init(report: plaq_multigrid_level_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_multigrid_level_report_init, _n.struct(plaq_multigrid_level_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_multigrid_create = _n.function("plaq_multigrid_create", _c.c_int32, [plaq_dirac, _c.c_void_p, plaq_progress_callback, _c.c_void_p, _c.c_void_p])


def plaq_multigrid_create(
        dirac: Any,
        params: Optional[plaq_multigrid_params] = None,
        callback: Optional[Callable[..., Any]] = None,
) -> plaq_multigrid:
    """Finds null vectors of an operator and builds the levels. Errors: BAD_PARAMETER, BAD_EXTENTS,
    UNSUPPORTED (precisions or solvers that do not go together), OUT_OF_MEMORY (nothing was allocated),
    NOT_FINITE (links, or null vectors), SOLVER_BREAKDOWN (a solve that makes null vectors met what is
    not finite), NOT_CONVERGED (the callback ended it). The callback hears of every iteration of solves for null
    vectors, with its largest residual, and of every other step of the set-up, with 1.
    """
    multigrid_ = plaq_multigrid()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_multigrid_create, callback_, (multigrid_,), _n.handle(plaq_dirac, dirac, "dirac"), _n.struct(plaq_multigrid_params, params, "params"), callback_.c, None, _c.byref(multigrid_))
    return multigrid_


_plaq_multigrid_create_from = _n.function("plaq_multigrid_create_from", _c.c_int32, [plaq_dirac, _c.c_void_p, plaq_spinor, plaq_progress_callback, _c.c_void_p, _c.c_void_p])


def plaq_multigrid_create_from(
        dirac: Any,
        params: Optional[plaq_multigrid_params],
        vectors: Any,
        callback: Optional[Callable[..., Any]] = None,
) -> plaq_multigrid:
    """Builds the levels with the right-hand sides of a full field as null vectors of the finest level, such as
    plaq_multigrid_vectors gave.
    """
    multigrid_ = plaq_multigrid()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_multigrid_create_from, callback_, (multigrid_,), _n.handle(plaq_dirac, dirac, "dirac"), _n.struct(plaq_multigrid_params, params, "params"), _n.handle(plaq_spinor, vectors, "vectors"), callback_.c, None, _c.byref(multigrid_))
    return multigrid_


_plaq_multigrid_destroy = _n.function("plaq_multigrid_destroy", _c.c_int32, [plaq_multigrid])


def plaq_multigrid_destroy(multigrid: Any) -> None:
    """Destroys a hierarchy; solvers that it was given keep it. The zero handle is accepted."""
    _n.call(_plaq_multigrid_destroy, _n.handle(plaq_multigrid, multigrid, "multigrid"))


_plaq_multigrid_memory = _n.function("plaq_multigrid_memory", _c.c_int32, [plaq_dirac, _c.c_void_p, _c.c_void_p])


def plaq_multigrid_memory(dirac: Any, params: Optional[plaq_multigrid_params] = None) -> int:
    """Tells the device memory in bytes that a set-up takes at most."""
    bytes_ = _c.c_int64()
    _n.call(_plaq_multigrid_memory, _n.handle(plaq_dirac, dirac, "dirac"), _n.struct(plaq_multigrid_params, params, "params"), _c.byref(bytes_))
    return bytes_.value


_plaq_multigrid_update = _n.function("plaq_multigrid_update", _c.c_int32, [plaq_multigrid, plaq_dirac, _c.c_int32, _c.c_int32, plaq_progress_callback, _c.c_void_p])


def plaq_multigrid_update(
        multigrid: Any,
        dirac: Any,
        refresh: Union[int, str, plaq_refresh],
        passes: int,
        callback: Optional[Callable[..., Any]] = None,
) -> None:
    """Takes the operator's links as they are now. What came of it is measured: where the cycle has
    become bad, the next stronger means follow, and the report says which. `passes`: of
    PLAQ_REFRESH_REFINE, 1 to 10000. Without an update after a change of the links (plaq_dirac_update)
    solves with that operator are refused: STALE_MULTIGRID. After an error the hierarchy is as before, and
    solves go on with it. Errors: those of plaq_multigrid_create, FIELD_MISMATCH (another lattice),
    OUT_OF_MEMORY (old and new together, before anything is taken), NOT_CONVERGED (the cycle is bad from
    new random vectors too, or the callback ended the update).
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_multigrid_update, callback_, (), _n.handle(plaq_multigrid, multigrid, "multigrid"), _n.handle(plaq_dirac, dirac, "dirac"), _n.enum(plaq_refresh, refresh, "refresh"), _n.int32(passes, "passes"), callback_.c, None)


_plaq_multigrid_update_memory = _n.function("plaq_multigrid_update_memory", _c.c_int32, [plaq_multigrid, plaq_dirac, _c.c_int32, _c.c_int32, _c.c_void_p])


def plaq_multigrid_update_memory(
        multigrid: Any,
        dirac: Any,
        refresh: Union[int, str, plaq_refresh],
        passes: int,
) -> int:
    """Tells the device memory in bytes that such an update takes at most, whatever means it needs in the end,
    beside the hierarchy: that stays until the new one is there.
    """
    bytes_ = _c.c_int64()
    _n.call(_plaq_multigrid_update_memory, _n.handle(plaq_multigrid, multigrid, "multigrid"), _n.handle(plaq_dirac, dirac, "dirac"), _n.enum(plaq_refresh, refresh, "refresh"), _n.int32(passes, "passes"), _c.byref(bytes_))
    return bytes_.value


_plaq_multigrid_describe = _n.function("plaq_multigrid_describe", _c.c_int32, [plaq_multigrid, _c.c_void_p])


def plaq_multigrid_describe(multigrid: Any, report: Optional[plaq_multigrid_report] = None) -> None:
    """Describes a hierarchy."""
    _n.call(_plaq_multigrid_describe, _n.handle(plaq_multigrid, multigrid, "multigrid"), _n.struct(plaq_multigrid_report, report, "report"))


_plaq_multigrid_describe_level = _n.function("plaq_multigrid_describe_level", _c.c_int32, [plaq_multigrid, _c.c_int32, _c.c_void_p])


def plaq_multigrid_describe_level(
        multigrid: Any,
        level: int,
        report: Optional[plaq_multigrid_level_report] = None,
) -> None:
    """Describes a level of a hierarchy; level 0 is the finest."""
    _n.call(_plaq_multigrid_describe_level, _n.handle(plaq_multigrid, multigrid, "multigrid"), _n.int32(level, "level"), _n.struct(plaq_multigrid_level_report, report, "report"))


_plaq_multigrid_vectors = _n.function("plaq_multigrid_vectors", _c.c_int32, [plaq_multigrid, _c.c_int32, _c.c_void_p])


def plaq_multigrid_vectors(multigrid: Any, precision: Union[int, str, plaq_precision]) -> plaq_spinor:
    """Gives the null vectors of the finest level, normalised but not orthonormal on aggregates, as right-hand
    sides of a new full field: all levels can be built from them again.
    """
    vectors_ = plaq_spinor()
    _n.call(_plaq_multigrid_vectors, _n.handle(plaq_multigrid, multigrid, "multigrid"), _n.enum(plaq_precision, precision, "precision"), _c.byref(vectors_))
    return vectors_


_plaq_multigrid_write = _n.function("plaq_multigrid_write", _c.c_int32, [plaq_multigrid, _c.c_char_p])


def plaq_multigrid_write(multigrid: Any, file: Any) -> None:
    """Writes these vectors to a file: SciDAC records in LIME with checksums. It appears complete or not
    at all. All ranks call it. Errors: FILE_WRITE, OUT_OF_MEMORY.
    """
    _n.call(_plaq_multigrid_write, _n.handle(plaq_multigrid, multigrid, "multigrid"), _n.encoded(file, "file"))


_plaq_multigrid_read = _n.function("plaq_multigrid_read", _c.c_int32, [plaq_dirac, _c.c_void_p, _c.c_char_p, plaq_progress_callback, _c.c_void_p, _c.c_void_p])


def plaq_multigrid_read(
        dirac: Any,
        params: Optional[plaq_multigrid_params],
        file: Any,
        callback: Optional[Callable[..., Any]] = None,
) -> plaq_multigrid:
    """Builds the levels with the vectors of such a file, as plaq_multigrid_create_from does. Errors:
    FIELD_MISMATCH (another number of vectors than the parameters name), FILE_EXTENTS (another lattice),
    FILE_FORMAT (other vectors, or no such file), FILE_CHECKSUM, FILE_TRUNCATED, FILE_OPEN, those of
    plaq_multigrid_create.
    """
    multigrid_ = plaq_multigrid()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_multigrid_read, callback_, (multigrid_,), _n.handle(plaq_dirac, dirac, "dirac"), _n.struct(plaq_multigrid_params, params, "params"), _n.encoded(file, "file"), callback_.c, None, _c.byref(multigrid_))
    return multigrid_


# ---- Solvers ----


class plaq_solver(Handle):
    """A Dirac operator prepared for solves."""


class plaq_stopped_by(Enum):
    """Causes of the end of a solve: the goals that all right-hand sides met, else the first limit. Of several
    solves in one call the greatest.
    """
    #: The goals were met, `tol` last.
    RESIDUAL = 0
    #: The goals were met, `tol_hq` last.
    HEAVY_QUARK = 1
    #: Recomputed residuals no longer fell.
    STANDSTILL = 2
    #: `max_iterations`.
    ITERATIONS = 3
    #: `max_seconds`.
    TIME = 4
    #: The callback.
    CALLBACK = 5


class plaq_solver_kind(Enum):
    """Algorithms."""
    #: Conjugate gradient, for PLAQ_SOLUTION_MDAGM and PLAQ_SOLUTION_PDAGP or one of the normal equations.
    CG = 0
    #: CG on M M^dagger y = b, x = M^dagger y.
    CGNE = 1
    #: CG on M^dagger M x = M^dagger b.
    CGNR = 2
    #: Stabilised biconjugate gradient.
    BICGSTAB = 3
    #: Restarted GCR, with MR inside every iteration if asked for.
    GCR = 4
    #: Minimal residual with relaxation.
    MR = 5
    #: Chosen by the library: CG for hermitian operators, else BiCGStab, with 16 bits inside on a GPU, and
    #: multigrid as soon as its set-up pays (docs/propagator.md).
    AUTO = 6
    #: GCR in which the right-hand sides that are solved for at a time share one space: each takes its step along
    #: the directions of all, of which `nkrylov` are kept for each. With many right-hand sides that takes fewer
    #: iterations than PLAQ_SOLVER_GCR, each of which costs more. Sources may depend on each other.
    BLOCK_GCR = 7


class plaq_solution(Enum):
    """The equation that is solved; M is the operator, P its even-odd preconditioned one on its parity."""
    #: M x = b.
    M = 0
    #: M^dagger x = b.
    MDAG = 1
    #: M^dagger M x = b.
    MDAGM = 2
    #: P x = b.
    P = 3
    #: P^dagger x = b.
    PDAG = 4
    #: P^dagger P x = b.
    PDAGP = 5
    #: M M^dagger x = b, by a solve with M and one with M^dagger.
    MMDAG = 6
    #: P P^dagger x = b, likewise.
    PPDAG = 7


class plaq_equations(Enum):
    """Equations that the Krylov space is built from."""
    #: M itself. Plain CG then needs M^dagger M on the left; CGNE and CGNR bring their own normal equations.
    DIRECT = 0
    #: M^dagger M x = M^dagger b.
    NORMAL_RESIDUAL = 1
    #: M M^dagger y = b, x = M^dagger y.
    NORMAL_ERROR = 2


class plaq_chosen(Enum):
    """Choices of PLAQ_SOLVER_AUTO."""
    #: Nothing: the solver was asked for.
    NONE = 0
    #: No multigrid: its set-up would not have paid.
    KRYLOV = 1
    #: Multigrid.
    MULTIGRID = 2
    #: No multigrid: there is none for this operator, equation or lattice, or its memory or set-up failed, as the
    #: log says.
    ONLY_KRYLOV = 3


class plaq_solver_params(Struct):
    """Parameters of a solver. By default the solver is chosen while it solves, on the even-odd preconditioned
    system.

    Members:
      solver: Solver of the iteration. Default: PLAQ_SOLVER_AUTO.
      solution: Equation that is solved. Default: PLAQ_SOLUTION_M.
      equations: What the Krylov space is built from, for solvers that can do with or without: BiCGStab, GCR, block GCR, MR; CG needs
        one of the normal equations, CGNE and CGNR have theirs. Default: PLAQ_EQUATIONS_DIRECT.
      system: System that is solved through; on the whole lattice there is no even-odd preconditioning.
        Default: PLAQ_SYSTEM_EVEN_SYMMETRIC.
      sloppy_precision: Precision of the iteration; every solver recomputes residuals in the operator's, to which the tolerance
        applies. Automatic (0): single where the operator is in double, 16 bits for BiCGStab of
        PLAQ_SOLVER_AUTO on a GPU, else the operator's;
        plaq_solver_multishift then takes the operator's precision and storage, since shifts share a Krylov space
        that goes no deeper than its precision. The report says which. Default: 0.
      sloppy_storage: Storage of the iteration's links; automatic (0): the operator's. Default: 0.
      max_iterations: Largest number of iterations. 1 or more. Default: 10000.
      nkrylov: Directions that GCR keeps before a restart, block GCR for each right-hand side.
        1 to 10000. Default: 10.
      precondition_steps: Steps of minimal residual before every application of the operator, as preconditioner of BiCGStab, GCR,
        block GCR and MR; 0: none. 0 or more. Default: 0.
      initial_guess: The solve starts from the x that is passed in; else from zero. 0 or 1. Default: 0.
      tol: Largest |b - M x| / |b|; 0: not asked for. Both criteria asked for must be met.
        Default: 1e-10.
      tol_hq: Largest heavy-quark residual; 0: not asked for. Default: 0.
      delta: Factor by which the residual of the iteration falls until it is recomputed in the operator's precision.
        Automatic (0): 0.1 of an iteration in 16 bits, else 0.01. 0 to below 1. Default: 0.
      omega: Relaxation of MR; 1: none. A number between 0 and 2. Default: 1.
      columns: Columns of a propagator solved at a time. Fewer take less memory, and on a GPU more time. Automatic (0): as
        many of 12, 6, 4, 3, 2 and 1 as fit in the device's memory, which the report says.
        0 to 12. Default: 0.
      expected_columns: PLAQ_SOLVER_AUTO: right-hand sides that are going to be solved for with these links, from which follows
        whether a set-up of multigrid pays. Automatic (0): as many as were solved for before.
        0 or more. Default: 0.
      distance_t0: Time slice of the source, for distance_alpha. 0 or more. Default: 0.
      max_seconds: Most seconds that a call may take; 0: as many as it needs. They are asked for after every iteration; all ranks
        stop after the same one. Default: 0.
      distance_alpha: Exponent alpha per time slice of distance preconditioning (de Divitiis, Petronzio, Tantalo, arXiv:1006.4028,
        Eq. 9): with W = cosh(alpha (T/2 - d)) at the distance d in time from distance_t0 the solver iterates
        W^-1 M W y = W^-1 b, x = W y, and residuals are those of y. Of a heavy quark's propagator time slices far from
        the source, which |b - M x| does not see, then are as precise as others. Best is an alpha near the energy of
        the quark, half of its pion's mass. M^dagger is weighted alike, and M^dagger M is solved by one after the other.
        Without multigrid and several shifts; at most 160 / T. 0: none. 0 or more. Default: 0.
      tol_site: Largest |b - M x| of a site over the largest |b| of one, OpenLat's criterion (Francis, Fritzsch, Luscher, Rago,
        arXiv:1911.04533, Section 4); 0: not asked for. It is met besides the others; alone it stands for tol, too.
        Eigenvectors do not take it. Default: 0.
    """
    struct_size: int
    solver: Any
    solution: Any
    equations: Any
    system: Any
    sloppy_precision: Any
    sloppy_storage: Any
    max_iterations: int
    nkrylov: int
    precondition_steps: int
    initial_guess: int
    tol: float
    tol_hq: float
    delta: float
    omega: float
    columns: int
    expected_columns: int
    distance_t0: int
    max_seconds: float
    distance_alpha: float
    tol_site: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("solver", _c.c_int32),
        ("solution", _c.c_int32),
        ("equations", _c.c_int32),
        ("system", _c.c_int32),
        ("sloppy_precision", _c.c_int32),
        ("sloppy_storage", _c.c_int32),
        ("max_iterations", _c.c_int32),
        ("nkrylov", _c.c_int32),
        ("precondition_steps", _c.c_int32),
        ("initial_guess", _c.c_int32),
        ("tol", _c.c_double),
        ("tol_hq", _c.c_double),
        ("delta", _c.c_double),
        ("omega", _c.c_double),
        ("columns", _c.c_int32),
        ("expected_columns", _c.c_int32),
        ("distance_t0", _c.c_int32),
        ("max_seconds", _c.c_double),
        ("distance_alpha", _c.c_double),
        ("tol_site", _c.c_double),
    ]
    _enums_ = {"solver": plaq_solver_kind, "solution": plaq_solution, "equations": plaq_equations, "system": plaq_system, "sloppy_precision": plaq_precision, "sloppy_storage": plaq_storage}
    _old_ = {"algorithm": "solver"}
    _init_ = "plaq_solver_params_init"


_plaq_solver_params_init = _n.function("plaq_solver_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_solver_params_init(params: plaq_solver_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_solver_params_init, _n.struct(plaq_solver_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_solve_report(Struct):
    """Report of a solve. Residuals are recomputed from x in the operator's precision.

    Members:
      converged: 1: every right-hand side meets every criterion.
      stopped: 1: the callback asked to stop or `max_seconds` were over; x holds what was reached.
      columns: Right-hand sides solved at a time: of a propagator its columns.
      iterations: Iterations of the slowest right-hand side.
      residual: Largest |b - M x| / |b| over the right-hand sides.
      residual_hq: Largest heavy-quark residual.
      seconds: Seconds that the solve took.
      flops: Floating-point operations of operators and vectors.
      bytes: Bytes that operators and vectors read and write at least.
      memory_peak: Most device memory held during the solve.
      reliable_updates: Residuals recomputed in the operator's precision.
      restarts: Breakdowns after which search directions were thrown away.
      solver: The solver that finished; another one than asked for after a standstill.
      standstill: 1: given up because the recomputed residuals no longer fell. 0 and not converged:
        `stopped_by` says what ended the solve.
      sloppy_precision: Precision of the iteration.
      sloppy_storage: Storage of the iteration's links.
      stopped_by: Criterion that ended the solve.
      chosen: What PLAQ_SOLVER_AUTO chose.
      residual_site: Largest |b - M x| of a site over the largest |b| of one; 0 where tol_site is.
    """
    struct_size: int
    converged: int
    stopped: int
    columns: int
    iterations: int
    residual: float
    residual_hq: float
    seconds: float
    flops: float
    bytes: float
    memory_peak: int
    reliable_updates: int
    restarts: int
    solver: Any
    standstill: int
    sloppy_precision: Any
    sloppy_storage: Any
    stopped_by: Any
    chosen: Any
    residual_site: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("converged", _c.c_int32),
        ("stopped", _c.c_int32),
        ("columns", _c.c_int32),
        ("iterations", _c.c_int64),
        ("residual", _c.c_double),
        ("residual_hq", _c.c_double),
        ("seconds", _c.c_double),
        ("flops", _c.c_double),
        ("bytes", _c.c_double),
        ("memory_peak", _c.c_int64),
        ("reliable_updates", _c.c_int64),
        ("restarts", _c.c_int64),
        ("solver", _c.c_int32),
        ("standstill", _c.c_int32),
        ("sloppy_precision", _c.c_int32),
        ("sloppy_storage", _c.c_int32),
        ("stopped_by", _c.c_int32),
        ("chosen", _c.c_int32),
        ("residual_site", _c.c_double),
    ]
    _enums_ = {"solver": plaq_solver_kind, "sloppy_precision": plaq_precision, "sloppy_storage": plaq_storage, "stopped_by": plaq_stopped_by, "chosen": plaq_chosen}
    _init_ = "plaq_solve_report_init"


_plaq_solve_report_init = _n.function("plaq_solve_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_solve_report_init(report: plaq_solve_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_solve_report_init, _n.struct(plaq_solve_report, report, "report"), _n.int64(struct_size, "struct_size"))


class plaq_plan_report(Struct):
    """Memory and kernels that a solve takes, known before anything runs.

    Members:
      memory: Device memory in bytes, as plaq_solver_memory.
      kernels: Kernels: instantiations with their constants.
      to_compile: Kernels that a GPU's compiler makes first, neither used before nor in the cache; 0 on a CPU.
      seconds: Seconds that compiling takes on this machine's cores, a rough estimate.
      kept: Bytes of the memory that stay allocated afterwards: links and modes of an overlap operator that was made,
        and the multigrid that it keeps; of other solves 0.
    """
    struct_size: int
    memory: int
    kernels: int
    to_compile: int
    seconds: float
    kept: int
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("memory", _c.c_int64),
        ("kernels", _c.c_int64),
        ("to_compile", _c.c_int64),
        ("seconds", _c.c_double),
        ("kept", _c.c_int64),
    ]
    _init_ = "plaq_plan_report_init"


_plaq_plan_report_init = _n.function("plaq_plan_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_plan_report_init(report: plaq_plan_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_plan_report_init, _n.struct(plaq_plan_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_solver_create = _n.function("plaq_solver_create", _c.c_int32, [plaq_dirac, _c.c_void_p, _c.c_void_p])


def plaq_solver_create(dirac: Any, params: Optional[plaq_solver_params] = None) -> plaq_solver:
    """Prepares solves with an operator, in its normalisation. Errors: BAD_PARAMETER,
    UNSUPPORTED (a combination that does not exist), OUT_OF_MEMORY.
    """
    solver_ = plaq_solver()
    _n.call(_plaq_solver_create, _n.handle(plaq_dirac, dirac, "dirac"), _n.struct(plaq_solver_params, params, "params"), _c.byref(solver_))
    return solver_


_plaq_solver_set_multigrid = _n.function("plaq_solver_set_multigrid", _c.c_int32, [plaq_solver, plaq_multigrid])


def plaq_solver_set_multigrid(solver: Any, multigrid: Any = None) -> None:
    """Preconditions every iteration with multigrid, which solvers share; the zero handle: with nothing
    any more. Errors: UNSUPPORTED (the solver is neither automatic nor GCR on one parity directly),
    FIELD_MISMATCH (set up for another lattice).
    """
    _n.call(_plaq_solver_set_multigrid, _n.handle(plaq_solver, solver, "solver"), _n.handle(plaq_multigrid, multigrid, "multigrid"))


_plaq_solver_destroy = _n.function("plaq_solver_destroy", _c.c_int32, [plaq_solver])


def plaq_solver_destroy(solver: Any) -> None:
    """Destroys a solver. The zero handle is accepted."""
    _n.call(_plaq_solver_destroy, _n.handle(plaq_solver, solver, "solver"))


_plaq_solver_memory = _n.function("plaq_solver_memory", _c.c_int32, [plaq_solver, _c.c_int32, _c.c_void_p])


def plaq_solver_memory(solver: Any, nrhs: int) -> int:
    """Tells the device memory in bytes that a solve for `nrhs` right-hand sides at once needs, without x and
    b. Where there is less, fewer are solved for at a time. Where there is more, a solve with 16 bits
    inside, or with single precision inside GCR, also holds the inverse of the clover term in double. A
    propagator takes a field of 12 columns besides, and one of `columns`; where there is no room for that,
    it keeps solved columns on the host until all are solved. PLAQ_SOLVER_AUTO sets multigrid up only where
    there is room for it besides.
    """
    bytes_ = _c.c_int64()
    _n.call(_plaq_solver_memory, _n.handle(plaq_solver, solver, "solver"), _n.int32(nrhs, "nrhs"), _c.byref(bytes_))
    return bytes_.value


_plaq_solver_plan = _n.function("plaq_solver_plan", _c.c_int32, [plaq_solver, _c.c_int32, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_solver_plan(solver: Any, nrhs: int, report: Optional[plaq_plan_report] = None, capacity: int = 65536) -> str:
    """Tells memory and kernels of a solve for `nrhs` right-hand sides with the multigrid that the solver has
    now. Nothing is run, compiled or allocated. `names`: a line with the links of the solver's chain, as "12
    columns at a time > scaled > to 1e-10 > Schur even > BiCGStab", then one for each kernel, less than 8
    KiB for most solves; a name comes again where constants differ. Errors: INVALID_ARGUMENT.
    """
    names_ = _c.create_string_buffer(capacity)
    _n.call(_plaq_solver_plan, _n.handle(plaq_solver, solver, "solver"), _n.int32(nrhs, "nrhs"), _n.struct(plaq_plan_report, report, "report"), names_, _n.int64(capacity, "capacity"))
    return _n.text(names_.value)


_plaq_solver_solve = _n.function("plaq_solver_solve", _c.c_int32, [plaq_solver, plaq_spinor, plaq_spinor, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_solver_solve(
        solver: Any,
        x: Any,
        b: Any,
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_solve_report] = None,
        residuals: Any = None,
) -> None:
    """Solves for all right-hand sides of b, at once or as many at a time as fit in the device's memory, which the
    report says. x and b have the operator's precision and the subset of the equation. `residuals`: NULL or room for |b - M x| / |b| of each.
    Errors: FIELD_MISMATCH, NOT_FINITE, OUT_OF_MEMORY (not one right-hand side fits), SOLVER_BREAKDOWN.
    Arrays: residuals[right-hand sides of b].
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_solver_solve, callback_, (), _n.handle(plaq_solver, solver, "solver"), _n.handle(plaq_spinor, x, "x"), _n.handle(plaq_spinor, b, "b"), callback_.c, None, _n.struct(plaq_solve_report, report, "report"), _n.room(_c.c_double, residuals, "residuals", None, optional=True))


_plaq_solver_history = _n.function("plaq_solver_history", _c.c_int32, [plaq_solver, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_solver_history(solver: Any, history: Any, capacity: int) -> int:
    """Gives the largest |r| / |b| over the right-hand sides after every iteration of the solver's last solve,
    propagator or multishift: by the recurrence and for the system that is iterated; at recomputed residuals
    it may jump. `count`: how many there are. The first `capacity` of them are written; `history` may be
    NULL.
    Arrays: history[capacity].
    """
    count_ = _c.c_int64()
    _n.call(_plaq_solver_history, _n.handle(plaq_solver, solver, "solver"), _n.room(_c.c_double, history, "history", capacity, optional=True), _n.int64(capacity, "capacity"), _c.byref(count_))
    return count_.value


_plaq_solver_multishift = _n.function("plaq_solver_multishift", _c.c_int32, [plaq_solver, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64, plaq_spinor, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_solver_multishift(
        solver: Any,
        x: Any,
        sigma: Any,
        tol: Any,
        count: int,
        b: Any,
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_solve_report] = None,
        residuals: Any = None,
) -> None:
    """Solves (A + sigma[k]) x[k] = b for all `count` shifts at once, A = M^dagger M or P^dagger P as
    PLAQ_SOLUTION_MDAGM or PLAQ_SOLUTION_PDAGP say, each to its tol[k]; sigma[k] >= 0. x: `count` different
    fields. `residuals`: NULL or room for `count`, the largest over the right-hand sides. solver, tol and
    initial_guess of the parameters are not used; automatic `sloppy_precision` and then `sloppy_storage`,
    too, are the operator's. max_seconds are those of the call.
    Arrays: x[count], sigma[count], tol[count], residuals[count].
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_solver_multishift, callback_, (), _n.handle(plaq_solver, solver, "solver"), _n.array(plaq_spinor, x, "x", count), _n.array(_c.c_double, sigma, "sigma", count), _n.array(_c.c_double, tol, "tol", count), _n.int64(count, "count"), _n.handle(plaq_spinor, b, "b"), callback_.c, None, _n.struct(plaq_solve_report, report, "report"), _n.room(_c.c_double, residuals, "residuals", count, optional=True))


# ---- Sources, propagators and hadron correlators ----


class plaq_gamma(Enum):
    """Products of gamma matrices: gamma_x^a gamma_y^b gamma_z^c gamma_t^d is number a + 2 b + 4 c + 8 d, 0 to 15; these
    have a name.
    """
    #: The unit matrix.
    GAMMA_ONE = 0
    #: gamma_x.
    GAMMA_X = 1
    #: gamma_y.
    GAMMA_Y = 2
    #: gamma_z.
    GAMMA_Z = 4
    #: gamma_t.
    GAMMA_T = 8
    #: gamma_x gamma_y gamma_z gamma_t.
    GAMMA_5 = 15


_n.word(plaq_gamma.GAMMA_ONE, "one")
_n.word(plaq_gamma.GAMMA_X, "x")
_n.word(plaq_gamma.GAMMA_Y, "y")
_n.word(plaq_gamma.GAMMA_Z, "z")
_n.word(plaq_gamma.GAMMA_T, "t")
_n.word(plaq_gamma.GAMMA_5, "5")


class plaq_mass_form(Enum):
    """Functions of time that a correlator falls as."""
    #: cosh(m (t - T/2)), mesons: arcosh[(C(t-1) + C(t+1)) / (2 C(t))].
    COSH = 0
    #: exp(-m t): ln[C(t) / C(t+1)].
    LOG = 1


class plaq_source(Enum):
    """Sites of a source."""
    #: One site.
    POINT = 0
    #: All sites of a time slice: with momentum 0 and without noise for links in a fixed gauge.
    WALL = 1
    #: All sites.
    VOLUME = 2


class plaq_dilute(Enum):
    """Indices that columns of noise are diluted in: bits."""
    #: A vector of noise for each spin.
    SPIN = 1
    #: A vector of noise for each colour.
    COLOUR = 2
    #: A vector of noise for even and one for odd sites.
    PARITY = 4
    #: A vector of noise for the time slices t = k mod time_parts; for PLAQ_SOURCE_VOLUME.
    TIME = 8


class plaq_source_params(Struct):
    """Source of a propagator: columns exp(i p (x - position)) eta(x), eta being 1 or noise. Without noise a column
    has one spin and colour, number 3 spin + colour. Noise diluted in spin (colour) has one spin (colour) in a
    column, and columns of a vector share their numbers. Columns count with colour fastest, then spin, parity
    (even, odd), part of the time slices and the noise vector. Smearing: plaq_spinor_smear of the columns.

    Members:
      kind: Sites of the source. Default: PLAQ_SOURCE_POINT.
      noise: Noise at these sites; 0: all numbers are 1. Default: 0.
      position: Coordinates x, y, z, t. Of a wall t is its place, x, y, z where the momentum's phase is 1.
        0 or more. Default: 0, 0, 0, 0.
      momentum: Momentum n: p_mu = 2 pi n_mu / L_mu. Default: 0, 0, 0, 0.
      vectors: Noise vectors; number k is that of plaq_spinor_noise with first = k. 1 to 1048576.
        Default: 1.
      dilute: Indices that noise is diluted in, a sum of PLAQ_DILUTE_ bits. Default: 0.
      spin: The only spin that is not zero; -1: all. 0 to 3. Default: -1.
      colour: The only colour that is not zero; -1: all. 0 to 2. Default: -1.
      first: The column that comes first. 0 or more. Default: 0.
      count: Number of columns from there on, at most; 0: all that there are. 1 or more. Default: 0.
      time_parts: Parts of the time slices with PLAQ_DILUTE_TIME, else 0. The lattice's T: each has one slice; a
        divisor of it: every time_parts-th. 0 to 1048576. Default: 0.
      seed: Seed of the noise, which is the same on any number of ranks. Default: 0.
    """
    struct_size: int
    kind: Any
    noise: Any
    position: Any
    momentum: Any
    vectors: int
    dilute: int
    spin: int
    colour: int
    first: int
    count: int
    time_parts: int
    seed: int
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("kind", _c.c_int32),
        ("noise", _c.c_int32),
        ("position", _c.c_int32 * 4),
        ("momentum", _c.c_int32 * 4),
        ("vectors", _c.c_int32),
        ("dilute", _c.c_int32),
        ("spin", _c.c_int32),
        ("colour", _c.c_int32),
        ("first", _c.c_int32),
        ("count", _c.c_int32),
        ("time_parts", _c.c_int32),
        ("seed", _c.c_int64),
    ]
    _enums_ = {"kind": plaq_source, "noise": plaq_noise}
    _init_ = "plaq_source_params_init"


_plaq_source_params_init = _n.function("plaq_source_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_source_params_init(params: plaq_source_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_source_params_init, _n.struct(plaq_source_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_sequential_params(Struct):
    """Sequential sources: delta(t, time) exp(i p (x - origin)) Gamma psi(x).

    Members:
      time: The sink's time slice; -1: all. 0 or more. Default: -1.
      gamma: Number of Gamma as plaq_gamma counts it. 0 to 15. Default: 15.
      momentum: Momentum n: p_i = 2 pi n_i / L_i. Default: 0, 0, 0.
      origin: Coordinates at which the phase is 1. 0 or more. Default: 0, 0, 0.
    """
    struct_size: int
    time: int
    gamma: int
    momentum: Any
    origin: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("time", _c.c_int32),
        ("gamma", _c.c_int32),
        ("momentum", _c.c_int32 * 3),
        ("origin", _c.c_int32 * 3),
    ]
    _init_ = "plaq_sequential_params_init"


_plaq_sequential_params_init = _n.function("plaq_sequential_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_sequential_params_init(params: plaq_sequential_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_sequential_params_init, _n.struct(plaq_sequential_params, params, "params"), _n.int64(struct_size, "struct_size"))


_plaq_spinor_source = _n.function("plaq_spinor_source", _c.c_int32, [plaq_spinor, _c.c_void_p])


def plaq_spinor_source(spinor: Any, source: Optional[plaq_source_params] = None) -> None:
    """Sets right-hand side k of a field on the full lattice, in any precision, to column first + k of a
    source, as many as the field has. Errors: INVALID_ARGUMENT, FIELD_MISMATCH for more than
    plaq_source_columns.
    """
    _n.call(_plaq_spinor_source, _n.handle(plaq_spinor, spinor, "spinor"), _n.struct(plaq_source_params, source, "source"))


_plaq_source_columns = _n.function("plaq_source_columns", _c.c_int32, [_c.c_void_p, _c.c_void_p])


def plaq_source_columns(source: Optional[plaq_source_params] = None) -> int:
    """Counts the columns of a source from `first` on, at most `count`: 12 without noise for all spins and
    colours.
    """
    columns_ = _c.c_int64()
    _n.call(_plaq_source_columns, _n.struct(plaq_source_params, source, "source"), _c.byref(columns_))
    return columns_.value


_plaq_spinor_sequential = _n.function("plaq_spinor_sequential", _c.c_int32, [plaq_spinor, plaq_spinor, _c.c_void_p])


def plaq_spinor_sequential(from_: Any, to: Any, params: Optional[plaq_sequential_params] = None) -> None:
    """Sets `to` to delta(t, time) exp(i p (x - origin)) Gamma from, for every right-hand side: from a solution
    the source of a second solve (plaq_solver_propagator_from). Fields in single or double precision.
    Errors: INVALID_ARGUMENT, FIELD_MISMATCH, UNSUPPORTED.
    """
    _n.call(_plaq_spinor_sequential, _n.handle(plaq_spinor, from_, "from_"), _n.handle(plaq_spinor, to, "to"), _n.struct(plaq_sequential_params, params, "params"))


_plaq_solver_propagator = _n.function("plaq_solver_propagator", _c.c_int32, [plaq_solver, _c.c_void_p, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_solver_propagator(
        solver: Any,
        source: Optional[plaq_source_params] = None,
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_solve_report] = None,
        residuals: Any = None,
) -> plaq_spinor:
    """Makes a field of as many right-hand sides as the source has columns, S(x, source), from a solver for
    PLAQ_SOLUTION_M, `columns` of its parameters at a time. The report is that of all these solves: the
    iterations of the slowest; time, work, updates and restarts added up. The callback's iterations begin
    anew with each solve, its seconds do not; once it has asked to stop, every solve that is left ends after
    one iteration. `residuals`: NULL or room for as many as the source has columns.
    Arrays: residuals[columns of the source].
    """
    propagator_ = plaq_spinor()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_solver_propagator, callback_, (propagator_,), _n.handle(plaq_solver, solver, "solver"), _n.struct(plaq_source_params, source, "source"), callback_.c, None, _c.byref(propagator_), _n.struct(plaq_solve_report, report, "report"), _n.room(_c.c_double, residuals, "residuals", None, optional=True))
    return propagator_


_plaq_solver_propagator_from = _n.function("plaq_solver_propagator_from", _c.c_int32, [plaq_solver, plaq_spinor, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_solver_propagator_from(
        solver: Any,
        sources: Any,
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_solve_report] = None,
        residuals: Any = None,
) -> plaq_spinor:
    """Makes a propagator for the sources that a field of the operator's precision holds, on the full lattice:
    smeared, sequential, of another code. Where the field does not know the position of its source
    (plaq_spinor_origin), it is looked for as plaq_spinor_support does. `residuals`: NULL or room for as
    many as it has right-hand sides.
    Arrays: residuals[right-hand sides of sources].
    """
    propagator_ = plaq_spinor()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_solver_propagator_from, callback_, (propagator_,), _n.handle(plaq_solver, solver, "solver"), _n.handle(plaq_spinor, sources, "sources"), callback_.c, None, _c.byref(propagator_), _n.struct(plaq_solve_report, report, "report"), _n.room(_c.c_double, residuals, "residuals", None, optional=True))
    return propagator_


_plaq_spinor_correlators = _n.function("plaq_spinor_correlators", _c.c_int32, [plaq_spinor, _c.c_int32, _c.c_double, _c.c_int64, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_spinor_correlators(
        propagator: Any,
        source_time: int,
        boundary: float,
        times: int,
        pion: Any = None,
        rho: Any = None,
        nucleon: Any = None,
) -> None:
    """Contracts zero-momentum correlators of a propagator over t, the time from `source_time`, in `times`
    steps, the extent of the lattice. boundary: the fermions' phase in time in units of pi, 1: antiperiodic.
    Each array is NULL or has room: pion times, rho 3 times (x, then y, then z), nucleon 2 times (re, im).
    Arrays: pion[times], rho[3 * times], nucleon[2 * times].
    """
    _n.call(_plaq_spinor_correlators, _n.handle(plaq_spinor, propagator, "propagator"), _n.int32(source_time, "source_time"), _n.real(boundary, "boundary"), _n.int64(times, "times"), _n.room(_c.c_double, pion, "pion", times, optional=True), _n.room(_c.c_double, rho, "rho", 3 * times, optional=True), _n.room(_c.c_double, nucleon, "nucleon", 2 * times, optional=True))


_plaq_correlator_effective_mass = _n.function("plaq_correlator_effective_mass", _c.c_int32, [_c.c_void_p, _c.c_int64, _c.c_int32, _c.c_void_p])


def plaq_correlator_effective_mass(
        correlator: Any,
        times: int,
        form: Union[int, str, plaq_mass_form],
        masses: Any,
) -> None:
    """Computes effective masses of a correlator of `times` numbers; NaN where there is none.
    Arrays: correlator[times], masses[times].
    """
    _n.call(_plaq_correlator_effective_mass, _n.array(_c.c_double, correlator, "correlator", times), _n.int64(times, "times"), _n.enum(plaq_mass_form, form, "form"), _n.room(_c.c_double, masses, "masses", times))


# ---- Contractions ----


class plaq_projection(Enum):
    """Projections of the free spins of a baryon, with P = (1 + parity gamma_t) / 2."""
    #: tr P C; of the decuplet the average over i = x, y, z.
    TRACE = 0
    #: The decuplet's spin 3/2 at rest: the sum over i, j of
    #: tr P (delta_ij - gamma_i gamma_j / 3) C_ji, over 3.
    THREE_HALVES = 1


class plaq_baryon(Enum):
    """Baryons of light quarks u = d and strange ones s; epsilon over colours is understood."""
    #: (u C gamma5 d) u.
    NUCLEON = 0
    #: (u C gamma5 s) u.
    SIGMA = 1
    #: (s C gamma5 u) s.
    XI = 2
    #: (2 (u C gamma5 d) s + (u C gamma5 s) d - (d C gamma5 s) u) / sqrt(6).
    LAMBDA = 3
    #: (u C gamma_i u) u.
    DELTA = 4
    #: (2 (u C gamma_i s) u + (u C gamma_i u) s) / sqrt(3).
    SIGMA_STAR = 5
    #: (2 (s C gamma_i u) s + (s C gamma_i s) u) / sqrt(3).
    XI_STAR = 6
    #: (s C gamma_i s) s.
    OMEGA = 7


class plaq_contract_params(Struct):
    """Parameters of contractions of propagators.

    Members:
      position: Position of the source, x, y, z, t: times count from its t, phases of momenta are 1 at its x, y, z. -1: that
        of the propagators (plaq_spinor_origin); where they do not know it, contractions that need it are refused.
        0 or more. Default: -1, -1, -1, -1.
      boundary: Boundary phase in time in units of pi, 1: antiperiodic, of propagators that do not know theirs. Every line
        of a quark that reaches times before the source's carries its phase, which is taken out.
        Default: 1.
      parity: Parity of baryons forward in time, 1 or -1. Default: 1.
      projection: Projection of the spins of baryons. Default: PLAQ_PROJECTION_TRACE.
      boundary_space: Boundary phases in x, y, z in units of pi of propagators that do not know theirs: operators that move quarks
        across the lattice's end take them along. Default: 0, 0, 0.
    """
    struct_size: int
    position: Any
    boundary: float
    parity: int
    projection: Any
    boundary_space: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("position", _c.c_int32 * 4),
        ("boundary", _c.c_double),
        ("parity", _c.c_int32),
        ("projection", _c.c_int32),
        ("boundary_space", _c.c_double * 3),
    ]
    _enums_ = {"projection": plaq_projection}
    _init_ = "plaq_contract_params_init"


_plaq_contract_params_init = _n.function("plaq_contract_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_contract_params_init(params: plaq_contract_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_contract_params_init, _n.struct(plaq_contract_params, params, "params"), _n.int64(struct_size, "struct_size"))


_plaq_spinor_contract_mesons = _n.function("plaq_spinor_contract_mesons", _c.c_int32, [plaq_spinor, plaq_spinor, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_int64, _c.c_void_p])


def plaq_spinor_contract_mesons(
        quark: Any,
        antiquark: Any,
        params: Optional[plaq_contract_params],
        gammas: Any,
        pairs: int,
        momenta: Any,
        nmomenta: int,
        times: int,
        correlators: Any,
) -> None:
    """Contracts connected correlators of mesons: the sum over x of exp(-i p (x - x0)) times the correlator of
    qbar' Gamma_A q at (x, t0 + t) with the adjoint of qbar' Gamma_B q at the source, with signs such that
    for A = B, with antiperiodic fermions, it is positive on average. `quark` and `antiquark` (zero handle:
    the same) are propagators, each with its mass: twelve columns 3 spin + colour, or four of noise diluted
    in spin. `gammas`: `pairs` pairs (A at the sink, B at the source) of plaq_gamma. `momenta`: three
    numbers each, p_i = 2 pi n_i / L_i. `correlators`: (re, im) for every t of `times`, the extent of the
    lattice, of every pair of every momentum, t fastest. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
    Arrays: gammas[2 * pairs], momenta[3 * nmomenta], correlators[2 * times * pairs * nmomenta].
    """
    _n.call(_plaq_spinor_contract_mesons, _n.handle(plaq_spinor, quark, "quark"), _n.handle(plaq_spinor, antiquark, "antiquark"), _n.struct(plaq_contract_params, params, "params"), _n.array(_c.c_int32, gammas, "gammas", 2 * pairs), _n.int64(pairs, "pairs"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.int64(times, "times"), _n.room(_c.c_double, correlators, "correlators", 2 * times * pairs * nmomenta))


_plaq_spinor_contract_baryons = _n.function("plaq_spinor_contract_baryons", _c.c_int32, [plaq_spinor, plaq_spinor, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_int64, _c.c_void_p])


def plaq_spinor_contract_baryons(
        light: Any,
        strange: Any,
        params: Optional[plaq_contract_params],
        baryons: Any,
        count: int,
        momenta: Any,
        nmomenta: int,
        times: int,
        correlators: Any,
) -> None:
    """Contracts correlators of `count` baryons of plaq_baryon. `strange` may be the zero handle for those
    without strange quarks. Both have twelve columns. `momenta` and `correlators` as for mesons. Errors:
    INVALID_ARGUMENT, FIELD_MISMATCH.
    Arrays: baryons[count], momenta[3 * nmomenta], correlators[2 * times * count * nmomenta].
    """
    _n.call(_plaq_spinor_contract_baryons, _n.handle(plaq_spinor, light, "light"), _n.handle(plaq_spinor, strange, "strange"), _n.struct(plaq_contract_params, params, "params"), _n.array(_c.c_int32, baryons, "baryons", count), _n.int64(count, "count"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.int64(times, "times"), _n.room(_c.c_double, correlators, "correlators", 2 * times * count * nmomenta))


# ---- Hadron structure ----


_plaq_spinor_contract_insertions = _n.function("plaq_spinor_contract_insertions", _c.c_int32, [plaq_spinor, plaq_spinor, plaq_gauge, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_int64, _c.c_void_p])


def plaq_spinor_contract_insertions(
        back: Any,
        forward: Any,
        gauge: Any,
        params: Optional[plaq_contract_params],
        lengths: Any,
        lines: int,
        steps: Any,
        nsteps: int,
        momenta: Any,
        nmomenta: int,
        times: int,
        correlators: Any,
) -> None:
    """Operators between two quark lines: the sum over z of exp(i q (z - x0)) sum over columns of X(z)^dagger gamma5 Gamma [line]
    S(z). `forward` is S(z, x0), `back` the solution X of a sequential source (plaq_spinor_sequential_meson, -_baryon): X^dagger
    gamma5 is the line from z to the sink, with a gamma5-hermitian operator. A line is a product of `lengths[i]` factors, 0 for a
    local operator; `steps` has those of all lines one after the other: 0 to 3 carry q along a link forward in x, y, z, t,
    U_mu(z) q(z + mu), 7 - mu back, U_mu(z - mu)^dagger q(z - mu), 8 + mu is the derivative (D - D')_mu / 2, D q = [U_mu(z) q(z +
    mu) - U_mu(z - mu)^dagger q(z - mu)] / 2 and qbar D' the same of qbar. The last factor acts first on q, the first on qbar. What
    crosses the lattice's end takes the quark's boundary phase along. Zero handle for `gauge`: without links. A derivative
    across an end where the two quarks have different phases is refused. `momenta`: three numbers each, q_i = 2 pi n_i / L_i. `correlators`: (re, im) of [line][Gamma, all
    16][momentum][t], t the time from the source, `times` the extent of the lattice. Errors: INVALID_ARGUMENT, FIELD_MISMATCH,
    OUT_OF_MEMORY.
    Arrays: lengths[lines], steps[nsteps], momenta[3 * nmomenta], correlators[32 * lines * nmomenta * times].
    """
    _n.call(_plaq_spinor_contract_insertions, _n.handle(plaq_spinor, back, "back"), _n.handle(plaq_spinor, forward, "forward"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_contract_params, params, "params"), _n.array(_c.c_int32, lengths, "lengths", lines), _n.int64(lines, "lines"), _n.array(_c.c_int32, steps, "steps", nsteps), _n.int64(nsteps, "nsteps"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.int64(times, "times"), _n.room(_c.c_double, correlators, "correlators", 32 * lines * nmomenta * times))


_plaq_spinor_contract_current = _n.function("plaq_spinor_contract_current", _c.c_int32, [plaq_spinor, plaq_spinor, plaq_gauge, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_int64, _c.c_void_p])


def plaq_spinor_contract_current(
        back: Any,
        forward: Any,
        gauge: Any,
        params: Optional[plaq_contract_params],
        momenta: Any,
        nmomenta: int,
        times: int,
        correlators: Any,
) -> None:
    """The same for the conserved vector current V_mu(z) = [qbar(z + mu) (1 + gamma_mu) U_mu(z)^dagger q(z) - qbar(z) (1 - gamma_mu)
    U_mu(z) q(z + mu)] / 2 of Wilson's operators, exp(i q (z - x0)) at z: [mu][momentum][t]. Of anisotropic operators it is
    without the weight of the hops.
    Arrays: momenta[3 * nmomenta], correlators[8 * nmomenta * times].
    """
    _n.call(_plaq_spinor_contract_current, _n.handle(plaq_spinor, back, "back"), _n.handle(plaq_spinor, forward, "forward"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_contract_params, params, "params"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.int64(times, "times"), _n.room(_c.c_double, correlators, "correlators", 8 * nmomenta * times))


_plaq_spinor_contract_quarks = _n.function("plaq_spinor_contract_quarks", _c.c_int32, [plaq_spinor, plaq_spinor, plaq_spinor, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_int64, _c.c_void_p])


def plaq_spinor_contract_quarks(
        first: Any,
        second: Any,
        third: Any,
        params: Optional[plaq_contract_params],
        sink: Any,
        source: Any,
        momenta: Any,
        nmomenta: int,
        times: int,
        correlators: Any,
) -> None:
    """Baryons eps_abc (q1_a^T Gamma q2_b) q3_c of three propagators with twelve columns, which may differ in mass, smearing or
    displacement (zero handle: the first one), with open spins: C_ss'(t) = sum_x exp(-i p (x - x0)) <O_s(x, t0 + t) Obar_s'(x0, t0)>,
    Obar = O^dagger gamma_t, Gamma `sink` and `source` matrices of 16 (re, im), row by row. `correlators`: (re, im) of
    [pairing][momentum][t][s][s']. Pairings name the slots of the source to which the quarks of slots 1, 2, 3 of the sink go: 123,
    213, 132, 321, 231, 312; quarks belong to the sink's slots. All have the sign +, as colours are antisymmetric. Add those
    which flavours allow; boundary phases beyond the lattice's end are taken out. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
    Arrays: sink[32], source[32], momenta[3 * nmomenta], correlators[192 * nmomenta * times].
    """
    _n.call(_plaq_spinor_contract_quarks, _n.handle(plaq_spinor, first, "first"), _n.handle(plaq_spinor, second, "second"), _n.handle(plaq_spinor, third, "third"), _n.struct(plaq_contract_params, params, "params"), _n.array(_c.c_double, sink, "sink", 32), _n.array(_c.c_double, source, "source", 32), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.int64(times, "times"), _n.room(_c.c_double, correlators, "correlators", 192 * nmomenta * times))


_plaq_spinor_sequential_operator = _n.function("plaq_spinor_sequential_operator", _c.c_int32, [plaq_spinor, plaq_spinor, plaq_gauge, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int32])


def plaq_spinor_sequential_operator(
        from_: Any,
        to: Any,
        gauge: Any,
        params: Optional[plaq_contract_params],
        matrix: Any,
        steps: Any,
        nsteps: int,
        momentum: Any,
        time: int,
) -> None:
    """to = exp(i q (z - x0)) Gamma [path] from, on the time slice `time`, counted from the source, or on all of them with -1: the source
    of the line that goes on from an operator. `matrix`: Gamma as 16 (re, im); `steps` 0 to 7 as of plaq_spinor_contract_insertions. Any
    number of columns, in single or double precision. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
    Arrays: matrix[32], steps[nsteps], momentum[3].
    """
    _n.call(_plaq_spinor_sequential_operator, _n.handle(plaq_spinor, from_, "from_"), _n.handle(plaq_spinor, to, "to"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_contract_params, params, "params"), _n.array(_c.c_double, matrix, "matrix", 32), _n.array(_c.c_int32, steps, "steps", nsteps), _n.int64(nsteps, "nsteps"), _n.array(_c.c_int32, momentum, "momentum", 3), _n.int32(time, "time"))


_plaq_spinor_sequential_meson = _n.function("plaq_spinor_sequential_meson", _c.c_int32, [plaq_spinor, plaq_spinor, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int32])


def plaq_spinor_sequential_meson(
        from_: Any,
        to: Any,
        params: Optional[plaq_contract_params],
        sink: Any,
        source: Any,
        momentum: Any,
        time: int,
) -> None:
    """The sequential source through the sink of a meson qbar' Gamma_A q with the adjoint of qbar' Gamma_B q at the source, `time` of
    the sink counted from the source and its momentum p: from the propagator of the antiquark (given as that of a quark, smeared
    where the sink is) to = -gamma5 Gamma_A^dagger gamma5 S' gamma5 gamma_t Gamma_B gamma_t exp(i p (x - x0)). Smear it where the sink is
    smeared; with its solution X plaq_spinor_contract_insertions gives <O_A(x) J O_B(x0)^dagger>, J on q, with exp(-i p (x - x0)), in
    the sign of plaq_contract_mesons. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
    Arrays: sink[32], source[32], momentum[3].
    """
    _n.call(_plaq_spinor_sequential_meson, _n.handle(plaq_spinor, from_, "from_"), _n.handle(plaq_spinor, to, "to"), _n.struct(plaq_contract_params, params, "params"), _n.array(_c.c_double, sink, "sink", 32), _n.array(_c.c_double, source, "source", 32), _n.array(_c.c_int32, momentum, "momentum", 3), _n.int32(time, "time"))


_plaq_spinor_sequential_baryon = _n.function("plaq_spinor_sequential_baryon", _c.c_int32, [plaq_spinor, plaq_spinor, plaq_spinor, plaq_spinor, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int32])


def plaq_spinor_sequential_baryon(
        first: Any,
        second: Any,
        third: Any,
        to: Any,
        params: Optional[plaq_contract_params],
        sink: Any,
        source: Any,
        projector: Any,
        pairings: Any,
        slots: Any,
        weights: Any,
        terms: int,
        momentum: Any,
        time: int,
) -> None:
    """The sequential source through the sink of a baryon: as of plaq_spinor_contract_quarks, of the sum of `terms` contractions, each with a
    `pairings` number 0 to 5 in the order given there, the slot 0, 1 or 2 of the sink (`slots`) whose quark the operator acts on, and
    a weight. `projector` P closes the spins, tr[P C]. With the solution X of the result, smeared before where the sink is,
    plaq_spinor_contract_insertions gives sum_x exp(-i p (x - x0)) tr[P <O(x, t0 + time) J Obar(x0, t0)>]. For the nucleon, quarks u d u:
    an operator on u is pairings 0 and 3 with slots 0 and 2 each, one on d the same with slot 1. Errors: INVALID_ARGUMENT,
    FIELD_MISMATCH.
    Arrays: sink[32], source[32], projector[32], pairings[terms], slots[terms], weights[terms], momentum[3].
    """
    _n.call(_plaq_spinor_sequential_baryon, _n.handle(plaq_spinor, first, "first"), _n.handle(plaq_spinor, second, "second"), _n.handle(plaq_spinor, third, "third"), _n.handle(plaq_spinor, to, "to"), _n.struct(plaq_contract_params, params, "params"), _n.array(_c.c_double, sink, "sink", 32), _n.array(_c.c_double, source, "source", 32), _n.array(_c.c_double, projector, "projector", 32), _n.array(_c.c_int32, pairings, "pairings", terms), _n.array(_c.c_int32, slots, "slots", terms), _n.array(_c.c_double, weights, "weights", terms), _n.int64(terms, "terms"), _n.array(_c.c_int32, momentum, "momentum", 3), _n.int32(time, "time"))


_plaq_gauge_gluon_pairs = _n.function("plaq_gauge_gluon_pairs", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_int64, _c.c_int64, _c.c_void_p])


def plaq_gauge_gluon_pairs(
        gauge: Any,
        steps: Any,
        nsteps: int,
        momenta: Any,
        nmomenta: int,
        places: int,
        times: int,
        correlators: Any,
) -> None:
    """Pairs of field strengths joined by adjoint lines, gluon operators: the sum over x of exp(-i p x) tr[F_a(x) W F_b(x + d)
    W^dagger], where W is the product of links along the first n of `nsteps` steps (0 to 3 forward in x, y, z, t, 7 - mu back) from x
    to x + d, and F = (Q - Q^dagger) / 8 the sum of the four clover leaves without its trace. `correlators`: (re, im) of [n][plane a]
    [plane b][momentum][t] for n = 0 to `nsteps`, which are `places` = nsteps + 1, planes xy, xz, yz, xt, yt, zt, t and x of the first
    one from the lattice's origin. Links are those of `gauge`, which may have flowed. Errors: INVALID_ARGUMENT, UNSUPPORTED,
    OUT_OF_MEMORY.
    Arrays: steps[nsteps], momenta[3 * nmomenta], correlators[72 * places * nmomenta * times].
    """
    _n.call(_plaq_gauge_gluon_pairs, _n.handle(plaq_gauge, gauge, "gauge"), _n.array(_c.c_int32, steps, "steps", nsteps), _n.int64(nsteps, "nsteps"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.int64(places, "places"), _n.int64(times, "times"), _n.room(_c.c_double, correlators, "correlators", 72 * places * nmomenta * times))


# ---- Quark loops ----


class plaq_loops_kind(Enum):
    """Contractions of noise eta into loops; S = M^-1."""
    #: eta^dagger Gamma S eta: the loops of S.
    PLAIN = 0
    #: (S eta)^dagger gamma5 Gamma S eta: the loops of S(mu) gamma5 S(-mu) with twisted mass mu (Boucaud et al., Comput. Phys. Commun.
    #: 179, 695), so with the factor -2 i mu those of S(mu) - S(-mu).
    ONE_END = 1
    #: (S' gamma5 eta)^dagger gamma5 Gamma S eta: the loops of S S' with another operator, so with the factor m' - m those of S - S' of two
    #: masses (Giusti et al., Eur. Phys. J. C 79, 586). S' is gamma5-hermitian.
    DIFFERENCE = 2


class plaq_loops_params(Struct):
    """Noise of loops.

    Members:
      kind: Contraction of noise into loops. Default: PLAQ_LOOPS_PLAIN.
      noise: Noise at all sites. Default: PLAQ_NOISE_Z4.
      seed: Seed of the noise, which is the same on any number of ranks. Default: 0.
      first: Number of the first noise vector: estimates go on from there. 0 to 1048576. Default: 0.
      vectors: Noise vectors. 1 to 1048576. Default: 1.
      dilute: Indices that noise is diluted in, a sum of PLAQ_DILUTE_ bits; parts of a dilution are added.
        Default: 0.
      time_parts: Parts of the time slices with PLAQ_DILUTE_TIME, else 0. 0 to 1048576. Default: 0.
      probes: Hierarchical probing: plane waves with which a noise vector is multiplied, 1 (none) to the number of sites; the mean
        over them counts. Complete levels are best, e.g. 2, 16, 32, 256 of extents that 4 divides.
        1 or more. Default: 1.
      factor: Complex factor (re, im) of all loops: -2 i mu for PLAQ_LOOPS_ONE_END, m' - m for PLAQ_LOOPS_DIFFERENCE.
        Default: 1, 0.
    """
    struct_size: int
    kind: Any
    noise: Any
    seed: int
    first: int
    vectors: int
    dilute: int
    time_parts: int
    probes: int
    factor: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("kind", _c.c_int32),
        ("noise", _c.c_int32),
        ("seed", _c.c_int64),
        ("first", _c.c_int32),
        ("vectors", _c.c_int32),
        ("dilute", _c.c_int32),
        ("time_parts", _c.c_int32),
        ("probes", _c.c_int32),
        ("factor", _c.c_double * 2),
    ]
    _enums_ = {"kind": plaq_loops_kind, "noise": plaq_noise}
    _init_ = "plaq_loops_params_init"


_plaq_loops_params_init = _n.function("plaq_loops_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_loops_params_init(params: plaq_loops_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_loops_params_init, _n.struct(plaq_loops_params, params, "params"), _n.int64(struct_size, "struct_size"))


_plaq_solver_loops = _n.function("plaq_solver_loops", _c.c_int32, [plaq_solver, plaq_solver, plaq_gauge, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_int64, _c.c_int64, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_solver_loops(
        solver: Any,
        other: Any,
        gauge: Any,
        params: Optional[plaq_loops_params],
        lengths: Any,
        lines: int,
        steps: Any,
        nsteps: int,
        momenta: Any,
        nmomenta: int,
        vectors: int,
        times: int,
        callback: Optional[Callable[..., Any]],
        estimates: Any,
        currents: Any = None,
        report: Optional[plaq_solve_report] = None,
) -> int:
    """Quark loops by noise: of each noise vector the estimates of sum_x exp(-i p x) tr[Gamma line M^-1(end, x)], without the minus
    sign of the fermion loop, by time of the lattice, x from its origin. Lines, momenta and `gauge` as of plaq_spinor_contract_insertions;
    M and its boundary phase are those of `solver`, for PLAQ_SOLUTION_M; `other`: the solver of the other quark of
    PLAQ_LOOPS_DIFFERENCE. `estimates`: (re, im) of [vector][line][Gamma, all 16][momentum][t]; `currents`, NULL or room: of the conserved
    current of plaq_spinor_contract_current, [vector][mu][momentum][t]. Columns are contracted as they are solved. The callback is that of
    solves; where it ends the work `finished` vectors are complete, and the others 0. Errors: INVALID_ARGUMENT, UNSUPPORTED,
    those of plaq_solver_solve.
    Arrays: lengths[lines], steps[nsteps], momenta[3 * nmomenta], estimates[32 * vectors * lines * nmomenta * times], currents[8 * vectors * nmomenta * times].
    """
    finished_ = _c.c_int64()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_solver_loops, callback_, (), _n.handle(plaq_solver, solver, "solver"), _n.handle(plaq_solver, other, "other"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_loops_params, params, "params"), _n.array(_c.c_int32, lengths, "lengths", lines), _n.int64(lines, "lines"), _n.array(_c.c_int32, steps, "steps", nsteps), _n.int64(nsteps, "nsteps"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.int64(vectors, "vectors"), _n.int64(times, "times"), callback_.c, None, _n.room(_c.c_double, estimates, "estimates", 32 * vectors * lines * nmomenta * times), _n.room(_c.c_double, currents, "currents", 8 * vectors * nmomenta * times, optional=True), _c.byref(finished_), _n.struct(plaq_solve_report, report, "report"))
    return finished_.value


_plaq_source_probe = _n.function("plaq_source_probe", _c.c_int32, [_c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_source_probe(extents: Any, number: int, wave: Any) -> None:
    """Wave number `number` of hierarchical probing on a lattice of these extents, which must be even: exp(2 pi i sum_mu n_mu x_mu / L_mu). Errors:
    INVALID_ARGUMENT.
    Arrays: extents[4], wave[4].
    """
    _n.call(_plaq_source_probe, _n.array(_c.c_int32, extents, "extents", 4), _n.int64(number, "number"), _n.room(_c.c_int32, wave, "wave", 4))


# ---- Reweighting factors ----


class plaq_reweighting_kind(Enum):
    """Reweighting factors, with X = M^dagger M."""
    #: det X / (X + mu^2): openQCD's RWTM1, and RWTM1_EO of an asymmetric system.
    TWISTED_MASS_1 = 0
    #: det X (X + 2 mu^2) / (X + mu^2)^2: openQCD's RWTM2, and RWTM2_EO of an asymmetric system.
    TWISTED_MASS_2 = 1
    #: det X^(1/2) r(X)^n of a rational function r about x^(-1/2 n): openQCD's RWRAT.
    RATIONAL = 2


class plaq_reweighting_params(Struct):
    """Factors of reweighting and their noise.

    Members:
      kind: Factor. Default: PLAQ_REWEIGHTING_TWISTED_MASS_1.
      system: System whose operator is M. Twisted masses: PLAQ_SYSTEM_FULL, or an asymmetric system, whose twisted mass is on its
        own parity alone. Rational functions: that of the chain, by default of plaq's PLAQ_SYSTEM_EVEN_SYMMETRIC, of
        openQCD's PLAQ_SYSTEM_EVEN_ASYMMETRIC. Default: PLAQ_SYSTEM_FULL.
      vectors: Noise vectors of each factor. 1 to 1048576. Default: 1.
      first: Number of the first noise vector: others make independent estimates. 0 to 1048576.
        Default: 0.
      seed: Seed of the noise. Default: 0.
      low: Interval of the rational function's approximation: the chain's for M^dagger M in the solver's
        normalisation. openQCD's are those of |D|: their squares. 0: not given. Default: 0.
      high: Its upper end. Default: 0.
      poles: Poles of the rational function; 0: as few as have `error`. 0 to 40. Default: 0.
      fields: Pseudofermion fields n of the chain, each with the n-th root. 1 to 64. Default: 1.
      error: Relative error of the rational function where `poles` is 0, the chain's error_hamiltonian.
        A number above 0, to 1. Default: 1e-12.
    """
    struct_size: int
    kind: Any
    system: Any
    vectors: int
    first: int
    seed: int
    low: float
    high: float
    poles: int
    fields: int
    error: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("kind", _c.c_int32),
        ("system", _c.c_int32),
        ("vectors", _c.c_int32),
        ("first", _c.c_int32),
        ("seed", _c.c_int64),
        ("low", _c.c_double),
        ("high", _c.c_double),
        ("poles", _c.c_int32),
        ("fields", _c.c_int32),
        ("error", _c.c_double),
    ]
    _enums_ = {"kind": plaq_reweighting_kind, "system": plaq_system}
    _init_ = "plaq_reweighting_params_init"


_plaq_reweighting_params_init = _n.function("plaq_reweighting_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_reweighting_params_init(params: plaq_reweighting_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_reweighting_params_init, _n.struct(plaq_reweighting_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_reweighting_report(Struct):
    """The product of the averages of factors over noise vectors.

    Members:
      ln: Its logarithm.
      error: Its relative error by the scatter of the vectors; infinite of one vector.
      iterations: Iterations of all solves.
      seconds: Seconds.
    """
    struct_size: int
    ln: float
    error: float
    iterations: int
    seconds: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("ln", _c.c_double),
        ("error", _c.c_double),
        ("iterations", _c.c_int64),
        ("seconds", _c.c_double),
    ]
    _init_ = "plaq_reweighting_report_init"


_plaq_reweighting_report_init = _n.function("plaq_reweighting_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_reweighting_report_init(report: plaq_reweighting_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_reweighting_report_init, _n.struct(plaq_reweighting_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_solver_reweighting = _n.function("plaq_solver_reweighting", _c.c_int32, [plaq_solver, _c.c_void_p, _c.c_void_p, _c.c_int64, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_solver_reweighting(
        solver: Any,
        params: Optional[plaq_reweighting_params],
        mu: Any,
        nmu: int,
        callback: Optional[Callable[..., Any]],
        minus_ln: Any,
        norms: Any,
        numbers: int,
        report: Optional[plaq_reweighting_report] = None,
) -> None:
    """Estimates reweighting factors by normal noise: for each twisted mass mu_k, 0 < mu_1 < mu_2 < ..., the factor from mu_k-1 to
    mu_k (mu_0 = 0), whose product is that of the last one; for a rational function, without mu (`nmu` = 0), one factor. `minus_ln`: -ln of the
    estimate, [factor][vector]; a factor is the average of exp(-minus_ln) over vectors. `norms`: square norms of the noise,
    alike, or NULL. `numbers`: factors times params.vectors. Solves are those of the settings of `solver`, with twisted masses by its algorithm, for
    poles by CG; the callback is that of solves, and where it ends one the call is NOT_CONVERGED. Errors: INVALID_ARGUMENT, BAD_PARAMETER,
    UNSUPPORTED, NOT_CONVERGED, SPECTRAL_BOUNDS (eigenvalues that the rational function does not cover), those of plaq_solver_solve.
    Arrays: mu[nmu], minus_ln[numbers], norms[numbers].
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_solver_reweighting, callback_, (), _n.handle(plaq_solver, solver, "solver"), _n.struct(plaq_reweighting_params, params, "params"), _n.array(_c.c_double, mu, "mu", nmu), _n.int64(nmu, "nmu"), callback_.c, None, _n.room(_c.c_double, minus_ln, "minus_ln", numbers), _n.room(_c.c_double, norms, "norms", numbers, optional=True), _n.int64(numbers, "numbers"), _n.struct(plaq_reweighting_report, report, "report"))


# ---- Schroedinger functional ----


class plaq_boundary_end(Enum):
    """Boundaries of the Schroedinger functional."""
    #: Slice 0.
    LOWER = 0
    #: Slice T, behind the last stored one.
    UPPER = 1


_plaq_solver_boundary_propagator = _n.function("plaq_solver_boundary_propagator", _c.c_int32, [plaq_solver, _c.c_int32, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_solver_boundary_propagator(
        solver: Any,
        end: Union[int, str, plaq_boundary_end],
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_solve_report] = None,
) -> plaq_spinor:
    """Makes the boundary-to-bulk propagator of a boundary whose links stand still, H(x) = cF sum_y D^-1(x, y) U(y - t, t)^dagger P with y
    on slice 1 of the lower end, P = (1 + gamma_t) / 2, or H(x) = cF' sum_y D^-1(x, y) U(y, t) P with y on slice T - 1 of the upper one,
    P = (1 - gamma_t) / 2: twelve right-hand sides, 3 spin + colour of the boundary field, of which six are solved for. D is that of mass
    normalisation whatever the solver's is; boundary fields have momentum zero, with the phases of quarks in space exp(i theta x / L). The
    solver is one for PLAQ_SOLUTION_M. Errors: UNSUPPORTED (other boundaries or operators), those of plaq_solver_propagator.
    """
    propagator_ = plaq_spinor()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_solver_boundary_propagator, callback_, (propagator_,), _n.handle(plaq_solver, solver, "solver"), _n.enum(plaq_boundary_end, end, "end"), callback_.c, None, _c.byref(propagator_), _n.struct(plaq_solve_report, report, "report"))
    return propagator_


_plaq_solver_boundary_correlators = _n.function("plaq_solver_boundary_correlators", _c.c_int32, [plaq_solver, plaq_progress_callback, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_solver_boundary_correlators(
        solver: Any,
        callback: Optional[Callable[..., Any]],
        times: int,
        f_a: Any = None,
        f_p: Any = None,
        g_a: Any = None,
        g_p: Any = None,
        f1: Any = None,
        report: Optional[plaq_solve_report] = None,
) -> None:
    """Makes the correlators of boundary fields by slice x0 = 0 to `times` - 1, averaged over space, with the H of
    plaq_solver_boundary_propagator: f_A = -1/2 tr H^dagger gamma_t H and f_P = 1/2 tr H^dagger H of the lower end, g_A = 1/2 tr H^dagger gamma_t H and
    g_P of the upper one, and `f1` = 1/2 tr K^dagger K, K = cF' sum_x P U(x, t)^dagger H(x) / L^3 on the last slice. Each may be NULL. On
    PLAQ_BOUNDARY_TIME_OPEN_SF what is of the lower end is NaN. `times`: the extent of t. The report is that of all solves.
    Errors: as of plaq_solver_boundary_propagator.
    Arrays: f_a[times], f_p[times], g_a[times], g_p[times], f1[1].
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_solver_boundary_correlators, callback_, (), _n.handle(plaq_solver, solver, "solver"), callback_.c, None, _n.int64(times, "times"), _n.room(_c.c_double, f_a, "f_a", times, optional=True), _n.room(_c.c_double, f_p, "f_p", times, optional=True), _n.room(_c.c_double, g_a, "g_a", times, optional=True), _n.room(_c.c_double, g_p, "g_p", times, optional=True), _n.room(_c.c_double, f1, "f1", 1, optional=True), _n.struct(plaq_solve_report, report, "report"))


# ---- Propagators in files ----


class plaq_propagator_kind(Enum):
    """SciDAC files in LIME, with checksums, as QIO writes them."""
    #: USQCD_DiracFermion_ScalarSource_TwelveSink: one complex field, the source of all spins and
    #: colours, and twelve spinors (MILC).
    SCALAR_SOURCE = 1
    #: USQCD_DiracFermion_Source_Sink_Pairs: a source and a solution for every column.
    PAIRS = 2
    #: One field of matrices of spin and colour, QDP++'s LatticePropagator (Chroma).
    MATRIX = 3


class plaq_spinor_write_params(Struct):
    """Contents of the file of a propagator.

    Members:
      kind: 0: with sources PLAQ_PROPAGATOR_SCALAR_SOURCE where they are of that form, else
        PLAQ_PROPAGATOR_PAIRS; without sources PLAQ_PROPAGATOR_MATRIX. Default: 0.
      precision: PLAQ_PRECISION_DOUBLE, PLAQ_PRECISION_SINGLE, or 0: double for fields in double, else single.
        Default: 0.
      info: For the reader, in every record: NULL or NUL-terminated UTF-8. Default: NULL.
    """
    struct_size: int
    kind: Any
    precision: Any
    info: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("kind", _c.c_int32),
        ("precision", _c.c_int32),
        ("info", _c.c_char_p),
    ]
    _enums_ = {"kind": plaq_propagator_kind, "precision": plaq_precision}
    _init_ = "plaq_spinor_write_params_init"


_plaq_spinor_write_params_init = _n.function("plaq_spinor_write_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_spinor_write_params_init(params: plaq_spinor_write_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_spinor_write_params_init, _n.struct(plaq_spinor_write_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_spinor_read_params(Struct):
    """Parameters of reading a propagator.

    Members:
      extents: The whole lattice that the file must have; all 0: any. Default: 0, 0, 0, 0.
      precision: Precision of the field; 0: that of the file. Default: 0.
      wrong_checksum: 1: columns are read although a checksum of the file is not theirs. For files that were changed after
        they were written, and are known to be good. 0 or 1. Default: 0.
    """
    struct_size: int
    extents: Any
    precision: Any
    wrong_checksum: int
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("extents", _c.c_int32 * 4),
        ("precision", _c.c_int32),
        ("wrong_checksum", _c.c_int32),
    ]
    _enums_ = {"precision": plaq_precision}
    _init_ = "plaq_spinor_read_params_init"


_plaq_spinor_read_params_init = _n.function("plaq_spinor_read_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_spinor_read_params_init(params: plaq_spinor_read_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_spinor_read_params_init, _n.struct(plaq_spinor_read_params, params, "params"), _n.int64(struct_size, "struct_size"))


_plaq_spinor_write = _n.function("plaq_spinor_write", _c.c_int32, [plaq_spinor, plaq_spinor, _c.c_char_p, _c.c_void_p])


def plaq_spinor_write(
        propagator: Any,
        sources: Any,
        file: Any,
        params: Optional[plaq_spinor_write_params] = None,
) -> None:
    """Writes a propagator, every rank its part, complete or not at all. `sources`: what it was solved
    for, as many columns, or the zero handle. What plaq_spinor_origin says of the propagator is kept in the
    records; coordinates that are not known are looked for in `sources`. Errors: FILE_WRITE, INVALID_ARGUMENT, FIELD_MISMATCH.
    """
    _n.call(_plaq_spinor_write, _n.handle(plaq_spinor, propagator, "propagator"), _n.handle(plaq_spinor, sources, "sources"), _n.encoded(file, "file"), _n.struct(plaq_spinor_write_params, params, "params"))


_plaq_spinor_read = _n.function("plaq_spinor_read", _c.c_int32, [plaq_context, _c.c_char_p, _c.c_void_p, _c.c_void_p])


def plaq_spinor_read(context: Any, file: Any, params: Optional[plaq_spinor_read_params] = None) -> plaq_spinor:
    """Makes a field from a file of any of these kinds, written on any number of ranks: twelve columns 3 spin +
    colour where the file says which they are, else in its order. Checksums are compared; what the records
    say of source and operator (also those of Chroma), or the sources in the file tell, is what
    plaq_spinor_origin then says. Errors: FILE_OPEN, FILE_FORMAT, FILE_EXTENTS, FILE_TRUNCATED,
    FILE_CHECKSUM, NOT_FINITE, BAD_EXTENTS, OUT_OF_MEMORY.
    """
    propagator_ = plaq_spinor()
    _n.call(_plaq_spinor_read, _n.handle(plaq_context, context, "context"), _n.encoded(file, "file"), _n.struct(plaq_spinor_read_params, params, "params"), _c.byref(propagator_))
    return propagator_


# ---- Eigenvectors of A: of M where it is hermitian, a Laplacian, else of M^dagger M ----


class plaq_eigen(Handle):
    """Eigenvectors that were found, with their eigenvalues."""


class plaq_eigen_end(Enum):
    """An end of the spectrum."""
    #: The smallest eigenvalues.
    SMALLEST = 0
    #: The largest eigenvalues.
    LARGEST = 1


class plaq_eigen_method(Enum):
    """Methods of finding eigenvectors."""
    #: Block Lanczos with thick restarts and Chebyshev polynomials.
    LANCZOS = 0
    #: Minimising the Ritz functional with locally optimal conjugate gradients.
    RITZ = 1


class plaq_eigen_params(Struct):
    """Parameters of a search for eigenvectors of A, which is M where it is hermitian, a Laplacian, and else
    M^dagger M.

    Members:
      method: How eigenvectors are found. Default: PLAQ_EIGEN_LANCZOS.
      end: End of the spectrum that they are of. Default: PLAQ_EIGEN_SMALLEST.
      system: What stands for M: the operator, or a Schur complement. Default: PLAQ_SYSTEM_FULL.
      count: Eigenvectors wanted, to the number of unknowns. A small operator, of which much is wanted, is
        diagonalised as a whole. 1 or more. Default: 8.
      max_vectors: Vectors kept at most, `count` + 2 `block` at least; 0: about twice as many as wanted.
        0 or more. Default: 0.
      block: Vectors multiplied at a time. 1 or more. Default: 1.
      max_restarts: Times that the basis is built up anew, or cycles of the Ritz functional. 1 to 1000000.
        Default: 200.
      verify: A search, with random vectors orthogonal to those found, looks for what was missed, until it finds nothing;
        else `converged` says nothing about missing eigenvalues. With it a `tol` above 1e-3 counts as 1e-3.
        0 or 1. Default: 1.
      tol: Largest |A v - lambda v| over the largest eigenvalue, from 1e-16, in single precision 1e-8;
        0: 1e-10, in single precision 1e-6. Default: 0.
      degree: Degree of the Chebyshev polynomial; 0: found from the spectrum; 1: no polynomial.
        0 to 100000. Default: 0.
      time_slices: The `count` smallest of every time slice are found by themselves, of an operator without hops in t, e.g. the
        Laplacian of colour vectors in x, y and z: vector k holds number k of every slice, of unit length there, and
        values are [t][k]. Of the other parameters `tol`, `max_restarts`, `verify`, `seed` and `max_seconds` count.
        0 or 1. Default: 0.
      from_: Lower end of the polynomial's interval, which should hold what is not wanted, in the operator's
        normalisation; it is replaced where wanted eigenvalues turn out to lie in it.
        Default: 0.
      to: Upper end of the interval. Default: 0.
      seed: Seed of random start vectors. Default: 1.
      max_seconds: Most seconds that a search may take; 0: as many as it needs. They are asked for after every block, by
        the Ritz functional after every step of the minimisation; all ranks stop after the same one.
        Default: 0.
      vectors: Where vectors are kept while they are sought by Lanczos, and afterwards.
        Default: PLAQ_VECTORS_AUTO.
      min_vectors: Vectors that are kept at least, before some of them are kept on the host; 0: a quarter more than are
        wanted, 16 or 4 `block` at least. 0 or more. Default: 0.
    """
    struct_size: int
    method: Any
    end: Any
    system: Any
    count: int
    max_vectors: int
    block: int
    max_restarts: int
    verify: int
    tol: float
    degree: int
    time_slices: int
    from_: float
    to: float
    seed: int
    max_seconds: float
    vectors: Any
    min_vectors: int
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("method", _c.c_int32),
        ("end", _c.c_int32),
        ("system", _c.c_int32),
        ("count", _c.c_int32),
        ("max_vectors", _c.c_int32),
        ("block", _c.c_int32),
        ("max_restarts", _c.c_int32),
        ("verify", _c.c_int32),
        ("tol", _c.c_double),
        ("degree", _c.c_int32),
        ("time_slices", _c.c_int32),
        ("from_", _c.c_double),
        ("to", _c.c_double),
        ("seed", _c.c_int64),
        ("max_seconds", _c.c_double),
        ("vectors", _c.c_int32),
        ("min_vectors", _c.c_int32),
    ]
    _enums_ = {"method": plaq_eigen_method, "end": plaq_eigen_end, "system": plaq_system, "vectors": plaq_vector_memory}
    _old_ = {"room": "max_vectors", "least_room": "min_vectors"}
    _init_ = "plaq_eigen_params_init"


_plaq_eigen_params_init = _n.function("plaq_eigen_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_eigen_params_init(params: plaq_eigen_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_eigen_params_init, _n.struct(plaq_eigen_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_eigen_report(Struct):
    """Report of a search for eigenvectors.

    Members:
      converged: 1: every vector meets the tolerance, and no eigenvalue is missing if `verify` was asked for.
      stopped: 1: the callback asked to stop or `max_seconds` were over; what was known by then comes out.
      count: Vectors that there are.
      degree: Degree of the last polynomial.
      from_: Lower end of the polynomial's last interval.
      to: Upper end of that interval.
      least: Estimate of the smallest eigenvalue.
      largest: Estimate of the largest eigenvalue.
      restarts: Restarts of the search.
      applications: Multiplications of a vector with A.
      seconds: Seconds that the search took.
      stopped_by: What ended the search; PLAQ_STOPPED_BY_ITERATIONS: `max_restarts`.
      verified: 1: no eigenvalue is missing, as a search from a random vector orthogonal to those found has shown, or
        because all of the operator was diagonalised. 0: not asked for, or ended by a limit.
      max_vectors: Vectors that the search kept at most; 0 where Lanczos did not run.
      on_device: Vectors of the search that the device held; the others waited on the host.
    """
    struct_size: int
    converged: int
    stopped: int
    count: int
    degree: int
    from_: float
    to: float
    least: float
    largest: float
    restarts: int
    applications: int
    seconds: float
    stopped_by: Any
    verified: int
    max_vectors: int
    on_device: int
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("converged", _c.c_int32),
        ("stopped", _c.c_int32),
        ("count", _c.c_int32),
        ("degree", _c.c_int32),
        ("from_", _c.c_double),
        ("to", _c.c_double),
        ("least", _c.c_double),
        ("largest", _c.c_double),
        ("restarts", _c.c_int64),
        ("applications", _c.c_int64),
        ("seconds", _c.c_double),
        ("stopped_by", _c.c_int32),
        ("verified", _c.c_int32),
        ("max_vectors", _c.c_int32),
        ("on_device", _c.c_int32),
    ]
    _enums_ = {"stopped_by": plaq_stopped_by}
    _init_ = "plaq_eigen_report_init"


_plaq_eigen_report_init = _n.function("plaq_eigen_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_eigen_report_init(report: plaq_eigen_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_eigen_report_init, _n.struct(plaq_eigen_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_eigen_create = _n.function("plaq_eigen_create", _c.c_int32, [plaq_dirac, _c.c_void_p, plaq_spinor, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_eigen_create(
        dirac: Any,
        params: Optional[plaq_eigen_params] = None,
        guess: Any = None,
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_eigen_report] = None,
) -> plaq_eigen:
    """Finds eigenvectors. `guess`: vectors near those wanted, e.g. saved ones, or the zero handle.
    The callback hears of every restart, and of every block on the way, and of the largest residual
    that is known. Not converged is not an error. Errors: BAD_PARAMETER, UNSUPPORTED (16-bit vectors),
    FIELD_MISMATCH, NOT_FINITE, OUT_OF_MEMORY.
    """
    eigen_ = plaq_eigen()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_eigen_create, callback_, (eigen_,), _n.handle(plaq_dirac, dirac, "dirac"), _n.struct(plaq_eigen_params, params, "params"), _n.handle(plaq_spinor, guess, "guess"), callback_.c, None, _c.byref(eigen_), _n.struct(plaq_eigen_report, report, "report"))
    return eigen_


_plaq_eigen_write = _n.function("plaq_eigen_write", _c.c_int32, [plaq_eigen, _c.c_char_p])


def plaq_eigen_write(eigen: Any, file: Any) -> None:
    """Writes eigenvectors to a file: SciDAC records in LIME with checksums, values, residuals and
    bounds beside them. It appears complete or not at all. Errors: UNSUPPORTED: vectors on one
    parity; FILE_WRITE.
    """
    _n.call(_plaq_eigen_write, _n.handle(plaq_eigen, eigen, "eigen"), _n.encoded(file, "file"))


_plaq_eigen_read = _n.function("plaq_eigen_read", _c.c_int32, [plaq_dirac, _c.c_char_p, _c.c_void_p, _c.c_void_p])


def plaq_eigen_read(dirac: Any, file: Any, report: Optional[plaq_eigen_report] = None) -> plaq_eigen:
    """Reads eigenvectors of such a file as those of this operator: values and residuals are measured with it.
    Errors: FIELD_MISMATCH: they belong to other links or another operator; FILE_*.
    """
    eigen_ = plaq_eigen()
    _n.call(_plaq_eigen_read, _n.handle(plaq_dirac, dirac, "dirac"), _n.encoded(file, "file"), _c.byref(eigen_), _n.struct(plaq_eigen_report, report, "report"))
    return eigen_


_plaq_eigen_destroy = _n.function("plaq_eigen_destroy", _c.c_int32, [plaq_eigen])


def plaq_eigen_destroy(eigen: Any) -> None:
    """Destroys eigenvectors. The zero handle is accepted."""
    _n.call(_plaq_eigen_destroy, _n.handle(plaq_eigen, eigen, "eigen"))


_plaq_eigen_values = _n.function("plaq_eigen_values", _c.c_int32, [plaq_eigen, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_eigen_values(eigen: Any, values: Any, residuals: Any, bounds: Any, count: int) -> None:
    """Gives eigenvalues of A in the operator's normalisation, from the end of the spectrum inwards, |A v -
    lambda v| and bounds on the error of the values; `count`: as in the report, with `time_slices` times the
    extent of t, [t][k]: the values of a slice beside each other. `residuals` and `bounds` may be NULL.
    Arrays: values[count], residuals[count], bounds[count].
    """
    _n.call(_plaq_eigen_values, _n.handle(plaq_eigen, eigen, "eigen"), _n.room(_c.c_double, values, "values", count), _n.room(_c.c_double, residuals, "residuals", count, optional=True), _n.room(_c.c_double, bounds, "bounds", count, optional=True), _n.int64(count, "count"))


_plaq_eigen_vectors = _n.function("plaq_eigen_vectors", _c.c_int32, [plaq_eigen, _c.c_void_p])


def plaq_eigen_vectors(eigen: Any) -> plaq_spinor:
    """Makes a field with all eigenvectors, orthonormal, one for each right-hand side."""
    vectors_ = plaq_spinor()
    _n.call(_plaq_eigen_vectors, _n.handle(plaq_eigen, eigen, "eigen"), _c.byref(vectors_))
    return vectors_


_plaq_eigen_some_vectors = _n.function("plaq_eigen_some_vectors", _c.c_int32, [plaq_eigen, _c.c_int64, _c.c_int64, _c.c_void_p])


def plaq_eigen_some_vectors(eigen: Any, first: int, count: int) -> plaq_spinor:
    """Makes a field with `count` eigenvectors from number `first` on, for eigenvectors that are not all on the
    device.
    """
    vectors_ = plaq_spinor()
    _n.call(_plaq_eigen_some_vectors, _n.handle(plaq_eigen, eigen, "eigen"), _n.int64(first, "first"), _n.int64(count, "count"), _c.byref(vectors_))
    return vectors_


# ---- Low modes, and loops part by part ----


class plaq_space(Handle):
    """Spaces of low modes of a solver's operator, each with an approximate inverse L = P D_c^-1 R, D_c = R M P: levels of
    multigrid or vectors. Level 0 is the lattice, larger numbers are coarser.
    """


class plaq_loops(Handle):
    """Quark loops as sums of parts, each with its variance and cost."""


class plaq_loops_traces(Enum):
    """Ways to take the traces of low modes."""
    #: Noise on each level, but the last level's trace exactly where that costs less for the goals, as four noise vectors tell.
    AUTO = 0
    #: The last level's trace exactly, by its coordinate vectors; noise on levels between.
    LAST = 1
    #: Noise on each level.
    NOISE = 2
    #: Traces of all coarse levels exactly.
    EVERY = 3


class plaq_loops_term(Enum):
    """Terms that loops are the sum of."""
    #: The difference of a level and the next one, or the last level, by noise on the level.
    NOISE = 0
    #: The same, exactly by all coordinate vectors of the level.
    EXACT = 1
    #: The first terms of the hopping expansion, exactly.
    HOPPING = 2


class plaq_loop_sums_params(Struct):
    """Parts of loops that are summed up.

    Members:
      traces: Estimator of the traces of low modes, by noise or exactly.
        Default: PLAQ_LOOPS_TRACES_AUTO.
      hopping: Terms of the hopping expansion, (A^-1 H)^k A^-1 for k below this with M = A - H, that are taken exactly; 0: none.
        0 to 16. Default: 0.
    """
    struct_size: int
    traces: Any
    hopping: int
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("traces", _c.c_int32),
        ("hopping", _c.c_int32),
    ]
    _enums_ = {"traces": plaq_loops_traces}
    _init_ = "plaq_loop_sums_params_init"


_plaq_loop_sums_params_init = _n.function("plaq_loop_sums_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_loop_sums_params_init(params: plaq_loop_sums_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_loop_sums_params_init, _n.struct(plaq_loop_sums_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_loop_goals(Struct):
    """When a call that adds to loops ends. At least one of `error`, `seconds` and `vectors` is asked for; of several the first one counts.

    Members:
      error: Error at which it ends: that of the loop of the first line, Gamma number `gamma` and first momentum at a time slice,
        root of the mean square over time slices, real and imaginary part together; 0: not asked for.
        Default: 0.
      seconds: Seconds after which it ends; 0: not asked for. Default: 0.
      gamma: Number of this Gamma. 0 to 15. Default: 0.
      vectors: Noise vectors of each part at most, those of earlier calls included; 0: no limit.
        0 to 1048576. Default: 0.
    """
    struct_size: int
    error: float
    seconds: float
    gamma: int
    vectors: int
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("error", _c.c_double),
        ("seconds", _c.c_double),
        ("gamma", _c.c_int32),
        ("vectors", _c.c_int32),
    ]
    _init_ = "plaq_loop_goals_init"


_plaq_loop_goals_init = _n.function("plaq_loop_goals_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_loop_goals_init(params: plaq_loop_goals, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_loop_goals_init, _n.struct(plaq_loop_goals, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_space_report(Struct):
    """A level of spaces.

    Members:
      levels: Levels of the spaces, without the lattice.
      extents: Extents of the level on all ranks; of vectors 1.
      unknowns: Dimension of the level's space on all ranks.
    """
    struct_size: int
    levels: int
    extents: Any
    unknowns: int
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("levels", _c.c_int32),
        ("extents", _c.c_int32 * 4),
        ("unknowns", _c.c_int64),
    ]
    _init_ = "plaq_space_report_init"


_plaq_space_report_init = _n.function("plaq_space_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_space_report_init(report: plaq_space_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_space_report_init, _n.struct(plaq_space_report, report, "report"), _n.int64(struct_size, "struct_size"))


class plaq_loops_report(Struct):
    """Loops so far.

    Members:
      parts: Number of parts.
      reached: 1: the call reached the wanted error or, where none is wanted, the number of vectors.
      stopped: 1: the callback ended the call.
      error: The error that plaq_loop_goals has, in descriptions that of Gamma number 0; infinite before all parts are known.
      seconds: Seconds of the call.
      failed: Solves of all parts that did not converge.
    """
    struct_size: int
    parts: int
    reached: int
    stopped: int
    error: float
    seconds: float
    failed: int
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("parts", _c.c_int32),
        ("reached", _c.c_int32),
        ("stopped", _c.c_int32),
        ("error", _c.c_double),
        ("seconds", _c.c_double),
        ("failed", _c.c_int64),
    ]
    _init_ = "plaq_loops_report_init"


_plaq_loops_report_init = _n.function("plaq_loops_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_loops_report_init(report: plaq_loops_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_loops_report_init, _n.struct(plaq_loops_report, report, "report"), _n.int64(struct_size, "struct_size"))


class plaq_loops_part_report(Struct):
    """A part of loops.

    Members:
      term: The term.
      level: The level whose vectors it takes.
      done: Noise vectors, or columns of what is exact, that are summed.
      total: Columns of what is exact; 0 of noise.
      solves: Columns solved for on the level.
      failed: Solves that did not converge.
      seconds: Seconds.
    """
    struct_size: int
    term: Any
    level: int
    done: int
    total: int
    solves: int
    failed: int
    seconds: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("term", _c.c_int32),
        ("level", _c.c_int32),
        ("done", _c.c_int64),
        ("total", _c.c_int64),
        ("solves", _c.c_int64),
        ("failed", _c.c_int64),
        ("seconds", _c.c_double),
    ]
    _enums_ = {"term": plaq_loops_term}
    _init_ = "plaq_loops_part_report_init"


_plaq_loops_part_report_init = _n.function("plaq_loops_part_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_loops_part_report_init(report: plaq_loops_part_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_loops_part_report_init, _n.struct(plaq_loops_part_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_space_create_multigrid = _n.function("plaq_space_create_multigrid", _c.c_int32, [plaq_solver, plaq_multigrid, _c.c_int32, _c.c_double, _c.c_void_p])


def plaq_space_create_multigrid(solver: Any, multigrid: Any, levels: int, tol: float) -> plaq_space:
    """Makes spaces of the first `levels` coarse levels of a hierarchy, 0: of all that live on all ranks. Coarse operators are made again
    in the precision of the solver's operator and solved to the relative residual `tol`, which has to be well below the noise. Errors:
    INVALID_ARGUMENT (more levels, `tol`), UNSUPPORTED (two flavours, half precision), FIELD_MISMATCH, STALE_MULTIGRID,
    OUT_OF_MEMORY.
    """
    space_ = plaq_space()
    _n.call(_plaq_space_create_multigrid, _n.handle(plaq_solver, solver, "solver"), _n.handle(plaq_multigrid, multigrid, "multigrid"), _n.int32(levels, "levels"), _n.real(tol, "tol"), _c.byref(space_))
    return space_


_plaq_space_memory = _n.function("plaq_space_memory", _c.c_int32, [plaq_solver, plaq_multigrid, _c.c_int32, _c.c_void_p])


def plaq_space_memory(solver: Any, multigrid: Any, levels: int) -> int:
    """Tells the device memory in bytes that making these spaces takes at most, and after that L of twelve columns. Errors: those of
    plaq_space_create_multigrid.
    """
    bytes_ = _c.c_int64()
    _n.call(_plaq_space_memory, _n.handle(plaq_solver, solver, "solver"), _n.handle(plaq_multigrid, multigrid, "multigrid"), _n.int32(levels, "levels"), _c.byref(bytes_))
    return bytes_.value


_plaq_space_create_eigen = _n.function("plaq_space_create_eigen", _c.c_int32, [plaq_solver, plaq_eigen, _c.c_void_p])


def plaq_space_create_eigen(solver: Any, eigen: Any) -> plaq_space:
    """Makes the space of eigenvectors V of the whole operator, with R = V^dagger gamma5. Errors: FIELD_MISMATCH (vectors of another lattice,
    precision or of one parity), INVALID_ARGUMENT, UNSUPPORTED, OUT_OF_MEMORY.
    """
    space_ = plaq_space()
    _n.call(_plaq_space_create_eigen, _n.handle(plaq_solver, solver, "solver"), _n.handle(plaq_eigen, eigen, "eigen"), _c.byref(space_))
    return space_


_plaq_space_destroy = _n.function("plaq_space_destroy", _c.c_int32, [plaq_space])


def plaq_space_destroy(space: Any) -> None:
    """Destroys spaces; loops keep theirs. The zero handle is accepted."""
    _n.call(_plaq_space_destroy, _n.handle(plaq_space, space, "space"))


_plaq_space_describe = _n.function("plaq_space_describe", _c.c_int32, [plaq_space, _c.c_int32, _c.c_void_p])


def plaq_space_describe(space: Any, level: int, report: Optional[plaq_space_report] = None) -> None:
    """Describes a level, 1 or more."""
    _n.call(_plaq_space_describe, _n.handle(plaq_space, space, "space"), _n.int32(level, "level"), _n.struct(plaq_space_report, report, "report"))


_plaq_space_apply = _n.function("plaq_space_apply", _c.c_int32, [plaq_space, _c.c_int32, plaq_spinor, plaq_spinor])


def plaq_space_apply(space: Any, level: int, x: Any, b: Any) -> None:
    """x = L b with the approximate inverse of a level; x and b are different full fields as the solver takes them. Errors: FIELD_MISMATCH,
    INVALID_ARGUMENT, NOT_CONVERGED, SOLVER_BREAKDOWN.
    """
    _n.call(_plaq_space_apply, _n.handle(plaq_space, space, "space"), _n.int32(level, "level"), _n.handle(plaq_spinor, x, "x"), _n.handle(plaq_spinor, b, "b"))


_plaq_space_propagator = _n.function("plaq_space_propagator", _c.c_int32, [plaq_space, _c.c_int32, _c.c_void_p, _c.c_void_p])


def plaq_space_propagator(space: Any, level: int, source: Optional[plaq_source_params] = None) -> plaq_spinor:
    """Makes the propagator L(x, source) of a level in place of M^-1, as many right-hand sides as the source has columns. Errors: those of
    plaq_space_apply.
    """
    propagator_ = plaq_spinor()
    _n.call(_plaq_space_propagator, _n.handle(plaq_space, space, "space"), _n.int32(level, "level"), _n.struct(plaq_source_params, source, "source"), _c.byref(propagator_))
    return propagator_


_plaq_space_mesons = _n.function("plaq_space_mesons", _c.c_int32, [plaq_space, _c.c_int32, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_int64, plaq_progress_callback, _c.c_void_p, _c.c_void_p])


def plaq_space_mesons(
        space: Any,
        level: int,
        gammas: Any,
        pairs: int,
        momenta: Any,
        nmomenta: int,
        times: int,
        callback: Optional[Callable[..., Any]],
        correlators: Any,
) -> None:
    """Contracts mesons of L in place of propagators, as plaq_spinor_contract_mesons does, exactly averaged over all sites of the lattice as
    sources. With S of some sources, C[S, S] - C[L, L] of these and this average are less noisy than C[S, S] (low-mode averaging). The
    callback hears of each site of the level and of the share that is left, and may end the call: NOT_CONVERGED. M is gamma5-hermitian.
    Errors: INVALID_ARGUMENT, NOT_CONVERGED, those of plaq_space_apply.
    Arrays: gammas[2 * pairs], momenta[3 * nmomenta], correlators[2 * times * pairs * nmomenta].
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_space_mesons, callback_, (), _n.handle(plaq_space, space, "space"), _n.int32(level, "level"), _n.array(_c.c_int32, gammas, "gammas", 2 * pairs), _n.int64(pairs, "pairs"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.int64(times, "times"), callback_.c, None, _n.room(_c.c_double, correlators, "correlators", 2 * times * pairs * nmomenta))


_plaq_loops_create = _n.function("plaq_loops_create", _c.c_int32, [plaq_solver, plaq_solver, plaq_space, plaq_gauge, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_loops_create(
        solver: Any,
        other: Any,
        space: Any,
        gauge: Any,
        params: Optional[plaq_loops_params],
        sums: Optional[plaq_loop_sums_params],
        lengths: Any,
        lines: int,
        steps: Any,
        nsteps: int,
        momenta: Any,
        nmomenta: int,
) -> plaq_loops:
    """Makes loops as of plaq_solver_loops, of which nothing is summed yet: Tr O M^-1 is Tr O (M^-1 - L_1) by noise, plus
    Tr O (L_1 - L_2) by noise of level 1, and so on, plus Tr O L of the last level; with `sums.hopping` = n every right side is
    multiplied by (A^-1 H)^n, M = A - H, and the terms of the hopping expansion before that are added exactly. That is an identity: solves
    have to be better than the noise. `vectors` of `params` has no meaning here. The zero handle of `space`: none. Errors:
    INVALID_ARGUMENT, UNSUPPORTED (hopping with other contractions than PLAQ_LOOPS_PLAIN), FIELD_MISMATCH. Of
    PLAQ_LOOPS_ONE_END and PLAQ_LOOPS_DIFFERENCE low modes are those of products of inverses, with noise between them, too.
    Arrays: lengths[lines], steps[nsteps], momenta[3 * nmomenta].
    """
    loops_ = plaq_loops()
    _n.call(_plaq_loops_create, _n.handle(plaq_solver, solver, "solver"), _n.handle(plaq_solver, other, "other"), _n.handle(plaq_space, space, "space"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_loops_params, params, "params"), _n.struct(plaq_loop_sums_params, sums, "sums"), _n.array(_c.c_int32, lengths, "lengths", lines), _n.int64(lines, "lines"), _n.array(_c.c_int32, steps, "steps", nsteps), _n.int64(nsteps, "nsteps"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _c.byref(loops_))
    return loops_


_plaq_loops_destroy = _n.function("plaq_loops_destroy", _c.c_int32, [plaq_loops])


def plaq_loops_destroy(loops: Any) -> None:
    """Destroys loops. The zero handle is accepted."""
    _n.call(_plaq_loops_destroy, _n.handle(plaq_loops, loops, "loops"))


_plaq_loops_add = _n.function("plaq_loops_add", _c.c_int32, [plaq_loops, _c.c_void_p, plaq_progress_callback, _c.c_void_p, _c.c_void_p])


def plaq_loops_add(
        loops: Any,
        goals: Optional[plaq_loop_goals] = None,
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_loops_report] = None,
) -> None:
    """Adds to loops until a goal is reached: to the part where it lowers the error most for its cost. Each part has four noise
    vectors first. The callback is that of solves; where it ends the call, what is complete stays, and a next call goes on. Errors: those of
    plaq_solver_solve, FIELD_MISMATCH (links that have changed), INVALID_ARGUMENT (no goal).
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_loops_add, callback_, (), _n.handle(plaq_loops, loops, "loops"), _n.struct(plaq_loop_goals, goals, "goals"), callback_.c, None, _n.struct(plaq_loops_report, report, "report"))


_plaq_loops_describe = _n.function("plaq_loops_describe", _c.c_int32, [plaq_loops, _c.c_void_p])


def plaq_loops_describe(loops: Any, report: Optional[plaq_loops_report] = None) -> None:
    """Describes loops; what belongs to a call is 0."""
    _n.call(_plaq_loops_describe, _n.handle(plaq_loops, loops, "loops"), _n.struct(plaq_loops_report, report, "report"))


_plaq_loops_describe_part = _n.function("plaq_loops_describe_part", _c.c_int32, [plaq_loops, _c.c_int32, _c.c_void_p])


def plaq_loops_describe_part(loops: Any, part: int, report: Optional[plaq_loops_part_report] = None) -> None:
    """Describes a part."""
    _n.call(_plaq_loops_describe_part, _n.handle(plaq_loops, loops, "loops"), _n.int32(part, "part"), _n.struct(plaq_loops_part_report, report, "report"))


_plaq_loops_values = _n.function("plaq_loops_values", _c.c_int32, [plaq_loops, _c.c_int32, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_loops_values(
        loops: Any,
        part: int,
        means: Any,
        variances: Any,
        numbers: int,
        currents: Any,
        current_variances: Any,
        ncurrents: int,
) -> None:
    """Gives (re, im) of means, [line][Gamma, all 16][momentum][t], and of variances of one noise vector, of real and of imaginary parts:
    infinite with less than two, 0 of what is exact. Part -1: of the sum of all parts, with its errors squared. `currents`, the
    same of the conserved current, [mu][momentum][t], `variances` and `current_variances` may be NULL. `numbers`: complex numbers of
    `means`; `ncurrents`: of `currents`.
    Arrays: means[2 * numbers], variances[2 * numbers], currents[2 * ncurrents], current_variances[2 * ncurrents].
    """
    _n.call(_plaq_loops_values, _n.handle(plaq_loops, loops, "loops"), _n.int32(part, "part"), _n.room(_c.c_double, means, "means", 2 * numbers), _n.room(_c.c_double, variances, "variances", 2 * numbers, optional=True), _n.int64(numbers, "numbers"), _n.room(_c.c_double, currents, "currents", 2 * ncurrents, optional=True), _n.room(_c.c_double, current_variances, "current_variances", 2 * ncurrents, optional=True), _n.int64(ncurrents, "ncurrents"))


_plaq_loops_write = _n.function("plaq_loops_write", _c.c_int32, [plaq_loops, _c.c_char_p])


def plaq_loops_write(loops: Any, file: Any) -> None:
    """Writes sums and what they are of to a file, from which plaq_loops_read goes on. It appears complete or not at all. Errors: FILE_WRITE."""
    _n.call(_plaq_loops_write, _n.handle(plaq_loops, loops, "loops"), _n.encoded(file, "file"))


_plaq_loops_read = _n.function("plaq_loops_read", _c.c_int32, [plaq_loops, _c.c_char_p])


def plaq_loops_read(loops: Any, file: Any) -> None:
    """Takes the sums of such a file in place of those that there are. Errors: FIELD_MISMATCH (of other links, operators, spaces,
    noise, lines or momenta: the first difference is named), FILE_*. After an error nothing has changed.
    """
    _n.call(_plaq_loops_read, _n.handle(plaq_loops, loops, "loops"), _n.encoded(file, "file"))


# ---- Distillation ----


class plaq_modes(Handle):
    """Modes of -D^2 on every time slice, D^2 the covariant second difference in x, y and z: mode k has number k of
    every slice, of unit length there. The component of colour 0 at the site 0, 0, 0 of a slice is real
    and positive; where it is next to nothing that of colour 1 is, or 2; where all three are, the phase is unspecified.
    """


class plaq_modes_dilution(Enum):
    """Divisions of an index of N values into the parts of a dilution."""
    #: Not divided: one part.
    NONE = 0
    #: A part for each value.
    FULL = 1
    #: `parts` parts; value i is in part i mod `parts`.
    INTERLACE = 2
    #: `parts` parts of neighbours; value i is in part i `parts` / N, rounded down.
    BLOCK = 3


class plaq_modes_step(Enum):
    """Operators that act on a mode v of an elemental, with the links of the Laplacian."""
    #: D_x v(n) = [U_x(n) v(n + x) - U_x(n - x)^dagger v(n - x)] / 2.
    DERIVATIVE_X = 0
    #: The same in y.
    DERIVATIVE_Y = 1
    #: The same in z.
    DERIVATIVE_Z = 2
    #: U_x(n) v(n + x).
    FORWARD_X = 3
    #: U_y(n) v(n + y).
    FORWARD_Y = 4
    #: U_z(n) v(n + z).
    FORWARD_Z = 5
    #: U_x(n - x)^dagger v(n - x).
    BACK_X = 6
    #: U_y(n - y)^dagger v(n - y).
    BACK_Y = 7
    #: U_z(n - z)^dagger v(n - z).
    BACK_Z = 8


_n.word(plaq_modes_step.DERIVATIVE_X, "dx")
_n.word(plaq_modes_step.DERIVATIVE_Y, "dy")
_n.word(plaq_modes_step.DERIVATIVE_Z, "dz")
_n.word(plaq_modes_step.FORWARD_X, "+x")
_n.word(plaq_modes_step.FORWARD_Y, "+y")
_n.word(plaq_modes_step.FORWARD_Z, "+z")
_n.word(plaq_modes_step.BACK_X, "-x")
_n.word(plaq_modes_step.BACK_Y, "-y")
_n.word(plaq_modes_step.BACK_Z, "-z")


class plaq_if_exists(Enum):
    """Treatment of a file that is there already."""
    #: It is refused.
    REFUSE = 0
    #: It is replaced.
    OVERWRITE = 1
    #: It is added to; names that it has are refused.
    APPEND = 2


class plaq_modes_params(Struct):
    """Modes of -D^2 on every time slice, D^2 the covariant second difference in x, y and z.

    Members:
      count: Modes of a time slice, at most three times its sites. 1 or more. Default: 16.
      steps: Steps of stout smearing in space, of the links that the modes are made from.
        0 to 100000. Default: 0.
      rho: Weight of the staples in that smearing. 0 to 1. Default: 0.1.
      tol: Largest |D^2 v + lambda v| over the largest eigenvalue, from 1e-16, in single precision 1e-8;
        0: 1e-10, in single precision 1e-6. Default: 0.
      max_restarts: Times that the vectors are multiplied by a polynomial. 1 to 1000000. Default: 200.
      verify: A search from random vectors orthogonal to those found looks for what was missed, until it finds nothing.
        0 or 1. Default: 1.
      seed: Seed of random start vectors. Default: 1.
      max_seconds: Most seconds that the search may take; 0: as many as it needs. Default: 0.
      vectors: Where modes are kept: on the device, or where its memory is short some time slices are searched after the others
        and the host has the modes that do not fit; `host`: all but the first one, so that solves have the
        device; `device`: refused where memory is short. Default: PLAQ_VECTORS_AUTO.
      mixed: Links in double precision: vectors are iterated in single precision to a residual of 1e-5 of the largest
        eigenvalue, and from there in double. 0 or 1. Default: 0.
      momentum: Moving frames: the links of the Laplacian, once they are smeared, times exp(2 pi i momentum(j) / L_j) in x, y
        and z, any real numbers, as of plaq_spinor_smear. Default: 0, 0, 0.
    """
    struct_size: int
    count: int
    steps: int
    rho: float
    tol: float
    max_restarts: int
    verify: int
    seed: int
    max_seconds: float
    vectors: Any
    mixed: int
    momentum: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("count", _c.c_int32),
        ("steps", _c.c_int32),
        ("rho", _c.c_double),
        ("tol", _c.c_double),
        ("max_restarts", _c.c_int32),
        ("verify", _c.c_int32),
        ("seed", _c.c_int64),
        ("max_seconds", _c.c_double),
        ("vectors", _c.c_int32),
        ("mixed", _c.c_int32),
        ("momentum", _c.c_double * 3),
    ]
    _enums_ = {"vectors": plaq_vector_memory}
    _init_ = "plaq_modes_params_init"


_plaq_modes_params_init = _n.function("plaq_modes_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_modes_params_init(params: plaq_modes_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_modes_params_init, _n.struct(plaq_modes_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_modes_noise_params(Struct):
    """Noise in the space of modes: b(x) = sum over the modes k, spins s and times t of a part of eta(t, s, k) v_k(x), eta
    independent roots of unity.
    Columns are numbered with parts of modes fastest, then of spins, of times, and noise vectors.

    Members:
      noise: Noise eta: PLAQ_NOISE_Z2 or PLAQ_NOISE_Z4. Default: PLAQ_NOISE_Z4.
      vectors: Noise vectors. 1 to 1048576. Default: 1.
      seed: Seed of the noise. Default: 0.
      time: Dilution of times. Default: PLAQ_MODES_DILUTION_FULL.
      time_parts: Number of parts of times, of dilutions that need it. 0 or more. Default: 0.
      spin: Dilution of spins. Default: PLAQ_MODES_DILUTION_FULL.
      spin_parts: Number of parts of spins. 0 or more. Default: 0.
      mode: Dilution of modes. Default: PLAQ_MODES_DILUTION_INTERLACE.
      mode_parts: Number of parts of modes. 0 or more. Default: 1.
      first: The first column. 0 or more. Default: 0.
      count: Number of columns from there on at most; 0: all. 1 or more. Default: 0.
    """
    struct_size: int
    noise: Any
    vectors: int
    seed: int
    time: Any
    time_parts: int
    spin: Any
    spin_parts: int
    mode: Any
    mode_parts: int
    first: int
    count: int
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("noise", _c.c_int32),
        ("vectors", _c.c_int32),
        ("seed", _c.c_int64),
        ("time", _c.c_int32),
        ("time_parts", _c.c_int32),
        ("spin", _c.c_int32),
        ("spin_parts", _c.c_int32),
        ("mode", _c.c_int32),
        ("mode_parts", _c.c_int32),
        ("first", _c.c_int32),
        ("count", _c.c_int32),
    ]
    _enums_ = {"noise": plaq_noise, "time": plaq_modes_dilution, "spin": plaq_modes_dilution, "mode": plaq_modes_dilution}
    _init_ = "plaq_modes_noise_params_init"


_plaq_modes_noise_params_init = _n.function("plaq_modes_noise_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_modes_noise_params_init(params: plaq_modes_noise_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_modes_noise_params_init, _n.struct(plaq_modes_noise_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_modes_report(Struct):
    """Description of modes and report of the search for them.

    Members:
      converged: 1: every mode meets the tolerance, and none is missing if `verify` was asked for.
      verified: 1: none is missing, as a search from random vectors orthogonal to those found has shown, or because slices
        were diagonalised as a whole.
      stopped: 1: the callback asked to stop or `max_seconds` were over.
      stopped_by: What ended the search; PLAQ_STOPPED_BY_ITERATIONS: `max_restarts`.
      count: Modes of a slice.
      times: Time slices of the whole lattice.
      steps: Steps of stout smearing in space.
      restarts: Restarts of the search.
      rho: Weight of the staples in that smearing.
      applications: Multiplications of a vector of the lattice with -D^2.
      largest: The largest eigenvalue, to some per cent: what residuals are compared with.
      seconds: Seconds that the search took.
      plaquette_spatial: Average plaquette in planes of space of the links before smearing. Other links are refused with
        these modes.
      plaquette_temporal: Average plaquette in planes with t of these links.
      link_trace: Average Re tr U / 3 of these links.
      bytes: Device memory of the modes.
      host_bytes: Memory of the host that the modes take which are not on the device.
      momentum: Phases of a moving frame on the links, as of plaq_modes_params.
    """
    struct_size: int
    converged: int
    verified: int
    stopped: int
    stopped_by: Any
    count: int
    times: int
    steps: int
    restarts: int
    rho: float
    applications: int
    largest: float
    seconds: float
    plaquette_spatial: float
    plaquette_temporal: float
    link_trace: float
    bytes: int
    host_bytes: int
    momentum: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("converged", _c.c_int32),
        ("verified", _c.c_int32),
        ("stopped", _c.c_int32),
        ("stopped_by", _c.c_int32),
        ("count", _c.c_int32),
        ("times", _c.c_int32),
        ("steps", _c.c_int32),
        ("restarts", _c.c_int32),
        ("rho", _c.c_double),
        ("applications", _c.c_int64),
        ("largest", _c.c_double),
        ("seconds", _c.c_double),
        ("plaquette_spatial", _c.c_double),
        ("plaquette_temporal", _c.c_double),
        ("link_trace", _c.c_double),
        ("bytes", _c.c_int64),
        ("host_bytes", _c.c_int64),
        ("momentum", _c.c_double * 3),
    ]
    _enums_ = {"stopped_by": plaq_stopped_by}
    _init_ = "plaq_modes_report_init"


_plaq_modes_report_init = _n.function("plaq_modes_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_modes_report_init(report: plaq_modes_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_modes_report_init, _n.struct(plaq_modes_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_modes_create = _n.function("plaq_modes_create", _c.c_int32, [plaq_gauge, plaq_gauge, _c.c_void_p, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_modes_create(
        gauge: Any,
        smeared: Any = None,
        params: Optional[plaq_modes_params] = None,
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_modes_report] = None,
) -> plaq_modes:
    """Finds modes of the links of `gauge` (SU(3)), which `params` smears, or of `smeared` ones that belong to it; the
    zero handle: none. The callback hears of every restart and the largest residual. Not converged is not an error.
    Errors: BAD_PARAMETER (more modes than a slice has), UNSUPPORTED, FIELD_MISMATCH, OUT_OF_MEMORY.
    """
    modes_ = plaq_modes()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_modes_create, callback_, (modes_,), _n.handle(plaq_gauge, gauge, "gauge"), _n.handle(plaq_gauge, smeared, "smeared"), _n.struct(plaq_modes_params, params, "params"), callback_.c, None, _c.byref(modes_), _n.struct(plaq_modes_report, report, "report"))
    return modes_


_plaq_modes_memory = _n.function("plaq_modes_memory", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_modes_memory(gauge: Any, params: Optional[plaq_modes_params] = None) -> tuple[int, int, int, int]:
    """Gives the memory of a rank that plaq_modes_create takes with these parameters: device memory of the search at its
    peak, besides these links, that of the modes afterwards, that of the host for the others, and the time
    slices of a rank that are searched together. Errors: BAD_PARAMETER, OUT_OF_MEMORY: it will not fit.
    """
    search_ = _c.c_int64()
    device_ = _c.c_int64()
    host_ = _c.c_int64()
    slices_ = _c.c_int64()
    _n.call(_plaq_modes_memory, _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_modes_params, params, "params"), _c.byref(search_), _c.byref(device_), _c.byref(host_), _c.byref(slices_))
    return search_.value, device_.value, host_.value, slices_.value


_plaq_modes_write = _n.function("plaq_modes_write", _c.c_int32, [plaq_modes, _c.c_char_p])


def plaq_modes_write(modes: Any, file: Any) -> None:
    """Writes modes to a file: SciDAC records in LIME with checksums, values, smearing and what the links are known by
    beside them, or where its name ends with .h5 or .hdf5 the same by libhdf5, modes as datasets "modes/0", "modes/1", ...
    [t][z][y][x][colour]. It appears complete or not at all. Errors: FILE_WRITE; UNSUPPORTED: no libhdf5.
    """
    _n.call(_plaq_modes_write, _n.handle(plaq_modes, modes, "modes"), _n.encoded(file, "file"))


_plaq_modes_read = _n.function("plaq_modes_read", _c.c_int32, [plaq_gauge, plaq_gauge, _c.c_char_p, _c.c_void_p, _c.c_void_p])


def plaq_modes_read(gauge: Any, smeared: Any, file: Any, report: Optional[plaq_modes_report] = None) -> plaq_modes:
    """Reads modes of such a file, as those of these links; `smeared` as above, without it they are smeared as
    they were. Errors: FIELD_MISMATCH: they belong to other links; FILE_*.
    """
    modes_ = plaq_modes()
    _n.call(_plaq_modes_read, _n.handle(plaq_gauge, gauge, "gauge"), _n.handle(plaq_gauge, smeared, "smeared"), _n.encoded(file, "file"), _c.byref(modes_), _n.struct(plaq_modes_report, report, "report"))
    return modes_


_plaq_modes_destroy = _n.function("plaq_modes_destroy", _c.c_int32, [plaq_modes])


def plaq_modes_destroy(modes: Any) -> None:
    """Destroys modes. The zero handle is accepted."""
    _n.call(_plaq_modes_destroy, _n.handle(plaq_modes, modes, "modes"))


_plaq_modes_describe = _n.function("plaq_modes_describe", _c.c_int32, [plaq_modes, _c.c_void_p])


def plaq_modes_describe(modes: Any, report: Optional[plaq_modes_report] = None) -> None:
    """Describes modes and their links; what belongs to the search is 0."""
    _n.call(_plaq_modes_describe, _n.handle(plaq_modes, modes, "modes"), _n.struct(plaq_modes_report, report, "report"))


_plaq_modes_values = _n.function("plaq_modes_values", _c.c_int32, [plaq_modes, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64])


def plaq_modes_values(modes: Any, values: Any, residuals: Any, count: int, next: Any, times: int) -> None:
    """Gives eigenvalues, ascending on each slice, times slowest, and |D^2 v + lambda v|; `count`: modes times
    slices of the whole lattice. `next`: the value after the last one of each slice as far as it is known,
    infinite where there is none: a level that ends there is whole. `residuals` and `next` may be NULL.
    Arrays: values[count], residuals[count], next[times].
    """
    _n.call(_plaq_modes_values, _n.handle(plaq_modes, modes, "modes"), _n.room(_c.c_double, values, "values", count), _n.room(_c.c_double, residuals, "residuals", count, optional=True), _n.int64(count, "count"), _n.room(_c.c_double, next, "next", times, optional=True), _n.int64(times, "times"))


_plaq_modes_vectors = _n.function("plaq_modes_vectors", _c.c_int32, [plaq_modes, _c.c_int64, _c.c_int64, _c.c_void_p])


def plaq_modes_vectors(modes: Any, first: int, count: int) -> plaq_spinor:
    """Makes a field of colour vectors with `count` modes from number `first` on."""
    vectors_ = plaq_spinor()
    _n.call(_plaq_modes_vectors, _n.handle(plaq_modes, modes, "modes"), _n.int64(first, "first"), _n.int64(count, "count"), _c.byref(vectors_))
    return vectors_


_plaq_modes_perambulators = _n.function("plaq_modes_perambulators", _c.c_int32, [plaq_modes, plaq_solver, _c.c_void_p, _c.c_int64, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_void_p])


def plaq_modes_perambulators(
        modes: Any,
        solver: Any,
        times: Any,
        ntimes: int,
        callback: Optional[Callable[..., Any]],
        perambulators: Any,
        count: int,
        report: Optional[plaq_solve_report] = None,
) -> int:
    """Computes perambulators tau(t', t) = V(t')^dagger M^-1 V(t) for source times `times`, M in the
    normalisation of the solver: complex numbers [time][t'][spin'][spin][mode'][mode], t' all times of the
    whole lattice, spins in the DeGrand-Rossi basis; `count`: as many. No propagator is stored. `finished`:
    source times that are complete, all unless the callback or the solver's `max_seconds` end the work; the
    others are 0. Errors: FIELD_MISMATCH (modes of other links), INVALID_ARGUMENT, UNSUPPORTED, those of
    plaq_solver_solve.
    Arrays: times[ntimes], perambulators[2 * count].
    """
    finished_ = _c.c_int64()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_modes_perambulators, callback_, (), _n.handle(plaq_modes, modes, "modes"), _n.handle(plaq_solver, solver, "solver"), _n.array(_c.c_int32, times, "times", ntimes), _n.int64(ntimes, "ntimes"), callback_.c, None, _n.room(_c.c_double, perambulators, "perambulators", 2 * count), _n.int64(count, "count"), _c.byref(finished_), _n.struct(plaq_solve_report, report, "report"))
    return finished_.value


_plaq_modes_about = _n.function("plaq_modes_about", _c.c_int32, [plaq_modes, plaq_solver, _c.c_void_p, _c.c_int64])


def plaq_modes_about(modes: Any, solver: Any = None, capacity: int = 65536) -> str:
    """Says what perambulators of these modes and this solver are known by in files, or without a solver what the modes are:
    a JSON object of the attributes that datasets have.
    """
    about_ = _c.create_string_buffer(capacity)
    _n.call(_plaq_modes_about, _n.handle(plaq_modes, modes, "modes"), _n.handle(plaq_solver, solver, "solver"), about_, _n.int64(capacity, "capacity"))
    return _n.text(about_.value)


_plaq_modes_write_perambulators = _n.function("plaq_modes_write_perambulators", _c.c_int32, [plaq_modes, plaq_solver, _c.c_void_p, _c.c_int64, _c.c_char_p, _c.c_char_p, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_modes_write_perambulators(
        modes: Any,
        solver: Any,
        times: Any,
        ntimes: int,
        file: Any,
        group: Any,
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_solve_report] = None,
) -> int:
    """Solves for the perambulators of those source times `times` that a group of an HDF5 file lacks, and adds each as
    soon as it is complete: datasets "GROUP/t0", "GROUP/t4", ... of complex numbers
    [t'][spin'][spin][mode'][mode] with the attributes of plaq_modes_about, `tol` and `source_time`; the file is made where there
    is none. What has not converged is not written and ends the work. `finished`: source times that the file then has.
    libhdf5 is opened at run time (PLAQ_HDF5, its full path). Errors: FIELD_MISMATCH: those of the file are of other
    modes, links or quarks, or were solved to a larger tolerance; UNSUPPORTED: no libhdf5; FILE_*, those of
    plaq_modes_perambulators.
    Arrays: times[ntimes].
    """
    finished_ = _c.c_int64()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_modes_write_perambulators, callback_, (), _n.handle(plaq_modes, modes, "modes"), _n.handle(plaq_solver, solver, "solver"), _n.array(_c.c_int32, times, "times", ntimes), _n.int64(ntimes, "ntimes"), _n.encoded(file, "file"), _n.encoded(group, "group"), callback_.c, None, _c.byref(finished_), _n.struct(plaq_solve_report, report, "report"))
    return finished_.value


_plaq_modes_generalised_perambulators = _n.function("plaq_modes_generalised_perambulators", _c.c_int32, [plaq_modes, plaq_solver, _c.c_int32, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_void_p])


def plaq_modes_generalised_perambulators(
        modes: Any,
        solver: Any,
        source_time: int,
        sink_times: Any,
        nsinks: int,
        gammas: Any,
        momenta: Any,
        lengths: Any,
        insertions: int,
        steps: Any,
        nsteps: int,
        callback: Optional[Callable[..., Any]],
        perambulators: Any,
        count: int,
        report: Optional[plaq_solve_report] = None,
) -> int:
    """Computes generalised perambulators V(t1)^dagger M^-1 O(t) M^-1 V(t0), O(t) = sum_x exp(i q x) Gamma
    [shift along a path], for source time t0, sink times t1 and all times t: complex numbers
    [sink time][insertion][t][spin'][spin][mode'][mode]; `count`: as many. The source's columns are solved for once. `gammas`, `momenta` (n_x, n_y, n_z, q_i = 2
    pi n_i / L_i) and `lengths` of paths: an entry an insertion; `steps` of all paths one after the other,
    as of plaq_spinor_shift, in space. M must be gamma5-hermitian. `finished`: 1, or 0 where the work was
    ended. Errors: those of plaq_modes_perambulators.
    Arrays: sink_times[nsinks], gammas[insertions], momenta[3 * insertions], lengths[insertions], steps[nsteps], perambulators[2 * count].
    """
    finished_ = _c.c_int64()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_modes_generalised_perambulators, callback_, (), _n.handle(plaq_modes, modes, "modes"), _n.handle(plaq_solver, solver, "solver"), _n.int32(source_time, "source_time"), _n.array(_c.c_int32, sink_times, "sink_times", nsinks), _n.int64(nsinks, "nsinks"), _n.array(_c.c_int32, gammas, "gammas", insertions), _n.array(_c.c_int32, momenta, "momenta", 3 * insertions), _n.array(_c.c_int32, lengths, "lengths", insertions), _n.int64(insertions, "insertions"), _n.array(_c.c_int32, steps, "steps", nsteps), _n.int64(nsteps, "nsteps"), callback_.c, None, _n.room(_c.c_double, perambulators, "perambulators", 2 * count), _n.int64(count, "count"), _c.byref(finished_), _n.struct(plaq_solve_report, report, "report"))
    return finished_.value


_plaq_modes_noise_columns = _n.function("plaq_modes_noise_columns", _c.c_int32, [plaq_modes, _c.c_void_p, _c.c_void_p])


def plaq_modes_noise_columns(modes: Any, params: Optional[plaq_modes_noise_params] = None) -> int:
    """Counts the columns of noise in modes."""
    columns_ = _c.c_int64()
    _n.call(_plaq_modes_noise_columns, _n.handle(plaq_modes, modes, "modes"), _n.struct(plaq_modes_noise_params, params, "params"), _c.byref(columns_))
    return columns_.value


_plaq_modes_noise = _n.function("plaq_modes_noise", _c.c_int32, [plaq_modes, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_modes_noise(modes: Any, params: Optional[plaq_modes_noise_params], numbers: Any, count: int) -> None:
    """Gives noise in modes as complex numbers [column][t][spin][mode]; `count`: as many.
    Arrays: numbers[2 * count].
    """
    _n.call(_plaq_modes_noise, _n.handle(plaq_modes, modes, "modes"), _n.struct(plaq_modes_noise_params, params, "params"), _n.room(_c.c_double, numbers, "numbers", 2 * count), _n.int64(count, "count"))


_plaq_modes_solve_noise = _n.function("plaq_modes_solve_noise", _c.c_int32, [plaq_modes, plaq_solver, _c.c_void_p, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_void_p])


def plaq_modes_solve_noise(
        modes: Any,
        solver: Any,
        params: Optional[plaq_modes_noise_params],
        callback: Optional[Callable[..., Any]],
        numbers: Any,
        count: int,
        report: Optional[plaq_solve_report] = None,
) -> int:
    """Computes V(t')^dagger M^-1 b for these sources b: complex numbers [column][t'][spin'][mode']; `count`:
    as many. `finished`: 1, or 0 where the work was ended. Errors: those of plaq_modes_perambulators.
    Arrays: numbers[2 * count].
    """
    finished_ = _c.c_int64()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_modes_solve_noise, callback_, (), _n.handle(plaq_modes, modes, "modes"), _n.handle(plaq_solver, solver, "solver"), _n.struct(plaq_modes_noise_params, params, "params"), callback_.c, None, _n.room(_c.c_double, numbers, "numbers", 2 * count), _n.int64(count, "count"), _c.byref(finished_), _n.struct(plaq_solve_report, report, "report"))
    return finished_.value


_plaq_modes_meson_elementals = _n.function("plaq_modes_meson_elementals", _c.c_int32, [plaq_modes, plaq_modes, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64])


def plaq_modes_meson_elementals(
        modes: Any,
        left: Any,
        lengths: Any,
        operators: int,
        steps: Any,
        nsteps: int,
        momenta: Any,
        nmomenta: int,
        elementals: Any,
        count: int,
) -> None:
    """Computes elementals of mesons Phi_ab(p) = sum_x exp(-i p x) u_a(x)^dagger [O v_b](x) with the links of
    the Laplacian of v: u is of the modes `left`, such as those of the antiquark's moving frame, or the same where it is
    the zero handle. Complex numbers [momentum][operator][t][a][b]; `count`: as many. An operator has
    `lengths[i]` steps, plaq_modes_step, of which the last acts first; `steps` has all of them one after the
    other.
    Arrays: lengths[operators], steps[nsteps], momenta[3 * nmomenta], elementals[2 * count].
    """
    _n.call(_plaq_modes_meson_elementals, _n.handle(plaq_modes, modes, "modes"), _n.handle(plaq_modes, left, "left"), _n.array(_c.c_int32, lengths, "lengths", operators), _n.int64(operators, "operators"), _n.array(_c.c_int32, steps, "steps", nsteps), _n.int64(nsteps, "nsteps"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.room(_c.c_double, elementals, "elementals", 2 * count), _n.int64(count, "count"))


_plaq_modes_baryon_elementals = _n.function("plaq_modes_baryon_elementals", _c.c_int32, [plaq_modes, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64])


def plaq_modes_baryon_elementals(
        modes: Any,
        lengths: Any,
        steps: Any,
        nsteps: int,
        momenta: Any,
        nmomenta: int,
        elementals: Any,
        count: int,
) -> None:
    """Computes elementals of baryons B_abc(p) = sum_x exp(-i p x) eps_ijk [O_1 v_a]^i [O_2 v_b]^j [O_3 v_c]^k:
    complex numbers [momentum][t][a][b][c], or without steps those with a < b < c, c fastest, of which the
    others differ by a sign; `count`: as many. `lengths` and `steps` of the three operators as of mesons.
    Arrays: lengths[3], steps[nsteps], momenta[3 * nmomenta], elementals[2 * count].
    """
    _n.call(_plaq_modes_baryon_elementals, _n.handle(plaq_modes, modes, "modes"), _n.array(_c.c_int32, lengths, "lengths", 3), _n.array(_c.c_int32, steps, "steps", nsteps), _n.int64(nsteps, "nsteps"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.room(_c.c_double, elementals, "elementals", 2 * count), _n.int64(count, "count"))


_plaq_modes_write_elementals = _n.function("plaq_modes_write_elementals", _c.c_int32, [plaq_modes, plaq_modes, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_int32, _c.c_char_p, _c.c_int32])


def plaq_modes_write_elementals(
        modes: Any,
        left: Any,
        lengths: Any,
        operators: int,
        steps: Any,
        nsteps: int,
        momenta: Any,
        nmomenta: int,
        baryons: int,
        file: Any,
        if_exists: Union[int, str, plaq_if_exists],
) -> None:
    """Writes eigenvalues, residuals and elementals to an HDF5 file: `values` and `residuals` [t][mode], `mesons`
    [momentum][operator][t][a][b] as of plaq_modes_meson_elementals, and with
    `baryons` not 0 `baryons` [momentum][t][a < b < c], with what modes are known by as attributes. Errors: FILE_WRITE: also
    a file that exists and is refused; UNSUPPORTED: no libhdf5.
    Arrays: lengths[operators], steps[nsteps], momenta[3 * nmomenta].
    """
    _n.call(_plaq_modes_write_elementals, _n.handle(plaq_modes, modes, "modes"), _n.handle(plaq_modes, left, "left"), _n.array(_c.c_int32, lengths, "lengths", operators), _n.int64(operators, "operators"), _n.array(_c.c_int32, steps, "steps", nsteps), _n.int64(nsteps, "nsteps"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.int32(baryons, "baryons"), _n.encoded(file, "file"), _n.enum(plaq_if_exists, if_exists, "if_exists"))


_plaq_modes_mesons = _n.function("plaq_modes_mesons", _c.c_int32, [_c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_int64, _c.c_int64, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_modes_mesons(
        quark: Any,
        antiquark: Any,
        modes: int,
        times: int,
        source_time: int,
        sink: Any,
        source: Any,
        gammas: Any,
        pairs: int,
        correlators: Any,
) -> None:
    """Contracts two-point functions of mesons by the time from the source, times complex numbers for each of
    the pairs of Gammas at sink and source, connected, from perambulators of one source time,
    [t'][spin'][spin][mode'][mode] (that of the antiquark last), and elementals [t][a][b] at the sink and
    [a][b] at the source: C(t) = -tr[(Gamma_A x Phi_A(t')) tau(t', t0) (gamma_t Gamma_B^dagger gamma_t x
    Phi_B(t0)^dagger) gamma5 tau'(t', t0)^dagger gamma5], t' = t0 + t.
    Arrays: quark[32 * modes * modes * times], antiquark[32 * modes * modes * times], sink[2 * modes * modes * times], source[2 * modes * modes], gammas[2 * pairs], correlators[2 * times * pairs].
    """
    _n.call(_plaq_modes_mesons, _n.array(_c.c_double, quark, "quark", 32 * modes * modes * times), _n.array(_c.c_double, antiquark, "antiquark", 32 * modes * modes * times), _n.int64(modes, "modes"), _n.int64(times, "times"), _n.int64(source_time, "source_time"), _n.array(_c.c_double, sink, "sink", 2 * modes * modes * times), _n.array(_c.c_double, source, "source", 2 * modes * modes), _n.array(_c.c_int32, gammas, "gammas", 2 * pairs), _n.int64(pairs, "pairs"), _n.room(_c.c_double, correlators, "correlators", 2 * times * pairs))


# ---- Overlap operator ----


class plaq_overlap(Handle):
    """The overlap operator D_N(m) on links of its own, with the low modes of its kernel."""


class plaq_overlap_sign(Enum):
    """Approximations of sign(Q) on the spectrum that is not projected."""
    #: The minimax polynomial, by Clenshaw's recurrence.
    POLYNOMIAL = 0
    #: Zolotarev's rational function, by multi-shift CG; in 16 bits, where CG does not get far enough, the
    #: polynomial takes its place.
    ZOLOTAREV = 1
    #: Whichever takes less time here, in double precision.
    AUTO = 2


class plaq_overlap_solver(Enum):
    """Solvers of D x = b."""
    #: x = D^dagger (D^dagger D)^-1 b by CG, on either chirality that b has.
    CG = 0
    #: Shifted unitary minimal residual.
    SUMR = 1
    #: Flexible GCR, which takes a preconditioner.
    GCR = 2
    #: Whichever is expected to take the least time: GCR with the Wilson operator's inverse where the Krylov space
    #: of D^dagger D would be longer, else CG or SUMR, by the chiralities that b has.
    AUTO = 3


class plaq_overlap_form(Enum):
    """The operator D or what is made of it."""
    #: D.
    D = 0
    #: D^dagger.
    DDAG = 1
    #: D^dagger D.
    DDAGD = 2
    #: sign(Q).
    SIGN = 3
    #: Q = gamma5 (D_W - (1 + s)).
    Q = 4
    #: D^dagger D (1 + gamma5) / 2, in one application of the sign function, half as many as
    #: PLAQ_OVERLAP_DDAGD.
    DDAGD_PLUS = 5
    #: D^dagger D (1 - gamma5) / 2, in one application likewise.
    DDAGD_MINUS = 6


class plaq_overlap_params(Struct):
    """D_N(m) = (1 - m / (2 rho)) rho (1 + gamma5 sign(Q)) + m with rho = 1 + s.

    Members:
      s: Shift s of the kernel gamma5 (D_W - (1 + s)). A number between -1 and 1. Default: 0.4.
      mass: Quark mass m, 0 to below 2 rho. Default: 0.
      delta: Largest error of the sign function on the spectrum that is not projected. Less than 3e-7 in single
        precision and 1e-3 in 16 bit is taken as that; the report has the delta in use.
        1e-14 to below 1. Default: 0.00000001.
      sign: Approximation of the sign function. In 16 bit it is always the polynomial, as the report says.
        Default: PLAQ_OVERLAP_POLYNOMIAL.
      modes: Low modes of the kernel to project, at least; automatic (-1): found from the spectrum.
        0 to 10000. Default: -1.
      most_modes: Largest number of modes that are found from the spectrum. 1 to 10000. Default: 48.
      method: How modes of the kernel are found. Default: PLAQ_EIGEN_LANCZOS.
      modes_tol: Residual of the modes of Q^2 over its largest eigenvalue, from 1e-16; 0: 1e-13. Modes are found in
        double precision, whatever that of the operator. Default: 0.
      max_degree: Highest degree of a polynomial. 1 to 20000. Default: 5000.
      two_passes: Zolotarev's function runs the Krylov space twice and takes no memory for poles. 0 or 1.
        Default: 0.
      low: Least modulus of eigenvalues of Q that are not projected; 0, with `high`: as found.
        Default: 0.
      high: Largest modulus of eigenvalues of Q; 0, with `low`: as found. Default: 0.
      csw: Sheikholeslami-Wohlert coefficient of the kernel. Default: 0.
      boundary: Boundary phases in units of pi, or a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
        Default: 0, 0, 0, 1.
      precision: Precision of the operator and, single at least, of the modes that it keeps; automatic (0): that of the gauge
        field. Default: 0.
      storage: Storage of its links; automatic (0): two rows. Default: 0.
      seed: Seed of random start vectors. Default: 1.
      smearing_steps: Steps of smearing of the links that the kernel takes; the links of `gauge` stay as they are.
        0 to 100000. Default: 0.
      smearing: Kind of that smearing. Default: PLAQ_SMEARING_STOUT.
      smearing_alpha: Parameters of the kind, as of plaq_gauge_smear; the first must be set where there are steps.
      max_seconds: Most seconds that a search for modes may take, here and in each plaq_overlap_index; 0: as many
        as it needs. Then it fails with KERNEL_SPECTRUM, on all ranks. Default: 0.
      high_modes: Modes at the upper end of the kernel's spectrum that plaq_overlap_high_values reports.
        1 to 10000. Default: 1.
      max_restarts: Restarts of a search for low modes of the kernel, or of Ritz' diagonalisations.
        1 to 1000000. Default: 300.
      vectors: Where Lanczos keeps vectors of the kernel, and where its modes are kept.
        Default: PLAQ_VECTORS_AUTO.
      block: Vectors of the kernel that Lanczos multiplies at a time. 1 to 10000. Default: 1.
    """
    struct_size: int
    s: float
    mass: float
    delta: float
    sign: Any
    modes: int
    most_modes: int
    method: Any
    modes_tol: float
    max_degree: int
    two_passes: int
    low: float
    high: float
    csw: float
    boundary: Any
    precision: Any
    storage: Any
    seed: int
    smearing_steps: int
    smearing: Any
    smearing_alpha: Any
    max_seconds: float
    high_modes: int
    max_restarts: int
    vectors: Any
    block: int
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("s", _c.c_double),
        ("mass", _c.c_double),
        ("delta", _c.c_double),
        ("sign", _c.c_int32),
        ("modes", _c.c_int32),
        ("most_modes", _c.c_int32),
        ("method", _c.c_int32),
        ("modes_tol", _c.c_double),
        ("max_degree", _c.c_int32),
        ("two_passes", _c.c_int32),
        ("low", _c.c_double),
        ("high", _c.c_double),
        ("csw", _c.c_double),
        ("boundary", _c.c_double * 4),
        ("precision", _c.c_int32),
        ("storage", _c.c_int32),
        ("seed", _c.c_int64),
        ("smearing_steps", _c.c_int32),
        ("smearing", _c.c_int32),
        ("smearing_alpha", _c.c_double * 3),
        ("max_seconds", _c.c_double),
        ("high_modes", _c.c_int32),
        ("max_restarts", _c.c_int32),
        ("vectors", _c.c_int32),
        ("block", _c.c_int32),
    ]
    _enums_ = {"sign": plaq_overlap_sign, "method": plaq_eigen_method, "precision": plaq_precision, "storage": plaq_storage, "smearing": plaq_smearing, "vectors": plaq_vector_memory}
    _old_ = {"finder": "method"}
    _init_ = "plaq_overlap_params_init"


_plaq_overlap_params_init = _n.function("plaq_overlap_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_overlap_params_init(params: plaq_overlap_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_overlap_params_init, _n.struct(plaq_overlap_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_overlap_report(Struct):
    """An overlap operator that exists.

    Members:
      s: Shift of the kernel.
      mass: Quark mass.
      sign: Polynomial or Zolotarev.
      degree: Degree of the polynomial in Q^2, or poles.
      modes: Modes that are projected.
      vectors: Vectors that plaq_overlap_vectors gives out.
      delta: Error of the sign function on the spectrum that is not projected.
      kappa_plus: Kappa of the projector on positive chirality (Walk, section 2.8).
      kappa_minus: Kappa of the projector on negative chirality.
      error_bound: Largest error of an application, |D~ - D| <= (1 + s - m / 2) (2 (kappa_+ + kappa_-) + delta), without
        rounding: below 1e-12 in double precision, 3e-5 in single and 2e-2 in 16 bit on small lattices.
      low: Smallest modulus of eigenvalues of Q that the approximation holds for.
      high: Largest modulus of eigenvalues of Q that the approximation holds for.
      largest: Largest modulus of an eigenvalue of Q.
      largest_error: Error of that modulus.
      next: Smallest modulus of an eigenvalue of Q that is not projected.
      multiplications: Multiplications of a vector with Q so far.
      precision: Precision of the operator.
      storage: Storage of its links.
      seconds_modes: Seconds that the search for modes took.
      seconds_sign: Seconds that making the approximation took.
      solver: The solver of the last solve, PLAQ_OVERLAP_SOLVER_AUTO before any.
      preconditioner: Its preconditioner: 0 none, 1 the Wilson operator's inverse by BiCGStab, 2 by multigrid.
      high_modes: Modes that plaq_overlap_high_values reports.
      low_modes: Low modes of D^dagger D of either chirality that are known.
      vectors_on_device: Vectors of `vectors` that the device holds; the others wait on the host.
      max_vectors: Vectors that the search for modes kept at most; 0: they are of a file, or not found by Lanczos.
    """
    struct_size: int
    s: float
    mass: float
    sign: Any
    degree: int
    modes: int
    vectors: int
    delta: float
    kappa_plus: float
    kappa_minus: float
    error_bound: float
    low: float
    high: float
    largest: float
    largest_error: float
    next: float
    multiplications: int
    precision: Any
    storage: Any
    seconds_modes: float
    seconds_sign: float
    solver: Any
    preconditioner: int
    high_modes: int
    low_modes: int
    vectors_on_device: int
    max_vectors: int
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("s", _c.c_double),
        ("mass", _c.c_double),
        ("sign", _c.c_int32),
        ("degree", _c.c_int32),
        ("modes", _c.c_int32),
        ("vectors", _c.c_int32),
        ("delta", _c.c_double),
        ("kappa_plus", _c.c_double),
        ("kappa_minus", _c.c_double),
        ("error_bound", _c.c_double),
        ("low", _c.c_double),
        ("high", _c.c_double),
        ("largest", _c.c_double),
        ("largest_error", _c.c_double),
        ("next", _c.c_double),
        ("multiplications", _c.c_int64),
        ("precision", _c.c_int32),
        ("storage", _c.c_int32),
        ("seconds_modes", _c.c_double),
        ("seconds_sign", _c.c_double),
        ("solver", _c.c_int32),
        ("preconditioner", _c.c_int32),
        ("high_modes", _c.c_int32),
        ("low_modes", _c.c_int32),
        ("vectors_on_device", _c.c_int32),
        ("max_vectors", _c.c_int32),
    ]
    _enums_ = {"sign": plaq_overlap_sign, "precision": plaq_precision, "storage": plaq_storage, "solver": plaq_overlap_solver}
    _init_ = "plaq_overlap_report_init"


_plaq_overlap_report_init = _n.function("plaq_overlap_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_overlap_report_init(report: plaq_overlap_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_overlap_report_init, _n.struct(plaq_overlap_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_overlap_create = _n.function("plaq_overlap_create", _c.c_int32, [plaq_context, plaq_gauge, _c.c_void_p, plaq_spinor, plaq_progress_callback, _c.c_void_p, _c.c_void_p])


def plaq_overlap_create(
        context: Any,
        gauge: Any,
        params: Optional[plaq_overlap_params] = None,
        modes: Any = None,
        callback: Optional[Callable[..., Any]] = None,
) -> plaq_overlap:
    """Makes an operator on the links of `gauge` (SU(3), maybe smeared). `modes`: vectors of
    plaq_overlap_vectors of an earlier search, or the zero handle. Errors: BAD_PARAMETER (|s| >= 1),
    KERNEL_SPECTRUM (a kernel mode at zero, an interval that does not hold the spectrum, too few or
    too inexact modes: the message says what to change), OUT_OF_MEMORY.
    """
    overlap_ = plaq_overlap()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_overlap_create, callback_, (overlap_,), _n.handle(plaq_context, context, "context"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_overlap_params, params, "params"), _n.handle(plaq_spinor, modes, "modes"), callback_.c, None, _c.byref(overlap_))
    return overlap_


_plaq_overlap_read = _n.function("plaq_overlap_read", _c.c_int32, [plaq_context, plaq_gauge, _c.c_void_p, _c.c_char_p, _c.c_void_p])


def plaq_overlap_read(context: Any, gauge: Any, params: Optional[plaq_overlap_params], file: Any) -> plaq_overlap:
    """Makes an operator with the modes of a file of plaq_overlap_write, which are not sought again: their
    residuals with these links are measured. Low modes of D in the file start solves, and answer
    plaq_overlap_index. Errors: those of plaq_overlap_create; FIELD_MISMATCH: the modes belong to other
    links or parameters; FILE_*.
    """
    overlap_ = plaq_overlap()
    _n.call(_plaq_overlap_read, _n.handle(plaq_context, context, "context"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_overlap_params, params, "params"), _n.encoded(file, "file"), _c.byref(overlap_))
    return overlap_


_plaq_overlap_write = _n.function("plaq_overlap_write", _c.c_int32, [plaq_overlap, _c.c_char_p])


def plaq_overlap_write(overlap: Any, file: Any) -> None:
    """Writes the modes of the kernel, and those that plaq_overlap_index found, to a file: SciDAC
    records in LIME with checksums, eigenvalues beside them. It appears complete or not at all.
    """
    _n.call(_plaq_overlap_write, _n.handle(plaq_overlap, overlap, "overlap"), _n.encoded(file, "file"))


_plaq_overlap_create_with_mass = _n.function("plaq_overlap_create_with_mass", _c.c_int32, [plaq_overlap, _c.c_double, _c.c_void_p])


def plaq_overlap_create_with_mass(overlap: Any, mass: float) -> plaq_overlap:
    """Makes the same operator with another mass; both share the modes."""
    other_ = plaq_overlap()
    _n.call(_plaq_overlap_create_with_mass, _n.handle(plaq_overlap, overlap, "overlap"), _n.real(mass, "mass"), _c.byref(other_))
    return other_


_plaq_overlap_destroy = _n.function("plaq_overlap_destroy", _c.c_int32, [plaq_overlap])


def plaq_overlap_destroy(overlap: Any) -> None:
    """Destroys an operator. The zero handle is accepted."""
    _n.call(_plaq_overlap_destroy, _n.handle(plaq_overlap, overlap, "overlap"))


_plaq_overlap_describe = _n.function("plaq_overlap_describe", _c.c_int32, [plaq_overlap, _c.c_void_p])


def plaq_overlap_describe(overlap: Any, report: Optional[plaq_overlap_report] = None) -> None:
    """Describes parameters, bounds and cost of an operator."""
    _n.call(_plaq_overlap_describe, _n.handle(plaq_overlap, overlap, "overlap"), _n.struct(plaq_overlap_report, report, "report"))


_plaq_overlap_kernel_values = _n.function("plaq_overlap_kernel_values", _c.c_int32, [plaq_overlap, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_overlap_kernel_values(overlap: Any, values: Any, residuals: Any, distances: Any, count: int) -> None:
    """Gives the projected modes of Q, `count` = modes of the report, by modulus: eigenvalues, residues |(Q -
    lambda) w| and distances to the rest of the spectrum; the last two may be NULL.
    Arrays: values[count], residuals[count], distances[count].
    """
    _n.call(_plaq_overlap_kernel_values, _n.handle(plaq_overlap, overlap, "overlap"), _n.room(_c.c_double, values, "values", count), _n.room(_c.c_double, residuals, "residuals", count, optional=True), _n.room(_c.c_double, distances, "distances", count, optional=True), _n.int64(count, "count"))


_plaq_overlap_high_values = _n.function("plaq_overlap_high_values", _c.c_int32, [plaq_overlap, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_overlap_high_values(overlap: Any, values: Any, residuals: Any, gaps: Any, count: int) -> None:
    """Gives the modes at the upper end of the kernel's spectrum, `count` = high_modes of the report, from the
    largest on: moduli of eigenvalues of Q, their errors, and distances to the largest modulus below all of
    them; the last two may be NULL.
    Arrays: values[count], residuals[count], gaps[count].
    """
    _n.call(_plaq_overlap_high_values, _n.handle(plaq_overlap, overlap, "overlap"), _n.room(_c.c_double, values, "values", count), _n.room(_c.c_double, residuals, "residuals", count, optional=True), _n.room(_c.c_double, gaps, "gaps", count, optional=True), _n.int64(count, "count"))


_plaq_overlap_vectors = _n.function("plaq_overlap_vectors", _c.c_int32, [plaq_overlap, _c.c_void_p])


def plaq_overlap_vectors(overlap: Any) -> plaq_spinor:
    """Makes a field with all vectors of the search, the projected ones first."""
    vectors_ = plaq_spinor()
    _n.call(_plaq_overlap_vectors, _n.handle(plaq_overlap, overlap, "overlap"), _c.byref(vectors_))
    return vectors_


_plaq_overlap_apply = _n.function("plaq_overlap_apply", _c.c_int32, [plaq_overlap, _c.c_int32, plaq_spinor, plaq_spinor])


def plaq_overlap_apply(overlap: Any, form: Union[int, str, plaq_overlap_form], y: Any, x: Any) -> None:
    """Sets y to D x or another plaq_overlap_form. Fields are on the full lattice in the operator's precision;
    y and x are different fields.
    """
    _n.call(_plaq_overlap_apply, _n.handle(plaq_overlap, overlap, "overlap"), _n.enum(plaq_overlap_form, form, "form"), _n.handle(plaq_spinor, y, "y"), _n.handle(plaq_spinor, x, "x"))


_plaq_overlap_ginsparg_wilson = _n.function("plaq_overlap_ginsparg_wilson", _c.c_int32, [plaq_overlap, _c.c_int64, _c.c_void_p])


def plaq_overlap_ginsparg_wilson(overlap: Any, seed: int) -> float:
    """Measures |gamma5 D + D gamma5 - D gamma5 D / rho| x over |x| of the massless operator for a random x."""
    violation_ = _c.c_double()
    _n.call(_plaq_overlap_ginsparg_wilson, _n.handle(plaq_overlap, overlap, "overlap"), _n.int64(seed, "seed"), _c.byref(violation_))
    return violation_.value


_plaq_overlap_index = _n.function("plaq_overlap_index", _c.c_int32, [plaq_overlap, _c.c_int32, _c.c_double, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_overlap_index(
        overlap: Any,
        count: int,
        tol: float,
        callback: Optional[Callable[..., Any]],
        plus: Any,
        minus: Any,
        zeros: Any,
) -> None:
    """Finds `count` low modes of D^dagger D of the massless operator on either chirality, to
    residuals of `tol` (2 rho)^2; solves may start from them. What was found or loaded before and
    is good enough is not sought again. plus, minus: room for `count`
    eigenvalues |lambda|^2 of chirality 1 and -1, ascending. zeros: room for the numbers of zero
    modes n_+ and n_-; n_- - n_+ is the topological charge of a smooth field. While all that were found
    are zero modes twice as many are sought, so that zeros may be above `count`; KERNEL_SPECTRUM where
    not even an eighth of all vectors would do. UNSUPPORTED in 16 bit.
    Arrays: plus[count], minus[count], zeros[2].
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_overlap_index, callback_, (), _n.handle(plaq_overlap, overlap, "overlap"), _n.int32(count, "count"), _n.real(tol, "tol"), callback_.c, None, _n.room(_c.c_double, plus, "plus", count), _n.room(_c.c_double, minus, "minus", count), _n.room(_c.c_int32, zeros, "zeros", 2))


_plaq_overlap_low_values = _n.function("plaq_overlap_low_values", _c.c_int32, [plaq_overlap, _c.c_int32, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_overlap_low_values(overlap: Any, chirality: int, values: Any, residuals: Any, count: int) -> None:
    """Gives the low modes of D^dagger D of one chirality, 1 or -1, that plaq_overlap_index found or a file
    held: eigenvalues |lambda|^2, ascending, and residuals |(D^dagger D - |lambda|^2) v|, which may be NULL.
    `count`: at most low_modes of the report.
    Arrays: values[count], residuals[count].
    """
    _n.call(_plaq_overlap_low_values, _n.handle(plaq_overlap, overlap, "overlap"), _n.int32(chirality, "chirality"), _n.room(_c.c_double, values, "values", count), _n.room(_c.c_double, residuals, "residuals", count, optional=True), _n.int64(count, "count"))


# ---- Inverse of the overlap operator ----


class plaq_overlap_solve_params(Struct):
    """Parameters of solves of D x = b.

    Members:
      solver: Algorithm. Default: PLAQ_OVERLAP_SOLVER_AUTO.
      max_iterations: Largest number of iterations. 1 or more. Default: 2000.
      tol: Largest |b - D x| / |b|, not far below the operator's error bound. Default: 0.0000001.
      sloppy_precision: Precision of the iteration; automatic (0): that of the operator. Default: 0.
      sloppy_storage: Storage of the iteration's links; automatic (0): that of the operator. Default: 0.
      relax: The sign function is coarser while the residual is large. 0 or 1. Default: 1.
      deflate: Low modes that plaq_overlap_index found are taken out of the start. 0 or 1. Default: 1.
      nkrylov: Directions that GCR keeps. 1 or more. Default: 20.
      wilson_iterations: Iterations of the Wilson operator's inverse as preconditioner of GCR; 0: none, or 100 where the library
        chooses GCR. 0 or more. Default: 0.
      wilson_mass: Mass of that Wilson operator, which must be above the critical one; automatic (NaN): found once for the links,
        the low edge of its spectrum at twice the (least) quark mass. Default: NaN.
      wilson_tol: Tolerance of that inverse. Default: 0.1.
      subtract: plaq_overlap_propagators takes the contact term out. 0 or 1. Default: 1.
      multigrid: The Wilson operator's inverse is by multigrid, of plaq_overlap_set_multigrid or else one with the defaults, which the operator
        keeps for other solves with the same wilson_mass; 0: by BiCGStab; automatic (-1): by what is expected to
        take less time, from the mass, the tolerance, the number of right-hand sides and masses, and whether there
        is a multigrid already. 0 or 1. Default: -1.
      max_seconds: Most seconds that a call may take; 0: as many as it needs. They are asked for after every iteration; all ranks
        stop after the same one. What a call prepares, a multigrid or the mass of the Wilson operator, is not
        counted. Default: 0.
    """
    struct_size: int
    solver: Any
    max_iterations: int
    tol: float
    sloppy_precision: Any
    sloppy_storage: Any
    relax: int
    deflate: int
    nkrylov: int
    wilson_iterations: int
    wilson_mass: float
    wilson_tol: float
    subtract: int
    multigrid: int
    max_seconds: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("solver", _c.c_int32),
        ("max_iterations", _c.c_int32),
        ("tol", _c.c_double),
        ("sloppy_precision", _c.c_int32),
        ("sloppy_storage", _c.c_int32),
        ("relax", _c.c_int32),
        ("deflate", _c.c_int32),
        ("nkrylov", _c.c_int32),
        ("wilson_iterations", _c.c_int32),
        ("wilson_mass", _c.c_double),
        ("wilson_tol", _c.c_double),
        ("subtract", _c.c_int32),
        ("multigrid", _c.c_int32),
        ("max_seconds", _c.c_double),
    ]
    _enums_ = {"solver": plaq_overlap_solver, "sloppy_precision": plaq_precision, "sloppy_storage": plaq_storage}
    _old_ = {"algorithm": "solver"}
    _init_ = "plaq_overlap_solve_params_init"


_plaq_overlap_solve_params_init = _n.function("plaq_overlap_solve_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_overlap_solve_params_init(params: plaq_overlap_solve_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_overlap_solve_params_init, _n.struct(plaq_overlap_solve_params, params, "params"), _n.int64(struct_size, "struct_size"))


_plaq_overlap_set_multigrid = _n.function("plaq_overlap_set_multigrid", _c.c_int32, [plaq_overlap, plaq_multigrid])


def plaq_overlap_set_multigrid(overlap: Any, multigrid: Any = None) -> None:
    """Sets the multigrid of solves with params.multigrid = 1, set up for a Wilson operator of about
    params.wilson_mass on the kernel's links; the zero handle: one of their own again.
    """
    _n.call(_plaq_overlap_set_multigrid, _n.handle(plaq_overlap, overlap, "overlap"), _n.handle(plaq_multigrid, multigrid, "multigrid"))


_plaq_overlap_plan = _n.function("plaq_overlap_plan", _c.c_int32, [plaq_overlap, _c.c_void_p, _c.c_int32, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_overlap_plan(
        overlap: Any,
        params: Optional[plaq_overlap_solve_params],
        nrhs: int,
        report: Optional[plaq_plan_report] = None,
        capacity: int = 65536,
) -> str:
    """Tells memory and kernels of plaq_overlap_solve for `nrhs` right-hand sides, multigrid that it would set
    up included. Nothing is run, compiled or allocated. What the Wilson operator's spectrum decides, before
    a solve has measured it, goes by the quark mass. `names`: a line for each kernel; a name comes again
    where constants differ. Errors: INVALID_ARGUMENT, and those of plaq_overlap_solve.
    """
    names_ = _c.create_string_buffer(capacity)
    _n.call(_plaq_overlap_plan, _n.handle(plaq_overlap, overlap, "overlap"), _n.struct(plaq_overlap_solve_params, params, "params"), _n.int32(nrhs, "nrhs"), _n.struct(plaq_plan_report, report, "report"), names_, _n.int64(capacity, "capacity"))
    return _n.text(names_.value)


_plaq_overlap_create_plan = _n.function("plaq_overlap_create_plan", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p, _c.c_int32, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_overlap_create_plan(
        gauge: Any,
        params: Optional[plaq_overlap_params],
        solve: Optional[plaq_overlap_solve_params],
        nrhs: int,
        report: Optional[plaq_plan_report] = None,
        capacity: int = 65536,
) -> str:
    """Tells memory and kernels of making an operator on links like those of `gauge`, the search for modes of
    its kernel included, as many as that may find, and of a solve after it for `nrhs` right-hand sides with
    these and x; 0: of making it alone.
    """
    names_ = _c.create_string_buffer(capacity)
    _n.call(_plaq_overlap_create_plan, _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_overlap_params, params, "params"), _n.struct(plaq_overlap_solve_params, solve, "solve"), _n.int32(nrhs, "nrhs"), _n.struct(plaq_plan_report, report, "report"), names_, _n.int64(capacity, "capacity"))
    return _n.text(names_.value)


_plaq_overlap_solve = _n.function("plaq_overlap_solve", _c.c_int32, [plaq_overlap, _c.c_void_p, plaq_spinor, plaq_spinor, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_overlap_solve(
        overlap: Any,
        params: Optional[plaq_overlap_solve_params],
        x: Any,
        b: Any,
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_solve_report] = None,
        residuals: Any = None,
) -> None:
    """Solves D x = b for all right-hand sides. `residuals`: NULL or room for |b - D x| / |b| of
    each. Errors: BAD_PARAMETER, FIELD_MISMATCH, NOT_FINITE, OUT_OF_MEMORY, SOLVER_BREAKDOWN.
    Arrays: residuals[right-hand sides of b].
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_overlap_solve, callback_, (), _n.handle(plaq_overlap, overlap, "overlap"), _n.struct(plaq_overlap_solve_params, params, "params"), _n.handle(plaq_spinor, x, "x"), _n.handle(plaq_spinor, b, "b"), callback_.c, None, _n.struct(plaq_solve_report, report, "report"), _n.room(_c.c_double, residuals, "residuals", None, optional=True))


_plaq_overlap_propagators = _n.function("plaq_overlap_propagators", _c.c_int32, [plaq_overlap, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_overlap_propagators(
        overlap: Any,
        params: Optional[plaq_overlap_solve_params],
        masses: Any,
        count: int,
        source: Optional[plaq_source_params],
        callback: Optional[Callable[..., Any]],
        propagators: Any,
        report: Optional[plaq_solve_report] = None,
) -> None:
    """Makes fields of twelve columns, (D(m)^-1 - 1 / (2 rho)) / (1 - m / (2 rho)) source for each of `count`
    masses, or without the contact term taken out as params.subtract says. CG solves for several masses from
    one Krylov space, SUMR and GCR, which the library may choose, for one after the other. propagators: room
    for `count` handles.
    Arrays: masses[count], propagators[count].
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_overlap_propagators, callback_, (), _n.handle(plaq_overlap, overlap, "overlap"), _n.struct(plaq_overlap_solve_params, params, "params"), _n.array(_c.c_double, masses, "masses", count), _n.int64(count, "count"), _n.struct(plaq_source_params, source, "source"), callback_.c, None, _n.room(plaq_spinor, propagators, "propagators", count), _n.struct(plaq_solve_report, report, "report"))


# ---- Gauge fixing ----


class plaq_gaugefix(Handle):
    """A gauge transformation that fixes a gauge, and what is known of it."""


class plaq_gaugefix_condition(Enum):
    """Gauges, for SU(3) and SU(2). F is the functional that is maximised, 1 on unit links,
    and theta its violation (Schroeck and Vogt, Comput. Phys. Commun. 184 (2013) 1907).
    """
    #: F = sum Re tr U_mu / (4 N V), theta = sum tr Delta Delta^dagger / (N V).
    LANDAU = 0
    #: The same without the links along `time`, for every slice across it on its own.
    COULOMB = 1
    #: Maximally Abelian: F = sum |(U_mu)_ii|^2 / (4 N V).
    MAXIMALLY_ABELIAN = 2


class plaq_gaugefix_method(Enum):
    """Algorithms."""
    #: Overrelaxation; relaxation with omega = 1.
    OVERRELAXATION = 0
    #: Every SU(2) subgroup takes its best value, or its square with `probability`.
    STOCHASTIC = 1
    #: Simulated annealing, then overrelaxation.
    ANNEALING = 2
    #: Simulated annealing, `stochastic_sweeps` of stochastic relaxation, overrelaxation.
    COMBINED = 3
    #: Fourier-accelerated steepest descent with step `alpha` (Davies et al., Phys. Rev. D37
    #: (1988) 1581); Landau and Coulomb gauge.
    FOURIER_DESCENT = 4
    #: Fourier-accelerated conjugate gradients (Hudspith, Comput. Phys. Commun. 187 (2015)
    #: 115) with `alpha` as the first trial; Landau and Coulomb gauge.
    FOURIER_CG = 5
    #: Fourier-accelerated conjugate gradients where there are any: in Landau and Coulomb gauge, on a CPU or on
    #: one GPU with cuFFT. Else overrelaxation. The report says which.
    AUTO = 6


class plaq_gaugefix_precision(Enum):
    """Precision of the sweeps. Links are only read, so that rounding does not grow in them; functional, violation
    and result are in double for all, and the residual gauge is fixed in double.
    """
    #: Single precision.
    SINGLE = 0
    #: Single precision as far as it goes, then double.
    MIXED = 1
    #: Double precision.
    DOUBLE = 2


#: Called at every check with the number of the copy, its sweeps so far, functional and
#: violation in the precision of the sweeps, and the temperature while annealing (else 0).
#: A result other than 0 on any rank ends the fixing at the next check.
#: Arguments: copy, sweeps, functional, theta, temperature.
plaq_gaugefix_callback = _c.CFUNCTYPE(_c.c_int32, _c.c_int64, _c.c_int64, _c.c_double, _c.c_double, _c.c_double, _c.c_void_p)


class plaq_gaugefix_params(Struct):
    """Parameters of gauge fixing.

    Members:
      condition: Gauge that is fixed. Default: PLAQ_GAUGEFIX_LANDAU.
      time: Direction whose links Coulomb gauge leaves out (x, y, z, t). 0 to 3. Default: 3.
      residual: Maximally Abelian gauge is followed by Landau gauge, by diagonal transformations.
        0 or 1. Default: 0.
      method: Algorithm that raises the functional. Default: PLAQ_GAUGEFIX_AUTO.
      precision: Precision of the sweeps; the result is measured in double. Default: PLAQ_GAUGEFIX_MIXED.
      logarithmic: Annealing temperatures have equal ratios; else equal differences. 0 or 1. Default: 0.
      omega: Power of overrelaxation. 1 to below 2. Default: 1.7.
      probability: Probability of stochastic relaxation. 0 to below 1. Default: 0.5.
      stochastic_sweeps: Sweeps of stochastic relaxation in the combined algorithm. 0 or more. Default: 1000.
      hot: First temperature of annealing. Default: 1.4.
      cold: Last temperature of annealing. Default: 0.1.
      temperatures: Number of temperatures, each with a heat bath sweep. 1 to 16777216. Default: 1000.
      microcanonical: Microcanonical sweeps after each heat bath. 0 or more. Default: 3.
      stop_theta: Largest violation theta; 0: not asked for; negative: 1e-12, in single precision 1e-11, which is what that
        comes to. All criteria asked for must be met. Default: -1.
      stop_theta_max: Largest violation of a site, of which theta is the average; 0: not asked for. 0 or more.
        Default: 0.
      stop_change: Largest rise of the functional in one iteration; 0: not asked for. 0 or more.
        Default: 0.
      max_iterations: Sweeps after which a copy, or a slice, is given up; annealing is not counted. 1 or more.
        Default: 20000.
      check_every: Sweeps between two looks at the violation, and between two calls of the callback. Fourier-accelerated
        methods know the violation at every step and end at the first that is good enough.
        1 or more. Default: 10.
      copies: Gauge copies, of which the one with the largest functional among those that converged is kept; in Coulomb
        gauge of every slice. The first starts from the field as it is. 1 or more. Default: 1.
      random_start: 1: the first copy starts from a random transformation, as the others do. 0 or 1.
        Default: 0.
      seed: Seed of the random numbers. Default: 1.
      alpha: Step of the Fourier-accelerated methods along the gradient times p2max / p^2.
        A number above 0. Default: 0.08.
    """
    struct_size: int
    condition: Any
    time: int
    residual: int
    method: Any
    precision: Any
    logarithmic: int
    omega: float
    probability: float
    stochastic_sweeps: int
    hot: float
    cold: float
    temperatures: int
    microcanonical: int
    stop_theta: float
    stop_theta_max: float
    stop_change: float
    max_iterations: int
    check_every: int
    copies: int
    random_start: int
    seed: int
    alpha: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("condition", _c.c_int32),
        ("time", _c.c_int32),
        ("residual", _c.c_int32),
        ("method", _c.c_int32),
        ("precision", _c.c_int32),
        ("logarithmic", _c.c_int32),
        ("omega", _c.c_double),
        ("probability", _c.c_double),
        ("stochastic_sweeps", _c.c_int64),
        ("hot", _c.c_double),
        ("cold", _c.c_double),
        ("temperatures", _c.c_int64),
        ("microcanonical", _c.c_int64),
        ("stop_theta", _c.c_double),
        ("stop_theta_max", _c.c_double),
        ("stop_change", _c.c_double),
        ("max_iterations", _c.c_int64),
        ("check_every", _c.c_int64),
        ("copies", _c.c_int64),
        ("random_start", _c.c_int64),
        ("seed", _c.c_int64),
        ("alpha", _c.c_double),
    ]
    _enums_ = {"condition": plaq_gaugefix_condition, "method": plaq_gaugefix_method, "precision": plaq_gaugefix_precision}
    _init_ = "plaq_gaugefix_params_init"


_plaq_gaugefix_params_init = _n.function("plaq_gaugefix_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_gaugefix_params_init(params: plaq_gaugefix_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_gaugefix_params_init, _n.struct(plaq_gaugefix_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_gaugefix_report(Struct):
    """Report of a gauge fixing.

    Members:
      functional: Gauge functional of the field as it is now; in Coulomb gauge the average over the slices.
      theta: Violation theta of the field; in Coulomb gauge the average over the slices.
      theta_max: Violation theta of the worst site.
      residual_functional: Functional of the residual fixing; 0: there was none.
      residual_theta: Violation of the residual fixing; 0: there was none.
      iterations: Sweeps, without annealing; in Coulomb gauge of the slowest slice.
      residual_iterations: Sweeps of the residual fixing.
      seconds: Seconds that the fixing took.
      converged: 1: all criteria were met, in every slice, and by the residual fixing.
      stopped: 1: the callback asked to stop.
      method: Method that was taken: as asked for, or as PLAQ_GAUGEFIX_AUTO chose.
      copies: Number of copies made.
      best_copy: Number of the copy that is kept.
      stop_theta: Largest violation theta that was accepted.
    """
    struct_size: int
    functional: float
    theta: float
    theta_max: float
    residual_functional: float
    residual_theta: float
    iterations: int
    residual_iterations: int
    seconds: float
    converged: int
    stopped: int
    method: Any
    copies: int
    best_copy: int
    stop_theta: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("functional", _c.c_double),
        ("theta", _c.c_double),
        ("theta_max", _c.c_double),
        ("residual_functional", _c.c_double),
        ("residual_theta", _c.c_double),
        ("iterations", _c.c_int64),
        ("residual_iterations", _c.c_int64),
        ("seconds", _c.c_double),
        ("converged", _c.c_int32),
        ("stopped", _c.c_int32),
        ("method", _c.c_int32),
        ("copies", _c.c_int64),
        ("best_copy", _c.c_int64),
        ("stop_theta", _c.c_double),
    ]
    _enums_ = {"method": plaq_gaugefix_method}
    _init_ = "plaq_gaugefix_report_init"


_plaq_gaugefix_report_init = _n.function("plaq_gaugefix_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_gaugefix_report_init(report: plaq_gaugefix_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_gaugefix_report_init, _n.struct(plaq_gaugefix_report, report, "report"), _n.int64(struct_size, "struct_size"))


class plaq_gaugefix_state(Struct):
    """One gauge copy, or one slice of it.

    Members:
      functional: Gauge functional.
      theta: Violation theta.
      theta_max: Violation theta of the worst site.
      seconds: Seconds that a copy took; 0 of a slice.
      iterations: Sweeps, without annealing.
      converged: 1: all criteria were met.
    """
    functional: float
    theta: float
    theta_max: float
    seconds: float
    iterations: int
    converged: int
    _fields_ = [
        ("functional", _c.c_double),
        ("theta", _c.c_double),
        ("theta_max", _c.c_double),
        ("seconds", _c.c_double),
        ("iterations", _c.c_int64),
        ("converged", _c.c_int32),
    ]


_plaq_gauge_fix = _n.function("plaq_gauge_fix", _c.c_int32, [plaq_gauge, _c.c_void_p, plaq_gaugefix_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_gauge_fix(
        gauge: Any,
        params: Optional[plaq_gaugefix_params] = None,
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_gaugefix_report] = None,
        result: Optional[plaq_gaugefix] = None,
) -> None:
    """Fixes the gauge of the links, which are replaced by the fixed ones; whether they meet
    the criteria says the report. `result` has the transformation and the copies; NULL if
    they are not wanted.
    Errors: BAD_PARAMETER, NOT_FINITE, NOT_UNITARY (naming the link), OUT_OF_MEMORY,
    UNSUPPORTED (half precision; Fourier acceleration in maximally Abelian gauge),
    CUFFT_MISSING: the links stay as they were.
    """
    callback_ = _n.callback(plaq_gaugefix_callback, callback)
    _n.watched(_plaq_gauge_fix, callback_, (), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_gaugefix_params, params, "params"), callback_.c, None, _n.struct(plaq_gaugefix_report, report, "report"), _n.struct(plaq_gaugefix, result, "result"))


_plaq_gaugefix_destroy = _n.function("plaq_gaugefix_destroy", _c.c_int32, [plaq_gaugefix])


def plaq_gaugefix_destroy(result: Any) -> None:
    """Destroys a result. The zero handle is accepted."""
    _n.call(_plaq_gaugefix_destroy, _n.handle(plaq_gaugefix, result, "result"))


_plaq_gaugefix_copies = _n.function("plaq_gaugefix_copies", _c.c_int32, [plaq_gaugefix, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_gaugefix_copies(result: Any, copies: Any, capacity: int) -> int:
    """Gives all copies in turn. `count`: how many there are; the first `capacity` of them are written;
    `copies` may be NULL.
    Arrays: copies[capacity].
    """
    count_ = _c.c_int64()
    _n.call(_plaq_gaugefix_copies, _n.handle(plaq_gaugefix, result, "result"), _n.room(plaq_gaugefix_state, copies, "copies", capacity, optional=True), _n.int64(capacity, "capacity"), _c.byref(count_))
    return count_.value


_plaq_gaugefix_slices = _n.function("plaq_gaugefix_slices", _c.c_int32, [plaq_gaugefix, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_gaugefix_slices(result: Any, copy: int, slices: Any, capacity: int) -> int:
    """Gives the slices of a copy in Coulomb gauge by their coordinate, of copy number `copy` or with -1 of the
    field that is kept; in other gauges there are none.
    Arrays: slices[capacity].
    """
    count_ = _c.c_int64()
    _n.call(_plaq_gaugefix_slices, _n.handle(plaq_gaugefix, result, "result"), _n.int64(copy, "copy"), _n.room(plaq_gaugefix_state, slices, "slices", capacity, optional=True), _n.int64(capacity, "capacity"), _c.byref(count_))
    return count_.value


_plaq_gaugefix_transformation = _n.function("plaq_gaugefix_transformation", _c.c_int32, [plaq_gaugefix, _c.c_void_p])


def plaq_gaugefix_transformation(result: Any, transformation: Any) -> None:
    """Gives the transformation g(x) of this rank's sites: N x N complex numbers per site, row major, sites
    with x fastest. U_mu(x) became g(x) U_mu(x) g(x+mu)^dagger; quarks become g psi.
    Arrays: transformation[2 * N * N * sites of the rank].
    """
    _n.call(_plaq_gaugefix_transformation, _n.handle(plaq_gaugefix, result, "result"), _n.room(_c.c_double, transformation, "transformation", None))


_plaq_gaugefix_apply = _n.function("plaq_gaugefix_apply", _c.c_int32, [plaq_gaugefix, plaq_gauge])


def plaq_gaugefix_apply(result: Any, gauge: Any) -> None:
    """Applies the transformation to the links of another field of the lattice."""
    _n.call(_plaq_gaugefix_apply, _n.handle(plaq_gaugefix, result, "result"), _n.handle(plaq_gauge, gauge, "gauge"))


# ---- Momenta, gauge forces, link updates ----


class plaq_momentum(Handle):
    """Momenta p = sum_a p_a T_a of SU(3) links, tr T_a T_b = delta_ab / 2, U' = i p U; the kinetic
    term is 1/2 sum p_a^2. Numbers of other codes are multiples of i p: MILC's and QUDA's
    anti-hermitian matrices are sqrt(2) i p, and their unit of time is sqrt(2) of this one; openQCD's are i p.
    """


class plaq_site_order(Enum):
    """Order of this rank's sites in an array of momenta."""
    #: x fastest, t slowest.
    LEXICOGRAPHIC = 0
    #: Even sites, then odd ones.
    EVEN_ODD = 1
    #: The eight links of each odd site, as PLAQ_ORDER_OPENQCD has them.
    OPENQCD = 2


class plaq_momentum_form(Enum):
    """Numbers that an array of momenta holds for each link; a site has four links."""
    #: p_1 to p_8.
    COEFFICIENTS = 0
    #: i p as 10 reals: entries 01, 02, 12 (re, im), imaginary parts of the diagonal, one that
    #: is free; MILC's anti_hermitmat.
    TEN = 1
    #: i p as 3x3 complex numbers, row major.
    MATRICES = 2
    #: i p as openQCD's su3_alg_dble: diagonal i (c1 + c2, c2 - 2 c1, c1 - 2 c2), entries 01, 02,
    #: 12 c3 + i c4, c5 + i c6, c7 + i c8.
    OPENQCD = 3


class plaq_gauge_action_kind(Enum):
    """Gauge actions: sums over x and planes of plaquettes and of rectangles of two by one."""
    #: Wilson's action of plaquettes (Wilson, Phys. Rev. D 10 (1974) 2445).
    WILSON = 0
    #: Tree-level improved Symanzik action (Luescher, Weisz, Commun. Math. Phys. 97 (1985) 59): c1 = -1/12.
    SYMANZIK = 1
    #: Tadpole-improved Luescher-Weisz action of plaquettes, which beta counts, and rectangles with the factor
    #: -1 / (20 u0^2), without the term of parallelograms, whose coefficient is of order alpha.
    LUESCHER_WEISZ = 2
    #: Iwasaki's action, c1 = -0.331.
    IWASAKI = 3
    #: The action DBW2, c1 = -1.4088.
    DBW2 = 4
    #: Plaquettes with the factor 1 - 8 c1 and rectangles with c1.
    RECTANGLE = 5
    #: One-loop improved Luescher-Weisz action with parallelograms (Phys. Lett. B 158 (1985) 250) and the part of
    #: HISQ quarks (Hart, von Hippel, Horgan, arXiv:0812.0503).
    ONE_LOOP_SYMANZIK = 6
    #: Couplings for each kind of plane: `plaquettes` and `rectangles`.
    GENERAL = 7


class plaq_gauge_action_params(Struct):
    """A gauge action: sum over x and planes of beta c0 (1 - Re tr P / 3) and beta c1
    (1 - Re tr R / 3), P the plaquettes and R the rectangles of two by one.

    Members:
      action: The action; c0 and c1 follow from it. Default: PLAQ_GAUGE_ACTION_WILSON.
      beta: Coupling beta, which every action but the general one needs. 0 to 1000000. Default: NaN.
      anisotropy: Bare anisotropy xi: planes of space have the coupling beta / xi, those with t beta xi.
        A number above 0, to 1000000. Default: 1.
      c1: Factor of rectangles, of the action `rectangle`. -1000000 to 1000000. Default: NaN.
      u0: Tadpole factor of `luescher_weisz` and `one_loop_symanzik`; 0: 1.
        A number above 0, to 1. Default: 0.
      flavours: Number of HISQ quarks whose part `one_loop_symanzik` includes; NaN: none. 0 to 1000.
        Default: NaN.
      cg: Coefficient cG of the boundary at slice 0 of links with boundaries in time: of plaquettes and rectangles in an
        open boundary slice, which count one half besides, and of plaquettes between a slice whose links stand still
        and the next one. -1000000 to 1000000. Default: 1.
      cg_prime: The same of the upper boundary; NaN: as cg. -1000000 to 1000000. Default: NaN.
      plaquettes: Couplings of plaquettes in planes of space and in those with t, of the action `general`.
        -1000000 to 1000000. Default: 0, 0.
      rectangles: Couplings of rectangles in planes of space, with two steps in space and one in t, and with two steps in t,
        of the action `general`. -1000000 to 1000000. Default: 0, 0, 0.
    """
    struct_size: int
    action: Any
    beta: float
    anisotropy: float
    c1: float
    u0: float
    flavours: float
    cg: float
    cg_prime: float
    plaquettes: Any
    rectangles: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("action", _c.c_int32),
        ("beta", _c.c_double),
        ("anisotropy", _c.c_double),
        ("c1", _c.c_double),
        ("u0", _c.c_double),
        ("flavours", _c.c_double),
        ("cg", _c.c_double),
        ("cg_prime", _c.c_double),
        ("plaquettes", _c.c_double * 2),
        ("rectangles", _c.c_double * 3),
    ]
    _enums_ = {"action": plaq_gauge_action_kind}
    _init_ = "plaq_gauge_action_params_init"


_plaq_gauge_action_params_init = _n.function("plaq_gauge_action_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_gauge_action_params_init(params: plaq_gauge_action_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_gauge_action_params_init, _n.struct(plaq_gauge_action_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_force_report(Struct):
    """Report of the change of momenta by a force.

    Members:
      rms: Root of the average over links of |F|^2 = sum_a F_a^2; F_a is dS/d omega_a for U -> exp(i omega_a
        T_a) U, without the step.
      max: Largest |F| of a link.
      iterations: Iterations of solvers.
    """
    struct_size: int
    rms: float
    max: float
    iterations: int
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("rms", _c.c_double),
        ("max", _c.c_double),
        ("iterations", _c.c_int64),
    ]
    _init_ = "plaq_force_report_init"


_plaq_force_report_init = _n.function("plaq_force_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_force_report_init(report: plaq_force_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_force_report_init, _n.struct(plaq_force_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_momentum_create = _n.function("plaq_momentum_create", _c.c_int32, [plaq_gauge, _c.c_void_p])


def plaq_momentum_create(gauge: Any) -> plaq_momentum:
    """Makes momenta that are zero for links on the lattice and in the precision (double or single) of `gauge`."""
    momentum_ = plaq_momentum()
    _n.call(_plaq_momentum_create, _n.handle(plaq_gauge, gauge, "gauge"), _c.byref(momentum_))
    return momentum_


_plaq_momentum_destroy = _n.function("plaq_momentum_destroy", _c.c_int32, [plaq_momentum])


def plaq_momentum_destroy(momentum: Any) -> None:
    """Destroys momenta. The zero handle is accepted."""
    _n.call(_plaq_momentum_destroy, _n.handle(plaq_momentum, momentum, "momentum"))


_plaq_momentum_gaussian = _n.function("plaq_momentum_gaussian", _c.c_int32, [plaq_momentum, _c.c_int64, _c.c_int32])


def plaq_momentum_gaussian(momentum: Any, seed: int, number: int) -> None:
    """Draws normal p_a with unit variance, field number `number` of `seed`; the same on every device and
    decomposition.
    """
    _n.call(_plaq_momentum_gaussian, _n.handle(plaq_momentum, momentum, "momentum"), _n.int64(seed, "seed"), _n.int32(number, "number"))


_plaq_momentum_kinetic = _n.function("plaq_momentum_kinetic", _c.c_int32, [plaq_momentum, _c.c_void_p])


def plaq_momentum_kinetic(momentum: Any) -> float:
    """Sums 1/2 p_a^2 over all links of all ranks."""
    kinetic_ = _c.c_double()
    _n.call(_plaq_momentum_kinetic, _n.handle(plaq_momentum, momentum, "momentum"), _c.byref(kinetic_))
    return kinetic_.value


_plaq_momentum_add = _n.function("plaq_momentum_add", _c.c_int32, [plaq_momentum, _c.c_double, plaq_momentum, _c.c_double])


def plaq_momentum_add(momentum: Any, scale: float, other: Any, factor: float) -> None:
    """Sets `momentum` to scale momentum + factor other."""
    _n.call(_plaq_momentum_add, _n.handle(plaq_momentum, momentum, "momentum"), _n.real(scale, "scale"), _n.handle(plaq_momentum, other, "other"), _n.real(factor, "factor"))


_plaq_momentum_load = _n.function("plaq_momentum_load", _c.c_int32, [plaq_momentum, _c.c_int32, _c.c_int32, _c.c_double, _c.c_void_p])


def plaq_momentum_load(
        momentum: Any,
        form: Union[int, str, plaq_momentum_form],
        order: Union[int, str, plaq_site_order],
        factor: float,
        data: Any,
) -> None:
    """Loads momenta from the host's array of this rank's sites, whose numbers are `factor` times those of p.
    Errors: NOT_FINITE, INVALID_ARGUMENT: the momenta stay as they were.
    Arrays: data[reals of the form * 4 * sites of the rank].
    """
    _n.call(_plaq_momentum_load, _n.handle(plaq_momentum, momentum, "momentum"), _n.enum(plaq_momentum_form, form, "form"), _n.enum(plaq_site_order, order, "order"), _n.real(factor, "factor"), _n.array(_c.c_double, data, "data", None))


_plaq_momentum_save = _n.function("plaq_momentum_save", _c.c_int32, [plaq_momentum, _c.c_int32, _c.c_int32, _c.c_double, _c.c_void_p])


def plaq_momentum_save(
        momentum: Any,
        form: Union[int, str, plaq_momentum_form],
        order: Union[int, str, plaq_site_order],
        factor: float,
        data: Any,
) -> None:
    """Saves `factor` times the momenta into the host's array.
    Arrays: data[reals of the form * 4 * sites of the rank].
    """
    _n.call(_plaq_momentum_save, _n.handle(plaq_momentum, momentum, "momentum"), _n.enum(plaq_momentum_form, form, "form"), _n.enum(plaq_site_order, order, "order"), _n.real(factor, "factor"), _n.room(_c.c_double, data, "data", None))


_plaq_momentum_load_in = _n.function("plaq_momentum_load_in", _c.c_int32, [plaq_momentum, _c.c_int32, _c.c_int32, _c.c_int32, _c.c_double, _c.c_void_p])


def plaq_momentum_load_in(
        momentum: Any,
        form: Union[int, str, plaq_momentum_form],
        order: Union[int, str, plaq_site_order],
        precision: Union[int, str, plaq_precision],
        factor: float,
        data: Any,
) -> None:
    """Loads momenta, as plaq_momentum_load does, from an array of the host in `precision`, double or single.
    Errors: BAD_LAYOUT for memory of a device.
    """
    _n.call(_plaq_momentum_load_in, _n.handle(plaq_momentum, momentum, "momentum"), _n.enum(plaq_momentum_form, form, "form"), _n.enum(plaq_site_order, order, "order"), _n.enum(plaq_precision, precision, "precision"), _n.real(factor, "factor"), _n.address(data, "data"))


_plaq_momentum_save_in = _n.function("plaq_momentum_save_in", _c.c_int32, [plaq_momentum, _c.c_int32, _c.c_int32, _c.c_int32, _c.c_double, _c.c_void_p])


def plaq_momentum_save_in(
        momentum: Any,
        form: Union[int, str, plaq_momentum_form],
        order: Union[int, str, plaq_site_order],
        precision: Union[int, str, plaq_precision],
        factor: float,
        data: Any,
) -> None:
    """Saves momenta, as plaq_momentum_save does, into an array of the host in `precision`, double or single.
    Errors as of it.
    """
    _n.call(_plaq_momentum_save_in, _n.handle(plaq_momentum, momentum, "momentum"), _n.enum(plaq_momentum_form, form, "form"), _n.enum(plaq_site_order, order, "order"), _n.enum(plaq_precision, precision, "precision"), _n.real(factor, "factor"), _n.address(data, "data"))


_plaq_gauge_action = _n.function("plaq_gauge_action", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p])


def plaq_gauge_action(gauge: Any, params: Optional[plaq_gauge_action_params] = None) -> float:
    """Measures the gauge action of the links of all ranks."""
    action_ = _c.c_double()
    _n.call(_plaq_gauge_action, _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_gauge_action_params, params, "params"), _c.byref(action_))
    return action_.value


_plaq_gauge_force = _n.function("plaq_gauge_force", _c.c_int32, [plaq_gauge, _c.c_void_p, plaq_momentum, _c.c_double, _c.c_void_p])


def plaq_gauge_force(
        gauge: Any,
        params: Optional[plaq_gauge_action_params],
        momentum: Any,
        step: float,
        report: Optional[plaq_force_report] = None,
) -> None:
    """Sets `momentum` to momentum - step F, F being the force of a gauge action. Links are stored as 18
    numbers, in the momenta's precision. Errors: UNSUPPORTED, FIELD_MISMATCH, BAD_PARAMETER.
    """
    _n.call(_plaq_gauge_force, _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_gauge_action_params, params, "params"), _n.handle(plaq_momentum, momentum, "momentum"), _n.real(step, "step"), _n.struct(plaq_force_report, report, "report"))


_plaq_gauge_evolve = _n.function("plaq_gauge_evolve", _c.c_int32, [plaq_gauge, plaq_momentum, _c.c_double])


def plaq_gauge_evolve(gauge: Any, momentum: Any, step: float) -> None:
    """Sets U to exp(i step p) U, the exponential being exact to rounding for |step p| up to 8."""
    _n.call(_plaq_gauge_evolve, _n.handle(plaq_gauge, gauge, "gauge"), _n.handle(plaq_momentum, momentum, "momentum"), _n.real(step, "step"))


_plaq_gauge_reunitarise = _n.function("plaq_gauge_reunitarise", _c.c_int32, [plaq_gauge, _c.c_void_p])


def plaq_gauge_reunitarise(gauge: Any) -> float:
    """Puts all links back into SU(3); `correction`: the largest change of an entry."""
    correction_ = _c.c_double()
    _n.call(_plaq_gauge_reunitarise, _n.handle(plaq_gauge, gauge, "gauge"), _c.byref(correction_))
    return correction_.value


# ---- Closed paths of links ----


_plaq_gauge_path_traces = _n.function("plaq_gauge_path_traces", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_gauge_path_traces(gauge: Any, steps: Any, lengths: Any, count: int, traces: Any) -> None:
    """Sums over x the trace of the ordered product of links from x along each of `count` closed paths, up to
    4096, all ranks: `traces` takes real and imaginary part of each. `steps` holds the paths one after the
    other, `lengths` their steps, 1 to 64: 0 to 3 forward in x, y, z, t, 7 to 4 back. A path may wind around
    the lattice. The same on all ranks. Errors: BAD_PARAMETER, OUT_OF_MEMORY.
    Arrays: steps[sum of lengths], lengths[count], traces[2 * count].
    """
    _n.call(_plaq_gauge_path_traces, _n.handle(plaq_gauge, gauge, "gauge"), _n.array(_c.c_int32, steps, "steps", None), _n.array(_c.c_int32, lengths, "lengths", count), _n.int64(count, "count"), _n.room(_c.c_double, traces, "traces", 2 * count))


_plaq_gauge_path_action = _n.function("plaq_gauge_path_action", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_gauge_path_action(gauge: Any, steps: Any, lengths: Any, coefficients: Any, count: int) -> float:
    """Measures S = sum over x and paths of coefficient (1 - Re tr L(x) / 3), L(x) the product from x; paths as
    above. Links are stored as 18 numbers in double or single precision. Errors: as above, UNSUPPORTED.
    Arrays: steps[sum of lengths], lengths[count], coefficients[count].
    """
    action_ = _c.c_double()
    _n.call(_plaq_gauge_path_action, _n.handle(plaq_gauge, gauge, "gauge"), _n.array(_c.c_int32, steps, "steps", None), _n.array(_c.c_int32, lengths, "lengths", count), _n.array(_c.c_double, coefficients, "coefficients", count), _n.int64(count, "count"), _c.byref(action_))
    return action_.value


_plaq_gauge_path_force = _n.function("plaq_gauge_path_force", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64, plaq_momentum, _c.c_double, _c.c_void_p])


def plaq_gauge_path_force(
        gauge: Any,
        steps: Any,
        lengths: Any,
        coefficients: Any,
        count: int,
        momentum: Any,
        step: float,
        report: Optional[plaq_force_report] = None,
) -> None:
    """Sets `momentum` to momentum - step F, F_a = dS/d omega_a for U -> exp(i omega_a T_a) U. Errors: as
    above, FIELD_MISMATCH.
    Arrays: steps[sum of lengths], lengths[count], coefficients[count].
    """
    _n.call(_plaq_gauge_path_force, _n.handle(plaq_gauge, gauge, "gauge"), _n.array(_c.c_int32, steps, "steps", None), _n.array(_c.c_int32, lengths, "lengths", count), _n.array(_c.c_double, coefficients, "coefficients", count), _n.int64(count, "count"), _n.handle(plaq_momentum, momentum, "momentum"), _n.real(step, "step"), _n.struct(plaq_force_report, report, "report"))


_plaq_path_images = _n.function("plaq_path_images", _c.c_int32, [_c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_path_images(steps: Any, length: int, images: Any, capacity: int) -> int:
    """Gives all forms that a closed path of `length` steps takes under turns and reflections of the lattice,
    each once whatever its start and sense (6 plaquettes, 12 rectangles of two by one): `images` takes them
    one after the other, `capacity` of them at most. Errors: BAD_PARAMETER; INVALID_ARGUMENT: `capacity` is
    too small.
    Arrays: steps[length], images[capacity * length].
    """
    count_ = _c.c_int64()
    _n.call(_plaq_path_images, _n.array(_c.c_int32, steps, "steps", length), _n.int64(length, "length"), _n.room(_c.c_int32, images, "images", capacity * length), _n.int64(capacity, "capacity"), _c.byref(count_))
    return count_.value


# ---- Fermion forces of given spinors ----


_plaq_dirac_hop_force = _n.function("plaq_dirac_hop_force", _c.c_int32, [plaq_dirac, plaq_momentum, _c.c_double, plaq_spinor, plaq_spinor, _c.c_void_p, _c.c_int64])


def plaq_dirac_hop_force(dirac: Any, momentum: Any, step: float, x: Any, y: Any, coefficients: Any, count: int) -> None:
    """Sets `momentum` to momentum - step F with F the force of the hopping term in S = sum_k 2 coefficients[k]
    Re <y_k, M x_k>, boundary phases included: what two flavours with the action phi^dagger (M^dagger M)^-1
    phi have for coefficient -1, x = (M^dagger M)^-1 phi and y = M x. F_a = dS/d omega_a for U -> exp(i
    omega_a T_a) U. Spinors hold the whole lattice; `count` = nrhs. Operator, spinors and momenta have the
    same precision, double or single, and the operator's links 18 or 12 numbers. Errors: FIELD_MISMATCH,
    UNSUPPORTED.
    Arrays: coefficients[count].
    """
    _n.call(_plaq_dirac_hop_force, _n.handle(plaq_dirac, dirac, "dirac"), _n.handle(plaq_momentum, momentum, "momentum"), _n.real(step, "step"), _n.handle(plaq_spinor, x, "x"), _n.handle(plaq_spinor, y, "y"), _n.array(_c.c_double, coefficients, "coefficients", count), _n.int64(count, "count"))


_plaq_dirac_clover_force = _n.function("plaq_dirac_clover_force", _c.c_int32, [plaq_dirac, plaq_momentum, _c.c_double, plaq_spinor, plaq_spinor, _c.c_void_p, _c.c_int64, _c.c_double, _c.c_double])


def plaq_dirac_clover_force(
        dirac: Any,
        momentum: Any,
        step: float,
        x: Any,
        y: Any,
        coefficients: Any,
        count: int,
        determinant_even: float,
        determinant_odd: float,
) -> None:
    """Does this for the clover term, made of the operator's links; to S are added determinant_even ln |det
    A_even|^2 + determinant_odd ln |det A_odd|^2, A with its twist: two flavours have -1 for the parities
    that their Schur complement leaves out. Errors: as above; UNSUPPORTED without such a clover term.
    Arrays: coefficients[count].
    """
    _n.call(_plaq_dirac_clover_force, _n.handle(plaq_dirac, dirac, "dirac"), _n.handle(plaq_momentum, momentum, "momentum"), _n.real(step, "step"), _n.handle(plaq_spinor, x, "x"), _n.handle(plaq_spinor, y, "y"), _n.array(_c.c_double, coefficients, "coefficients", count), _n.int64(count, "count"), _n.real(determinant_even, "determinant_even"), _n.real(determinant_odd, "determinant_odd"))


_plaq_dirac_schur_force = _n.function("plaq_dirac_schur_force", _c.c_int32, [plaq_dirac, _c.c_int32, plaq_momentum, _c.c_double, plaq_spinor, plaq_spinor, _c.c_void_p, _c.c_int64, _c.c_double])


def plaq_dirac_schur_force(
        dirac: Any,
        system: Union[int, str, plaq_system],
        momentum: Any,
        step: float,
        x: Any,
        y: Any,
        coefficients: Any,
        count: int,
        determinant: float,
) -> None:
    """Does this for the whole force, of hopping and clover terms, of S = sum_k 2 coefficients[k] Re <y_k, P
    x_k> + determinant ln |det A|^2, P a Schur complement (a plaq_system but the full one), spinors on its
    parity, A of the sites that it leaves out: all sites for a symmetric one. Errors: as above.
    Arrays: coefficients[count].
    """
    _n.call(_plaq_dirac_schur_force, _n.handle(plaq_dirac, dirac, "dirac"), _n.enum(plaq_system, system, "system"), _n.handle(plaq_momentum, momentum, "momentum"), _n.real(step, "step"), _n.handle(plaq_spinor, x, "x"), _n.handle(plaq_spinor, y, "y"), _n.array(_c.c_double, coefficients, "coefficients", count), _n.int64(count, "count"), _n.real(determinant, "determinant"))


# ---- Hybrid Monte Carlo ----


class plaq_hmc(Handle):
    """A Markov chain of trajectories: action, integrator, momenta, place in the random streams."""


#: Called after every trajectory with its number, its Delta H, whether it was accepted (1), the
#: average plaquette, the iterations of its solvers and its seconds; a result other than 0 on any
#: rank ends the run.
#: Arguments: trajectory, delta_h, accepted, plaquette, iterations, seconds.
plaq_trajectory_callback = _c.CFUNCTYPE(_c.c_int32, _c.c_int64, _c.c_double, _c.c_int32, _c.c_double, _c.c_int64, _c.c_double, _c.c_void_p)


class plaq_hmc_report(Struct):
    """Report of a run of trajectories; numbers of one trajectory are those of the last.

    Members:
      trajectories: Number of trajectories done.
      accepted: Number of trajectories accepted.
      next_trajectory: Number of the next trajectory.
      last_accepted: 1: the last trajectory was accepted.
      stopped: 1: the callback asked to stop.
      iterations: Iterations of all solvers in the last trajectory.
      delta_h: Delta H of the last trajectory.
      exp_minus_delta_h: Average over the run of exp(-Delta H): 1 within errors.
      kinetic_start: Kinetic term at the start of the last trajectory.
      kinetic_end: Kinetic term at its end.
      plaquette: Average plaquette after the last trajectory.
      correction: Largest change of an entry when links were put back into SU(3).
      reversibility_links: Largest difference of an entry of a link after the way there and back; -1: not checked.
      reversibility_h: Difference of H after the way there and back; -1: not checked.
      trajectory_seconds: Seconds of the last trajectory.
      seconds: Seconds of all trajectories.
    """
    struct_size: int
    trajectories: int
    accepted: int
    next_trajectory: int
    last_accepted: int
    stopped: int
    iterations: int
    delta_h: float
    exp_minus_delta_h: float
    kinetic_start: float
    kinetic_end: float
    plaquette: float
    correction: float
    reversibility_links: float
    reversibility_h: float
    trajectory_seconds: float
    seconds: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("trajectories", _c.c_int64),
        ("accepted", _c.c_int64),
        ("next_trajectory", _c.c_int64),
        ("last_accepted", _c.c_int32),
        ("stopped", _c.c_int32),
        ("iterations", _c.c_int64),
        ("delta_h", _c.c_double),
        ("exp_minus_delta_h", _c.c_double),
        ("kinetic_start", _c.c_double),
        ("kinetic_end", _c.c_double),
        ("plaquette", _c.c_double),
        ("correction", _c.c_double),
        ("reversibility_links", _c.c_double),
        ("reversibility_h", _c.c_double),
        ("trajectory_seconds", _c.c_double),
        ("seconds", _c.c_double),
    ]
    _init_ = "plaq_hmc_report_init"


_plaq_hmc_report_init = _n.function("plaq_hmc_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_hmc_report_init(report: plaq_hmc_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_hmc_report_init, _n.struct(plaq_hmc_report, report, "report"), _n.int64(struct_size, "struct_size"))


class plaq_monomial_report(Struct):
    """A monomial in the last trajectory.

    Members:
      action_start: Action at the start of the trajectory.
      action_end: Action at its end.
      kicks: Number of evaluations of the force.
      rms: Average of the forces' rms.
      max: Largest force of a link.
      force_iterations: Iterations of solvers in forces.
      action_iterations: Iterations of solvers in heat bath and actions.
      seconds: Seconds that the monomial took.
      solve_seconds: Seconds of them in solvers.
    """
    struct_size: int
    action_start: float
    action_end: float
    kicks: int
    rms: float
    max: float
    force_iterations: int
    action_iterations: int
    seconds: float
    solve_seconds: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("action_start", _c.c_double),
        ("action_end", _c.c_double),
        ("kicks", _c.c_int64),
        ("rms", _c.c_double),
        ("max", _c.c_double),
        ("force_iterations", _c.c_int64),
        ("action_iterations", _c.c_int64),
        ("seconds", _c.c_double),
        ("solve_seconds", _c.c_double),
    ]
    _init_ = "plaq_monomial_report_init"


_plaq_monomial_report_init = _n.function("plaq_monomial_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_monomial_report_init(report: plaq_monomial_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_monomial_report_init, _n.struct(plaq_monomial_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_hmc_create = _n.function("plaq_hmc_create", _c.c_int32, [plaq_gauge, _c.c_char_p, _c.c_void_p])


def plaq_hmc_create(gauge: Any, input: Any) -> plaq_hmc:
    """Makes a chain of what `input` says in TOML (docs/hmc.md lists the keys) for links on the lattice and in
    the precision of `gauge`, stored as 18 numbers. Errors: INVALID_ARGUMENT (naming the line),
    BAD_PARAMETER, OUT_OF_MEMORY.
    """
    hmc_ = plaq_hmc()
    _n.call(_plaq_hmc_create, _n.handle(plaq_gauge, gauge, "gauge"), _n.encoded(input, "input"), _c.byref(hmc_))
    return hmc_


_plaq_hmc_destroy = _n.function("plaq_hmc_destroy", _c.c_int32, [plaq_hmc])


def plaq_hmc_destroy(hmc: Any) -> None:
    """Destroys a chain. The zero handle is accepted."""
    _n.call(_plaq_hmc_destroy, _n.handle(plaq_hmc, hmc, "hmc"))


_plaq_hmc_run = _n.function("plaq_hmc_run", _c.c_int32, [plaq_hmc, plaq_gauge, _c.c_int64, plaq_trajectory_callback, _c.c_void_p, _c.c_void_p])


def plaq_hmc_run(
        hmc: Any,
        gauge: Any,
        trajectories: int,
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_hmc_report] = None,
) -> None:
    """Runs trajectories. After an error (NOT_FINITE, NOT_CONVERGED, SPECTRAL_BOUNDS, ...) the links are those
    before the trajectory that failed, whose number is then that of the next.
    """
    callback_ = _n.callback(plaq_trajectory_callback, callback)
    _n.watched(_plaq_hmc_run, callback_, (), _n.handle(plaq_hmc, hmc, "hmc"), _n.handle(plaq_gauge, gauge, "gauge"), _n.int64(trajectories, "trajectories"), callback_.c, None, _n.struct(plaq_hmc_report, report, "report"))


_plaq_hmc_memory = _n.function("plaq_hmc_memory", _c.c_int32, [plaq_hmc, plaq_gauge, _c.c_void_p])


def plaq_hmc_memory(hmc: Any, gauge: Any) -> int:
    """Tells the device memory in bytes that trajectories take at most, beside what the chain holds; a first
    trajectory for which there is not so much is refused (OUT_OF_MEMORY). Later ones take no more.
    """
    bytes_ = _c.c_int64()
    _n.call(_plaq_hmc_memory, _n.handle(plaq_hmc, hmc, "hmc"), _n.handle(plaq_gauge, gauge, "gauge"), _c.byref(bytes_))
    return bytes_.value


_plaq_hmc_monomials = _n.function("plaq_hmc_monomials", _c.c_int32, [plaq_hmc, _c.c_void_p])


def plaq_hmc_monomials(hmc: Any) -> int:
    """Counts the monomials."""
    count_ = _c.c_int64()
    _n.call(_plaq_hmc_monomials, _n.handle(plaq_hmc, hmc, "hmc"), _c.byref(count_))
    return count_.value


_plaq_hmc_monomial = _n.function("plaq_hmc_monomial", _c.c_int32, [plaq_hmc, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_hmc_monomial(
        hmc: Any,
        index: int,
        capacity: int = 65536,
        report: Optional[plaq_monomial_report] = None,
) -> str:
    """Describes monomial number `index` from 0 in the last trajectory, and its name."""
    name_ = _c.create_string_buffer(capacity)
    _n.call(_plaq_hmc_monomial, _n.handle(plaq_hmc, hmc, "hmc"), _n.int64(index, "index"), name_, _n.int64(capacity, "capacity"), _n.struct(plaq_monomial_report, report, "report"))
    return _n.text(name_.value)


_plaq_hmc_place = _n.function("plaq_hmc_place", _c.c_int32, [plaq_hmc, _c.c_void_p, _c.c_void_p])


def plaq_hmc_place(hmc: Any) -> tuple[int, int]:
    """Gives the seed and the number of the next trajectory."""
    seed_ = _c.c_int64()
    trajectory_ = _c.c_int64()
    _n.call(_plaq_hmc_place, _n.handle(plaq_hmc, hmc, "hmc"), _c.byref(seed_), _c.byref(trajectory_))
    return seed_.value, trajectory_.value


_plaq_hmc_set_place = _n.function("plaq_hmc_set_place", _c.c_int32, [plaq_hmc, _c.c_int64, _c.c_int64])


def plaq_hmc_set_place(hmc: Any, seed: int, trajectory: int) -> None:
    """Sets the seed and the number of the next trajectory."""
    _n.call(_plaq_hmc_set_place, _n.handle(plaq_hmc, hmc, "hmc"), _n.int64(seed, "seed"), _n.int64(trajectory, "trajectory"))


_plaq_hmc_write = _n.function("plaq_hmc_write", _c.c_int32, [plaq_hmc, plaq_gauge, _c.c_char_p])


def plaq_hmc_write(hmc: Any, gauge: Any, file: Any) -> None:
    """Writes links, place and the intervals that monomials have measured to a file (ILDG, double
    precision) from which the chain goes on bit for bit; it appears complete or not at all.
    """
    _n.call(_plaq_hmc_write, _n.handle(plaq_hmc, hmc, "hmc"), _n.handle(plaq_gauge, gauge, "gauge"), _n.encoded(file, "file"))


_plaq_hmc_read = _n.function("plaq_hmc_read", _c.c_int32, [plaq_hmc, plaq_gauge, _c.c_char_p])


def plaq_hmc_read(hmc: Any, gauge: Any, file: Any) -> None:
    """Takes links, place and intervals from such a file; an interval of the input comes first. Errors:
    those of plaq_gauge_read; FILE_FORMAT: a configuration without a place. All is then as before.
    """
    _n.call(_plaq_hmc_read, _n.handle(plaq_hmc, hmc, "hmc"), _n.handle(plaq_gauge, gauge, "gauge"), _n.encoded(file, "file"))


_plaq_input_number = _n.function("plaq_input_number", _c.c_int32, [_c.c_char_p, _c.c_char_p, _c.c_double, _c.c_void_p, _c.c_void_p])


def plaq_input_number(input: Any, path: Any, otherwise: float) -> tuple[float, int]:
    """Reads a number of an input in TOML by its path, e.g. "run.lattice.3"; `found`: 0 if there is none, and
    `value` is then `otherwise`. For the host's own keys, in the table `run`.
    """
    value_ = _c.c_double()
    found_ = _c.c_int32()
    _n.call(_plaq_input_number, _n.encoded(input, "input"), _n.encoded(path, "path"), _n.real(otherwise, "otherwise"), _c.byref(value_), _c.byref(found_))
    return value_.value, found_.value


_plaq_input_text = _n.function("plaq_input_text", _c.c_int32, [_c.c_char_p, _c.c_char_p, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_input_text(input: Any, path: Any, capacity: int = 65536) -> tuple[str, int]:
    """Reads a text of an input in the same way; it is empty if there is none."""
    found_ = _c.c_int32()
    value_ = _c.create_string_buffer(capacity)
    _n.call(_plaq_input_text, _n.encoded(input, "input"), _n.encoded(path, "path"), value_, _n.int64(capacity, "capacity"), _c.byref(found_))
    return _n.text(value_.value), found_.value


_plaq_input_check = _n.function("plaq_input_check", _c.c_int32, [_c.c_char_p, _c.c_char_p, _c.c_char_p])


def plaq_input_check(input: Any, path: Any, known: Any) -> None:
    """Refuses a table of an input, e.g. "run", with a key that is none of `known`, words with blanks
    between them. A table that is absent has no keys. Errors: INVALID_ARGUMENT, naming the key.
    """
    _n.call(_plaq_input_check, _n.encoded(input, "input"), _n.encoded(path, "path"), _n.encoded(known, "known"))


# ---- Actions of chains in parts ----


class plaq_hmc_parts(Handle):
    """Terms of an action and levels of its integrator, of which a chain is made."""


class plaq_integrator(Enum):
    """Schemes of integrators."""
    #: Second order, a force a step.
    LEAPFROG = 0
    #: Omelyan's of second order, two forces.
    OMELYAN2 = 1
    #: Omelyan's of fourth order, five forces.
    OMELYAN4 = 2
    #: Fourth order, three forces and one at shifted links.
    FORCE_GRADIENT = 3


class plaq_hmc_algorithm(Enum):
    """Algorithms that make a Markov chain of molecular dynamics."""
    #: Hybrid Monte Carlo: momenta and pseudofermions are drawn anew for every trajectory.
    HMC = 0
    #: Stochastic molecular dynamics: they are rotated at the start of every trajectory, a short cycle.
    SMD = 1


class plaq_smd_rejection(Enum):
    """Momenta that a rejected cycle leaves with their sign changed. Links go back to the start of the cycle,
    pseudofermions stay as they were rotated.
    """
    #: Momenta from before the rotation, as openQCD has it.
    BEFORE = 0
    #: Momenta after the rotation, with which the cycle keeps the distribution exactly (Horowitz, Phys. Lett. B 268
    #: (1991) 247).
    AFTER = 1


class plaq_hmc_params(Struct):
    """A chain but for its action and its integrator: keys of an input (docs/hmc.md).

    Members:
      length: Length of a trajectory. Default: 1.
      seed: Seed of the random numbers. Default: 0.
      trajectory: Number of the next trajectory. 0 or more. Default: 0.
      accept_until: Trajectories with lower numbers are accepted whatever their Delta H; until then an interval of one flavour's
        spectrum that is measured follows the links. 0 or more. Default: 0.
      reversibility_every: Every so many trajectories the way there and back is measured; 0: never. 0 or more.
        Default: 0.
      algorithm: Step before molecular dynamics: new momenta and pseudofermions in hmc, a rotation of those that are
        there in smd. Default: PLAQ_HMC_ALGORITHM_HMC.
      rejection: Momenta that a rejected cycle of smd leaves, reversed.
        Default: PLAQ_SMD_REJECTION_BEFORE.
      friction: Friction gamma of smd: a cycle of length t keeps exp(-gamma t) of momenta and pseudofermions.
        0 to 1000000. Default: 0.3.
    """
    struct_size: int
    length: float
    seed: int
    trajectory: int
    accept_until: int
    reversibility_every: int
    algorithm: Any
    rejection: Any
    friction: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("length", _c.c_double),
        ("seed", _c.c_int64),
        ("trajectory", _c.c_int64),
        ("accept_until", _c.c_int64),
        ("reversibility_every", _c.c_int64),
        ("algorithm", _c.c_int32),
        ("rejection", _c.c_int32),
        ("friction", _c.c_double),
    ]
    _enums_ = {"algorithm": plaq_hmc_algorithm, "rejection": plaq_smd_rejection}
    _init_ = "plaq_hmc_params_init"


_plaq_hmc_params_init = _n.function("plaq_hmc_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_hmc_params_init(params: plaq_hmc_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_hmc_params_init, _n.struct(plaq_hmc_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_quarks_params(Struct):
    """Quarks of an action (docs/fermions.md).

    Members:
      flavours: Number of flavours; 2: det(M^dagger M), or its ratio to that of a preconditioner; 1: |det M|.
        1 or 2. Default: 2.
      system: Schur complement whose determinant is taken. Default: PLAQ_SYSTEM_EVEN_SYMMETRIC.
      max_iterations: Largest number of iterations of a solve. 1 or more. Default: 20000.
      sloppy_precision: Precision of the iteration inside double; automatic (0): half on a GPU and single on a CPU for CG of two
        flavours, else double. Default: 0.
      guesses: Solutions that guesses of force solves are made of; 0: solves start from zero.
        0 or more. Default: 0.
      smearing_levels: Levels of stout smearing of the links that the operators see; 0: none. 0 to 64.
        Default: 0.
      multigrid: Solves are by GCR with multigrid. 0 or 1. Default: 0.
      multigrid_preconditioner: Solves of the preconditioner are by multigrid, too. 0 or 1. Default: 0.
      persistent: Null vectors outlive a trajectory. 0 or 1. Default: 0.
      nkrylov: Directions that GCR keeps. 1 or more. Default: 20.
      refresh: What follows a change of links: nothing but the new links, a refinement, or a new set-up.
        Default: PLAQ_REFRESH_KEEP.
      shifts: Number of the least shifts of one flavour that multigrid solves. 0 or more. Default: 3.
      fields: Pseudofermion fields of one flavour, each with its root. 1 or more. Default: 1.
      check_every: Every how many trajectories the spectrum of one flavour is measured, of which an eigenvalue outside of the
        interval ends the trajectory; 0: only to find the interval. 0 or more. Default: 1.
      tolerance_force: Largest residual of solves in forces; trajectories are reversible to about as much.
        A number between 0 and 1. Default: 1e-11.
      tolerance_hamiltonian: Largest residual of solves in the Hamiltonian and the heat bath.
        A number between 0 and 1. Default: 1e-11.
      smearing_rho: Weight rho of stout smearing. Default: 0.
      error_force: Relative error of one flavour's rational approximation in forces. Default: 0.0000001.
      error_hamiltonian: Relative error of that approximation in the Hamiltonian and the heat bath.
        Default: 1e-12.
      interval: Ends of the interval of one flavour's spectrum; 0: it is measured, a third below and a fifth above what was found.
        Default: 0, 0.
      epsilon: Splitting epsilon of a twisted doublet, whose weight is det M, with two flavours and the parameters of one
        flavour; 0: two flavours of equal mass. Default: 0.
      tol_site: Solves also go on until the largest |b - P^dagger P x| of a site is at most this times their tolerance times the
        largest |b| of one (OpenLat: Francis, Fritzsch, Luscher, Rago, arXiv:1911.04533, Section 4); 0: not asked for.
        0 to 1000000. Default: 0.
    """
    struct_size: int
    flavours: int
    system: Any
    max_iterations: int
    sloppy_precision: Any
    guesses: int
    smearing_levels: int
    multigrid: int
    multigrid_preconditioner: int
    persistent: int
    nkrylov: int
    refresh: Any
    shifts: int
    fields: int
    check_every: int
    tolerance_force: float
    tolerance_hamiltonian: float
    smearing_rho: float
    error_force: float
    error_hamiltonian: float
    interval: Any
    epsilon: float
    tol_site: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("flavours", _c.c_int32),
        ("system", _c.c_int32),
        ("max_iterations", _c.c_int32),
        ("sloppy_precision", _c.c_int32),
        ("guesses", _c.c_int32),
        ("smearing_levels", _c.c_int32),
        ("multigrid", _c.c_int32),
        ("multigrid_preconditioner", _c.c_int32),
        ("persistent", _c.c_int32),
        ("nkrylov", _c.c_int32),
        ("refresh", _c.c_int32),
        ("shifts", _c.c_int32),
        ("fields", _c.c_int32),
        ("check_every", _c.c_int32),
        ("tolerance_force", _c.c_double),
        ("tolerance_hamiltonian", _c.c_double),
        ("smearing_rho", _c.c_double),
        ("error_force", _c.c_double),
        ("error_hamiltonian", _c.c_double),
        ("interval", _c.c_double * 2),
        ("epsilon", _c.c_double),
        ("tol_site", _c.c_double),
    ]
    _enums_ = {"system": plaq_system, "sloppy_precision": plaq_precision, "refresh": plaq_refresh}
    _old_ = {"sloppy": "sloppy_precision"}
    _init_ = "plaq_quarks_params_init"


_plaq_quarks_params_init = _n.function("plaq_quarks_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_quarks_params_init(params: plaq_quarks_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_quarks_params_init, _n.struct(plaq_quarks_params, params, "params"), _n.int64(struct_size, "struct_size"))


_plaq_hmc_parts_create = _n.function("plaq_hmc_parts_create", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p])


def plaq_hmc_parts_create(gauge: Any, params: Optional[plaq_hmc_params] = None) -> plaq_hmc_parts:
    """Makes parts of a chain for links on the lattice and in the precision of `gauge`, stored as 18 numbers.
    Each level is added before its monomials, the outermost first. Errors: BAD_PARAMETER.
    """
    parts_ = plaq_hmc_parts()
    _n.call(_plaq_hmc_parts_create, _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_hmc_params, params, "params"), _c.byref(parts_))
    return parts_


_plaq_hmc_parts_destroy = _n.function("plaq_hmc_parts_destroy", _c.c_int32, [plaq_hmc_parts])


def plaq_hmc_parts_destroy(parts: Any) -> None:
    """Destroys parts. The zero handle is accepted."""
    _n.call(_plaq_hmc_parts_destroy, _n.handle(plaq_hmc_parts, parts, "parts"))


_plaq_hmc_parts_add_level = _n.function("plaq_hmc_parts_add_level", _c.c_int32, [plaq_hmc_parts, _c.c_int32, _c.c_int64])


def plaq_hmc_parts_add_level(parts: Any, integrator: Union[int, str, plaq_integrator], steps: int) -> None:
    """Adds a level with so many steps of a plaq_integrator."""
    _n.call(_plaq_hmc_parts_add_level, _n.handle(plaq_hmc_parts, parts, "parts"), _n.enum(plaq_integrator, integrator, "integrator"), _n.int64(steps, "steps"))


_plaq_hmc_parts_add_gauge = _n.function("plaq_hmc_parts_add_gauge", _c.c_int32, [plaq_hmc_parts, _c.c_char_p, _c.c_void_p])


def plaq_hmc_parts_add_gauge(parts: Any, name: Any, params: Optional[plaq_gauge_action_params] = None) -> None:
    """Adds a gauge action to the last level. Names of monomials are unique. Errors:
    BAD_PARAMETER, OUT_OF_MEMORY.
    """
    _n.call(_plaq_hmc_parts_add_gauge, _n.handle(plaq_hmc_parts, parts, "parts"), _n.encoded(name, "name"), _n.struct(plaq_gauge_action_params, params, "params"))


_plaq_hmc_parts_add_paths = _n.function("plaq_hmc_parts_add_paths", _c.c_int32, [plaq_hmc_parts, _c.c_char_p, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_hmc_parts_add_paths(parts: Any, name: Any, steps: Any, lengths: Any, coefficients: Any, count: int) -> None:
    """Adds closed paths as plaq_gauge_path_action takes them. Errors: BAD_PARAMETER, OUT_OF_MEMORY.
    Arrays: steps[sum of lengths], lengths[count], coefficients[count].
    """
    _n.call(_plaq_hmc_parts_add_paths, _n.handle(plaq_hmc_parts, parts, "parts"), _n.encoded(name, "name"), _n.array(_c.c_int32, steps, "steps", None), _n.array(_c.c_int32, lengths, "lengths", count), _n.array(_c.c_double, coefficients, "coefficients", count), _n.int64(count, "count"))


_plaq_hmc_parts_add_quarks = _n.function("plaq_hmc_parts_add_quarks", _c.c_int32, [plaq_hmc_parts, _c.c_char_p, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_hmc_parts_add_quarks(
        parts: Any,
        name: Any,
        params: Optional[plaq_quarks_params] = None,
        dirac: Optional[plaq_dirac_params] = None,
        preconditioner: Optional[plaq_dirac_params] = None,
        multigrid: Optional[plaq_multigrid_params] = None,
) -> None:
    """Adds quarks. Of `dirac` and `preconditioner` (NULL, or neither kappa nor mass: no ratio) normalisation,
    precision and storage do not count; `multigrid` where `params` ask for it. Errors:
    BAD_PARAMETER, UNSUPPORTED.
    """
    _n.call(_plaq_hmc_parts_add_quarks, _n.handle(plaq_hmc_parts, parts, "parts"), _n.encoded(name, "name"), _n.struct(plaq_quarks_params, params, "params"), _n.struct(plaq_dirac_params, dirac, "dirac"), _n.struct(plaq_dirac_params, preconditioner, "preconditioner"), _n.struct(plaq_multigrid_params, multigrid, "multigrid"))


_plaq_hmc_create_from = _n.function("plaq_hmc_create_from", _c.c_int32, [plaq_hmc_parts, _c.c_void_p])


def plaq_hmc_create_from(parts: Any) -> plaq_hmc:
    """Makes the chain of what was added, the same bit for bit as that of an input that says so; the parts are
    then empty. Errors: as of plaq_hmc_create.
    """
    hmc_ = plaq_hmc()
    _n.call(_plaq_hmc_create_from, _n.handle(plaq_hmc_parts, parts, "parts"), _c.byref(hmc_))
    return hmc_


# ---- Gradient flow ----


class plaq_flow_kind(Enum):
    """Action whose gradient flows."""
    #: Wilson's plaquette action.
    WILSON = 0
    #: Tree-level improved Symanzik action.
    SYMANZIK = 1
    #: The same with 1 + D*D / 12 along each link, which removes all O(a^2) effects of the flow
    #: (Ramos, Sint, Eur. Phys. J. C 76 (2016) 15).
    ZEUTHEN = 2


#: Called at every measurement with the flow time t / a^2, t^2 E from clover leaves, and the
#: topological charge; a result other than 0 on any rank ends the flow.
#: Arguments: time, t2e, charge.
plaq_flow_callback = _c.CFUNCTYPE(_c.c_int32, _c.c_double, _c.c_double, _c.c_double, _c.c_void_p)


class plaq_flow_params(Struct):
    """A gradient flow by Luescher's third-order Runge-Kutta scheme (JHEP 08 (2010) 071, appendix C).

    Members:
      kind: Action whose gradient flows. Default: PLAQ_FLOW_WILSON.
      every: Steps between measurements; one more is at the start, one at the end. 1 or more.
        Default: 10.
      step: Step of the flow time; of adaptive steps the first. Beyond 0.2 the scheme is unstable.
        A number above 0, to 0.2. Default: 0.02.
      time: Flow time t / a^2 to reach, in a million steps at most. It must be set. 0 to 1000000.
      tolerance: Adaptive steps: largest difference of an entry to the embedded scheme of second order in one step (Fritzsch,
        Ramos, JHEP 10 (2013) 008, appendix D); 0: fixed steps. One that takes steps of less than a millionth of the
        time is refused. 0 to below 1. Default: 0.
    """
    struct_size: int
    kind: Any
    every: int
    step: float
    time: float
    tolerance: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("kind", _c.c_int32),
        ("every", _c.c_int32),
        ("step", _c.c_double),
        ("time", _c.c_double),
        ("tolerance", _c.c_double),
    ]
    _enums_ = {"kind": plaq_flow_kind}
    _init_ = "plaq_flow_params_init"


_plaq_flow_params_init = _n.function("plaq_flow_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_flow_params_init(params: plaq_flow_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_flow_params_init, _n.struct(plaq_flow_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_spinor_flow_params(Struct):
    """A gradient flow of quark fields by Luescher's third-order Runge-Kutta scheme (JHEP 04 (2013) 123, appendix D), or
    its adjoint.

    Members:
      kind: Action whose gradient moves the links. Default: PLAQ_FLOW_WILSON.
      checkpoints: States of the links that the adjoint flow keeps besides those it starts with; those between are computed again; -1:
        as many as half of the free memory holds, 1000 at most. 0 to 1000. Default: -1.
      step: Step of the flow time; the last one ends at `time`. Beyond 0.157 the scheme is unstable.
        A number above 0, to 0.157. Default: 0.01.
      time: Flow time t / a^2 from these links on. It must be set. 0 to 1000000.
      boundary: Boundary phases in units of pi of fields that do not know theirs: psi(x + L_mu) = exp(i pi boundary[mu]) psi(x).
        Outside of C also a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
        Default: 0, 0, 0, 1.
    """
    struct_size: int
    kind: Any
    checkpoints: int
    step: float
    time: float
    boundary: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("kind", _c.c_int32),
        ("checkpoints", _c.c_int32),
        ("step", _c.c_double),
        ("time", _c.c_double),
        ("boundary", _c.c_double * 4),
    ]
    _enums_ = {"kind": plaq_flow_kind}
    _init_ = "plaq_spinor_flow_params_init"


_plaq_spinor_flow_params_init = _n.function("plaq_spinor_flow_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_spinor_flow_params_init(params: plaq_spinor_flow_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_spinor_flow_params_init, _n.struct(plaq_spinor_flow_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_spinor_flow_report(Struct):
    """Report of a flow of quark fields, or of its adjoint.

    Members:
      time: Flow time of the field afterwards: the end of a flow, 0 of an adjoint, unless they were stopped.
      steps: Steps of the quark fields.
      link_steps: Whole steps of the links, those that were computed again included.
      checkpoints: States of the links that the adjoint kept besides those that it began with.
      stopped: 1: the callback asked to stop.
      seconds: Seconds that the flow took.
    """
    struct_size: int
    time: float
    steps: int
    link_steps: int
    checkpoints: int
    stopped: int
    seconds: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("time", _c.c_double),
        ("steps", _c.c_int64),
        ("link_steps", _c.c_int64),
        ("checkpoints", _c.c_int64),
        ("stopped", _c.c_int32),
        ("seconds", _c.c_double),
    ]
    _init_ = "plaq_spinor_flow_report_init"


_plaq_spinor_flow_report_init = _n.function("plaq_spinor_flow_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_spinor_flow_report_init(report: plaq_spinor_flow_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_spinor_flow_report_init, _n.struct(plaq_spinor_flow_report, report, "report"), _n.int64(struct_size, "struct_size"))


class plaq_flow_report(Struct):
    """Report of a flow. Scales are in lattice units, negative where the flow ended before them.

    Members:
      time: Flow time reached.
      t0_clover: Scale t0 with t^2 E = 0.3, E from clover leaves.
      t0_plaquette: Scale t0, E from plaquettes.
      w0_clover: Scale w0 with t d/dt t^2 E = 0.3 at t = w0^2, E from clover leaves.
      w0_plaquette: Scale w0, E from plaquettes.
      steps: Steps of the flow that count.
      repeated: Steps that were done again with a smaller step.
      stopped: 1: the callback asked to stop.
      seconds: Seconds that the flow took.
    """
    struct_size: int
    time: float
    t0_clover: float
    t0_plaquette: float
    w0_clover: float
    w0_plaquette: float
    steps: int
    repeated: int
    stopped: int
    seconds: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("time", _c.c_double),
        ("t0_clover", _c.c_double),
        ("t0_plaquette", _c.c_double),
        ("w0_clover", _c.c_double),
        ("w0_plaquette", _c.c_double),
        ("steps", _c.c_int64),
        ("repeated", _c.c_int64),
        ("stopped", _c.c_int32),
        ("seconds", _c.c_double),
    ]
    _init_ = "plaq_flow_report_init"


_plaq_flow_report_init = _n.function("plaq_flow_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_flow_report_init(report: plaq_flow_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_flow_report_init, _n.struct(plaq_flow_report, report, "report"), _n.int64(struct_size, "struct_size"))


class plaq_flow_point(Struct):
    """Observables at a flow time.

    Members:
      time: Flow time t / a^2.
      plaquette_spatial: Average plaquette of the planes xy, xz and yz, 1 for unit links.
      plaquette_temporal: Average plaquette of the planes xt, yt and zt.
      energy_spatial: Action density from clover leaves of the planes xy, xz and yz, as of plaq_gauge_topology.
      energy_temporal: Action density from clover leaves of the planes xt, yt and zt.
      charge: Topological charge.
    """
    time: float
    plaquette_spatial: float
    plaquette_temporal: float
    energy_spatial: float
    energy_temporal: float
    charge: float
    _fields_ = [
        ("time", _c.c_double),
        ("plaquette_spatial", _c.c_double),
        ("plaquette_temporal", _c.c_double),
        ("energy_spatial", _c.c_double),
        ("energy_temporal", _c.c_double),
        ("charge", _c.c_double),
    ]


_plaq_gauge_flow = _n.function("plaq_gauge_flow", _c.c_int32, [plaq_gauge, _c.c_void_p, plaq_flow_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_gauge_flow(
        gauge: Any,
        params: Optional[plaq_flow_params],
        callback: Optional[Callable[..., Any]],
        report: Optional[plaq_flow_report],
        points: Any,
        capacity: int,
) -> int:
    """Flows SU(3) links, stored as 18 numbers in double or single precision. `count`: measurements
    made, of which the first `capacity` are written; `points` may be NULL. Errors: BAD_PARAMETER,
    UNSUPPORTED, NOT_FINITE, OUT_OF_MEMORY.
    Arrays: points[capacity].
    """
    count_ = _c.c_int64()
    callback_ = _n.callback(plaq_flow_callback, callback)
    _n.watched(_plaq_gauge_flow, callback_, (), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_flow_params, params, "params"), callback_.c, None, _n.struct(plaq_flow_report, report, "report"), _n.room(plaq_flow_point, points, "points", capacity, optional=True), _n.int64(capacity, "capacity"), _c.byref(count_))
    return count_.value


_plaq_spinor_flow = _n.function("plaq_spinor_flow", _c.c_int32, [plaq_spinor, plaq_gauge, plaq_gauge, _c.c_void_p, plaq_sweep_callback, _c.c_void_p, _c.c_void_p])


def plaq_spinor_flow(
        spinor: Any,
        gauge: Any,
        flowed: Any = None,
        params: Optional[plaq_spinor_flow_params] = None,
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_spinor_flow_report] = None,
) -> None:
    """Flows every column of a field, spinors or colour vectors on both parities in double or single precision: d chi / dt =
    D^2 chi, where D^2 chi(x) = sum_mu [V_mu(x) chi(x + mu) + V_mu(x - mu)^dagger chi(x - mu) - 2 chi(x)] with the links V of the
    flow of `gauge` (SU(3)) at the same time (Luescher, JHEP 04 (2013) 123). Phases of the boundary are those that the
    field knows (plaq_spinor_origin), else those of `params`. `flowed`: links that the flowed ones are written to, which may be `gauge`
    itself; zero handle: they are not kept. Links flow in the precision of the field. The callback hears after every step how
    many are done of how many, and may end the flow there. Errors: BAD_PARAMETER, UNSUPPORTED, FIELD_MISMATCH, NOT_FINITE,
    OUT_OF_MEMORY.
    """
    callback_ = _n.callback(plaq_sweep_callback, callback)
    _n.watched(_plaq_spinor_flow, callback_, (), _n.handle(plaq_spinor, spinor, "spinor"), _n.handle(plaq_gauge, gauge, "gauge"), _n.handle(plaq_gauge, flowed, "flowed"), _n.struct(plaq_spinor_flow_params, params, "params"), callback_.c, None, _n.struct(plaq_spinor_flow_report, report, "report"))


_plaq_spinor_flow_adjoint = _n.function("plaq_spinor_flow_adjoint", _c.c_int32, [plaq_spinor, plaq_gauge, _c.c_void_p, plaq_sweep_callback, _c.c_void_p, _c.c_void_p])


def plaq_spinor_flow_adjoint(
        spinor: Any,
        gauge: Any,
        params: Optional[plaq_spinor_flow_params] = None,
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_spinor_flow_report] = None,
) -> None:
    """Applies the adjoint K^dagger of plaq_spinor_flow K with the same `gauge`, links at time 0, and `params`: it takes a field at the
    flow time of `params` to time 0, and <phi, K chi> = <K^dagger phi, chi> holds to rounding. The links of the steps are computed
    again between `checkpoints` states that are kept. The callback hears after every step, of the links too, how many steps of the
    field are done; a field of an adjoint that it ends is that of the adjoint of the flow from the time of the report. Errors: as
    of plaq_spinor_flow.
    """
    callback_ = _n.callback(plaq_sweep_callback, callback)
    _n.watched(_plaq_spinor_flow_adjoint, callback_, (), _n.handle(plaq_spinor, spinor, "spinor"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_spinor_flow_params, params, "params"), callback_.c, None, _n.struct(plaq_spinor_flow_report, report, "report"))


# ---- QUDA's interface: what becomes of errors ----


class plaq_quda_error_mode(Enum):
    """Actions of a function of the headers in quda/ once its error has been told to the handler."""
    #: Ends the program with exit code 1 (the default).
    END = 0
    #: Returns. No array, number or count of the host has been written then, and what is
    #: returned is NULL, 1 from functions that return an int, NaN from those that return a double.
    RETURN = 1


#: Gets the name of the function that failed, its status and the message in lines: argument,
#: expected, found, and what to do. On several ranks all get what the one that failed has.
#: Arguments: function, status, message.
plaq_quda_error_callback = _c.CFUNCTYPE(None, _c.c_char_p, _c.c_int32, _c.c_char_p, _c.c_void_p)


_plaq_quda_set_error_mode = _n.function("plaq_quda_set_error_mode", _c.c_int32, [_c.c_int32])


def plaq_quda_set_error_mode(mode: Union[int, str, plaq_quda_error_mode]) -> None:
    """Sets the mode for all threads, from now on."""
    _n.call(_plaq_quda_set_error_mode, _n.enum(plaq_quda_error_mode, mode, "mode"))


_plaq_quda_set_error_handler = _n.function("plaq_quda_set_error_handler", _c.c_int32, [plaq_quda_error_callback, _c.c_void_p])


def plaq_quda_set_error_handler(callback: Optional[Callable[..., Any]] = None) -> None:
    """Takes the place of the handler that prints to stderr; NULL: that one again."""
    callback_ = _n.callback(plaq_quda_error_callback, callback)
    _n.watched(_plaq_quda_set_error_handler, callback_, (), callback_.c, None)


_plaq_quda_last_status = _n.function("plaq_quda_last_status", _c.c_int32, [_c.c_void_p])


def plaq_quda_last_status() -> int:
    """Gives the status of this thread's last call of a function of the headers in quda/; plaq_last_error has
    the message of one that failed.
    """
    status_ = _c.c_int32()
    _n.call(_plaq_quda_last_status, _c.byref(status_))
    return status_.value
