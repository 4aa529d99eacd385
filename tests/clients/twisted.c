/* Calls the library as tmLQCD does, in its order and with its values: links with a phase exp(i pi theta / L) on every
 * slice, which are of U(3) and not of SU(3); chiral spinors of the whole lattice and spinors of one parity in the basis of
 * DeGrand and Rossi; twisted mass with and without clover term, one flavour and two whose masses differ. Every result is
 * compared with operators written here. Under mpirun (compiled with CLIENT_MPI) ranks are those of tmLQCD's process grid. */
#include "lattice.h"

#include <quda.h>

#include "plaq.h"

enum { SOURCES = 3, SHIFTS = 3, EVEN = 0, ODD = 1, WHOLE = 2 };

static const double KAPPA = 0.13, CSW = 1.1, MU = -0.21, EPSILON = 0.12, RHO = -0.4, TOL = 1e-10;

/* The operator: A + 2 i kappa mu gamma5 tau3 - 2 kappa epsilon tau1 - kappa H. */
static struct {
  int flavours, clover;
  double mu, epsilon, rho;
} form;
/* A, 1 and 0. */
static blocks *term, *one, *nothing;
static double gamma5_of[4];
static int brief;

/* ---- vectors: `flavours` spinors of the whole lattice after each other ---- */

static spinor *vector(void) { return room(2 * (size_t)volume * sizeof(spinor)); }
static int entries(void) { return 12 * volume * form.flavours; }
static number *at(const spinor *v, int i) { return (number *)&v[i / 12].d[i % 12 / 3][i % 3]; }
static int parity_of(int i) {
  int x[4];
  coordinates(i / 12 % volume, x);
  return (x[0] + x[1] + x[2] + x[3]) & 1;
}

static void add_to(spinor *y, number c, const spinor *x) {
  int i;
  for (i = 0; i < entries(); i++) *at(y, i) += c * *at(x, i);
}

static void keep(spinor *v, int parity) {
  int i;
  for (i = 0; parity != WHOLE && i < entries(); i++)
    if (parity_of(i) != parity) *at(v, i) = 0;
}

static void gamma5(spinor *v) {
  int i;
  for (i = 0; i < entries(); i++) *at(v, i) *= gamma5_of[i % 12 / 3];
}

static void set_gamma5(void) {
  int s, mu;
  for (s = 0; s < 4; s++) {
    int at_spin = s;
    number value = 1;
    for (mu = 0; mu < 4; mu++) value *= gamma_value(mu, at_spin), at_spin = gamma_column[mu][at_spin];
    CHECK(at_spin == s && cabs(value - creal(value)) < 1e-15);
    gamma5_of[s] = creal(value);
  }
}

static double distance(const spinor *a, const spinor *b) {
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
      if (i == j) m[i][j] += 2 * I * KAPPA * (dagger ? -mu : mu) * tau3 * gamma5_of[2 * chirality];
      if (i % 6 == j % 6 && i != j) m[i][j] -= 2 * KAPPA * form.epsilon;
    }
}

/* Gauss' elimination with pivots. */
static void eliminate(number m[12][12], number *x, int n) {
  int i, j, k;
  for (k = 0; k < n; k++) {
    int pivot = k;
    for (i = k; i < n; i++)
      if (cabs(m[i][k]) > cabs(m[pivot][k])) pivot = i;
    for (j = 0; j < n; j++) {
      const number t = m[k][j];
      m[k][j] = m[pivot][j], m[pivot][j] = t;
    }
    const number t = x[k];
    x[k] = x[pivot], x[pivot] = t;
    for (i = 0; i < n; i++) {
      const number factor = i == k ? 0 : m[i][k] / m[k][k];
      for (j = k; j < n; j++) m[i][j] -= factor * m[k][j];
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
static void operate(spinor *out, const spinor *in, int parity, int symmetric, int dagger) {
  spinor *v = vector(), *w = vector();
  memcpy(v, in, entries() / 12 * sizeof *v), memcpy(out, in, entries() / 12 * sizeof *v);
  if (parity == WHOLE) {
    site_term(out, form.mu + form.rho, dagger, 0);
    hop(v, in, dagger), add_to(out, -KAPPA, v);
  } else {
    if (symmetric && dagger) site_term(v, form.mu, dagger, 1);
    hop(w, v, dagger), site_term(w, form.mu, dagger, 1), hop(v, w, dagger);
    if (symmetric && !dagger) site_term(v, form.mu, dagger, 1);
    if (!symmetric) site_term(out, form.mu + form.rho, dagger, 0);
    add_to(out, -KAPPA * KAPPA, v);
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

static void set_vector(double *to, const spinor *from, int parity, int chiral) {
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

static void get_vector(spinor *to, const double *from, int parity, int chiral) {
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

static void random_vector(spinor *v, int seed, int parity) {
  int i;
  for (i = 0; i < entries(); i++) *at(v, i) = noise(seed, 2 * i) + I * noise(seed, 2 * i + 1);
  keep(v, parity);
}

/* ---- parameters ---- */

static char told[2000];
static void listen(const char *function, int32_t status, const char *message, void *user) {
  (void)status, (void)user;
  snprintf(told, sizeof told, "%s\n%s", function, message);
}
static void fine(void) {
  int32_t status;
  CHECK(plaq_quda_last_status(&status) == PLAQ_SUCCESS);
  if (status) fprintf(stderr, "%s\n", told);
  CHECK(status == 0);
}
static void refused(const char *function, const char *words) {
  int32_t status;
  CHECK(plaq_quda_last_status(&status) == PLAQ_SUCCESS);
  if (!status || !strstr(told, function) || !strstr(told, words)) fprintf(stderr, "%s: %s: %s\n", function, words, told);
  CHECK(status && strstr(told, function) && strstr(told, words));
  told[0] = 0;
}

static double *host_links[4], *in[SOURCES], *out[SOURCES + SHIFTS];

static QudaGaugeParam gauge_param(void) {
  QudaGaugeParam p = newQudaGaugeParam();
  memcpy(p.X, local, sizeof local);
  p.type = QUDA_WILSON_LINKS, p.gauge_order = QUDA_QDP_GAUGE_ORDER, p.t_boundary = QUDA_PERIODIC_T, p.anisotropy = 1;
  p.cpu_prec = p.cuda_prec = QUDA_DOUBLE_PRECISION, p.reconstruct = p.reconstruct_sloppy = QUDA_RECONSTRUCT_NO;
  p.cuda_prec_sloppy = p.cuda_prec_precondition = p.cuda_prec_refinement_sloppy = QUDA_SINGLE_PRECISION;
  p.gauge_fix = QUDA_GAUGE_FIXED_NO;
  return p;
}

static QudaInvertParam invert_param(QudaInverterType type, int parity) {
  QudaInvertParam p = newQudaInvertParam();
  const int cg = type == QUDA_CG_INVERTER, half = parity != WHOLE;
  p.dslash_type = form.clover ? QUDA_TWISTED_CLOVER_DSLASH : QUDA_TWISTED_MASS_DSLASH;
  p.twist_flavor = form.flavours == 2 ? QUDA_TWIST_NONDEG_DOUBLET : QUDA_TWIST_SINGLET, p.Ls = form.flavours;
  p.kappa = KAPPA, p.mu = form.mu, p.epsilon = form.flavours == 2 ? form.epsilon : 0, p.tm_rho = form.rho;
  p.clover_coeff = KAPPA * CSW, p.compute_clover = p.compute_clover_inverse = 1;
  p.inv_type = type, p.solve_type = cg ? QUDA_NORMOP_PC_SOLVE : QUDA_DIRECT_PC_SOLVE;
  p.solution_type = half ? QUDA_MATPC_SOLUTION : QUDA_MAT_SOLUTION;
  p.matpc_type = half ? QUDA_MATPC_ODD_ODD_ASYMMETRIC : form.clover ? QUDA_MATPC_EVEN_EVEN : QUDA_MATPC_EVEN_EVEN_ASYMMETRIC;
  p.mass_normalization = QUDA_KAPPA_NORMALIZATION, p.solver_normalization = QUDA_DEFAULT_NORMALIZATION;
  p.dagger = QUDA_DAG_NO, p.tol = TOL, p.maxiter = 1000, p.reliable_delta = 1e-2, p.gcrNkrylov = 20;
  p.residual_type = QUDA_L2_RELATIVE_RESIDUAL, p.preserve_source = QUDA_PRESERVE_SOURCE_YES;
  p.max_res_increase = 10, p.max_res_increase_total = 40, p.verbosity = QUDA_SUMMARIZE;
  p.cpu_prec = p.cuda_prec = p.clover_cpu_prec = p.clover_cuda_prec = QUDA_DOUBLE_PRECISION;
  p.cuda_prec_sloppy = p.cuda_prec_precondition = p.cuda_prec_eigensolver = QUDA_SINGLE_PRECISION;
  p.cuda_prec_refinement_sloppy = QUDA_DOUBLE_PRECISION;
  p.dirac_order = QUDA_DIRAC_ORDER, p.clover_order = QUDA_PACKED_CLOVER_ORDER;
  p.gamma_basis = half ? QUDA_DEGRAND_ROSSI_GAMMA_BASIS : QUDA_CHIRAL_GAMMA_BASIS;
  return p;
}

static int chiral(const QudaInvertParam *p) { return p->gamma_basis == QUDA_CHIRAL_GAMMA_BASIS; }
static int parity_in(const QudaInvertParam *p) { return p->matpc_type & 1; }
static int symmetric_in(const QudaInvertParam *p) { return p->matpc_type < 2; }

static void load_links(void) {
  QudaGaugeParam gauge = gauge_param();
  loadGaugeQuda(host_links, &gauge), fine();
}

static void load_clover(void) {
  QudaInvertParam p = invert_param(QUDA_CG_INVERTER, WHOLE);
  if (form.clover) loadCloverQuda(NULL, NULL, &p), fine();
}

/* ---- operators of the library ---- */

static void operators(void) {
  const QudaMassNormalization normalisations[2] = {QUDA_KAPPA_NORMALIZATION, QUDA_MASS_NORMALIZATION};
  spinor *x = vector(), *y = vector(), *z = vector();
  int which, dagger, n, parity;
  for (which = 0; which < 5; which++)
    for (dagger = 0; dagger < 2; dagger++) {
      QudaInvertParam p = invert_param(QUDA_CG_INVERTER, WHOLE);
      const int half = which < 4, where = half ? which & 1 : WHOLE;
      if (half) p.matpc_type = (QudaMatPCType)which, p.solution_type = QUDA_MATPC_SOLUTION;
      p.dagger = dagger ? QUDA_DAG_YES : QUDA_DAG_NO;
      random_vector(x, 5 + which, where);
      for (n = 0; n < 2; n++) {
        const double factor = n == 0 ? 1 : half ? 0.25 / KAPPA / KAPPA : 0.5 / KAPPA;
        int i;
        p.mass_normalization = normalisations[n];
        set_vector(in[0], x, where, 1);
        MatQuda(out[0], in[0], &p), fine();
        get_vector(y, out[0], where, 1);
        operate(z, x, where, which < 2, dagger);
        for (i = 0; i < entries(); i++) *at(z, i) *= factor;
        CHECK(distance(y, z) < 1e-13);
        MatDagMatQuda(out[0], in[0], &p), fine();
        get_vector(y, out[0], where, 1);
        memcpy(x, z, entries() / 12 * sizeof *x);
        operate(z, x, where, which < 2, !dagger);
        for (i = 0; i < entries(); i++) *at(z, i) *= factor;
        CHECK(distance(y, z) < 1e-13);
        random_vector(x, 5 + which, where);
      }
    }
  for (parity = 0; parity < 2; parity++)
    for (dagger = 0; dagger < 2; dagger++) {
      QudaInvertParam p = invert_param(QUDA_CG_INVERTER, ODD);
      p.dagger = dagger ? QUDA_DAG_YES : QUDA_DAG_NO;
      random_vector(x, 3, 1 - parity);
      set_vector(in[0], x, 1 - parity, 0);
      dslashQuda(out[0], in[0], &p, parity ? QUDA_ODD_PARITY : QUDA_EVEN_PARITY), fine();
      get_vector(y, out[0], parity, 0);
      hop(z, x, dagger), site_term(z, form.mu, dagger, 1);
      CHECK(distance(y, z) < 1e-13);
      for (n = 0; n < 2 && !dagger; n++) {
        random_vector(z, 4, parity);
        set_vector(in[0], z, parity, 0);
        cloverQuda(out[0], in[0], &p, parity ? QUDA_ODD_PARITY : QUDA_EVEN_PARITY, n), fine();
        get_vector(y, out[0], parity, 0);
        site_term(z, n ? form.mu : form.mu + form.rho, 0, n);
        CHECK(distance(y, z) < 1e-13);
      }
    }
  free(x), free(y), free(z);
}

/* ---- solves ---- */

/* Is the image of the solution, with a shift of a normal operator, the source? */
static void check(const double *x, const spinor *b, const QudaInvertParam *p, double shift, double tol) {
  spinor *v = vector(), *w = vector(), *u = vector();
  const int half = p->solution_type >= QUDA_MATPC_SOLUTION, where = half ? parity_in(p) : WHOLE;
  const int normal = p->solution_type == QUDA_MATPCDAG_MATPC_SOLUTION || p->solution_type == QUDA_MATDAG_MAT_SOLUTION;
  const int dagger = p->dagger == QUDA_DAG_YES;
  double off;
  get_vector(v, x, where, chiral(p));
  operate(w, v, where, symmetric_in(p), dagger);
  if (normal) operate(u, w, where, symmetric_in(p), !dagger), memcpy(w, u, entries() / 12 * sizeof *w);
  add_to(w, shift, v);
  off = distance(w, b);
  if (!(off <= 3 * tol)) fprintf(stderr, "residual %g of %g\n", off, tol);
  CHECK(off <= 3 * tol);
  free(v), free(w), free(u);
}

static void solve(QudaInvertParam p) {
  const int where = p.solution_type >= QUDA_MATPC_SOLUTION ? parity_in(&p) : WHOLE;
  spinor *b = vector();
  random_vector(b, 9, where);
  set_vector(in[0], b, where, chiral(&p));
  invertQuda(out[0], in[0], &p), fine();
  CHECK(p.iter > 0 && p.iter < p.maxiter && p.secs > 0 && p.gflops > 0 && p.true_res[0] <= TOL);
  check(out[0], b, &p, 0, TOL);
  /* x == b. */
  invertQuda(in[0], in[0], &p), fine();
  CHECK(memcmp(in[0], out[0], (size_t)form.flavours * (where == WHOLE ? own : own / 2) * sizeof(spinor)) == 0);
  free(b);
}

static void propagators(void) {
  const QudaInverterType types[3] = {QUDA_CG_INVERTER, QUDA_BICGSTAB_INVERTER, QUDA_GCR_INVERTER};
  QudaInvertParam p;
  spinor *b[SOURCES];
  void *to[SOURCES], *from[SOURCES];
  int i, k;
  for (i = 0; i < 3; i++) {
    solve(invert_param(types[i], WHOLE));
    if (brief) break;
  }
  for (k = 0; k < (brief ? 1 : 4); k++) {
    p = invert_param(QUDA_CG_INVERTER, WHOLE);
    p.matpc_type = (QudaMatPCType)k;
    solve(p);
  }
  p = invert_param(QUDA_CG_INVERTER, WHOLE);
  p.solve_type = QUDA_NORMOP_SOLVE;
  solve(p);
  p.dagger = QUDA_DAG_YES;
  solve(p);
  p = invert_param(QUDA_CG_INVERTER, WHOLE);
  for (i = 0; i < SOURCES; i++) {
    b[i] = vector(), to[i] = out[i], from[i] = in[i];
    random_vector(b[i], 20 + i, WHOLE);
    set_vector(in[i], b[i], WHOLE, 1);
  }
  p.num_src = SOURCES;
  invertMultiSrcQuda(to, from, &p), fine();
  for (i = 0; i < SOURCES; i++) check(out[i], b[i], &p, 0, TOL), free(b[i]);
}

/* As hybrid Monte Carlo asks: the odd sites, (P P^dagger) x = b. */
static void half_lattice(void) {
  QudaInvertParam p = invert_param(QUDA_CG_INVERTER, ODD), whole = p;
  double *between = in[1];
  spinor *b = vector(), *v = vector(), *w = vector();
  int i;
  p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.dagger = QUDA_DAG_YES;
  solve(p);
  if (brief) {
    free(b), free(v), free(w);
    return;
  }
  p.matpc_type = QUDA_MATPC_ODD_ODD;
  solve(p);
  /* The residual's norm itself. */
  p = invert_param(QUDA_CG_INVERTER, ODD), p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.dagger = QUDA_DAG_YES;
  random_vector(b, 31, ODD);
  set_vector(in[0], b, ODD, 0);
  p.residual_type = QUDA_L2_ABSOLUTE_RESIDUAL, p.tol = 1e-6;
  invertQuda(out[0], in[0], &p), fine();
  get_vector(v, out[0], ODD, 0);
  operate(w, v, ODD, 0, 1), operate(v, w, ODD, 0, 0);
  add_to(v, -1, b);
  {
    double off = 0;
    for (i = 0; i < entries(); i++) off += pow(cabs(*at(v, i)), 2);
    CHECK(sqrt(off) < 1.01e-6 && sqrt(off) > 1e-9);
  }
  p.residual_type = (QudaResidualType)3;
  invertQuda(out[0], in[0], &p), refused("invertQuda", "param.residual_type");
  /* In two steps by BiCGStab, the second one in place with the other sign of mu and rho: gamma5 of both flavours exchanged
   * makes P of it again. */
  if (form.flavours == 1) {
    p = invert_param(QUDA_BICGSTAB_INVERTER, ODD);
    invertQuda(between, in[0], &p), fine();
    check(between, b, &p, 0, TOL);
    get_vector(v, between, ODD, 0);
    gamma5(v), set_vector(between, v, ODD, 0);
    p.mu = -p.mu, p.tm_rho = -p.tm_rho;
    invertQuda(between, between, &p), fine();
    /* gamma5 P(-mu)^-1 gamma5 is the adjoint's inverse. */
    get_vector(v, between, ODD, 0);
    gamma5(v);
    operate(w, v, ODD, 0, 1), operate(v, w, ODD, 0, 0);
    CHECK(distance(v, b) < 1e-8);
  }
  if (form.rho != 0) {
    whole.solution_type = QUDA_MAT_SOLUTION;
    invertQuda(out[0], in[0], &whole), refused("invertQuda", "param.tm_rho");
  }
  free(b), free(v), free(w);
}

/* (P P^dagger + offset) x = b, each to its tolerance. */
static void shifts(void) {
  const double offset[SHIFTS] = {0.0013, 0.07, 1.9};
  QudaInvertParam p = invert_param(QUDA_CG_INVERTER, ODD);
  spinor *b = vector();
  void *to[SHIFTS];
  int i;
  p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.dagger = QUDA_DAG_YES, p.num_offset = SHIFTS;
  for (i = 0; i < SHIFTS; i++) p.offset[i] = offset[i], p.tol_offset[i] = (i + 1) * TOL, to[i] = out[i];
  random_vector(b, 41, ODD);
  set_vector(in[0], b, ODD, 0);
  invertMultiShiftQuda(to, in[0], &p), fine();
  CHECK(p.iter > 0 && p.iter < p.maxiter);
  for (i = 0; i < SHIFTS; i++) {
    CHECK(p.true_res_offset[i] <= p.tol_offset[i]);
    check(out[i], b, &p, offset[i], p.tol_offset[i]);
  }
  free(b);
}

static void mistakes(void) {
  QudaInvertParam p = invert_param(QUDA_CG_INVERTER, WHOLE), good = p;
  p.mu = newQudaInvertParam().mu;
  invertQuda(out[0], in[0], &p), refused("invertQuda", "param.mu");
  p = good, p.twist_flavor = newQudaInvertParam().twist_flavor;
  invertQuda(out[0], in[0], &p), refused("invertQuda", "param.twist_flavor");
  p = good, p.gamma_basis = QUDA_UKQCD_GAMMA_BASIS;
  invertQuda(out[0], in[0], &p), refused("invertQuda", "param.gamma_basis");
  if (form.flavours == 2) {
    p = good, p.epsilon = newQudaInvertParam().epsilon;
    MatQuda(out[0], in[0], &p), refused("MatQuda", "param.epsilon");
    p = good, p.dirac_order = QUDA_QDP_DIRAC_ORDER;
    MatQuda(out[0], in[0], &p), refused("MatQuda", "QUDA_TWIST_NONDEG_DOUBLET");
  }
  if (form.clover) {
    p = good, p.return_clover_inverse = 1;
    loadCloverQuda(NULL, NULL, &p), refused("loadCloverQuda", "return_clover_inverse");
  }
}

static void one_operator(void) {
  load_clover();
  operators();
  /* A new gauge field does not take the clover term with it. */
  freeGaugeQuda(), fine();
  load_links();
  propagators();
  half_lattice();
  shifts();
  mistakes();
  freeCloverQuda(), fine();
  if (form.clover) {
    QudaInvertParam p = invert_param(QUDA_CG_INVERTER, WHOLE);
    MatQuda(out[0], in[0], &p), refused("MatQuda", "call loadCloverQuda first");
  }
}

static void set_links(void) {
  const double theta[4] = {0, 0.3, -0.7, 1};
  matrix *column = room(volume * sizeof *column), zero = {{{0}}};
  int site, mu;
  random_links(0);
  for (mu = 0; mu < 4; mu++) {
    const number phase = cexp(I * acos(-1) * theta[mu] / global[mu]);
    for (site = 0; site < volume; site++)
      column[site] = links[4 * site + mu] = add(zero, phase, links[4 * site + mu]);
    scatter_sites(host_links[mu], 2, sizeof(matrix), 0, (double *)column, 18);
  }
  free(column);
}

#ifdef CLIENT_MPI
static int rank_of(const int *x, void *data) {
  (void)data;
  return ((x[3] * ranks[0] + x[0]) * ranks[1] + x[1]) * ranks[2] + x[2];
}
#else
static int rank_of(const int *x, void *data) {
  (void)x, (void)data;
  return 0;
}
#endif

int main(int argc, char **argv) {
  int extents[4] = {4, 4, 4, 8}, i, mu;
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
  for (mu = 0; brief && mu < 4; mu++) extents[mu] = (mu == 3 ? 4 : 2) * ranks[mu];
  set_lattice(extents);
  set_gamma5();
  term = room(volume * sizeof *term), one = room(volume * sizeof *one), nothing = room(volume * sizeof *nothing);
  for (mu = 0; mu < 4; mu++) host_links[mu] = room(own * sizeof(matrix));
  for (i = 0; i < SOURCES; i++) in[i] = room(2 * own * sizeof(spinor));
  for (i = 0; i < SOURCES + SHIFTS; i++) out[i] = room(2 * own * sizeof(spinor));
  set_links();
  clover_term(term, KAPPA, CSW);
  for (i = 0; i < 12 * volume; i++) one[i / 12].b[i % 12 / 6][i % 6][i % 6] = 1;

  CHECK(plaq_quda_set_error_mode(PLAQ_QUDA_ERRORS_RETURN) == PLAQ_SUCCESS);
  CHECK(plaq_quda_set_error_handler(listen, NULL) == PLAQ_SUCCESS);
  setVerbosityQuda(QUDA_SUMMARIZE, "# QUDA: ", stdout);
  initCommsGridQuda(4, ranks, rank_of, NULL), fine();
  initQuda(-1), fine();
  load_links();
  for (i = 0; i < 5; i++) {
    const int rho = i == 4;
    form.clover = rho || i & 1, form.flavours = rho ? 1 : 1 + i / 2;
    form.mu = MU, form.epsilon = form.flavours == 2 ? EPSILON : 0, form.rho = rho ? RHO : 0;
    if (!rho) one_operator();
    else load_clover(), operators(), half_lattice(), shifts(), freeCloverQuda(), fine();
  }
  freeGaugeQuda(), fine();
  endQuda(), fine();
#ifdef CLIENT_MPI
  MPI_Finalize();
#endif
  for (mu = 0; mu < 4; mu++) free(host_links[mu]);
  for (i = 0; i < SOURCES; i++) free(in[i]);
  for (i = 0; i < SOURCES + SHIFTS; i++) free(out[i]);
  free(term), free(one), free(nothing), free(links);
  return 0;
}
