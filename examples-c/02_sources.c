/* Many sources, one solver: point sources are averaged, noise comes from a whole time slice.
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
  PLAQ_INIT(plaq_file_report, file);
  PLAQ_INIT(plaq_dirac_params, action);
  PLAQ_INIT(plaq_source_params, point);
  PLAQ_INIT(plaq_source_params, wall);
  OK(plaq_context_create(NULL, &context));
  OK(plaq_gauge_read(context, argv[argc - 1], NULL, &gauge, &file));
  action.kappa = 0.12;
  OK(plaq_dirac_create(context, gauge, &action, &dirac));
  OK(plaq_solver_create(dirac, NULL, &solver));
  int s, t, times = file.extents[3];
  double *pion = calloc(2 * (size_t)times, sizeof *pion), *one = pion + times;
  for (s = 0; s < 3; s++) {
    plaq_spinor quark;
    const plaq_source_params *source = &wall;
    if (s < 2) { /* points (0, 0, 0, 0) and (2, 2, 2, 4) */
      for (t = 0; t < 4; t++) point.position[t] = s * file.extents[t] / 2;
      source = &point;
    } else { /* twelve columns that share their numbers: the one-end trick */
      wall.kind = PLAQ_SOURCE_WALL;
      wall.noise = PLAQ_NOISE_Z2;
      wall.dilute = PLAQ_DILUTE_SPIN + PLAQ_DILUTE_COLOUR;
      wall.seed = 7;
    }
    OK(plaq_solver_propagator(solver, source, NULL, NULL, &quark, NULL, NULL));
    OK(plaq_spinor_correlators(quark, source->position[3], 1, times, one, NULL, NULL));
    OK(plaq_spinor_destroy(quark));
    for (t = 0; t < times && s < 2; t++) pion[t] += one[t] / 2;
  }
  printf("# t, two points, wall of noise over the sites of a slice\n");
  int sites = file.extents[0] * file.extents[1] * file.extents[2];
  for (t = 0; t < times; t++) printf("%3d  %.9e  %.9e\n", t, pion[t], one[t] / sites);
  free(pion);
  return plaq_context_destroy(context);
}
