/* tmLQCD's calls other than solves: multigrid and forces of links; and its configurations. */
#ifndef TMLQCD_H
#define TMLQCD_H

#include "twisted.h"

enum { STAPLES = 24 };

static double *host_momenta[4];

/* Sets the operator of this file and, if it has a clover term, loads the term to the device. */
static void use(int flavours, double mu, double epsilon, double rho, int clover) {
  form.flavours = flavours, form.mu = mu, form.epsilon = epsilon, form.rho = rho, form.clover = clover;
  if (clover) freeCloverQuda(), fine();
  load_clover();
}

static inline number product(const spinor *a, const spinor *b) {
  number sum = 0;
  int i;
  for (i = 0; i < entries(); i++) sum += conj(*at(a, i)) * *at(b, i);
  return sum;
}

/* Parameters of a multigrid with two levels, with parameters `inner` of its own. */
static inline void set_levels(QudaMultigridParam *levels, QudaInvertParam *inner, const int *block, int vectors) {
  int i, mu;
  *levels = newQudaMultigridParam(), *inner = invert_param(QUDA_GCR_INVERTER, WHOLE);
  inner->gamma_basis = QUDA_DEGRAND_ROSSI_GAMMA_BASIS, inner->solve_type = QUDA_DIRECT_SOLVE;
  inner->cuda_prec_precondition = inner->cuda_prec_eigensolver = QUDA_SINGLE_PRECISION;
  levels->invert_param = inner, levels->n_level = 2;
  for (i = 0; i < 2; i++) {
    for (mu = 0; mu < 4; mu++) levels->geo_block_size[i][mu] = i ? 1 : block[mu];
    levels->spin_block_size[i] = i ? 1 : 2, levels->n_vec[i] = vectors, levels->n_vec_batch[i] = 1, levels->nu_pre[i] = 0;
    levels->nu_post[i] = 4, levels->setup_inv_type[i] = QUDA_CG_INVERTER, levels->setup_tol[i] = 5e-7;
    levels->setup_maxiter[i] = 500, levels->setup_maxiter_refresh[i] = 0, levels->precision_null[i] = QUDA_HALF_PRECISION;
    levels->smoother[i] = QUDA_CA_GCR_INVERTER, levels->smoother_tol[i] = 0.1;
    levels->smoother_solve_type[i] = QUDA_DIRECT_PC_SOLVE, levels->smoother_schwarz_type[i] = QUDA_INVALID_SCHWARZ;
    levels->smoother_halo_precision[i] = QUDA_HALF_PRECISION, levels->cycle_type[i] = QUDA_MG_CYCLE_RECURSIVE;
    levels->coarse_solver[i] = i ? QUDA_CA_GCR_INVERTER : QUDA_GCR_INVERTER, levels->coarse_solver_tol[i] = 0.1;
    levels->coarse_solver_maxiter[i] = 20, levels->coarse_grid_solution_type[i] = QUDA_MATPC_SOLUTION;
    levels->omega[i] = 0.95, levels->mu_factor[i] = i ? 5 : 1, levels->verbosity[i] = QUDA_SILENT;
    levels->location[i] = levels->setup_location[i] = QUDA_CUDA_FIELD_LOCATION;
  }
  levels->setup_type = QUDA_NULL_VECTOR_SETUP, levels->compute_null_vector = QUDA_COMPUTE_NULL_VECTOR_YES;
  levels->generate_all_levels = QUDA_BOOLEAN_TRUE, levels->run_verify = QUDA_BOOLEAN_FALSE;
}

/* The smallest eigenvalue of P P^dagger, or with `end` the largest one. */
static inline QudaEigParam eigen_param(QudaInvertParam *p, int end) {
  QudaEigParam eig = newQudaEigParam();
  p->solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p->dagger = QUDA_DAG_YES, p->verbosity = QUDA_VERBOSE;
  p->cuda_prec_eigensolver = p->clover_cuda_prec_eigensolver = QUDA_DOUBLE_PRECISION;
  eig.invert_param = p, eig.eig_type = QUDA_EIG_TR_LANCZOS, eig.block_size = 1;
  eig.use_pc = eig.use_norm_op = QUDA_BOOLEAN_TRUE, eig.use_dagger = eig.use_eigen_qr = QUDA_BOOLEAN_FALSE;
  eig.compute_svd = eig.compute_gamma5 = QUDA_BOOLEAN_FALSE;
  eig.n_conv = eig.n_ev = 1, eig.max_restarts = 1000;
  eig.use_poly_acc = end ? QUDA_BOOLEAN_FALSE : QUDA_BOOLEAN_TRUE;
  eig.spectrum = end ? QUDA_SPECTRUM_LR_EIG : QUDA_SPECTRUM_SR_EIG;
  return eig;
}

static QudaGaugeParam force_param(void) {
  QudaGaugeParam p = gauge_param();
  p.ga_pad = 0, p.return_result_mom = p.overwrite_mom = 1;
  return p;
}

static void get_momenta(double *ten) {
  double *one = room((size_t)volume * 10 * sizeof *one);
  int mu, site;
  for (mu = 0; mu < 4; mu++) {
    gather_sites(one, host_momenta[mu], 2, 10 * sizeof *one, 0, 10);
    for (site = 0; site < volume; site++) memcpy(ten + 40 * (size_t)site + 10 * mu, one + 10 * (size_t)site, 80);
  }
  free(one);
}

/* Paths of the staples of direction mu: six with three steps, and eighteen with five. */
static int staples(int mu, int path[STAPLES][5]) {
  const int back = 7 - mu;
  int count = 0, nu, k;
  for (k = 0; k < 8; k++)
    if (k != mu && k != back) {
      const int three[5] = {k, back, 7 - k, -1, -1};
      memcpy(path[count++], three, sizeof three);
    }
  for (nu = 0; nu < 8; nu++)
    if (nu != mu && nu != back) {
      const int five[3][5] = {{nu, nu, back, 7 - nu, 7 - nu}, {mu, nu, back, back, 7 - nu}, {nu, back, back, 7 - nu, mu}};
      memcpy(path[count], five, sizeof five), count += 3;
    }
  return count;
}

/* Minus twice the derivative of the action beta sum (1 - 8 c1) (1 - Re tr P / 3) + c1 (1 - Re tr R / 3), with
 * plaquettes P and rectangles R, from the first `count` staples: six if c1 is 0. */
static struct {
  int length[STAPLES], path[4][STAPLES][5];
  double coeff[STAPLES];
} staple;

static inline void gauge_force_of(double *ten, double beta, double c1, int count) {
  QudaGaugeParam p = force_param();
  int mu, i, *lists[4][STAPLES], **tables[4];
  for (mu = 0; mu < 4; mu++) {
    CHECK(staples(mu, staple.path[mu]) == STAPLES);
    for (i = 0; i < STAPLES; i++) lists[mu][i] = staple.path[mu][i];
    tables[mu] = lists[mu];
  }
  for (i = 0; i < STAPLES; i++) {
    staple.length[i] = i < 6 ? 3 : 5;
    staple.coeff[i] = -0.66666666666 * beta * (i < 6 ? 1 - 8 * c1 : c1);
  }
  for (mu = 0; mu < 4; mu++) memset(host_momenta[mu], 0x40, (size_t)own * 80);
  computeGaugeForceQuda(host_momenta, host_links, tables, staple.length, staple.coeff, count, count == 6 ? 3 : 5, 1, &p), fine();
  get_momenta(ten);
}

/* ln |det|^2 of the site terms of one flavour on even sites; for two flavours ln |det|, which contains both. */
static inline double log_det(void) {
  double sum = 0;
  int site, chirality, k;
  for (site = 0; site < volume; site++)
    for (chirality = 0; chirality < 2 && !is_odd(site); chirality++) {
      number m[12][12], x[12] = {0};
      site_matrix(m, site, chirality, form.mu, 0);
      eliminate(m, x, 6 * form.flavours);
      for (k = 0; k < 6 * form.flavours; k++) sum += (form.flavours == 2 ? 1 : 2) * log(cabs(m[k][k]));
    }
  return sum;
}

/* ---- configurations ---- */

/* Reads two rows of each link in NERSC's order, big-endian; the third one is the conjugate of their vector product. */
static inline void read_links(int extent) {
  char name[1000], line[1000];
  const char *folder = getenv("PLAQ_TEST_DATA");
  FILE *file;
  int i, k, n;
  double space, time;
  snprintf(name, sizeof name, "%s/tmlqcd-iwasaki-b2.4-%dx%dx%dx8.nersc", folder ? folder : "tests/data", extent, extent, extent);
  CHECK((file = fopen(name, "rb")) != NULL);
  do CHECK(fgets(line, sizeof line, file) != NULL);
  while (strcmp(line, "END_HEADER\n"));
  for (i = 0; i < 4 * volume; i++) {
    matrix *u = &links[i];
    unsigned char bytes[8];
    for (k = 0; k < 12; k++) {
      uint64_t bits = 0;
      double value;
      CHECK(fread(bytes, 1, 8, file) == 8);
      for (n = 0; n < 8; n++) bits = bits << 8 | bytes[n];
      memcpy(&value, &bits, sizeof value);
      if (k % 2) u->e[k / 6][k % 6 / 2] += I * value;
      else u->e[k / 6][k % 6 / 2] = value;
    }
    for (k = 0; k < 3; k++) {
      const int a = (k + 1) % 3, b = (k + 2) % 3;
      u->e[2][k] = conj(u->e[0][a] * u->e[1][b] - u->e[0][b] * u->e[1][a]);
    }
  }
  CHECK(fgetc(file) == EOF);
  fclose(file);
  plaquettes(&space, &time);
  CLOSE((space + time) / 2, extent == 8 ? 0.63736398055 : 0.63863474879, 1e-11);
}

static inline void open_lattice(int extent) {
  const int extents[4] = {extent, extent, extent, 8};
  const double theta[4] = {0, 0, 0, 1};
  int mu;
  make_arrays(extents);
  for (mu = 0; mu < 4; mu++) host_momenta[mu] = room((size_t)own * 80);
  read_links(extent);
  phases(theta);
  set_links();
  open_library();
  load_links();
}

static inline void close_lattice(void) {
  int mu;
  freeCloverQuda(), fine();
  freeGaugeQuda(), fine();
  endQuda(), fine();
  for (mu = 0; mu < 4; mu++) free(host_momenta[mu]);
  free_arrays();
}

#endif
