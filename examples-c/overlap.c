/* overlap: chiral quarks on a gauge configuration: modes of the kernel, low modes and index of the overlap
 * operator, propagators and their correlators.
 *
 *   overlap --gauge FILE [--task modes|index|propagator] [--s S] [--mass M[,M...]] [--delta D]
 *           [--sign polynomial|zolotarev|auto] [--modes N|auto] [--low N] [--tol R]
 *           [--solver auto|cg|sumr|gcr] [--precision double|single|half] [--time-bc periodic|antiperiodic]
 *           [--source point,x,y,z,t | wall,t] [--device auto|cpu|cuda] [--threads N] [--json FILE] [--plot FILE.svg]
 *           [--preconditioner none|wilson|multigrid] [--wilson-mass M] [--smear-steps N] [--smear-rho R]
 *           [--save-modes FILE] [--load-modes FILE] [--locality no|yes] [--high N]
 *
 * modes: low modes of Q = gamma5 (D_W - (1 + s)), and how well the operator obeys the Ginsparg-Wilson
 * relation, with --high modes of the upper end; index: also the --low lowest modes of D^dagger D on either chirality; propagator: these, unless --low is
 * 0, and twelve solves for every mass, in double precision, --precision inside. --plot draws the eigenvalues of D in the
 * complex plane, of the task modes those of Q. --high: modes of the upper end of the spectrum of |Q|. --solver auto, the default, takes what is expected to be fastest, gcr with the Wilson operator's
 * inverse for light quarks; --preconditioner belongs to gcr: that inverse with --wilson-mass, above the critical one,
 * or the mass that the library finds; --locality: the largest |D eta|(x) at every taxi
 * distance from a point source eta; --smear-steps: stout smearing of the kernel's links. Modes that --save-modes wrote
 * are not sought again with --load-modes. docs/overlap.md has the conventions. Status: 0 done, 1 refused, 2 wrong options, 3 not
 * converged or interrupted.
 *
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --task modes --modes 6 --delta 1e-5 --json $OUT/overlap.json --save-modes $OUT/modes.lime
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --task modes --delta 1e-5 --load-modes $OUT/modes.lime --locality yes --json $OUT/locality.json --plot $OUT/modes.svg
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include "plot.h"

static const char HELP[] =
    "usage: overlap --gauge FILE [options]\n"
    "Chiral quarks on a configuration: modes of the kernel, low modes and index, propagators (docs/overlap.md).\n"
    "  --gauge FILE         configuration: NERSC, ILDG, MILC, openQCD or DDalphaAMG, found out by itself\n"
    "  --task T             modes: low modes of the kernel and the Ginsparg-Wilson relation; index: also low modes\n"
    "                       of D^dagger D; propagator: these and twelve solves for every mass (modes)\n"
    "  --s S                the kernel is gamma5 (D_W - (1 + s)) (0.4)\n"
    "  --mass M[,M...]      of the quark, up to 16 (0.05)\n"
    "  --delta D            largest error of the sign function (1e-8)\n"
    "  --sign S             polynomial, zolotarev or auto (polynomial)\n"
    "  --modes N            low modes of the kernel to project; auto: as the spectrum suggests (auto)\n"
    "  --high N             modes of the upper end of the kernel's spectrum (1)\n"
    "  --low N              low modes of D^dagger D on either chirality; 0 with --task propagator: none (8)\n"
    "  --tol R              residual of the solves, |b - D x| / |b| (1e-7)\n"
    "  --solver S           auto, cg, sumr or gcr (auto)\n"
    "  --precision P        of the iteration inside double: double, single or half (single)\n"
    "  --preconditioner P   of gcr: none, wilson or multigrid, the Wilson operator's inverse (none)\n"
    "  --wilson-mass M      of that operator, above the critical one; auto: found (auto)\n"
    "  --time-bc B          periodic or antiperiodic (antiperiodic)\n"
    "  --source S           point,x,y,z,t or wall,t (point,0,0,0,0)\n"
    "  --smear-steps N      stout smearing of the kernel's links (0)\n"
    "  --smear-rho R        its weight (0.1)\n"
    "  --locality B         yes: the largest |D eta|(x) at every distance from a point source eta (no)\n"
    "  --save-modes FILE    the kernel's modes (none)\n"
    "  --load-modes FILE    modes that --save-modes wrote, in place of a search (none)\n"
    "  --json FILE          all results as JSON (none)\n"
    "  --plot FILE.svg      eigenvalues of D in the complex plane, of the task modes those of the kernel (none)\n"
    "  --device D           auto, cpu or cuda (auto)\n"
    "  --threads N          of the CPU; 0: all (0)\n" GRID_HELP
    "  --help, -h, --version\n"
    "example: overlap --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --task index --modes 6 --delta 1e-5\n";
static const char OPTIONS[] =
    "--gauge --task --s --mass --delta --sign --modes --low --tol --solver --precision --time-bc --source --device "
    "--threads --json --plot --preconditioner --wilson-mass --smear-steps --smear-rho --save-modes "
    "--load-modes --locality --high" GRID_OPTION;
static const char *const NEEDS[] = {
    "--tol --solver --precision --source --preconditioner: --task=propagator",
    "--low: --task=index|propagator",
    "--preconditioner: --solver=(auto)|gcr",
    "--wilson-mass: --preconditioner",
    "--smear-rho: --smear-steps",
    NULL};

enum { COLUMNS = 12, MOST_MASSES = 16 };
enum { TASK_MODES, TASK_INDEX, TASK_PROPAGATOR };
enum { PRECONDITION_NONE, PRECONDITION_WILSON, PRECONDITION_MULTIGRID };

static const choice TASKS[] = {
    {"modes", TASK_MODES}, {"index", TASK_INDEX}, {"propagator", TASK_PROPAGATOR}, {NULL, 0}};
static const choice SIGNS[] = {{"polynomial", PLAQ_OVERLAP_POLYNOMIAL},
                               {"zolotarev", PLAQ_OVERLAP_ZOLOTAREV},
                               {"auto", PLAQ_OVERLAP_AUTO},
                               {NULL, 0}};
static const choice SOLVERS[] = {
    {"auto", PLAQ_OVERLAP_SOLVER_AUTO}, {"cg", PLAQ_OVERLAP_CG}, {"sumr", PLAQ_OVERLAP_SUMR},
    {"gcr", PLAQ_OVERLAP_GCR},          {NULL, 0}};
static const choice PRECISIONS[] = {{"double", PLAQ_PRECISION_DOUBLE},
                                    {"single", PLAQ_PRECISION_SINGLE},
                                    {"half", PLAQ_PRECISION_HALF},
                                    {NULL, 0}};
static const choice PRECONDITIONERS[] = {{"none", PRECONDITION_NONE},
                                         {"wilson", PRECONDITION_WILSON},
                                         {"multigrid", PRECONDITION_MULTIGRID},
                                         {NULL, 0}};
static const choice NO_YES[] = {{"no", 0}, {"yes", 1}, {NULL, 0}};
static const choice BOUNDARIES[] = {{"periodic", 0}, {"antiperiodic", 1}, {NULL, 0}};

/* The job: what was asked for and what came of it. */
typedef struct job {
  const char *gauge_file, *json_file, *plot_file, *save_file, *load_file;
  int32_t task, sign, solver, precision, boundary, modes, low, high, preconditioner, smear_steps;
  int masses;
  double s, delta, tol, wilson_mass, smear_rho, mass[MOST_MASSES];
  plaq_source_params source;
  char device[256];
  plaq_file_report file;
  int32_t part[4], offset[4]; /* extents of this rank's part of the lattice, and where it begins */
  plaq_plaquette plaquette;
  plaq_overlap_report overlap;
  double *values, *residuals, *distances; /* of the kernel's modes */
  double *high_values, *high_residuals, *high_gaps;
  double *low_values[2], *low_residuals[2]; /* |lambda|^2 of D^dagger D on chirality 1 and -1 */
  int32_t zeros[2];
  double violation;
  int times;
  double *pion, *rho_xyz, *rho, *nucleon, *mass_pion, *mass_rho, *mass_nucleon; /* mass by mass */
  double condensate[MOST_MASSES];
  int32_t locality;
  int distances_along; /* taxi distances 0 to this less one */
  double *largest;     /* |D eta| there */
  plaq_solve_report solve;
  double seconds_load, seconds_violation, seconds_locality, seconds_index, seconds_propagator;
} job;

static int32_t progress(int64_t iteration, double residual, double seconds, void *user) {
  double *shown = user;
  if (seconds < *shown) *shown = 0;
  if (progress_due(seconds, shown))
    progress_line(0, "  iteration %lld, residual %.2e, %.1f s", (long long)iteration, residual, seconds);
  return interrupted;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *numbers(size_t count) {
  double *all = calloc(count ? count : 1, sizeof *all);
  if (!all) usage_error("memory", "exhausted");
  return all;
}

static void source_option(const char *text, plaq_source_params *p) {
  OK(plaq_source_params_init(p, sizeof *p));
  if (!strncmp(text, "point,", 6)) {
    p->kind = PLAQ_SOURCE_POINT;
    integers("--source point", text + 6, p->position, 4);
  } else if (!strncmp(text, "wall,", 5)) {
    p->kind = PLAQ_SOURCE_WALL;
    integers("--source wall", text + 5, p->position + 3, 1);
  } else {
    not_a_choice("--source", text, "point wall");
  }
}

static void mass_option(const char *text, job *j) {
  const char *at = text;
  do {
    char *end;
    if (j->masses == MOST_MASSES) usage_error("--mass", "at most 16 masses");
    j->mass[j->masses] = strtod(at, &end);
    if (end == at || !isfinite(j->mass[j->masses]) || (*end && *end != ',')) refuse("--mass", text, "a number, or several with commas between");
    j->masses++;
    at = *end ? end + 1 : end;
  } while (*at);
}

static job read_options(int argc, char **argv) {
  const char *modes;
  job j;
  memset(&j, 0, sizeof j);
  check_options(argc, argv, OPTIONS, NEEDS, HELP);
  j.gauge_file = option(argc, argv, "--gauge", NULL);
  j.json_file = option(argc, argv, "--json", "");
  j.plot_file = option(argc, argv, "--plot", "");
  check_output(j.json_file, 1);
  check_plot(j.plot_file, 1);
  j.save_file = option(argc, argv, "--save-modes", "");
  check_output(j.save_file, 1);
  j.load_file = option(argc, argv, "--load-modes", "");
  j.task = choose(argc, argv, "--task", "modes", TASKS);
  j.sign = choose(argc, argv, "--sign", "polynomial", SIGNS);
  j.solver = choose(argc, argv, "--solver", "auto", SOLVERS);
  j.precision = choose(argc, argv, "--precision", "single", PRECISIONS);
  j.boundary = choose(argc, argv, "--time-bc", "antiperiodic", BOUNDARIES);
  j.s = number(argc, argv, "--s", "0.4");
  j.delta = number(argc, argv, "--delta", "1e-8");
  j.tol = number(argc, argv, "--tol", "1e-7");
  j.preconditioner = choose(argc, argv, "--preconditioner", "none", PRECONDITIONERS);
  j.wilson_mass = strcmp(option(argc, argv, "--wilson-mass", "auto"), "auto") ? number(argc, argv, "--wilson-mass", "0")
                                                                              : NAN;
  j.locality = choose(argc, argv, "--locality", "no", NO_YES);
  j.smear_steps = integer32(argc, argv, "--smear-steps", "0");
  j.smear_rho = number(argc, argv, "--smear-rho", "0.1");
  j.low = integer32(argc, argv, "--low", "8");
  j.high = integer32(argc, argv, "--high", "1");
  modes = option(argc, argv, "--modes", "auto");
  j.modes = strcmp(modes, "auto") ? integer32(argc, argv, "--modes", "0") : -1;
  mass_option(option(argc, argv, "--mass", "0.05"), &j);
  source_option(option(argc, argv, "--source", "point,0,0,0,0"), &j.source);
  if (j.low < (j.task != TASK_PROPAGATOR) || j.low > 1000)
    usage_error("--low", "expected 1 to 1000 modes, or 0 with --task propagator");
  if (j.high < 1 || j.high > 1000) usage_error("--high", "expected 1 to 1000 modes");
  if (j.modes < -1 || j.modes > 1000) usage_error("--modes", "expected auto, or 0 to 1000 modes");
  return j;
}

/* Reads the configuration, finds the kernel's modes and makes the operator. */
static plaq_overlap load(plaq_context context, job *j) {
  plaq_read_params read;
  plaq_context_report ranks;
  plaq_overlap_params params;
  plaq_gauge gauge;
  plaq_overlap overlap;
  plaq_spinor none;
  double shown = 0, start = now();
  int mu;
  memset(&none, 0, sizeof none);
  OK(plaq_read_params_init(&read, sizeof read));
  OK(plaq_file_report_init(&j->file, sizeof j->file));
  OK(plaq_gauge_read_file(context, j->gauge_file, &read, &gauge, &j->file));
  OK(plaq_gauge_plaquette(gauge, &j->plaquette));
  memcpy(j->part, j->file.extents, sizeof j->part);
  divide(context, j->part);
  OK(plaq_context_report_init(&ranks, sizeof ranks));
  OK(plaq_context_describe(context, &ranks));
  for (mu = 0; mu < 4; mu++) j->offset[mu] = ranks.coords[mu] * j->part[mu];
  j->seconds_load = now() - start;
  start = now();
  OK(plaq_overlap_params_init(&params, sizeof params));
  params.s = j->s;
  params.mass = j->mass[0];
  params.delta = j->delta;
  params.sign = j->sign;
  params.modes = j->modes;
  params.high_modes = j->high;
  params.boundary[3] = j->boundary;
  params.smearing_steps = j->smear_steps;
  params.smearing = PLAQ_SMEARING_STOUT;
  params.smearing_alpha[0] = j->smear_rho;
  if (*j->load_file) OK(plaq_overlap_load(context, gauge, &params, j->load_file, &overlap));
  else OK(plaq_overlap_create(context, gauge, &params, none, progress, &shown, &overlap));
  OK(plaq_gauge_destroy(gauge));
  OK(plaq_overlap_report_init(&j->overlap, sizeof j->overlap));
  OK(plaq_overlap_describe(overlap, &j->overlap));
  j->values = numbers((size_t)j->overlap.modes);
  j->residuals = numbers((size_t)j->overlap.modes);
  j->distances = numbers((size_t)j->overlap.modes);
  OK(plaq_overlap_kernel(overlap, j->values, j->residuals, j->distances, j->overlap.modes));
  j->high_values = numbers((size_t)j->overlap.high_modes);
  j->high_residuals = numbers((size_t)j->overlap.high_modes);
  j->high_gaps = numbers((size_t)j->overlap.high_modes);
  OK(plaq_overlap_high(overlap, j->high_values, j->high_residuals, j->high_gaps, j->overlap.high_modes));
  start = now();
  OK(plaq_overlap_ginsparg_wilson(overlap, 1, &j->violation));
  j->seconds_violation = now() - start;
  return overlap;
}

/* Of a field like the operator's, a number of columns of the source. */
static plaq_spinor source_columns(plaq_context context, const job *j, const plaq_source_params *source, int32_t n) {
  plaq_spinor_params params;
  plaq_spinor field;
  OK(plaq_spinor_params_init(&params, sizeof params));
  memcpy(params.extents, j->part, sizeof params.extents);
  params.precision = j->overlap.precision;
  params.nrhs = n;
  OK(plaq_spinor_create(context, &params, &field));
  OK(plaq_spinor_source(field, source));
  return field;
}

/* Of a site of this rank's part to the origin, around the lattice. */
static int taxi(const job *j, size_t site) {
  int mu, sum = 0;
  for (mu = 0; mu < 4; mu++) {
    const int l = j->file.extents[mu], x = j->offset[mu] + (int)(site % (size_t)j->part[mu]);
    sum += x < l - x ? x : l - x;
    site /= (size_t)j->part[mu];
  }
  return sum;
}

/* P. Hernandez, K. Jansen, M. Luescher, hep-lat/9808010. */
static void locality_of(plaq_context context, plaq_overlap overlap, job *j) {
  const int32_t *l = j->file.extents, *p = j->part;
  const size_t sites = (size_t)p[0] * (size_t)p[1] * (size_t)p[2] * (size_t)p[3];
  double *image = numbers(24 * sites), start = now();
  plaq_source_params point;
  plaq_layout_params layout;
  plaq_spinor x, y;
  size_t site;
  int i;
  source_option("point,0,0,0,0", &point);
  x = source_columns(context, j, &point, 1);
  y = source_columns(context, j, &point, 1);
  OK(plaq_overlap_apply(overlap, PLAQ_OVERLAP_D, y, x));
  OK(plaq_layout_params_init(&layout, sizeof layout));
  OK(plaq_spinor_save(y, &layout, image));
  OK(plaq_spinor_destroy(x));
  OK(plaq_spinor_destroy(y));
  j->distances_along = (l[0] + l[1] + l[2] + l[3]) / 2 + 1;
  j->largest = numbers((size_t)j->distances_along);
  for (site = 0; site < sites; site++) {
    const int r = taxi(j, site);
    double norm2 = 0;
    for (i = 0; i < 24; i++) norm2 += image[24 * site + (size_t)i] * image[24 * site + (size_t)i];
    j->largest[r] = fmax(j->largest[r], sqrt(norm2));
  }
  maximum_of_ranks(j->largest, j->distances_along);
  free(image);
  j->seconds_locality = now() - start;
}

/* Are low modes of D sought? */
static int low_sought(const job *j) { return j->task != TASK_MODES && j->low > 0; }

static void low_modes(plaq_overlap overlap, job *j) {
  /* By CG, Zolotarev's function is linear to its error only: eigenvectors get no better. */
  const double tol = j->overlap.sign == PLAQ_OVERLAP_ZOLOTAREV ? fmax(1e-9, j->overlap.error_bound) : 1e-9;
  double shown = 0, start = now();
  int side;
  for (side = 0; side < 2; side++) {
    j->low_values[side] = numbers((size_t)j->low);
    j->low_residuals[side] = numbers((size_t)j->low);
  }
  OK(plaq_overlap_index(overlap, j->low, tol, progress, &shown, j->low_values[0], j->low_values[1], j->zeros));
  for (side = 0; side < 2; side++)
    OK(plaq_overlap_low(overlap, side ? -1 : 1, j->low_values[side], j->low_residuals[side], j->low));
  j->seconds_index = now() - start;
}

static void propagate(plaq_context context, plaq_overlap overlap, job *j) {
  plaq_overlap_solve_params params;
  plaq_spinor quark[MOST_MASSES], source;
  double shown = 0, start = now(), *pairs, along[2 * COLUMNS];
  int k, t, n = j->file.extents[3];
  OK(plaq_overlap_solve_params_init(&params, sizeof params));
  params.algorithm = j->solver;
  params.tol = j->tol;
  params.sloppy_precision = j->precision;
  if (j->preconditioner) {
    params.wilson_iterations = 100;
    params.wilson_mass = j->wilson_mass;
    params.multigrid = j->preconditioner == PRECONDITION_MULTIGRID;
  }
  OK(plaq_solve_report_init(&j->solve, sizeof j->solve));
  OK(plaq_overlap_propagators(overlap, &params, j->mass, j->masses, &j->source, progress, &shown, quark, &j->solve));
  j->times = n;
  j->pion = numbers((size_t)(j->masses * n));
  j->rho_xyz = numbers((size_t)(3 * j->masses * n));
  j->rho = numbers((size_t)(j->masses * n));
  j->nucleon = numbers((size_t)(j->masses * n));
  j->mass_pion = numbers((size_t)(j->masses * n));
  j->mass_rho = numbers((size_t)(j->masses * n));
  j->mass_nucleon = numbers((size_t)(j->masses * n));
  pairs = numbers((size_t)(2 * n));
  source = source_columns(context, j, &j->source, COLUMNS);
  for (k = 0; k < j->masses; k++) {
    const double *rho = j->rho_xyz + 3 * k * n;
    OK(plaq_spinor_correlators(quark[k], j->source.position[3], j->boundary, n, j->pion + k * n, j->rho_xyz + 3 * k * n,
                               pairs));
    for (t = 0; t < n; t++) {
      j->rho[k * n + t] = (rho[t] + rho[n + t] + rho[2 * n + t]) / 3;
      j->nucleon[k * n + t] = pairs[2 * t];
    }
    OK(plaq_effective_mass(j->pion + k * n, n, PLAQ_MASS_FORM_COSH, j->mass_pion + k * n));
    OK(plaq_effective_mass(j->rho + k * n, n, PLAQ_MASS_FORM_COSH, j->mass_rho + k * n));
    OK(plaq_effective_mass(j->nucleon + k * n, n, PLAQ_MASS_FORM_LOG, j->mass_nucleon + k * n));
    OK(plaq_spinor_dot(source, quark[k], along, COLUMNS));
    for (t = 0; t < COLUMNS; t++) j->condensate[k] += along[2 * t];
    OK(plaq_spinor_destroy(quark[k]));
  }
  OK(plaq_spinor_destroy(source));
  free(pairs);
  j->seconds_propagator = now() - start;
}

static void print_results(const job *j) {
  const plaq_overlap_report *o = &j->overlap;
  const int32_t *l = j->file.extents;
  int k, t;
  printf("# %s (%s), %d x %d x %d x %d, plaquette %.9f\n", j->gauge_file, name_of(j->file.format, FORMATS), l[0], l[1],
         l[2], l[3], j->plaquette.total);
  printf("# s %g, %s, degree %d for %.3e < |Q| < %.3e, delta %.2e, error bound %.2e\n", o->s, name_of(o->sign, SIGNS),
         o->degree, o->low, o->high, o->delta, o->error_bound);
  printf("# Ginsparg-Wilson violation %.2e; kappa_+ %.1e, kappa_- %.1e; %s\n", j->violation, o->kappa_plus,
         o->kappa_minus, j->device);
  printf("#%4s  %20s  %10s  %10s\n", "k", "lambda(Q)", "residue", "distance");
  for (k = 0; k < o->modes; k++)
    printf("%5d  %20.12e  %10.2e  %10.3e\n", k, j->values[k], j->residuals[k], j->distances[k]);
  for (k = 0; k < o->high_modes; k++)
    printf("# high %d: |Q| %.6e, error %.1e, gap %.2e\n", k, j->high_values[k], j->high_residuals[k], j->high_gaps[k]);
  if (j->locality) {
    printf("#%4s  %20s\n", "r", "largest |D eta|");
    for (k = 0; k < j->distances_along; k++) printf("%5d  %20.12e\n", k, j->largest[k]);
  }
  if (j->task == TASK_MODES) return;
  if (low_sought(j)) {
    printf("# index %d: %d zero modes of positive chirality, %d of negative\n", (int)(j->zeros[1] - j->zeros[0]),
           (int)j->zeros[0], (int)j->zeros[1]);
    printf("#%4s  %20s  %20s\n", "k", "|lambda(D)|^2 +", "|lambda(D)|^2 -");
  }
  for (k = 0; k < j->low; k++) printf("%5d  %20.12e  %20.12e\n", k, j->low_values[0][k], j->low_values[1][k]);
  if (j->task != TASK_PROPAGATOR) return;
  for (k = 0; k < j->masses; k++) {
    printf("# m %g: %lld iterations of %s, residual %.2e%s\n", j->mass[k], (long long)j->solve.iterations,
           name_of(o->algorithm, SOLVERS), j->solve.residual, j->solve.converged ? "" : j->solve.stopped ? ", INTERRUPTED" : ", NOT CONVERGED");
    printf("#%4s  %18s  %18s  %18s\n", "t", "pion", "rho", "nucleon");
    for (t = 0; t < j->times; t++)
      printf("%5d  %18.10e  %18.10e  %18.10e\n", t, j->pion[k * j->times + t], j->rho[k * j->times + t],
             j->nucleon[k * j->times + t]);
  }
}

static void json_array(FILE *f, const char *name, const double *values, int count) {
  int i;
  fprintf(f, "\"%s\": [", name);
  for (i = 0; i < count; i++) {
    if (isfinite(values[i])) fprintf(f, "%s%.17g", i ? ", " : "", values[i]);
    else fprintf(f, "%snull", i ? ", " : "");
  }
  fprintf(f, "]");
}

static void write_json(const job *j) {
  const plaq_overlap_report *o = &j->overlap;
  const int32_t *l = j->file.extents;
  int k, n = j->times;
  FILE *f = begin_file(j->json_file);
  fprintf(f, "{\n  \"version\": \"%s\",\n  \"device\": ", plaq_version());
  json_text(f, j->device);
  fprintf(f, ",\n  \"gauge\": {\"file\": ");
  json_text(f, j->gauge_file);
  fprintf(f, ", \"format\": \"%s\", \"lattice\": [%d, %d, %d, %d]},\n", name_of(j->file.format, FORMATS), l[0], l[1],
          l[2], l[3]);
  fprintf(f, "  \"plaquette\": {\"total\": %.17g},\n", j->plaquette.total);
  fprintf(f, "  \"action\": {\"s\": %.17g, \"time_bc\": \"%s\", ", o->s, name_of(j->boundary, BOUNDARIES));
  json_array(f, "masses", j->mass, j->masses);
  fprintf(f, "},\n  \"kernel\": {\n    \"low\": [");
  for (k = 0; k < o->modes; k++)
    fprintf(f, "%s\n      {\"value\": %.17g, \"residual\": %.17g, \"gap\": %.17g}", k ? "," : "", j->values[k],
            j->residuals[k], j->distances[k]);
  fprintf(f, "\n    ],\n    \"next\": %.17g,\n", o->next);
  fprintf(f, "    \"high\": [");
  for (k = 0; k < o->high_modes; k++)
    fprintf(f, "%s\n      {\"value\": %.17g, \"residual\": %.17g, \"gap\": %.17g}", k ? "," : "", j->high_values[k],
            j->high_residuals[k], j->high_gaps[k]);
  fprintf(f, "\n    ],\n");
  fprintf(f, "    \"kappa_plus\": %.17g, \"kappa_minus\": %.17g\n  },\n", o->kappa_plus, o->kappa_minus);
  fprintf(f, "  \"sign\": {\"method\": \"%s\", \"degree\": %d, \"delta\": %.17g, \"low\": %.17g, \"high\": %.17g},\n",
          name_of(o->sign, SIGNS), o->degree, o->delta, o->low, o->high);
  fprintf(f, "  \"error_bound\": %.17g,\n  \"ginsparg_wilson\": %.17g,\n", o->error_bound, j->violation);
  if (j->locality) {
    fprintf(f, "  ");
    json_array(f, "locality", j->largest, j->distances_along);
    fprintf(f, ",\n");
  }
  if (low_sought(j)) {
    fprintf(f, "  \"index\": %d,\n  \"overlap\": {\"zeros\": [%d, %d], \"low\": {", (int)(j->zeros[1] - j->zeros[0]),
            (int)j->zeros[0], (int)j->zeros[1]);
    json_array(f, "plus", j->low_values[0], j->low);
    fprintf(f, ", ");
    json_array(f, "minus", j->low_values[1], j->low);
    fprintf(f, ",\n    ");
    json_array(f, "plus_residuals", j->low_residuals[0], j->low);
    fprintf(f, ", ");
    json_array(f, "minus_residuals", j->low_residuals[1], j->low);
    fprintf(f, "}},\n");
  }
  if (j->task == TASK_PROPAGATOR) {
    fprintf(f, "  \"solver\": {\"name\": \"%s\", \"preconditioner\": \"%s\", \"precision\": \"%s\", \"converged\": %s, "
               "\"iterations\": %lld, \"residual\": %.17g},\n",
            name_of(o->algorithm, SOLVERS), name_of(o->preconditioner, PRECONDITIONERS),
            name_of(j->precision, PRECISIONS), j->solve.converged ? "true" : "false", (long long)j->solve.iterations,
            j->solve.residual);
    fprintf(f, "  \"correlators\": [");
    for (k = 0; k < j->masses; k++) {
      fprintf(f, "%s\n    {\"mass\": %.17g, \"condensate\": %.17g, ", k ? "," : "", j->mass[k], j->condensate[k]);
      json_array(f, "pion", j->pion + k * n, n);
      fprintf(f, ", ");
      json_array(f, "rho_x", j->rho_xyz + 3 * k * n, n);
      fprintf(f, ", ");
      json_array(f, "rho_y", j->rho_xyz + (3 * k + 1) * n, n);
      fprintf(f, ", ");
      json_array(f, "rho_z", j->rho_xyz + (3 * k + 2) * n, n);
      fprintf(f, ", ");
      json_array(f, "nucleon", j->nucleon + k * n, n);
      fprintf(f, ",\n     \"effective_mass\": {");
      json_array(f, "pion", j->mass_pion + k * n, n);
      fprintf(f, ", ");
      json_array(f, "rho", j->mass_rho + k * n, n);
      fprintf(f, ", ");
      json_array(f, "nucleon", j->mass_nucleon + k * n, n);
      fprintf(f, "}}");
    }
    fprintf(f, "\n  ],\n");
  }
  fprintf(f, "  \"multiplications\": %lld,\n", (long long)o->multiplications);
  fprintf(f, "  \"seconds\": {\"load\": %.9g, \"modes\": %.9g, \"sign\": %.9g, \"ginsparg_wilson\": %.9g, ",
          j->seconds_load, o->seconds_modes, o->seconds_sign, j->seconds_violation);
  fprintf(f, "\"locality\": %.9g, \"index\": %.9g, \"propagator\": %.9g}\n}\n", j->seconds_locality, j->seconds_index,
          j->seconds_propagator);
  end_file(f, j->json_file);
}

/* The kernel's modes: moduli of the positive and of the negative eigenvalues. */
static void plot_modes(const job *j) {
  const int n = j->overlap.modes;
  double *signs[2];
  plot_series all[2];
  int k, side;
  memset(all, 0, sizeof all);
  for (side = 0; side < 2; side++) {
    signs[side] = numbers((size_t)n);
    for (k = 0; k < n; k++) signs[side][k] = (j->values[k] < 0) == side ? fabs(j->values[k]) : NAN;
    all[side].name = side ? "negative" : "positive";
    all[side].colour = side ? "#b04030" : "#3060b0";
    all[side].values = signs[side];
    all[side].count = n;
  }
  plot_write(j->plot_file, "low modes of the kernel Q", "k", "|lambda(Q)|", all, 2);
  free(signs[0]);
  free(signs[1]);
}

/* The circle of eigenvalues, and the low ones on it: Re lambda = |lambda|^2 / (2 rho). */
static void write_plot(const job *j) {
  const double rho = 1 + j->s, unit = 220 / rho;
  FILE *f = begin_file(j->plot_file);
  int k, side;
  fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"520\" height=\"520\" font-family=\"sans-serif\" "
             "font-size=\"13\">\n<rect width=\"520\" height=\"520\" fill=\"white\"/>\n");
  fprintf(f, "<circle cx=\"260\" cy=\"260\" r=\"220\" fill=\"none\" stroke=\"#888\"/>\n"
             "<path d=\"M20 260H500M40 20V500\" stroke=\"#bbb\"/>\n");
  for (side = 0; side < 2; side++)
    for (k = 0; k < j->low && low_sought(j); k++) {
      const double square = j->low_values[side][k], re = square / (2 * rho);
      const double im = sqrt(fmax(0, square - re * re));
      fprintf(f, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3\" fill=\"%s\"/>\n", 40 + unit * re,
              260 + (side ? unit : -unit) * im, side ? "#b04030" : "#3060b0");
    }
  fprintf(f, "<text x=\"50\" y=\"510\">eigenvalues of D: blue from positive, red from negative chirality</text>\n</svg>\n");
  end_file(f, j->plot_file);
}

int main(int argc, char **argv) {
  job j = read_options(argc, argv);
  plaq_context context = open_context(argc, argv);
  plaq_overlap overlap;
  int done = 1;
  OK(plaq_context_name(context, j.device, sizeof j.device));
  fprintf(stderr, "overlap on %s\n", j.device);
  watch_signals();
  overlap = load(context, &j);
  if (j.locality) locality_of(context, overlap, &j);
  if (low_sought(&j)) low_modes(overlap, &j);
  if (*j.save_file) OK(plaq_overlap_save(overlap, j.save_file));
  if (j.task == TASK_PROPAGATOR) {
    propagate(context, overlap, &j);
    done = j.solve.converged;
  }
  OK(plaq_overlap_describe(overlap, &j.overlap));
  progress_end();
  print_results(&j);
  if (*j.json_file && first_rank(context)) write_json(&j);
  if (*j.plot_file && first_rank(context)) {
    if (j.task == TASK_MODES) plot_modes(&j);
    else write_plot(&j);
  }
  OK(plaq_context_destroy(context));
  return done ? 0 : 3;
}
