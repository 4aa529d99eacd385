/* The index of the overlap operator: its zero modes of negative chirality less those of positive chirality.
 * test: tests/data/quenched-b6.0-4x4x4x8.ildg
 */
#include <plaq.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { if ((call) != PLAQ_SUCCESS) { fprintf(stderr, "%s\n", plaq_last_error()); exit(1); } } while (0)

int main(int argc, char **argv) {
  plaq_context context;
  plaq_gauge gauge;
  plaq_overlap overlap;
  plaq_spinor none = {0};
  double plus[2], minus[2], violation;
  int32_t zeros[2];
  PLAQ_INIT(plaq_overlap_params, params);
  OK(plaq_context_create(NULL, &context));
  OK(plaq_gauge_read(context, argv[argc - 1], NULL, &gauge, NULL));
  params.modes = 6; /* low modes of the kernel that are projected */
  params.delta = 1e-4;
  OK(plaq_overlap_create(context, gauge, &params, none, NULL, NULL, &overlap));
  OK(plaq_overlap_ginsparg_wilson(overlap, 1, &violation));
  printf("violation of the Ginsparg-Wilson relation %.1e\n", violation);
  OK(plaq_overlap_index(overlap, 2, 1e-4, NULL, NULL, plus, minus, zeros));
  printf("index %d; least |lambda|^2 of positive chirality %.6f, of negative %.6f\n", (int)(zeros[1] - zeros[0]), plus[0],
         minus[0]);
  return plaq_context_destroy(context);
}
