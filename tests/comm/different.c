/* Two ranks or more that do not do the same: each case ends with the same statuses on all of them, and nobody ends the
 * job. The last rank is the one that deviates. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static int rank, last, me;
static const char *what;
static plaq_context c;

static int is(const char *name) { return !strcmp(what, name); }

static plaq_context_params context_params(void) {
  static MPI_Comm world;
  plaq_context_params p;
  world = MPI_COMM_WORLD;
  OK(plaq_context_params_init(&p, sizeof p));
  p.device = PLAQ_DEVICE_CPU;
  p.threads = 1;
  p.communicator_kind = PLAQ_COMMUNICATOR_C;
  p.communicator = &world;
  p.timeout = 30;
  return p;
}

/* Checks that all ranks have the same status, and messages with these words. */
static void all(int status, int expected, const char *words) {
  int least, most;
  MPI_Allreduce(&status, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&status, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (least != most || least != expected || (status && !strstr(plaq_last_error(), words))) {
    fprintf(stderr, "%s, rank %d: status %d of %d to %d, expected %d: %s\n", what, rank, status,
            least, most, expected, plaq_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

#define INPUT(beta)                                                                                        \
  "length = 1.0\nseed = 1\n[[monomial]]\nname = \"gauge\"\ntype = \"gauge\"\naction = \"wilson\"\n" \
  "beta = " beta "\n[[level]]\nintegrator = \"omelyan2\"\nsteps = 2\nmonomials = [\"gauge\"]\n"

static void parameters(void) {
  const char *words = "that rank 0 passed";
  plaq_gauge_params gp;
  plaq_spinor_params sp;
  plaq_dirac_params dp;
  plaq_solver_params vp;
  plaq_gauge_write_params wp;
  plaq_gauge g;
  plaq_spinor x, b;
  plaq_dirac d;
  plaq_solver s;
  plaq_hmc h;
  double v[8], a[4] = {0.5, 0, 0.25, 1}, shifts[2] = {0.1, 0.2}, tols[2] = {1e-6, 1e-6};
  const char *input = me && is("input") ? INPUT("5.8") : INPUT("5.7"), *file = me && is("file") ? "other.lime" : "different.lime";
  plaq_spinor all_x[2];
  int i, nrhs = 2;
  OK(plaq_gauge_params_init(&gp, sizeof gp));
  OK(plaq_spinor_params_init(&sp, sizeof sp));
  OK(plaq_dirac_params_init(&dp, sizeof dp));
  OK(plaq_solver_params_init(&vp, sizeof vp));
  OK(plaq_gauge_write_params_init(&wp, sizeof wp));
  for (i = 0; i < 4; i++) gp.extents[i] = sp.extents[i] = 4;
  sp.nrhs = nrhs, dp.kappa = 0.1, vp.tol = 1e-6;
  if (strstr("shifts tols", what)) vp.solution = PLAQ_SOLUTION_MDAGM;
  if (me) {
    if (is("extents")) gp.extents[3] = 8;
    if (is("links")) gp.precision = PLAQ_PRECISION_SINGLE;
    if (is("group")) gp.storage = PLAQ_STORAGE_SU2;
    if (is("nrhs")) sp.nrhs = 300;
    if (is("subset")) sp.subset = 1;
    if (is("precision")) sp.precision = PLAQ_PRECISION_SINGLE;
    if (is("kappa")) dp.kappa = 0.05;
    if (is("csw")) dp.csw = 1;
    if (is("tol")) vp.tol = 1e-3;
    if (is("solver")) vp.solver = PLAQ_SOLVER_BICGSTAB;
    if (is("iterations")) vp.max_iterations = 2;
    if (is("solution")) vp.solution = PLAQ_SOLUTION_MDAGM;
    if (is("sloppy")) vp.sloppy_precision = PLAQ_PRECISION_SINGLE;
    if (is("storage")) gp.storage = PLAQ_STORAGE_SU3_12;
    if (is("operator")) dp.precision = PLAQ_PRECISION_SINGLE;
    if (is("format")) wp.format = PLAQ_FILE_FORMAT_NERSC;
    if (is("label")) wp.ensemble_label = "other";
  }
#define STEP(call, names)                                  \
  if (strstr(names, what)) {                               \
    all(call, PLAQ_INVALID_ARGUMENT, words);               \
    OK(plaq_context_synchronize(c));                       \
    return;                                                \
  }                                                        \
  OK(call)
  STEP(plaq_gauge_create(c, &gp, &g), "extents links group storage");
  STEP(plaq_gauge_hot(g, me && is("seed") ? 5 : 6), "seed");
  STEP(plaq_spinor_create(c, &sp, &x), "nrhs subset precision");
  OK(plaq_spinor_create(c, &sp, &b));
  STEP(plaq_spinor_noise(me && is("object") ? x : b, PLAQ_NOISE_NORMAL, 1, 0), "object");
  STEP(plaq_spinor_norm2(b, v, me && is("count") ? nrhs - 1 : nrhs), "count");
  STEP(plaq_dirac_create(c, g, &dp, &d), "kappa csw operator");
  STEP(plaq_solver_create(d, &vp, &s), "tol solver iterations solution sloppy");
  OK(plaq_solver_solve(s, x, b, NULL, NULL, NULL, NULL));
  if (me && is("coefficients")) a[3] = 2;
  STEP(plaq_spinor_axpby(a, x, a, b, nrhs), "coefficients");
  if (me && is("shifts")) shifts[1] = 0.3;
  if (me && is("tols")) tols[0] = 1e-3;
  all_x[0] = x;
  OK(plaq_spinor_create(c, &sp, &all_x[1]));
  if (strstr("shifts tols", what)) {
    STEP(plaq_solver_multishift(s, all_x, shifts, tols, 2, b, NULL, NULL, NULL, NULL), "shifts tols");
  }
  STEP(plaq_hmc_create(g, input, &h), "input");
  STEP(plaq_gauge_write(g, file, &wp), "format label file");
  fprintf(stderr, "no case %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static plaq_gauge links(void) {
  plaq_gauge_params p;
  plaq_gauge g;
  int i;
  OK(plaq_gauge_params_init(&p, sizeof p));
  for (i = 0; i < 4; i++) p.extents[i] = 4;
  OK(plaq_gauge_create(c, &p, &g));
  OK(plaq_gauge_hot(g, 1));
  return g;
}

static plaq_spinor spinor(int nrhs) {
  plaq_spinor_params p;
  plaq_spinor x;
  int i;
  OK(plaq_spinor_params_init(&p, sizeof p));
  for (i = 0; i < 4; i++) p.extents[i] = 4;
  p.nrhs = nrhs;
  OK(plaq_spinor_create(c, &p, &x));
  return x;
}

/* A call with a stale handle on one rank fails on all ranks, which go on. */
static void stale(void) {
  plaq_gauge g = links();
  plaq_spinor x = spinor(12);
  plaq_plaquette p;
  double v[12];
  if (me) OK(plaq_gauge_destroy(g));
  all(plaq_gauge_plaquette(g, &p), PLAQ_INVALID_HANDLE, "destroyed");
  all(plaq_spinor_norm2(x, v, 12), PLAQ_SUCCESS, "");
}

/* If a rank leaves a call out, or makes it without a handle, its next call meets another call of the other ranks. */
static void calls(void) {
  plaq_gauge g = links(), none = {0};
  plaq_spinor x = spinor(1);
  plaq_plaquette p;
  double v[1];
  int status;
  if (me && is("zero")) EXPECT(PLAQ_INVALID_HANDLE, plaq_gauge_plaquette(none, &p));
  status = me ? plaq_spinor_norm2(x, v, 1) : plaq_gauge_plaquette(g, &p);
  all(status, PLAQ_COMM_FAILED, "not in the same call");
  EXPECT(PLAQ_COMM_FAILED, plaq_spinor_norm2(x, v, 1));
}

/* If making an object fails on one rank, no object is left on the others. */
static void leak(void) {
  plaq_context_report r;
  plaq_spinor_params p;
  plaq_spinor x;
  int i;
  OK(plaq_spinor_params_init(&p, sizeof p));
  OK(plaq_context_report_init(&r, sizeof r));
  for (i = 0; i < 4; i++) p.extents[i] = 8;
  for (i = 0; i < 20; i++) {
    all(plaq_spinor_create(c, &p, &x), PLAQ_OUT_OF_MEMORY, "needs");
    OK(plaq_context_describe(c, &r));
    CHECK(r.memory_used == 0);
  }
}

/* Contexts with different parameters on the ranks: none is made if all ranks know of the difference. */
static void contexts(void) {
  plaq_context_params p = context_params();
  plaq_context d;
  MPI_Comm own;
  int status;
  /* A communicator that one rank duplicates and another does not cannot be used any more. */
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  p.communicator = &own;
  p.timeout = 2;
  if (me) {
    if (is("grid")) p.grid[0] = last + 1, p.grid[1] = p.grid[2] = p.grid[3] = 1;
    if (is("sums")) p.reproducible = 1;
    if (is("device")) p.device = 77;
    if (is("alone")) p.communicator_kind = PLAQ_COMMUNICATOR_NONE;
    if (is("null")) p.communicator = NULL;
    if (is("patience")) p.timeout = 100;
    if (is("generic") || is("junk") || is("baseline")) setenv("PLAQ_CPU_ISA", what, 1);
  }
  if (is("late") && me) sleep(4);
  status = plaq_context_create(&p, &d);
  if (is("grid") || is("sums")) all(status, PLAQ_PROCESS_GRID, "");
  if (is("device")) all(status, PLAQ_INVALID_ARGUMENT, "device");
  if (is("junk")) all(status, PLAQ_UNSUPPORTED, "PLAQ_CPU_ISA=junk");
  if (is("generic")) all(status, PLAQ_UNSUPPORTED, "cpu generic");
  /* Libraries that are built for one machine have its best set of instructions alone. */
  const int absent = is("baseline") && status == PLAQ_UNSUPPORTED;
  if (absent) all(status, PLAQ_UNSUPPORTED, "this library on this processor has");
  if (is("patience") || (is("baseline") && !absent)) all(status, PLAQ_SUCCESS, "");
  unsetenv("PLAQ_CPU_ISA");
  if (is("null") || is("alone")) {
    /* One rank knows the error by itself, or needs no other; the others have waited. */
    CHECK(me ? status == (is("alone") ? PLAQ_SUCCESS : PLAQ_MPI_STATE) || status == PLAQ_NULL_POINTER
             : status == PLAQ_COMM_FAILED);
  }
  if (is("late")) CHECK(status == PLAQ_SUCCESS || status == PLAQ_COMM_FAILED);
  if (is("baseline") && !absent) {
    /* Kernels of different instruction sets give the same numbers to rounding. */
    plaq_context_destroy(c);
    c = d;
    plaq_gauge g = links();
    plaq_plaquette one, other;
    all(plaq_gauge_plaquette(g, &one), PLAQ_SUCCESS, "");
    OK(plaq_gauge_destroy(g));
    p = context_params();
    OK(plaq_context_create(&p, &c));
    g = links();
    OK(plaq_gauge_plaquette(g, &other));
    CHECK(fabs(one.total - other.total) < 1e-14);
  }
  if (status == PLAQ_SUCCESS) OK(plaq_context_destroy(d));
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A rank destroys its context alone: the next call of the others ends by its deadline, and new contexts work. */
static void alone(void) {
  plaq_gauge g = links();
  plaq_plaquette p;
  if (me) {
    OK(plaq_context_destroy(c));
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    EXPECT(PLAQ_COMM_FAILED, plaq_gauge_plaquette(g, &p));
    EXPECT(PLAQ_COMM_FAILED, plaq_gauge_plaquette(g, &p));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(plaq_context_destroy(c));
  }
}

/* Each rank may destroy objects when it likes. */
static void destruction(void) {
  plaq_gauge g = links();
  plaq_spinor x = spinor(1), b = spinor(2);
  double v[2];
  if (me) {
    OK(plaq_spinor_destroy(b));
    OK(plaq_gauge_destroy(g));
  } else {
    OK(plaq_gauge_destroy(g));
    OK(plaq_spinor_destroy(b));
  }
  all(plaq_spinor_norm2(x, v, 1), PLAQ_SUCCESS, "");
}

/* One rank does not find a file. */
static void files(void) {
  plaq_gauge g = links(), h;
  char here[4096];
  OK(plaq_gauge_write(g, "different.lime", NULL));
  all(plaq_gauge_read(c, me ? "nowhere/different.lime" : "different.lime", NULL, &h, NULL),
      PLAQ_INVALID_ARGUMENT, "that rank 0 passed");
  CHECK(getcwd(here, sizeof here) != NULL);
  if (me) CHECK(chdir("/") == 0);
  all(plaq_gauge_read(c, "different.lime", NULL, &h, NULL), PLAQ_FILE_OPEN, "different.lime");
  CHECK(chdir(here) == 0);
  all(plaq_gauge_read(c, "different.lime", NULL, &h, NULL), PLAQ_SUCCESS, "");
  /* If a file cannot be written on one rank, the existing file stays. */
  if (me) CHECK(chdir("/proc") == 0);
  all(plaq_gauge_write(g, "different.lime", NULL), PLAQ_FILE_WRITE, "different.lime");
  CHECK(chdir(here) == 0);
  all(plaq_gauge_read(c, "different.lime", NULL, &h, NULL), PLAQ_SUCCESS, "");
}

static plaq_gauge shared;
static int odd_statuses;
static void *plaquettes(void *nothing) {
  plaq_plaquette p;
  int i;
  for (i = 0; i < 50; i++) {
    int status = plaq_gauge_plaquette(shared, &p);
    if (status != PLAQ_SUCCESS && status != PLAQ_BUSY && status != PLAQ_COMM_FAILED) odd_statuses++;
  }
  return nothing;
}

/* Two threads of each rank make the same call: it succeeds or is refused, and ends. */
static void threads(void) {
  pthread_t other;
  shared = links();
  CHECK(pthread_create(&other, NULL, plaquettes, NULL) == 0);
  plaquettes(NULL);
  CHECK(pthread_join(other, NULL) == 0 && odd_statuses == 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void communicators(void) {
  plaq_context_params p = context_params();
  MPI_Comm other = MPI_COMM_NULL, self;
  plaq_context d;
  p.communicator = &other;
  EXPECT(PLAQ_MPI_STATE, plaq_context_create(&p, &d));
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  if (last == 1) {
    MPI_Intercomm_create(self, 0, MPI_COMM_WORLD, 1 - rank, 5, &other);
    REFUSED(PLAQ_MPI_STATE, "inter-communicator", plaq_context_create(&p, &d));
    MPI_Comm_free(&other);
  }
  MPI_Comm_free(&self);
}

int main(int argc, char **argv) {
  plaq_context_params p;
  plaq_gauge g;
  plaq_plaquette q;
  int level;
  p = context_params();
  EXPECT(PLAQ_MPI_STATE, plaq_context_create(&p, &c));
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &last);
  last--;
  me = rank == last;
  for (argv++; *argv; argv++) {
    what = *argv;
    p = context_params();
    if (is("leak") && me) p.memory_limit = 100000;
    if (is("threads")) {
      if (level < MPI_THREAD_MULTIPLE) continue;
      p.timeout = 3;
    }
    OK(plaq_context_create(&p, &c));
    if (is("stale"))
      stale();
    else if (is("order") || is("zero"))
      calls();
    else if (is("leak"))
      leak();
    else if (is("communicators"))
      communicators();
    else if (is("abandoned")) {
      OK(plaq_context_destroy(c));
      p.timeout = 2;
      OK(plaq_context_create(&p, &c));
      alone();
      continue;
    } else if (strstr("grid sums device alone null late patience generic baseline junk", what))
      contexts();
    else if (is("destruction"))
      destruction();
    else if (is("files"))
      files();
    else if (is("threads"))
      threads();
    else if (is("finalize")) {
      g = links();
      MPI_Finalize();
      EXPECT(PLAQ_MPI_STATE, plaq_gauge_plaquette(g, &q));
      OK(plaq_context_destroy(c));
      EXPECT(PLAQ_MPI_STATE, plaq_context_create(&p, &c));
      return 0;
    } else
      parameters();
    /* One of the threads keeps its context for a while. */
    if (!(me && is("stale"))) OK(plaq_context_destroy(c));
  }
  MPI_Finalize();
  return 0;
}
