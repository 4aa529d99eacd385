/* Eigenvectors and overlap operators: files of modes, smeared kernels, multigrid, and their misuse. */
#ifdef IN_BRIEF
#define WIDTH 2
#endif
#include "small.h"

enum { MODES = 3 };

static plaq_gauge links_of(plaq_context context, int t, int64_t seed) {
  return small(context, t, seed, 0.3);
}

static plaq_dirac massive(plaq_context context, plaq_gauge gauge, double mass) {
  return wilson(context, gauge, mass, PLAQ_NORMALISATION_MASS);
}

/* Writes a copy of a file with one byte changed, or its first `length` bytes only. */
static void damaged(const char *from, const char *to, long at, long length) {
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  long i = 0;
  int c;
  CHECK(in && out);
  while ((c = getc(in)) != EOF && (length < 0 || i < length)) putc(i++ == at ? c ^ 16 : c, out);
  CHECK(fclose(in) == 0 && fclose(out) == 0);
}

static long length_of(const char *name) {
  FILE *file = fopen(name, "rb");
  long length;
  CHECK(file && fseek(file, 0, SEEK_END) == 0);
  length = ftell(file);
  CHECK(length > 0 && fclose(file) == 0);
  return length;
}

static void eigenvectors(plaq_context context) {
  plaq_gauge gauge = links_of(context, T, 4), other = links_of(context, T, 5), longer = links_of(context, 2 * T, 4);
  plaq_dirac dirac = massive(context, gauge, 0.2), wrong;
  plaq_eigen_params p;
  plaq_eigen found, read = {7}, none = {0};
  plaq_eigen_report r;
  plaq_spinor no_guess = {0}, v, w;
  double ends[2], values[MODES], again[MODES], residuals[MODES], *a = numbers(MODES * SMALL), *b = numbers(MODES * SMALL);
  long bytes;
  int k;
  OK(plaq_eigen_params_init(&p, sizeof p));
  OK(plaq_eigen_report_init(&r, sizeof r));
  p.count = MODES;
  p.verify = 0;
  if (brief()) p.tol = 1e-4;
  OK(plaq_eigen_create(dirac, &p, no_guess, NULL, NULL, &found, &r));
  ends[0] = r.least, ends[1] = r.largest;
  OK(plaq_eigen_values(found, values, NULL, NULL, MODES));
  CHECK(r.max_vectors > MODES && r.on_device > r.max_vectors);
  OK(plaq_eigen_write(found, "eigen.lime"));
  p.vectors = PLAQ_VECTORS_HOST;
  OK(plaq_eigen_create(dirac, &p, no_guess, NULL, NULL, &read, &r));
  CHECK(r.converged == 1 && r.max_vectors > MODES && r.on_device == 1);
  OK(plaq_eigen_values(read, again, residuals, NULL, MODES));
  for (k = 0; k < MODES; k++) CHECK(fabs(again[k] - values[k]) <= (brief() ? 1e-3 : 1e-9) && residuals[k] <= (brief() ? 2e-4 : 2e-10) * r.largest);
  OK(plaq_eigen_destroy(read));
  p.method = PLAQ_EIGEN_RITZ;
  REFUSED(PLAQ_UNSUPPORTED, "params.vectors", plaq_eigen_create(dirac, &p, no_guess, NULL, NULL, &read, &r));
  p.method = PLAQ_EIGEN_LANCZOS;
  p.vectors = PLAQ_VECTORS_AUTO;
  OK(plaq_eigen_read(dirac, "eigen.lime", &read, &r));
  CHECK(r.converged == 1 && r.stopped == 0 && r.count == MODES && r.applications == MODES);
  /* Eigenvalues of M^dagger M in the operator's own normalisation are up to about 8 squared. */
  CHECK(r.least == ends[0] && r.largest == ends[1] && r.largest > 30);
  OK(plaq_eigen_values(read, again, residuals, NULL, MODES));
  for (k = 0; k < MODES; k++) CHECK(again[k] == values[k] && residuals[k] <= (brief() ? 2e-4 : 2e-10) * r.largest);
  OK(plaq_eigen_vectors(found, &v));
  OK(plaq_eigen_vectors(read, &w));
  OK(plaq_spinor_save(v, NULL, a));
  OK(plaq_spinor_save(w, NULL, b));
  CHECK(distance(a, b, MODES * SMALL) == 0 && a[0] != 0);
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_eigen_values(read, again, NULL, NULL, MODES + 1));
  OK(plaq_spinor_destroy(w));
  OK(plaq_eigen_some_vectors(read, MODES - 1, 1, &w));
  OK(plaq_spinor_save(w, NULL, b));
  CHECK(distance(a + (MODES - 1) * SMALL, b, SMALL) == 0);
  REFUSED(PLAQ_INVALID_ARGUMENT, "found 2 from", plaq_eigen_some_vectors(read, MODES - 1, 2, &v));
  REFUSED(PLAQ_INVALID_ARGUMENT, "found 0 from", plaq_eigen_some_vectors(read, 0, 0, &v));
  REFUSED(PLAQ_INVALID_ARGUMENT, "from -1", plaq_eigen_some_vectors(read, -1, 1, &v));
  OK(plaq_eigen_destroy(read));
  OK(plaq_spinor_destroy(v));
  OK(plaq_spinor_destroy(w));

  read.id = 7;
  wrong = massive(context, other, 0.2);
  REFUSED(PLAQ_FIELD_MISMATCH, "belongs to another", plaq_eigen_read(wrong, "eigen.lime", &read, NULL));
  OK(plaq_dirac_destroy(wrong));
  wrong = massive(context, gauge, 0.25);
  REFUSED(PLAQ_FIELD_MISMATCH, "belongs to another", plaq_eigen_read(wrong, "eigen.lime", &read, NULL));
  OK(plaq_dirac_destroy(wrong));
  wrong = massive(context, longer, 0.2);
  EXPECT(PLAQ_FILE_EXTENTS, plaq_eigen_read(wrong, "eigen.lime", &read, NULL));
  OK(plaq_dirac_destroy(wrong));
  bytes = length_of("eigen.lime");
  damaged("eigen.lime", "eigen-bad.lime", bytes / 2, -1);
  EXPECT(PLAQ_FILE_CHECKSUM, plaq_eigen_read(dirac, "eigen-bad.lime", &read, NULL));
  damaged("eigen.lime", "eigen-bad.lime", -1, bytes / 2);
  EXPECT(PLAQ_FILE_TRUNCATED, plaq_eigen_read(dirac, "eigen-bad.lime", &read, NULL));
  EXPECT(PLAQ_FILE_OPEN, plaq_eigen_read(dirac, "not-there.lime", &read, NULL));
  EXPECT(PLAQ_FILE_WRITE, plaq_eigen_write(found, "no-folder/eigen.lime"));
  EXPECT(PLAQ_NULL_POINTER, plaq_eigen_read(dirac, NULL, &read, NULL));
  EXPECT(PLAQ_NULL_POINTER, plaq_eigen_read(dirac, "eigen.lime", NULL, NULL));
  EXPECT(PLAQ_NULL_POINTER, plaq_eigen_write(found, NULL));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_eigen_write(none, "eigen.lime"));
  CHECK(read.id == 7);
  CHECK(r.stopped == 0 && r.stopped_by == PLAQ_STOPPED_BY_RESIDUAL);
  OK(plaq_eigen_destroy(found));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_eigen_write(found, "eigen.lime"));
  /* With a time limit of a nanosecond no vector is found, but the call returns. */
  p.max_seconds = 1e-9;
  OK(plaq_eigen_create(dirac, &p, no_guess, NULL, NULL, &found, &r));
  CHECK(r.stopped == 1 && r.converged == 0 && r.stopped_by == PLAQ_STOPPED_BY_TIME && r.count > 0 && r.count <= MODES);
  OK(plaq_eigen_destroy(found));
  p.max_seconds = 0;
  p.system = PLAQ_SYSTEM_ODD_ASYMMETRIC;
  OK(plaq_eigen_create(dirac, &p, no_guess, NULL, NULL, &found, NULL));
  REFUSED(PLAQ_UNSUPPORTED, "one parity", plaq_eigen_write(found, "odd.lime"));
  CHECK(fopen("odd.lime", "rb") == NULL);
  OK(plaq_eigen_destroy(found));
  OK(plaq_dirac_destroy(dirac));
  CHECK(remove("eigen-bad.lime") == 0);
  free(a);
  free(b);
}

static plaq_overlap_params overlap_params(int smearing) {
  plaq_overlap_params p;
  OK(plaq_overlap_params_init(&p, sizeof p));
  p.delta = brief() ? 1e-2 : 1e-4;
  p.modes_tol = brief() ? 1e-4 : 0;
  p.modes = 2;
  p.smearing_steps = smearing;
  p.smearing_alpha[0] = 0.1;
  return p;
}

static plaq_overlap new_overlap(plaq_context context, plaq_gauge gauge, const plaq_overlap_params *p) {
  plaq_spinor none = {0};
  plaq_overlap overlap;
  OK(plaq_overlap_create(context, gauge, p, none, NULL, NULL, &overlap));
  return overlap;
}

static double *image(plaq_context context, plaq_overlap overlap) {
  plaq_spinor x = vector(context, 1), y = vector(context, 1);
  double *values = numbers(SMALL);
  OK(plaq_spinor_noise(x, PLAQ_NOISE_NORMAL, 3, 0));
  OK(plaq_overlap_apply(overlap, PLAQ_OVERLAP_D, y, x));
  OK(plaq_spinor_save(y, NULL, values));
  OK(plaq_spinor_destroy(x));
  OK(plaq_spinor_destroy(y));
  return values;
}

/* The kernel with params.smearing equals one on links smeared before; the gauge field itself stays as it is. */
static plaq_overlap smeared(plaq_context context, plaq_gauge gauge, plaq_gauge by_hand) {
  plaq_overlap_params p = overlap_params(2), plain = overlap_params(0);
  plaq_overlap a = new_overlap(context, gauge, &p), b, refused = {7};
  plaq_overlap_report r;
  plaq_gauge_smear_params s;
  plaq_plaquette before, after;
  plaq_spinor none = {0};
  double u[2], v[2], *x, *y;
  OK(plaq_gauge_plaquette(by_hand, &before));
  OK(plaq_gauge_plaquette(gauge, &after));
  CHECK(before.total == after.total);
  OK(plaq_gauge_smear_params_init(&s, sizeof s));
  s.kind = PLAQ_SMEARING_STOUT;
  s.alpha[0] = 0.1;
  s.steps = 2;
  OK(plaq_gauge_smear(by_hand, &s));
  OK(plaq_overlap_report_init(&r, sizeof r));
  OK(plaq_overlap_describe(a, &r));
  CHECK(r.modes == 2);
  OK(plaq_overlap_kernel_values(a, u, NULL, NULL, 2));
  if (!brief()) {
    plaq_overlap other = new_overlap(context, gauge, &plain);
    b = new_overlap(context, by_hand, &plain);
    OK(plaq_overlap_kernel_values(b, v, NULL, NULL, 2));
    CHECK(distance(u, v, 2) < 1e-10);
    x = image(context, a), y = image(context, b);
    CHECK(distance(x, y, SMALL) < 1e-8);
    free(y);
    y = image(context, other);
    CHECK(distance(x, y, SMALL) > 1e-3);
    free(x);
    free(y);
    OK(plaq_overlap_destroy(other));
    OK(plaq_overlap_destroy(b));
  }
#define SMEARING(status, member, value, words) \
  do {                                         \
    p = overlap_params(1);                     \
    p.member = value;                          \
    REFUSED(status, words, plaq_overlap_create(context, gauge, &p, none, NULL, NULL, &refused)); \
  } while (0)
  SMEARING(PLAQ_BAD_PARAMETER, smearing_steps, -1, "smearing_steps: expected 0 to 100000, found -1");
  SMEARING(PLAQ_KERNEL_SPECTRUM, max_seconds, 1e-9, "s were over");
  SMEARING(PLAQ_INVALID_ARGUMENT, smearing, 9, "params.smearing");
  EXPECT(PLAQ_BAD_PARAMETER, (p = overlap_params(1), p.smearing_alpha[0] = NAN,
                              plaq_overlap_create(context, gauge, &p, none, NULL, NULL, &refused)));
  CHECK(refused.id == 7);
  return a;
}

static void files(plaq_context context, plaq_gauge gauge, plaq_overlap overlap) {
  plaq_overlap_params p = overlap_params(2);
  plaq_overlap read = {7}, none = {0};
  plaq_dirac dirac = massive(context, gauge, 0.2);
  plaq_eigen eigen = {7};
  plaq_overlap_report r;
  double u[2], v[2], plus[2], minus[2], value, residual, gap, *x, *y;
  int32_t zeros[2], again[2];
  long bytes;
  if (!brief()) OK(plaq_overlap_index(overlap, 1, 1e-4, NULL, NULL, plus, minus, zeros));
  OK(plaq_overlap_write(overlap, "overlap.lime"));
  OK(plaq_overlap_read(context, gauge, &p, "overlap.lime", &read));
  OK(plaq_overlap_kernel_values(overlap, u, NULL, NULL, 2));
  OK(plaq_overlap_kernel_values(read, v, NULL, NULL, 2));
  CHECK(distance(u, v, 2) < 1e-10);
  x = image(context, overlap), y = image(context, read);
  CHECK(distance(x, y, SMALL) < 1e-8);
  free(x);
  free(y);
  OK(plaq_overlap_index(read, 1, 1e-4, NULL, NULL, plus + 1, minus + 1, again));
  OK(plaq_overlap_report_init(&r, sizeof r));
  OK(plaq_overlap_describe(read, &r));
  CHECK(r.low_modes >= 1 && r.high_modes == 1);
  OK(plaq_overlap_low_values(read, -1, &value, &residual, 1));
  CHECK(value == minus[1] && residual >= 0 && residual <= 1e-4 * 4 * 1.4 * 1.4);
  OK(plaq_overlap_low_values(read, 1, &value, NULL, 1));
  CHECK(value == plus[1]);
  REFUSED(PLAQ_INVALID_ARGUMENT, "low modes", plaq_overlap_low_values(read, 1, &value, NULL, r.low_modes + 1));
  REFUSED(PLAQ_INVALID_ARGUMENT, "chirality", plaq_overlap_low_values(read, 0, &value, NULL, 1));
  OK(plaq_overlap_high_values(read, &value, &residual, &gap, 1));
  CHECK(value == r.largest && residual == r.largest_error && gap >= 0 && gap < value);
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_overlap_high_values(read, &value, NULL, NULL, 2));
  if (!brief()) CHECK(plus[0] == plus[1] && minus[0] == minus[1] && zeros[0] == again[0] && zeros[1] == again[1]);
  OK(plaq_overlap_destroy(read));
  read.id = 7;
  p.smearing_steps = 0;
  REFUSED(PLAQ_FIELD_MISMATCH, "other links", plaq_overlap_read(context, gauge, &p, "overlap.lime", &read));
  p = overlap_params(2), p.s = 0.2;
  REFUSED(PLAQ_FIELD_MISMATCH, "another s", plaq_overlap_read(context, gauge, &p, "overlap.lime", &read));
  p = overlap_params(2);
  REFUSED(PLAQ_FILE_FORMAT, "kind", plaq_overlap_read(context, gauge, &p, "eigen.lime", &read));
  REFUSED(PLAQ_FILE_FORMAT, "kind", plaq_eigen_read(dirac, "overlap.lime", &eigen, NULL));
  EXPECT(PLAQ_FILE_OPEN, plaq_overlap_read(context, gauge, &p, "not-there.lime", &read));
  EXPECT(PLAQ_FILE_WRITE, plaq_overlap_write(overlap, "no-folder/overlap.lime"));
  bytes = length_of("overlap.lime");
  damaged("overlap.lime", "overlap-bad.lime", -1, bytes / 2);
  EXPECT(PLAQ_FILE_TRUNCATED, plaq_overlap_read(context, gauge, &p, "overlap-bad.lime", &read));
  EXPECT(PLAQ_NULL_POINTER, plaq_overlap_write(overlap, NULL));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_overlap_write(none, "overlap.lime"));
  EXPECT(PLAQ_NULL_POINTER, plaq_overlap_read(context, gauge, &p, NULL, &read));
  CHECK(read.id == 7 && eigen.id == 7);
  OK(plaq_dirac_destroy(dirac));
  CHECK(remove("overlap-bad.lime") == 0 && remove("overlap.lime") == 0 && remove("eigen.lime") == 0);
}

static int64_t work_of(plaq_overlap overlap) {
  plaq_overlap_report r;
  OK(plaq_overlap_report_init(&r, sizeof r));
  OK(plaq_overlap_describe(overlap, &r));
  return r.multiplications;
}

/* D^dagger D on one chirality takes half of the multiplications, and both chiralities together make the whole operator.
 * */
static void chiralities(plaq_context context, plaq_overlap overlap) {
  static const int32_t FORMS[] = {PLAQ_OVERLAP_DDAGD, PLAQ_OVERLAP_DDAGD_PLUS, PLAQ_OVERLAP_DDAGD_MINUS};
  plaq_spinor x = vector(context, 1), y = vector(context, 1);
  double *images[3], others = 0;
  int64_t work[3];
  int k, i;
  OK(plaq_spinor_noise(x, PLAQ_NOISE_NORMAL, 3, 0));
  for (k = 0; k < 3; k++) {
    const int64_t before = work_of(overlap);
    OK(plaq_overlap_apply(overlap, FORMS[k], y, x));
    work[k] = work_of(overlap) - before;
    images[k] = numbers(SMALL);
    OK(plaq_spinor_save(y, NULL, images[k]));
  }
  CHECK(work[1] > 0 && work[0] == 2 * work[1] && work[1] == work[2]);
  for (i = 0; i < SMALL; i++) {
    others += fabs(images[1][i] * images[2][i]);
    images[1][i] += images[2][i];
  }
  CHECK(others == 0 && distance(images[0], images[1], SMALL) < (brief() ? 0.1 : 1e-3));
  for (k = 0; k < 3; k++) free(images[k]);
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_overlap_apply(overlap, 7, y, x));
  OK(plaq_spinor_destroy(x));
  OK(plaq_spinor_destroy(y));
}

/* An operator in single precision or in 16 bits obeys the Ginsparg-Wilson relation as well as that precision allows. */
static void coarse(plaq_overlap overlap, int32_t precision, int32_t sign) {
  const int half = precision == PLAQ_PRECISION_HALF;
  const double least = half ? 1e-3 : 3e-7, rounding = half ? 2e-2 : 3e-5;
  plaq_overlap_report r;
  double violation;
  OK(plaq_overlap_report_init(&r, sizeof r));
  OK(plaq_overlap_describe(overlap, &r));
  CHECK(r.precision == precision && r.sign == sign && r.modes >= 2);
  CHECK(r.delta <= least && r.delta > 1e-2 * least && r.error_bound < 1.4 * 1.1 * least);
  OK(plaq_overlap_ginsparg_wilson(overlap, 1, &violation));
  CHECK(violation < 2.1 * 1.4 * (least + rounding));
}

/* With default parameters modes are found, passed in, or read from a file in lower precision. */
static void precisions(plaq_context context, plaq_gauge gauge) {
  plaq_overlap_params p;
  plaq_overlap single, other;
  plaq_spinor modes;
  if (brief()) return;
  OK(plaq_overlap_params_init(&p, sizeof p));
  p.modes = 2;
  p.precision = PLAQ_PRECISION_SINGLE;
  single = new_overlap(context, gauge, &p);
  coarse(single, p.precision, PLAQ_OVERLAP_POLYNOMIAL);
  OK(plaq_overlap_write(single, "coarse.lime"));
  OK(plaq_overlap_vectors(single, &modes));
  OK(plaq_overlap_destroy(single));
  p.precision = PLAQ_PRECISION_HALF;
  p.sign = PLAQ_OVERLAP_ZOLOTAREV;
  OK(plaq_overlap_read(context, gauge, &p, "coarse.lime", &other));
  coarse(other, p.precision, PLAQ_OVERLAP_POLYNOMIAL);
  OK(plaq_overlap_destroy(other));
  p.sign = PLAQ_OVERLAP_POLYNOMIAL;
  OK(plaq_overlap_create(context, gauge, &p, modes, NULL, NULL, &other));
  coarse(other, p.precision, PLAQ_OVERLAP_POLYNOMIAL);
  OK(plaq_overlap_destroy(other));
  OK(plaq_spinor_destroy(modes));
  CHECK(remove("coarse.lime") == 0);
}

static plaq_multigrid hierarchy(plaq_dirac dirac) {
  plaq_multigrid_params p;
  plaq_multigrid multigrid;
  OK(plaq_multigrid_params_init(&p, sizeof p));
  p.levels = 2;
  p.level[0].block[0] = X / 2, p.level[0].block[1] = 1, p.level[0].block[2] = 1, p.level[0].block[3] = 2;
  p.level[0].vectors = 4;
  p.setup_iterations = 5;
  p.refinements = 0;
  OK(plaq_multigrid_create(dirac, &p, NULL, NULL, &multigrid));
  return multigrid;
}

/* Solves that are preconditioned by the host's multigrid; `links` are those of the kernel. */
static void preconditioned(plaq_context context, plaq_gauge links, plaq_overlap massless) {
  plaq_context foreign = one_thread();
  plaq_gauge longer = links_of(context, 2 * T, 4), far = links_of(foreign, T, 4);
  plaq_dirac dirac = massive(context, links, 0.4), of_longer = massive(context, longer, 0.4), of_far = massive(foreign, far, 0.4);
  plaq_multigrid good = hierarchy(dirac), long_one = hierarchy(of_longer), far_one = hierarchy(of_far), none = {0};
  plaq_multigrid_level_report level;
  plaq_overlap overlap, nothing = {0};
  plaq_overlap_solve_params p;
  plaq_solve_report r;
  plaq_spinor x = vector(context, 1), b = vector(context, 1);
  plaq_overlap other;
  plaq_overlap_report o;
  double residual;
  int64_t before;
  int k;
  OK(plaq_overlap_create_with_mass(massless, 0.3, &overlap));
  OK(plaq_overlap_solve_params_init(&p, sizeof p));
  OK(plaq_solve_report_init(&r, sizeof r));
  OK(plaq_multigrid_level_report_init(&level, sizeof level));
  OK(plaq_spinor_noise(b, PLAQ_NOISE_NORMAL, 8, 0));
  p.solver = PLAQ_OVERLAP_SOLVER_GCR;
  p.tol = brief() ? 0.1 : 1e-3;
  p.wilson_iterations = 10;
  p.wilson_mass = 0.4;
  p.multigrid = 1;
  REFUSED(PLAQ_FIELD_MISMATCH, "another lattice", plaq_overlap_set_multigrid(overlap, long_one));
  EXPECT(PLAQ_WRONG_CONTEXT, plaq_overlap_set_multigrid(overlap, far_one));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_overlap_set_multigrid(nothing, good));
  OK(plaq_overlap_set_multigrid(overlap, good));
  p.max_iterations = 0;
  REFUSED(PLAQ_BAD_PARAMETER, "max_iterations: expected 1 or more, found 0",
          plaq_overlap_solve(overlap, &p, x, b, NULL, NULL, NULL, NULL));
  p.max_iterations = 2000;
  OK(plaq_multigrid_describe_level(good, 0, &level));
  before = level.iterations;
  OK(plaq_overlap_solve(overlap, &p, x, b, NULL, NULL, &r, &residual));
  CHECK(r.converged == 1 && residual <= p.tol);
  OK(plaq_multigrid_describe_level(good, 0, &level));
  CHECK(level.iterations > before);
  /* The operator keeps a hierarchy after its handle has been destroyed. */
  OK(plaq_multigrid_destroy(good));
  OK(plaq_overlap_solve(overlap, &p, x, b, NULL, NULL, &r, &residual));
  CHECK(r.converged == 1);
  p.max_seconds = 1e-9;
  OK(plaq_overlap_solve(overlap, &p, x, b, NULL, NULL, &r, &residual));
  CHECK(r.stopped == 1 && r.converged == 0 && r.iterations <= 2 && r.stopped_by == PLAQ_STOPPED_BY_TIME);
  p.max_seconds = 0;
  EXPECT(PLAQ_INVALID_HANDLE, plaq_overlap_set_multigrid(overlap, good));
  OK(plaq_overlap_set_multigrid(overlap, none));
  /* The report names the algorithm; the library chooses one for light and one for heavy quarks. */
  OK(plaq_overlap_report_init(&o, sizeof o));
  OK(plaq_overlap_describe(overlap, &o));
  CHECK(o.solver == PLAQ_OVERLAP_SOLVER_GCR && o.preconditioner == 2);
  OK(plaq_overlap_solve_params_init(&p, sizeof p));
  CHECK(p.solver == PLAQ_OVERLAP_SOLVER_AUTO && p.multigrid == -1);
  p.tol = brief() ? 0.1 : 1e-3;
  for (k = 0; k < 2; k++) {
    OK(plaq_overlap_create_with_mass(massless, k ? 0.8 : 0.05, &other));
    OK(plaq_overlap_describe(other, &o));
    CHECK(o.solver == PLAQ_OVERLAP_SOLVER_AUTO && o.preconditioner == 0);
    p.deflate = 0;
    OK(plaq_overlap_solve(other, &p, x, b, NULL, NULL, &r, &residual));
    CHECK(r.converged == 1 && residual <= p.tol);
    OK(plaq_overlap_describe(other, &o));
    CHECK(o.solver == (k ? PLAQ_OVERLAP_SOLVER_SUMR : PLAQ_OVERLAP_SOLVER_GCR) && o.preconditioner == (k ? 0 : 1));
    OK(plaq_overlap_destroy(other));
  }
  p.solver = PLAQ_OVERLAP_SOLVER_GCR;
  p.multigrid = 2;
  REFUSED(PLAQ_BAD_PARAMETER, "params.multigrid", plaq_overlap_solve(overlap, &p, x, b, NULL, NULL, &r, NULL));
  p.multigrid = 1, p.wilson_iterations = 0;
  REFUSED(PLAQ_UNSUPPORTED, "multigrid", plaq_overlap_solve(overlap, &p, x, b, NULL, NULL, &r, NULL));
  OK(plaq_context_destroy(foreign));
}

/* A solver of the overlap operator for columns made of modes, which it keeps alive, and which nothing else takes. */
static void lines(plaq_context context, plaq_gauge gauge) {
  enum { TAU = 2 * 16 * T };
  plaq_overlap_params p = overlap_params(0);
  plaq_overlap overlap = new_overlap(context, gauge, &p), none = {0};
  plaq_overlap_solve_params how;
  plaq_modes_params of;
  plaq_gauge smeared = {0};
  plaq_modes modes;
  plaq_modes_report found;
  plaq_solver solver, null = {0};
  plaq_solve_report r;
  plaq_plan_report planned, again;
  plaq_spinor x = vector(context, 1), b = vector(context, 1), made;
  plaq_source_params source;
  double tau[TAU], norm = 0;
  char names[1 << 16];
  int32_t zero = 0;
  int64_t bytes, finished = 0;
  int k;
  OK(plaq_overlap_solve_params_init(&how, sizeof how));
  OK(plaq_modes_params_init(&of, sizeof of));
  OK(plaq_modes_report_init(&found, sizeof found));
  OK(plaq_solve_report_init(&r, sizeof r));
  OK(plaq_source_params_init(&source, sizeof source));
  OK(plaq_plan_report_init(&planned, sizeof planned));
  OK(plaq_plan_report_init(&again, sizeof again));
  how.tol = brief() ? 1e-2 : 1e-4;
  of.count = 1;
  OK(plaq_modes_create(gauge, smeared, &of, NULL, NULL, &modes, &found));
  REFUSED(PLAQ_INVALID_HANDLE, "overlap", plaq_solver_create_overlap(none, &how, &solver));
  OK(plaq_solver_create_overlap(overlap, &how, &solver));
  OK(plaq_solver_memory(solver, 4, &bytes));
  OK(plaq_solver_plan(solver, 4, &planned, names, sizeof names));
  OK(plaq_overlap_plan(overlap, &how, 4, &again, names, sizeof names));
  CHECK(bytes > 0 && bytes == planned.memory && bytes == again.memory);
  REFUSED(PLAQ_UNSUPPORTED, "solver", plaq_solver_solve(solver, x, b, NULL, NULL, &r, NULL));
  REFUSED(PLAQ_UNSUPPORTED, "solver", plaq_solver_propagator(solver, &source, NULL, NULL, &made, &r, NULL));
  OK(plaq_overlap_destroy(overlap));
  OK(plaq_modes_perambulators(modes, solver, &zero, 1, NULL, NULL, tau, TAU / 2, &finished, &r));
  for (k = 0; k < TAU; k++) norm += tau[k] * tau[k];
  CHECK(finished == 1 && r.converged == 1 && norm > 0.1 && norm < 100);
  REFUSED(PLAQ_INVALID_ARGUMENT, "count", plaq_modes_perambulators(modes, solver, &zero, 1, NULL, NULL, tau, 1, &finished, &r));
  REFUSED(PLAQ_INVALID_HANDLE, "solver", plaq_modes_perambulators(modes, null, &zero, 1, NULL, NULL, tau, TAU / 2, &finished, &r));
  OK(plaq_solver_destroy(solver));
  OK(plaq_modes_destroy(modes));
  OK(plaq_spinor_destroy(x));
  OK(plaq_spinor_destroy(b));
}

int main(void) {
  plaq_context context = one_thread();
  plaq_gauge gauge = links_of(context, T, 4), by_hand = links_of(context, T, 4);
  plaq_overlap overlap;
  eigenvectors(context);
  overlap = smeared(context, gauge, by_hand);
  files(context, gauge, overlap);
  chiralities(context, overlap);
  precisions(context, gauge);
  preconditioned(context, by_hand, overlap);
  lines(context, gauge);
  OK(plaq_context_destroy(context));
  return 0;
}
