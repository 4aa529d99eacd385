/* Smearing of spinors and links, and its misuse. */
#include "lattice.h"
#include "reference.h"

static const int32_t extents[4] = {LX, LY, LZ, LT};

static void smear(plaq_gauge gauge, int kind, const double alpha[3], int directions, int steps) {
  PLAQ_INIT(plaq_gauge_smear_params, p);
  p.kind = kind, p.directions = directions, p.steps = steps;
  memcpy(p.alpha, alpha, sizeof p.alpha);
  OK(plaq_gauge_smear(gauge, &p));
}

/* Links are those of the reference, for each kind and its parameters. */
static void gauge_fields(plaq_context context, const double *links) {
  static const struct {
    int kind, rule;
    double alpha[3];
  } cases[] = {
      {PLAQ_SMEARING_APE, REFERENCE_APE, {0.4, 0, 0}},
      {PLAQ_SMEARING_STOUT, REFERENCE_STOUT, {0.08, 0, 0}},
      {PLAQ_SMEARING_HYP, REFERENCE_HYP, {0.4, 0.5, 0.3}},
      {PLAQ_SMEARING_OVERIMPROVED, REFERENCE_OVERIMPROVED, {0.06, -0.25, 0}},
  };
  double *found = numbers(LINKS), *expected = numbers(LINKS);
  plaq_gauge gauge = new_gauge(context, links);
  int i, directions;
  for (i = 0; i < 4; i++)
    for (directions = 7; directions < 16; directions += 8) {
      OK(plaq_gauge_load(gauge, NULL, links));
      smear(gauge, cases[i].kind, cases[i].alpha, directions, 1);
      OK(plaq_gauge_save(gauge, NULL, found));
      reference_smear(extents, links, cases[i].rule, cases[i].alpha, directions, expected);
      CHECK(distance(found, expected, LINKS) < 1e-12);
    }
  /* Two steps equal one step of links smeared by one step. */
  OK(plaq_gauge_load(gauge, NULL, links));
  smear(gauge, PLAQ_SMEARING_STOUT, cases[1].alpha, 15, 1);
  smear(gauge, PLAQ_SMEARING_STOUT, cases[1].alpha, 15, 1);
  OK(plaq_gauge_save(gauge, NULL, expected));
  OK(plaq_gauge_load(gauge, NULL, links));
  smear(gauge, PLAQ_SMEARING_STOUT, cases[1].alpha, 15, 2);
  OK(plaq_gauge_save(gauge, NULL, found));
  CHECK(distance(found, expected, LINKS) < 1e-14);
  OK(plaq_gauge_destroy(gauge));
  free(found), free(expected);
}

static void spinors(plaq_context context, const double *links) {
  enum { NRHS = 2, STEPS = 3 };
  const double alpha = 0.7;
  const int masks[2] = {7, 15};
  double *start = random_numbers(NRHS * SPINOR), *found = numbers(NRHS * SPINOR), *expected = numbers(NRHS * SPINOR);
  plaq_gauge gauge = new_gauge(context, links);
  int k, rhs;
  for (k = 0; k < 2; k++) {
    plaq_spinor spinor = new_spinor(context, NRHS, start);
    PLAQ_INIT(plaq_spinor_smear_params, p);
    p.alpha = alpha, p.steps = STEPS, p.directions = masks[k];
    OK(plaq_spinor_smear(spinor, gauge, &p));
    OK(plaq_spinor_save(spinor, NULL, found));
    for (rhs = 0; rhs < NRHS; rhs++)
      reference_smear_spinor(extents, links, alpha, STEPS, masks[k], start + rhs * SPINOR, expected + rhs * SPINOR);
    CHECK(distance(found, expected, NRHS * SPINOR) < 1e-13);
    /* Impossible parameters leave the field as it is. */
    p.alpha = HUGE_VAL;
    REFUSED(PLAQ_BAD_PARAMETER, "alpha", plaq_spinor_smear(spinor, gauge, &p));
    p.alpha = alpha, p.directions = 16;
    REFUSED(PLAQ_BAD_PARAMETER, "directions", plaq_spinor_smear(spinor, gauge, &p));
    OK(plaq_spinor_save(spinor, NULL, expected));
    CHECK(distance(found, expected, NRHS * SPINOR) == 0);
    OK(plaq_spinor_destroy(spinor));
  }
  OK(plaq_gauge_destroy(gauge));
  free(start), free(found), free(expected);
}

int main(void) {
  plaq_context context = cpu_context();
  double *links = random_links();
  gauge_fields(context, links);
  spinors(context, links);
  free(links);
  OK(plaq_context_destroy(context));
  return 0;
}
