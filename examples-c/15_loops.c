/* Quark loops with errors: multigrid's coarse space taken out of the noise, until an error is reached.
 * test: tests/data/quenched-b6.0-4x4x4x8.ildg
 */
#include <plaq.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { if ((call) != PLAQ_SUCCESS) { fprintf(stderr, "%s\n", plaq_last_error()); exit(1); } } while (0)
#define TIMES 8

int main(int argc, char **argv) {
  plaq_context context;
  plaq_gauge gauge;
  plaq_dirac dirac;
  plaq_multigrid multigrid;
  plaq_solver solver, none = {0};
  plaq_space space;
  plaq_loops loops;
  const int32_t lengths[1] = {0}, steps[1] = {0}, rest[3] = {0, 0, 0}; /* a local operator at rest */
  static double means[16][TIMES][2], squares[16][TIMES][2];
  int64_t bytes;
  int k;
  PLAQ_INIT(plaq_dirac_params, action);
  PLAQ_INIT(plaq_solver_params, how);
  PLAQ_INIT(plaq_multigrid_params, levels);
  PLAQ_INIT(plaq_loop_goals, goals);
  PLAQ_INIT(plaq_loops_report, report);
  PLAQ_INIT(plaq_loops_part_report, part);
  OK(plaq_context_create(NULL, &context));
  OK(plaq_gauge_read(context, argv[argc - 1], NULL, &gauge, NULL));
  action.kappa = 0.13;
  action.csw = 1.2;
  OK(plaq_dirac_create(context, gauge, &action, &dirac));
  for (k = 0; k < 4; k++) levels.level[0].block[k] = 2;
  levels.level[0].vectors = 6;
  OK(plaq_multigrid_create(dirac, &levels, NULL, NULL, &multigrid));
  how.solver = PLAQ_SOLVER_GCR;
  how.nkrylov = 4;
  OK(plaq_solver_create(dirac, &how, &solver));
  OK(plaq_solver_set_multigrid(solver, multigrid));
  OK(plaq_space_memory(solver, multigrid, 0, &bytes));
  printf("low modes take %.1f MiB\n", bytes / 1048576.0);
  OK(plaq_space_create_multigrid(solver, multigrid, 0, 1e-6, &space));
  OK(plaq_loops_create(solver, none, space, gauge, NULL, NULL, lengths, 1, steps, 0, rest, 1, &loops));
  goals.error = 2; /* of Tr D^-1 of a time slice */
  OK(plaq_loops_add(loops, &goals, NULL, NULL, &report));
  for (k = 0; k < report.parts; k++) {
    OK(plaq_loops_describe_part(loops, k, &part));
    printf("level %d: %d of %s, %.2f s\n", (int)part.level, (int)part.done, part.term == PLAQ_LOOPS_TERM_NOISE ? "noise" : "all vectors", part.seconds);
  }
  OK(plaq_loops_values(loops, -1, &means[0][0][0], &squares[0][0][0], 16 * TIMES, NULL, NULL, 4 * TIMES));
  for (k = 0; k < TIMES; k++) printf("t %d: %.2f +- %.2f\n", k, means[0][k][0], sqrt(squares[0][k][0]));
  printf("error %.2f\n", report.error);
  if (!report.reached || report.failed) return 3;
  return plaq_context_destroy(context);
}
