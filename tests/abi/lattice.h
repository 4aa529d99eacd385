/* A small lattice with links and spinors made in C. */
#ifndef LATTICE_H
#define LATTICE_H

#include <math.h>

#include "check.h"

/* Under valgrind there are half as many sites, but for programs that solve much, which define FEW_CALLS, where the library has
 * kernels of 16 lanes without fused products and sums: those ask for four sites in each direction, and kernels of eight
 * lanes would spend their time in valgrind's calls for such products. */
#ifndef IN_BRIEF
enum { LZ = 2, LT = 8 };
#elif defined(FEW_CALLS) && defined(LANES)
enum { LZ = 4, LT = 4 };
#else
enum { LZ = 2, LT = 4 };
#endif
enum { LX = 4, LY = 4, VOLUME = LX * LY * LZ * LT, LINKS = 72 * VOLUME, SPINOR = 24 * VOLUME };

/* Under valgrind numbers are compared less closely, as iterations would take thirty times as long. */
static inline int brief(void) {
  return getenv("PLAQ_TEST_BRIEF") != NULL;
}

static uint64_t random_state = 12345;

/* A random number in (-1, 1). */
static inline double uniform(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(random_state >> 11) / 4503599627370496.0 - 1.0;
}

static inline double *numbers(size_t count) {
  double *p = malloc(count * sizeof *p);
  CHECK(p != NULL);
  return p;
}

static inline double *random_numbers(size_t count) {
  double *p = numbers(count);
  size_t i;
  for (i = 0; i < count; i++) p[i] = uniform();
  return p;
}

/* SU(3) links, products of diagonal phases and a real rotation, in lexicographic order. */
static inline double *random_links(void) {
  double *links = numbers(LINKS), *u;
  int i, r, c;
  for (i = 0; i < 4 * VOLUME; i++) {
    double a = 3 * uniform(), b = 3 * uniform(), w = 3 * uniform();
    double rotation[3][3] = {{0}}, phase[3];
    int fixed = i % 3, p = (fixed + 1) % 3, q = (fixed + 2) % 3;
    rotation[fixed][fixed] = 1;
    rotation[p][p] = rotation[q][q] = cos(w);
    rotation[p][q] = sin(w);
    rotation[q][p] = -sin(w);
    phase[0] = a, phase[1] = b, phase[2] = -a - b;
    u = links + 18 * i;
    for (r = 0; r < 3; r++)
      for (c = 0; c < 3; c++) {
        u[6 * r + 2 * c] = cos(phase[r]) * rotation[r][c];
        u[6 * r + 2 * c + 1] = sin(phase[r]) * rotation[r][c];
      }
  }
  return links;
}

static inline double *unit_links(void) {
  double *links = calloc(LINKS, sizeof *links);
  int i;
  CHECK(links != NULL);
  for (i = 0; i < 12 * VOLUME; i++) links[18 * (i / 3) + 8 * (i % 3)] = 1;
  return links;
}

/* The largest difference; infinite if one is NaN. */
static inline double distance(const double *a, const double *b, size_t count) {
  double worst = 0;
  size_t i;
  for (i = 0; i < count; i++) {
    double d = fabs(a[i] - b[i]);
    if (isnan(d)) return HUGE_VAL;
    if (d > worst) worst = d;
  }
  return worst;
}

static inline plaq_context cpu_context(void) {
  plaq_context_params p;
  plaq_context context;
  OK(plaq_context_params_init(&p, sizeof p));
  p.device = PLAQ_DEVICE_CPU;
  p.threads = 2;
  OK(plaq_context_create(&p, &context));
  return context;
}

static inline plaq_gauge_params gauge_params(void) {
  plaq_gauge_params p;
  OK(plaq_gauge_params_init(&p, sizeof p));
  p.extents[0] = LX, p.extents[1] = LY, p.extents[2] = LZ, p.extents[3] = LT;
  return p;
}

static inline plaq_spinor_params spinor_params(int nrhs) {
  plaq_spinor_params p;
  OK(plaq_spinor_params_init(&p, sizeof p));
  p.extents[0] = LX, p.extents[1] = LY, p.extents[2] = LZ, p.extents[3] = LT;
  p.nrhs = nrhs;
  return p;
}

static inline plaq_gauge new_gauge(plaq_context context, const double *links) {
  plaq_gauge_params p = gauge_params();
  plaq_gauge gauge;
  OK(plaq_gauge_create(context, &p, &gauge));
  OK(plaq_gauge_load(gauge, NULL, links));
  return gauge;
}

static inline plaq_spinor new_spinor(plaq_context context, int nrhs, const double *values) {
  plaq_spinor_params p = spinor_params(nrhs);
  plaq_spinor spinor;
  OK(plaq_spinor_create(context, &p, &spinor));
  if (values) OK(plaq_spinor_load(spinor, NULL, values));
  return spinor;
}

/* Solves with every system and otherwise these parameters: M x of each solution is the source. */
static inline void solve_every_system(plaq_dirac dirac, plaq_solver_params p, plaq_spinor x, plaq_spinor y,
                                      plaq_spinor b, const double *source, size_t count, double error) {
  double *back = numbers(count);
  int system;
  for (system = PLAQ_SYSTEM_FULL; system <= PLAQ_SYSTEM_ODD_ASYMMETRIC; system++) {
    plaq_solve_report r;
    plaq_solver solver;
    OK(plaq_solve_report_init(&r, sizeof r));
    p.system = system, p.tol = 1e-11;
    OK(plaq_solver_create(dirac, &p, &solver));
    OK(plaq_solver_solve(solver, x, b, NULL, NULL, &r, NULL));
    CHECK(r.converged && r.iterations > 2);
    OK(plaq_dirac_apply(dirac, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, y, x));
    OK(plaq_spinor_save(y, NULL, back));
    CHECK(distance(back, source, count) < error);
    OK(plaq_solver_destroy(solver));
  }
  free(back);
}

#endif
