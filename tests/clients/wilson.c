/* A host of quda.h with Wilson quarks: what stays on the device, several lattices one after the other, and what each
 * mistake is told. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plaq.h"
#include "quda.h"

#define CHECK(claim)                                                        \
  do {                                                                      \
    if (!(claim)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #claim); \
      exit(1);                                                              \
    }                                                                       \
  } while (0)

enum { SITES = 4 * 4 * 4 * 8 };

static char told[2000];
static void listen(const char *function, int32_t status, const char *message, void *user) {
  (void)status, (void)user;
  snprintf(told, sizeof told, "%s\n%s", function, message);
}

/* The last call failed so, and was told so. */
static void refused(int32_t status, const char *function, const char *words) {
  int32_t last = -1;
  CHECK(plaq_quda_last_status(&last) == 0);
  if (last != status || !strstr(told, function) || !strstr(told, words)) {
    fprintf(stderr, "expected %d, %s, %s; found %d, %s\n", status, function, words, last, told);
    exit(1);
  }
  told[0] = 0;
}

static void fine(void) {
  int32_t last = -1;
  CHECK(plaq_quda_last_status(&last) == 0);
  if (last) fprintf(stderr, "%s\n", told);
  CHECK(last == 0);
}

static int place(const int *coords, void *data) {
  CHECK(coords[0] == 0 && coords[3] == 0);
  return *(int *)data;
}

static double links[4][SITES][3][3][2], source[SITES][4][3][2], solution[SITES][4][3][2], back[SITES][4][3][2];
static void *directions[4] = {links[0], links[1], links[2], links[3]};

static QudaGaugeParam gauge_param(int t) {
  QudaGaugeParam p = newQudaGaugeParam();
  p.X[0] = p.X[1] = p.X[2] = 4, p.X[3] = t;
  p.type = QUDA_WILSON_LINKS, p.gauge_order = QUDA_QDP_GAUGE_ORDER, p.t_boundary = QUDA_PERIODIC_T;
  p.cpu_prec = p.cuda_prec = QUDA_DOUBLE_PRECISION, p.reconstruct = QUDA_RECONSTRUCT_NO;
  p.gauge_fix = QUDA_GAUGE_FIXED_NO, p.anisotropy = 1;
  return p;
}

static QudaInvertParam invert_param(void) {
  QudaInvertParam p = newQudaInvertParam();
  p.dslash_type = QUDA_WILSON_DSLASH, p.inv_type = QUDA_BICGSTAB_INVERTER, p.kappa = 0.1;
  p.solution_type = QUDA_MAT_SOLUTION, p.solve_type = QUDA_DIRECT_PC_SOLVE, p.matpc_type = QUDA_MATPC_EVEN_EVEN;
  p.dagger = QUDA_DAG_NO, p.mass_normalization = QUDA_KAPPA_NORMALIZATION, p.tol = 1e-10, p.maxiter = 100;
  p.cpu_prec = p.cuda_prec = QUDA_DOUBLE_PRECISION, p.cuda_prec_sloppy = QUDA_SINGLE_PRECISION;
  p.dirac_order = QUDA_DIRAC_ORDER, p.gamma_basis = QUDA_DEGRAND_ROSSI_GAMMA_BASIS, p.reliable_delta = 0.1;
  return p;
}

static QudaMultigridParam multigrid_param(QudaInvertParam *operator) {
  QudaMultigridParam p = newQudaMultigridParam();
  int mu;
  p.invert_param = operator, p.n_level = 2, p.n_vec[0] = 4, p.nu_pre[0] = 0, p.nu_post[0] = 2;
  for (mu = 0; mu < 4; mu++) p.geo_block_size[0][mu] = 2;
  p.cycle_type[0] = QUDA_MG_CYCLE_VCYCLE;
  return p;
}

static void unit_links(double sign) {
  int mu, site, i;
  memset(links, 0, sizeof links);
  for (mu = 0; mu < 4; mu++)
    for (site = 0; site < SITES; site++)
      for (i = 0; i < 3; i++) links[mu][site][i][i][0] = mu == 3 && site % (SITES / 2) >= 32 * 7 ? sign : 1;
}

int main(void) {
  const int grid[4] = {1, 1, 1, 1};
  int rank = 0, i;
  QudaGaugeParam gauge = gauge_param(8), wrong;
  QudaInvertParam invert = invert_param(), bad;
  QudaMultigridParam levels;
  QudaGaugeObservableParam observe = newQudaGaugeObservableParam();
  QudaGaugeSmearParam smear = newQudaGaugeSmearParam();
  void *first, *second;
  double plaquette[3], loop[2];
  CHECK(plaq_quda_set_error_mode(PLAQ_QUDA_ERRORS_RETURN) == 0);
  CHECK(plaq_quda_set_error_handler(listen, NULL) == 0);
  unit_links(-1);

  /* Wrong order. */
  loadGaugeQuda(directions, &gauge);
  refused(PLAQ_NOT_INITIALISED, "loadGaugeQuda", "call initQuda first");
  invertQuda(solution, source, &invert);
  refused(PLAQ_NOT_INITIALISED, "invertQuda", "initQuda");
  initCommsGridQuda(3, grid, place, &rank);
  refused(PLAQ_INVALID_ARGUMENT, "initCommsGridQuda", "nDim");
  initCommsGridQuda(4, grid, place, &rank);
  initQuda(-1), fine();
  invertQuda(solution, source, &invert);
  refused(PLAQ_NOT_INITIALISED, "invertQuda", "");

  /* Structs. */
  wrong = gauge, wrong.struct_size = 8;
  loadGaugeQuda(directions, &wrong);
  refused(PLAQ_INVALID_ARGUMENT, "loadGaugeQuda", "param.struct_size");
  wrong = gauge, wrong.gauge_order = newQudaGaugeParam().gauge_order;
  loadGaugeQuda(directions, &wrong);
  refused(PLAQ_INVALID_ARGUMENT, "loadGaugeQuda", "param.gauge_order");
  loadGaugeQuda(NULL, &gauge);
  refused(PLAQ_NULL_POINTER, "loadGaugeQuda", "h_gauge");
  gauge.t_boundary = QUDA_ANTI_PERIODIC_T;
  loadGaugeQuda(directions, &gauge), fine();
  wrong = gauge, wrong.X[3] = 4;
  loadGaugeQuda(directions, &wrong);
  refused(PLAQ_INVALID_ARGUMENT, "loadGaugeQuda", "param.X");

  /* The sign of the last time-slice is known, and comes back. */
  plaqQuda(plaquette), fine();
  CHECK(plaquette[0] > 1 - 1e-14 && plaquette[2] < 1 + 1e-14);
  polyakovLoopQuda(loop, 3), fine();
  CHECK(loop[0] < -3 + 1e-13 && loop[0] > -3 - 1e-13);
  memset(links, 0, sizeof links);
  saveGaugeQuda(directions, &gauge), fine();
  CHECK(links[3][SITES - 1][2][2][0] == -1 && links[3][0][1][1][0] == 1 && links[2][SITES - 1][0][0][0] == 1);

  /* Smeared links: none yet, and then these are measured. */
  wrong = gauge, wrong.type = QUDA_SMEARED_LINKS;
  saveGaugeQuda(directions, &wrong);
  refused(PLAQ_INVALID_ARGUMENT, "saveGaugeQuda", "smeared links");
  smear.smear_type = QUDA_GAUGE_SMEAR_STOUT, smear.rho = 0.1, smear.n_steps = 2, smear.meas_interval = 3;
  observe.compute_plaquette = QUDA_BOOLEAN_TRUE;
  performGaugeSmearQuda(&smear, &observe), fine();
  CHECK(observe.plaquette[0] > 1 - 1e-14);
  saveGaugeQuda(directions, &wrong), fine();
  smear.smear_type = QUDA_GAUGE_SMEAR_OVRIMP_STOUT;
  performGaugeSmearQuda(&smear, &observe);
  refused(PLAQ_INVALID_ARGUMENT, "performGaugeSmearQuda", "smear_param.smear_type");
  observe.compute_qcharge_density = QUDA_BOOLEAN_TRUE;
  gaugeObservablesQuda(&observe);
  refused(PLAQ_UNSUPPORTED, "gaugeObservablesQuda", "compute_qcharge_density");
  freeUniqueGaugeQuda(QUDA_SMEARED_LINKS), fine();

  /* A solve, and M of its solution. */
  source[5][1][2][0] = 1;
  invertQuda(solution, source, &invert), fine();
  CHECK(invert.iter > 0 && invert.secs > 0 && invert.gflops > 0 && invert.true_res[0] < 1e-10);
  MatQuda(back, solution, &invert), fine();
  for (i = 0; i < SITES * 24; i++) {
    double off = ((double *)back)[i] - ((double *)source)[i];
    CHECK(off < 1e-9 && off > -1e-9);
  }
  bad = invert, bad.dslash_type = QUDA_CLOVER_WILSON_DSLASH;
  invertQuda(solution, source, &bad);
  refused(PLAQ_INVALID_ARGUMENT, "invertQuda", "call loadCloverQuda first");
  bad = invert, bad.dslash_type = QUDA_ASQTAD_DSLASH;
  invertQuda(solution, source, &bad);
  refused(PLAQ_INVALID_ARGUMENT, "invertQuda", "param.dslash_type");
  bad = invert, bad.gamma_basis = QUDA_UKQCD_GAMMA_BASIS;
  invertQuda(solution, source, &bad);
  refused(PLAQ_UNSUPPORTED, "invertQuda", "expected    QUDA_DEGRAND_ROSSI_GAMMA_BASIS");
  bad = invert, bad.tol = newQudaInvertParam().tol;
  invertQuda(solution, source, &bad);
  refused(PLAQ_INVALID_ARGUMENT, "invertQuda", "param.tol");
  bad = invert, bad.num_src = 0;
  invertMultiSrcQuda(directions, directions, &bad);
  refused(PLAQ_INVALID_ARGUMENT, "invertMultiSrcQuda", "param.num_src");

  /* Two multigrids at once; a stale one. */
  levels = multigrid_param(&invert);
  first = newMultigridQuda(&levels), fine();
  levels.n_vec[0] = 6;
  second = newMultigridQuda(&levels), fine();
  CHECK(first && second && first != second);
  invert.inv_type = QUDA_GCR_INVERTER, invert.inv_type_precondition = QUDA_MG_INVERTER, invert.gcrNkrylov = 8;
  invert.preconditioner = second;
  invertQuda(solution, source, &invert), fine();
  CHECK(invert.true_res[0] < 1e-10);
  destroyMultigridQuda(second), fine();
  invertQuda(solution, source, &invert);
  refused(PLAQ_INVALID_HANDLE, "invertQuda", "param.preconditioner");
  invert.preconditioner = first;
  invertQuda(solution, source, &invert), fine();
  loadGaugeQuda(directions, &gauge), fine();
  /* Of other links it preconditions worse, no more. */
  invertQuda(solution, source, &invert), fine();
  levels.thin_update_only = QUDA_BOOLEAN_TRUE;
  updateMultigridQuda(first, &levels), fine();
  invertQuda(solution, source, &invert), fine();
  destroyMultigridQuda(&rank);
  refused(PLAQ_INVALID_HANDLE, "destroyMultigridQuda", "mg_instance");

  /* What is not offered. */
  flushChronoQuda(12);
  refused(PLAQ_INVALID_ARGUMENT, "flushChronoQuda", "index");
  flushChronoQuda(0), fine();
  CHECK(newDeflationQuda(NULL) == NULL);
  refused(PLAQ_UNSUPPORTED, "newDeflationQuda", "deflation");

  /* Another session with another lattice. What belonged to the first one went with it. */
  endQuda(), fine();
  destroyMultigridQuda(first), fine();
  initQuda(-1), fine();
  gauge = gauge_param(4);
  unit_links(1);
  loadGaugeQuda(directions, &gauge), fine();
  plaqQuda(plaquette), fine();
  CHECK(plaquette[0] > 1 - 1e-14);
  freeGaugeQuda(), fine();
  plaqQuda(plaquette);
  refused(PLAQ_INVALID_ARGUMENT, "plaqQuda", "call loadGaugeQuda first");
  endQuda(), fine();
  return 0;
}
