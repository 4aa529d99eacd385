/* After failures the host's objects and memory are as the header says. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lattice.h"

static double norm2(plaq_spinor x) {
  double v = -1;
  OK(plaq_spinor_norm2(x, &v, 1));
  return v;
}

static plaq_dirac new_dirac(plaq_context c, plaq_gauge g, double kappa, int normalisation) {
  plaq_dirac_params p;
  plaq_dirac d;
  OK(plaq_dirac_params_init(&p, sizeof p));
  p.kappa = kappa;
  p.normalisation = normalisation;
  OK(plaq_dirac_create(c, g, &p, &d));
  return d;
}

static plaq_gauge warm(plaq_context c) {
  plaq_gauge_params p = gauge_params();
  plaq_gauge g;
  OK(plaq_gauge_create(c, &p, &g));
  OK(plaq_gauge_warm(g, 1, 0.3));
  return g;
}

/* With any limit of memory x keeps its shape, and its contents if the call fails. */
static void multishift_without_memory(int even) {
  int64_t used = 0, more;
  for (more = -1; more < 400000; more += even ? 80021 : 30011) {
    plaq_context_params cp;
    plaq_context c;
    plaq_context_report r;
    plaq_solver_params sp;
    plaq_spinor_params pp = spinor_params(2);
    plaq_solver s;
    plaq_spinor x[3], b;
    double sigma[3] = {0.1, 0.2, 0.3}, tol[3] = {1e-2, 1e-2, 1e-2}, before[2], after[2];
    int status, i;
    OK(plaq_context_params_init(&cp, sizeof cp));
    cp.device = PLAQ_DEVICE_CPU;
    cp.threads = 1;
    cp.memory_limit = more < 0 ? 0 : used + more;
    OK(plaq_context_create(&cp, &c));
    pp.extents[3] = 4;
    pp.subset = even ? PLAQ_SUBSET_EVEN : PLAQ_SUBSET_FULL;
    {
      plaq_gauge_params gp = gauge_params();
      plaq_gauge g;
      gp.extents[3] = 4;
      OK(plaq_gauge_create(c, &gp, &g));
      OK(plaq_gauge_warm(g, 1, 0.3));
      OK(plaq_solver_params_init(&sp, sizeof sp));
      sp.solution = even ? PLAQ_SOLUTION_PDAGP : PLAQ_SOLUTION_MDAGM;
      OK(plaq_solver_create(new_dirac(c, g, 0.1, 0), &sp, &s));
      OK(plaq_gauge_destroy(g));
    }
    for (i = 0; i < 3; i++) {
      OK(plaq_spinor_create(c, &pp, &x[i]));
      OK(plaq_spinor_noise(x[i], PLAQ_NOISE_NORMAL, i, 0));
    }
    OK(plaq_spinor_create(c, &pp, &b));
    OK(plaq_spinor_noise(b, PLAQ_NOISE_NORMAL, 9, 0));
    OK(plaq_context_report_init(&r, sizeof r));
    OK(plaq_context_describe(c, &r));
    if (more < 0) {
      used = r.memory_peak;
      OK(plaq_context_destroy(c));
      continue;
    }
    OK(plaq_spinor_norm2(x[0], before, 2));
    status = plaq_solver_multishift(s, x, sigma, tol, 3, b, NULL, NULL, NULL, NULL);
    CHECK(status == PLAQ_SUCCESS || status == PLAQ_OUT_OF_MEMORY);
    for (i = 0; i < 3; i++) {
      plaq_spinor_report shape;
      OK(plaq_spinor_report_init(&shape, sizeof shape));
      OK(plaq_spinor_describe(x[i], &shape));
      CHECK(shape.extents[0] == 4 && shape.nrhs == 2 && shape.subset == pp.subset && shape.precision == PLAQ_PRECISION_DOUBLE);
    }
    OK(plaq_spinor_norm2(x[0], after, 2));
    CHECK(status == PLAQ_SUCCESS || (before[0] == after[0] && before[1] == after[1]));
    OK(plaq_context_destroy(c));
  }
}

/* A source with NaN is refused and x is unchanged, in every normalisation and with a guess. */
static void refused_solves_leave_x(plaq_context c) {
  plaq_gauge g = warm(c);
  int norm, solution, algorithm, equations, guess;
  plaq_spinor x = new_spinor(c, 1, NULL), b = new_spinor(c, 1, NULL);
  double nan_[2] = {NAN, 0}, before;
  OK(plaq_spinor_noise(x, PLAQ_NOISE_NORMAL, 1, 0));
  OK(plaq_spinor_noise(b, PLAQ_NOISE_NORMAL, 2, 0));
  OK(plaq_spinor_axpby(nan_, x, nan_, b, 1));
  before = norm2(x);
  for (norm = 0; norm < 2; norm++) {
    plaq_dirac d = new_dirac(c, g, 0.1, norm);
    for (solution = 0; solution < 3; solution += 2)
      for (algorithm = 0; algorithm < 6; algorithm++)
        for (equations = 0; equations < 3; equations++)
          for (guess = norm; guess < 2; guess++) {
            plaq_solver_params sp;
            plaq_solver s;
            OK(plaq_solver_params_init(&sp, sizeof sp));
            sp.solution = solution, sp.solver = algorithm, sp.equations = equations;
            sp.initial_guess = guess;
            if (plaq_solver_create(d, &sp, &s)) continue;
            EXPECT(PLAQ_NOT_FINITE, plaq_solver_solve(s, x, b, NULL, NULL, NULL, NULL));
            CHECK(norm2(x) == before);
            OK(plaq_solver_destroy(s));
          }
    OK(plaq_dirac_destroy(d));
  }
  OK(plaq_gauge_destroy(g));
  OK(plaq_spinor_destroy(x));
  OK(plaq_spinor_destroy(b));
}

/* If an operator gives NaN, x is zero after the solve. */
static void breakdowns_leave_zero(plaq_context c) {
  double *links = random_links();
  plaq_gauge_params gp = gauge_params();
  plaq_layout_params lp;
  plaq_solver_params sp;
  plaq_solver s;
  plaq_gauge g;
  plaq_dirac d;
  plaq_spinor x[2], b;
  double sigma[2] = {0.1, 0.2}, tol[2] = {1e-8, 1e-8};
  int k, solution[2] = {PLAQ_SOLUTION_M, PLAQ_SOLUTION_MDAGM};
  links[77] = NAN;
  OK(plaq_layout_params_init(&lp, sizeof lp));
  lp.tolerance = -1;
  OK(plaq_gauge_create(c, &gp, &g));
  OK(plaq_gauge_load(g, &lp, links));
  free(links);
  d = new_dirac(c, g, 0.1, 1);
  for (k = 0; k < 2; k++) x[k] = new_spinor(c, 1, NULL);
  b = new_spinor(c, 1, NULL);
  OK(plaq_spinor_noise(b, PLAQ_NOISE_NORMAL, 2, 0));
  for (k = 0; k < 4; k++) {
    OK(plaq_solver_params_init(&sp, sizeof sp));
    sp.solution = solution[k / 2], sp.initial_guess = k % 2, sp.system = PLAQ_SYSTEM_FULL;
    OK(plaq_solver_create(d, &sp, &s));
    OK(plaq_spinor_noise(x[0], PLAQ_NOISE_NORMAL, 3, 0));
    REFUSED(PLAQ_SOLVER_BREAKDOWN, "right-hand side 0 is not finite", plaq_solver_solve(s, x[0], b, NULL, NULL, NULL, NULL));
    CHECK(norm2(x[0]) == 0);
    if (k == 2) {
      OK(plaq_spinor_noise(x[0], PLAQ_NOISE_NORMAL, 3, 0));
      OK(plaq_spinor_noise(x[1], PLAQ_NOISE_NORMAL, 3, 0));
      EXPECT(PLAQ_SOLVER_BREAKDOWN, plaq_solver_multishift(s, x, sigma, tol, 2, b, NULL, NULL, NULL, NULL));
      CHECK(norm2(x[0]) == 0 && norm2(x[1]) == 0);
    }
    OK(plaq_solver_destroy(s));
  }
  OK(plaq_dirac_destroy(d));
  OK(plaq_gauge_destroy(g));
}

/* The context's peak of memory is the largest so far, whatever peak a solve reports. */
static void peaks(plaq_context c) {
  plaq_spinor big = new_spinor(c, 64, NULL), x, b;
  plaq_gauge g = warm(c);
  plaq_solver_params sp;
  plaq_solver s;
  plaq_solve_report done;
  plaq_context_report before, after;
  int64_t bytes;
  OK(plaq_spinor_destroy(big));
  x = new_spinor(c, 1, NULL), b = new_spinor(c, 1, NULL);
  OK(plaq_spinor_noise(b, PLAQ_NOISE_NORMAL, 2, 0));
  OK(plaq_solver_params_init(&sp, sizeof sp));
  OK(plaq_solver_create(new_dirac(c, g, 0.1, 0), &sp, &s));
  OK(plaq_context_report_init(&before, sizeof before));
  OK(plaq_context_report_init(&after, sizeof after));
  OK(plaq_solve_report_init(&done, sizeof done));
  OK(plaq_context_describe(c, &before));
  OK(plaq_solver_solve(s, x, b, NULL, NULL, &done, NULL));
  OK(plaq_context_describe(c, &after));
  CHECK(after.memory_peak == before.memory_peak);
  CHECK(done.memory_peak > before.memory_used && done.memory_peak < before.memory_peak);
  sp.solver = PLAQ_SOLVER_GCR;
  sp.nkrylov = 2147483647;
  REFUSED(PLAQ_BAD_PARAMETER, "nkrylov", plaq_solver_create(new_dirac(c, g, 0.1, 0), &sp, &s));
  /* As many directions as iterations, for 4096 right-hand sides: the number of bytes exceeds 32 bits. */
  sp.nkrylov = 10000, sp.max_iterations = 100;
  OK(plaq_solver_create(new_dirac(c, g, 0.1, 0), &sp, &s));
  OK(plaq_solver_memory(s, 4096, &bytes));
  CHECK(bytes > UINT32_MAX);
}

/* Random numbers are not repeated in later calls. */
static void sweeps_end(plaq_context c) {
  plaq_gauge g = warm(c);
  plaq_heatbath_params up;
  plaq_heatbath_report r;
  plaq_plaquette before, after;
  OK(plaq_heatbath_params_init(&up, sizeof up));
  OK(plaq_heatbath_report_init(&r, sizeof r));
  up.beta = 6, up.first_sweep = 4294967295, up.sweeps = 2;
  OK(plaq_gauge_plaquette(g, &before));
  REFUSED(PLAQ_INVALID_ARGUMENT, "sweeps", plaq_gauge_heatbath(g, &up, NULL, NULL, &r));
  OK(plaq_gauge_plaquette(g, &after));
  CHECK(before.total == after.total);
  up.first_sweep = 4294967293;
  OK(plaq_gauge_heatbath(g, &up, NULL, NULL, &r));
  CHECK(r.next_sweep == 4294967295);
  OK(plaq_gauge_destroy(g));
}

static plaq_context logged_context;
static int lines, busy;

static void relog(int32_t level, const char *message, void *user) {
  plaq_context_report r = {0};
  (void)level, (void)message, (void)user;
  lines++;
  CHECK(lines < 1000);
  r.struct_size = sizeof r;
  busy += plaq_context_describe(logged_context, &r) == PLAQ_BUSY;
  busy += plaq_context_reset_peak(logged_context) == PLAQ_BUSY;
}

/* A log callback that calls plaq is refused, and is not called recursively. */
static void log_callbacks(plaq_context c) {
  plaq_gauge none = {0};
  plaq_plaquette p;
  logged_context = c;
  OK(plaq_log_set(relog, NULL, PLAQ_LOG_TRACE));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_gauge_plaquette(none, &p));
  OK(plaq_log_set(NULL, NULL, PLAQ_LOG_OFF));
  CHECK(lines > 0 && busy == 2 * lines);
}

/* Files that plaq writes are read with default options, in every precision and storage. */
static void files_come_back(plaq_context c) {
  int precision[] = {8, 4, 2}, storage[] = {18, 12, 8}, i, j, format, bytes;
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++) {
      plaq_gauge_params gp = gauge_params();
      plaq_gauge g, h;
      gp.extents[0] = gp.extents[1] = gp.extents[2] = 2, gp.extents[3] = 4;
      gp.precision = precision[i], gp.storage = storage[j];
      OK(plaq_gauge_create(c, &gp, &g));
      OK(plaq_gauge_hot(g, 3));
      for (format = 1; format < 7; format++)
        for (bytes = i && j ? 8 : 0; bytes <= 8; bytes += 4) {
          plaq_gauge_write_params wp;
          plaq_file_report r;
          plaq_plaquette p, q;
          int status;
          OK(plaq_gauge_write_params_init(&wp, sizeof wp));
          OK(plaq_file_report_init(&r, sizeof r));
          wp.format = format, wp.precision = bytes;
          status = plaq_gauge_write(g, "round_trip", &wp);
          if (status == PLAQ_UNSUPPORTED) continue;
          OK(status);
          OK(plaq_gauge_read(c, "round_trip", NULL, &h, &r));
          /* The last two formats have no checksum. */
          CHECK(r.warnings == (format < PLAQ_FILE_FORMAT_OPENQCD ? 0 : PLAQ_FILE_WARNING_NO_CHECKSUM));
          OK(plaq_gauge_plaquette(g, &p));
          OK(plaq_gauge_plaquette(h, &q));
          CHECK(fabs(p.total - q.total) < (precision[i] == 2 ? 1e-3 : 1e-6));
          OK(plaq_gauge_destroy(h));
        }
      OK(plaq_gauge_destroy(g));
    }
  CHECK(remove("round_trip") == 0);
}

static void targets_of_files(plaq_context c) {
  plaq_gauge g = warm(c), h;
  struct stat st;
  FILE *file;
  REFUSED(PLAQ_FILE_WRITE, "/dev/null", plaq_gauge_write(g, "/dev/null", NULL));
  CHECK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
  remove("a_pipe");
  CHECK(mkfifo("a_pipe", 0600) == 0);
  REFUSED(PLAQ_FILE_WRITE, "a_pipe", plaq_gauge_write(g, "a_pipe", NULL));
  CHECK(stat("a_pipe", &st) == 0 && S_ISFIFO(st.st_mode) && remove("a_pipe") == 0);
  remove("a_link");
  CHECK(symlink("nowhere/file", "a_link") == 0);
  REFUSED(PLAQ_FILE_WRITE, "nowhere/file", plaq_gauge_write(g, "a_link", NULL));
  CHECK(lstat("a_link", &st) == 0 && S_ISLNK(st.st_mode) && remove("a_link") == 0);
  REFUSED(PLAQ_FILE_WRITE, "no_folder/x", plaq_gauge_write(g, "no_folder/x", NULL));
  /* A file that replaces another one keeps its mode. */
  OK(plaq_gauge_write(g, "kept", NULL));
  CHECK(chmod("kept", 0640) == 0);
  OK(plaq_gauge_write(g, "kept", NULL));
  CHECK(stat("kept", &st) == 0 && (st.st_mode & 0777) == 0640);
  /* A wrong checksum is refused, or accepted on request and reported. */
  {
    static char text[1 << 20];
    size_t n, i;
    plaq_gauge_read_params rp;
    plaq_file_report r;
    file = fopen("kept", "r+b");
    CHECK(file != NULL);
    n = fread(text, 1, sizeof text, file);
    for (i = n - 6; i > 0 && memcmp(text + i, "<suma>", 6); i--) {
    }
    CHECK(i > 0);
    text[i + 6] = text[i + 6] == '1' ? '2' : '1';
    rewind(file);
    CHECK(fwrite(text, 1, n, file) == n && fclose(file) == 0);
    OK(plaq_gauge_read_params_init(&rp, sizeof rp));
    OK(plaq_file_report_init(&r, sizeof r));
    EXPECT(PLAQ_FILE_CHECKSUM, plaq_gauge_read(c, "kept", &rp, &h, &r));
    rp.wrong_checksum = 1;
    OK(plaq_gauge_read(c, "kept", &rp, &h, &r));
    CHECK(r.warnings == PLAQ_FILE_WARNING_CHECKSUM);
    OK(plaq_gauge_destroy(h));
    /* A format record that is not XML is refused too, or accepted if other records state the lattice. */
    OK(plaq_gauge_write(g, "kept", NULL));
    file = fopen("kept", "r+b");
    CHECK(file != NULL && fread(text, 1, sizeof text, file) == n);
    for (i = 0; i < n - 13 && memcmp(text + i, "</ildgFormat>", 13); i++) {
    }
    CHECK(i < n - 13);
    text[i] = 'x';
    rewind(file);
    CHECK(fwrite(text, 1, n, file) == n && fclose(file) == 0);
    OK(plaq_gauge_read(c, "kept", NULL, &h, &r));
    CHECK(r.warnings == PLAQ_FILE_WARNING_FORMAT);
    OK(plaq_gauge_destroy(h));
  }
  CHECK(remove("kept") == 0);
  OK(plaq_gauge_destroy(g));
}

int main(void) {
  plaq_context c = cpu_context();
  peaks(c);
  OK(plaq_context_destroy(c));
  multishift_without_memory(0);
  multishift_without_memory(1);
  c = cpu_context();
  refused_solves_leave_x(c);
  breakdowns_leave_zero(c);
  sweeps_end(c);
  log_callbacks(c);
  files_come_back(c);
  targets_of_files(c);
  OK(plaq_context_destroy(c));
  return 0;
}
