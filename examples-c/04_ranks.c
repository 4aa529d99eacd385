/* Many ranks: MPI is of the program, plaq takes its communicator. Compile with mpicc, start with mpirun -n N.
 * test: tests/data/quenched-b6.0-4x4x4x8.ildg
 */
#include <mpi.h>
#include <plaq.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { if ((call) != PLAQ_SUCCESS) { fprintf(stderr, "%s\n", plaq_last_error()); exit(1); } } while (0)

int main(int argc, char **argv) {
  plaq_context context;
  plaq_gauge gauge;
  plaq_plaquette p;
  MPI_Comm world = MPI_COMM_WORLD;
  PLAQ_INIT(plaq_context_params, params);
  PLAQ_INIT(plaq_context_report, place);
  PLAQ_INIT(plaq_gauge_report, part);
  MPI_Init(&argc, &argv);
  params.communicator_kind = PLAQ_COMMUNICATOR_C;
  params.communicator = &world; /* the grid is left out: all ranks along t */
  OK(plaq_context_create(&params, &context));
  OK(plaq_gauge_read(context, argv[argc - 1], NULL, &gauge, NULL)); /* every rank reads its part */
  OK(plaq_gauge_plaquette(gauge, &p));                                   /* the same on all ranks */
  OK(plaq_context_describe(context, &place));
  OK(plaq_gauge_describe(gauge, &part));
  if (place.rank == 0)
    printf("plaquette %.12f; %d ranks, each with %d x %d x %d x %d sites\n", p.total, (int)place.ranks, (int)part.extents[0],
           (int)part.extents[1], (int)part.extents[2], (int)part.extents[3]);
  OK(plaq_context_destroy(context)); /* before MPI ends */
  MPI_Finalize();
  return 0;
}
