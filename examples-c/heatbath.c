/* heatbath: quenched SU(3) configurations of the Wilson action, from a start to files.
 *
 *   heatbath --lattice X,Y,Z,T --beta B [--start hot|cold|FILE] [--seed S] [--overrelax N]
 *            [--thermalise SWEEPS] [--separation SWEEPS] [--configurations N]
 *            [--out PREFIX] [--format nersc|nersc3x3|ildg|milc|openqcd|ddalphaamg]
 *            [--plot FILE.svg] [--device auto|cpu|cuda] [--threads N]
 *
 * A sweep is one heat bath and N overrelaxations of every link. Configuration n goes to
 * PREFIX.0000n; without --out nothing is written. With a file as start its lattice counts. --plot draws the
 * plaquette over all sweeps.
 *
 * test: --lattice 4,4,4,8 --beta 6.0 --thermalise 20 --separation 5 --configurations 2 --out $OUT/quenched --format nersc --plot $OUT/history.svg
 * test: --lattice 4,6,2,4 --beta 5.7 --start cold --thermalise 5 --out $OUT/cold --format openqcd
 * test: --start tests/data/quenched-b6.0-4x4x4x8.ildg --beta 6.0 --thermalise 1
 */
#include "plot.h"

static const char HELP[] =
    "usage: heatbath --lattice X,Y,Z,T --beta B [--start hot|cold|FILE] [--seed S] [--overrelax N]\n"
    "                [--thermalise SWEEPS] [--separation SWEEPS] [--configurations N]\n"
    "                [--out PREFIX] [--format nersc|nersc3x3|ildg|milc|openqcd|ddalphaamg]\n"
    "                [--plot FILE.svg] [--device auto|cpu|cuda] [--threads N]\n"
    "  --plot: the plaquette after every sweep as a picture\n" GRID_HELP;
static const char OPTIONS[] =
    "--lattice --beta --start --seed --overrelax --thermalise --separation --configurations --out --format "
    "--plot --device --threads" GRID_OPTION;

static int32_t progress(int64_t done, int64_t all, double seconds, void *user) {
  double *shown = user;
  if (seconds - *shown > 0.5 || done == all) {
    fprintf(stderr, "\r  sweep %lld of %lld, %.1f s%s", (long long)done, (long long)all, seconds,
            done == all ? "\n" : " ");
    *shown = seconds;
  }
  return 0;
}

/* With a history in steps of a sweep, at each of which the plaquette is measured. */
static void update(plaq_gauge gauge, plaq_update_params *params, int64_t sweeps, plot_points *history) {
  plaq_update_report report;
  double shown = 0;
  if (sweeps == 0) return;
  for (; history && sweeps > 0; sweeps--) {
    plaq_plaquette now;
    params->sweeps = 1;
    OK(plaq_update_report_init(&report, sizeof report));
    OK(plaq_gauge_update(gauge, params, NULL, NULL, &report));
    params->first_sweep = report.next_sweep;
    OK(plaq_gauge_plaquette(gauge, &now));
    plot_add(history, (double)report.next_sweep, now.total);
  }
  if (sweeps == 0) return;
  params->sweeps = sweeps;
  OK(plaq_update_report_init(&report, sizeof report));
  OK(plaq_gauge_update(gauge, params, progress, &shown, &report));
  params->first_sweep = report.next_sweep;
}

static void write_file(plaq_gauge gauge, const char *prefix, int32_t format, int n) {
  plaq_write_params p;
  char *name = malloc(strlen(prefix) + 16);
  if (!name) exit(1);
  sprintf(name, "%s.%05d", prefix, n);
  OK(plaq_write_params_init(&p, sizeof p));
  p.format = format;
  p.sequence_number = n;
  p.creator = "plaq heatbath";
  OK(plaq_gauge_write_file(gauge, name, &p));
  printf("  %s", name);
  free(name);
}

int main(int argc, char **argv) {
  plaq_context context;
  plaq_gauge gauge;
  plaq_update_params update_params;
  const char *start, *out, *plot;
  plot_points history = {0};
  int64_t seed, thermalise, separation, configurations, n;
  int32_t format;
  check_options(argc, argv, OPTIONS, HELP);
  start = option(argc, argv, "--start", "hot");
  out = option(argc, argv, "--out", "");
  plot = option(argc, argv, "--plot", "");
  seed = integer(argc, argv, "--seed", "1");
  thermalise = integer(argc, argv, "--thermalise", "200");
  separation = integer(argc, argv, "--separation", "20");
  configurations = integer(argc, argv, "--configurations", "1");
  format = choose(argc, argv, "--format", "ildg", FORMATS);
  if (thermalise < 0 || separation < 0 || configurations < 1) usage_error("sweeps and configurations", "out of range");
  OK(plaq_update_params_init(&update_params, sizeof update_params));
  update_params.beta = number(argc, argv, "--beta", NULL);
  update_params.seed = seed;
  update_params.overrelax = integer(argc, argv, "--overrelax", "4");

  context = open_context(argc, argv);
  if (!strcmp(start, "hot") || !strcmp(start, "cold")) {
    plaq_gauge_params p;
    OK(plaq_gauge_params_init(&p, sizeof p));
    integers("--lattice", option(argc, argv, "--lattice", NULL), p.extents, 4);
    divide(context, p.extents);
    OK(plaq_gauge_create(context, &p, &gauge));
    if (!strcmp(start, "hot")) OK(plaq_gauge_hot(gauge, seed));
    else OK(plaq_gauge_unit(gauge));
  } else {
    OK(plaq_gauge_read_file(context, start, NULL, &gauge, NULL));
  }

  printf("# beta %.6g, seed %lld\n# configuration, sweeps, plaquette, spatial, temporal, file\n", update_params.beta,
         (long long)seed);
  update(gauge, &update_params, thermalise, *plot ? &history : NULL);
  for (n = 1; n <= configurations; n++) {
    plaq_plaquette plaquette;
    if (n > 1) update(gauge, &update_params, separation, *plot ? &history : NULL);
    OK(plaq_gauge_plaquette(gauge, &plaquette));
    printf("%6d %8lld  %.12f %.12f %.12f", (int)n, (long long)update_params.first_sweep, plaquette.total,
           plaquette.spatial, plaquette.temporal);
    if (*out) write_file(gauge, out, format, (int)n);
    printf("\n");
    fflush(stdout);
  }
  if (*plot && first_rank(context)) {
    char title[80];
    plot_series series = plot_history("plaquette", "#0072b2", &history);
    snprintf(title, sizeof title, "Plaquette, beta %.6g", update_params.beta);
    plot_write(plot, title, "sweep", "plaquette", &series, 1);
  }
  plot_free(&history);
  OK(plaq_context_destroy(context));
  return 0;
}
