/* Errors: a call that is refused has a status, a sentence that names the argument, and has changed nothing.
 * test:
 */
#include <plaq.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { if ((call) != PLAQ_SUCCESS) { fprintf(stderr, "%s\n", plaq_last_error()); exit(1); } } while (0)

int main(void) {
  plaq_context context;
  plaq_gauge gauge = {0};
  plaq_dirac dirac = {0};
  plaq_status status;
  PLAQ_INIT(plaq_gauge_params, shape);
  PLAQ_INIT(plaq_dirac_params, action);
  OK(plaq_context_create(NULL, &context));
  shape.extents[0] = 3; /* odd, and the others are 0 */
  status = plaq_gauge_create(context, &shape, &gauge);
  printf("%d: %s\n", (int)status, plaq_last_error());
  if (status != PLAQ_BAD_EXTENTS) return 3;
  status = plaq_gauge_read(context, "absent", NULL, &gauge, NULL);
  printf("%d: %s\n", (int)status, plaq_last_error());
  if (status != PLAQ_FILE_OPEN || gauge.id != 0) return 3;
  for (int mu = 0; mu < 4; mu++) shape.extents[mu] = 4;
  OK(plaq_gauge_create(context, &shape, &gauge));
  status = plaq_dirac_create(context, gauge, &action, &dirac); /* neither kappa nor mass */
  printf("%d: %s\n", (int)status, plaq_last_error());
  if (status != PLAQ_BAD_PARAMETER) return 3;
  OK(plaq_gauge_destroy(gauge));
  status = plaq_gauge_unit(gauge); /* the handle is stale */
  printf("%d: %s\n", (int)status, plaq_last_error());
  return status == PLAQ_INVALID_HANDLE ? plaq_context_destroy(context) : 3;
}
