/* flow: gradient flow of a configuration: action density, scales t0 and w0, topological charge.
 *
 *   flow --gauge FILE [--flow wilson|symanzik|zeuthen] [--step EPS] [--time T] [--tolerance D] [--every N]
 *        [--json FILE] [--plot FILE.svg] [--device auto|cpu|cuda] [--threads N]
 *
 * With --tolerance the steps are adaptive and --step is the first. Times are t / a^2. The report has arrays
 * flow.t, flow.plaquette_spatial, .plaquette_temporal (1 for unit links), .energy_spatial, .energy_temporal
 * (clover leaves, averages per site) and .charge.
 *
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --time 0.5 --every 5 --json $OUT/flow.json --plot $OUT/flow.svg
 * test: --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --flow zeuthen --time 0.3 --tolerance 1e-4
 */
#include "plot.h"

static const char HELP[] =
    "usage: flow --gauge FILE [options]\n"
    "Gradient flow of a configuration: action density, scales t0 and w0, topological charge.\n"
    "  --gauge FILE         configuration: NERSC, ILDG, MILC, openQCD or DDalphaAMG, found out by itself\n"
    "  --flow F             wilson, symanzik or zeuthen (wilson)\n"
    "  --step EPS           of the integrator; with --tolerance the first one (0.02)\n"
    "  --time T             flow time t / a^2 at the end (1)\n"
    "  --tolerance D        error of a step's links, which then sets the steps; 0: steps are equal (0)\n"
    "  --every N            steps from one measurement to the next (1)\n"
    "  --json FILE          all measurements as JSON (none)\n"
    "  --plot FILE.svg      t^2 E over t as a picture (none)\n"
    "  --device D           auto, cpu or cuda (auto)\n"
    "  --threads N          of the CPU; 0: all (0)\n" GRID_HELP
    "  --help, -h, --version\n"
    "example: flow --gauge tests/data/quenched-b6.0-4x4x4x8.ildg --time 2 --plot flow.svg\n";
static const char OPTIONS[] =
    "--gauge --flow --step --time --tolerance --every --json --plot --device --threads" GRID_OPTION;
static const choice FLOWS[] = {
    {"wilson", PLAQ_FLOW_WILSON}, {"symanzik", PLAQ_FLOW_SYMANZIK}, {"zeuthen", PLAQ_FLOW_ZEUTHEN}, {NULL, 0}};

static double clover(const plaq_flow_point *p) { return p->time * p->time * (p->energy_spatial + p->energy_temporal); }

static void array(FILE *f, const char *name, const plaq_flow_point *points, int64_t n, size_t offset, const char *end) {
  int64_t k;
  fprintf(f, "    \"%s\": [", name);
  for (k = 0; k < n; k++)
    fprintf(f, "%s%.17g", k ? ", " : "", *(const double *)((const char *)(points + k) + offset));
  fprintf(f, "]%s\n", end);
}

#define MEMBER(m) (size_t)((const char *)&points->m - (const char *)points)
static void write_json(const char *name, const char *gauge, const char *kind, const plaq_flow_params *p,
                       const plaq_flow_report *r, const plaq_flow_point *points, int64_t n) {
  FILE *f = begin_file(name);
  fprintf(f, "{\n  \"gauge\": ");
  json_text(f, gauge);
  fprintf(f, ",\n  \"kind\": \"%s\",\n  \"step\": %.17g,\n  \"tolerance\": %.17g,\n", kind, p->step, p->tolerance);
  fprintf(f, "  \"steps\": %lld,\n  \"seconds\": %.6g,\n", (long long)r->steps, r->seconds);
  fprintf(f, "  \"t0\": {\"clover\": %.17g, \"plaquette\": %.17g},\n", r->t0_clover, r->t0_plaquette);
  fprintf(f, "  \"w0\": {\"clover\": %.17g, \"plaquette\": %.17g},\n  \"flow\": {\n", r->w0_clover, r->w0_plaquette);
  array(f, "t", points, n, MEMBER(time), ",");
  array(f, "plaquette_spatial", points, n, MEMBER(plaquette_spatial), ",");
  array(f, "plaquette_temporal", points, n, MEMBER(plaquette_temporal), ",");
  array(f, "energy_spatial", points, n, MEMBER(energy_spatial), ",");
  array(f, "energy_temporal", points, n, MEMBER(energy_temporal), ",");
  array(f, "charge", points, n, MEMBER(charge), "");
  fprintf(f, "  }\n}\n");
  end_file(f, name);
}

/* t^2 E over t, with the line at 0.3. */
static void write_plot(const char *name, const plaq_flow_point *points, int64_t n) {
  plot_points energy = {0}, line = {0};
  plot_series series[2];
  int64_t k;
  for (k = 0; k < n; k++) {
    plot_add(&energy, points[k].time, clover(points + k));
    plot_add(&line, points[k].time, 0.3);
  }
  series[0] = plot_history("clover", "#0072b2", &energy);
  series[1] = plot_history("0.3", "#d55e00", &line);
  plot_write(name, "Gradient flow", "t / a^2", "t^2 E", series, 2);
  plot_free(&energy);
  plot_free(&line);
}

static int32_t progress(double flow_time, double t2e, double charge, void *user) {
  static double shown = 0;
  if (progress_due((double)time(NULL), &shown))
    progress_line(0, "  t %.4f of %.4f, t^2 E %.5f, charge %.4f", flow_time, *(double *)user, t2e, charge);
  return interrupted;
}

int main(int argc, char **argv) {
  plaq_context context;
  plaq_gauge gauge;
  plaq_flow_point *points;
  int64_t count, room, k;
  const char *name, *json, *plot;
  check_options(argc, argv, OPTIONS, NULL, HELP);
  name = option(argc, argv, "--gauge", NULL);
  json = option(argc, argv, "--json", "");
  plot = option(argc, argv, "--plot", "");
  check_output(json, 1);
  check_plot(plot, 1);
  PLAQ_INIT(plaq_flow_params, params);
  PLAQ_INIT(plaq_flow_report, report);
  params.kind = choose(argc, argv, "--flow", "wilson", FLOWS);
  params.step = number(argc, argv, "--step", "0.02");
  params.time = number(argc, argv, "--time", "1");
  params.tolerance = number(argc, argv, "--tolerance", "0");
  params.every = integer32(argc, argv, "--every", "1");
  if (!(params.step > 0)) usage_error("--step", "expected more than 0");
  if (params.every < 1) usage_error("--every", "expected 1 or more");
  if (!(params.time >= 0 && params.time < 1e9 * params.step)) usage_error("--time", "expected 0 to 1e9 steps");

  context = open_context(argc, argv);
  OK(plaq_gauge_read_file(context, name, NULL, &gauge, NULL));
  /* Adaptive steps may be smaller than the first. */
  room = (int64_t)(params.time / params.step) / params.every + 8;
  if (params.tolerance > 0) room += 1000000;
  points = malloc((size_t)room * sizeof *points);
  if (!points) usage_error("memory", "exhausted");
  watch_signals();
  OK(plaq_flow_run(gauge, &params, progress, &params.time, &report, points, room, &count));
  progress_line(1, "  t %.4f, %.3f s", report.time, report.seconds);
  if (count > room) count = room;
  printf("# t, plaquette spatial, temporal, E spatial, temporal, t^2 E, charge\n");
  for (k = 0; k < count; k++)
    printf("%9.5f  %.10f %.10f  %.8f %.8f  %.8f  %9.5f\n", points[k].time, points[k].plaquette_spatial,
           points[k].plaquette_temporal, points[k].energy_spatial, points[k].energy_temporal, clover(points + k),
           points[k].charge);
  if (report.t0_clover > 0) printf("# t0 %.6f (plaquette: %.6f)\n", report.t0_clover, report.t0_plaquette);
  if (report.w0_clover > 0) printf("# w0 %.6f (plaquette: %.6f)\n", report.w0_clover, report.w0_plaquette);
  printf("# %lld steps\n", (long long)report.steps);
  if (report.stopped) printf("# INTERRUPTED at t = %.5f\n", report.time);
  if (*json && first_rank(context)) write_json(json, name, option(argc, argv, "--flow", "wilson"), &params, &report, points, count);
  if (*plot && first_rank(context)) write_plot(plot, points, count);
  free(points);
  OK(plaq_context_destroy(context));
  return report.stopped ? 3 : 0;
}
