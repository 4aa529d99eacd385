/* A callback sees how far a solve is, and ends it: what was reached stays.
 * test: tests/data/quenched-b6.0-4x4x4x8.ildg
 */
#include <plaq.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { if ((call) != PLAQ_SUCCESS) { fprintf(stderr, "%s\n", plaq_last_error()); exit(1); } } while (0)

static int32_t watch(int64_t iteration, double residual, double seconds, void *user) {
  int *most = user;
  (void)seconds;
  if (iteration % 5 == 0) printf("iteration %3d, residual %.1e\n", (int)iteration, residual);
  return iteration >= *most; /* not 0: stop */
}

int main(int argc, char **argv) {
  plaq_context context;
  plaq_gauge gauge;
  plaq_dirac dirac;
  plaq_solver solver;
  plaq_spinor quark;
  int most = 10;
  PLAQ_INIT(plaq_dirac_params, action);
  PLAQ_INIT(plaq_solve_report, report);
  OK(plaq_context_create(NULL, &context));
  OK(plaq_gauge_read(context, argv[argc - 1], NULL, &gauge, NULL));
  action.kappa = 0.12;
  OK(plaq_dirac_create(context, gauge, &action, &dirac));
  OK(plaq_solver_create(dirac, NULL, &solver));
  OK(plaq_solver_propagator(solver, NULL, watch, &most, &quark, &report, NULL));
  printf("stopped: %s, converged: %s, residual %.1e\n", report.stopped ? "yes" : "no", report.converged ? "yes" : "no",
         report.residual);
  return report.stopped ? plaq_context_destroy(context) : 3;
}
