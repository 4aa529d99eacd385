/* Arguments of QUDA's interface, and checks that an error that returns has been reported to the handler once and has
 * written nothing. */
#include "quda_calls.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_SITES = 512, MAX_SITE_BYTES = 1600, PINNED = 16 };

/* QUDA has one session and no handles of objects. */
const int kind_count = 0, kind_context = 0, kind_gauge = 1, kind_spinor = 2;

static int lattice[4] = {4, 4, 4, 4}, asked[4], machine[4], reals = 8, told, session, begun, openqcd;
static void *pinned[PINNED];
static unsigned char *links, *before;
static size_t link_bytes;

static void handler(const char *function, int32_t status, const char *message, void *user) {
  (void)function, (void)user;
  told++;
  if (status == 0 || !message || !*message) abort();
}

void begin_calls(void) {
  if (plaq_quda_set_error_mode(PLAQ_QUDA_ERRORS_RETURN) || plaq_quda_set_error_handler(handler, NULL)) exit(94);
  links = malloc(MAX_SITES * MAX_SITE_BYTES), before = malloc(MAX_SITES * MAX_SITE_BYTES);
  if (!links || !before) exit(94);
}

int makes_objects(const char *name) {
  static const char *const all[] = {"initQuda", "loadGaugeQuda", "loadCloverQuda", "newMultigridQuda", "dumpMultigridQuda", "invertQuda",
                                    "invertMultiSrcQuda", "eigensolveQuda", "momResidentQuda"};
  size_t i;
  for (i = 0; i < sizeof all / sizeof *all; i++)
    if (!strcmp(name, all[i])) return 1;
  return 0;
}

int quda_integer(const char *name) {
  static const int odd[] = {-1, 0, 1, 5, 7, 100, 65536, 2147483647, -2147483647 - 1};
  int value;
  /* The host chooses the number of iterations, so it is kept small. */
  if (strstr(name, "iter")) return (int)integer(name);
  if (percent(5)) return odd[below(9)];
  if (strstr(name, "precision") && !strstr(name, "mixed")) {
    value = 1 + below(2);
    if (strcmp(name, "quda_precision")) reals = 4 * value;
    return value;
  }
  if (strstr(name, "mixed")) return below(3);
  if (strstr(name, "phase")) return percent(90) ? 0 : 1;
  if (!strcmp(name, "dir")) return 3;
  if (!strcmp(name, "gauge_dir")) return 3 + below(2);
  if (strstr(name, "stop")) return below(2);
  return (int)integer(name);
}

unsigned quda_unsigned(const char *name) {
  int value = quda_integer(name);
  /* The host chooses the number of steps, so it is kept small. */
  if (strstr(name, "teps")) return (unsigned)below(12);
  return (unsigned)value;
}

size_t quda_size(void) { return percent(90) ? (size_t)below(100000) : (size_t)(draw() >> below(20)); }

/* A stream for a log that nobody reads: the engine takes output for a fault. */
void *quda_stream(void) {
  static FILE *nowhere;
  if (!nowhere) nowhere = fopen("/dev/null", "w");
  return nowhere;
}

void *quda_pointer(const char *name) {
  static int none;
  int i = below(PINNED);
  void *p;
  /* A value that newMultigridQuda returned before, or a wrong one. */
  if (!strcmp(name, "mg_instance") || !strcmp(name, "preconditioner") || !strncmp(name, "d_", 2))
    return (void *)(uintptr_t)below(percent(60) ? 6 : 30);
  if (!strcmp(name, "mom") || !strcmp(name, "sitelink") || strstr(name, "gauge") || strstr(name, "moment") ||
      !strcmp(name, "out") || !strncmp(name, "h_", 2) || !strncmp(name, "_hp", 3)) {
    /* Memory for links in any order and for vectors: numbers in either precision, as earlier calls left them; at its
     * beginning addresses of the memory behind them, as a call may write before it has read everything. */
    enum { NUMBERS = 1 << 18, LIST = 64 };
    static double *array, *data;
    if (!array && !(array = calloc(NUMBERS, sizeof *array))) exit(94);
    if (percent(95))
      for (i = 0; i < NUMBERS; i++) array[i] = 1.0 / (16 << (i % 3));
    data = array + LIST;
    for (i = 0; i < LIST; i++) memcpy(array + i, &data, sizeof data);
    return percent(5) ? NULL : array;
  }
  if (strcmp(name, "pointer")) return percent(80) ? NULL : &none;
  p = percent(70) ? pinned[i] : percent(50) ? (void *)&none : (void *)(uintptr_t)draw();
  for (i = 0; i < PINNED; i++)
    if (pinned[i] == p) pinned[i] = NULL;
  return p;
}

void quda_given(void *pointer) {
  int i = below(PINNED);
  if (!pointer) return;
  if (pinned[i]) qudaFreePinned(pinned[i]);
  pinned[i] = pointer;
}

QudaMILCSiteArg_t *quda_site(void) {
  static QudaMILCSiteArg_t arg;
  static double momenta[MAX_SITES * 40];
  size_t sites = (size_t)lattice[0] * (size_t)lattice[1] * (size_t)lattice[2] * (size_t)lattice[3], s, bytes;
  unsigned char *array;
  int k, whole = percent(50);
  memset(&arg, 0, sizeof arg);
  bytes = (size_t)(72 * reals);
  if (whole) {
    arg.link_offset = 8 * (size_t)below(100);
    arg.size = arg.link_offset + bytes + 8 * (size_t)below(20);
    if (arg.size > MAX_SITE_BYTES) arg.size = MAX_SITE_BYTES, arg.link_offset = 0;
    link_bytes = sites * arg.size;
  } else {
    link_bytes = sites * bytes;
  }
  array = links + MAX_SITES * MAX_SITE_BYTES - link_bytes;
  memset(array, 0, link_bytes);
  for (s = 0; s < sites; s++)
    for (k = 0; k < 72; k++) {
      unsigned char *at = array + (whole ? s * arg.size + arg.link_offset : s * bytes) + (size_t)(k * reals);
      double one = k % 18 % 8 == 0;
      float narrow = (float)one;
      if (percent(1) && percent(1) && percent(10)) narrow = (float)(one = real(""));
      if (reals == 4)
        memcpy(at, &narrow, 4);
      else
        memcpy(at, &one, 8);
    }
  memcpy(before, array, link_bytes);
  if (whole)
    arg.site = array;
  else
    arg.link = array, arg.mom = percent(95) ? momenta : NULL;
  /* Impossible offsets: beyond the site, or with sites beyond memory. */
  if (whole && percent(10)) arg.link_offset = (size_t)0 - (size_t)(8 * (1 + below(1000)));
  if (whole && percent(3)) arg.size = ((size_t)1 << 48) + (size_t)below(1000);
  if (percent(3)) arg.site = arg.link = NULL;
  return percent(3) ? NULL : &arg;
}

QudaInitArgs_t quda_init(void) {
  static const int some[][4] = {{2, 2, 2, 2}, {4, 4, 4, 4}, {4, 2, 2, 6}, {4, 4, 4, 8}, {3, 4, 4, 4}, {0, 4, 4, 4}, {-4, 4, 4, 4}};
  QudaInitArgs_t in;
  int i, n = below(7);
  memset(&in, 0, sizeof in);
  for (i = 0; i < 4; i++) asked[i] = some[n][i], machine[i] = percent(97) ? 1 : below(4) - 1;
  /* No log that writes, since the engine counts output as a fault. */
  in.verbosity = percent(95) ? QUDA_SILENT : (QudaVerbosity)(4 + below(5));
  in.layout.latsize = percent(3) ? NULL : asked;
  in.layout.machsize = percent(3) ? NULL : machine;
  in.layout.device = percent(90) ? -1 : (int)integer("device");
  return in;
}

static bc_parms_t boundary(void) {
  bc_parms_t p;
  memset(&p, 0, sizeof p);
  p.type = percent(95) ? 3 : (int)integer("type");
  return p;
}

static flds_parms_t fields(void) {
  flds_parms_t p;
  p.gauge = 1 + below(3), p.nfl = 1;
  return p;
}

static dirac_parms_t dirac(void) {
  dirac_parms_t p;
  memset(&p, 0, sizeof p);
  p.m0 = percent(90) ? 0.1 : real("m0"), p.su3csw = percent(50) ? 0 : real("su3csw"), p.qhat = below(2);
  return p;
}

static void *field(void) { return quda_pointer("h_field"); }
static void revisions(int *ud, int *ad) { *ud = below(3), *ad = 0; }
static void reorder(void *given, void *wanted) { (void)given, (void)wanted; }

openQCD_QudaLayout_t openqcd_layout(void) {
  static int data[6] = {0, 1, 1, 1, 1, 0};
  openQCD_QudaLayout_t layout;
  int i;
  memset(&layout, 0, sizeof layout);
  for (i = 0; i < 4; i++) {
    layout.L[i] = percent(97) ? lattice[i] : (int)integer("L"), layout.nproc[i] = percent(98) ? 1 : below(4) - 1;
    layout.N[i] = percent(97) ? layout.L[i] : (int)integer("N");
  }
  layout.device = percent(90) ? -1 : (int)integer("device"), layout.cstar = percent(95) ? 0 : below(5) - 1;
  layout.data = percent(50) ? NULL : data;
  if (percent(98)) layout.bc_parms = boundary;
  if (percent(98)) layout.flds_parms = fields;
  if (percent(98)) layout.dirac_parms = dirac;
  if (percent(98)) layout.h_gauge = field;
  if (percent(98)) layout.h_sw = field;
  if (percent(98)) layout.get_gfld_flags = revisions;
  return layout;
}

openQCD_QudaInitArgs_t openqcd_init(void) {
  openQCD_QudaInitArgs_t in;
  memset(&in, 0, sizeof in);
  in.volume = percent(90) ? lattice[0] * lattice[1] * lattice[2] * lattice[3] : (int)integer("volume");
  if (percent(80)) in.reorder_gauge_quda_to_openqcd = reorder;
  return in;
}

int quda_rank(const int *coords, void *data) { return (void)data, coords[0]; }

QudaEigParam *quda_QudaEigParam(QudaEigParam *param) {
  QudaEigParam good = newQudaEigParam();
  good.invert_param = param->invert_param, good.eig_type = (QudaEigType)below(4);
  good.spectrum = percent(90) ? QUDA_SPECTRUM_LR_EIG + below(2) : (QudaEigSpectrumType)below(6);
  good.use_norm_op = (QudaBoolean)percent(70), good.use_dagger = (QudaBoolean)percent(30);
  good.use_pc = (QudaBoolean)percent(40), good.use_poly_acc = (QudaBoolean)percent(50);
  good.poly_deg = percent(95) ? below(12) : quda_integer("degree");
  good.a_min = percent(90) ? 0.1 * below(5) : real(""), good.a_max = percent(90) ? 4 : real("");
  good.n_conv = good.n_ev = percent(97) ? 1 + below(3) : -below(3), good.n_kr = percent(97) ? 8 + below(20) : below(8) - 1;
  good.block_size = percent(95) ? 1 + below(3) : quda_integer("size"), good.tol = percent(90) ? 1e-5 : real("");
  good.max_restarts = percent(95) ? 1 + below(3) : 0, good.require_convergence = (QudaBoolean)percent(30);
  good.ortho_dim = percent(95) ? 3 : quda_integer("direction"), good.ortho_dim_size_local = percent(95) ? 4 : below(9);
  good.n_ev_deflate = percent(80) ? -1 : below(5), good.compute_gamma5 = (QudaBoolean)percent(10);
  good.compute_svd = (QudaBoolean)percent(5);
  if (percent(3)) good.vec_infile[0] = 'a';
  if (percent(3)) good.struct_size = quda_size();
  *param = good;
  return percent(3) ? NULL : param;
}

/* The space of a deflated solve: what the last solve left there, or a number. */
static QudaEigParam *deflating(void) {
  static QudaEigParam param;
  void *space = param.preserve_deflation_space;
  QudaEigParam *drawn = quda_QudaEigParam(&param);
  param.preserve_deflation = (QudaBoolean)percent(60);
  param.preserve_deflation_space = percent(80) ? space : percent(50) ? NULL : (void *)(uintptr_t)below(30);
  return drawn;
}

/* Members that hold sizes, with right values for those that functions read. */
QudaInvertParam *quda_QudaInvertParam(QudaInvertParam *param) {
  static const QudaDslashType kinds[] = {QUDA_WILSON_DSLASH, QUDA_CLOVER_WILSON_DSLASH, QUDA_TWISTED_MASS_DSLASH,
                                         QUDA_TWISTED_CLOVER_DSLASH, QUDA_LAPLACE_DSLASH, QUDA_COVDEV_DSLASH, QUDA_STAGGERED_DSLASH};
  static const QudaInverterType solvers[] = {QUDA_CG_INVERTER, QUDA_BICGSTAB_INVERTER, QUDA_GCR_INVERTER, QUDA_CGNE_INVERTER,
                                             QUDA_CGNR_INVERTER, QUDA_MR_INVERTER, QUDA_CA_GCR_INVERTER};
  static const QudaDiracFieldOrder orders[] = {QUDA_DIRAC_ORDER, QUDA_QDP_DIRAC_ORDER, QUDA_QDPJIT_DIRAC_ORDER};
  static const QudaSolutionType solutions[] = {QUDA_MAT_SOLUTION, QUDA_MATDAG_MAT_SOLUTION, QUDA_MATPC_SOLUTION,
                                               QUDA_MATPCDAG_MATPC_SOLUTION};
  QudaInvertParam good = newQudaInvertParam();
  good.dslash_type = kinds[percent(60) ? below(2) : below(7)], good.inv_type = solvers[below(7)];
  good.twist_flavor = percent(95) ? (percent(70) ? QUDA_TWIST_SINGLET : QUDA_TWIST_NONDEG_DOUBLET) : (QudaTwistFlavorType)below(4);
  good.mu = percent(90) ? 0.1 * below(3) : real(""), good.epsilon = percent(80) ? 0.05 : real("");
  good.tm_rho = percent(90) ? 0 : 0.1;
  if (percent(10)) good.distance_pc_alpha0 = percent(80) ? 0.3 : real(""), good.distance_pc_t0 = quda_integer("time");
  good.solution_type = solutions[below(4)], good.solve_type = (QudaSolveType)below(6);
  good.matpc_type = (QudaMatPCType)below(4), good.dagger = (QudaDagType)(percent(80) ? 0 : 1);
  good.mass_normalization = (QudaMassNormalization)below(3), good.kappa = 0.05 + 0.01 * below(6);
  good.cpu_prec = good.clover_cpu_prec = percent(50) ? QUDA_SINGLE_PRECISION : QUDA_DOUBLE_PRECISION;
  good.cuda_prec = percent(50) ? QUDA_SINGLE_PRECISION : QUDA_DOUBLE_PRECISION;
  good.cuda_prec_sloppy = percent(50) ? QUDA_HALF_PRECISION : QUDA_SINGLE_PRECISION;
  good.dirac_order = percent(80) ? QUDA_DIRAC_ORDER : orders[below(3)];
  good.gamma_basis = percent(80) ? QUDA_DEGRAND_ROSSI_GAMMA_BASIS : QUDA_CHIRAL_GAMMA_BASIS;
  good.clover_order = QUDA_PACKED_CLOVER_ORDER, good.clover_coeff = 0.01 * (1 + below(20));
  good.compute_clover = good.compute_clover_inverse = percent(90), good.compute_clover_trlog = percent(50);
  good.return_clover = percent(20), good.return_clover_inverse = percent(20);
  good.tol = 1e-6, good.maxiter = 1 + below(20), good.reliable_delta = 0.1, good.gcrNkrylov = 1 + below(8);
  good.num_src = 1 + below(3), good.num_offset = 1 + below(3), good.offset[1] = 0.1, good.offset[2] = 0.5;
  good.tol_offset[0] = good.tol_offset[1] = good.tol_offset[2] = 1e-6;
  good.use_init_guess = (QudaUseInitGuess)(percent(20)), good.laplace3D = below(5), good.covdev_mu = below(8);
  good.inv_type_precondition = percent(20) ? QUDA_MG_INVERTER : percent(90) ? QUDA_INVALID_INVERTER : QUDA_MR_INVERTER;
  good.maxiter_precondition = below(8) - 1, good.omega = percent(90) ? 1 : real("");
  good.residual_type = percent(80) ? QUDA_L2_RELATIVE_RESIDUAL : (QudaResidualType)below(9), good.tol_hq = 1e-3;
  good.eig_param = percent(20) ? deflating() : NULL, good.deflate = (QudaBoolean)(good.eig_param != NULL);
  good.tol_restart = percent(90) ? 0.1 : percent(50) ? real("") : 0.5 * (below(6) - 1), good.cuda_prec_eigensolver = good.cuda_prec;
  if (percent(20)) {
    good.chrono_make_resident = below(2), good.chrono_use_resident = below(2), good.chrono_replace_last = below(2);
    good.chrono_max_dim = percent(95) ? 1 + below(4) : quda_integer("size");
    good.chrono_index = percent(95) ? below(3) : quda_integer("index");
  }
  good.preconditioner = percent(20) ? param->preconditioner : NULL, good.compute_action = percent(30);
  if (percent(15)) {
    param->struct_size = good.struct_size;
    if (param->num_src > 4) param->num_src = 4;
    if (param->num_offset > 4) param->num_offset = 4;
    if (param->maxiter > 50) param->maxiter = 50;
    param->eig_param = good.eig_param, param->verbosity = good.verbosity;
    if (percent(80)) param->clover_rho = 0, param->make_resident_solution = param->use_resident_solution = 0;
    good = *param;
  }
  if (percent(3)) good.struct_size = quda_size();
  *param = good;
  return percent(3) ? NULL : param;
}

QudaInvertParam *quda_operator(void) {
  static QudaInvertParam param;
  memset(&param, 0, sizeof param);
  return quda_QudaInvertParam(&param);
}

/* The beginning of a file's name, in the fuzzer's folder or in none; 0: the call must fail. */
static int file_name(char *name) {
  const char *drawn = path();
  size_t length = drawn ? strlen(drawn) : 0;
  if (length > 2 && drawn[length - 2] == 'f' && length < 200) strcpy(name, drawn);
  else if (percent(30)) strcpy(name, "/nonexistent/file");
  else if (percent(20)) memset(name, 'a', 256);
  return drawn != NULL;
}

QudaMultigridParam *quda_QudaMultigridParam(QudaMultigridParam *param) {
  static QudaEigParam modes;
  QudaMultigridParam good = newQudaMultigridParam();
  int level, mu, file;
  good.invert_param = param->invert_param, good.n_level = 2, good.cycle_type[0] = (QudaMultigridCycleType)below(4);
  for (level = 0; level < 4; level++) {
    for (mu = 0; mu < 4; mu++) good.geo_block_size[level][mu] = percent(95) ? 2 : below(5) - 1;
    good.n_vec[level] = percent(95) ? 1 + below(3) : -below(3), good.nu_pre[level] = 0, good.nu_post[level] = 1 + below(3);
    good.coarse_solver_maxiter[level] = 1 + below(5);
  }
  good.thin_update_only = (QudaBoolean)below(2), good.setup_maxiter_refresh[0] = below(2);
  good.mu_factor[1] = percent(90) ? 1.5 : real("");
  if (percent(10)) good.use_eig_solver[below(2)] = QUDA_BOOLEAN_TRUE, good.eig_param[1] = quda_QudaEigParam(&modes);
  if (percent(3)) good.transfer_type[0] = (QudaTransferType)below(4);
  /* Dumps to a file need a name. */
  if (percent(60)) file = file_name(good.vec_outfile[percent(95) ? 0 : 1]);
  else file = percent(30) ? file_name(good.vec_infile[percent(95) ? 0 : 1]) : 1;
  good.vec_store[0] = (QudaBoolean)percent(20);
  if (!file) good.struct_size = 8;
  if (percent(3)) good.n_level = quda_integer("level");
  if (percent(3) && file) good.struct_size = quda_size();
  *param = good;
  return percent(3) ? NULL : param;
}

QudaGaugeObservableParam *quda_QudaGaugeObservableParam(QudaGaugeObservableParam *param) {
  /* As many entries as are measured. */
  static QudaGaugeObservableParam good[16];
  int i;
  (void)param;
  for (i = 0; i < 16; i++) {
    good[i] = newQudaGaugeObservableParam();
    good[i].compute_plaquette = (QudaBoolean)below(2), good[i].compute_polyakov_loop = (QudaBoolean)below(2);
    good[i].compute_qcharge = (QudaBoolean)below(2);
    if (percent(3)) good[i].struct_size = quda_size();
    if (percent(3)) good[i].compute_qcharge = (QudaBoolean)quda_integer("flag");
    if (percent(3)) good[i].compute_qcharge_density = QUDA_BOOLEAN_TRUE;
    if (percent(3)) good[i].compute_gauge_loop_trace = QUDA_BOOLEAN_TRUE;
  }
  return percent(3) ? NULL : good;
}

QudaGaugeSmearParam *quda_QudaGaugeSmearParam(QudaGaugeSmearParam *param) {
  QudaGaugeSmearParam good = newQudaGaugeSmearParam();
  good.smear_type = (QudaGaugeSmearType)below(6), good.n_steps = (unsigned)below(4), good.meas_interval = (unsigned)below(3);
  good.alpha = good.rho = good.alpha1 = good.alpha2 = good.alpha3 = percent(90) ? 0.1 * below(10) : real("");
  good.epsilon = percent(90) ? 0.01 : real(""), good.restart = (QudaBoolean)percent(30);
  good.dir_ignore = percent(90) ? below(6) - 1 : quda_integer("direction");
  if (percent(3)) good.struct_size = quda_size();
  *param = good;
  return percent(3) ? NULL : param;
}

/* Members that are printed only, or belong to functions that refuse every call. */
QudaBLASParam *quda_QudaBLASParam(QudaBLASParam *param) { return percent(3) ? NULL : param; }
QudaQuarkSmearParam *quda_QudaQuarkSmearParam(QudaQuarkSmearParam *param) { return percent(3) ? NULL : param; }

QudaGaugeParam *quda_QudaGaugeParam(QudaGaugeParam *param) {
  static const QudaGaugeFieldOrder orders[] = {QUDA_QDP_GAUGE_ORDER, QUDA_MILC_GAUGE_ORDER, QUDA_MILC_SITE_GAUGE_ORDER};
  QudaGaugeParam good = newQudaGaugeParam();
  int mu, odd = percent(5);
  for (mu = 0; mu < 4; mu++) good.X[mu] = param->X[mu] = odd ? mu - 1 : 4;
  good.anisotropy = percent(80) ? 1 : 2;
  good.type = QUDA_WILSON_LINKS, good.t_boundary = QUDA_PERIODIC_T, good.gauge_fix = QUDA_GAUGE_FIXED_NO;
  good.gauge_order = orders[below(3)], good.reconstruct = QUDA_RECONSTRUCT_NO;
  good.cpu_prec = percent(50) ? QUDA_SINGLE_PRECISION : QUDA_DOUBLE_PRECISION;
  good.cuda_prec = percent(50) ? QUDA_SINGLE_PRECISION : QUDA_DOUBLE_PRECISION;
  good.overwrite_gauge = below(2), good.overwrite_mom = below(2);
  good.use_resident_gauge = below(2), good.make_resident_gauge = below(2);
  good.use_resident_mom = below(2), good.make_resident_mom = below(2), good.return_result_mom = below(2);
  good.gauge_offset = (size_t)(8 * below(20)), good.site_size = good.gauge_offset + 576 + (size_t)(8 * below(20));
  if (percent(15)) {
    /* Right sizes, since they decide how much memory is read. */
    param->struct_size = good.struct_size;
    param->gauge_offset = good.gauge_offset, param->site_size = good.site_size;
    good = *param;
  }
  *param = good;
  return percent(3) ? NULL : param;
}

int **quda_paths(void) {
  enum { PATHS = 4096, STEPS = 64 };
  static const int loops[][6] = {{0, 1, 7, 6, 0, 7}, {2, 3, 5, 4, 2, 5}, {1, 7, 6, 0, 0, 7}, {3, 4, 3, 4, 3, 4}};
  static int *list[PATHS], steps[8][STEPS];
  int i, k, n;
  for (i = 0; i < 8; i++)
    for (n = below(4), k = 0; k < STEPS; k++) steps[i][k] = percent(98) ? loops[n][k % 6] : below(12) - 2;
  for (i = 0; i < PATHS; i++) list[i] = steps[i % 8];
  if (percent(3)) list[0] = NULL;
  return percent(3) ? NULL : list;
}

int ***quda_path_table(void) {
  static int **table[4];
  int d;
  for (d = 0; d < 4; d++) table[d] = quda_paths();
  return percent(3) ? NULL : table;
}

void quda_called(const char *name, int32_t status) {
  static const int whole[4] = {4, 4, 4, 4};
  const unsigned char *array = links + MAX_SITES * MAX_SITE_BYTES - link_bytes;
  if (!strcmp(name, "qudaInit") && status == 0) memcpy(lattice, asked, sizeof lattice), session = 1;
  if (!strcmp(name, "qudaFinalize") || !strcmp(name, "endQuda") || (openqcd && !strcmp(name, "openQCD_qudaFinalize")))
    memcpy(lattice, whole, sizeof lattice), session = openqcd = 0;
  /* A multigrid of the same lattice, which gets the number of its sites. */
  if (!strcmp(name, "openQCD_qudaInit") && status == 0) openqcd = 1;
  if ((!strcmp(name, "initQuda") || !strcmp(name, "initQudaDevice") || !strcmp(name, "openQCD_qudaInit")) && status == 0) begun = 1;
  if (!strcmp(name, "endQuda")) begun = 0;
  if (!session && !begun && status == 0 && strstr(name, "Phased")) engine_fault("a result without qudaInit");
  if (told != (status != 0)) engine_fault("the handler was not called once for an error");
  if (status && link_bytes && memcmp(array, before, link_bytes)) engine_fault("links of a call that failed");
  told = 0, link_bytes = 0;
}
