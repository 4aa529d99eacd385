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

  /* Threads by default: ranks share their cores. */
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
  /* plaq has its own duplicates. */
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
  REFUSED(PLAQ_INVALID_ARGUMENT, "params.threads", plaq_context_create(&p, &context));
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
  /* On one rank, on all ranks, and well again. */
  REFUSED(PLAQ_INVALID_ARGUMENT, "rank 1: ", plaq_spinor_noise(spinor, rank == 1 ? 99 : 1, 5, 0));
  REFUSED(PLAQ_INVALID_ARGUMENT, "noise", plaq_spinor_noise(spinor, 99, 5, 0));
  OK(plaq_spinor_zero(spinor));
  REFUSED(PLAQ_INVALID_ARGUMENT, "rank 3: ", plaq_spinor_norm2(spinor, &norm, rank == 3 ? 2 : 1));
  CHECK(norm == 7);
  OK(plaq_spinor_norm2(spinor, &norm, 1));
  CHECK(norm == 0);
  OK(plaq_context_destroy(context));

  /* A rank that does not come: the others get the deadline, and a new context works. */
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
  OK(plaq_context_create(&p, &context));
  MPI_Finalize();
  /* After the end of MPI: statuses, and nothing is called. */
  OK(plaq_context_destroy(context));
  REFUSED(PLAQ_MPI_STATE, "finalised", plaq_context_create(&p, &context));
  return 0;
}
