/* Two twisted flavours whose masses differ: against operators of one flavour, solves, and misuse. */
#define FEW_CALLS
#include "lattice.h"

enum { PAIR = 2 * SPINOR, RHS = 2 };
static const double kappa = 0.11, mu = 0.2, epsilon = 0.15;

static plaq_spinor vectors(plaq_context context, int slices, int nrhs, const double *values) {
  int extents[4] = {LX, LY, LZ, LT}, d;
  plaq_spinor_params p;
  plaq_spinor_report r;
  plaq_spinor spinor;
  OK(plaq_spinor_params_init(&p, sizeof p));
  for (d = 0; d < 4; d++) p.extents[d] = extents[d];
  p.slices = slices, p.nrhs = nrhs;
  OK(plaq_spinor_create(context, &p, &spinor));
  OK(plaq_spinor_report_init(&r, sizeof r));
  OK(plaq_spinor_describe(spinor, &r));
  CHECK(r.slices == slices && r.nrhs == nrhs && r.bytes == 8 * (int64_t)slices * nrhs * SPINOR);
  if (values != NULL) OK(plaq_spinor_load(spinor, NULL, values));
  return spinor;
}

static plaq_dirac_params flavour(double twist) {
  plaq_dirac_params p;
  OK(plaq_dirac_params_init(&p, sizeof p));
  p.kappa = kappa, p.csw = 1.2, p.mu = twist, p.normalisation = PLAQ_NORMALISATION_KAPPA;
  return p;
}

/* M of the doublet applies M of each flavour, and adds - 2 kappa epsilon times the other flavour. */
static void is_two_flavours(plaq_context context, plaq_gauge gauge) {
  double *v = random_numbers(RHS * PAIR), *found = numbers(RHS * PAIR), *want = numbers(SPINOR);
  plaq_dirac_params p = flavour(mu);
  plaq_dirac both, one;
  plaq_spinor x = vectors(context, 2, RHS, v), y = vectors(context, 2, RHS, NULL), u, w;
  int f, i, rhs;
  OK(plaq_dirac_create_doublet(context, gauge, &p, epsilon, &both));
  OK(plaq_dirac_apply(both, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, y, x));
  OK(plaq_spinor_save(y, NULL, found));
  for (f = 0; f < 2; f++) {
    p = flavour(f == 0 ? mu : -mu);
    OK(plaq_dirac_create(context, gauge, &p, &one));
    w = vectors(context, 1, 1, NULL);
    for (rhs = 0; rhs < RHS; rhs++) {
      const double *mine = found + rhs * PAIR + f * SPINOR, *other = v + rhs * PAIR + (1 - f) * SPINOR;
      u = vectors(context, 1, 1, v + rhs * PAIR + f * SPINOR);
      OK(plaq_dirac_apply(one, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, w, u));
      OK(plaq_spinor_save(w, NULL, want));
      for (i = 0; i < SPINOR; i++) CHECK(fabs(mine[i] - (want[i] - 2 * kappa * epsilon * other[i])) < 1e-13);
      OK(plaq_spinor_destroy(u));
    }
    OK(plaq_spinor_destroy(w));
    OK(plaq_dirac_destroy(one));
  }
  OK(plaq_spinor_destroy(x));
  OK(plaq_spinor_destroy(y));
  OK(plaq_dirac_destroy(both));
  free(v), free(found), free(want);
}

/* Solves with every system in mixed precision: M x of the solution is the source. */
static void solves(plaq_context context, plaq_gauge gauge) {
  double *source = random_numbers(PAIR);
  plaq_dirac_params d = flavour(mu);
  plaq_dirac dirac;
  plaq_spinor b = vectors(context, 2, 1, source), x = vectors(context, 2, 1, NULL), y = vectors(context, 2, 1, NULL);
  plaq_solver_params p;
  OK(plaq_dirac_create_doublet(context, gauge, &d, epsilon, &dirac));
  OK(plaq_solver_params_init(&p, sizeof p));
  p.sloppy_precision = PLAQ_PRECISION_SINGLE;
  solve_every_system(dirac, p, x, y, b, source, PAIR, 1e-8);
  OK(plaq_spinor_destroy(b));
  OK(plaq_spinor_destroy(x));
  OK(plaq_spinor_destroy(y));
  OK(plaq_dirac_destroy(dirac));
  free(source);
}

/* Solves for two right-hand sides by multigrid, whose null vectors are kept in an update of the links. */
static void with_multigrid(plaq_context context, plaq_gauge gauge) {
  double *source = random_numbers(2 * PAIR), *back = numbers(2 * PAIR);
  plaq_dirac_params d = flavour(mu);
  plaq_multigrid_params m;
  plaq_multigrid multigrid;
  plaq_solver_params p;
  plaq_solve_report r;
  plaq_solver solver;
  plaq_dirac dirac;
  plaq_spinor b = vectors(context, 2, 2, source), x = vectors(context, 2, 2, NULL), y = vectors(context, 2, 2, NULL);
  int system, i;
  OK(plaq_dirac_create_doublet(context, gauge, &d, epsilon, &dirac));
  OK(plaq_multigrid_params_init(&m, sizeof m));
  m.levels = 2, m.level[0].vectors = 6, m.refinements = 1;
  for (i = 0; i < 4; i++) m.level[0].block[i] = 2;
  OK(plaq_multigrid_create(dirac, &m, NULL, NULL, &multigrid));
  OK(plaq_multigrid_update(multigrid, dirac, PLAQ_REFRESH_KEEP, 1, NULL, NULL));
  for (system = brief() ? PLAQ_SYSTEM_ODD_ASYMMETRIC : PLAQ_SYSTEM_EVEN_SYMMETRIC; system <= PLAQ_SYSTEM_ODD_ASYMMETRIC; system++) {
    OK(plaq_solver_params_init(&p, sizeof p));
    OK(plaq_solve_report_init(&r, sizeof r));
    p.solver = PLAQ_SOLVER_GCR, p.system = system, p.tol = 1e-11;
    p.sloppy_precision = system % 2 ? PLAQ_PRECISION_SINGLE : PLAQ_PRECISION_HALF;
    OK(plaq_solver_create(dirac, &p, &solver));
    OK(plaq_solver_set_multigrid(solver, multigrid));
    OK(plaq_solver_solve(solver, x, b, NULL, NULL, &r, NULL));
    CHECK(r.converged && r.iterations >= 2 && r.iterations < 10);
    OK(plaq_dirac_apply(dirac, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, y, x));
    OK(plaq_spinor_save(y, NULL, back));
    CHECK(distance(back, source, 2 * PAIR) < 1e-8);
    OK(plaq_solver_destroy(solver));
  }
  OK(plaq_multigrid_destroy(multigrid));
  OK(plaq_spinor_destroy(b));
  OK(plaq_spinor_destroy(x));
  OK(plaq_spinor_destroy(y));
  OK(plaq_dirac_destroy(dirac));
  free(source), free(back);
}

/* Operators of one flavour are refused as doublets, and doublets where spinors are expected. */
static void misuse(plaq_context context, plaq_gauge gauge) {
  plaq_dirac_params p = flavour(mu);
  plaq_spinor one = vectors(context, 1, 2, NULL), both = vectors(context, 2, 1, NULL), none = {0};
  plaq_dirac dirac, never = {0};
  plaq_spinor_params s;
  plaq_multigrid_params m;
  plaq_multigrid multigrid;
  plaq_solver_params how;
  plaq_solver solver;
  plaq_dirac flavoured;
  OK(plaq_dirac_create_doublet(context, gauge, &p, epsilon, &dirac));
  OK(plaq_dirac_create(context, gauge, &p, &flavoured));
  REFUSED(PLAQ_FIELD_MISMATCH, "x", plaq_dirac_apply(dirac, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, both, one));
  REFUSED(PLAQ_FIELD_MISMATCH, "y", plaq_dirac_apply(dirac, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, one, both));
  REFUSED(PLAQ_BAD_PARAMETER, "epsilon", plaq_dirac_create_doublet(context, gauge, &p, NAN, &never));
  OK(plaq_spinor_params_init(&s, sizeof s));
  s.gauge = gauge, s.slices = 3;
  REFUSED(PLAQ_INVALID_ARGUMENT, "slices", plaq_spinor_create(context, &s, &none));
  s.slices = 2, s.spins = 1;
  REFUSED(PLAQ_INVALID_ARGUMENT, "slices", plaq_spinor_create(context, &s, &none));
  OK(plaq_multigrid_params_init(&m, sizeof m));
  m.levels = 2, m.level[0].vectors = 4, m.refinements = 0, m.smoother = PLAQ_SMOOTHER_SCHWARZ_ADDITIVE;
  REFUSED(PLAQ_UNSUPPORTED, "smoother", plaq_multigrid_create(dirac, &m, NULL, NULL, &multigrid));
  m.smoother = PLAQ_SMOOTHER_CA_GCR;
  OK(plaq_multigrid_create(flavoured, &m, NULL, NULL, &multigrid));
  OK(plaq_solver_params_init(&how, sizeof how));
  how.solver = PLAQ_SOLVER_GCR;
  OK(plaq_solver_create(dirac, &how, &solver));
  REFUSED(PLAQ_FIELD_MISMATCH, "slices", plaq_solver_set_multigrid(solver, multigrid));
  OK(plaq_solver_destroy(solver));
  OK(plaq_multigrid_destroy(multigrid));
  OK(plaq_dirac_destroy(flavoured));
  OK(plaq_spinor_destroy(one));
  OK(plaq_spinor_destroy(both));
  OK(plaq_dirac_destroy(dirac));
}

int main(void) {
  plaq_context context = cpu_context();
  double *links = random_links();
  plaq_gauge gauge = new_gauge(context, links);
  is_two_flavours(context, gauge);
  solves(context, gauge);
  with_multigrid(context, gauge);
  misuse(context, gauge);
  OK(plaq_gauge_destroy(gauge));
  OK(plaq_context_destroy(context));
  free(links);
  return 0;
}
