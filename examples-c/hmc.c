/* hmc: SU(3) configurations with dynamical quarks or without, by hybrid Monte Carlo.
 *
 *   hmc --input FILE.toml [--trajectories N] [--start hot|cold|checkpoint|FILE] [--log FILE.jsonl]
 *       [--overwrite no|yes] [--seconds LIMIT] [--plot FILE.svg] [--device auto|cpu|cuda] [--threads N]
 *
 * The input names action, integrator and, in its table [run], what this program does; docs/hmc.md lists
 * the keys, and examples-c/hmc has inputs. Options go before [run]. Every trajectory is a line of the log:
 * JSON with trajectory, plaquette, delta_h, accepted, iterations, seconds and the forces by monomial. --plot
 * draws plaquette, delta H, acceptance and the plaquette's autocorrelation. With --seconds no trajectory begins
 * that would end later than that after the start, should it take as long as the longest before.
 *
 * --start checkpoint goes on exactly: trajectories after the checkpoint come again, their lines of the log and their
 * configurations are replaced. Any other start leaves a log, configurations and a checkpoint that are there already,
 * and does nothing, unless --overwrite yes.
 *
 * test: --input examples-c/hmc/quenched.toml --trajectories 3 --log $OUT/quenched.jsonl --plot $OUT/quenched.svg
 * test: --input examples-c/hmc/clover.toml --trajectories 1 --log $OUT/clover.jsonl
 * test: --input examples-c/hmc/wilson.toml --trajectories 1
 * test: --input examples-c/hmc/multigrid.toml --trajectories 1
 * test: --input examples-c/hmc/rhmc.toml --trajectories 1 --log $OUT/rhmc.jsonl
 */
#include "plot.h"

static const char HELP[] =
    "usage: hmc --input FILE.toml [options]\n"
    "SU(3) configurations with dynamical quarks or without, by hybrid Monte Carlo (docs/hmc.md has the input's keys).\n"
    "  --input FILE.toml    action, integrator and, in [run], what the program does: examples-c/hmc has some\n"
    "  --trajectories N     how many (trajectories of [run], else 1)\n"
    "  --start S            hot, cold, checkpoint, or a configuration's file (start of [run], else hot)\n"
    "  --log FILE.jsonl     a line of JSON for every trajectory (log of [run], else none)\n"
    "  --overwrite B        yes: a log, configurations and a checkpoint that are there already are replaced; a start\n"
    "                       from the checkpoint goes on with them (no)\n"
    "  --seconds LIMIT      ends before a trajectory that would take longer than until then, with a checkpoint\n"
    "                       where there is one; --start checkpoint goes on; 0: no limit (0)\n"
    "  --plot FILE.svg      plaquette, delta H and acceptance over trajectories and the autocorrelation as a picture (none)\n"
    "  --device D           auto, cpu or cuda (auto)\n"
    "  --threads N          of the CPU; 0: all (0)\n" GRID_HELP
    "  --help, -h, --version\n"
    "example: hmc --input examples-c/hmc/quenched.toml --trajectories 3 --plot hmc.svg\n";
static const char OPTIONS[] = "--input --trajectories --start --log --overwrite --seconds --plot --device --threads" GRID_OPTION;

static char *read_all(const char *name) {
  FILE *f = open_file(name, "rb");
  size_t room = 1 << 16, n = 0;
  char *text = malloc(room);
  for (;;) {
    if (!text) usage_error("memory", "exhausted");
    n += fread(text + n, 1, room - n - 1, f);
    if (n < room - 1) break;
    room *= 2;
    text = realloc(text, room);
  }
  text[n] = 0;
  close_file(f, name);
  return text;
}

static double run_number(const char *input, const char *key, double otherwise) {
  char path[64];
  double value;
  int32_t found;
  sprintf(path, "run.%.50s", key);
  OK(plaq_input_number(input, path, otherwise, &value, &found));
  return value;
}

static const char *run_text(const char *input, const char *key, char *to, size_t room, const char *otherwise) {
  char path[64];
  int32_t found;
  sprintf(path, "run.%.50s", key);
  OK(plaq_input_text(input, path, to, (int64_t)room, &found));
  return found ? to : otherwise;
}

static plaq_gauge lattice(plaq_context context, const char *input) {
  plaq_gauge_params p;
  plaq_gauge gauge;
  int mu;
  OK(plaq_gauge_params_init(&p, sizeof p));
  for (mu = 0; mu < 4; mu++) {
    char key[16];
    sprintf(key, "lattice.%d", mu);
    p.extents[mu] = (int32_t)run_number(input, key, 0);
    if (p.extents[mu] < 2) usage_error("run.lattice", "expected four even numbers");
  }
  divide(context, p.extents);
  OK(plaq_gauge_create(context, &p, &gauge));
  return gauge;
}

/* t0 and charge of a copy that flows. */
static void flow(plaq_context context, plaq_gauge gauge, const char *input, FILE *log) {
  plaq_gauge copy = lattice(context, input);
  plaq_flow_params p;
  plaq_flow_report report;
  plaq_flow_point *points;
  int64_t count, room;
  OK(plaq_flow_params_init(&p, sizeof p));
  OK(plaq_flow_report_init(&report, sizeof report));
  p.time = run_number(input, "flow_time", 1);
  p.step = run_number(input, "flow_step", 0.02);
  p.every = 1;
  room = (int64_t)(p.time / p.step) + 8;
  points = malloc((size_t)room * sizeof *points);
  if (!points) exit(1);
  OK(plaq_gauge_copy(gauge, copy));
  OK(plaq_flow_run(copy, &p, NULL, NULL, &report, points, room, &count));
  if (log && count > 0 && count <= room)
    fprintf(log, ",\"flow\":{\"time\":%.15g,\"t0\":%.15g,\"w0\":%.15g,\"charge\":%.15g}", report.time, report.t0_clover,
            report.w0_clover, points[count - 1].charge);
  free(points);
  OK(plaq_gauge_destroy(copy));
}

static void write_log(FILE *log, plaq_hmc hmc, const plaq_hmc_report *r, const plaq_complex *polyakov) {
  int64_t k, n;
  fprintf(log, "{\"trajectory\":%lld,\"plaquette\":%.17g,\"delta_h\":%.17g,\"accepted\":%s,\"iterations\":%lld,",
          (long long)r->next_trajectory - 1, r->plaquette, r->delta_h, r->last_accepted ? "true" : "false",
          (long long)r->iterations);
  fprintf(log, "\"seconds\":%.6g,\"polyakov\":[%.15g,%.15g],\"correction\":%.3g,", r->trajectory_seconds, polyakov->re,
          polyakov->im, r->correction);
  if (r->reversibility_links >= 0)
    fprintf(log, "\"reversibility\":{\"links\":%.3g,\"hamiltonian\":%.3g},", r->reversibility_links, r->reversibility_h);
  fprintf(log, "\"forces\":{");
  OK(plaq_hmc_monomials(hmc, &n));
  for (k = 0; k < n; k++) {
    plaq_monomial_report m;
    char name[256];
    OK(plaq_monomial_report_init(&m, sizeof m));
    OK(plaq_hmc_monomial(hmc, k, name, sizeof name, &m));
    if (k) fputc(',', log);
    json_text(log, name);
    fprintf(log, ":{\"rms\":%.17g,\"max\":%.17g,\"kicks\":%lld,\"iterations\":%lld,\"seconds\":%.6g,\"solve_seconds\":%.6g}", m.rms, m.max,
            (long long)m.kicks, (long long)m.force_iterations, m.seconds, m.solve_seconds);
  }
  fprintf(log, "}");
}

/* Begins a log, or goes on with one before the trajectory `next`; a line that was cut off is dropped, too. */
static FILE *open_log(const char *name, int goes_on, int64_t next) {
  char *old, *line, *end;
  FILE *kept;
  if (!goes_on || !exists(name)) return open_file(name, "w");
  old = read_all(name);
  kept = begin_file(name);
  for (line = old; (end = strchr(line, '\n')); line = end + 1) {
    long long number;
    if (sscanf(line, "{\"trajectory\":%lld", &number) == 1 && number < next) fwrite(line, 1, (size_t)(end + 1 - line), kept);
  }
  end_file(kept, name);
  free(old);
  return open_file(name, "a");
}

static char *configuration_name(const char *prefix, int64_t number) {
  char *name = malloc(strlen(prefix) + 24);
  if (!name) exit(1);
  sprintf(name, "%s.%06lld", prefix, (long long)number);
  return name;
}

/* Configurations from trajectory `first` on, of which none may be there. */
static void check_configurations(const char *prefix, int64_t first, int64_t trajectories, int64_t every) {
  int64_t n;
  for (n = first + every - 1 - first % every; every > 0 && n < first + trajectories; n += every) {
    char *name = configuration_name(prefix, n);
    if (exists(name)) check_output(name, 0);
    free(name);
  }
}

static void write_configuration(plaq_gauge gauge, const char *prefix, int64_t number) {
  plaq_write_params p;
  char *name = configuration_name(prefix, number);
  OK(plaq_write_params_init(&p, sizeof p));
  p.format = PLAQ_FILE_FORMAT_ILDG;
  p.sequence_number = number;
  p.creator = "plaq hmc";
  OK(plaq_gauge_write_file(gauge, name, &p));
  free(name);
}

/* How long a run may take, and what is known of it. */
typedef struct allowance {
  double limit, longest;
  time_t start;
  int over;
} allowance;

/* Signals end a run after the trajectory that they come in, and so does a limit of time that the next one would pass. */
static int32_t progress(int64_t trajectory, double delta_h, int32_t accepted, double plaquette, int64_t iterations, double seconds,
                        void *user) {
  allowance *time_left = user;
  (void)trajectory, (void)delta_h, (void)accepted, (void)plaquette, (void)iterations;
  if (seconds > time_left->longest) time_left->longest = seconds;
  time_left->over = time_left->limit > 0 && difftime(time(NULL), time_left->start) + time_left->longest > time_left->limit;
  return interrupted || time_left->over;
}

/* Histories that --plot draws. */
typedef struct histories {
  plot_points plaquette, delta_h, acceptance;
} histories;

static void write_plot(const char *file, const histories *h) {
  plot_points rho = autocorrelation(&h->plaquette);
  plot_series series[4];
  plot_panel panels[4];
  series[0] = plot_history("plaquette", "#0072b2", &h->plaquette);
  series[1] = plot_history("delta H", "#d55e00", &h->delta_h);
  series[2] = plot_history("accepted so far", "#009e73", &h->acceptance);
  series[3] = plot_history("rho(t)", "#cc79a7", &rho);
  panels[0] = (plot_panel){"Plaquette", "trajectory", "plaquette", series, 1};
  panels[1] = (plot_panel){"Energy", "trajectory", "delta H", series + 1, 1};
  panels[2] = (plot_panel){"Acceptance", "trajectory", "fraction", series + 2, 1};
  panels[3] = (plot_panel){"Autocorrelation of the plaquette", "t", "rho", series + 3, 1};
  plot_page(file, panels, 4);
  plot_free(&rho);
}

int main(int argc, char **argv) {
  plaq_context context;
  plaq_gauge gauge;
  plaq_hmc hmc;
  plaq_hmc_report report;
  const char *start, *log_name, *checkpoint, *prefix, *plot;
  histories history = {{0}, {0}, {0}};
  allowance time_left = {0};
  char *input, text[4][1024];
  int64_t trajectories, done, checkpoint_every, save_every, flow_every, n, accepted = 0, seed, next;
  int goes_on, overwrite;
  double weight = 0, seconds = 0, shown = 0;
  FILE *log = NULL;
  check_options(argc, argv, OPTIONS, NULL, HELP);
  time_left.start = time(NULL);
  time_left.limit = number(argc, argv, "--seconds", "0");
  if (!(time_left.limit >= 0)) usage_error("--seconds", "expected 0 or more");
  input = read_all(option(argc, argv, "--input", NULL));
  context = open_context(argc, argv);
  OK(plaq_input_check(input, "run", "lattice start trajectories log checkpoint checkpoint_every configurations save_every "
                                    "flow_every flow_time flow_step"));
  start = option(argc, argv, "--start", run_text(input, "start", text[0], sizeof text[0], "hot"));
  log_name = option(argc, argv, "--log", run_text(input, "log", text[1], sizeof text[1], ""));
  checkpoint = run_text(input, "checkpoint", text[2], sizeof text[2], "");
  prefix = run_text(input, "configurations", text[3], sizeof text[3], "");
  plot = option(argc, argv, "--plot", "");
  check_plot(plot, 1);
  goes_on = !strcmp(start, "checkpoint");
  overwrite = choose(argc, argv, "--overwrite", "no", YES_NO);
  trajectories = (int64_t)run_number(input, "trajectories", 1);
  if (*option(argc, argv, "--trajectories", "")) trajectories = integer(argc, argv, "--trajectories", NULL);
  checkpoint_every = (int64_t)run_number(input, "checkpoint_every", *checkpoint ? 10 : 0);
  save_every = (int64_t)run_number(input, "save_every", *prefix ? 10 : 0);
  flow_every = (int64_t)run_number(input, "flow_every", 0);
  if (trajectories < 1) usage_error("trajectories", "expected 1 or more");

  gauge = lattice(context, input);
  OK(plaq_hmc_create(gauge, input, &hmc));
  OK(plaq_hmc_place(hmc, &seed, &next));
  if (!goes_on) {
    check_output(log_name, overwrite);
    check_output(checkpoint, overwrite);
    if (*prefix && !overwrite) check_configurations(prefix, next, trajectories, save_every);
  }
  if (!strcmp(start, "cold")) {
    OK(plaq_gauge_unit(gauge));
  } else if (!strcmp(start, "hot")) {
    OK(plaq_gauge_hot(gauge, seed));
  } else if (goes_on) {
    if (!*checkpoint) usage_error("run.checkpoint", NULL);
    OK(plaq_hmc_load(hmc, gauge, checkpoint));
  } else {
    plaq_gauge from;
    OK(plaq_gauge_read_file(context, start, NULL, &from, NULL));
    OK(plaq_gauge_copy(from, gauge));
    OK(plaq_gauge_destroy(from));
  }
  OK(plaq_hmc_place(hmc, &seed, &next));
  if (*log_name && first_rank(context)) log = open_log(log_name, goes_on, next);

  printf("# seed %lld, trajectories from %lld on\n# trajectory, plaquette, delta H, accepted, iterations\n",
         (long long)seed, (long long)next);
  watch_signals();
  done = trajectories;
  for (n = 1; n <= done; n++) {
    plaq_complex polyakov;
    int64_t place;
    OK(plaq_hmc_report_init(&report, sizeof report));
    OK(plaq_hmc_run(hmc, gauge, 1, progress, &time_left, &report));
    place = report.next_trajectory - 1;
    if (report.stopped) done = n;
    accepted += report.accepted;
    weight += report.exp_minus_delta_h;
    seconds += report.trajectory_seconds;
    OK(plaq_gauge_polyakov_loop(gauge, 3, &polyakov));
    printf("%8lld  %.12f  %12.6f  %d  %8lld\n", (long long)place, report.plaquette, report.delta_h,
           report.last_accepted, (long long)report.iterations);
    fflush(stdout);
    if (progress_due(seconds, &shown))
      progress_line(0, "  %lld of %lld, acceptance %.3f, %.0f s left", (long long)n, (long long)trajectories,
                    (double)accepted / (double)n, seconds / (double)n * (double)(trajectories - n));
    if (*plot) {
      plot_add(&history.plaquette, (double)place, report.plaquette);
      plot_add(&history.delta_h, (double)place, report.delta_h);
      plot_add(&history.acceptance, (double)place, (double)accepted / (double)n);
    }
    if (log) write_log(log, hmc, &report, &polyakov);
    if (flow_every > 0 && (place + 1) % flow_every == 0) flow(context, gauge, input, log);
    if (log) fprintf(log, "}\n"), fflush(log);
    if (save_every > 0 && *prefix && (place + 1) % save_every == 0) write_configuration(gauge, prefix, place);
    if (checkpoint_every > 0 && *checkpoint && ((place + 1) % checkpoint_every == 0 || n == done))
      OK(plaq_hmc_save(hmc, gauge, checkpoint));
  }
  progress_line(1, "  %.3f s a trajectory", seconds / (double)done);
  if (report.stopped)
    printf("# %s after trajectory %lld\n", interrupted ? "INTERRUPTED" : "the time is over", (long long)report.next_trajectory - 1);
  printf("# acceptance %.4f, average of exp(-delta H) %.6f\n", (double)accepted / (double)done,
         weight / (double)done);
  if (log) close_file(log, log_name);
  if (*plot && first_rank(context)) write_plot(plot, &history);
  plot_free(&history.plaquette);
  plot_free(&history.delta_h);
  plot_free(&history.acceptance);
  free(input);
  OK(plaq_context_destroy(context));
  return interrupted ? 3 : 0;
}
