/* Gradient flow: t^2 E and the topological charge along it, and t0 where it is reached.
 * test: tests/data/quenched-b6.0-4x4x4x8.ildg
 */
#include <plaq.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { if ((call) != PLAQ_SUCCESS) { fprintf(stderr, "%s\n", plaq_last_error()); exit(1); } } while (0)

int main(int argc, char **argv) {
  plaq_context context;
  plaq_gauge gauge;
  plaq_flow_point points[100];
  int64_t k, count;
  PLAQ_INIT(plaq_flow_params, how);
  PLAQ_INIT(plaq_flow_report, report);
  OK(plaq_context_create(NULL, &context));
  OK(plaq_gauge_read(context, argv[argc - 1], NULL, &gauge, NULL));
  how.time = 1;
  how.step = 0.02;
  how.every = 10;
  OK(plaq_gauge_flow(gauge, &how, NULL, NULL, &report, points, 100, &count)); /* the links flow */
  printf("# t, t^2 E, charge\n");
  for (k = 0; k < count; k++) {
    const plaq_flow_point *p = points + k;
    printf("%.2f  %.6f  %+.4f\n", p->time, p->time * p->time * (p->energy_spatial + p->energy_temporal), p->charge);
  }
  if (report.t0_clover > 0) printf("# t0 %.6f\n", report.t0_clover);
  return plaq_context_destroy(context);
}
