/* Twisted quarks as tmLQCD has them: operators of one flavour and of two on links of U(3), whose phases exp(i pi theta / L)
 * lie on every slice; vectors in its arrays; its parameters; ranks in the order of its process grid. */
#ifndef TWISTED_H
#define TWISTED_H

#include "lattice.h"

#include <quda.h>

#include "told.h"

enum { EVEN = 0, ODD = 1, WHOLE = 2 };

static const double MU = -0.21, EPSILON = 0.12, RHO = -0.4;
static double tol = 1e-10;

/* The operator: A + 2 i kappa mu gamma5 tau3 - 2 kappa epsilon tau1 - kappa H. */
static struct {
  int flavours, clover;
  double kappa, csw, mu, epsilon, rho;
} form = {1, 0, 0.13, 1.1, 0, 0, 0};
/* Site terms: A, the unit matrix, and zero. */
static blocks *term, *one, *nothing;
/* Whether checks are brief, under tools that make everything slow. */
static int brief;

/* ---- vectors: `flavours` spinors of the whole lattice after each other ---- */

static spinor *vector(void) { return room(2 * (size_t)volume * sizeof(spinor)); }
static int entries(void) { return 12 * volume * form.flavours; }
static int parity_of(int i) {
  int x[4];
  coordinates(i / 12 % volume, x);
  return (x[0] + x[1] + x[2] + x[3]) & 1;
}

static inline void add_to(spinor *y, number c, const spinor *x) {
  int i;
  for (i = 0; i < entries(); i++) *at(y, i) += c * *at(x, i);
}

static inline void keep(spinor *v, int parity) {
  int i;
  for (i = 0; parity != WHOLE && i < entries(); i++)
    if (parity_of(i) != parity) *at(v, i) = 0;
}

static inline void gamma5(spinor *v) {
  int i;
  for (i = 0; i < entries(); i++) *at(v, i) *= gammas[4][i % 12 / 3][i % 12 / 3];
}

static inline double distance(const spinor *a, const spinor *b) {
  double off = 0, norm = 0;
  int i;
  for (i = 0; i < entries(); i++) off += pow(cabs(*at(a, i) - *at(b, i)), 2), norm += pow(cabs(*at(b, i)), 2);
  return sqrt(off / norm);
}

/* ---- operators ---- */

/* out = H in, or its adjoint. */
static void hop(spinor *out, const spinor *in, int dagger) {
  spinor *v = vector();
  int f;
  memcpy(v, in, entries() / 12 * sizeof *v);
  if (dagger) gamma5(v);
  for (f = 0; f < form.flavours; f++) apply(out + f * volume, nothing, -1, v + f * volume);
  if (dagger) gamma5(out);
  free(v);
}

/* The matrix of a site and a chirality, flavours outside of spin and colour. */
static void site_matrix(number m[12][12], int site, int chirality, double mu, int dagger) {
  const int n = 6 * form.flavours;
  int i, j;
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++) {
      const double tau3 = i < 6 ? 1 : -1;
      m[i][j] = i / 6 == j / 6 ? (form.clover ? term : one)[site].b[chirality][i % 6][j % 6] : 0;
      if (i == j) m[i][j] += 2 * I * form.kappa * (dagger ? -mu : mu) * tau3 * gammas[4][2 * chirality][2 * chirality];
      if (i % 6 == j % 6 && i != j) m[i][j] -= 2 * form.kappa * form.epsilon;
    }
}

/* Gauss' elimination with pivots. */
static void eliminate(number m[12][12], number *x, int n) {
  int i, j, k;
  for (k = 0; k < n; k++) {
    int pivot = k;
    for (i = k; i < n; i++)
      if (m[i][k] != 0 && cabs(m[i][k]) > cabs(m[pivot][k])) pivot = i;
    for (j = 0; j < n; j++) {
      const number t = m[k][j];
      m[k][j] = m[pivot][j], m[pivot][j] = t;
    }
    const number t = x[k];
    x[k] = x[pivot], x[pivot] = t;
    for (i = 0; i < n; i++) {
      const number factor = i == k || m[i][k] == 0 ? 0 : m[i][k] / m[k][k];
      for (j = k; factor != 0 && j < n; j++) m[i][j] -= factor * m[k][j];
      x[i] -= factor * x[k];
    }
  }
  for (k = 0; k < n; k++) x[k] /= m[k][k];
}

/* v = S v or S^-1 v with the site term S of a twisted mass mu. */
static void site_term(spinor *v, double mu, int dagger, int inverse) {
  const int n = 6 * form.flavours;
  int site, chirality, i, j;
  for (site = 0; site < volume; site++)
    for (chirality = 0; chirality < 2; chirality++) {
      number m[12][12], x[12], y[12];
      site_matrix(m, site, chirality, mu, dagger);
      for (i = 0; i < n; i++) y[i] = x[i] = *at(v, 12 * (i / 6 * volume + site) + 6 * chirality + i % 6);
      if (inverse) eliminate(m, y, n);
      else
        for (i = 0; i < n; i++)
          for (y[i] = 0, j = 0; j < n; j++) y[i] += m[i][j] * x[j];
      for (i = 0; i < n; i++) *at(v, 12 * (i / 6 * volume + site) + 6 * chirality + i % 6) = y[i];
    }
}

/* out = M in, or of a parity P in, or with its adjoint. */
static inline void operate(spinor *out, const spinor *in, int parity, int symmetric, int dagger) {
  spinor *v = vector(), *w = vector();
  memcpy(v, in, entries() / 12 * sizeof *v), memcpy(out, in, entries() / 12 * sizeof *v);
  if (parity == WHOLE) {
    site_term(out, form.mu + form.rho, dagger, 0);
    hop(v, in, dagger), add_to(out, -form.kappa, v);
  } else {
    if (symmetric && dagger) site_term(v, form.mu, dagger, 1);
    hop(w, v, dagger), site_term(w, form.mu, dagger, 1), hop(v, w, dagger);
    if (symmetric && !dagger) site_term(v, form.mu, dagger, 1);
    if (!symmetric) site_term(out, form.mu + form.rho, dagger, 0);
    add_to(out, -form.kappa * form.kappa, v);
    keep(out, parity);
  }
  free(v), free(w);
}

/* ---- arrays: of each parity the first flavour, then the second ---- */

/* psi in the basis of DeGrand and Rossi = T psi in the chiral one, T = i ((0, -sigma2), (sigma2, 0)). */
static const double T[4][4] = {{0, 0, 0, -1}, {0, 0, 1, 0}, {0, 1, 0, 0}, {-1, 0, 0, 0}};

static size_t place_of(int index, int flavour, int parity) {
  const int half = own / 2;
  if (parity == WHOLE) return (size_t)24 * ((index / half * form.flavours + flavour) * half + index % half);
  return (size_t)24 * (flavour * half + index % half);
}

static inline void set_vector(double *to, const spinor *from, int parity, int chiral) {
  int i, s, r, c, index;
  for (i = 0; i < form.flavours * volume; i++) {
    if ((index = milc_index(i % volume)) < 0 || (parity != WHOLE && index / (own / 2) != parity)) continue;
    for (s = 0; s < 4; s++)
      for (c = 0; c < 3; c++) {
        number z = chiral ? 0 : from[i].d[s][c];
        for (r = 0; chiral && r < 4; r++) z += T[r][s] * from[i].d[r][c];
        to[place_of(index, i / volume, parity) + 6 * s + 2 * c] = creal(z);
        to[place_of(index, i / volume, parity) + 6 * s + 2 * c + 1] = cimag(z);
      }
  }
}

static inline void get_vector(spinor *to, const double *from, int parity, int chiral) {
  int i, s, r, c, index;
  memset(to, 0, entries() / 12 * sizeof *to);
  for (i = 0; i < form.flavours * volume; i++) {
    if ((index = milc_index(i % volume)) < 0 || (parity != WHOLE && index / (own / 2) != parity)) continue;
    for (r = 0; r < 4; r++)
      for (s = 0; s < 4; s++)
        for (c = 0; c < 3; c++) {
          const double *z = from + place_of(index, i / volume, parity) + 6 * s + 2 * c;
          to[i].d[r][c] += (chiral ? T[r][s] : r == s) * (z[0] + I * z[1]);
        }
  }
  gather((double *)to, 2 * (size_t)entries());
}

static inline void random_vector(spinor *v, int seed, int parity) {
  int i;
  for (i = 0; i < entries(); i++) *at(v, i) = noise(seed, 2 * i) + I * noise(seed, 2 * i + 1);
  keep(v, parity);
}

/* ---- parameters ---- */

static QudaGaugeParam gauge_param(void) {
  QudaGaugeParam p = newQudaGaugeParam();
  memcpy(p.X, local, sizeof local);
  p.type = QUDA_WILSON_LINKS, p.gauge_order = QUDA_QDP_GAUGE_ORDER, p.t_boundary = QUDA_PERIODIC_T, p.anisotropy = 1;
  p.cpu_prec = p.cuda_prec = QUDA_DOUBLE_PRECISION, p.reconstruct = p.reconstruct_sloppy = QUDA_RECONSTRUCT_NO;
  p.cuda_prec_sloppy = p.cuda_prec_precondition = p.cuda_prec_refinement_sloppy = QUDA_SINGLE_PRECISION;
  p.gauge_fix = QUDA_GAUGE_FIXED_NO, p.ga_pad = own / 2;
  return p;
}

/* Of `form`, for vectors of the whole lattice or of a parity. */
static QudaInvertParam invert_param(QudaInverterType type, int parity) {
  QudaInvertParam p = newQudaInvertParam();
  const int cg = type == QUDA_CG_INVERTER, half = parity != WHOLE;
  const int twisted = form.flavours == 2 || form.mu != 0 || form.rho != 0 || (half && !form.clover);
  p.twist_flavor = !twisted ? QUDA_TWIST_NO : form.flavours == 2 ? QUDA_TWIST_NONDEG_DOUBLET : QUDA_TWIST_SINGLET;
  p.kappa = form.kappa, p.mu = form.mu, p.epsilon = form.flavours == 2 ? form.epsilon : 0, p.tm_rho = form.rho;
  p.Ls = form.flavours;
  if (form.clover) {
    p.dslash_type = twisted ? QUDA_TWISTED_CLOVER_DSLASH : QUDA_CLOVER_WILSON_DSLASH;
    p.matpc_type = twisted ? QUDA_MATPC_EVEN_EVEN : QUDA_MATPC_ODD_ODD_ASYMMETRIC;
  } else {
    p.dslash_type = twisted ? QUDA_TWISTED_MASS_DSLASH : QUDA_WILSON_DSLASH;
    p.matpc_type = twisted ? QUDA_MATPC_EVEN_EVEN_ASYMMETRIC : QUDA_MATPC_EVEN_EVEN;
  }
  if (half) p.matpc_type = QUDA_MATPC_ODD_ODD_ASYMMETRIC;
  p.clover_coeff = form.kappa * form.csw, p.compute_clover = p.compute_clover_inverse = 1;
  p.clover_location = QUDA_CUDA_FIELD_LOCATION;
  p.inv_type = type, p.solve_type = cg ? QUDA_NORMOP_PC_SOLVE : QUDA_DIRECT_PC_SOLVE;
  p.solution_type = half ? QUDA_MATPC_SOLUTION : QUDA_MAT_SOLUTION;
  p.mass_normalization = QUDA_KAPPA_NORMALIZATION, p.solver_normalization = QUDA_DEFAULT_NORMALIZATION;
  p.dagger = QUDA_DAG_NO, p.tol = tol, p.tol_hq = 0.1, p.maxiter = 1000, p.reliable_delta = 1e-2, p.gcrNkrylov = 20;
  p.residual_type = QUDA_L2_RELATIVE_RESIDUAL, p.preserve_source = QUDA_PRESERVE_SOURCE_YES;
  p.max_res_increase = 10, p.max_res_increase_total = 40, p.verbosity = QUDA_SUMMARIZE, p.omega = 1;
  p.inv_type_precondition = QUDA_INVALID_INVERTER, p.schwarz_type = QUDA_ADDITIVE_SCHWARZ, p.precondition_cycle = 1;
  p.tol_precondition = 0.1, p.maxiter_precondition = 10, p.verbosity_precondition = QUDA_SILENT;
  p.cpu_prec = p.cuda_prec = p.clover_cpu_prec = p.clover_cuda_prec = QUDA_DOUBLE_PRECISION;
  p.cuda_prec_sloppy = p.cuda_prec_precondition = p.cuda_prec_eigensolver = QUDA_SINGLE_PRECISION;
  p.cuda_prec_refinement_sloppy = QUDA_DOUBLE_PRECISION;
  p.dirac_order = QUDA_DIRAC_ORDER, p.clover_order = QUDA_PACKED_CLOVER_ORDER;
  p.gamma_basis = half ? QUDA_DEGRAND_ROSSI_GAMMA_BASIS : QUDA_CHIRAL_GAMMA_BASIS;
  return p;
}

static double *host_links[4];

static void set_links(void) {
  matrix *column = room(volume * sizeof *column);
  int site, mu;
  for (mu = 0; mu < 4; mu++) {
    for (site = 0; site < volume; site++) column[site] = links[4 * site + mu];
    scatter_sites(host_links[mu], 2, sizeof(matrix), 0, (double *)column, 18);
  }
  free(column);
}

static void load_links(void) {
  QudaGaugeParam gauge = gauge_param();
  loadGaugeQuda(host_links, &gauge), fine();
}

static void load_clover(void) {
  QudaInvertParam p = invert_param(QUDA_CG_INVERTER, WHOLE);
  if (form.clover) loadCloverQuda(NULL, NULL, &p), fine();
}

/* Near the unit matrix: the modes of least momentum lie far below the others. */
static inline void near_unit(int seed) {
  const matrix unit = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  int i, k;
  for (i = 0; i < 4 * volume; i++) {
    matrix m = unit;
    for (k = 0; k < 9; k++) m.e[k / 3][k % 3] += 0.05 * (noise(seed + i, 2 * k) + I * noise(seed + i, 2 * k + 1));
    links[i] = project(m);
  }
  set_links();
  clover_term(term, form.kappa, form.csw);
  load_links(), load_clover();
}

/* tmLQCD's ranks: z fastest, then y, x and t. */
static int rank_of(const int *x, void *data) {
  (void)data;
  return ((x[3] * ranks[0] + x[0]) * ranks[1] + x[1]) * ranks[2] + x[2];
}

static void join(int *argc, char ***argv) {
  (void)argc, (void)argv;
#ifdef CLIENT_MPI
  join_grid(argc, argv, (int[4]){2, 1, 0, 3});
#endif
  brief = getenv("PLAQ_TEST_BRIEF") != NULL;
}

static void make_arrays(const int *extents) {
  int i, mu;
  set_lattice(extents);
  term = room(volume * sizeof *term), one = room(volume * sizeof *one), nothing = room(volume * sizeof *nothing);
  for (mu = 0; mu < 4; mu++) host_links[mu] = room(own * sizeof(matrix));
  for (i = 0; i < 12 * volume; i++) one[i / 12].b[i % 12 / 6][i % 6][i % 6] = 1;
}

static void free_arrays(void) {
  int mu;
  for (mu = 0; mu < 4; mu++) free(host_links[mu]);
  free(term), free(one), free(nothing), free(links);
  links = NULL;
}

/* exp(i pi theta / L) on every slice. */
static void phases(const double *theta) {
  matrix zero = {{{0}}};
  int i;
  for (i = 0; i < 4 * volume; i++) links[i] = add(zero, cexp(I * acos(-1) * theta[i % 4] / global[i % 4]), links[i]);
}

static void open_library(void) {
  hear_failures();
  setVerbosityQuda(QUDA_SUMMARIZE, "# QUDA: ", stdout);
  initCommsGridQuda(4, ranks, rank_of, NULL), fine();
  initQuda(-1), fine();
}

static void leave(void) {
#ifdef CLIENT_MPI
  MPI_Finalize();
#endif
}

/* Random links, and the same with their phases in use, whose cubes are nearer to 1 than to another root; the library up to
 * the first solve. */
static inline matrix *start(int *argc, char ***argv) {
  const double theta[4] = {0, 0.3, -0.6, 1};
  matrix *without;
  int extents[4] = {4, 4, 4, 8}, mu;
  join(argc, argv);
  for (mu = 0; brief && mu < 4; mu++) extents[mu] = (mu == 3 ? 4 : 2) * ranks[mu];
  make_arrays(extents);
  random_links(0);
  without = room(4 * (size_t)volume * sizeof *without);
  memcpy(without, links, 4 * (size_t)volume * sizeof *without);
  phases(theta);
  set_links();
  clover_term(term, form.kappa, form.csw);
  open_library();
  load_links();
  return without;
}

#endif
