/* MPI for plaq: the few calls that it needs, as a table of functions with fixed-width types.
 * Compiled by the site's mpicc into libplaq_mpi.so, which libplaq loads when a host passes a
 * communicator; src/comm/mpi.rs has the other half of this table. Handles travel as int64_t,
 * requests that are complete as 0. Functions return 0 or MPI's error code. */
#include <mpi.h>
#include <stdint.h>
#include <string.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

typedef char comm_fits[sizeof(MPI_Comm) <= sizeof(int64_t) ? 1 : -1];
typedef char request_fits[sizeof(MPI_Request) <= sizeof(int64_t) ? 1 : -1];
#if MPI_VERSION < 3
#error "plaq needs MPI 3 or newer (non-blocking collectives)"
#endif

static int64_t comm_out(MPI_Comm comm) {
  int64_t handle = 0;
  memcpy(&handle, &comm, sizeof comm);
  return handle;
}

static MPI_Comm comm_in(int64_t handle) {
  MPI_Comm comm;
  memcpy(&comm, &handle, sizeof comm);
  return comm;
}

static int64_t request_out(MPI_Request request) {
  int64_t handle = 0;
  if (request != MPI_REQUEST_NULL) memcpy(&handle, &request, sizeof request);
  return handle;
}

static MPI_Request request_in(int64_t handle) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (handle != 0) memcpy(&request, &handle, sizeof request);
  return request;
}

/* Gives the request of a call that has just started. */
static int32_t started(int error, MPI_Request request, int64_t *out) {
  *out = error == MPI_SUCCESS ? request_out(request) : 0;
  return error;
}

/* 0: not initialised; 1: running; 2: finalised. */
static int32_t state(void) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return ended ? 2 : begun ? 1 : 0;
}

/* Thread level 0 (single) to 3 (multiple); is this the thread that initialised MPI? */
static int32_t threads(int32_t *level, int32_t *is_main) {
  int provided = 0, flag = 0;
  int error = MPI_Query_thread(&provided);
  if (error == MPI_SUCCESS) error = MPI_Is_thread_main(&flag);
  *level = provided == MPI_THREAD_MULTIPLE     ? 3
           : provided == MPI_THREAD_SERIALIZED ? 2
           : provided == MPI_THREAD_FUNNELED   ? 1
                                               : 0;
  *is_main = flag;
  return error;
}

/* For hosts without MPI bindings of their own; plaq itself never calls these. */
static int32_t init(int32_t level) {
  const int levels[4] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  int provided = 0;
  return MPI_Init_thread(NULL, NULL, levels[level & 3], &provided);
}

static int32_t finalize(void) { return MPI_Finalize(); }

static int64_t world(void) { return comm_out(MPI_COMM_WORLD); }

static int64_t from_c(const void *comm) {
  MPI_Comm value;
  memcpy(&value, comm, sizeof value);
  return comm_out(value);
}

static int64_t from_fortran(int32_t comm) { return comm_out(MPI_Comm_f2c((MPI_Fint)comm)); }

static int32_t is_null(int64_t comm) { return comm_in(comm) == MPI_COMM_NULL; }

static int32_t rank_and_size(int64_t comm, int32_t *rank, int32_t *size) {
  int r = 0, s = 0;
  int error = MPI_Comm_rank(comm_in(comm), &r);
  if (error == MPI_SUCCESS) error = MPI_Comm_size(comm_in(comm), &s);
  *rank = r;
  *size = s;
  return error;
}

/* While plaq looks at a communicator that it has from the host, MPI's errors come back as codes. */
typedef struct {
  MPI_Comm comm[3];
  MPI_Errhandler handler[3];
  int held[3];
} hushed;

static void hush(hushed *h, MPI_Comm comm) {
  h->comm[0] = MPI_COMM_WORLD, h->comm[1] = MPI_COMM_SELF, h->comm[2] = comm;
  for (int i = 0; i < 3; i++) {
    h->held[i] = MPI_Comm_get_errhandler(h->comm[i], &h->handler[i]) == MPI_SUCCESS;
    if (h->held[i]) MPI_Comm_set_errhandler(h->comm[i], MPI_ERRORS_RETURN);
  }
}

static void unhush(hushed *h) {
  for (int i = 2; i >= 0; i--) {
    if (!h->held[i]) continue;
    MPI_Comm_set_errhandler(h->comm[i], h->handler[i]);
    MPI_Errhandler_free(&h->handler[i]);
  }
}

/* Is this an inter-communicator, which has no ranks in common? */
static int32_t is_inter(int64_t comm, int32_t *inter) {
  hushed h;
  int flag = 0;
  hush(&h, comm_in(comm));
  int error = MPI_Comm_test_inter(comm_in(comm), &flag);
  unhush(&h);
  *inter = flag;
  return error;
}

/* *out is written when the request completes, and is 0 before. */
static int32_t duplicate(int64_t comm, int64_t *out, int64_t *request) {
  MPI_Request r = MPI_REQUEST_NULL;
  hushed h;
  *out = 0;
  hush(&h, comm_in(comm));
  int error = MPI_Comm_idup(comm_in(comm), (MPI_Comm *)(void *)out, &r);
  unhush(&h);
  return started(error, r, request);
}

/* Ranks of one colour become a communicator, in the order of keys; for ranks with a negative colour *out is 0.
 * All ranks are on their way here already: MPI has no such call that does not wait. */
static int32_t split(int64_t comm, int32_t colour, int32_t key, int64_t *out) {
  MPI_Comm part = MPI_COMM_NULL;
  int error = MPI_Comm_split(comm_in(comm), colour < 0 ? MPI_UNDEFINED : colour, key, &part);
  *out = error == MPI_SUCCESS && part != MPI_COMM_NULL ? comm_out(part) : 0;
  return error;
}

/* Errors on a communicator of ours come back as codes and end nobody's program. */
static int32_t errors_return(int64_t comm) { return MPI_Comm_set_errhandler(comm_in(comm), MPI_ERRORS_RETURN); }

static int32_t release(int64_t comm) {
  MPI_Comm c = comm_in(comm);
  return MPI_Comm_free(&c);
}

static int32_t send(int64_t comm, const void *data, int32_t bytes, int32_t to, int32_t tag, int64_t *request) {
  MPI_Request r = MPI_REQUEST_NULL;
  int error = MPI_Isend(data, bytes, MPI_BYTE, to, tag, comm_in(comm), &r);
  return started(error, r, request);
}

static int32_t receive(int64_t comm, void *data, int32_t bytes, int32_t from, int32_t tag, int64_t *request) {
  MPI_Request r = MPI_REQUEST_NULL;
  int error = MPI_Irecv(data, bytes, MPI_BYTE, from, tag, comm_in(comm), &r);
  return started(error, r, request);
}

/* The same, to be started again and again by start_all. */
static int32_t send_often(int64_t comm, const void *data, int32_t bytes, int32_t to, int32_t tag, int64_t *request) {
  MPI_Request r = MPI_REQUEST_NULL;
  int error = MPI_Send_init(data, bytes, MPI_BYTE, to, tag, comm_in(comm), &r);
  return started(error, r, request);
}

static int32_t receive_often(int64_t comm, void *data, int32_t bytes, int32_t from, int32_t tag, int64_t *request) {
  MPI_Request r = MPI_REQUEST_NULL;
  int error = MPI_Recv_init(data, bytes, MPI_BYTE, from, tag, comm_in(comm), &r);
  return started(error, r, request);
}

/* Starts requests in their order, so that messages with one tag do not overtake each other; MPI may replace them. */
static int32_t start_all(int32_t count, int64_t *requests) {
  for (int32_t i = 0; i < count; i++) {
    MPI_Request r = request_in(requests[i]);
    int error = MPI_Start(&r);
    requests[i] = request_out(r);
    if (error != MPI_SUCCESS) return error;
  }
  return 0;
}

static int32_t forget(int64_t request) {
  MPI_Request r = request_in(request);
  return MPI_Request_free(&r);
}

/* Those of the requests that are complete become 0; *open counts the others. */
static int32_t test(int32_t count, int64_t *requests, int32_t *open) {
  *open = 0;
  for (int32_t i = 0; i < count; i++) {
    if (requests[i] == 0) continue;
    MPI_Request r = request_in(requests[i]);
    int done = 0;
    int error = MPI_Test(&r, &done, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
    requests[i] = done ? 0 : request_out(r);
    *open += !done;
  }
  return 0;
}

/* Asks MPI to give up a receive; it is complete, and its memory free, when *request is 0. */
static int32_t cancel(int64_t *request) {
  MPI_Request r = request_in(*request);
  int done = 0;
  int error = MPI_Cancel(&r);
  if (error == MPI_SUCCESS) error = MPI_Test(&r, &done, MPI_STATUS_IGNORE);
  *request = done ? 0 : request_out(r);
  return error;
}

/* Takes a message that has arrived from anybody; *source is -1 where there is none. */
static int32_t take(int64_t comm, int32_t tag, void *data, int32_t capacity, int32_t *source) {
  MPI_Message message;
  MPI_Status status;
  int found = 0;
  *source = -1;
  int error = MPI_Improbe(MPI_ANY_SOURCE, tag, comm_in(comm), &found, &message, &status);
  if (error != MPI_SUCCESS || !found) return error;
  error = MPI_Mrecv(data, capacity, MPI_BYTE, &message, &status);
  *source = status.MPI_SOURCE;
  return error;
}

static int32_t sum(int64_t comm, const double *mine, double *all, int32_t count, int64_t *request) {
  MPI_Request r = MPI_REQUEST_NULL;
  int error = MPI_Iallreduce(mine, all, count, MPI_DOUBLE, MPI_SUM, comm_in(comm), &r);
  return started(error, r, request);
}

static int32_t maximum(int64_t comm, const int64_t *mine, int64_t *all, int32_t count, int64_t *request) {
  MPI_Request r = MPI_REQUEST_NULL;
  int error = MPI_Iallreduce(mine, all, count, MPI_INT64_T, MPI_MAX, comm_in(comm), &r);
  return started(error, r, request);
}

static int32_t gather(int64_t comm, const void *mine, void *all, int32_t bytes, int64_t *request) {
  MPI_Request r = MPI_REQUEST_NULL;
  int error = MPI_Iallgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm_in(comm), &r);
  return started(error, r, request);
}

static int32_t broadcast(int64_t comm, void *data, int32_t bytes, int32_t root, int64_t *request) {
  MPI_Request r = MPI_REQUEST_NULL;
  int error = MPI_Ibcast(data, bytes, MPI_BYTE, root, comm_in(comm), &r);
  return started(error, r, request);
}

static int32_t copy_text(const char *from, char *text, int32_t capacity) {
  if (capacity <= 0) return 0;
  strncpy(text, from, (size_t)capacity - 1);
  text[capacity - 1] = '\0';
  return 0;
}

static int32_t node_name(char *text, int32_t capacity) {
  char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
  int length = 0;
  int error = MPI_Get_processor_name(name, &length);
  return error != MPI_SUCCESS ? error : copy_text(name, text, capacity);
}

static int32_t version_text(char *text, int32_t capacity) {
  char name[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  int length = 0;
  int error = MPI_Get_library_version(name, &length);
  return error != MPI_SUCCESS ? error : copy_text(name, text, capacity);
}

static int32_t error_text(int32_t code, char *text, int32_t capacity) {
  char name[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  int error = MPI_Error_string(code, name, &length);
  return error != MPI_SUCCESS ? error : copy_text(name, text, capacity);
}

/* Does this MPI take addresses of GPU memory? */
static int32_t takes_gpu_memory(void) {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support();
#elif defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000
  int yes = 0;
  return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &yes) == MPI_SUCCESS && yes;
#else
  return 0;
#endif
}

/* Members are only ever appended; `version` changes when the meaning of one changes. */
typedef struct {
  int32_t version, size;
  int32_t (*state)(void);
  int32_t (*threads)(int32_t *, int32_t *);
  int32_t (*init)(int32_t);
  int32_t (*finalize)(void);
  int64_t (*world)(void);
  int64_t (*from_c)(const void *);
  int64_t (*from_fortran)(int32_t);
  int32_t (*is_null)(int64_t);
  int32_t (*rank_and_size)(int64_t, int32_t *, int32_t *);
  int32_t (*duplicate)(int64_t, int64_t *, int64_t *);
  int32_t (*errors_return)(int64_t);
  int32_t (*release)(int64_t);
  int32_t (*send)(int64_t, const void *, int32_t, int32_t, int32_t, int64_t *);
  int32_t (*receive)(int64_t, void *, int32_t, int32_t, int32_t, int64_t *);
  int32_t (*test)(int32_t, int64_t *, int32_t *);
  int32_t (*cancel)(int64_t *);
  int32_t (*take)(int64_t, int32_t, void *, int32_t, int32_t *);
  int32_t (*sum)(int64_t, const double *, double *, int32_t, int64_t *);
  int32_t (*maximum)(int64_t, const int64_t *, int64_t *, int32_t, int64_t *);
  int32_t (*gather)(int64_t, const void *, void *, int32_t, int64_t *);
  int32_t (*broadcast)(int64_t, void *, int32_t, int32_t, int64_t *);
  int32_t (*node_name)(char *, int32_t);
  int32_t (*version_text)(char *, int32_t);
  int32_t (*error_text)(int32_t, char *, int32_t);
  int32_t (*takes_gpu_memory)(void);
  int32_t (*is_inter)(int64_t, int32_t *);
  int32_t (*split)(int64_t, int32_t, int32_t, int64_t *);
  int32_t (*send_often)(int64_t, const void *, int32_t, int32_t, int32_t, int64_t *);
  int32_t (*receive_often)(int64_t, void *, int32_t, int32_t, int32_t, int64_t *);
  int32_t (*start_all)(int32_t, int64_t *);
  int32_t (*forget)(int64_t);
} plaq_mpi_table;

static const plaq_mpi_table table = {
    2,       sizeof(plaq_mpi_table),
    state,   threads,      init,   finalize, world,   from_c,    from_fortran,
    is_null, rank_and_size, duplicate, errors_return, release, send, receive,
    test,    cancel,       take,   sum,      maximum, gather,    broadcast,
    node_name, version_text, error_text, takes_gpu_memory, is_inter, split,
    send_often, receive_often, start_all, forget,
};

__attribute__((visibility("default"))) const void *plaq_mpi(void);
const void *plaq_mpi(void) { return &table; }
