/* heatbath: quenched SU(3) configurations of the Wilson action, from a start to files.
 *
 *   heatbath --lattice X,Y,Z,T --beta B [--start hot|cold|FILE] [--seed S] [--overrelax N]
 *            [--thermalise SWEEPS] [--separation SWEEPS] [--configurations N]
 *            [--out PREFIX] [--format nersc|nersc3x3|ildg|milc|openqcd|ddalphaamg] [--overwrite no|yes]
 *            [--plot FILE.svg] [--json FILE] [--device auto|cpu|cuda] [--threads N]
 *   heatbath --continue FILE [--separation SWEEPS] [--configurations N] [--out PREFIX] ...
 *
 * A sweep is one heat bath and N overrelaxations of every link. Configuration n goes to
 * PREFIX.0000n; without --out nothing is written. With a file as start its lattice counts. --plot draws the
 * plaquette over all sweeps and, after the thermalisation, its mean with the error from the autocorrelation. Files that are there already are kept, and nothing is done, unless --overwrite yes.
 *
 * --continue goes on after a configuration that heatbath wrote in double precision with all three rows (ildg,
 * nersc3x3): beta, seed, sweep, overrelaxations, separation and number are those of the file, the next
 * configuration is the one that the run would have written, bit for bit. Options that say otherwise are refused, but
 * for --separation. Ctrl-C and SIGTERM end the program after a sweep with status 3.
 *
 * test: --lattice 4,4,4,8 --beta 6.0 --thermalise 20 --separation 5 --configurations 2 --out $OUT/quenched --format nersc --plot $OUT/history.svg --json $OUT/history.json
 * test: --lattice 4,6,2,4 --beta 5.7 --start cold --thermalise 5 --out $OUT/cold --format openqcd
 * test: --start tests/data/quenched-b6.0-4x4x4x8.ildg --beta 6.0 --thermalise 1
 * test: --lattice 4,4,4,8 --beta 6.0 --thermalise 5 --separation 2 --configurations 1 --out $OUT/stream
 * test: --continue $OUT/stream.00001 --configurations 1 --out $OUT/stream --lattice 4,4,4,8
 */
#include "plot.h"

static const char HELP[] =
    "usage: heatbath --lattice X,Y,Z,T --beta B [options]\n"
    "       heatbath --continue FILE [options]\n"
    "Quenched SU(3) configurations of the Wilson action by heat bath and overrelaxation.\n"
    "  --lattice X,Y,Z,T    even extents; of a file as start they are the file's\n"
    "  --beta B             coupling\n"
    "  --start S            hot, cold, or a configuration's file (hot)\n"
    "  --continue FILE      go on after a configuration that heatbath wrote (ildg or nersc3x3) as if it had\n"
    "                       not stopped: beta, seed, sweep and number are the file's\n"
    "  --seed S             of the random numbers (1)\n"
    "  --overrelax N        overrelaxations after each heat bath (4)\n"
    "  --thermalise N       sweeps before the first configuration (200)\n"
    "  --separation N       sweeps between configurations (20)\n"
    "  --configurations N   how many (1)\n"
    "  --out PREFIX         configuration n goes to PREFIX.0000n (none is written)\n"
    "  --format F           nersc, nersc3x3, ildg, milc, openqcd or ddalphaamg (ildg)\n"
    "  --overwrite B        yes: files that are there already are replaced (no)\n"
    "  --plot FILE.svg      the plaquette after every sweep as a picture, with its mean and error\n"
    "  --json FILE          plaquettes of all configurations as JSON (none)\n"
    "  --device D           auto, cpu or cuda (auto)\n"
    "  --threads N          of the CPU; 0: all (0)\n" GRID_HELP
    "  --help, -h, --version\n"
    "example: heatbath --lattice 8,8,8,16 --beta 6.0 --configurations 10 --out b6.0\n";
static const char OPTIONS[] =
    "--lattice --beta --start --continue --seed --overrelax --thermalise --separation --configurations --out --format "
    "--overwrite --plot --json --device --threads" GRID_OPTION;
static const char *const NEEDS[] = {
    "--format: --out",
    "--overwrite: --out --plot --json",
    NULL};

/* Where a stream of configurations is; a file's label says it. */
typedef struct place {
  int64_t number, separation; /* of the last configuration, 0: none yet */
  plaq_update_params update;  /* first_sweep: sweeps done */
} place;

static const char RECORD[] = "plaq heatbath, configuration %lld, sweep %lld, beta %.17g, seed %lld, overrelax %lld, separation %lld";
static const char RECORD_READ[] = "plaq heatbath, configuration %lld, sweep %lld, beta %lg, seed %lld, overrelax %lld, separation %lld%n";

/* The place of a file. */
static place read_place(const char *file) {
  char label[512];
  long long number, sweep, seed, overrelax, separation;
  int32_t found;
  int end = 0;
  place at;
  OK(plaq_update_params_init(&at.update, sizeof at.update));
  OK(plaq_gauge_file_text(file, PLAQ_FILE_TEXT_ENSEMBLE_LABEL, label, sizeof label, &found));
  if (sscanf(label, RECORD_READ, &number, &sweep, &at.update.beta, &seed, &overrelax, &separation, &end) != 6 || label[end]) {
    fprintf(stderr, "--continue: %s: has no record of heatbath, which writes one to files of the formats ildg and nersc3x3\n", file);
    exit(1);
  }
  at.number = number;
  at.separation = separation;
  at.update.first_sweep = sweep;
  at.update.seed = seed;
  at.update.overrelax = overrelax;
  return at;
}

/* An option must be absent or say what the file says. */
static void agrees(int argc, char **argv, const char *name, double of_file) {
  if (!*option(argc, argv, name, "") || number(argc, argv, name, NULL) == of_file) return;
  fprintf(stderr, "%s: %s; the file of --continue has %.15g; --help lists the options\n", name, option(argc, argv, name, ""),
          of_file);
  exit(2);
}

static int32_t progress(int64_t done, int64_t all, double seconds, void *user) {
  double *shown = user;
  if (shown && (done == all || progress_due(seconds, shown)))
    progress_line(done == all, "  sweep %lld of %lld, %.1f s", (long long)done, (long long)all, seconds);
  return interrupted;
}

/* What is measured on a configuration. */
typedef struct measurement {
  int64_t number, sweeps;
  plaq_plaquette plaquette;
  char *file; /* NULL: not written */
} measurement;

static void write_json(const char *name, const place *at, const int32_t *lattice, const measurement *all, int64_t count, int done) {
  const plaq_update_params *u = &at->update;
  FILE *f = begin_file(name);
  int64_t k;
  fprintf(f, "{\n  \"version\": \"%s\",\n  \"lattice\": [%d, %d, %d, %d],\n", plaq_version(), lattice[0], lattice[1],
          lattice[2], lattice[3]);
  fprintf(f, "  \"beta\": %.17g, \"seed\": %lld, \"overrelax\": %lld, \"separation\": %lld,\n", u->beta, (long long)u->seed,
          (long long)u->overrelax, (long long)at->separation);
  fprintf(f, "  \"sweeps\": %lld, \"stopped\": %s,\n  \"configurations\": [", (long long)u->first_sweep, done ? "false" : "true");
  for (k = 0; k < count; k++) {
    const plaq_plaquette *p = &all[k].plaquette;
    fprintf(f, "%s\n    {\"number\": %lld, \"sweeps\": %lld, \"total\": %.17g, \"spatial\": %.17g, \"temporal\": %.17g, \"file\": ",
            k ? "," : "", (long long)all[k].number, (long long)all[k].sweeps, p->total, p->spatial, p->temporal);
    if (all[k].file) json_text(f, all[k].file);
    else fprintf(f, "null");
    fprintf(f, "}");
  }
  fprintf(f, "%s]\n}\n", count ? "\n  " : "");
  end_file(f, name);
}

/* With a history in steps of a sweep, at each of which the plaquette is measured. 0: interrupted. */
static int update(plaq_gauge gauge, place *at, int64_t sweeps, plot_points *history) {
  plaq_update_report report;
  double shown = 0;
  if (sweeps == 0) return 1;
  at->update.sweeps = history ? 1 : sweeps;
  for (; sweeps > 0; sweeps -= at->update.sweeps) {
    OK(plaq_update_report_init(&report, sizeof report));
    /* On many ranks one that is interrupted stops all. */
    OK(plaq_gauge_update(gauge, &at->update, progress, history ? NULL : &shown, &report));
    at->update.first_sweep = report.next_sweep;
    if (report.stopped) return 0;
    if (history) {
      plaq_plaquette now;
      OK(plaq_gauge_plaquette(gauge, &now));
      plot_add(history, (double)report.next_sweep, now.total);
    }
  }
  return 1;
}

static char *file_name(const char *prefix, int64_t n) {
  char *name = malloc(strlen(prefix) + 24);
  if (!name) usage_error("memory", "exhausted");
  sprintf(name, "%s.%05lld", prefix, (long long)n);
  return name;
}

/* Its name. */
static char *write_file(plaq_gauge gauge, const char *prefix, int32_t format, const place *at) {
  char *name = file_name(prefix, at->number), label[512];
  const plaq_update_params *u = &at->update;
  snprintf(label, sizeof label, RECORD, (long long)at->number, (long long)u->first_sweep, u->beta, (long long)u->seed,
           (long long)u->overrelax, (long long)at->separation);
  PLAQ_INIT(plaq_write_params, p);
  p.format = format;
  p.sequence_number = at->number;
  p.creator = "plaq heatbath";
  p.ensemble_label = label;
  OK(plaq_gauge_write_file(gauge, name, &p));
  printf("  %s", name);
  return name;
}

/* The links of a file; those of a stream as they are. */
static plaq_gauge read_gauge(int argc, char **argv, plaq_context context, const char *file, int as_they_are) {
  plaq_gauge gauge;
  PLAQ_INIT(plaq_read_params, p);
  PLAQ_INIT(plaq_file_report, report);
  if (*option(argc, argv, "--lattice", "")) integers("--lattice", option(argc, argv, "--lattice", NULL), p.extents, 4);
  if (as_they_are) p.project = 0;
  OK(plaq_gauge_read_file(context, file, &p, &gauge, &report));
  if (as_they_are && (report.precision != PLAQ_PRECISION_DOUBLE || report.format == PLAQ_FILE_FORMAT_NERSC)) {
    fprintf(stderr, "--continue: %s: expected all rows of the links in double precision (ildg, nersc3x3), found %s\n", file,
            name_of(report.format, FORMATS));
    exit(1);
  }
  return gauge;
}

int main(int argc, char **argv) {
  plaq_context context;
  plaq_gauge gauge;
  place at;
  const char *start, *from, *out, *plot, *json;
  measurement *all;
  int64_t count = 0;
  int32_t lattice[4];
  int mu;
  plot_points history = {0};
  int64_t thermalise, configurations, n, last;
  int32_t format, overwrite, done = 1;
  check_options(argc, argv, OPTIONS, NEEDS, HELP);
  from = option(argc, argv, "--continue", "");
  start = option(argc, argv, "--start", "hot");
  out = option(argc, argv, "--out", "");
  plot = option(argc, argv, "--plot", "");
  json = option(argc, argv, "--json", "");
  thermalise = integer(argc, argv, "--thermalise", *from ? "0" : "200");
  configurations = integer(argc, argv, "--configurations", "1");
  format = choose(argc, argv, "--format", "ildg", FORMATS);
  overwrite = choose(argc, argv, "--overwrite", "no", YES_NO);
  if (*from) {
    if (*option(argc, argv, "--start", "")) usage_error("--start", "a stream that goes on starts from the file of --continue");
    if (thermalise != 0) usage_error("--thermalise", "has been done in a stream that goes on");
    at = read_place(from);
    agrees(argc, argv, "--beta", at.update.beta);
    agrees(argc, argv, "--seed", (double)at.update.seed);
    agrees(argc, argv, "--overrelax", (double)at.update.overrelax);
  } else {
    OK(plaq_update_params_init(&at.update, sizeof at.update));
    at.number = 0;
    at.separation = 20;
    at.update.beta = number(argc, argv, "--beta", NULL);
    at.update.seed = integer(argc, argv, "--seed", "1");
    at.update.overrelax = integer(argc, argv, "--overrelax", "4");
  }
  if (*option(argc, argv, "--separation", "")) at.separation = integer(argc, argv, "--separation", NULL);
  if (thermalise < 0) usage_error("--thermalise", "expected 0 or more");
  if (at.separation < 0) usage_error("--separation", "expected 0 or more");
  if (configurations < 1) usage_error("--configurations", "expected 1 or more");
  last = at.number + configurations;
  for (n = at.number + 1; *out && n <= last; n++) {
    char *name = file_name(out, n);
    if (n == at.number + 1 || (!overwrite && exists(name))) check_output(name, overwrite);
    free(name);
  }
  check_plot(plot, overwrite);
  check_output(json, overwrite);

  context = open_context(argc, argv);
  if (*from) {
    gauge = read_gauge(argc, argv, context, from, 1);
  } else if (!strcmp(start, "hot") || !strcmp(start, "cold")) {
    PLAQ_INIT(plaq_gauge_params, p);
    integers("--lattice", option(argc, argv, "--lattice", NULL), p.extents, 4);
    divide(context, p.extents);
    OK(plaq_gauge_create(context, &p, &gauge));
    if (!strcmp(start, "hot")) OK(plaq_gauge_hot(gauge, at.update.seed));
    else OK(plaq_gauge_unit(gauge));
  } else {
    gauge = read_gauge(argc, argv, context, start, 0);
  }

  PLAQ_INIT(plaq_gauge_report, shape);
  OK(plaq_gauge_describe(gauge, &shape));
  PLAQ_INIT(plaq_context_report, ranks);
  OK(plaq_context_describe(context, &ranks));
  for (mu = 0; mu < 4; mu++) lattice[mu] = shape.extents[mu] * ranks.grid[mu];
  all = calloc((size_t)configurations, sizeof *all);
  if (!all) usage_error("memory", "exhausted");

  watch_signals();
  printf("# beta %.6g, seed %lld\n# configuration, sweeps, plaquette, spatial, temporal, file\n", at.update.beta,
         (long long)at.update.seed);
  if (*from) printf("# continues %s after sweep %lld\n", from, (long long)at.update.first_sweep);
  while (at.number < last) {
    measurement *here = all + count;
    if (!update(gauge, &at, at.number > 0 ? at.separation : thermalise, *plot ? &history : NULL)) {
      printf("# INTERRUPTED after sweep %lld, before configuration %lld\n", (long long)at.update.first_sweep,
             (long long)at.number + 1);
      done = 0;
      break;
    }
    here->number = ++at.number;
    here->sweeps = at.update.first_sweep;
    OK(plaq_gauge_plaquette(gauge, &here->plaquette));
    printf("%6lld %8lld  %.12f %.12f %.12f", (long long)here->number, (long long)here->sweeps, here->plaquette.total,
           here->plaquette.spatial, here->plaquette.temporal);
    if (*out) here->file = write_file(gauge, out, format, &at);
    count++;
    printf("\n");
    fflush(stdout);
  }
  if (*plot && first_rank(context)) {
    char title[80], name[160] = "plaquette";
    plot_series series = plot_history(name, "#0072b2", &history);
    /* The last sweep of the thermalisation makes the first configuration. */
    int first = thermalise > 1 ? (int)thermalise - 1 : 0, count = history.count > first ? history.count - first : 0;
    history_mean m = mean_of_history(history.values + (count ? first : 0), count);
    if (isfinite(m.error)) {
      series.mean = m.mean, series.error = m.error, series.first = first;
      snprintf(name, sizeof name, "plaquette, mean %.6f, error %.1e, autocorrelation time %.1f", m.mean, m.error, m.tau);
      printf("# plaquette of %d sweeps: mean %.12f, error %.2e, autocorrelation time %.2f\n", count, m.mean, m.error, m.tau);
    }
    snprintf(title, sizeof title, "Plaquette, beta %.6g", at.update.beta);
    plot_write(plot, title, "sweep", "plaquette", &series, 1);
  }
  plot_free(&history);
  if (*json && first_rank(context)) write_json(json, &at, lattice, all, count, done);
  for (n = 0; n < count; n++) free(all[n].file);
  free(all);
  OK(plaq_context_destroy(context));
  return done ? 0 : 3;
}
