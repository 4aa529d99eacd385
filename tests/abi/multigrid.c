/* Multigrid: null vectors by every solver and by the eigensolver, five levels, updates that are forgotten. */
#include "small.h"

enum { VECTORS = 4 };

static plaq_multigrid_params params(void) {
  plaq_multigrid_params p;
  int l;
  OK(plaq_multigrid_params_init(&p, sizeof p));
  CHECK(p.setup_solver == PLAQ_SETUP_BICGSTAB && p.setup_columns == 0 && p.level[3].post == 10);
  p.levels = 2;
  p.level[0].block[0] = 2, p.level[0].block[1] = 1, p.level[0].block[2] = 1, p.level[0].block[3] = 2;
  p.level[0].vectors = VECTORS;
  p.setup_iterations = 5;
  p.refinements = 0;
  for (l = 0; l < 4; l++) p.level[l].post = 2;
  return p;
}

/* Number of iterations of a solve that returns `status`. */
static int64_t solve(plaq_context context, plaq_dirac dirac, plaq_multigrid multigrid, int status) {
  plaq_solver_params p;
  plaq_solve_report r;
  plaq_solver solver;
  plaq_spinor x = vector(context, 1), b = vector(context, 1);
  OK(plaq_spinor_noise(b, PLAQ_NOISE_NORMAL, 8, 0));
  OK(plaq_solver_params_init(&p, sizeof p));
  OK(plaq_solve_report_init(&r, sizeof r));
  p.solver = PLAQ_SOLVER_GCR;
  p.tol = 1e-5;
  OK(plaq_solver_create(dirac, &p, &solver));
  OK(plaq_solver_set_multigrid(solver, multigrid));
  if (status == PLAQ_STALE_MULTIGRID)
    REFUSED(PLAQ_STALE_MULTIGRID, "update", plaq_solver_solve(solver, x, b, NULL, NULL, &r, NULL));
  else
    EXPECT(status, plaq_solver_solve(solver, x, b, NULL, NULL, &r, NULL));
  CHECK(status != PLAQ_SUCCESS || r.converged == 1);
  OK(plaq_solver_destroy(solver));
  OK(plaq_spinor_destroy(x));
  OK(plaq_spinor_destroy(b));
  return r.iterations;
}

static int32_t refresh_of(plaq_multigrid multigrid) {
  plaq_multigrid_report r;
  OK(plaq_multigrid_report_init(&r, sizeof r));
  OK(plaq_multigrid_describe(multigrid, &r));
  return r.refresh;
}

/* Low modes of M^dagger M are used in place of random vectors. */
static void low_modes(plaq_context context, plaq_dirac dirac) {
  plaq_multigrid_params p = params();
  plaq_multigrid random, low;
  plaq_eigen_params e;
  plaq_eigen eigen;
  plaq_spinor none = {0}, vectors;
  int64_t by_random, by_low;
  int mu;
  /* With two aggregates the few unknowns depend on the null vectors. */
  for (mu = 0; mu < 4; mu++) p.level[0].block[mu] = mu < 3 ? (mu ? 2 : 4) : 2;
  OK(plaq_eigen_params_init(&e, sizeof e));
  e.count = VECTORS;
  e.verify = 0;
  e.tol = brief() ? 1e-1 : 1e-5;
  OK(plaq_eigen_create(dirac, &e, none, NULL, NULL, &eigen, NULL));
  OK(plaq_eigen_vectors(eigen, &vectors));
  OK(plaq_multigrid_create_from(dirac, &p, vectors, NULL, NULL, &low));
  CHECK(refresh_of(low) == PLAQ_REFRESH_NONE);
  p.setup_iterations = 1;
  OK(plaq_multigrid_create(dirac, &p, NULL, NULL, &random));
  by_low = solve(context, dirac, low, PLAQ_SUCCESS), by_random = solve(context, dirac, random, PLAQ_SUCCESS);
  printf("iterations with low modes %d, with random vectors %d\n", (int)by_low, (int)by_random);
  CHECK(brief() || by_low + 3 <= by_random);
  p.level[0].vectors = VECTORS + 1;
  REFUSED(PLAQ_FIELD_MISMATCH, "at least 5", plaq_multigrid_create_from(dirac, &p, vectors, NULL, NULL, &random));
  OK(plaq_multigrid_destroy(low));
  OK(plaq_multigrid_destroy(random));
  OK(plaq_spinor_destroy(vectors));
  OK(plaq_eigen_destroy(eigen));
}

static void solvers(plaq_context context, plaq_dirac dirac) {
  const int32_t by[] = {PLAQ_SETUP_BICGSTAB, PLAQ_SETUP_CG, PLAQ_SETUP_GCR};
  plaq_multigrid_params p = params();
  plaq_multigrid made, refused = {7};
  int k;
  for (k = 0; k < 3; k++) {
    p.setup_solver = by[k];
    p.setup_columns = 3;
    OK(plaq_multigrid_create(dirac, &p, NULL, NULL, &made));
    CHECK(solve(context, dirac, made, PLAQ_SUCCESS) < 30);
    OK(plaq_multigrid_destroy(made));
  }
  p.setup_solver = 3;
  REFUSED(PLAQ_INVALID_ARGUMENT, "setup_solver", plaq_multigrid_create(dirac, &p, NULL, NULL, &refused));
  p = params(), p.setup_columns = 257;
  REFUSED(PLAQ_BAD_PARAMETER, "setup_columns: expected 0 to 256", plaq_multigrid_create(dirac, &p, NULL, NULL, &refused));
  p = params(), p.coarse_precision = PLAQ_PRECISION_QUARTER;
  REFUSED(PLAQ_INVALID_ARGUMENT, "coarse_precision: expected", plaq_multigrid_create(dirac, &p, NULL, NULL, &refused));
  p = params(), p.coarse_precision = PLAQ_PRECISION_DOUBLE, p.link_precision = PLAQ_PRECISION_QUARTER;
  REFUSED(PLAQ_UNSUPPORTED, "found quarter", plaq_multigrid_create(dirac, &p, NULL, NULL, &refused));
  p = params(), p.level[1].post = 10001;
  REFUSED(PLAQ_BAD_PARAMETER, "params.level[1].post: expected 0 to 10000, found 10001", plaq_multigrid_create(dirac, &p, NULL, NULL, &refused));
  p = params(), p.levels = 6;
  REFUSED(PLAQ_BAD_PARAMETER, "levels: expected 2 to 5, found 6", plaq_multigrid_create(dirac, &p, NULL, NULL, &refused));
  p = params(), p.levels = 5, p.level[3].block[0] = 3;
  REFUSED(PLAQ_BAD_EXTENTS, "level 3: aggregates of [3, ", plaq_multigrid_create(dirac, &p, NULL, NULL, &refused));
  CHECK(refused.id == 7);
}

/* Five levels, each of which halves one direction and has its own number of vectors. */
static void five_levels(plaq_context context, plaq_dirac dirac) {
  plaq_multigrid_params p = params();
  plaq_multigrid made;
  plaq_multigrid_report r;
  plaq_multigrid_level_report level;
  int l, mu;
  double seconds = 0;
  p.levels = 5;
  for (l = 0; l < 4; l++) {
    for (mu = 0; mu < 4; mu++) p.level[l].block[mu] = mu == l ? 2 : 1;
    p.level[l].vectors = VECTORS + l;
  }
  OK(plaq_multigrid_create(dirac, &p, NULL, NULL, &made));
  OK(plaq_multigrid_report_init(&r, sizeof r));
  OK(plaq_multigrid_level_report_init(&level, sizeof level));
  solve(context, dirac, made, PLAQ_SUCCESS);
  OK(plaq_multigrid_describe(made, &r));
  CHECK(r.levels == 5 && r.refresh == PLAQ_REFRESH_NONE);
  for (l = 0; l < 5; l++) {
    OK(plaq_multigrid_describe_level(made, l, &level));
    CHECK(level.vectors == (l < 4 ? VECTORS + l : 0) && level.iterations > 0 && level.setup_seconds >= 0);
    /* Norms are known for K cycles on levels between the first and the last. */
    CHECK(l == 0 ? level.reduction == r.reduction : l == 4 ? level.reduction == 0 : level.reduction > 0 && level.reduction < 1);
    seconds += level.setup_seconds;
  }
  CHECK(level.extents[0] == 2 && level.extents[3] == 2 && seconds > 0 && seconds <= r.setup_seconds);
  OK(plaq_multigrid_destroy(made));
}

/* After new links in an operator solves are refused until the multigrid is updated. */
static void updates(plaq_context context, plaq_gauge gauge, plaq_dirac dirac) {
  plaq_gauge other = small(context, T, 4, 0.32);
  plaq_multigrid_params p = params();
  plaq_multigrid made;
  int64_t bytes = 0;
  OK(plaq_multigrid_create(dirac, &p, NULL, NULL, &made));
  OK(plaq_dirac_update(dirac, other));
  solve(context, dirac, made, PLAQ_STALE_MULTIGRID);
  OK(plaq_multigrid_update_memory(made, dirac, PLAQ_REFRESH_KEEP, 0, &bytes));
  CHECK(bytes > 0);
  OK(plaq_multigrid_update(made, dirac, PLAQ_REFRESH_KEEP, 0, NULL, NULL));
  CHECK(refresh_of(made) != PLAQ_REFRESH_NONE);
  CHECK(solve(context, dirac, made, PLAQ_SUCCESS) < 30);
  OK(plaq_multigrid_update(made, dirac, PLAQ_REFRESH_ANEW, 0, NULL, NULL));
  CHECK(refresh_of(made) == PLAQ_REFRESH_ANEW);
  REFUSED(PLAQ_INVALID_ARGUMENT, "no update", plaq_multigrid_update(made, dirac, PLAQ_REFRESH_NONE, 0, NULL, NULL));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_multigrid_update_memory(made, dirac, PLAQ_REFRESH_REFINE, 0, &bytes));
  OK(plaq_dirac_update(dirac, gauge));
  solve(context, dirac, made, PLAQ_STALE_MULTIGRID);
  OK(plaq_multigrid_destroy(made));
  OK(plaq_gauge_destroy(other));
}

int main(void) {
  plaq_context context = one_thread();
  plaq_gauge gauge = small(context, T, 4, 0.3);
  plaq_dirac dirac = wilson(context, gauge, 0.1, PLAQ_NORMALISATION_KAPPA), light = wilson(context, gauge, -0.5, PLAQ_NORMALISATION_KAPPA);
  low_modes(context, light);
  solvers(context, dirac);
  five_levels(context, dirac);
  updates(context, gauge, dirac);
  OK(plaq_context_destroy(context));
  return 0;
}
