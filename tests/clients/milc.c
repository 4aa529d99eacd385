/* Calls the library as MILC does, with MILC's arrays, and checks what it says against its own
 * arithmetic. Under mpirun (compiled with CLIENT_MPI) on the process grid in PLAQ_TEST_GRID.
 *   milc                                     everything, on links of its own
 *   milc end                                 ends by an error, as hosts do by default
 *   milc file PATH X Y Z T                   plaquettes of a MILC v5 file, and functionals once its
 *                                            links are in Coulomb and in Landau gauge
 *   milc file PATH X Y Z T KAPPA CSW ANGLE   also pion and rho; ANGLE pi is the boundary in time
 */
#include "lattice.h"

#include <quda_milc_interface.h>

#include "plaq.h"

static char failed_in[64], failed_with[1024];
static int failed_status;

static void on_error(const char *function, int32_t status, const char *message, void *user) {
  CHECK(user == failed_in);
  snprintf(failed_in, sizeof failed_in, "%s", function);
  snprintf(failed_with, sizeof failed_with, "%s", message);
  failed_status = status;
}

static int uploads, lines;
static char line[512];

static void on_log(int32_t level, const char *message, void *user) {
  (void)level, (void)user;
  uploads += strstr(message, "uploaded") != NULL;
  lines++;
  snprintf(line, sizeof line, "%s", message);
}

static int32_t last_status(void) {
  int32_t status;
  CHECK(plaq_quda_last_status(&status) == PLAQ_SUCCESS);
  return status;
}

/* The last call did what it says. */
static void done(void) {
  if (last_status() == PLAQ_SUCCESS) return;
  fprintf(stderr, "refused: %s\n", plaq_last_error());
  exit(1);
}

/* The last call was refused: by this function, with this status and these words. */
static void refused(const char *function, int32_t status, const char *words) {
  if (last_status() == status && failed_status == status && strcmp(failed_in, function) == 0 &&
      strstr(failed_with, words) && strstr(failed_with, "what to do")) {
    failed_status = 0;
    return;
  }
  fprintf(stderr, "expected %s of %s with \"%s\", found %d:\n%s\n", plaq_status_name(status), function,
          words, last_status(), failed_with);
  exit(1);
}

static QudaInitArgs_t init_args(void) {
  QudaInitArgs_t args;
  args.verbosity = QUDA_SUMMARIZE;
  args.layout.latsize = global;
  args.layout.machsize = ranks;
  args.layout.device = -1;
  return args;
}

/* ---- the site array ---- */

#define OFFSET 112
static char *sites;
static int real_bytes;
static size_t site_bytes;
static QudaMILCSiteArg_t site_arg;

static void new_sites(int precision) {
  real_bytes = precision == 2 ? 8 : 4;
  site_bytes = OFFSET + 72 * real_bytes + 40;
  sites = qudaAllocatePinned((size_t)own * site_bytes);
  done();
  CHECK(sites != NULL);
  memset(sites, 0x5a, own * site_bytes);
  site_arg.site = sites;
  site_arg.link = NULL;
  site_arg.mom = NULL;
  site_arg.link_offset = OFFSET;
  site_arg.mom_offset = 0;
  site_arg.size = site_bytes;
}

static void free_sites(void) {
  qudaFreePinned(sites);
  done();
}

static void links_to_sites(int precision) {
  scatter_sites(sites, precision, site_bytes, OFFSET, (double *)links, 72);
}

/* The links of all ranks; what else the structs hold must be as it was. */
static void sites_to_links(int precision) {
  int i;
  size_t k;
  for (i = 0; i < own; i++)
    for (k = 0; k < site_bytes; k++)
      if (k < OFFSET || k >= OFFSET + 72u * real_bytes) CHECK(sites[i * site_bytes + k] == 0x5a);
  gather_sites((double *)links, sites, precision, site_bytes, OFFSET, 72);
}

/* ---- observables ---- */

static void check_observables(int precision, double error) {
  QudaMILCSiteArg_t plain = site_arg;
  double plaq[3], ploop[2], space, time;
  number loop;
  links_to_sites(precision);
  plaquettes(&space, &time);
  loop = polyakov_loop();
  qudaPlaquettePhased(precision, plaq, &site_arg, 0);
  done();
  CLOSE(plaq[1], space, error);
  CLOSE(plaq[2], time, error);
  CLOSE(plaq[0], 0.5 * (space + time), error);
  qudaPolyakovLoopPhased(precision, ploop, 3, &site_arg, 0);
  done();
  CLOSE(ploop[0], -creal(loop), error);
  CLOSE(ploop[1], -cimag(loop), error);

  /* Links by themselves. */
  plain.site = NULL;
  plain.link = room((size_t)own * 72 * real_bytes);
  scatter_sites(plain.link, precision, 72 * real_bytes, 0, (double *)links, 72);
  qudaPlaquettePhased(precision, plaq, &plain, 0);
  done();
  CLOSE(plaq[1], space, error);

  /* With staggered phases and the antiperiodic sign in the links plaquettes are the same, and the Polyakov loop comes
   * out with a plus, above with a minus. */
  staggered_phases();
  scatter_sites(plain.link, precision, 72 * real_bytes, 0, (double *)links, 72);
  staggered_phases();
  qudaPlaquettePhased(precision, plaq, &plain, 1);
  done();
  CLOSE(plaq[1], space, error);
  CLOSE(plaq[2], time, error);
  qudaPolyakovLoopPhased(precision, ploop, 3, &plain, 1);
  done();
  CLOSE(ploop[0], creal(loop), error);
  CLOSE(ploop[1], cimag(loop), error);
  free(plain.link);
}

static number determinant(matrix m) {
  number d = 0;
  int i;
  for (i = 0; i < 3; i++)
    d += m.e[0][i] * (m.e[1][(i + 1) % 3] * m.e[2][(i + 2) % 3] - m.e[1][(i + 2) % 3] * m.e[2][(i + 1) % 3]);
  return d;
}

/* The unitary factor of the polar decomposition, to which X = (X + X^-dagger) / 2 leads, with determinant 1. */
static matrix nearest(matrix m) {
  number root;
  int n, i, j;
  for (n = 0; n < 20; n++) {
    const matrix a = m;
    const number d = conj(determinant(a));
    for (i = 0; i < 3; i++)
      for (j = 0; j < 3; j++) {
        const int k = (i + 1) % 3, l = (i + 2) % 3, p = (j + 1) % 3, q = (j + 2) % 3;
        m.e[i][j] = (a.e[i][j] + conj(a.e[k][p] * a.e[l][q] - a.e[k][q] * a.e[l][p]) / d) / 2;
      }
  }
  root = cpow(determinant(m), 1. / 3);
  for (i = 0; i < 9; i++) m.e[i / 3][i % 3] /= root;
  return m;
}

static void check_projection(int precision, double error) {
  int i, k, phased;
  matrix *expected = room(4 * (size_t)volume * sizeof *expected);
  /* With staggered phases and the antiperiodic sign some determinants are near -1, which stay so. */
  for (phased = 0; phased < 2; phased++) {
    random_links(1e-2);
    for (i = 0; i < 4 * volume; i++) expected[i] = nearest(links[i]);
    if (phased) staggered_phases();
    links_to_sites(precision);
    qudaUnitarizeSU3Phased(precision, 1e-4, &site_arg, phased);
    done();
    sites_to_links(precision);
    if (phased) staggered_phases();
    for (i = 0; i < 4 * volume; i++)
      for (k = 0; k < 9; k++) CLOSE(cabs(links[i].e[k / 3][k % 3] - expected[i].e[k / 3][k % 3]), 0, error);
  }
  free(expected);

  /* No matrix to project: refused, and the others stay as they are. */
  random_links(1e-3);
  memset(&links[4 * (volume / 2) + 2], 0, sizeof *links);
  links_to_sites(precision);
  qudaUnitarizeSU3Phased(precision, 1e-4, &site_arg, 0);
  CHECK(last_status() == PLAQ_NOT_UNITARY || last_status() == PLAQ_NOT_FINITE);
  failed_status = 0;
  memcpy(expected = room(4 * (size_t)volume * sizeof *expected), links, 4 * (size_t)volume * sizeof *links);
  sites_to_links(precision);
  for (i = 0; i < 4 * volume; i++)
    for (k = 0; k < 9; k++) CLOSE(cabs(links[i].e[k / 3][k % 3] - expected[i].e[k / 3][k % 3]), 0, precision == 2 ? 0 : 1e-7);
  free(expected);
}

/* Fixes by the change of the functional or by theta; the plaquettes stay. */
static void check_gauge_fixing(int precision, unsigned gauge_dir, double error) {
  double before[2], after[2], functional, theta, best;
  int directions = gauge_dir == 3 ? 3 : 4;
  random_links(0);
  links_to_sites(precision);
  plaquettes(&before[0], &before[1]);
  gauge(directions, &functional, &theta);
  qudaGaugeFixingOVR(precision, gauge_dir, 500, 20, 1.5, 1e-7, 20, 0, &site_arg);
  done();
  sites_to_links(precision);
  plaquettes(&after[0], &after[1]);
  CLOSE(after[0], before[0], error);
  CLOSE(after[1], before[1], error);
  gauge(directions, &best, &theta);
  CHECK(best > functional + 0.1);
  functional = best;
  if (precision == 1) return;
  qudaGaugeFixingOVR(precision, gauge_dir, 2000, 20, 1.5, 1e-9, 20, 1, &site_arg);
  done();
  sites_to_links(precision);
  plaquettes(&after[0], &after[1]);
  CLOSE(after[0], before[0], error);
  gauge(directions, &best, &theta);
  CHECK(best >= functional - 1e-12 && best < functional + 1e-4);
  CHECK(theta < 1e-9);
  /* The log names the number that was compared: QUDA's theta. */
  CHECK(strstr(line, "QUDA's ") != NULL);
  CLOSE(atof(strstr(line, "QUDA's ") + 7), theta, 2e-3 * theta);
  /* So many steps, and no more. */
  random_links(0);
  links_to_sites(precision);
  qudaGaugeFixingOVR(precision, gauge_dir, 3, 20, 1.0, 0, 20, 0, &site_arg);
  done();
  CHECK(strstr(line, "gauge fixing: 3 sweeps") != NULL);
}

#include "dynamics.h"

/* ---- the clover solver ---- */

static struct {
  int precision;
  double kappa, csw;
  void *links, *clover, *inverse, *source, *solution;
  blocks *a;
  spinor *x, *b;
} host;

/* What MILC passes for the links as they are, boundary included. */
static void new_host(int precision, double kappa, double csw) {
  double *packed = room((size_t)volume * 72 * sizeof *packed);
  blocks *inverse = room((size_t)volume * sizeof *inverse);
  int i, bytes = precision == 2 ? 8 : 4;
  host.precision = precision;
  host.kappa = kappa;
  host.csw = csw;
  host.a = room((size_t)volume * sizeof *host.a);
  host.x = room((size_t)volume * sizeof *host.x);
  host.b = room((size_t)volume * sizeof *host.b);
  clover_term(host.a, kappa, csw);
  invert_blocks(inverse, host.a);
  host.links = room((size_t)own * 72 * bytes);
  host.clover = room((size_t)own * 72 * bytes);
  host.inverse = room((size_t)own * 72 * bytes);
  host.source = room((size_t)own * 24 * bytes);
  host.solution = room((size_t)own * 24 * bytes);
  scatter_sites(host.links, precision, 72 * bytes, 0, (double *)links, 72);
  pack(packed, host.a);
  scatter_sites(host.clover, precision, 72 * bytes, 0, packed, 72);
  pack(packed, inverse);
  scatter_sites(host.inverse, precision, 72 * bytes, 0, packed, 72);
  for (i = 0; i < 24 * volume; i++) ((double *)host.b)[i] = noise(i, 7777);
  scatter_sites(host.source, precision, 24 * bytes, 0, (double *)host.b, 24);
  free(packed);
  free(inverse);
}

static void free_host(void) {
  free(host.a);
  free(host.x);
  free(host.b);
  free(host.links);
  free(host.clover);
  free(host.inverse);
  free(host.source);
  free(host.solution);
}

/* MILC leaves what clover fermions do not need as it is on the stack. */
static QudaInvertArgs_t invert_args(const double *angle) {
  QudaInvertArgs_t args;
  memset(&args, 0x5a, sizeof args);
  args.max_iter = 2000;
  args.mixed_precision = 2;
  args.solver_type = QUDA_BICGSTAB_INVERTER;
  memcpy(args.boundary_phase, angle, sizeof args.boundary_phase);
  return args;
}

typedef struct {
  double residual, residual_hq;
  int iterations;
} report;

static report invert(int quda_precision, QudaInvertArgs_t args, double target, double target_hq) {
  report r = {-1, -1, -1};
  qudaCloverInvert(host.precision, quda_precision, host.kappa, host.kappa * host.csw, args, target, target_hq,
                   host.links, host.clover, host.inverse, host.source, host.solution, &r.residual,
                   &r.residual_hq, &r.iterations);
  return r;
}

/* Solves, and applies M to what comes back. */
static report solve(int quda_precision, QudaInvertArgs_t args, double target, double target_hq) {
  double l2, hq;
  /* What arithmetic in single precision cannot show. */
  double seen = quda_precision == 2 && host.precision == 2 ? 1e-14 : 3e-7;
  report r;
  memset(host.solution, 0xff, (size_t)own * 24 * (host.precision == 2 ? 8 : 4));
  r = invert(quda_precision, args, target, target_hq);
  done();
  gather_sites((double *)host.x, host.solution, host.precision, 24 * (host.precision == 2 ? 8 : 4), 0, 24);
  residuals(host.a, host.kappa, host.x, host.b, &l2, &hq);
  CHECK(r.iterations > 0 && r.iterations < args.max_iter);
  if (target > 0) CHECK(r.residual <= target && l2 <= target + seen);
  if (target_hq > 0) CHECK(r.residual_hq <= target_hq && hq <= target_hq + 10 * seen);
  CLOSE(l2, r.residual, 0.01 * r.residual + seen);
  CLOSE(hq, r.residual_hq, 0.01 * r.residual_hq + 10 * seen);
  return r;
}

static void check_solves(const double *angle, double off) {
  QudaInvertArgs_t args = invert_args(angle);
  const QudaInverterType types[] = {QUDA_CG_INVERTER, QUDA_GCR_INVERTER, QUDA_CGNE_INVERTER, QUDA_CGNR_INVERTER};
  report half, full;
  unsigned i;
  random_links(off);
  twist(angle);
  new_host(2, 0.11, 1.3);
  half = solve(2, args, 1e-10, 0);
  args.mixed_precision = 1;
  solve(2, args, 1e-10, 1e-10);
  solve(2, args, 0, 1e-9);
  args.mixed_precision = 0;
  full = solve(2, args, 1e-10, 0);
  CHECK(half.iterations >= full.iterations - 2);
  for (i = 0; off == 0 && i < sizeof types / sizeof *types; i++) {
    args.solver_type = types[i];
    solve(2, args, 1e-8, 0);
  }
  args = invert_args(angle);
  solve(1, args, 1e-5, 0);
  free_host();
  new_host(1, 0.11, 1.3);
  solve(2, args, 1e-5, 0);
  solve(1, args, 1e-5, 1e-4);
  free_host();
}

/* Twelve columns upload once; a change of any array is seen. */
static void check_uploads(void) {
  const double angle[4] = {0, 0, 0, 1};
  QudaInvertArgs_t args = invert_args(angle);
  int column;
  random_links(0);
  twist(angle);
  new_host(2, 0.1, 1.2);
  for (column = 0, uploads = 0; column < 12; column++) {
    int i;
    for (i = 0; i < 24 * volume; i++) ((double *)host.b)[i] = noise(i, column);
    scatter_sites(host.source, 2, 192, 0, (double *)host.b, 24);
    solve(2, args, 1e-8, 0);
    CHECK(uploads == 3);
  }
  free_host();
  /* The same content elsewhere; another kappa is another operator on the same links. */
  new_host(2, 0.1, 1.2);
  solve(2, args, 1e-8, 0);
  CHECK(uploads == 3);
  free_host();
  new_host(2, 0.09, 1.2);
  solve(2, args, 1e-8, 0);
  CHECK(uploads == 5);
  free_host();
  /* One number on one rank. */
  links[4 * (volume - 1) + 1] = project(add(links[4 * (volume - 1) + 1], 1e-9, links[0]));
  new_host(2, 0.09, 0);
  solve(2, args, 1e-8, 0);
  CHECK(uploads == 8);
  free_host();
}

/* Refused calls leave the process, and what the host has, as they were. */
static void check_misuse(void) {
  const double angle[4] = {0};
  QudaInvertArgs_t args = invert_args(angle);
  double nan_source = NAN, plaq[3] = {7, 7, 7};
  size_t bytes = (size_t)own * 192;
  char *before;
  report r;
  int local_nan = milc_index(volume / 2 + 1);
  random_links(0);
  links_to_sites(2);
  new_host(2, 0.1, 1.2);
  before = room(bytes);
  memset(host.solution, 0x33, bytes);
  memset(before, 0x33, bytes);

  args.solver_type = (QudaInverterType)77;
  r = invert(2, args, 1e-8, 0);
  refused("qudaCloverInvert", PLAQ_INVALID_ARGUMENT, "QUDA_BICGSTAB_INVERTER");
  CHECK(r.residual == -1 && r.residual_hq == -1 && r.iterations == -1);
  args.solver_type = QUDA_MG_INVERTER;
  invert(2, args, 1e-8, 0);
  refused("qudaCloverInvert", PLAQ_INVALID_ARGUMENT, "found       12");
  args = invert_args(angle);
  invert(2, args, 0, 0);
  refused("qudaCloverInvert", PLAQ_INVALID_ARGUMENT, "target_fermilab_residual");
  invert(2, args, -1e-3, 0);
  refused("qudaCloverInvert", PLAQ_INVALID_ARGUMENT, "target_residual");
  invert(3, args, 1e-8, 0);
  refused("qudaCloverInvert", PLAQ_INVALID_ARGUMENT, "quda_precision");
  args.mixed_precision = 9;
  invert(2, args, 1e-8, 0);
  refused("qudaCloverInvert", PLAQ_INVALID_ARGUMENT, "inv_args.mixed_precision");
  args.mixed_precision = 2;
  args.max_iter = 0;
  invert(2, args, 1e-8, 0);
  refused("qudaCloverInvert", PLAQ_INVALID_ARGUMENT, "inv_args.max_iter");
  args.max_iter = 100;
  qudaCloverInvert(2, 2, -0.1, 0, args, 1e-8, 0, host.links, host.clover, host.inverse, host.source,
                   host.solution, &r.residual, &r.residual_hq, &r.iterations);
  refused("qudaCloverInvert", PLAQ_BAD_PARAMETER, "kappa");
  qudaCloverInvert(2, 2, 0.1, 0, args, 1e-8, 0, NULL, host.clover, host.inverse, host.source, host.solution,
                   &r.residual, &r.residual_hq, &r.iterations);
  refused("qudaCloverInvert", PLAQ_NULL_POINTER, "link");

  /* NaN in the source, the clover term and the links, on one rank. */
  if (local_nan >= 0) put((char *)host.source + local_nan * 192, 2, 5, nan_source);
  r = invert(2, args, 1e-8, 0);
  refused("qudaCloverInvert", PLAQ_NOT_FINITE, "source");
  CHECK(r.residual == -1 && r.residual_hq == -1 && r.iterations == -1);
  scatter_sites(host.source, 2, 192, 0, (double *)host.b, 24);
  if (local_nan >= 0) put((char *)host.clover + local_nan * 576, 2, 70, nan_source);
  invert(2, args, 1e-8, 0);
  refused("qudaCloverInvert", PLAQ_NOT_FINITE, "clover");
  free_host();
  new_host(2, 0.1, 1.2);
  memset(host.solution, 0x33, bytes);
  if (local_nan >= 0) put((char *)host.links + local_nan * 576, 2, 3, nan_source);
  invert(2, args, 1e-8, 0);
  refused("qudaCloverInvert", PLAQ_NOT_FINITE, "link");
  CHECK(memcmp(host.solution, before, bytes) == 0);
  free(before);
  free_host();

  /* Not converged is no error. */
  new_host(2, 0.12, 1.2);
  args = invert_args(angle);
  args.max_iter = 2;
  r = invert(2, args, 1e-12, 0);
  done();
  CHECK(r.iterations == 2 && r.residual > 1e-12);
  args.max_iter = 1000;
  solve(2, args, 1e-8, 0);
  free_host();

  if (local_nan >= 0) put(sites + local_nan * site_bytes + OFFSET, 2, 20, nan_source);
  qudaPlaquettePhased(2, plaq, &site_arg, 0);
  refused("qudaPlaquettePhased", PLAQ_NOT_FINITE, "not finite");
  qudaGaugeFixingOVR(2, 4, 10, 20, 1.5, 1e-7, 20, 0, &site_arg);
  refused("qudaGaugeFixingOVR", PLAQ_NOT_FINITE, "not finite");
  links_to_sites(2);
  qudaPlaquettePhased(2, plaq, NULL, 0);
  refused("qudaPlaquettePhased", PLAQ_NULL_POINTER, "arg");
  qudaPlaquettePhased(0, plaq, &site_arg, 0);
  refused("qudaPlaquettePhased", PLAQ_INVALID_ARGUMENT, "precision");
  CHECK(plaq[0] == 7 && plaq[1] == 7 && plaq[2] == 7);
  qudaPolyakovLoopPhased(2, plaq, 2, &site_arg, 0);
  refused("qudaPolyakovLoopPhased", PLAQ_INVALID_ARGUMENT, "dir");
  qudaUnitarizeSU3Phased(2, 1e-4, &site_arg, 2);
  refused("qudaUnitarizeSU3Phased", PLAQ_INVALID_ARGUMENT, "phase_in");
  qudaGaugeFixingOVR(2, 4, 10, 20, 2.5, 1e-7, 20, 0, &site_arg);
  refused("qudaGaugeFixingOVR", PLAQ_INVALID_ARGUMENT, "relax_boost");
  qudaGaugeFixingOVR(2, 4, 10, 20, 1.5, 1e-7, 20, 5, &site_arg);
  refused("qudaGaugeFixingOVR", PLAQ_INVALID_ARGUMENT, "stopWtheta");
  qudaFreePinned(&r);
  refused("qudaFreePinned", PLAQ_INVALID_ARGUMENT, "qudaAllocatePinned");
  CHECK(plaq_quda_set_error_mode(9) == PLAQ_INVALID_ARGUMENT);
}

static void check_start(const int *extents) {
  QudaInitArgs_t args;
  double plaq[3];
  int odd[4], mu;
  void *early;
  /* Before anything else: memory. */
  early = qudaAllocatePinned(1000003);
  done();
  memset(early, 1, 1000003);
  new_sites(2);
  qudaPlaquettePhased(2, plaq, &site_arg, 0);
  refused("qudaPlaquettePhased", PLAQ_NOT_INITIALISED, "qudaInit");
  args = init_args();
  args.layout.machsize = NULL;
  qudaInit(args);
  refused("qudaInit", PLAQ_NULL_POINTER, "machsize");
  for (mu = 0; mu < 4; mu++) {
    memcpy(odd, extents, sizeof odd);
    odd[mu] = 3 * ranks[mu];
    args = init_args();
    args.layout.latsize = odd;
    qudaInit(args);
    refused("qudaInit", PLAQ_BAD_EXTENTS, "latsize");
  }
  qudaFinalize();
  done();
  for (mu = 0; mu < 2; mu++) {
    qudaInit(init_args());
    done();
  }
  free_sites();
  qudaFreePinned(early);
  done();
  qudaFreePinned(NULL);
  done();
}

/* ---- real configurations ---- */

static void read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  float numbers[72];
  unsigned char head[96], bytes[4], *raw = (unsigned char *)numbers;
  int site, k, swapped;
  CHECK(file != NULL && fread(head, 1, sizeof head, file) == sizeof head);
  /* The magic number 20103, lowest byte first or last; this program runs on x86-64. */
  swapped = head[0] == 0;
  for (site = 0; site < volume; site++) {
    CHECK(fread(numbers, sizeof *numbers, 72, file) == 72);
    for (k = 0; k < 72; k++) {
      memcpy(bytes, raw + 4 * k, 4);
      if (swapped) raw[4 * k] = bytes[3], raw[4 * k + 1] = bytes[2], raw[4 * k + 2] = bytes[1], raw[4 * k + 3] = bytes[0];
      ((double *)links)[72 * site + k] = numbers[k];
    }
  }
  fclose(file);
}

/* Pion sum |G|^2 and rho sum tr[(gamma5 gamma_i) G (gamma5 gamma_i)^dagger G^dagger]. */
static void correlators(const double *angle) {
  spinor *columns = room(12 * (size_t)volume * sizeof *columns);
  double *sums = room(4 * (size_t)global[3] * sizeof *sums);
  QudaInvertArgs_t args = invert_args(angle);
  int column, site, i, s, c, s0;
  for (column = 0; column < 12; column++) {
    memset(host.b, 0, (size_t)volume * sizeof *host.b);
    host.b[0].d[column / 3][column % 3] = 1;
    scatter_sites(host.source, 2, 192, 0, (double *)host.b, 24);
    solve(2, args, 1e-10, 0);
    memcpy(columns + (size_t)column * volume, host.x, (size_t)volume * sizeof *host.x);
  }
  for (site = 0; site < volume; site++) {
    int t = site / (volume / global[3]);
    for (column = 0; column < 12; column++)
      for (s = 0; s < 4; s++)
        for (c = 0; c < 3; c++) {
          number g = columns[column * volume + site].d[s][c];
          sums[t] += creal(g * conj(g));
          for (i = 0; i < 3; i++) {
            /* (gamma5 gamma_i)(s, to) takes the sink spin to `to` and the source spin likewise. */
            int to = gamma_column(i, s), source = gamma_column(i, column / 3);
            number sink_factor = (s < 2 ? 1 : -1) * gamma_value(i, s);
            s0 = column / 3;
            number source_factor = (s0 < 2 ? 1 : -1) * gamma_value(i, s0);
            number other = columns[(3 * source + column % 3) * volume + site].d[to][c];
            sums[(1 + i) * global[3] + t] += creal(conj(g) * sink_factor * other * conj(source_factor));
          }
        }
  }
  for (i = 0; i < 4; i++)
    for (s = 0; s < global[3]; s++) printf("%s %.10e\n", i == 0 ? "pion" : "rho", sums[i * global[3] + s]);
  free(columns);
  free(sums);
}

static void run_file(char **words, int solves) {
  double angle[4] = {0}, before[2], after[2], functional, theta;
  unsigned gauge_dir;
  new_sites(2);
  qudaInit(init_args());
  read_file(words[0]);
  plaquettes(&before[0], &before[1]);
  printf("plaquette %.15f %.15f\n", 3 * before[0], 3 * before[1]);
  for (gauge_dir = 3; gauge_dir < 5; gauge_dir++) {
    double plaq[3];
    read_file(words[0]);
    links_to_sites(2);
    qudaPlaquettePhased(2, plaq, &site_arg, 0);
    done();
    CLOSE(plaq[1], before[0], 1e-13);
    qudaGaugeFixingOVR(2, gauge_dir, 500, 20, 1.5, 1e-9, 20, 0, &site_arg);
    done();
    sites_to_links(2);
    plaquettes(&after[0], &after[1]);
    CLOSE(after[0], before[0], 1e-12);
    CLOSE(after[1], before[1], 1e-12);
    gauge((int)gauge_dir, &functional, &theta);
    printf("functional %.9f\n", functional);
  }
  if (solves) {
    angle[3] = atof(words[7]);
    read_file(words[0]);
    links_to_sites(2);
    qudaUnitarizeSU3Phased(2, 1e-4, &site_arg, 0);
    done();
    sites_to_links(2);
    twist(angle);
    new_host(2, atof(words[5]), atof(words[6]));
    correlators(angle);
    free_host();
  }
  free_sites();
  qudaFinalize();
}

int main(int argc, char **argv) {
#ifdef IN_BRIEF
  const int extents[4] = {4, 2, 4, 2};
#else
  const int extents[4] = {4, 2, 6, 4};
#endif
  const double angles[4][4] = {{0}, {0, 0, 0, 1}, {0.25, 0, 0.5, 1}, {0}};
  int mu, i, k;
#ifdef CLIENT_MPI
  static MPI_Comm world;
  join_grid(&argc, &argv, (int[4]){0, 1, 2, 3});
  CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &world) == MPI_SUCCESS);
  qudaSetMPICommHandle(&world);
#else
  qudaSetMPICommHandle(NULL);
#endif
  if (argc > 1 && strcmp(argv[1], "end") == 0) {
    double plaq[3];
    site_arg.link = plaq;
    qudaPlaquettePhased(2, plaq, &site_arg, 0);
    puts("not reached");
    return 0;
  }
  CHECK(plaq_quda_set_error_mode(PLAQ_QUDA_ERRORS_RETURN) == PLAQ_SUCCESS);
  CHECK(plaq_quda_set_error_handler(on_error, failed_in) == PLAQ_SUCCESS);
  CHECK(plaq_log_set(on_log, NULL, PLAQ_LOG_INFO) == PLAQ_SUCCESS);
  if (argc > 6 && strcmp(argv[1], "file") == 0) {
    int file_extents[4];
    for (mu = 0; mu < 4; mu++) file_extents[mu] = atoi(argv[3 + mu]);
    set_lattice(file_extents);
    run_file(argv + 2, argc > 9);
  } else {
    set_lattice(extents);
    check_start(extents);
    for (i = 1; i < 3; i++) {
      new_sites(i);
      random_links(0);
      check_observables(i, i == 2 ? 1e-13 : 1e-6);
      check_projection(i, i == 2 ? 1e-14 : 1e-6);
      check_gauge_fixing(i, 3, i == 2 ? 1e-12 : 1e-6);
      check_gauge_fixing(i, 4, i == 2 ? 1e-12 : 1e-6);
      check_phases(i, i == 2 ? 1e-14 : 1e-6);
      for (k = i == 2 ? 0 : 2; k < 3; k++) check_dynamics(i, k > 0, k != 1, i == 2 ? 1e-12 : 2e-6);
      free_sites();
    }
    for (i = 0; i < 4; i++) check_solves(angles[i], i == 3 ? 0.02 : 0);
    check_uploads();
    new_sites(2);
    check_misuse();
    /* Another life; pinned memory outlives the first. */
    qudaFinalize();
    done();
    free_sites();
    check_start(extents);
    qudaFinalize();
    done();
  }
  free(links);
#ifdef CLIENT_MPI
  MPI_Comm_free(&world);
  MPI_Finalize();
#endif
  return 0;
}
