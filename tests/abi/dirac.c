/* Dirac operators: known results, adjointness, even-odd pieces, and their misuse. */
#include "lattice.h"

static plaq_dirac new_dirac(plaq_context context, plaq_gauge gauge, double csw, double mu, int normalisation) {
  plaq_dirac_params p;
  plaq_dirac dirac;
  OK(plaq_dirac_params_init(&p, sizeof p));
  p.kappa = 0.12, p.normalisation = PLAQ_NORMALISATION_KAPPA;
  p.csw = csw;
  p.mu = mu;
  p.normalisation = normalisation;
  OK(plaq_dirac_create(context, gauge, &p, &dirac));
  return dirac;
}

/* On unit links and periodic boundaries a constant spinor has M = 1 - 8 kappa, D = m. */
static void free_field(plaq_context context) {
  double *links = unit_links(), *values = numbers(SPINOR), *back = numbers(SPINOR);
  plaq_gauge gauge = new_gauge(context, links);
  plaq_spinor x, y = new_spinor(context, 1, NULL);
  plaq_dirac_params p;
  plaq_dirac_report r;
  plaq_dirac dirac;
  int i, normalisation;
  for (i = 0; i < SPINOR; i++) values[i] = 1 + i % 24;
  x = new_spinor(context, 1, values);
  OK(plaq_dirac_params_init(&p, sizeof p));
  p.mass = 0.3;
  p.csw = 1.7; /* no field strength here */
  p.boundary[3] = 0;
  for (normalisation = 0; normalisation < 2; normalisation++) {
    double factor = normalisation == PLAQ_NORMALISATION_MASS ? 0.3 : 1 - 8 * (1 / (2 * 0.3 + 8));
    p.normalisation = normalisation;
    OK(plaq_dirac_create(context, gauge, &p, &dirac));
    OK(plaq_dirac_apply(dirac, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, y, x));
    OK(plaq_spinor_save(y, NULL, back));
    for (i = 0; i < SPINOR; i++) CHECK(fabs(back[i] - factor * values[i]) < 1e-13 * 24);
    OK(plaq_dirac_apply(dirac, PLAQ_SYSTEM_FULL, PLAQ_FORM_MDAGM, y, x));
    OK(plaq_spinor_save(y, NULL, back));
    for (i = 0; i < SPINOR; i++) CHECK(fabs(back[i] - factor * factor * values[i]) < 1e-13 * 24);
    OK(plaq_dirac_report_init(&r, sizeof r));
    OK(plaq_dirac_describe(dirac, &r));
    CHECK(fabs(r.kappa - 1 / 8.6) < 1e-15 && fabs(r.mass - 0.3) < 1e-15);
    CHECK(r.flops > 1320.0 * VOLUME && r.precision == PLAQ_PRECISION_DOUBLE && r.storage == PLAQ_STORAGE_SU3_12);
    OK(plaq_dirac_destroy(dirac));
  }
  OK(plaq_gauge_destroy(gauge));
  OK(plaq_spinor_destroy(x));
  OK(plaq_spinor_destroy(y));
  free(links);
  free(values);
  free(back);
}

/* <y, M x> = <M^dagger y, x> for every system and normalisation. */
static void adjoint(plaq_context context, plaq_gauge gauge) {
  static const int32_t subsets[] = {PLAQ_SUBSET_FULL, PLAQ_SUBSET_EVEN, PLAQ_SUBSET_ODD,
                                    PLAQ_SUBSET_EVEN, PLAQ_SUBSET_ODD};
  double *u = random_numbers(2 * SPINOR), *v = random_numbers(2 * SPINOR);
  double left[4], right[4], norm[2], product[4];
  int system, normalisation, k;
  for (normalisation = 0; normalisation < 2; normalisation++) {
    plaq_dirac dirac = new_dirac(context, gauge, 1.2, 0.2, normalisation);
    for (system = 0; system < 5; system++) {
      plaq_spinor_params p = spinor_params(2);
      plaq_spinor x, y, t;
      p.subset = subsets[system];
      OK(plaq_spinor_create(context, &p, &x));
      OK(plaq_spinor_create(context, &p, &y));
      OK(plaq_spinor_create(context, &p, &t));
      OK(plaq_spinor_load(x, NULL, u));
      OK(plaq_spinor_load(y, NULL, v));
      OK(plaq_dirac_apply(dirac, system, PLAQ_FORM_M, t, x));
      OK(plaq_spinor_dot(y, t, left, 2));
      OK(plaq_spinor_norm2(t, norm, 2));
      OK(plaq_dirac_apply(dirac, system, PLAQ_FORM_MDAG, t, y));
      OK(plaq_spinor_dot(t, x, right, 2));
      for (k = 0; k < 4; k++) CHECK(fabs(left[k] - right[k]) < 1e-12 * SPINOR);
      OK(plaq_dirac_apply(dirac, system, PLAQ_FORM_MDAGM, t, x));
      OK(plaq_spinor_dot(x, t, product, 2));
      for (k = 0; k < 2; k++) CHECK(fabs(product[2 * k] - norm[k]) < 1e-12 * norm[k]);
      OK(plaq_dirac_apply(dirac, system, PLAQ_FORM_MMDAG, t, x));
      OK(plaq_spinor_destroy(x));
      OK(plaq_spinor_destroy(y));
      OK(plaq_spinor_destroy(t));
    }
    OK(plaq_dirac_destroy(dirac));
  }
  free(u);
  free(v);
}

/* M = 1 - kappa H from plaq_dirac_hop; and operators keep their links when the gauge field changes. */
static void pieces(plaq_context context, plaq_gauge gauge) {
  double *u = random_numbers(SPINOR), *full = numbers(SPINOR), *sum = numbers(SPINOR);
  double *links = unit_links(), *old = numbers(LINKS), a[2] = {1, 0}, b[2] = {-0.12, 0};
  plaq_dirac dirac = new_dirac(context, gauge, 0, 0, PLAQ_NORMALISATION_KAPPA);
  plaq_spinor x = new_spinor(context, 1, u), y = new_spinor(context, 1, NULL);
  OK(plaq_gauge_save(gauge, NULL, old));
  OK(plaq_dirac_apply(dirac, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, y, x));
  OK(plaq_spinor_save(y, NULL, full));
  OK(plaq_gauge_load(gauge, NULL, links));
  OK(plaq_dirac_hop(dirac, 0, 0, y, x));
  OK(plaq_dirac_hop(dirac, 1, 0, y, x));
  OK(plaq_spinor_axpby(a, x, b, y, 1));
  OK(plaq_spinor_save(y, NULL, sum));
  CHECK(distance(full, sum, SPINOR) < 1e-13);
  OK(plaq_gauge_load(gauge, NULL, old));
  OK(plaq_spinor_destroy(x));
  OK(plaq_spinor_destroy(y));
  OK(plaq_dirac_destroy(dirac));
  free(u);
  free(full);
  free(sum);
  free(links);
  free(old);
}

/* ln det of known blocks; ln det of an operator's blocks is the negative of that of the inverse blocks. */
static void log_det(plaq_context context, plaq_gauge gauge) {
  static const double expected[2] = {2.0, 0.5};
  double *a = numbers(72 * VOLUME), det[2] = {0}, inverse_det[2] = {0};
  plaq_dirac dirac = new_dirac(context, gauge, 1.3, 0, 0);
  plaq_clover blocks, inverse, mine, none = {0};
  plaq_clover_params c;
  plaq_layout_params packed;
  int32_t sign[2] = {0};
  int i, p;

  OK(plaq_dirac_clover(dirac, &blocks));
  OK(plaq_dirac_clover_inverse(dirac, &inverse));
  OK(plaq_clover_log_det(blocks, 0, det));
  OK(plaq_clover_log_det(inverse, 0, inverse_det));
  for (p = 0; p < 2; p++) CHECK(det[p] < -1 && fabs(det[p] / inverse_det[p] + 1) < 1e-12);
  OK(plaq_layout_params_init(&packed, sizeof packed));
  packed.order = PLAQ_ORDER_MILC;
  OK(plaq_clover_params_init(&c, sizeof c));
  c.extents[0] = LX, c.extents[1] = LY, c.extents[2] = LZ, c.extents[3] = LT;
  OK(plaq_clover_create(context, &c, &mine));
  for (i = 0; i < 72 * VOLUME; i++) a[i] = i % 36 < 6 ? expected[i >= 36 * VOLUME] : 0; /* even sites first */
  OK(plaq_clover_load(mine, &packed, a));
  OK(plaq_clover_log_det(mine, 0, det));
  for (p = 0; p < 2; p++) CHECK(fabs(det[p] / (6 * VOLUME * log(expected[p])) - 1) < 1e-13);
  OK(plaq_clover_log_det(mine, 0.3, det));
  for (p = 0; p < 2; p++) CHECK(fabs(det[p] / (6 * VOLUME * log(expected[p] * expected[p] + 0.09)) - 1) < 1e-13);
  a[72 * 5] = -1;
  OK(plaq_clover_load(mine, &packed, a));
  OK(plaq_clover_log_det(mine, 0, det));
  CHECK(fabs(det[0] / ((6 * VOLUME - 1) * log(expected[0])) - 1) < 1e-12);
  OK(plaq_clover_det_sign(mine, 0, sign));
  CHECK(sign[0] == -1 && sign[1] == 1);
  a[72 * 5] = 0;
  OK(plaq_clover_load(mine, &packed, a));
  det[0] = 17;
  REFUSED(PLAQ_SINGULAR_CLOVER, "cannot be inverted, worst at the site [", plaq_clover_log_det(mine, 0, det));
  EXPECT(PLAQ_SINGULAR_CLOVER, plaq_clover_det_sign(mine, 0, sign));
  EXPECT(PLAQ_BAD_PARAMETER, plaq_clover_log_det(mine, NAN, det));
  EXPECT(PLAQ_NULL_POINTER, plaq_clover_log_det(mine, 0, NULL));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_clover_log_det(none, 0, det));
  CHECK(det[0] == 17);
  OK(plaq_clover_destroy(mine));
  OK(plaq_clover_destroy(blocks));
  OK(plaq_clover_destroy(inverse));
  OK(plaq_dirac_destroy(dirac));
  free(a);
}

/* A clover term copied through the host gives the same operator again. */
static void clover_through_host(plaq_context context, plaq_gauge gauge) {
  double *u = random_numbers(SPINOR), *one = numbers(SPINOR), *two = numbers(SPINOR);
  double *a = numbers(72 * VOLUME), *inverse = numbers(72 * VOLUME), worst = 0;
  plaq_spinor x = new_spinor(context, 1, u), y = new_spinor(context, 1, NULL);
  plaq_spinor_params s = spinor_params(1);
  plaq_dirac made = new_dirac(context, gauge, 1.3, 0, 0), plain = new_dirac(context, gauge, 0, 0, 0), given;
  plaq_clover blocks, inverse_blocks, mine, none = {0};
  plaq_clover_params c;
  plaq_dirac_params p;
  plaq_layout_params packed;
  plaq_spinor odd_x, odd_y;
  int i, with_inverse;

  OK(plaq_layout_params_init(&packed, sizeof packed));
  packed.order = PLAQ_ORDER_MILC;
  OK(plaq_dirac_clover(made, &blocks));
  OK(plaq_dirac_clover_inverse(made, &inverse_blocks));
  EXPECT(PLAQ_UNSUPPORTED, plaq_dirac_clover(plain, &mine));
  EXPECT(PLAQ_NULL_POINTER, plaq_dirac_clover(made, NULL));
  OK(plaq_clover_save(blocks, &packed, a));
  OK(plaq_clover_save(inverse_blocks, &packed, inverse));
  EXPECT(PLAQ_BAD_LAYOUT, plaq_clover_save(blocks, NULL, a));
  /* The trace of the field strength term vanishes: each block's diagonal sums to 6. */
  for (i = 0; i < 2 * VOLUME; i++) {
    double *d = a + 36 * i, trace = d[0] + d[1] + d[2] + d[3] + d[4] + d[5];
    worst = fmax(worst, fabs(trace - 6));
  }
  CHECK(worst < 1e-13 * 6);

  OK(plaq_clover_params_init(&c, sizeof c));
  EXPECT(PLAQ_BAD_EXTENTS, plaq_clover_create(context, &c, &mine));
  c.extents[0] = LX, c.extents[1] = LY, c.extents[2] = LZ, c.extents[3] = LT;
  OK(plaq_clover_create(context, &c, &mine));
  OK(plaq_clover_load(mine, &packed, a));
  a[17] = NAN;
  EXPECT(PLAQ_NOT_FINITE, plaq_clover_load(mine, &packed, a));
  OK(plaq_clover_load(inverse_blocks, &packed, inverse));
  OK(plaq_dirac_params_init(&p, sizeof p));
  p.kappa = 0.12, p.normalisation = PLAQ_NORMALISATION_KAPPA;
  s.subset = PLAQ_SUBSET_ODD;
  OK(plaq_spinor_create(context, &s, &odd_x));
  OK(plaq_spinor_create(context, &s, &odd_y));
  OK(plaq_spinor_load(odd_x, NULL, u));
  for (with_inverse = 0; with_inverse < 2; with_inverse++) {
    OK(plaq_dirac_create_with_clover(context, gauge, &p, mine, with_inverse ? inverse_blocks : none, &given));
    OK(plaq_dirac_apply(made, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, y, x));
    OK(plaq_spinor_save(y, NULL, one));
    OK(plaq_dirac_apply(given, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, y, x));
    OK(plaq_spinor_save(y, NULL, two));
    CHECK(distance(one, two, SPINOR) < 1e-14);
    memset(one, 0, SPINOR * sizeof *one);
    memset(two, 0, SPINOR * sizeof *two);
    OK(plaq_dirac_apply(made, PLAQ_SYSTEM_ODD_SYMMETRIC, PLAQ_FORM_M, odd_y, odd_x));
    OK(plaq_spinor_save(odd_y, NULL, one));
    OK(plaq_dirac_apply(given, PLAQ_SYSTEM_ODD_SYMMETRIC, PLAQ_FORM_M, odd_y, odd_x));
    OK(plaq_spinor_save(odd_y, NULL, two));
    CHECK(distance(one, two, SPINOR) < 1e-14);
    OK(plaq_dirac_destroy(given));
  }
  EXPECT(PLAQ_INVALID_HANDLE, plaq_dirac_create_with_clover(context, gauge, &p, none, none, &given));
  OK(plaq_clover_destroy(mine));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_clover_load(mine, &packed, a));
  OK(plaq_dirac_destroy(made));
  OK(plaq_clover_save(blocks, &packed, a)); /* lives on its own */
  free(u);
  free(one);
  free(two);
  free(a);
  free(inverse);
}

static void misuse(plaq_context context, plaq_gauge gauge) {
  plaq_dirac_params p;
  plaq_dirac dirac = {5}, good = new_dirac(context, gauge, 0, 0, 0), zero = {0};
  plaq_spinor x = new_spinor(context, 1, NULL), y = new_spinor(context, 1, NULL), odd, many;
  plaq_spinor_params s = spinor_params(1);
  plaq_gauge_params g = gauge_params();
  plaq_gauge su2, none = {0};
  plaq_context other = cpu_context();

  s.subset = PLAQ_SUBSET_ODD;
  OK(plaq_spinor_create(context, &s, &odd));
  many = new_spinor(context, 2, NULL);
  OK(plaq_dirac_params_init(&p, sizeof p));
  EXPECT(PLAQ_NULL_POINTER, plaq_dirac_create(context, gauge, &p, NULL));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_dirac_create(context, none, &p, &dirac));
  EXPECT(PLAQ_WRONG_CONTEXT, plaq_dirac_create(other, gauge, &p, &dirac));
  p.kappa = -0.1;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_dirac_create(context, gauge, &p, &dirac));
  p.kappa = NAN;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_dirac_create(context, gauge, &p, &dirac));
  p.kappa = 0;
  p.mass = -100;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_dirac_create(context, gauge, &p, &dirac));
  p.mass = 0.1;
  p.csw = INFINITY;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_dirac_create(context, gauge, &p, &dirac));
  p.csw = 0;
  p.boundary[1] = NAN;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_dirac_create(context, gauge, &p, &dirac));
  p.boundary[1] = 0;
  p.precision = 16;
  REFUSED(PLAQ_INVALID_ARGUMENT, "params.precision", plaq_dirac_create(context, gauge, &p, &dirac));
  p.precision = 0;
  p.storage = PLAQ_STORAGE_SU2;
  EXPECT(PLAQ_UNSUPPORTED, plaq_dirac_create(context, gauge, &p, &dirac));
  p.storage = 0;
  p.normalisation = 2;
  REFUSED(PLAQ_INVALID_ARGUMENT, "normalisation", plaq_dirac_create(context, gauge, &p, &dirac));
  p.normalisation = 0;
  g.storage = PLAQ_STORAGE_SU2;
  OK(plaq_gauge_create(context, &g, &su2));
  REFUSED(PLAQ_UNSUPPORTED, "SU(3)", plaq_dirac_create(context, su2, &p, &dirac));
  CHECK(dirac.id == 5);

  EXPECT(PLAQ_INVALID_HANDLE, plaq_dirac_apply(dirac, 0, 0, y, x));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_dirac_apply(zero, 0, 0, y, x));
  REFUSED(PLAQ_INVALID_ARGUMENT, "system", plaq_dirac_apply(good, 5, 0, y, x));
  REFUSED(PLAQ_INVALID_ARGUMENT, "form", plaq_dirac_apply(good, 0, -1, y, x));
  EXPECT(PLAQ_BUSY, plaq_dirac_apply(good, 0, 0, x, x));
  REFUSED(PLAQ_FIELD_MISMATCH, "y:", plaq_dirac_apply(good, 0, 0, odd, x));
  REFUSED(PLAQ_FIELD_MISMATCH, "x:", plaq_dirac_apply(good, PLAQ_SYSTEM_EVEN_SYMMETRIC, 0, y, odd));
  EXPECT(PLAQ_FIELD_MISMATCH, plaq_dirac_apply(good, 0, 0, many, x));
  REFUSED(PLAQ_INVALID_ARGUMENT, "parity", plaq_dirac_hop(good, 2, 0, y, x));
  REFUSED(PLAQ_INVALID_ARGUMENT, "dagger", plaq_dirac_hop(good, 0, -1, y, x));
  EXPECT(PLAQ_FIELD_MISMATCH, plaq_dirac_hop(good, 0, 0, odd, x));
  EXPECT(PLAQ_FIELD_MISMATCH, plaq_dirac_hop(good, 1, 0, y, odd));
  EXPECT(PLAQ_BUSY, plaq_dirac_hop(good, 1, 0, x, x));
  OK(plaq_dirac_destroy(good));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_dirac_apply(good, 0, 0, y, x));
  OK(plaq_context_destroy(other));
}

int main(void) {
  plaq_context context = cpu_context();
  double *links = random_links();
  plaq_gauge gauge = new_gauge(context, links);
  free_field(context);
  adjoint(context, gauge);
  pieces(context, gauge);
  clover_through_host(context, gauge);
  log_det(context, gauge);
  misuse(context, gauge);
  /* Destroying the context destroys all its remaining objects. */
  OK(plaq_context_destroy(context));
  free(links);
  return 0;
}
