/* Random calls of every function of plaq.h, reproducible from the seed:
 *
 *   fuzz SEED FIRST_EPISODE SECONDS CALLS FOLDER
 *
 * An episode is CALLS calls on contexts of its own. Faults are: signals, calls that do not end, output,
 * statuses that are not in the table, PLAQ_INTERNAL, results written by a call that failed, fields changed
 * by a call that was refused, writes behind the end of the host's arrays, and success with a handle that
 * is no object. Each is a line on the standard output; the exit code is 1 then. */
#include "engine.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 24, KINDS = 64, SMALL = 8192, ARRAY = 1 << 20, DATA = 32 << 20, OUTS = 16, STALE = 64, LONGEST = 60 };

typedef struct {
  int64_t id;
  int64_t context;
} object;
typedef struct {
  unsigned char *at;
  size_t bytes;
} result;

static object living[KINDS][ROOM];
static int alive[KINDS];
static int64_t stale[STALE];
static int stale_count;

static uint64_t state, seed;
static long episode, call_number;
static const char *name = "";
static volatile time_t started;
static FILE *say;
static const char *folder;
static long faults;

/* Of the call that is made. */
static int must_fail, callbacks_left, spinor_rhs;
static int64_t context_of_call;
static result outs[OUTS];
static int out_count, arrays_used;
static unsigned char *arrays[4], *input, *output, before[OUTS][SMALL];
static struct {
  int kind;
  int64_t id;
  double sums[64];
  int count;
} watched[8];
static int watched_count;

static void fault(const char *what, long detail) {
  faults++;
  fprintf(say, "FAULT %s (%ld): seed %llu episode %ld call %ld %s: %s\n", what, detail,
          (unsigned long long)seed, episode, call_number, name, plaq_last_error());
  fflush(say);
}

static void signalled(int number) {
  char line[300];
  int n = snprintf(line, sizeof line, "FAULT signal %d: seed %llu episode %ld call %ld %s\n", number,
                   (unsigned long long)seed, episode, call_number, name);
  if (write(fileno(say), line, (size_t)n) != n) _exit(98);
  _exit(1);
}

static void *watch(void *nothing) {
  (void)nothing;
  for (;;) {
    usleep(500000);
    if (started && time(NULL) - started > LONGEST) {
      fault("a call that does not end", LONGEST);
      _exit(1);
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

/* Ends at a page that nobody may touch. */
static unsigned char *guarded(size_t bytes) {
  unsigned char *p = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || mprotect(p + bytes, 4096, PROT_NONE) != 0) exit(97);
  return p;
}

/* Sums that tell whether a field has changed. */
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

int64_t handle(int kind) {
  object *o;
  if (alive[kind] == 0 || percent(4)) {
    must_fail = 1;
    switch (below(4)) {
      case 0: return 0;
      case 1: return (int64_t)draw();
      case 2:
        if (stale_count) return stale[below(stale_count)];
        return -1;
      default: {
        int other = below(kind_count);
        if (other != kind && alive[other]) return living[other][below(alive[other])].id;
        return 0;
      }
    }
  }
  o = &living[kind][below(alive[kind])];
  if (kind == kind_spinor) {
    plaq_spinor_report r;
    plaq_spinor x = {o->id};
    if (!plaq_spinor_report_init(&r, sizeof r) && !plaq_spinor_describe(x, &r)) spinor_rhs = r.nrhs;
  }
  context_of_call = kind == kind_context ? o->id : o->context;
  if (watched_count < 8 && percent(10)) {
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
  /* None is not wrong here. */
  if (id == 0) must_fail = before;
  return id;
}

int64_t handle_to_destroy(int kind) {
  int64_t id;
  /* Contexts live long enough for their objects to meet. */
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
                                     "levels", "smear", "number", "width", "max_", "stop"};
  size_t i;
  if (says(what, "struct_size")) return percent(70) ? 16 + 8 * below(64) : percent(50) ? below(5000) : odd[below(10)];
  if (!strcmp(what, "capacity")) return percent(90) ? below(3000) : -below(3);
  if (!strcmp(what, "count")) return percent(80) ? spinor_rhs : below(12) - 1;
  if (!strcmp(what, "nrhs")) return percent(90) ? 1 + below(12) : below(30) - 2;
  if (!strcmp(what, "threads")) return 1 + below(2);
  if (!strcmp(what, "memory_limit")) return percent(70) ? 0 : (int64_t)below(4) << (10 + below(14));
  if (!strcmp(what, "site_bytes")) return percent(50) ? 1000 : below(3000);
  if (!strcmp(what, "arrays")) return percent(70) ? 0 : below(13);
  for (i = 0; i < sizeof work / sizeof *work; i++)
    if (says(what, work[i])) return percent(90) ? 1 + below(12) : -below(3);
  if (percent(5)) return odd[below(10)];
  return percent(80) ? below(5) : below(60) - 10;
}

double real(const char *what) {
  static const double odd[] = {0, -0.0, 1, -1, 1e-300, 1e300, 1e-8, 0.5, 2, 1e-3};
  if (percent(3)) return percent(50) ? NAN : percent(50) ? INFINITY : -INFINITY;
  if (says(what, "kappa") && percent(80)) return 0.1;
  if (says(what, "tol") && percent(60)) return 1e-4;
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
  static unsigned char *small[OUTS];
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

void *out_array(int may_be_null) {
  unsigned char **a;
  if (percent(may_be_null ? 30 : 3)) {
    if (!may_be_null) must_fail = 1;
    return NULL;
  }
  if (arrays_used == 4) exit(95);
  a = &arrays[arrays_used++];
  if (!*a) {
    *a = guarded(ARRAY);
    memset(*a, 0xa5, ARRAY);
  }
  return *a;
}

/* Also the addresses of as many arrays as a layout may ask for. */
static void fill(unsigned char *memory, int zeros) {
  unsigned char *list[4096];
  double *numbers = (double *)(void *)(memory + sizeof list);
  size_t i;
  for (i = 0; i < 4096; i++) list[i] = memory;
  memcpy(memory, list, sizeof list);
  for (i = 0; i < (DATA - sizeof list) / sizeof *numbers; i++)
    numbers[i] = zeros ? 0 : (double)(int64_t)(draw() >> 12) / 4503599627370496.0 - 0.5;
}

void *data_in(void) {
  if (percent(3)) {
    must_fail = 1;
    return NULL;
  }
  return input;
}

void *data_out(void) {
  size_t i;
  if (percent(3)) {
    must_fail = 1;
    return NULL;
  }
  for (i = 0; i < 4096; i++) memcpy(output + i * sizeof output, &output, sizeof output);
  return output;
}

const double *numbers_in(void) {
  static double numbers[8192];
  int i;
  if (percent(3)) {
    must_fail = 1;
    return NULL;
  }
  for (i = 0; i < 128; i++) numbers[i] = percent(50) ? 1e-4 : real("");
  return numbers;
}

const char *path(void) {
  static char file[600];
  if (percent(3)) {
    must_fail = 1;
    return NULL;
  }
  switch (below(12)) {
    case 0: return "";
    case 1: return "/nonexistent/file";
    case 2: return folder;
    case 3: return "/dev/null";
    case 4: return "\xff\xfe";
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
  /* A host may look at its objects from a callback. */
  if (plaq_context_report_init(&r, sizeof r) == 0) plaq_context_describe(c, &r);
  return --callbacks_left < 0;
}

void made(int kind, int64_t id) {
  object *o;
  if (id == 0) fault("success without an object", kind);
  if (alive[kind] == ROOM) {
    /* The oldest is forgotten; it dies with its context. */
    memmove(living[kind], living[kind] + 1, (ROOM - 1) * sizeof **living);
    alive[kind]--;
  }
  o = &living[kind][alive[kind]++];
  o->id = id, o->context = kind == kind_context ? id : context_of_call;
}

static void bury(int64_t id) {
  if (stale_count < STALE)
    stale[stale_count++] = id;
  else
    stale[below(STALE)] = id;
}

void destroyed(int kind, int64_t id) {
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

void text(const char *found) {
  if (!found || strlen(found) > 100000) fault("a text that is none", 0);
}

static void check(int32_t status) {
  int i, j;
  const char *word = plaq_status_name(status);
  if (!strcmp(word, "unknown status")) fault("a status that is none", status);
  if (status == PLAQ_INTERNAL) fault("an internal error", status);
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

int main(int argc, char **argv) {
  time_t begin = time(NULL);
  long seconds, calls, all = 0, fine = 0;
  int i, captured;
  pthread_t watcher;
  if (argc != 6) return 2;
  seed = strtoull(argv[1], NULL, 10), episode = atol(argv[2]), seconds = atol(argv[3]), calls = atol(argv[4]);
  folder = argv[5];
  say = fdopen(dup(1), "w");
  captured = memfd_create("output", 0);
  if (!say || captured < 0 || dup2(captured, 1) < 0 || dup2(captured, 2) < 0) return 2;
  {
    const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (i = 0; i < 5; i++) signal(signals[i], signalled);
  }
  pthread_create(&watcher, NULL, watch, NULL);
  state = seed;
  input = guarded(DATA), output = guarded(DATA);
  fill(input, 0);
  for (; time(NULL) - begin < seconds; episode++) {
    state = seed * 1000003u + (uint64_t)episode;
    for (call_number = 0; call_number < calls; call_number++) {
      int n = below(entry_count);
      int32_t status;
      if (call_number < 60 && percent(50))
        for (n = 0; n < entry_count - 1; n++)
          if (says(entries[n].name, "_create") && percent(15)) break;
      must_fail = out_count = arrays_used = watched_count = 0;
      callbacks_left = below(20), spinor_rhs = 1, context_of_call = 0;
      name = entries[n].name;
      started = time(NULL);
      status = entries[n].call();
      started = 0;
      check(status);
      all++, fine += status == 0;
    }
    while (alive[kind_context]) {
      plaq_context c = {living[kind_context][0].id};
      if (plaq_context_destroy(c)) fault("a context that cannot be destroyed", 0);
      destroyed(kind_context, c.id);
    }
    if (lseek(captured, 0, SEEK_END) > 0) {
      fault("output", (long)lseek(captured, 0, SEEK_END));
      if (ftruncate(captured, 0) != 0 || lseek(captured, 0, SEEK_SET) != 0) return 2;
    }
  }
  fprintf(say, "%ld calls, %ld of them succeeded, %ld faults\n", all, fine, faults);
  fflush(say);
  /* Most calls have some wrong argument; if nearly all had, nothing was tested. */
  return faults || fine * 20 < all;
}

/* Of an array of handles a call may take the first few only. */
void partly_used(void) { must_fail = 0; }

void engine_remember(void) {
  int i;
  for (i = 0; i < out_count; i++) memcpy(before[i], outs[i].at, outs[i].bytes);
}
