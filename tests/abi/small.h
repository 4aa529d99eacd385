/* A lattice so small that calls take next to no time, and objects for tests of multigrid and of modes on it. */
#ifndef SMALL_H
#define SMALL_H

#include "lattice.h"

#ifndef WIDTH
#define WIDTH 4
#endif
enum { X = WIDTH, Y = 2, Z = 2, T = 4, SMALL = 24 * X * Y * Z * T };

/* A context with one thread: on so small a lattice more threads would wait more than work. */
static inline plaq_context one_thread(void) {
  plaq_context_params p;
  plaq_context context;
  OK(plaq_context_params_init(&p, sizeof p));
  p.device = PLAQ_DEVICE_CPU;
  p.threads = 1;
  OK(plaq_context_create(&p, &context));
  return context;
}

/* A lattice with `t` time slices. */
static inline plaq_gauge small(plaq_context context, int t, int64_t seed, double roughness) {
  plaq_gauge_params p = gauge_params();
  plaq_gauge gauge;
  p.extents[0] = X, p.extents[1] = Y, p.extents[2] = Z, p.extents[3] = t;
  OK(plaq_gauge_create(context, &p, &gauge));
  OK(plaq_gauge_warm(gauge, seed, roughness));
  return gauge;
}

static inline plaq_dirac wilson(plaq_context context, plaq_gauge gauge, double mass, int32_t normalisation) {
  plaq_dirac_params p;
  plaq_dirac dirac;
  OK(plaq_dirac_params_init(&p, sizeof p));
  p.mass = mass;
  p.normalisation = normalisation;
  OK(plaq_dirac_create(context, gauge, &p, &dirac));
  return dirac;
}

static inline plaq_spinor vector(plaq_context context, int nrhs) {
  plaq_spinor_params p = spinor_params(nrhs);
  plaq_spinor v;
  p.extents[0] = X, p.extents[1] = Y, p.extents[2] = Z, p.extents[3] = T;
  OK(plaq_spinor_create(context, &p, &v));
  return v;
}

#endif
