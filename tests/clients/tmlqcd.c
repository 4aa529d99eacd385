/* Calls the library as tmLQCD does, in its order and with its values: links of U(3), whose phases exp(i pi theta / L) are
 * those of quarks; the chiral basis on the whole lattice, that of DeGrand and Rossi on odd sites; twisted quarks of one
 * flavour and of two. Every solution is put into operators written here, every force is compared with the change of an
 * action that is computed here. Under mpirun (compiled with CLIENT_MPI) ranks are placed by a function. */
#include "lattice.h"

#include <quda.h>

#include "plaq.h"

enum { SHIFTS = 3, STAPLES = 24 };

static const double KAPPA = 0.12, CSW = 1.3, MU = 0.09, RHO = 0.07, TOL = 1e-10;

/* Under tools that make everything slow. */
static int brief;

/* ---- operators: M = A + i m gamma5 tau3 + e tau1 - kappa H, of one or two flavours one after the other ---- */

static int flavours = 1;
/* 2 kappa mu, - 2 kappa epsilon, and 2 kappa rho, which the inverse of the site term does not have. */
static double m, e, rho;
/* A, and (A^2 + m^2 - e^2)^-1. */
static blocks *term, *square, *nothing;

static spinor *vector(void) { return room(2 * (size_t)volume * sizeof(spinor)); }

static number *at(spinor *x, int i) { return &x[i / 12].d[i % 12 / 3][i % 3]; }

static void make_terms(double csw) {
  const double s = m * m - e * e;
  int site, n, i, j, k;
  clover_term(term, KAPPA, csw);
  for (site = 0; site < volume; site++)
    for (n = 0; n < 2; n++)
      for (i = 0; i < 6; i++)
        for (j = 0; j < 6; j++) {
          number sum = i == j ? s : 0;
          for (k = 0; k < 6; k++) sum += term[site].b[n][i][k] * term[site].b[n][k][j];
          square[site].b[n][i][j] = sum;
        }
  invert_blocks(square, square);
}

static void gamma5(spinor *x) {
  int i;
  for (i = 0; i < 6 * flavours * volume; i++) x[i / 6].d[2 + i % 6 / 3][i % 3] *= -1;
}

/* out = (A + i (mass) gamma5 tau3 + (split) tau1) in, out another array. */
static void site_term(spinor *out, const spinor *in, double mass, double split) {
  int f, i;
  for (f = 0; f < flavours; f++) {
    apply(out + f * volume, term, 0, in + f * volume);
    for (i = 0; i < 12 * volume; i++)
      *at(out + f * volume, i) += I * (f ? -mass : mass) * (i % 12 < 6 ? 1 : -1) * *at((spinor *)in + f * volume, i);
    for (i = 0; flavours == 2 && i < 12 * volume; i++)
      *at(out + f * volume, i) += split * *at((spinor *)in + (1 - f) * volume, i);
  }
}

static void inverse_term(spinor *out, const spinor *in, double mass) {
  spinor *t = vector();
  int f;
  site_term(t, in, -mass, -e);
  for (f = 0; f < flavours; f++) apply(out + f * volume, square, 0, t + f * volume);
  free(t);
}

/* H in, or H^dagger in. */
static void hop(spinor *out, spinor *in, int dagger) {
  int f, i;
  if (dagger) gamma5(in);
  for (f = 0; f < flavours; f++) apply(out + f * volume, nothing, 1, in + f * volume);
  for (i = 0; i < 12 * flavours * volume; i++) *at(out, i) *= -1;
  if (dagger) gamma5(in), gamma5(out);
}

static void add_to(spinor *y, number a, const spinor *x) {
  int i;
  for (i = 0; i < 12 * flavours * volume; i++) *at(y, i) += a * *at((spinor *)x, i);
}

static void keep(spinor *x, int odd) {
  int i;
  for (i = 0; i < flavours * volume; i++)
    if (is_odd(i % volume) != odd) memset(&x[i], 0, sizeof *x);
}

/* P of the odd sites: A + ... - kappa^2 H (A + ...)^-1 H, or its adjoint. */
static void odd_operator(spinor *out, spinor *in, int dagger) {
  const double sign = dagger ? -1 : 1;
  spinor *t = vector(), *v = vector();
  hop(t, in, dagger), inverse_term(v, t, sign * m), hop(t, v, dagger);
  site_term(out, in, sign * (m + rho), e);
  add_to(out, -KAPPA * KAPPA, t);
  keep(out, 1);
  free(t), free(v);
}

static number product(const spinor *a, const spinor *b) {
  number sum = 0;
  int i;
  for (i = 0; i < 12 * flavours * volume; i++) sum += conj(*at((spinor *)a, i)) * *at((spinor *)b, i);
  return sum;
}

/* |a - b| / |b|. */
static double distance(spinor *a, const spinor *b) {
  add_to(a, -1, b);
  return sqrt(creal(product(a, a)) / creal(product(b, b)));
}

/* ln |det|^2 of the site term on even sites: of (A^2 + m^2 - e^2), which has been inverted. */
static double log_det(void) {
  double sum = 0;
  int site, n, i, j, k;
  for (site = 0; site < volume; site++)
    for (n = 0; n < 2 && !is_odd(site); n++) {
      number w[6][6];
      memcpy(w, square[site].b[n], sizeof w);
      for (k = 0; k < 6; k++) {
        sum -= log(creal(w[k][k]));
        for (i = k + 1; i < 6; i++)
          for (j = 5; j >= k; j--) w[i][j] -= w[i][k] / w[k][k] * w[k][j];
      }
    }
  return sum;
}

/* ---- arrays: four of links and momenta; spinors with flavours inside of a parity ---- */

static double *host_links[4], *host_momenta[4];

static void fine(void) {
  int32_t status;
  CHECK(plaq_quda_last_status(&status) == PLAQ_SUCCESS);
  if (status) fprintf(stderr, "%s\n", plaq_last_error());
  CHECK(status == 0);
}

static void set_links(void) {
  matrix *one = room(volume * sizeof *one);
  int mu, site;
  for (mu = 0; mu < 4; mu++) {
    for (site = 0; site < volume; site++) one[site] = links[4 * site + mu];
    scatter_sites(host_links[mu], 2, sizeof(matrix), 0, (double *)one, 18);
  }
  free(one);
}

/* Moves numbers between a vector and the host's array of the whole lattice, in the chiral basis, or of odd sites. */
static void set_spinor(double *to, const spinor *from, int odd) {
  const size_t half = (size_t)own / 2 * 24;
  double *plain = room((size_t)own * sizeof(spinor));
  spinor *v = vector();
  int f, parity;
  memcpy(v, from, (size_t)flavours * volume * sizeof *v);
  for (f = 0; f < flavours; f++) {
    scatter_sites(plain, 2, sizeof(spinor), 0, (double *)(v + f * volume), 24);
    for (parity = odd; parity < 2; parity++)
      memcpy(to + ((odd ? 0 : parity * flavours) + f) * half, plain + parity * half, half * sizeof *to);
  }
  free(plain), free(v);
}

static void get_spinor(spinor *to, const double *from, int odd) {
  const size_t half = (size_t)own / 2 * 24;
  double *plain = room((size_t)own * sizeof(spinor));
  int f, parity;
  for (f = 0; f < flavours; f++) {
    for (parity = odd; parity < 2; parity++)
      memcpy(plain + parity * half, from + ((odd ? 0 : parity * flavours) + f) * half, half * sizeof *from);
    gather_sites((double *)(to + f * volume), plain, 2, sizeof(spinor), 0, 24);
  }
  free(plain);
}

static spinor *random_vector(int number_of, int odd) {
  spinor *x = vector();
  int i;
  for (i = 0; i < 12 * flavours * volume; i++) *at(x, i) = noise(number_of, 2 * i) + I * noise(number_of, 2 * i + 1);
  if (odd) keep(x, 1);
  return x;
}

/* ---- parameters ---- */

static QudaGaugeParam gauge_param(int force) {
  QudaGaugeParam p = newQudaGaugeParam();
  memcpy(p.X, local, sizeof local);
  p.anisotropy = 1, p.type = QUDA_WILSON_LINKS, p.gauge_order = QUDA_QDP_GAUGE_ORDER;
  p.cpu_prec = p.cuda_prec = QUDA_DOUBLE_PRECISION;
  p.reconstruct = p.reconstruct_sloppy = p.reconstruct_precondition = QUDA_RECONSTRUCT_NO;
  p.reconstruct_refinement_sloppy = p.reconstruct_eigensolver = QUDA_RECONSTRUCT_NO;
  p.gauge_fix = QUDA_GAUGE_FIXED_NO, p.ga_pad = force ? 0 : own / 2, p.t_boundary = QUDA_PERIODIC_T;
  p.cuda_prec_sloppy = p.cuda_prec_refinement_sloppy = QUDA_SINGLE_PRECISION;
  p.cuda_prec_precondition = p.cuda_prec_eigensolver = QUDA_SINGLE_PRECISION;
  if (force) p.return_result_mom = p.overwrite_mom = 1;
  return p;
}

/* The operator of m, e, rho and csw for vectors of the whole lattice or of odd sites. */
static QudaInvertParam invert_param(QudaInverterType type, double csw, int odd) {
  QudaInvertParam p = newQudaInvertParam();
  const int twisted = m != 0 || rho != 0 || flavours == 2 || (odd && csw == 0);
  p.Ls = flavours, p.kappa = KAPPA, p.mu = m / (2 * KAPPA), p.epsilon = -e / (2 * KAPPA), p.tm_rho = rho / (2 * KAPPA);
  p.twist_flavor = !twisted ? QUDA_TWIST_NO : flavours == 2 ? QUDA_TWIST_NONDEG_DOUBLET : QUDA_TWIST_SINGLET;
  p.mass_normalization = QUDA_KAPPA_NORMALIZATION, p.solver_normalization = QUDA_DEFAULT_NORMALIZATION;
  p.residual_type = QUDA_L2_RELATIVE_RESIDUAL, p.tol = TOL, p.tol_hq = 0.1, p.maxiter = 5000, p.reliable_delta = 1e-2;
  p.max_res_increase = 10, p.max_res_increase_total = 40, p.inv_type = type, p.gcrNkrylov = 20;
  p.solve_type = type == QUDA_CG_INVERTER ? QUDA_NORMOP_PC_SOLVE : QUDA_DIRECT_PC_SOLVE;
  p.inv_type_precondition = QUDA_INVALID_INVERTER, p.schwarz_type = QUDA_ADDITIVE_SCHWARZ, p.precondition_cycle = 1;
  p.tol_precondition = 0.1, p.maxiter_precondition = 10, p.verbosity_precondition = QUDA_SILENT, p.omega = 1;
  p.cpu_prec = p.cuda_prec = p.clover_cpu_prec = p.clover_cuda_prec = QUDA_DOUBLE_PRECISION;
  p.cuda_prec_sloppy = p.cuda_prec_refinement_sloppy = p.cuda_prec_precondition = QUDA_SINGLE_PRECISION;
  p.clover_cuda_prec_sloppy = p.clover_cuda_prec_precondition = p.cuda_prec_eigensolver = QUDA_SINGLE_PRECISION;
  p.preserve_source = QUDA_PRESERVE_SOURCE_YES, p.dirac_order = QUDA_DIRAC_ORDER, p.dagger = QUDA_DAG_NO;
  p.gamma_basis = odd ? QUDA_DEGRAND_ROSSI_GAMMA_BASIS : QUDA_CHIRAL_GAMMA_BASIS, p.verbosity = QUDA_SUMMARIZE;
  p.solution_type = odd ? QUDA_MATPC_SOLUTION : QUDA_MAT_SOLUTION;
  if (csw != 0) {
    p.dslash_type = twisted ? QUDA_TWISTED_CLOVER_DSLASH : QUDA_CLOVER_WILSON_DSLASH;
    p.matpc_type = twisted ? QUDA_MATPC_EVEN_EVEN : QUDA_MATPC_ODD_ODD_ASYMMETRIC;
    p.clover_order = QUDA_PACKED_CLOVER_ORDER, p.clover_coeff = csw * KAPPA;
    p.compute_clover = p.compute_clover_inverse = 1, p.clover_location = QUDA_CUDA_FIELD_LOCATION;
  } else {
    p.dslash_type = twisted ? QUDA_TWISTED_MASS_DSLASH : QUDA_WILSON_DSLASH;
    p.matpc_type = twisted ? QUDA_MATPC_EVEN_EVEN_ASYMMETRIC : QUDA_MATPC_EVEN_EVEN;
  }
  if (odd) p.matpc_type = QUDA_MATPC_ODD_ODD_ASYMMETRIC;
  return p;
}

/* Sets the operator here and, with csw, the clover term there. */
static void use(int number_of, double mu, double epsilon, double mu3, double csw) {
  flavours = number_of, m = 2 * KAPPA * mu, e = -2 * KAPPA * epsilon, rho = 2 * KAPPA * mu3;
  make_terms(csw);
  if (csw != 0) {
    QudaInvertParam p = invert_param(QUDA_CG_INVERTER, csw, 1);
    freeCloverQuda(), fine();
    loadCloverQuda(NULL, NULL, &p), fine();
  }
}

/* ---- solves ---- */

static void close_to(spinor *image, const spinor *b, double error) {
  const double off = distance(image, b);
  if (!(off <= error)) fprintf(stderr, "residual %g, expected %g\n", off, error);
  CHECK(off <= error);
}

/* x = (P P^dagger)^-1 b in one solve of CG, or in two of which the second begins in the array of the first. */
static void squared_solve(double csw, int steps) {
  double *in = room((size_t)own * sizeof(spinor)), *out = room((size_t)own * sizeof(spinor));
  spinor *b = random_vector(5, 1), *x = vector(), *t = vector(), *image = vector();
  QudaInvertParam p = invert_param(steps == 1 ? QUDA_CG_INVERTER : QUDA_BICGSTAB_INVERTER, csw, 1);
  set_spinor(in, b, 1);
  if (steps == 1) {
    p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.dagger = QUDA_DAG_YES;
    invertQuda(out, in, &p), fine();
    get_spinor(x, out, 1);
    odd_operator(t, x, 1), odd_operator(image, t, 0);
  } else {
    invertQuda(out, in, &p), fine();
    get_spinor(x, out, 1);
    odd_operator(image, x, 0);
    close_to(image, b, 30 * TOL);
    gamma5(x);
    memcpy(b, x, (size_t)flavours * volume * sizeof *b);
    set_spinor(out, x, 1);
    p.mu = -p.mu, p.tm_rho = -p.tm_rho, m = -m, rho = -rho;
    invertQuda(out, out, &p), fine();
    get_spinor(x, out, 1);
    odd_operator(image, x, 0);
    m = -m, rho = -rho;
  }
  CHECK(p.iter > 0 && p.iter < p.maxiter);
  close_to(image, b, 30 * TOL);
  free(in), free(out), free(b), free(x), free(t), free(image);
}

/* The largest and the smallest eigenvalue of P P^dagger: with vectors, which tmLQCD does not ask for, and without. */
static void eigenvalues(double csw) {
  int end;
  for (end = 0; end < 2; end++) {
    QudaInvertParam p = invert_param(QUDA_CG_INVERTER, csw, 1);
    QudaEigParam eig = newQudaEigParam();
    double *evec = room((size_t)own * sizeof(spinor));
    double _Complex found[2];
    void *list[1];
    spinor *x = vector(), *t = vector(), *image = vector();
    list[0] = evec;
    p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.dagger = QUDA_DAG_YES, p.verbosity = QUDA_VERBOSE;
    p.cuda_prec_eigensolver = p.clover_cuda_prec_eigensolver = QUDA_DOUBLE_PRECISION;
    eig.invert_param = &p, eig.tol = eig.qr_tol = 1e-7, eig.eig_type = QUDA_EIG_TR_LANCZOS, eig.block_size = 1;
    eig.use_pc = eig.use_norm_op = QUDA_BOOLEAN_TRUE, eig.use_dagger = eig.use_eigen_qr = QUDA_BOOLEAN_FALSE;
    eig.compute_svd = eig.compute_gamma5 = QUDA_BOOLEAN_FALSE;
    eig.n_conv = eig.n_ev = 1, eig.n_kr = 48, eig.max_restarts = 1000;
    eig.use_poly_acc = end ? QUDA_BOOLEAN_FALSE : QUDA_BOOLEAN_TRUE, eig.poly_deg = 24, eig.a_min = 0.5, eig.a_max = 4;
    eig.spectrum = end ? QUDA_SPECTRUM_LR_EIG : QUDA_SPECTRUM_SR_EIG;
    eigensolveQuda(NULL, found, &eig), fine();
    eigensolveQuda(list, found + 1, &eig), fine();
    CLOSE(creal(found[0]), creal(found[1]), 1e-6);
    get_spinor(x, evec, 1);
    odd_operator(t, x, 1), odd_operator(image, t, 0);
    CLOSE(creal(product(x, image)) / creal(product(x, x)), creal(found[1]), 1e-9);
    add_to(image, -found[1], x);
    CLOSE(sqrt(creal(product(image, image)) / creal(product(x, x))), 0, 1e-5);
    free(evec), free(x), free(t), free(image);
  }
}

/* ---- forces ---- */

static void get_momenta(double *ten) {
  double *one = room((size_t)volume * 10 * sizeof *one);
  int mu, site;
  for (mu = 0; mu < 4; mu++) {
    gather_sites(one, host_momenta[mu], 2, 10 * sizeof *one, 0, 10);
    for (site = 0; site < volume; site++) memcpy(ten + 40 * (size_t)site + 10 * mu, one + 10 * (size_t)site, 80);
  }
  free(one);
}

/* Staples of direction mu: six of three steps, and eighteen of five. */
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

static void gauge_force(void) {
  const double beta = 2.4, c1 = -0.331;
  int mu, i, n, k, site, length[STAPLES], path[4][STAPLES][5], *lists[4][STAPLES], **tables[4], end;
  double coeff[STAPLES], *found = room(40 * (size_t)volume * sizeof *found), want[9];
  QudaGaugeParam p = gauge_param(1);
  for (mu = 0; mu < 4; mu++) {
    CHECK(staples(mu, path[mu]) == STAPLES);
    for (i = 0; i < STAPLES; i++) lists[mu][i] = path[mu][i];
    tables[mu] = lists[mu];
  }
  for (i = 0; i < STAPLES; i++) {
    length[i] = i < 6 ? 3 : 5;
    coeff[i] = -0.66666666666 * beta * (i < 6 ? 1 - 8 * c1 : c1);
  }
  for (n = 6; n <= STAPLES; n += STAPLES - 6) {
    set_links();
    for (mu = 0; mu < 4; mu++) memset(host_momenta[mu], 0x40, (size_t)own * 80);
    computeGaugeForceQuda(host_momenta, host_links, tables, length, coeff, n, n == 6 ? 3 : 5, 1, &p), fine();
    get_momenta(found);
    for (site = 0; site < volume; site += 3)
      for (mu = 0; mu < 4; mu++) {
        matrix sum = {{{0}}};
        for (i = 0; i < n; i++) {
          const int at_end = step(site, mu, 1);
          sum = add(sum, -coeff[i], mul(links[4 * site + mu], along(at_end, path[mu][i], length[i], &end)));
          CHECK(end == site);
        }
        traceless(want, sum);
        for (k = 0; k < 9; k++) CLOSE(found[40 * (size_t)site + 10 * mu + k], want[k], 1e-12);
      }
  }
  free(found);
}

/* The action of which a force is the derivative at fixed x and y: sum of -2 w Re <y, R x>, less ln |det A|^2. */
static double action(spinor *const *x, spinor *const *y, const double *w, int count, double csw, int determinant) {
  spinor *t = vector();
  double sum = 0;
  int i;
  make_terms(csw);
  for (i = 0; i < count; i++) {
    odd_operator(t, x[i], 0);
    sum -= 2 * w[i] * creal(product(y[i], t));
  }
  free(t);
  return sum - determinant * log_det();
}

/* A force compared with the change of the action under exp(eps K) of all links, K random: of S the change is G_a k_a
 * where K = i k_a lambda_a, and what comes back is i G_a lambda_a. */
static void quark_force(double csw, int ratio, int count) {
  const double evmax = 1.7, eps = 2e-4;
  const double weight[4] = {-1, 8, -8, 1}, place_of[4] = {2, 1, -1, -2};
  QudaGaugeParam gauge = gauge_param(1);
  QudaInvertParam p = invert_param(QUDA_CG_INVERTER, csw, 1);
  double *found = room(40 * (size_t)volume * sizeof *found), coeff[SHIFTS], w[SHIFTS], scale = 0;
  matrix *before = room(4 * (size_t)volume * sizeof *before);
  spinor *x[SHIFTS], *y[SHIFTS], *x0 = random_vector(40, 1);
  void *list[SHIFTS], *zero[1];
  int i, k, n, kinds;
  memcpy(before, links, 4 * (size_t)volume * sizeof *before);
  p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.dagger = QUDA_DAG_YES, p.clover_csw = csw;
  if (flavours == 2) p.evmax = evmax;
  zero[0] = room((size_t)own * sizeof(spinor));
  set_spinor(zero[0], x0, 1);
  /* R has the other sign of mu and rho. */
  m = -m, rho = -rho;
  for (i = 0; i < count; i++) {
    x[i] = random_vector(30 + i, 1), y[i] = vector();
    odd_operator(y[i], x[i], 0);
    if (ratio && flavours == 1) gamma5(x0), add_to(y[i], 1, x0), gamma5(x0);
    w[i] = flavours == 2 ? 0.3 + i : 1;
    coeff[i] = 4 * KAPPA * KAPPA * w[i] * (flavours == 2 ? evmax : 1);
    p.offset[i] = 0.1 * i;
    list[i] = room((size_t)own * sizeof(spinor));
    set_spinor(list[i], x[i], 1);
  }
  for (i = 0; i < 4; i++) memset(host_momenta[i], 0x40, (size_t)own * 80);
  computeTMCloverForceQuda(host_momenta, list, ratio && flavours == 1 ? zero : list, coeff, count, &gauge, &p, ratio), fine();
  get_momenta(found);
  for (i = 0; i < 40 * volume; i++) scale += i % 10 < 9 ? found[i] * found[i] : 0;
  for (kinds = 0; kinds < 2; kinds++) {
    double change = 0, given = 0;
    double *ten = room(40 * (size_t)volume * sizeof *ten);
    for (i = 0; i < 4 * volume; i++) {
      const matrix force = of_ten(found + 10 * (size_t)i);
      matrix with;
      for (k = 0; k < 9; k++) ten[10 * i + k] = noise(50 + kinds, 10 * i + k);
      ten[10 * i + 8] = -ten[10 * i + 6] - ten[10 * i + 7];
      with = of_ten(ten + 10 * (size_t)i);
      given += 0.5 * creal(trace(mul(dagger(force), with)));
    }
    for (n = 0; n < 4; n++) {
      for (i = 0; i < 4 * volume; i++) links[i] = mul(exponential(eps * place_of[n], ten + 10 * (size_t)i), before[i]);
      change += weight[n] * action(x, y, w, count, csw, !ratio) / (12 * eps);
    }
    CLOSE(given, change, 1e-8 * sqrt(scale));
    free(ten);
  }
  memcpy(links, before, 4 * (size_t)volume * sizeof *before);
  m = -m, rho = -rho;
  make_terms(csw);
  for (i = 0; i < count; i++) free(x[i]), free(y[i]), free(list[i]);
  free(zero[0]), free(x0), free(found), free(before);
}

/* ---- flow ---- */

/* Flowed links of U(3) links come back in SU(3), and are those of the same links without phases. */
static void flow(QudaGaugeParam *gauge, const matrix *without) {
  enum { STEPS = 3 };
  QudaGaugeSmearParam p = newQudaGaugeSmearParam();
  QudaGaugeObservableParam observe[2][STEPS + 1];
  QudaGaugeParam smeared = *gauge;
  double *flowed[2][4], space, time;
  matrix *with = room(4 * (size_t)volume * sizeof *with);
  int n, i, mu, k;
  memcpy(with, links, 4 * (size_t)volume * sizeof *with);
  plaquettes(&space, &time);
  smeared.type = QUDA_SMEARED_LINKS;
  p.smear_type = QUDA_GAUGE_SMEAR_WILSON_FLOW, p.n_steps = STEPS, p.epsilon = 0.02, p.meas_interval = 1;
  for (n = 0; n < 2; n++) {
    void *arrays[4];
    for (i = 0; i <= STEPS; i++) {
      observe[n][i] = newQudaGaugeObservableParam();
      observe[n][i].compute_plaquette = observe[n][i].compute_qcharge = observe[n][i].su_project = QUDA_BOOLEAN_TRUE;
    }
    if (n) {
      memcpy(links, without, 4 * (size_t)volume * sizeof *links);
      set_links();
      freeGaugeQuda(), fine();
      loadGaugeQuda((void *)host_links, gauge), fine();
    }
    setVerbosityQuda(QUDA_SILENT, "# QUDA: ", stdout);
    performWFlowQuda(&p, observe[n]), fine();
    setVerbosityQuda(QUDA_SUMMARIZE, "# QUDA: ", stdout);
    for (mu = 0; mu < 4; mu++) arrays[mu] = flowed[n][mu] = room((size_t)own * sizeof(matrix));
    saveGaugeQuda((void *)arrays, &smeared), fine();
  }
  CLOSE(observe[0][0].plaquette[0], (space + time) / 2, 1e-13);
  for (i = 0; i <= STEPS; i++) {
    CLOSE(observe[0][i].plaquette[0], observe[1][i].plaquette[0], 1e-13);
    CLOSE(observe[0][i].energy[0], observe[1][i].energy[0], 1e-12);
    CLOSE(observe[0][i].qcharge, observe[1][i].qcharge, 1e-12);
    CHECK(i == 0 || observe[0][i].plaquette[0] > observe[0][i - 1].plaquette[0]);
  }
  for (mu = 0; mu < 4; mu++) {
    for (k = 0; k < 18 * own; k++) CLOSE(flowed[0][mu][k], flowed[1][mu][k], 1e-12);
    free(flowed[0][mu]), free(flowed[1][mu]);
  }
  memcpy(links, with, 4 * (size_t)volume * sizeof *links);
  set_links();
  freeGaugeQuda(), fine();
  loadGaugeQuda((void *)host_links, gauge), fine();
  free(with);
}

/* ---- programs of tmLQCD ---- */

static void trajectories(QudaGaugeParam *gauge) {
  int n;
  /* The clover term outlives links that are loaded again. */
  use(1, 0, 0, 0, CSW);
  gauge_force();
  freeGaugeQuda(), fine();
  set_links();
  loadGaugeQuda((void *)host_links, gauge), fine();
  squared_solve(CSW, 1);
  if (brief) return;
  squared_solve(CSW, 2);
  eigenvalues(CSW);
  for (n = 0; n < 4; n++) {
    use(1, n & 1 ? -MU : 0, 0, n & 2 ? -RHO : 0, CSW);
    quark_force(CSW, 0, SHIFTS);
    quark_force(CSW, 1, 1);
  }
}

/* tmLQCD's ranks: z fastest, then y, x, t. */
static int rank_at(const int *x, void *data) {
  (void)data;
  return x[2] + ranks[2] * (x[1] + ranks[1] * (x[0] + ranks[0] * x[3]));
}

int main(int argc, char **argv) {
  const double theta[4] = {0.3, 0, -0.2, 1};
  const int extents[4] = {4, 4, 4, 4};
  matrix *without, zero = {{{0}}};
  QudaGaugeParam gauge;
  int i, mu;
  (void)argc, (void)argv;
#ifdef CLIENT_MPI
  const char *grid = getenv("PLAQ_TEST_GRID");
  int rank;
  CHECK(MPI_Init(&argc, &argv) == MPI_SUCCESS);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(grid && sscanf(grid, "%d,%d,%d,%d", &ranks[0], &ranks[1], &ranks[2], &ranks[3]) == 4);
  place[2] = rank % ranks[2], rank /= ranks[2];
  place[1] = rank % ranks[1], rank /= ranks[1];
  place[0] = rank % ranks[0], place[3] = rank / ranks[0];
#endif
  brief = getenv("PLAQ_TEST_BRIEF") != NULL;
  set_lattice(extents);
  term = room(volume * sizeof *term), square = room(volume * sizeof *square), nothing = room(volume * sizeof *nothing);
  without = room(4 * (size_t)volume * sizeof *without);
  for (mu = 0; mu < 4; mu++) {
    host_links[mu] = room(own * sizeof(matrix));
    host_momenta[mu] = room((size_t)own * 80);
  }
  random_links(0);
  memcpy(without, links, 4 * (size_t)volume * sizeof *without);
  for (i = 0; i < 4 * volume; i++) links[i] = add(zero, cexp(I * acos(-1) * theta[i % 4] / global[i % 4]), links[i]);
  set_links();

  setVerbosityQuda(QUDA_SUMMARIZE, "# QUDA: ", stdout);
  initCommsGridQuda(4, ranks, rank_at, NULL);
  initQuda(-1);
  gauge = gauge_param(0);
  loadGaugeQuda((void *)host_links, &gauge), fine();
  trajectories(&gauge);
  flow(&gauge, without);
  freeGaugeQuda(), fine();
  freeCloverQuda(), fine();
  endQuda();
#ifdef CLIENT_MPI
  MPI_Finalize();
#endif
  for (mu = 0; mu < 4; mu++) free(host_links[mu]), free(host_momenta[mu]);
  free(term), free(square), free(nothing), free(without), free(links);
  return 0;
}
