/* Solvers: every algorithm and equation reaches its tolerance; reports, callbacks, and misuse. */
#define FEW_CALLS
#include "lattice.h"

static plaq_dirac new_dirac(plaq_context context, plaq_gauge gauge, int normalisation) {
  plaq_dirac_params p;
  plaq_dirac dirac;
  OK(plaq_dirac_params_init(&p, sizeof p));
  p.kappa = 0.115;
  p.csw = 0.5;
  p.normalisation = normalisation;
  OK(plaq_dirac_create(context, gauge, &p, &dirac));
  return dirac;
}

static plaq_solver_params solver_params(int algorithm) {
  plaq_solver_params p;
  OK(plaq_solver_params_init(&p, sizeof p));
  if (brief()) p.tol = 1e-3;
  p.solver = algorithm;
  return p;
}

/* The relative residual |b - M x| / |b|, by the operator of the interface. */
static double residual(plaq_context context, plaq_dirac dirac, int system, int form, plaq_spinor x, plaq_spinor b, int subset) {
  plaq_spinor_params s = spinor_params(2);
  plaq_spinor t;
  double one[4] = {1, 0, 1, 0}, minus[4] = {-1, 0, -1, 0}, r[2], norm[2];
  s.subset = subset;
  OK(plaq_spinor_create(context, &s, &t));
  OK(plaq_dirac_apply(dirac, system, form, t, x));
  OK(plaq_spinor_axpby(one, b, minus, t, 2));
  OK(plaq_spinor_norm2(t, r, 2));
  OK(plaq_spinor_norm2(b, norm, 2));
  OK(plaq_spinor_destroy(t));
  return sqrt(fmax(r[0] / norm[0], r[1] / norm[1]));
}

static void solve_one(plaq_context context, plaq_dirac dirac, plaq_solver_params *p, plaq_spinor x, plaq_spinor b, int system, int form, int subset) {
  plaq_solver solver;
  plaq_solve_report r;
  double residuals[2], found;
  int64_t bytes = 0;
  OK(plaq_solver_create(dirac, p, &solver));
  OK(plaq_solver_memory(solver, 2, &bytes));
  CHECK(bytes > 0);
  OK(plaq_solve_report_init(&r, sizeof r));
  OK(plaq_solver_solve(solver, x, b, NULL, NULL, &r, residuals));
  found = residual(context, dirac, system, form, x, b, subset);
  CHECK(r.converged == 1 && r.stopped == 0 && r.iterations > 0 && r.flops > 0 && r.bytes > 0 && r.seconds > 0);
  CHECK(r.residual <= p->tol && r.memory_peak > bytes);
  CHECK(found <= p->tol * 1.0001 && fmax(residuals[0], residuals[1]) == r.residual);
  OK(plaq_solver_destroy(solver));
}

/* The precision in which a solver iterates by default, and on request. */
static void automatic(plaq_context context, plaq_gauge gauge, const double *values) {
  static const int32_t asked[] = {0, PLAQ_PRECISION_SINGLE, PLAQ_PRECISION_DOUBLE, PLAQ_PRECISION_HALF};
  static const int32_t one[] = {PLAQ_PRECISION_SINGLE, PLAQ_PRECISION_SINGLE, PLAQ_PRECISION_DOUBLE, PLAQ_PRECISION_HALF};
  static const int32_t shifts[] = {PLAQ_PRECISION_DOUBLE, PLAQ_PRECISION_SINGLE, PLAQ_PRECISION_DOUBLE, PLAQ_PRECISION_HALF};
  plaq_dirac dirac = new_dirac(context, gauge, 0), single;
  plaq_dirac_params d;
  plaq_spinor b = new_spinor(context, 2, values), x = new_spinor(context, 2, NULL), low_b, low_x;
  plaq_spinor_params s = spinor_params(2);
  plaq_solve_report r, found[2];
  plaq_solver solver;
  int64_t doubles = 0, least = 0, bytes;
  double sigma = 0.5, tol = brief() ? 1e-3 : 1e-9;
  int i, form;
  OK(plaq_solve_report_init(&r, sizeof r));
  for (i = 0; i < 4; i++)
    for (form = 0; form < 2; form++) {
      plaq_solver_params p = solver_params(form ? PLAQ_SOLVER_CG : PLAQ_SOLVER_CGNR);
      p.sloppy_precision = asked[i];
      p.solution = form ? PLAQ_SOLUTION_MDAGM : PLAQ_SOLUTION_M;
      if (form) p.system = PLAQ_SYSTEM_FULL;
      OK(plaq_solver_create(dirac, &p, &solver));
      OK(plaq_solver_solve(solver, x, b, NULL, NULL, &r, NULL));
      CHECK(r.converged == 1 && r.residual <= p.tol);
      CHECK(r.sloppy_precision == one[i] && r.sloppy_storage == PLAQ_STORAGE_SU3_12);
      if (i == 0) found[form] = r;
      if (i == 1) CHECK(r.iterations == found[form].iterations && r.residual == found[form].residual);
      if (i == 2) CHECK(r.bytes > found[form].bytes);
      if (form) {
        OK(plaq_solver_memory(solver, 2, &bytes));
        if (i == 0) least = bytes;
        if (i == 1) CHECK(bytes == least);
        if (i == 2) doubles = bytes;
        OK(plaq_solver_multishift(solver, &x, &sigma, &tol, 1, b, NULL, NULL, &r, NULL));
        CHECK(r.converged == 1 && r.sloppy_precision == shifts[i]);
      }
      OK(plaq_solver_destroy(solver));
    }
  CHECK(least != doubles);
  OK(plaq_dirac_params_init(&d, sizeof d));
  d.kappa = 0.115;
  d.precision = PLAQ_PRECISION_SINGLE;
  OK(plaq_dirac_create(context, gauge, &d, &single));
  s.precision = PLAQ_PRECISION_SINGLE;
  OK(plaq_spinor_create(context, &s, &low_b));
  OK(plaq_spinor_create(context, &s, &low_x));
  OK(plaq_spinor_load(low_b, NULL, values));
  for (i = 0; i < 2; i++) {
    plaq_solver_params p = solver_params(PLAQ_SOLVER_CGNR);
    p.tol = 1e-4;
    if (i) p.sloppy_storage = PLAQ_STORAGE_SU3_18;
    OK(plaq_solver_create(single, &p, &solver));
    OK(plaq_solver_solve(solver, low_x, low_b, NULL, NULL, &r, NULL));
    CHECK(r.converged == 1 && r.sloppy_precision == PLAQ_PRECISION_SINGLE);
    CHECK(r.sloppy_storage == (i ? PLAQ_STORAGE_SU3_18 : PLAQ_STORAGE_SU3_12));
    OK(plaq_solver_destroy(solver));
  }
  OK(plaq_dirac_destroy(single));
  OK(plaq_spinor_destroy(low_b));
  OK(plaq_spinor_destroy(low_x));
  OK(plaq_spinor_destroy(b));
  OK(plaq_spinor_destroy(x));
  OK(plaq_dirac_destroy(dirac));
}

static void algorithms(plaq_context context, plaq_gauge gauge, const double *values) {
  int normalisation, i;
  for (normalisation = 0; normalisation < 2; normalisation++) {
    plaq_dirac dirac = new_dirac(context, gauge, normalisation);
    plaq_spinor b = new_spinor(context, 2, values), x = new_spinor(context, 2, NULL);
    for (i = PLAQ_SOLVER_CGNE; i <= PLAQ_SOLVER_MR; i++) {
      plaq_solver_params p = solver_params(i);
      if (i == PLAQ_SOLVER_MR && !brief()) p.tol = 1e-6;
      if (i == PLAQ_SOLVER_CGNR) p.sloppy_precision = PLAQ_PRECISION_DOUBLE;
      if (i == PLAQ_SOLVER_BICGSTAB) p.sloppy_precision = PLAQ_PRECISION_HALF;
      if (i == PLAQ_SOLVER_GCR || i == PLAQ_SOLVER_BICGSTAB || i == PLAQ_SOLVER_MR) p.precondition_steps = 3;
      p.system = i == PLAQ_SOLVER_GCR ? PLAQ_SYSTEM_ODD_ASYMMETRIC : PLAQ_SYSTEM_EVEN_SYMMETRIC;
      solve_one(context, dirac, &p, x, b, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, PLAQ_SUBSET_FULL);
    }
    OK(plaq_spinor_destroy(b));
    OK(plaq_spinor_destroy(x));
    OK(plaq_dirac_destroy(dirac));
  }
}

static void equations(plaq_context context, plaq_gauge gauge, const double *values) {
  static const int32_t forms[] = {PLAQ_FORM_M, PLAQ_FORM_MDAG, PLAQ_FORM_MDAGM};
  int solution, odd;
  plaq_dirac dirac = new_dirac(context, gauge, PLAQ_NORMALISATION_MASS);
  for (solution = PLAQ_SOLUTION_M; solution <= PLAQ_SOLUTION_PDAGP; solution++) {
    for (odd = brief() ? solution % 2 : 0; odd < (brief() ? solution % 2 + 1 : 2); odd++) {
      int pc = solution >= PLAQ_SOLUTION_P, system = odd ? PLAQ_SYSTEM_ODD_ASYMMETRIC : PLAQ_SYSTEM_EVEN_SYMMETRIC;
      plaq_solver_params p = solver_params(PLAQ_SOLVER_CGNR);
      plaq_spinor_params s = spinor_params(2);
      plaq_spinor x, b;
      s.subset = pc ? (odd ? PLAQ_SUBSET_ODD : PLAQ_SUBSET_EVEN) : PLAQ_SUBSET_FULL;
      OK(plaq_spinor_create(context, &s, &x));
      OK(plaq_spinor_create(context, &s, &b));
      OK(plaq_spinor_load(b, NULL, values));
      p.solution = solution;
      p.system = system;
      solve_one(context, dirac, &p, x, b, pc ? system : PLAQ_SYSTEM_FULL, forms[solution % 3], s.subset);
      OK(plaq_spinor_destroy(x));
      OK(plaq_spinor_destroy(b));
    }
  }
  OK(plaq_dirac_destroy(dirac));
}

static plaq_spinor watched;
static double seen[8];

static int32_t stop_at_three(int64_t iteration, double relative, double seconds, void *user) {
  double norm[2];
  int *calls = user;
  CHECK(relative > 0 && seconds >= 0 && iteration >= 0);
  /* A callback may call plaq; a field that is being solved for is refused. */
  EXPECT(PLAQ_BUSY, plaq_spinor_norm2(watched, norm, 2));
  seen[*calls] = relative;
  return ++*calls == 3;
}

static void callbacks_and_limits(plaq_context context, plaq_gauge gauge, const double *values) {
  plaq_dirac dirac = new_dirac(context, gauge, 0);
  plaq_solver_params p = solver_params(PLAQ_SOLVER_CGNR);
  plaq_spinor x = new_spinor(context, 2, NULL), b = new_spinor(context, 2, values);
  plaq_solve_report r;
  plaq_solver solver;
  double history[8] = {-1, -1, -1, -1, -1};
  int64_t count = -1;
  int calls = 0;
  watched = x;
  OK(plaq_solver_create(dirac, &p, &solver));
  OK(plaq_solver_history(solver, NULL, 0, &count));
  CHECK(count == 0);
  OK(plaq_solve_report_init(&r, sizeof r));
  OK(plaq_solver_solve(solver, x, b, stop_at_three, &calls, &r, NULL));
  CHECK(r.stopped == 1 && r.converged == 0 && calls == 3 && r.iterations == 3);
  CHECK(r.stopped_by == PLAQ_STOPPED_BY_CALLBACK);
  OK(plaq_solver_history(solver, history, 2, &count));
  CHECK(count == 3 && history[0] == seen[0] && history[1] == seen[1] && history[2] == -1);
  OK(plaq_solver_history(solver, history, 8, &count));
  CHECK(count == 3 && history[2] == seen[2] && history[3] == -1);
  CHECK(history[0] < 1 && history[1] < history[0] && history[2] < history[1] && history[2] > 0);
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_solver_history(solver, history, -1, &count));
  EXPECT(PLAQ_NULL_POINTER, plaq_solver_history(solver, history, 8, NULL));
  OK(plaq_solver_solve(solver, x, b, NULL, NULL, &r, NULL));
  CHECK(r.stopped == 0 && r.converged == 1 && r.stopped_by == PLAQ_STOPPED_BY_RESIDUAL);
  OK(plaq_solver_destroy(solver));
  /* With a time limit of a nanosecond nothing is done. */
  p.max_seconds = 1e-9;
  OK(plaq_solver_create(dirac, &p, &solver));
  OK(plaq_solver_solve(solver, x, b, NULL, NULL, &r, NULL));
  CHECK(r.stopped == 1 && r.converged == 0 && r.iterations <= 2 && r.stopped_by == PLAQ_STOPPED_BY_TIME);
  OK(plaq_solver_destroy(solver));
  p.max_seconds = -1;
  EXPECT(PLAQ_BAD_PARAMETER, plaq_solver_create(dirac, &p, &solver));
  p.max_seconds = 0;
  /* A solve that does not converge is no error. */
  p.max_iterations = 2;
  OK(plaq_solver_create(dirac, &p, &solver));
  OK(plaq_solver_solve(solver, x, b, NULL, NULL, &r, NULL));
  CHECK(r.converged == 0 && r.stopped == 0 && r.residual > p.tol && r.iterations == 2);
  CHECK(r.stopped_by == PLAQ_STOPPED_BY_ITERATIONS);
  OK(plaq_solver_history(solver, NULL, 8, &count));
  CHECK(count == 2);
  /* A solver works after its operator's handle has been destroyed. */
  OK(plaq_dirac_destroy(dirac));
  OK(plaq_solver_solve(solver, x, b, NULL, NULL, &r, NULL));
  OK(plaq_solver_destroy(solver));
  OK(plaq_spinor_destroy(x));
  OK(plaq_spinor_destroy(b));
}

/* Solves of A + sigma for every shift sigma, A = D^dagger D, on all sites and on odd sites, in both normalisations. */
static void multishift(plaq_context context, plaq_gauge gauge, const double *values) {
  static const double sigma[3] = {0.01, 0, 2.5}, close[3] = {1e-11, 1e-9, 1e-10}, loose[3] = {1e-4, 1e-2, 1e-3};
  const double *tol = brief() ? loose : close;
  int pc, normalisation, k;
  for (pc = 0; pc < 2; pc++) {
    for (normalisation = 0; normalisation < 2; normalisation++) {
      plaq_dirac dirac = new_dirac(context, gauge, normalisation);
      plaq_solver_params p = solver_params(PLAQ_SOLVER_CG);
      plaq_spinor_params s = spinor_params(2);
      plaq_spinor x[3], b, t, same[2];
      plaq_solver solver;
      plaq_solve_report r;
      double residuals[3], norm[2], rest[2];
      int64_t iterations = 0;
      int system = pc ? PLAQ_SYSTEM_ODD_ASYMMETRIC : PLAQ_SYSTEM_FULL;
      p.solution = pc ? PLAQ_SOLUTION_PDAGP : PLAQ_SOLUTION_MDAGM;
      p.system = system;
      p.sloppy_precision = PLAQ_PRECISION_SINGLE;
      s.subset = pc ? PLAQ_SUBSET_ODD : PLAQ_SUBSET_FULL;
      for (k = 0; k < 3; k++) OK(plaq_spinor_create(context, &s, &x[k]));
      OK(plaq_spinor_create(context, &s, &b));
      OK(plaq_spinor_create(context, &s, &t));
      OK(plaq_spinor_load(b, NULL, values));
      OK(plaq_spinor_norm2(b, norm, 2));
      OK(plaq_solver_create(dirac, &p, &solver));
      OK(plaq_solve_report_init(&r, sizeof r));
      OK(plaq_solver_multishift(solver, x, sigma, tol, 3, b, NULL, NULL, &r, residuals));
      CHECK(r.converged == 1);
      OK(plaq_solver_history(solver, NULL, 0, &iterations));
      CHECK(iterations == r.iterations);
      for (k = 0; k < 3; k++) {
        double one[4] = {1, 0, 1, 0}, minus[4] = {-1, 0, -1, 0}, shift[4] = {0};
        shift[0] = shift[2] = sigma[k];
        OK(plaq_dirac_apply(dirac, system, PLAQ_FORM_MDAGM, t, x[k]));
        OK(plaq_spinor_axpby(shift, x[k], one, t, 2));
        OK(plaq_spinor_axpby(one, b, minus, t, 2));
        OK(plaq_spinor_norm2(t, rest, 2));
        CHECK(sqrt(fmax(rest[0] / norm[0], rest[1] / norm[1])) <= 1.01 * tol[k]);
        CHECK(residuals[k] <= tol[k]);
      }
      same[0] = same[1] = x[0];
      REFUSED(PLAQ_BUSY, "x[1]", plaq_solver_multishift(solver, same, sigma, tol, 2, b, NULL, NULL, &r, NULL));
      EXPECT(PLAQ_INVALID_ARGUMENT, plaq_solver_multishift(solver, x, sigma, tol, 0, b, NULL, NULL, &r, NULL));
      EXPECT(PLAQ_NULL_POINTER, plaq_solver_multishift(solver, NULL, sigma, tol, 3, b, NULL, NULL, &r, NULL));
      EXPECT(PLAQ_BAD_PARAMETER, plaq_solver_multishift(solver, x, residuals, sigma, 3, b, NULL, NULL, &r, NULL));
      OK(plaq_spinor_norm2(x[2], norm, 2)); /* fields are back in their places */
      x[1].id = 12;
      REFUSED(PLAQ_INVALID_HANDLE, "x[1]", plaq_solver_multishift(solver, x, sigma, tol, 3, b, NULL, NULL, &r, NULL));
      OK(plaq_solver_destroy(solver));
      OK(plaq_dirac_destroy(dirac));
    }
  }
}

static void misuse(plaq_context context, plaq_gauge gauge, const double *values) {
  plaq_dirac dirac = new_dirac(context, gauge, 0), none = {0};
  plaq_solver_params p = solver_params(PLAQ_SOLVER_CGNR);
  plaq_spinor x = new_spinor(context, 1, NULL), b = new_spinor(context, 1, values), two = new_spinor(context, 2, values);
  plaq_spinor odd, bad;
  plaq_spinor_params s = spinor_params(1);
  plaq_solver solver = {3}, good;
  plaq_solve_report r;
  double *nan_values = numbers(SPINOR);
  plaq_layout_params unchecked;
  int64_t bytes;

  EXPECT(PLAQ_INVALID_HANDLE, plaq_solver_create(none, &p, &solver));
  EXPECT(PLAQ_NULL_POINTER, plaq_solver_create(dirac, &p, NULL));
#define REFUSES(status, member, value, words)                    \
  do {                                                           \
    p = solver_params(PLAQ_SOLVER_CGNR);                      \
    p.member = value;                                            \
    REFUSED(status, words, plaq_solver_create(dirac, &p, &solver)); \
  } while (0)
  REFUSES(PLAQ_INVALID_ARGUMENT, solver, 8, "params.solver");
  REFUSES(PLAQ_INVALID_ARGUMENT, solver, -1, "params.solver");
  REFUSES(PLAQ_INVALID_ARGUMENT, solution, 99, "params.solution");
  REFUSES(PLAQ_INVALID_ARGUMENT, equations, 3, "params.equations");
  REFUSES(PLAQ_BAD_PARAMETER, equations, PLAQ_EQUATIONS_NORMAL_ERROR, "equations");
  REFUSES(PLAQ_INVALID_ARGUMENT, system, 5, "params.system");
  REFUSES(PLAQ_INVALID_ARGUMENT, sloppy_precision, 1, "params.sloppy_precision");
  REFUSES(PLAQ_UNSUPPORTED, sloppy_storage, PLAQ_STORAGE_SU2, "sloppy_storage");
  REFUSES(PLAQ_BAD_PARAMETER, max_iterations, -1, "max_iterations");
  REFUSES(PLAQ_BAD_PARAMETER, nkrylov, 0, "nkrylov");
  REFUSES(PLAQ_BAD_PARAMETER, precondition_steps, INT32_MIN, "precondition_steps");
  REFUSES(PLAQ_BAD_PARAMETER, initial_guess, 2, "initial_guess");
  REFUSES(PLAQ_BAD_PARAMETER, tol, NAN, "tol");
  REFUSES(PLAQ_BAD_PARAMETER, tol, -1, "tol");
  REFUSES(PLAQ_BAD_PARAMETER, tol, 0, "tol");
  REFUSES(PLAQ_BAD_PARAMETER, delta, 2, "delta");
  REFUSES(PLAQ_BAD_PARAMETER, omega, NAN, "omega");
  p = solver_params(PLAQ_SOLVER_CG);
  EXPECT(PLAQ_UNSUPPORTED, plaq_solver_create(dirac, &p, &solver));
  CHECK(solver.id == 3);

  p = solver_params(PLAQ_SOLVER_CGNR);
  OK(plaq_solver_create(dirac, &p, &good));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_solver_memory(good, 0, &bytes));
  EXPECT(PLAQ_NULL_POINTER, plaq_solver_memory(good, 1, NULL));
  s.subset = PLAQ_SUBSET_ODD;
  OK(plaq_spinor_create(context, &s, &odd));
  EXPECT(PLAQ_FIELD_MISMATCH, plaq_solver_solve(good, odd, b, NULL, NULL, NULL, NULL));
  EXPECT(PLAQ_FIELD_MISMATCH, plaq_solver_solve(good, x, two, NULL, NULL, NULL, NULL));
  EXPECT(PLAQ_BUSY, plaq_solver_solve(good, b, b, NULL, NULL, NULL, NULL));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_solver_solve(solver, x, b, NULL, NULL, NULL, NULL));
  memset(&r, 0, sizeof r);
  EXPECT(PLAQ_STRUCT_SIZE, plaq_solver_solve(good, x, b, NULL, NULL, &r, NULL));
  memcpy(nan_values, values, SPINOR * sizeof *values);
  nan_values[100] = NAN;
  OK(plaq_layout_params_init(&unchecked, sizeof unchecked));
  unchecked.tolerance = -1;
  bad = new_spinor(context, 1, NULL);
  OK(plaq_spinor_load(bad, &unchecked, nan_values));
  EXPECT(PLAQ_NOT_FINITE, plaq_solver_solve(good, x, bad, NULL, NULL, NULL, NULL));
  OK(plaq_solver_destroy(good));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_solver_destroy(good));
  free(nan_values);
}

int main(void) {
  plaq_context context = cpu_context();
  double *links = random_links(), *values = random_numbers(2 * SPINOR);
  plaq_gauge gauge = new_gauge(context, links);
  automatic(context, gauge, values);
  algorithms(context, gauge, values);
  equations(context, gauge, values);
  callbacks_and_limits(context, gauge, values);
  multishift(context, gauge, values);
  misuse(context, gauge, values);
  OK(plaq_context_destroy(context));
  free(links);
  free(values);
  return 0;
}
