/* A host of quda.h with twisted quarks: every operator of the library, and every kind of solve, are compared with operators
 * written here; what each mistake is told. */
#include "twisted.h"

enum { SOURCES = 3, SHIFTS = 3 };

static void refused(const char *function, const char *words) {
  int32_t status;
  CHECK(plaq_quda_last_status(&status) == PLAQ_SUCCESS);
  if (!status || !strstr(told, function) || !strstr(told, words)) fprintf(stderr, "%s: %s: %s\n", function, words, told);
  CHECK(status && strstr(told, function) && strstr(told, words));
  told[0] = 0;
}

static double *in[SOURCES], *out[SOURCES + SHIFTS];

static int chiral(const QudaInvertParam *p) { return p->gamma_basis == QUDA_CHIRAL_GAMMA_BASIS; }
static int parity_in(const QudaInvertParam *p) { return p->matpc_type & 1; }
static int symmetric_in(const QudaInvertParam *p) { return p->matpc_type < 2; }

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

int main(int argc, char **argv) {
  matrix *without = start(&argc, &argv);
  int i;
  for (i = 0; i < SOURCES; i++) in[i] = room(2 * own * sizeof(spinor));
  for (i = 0; i < SOURCES + SHIFTS; i++) out[i] = room(2 * own * sizeof(spinor));
  for (i = 0; i < 5; i++) {
    const int rho = i == 4;
    form.clover = rho || i & 1, form.flavours = rho ? 1 : 1 + i / 2;
    form.mu = MU, form.epsilon = form.flavours == 2 ? EPSILON : 0, form.rho = rho ? RHO : 0;
    if (!rho) one_operator();
    else load_clover(), operators(), half_lattice(), shifts(), freeCloverQuda(), fine();
  }
  for (i = 0; i < SOURCES; i++) free(in[i]);
  for (i = 0; i < SOURCES + SHIFTS; i++) free(out[i]);
  finish(without);
  return 0;
}
