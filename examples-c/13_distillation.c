/* Distillation: modes of time slices, elementals and perambulators, the pion between them, and the same in an HDF5 file.
 * test: tests/data/quenched-b6.0-4x4x4x8.ildg $OUT/tau.h5
 */
#include <plaq.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { if ((call) != PLAQ_SUCCESS) { fprintf(stderr, "%s\n", plaq_last_error()); exit(1); } } while (0)
enum { N = 8, T = 8 };

static double tau[2 * T * 16 * N * N], phi[2 * T * N * N], correlator[2 * T];

int main(int argc, char **argv) {
  plaq_context context;
  plaq_gauge gauge;
  plaq_modes modes;
  plaq_dirac dirac;
  plaq_solver solver;
  int64_t search, device, host, slices, finished;
  int32_t t0 = 3, others[2] = {0, 3}, lengths[2] = {0, 1}, quarks[3] = {0, 0, 1}, dx = PLAQ_MODES_DERIVATIVE_X, rest[3] = {0, 0, 0};
  int32_t pion[2] = {15, 15}; /* gamma5 at both ends */
  PLAQ_INIT(plaq_modes_params, wanted);
  PLAQ_INIT(plaq_modes_report, found);
  PLAQ_INIT(plaq_dirac_params, action);
  if (argc < 3) return 2;
  OK(plaq_context_create(NULL, &context));
  OK(plaq_gauge_read(context, argv[argc - 2], NULL, &gauge, NULL));
  wanted.count = N;
  wanted.steps = 10; /* of stout smearing in space */
  OK(plaq_modes_memory(gauge, &wanted, &search, &device, &host, &slices));
  printf("# search %.1f MB, modes %.1f MB, %d time slices together\n", search * 1e-6, device * 1e-6, (int)slices);
  OK(plaq_modes_create(gauge, (plaq_gauge){0}, &wanted, NULL, NULL, &modes, &found));
  if (!found.converged) return 3;

  action.kappa = 0.12;
  OK(plaq_dirac_create(context, gauge, &action, &dirac));
  OK(plaq_solver_create(dirac, NULL, &solver));
  OK(plaq_modes_perambulators(modes, solver, &t0, 1, NULL, NULL, tau, T * 16 * N * N, &finished, NULL));
  OK(plaq_modes_meson_elementals(modes, modes, lengths, 1, &dx, 0, rest, 1, phi, T * N * N));
  OK(plaq_modes_mesons(tau, tau, N, T, t0, phi, phi + 2 * t0 * N * N, pion, 1, correlator));
  for (int t = 0; t < T; t++) printf("%d %.6e\n", t, correlator[2 * t]);

  /* Elementals of mesons without and with a derivative, of baryons with one of the third quark; source times that the
   * file has are not solved for again. */
  if (plaq_modes_write_elementals(modes, modes, lengths, 2, &dx, 1, rest, 1, quarks, 3, &dx, 1, argv[argc - 1],
                                  PLAQ_IF_EXISTS_OVERWRITE) == PLAQ_UNSUPPORTED) {
    printf("# no file: %s\n", plaq_last_error());
    return plaq_context_destroy(context);
  }
  OK(plaq_modes_write_perambulators(modes, solver, others, 2, argv[argc - 1], "perambulators", PLAQ_BASIS_DEGRAND_ROSSI, NULL, NULL, &finished, NULL));
  printf("# %d source times in the file\n", (int)finished);
  return finished == 2 ? plaq_context_destroy(context) : 3;
}
