/* Parts that programs of trajectories share: the native interface beside a client's calls, on one rank, and rational
 * functions. */
#ifndef TRAJECTORY_H
#define TRAJECTORY_H

#include "lattice.h"

#include "plaq.h"

#define OK(call)                                                             \
  do {                                                                       \
    const plaq_status status_ = (call);                                      \
    if (status_ != PLAQ_SUCCESS) fprintf(stderr, "%s\n", plaq_last_error()); \
    CHECK(status_ == PLAQ_SUCCESS);                                          \
  } while (0)

/* ---- the native interface ---- */

enum { VECTORS = 3 };

/* Objects of the native interface: links of the action, momenta, the gauge action, the quark, and vectors of its odd
 * sites. */
static struct {
  plaq_context context;
  plaq_gauge gauge;
  plaq_momentum momentum;
  plaq_gauge_action_params action;
  plaq_dirac dirac;
  plaq_spinor vector[VECTORS];
} native;

/* Loads `links` into the native interface; the quark has them only after an update. */
static void open_native(double beta, double c1, const plaq_dirac_params *quark) {
  int mu, i;
  PLAQ_INIT(plaq_gauge_params, shape);
  PLAQ_INIT(plaq_spinor_params, half);
  PLAQ_INIT(plaq_layout_params, layout);
  OK(plaq_context_create(NULL, &native.context));
  for (mu = 0; mu < 4; mu++) shape.extents[mu] = half.extents[mu] = global[mu];
  OK(plaq_gauge_create(native.context, &shape, &native.gauge));
  OK(plaq_gauge_load(native.gauge, &layout, links));
  OK(plaq_momentum_create(native.gauge, &native.momentum));
  OK(plaq_gauge_action_params_init(&native.action, (int64_t)sizeof native.action));
  native.action.action = PLAQ_GAUGE_ACTION_RECTANGLE;
  native.action.beta = beta;
  native.action.c1 = c1;
  OK(plaq_dirac_create(native.context, native.gauge, quark, &native.dirac));
  half.subset = PLAQ_SUBSET_ODD;
  for (i = 0; i < VECTORS; i++) OK(plaq_spinor_create(native.context, &half, &native.vector[i]));
}

/* ---- rational functions ---- */

enum { ROOTS = 8 };

/* factor prod_j (y + zero_j) / (y + root_j) = factor (1 + sum residue_j / (y + root_j)), of a power of y from low to high. */
typedef struct {
  int roots;
  double power, low, high, factor, zero[ROOTS], root[ROOTS], residue[ROOTS], error;
} rational;

static double value_at(const rational *r, double y) {
  double value = r->factor;
  int j;
  for (j = 0; j < r->roots; j++) value *= (y + r->zero[j]) / (y + r->root[j]);
  return value;
}

/* Computes the residues of r and its error, that at `low`, where it is extreme. */
static inline rational complete(rational r) {
  int i, j;
  for (j = 0; j < r.roots; j++) {
    r.residue[j] = r.zero[j] - r.root[j];
    for (i = 0; i < r.roots; i++)
      if (i != j) r.residue[j] *= (r.zero[i] - r.root[j]) / (r.root[i] - r.root[j]);
  }
  r.error = fabs(value_at(&r, r.low) * pow(r.low, -r.power) - 1);
  return r;
}

/* Jacobi's sn at u with the complementary modulus `other`, by descending Landen transformations. */
static double jacobi_sn(double u, double other) {
  double a[20], c[20], angle;
  int n = 0;
  a[0] = 1, c[0] = sqrt(1 - other * other);
  while (n < 18 && c[n] > 1e-17 * a[n]) {
    a[n + 1] = (a[n] + other) / 2, c[n + 1] = (a[n] - other) / 2, other = sqrt(a[n] * other), n++;
  }
  for (angle = ldexp(a[n] * u, n); n > 0; n--) angle = (angle + asin(c[n] / a[n] * sin(angle))) / 2;
  return sin(angle);
}

/* The complete elliptic integral K at the complementary modulus `other`. */
static double complete_integral(double other) {
  double a = 1;
  int n;
  for (n = 0; n < 30; n++) {
    const double mean = (a + other) / 2;
    other = sqrt(a * other), a = mean;
  }
  return acos(-1) / (2 * a);
}

/* Zolotarev's rational function, that of y^-1/2 with the least relative error. Roots are in ascending order. */
static inline rational inverse_root_of(int roots, double low, double high) {
  const double modulus = sqrt(low / high), period = complete_integral(modulus);
  rational r = {roots, -0.5, low, high, 1, {0}, {0}, {0}, 0};
  int i;
  for (i = 1; i <= 2 * roots; i++) {
    const double sn = jacobi_sn(i * period / (2 * roots + 1), modulus), value = high * (1 - sn * sn) / (sn * sn);
    if (i % 2) r.zero[roots - 1 - i / 2] = value;
    else r.root[roots - i / 2] = value;
  }
  /* sqrt(y) R(y) has extremes at both ends of the interval, on either side of 1. */
  r.factor = 2 / (value_at(&r, low) * sqrt(low) + value_at(&r, high) * sqrt(high));
  return complete(r);
}

#endif
