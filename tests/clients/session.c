/* A host that initialises twice, or describes its array wrongly. */
#include "told.h"

#include "quda.h"
#include "quda_milc_interface.h"

static void begin(int extent, QudaVerbosity verbosity) {
  static int machine[4] = {1, 1, 1, 1}, lattice[4];
  QudaInitArgs_t in = {0};
  int i;
  for (i = 0; i < 4; i++) lattice[i] = extent;
  in.verbosity = verbosity;
  in.layout.latsize = lattice;
  in.layout.machsize = machine;
  in.layout.device = -1;
  qudaInit(in);
}

/* Counts the lines about arrays on stdout of a session, which a second qudaInit asks to write `again`. */
static int lines(QudaVerbosity verbosity, QudaVerbosity again) {
  int screen;
  FILE *file = begin_of_lines(&screen);
  begin(4, verbosity), begin(4, again);
  CHECK(last_status() == PLAQ_SUCCESS);
  qudaFinalize();
  return end_of_lines(file, screen, "arrays of the host: ");
}

int main(void) {
  double plaquette[3] = {5, 5, 5};
  QudaMILCSiteArg_t sites = {0};
  const size_t wrong[] = {(size_t)0 - 800, (size_t)0 - 576, (size_t)0 - (1ull << 40), 1000, 428, 1ull << 63};
  unsigned i;
  char *site;
  hear_failures();
  begin(8, QUDA_SILENT);
  CHECK(last_status() == PLAQ_SUCCESS);
  begin(8, QUDA_SILENT);
  CHECK(last_status() == PLAQ_SUCCESS);
  /* Arrays of the smaller lattice would be read with the size of the larger one. */
  begin(4, QUDA_SILENT);
  CHECK(last_status() == PLAQ_INVALID_ARGUMENT && failures == 1);
  qudaFinalize();
  begin(4, QUDA_SILENT);
  CHECK(last_status() == PLAQ_SUCCESS);
  site = calloc(256, 1000);
  CHECK(site != NULL);
  sites.site = site;
  sites.size = 1000;
  for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    sites.link_offset = wrong[i];
    qudaPlaquettePhased(2, plaquette, &sites, 0);
    CHECK(last_status() == PLAQ_BAD_LAYOUT && plaquette[0] == 5);
  }
  sites.link_offset = 424;
  sites.size = (size_t)1 << 41;
  qudaPlaquettePhased(2, plaquette, &sites, 0);
  CHECK(last_status() == PLAQ_BAD_LAYOUT);
  sites.size = 1000;
  qudaPlaquettePhased(2, plaquette, &sites, 0);
  CHECK(last_status() == PLAQ_SUCCESS && plaquette[0] == 0);
  qudaFinalize();
  CHECK(lines(QUDA_SILENT, QUDA_SUMMARIZE) == 0 && lines(QUDA_SUMMARIZE, QUDA_SILENT) == 1);
  free(site);
  return 0;
}
