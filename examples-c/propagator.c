/* propagator: a quark propagator on a gauge configuration, and its hadron correlators.
 *
 *   propagator --gauge FILE --kappa K [--csw C] [--time-bc periodic|antiperiodic]
 *              [--source point,x,y,z,t | wall,t] [--solver cg|cgne|cgnr|bicgstab|gcr|mr|mg] [--tol R]
 *              [--precision double|single|half] [--max-iterations N] [--rhs N]
 *              [--normalisation kappa|mass] [--device auto|cpu|cuda] [--threads N] [--json FILE]
 *              [--plot FILE.svg]
 *
 * Twelve solves, --rhs at a time, in double precision, --precision being that of the iteration inside; the
 * table goes to the standard output, progress to the terminal. --solver mg is GCR with multigrid, set
 * up before (docs/multigrid.md). docs/propagator.md has the conventions. Status: 0 done, 1 refused,
 * 2 wrong options, 3 not converged or interrupted.
 *
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --csw 1.2 --json $OUT/point.json --plot=$OUT/point.svg
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --time-bc periodic --source wall,3 --solver bicgstab --precision double --tol 1e-12 --normalisation mass
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --source point,1,2,3,5 --solver gcr --precision half --rhs 5
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.13 --csw 1.2 --solver mg --precision double --json $OUT/mg.json
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include <signal.h>
#include <time.h>

#include "plot.h"

static const char HELP[] =
    "usage: propagator --gauge FILE --kappa K [options]\n"
    "A quark propagator on a gauge configuration; pion, rho and nucleon correlators with effective masses.\n"
    "  --gauge FILE         configuration: NERSC, ILDG, MILC, openQCD or DDalphaAMG, found out by itself\n"
    "  --kappa K            hopping parameter\n"
    "  --csw C              coefficient of the clover term (0: Wilson)\n"
    "  --time-bc B          periodic or antiperiodic (antiperiodic)\n"
    "  --source S           point,x,y,z,t or wall,t (point,0,0,0,0)\n"
    "  --solver S           cg, cgne, cgnr, bicgstab, gcr, mr, or mg: multigrid (cg)\n"
    "  --tol R              residual |b - M x| / |b| (1e-10)\n"
    "  --precision P        of the iteration inside double: double, single or half (single)\n"
    "  --max-iterations N   (10000)\n"
    "  --rhs N              right-hand sides at a time, 1 to 12; fewer take less memory (12)\n"
    "  --normalisation N    kappa: M = 1 - kappa H, mass: D = m + 4 - H/2 (kappa)\n"
    "  --device D           auto, cpu or cuda (auto)\n"
    "  --threads N          of the CPU; 0: all (0)\n"
    "  --json FILE          everything as JSON\n"
    "  --plot FILE.svg      effective masses as a picture\n" GRID_HELP
    "  --help, -h, --version\n"
    "example: propagator --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --csw 1.2 --plot pion.svg\n";
static const char OPTIONS[] =
    "--gauge --kappa --csw --time-bc --source --solver --tol --precision --max-iterations --rhs --normalisation "
    "--device --threads --json --plot" GRID_OPTION;

/* Beside the library's algorithms: GCR with multigrid. */
enum { COLUMNS = 12, MULTIGRID = 100 };

/* CG needs the normal equations: its name stands for CGNR. */
static const choice SOLVERS[] = {{"cg", PLAQ_ALGORITHM_CGNR},         {"cgne", PLAQ_ALGORITHM_CGNE},
                                 {"cgnr", PLAQ_ALGORITHM_CGNR},       {"bicgstab", PLAQ_ALGORITHM_BICGSTAB},
                                 {"gcr", PLAQ_ALGORITHM_GCR},         {"mr", PLAQ_ALGORITHM_MR},
                                 {"mg", MULTIGRID},                   {NULL, 0}};
static const choice PRECISIONS[] = {{"double", PLAQ_PRECISION_DOUBLE},
                                    {"single", PLAQ_PRECISION_SINGLE},
                                    {"half", PLAQ_PRECISION_HALF},
                                    {NULL, 0}};
static const choice NORMALISATIONS[] = {
    {"kappa", PLAQ_NORMALISATION_KAPPA}, {"mass", PLAQ_NORMALISATION_MASS}, {NULL, 0}};
static const choice BOUNDARIES[] = {{"periodic", 0}, {"antiperiodic", 1}, {NULL, 0}};

/* The job: what was asked for and what came of it. */
typedef struct job {
  const char *gauge_file, *json_file, *plot_file;
  double kappa, csw, tol;
  int32_t boundary, precision, algorithm, normalisation;
  int64_t max_iterations, rhs;
  plaq_source_params source;
  char device[256];
  plaq_file_report file;
  plaq_plaquette plaquette;
  plaq_dirac_report dirac;
  plaq_solve_report solve;
  plaq_multigrid_report multigrid;
  plaq_multigrid_level level[8];
  double residuals[COLUMNS];
  double seconds_load, seconds_propagator; /* by the clock: file and operator, solver and its solves */
  /* `times` numbers each, three times that for rho along x, y, z; rho is their mean. */
  int times;
  double *pion, *rho_xyz, *rho, *nucleon, *mass_pion, *mass_rho, *mass_nucleon;
} job;

static volatile sig_atomic_t interrupted = 0;
static void interrupt(int number) {
  (void)number;
  interrupted = 1;
}

static int32_t progress(int64_t iteration, double residual, double seconds, void *user) {
  double *shown = user;
  if (seconds - *shown > 0.2) {
    fprintf(stderr, "\r  iteration %lld, residual %.2e, %.1f s ", (long long)iteration, residual, seconds);
    *shown = seconds;
  }
  return interrupted;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void source_option(const char *text, plaq_source_params *p) {
  OK(plaq_source_params_init(p, sizeof *p));
  if (!strncmp(text, "point,", 6)) {
    p->kind = PLAQ_SOURCE_POINT;
    integers("--source", text + 6, p->position, 4);
  } else if (!strncmp(text, "wall,", 5)) {
    p->kind = PLAQ_SOURCE_WALL;
    integers("--source", text + 5, p->position + 3, 1);
  } else {
    usage_error("--source", text);
  }
}

static job read_options(int argc, char **argv) {
  job j;
  memset(&j, 0, sizeof j);
  check_options(argc, argv, OPTIONS, HELP);
  j.gauge_file = option(argc, argv, "--gauge", NULL);
  j.json_file = option(argc, argv, "--json", "");
  j.plot_file = option(argc, argv, "--plot", "");
  j.kappa = number(argc, argv, "--kappa", NULL);
  j.csw = number(argc, argv, "--csw", "0");
  j.tol = number(argc, argv, "--tol", "1e-10");
  j.boundary = choose(argc, argv, "--time-bc", "antiperiodic", BOUNDARIES);
  j.algorithm = choose(argc, argv, "--solver", "cg", SOLVERS);
  j.precision = choose(argc, argv, "--precision", "single", PRECISIONS);
  j.normalisation = choose(argc, argv, "--normalisation", "kappa", NORMALISATIONS);
  j.max_iterations = integer(argc, argv, "--max-iterations", "10000");
  j.rhs = integer(argc, argv, "--rhs", "12");
  source_option(option(argc, argv, "--source", "point,0,0,0,0"), &j.source);
  if (!(j.kappa > 0)) usage_error("--kappa", "expected a positive number");
  if (j.max_iterations < 1 || j.max_iterations > 1 << 30) usage_error("--max-iterations", "out of range");
  if (j.rhs < 1 || j.rhs > COLUMNS) usage_error("--rhs", "expected 1 to 12 right-hand sides at a time");
  return j;
}

/* Reads the configuration and makes the operator; the links stay in the operator only. */
static plaq_dirac load(plaq_context context, job *j) {
  plaq_read_params read;
  plaq_dirac_params params;
  plaq_gauge gauge;
  plaq_dirac dirac;
  double start = now();
  OK(plaq_read_params_init(&read, sizeof read));
  OK(plaq_file_report_init(&j->file, sizeof j->file));
  OK(plaq_gauge_read_file(context, j->gauge_file, &read, &gauge, &j->file));
  OK(plaq_gauge_plaquette(gauge, &j->plaquette));
  OK(plaq_dirac_params_init(&params, sizeof params));
  params.kappa = j->kappa;
  params.csw = j->csw;
  params.boundary[3] = j->boundary;
  params.normalisation = j->normalisation;
  OK(plaq_dirac_create(context, gauge, &params, &dirac));
  OK(plaq_gauge_destroy(gauge));
  OK(plaq_dirac_report_init(&j->dirac, sizeof j->dirac));
  OK(plaq_dirac_describe(dirac, &j->dirac));
  j->seconds_load = now() - start;
  return dirac;
}

/* Solves for the twelve columns of the propagator. */
static plaq_spinor solve(plaq_dirac dirac, job *j) {
  plaq_solver_params params;
  plaq_spinor propagator;
  plaq_solver solver;
  plaq_multigrid multigrid = {0};
  int l;
  double shown = 0, start = now();
  OK(plaq_solver_params_init(&params, sizeof params));
  params.algorithm = j->algorithm == MULTIGRID ? PLAQ_ALGORITHM_GCR : j->algorithm;
  if (j->algorithm == MULTIGRID) params.nkrylov = 4;
  params.sloppy_precision = j->precision;
  params.tol = j->tol;
  params.max_iterations = (int32_t)j->max_iterations;
  params.columns = (int32_t)j->rhs;
  OK(plaq_solver_create(dirac, &params, &solver));
  if (j->algorithm == MULTIGRID) {
    plaq_multigrid_params build;
    OK(plaq_multigrid_params_init(&build, sizeof build));
    OK(plaq_multigrid_create(dirac, &build, &multigrid));
    OK(plaq_solver_set_multigrid(solver, multigrid));
  }
  OK(plaq_solve_report_init(&j->solve, sizeof j->solve));
  signal(SIGINT, interrupt);
  signal(SIGTERM, interrupt);
  OK(plaq_solver_propagator(solver, &j->source, progress, &shown, &propagator, &j->solve, j->residuals));
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  fprintf(stderr, "\r  %lld iterations, residual %.2e, %.2f s          \n", (long long)j->solve.iterations,
          j->solve.residual, j->solve.seconds);
  OK(plaq_solver_destroy(solver));
  if (j->algorithm == MULTIGRID) {
    OK(plaq_multigrid_report_init(&j->multigrid, sizeof j->multigrid));
    OK(plaq_multigrid_describe(multigrid, &j->multigrid));
    for (l = 0; l < j->multigrid.levels; l++) {
      OK(plaq_multigrid_level_init(&j->level[l], sizeof j->level[l]));
      OK(plaq_multigrid_describe_level(multigrid, l, &j->level[l]));
    }
    OK(plaq_multigrid_destroy(multigrid));
  }
  j->seconds_propagator = now() - start;
  return propagator;
}

/* Correlators over the time from the source, and effective masses. */
static void contract(plaq_spinor propagator, job *j) {
  int t, n = j->file.extents[3];
  double *all = malloc(11 * (size_t)n * sizeof *all), *pairs = all + 9 * n;
  if (!all) usage_error("memory", "exhausted");
  j->times = n;
  j->pion = all;
  j->rho_xyz = all + n;
  j->rho = all + 4 * n;
  j->nucleon = all + 5 * n;
  j->mass_pion = all + 6 * n;
  j->mass_rho = all + 7 * n;
  j->mass_nucleon = all + 8 * n;
  OK(plaq_spinor_correlators(propagator, j->source.position[3], j->boundary, n, j->pion, j->rho_xyz, pairs));
  for (t = 0; t < n; t++) {
    j->rho[t] = (j->rho_xyz[t] + j->rho_xyz[n + t] + j->rho_xyz[2 * n + t]) / 3;
    j->nucleon[t] = pairs[2 * t]; /* the average over configurations is real */
  }
  OK(plaq_effective_mass(j->pion, n, PLAQ_MASS_FORM_COSH, j->mass_pion));
  OK(plaq_effective_mass(j->rho, n, PLAQ_MASS_FORM_COSH, j->mass_rho));
  OK(plaq_effective_mass(j->nucleon, n, PLAQ_MASS_FORM_LOG, j->mass_nucleon));
}

static const char *solver_name(const job *j) {
  return j->algorithm == MULTIGRID ? "mg" : name_of(j->solve.algorithm, SOLVERS + 1);
}

static void print_mass(double m) {
  if (m == m) printf("  %9.6f", m);
  else printf("  %9s", "-");
}

static void print_table(const job *j) {
  const int32_t *l = j->file.extents, *x = j->source.position;
  int t;
  printf("# %s (%s), %d x %d x %d x %d, plaquette %.9f\n", j->gauge_file, name_of(j->file.format, FORMATS), l[0], l[1],
         l[2], l[3], j->plaquette.total);
  printf("# kappa %.10g (mass %.10g), csw %.10g, %s in time, %s normalisation\n", j->dirac.kappa, j->dirac.mass, j->csw,
         name_of(j->boundary, BOUNDARIES), name_of(j->normalisation, NORMALISATIONS));
  if (j->source.kind == PLAQ_SOURCE_WALL) printf("# wall source at t = %d, ", x[3]);
  else printf("# point source at (%d, %d, %d, %d), ", x[0], x[1], x[2], x[3]);
  printf("%s\n", j->device);
  printf("# %s, %s inside double: %lld iterations, residual %.2e, %.3f s, %.1f Gflop/s, peak %.1f MiB%s\n",
         solver_name(j), name_of(j->precision, PRECISIONS), (long long)j->solve.iterations,
         j->solve.residual, j->solve.seconds, j->solve.flops / j->solve.seconds * 1e-9,
         (double)j->solve.memory_peak / 1048576, j->solve.converged ? "" : j->solve.stopped ? ", INTERRUPTED" : ", NOT CONVERGED");
  printf("#%4s  %16s  %9s  %16s  %9s  %16s  %9s\n", "t", "pion", "m_eff", "rho", "m_eff", "nucleon", "m_eff");
  for (t = 0; t < j->times; t++) {
    printf("%5d  %16.9e", t, j->pion[t]);
    print_mass(j->mass_pion[t]);
    printf("  %16.9e", j->rho[t]);
    print_mass(j->mass_rho[t]);
    printf("  %16.9e", j->nucleon[t]);
    print_mass(j->mass_nucleon[t]);
    printf("\n");
  }
}

static void json_array(FILE *f, const char *name, const double *values, int count, const char *after) {
  int i;
  fprintf(f, "    \"%s\": [", name);
  for (i = 0; i < count; i++) {
    if (isfinite(values[i])) fprintf(f, "%s%.17g", i ? ", " : "", values[i]);
    else fprintf(f, "%snull", i ? ", " : "");
  }
  fprintf(f, "]%s\n", after);
}

static void write_json(const job *j) {
  const int32_t *l = j->file.extents, *x = j->source.position;
  const plaq_solve_report *s = &j->solve;
  int n = j->times;
  FILE *f = open_file(j->json_file, "w");
  fprintf(f, "{\n  \"version\": \"%s\",\n  \"device\": ", plaq_version());
  json_text(f, j->device);
  fprintf(f, ",\n  \"gauge\": {\"file\": ");
  json_text(f, j->gauge_file);
  fprintf(f, ", \"format\": \"%s\", \"lattice\": [%d, %d, %d, %d]},\n", name_of(j->file.format, FORMATS), l[0], l[1],
          l[2], l[3]);
  fprintf(f, "  \"plaquette\": {\"total\": %.17g, \"spatial\": %.17g, \"temporal\": %.17g},\n", j->plaquette.total,
          j->plaquette.spatial, j->plaquette.temporal);
  fprintf(f, "  \"action\": {\"kappa\": %.17g, \"mass\": %.17g, \"csw\": %.17g, \"time_bc\": \"%s\", \"normalisation\": \"%s\"},\n",
          j->dirac.kappa, j->dirac.mass, j->csw, name_of(j->boundary, BOUNDARIES),
          name_of(j->normalisation, NORMALISATIONS));
  fprintf(f, "  \"seconds\": {\"load\": %.9g, \"propagator\": %.9g},\n", j->seconds_load, j->seconds_propagator);
  fprintf(f, "  \"source\": {\"kind\": \"%s\", \"position\": [%d, %d, %d, %d]},\n",
          j->source.kind == PLAQ_SOURCE_WALL ? "wall" : "point", x[0], x[1], x[2], x[3]);
  fprintf(f, "  \"solver\": {\n    \"name\": \"%s\", \"precision\": \"%s\", \"rhs\": %d, \"tol\": %.17g,\n",
          solver_name(j), name_of(j->precision, PRECISIONS), (int)j->rhs, j->tol);
  fprintf(f, "    \"converged\": %s, \"stopped\": %s, \"iterations\": %lld, \"reliable_updates\": %lld, \"restarts\": %lld,\n",
          s->converged ? "true" : "false", s->stopped ? "true" : "false", (long long)s->iterations,
          (long long)s->reliable_updates, (long long)s->restarts);
  fprintf(f, "    \"residual\": %.17g, \"residual_hq\": %.17g,\n", s->residual, s->residual_hq);
  json_array(f, "residuals", j->residuals, COLUMNS, ",");
  fprintf(f, "    \"seconds\": %.9g, \"flops\": %.17g, \"bytes\": %.17g, \"memory_peak\": %lld\n  },\n", s->seconds,
          s->flops, s->bytes, (long long)s->memory_peak);
  if (j->algorithm == MULTIGRID) {
    int l;
    fprintf(f, "  \"multigrid\": {\"setup_seconds\": %.9g, \"reduction\": %.9g, \"bytes\": %lld, \"levels\": [", j->multigrid.setup_seconds,
            j->multigrid.reduction, (long long)j->multigrid.bytes);
    for (l = 0; l < j->multigrid.levels; l++) {
      const plaq_multigrid_level *v = &j->level[l];
      fprintf(f, "%s\n    {\"lattice\": [%d, %d, %d, %d], \"block\": [%d, %d, %d, %d], \"vectors\": %d, \"bytes\": %lld, \"iterations\": %lld, \"seconds\": %.9g}",
              l ? "," : "", v->extents[0], v->extents[1], v->extents[2], v->extents[3], v->block[0], v->block[1], v->block[2],
              v->block[3], v->vectors, (long long)v->bytes, (long long)v->iterations, v->seconds);
    }
    fprintf(f, "\n  ]},\n");
  }
  fprintf(f, "  \"correlators\": {\n");
  json_array(f, "pion", j->pion, n, ",");
  json_array(f, "rho_x", j->rho_xyz, n, ",");
  json_array(f, "rho_y", j->rho_xyz + n, n, ",");
  json_array(f, "rho_z", j->rho_xyz + 2 * n, n, ",");
  json_array(f, "nucleon", j->nucleon, n, "");
  fprintf(f, "  },\n  \"effective_mass\": {\n");
  json_array(f, "pion", j->mass_pion, n, ",");
  json_array(f, "rho", j->mass_rho, n, ",");
  json_array(f, "nucleon", j->mass_nucleon, n, "");
  fprintf(f, "  }\n}\n");
  close_file(f, j->json_file);
}

/* Effective masses up to the middle of the lattice, the first of which comes between t = 0 and 1. */
static void write_plot(const job *j) {
  int n = j->times / 2;
  char title[160];
  plot_series masses[3];
  masses[0] = (plot_series){"pion", "#0072b2", j->mass_pion, n};
  masses[1] = (plot_series){"rho", "#d55e00", j->mass_rho, n};
  masses[2] = (plot_series){"nucleon", "#009e73", j->mass_nucleon, n};
  snprintf(title, sizeof title, "Effective masses, kappa %.6g, csw %.6g, %d x %d x %d x %d", j->dirac.kappa, j->csw,
           j->file.extents[0], j->file.extents[1], j->file.extents[2], j->file.extents[3]);
  plot_write(j->plot_file, title, "t / a", "a m", masses, 3);
}

int main(int argc, char **argv) {
  job j = read_options(argc, argv);
  plaq_context context = open_context(argc, argv);
  plaq_dirac dirac;
  plaq_spinor propagator;
  OK(plaq_context_name(context, j.device, sizeof j.device));
  fprintf(stderr, "propagator on %s\n", j.device);
  dirac = load(context, &j);
  propagator = solve(dirac, &j);
  contract(propagator, &j);
  print_table(&j);
  if (*j.json_file && first_rank(context)) write_json(&j);
  if (*j.plot_file && first_rank(context)) write_plot(&j);
  free(j.pion);
  OK(plaq_context_destroy(context));
  return j.solve.converged ? 0 : 3;
}
