/* Little memory, many objects, and fork, which sanitizers would change. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static plaq_context context(int threads) {
  plaq_context_params p;
  plaq_context c;
  OK(plaq_context_params_init(&p, sizeof p));
  p.device = PLAQ_DEVICE_CPU;
  p.threads = threads;
  OK(plaq_context_create(&p, &c));
  return c;
}

static plaq_gauge links(plaq_context c, int extent) {
  plaq_gauge_params p;
  plaq_gauge g;
  int i;
  OK(plaq_gauge_params_init(&p, sizeof p));
  for (i = 0; i < 4; i++) p.extents[i] = extent;
  OK(plaq_gauge_create(c, &p, &g));
  OK(plaq_gauge_warm(g, 7, 0.3));
  return g;
}

static long address_space(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file && fscanf(file, "%ld", &pages) == 1 && fclose(file) == 0);
  return pages * sysconf(_SC_PAGESIZE);
}

static void limit(long more) {
  struct rlimit r;
  CHECK(getrlimit(RLIMIT_AS, &r) == 0);
  r.rlim_cur = more < 0 ? r.rlim_max : (rlim_t)(address_space() + more);
  CHECK(setrlimit(RLIMIT_AS, &r) == 0);
}

/* When the host's memory is used up, calls return a status, and work again when there is enough. */
static void little_memory(void) {
  plaq_context c = context(1);
  plaq_gauge g = links(c, 16), h;
  plaq_gaugefix f = {0};
  plaq_gaugefix_params fp;
  plaq_gauge_write_params wp;
  double *matrices = malloc(18 * 65536 * sizeof(double));
  int what, format[] = {PLAQ_FILE_FORMAT_ILDG, PLAQ_FILE_FORMAT_OPENQCD, PLAQ_FILE_FORMAT_DDALPHAAMG};
  CHECK(matrices != NULL);
  OK(plaq_gaugefix_params_init(&fp, sizeof fp));
  OK(plaq_gauge_write_params_init(&wp, sizeof wp));
  fp.max_iterations = 2;
  for (what = 0; what < 8; what++) {
    int status = 1, refused = 0;
    long mib;
    for (mib = 4; mib < 400 && status; mib += 8) {
      limit(mib << 20);
      wp.format = format[what % 3];
      if (what < 3)
        status = plaq_gauge_write(g, "limited", &wp);
      else if (what < 6)
        status = plaq_gauge_read(c, "limited", NULL, &h, NULL);
      else if (what == 6)
        status = plaq_gauge_fix(g, &fp, NULL, NULL, NULL, &f);
      else
        status = plaq_gaugefix_transformation(f, matrices);
      limit(-1);
      CHECK(status == PLAQ_SUCCESS || status == PLAQ_OUT_OF_MEMORY);
      refused += status != 0;
    }
    /* The last call finds memory that the call before has freed. */
    CHECK(status == PLAQ_SUCCESS && (refused > 0 || what == 7));
    if (what >= 2 && what < 5) {
      wp.format = format[(what + 1) % 3];
      OK(plaq_gauge_write(g, "limited", &wp));
    }
    if (what >= 3 && what < 6) OK(plaq_gauge_destroy(h));
  }
  free(matrices);
  CHECK(remove("limited") == 0);
  OK(plaq_context_destroy(c));
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Making the last objects takes no longer than making the first. */
static void many_objects(void) {
  enum { ALL = 60000, PART = 5000 };
  static plaq_spinor x[ALL];
  plaq_context c = context(1);
  plaq_spinor_params p;
  double first = 0, last = 0, start = 0;
  int i;
  OK(plaq_spinor_params_init(&p, sizeof p));
  for (i = 0; i < 4; i++) p.extents[i] = 2;
  for (i = 0; i < ALL; i++) {
    if (i % PART == 0) start = now();
    OK(plaq_spinor_create(c, &p, &x[i]));
    if (i == PART - 1) first = now() - start;
    if (i == ALL - 1) last = now() - start;
  }
  CHECK(last < 4 * first + 0.1);
  for (i = 0; i < ALL; i += 3) OK(plaq_spinor_destroy(x[i]));
  for (i = 0; i < ALL; i += 3) {
    OK(plaq_spinor_create(c, &p, &x[i]));
    EXPECT(PLAQ_SUCCESS, plaq_spinor_noise(x[i], PLAQ_NOISE_NORMAL, 1, 0));
  }
  OK(plaq_context_destroy(c));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_spinor_noise(x[1], PLAQ_NOISE_NORMAL, 1, 0));
}

/* After fork a child has the memory of its parent's context but none of its threads. */
static void after_fork(void) {
  plaq_context c = context(2), one = context(1);
  plaq_gauge g = links(c, 8), h = links(one, 8);
  plaq_plaquette p;
  int ended;
  pid_t child;
  OK(plaq_gauge_plaquette(g, &p));
  child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    plaq_context own;
    alarm(60);
    REFUSED(PLAQ_DEVICE_LOST, "was forked", plaq_gauge_plaquette(g, &p));
    OK(plaq_gauge_plaquette(h, &p));
    own = context(2);
    g = links(own, 8);
    OK(plaq_gauge_plaquette(g, &p));
    OK(plaq_context_destroy(own));
    OK(plaq_context_destroy(c));
    _exit(0);
  }
  CHECK(waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
  OK(plaq_gauge_plaquette(g, &p));
  OK(plaq_context_destroy(c));
  OK(plaq_context_destroy(one));
}

int main(void) {
  /* This test comes first, since otherwise memory that was freed before would be used again. */
  little_memory();
  many_objects();
  after_fork();
  return 0;
}
