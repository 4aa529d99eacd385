/* plaq: embeddable lattice QCD. Generated from src/capi; do not edit.
 *
 * Status. Functions return a plaq_status: 0 done; positive: refused, nothing changed; negative:
 * the object or context is lost. plaq_last_error() says which argument, what was expected and
 * what was found. Results are written only on success. A solver that did not converge is no
 * error: its report says so.
 * Handles. Small structs, passed by value; {0} is no object. A stale, foreign or destroyed handle
 * is refused. Objects belong to a context and die with it, or by their own destroy function.
 * Parameters. Fill a struct with its init function, NAME_init(&p, sizeof p), then set members; NULL
 * means all defaults. Reports are initialised the same way; NULL if not wanted. These structs may
 * grow at the end in later versions without breaking programs compiled today.
 * Memory. What a pointer points to is borrowed for the call only, unless its comment says otherwise.
 * Pointers must be valid for the sizes stated; NULL is refused where something is needed.
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
  /** Struct_size of a parameter struct does not fit this library. */
  PLAQ_STRUCT_SIZE = 4,
  /** The combination asked for does not exist. */
  PLAQ_UNSUPPORTED = 5,
  /** Objects of different contexts or devices were mixed. */
  PLAQ_WRONG_CONTEXT = 6,
  /** The host's callback asked to stop. */
  PLAQ_STOPPED = 7,
  /** An object is being changed, or is to be changed, while another call uses it. */
  PLAQ_BUSY = 8,
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
  /** The device failed; the context can only be destroyed. */
  PLAQ_DEVICE_LOST = -100,
  /** The process grid does not fit ranks or lattice. */
  PLAQ_PROCESS_GRID = 200,
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
  /** A physical parameter is out of range. */
  PLAQ_BAD_PARAMETER = 501,
  /** A solver met NaN or infinity. */
  PLAQ_SOLVER_BREAKDOWN = 502
};

/* ---- Library: version, messages, log ---- */

/** What a log callback is told: everything up to a level. */
typedef int32_t plaq_log_level;
enum {
  /** Nothing (the default). */
  PLAQ_LOG_OFF = 0,
  /** Defects of plaq and lost devices. */
  PLAQ_LOG_ERROR = 1,
  /** Refused calls. */
  PLAQ_LOG_WARN = 2,
  /** What takes long: compilation, tuning, solves. */
  PLAQ_LOG_INFO = 3,
  PLAQ_LOG_DEBUG = 4,
  /** Every call and its time. */
  PLAQ_LOG_TRACE = 5
};

/** Gets one line of the log; may be called from any thread. */
typedef void (*plaq_log_callback)(plaq_log_level level, const char *message, void *user);

/** Version of the library, "major.minor.patch". */
const char *plaq_version(void);

/** The message of this thread's last failed call: function, argument, expected, found.
 * Valid until the next call of this thread fails; never NULL. */
const char *plaq_last_error(void);

/** Name of a status, e.g. "PLAQ_NULL_POINTER"; "unknown status" for other numbers. */
const char *plaq_status_name(int32_t status);

/** What a status means, in a sentence. */
const char *plaq_status_help(int32_t status);

/** Sends the log up to `level` to the host; NULL or PLAQ_LOG_OFF makes plaq quiet again.
 * One callback per process. */
plaq_status plaq_log_set(plaq_log_callback callback, void *user, int32_t level);

/* ---- Context: a device and everything on it ---- */

/** A device with its memory and threads. Fields and operators belong to a context and
 * die with it; several contexts live side by side. */
typedef struct plaq_context {
  int64_t id;
} plaq_context;

/** Where a context computes. */
typedef int32_t plaq_device;
enum {
  /** CUDA if there is a usable GPU, else the CPU. */
  PLAQ_DEVICE_AUTO = 0,
  PLAQ_DEVICE_CPU = 1,
  PLAQ_DEVICE_CUDA = 2
};

/** How to make a context. */
typedef struct plaq_context_params {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  plaq_device device;
  /** Which GPU, counted from 0. */
  int32_t ordinal;
  /** Threads of the CPU back end; 0: as many as this process may use. */
  int32_t threads;
  /** Must be 0. */
  int32_t reserved;
} plaq_context_params;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_context_params_init(plaq_context_params *params, int64_t struct_size);

/** What a context is and holds. Sizes in bytes. */
typedef struct plaq_context_report {
  /** sizeof of this struct, set by its init function. */
  int64_t struct_size;
  /** PLAQ_DEVICE_CPU or PLAQ_DEVICE_CUDA. */
  plaq_device device;
  /** Most virtual nodes (SIMD lanes) that a lattice is divided over. */
  int32_t lanes;
  int64_t memory_total;
  int64_t memory_free;
  /** Held by the fields of this context now, and the most so far. */
  int64_t memory_used;
  int64_t memory_peak;
} plaq_context_report;

/** Fills in defaults; pass sizeof. */
plaq_status plaq_context_report_init(plaq_context_report *report, int64_t struct_size);

/** Makes a context. Errors: NO_DEVICE, DRIVER_MISSING, DRIVER_TOO_OLD, NVRTC_MISSING. */
plaq_status plaq_context_create(const plaq_context_params *params, plaq_context *context);

/** Destroys a context and all its objects. The zero handle is accepted. */
plaq_status plaq_context_destroy(plaq_context context);

/** Name of the device, e.g. "NVIDIA H200", into a buffer of `capacity` bytes. */
plaq_status plaq_context_name(plaq_context context, char *name, int64_t capacity);

/** Device and memory. */
plaq_status plaq_context_describe(plaq_context context, plaq_context_report *report);

/** Lets memory_peak start again from memory_used. */
plaq_status plaq_context_reset_peak(plaq_context context);

/** Waits until everything asked of the device is done. */
plaq_status plaq_context_synchronize(plaq_context context);

#ifdef __cplusplus
}
#endif

#endif
