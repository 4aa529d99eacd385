/* propagator: quark propagators on a gauge configuration, and their hadron correlators.
 *
 *   propagator --gauge FILE --kappa K[,K...] [options]; propagator --help says what they are.
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
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12,0.13 --csw 1.2 --solver mg --json $OUT/kappas.json --plot $OUT/kappas.svg
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --kappa-strange 0.11 --source point,0,0,0,0:point,2,2,2,4 --source-smear 0.3,5 --sink-smear 0.3,5 --smear-links 0.5,2 --momenta 0,0,0:1,0,0 --baryons all --save $OUT/quark.lime --json $OUT/hadrons.json
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.12 --source wall,2 --noise z2 --seed 7 --baryons none
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --source volume --noise z2 --dilute spin,colour,parity --sequential 4,15,0,0,0
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --source wall,all --noise z4 --rhs 4 --json $OUT/walls.json
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --kappa 0.11 --source wall,all --noise z4 --json $OUT/walls.json --continue yes
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include "results.h"

static const char HELP[] =
    "usage: propagator --gauge FILE[:FILE...] --kappa K[,K...] [options]\n"
    "Quark propagators on a gauge configuration; correlators of mesons and baryons with effective masses.\n"
    "  --gauge FILE         configuration: NERSC, ILDG, MILC, openQCD or DDalphaAMG, found out by itself\n"
    "                       several with colons between, or @LIST: a file with a name a line\n"
    "  --kappa K[,K...]     hopping parameter; of several, to 16, heavy quarks first, multigrid keeps the null vectors from\n"
    "                       one to the next where they are good\n"
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
    "  --mg-links P         of coarse operators' links: half, quarter or single (quarter on GPUs, else half)\n"
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
    "  --load FILE          propagators that --save wrote for the same links, sources and quarks, in place of solves\n"
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
static const char *const NEEDS[] = {
    "--dilute --seed: --noise=z2|z4",
    "--smear-links: --source-smear --sink-smear",
    "--solver --tol --precision --max-iterations --rhs: !--load",
    "--save-multigrid --load-multigrid --mg-* --krylov: !--load",
    "--save-multigrid --load-multigrid --mg-*: --solver=mg --error",
    "--krylov: --solver=gcr|mg --error",
    "--mg-setup --mg-setup-solver --mg-setup-columns --mg-refinements: !--load-multigrid",
    "--mg-coarsest-tol: --mg-coarsest=gcr|(ca-gcr)|bicgstab",
    "--continue: --json",
    NULL};

static int32_t progress(int64_t iteration, double residual, double seconds, void *user) {
  if (progress_due(seconds, user))
    progress_line(0, "  iteration %lld, residual %.2e, %.1f s", (long long)iteration, residual, seconds);
  return interrupted;
}

/* The file of a configuration and a kappa, where there are several, a source and a quark. Null vectors serve all kappas. */
static const char *file_of(const job *j, const char *base, int c, int source, int quark) {
  static char name[4096];
  const char *gauge = strrchr(j->samples.files[c], '/');
  char number[16] = "", kappa[32] = "";
  int several = j->samples.configurations > 1;
  gauge = gauge ? gauge + 1 : j->samples.files[c];
  if (source) snprintf(number, sizeof number, ".%d", source);
  if (j->jobs > 1 && (base == j->save_file || base == j->load_file)) snprintf(kappa, sizeof kappa, ".%.10g", j->kappa[0]);
  snprintf(name, sizeof name, "%s%s%s%s%s%s", base, several ? "." : "", several ? gauge : "", kappa, number, !quark ? "" : j->hadrons.sequential ? ".sequential" : ".strange");
  return name;
}

/* Files of propagators and null vectors have their names from one option. */
static void check_outputs(const job *j, const char *base) {
  int c, q;
  for (c = 0; *base && c < j->samples.configurations; c++)
    for (q = 0; q < j->quarks; q++) check_output(file_of(j, base, c, 0, q), 1);
}

/* Kappas with commas between, small ones, of heavy quarks, first. */
static int kappa_list(const char *text, double *to) {
  const char *at = text;
  char *end;
  int count = 0, k;
  for (;; at = end + 1) {
    double value = strtod(at, &end);
    if (end == at || !isfinite(value) || (*end && *end != ',')) refuse("--kappa", text, "a number, or several with commas between");
    if (!(value > 0)) usage_error("--kappa", "expected a positive number");
    if (count == MOST_KAPPAS) usage_error("--kappa", "expected at most 16");
    for (k = count++; k > 0 && to[k - 1] > value; k--) to[k] = to[k - 1];
    to[k] = value;
    if (k > 0 && to[k - 1] == value) usage_error("--kappa", "a number is given twice");
    if (!*end) return count;
  }
}

static job *read_options(int argc, char **argv) {
  double kappas[MOST_KAPPAS];
  int k;
  job j, *jobs;
  memset(&j, 0, sizeof j);
  check_options(argc, argv, OPTIONS, NEEDS, HELP);
  file_list("--gauge", option(argc, argv, "--gauge", NULL), &j.samples);
  j.samples.bin = integer(argc, argv, "--bin", "1");
  j.goes_on = choose(argc, argv, "--continue", "no", YES_NO);
  j.json_file = option(argc, argv, "--json", "");
  j.plot_file = option(argc, argv, "--plot", "");
  j.save_file = option(argc, argv, "--save", "");
  j.load_file = option(argc, argv, "--load", "");
  j.save_multigrid = option(argc, argv, "--save-multigrid", "");
  j.load_multigrid = option(argc, argv, "--load-multigrid", "");
  j.jobs = kappa_list(option(argc, argv, "--kappa", NULL), kappas);
  j.kappa[1] = number(argc, argv, "--kappa-strange", "0");
  j.hadrons.quarks = j.quarks = j.kappa[1] != 0 ? 2 : 1;
  j.csw = number(argc, argv, "--csw", "0");
  j.tol = number(argc, argv, "--tol", "1e-10");
  j.tol_error = number(argc, argv, "--error", "0");
  j.boundary = choose(argc, argv, "--time-bc", "antiperiodic", BOUNDARIES);
  j.algorithm = choose(argc, argv, "--solver", "cg", SOLVERS);
  j.precision = choose(argc, argv, "--precision", "single", PRECISIONS);
  j.normalisation = choose(argc, argv, "--normalisation", "kappa", NORMALISATIONS);
  j.max_iterations = integer32(argc, argv, "--max-iterations", "10000");
  j.rhs = integer32(argc, argv, "--rhs", "12");
  j.krylov = integer32(argc, argv, "--krylov", "0");
  j.levels = read_cycle(argc, argv);
  j.sources = source_list(argc, argv, j.source);
  j.at_source = smearing_option("--source-smear", option(argc, argv, "--source-smear", ""));
  j.at_sink = smearing_option("--sink-smear", option(argc, argv, "--sink-smear", ""));
  j.links = smearing_option("--smear-links", option(argc, argv, "--smear-links", ""));
  sequential_option(option(argc, argv, "--sequential", ""), &j.hadrons);
  momentum_list(option(argc, argv, "--momenta", "0,0,0"), &j.hadrons);
  baryon_list(option(argc, argv, "--baryons", j.source[0].noise || j.hadrons.sequential ? "none" : "nucleon"), &j.hadrons);
  if (j.kappa[1] < 0) usage_error("--kappa-strange", "expected a positive number");
  if (j.quarks > 1 && j.jobs > 1) usage_error("--kappa-strange", "expected one --kappa beside it");
  if (j.max_iterations < 1 || j.max_iterations > 1 << 30) usage_error("--max-iterations", "expected 1 to 2^30");
  if (j.krylov < 0 || j.krylov > 1 << 20) usage_error("--krylov", "expected 0 to 2^20");
  if (j.rhs < 1 || j.rhs > COLUMNS) usage_error("--rhs", "expected 1 to 12 right-hand sides at a time");
  if (j.source[0].noise && j.hadrons.baryon_count) usage_error("--baryons", "expected none with noise");
  if (j.hadrons.sequential && (j.quarks > 1 || j.at_sink.steps || j.hadrons.baryon_count))
    usage_error("--sequential", "expected no strange quark, sink smearing or baryons");
  if (*j.save_file && *j.load_file) usage_error("--load", "propagators are loaded or saved, not both");
  if (*j.save_multigrid && *j.load_multigrid) usage_error("--load-multigrid", "null vectors are loaded or saved, not both");
  if (j.tol_error != 0 && (!(j.tol_error > 0) || *j.load_file || j.sources > 1 || has_parts(j.source) || j.hadrons.sequential ||
                           j.quarks > 1 || j.samples.configurations > 1 || j.goes_on))
    usage_error("--error", "expected a positive number, one configuration, source and quark, no --load or --continue");
  if (j.samples.bin < 1) usage_error("--bin", "expected 1 or more");
  check_output(j.json_file, 1);
  check_plot(j.plot_file, 1);
  check_outputs(&j, j.save_multigrid);
  jobs = room_for((size_t)j.jobs, sizeof j);
  for (k = 0; k < j.jobs; k++) {
    jobs[k] = j;
    jobs[k].all = jobs;
    jobs[k].kappa[0] = kappas[k];
    OK(plaq_solve_report_init(&jobs[k].solve, sizeof j.solve));
    OK(plaq_dirac_report_init(&jobs[k].dirac, sizeof j.dirac));
    OK(plaq_multigrid_report_init(&jobs[k].multigrid, sizeof j.multigrid));
    jobs[k].multigrid.refresh = PLAQ_REFRESH_NONE;
    jobs[k].solve.converged = 1;
    jobs[k].dirac.kappa = kappas[k];
    jobs[k].dirac.mass = 0.5 / kappas[k] - 4;
    check_outputs(jobs + k, j.save_file);
  }
  return jobs;
}

/* Refuses places that the lattice does not have, before any work. */
static void check_places(const job *j, const int32_t *extents) {
  char text[100], lattice[100];
  int s, mu;
  snprintf(lattice, sizeof lattice, "a place on the lattice %d,%d,%d,%d", extents[0], extents[1], extents[2], extents[3]);
  for (s = 0; s < j->sources; s++)
    for (mu = 0; mu < 4; mu++) {
      if (j->source[s].position[mu] < extents[mu]) continue;
      source_name(&j->source[s], text, sizeof text);
      refuse("--source", text, lattice);
    }
  if (!j->hadrons.sequential || j->hadrons.sequence.time < extents[3]) return;
  snprintf(text, sizeof text, "time slice %d", j->hadrons.sequence.time);
  refuse("--sequential", text, lattice);
}

/* What needs the lattice's extents. */
static void start(job *j, const int32_t *extents) {
  size_t numbers;
  if (j->times) return;
  j->hadrons.times = j->times = extents[3];
  check_places(j, extents);
  j->sources = all_parts(j->source, j->sources, j->times);
  j->samples.sources = j->sources;
  j->samples.of = room_for((size_t)j->samples.configurations * j->sources, sizeof(sample));
  numbers = hadron_numbers(&j->hadrons) + 9 * (size_t)j->times;
  j->values = room_for(numbers, sizeof(double));
  j->deviations = room_for(numbers, sizeof(double));
}

/* Reads a configuration for all jobs. */
static plaq_gauge read_links(plaq_context context, job *jobs, int c) {
  plaq_gauge gauge;
  double begin = now();
  int k;
  PLAQ_INIT(plaq_read_params, read);
  OK(plaq_file_report_init(&jobs->file, sizeof jobs->file));
  if (jobs->times) memcpy(read.extents, jobs->lattice, sizeof read.extents);
  OK(plaq_gauge_read_file(context, jobs->samples.files[c], &read, &gauge, &jobs->file));
  OK(plaq_gauge_plaquette(gauge, &jobs->plaquette));
  memcpy(jobs->lattice, jobs->file.extents, sizeof jobs->lattice);
  memcpy(jobs->part, jobs->lattice, sizeof jobs->part);
  divide(context, jobs->part);
  jobs->seconds_load += now() - begin;
  for (k = 0; k < jobs->jobs; k++) {
    jobs[k].file = jobs->file;
    jobs[k].plaquette = jobs->plaquette;
    memcpy(jobs[k].lattice, jobs->lattice, sizeof jobs->lattice);
    memcpy(jobs[k].part, jobs->part, sizeof jobs->part);
    start(jobs + k, jobs->file.extents);
  }
  return gauge;
}

/* Makes the operators of a job and, where something is smeared with them, smeared links. Links that no job after it needs are
 * smeared in place, or stay in the operators only. */
static void make_operators(plaq_context context, job *j, int last, plaq_gauge *links, plaq_gauge *smeared, plaq_dirac *dirac) {
  const plaq_gauge none = {0};
  double begin = now();
  int q;
  for (q = 0; q < j->quarks; q++) {
    PLAQ_INIT(plaq_dirac_params, params);
    params.kappa = j->kappa[q];
    params.csw = j->csw;
    params.boundary[3] = j->boundary;
    params.normalisation = j->normalisation;
    OK(plaq_dirac_create(context, *links, &params, dirac + q));
  }
  OK(plaq_dirac_report_init(&j->dirac, sizeof j->dirac));
  OK(plaq_dirac_describe(dirac[0], &j->dirac));
  if ((j->at_source.steps || j->at_sink.steps) && !smeared->id) {
    PLAQ_INIT(plaq_gauge_params, p);
    PLAQ_INIT(plaq_gauge_smear_params, smear);
    if (last) {
      *smeared = *links;
      *links = none;
    } else {
      memcpy(p.extents, j->part, sizeof p.extents);
      OK(plaq_gauge_create(context, &p, smeared));
      OK(plaq_gauge_copy(*links, *smeared));
    }
    smear.kind = PLAQ_SMEARING_APE;
    smear.steps = j->links.steps;
    smear.alpha[0] = j->links.alpha;
    smear.directions = 7;
    if (j->links.steps) OK(plaq_gauge_smear(*smeared, &smear));
  }
  if (last) {
    OK(plaq_gauge_destroy(*links));
    *links = none;
  }
  j->seconds_load += now() - begin;
}

/* A hierarchy: that of the kappa before, whose null vectors are kept unless they are bad, or set up, or from a file. */
static void make_multigrid(plaq_dirac dirac, const job *j, int c, int q, plaq_multigrid *multigrid) {
  PLAQ_INIT(plaq_multigrid_params, build);
  apply_cycle(&j->levels, &build);
  if (multigrid->id) {
    OK(plaq_multigrid_update(*multigrid, dirac, PLAQ_REFRESH_KEEP, 1));
    return;
  }
  if (*j->load_multigrid) OK(plaq_multigrid_load(dirac, &build, file_of(j, j->load_multigrid, c, 0, q), multigrid));
  else OK(plaq_multigrid_create(dirac, &build, multigrid));
  if (*j->save_multigrid) OK(plaq_multigrid_save(*multigrid, file_of(j, j->save_multigrid, c, 0, q)));
}

static plaq_solver make_solver(plaq_dirac dirac, const job *j, int algorithm, double tol, plaq_multigrid multigrid) {
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
  if (algorithm == MULTIGRID) OK(plaq_solver_set_multigrid(solver, multigrid));
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
  if (!r->converged && (all->converged || r->stopped_by > all->stopped_by)) all->stopped_by = r->stopped_by;
  all->converged = all->converged && r->converged;
  all->stopped = all->stopped || r->stopped;
  all->standstill = all->standstill || r->standstill;
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

/* Takes columns from those of a field; the norm of what is left over that of what was there. */
static void subtract(plaq_spinor field, plaq_spinor other, double *left) {
  double ones[2 * COLUMNS], minus[2 * COLUMNS], norm[COLUMNS], apart[COLUMNS];
  int k;
  for (k = 0; k < COLUMNS; k++) {
    ones[2 * k] = 1;
    minus[2 * k] = -1;
    ones[2 * k + 1] = minus[2 * k + 1] = 0;
  }
  OK(plaq_spinor_norm2(field, norm, COLUMNS));
  OK(plaq_spinor_axpby(minus, other, ones, field, COLUMNS));
  OK(plaq_spinor_norm2(field, apart, COLUMNS));
  for (k = 0; k < COLUMNS; k++) left[k] = sqrt(apart[k] / norm[k]);
}

/* How far a propagator is from one that is solved for again, to a smaller residual: after Clark et al.,
 * arXiv:1612.07873, section 7. */
static void measure_error(job *j, plaq_dirac dirac, plaq_multigrid multigrid, plaq_spinor from, plaq_spinor propagator) {
  double residuals[COLUMNS], shown = 0;
  plaq_solver solver = make_solver(dirac, j, MULTIGRID, j->tol_error, multigrid);
  plaq_spinor better;
  PLAQ_INIT(plaq_solve_report, report);
  if (from.id) OK(plaq_solver_columns(solver, from, progress, &shown, &better, &report, residuals));
  else OK(plaq_solver_propagator(solver, &j->source[0], progress, &shown, &better, &report, residuals));
  if (!report.converged) fprintf(stderr, "propagator: --error: residual %.2e only\n", report.residual);
  subtract(better, propagator, j->errors);
  OK(plaq_spinor_destroy(better));
  OK(plaq_solver_destroy(solver));
}

static plaq_spinor new_columns(plaq_context context, const job *j) {
  plaq_spinor columns;
  PLAQ_INIT(plaq_spinor_params, p);
  memcpy(p.extents, j->part, sizeof p.extents);
  p.nrhs = COLUMNS;
  OK(plaq_spinor_create(context, &p, &columns));
  return columns;
}

/* A propagator of a file: of this source, configuration and quark, else correlators would be wrong in silence. */
static plaq_spinor read_propagator(plaq_context context, const job *j, int c, int s, int q, plaq_dirac dirac, plaq_spinor from) {
  plaq_spinor propagator, image;
  double off[COLUMNS], most = 0;
  int k;
  PLAQ_INIT(plaq_propagator_read_params, p);
  memcpy(p.extents, j->file.extents, sizeof p.extents);
  p.precision = PLAQ_PRECISION_DOUBLE;
  OK(plaq_propagator_read_file(context, file_of(j, j->load_file, c, s, q), &p, &propagator));
  PLAQ_INIT(plaq_spinor_report, shape);
  OK(plaq_spinor_describe(propagator, &shape));
  if (shape.nrhs != COLUMNS) usage_error("--load", "expected twelve columns");
  image = new_columns(context, j);
  OK(plaq_dirac_apply(dirac, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, image, propagator));
  subtract(image, from, off);
  OK(plaq_spinor_destroy(image));
  for (k = 0; k < COLUMNS; k++)
    if (!(off[k] <= most)) most = off[k];
  if (!(most < 1e-3)) {
    fprintf(stderr, "--load: %s: expected |b - M x| / |b| below 0.001 for this configuration, source and quark, found %.2g\n",
            file_of(j, j->load_file, c, s, q), most);
    exit(1);
  }
  return propagator;
}

/* The propagators of a configuration, source after source, and their correlators. 0: interrupted. */
static int run(plaq_context context, plaq_gauge smeared, const plaq_dirac *dirac, job *j, int c, plaq_multigrid *multigrid) {
  plaq_solver solver[2] = {{0}, {0}};
  plaq_spinor quark[2] = {{0}, {0}};
  int s, q, done = 1;
  double start = now(), before = j->seconds_propagator;
  for (q = 0; q < j->quarks && !*j->load_file; q++) {
    if (j->algorithm == MULTIGRID) {
      make_multigrid(dirac[q], j, c, q, multigrid + q);
      if (q == 0) describe_multigrid(j, multigrid[0]); /* for what is written meanwhile */
    }
    solver[q] = make_solver(dirac[q], j, j->algorithm, j->tol, multigrid[q]);
  }
  for (s = 0; s < j->sources && done; s++) {
    plaq_spinor from = {0};
    sample *one = sample_of(&j->samples, c, s);
    if (one->numbers) continue;
    one->converged = 1;
    one->plaquette[0] = j->plaquette.total;
    one->plaquette[1] = j->plaquette.spatial;
    one->plaquette[2] = j->plaquette.temporal;
    if (j->at_source.steps || *j->save_file || *j->load_file) {
      from = new_columns(context, j);
      OK(plaq_spinor_source(from, &j->source[s]));
      smear(from, smeared, j->at_source);
    }
    for (q = 0; q < j->hadrons.quarks; q++) {
      int follows = q == 1 && j->hadrons.sequential;
      plaq_spinor begin = follows ? sequential_source(context, j->part, &j->hadrons, quark[0], &j->source[s]) : from;
      quark[q] = *j->load_file ? read_propagator(context, j, c, s, q, dirac[follows ? 0 : q], begin)
                               : solve(solver[follows ? 0 : q], j, s, begin, one);
      if (j->tol_error > 0) {
        double paused = now();
        if (j->algorithm != MULTIGRID) make_multigrid(dirac[0], j, c, 0, multigrid);
        describe_multigrid(j, multigrid[0]); /* what is measured next is not in it */
        j->described = 1;
        measure_error(j, dirac[0], multigrid[0], from, quark[0]);
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
    if (done && *j->json_file && now() - j->all->written > 20 * j->all->writing + 1 && first_rank(context)) write_json(j->all);
  }
  for (q = 0; q < j->quarks; q++) OK(plaq_solver_destroy(solver[q]));
  if (j->algorithm == MULTIGRID && multigrid[0].id && !j->described) describe_multigrid(j, multigrid[0]);
  return done;
}

/* Takes over what the JSON of an earlier run has: of every job that it has, too. */
static void go_on(job *jobs) {
  char *text = read_text(jobs->json_file), mine[16384];
  static const char key[] = "\"job\": \"";
  const char *theirs, *lattice;
  int32_t l[4];
  int k, found = 0;
  if (!text) return; /* the first time */
  theirs = strstr(text, key);
  lattice = strstr(text, "\"lattice\": [");
  if (!theirs || !lattice || sscanf(lattice, "\"lattice\": [%d, %d, %d, %d]", l, l + 1, l + 2, l + 3) != 4) {
    fprintf(stderr, "--continue: %s: not the JSON of a run of propagator\n", jobs->json_file);
    exit(1);
  }
  theirs += strlen(key);
  for (k = 0; k < jobs->jobs; k++) {
    job *j = jobs + k;
    char *own = text, *end = NULL;
    describe_job(j, mine, sizeof mine);
    memcpy(j->file.extents, l, sizeof l);
    memcpy(j->lattice, l, sizeof l);
    start(j, l);
    known_format(text, &j->file);
    while ((own = strstr(own, key)) && (strncmp(own += strlen(key), mine, strlen(mine)) || own[strlen(mine)] != '"')) continue;
    if (!own) continue;
    found = 1;
    end = strstr(own, key);
    if (end) *end = 0;
    take_samples(own, &j->samples, j->source, hadron_numbers(&j->hadrons));
    if (end) *end = *key;
  }
  if (!found) {
    describe_job(jobs, mine, sizeof mine);
    fprintf(stderr, "--continue: %s: of another run\n  there %.*s\n  here  %s\n", jobs->json_file, (int)strcspn(theirs, "\""), theirs,
            mine);
    exit(1);
  }
  free(text);
}

/* A configuration, for the jobs of which an earlier run has not all. 0: interrupted. */
static int configuration(plaq_context context, job *jobs, int c) {
  plaq_multigrid multigrid[2] = {{0}, {0}};
  plaq_gauge links, smeared = {0};
  int missing[MOST_KAPPAS], k, s, q, last = -1, done = 1;
  for (k = 0; k < jobs->jobs; k++) {
    const job *j = jobs + k;
    missing[k] = !j->times;
    for (s = 0; j->times && s < j->sources; s++) {
      char name[100];
      source_name(j->source + s, name, sizeof name);
      if (!sample_of(&j->samples, c, s)->numbers) missing[k] = 1;
      else fprintf(stderr, "  %s, %s: skipped, %s has it\n", j->samples.files[c], name, j->json_file);
    }
    if (missing[k]) last = k;
  }
  if (last < 0) return 1;
  if (jobs->samples.configurations > 1) fprintf(stderr, "  %s\n", jobs->samples.files[c]);
  links = read_links(context, jobs, c);
  for (k = 0; k <= last && done; k++) {
    job *j = jobs + k;
    plaq_dirac dirac[2];
    if (!missing[k]) continue;
    if (j->jobs > 1) fprintf(stderr, "  kappa %.10g\n", j->kappa[0]);
    make_operators(context, j, k == last, &links, &smeared, dirac);
    done = run(context, smeared, dirac, j, c, multigrid);
    for (q = 0; q < j->quarks; q++) OK(plaq_dirac_destroy(dirac[q]));
  }
  for (q = 0; q < jobs->quarks; q++) OK(plaq_multigrid_destroy(multigrid[q]));
  OK(plaq_gauge_destroy(links));
  OK(plaq_gauge_destroy(smeared));
  return done;
}

int main(int argc, char **argv) {
  job *jobs = read_options(argc, argv);
  plaq_context context = open_context(argc, argv);
  int c, k, finished = 1, converged = 1;
  OK(plaq_context_name(context, jobs->device, sizeof jobs->device));
  fprintf(stderr, "propagator on %s\n", jobs->device);
  for (k = 1; k < jobs->jobs; k++) memcpy(jobs[k].device, jobs->device, sizeof jobs->device);
  jobs->written = now();
  if (jobs->goes_on) go_on(jobs);
  watch_signals();
  for (c = 0; c < jobs->samples.configurations && finished; c++) finished = configuration(context, jobs, c);
  for (k = 0; k < jobs->jobs; k++) {
    converged = converged && jobs[k].solve.converged;
    average(jobs + k);
    if (has_begun(jobs + k)) print_table(jobs + k);
  }
  if (*jobs->json_file && first_rank(context)) write_json(jobs);
  if (*jobs->plot_file && first_rank(context)) write_plot(jobs);
  for (k = 0; k < jobs->jobs; k++) {
    free(jobs[k].values);
    free(jobs[k].deviations);
    end_samples(&jobs[k].samples);
  }
  free(jobs);
  OK(plaq_context_destroy(context));
  return converged && finished ? 0 : 3;
}
