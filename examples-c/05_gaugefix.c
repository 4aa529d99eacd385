/* Landau gauge, and the transformation g(x) that leads to it: applied to the links of the file it gives the same.
 * test: tests/data/quenched-b6.0-4x4x4x8.ildg
 */
#include <plaq.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { if ((call) != PLAQ_SUCCESS) { fprintf(stderr, "%s\n", plaq_last_error()); exit(1); } } while (0)

int main(int argc, char **argv) {
  plaq_context context;
  plaq_gauge gauge, original;
  plaq_gaugefix result;
  plaq_plaquette fixed, again;
  PLAQ_INIT(plaq_file_report, file);
  PLAQ_INIT(plaq_gaugefix_params, how);
  PLAQ_INIT(plaq_gaugefix_report, report);
  OK(plaq_context_create(NULL, &context));
  OK(plaq_gauge_read(context, argv[argc - 1], NULL, &gauge, &file));
  OK(plaq_gauge_read(context, argv[argc - 1], NULL, &original, NULL));
  how.method = PLAQ_GAUGEFIX_FOURIER_CG;
  OK(plaq_gauge_fix(gauge, &how, NULL, NULL, &report, &result));
  printf("functional %.12f, theta %.1e after %d iterations\n", report.functional, report.theta, (int)report.iterations);
  OK(plaq_gaugefix_apply(result, original));
  OK(plaq_gauge_plaquette(gauge, &fixed));
  OK(plaq_gauge_plaquette(original, &again));
  printf("link trace %.12f, of the transformed links %.12f\n", fixed.link_trace, again.link_trace);
  size_t sites = (size_t)file.extents[0] * file.extents[1] * file.extents[2] * file.extents[3];
  double *g = malloc(18 * sites * sizeof *g); /* 3 x 3 complex numbers a site, sites with x fastest */
  OK(plaq_gaugefix_transformation(result, g));
  printf("g(0): first entry %.6f %+.6f i\n", g[0], g[1]);
  free(g);
  if (!report.converged || again.link_trace - fixed.link_trace > 1e-10 || fixed.link_trace - again.link_trace > 1e-10) return 3;
  return plaq_context_destroy(context);
}
