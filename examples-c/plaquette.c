/* plaquette: gauge observables of configurations in files.
 *
 *   plaquette [--device auto|cpu|cuda] [--threads N] FILE...
 *
 * Format and lattice come from the file, which is checked on the way in. A file that is refused is named,
 * the others are read; the status is then 1.
 *
 * test: tests/data/quenched-b6.0-4x4x4x8.ildg tests/data/quenched-b6.0-8x8x8x8.nersc
 */
#include "example.h"

static const char HELP[] = "usage: plaquette [--device auto|cpu|cuda] [--threads N] FILE...\n" GRID_HELP;

/* Can the file be read? */
static int observe(plaq_context context, const char *file) {
  plaq_gauge gauge;
  plaq_file_report report;
  plaq_plaquette plaquette;
  plaq_complex loop;
  plaq_topology topology;
  plaq_unitarity off;
  OK(plaq_file_report_init(&report, sizeof report));
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
  OK(plaq_gauge_destroy(gauge));
  return 1;
}

int main(int argc, char **argv) {
  plaq_context context;
  int options = 1, bad = 0, i;
  while (options < argc && !strncmp(argv[options], "--", 2)) options += strchr(argv[options], '=') ? 1 : 2;
  if (options > argc) options = argc;
  check_options(options, argv, "--device --threads" GRID_OPTION, HELP);
  if (options == argc) usage_error("FILE", NULL);
  context = open_context(options, argv);
  for (i = options; i < argc; i++) bad += !observe(context, argv[i]);
  OK(plaq_context_destroy(context));
  return bad > 0;
}
