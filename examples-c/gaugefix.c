/* gaugefix: Landau, Coulomb or maximally Abelian gauge of a configuration in a file.
 *
 *   gaugefix --gauge FILE [--condition landau|coulomb|mag] [--time MU] [--residual no|yes]
 *            [--method overrelaxation|relaxation|stochastic|annealing|combined|fourier-descent|fourier-cg]
 *            [--precision single|mixed|double] [--omega W] [--alpha A] [--probability P] [--stochastic-sweeps N]
 *            [--hot T] [--cold T] [--temperatures N] [--microcanonical N] [--logarithmic no|yes]
 *            [--stop-theta T] [--stop-theta-max T] [--stop-change C] [--max-iterations N]
 *            [--check-every N] [--copies N] [--random-start no|yes] [--seed S]
 *            [--out FILE] [--format nersc|nersc3x3|ildg|milc|openqcd|ddalphaamg]
 *            [--transformation FILE] [--json FILE] [--history FILE] [--plot FILE.svg]
 *            [--device auto|cpu|cuda] [--threads N]
 *
 * docs/gaugefix.md explains them. Options that are left out have the library's defaults. The table
 * goes to the standard output, progress to the standard error. Status: 0 done, 1 refused, 2 wrong
 * options, 3 not converged or interrupted; what was reached is written all the same.
 *
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --out $OUT/landau --transformation $OUT/landau.g --json $OUT/landau.json
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --condition coulomb --time 0 --copies 2 --precision double --json $OUT/coulomb.json
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --condition mag --residual yes --method relaxation --precision single --stop-theta 1e-12 --out $OUT/mag --format milc
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --method annealing --temperatures 50 --logarithmic yes --random-start yes --stop-theta 0 --stop-change 1e-9 --history $OUT/history
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --condition coulomb --method fourier-cg --check-every 1 --plot $OUT/fourier.svg
 */
#include "plot.h"

static const char HELP[] =
    "usage: gaugefix --gauge FILE [options]\n"
    "Landau, Coulomb or maximally Abelian gauge of a configuration (docs/gaugefix.md).\n"
    "  --gauge FILE         configuration: NERSC, ILDG, MILC, openQCD or DDalphaAMG, found out by itself\n"
    "  --condition C        landau, coulomb or mag: maximally Abelian (landau)\n"
    "  --time MU            of Coulomb gauge: the direction that is left out, 0 to 3 for x, y, z, t (3)\n"
    "  --residual B         yes: after mag Landau gauge by diagonal transformations (no)\n"
    "  --method M           overrelaxation, relaxation, stochastic, annealing, combined, fourier-descent or\n"
    "                       fourier-cg (overrelaxation)\n"
    "  --precision P        single, mixed or double (mixed)\n"
    "  --omega W            power of overrelaxation, 1 to below 2 (1.7)\n"
    "  --alpha A            step of the Fourier-accelerated methods (0.08)\n"
    "  --probability P      of stochastic relaxation, 0 to below 1 (0.5)\n"
    "  --stochastic-sweeps N  sweeps of it in combined (1000)\n"
    "  --hot T, --cold T    first and last temperature of annealing (1.4, 0.1)\n"
    "  --temperatures N     how many, a heat bath each (1000)\n"
    "  --microcanonical N   sweeps after each heat bath (3)\n"
    "  --logarithmic B      yes: temperatures with equal ratios, no: with equal differences (no)\n"
    "  --stop-theta T       largest violation theta; 0: not asked for (1e-12, in single precision 1e-11)\n"
    "  --stop-theta-max T   largest violation of a site; 0: not asked for (0)\n"
    "  --stop-change C      largest rise of the functional in a sweep; 0: not asked for (0)\n"
    "  --max-iterations N   sweeps after which a copy is given up (20000)\n"
    "  --check-every N      sweeps between two looks at the violation (10)\n"
    "  --copies N           gauge copies, of which the best is kept (1)\n"
    "  --random-start B     yes: the first copy starts from a random transformation, too (no)\n"
    "  --seed S             of the random numbers (1)\n"
    "  --out FILE           the fixed links (none is written)\n"
    "  --format F           of it: nersc, nersc3x3, ildg, milc, openqcd or ddalphaamg (ildg)\n"
    "  --transformation F   the matrices g(x) as this machine's doubles without a header: sites with x fastest,\n"
    "                       then y, z, t; each 3 x 3, row major, real and imaginary part; one rank only (none)\n"
    "  --json FILE          all results as JSON (none)\n"
    "  --history FILE       a line for every look: copy, sweeps, functional, theta, temperature (none)\n"
    "  --plot FILE.svg      functional and theta of all looks as a picture (none)\n"
    "  --device D           auto, cpu or cuda (auto)\n"
    "  --threads N          of the CPU; 0: all (0)\n" GRID_HELP
    "  --help, -h, --version\n"
    "example: gaugefix --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --condition coulomb --out coulomb.ildg\n";
static const char OPTIONS[] =
    "--gauge --condition --time --residual --method --precision --omega --alpha --probability --stochastic-sweeps "
    "--hot --cold --temperatures --microcanonical --logarithmic --stop-theta --stop-theta-max --stop-change "
    "--max-iterations --check-every --copies --random-start --seed --out --format --transformation --json --history --plot "
    "--device --threads" GRID_OPTION;
static const char *const NEEDS[] = {
    "--time: --condition=coulomb",
    "--residual: --condition=mag",
    "--omega: --method=(overrelaxation)|annealing|combined --residual",
    "--alpha: --method=fourier-descent|fourier-cg",
    "--probability: --method=stochastic|combined",
    "--stochastic-sweeps: --method=combined",
    "--hot --cold --temperatures --microcanonical --logarithmic: --method=annealing|combined",
    "--seed: --copies --random-start=yes --method=stochastic|annealing|combined",
    "--format: --out",
    NULL};

enum { NUMBERS = 18 }; /* of a matrix of SU(3) */

static const choice CONDITIONS[] = {{"landau", PLAQ_GAUGEFIX_LANDAU},
                                    {"coulomb", PLAQ_GAUGEFIX_COULOMB},
                                    {"mag", PLAQ_GAUGEFIX_MAXIMALLY_ABELIAN},
                                    {NULL, 0}};
/* Relaxation is overrelaxation with omega = 1. */
static const choice METHODS[] = {{"overrelaxation", PLAQ_GAUGEFIX_OVERRELAXATION},
                                 {"stochastic", PLAQ_GAUGEFIX_STOCHASTIC},
                                 {"annealing", PLAQ_GAUGEFIX_ANNEALING},
                                 {"combined", PLAQ_GAUGEFIX_COMBINED},
                                 {"relaxation", PLAQ_GAUGEFIX_OVERRELAXATION},
                                 {"fourier-descent", PLAQ_GAUGEFIX_FOURIER_DESCENT},
                                 {"fourier-cg", PLAQ_GAUGEFIX_FOURIER_CG},
                                 {NULL, 0}};
static const choice PRECISIONS[] = {{"single", PLAQ_GAUGEFIX_SINGLE},
                                    {"mixed", PLAQ_GAUGEFIX_MIXED},
                                    {"double", PLAQ_GAUGEFIX_DOUBLE},
                                    {NULL, 0}};
static const choice NO_YES[] = {{"no", 0}, {"yes", 1}, {NULL, 0}};

/* The job: what was asked for and what came of it. */
typedef struct job {
  const char *gauge_file, *out_file, *transformation_file, *json_file, *history_file, *plot_file, *method;
  FILE *history; /* or NULL */
  plot_points functional, theta;
  double shown;
  int32_t format;
  plaq_gaugefix_params params;
  char device[256];
  plaq_file_report file;
  plaq_plaquette before, after;
  plaq_unitarity unitarity; /* of the fixed links */
  plaq_gaugefix_report report;
  plaq_gaugefix_state *copies, *slices;
  int64_t copy_count, slice_count;
} job;

/* A line in the history, and now and then one for the user. */
static int32_t progress(int64_t copy, int64_t sweeps, double functional, double theta, double temperature, void *user) {
  job *j = user;
  if (*j->plot_file) {
    plot_add(&j->functional, (double)sweeps, functional);
    plot_add(&j->theta, (double)sweeps, theta > 0 ? log10(theta) : NAN);
  }
  if (j->history)
    fprintf(j->history, "%lld %lld %.17g %.9g %.9g\n", (long long)copy, (long long)sweeps, functional, theta, temperature);
  if (progress_due((double)time(NULL), &j->shown)) {
    char hot[40] = "";
    if (temperature > 0) snprintf(hot, sizeof hot, ", temperature %.4f", temperature);
    progress_line(0, "  copy %lld, %lld sweeps, functional %.10f, theta %.2e%s", (long long)copy, (long long)sweeps, functional,
                  theta, hot);
  }
  return interrupted;
}

/* Options that are given replace defaults of the library. */
static void set_number(int argc, char **argv, const char *name, double *to) {
  if (*option(argc, argv, name, "")) *to = number(argc, argv, name, NULL);
}
static void set_integer(int argc, char **argv, const char *name, int64_t *to) {
  if (*option(argc, argv, name, "")) *to = integer(argc, argv, name, NULL);
}

static job read_options(int argc, char **argv) {
  job j;
  plaq_gaugefix_params *p = &j.params;
  int64_t direction;
  memset(&j, 0, sizeof j);
  OK(plaq_gaugefix_params_init(p, sizeof *p));
  check_options(argc, argv, OPTIONS, NEEDS, HELP);
  j.gauge_file = option(argc, argv, "--gauge", NULL);
  j.out_file = option(argc, argv, "--out", "");
  j.transformation_file = option(argc, argv, "--transformation", "");
  j.json_file = option(argc, argv, "--json", "");
  j.history_file = option(argc, argv, "--history", "");
  j.plot_file = option(argc, argv, "--plot", "");
  check_output(j.out_file, 1);
  check_output(j.transformation_file, 1);
  check_output(j.json_file, 1);
  check_output(j.history_file, 1);
  check_plot(j.plot_file, 1);
  j.format = choose(argc, argv, "--format", "ildg", FORMATS);
  j.method = option(argc, argv, "--method", "overrelaxation");
  p->condition = choose(argc, argv, "--condition", "landau", CONDITIONS);
  p->method = choose(argc, argv, "--method", "overrelaxation", METHODS);
  p->precision = choose(argc, argv, "--precision", "mixed", PRECISIONS);
  p->residual = choose(argc, argv, "--residual", "no", NO_YES);
  p->logarithmic = choose(argc, argv, "--logarithmic", "no", NO_YES);
  p->random_start = choose(argc, argv, "--random-start", "no", NO_YES);
  direction = p->time;
  set_integer(argc, argv, "--time", &direction);
  if (direction < 0 || direction > 3) refuse("--time", option(argc, argv, "--time", NULL), "0, 1, 2 or 3 for x, y, z or t");
  p->time = (int32_t)direction;
  set_number(argc, argv, "--omega", &p->omega);
  if (!strcmp(j.method, "relaxation")) {
    if (*option(argc, argv, "--omega", "")) usage_error("--omega", "relaxation has none");
    p->omega = 1;
  }
  set_number(argc, argv, "--alpha", &p->alpha);
  set_number(argc, argv, "--probability", &p->probability);
  set_integer(argc, argv, "--stochastic-sweeps", &p->stochastic_sweeps);
  set_number(argc, argv, "--hot", &p->hot);
  set_number(argc, argv, "--cold", &p->cold);
  set_integer(argc, argv, "--temperatures", &p->temperatures);
  set_integer(argc, argv, "--microcanonical", &p->microcanonical);
  set_number(argc, argv, "--stop-theta", &p->stop_theta);
  if (*option(argc, argv, "--stop-theta", "") && p->stop_theta < 0) usage_error("--stop-theta", "expected 0 or more");
  set_number(argc, argv, "--stop-theta-max", &p->stop_theta_max);
  set_number(argc, argv, "--stop-change", &p->stop_change);
  set_integer(argc, argv, "--max-iterations", &p->max_iterations);
  set_integer(argc, argv, "--check-every", &p->check_every);
  set_integer(argc, argv, "--copies", &p->copies);
  set_integer(argc, argv, "--seed", &p->seed);
  return j;
}

static void *memory(int64_t count, size_t size) {
  void *room = calloc(count > 0 ? (size_t)count : 1, size);
  if (!room) {
    fprintf(stderr, "no memory for %lld numbers\n", (long long)count);
    exit(1);
  }
  return room;
}

static plaq_gaugefix fix(plaq_gauge gauge, job *j, int first) {
  plaq_gaugefix result;
  OK(plaq_gaugefix_report_init(&j->report, sizeof j->report));
  if (*j->history_file && first) {
    j->history = begin_file(j->history_file);
    fprintf(j->history, "# copy, sweeps, functional, theta, temperature\n");
  }
  j->shown = (double)time(NULL);
  watch_signals();
  OK(plaq_gaugefix_run(gauge, &j->params, progress, j, &j->report, &result));
  signal(SIGINT, SIG_DFL);
  progress_end();
  if (j->history) end_file(j->history, j->history_file);
  OK(plaq_gaugefix_copies(result, NULL, 0, &j->copy_count));
  j->copies = memory(j->copy_count, sizeof *j->copies);
  OK(plaq_gaugefix_copies(result, j->copies, j->copy_count, &j->copy_count));
  OK(plaq_gaugefix_slices(result, -1, NULL, 0, &j->slice_count));
  j->slices = memory(j->slice_count, sizeof *j->slices);
  OK(plaq_gaugefix_slices(result, -1, j->slices, j->slice_count, &j->slice_count));
  return result;
}

static void write_links(plaq_gauge gauge, const job *j) {
  PLAQ_INIT(plaq_write_params, p);
  p.format = j->format;
  p.sequence_number = j->file.sequence_number;
  p.creator = "plaq gaugefix";
  OK(plaq_gauge_write_file(gauge, j->out_file, &p));
}

static void write_transformation(plaq_gaugefix result, const job *j) {
  const int32_t *l = j->file.extents;
  size_t count = (size_t)l[0] * l[1] * l[2] * l[3] * NUMBERS;
  double *g = memory((int64_t)count, sizeof *g);
  FILE *f = begin_file(j->transformation_file);
  OK(plaq_gaugefix_transformation(result, g));
  fwrite(g, sizeof *g, count, f);
  end_file(f, j->transformation_file);
  free(g);
}

static void print_states(const char *what, const plaq_gaugefix_state *states, int64_t count) {
  int64_t i;
  printf("#%8s  %16s  %10s  %10s  converged\n", what, "functional", "theta", "iterations");
  for (i = 0; i < count; i++)
    printf("%9lld  %16.12f  %10.3e  %10lld  %s\n", (long long)i, states[i].functional, states[i].theta,
           (long long)states[i].iterations, states[i].converged ? "yes" : "no");
}

static void print_table(const job *j) {
  const int32_t *l = j->file.extents;
  const plaq_gaugefix_report *r = &j->report;
  printf("# %s (%s), %d x %d x %d x %d, plaquette %.12f\n", j->gauge_file, name_of(j->file.format, FORMATS), l[0], l[1],
         l[2], l[3], j->before.total);
  printf("# %s gauge by %s, %s precision, %s\n", name_of(j->params.condition, CONDITIONS), j->method,
         name_of(j->params.precision, PRECISIONS), j->device);
  print_states("copy", j->copies, j->copy_count);
  if (j->slice_count > 0) print_states("slice", j->slices, j->slice_count);
  printf("# kept: functional %.12f, theta %.3e, copy %lld\n", r->functional, r->theta, (long long)r->best_copy);
  if (j->params.residual)
    printf("# residual: functional %.12f, theta %.3e\n", r->residual_functional, r->residual_theta);
  printf("# plaquette %.12f\n", j->after.total);
  printf("# %lld iterations, %.3f s%s\n", (long long)(r->iterations + r->residual_iterations), r->seconds,
         r->converged ? "" : r->stopped ? ", INTERRUPTED" : ", NOT CONVERGED");
}

static void json_states(FILE *f, const char *name, const plaq_gaugefix_state *states, int64_t count, const char *after) {
  int64_t i;
  fprintf(f, "  \"%s\": [", name);
  for (i = 0; i < count; i++)
    fprintf(f,
            "%s\n    {\"functional\": %.17g, \"theta\": %.17g, \"iterations\": %lld, \"converged\": %s, "
            "\"seconds\": %.9g}",
            i ? "," : "", states[i].functional, states[i].theta, (long long)states[i].iterations,
            states[i].converged ? "true" : "false", states[i].seconds);
  fprintf(f, "%s]%s\n", count ? "\n  " : "", after);
}

static void json_plaquette(FILE *f, const char *name, plaq_plaquette p) {
  fprintf(f, "  \"%s\": {\"total\": %.17g, \"spatial\": %.17g, \"temporal\": %.17g},\n", name, p.total, p.spatial,
          p.temporal);
}

static void write_json(const job *j) {
  const int32_t *l = j->file.extents;
  const plaq_gaugefix_params *p = &j->params;
  const plaq_gaugefix_report *r = &j->report;
  FILE *f = begin_file(j->json_file);
  fprintf(f, "{\n  \"version\": \"%s\",\n  \"device\": ", plaq_version());
  json_text(f, j->device);
  fprintf(f, ",\n  \"gauge\": {\"file\": ");
  json_text(f, j->gauge_file);
  fprintf(f, ", \"format\": \"%s\", \"lattice\": [%d, %d, %d, %d]},\n", name_of(j->file.format, FORMATS), l[0], l[1],
          l[2], l[3]);
  fprintf(f, "  \"condition\": \"%s\", \"time\": %d, \"method\": \"%s\", \"precision\": \"%s\",\n",
          name_of(p->condition, CONDITIONS), p->time, j->method, name_of(p->precision, PRECISIONS));
  fprintf(f, "  \"omega\": %.17g, \"alpha\": %.17g, \"stop_theta\": %.17g, \"stop_theta_max\": %.17g,\n", p->omega,
          p->alpha, r->stop_theta, p->stop_theta_max);
  fprintf(f, "  \"stop_change\": %.17g, \"seed\": %lld,\n", p->stop_change, (long long)p->seed);
  fprintf(f, "  \"functional\": %.17g, \"theta\": %.17g, \"iterations\": %lld,\n", r->functional, r->theta,
          (long long)r->iterations);
  if (p->residual)
    fprintf(f, "  \"residual\": {\"functional\": %.17g, \"theta\": %.17g, \"iterations\": %lld},\n",
            r->residual_functional, r->residual_theta, (long long)r->residual_iterations);
  fprintf(f, "  \"converged\": %s, \"stopped\": %s, \"seconds\": %.9g, \"best_copy\": %lld,\n",
          r->converged ? "true" : "false", r->stopped ? "true" : "false", r->seconds, (long long)r->best_copy);
  json_plaquette(f, "plaquette_before", j->before);
  json_plaquette(f, "plaquette_after", j->after);
  fprintf(f, "  \"unitarity\": {\"unitary\": %.9g, \"det\": %.9g},\n", j->unitarity.unitary, j->unitarity.det);
  json_states(f, "copies", j->copies, j->copy_count, ",");
  json_states(f, "slices", j->slices, j->slice_count, "");
  fprintf(f, "}\n");
  end_file(f, j->json_file);
}

static void write_plot(const job *j) {
  plot_series series[2];
  plot_panel panels[2];
  series[0] = plot_history("F", "#0072b2", &j->functional);
  series[1] = plot_history("theta", "#d55e00", &j->theta);
  panels[0] = (plot_panel){"Gauge functional", "sweep", "F", series, 1};
  panels[1] = (plot_panel){"Violation of the gauge condition", "sweep", "log10 theta", series + 1, 1};
  plot_page(j->plot_file, panels, 2);
}

int main(int argc, char **argv) {
  job j = read_options(argc, argv);
  plaq_context context = open_context(argc, argv);
  plaq_gauge gauge;
  plaq_gaugefix result;
  PLAQ_INIT(plaq_context_report, place);
  OK(plaq_context_describe(context, &place));
  if (*j.transformation_file && place.ranks > 1) usage_error("--transformation", "needs one rank");
  OK(plaq_context_name(context, j.device, sizeof j.device));
  fprintf(stderr, "gaugefix on %s\n", j.device);
  OK(plaq_file_report_init(&j.file, sizeof j.file));
  OK(plaq_gauge_read_file(context, j.gauge_file, NULL, &gauge, &j.file));
  OK(plaq_gauge_plaquette(gauge, &j.before));
  result = fix(gauge, &j, place.rank == 0);
  OK(plaq_gauge_plaquette(gauge, &j.after));
  OK(plaq_gauge_unitarity(gauge, &j.unitarity));
  if (*j.out_file) write_links(gauge, &j);
  if (*j.transformation_file) write_transformation(result, &j);
  print_table(&j);
  if (*j.json_file && place.rank == 0) write_json(&j);
  if (*j.plot_file && place.rank == 0) write_plot(&j);
  plot_free(&j.functional);
  plot_free(&j.theta);
  free(j.copies);
  free(j.slices);
  OK(plaq_context_destroy(context));
  return j.report.converged ? 0 : 3;
}
