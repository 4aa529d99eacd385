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
    """Levels of the log; a callback receives all messages up to the level that it asked for."""
    #: The log is off (the default).
    OFF = 0
    #: Defects of plaq and lost devices.
    ERROR = 1
    #: The lines of PLAQ_LOG_ERROR, and calls that were refused.
    WARN = 2
    #: The lines of PLAQ_LOG_WARN, and work that takes long: compilation, tuning, solves.
    INFO = 3
    #: The lines of PLAQ_LOG_INFO, and choices that the library makes by itself.
    DEBUG = 4
    #: The lines of PLAQ_LOG_DEBUG, and every call with the time that it took.
    TRACE = 5


#: Receives one line of the log; it may be called from any thread. Calls of plaq that it makes are refused
#: with PLAQ_BUSY.
#: Arguments: level, message.
plaq_log_callback = _c.CFUNCTYPE(None, _c.c_int32, _c.c_char_p, _c.c_void_p)


_plaq_version = _n.function("plaq_version", _c.c_char_p, [])


def plaq_version() -> str:
    """Gives the version of the library, "major.minor.patch"."""
    return _n.text(_plaq_version())


_plaq_last_error = _n.function("plaq_last_error", _c.c_char_p, [])


def plaq_last_error() -> str:
    """Gives the message of this thread's last failed call: function, argument, what was expected and what was
    found. The address is always the same for a thread, the text changes when this is called again; never
    NULL.
    """
    return _n.text(_plaq_last_error())


_plaq_last_error_in_words = _n.function("plaq_last_error_in_words", _c.c_char_p, [])


def plaq_last_error_in_words() -> str:
    """Gives the same message with the words for values and parameters that files and languages other than C use:
    `full` for PLAQ_SYSTEM_FULL, `tol` for params.tol.
    """
    return _n.text(_plaq_last_error_in_words())


_plaq_status_name = _n.function("plaq_status_name", _c.c_char_p, [_c.c_int32])


def plaq_status_name(status: int) -> str:
    """Gives the name of a status, e.g. "PLAQ_NULL_POINTER"; "unknown status" for other numbers."""
    return _n.text(_plaq_status_name(_n.int32(status, "status")))


_plaq_status_help = _n.function("plaq_status_help", _c.c_char_p, [_c.c_int32])


def plaq_status_help(status: int) -> str:
    """Explains the meaning of a status in a sentence."""
    return _n.text(_plaq_status_help(_n.int32(status, "status")))


_plaq_log_set = _n.function("plaq_log_set", _c.c_int32, [plaq_log_callback, _c.c_void_p, _c.c_int32])


def plaq_log_set(callback: Optional[Callable[..., Any]], level: Union[int, str, plaq_log_level]) -> None:
    """Sends the log up to `level` to a callback; with NULL or PLAQ_LOG_OFF nothing is logged any more. There is
    one callback per process.
    """
    callback_ = _n.callback(plaq_log_callback, callback)
    _n.watched(_plaq_log_set, callback_, (), callback_.c, None, _n.enum(plaq_log_level, level, "level"))


# ---- Context: a device and everything on it ----


class plaq_context(Handle):
    """A device with its memory and threads. Fields and operators belong to a context and are destroyed with it;
    there may be several contexts at a time.
    """


class plaq_device(Enum):
    """Kind of the device that a context uses."""
    #: CUDA if there is a usable GPU, else the CPU.
    AUTO = 0
    #: The CPU.
    CPU = 1
    #: An NVIDIA GPU, by CUDA.
    CUDA = 2


class plaq_communicator(Enum):
    """Ways of passing the ranks that share a lattice (docs/mpi.md)."""
    #: One rank, without MPI.
    NONE = 0
    #: The address of an MPI_Comm, in `communicator`.
    C = 1
    #: The Fortran integer of a communicator, in `communicator_fortran`.
    FORTRAN = 2
    #: The ranks of MPI_COMM_WORLD.
    WORLD = 3


#: Returns the rank at four coordinates of the process grid.
#: Arguments: coords.
plaq_rank_callback = _c.CFUNCTYPE(_c.c_int32, _c.POINTER(_c.c_int32), _c.c_void_p)


class plaq_context_params(Struct):
    """Parameters of a context.

    Members:
      device: Kind of device on which the context computes. Default: PLAQ_DEVICE_AUTO.
      ordinal: Number of the GPU, counted from 0; -1: the rank's number on its node, modulo the visible ones.
        0 or more. Default: -1.
      threads: Number of threads of the CPU back end; 0: as many as this process may use, divided among ranks on the same
        cores. 0 to 4096. Default: 0.
      communicator_kind: The way in which the ranks are passed. Default: PLAQ_COMMUNICATOR_NONE.
      communicator: Address of the host's MPI_Comm; plaq duplicates the communicator. Default: NULL.
      communicator_fortran: The communicator as an integer of Fortran. Default: 0.
      reproducible: True: sums over ranks have the same bits in every run with the same process grid.
        0 or 1. Default: 0.
      grid: Number of ranks in the directions x, y, z, t; zeros: all ranks in t.
        Default: 0, 0, 0, 0.
      rank_table: The rank at each place of the process grid, x fastest; NULL: rank n is at place n, unless there is a
        `rank_callback`. Default: NULL.
      rank_callback: A function that returns the rank at a place of the process grid; NULL: `rank_table` is used.
        Default: NULL.
      rank_user: Address that is passed to `rank_callback`. Default: NULL.
      timeout: Seconds that a rank waits for another one before the call fails; 0: PLAQ_COMM_TIMEOUT, or 300.
        Default: 0.
      memory_limit: Largest number of bytes that the fields of this context may take on the device; 0: limited only by the
        device's memory. Calls that would exceed it fail with OUT_OF_MEMORY. 0 or more.
        Default: 0.
      stream: The CUstream (cudaStream_t) on which the host works with device arrays that it passes: calls run after the
        work on that stream. NULL: the legacy default stream. Frameworks with streams of their own (CuPy, PyTorch,
        JAX) must pass theirs, here or in plaq_layout_params. Default: NULL.
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
    """Description of a context; sizes are in bytes.

    Members:
      device: Kind of device, PLAQ_DEVICE_CPU or PLAQ_DEVICE_CUDA.
      lanes: Largest number of lanes (virtual nodes) into which a lattice is divided for SIMD vectors.
      memory_total: Bytes of memory that the device has.
      memory_free: Bytes of the device's memory that are free.
      memory_used: Bytes of device memory that the fields of this context take now.
      memory_peak: Largest number of bytes that the fields of this context have taken so far.
      ranks: Number of ranks.
      rank: Number of this rank, counted from 0.
      grid: Number of ranks in x, y, z, t.
      coords: Coordinates of this rank in the process grid.
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
    """Resets memory_peak to memory_used."""
    _n.call(_plaq_context_reset_peak, _n.handle(plaq_context, context, "context"))


_plaq_context_synchronize = _n.function("plaq_context_synchronize", _c.c_int32, [plaq_context])


def plaq_context_synchronize(context: Any) -> None:
    """Waits until the device has finished all its work."""
    _n.call(_plaq_context_synchronize, _n.handle(plaq_context, context, "context"))


# ---- Fields: what they share ----


class plaq_subset(Enum):
    """Sites of a field; parity is (x + y + z + t) mod 2."""
    #: Sites of both parities.
    FULL = 0
    #: Sites of parity 0.
    EVEN = 1
    #: Sites of parity 1.
    ODD = 2


class plaq_precision(Enum):
    """Storage precision; the value is the number of bytes of a real. Arithmetic is in double precision for fields in
    double, else in single; sums are in double.
    """
    #: 64-bit floating point.
    DOUBLE = 8
    #: 32-bit floating point.
    SINGLE = 4
    #: 16-bit fixed point; spinors have one norm per site.
    HALF = 2
    #: 8-bit fixed point, only for the links of multigrid's coarse operators (`link_precision` of
    #: plaq_multigrid_params).
    QUARTER = 1


# ---- Layouts: arrays of the host program ----


class plaq_location(Enum):
    """Memory to which pointers of the host refer."""
    #: Memory of the host.
    HOST = 0
    #: Memory of the context's device.
    DEVICE = 1


class plaq_basis(Enum):
    """Bases of the gamma matrices for arrays of spinors (docs/layouts.md)."""
    #: DeGrand-Rossi basis, of MILC, Chroma and QUDA.
    DEGRAND_ROSSI = 0
    #: UKQCD basis, non-relativistic: gamma_t is diagonal.
    UKQCD = 1
    #: Chiral basis of openQCD.
    CHIRAL = 2
    #: Dirac-Pauli basis: gamma_t is diagonal.
    DIRAC_PAULI = 3


class plaq_order(Enum):
    """Order of an array's indices, from the slowest to the fastest; docs/layouts.md has the formulas. Complex
    numbers are (re, im), colour matrices row-major unless stated otherwise.
    """
    #: Sites in lexicographic order (x fastest), at each of them direction, row, column of links, or spin, colour.
    LEXICOGRAPHIC = 0
    #: QDP: even sites, then odd; links in four arrays, spinors with the index of spin faster than that of colour.
    QDP = 1
    #: QDP-JIT: sites fastest; links in four arrays, clover blocks in two.
    QDPJIT = 2
    #: MILC: even sites, then odd; at each site four links, or spin, then colour (QUDA_DIRAC_ORDER), or packed
    #: clover blocks (QUDA_PACKED_CLOVER_ORDER).
    MILC = 3
    #: MILC: links in an array of structs, one for each site, of the size site_bytes, in which links begin at
    #: site_offset.
    MILC_SITE = 4
    #: CPS: links with the index of columns slower than that of rows; spinors with odd sites first.
    CPS = 5
    #: Links of BQCD.
    BQCD = 6
    #: Links of the TIFR code.
    TIFR = 7
    #: TIFR's order with two slices of halo on both sides of z.
    TIFR_PADDED = 8
    #: Links, spinors and clover terms of openQCD; its spinors are in PLAQ_BASIS_CHIRAL.
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
    """Layout of an array of the host.

    Members:
      order: Order of the array's indices, and the code that uses it.
        Default: PLAQ_ORDER_LEXICOGRAPHIC.
      precision: Precision of the array's numbers, double or single. Default: PLAQ_PRECISION_DOUBLE.
      location: Memory that holds the array. Default: PLAQ_LOCATION_HOST.
      basis: Gamma basis of spinors. Default: PLAQ_BASIS_DEGRAND_ROSSI.
      arrays: 0: `data` is the array itself; several arrays (QDP links, right-hand sides) follow each other in it. n:
        `data` is the address of n pointers to arrays. Default: 0.
      project: True: links are projected onto the group after the check. 0 or 1. Default: 0.
      tolerance: Largest violation of unitarity that loading accepts; 0: 1e-10 in double, 1e-5 in single. Negative: nothing
        is checked, not even for NaN. Default: 0.
      scale: Factors of the array's links: it contains scale[mu] times the links, for example an anisotropy.
        Default: 1, 1, 1, 1.
      boundary: Boundary phases contained in the array: its links that cross the boundary are multiplied by exp(i pi
        boundary[mu]). Default: 0, 0, 0, 0.
      site_bytes: Size in bytes of a site's struct, for PLAQ_ORDER_MILC_SITE. 0 or more. Default: 0.
      site_offset: Offset in bytes of the links in a site's struct, for PLAQ_ORDER_MILC_SITE. 0 or more.
        Default: 0.
      stream: For device arrays, the CUstream (cudaStream_t) on which the host works with them: the call runs after the
        work on it. NULL: that of plaq_context_params; 1: the legacy default stream; 2: the calling thread's. The
        call itself returns when its work is done. Default: NULL.
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
    """Links U_mu(x) from x to x + mu, mu = x, y, z, t. They are periodic: boundary phases belong to operators.
    Operators keep the links with which they were made.
    """


class plaq_storage(Enum):
    """Storage of a link, named by the count of real numbers; it also determines the gauge group."""
    #: SU(3), whole matrices (18 numbers).
    SU3_18 = 18
    #: SU(3), two rows (12 numbers).
    SU3_12 = 12
    #: SU(3), eight numbers: two unit vectors by stereographic projection.
    SU3_8 = 8
    #: SU(3), eight angles; slower than the other eight numbers.
    SU3_8_ANGLES = 9
    #: SU(2), four numbers of a0 + i a.sigma.
    SU2 = 4


class plaq_smearing(Enum):
    """Kinds of link smearing."""
    #: APE: projection of (1 - alpha) U + alpha / (2 (d - 1)) (sum of staples) onto SU(3), for d directions;
    #: alpha = alpha[0].
    APE = 0
    #: Stout: exp(i Q) U, with i Q the traceless antihermitian part of rho (sum of staples) U^dagger; rho =
    #: alpha[0].
    STOUT = 1
    #: HYP: three levels inside of hypercubes, with alpha[0] to alpha[2], for `directions` = 15. For three
    #: directions two levels inside of cubes, with alpha[1] and alpha[2].
    HYP = 2
    #: Over-improved stout: stout with (5 - 2 epsilon) / 3 times the staples minus (1 - epsilon) / 12 times those
    #: of 1 x 2 and 2 x 1 rectangles; rho = alpha[0], epsilon = alpha[1], from -10 to 10.
    OVERIMPROVED = 3


class plaq_boundary_time(Enum):
    """Boundaries of the lattice in time, with N_t stored slices x0 = 0 .. N_t - 1."""
    #: Open boundaries (Luescher, Schaefer, JHEP 07 (2011) 036): no links beyond the slices 0 and N_t - 1, on
    #: which quarks vanish. Temporal links of the last slice do not exist and are zero.
    OPEN = 1
    #: Schroedinger functional (Luescher, Narayanan, Weisz, Wolff, Nucl. Phys. B 384 (1992) 168): spatial links
    #: of the slices 0 and N_t are fixed, and quarks vanish on these slices. Slice N_t is not stored.
    SF = 2
    #: Open boundary at slice 0, and the boundary of the Schroedinger functional at N_t (Luescher, JHEP 06 (2014)
    #: 105).
    OPEN_SF = 3
    #: Periodic in time, without boundaries.
    PERIODIC = 4


class plaq_gauge_smear_params(Struct):
    """Parameters of link smearing.

    Members:
      kind: Rule by which links are smeared. Default: PLAQ_SMEARING_STOUT.
      steps: Number of smearing steps. 0 to 100000. Default: 1.
      directions: Bits mu of the directions whose links are smeared, with staples in planes of these directions; 7: space,
        15: all. 0 or more. Default: 15.
      alpha: Parameters of the smearing, as the values of `kind` describe them; from 0 to 1 unless stated otherwise. The
        first must be set.
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
      storage: Storage of the links, which also determines the gauge group.
        Default: PLAQ_STORAGE_SU3_18.
      boundary_time: Boundaries in time of the links; 0: periodic. Default: 0.
      phi: Angles phi of the fixed spatial links exp(i diag(phi) / L_k) on slice 0, for boundaries `sf`: three numbers
        with sum 0. Default: not set (NaN).
      phi_prime: Angles phi' of the fixed spatial links exp(i diag(phi') / L_k) on slice N_t, for boundaries `sf` and
        `open_sf`. Default: not set (NaN).
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
    """Description of a gauge field.

    Members:
      extents: Sites of this rank in x, y, z, t.
      precision: Precision of the links.
      storage: Storage of the links.
      bytes: Bytes of device memory of the links.
      boundary_time: Boundaries in time of the links.
      phi: Angles of the fixed spatial links on slice 0; NaN if these are not fixed.
      phi_prime: Angles of the fixed spatial links on slice N_t; NaN if these are not fixed.
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
    """Makes a gauge field with unspecified links. Errors: BAD_EXTENTS, OUT_OF_MEMORY, INVALID_ARGUMENT."""
    gauge_ = plaq_gauge()
    _n.call(_plaq_gauge_create, _n.handle(plaq_context, context, "context"), _n.struct(plaq_gauge_params, params, "params"), _c.byref(gauge_))
    return gauge_


_plaq_gauge_destroy = _n.function("plaq_gauge_destroy", _c.c_int32, [plaq_gauge])


def plaq_gauge_destroy(gauge: Any) -> None:
    """Destroys a gauge field; operators made with it remain valid. The zero handle is accepted."""
    _n.call(_plaq_gauge_destroy, _n.handle(plaq_gauge, gauge, "gauge"))


_plaq_gauge_describe = _n.function("plaq_gauge_describe", _c.c_int32, [plaq_gauge, _c.c_void_p])


def plaq_gauge_describe(gauge: Any, report: Optional[plaq_gauge_report] = None) -> None:
    """Describes the shape and size of a gauge field."""
    _n.call(_plaq_gauge_describe, _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_gauge_report, report, "report"))


_plaq_gauge_smear = _n.function("plaq_gauge_smear", _c.c_int32, [plaq_gauge, _c.c_void_p])


def plaq_gauge_smear(gauge: Any, params: Optional[plaq_gauge_smear_params] = None) -> None:
    """Smears the links of an SU(3) field; a projection to SU(3) is the unitary factor of the polar decomposition
    with determinant 1. After an error the links are unchanged. Errors: BAD_PARAMETER, UNSUPPORTED,
    OUT_OF_MEMORY.
    """
    _n.call(_plaq_gauge_smear, _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_gauge_smear_params, params, "params"))


_plaq_gauge_copy = _n.function("plaq_gauge_copy", _c.c_int32, [plaq_gauge, plaq_gauge])


def plaq_gauge_copy(from_: Any, to: Any) -> None:
    """Copies the links of `from` into `to`; precision and storage may differ. Errors: FIELD_MISMATCH for another
    lattice or group, or other boundaries in time.
    """
    _n.call(_plaq_gauge_copy, _n.handle(plaq_gauge, from_, "from_"), _n.handle(plaq_gauge, to, "to"))


_plaq_gauge_belongs_to = _n.function("plaq_gauge_belongs_to", _c.c_int32, [plaq_gauge, plaq_gauge])


def plaq_gauge_belongs_to(gauge: Any, from_: Any) -> None:
    """Declares that the links of `gauge` were smeared from those of `from`, or have flowed from them, elsewhere,
    e.g. in another program, so that quarks on `from` may be smeared with them; it holds until the links of
    `gauge` change. Links that this library has smeared need no declaration. Errors: FIELD_MISMATCH for another
    lattice or group.
    """
    _n.call(_plaq_gauge_belongs_to, _n.handle(plaq_gauge, gauge, "gauge"), _n.handle(plaq_gauge, from_, "from_"))


_plaq_gauge_load = _n.function("plaq_gauge_load", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p])


def plaq_gauge_load(gauge: Any, layout: Optional[plaq_layout_params], data: Any) -> None:
    """Loads links from the host's array; after an error the old ones are kept. Errors: NOT_UNITARY, NOT_FINITE
    (naming the link), BAD_LAYOUT.
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
    """Byte order of the numbers in a file."""
    #: Least significant byte first.
    LITTLE = 1
    #: Most significant byte first.
    BIG = 2


class plaq_file_format(Enum):
    """File formats of gauge configurations."""
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
    """Texts in headers of NERSC and ILDG files; plaq_gauge_write_params has members for them."""
    #: Identifier of the ensemble.
    ENSEMBLE_ID = 1
    #: Label of the ensemble.
    ENSEMBLE_LABEL = 2
    #: Creator of the file.
    CREATOR = 3
    #: Date of the file's creation.
    DATE = 4
    #: Logical file name, in ILDG files.
    LFN = 5
    #: The whole record scidac-record-xml, in ILDG files.
    RECORD = 6


class plaq_gauge_read_params(Struct):
    """Parameters of reading a configuration; format and size are found in the file.

    Members:
      extents: Extents that the whole lattice of the file must have; all 0: any. Default: 0, 0, 0, 0.
      precision: Precision of the links on the device. Default: PLAQ_PRECISION_DOUBLE.
      storage: Storage of the links on the device. Default: PLAQ_STORAGE_SU3_18.
      unitarity: Largest accepted violation of unitarity; 0: 1e-10 for files in double, 1e-5 for files in single
        precision, and, with a warning, for files in double whose links mostly have larger violations.
        0 or more. Default: 0.
      header: Largest accepted difference of plaquette and link trace between the file's header and its links; 0:
        half a unit of the header's last decimal plus 1e-9 (links in double) or 1e-6 (single).
        0 or more. Default: 0.
      project: 1: links are put back into SU(3) after the check; 0: they are not changed. 0 or 1.
        Default: 1.
      wrong_checksum: 1: a file is read even if a checksum in it is wrong; where the call reports `warnings`, they say so. For
        files that were changed after they were written and are known to be good. 0 or 1.
        Default: 0.
      boundary_time: Boundaries in time of the links; 0: open for files of openQCD in which all temporal links of the last
        slice are exactly zero, else periodic. Default: 0.
      phi: Angles phi of the fixed spatial links exp(i diag(phi) / L_k) on slice 0, for boundaries `sf`: three numbers
        with sum 0. Default: not set (NaN).
      phi_prime: Angles phi' of the fixed spatial links exp(i diag(phi') / L_k) on slice N_t, for boundaries `sf` and
        `open_sf`. Default: not set (NaN).
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
    """Format and header of a file that is written. Texts are NULL or NUL-terminated UTF-8.

    Members:
      format: Format of the file. Default: PLAQ_FILE_FORMAT_ILDG.
      byte_order: Byte order of the numbers; 0: the usual one of the format. Only some formats have a choice.
        Default: 0.
      precision: Precision of the numbers, PLAQ_PRECISION_DOUBLE or PLAQ_PRECISION_SINGLE; 0: double if the format has
        it. Default: 0.
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
    """Contents of a file's header.

    Members:
      extents: Extents of the whole lattice.
      format: Format of the file.
      precision: Precision of the numbers in the file.
      byte_order: Byte order of the numbers in the file.
      warnings: A sum of PLAQ_FILE_WARNING_...: faults of the file in spite of which it was read.
      sequence_number: Number of the configuration; -1: not stated.
      plaquette: Plaquette according to the header, 1 for unit links; NaN: not stated.
      link_trace: Link trace according to the header, 1 for unit links; NaN: not stated.
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
    """Makes a gauge field from a file in any known format. Checksums, unitarity and the header's plaquette are
    checked; if a check fails no field is made. Errors: BAD_PARAMETER, FILE_OPEN, FILE_FORMAT, FILE_EXTENTS,
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
    """Reads a text from the header of a configuration's file, without the links; only the calling rank reads.
    `found`: 0 if the file has no such text, and `value` is then empty. Errors: INVALID_ARGUMENT (also if
    `capacity` is too small), FILE_OPEN, FILE_FORMAT, FILE_TRUNCATED.
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
    """Parameters of Gaussian (Wuppertal) smearing: psi <- [(1 + alpha H) / (1 + 2 d alpha)]^steps psi, where H is
    the sum over the neighbours in d directions, parallel transported by the links.

    Members:
      alpha: Weight alpha of the neighbours, any number except -1 / (2 d). It must be set.
      steps: Number of smearing steps. 0 to 100000. Default: 0.
      directions: Bits mu of the directions of neighbours; 7: x, y, z. Default: 7.
      momentum: Momentum smearing: the links are multiplied by exp(2 pi i momentum(j) / L_j) in direction j; any real
        numbers. For a quark of a hadron with sink phase exp(-i p x), p_j = 2 pi n_j / L_j, the best choice is
        momentum(j) = -zeta n_j with zeta about 1/2 for mesons; for an antiquark, given as a quark, +zeta n_j.
        Only for fields in single or double precision. Default: 0, 0, 0.
      width: Smearing by a kernel in place of steps, without alpha: psi(x) <- sum_r g(r) exp(2 pi i momentum r / L)
        psi(x + r), g(r) = exp(-r^2 / (2 width^2)) up to a factor, with the sum 1, r_j from -L_j / 2 to L_j / 2.
        No links connect x with x + r: the sum is not gauge covariant, and `gauge` must be in Coulomb gauge.
        0 or more. Default: 0.
    """
    struct_size: int
    alpha: float
    steps: int
    directions: int
    momentum: Any
    width: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("alpha", _c.c_double),
        ("steps", _c.c_int32),
        ("directions", _c.c_int32),
        ("momentum", _c.c_double * 3),
        ("width", _c.c_double),
    ]
    _init_ = "plaq_spinor_smear_params_init"


_plaq_spinor_smear_params_init = _n.function("plaq_spinor_smear_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_spinor_smear_params_init(params: plaq_spinor_smear_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_spinor_smear_params_init, _n.struct(plaq_spinor_smear_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_spinor_params(Struct):
    """Shape of a spinor field.

    Members:
      extents: Sites of this rank in x, y, z, t; even numbers, the same on all ranks. Must be set, or taken from
        `gauge`.
      precision: Precision of the spinors. Default: PLAQ_PRECISION_DOUBLE.
      subset: Sites that the field has. Default: PLAQ_SUBSET_FULL.
      nrhs: Number of right-hand sides. 1 to 4096. Default: 1.
      spins: Number of spins of a site: 4 for spinors, 1 for colour vectors. Default: 4.
      gauge: A gauge field that has the extents, if `extents` are zeros; otherwise both must be equal. Default:
        none.
      slices: Number of slices of a right-hand side: 1, or 2 for a doublet of flavours, one for each flavour. In
        arrays of the host slices are slower than sites and faster than right-hand sides.
        Default: 1.
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
    """Description of a spinor field.

    Members:
      extents: Sites of this rank in x, y, z, t.
      precision: Precision of the spinors.
      subset: Sites of the field: all, or those of one parity.
      nrhs: Number of right-hand sides.
      spins: Number of spins of a site: 4 for spinors, 1 for colour vectors.
      bytes: Bytes of device memory of the field.
      slices: Number of slices of a right-hand side: 2 for a doublet of flavours, else 1.
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
    """Makes a spinor field with all numbers zero. Errors: BAD_PARAMETER, BAD_EXTENTS, OUT_OF_MEMORY, INVALID_ARGUMENT."""
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
    """Loads spinors from the host's array; for a field of one parity only sites of that are read. After an error
    the field is unchanged. Errors: NOT_FINITE, BAD_LAYOUT.
    """
    _n.call(_plaq_spinor_load, _n.handle(plaq_spinor, spinor, "spinor"), _n.struct(plaq_layout_params, layout, "layout"), _n.address(data, "data"))


_plaq_spinor_save = _n.function("plaq_spinor_save", _c.c_int32, [plaq_spinor, _c.c_void_p, _c.c_void_p])


def plaq_spinor_save(spinor: Any, layout: Optional[plaq_layout_params], data: Any) -> None:
    """Saves the spinors into the host's array; sites that are not in the field are not written."""
    _n.call(_plaq_spinor_save, _n.handle(plaq_spinor, spinor, "spinor"), _n.struct(plaq_layout_params, layout, "layout"), _n.address(data, "data"))


_plaq_spinor_zero = _n.function("plaq_spinor_zero", _c.c_int32, [plaq_spinor])


def plaq_spinor_zero(spinor: Any) -> None:
    """Sets all numbers of a field to zero."""
    _n.call(_plaq_spinor_zero, _n.handle(plaq_spinor, spinor, "spinor"))


_plaq_spinor_copy = _n.function("plaq_spinor_copy", _c.c_int32, [plaq_spinor, plaq_spinor])


def plaq_spinor_copy(from_: Any, to: Any) -> None:
    """Copies `from` to `to`; precisions may differ."""
    _n.call(_plaq_spinor_copy, _n.handle(plaq_spinor, from_, "from_"), _n.handle(plaq_spinor, to, "to"))


_plaq_spinor_axpby = _n.function("plaq_spinor_axpby", _c.c_int32, [_c.c_void_p, plaq_spinor, _c.c_void_p, plaq_spinor, _c.c_int64])


def plaq_spinor_axpby(a: Any, x: Any, b: Any, y: Any, count: int) -> None:
    """Computes y = a x + b y, with one complex (re, im) a and b per right-hand side: `count` = nrhs.
    Arrays: a[2 * count], b[2 * count].
    """
    _n.call(_plaq_spinor_axpby, _n.array(_c.c_double, a, "a", 2 * count), _n.handle(plaq_spinor, x, "x"), _n.array(_c.c_double, b, "b", 2 * count), _n.handle(plaq_spinor, y, "y"), _n.int64(count, "count"))


_plaq_spinor_smear = _n.function("plaq_spinor_smear", _c.c_int32, [plaq_spinor, plaq_gauge, _c.c_void_p])


def plaq_spinor_smear(spinor: Any, gauge: Any, params: Optional[plaq_spinor_smear_params] = None) -> None:
    """Smears every right-hand side of a field on both parities, in any precision, with the links of `gauge`
    (SU(3)). After an error the field is unchanged. Errors: BAD_PARAMETER, UNSUPPORTED, FIELD_MISMATCH,
    OUT_OF_MEMORY.
    """
    _n.call(_plaq_spinor_smear, _n.handle(plaq_spinor, spinor, "spinor"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_spinor_smear_params, params, "params"))


_plaq_spinor_shift = _n.function("plaq_spinor_shift", _c.c_int32, [plaq_spinor, plaq_gauge, _c.c_void_p, _c.c_int64, plaq_spinor])


def plaq_spinor_shift(y: Any, gauge: Any, steps: Any, length: int, x: Any) -> None:
    """Computes the covariant shift y of x along a path of `length` steps, 0 to 3 forward in x, y, z, t and 7 -
    mu back in direction mu: y(n) is x at the end of the path that starts at n, parallel transported to n by
    the links of `gauge` (SU(3)); one step forward is U_mu(n) x(n + mu). A spinor that records boundary phases
    (plaq_spinor_origin) takes them along across the lattice's end, other fields are periodic. Fields are on
    both parities; y and x are different fields. With boundaries of the links in time y(n) is zero where the path
    leaves the slices that are stored, and spinors x count as zero where quarks vanish. Errors: BAD_PARAMETER,
    FIELD_MISMATCH, OUT_OF_MEMORY.
    """
    _n.call(_plaq_spinor_shift, _n.handle(plaq_spinor, y, "y"), _n.handle(plaq_gauge, gauge, "gauge"), _n.array(_c.c_int32, steps, "steps", None), _n.int64(length, "length"), _n.handle(plaq_spinor, x, "x"))


_plaq_spinor_norm2 = _n.function("plaq_spinor_norm2", _c.c_int32, [plaq_spinor, _c.c_void_p, _c.c_int64])


def plaq_spinor_norm2(x: Any, norms: Any, count: int) -> None:
    """Computes |x|^2, summed over sites, spin and colour, for each right-hand side: `count` = nrhs.
    Arrays: norms[count].
    """
    _n.call(_plaq_spinor_norm2, _n.handle(plaq_spinor, x, "x"), _n.room(_c.c_double, norms, "norms", count), _n.int64(count, "count"))


_plaq_spinor_dot = _n.function("plaq_spinor_dot", _c.c_int32, [plaq_spinor, plaq_spinor, _c.c_void_p, _c.c_int64])


def plaq_spinor_dot(x: Any, y: Any, products: Any, count: int) -> None:
    """Computes conj(x) y, summed over sites, spin and colour, as (re, im) for each right-hand side: `count` =
    nrhs.
    Arrays: products[2 * count].
    """
    _n.call(_plaq_spinor_dot, _n.handle(plaq_spinor, x, "x"), _n.handle(plaq_spinor, y, "y"), _n.room(_c.c_double, products, "products", 2 * count), _n.int64(count, "count"))


# ---- Gauge observables, random fields, quenched updates ----


class plaq_noise(Enum):
    """Distribution of the components c of a random spinor, which are independent with average |c|^2 = 1."""
    #: The numbers 1 and -1.
    Z2 = 1
    #: The numbers 1, i, -1 and -i.
    Z4 = 2
    #: Complex normal numbers.
    NORMAL = 3


#: Called after every sweep with the number of sweeps done, their total number, and the seconds since the
#: start. A result other than 0 ends the update, and the report says so. A single rank may have a callback or
#: ask to stop: all ranks stop after the same sweep.
#: Arguments: done, all, seconds.
plaq_sweep_callback = _c.CFUNCTYPE(_c.c_int32, _c.c_int64, _c.c_int64, _c.c_double, _c.c_void_p)


class plaq_heatbath_params(Struct):
    """Parameters of quenched updates with weight exp(-beta sum (1 - Re tr U_munu / N)).

    Members:
      beta: Coupling beta of the Wilson action. It must be set. 0 to 1000000.
      seed: Seed of the random numbers. Default: 0.
      sweeps: Number of heat bath sweeps. 0 or more. Default: 1.
      overrelax: Number of overrelaxation sweeps after each heat bath sweep. 0 or more. Default: 4.
      first_sweep: Number of heat bath sweeps already done with this seed; to continue a run, next_sweep of its last report.
        0 or more. Default: 0.
      cg: Weight cG at slice 0, for links with boundaries in time: of plaquettes in an open boundary slice, which
        also have a factor 1/2, or of plaquettes between a slice of fixed links and the next one.
        0 to 100. Default: 1.
      cg_prime: Weight cG' at the other boundary; NaN: the same as cg. Default: NaN.
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


class plaq_plaquette(Struct):
    """Average plaquettes Re tr U_munu / N: 1 for unit links. With boundaries in time the average is over plaquettes
    that exist, spatial ones of a boundary slice with weight 1/2, as in openQCD's logs; those of fixed links are
    included.

    Members:
      total: Average over all six planes.
      spatial: Average over the planes xy, xz, yz.
      temporal: Average over the planes xt, yt, zt.
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


class plaq_unitarity(Struct):
    """The largest violation of unitarity over all links.

    Members:
      unitary: Largest modulus of an entry of U U^dagger - 1; infinite where a link is not finite.
      det: Largest |det U - 1| of a link.
      site: Coordinates x, y, z, t of the link with the largest violation.
      direction: Direction of the link with the largest violation, 0 to 3.
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
      charge: Topological charge 1/(32 pi^2) sum eps_mnrs tr F_mn F_rs, eps_xyzt = 1, F hermitian: near an integer on
        smooth fields.
      energy_spatial: Average per site of 1/2 sum tr F F over the planes xy, xz and yz (Luescher, JHEP 08 (2010) 071, Eq. (2.1)).
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


_plaq_gauge_plaquette = _n.function("plaq_gauge_plaquette", _c.c_int32, [plaq_gauge, _c.c_void_p])


def plaq_gauge_plaquette(gauge: Any) -> plaq_plaquette:
    """Measures the average plaquettes."""
    plaquette_ = plaq_plaquette()
    _n.call(_plaq_gauge_plaquette, _n.handle(plaq_gauge, gauge, "gauge"), _c.byref(plaquette_))
    return plaquette_


_plaq_gauge_polyakov_loop = _n.function("plaq_gauge_polyakov_loop", _c.c_int32, [plaq_gauge, _c.c_int32, _c.c_void_p])


def plaq_gauge_polyakov_loop(gauge: Any, direction: int) -> plaq_complex:
    """Measures the Polyakov loop: tr prod U_mu / N along the lines in `direction` (3: time), averaged over the
    lattice.
    """
    polyakov_ = plaq_complex()
    _n.call(_plaq_gauge_polyakov_loop, _n.handle(plaq_gauge, gauge, "gauge"), _n.int32(direction, "direction"), _c.byref(polyakov_))
    return polyakov_


_plaq_gauge_topology = _n.function("plaq_gauge_topology", _c.c_int32, [plaq_gauge, _c.c_void_p])


def plaq_gauge_topology(gauge: Any) -> plaq_topology:
    """Measures topological charge and action density from the traceless field strength F."""
    topology_ = plaq_topology()
    _n.call(_plaq_gauge_topology, _n.handle(plaq_gauge, gauge, "gauge"), _c.byref(topology_))
    return topology_


_plaq_gauge_topology_with_trace = _n.function("plaq_gauge_topology_with_trace", _c.c_int32, [plaq_gauge, _c.c_void_p])


def plaq_gauge_topology_with_trace(gauge: Any) -> plaq_topology:
    """Measures the same from an F that keeps the trace of the clover leaves, as QUDA's charge does; on rough
    links charge and density differ by some per cent.
    """
    topology_ = plaq_topology()
    _n.call(_plaq_gauge_topology_with_trace, _n.handle(plaq_gauge, gauge, "gauge"), _c.byref(topology_))
    return topology_


_plaq_gauge_charge_density = _n.function("plaq_gauge_charge_density", _c.c_int32, [plaq_gauge, _c.c_int32, _c.c_void_p, _c.c_int64])


def plaq_gauge_charge_density(gauge: Any, trace: int, density: Any, sites: int) -> None:
    """Measures the topological charge density on each of this rank's `sites` sites, in lexicographic order with
    x fastest; its sum over all ranks is the charge. F is traceless, or with `trace` 1 keeps its trace.
    Arrays: density[sites].
    """
    _n.call(_plaq_gauge_charge_density, _n.handle(plaq_gauge, gauge, "gauge"), _n.int32(trace, "trace"), _n.room(_c.c_double, density, "density", sites), _n.int64(sites, "sites"))


_plaq_gauge_time_slices = _n.function("plaq_gauge_time_slices", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_gauge_time_slices(gauge: Any, plaquette: Any, clover: Any, charge: Any, slices: int) -> None:
    """Measures energy and charge of every time slice of the whole lattice, summed over space: `plaquette`, E = 2
    sum of Re tr (1 - P), where plaquettes between two slices count half for each, and spatial ones of
    boundary slices half; `clover`, E = 1/2 sum of tr F F from clover leaves; and the topological charge. All
    ranks get all slices.
    Arrays: plaquette[slices], clover[slices], charge[slices].
    """
    _n.call(_plaq_gauge_time_slices, _n.handle(plaq_gauge, gauge, "gauge"), _n.room(_c.c_double, plaquette, "plaquette", slices), _n.room(_c.c_double, clover, "clover", slices), _n.room(_c.c_double, charge, "charge", slices), _n.int64(slices, "slices"))


_plaq_gauge_unitarity = _n.function("plaq_gauge_unitarity", _c.c_int32, [plaq_gauge, _c.c_void_p])


def plaq_gauge_unitarity(gauge: Any) -> plaq_unitarity:
    """Measures the largest deviation of the links from the group."""
    unitarity_ = plaq_unitarity()
    _n.call(_plaq_gauge_unitarity, _n.handle(plaq_gauge, gauge, "gauge"), _c.byref(unitarity_))
    return unitarity_


_plaq_gauge_unit = _n.function("plaq_gauge_unit", _c.c_int32, [plaq_gauge])


def plaq_gauge_unit(gauge: Any) -> None:
    """Sets all links to the unit matrix."""
    _n.call(_plaq_gauge_unit, _n.handle(plaq_gauge, gauge, "gauge"))


_plaq_gauge_hot = _n.function("plaq_gauge_hot", _c.c_int32, [plaq_gauge, _c.c_int64])


def plaq_gauge_hot(gauge: Any, seed: int) -> None:
    """Sets the links to independent random matrices of the Haar measure, the same on every device and
    decomposition.
    """
    _n.call(_plaq_gauge_hot, _n.handle(plaq_gauge, gauge, "gauge"), _n.int64(seed, "seed"))


_plaq_gauge_warm = _n.function("plaq_gauge_warm", _c.c_int32, [plaq_gauge, _c.c_int64, _c.c_double])


def plaq_gauge_warm(gauge: Any, seed: int, width: float) -> None:
    """Sets the links to exp(i width sum_a p_a T_a) with normally distributed p_a; 0 <= width <= 1."""
    _n.call(_plaq_gauge_warm, _n.handle(plaq_gauge, gauge, "gauge"), _n.int64(seed, "seed"), _n.real(width, "width"))


_plaq_gauge_heatbath = _n.function("plaq_gauge_heatbath", _c.c_int32, [plaq_gauge, _c.c_void_p, plaq_sweep_callback, _c.c_void_p, _c.c_void_p])


def plaq_gauge_heatbath(
        gauge: Any,
        params: Optional[plaq_heatbath_params] = None,
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_heatbath_report] = None,
) -> None:
    """Updates the links by heat bath and overrelaxation; SU(3) stored as 18 numbers, or SU(2), in double or
    single precision.
    """
    callback_ = _n.callback(plaq_sweep_callback, callback)
    _n.watched(_plaq_gauge_heatbath, callback_, (), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_heatbath_params, params, "params"), callback_.c, None, _n.struct(plaq_heatbath_report, report, "report"))


_plaq_spinor_noise = _n.function("plaq_spinor_noise", _c.c_int32, [plaq_spinor, _c.c_int32, _c.c_int64, _c.c_int32])


def plaq_spinor_noise(spinor: Any, noise: Union[int, str, plaq_noise], seed: int, first: int) -> None:
    """Sets right-hand side number b to noise vector number `first` + b of the sequence of `seed`."""
    _n.call(_plaq_spinor_noise, _n.handle(plaq_spinor, spinor, "spinor"), _n.enum(plaq_noise, noise, "noise"), _n.int64(seed, "seed"), _n.int32(first, "first"))


# ---- Clover terms ----


class plaq_clover(Handle):
    """Blocks A of a clover term, or their inverses: for each site and chirality one hermitian 6 x 6 matrix, with
    row = 3 spin + colour, kappa-normalised: A = 1 + 2 kappa csw (i/4) sum sigma F.
    """


class plaq_clover_params(Struct):
    """Shape of a clover term.

    Members:
      extents: Sites of this rank in x, y, z, t; even numbers, the same on all ranks. Must be set, or taken from
        `gauge`.
      precision: Precision of the blocks. Default: PLAQ_PRECISION_DOUBLE.
      gauge: A gauge field that has the extents, if `extents` are zeros; otherwise both must be equal. Default:
        none.
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
    """Makes a clover term with unspecified blocks, to be loaded afterwards."""
    clover_ = plaq_clover()
    _n.call(_plaq_clover_create, _n.handle(plaq_context, context, "context"), _n.struct(plaq_clover_params, params, "params"), _c.byref(clover_))
    return clover_


_plaq_clover_destroy = _n.function("plaq_clover_destroy", _c.c_int32, [plaq_clover])


def plaq_clover_destroy(clover: Any) -> None:
    """Destroys a clover term; operators made with it remain valid. The zero handle is accepted."""
    _n.call(_plaq_clover_destroy, _n.handle(plaq_clover, clover, "clover"))


_plaq_clover_load = _n.function("plaq_clover_load", _c.c_int32, [plaq_clover, _c.c_void_p, _c.c_void_p])


def plaq_clover_load(clover: Any, layout: Optional[plaq_layout_params], data: Any) -> None:
    """Loads blocks from the host's array, in PLAQ_ORDER_MILC (packed) or PLAQ_ORDER_QDPJIT. After an error the
    old blocks are kept. Errors: NOT_FINITE, BAD_LAYOUT.
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
    """Measures the signs, 1 or -1, of the same two determinants: -1 if A has an odd number of negative
    eigenvalues. Errors: those of plaq_clover_log_det.
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
    #: Traditional: 4 + m + csw (i/4) sum sigma F (Sheikholeslami, Wohlert, Nucl. Phys. B 259 (1985) 572).
    TRADITIONAL = 0
    #: Exponential: (4 + m) exp(csw / (4 + m) (i/4) sum sigma F), whose determinant is constant (Francis,
    #: Fritzsch, Luscher, Rago, Comput. Phys. Commun. 255 (2020) 107355).
    EXPONENTIAL = 1


class plaq_clover_links(Enum):
    """The links from which a clover term is made."""
    #: The links of the hop, smeared or not.
    HOP = 0
    #: The thin links from which the links of the hop were smeared (QCDSF: Cundy et al., Phys. Rev. D 79 (2009)
    #: 094507); only in chains whose quarks have smearing.
    THIN = 1


class plaq_normalisation(Enum):
    """Normalisation of an operator. The symmetric Schur complement P is the same in both."""
    #: M = A - kappa H, 1 - kappa H without clover term (2 kappa D).
    KAPPA = 0
    #: D = m + 4 - H/2 with the bare mass m, plus clover term and twisted mass; D = M / (2 kappa).
    MASS = 1


class plaq_system(Enum):
    """The system that is solved: on the whole lattice, or by a Schur complement on one parity p, with q the other
    parity. The symmetric complement 1 - kappa^2 A_p^-1 H_pq A_q^-1 H_qp is the same in all normalisations; the
    asymmetric one is A_p - kappa^2 H_pq A_q^-1 H_qp.
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
    """An operator M, its adjoint, or a product of the two."""
    #: The operator M itself.
    M = 0
    #: The adjoint M^dagger.
    MDAG = 1
    #: The product M^dagger M, hermitian and positive.
    MDAGM = 2
    #: The product M M^dagger, hermitian and positive.
    MMDAG = 3


class plaq_dirac_params(Struct):
    """A quark of Wilson type: D = m + sum_mu h_mu (1 - ...) Wilson's term, + csw (i/4) sum sigma F, + i mu gamma5.

    Members:
      normalisation: Normalisation of the operator; mass: D as above, kappa: 2 kappa D, which is 1 - kappa H without clover
        term. Solutions, shifts, eigenvalues and propagators are those of the normalised operator.
        Default: PLAQ_NORMALISATION_MASS.
      kappa: Hopping parameter 1 / (2 m + 2 sum_mu hop[mu]); 0: the quark is given by `mass`. One of the two must be
        set. A number above 0, to 2.
      mass: Bare mass m; ignored where kappa is not 0. Default: not set (NaN).
      csw: Sheikholeslami-Wohlert coefficient; 0: no clover term. Default: 0.
      csw_t: Sheikholeslami-Wohlert coefficient in the planes with t; NaN: the same as csw.
        Default: NaN.
      cf: Coefficient cF of the boundary counterterm, for links with boundaries in time: cF - 1 is added to the mass
        on the slice next to the lower boundary, where quarks vanish. Default: 1.
      cf_prime: Coefficient cF' of the boundary counterterm at the upper boundary; NaN: the same as cf.
        Default: NaN.
      mu: Twisted mass mu. Default: 0.
      hop: Coefficient of the hop in each direction, e.g. (nu/xi, nu/xi, nu/xi, 1).
        Default: 1, 1, 1, 1.
      boundary: Boundary phases in units of pi: psi(x + L_mu) = exp(i pi boundary[mu]) psi(x); 1: antiperiodic. Options,
        TOML and Python also take a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
        Default: 0, 0, 0, 1.
      precision: Precision of the operator's links and spinors; 0: that of the gauge field. Default: 0.
      storage: Storage of the links of the hop; 0: two rows. The clover term is computed from the gauge field as it is
        stored. Default: 0.
      clover: Form of the clover term: traditional, or exponential: 4 + m + csw (i/4) sum sigma F becomes (4 + m) exp(csw
        / (4 + m) (i/4) sum sigma F), where 4 + m stands for 1 / (2 kappa).
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
    """Description of an operator.

    Members:
      kappa: Hopping parameter.
      mass: Bare mass.
      flops: Floating-point operations of one application to one right-hand side.
      bytes: Compulsory bytes of one application to one right-hand side.
      precision: Precision of the operator.
      storage: Storage of the operator's links.
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
    """Makes an operator whose hops have the links of `gauge`, smeared ones, and whose clover term is made of
    `thin`, the links that they are smeared from, on the same lattice and in the same precision; clover_links is
    then PLAQ_CLOVER_LINKS_THIN, whatever `params` say. Errors: those of plaq_dirac_create; FIELD_MISMATCH.
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
    """Makes the operator of two twisted flavours whose masses differ, M + i mu gamma5 tau3 - epsilon tau1 with the
    M of `params` without its mu. Vectors have 2 slices. Errors: those of plaq_dirac_create.
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
    """Parameters of the operator -D^2 + m^2 on periodic fields, where D^2 is the gauge-covariant second
    difference: (2 d + m^2) x(n) minus the sum over d directions of U_mu(n) x(n + mu) and U_mu(n - mu)^dagger
    x(n - mu).

    Members:
      mass2: m^2 in units of the lattice spacing. Default: 0.
      directions: Bits mu of the directions; 7: x, y, z, so that time slices are independent; 15: all four.
        Default: 7.
      spins: Number of spins of a site: 1 for colour vectors, 4 for spinors; spins are not mixed.
        Default: 1.
      precision: Precision of the operator; 0: that of the gauge field. Default: 0.
      storage: Storage of the operator's links, 18 or 12 numbers; 0: 12. Default: 0.
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
    """Makes a Laplacian on the links of `gauge` (SU(3)). Solvers, multi-shift solvers and eigensolvers accept it
    like any operator. It is hermitian, and Schur complements and normalisations are those of M = -D^2 + m^2.
    Errors: BAD_PARAMETER, UNSUPPORTED, OUT_OF_MEMORY.
    """
    dirac_ = plaq_dirac()
    _n.call(_plaq_dirac_create_laplace, _n.handle(plaq_context, context, "context"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_laplace_params, params, "params"), _c.byref(dirac_))
    return dirac_


# ---- Sources of fields ----


class plaq_line_kind(Enum):
    """Kind of the columns of a field in contractions."""
    #: Quark lines from a source, also those that continue through an operator.
    PROPAGATOR = 1
    #: A sequential source: the source of a quark line that continues through the sink of a hadron.
    SEQUENTIAL_SOURCE = 2
    #: The solution of a sequential source: the quark line from the sink of a hadron to an operator.
    SEQUENTIAL_PROPAGATOR = 3


class plaq_origin_params(Struct):
    """Source and operator from which the columns of a field were made, for plaq_contract_params and files.

    Members:
      position: Coordinates x, y, z, t of the source, from which times and phases of momenta are counted; -1: not
        known. 0 or more. Default: -1, -1, -1, -1.
      normalisation: Normalisation of the operator whose inverse a propagator is; -1: not known. Default: -1.
      boundary_time: Boundaries in time of the operator's links; 0: not known. Default: 0.
      boundary: Boundary phase of the fermions in time in units of pi, 1: antiperiodic. NaN: not known.
        Default: NaN.
      boundary_space: Boundary phases in x, y and z in units of pi. NaN: not known. Default: NaN, NaN, NaN.
      mass: Bare mass of the operator. NaN: not known. Default: NaN.
      mu: Twisted mass of the operator. NaN: not known. Default: NaN.
      links: Averages that identify the operator's links: their average spatial and temporal plaquettes, and Re tr
        U / 3. NaN: not known. Default: NaN, NaN, NaN.
      kind: Kind of the columns: contractions refuse columns of another kind than they need. 0: not known.
        Default: 0.
      clover: Form of the operator's clover term; -1: not known. Default: -1.
      csw: Clover coefficients csw of the operator, in planes of space and in those with t. NaN: not known.
        Default: NaN, NaN.
      crossed: Boundary phase in time of a meson's antiquark, in units of pi, for a sequential source through a sink beyond
        the end of the lattice in time and its solution; contractions take it out together with that of the quark.
        NaN: there is none to take out. Default: NaN.
    """
    struct_size: int
    position: Any
    normalisation: Any
    boundary_time: Any
    boundary: float
    boundary_space: Any
    mass: float
    mu: float
    links: Any
    kind: Any
    clover: Any
    csw: Any
    crossed: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("position", _c.c_int32 * 4),
        ("normalisation", _c.c_int32),
        ("boundary_time", _c.c_int32),
        ("boundary", _c.c_double),
        ("boundary_space", _c.c_double * 3),
        ("mass", _c.c_double),
        ("mu", _c.c_double),
        ("links", _c.c_double * 3),
        ("kind", _c.c_int32),
        ("clover", _c.c_int32),
        ("csw", _c.c_double * 2),
        ("crossed", _c.c_double),
    ]
    _enums_ = {"normalisation": plaq_normalisation, "boundary_time": plaq_boundary_time, "kind": plaq_line_kind, "clover": plaq_clover_form}
    _init_ = "plaq_origin_params_init"


_plaq_origin_params_init = _n.function("plaq_origin_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_origin_params_init(params: plaq_origin_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_origin_params_init, _n.struct(plaq_origin_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_origin_report(Struct):
    """Source and operator from which the columns of a field were made, as far as known; members are as in
    plaq_origin_params.

    Members:
      position: Coordinates x, y, z, t of the source; -1: not known.
      normalisation: Normalisation of the operator whose inverse a propagator is; -1: not known.
      boundary_time: Boundaries in time of the operator's links; 0: not known.
      boundary: Boundary phase of the fermions in time in units of pi; NaN: not known.
      boundary_space: Boundary phases in x, y and z in units of pi; NaN: not known.
      mass: Bare mass of the operator; NaN: not known.
      mu: Twisted mass of the operator; NaN: not known.
      links: Averages that identify the operator's links; NaN: not known.
      kind: Kind of the columns; 0: not known.
      clover: Form of the operator's clover term; -1: not known.
      csw: Clover coefficients of the operator, in planes of space and in those with t; NaN: not known.
      crossed: Boundary phase in time of the antiquark of a meson whose sink is beyond the end of the lattice, of
        sequential sources and their solutions; NaN: none.
    """
    struct_size: int
    position: Any
    normalisation: Any
    boundary_time: Any
    boundary: float
    boundary_space: Any
    mass: float
    mu: float
    links: Any
    kind: Any
    clover: Any
    csw: Any
    crossed: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("position", _c.c_int32 * 4),
        ("normalisation", _c.c_int32),
        ("boundary_time", _c.c_int32),
        ("boundary", _c.c_double),
        ("boundary_space", _c.c_double * 3),
        ("mass", _c.c_double),
        ("mu", _c.c_double),
        ("links", _c.c_double * 3),
        ("kind", _c.c_int32),
        ("clover", _c.c_int32),
        ("csw", _c.c_double * 2),
        ("crossed", _c.c_double),
    ]
    _enums_ = {"normalisation": plaq_normalisation, "boundary_time": plaq_boundary_time, "kind": plaq_line_kind, "clover": plaq_clover_form}
    _init_ = "plaq_origin_report_init"


_plaq_origin_report_init = _n.function("plaq_origin_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_origin_report_init(report: plaq_origin_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_origin_report_init, _n.struct(plaq_origin_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_spinor_origin = _n.function("plaq_spinor_origin", _c.c_int32, [plaq_spinor, _c.c_void_p])


def plaq_spinor_origin(spinor: Any, origin: Optional[plaq_origin_report] = None) -> None:
    """Gives the source and operator of a field, as far as known. Propagators, solutions and sources have them
    from the calls that made them or from their file; copies, smeared, shifted and sequential fields from the
    field of which they were made. After plaq_spinor_load nothing is known.
    """
    _n.call(_plaq_spinor_origin, _n.handle(plaq_spinor, spinor, "spinor"), _n.struct(plaq_origin_report, origin, "origin"))


_plaq_spinor_set_origin = _n.function("plaq_spinor_set_origin", _c.c_int32, [plaq_spinor, _c.c_void_p])


def plaq_spinor_set_origin(spinor: Any, origin: Optional[plaq_origin_params] = None) -> None:
    """Sets the source and operator of a field that comes from another code. Errors: BAD_PARAMETER, INVALID_ARGUMENT."""
    _n.call(_plaq_spinor_set_origin, _n.handle(plaq_spinor, spinor, "spinor"), _n.struct(plaq_origin_params, origin, "origin"))


_plaq_spinor_support = _n.function("plaq_spinor_support", _c.c_int32, [plaq_spinor, _c.c_void_p])


def plaq_spinor_support(spinor: Any, position: Any) -> None:
    """Finds the coordinates x, y, z, t of the whole lattice at which columns of spinors on both parities are not
    zero: the site of a point source, the time of a wall; -1 for a direction with several coordinates, or if
    all columns are zero. The search runs on the host.
    Arrays: position[4].
    """
    _n.call(_plaq_spinor_support, _n.handle(plaq_spinor, spinor, "spinor"), _n.room(_c.c_int32, position, "position", 4))


# ---- Progress of long work ----


#: Called after every iteration of a solve, step of a set-up or restart of a search, with the largest
#: relative residual of the recurrence and the seconds since the start. A result other than 0 ends the work,
#: and the report says so. A single rank may have a callback or ask to stop: all ranks stop after the next
#: iteration, and the callback is not called again.
#: Arguments: iteration, residual, seconds.
plaq_progress_callback = _c.CFUNCTYPE(_c.c_int32, _c.c_int64, _c.c_double, _c.c_double, _c.c_void_p)


# ---- Multigrid ----


class plaq_multigrid(Handle):
    """A multigrid hierarchy of null vectors and coarse operators of a Dirac operator, with which solvers, also
    several of them, precondition.
    """


class plaq_cycle(Enum):
    """Cycles of multigrid: the ways in which a level solves with the next coarser one."""
    #: V cycle: one correction by the next coarser level.
    V = 0
    #: W cycle: two corrections by the next coarser level, combined by GCR.
    W = 1
    #: K cycle: GCR to a tolerance, preconditioned by the cycle of the level below.
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
    #: Generalised conjugate residual with one global sum in up to twelve steps.
    CA_GCR = 1
    #: Stabilised biconjugate gradient.
    BICGSTAB = 2
    #: The inverse of the level's whole operator, a dense matrix of which every rank holds the
    #: rows of its sites. At most 1024 unknowns, which are 2 x `vectors` for every site that is
    #: solved for.
    DIRECT = 3


class plaq_setup_solver(Enum):
    """Solvers that make null vectors of random ones."""
    #: Stabilised biconjugate gradient.
    BICGSTAB = 0
    #: CG on the normal equations.
    CG = 1
    #: Generalised conjugate residual with ten directions.
    GCR = 2


class plaq_refresh(Enum):
    """Treatments of the null vectors in an update of multigrid."""
    #: Null vectors are kept, and only coarse operators are built.
    KEEP = 0
    #: The cycle is applied to the null vectors.
    REFINE = 1
    #: New null vectors are found from random vectors.
    ANEW = 2
    #: No update since the set-up; occurs in reports only.
    NONE = 3


class plaq_vector_memory(Enum):
    """Memory for the vectors of an eigensolver, and for the null vectors of a set-up of multigrid."""
    #: The device's memory if it suffices. Otherwise an eigensolver keeps fewer vectors than its default; if that
    #: does not suffice, and in a set-up of multigrid, the vectors that do not fit are kept on the host.
    AUTO = 0
    #: The device's memory only; an eigensolver keeps fewer vectors if it is short.
    DEVICE = 1
    #: The host's memory. In an eigensolver all but one vector are there, and each step copies all of them to the
    #: device eight times; in a set-up of multigrid each null vector is copied once for each refinement.
    HOST = 2


class plaq_multigrid_level_params(Struct):
    """A level of multigrid and its step to the next coarser one.

    Members:
      block: Extents x, y, z, t of aggregates in sites of this level; 0: chosen for the lattice.
        Aggregates of the finest level divide a rank's part of it; those of coarse levels divide
        the whole level, or a rank's part where levels are not gathered (`gather` = 0).
        0 or more. Default: 0, 0, 0, 0.
      vectors: Number of null vectors of each chirality. 1 to 256. Default: 24.
      pre: Number of smoothing steps before the correction by the next level. 0 to 10000.
        Default: 0.
      post: Number of smoothing steps after the correction. 0 to 10000. Default: 10.
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
      levels: Number of levels, the finest and the coarsest included; automatic (0): chosen for the
        lattice, but at least as many as have a `block`. 2 to 5. Default: 0.
      cycle: Cycle of the second level. Default: PLAQ_CYCLE_K.
      level: Levels from the finest on, without the coarsest.
      smoother: Smoother of the finest level. Default: PLAQ_SMOOTHER_CA_GCR.
      smoother_precision: Precision of the finest level's smoother, half with MR, CA-GCR and Richardson only; automatic (0): half on
        GPUs with CA-GCR where the coarse levels are in single precision, else single.
        Default: 0.
      coarse_precision: Precision of coarse operators and null vectors: double or single.
        Default: PLAQ_PRECISION_SINGLE.
      iterations: Largest number of iterations of GCR on the levels between the finest and the coarsest.
        1 to 100000. Default: 8.
      coarsest_iterations: Largest number of iterations on the coarsest level. 1 to 100000. Default: 64.
      setup_iterations: Number of solver iterations at a set-up that turn a random vector into a null vector.
        1 to 100000. Default: 20.
      refinements: Number of times that the cycle is applied to the null vectors and the hierarchy is built
        again from them. 0 to 10000. Default: 3.
      gather: Least number of sites of a rank in each direction of a coarse level. A level that would
        have fewer, or that aggregates do not divide on a rank, is gathered on fewer ranks; 0:
        all levels stay on all ranks; automatic (-1): the number with which cycles are expected
        to be fastest (docs/multigrid.md). 0 to 65536. Default: -1.
      omega: Relaxation parameter omega of the smoothers MR and Richardson. A number between 0 and 2.
        Default: 0.85.
      tol: Relative residual at which GCR stops on the levels between the finest and the coarsest.
        A number between 0 and 1. Default: 0.25.
      coarsest_tol: Relative residual at which the coarsest level's solver stops. A number between 0 and 1.
        Default: 0.25.
      seed: Seed of the random vectors from which null vectors are made. Default: 1.
      coarse_smoother: Smoother of the levels between the finest and the coarsest.
        Default: PLAQ_SMOOTHER_CA_GCR.
      coarsest: Solver of the coarsest level. Default: PLAQ_COARSEST_CA_GCR.
      coarsest_modes: Number of low modes of the coarsest level that a set-up finds and that are solved for
        exactly; 0 where the level is solved directly; automatic (-1): 96 on large lattices,
        none on small ones. 0 to 256. Default: -1.
      deep_cycle: Cycle of levels from the third on; -1: the same as `cycle`. Default: -1.
      domain: Extents x, y, z, t of the finest level's Schwarz domains, which divide a rank's part of
        the lattice; 0: the largest divisor up to 4. Domains of coarse levels have up to 2 sites
        in a direction. 0 or more. Default: 0, 0, 0, 0.
      domain_steps: Number of steps of minimal residual in a Schwarz domain. 1 to 10000. Default: 4.
      link_precision: Precision of the links of coarse operators: that of the operator or, if that is single,
        half or quarter with a scale for each matrix. Automatic (0): for operators in single
        precision half, on GPUs quarter if rounding does not change the eigenvalues of low
        modes; else that of the operator. Default: 0.
      setup_columns: Number of null vectors that are iterated together at a set-up and in refinements.
        Automatic (0): 8 where the device's memory allows it, else 4, 2 or 1. 0 to 256.
        Default: 0.
      setup_solver: Solver that makes null vectors from random ones. Default: PLAQ_SETUP_BICGSTAB.
      setup_vectors: Memory for the new null vectors that a refinement makes while the old ones are in use,
        and for those that are being shortened to 16 bits; automatic: the device, or the host
        where the device has too little memory for one vector at a time.
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
    """Description of a hierarchy.

    Members:
      levels: Number of levels.
      refresh: The update that was carried out last, which may be stronger than the requested one; PLAQ_REFRESH_NONE:
        none since the set-up.
      setup_seconds: Seconds of the last set-up or update.
      reduction: Factor by which an iteration of GCR with the cycle reduced the residual of a random vector after the
        last set-up or update.
      bytes: Bytes that null vectors and coarse operators take on this rank.
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
    """Description of a level of a hierarchy.

    Members:
      extents: Extents of the level over all ranks.
      block: Extents of the aggregates that become sites of the next level; 1 on the coarsest.
      vectors: Number of null vectors of each chirality; 0 on the coarsest level.
      ranks: Number of ranks that hold a part of the level.
      bytes: Bytes that null vectors and the level's coarse operator take on this rank.
      iterations: Number of iterations of all solves since the last set-up or update; a cycle for several right-hand
        sides counts once. On the finest level these are steps of the smoother; on levels between steps of the
        smoother and iterations of GCR in W or K cycles; on the coarsest iterations of its solver, where a
        direct solution is one. 0 on a rank without a part of the level.
      seconds: Seconds that the cycles of these solves spent in the level and those below it; for the finest level
        this is the whole preconditioner. On a GPU it is the time of the host for launches and for waiting for
        sums, which is less than the device's; on a rank without a part of the level it is the time of
        waiting.
      setup_seconds: Seconds of the last set-up or update on this level, measured on the host: its null vectors, the
        transfer and the coarse operator below it, in all passes; on the coarsest level the low modes or the
        inverse for its solver.
      reduction: Factor by which an iteration reduced the residual on this level: on the finest level as in the report;
        on levels between with W or K cycles the mean over those iterations in solves since the last set-up or
        update whose norms were computed; 0 if there were none.
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
    """Finds null vectors of an operator and builds the levels. Errors: BAD_PARAMETER, BAD_EXTENTS, UNSUPPORTED
    (precisions or solvers that do not go together), OUT_OF_MEMORY (nothing was allocated), NOT_FINITE (links,
    or null vectors), SOLVER_BREAKDOWN (a solve that makes null vectors met what is not finite), NOT_CONVERGED
    (the callback ended it). The callback is called after every iteration of solves for null vectors with the
    largest residual, and after every other step of the set-up with 1.
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
    """Builds the levels from null vectors of the finest level, the right-hand sides of a full field, as given by
    plaq_multigrid_vectors.
    """
    multigrid_ = plaq_multigrid()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_multigrid_create_from, callback_, (multigrid_,), _n.handle(plaq_dirac, dirac, "dirac"), _n.struct(plaq_multigrid_params, params, "params"), _n.handle(plaq_spinor, vectors, "vectors"), callback_.c, None, _c.byref(multigrid_))
    return multigrid_


_plaq_multigrid_destroy = _n.function("plaq_multigrid_destroy", _c.c_int32, [plaq_multigrid])


def plaq_multigrid_destroy(multigrid: Any) -> None:
    """Destroys a hierarchy; solvers that use it keep it. The zero handle is accepted."""
    _n.call(_plaq_multigrid_destroy, _n.handle(plaq_multigrid, multigrid, "multigrid"))


_plaq_multigrid_memory = _n.function("plaq_multigrid_memory", _c.c_int32, [plaq_dirac, _c.c_void_p, _c.c_void_p])


def plaq_multigrid_memory(dirac: Any, params: Optional[plaq_multigrid_params] = None) -> int:
    """Gives the largest number of bytes of device memory that a set-up takes."""
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
    """Updates a hierarchy to the operator's present links. Its reduction of residuals is measured afterwards; if
    it is bad, the next stronger treatment follows, and the report says which. `passes`: for
    PLAQ_REFRESH_REFINE the number of refinements, 1 to 10000. Without an update after a change of the links
    (plaq_dirac_update) solves with that operator are refused: STALE_MULTIGRID. After an error the hierarchy
    is unchanged, and solves continue with it. Errors: those of plaq_multigrid_create, FIELD_MISMATCH (another
    lattice), OUT_OF_MEMORY (old and new together, before anything is taken), NOT_CONVERGED (the cycle is bad
    from new random vectors too, or the callback ended the update).
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
    """Gives the largest number of bytes of device memory that such an update takes, including stronger
    treatments that may follow, besides the present hierarchy, which is kept until the new one is complete.
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
    """Makes a full field with the null vectors of the finest level as right-hand sides, normalised but not
    orthonormal on aggregates; all levels can be built from them again.
    """
    vectors_ = plaq_spinor()
    _n.call(_plaq_multigrid_vectors, _n.handle(plaq_multigrid, multigrid, "multigrid"), _n.enum(plaq_precision, precision, "precision"), _c.byref(vectors_))
    return vectors_


_plaq_multigrid_write = _n.function("plaq_multigrid_write", _c.c_int32, [plaq_multigrid, _c.c_char_p])


def plaq_multigrid_write(multigrid: Any, file: Any) -> None:
    """Writes the null vectors of the finest level to a file: SciDAC records in LIME with checksums. The file
    appears complete or not at all. All ranks call it. Errors: FILE_WRITE, OUT_OF_MEMORY.
    """
    _n.call(_plaq_multigrid_write, _n.handle(plaq_multigrid, multigrid, "multigrid"), _n.encoded(file, "file"))


_plaq_multigrid_read = _n.function("plaq_multigrid_read", _c.c_int32, [plaq_dirac, _c.c_void_p, _c.c_char_p, plaq_progress_callback, _c.c_void_p, _c.c_void_p])


def plaq_multigrid_read(
        dirac: Any,
        params: Optional[plaq_multigrid_params],
        file: Any,
        callback: Optional[Callable[..., Any]] = None,
) -> plaq_multigrid:
    """Builds the levels from the vectors in a file of plaq_multigrid_write, as plaq_multigrid_create_from does.
    Errors: FIELD_MISMATCH (another number of vectors than the parameters name), FILE_EXTENTS (another
    lattice), FILE_FORMAT (other vectors, or no such file), FILE_CHECKSUM, FILE_TRUNCATED, FILE_OPEN, those of
    plaq_multigrid_create.
    """
    multigrid_ = plaq_multigrid()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_multigrid_read, callback_, (multigrid_,), _n.handle(plaq_dirac, dirac, "dirac"), _n.struct(plaq_multigrid_params, params, "params"), _n.encoded(file, "file"), callback_.c, None, _c.byref(multigrid_))
    return multigrid_


# ---- Solvers ----


class plaq_solver(Handle):
    """A Dirac operator with a chain of solvers for one of its equations."""


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
    #: The limit `max_iterations`.
    ITERATIONS = 3
    #: The limit `max_seconds`.
    TIME = 4
    #: The callback asked to stop.
    CALLBACK = 5


class plaq_solver_kind(Enum):
    """Algorithms of solvers."""
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
    #: Chosen by the library: CG for hermitian operators, else BiCGStab (on a GPU with an iteration in 16 bits),
    #: and multigrid as soon as its set-up is expected to save time (docs/propagator.md).
    AUTO = 6
    #: GCR in which the right-hand sides that are solved for together share one Krylov space: the step of each is
    #: a combination of the directions of all, of which `nkrylov` are kept for each. With many right-hand sides
    #: it takes fewer iterations than PLAQ_SOLVER_GCR, but each is more expensive. Sources may depend linearly on
    #: each other.
    BLOCK_GCR = 7


class plaq_iteration_sums(Enum):
    """Sums over the ranks in an iteration of CG, CGNR, CGNE and BiCGStab."""
    #: One for every step that needs its result: 2 in CG and CGNE, 3 in CGNR and BiCGStab.
    SEPARATE = 1
    #: 1 in CG (Chronopoulos and Gear 1989), CGNR and CGNE, 2 in BiCGStab; vectors are read and written more
    #: often. Where GPUs add up among themselves, products that would share a sum have one each, started together.
    FUSED = 2


class plaq_solution(Enum):
    """The equation that is solved; M is the operator, P the even-odd preconditioned operator on one parity."""
    #: The equation M x = b.
    M = 0
    #: The equation M^dagger x = b.
    MDAG = 1
    #: The equation M^dagger M x = b.
    MDAGM = 2
    #: The equation P x = b.
    P = 3
    #: The equation P^dagger x = b.
    PDAG = 4
    #: The equation P^dagger P x = b.
    PDAGP = 5
    #: The equation M M^dagger x = b, solved by a solve with M and one with M^dagger.
    MMDAG = 6
    #: The equation P P^dagger x = b, solved by a solve with P and one with P^dagger.
    PPDAG = 7


class plaq_equations(Enum):
    """The equations for which the Krylov space is built."""
    #: The equation M x = b itself. Plain CG then solves M^dagger M x = M^dagger b; CGNE and CGNR form their own
    #: normal equations.
    DIRECT = 0
    #: The normal equations M^dagger M x = M^dagger b.
    NORMAL_RESIDUAL = 1
    #: The normal equations M M^dagger y = b, with x = M^dagger y.
    NORMAL_ERROR = 2


class plaq_chosen(Enum):
    """The algorithm that PLAQ_SOLVER_AUTO chose."""
    #: No choice: the caller gave the solver.
    NONE = 0
    #: A Krylov solver without multigrid, as a set-up would have cost more than it saves.
    KRYLOV = 1
    #: GCR with multigrid.
    MULTIGRID = 2
    #: A Krylov solver, as multigrid is not available for this operator, equation or lattice, or its memory or
    #: set-up failed; the log says which.
    ONLY_KRYLOV = 3


class plaq_solver_params(Struct):
    """Parameters of a solver. By default the solver is chosen while it solves, on the even-odd preconditioned
    system.

    Members:
      solver: Solver of the iteration. Default: PLAQ_SOLVER_AUTO.
      solution: Equation that is solved. Default: PLAQ_SOLUTION_M.
      equations: Equations for which the Krylov space is built, for BiCGStab, GCR, block GCR and MR, which can solve any of
        them. CG needs normal equations; CGNE and CGNR form their own.
        Default: PLAQ_EQUATIONS_DIRECT.
      system: Even-odd preconditioned system, or full lattice, on which the equation is solved.
        Default: PLAQ_SYSTEM_EVEN_SYMMETRIC.
      sloppy_precision: Precision of the iteration; every solver recomputes residuals in the operator's, to which the tolerance
        applies. Automatic (0): single where the operator is in double, 16 bits for BiCGStab of
        PLAQ_SOLVER_AUTO on a GPU, else the operator's;
        plaq_solver_multishift then takes the operator's precision and storage, since shifts share a Krylov space
        that goes no deeper than its precision. The report says which. Default: 0.
      sloppy_storage: Storage of the links in the iteration; automatic (0): that of the operator. Default: 0.
      max_iterations: Largest number of iterations of a solve. 1 or more. Default: 10000.
      nkrylov: Number of directions that GCR keeps before a restart, block GCR for each right-hand side.
        1 to 10000. Default: 10.
      precondition_steps: Number of steps of minimal residual before every application of the operator, as preconditioner of
        BiCGStab, GCR, block GCR and MR; 0: none. 0 or more. Default: 0.
      initial_guess: True if the solve starts from the x that is passed in, false if from zero. 0 or 1.
        Default: 0.
      tol: Largest |b - M x| / |b|; 0: not required. Where several criteria are set, all must be met.
        Default: 1e-10.
      tol_hq: Largest heavy-quark residual; 0: not required. Default: 0.
      delta: Factor by which the residual falls in the iteration before it is recomputed in the operator's precision.
        Automatic (0): 0.1 for iterations in 16 bits, else 0.01. 0 to below 1. Default: 0.
      omega: Relaxation parameter omega of MR; 1: no relaxation. A number between 0 and 2.
        Default: 1.
      columns: Number of columns of a propagator that are solved for together. Fewer take less memory, and on a GPU more
        time. Automatic (0): the first of 12, 6, 4, 3, 2 and 1 that fits in the device's memory; the report says
        which. 0 to 12. Default: 0.
      expected_columns: PLAQ_SOLVER_AUTO: number of right-hand sides that will be solved for with these links, by which the solver
        decides whether a set-up of multigrid is worth its time. Automatic (0): as many as have been solved for
        already. 0 or more. Default: 0.
      distance_t0: Time slice of the source, for distance_alpha. 0 or more. Default: 0.
      max_seconds: Largest number of seconds of a call; 0: no limit. The time is checked after every iteration; all ranks
        stop after the same one. Default: 0.
      distance_alpha: Exponent alpha per time slice of distance preconditioning (de Divitiis, Petronzio, Tantalo,
        arXiv:1006.4028, Eq. 9). With W = cosh(alpha (T/2 - d)) at the distance d in time from distance_t0 the
        solver iterates W^-1 M W y = W^-1 b, x = W y, and reports residuals of y. A heavy quark's propagator is
        then as precise in time slices far from the source, to which |b - M x| is insensitive, as near it. The
        best alpha is near the quark's energy, half the mass of its pion. M^dagger has the same weights, and
        M^dagger M is solved as two systems. Not available with multigrid or several shifts; at most 160 / T. 0:
        no preconditioning. 0 or more. Default: 0.
      tol_site: Largest |b - M x| at any site, divided by the largest |b| at any site, the criterion of OpenLat (Francis,
        Fritzsch, Luscher, Rago, arXiv:1911.04533, Section 4); 0: not required. It is required besides the other
        criteria, and replaces `tol` if that is 0. Not for eigenvectors. Default: 0.
      sums: Sums over the ranks in an iteration of CG, CGNR, CGNE or BiCGStab. Automatic (0): fused where that is
        expected to take less time (docs/mpi.md), but not in 16 bits, where iterations may become more, nor with
        `reproducible` = 1, where fused sums have the same bits in every run, too, if asked for. With GCR, block GCR
        and MR there is no choice. The space that several shifts share takes separate sums.
        Default: 0.
      fall_back: True: right-hand sides that BiCGStab cannot solve are solved separately, finally by CGNR (the report's
        `solver`); false: they are left as they are, not converged. 0 or 1. Default: 1.
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
    sums: Any
    fall_back: int
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
        ("sums", _c.c_int32),
        ("fall_back", _c.c_int32),
    ]
    _enums_ = {"solver": plaq_solver_kind, "solution": plaq_solution, "equations": plaq_equations, "system": plaq_system, "sloppy_precision": plaq_precision, "sloppy_storage": plaq_storage, "sums": plaq_iteration_sums}
    _old_ = {"algorithm": "solver"}
    _init_ = "plaq_solver_params_init"


_plaq_solver_params_init = _n.function("plaq_solver_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_solver_params_init(params: plaq_solver_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_solver_params_init, _n.struct(plaq_solver_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_solve_report(Struct):
    """Report of a solve. Residuals are recomputed from x in the operator's precision.

    Members:
      converged: 1: every right-hand side meets all criteria.
      stopped: 1: the callback or `max_seconds` ended the solve; x holds what was reached.
      columns: Number of right-hand sides, or of columns of a propagator, that were solved for together.
      iterations: Number of iterations of the slowest right-hand side.
      residual: Largest |b - M x| / |b| over the right-hand sides.
      residual_hq: Largest heavy-quark residual over the right-hand sides.
      seconds: Seconds that the solve took.
      flops: Number of floating-point operations of operators and vectors.
      bytes: Number of bytes that operators and vectors had to read and write.
      memory_peak: Largest number of bytes of device memory that was in use during the solve.
      reliable_updates: Number of times that residuals were recomputed in the operator's precision.
      restarts: Number of breakdowns after which search directions were started again.
      solver: The algorithm that finished the solve; another one than asked for if that made no progress.
      standstill: 1: given up because recomputed residuals no longer fell. If 0 and not converged, `stopped_by` tells
        what ended the solve.
      sloppy_precision: Precision of the iteration.
      sloppy_storage: Storage of the links in the iteration.
      stopped_by: Criterion that ended the solve.
      chosen: The algorithm that PLAQ_SOLVER_AUTO chose, and why.
      residual_site: Largest |b - M x| at any site, divided by the largest |b| at any site; 0 if tol_site is 0.
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
    """Memory and kernels that a solve needs, found before anything runs.

    Members:
      memory: Bytes of device memory, as given by plaq_solver_memory.
      kernels: Number of kernels: instantiations with their constants.
      to_compile: Number of kernels that a GPU's compiler has to make first, as they were not used before and are not in
        the cache; 0 on a CPU.
      seconds: Rough estimate of the seconds that compiling takes on this machine's cores.
      kept: Bytes of the memory that stay allocated afterwards: links and modes of a new overlap operator, and a
        multigrid that it keeps; 0 for other solves.
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
    """Makes a solver for an operator, in the operator's normalisation. Errors: BAD_PARAMETER, UNSUPPORTED (a
    combination that is not available), OUT_OF_MEMORY.
    """
    solver_ = plaq_solver()
    _n.call(_plaq_solver_create, _n.handle(plaq_dirac, dirac, "dirac"), _n.struct(plaq_solver_params, params, "params"), _c.byref(solver_))
    return solver_


_plaq_solver_set_multigrid = _n.function("plaq_solver_set_multigrid", _c.c_int32, [plaq_solver, plaq_multigrid])


def plaq_solver_set_multigrid(solver: Any, multigrid: Any = None) -> None:
    """Preconditions every iteration with a multigrid, which several solvers may share; zero handle: without any
    from now on. Errors: UNSUPPORTED (the solver is neither automatic nor GCR on one parity directly),
    FIELD_MISMATCH (set up for another lattice).
    """
    _n.call(_plaq_solver_set_multigrid, _n.handle(plaq_solver, solver, "solver"), _n.handle(plaq_multigrid, multigrid, "multigrid"))


_plaq_solver_destroy = _n.function("plaq_solver_destroy", _c.c_int32, [plaq_solver])


def plaq_solver_destroy(solver: Any) -> None:
    """Destroys a solver. The zero handle is accepted."""
    _n.call(_plaq_solver_destroy, _n.handle(plaq_solver, solver, "solver"))


_plaq_solver_memory = _n.function("plaq_solver_memory", _c.c_int32, [plaq_solver, _c.c_int32, _c.c_void_p])


def plaq_solver_memory(solver: Any, nrhs: int) -> int:
    """Gives the bytes of device memory that a solve for `nrhs` right-hand sides together needs, besides x and b.
    With less memory it solves for fewer at a time. With more, a solve with an iteration in 16 bits, or with
    GCR in single precision, also keeps the inverse of the clover term in double. A propagator needs in
    addition a field of 12 columns and one of `columns`; if these do not fit, solved columns are kept on the
    host until all are solved. PLAQ_SOLVER_AUTO sets multigrid up only if it fits in addition.
    """
    bytes_ = _c.c_int64()
    _n.call(_plaq_solver_memory, _n.handle(plaq_solver, solver, "solver"), _n.int32(nrhs, "nrhs"), _c.byref(bytes_))
    return bytes_.value


_plaq_solver_plan = _n.function("plaq_solver_plan", _c.c_int32, [plaq_solver, _c.c_int32, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_solver_plan(solver: Any, nrhs: int, report: Optional[plaq_plan_report] = None, capacity: int = 65536) -> str:
    """Gives the memory and kernels of a solve for `nrhs` right-hand sides with the solver's present multigrid.
    Nothing is run, compiled or allocated. `names`: a line with the links of the solver's chain, as "12
    columns at a time > scaled > to 1e-10 > Schur even > BiCGStab", then one for each kernel, less than 8 KiB
    for most solves; a name is repeated for other values of its constants. Errors: INVALID_ARGUMENT.
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
    """Solves for all right-hand sides of b, together or as many at a time as fit in the device's memory; the
    report says how many. x and b have the operator's precision and the subset of the equation. `residuals`:
    NULL, or room for |b - M x| / |b| of each right-hand side. Errors: FIELD_MISMATCH, NOT_FINITE,
    OUT_OF_MEMORY (not one right-hand side fits), SOLVER_BREAKDOWN.
    Arrays: residuals[right-hand sides of b].
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_solver_solve, callback_, (), _n.handle(plaq_solver, solver, "solver"), _n.handle(plaq_spinor, x, "x"), _n.handle(plaq_spinor, b, "b"), callback_.c, None, _n.struct(plaq_solve_report, report, "report"), _n.room(_c.c_double, residuals, "residuals", None, optional=True))


_plaq_solver_history = _n.function("plaq_solver_history", _c.c_int32, [plaq_solver, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_solver_history(solver: Any, history: Any, capacity: int) -> int:
    """Gives the largest |r| / |b| over the right-hand sides after every iteration of the solver's last solve,
    propagator or multishift: as given by the recurrence for the system that is iterated; it may jump when
    residuals are recomputed. `count`: number of iterations, of which the first `capacity` are written;
    `history` may be NULL.
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
    """Solves (A + sigma[k]) x[k] = b for all `count` shifts together, with A = M^dagger M for
    PLAQ_SOLUTION_MDAGM and P^dagger P for PLAQ_SOLUTION_PDAGP, each to its tol[k]; sigma[k] >= 0. x: `count`
    different fields. `residuals`: NULL, or room for a number for each shift, the largest over the right-hand
    sides. solver, tol and initial_guess of the parameters are not used; automatic `sloppy_precision` and then
    `sloppy_storage`, too, are the operator's. max_seconds are those of the call.
    Arrays: x[count], sigma[count], tol[count], residuals[count].
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_solver_multishift, callback_, (), _n.handle(plaq_solver, solver, "solver"), _n.array(plaq_spinor, x, "x", count), _n.array(_c.c_double, sigma, "sigma", count), _n.array(_c.c_double, tol, "tol", count), _n.int64(count, "count"), _n.handle(plaq_spinor, b, "b"), callback_.c, None, _n.struct(plaq_solve_report, report, "report"), _n.room(_c.c_double, residuals, "residuals", count, optional=True))


# ---- Sources, propagators and hadron correlators ----


class plaq_gamma(Enum):
    """Products of gamma matrices: gamma_x^a gamma_y^b gamma_z^c gamma_t^d has the number a + 2 b + 4 c + 8 d, from 0
    to 15; the following have names.
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
    #: gamma5 = gamma_x gamma_y gamma_z gamma_t.
    GAMMA_5 = 15


_n.word(plaq_gamma.GAMMA_ONE, "one")
_n.word(plaq_gamma.GAMMA_X, "x")
_n.word(plaq_gamma.GAMMA_Y, "y")
_n.word(plaq_gamma.GAMMA_Z, "z")
_n.word(plaq_gamma.GAMMA_T, "t")
_n.word(plaq_gamma.GAMMA_5, "5")


class plaq_mass_form(Enum):
    """Functional forms of a correlator, from which effective masses are computed."""
    #: cosh(m (t - T/2)), mesons: arcosh[(C(t-1) + C(t+1)) / (2 C(t))].
    COSH = 0
    #: exp(-m t): ln[C(t) / C(t+1)].
    LOG = 1


class plaq_source(Enum):
    """The sites on which a source is not zero."""
    #: A single site.
    POINT = 0
    #: All sites of a time slice; with momentum 0 and without noise the links must be in a fixed gauge.
    WALL = 1
    #: All sites of the lattice.
    VOLUME = 2


class plaq_dilute(Enum):
    """Indices in which noise is diluted, as bits."""
    #: A separate noise vector for each spin.
    SPIN = 1
    #: A separate noise vector for each colour.
    COLOUR = 2
    #: Separate noise vectors for even and odd sites.
    PARITY = 4
    #: A separate noise vector for the time slices t = k mod time_parts, for each k; for PLAQ_SOURCE_VOLUME.
    TIME = 8


class plaq_source_params(Struct):
    """Source of a propagator, with columns exp(i p (x - position)) eta(x) where eta is 1 or noise. Without noise a
    column has one spin and colour, number 3 spin + colour. Noise diluted in spin (colour) has one spin (colour)
    in a column, and columns of a vector share their numbers. Columns are numbered with colour fastest, then spin,
    parity (even, odd), part of the time slices and noise vector. plaq_spinor_smear smears the columns.

    Members:
      kind: Sites on which the source is not zero. Default: PLAQ_SOURCE_POINT.
      noise: Noise at these sites; 0: all numbers are 1. Default: 0.
      position: Coordinates x, y, z, t of a point. For a wall t is its time slice, and at x, y, z the momentum's phase is
        1. 0 or more. Default: 0, 0, 0, 0.
      momentum: Integer momentum n: p_mu = 2 pi n_mu / L_mu. Default: 0, 0, 0, 0.
      vectors: Number of noise vectors; vector k is that of plaq_spinor_noise with first = k.
        1 to 1048576. Default: 1.
      dilute: Indices in which noise is diluted, any of PLAQ_DILUTE_SPIN, PLAQ_DILUTE_COLOUR, PLAQ_DILUTE_PARITY and
        PLAQ_DILUTE_TIME together. Default: 0.
      spin: The only spin whose component is not zero; -1: all spins. 0 to 3. Default: -1.
      colour: The only colour whose component is not zero; -1: all colours. 0 to 2. Default: -1.
      first: Number of the first column; those before it are left out. 0 or more. Default: 0.
      count: Largest number of columns, beginning with column `first`; 0: all columns of the source from `first` on.
        1 or more. Default: 0.
      time_parts: Number of parts of the time slices with PLAQ_DILUTE_TIME, else 0. If it is the lattice's T each part is
        one slice; for a divisor of T a part is every time_parts-th slice. 0 to 1048576.
        Default: 0.
      seed: Seed of the noise; the noise is the same on any number of ranks. Default: 0.
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
    """Parameters of sequential sources delta(t, time) exp(i p (x - x0)) Gamma psi(x).

    Members:
      time: Time of the sink, counted from the source, 0 to T - 1; -1: all time slices. 0 or more.
        Default: -1.
      gamma: Number of Gamma as plaq_gamma counts it. 0 to 15. Default: 15.
      momentum: Integer momentum n: p_i = 2 pi n_i / L_i. Default: 0, 0, 0.
      position: Position x0 of the source: `time` is counted from its t, and the momentum's phase is 1 at its x, y, z. -1:
        the position that the field records (plaq_spinor_origin). 0 or more.
        Default: -1, -1, -1, -1.
      boundary_time: Boundaries in time of the field's links, beyond which there is no sink; 0: those that the field records.
        Default: 0.
    """
    struct_size: int
    time: int
    gamma: int
    momentum: Any
    position: Any
    boundary_time: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("time", _c.c_int32),
        ("gamma", _c.c_int32),
        ("momentum", _c.c_int32 * 3),
        ("position", _c.c_int32 * 4),
        ("boundary_time", _c.c_int32),
    ]
    _enums_ = {"boundary_time": plaq_boundary_time}
    _init_ = "plaq_sequential_params_init"


_plaq_sequential_params_init = _n.function("plaq_sequential_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_sequential_params_init(params: plaq_sequential_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_sequential_params_init, _n.struct(plaq_sequential_params, params, "params"), _n.int64(struct_size, "struct_size"))


_plaq_spinor_source = _n.function("plaq_spinor_source", _c.c_int32, [plaq_spinor, _c.c_void_p])


def plaq_spinor_source(spinor: Any, source: Optional[plaq_source_params] = None) -> None:
    """Sets right-hand side k of a field on the full lattice, in any precision, to column first + k of a source,
    for all right-hand sides of the field. Errors: INVALID_ARGUMENT, FIELD_MISMATCH for more right-hand sides
    than plaq_source_columns.
    """
    _n.call(_plaq_spinor_source, _n.handle(plaq_spinor, spinor, "spinor"), _n.struct(plaq_source_params, source, "source"))


_plaq_source_columns = _n.function("plaq_source_columns", _c.c_int32, [_c.c_void_p, _c.c_void_p])


def plaq_source_columns(source: Optional[plaq_source_params] = None) -> int:
    """Gives the number of columns of a source from `first` on, at most `count`: without noise 12, for all spins
    and colours.
    """
    columns_ = _c.c_int64()
    _n.call(_plaq_source_columns, _n.struct(plaq_source_params, source, "source"), _c.byref(columns_))
    return columns_.value


_plaq_spinor_sequential = _n.function("plaq_spinor_sequential", _c.c_int32, [plaq_spinor, plaq_spinor, _c.c_void_p])


def plaq_spinor_sequential(from_: Any, to: Any, params: Optional[plaq_sequential_params] = None) -> None:
    """Sets `to` to delta(t, time) exp(i p (x - x0)) Gamma from, for every right-hand side, with the time counted
    from the source: this makes from a solution the source of a second solve (plaq_solver_propagator_from).
    Fields are in single or double precision. A field that does not know its source's time needs `position`,
    but for all time slices. Errors: INVALID_ARGUMENT, FIELD_MISMATCH, UNSUPPORTED.
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
    """Makes a field of as many right-hand sides as the source has columns, S(x, source), by a solver for
    PLAQ_SOLUTION_M, which solves for as many columns at a time as its parameter `columns` says. The report
    covers all solves: the largest number of iterations; sums of time, work, updates and restarts. The
    callback's iterations start from 0 with each solve, its seconds do not; once it has asked to stop, each
    remaining solve ends after one iteration. `residuals`: NULL, or room for a number for each column of the
    source.
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
    """Makes a propagator from sources in a field on the full lattice, in the operator's precision: smeared or
    sequential ones, or those of another code. If the field does not record the position of its source
    (plaq_spinor_origin), that is determined as in plaq_spinor_support. `residuals`: NULL, or room for a
    number for each right-hand side.
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
    """Contracts zero-momentum correlators of a propagator over t, the time from `source_time`, in `times` steps,
    the extent of the lattice. `boundary`: the fermions' boundary phase in time in units of pi (1:
    antiperiodic). Each array is NULL or has room: pion times, rho 3 times (x, then y, then z), nucleon 2
    times (re, im).
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
    """Computes effective masses from a correlator of `times` numbers; NaN where the formula has no solution.
    Arrays: correlator[times], masses[times].
    """
    _n.call(_plaq_correlator_effective_mass, _n.array(_c.c_double, correlator, "correlator", times), _n.int64(times, "times"), _n.enum(plaq_mass_form, form, "form"), _n.room(_c.c_double, masses, "masses", times))


_plaq_correlator_outward_mass = _n.function("plaq_correlator_outward_mass", _c.c_int32, [_c.c_void_p, _c.c_int64, _c.c_int64, _c.c_int32, _c.c_void_p])


def plaq_correlator_outward_mass(
        correlator: Any,
        times: int,
        source_time: int,
        boundary_time: Union[int, str, plaq_boundary_time],
        masses: Any,
) -> None:
    """Computes effective masses between boundaries in time: ln of C over C one slice farther from the source,
    which is on slice `source_time`; NaN where one of the two slices is a boundary or there is no logarithm.
    `correlator`: a number for each of the `times` stored slices, from that of the source on, those before it
    at the end. Errors: INVALID_ARGUMENT, UNSUPPORTED for PLAQ_BOUNDARY_TIME_PERIODIC.
    Arrays: correlator[times], masses[times].
    """
    _n.call(_plaq_correlator_outward_mass, _n.array(_c.c_double, correlator, "correlator", times), _n.int64(times, "times"), _n.int64(source_time, "source_time"), _n.enum(plaq_boundary_time, boundary_time, "boundary_time"), _n.room(_c.c_double, masses, "masses", times))


# ---- Contractions ----


class plaq_projection(Enum):
    """Projections of the free spin indices of a baryon's correlator C, with P = (1 + parity gamma_t) / 2."""
    #: tr P C; for the decuplet averaged over i = x, y, z.
    TRACE = 0
    #: Spin 3/2 of the decuplet at rest: 1/3 times the sum over i, j of tr P (delta_ij - gamma_i gamma_j / 3)
    #: C_ji.
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


class plaq_diquark(Enum):
    """Matrices Gamma of two quarks in interpolators eps_abc (q1_a^T Gamma q2_b) q3_c of baryons; C = gamma_y gamma_t."""
    #: C gamma5, of the octet.
    C5 = 0
    #: C gamma_t gamma5.
    CT5 = 1
    #: C gamma_z gamma5.
    CZ5 = 2
    #: C gamma_x, of the decuplet.
    CX = 3
    #: C gamma_y, of the decuplet.
    CY = 4
    #: C gamma_z, of the decuplet.
    CZ = 5


class plaq_projector(Enum):
    """Projectors P of the free spin of a baryon, for tr P C."""
    #: (1 + parity gamma_t) / 2.
    UNPOLARISED = 0
    #: The unpolarised one times -i gamma_y gamma_z, twice the spin along x.
    X = 1
    #: The unpolarised projector times -i gamma_z gamma_x.
    Y = 2
    #: The unpolarised projector times -i gamma_x gamma_y.
    Z = 3


class plaq_contract_params(Struct):
    """Parameters for contractions of propagators.

    Members:
      position: Position x, y, z, t of the source: times are counted from its t, and phases of momenta are 1 at its x,
        y, z. -1: the position that the propagators record (plaq_spinor_origin); if they do not, contractions
        that need it are refused. 0 or more. Default: -1, -1, -1, -1.
      boundary: Boundary phase in time, in units of pi (1: antiperiodic), for propagators that do not record theirs.
        At times before the source's every quark propagator has this phase, which is divided out.
        Default: 1.
      parity: Parity of baryons that propagate forward in time, 1 or -1. Default: 1.
      projection: Projection of the spins of baryons. Default: PLAQ_PROJECTION_TRACE.
      boundary_space: Boundary phases in x, y, z, in units of pi, for propagators that do not record theirs; used by
        operators that shift quarks across the lattice's end. Where the phases of a hadron's quarks, those of
        antiquarks with the opposite sign, have a sum s in x, y or z other than a multiple of 2, the hadron has
        the momenta p_i = (2 pi n_i + pi s_i) / L_i, s_i above -1 and at most 1 by adding a multiple of 2, and
        sums over the sites x of the lattice are taken with these. Default: 0, 0, 0.
      projector: Projector of the spins of baryons, with `parity`. Default: PLAQ_PROJECTOR_UNPOLARISED.
      flavour_changing: True: the operator between two quarks may change the flavour, so that their masses and twisted masses may
        differ. 0 or 1. Default: 0.
      next_boundary_space: Boundary phases in x, y, z, in units of pi, of the quark that continues from a sequential source through
        the sink of a meson or through an operator; NaN: those of the propagator. Where they differ the momentum
        is shifted as that of a hadron. Default: NaN, NaN, NaN.
    """
    struct_size: int
    position: Any
    boundary: float
    parity: int
    projection: Any
    boundary_space: Any
    projector: Any
    flavour_changing: int
    next_boundary_space: Any
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("position", _c.c_int32 * 4),
        ("boundary", _c.c_double),
        ("parity", _c.c_int32),
        ("projection", _c.c_int32),
        ("boundary_space", _c.c_double * 3),
        ("projector", _c.c_int32),
        ("flavour_changing", _c.c_int32),
        ("next_boundary_space", _c.c_double * 3),
    ]
    _enums_ = {"projection": plaq_projection, "projector": plaq_projector}
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
    qbar' Gamma_A q at (x, t0 + t) with the adjoint of qbar' Gamma_B q at the source, with signs such that for
    A = B, with antiperiodic fermions, it is positive on average. `quark` and `antiquark` (zero handle: the
    same) are propagators, each with its mass: twelve columns 3 spin + colour, or four of noise diluted in
    spin. `gammas`: `pairs` pairs (A at the sink, B at the source) of plaq_gamma. `momenta`: three integers
    n_i for each, p_i = 2 pi n_i / L_i. `correlators`: complex numbers [momentum][pair][t]; `times` must be
    the extent of the lattice in time. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
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
    """Contracts correlators of `count` baryons of plaq_baryon. `strange` may be the zero handle for those without
    strange quarks. Both have twelve columns. `momenta` and `correlators` are those of mesons. Errors:
    INVALID_ARGUMENT, FIELD_MISMATCH.
    Arrays: baryons[count], momenta[3 * nmomenta], correlators[2 * times * count * nmomenta].
    """
    _n.call(_plaq_spinor_contract_baryons, _n.handle(plaq_spinor, light, "light"), _n.handle(plaq_spinor, strange, "strange"), _n.struct(plaq_contract_params, params, "params"), _n.array(_c.c_int32, baryons, "baryons", count), _n.int64(count, "count"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.int64(times, "times"), _n.room(_c.c_double, correlators, "correlators", 2 * times * count * nmomenta))


_plaq_diquark_matrix = _n.function("plaq_diquark_matrix", _c.c_int32, [_c.c_int32, _c.c_void_p])


def plaq_diquark_matrix(diquark: Union[int, str, plaq_diquark], matrix: Any) -> None:
    """Gives the matrix of two quarks in an interpolator, 16 (re, im) row by row.
    Arrays: matrix[32].
    """
    _n.call(_plaq_diquark_matrix, _n.enum(plaq_diquark, diquark, "diquark"), _n.room(_c.c_double, matrix, "matrix", 32))


_plaq_projector_matrix = _n.function("plaq_projector_matrix", _c.c_int32, [_c.c_int32, _c.c_int32, _c.c_void_p])


def plaq_projector_matrix(projector: Union[int, str, plaq_projector], parity: int, matrix: Any) -> None:
    """Gives the matrix of a spin projector for states of parity 1 or -1 forward in time, 16 (re, im) row by row.
    Errors: INVALID_ARGUMENT.
    Arrays: matrix[32].
    """
    _n.call(_plaq_projector_matrix, _n.enum(plaq_projector, projector, "projector"), _n.int32(parity, "parity"), _n.room(_c.c_double, matrix, "matrix", 32))


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
    """Contracts operators between two quark propagators: the sum over z of exp(i q (z - x0)) sum over columns of
    X(z)^dagger gamma5 Gamma [line] S(z). `forward` is S(z, x0), `back` the solution X of a sequential source
    (plaq_spinor_sequential_meson, -_baryon): X^dagger gamma5 is the propagator from z to the sink; M must be
    gamma5-hermitian. A line is a product of `lengths[i]` factors, 0 for a local operator; `steps` lists the
    factors of all lines one after the other: 0 to 3 shift q along a link forward in x, y, z, t, U_mu(z) q(z +
    mu), 7 - mu shifts it back, U_mu(z - mu)^dagger q(z - mu), and 8 + mu is the derivative (D - D')_mu / 2, D
    q = [U_mu(z) q(z + mu) - U_mu(z - mu)^dagger q(z - mu)] / 2 and qbar D' the same of qbar. The last factor
    acts first on q, the first on qbar. Steps across the end of the lattice are multiplied by the quark's
    boundary phase. With a zero handle for `gauge` all links are 1. Fields that record another kind than these,
    plaq_line_kind, are refused. A derivative across an end where the two
    quarks have different phases is refused. `momenta`: three integers n_i for each, q_i = 2 pi n_i / L_i.
    `correlators`: complex numbers [line][Gamma, all 16][momentum][t], with t the time from the source;
    `times` must be the extent of the lattice in time. Errors: INVALID_ARGUMENT, FIELD_MISMATCH,
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
    """Contracts the conserved vector current in the same way, V_mu(z) = [qbar(z + mu) (1 + gamma_mu)
    U_mu(z)^dagger q(z) - qbar(z) (1 - gamma_mu) U_mu(z) q(z + mu)] / 2 of Wilson's operator, with exp(i q
    (z - x0)) at z: [mu][momentum][t]. For anisotropic operators the weights of the hops are not included.
    Arrays: momenta[3 * nmomenta], correlators[8 * nmomenta * times].
    """
    _n.call(_plaq_spinor_contract_current, _n.handle(plaq_spinor, back, "back"), _n.handle(plaq_spinor, forward, "forward"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_contract_params, params, "params"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.int64(times, "times"), _n.room(_c.c_double, correlators, "correlators", 8 * nmomenta * times))


_plaq_spinor_contract_conserved = _n.function("plaq_spinor_contract_conserved", _c.c_int32, [plaq_spinor, plaq_spinor, plaq_gauge, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_int64, _c.c_void_p])


def plaq_spinor_contract_conserved(
        quark: Any,
        antiquark: Any,
        gauge: Any,
        params: Optional[plaq_contract_params],
        gammas: Any,
        count: int,
        momenta: Any,
        nmomenta: int,
        times: int,
        correlators: Any,
) -> None:
    """Contracts correlators of mesons with the conserved vector current at the sink, the sum over x of exp(-i p (x -
    x0)) <V_mu(x) (qbar' Gamma q)(x0)^dagger>, in the signs of plaq_spinor_contract_mesons, from propagators of a
    quark and an antiquark (zero handle: the same) of one mass on the links of `gauge`. `gammas`: `count` numbers
    of Gammas at the source. `correlators`: complex numbers [momentum][Gamma][mu][t]. Errors: INVALID_ARGUMENT,
    FIELD_MISMATCH, OUT_OF_MEMORY.
    Arrays: gammas[count], momenta[3 * nmomenta], correlators[8 * times * count * nmomenta].
    """
    _n.call(_plaq_spinor_contract_conserved, _n.handle(plaq_spinor, quark, "quark"), _n.handle(plaq_spinor, antiquark, "antiquark"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_contract_params, params, "params"), _n.array(_c.c_int32, gammas, "gammas", count), _n.int64(count, "count"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.int64(times, "times"), _n.room(_c.c_double, correlators, "correlators", 8 * times * count * nmomenta))


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
    """Contracts baryons eps_abc (q1_a^T Gamma q2_b) q3_c from three propagators with twelve columns, which may
    differ in mass, smearing or displacement (zero handle: the first one), with open spins: C_ss'(t) = sum_x
    exp(-i p (x - x0)) <O_s(x, t0 + t) Obar_s'(x0, t0)>, Obar = O^dagger gamma_t. Gamma is the matrix `sink`
    at the sink and `source` at the source, 16 (re, im) row by row. `correlators`: complex numbers
    [pairing][momentum][t][s][s']. A pairing gives the positions in the source's operator to which the quarks
    at positions 1, 2, 3 of the sink's operator are connected: 123, 213, 132, 321, 231, 312. All count with
    sign +, since colours are antisymmetric at both ends; the caller adds those that the flavours allow.
    Boundary phases at times beyond the lattice's end are divided out. Errors: INVALID_ARGUMENT,
    FIELD_MISMATCH.
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
    """Computes to = exp(i q (z - x0)) Gamma [path] from, on the time slice `time`, counted from the source, or
    with -1 on all: the source of the propagator that continues from an operator. `matrix`: Gamma as 16 (re,
    im), row by row; `steps` 0 to 7 as in plaq_spinor_contract_insertions. Any number of columns, in single or
    double precision. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
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
    """Computes the sequential source through the sink of a meson qbar' Gamma_A q with the adjoint of qbar'
    Gamma_B q at the source. `time` is that of the sink, counted from the source, and p the sink's momentum.
    From the propagator S' of the antiquark (given as that of a quark, smeared if the sink is) it makes to =
    -gamma5 Gamma_A^dagger gamma5 S' gamma5 gamma_t Gamma_B gamma_t exp(i p (x - x0)). If the sink is smeared,
    the result has to be smeared, too. With its solution X plaq_spinor_contract_insertions gives <O_A(x) J
    O_B(x0)^dagger>, where J acts on q, with exp(-i p (x - x0)), in the sign of plaq_contract_mesons. For a
    sink beyond the end of the lattice in time, the result records the antiquark's boundary phase, and
    contractions of X take this and that of q out. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
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
    """Creates the sequential source through the sink of a baryon, for a sum of `terms` contractions of
    plaq_spinor_contract_quarks. Each contraction has a number 0 to 5 in `pairings`, in the order given there,
    a slot 0, 1 or 2 of the sink in `slots`, on whose quark the operator acts, and a weight. `projector` is
    the matrix P in tr[P C]. If the sink is smeared, the result has to be smeared, too. With its solution X
    plaq_spinor_contract_insertions gives sum_x exp(-i p (x - x0)) tr[P <O(x, t0 + time) J Obar(x0, t0)>]. For
    the nucleon with quarks u d u, an operator on u takes pairings 0 and 3, each with slots 0 and 2; an
    operator on d takes the same pairings with slot 1. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
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
    """Computes gluon operators, pairs of field strengths connected by adjoint Wilson lines: the sum over x of
    exp(-i p x) tr[F_a(x) W F_b(x + d) W^dagger], where W is the product of links along the first n of
    `nsteps` steps (0 to 3 forward in x, y, z, t, 7 - mu back) from x to x + d, and F = (Q - Q^dagger) / 8 the
    sum of the four clover leaves without its trace. `correlators`: complex numbers [n][plane a][plane
    b][momentum][t] for n = 0 to
    `nsteps` (`places` = nsteps + 1 values), with planes in the order xy, xz, yz, xt, yt, zt, and t and x of
    F_a counted from the lattice's origin. The links of `gauge` may have been flowed. Errors:
    INVALID_ARGUMENT, UNSUPPORTED, OUT_OF_MEMORY.
    Arrays: steps[nsteps], momenta[3 * nmomenta], correlators[72 * places * nmomenta * times].
    """
    _n.call(_plaq_gauge_gluon_pairs, _n.handle(plaq_gauge, gauge, "gauge"), _n.array(_c.c_int32, steps, "steps", nsteps), _n.int64(nsteps, "nsteps"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.int64(places, "places"), _n.int64(times, "times"), _n.room(_c.c_double, correlators, "correlators", 72 * places * nmomenta * times))


# ---- Quark loops ----


class plaq_loops_kind(Enum):
    """Ways of contracting noise eta with solutions into loops; S = M^-1."""
    #: eta^dagger Gamma S eta: the loops of S.
    PLAIN = 0
    #: (S eta)^dagger gamma5 Gamma S eta: the loops of S(mu) gamma5 S(-mu) with twisted mass mu (Boucaud et al.,
    #: Comput. Phys. Commun. 179, 695), so with the factor -2 i mu those of S(mu) - S(-mu).
    ONE_END = 1
    #: (S' gamma5 eta)^dagger gamma5 Gamma S eta: the loops of S S' with another operator, so with the factor
    #: m' - m those of S - S' of two masses (Giusti et al., Eur. Phys. J. C 79, 586). S' is gamma5-hermitian.
    DIFFERENCE = 2


class plaq_loops_params(Struct):
    """Parameters of the noise for loops.

    Members:
      kind: Estimator: how noise and solutions are contracted, by one-end tricks or without.
        Default: PLAQ_LOOPS_PLAIN.
      noise: Numbers from which noise at all sites is drawn. Default: PLAQ_NOISE_Z4.
      seed: Seed of the noise; the noise is the same on any number of ranks. Default: 0.
      first: Number of the first noise vector; a later one continues an earlier estimate.
        0 to 1048576. Default: 0.
      vectors: Number of noise vectors. 1 to 1048576. Default: 1.
      dilute: Indices in which noise is diluted, any of PLAQ_DILUTE_SPIN, PLAQ_DILUTE_COLOUR, PLAQ_DILUTE_PARITY and
        PLAQ_DILUTE_TIME together; contributions of the parts are added. Default: 0.
      time_parts: Number of parts of the time slices with PLAQ_DILUTE_TIME, else 0. 0 to 1048576.
        Default: 0.
      probes: Hierarchical probing: number of plane waves by which each noise vector is multiplied, 1 (none) to the
        number of sites; the estimate is the mean over them. Complete levels work best: for extents divisible by 4
        they are 2, 16, 32, 256. 1 or more. Default: 1.
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
    """Estimates quark loops by noise: for each noise vector sum_x exp(-i p x) tr[Gamma line M^-1(end, x)], without
    the minus sign of the fermion loop, for each time t of the lattice, with x counted from the lattice's
    origin. Lines, momenta and `gauge` are those of plaq_spinor_contract_insertions; M and its boundary phase
    are those of `solver`, for PLAQ_SOLUTION_M; `other`: the solver of the other quark of PLAQ_LOOPS_DIFFERENCE.
    `estimates`: (re, im) of [vector][line][Gamma, all 16][momentum][t]; `currents`, or NULL: the loops of the
    conserved current of plaq_spinor_contract_current, [vector][mu][momentum][t]. Columns are contracted right
    after they are solved. The callback is that of solves; if it ends the work, `finished` vectors are complete
    and the others 0. Errors: INVALID_ARGUMENT, UNSUPPORTED, those of plaq_solver_solve.
    Arrays: lengths[lines], steps[nsteps], momenta[3 * nmomenta], estimates[32 * vectors * lines * nmomenta * times], currents[8 * vectors * nmomenta * times].
    """
    finished_ = _c.c_int64()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_solver_loops, callback_, (), _n.handle(plaq_solver, solver, "solver"), _n.handle(plaq_solver, other, "other"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_loops_params, params, "params"), _n.array(_c.c_int32, lengths, "lengths", lines), _n.int64(lines, "lines"), _n.array(_c.c_int32, steps, "steps", nsteps), _n.int64(nsteps, "nsteps"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.int64(vectors, "vectors"), _n.int64(times, "times"), callback_.c, None, _n.room(_c.c_double, estimates, "estimates", 32 * vectors * lines * nmomenta * times), _n.room(_c.c_double, currents, "currents", 8 * vectors * nmomenta * times, optional=True), _c.byref(finished_), _n.struct(plaq_solve_report, report, "report"))
    return finished_.value


_plaq_source_probe = _n.function("plaq_source_probe", _c.c_int32, [_c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_source_probe(extents: Any, number: int, wave: Any) -> None:
    """Gives wave number `number` of hierarchical probing on a lattice of these extents, which must be even, as
    n_mu of exp(2 pi i sum_mu n_mu x_mu / L_mu). Errors: INVALID_ARGUMENT.
    Arrays: extents[4], wave[4].
    """
    _n.call(_plaq_source_probe, _n.array(_c.c_int32, extents, "extents", 4), _n.int64(number, "number"), _n.room(_c.c_int32, wave, "wave", 4))


# ---- Reweighting factors ----


class plaq_reweighting_kind(Enum):
    """Reweighting factors, with X = M^dagger M of the quark's operator M."""
    #: det X / (X + mu^2): openQCD's RWTM1, and RWTM1_EO of an asymmetric system.
    TWISTED_MASS_1 = 0
    #: det X (X + 2 mu^2) / (X + mu^2)^2: openQCD's RWTM2, and RWTM2_EO of an asymmetric system.
    TWISTED_MASS_2 = 1
    #: det X^(1/2) r(X)^n of a rational function r about x^(-1/2 n): openQCD's RWRAT.
    RATIONAL = 2


class plaq_reweighting_params(Struct):
    """Parameters of reweighting factors and of the noise that estimates them.

    Members:
      kind: Kind of the factor. Default: PLAQ_REWEIGHTING_TWISTED_MASS_1.
      system: Full lattice, or parity and form of the Schur complement, whose operator is M. Twisted masses:
        PLAQ_SYSTEM_FULL, or an asymmetric system with the twisted mass on its own parity only. Rational
        functions: the system of the chain, which is PLAQ_SYSTEM_EVEN_SYMMETRIC by default in plaq, and
        PLAQ_SYSTEM_EVEN_ASYMMETRIC in openQCD. Default: PLAQ_SYSTEM_FULL.
      vectors: Number of noise vectors for each factor. 1 to 1048576. Default: 1.
      first: Number of the first noise vector: others make independent estimates. 0 to 1048576.
        Default: 0.
      seed: Seed of the noise; the noise is the same on any number of ranks. Default: 0.
      low: Lower end of the interval of the rational function, as in the chain: for M^dagger M in the solver's
        normalisation. openQCD gives the ends for |D|; their squares belong here. 0: not given.
        Default: 0.
      high: Upper end of the interval of the rational function. Default: 0.
      poles: Number of poles of the rational function; 0: as few as reach `error`. 0 to 40.
        Default: 0.
      fields: Number n of pseudofermion fields of the chain, each of which represents the n-th root of the determinant.
        1 to 64. Default: 1.
      error: Relative error of the rational function, if `poles` is 0; in the chain it is error_hamiltonian.
        A number above 0, to 1. Default: 1e-12.
      shifts: Number of the least shifts of the rational function that multigrid solves, where the solver has it; the
        others take CG together. openQCD divides the poles into parts of np poles with a solver each: the sum of
        np over those with DFL_SAP_GCR. 0 to 40. Default: 3.
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
    shifts: int
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
        ("shifts", _c.c_int64),
    ]
    _enums_ = {"kind": plaq_reweighting_kind, "system": plaq_system}
    _init_ = "plaq_reweighting_params_init"


_plaq_reweighting_params_init = _n.function("plaq_reweighting_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_reweighting_params_init(params: plaq_reweighting_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_reweighting_params_init, _n.struct(plaq_reweighting_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_reweighting_report(Struct):
    """Report of a reweighting: the product over factors of their averages over noise vectors.

    Members:
      ln: Logarithm of the product.
      error: Relative error of the product, from the scatter over noise vectors; infinite for a single vector.
      iterations: Number of iterations of all solves.
      seconds: Seconds that the estimates took.
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
    """Estimates reweighting factors by normal noise: for each twisted mass mu_k, 0 < mu_1 < mu_2 < ..., the
    factor from mu_k-1 to mu_k (mu_0 = 0), so that their product is the factor of the last mass; for a
    rational function, without mu (`nmu` = 0), one factor. `minus_ln`: -ln of the estimate, [factor][vector];
    a factor is the average of exp(-minus_ln) over vectors. `norms`: square norms of the noise vectors in the
    same order, or NULL. `numbers`: number of factors times params.vectors. Solves have the settings of
    `solver`; those with twisted masses use its algorithm, those for poles CG. The callback is that of solves;
    if it ends one the call fails with NOT_CONVERGED. Errors: INVALID_ARGUMENT, BAD_PARAMETER, UNSUPPORTED,
    NOT_CONVERGED, SPECTRAL_BOUNDS (eigenvalues outside of the rational function's interval), those of
    plaq_solver_solve.
    Arrays: mu[nmu], minus_ln[numbers], norms[numbers].
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_solver_reweighting, callback_, (), _n.handle(plaq_solver, solver, "solver"), _n.struct(plaq_reweighting_params, params, "params"), _n.array(_c.c_double, mu, "mu", nmu), _n.int64(nmu, "nmu"), callback_.c, None, _n.room(_c.c_double, minus_ln, "minus_ln", numbers), _n.room(_c.c_double, norms, "norms", numbers, optional=True), _n.int64(numbers, "numbers"), _n.struct(plaq_reweighting_report, report, "report"))


# ---- Schroedinger functional ----


class plaq_boundary_end(Enum):
    """Boundaries of the Schroedinger functional."""
    #: The boundary at slice 0.
    LOWER = 0
    #: The boundary at slice T, the one after the last stored slice.
    UPPER = 1


_plaq_solver_boundary_propagator = _n.function("plaq_solver_boundary_propagator", _c.c_int32, [plaq_solver, _c.c_int32, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_solver_boundary_propagator(
        solver: Any,
        end: Union[int, str, plaq_boundary_end],
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_solve_report] = None,
) -> plaq_spinor:
    """Makes the boundary-to-bulk propagator of a boundary with fixed links: H(x) = cF sum_y D^-1(x, y) U(y - t,
    t)^dagger P with y on slice 1 for the lower boundary, P = (1 + gamma_t) / 2, or H(x) = cF' sum_y D^-1(x,
    y) U(y, t) P with y on slice T - 1 for the upper one, P = (1 - gamma_t) / 2. It has twelve right-hand
    sides, 3 spin + colour of the boundary field, of which six are solved for. D is mass-normalised, whatever
    the solver's normalisation; boundary fields have momentum zero, which with spatial boundary phases is
    exp(i theta x / L). The solver must be one for PLAQ_SOLUTION_M. Errors: UNSUPPORTED (other boundaries or
    operators), those of plaq_solver_propagator.
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
    """Computes the correlators of boundary fields for slices x0 from 0 to `times` - 1, averaged over space, with
    the H of plaq_solver_boundary_propagator: f_A = -1/2 tr H^dagger gamma_t H and f_P = 1/2 tr H^dagger H of
    the lower end, g_A = 1/2 tr H^dagger gamma_t H and g_P of the upper one, and `f1` = 1/2 tr K^dagger K, K =
    cF' sum_x P U(x, t)^dagger H(x) / L^3 on the last slice. Each array may be NULL. For
    PLAQ_BOUNDARY_TIME_OPEN_SF correlators of the lower boundary are NaN. `times`: the extent of t. The report
    is that of all solves. Errors: those of plaq_solver_boundary_propagator.
    Arrays: f_a[times], f_p[times], g_a[times], g_p[times], f1[1].
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_solver_boundary_correlators, callback_, (), _n.handle(plaq_solver, solver, "solver"), callback_.c, None, _n.int64(times, "times"), _n.room(_c.c_double, f_a, "f_a", times, optional=True), _n.room(_c.c_double, f_p, "f_p", times, optional=True), _n.room(_c.c_double, g_a, "g_a", times, optional=True), _n.room(_c.c_double, g_p, "g_p", times, optional=True), _n.room(_c.c_double, f1, "f1", 1, optional=True), _n.struct(plaq_solve_report, report, "report"))


# ---- Propagators in files ----


class plaq_propagator_kind(Enum):
    """Kinds of propagator files: SciDAC files in LIME, with checksums, in the layout of QIO."""
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
      kind: Kind of the file; 0: with sources PLAQ_PROPAGATOR_SCALAR_SOURCE if they have that form, else
        PLAQ_PROPAGATOR_PAIRS; without sources PLAQ_PROPAGATOR_MATRIX. Default: 0.
      precision: Precision of the numbers, PLAQ_PRECISION_DOUBLE or PLAQ_PRECISION_SINGLE; 0: double for fields in
        double, else single. Default: 0.
      info: A text for human readers, stored in every record: NULL or NUL-terminated UTF-8.
        Default: NULL.
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
      extents: Extents that the whole lattice of the file must have; all 0: any. Default: 0, 0, 0, 0.
      precision: Precision of the field; 0: that of the file. Default: 0.
      wrong_checksum: 1: a file is read even if a checksum in it is wrong; where the call reports `warnings`, they say so. For
        files that were changed after they were written and are known to be good. 0 or 1.
        Default: 0.
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
    """Writes a propagator, every rank its part; the file appears complete or not at all. `sources`: the sources
    for which it was solved, as many columns, or the zero handle. The records contain what plaq_spinor_origin
    knows of the propagator; unknown coordinates of the source are determined from `sources`. Errors:
    FILE_WRITE, INVALID_ARGUMENT, FIELD_MISMATCH.
    """
    _n.call(_plaq_spinor_write, _n.handle(plaq_spinor, propagator, "propagator"), _n.handle(plaq_spinor, sources, "sources"), _n.encoded(file, "file"), _n.struct(plaq_spinor_write_params, params, "params"))


_plaq_spinor_read = _n.function("plaq_spinor_read", _c.c_int32, [plaq_context, _c.c_char_p, _c.c_void_p, _c.c_void_p])


def plaq_spinor_read(context: Any, file: Any, params: Optional[plaq_spinor_read_params] = None) -> plaq_spinor:
    """Makes a field from a file of any of these kinds, written on any number of ranks: twelve columns 3 spin +
    colour if the file says which they are, else in its order. Checksums are compared. plaq_spinor_origin then
    gives the source and operator as described in the records (also those of Chroma) or determined from
    sources in the file. Errors: BAD_PARAMETER, FILE_OPEN, FILE_FORMAT, FILE_EXTENTS, FILE_TRUNCATED,
    FILE_CHECKSUM, NOT_FINITE, BAD_EXTENTS, OUT_OF_MEMORY.
    """
    propagator_ = plaq_spinor()
    _n.call(_plaq_spinor_read, _n.handle(plaq_context, context, "context"), _n.encoded(file, "file"), _n.struct(plaq_spinor_read_params, params, "params"), _c.byref(propagator_))
    return propagator_


# ---- Eigenvectors of A: of M where it is hermitian, a Laplacian, else of M^dagger M ----


class plaq_eigen(Handle):
    """Eigenvectors with their eigenvalues."""


class plaq_eigen_end(Enum):
    """The end of the spectrum at which eigenvalues are searched for."""
    #: The smallest eigenvalues.
    SMALLEST = 0
    #: The largest eigenvalues.
    LARGEST = 1


class plaq_eigen_method(Enum):
    """Algorithms that find eigenvectors."""
    #: Block Lanczos with thick restarts and Chebyshev polynomials.
    LANCZOS = 0
    #: Minimisation of the Ritz functional by locally optimal conjugate gradients.
    RITZ = 1


class plaq_eigen_params(Struct):
    """Parameters of a search for eigenvectors of A, where A = M if M is hermitian, as for a Laplacian, and A =
    M^dagger M otherwise.

    Members:
      method: Algorithm of the search. Default: PLAQ_EIGEN_LANCZOS.
      end: End of the spectrum at which eigenvectors are searched for.
        Default: PLAQ_EIGEN_SMALLEST.
      system: The operator M: on the whole lattice, or a Schur complement. Default: PLAQ_SYSTEM_FULL.
      count: Number of wanted eigenvectors, at most the number of unknowns. If they are a large part of the space of a
        small operator, it is diagonalised completely. 1 or more. Default: 8.
      max_vectors: Largest number of vectors that are kept, at least `count` + 2 `block`; 0: about twice `count`.
        0 or more. Default: 0.
      block: Number of vectors that are multiplied by A together. 1 or more. Default: 1.
      max_restarts: Largest number of restarts of Lanczos, or of cycles of the Ritz functional.
        1 to 1000000. Default: 200.
      verify: True: after the search others, from random vectors orthogonal to the results, look for eigenvectors that
        were missed, until they find none; false: `converged` does not tell whether eigenvalues are missing. With
        true a `tol` above 1e-3 is taken as 1e-3. 0 or 1. Default: 1.
      tol: Largest |A v - lambda v| over the largest eigenvalue, from 1e-16, in single precision 1e-8;
        0: 1e-10, in single precision 1e-6. Default: 0.
      degree: Degree of the Chebyshev polynomial; 0: chosen by the spectrum; 1: no polynomial.
        0 to 100000. Default: 0.
      time_slices: True, for operators without hops in t, e.g. the Laplacian of colour vectors in x, y and z: the `count`
        smallest eigenvalues are found for each time slice separately. Vector k holds eigenvector k of every
        slice, each normalised to 1, and values are [t][k]. Only the parameters `tol`, `max_restarts`, `verify`,
        `seed` and `max_seconds` are used besides. 0 or 1. Default: 0.
      from_: Lower end of the interval on which the polynomial is small, which should contain the unwanted eigenvalues,
        in the operator's normalisation. The interval is replaced if wanted eigenvalues turn out to lie in it.
        Default: 0.
      to: Upper end of the interval on which the polynomial is small. Default: 0.
      seed: Seed of the random vectors with which searches start. Default: 1.
      max_seconds: Largest number of seconds for the search; 0: no limit. The time is checked after every block, for the Ritz
        functional after every step of the minimisation; all ranks stop after the same one.
        Default: 0.
      vectors: Memory for the vectors of Lanczos, during the search and for its results.
        Default: PLAQ_VECTORS_AUTO.
      min_vectors: Least number of vectors that are kept on the device before some are moved to the host; 0: 1.25 times
        `count`, at least 16 or 4 `block`. 0 or more. Default: 0.
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
      converged: 1: every vector meets the tolerance and, with `verify`, no eigenvalue was missed.
      verified: 1: no eigenvalue was missed, as shown by a search from random vectors orthogonal to the results, or because
        the operator was diagonalised completely. 0: not asked for, or ended by a limit.
      stopped: 1: the callback or `max_seconds` ended the search; the results are those known by then.
      stopped_by: The criterion that ended the search; PLAQ_STOPPED_BY_ITERATIONS: `max_restarts`.
      restarts: Number of restarts of the search.
      count: Number of eigenvectors; of those of time slices the number on each slice.
      largest: Estimate of the largest eigenvalue, from above.
      applications: Number of multiplications of a vector by the operator.
      seconds: Seconds that the search took.
      degree: Degree of the last polynomial; 1: no polynomial was used.
      max_vectors: Largest number of vectors that the search kept; 0 if Lanczos was not used.
      on_device: Number of vectors of the search on the device; the others were in the host's memory.
      from_: Lower end of the interval on which the last polynomial is small.
      to: Upper end of the interval on which the last polynomial is small.
      least: Estimate of the smallest eigenvalue, from below.
    """
    struct_size: int
    converged: int
    verified: int
    stopped: int
    stopped_by: Any
    restarts: int
    count: int
    largest: float
    applications: int
    seconds: float
    degree: int
    max_vectors: int
    on_device: int
    from_: float
    to: float
    least: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("converged", _c.c_int32),
        ("verified", _c.c_int32),
        ("stopped", _c.c_int32),
        ("stopped_by", _c.c_int32),
        ("restarts", _c.c_int32),
        ("count", _c.c_int32),
        ("largest", _c.c_double),
        ("applications", _c.c_int64),
        ("seconds", _c.c_double),
        ("degree", _c.c_int32),
        ("max_vectors", _c.c_int32),
        ("on_device", _c.c_int32),
        ("from_", _c.c_double),
        ("to", _c.c_double),
        ("least", _c.c_double),
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
    """Finds eigenvectors. `guess`: approximate eigenvectors, for example saved ones, or the zero handle. The
    callback is called after every restart and every block, and some ten times a second between, with the
    largest residual known. A search that has not converged is not an error. Errors: BAD_PARAMETER, UNSUPPORTED (16-bit vectors), FIELD_MISMATCH,
    NOT_FINITE, OUT_OF_MEMORY.
    """
    eigen_ = plaq_eigen()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_eigen_create, callback_, (eigen_,), _n.handle(plaq_dirac, dirac, "dirac"), _n.struct(plaq_eigen_params, params, "params"), _n.handle(plaq_spinor, guess, "guess"), callback_.c, None, _c.byref(eigen_), _n.struct(plaq_eigen_report, report, "report"))
    return eigen_


_plaq_eigen_write = _n.function("plaq_eigen_write", _c.c_int32, [plaq_eigen, _c.c_char_p])


def plaq_eigen_write(eigen: Any, file: Any) -> None:
    """Writes eigenvectors to a file: SciDAC records in LIME with checksums, with values, residuals and bounds.
    The file appears complete or not at all. Errors: UNSUPPORTED: vectors on one parity; FILE_WRITE.
    """
    _n.call(_plaq_eigen_write, _n.handle(plaq_eigen, eigen, "eigen"), _n.encoded(file, "file"))


_plaq_eigen_read = _n.function("plaq_eigen_read", _c.c_int32, [plaq_dirac, _c.c_char_p, _c.c_void_p, _c.c_void_p])


def plaq_eigen_read(dirac: Any, file: Any, report: Optional[plaq_eigen_report] = None) -> plaq_eigen:
    """Reads eigenvectors of this operator from a file of plaq_eigen_write; values and residuals are computed
    again with the operator. Errors: FIELD_MISMATCH: they belong to other links or another operator; FILE_*.
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
    """Gives eigenvalues of A in the operator's normalisation, from the end of the spectrum inwards, residuals |A
    v - lambda v|, and bounds on the error of the values. `count`: as in the report; with `time_slices` times
    the extent in t, ordered [t][k]. `residuals` and `bounds` may be NULL.
    Arrays: values[count], residuals[count], bounds[count].
    """
    _n.call(_plaq_eigen_values, _n.handle(plaq_eigen, eigen, "eigen"), _n.room(_c.c_double, values, "values", count), _n.room(_c.c_double, residuals, "residuals", count, optional=True), _n.room(_c.c_double, bounds, "bounds", count, optional=True), _n.int64(count, "count"))


_plaq_eigen_vectors = _n.function("plaq_eigen_vectors", _c.c_int32, [plaq_eigen, _c.c_void_p])


def plaq_eigen_vectors(eigen: Any) -> plaq_spinor:
    """Makes a field that holds all eigenvectors, orthonormal, one in each right-hand side."""
    vectors_ = plaq_spinor()
    _n.call(_plaq_eigen_vectors, _n.handle(plaq_eigen, eigen, "eigen"), _c.byref(vectors_))
    return vectors_


_plaq_eigen_some_vectors = _n.function("plaq_eigen_some_vectors", _c.c_int32, [plaq_eigen, _c.c_int64, _c.c_int64, _c.c_void_p])


def plaq_eigen_some_vectors(eigen: Any, first: int, count: int) -> plaq_spinor:
    """Makes a field with `count` eigenvectors from number `first` on, for sets that do not fit on the device."""
    vectors_ = plaq_spinor()
    _n.call(_plaq_eigen_some_vectors, _n.handle(plaq_eigen, eigen, "eigen"), _n.int64(first, "first"), _n.int64(count, "count"), _c.byref(vectors_))
    return vectors_


# ---- Low modes, and loops part by part ----


class plaq_space(Handle):
    """Spaces of low modes of a solver's operator M, each with an approximate inverse L = P D_c^-1 R, D_c = R M
    P: levels of multigrid, or vectors. Level 0 is the lattice, larger numbers are coarser.
    """


class plaq_loops(Handle):
    """Quark loops as sums of parts, each with its own variance and cost."""


class plaq_loops_traces(Enum):
    """Methods for the traces of low modes."""
    #: Noise on each level; for the last level the exact trace if that costs less for the goals, judged after
    #: four noise vectors.
    AUTO = 0
    #: The exact trace of the last level, from its coordinate vectors; noise on the levels between.
    LAST = 1
    #: Noise estimates the traces on each level.
    NOISE = 2
    #: Exact traces of all coarse levels, from their coordinate vectors.
    EVERY = 3


class plaq_loops_term(Enum):
    """Kinds of the terms of which loops are the sum."""
    #: The difference of a level and the next one, or the last level itself, by noise on this level.
    NOISE = 0
    #: The difference of a level and the next one, or the last level itself, exactly: from all coordinate vectors.
    EXACT = 1
    #: The first terms of the hopping expansion, exactly.
    HOPPING = 2


class plaq_loop_sums_params(Struct):
    """Parameters that divide loops into parts.

    Members:
      traces: Estimator of the traces of low modes, by noise or exactly.
        Default: PLAQ_LOOPS_TRACES_AUTO.
      hopping: Number of terms of the hopping expansion, (A^-1 H)^k A^-1 with M = A - H, whose trace is taken exactly; 0:
        none. 0 to 16. Default: 0.
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
    """Goals at which a call that adds to loops ends: the first one that is reached. At least one of `error`,
    `seconds` and `vectors` must be set.

    Members:
      error: Error to reach: of the loop of the first line, Gamma number `gamma` and the first momentum on a time
        slice, as root mean square over time slices, of real and imaginary part together; 0: no goal.
        Default: 0.
      seconds: Seconds after which the call ends; 0: no limit. Default: 0.
      gamma: Number, 0 to 15, of the Gamma whose error counts. 0 to 15. Default: 0.
      vectors: Largest number of noise vectors of each part, those of earlier calls included; 0: no limit.
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


class plaq_loops_report(Struct):
    """Description of loops summed so far.

    Members:
      parts: Number of parts into which the loops are divided.
      reached: 1: the call reached the error that was asked for or, if none was, the number of vectors.
      stopped: 1: the callback ended the call.
      error: The error as defined in plaq_loop_goals; of plaq_loops_describe, which has no goals, that of Gamma number 0.
        Infinite before all parts have an estimate.
      seconds: Seconds that the call took.
      failed: Number of solves in all parts that did not converge.
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
    """Description of one part of loops.

    Members:
      term: The kind of term that the part estimates.
      level: The level whose noise or coordinate vectors are used.
      done: Number of noise vectors, or of columns of an exact trace, that have been summed.
      total: Number of columns of an exact trace; 0 for noise.
      solves: Number of columns solved for on the level.
      failed: Number of solves that did not converge.
      seconds: Seconds spent on this part.
      error: Error of this part as defined in plaq_loop_goals, with Gamma number 0 where there are no goals; 0 of what is
        exact, infinite before there are two noise vectors or all columns of an exact part.
    """
    struct_size: int
    term: Any
    level: int
    done: int
    total: int
    solves: int
    failed: int
    seconds: float
    error: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("term", _c.c_int32),
        ("level", _c.c_int32),
        ("done", _c.c_int64),
        ("total", _c.c_int64),
        ("solves", _c.c_int64),
        ("failed", _c.c_int64),
        ("seconds", _c.c_double),
        ("error", _c.c_double),
    ]
    _enums_ = {"term": plaq_loops_term}
    _init_ = "plaq_loops_part_report_init"


_plaq_loops_part_report_init = _n.function("plaq_loops_part_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_loops_part_report_init(report: plaq_loops_part_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_loops_part_report_init, _n.struct(plaq_loops_part_report, report, "report"), _n.int64(struct_size, "struct_size"))


class plaq_space_report(Struct):
    """Description of a level of spaces.

    Members:
      levels: Number of levels, the lattice not counted.
      extents: Extents of the level over all ranks; for vectors 1.
      unknowns: Dimension of the level's space over all ranks.
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


_plaq_space_create_multigrid = _n.function("plaq_space_create_multigrid", _c.c_int32, [plaq_solver, plaq_multigrid, _c.c_int32, _c.c_double, _c.c_void_p])


def plaq_space_create_multigrid(solver: Any, multigrid: Any, levels: int, tol: float) -> plaq_space:
    """Makes spaces of the first `levels` coarse levels of a hierarchy, 0: of all coarse levels that are
    distributed over all ranks. Coarse operators are made again in the precision of the solver's operator and
    solved to the relative residual `tol`, which must be well below the noise. Errors: INVALID_ARGUMENT (too
    many levels, `tol`), UNSUPPORTED (two flavours, half precision), FIELD_MISMATCH (a hierarchy of another
    lattice or configuration), STALE_MULTIGRID, OUT_OF_MEMORY.
    """
    space_ = plaq_space()
    _n.call(_plaq_space_create_multigrid, _n.handle(plaq_solver, solver, "solver"), _n.handle(plaq_multigrid, multigrid, "multigrid"), _n.int32(levels, "levels"), _n.real(tol, "tol"), _c.byref(space_))
    return space_


_plaq_space_memory = _n.function("plaq_space_memory", _c.c_int32, [plaq_solver, plaq_multigrid, _c.c_int32, _c.c_void_p])


def plaq_space_memory(solver: Any, multigrid: Any, levels: int) -> int:
    """Gives the largest number of bytes of device memory that making these spaces takes, and afterwards applying
    L to twelve columns. Errors: those of plaq_space_create_multigrid.
    """
    bytes_ = _c.c_int64()
    _n.call(_plaq_space_memory, _n.handle(plaq_solver, solver, "solver"), _n.handle(plaq_multigrid, multigrid, "multigrid"), _n.int32(levels, "levels"), _c.byref(bytes_))
    return bytes_.value


_plaq_space_create_eigen = _n.function("plaq_space_create_eigen", _c.c_int32, [plaq_solver, plaq_eigen, _c.c_void_p])


def plaq_space_create_eigen(solver: Any, eigen: Any) -> plaq_space:
    """Makes the space of eigenvectors V of the whole operator, with R = V^dagger gamma5. Errors: FIELD_MISMATCH
    (vectors of another lattice, configuration, precision or of one parity), INVALID_ARGUMENT, UNSUPPORTED, OUT_OF_MEMORY.
    """
    space_ = plaq_space()
    _n.call(_plaq_space_create_eigen, _n.handle(plaq_solver, solver, "solver"), _n.handle(plaq_eigen, eigen, "eigen"), _c.byref(space_))
    return space_


_plaq_space_destroy = _n.function("plaq_space_destroy", _c.c_int32, [plaq_space])


def plaq_space_destroy(space: Any) -> None:
    """Destroys spaces; loops made with them remain valid. The zero handle is accepted."""
    _n.call(_plaq_space_destroy, _n.handle(plaq_space, space, "space"))


_plaq_space_describe = _n.function("plaq_space_describe", _c.c_int32, [plaq_space, _c.c_int32, _c.c_void_p])


def plaq_space_describe(space: Any, level: int, report: Optional[plaq_space_report] = None) -> None:
    """Describes level number `level`, 1 or more."""
    _n.call(_plaq_space_describe, _n.handle(plaq_space, space, "space"), _n.int32(level, "level"), _n.struct(plaq_space_report, report, "report"))


_plaq_space_apply = _n.function("plaq_space_apply", _c.c_int32, [plaq_space, _c.c_int32, plaq_spinor, plaq_spinor])


def plaq_space_apply(space: Any, level: int, x: Any, b: Any) -> None:
    """Computes x = L b with the approximate inverse of a level; x and b are different fields on the full
    lattice, as the solver takes them. Errors: FIELD_MISMATCH, INVALID_ARGUMENT, NOT_CONVERGED,
    SOLVER_BREAKDOWN.
    """
    _n.call(_plaq_space_apply, _n.handle(plaq_space, space, "space"), _n.int32(level, "level"), _n.handle(plaq_spinor, x, "x"), _n.handle(plaq_spinor, b, "b"))


_plaq_space_propagator = _n.function("plaq_space_propagator", _c.c_int32, [plaq_space, _c.c_int32, _c.c_void_p, _c.c_void_p])


def plaq_space_propagator(space: Any, level: int, source: Optional[plaq_source_params] = None) -> plaq_spinor:
    """Makes the propagator L(x, source) of a level, with L instead of M^-1, with a right-hand side for each
    column of the source. Errors: those of plaq_space_apply.
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
    """Contracts mesons as plaq_spinor_contract_mesons does, with L instead of propagators, averaged exactly over
    all sites of the lattice as sources. With propagators S from some sources, C[S, S] - C[L, L] of these
    sources plus this average is less noisy than C[S, S] (low-mode averaging). The callback is called after
    each site of the level with the fraction that is left, and may end the call: NOT_CONVERGED. M is
    gamma5-hermitian. Errors: INVALID_ARGUMENT, NOT_CONVERGED, those of plaq_space_apply.
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
    """Makes loops as in plaq_solver_loops, with empty sums: Tr O M^-1 is Tr O (M^-1 - L_1) by noise, plus Tr O
    (L_1 - L_2) by noise of level 1, and so on, plus Tr O L of the last level; with
    `sums.hopping` = n every right side is multiplied by (A^-1 H)^n, M = A - H, and the terms of the hopping
    expansion before that are added exactly. This is an identity if solves are accurate: their residuals must
    be well below the noise. `vectors` of `params` is not used. Zero handle of `space`: no low modes. Errors:
    INVALID_ARGUMENT, UNSUPPORTED (hopping with other contractions than PLAQ_LOOPS_PLAIN), FIELD_MISMATCH. For
    PLAQ_LOOPS_ONE_END and PLAQ_LOOPS_DIFFERENCE low modes approximate the products of two inverses, with
    noise between them.
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
    """Adds to loops until a goal is reached, each time to the part whose error it lowers most for its cost,
    after four noise vectors for each part. The callback is that of solves; if it ends the call, completed
    vectors are kept, and a next call continues. Errors: those of plaq_solver_solve, FIELD_MISMATCH (links
    that have changed), INVALID_ARGUMENT (no goal).
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_loops_add, callback_, (), _n.handle(plaq_loops, loops, "loops"), _n.struct(plaq_loop_goals, goals, "goals"), callback_.c, None, _n.struct(plaq_loops_report, report, "report"))


_plaq_loops_describe = _n.function("plaq_loops_describe", _c.c_int32, [plaq_loops, _c.c_void_p])


def plaq_loops_describe(loops: Any, report: Optional[plaq_loops_report] = None) -> None:
    """Describes loops; numbers about a single call are 0."""
    _n.call(_plaq_loops_describe, _n.handle(plaq_loops, loops, "loops"), _n.struct(plaq_loops_report, report, "report"))


_plaq_loops_describe_part = _n.function("plaq_loops_describe_part", _c.c_int32, [plaq_loops, _c.c_int32, _c.c_void_p])


def plaq_loops_describe_part(loops: Any, part: int, report: Optional[plaq_loops_part_report] = None) -> None:
    """Describes part number `part` of loops."""
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
    """Copies the values of loops, complex numbers as (re, im): `means` [line][Gamma, all 16][momentum][t], and
    `variances` of a single noise vector, with the variance of real parts as real and that of imaginary parts
    as imaginary part. A variance is infinite with fewer than two noise vectors, and 0 for exact parts. Part
    -1 stands for the sum of all parts, with its squared errors as variances; it is refused before every part has
    some noise. `currents` and `current_variances` are the same for the conserved current, [mu][momentum][t]. All arrays except `means`
    may be NULL. `numbers` is the number of complex numbers in `means`, `ncurrents` that in `currents`.
    Arrays: means[2 * numbers], variances[2 * numbers], currents[2 * ncurrents], current_variances[2 * ncurrents].
    """
    _n.call(_plaq_loops_values, _n.handle(plaq_loops, loops, "loops"), _n.int32(part, "part"), _n.room(_c.c_double, means, "means", 2 * numbers), _n.room(_c.c_double, variances, "variances", 2 * numbers, optional=True), _n.int64(numbers, "numbers"), _n.room(_c.c_double, currents, "currents", 2 * ncurrents, optional=True), _n.room(_c.c_double, current_variances, "current_variances", 2 * ncurrents, optional=True), _n.int64(ncurrents, "ncurrents"))


_plaq_loops_write = _n.function("plaq_loops_write", _c.c_int32, [plaq_loops, _c.c_char_p])


def plaq_loops_write(loops: Any, file: Any) -> None:
    """Writes sums, and a description of what they are sums of, to a file from which plaq_loops_read continues.
    The file appears complete or not at all. Errors: FILE_WRITE.
    """
    _n.call(_plaq_loops_write, _n.handle(plaq_loops, loops, "loops"), _n.encoded(file, "file"))


_plaq_loops_read = _n.function("plaq_loops_read", _c.c_int32, [plaq_loops, _c.c_char_p])


def plaq_loops_read(loops: Any, file: Any) -> None:
    """Replaces the sums by those of a file that plaq_loops_write wrote. Errors, after which nothing has changed:
    FIELD_MISMATCH (of other links, operators, spaces, noise, lines or momenta: the first difference is
    named), FILE_*.
    """
    _n.call(_plaq_loops_read, _n.handle(plaq_loops, loops, "loops"), _n.encoded(file, "file"))


# ---- Distillation ----


class plaq_modes(Handle):
    """Modes of -D^2 on every time slice, where D^2 is the covariant second difference in x, y and z: mode k
    holds eigenvector k of every slice, each normalised to 1. The component of colour 0 at the site 0, 0, 0 of
    a slice is real and positive; if it is almost zero that of colour 1, or 2; if all three are, the phase is
    unspecified.
    """


class plaq_modes_dilution(Enum):
    """Divisions of an index of N values into the parts of a dilution."""
    #: No dilution: one part with all values.
    NONE = 0
    #: Full dilution: one part for each value.
    FULL = 1
    #: `parts` parts; value i belongs to part i mod `parts`.
    INTERLACE = 2
    #: `parts` parts of consecutive values; value i belongs to part i `parts` / N, rounded down.
    BLOCK = 3


class plaq_modes_step(Enum):
    """Operators, made of the Laplacian's links, that act on a mode v."""
    #: D_x v(n) = [U_x(n) v(n + x) - U_x(n - x)^dagger v(n - x)] / 2.
    DERIVATIVE_X = 0
    #: D_y, the covariant derivative [U_y v(n + y) - U_y^dagger v(n - y)] / 2.
    DERIVATIVE_Y = 1
    #: D_z, the covariant derivative [U_z v(n + z) - U_z^dagger v(n - z)] / 2.
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
    """Action if a file to be written exists already."""
    #: Writing is refused.
    REFUSE = 0
    #: The file is replaced.
    OVERWRITE = 1
    #: Datasets are added to the file; names that it already has are refused.
    APPEND = 2


class plaq_modes_params(Struct):
    """Modes of -D^2 on every time slice, D^2 the covariant second difference in x, y and z.

    Members:
      count: Number of modes on each time slice, at most three times the number of its sites.
        1 or more. Default: 16.
      steps: Number of steps of spatial stout smearing of the links in the Laplacian. 0 to 100000.
        Default: 0.
      rho: Weight rho of the staples in the stout smearing of the links. 0 to 1. Default: 0.1.
      tol: Largest |D^2 v + lambda v| over the largest eigenvalue, from 1e-16, in single precision 1e-8;
        0: 1e-10, in single precision 1e-6. Default: 0.
      max_restarts: Largest number of restarts; in each the vectors are multiplied by a polynomial of the Laplacian.
        1 to 1000000. Default: 200.
      verify: True: after the search another one from random vectors orthogonal to the modes looks for modes that were
        missed, and is repeated until it finds none. 0 or 1. Default: 1.
      seed: Seed of the random vectors with which searches start. Default: 1.
      max_seconds: Largest number of seconds for the search; 0: no limit. Default: 0.
      vectors: Memory for the modes. Automatic: on the device; if its memory does not suffice, groups of time slices are
        searched one after the other and the host holds the modes that do not fit. `host`: the host holds all but
        the first mode, so that solves have the device's memory. `device`: an error if memory does not suffice.
        Default: PLAQ_VECTORS_AUTO.
      mixed: True, for links in double precision: vectors are first iterated in single precision, to a residual of 1e-5
        of the largest eigenvalue, and then in double. 0 or 1. Default: 0.
      momentum: Momentum of a moving frame, three real numbers: after smearing the links of the Laplacian are multiplied
        by exp(2 pi i momentum(j) / L_j) in x, y and z, as in plaq_spinor_smear.
        Default: 0, 0, 0.
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
    """Noise in the space of modes: a column is b(x) = sum of eta(t, s, k) v_k(x) over the modes k, spins s and times
    t of one part of the dilution, with independent roots of unity eta. Columns are numbered with parts of modes
    fastest, then of spins, of times, and noise vectors.

    Members:
      noise: Numbers from which eta is drawn: PLAQ_NOISE_Z2 or PLAQ_NOISE_Z4. Default: PLAQ_NOISE_Z4.
      vectors: Number of noise vectors, each of which has a column for every part. 1 to 1048576.
        Default: 1.
      seed: Seed of the noise; the noise is the same on any number of ranks. Default: 0.
      time: Dilution of the time index. Default: PLAQ_MODES_DILUTION_FULL.
      time_parts: Number of parts of times, of dilutions that need it. 0 or more. Default: 0.
      spin: Dilution of the spin index. Default: PLAQ_MODES_DILUTION_FULL.
      spin_parts: Number of parts of spins. 0 or more. Default: 0.
      mode: Dilution of the mode index. Default: PLAQ_MODES_DILUTION_INTERLACE.
      mode_parts: Number of parts of modes. 0 or more. Default: 1.
      first: Number of the first column; those before it are left out. 0 or more. Default: 0.
      count: Largest number of columns, beginning with column `first`; 0: all columns of the source from `first` on.
        1 or more. Default: 0.
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
    """Description of modes, and report of the search that found them. Seconds, restarts and applications of the search
    are 0 if the modes were read from a file.

    Members:
      converged: 1: every vector meets the tolerance and, with `verify`, no eigenvalue was missed.
      verified: 1: no eigenvalue was missed, as shown by a search from random vectors orthogonal to the results, or because
        the operator was diagonalised completely. 0: not asked for, or ended by a limit.
      stopped: 1: the callback or `max_seconds` ended the search; the results are those known by then.
      stopped_by: The criterion that ended the search; PLAQ_STOPPED_BY_ITERATIONS: `max_restarts`.
      restarts: Number of restarts of the search.
      count: Number of eigenvectors; of those of time slices the number on each slice.
      largest: Estimate of the largest eigenvalue, from above.
      applications: Number of multiplications of a vector by the operator.
      seconds: Seconds that the search took.
      times: Number of time slices of the whole lattice.
      steps: Number of steps of spatial stout smearing.
      rho: Weight rho of the staples in the stout smearing of the links.
      plaquette_spatial: Average spatial plaquette of the links before smearing. It identifies the links: these modes are refused
        with others.
      plaquette_temporal: Average temporal plaquette of the links before smearing.
      link_trace: Average Re tr U / 3 of the links before smearing.
      bytes: Bytes of device memory of the modes.
      host_bytes: Bytes of the host's memory for the modes that are not on the device.
      momentum: Momentum of the moving frame, as in plaq_modes_params.
      cut_levels: Number of time slices on which the last value belongs to a degenerate level of which further modes were not
        asked for: the space of the modes then depends on the basis that the search happened to find.
      tol: The tolerance of the search.
    """
    struct_size: int
    converged: int
    verified: int
    stopped: int
    stopped_by: Any
    restarts: int
    count: int
    largest: float
    applications: int
    seconds: float
    times: int
    steps: int
    rho: float
    plaquette_spatial: float
    plaquette_temporal: float
    link_trace: float
    bytes: int
    host_bytes: int
    momentum: Any
    cut_levels: int
    tol: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("converged", _c.c_int32),
        ("verified", _c.c_int32),
        ("stopped", _c.c_int32),
        ("stopped_by", _c.c_int32),
        ("restarts", _c.c_int32),
        ("count", _c.c_int32),
        ("largest", _c.c_double),
        ("applications", _c.c_int64),
        ("seconds", _c.c_double),
        ("times", _c.c_int32),
        ("steps", _c.c_int32),
        ("rho", _c.c_double),
        ("plaquette_spatial", _c.c_double),
        ("plaquette_temporal", _c.c_double),
        ("link_trace", _c.c_double),
        ("bytes", _c.c_int64),
        ("host_bytes", _c.c_int64),
        ("momentum", _c.c_double * 3),
        ("cut_levels", _c.c_int32),
        ("tol", _c.c_double),
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
    """Finds modes on the links of `gauge` (SU(3)), smeared as `params` say, or on links `smeared` that the
    caller made from them; zero handle: none. The callback is called after every restart, and some ten
    times a second between, with the largest residual known. A search that has not converged is not an error. Errors: BAD_PARAMETER (more modes than a slice
    has), UNSUPPORTED, FIELD_MISMATCH, OUT_OF_MEMORY.
    """
    modes_ = plaq_modes()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_modes_create, callback_, (modes_,), _n.handle(plaq_gauge, gauge, "gauge"), _n.handle(plaq_gauge, smeared, "smeared"), _n.struct(plaq_modes_params, params, "params"), callback_.c, None, _c.byref(modes_), _n.struct(plaq_modes_report, report, "report"))
    return modes_


_plaq_modes_memory = _n.function("plaq_modes_memory", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_modes_memory(gauge: Any, params: Optional[plaq_modes_params] = None) -> tuple[int, int, int, int]:
    """Gives the memory in bytes that plaq_modes_create takes on a rank with these parameters: device memory at
    the peak of the search, besides the links of `gauge`; that of the modes afterwards; the host's memory for
    modes that are not on the device; and the number of time slices that are searched together. Errors:
    BAD_PARAMETER, OUT_OF_MEMORY: it will not fit.
    """
    search_ = _c.c_int64()
    device_ = _c.c_int64()
    host_ = _c.c_int64()
    slices_ = _c.c_int64()
    _n.call(_plaq_modes_memory, _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_modes_params, params, "params"), _c.byref(search_), _c.byref(device_), _c.byref(host_), _c.byref(slices_))
    return search_.value, device_.value, host_.value, slices_.value


_plaq_modes_write = _n.function("plaq_modes_write", _c.c_int32, [plaq_modes, _c.c_char_p, _c.c_int32])


def plaq_modes_write(modes: Any, file: Any, if_exists: Union[int, str, plaq_if_exists]) -> None:
    """Writes modes to a file: SciDAC records in LIME with checksums, with eigenvalues, smearing and the averages
    that identify the links; or, if the name ends with .h5 or .hdf5, the same by libhdf5, with modes as
    datasets "modes/0", "modes/1", ... [t][z][y][x][colour]. The file appears complete or not at all. Errors:
    FILE_WRITE: also if the file exists and is not to be overwritten; UNSUPPORTED: no libhdf5, or
    PLAQ_IF_EXISTS_APPEND.
    """
    _n.call(_plaq_modes_write, _n.handle(plaq_modes, modes, "modes"), _n.encoded(file, "file"), _n.enum(plaq_if_exists, if_exists, "if_exists"))


_plaq_modes_read = _n.function("plaq_modes_read", _c.c_int32, [plaq_gauge, plaq_gauge, _c.c_char_p, _c.c_void_p, _c.c_void_p])


def plaq_modes_read(gauge: Any, smeared: Any, file: Any, report: Optional[plaq_modes_report] = None) -> plaq_modes:
    """Reads modes of the links of `gauge` from a file of plaq_modes_write; `smeared` as in plaq_modes_create,
    without it the links are smeared as the file says. Errors: FIELD_MISMATCH: they belong to other links;
    FILE_*.
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
    """Describes modes and their links; seconds, restarts and applications of the search are 0 if the modes
    were read from a file.
    """
    _n.call(_plaq_modes_describe, _n.handle(plaq_modes, modes, "modes"), _n.struct(plaq_modes_report, report, "report"))


_plaq_modes_values = _n.function("plaq_modes_values", _c.c_int32, [plaq_modes, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64])


def plaq_modes_values(modes: Any, values: Any, residuals: Any, count: int, next: Any, times: int) -> None:
    """Gives eigenvalues, ascending on each slice, [t][mode], and residuals |D^2 v + lambda v|; `count`: modes
    times slices of the whole lattice. `next`: for each slice the eigenvalue after the last one, as far as it
    is known, infinite if there is none; it tells whether a degenerate level is complete. `residuals` and
    `next` may be NULL.
    Arrays: values[count], residuals[count], next[times].
    """
    _n.call(_plaq_modes_values, _n.handle(plaq_modes, modes, "modes"), _n.room(_c.c_double, values, "values", count), _n.room(_c.c_double, residuals, "residuals", count, optional=True), _n.int64(count, "count"), _n.room(_c.c_double, next, "next", times, optional=True), _n.int64(times, "times"))


_plaq_modes_vectors = _n.function("plaq_modes_vectors", _c.c_int32, [plaq_modes, _c.c_int64, _c.c_int64, _c.c_void_p])


def plaq_modes_vectors(modes: Any, first: int, count: int) -> plaq_spinor:
    """Makes a field of colour vectors with `count` modes, from number `first` on."""
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
    normalisation of the solver, which may be one of plaq_solver_create_overlap, too: complex numbers [time][t'][spin'][spin][mode'][mode], with t' all times of
    the whole lattice and spins in the DeGrand-Rossi basis; `count`: their number. Propagators are not stored.
    `finished`: number of source times that are complete: all, unless the callback or the solver's
    `max_seconds` end the work; numbers of the others are 0. Errors: FIELD_MISMATCH (modes of other links),
    INVALID_ARGUMENT, UNSUPPORTED, those of plaq_solver_solve.
    Arrays: times[ntimes], perambulators[2 * count].
    """
    finished_ = _c.c_int64()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_modes_perambulators, callback_, (), _n.handle(plaq_modes, modes, "modes"), _n.handle(plaq_solver, solver, "solver"), _n.array(_c.c_int32, times, "times", ntimes), _n.int64(ntimes, "ntimes"), callback_.c, None, _n.room(_c.c_double, perambulators, "perambulators", 2 * count), _n.int64(count, "count"), _c.byref(finished_), _n.struct(plaq_solve_report, report, "report"))
    return finished_.value


_plaq_modes_about = _n.function("plaq_modes_about", _c.c_int32, [plaq_modes, plaq_solver, _c.c_void_p, _c.c_int64])


def plaq_modes_about(modes: Any, solver: Any = None, capacity: int = 65536) -> str:
    """Gives the attributes that identify perambulators of these modes and this solver in files, or without a
    solver the modes, as a JSON object.
    """
    about_ = _c.create_string_buffer(capacity)
    _n.call(_plaq_modes_about, _n.handle(plaq_modes, modes, "modes"), _n.handle(plaq_solver, solver, "solver"), about_, _n.int64(capacity, "capacity"))
    return _n.text(about_.value)


_plaq_modes_write_perambulators = _n.function("plaq_modes_write_perambulators", _c.c_int32, [plaq_modes, plaq_solver, _c.c_void_p, _c.c_int64, _c.c_char_p, _c.c_char_p, _c.c_int32, plaq_progress_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p])


def plaq_modes_write_perambulators(
        modes: Any,
        solver: Any,
        times: Any,
        ntimes: int,
        file: Any,
        group: Any,
        spin_basis: Union[int, str, plaq_basis],
        callback: Optional[Callable[..., Any]] = None,
        report: Optional[plaq_solve_report] = None,
) -> int:
    """Solves for the perambulators of those source times `times` that a group of an HDF5 file lacks, and adds
    each as soon as it is complete: datasets "GROUP/t0", "GROUP/t4", ... of complex numbers
    [t'][spin'][spin][mode'][mode] with the attributes of plaq_modes_about, `tol` and `source_time`, spins in
    the basis `spin_basis`; the file is made if it does not exist. A solve that has not converged is not
    written and ends the work. `finished`: number of source times in the file afterwards. libhdf5 is opened at run time (PLAQ_HDF5, its full path).
    Errors: FIELD_MISMATCH: those of the file are of other modes, links or quarks, or were solved to a larger
    tolerance; UNSUPPORTED: no libhdf5; FILE_*, those of plaq_modes_perambulators.
    Arrays: times[ntimes].
    """
    finished_ = _c.c_int64()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_modes_write_perambulators, callback_, (), _n.handle(plaq_modes, modes, "modes"), _n.handle(plaq_solver, solver, "solver"), _n.array(_c.c_int32, times, "times", ntimes), _n.int64(ntimes, "ntimes"), _n.encoded(file, "file"), _n.encoded(group, "group"), _n.enum(plaq_basis, spin_basis, "spin_basis"), callback_.c, None, _c.byref(finished_), _n.struct(plaq_solve_report, report, "report"))
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
    """Computes generalised perambulators V(t1)^dagger M^-1 O(t) M^-1 V(t0), O(t) = sum_x exp(i q x) Gamma [shift
    along a path], for source time t0, sink times t1 and all times t: complex numbers [sink
    time][insertion][t][spin'][spin][mode'][mode]; `count`: their number. The columns of the source are solved
    for once. `gammas`, `momenta` (n_x, n_y, n_z, q_i = 2 pi n_i / L_i) and `lengths` of paths: one for each
    insertion; `steps`: spatial steps of all paths one after the other, as in plaq_spinor_shift. M must be
    gamma5-hermitian. `finished`: 1, or 0 if the work was ended early. Errors: those of
    plaq_modes_perambulators.
    Arrays: sink_times[nsinks], gammas[insertions], momenta[3 * insertions], lengths[insertions], steps[nsteps], perambulators[2 * count].
    """
    finished_ = _c.c_int64()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_modes_generalised_perambulators, callback_, (), _n.handle(plaq_modes, modes, "modes"), _n.handle(plaq_solver, solver, "solver"), _n.int32(source_time, "source_time"), _n.array(_c.c_int32, sink_times, "sink_times", nsinks), _n.int64(nsinks, "nsinks"), _n.array(_c.c_int32, gammas, "gammas", insertions), _n.array(_c.c_int32, momenta, "momenta", 3 * insertions), _n.array(_c.c_int32, lengths, "lengths", insertions), _n.int64(insertions, "insertions"), _n.array(_c.c_int32, steps, "steps", nsteps), _n.int64(nsteps, "nsteps"), callback_.c, None, _n.room(_c.c_double, perambulators, "perambulators", 2 * count), _n.int64(count, "count"), _c.byref(finished_), _n.struct(plaq_solve_report, report, "report"))
    return finished_.value


_plaq_modes_noise_columns = _n.function("plaq_modes_noise_columns", _c.c_int32, [plaq_modes, _c.c_void_p, _c.c_void_p])


def plaq_modes_noise_columns(modes: Any, params: Optional[plaq_modes_noise_params] = None) -> int:
    """Gives the number of columns of noise in the space of modes."""
    columns_ = _c.c_int64()
    _n.call(_plaq_modes_noise_columns, _n.handle(plaq_modes, modes, "modes"), _n.struct(plaq_modes_noise_params, params, "params"), _c.byref(columns_))
    return columns_.value


_plaq_modes_noise = _n.function("plaq_modes_noise", _c.c_int32, [plaq_modes, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_modes_noise(modes: Any, params: Optional[plaq_modes_noise_params], numbers: Any, count: int) -> None:
    """Gives noise in the space of modes as complex numbers [column][t][spin][mode]; `count`: their number.
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
    """Solves for noise sources b and projects on the modes, V(t')^dagger M^-1 b: complex numbers
    [column][t'][spin'][mode']; `count`: their number. `finished`: 1, or 0 if the work was ended early.
    Errors: those of plaq_modes_perambulators.
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
    """Computes meson elementals Phi_ab(p) = sum_x exp(-i p x) u_a(x)^dagger [O v_b](x), where O is made of the
    links of the Laplacian of v. u are the modes `left`, for example those of the antiquark's moving frame;
    zero handle: the same as v. The result is complex numbers [momentum][operator][t][a][b]; `count`: their
    number. Operator i has `lengths[i]` steps (plaq_modes_step), of which the last acts first; `steps` holds
    those of all operators one after the other.
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
    """Computes baryon elementals B_abc(p) = sum_x exp(-i p x) eps_ijk [O_1 v_a]^i [O_2 v_b]^j [O_3 v_c]^k:
    complex numbers [momentum][t][a][b][c]; if no operator has steps only those with a < b < c, c fastest, as
    the others differ by signs. `count`: their number. `lengths` and `steps` of the three operators as in
    plaq_modes_meson_elementals.
    Arrays: lengths[3], steps[nsteps], momenta[3 * nmomenta], elementals[2 * count].
    """
    _n.call(_plaq_modes_baryon_elementals, _n.handle(plaq_modes, modes, "modes"), _n.array(_c.c_int32, lengths, "lengths", 3), _n.array(_c.c_int32, steps, "steps", nsteps), _n.int64(nsteps, "nsteps"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.room(_c.c_double, elementals, "elementals", 2 * count), _n.int64(count, "count"))


_plaq_modes_write_elementals = _n.function("plaq_modes_write_elementals", _c.c_int32, [plaq_modes, plaq_modes, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_char_p, _c.c_int32])


def plaq_modes_write_elementals(
        modes: Any,
        left: Any,
        lengths: Any,
        operators: int,
        steps: Any,
        nsteps: int,
        momenta: Any,
        nmomenta: int,
        baryon_lengths: Any,
        baryons: int,
        baryon_steps: Any,
        nbaryon_steps: int,
        file: Any,
        if_exists: Union[int, str, plaq_if_exists],
) -> None:
    """Writes eigenvalues, residuals and elementals to an HDF5 file: `values` and `residuals` [t][mode], `mesons`
    [momentum][operator][t][a][b] as in plaq_modes_meson_elementals, and `baryons` as in
    plaq_modes_baryon_elementals, [momentum][t][a < b < c] or with steps [momentum][t][a][b][c], with attributes
    that identify the modes: the datasets of `plaq distillation`. The argument `baryons` is the number of
    operators on the quarks of baryons, whose steps `baryon_lengths` and `baryon_steps` hold: 3, or 0 for no
    baryons; fewer than three modes make none. Errors: INVALID_ARGUMENT; FILE_WRITE: also if the file exists
    and that is to be refused; UNSUPPORTED: no libhdf5.
    Arrays: lengths[operators], steps[nsteps], momenta[3 * nmomenta], baryon_lengths[baryons], baryon_steps[nbaryon_steps].
    """
    _n.call(_plaq_modes_write_elementals, _n.handle(plaq_modes, modes, "modes"), _n.handle(plaq_modes, left, "left"), _n.array(_c.c_int32, lengths, "lengths", operators), _n.int64(operators, "operators"), _n.array(_c.c_int32, steps, "steps", nsteps), _n.int64(nsteps, "nsteps"), _n.array(_c.c_int32, momenta, "momenta", 3 * nmomenta), _n.int64(nmomenta, "nmomenta"), _n.array(_c.c_int32, baryon_lengths, "baryon_lengths", baryons), _n.int64(baryons, "baryons"), _n.array(_c.c_int32, baryon_steps, "baryon_steps", nbaryon_steps), _n.int64(nbaryon_steps, "nbaryon_steps"), _n.encoded(file, "file"), _n.enum(plaq_if_exists, if_exists, "if_exists"))


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
    """Contracts connected two-point functions of mesons: for each pair of Gammas at sink and source a complex
    number for every time from the source. Input are perambulators of one source time,
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
    """Approximations of sign(Q) on the part of the spectrum that is not projected."""
    #: The minimax polynomial, by Clenshaw's recurrence.
    POLYNOMIAL = 0
    #: Zolotarev's rational function, by multi-shift CG. In 16 bits, where CG cannot reach the accuracy, the
    #: polynomial is used instead.
    ZOLOTAREV = 1
    #: The polynomial or Zolotarev's function, whichever takes less time on this device in double precision.
    AUTO = 2


class plaq_overlap_solver(Enum):
    """Solvers of D x = b."""
    #: x = D^dagger (D^dagger D)^-1 b by CG, on each chirality of which b has a component.
    CG = 0
    #: Shifted unitary minimal residual.
    SUMR = 1
    #: Flexible GCR, which takes a preconditioner.
    GCR = 2
    #: Chosen by expected time: GCR preconditioned by the Wilson operator's inverse, or without it, if that takes
    #: longer, CG for b of one chirality and SUMR for others.
    AUTO = 3


class plaq_overlap_preconditioner(Enum):
    """Preconditioners of a solve with the overlap operator."""
    #: No preconditioner.
    NONE = 0
    #: The Wilson operator's inverse by BiCGStab.
    WILSON = 1
    #: The Wilson operator's inverse by multigrid.
    MULTIGRID = 2


class plaq_overlap_form(Enum):
    """The operator D, or an operator made from it."""
    #: The overlap operator D.
    D = 0
    #: The adjoint D^dagger.
    DDAG = 1
    #: The product D^dagger D.
    DDAGD = 2
    #: The sign function sign(Q).
    SIGN = 3
    #: The kernel Q = gamma5 (D_W - (1 + s)).
    Q = 4
    #: D^dagger D (1 + gamma5) / 2, which takes one application of the sign function; PLAQ_OVERLAP_DDAGD
    #: takes two.
    DDAGD_PLUS = 5
    #: D^dagger D (1 - gamma5) / 2, which takes one application of the sign function.
    DDAGD_MINUS = 6


class plaq_overlap_params(Struct):
    """Parameters of the overlap operator D_N(m) = (1 - m / (2 rho)) rho (1 + gamma5 sign(Q)) + m with rho = 1 + s.

    Members:
      s: Shift s of the kernel gamma5 (D_W - (1 + s)). A number between -1 and 1. Default: 0.4.
      mass: Quark mass m, from 0 to below 2 rho. Default: 0.
      delta: Largest error of the sign function on the spectrum that is not projected. In single precision 3e-7 and in
        16 bits 1e-3 are used if it is smaller; the report has the value in use.
        1e-14 to below 1. Default: 0.00000001.
      sign: Approximation of the sign function. In 16 bits it is always the polynomial; the report says which.
        Default: PLAQ_OVERLAP_POLYNOMIAL.
      modes: Number of low modes of the kernel that are projected at least; automatic (-1): chosen by the spectrum.
        0 to 10000. Default: -1.
      most_modes: Largest number of low modes if their number is chosen by the spectrum. 1 to 10000.
        Default: 48.
      method: Algorithm that finds modes of the kernel. Default: PLAQ_EIGEN_LANCZOS.
      modes_tol: Largest residual of the eigenvectors of Q^2, relative to its largest eigenvalue, from 1e-16; 0: 1e-13.
        Modes are found in double precision, whatever the operator's precision. Default: 0.
      max_degree: Highest degree of a polynomial that is allowed. 1 to 20000. Default: 5000.
      two_passes: True: Zolotarev's function runs the Krylov space twice, and needs no memory for the solutions of its
        poles. 0 or 1. Default: 0.
      low: Least modulus of the eigenvalues of Q that are not projected; 0: measured, then `high` must be 0 as well.
        Default: 0.
      high: Largest modulus of the eigenvalues of Q; 0: measured, then `low` must be 0 as well.
        Default: 0.
      csw: Sheikholeslami-Wohlert coefficient of the kernel. Default: 0.
      boundary: Boundary phases in units of pi, or a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
        Default: 0, 0, 0, 1.
      precision: Precision of the operator, and of the modes that it keeps (single at least); automatic (0): that of the
        gauge field. Default: 0.
      storage: Storage of the operator's links; automatic (0): two rows. Default: 0.
      seed: Seed of the random vectors with which searches start. Default: 1.
      smearing_steps: Number of smearing steps for the links of the kernel; the links of `gauge` are not changed.
        0 to 100000. Default: 0.
      smearing: Kind of smearing for the links of the kernel. Default: PLAQ_SMEARING_STOUT.
      smearing_alpha: Parameters of the link smearing, as `alpha` of plaq_gauge_smear_params; the first must be set if there are
        steps.
      max_seconds: Largest number of seconds for a search for modes, when the operator is made and in each
        plaq_overlap_index; 0: no limit. After that the call fails with KERNEL_SPECTRUM, on all ranks.
        Default: 0.
      high_modes: Number of modes at the upper end of the kernel's spectrum, which plaq_overlap_high_values reports.
        1 to 10000. Default: 1.
      max_restarts: Largest number of restarts of a search for low modes of the kernel; for the Ritz functional, of
        diagonalisations. 1 to 1000000. Default: 300.
      vectors: Memory in which Lanczos keeps vectors of the kernel, and in which the kernel's modes are kept.
        Default: PLAQ_VECTORS_AUTO.
      block: Number of vectors that Lanczos multiplies by the kernel together. 1 to 10000.
        Default: 1.
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
    """Description of an overlap operator.

    Members:
      s: Shift s of the kernel.
      mass: Quark mass.
      sign: Approximation in use: polynomial or Zolotarev's function.
      degree: Degree of the polynomial in Q^2, or number of poles.
      modes: Number of modes of the kernel that are projected.
      vectors: Number of vectors that plaq_overlap_vectors gives.
      delta: Largest error of the sign function on the spectrum that is not projected.
      kappa_plus: Error kappa_+ of the projector on positive modes (Walk, section 2.8).
      kappa_minus: Error kappa_- of the projector on negative modes.
      error_bound: Bound on the error of an application, |D~ - D| <= (1 + s - m / 2) (2 (kappa_+ + kappa_-) + delta),
        without rounding: below 1e-12 in double precision, 3e-5 in single and 2e-2 in 16 bit on small
        lattices.
      low: Smallest modulus of the eigenvalues of Q for which the approximation holds.
      high: Largest modulus of the eigenvalues of Q for which the approximation holds.
      largest: Largest modulus of an eigenvalue of Q.
      largest_error: Bound on the error of `largest`.
      next: Smallest modulus of an eigenvalue of Q that is not projected.
      multiplications: Number of multiplications of a vector by Q so far.
      precision: Precision of the operator.
      storage: Storage of the operator's links.
      seconds_modes: Seconds that the search for modes took.
      seconds_sign: Seconds that making the approximation took.
      solver: Algorithm of the last solve; PLAQ_OVERLAP_SOLVER_AUTO before the first one.
      preconditioner: Preconditioner of the last solve.
      high_modes: Number of modes that plaq_overlap_high_values gives.
      low_modes: Number of known low modes of D^dagger D of each chirality.
      vectors_on_device: Number of the vectors in `vectors` that are on the device; the others are in the host's memory.
      max_vectors: Largest number of vectors that the search for modes kept; 0: the modes were read from a file, or not found
        by Lanczos.
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
    preconditioner: Any
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
    _enums_ = {"sign": plaq_overlap_sign, "precision": plaq_precision, "storage": plaq_storage, "solver": plaq_overlap_solver, "preconditioner": plaq_overlap_preconditioner}
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
    """Makes an operator on the links of `gauge` (SU(3), maybe smeared). `modes`: vectors of an earlier search,
    from plaq_overlap_vectors, or the zero handle. Errors: BAD_PARAMETER (|s| >= 1), KERNEL_SPECTRUM (a kernel
    mode at zero, an interval that does not hold the spectrum, too few or too inexact modes: the message says
    what to change), OUT_OF_MEMORY.
    """
    overlap_ = plaq_overlap()
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_overlap_create, callback_, (overlap_,), _n.handle(plaq_context, context, "context"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_overlap_params, params, "params"), _n.handle(plaq_spinor, modes, "modes"), callback_.c, None, _c.byref(overlap_))
    return overlap_


_plaq_overlap_read = _n.function("plaq_overlap_read", _c.c_int32, [plaq_context, plaq_gauge, _c.c_void_p, _c.c_char_p, _c.c_void_p])


def plaq_overlap_read(context: Any, gauge: Any, params: Optional[plaq_overlap_params], file: Any) -> plaq_overlap:
    """Makes an operator with the modes in a file of plaq_overlap_write. They are not searched for again, but
    their residuals with these links are measured. Low modes of D in the file are used at the start of solves
    and by plaq_overlap_index. Errors: those of plaq_overlap_create; FIELD_MISMATCH: the modes belong to other
    links or parameters; FILE_*.
    """
    overlap_ = plaq_overlap()
    _n.call(_plaq_overlap_read, _n.handle(plaq_context, context, "context"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_overlap_params, params, "params"), _n.encoded(file, "file"), _c.byref(overlap_))
    return overlap_


_plaq_overlap_write = _n.function("plaq_overlap_write", _c.c_int32, [plaq_overlap, _c.c_char_p])


def plaq_overlap_write(overlap: Any, file: Any) -> None:
    """Writes the modes of the kernel, and those that plaq_overlap_index found, to a file: SciDAC records in LIME
    with checksums, with eigenvalues. The file appears complete or not at all.
    """
    _n.call(_plaq_overlap_write, _n.handle(plaq_overlap, overlap, "overlap"), _n.encoded(file, "file"))


_plaq_overlap_create_with_mass = _n.function("plaq_overlap_create_with_mass", _c.c_int32, [plaq_overlap, _c.c_double, _c.c_void_p])


def plaq_overlap_create_with_mass(overlap: Any, mass: float) -> plaq_overlap:
    """Makes the same operator with another mass; both operators share the modes."""
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
    """Gives the projected modes of Q, ordered by modulus: eigenvalues, residuals |(Q - lambda) w|, and distances
    to the rest of the spectrum; the last two may be NULL. `count`: `modes` of the report.
    Arrays: values[count], residuals[count], distances[count].
    """
    _n.call(_plaq_overlap_kernel_values, _n.handle(plaq_overlap, overlap, "overlap"), _n.room(_c.c_double, values, "values", count), _n.room(_c.c_double, residuals, "residuals", count, optional=True), _n.room(_c.c_double, distances, "distances", count, optional=True), _n.int64(count, "count"))


_plaq_overlap_high_values = _n.function("plaq_overlap_high_values", _c.c_int32, [plaq_overlap, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_overlap_high_values(overlap: Any, values: Any, residuals: Any, gaps: Any, count: int) -> None:
    """Gives the modes at the upper end of the kernel's spectrum, the largest first: moduli of eigenvalues of Q,
    their errors, and distances to the largest modulus below all of them; the last two may be NULL. `count`:
    high_modes of the report.
    Arrays: values[count], residuals[count], gaps[count].
    """
    _n.call(_plaq_overlap_high_values, _n.handle(plaq_overlap, overlap, "overlap"), _n.room(_c.c_double, values, "values", count), _n.room(_c.c_double, residuals, "residuals", count, optional=True), _n.room(_c.c_double, gaps, "gaps", count, optional=True), _n.int64(count, "count"))


_plaq_overlap_vectors = _n.function("plaq_overlap_vectors", _c.c_int32, [plaq_overlap, _c.c_void_p])


def plaq_overlap_vectors(overlap: Any) -> plaq_spinor:
    """Makes a field with all vectors found by the search for modes, the projected ones first."""
    vectors_ = plaq_spinor()
    _n.call(_plaq_overlap_vectors, _n.handle(plaq_overlap, overlap, "overlap"), _c.byref(vectors_))
    return vectors_


_plaq_overlap_apply = _n.function("plaq_overlap_apply", _c.c_int32, [plaq_overlap, _c.c_int32, plaq_spinor, plaq_spinor])


def plaq_overlap_apply(overlap: Any, form: Union[int, str, plaq_overlap_form], y: Any, x: Any) -> None:
    """Computes y = D x, or applies another plaq_overlap_form. Fields are on the full lattice in the operator's
    precision; y and x are different fields.
    """
    _n.call(_plaq_overlap_apply, _n.handle(plaq_overlap, overlap, "overlap"), _n.enum(plaq_overlap_form, form, "form"), _n.handle(plaq_spinor, y, "y"), _n.handle(plaq_spinor, x, "x"))


_plaq_overlap_ginsparg_wilson = _n.function("plaq_overlap_ginsparg_wilson", _c.c_int32, [plaq_overlap, _c.c_int64, _c.c_void_p])


def plaq_overlap_ginsparg_wilson(overlap: Any, seed: int) -> float:
    """Measures the violation of the Ginsparg-Wilson relation, |(gamma5 D + D gamma5 - D gamma5 D / rho) x| /
    |x|, of the massless operator for a random x.
    """
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
    """Finds `count` low modes of D^dagger D of the massless operator for each chirality, to residuals of `tol`
    (2 rho)^2; solves may start from them. Modes found or loaded before are used if they are accurate enough.
    `plus`, `minus`: room for `count` eigenvalues |lambda|^2 of chirality 1 and -1, ascending. `zeros`: room
    for the numbers n_+ and n_- of zero modes; n_- - n_+ is the topological charge of a smooth field. If all
    modes that were found are zero modes, twice as many are searched for, so that `zeros` may exceed `count`.
    Errors: KERNEL_SPECTRUM if an eighth of all vectors does not suffice or the callback ends the search;
    UNSUPPORTED in 16 bits.
    Arrays: plus[count], minus[count], zeros[2].
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_overlap_index, callback_, (), _n.handle(plaq_overlap, overlap, "overlap"), _n.int32(count, "count"), _n.real(tol, "tol"), callback_.c, None, _n.room(_c.c_double, plus, "plus", count), _n.room(_c.c_double, minus, "minus", count), _n.room(_c.c_int32, zeros, "zeros", 2))


_plaq_overlap_low_values = _n.function("plaq_overlap_low_values", _c.c_int32, [plaq_overlap, _c.c_int32, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_overlap_low_values(overlap: Any, chirality: int, values: Any, residuals: Any, count: int) -> None:
    """Gives the low modes of D^dagger D of one chirality, 1 or -1, that plaq_overlap_index found or that were
    read from a file: eigenvalues |lambda|^2, ascending, and residuals |(D^dagger D - |lambda|^2) v|, which
    may be NULL.
    `count`: at most low_modes of the report.
    Arrays: values[count], residuals[count].
    """
    _n.call(_plaq_overlap_low_values, _n.handle(plaq_overlap, overlap, "overlap"), _n.int32(chirality, "chirality"), _n.room(_c.c_double, values, "values", count), _n.room(_c.c_double, residuals, "residuals", count, optional=True), _n.int64(count, "count"))


# ---- Inverse of the overlap operator ----


class plaq_overlap_solve_params(Struct):
    """Parameters of solves of D x = b.

    Members:
      solver: Algorithm of the solve. Default: PLAQ_OVERLAP_SOLVER_AUTO.
      max_iterations: Largest number of iterations of a solve. 1 or more. Default: 2000.
      tol: Largest |b - D x| / |b|; it cannot be much smaller than the operator's error bound.
        Default: 0.0000001.
      sloppy_precision: Precision of the iteration; automatic (0): that of the operator. Default: 0.
      sloppy_storage: Storage of the links in the iteration; automatic (0): that of the operator. Default: 0.
      relax: True: the sign function is computed less accurately while the residual is large. 0 or 1.
        Default: 1.
      deflate: True: low modes that plaq_overlap_index found are projected out at the start. 0 or 1.
        Default: 1.
      nkrylov: Number of directions that GCR keeps before a restart, block GCR for each right-hand side.
        1 to 10000. Default: 20.
      wilson_iterations: Largest number of iterations for the Wilson operator's inverse as preconditioner of GCR; 0: no
        preconditioner, but 100 if the library chooses GCR. 0 or more. Default: 0.
      wilson_mass: Mass of the preconditioner's Wilson operator, which must be above the critical mass; automatic (NaN):
        determined once for the links so that the low edge of its spectrum is at twice the (smallest) quark mass.
        Default: NaN.
      wilson_tol: Relative residual of the Wilson operator's inverse as preconditioner. Default: 0.1.
      subtract: True: plaq_overlap_propagators and perambulators subtract the contact term. 0 or 1.
        Default: 1.
      multigrid: 1: the preconditioner's Wilson operator is inverted by multigrid: the one of plaq_overlap_set_multigrid,
        or else one with default parameters, which the operator keeps for other solves with the same wilson_mass.
        0: by BiCGStab. Automatic (-1): by the one that is expected to take less time, from the mass, the
        tolerance, the number of right-hand sides and masses, and whether there is a multigrid already.
        0 or 1. Default: -1.
      max_seconds: Largest number of seconds of a call; 0: no limit. The time is checked after every iteration; all ranks
        stop after the same one. Preparations of a call (setting up multigrid, finding the mass of the Wilson
        operator) are not counted. Default: 0.
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
    """Sets the multigrid for solves with params.multigrid = 1. It must have been set up for a Wilson operator of
    about params.wilson_mass on the kernel's links. Zero handle: the operator sets up its own again.
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
    """Gives memory and kernels of plaq_overlap_solve for `nrhs` right-hand sides, including a multigrid that it
    would set up. Nothing is run, compiled or allocated. Choices that depend on the Wilson operator's spectrum
    are predicted from the quark mass until a solve has measured it. `names`: a line for each kernel; a name
    is repeated for other values of its constants. Errors: INVALID_ARGUMENT, and those of plaq_overlap_solve.
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
    """Gives memory and kernels needed to make an operator on links like those of `gauge`, including the search
    for the largest number of modes of its kernel that it may find, and then to solve for `nrhs` right-hand
    sides, including these and x; 0: without a solve.
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
    """Solves D x = b for all right-hand sides. `residuals`: NULL, or room for |b - D x| / |b| of each right-hand
    side. Errors: BAD_PARAMETER, FIELD_MISMATCH, NOT_FINITE, OUT_OF_MEMORY, SOLVER_BREAKDOWN.
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
    """Makes a propagator of twelve columns for each of `count` masses, (D(m)^-1 - 1 / (2 rho)) / (1 - m / (2
    rho)) source, or D(m)^-1 source if params.subtract is 0. CG solves for all masses in one Krylov space;
    SUMR and GCR, which the library may choose, solve for one mass after the other. `propagators`: room for
    `count` handles.
    Arrays: masses[count], propagators[count].
    """
    callback_ = _n.callback(plaq_progress_callback, callback)
    _n.watched(_plaq_overlap_propagators, callback_, (), _n.handle(plaq_overlap, overlap, "overlap"), _n.struct(plaq_overlap_solve_params, params, "params"), _n.array(_c.c_double, masses, "masses", count), _n.int64(count, "count"), _n.struct(plaq_source_params, source, "source"), callback_.c, None, _n.room(plaq_spinor, propagators, "propagators", count), _n.struct(plaq_solve_report, report, "report"))


_plaq_solver_create_overlap = _n.function("plaq_solver_create_overlap", _c.c_int32, [plaq_overlap, _c.c_void_p, _c.c_void_p])


def plaq_solver_create_overlap(overlap: Any, params: Optional[plaq_overlap_solve_params] = None) -> plaq_solver:
    """Makes a solver for perambulators and noise of modes (plaq_modes_perambulators, plaq_modes_solve_noise and
    others) with the overlap operator, of the propagators of plaq_overlap_propagators: without the contact
    term unless params.subtract is 0. plaq_solver_memory and plaq_solver_plan take it; other functions of
    solvers refuse it. It keeps the operator alive. Errors: BAD_PARAMETER.
    """
    solver_ = plaq_solver()
    _n.call(_plaq_solver_create_overlap, _n.handle(plaq_overlap, overlap, "overlap"), _n.struct(plaq_overlap_solve_params, params, "params"), _c.byref(solver_))
    return solver_


# ---- Gauge fixing ----


class plaq_gaugefix(Handle):
    """A gauge transformation that fixes a gauge, with the results of all gauge copies."""


class plaq_gaugefix_condition(Enum):
    """Gauges, for SU(3) and SU(2). F is the functional that is maximised, 1 on unit links,
    and theta its violation (Schroeck and Vogt, Comput. Phys. Commun. 184 (2013) 1907).
    """
    #: F = sum Re tr U_mu / (4 N V), theta = sum tr Delta Delta^dagger / (N V).
    LANDAU = 0
    #: Like Landau gauge without the links along `direction`; every slice with a fixed coordinate in this direction is
    #: fixed independently.
    COULOMB = 1
    #: Maximally Abelian: F = sum |(U_mu)_ii|^2 / (4 N V).
    MAXIMALLY_ABELIAN = 2


class plaq_gaugefix_method(Enum):
    """Algorithms that maximise the gauge functional."""
    #: Overrelaxation: each site takes its best value to the power `omega`; omega = 1 is relaxation.
    OVERRELAXATION = 0
    #: Stochastic relaxation: every SU(2) subgroup takes its best value, or with probability `probability` the
    #: square of it.
    STOCHASTIC = 1
    #: Simulated annealing, followed by overrelaxation.
    ANNEALING = 2
    #: Simulated annealing, then `stochastic_sweeps` sweeps of stochastic relaxation, then overrelaxation.
    COMBINED = 3
    #: Fourier-accelerated steepest descent with step `alpha` (Davies et al., Phys. Rev. D37
    #: (1988) 1581); Landau and Coulomb gauge.
    FOURIER_DESCENT = 4
    #: Fourier-accelerated conjugate gradients (Hudspith, Comput. Phys. Commun. 187 (2015)
    #: 115) with `alpha` as the first trial; Landau and Coulomb gauge.
    FOURIER_CG = 5
    #: Fourier-accelerated conjugate gradients where they are available: in Landau and Coulomb gauge, on a CPU or
    #: on one GPU with cuFFT. Otherwise overrelaxation. The report says which.
    AUTO = 6


class plaq_gaugefix_precision(Enum):
    """Precision of the sweeps. Rounding does not grow in the links, which are only read. Functional, violation and
    result are computed in double precision in all cases, and so is the fixing of the residual gauge.
    """
    #: Sweeps in single precision.
    SINGLE = 0
    #: Single precision until it gives no further progress, then double.
    MIXED = 1
    #: Sweeps in double precision.
    DOUBLE = 2


#: Called at every check with the number of the copy, its number of sweeps so far, functional and violation
#: in the precision of the sweeps, and the temperature during annealing (else 0). A result other than 0, on
#: any rank, ends the fixing at the next check.
#: Arguments: copy, sweeps, functional, theta, temperature.
plaq_gaugefix_callback = _c.CFUNCTYPE(_c.c_int32, _c.c_int64, _c.c_int64, _c.c_double, _c.c_double, _c.c_double, _c.c_void_p)


class plaq_gaugefix_params(Struct):
    """Parameters of gauge fixing.

    Members:
      condition: Gauge to which the links are fixed. Default: PLAQ_GAUGEFIX_LANDAU.
      direction: Direction (0 to 3: x, y, z, t) whose links are not part of the functional of Coulomb gauge.
        0 to 3. Default: 3.
      residual: True: maximally Abelian gauge is followed by Landau gauge for the remaining diagonal transformations.
        0 or 1. Default: 0.
      method: Algorithm that maximises the functional. Default: PLAQ_GAUGEFIX_AUTO.
      precision: Precision of the sweeps; the result is measured in double. Default: PLAQ_GAUGEFIX_MIXED.
      logarithmic: True: consecutive temperatures of annealing have equal ratios; false: equal differences.
        0 or 1. Default: 0.
      omega: Power omega of overrelaxation. 1 to below 2. Default: 1.7.
      probability: Probability of taking the square in stochastic relaxation. 0 to below 1. Default: 0.5.
      stochastic_sweeps: Number of sweeps of stochastic relaxation in the combined algorithm. 0 or more.
        Default: 1000.
      hot: First temperature of annealing. Default: 1.4.
      cold: Last temperature of annealing. Default: 0.1.
      temperatures: Number of temperatures of annealing, each with one heat bath sweep. 1 to 16777216.
        Default: 1000.
      microcanonical: Number of microcanonical sweeps after each heat bath sweep. 0 or more. Default: 3.
      stop_theta: Largest violation theta; 0: not required; negative: 1e-12, or 1e-11 where sweeps are in single precision,
        the smallest that it reaches. Where several criteria are set, all must be met.
        Default: -1.
      stop_theta_max: Largest violation of any single site; theta is the average over sites. 0: not required.
        0 or more. Default: 0.
      stop_change: Largest increase of the functional in one iteration; 0: not required. 0 or more.
        Default: 0.
      max_iterations: Number of sweeps after which a copy, or in Coulomb gauge a slice, is given up; those of annealing are not
        counted. 1 or more. Default: 20000.
      check_every: Number of sweeps between two measurements of the violation, after which the callback is called.
        Fourier-accelerated methods know the violation at every step and end as soon as it is small enough.
        1 or more. Default: 10.
      copies: Number of gauge copies. Of those that converged the one with the largest functional is returned, in
        Coulomb gauge for each slice. The first copy starts from the field as it is. 1 or more.
        Default: 1.
      random_start: 1: the first copy, too, starts from a random transformation. 0 or 1. Default: 0.
      seed: Seed of the random numbers. Default: 1.
      alpha: Step size alpha of the Fourier-accelerated methods, by which the gradient times p2max / p^2 is multiplied.
        A number above 0. Default: 0.08.
    """
    struct_size: int
    condition: Any
    direction: int
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
        ("direction", _c.c_int32),
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
    _old_ = {"time": "direction"}
    _init_ = "plaq_gaugefix_params_init"


_plaq_gaugefix_params_init = _n.function("plaq_gaugefix_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_gaugefix_params_init(params: plaq_gaugefix_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_gaugefix_params_init, _n.struct(plaq_gaugefix_params, params, "params"), _n.int64(struct_size, "struct_size"))


class plaq_gaugefix_report(Struct):
    """Report of a gauge fixing.

    Members:
      functional: Gauge functional of the fixed field; in Coulomb gauge the average over slices.
      theta: Violation theta of the fixed field; in Coulomb gauge the average over slices.
      theta_max: Largest violation of any single site.
      residual_functional: Gauge functional that the fixing of the residual gauge freedom reached; 0: there was no such fixing.
      residual_theta: Violation theta of the fixing of the residual gauge freedom; 0: there was no such fixing.
      iterations: Number of sweeps, those of annealing not counted; in Coulomb gauge of the slowest slice.
      residual_iterations: Number of sweeps of the residual fixing.
      seconds: Seconds that the fixing took.
      converged: 1: all criteria were met, in every slice and by the residual fixing.
      stopped: 1: the callback asked to stop.
      method: Method that was used: the requested one, or the one chosen by PLAQ_GAUGEFIX_AUTO.
      copies: Number of copies made.
      best_copy: Number of the copy that is kept; in Coulomb gauge, where each slice is that of its best copy, of the one with
        the largest functional.
      stop_theta: Largest violation theta that counted as converged.
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
        ("iterations", _c.c_int32),
        ("residual_iterations", _c.c_int32),
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
    """Result for one gauge copy, or for one slice of a copy.

    Members:
      functional: Gauge functional; of a copy in Coulomb gauge the average over slices.
      theta: Violation theta; of a copy in Coulomb gauge the average over slices.
      theta_max: Largest violation of any single site.
      seconds: Seconds that the copy took; 0 for a slice.
      iterations: Number of sweeps, those of annealing not counted; of a copy in Coulomb gauge of the slowest slice.
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
        ("iterations", _c.c_int32),
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
    """Fixes the gauge: the links are replaced by the fixed ones. The report says whether they meet the criteria.
    `result` gets the transformation and the copies; NULL if they are not wanted. Errors, after which the
    links are unchanged: BAD_PARAMETER, NOT_FINITE, NOT_UNITARY (naming the link), OUT_OF_MEMORY, UNSUPPORTED
    (half precision; Fourier acceleration in maximally Abelian gauge; links with boundaries in time, but for
    Coulomb gauge between open ones), CUFFT_MISSING.
    """
    callback_ = _n.callback(plaq_gaugefix_callback, callback)
    _n.watched(_plaq_gauge_fix, callback_, (), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_gaugefix_params, params, "params"), callback_.c, None, _n.struct(plaq_gaugefix_report, report, "report"), _n.struct(plaq_gaugefix, result, "result"))


_plaq_gaugefix_destroy = _n.function("plaq_gaugefix_destroy", _c.c_int32, [plaq_gaugefix])


def plaq_gaugefix_destroy(result: Any) -> None:
    """Destroys the result of a gauge fixing. The zero handle is accepted."""
    _n.call(_plaq_gaugefix_destroy, _n.handle(plaq_gaugefix, result, "result"))


_plaq_gaugefix_copies = _n.function("plaq_gaugefix_copies", _c.c_int32, [plaq_gaugefix, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_gaugefix_copies(result: Any, copies: Any, capacity: int) -> int:
    """Gives the results of all gauge copies in order. `count`: their number, of which the first `capacity` are
    written to `copies`, which may be NULL.
    Arrays: copies[capacity].
    """
    count_ = _c.c_int64()
    _n.call(_plaq_gaugefix_copies, _n.handle(plaq_gaugefix, result, "result"), _n.room(plaq_gaugefix_state, copies, "copies", capacity, optional=True), _n.int64(capacity, "capacity"), _c.byref(count_))
    return count_.value


_plaq_gaugefix_slices = _n.function("plaq_gaugefix_slices", _c.c_int32, [plaq_gaugefix, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_gaugefix_slices(result: Any, copy: int, slices: Any, capacity: int) -> int:
    """Gives the results for the slices in Coulomb gauge, ordered by their coordinate, of copy number `copy`, or
    with -1 of the field that is kept. In other gauges there are none.
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
    """Applies the transformation to the links of another field on the same lattice."""
    _n.call(_plaq_gaugefix_apply, _n.handle(plaq_gaugefix, result, "result"), _n.handle(plaq_gauge, gauge, "gauge"))


# ---- Momenta, gauge forces, link updates ----


class plaq_momentum(Handle):
    """Momenta p = sum_a p_a T_a of SU(3) links, tr T_a T_b = delta_ab / 2, U' = i p U; the kinetic term is 1/2
    sum p_a^2. Matrices of other codes are multiples of i p: MILC's and QUDA's anti-hermitian matrices are
    sqrt(2) i p, and their unit of time is sqrt(2) of this one; openQCD's are i p.
    """


class plaq_site_order(Enum):
    """Order of this rank's sites in an array of momenta."""
    #: Lexicographic: x fastest, t slowest.
    LEXICOGRAPHIC = 0
    #: Even sites, then odd ones, each in lexicographic order.
    EVEN_ODD = 1
    #: openQCD: the eight links of each odd site, as in PLAQ_ORDER_OPENQCD.
    OPENQCD = 2


class plaq_momentum_form(Enum):
    """The form of the momentum of a link in a host's array; a site has four links."""
    #: The coefficients p_1 to p_8 of p = sum_a p_a T_a.
    COEFFICIENTS = 0
    #: i p as 10 reals: entries 01, 02, 12 (re, im), imaginary parts of the diagonal, and an unused one; MILC's
    #: anti_hermitmat.
    TEN = 1
    #: i p as 3x3 complex numbers, row major.
    MATRICES = 2
    #: i p as openQCD's su3_alg_dble: diagonal i (c1 + c2, c2 - 2 c1, c1 - 2 c2), entries 01, 02,
    #: 12 c3 + i c4, c5 + i c6, c7 + i c8.
    OPENQCD = 3


class plaq_gauge_action_kind(Enum):
    """Gauge actions, which are sums over sites and planes of plaquettes and of rectangles of two by one links."""
    #: Wilson's action of plaquettes (Wilson, Phys. Rev. D 10 (1974) 2445).
    WILSON = 0
    #: Tree-level improved Symanzik action (Luescher, Weisz, Commun. Math. Phys. 97 (1985) 59): c1 = -1/12.
    SYMANZIK = 1
    #: Tadpole-improved Luescher-Weisz action of plaquettes with coefficient beta, and rectangles with the factor
    #: -1 / (20 u0^2); parallelograms, whose coefficient is of order alpha, are left out.
    LUESCHER_WEISZ = 2
    #: Iwasaki's action: c1 = -0.331.
    IWASAKI = 3
    #: The DBW2 action: c1 = -1.4088.
    DBW2 = 4
    #: Plaquettes with the factor 1 - 8 c1 and rectangles with the factor c1, any c1.
    RECTANGLE = 5
    #: One-loop improved Luescher-Weisz action with parallelograms (Phys. Lett. B 158 (1985) 250) and the part of
    #: HISQ quarks (Hart, von Hippel, Horgan, arXiv:0812.0503).
    ONE_LOOP_SYMANZIK = 6
    #: Separate couplings for planes of space and planes with t: `plaquettes` and `rectangles`.
    GENERAL = 7


class plaq_gauge_action_params(Struct):
    """A gauge action: sum over x and planes of beta c0 (1 - Re tr P / 3) and beta c1
    (1 - Re tr R / 3), P the plaquettes and R the rectangles of two by one.

    Members:
      action: The name of the gauge action, from which its coefficients c0 and c1 follow.
        Default: PLAQ_GAUGE_ACTION_WILSON.
      beta: Coupling beta; required by every action except `general`. 0 to 1000000. Default: NaN.
      anisotropy: Bare anisotropy xi: planes of space have the coupling beta / xi, planes with t the coupling beta xi.
        A number above 0, to 1000000. Default: 1.
      c1: Coefficient c1 of rectangles; only for the action `rectangle`. -1000000 to 1000000.
        Default: NaN.
      u0: Tadpole factor u0 of `luescher_weisz` and `one_loop_symanzik`; 0: the factor is 1.
        A number above 0, to 1. Default: 0.
      flavours: Number of HISQ quarks whose part `one_loop_symanzik` includes; NaN: none. 0 to 1000.
        Default: NaN.
      cg: Coefficient cG at slice 0, for links with boundaries in time. It multiplies plaquettes and rectangles in
        an open boundary slice, which also have a factor 1/2, and plaquettes between a slice of fixed links and
        the next one. -1000000 to 1000000. Default: 1.
      cg_prime: Coefficient cG' at the upper boundary; NaN: the same as cg. -1000000 to 1000000.
        Default: NaN.
      plaquettes: Couplings of plaquettes in planes of space and in planes with t; only for the action `general`.
        -1000000 to 1000000. Default: 0, 0.
      rectangles: Couplings of rectangles in planes of space, of those with two steps in space and one in t, and of those
        with two steps in t; only for the action `general`. -1000000 to 1000000.
        Default: 0, 0, 0.
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
    """Report of an update of momenta by a force.

    Members:
      rms: Root mean square of |F| over links, |F|^2 = sum_a F_a^2, where F_a is dS/d omega_a for U -> exp(i
        omega_a T_a) U, without the step size.
      max: Largest |F| on a link.
      iterations: Number of solver iterations.
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
    """Makes momenta that are zero, for links on the lattice and in the precision (double or single) of `gauge`."""
    momentum_ = plaq_momentum()
    _n.call(_plaq_momentum_create, _n.handle(plaq_gauge, gauge, "gauge"), _c.byref(momentum_))
    return momentum_


_plaq_momentum_destroy = _n.function("plaq_momentum_destroy", _c.c_int32, [plaq_momentum])


def plaq_momentum_destroy(momentum: Any) -> None:
    """Destroys momenta. The zero handle is accepted."""
    _n.call(_plaq_momentum_destroy, _n.handle(plaq_momentum, momentum, "momentum"))


_plaq_momentum_gaussian = _n.function("plaq_momentum_gaussian", _c.c_int32, [plaq_momentum, _c.c_int64, _c.c_int32])


def plaq_momentum_gaussian(momentum: Any, seed: int, number: int) -> None:
    """Draws normally distributed p_a of variance 1: field number `number` in the sequence of `seed`, the same on
    every device and decomposition.
    """
    _n.call(_plaq_momentum_gaussian, _n.handle(plaq_momentum, momentum, "momentum"), _n.int64(seed, "seed"), _n.int32(number, "number"))


_plaq_momentum_kinetic = _n.function("plaq_momentum_kinetic", _c.c_int32, [plaq_momentum, _c.c_void_p])


def plaq_momentum_kinetic(momentum: Any) -> float:
    """Gives the kinetic energy, the sum of 1/2 p_a^2 over all links of all ranks."""
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
    """Loads momenta from the host's array of this rank's sites, which contains `factor` times p. After an error
    the momenta are unchanged. Errors: NOT_FINITE, INVALID_ARGUMENT.
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
    Errors: those of plaq_momentum_save.
    """
    _n.call(_plaq_momentum_save_in, _n.handle(plaq_momentum, momentum, "momentum"), _n.enum(plaq_momentum_form, form, "form"), _n.enum(plaq_site_order, order, "order"), _n.enum(plaq_precision, precision, "precision"), _n.real(factor, "factor"), _n.address(data, "data"))


_plaq_gauge_action = _n.function("plaq_gauge_action", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p])


def plaq_gauge_action(gauge: Any, params: Optional[plaq_gauge_action_params] = None) -> float:
    """Measures the gauge action over all ranks."""
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
    """Puts all links back into SU(3); `correction`: the largest change of a matrix entry."""
    correction_ = _c.c_double()
    _n.call(_plaq_gauge_reunitarise, _n.handle(plaq_gauge, gauge, "gauge"), _c.byref(correction_))
    return correction_.value


# ---- Closed paths of links ----


_plaq_gauge_path_traces = _n.function("plaq_gauge_path_traces", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_gauge_path_traces(gauge: Any, steps: Any, lengths: Any, count: int, traces: Any) -> None:
    """For each of `count` closed paths (at most 4096) gives the trace of the ordered product of links along it,
    summed over all starting points x on all ranks; `traces` gets real and imaginary parts. `steps` holds the
    paths one after the other, with `lengths` of 1 to 64 steps: 0 to 3 forward in x, y, z, t, 7 - mu back in
    direction mu. A path may wind around the lattice. Between open boundaries in time paths count whose links
    all exist; where links are fixed at a boundary, paths with steps in time are UNSUPPORTED. The arguments
    are the same on all ranks. Errors: BAD_PARAMETER, OUT_OF_MEMORY.
    Arrays: steps[sum of lengths], lengths[count], traces[2 * count].
    """
    _n.call(_plaq_gauge_path_traces, _n.handle(plaq_gauge, gauge, "gauge"), _n.array(_c.c_int32, steps, "steps", None), _n.array(_c.c_int32, lengths, "lengths", count), _n.int64(count, "count"), _n.room(_c.c_double, traces, "traces", 2 * count))


_plaq_gauge_path_action = _n.function("plaq_gauge_path_action", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_gauge_path_action(gauge: Any, steps: Any, lengths: Any, coefficients: Any, count: int) -> float:
    """Measures S = sum over x and paths of coefficient (1 - Re tr L(x) / 3), where L(x) is the product of links
    along the path from x; paths as in plaq_gauge_path_traces. Links are stored as 18 numbers in double or
    single precision. Errors: those of plaq_gauge_path_traces, UNSUPPORTED.
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
    """Sets `momentum` to momentum - step F, where F_a = dS/d omega_a for U -> exp(i omega_a T_a) U. Errors:
    those of plaq_gauge_path_action, FIELD_MISMATCH.
    Arrays: steps[sum of lengths], lengths[count], coefficients[count].
    """
    _n.call(_plaq_gauge_path_force, _n.handle(plaq_gauge, gauge, "gauge"), _n.array(_c.c_int32, steps, "steps", None), _n.array(_c.c_int32, lengths, "lengths", count), _n.array(_c.c_double, coefficients, "coefficients", count), _n.int64(count, "count"), _n.handle(plaq_momentum, momentum, "momentum"), _n.real(step, "step"), _n.struct(plaq_force_report, report, "report"))


_plaq_path_images = _n.function("plaq_path_images", _c.c_int32, [_c.c_void_p, _c.c_int64, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_path_images(steps: Any, length: int, images: Any, capacity: int) -> int:
    """Gives all images of a closed path of `length` steps under rotations and reflections of the lattice; paths
    that differ only in start or sense are given once (6 plaquettes, 12 rectangles of two by one). `images`
    gets them one after the other, at most `capacity` of them. Errors: BAD_PARAMETER; INVALID_ARGUMENT:
    `capacity` is too small.
    Arrays: steps[length], images[capacity * length].
    """
    count_ = _c.c_int64()
    _n.call(_plaq_path_images, _n.array(_c.c_int32, steps, "steps", length), _n.int64(length, "length"), _n.room(_c.c_int32, images, "images", capacity * length), _n.int64(capacity, "capacity"), _c.byref(count_))
    return count_.value


# ---- Fermion forces of given spinors ----


_plaq_dirac_hop_force = _n.function("plaq_dirac_hop_force", _c.c_int32, [plaq_dirac, plaq_momentum, _c.c_double, plaq_spinor, plaq_spinor, _c.c_void_p, _c.c_int64])


def plaq_dirac_hop_force(dirac: Any, momentum: Any, step: float, x: Any, y: Any, coefficients: Any, count: int) -> None:
    """Sets `momentum` to momentum - step F, where F is the force of the hopping term in S = sum_k 2
    coefficients[k] Re <y_k, M x_k>, including boundary phases. For two flavours with the action phi^dagger
    (M^dagger M)^-1 phi the coefficient is -1, x = (M^dagger M)^-1 phi and y = M x. F_a = dS/d omega_a for U
    -> exp(i omega_a T_a) U. Spinors hold the whole lattice; `count` = nrhs. Operator, spinors and momenta
    have the same precision, double or single, and the operator's links 18 or 12 numbers. Errors:
    FIELD_MISMATCH, UNSUPPORTED.
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
    """Does as plaq_dirac_hop_force for the force of the clover term, if that is computed from the operator's
    links. S then also has the terms determinant_even ln |det A_even|^2 + determinant_odd ln |det A_odd|^2,
    with A including the twisted mass: for two flavours the coefficient is -1 on the parities that their Schur
    complement leaves out. Errors: those of plaq_dirac_hop_force; UNSUPPORTED without such a clover term.
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
    """Does as plaq_dirac_hop_force for the force of both hopping and clover term in S = sum_k 2 coefficients[k]
    Re <y_k, P x_k> + determinant ln |det A|^2. P is a Schur complement (any plaq_system except the full one),
    spinors have the sites of its parity, and A is the site term on the sites that P leaves out, or on all
    sites for a symmetric P. Errors: those of plaq_dirac_hop_force.
    Arrays: coefficients[count].
    """
    _n.call(_plaq_dirac_schur_force, _n.handle(plaq_dirac, dirac, "dirac"), _n.enum(plaq_system, system, "system"), _n.handle(plaq_momentum, momentum, "momentum"), _n.real(step, "step"), _n.handle(plaq_spinor, x, "x"), _n.handle(plaq_spinor, y, "y"), _n.array(_c.c_double, coefficients, "coefficients", count), _n.int64(count, "count"), _n.real(determinant, "determinant"))


# ---- Hybrid Monte Carlo ----


class plaq_hmc(Handle):
    """A Markov chain of trajectories: action, integrator, momenta, place in the sequence of random numbers."""


#: Called after every trajectory with its number, Delta H, whether it was accepted (1), the average
#: plaquette, the iterations of its solvers and its seconds. A result other than 0, on any rank, ends the
#: run.
#: Arguments: trajectory, delta_h, accepted, plaquette, iterations, seconds.
plaq_trajectory_callback = _c.CFUNCTYPE(_c.c_int32, _c.c_int64, _c.c_double, _c.c_int32, _c.c_double, _c.c_int64, _c.c_double, _c.c_void_p)


class plaq_monomial_report(Struct):
    """Report of a monomial in the last trajectory.

    Members:
      action_start: The monomial's action at the start of the trajectory.
      action_end: The monomial's action at the end of the trajectory.
      kicks: Number of evaluations of the force.
      rms: Root mean square of the force on a link, averaged over the updates of the momenta.
      max: Largest force on a link.
      force_iterations: Number of solver iterations in forces.
      action_iterations: Number of solver iterations in heat bath and actions.
      seconds: Seconds spent in forces, heat bath and actions.
      solve_seconds: Seconds spent in solvers, a part of `seconds`.
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


class plaq_hmc_report(Struct):
    """Report of a run of trajectories; what concerns one trajectory is that of the last.

    Members:
      stopped: 1: the callback asked to stop.
      accepted: 1: the trajectory was accepted.
      trajectory: Number of the trajectory, from 0 on.
      delta_h: Delta H = H(end) - H(start), the violation of energy conservation.
      iterations: Number of iterations of all solvers in the trajectory.
      kinetic_start: Kinetic energy at the start of the trajectory.
      kinetic_end: Kinetic energy at the end of the trajectory.
      plaquette: Average plaquette of the links that the trajectory leaves, accepted or not.
      correction: Largest change of a matrix entry when links were put back into SU(3).
      reversibility_links: Largest difference of a link's matrix entry after integrating forward and back; -1: not measured.
      reversibility_hamiltonian: Modulus of the difference of H after integrating forward and back; -1: not measured.
      seconds: Seconds that the trajectory took.
      trajectories: Number of trajectories done.
      acceptances: Number of trajectories accepted.
      next_trajectory: Number of the next trajectory.
      exp_minus_delta_h: Average of exp(-Delta H) over the run, which is 1 within errors.
      run_seconds: Seconds that the run took.
    """
    struct_size: int
    stopped: int
    accepted: int
    trajectory: int
    delta_h: float
    iterations: int
    kinetic_start: float
    kinetic_end: float
    plaquette: float
    correction: float
    reversibility_links: float
    reversibility_hamiltonian: float
    seconds: float
    trajectories: int
    acceptances: int
    next_trajectory: int
    exp_minus_delta_h: float
    run_seconds: float
    _fields_ = [
        ("struct_size", _c.c_int64),
        ("stopped", _c.c_int32),
        ("accepted", _c.c_int32),
        ("trajectory", _c.c_int64),
        ("delta_h", _c.c_double),
        ("iterations", _c.c_int64),
        ("kinetic_start", _c.c_double),
        ("kinetic_end", _c.c_double),
        ("plaquette", _c.c_double),
        ("correction", _c.c_double),
        ("reversibility_links", _c.c_double),
        ("reversibility_hamiltonian", _c.c_double),
        ("seconds", _c.c_double),
        ("trajectories", _c.c_int64),
        ("acceptances", _c.c_int64),
        ("next_trajectory", _c.c_int64),
        ("exp_minus_delta_h", _c.c_double),
        ("run_seconds", _c.c_double),
    ]
    _init_ = "plaq_hmc_report_init"


_plaq_hmc_report_init = _n.function("plaq_hmc_report_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_hmc_report_init(report: plaq_hmc_report, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_hmc_report_init, _n.struct(plaq_hmc_report, report, "report"), _n.int64(struct_size, "struct_size"))


_plaq_hmc_create = _n.function("plaq_hmc_create", _c.c_int32, [plaq_gauge, _c.c_char_p, _c.c_void_p])


def plaq_hmc_create(gauge: Any, input: Any) -> plaq_hmc:
    """Makes a chain from a description in TOML (docs/hmc.md lists the keys), for links on the lattice and in the
    precision of `gauge`, stored as 18 numbers. Errors: INVALID_ARGUMENT (naming the line), BAD_PARAMETER,
    OUT_OF_MEMORY.
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
    """Runs trajectories. After an error (NOT_FINITE, NOT_CONVERGED, SPECTRAL_BOUNDS, ...) the links, and the
    number of the next trajectory, are those before the trajectory that failed.
    """
    callback_ = _n.callback(plaq_trajectory_callback, callback)
    _n.watched(_plaq_hmc_run, callback_, (), _n.handle(plaq_hmc, hmc, "hmc"), _n.handle(plaq_gauge, gauge, "gauge"), _n.int64(trajectories, "trajectories"), callback_.c, None, _n.struct(plaq_hmc_report, report, "report"))


_plaq_hmc_memory = _n.function("plaq_hmc_memory", _c.c_int32, [plaq_hmc, plaq_gauge, _c.c_void_p])


def plaq_hmc_memory(hmc: Any, gauge: Any) -> int:
    """Gives the largest number of bytes of device memory that trajectories take besides what the chain holds. A
    first trajectory for which there is less memory is refused (OUT_OF_MEMORY); later ones take no more.
    """
    bytes_ = _c.c_int64()
    _n.call(_plaq_hmc_memory, _n.handle(plaq_hmc, hmc, "hmc"), _n.handle(plaq_gauge, gauge, "gauge"), _c.byref(bytes_))
    return bytes_.value


_plaq_hmc_monomials = _n.function("plaq_hmc_monomials", _c.c_int32, [plaq_hmc, _c.c_void_p])


def plaq_hmc_monomials(hmc: Any) -> int:
    """Gives the number of monomials."""
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
    """Gives the name of monomial number `index` (from 0), and its report on the last trajectory."""
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
    """Writes the links, the position in the sequence of random numbers and the intervals that monomials have
    measured to a file (ILDG, double precision), from which the chain continues bit for bit. The file appears
    complete or not at all.
    """
    _n.call(_plaq_hmc_write, _n.handle(plaq_hmc, hmc, "hmc"), _n.handle(plaq_gauge, gauge, "gauge"), _n.encoded(file, "file"))


_plaq_hmc_read = _n.function("plaq_hmc_read", _c.c_int32, [plaq_hmc, plaq_gauge, _c.c_char_p])


def plaq_hmc_read(hmc: Any, gauge: Any, file: Any) -> None:
    """Reads links, place and intervals from a checkpoint of plaq_hmc_write; an interval given in the input is
    not replaced. Errors, after which nothing has changed: those of plaq_gauge_read; FILE_FORMAT: a
    configuration that is no checkpoint.
    """
    _n.call(_plaq_hmc_read, _n.handle(plaq_hmc, hmc, "hmc"), _n.handle(plaq_gauge, gauge, "gauge"), _n.encoded(file, "file"))


_plaq_input_number = _n.function("plaq_input_number", _c.c_int32, [_c.c_char_p, _c.c_char_p, _c.c_double, _c.c_void_p, _c.c_void_p])


def plaq_input_number(input: Any, path: Any, otherwise: float) -> tuple[float, int]:
    """Reads a number from an input in TOML by its path, e.g. "run.lattice.3". `found`: 0 if it does not exist,
    and `value` is then `otherwise`. For the host's own keys, in the table `run`.
    """
    value_ = _c.c_double()
    found_ = _c.c_int32()
    _n.call(_plaq_input_number, _n.encoded(input, "input"), _n.encoded(path, "path"), _n.real(otherwise, "otherwise"), _c.byref(value_), _c.byref(found_))
    return value_.value, found_.value


_plaq_input_text = _n.function("plaq_input_text", _c.c_int32, [_c.c_char_p, _c.c_char_p, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_input_text(input: Any, path: Any, capacity: int = 65536) -> tuple[str, int]:
    """Reads a text from an input in the same way; it is empty if it does not exist."""
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


_plaq_input_check_run = _n.function("plaq_input_check_run", _c.c_int32, [_c.c_char_p])


def plaq_input_check_run(input: Any) -> None:
    """Refuses an input whose table `run` has a key that the program `plaq hmc` does not take
    (docs/hmc.md). Errors: INVALID_ARGUMENT, naming the line and the key.
    """
    _n.call(_plaq_input_check_run, _n.encoded(input, "input"))


# ---- Actions of chains in parts ----


class plaq_hmc_parts(Handle):
    """Terms of an action and levels of its integrator, from which a chain is made."""


class plaq_integrator(Enum):
    """The schemes of integrators."""
    #: Leapfrog: second order, one force per step.
    LEAPFROG = 0
    #: Omelyan, Mryglod and Folk: second order, two forces per step.
    OMELYAN2 = 1
    #: Omelyan, Mryglod and Folk: fourth order, five forces per step.
    OMELYAN4 = 2
    #: Force gradient: fourth order, three forces and one at shifted links per step.
    FORCE_GRADIENT = 3


class plaq_hmc_algorithm(Enum):
    """Algorithms for Markov chains of molecular dynamics."""
    #: Hybrid Monte Carlo: new momenta and pseudofermions are drawn at the start of every trajectory.
    HMC = 0
    #: Stochastic molecular dynamics: momenta and pseudofermions are rotated at the start of every trajectory,
    #: which is a short cycle.
    SMD = 1


class plaq_smd_rejection(Enum):
    """The momenta that remain, with reversed sign, after a rejected cycle. Links return to the start of the cycle,
    pseudofermions stay rotated.
    """
    #: Momenta before the rotation, as in openQCD.
    BEFORE = 0
    #: Momenta after the rotation, with which the cycle leaves the distribution exactly invariant (Horowitz,
    #: Phys. Lett. B 268 (1991) 247).
    AFTER = 1


class plaq_hmc_params(Struct):
    """Parameters of a chain apart from its action and integrator: keys of an input (docs/hmc.md).

    Members:
      length: Length of a trajectory in molecular-dynamics time. Default: 1.
      seed: Seed of the random numbers. Default: 0.
      trajectory: Number of the next trajectory. 0 or more. Default: 0.
      accept_until: Trajectories with lower numbers are accepted whatever their Delta H. Up to this number a measured interval
        of one flavour's spectrum is adjusted to the links. 0 or more. Default: 0.
      reversibility_every: Number of trajectories between two measurements of reversibility, in which a trajectory is integrated
        forward and back; 0: never. 0 or more. Default: 0.
      algorithm: Algorithm: hmc draws new momenta and pseudofermions before molecular dynamics, smd rotates the present
        ones. Default: PLAQ_HMC_ALGORITHM_HMC.
      rejection: Momenta, with reversed sign, that remain after a rejected cycle of smd.
        Default: PLAQ_SMD_REJECTION_BEFORE.
      friction: Friction gamma of smd, in inverse time: a cycle of length t multiplies the present momenta and
        pseudofermions by exp(-gamma t). 0 to 1000000. Default: 0.3.
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
    """Parameters of the quarks of a monomial (docs/fermions.md).

    Members:
      flavours: Number of flavours; 2: det(M^dagger M), or its ratio to that of a preconditioner; 1: |det M|.
        1 or 2. Default: 2.
      system: Form and parity of the Schur complement whose determinant is taken.
        Default: PLAQ_SYSTEM_EVEN_SYMMETRIC.
      max_iterations: Largest number of iterations of a solve. 1 or more. Default: 20000.
      sloppy_precision: Precision of the iteration inside of double-precision solves; automatic (0): for CG of two flavours half
        on a GPU and single on a CPU, else double. Default: 0.
      guesses: Number of earlier solutions from which the initial guess of force solves is made; 0: solves start from
        zero. 0 or more. Default: 0.
      smearing_levels: Number of levels of stout smearing of the operators' links; 0: none. 0 to 64.
        Default: 0.
      multigrid: True: solves are by GCR with multigrid; false: by CG. 0 or 1. Default: 0.
      multigrid_preconditioner: True: solves of the preconditioner W are by multigrid, too. 0 or 1. Default: 0.
      persistent: True: null vectors are kept from one trajectory to the next. A chain then continues from a checkpoint
        within the tolerance of solves, not bit for bit. 0 or 1. Default: 0.
      nkrylov: Number of directions that GCR keeps before a restart, block GCR for each right-hand side.
        1 to 10000. Default: 20.
      shifts: Number of the least shifts of one flavour that multigrid solves. The others take CG together, whose
        iterations are then those of the least shift that is left. 0 or more. Default: 3.
      refresh: Treatment of multigrid's null vectors when links have changed: they are kept, refined, or found anew.
        Default: PLAQ_REFRESH_KEEP.
      fields: Number n of pseudofermion fields of one flavour, each of which represents the n-th root of the
        determinant. 1 or more. Default: 1.
      check_every: Number of trajectories between two measurements of the spectrum of one flavour; an eigenvalue outside of
        the interval ends the trajectory with an error; 0: only once, to find the interval.
        0 or more. Default: 1.
      tolerance_force: Largest relative residual of solves in forces; trajectories are reversible to about this accuracy.
        A number between 0 and 1. Default: 1e-11.
      tolerance_hamiltonian: Largest relative residual of solves in the Hamiltonian and the heat bath.
        A number between 0 and 1. Default: 1e-11.
      smearing_rho: Weight rho of stout smearing. Default: 0.
      error_force: Relative error of one flavour's rational approximation in forces. Default: 0.0000001.
      error_hamiltonian: Relative error of one flavour's rational approximation in the Hamiltonian and the heat bath.
        Default: 1e-12.
      interval: Smallest and largest end of the interval for one flavour's spectrum; 0: the spectrum is measured, and the
        interval extended by the factors 2/3 below and 6/5 above. Default: 0, 0.
      epsilon: Mass splitting epsilon of a twisted-mass doublet with weight det M; it has `flavours` = 2 and uses the
        parameters of one flavour. 0: two flavours of equal mass. Default: 0.
      mu_schur: Twisted masses mu of the operator M and of the preconditioner W that stand on the sites of the Schur
        complement P alone, in addition to those on all sites, of either sign: two flavours with mass-normalised
        asymmetric P have the weight det(P^dagger P + mu^2) (TM1_EO_SDET and TM2_EO of openQCD). 0: none; other
        numbers are refused with one flavour, a doublet, a symmetric P and multigrid.
        Default: 0, 0.
      tol_site: Largest |b - P^dagger P x| at any site, divided by the largest |b| at any site, in multiples of the
        solve's tolerance; required besides it (OpenLat: Francis, Fritzsch, Luscher, Rago, arXiv:1911.04533,
        Section 4). 0: not required. 0 to 1000000. Default: 0.
      sums_force: Sums over the ranks in an iteration of CG in forces, as `sums` of plaq_solver_params; automatic (0) with
        multigrid. Default: 0.
      sums_hamiltonian: Sums over the ranks in an iteration of CG in the Hamiltonian and the heat bath, as `sums` of
        plaq_solver_params; automatic (0) with multigrid. Default: 0.
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
    shifts: int
    refresh: Any
    fields: int
    check_every: int
    tolerance_force: float
    tolerance_hamiltonian: float
    smearing_rho: float
    error_force: float
    error_hamiltonian: float
    interval: Any
    epsilon: float
    mu_schur: Any
    tol_site: float
    sums_force: Any
    sums_hamiltonian: Any
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
        ("shifts", _c.c_int32),
        ("refresh", _c.c_int32),
        ("fields", _c.c_int32),
        ("check_every", _c.c_int32),
        ("tolerance_force", _c.c_double),
        ("tolerance_hamiltonian", _c.c_double),
        ("smearing_rho", _c.c_double),
        ("error_force", _c.c_double),
        ("error_hamiltonian", _c.c_double),
        ("interval", _c.c_double * 2),
        ("epsilon", _c.c_double),
        ("mu_schur", _c.c_double * 2),
        ("tol_site", _c.c_double),
        ("sums_force", _c.c_int32),
        ("sums_hamiltonian", _c.c_int32),
    ]
    _enums_ = {"system": plaq_system, "sloppy_precision": plaq_precision, "refresh": plaq_refresh, "sums_force": plaq_iteration_sums, "sums_hamiltonian": plaq_iteration_sums}
    _old_ = {"sloppy": "sloppy_precision"}
    _init_ = "plaq_quarks_params_init"


_plaq_quarks_params_init = _n.function("plaq_quarks_params_init", _c.c_int32, [_c.c_void_p, _c.c_int64])


def plaq_quarks_params_init(params: plaq_quarks_params, struct_size: int) -> None:
    """Fills in defaults; pass sizeof."""
    _n.call(_plaq_quarks_params_init, _n.struct(plaq_quarks_params, params, "params"), _n.int64(struct_size, "struct_size"))


_plaq_hmc_parts_create = _n.function("plaq_hmc_parts_create", _c.c_int32, [plaq_gauge, _c.c_void_p, _c.c_void_p])


def plaq_hmc_parts_create(gauge: Any, params: Optional[plaq_hmc_params] = None) -> plaq_hmc_parts:
    """Starts a description of a chain for links on the lattice and in the precision of `gauge`, stored as 18
    numbers. Levels are added from the outermost in, each before its monomials. Errors: BAD_PARAMETER.
    """
    parts_ = plaq_hmc_parts()
    _n.call(_plaq_hmc_parts_create, _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_hmc_params, params, "params"), _c.byref(parts_))
    return parts_


_plaq_hmc_parts_destroy = _n.function("plaq_hmc_parts_destroy", _c.c_int32, [plaq_hmc_parts])


def plaq_hmc_parts_destroy(parts: Any) -> None:
    """Destroys the parts of a chain. The zero handle is accepted."""
    _n.call(_plaq_hmc_parts_destroy, _n.handle(plaq_hmc_parts, parts, "parts"))


_plaq_hmc_parts_add_level = _n.function("plaq_hmc_parts_add_level", _c.c_int32, [plaq_hmc_parts, _c.c_int32, _c.c_int64])


def plaq_hmc_parts_add_level(parts: Any, integrator: Union[int, str, plaq_integrator], steps: int) -> None:
    """Adds a level with this number of steps of a plaq_integrator."""
    _n.call(_plaq_hmc_parts_add_level, _n.handle(plaq_hmc_parts, parts, "parts"), _n.enum(plaq_integrator, integrator, "integrator"), _n.int64(steps, "steps"))


_plaq_hmc_parts_add_gauge = _n.function("plaq_hmc_parts_add_gauge", _c.c_int32, [plaq_hmc_parts, _c.c_char_p, _c.c_void_p])


def plaq_hmc_parts_add_gauge(parts: Any, name: Any, params: Optional[plaq_gauge_action_params] = None) -> None:
    """Adds a gauge action to the last level. The names of monomials must be unique. Errors: BAD_PARAMETER,
    OUT_OF_MEMORY.
    """
    _n.call(_plaq_hmc_parts_add_gauge, _n.handle(plaq_hmc_parts, parts, "parts"), _n.encoded(name, "name"), _n.struct(plaq_gauge_action_params, params, "params"))


_plaq_hmc_parts_add_paths = _n.function("plaq_hmc_parts_add_paths", _c.c_int32, [plaq_hmc_parts, _c.c_char_p, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64])


def plaq_hmc_parts_add_paths(parts: Any, name: Any, steps: Any, lengths: Any, coefficients: Any, count: int) -> None:
    """Adds an action of closed paths, which are given like those of plaq_gauge_path_action. Errors: BAD_PARAMETER,
    OUT_OF_MEMORY.
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
    """Makes the chain from its parts, bit for bit the same as from an equivalent input; the parts are empty
    afterwards. Errors: those of plaq_hmc_create.
    """
    hmc_ = plaq_hmc()
    _n.call(_plaq_hmc_create_from, _n.handle(plaq_hmc_parts, parts, "parts"), _c.byref(hmc_))
    return hmc_


# ---- Gradient flow ----


class plaq_flow_kind(Enum):
    """Actions whose gradient generates the flow."""
    #: Wilson's plaquette action.
    WILSON = 0
    #: Tree-level improved Symanzik action.
    SYMANZIK = 1
    #: The Symanzik flow with a factor 1 + D*D / 12 along each link, which removes all O(a^2) effects of the flow
    #: (Ramos, Sint, Eur. Phys. J. C 76 (2016) 15).
    ZEUTHEN = 2


#: Called at every measurement with the flow time t / a^2, t^2 E from clover leaves, and the topological
#: charge. A result other than 0, on any rank, ends the flow.
#: Arguments: time, t2e, charge.
plaq_flow_callback = _c.CFUNCTYPE(_c.c_int32, _c.c_double, _c.c_double, _c.c_double, _c.c_void_p)


class plaq_flow_params(Struct):
    """A gradient flow by Luescher's third-order Runge-Kutta scheme (JHEP 08 (2010) 071, appendix C).

    Members:
      kind: Action whose gradient generates the flow. Default: PLAQ_FLOW_WILSON.
      every: Number of steps between measurements; further ones are made at the start and at the end.
        1 or more. Default: 10.
      step: Step of the flow time; for adaptive steps the first step. Above 0.2 the scheme is unstable.
        A number above 0, to 0.2. Default: 0.02.
      time: Flow time t / a^2 at the end, at most a million steps. It must be set. 0 to 1000000.
      tolerance: Adaptive steps: largest difference of a matrix entry between the scheme and the embedded second-order
        scheme in one step (Fritzsch, Ramos, JHEP 10 (2013) 008, appendix D); 0: fixed steps. A tolerance that
        needs steps below a millionth of the flow time is refused. 0 to below 1. Default: 0.
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
    """A gradient flow of quark fields by Luescher's third-order Runge-Kutta scheme (JHEP 04 (2013) 123, appendix D),
    or its adjoint.

    Members:
      kind: Action whose gradient flows the links. Default: PLAQ_FLOW_WILSON.
      checkpoints: Number of states of the links that the adjoint flow keeps, besides the first one; states between them are
        computed again; -1: as many as half of the free memory holds, at most 1000. 0 to 1000.
        Default: -1.
      step: Step of the flow time; the last step ends at `time`. Above 0.157 the scheme is unstable.
        A number above 0, to 0.157. Default: 0.01.
      time: Flow time t / a^2 at the end, starting with 0 for the given links. It must be set.
        0 to 1000000.
      boundary: Boundary phases in units of pi, for fields that do not carry their own: psi(x + L_mu) = exp(i pi
        boundary[mu]) psi(x). Options, TOML and Python also take a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
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
      time: Flow time of the fields afterwards. Unless the flow was stopped it is that of the parameters, for an
        adjoint flow 0.
      steps: Number of steps of the quark fields.
      link_steps: Number of steps of the links, including those that were computed again.
      checkpoints: Number of states of the links that the adjoint flow kept, besides the first one.
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


class plaq_flow_report(Struct):
    """Report of a flow. Scales are in lattice units, -1 if the flow ended before they were reached.

    Members:
      time: Flow time that was reached, t / a^2.
      t0_clover: Scale t0 with t^2 E = 0.3, E from clover leaves.
      t0_plaquette: Scale t0, E from plaquettes.
      w0_clover: Scale w0 with t d/dt t^2 E = 0.3 at t = w0^2, E from clover leaves.
      w0_plaquette: Scale w0, E from plaquettes.
      steps: Number of steps of the flow, without repeated ones.
      repeated: Number of steps that were repeated with a smaller step size.
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


_plaq_gauge_flow = _n.function("plaq_gauge_flow", _c.c_int32, [plaq_gauge, _c.c_void_p, plaq_flow_callback, _c.c_void_p, _c.c_void_p, _c.c_void_p, _c.c_int64, _c.c_void_p])


def plaq_gauge_flow(
        gauge: Any,
        params: Optional[plaq_flow_params],
        callback: Optional[Callable[..., Any]],
        report: Optional[plaq_flow_report],
        points: Any,
        capacity: int,
) -> int:
    """Flows SU(3) links, stored as 18 numbers in double or single precision. `count`: number of measurements
    made, of which the first `capacity` are written to `points`, which may be NULL. Errors: BAD_PARAMETER,
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
    """Flows every column of a field, spinors or colour vectors on both parities in double or single precision: d
    chi / dt = D^2 chi, where D^2 chi(x) = sum_mu [V_mu(x) chi(x + mu) + V_mu(x - mu)^dagger chi(x - mu) - 2
    chi(x)] with the links V of the flow of `gauge` (SU(3)) at the same time (Luescher, JHEP 04 (2013) 123).
    Boundary phases are those that the field records (plaq_spinor_origin), else those of `params`. With
    boundaries of the links in time chi is 0 at all flow times on the slices where quarks vanish. `flowed`:
    field to which the flowed links are written, which may be `gauge` itself; zero handle: they are not kept.
    Links flow in the precision of the field. The callback is called after every step with the numbers of
    steps done and of all steps, and may end the flow. Errors: BAD_PARAMETER, UNSUPPORTED, FIELD_MISMATCH,
    NOT_FINITE, OUT_OF_MEMORY.
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
    """Applies the adjoint K^dagger of plaq_spinor_flow K with the same `gauge`, links at time 0, and `params`:
    it takes a field at the flow time of `params` to time 0, and <phi, K chi> = <K^dagger phi, chi> holds to
    rounding. The links of the steps are computed again between `checkpoints` states that are kept. The
    callback is called after every step, also of the links, with the number of steps of the field that are
    done. If it ends the work, the field is the adjoint of the flow that begins at the time in the report.
    Errors: those of plaq_spinor_flow.
    """
    callback_ = _n.callback(plaq_sweep_callback, callback)
    _n.watched(_plaq_spinor_flow_adjoint, callback_, (), _n.handle(plaq_spinor, spinor, "spinor"), _n.handle(plaq_gauge, gauge, "gauge"), _n.struct(plaq_spinor_flow_params, params, "params"), callback_.c, None, _n.struct(plaq_spinor_flow_report, report, "report"))


# ---- QUDA's interface: what becomes of errors ----


class plaq_quda_error_mode(Enum):
    """Action of a function of the headers in quda/ after an error, when the handler has been called."""
    #: Ends the program with exit code 1 (the default).
    END = 0
    #: Returns. No array, number or count of the host has been written, and the result is NULL, 1 from
    #: functions that return an int, or NaN from those that return a double.
    RETURN = 1


#: Receives the name of the function that failed, its status, and the message in lines: argument, expected,
#: found, and what to do. On several ranks all receive the message of the rank that failed.
#: Arguments: function, status, message.
plaq_quda_error_callback = _c.CFUNCTYPE(None, _c.c_char_p, _c.c_int32, _c.c_char_p, _c.c_void_p)


_plaq_quda_set_error_mode = _n.function("plaq_quda_set_error_mode", _c.c_int32, [_c.c_int32])


def plaq_quda_set_error_mode(mode: Union[int, str, plaq_quda_error_mode]) -> None:
    """Sets the mode for all threads, from now on."""
    _n.call(_plaq_quda_set_error_mode, _n.enum(plaq_quda_error_mode, mode, "mode"))


_plaq_quda_set_error_handler = _n.function("plaq_quda_set_error_handler", _c.c_int32, [plaq_quda_error_callback, _c.c_void_p])


def plaq_quda_set_error_handler(callback: Optional[Callable[..., Any]] = None) -> None:
    """Replaces the handler that prints to stderr; NULL: restores it."""
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
