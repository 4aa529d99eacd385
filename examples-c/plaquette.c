/* plaquette: gauge observables of configurations in files.
 *
 *   plaquette [--json FILE] [--device auto|cpu|cuda] [--threads N] FILE...
 *
 * Format and lattice come from the file, which is checked on the way in. A file that is refused is named,
 * the others are read; the status is then 1. Ctrl-C and SIGTERM end the program after a file with status 3; the
 * report has what was read.
 *
 * test: --json $OUT/plaquette.json tests/data/quenched-b6.0-4x4x4x8.ildg tests/data/quenched-b6.0-8x8x8x8.nersc
 */
#include "example.h"

static const char HELP[] =
    "usage: plaquette [options] FILE...\n"
    "Plaquette, Polyakov loop, topological charge and unitarity of configurations: NERSC, ILDG, MILC, openQCD or\n"
    "DDalphaAMG, found out by itself.\n"
    "  --json FILE          all digits of it as JSON, a member of \"files\" for each (none)\n"
    "  --device D           auto, cpu or cuda (auto)\n"
    "  --threads N          of the CPU; 0: all (0)\n" GRID_HELP
    "  --help, -h, --version\n"
    "example: plaquette --json plaquette.json tests/data/quenched-b6.0-4x4x4x8.ildg\n";
static const char OPTIONS[] = "--json --device --threads" GRID_OPTION;

/* A member of "files" in the report. */
static void write_member(FILE *f, const char *file, const plaq_file_report *r, const plaq_plaquette *p, plaq_complex loop,
                         const plaq_topology *q, const plaq_unitarity *off, int first) {
  fprintf(f, "%s\n    {\"file\": ", first ? "" : ",");
  json_text(f, file);
  fprintf(f, ", \"format\": \"%s\", \"lattice\": [%d, %d, %d, %d],\n", name_of(r->format, FORMATS), r->extents[0], r->extents[1],
          r->extents[2], r->extents[3]);
  fprintf(f, "     \"plaquette\": {\"total\": %.17g, \"spatial\": %.17g, \"temporal\": %.17g}, \"link_trace\": %.17g,\n", p->total,
          p->spatial, p->temporal, p->link_trace);
  fprintf(f, "     \"polyakov_loop\": [%.17g, %.17g], \"charge\": %.17g,\n", loop.re, loop.im, q->charge);
  fprintf(f, "     \"energy\": {\"spatial\": %.17g, \"temporal\": %.17g}, \"unitarity\": {\"unitary\": %.17g, \"det\": %.17g}}",
          q->energy_spatial, q->energy_temporal, off->unitary, off->det);
}

/* Can the file be read? `first`: is it the first of the report? */
static int observe(plaq_context context, const char *file, FILE *json, int first) {
  plaq_gauge gauge;
  plaq_plaquette plaquette;
  plaq_complex loop;
  plaq_topology topology;
  plaq_unitarity off;
  PLAQ_INIT(plaq_file_report, report);
  if (plaq_gauge_read_file(context, file, NULL, &gauge, &report) != PLAQ_SUCCESS) {
    fprintf(stderr, "%s\n", plaq_last_error());
    return 0;
  }
  OK(plaq_gauge_plaquette(gauge, &plaquette));
  OK(plaq_gauge_polyakov_loop(gauge, 3, &loop));
  OK(plaq_gauge_topology(gauge, &topology));
  OK(plaq_gauge_unitarity(gauge, &off));
  printf("%s\n", file);
  printf("  format              %s, %s precision\n", name_of(report.format, FORMATS),
         report.precision == PLAQ_PRECISION_DOUBLE ? "double" : "single");
  printf("  lattice             %d x %d x %d x %d\n", report.extents[0], report.extents[1], report.extents[2],
         report.extents[3]);
  printf("  plaquette           %.12f\n", plaquette.total);
  printf("    spatial           %.12f\n", plaquette.spatial);
  printf("    temporal          %.12f\n", plaquette.temporal);
  printf("  link trace          %.12f\n", plaquette.link_trace);
  printf("  Polyakov loop       %.12f %+.12f i\n", loop.re, loop.im);
  printf("  topological charge  %.9f (clover leaf)\n", topology.charge);
  printf("  action density      %.9f spatial, %.9f temporal\n", topology.energy_spatial, topology.energy_temporal);
  printf("  unitarity           %.1e\n", fmax(off.unitary, off.det));
  if (json) write_member(json, file, &report, &plaquette, loop, &topology, &off, first);
  OK(plaq_gauge_destroy(gauge));
  return 1;
}

int main(int argc, char **argv) {
  plaq_context context;
  const char *json_file;
  FILE *json = NULL;
  int options = 1, good = 0, bad = 0, i;
  while (options < argc && argv[options][0] == '-') options += strchr(argv[options], '=') ? 1 : 2;
  if (options > argc) options = argc;
  check_options(options, argv, OPTIONS, NULL, HELP);
  if (options == argc) usage_error("FILE", NULL);
  json_file = option(options, argv, "--json", "");
  check_output(json_file, 1);
  context = open_context(options, argv);
  watch_signals();
  if (*json_file && first_rank(context)) {
    json = begin_file(json_file);
    fprintf(json, "{\n  \"version\": \"%s\",\n  \"files\": [", plaq_version());
  }
  for (i = options; i < argc && !any_interrupted(); i++) {
    if (observe(context, argv[i], json, good == 0)) good++;
    else bad++;
  }
  if (i < argc) printf("# INTERRUPTED after %d of %d files\n", i - options, argc - options);
  if (json) {
    fprintf(json, "%s],\n  \"refused\": %d, \"stopped\": %s\n}\n", good ? "\n  " : "", bad, i < argc ? "true" : "false");
    end_file(json, json_file);
  }
  OK(plaq_context_destroy(context));
  return i < argc ? 3 : bad > 0;
}
