/* Fermion forces of given spinors against differences of what they belong to, and their misuse. */
#include "lattice.h"

enum { NRHS = 2 };
static const double coefficients[NRHS] = {-1, 0.4};

typedef struct {
  plaq_context context;
  plaq_gauge gauge;
  plaq_dirac dirac;
  plaq_spinor x, y, image;
  int system;
  double determinant[2];
} setup;

/* The action sum_k 2 c_k Re <y_k, M x_k> + sum over parities of d ln |det A|^2, from which forces are derived. */
static double value(const setup *s) {
  double products[2 * NRHS], sum = 0, logs[2];
  plaq_clover clover;
  int k;
  OK(plaq_dirac_update(s->dirac, s->gauge));
  OK(plaq_dirac_apply(s->dirac, s->system, PLAQ_FORM_M, s->image, s->x));
  OK(plaq_spinor_dot(s->y, s->image, products, NRHS));
  for (k = 0; k < NRHS; k++) sum += 2 * coefficients[k] * products[2 * k];
  if (s->determinant[0] == 0 && s->determinant[1] == 0) return sum;
  OK(plaq_dirac_clover(s->dirac, &clover));
  OK(plaq_clover_log_det(clover, 0, logs));
  OK(plaq_clover_destroy(clover));
  return sum + 2 * (s->determinant[0] * logs[0] + s->determinant[1] * logs[1]);
}

static double at(const setup *s, plaq_momentum p, double epsilon) {
  double v;
  OK(plaq_gauge_evolve(s->gauge, p, epsilon));
  v = value(s);
  OK(plaq_gauge_evolve(s->gauge, p, -epsilon));
  OK(plaq_dirac_update(s->dirac, s->gauge));
  return v;
}

/* Compares the force along random momenta, from differences of the action, with that from |p + F|^2. */
static void compare(const setup *s, plaq_momentum force) {
  plaq_momentum p;
  double e = 1e-3, expect, found, size, kinetic[2];
  OK(plaq_momentum_create(s->gauge, &p));
  OK(plaq_momentum_gaussian(p, 3, 0));
  expect = (8 * (at(s, p, e) - at(s, p, -e)) - (at(s, p, 2 * e) - at(s, p, -2 * e))) / (12 * e);
  OK(plaq_momentum_kinetic(p, &kinetic[0]));
  OK(plaq_momentum_kinetic(force, &size));
  OK(plaq_momentum_add(p, 1, force, 1));
  OK(plaq_momentum_kinetic(p, &kinetic[1]));
  found = kinetic[1] - kinetic[0] - size;
  CHECK(fabs(found - expect) < 1e-8 * sqrt(2 * size));
  OK(plaq_momentum_destroy(p));
}

static void forces(plaq_context context, int system, int normalisation) {
  const int symmetric = system == PLAQ_SYSTEM_EVEN_SYMMETRIC || system == PLAQ_SYSTEM_ODD_SYMMETRIC;
  const int odd = system == PLAQ_SYSTEM_ODD_SYMMETRIC || system == PLAQ_SYSTEM_ODD_ASYMMETRIC;
  double *links = random_links(), *values = random_numbers(2 * NRHS * SPINOR);
  plaq_gauge_params gp = gauge_params();
  plaq_spinor_params sp = spinor_params(NRHS);
  plaq_dirac_params p;
  plaq_momentum force;
  setup s;
  s.context = context;
  s.system = system;
  gp.storage = PLAQ_STORAGE_SU3_18;
  OK(plaq_gauge_create(context, &gp, &s.gauge));
  OK(plaq_gauge_load(s.gauge, NULL, links));
  OK(plaq_dirac_params_init(&p, sizeof p));
  p.kappa = 0.12;
  p.csw = 0.8;
  p.normalisation = normalisation;
  OK(plaq_dirac_create(context, s.gauge, &p, &s.dirac));
  if (system != PLAQ_SYSTEM_FULL) sp.subset = odd ? PLAQ_SUBSET_ODD : PLAQ_SUBSET_EVEN;
  OK(plaq_spinor_create(context, &sp, &s.x));
  OK(plaq_spinor_create(context, &sp, &s.y));
  OK(plaq_spinor_create(context, &sp, &s.image));
  OK(plaq_spinor_load(s.x, NULL, values));
  OK(plaq_spinor_load(s.y, NULL, values + NRHS * SPINOR));
  OK(plaq_momentum_create(s.gauge, &force));
  if (system == PLAQ_SYSTEM_FULL) {
    s.determinant[0] = -0.5, s.determinant[1] = 0.3;
    OK(plaq_dirac_hop_force(s.dirac, force, -1, s.x, s.y, coefficients, NRHS));
    OK(plaq_dirac_clover_force(s.dirac, force, -1, s.x, s.y, coefficients, NRHS, -0.5, 0.3));
  } else {
    s.determinant[0] = symmetric || odd ? -0.7 : 0;
    s.determinant[1] = symmetric || !odd ? -0.7 : 0;
    OK(plaq_dirac_schur_force(s.dirac, system, force, -1, s.x, s.y, coefficients, NRHS, -0.7));
  }
  compare(&s, force);
  REFUSED(PLAQ_INVALID_ARGUMENT, "step", plaq_dirac_hop_force(s.dirac, force, NAN, s.x, s.y, coefficients, NRHS));
  REFUSED(PLAQ_INVALID_ARGUMENT, "count", plaq_dirac_hop_force(s.dirac, force, 1, s.x, s.y, coefficients, NRHS + 1));
  REFUSED(PLAQ_INVALID_ARGUMENT, "system",
          plaq_dirac_schur_force(s.dirac, PLAQ_SYSTEM_FULL, force, 1, s.x, s.y, coefficients, NRHS, 0));
  if (system != PLAQ_SYSTEM_FULL)
    REFUSED(PLAQ_FIELD_MISMATCH, "X", plaq_dirac_hop_force(s.dirac, force, 1, s.x, s.y, coefficients, NRHS));
  OK(plaq_momentum_destroy(force));
  OK(plaq_spinor_destroy(s.x));
  OK(plaq_spinor_destroy(s.y));
  OK(plaq_spinor_destroy(s.image));
  OK(plaq_dirac_destroy(s.dirac));
  OK(plaq_gauge_destroy(s.gauge));
  free(links);
  free(values);
}

int main(void) {
  plaq_context context = cpu_context();
  int system;
  for (system = PLAQ_SYSTEM_FULL; system <= PLAQ_SYSTEM_ODD_ASYMMETRIC; system++)
    forces(context, system, system % 2 ? PLAQ_NORMALISATION_KAPPA : PLAQ_NORMALISATION_MASS);
  OK(plaq_context_destroy(context));
  return 0;
}
