/* plaq: embeddable lattice QCD. Generated from interface/src/capi; do not edit.
 *
 * Status. Functions return a plaq_status: 0 done; positive: refused, nothing changed (but after
 * PLAQ_SOLVER_BREAKDOWN the solution is zero); negative: the object or context is lost. plaq_last_error() says which argument, what was expected and
 * what was found. Results are written only on success. A solver that did not converge is no
 * error: its report says so.
 * Handles. Small structs, passed by value; {0} is no object. A stale, foreign or destroyed handle
 * is refused. Objects belong to a context and die with it, or by their own destroy function.
 * Parameters. PLAQ_INIT(plaq_NAME_params, p); declares a struct and fills in its defaults, or
 * plaq_NAME_params_init(&p, sizeof p) one that exists; then set members; NULL means all defaults. Reports are initialised the same way; NULL if not wanted. These structs may
 * grow at the end in later versions without breaking programs compiled today.
 * Memory. What a pointer points to is borrowed for the call only, unless its comment says otherwise.
 * Pointers must be valid for the sizes stated; NULL is refused where something is needed.
 * Ranks. A context made with a communicator is shared by its ranks, as are its objects. Functions
 * that take its handles are called by all its ranks in the same order, and fail on all if they fail
 * on one; only destroy, describe, name, memory, reset_peak and synchronize are each rank's own.
 * Threads. Any thread may call. An object that another call is changing is refused with PLAQ_BUSY.
 */
#ifndef PLAQ_H
#define PLAQ_H

#include <stdint.h>

#define PLAQ_VERSION_MAJOR 0
#define PLAQ_VERSION_MINOR 1
#define PLAQ_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/** Result of a call; docs/errors.md has the list. */
typedef int32_t plaq_status;
enum {
  /** The call did what it says. */
  PLAQ_SUCCESS = 0,
  /** An argument is out of its range. */
  PLAQ_INVALID_ARGUMENT = 1,
  /** A required pointer is NULL. */
  PLAQ_NULL_POINTER = 2,
  /** A handle is stale, foreign, destroyed or of another kind. */
  PLAQ_INVALID_HANDLE = 3,
  /** The struct_size of a parameter struct does not fit this library. */
  PLAQ_STRUCT_SIZE = 4,
  /** The combination asked for does not exist. */
  PLAQ_UNSUPPORTED = 5,
  /** Objects of different contexts or devices were mixed. */
  PLAQ_WRONG_CONTEXT = 6,
  /** An object is being changed, or is to be changed, while another call uses it. */
  PLAQ_BUSY = 8,
  /** A function of QUDA's interface was called outside of qudaInit and qudaFinalize. */
  PLAQ_NOT_INITIALISED = 9,
  /** A defect inside plaq was caught at the boundary. */
  PLAQ_INTERNAL = -1,
  /** No usable accelerator was found. */
  PLAQ_NO_DEVICE = 100,
  /** The CUDA driver library is not installed. */
  PLAQ_DRIVER_MISSING = 101,
  /** The CUDA driver is older than plaq needs. */
  PLAQ_DRIVER_TOO_OLD = 102,
  /** The CUDA run-time compiler library is not installed. */
  PLAQ_NVRTC_MISSING = 103,
  /** A kernel did not compile. */
  PLAQ_COMPILE_FAILED = 104,
  /** The problem does not fit the memory of the device. */
  PLAQ_OUT_OF_MEMORY = 105,
  /** NVIDIA's library for Fourier transforms is not installed. */
  PLAQ_CUFFT_MISSING = 106,
  /** NVIDIA's library for messages between GPUs is not installed. */
  PLAQ_NCCL_MISSING = 107,
  /** The device failed; the context can only be destroyed. */
  PLAQ_DEVICE_LOST = -100,
  /** The process grid does not fit ranks or lattice. */
  PLAQ_PROCESS_GRID = 200,
  /** Plaq's library for MPI is not installed; docs/mpi.md says how to build it. */
  PLAQ_MPI_MISSING = 201,
  /** MPI does not run, is another MPI, or the communicator is null. */
  PLAQ_MPI_STATE = 202,
  /** MPI's thread level forbids calls from this thread. */
  PLAQ_MPI_THREAD = 203,
  /** A peer was lost or a message timed out. */
  PLAQ_COMM_FAILED = -200,
  /** Lattice extents are odd, zero or do not match. */
  PLAQ_BAD_EXTENTS = 300,
  /** A link is not unitary to the asked tolerance. */
  PLAQ_NOT_UNITARY = 301,
  /** A field holds NaN or infinity. */
  PLAQ_NOT_FINITE = 302,
  /** An external layout is unknown or inconsistent. */
  PLAQ_BAD_LAYOUT = 303,
  /** Fields differ in geometry, precision, parity or count. */
  PLAQ_FIELD_MISMATCH = 304,
  /** A file cannot be opened or created. */
  PLAQ_FILE_OPEN = 400,
  /** A file is not of a known format or its header is wrong. */
  PLAQ_FILE_FORMAT = 401,
  /** A file ends before its data do. */
  PLAQ_FILE_TRUNCATED = 402,
  /** A checksum in a file does not match its data. */
  PLAQ_FILE_CHECKSUM = 403,
  /** Plaquette or link trace in a file's header does not match its links. */
  PLAQ_FILE_PLAQUETTE = 404,
  /** The lattice size in a file is not the one asked for. */
  PLAQ_FILE_EXTENTS = 405,
  /** Writing a file failed; the target is left as it was. */
  PLAQ_FILE_WRITE = 406,
  /** The clover term cannot be inverted on a site. */
  PLAQ_SINGULAR_CLOVER = 500,
  /** A parameter is out of its range. */
  PLAQ_BAD_PARAMETER = 501,
  /** A solver met NaN or infinity. */
  PLAQ_SOLVER_BREAKDOWN = 502,
  /** A solve that the call depends on did not reach its tolerance. */
  PLAQ_NOT_CONVERGED = 520,
  /** Eigenvalues lie outside of what a rational approximation covers. */
  PLAQ_SPECTRAL_BOUNDS = 521,
  /** An operator has other links than multigrid was last set up or updated for. */
  PLAQ_STALE_MULTIGRID = 522,
  /** The spectrum of the overlap kernel does not allow what was asked for; the message says what to change. */
  PLAQ_KERNEL_SPECTRUM = 530
};

/* ---- Library: version, messages, log ---- */

/** Levels of the log; a callback receives all messages up to the level that it asked for. */
typedef int32_t plaq_log_level;
enum {
  /** The log is off (the default). */
  PLAQ_LOG_OFF = 0,
  /** Defects of plaq and lost devices. */
  PLAQ_LOG_ERROR = 1,
  /** The lines of PLAQ_LOG_ERROR, and calls that were refused. */
  PLAQ_LOG_WARN = 2,
  /** The lines of PLAQ_LOG_WARN, and work that takes long: compilation, tuning, solves. */
  PLAQ_LOG_INFO = 3,
  /** The lines of PLAQ_LOG_INFO, and choices that the library makes by itself. */
  PLAQ_LOG_DEBUG = 4,
  /** The lines of PLAQ_LOG_DEBUG, and every call with the time that it took. */
  PLAQ_LOG_TRACE = 5
};

/** Receives one line of the log; it may be called from any thread. Calls of plaq that it makes are refused
 * with PLAQ_BUSY. */
typedef void (*plaq_log_callback)(plaq_log_level level, const char *message, void *user);

/** Gives the version of the library, "major.minor.patch". */
const char *plaq_version(void);

/** Gives the message of this thread's last failed call: function, argument, what was expected and what was
 * found. The address is always the same for a thread, the text changes when this is called again; never
 * NULL. */
const char *plaq_last_error(void);

/** Gives the same message with the words for values and parameters that files and languages other than C use:
 * `full` for PLAQ_SYSTEM_FULL, `tol` for params.tol. */
const char *plaq_last_error_in_words(void);

/** Gives the name of a status, e.g. "PLAQ_NULL_POINTER"; "unknown status" for other numbers. */
const char *plaq_status_name(int32_t status);

/** Explains the meaning of a status in a sentence. */
const char *plaq_status_help(int32_t status);

/** Sends the log up to `level` to a callback; with NULL or PLAQ_LOG_OFF nothing is logged any more. There is
 * one callback per process. */
plaq_status plaq_log_set(plaq_log_callback callback, void *user, plaq_log_level level);

/* ---- Context: a device and everything on it ---- */

/** A device with its memory and threads. Fields and operators belong to a context and are destroyed with it;
 * there may be several contexts at a time. */
typedef struct plaq_context {
  int64_t id;
} plaq_context;

/** Kind of the device that a context uses. */
typedef int32_t plaq_device;
enum {
  /** CUDA if there is a usable GPU, else the CPU. */
  PLAQ_DEVICE_AUTO = 0,
  /** The CPU. */
  PLAQ_DEVICE_CPU = 1,
  /** An NVIDIA GPU, by CUDA. */
  PLAQ_DEVICE_CUDA = 2
};

/** Ways of passing the ranks that share a lattice (docs/mpi.md). */
typedef int32_t plaq_communicator;
enum {
  /** One rank, without MPI. */
  PLAQ_COMMUNICATOR_NONE = 0,
  /** The address of an MPI_Comm, in `communicator`. */
  PLAQ_COMMUNICATOR_C = 1,
  /** The Fortran integer of a communicator, in `communicator_fortran`. */
  PLAQ_COMMUNICATOR_FORTRAN = 2,
  /** The ranks of MPI_COMM_WORLD. */
  PLAQ_COMMUNICATOR_WORLD = 3
};

/** Returns the rank at four coordinates of the process grid. */
typedef int32_t (*plaq_rank_callback)(const int32_t *coords, void *user);

/** Parameters of a context. */
typedef struct plaq_context_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Kind of device on which the context computes. Default: PLAQ_DEVICE_AUTO. */
  plaq_device device;
  /** Number of the GPU, counted from 0; -1: the rank's number on its node, modulo the visible ones.
   * 0 or more. Default: -1. */
  int32_t ordinal;
  /** Number of threads of the CPU back end; 0: as many as this process may use, divided among ranks on the same
   * cores. 0 to 4096. Default: 0. */
  int32_t threads;
  /** The way in which the ranks are passed. Default: PLAQ_COMMUNICATOR_NONE. */
  plaq_communicator communicator_kind;
  /** Address of the host's MPI_Comm; plaq duplicates the communicator. Default: NULL. */
  void *communicator;
  /** The communicator as an integer of Fortran. Default: 0. */
  int32_t communicator_fortran;
  /** True: sums over ranks have the same bits in every run with the same process grid.
   * 0 or 1. Default: 0. */
  int32_t reproducible;
  /** Number of ranks in the directions x, y, z, t; zeros: all ranks in t.
   * Default: 0, 0, 0, 0. */
  int32_t grid[4];
  /** The rank at each place of the process grid, x fastest; NULL: rank n is at place n, unless there is a
   * `rank_callback`. Default: NULL. */
  const int32_t *rank_table;
  /** A function that returns the rank at a place of the process grid; NULL: `rank_table` is used.
   * Default: NULL. */
  plaq_rank_callback rank_callback;
  /** Address that is passed to `rank_callback`. Default: NULL. */
  void *rank_user;
  /** Seconds that a rank waits for another one before the call fails; 0: PLAQ_COMM_TIMEOUT, or 300.
   * Default: 0. */
  double timeout;
  /** Largest number of bytes that the fields of this context may take on the device; 0: limited only by the
   * device's memory. Calls that would exceed it fail with OUT_OF_MEMORY. 0 or more.
   * Default: 0. */
  int64_t memory_limit;
  /** The CUstream (cudaStream_t) on which the host works with device arrays that it passes: calls run after the
   * work on that stream. NULL: the legacy default stream. Frameworks with streams of their own (CuPy, PyTorch,
   * JAX) must pass theirs, here or in plaq_layout_params. Default: NULL. */
  void *stream;
} plaq_context_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_context_params_init(plaq_context_params *params, int64_t struct_size);

/** Description of a context; sizes are in bytes. */
typedef struct plaq_context_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Kind of device, PLAQ_DEVICE_CPU or PLAQ_DEVICE_CUDA. */
  plaq_device device;
  /** Largest number of lanes (virtual nodes) into which a lattice is divided for SIMD vectors. */
  int32_t lanes;
  /** Bytes of memory that the device has. */
  int64_t memory_total;
  /** Bytes of the device's memory that are free. */
  int64_t memory_free;
  /** Bytes of device memory that the fields of this context take now. */
  int64_t memory_used;
  /** Largest number of bytes that the fields of this context have taken so far. */
  int64_t memory_peak;
  /** Number of ranks. */
  int32_t ranks;
  /** Number of this rank, counted from 0. */
  int32_t rank;
  /** Number of ranks in x, y, z, t. */
  int32_t grid[4];
  /** Coordinates of this rank in the process grid. */
  int32_t coords[4];
} plaq_context_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_context_report_init(plaq_context_report *report, int64_t struct_size);

/** Makes a context; all ranks of its communicator do so together. Errors: NO_DEVICE,
 * DRIVER_MISSING, DRIVER_TOO_OLD, NVRTC_MISSING, PROCESS_GRID, MPI_MISSING, MPI_STATE,
 * MPI_THREAD, COMM_FAILED. */
plaq_status plaq_context_create(const plaq_context_params *params, plaq_context *context);

/** Destroys a context and all its objects. The zero handle is accepted. */
plaq_status plaq_context_destroy(plaq_context context);

/** Writes the name of the device, e.g. "NVIDIA H200", into a buffer of `capacity` bytes. */
plaq_status plaq_context_name(plaq_context context, char *name, int64_t capacity);

/** Describes the device, its memory and the ranks of a context. */
plaq_status plaq_context_describe(plaq_context context, plaq_context_report *report);

/** Resets memory_peak to memory_used. */
plaq_status plaq_context_reset_peak(plaq_context context);

/** Waits until the device has finished all its work. */
plaq_status plaq_context_synchronize(plaq_context context);

/* ---- Fields: what they share ---- */

/** Sites of a field; parity is (x + y + z + t) mod 2. */
typedef int32_t plaq_subset;
enum {
  /** Sites of both parities. */
  PLAQ_SUBSET_FULL = 0,
  /** Sites of parity 0. */
  PLAQ_SUBSET_EVEN = 1,
  /** Sites of parity 1. */
  PLAQ_SUBSET_ODD = 2
};

/** Storage precision; the value is the number of bytes of a real. Arithmetic is in double precision for fields in
 * double, else in single; sums are in double. */
typedef int32_t plaq_precision;
enum {
  /** 64-bit floating point. */
  PLAQ_PRECISION_DOUBLE = 8,
  /** 32-bit floating point. */
  PLAQ_PRECISION_SINGLE = 4,
  /** 16-bit fixed point; spinors have one norm per site. */
  PLAQ_PRECISION_HALF = 2,
  /** 8-bit fixed point, only for the links of multigrid's coarse operators (`link_precision` of
   * plaq_multigrid_params). */
  PLAQ_PRECISION_QUARTER = 1
};

/* ---- Layouts: arrays of the host program ---- */

/** Memory to which pointers of the host refer. */
typedef int32_t plaq_location;
enum {
  /** Memory of the host. */
  PLAQ_LOCATION_HOST = 0,
  /** Memory of the context's device. */
  PLAQ_LOCATION_DEVICE = 1
};

/** Bases of the gamma matrices for arrays of spinors (docs/layouts.md). */
typedef int32_t plaq_basis;
enum {
  /** DeGrand-Rossi basis, of MILC, Chroma and QUDA. */
  PLAQ_BASIS_DEGRAND_ROSSI = 0,
  /** UKQCD basis, non-relativistic: gamma_t is diagonal. */
  PLAQ_BASIS_UKQCD = 1,
  /** Chiral basis of openQCD. */
  PLAQ_BASIS_CHIRAL = 2,
  /** Dirac-Pauli basis: gamma_t is diagonal. */
  PLAQ_BASIS_DIRAC_PAULI = 3
};

/** Order of an array's indices, from the slowest to the fastest; docs/layouts.md has the formulas. Complex
 * numbers are (re, im), colour matrices row-major unless stated otherwise. */
typedef int32_t plaq_order;
enum {
  /** Sites in lexicographic order (x fastest), at each of them direction, row, column of links, or spin, colour. */
  PLAQ_ORDER_LEXICOGRAPHIC = 0,
  /** QDP: even sites, then odd; links in four arrays, spinors with the index of spin faster than that of colour. */
  PLAQ_ORDER_QDP = 1,
  /** QDP-JIT: sites fastest; links in four arrays, clover blocks in two. */
  PLAQ_ORDER_QDPJIT = 2,
  /** MILC: even sites, then odd; at each site four links, or spin, then colour (QUDA_DIRAC_ORDER), or packed
   * clover blocks (QUDA_PACKED_CLOVER_ORDER). */
  PLAQ_ORDER_MILC = 3,
  /** MILC: links in an array of structs, one for each site, of the size site_bytes, in which links begin at
   * site_offset. */
  PLAQ_ORDER_MILC_SITE = 4,
  /** CPS: links with the index of columns slower than that of rows; spinors with odd sites first. */
  PLAQ_ORDER_CPS = 5,
  /** Links of BQCD. */
  PLAQ_ORDER_BQCD = 6,
  /** Links of the TIFR code. */
  PLAQ_ORDER_TIFR = 7,
  /** TIFR's order with two slices of halo on both sides of z. */
  PLAQ_ORDER_TIFR_PADDED = 8,
  /** Links, spinors and clover terms of openQCD; its spinors are in PLAQ_BASIS_CHIRAL. */
  PLAQ_ORDER_OPENQCD = 9,
  /** Links in cuLGT's StandardPattern. */
  PLAQ_ORDER_CULGT_STANDARD = 10,
  /** Links in cuLGT's GpuPattern. */
  PLAQ_ORDER_CULGT_GPU = 11,
  /** Links in cuLGT's GpuPatternTimeslice. */
  PLAQ_ORDER_CULGT_TIMESLICE = 12,
  /** Links in cuLGT's GpuPatternParityPriority. */
  PLAQ_ORDER_CULGT_PARITY = 13,
  /** Links in cuLGT's GpuPatternTimesliceParityPriority. */
  PLAQ_ORDER_CULGT_TIMESLICE_PARITY = 14
};

/** Layout of an array of the host. */
typedef struct plaq_layout_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Order of the array's indices, and the code that uses it.
   * Default: PLAQ_ORDER_LEXICOGRAPHIC. */
  plaq_order order;
  /** Precision of the array's numbers, double or single. Default: PLAQ_PRECISION_DOUBLE. */
  plaq_precision precision;
  /** Memory that holds the array. Default: PLAQ_LOCATION_HOST. */
  plaq_location location;
  /** Gamma basis of spinors. Default: PLAQ_BASIS_DEGRAND_ROSSI. */
  plaq_basis basis;
  /** 0: `data` is the array itself; several arrays (QDP links, right-hand sides) follow each other in it. n:
   * `data` is the address of n pointers to arrays. Default: 0. */
  int32_t arrays;
  /** True: links are projected onto the group after the check. 0 or 1. Default: 0. */
  int32_t project;
  /** Largest violation of unitarity that loading accepts; 0: 1e-10 in double, 1e-5 in single. Negative: nothing
   * is checked, not even for NaN. Default: 0. */
  double tolerance;
  /** Factors of the array's links: it contains scale[mu] times the links, for example an anisotropy.
   * Default: 1, 1, 1, 1. */
  double scale[4];
  /** Boundary phases contained in the array: its links that cross the boundary are multiplied by exp(i pi
   * boundary[mu]). Default: 0, 0, 0, 0. */
  double boundary[4];
  /** Size in bytes of a site's struct, for PLAQ_ORDER_MILC_SITE. 0 or more. Default: 0. */
  int64_t site_bytes;
  /** Offset in bytes of the links in a site's struct, for PLAQ_ORDER_MILC_SITE. 0 or more.
   * Default: 0. */
  int64_t site_offset;
  /** For device arrays, the CUstream (cudaStream_t) on which the host works with them: the call runs after the
   * work on it. NULL: that of plaq_context_params; 1: the legacy default stream; 2: the calling thread's. The
   * call itself returns when its work is done. Default: NULL. */
  void *stream;
} plaq_layout_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_layout_params_init(plaq_layout_params *params, int64_t struct_size);

/* ---- Gauge fields ---- */

/** Links U_mu(x) from x to x + mu, mu = x, y, z, t. They are periodic: boundary phases belong to operators.
 * Operators keep the links with which they were made. */
typedef struct plaq_gauge {
  int64_t id;
} plaq_gauge;

/** Storage of a link, named by the count of real numbers; it also determines the gauge group. */
typedef int32_t plaq_storage;
enum {
  /** SU(3), whole matrices (18 numbers). */
  PLAQ_STORAGE_SU3_18 = 18,
  /** SU(3), two rows (12 numbers). */
  PLAQ_STORAGE_SU3_12 = 12,
  /** SU(3), eight numbers: two unit vectors by stereographic projection. */
  PLAQ_STORAGE_SU3_8 = 8,
  /** SU(3), eight angles; slower than the other eight numbers. */
  PLAQ_STORAGE_SU3_8_ANGLES = 9,
  /** SU(2), four numbers of a0 + i a.sigma. */
  PLAQ_STORAGE_SU2 = 4
};

/** Kinds of link smearing. */
typedef int32_t plaq_smearing;
enum {
  /** APE: projection of (1 - alpha) U + alpha / (2 (d - 1)) (sum of staples) onto SU(3), for d directions;
   * alpha = alpha[0]. */
  PLAQ_SMEARING_APE = 0,
  /** Stout: exp(i Q) U, with i Q the traceless antihermitian part of rho (sum of staples) U^dagger; rho =
   * alpha[0]. */
  PLAQ_SMEARING_STOUT = 1,
  /** HYP: three levels inside of hypercubes, with alpha[0] to alpha[2], for `directions` = 15. For three
   * directions two levels inside of cubes, with alpha[1] and alpha[2]. */
  PLAQ_SMEARING_HYP = 2,
  /** Over-improved stout: stout with (5 - 2 epsilon) / 3 times the staples minus (1 - epsilon) / 12 times those
   * of 1 x 2 and 2 x 1 rectangles; rho = alpha[0], epsilon = alpha[1], from -10 to 10. */
  PLAQ_SMEARING_OVERIMPROVED = 3
};

/** Boundaries of the lattice in time, with N_t stored slices x0 = 0 .. N_t - 1. */
typedef int32_t plaq_boundary_time;
enum {
  /** Open boundaries (Luescher, Schaefer, JHEP 07 (2011) 036): no links beyond the slices 0 and N_t - 1, on
   * which quarks vanish. Temporal links of the last slice do not exist and are zero. */
  PLAQ_BOUNDARY_TIME_OPEN = 1,
  /** Schroedinger functional (Luescher, Narayanan, Weisz, Wolff, Nucl. Phys. B 384 (1992) 168): spatial links
   * of the slices 0 and N_t are fixed, and quarks vanish on these slices. Slice N_t is not stored. */
  PLAQ_BOUNDARY_TIME_SF = 2,
  /** Open boundary at slice 0, and the boundary of the Schroedinger functional at N_t (Luescher, JHEP 06 (2014)
   * 105). */
  PLAQ_BOUNDARY_TIME_OPEN_SF = 3,
  /** Periodic in time, without boundaries. */
  PLAQ_BOUNDARY_TIME_PERIODIC = 4
};

/** Parameters of link smearing. */
typedef struct plaq_gauge_smear_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Rule by which links are smeared. Default: PLAQ_SMEARING_STOUT. */
  plaq_smearing kind;
  /** Number of smearing steps. 0 to 100000. Default: 1. */
  int32_t steps;
  /** Bits mu of the directions whose links are smeared, with staples in planes of these directions; 7: space,
   * 15: all. 0 or more. Default: 15. */
  int32_t directions;
  /** Parameters of the smearing, as the values of `kind` describe them; from 0 to 1 unless stated otherwise. The
   * first must be set. */
  double alpha[3];
} plaq_gauge_smear_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_gauge_smear_params_init(plaq_gauge_smear_params *params, int64_t struct_size);

/** Shape of a gauge field. */
typedef struct plaq_gauge_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Sites of this rank in x, y, z, t; even numbers, the same on all ranks. Must be
   * set. */
  int32_t extents[4];
  /** Precision of the links. Default: PLAQ_PRECISION_DOUBLE. */
  plaq_precision precision;
  /** Storage of the links, which also determines the gauge group.
   * Default: PLAQ_STORAGE_SU3_18. */
  plaq_storage storage;
  /** Boundaries in time of the links; 0: periodic. Default: 0. */
  plaq_boundary_time boundary_time;
  /** Angles phi of the fixed spatial links exp(i diag(phi) / L_k) on slice 0, for boundaries `sf`: three numbers
   * with sum 0. Default: not set (NaN). */
  double phi[3];
  /** Angles phi' of the fixed spatial links exp(i diag(phi') / L_k) on slice N_t, for boundaries `sf` and
   * `open_sf`. Default: not set (NaN). */
  double phi_prime[3];
} plaq_gauge_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_gauge_params_init(plaq_gauge_params *params, int64_t struct_size);

/** Description of a gauge field. */
typedef struct plaq_gauge_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Sites of this rank in x, y, z, t. */
  int32_t extents[4];
  /** Precision of the links. */
  plaq_precision precision;
  /** Storage of the links. */
  plaq_storage storage;
  /** Bytes of device memory of the links. */
  int64_t bytes;
  /** Boundaries in time of the links. */
  plaq_boundary_time boundary_time;
  /** Angles of the fixed spatial links on slice 0; NaN if these are not fixed. */
  double phi[3];
  /** Angles of the fixed spatial links on slice N_t; NaN if these are not fixed. */
  double phi_prime[3];
} plaq_gauge_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_gauge_report_init(plaq_gauge_report *report, int64_t struct_size);

/** Makes a gauge field with unspecified links. Errors: BAD_EXTENTS, OUT_OF_MEMORY, INVALID_ARGUMENT. */
plaq_status plaq_gauge_create(plaq_context context,
                              const plaq_gauge_params *params,
                              plaq_gauge *gauge);

/** Destroys a gauge field; operators made with it remain valid. The zero handle is accepted. */
plaq_status plaq_gauge_destroy(plaq_gauge gauge);

/** Describes the shape and size of a gauge field. */
plaq_status plaq_gauge_describe(plaq_gauge gauge, plaq_gauge_report *report);

/** Smears the links of an SU(3) field; a projection to SU(3) is the unitary factor of the polar decomposition
 * with determinant 1. After an error the links are unchanged. Errors: BAD_PARAMETER, UNSUPPORTED,
 * OUT_OF_MEMORY. */
plaq_status plaq_gauge_smear(plaq_gauge gauge, const plaq_gauge_smear_params *params);

/** Copies the links of `from` into `to`; precision and storage may differ. Errors: FIELD_MISMATCH for another
 * lattice or group, or other boundaries in time. */
plaq_status plaq_gauge_copy(plaq_gauge from, plaq_gauge to);

/** Declares that the links of `gauge` were smeared from those of `from`, or have flowed from them, elsewhere,
 * e.g. in another program, so that quarks on `from` may be smeared with them; it holds until the links of
 * `gauge` change. Links that this library has smeared need no declaration. Errors: FIELD_MISMATCH for another
 * lattice or group. */
plaq_status plaq_gauge_belongs_to(plaq_gauge gauge, plaq_gauge from);

/** Loads links from the host's array; after an error the old ones are kept. Errors: NOT_UNITARY, NOT_FINITE
 * (naming the link), BAD_LAYOUT. */
plaq_status plaq_gauge_load(plaq_gauge gauge, const plaq_layout_params *layout, const void *data);

/** Saves the links into the host's array. */
plaq_status plaq_gauge_save(plaq_gauge gauge, const plaq_layout_params *layout, void *data);

/* ---- Gauge configurations in files ---- */

/** Faults of a file that could be read. */
typedef int32_t plaq_file_warning;
enum {
  /** ILDG: the record ildg-format is no XML; SciDAC's records gave lattice and precision. */
  PLAQ_FILE_WARNING_FORMAT = 1,
  /** The checksum is not that of the links (plaq_gauge_read_params.wrong_checksum). */
  PLAQ_FILE_WARNING_CHECKSUM = 2,
  /** The file has no checksum: damage that keeps links unitary goes unnoticed. */
  PLAQ_FILE_WARNING_NO_CHECKSUM = 4,
  /** LIME: a message has no end mark, but everything that belongs to it is there. */
  PLAQ_FILE_WARNING_MESSAGE_END = 8,
  /** LIME: the last record is not filled up to a multiple of 8 bytes. */
  PLAQ_FILE_WARNING_PADDING = 16,
  /** LIME: bytes follow the last record. */
  PLAQ_FILE_WARNING_TRAILING = 32,
  /** Links in double precision that are unitary only to single precision. */
  PLAQ_FILE_WARNING_SINGLE_PRECISION = 64
};

/** Byte order of the numbers in a file. */
typedef int32_t plaq_byte_order;
enum {
  /** Least significant byte first. */
  PLAQ_BYTE_ORDER_LITTLE = 1,
  /** Most significant byte first. */
  PLAQ_BYTE_ORDER_BIG = 2
};

/** File formats of gauge configurations. */
typedef int32_t plaq_file_format;
enum {
  /** NERSC archive with two rows of each link. */
  PLAQ_FILE_FORMAT_NERSC = 1,
  /** NERSC archive with three rows of each link. */
  PLAQ_FILE_FORMAT_NERSC_3X3 = 2,
  /** ILDG with SciDAC records in LIME. */
  PLAQ_FILE_FORMAT_ILDG = 3,
  /** MILC version 5, single precision; older versions are read, too. */
  PLAQ_FILE_FORMAT_MILC = 4,
  /** openQCD, double precision. */
  PLAQ_FILE_FORMAT_OPENQCD = 5,
  /** DDalphaAMG, double precision. */
  PLAQ_FILE_FORMAT_DDALPHAAMG = 6
};

/** Texts in headers of NERSC and ILDG files; plaq_gauge_write_params has members for them. */
typedef int32_t plaq_file_text;
enum {
  /** Identifier of the ensemble. */
  PLAQ_FILE_TEXT_ENSEMBLE_ID = 1,
  /** Label of the ensemble. */
  PLAQ_FILE_TEXT_ENSEMBLE_LABEL = 2,
  /** Creator of the file. */
  PLAQ_FILE_TEXT_CREATOR = 3,
  /** Date of the file's creation. */
  PLAQ_FILE_TEXT_DATE = 4,
  /** Logical file name, in ILDG files. */
  PLAQ_FILE_TEXT_LFN = 5,
  /** The whole record scidac-record-xml, in ILDG files. */
  PLAQ_FILE_TEXT_RECORD = 6
};

/** Parameters of reading a configuration; format and size are found in the file. */
typedef struct plaq_gauge_read_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Extents that the whole lattice of the file must have; all 0: any. Default: 0, 0, 0, 0. */
  int32_t extents[4];
  /** Precision of the links on the device. Default: PLAQ_PRECISION_DOUBLE. */
  plaq_precision precision;
  /** Storage of the links on the device. Default: PLAQ_STORAGE_SU3_18. */
  plaq_storage storage;
  /** Largest accepted violation of unitarity; 0: 1e-10 for files in double, 1e-5 for files in single
   * precision, and, with a warning, for files in double whose links mostly have larger violations.
   * 0 or more. Default: 0. */
  double unitarity;
  /** Largest accepted difference of plaquette and link trace between the file's header and its links; 0:
   * half a unit of the header's last decimal plus 1e-9 (links in double) or 1e-6 (single).
   * 0 or more. Default: 0. */
  double header;
  /** 1: links are put back into SU(3) after the check; 0: they are not changed. 0 or 1.
   * Default: 1. */
  int32_t project;
  /** 1: a file is read even if a checksum in it is wrong; where the call reports `warnings`, they say so. For
   * files that were changed after they were written and are known to be good. 0 or 1.
   * Default: 0. */
  int32_t wrong_checksum;
  /** Boundaries in time of the links; 0: open for files of openQCD in which all temporal links of the last
   * slice are exactly zero, else periodic. Default: 0. */
  plaq_boundary_time boundary_time;
  /** Angles phi of the fixed spatial links exp(i diag(phi) / L_k) on slice 0, for boundaries `sf`: three numbers
   * with sum 0. Default: not set (NaN). */
  double phi[3];
  /** Angles phi' of the fixed spatial links exp(i diag(phi') / L_k) on slice N_t, for boundaries `sf` and
   * `open_sf`. Default: not set (NaN). */
  double phi_prime[3];
} plaq_gauge_read_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_gauge_read_params_init(plaq_gauge_read_params *params, int64_t struct_size);

/** Format and header of a file that is written. Texts are NULL or NUL-terminated UTF-8. */
typedef struct plaq_gauge_write_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Format of the file. Default: PLAQ_FILE_FORMAT_ILDG. */
  plaq_file_format format;
  /** Byte order of the numbers; 0: the usual one of the format. Only some formats have a choice.
   * Default: 0. */
  plaq_byte_order byte_order;
  /** Precision of the numbers, PLAQ_PRECISION_DOUBLE or PLAQ_PRECISION_SINGLE; 0: double if the format has
   * it. Default: 0. */
  plaq_precision precision;
  /** Number of the configuration in its ensemble; negative: not stated. Default: -1. */
  int64_t sequence_number;
  /** Identifier of the ensemble; NULL: not stated. Default: NULL. */
  const char *ensemble_id;
  /** Label of the ensemble; NULL: not stated. Default: NULL. */
  const char *ensemble_label;
  /** Creator of the file; NULL: not stated. Default: NULL. */
  const char *creator;
  /** Date of creation; NULL: now, in UTC. Default: NULL. */
  const char *date;
  /** Logical file name of ILDG; NULL: none. Default: NULL. */
  const char *lfn;
} plaq_gauge_write_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_gauge_write_params_init(plaq_gauge_write_params *params, int64_t struct_size);

/** Contents of a file's header. */
typedef struct plaq_file_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Extents of the whole lattice. */
  int32_t extents[4];
  /** Format of the file. */
  plaq_file_format format;
  /** Precision of the numbers in the file. */
  plaq_precision precision;
  /** Byte order of the numbers in the file. */
  plaq_byte_order byte_order;
  /** A sum of PLAQ_FILE_WARNING_...: faults of the file in spite of which it was read. */
  int32_t warnings;
  /** Number of the configuration; -1: not stated. */
  int64_t sequence_number;
  /** Plaquette according to the header, 1 for unit links; NaN: not stated. */
  double plaquette;
  /** Link trace according to the header, 1 for unit links; NaN: not stated. */
  double link_trace;
} plaq_file_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_file_report_init(plaq_file_report *report, int64_t struct_size);

/** Makes a gauge field from a file in any known format. Checksums, unitarity and the header's plaquette are
 * checked; if a check fails no field is made. Errors: BAD_PARAMETER, FILE_OPEN, FILE_FORMAT, FILE_EXTENTS,
 * FILE_TRUNCATED, FILE_CHECKSUM, FILE_PLAQUETTE, NOT_UNITARY, NOT_FINITE, BAD_EXTENTS, OUT_OF_MEMORY. */
plaq_status plaq_gauge_read(plaq_context context,
                            const char *file,
                            const plaq_gauge_read_params *params,
                            plaq_gauge *gauge,
                            plaq_file_report *report);

/** Writes the links to a file, which appears complete or not at all. Errors: FILE_WRITE, UNSUPPORTED. */
plaq_status plaq_gauge_write(plaq_gauge gauge,
                             const char *file,
                             const plaq_gauge_write_params *params);

/** Reads a text from the header of a configuration's file, without the links; only the calling rank reads.
 * `found`: 0 if the file has no such text, and `value` is then empty. Errors: INVALID_ARGUMENT (also if
 * `capacity` is too small), FILE_OPEN, FILE_FORMAT, FILE_TRUNCATED. */
plaq_status plaq_gauge_read_text(const char *file,
                                 plaq_file_text text,
                                 char *value,
                                 int64_t capacity,
                                 int32_t *found);

/* ---- Spinor fields ---- */

/** Wilson spinors, 4 spins x 3 colours per site, of one or two flavours, or colour vectors, 3 colours per
 * site, for one or more right-hand sides. */
typedef struct plaq_spinor {
  int64_t id;
} plaq_spinor;

/** Parameters of Gaussian (Wuppertal) smearing: psi <- [(1 + alpha H) / (1 + 2 d alpha)]^steps psi, where H is
 * the sum over the neighbours in d directions, parallel transported by the links. */
typedef struct plaq_spinor_smear_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Weight alpha of the neighbours, any number except -1 / (2 d). It must be set. */
  double alpha;
  /** Number of smearing steps. 0 to 100000. Default: 0. */
  int32_t steps;
  /** Bits mu of the directions of neighbours; 7: x, y, z. Default: 7. */
  int32_t directions;
  /** Momentum smearing: the links are multiplied by exp(2 pi i momentum(j) / L_j) in direction j; any real
   * numbers. For a quark of a hadron with sink phase exp(-i p x), p_j = 2 pi n_j / L_j, the best choice is
   * momentum(j) = -zeta n_j with zeta about 1/2 for mesons; for an antiquark, given as a quark, +zeta n_j.
   * Only for fields in single or double precision. Default: 0, 0, 0. */
  double momentum[3];
  /** Smearing by a kernel in place of steps, without alpha: psi(x) <- sum_r g(r) exp(2 pi i momentum r / L)
   * psi(x + r), g(r) = exp(-r^2 / (2 width^2)) up to a factor, with the sum 1, r_j from -L_j / 2 to L_j / 2.
   * No links connect x with x + r: the sum is not gauge covariant, and `gauge` must be in Coulomb gauge.
   * 0 or more. Default: 0. */
  double width;
} plaq_spinor_smear_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_spinor_smear_params_init(plaq_spinor_smear_params *params, int64_t struct_size);

/** Shape of a spinor field. */
typedef struct plaq_spinor_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Sites of this rank in x, y, z, t; even numbers, the same on all ranks. Must be set, or taken from
   * `gauge`. */
  int32_t extents[4];
  /** Precision of the spinors. Default: PLAQ_PRECISION_DOUBLE. */
  plaq_precision precision;
  /** Sites that the field has. Default: PLAQ_SUBSET_FULL. */
  plaq_subset subset;
  /** Number of right-hand sides. 1 to 4096. Default: 1. */
  int32_t nrhs;
  /** Number of spins of a site: 4 for spinors, 1 for colour vectors. Default: 4. */
  int32_t spins;
  /** A gauge field that has the extents, if `extents` are zeros; otherwise both must be equal. Default:
   * none. */
  plaq_gauge gauge;
  /** Number of slices of a right-hand side: 1, or 2 for a doublet of flavours, one for each flavour. In
   * arrays of the host slices are slower than sites and faster than right-hand sides.
   * Default: 1. */
  int64_t slices;
} plaq_spinor_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_spinor_params_init(plaq_spinor_params *params, int64_t struct_size);

/** Description of a spinor field. */
typedef struct plaq_spinor_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Sites of this rank in x, y, z, t. */
  int32_t extents[4];
  /** Precision of the spinors. */
  plaq_precision precision;
  /** Sites of the field: all, or those of one parity. */
  plaq_subset subset;
  /** Number of right-hand sides. */
  int32_t nrhs;
  /** Number of spins of a site: 4 for spinors, 1 for colour vectors. */
  int32_t spins;
  /** Bytes of device memory of the field. */
  int64_t bytes;
  /** Number of slices of a right-hand side: 2 for a doublet of flavours, else 1. */
  int64_t slices;
} plaq_spinor_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_spinor_report_init(plaq_spinor_report *report, int64_t struct_size);

/** Makes a spinor field with all numbers zero. Errors: BAD_PARAMETER, BAD_EXTENTS, OUT_OF_MEMORY, INVALID_ARGUMENT. */
plaq_status plaq_spinor_create(plaq_context context,
                               const plaq_spinor_params *params,
                               plaq_spinor *spinor);

/** Destroys a spinor field. The zero handle is accepted. */
plaq_status plaq_spinor_destroy(plaq_spinor spinor);

/** Describes the shape and size of a spinor field. */
plaq_status plaq_spinor_describe(plaq_spinor spinor, plaq_spinor_report *report);

/** Loads spinors from the host's array; for a field of one parity only sites of that are read. After an error
 * the field is unchanged. Errors: NOT_FINITE, BAD_LAYOUT. */
plaq_status plaq_spinor_load(plaq_spinor spinor,
                             const plaq_layout_params *layout,
                             const void *data);

/** Saves the spinors into the host's array; sites that are not in the field are not written. */
plaq_status plaq_spinor_save(plaq_spinor spinor, const plaq_layout_params *layout, void *data);

/** Sets all numbers of a field to zero. */
plaq_status plaq_spinor_zero(plaq_spinor spinor);

/** Copies `from` to `to`; precisions may differ. */
plaq_status plaq_spinor_copy(plaq_spinor from, plaq_spinor to);

/** Computes y = a x + b y, with one complex (re, im) a and b per right-hand side: `count` = nrhs.
 * Arrays: a[2 * count], b[2 * count]. */
plaq_status plaq_spinor_axpby(const double *a,
                              plaq_spinor x,
                              const double *b,
                              plaq_spinor y,
                              int64_t count);

/** Smears every right-hand side of a field on both parities, in any precision, with the links of `gauge`
 * (SU(3)). After an error the field is unchanged. Errors: BAD_PARAMETER, UNSUPPORTED, FIELD_MISMATCH,
 * OUT_OF_MEMORY. */
plaq_status plaq_spinor_smear(plaq_spinor spinor,
                              plaq_gauge gauge,
                              const plaq_spinor_smear_params *params);

/** Computes the covariant shift y of x along a path of `length` steps, 0 to 3 forward in x, y, z, t and 7 -
 * mu back in direction mu: y(n) is x at the end of the path that starts at n, parallel transported to n by
 * the links of `gauge` (SU(3)); one step forward is U_mu(n) x(n + mu). A spinor that records boundary phases
 * (plaq_spinor_origin) takes them along across the lattice's end, other fields are periodic. Fields are on
 * both parities; y and x are different fields. With boundaries of the links in time y(n) is zero where the path
 * leaves the slices that are stored, and spinors x count as zero where quarks vanish. Errors: BAD_PARAMETER,
 * FIELD_MISMATCH, OUT_OF_MEMORY. */
plaq_status plaq_spinor_shift(plaq_spinor y,
                              plaq_gauge gauge,
                              const int32_t *steps,
                              int64_t length,
                              plaq_spinor x);

/** Computes |x|^2, summed over sites, spin and colour, for each right-hand side: `count` = nrhs.
 * Arrays: norms[count]. */
plaq_status plaq_spinor_norm2(plaq_spinor x, double *norms, int64_t count);

/** Computes conj(x) y, summed over sites, spin and colour, as (re, im) for each right-hand side: `count` =
 * nrhs.
 * Arrays: products[2 * count]. */
plaq_status plaq_spinor_dot(plaq_spinor x, plaq_spinor y, double *products, int64_t count);

/* ---- Gauge observables, random fields, quenched updates ---- */

/** Distribution of the components c of a random spinor, which are independent with average |c|^2 = 1. */
typedef int32_t plaq_noise;
enum {
  /** The numbers 1 and -1. */
  PLAQ_NOISE_Z2 = 1,
  /** The numbers 1, i, -1 and -i. */
  PLAQ_NOISE_Z4 = 2,
  /** Complex normal numbers. */
  PLAQ_NOISE_NORMAL = 3
};

/** Called after every sweep with the number of sweeps done, their total number, and the seconds since the
 * start. A result other than 0 ends the update, and the report says so. A single rank may have a callback or
 * ask to stop: all ranks stop after the same sweep. */
typedef int32_t (*plaq_sweep_callback)(int64_t done, int64_t all, double seconds, void *user);

/** Parameters of quenched updates with weight exp(-beta sum (1 - Re tr U_munu / N)). */
typedef struct plaq_heatbath_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Coupling beta of the Wilson action. It must be set. 0 to 1000000. */
  double beta;
  /** Seed of the random numbers. Default: 0. */
  int64_t seed;
  /** Number of heat bath sweeps. 0 or more. Default: 1. */
  int64_t sweeps;
  /** Number of overrelaxation sweeps after each heat bath sweep. 0 or more. Default: 4. */
  int64_t overrelax;
  /** Number of heat bath sweeps already done with this seed; to continue a run, next_sweep of its last report.
   * 0 or more. Default: 0. */
  int64_t first_sweep;
  /** Weight cG at slice 0, for links with boundaries in time: of plaquettes in an open boundary slice, which
   * also have a factor 1/2, or of plaquettes between a slice of fixed links and the next one.
   * 0 to 100. Default: 1. */
  double cg;
  /** Weight cG' at the other boundary; NaN: the same as cg. Default: NaN. */
  double cg_prime;
} plaq_heatbath_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_heatbath_params_init(plaq_heatbath_params *params, int64_t struct_size);

/** Average plaquettes Re tr U_munu / N: 1 for unit links. With boundaries in time the average is over plaquettes
 * that exist, spatial ones of a boundary slice with weight 1/2, as in openQCD's logs; those of fixed links are
 * included. */
typedef struct plaq_plaquette {
  /** Average over all six planes. */
  double total;
  /** Average over the planes xy, xz, yz. */
  double spatial;
  /** Average over the planes xt, yt, zt. */
  double temporal;
  /** Average Re tr U / N of the links themselves. */
  double link_trace;
} plaq_plaquette;

/** The largest violation of unitarity over all links. */
typedef struct plaq_unitarity {
  /** Largest modulus of an entry of U U^dagger - 1; infinite where a link is not finite. */
  double unitary;
  /** Largest |det U - 1| of a link. */
  double det;
  /** Coordinates x, y, z, t of the link with the largest violation. */
  int32_t site[4];
  /** Direction of the link with the largest violation, 0 to 3. */
  int32_t direction;
} plaq_unitarity;

/** Averages of the clover-leaf field strength. */
typedef struct plaq_topology {
  /** Topological charge 1/(32 pi^2) sum eps_mnrs tr F_mn F_rs, eps_xyzt = 1, F hermitian: near an integer on
   * smooth fields. */
  double charge;
  /** Average per site of 1/2 sum tr F F over the planes xy, xz and yz (Luescher, JHEP 08 (2010) 071, Eq. (2.1)). */
  double energy_spatial;
  /** Average per site of 1/2 sum tr F F over the planes xt, yt and zt. */
  double energy_temporal;
} plaq_topology;

/** Report of heat bath sweeps. */
typedef struct plaq_heatbath_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Number of the next heat bath sweep in the stream of random numbers. */
  int64_t next_sweep;
  /** 1: the callback asked to stop. */
  int32_t stopped;
  /** Seconds that the sweeps took. */
  double seconds;
} plaq_heatbath_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_heatbath_report_init(plaq_heatbath_report *report, int64_t struct_size);

/** A complex number. */
typedef struct plaq_complex {
  /** Real part. */
  double re;
  /** Imaginary part. */
  double im;
} plaq_complex;

/** Measures the average plaquettes. */
plaq_status plaq_gauge_plaquette(plaq_gauge gauge, plaq_plaquette *plaquette);

/** Measures the Polyakov loop: tr prod U_mu / N along the lines in `direction` (3: time), averaged over the
 * lattice. */
plaq_status plaq_gauge_polyakov_loop(plaq_gauge gauge, int32_t direction, plaq_complex *polyakov);

/** Measures topological charge and action density from the traceless field strength F. */
plaq_status plaq_gauge_topology(plaq_gauge gauge, plaq_topology *topology);

/** Measures the same from an F that keeps the trace of the clover leaves, as QUDA's charge does; on rough
 * links charge and density differ by some per cent. */
plaq_status plaq_gauge_topology_with_trace(plaq_gauge gauge, plaq_topology *topology);

/** Measures the topological charge density on each of this rank's `sites` sites, in lexicographic order with
 * x fastest; its sum over all ranks is the charge. F is traceless, or with `trace` 1 keeps its trace.
 * Arrays: density[sites]. */
plaq_status plaq_gauge_charge_density(plaq_gauge gauge,
                                      int32_t trace,
                                      double *density,
                                      int64_t sites);

/** Measures energy and charge of every time slice of the whole lattice, summed over space: `plaquette`, E = 2
 * sum of Re tr (1 - P), where plaquettes between two slices count half for each, and spatial ones of
 * boundary slices half; `clover`, E = 1/2 sum of tr F F from clover leaves; and the topological charge. All
 * ranks get all slices.
 * Arrays: plaquette[slices], clover[slices], charge[slices]. */
plaq_status plaq_gauge_time_slices(plaq_gauge gauge,
                                   double *plaquette,
                                   double *clover,
                                   double *charge,
                                   int64_t slices);

/** Measures the largest deviation of the links from the group. */
plaq_status plaq_gauge_unitarity(plaq_gauge gauge, plaq_unitarity *unitarity);

/** Sets all links to the unit matrix. */
plaq_status plaq_gauge_unit(plaq_gauge gauge);

/** Sets the links to independent random matrices of the Haar measure, the same on every device and
 * decomposition. */
plaq_status plaq_gauge_hot(plaq_gauge gauge, int64_t seed);

/** Sets the links to exp(i width sum_a p_a T_a) with normally distributed p_a; 0 <= width <= 1. */
plaq_status plaq_gauge_warm(plaq_gauge gauge, int64_t seed, double width);

/** Updates the links by heat bath and overrelaxation; SU(3) stored as 18 numbers, or SU(2), in double or
 * single precision. */
plaq_status plaq_gauge_heatbath(plaq_gauge gauge,
                                const plaq_heatbath_params *params,
                                plaq_sweep_callback callback,
                                void *user,
                                plaq_heatbath_report *report);

/** Sets right-hand side number b to noise vector number `first` + b of the sequence of `seed`. */
plaq_status plaq_spinor_noise(plaq_spinor spinor, plaq_noise noise, int64_t seed, int32_t first);

/* ---- Clover terms ---- */

/** Blocks A of a clover term, or their inverses: for each site and chirality one hermitian 6 x 6 matrix, with
 * row = 3 spin + colour, kappa-normalised: A = 1 + 2 kappa csw (i/4) sum sigma F. */
typedef struct plaq_clover {
  int64_t id;
} plaq_clover;

/** Shape of a clover term. */
typedef struct plaq_clover_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Sites of this rank in x, y, z, t; even numbers, the same on all ranks. Must be set, or taken from
   * `gauge`. */
  int32_t extents[4];
  /** Precision of the blocks. Default: PLAQ_PRECISION_DOUBLE. */
  plaq_precision precision;
  /** A gauge field that has the extents, if `extents` are zeros; otherwise both must be equal. Default:
   * none. */
  plaq_gauge gauge;
} plaq_clover_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_clover_params_init(plaq_clover_params *params, int64_t struct_size);

/** Makes a clover term with unspecified blocks, to be loaded afterwards. */
plaq_status plaq_clover_create(plaq_context context,
                               const plaq_clover_params *params,
                               plaq_clover *clover);

/** Destroys a clover term; operators made with it remain valid. The zero handle is accepted. */
plaq_status plaq_clover_destroy(plaq_clover clover);

/** Loads blocks from the host's array, in PLAQ_ORDER_MILC (packed) or PLAQ_ORDER_QDPJIT. After an error the
 * old blocks are kept. Errors: NOT_FINITE, BAD_LAYOUT. */
plaq_status plaq_clover_load(plaq_clover clover,
                             const plaq_layout_params *layout,
                             const void *data);

/** Saves the blocks into the host's array. */
plaq_status plaq_clover_save(plaq_clover clover, const plaq_layout_params *layout, void *data);

/** Measures ln |det A| on the even and on the odd sites of the whole lattice, 2 numbers; for `twist` not 0
 * ln det(A^2 + twist^2) = ln |det(A + i twist gamma5)|^2, where an operator with twisted mass mu has twist
 * = 2 kappa mu. A in single or double precision. Errors: SINGULAR_CLOVER, BAD_PARAMETER, UNSUPPORTED.
 * Arrays: log_det[2]. */
plaq_status plaq_clover_log_det(plaq_clover clover, double twist, double *log_det);

/** Measures the signs, 1 or -1, of the same two determinants: -1 if A has an odd number of negative
 * eigenvalues. Errors: those of plaq_clover_log_det.
 * Arrays: sign[2]. */
plaq_status plaq_clover_det_sign(plaq_clover clover, double twist, int32_t *sign);

/* ---- Dirac operators: Wilson, clover, twisted mass ---- */

/** An operator with its own hold on links and clover term: changing the gauge field
 * afterwards does not change it. */
typedef struct plaq_dirac {
  int64_t id;
} plaq_dirac;

/** Forms of the clover term. */
typedef int32_t plaq_clover_form;
enum {
  /** Traditional: 4 + m + csw (i/4) sum sigma F (Sheikholeslami, Wohlert, Nucl. Phys. B 259 (1985) 572). */
  PLAQ_CLOVER_TRADITIONAL = 0,
  /** Exponential: (4 + m) exp(csw / (4 + m) (i/4) sum sigma F), whose determinant is constant (Francis,
   * Fritzsch, Luscher, Rago, Comput. Phys. Commun. 255 (2020) 107355). */
  PLAQ_CLOVER_EXPONENTIAL = 1
};

/** The links from which a clover term is made. */
typedef int32_t plaq_clover_links;
enum {
  /** The links of the hop, smeared or not. */
  PLAQ_CLOVER_LINKS_HOP = 0,
  /** The thin links from which the links of the hop were smeared (QCDSF: Cundy et al., Phys. Rev. D 79 (2009)
   * 094507); only in chains whose quarks have smearing. */
  PLAQ_CLOVER_LINKS_THIN = 1
};

/** Normalisation of an operator. The symmetric Schur complement P is the same in both. */
typedef int32_t plaq_normalisation;
enum {
  /** M = A - kappa H, 1 - kappa H without clover term (2 kappa D). */
  PLAQ_NORMALISATION_KAPPA = 0,
  /** D = m + 4 - H/2 with the bare mass m, plus clover term and twisted mass; D = M / (2 kappa). */
  PLAQ_NORMALISATION_MASS = 1
};

/** The system that is solved: on the whole lattice, or by a Schur complement on one parity p, with q the other
 * parity. The symmetric complement 1 - kappa^2 A_p^-1 H_pq A_q^-1 H_qp is the same in all normalisations; the
 * asymmetric one is A_p - kappa^2 H_pq A_q^-1 H_qp. */
typedef int32_t plaq_system;
enum {
  /** The whole lattice. */
  PLAQ_SYSTEM_FULL = 0,
  /** The symmetric complement on even sites. */
  PLAQ_SYSTEM_EVEN_SYMMETRIC = 1,
  /** The symmetric complement on odd sites. */
  PLAQ_SYSTEM_ODD_SYMMETRIC = 2,
  /** The asymmetric complement on even sites. */
  PLAQ_SYSTEM_EVEN_ASYMMETRIC = 3,
  /** The asymmetric complement on odd sites. */
  PLAQ_SYSTEM_ODD_ASYMMETRIC = 4
};

/** An operator M, its adjoint, or a product of the two. */
typedef int32_t plaq_form;
enum {
  /** The operator M itself. */
  PLAQ_FORM_M = 0,
  /** The adjoint M^dagger. */
  PLAQ_FORM_MDAG = 1,
  /** The product M^dagger M, hermitian and positive. */
  PLAQ_FORM_MDAGM = 2,
  /** The product M M^dagger, hermitian and positive. */
  PLAQ_FORM_MMDAG = 3
};

/** A quark of Wilson type: D = m + sum_mu h_mu (1 - ...) Wilson's term, + csw (i/4) sum sigma F, + i mu gamma5. */
typedef struct plaq_dirac_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Normalisation of the operator; mass: D as above, kappa: 2 kappa D, which is 1 - kappa H without clover
   * term. Solutions, shifts, eigenvalues and propagators are those of the normalised operator.
   * Default: PLAQ_NORMALISATION_MASS. */
  plaq_normalisation normalisation;
  /** Hopping parameter 1 / (2 m + 2 sum_mu hop[mu]); 0: the quark is given by `mass`. One of the two must be
   * set. A number above 0, to 2. */
  double kappa;
  /** Bare mass m; ignored where kappa is not 0. Default: not set (NaN). */
  double mass;
  /** Sheikholeslami-Wohlert coefficient; 0: no clover term. Default: 0. */
  double csw;
  /** Sheikholeslami-Wohlert coefficient in the planes with t; NaN: the same as csw.
   * Default: NaN. */
  double csw_t;
  /** Coefficient cF of the boundary counterterm, for links with boundaries in time: cF - 1 is added to the mass
   * on the slice next to the lower boundary, where quarks vanish. Default: 1. */
  double cf;
  /** Coefficient cF' of the boundary counterterm at the upper boundary; NaN: the same as cf.
   * Default: NaN. */
  double cf_prime;
  /** Twisted mass mu. Default: 0. */
  double mu;
  /** Coefficient of the hop in each direction, e.g. (nu/xi, nu/xi, nu/xi, 1).
   * Default: 1, 1, 1, 1. */
  double hop[4];
  /** Boundary phases in units of pi: psi(x + L_mu) = exp(i pi boundary[mu]) psi(x); 1: antiperiodic. Options,
   * TOML and Python also take a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
   * Default: 0, 0, 0, 1. */
  double boundary[4];
  /** Precision of the operator's links and spinors; 0: that of the gauge field. Default: 0. */
  plaq_precision precision;
  /** Storage of the links of the hop; 0: two rows. The clover term is computed from the gauge field as it is
   * stored. Default: 0. */
  plaq_storage storage;
  /** Form of the clover term: traditional, or exponential: 4 + m + csw (i/4) sum sigma F becomes (4 + m) exp(csw
   * / (4 + m) (i/4) sum sigma F), where 4 + m stands for 1 / (2 kappa).
   * Default: PLAQ_CLOVER_TRADITIONAL. */
  plaq_clover_form clover;
  /** Links that the clover term is made of: those of the hop, or the thin ones under a chain's smearing.
   * Default: PLAQ_CLOVER_LINKS_HOP. */
  plaq_clover_links clover_links;
} plaq_dirac_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_dirac_params_init(plaq_dirac_params *params, int64_t struct_size);

/** Description of an operator. */
typedef struct plaq_dirac_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Hopping parameter. */
  double kappa;
  /** Bare mass. */
  double mass;
  /** Floating-point operations of one application to one right-hand side. */
  double flops;
  /** Compulsory bytes of one application to one right-hand side. */
  double bytes;
  /** Precision of the operator. */
  plaq_precision precision;
  /** Storage of the operator's links. */
  plaq_storage storage;
} plaq_dirac_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_dirac_report_init(plaq_dirac_report *report, int64_t struct_size);

/** Makes an operator on the links of `gauge` (SU(3), in single or double precision if
 * there is a clover term). Where the clover term has no inverse on a site, what takes that is
 * SINGULAR_CLOVER: even-odd systems and solves by them, forces. Errors: BAD_PARAMETER, OUT_OF_MEMORY. */
plaq_status plaq_dirac_create(plaq_context context,
                              plaq_gauge gauge,
                              const plaq_dirac_params *params,
                              plaq_dirac *dirac);

/** Makes an operator whose hops have the links of `gauge`, smeared ones, and whose clover term is made of
 * `thin`, the links that they are smeared from, on the same lattice and in the same precision; clover_links is
 * then PLAQ_CLOVER_LINKS_THIN, whatever `params` say. Errors: those of plaq_dirac_create; FIELD_MISMATCH. */
plaq_status plaq_dirac_create_thin(plaq_context context,
                                   plaq_gauge gauge,
                                   plaq_gauge thin,
                                   const plaq_dirac_params *params,
                                   plaq_dirac *dirac);

/** Makes an operator with a clover term A of the host in place of the one made of the links, in the
 * precision of the gauge field; csw is not used. `inverse` is A^-1, for mu other than 0 or the zero handle
 * it is computed. */
plaq_status plaq_dirac_create_with_clover(plaq_context context,
                                          plaq_gauge gauge,
                                          const plaq_dirac_params *params,
                                          plaq_clover clover,
                                          plaq_clover inverse,
                                          plaq_dirac *dirac);

/** Makes the operator of two twisted flavours whose masses differ, M + i mu gamma5 tau3 - epsilon tau1 with the
 * M of `params` without its mu. Vectors have 2 slices. Errors: those of plaq_dirac_create. */
plaq_status plaq_dirac_create_doublet(plaq_context context,
                                      plaq_gauge gauge,
                                      const plaq_dirac_params *params,
                                      double epsilon,
                                      plaq_dirac *dirac);

/** Puts the links of `gauge` into the operator, its clover term and its solvers, in the memory
 * that they have: nothing is allocated, compiled or tuned again where `gauge` is in the
 * operator's precision and stored as 18 or 12 numbers. `gauge` has the lattice of the
 * operator. Errors: FIELD_MISMATCH; UNSUPPORTED for a clover term of the host or of thin links. */
plaq_status plaq_dirac_update(plaq_dirac dirac, plaq_gauge gauge);

/** Destroys an operator. The zero handle is accepted. */
plaq_status plaq_dirac_destroy(plaq_dirac dirac);

/** Describes parameters and cost of an operator. */
plaq_status plaq_dirac_describe(plaq_dirac dirac, plaq_dirac_report *report);

/** Gives a new handle to the clover term A of an operator that has one. Errors: UNSUPPORTED if it has none;
 * SINGULAR_CLOVER. */
plaq_status plaq_dirac_clover(plaq_dirac dirac, plaq_clover *clover);

/** Gives a new handle to A^-1 of an operator that has a clover term A and no twist. Errors: UNSUPPORTED if
 * it has none; SINGULAR_CLOVER. */
plaq_status plaq_dirac_clover_inverse(plaq_dirac dirac, plaq_clover *inverse);

/** Sets y to M x, or another plaq_form of it, for a plaq_system. Fields have the operator's precision and
 * the system's subset; y and x are different fields. */
plaq_status plaq_dirac_apply(plaq_dirac dirac,
                             plaq_system system,
                             plaq_form form,
                             plaq_spinor y,
                             plaq_spinor x);

/** Sets y to H_pq x, the hopping term from parity 1 - p to p = `parity`; dagger: 0 or 1. Fields hold their
 * parity or the whole lattice; of `y` only parity p is written. */
plaq_status plaq_dirac_hop(plaq_dirac dirac,
                           int32_t parity,
                           int32_t dagger,
                           plaq_spinor y,
                           plaq_spinor x);

/* ---- Laplacians ---- */

/** Parameters of the operator -D^2 + m^2 on periodic fields, where D^2 is the gauge-covariant second
 * difference: (2 d + m^2) x(n) minus the sum over d directions of U_mu(n) x(n + mu) and U_mu(n - mu)^dagger
 * x(n - mu). */
typedef struct plaq_laplace_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** m^2 in units of the lattice spacing. Default: 0. */
  double mass2;
  /** Bits mu of the directions; 7: x, y, z, so that time slices are independent; 15: all four.
   * Default: 7. */
  int32_t directions;
  /** Number of spins of a site: 1 for colour vectors, 4 for spinors; spins are not mixed.
   * Default: 1. */
  int32_t spins;
  /** Precision of the operator; 0: that of the gauge field. Default: 0. */
  plaq_precision precision;
  /** Storage of the operator's links, 18 or 12 numbers; 0: 12. Default: 0. */
  plaq_storage storage;
} plaq_laplace_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_laplace_params_init(plaq_laplace_params *params, int64_t struct_size);

/** Makes a Laplacian on the links of `gauge` (SU(3)). Solvers, multi-shift solvers and eigensolvers accept it
 * like any operator. It is hermitian, and Schur complements and normalisations are those of M = -D^2 + m^2.
 * Errors: BAD_PARAMETER, UNSUPPORTED, OUT_OF_MEMORY. */
plaq_status plaq_dirac_create_laplace(plaq_context context,
                                      plaq_gauge gauge,
                                      const plaq_laplace_params *params,
                                      plaq_dirac *dirac);

/* ---- Sources of fields ---- */

/** Kind of the columns of a field in contractions. */
typedef int32_t plaq_line_kind;
enum {
  /** Quark lines from a source, also those that continue through an operator. */
  PLAQ_LINE_PROPAGATOR = 1,
  /** A sequential source: the source of a quark line that continues through the sink of a hadron. */
  PLAQ_LINE_SEQUENTIAL_SOURCE = 2,
  /** The solution of a sequential source: the quark line from the sink of a hadron to an operator. */
  PLAQ_LINE_SEQUENTIAL_PROPAGATOR = 3
};

/** Source and operator from which the columns of a field were made, for plaq_contract_params and files. */
typedef struct plaq_origin_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Coordinates x, y, z, t of the source, from which times and phases of momenta are counted; -1: not
   * known. 0 or more. Default: -1, -1, -1, -1. */
  int32_t position[4];
  /** Normalisation of the operator whose inverse a propagator is; -1: not known. Default: -1. */
  plaq_normalisation normalisation;
  /** Boundaries in time of the operator's links; 0: not known. Default: 0. */
  plaq_boundary_time boundary_time;
  /** Boundary phase of the fermions in time in units of pi, 1: antiperiodic. NaN: not known.
   * Default: NaN. */
  double boundary;
  /** Boundary phases in x, y and z in units of pi. NaN: not known. Default: NaN, NaN, NaN. */
  double boundary_space[3];
  /** Bare mass of the operator. NaN: not known. Default: NaN. */
  double mass;
  /** Twisted mass of the operator. NaN: not known. Default: NaN. */
  double mu;
  /** Averages that identify the operator's links: their average spatial and temporal plaquettes, and Re tr
   * U / 3. NaN: not known. Default: NaN, NaN, NaN. */
  double links[3];
  /** Kind of the columns: contractions refuse columns of another kind than they need. 0: not known.
   * Default: 0. */
  plaq_line_kind kind;
  /** Form of the operator's clover term; -1: not known. Default: -1. */
  plaq_clover_form clover;
  /** Clover coefficients csw of the operator, in planes of space and in those with t. NaN: not known.
   * Default: NaN, NaN. */
  double csw[2];
  /** Boundary phase in time of a meson's antiquark, in units of pi, for a sequential source through a sink beyond
   * the end of the lattice in time and its solution; contractions take it out together with that of the quark.
   * NaN: there is none to take out. Default: NaN. */
  double crossed;
} plaq_origin_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_origin_params_init(plaq_origin_params *params, int64_t struct_size);

/** Source and operator from which the columns of a field were made, as far as known; members are as in
 * plaq_origin_params. */
typedef struct plaq_origin_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Coordinates x, y, z, t of the source; -1: not known. */
  int32_t position[4];
  /** Normalisation of the operator whose inverse a propagator is; -1: not known. */
  plaq_normalisation normalisation;
  /** Boundaries in time of the operator's links; 0: not known. */
  plaq_boundary_time boundary_time;
  /** Boundary phase of the fermions in time in units of pi; NaN: not known. */
  double boundary;
  /** Boundary phases in x, y and z in units of pi; NaN: not known. */
  double boundary_space[3];
  /** Bare mass of the operator; NaN: not known. */
  double mass;
  /** Twisted mass of the operator; NaN: not known. */
  double mu;
  /** Averages that identify the operator's links; NaN: not known. */
  double links[3];
  /** Kind of the columns; 0: not known. */
  plaq_line_kind kind;
  /** Form of the operator's clover term; -1: not known. */
  plaq_clover_form clover;
  /** Clover coefficients of the operator, in planes of space and in those with t; NaN: not known. */
  double csw[2];
  /** Boundary phase in time of the antiquark of a meson whose sink is beyond the end of the lattice, of
   * sequential sources and their solutions; NaN: none. */
  double crossed;
} plaq_origin_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_origin_report_init(plaq_origin_report *report, int64_t struct_size);

/** Gives the source and operator of a field, as far as known. Propagators, solutions and sources have them
 * from the calls that made them or from their file; copies, smeared, shifted and sequential fields from the
 * field of which they were made. After plaq_spinor_load nothing is known. */
plaq_status plaq_spinor_origin(plaq_spinor spinor, plaq_origin_report *origin);

/** Sets the source and operator of a field that comes from another code. Errors: BAD_PARAMETER, INVALID_ARGUMENT. */
plaq_status plaq_spinor_set_origin(plaq_spinor spinor, const plaq_origin_params *origin);

/** Finds the coordinates x, y, z, t of the whole lattice at which columns of spinors on both parities are not
 * zero: the site of a point source, the time of a wall; -1 for a direction with several coordinates, or if
 * all columns are zero. The search runs on the host.
 * Arrays: position[4]. */
plaq_status plaq_spinor_support(plaq_spinor spinor, int32_t *position);

/* ---- Progress of long work ---- */

/** Called after every iteration of a solve, step of a set-up or restart of a search, with the largest
 * relative residual of the recurrence and the seconds since the start. A result other than 0 ends the work,
 * and the report says so. A single rank may have a callback or ask to stop: all ranks stop after the next
 * iteration, and the callback is not called again. */
typedef int32_t (*plaq_progress_callback)(int64_t iteration, double residual, double seconds, void *user);

/* ---- Multigrid ---- */

/** A multigrid hierarchy of null vectors and coarse operators of a Dirac operator, with which solvers, also
 * several of them, precondition. */
typedef struct plaq_multigrid {
  int64_t id;
} plaq_multigrid;

/** Cycles of multigrid: the ways in which a level solves with the next coarser one. */
typedef int32_t plaq_cycle;
enum {
  /** V cycle: one correction by the next coarser level. */
  PLAQ_CYCLE_V = 0,
  /** W cycle: two corrections by the next coarser level, combined by GCR. */
  PLAQ_CYCLE_W = 1,
  /** K cycle: GCR to a tolerance, preconditioned by the cycle of the level below. */
  PLAQ_CYCLE_K = 2
};

/** Smoothers of a level of multigrid. */
typedef int32_t plaq_smoother;
enum {
  /** Minimal residual, on the finest level with relaxation `omega`. */
  PLAQ_SMOOTHER_MR = 0,
  /** Generalised conjugate residual (GCR), with sums in every step. */
  PLAQ_SMOOTHER_GCR = 1,
  /** The minimum of GCR over the same Krylov space, with one sum in up to twelve steps. */
  PLAQ_SMOOTHER_CA_GCR = 2,
  /** x += omega r, without sums. */
  PLAQ_SMOOTHER_RICHARDSON = 3,
  /** Additive Schwarz: corrections of all domains at once, each by steps of minimal residual with sums of
   * its own; the residual is then minimised along their sum, so that it never grows. */
  PLAQ_SMOOTHER_SCHWARZ_ADDITIVE = 4,
  /** Multiplicative Schwarz: the domains of one colour of a chequerboard, then those of the other one. */
  PLAQ_SMOOTHER_SCHWARZ_MULTIPLICATIVE = 5
};

/** Solvers of the coarsest level of multigrid. */
typedef int32_t plaq_coarsest;
enum {
  /** GCR, restarted after 16 directions. */
  PLAQ_COARSEST_GCR = 0,
  /** Generalised conjugate residual with one global sum in up to twelve steps. */
  PLAQ_COARSEST_CA_GCR = 1,
  /** Stabilised biconjugate gradient. */
  PLAQ_COARSEST_BICGSTAB = 2,
  /** The inverse of the level's whole operator, a dense matrix of which every rank holds the
   * rows of its sites. At most 1024 unknowns, which are 2 x `vectors` for every site that is
   * solved for. */
  PLAQ_COARSEST_DIRECT = 3
};

/** Solvers that make null vectors of random ones. */
typedef int32_t plaq_setup_solver;
enum {
  /** Stabilised biconjugate gradient. */
  PLAQ_SETUP_BICGSTAB = 0,
  /** CG on the normal equations. */
  PLAQ_SETUP_CG = 1,
  /** Generalised conjugate residual with ten directions. */
  PLAQ_SETUP_GCR = 2
};

/** Treatments of the null vectors in an update of multigrid. */
typedef int32_t plaq_refresh;
enum {
  /** Null vectors are kept, and only coarse operators are built. */
  PLAQ_REFRESH_KEEP = 0,
  /** The cycle is applied to the null vectors. */
  PLAQ_REFRESH_REFINE = 1,
  /** New null vectors are found from random vectors. */
  PLAQ_REFRESH_ANEW = 2,
  /** No update since the set-up; occurs in reports only. */
  PLAQ_REFRESH_NONE = 3
};

/** Memory for the vectors of an eigensolver, and for the null vectors of a set-up of multigrid. */
typedef int32_t plaq_vector_memory;
enum {
  /** The device's memory if it suffices. Otherwise an eigensolver keeps fewer vectors than its default; if that
   * does not suffice, and in a set-up of multigrid, the vectors that do not fit are kept on the host. */
  PLAQ_VECTORS_AUTO = 0,
  /** The device's memory only; an eigensolver keeps fewer vectors if it is short. */
  PLAQ_VECTORS_DEVICE = 1,
  /** The host's memory. In an eigensolver all but one vector are there, and each step copies all of them to the
   * device eight times; in a set-up of multigrid each null vector is copied once for each refinement. */
  PLAQ_VECTORS_HOST = 2
};

/** A level of multigrid and its step to the next coarser one. */
typedef struct plaq_multigrid_level_params {
  /** Extents x, y, z, t of aggregates in sites of this level; 0: chosen for the lattice.
   * Aggregates of the finest level divide a rank's part of it; those of coarse levels divide
   * the whole level, or a rank's part where levels are not gathered (`gather` = 0).
   * 0 or more. Default: 0, 0, 0, 0. */
  int32_t block[4];
  /** Number of null vectors of each chirality. 1 to 256. Default: 24. */
  int32_t vectors;
  /** Number of smoothing steps before the correction by the next level. 0 to 10000.
   * Default: 0. */
  int32_t pre;
  /** Number of smoothing steps after the correction. 0 to 10000. Default: 10. */
  int32_t post;
} plaq_multigrid_level_params;

/** Parameters of a hierarchy of multigrid. The defaults need no tuning. */
typedef struct plaq_multigrid_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Number of levels, the finest and the coarsest included; automatic (0): chosen for the
   * lattice, but at least as many as have a `block`. 2 to 5. Default: 0. */
  int32_t levels;
  /** Cycle of the second level. Default: PLAQ_CYCLE_K. */
  plaq_cycle cycle;
  /** Levels from the finest on, without the coarsest. */
  plaq_multigrid_level_params level[4];
  /** Smoother of the finest level. Default: PLAQ_SMOOTHER_CA_GCR. */
  plaq_smoother smoother;
  /** Precision of the finest level's smoother, half with MR, CA-GCR and Richardson only; automatic (0): half on
   * GPUs with CA-GCR where the coarse levels are in single precision, else single.
   * Default: 0. */
  plaq_precision smoother_precision;
  /** Precision of coarse operators and null vectors: double or single.
   * Default: PLAQ_PRECISION_SINGLE. */
  plaq_precision coarse_precision;
  /** Largest number of iterations of GCR on the levels between the finest and the coarsest.
   * 1 to 100000. Default: 8. */
  int32_t iterations;
  /** Largest number of iterations on the coarsest level. 1 to 100000. Default: 64. */
  int32_t coarsest_iterations;
  /** Number of solver iterations at a set-up that turn a random vector into a null vector.
   * 1 to 100000. Default: 20. */
  int32_t setup_iterations;
  /** Number of times that the cycle is applied to the null vectors and the hierarchy is built
   * again from them. 0 to 10000. Default: 3. */
  int32_t refinements;
  /** Least number of sites of a rank in each direction of a coarse level. A level that would
   * have fewer, or that aggregates do not divide on a rank, is gathered on fewer ranks; 0:
   * all levels stay on all ranks; automatic (-1): the number with which cycles are expected
   * to be fastest (docs/multigrid.md). 0 to 65536. Default: -1. */
  int32_t gather;
  /** Relaxation parameter omega of the smoothers MR and Richardson. A number between 0 and 2.
   * Default: 0.85. */
  double omega;
  /** Relative residual at which GCR stops on the levels between the finest and the coarsest.
   * A number between 0 and 1. Default: 0.25. */
  double tol;
  /** Relative residual at which the coarsest level's solver stops. A number between 0 and 1.
   * Default: 0.25. */
  double coarsest_tol;
  /** Seed of the random vectors from which null vectors are made. Default: 1. */
  int64_t seed;
  /** Smoother of the levels between the finest and the coarsest.
   * Default: PLAQ_SMOOTHER_CA_GCR. */
  plaq_smoother coarse_smoother;
  /** Solver of the coarsest level. Default: PLAQ_COARSEST_CA_GCR. */
  plaq_coarsest coarsest;
  /** Number of low modes of the coarsest level that a set-up finds and that are solved for
   * exactly; 0 where the level is solved directly; automatic (-1): 96 on large lattices,
   * none on small ones. 0 to 256. Default: -1. */
  int32_t coarsest_modes;
  /** Cycle of levels from the third on; -1: the same as `cycle`. Default: -1. */
  plaq_cycle deep_cycle;
  /** Extents x, y, z, t of the finest level's Schwarz domains, which divide a rank's part of
   * the lattice; 0: the largest divisor up to 4. Domains of coarse levels have up to 2 sites
   * in a direction. 0 or more. Default: 0, 0, 0, 0. */
  int32_t domain[4];
  /** Number of steps of minimal residual in a Schwarz domain. 1 to 10000. Default: 4. */
  int32_t domain_steps;
  /** Precision of the links of coarse operators: that of the operator or, if that is single,
   * half or quarter with a scale for each matrix. Automatic (0): for operators in single
   * precision half, on GPUs quarter if rounding does not change the eigenvalues of low
   * modes; else that of the operator. Default: 0. */
  plaq_precision link_precision;
  /** Number of null vectors that are iterated together at a set-up and in refinements.
   * Automatic (0): 8 where the device's memory allows it, else 4, 2 or 1. 0 to 256.
   * Default: 0. */
  int32_t setup_columns;
  /** Solver that makes null vectors from random ones. Default: PLAQ_SETUP_BICGSTAB. */
  plaq_setup_solver setup_solver;
  /** Memory for the new null vectors that a refinement makes while the old ones are in use,
   * and for those that are being shortened to 16 bits; automatic: the device, or the host
   * where the device has too little memory for one vector at a time.
   * Default: PLAQ_VECTORS_AUTO. */
  plaq_vector_memory setup_vectors;
  /** Factors of the twisted mass on the coarse levels, from the second level on: a larger mass makes the coarsest
   * level easier to solve (Alexandrou et al., arXiv:1610.02370). 0 to 1000000.
   * Default: 1, 1, 1, 1. */
  double twist_factors[4];
} plaq_multigrid_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_multigrid_params_init(plaq_multigrid_params *params, int64_t struct_size);

/** Description of a hierarchy. */
typedef struct plaq_multigrid_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Number of levels. */
  int32_t levels;
  /** The update that was carried out last, which may be stronger than the requested one; PLAQ_REFRESH_NONE:
   * none since the set-up. */
  plaq_refresh refresh;
  /** Seconds of the last set-up or update. */
  double setup_seconds;
  /** Factor by which an iteration of GCR with the cycle reduced the residual of a random vector after the
   * last set-up or update. */
  double reduction;
  /** Bytes that null vectors and coarse operators take on this rank. */
  int64_t bytes;
} plaq_multigrid_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_multigrid_report_init(plaq_multigrid_report *report, int64_t struct_size);

/** Description of a level of a hierarchy. */
typedef struct plaq_multigrid_level_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Extents of the level over all ranks. */
  int32_t extents[4];
  /** Extents of the aggregates that become sites of the next level; 1 on the coarsest. */
  int32_t block[4];
  /** Number of null vectors of each chirality; 0 on the coarsest level. */
  int32_t vectors;
  /** Number of ranks that hold a part of the level. */
  int32_t ranks;
  /** Bytes that null vectors and the level's coarse operator take on this rank. */
  int64_t bytes;
  /** Number of iterations of all solves since the last set-up or update; a cycle for several right-hand
   * sides counts once. On the finest level these are steps of the smoother; on levels between steps of the
   * smoother and iterations of GCR in W or K cycles; on the coarsest iterations of its solver, where a
   * direct solution is one. 0 on a rank without a part of the level. */
  int64_t iterations;
  /** Seconds that the cycles of these solves spent in the level and those below it; for the finest level
   * this is the whole preconditioner. On a GPU it is the time of the host for launches and for waiting for
   * sums, which is less than the device's; on a rank without a part of the level it is the time of
   * waiting. */
  double seconds;
  /** Seconds of the last set-up or update on this level, measured on the host: its null vectors, the
   * transfer and the coarse operator below it, in all passes; on the coarsest level the low modes or the
   * inverse for its solver. */
  double setup_seconds;
  /** Factor by which an iteration reduced the residual on this level: on the finest level as in the report;
   * on levels between with W or K cycles the mean over those iterations in solves since the last set-up or
   * update whose norms were computed; 0 if there were none. */
  double reduction;
} plaq_multigrid_level_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_multigrid_level_report_init(plaq_multigrid_level_report *report,
                                             int64_t struct_size);

/** Finds null vectors of an operator and builds the levels. Errors: BAD_PARAMETER, BAD_EXTENTS, UNSUPPORTED
 * (precisions or solvers that do not go together), OUT_OF_MEMORY (nothing was allocated), NOT_FINITE (links,
 * or null vectors), SOLVER_BREAKDOWN (a solve that makes null vectors met what is not finite), NOT_CONVERGED
 * (the callback ended it). The callback is called after every iteration of solves for null vectors with the
 * largest residual, and after every other step of the set-up with 1. */
plaq_status plaq_multigrid_create(plaq_dirac dirac,
                                  const plaq_multigrid_params *params,
                                  plaq_progress_callback callback,
                                  void *user,
                                  plaq_multigrid *multigrid);

/** Builds the levels from null vectors of the finest level, the right-hand sides of a full field, as given by
 * plaq_multigrid_vectors. */
plaq_status plaq_multigrid_create_from(plaq_dirac dirac,
                                       const plaq_multigrid_params *params,
                                       plaq_spinor vectors,
                                       plaq_progress_callback callback,
                                       void *user,
                                       plaq_multigrid *multigrid);

/** Destroys a hierarchy; solvers that use it keep it. The zero handle is accepted. */
plaq_status plaq_multigrid_destroy(plaq_multigrid multigrid);

/** Gives the largest number of bytes of device memory that a set-up takes. */
plaq_status plaq_multigrid_memory(plaq_dirac dirac,
                                  const plaq_multigrid_params *params,
                                  int64_t *bytes);

/** Updates a hierarchy to the operator's present links. Its reduction of residuals is measured afterwards; if
 * it is bad, the next stronger treatment follows, and the report says which. `passes`: for
 * PLAQ_REFRESH_REFINE the number of refinements, 1 to 10000. Without an update after a change of the links
 * (plaq_dirac_update) solves with that operator are refused: STALE_MULTIGRID. After an error the hierarchy
 * is unchanged, and solves continue with it. Errors: those of plaq_multigrid_create, FIELD_MISMATCH (another
 * lattice), OUT_OF_MEMORY (old and new together, before anything is taken), NOT_CONVERGED (the cycle is bad
 * from new random vectors too, or the callback ended the update). */
plaq_status plaq_multigrid_update(plaq_multigrid multigrid,
                                  plaq_dirac dirac,
                                  plaq_refresh refresh,
                                  int32_t passes,
                                  plaq_progress_callback callback,
                                  void *user);

/** Gives the largest number of bytes of device memory that such an update takes, including stronger
 * treatments that may follow, besides the present hierarchy, which is kept until the new one is complete. */
plaq_status plaq_multigrid_update_memory(plaq_multigrid multigrid,
                                         plaq_dirac dirac,
                                         plaq_refresh refresh,
                                         int32_t passes,
                                         int64_t *bytes);

/** Describes a hierarchy. */
plaq_status plaq_multigrid_describe(plaq_multigrid multigrid, plaq_multigrid_report *report);

/** Describes a level of a hierarchy; level 0 is the finest. */
plaq_status plaq_multigrid_describe_level(plaq_multigrid multigrid,
                                          int32_t level,
                                          plaq_multigrid_level_report *report);

/** Makes a full field with the null vectors of the finest level as right-hand sides, normalised but not
 * orthonormal on aggregates; all levels can be built from them again. */
plaq_status plaq_multigrid_vectors(plaq_multigrid multigrid,
                                   plaq_precision precision,
                                   plaq_spinor *vectors);

/** Writes the null vectors of the finest level to a file: SciDAC records in LIME with checksums. The file
 * appears complete or not at all. All ranks call it. Errors: FILE_WRITE, OUT_OF_MEMORY. */
plaq_status plaq_multigrid_write(plaq_multigrid multigrid, const char *file);

/** Builds the levels from the vectors in a file of plaq_multigrid_write, as plaq_multigrid_create_from does.
 * Errors: FIELD_MISMATCH (another number of vectors than the parameters name), FILE_EXTENTS (another
 * lattice), FILE_FORMAT (other vectors, or no such file), FILE_CHECKSUM, FILE_TRUNCATED, FILE_OPEN, those of
 * plaq_multigrid_create. */
plaq_status plaq_multigrid_read(plaq_dirac dirac,
                                const plaq_multigrid_params *params,
                                const char *file,
                                plaq_progress_callback callback,
                                void *user,
                                plaq_multigrid *multigrid);

/* ---- Solvers ---- */

/** A Dirac operator with a chain of solvers for one of its equations. */
typedef struct plaq_solver {
  int64_t id;
} plaq_solver;

/** Causes of the end of a solve: the goals that all right-hand sides met, else the first limit. Of several
 * solves in one call the greatest. */
typedef int32_t plaq_stopped_by;
enum {
  /** The goals were met, `tol` last. */
  PLAQ_STOPPED_BY_RESIDUAL = 0,
  /** The goals were met, `tol_hq` last. */
  PLAQ_STOPPED_BY_HEAVY_QUARK = 1,
  /** Recomputed residuals no longer fell. */
  PLAQ_STOPPED_BY_STANDSTILL = 2,
  /** The limit `max_iterations`. */
  PLAQ_STOPPED_BY_ITERATIONS = 3,
  /** The limit `max_seconds`. */
  PLAQ_STOPPED_BY_TIME = 4,
  /** The callback asked to stop. */
  PLAQ_STOPPED_BY_CALLBACK = 5
};

/** Algorithms of solvers. */
typedef int32_t plaq_solver_kind;
enum {
  /** Conjugate gradient, for PLAQ_SOLUTION_MDAGM and PLAQ_SOLUTION_PDAGP or one of the normal equations. */
  PLAQ_SOLVER_CG = 0,
  /** CG on M M^dagger y = b, x = M^dagger y. */
  PLAQ_SOLVER_CGNE = 1,
  /** CG on M^dagger M x = M^dagger b. */
  PLAQ_SOLVER_CGNR = 2,
  /** Stabilised biconjugate gradient. */
  PLAQ_SOLVER_BICGSTAB = 3,
  /** Restarted GCR, with MR inside every iteration if asked for. */
  PLAQ_SOLVER_GCR = 4,
  /** Minimal residual with relaxation. */
  PLAQ_SOLVER_MR = 5,
  /** Chosen by the library: CG for hermitian operators, else BiCGStab (on a GPU with an iteration in 16 bits),
   * and multigrid as soon as its set-up is expected to save time (docs/propagator.md). */
  PLAQ_SOLVER_AUTO = 6,
  /** GCR in which the right-hand sides that are solved for together share one Krylov space: the step of each is
   * a combination of the directions of all, of which `nkrylov` are kept for each. With many right-hand sides
   * it takes fewer iterations than PLAQ_SOLVER_GCR, but each is more expensive. Sources may depend linearly on
   * each other. */
  PLAQ_SOLVER_BLOCK_GCR = 7
};

/** Sums over the ranks in an iteration of CG, CGNR, CGNE and BiCGStab. */
typedef int32_t plaq_iteration_sums;
enum {
  /** One for every step that needs its result: 2 in CG and CGNE, 3 in CGNR and BiCGStab. */
  PLAQ_SUMS_SEPARATE = 1,
  /** 1 in CG (Chronopoulos and Gear 1989), CGNR and CGNE, 2 in BiCGStab; vectors are read and written more
   * often. Where GPUs add up among themselves, products that would share a sum have one each, started together. */
  PLAQ_SUMS_FUSED = 2
};

/** The equation that is solved; M is the operator, P the even-odd preconditioned operator on one parity. */
typedef int32_t plaq_solution;
enum {
  /** The equation M x = b. */
  PLAQ_SOLUTION_M = 0,
  /** The equation M^dagger x = b. */
  PLAQ_SOLUTION_MDAG = 1,
  /** The equation M^dagger M x = b. */
  PLAQ_SOLUTION_MDAGM = 2,
  /** The equation P x = b. */
  PLAQ_SOLUTION_P = 3,
  /** The equation P^dagger x = b. */
  PLAQ_SOLUTION_PDAG = 4,
  /** The equation P^dagger P x = b. */
  PLAQ_SOLUTION_PDAGP = 5,
  /** The equation M M^dagger x = b, solved by a solve with M and one with M^dagger. */
  PLAQ_SOLUTION_MMDAG = 6,
  /** The equation P P^dagger x = b, solved by a solve with P and one with P^dagger. */
  PLAQ_SOLUTION_PPDAG = 7
};

/** The equations for which the Krylov space is built. */
typedef int32_t plaq_equations;
enum {
  /** The equation M x = b itself. Plain CG then solves M^dagger M x = M^dagger b; CGNE and CGNR form their own
   * normal equations. */
  PLAQ_EQUATIONS_DIRECT = 0,
  /** The normal equations M^dagger M x = M^dagger b. */
  PLAQ_EQUATIONS_NORMAL_RESIDUAL = 1,
  /** The normal equations M M^dagger y = b, with x = M^dagger y. */
  PLAQ_EQUATIONS_NORMAL_ERROR = 2
};

/** The algorithm that PLAQ_SOLVER_AUTO chose. */
typedef int32_t plaq_chosen;
enum {
  /** No choice: the caller gave the solver. */
  PLAQ_CHOSEN_NONE = 0,
  /** A Krylov solver without multigrid, as a set-up would have cost more than it saves. */
  PLAQ_CHOSEN_KRYLOV = 1,
  /** GCR with multigrid. */
  PLAQ_CHOSEN_MULTIGRID = 2,
  /** A Krylov solver, as multigrid is not available for this operator, equation or lattice, or its memory or
   * set-up failed; the log says which. */
  PLAQ_CHOSEN_ONLY_KRYLOV = 3
};

/** Parameters of a solver. By default the solver is chosen while it solves, on the even-odd preconditioned
 * system. */
typedef struct plaq_solver_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Solver of the iteration. Default: PLAQ_SOLVER_AUTO. */
  plaq_solver_kind solver;
  /** Equation that is solved. Default: PLAQ_SOLUTION_M. */
  plaq_solution solution;
  /** Equations for which the Krylov space is built, for BiCGStab, GCR, block GCR and MR, which can solve any of
   * them. CG needs normal equations; CGNE and CGNR form their own.
   * Default: PLAQ_EQUATIONS_DIRECT. */
  plaq_equations equations;
  /** Even-odd preconditioned system, or full lattice, on which the equation is solved.
   * Default: PLAQ_SYSTEM_EVEN_SYMMETRIC. */
  plaq_system system;
  /** Precision of the iteration; every solver recomputes residuals in the operator's, to which the tolerance
   * applies. Automatic (0): single where the operator is in double, 16 bits for BiCGStab of
   * PLAQ_SOLVER_AUTO on a GPU, else the operator's;
   * plaq_solver_multishift then takes the operator's precision and storage, since shifts share a Krylov space
   * that goes no deeper than its precision. The report says which. Default: 0. */
  plaq_precision sloppy_precision;
  /** Storage of the links in the iteration; automatic (0): that of the operator. Default: 0. */
  plaq_storage sloppy_storage;
  /** Largest number of iterations of a solve. 1 or more. Default: 10000. */
  int32_t max_iterations;
  /** Number of directions that GCR keeps before a restart, block GCR for each right-hand side.
   * 1 to 10000. Default: 10. */
  int32_t nkrylov;
  /** Number of steps of minimal residual before every application of the operator, as preconditioner of
   * BiCGStab, GCR, block GCR and MR; 0: none. 0 or more. Default: 0. */
  int32_t precondition_steps;
  /** True if the solve starts from the x that is passed in, false if from zero. 0 or 1.
   * Default: 0. */
  int32_t initial_guess;
  /** Largest |b - M x| / |b|; 0: not required. Where several criteria are set, all must be met.
   * Default: 1e-10. */
  double tol;
  /** Largest heavy-quark residual; 0: not required. Default: 0. */
  double tol_hq;
  /** Factor by which the residual falls in the iteration before it is recomputed in the operator's precision.
   * Automatic (0): 0.1 for iterations in 16 bits, else 0.01. 0 to below 1. Default: 0. */
  double delta;
  /** Relaxation parameter omega of MR; 1: no relaxation. A number between 0 and 2.
   * Default: 1. */
  double omega;
  /** Number of columns of a propagator that are solved for together. Fewer take less memory, and on a GPU more
   * time. Automatic (0): the first of 12, 6, 4, 3, 2 and 1 that fits in the device's memory; the report says
   * which. 0 to 12. Default: 0. */
  int32_t columns;
  /** PLAQ_SOLVER_AUTO: number of right-hand sides that will be solved for with these links, by which the solver
   * decides whether a set-up of multigrid is worth its time. Automatic (0): as many as have been solved for
   * already. 0 or more. Default: 0. */
  int32_t expected_columns;
  /** Time slice of the source, for distance_alpha. 0 or more. Default: 0. */
  int32_t distance_t0;
  /** Largest number of seconds of a call; 0: no limit. The time is checked after every iteration; all ranks
   * stop after the same one. Default: 0. */
  double max_seconds;
  /** Exponent alpha per time slice of distance preconditioning (de Divitiis, Petronzio, Tantalo,
   * arXiv:1006.4028, Eq. 9). With W = cosh(alpha (T/2 - d)) at the distance d in time from distance_t0 the
   * solver iterates W^-1 M W y = W^-1 b, x = W y, and reports residuals of y. A heavy quark's propagator is
   * then as precise in time slices far from the source, to which |b - M x| is insensitive, as near it. The
   * best alpha is near the quark's energy, half the mass of its pion. M^dagger has the same weights, and
   * M^dagger M is solved as two systems. Not available with multigrid or several shifts; at most 160 / T. 0:
   * no preconditioning. 0 or more. Default: 0. */
  double distance_alpha;
  /** Largest |b - M x| at any site, divided by the largest |b| at any site, the criterion of OpenLat (Francis,
   * Fritzsch, Luscher, Rago, arXiv:1911.04533, Section 4); 0: not required. It is required besides the other
   * criteria, and replaces `tol` if that is 0. Not for eigenvectors. Default: 0. */
  double tol_site;
  /** Sums over the ranks in an iteration of CG, CGNR, CGNE or BiCGStab. Automatic (0): fused where that is
   * expected to take less time (docs/mpi.md), but not in 16 bits, where iterations may become more, nor with
   * `reproducible` = 1, where fused sums have the same bits in every run, too, if asked for. With GCR, block GCR
   * and MR there is no choice. The space that several shifts share takes separate sums.
   * Default: 0. */
  plaq_iteration_sums sums;
  /** True: right-hand sides that BiCGStab cannot solve are solved separately, finally by CGNR (the report's
   * `solver`); false: they are left as they are, not converged. 0 or 1. Default: 1. */
  int32_t fall_back;
} plaq_solver_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_solver_params_init(plaq_solver_params *params, int64_t struct_size);

/** Report of a solve. Residuals are recomputed from x in the operator's precision. */
typedef struct plaq_solve_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** 1: every right-hand side meets all criteria. */
  int32_t converged;
  /** 1: the callback or `max_seconds` ended the solve; x holds what was reached. */
  int32_t stopped;
  /** Number of right-hand sides, or of columns of a propagator, that were solved for together. */
  int32_t columns;
  /** Number of iterations of the slowest right-hand side. */
  int64_t iterations;
  /** Largest |b - M x| / |b| over the right-hand sides. */
  double residual;
  /** Largest heavy-quark residual over the right-hand sides. */
  double residual_hq;
  /** Seconds that the solve took. */
  double seconds;
  /** Number of floating-point operations of operators and vectors. */
  double flops;
  /** Number of bytes that operators and vectors had to read and write. */
  double bytes;
  /** Largest number of bytes of device memory that was in use during the solve. */
  int64_t memory_peak;
  /** Number of times that residuals were recomputed in the operator's precision. */
  int64_t reliable_updates;
  /** Number of breakdowns after which search directions were started again. */
  int64_t restarts;
  /** The algorithm that finished the solve; another one than asked for if that made no progress. */
  plaq_solver_kind solver;
  /** 1: given up because recomputed residuals no longer fell. If 0 and not converged, `stopped_by` tells
   * what ended the solve. */
  int32_t standstill;
  /** Precision of the iteration. */
  plaq_precision sloppy_precision;
  /** Storage of the links in the iteration. */
  plaq_storage sloppy_storage;
  /** Criterion that ended the solve. */
  plaq_stopped_by stopped_by;
  /** The algorithm that PLAQ_SOLVER_AUTO chose, and why. */
  plaq_chosen chosen;
  /** Largest |b - M x| at any site, divided by the largest |b| at any site; 0 if tol_site is 0. */
  double residual_site;
} plaq_solve_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_solve_report_init(plaq_solve_report *report, int64_t struct_size);

/** Memory and kernels that a solve needs, found before anything runs. */
typedef struct plaq_plan_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Bytes of device memory, as given by plaq_solver_memory. */
  int64_t memory;
  /** Number of kernels: instantiations with their constants. */
  int64_t kernels;
  /** Number of kernels that a GPU's compiler has to make first, as they were not used before and are not in
   * the cache; 0 on a CPU. */
  int64_t to_compile;
  /** Rough estimate of the seconds that compiling takes on this machine's cores. */
  double seconds;
  /** Bytes of the memory that stay allocated afterwards: links and modes of a new overlap operator, and a
   * multigrid that it keeps; 0 for other solves. */
  int64_t kept;
} plaq_plan_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_plan_report_init(plaq_plan_report *report, int64_t struct_size);

/** Makes a solver for an operator, in the operator's normalisation. Errors: BAD_PARAMETER, UNSUPPORTED (a
 * combination that is not available), OUT_OF_MEMORY. */
plaq_status plaq_solver_create(plaq_dirac dirac,
                               const plaq_solver_params *params,
                               plaq_solver *solver);

/** Preconditions every iteration with a multigrid, which several solvers may share; zero handle: without any
 * from now on. Errors: UNSUPPORTED (the solver is neither automatic nor GCR on one parity directly),
 * FIELD_MISMATCH (set up for another lattice). */
plaq_status plaq_solver_set_multigrid(plaq_solver solver, plaq_multigrid multigrid);

/** Destroys a solver. The zero handle is accepted. */
plaq_status plaq_solver_destroy(plaq_solver solver);

/** Gives the bytes of device memory that a solve for `nrhs` right-hand sides together needs, besides x and b.
 * With less memory it solves for fewer at a time. With more, a solve with an iteration in 16 bits, or with
 * GCR in single precision, also keeps the inverse of the clover term in double. A propagator needs in
 * addition a field of 12 columns and one of `columns`; if these do not fit, solved columns are kept on the
 * host until all are solved. PLAQ_SOLVER_AUTO sets multigrid up only if it fits in addition. */
plaq_status plaq_solver_memory(plaq_solver solver, int32_t nrhs, int64_t *bytes);

/** Gives the memory and kernels of a solve for `nrhs` right-hand sides with the solver's present multigrid.
 * Nothing is run, compiled or allocated. `names`: a line with the links of the solver's chain, as "12
 * columns at a time > scaled > to 1e-10 > Schur even > BiCGStab", then one for each kernel, less than 8 KiB
 * for most solves; a name is repeated for other values of its constants. Errors: INVALID_ARGUMENT. */
plaq_status plaq_solver_plan(plaq_solver solver,
                             int32_t nrhs,
                             plaq_plan_report *report,
                             char *names,
                             int64_t capacity);

/** Solves for all right-hand sides of b, together or as many at a time as fit in the device's memory; the
 * report says how many. x and b have the operator's precision and the subset of the equation. `residuals`:
 * NULL, or room for |b - M x| / |b| of each right-hand side. Errors: FIELD_MISMATCH, NOT_FINITE,
 * OUT_OF_MEMORY (not one right-hand side fits), SOLVER_BREAKDOWN.
 * Arrays: residuals[right-hand sides of b]. */
plaq_status plaq_solver_solve(plaq_solver solver,
                              plaq_spinor x,
                              plaq_spinor b,
                              plaq_progress_callback callback,
                              void *user,
                              plaq_solve_report *report,
                              double *residuals);

/** Gives the largest |r| / |b| over the right-hand sides after every iteration of the solver's last solve,
 * propagator or multishift: as given by the recurrence for the system that is iterated; it may jump when
 * residuals are recomputed. `count`: number of iterations, of which the first `capacity` are written;
 * `history` may be NULL.
 * Arrays: history[capacity]. */
plaq_status plaq_solver_history(plaq_solver solver,
                                double *history,
                                int64_t capacity,
                                int64_t *count);

/** Solves (A + sigma[k]) x[k] = b for all `count` shifts together, with A = M^dagger M for
 * PLAQ_SOLUTION_MDAGM and P^dagger P for PLAQ_SOLUTION_PDAGP, each to its tol[k]; sigma[k] >= 0. x: `count`
 * different fields. `residuals`: NULL, or room for a number for each shift, the largest over the right-hand
 * sides. solver, tol and initial_guess of the parameters are not used; automatic `sloppy_precision` and then
 * `sloppy_storage`, too, are the operator's. max_seconds are those of the call.
 * Arrays: x[count], sigma[count], tol[count], residuals[count]. */
plaq_status plaq_solver_multishift(plaq_solver solver,
                                   const plaq_spinor *x,
                                   const double *sigma,
                                   const double *tol,
                                   int64_t count,
                                   plaq_spinor b,
                                   plaq_progress_callback callback,
                                   void *user,
                                   plaq_solve_report *report,
                                   double *residuals);

/* ---- Sources, propagators and hadron correlators ---- */

/** Products of gamma matrices: gamma_x^a gamma_y^b gamma_z^c gamma_t^d has the number a + 2 b + 4 c + 8 d, from 0
 * to 15; the following have names. */
typedef int32_t plaq_gamma;
enum {
  /** The unit matrix. */
  PLAQ_GAMMA_ONE = 0,
  /** gamma_x. */
  PLAQ_GAMMA_X = 1,
  /** gamma_y. */
  PLAQ_GAMMA_Y = 2,
  /** gamma_z. */
  PLAQ_GAMMA_Z = 4,
  /** gamma_t. */
  PLAQ_GAMMA_T = 8,
  /** gamma5 = gamma_x gamma_y gamma_z gamma_t. */
  PLAQ_GAMMA_5 = 15
};

/** Functional forms of a correlator, from which effective masses are computed. */
typedef int32_t plaq_mass_form;
enum {
  /** cosh(m (t - T/2)), mesons: arcosh[(C(t-1) + C(t+1)) / (2 C(t))]. */
  PLAQ_MASS_FORM_COSH = 0,
  /** exp(-m t): ln[C(t) / C(t+1)]. */
  PLAQ_MASS_FORM_LOG = 1
};

/** The sites on which a source is not zero. */
typedef int32_t plaq_source;
enum {
  /** A single site. */
  PLAQ_SOURCE_POINT = 0,
  /** All sites of a time slice; with momentum 0 and without noise the links must be in a fixed gauge. */
  PLAQ_SOURCE_WALL = 1,
  /** All sites of the lattice. */
  PLAQ_SOURCE_VOLUME = 2
};

/** Indices in which noise is diluted, as bits. */
typedef int32_t plaq_dilute;
enum {
  /** A separate noise vector for each spin. */
  PLAQ_DILUTE_SPIN = 1,
  /** A separate noise vector for each colour. */
  PLAQ_DILUTE_COLOUR = 2,
  /** Separate noise vectors for even and odd sites. */
  PLAQ_DILUTE_PARITY = 4,
  /** A separate noise vector for the time slices t = k mod time_parts, for each k; for PLAQ_SOURCE_VOLUME. */
  PLAQ_DILUTE_TIME = 8
};

/** Source of a propagator, with columns exp(i p (x - position)) eta(x) where eta is 1 or noise. Without noise a
 * column has one spin and colour, number 3 spin + colour. Noise diluted in spin (colour) has one spin (colour)
 * in a column, and columns of a vector share their numbers. Columns are numbered with colour fastest, then spin,
 * parity (even, odd), part of the time slices and noise vector. plaq_spinor_smear smears the columns. */
typedef struct plaq_source_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Sites on which the source is not zero. Default: PLAQ_SOURCE_POINT. */
  plaq_source kind;
  /** Noise at these sites; 0: all numbers are 1. Default: 0. */
  plaq_noise noise;
  /** Coordinates x, y, z, t of a point. For a wall t is its time slice, and at x, y, z the momentum's phase is
   * 1. 0 or more. Default: 0, 0, 0, 0. */
  int32_t position[4];
  /** Integer momentum n: p_mu = 2 pi n_mu / L_mu. Default: 0, 0, 0, 0. */
  int32_t momentum[4];
  /** Number of noise vectors; vector k is that of plaq_spinor_noise with first = k.
   * 1 to 1048576. Default: 1. */
  int32_t vectors;
  /** Indices in which noise is diluted, any of PLAQ_DILUTE_SPIN, PLAQ_DILUTE_COLOUR, PLAQ_DILUTE_PARITY and
   * PLAQ_DILUTE_TIME together. Default: 0. */
  int32_t dilute;
  /** The only spin whose component is not zero; -1: all spins. 0 to 3. Default: -1. */
  int32_t spin;
  /** The only colour whose component is not zero; -1: all colours. 0 to 2. Default: -1. */
  int32_t colour;
  /** Number of the first column; those before it are left out. 0 or more. Default: 0. */
  int32_t first;
  /** Largest number of columns, beginning with column `first`; 0: all columns of the source from `first` on.
   * 1 or more. Default: 0. */
  int32_t count;
  /** Number of parts of the time slices with PLAQ_DILUTE_TIME, else 0. If it is the lattice's T each part is
   * one slice; for a divisor of T a part is every time_parts-th slice. 0 to 1048576.
   * Default: 0. */
  int32_t time_parts;
  /** Seed of the noise; the noise is the same on any number of ranks. Default: 0. */
  int64_t seed;
} plaq_source_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_source_params_init(plaq_source_params *params, int64_t struct_size);

/** Parameters of sequential sources delta(t, time) exp(i p (x - x0)) Gamma psi(x). */
typedef struct plaq_sequential_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Time of the sink, counted from the source, 0 to T - 1; -1: all time slices. 0 or more.
   * Default: -1. */
  int32_t time;
  /** Number of Gamma as plaq_gamma counts it. 0 to 15. Default: 15. */
  int32_t gamma;
  /** Integer momentum n: p_i = 2 pi n_i / L_i. Default: 0, 0, 0. */
  int32_t momentum[3];
  /** Position x0 of the source: `time` is counted from its t, and the momentum's phase is 1 at its x, y, z. -1:
   * the position that the field records (plaq_spinor_origin). 0 or more.
   * Default: -1, -1, -1, -1. */
  int32_t position[4];
  /** Boundaries in time of the field's links, beyond which there is no sink; 0: those that the field records.
   * Default: 0. */
  plaq_boundary_time boundary_time;
} plaq_sequential_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_sequential_params_init(plaq_sequential_params *params, int64_t struct_size);

/** Sets right-hand side k of a field on the full lattice, in any precision, to column first + k of a source,
 * for all right-hand sides of the field. Errors: INVALID_ARGUMENT, FIELD_MISMATCH for more right-hand sides
 * than plaq_source_columns. */
plaq_status plaq_spinor_source(plaq_spinor spinor, const plaq_source_params *source);

/** Gives the number of columns of a source from `first` on, at most `count`: without noise 12, for all spins
 * and colours. */
plaq_status plaq_source_columns(const plaq_source_params *source, int64_t *columns);

/** Sets `to` to delta(t, time) exp(i p (x - x0)) Gamma from, for every right-hand side, with the time counted
 * from the source: this makes from a solution the source of a second solve (plaq_solver_propagator_from).
 * Fields are in single or double precision. A field that does not know its source's time needs `position`,
 * but for all time slices. Errors: INVALID_ARGUMENT, FIELD_MISMATCH, UNSUPPORTED. */
plaq_status plaq_spinor_sequential(plaq_spinor from,
                                   plaq_spinor to,
                                   const plaq_sequential_params *params);

/** Makes a field of as many right-hand sides as the source has columns, S(x, source), by a solver for
 * PLAQ_SOLUTION_M, which solves for as many columns at a time as its parameter `columns` says. The report
 * covers all solves: the largest number of iterations; sums of time, work, updates and restarts. The
 * callback's iterations start from 0 with each solve, its seconds do not; once it has asked to stop, each
 * remaining solve ends after one iteration. `residuals`: NULL, or room for a number for each column of the
 * source.
 * Arrays: residuals[columns of the source]. */
plaq_status plaq_solver_propagator(plaq_solver solver,
                                   const plaq_source_params *source,
                                   plaq_progress_callback callback,
                                   void *user,
                                   plaq_spinor *propagator,
                                   plaq_solve_report *report,
                                   double *residuals);

/** Makes a propagator from sources in a field on the full lattice, in the operator's precision: smeared or
 * sequential ones, or those of another code. If the field does not record the position of its source
 * (plaq_spinor_origin), that is determined as in plaq_spinor_support. `residuals`: NULL, or room for a
 * number for each right-hand side.
 * Arrays: residuals[right-hand sides of sources]. */
plaq_status plaq_solver_propagator_from(plaq_solver solver,
                                        plaq_spinor sources,
                                        plaq_progress_callback callback,
                                        void *user,
                                        plaq_spinor *propagator,
                                        plaq_solve_report *report,
                                        double *residuals);

/** Contracts zero-momentum correlators of a propagator over t, the time from `source_time`, in `times` steps,
 * the extent of the lattice. `boundary`: the fermions' boundary phase in time in units of pi (1:
 * antiperiodic). Each array is NULL or has room: pion times, rho 3 times (x, then y, then z), nucleon 2
 * times (re, im).
 * Arrays: pion[times], rho[3 * times], nucleon[2 * times]. */
plaq_status plaq_spinor_correlators(plaq_spinor propagator,
                                    int32_t source_time,
                                    double boundary,
                                    int64_t times,
                                    double *pion,
                                    double *rho,
                                    double *nucleon);

/** Computes effective masses from a correlator of `times` numbers; NaN where the formula has no solution.
 * Arrays: correlator[times], masses[times]. */
plaq_status plaq_correlator_effective_mass(const double *correlator,
                                           int64_t times,
                                           plaq_mass_form form,
                                           double *masses);

/** Computes effective masses between boundaries in time: ln of C over C one slice farther from the source,
 * which is on slice `source_time`; NaN where one of the two slices is a boundary or there is no logarithm.
 * `correlator`: a number for each of the `times` stored slices, from that of the source on, those before it
 * at the end. Errors: INVALID_ARGUMENT, UNSUPPORTED for PLAQ_BOUNDARY_TIME_PERIODIC.
 * Arrays: correlator[times], masses[times]. */
plaq_status plaq_correlator_outward_mass(const double *correlator,
                                         int64_t times,
                                         int64_t source_time,
                                         plaq_boundary_time boundary_time,
                                         double *masses);

/* ---- Contractions ---- */

/** Projections of the free spin indices of a baryon's correlator C, with P = (1 + parity gamma_t) / 2. */
typedef int32_t plaq_projection;
enum {
  /** tr P C; for the decuplet averaged over i = x, y, z. */
  PLAQ_PROJECTION_TRACE = 0,
  /** Spin 3/2 of the decuplet at rest: 1/3 times the sum over i, j of tr P (delta_ij - gamma_i gamma_j / 3)
   * C_ji. */
  PLAQ_PROJECTION_THREE_HALVES = 1
};

/** Baryons of light quarks u = d and strange ones s; epsilon over colours is understood. */
typedef int32_t plaq_baryon;
enum {
  /** (u C gamma5 d) u. */
  PLAQ_BARYON_NUCLEON = 0,
  /** (u C gamma5 s) u. */
  PLAQ_BARYON_SIGMA = 1,
  /** (s C gamma5 u) s. */
  PLAQ_BARYON_XI = 2,
  /** (2 (u C gamma5 d) s + (u C gamma5 s) d - (d C gamma5 s) u) / sqrt(6). */
  PLAQ_BARYON_LAMBDA = 3,
  /** (u C gamma_i u) u. */
  PLAQ_BARYON_DELTA = 4,
  /** (2 (u C gamma_i s) u + (u C gamma_i u) s) / sqrt(3). */
  PLAQ_BARYON_SIGMA_STAR = 5,
  /** (2 (s C gamma_i u) s + (s C gamma_i s) u) / sqrt(3). */
  PLAQ_BARYON_XI_STAR = 6,
  /** (s C gamma_i s) s. */
  PLAQ_BARYON_OMEGA = 7
};

/** Matrices Gamma of two quarks in interpolators eps_abc (q1_a^T Gamma q2_b) q3_c of baryons; C = gamma_y gamma_t. */
typedef int32_t plaq_diquark;
enum {
  /** C gamma5, of the octet. */
  PLAQ_DIQUARK_C5 = 0,
  /** C gamma_t gamma5. */
  PLAQ_DIQUARK_CT5 = 1,
  /** C gamma_z gamma5. */
  PLAQ_DIQUARK_CZ5 = 2,
  /** C gamma_x, of the decuplet. */
  PLAQ_DIQUARK_CX = 3,
  /** C gamma_y, of the decuplet. */
  PLAQ_DIQUARK_CY = 4,
  /** C gamma_z, of the decuplet. */
  PLAQ_DIQUARK_CZ = 5
};

/** Projectors P of the free spin of a baryon, for tr P C. */
typedef int32_t plaq_projector;
enum {
  /** (1 + parity gamma_t) / 2. */
  PLAQ_PROJECTOR_UNPOLARISED = 0,
  /** The unpolarised one times -i gamma_y gamma_z, twice the spin along x. */
  PLAQ_PROJECTOR_X = 1,
  /** The unpolarised projector times -i gamma_z gamma_x. */
  PLAQ_PROJECTOR_Y = 2,
  /** The unpolarised projector times -i gamma_x gamma_y. */
  PLAQ_PROJECTOR_Z = 3
};

/** Parameters for contractions of propagators. */
typedef struct plaq_contract_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Position x, y, z, t of the source: times are counted from its t, and phases of momenta are 1 at its x,
   * y, z. -1: the position that the propagators record (plaq_spinor_origin); if they do not, contractions
   * that need it are refused. 0 or more. Default: -1, -1, -1, -1. */
  int32_t position[4];
  /** Boundary phase in time, in units of pi (1: antiperiodic), for propagators that do not record theirs.
   * At times before the source's every quark propagator has this phase, which is divided out.
   * Default: 1. */
  double boundary;
  /** Parity of baryons that propagate forward in time, 1 or -1. Default: 1. */
  int32_t parity;
  /** Projection of the spins of baryons. Default: PLAQ_PROJECTION_TRACE. */
  plaq_projection projection;
  /** Boundary phases in x, y, z, in units of pi, for propagators that do not record theirs; used by
   * operators that shift quarks across the lattice's end. Where the phases of a hadron's quarks, those of
   * antiquarks with the opposite sign, have a sum s in x, y or z other than a multiple of 2, the hadron has
   * the momenta p_i = (2 pi n_i + pi s_i) / L_i, s_i above -1 and at most 1 by adding a multiple of 2, and
   * sums over the sites x of the lattice are taken with these. Default: 0, 0, 0. */
  double boundary_space[3];
  /** Projector of the spins of baryons, with `parity`. Default: PLAQ_PROJECTOR_UNPOLARISED. */
  plaq_projector projector;
  /** True: the operator between two quarks may change the flavour, so that their masses and twisted masses may
   * differ. 0 or 1. Default: 0. */
  int32_t flavour_changing;
  /** Boundary phases in x, y, z, in units of pi, of the quark that continues from a sequential source through
   * the sink of a meson or through an operator; NaN: those of the propagator. Where they differ the momentum
   * is shifted as that of a hadron. Default: NaN, NaN, NaN. */
  double next_boundary_space[3];
} plaq_contract_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_contract_params_init(plaq_contract_params *params, int64_t struct_size);

/** Contracts connected correlators of mesons: the sum over x of exp(-i p (x - x0)) times the correlator of
 * qbar' Gamma_A q at (x, t0 + t) with the adjoint of qbar' Gamma_B q at the source, with signs such that for
 * A = B, with antiperiodic fermions, it is positive on average. `quark` and `antiquark` (zero handle: the
 * same) are propagators, each with its mass: twelve columns 3 spin + colour, or four of noise diluted in
 * spin. `gammas`: `pairs` pairs (A at the sink, B at the source) of plaq_gamma. `momenta`: three integers
 * n_i for each, p_i = 2 pi n_i / L_i. `correlators`: complex numbers [momentum][pair][t]; `times` must be
 * the extent of the lattice in time. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
 * Arrays: gammas[2 * pairs], momenta[3 * nmomenta], correlators[2 * times * pairs * nmomenta]. */
plaq_status plaq_spinor_contract_mesons(plaq_spinor quark,
                                        plaq_spinor antiquark,
                                        const plaq_contract_params *params,
                                        const int32_t *gammas,
                                        int64_t pairs,
                                        const int32_t *momenta,
                                        int64_t nmomenta,
                                        int64_t times,
                                        double *correlators);

/** Contracts correlators of `count` baryons of plaq_baryon. `strange` may be the zero handle for those without
 * strange quarks. Both have twelve columns. `momenta` and `correlators` are those of mesons. Errors:
 * INVALID_ARGUMENT, FIELD_MISMATCH.
 * Arrays: baryons[count], momenta[3 * nmomenta], correlators[2 * times * count * nmomenta]. */
plaq_status plaq_spinor_contract_baryons(plaq_spinor light,
                                         plaq_spinor strange,
                                         const plaq_contract_params *params,
                                         const int32_t *baryons,
                                         int64_t count,
                                         const int32_t *momenta,
                                         int64_t nmomenta,
                                         int64_t times,
                                         double *correlators);

/** Gives the matrix of two quarks in an interpolator, 16 (re, im) row by row.
 * Arrays: matrix[32]. */
plaq_status plaq_diquark_matrix(plaq_diquark diquark, double *matrix);

/** Gives the matrix of a spin projector for states of parity 1 or -1 forward in time, 16 (re, im) row by row.
 * Errors: INVALID_ARGUMENT.
 * Arrays: matrix[32]. */
plaq_status plaq_projector_matrix(plaq_projector projector, int32_t parity, double *matrix);

/* ---- Hadron structure ---- */

/** Contracts operators between two quark propagators: the sum over z of exp(i q (z - x0)) sum over columns of
 * X(z)^dagger gamma5 Gamma [line] S(z). `forward` is S(z, x0), `back` the solution X of a sequential source
 * (plaq_spinor_sequential_meson, -_baryon): X^dagger gamma5 is the propagator from z to the sink; M must be
 * gamma5-hermitian. A line is a product of `lengths[i]` factors, 0 for a local operator; `steps` lists the
 * factors of all lines one after the other: 0 to 3 shift q along a link forward in x, y, z, t, U_mu(z) q(z +
 * mu), 7 - mu shifts it back, U_mu(z - mu)^dagger q(z - mu), and 8 + mu is the derivative (D - D')_mu / 2, D
 * q = [U_mu(z) q(z + mu) - U_mu(z - mu)^dagger q(z - mu)] / 2 and qbar D' the same of qbar. The last factor
 * acts first on q, the first on qbar. Steps across the end of the lattice are multiplied by the quark's
 * boundary phase. With a zero handle for `gauge` all links are 1. Fields that record another kind than these,
 * plaq_line_kind, are refused. A derivative across an end where the two
 * quarks have different phases is refused. `momenta`: three integers n_i for each, q_i = 2 pi n_i / L_i.
 * `correlators`: complex numbers [line][Gamma, all 16][momentum][t], with t the time from the source;
 * `times` must be the extent of the lattice in time. Errors: INVALID_ARGUMENT, FIELD_MISMATCH,
 * OUT_OF_MEMORY.
 * Arrays: lengths[lines], steps[nsteps], momenta[3 * nmomenta], correlators[32 * lines * nmomenta * times]. */
plaq_status plaq_spinor_contract_insertions(plaq_spinor back,
                                            plaq_spinor forward,
                                            plaq_gauge gauge,
                                            const plaq_contract_params *params,
                                            const int32_t *lengths,
                                            int64_t lines,
                                            const int32_t *steps,
                                            int64_t nsteps,
                                            const int32_t *momenta,
                                            int64_t nmomenta,
                                            int64_t times,
                                            double *correlators);

/** Contracts the conserved vector current in the same way, V_mu(z) = [qbar(z + mu) (1 + gamma_mu)
 * U_mu(z)^dagger q(z) - qbar(z) (1 - gamma_mu) U_mu(z) q(z + mu)] / 2 of Wilson's operator, with exp(i q
 * (z - x0)) at z: [mu][momentum][t]. For anisotropic operators the weights of the hops are not included.
 * Arrays: momenta[3 * nmomenta], correlators[8 * nmomenta * times]. */
plaq_status plaq_spinor_contract_current(plaq_spinor back,
                                         plaq_spinor forward,
                                         plaq_gauge gauge,
                                         const plaq_contract_params *params,
                                         const int32_t *momenta,
                                         int64_t nmomenta,
                                         int64_t times,
                                         double *correlators);

/** Contracts correlators of mesons with the conserved vector current at the sink, the sum over x of exp(-i p (x -
 * x0)) <V_mu(x) (qbar' Gamma q)(x0)^dagger>, in the signs of plaq_spinor_contract_mesons, from propagators of a
 * quark and an antiquark (zero handle: the same) of one mass on the links of `gauge`. `gammas`: `count` numbers
 * of Gammas at the source. `correlators`: complex numbers [momentum][Gamma][mu][t]. Errors: INVALID_ARGUMENT,
 * FIELD_MISMATCH, OUT_OF_MEMORY.
 * Arrays: gammas[count], momenta[3 * nmomenta], correlators[8 * times * count * nmomenta]. */
plaq_status plaq_spinor_contract_conserved(plaq_spinor quark,
                                           plaq_spinor antiquark,
                                           plaq_gauge gauge,
                                           const plaq_contract_params *params,
                                           const int32_t *gammas,
                                           int64_t count,
                                           const int32_t *momenta,
                                           int64_t nmomenta,
                                           int64_t times,
                                           double *correlators);

/** Contracts baryons eps_abc (q1_a^T Gamma q2_b) q3_c from three propagators with twelve columns, which may
 * differ in mass, smearing or displacement (zero handle: the first one), with open spins: C_ss'(t) = sum_x
 * exp(-i p (x - x0)) <O_s(x, t0 + t) Obar_s'(x0, t0)>, Obar = O^dagger gamma_t. Gamma is the matrix `sink`
 * at the sink and `source` at the source, 16 (re, im) row by row. `correlators`: complex numbers
 * [pairing][momentum][t][s][s']. A pairing gives the positions in the source's operator to which the quarks
 * at positions 1, 2, 3 of the sink's operator are connected: 123, 213, 132, 321, 231, 312. All count with
 * sign +, since colours are antisymmetric at both ends; the caller adds those that the flavours allow.
 * Boundary phases at times beyond the lattice's end are divided out. Errors: INVALID_ARGUMENT,
 * FIELD_MISMATCH.
 * Arrays: sink[32], source[32], momenta[3 * nmomenta], correlators[192 * nmomenta * times]. */
plaq_status plaq_spinor_contract_quarks(plaq_spinor first,
                                        plaq_spinor second,
                                        plaq_spinor third,
                                        const plaq_contract_params *params,
                                        const double *sink,
                                        const double *source,
                                        const int32_t *momenta,
                                        int64_t nmomenta,
                                        int64_t times,
                                        double *correlators);

/** Computes to = exp(i q (z - x0)) Gamma [path] from, on the time slice `time`, counted from the source, or
 * with -1 on all: the source of the propagator that continues from an operator. `matrix`: Gamma as 16 (re,
 * im), row by row; `steps` 0 to 7 as in plaq_spinor_contract_insertions. Any number of columns, in single or
 * double precision. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
 * Arrays: matrix[32], steps[nsteps], momentum[3]. */
plaq_status plaq_spinor_sequential_operator(plaq_spinor from,
                                            plaq_spinor to,
                                            plaq_gauge gauge,
                                            const plaq_contract_params *params,
                                            const double *matrix,
                                            const int32_t *steps,
                                            int64_t nsteps,
                                            const int32_t *momentum,
                                            int32_t time);

/** Computes the sequential source through the sink of a meson qbar' Gamma_A q with the adjoint of qbar'
 * Gamma_B q at the source. `time` is that of the sink, counted from the source, and p the sink's momentum.
 * From the propagator S' of the antiquark (given as that of a quark, smeared if the sink is) it makes to =
 * -gamma5 Gamma_A^dagger gamma5 S' gamma5 gamma_t Gamma_B gamma_t exp(i p (x - x0)). If the sink is smeared,
 * the result has to be smeared, too. With its solution X plaq_spinor_contract_insertions gives <O_A(x) J
 * O_B(x0)^dagger>, where J acts on q, with exp(-i p (x - x0)), in the sign of plaq_contract_mesons. For a
 * sink beyond the end of the lattice in time, the result records the antiquark's boundary phase, and
 * contractions of X take this and that of q out. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
 * Arrays: sink[32], source[32], momentum[3]. */
plaq_status plaq_spinor_sequential_meson(plaq_spinor from,
                                         plaq_spinor to,
                                         const plaq_contract_params *params,
                                         const double *sink,
                                         const double *source,
                                         const int32_t *momentum,
                                         int32_t time);

/** Creates the sequential source through the sink of a baryon, for a sum of `terms` contractions of
 * plaq_spinor_contract_quarks. Each contraction has a number 0 to 5 in `pairings`, in the order given there,
 * a slot 0, 1 or 2 of the sink in `slots`, on whose quark the operator acts, and a weight. `projector` is
 * the matrix P in tr[P C]. If the sink is smeared, the result has to be smeared, too. With its solution X
 * plaq_spinor_contract_insertions gives sum_x exp(-i p (x - x0)) tr[P <O(x, t0 + time) J Obar(x0, t0)>]. For
 * the nucleon with quarks u d u, an operator on u takes pairings 0 and 3, each with slots 0 and 2; an
 * operator on d takes the same pairings with slot 1. Errors: INVALID_ARGUMENT, FIELD_MISMATCH.
 * Arrays: sink[32], source[32], projector[32], pairings[terms], slots[terms], weights[terms], momentum[3]. */
plaq_status plaq_spinor_sequential_baryon(plaq_spinor first,
                                          plaq_spinor second,
                                          plaq_spinor third,
                                          plaq_spinor to,
                                          const plaq_contract_params *params,
                                          const double *sink,
                                          const double *source,
                                          const double *projector,
                                          const int32_t *pairings,
                                          const int32_t *slots,
                                          const double *weights,
                                          int64_t terms,
                                          const int32_t *momentum,
                                          int32_t time);

/** Computes gluon operators, pairs of field strengths connected by adjoint Wilson lines: the sum over x of
 * exp(-i p x) tr[F_a(x) W F_b(x + d) W^dagger], where W is the product of links along the first n of
 * `nsteps` steps (0 to 3 forward in x, y, z, t, 7 - mu back) from x to x + d, and F = (Q - Q^dagger) / 8 the
 * sum of the four clover leaves without its trace. `correlators`: complex numbers [n][plane a][plane
 * b][momentum][t] for n = 0 to
 * `nsteps` (`places` = nsteps + 1 values), with planes in the order xy, xz, yz, xt, yt, zt, and t and x of
 * F_a counted from the lattice's origin. The links of `gauge` may have been flowed. Errors:
 * INVALID_ARGUMENT, UNSUPPORTED, OUT_OF_MEMORY.
 * Arrays: steps[nsteps], momenta[3 * nmomenta], correlators[72 * places * nmomenta * times]. */
plaq_status plaq_gauge_gluon_pairs(plaq_gauge gauge,
                                   const int32_t *steps,
                                   int64_t nsteps,
                                   const int32_t *momenta,
                                   int64_t nmomenta,
                                   int64_t places,
                                   int64_t times,
                                   double *correlators);

/* ---- Quark loops ---- */

/** Ways of contracting noise eta with solutions into loops; S = M^-1. */
typedef int32_t plaq_loops_kind;
enum {
  /** eta^dagger Gamma S eta: the loops of S. */
  PLAQ_LOOPS_PLAIN = 0,
  /** (S eta)^dagger gamma5 Gamma S eta: the loops of S(mu) gamma5 S(-mu) with twisted mass mu (Boucaud et al.,
   * Comput. Phys. Commun. 179, 695), so with the factor -2 i mu those of S(mu) - S(-mu). */
  PLAQ_LOOPS_ONE_END = 1,
  /** (S' gamma5 eta)^dagger gamma5 Gamma S eta: the loops of S S' with another operator, so with the factor
   * m' - m those of S - S' of two masses (Giusti et al., Eur. Phys. J. C 79, 586). S' is gamma5-hermitian. */
  PLAQ_LOOPS_DIFFERENCE = 2
};

/** Parameters of the noise for loops. */
typedef struct plaq_loops_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Estimator: how noise and solutions are contracted, by one-end tricks or without.
   * Default: PLAQ_LOOPS_PLAIN. */
  plaq_loops_kind kind;
  /** Numbers from which noise at all sites is drawn. Default: PLAQ_NOISE_Z4. */
  plaq_noise noise;
  /** Seed of the noise; the noise is the same on any number of ranks. Default: 0. */
  int64_t seed;
  /** Number of the first noise vector; a later one continues an earlier estimate.
   * 0 to 1048576. Default: 0. */
  int32_t first;
  /** Number of noise vectors. 1 to 1048576. Default: 1. */
  int32_t vectors;
  /** Indices in which noise is diluted, any of PLAQ_DILUTE_SPIN, PLAQ_DILUTE_COLOUR, PLAQ_DILUTE_PARITY and
   * PLAQ_DILUTE_TIME together; contributions of the parts are added. Default: 0. */
  int32_t dilute;
  /** Number of parts of the time slices with PLAQ_DILUTE_TIME, else 0. 0 to 1048576.
   * Default: 0. */
  int32_t time_parts;
  /** Hierarchical probing: number of plane waves by which each noise vector is multiplied, 1 (none) to the
   * number of sites; the estimate is the mean over them. Complete levels work best: for extents divisible by 4
   * they are 2, 16, 32, 256. 1 or more. Default: 1. */
  int32_t probes;
  /** Complex factor (re, im) of all loops: -2 i mu for PLAQ_LOOPS_ONE_END, m' - m for PLAQ_LOOPS_DIFFERENCE.
   * Default: 1, 0. */
  double factor[2];
} plaq_loops_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_loops_params_init(plaq_loops_params *params, int64_t struct_size);

/** Estimates quark loops by noise: for each noise vector sum_x exp(-i p x) tr[Gamma line M^-1(end, x)], without
 * the minus sign of the fermion loop, for each time t of the lattice, with x counted from the lattice's
 * origin. Lines, momenta and `gauge` are those of plaq_spinor_contract_insertions; M and its boundary phase
 * are those of `solver`, for PLAQ_SOLUTION_M; `other`: the solver of the other quark of PLAQ_LOOPS_DIFFERENCE.
 * `estimates`: (re, im) of [vector][line][Gamma, all 16][momentum][t]; `currents`, or NULL: the loops of the
 * conserved current of plaq_spinor_contract_current, [vector][mu][momentum][t]. Columns are contracted right
 * after they are solved. The callback is that of solves; if it ends the work, `finished` vectors are complete
 * and the others 0. Errors: INVALID_ARGUMENT, UNSUPPORTED, those of plaq_solver_solve.
 * Arrays: lengths[lines], steps[nsteps], momenta[3 * nmomenta], estimates[32 * vectors * lines * nmomenta * times], currents[8 * vectors * nmomenta * times]. */
plaq_status plaq_solver_loops(plaq_solver solver,
                              plaq_solver other,
                              plaq_gauge gauge,
                              const plaq_loops_params *params,
                              const int32_t *lengths,
                              int64_t lines,
                              const int32_t *steps,
                              int64_t nsteps,
                              const int32_t *momenta,
                              int64_t nmomenta,
                              int64_t vectors,
                              int64_t times,
                              plaq_progress_callback callback,
                              void *user,
                              double *estimates,
                              double *currents,
                              int64_t *finished,
                              plaq_solve_report *report);

/** Gives wave number `number` of hierarchical probing on a lattice of these extents, which must be even, as
 * n_mu of exp(2 pi i sum_mu n_mu x_mu / L_mu). Errors: INVALID_ARGUMENT.
 * Arrays: extents[4], wave[4]. */
plaq_status plaq_source_probe(const int32_t *extents, int64_t number, int32_t *wave);

/* ---- Reweighting factors ---- */

/** Reweighting factors, with X = M^dagger M of the quark's operator M. */
typedef int32_t plaq_reweighting_kind;
enum {
  /** det X / (X + mu^2): openQCD's RWTM1, and RWTM1_EO of an asymmetric system. */
  PLAQ_REWEIGHTING_TWISTED_MASS_1 = 0,
  /** det X (X + 2 mu^2) / (X + mu^2)^2: openQCD's RWTM2, and RWTM2_EO of an asymmetric system. */
  PLAQ_REWEIGHTING_TWISTED_MASS_2 = 1,
  /** det X^(1/2) r(X)^n of a rational function r about x^(-1/2 n): openQCD's RWRAT. */
  PLAQ_REWEIGHTING_RATIONAL = 2
};

/** Parameters of reweighting factors and of the noise that estimates them. */
typedef struct plaq_reweighting_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Kind of the factor. Default: PLAQ_REWEIGHTING_TWISTED_MASS_1. */
  plaq_reweighting_kind kind;
  /** Full lattice, or parity and form of the Schur complement, whose operator is M. Twisted masses:
   * PLAQ_SYSTEM_FULL, or an asymmetric system with the twisted mass on its own parity only. Rational
   * functions: the system of the chain, which is PLAQ_SYSTEM_EVEN_SYMMETRIC by default in plaq, and
   * PLAQ_SYSTEM_EVEN_ASYMMETRIC in openQCD. Default: PLAQ_SYSTEM_FULL. */
  plaq_system system;
  /** Number of noise vectors for each factor. 1 to 1048576. Default: 1. */
  int32_t vectors;
  /** Number of the first noise vector: others make independent estimates. 0 to 1048576.
   * Default: 0. */
  int32_t first;
  /** Seed of the noise; the noise is the same on any number of ranks. Default: 0. */
  int64_t seed;
  /** Lower end of the interval of the rational function, as in the chain: for M^dagger M in the solver's
   * normalisation. openQCD gives the ends for |D|; their squares belong here. 0: not given.
   * Default: 0. */
  double low;
  /** Upper end of the interval of the rational function. Default: 0. */
  double high;
  /** Number of poles of the rational function; 0: as few as reach `error`. 0 to 40.
   * Default: 0. */
  int32_t poles;
  /** Number n of pseudofermion fields of the chain, each of which represents the n-th root of the determinant.
   * 1 to 64. Default: 1. */
  int32_t fields;
  /** Relative error of the rational function, if `poles` is 0; in the chain it is error_hamiltonian.
   * A number above 0, to 1. Default: 1e-12. */
  double error;
  /** Number of the least shifts of the rational function that multigrid solves, where the solver has it; the
   * others take CG together. openQCD divides the poles into parts of np poles with a solver each: the sum of
   * np over those with DFL_SAP_GCR. 0 to 40. Default: 3. */
  int64_t shifts;
} plaq_reweighting_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_reweighting_params_init(plaq_reweighting_params *params, int64_t struct_size);

/** Report of a reweighting: the product over factors of their averages over noise vectors. */
typedef struct plaq_reweighting_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Logarithm of the product. */
  double ln;
  /** Relative error of the product, from the scatter over noise vectors; infinite for a single vector. */
  double error;
  /** Number of iterations of all solves. */
  int64_t iterations;
  /** Seconds that the estimates took. */
  double seconds;
} plaq_reweighting_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_reweighting_report_init(plaq_reweighting_report *report, int64_t struct_size);

/** Estimates reweighting factors by normal noise: for each twisted mass mu_k, 0 < mu_1 < mu_2 < ..., the
 * factor from mu_k-1 to mu_k (mu_0 = 0), so that their product is the factor of the last mass; for a
 * rational function, without mu (`nmu` = 0), one factor. `minus_ln`: -ln of the estimate, [factor][vector];
 * a factor is the average of exp(-minus_ln) over vectors. `norms`: square norms of the noise vectors in the
 * same order, or NULL. `numbers`: number of factors times params.vectors. Solves have the settings of
 * `solver`; those with twisted masses use its algorithm, those for poles CG. The callback is that of solves;
 * if it ends one the call fails with NOT_CONVERGED. Errors: INVALID_ARGUMENT, BAD_PARAMETER, UNSUPPORTED,
 * NOT_CONVERGED, SPECTRAL_BOUNDS (eigenvalues outside of the rational function's interval), those of
 * plaq_solver_solve.
 * Arrays: mu[nmu], minus_ln[numbers], norms[numbers]. */
plaq_status plaq_solver_reweighting(plaq_solver solver,
                                    const plaq_reweighting_params *params,
                                    const double *mu,
                                    int64_t nmu,
                                    plaq_progress_callback callback,
                                    void *user,
                                    double *minus_ln,
                                    double *norms,
                                    int64_t numbers,
                                    plaq_reweighting_report *report);

/* ---- Schroedinger functional ---- */

/** Boundaries of the Schroedinger functional. */
typedef int32_t plaq_boundary_end;
enum {
  /** The boundary at slice 0. */
  PLAQ_BOUNDARY_END_LOWER = 0,
  /** The boundary at slice T, the one after the last stored slice. */
  PLAQ_BOUNDARY_END_UPPER = 1
};

/** Makes the boundary-to-bulk propagator of a boundary with fixed links: H(x) = cF sum_y D^-1(x, y) U(y - t,
 * t)^dagger P with y on slice 1 for the lower boundary, P = (1 + gamma_t) / 2, or H(x) = cF' sum_y D^-1(x,
 * y) U(y, t) P with y on slice T - 1 for the upper one, P = (1 - gamma_t) / 2. It has twelve right-hand
 * sides, 3 spin + colour of the boundary field, of which six are solved for. D is mass-normalised, whatever
 * the solver's normalisation; boundary fields have momentum zero, which with spatial boundary phases is
 * exp(i theta x / L). The solver must be one for PLAQ_SOLUTION_M. Errors: UNSUPPORTED (other boundaries or
 * operators), those of plaq_solver_propagator. */
plaq_status plaq_solver_boundary_propagator(plaq_solver solver,
                                            plaq_boundary_end end,
                                            plaq_progress_callback callback,
                                            void *user,
                                            plaq_spinor *propagator,
                                            plaq_solve_report *report);

/** Computes the correlators of boundary fields for slices x0 from 0 to `times` - 1, averaged over space, with
 * the H of plaq_solver_boundary_propagator: f_A = -1/2 tr H^dagger gamma_t H and f_P = 1/2 tr H^dagger H of
 * the lower end, g_A = 1/2 tr H^dagger gamma_t H and g_P of the upper one, and `f1` = 1/2 tr K^dagger K, K =
 * cF' sum_x P U(x, t)^dagger H(x) / L^3 on the last slice. Each array may be NULL. For
 * PLAQ_BOUNDARY_TIME_OPEN_SF correlators of the lower boundary are NaN. `times`: the extent of t. The report
 * is that of all solves. Errors: those of plaq_solver_boundary_propagator.
 * Arrays: f_a[times], f_p[times], g_a[times], g_p[times], f1[1]. */
plaq_status plaq_solver_boundary_correlators(plaq_solver solver,
                                             plaq_progress_callback callback,
                                             void *user,
                                             int64_t times,
                                             double *f_a,
                                             double *f_p,
                                             double *g_a,
                                             double *g_p,
                                             double *f1,
                                             plaq_solve_report *report);

/* ---- Propagators in files ---- */

/** Kinds of propagator files: SciDAC files in LIME, with checksums, in the layout of QIO. */
typedef int32_t plaq_propagator_kind;
enum {
  /** USQCD_DiracFermion_ScalarSource_TwelveSink: one complex field, the source of all spins and
   * colours, and twelve spinors (MILC). */
  PLAQ_PROPAGATOR_SCALAR_SOURCE = 1,
  /** USQCD_DiracFermion_Source_Sink_Pairs: a source and a solution for every column. */
  PLAQ_PROPAGATOR_PAIRS = 2,
  /** One field of matrices of spin and colour, QDP++'s LatticePropagator (Chroma). */
  PLAQ_PROPAGATOR_MATRIX = 3
};

/** Contents of the file of a propagator. */
typedef struct plaq_spinor_write_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Kind of the file; 0: with sources PLAQ_PROPAGATOR_SCALAR_SOURCE if they have that form, else
   * PLAQ_PROPAGATOR_PAIRS; without sources PLAQ_PROPAGATOR_MATRIX. Default: 0. */
  plaq_propagator_kind kind;
  /** Precision of the numbers, PLAQ_PRECISION_DOUBLE or PLAQ_PRECISION_SINGLE; 0: double for fields in
   * double, else single. Default: 0. */
  plaq_precision precision;
  /** A text for human readers, stored in every record: NULL or NUL-terminated UTF-8.
   * Default: NULL. */
  const char *info;
} plaq_spinor_write_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_spinor_write_params_init(plaq_spinor_write_params *params, int64_t struct_size);

/** Parameters of reading a propagator. */
typedef struct plaq_spinor_read_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Extents that the whole lattice of the file must have; all 0: any. Default: 0, 0, 0, 0. */
  int32_t extents[4];
  /** Precision of the field; 0: that of the file. Default: 0. */
  plaq_precision precision;
  /** 1: a file is read even if a checksum in it is wrong; where the call reports `warnings`, they say so. For
   * files that were changed after they were written and are known to be good. 0 or 1.
   * Default: 0. */
  int32_t wrong_checksum;
} plaq_spinor_read_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_spinor_read_params_init(plaq_spinor_read_params *params, int64_t struct_size);

/** Writes a propagator, every rank its part; the file appears complete or not at all. `sources`: the sources
 * for which it was solved, as many columns, or the zero handle. The records contain what plaq_spinor_origin
 * knows of the propagator; unknown coordinates of the source are determined from `sources`. Errors:
 * FILE_WRITE, INVALID_ARGUMENT, FIELD_MISMATCH. */
plaq_status plaq_spinor_write(plaq_spinor propagator,
                              plaq_spinor sources,
                              const char *file,
                              const plaq_spinor_write_params *params);

/** Makes a field from a file of any of these kinds, written on any number of ranks: twelve columns 3 spin +
 * colour if the file says which they are, else in its order. Checksums are compared. plaq_spinor_origin then
 * gives the source and operator as described in the records (also those of Chroma) or determined from
 * sources in the file. Errors: BAD_PARAMETER, FILE_OPEN, FILE_FORMAT, FILE_EXTENTS, FILE_TRUNCATED,
 * FILE_CHECKSUM, NOT_FINITE, BAD_EXTENTS, OUT_OF_MEMORY. */
plaq_status plaq_spinor_read(plaq_context context,
                             const char *file,
                             const plaq_spinor_read_params *params,
                             plaq_spinor *propagator);

/* ---- Eigenvectors of A: of M where it is hermitian, a Laplacian, else of M^dagger M ---- */

/** Eigenvectors with their eigenvalues. */
typedef struct plaq_eigen {
  int64_t id;
} plaq_eigen;

/** The end of the spectrum at which eigenvalues are searched for. */
typedef int32_t plaq_eigen_end;
enum {
  /** The smallest eigenvalues. */
  PLAQ_EIGEN_SMALLEST = 0,
  /** The largest eigenvalues. */
  PLAQ_EIGEN_LARGEST = 1
};

/** Algorithms that find eigenvectors. */
typedef int32_t plaq_eigen_method;
enum {
  /** Block Lanczos with thick restarts and Chebyshev polynomials. */
  PLAQ_EIGEN_LANCZOS = 0,
  /** Minimisation of the Ritz functional by locally optimal conjugate gradients. */
  PLAQ_EIGEN_RITZ = 1
};

/** Parameters of a search for eigenvectors of A, where A = M if M is hermitian, as for a Laplacian, and A =
 * M^dagger M otherwise. */
typedef struct plaq_eigen_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Algorithm of the search. Default: PLAQ_EIGEN_LANCZOS. */
  plaq_eigen_method method;
  /** End of the spectrum at which eigenvectors are searched for.
   * Default: PLAQ_EIGEN_SMALLEST. */
  plaq_eigen_end end;
  /** The operator M: on the whole lattice, or a Schur complement. Default: PLAQ_SYSTEM_FULL. */
  plaq_system system;
  /** Number of wanted eigenvectors, at most the number of unknowns. If they are a large part of the space of a
   * small operator, it is diagonalised completely. 1 or more. Default: 8. */
  int32_t count;
  /** Largest number of vectors that are kept, at least `count` + 2 `block`; 0: about twice `count`.
   * 0 or more. Default: 0. */
  int32_t max_vectors;
  /** Number of vectors that are multiplied by A together. 1 or more. Default: 1. */
  int32_t block;
  /** Largest number of restarts of Lanczos, or of cycles of the Ritz functional.
   * 1 to 1000000. Default: 200. */
  int32_t max_restarts;
  /** True: after the search others, from random vectors orthogonal to the results, look for eigenvectors that
   * were missed, until they find none; false: `converged` does not tell whether eigenvalues are missing. With
   * true a `tol` above 1e-3 is taken as 1e-3. 0 or 1. Default: 1. */
  int32_t verify;
  /** Largest |A v - lambda v| over the largest eigenvalue, from 1e-16, in single precision 1e-8;
   * 0: 1e-10, in single precision 1e-6. Default: 0. */
  double tol;
  /** Degree of the Chebyshev polynomial; 0: chosen by the spectrum; 1: no polynomial.
   * 0 to 100000. Default: 0. */
  int32_t degree;
  /** True, for operators without hops in t, e.g. the Laplacian of colour vectors in x, y and z: the `count`
   * smallest eigenvalues are found for each time slice separately. Vector k holds eigenvector k of every
   * slice, each normalised to 1, and values are [t][k]. Only the parameters `tol`, `max_restarts`, `verify`,
   * `seed` and `max_seconds` are used besides. 0 or 1. Default: 0. */
  int32_t time_slices;
  /** Lower end of the interval on which the polynomial is small, which should contain the unwanted eigenvalues,
   * in the operator's normalisation. The interval is replaced if wanted eigenvalues turn out to lie in it.
   * Default: 0. */
  double from;
  /** Upper end of the interval on which the polynomial is small. Default: 0. */
  double to;
  /** Seed of the random vectors with which searches start. Default: 1. */
  int64_t seed;
  /** Largest number of seconds for the search; 0: no limit. The time is checked after every block, for the Ritz
   * functional after every step of the minimisation; all ranks stop after the same one.
   * Default: 0. */
  double max_seconds;
  /** Memory for the vectors of Lanczos, during the search and for its results.
   * Default: PLAQ_VECTORS_AUTO. */
  plaq_vector_memory vectors;
  /** Least number of vectors that are kept on the device before some are moved to the host; 0: 1.25 times
   * `count`, at least 16 or 4 `block`. 0 or more. Default: 0. */
  int32_t min_vectors;
} plaq_eigen_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_eigen_params_init(plaq_eigen_params *params, int64_t struct_size);

/** Report of a search for eigenvectors. */
typedef struct plaq_eigen_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** 1: every vector meets the tolerance and, with `verify`, no eigenvalue was missed. */
  int32_t converged;
  /** 1: no eigenvalue was missed, as shown by a search from random vectors orthogonal to the results, or because
   * the operator was diagonalised completely. 0: not asked for, or ended by a limit. */
  int32_t verified;
  /** 1: the callback or `max_seconds` ended the search; the results are those known by then. */
  int32_t stopped;
  /** The criterion that ended the search; PLAQ_STOPPED_BY_ITERATIONS: `max_restarts`. */
  plaq_stopped_by stopped_by;
  /** Number of restarts of the search. */
  int32_t restarts;
  /** Number of eigenvectors; of those of time slices the number on each slice. */
  int32_t count;
  /** Estimate of the largest eigenvalue, from above. */
  double largest;
  /** Number of multiplications of a vector by the operator. */
  int64_t applications;
  /** Seconds that the search took. */
  double seconds;
  /** Degree of the last polynomial; 1: no polynomial was used. */
  int32_t degree;
  /** Largest number of vectors that the search kept; 0 if Lanczos was not used. */
  int32_t max_vectors;
  /** Number of vectors of the search on the device; the others were in the host's memory. */
  int32_t on_device;
  /** Lower end of the interval on which the last polynomial is small. */
  double from;
  /** Upper end of the interval on which the last polynomial is small. */
  double to;
  /** Estimate of the smallest eigenvalue, from below. */
  double least;
} plaq_eigen_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_eigen_report_init(plaq_eigen_report *report, int64_t struct_size);

/** Finds eigenvectors. `guess`: approximate eigenvectors, for example saved ones, or the zero handle. The
 * callback is called after every restart and every block, and some ten times a second between, with the
 * largest residual known. A search that has not converged is not an error. Errors: BAD_PARAMETER, UNSUPPORTED (16-bit vectors), FIELD_MISMATCH,
 * NOT_FINITE, OUT_OF_MEMORY. */
plaq_status plaq_eigen_create(plaq_dirac dirac,
                              const plaq_eigen_params *params,
                              plaq_spinor guess,
                              plaq_progress_callback callback,
                              void *user,
                              plaq_eigen *eigen,
                              plaq_eigen_report *report);

/** Writes eigenvectors to a file: SciDAC records in LIME with checksums, with values, residuals and bounds.
 * The file appears complete or not at all. Errors: UNSUPPORTED: vectors on one parity; FILE_WRITE. */
plaq_status plaq_eigen_write(plaq_eigen eigen, const char *file);

/** Reads eigenvectors of this operator from a file of plaq_eigen_write; values and residuals are computed
 * again with the operator. Errors: FIELD_MISMATCH: they belong to other links or another operator; FILE_*. */
plaq_status plaq_eigen_read(plaq_dirac dirac,
                            const char *file,
                            plaq_eigen *eigen,
                            plaq_eigen_report *report);

/** Destroys eigenvectors. The zero handle is accepted. */
plaq_status plaq_eigen_destroy(plaq_eigen eigen);

/** Gives eigenvalues of A in the operator's normalisation, from the end of the spectrum inwards, residuals |A
 * v - lambda v|, and bounds on the error of the values. `count`: as in the report; with `time_slices` times
 * the extent in t, ordered [t][k]. `residuals` and `bounds` may be NULL.
 * Arrays: values[count], residuals[count], bounds[count]. */
plaq_status plaq_eigen_values(plaq_eigen eigen,
                              double *values,
                              double *residuals,
                              double *bounds,
                              int64_t count);

/** Makes a field that holds all eigenvectors, orthonormal, one in each right-hand side. */
plaq_status plaq_eigen_vectors(plaq_eigen eigen, plaq_spinor *vectors);

/** Makes a field with `count` eigenvectors from number `first` on, for sets that do not fit on the device. */
plaq_status plaq_eigen_some_vectors(plaq_eigen eigen,
                                    int64_t first,
                                    int64_t count,
                                    plaq_spinor *vectors);

/* ---- Low modes, and loops part by part ---- */

/** Spaces of low modes of a solver's operator M, each with an approximate inverse L = P D_c^-1 R, D_c = R M
 * P: levels of multigrid, or vectors. Level 0 is the lattice, larger numbers are coarser. */
typedef struct plaq_space {
  int64_t id;
} plaq_space;

/** Quark loops as sums of parts, each with its own variance and cost. */
typedef struct plaq_loops {
  int64_t id;
} plaq_loops;

/** Methods for the traces of low modes. */
typedef int32_t plaq_loops_traces;
enum {
  /** Noise on each level; for the last level the exact trace if that costs less for the goals, judged after
   * four noise vectors. */
  PLAQ_LOOPS_TRACES_AUTO = 0,
  /** The exact trace of the last level, from its coordinate vectors; noise on the levels between. */
  PLAQ_LOOPS_TRACES_LAST = 1,
  /** Noise estimates the traces on each level. */
  PLAQ_LOOPS_TRACES_NOISE = 2,
  /** Exact traces of all coarse levels, from their coordinate vectors. */
  PLAQ_LOOPS_TRACES_EVERY = 3
};

/** Kinds of the terms of which loops are the sum. */
typedef int32_t plaq_loops_term;
enum {
  /** The difference of a level and the next one, or the last level itself, by noise on this level. */
  PLAQ_LOOPS_TERM_NOISE = 0,
  /** The difference of a level and the next one, or the last level itself, exactly: from all coordinate vectors. */
  PLAQ_LOOPS_TERM_EXACT = 1,
  /** The first terms of the hopping expansion, exactly. */
  PLAQ_LOOPS_TERM_HOPPING = 2
};

/** Parameters that divide loops into parts. */
typedef struct plaq_loop_sums_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Estimator of the traces of low modes, by noise or exactly.
   * Default: PLAQ_LOOPS_TRACES_AUTO. */
  plaq_loops_traces traces;
  /** Number of terms of the hopping expansion, (A^-1 H)^k A^-1 with M = A - H, whose trace is taken exactly; 0:
   * none. 0 to 16. Default: 0. */
  int32_t hopping;
} plaq_loop_sums_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_loop_sums_params_init(plaq_loop_sums_params *params, int64_t struct_size);

/** Goals at which a call that adds to loops ends: the first one that is reached. At least one of `error`,
 * `seconds` and `vectors` must be set. */
typedef struct plaq_loop_goals {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Error to reach: of the loop of the first line, Gamma number `gamma` and the first momentum on a time
   * slice, as root mean square over time slices, of real and imaginary part together; 0: no goal.
   * Default: 0. */
  double error;
  /** Seconds after which the call ends; 0: no limit. Default: 0. */
  double seconds;
  /** Number, 0 to 15, of the Gamma whose error counts. 0 to 15. Default: 0. */
  int32_t gamma;
  /** Largest number of noise vectors of each part, those of earlier calls included; 0: no limit.
   * 0 to 1048576. Default: 0. */
  int32_t vectors;
} plaq_loop_goals;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_loop_goals_init(plaq_loop_goals *params, int64_t struct_size);

/** Description of loops summed so far. */
typedef struct plaq_loops_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Number of parts into which the loops are divided. */
  int32_t parts;
  /** 1: the call reached the error that was asked for or, if none was, the number of vectors. */
  int32_t reached;
  /** 1: the callback ended the call. */
  int32_t stopped;
  /** The error as defined in plaq_loop_goals; of plaq_loops_describe, which has no goals, that of Gamma number 0.
   * Infinite before all parts have an estimate. */
  double error;
  /** Seconds that the call took. */
  double seconds;
  /** Number of solves in all parts that did not converge. */
  int64_t failed;
} plaq_loops_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_loops_report_init(plaq_loops_report *report, int64_t struct_size);

/** Description of one part of loops. */
typedef struct plaq_loops_part_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** The kind of term that the part estimates. */
  plaq_loops_term term;
  /** The level whose noise or coordinate vectors are used. */
  int32_t level;
  /** Number of noise vectors, or of columns of an exact trace, that have been summed. */
  int64_t done;
  /** Number of columns of an exact trace; 0 for noise. */
  int64_t total;
  /** Number of columns solved for on the level. */
  int64_t solves;
  /** Number of solves that did not converge. */
  int64_t failed;
  /** Seconds spent on this part. */
  double seconds;
  /** Error of this part as defined in plaq_loop_goals, with Gamma number 0 where there are no goals; 0 of what is
   * exact, infinite before there are two noise vectors or all columns of an exact part. */
  double error;
} plaq_loops_part_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_loops_part_report_init(plaq_loops_part_report *report, int64_t struct_size);

/** Description of a level of spaces. */
typedef struct plaq_space_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Number of levels, the lattice not counted. */
  int32_t levels;
  /** Extents of the level over all ranks; for vectors 1. */
  int32_t extents[4];
  /** Dimension of the level's space over all ranks. */
  int64_t unknowns;
} plaq_space_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_space_report_init(plaq_space_report *report, int64_t struct_size);

/** Makes spaces of the first `levels` coarse levels of a hierarchy, 0: of all coarse levels that are
 * distributed over all ranks. Coarse operators are made again in the precision of the solver's operator and
 * solved to the relative residual `tol`, which must be well below the noise. Errors: INVALID_ARGUMENT (too
 * many levels, `tol`), UNSUPPORTED (two flavours, half precision), FIELD_MISMATCH (a hierarchy of another
 * lattice or configuration), STALE_MULTIGRID, OUT_OF_MEMORY. */
plaq_status plaq_space_create_multigrid(plaq_solver solver,
                                        plaq_multigrid multigrid,
                                        int32_t levels,
                                        double tol,
                                        plaq_space *space);

/** Gives the largest number of bytes of device memory that making these spaces takes, and afterwards applying
 * L to twelve columns. Errors: those of plaq_space_create_multigrid. */
plaq_status plaq_space_memory(plaq_solver solver,
                              plaq_multigrid multigrid,
                              int32_t levels,
                              int64_t *bytes);

/** Makes the space of eigenvectors V of the whole operator, with R = V^dagger gamma5. Errors: FIELD_MISMATCH
 * (vectors of another lattice, configuration, precision or of one parity), INVALID_ARGUMENT, UNSUPPORTED, OUT_OF_MEMORY. */
plaq_status plaq_space_create_eigen(plaq_solver solver, plaq_eigen eigen, plaq_space *space);

/** Destroys spaces; loops made with them remain valid. The zero handle is accepted. */
plaq_status plaq_space_destroy(plaq_space space);

/** Describes level number `level`, 1 or more. */
plaq_status plaq_space_describe(plaq_space space, int32_t level, plaq_space_report *report);

/** Computes x = L b with the approximate inverse of a level; x and b are different fields on the full
 * lattice, as the solver takes them. Errors: FIELD_MISMATCH, INVALID_ARGUMENT, NOT_CONVERGED,
 * SOLVER_BREAKDOWN. */
plaq_status plaq_space_apply(plaq_space space, int32_t level, plaq_spinor x, plaq_spinor b);

/** Makes the propagator L(x, source) of a level, with L instead of M^-1, with a right-hand side for each
 * column of the source. Errors: those of plaq_space_apply. */
plaq_status plaq_space_propagator(plaq_space space,
                                  int32_t level,
                                  const plaq_source_params *source,
                                  plaq_spinor *propagator);

/** Contracts mesons as plaq_spinor_contract_mesons does, with L instead of propagators, averaged exactly over
 * all sites of the lattice as sources. With propagators S from some sources, C[S, S] - C[L, L] of these
 * sources plus this average is less noisy than C[S, S] (low-mode averaging). The callback is called after
 * each site of the level with the fraction that is left, and may end the call: NOT_CONVERGED. M is
 * gamma5-hermitian. Errors: INVALID_ARGUMENT, NOT_CONVERGED, those of plaq_space_apply.
 * Arrays: gammas[2 * pairs], momenta[3 * nmomenta], correlators[2 * times * pairs * nmomenta]. */
plaq_status plaq_space_mesons(plaq_space space,
                              int32_t level,
                              const int32_t *gammas,
                              int64_t pairs,
                              const int32_t *momenta,
                              int64_t nmomenta,
                              int64_t times,
                              plaq_progress_callback callback,
                              void *user,
                              double *correlators);

/** Makes loops as in plaq_solver_loops, with empty sums: Tr O M^-1 is Tr O (M^-1 - L_1) by noise, plus Tr O
 * (L_1 - L_2) by noise of level 1, and so on, plus Tr O L of the last level; with
 * `sums.hopping` = n every right side is multiplied by (A^-1 H)^n, M = A - H, and the terms of the hopping
 * expansion before that are added exactly. This is an identity if solves are accurate: their residuals must
 * be well below the noise. `vectors` of `params` is not used. Zero handle of `space`: no low modes. Errors:
 * INVALID_ARGUMENT, UNSUPPORTED (hopping with other contractions than PLAQ_LOOPS_PLAIN), FIELD_MISMATCH. For
 * PLAQ_LOOPS_ONE_END and PLAQ_LOOPS_DIFFERENCE low modes approximate the products of two inverses, with
 * noise between them.
 * Arrays: lengths[lines], steps[nsteps], momenta[3 * nmomenta]. */
plaq_status plaq_loops_create(plaq_solver solver,
                              plaq_solver other,
                              plaq_space space,
                              plaq_gauge gauge,
                              const plaq_loops_params *params,
                              const plaq_loop_sums_params *sums,
                              const int32_t *lengths,
                              int64_t lines,
                              const int32_t *steps,
                              int64_t nsteps,
                              const int32_t *momenta,
                              int64_t nmomenta,
                              plaq_loops *loops);

/** Destroys loops. The zero handle is accepted. */
plaq_status plaq_loops_destroy(plaq_loops loops);

/** Adds to loops until a goal is reached, each time to the part whose error it lowers most for its cost,
 * after four noise vectors for each part. The callback is that of solves; if it ends the call, completed
 * vectors are kept, and a next call continues. Errors: those of plaq_solver_solve, FIELD_MISMATCH (links
 * that have changed), INVALID_ARGUMENT (no goal). */
plaq_status plaq_loops_add(plaq_loops loops,
                           const plaq_loop_goals *goals,
                           plaq_progress_callback callback,
                           void *user,
                           plaq_loops_report *report);

/** Describes loops; numbers about a single call are 0. */
plaq_status plaq_loops_describe(plaq_loops loops, plaq_loops_report *report);

/** Describes part number `part` of loops. */
plaq_status plaq_loops_describe_part(plaq_loops loops,
                                     int32_t part,
                                     plaq_loops_part_report *report);

/** Copies the values of loops, complex numbers as (re, im): `means` [line][Gamma, all 16][momentum][t], and
 * `variances` of a single noise vector, with the variance of real parts as real and that of imaginary parts
 * as imaginary part. A variance is infinite with fewer than two noise vectors, and 0 for exact parts. Part
 * -1 stands for the sum of all parts, with its squared errors as variances; it is refused before every part has
 * some noise. `currents` and `current_variances` are the same for the conserved current, [mu][momentum][t]. All arrays except `means`
 * may be NULL. `numbers` is the number of complex numbers in `means`, `ncurrents` that in `currents`.
 * Arrays: means[2 * numbers], variances[2 * numbers], currents[2 * ncurrents], current_variances[2 * ncurrents]. */
plaq_status plaq_loops_values(plaq_loops loops,
                              int32_t part,
                              double *means,
                              double *variances,
                              int64_t numbers,
                              double *currents,
                              double *current_variances,
                              int64_t ncurrents);

/** Writes sums, and a description of what they are sums of, to a file from which plaq_loops_read continues.
 * The file appears complete or not at all. Errors: FILE_WRITE. */
plaq_status plaq_loops_write(plaq_loops loops, const char *file);

/** Replaces the sums by those of a file that plaq_loops_write wrote. Errors, after which nothing has changed:
 * FIELD_MISMATCH (of other links, operators, spaces, noise, lines or momenta: the first difference is
 * named), FILE_*. */
plaq_status plaq_loops_read(plaq_loops loops, const char *file);

/* ---- Distillation ---- */

/** Modes of -D^2 on every time slice, where D^2 is the covariant second difference in x, y and z: mode k
 * holds eigenvector k of every slice, each normalised to 1. The component of colour 0 at the site 0, 0, 0 of
 * a slice is real and positive; if it is almost zero that of colour 1, or 2; if all three are, the phase is
 * unspecified. */
typedef struct plaq_modes {
  int64_t id;
} plaq_modes;

/** Divisions of an index of N values into the parts of a dilution. */
typedef int32_t plaq_modes_dilution;
enum {
  /** No dilution: one part with all values. */
  PLAQ_MODES_DILUTION_NONE = 0,
  /** Full dilution: one part for each value. */
  PLAQ_MODES_DILUTION_FULL = 1,
  /** `parts` parts; value i belongs to part i mod `parts`. */
  PLAQ_MODES_DILUTION_INTERLACE = 2,
  /** `parts` parts of consecutive values; value i belongs to part i `parts` / N, rounded down. */
  PLAQ_MODES_DILUTION_BLOCK = 3
};

/** Operators, made of the Laplacian's links, that act on a mode v. */
typedef int32_t plaq_modes_step;
enum {
  /** D_x v(n) = [U_x(n) v(n + x) - U_x(n - x)^dagger v(n - x)] / 2. */
  PLAQ_MODES_DERIVATIVE_X = 0,
  /** D_y, the covariant derivative [U_y v(n + y) - U_y^dagger v(n - y)] / 2. */
  PLAQ_MODES_DERIVATIVE_Y = 1,
  /** D_z, the covariant derivative [U_z v(n + z) - U_z^dagger v(n - z)] / 2. */
  PLAQ_MODES_DERIVATIVE_Z = 2,
  /** U_x(n) v(n + x). */
  PLAQ_MODES_FORWARD_X = 3,
  /** U_y(n) v(n + y). */
  PLAQ_MODES_FORWARD_Y = 4,
  /** U_z(n) v(n + z). */
  PLAQ_MODES_FORWARD_Z = 5,
  /** U_x(n - x)^dagger v(n - x). */
  PLAQ_MODES_BACK_X = 6,
  /** U_y(n - y)^dagger v(n - y). */
  PLAQ_MODES_BACK_Y = 7,
  /** U_z(n - z)^dagger v(n - z). */
  PLAQ_MODES_BACK_Z = 8
};

/** Action if a file to be written exists already. */
typedef int32_t plaq_if_exists;
enum {
  /** Writing is refused. */
  PLAQ_IF_EXISTS_REFUSE = 0,
  /** The file is replaced. */
  PLAQ_IF_EXISTS_OVERWRITE = 1,
  /** Datasets are added to the file; names that it already has are refused. */
  PLAQ_IF_EXISTS_APPEND = 2
};

/** Modes of -D^2 on every time slice, D^2 the covariant second difference in x, y and z. */
typedef struct plaq_modes_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Number of modes on each time slice, at most three times the number of its sites.
   * 1 or more. Default: 16. */
  int32_t count;
  /** Number of steps of spatial stout smearing of the links in the Laplacian. 0 to 100000.
   * Default: 0. */
  int32_t steps;
  /** Weight rho of the staples in the stout smearing of the links. 0 to 1. Default: 0.1. */
  double rho;
  /** Largest |D^2 v + lambda v| over the largest eigenvalue, from 1e-16, in single precision 1e-8;
   * 0: 1e-10, in single precision 1e-6. Default: 0. */
  double tol;
  /** Largest number of restarts; in each the vectors are multiplied by a polynomial of the Laplacian.
   * 1 to 1000000. Default: 200. */
  int32_t max_restarts;
  /** True: after the search another one from random vectors orthogonal to the modes looks for modes that were
   * missed, and is repeated until it finds none. 0 or 1. Default: 1. */
  int32_t verify;
  /** Seed of the random vectors with which searches start. Default: 1. */
  int64_t seed;
  /** Largest number of seconds for the search; 0: no limit. Default: 0. */
  double max_seconds;
  /** Memory for the modes. Automatic: on the device; if its memory does not suffice, groups of time slices are
   * searched one after the other and the host holds the modes that do not fit. `host`: the host holds all but
   * the first mode, so that solves have the device's memory. `device`: an error if memory does not suffice.
   * Default: PLAQ_VECTORS_AUTO. */
  plaq_vector_memory vectors;
  /** True, for links in double precision: vectors are first iterated in single precision, to a residual of 1e-5
   * of the largest eigenvalue, and then in double. 0 or 1. Default: 0. */
  int32_t mixed;
  /** Momentum of a moving frame, three real numbers: after smearing the links of the Laplacian are multiplied
   * by exp(2 pi i momentum(j) / L_j) in x, y and z, as in plaq_spinor_smear.
   * Default: 0, 0, 0. */
  double momentum[3];
} plaq_modes_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_modes_params_init(plaq_modes_params *params, int64_t struct_size);

/** Noise in the space of modes: a column is b(x) = sum of eta(t, s, k) v_k(x) over the modes k, spins s and times
 * t of one part of the dilution, with independent roots of unity eta. Columns are numbered with parts of modes
 * fastest, then of spins, of times, and noise vectors. */
typedef struct plaq_modes_noise_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Numbers from which eta is drawn: PLAQ_NOISE_Z2 or PLAQ_NOISE_Z4. Default: PLAQ_NOISE_Z4. */
  plaq_noise noise;
  /** Number of noise vectors, each of which has a column for every part. 1 to 1048576.
   * Default: 1. */
  int32_t vectors;
  /** Seed of the noise; the noise is the same on any number of ranks. Default: 0. */
  int64_t seed;
  /** Dilution of the time index. Default: PLAQ_MODES_DILUTION_FULL. */
  plaq_modes_dilution time;
  /** Number of parts of times, of dilutions that need it. 0 or more. Default: 0. */
  int32_t time_parts;
  /** Dilution of the spin index. Default: PLAQ_MODES_DILUTION_FULL. */
  plaq_modes_dilution spin;
  /** Number of parts of spins. 0 or more. Default: 0. */
  int32_t spin_parts;
  /** Dilution of the mode index. Default: PLAQ_MODES_DILUTION_INTERLACE. */
  plaq_modes_dilution mode;
  /** Number of parts of modes. 0 or more. Default: 1. */
  int32_t mode_parts;
  /** Number of the first column; those before it are left out. 0 or more. Default: 0. */
  int32_t first;
  /** Largest number of columns, beginning with column `first`; 0: all columns of the source from `first` on.
   * 1 or more. Default: 0. */
  int32_t count;
} plaq_modes_noise_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_modes_noise_params_init(plaq_modes_noise_params *params, int64_t struct_size);

/** Description of modes, and report of the search that found them. Seconds, restarts and applications of the search
 * are 0 if the modes were read from a file. */
typedef struct plaq_modes_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** 1: every vector meets the tolerance and, with `verify`, no eigenvalue was missed. */
  int32_t converged;
  /** 1: no eigenvalue was missed, as shown by a search from random vectors orthogonal to the results, or because
   * the operator was diagonalised completely. 0: not asked for, or ended by a limit. */
  int32_t verified;
  /** 1: the callback or `max_seconds` ended the search; the results are those known by then. */
  int32_t stopped;
  /** The criterion that ended the search; PLAQ_STOPPED_BY_ITERATIONS: `max_restarts`. */
  plaq_stopped_by stopped_by;
  /** Number of restarts of the search. */
  int32_t restarts;
  /** Number of eigenvectors; of those of time slices the number on each slice. */
  int32_t count;
  /** Estimate of the largest eigenvalue, from above. */
  double largest;
  /** Number of multiplications of a vector by the operator. */
  int64_t applications;
  /** Seconds that the search took. */
  double seconds;
  /** Number of time slices of the whole lattice. */
  int32_t times;
  /** Number of steps of spatial stout smearing. */
  int32_t steps;
  /** Weight rho of the staples in the stout smearing of the links. */
  double rho;
  /** Average spatial plaquette of the links before smearing. It identifies the links: these modes are refused
   * with others. */
  double plaquette_spatial;
  /** Average temporal plaquette of the links before smearing. */
  double plaquette_temporal;
  /** Average Re tr U / 3 of the links before smearing. */
  double link_trace;
  /** Bytes of device memory of the modes. */
  int64_t bytes;
  /** Bytes of the host's memory for the modes that are not on the device. */
  int64_t host_bytes;
  /** Momentum of the moving frame, as in plaq_modes_params. */
  double momentum[3];
  /** Number of time slices on which the last value belongs to a degenerate level of which further modes were not
   * asked for: the space of the modes then depends on the basis that the search happened to find. */
  int32_t cut_levels;
  /** The tolerance of the search. */
  double tol;
} plaq_modes_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_modes_report_init(plaq_modes_report *report, int64_t struct_size);

/** Finds modes on the links of `gauge` (SU(3)), smeared as `params` say, or on links `smeared` that the
 * caller made from them; zero handle: none. The callback is called after every restart, and some ten
 * times a second between, with the largest residual known. A search that has not converged is not an error. Errors: BAD_PARAMETER (more modes than a slice
 * has), UNSUPPORTED, FIELD_MISMATCH, OUT_OF_MEMORY. */
plaq_status plaq_modes_create(plaq_gauge gauge,
                              plaq_gauge smeared,
                              const plaq_modes_params *params,
                              plaq_progress_callback callback,
                              void *user,
                              plaq_modes *modes,
                              plaq_modes_report *report);

/** Gives the memory in bytes that plaq_modes_create takes on a rank with these parameters: device memory at
 * the peak of the search, besides the links of `gauge`; that of the modes afterwards; the host's memory for
 * modes that are not on the device; and the number of time slices that are searched together. Errors:
 * BAD_PARAMETER, OUT_OF_MEMORY: it will not fit. */
plaq_status plaq_modes_memory(plaq_gauge gauge,
                              const plaq_modes_params *params,
                              int64_t *search,
                              int64_t *device,
                              int64_t *host,
                              int64_t *slices);

/** Writes modes to a file: SciDAC records in LIME with checksums, with eigenvalues, smearing and the averages
 * that identify the links; or, if the name ends with .h5 or .hdf5, the same by libhdf5, with modes as
 * datasets "modes/0", "modes/1", ... [t][z][y][x][colour]. The file appears complete or not at all. Errors:
 * FILE_WRITE: also if the file exists and is not to be overwritten; UNSUPPORTED: no libhdf5, or
 * PLAQ_IF_EXISTS_APPEND. */
plaq_status plaq_modes_write(plaq_modes modes, const char *file, plaq_if_exists if_exists);

/** Reads modes of the links of `gauge` from a file of plaq_modes_write; `smeared` as in plaq_modes_create,
 * without it the links are smeared as the file says. Errors: FIELD_MISMATCH: they belong to other links;
 * FILE_*. */
plaq_status plaq_modes_read(plaq_gauge gauge,
                            plaq_gauge smeared,
                            const char *file,
                            plaq_modes *modes,
                            plaq_modes_report *report);

/** Destroys modes. The zero handle is accepted. */
plaq_status plaq_modes_destroy(plaq_modes modes);

/** Describes modes and their links; seconds, restarts and applications of the search are 0 if the modes
 * were read from a file. */
plaq_status plaq_modes_describe(plaq_modes modes, plaq_modes_report *report);

/** Gives eigenvalues, ascending on each slice, [t][mode], and residuals |D^2 v + lambda v|; `count`: modes
 * times slices of the whole lattice. `next`: for each slice the eigenvalue after the last one, as far as it
 * is known, infinite if there is none; it tells whether a degenerate level is complete. `residuals` and
 * `next` may be NULL.
 * Arrays: values[count], residuals[count], next[times]. */
plaq_status plaq_modes_values(plaq_modes modes,
                              double *values,
                              double *residuals,
                              int64_t count,
                              double *next,
                              int64_t times);

/** Makes a field of colour vectors with `count` modes, from number `first` on. */
plaq_status plaq_modes_vectors(plaq_modes modes,
                               int64_t first,
                               int64_t count,
                               plaq_spinor *vectors);

/** Computes perambulators tau(t', t) = V(t')^dagger M^-1 V(t) for source times `times`, M in the
 * normalisation of the solver, which may be one of plaq_solver_create_overlap, too: complex numbers [time][t'][spin'][spin][mode'][mode], with t' all times of
 * the whole lattice and spins in the DeGrand-Rossi basis; `count`: their number. Propagators are not stored.
 * `finished`: number of source times that are complete: all, unless the callback or the solver's
 * `max_seconds` end the work; numbers of the others are 0. Errors: FIELD_MISMATCH (modes of other links),
 * INVALID_ARGUMENT, UNSUPPORTED, those of plaq_solver_solve.
 * Arrays: times[ntimes], perambulators[2 * count]. */
plaq_status plaq_modes_perambulators(plaq_modes modes,
                                     plaq_solver solver,
                                     const int32_t *times,
                                     int64_t ntimes,
                                     plaq_progress_callback callback,
                                     void *user,
                                     double *perambulators,
                                     int64_t count,
                                     int64_t *finished,
                                     plaq_solve_report *report);

/** Gives the attributes that identify perambulators of these modes and this solver in files, or without a
 * solver the modes, as a JSON object. */
plaq_status plaq_modes_about(plaq_modes modes, plaq_solver solver, char *about, int64_t capacity);

/** Solves for the perambulators of those source times `times` that a group of an HDF5 file lacks, and adds
 * each as soon as it is complete: datasets "GROUP/t0", "GROUP/t4", ... of complex numbers
 * [t'][spin'][spin][mode'][mode] with the attributes of plaq_modes_about, `tol` and `source_time`, spins in
 * the basis `spin_basis`; the file is made if it does not exist. A solve that has not converged is not
 * written and ends the work. `finished`: number of source times in the file afterwards. libhdf5 is opened at run time (PLAQ_HDF5, its full path).
 * Errors: FIELD_MISMATCH: those of the file are of other modes, links or quarks, or were solved to a larger
 * tolerance; UNSUPPORTED: no libhdf5; FILE_*, those of plaq_modes_perambulators.
 * Arrays: times[ntimes]. */
plaq_status plaq_modes_write_perambulators(plaq_modes modes,
                                           plaq_solver solver,
                                           const int32_t *times,
                                           int64_t ntimes,
                                           const char *file,
                                           const char *group,
                                           plaq_basis spin_basis,
                                           plaq_progress_callback callback,
                                           void *user,
                                           int64_t *finished,
                                           plaq_solve_report *report);

/** Computes generalised perambulators V(t1)^dagger M^-1 O(t) M^-1 V(t0), O(t) = sum_x exp(i q x) Gamma [shift
 * along a path], for source time t0, sink times t1 and all times t: complex numbers [sink
 * time][insertion][t][spin'][spin][mode'][mode]; `count`: their number. The columns of the source are solved
 * for once. `gammas`, `momenta` (n_x, n_y, n_z, q_i = 2 pi n_i / L_i) and `lengths` of paths: one for each
 * insertion; `steps`: spatial steps of all paths one after the other, as in plaq_spinor_shift. M must be
 * gamma5-hermitian. `finished`: 1, or 0 if the work was ended early. Errors: those of
 * plaq_modes_perambulators.
 * Arrays: sink_times[nsinks], gammas[insertions], momenta[3 * insertions], lengths[insertions], steps[nsteps], perambulators[2 * count]. */
plaq_status plaq_modes_generalised_perambulators(plaq_modes modes,
                                                 plaq_solver solver,
                                                 int32_t source_time,
                                                 const int32_t *sink_times,
                                                 int64_t nsinks,
                                                 const int32_t *gammas,
                                                 const int32_t *momenta,
                                                 const int32_t *lengths,
                                                 int64_t insertions,
                                                 const int32_t *steps,
                                                 int64_t nsteps,
                                                 plaq_progress_callback callback,
                                                 void *user,
                                                 double *perambulators,
                                                 int64_t count,
                                                 int64_t *finished,
                                                 plaq_solve_report *report);

/** Gives the number of columns of noise in the space of modes. */
plaq_status plaq_modes_noise_columns(plaq_modes modes,
                                     const plaq_modes_noise_params *params,
                                     int64_t *columns);

/** Gives noise in the space of modes as complex numbers [column][t][spin][mode]; `count`: their number.
 * Arrays: numbers[2 * count]. */
plaq_status plaq_modes_noise(plaq_modes modes,
                             const plaq_modes_noise_params *params,
                             double *numbers,
                             int64_t count);

/** Solves for noise sources b and projects on the modes, V(t')^dagger M^-1 b: complex numbers
 * [column][t'][spin'][mode']; `count`: their number. `finished`: 1, or 0 if the work was ended early.
 * Errors: those of plaq_modes_perambulators.
 * Arrays: numbers[2 * count]. */
plaq_status plaq_modes_solve_noise(plaq_modes modes,
                                   plaq_solver solver,
                                   const plaq_modes_noise_params *params,
                                   plaq_progress_callback callback,
                                   void *user,
                                   double *numbers,
                                   int64_t count,
                                   int64_t *finished,
                                   plaq_solve_report *report);

/** Computes meson elementals Phi_ab(p) = sum_x exp(-i p x) u_a(x)^dagger [O v_b](x), where O is made of the
 * links of the Laplacian of v. u are the modes `left`, for example those of the antiquark's moving frame;
 * zero handle: the same as v. The result is complex numbers [momentum][operator][t][a][b]; `count`: their
 * number. Operator i has `lengths[i]` steps (plaq_modes_step), of which the last acts first; `steps` holds
 * those of all operators one after the other.
 * Arrays: lengths[operators], steps[nsteps], momenta[3 * nmomenta], elementals[2 * count]. */
plaq_status plaq_modes_meson_elementals(plaq_modes modes,
                                        plaq_modes left,
                                        const int32_t *lengths,
                                        int64_t operators,
                                        const int32_t *steps,
                                        int64_t nsteps,
                                        const int32_t *momenta,
                                        int64_t nmomenta,
                                        double *elementals,
                                        int64_t count);

/** Computes baryon elementals B_abc(p) = sum_x exp(-i p x) eps_ijk [O_1 v_a]^i [O_2 v_b]^j [O_3 v_c]^k:
 * complex numbers [momentum][t][a][b][c]; if no operator has steps only those with a < b < c, c fastest, as
 * the others differ by signs. `count`: their number. `lengths` and `steps` of the three operators as in
 * plaq_modes_meson_elementals.
 * Arrays: lengths[3], steps[nsteps], momenta[3 * nmomenta], elementals[2 * count]. */
plaq_status plaq_modes_baryon_elementals(plaq_modes modes,
                                         const int32_t *lengths,
                                         const int32_t *steps,
                                         int64_t nsteps,
                                         const int32_t *momenta,
                                         int64_t nmomenta,
                                         double *elementals,
                                         int64_t count);

/** Writes eigenvalues, residuals and elementals to an HDF5 file: `values` and `residuals` [t][mode], `mesons`
 * [momentum][operator][t][a][b] as in plaq_modes_meson_elementals, and `baryons` as in
 * plaq_modes_baryon_elementals, [momentum][t][a < b < c] or with steps [momentum][t][a][b][c], with attributes
 * that identify the modes: the datasets of `plaq distillation`. The argument `baryons` is the number of
 * operators on the quarks of baryons, whose steps `baryon_lengths` and `baryon_steps` hold: 3, or 0 for no
 * baryons; fewer than three modes make none. Errors: INVALID_ARGUMENT; FILE_WRITE: also if the file exists
 * and that is to be refused; UNSUPPORTED: no libhdf5.
 * Arrays: lengths[operators], steps[nsteps], momenta[3 * nmomenta], baryon_lengths[baryons], baryon_steps[nbaryon_steps]. */
plaq_status plaq_modes_write_elementals(plaq_modes modes,
                                        plaq_modes left,
                                        const int32_t *lengths,
                                        int64_t operators,
                                        const int32_t *steps,
                                        int64_t nsteps,
                                        const int32_t *momenta,
                                        int64_t nmomenta,
                                        const int32_t *baryon_lengths,
                                        int64_t baryons,
                                        const int32_t *baryon_steps,
                                        int64_t nbaryon_steps,
                                        const char *file,
                                        plaq_if_exists if_exists);

/** Contracts connected two-point functions of mesons: for each pair of Gammas at sink and source a complex
 * number for every time from the source. Input are perambulators of one source time,
 * [t'][spin'][spin][mode'][mode] (that of the antiquark last), and elementals [t][a][b] at the sink and
 * [a][b] at the source: C(t) = -tr[(Gamma_A x Phi_A(t')) tau(t', t0) (gamma_t Gamma_B^dagger gamma_t x
 * Phi_B(t0)^dagger) gamma5 tau'(t', t0)^dagger gamma5], t' = t0 + t.
 * Arrays: quark[32 * modes * modes * times], antiquark[32 * modes * modes * times], sink[2 * modes * modes * times], source[2 * modes * modes], gammas[2 * pairs], correlators[2 * times * pairs]. */
plaq_status plaq_modes_mesons(const double *quark,
                              const double *antiquark,
                              int64_t modes,
                              int64_t times,
                              int64_t source_time,
                              const double *sink,
                              const double *source,
                              const int32_t *gammas,
                              int64_t pairs,
                              double *correlators);

/* ---- Overlap operator ---- */

/** The overlap operator D_N(m) on links of its own, with the low modes of its kernel. */
typedef struct plaq_overlap {
  int64_t id;
} plaq_overlap;

/** Approximations of sign(Q) on the part of the spectrum that is not projected. */
typedef int32_t plaq_overlap_sign;
enum {
  /** The minimax polynomial, by Clenshaw's recurrence. */
  PLAQ_OVERLAP_POLYNOMIAL = 0,
  /** Zolotarev's rational function, by multi-shift CG. In 16 bits, where CG cannot reach the accuracy, the
   * polynomial is used instead. */
  PLAQ_OVERLAP_ZOLOTAREV = 1,
  /** The polynomial or Zolotarev's function, whichever takes less time on this device in double precision. */
  PLAQ_OVERLAP_AUTO = 2
};

/** Solvers of D x = b. */
typedef int32_t plaq_overlap_solver;
enum {
  /** x = D^dagger (D^dagger D)^-1 b by CG, on each chirality of which b has a component. */
  PLAQ_OVERLAP_SOLVER_CG = 0,
  /** Shifted unitary minimal residual. */
  PLAQ_OVERLAP_SOLVER_SUMR = 1,
  /** Flexible GCR, which takes a preconditioner. */
  PLAQ_OVERLAP_SOLVER_GCR = 2,
  /** Chosen by expected time: GCR preconditioned by the Wilson operator's inverse, or without it, if that takes
   * longer, CG for b of one chirality and SUMR for others. */
  PLAQ_OVERLAP_SOLVER_AUTO = 3
};

/** Preconditioners of a solve with the overlap operator. */
typedef int32_t plaq_overlap_preconditioner;
enum {
  /** No preconditioner. */
  PLAQ_OVERLAP_PRECONDITIONER_NONE = 0,
  /** The Wilson operator's inverse by BiCGStab. */
  PLAQ_OVERLAP_PRECONDITIONER_WILSON = 1,
  /** The Wilson operator's inverse by multigrid. */
  PLAQ_OVERLAP_PRECONDITIONER_MULTIGRID = 2
};

/** The operator D, or an operator made from it. */
typedef int32_t plaq_overlap_form;
enum {
  /** The overlap operator D. */
  PLAQ_OVERLAP_D = 0,
  /** The adjoint D^dagger. */
  PLAQ_OVERLAP_DDAG = 1,
  /** The product D^dagger D. */
  PLAQ_OVERLAP_DDAGD = 2,
  /** The sign function sign(Q). */
  PLAQ_OVERLAP_SIGN = 3,
  /** The kernel Q = gamma5 (D_W - (1 + s)). */
  PLAQ_OVERLAP_Q = 4,
  /** D^dagger D (1 + gamma5) / 2, which takes one application of the sign function; PLAQ_OVERLAP_DDAGD
   * takes two. */
  PLAQ_OVERLAP_DDAGD_PLUS = 5,
  /** D^dagger D (1 - gamma5) / 2, which takes one application of the sign function. */
  PLAQ_OVERLAP_DDAGD_MINUS = 6
};

/** Parameters of the overlap operator D_N(m) = (1 - m / (2 rho)) rho (1 + gamma5 sign(Q)) + m with rho = 1 + s. */
typedef struct plaq_overlap_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Shift s of the kernel gamma5 (D_W - (1 + s)). A number between -1 and 1. Default: 0.4. */
  double s;
  /** Quark mass m, from 0 to below 2 rho. Default: 0. */
  double mass;
  /** Largest error of the sign function on the spectrum that is not projected. In single precision 3e-7 and in
   * 16 bits 1e-3 are used if it is smaller; the report has the value in use.
   * 1e-14 to below 1. Default: 0.00000001. */
  double delta;
  /** Approximation of the sign function. In 16 bits it is always the polynomial; the report says which.
   * Default: PLAQ_OVERLAP_POLYNOMIAL. */
  plaq_overlap_sign sign;
  /** Number of low modes of the kernel that are projected at least; automatic (-1): chosen by the spectrum.
   * 0 to 10000. Default: -1. */
  int32_t modes;
  /** Largest number of low modes if their number is chosen by the spectrum. 1 to 10000.
   * Default: 48. */
  int32_t most_modes;
  /** Algorithm that finds modes of the kernel. Default: PLAQ_EIGEN_LANCZOS. */
  plaq_eigen_method method;
  /** Largest residual of the eigenvectors of Q^2, relative to its largest eigenvalue, from 1e-16; 0: 1e-13.
   * Modes are found in double precision, whatever the operator's precision. Default: 0. */
  double modes_tol;
  /** Highest degree of a polynomial that is allowed. 1 to 20000. Default: 5000. */
  int32_t max_degree;
  /** True: Zolotarev's function runs the Krylov space twice, and needs no memory for the solutions of its
   * poles. 0 or 1. Default: 0. */
  int32_t two_passes;
  /** Least modulus of the eigenvalues of Q that are not projected; 0: measured, then `high` must be 0 as well.
   * Default: 0. */
  double low;
  /** Largest modulus of the eigenvalues of Q; 0: measured, then `low` must be 0 as well.
   * Default: 0. */
  double high;
  /** Sheikholeslami-Wohlert coefficient of the kernel. Default: 0. */
  double csw;
  /** Boundary phases in units of pi, or a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
   * Default: 0, 0, 0, 1. */
  double boundary[4];
  /** Precision of the operator, and of the modes that it keeps (single at least); automatic (0): that of the
   * gauge field. Default: 0. */
  plaq_precision precision;
  /** Storage of the operator's links; automatic (0): two rows. Default: 0. */
  plaq_storage storage;
  /** Seed of the random vectors with which searches start. Default: 1. */
  int64_t seed;
  /** Number of smearing steps for the links of the kernel; the links of `gauge` are not changed.
   * 0 to 100000. Default: 0. */
  int32_t smearing_steps;
  /** Kind of smearing for the links of the kernel. Default: PLAQ_SMEARING_STOUT. */
  plaq_smearing smearing;
  /** Parameters of the link smearing, as `alpha` of plaq_gauge_smear_params; the first must be set if there are
   * steps. */
  double smearing_alpha[3];
  /** Largest number of seconds for a search for modes, when the operator is made and in each
   * plaq_overlap_index; 0: no limit. After that the call fails with KERNEL_SPECTRUM, on all ranks.
   * Default: 0. */
  double max_seconds;
  /** Number of modes at the upper end of the kernel's spectrum, which plaq_overlap_high_values reports.
   * 1 to 10000. Default: 1. */
  int32_t high_modes;
  /** Largest number of restarts of a search for low modes of the kernel; for the Ritz functional, of
   * diagonalisations. 1 to 1000000. Default: 300. */
  int32_t max_restarts;
  /** Memory in which Lanczos keeps vectors of the kernel, and in which the kernel's modes are kept.
   * Default: PLAQ_VECTORS_AUTO. */
  plaq_vector_memory vectors;
  /** Number of vectors that Lanczos multiplies by the kernel together. 1 to 10000.
   * Default: 1. */
  int32_t block;
} plaq_overlap_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_overlap_params_init(plaq_overlap_params *params, int64_t struct_size);

/** Description of an overlap operator. */
typedef struct plaq_overlap_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Shift s of the kernel. */
  double s;
  /** Quark mass. */
  double mass;
  /** Approximation in use: polynomial or Zolotarev's function. */
  plaq_overlap_sign sign;
  /** Degree of the polynomial in Q^2, or number of poles. */
  int32_t degree;
  /** Number of modes of the kernel that are projected. */
  int32_t modes;
  /** Number of vectors that plaq_overlap_vectors gives. */
  int32_t vectors;
  /** Largest error of the sign function on the spectrum that is not projected. */
  double delta;
  /** Error kappa_+ of the projector on positive modes (Walk, section 2.8). */
  double kappa_plus;
  /** Error kappa_- of the projector on negative modes. */
  double kappa_minus;
  /** Bound on the error of an application, |D~ - D| <= (1 + s - m / 2) (2 (kappa_+ + kappa_-) + delta),
   * without rounding: below 1e-12 in double precision, 3e-5 in single and 2e-2 in 16 bit on small
   * lattices. */
  double error_bound;
  /** Smallest modulus of the eigenvalues of Q for which the approximation holds. */
  double low;
  /** Largest modulus of the eigenvalues of Q for which the approximation holds. */
  double high;
  /** Largest modulus of an eigenvalue of Q. */
  double largest;
  /** Bound on the error of `largest`. */
  double largest_error;
  /** Smallest modulus of an eigenvalue of Q that is not projected. */
  double next;
  /** Number of multiplications of a vector by Q so far. */
  int64_t multiplications;
  /** Precision of the operator. */
  plaq_precision precision;
  /** Storage of the operator's links. */
  plaq_storage storage;
  /** Seconds that the search for modes took. */
  double seconds_modes;
  /** Seconds that making the approximation took. */
  double seconds_sign;
  /** Algorithm of the last solve; PLAQ_OVERLAP_SOLVER_AUTO before the first one. */
  plaq_overlap_solver solver;
  /** Preconditioner of the last solve. */
  plaq_overlap_preconditioner preconditioner;
  /** Number of modes that plaq_overlap_high_values gives. */
  int32_t high_modes;
  /** Number of known low modes of D^dagger D of each chirality. */
  int32_t low_modes;
  /** Number of the vectors in `vectors` that are on the device; the others are in the host's memory. */
  int32_t vectors_on_device;
  /** Largest number of vectors that the search for modes kept; 0: the modes were read from a file, or not found
   * by Lanczos. */
  int32_t max_vectors;
} plaq_overlap_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_overlap_report_init(plaq_overlap_report *report, int64_t struct_size);

/** Makes an operator on the links of `gauge` (SU(3), maybe smeared). `modes`: vectors of an earlier search,
 * from plaq_overlap_vectors, or the zero handle. Errors: BAD_PARAMETER (|s| >= 1), KERNEL_SPECTRUM (a kernel
 * mode at zero, an interval that does not hold the spectrum, too few or too inexact modes: the message says
 * what to change), OUT_OF_MEMORY. */
plaq_status plaq_overlap_create(plaq_context context,
                                plaq_gauge gauge,
                                const plaq_overlap_params *params,
                                plaq_spinor modes,
                                plaq_progress_callback callback,
                                void *user,
                                plaq_overlap *overlap);

/** Makes an operator with the modes in a file of plaq_overlap_write. They are not searched for again, but
 * their residuals with these links are measured. Low modes of D in the file are used at the start of solves
 * and by plaq_overlap_index. Errors: those of plaq_overlap_create; FIELD_MISMATCH: the modes belong to other
 * links or parameters; FILE_*. */
plaq_status plaq_overlap_read(plaq_context context,
                              plaq_gauge gauge,
                              const plaq_overlap_params *params,
                              const char *file,
                              plaq_overlap *overlap);

/** Writes the modes of the kernel, and those that plaq_overlap_index found, to a file: SciDAC records in LIME
 * with checksums, with eigenvalues. The file appears complete or not at all. */
plaq_status plaq_overlap_write(plaq_overlap overlap, const char *file);

/** Makes the same operator with another mass; both operators share the modes. */
plaq_status plaq_overlap_create_with_mass(plaq_overlap overlap, double mass, plaq_overlap *other);

/** Destroys an operator. The zero handle is accepted. */
plaq_status plaq_overlap_destroy(plaq_overlap overlap);

/** Describes parameters, bounds and cost of an operator. */
plaq_status plaq_overlap_describe(plaq_overlap overlap, plaq_overlap_report *report);

/** Gives the projected modes of Q, ordered by modulus: eigenvalues, residuals |(Q - lambda) w|, and distances
 * to the rest of the spectrum; the last two may be NULL. `count`: `modes` of the report.
 * Arrays: values[count], residuals[count], distances[count]. */
plaq_status plaq_overlap_kernel_values(plaq_overlap overlap,
                                       double *values,
                                       double *residuals,
                                       double *distances,
                                       int64_t count);

/** Gives the modes at the upper end of the kernel's spectrum, the largest first: moduli of eigenvalues of Q,
 * their errors, and distances to the largest modulus below all of them; the last two may be NULL. `count`:
 * high_modes of the report.
 * Arrays: values[count], residuals[count], gaps[count]. */
plaq_status plaq_overlap_high_values(plaq_overlap overlap,
                                     double *values,
                                     double *residuals,
                                     double *gaps,
                                     int64_t count);

/** Makes a field with all vectors found by the search for modes, the projected ones first. */
plaq_status plaq_overlap_vectors(plaq_overlap overlap, plaq_spinor *vectors);

/** Computes y = D x, or applies another plaq_overlap_form. Fields are on the full lattice in the operator's
 * precision; y and x are different fields. */
plaq_status plaq_overlap_apply(plaq_overlap overlap,
                               plaq_overlap_form form,
                               plaq_spinor y,
                               plaq_spinor x);

/** Measures the violation of the Ginsparg-Wilson relation, |(gamma5 D + D gamma5 - D gamma5 D / rho) x| /
 * |x|, of the massless operator for a random x. */
plaq_status plaq_overlap_ginsparg_wilson(plaq_overlap overlap, int64_t seed, double *violation);

/** Finds `count` low modes of D^dagger D of the massless operator for each chirality, to residuals of `tol`
 * (2 rho)^2; solves may start from them. Modes found or loaded before are used if they are accurate enough.
 * `plus`, `minus`: room for `count` eigenvalues |lambda|^2 of chirality 1 and -1, ascending. `zeros`: room
 * for the numbers n_+ and n_- of zero modes; n_- - n_+ is the topological charge of a smooth field. If all
 * modes that were found are zero modes, twice as many are searched for, so that `zeros` may exceed `count`.
 * Errors: KERNEL_SPECTRUM if an eighth of all vectors does not suffice or the callback ends the search;
 * UNSUPPORTED in 16 bits.
 * Arrays: plus[count], minus[count], zeros[2]. */
plaq_status plaq_overlap_index(plaq_overlap overlap,
                               int32_t count,
                               double tol,
                               plaq_progress_callback callback,
                               void *user,
                               double *plus,
                               double *minus,
                               int32_t *zeros);

/** Gives the low modes of D^dagger D of one chirality, 1 or -1, that plaq_overlap_index found or that were
 * read from a file: eigenvalues |lambda|^2, ascending, and residuals |(D^dagger D - |lambda|^2) v|, which
 * may be NULL.
 * `count`: at most low_modes of the report.
 * Arrays: values[count], residuals[count]. */
plaq_status plaq_overlap_low_values(plaq_overlap overlap,
                                    int32_t chirality,
                                    double *values,
                                    double *residuals,
                                    int64_t count);

/* ---- Inverse of the overlap operator ---- */

/** Parameters of solves of D x = b. */
typedef struct plaq_overlap_solve_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Algorithm of the solve. Default: PLAQ_OVERLAP_SOLVER_AUTO. */
  plaq_overlap_solver solver;
  /** Largest number of iterations of a solve. 1 or more. Default: 2000. */
  int32_t max_iterations;
  /** Largest |b - D x| / |b|; it cannot be much smaller than the operator's error bound.
   * Default: 0.0000001. */
  double tol;
  /** Precision of the iteration; automatic (0): that of the operator. Default: 0. */
  plaq_precision sloppy_precision;
  /** Storage of the links in the iteration; automatic (0): that of the operator. Default: 0. */
  plaq_storage sloppy_storage;
  /** True: the sign function is computed less accurately while the residual is large. 0 or 1.
   * Default: 1. */
  int32_t relax;
  /** True: low modes that plaq_overlap_index found are projected out at the start. 0 or 1.
   * Default: 1. */
  int32_t deflate;
  /** Number of directions that GCR keeps before a restart, block GCR for each right-hand side.
   * 1 to 10000. Default: 20. */
  int32_t nkrylov;
  /** Largest number of iterations for the Wilson operator's inverse as preconditioner of GCR; 0: no
   * preconditioner, but 100 if the library chooses GCR. 0 or more. Default: 0. */
  int32_t wilson_iterations;
  /** Mass of the preconditioner's Wilson operator, which must be above the critical mass; automatic (NaN):
   * determined once for the links so that the low edge of its spectrum is at twice the (smallest) quark mass.
   * Default: NaN. */
  double wilson_mass;
  /** Relative residual of the Wilson operator's inverse as preconditioner. Default: 0.1. */
  double wilson_tol;
  /** True: plaq_overlap_propagators and perambulators subtract the contact term. 0 or 1.
   * Default: 1. */
  int32_t subtract;
  /** 1: the preconditioner's Wilson operator is inverted by multigrid: the one of plaq_overlap_set_multigrid,
   * or else one with default parameters, which the operator keeps for other solves with the same wilson_mass.
   * 0: by BiCGStab. Automatic (-1): by the one that is expected to take less time, from the mass, the
   * tolerance, the number of right-hand sides and masses, and whether there is a multigrid already.
   * 0 or 1. Default: -1. */
  int32_t multigrid;
  /** Largest number of seconds of a call; 0: no limit. The time is checked after every iteration; all ranks
   * stop after the same one. Preparations of a call (setting up multigrid, finding the mass of the Wilson
   * operator) are not counted. Default: 0. */
  double max_seconds;
} plaq_overlap_solve_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_overlap_solve_params_init(plaq_overlap_solve_params *params, int64_t struct_size);

/** Sets the multigrid for solves with params.multigrid = 1. It must have been set up for a Wilson operator of
 * about params.wilson_mass on the kernel's links. Zero handle: the operator sets up its own again. */
plaq_status plaq_overlap_set_multigrid(plaq_overlap overlap, plaq_multigrid multigrid);

/** Gives memory and kernels of plaq_overlap_solve for `nrhs` right-hand sides, including a multigrid that it
 * would set up. Nothing is run, compiled or allocated. Choices that depend on the Wilson operator's spectrum
 * are predicted from the quark mass until a solve has measured it. `names`: a line for each kernel; a name
 * is repeated for other values of its constants. Errors: INVALID_ARGUMENT, and those of plaq_overlap_solve. */
plaq_status plaq_overlap_plan(plaq_overlap overlap,
                              const plaq_overlap_solve_params *params,
                              int32_t nrhs,
                              plaq_plan_report *report,
                              char *names,
                              int64_t capacity);

/** Gives memory and kernels needed to make an operator on links like those of `gauge`, including the search
 * for the largest number of modes of its kernel that it may find, and then to solve for `nrhs` right-hand
 * sides, including these and x; 0: without a solve. */
plaq_status plaq_overlap_create_plan(plaq_gauge gauge,
                                     const plaq_overlap_params *params,
                                     const plaq_overlap_solve_params *solve,
                                     int32_t nrhs,
                                     plaq_plan_report *report,
                                     char *names,
                                     int64_t capacity);

/** Solves D x = b for all right-hand sides. `residuals`: NULL, or room for |b - D x| / |b| of each right-hand
 * side. Errors: BAD_PARAMETER, FIELD_MISMATCH, NOT_FINITE, OUT_OF_MEMORY, SOLVER_BREAKDOWN.
 * Arrays: residuals[right-hand sides of b]. */
plaq_status plaq_overlap_solve(plaq_overlap overlap,
                               const plaq_overlap_solve_params *params,
                               plaq_spinor x,
                               plaq_spinor b,
                               plaq_progress_callback callback,
                               void *user,
                               plaq_solve_report *report,
                               double *residuals);

/** Makes a propagator of twelve columns for each of `count` masses, (D(m)^-1 - 1 / (2 rho)) / (1 - m / (2
 * rho)) source, or D(m)^-1 source if params.subtract is 0. CG solves for all masses in one Krylov space;
 * SUMR and GCR, which the library may choose, solve for one mass after the other. `propagators`: room for
 * `count` handles.
 * Arrays: masses[count], propagators[count]. */
plaq_status plaq_overlap_propagators(plaq_overlap overlap,
                                     const plaq_overlap_solve_params *params,
                                     const double *masses,
                                     int64_t count,
                                     const plaq_source_params *source,
                                     plaq_progress_callback callback,
                                     void *user,
                                     plaq_spinor *propagators,
                                     plaq_solve_report *report);

/** Makes a solver for perambulators and noise of modes (plaq_modes_perambulators, plaq_modes_solve_noise and
 * others) with the overlap operator, of the propagators of plaq_overlap_propagators: without the contact
 * term unless params.subtract is 0. plaq_solver_memory and plaq_solver_plan take it; other functions of
 * solvers refuse it. It keeps the operator alive. Errors: BAD_PARAMETER. */
plaq_status plaq_solver_create_overlap(plaq_overlap overlap,
                                       const plaq_overlap_solve_params *params,
                                       plaq_solver *solver);

/* ---- Gauge fixing ---- */

/** A gauge transformation that fixes a gauge, with the results of all gauge copies. */
typedef struct plaq_gaugefix {
  int64_t id;
} plaq_gaugefix;

/** Gauges, for SU(3) and SU(2). F is the functional that is maximised, 1 on unit links,
 * and theta its violation (Schroeck and Vogt, Comput. Phys. Commun. 184 (2013) 1907). */
typedef int32_t plaq_gaugefix_condition;
enum {
  /** F = sum Re tr U_mu / (4 N V), theta = sum tr Delta Delta^dagger / (N V). */
  PLAQ_GAUGEFIX_LANDAU = 0,
  /** Like Landau gauge without the links along `direction`; every slice with a fixed coordinate in this direction is
   * fixed independently. */
  PLAQ_GAUGEFIX_COULOMB = 1,
  /** Maximally Abelian: F = sum |(U_mu)_ii|^2 / (4 N V). */
  PLAQ_GAUGEFIX_MAXIMALLY_ABELIAN = 2
};

/** Algorithms that maximise the gauge functional. */
typedef int32_t plaq_gaugefix_method;
enum {
  /** Overrelaxation: each site takes its best value to the power `omega`; omega = 1 is relaxation. */
  PLAQ_GAUGEFIX_OVERRELAXATION = 0,
  /** Stochastic relaxation: every SU(2) subgroup takes its best value, or with probability `probability` the
   * square of it. */
  PLAQ_GAUGEFIX_STOCHASTIC = 1,
  /** Simulated annealing, followed by overrelaxation. */
  PLAQ_GAUGEFIX_ANNEALING = 2,
  /** Simulated annealing, then `stochastic_sweeps` sweeps of stochastic relaxation, then overrelaxation. */
  PLAQ_GAUGEFIX_COMBINED = 3,
  /** Fourier-accelerated steepest descent with step `alpha` (Davies et al., Phys. Rev. D37
   * (1988) 1581); Landau and Coulomb gauge. */
  PLAQ_GAUGEFIX_FOURIER_DESCENT = 4,
  /** Fourier-accelerated conjugate gradients (Hudspith, Comput. Phys. Commun. 187 (2015)
   * 115) with `alpha` as the first trial; Landau and Coulomb gauge. */
  PLAQ_GAUGEFIX_FOURIER_CG = 5,
  /** Fourier-accelerated conjugate gradients where they are available: in Landau and Coulomb gauge, on a CPU or
   * on one GPU with cuFFT. Otherwise overrelaxation. The report says which. */
  PLAQ_GAUGEFIX_AUTO = 6
};

/** Precision of the sweeps. Rounding does not grow in the links, which are only read. Functional, violation and
 * result are computed in double precision in all cases, and so is the fixing of the residual gauge. */
typedef int32_t plaq_gaugefix_precision;
enum {
  /** Sweeps in single precision. */
  PLAQ_GAUGEFIX_SINGLE = 0,
  /** Single precision until it gives no further progress, then double. */
  PLAQ_GAUGEFIX_MIXED = 1,
  /** Sweeps in double precision. */
  PLAQ_GAUGEFIX_DOUBLE = 2
};

/** Called at every check with the number of the copy, its number of sweeps so far, functional and violation
 * in the precision of the sweeps, and the temperature during annealing (else 0). A result other than 0, on
 * any rank, ends the fixing at the next check. */
typedef int32_t (*plaq_gaugefix_callback)(int64_t copy, int64_t sweeps, double functional, double theta, double temperature, void *user);

/** Parameters of gauge fixing. */
typedef struct plaq_gaugefix_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Gauge to which the links are fixed. Default: PLAQ_GAUGEFIX_LANDAU. */
  plaq_gaugefix_condition condition;
  /** Direction (0 to 3: x, y, z, t) whose links are not part of the functional of Coulomb gauge.
   * 0 to 3. Default: 3. */
  int32_t direction;
  /** True: maximally Abelian gauge is followed by Landau gauge for the remaining diagonal transformations.
   * 0 or 1. Default: 0. */
  int32_t residual;
  /** Algorithm that maximises the functional. Default: PLAQ_GAUGEFIX_AUTO. */
  plaq_gaugefix_method method;
  /** Precision of the sweeps; the result is measured in double. Default: PLAQ_GAUGEFIX_MIXED. */
  plaq_gaugefix_precision precision;
  /** True: consecutive temperatures of annealing have equal ratios; false: equal differences.
   * 0 or 1. Default: 0. */
  int32_t logarithmic;
  /** Power omega of overrelaxation. 1 to below 2. Default: 1.7. */
  double omega;
  /** Probability of taking the square in stochastic relaxation. 0 to below 1. Default: 0.5. */
  double probability;
  /** Number of sweeps of stochastic relaxation in the combined algorithm. 0 or more.
   * Default: 1000. */
  int64_t stochastic_sweeps;
  /** First temperature of annealing. Default: 1.4. */
  double hot;
  /** Last temperature of annealing. Default: 0.1. */
  double cold;
  /** Number of temperatures of annealing, each with one heat bath sweep. 1 to 16777216.
   * Default: 1000. */
  int64_t temperatures;
  /** Number of microcanonical sweeps after each heat bath sweep. 0 or more. Default: 3. */
  int64_t microcanonical;
  /** Largest violation theta; 0: not required; negative: 1e-12, or 1e-11 where sweeps are in single precision,
   * the smallest that it reaches. Where several criteria are set, all must be met.
   * Default: -1. */
  double stop_theta;
  /** Largest violation of any single site; theta is the average over sites. 0: not required.
   * 0 or more. Default: 0. */
  double stop_theta_max;
  /** Largest increase of the functional in one iteration; 0: not required. 0 or more.
   * Default: 0. */
  double stop_change;
  /** Number of sweeps after which a copy, or in Coulomb gauge a slice, is given up; those of annealing are not
   * counted. 1 or more. Default: 20000. */
  int64_t max_iterations;
  /** Number of sweeps between two measurements of the violation, after which the callback is called.
   * Fourier-accelerated methods know the violation at every step and end as soon as it is small enough.
   * 1 or more. Default: 10. */
  int64_t check_every;
  /** Number of gauge copies. Of those that converged the one with the largest functional is returned, in
   * Coulomb gauge for each slice. The first copy starts from the field as it is. 1 or more.
   * Default: 1. */
  int64_t copies;
  /** 1: the first copy, too, starts from a random transformation. 0 or 1. Default: 0. */
  int64_t random_start;
  /** Seed of the random numbers. Default: 1. */
  int64_t seed;
  /** Step size alpha of the Fourier-accelerated methods, by which the gradient times p2max / p^2 is multiplied.
   * A number above 0. Default: 0.08. */
  double alpha;
} plaq_gaugefix_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_gaugefix_params_init(plaq_gaugefix_params *params, int64_t struct_size);

/** Report of a gauge fixing. */
typedef struct plaq_gaugefix_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Gauge functional of the fixed field; in Coulomb gauge the average over slices. */
  double functional;
  /** Violation theta of the fixed field; in Coulomb gauge the average over slices. */
  double theta;
  /** Largest violation of any single site. */
  double theta_max;
  /** Gauge functional that the fixing of the residual gauge freedom reached; 0: there was no such fixing. */
  double residual_functional;
  /** Violation theta of the fixing of the residual gauge freedom; 0: there was no such fixing. */
  double residual_theta;
  /** Number of sweeps, those of annealing not counted; in Coulomb gauge of the slowest slice. */
  int32_t iterations;
  /** Number of sweeps of the residual fixing. */
  int32_t residual_iterations;
  /** Seconds that the fixing took. */
  double seconds;
  /** 1: all criteria were met, in every slice and by the residual fixing. */
  int32_t converged;
  /** 1: the callback asked to stop. */
  int32_t stopped;
  /** Method that was used: the requested one, or the one chosen by PLAQ_GAUGEFIX_AUTO. */
  plaq_gaugefix_method method;
  /** Number of copies made. */
  int64_t copies;
  /** Number of the copy that is kept; in Coulomb gauge, where each slice is that of its best copy, of the one with
   * the largest functional. */
  int64_t best_copy;
  /** Largest violation theta that counted as converged. */
  double stop_theta;
} plaq_gaugefix_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_gaugefix_report_init(plaq_gaugefix_report *report, int64_t struct_size);

/** Result for one gauge copy, or for one slice of a copy. */
typedef struct plaq_gaugefix_state {
  /** Gauge functional; of a copy in Coulomb gauge the average over slices. */
  double functional;
  /** Violation theta; of a copy in Coulomb gauge the average over slices. */
  double theta;
  /** Largest violation of any single site. */
  double theta_max;
  /** Seconds that the copy took; 0 for a slice. */
  double seconds;
  /** Number of sweeps, those of annealing not counted; of a copy in Coulomb gauge of the slowest slice. */
  int32_t iterations;
  /** 1: all criteria were met. */
  int32_t converged;
} plaq_gaugefix_state;

/** Fixes the gauge: the links are replaced by the fixed ones. The report says whether they meet the criteria.
 * `result` gets the transformation and the copies; NULL if they are not wanted. Errors, after which the
 * links are unchanged: BAD_PARAMETER, NOT_FINITE, NOT_UNITARY (naming the link), OUT_OF_MEMORY, UNSUPPORTED
 * (half precision; Fourier acceleration in maximally Abelian gauge; links with boundaries in time, but for
 * Coulomb gauge between open ones), CUFFT_MISSING. */
plaq_status plaq_gauge_fix(plaq_gauge gauge,
                           const plaq_gaugefix_params *params,
                           plaq_gaugefix_callback callback,
                           void *user,
                           plaq_gaugefix_report *report,
                           plaq_gaugefix *result);

/** Destroys the result of a gauge fixing. The zero handle is accepted. */
plaq_status plaq_gaugefix_destroy(plaq_gaugefix result);

/** Gives the results of all gauge copies in order. `count`: their number, of which the first `capacity` are
 * written to `copies`, which may be NULL.
 * Arrays: copies[capacity]. */
plaq_status plaq_gaugefix_copies(plaq_gaugefix result,
                                 plaq_gaugefix_state *copies,
                                 int64_t capacity,
                                 int64_t *count);

/** Gives the results for the slices in Coulomb gauge, ordered by their coordinate, of copy number `copy`, or
 * with -1 of the field that is kept. In other gauges there are none.
 * Arrays: slices[capacity]. */
plaq_status plaq_gaugefix_slices(plaq_gaugefix result,
                                 int64_t copy,
                                 plaq_gaugefix_state *slices,
                                 int64_t capacity,
                                 int64_t *count);

/** Gives the transformation g(x) of this rank's sites: N x N complex numbers per site, row major, sites
 * with x fastest. U_mu(x) became g(x) U_mu(x) g(x+mu)^dagger; quarks become g psi.
 * Arrays: transformation[2 * N * N * sites of the rank]. */
plaq_status plaq_gaugefix_transformation(plaq_gaugefix result, double *transformation);

/** Applies the transformation to the links of another field on the same lattice. */
plaq_status plaq_gaugefix_apply(plaq_gaugefix result, plaq_gauge gauge);

/* ---- Momenta, gauge forces, link updates ---- */

/** Momenta p = sum_a p_a T_a of SU(3) links, tr T_a T_b = delta_ab / 2, U' = i p U; the kinetic term is 1/2
 * sum p_a^2. Matrices of other codes are multiples of i p: MILC's and QUDA's anti-hermitian matrices are
 * sqrt(2) i p, and their unit of time is sqrt(2) of this one; openQCD's are i p. */
typedef struct plaq_momentum {
  int64_t id;
} plaq_momentum;

/** Order of this rank's sites in an array of momenta. */
typedef int32_t plaq_site_order;
enum {
  /** Lexicographic: x fastest, t slowest. */
  PLAQ_SITE_ORDER_LEXICOGRAPHIC = 0,
  /** Even sites, then odd ones, each in lexicographic order. */
  PLAQ_SITE_ORDER_EVEN_ODD = 1,
  /** openQCD: the eight links of each odd site, as in PLAQ_ORDER_OPENQCD. */
  PLAQ_SITE_ORDER_OPENQCD = 2
};

/** The form of the momentum of a link in a host's array; a site has four links. */
typedef int32_t plaq_momentum_form;
enum {
  /** The coefficients p_1 to p_8 of p = sum_a p_a T_a. */
  PLAQ_MOMENTUM_COEFFICIENTS = 0,
  /** i p as 10 reals: entries 01, 02, 12 (re, im), imaginary parts of the diagonal, and an unused one; MILC's
   * anti_hermitmat. */
  PLAQ_MOMENTUM_TEN = 1,
  /** i p as 3x3 complex numbers, row major. */
  PLAQ_MOMENTUM_MATRICES = 2,
  /** i p as openQCD's su3_alg_dble: diagonal i (c1 + c2, c2 - 2 c1, c1 - 2 c2), entries 01, 02,
   * 12 c3 + i c4, c5 + i c6, c7 + i c8. */
  PLAQ_MOMENTUM_OPENQCD = 3
};

/** Gauge actions, which are sums over sites and planes of plaquettes and of rectangles of two by one links. */
typedef int32_t plaq_gauge_action_kind;
enum {
  /** Wilson's action of plaquettes (Wilson, Phys. Rev. D 10 (1974) 2445). */
  PLAQ_GAUGE_ACTION_WILSON = 0,
  /** Tree-level improved Symanzik action (Luescher, Weisz, Commun. Math. Phys. 97 (1985) 59): c1 = -1/12. */
  PLAQ_GAUGE_ACTION_SYMANZIK = 1,
  /** Tadpole-improved Luescher-Weisz action of plaquettes with coefficient beta, and rectangles with the factor
   * -1 / (20 u0^2); parallelograms, whose coefficient is of order alpha, are left out. */
  PLAQ_GAUGE_ACTION_LUESCHER_WEISZ = 2,
  /** Iwasaki's action: c1 = -0.331. */
  PLAQ_GAUGE_ACTION_IWASAKI = 3,
  /** The DBW2 action: c1 = -1.4088. */
  PLAQ_GAUGE_ACTION_DBW2 = 4,
  /** Plaquettes with the factor 1 - 8 c1 and rectangles with the factor c1, any c1. */
  PLAQ_GAUGE_ACTION_RECTANGLE = 5,
  /** One-loop improved Luescher-Weisz action with parallelograms (Phys. Lett. B 158 (1985) 250) and the part of
   * HISQ quarks (Hart, von Hippel, Horgan, arXiv:0812.0503). */
  PLAQ_GAUGE_ACTION_ONE_LOOP_SYMANZIK = 6,
  /** Separate couplings for planes of space and planes with t: `plaquettes` and `rectangles`. */
  PLAQ_GAUGE_ACTION_GENERAL = 7
};

/** A gauge action: sum over x and planes of beta c0 (1 - Re tr P / 3) and beta c1
 * (1 - Re tr R / 3), P the plaquettes and R the rectangles of two by one. */
typedef struct plaq_gauge_action_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** The name of the gauge action, from which its coefficients c0 and c1 follow.
   * Default: PLAQ_GAUGE_ACTION_WILSON. */
  plaq_gauge_action_kind action;
  /** Coupling beta; required by every action except `general`. 0 to 1000000. Default: NaN. */
  double beta;
  /** Bare anisotropy xi: planes of space have the coupling beta / xi, planes with t the coupling beta xi.
   * A number above 0, to 1000000. Default: 1. */
  double anisotropy;
  /** Coefficient c1 of rectangles; only for the action `rectangle`. -1000000 to 1000000.
   * Default: NaN. */
  double c1;
  /** Tadpole factor u0 of `luescher_weisz` and `one_loop_symanzik`; 0: the factor is 1.
   * A number above 0, to 1. Default: 0. */
  double u0;
  /** Number of HISQ quarks whose part `one_loop_symanzik` includes; NaN: none. 0 to 1000.
   * Default: NaN. */
  double flavours;
  /** Coefficient cG at slice 0, for links with boundaries in time. It multiplies plaquettes and rectangles in
   * an open boundary slice, which also have a factor 1/2, and plaquettes between a slice of fixed links and
   * the next one. -1000000 to 1000000. Default: 1. */
  double cg;
  /** Coefficient cG' at the upper boundary; NaN: the same as cg. -1000000 to 1000000.
   * Default: NaN. */
  double cg_prime;
  /** Couplings of plaquettes in planes of space and in planes with t; only for the action `general`.
   * -1000000 to 1000000. Default: 0, 0. */
  double plaquettes[2];
  /** Couplings of rectangles in planes of space, of those with two steps in space and one in t, and of those
   * with two steps in t; only for the action `general`. -1000000 to 1000000.
   * Default: 0, 0, 0. */
  double rectangles[3];
} plaq_gauge_action_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_gauge_action_params_init(plaq_gauge_action_params *params, int64_t struct_size);

/** Report of an update of momenta by a force. */
typedef struct plaq_force_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Root mean square of |F| over links, |F|^2 = sum_a F_a^2, where F_a is dS/d omega_a for U -> exp(i
   * omega_a T_a) U, without the step size. */
  double rms;
  /** Largest |F| on a link. */
  double max;
  /** Number of solver iterations. */
  int64_t iterations;
} plaq_force_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_force_report_init(plaq_force_report *report, int64_t struct_size);

/** Makes momenta that are zero, for links on the lattice and in the precision (double or single) of `gauge`. */
plaq_status plaq_momentum_create(plaq_gauge gauge, plaq_momentum *momentum);

/** Destroys momenta. The zero handle is accepted. */
plaq_status plaq_momentum_destroy(plaq_momentum momentum);

/** Draws normally distributed p_a of variance 1: field number `number` in the sequence of `seed`, the same on
 * every device and decomposition. */
plaq_status plaq_momentum_gaussian(plaq_momentum momentum, int64_t seed, int32_t number);

/** Gives the kinetic energy, the sum of 1/2 p_a^2 over all links of all ranks. */
plaq_status plaq_momentum_kinetic(plaq_momentum momentum, double *kinetic);

/** Sets `momentum` to scale momentum + factor other. */
plaq_status plaq_momentum_add(plaq_momentum momentum,
                              double scale,
                              plaq_momentum other,
                              double factor);

/** Loads momenta from the host's array of this rank's sites, which contains `factor` times p. After an error
 * the momenta are unchanged. Errors: NOT_FINITE, INVALID_ARGUMENT.
 * Arrays: data[reals of the form * 4 * sites of the rank]. */
plaq_status plaq_momentum_load(plaq_momentum momentum,
                               plaq_momentum_form form,
                               plaq_site_order order,
                               double factor,
                               const double *data);

/** Saves `factor` times the momenta into the host's array.
 * Arrays: data[reals of the form * 4 * sites of the rank]. */
plaq_status plaq_momentum_save(plaq_momentum momentum,
                               plaq_momentum_form form,
                               plaq_site_order order,
                               double factor,
                               double *data);

/** Loads momenta, as plaq_momentum_load does, from an array of the host in `precision`, double or single.
 * Errors: BAD_LAYOUT for memory of a device. */
plaq_status plaq_momentum_load_in(plaq_momentum momentum,
                                  plaq_momentum_form form,
                                  plaq_site_order order,
                                  plaq_precision precision,
                                  double factor,
                                  const void *data);

/** Saves momenta, as plaq_momentum_save does, into an array of the host in `precision`, double or single.
 * Errors: those of plaq_momentum_save. */
plaq_status plaq_momentum_save_in(plaq_momentum momentum,
                                  plaq_momentum_form form,
                                  plaq_site_order order,
                                  plaq_precision precision,
                                  double factor,
                                  void *data);

/** Measures the gauge action over all ranks. */
plaq_status plaq_gauge_action(plaq_gauge gauge,
                              const plaq_gauge_action_params *params,
                              double *action);

/** Sets `momentum` to momentum - step F, F being the force of a gauge action. Links are stored as 18
 * numbers, in the momenta's precision. Errors: UNSUPPORTED, FIELD_MISMATCH, BAD_PARAMETER. */
plaq_status plaq_gauge_force(plaq_gauge gauge,
                             const plaq_gauge_action_params *params,
                             plaq_momentum momentum,
                             double step,
                             plaq_force_report *report);

/** Sets U to exp(i step p) U, the exponential being exact to rounding for |step p| up to 8. */
plaq_status plaq_gauge_evolve(plaq_gauge gauge, plaq_momentum momentum, double step);

/** Puts all links back into SU(3); `correction`: the largest change of a matrix entry. */
plaq_status plaq_gauge_reunitarise(plaq_gauge gauge, double *correction);

/* ---- Closed paths of links ---- */

/** For each of `count` closed paths (at most 4096) gives the trace of the ordered product of links along it,
 * summed over all starting points x on all ranks; `traces` gets real and imaginary parts. `steps` holds the
 * paths one after the other, with `lengths` of 1 to 64 steps: 0 to 3 forward in x, y, z, t, 7 - mu back in
 * direction mu. A path may wind around the lattice. Between open boundaries in time paths count whose links
 * all exist; where links are fixed at a boundary, paths with steps in time are UNSUPPORTED. The arguments
 * are the same on all ranks. Errors: BAD_PARAMETER, OUT_OF_MEMORY.
 * Arrays: steps[sum of lengths], lengths[count], traces[2 * count]. */
plaq_status plaq_gauge_path_traces(plaq_gauge gauge,
                                   const int32_t *steps,
                                   const int32_t *lengths,
                                   int64_t count,
                                   double *traces);

/** Measures S = sum over x and paths of coefficient (1 - Re tr L(x) / 3), where L(x) is the product of links
 * along the path from x; paths as in plaq_gauge_path_traces. Links are stored as 18 numbers in double or
 * single precision. Errors: those of plaq_gauge_path_traces, UNSUPPORTED.
 * Arrays: steps[sum of lengths], lengths[count], coefficients[count]. */
plaq_status plaq_gauge_path_action(plaq_gauge gauge,
                                   const int32_t *steps,
                                   const int32_t *lengths,
                                   const double *coefficients,
                                   int64_t count,
                                   double *action);

/** Sets `momentum` to momentum - step F, where F_a = dS/d omega_a for U -> exp(i omega_a T_a) U. Errors:
 * those of plaq_gauge_path_action, FIELD_MISMATCH.
 * Arrays: steps[sum of lengths], lengths[count], coefficients[count]. */
plaq_status plaq_gauge_path_force(plaq_gauge gauge,
                                  const int32_t *steps,
                                  const int32_t *lengths,
                                  const double *coefficients,
                                  int64_t count,
                                  plaq_momentum momentum,
                                  double step,
                                  plaq_force_report *report);

/** Gives all images of a closed path of `length` steps under rotations and reflections of the lattice; paths
 * that differ only in start or sense are given once (6 plaquettes, 12 rectangles of two by one). `images`
 * gets them one after the other, at most `capacity` of them. Errors: BAD_PARAMETER; INVALID_ARGUMENT:
 * `capacity` is too small.
 * Arrays: steps[length], images[capacity * length]. */
plaq_status plaq_path_images(const int32_t *steps,
                             int64_t length,
                             int32_t *images,
                             int64_t capacity,
                             int64_t *count);

/* ---- Fermion forces of given spinors ---- */

/** Sets `momentum` to momentum - step F, where F is the force of the hopping term in S = sum_k 2
 * coefficients[k] Re <y_k, M x_k>, including boundary phases. For two flavours with the action phi^dagger
 * (M^dagger M)^-1 phi the coefficient is -1, x = (M^dagger M)^-1 phi and y = M x. F_a = dS/d omega_a for U
 * -> exp(i omega_a T_a) U. Spinors hold the whole lattice; `count` = nrhs. Operator, spinors and momenta
 * have the same precision, double or single, and the operator's links 18 or 12 numbers. Errors:
 * FIELD_MISMATCH, UNSUPPORTED.
 * Arrays: coefficients[count]. */
plaq_status plaq_dirac_hop_force(plaq_dirac dirac,
                                 plaq_momentum momentum,
                                 double step,
                                 plaq_spinor x,
                                 plaq_spinor y,
                                 const double *coefficients,
                                 int64_t count);

/** Does as plaq_dirac_hop_force for the force of the clover term, if that is computed from the operator's
 * links. S then also has the terms determinant_even ln |det A_even|^2 + determinant_odd ln |det A_odd|^2,
 * with A including the twisted mass: for two flavours the coefficient is -1 on the parities that their Schur
 * complement leaves out. Errors: those of plaq_dirac_hop_force; UNSUPPORTED without such a clover term.
 * Arrays: coefficients[count]. */
plaq_status plaq_dirac_clover_force(plaq_dirac dirac,
                                    plaq_momentum momentum,
                                    double step,
                                    plaq_spinor x,
                                    plaq_spinor y,
                                    const double *coefficients,
                                    int64_t count,
                                    double determinant_even,
                                    double determinant_odd);

/** Does as plaq_dirac_hop_force for the force of both hopping and clover term in S = sum_k 2 coefficients[k]
 * Re <y_k, P x_k> + determinant ln |det A|^2. P is a Schur complement (any plaq_system except the full one),
 * spinors have the sites of its parity, and A is the site term on the sites that P leaves out, or on all
 * sites for a symmetric P. Errors: those of plaq_dirac_hop_force.
 * Arrays: coefficients[count]. */
plaq_status plaq_dirac_schur_force(plaq_dirac dirac,
                                   plaq_system system,
                                   plaq_momentum momentum,
                                   double step,
                                   plaq_spinor x,
                                   plaq_spinor y,
                                   const double *coefficients,
                                   int64_t count,
                                   double determinant);

/* ---- Hybrid Monte Carlo ---- */

/** A Markov chain of trajectories: action, integrator, momenta, place in the sequence of random numbers. */
typedef struct plaq_hmc {
  int64_t id;
} plaq_hmc;

/** Called after every trajectory with its number, Delta H, whether it was accepted (1), the average
 * plaquette, the iterations of its solvers and its seconds. A result other than 0, on any rank, ends the
 * run. */
typedef int32_t (*plaq_trajectory_callback)(int64_t trajectory, double delta_h, int32_t accepted, double plaquette, int64_t iterations, double seconds, void *user);

/** Report of a monomial in the last trajectory. */
typedef struct plaq_monomial_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** The monomial's action at the start of the trajectory. */
  double action_start;
  /** The monomial's action at the end of the trajectory. */
  double action_end;
  /** Number of evaluations of the force. */
  int64_t kicks;
  /** Root mean square of the force on a link, averaged over the updates of the momenta. */
  double rms;
  /** Largest force on a link. */
  double max;
  /** Number of solver iterations in forces. */
  int64_t force_iterations;
  /** Number of solver iterations in heat bath and actions. */
  int64_t action_iterations;
  /** Seconds spent in forces, heat bath and actions. */
  double seconds;
  /** Seconds spent in solvers, a part of `seconds`. */
  double solve_seconds;
} plaq_monomial_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_monomial_report_init(plaq_monomial_report *report, int64_t struct_size);

/** Report of a run of trajectories; what concerns one trajectory is that of the last. */
typedef struct plaq_hmc_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** 1: the callback asked to stop. */
  int32_t stopped;
  /** 1: the trajectory was accepted. */
  int32_t accepted;
  /** Number of the trajectory, from 0 on. */
  int64_t trajectory;
  /** Delta H = H(end) - H(start), the violation of energy conservation. */
  double delta_h;
  /** Number of iterations of all solvers in the trajectory. */
  int64_t iterations;
  /** Kinetic energy at the start of the trajectory. */
  double kinetic_start;
  /** Kinetic energy at the end of the trajectory. */
  double kinetic_end;
  /** Average plaquette of the links that the trajectory leaves, accepted or not. */
  double plaquette;
  /** Largest change of a matrix entry when links were put back into SU(3). */
  double correction;
  /** Largest difference of a link's matrix entry after integrating forward and back; -1: not measured. */
  double reversibility_links;
  /** Modulus of the difference of H after integrating forward and back; -1: not measured. */
  double reversibility_hamiltonian;
  /** Seconds that the trajectory took. */
  double seconds;
  /** Number of trajectories done. */
  int64_t trajectories;
  /** Number of trajectories accepted. */
  int64_t acceptances;
  /** Number of the next trajectory. */
  int64_t next_trajectory;
  /** Average of exp(-Delta H) over the run, which is 1 within errors. */
  double exp_minus_delta_h;
  /** Seconds that the run took. */
  double run_seconds;
} plaq_hmc_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_hmc_report_init(plaq_hmc_report *report, int64_t struct_size);

/** Makes a chain from a description in TOML (docs/hmc.md lists the keys), for links on the lattice and in the
 * precision of `gauge`, stored as 18 numbers. Errors: INVALID_ARGUMENT (naming the line), BAD_PARAMETER,
 * OUT_OF_MEMORY. */
plaq_status plaq_hmc_create(plaq_gauge gauge, const char *input, plaq_hmc *hmc);

/** Destroys a chain. The zero handle is accepted. */
plaq_status plaq_hmc_destroy(plaq_hmc hmc);

/** Runs trajectories. After an error (NOT_FINITE, NOT_CONVERGED, SPECTRAL_BOUNDS, ...) the links, and the
 * number of the next trajectory, are those before the trajectory that failed. */
plaq_status plaq_hmc_run(plaq_hmc hmc,
                         plaq_gauge gauge,
                         int64_t trajectories,
                         plaq_trajectory_callback callback,
                         void *user,
                         plaq_hmc_report *report);

/** Gives the largest number of bytes of device memory that trajectories take besides what the chain holds. A
 * first trajectory for which there is less memory is refused (OUT_OF_MEMORY); later ones take no more. */
plaq_status plaq_hmc_memory(plaq_hmc hmc, plaq_gauge gauge, int64_t *bytes);

/** Gives the number of monomials. */
plaq_status plaq_hmc_monomials(plaq_hmc hmc, int64_t *count);

/** Gives the name of monomial number `index` (from 0), and its report on the last trajectory. */
plaq_status plaq_hmc_monomial(plaq_hmc hmc,
                              int64_t index,
                              char *name,
                              int64_t capacity,
                              plaq_monomial_report *report);

/** Gives the seed and the number of the next trajectory. */
plaq_status plaq_hmc_place(plaq_hmc hmc, int64_t *seed, int64_t *trajectory);

/** Sets the seed and the number of the next trajectory. */
plaq_status plaq_hmc_set_place(plaq_hmc hmc, int64_t seed, int64_t trajectory);

/** Writes the links, the position in the sequence of random numbers and the intervals that monomials have
 * measured to a file (ILDG, double precision), from which the chain continues bit for bit. The file appears
 * complete or not at all. */
plaq_status plaq_hmc_write(plaq_hmc hmc, plaq_gauge gauge, const char *file);

/** Reads links, place and intervals from a checkpoint of plaq_hmc_write; an interval given in the input is
 * not replaced. Errors, after which nothing has changed: those of plaq_gauge_read; FILE_FORMAT: a
 * configuration that is no checkpoint. */
plaq_status plaq_hmc_read(plaq_hmc hmc, plaq_gauge gauge, const char *file);

/** Reads a number from an input in TOML by its path, e.g. "run.lattice.3". `found`: 0 if it does not exist,
 * and `value` is then `otherwise`. For the host's own keys, in the table `run`. */
plaq_status plaq_input_number(const char *input,
                              const char *path,
                              double otherwise,
                              double *value,
                              int32_t *found);

/** Reads a text from an input in the same way; it is empty if it does not exist. */
plaq_status plaq_input_text(const char *input,
                            const char *path,
                            char *value,
                            int64_t capacity,
                            int32_t *found);

/** Refuses a table of an input, e.g. "run", with a key that is none of `known`, words with blanks
 * between them. A table that is absent has no keys. Errors: INVALID_ARGUMENT, naming the key. */
plaq_status plaq_input_check(const char *input, const char *path, const char *known);

/** Refuses an input whose table `run` has a key that the program `plaq hmc` does not take
 * (docs/hmc.md). Errors: INVALID_ARGUMENT, naming the line and the key. */
plaq_status plaq_input_check_run(const char *input);

/* ---- Actions of chains in parts ---- */

/** Terms of an action and levels of its integrator, from which a chain is made. */
typedef struct plaq_hmc_parts {
  int64_t id;
} plaq_hmc_parts;

/** The schemes of integrators. */
typedef int32_t plaq_integrator;
enum {
  /** Leapfrog: second order, one force per step. */
  PLAQ_INTEGRATOR_LEAPFROG = 0,
  /** Omelyan, Mryglod and Folk: second order, two forces per step. */
  PLAQ_INTEGRATOR_OMELYAN2 = 1,
  /** Omelyan, Mryglod and Folk: fourth order, five forces per step. */
  PLAQ_INTEGRATOR_OMELYAN4 = 2,
  /** Force gradient: fourth order, three forces and one at shifted links per step. */
  PLAQ_INTEGRATOR_FORCE_GRADIENT = 3
};

/** Algorithms for Markov chains of molecular dynamics. */
typedef int32_t plaq_hmc_algorithm;
enum {
  /** Hybrid Monte Carlo: new momenta and pseudofermions are drawn at the start of every trajectory. */
  PLAQ_HMC_ALGORITHM_HMC = 0,
  /** Stochastic molecular dynamics: momenta and pseudofermions are rotated at the start of every trajectory,
   * which is a short cycle. */
  PLAQ_HMC_ALGORITHM_SMD = 1
};

/** The momenta that remain, with reversed sign, after a rejected cycle. Links return to the start of the cycle,
 * pseudofermions stay rotated. */
typedef int32_t plaq_smd_rejection;
enum {
  /** Momenta before the rotation, as in openQCD. */
  PLAQ_SMD_REJECTION_BEFORE = 0,
  /** Momenta after the rotation, with which the cycle leaves the distribution exactly invariant (Horowitz,
   * Phys. Lett. B 268 (1991) 247). */
  PLAQ_SMD_REJECTION_AFTER = 1
};

/** Parameters of a chain apart from its action and integrator: keys of an input (docs/hmc.md). */
typedef struct plaq_hmc_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Length of a trajectory in molecular-dynamics time. Default: 1. */
  double length;
  /** Seed of the random numbers. Default: 0. */
  int64_t seed;
  /** Number of the next trajectory. 0 or more. Default: 0. */
  int64_t trajectory;
  /** Trajectories with lower numbers are accepted whatever their Delta H. Up to this number a measured interval
   * of one flavour's spectrum is adjusted to the links. 0 or more. Default: 0. */
  int64_t accept_until;
  /** Number of trajectories between two measurements of reversibility, in which a trajectory is integrated
   * forward and back; 0: never. 0 or more. Default: 0. */
  int64_t reversibility_every;
  /** Algorithm: hmc draws new momenta and pseudofermions before molecular dynamics, smd rotates the present
   * ones. Default: PLAQ_HMC_ALGORITHM_HMC. */
  plaq_hmc_algorithm algorithm;
  /** Momenta, with reversed sign, that remain after a rejected cycle of smd.
   * Default: PLAQ_SMD_REJECTION_BEFORE. */
  plaq_smd_rejection rejection;
  /** Friction gamma of smd, in inverse time: a cycle of length t multiplies the present momenta and
   * pseudofermions by exp(-gamma t). 0 to 1000000. Default: 0.3. */
  double friction;
} plaq_hmc_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_hmc_params_init(plaq_hmc_params *params, int64_t struct_size);

/** Parameters of the quarks of a monomial (docs/fermions.md). */
typedef struct plaq_quarks_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Number of flavours; 2: det(M^dagger M), or its ratio to that of a preconditioner; 1: |det M|.
   * 1 or 2. Default: 2. */
  int32_t flavours;
  /** Form and parity of the Schur complement whose determinant is taken.
   * Default: PLAQ_SYSTEM_EVEN_SYMMETRIC. */
  plaq_system system;
  /** Largest number of iterations of a solve. 1 or more. Default: 20000. */
  int32_t max_iterations;
  /** Precision of the iteration inside of double-precision solves; automatic (0): for CG of two flavours half
   * on a GPU and single on a CPU, else double. Default: 0. */
  plaq_precision sloppy_precision;
  /** Number of earlier solutions from which the initial guess of force solves is made; 0: solves start from
   * zero. 0 or more. Default: 0. */
  int32_t guesses;
  /** Number of levels of stout smearing of the operators' links; 0: none. 0 to 64.
   * Default: 0. */
  int32_t smearing_levels;
  /** True: solves are by GCR with multigrid; false: by CG. 0 or 1. Default: 0. */
  int32_t multigrid;
  /** True: solves of the preconditioner W are by multigrid, too. 0 or 1. Default: 0. */
  int32_t multigrid_preconditioner;
  /** True: null vectors are kept from one trajectory to the next. A chain then continues from a checkpoint
   * within the tolerance of solves, not bit for bit. 0 or 1. Default: 0. */
  int32_t persistent;
  /** Number of directions that GCR keeps before a restart, block GCR for each right-hand side.
   * 1 to 10000. Default: 20. */
  int32_t nkrylov;
  /** Number of the least shifts of one flavour that multigrid solves. The others take CG together, whose
   * iterations are then those of the least shift that is left. 0 or more. Default: 3. */
  int32_t shifts;
  /** Treatment of multigrid's null vectors when links have changed: they are kept, refined, or found anew.
   * Default: PLAQ_REFRESH_KEEP. */
  plaq_refresh refresh;
  /** Number n of pseudofermion fields of one flavour, each of which represents the n-th root of the
   * determinant. 1 or more. Default: 1. */
  int32_t fields;
  /** Number of trajectories between two measurements of the spectrum of one flavour; an eigenvalue outside of
   * the interval ends the trajectory with an error; 0: only once, to find the interval.
   * 0 or more. Default: 1. */
  int32_t check_every;
  /** Largest relative residual of solves in forces; trajectories are reversible to about this accuracy.
   * A number between 0 and 1. Default: 1e-11. */
  double tolerance_force;
  /** Largest relative residual of solves in the Hamiltonian and the heat bath.
   * A number between 0 and 1. Default: 1e-11. */
  double tolerance_hamiltonian;
  /** Weight rho of stout smearing. Default: 0. */
  double smearing_rho;
  /** Relative error of one flavour's rational approximation in forces. Default: 0.0000001. */
  double error_force;
  /** Relative error of one flavour's rational approximation in the Hamiltonian and the heat bath.
   * Default: 1e-12. */
  double error_hamiltonian;
  /** Smallest and largest end of the interval for one flavour's spectrum; 0: the spectrum is measured, and the
   * interval extended by the factors 2/3 below and 6/5 above. Default: 0, 0. */
  double interval[2];
  /** Mass splitting epsilon of a twisted-mass doublet with weight det M; it has `flavours` = 2 and uses the
   * parameters of one flavour. 0: two flavours of equal mass. Default: 0. */
  double epsilon;
  /** Twisted masses mu of the operator M and of the preconditioner W that stand on the sites of the Schur
   * complement P alone, in addition to those on all sites, of either sign: two flavours with mass-normalised
   * asymmetric P have the weight det(P^dagger P + mu^2) (TM1_EO_SDET and TM2_EO of openQCD). 0: none; other
   * numbers are refused with one flavour, a doublet, a symmetric P and multigrid.
   * Default: 0, 0. */
  double mu_schur[2];
  /** Largest |b - P^dagger P x| at any site, divided by the largest |b| at any site, in multiples of the
   * solve's tolerance; required besides it (OpenLat: Francis, Fritzsch, Luscher, Rago, arXiv:1911.04533,
   * Section 4). 0: not required. 0 to 1000000. Default: 0. */
  double tol_site;
  /** Sums over the ranks in an iteration of CG in forces, as `sums` of plaq_solver_params; automatic (0) with
   * multigrid. Default: 0. */
  plaq_iteration_sums sums_force;
  /** Sums over the ranks in an iteration of CG in the Hamiltonian and the heat bath, as `sums` of
   * plaq_solver_params; automatic (0) with multigrid. Default: 0. */
  plaq_iteration_sums sums_hamiltonian;
} plaq_quarks_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_quarks_params_init(plaq_quarks_params *params, int64_t struct_size);

/** Starts a description of a chain for links on the lattice and in the precision of `gauge`, stored as 18
 * numbers. Levels are added from the outermost in, each before its monomials. Errors: BAD_PARAMETER. */
plaq_status plaq_hmc_parts_create(plaq_gauge gauge,
                                  const plaq_hmc_params *params,
                                  plaq_hmc_parts *parts);

/** Destroys the parts of a chain. The zero handle is accepted. */
plaq_status plaq_hmc_parts_destroy(plaq_hmc_parts parts);

/** Adds a level with this number of steps of a plaq_integrator. */
plaq_status plaq_hmc_parts_add_level(plaq_hmc_parts parts,
                                     plaq_integrator integrator,
                                     int64_t steps);

/** Adds a gauge action to the last level. The names of monomials must be unique. Errors: BAD_PARAMETER,
 * OUT_OF_MEMORY. */
plaq_status plaq_hmc_parts_add_gauge(plaq_hmc_parts parts,
                                     const char *name,
                                     const plaq_gauge_action_params *params);

/** Adds an action of closed paths, which are given like those of plaq_gauge_path_action. Errors: BAD_PARAMETER,
 * OUT_OF_MEMORY.
 * Arrays: steps[sum of lengths], lengths[count], coefficients[count]. */
plaq_status plaq_hmc_parts_add_paths(plaq_hmc_parts parts,
                                     const char *name,
                                     const int32_t *steps,
                                     const int32_t *lengths,
                                     const double *coefficients,
                                     int64_t count);

/** Adds quarks. Of `dirac` and `preconditioner` (NULL, or neither kappa nor mass: no ratio) normalisation,
 * precision and storage do not count; `multigrid` where `params` ask for it. Errors:
 * BAD_PARAMETER, UNSUPPORTED. */
plaq_status plaq_hmc_parts_add_quarks(plaq_hmc_parts parts,
                                      const char *name,
                                      const plaq_quarks_params *params,
                                      const plaq_dirac_params *dirac,
                                      const plaq_dirac_params *preconditioner,
                                      const plaq_multigrid_params *multigrid);

/** Makes the chain from its parts, bit for bit the same as from an equivalent input; the parts are empty
 * afterwards. Errors: those of plaq_hmc_create. */
plaq_status plaq_hmc_create_from(plaq_hmc_parts parts, plaq_hmc *hmc);

/* ---- Gradient flow ---- */

/** Actions whose gradient generates the flow. */
typedef int32_t plaq_flow_kind;
enum {
  /** Wilson's plaquette action. */
  PLAQ_FLOW_WILSON = 0,
  /** Tree-level improved Symanzik action. */
  PLAQ_FLOW_SYMANZIK = 1,
  /** The Symanzik flow with a factor 1 + D*D / 12 along each link, which removes all O(a^2) effects of the flow
   * (Ramos, Sint, Eur. Phys. J. C 76 (2016) 15). */
  PLAQ_FLOW_ZEUTHEN = 2
};

/** Called at every measurement with the flow time t / a^2, t^2 E from clover leaves, and the topological
 * charge. A result other than 0, on any rank, ends the flow. */
typedef int32_t (*plaq_flow_callback)(double time, double t2e, double charge, void *user);

/** A gradient flow by Luescher's third-order Runge-Kutta scheme (JHEP 08 (2010) 071, appendix C). */
typedef struct plaq_flow_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Action whose gradient generates the flow. Default: PLAQ_FLOW_WILSON. */
  plaq_flow_kind kind;
  /** Number of steps between measurements; further ones are made at the start and at the end.
   * 1 or more. Default: 10. */
  int32_t every;
  /** Step of the flow time; for adaptive steps the first step. Above 0.2 the scheme is unstable.
   * A number above 0, to 0.2. Default: 0.02. */
  double step;
  /** Flow time t / a^2 at the end, at most a million steps. It must be set. 0 to 1000000. */
  double time;
  /** Adaptive steps: largest difference of a matrix entry between the scheme and the embedded second-order
   * scheme in one step (Fritzsch, Ramos, JHEP 10 (2013) 008, appendix D); 0: fixed steps. A tolerance that
   * needs steps below a millionth of the flow time is refused. 0 to below 1. Default: 0. */
  double tolerance;
} plaq_flow_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_flow_params_init(plaq_flow_params *params, int64_t struct_size);

/** A gradient flow of quark fields by Luescher's third-order Runge-Kutta scheme (JHEP 04 (2013) 123, appendix D),
 * or its adjoint. */
typedef struct plaq_spinor_flow_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Action whose gradient flows the links. Default: PLAQ_FLOW_WILSON. */
  plaq_flow_kind kind;
  /** Number of states of the links that the adjoint flow keeps, besides the first one; states between them are
   * computed again; -1: as many as half of the free memory holds, at most 1000. 0 to 1000.
   * Default: -1. */
  int32_t checkpoints;
  /** Step of the flow time; the last step ends at `time`. Above 0.157 the scheme is unstable.
   * A number above 0, to 0.157. Default: 0.01. */
  double step;
  /** Flow time t / a^2 at the end, starting with 0 for the given links. It must be set.
   * 0 to 1000000. */
  double time;
  /** Boundary phases in units of pi, for fields that do not carry their own: psi(x + L_mu) = exp(i pi
   * boundary[mu]) psi(x). Options, TOML and Python also take a word: `periodic` (0, 0, 0, 0) or `antiperiodic` (0, 0, 0, 1).
   * Default: 0, 0, 0, 1. */
  double boundary[4];
} plaq_spinor_flow_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_spinor_flow_params_init(plaq_spinor_flow_params *params, int64_t struct_size);

/** Report of a flow of quark fields, or of its adjoint. */
typedef struct plaq_spinor_flow_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Flow time of the fields afterwards. Unless the flow was stopped it is that of the parameters, for an
   * adjoint flow 0. */
  double time;
  /** Number of steps of the quark fields. */
  int64_t steps;
  /** Number of steps of the links, including those that were computed again. */
  int64_t link_steps;
  /** Number of states of the links that the adjoint flow kept, besides the first one. */
  int64_t checkpoints;
  /** 1: the callback asked to stop. */
  int32_t stopped;
  /** Seconds that the flow took. */
  double seconds;
} plaq_spinor_flow_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_spinor_flow_report_init(plaq_spinor_flow_report *report, int64_t struct_size);

/** Observables at a flow time. */
typedef struct plaq_flow_point {
  /** Flow time t / a^2. */
  double time;
  /** Average plaquette of the planes xy, xz and yz, 1 for unit links. */
  double plaquette_spatial;
  /** Average plaquette of the planes xt, yt and zt. */
  double plaquette_temporal;
  /** Action density from clover leaves of the planes xy, xz and yz, as of plaq_gauge_topology. */
  double energy_spatial;
  /** Action density from clover leaves of the planes xt, yt and zt. */
  double energy_temporal;
  /** Topological charge. */
  double charge;
} plaq_flow_point;

/** Report of a flow. Scales are in lattice units, -1 if the flow ended before they were reached. */
typedef struct plaq_flow_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** Flow time that was reached, t / a^2. */
  double time;
  /** Scale t0 with t^2 E = 0.3, E from clover leaves. */
  double t0_clover;
  /** Scale t0, E from plaquettes. */
  double t0_plaquette;
  /** Scale w0 with t d/dt t^2 E = 0.3 at t = w0^2, E from clover leaves. */
  double w0_clover;
  /** Scale w0, E from plaquettes. */
  double w0_plaquette;
  /** Number of steps of the flow, without repeated ones. */
  int64_t steps;
  /** Number of steps that were repeated with a smaller step size. */
  int64_t repeated;
  /** 1: the callback asked to stop. */
  int32_t stopped;
  /** Seconds that the flow took. */
  double seconds;
} plaq_flow_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_flow_report_init(plaq_flow_report *report, int64_t struct_size);

/** Flows SU(3) links, stored as 18 numbers in double or single precision. `count`: number of measurements
 * made, of which the first `capacity` are written to `points`, which may be NULL. Errors: BAD_PARAMETER,
 * UNSUPPORTED, NOT_FINITE, OUT_OF_MEMORY.
 * Arrays: points[capacity]. */
plaq_status plaq_gauge_flow(plaq_gauge gauge,
                            const plaq_flow_params *params,
                            plaq_flow_callback callback,
                            void *user,
                            plaq_flow_report *report,
                            plaq_flow_point *points,
                            int64_t capacity,
                            int64_t *count);

/** Flows every column of a field, spinors or colour vectors on both parities in double or single precision: d
 * chi / dt = D^2 chi, where D^2 chi(x) = sum_mu [V_mu(x) chi(x + mu) + V_mu(x - mu)^dagger chi(x - mu) - 2
 * chi(x)] with the links V of the flow of `gauge` (SU(3)) at the same time (Luescher, JHEP 04 (2013) 123).
 * Boundary phases are those that the field records (plaq_spinor_origin), else those of `params`. With
 * boundaries of the links in time chi is 0 at all flow times on the slices where quarks vanish. `flowed`:
 * field to which the flowed links are written, which may be `gauge` itself; zero handle: they are not kept.
 * Links flow in the precision of the field. The callback is called after every step with the numbers of
 * steps done and of all steps, and may end the flow. Errors: BAD_PARAMETER, UNSUPPORTED, FIELD_MISMATCH,
 * NOT_FINITE, OUT_OF_MEMORY. */
plaq_status plaq_spinor_flow(plaq_spinor spinor,
                             plaq_gauge gauge,
                             plaq_gauge flowed,
                             const plaq_spinor_flow_params *params,
                             plaq_sweep_callback callback,
                             void *user,
                             plaq_spinor_flow_report *report);

/** Applies the adjoint K^dagger of plaq_spinor_flow K with the same `gauge`, links at time 0, and `params`:
 * it takes a field at the flow time of `params` to time 0, and <phi, K chi> = <K^dagger phi, chi> holds to
 * rounding. The links of the steps are computed again between `checkpoints` states that are kept. The
 * callback is called after every step, also of the links, with the number of steps of the field that are
 * done. If it ends the work, the field is the adjoint of the flow that begins at the time in the report.
 * Errors: those of plaq_spinor_flow. */
plaq_status plaq_spinor_flow_adjoint(plaq_spinor spinor,
                                     plaq_gauge gauge,
                                     const plaq_spinor_flow_params *params,
                                     plaq_sweep_callback callback,
                                     void *user,
                                     plaq_spinor_flow_report *report);

/* ---- QUDA's interface: what becomes of errors ---- */

/** Action of a function of the headers in quda/ after an error, when the handler has been called. */
typedef int32_t plaq_quda_error_mode;
enum {
  /** Ends the program with exit code 1 (the default). */
  PLAQ_QUDA_ERRORS_END = 0,
  /** Returns. No array, number or count of the host has been written, and the result is NULL, 1 from
   * functions that return an int, or NaN from those that return a double. */
  PLAQ_QUDA_ERRORS_RETURN = 1
};

/** Receives the name of the function that failed, its status, and the message in lines: argument, expected,
 * found, and what to do. On several ranks all receive the message of the rank that failed. */
typedef void (*plaq_quda_error_callback)(const char *function, int32_t status, const char *message, void *user);

/** Sets the mode for all threads, from now on. */
plaq_status plaq_quda_set_error_mode(plaq_quda_error_mode mode);

/** Replaces the handler that prints to stderr; NULL: restores it. */
plaq_status plaq_quda_set_error_handler(plaq_quda_error_callback callback, void *user);

/** Gives the status of this thread's last call of a function of the headers in quda/; plaq_last_error has
 * the message of one that failed. */
plaq_status plaq_quda_last_status(int32_t *status);

#ifdef __cplusplus
}
#endif

/** Declares a struct of parameters or a report with its defaults: PLAQ_INIT(plaq_dirac_params, p);
 * then p.kappa = 0.13. Its size is right whatever the type. */
#define PLAQ_INIT(type, name) \
  type name; \
  (void)type##_init(&name, (int64_t)sizeof(type))

#endif
