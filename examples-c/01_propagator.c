/* A configuration from a file, a quark propagator on it, the correlator of its pion.
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
  plaq_solver solver;
  plaq_spinor quark;
  PLAQ_INIT(plaq_file_report, file);
  PLAQ_INIT(plaq_dirac_params, action);
  PLAQ_INIT(plaq_solver_params, how);
  OK(plaq_context_create(NULL, &context)); /* a GPU where there is one, else the CPU */
  OK(plaq_gauge_read(context, argv[argc - 1], NULL, &gauge, &file));
  action.kappa = 0.12;
  action.csw = 1.2;
  OK(plaq_dirac_create(context, gauge, &action, &dirac));
  OK(plaq_solver_create(dirac, &how, &solver));
  OK(plaq_solver_propagator(solver, NULL, NULL, NULL, &quark, NULL, NULL)); /* point source at 0 */
  int t, times = file.extents[3];
  double *pion = malloc(2 * (size_t)times * sizeof *pion), *mass = pion + times;
  OK(plaq_spinor_correlators(quark, 0, 1, times, pion, NULL, NULL)); /* antiperiodic in time */
  OK(plaq_correlator_effective_mass(pion, times, PLAQ_MASS_FORM_COSH, mass));
  for (t = 0; t < times; t++) printf("%3d  %.9e  %.6f\n", t, pion[t], mass[t]);
  free(pion);
  return plaq_context_destroy(context);
}
