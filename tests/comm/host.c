/* A C host: contexts on MPI_COMM_WORLD and on halves of it; faults on one rank. 4 ranks. */
#include <mpi.h>

#include "check.h"

static int rank, size;

static int32_t t_fastest(const int32_t *coords, void *user) {
  CHECK(user == (void *)&rank);
  return coords[2] * 2 + coords[3];
}

static plaq_context_params params(MPI_Comm *comm) {
  plaq_context_params p;
  OK(plaq_context_params_init(&p, sizeof p));
  p.device = PLAQ_DEVICE_CPU;
  p.threads = 1;
  p.communicator_kind = PLAQ_COMMUNICATOR_C;
  p.communicator = comm;
  p.timeout = 60;
  return p;
}

static plaq_context_report describe(plaq_context context) {
  plaq_context_report r;
  OK(plaq_context_report_init(&r, sizeof r));
  OK(plaq_context_describe(context, &r));
  return r;
}

static void whole(void) {
  MPI_Comm world = MPI_COMM_WORLD;
  plaq_context_params p = params(&world);
  plaq_context_report r;
  plaq_context context;
  const int32_t backwards[4] = {3, 2, 1, 0};
  p.grid[0] = p.grid[1] = 1;
  p.grid[2] = p.grid[3] = 2;
  OK(plaq_context_create(&p, &context));
  r = describe(context);
  CHECK(r.ranks == size && r.rank == rank && r.grid[1] == 1 && r.grid[2] == 2 && r.grid[3] == 2);
  CHECK(r.coords[0] == 0 && r.coords[2] == rank % 2 && r.coords[3] == rank / 2);
  OK(plaq_context_destroy(context));

  p.rank_callback = t_fastest;
  p.rank_user = &rank;
  p.reproducible = 1;
  OK(plaq_context_create(&p, &context));
  r = describe(context);
  CHECK(r.coords[2] == rank / 2 && r.coords[3] == rank % 2);
  OK(plaq_context_destroy(context));

  p.rank_table = backwards;
  OK(plaq_context_create(&p, &context));
  r = describe(context);
  CHECK(r.coords[2] == (3 - rank) % 2 && r.coords[3] == (3 - rank) / 2);
  OK(plaq_context_destroy(context));

  /* The default number of threads: ranks share their cores. */
  p = params(&world);
  p.threads = 0;
  OK(plaq_context_create(&p, &context));
  CHECK(describe(context).grid[3] == size);
  OK(plaq_context_destroy(context));
}

static void halves(void) {
  MPI_Comm half, none = MPI_COMM_NULL;
  plaq_context_params p;
  plaq_context context, other;
  plaq_context_report r;
  CHECK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half) == MPI_SUCCESS);
  p = params(&half);
  OK(plaq_context_create(&p, &context));
  p.communicator_kind = PLAQ_COMMUNICATOR_FORTRAN;
  p.communicator = NULL;
  p.communicator_fortran = (int32_t)MPI_Comm_c2f(half);
  OK(plaq_context_create(&p, &other));
  /* plaq uses duplicates of its own of the host's communicators. */
  CHECK(MPI_Comm_free(&half) == MPI_SUCCESS);
  r = describe(context);
  CHECK(r.ranks == size / 2 && r.rank == rank / 2);
  CHECK(describe(other).coords[3] == rank / 2);
  OK(plaq_context_destroy(context));
  OK(plaq_context_destroy(other));
  p = params(&none);
  REFUSED(PLAQ_MPI_STATE, "MPI_COMM_NULL", plaq_context_create(&p, &context));
  p.communicator = NULL;
  REFUSED(PLAQ_NULL_POINTER, "MPI_Comm", plaq_context_create(&p, &context));
}

static void faults(void) {
  MPI_Comm world = MPI_COMM_WORLD;
  plaq_context_params p = params(&world);
  plaq_context context;
  plaq_spinor_params shape;
  plaq_spinor spinor;
  double norm = 7;

  p.grid[3] = 3;
  REFUSED(PLAQ_PROCESS_GRID, "product 4", plaq_context_create(&p, &context));
  p = params(&world);
  if (rank == 2) p.threads = -5;
  REFUSED(PLAQ_BAD_PARAMETER, "params.threads", plaq_context_create(&p, &context));
  CHECK(strstr(plaq_last_error(), "rank 2: ") != NULL);
  p.threads = 1;
  p.timeout = -1;
  REFUSED(PLAQ_INVALID_ARGUMENT, "time-out", plaq_context_create(&p, &context));

  p = params(&world);
  OK(plaq_context_create(&p, &context));
  OK(plaq_spinor_params_init(&shape, sizeof shape));
  shape.extents[0] = shape.extents[1] = shape.extents[2] = 4;
  shape.extents[3] = 8;
  OK(plaq_spinor_create(context, &shape, &spinor));
  /* An error on one rank, an error on all ranks, and a call that succeeds. */
  REFUSED(PLAQ_INVALID_ARGUMENT, "rank 1: ", plaq_spinor_noise(spinor, rank == 1 ? 99 : 1, 5, 0));
  REFUSED(PLAQ_INVALID_ARGUMENT, "noise", plaq_spinor_noise(spinor, 99, 5, 0));
  OK(plaq_spinor_zero(spinor));
  REFUSED(PLAQ_INVALID_ARGUMENT, "rank 3: ", plaq_spinor_norm2(spinor, &norm, rank == 3 ? 2 : 1));
  CHECK(norm == 7);
  OK(plaq_spinor_norm2(spinor, &norm, 1));
  CHECK(norm == 0);
  OK(plaq_context_destroy(context));

  /* One rank does not make the call: the others reach the deadline, and a new context works. */
  p.timeout = 1;
  OK(plaq_context_create(&p, &context));
  OK(plaq_spinor_create(context, &shape, &spinor));
  if (rank != 0) {
    REFUSED(PLAQ_COMM_FAILED, "no answer for 1 s", plaq_spinor_zero(spinor));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  REFUSED(PLAQ_COMM_FAILED, "no answer for 1 s", plaq_spinor_zero(spinor));
  OK(plaq_context_destroy(context));
  p.timeout = 60;
  OK(plaq_context_create(&p, &context));
  OK(plaq_spinor_create(context, &shape, &spinor));
  OK(plaq_spinor_zero(spinor));
  OK(plaq_context_destroy(context));
}

static int64_t calls;

static int32_t stop_solve(int64_t iteration, double residual, double seconds, void *user) {
  (void)seconds;
  CHECK(residual > 0);
  calls++;
  return iteration == *(int64_t *)user;
}

static int32_t stop_update(int64_t done, int64_t all, double seconds, void *user) {
  (void)seconds;
  CHECK(all == 5);
  calls++;
  return done == *(int64_t *)user;
}

/* Checks that a number is the same on all ranks of the job. */
static int same(int64_t number) {
  int64_t range[2], found[2];
  range[0] = number, range[1] = -number;
  CHECK(MPI_Allreduce(range, found, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD) == MPI_SUCCESS);
  return found[0] == -found[1];
}

/* Callbacks on one rank, or on all ranks of which one asks to stop, stop all ranks at the same point. */
static void stops(plaq_context context) {
  plaq_gauge_params g;
  plaq_dirac_params d;
  plaq_solver_params s;
  plaq_spinor_params shape;
  plaq_heatbath_params u;
  plaq_gauge gauge;
  plaq_dirac dirac;
  plaq_solver solver;
  plaq_spinor b, x;
  int algorithm, mu, all;
  int64_t at = 3;

  OK(plaq_gauge_params_init(&g, sizeof g));
  OK(plaq_spinor_params_init(&shape, sizeof shape));
  for (mu = 0; mu < 4; mu++) shape.extents[mu] = g.extents[mu] = mu < 3 ? 4 : 8;
  OK(plaq_gauge_create(context, &g, &gauge));
  OK(plaq_gauge_hot(gauge, 1));
  OK(plaq_dirac_params_init(&d, sizeof d));
  d.kappa = 0.12;
  OK(plaq_dirac_create(context, gauge, &d, &dirac));
  OK(plaq_spinor_create(context, &shape, &b));
  OK(plaq_spinor_create(context, &shape, &x));
  OK(plaq_spinor_noise(b, PLAQ_NOISE_NORMAL, 2, 0));
  OK(plaq_solver_params_init(&s, sizeof s));
  s.tol = 1e-12;
  for (algorithm = PLAQ_SOLVER_CGNE; algorithm <= PLAQ_SOLVER_MR; algorithm++) {
    s.solver = algorithm;
    OK(plaq_solver_create(dirac, &s, &solver));
    for (all = 0; all < 2; all++) {
      int64_t never = -1;
      plaq_solve_report r;
      OK(plaq_solve_report_init(&r, sizeof r));
      calls = 0;
      OK(plaq_solver_solve(solver, x, b, all || rank == 1 ? stop_solve : NULL, rank == 1 ? &at : &never, &r, NULL));
      CHECK(r.stopped == 1 && r.converged == 0 && r.iterations == at + 1);
      CHECK(same(r.iterations) && same(r.reliable_updates));
      CHECK(calls == (rank == 1 ? at : all ? at + 1 : 0));
      /* A later call is not stopped by the earlier wish. */
      OK(plaq_solver_solve(solver, x, b, NULL, NULL, &r, NULL));
      CHECK(r.stopped == 0 && r.converged == 1 && same(r.iterations));
    }
    OK(plaq_solver_destroy(solver));
  }

  OK(plaq_heatbath_params_init(&u, sizeof u));
  u.beta = 6;
  u.sweeps = 5;
  for (all = 0; all < 2; all++) {
    int64_t never = -1;
    plaq_heatbath_report r;
    OK(plaq_heatbath_report_init(&r, sizeof r));
    calls = 0;
    OK(plaq_gauge_heatbath(gauge, &u, all || rank == 1 ? stop_update : NULL, rank == 1 ? &at : &never, &r));
    CHECK(r.stopped == 1 && r.next_sweep == at && calls == (all || rank == 1 ? at : 0));
  }
  OK(plaq_gauge_heatbath(gauge, &u, NULL, NULL, NULL));
}

static void stopping(void) {
  MPI_Comm world = MPI_COMM_WORLD, half;
  plaq_context_params p = params(&world);
  plaq_context context;
  OK(plaq_context_create(&p, &context));
  stops(context);
  OK(plaq_context_destroy(context));
  /* Two contexts of two ranks each, in both of which the second rank asks to stop. */
  CHECK(MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half) == MPI_SUCCESS);
  p = params(&half);
  OK(plaq_context_create(&p, &context));
  rank %= 2;
  stops(context);
  OK(plaq_context_destroy(context));
  CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS);
  CHECK(MPI_Comm_free(&half) == MPI_SUCCESS);
}

int main(int argc, char **argv) {
  MPI_Comm world = MPI_COMM_WORLD;
  plaq_context_params p = params(&world);
  plaq_context context;
  int level = 0;
  REFUSED(PLAQ_MPI_STATE, "not initialised", plaq_context_create(&p, &context));
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(size == 4);
  whole();
  halves();
  faults();
  stopping();
  OK(plaq_context_create(&p, &context));
  MPI_Finalize();
  /* After the end of MPI calls return statuses, and no function of MPI is called. */
  OK(plaq_context_destroy(context));
  REFUSED(PLAQ_MPI_STATE, "finalised", plaq_context_create(&p, &context));
  return 0;
}
