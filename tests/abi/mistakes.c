/* Mistakes of users, and the messages that they get. */
#include "lattice.h"

/* Writes a copy of a file with `count` bytes of `text` at `at`, cut to `length` bytes unless that is negative. */
static void changed(const char *from, const char *to, long at, const char *text, size_t count, long length) {
  static char bytes[1 << 20];
  FILE *f = fopen(from, "rb");
  size_t n;
  CHECK(f != NULL);
  n = fread(bytes, 1, sizeof bytes, f);
  CHECK(fclose(f) == 0 && n > 1000 && n < sizeof bytes);
  if (at < 0) at = (long)n + at;
  memcpy(bytes + at, text, count);
  if (length >= 0) n = (size_t)length;
  f = fopen(to, "wb");
  CHECK(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

/* The position of a text in a file. */
static long place_of(const char *name, const char *text) {
  static char bytes[4096];
  FILE *f = fopen(name, "rb");
  size_t n, k = strlen(text);
  long at;
  CHECK(f != NULL);
  n = fread(bytes, 1, sizeof bytes, f);
  CHECK(fclose(f) == 0);
  for (at = 0; (size_t)at + k < n; at++)
    if (!memcmp(bytes + at, text, k)) return at;
  CHECK(!"the text is there");
  return 0;
}

static void files(plaq_context context, plaq_gauge gauge) {
  plaq_gauge_read_params r;
  plaq_gauge_write_params w;
  plaq_gauge read = {7};
  char text[64];
  int32_t found = 7;
  FILE *f;
  OK(plaq_gauge_read_params_init(&r, sizeof r));
  OK(plaq_gauge_write_params_init(&w, sizeof w));
  w.format = PLAQ_FILE_FORMAT_NERSC_3X3;
  w.ensemble_label = "a label";
  OK(plaq_gauge_write(gauge, "good.nersc", &w));
#define READ(status, words, name) REFUSED(status, words, plaq_gauge_read(context, name, &r, &read, NULL))
  READ(PLAQ_FILE_OPEN, "absent.nersc: No such file or directory", "absent.nersc");
  CHECK(!strstr(plaq_last_error(), "error")); /* as Rust has it: (os error 2) */
  f = fopen("text.nersc", "wb");
  CHECK(f && fprintf(f, "not a configuration, but long enough to be one\n") > 0 && fclose(f) == 0);
  READ(PLAQ_FILE_FORMAT, "text.nersc: not a NERSC, ILDG/SciDAC, MILC, openQCD or DDalphaAMG file", "text.nersc");
  changed("good.nersc", "short.nersc", 0, "", 0, 5000);
  READ(PLAQ_FILE_TRUNCATED, "short.nersc", "short.nersc");
  /* Changes of the last bits of a mantissa leave links unitary. */
  changed("good.nersc", "bits.nersc", -1, "\x55", 1, -1);
  READ(PLAQ_FILE_CHECKSUM, "bits.nersc: the file is damaged: checksum", "bits.nersc");
  changed("good.nersc", "header.nersc", place_of("good.nersc", "\nPLAQUETTE = ") + 16, "77", 2, -1);
  READ(PLAQ_FILE_PLAQUETTE, "header.nersc: plaquette in the header", "header.nersc");
  r.extents[0] = r.extents[1] = r.extents[2] = r.extents[3] = 4;
  READ(PLAQ_FILE_EXTENTS, "expected [4, 4, 4, 4]", "good.nersc");
  CHECK(read.id == 7);
  REFUSED(PLAQ_FILE_WRITE, "no-folder/links", plaq_gauge_write(gauge, "no-folder/links", &w));
  w.precision = PLAQ_PRECISION_HALF;
  REFUSED(PLAQ_INVALID_ARGUMENT, "PLAQ_PRECISION_SINGLE (4) or 0, found 2", plaq_gauge_write(gauge, "links", &w));
  w.precision = 0;
  w.ensemble_label = "two\nlines";
  REFUSED(PLAQ_INVALID_ARGUMENT, "ensemble_label: expected a line of text", plaq_gauge_write(gauge, "links", &w));

  OK(plaq_gauge_read_text("good.nersc", PLAQ_FILE_TEXT_ENSEMBLE_LABEL, text, sizeof text, &found));
  CHECK(found == 1 && !strcmp(text, "a label"));
  OK(plaq_gauge_read_text("good.nersc", PLAQ_FILE_TEXT_LFN, text, sizeof text, &found));
  CHECK(found == 0 && !*text);
  found = 7;
  REFUSED(PLAQ_INVALID_ARGUMENT, "capacity: expected at least 8", plaq_gauge_read_text("good.nersc", 2, text, 7, &found));
  REFUSED(PLAQ_INVALID_ARGUMENT, "PLAQ_FILE_TEXT_CREATOR (3)", plaq_gauge_read_text("good.nersc", 9, text, 64, &found));
  REFUSED(PLAQ_FILE_OPEN, "absent", plaq_gauge_read_text("absent", 2, text, 64, &found));
  REFUSED(PLAQ_NULL_POINTER, "found", plaq_gauge_read_text("good.nersc", 2, text, 64, NULL));
  CHECK(found == 7);
}

static void actions(plaq_context context, plaq_gauge gauge) {
  plaq_dirac_params p;
  plaq_dirac dirac = {7};
#define ACTION(words, what)                                                                         \
  do {                                                                                              \
    OK(plaq_dirac_params_init(&p, sizeof p));                                                       \
    what;                                                                                           \
    REFUSED(PLAQ_BAD_PARAMETER, words, plaq_dirac_create(context, gauge, &p, &dirac));              \
  } while (0)
  ACTION("params.kappa, params.mass: one of them must be set", (void)p);
  ACTION("params.kappa: expected a number above 0, to 2, found 2.5", p.kappa = 2.5);
  ACTION("params.kappa: expected a number above 0, to 2, found -0.12", p.kappa = -0.12);
  ACTION("params.kappa", p.kappa = NAN);
  ACTION("kappa must be positive and finite, found -0.5 of mass -5 and hops with the sum 4", p.mass = -5);
  ACTION("csw: expected a finite number, found NaN", (p.kappa = 0.12, p.csw = NAN));
  ACTION("csw_t: expected a finite number, found inf", (p.kappa = 0.12, p.csw = 1, p.csw_t = INFINITY));
  ACTION("mu: expected a finite number, found NaN", (p.kappa = 0.12, p.mu = NAN));
  ACTION("hop: expected a finite number, found NaN", (p.kappa = 0.12, p.hop[2] = NAN));
  ACTION("params.boundary[1]: expected a finite angle, found NaN", (p.kappa = 0.12, p.boundary[1] = NAN));
  CHECK(dirac.id == 7);
}

static void sources(plaq_solver solver, plaq_spinor from, plaq_spinor to) {
  plaq_source_params s;
  plaq_sequential_params q;
  plaq_spinor made = {7};
#define SOURCE(status, words, what)                                                                      \
  do {                                                                                                   \
    OK(plaq_source_params_init(&s, sizeof s));                                                           \
    what;                                                                                                \
    REFUSED(status, words, plaq_solver_propagator(solver, &s, NULL, NULL, &made, NULL, NULL));           \
  } while (0)
  SOURCE(PLAQ_INVALID_ARGUMENT, "position: [0, 99, 0, 0] is outside of the lattice", s.position[1] = 99);
  SOURCE(PLAQ_BAD_PARAMETER, "source.spin: expected 0 to 3, or -1 for all, found 4", s.spin = 4);
  SOURCE(PLAQ_BAD_PARAMETER, "source: expected 1 to 4096 columns from `first` on, found 0", s.first = 12);
  CHECK(made.id == 7);
#define SEQUENTIAL(status, words, what)                                                      \
  do {                                                                               \
    OK(plaq_sequential_params_init(&q, sizeof q));                                   \
    what;                                                                            \
    REFUSED(status, words, plaq_spinor_sequential(from, to, &q));     \
  } while (0)
  SEQUENTIAL(PLAQ_INVALID_ARGUMENT, "position: expected the t of the source", q.time = 99);
  SEQUENTIAL(PLAQ_INVALID_ARGUMENT, "time: expected 0 to ", (q.time = 99, q.position[3] = 0));
  SEQUENTIAL(PLAQ_BAD_PARAMETER, "params.gamma: expected 0 to 15, found 16", q.gamma = 16);
}

/* A tolerance that no precision can reach: the report says that the solve came to a standstill. */
static void solvers(plaq_context context, plaq_gauge gauge) {
  plaq_dirac_params action;
  plaq_dirac dirac;
  plaq_solver_params p;
  plaq_solver solver = {7};
  plaq_solve_report report;
  plaq_spinor x = new_spinor(context, 1, NULL), b = new_spinor(context, 1, NULL);
  OK(plaq_spinor_noise(b, PLAQ_NOISE_NORMAL, 1, 0));
  OK(plaq_dirac_params_init(&action, sizeof action));
  action.kappa = 0.05;
  OK(plaq_dirac_create(context, gauge, &action, &dirac));
#define SOLVER(words, what)                                                            \
  do {                                                                                 \
    OK(plaq_solver_params_init(&p, sizeof p));                                         \
    what;                                                                              \
    REFUSED(PLAQ_BAD_PARAMETER, words, plaq_solver_create(dirac, &p, &solver));        \
  } while (0)
  SOLVER("max_iterations: expected", p.max_iterations = 0);
  SOLVER("tol: expected a number from 0 to 1, found 1", p.tol = 1);
  SOLVER("nothing says when to stop", p.tol = 0);
  SOLVER("columns", p.columns = 13);
  SOLVER("params.nkrylov: expected 1 to 10000, found 0", p.nkrylov = 0);
  SOLVER("system: PLAQ_SOLUTION_PDAGP needs an even-odd preconditioned one, found PLAQ_SYSTEM_FULL",
         (p.solver = PLAQ_SOLVER_CG, p.solution = PLAQ_SOLUTION_PDAGP, p.system = PLAQ_SYSTEM_FULL));
  CHECK(solver.id == 7);
  OK(plaq_solver_params_init(&p, sizeof p));
  p.solver = PLAQ_SOLVER_CG;
  REFUSED(PLAQ_UNSUPPORTED, "PLAQ_SOLVER_CG needs a hermitian positive operator", plaq_solver_create(dirac, &p, &solver));
  OK(plaq_solver_params_init(&p, sizeof p));
  p.tol = 1e-30;
  if (brief()) p.max_iterations = 10;
  OK(plaq_solver_create(dirac, &p, &solver));
  OK(plaq_solve_report_init(&report, sizeof report));
  OK(plaq_solver_solve(solver, x, b, NULL, NULL, &report, NULL));
  CHECK(!report.converged && (brief() || (report.standstill && report.residual < 1e-12 && report.iterations < 5000)));
  REFUSED(PLAQ_FIELD_MISMATCH, "x: expected all sites and 1 right-hand sides, found all and 2",
          plaq_solver_solve(solver, new_spinor(context, 2, NULL), b, NULL, NULL, NULL, NULL));
  sources(solver, x, b);
  OK(plaq_solver_destroy(solver));
  OK(plaq_dirac_destroy(dirac));
}

static void fields(plaq_context context, plaq_gauge gauge, double *links) {
  plaq_context other = cpu_context();
  plaq_gauge_params p = gauge_params();
  plaq_gauge far = {7}, wrong;
  plaq_spinor one = new_spinor(context, 1, NULL), two = new_spinor(context, 2, NULL), none = {0};
  plaq_layout_params layout;
  plaq_gauge_smear_params smear;
  double ones[4] = {1, 0, 1, 0}, norm = 7;
  float *single = malloc(LINKS * sizeof *single);
  int i;
  CHECK(single != NULL);
  p.extents[2] = 3;
  REFUSED(PLAQ_BAD_EXTENTS, "extent z is 3: every extent must be even", plaq_gauge_create(context, &p, &far));
  p.extents[2] = LZ;
  OK(plaq_gauge_create(other, &p, &far));
  REFUSED(PLAQ_WRONG_CONTEXT, "context", plaq_gauge_copy(gauge, far));
  REFUSED(PLAQ_FIELD_MISMATCH, "right-hand sides", plaq_spinor_axpby(ones, one, ones, two, 1));
  REFUSED(PLAQ_INVALID_ARGUMENT, "count: expected 1", plaq_spinor_norm2(one, &norm, 2));
  REFUSED(PLAQ_INVALID_HANDLE, "zero handle", plaq_spinor_norm2(none, &norm, 1));
  REFUSED(PLAQ_NULL_POINTER, "norms", plaq_spinor_norm2(one, NULL, 1));
  REFUSED(PLAQ_BUSY, "x", plaq_spinor_axpby(ones, one, ones, one, 1));
  /* Links of a program in single precision, in an array said to be in double. */
  OK(plaq_layout_params_init(&layout, sizeof layout));
  for (i = 0; i < LINKS; i++) single[i] = (float)links[i];
  layout.precision = PLAQ_PRECISION_SINGLE;
  OK(plaq_gauge_load(gauge, &layout, single));
  for (i = 0; i < LINKS; i++) links[i] = single[i];
  layout.precision = PLAQ_PRECISION_DOUBLE;
  REFUSED(PLAQ_NOT_UNITARY, "tolerance", plaq_gauge_load(gauge, &layout, links));
  CHECK(strstr(plaq_last_error(), "project"));
  links[77] = NAN;
  REFUSED(PLAQ_NOT_FINITE, "not finite", plaq_gauge_load(gauge, &layout, links));
  OK(plaq_gauge_smear_params_init(&smear, sizeof smear));
  REFUSED(PLAQ_BAD_PARAMETER, "alpha[0]: expected 0 to 1, found NaN", plaq_gauge_smear(gauge, &smear));
  layout.arrays = 3;
  REFUSED(PLAQ_BAD_LAYOUT, "layout.arrays: expected 0 or 1 for PLAQ_ORDER_LEXICOGRAPHIC here, found 3",
          plaq_gauge_load(gauge, &layout, links));
#define LAYOUT(status, words, what)                                          \
  do {                                                                       \
    OK(plaq_layout_params_init(&layout, sizeof layout));                     \
    what;                                                                    \
    REFUSED(status, words, plaq_gauge_load(gauge, &layout, links));          \
  } while (0)
  LAYOUT(PLAQ_BAD_LAYOUT, "PLAQ_PRECISION_SINGLE (4), found 2", layout.precision = PLAQ_PRECISION_HALF);
  LAYOUT(PLAQ_BAD_LAYOUT, "site_bytes, site_offset: four links", (layout.order = PLAQ_ORDER_MILC_SITE, layout.site_bytes = 100));
  LAYOUT(PLAQ_BAD_LAYOUT, "layout.scale[1]: expected a number that is not 0, found 0", layout.scale[1] = 0);
  LAYOUT(PLAQ_BAD_LAYOUT, "layout.boundary[3]: expected a finite angle, found inf", layout.boundary[3] = INFINITY);
  LAYOUT(PLAQ_INVALID_ARGUMENT, "layout.tolerance: expected a number, found NaN", layout.tolerance = NAN);
  wrong.id = context.id;
  REFUSED(PLAQ_INVALID_HANDLE, "gauge: expected a plaq_gauge, found a plaq_context", plaq_gauge_unit(wrong));
  CHECK(norm == 7);
  OK(plaq_context_destroy(other));
  free(single);
}

/* A GPU that the machine does not have. */
static void devices(void) {
  plaq_context_params p;
  plaq_context context = {7};
  plaq_status status;
  OK(plaq_context_params_init(&p, sizeof p));
  p.timeout = NAN;
  REFUSED(PLAQ_INVALID_ARGUMENT, "params.timeout: expected 0 or more, found NaN", plaq_context_create(&p, &context));
  p.timeout = 0;
  p.device = PLAQ_DEVICE_CUDA;
  p.ordinal = 1000;
  status = plaq_context_create(&p, &context);
  CHECK(context.id == 7);
  if (status == PLAQ_NO_DEVICE) CHECK(strstr(plaq_last_error(), "1000"));
  else if (status == PLAQ_DRIVER_TOO_OLD) CHECK(strstr(plaq_last_error(), "CUDA 12.0 or later"));
  else REFUSED(PLAQ_DRIVER_MISSING, "install the NVIDIA driver", plaq_context_create(&p, &context));
  printf("%s\n", plaq_status_name(status));
}

int main(int argc, char **argv) {
  plaq_context context;
  plaq_gauge gauge;
  double *links;
  (void)argv;
  devices();
  if (argc > 1) return 0; /* what else there is needs no device */
  context = cpu_context();
  links = random_links();
  gauge = new_gauge(context, links);
  files(context, gauge);
  actions(context, gauge);
  OK(plaq_gauge_warm(gauge, 3, 0.2));
  solvers(context, gauge);
  fields(context, gauge, links);
  free(links);
  OK(plaq_context_destroy(context));
  return 0;
}
