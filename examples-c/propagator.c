/* propagator: quark propagators on a gauge configuration, and their hadron correlators.
 *
 *   propagator --gauge FILE --kappa K [options]; propagator --help says what they are.
 *
 * Twelve solves a source and mass, --rhs at a time, in double precision, --precision being that of the
 * iteration inside; the table goes to the standard output, progress to the terminal. --solver mg is GCR with
 * multigrid, set up before (docs/multigrid.md). Of several configurations the averages are printed with jackknife
 * errors; --continue yes takes over what the JSON has already. docs/propagator.md has the conventions. Status: 0 done, 1
 * refused, 2 wrong options, 3 not converged or interrupted.
 *
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --csw 1.2 --json $OUT/point.json --plot=$OUT/point.svg
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --time-bc periodic --source wall,3 --solver bicgstab --precision double --tol 1e-12 --normalisation mass
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --source point,1,2,3,5 --solver gcr --precision half --rhs 5
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.13 --csw 1.2 --solver mg --precision double --json $OUT/mg.json --save-multigrid $OUT/null.lime
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.13 --csw 1.2 --solver mg --precision double --json $OUT/mg-loaded.json --load-multigrid $OUT/null.lime
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.13 --csw 1.2 --solver mg --mg-smoother red-black --mg-post 3 --mg-coarsest direct --json $OUT/mg-schwarz.json
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.13 --csw 1.2 --solver bicgstab --tol 1e-6 --error 1e-11 --json $OUT/error.json
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --kappa-strange 0.11 --source point,0,0,0,0:point,2,2,2,4 --source-smear 0.3,5 --sink-smear 0.3,5 --smear-links 0.5,2 --momenta 0,0,0:1,0,0 --baryons all --save $OUT/quark.lime --json $OUT/hadrons.json
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --source wall,2 --noise z2 --seed 7 --baryons none
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --source volume --noise z2 --dilute spin,colour,parity --sequential 4,15,0,0,0
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --source wall,all --noise z4 --rhs 4 --json $OUT/walls.json
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --source wall,all --noise z4 --json $OUT/walls.json --continue yes
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include <time.h>

#include "plot.h"
#include "samples.h"
#include "cycle.h"

static const char HELP[] =
    "usage: propagator --gauge FILE[:FILE...] --kappa K [options]\n"
    "Quark propagators on a gauge configuration; correlators of mesons and baryons with effective masses.\n"
    "  --gauge FILE         configuration: NERSC, ILDG, MILC, openQCD or DDalphaAMG, found out by itself\n"
    "                       several with colons between, or @LIST: a file with a name a line\n"
    "  --kappa K            hopping parameter\n"
    "  --kappa-strange K    of a second, heavier quark (none)\n"
    "  --csw C              coefficient of the clover term (0: Wilson)\n"
    "  --time-bc B          periodic or antiperiodic (antiperiodic)\n"
    "  --source S[:S...]    point,x,y,z,t or wall,t; of several the average is taken; or wall,all: a wall on\n"
    "                       every time slice, with noise its dilution in time; or volume: noise of all sites\n"
    "                       (point,0,0,0,0)\n"
    "  --source-momentum P  nx,ny,nz: sources carry exp(i p x), p = 2 pi n / L (0,0,0)\n"
    "  --noise N            none, z2 or z4: sources of noise, one for all spins and colours; no baryons (none)\n"
    "  --dilute D[,D...]    of noise: spin, colour, time, parity; columns of a part have nothing else (spin,colour)\n"
    "  --seed N             of the noise (0)\n"
    "  --sequential T,G,NX,NY,NZ  a second propagator from the first one at the sink: time slice (-1: all), number of\n"
    "                       the gamma and momentum; mesons \"ls\" are then three-point functions; no baryons (none)\n"
    "  --source-smear A,N   Gaussian smearing of sources, N steps of weight A, e.g. 0.3,20 (none)\n"
    "  --sink-smear A,N     the same at the sink (none)\n"
    "  --smear-links A,N    N steps of spatial APE smearing of the links in these, e.g. 0.5,5 (none)\n"
    "  --momenta P[:P...]   of the sink, nx,ny,nz; the table shows the first (0,0,0)\n"
    "  --baryons B[,B...]   nucleon, sigma, xi, lambda, delta, sigma_star, xi_star, omega; all; none (nucleon)\n"
    "  --solver S           cg, cgne, cgnr, bicgstab, gcr, mr, or mg: multigrid (cg)\n"
    "  --save-multigrid F   null vectors of multigrid; F.strange of the other quark\n"
    "  --load-multigrid F   null vectors that --save-multigrid wrote, in place of a set-up from random ones\n"
    "  --mg-cycle C         of multigrid's second level: v, w or k (k); --mg-deep-cycle C: of the next one (the same)\n"
    "  --mg-smoother S      of its finest level: mr, gcr, ca-gcr, richardson, schwarz (additive) or red-black\n"
    "                       (Schwarz, multiplicative); --mg-coarse-smoother S: of the next ones (ca-gcr)\n"
    "  --mg-post N          steps of these after a correction (10); --mg-coarse-post N: on the next levels (the same)\n"
    "  --mg-precision P     of the finest level's smoother: single or half (half on GPUs with ca-gcr, else single)\n"
    "  --mg-links P         of coarse operators' links: half or single (half)\n"
    "  --mg-coarsest S      gcr, ca-gcr, bicgstab or direct (ca-gcr)\n"
    "  --mg-modes N         low modes of the coarsest level that are solved for exactly (-1: as the\n"
    "                       lattice suggests)\n"
    "  --mg-tol R, --mg-iterations N, --mg-coarsest-tol R  where solves on coarse levels end (0.25, 8, 0.25)\n"
    "  --mg-levels N        with the finest and the coarsest (0: as the lattice suggests)\n"
    "  --mg-aggregate A[:A...]  x,y,z,t: sites of a level that become one of the next (as the lattice suggests)\n"
    "  --mg-vectors N, --mg-setup N, --mg-refinements N  null vectors and their making (24, 20, 3)\n"
    "  --mg-setup-solver S  what makes them of random ones: bicgstab, cg or gcr (bicgstab)\n"
    "  --mg-setup-columns N that are iterated at a time (8)\n"
    "  --krylov N           directions that GCR keeps (0: 4 with multigrid, else 10)\n"
    "  --error R            solve once more with multigrid to the residual R and report in JSON how far\n"
    "                       off the propagator was; of one source and one quark\n"
    "  --tol R              residual |b - M x| / |b| (1e-10)\n"
    "  --precision P        of the iteration inside double: double, single or half (single)\n"
    "  --max-iterations N   of each solve (10000)\n"
    "  --rhs N              right-hand sides at a time, 1 to 12; fewer take less memory (12)\n"
    "  --normalisation N    kappa: M = 1 - kappa H, mass: D = m + 4 - H/2 (kappa)\n"
    "  --save FILE          the propagator, SciDAC in LIME; FILE.1 of a second source, FILE.strange of the\n"
    "                       other quark\n"
    "  --load FILE          propagators that --save wrote for the same sources, in place of solves\n"
    "  --device D           auto, cpu or cuda (auto)\n"
    "  --threads N          of the CPU; 0: all (0)\n"
    "  --bin N              configurations of a jackknife bin (1)\n"
    "  --json FILE          everything as JSON, written again and again while the run goes on\n"
    "  --continue B         yes: configurations and sources that the JSON has already are not done again (no)\n"
    "  --plot FILE.svg      effective masses as a picture, of several configurations with errors\n" GRID_HELP
    "  --help, -h, --version\n"
    "example: propagator --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --csw 1.2 --plot pion.svg\n";
static const char OPTIONS[] =
    "--gauge --kappa --kappa-strange --csw --time-bc --source --source-momentum --noise --dilute --seed --sequential --source-smear "
    "--sink-smear --smear-links --momenta --baryons --solver --tol --precision --max-iterations --rhs "
    "--normalisation --save --load --save-multigrid --load-multigrid --mg-cycle --mg-deep-cycle --mg-smoother "
    "--mg-coarse-smoother --mg-post --mg-coarse-post --mg-precision --mg-links --mg-coarsest --mg-modes "
    "--mg-levels --mg-aggregate --mg-setup-solver --mg-setup-columns --mg-vectors --mg-setup --mg-refinements --mg-tol --mg-iterations --mg-coarsest-tol --krylov --error --bin --device --threads --json "
    "--continue --plot" GRID_OPTION;

/* Beside the library's algorithms: GCR with multigrid. */
enum { MULTIGRID = 100 };

/* CG needs the normal equations: its name stands for CGNR. */
static const choice SOLVERS[] = {{"cg", PLAQ_ALGORITHM_CGNR},         {"cgne", PLAQ_ALGORITHM_CGNE},
                                 {"cgnr", PLAQ_ALGORITHM_CGNR},       {"bicgstab", PLAQ_ALGORITHM_BICGSTAB},
                                 {"gcr", PLAQ_ALGORITHM_GCR},         {"mr", PLAQ_ALGORITHM_MR},
                                 {"mg", MULTIGRID},                   {NULL, 0}};
static const choice PRECISIONS[] = {
    {"double", PLAQ_PRECISION_DOUBLE}, {"single", PLAQ_PRECISION_SINGLE}, {"half", PLAQ_PRECISION_HALF}, {NULL, 0}};
static const choice NORMALISATIONS[] = {
    {"kappa", PLAQ_NORMALISATION_KAPPA}, {"mass", PLAQ_NORMALISATION_MASS}, {NULL, 0}};
static const choice BOUNDARIES[] = {{"periodic", 0}, {"antiperiodic", 1}, {NULL, 0}};

/* The job: what was asked for and what came of it. */
typedef struct job {
  const char *json_file, *plot_file, *save_file, *load_file, *save_multigrid, *load_multigrid;
  double kappa[2], csw, tol, tol_error; /* light, strange */
  int32_t boundary, precision, algorithm, normalisation;
  cycle_options levels;
  int64_t max_iterations, rhs, krylov;
  int quarks, sources, goes_on, solves, described;
  plaq_source_params source[MOST];
  smearing at_source, at_sink, links;
  char device[256];
  int32_t lattice[4], part[4]; /* whole, of this rank */
  plaq_file_report file;
  plaq_plaquette plaquette;
  plaq_dirac_report dirac;
  plaq_solve_report solve; /* of all solves: the slowest, sums of time and work */
  plaq_multigrid_report multigrid;
  plaq_multigrid_level level[8];
  double residuals[COLUMNS]; /* largest of each column */
  double errors[COLUMNS];    /* with --error: |x - y| / |y| of each column, y the better solution */
  double seconds_load, seconds_propagator; /* by the clock: file and operators, solvers and their solves */
  hadrons hadrons;
  samples samples;
  double *values, *deviations; /* averages: numbers of the hadrons, then what follows; and their errors */
  /* `times` numbers each, three times that for rho along x, y, z; rho is their mean. */
  int times;
  double *pion, *rho_xyz, *rho, *nucleon, *mass_pion, *mass_rho, *mass_nucleon;
  double written, writing; /* by the clock: when the JSON was written, how long that took */
} job;

static int32_t progress(int64_t iteration, double residual, double seconds, void *user) {
  if (progress_due(seconds, user))
    progress_line(0, "  iteration %lld, residual %.2e, %.1f s", (long long)iteration, residual, seconds);
  return interrupted;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The file of a configuration, where there are several, a source and a quark. */
static const char *file_of(const job *j, const char *base, int c, int source, int quark) {
  static char name[4096];
  const char *gauge = strrchr(j->samples.files[c], '/');
  char number[16] = "";
  int several = j->samples.configurations > 1;
  gauge = gauge ? gauge + 1 : j->samples.files[c];
  if (source) snprintf(number, sizeof number, ".%d", source);
  snprintf(name, sizeof name, "%s%s%s%s%s", base, several ? "." : "", several ? gauge : "", number, !quark ? "" : j->hadrons.sequential ? ".sequential" : ".strange");
  return name;
}

/* Files of propagators and null vectors have their names from one option. */
static void check_outputs(const job *j, const char *base) {
  int c, q;
  for (c = 0; *base && c < j->samples.configurations; c++)
    for (q = 0; q < j->quarks; q++) check_output(file_of(j, base, c, 0, q), 1);
}

static job read_options(int argc, char **argv) {
  job j;
  memset(&j, 0, sizeof j);
  check_options(argc, argv, OPTIONS, HELP);
  file_list("--gauge", option(argc, argv, "--gauge", NULL), &j.samples);
  j.samples.bin = integer(argc, argv, "--bin", "1");
  j.goes_on = choose(argc, argv, "--continue", "no", YES_NO);
  j.json_file = option(argc, argv, "--json", "");
  j.plot_file = option(argc, argv, "--plot", "");
  j.save_file = option(argc, argv, "--save", "");
  j.load_file = option(argc, argv, "--load", "");
  j.save_multigrid = option(argc, argv, "--save-multigrid", "");
  j.load_multigrid = option(argc, argv, "--load-multigrid", "");
  j.kappa[0] = number(argc, argv, "--kappa", NULL);
  j.kappa[1] = number(argc, argv, "--kappa-strange", "0");
  j.hadrons.quarks = j.quarks = j.kappa[1] != 0 ? 2 : 1;
  j.csw = number(argc, argv, "--csw", "0");
  j.tol = number(argc, argv, "--tol", "1e-10");
  j.tol_error = number(argc, argv, "--error", "0");
  j.boundary = choose(argc, argv, "--time-bc", "antiperiodic", BOUNDARIES);
  j.algorithm = choose(argc, argv, "--solver", "cg", SOLVERS);
  j.precision = choose(argc, argv, "--precision", "single", PRECISIONS);
  j.normalisation = choose(argc, argv, "--normalisation", "kappa", NORMALISATIONS);
  j.max_iterations = integer(argc, argv, "--max-iterations", "10000");
  j.rhs = integer(argc, argv, "--rhs", "12");
  j.krylov = integer(argc, argv, "--krylov", "0");
  j.levels = read_cycle(argc, argv);
  j.sources = source_list(argc, argv, j.source);
  j.at_source = smearing_option("--source-smear", option(argc, argv, "--source-smear", ""));
  j.at_sink = smearing_option("--sink-smear", option(argc, argv, "--sink-smear", ""));
  j.links = smearing_option("--smear-links", option(argc, argv, "--smear-links", ""));
  sequential_option(option(argc, argv, "--sequential", ""), &j.hadrons);
  momentum_list(option(argc, argv, "--momenta", "0,0,0"), &j.hadrons);
  baryon_list(option(argc, argv, "--baryons", j.source[0].noise || j.hadrons.sequential ? "none" : "nucleon"), &j.hadrons);
  if (!(j.kappa[0] > 0)) usage_error("--kappa", "expected a positive number");
  if (j.kappa[1] < 0) usage_error("--kappa-strange", "expected a positive number");
  if (j.max_iterations < 1 || j.max_iterations > 1 << 30) usage_error("--max-iterations", "out of range");
  if (j.krylov < 0 || j.krylov > 1 << 20) usage_error("--krylov", "out of range");
  if (j.rhs < 1 || j.rhs > COLUMNS) usage_error("--rhs", "expected 1 to 12 right-hand sides at a time");
  if (j.source[0].noise && j.hadrons.baryon_count) usage_error("--baryons", "expected none with noise");
  if (j.hadrons.sequential && (j.quarks > 1 || j.at_sink.steps || j.hadrons.baryon_count))
    usage_error("--sequential", "expected no strange quark, sink smearing or baryons");
  if (*j.save_file && *j.load_file) usage_error("--load", "propagators are loaded or saved, not both");
  if (*j.save_multigrid && *j.load_multigrid) usage_error("--load-multigrid", "null vectors are loaded or saved, not both");
  if ((*j.save_multigrid || *j.load_multigrid) && ((j.algorithm != MULTIGRID && j.tol_error == 0) || *j.load_file))
    usage_error("--save-multigrid, --load-multigrid", "expected --solver mg or --error, and no --load");
  if (j.tol_error != 0 && (!(j.tol_error > 0) || *j.load_file || j.sources > 1 || has_parts(j.source) || j.hadrons.sequential ||
                           j.quarks > 1 || j.samples.configurations > 1 || j.goes_on))
    usage_error("--error", "expected a positive number, one configuration, source and quark, no --load or --continue");
  if (j.samples.bin < 1) usage_error("--bin", "expected 1 or more");
  if (j.goes_on && !*j.json_file) usage_error("--continue", "expected --json FILE, of which the run goes on");
  check_output(j.json_file, 1);
  check_output(j.plot_file, 1);
  check_outputs(&j, j.save_file);
  check_outputs(&j, j.save_multigrid);
  return j;
}

/* Reads the configuration and makes the operators and, where something is smeared with them, smeared links;
 * the others stay in the operators only. */
static plaq_gauge load(plaq_context context, job *j, int c, plaq_dirac *dirac) {
  plaq_dirac_params params;
  plaq_gauge gauge, none = {0};
  double start = now();
  int q;
  PLAQ_INIT(plaq_read_params, read);
  OK(plaq_file_report_init(&j->file, sizeof j->file));
  if (j->times) memcpy(read.extents, j->lattice, sizeof read.extents);
  OK(plaq_gauge_read_file(context, j->samples.files[c], &read, &gauge, &j->file));
  OK(plaq_gauge_plaquette(gauge, &j->plaquette));
  memcpy(j->lattice, j->file.extents, sizeof j->lattice);
  memcpy(j->part, j->lattice, sizeof j->part);
  divide(context, j->part);
  for (q = 0; q < j->quarks; q++) {
    OK(plaq_dirac_params_init(&params, sizeof params));
    params.kappa = j->kappa[q];
    params.csw = j->csw;
    params.boundary[3] = j->boundary;
    params.normalisation = j->normalisation;
    OK(plaq_dirac_create(context, gauge, &params, dirac + q));
  }
  OK(plaq_dirac_report_init(&j->dirac, sizeof j->dirac));
  OK(plaq_dirac_describe(dirac[0], &j->dirac));
  if (j->at_source.steps || j->at_sink.steps) {
    if (j->links.steps) {
      PLAQ_INIT(plaq_gauge_smear_params, smear);
      smear.kind = PLAQ_SMEARING_APE;
      smear.steps = j->links.steps;
      smear.alpha[0] = j->links.alpha;
      smear.directions = 7;
      OK(plaq_gauge_smear(gauge, &smear));
    }
  } else {
    OK(plaq_gauge_destroy(gauge));
    gauge = none;
  }
  j->seconds_load += now() - start;
  return gauge;
}

/* A solver; with multigrid, set up or from a file unless there is one. */
static plaq_solver make_solver(plaq_dirac dirac, const job *j, int algorithm, double tol, int c, int q,
                               plaq_multigrid *multigrid) {
  plaq_solver solver;
  PLAQ_INIT(plaq_solver_params, params);
  params.algorithm = algorithm == MULTIGRID ? PLAQ_ALGORITHM_GCR : algorithm;
  if (algorithm == MULTIGRID) params.nkrylov = 4;
  if (j->krylov) params.nkrylov = (int32_t)j->krylov;
  params.sloppy_precision = j->precision;
  params.tol = tol;
  params.max_iterations = (int32_t)j->max_iterations;
  params.columns = (int32_t)j->rhs;
  OK(plaq_solver_create(dirac, &params, &solver));
  if (algorithm == MULTIGRID) {
    PLAQ_INIT(plaq_multigrid_params, build);
    apply_cycle(&j->levels, &build);
    if (!multigrid->id) {
      if (*j->load_multigrid) OK(plaq_multigrid_load(dirac, &build, file_of(j, j->load_multigrid, c, 0, q), multigrid));
      else OK(plaq_multigrid_create(dirac, &build, multigrid));
      if (*j->save_multigrid) OK(plaq_multigrid_save(*multigrid, file_of(j, j->save_multigrid, c, 0, q)));
    }
    OK(plaq_solver_set_multigrid(solver, *multigrid));
  }
  return solver;
}

/* What a solve adds to the report of all. */
static void add_report(job *j, const plaq_solve_report *r, const double *residuals) {
  plaq_solve_report *all = &j->solve;
  int k;
  if (!j->solves++) {
    *all = *r;
    memcpy(j->residuals, residuals, sizeof j->residuals);
    return;
  }
  all->converged = all->converged && r->converged;
  all->stopped = all->stopped || r->stopped;
  if (r->iterations > all->iterations) all->iterations = r->iterations;
  if (r->residual > all->residual) all->residual = r->residual;
  if (r->residual_hq > all->residual_hq) all->residual_hq = r->residual_hq;
  if (r->memory_peak > all->memory_peak) all->memory_peak = r->memory_peak;
  all->reliable_updates += r->reliable_updates;
  all->restarts += r->restarts;
  all->seconds += r->seconds;
  all->flops += r->flops;
  all->bytes += r->bytes;
  for (k = 0; k < COLUMNS; k++)
    if (residuals[k] > j->residuals[k]) j->residuals[k] = residuals[k];
}

/* The twelve columns of one source, which has been smeared, for one quark. */
static plaq_spinor solve(plaq_solver solver, job *j, int s, plaq_spinor from, sample *one) {
  plaq_spinor propagator;
  double residuals[COLUMNS], shown = 0;
  PLAQ_INIT(plaq_solve_report, report);
  /* Sources that nobody else needs are made inside, which saves their memory. */
  if (from.id) OK(plaq_solver_columns(solver, from, progress, &shown, &propagator, &report, residuals));
  else OK(plaq_solver_propagator(solver, &j->source[s], progress, &shown, &propagator, &report, residuals));
  progress_line(1, "  %lld iterations, residual %.2e, %.2f s", (long long)report.iterations, report.residual, report.seconds);
  add_report(j, &report, residuals);
  one->converged = one->converged && report.converged;
  if (report.iterations > one->iterations) one->iterations = report.iterations;
  if (report.residual > one->residual) one->residual = report.residual;
  return propagator;
}

static void describe_multigrid(job *j, plaq_multigrid multigrid) {
  int l;
  OK(plaq_multigrid_report_init(&j->multigrid, sizeof j->multigrid));
  OK(plaq_multigrid_describe(multigrid, &j->multigrid));
  for (l = 0; l < j->multigrid.levels; l++) {
    OK(plaq_multigrid_level_init(&j->level[l], sizeof j->level[l]));
    OK(plaq_multigrid_describe_level(multigrid, l, &j->level[l]));
  }
}

/* How far a propagator is from one that is solved for again, to a smaller residual: after Clark et al.,
 * arXiv:1612.07873, section 7. */
static void measure_error(job *j, plaq_dirac dirac, plaq_multigrid *multigrid, plaq_spinor from, plaq_spinor propagator) {
  double ones[2 * COLUMNS], minus[2 * COLUMNS], norm[COLUMNS], apart[COLUMNS], residuals[COLUMNS], shown = 0;
  plaq_solver solver = make_solver(dirac, j, MULTIGRID, j->tol_error, 0, 0, multigrid);
  plaq_spinor better;
  int k;
  PLAQ_INIT(plaq_solve_report, report);
  if (from.id) OK(plaq_solver_columns(solver, from, progress, &shown, &better, &report, residuals));
  else OK(plaq_solver_propagator(solver, &j->source[0], progress, &shown, &better, &report, residuals));
  if (!report.converged) fprintf(stderr, "propagator: --error: residual %.2e only\n", report.residual);
  for (k = 0; k < COLUMNS; k++) {
    ones[2 * k] = 1;
    minus[2 * k] = -1;
    ones[2 * k + 1] = minus[2 * k + 1] = 0;
  }
  OK(plaq_spinor_norm2(better, norm, COLUMNS));
  OK(plaq_spinor_axpby(minus, propagator, ones, better, COLUMNS));
  OK(plaq_spinor_norm2(better, apart, COLUMNS));
  for (k = 0; k < COLUMNS; k++) j->errors[k] = sqrt(apart[k] / norm[k]);
  OK(plaq_spinor_destroy(better));
  OK(plaq_solver_destroy(solver));
}

static plaq_spinor read_propagator(plaq_context context, const job *j, int c, int s, int q) {
  plaq_spinor propagator;
  PLAQ_INIT(plaq_propagator_read_params, p);
  memcpy(p.extents, j->file.extents, sizeof p.extents);
  p.precision = PLAQ_PRECISION_DOUBLE;
  OK(plaq_propagator_read_file(context, file_of(j, j->load_file, c, s, q), &p, &propagator));
  PLAQ_INIT(plaq_spinor_report, shape);
  OK(plaq_spinor_describe(propagator, &shape));
  if (shape.nrhs != COLUMNS) usage_error("--load", "expected twelve columns");
  return propagator;
}

static void write_json(job *j);

/* The propagators of a configuration, source after source, and their correlators. 0: interrupted. */
static int run(plaq_context context, plaq_gauge smeared, const plaq_dirac *dirac, job *j, int c) {
  plaq_solver solver[2] = {{0}, {0}};
  plaq_multigrid multigrid[2] = {{0}, {0}};
  plaq_spinor quark[2] = {{0}, {0}};
  int s, q, done = 1;
  double start = now(), before = j->seconds_propagator;
  if (!*j->load_file)
    for (q = 0; q < j->quarks; q++) solver[q] = make_solver(dirac[q], j, j->algorithm, j->tol, c, q, multigrid + q);
  for (s = 0; s < j->sources && done; s++) {
    plaq_spinor from = {0};
    sample *one = sample_of(&j->samples, c, s);
    if (one->numbers) continue;
    one->converged = 1;
    one->plaquette[0] = j->plaquette.total;
    one->plaquette[1] = j->plaquette.spatial;
    one->plaquette[2] = j->plaquette.temporal;
    if (!*j->load_file && (j->at_source.steps || *j->save_file)) {
      PLAQ_INIT(plaq_spinor_params, p);
      memcpy(p.extents, j->part, sizeof p.extents);
      p.nrhs = COLUMNS;
      OK(plaq_spinor_create(context, &p, &from));
      OK(plaq_spinor_source(from, &j->source[s]));
      smear(from, smeared, j->at_source);
    }
    for (q = 0; q < j->hadrons.quarks; q++) {
      int follows = q == 1 && j->hadrons.sequential && !*j->load_file;
      plaq_spinor begin = follows ? sequential_source(context, j->part, &j->hadrons, quark[0], &j->source[s]) : from;
      quark[q] = *j->load_file ? read_propagator(context, j, c, s, q) : solve(solver[follows ? 0 : q], j, s, begin, one);
      if (j->tol_error > 0) {
        double paused = now();
        if (multigrid[0].id) describe_multigrid(j, multigrid[0]); /* what is measured next is not in it */
        j->described = 1;
        measure_error(j, dirac[0], multigrid, from, quark[0]);
        start += now() - paused;
      }
      if (*j->save_file) {
        char info[200];
        PLAQ_INIT(plaq_propagator_write_params, p);
        snprintf(info, sizeof info, "plaq %s, kappa %.17g, csw %.17g, %s normalisation", plaq_version(), j->kappa[follows ? 0 : q],
                 j->csw, name_of(j->normalisation, NORMALISATIONS));
        p.info = info;
        OK(plaq_propagator_write_file(quark[q], begin, file_of(j, j->save_file, c, s, q), &p));
      }
      smear(quark[q], smeared, j->at_sink);
      if (follows) OK(plaq_spinor_destroy(begin));
    }
    j->seconds_propagator = before + now() - start;
    done = !j->solve.stopped;
    /* Half a propagator is shown only where there is nothing else. */
    if (done || (c == 0 && s == 0)) {
      one->numbers = room_for(hadron_numbers(&j->hadrons), sizeof(double));
      contract_hadrons(&j->hadrons, quark, &j->source[s], j->boundary, one->numbers);
    }
    for (q = 0; q < j->hadrons.quarks; q++) OK(plaq_spinor_destroy(quark[q]));
    OK(plaq_spinor_destroy(from));
    /* A run that is killed loses little; files that grow take a twentieth of the time. */
    if (done && *j->json_file && now() - j->written > 20 * j->writing + 1 && first_rank(context)) write_json(j);
  }
  for (q = 0; q < j->quarks; q++) OK(plaq_solver_destroy(solver[q]));
  if (multigrid[0].id && !j->described) describe_multigrid(j, multigrid[0]);
  for (q = 0; q < j->quarks; q++) OK(plaq_multigrid_destroy(multigrid[q]));
  return done;
}

/* Pion, rho and nucleon of the light quark at the first momentum, and effective masses: nine times the time slices. */
static void derive(const double *numbers, double *all, void *user) {
  static const int along[] = {PLAQ_GAMMA_X, PLAQ_GAMMA_Y, PLAQ_GAMMA_Z};
  const job *j = user;
  int t, i, n = j->times;
  for (t = 0; t < n; t++) {
    all[t] = meson_at(&j->hadrons, numbers, 0, PLAQ_GAMMA_5, t);
    for (i = 0; i < 3; i++) all[(i + 1) * n + t] = meson_at(&j->hadrons, numbers, 0, along[i], t);
    all[4 * n + t] = (all[n + t] + all[2 * n + t] + all[3 * n + t]) / 3;
    all[5 * n + t] = baryon_at(&j->hadrons, numbers, PLAQ_BARYON_NUCLEON, t); /* the average over configurations is real */
  }
  OK(plaq_effective_mass(all, n, PLAQ_MASS_FORM_COSH, all + 6 * n));
  OK(plaq_effective_mass(all + 4 * n, n, PLAQ_MASS_FORM_COSH, all + 7 * n));
  OK(plaq_effective_mass(all + 5 * n, n, PLAQ_MASS_FORM_LOG, all + 8 * n));
}

/* Averages of what there is, and their errors. */
static void average(job *j) {
  size_t numbers = hadron_numbers(&j->hadrons);
  double *all = j->values + numbers;
  int n = j->times;
  jackknife(&j->samples, numbers, 9 * (size_t)n, derive, j, j->values, j->deviations);
  j->pion = all;
  j->rho_xyz = all + n;
  j->rho = all + 4 * n;
  j->nucleon = all + 5 * n;
  j->mass_pion = all + 6 * n;
  j->mass_rho = all + 7 * n;
  j->mass_nucleon = all + 8 * n;
}

/* The errors of a part of the averages. */
static const double *error_of(const job *j, const double *values) { return j->deviations + (values - j->values); }

/* What must be the same in a run that goes on. */
static void describe_job(const job *j, char *to, size_t room) {
  const int32_t *n = j->source[0].momentum;
  size_t at;
  int k;
  snprintf(to, room, "kappa %.17g %.17g, csw %.17g, %s, %s, source momentum %d,%d,%d, noise %s %lld, smearing %.17g,%d %.17g,%d %.17g,%d, tol %.17g, momenta",
           j->kappa[0], j->kappa[1], j->csw, name_of(j->boundary, BOUNDARIES), name_of(j->normalisation, NORMALISATIONS), n[0],
           n[1], n[2], name_of(j->source[0].noise, NOISES), (long long)j->source[0].seed, j->at_source.alpha,
           (int)j->at_source.steps, j->at_sink.alpha, (int)j->at_sink.steps, j->links.alpha, (int)j->links.steps, j->tol);
  for (k = 0; k < j->hadrons.momenta; k++) {
    const int32_t *p = j->hadrons.momentum + 3 * k;
    at = strlen(to);
    snprintf(to + at, room - at, " %d,%d,%d", (int)p[0], (int)p[1], (int)p[2]);
  }
  for (k = 0; k < j->hadrons.baryon_count; k++) {
    at = strlen(to);
    snprintf(to + at, room - at, " %s", name_of(j->hadrons.baryon[k], NAMES));
  }
  if (j->hadrons.sequential) {
    const plaq_sequential_params *q = &j->hadrons.sequence;
    at = strlen(to);
    snprintf(to + at, room - at, ", sequential %d,%d,%d,%d,%d", (int)q->time, (int)q->gamma, (int)q->momentum[0],
             (int)q->momentum[1], (int)q->momentum[2]);
  }
}

/* What needs the lattice's extents. */
static void start(job *j, const int32_t *extents) {
  size_t numbers;
  if (j->times) return;
  j->hadrons.times = j->times = extents[3];
  j->sources = all_parts(j->source, j->sources, j->times);
  j->samples.sources = j->sources;
  j->samples.of = room_for((size_t)j->samples.configurations * j->sources, sizeof(sample));
  numbers = hadron_numbers(&j->hadrons) + 9 * (size_t)j->times;
  j->values = room_for(numbers, sizeof(double));
  j->deviations = room_for(numbers, sizeof(double));
}

/* Takes over what the JSON of an earlier run has. */
static void go_on(job *j) {
  char *text = read_text(j->json_file), mine[16384], key[] = "\"job\": \"";
  const char *theirs, *lattice;
  int32_t *l = j->file.extents;
  if (!text) return; /* the first time */
  describe_job(j, mine, sizeof mine);
  theirs = strstr(text, key);
  lattice = strstr(text, "\"lattice\": [");
  if (!theirs || !lattice || sscanf(lattice, "\"lattice\": [%d, %d, %d, %d]", l, l + 1, l + 2, l + 3) != 4) {
    fprintf(stderr, "--continue: %s: not the JSON of a run of propagator\n", j->json_file);
    exit(1);
  }
  theirs += strlen(key);
  if (strncmp(theirs, mine, strlen(mine)) || theirs[strlen(mine)] != '"') {
    fprintf(stderr, "--continue: %s: of another run\n  there %.*s\n  here  %s\n", j->json_file, (int)strcspn(theirs, "\""), theirs,
            mine);
    exit(1);
  }
  start(j, l);
  memcpy(j->lattice, l, sizeof j->lattice);
  take_samples(text, &j->samples, j->source, hadron_numbers(&j->hadrons));
  known_format(text, &j->file);
  free(text);
}

static const char *solver_name(const job *j) {
  return j->algorithm == MULTIGRID ? "mg" : name_of(j->solve.algorithm, SOLVERS + 1);
}

static void print_mass(double m) {
  if (m == m) printf("  %9.6f", m);
  else printf("  %9s", "-");
}

/* A mean with its error, and the effective mass with its own. */
static void print_average(const job *j, const double *value, const double *mass) {
  double error = *error_of(j, value), mass_error = *error_of(j, mass);
  if (isfinite(*value)) printf("  %16.9e", *value);
  else printf("  %16s", "-");
  if (isfinite(*value) && isfinite(error)) printf(" %8.1e", error);
  else printf(" %8s", "-");
  print_mass(*mass);
  if (isfinite(*mass) && isfinite(mass_error)) printf(" %9.6f", mass_error);
  else printf(" %9s", "-");
}

static void print_table(const job *j) {
  const int32_t *l = j->file.extents, *p = j->hadrons.momentum;
  int t, s;
  const samples *all = &j->samples;
  if (all->configurations == 1)
    printf("# %s (%s), %d x %d x %d x %d, plaquette %.9f\n", all->files[0], name_of(j->file.format, FORMATS), l[0], l[1], l[2],
           l[3], mean_plaquette(&j->samples, 0));
  else
    printf("# %d configurations, %s to %s, %d x %d x %d x %d, plaquette %.9f; jackknife errors of %d bins\n", all->whole,
           all->files[0], all->files[all->configurations - 1], l[0], l[1], l[2], l[3], mean_plaquette(&j->samples, 0), all->bins);
  printf("# kappa %.10g (mass %.10g), csw %.10g, %s in time, %s normalisation\n", j->dirac.kappa, j->dirac.mass, j->csw,
         name_of(j->boundary, BOUNDARIES), name_of(j->normalisation, NORMALISATIONS));
  if (j->quarks == 2) printf("# kappa of the strange quark %.10g\n", j->kappa[1]);
  for (s = 0; s < j->sources; s++) {
    const int32_t *x = j->source[s].position, *n = j->source[s].momentum;
    printf("# ");
    if (j->source[s].noise) printf("%s noise, ", name_of(j->source[s].noise, NOISES));
    if (n[0] || n[1] || n[2]) printf("momentum (%d, %d, %d), ", n[0], n[1], n[2]);
    if (strcmp(sites_of(j->source + s), "all")) printf("%s sites, ", sites_of(j->source + s));
    if (source_kind(j->source + s) == 2) printf("volume source");
    else if (source_kind(j->source + s) == 1) printf("wall source at t = %d", x[3]);
    else printf("point source at (%d, %d, %d, %d)", x[0], x[1], x[2], x[3]);
    printf(s + 1 < j->sources ? "\n" : ", %s\n", j->device);
  }
  if (j->at_source.steps || j->at_sink.steps)
    printf("# Gaussian smearing (weight, steps): source %g, %d, sink %g, %d; links %g, %d\n", j->at_source.alpha,
           (int)j->at_source.steps, j->at_sink.alpha, (int)j->at_sink.steps, j->links.alpha, (int)j->links.steps);
  if (p[0] || p[1] || p[2]) printf("# momentum of the sink (%d, %d, %d)\n", (int)p[0], (int)p[1], (int)p[2]);
  if (old_samples(&j->samples)) printf("# %d of %d propagators of %s\n", old_samples(&j->samples), all->configurations * j->sources, j->json_file);
  if (*j->load_file) printf("# propagators of %s\n", j->load_file);
  else if (j->solves) printf("# %s, %s inside double: %lld iterations, residual %.2e, %.3f s, %.1f Gflop/s, peak %.1f MiB%s\n",
         solver_name(j), name_of(j->precision, PRECISIONS), (long long)j->solve.iterations,
         j->solve.residual, j->solve.seconds, j->solve.flops / j->solve.seconds * 1e-9,
         (double)j->solve.memory_peak / 1048576, j->solve.converged ? "" : j->solve.stopped ? ", INTERRUPTED" : ", NOT CONVERGED");
  if (all->configurations > 1 && all->whole < all->configurations)
    printf("# INTERRUPTED: %d of %d configurations\n", all->whole, all->configurations);
  if (all->configurations > 1) {
    printf("#%4s  %16s %8s  %9s %9s  %16s %8s  %9s %9s  %16s %8s  %9s %9s\n", "t", "pion", "error", "m_eff", "error", "rho",
           "error", "m_eff", "error", "nucleon", "error", "m_eff", "error");
    for (t = 0; t < j->times; t++) {
      printf("%5d", t);
      print_average(j, j->pion + t, j->mass_pion + t);
      print_average(j, j->rho + t, j->mass_rho + t);
      print_average(j, j->nucleon + t, j->mass_nucleon + t);
      printf("\n");
    }
    return;
  }
  printf("#%4s  %16s  %9s  %16s  %9s  %16s  %9s\n", "t", "pion", "m_eff", "rho", "m_eff", "nucleon", "m_eff");
  for (t = 0; t < j->times; t++) {
    printf("%5d  %16.9e", t, j->pion[t]);
    print_mass(j->mass_pion[t]);
    printf("  %16.9e", j->rho[t]);
    print_mass(j->mass_rho[t]);
    if (isfinite(j->nucleon[t])) printf("  %16.9e", j->nucleon[t]);
    else printf("  %16s", "-");
    print_mass(j->mass_nucleon[t]);
    printf("\n");
  }
}

static void json_errors(FILE *f, const job *j, const char *name, const double *values, int count, const char *after) {
  json_array(f, name, error_of(j, values), count, after);
}

static void write_json(job *j) {
  const int32_t *l = j->file.extents, *x = j->source[0].position;
  const plaq_solve_report *s = &j->solve;
  const samples *all = &j->samples;
  size_t numbers = hadron_numbers(&j->hadrons);
  int n = j->times, k;
  double before = now();
  char described[16384];
  FILE *f = begin_file(j->json_file);
  average(j);
  describe_job(j, described, sizeof described);
  fprintf(f, "{\n  \"version\": \"%s\",\n  \"device\": ", plaq_version());
  json_text(f, j->device);
  fprintf(f, ",\n  \"gauge\": {\"file\": ");
  json_text(f, all->files[0]);
  fprintf(f, ", \"format\": \"%s\", \"lattice\": [%d, %d, %d, %d]},\n", name_of(j->file.format, FORMATS), l[0], l[1],
          l[2], l[3]);
  fprintf(f, "  \"plaquette\": {\"total\": %.17g, \"spatial\": %.17g, \"temporal\": %.17g},\n", mean_plaquette(&j->samples, 0),
          mean_plaquette(&j->samples, 1), mean_plaquette(&j->samples, 2));
  fprintf(f, "  \"job\": \"%s\",\n", described);
  fprintf(f, "  \"configurations\": {\"asked\": %d, \"done\": %d, \"bin\": %d, \"bins\": %d, \"sources_taken_over\": %d},\n",
          all->configurations, all->whole, (int)all->bin, all->bins, old_samples(&j->samples));
  fprintf(f, "  \"action\": {\"kappa\": %.17g, \"mass\": %.17g, \"csw\": %.17g, \"time_bc\": \"%s\", \"normalisation\": \"%s\"},\n",
          j->dirac.kappa, j->dirac.mass, j->csw, name_of(j->boundary, BOUNDARIES),
          name_of(j->normalisation, NORMALISATIONS));
  fprintf(f, "  \"seconds\": {\"load\": %.9g, \"propagator\": %.9g},\n", j->seconds_load, j->seconds_propagator);
  fprintf(f, "  \"source\": {\"kind\": \"%s\", \"position\": [%d, %d, %d, %d]},\n", name_of(source_kind(j->source), KINDS), x[0],
          x[1], x[2], x[3]);
  fprintf(f, "  \"sources\": [");
  for (k = 0; k < j->sources; k++) {
    const plaq_source_params *p = &j->source[k];
    fprintf(f, "%s\n    {\"kind\": \"%s\", \"position\": [%d, %d, %d, %d], \"momentum\": [%d, %d, %d], \"noise\": \"%s\", \"seed\": %lld, \"sites\": \"%s\"}",
            k ? "," : "", name_of(source_kind(p), KINDS), p->position[0], p->position[1], p->position[2], p->position[3],
            p->momentum[0], p->momentum[1], p->momentum[2], name_of(p->noise, NOISES), (long long)p->seed, sites_of(p));
  }
  fprintf(f, "\n  ],\n  \"smearing\": {\"source\": [%.17g, %d], \"sink\": [%.17g, %d], \"links\": [%.17g, %d]},\n",
          j->at_source.alpha, (int)j->at_source.steps, j->at_sink.alpha, (int)j->at_sink.steps, j->links.alpha,
          (int)j->links.steps);
  if (j->hadrons.sequential) {
    const plaq_sequential_params *q = &j->hadrons.sequence;
    fprintf(f, "  \"sequential\": {\"time\": %d, \"gamma\": %d, \"momentum\": [%d, %d, %d]},\n", (int)q->time, (int)q->gamma,
            (int)q->momentum[0], (int)q->momentum[1], (int)q->momentum[2]);
  }
  if (j->quarks == 2) fprintf(f, "  \"kappa_strange\": %.17g,\n", j->kappa[1]);
  fprintf(f, "  \"solver\": {\n    \"name\": \"%s\", \"precision\": \"%s\", \"rhs\": %d, \"tol\": %.17g,\n",
          solver_name(j), name_of(j->precision, PRECISIONS), (int)j->rhs, j->tol);
  fprintf(f, "    \"converged\": %s, \"stopped\": %s, \"iterations\": %lld, \"reliable_updates\": %lld, \"restarts\": %lld,\n",
          s->converged ? "true" : "false", s->stopped ? "true" : "false", (long long)s->iterations,
          (long long)s->reliable_updates, (long long)s->restarts);
  fprintf(f, "    \"residual\": %.17g, \"residual_hq\": %.17g,\n", s->residual, s->residual_hq);
  json_array(f, "residuals", j->residuals, COLUMNS, ",");
  if (j->tol_error > 0) json_array(f, "errors", j->errors, COLUMNS, ",");
  fprintf(f, "    \"seconds\": %.9g, \"flops\": %.17g, \"bytes\": %.17g, \"memory_peak\": %lld\n  },\n", s->seconds,
          s->flops, s->bytes, (long long)s->memory_peak);
  if (j->algorithm == MULTIGRID) {
    int l;
    fprintf(f, "  \"multigrid\": {\"setup_seconds\": %.9g, \"reduction\": %.9g, \"bytes\": %lld, \"levels\": [", j->multigrid.setup_seconds,
            j->multigrid.reduction, (long long)j->multigrid.bytes);
    for (l = 0; l < j->multigrid.levels; l++) {
      const plaq_multigrid_level *v = &j->level[l];
      fprintf(f, "%s\n    {\"lattice\": [%d, %d, %d, %d], \"block\": [%d, %d, %d, %d], \"vectors\": %d, \"ranks\": %d, \"bytes\": %lld, \"iterations\": %lld, \"seconds\": %.9g, \"setup_seconds\": %.9g, \"reduction\": %.9g}",
              l ? "," : "", v->extents[0], v->extents[1], v->extents[2], v->extents[3], v->block[0], v->block[1], v->block[2],
              v->block[3], v->vectors, v->ranks, (long long)v->bytes, (long long)v->iterations, v->seconds, v->setup_seconds, v->reduction);
    }
    fprintf(f, "\n  ]},\n");
  }
  json_samples(f, all, j->source, numbers);
  json_hadrons(f, &j->hadrons, j->values, all->bins > 1 ? j->deviations : NULL);
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
  if (all->bins > 1) {
    fprintf(f, "  },\n  \"correlators_error\": {\n");
    json_errors(f, j, "pion", j->pion, n, ",");
    json_errors(f, j, "rho", j->rho, n, ",");
    json_errors(f, j, "nucleon", j->nucleon, n, "");
    fprintf(f, "  },\n  \"effective_mass_error\": {\n");
    json_errors(f, j, "pion", j->mass_pion, n, ",");
    json_errors(f, j, "rho", j->mass_rho, n, ",");
    json_errors(f, j, "nucleon", j->mass_nucleon, n, "");
  }
  fprintf(f, "  }\n}\n");
  end_file(f, j->json_file);
  j->written = now();
  j->writing = j->written - before;
}

/* Effective masses, of several configurations with their errors, up to the middle of the lattice, the first of which comes between t = 0 and 1. */
static void write_plot(const job *j) {
  int n = j->times / 2, k;
  char title[160];
  plot_series masses[3];
  masses[0] = (plot_series){"pion", "#0072b2", j->mass_pion, n, NULL, NULL, 0, 0, 0};
  masses[1] = (plot_series){"rho", "#d55e00", j->mass_rho, n, NULL, NULL, 0, 0, 0};
  masses[2] = (plot_series){"nucleon", "#009e73", j->mass_nucleon, n, NULL, NULL, 0, 0, 0};
  for (k = 0; k < 3 && j->samples.bins > 1; k++) masses[k].errors = error_of(j, masses[k].values);
  snprintf(title, sizeof title, "Effective masses, kappa %.6g, csw %.6g, %d x %d x %d x %d", j->dirac.kappa, j->csw,
           j->file.extents[0], j->file.extents[1], j->file.extents[2], j->file.extents[3]);
  plot_write(j->plot_file, title, "t / a", "a m", masses, 3);
}

/* A configuration, unless an earlier run has all of it. 0: interrupted. */
static int configuration(plaq_context context, job *j, int c) {
  plaq_dirac dirac[2];
  plaq_gauge smeared;
  int s, q, missing = !j->times, done;
  for (s = 0; j->times && s < j->sources; s++) {
    char name[100];
    source_name(j->source + s, name, sizeof name);
    if (!sample_of(&j->samples, c, s)->numbers) missing = 1;
    else fprintf(stderr, "  %s, %s: skipped, %s has it\n", j->samples.files[c], name, j->json_file);
  }
  if (!missing) return 1;
  if (j->samples.configurations > 1) fprintf(stderr, "  %s\n", j->samples.files[c]);
  smeared = load(context, j, c, dirac);
  start(j, j->file.extents);
  done = run(context, smeared, dirac, j, c);
  for (q = 0; q < j->quarks; q++) OK(plaq_dirac_destroy(dirac[q]));
  OK(plaq_gauge_destroy(smeared));
  return done;
}

int main(int argc, char **argv) {
  job j = read_options(argc, argv);
  plaq_context context = open_context(argc, argv);
  int c, finished = 1;
  OK(plaq_context_name(context, j.device, sizeof j.device));
  fprintf(stderr, "propagator on %s\n", j.device);
  OK(plaq_solve_report_init(&j.solve, sizeof j.solve));
  OK(plaq_dirac_report_init(&j.dirac, sizeof j.dirac));
  j.solve.converged = 1;
  j.dirac.kappa = j.kappa[0];
  j.dirac.mass = 0.5 / j.kappa[0] - 4;
  j.written = now();
  if (j.goes_on) go_on(&j);
  watch_signals();
  for (c = 0; c < j.samples.configurations && finished; c++) finished = configuration(context, &j, c);
  average(&j);
  print_table(&j);
  if (*j.json_file && first_rank(context)) write_json(&j);
  if (*j.plot_file && first_rank(context)) write_plot(&j);
  free(j.values);
  free(j.deviations);
  end_samples(&j.samples);
  OK(plaq_context_destroy(context));
  return j.solve.converged && finished ? 0 : 3;
}
