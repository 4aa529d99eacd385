/* Hybrid Monte Carlo from an input in TOML: trajectories with two flavours of quarks, each with its energy violation.
 * test:
 */
#include <plaq.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { if ((call) != PLAQ_SUCCESS) { fprintf(stderr, "%s\n", plaq_last_error()); exit(1); } } while (0)

static const char INPUT[] =
    "length = 0.5\nseed = 4\naccept_until = 3\n"
    "[[monomial]]\nname = \"gauge\"\ntype = \"gauge\"\naction = \"wilson\"\nbeta = 5.5\n"
    "[[monomial]]\nname = \"quarks\"\ntype = \"two_flavours\"\noperator = { kappa = 0.1 }\n"
    "[[level]]\nintegrator = \"omelyan2\"\nsteps = 6\nmonomials = [\"gauge\", \"quarks\"]\n";

int main(void) {
  plaq_context context;
  plaq_gauge gauge;
  plaq_hmc hmc;
  int n;
  PLAQ_INIT(plaq_gauge_params, shape);
  OK(plaq_context_create(NULL, &context));
  for (n = 0; n < 4; n++) shape.extents[n] = 4;
  OK(plaq_gauge_create(context, &shape, &gauge));
  OK(plaq_gauge_hot(gauge, 4));
  OK(plaq_hmc_create(gauge, INPUT, &hmc)); /* docs/hmc.md lists the keys */
  for (n = 0; n < 3; n++) {
    PLAQ_INIT(plaq_hmc_report, report);
    OK(plaq_hmc_run(hmc, gauge, 1, NULL, NULL, &report));
    printf("trajectory %d: plaquette %.6f, delta H %+.2e, %s\n", n, report.plaquette, report.delta_h,
           report.accepted ? "accepted" : "rejected");
  }
  return plaq_context_destroy(context);
}
