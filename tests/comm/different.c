/* Two ranks or more that do not do the same: each case ends with the same statuses on all of them,
 * and nobody ends the job. The last rank deviates. */
#include <mpi.h>
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

/* The same status on all ranks, and the words in every rank's message. */
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

static void parameters(void) {
  const char *words = "that rank 0 passed";
  plaq_gauge_params gp;
  plaq_spinor_params sp;
  plaq_dirac_params dp;
  plaq_solver_params vp;
  plaq_write_params wp;
  plaq_gauge g;
  plaq_spinor x, b;
  plaq_dirac d;
  plaq_solver s;
  double v[8];
  int i, nrhs = 2;
  OK(plaq_gauge_params_init(&gp, sizeof gp));
  OK(plaq_spinor_params_init(&sp, sizeof sp));
  OK(plaq_dirac_params_init(&dp, sizeof dp));
  OK(plaq_solver_params_init(&vp, sizeof vp));
  OK(plaq_write_params_init(&wp, sizeof wp));
  for (i = 0; i < 4; i++) gp.extents[i] = sp.extents[i] = 4;
  sp.nrhs = nrhs, dp.kappa = 0.1, vp.tol = 1e-6;
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
    if (is("algorithm")) vp.algorithm = PLAQ_ALGORITHM_BICGSTAB;
    if (is("iterations")) vp.max_iterations = 2;
    if (is("format")) wp.format = PLAQ_FILE_FORMAT_NERSC;
  }
#define STEP(call, names)                                  \
  if (strstr(names, what)) {                               \
    all(call, PLAQ_INVALID_ARGUMENT, words);               \
    OK(plaq_context_synchronize(c));                       \
    return;                                                \
  }                                                        \
  OK(call)
  STEP(plaq_gauge_create(c, &gp, &g), "extents links group");
  STEP(plaq_gauge_hot(g, me && is("seed") ? 5 : 6), "seed");
  STEP(plaq_spinor_create(c, &sp, &x), "nrhs subset precision");
  OK(plaq_spinor_create(c, &sp, &b));
  STEP(plaq_spinor_noise(me && is("object") ? x : b, 0, 1, 0), "object");
  STEP(plaq_spinor_norm2(b, v, me && is("count") ? nrhs - 1 : nrhs), "count");
  STEP(plaq_dirac_create(c, g, &dp, &d), "kappa csw");
  STEP(plaq_solver_create(d, &vp, &s), "tol algorithm iterations");
  OK(plaq_solver_solve(s, x, b, NULL, NULL, NULL, NULL));
  STEP(plaq_gauge_write_file(g, "different.lime", &wp), "format");
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

/* A stale handle on one rank is the call's failure on all; they go on. */
static void stale(void) {
  plaq_gauge g = links();
  plaq_spinor x = spinor(12);
  plaq_plaquette p;
  double v[12];
  if (me) OK(plaq_gauge_destroy(g));
  all(plaq_gauge_plaquette(g, &p), PLAQ_INVALID_HANDLE, "destroyed");
  all(plaq_spinor_norm2(x, v, 12), PLAQ_SUCCESS, "");
}

/* A rank that leaves a call out, or makes it with no handle at all: the next one is another's. */
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

/* A creation that fails on one rank leaves nothing on the others. */
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
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &last);
  last--;
  me = rank == last;
  for (argv++; *argv; argv++) {
    what = *argv;
    p = context_params();
    if (is("leak") && me) p.memory_limit = 100000;
    OK(plaq_context_create(&p, &c));
    if (is("stale"))
      stale();
    else if (is("order") || is("zero"))
      calls();
    else if (is("leak"))
      leak();
    else if (is("communicators"))
      communicators();
    else if (is("finalize")) {
      g = links();
      MPI_Finalize();
      EXPECT(PLAQ_MPI_STATE, plaq_gauge_plaquette(g, &q));
      OK(plaq_context_destroy(c));
      EXPECT(PLAQ_MPI_STATE, plaq_context_create(&p, &c));
      return 0;
    } else
      parameters();
    /* One of them keeps its context a while. */
    if (!(me && is("stale"))) OK(plaq_context_destroy(c));
  }
  MPI_Finalize();
  return 0;
}
