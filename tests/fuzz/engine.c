/* Random calls of every function of plaq.h, reproducible from the seed:
 *
 *   fuzz SEED FIRST_EPISODE EPISODES SECONDS CALLS FOLDER [THREADS]
 *
 * It ends after so many episodes or seconds. An episode is CALLS calls on contexts of its own, of each of
 * the threads, which share objects. With PLAQ_TEST_DEVICE=cuda arrays lie on the GPU, too. Faults are:
 * signals, calls that do not end, output, statuses that are not in the table, PLAQ_INTERNAL, results
 * written by a call that failed, fields changed by a call that was refused, writes behind the end of the
 * host's arrays, and success with a handle that
 * is no object. Each is a line on the standard output; the exit code is 1 then. */
#include "engine.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 16, ROOM = 24, KINDS = 64, SMALL = 8192, ARRAY = 3 << 20, DATA = 32 << 20, OUTS = 16, STALE = 64, LONGEST = 120 };

#ifdef FUZZ_RANKS
#define WATCHES 0
#else
#define WATCHES 1
#endif

typedef struct {
  int64_t id;
  int64_t context;
} object;
typedef struct {
  unsigned char *at;
  size_t bytes;
} result;

/* Lock of the table of objects, which the threads share. */
static pthread_mutex_t objects = PTHREAD_MUTEX_INITIALIZER;
static object living[KINDS][ROOM];
static int alive[KINDS];
static int64_t stale[STALE];
static int stale_count;

static uint64_t seed;
static long episode, episodes, calls, seconds, faults;
static FILE *say;
static const char *folder;
static int threads = 1, gpu;

static __thread int thread;
static __thread uint64_t state;
static __thread long all, fine;
/* The state of each thread, which another thread watches. */
static struct {
  const char *name;
  long call;
  volatile double busy;
  volatile time_t since;
} doing[MAX_THREADS];

/* State of the call that a thread makes. */
static __thread int must_fail, callbacks_left, spinor_rhs, layout_arrays;
static __thread int64_t context_of_call;
static __thread result outs[OUTS];
static __thread int out_count, arrays_used;
static __thread unsigned char *arrays[8], *output, before[OUTS][SMALL];
static unsigned char *input;
static __thread struct {
  int kind;
  int64_t id;
  double sums[64];
  int count;
} watched[8];
static __thread int watched_count;

static void fault(const char *what, long detail) {
  __atomic_add_fetch(&faults, 1, __ATOMIC_SEQ_CST);
  fprintf(say, "FAULT %s (%ld): seed %llu episode %ld call %ld %s: %s\n", what, detail,
          (unsigned long long)seed, episode, doing[thread].call, doing[thread].name, plaq_last_error());
  fflush(say);
}

void engine_fault(const char *what) { fault(what, 0); }

static void signalled(int number) {
  char line[300];
  int n = snprintf(line, sizeof line, "FAULT signal %d: seed %llu episode %ld call %ld %s\n", number,
                   (unsigned long long)seed, episode, doing[thread].call, doing[thread].name);
  if (write(fileno(say), line, (size_t)n) != n) _exit(98);
  _exit(1);
}

/* Seconds of processor time that this process has used. */
static double busy(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Ends the program if a call takes too long. Beside other work a call takes longer, so its own processor time counts,
 * or a wait during which the process uses none. */
static void *watch(void *nothing) {
  int i;
  (void)nothing;
  for (;;) {
    usleep(500000);
    for (i = 0; i < MAX_THREADS; i++) {
      time_t since = doing[i].since;
      if (since && (busy() - doing[i].busy > LONGEST * threads || time(NULL) - since > 10 * LONGEST)) {
        thread = i;
        fault("a call that does not end", LONGEST);
        _exit(1);
      }
    }
  }
  return NULL;
}

uint64_t draw(void) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
int below(int n) { return (int)(draw() % (uint64_t)n); }
int percent(int p) { return below(100) < p; }

/* Memory that ends at a page that nobody may touch. */
static unsigned char *guarded(size_t bytes) {
  unsigned char *p = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || mprotect(p + bytes, 4096, PROT_NONE) != 0) exit(97);
  return p;
}

/* Sums by which a change of a field is noticed. */
static int sums(int kind, int64_t id, double *values) {
  if (kind == kind_spinor) {
    plaq_spinor_report r;
    plaq_spinor x = {id};
    if (plaq_spinor_report_init(&r, sizeof r) || plaq_spinor_describe(x, &r) || r.nrhs > 64) return 0;
    return plaq_spinor_norm2(x, values, r.nrhs) ? 0 : r.nrhs;
  }
  if (kind == kind_gauge) {
    plaq_gauge g = {id};
    return plaq_gauge_plaquette(g, (plaq_plaquette *)(void *)values) ? 0 : 3;
  }
  return 0;
}

static object *find(int kind, int64_t id) {
  int i;
  for (i = 0; i < alive[kind]; i++)
    if (living[kind][i].id == id) return &living[kind][i];
  return NULL;
}

/* A number that is not the handle of a living object of this kind. */
static int64_t wrong_handle(int kind) {
  int other;
  must_fail = 1;
  switch (below(4)) {
    case 0: return 0;
    case 1: return (int64_t)draw();
    case 2: return stale_count ? stale[below(stale_count)] : -1;
  }
  other = below(kind_count);
  return other != kind && alive[other] ? living[other][below(alive[other])].id : 0;
}

int64_t handle(int kind) {
  object one, *o = &one;
  int wrong = percent(4);
  pthread_mutex_lock(&objects);
  wrong = wrong || alive[kind] == 0;
  if (wrong)
    one.id = wrong_handle(kind);
  else
    one = living[kind][below(alive[kind])];
  pthread_mutex_unlock(&objects);
  if (wrong) return one.id;
  if (kind == kind_spinor) {
    plaq_spinor_report r;
    plaq_spinor x = {o->id};
    if (!plaq_spinor_report_init(&r, sizeof r) && !plaq_spinor_describe(x, &r)) spinor_rhs = r.nrhs;
  }
  context_of_call = kind == kind_context ? o->id : o->context;
  /* Changes by other threads are no fault of this call, and ranks would have to look at fields together. */
  if (WATCHES && threads == 1 && watched_count < 8 && percent(10)) {
    watched[watched_count].kind = kind, watched[watched_count].id = o->id;
    watched[watched_count].count = sums(kind, o->id, watched[watched_count].sums);
    watched_count++;
  }
  return o->id;
}

int64_t handle_or_none(int kind) {
  int before = must_fail;
  int64_t id;
  if (percent(50)) return 0;
  id = handle(kind);
  /* Here no handle at all is a right argument. */
  if (id == 0) must_fail = before;
  return id;
}

int64_t handle_to_destroy(int kind) {
  int64_t id;
  /* Contexts live long enough for several of their objects to be used together. */
  if (kind == kind_context && !percent(5)) return 0;
  if (percent(60)) return 0;
  id = handle(kind);
  if (id == 0) must_fail = 0;
  return id;
}

static int says(const char *text, const char *word) { return strstr(text, word) != NULL; }

int64_t integer(const char *what) {
  static const int64_t odd[] = {INT32_MIN, INT32_MAX, -1, 65536, 1 << 20, 1000, 4097, 255, INT64_MIN, INT64_MAX};
  static const char *const work[] = {"iterations", "sweeps", "overrelax", "copies", "steps", "every", "nkrylov", "columns",
                                     "levels", "smear", "number", "width", "max_", "stop", "refinements", "passes",
                                     "degree", "modes", "microcanonical"};
  size_t i;
  if (says(what, "struct_size")) return percent(70) ? 16 + 8 * below(64) : percent(50) ? below(5000) : odd[below(10)];
  if (!strcmp(what, "capacity")) return percent(90) ? below(3000) : -below(3);
  if (!strcmp(what, "count")) return percent(80) ? spinor_rhs : below(12) - 1;
  if (!strcmp(what, "nrhs")) return percent(90) ? 1 + below(12) : below(30) - 2;
  /* Numbers of entries of the host's arrays: as many as they hold, or an impossible number. */
  if (!strcmp(what, "pairs") || !strcmp(what, "nmomenta")) return percent(90) ? 1 + below(6) : percent(50) ? -below(3) : INT64_MAX;
  if (!strcmp(what, "times")) return percent(70) ? 4 : below(9);
  if (!strcmp(what, "threads")) return 1 + below(2);
  if (!strcmp(what, "memory_limit")) return percent(70) ? 0 : (int64_t)below(4) << (10 + below(14));
  if (!strcmp(what, "site_bytes")) return percent(50) ? 1000 : below(3000);
  if (!strcmp(what, "arrays")) return percent(70) ? 0 : below(13);
  /* With larger numbers the host would ask for work without end. */
  if (!strcmp(what, "pre") || !strcmp(what, "post")) return percent(90) ? below(12) : -below(3);
  for (i = 0; i < sizeof work / sizeof *work; i++)
    if (says(what, work[i])) return percent(90) ? 1 + below(12) : -below(3);
  if (percent(5)) return odd[below(10)];
  return percent(80) ? below(5) : below(60) - 10;
}

/* How many entries of an array a call takes: at most as many as the engine's arrays hold, or what cannot be. */
int64_t entries_of_array(const char *what) {
  int64_t n = integer(what);
  return n > 60 && n <= 1 << 20 && strcmp(what, "capacity") ? 1 + below(6) : n;
}

double real(const char *what) {
  static const double odd[] = {0, -0.0, 1, -1, 1e-300, 1e300, 1e-8, 0.5, 2, 1e-3};
  if (percent(3)) return percent(50) ? NAN : percent(50) ? INFINITY : -INFINITY;
  if (says(what, "kappa") && percent(80)) return 0.1;
  if (says(what, "tol") && percent(60)) return 1e-4;
  /* Eigensolvers could search for longer than a call may take. */
  if (says(what, "max_seconds") && percent(97)) return 0.1 * (1 + below(40));
  if (percent(30)) return odd[below(10)];
  return (double)(int64_t)(draw() >> 11) / 4503599627370496.0 - (percent(50) ? 1 : 0);
}

int32_t choice(const int32_t *values, int count) {
  return percent(95) ? values[below(count)] : (int32_t)integer("choice");
}

void extents(int32_t *four) {
  static const int32_t some[] = {4, 4, 2, 6, 8, 3, 0, -4};
  int i;
  int plain = percent(75);
  for (i = 0; i < 4; i++) four[i] = plain ? 4 : some[below(8)];
}

void four_integers(const char *what, int32_t *four) {
  int i;
  if (says(what, "extents")) {
    extents(four);
    return;
  }
  for (i = 0; i < 4; i++) four[i] = says(what, "grid") ? below(2) : (int32_t)integer(what);
}

void *out(size_t bytes, int may_be_null) {
  static __thread unsigned char *small[OUTS];
  unsigned char *p;
  if (percent(3)) {
    if (!may_be_null) must_fail = 1;
    return NULL;
  }
  if (bytes > SMALL || out_count == OUTS) exit(96);
  if (!small[out_count]) small[out_count] = guarded(SMALL);
  p = small[out_count] + SMALL - bytes;
  memset(p, 0xa5, bytes);
  outs[out_count].at = p, outs[out_count].bytes = bytes;
  out_count++;
  return p;
}

/* The size of the matrices of the largest lattice's momenta. */
void *out_array(int may_be_null) {
  unsigned char **a;
  if (percent(may_be_null ? 30 : 3)) {
    if (!may_be_null) must_fail = 1;
    return NULL;
  }
  if (arrays_used == 8) exit(95);
  a = &arrays[arrays_used++];
  if (!*a) {
    *a = guarded(ARRAY);
    memset(*a, 0xa5, ARRAY);
  }
  return *a;
}

/* Memory of the first GPU, in the context that libraries share. */
static unsigned char *device_memory(size_t bytes) {
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL;
  int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*push)(void *), (*pop)(void **);
  int (*alloc)(unsigned long long *, size_t), device = 0;
  unsigned long long at = 0;
  if (!cuda) return NULL;
#define CUDA(f, symbol) memcpy(&f, (void *[]){dlsym(cuda, symbol)}, sizeof f)
  CUDA(init, "cuInit"), CUDA(get, "cuDeviceGet"), CUDA(retain, "cuDevicePrimaryCtxRetain");
  CUDA(push, "cuCtxPushCurrent_v2"), CUDA(pop, "cuCtxPopCurrent_v2"), CUDA(alloc, "cuMemAlloc_v2");
  if (!init || !get || !retain || !push || !pop || !alloc) return NULL;
  if (init(0) || get(&device, 0) || retain(&context, device) || push(context)) return NULL;
  if (alloc(&at, bytes)) at = 0;
  pop(&context);
  return (unsigned char *)(uintptr_t)at;
}

/* This also holds the addresses of as many arrays as a layout may ask for. */
static void fill(unsigned char *memory, int zeros) {
  unsigned char *list[4096];
  double *numbers = (double *)(void *)(memory + sizeof list);
  size_t i;
  for (i = 0; i < 4096; i++) list[i] = memory;
  memcpy(memory, list, sizeof list);
  for (i = 0; i < (DATA - sizeof list) / sizeof *numbers; i++)
    numbers[i] = zeros ? 0 : (double)(int64_t)(draw() >> 12) / 4503599627370496.0 - 0.5;
}

/* A context on the CPU has no driver that could tell where an address belongs. */
static int asks_the_driver(void) {
  plaq_context c = {context_of_call};
  plaq_context_report r;
  return !plaq_context_report_init(&r, sizeof r) && !plaq_context_describe(c, &r) && r.device == PLAQ_DEVICE_CUDA;
}

/* Places where an array of the host may lie: with a GPU also on the device, even short of its end, whatever location
 * the layout names; but not behind the end of memory, where nobody can tell that an address was the device's. Lists of
 * arrays always lie on the host. */
static unsigned char *place(unsigned char *host) {
  static unsigned char *device;
  if (!gpu || layout_arrays || percent(50) || !asks_the_driver()) return host;
  if (!device && !(device = device_memory(DATA))) {
    fault("no memory on the device", 0);
    return host;
  }
  return device + (percent(70) ? 0 : DATA - 4096);
}

void layout_of_call(int32_t list) { layout_arrays = list > 0; }

void *data_in(void) {
  if (percent(3)) {
    must_fail = 1;
    return NULL;
  }
  return place(input);
}

void *data_out(void) {
  size_t i;
  if (percent(3)) {
    must_fail = 1;
    return NULL;
  }
  for (i = 0; i < 4096; i++) memcpy(output + i * sizeof output, &output, sizeof output);
  return place(output);
}

/* As many numbers as momenta of the largest lattice have. */
const double *numbers_in(void) {
  static __thread double *numbers;
  int i;
  if (!numbers) numbers = (double *)(void *)guarded(DATA / 8);
  if (percent(3)) {
    must_fail = 1;
    return NULL;
  }
  for (i = 0; i < 128; i++) numbers[i] = percent(50) ? 1e-4 : real("");
  return numbers;
}

const int32_t *integers_in(const char *what) {
  static __thread int32_t numbers[8192];
  int i;
  if (percent(3)) {
    must_fail = 1;
    return NULL;
  }
  for (i = 0; i < 128; i++) numbers[i] = percent(80) ? below(16) : (int32_t)integer(what);
  return numbers;
}

const char *path(void) {
  static __thread char file[600];
  if (percent(3)) {
    must_fail = 1;
    return NULL;
  }
  switch (below(12)) {
    case 0: return "";
    case 1: return "/nonexistent/file";
    case 2: return folder;
    case 3: return "/dev/null";
    case 4: snprintf(file, sizeof file, "%s/\xff\xfe", folder); break;
    default: snprintf(file, sizeof file, "%s/f%d", folder, below(4));
  }
  return file;
}

char *text_out(void) { return out_array(0); }

static int answer;
void *user(void) { return &answer; }

int32_t called(void) {
  plaq_context c = {context_of_call};
  plaq_context_report r;
  /* A callback may read objects of the host. */
  if (plaq_context_report_init(&r, sizeof r) == 0) plaq_context_describe(c, &r);
  return --callbacks_left < 0;
}

void made(int kind, int64_t id) {
  object *o;
  if (id == 0) fault("success without an object", kind);
  pthread_mutex_lock(&objects);
  if (alive[kind] == ROOM) {
    /* The oldest object is forgotten; it is destroyed with its context. */
    memmove(living[kind], living[kind] + 1, (ROOM - 1) * sizeof **living);
    alive[kind]--;
  }
  o = &living[kind][alive[kind]++];
  o->id = id, o->context = kind == kind_context ? id : context_of_call;
  pthread_mutex_unlock(&objects);
}

static void bury(int64_t id) {
  if (stale_count < STALE)
    stale[stale_count++] = id;
  else
    stale[below(STALE)] = id;
}

static void forget(int kind, int64_t id) {
  object *o = find(kind, id);
  int k, i, kept;
  if (!o) return;
  bury(id);
  *o = living[kind][--alive[kind]];
  if (kind != kind_context) return;
  for (k = 0; k < kind_count; k++) {
    for (i = kept = 0; i < alive[k]; i++) {
      if (living[k][i].context == id)
        bury(living[k][i].id);
      else
        living[k][kept++] = living[k][i];
    }
    alive[k] = kept;
  }
}

void destroyed(int kind, int64_t id) {
  pthread_mutex_lock(&objects);
  forget(kind, id);
  pthread_mutex_unlock(&objects);
}

void text(const char *found) {
  if (!found || strlen(found) > 100000) fault("a text that is none", 0);
}

static void check(int32_t status) {
  int i, j;
  const char *word = plaq_status_name(status);
  if (!strcmp(word, "unknown status")) fault("a status that is none", status);
  if (status == PLAQ_INTERNAL) fault("an internal error", status);
  if (status == PLAQ_DEVICE_LOST) fault("a lost device", status);
  if (status == PLAQ_SUCCESS && must_fail) fault("success with wrong arguments", status);
  for (i = 0; i < out_count; i++)
    if (status && memcmp(before[i], outs[i].at, outs[i].bytes)) fault("a result of a call that failed", i);
  for (i = 0; i < arrays_used; i++) {
    if (status == PLAQ_SUCCESS) {
      memset(arrays[i], 0xa5, ARRAY);
    } else if (arrays[i][0] != 0xa5 || memcmp(arrays[i], arrays[i] + 1, ARRAY - 1)) {
      fault("an array of a call that failed", i);
      memset(arrays[i], 0xa5, ARRAY);
    }
  }
  for (i = 0; i < watched_count && status > 0 && status != PLAQ_SOLVER_BREAKDOWN; i++) {
    double now[64];
    int count = sums(watched[i].kind, watched[i].id, now);
    for (j = 0; j < count && count == watched[i].count; j++)
      if (memcmp(&now[j], &watched[i].sums[j], 8)) {
        fault("a field changed by a call that was refused", status);
        break;
      }
  }
}

/* Draws the next function: any one, but at the beginning of an episode mostly one that makes an object. */
static int choose_entry(void) {
  int n = below(entry_count), k;
  if (doing[thread].call >= 60 || !percent(50)) return n;
  for (k = 0; k < entry_count; k++)
    if (makes_objects(entries[k].name) && percent(15)) return k;
  return n;
}

static int32_t make_call(int n) {
  int32_t status;
  must_fail = out_count = arrays_used = watched_count = layout_arrays = 0;
  callbacks_left = below(20), spinor_rhs = 1, context_of_call = 0;
  doing[thread].name = entries[n].name;
  doing[thread].busy = busy();
  doing[thread].since = time(NULL);
  status = entries[n].call();
  doing[thread].since = 0;
  all++, fine += status == 0;
  return status;
}

#ifndef FUZZ_RANKS
static void begin_ranks(void) {}
static int end_ranks(int bad) { return bad; }
static int go_on(int yes) { return yes; }
static void before_episode(void) {}
static int one_call(void) {
  check(make_call(choose_entry()));
  return 1;
}
#else
#include "ranks.h"
#endif

static void end_contexts(void) {
  while (kind_count && alive[kind_context]) {
    plaq_context c = {living[kind_context][0].id};
    if (plaq_context_destroy(c)) fault("a context that cannot be destroyed", 0);
    destroyed(kind_context, c.id);
  }
}

static pthread_barrier_t gate;
static int going;
static long all_calls, all_fine;

/* Runs episodes with all threads side by side; the first thread begins and ends them. */
static void *work(void *number) {
  const time_t begin = time(NULL);
  const long end = episode + episodes;
  thread = (int)(intptr_t)number;
  output = guarded(DATA);
  for (;;) {
    if (thread == 0) {
      end_contexts();
      going = go_on(episode < end && time(NULL) - begin < seconds);
      if (going) before_episode();
    }
    pthread_barrier_wait(&gate);
    if (!going) break;
    state = (seed * 1000003u + (uint64_t)episode) * 31u + (uint64_t)thread;
    for (doing[thread].call = 0; doing[thread].call < calls; doing[thread].call++)
      if (!one_call()) break;
    pthread_barrier_wait(&gate);
    if (thread == 0) episode++;
  }
  __atomic_add_fetch(&all_calls, all, __ATOMIC_SEQ_CST);
  __atomic_add_fetch(&all_fine, fine, __ATOMIC_SEQ_CST);
  return NULL;
}

int main(int argc, char **argv) {
  int i, captured;
  pthread_t watcher, others[MAX_THREADS];
  if (argc != 7 && argc != 8) return 2;
  seed = strtoull(argv[1], NULL, 10), episode = atol(argv[2]), episodes = atol(argv[3]);
  seconds = atol(argv[4]), calls = atol(argv[5]), folder = argv[6];
  if (argc > 7) threads = atoi(argv[7]);
  if (threads < 1 || threads > MAX_THREADS) return 2;
  gpu = getenv("PLAQ_TEST_DEVICE") && !strcmp(getenv("PLAQ_TEST_DEVICE"), "cuda");
  begin_ranks();
  say = fdopen(dup(1), "w");
  captured = memfd_create("output", 0);
  if (!say || captured < 0 || dup2(captured, 1) < 0 || dup2(captured, 2) < 0) return 2;
  {
    const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (i = 0; i < 5; i++) signal(signals[i], signalled);
  }
  begin_calls();
  pthread_create(&watcher, NULL, watch, NULL);
  pthread_barrier_init(&gate, NULL, (unsigned)threads);
  state = seed;
  input = guarded(DATA);
  fill(input, 0);
  for (i = 1; i < threads; i++)
    if (pthread_create(&others[i], NULL, work, (void *)(intptr_t)i)) return 2;
  work(NULL);
  for (i = 1; i < threads; i++) pthread_join(others[i], NULL);
  if (lseek(captured, 0, SEEK_END) > 0) {
    char said[200] = "";
    if (pread(captured, said, sizeof said - 1, 0) < 0) return 2;
    fprintf(say, "FAULT output: %s\n", said);
    faults++;
  }
  fprintf(say, "%ld calls, %ld of them succeeded, %ld faults\n", all_calls, all_fine, faults);
  fflush(say);
  i = end_ranks(faults > 0);
  /* Most calls have some wrong argument, but enough of them must succeed, or nothing was tested. */
  return i || all_fine * 20 < all_calls;
}

/* A call may use only the first few handles of an array, and members of a struct up to its size. */
void partly_used(void) { must_fail = 0; }

void engine_remember(void) {
  int i;
  for (i = 0; i < out_count; i++) memcpy(before[i], outs[i].at, outs[i].bytes);
}
