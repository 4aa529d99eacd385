/* The gradient flow of quark fields, and its adjoint, which takes a field at a flow time to time 0.
 * test: tests/data/quenched-b6.0-4x4x4x8.ildg
 */
#include <plaq.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { if ((call) != PLAQ_SUCCESS) { fprintf(stderr, "%s\n", plaq_last_error()); exit(1); } } while (0)

int main(int argc, char **argv) {
  plaq_context context;
  plaq_gauge gauge, flowed;
  plaq_spinor field[4]; /* chi, K chi, phi, K^dagger phi */
  double left[2], right[2], norm;
  int k;
  PLAQ_INIT(plaq_spinor_params, like);
  PLAQ_INIT(plaq_spinor_flow_params, how);
  PLAQ_INIT(plaq_spinor_flow_report, report);
  OK(plaq_context_create(NULL, &context));
  OK(plaq_gauge_read(context, argv[argc - 1], NULL, &gauge, NULL));
  OK(plaq_gauge_read(context, argv[argc - 1], NULL, &flowed, NULL));
  like.gauge = gauge;
  for (k = 0; k < 4; k++) OK(plaq_spinor_create(context, &like, field + k));
  for (k = 0; k < 4; k++) OK(plaq_spinor_noise(field[k], PLAQ_NOISE_Z4, 1, k / 2));
  how.time = 0.3;
  how.step = 0.02;
  OK(plaq_spinor_flow(field[1], gauge, flowed, &how, NULL, NULL, &report)); /* `flowed` has the links at that time */
  printf("flow time %.2f in %d steps\n", report.time, (int)report.steps);
  how.checkpoints = 3; /* states of the links that are kept on the way back */
  OK(plaq_spinor_flow_adjoint(field[3], gauge, &how, NULL, NULL, &report));
  printf("%d steps back, %d of links\n", (int)report.steps, (int)report.link_steps);
  OK(plaq_spinor_dot(field[2], field[1], left, 1));
  OK(plaq_spinor_dot(field[3], field[0], right, 1));
  OK(plaq_spinor_norm2(field[2], &norm, 1));
  printf("<phi, K chi> = %.10f %+.10f i\n<K^dagger phi, chi> = %.10f %+.10f i\n", left[0], left[1], right[0], right[1]);
  if (hypot(left[0] - right[0], left[1] - right[1]) > 1e-13 * norm) return 3;
  return plaq_context_destroy(context);
}
