/* A host of quda.h with Wilson quarks: what stays on the device, several lattices one after the other, and what each
 * mistake is told. */
#include "told.h"

#include <complex.h>

#include "quda.h"

/* Under valgrind, which runs kernels of one lane, a quarter of the sites. */
#ifdef IN_BRIEF
enum { WIDTH = 2 };
#else
enum { WIDTH = 4 };
#endif
/* Extents 4, WIDTH, WIDTH, 8; sites of one parity in a time slice. */
enum { SLICE = 2 * WIDTH * WIDTH, SITES = 16 * SLICE };

static int place(const int *coords, void *data) {
  CHECK(coords[0] == 0 && coords[3] == 0);
  return *(int *)data;
}

static double links[4][SITES][3][3][2], source[SITES][4][3][2], solution[SITES][4][3][2], back[SITES][4][3][2];
static void *directions[4] = {links[0], links[1], links[2], links[3]};

static QudaGaugeParam gauge_param(int t) {
  QudaGaugeParam p = newQudaGaugeParam();
  p.X[0] = 4, p.X[1] = p.X[2] = WIDTH, p.X[3] = t;
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
  for (mu = 0; mu < 4; mu++) p.geo_block_size[0][mu] = mu == 1 || mu == 2 ? WIDTH / 2 : 2;
  p.cycle_type[0] = QUDA_MG_CYCLE_VCYCLE;
  return p;
}

static void unit_links(double sign) {
  int mu, site, i;
  memset(links, 0, sizeof links);
  for (mu = 0; mu < 4; mu++)
    for (site = 0; site < SITES; site++)
      for (i = 0; i < 3; i++) links[mu][site][i][i][0] = mu == 3 && site % (SITES / 2) >= SLICE * 7 ? sign : 1;
}

typedef double _Complex number;

static number determinant(number m[3][3]) {
  number d = 0;
  int i;
  for (i = 0; i < 3; i++) d += m[0][i] * (m[1][(i + 1) % 3] * m[2][(i + 2) % 3] - m[1][(i + 2) % 3] * m[2][(i + 1) % 3]);
  return d;
}

/* The unitary factor of the polar decomposition, to which X = (X + X^-dagger) / 2 leads, with determinant 1. */
static void project(number m[3][3]) {
  int n, i, j;
  for (n = 0; n < 60; n++) {
    number next[3][3];
    const number d = conj(determinant(m));
    for (i = 0; i < 3; i++)
      for (j = 0; j < 3; j++) {
        const int k = (i + 1) % 3, l = (i + 2) % 3, p = (j + 1) % 3, q = (j + 2) % 3;
        next[i][j] = (m[i][j] + conj(m[k][p] * m[l][q] - m[k][q] * m[l][p]) / d) / 2;
      }
    memcpy(m, next, sizeof next);
  }
  const number root = cpow(determinant(m), 1. / 3);
  for (i = 0; i < 9; i++) m[i / 3][i % 3] /= root;
}

/* Links that are far from SU(3) are put on the matrices that are nearest to them. */
static void projection(QudaGaugeParam *gauge) {
  static double projected[4][SITES][3][3][2];
  void *list[4];
  int mu, site, i;
  for (mu = 0; mu < 4; mu++) {
    list[mu] = projected[mu];
    for (site = 0; site < SITES / 2; site++)
      for (i = 0; i < 18; i++)
        links[mu][site][i / 6][i / 2 % 3][i % 2] = (i % 8 == 0) + 0.2 * sin(1 + 13 * i + 7.7 * mu + 1.3 * site * i);
  }
  memcpy(projected, links, sizeof links);
  projectSU3Quda(list, 1e-12, gauge), fine();
  for (mu = 0; mu < 4; mu++)
    for (site = 0; site < SITES / 2; site++) {
      number m[3][3];
      memcpy(m, links[mu][site], sizeof m);
      project(m);
      for (i = 0; i < 9; i++) {
        const double *found = projected[mu][site][i / 3][i % 3];
        CHECK(cabs(found[0] + I * found[1] - m[i / 3][i % 3]) < 1e-12);
      }
    }
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Eigenvalues for unit links that are antiperiodic in t, of multiplicity 6: of M^dagger M = |1 - kappa h|^2, or of P^dagger P
 * = |1 - kappa^2 h^2|^2, h = 2 sum cos p +- 2 i sqrt(sum sin^2 p); there p and p + pi are the same vector. */
static int free_spectrum(double kappa, int preconditioned, double *values) {
  const double pi = acos(-1);
  int p[4], mu, count = 0, sign;
  for (p[0] = 0; p[0] < 2; p[0]++)
    for (p[1] = 0; p[1] < 2; p[1]++)
      for (p[2] = 0; p[2] < 2; p[2]++)
        for (p[3] = 0; p[3] < (preconditioned ? 2 : 4); p[3]++) {
          double re = 0, im = 0;
          for (mu = 0; mu < 4; mu++) {
            const double angle = mu == 3 ? pi * (2 * p[3] + 1) / 4 : pi * p[mu];
            re += 2 * cos(angle), im += 4 * sin(angle) * sin(angle);
          }
          for (sign = -1; sign <= 1; sign += 2) {
            const double y = sign * sqrt(im), a = preconditioned ? kappa * kappa * (re * re - y * y) : kappa * re,
                         b = preconditioned ? kappa * kappa * 2 * re * y : kappa * y;
            values[count++] = (1 - a) * (1 - a) + b * b;
          }
        }
  qsort(values, (size_t)count, sizeof *values, ascending);
  return count;
}

enum { MODES = 30, FEW = 32 };
static double modes[MODES][FEW][4][3][2], values[2 * FEW];
static void *mode_list[MODES];

static QudaEigParam eig_param(QudaInvertParam *operator, QudaEigSpectrumType end) {
  QudaEigParam p = newQudaEigParam();
  p.invert_param = operator, p.eig_type = QUDA_EIG_TR_LANCZOS, p.use_norm_op = QUDA_BOOLEAN_TRUE, p.spectrum = end;
  p.n_ev = p.n_conv = MODES, p.n_kr = 200, p.tol = 1e-10, p.max_restarts = 300;
  return p;
}

static double largest_difference(const void *found, const void *expected, double factor, int count) {
  double worst = 0;
  int i;
  for (i = 0; i < count; i++)
    worst = fmax(worst, fabs(((const double *)found)[i] - factor * ((const double *)expected)[i]));
  return worst;
}

/* On 2^3 x 4 sites. */
static void eigenvectors(void) {
  double _Complex found[4 * MODES];
  int form, i, t, mu;
  QudaGaugeParam gauge = gauge_param(4);
  QudaInvertParam invert = invert_param();
  QudaEigParam p, wrong;
  QudaInvertParam laplace = invert;
  gauge.X[0] = gauge.X[1] = gauge.X[2] = 2, gauge.t_boundary = QUDA_ANTI_PERIODIC_T;
  for (mu = 0; mu < 4; mu++)
    for (i = 0; i < FEW; i++)
      for (t = 0; t < 3; t++) links[mu][i][t][t][0] = mu == 3 && i % 16 >= 12 ? -1 : 1;
  loadGaugeQuda(directions, &gauge), fine();
  for (i = 0; i < MODES; i++) mode_list[i] = modes[i];
  for (form = getenv("PLAQ_TEST_BRIEF") ? 4 : 0; form < 4; form++) {
    /* The smallest ones with a polynomial and blocks. */
    const int preconditioned = form / 2, largest = form % 2, n = free_spectrum(invert.kappa, preconditioned, values);
    p = eig_param(&invert, largest ? QUDA_SPECTRUM_LR_EIG : QUDA_SPECTRUM_SR_EIG);
    invert.solution_type = preconditioned ? QUDA_MATPC_SOLUTION : QUDA_MAT_SOLUTION;
    p.use_pc = preconditioned ? QUDA_BOOLEAN_TRUE : QUDA_BOOLEAN_FALSE;
    if (!largest) {
      p.eig_type = QUDA_EIG_BLK_TR_LANCZOS, p.block_size = 4, p.use_poly_acc = QUDA_BOOLEAN_TRUE;
      p.poly_deg = 10, p.a_min = 0.5, p.a_max = 4;
    }
    eigensolveQuda(mode_list, found, &p), fine();
    for (i = 0; i < MODES; i++) {
      const double expected = values[largest ? n - 1 - i / 6 : i / 6];
      const int count = preconditioned ? FEW * 12 : FEW * 24;
      CHECK(fabs(creal(found[i]) - expected) < 1e-9 && cimag(found[i]) == 0);
      MatDagMatQuda(back, modes[i], &invert), fine();
      CHECK(largest_difference(back, modes[i], expected, count) < 1e-8);
    }
    found[0] = -1;
    eigensolveQuda(NULL, found, &p), fine();
    CHECK(fabs(creal(found[0]) - values[largest ? n - 1 : 0]) < 1e-9);
  }

  /* gamma5 M and gamma5 P, whose squares are M^dagger M and P^dagger P: both ends of the spectrum. */
  for (form = getenv("PLAQ_TEST_BRIEF") ? 4 : 0; form < 4; form++) {
    const int preconditioned = form / 2, largest = form % 2, n = free_spectrum(invert.kappa, preconditioned, values);
    const double expected = (largest ? 1 : -1) * sqrt(values[n - 1]);
    const int count = preconditioned ? FEW * 12 : FEW * 24;
    p = eig_param(&invert, largest ? QUDA_SPECTRUM_LR_EIG : QUDA_SPECTRUM_SR_EIG);
    p.use_norm_op = QUDA_BOOLEAN_FALSE, p.compute_gamma5 = QUDA_BOOLEAN_TRUE, p.n_conv = 3;
    invert.solution_type = preconditioned ? QUDA_MATPC_SOLUTION : QUDA_MAT_SOLUTION;
    p.use_pc = preconditioned ? QUDA_BOOLEAN_TRUE : QUDA_BOOLEAN_FALSE;
    eigensolveQuda(mode_list, found, &p), fine();
    for (i = 0; i < 3; i++) {
      int k;
      CHECK(fabs(creal(found[i]) - expected) < 1e-9);
      MatQuda(back, modes[i], &invert), fine();
      for (k = 0; k < count; k++)
        if (k % 24 >= 12) ((double *)back)[k] *= -1;
      CHECK(largest_difference(back, modes[i], expected, count) < 1e-8);
    }
    wrong = p, wrong.use_norm_op = QUDA_BOOLEAN_TRUE;
    eigensolveQuda(mode_list, found, &wrong);
    refused(PLAQ_UNSUPPORTED, "eigensolveQuda", "param.compute_gamma5");
  }
  invert.solution_type = QUDA_MAT_SOLUTION;

  /* Every time-slice: the constant three times, and then vectors with one momentum. */
  laplace.dslash_type = QUDA_LAPLACE_DSLASH, laplace.laplace3D = 3, laplace.kappa = 1 / 6.0;
  p = eig_param(&laplace, QUDA_SPECTRUM_SR_EIG);
  p.eig_type = QUDA_EIG_TR_LANCZOS_3D, p.use_norm_op = QUDA_BOOLEAN_FALSE, p.ortho_dim = 3, p.ortho_dim_size_local = 4;
  p.n_conv = 8;
  eigensolveQuda(mode_list, found, &p), fine();
  for (t = 0; t < 4; t++)
    for (i = 0; i < 8; i++) CHECK(fabs(creal(found[8 * t + i]) - (i < 3 ? 0 : 2 / 3.0)) < 1e-9);
  for (i = 0; i < 8; i++) {
    const double *mode = modes[i][0][0][0];
    double norm[4] = {0};
    int k;
    for (k = 0; k < FEW * 6; k++) norm[k / 6 % (FEW / 2) / 4] += mode[k] * mode[k];
    for (t = 0; t < 4; t++) CHECK(fabs(norm[t] - 1) < 1e-12);
    MatQuda(back, modes[i], &laplace), fine();
    CHECK(largest_difference(back, mode, i < 3 ? 0 : 2 / 3.0, FEW * 6) < 1e-8);
  }
  {
    /* A quark whose spin 1 is mode 2 and whose spin 3 is 2 i times mode 5. */
    static double quark[FEW][4][3][2];
    static double complex sinks[8][4][4];
    const double *two = modes[2][0][0][0], *five = modes[5][0][0][0];
    const int part[4] = {2, 2, 2, 4}, other[4] = {2, 2, 2, 8};
    void *quarks[1] = {quark};
    int k, s;
    for (k = 0; k < 3 * FEW; k++) {
      double(*v)[3][2] = quark[k / 3];
      v[1][k % 3][0] = two[2 * k], v[1][k % 3][1] = two[2 * k + 1];
      v[3][k % 3][0] = -2 * five[2 * k + 1], v[3][k % 3][1] = 2 * five[2 * k];
    }
    laphSinkProject(sinks[0][0], quarks, 1, 1, mode_list, 8, 3, &invert, part), fine();
    for (i = 0; i < 8; i++)
      for (t = 0; t < 4; t++)
        for (s = 0; s < 4; s++) {
          const double complex expect = i == 2 && s == 1 ? 1 : i == 5 && s == 3 ? 2 * I : 0;
          CHECK(cabs(sinks[i][t][s] - expect) < 1e-9);
        }
    laphSinkProject(sinks[0][0], quarks, 1, 1, mode_list, 8, 3, &invert, other);
    refused(PLAQ_INVALID_ARGUMENT, "laphSinkProject", "X");
    laphSinkProject(sinks[0][0], quarks, 1, 1, mode_list, 0, 3, &invert, part);
    refused(PLAQ_INVALID_ARGUMENT, "laphSinkProject", "nevec");
  }
  wrong = p, wrong.ortho_dim_size_local = 2;
  eigensolveQuda(mode_list, found, &wrong);
  refused(PLAQ_INVALID_ARGUMENT, "eigensolveQuda", "ortho_dim_size_local");
  wrong = p, wrong.max_restarts = 1, wrong.tol = 1e-16, wrong.n_conv = 1, found[0] = 7;
  eigensolveQuda(mode_list, found, &wrong);
  refused(PLAQ_NOT_CONVERGED, "eigensolveQuda", "param.max_restarts");
  CHECK(creal(found[0]) == 7);
  wrong.require_convergence = QUDA_BOOLEAN_FALSE;
  eigensolveQuda(mode_list, found, &wrong), fine();
  CHECK(creal(found[0]) != 7);
  wrong = p, wrong.invert_param = &invert, wrong.use_norm_op = QUDA_BOOLEAN_TRUE;
  eigensolveQuda(mode_list, found, &wrong);
  refused(PLAQ_UNSUPPORTED, "eigensolveQuda", "param.eig_type");

  p = eig_param(&invert, QUDA_SPECTRUM_SR_EIG);
  wrong = p, wrong.n_conv = 0;
  eigensolveQuda(mode_list, found, &wrong);
  refused(PLAQ_BAD_PARAMETER, "eigensolveQuda", "param.n_conv");
  wrong = p, wrong.use_norm_op = QUDA_BOOLEAN_FALSE;
  eigensolveQuda(mode_list, found, &wrong);
  refused(PLAQ_UNSUPPORTED, "eigensolveQuda", "param.use_norm_op");
  wrong = p, wrong.spectrum = QUDA_SPECTRUM_LI_EIG;
  eigensolveQuda(mode_list, found, &wrong);
  refused(PLAQ_INVALID_ARGUMENT, "eigensolveQuda", "param.spectrum");
  wrong = p, wrong.vec_infile[0] = 'a';
  eigensolveQuda(mode_list, found, &wrong);
  refused(PLAQ_UNSUPPORTED, "eigensolveQuda", "param.vec_infile");
  eigensolveQuda(mode_list, NULL, &p);
  refused(PLAQ_NULL_POINTER, "eigensolveQuda", "h_evals");
  p.invert_param = NULL;
  eigensolveQuda(mode_list, found, &p);
  refused(PLAQ_NULL_POINTER, "eigensolveQuda", "param.invert_param");
}

/* A host's links of 2^3 x 4 sites, antiperiodic in t, with 1 / anisotropy in space; and vectors made of them. */
static number host_links[4][FEW][3][3];

static void coordinates(int site, int *x) {
  const int k = site % 16;
  x[1] = k % 2, x[2] = k / 2 % 2, x[3] = k / 4, x[0] = (site / 16 + x[1] + x[2] + x[3]) % 2;
}

static int beside(int site, int mu, int forward) {
  int x[4];
  coordinates(site, x);
  x[mu] = (x[mu] + (forward ? 1 : 3)) % (mu == 3 ? 4 : 2);
  return (x[0] + x[1] + x[2] + x[3]) % 2 * 16 + (x[0] + 2 * (x[1] + 2 * (x[2] + 2 * x[3]))) / 2;
}

/* sum = sum + U in(x + mu), or U^dagger in(x - mu). */
static void carried(number *sum, const number (*in)[3], int site, int mu, int forward) {
  const int from = beside(site, mu, forward);
  int i, j;
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++)
      sum[i] += (forward ? host_links[mu][site][i][j] : conj(host_links[mu][from][j][i])) * in[from][j];
}

/* a in + b times the sum over the neighbours in the directions of the mask. */
static void neighbours(number (*out)[3], const number (*in)[3], int mask, double a, double b) {
  int site, mu, i;
  for (site = 0; site < FEW; site++) {
    number sum[3] = {0};
    for (mu = 0; mu < 4; mu++)
      if (mask >> mu & 1) carried(sum, in, site, mu, 0), carried(sum, in, site, mu, 1);
    for (i = 0; i < 3; i++) out[site][i] = a * in[site][i] + b * sum[i];
  }
}

static void load_few(int random, double anisotropy) {
  QudaGaugeParam gauge = gauge_param(4);
  int mu, site, i;
  for (mu = 0; mu < 4; mu++)
    for (site = 0; site < FEW; site++) {
      for (i = 0; i < 9; i++) {
        const double a = random * sin(1 + 13 * i + 7.7 * mu + 1.3 * site * i), b = random * cos(3 * i + mu * site);
        host_links[mu][site][i / 3][i % 3] = (i % 4 == 0) + 0.3 * (a + I * b);
      }
      project(host_links[mu][site]);
      for (i = 0; i < 9; i++)
        host_links[mu][site][i / 3][i % 3] *= mu < 3 ? 1 / anisotropy : site % 16 >= 12 ? -1 : 1;
    }
  for (mu = 0; mu < 4; mu++) memcpy(links[mu], host_links[mu], sizeof host_links[mu]);
  gauge.X[0] = gauge.X[1] = gauge.X[2] = 2, gauge.t_boundary = QUDA_ANTI_PERIODIC_T, gauge.anisotropy = anisotropy;
  loadGaugeQuda(directions, &gauge), fine();
}

static void links_as_loaded(void) {
  static number in[FEW][3], out[FEW][3], twice[FEW][3], want[FEW][3], spinors[FEW][4][3], moved[FEW][4][3];
  static number before[4][FEW][4][3];
  const double xi = 2.5, kappa = 0.11, alpha = 0.3;
  double _Complex found[8];
  QudaInvertParam p = invert_param();
  QudaEigParam eig;
  int i, way, spin, left_out;
  for (i = 0; i < FEW * 3; i++) in[i / 3][i % 3] = sin(1 + i) + I * cos(2.2 * i);
  for (i = 0; i < FEW * 12; i++) spinors[i / 12][i / 3 % 4][i % 3] = sin(2 + i) + I * cos(1.7 * i);

  load_few(1, xi);
  p.dslash_type = QUDA_LAPLACE_DSLASH, p.kappa = kappa;
  for (left_out = 0; left_out < 5; left_out++) {
    const int mask = left_out < 4 ? 15 & ~(1 << left_out) : 15;
    p.laplace3D = left_out;
    neighbours(want, (const number(*)[3])in, mask, 1, -kappa);
    MatQuda(out, in, &p), fine();
    CHECK(largest_difference(out, want, 1, FEW * 6) < 1e-13);
    neighbours(twice, (const number(*)[3])want, mask, 1, -kappa);
    MatDagMatQuda(out, in, &p), fine();
    CHECK(largest_difference(out, twice, 1, FEW * 6) < 1e-13);
  }

  p.dslash_type = QUDA_COVDEV_DSLASH;
  for (way = 0; way < 8; way++) {
    p.covdev_mu = way;
    memset(moved, 0, sizeof moved);
    for (spin = 0; spin < 4; spin++) {
      for (i = 0; i < FEW; i++) memcpy(twice[i], spinors[i][spin], sizeof twice[i]);
      for (i = 0; i < FEW; i++) carried(moved[i][spin], (const number(*)[3])twice, i, way % 4, way < 4);
    }
    MatQuda(back, spinors, &p), fine();
    CHECK(largest_difference(back, moved, 1, FEW * 24) < 1e-13);
    memset(back, 0, sizeof back);
    covDevQuda(back, spinors, way, &p), fine();
    CHECK(largest_difference(back, moved, 1, FEW * 24) < 1e-13);
    memset(back, 0, sizeof back);
    shiftQuda(back, spinors, way % 4, way < 4 ? 1 : 2, &p), fine();
    CHECK(largest_difference(back, moved, 1, FEW * 24) < 1e-13);
    if (way < 4) memcpy(before[way], moved, sizeof moved);
    else {
      number *sum = before[way - 4][0][0], *other = moved[0][0];
      for (i = 0; i < FEW * 12; i++) sum[i] = 0.5 * (sum[i] + other[i]);
      shiftQuda(back, spinors, way - 4, 3, &p), fine();
      CHECK(largest_difference(back, before[way - 4], 1, FEW * 24) < 1e-13);
    }
  }
  covDevQuda(back, spinors, 8, &p);
  refused(PLAQ_INVALID_ARGUMENT, "covDevQuda", "dir");
  shiftQuda(back, spinors, 4, 1, &p);
  refused(PLAQ_BAD_PARAMETER, "shiftQuda", "dir");
  shiftQuda(back, spinors, 0, 0, &p);
  refused(PLAQ_BAD_PARAMETER, "shiftQuda", "sym");
  flushPoolQuda(QUDA_MEMORY_DEVICE), fine();
  flushPoolQuda(QUDA_MEMORY_HOST_PINNED), fine();
  MatQuda(back, spinors, &p), fine();

  p.dslash_type = QUDA_STAGGERED_DSLASH;
  neighbours(twice, (const number(*)[3])in, 7, 1 / (1 + 6 * alpha), alpha / (1 + 6 * alpha));
  neighbours(want, (const number(*)[3])twice, 7, 1 / (1 + 6 * alpha), alpha / (1 + 6 * alpha));
  performWuppertalnStep(out, in, &p, 2, alpha), fine();
  CHECK(largest_difference(out, want, 1, FEW * 6) < 1e-13);

  /* Other links are other operators. Of unit ones the lowest have momentum 0 in space and +- pi / 4 in t. */
  load_few(0, xi);
  p.dslash_type = QUDA_LAPLACE_DSLASH, p.laplace3D = 4;
  eig = eig_param(&p, QUDA_SPECTRUM_SR_EIG);
  eig.use_norm_op = QUDA_BOOLEAN_FALSE, eig.n_ev = eig.n_conv = 6;
  eigensolveQuda(mode_list, found, &eig), fine();
  for (i = 0; i < 6; i++) {
    const double expected = 1 - 2 * kappa * (3 / xi + sqrt(0.5));
    CHECK(fabs(creal(found[i]) - expected) < 1e-9);
    neighbours(want, (const number(*)[3])modes[i], 15, 1, -kappa);
    CHECK(largest_difference(want, modes[i], expected, FEW * 6) < 1e-8);
  }
}

/* The largest |a - b| / |b| of a time slice, of those where b does not vanish. */
static double worst_slice(const void *found, const void *expected) {
  const double *a = found, *b = expected;
  double worst = 0;
  int t, site, i;
  for (t = 0; t < 8; t++) {
    double off = 0, norm = 0;
    for (site = 0; site < SITES; site++)
      for (i = 24 * site; site % (SITES / 2) / SLICE == t && i < 24 * site + 24; i++)
        off += (a[i] - b[i]) * (a[i] - b[i]), norm += b[i] * b[i];
    if (norm > 1e-24) worst = fmax(worst, sqrt(off / norm));
  }
  return worst;
}

/* Distance preconditioning of a heavy quark: every time slice meets the tolerance, not the one of the source alone. */
static void distance_preconditioning(QudaDslashType kind) {
  static double origin[SITES][4][3][2], exact[SITES][4][3][2], plain[SITES][4][3][2], image[SITES][4][3][2];
  QudaInvertParam p = invert_param(), bad;
  void *list[1] = {solution};
  int kept;
  p.dslash_type = kind, p.kappa = 0.02, p.solver_normalization = QUDA_DEFAULT_NORMALIZATION;
  if (kind == QUDA_CLOVER_WILSON_DSLASH) p.clover_coeff = 0.02, p.compute_clover = 1, createCloverQuda(&p), fine();
  memset(origin, 0, sizeof origin);
  origin[3 * SLICE + 7][2][1][0] = 1;
  p.tol = 1e-14, p.cuda_prec_sloppy = QUDA_DOUBLE_PRECISION;
  invertQuda(exact, origin, &p), fine();
  p.tol = 1e-4, p.cuda_prec_sloppy = QUDA_SINGLE_PRECISION;
  invertQuda(plain, origin, &p), fine();
  CHECK(p.true_res[0] < 1e-4 && worst_slice(plain, exact) > 0.1);
  p.distance_pc_alpha0 = 3, p.distance_pc_t0 = -1;
  invertQuda(solution, origin, &p), fine();
  CHECK(memcmp(solution, plain, sizeof plain) == 0);
  p.distance_pc_t0 = 3;
  invertQuda(solution, origin, &p), fine();
  CHECK(p.true_res[0] < 1e-4 && worst_slice(solution, exact) < 1e-3);
  p.distance_pc_alpha0 = -3, memset(back, 0, sizeof back);
  invertQuda(back, origin, &p), fine();
  CHECK(memcmp(back, solution, sizeof back) == 0);
  p.distance_pc_alpha0 = 3;
  /* P x = b of even sites. */
  bad = p, bad.solution_type = QUDA_MATPC_SOLUTION, bad.tol = 1e-12;
  memset(image, 0, sizeof image), memset(back, 0, sizeof back);
  invertQuda(back, origin, &bad), fine();
  MatQuda(image, back, &bad), fine();
  CHECK(largest_difference(image, origin, 1, SITES / 2 * 24) < 1e-10);

  /* Operators do not see it. */
  for (kept = 0; kept < 3; kept++) {
    const void *from = kept == 2 ? exact[SITES / 2] : exact[0];
    bad = p, bad.distance_pc_alpha0 = 0, memset(back, 0, sizeof back), memset(image, 0, sizeof image);
    if (kept == 0) MatQuda(back, (void *)from, &p), fine(), MatQuda(image, (void *)from, &bad), fine();
    if (kept == 1) MatDagMatQuda(back, (void *)from, &p), fine(), MatDagMatQuda(image, (void *)from, &bad), fine();
    if (kept == 2)
      dslashQuda(back, (void *)from, &p, QUDA_EVEN_PARITY), fine(), dslashQuda(image, (void *)from, &bad, QUDA_EVEN_PARITY),
          fine();
    CHECK(memcmp(back, image, sizeof back) == 0 && back[7 + SLICE * 3][2][1][0] != 0);
  }

  /* Equations with the adjoint operator, too, alone and in both orders. */
  for (kept = 1; kept < 4; kept++) {
    bad = p, bad.dagger = kept & 1 ? QUDA_DAG_YES : QUDA_DAG_NO;
    if (kept > 1) bad.solution_type = QUDA_MATDAG_MAT_SOLUTION, bad.inv_type = QUDA_CG_INVERTER;
    if (kept > 1) bad.solve_type = kept & 1 ? QUDA_NORMOP_SOLVE : QUDA_NORMOP_PC_SOLVE;
    bad.distance_pc_alpha0 = 0, bad.tol = 1e-14, bad.cuda_prec_sloppy = QUDA_DOUBLE_PRECISION;
    invertQuda(exact, origin, &bad), fine();
    bad.tol = 1e-4, bad.cuda_prec_sloppy = QUDA_SINGLE_PRECISION;
    invertQuda(plain, origin, &bad), fine();
    CHECK(worst_slice(plain, exact) > (kept == 1 ? 0.1 : 0.01));
    bad.distance_pc_alpha0 = 3;
    invertQuda(solution, origin, &bad), fine();
    CHECK(bad.true_res[0] < 1e-4 && worst_slice(solution, exact) < 1e-3);
  }

  /* What has none. */
  bad = p, bad.solution_type = QUDA_MATDAG_MAT_SOLUTION, bad.inv_type = QUDA_CG_INVERTER;
  bad.num_offset = 1, bad.offset[0] = 0.1, bad.tol_offset[0] = 1e-6, bad.solve_type = QUDA_NORMOP_SOLVE;
  invertMultiShiftQuda(list, origin, &bad);
  refused(PLAQ_UNSUPPORTED, "invertMultiShiftQuda", "several shifts");
  bad = p, bad.inv_type = QUDA_GCR_INVERTER, bad.inv_type_precondition = QUDA_MG_INVERTER, bad.preconditioner = &bad;
  invertQuda(solution, origin, &bad);
  refused(PLAQ_UNSUPPORTED, "invertQuda", "multigrid");
  bad = p, bad.dslash_type = QUDA_TWISTED_MASS_DSLASH, bad.mu = 0.1, bad.twist_flavor = QUDA_TWIST_SINGLET;
  invertQuda(solution, origin, &bad);
  refused(PLAQ_UNSUPPORTED, "invertQuda", "QUDA_WILSON_DSLASH");
  MatQuda(solution, origin, &bad);
  refused(PLAQ_UNSUPPORTED, "MatQuda", "QUDA_WILSON_DSLASH");
  bad = p, bad.distance_pc_t0 = 8;
  invertQuda(solution, origin, &bad);
  refused(PLAQ_BAD_PARAMETER, "invertQuda", "param.distance_pc_t0");
  bad = p, bad.distance_pc_alpha0 = 21;
  invertQuda(solution, origin, &bad);
  refused(PLAQ_BAD_PARAMETER, "invertQuda", "param.distance_pc_alpha0");
}

/* What conditions a solve from inside: former solutions, minimal residual; shifts to a heavy-quark residual. */
static void inside_of_solves(void) {
  static double other[SITES][4][3][2], second[SITES][4][3][2];
  QudaInvertParam p = invert_param();
  void *list[2] = {solution, back};
  int plain, steps, i, replace;
  for (i = 0; i < SITES * 24; i++) (&other[0][0][0][0])[i] = (i * 7) % 13 - 6, (&second[0][0][0][0])[i] = (i * 5) % 11 - 5;

  /* Of two solutions that are kept, one after the other or one in the place of the other, the first is known or not. */
  for (replace = 0; replace < 2; replace++) {
    p.chrono_make_resident = 1, p.chrono_max_dim = 5, p.chrono_index = 2, p.chrono_replace_last = 0;
    flushChronoQuda(2), fine();
    invertQuda(solution, other, &p), fine();
    p.chrono_replace_last = replace;
    invertQuda(solution, second, &p), fine();
    p.chrono_make_resident = 0, p.chrono_use_resident = 1;
    invertQuda(solution, other, &p), fine();
    CHECK(replace ? p.iter > 3 : p.iter <= 3);
    p.chrono_use_resident = 0;
  }
  flushChronoQuda(2), fine();

  /* Steps of minimal residual take the place of iterations of GCR. */
  p = invert_param(), p.inv_type = QUDA_GCR_INVERTER, p.gcrNkrylov = 20;
  invertQuda(solution, other, &p), fine();
  plain = p.iter;
  p.inv_type_precondition = QUDA_MR_INVERTER, p.maxiter_precondition = 4, p.omega = 0.9;
  invertQuda(back, other, &p), fine();
  steps = p.iter;
  CHECK(steps < plain && p.true_res[0] < 1e-10 && largest_difference(back, solution, 1, SITES * 24) < 1e-7);
  p.maxiter_precondition = 0;
  invertQuda(back, other, &p);
  refused(PLAQ_INVALID_ARGUMENT, "invertQuda", "param.maxiter_precondition");
  p.inv_type_precondition = QUDA_CG_INVERTER;
  invertQuda(back, other, &p);
  refused(PLAQ_UNSUPPORTED, "invertQuda", "param.inv_type_precondition");
  p.inv_type = QUDA_BICGSTAB_INVERTER;
  invertQuda(back, other, &p), fine();

  /* A heavy-quark residual of shifts, where it is asked for. */
  p = invert_param(), p.inv_type = QUDA_CG_INVERTER;
  p.solution_type = QUDA_MATDAG_MAT_SOLUTION, p.solve_type = QUDA_NORMOP_SOLVE;
  p.num_offset = 2, p.offset[0] = 0, p.offset[1] = 0.5, p.tol_offset[0] = p.tol_offset[1] = 1e-3;
  p.tol_hq_offset[0] = p.tol_hq_offset[1] = 1e-9;
  invertMultiShiftQuda(list, other, &p), fine();
  for (i = 0; i < 2; i++) CHECK(p.true_res_hq_offset[i] > 1e-8);
  p.residual_type = QUDA_L2_RELATIVE_RESIDUAL | QUDA_HEAVY_QUARK_RESIDUAL;
  invertMultiShiftQuda(list, other, &p), fine();
  for (i = 0; i < 2; i++) CHECK(p.true_res_hq_offset[i] > 0 && p.true_res_hq_offset[i] < 1.0001e-9 && p.true_res_offset[i] < 1e-7);
  p.tol_hq_offset[1] = 2;
  invertMultiShiftQuda(list, other, &p);
  refused(PLAQ_BAD_PARAMETER, "invertMultiShiftQuda", "heavy_quark");
}

int main(void) {
  static double third[SITES][4][3][2];
  const int grid[4] = {1, 1, 1, 1};
  int rank = 0, i;
  QudaGaugeParam gauge = gauge_param(8), wrong;
  QudaInvertParam invert = invert_param(), bad;
  QudaEigParam modes;
  QudaMultigridParam levels;
  QudaGaugeObservableParam observe = newQudaGaugeObservableParam();
  QudaGaugeSmearParam smear = newQudaGaugeSmearParam();
  void *first, *second;
  double plaquette[3], loop[2];
  hear_failures();
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
  smear.n_steps = 4000000000u;
  performGaugeSmearQuda(&smear, &observe);
  refused(PLAQ_BAD_PARAMETER, "performGaugeSmearQuda", "smear_param.n_steps");
  smear.smear_type = QUDA_GAUGE_SMEAR_WILSON_FLOW, smear.epsilon = 0.01;
  performWFlowQuda(&smear, &observe);
  refused(PLAQ_BAD_PARAMETER, "performWFlowQuda", "smear_param.n_steps");
  performWuppertalnStep(solution, source, &invert, 100001, 0.1);
  refused(PLAQ_BAD_PARAMETER, "performWuppertalnStep", "n_steps");
  smear.n_steps = 2;
  performGaugeSmearQuda(&smear, &observe);
  refused(PLAQ_INVALID_ARGUMENT, "performGaugeSmearQuda", "smear_param.smear_type");
  observe.compute_qcharge_density = QUDA_BOOLEAN_TRUE;
  gaugeObservablesQuda(&observe);
  refused(PLAQ_NULL_POINTER, "gaugeObservablesQuda", "param.qcharge_density");
  observe.compute_qcharge_density = QUDA_BOOLEAN_FALSE;
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
  /* M M^dagger. */
  bad = invert, bad.solution_type = QUDA_MATDAG_MAT_SOLUTION, bad.solve_type = QUDA_NORMOP_PC_SOLVE;
  bad.inv_type = QUDA_CG_INVERTER, bad.dagger = QUDA_DAG_YES;
  invertQuda(solution, source, &bad), fine();
  CHECK(bad.true_res[0] < 1e-10);
  MatDagMatQuda(back, solution, &bad), fine();
  CHECK(largest_difference(back, source, 1, SITES * 24) < 1e-9);
  bad = invert, bad.dslash_type = QUDA_CLOVER_WILSON_DSLASH;
  invertQuda(solution, source, &bad);
  refused(PLAQ_INVALID_ARGUMENT, "invertQuda", "call loadCloverQuda first");
  bad = invert, bad.clover_rho = 0.1;
  invertQuda(solution, source, &bad);
  refused(PLAQ_UNSUPPORTED, "invertQuda", "param.clover_rho");
  bad = invert, bad.dslash_type = QUDA_ASQTAD_DSLASH;
  invertQuda(solution, source, &bad);
  refused(PLAQ_INVALID_ARGUMENT, "invertQuda", "param.dslash_type");
  bad = invert, bad.gamma_basis = QUDA_UKQCD_GAMMA_BASIS;
  invertQuda(solution, source, &bad);
  refused(PLAQ_INVALID_ARGUMENT, "invertQuda", "param.gamma_basis");
  bad = invert, bad.dirac_order = QUDA_CPS_WILSON_DIRAC_ORDER;
  invertQuda(solution, source, &bad);
  refused(PLAQ_INVALID_ARGUMENT, "invertQuda", "param.dirac_order");
  bad = invert, bad.dslash_type = QUDA_STAGGERED_DSLASH, bad.dirac_order = QUDA_QDP_DIRAC_ORDER;
  performWuppertalnStep(solution, source, &bad, 1, 0.1);
  refused(PLAQ_UNSUPPORTED, "performWuppertalnStep", "expected    QUDA_DIRAC_ORDER with colour vectors");
  bad = invert, bad.chrono_make_resident = 1, bad.chrono_max_dim = 3, bad.chrono_index = 12;
  invertQuda(solution, source, &bad);
  refused(PLAQ_INVALID_ARGUMENT, "invertQuda", "param.chrono_index");
  bad.chrono_index = 0, bad.chrono_max_dim = 0;
  invertQuda(solution, source, &bad);
  refused(PLAQ_INVALID_ARGUMENT, "invertQuda", "param.chrono_max_dim");
  bad = invert, bad.tol = newQudaInvertParam().tol;
  invertQuda(solution, source, &bad);
  refused(PLAQ_INVALID_ARGUMENT, "invertQuda", "param.tol");
  bad = invert, bad.num_src = 0;
  invertMultiSrcQuda(directions, directions, &bad);
  refused(PLAQ_INVALID_ARGUMENT, "invertMultiSrcQuda", "param.num_src");

  inside_of_solves();
  distance_preconditioning(QUDA_WILSON_DSLASH);
  distance_preconditioning(QUDA_CLOVER_WILSON_DSLASH);
  freeCloverQuda(), fine();

  /* A solve that is fixed before maxiter has not converged. */
  invert.tol = 1e-18, invert.maxiter = getenv("PLAQ_TEST_BRIEF") ? 10 : 3000;
  invertQuda(solution, source, &invert), fine();
  CHECK(invert.true_res[0] > 1e-18 && invert.iter >= invert.maxiter);
  invert.tol = 1e-10, invert.maxiter = 100;

  /* Two multigrids at once; a stale one. */
  levels = multigrid_param(&invert);
  /* Modes of the coarsest level: how many, from its eigensolver's parameters. */
  modes = newQudaEigParam(), levels.use_eig_solver[0] = QUDA_BOOLEAN_TRUE;
  CHECK(newMultigridQuda(&levels) == NULL);
  refused(PLAQ_UNSUPPORTED, "newMultigridQuda", "param.use_eig_solver[0]");
  levels.use_eig_solver[0] = QUDA_BOOLEAN_FALSE, levels.use_eig_solver[1] = QUDA_BOOLEAN_TRUE, levels.eig_param[1] = NULL;
  CHECK(newMultigridQuda(&levels) == NULL);
  refused(PLAQ_NULL_POINTER, "newMultigridQuda", "param.eig_param");
  levels.eig_param[1] = &modes;
  CHECK(newMultigridQuda(&levels) == NULL);
  refused(PLAQ_BAD_PARAMETER, "newMultigridQuda", "param.eig_param[1].n_conv");
  modes.n_conv = 8;
  invert.inv_type = QUDA_GCR_INVERTER, invert.inv_type_precondition = QUDA_MG_INVERTER, invert.gcrNkrylov = 8;
  levels.nu_post[0] = 0, levels.nu_pre[0] = 1;
  for (i = 0; i < 2; i++) {
    levels.use_eig_solver[1] = i ? QUDA_BOOLEAN_TRUE : QUDA_BOOLEAN_FALSE;
    first = newMultigridQuda(&levels), fine();
    invert.preconditioner = first;
    invertQuda(i ? back : solution, source, &invert), fine();
    CHECK(invert.true_res[0] < 1e-10);
    destroyMultigridQuda(first), fine();
  }
  /* Another tolerance of the coarsest level. */
  levels.coarse_solver_tol[1] = 1e-12;
  first = newMultigridQuda(&levels), fine();
  invert.preconditioner = first;
  invertQuda(third, source, &invert), fine();
  CHECK(memcmp(back, third, sizeof back) != 0 && largest_difference(back, third, 1, SITES * 24) < 1e-7);
  destroyMultigridQuda(first), fine();
  levels.transfer_type[0] = QUDA_TRANSFER_COARSE_KD;
  CHECK(newMultigridQuda(&levels) == NULL);
  refused(PLAQ_UNSUPPORTED, "newMultigridQuda", "param.transfer_type[0]");
  levels.transfer_type[0] = QUDA_TRANSFER_AGGREGATE;

  /* Another hierarchy, the same solution. */
  CHECK(memcmp(back, solution, sizeof back) != 0 && largest_difference(back, solution, 1, SITES * 24) < 1e-7);
  levels = multigrid_param(&invert), invert = invert_param();
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
  projection(&gauge);
  unit_links(1);
  endQuda(), fine();
  initQuda(-1), fine();
  eigenvectors();
  links_as_loaded();
  endQuda(), fine();
  return 0;
}
