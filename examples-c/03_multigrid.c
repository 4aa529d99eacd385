/* Light quarks by multigrid: a set-up that finds null vectors, then solves that take some iterations each.
 * test: tests/data/quenched-b6.0-4x4x4x8.ildg
 */
#include <plaq.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { if ((call) != PLAQ_SUCCESS) { fprintf(stderr, "%s\n", plaq_last_error()); exit(1); } } while (0)

int main(int argc, char **argv) {
  plaq_context context;
  plaq_gauge gauge;
  plaq_dirac dirac;
  plaq_multigrid multigrid;
  plaq_solver solver;
  plaq_spinor quark;
  PLAQ_INIT(plaq_dirac_params, action);
  PLAQ_INIT(plaq_solver_params, how);
  PLAQ_INIT(plaq_solve_report, report);
  PLAQ_INIT(plaq_multigrid_report, levels);
  OK(plaq_context_create(NULL, &context));
  OK(plaq_gauge_read(context, argv[argc - 1], NULL, &gauge, NULL));
  action.kappa = 0.13;
  action.csw = 1.2;
  OK(plaq_dirac_create(context, gauge, &action, &dirac));
  OK(plaq_multigrid_create(dirac, NULL, NULL, NULL, &multigrid)); /* the defaults need no tuning */
  OK(plaq_multigrid_describe(multigrid, &levels));
  printf("%d levels, set up in %.3f s\n", (int)levels.levels, levels.setup_seconds);
  how.solver = PLAQ_SOLVER_GCR;
  how.nkrylov = 4;
  OK(plaq_solver_create(dirac, &how, &solver));
  OK(plaq_solver_set_multigrid(solver, multigrid));
  OK(plaq_solver_propagator(solver, NULL, NULL, NULL, &quark, &report, NULL));
  printf("twelve columns: %d iterations, residual %.1e\n", (int)report.iterations, report.residual);
  if (!report.converged) return 3;
  return plaq_context_destroy(context);
}
