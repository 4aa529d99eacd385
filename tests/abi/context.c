/* Versions, statuses, messages, log, struct sizes, handles and contexts, and their misuse. */
#define _POSIX_C_SOURCE 200112L
#include <pthread.h>

#include "check.h"

static int lines, level_seen;
static char line[512];

static void on_log(plaq_log_level level, const char *message, void *user) {
  CHECK(user == (void *)&lines);
  lines++;
  level_seen = level;
  snprintf(line, sizeof line, "%s", message);
}

static void texts(void) {
  CHECK(strchr(plaq_version(), '.') != NULL);
  CHECK(strcmp(plaq_status_name(PLAQ_NULL_POINTER), "PLAQ_NULL_POINTER") == 0);
  CHECK(strcmp(plaq_status_name(PLAQ_INTERNAL), "PLAQ_INTERNAL") == 0);
  CHECK(strlen(plaq_status_help(PLAQ_NOT_UNITARY)) > 10);
  CHECK(strcmp(plaq_status_name(12345), "unknown status") == 0);
  CHECK(plaq_status_help(-12345) != NULL);
  CHECK(plaq_last_error() != NULL);
}

static void logging(void) {
  plaq_context none = {0};
  OK(plaq_log_set(on_log, &lines, PLAQ_LOG_WARN));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_context_synchronize(none));
  CHECK(lines == 1 && level_seen == PLAQ_LOG_WARN && strstr(line, "plaq_context_synchronize"));
  REFUSED(PLAQ_INVALID_ARGUMENT, "level", plaq_log_set(on_log, &lines, 77));
  CHECK(lines == 2);
  OK(plaq_log_set(NULL, NULL, PLAQ_LOG_TRACE));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_context_synchronize(none));
  CHECK(lines == 2);
}

static void struct_sizes(plaq_context *context) {
  struct { plaq_context_params p; int64_t tail[3]; } longer;
  plaq_context_params p;
  memset(&p, 0x5a, sizeof p);
  OK(plaq_context_params_init(&p, sizeof p));
  CHECK(p.struct_size == (int64_t)sizeof p && p.device == PLAQ_DEVICE_AUTO && p.threads == 0);
  EXPECT(PLAQ_NULL_POINTER, plaq_context_params_init(NULL, sizeof p));
  EXPECT(PLAQ_STRUCT_SIZE, plaq_context_params_init(&p, 0));
  EXPECT(PLAQ_STRUCT_SIZE, plaq_context_params_init(&p, -8));
  EXPECT(PLAQ_STRUCT_SIZE, plaq_context_params_init(&p, 1000000));
  EXPECT(PLAQ_STRUCT_SIZE, plaq_context_params_init(&p, 17));

  /* A host that was compiled with an older header passes a smaller struct: only its members count. */
  OK(plaq_context_params_init(&p, 16));
  CHECK(p.struct_size == 16);
  p.device = PLAQ_DEVICE_CPU;
  p.threads = -1;
  p.communicator_kind = 12;
  OK(plaq_context_create(&p, context));
  OK(plaq_context_destroy(*context));

  /* A host that was compiled with a newer header is accepted unless it uses members that this library lacks. */
  memset(&longer, 0x5a, sizeof longer);
  OK(plaq_context_params_init(&longer.p, sizeof longer));
  CHECK(longer.p.struct_size == (int64_t)sizeof longer && longer.tail[0] == 0 && longer.tail[2] == 0);
  longer.p.device = PLAQ_DEVICE_CPU;
  OK(plaq_context_create(&longer.p, context));
  OK(plaq_context_destroy(*context));
  longer.tail[2] = 1;
  context->id = 99;
  REFUSED(PLAQ_STRUCT_SIZE, "older", plaq_context_create(&longer.p, context));
  CHECK(context->id == 99);

  memset(&p, 0, sizeof p);
  REFUSED(PLAQ_STRUCT_SIZE, "init", plaq_context_create(&p, context));
  p.struct_size = -1;
  REFUSED(PLAQ_STRUCT_SIZE, "found -1", plaq_context_create(&p, context));
}

static void bad_params(plaq_context *context) {
  plaq_context_params p;
  OK(plaq_context_params_init(&p, sizeof p));
  REFUSED(PLAQ_NULL_POINTER, "context", plaq_context_create(&p, NULL));
  EXPECT(PLAQ_NULL_POINTER, plaq_context_create(NULL, NULL));
  p.device = 17;
  REFUSED(PLAQ_INVALID_ARGUMENT, "found 17", plaq_context_create(&p, context));
  p.device = INT32_MIN;
  REFUSED(PLAQ_INVALID_ARGUMENT, "PLAQ_DEVICE_CPU (1)", plaq_context_create(&p, context));
  p.device = PLAQ_DEVICE_CPU;
  p.threads = -1;
  REFUSED(PLAQ_BAD_PARAMETER, "params.threads", plaq_context_create(&p, context));
  p.threads = INT32_MAX;
  REFUSED(PLAQ_BAD_PARAMETER, "params.threads", plaq_context_create(&p, context));
  p.threads = 1;
  p.ordinal = -3;
  REFUSED(PLAQ_BAD_PARAMETER, "params.ordinal", plaq_context_create(&p, context));
  p.ordinal = 0;
  p.reproducible = 2;
  REFUSED(PLAQ_BAD_PARAMETER, "params.reproducible", plaq_context_create(&p, context));
  p.reproducible = 0;
  p.communicator_kind = 4;
  REFUSED(PLAQ_INVALID_ARGUMENT, "params.communicator_kind", plaq_context_create(&p, context));
  p.communicator_kind = PLAQ_COMMUNICATOR_NONE;
  p.grid[3] = 2;
  REFUSED(PLAQ_PROCESS_GRID, "params.grid", plaq_context_create(&p, context));
  p.grid[3] = 1;
  p.communicator_kind = PLAQ_COMMUNICATOR_C;
  CHECK(setenv("PLAQ_MPI_LIBRARY", "/nowhere/libplaq_mpi.so", 1) == 0);
  REFUSED(PLAQ_MPI_MISSING, "make mpi", plaq_context_create(&p, context));
  CHECK(unsetenv("PLAQ_MPI_LIBRARY") == 0);
  p.grid[3] = 0;
  p.communicator_kind = PLAQ_COMMUNICATOR_NONE;
  p.memory_limit = -1;
  REFUSED(PLAQ_BAD_PARAMETER, "params.memory_limit", plaq_context_create(&p, context));
}

/* Three spinors of 4^4 sites in double, 49152 bytes each: two fit, the third does not. */
static void limits(void) {
  plaq_context_params p;
  plaq_spinor_params shape;
  plaq_context context;
  plaq_context_report r;
  plaq_spinor spinor;
  int i;
  OK(plaq_context_params_init(&p, sizeof p));
  p.device = PLAQ_DEVICE_CPU;
  p.memory_limit = 100000;
  OK(plaq_context_create(&p, &context));
  OK(plaq_spinor_params_init(&shape, sizeof shape));
  for (i = 0; i < 4; i++) shape.extents[i] = 4;
  for (i = 0; i < 2; i++) OK(plaq_spinor_create(context, &shape, &spinor));
  spinor.id = 5;
  REFUSED(PLAQ_OUT_OF_MEMORY, "49152 bytes", plaq_spinor_create(context, &shape, &spinor));
  CHECK(strstr(plaq_last_error(), "1696 of 100000 bytes are available") && spinor.id == 5);
  OK(plaq_context_report_init(&r, sizeof r));
  OK(plaq_context_describe(context, &r));
  CHECK(r.memory_total == 100000 && r.memory_free == 1696 && r.memory_used == 98304);
  OK(plaq_context_destroy(context));
}

static void contexts(plaq_context *context) {
  struct { plaq_context_report r; int64_t tail; } longer;
  plaq_context_params p;
  plaq_context_report r;
  plaq_context other, stale, forged;
  char name[256] = "untouched";
  OK(plaq_context_params_init(&p, sizeof p));
  p.device = PLAQ_DEVICE_CPU;
  p.threads = 2;
  OK(plaq_context_create(&p, context));
  OK(plaq_context_create(&p, &other));
  CHECK(context->id != other.id && context->id != 0);

  EXPECT(PLAQ_NULL_POINTER, plaq_context_name(*context, NULL, 10));
  REFUSED(PLAQ_INVALID_ARGUMENT, "capacity", plaq_context_name(*context, name, 2));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_context_name(*context, name, -1));
  CHECK(strcmp(name, "untouched") == 0);
  OK(plaq_context_name(*context, name, sizeof name));
  CHECK(strstr(name, "cpu") && strstr(name, "2 threads"));

  OK(plaq_context_report_init(&r, sizeof r));
  OK(plaq_context_describe(*context, &r));
  CHECK(r.device == PLAQ_DEVICE_CPU && r.memory_total > r.memory_free && r.memory_used == 0);
  CHECK(r.struct_size == (int64_t)sizeof r);
  CHECK(r.ranks == 1 && r.rank == 0 && r.grid[0] == 1 && r.grid[3] == 1 && r.coords[2] == 0);
  OK(plaq_context_describe(*context, NULL));
  r.struct_size = 3;
  EXPECT(PLAQ_STRUCT_SIZE, plaq_context_describe(*context, &r));
  /* Reports for hosts with older and with newer headers. */
  r.struct_size = 16;
  r.device = r.lanes = 0;
  r.memory_total = 77;
  OK(plaq_context_describe(*context, &r));
  CHECK(r.struct_size == 16 && r.device == PLAQ_DEVICE_CPU && r.memory_total == 77);
  OK(plaq_context_report_init(&longer.r, sizeof longer));
  longer.tail = 5;
  OK(plaq_context_describe(*context, &longer.r));
  CHECK(longer.tail == 0 && longer.r.struct_size == (int64_t)sizeof longer);

  OK(plaq_context_reset_peak(*context));
  OK(plaq_context_synchronize(*context));

  stale = other;
  OK(plaq_context_destroy(other));
  REFUSED(PLAQ_INVALID_HANDLE, "plaq_context_destroy", plaq_context_destroy(stale));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_context_synchronize(stale));
  /* A new object takes the slot of a freed one, whose stale handle stays invalid. */
  OK(plaq_context_create(&p, &other));
  CHECK(other.id != stale.id);
  EXPECT(PLAQ_INVALID_HANDLE, plaq_context_synchronize(stale));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_context_destroy(stale));
  OK(plaq_context_synchronize(other));
  OK(plaq_context_destroy(other));

  forged.id = 0;
  REFUSED(PLAQ_INVALID_HANDLE, "zero handle", plaq_context_synchronize(forged));
  OK(plaq_context_destroy(forged));
  forged.id = -1;
  EXPECT(PLAQ_INVALID_HANDLE, plaq_context_synchronize(forged));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_context_destroy(forged));
  forged.id = INT64_MIN;
  EXPECT(PLAQ_INVALID_HANDLE, plaq_context_synchronize(forged));
  forged.id = context->id + ((int64_t)1 << 56);
  EXPECT(PLAQ_INVALID_HANDLE, plaq_context_synchronize(forged));
  forged.id = context->id + 1000;
  EXPECT(PLAQ_INVALID_HANDLE, plaq_context_synchronize(forged));
  OK(plaq_context_synchronize(*context));
}

static void injected_panic(plaq_context context) {
  char name[256];
  if (strcmp(getenv("PLAQ_TEST_DEBUG") ? getenv("PLAQ_TEST_DEBUG") : "0", "1") != 0) return;
  CHECK(setenv("PLAQ_TEST_PANIC", "plaq_context_name", 1) == 0);
  strcpy(name, "untouched");
  REFUSED(PLAQ_INTERNAL, "boundary.rs", plaq_context_name(context, name, sizeof name));
  CHECK(strstr(plaq_last_error(), "injected") && strcmp(name, "untouched") == 0);
  OK(plaq_context_synchronize(context));
  CHECK(unsetenv("PLAQ_TEST_PANIC") == 0);
  OK(plaq_context_name(context, name, sizeof name));
}

static void *other_thread(void *user) {
  plaq_context none = {0};
  EXPECT(PLAQ_NULL_POINTER, plaq_context_create(NULL, NULL));
  CHECK(strstr(plaq_last_error(), "plaq_context_create"));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_context_synchronize(none));
  (void)user;
  return NULL;
}

static void thread_local_messages(void) {
  pthread_t thread;
  plaq_context none = {0};
  EXPECT(PLAQ_INVALID_HANDLE, plaq_context_reset_peak(none));
  CHECK(pthread_create(&thread, NULL, other_thread, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(strstr(plaq_last_error(), "plaq_context_reset_peak"));
}

int main(void) {
  plaq_context context = {0};
  texts();
  logging();
  struct_sizes(&context);
  bad_params(&context);
  limits();
  contexts(&context);
  injected_panic(context);
  thread_local_messages();
  OK(plaq_context_destroy(context));
  return 0;
}
