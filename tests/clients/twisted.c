/* A host of quda.h with twisted quarks: every operator of the library, and every kind of solve, are compared with operators
 * written here; what each mistake is told. */
#include "twisted.h"

enum { SOURCES = 3, SHIFTS = 3 };

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
        const double factor = n == 0 ? 1 : half ? 0.25 / form.kappa / form.kappa : 0.5 / form.kappa;
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

/* Checks that the image of the solution, by the operator or a normal operator with a shift, is the source. */
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
  CHECK(p.iter > 0 && p.iter < p.maxiter && p.secs > 0 && p.gflops > 0 && p.true_res[0] <= tol);
  if (p.mass_normalization != QUDA_KAPPA_NORMALIZATION) add_to(b, 2 * form.kappa - 1, b);
  check(out[0], b, &p, 0, tol);
  /* Checks that x equals b. */
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
  p.mass_normalization = QUDA_MASS_NORMALIZATION;
  solve(p);
  p.mass_normalization = QUDA_KAPPA_NORMALIZATION;
  p.cuda_prec_sloppy = QUDA_HALF_PRECISION, p.reliable_delta = 1e-1;
  solve(p);
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
  for (i = 0; i < SOURCES; i++) check(out[i], b[i], &p, 0, tol), free(b[i]);
}

/* Solves (P P^dagger) x = b in two steps, the second one in place with the other signs of mu and rho, since gamma5
 * P(-mu) gamma5 is the adjoint of P(mu); a multigrid gets the other sign in between. */
static void two_steps(QudaInvertParam p, QudaMultigridParam *levels) {
  spinor *b = vector(), *v = vector(), *w = vector();
  int mu_sign;
  p.tol = tol / 10;
  random_vector(b, 51, ODD);
  set_vector(in[0], b, ODD, 0);
  for (mu_sign = 0; mu_sign < 2; mu_sign++) {
    if (mu_sign && levels) levels->invert_param->mu = p.mu, updateMultigridQuda(p.preconditioner, levels), fine();
    invertQuda(in[0], in[0], &p), fine();
    CHECK(p.iter > 0 && p.iter < (levels ? 40 : p.maxiter));
    get_vector(v, in[0], ODD, 0);
    if (!mu_sign) {
      operate(w, v, ODD, symmetric_in(&p), 0);
      CHECK(distance(w, b) < tol);
    }
    gamma5(v), set_vector(in[0], v, ODD, 0);
    p.mu = -p.mu, p.tm_rho = -p.tm_rho;
  }
  operate(w, v, ODD, symmetric_in(&p), 1), operate(v, w, ODD, symmetric_in(&p), 0);
  CHECK(distance(v, b) < (rough() ? 1 : 1e-8));
  free(b), free(v), free(w);
}

/* Solves (P P^dagger) x = b on the odd sites, as hybrid Monte Carlo does. */
static void half_lattice(void) {
  QudaInvertParam p = invert_param(QUDA_CG_INVERTER, ODD), whole = p;
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
  /* The norm of the residual, computed here. */
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
  invertQuda(out[0], in[0], &p), refused(0, "invertQuda", "param.residual_type");
  if (form.flavours == 1) two_steps(invert_param(QUDA_BICGSTAB_INVERTER, ODD), NULL);
  if (form.rho != 0) {
    whole.solution_type = QUDA_MAT_SOLUTION;
    invertQuda(out[0], in[0], &whole), refused(0, "invertQuda", "param.tm_rho");
  }
  free(b), free(v), free(w);
}

/* Solves (P P^dagger + offset) x = b, each to its own tolerance. */
static void shifts(void) {
  const double offset[SHIFTS] = {0.0013, 0.07, 1.9};
  QudaInvertParam p = invert_param(QUDA_CG_INVERTER, ODD);
  spinor *b = vector();
  void *to[SHIFTS];
  int i;
  p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.dagger = QUDA_DAG_YES, p.num_offset = SHIFTS;
  for (i = 0; i < SHIFTS; i++) p.offset[i] = offset[i], p.tol_offset[i] = (i + 1) * tol, to[i] = out[i];
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

static void multigrid(void) {
  QudaInvertParam p = invert_param(QUDA_GCR_INVERTER, ODD), inner = invert_param(QUDA_GCR_INVERTER, WHOLE);
  QudaMultigridParam levels = newQudaMultigridParam();
  int i, mu;
  inner.gamma_basis = QUDA_DEGRAND_ROSSI_GAMMA_BASIS, inner.matpc_type = QUDA_MATPC_EVEN_EVEN;
  inner.solve_type = QUDA_DIRECT_SOLVE;
  levels.invert_param = &inner, levels.n_level = 2;
  for (i = 0; i < 2; i++) {
    for (mu = 0; mu < 4; mu++) levels.geo_block_size[i][mu] = i ? 1 : 2;
    levels.spin_block_size[i] = i ? 1 : 2, levels.n_vec[i] = 8, levels.n_vec_batch[i] = 1, levels.nu_pre[i] = 0;
    levels.nu_post[i] = 4, levels.smoother[i] = QUDA_CA_GCR_INVERTER, levels.smoother_tol[i] = 0.25;
    levels.coarse_solver[i] = QUDA_CA_GCR_INVERTER, levels.coarse_solver_tol[i] = 0.1, levels.coarse_solver_maxiter[i] = 30;
    levels.setup_inv_type[i] = QUDA_CG_INVERTER, levels.setup_tol[i] = 1e-6, levels.setup_maxiter[i] = 1000;
    levels.cycle_type[i] = QUDA_MG_CYCLE_RECURSIVE, levels.omega[i] = 0.85, levels.precision_null[i] = QUDA_HALF_PRECISION;
    levels.coarse_grid_solution_type[i] = QUDA_MATPC_SOLUTION, levels.smoother_solve_type[i] = QUDA_DIRECT_PC_SOLVE;
    levels.smoother_halo_precision[i] = QUDA_HALF_PRECISION, levels.smoother_schwarz_type[i] = QUDA_INVALID_SCHWARZ;
    levels.location[i] = QUDA_CUDA_FIELD_LOCATION, levels.mu_factor[i] = i ? 1.5 : 1;
  }
  levels.setup_type = QUDA_NULL_VECTOR_SETUP, levels.compute_null_vector = QUDA_COMPUTE_NULL_VECTOR_YES;
  levels.generate_all_levels = QUDA_BOOLEAN_TRUE, levels.run_verify = QUDA_BOOLEAN_FALSE;
  p.preconditioner = newMultigridQuda(&levels);
  fine();
  p.inv_type_precondition = QUDA_MG_INVERTER, p.tol_precondition = 0.1, p.maxiter_precondition = 1;
  two_steps(p, &levels);
  p.dagger = QUDA_DAG_YES;
  solve(p);
  p.dagger = QUDA_DAG_NO;
  p.matpc_type = QUDA_MATPC_ODD_ODD;
  solve(p);
  p.solution_type = QUDA_MAT_SOLUTION, p.gamma_basis = QUDA_CHIRAL_GAMMA_BASIS, p.matpc_type = QUDA_MATPC_EVEN_EVEN;
  if (form.rho == 0) solve(p);
  destroyMultigridQuda(p.preconditioner), fine();
}

/* Finds both ends of the spectrum of P P^dagger, without and with eigenvectors. */
static void eigenvalues(void) {
  spinor *v = vector(), *w = vector(), *u = vector();
  number value, again;
  double norm = 0, last = 0;
  int end, i;
  for (end = 0; end < 2; end++) {
    QudaInvertParam p = invert_param(QUDA_CG_INVERTER, ODD);
    QudaEigParam e = newQudaEigParam();
    void *list[1] = {out[0]};
    p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.dagger = QUDA_DAG_YES, p.cuda_prec_eigensolver = QUDA_DOUBLE_PRECISION;
    e.invert_param = &p, e.eig_type = QUDA_EIG_TR_LANCZOS, e.use_pc = e.use_norm_op = QUDA_BOOLEAN_TRUE;
    e.spectrum = end ? QUDA_SPECTRUM_LR_EIG : QUDA_SPECTRUM_SR_EIG, e.n_ev = e.n_conv = 1, e.n_kr = 96;
    e.tol = e.qr_tol = 1e-9, e.max_restarts = 1000, e.require_convergence = QUDA_BOOLEAN_TRUE;
    if (!end) e.use_poly_acc = QUDA_BOOLEAN_TRUE, e.poly_deg = 32, e.a_min = 0.1, e.a_max = 4;
    eigensolveQuda(NULL, &value, &e), fine();
    eigensolveQuda(list, &again, &e), fine();
    CHECK(cabs(value - again) < 1e-8 && cimag(value) == 0 && creal(value) > 0);
    get_vector(v, out[0], ODD, 0);
    operate(w, v, ODD, 0, 1), operate(u, w, ODD, 0, 0), add_to(u, -value, v);
    for (norm = 0, i = 0; i < entries(); i++) norm += pow(cabs(*at(u, i)), 2);
    CHECK(sqrt(norm) < 1e-7);
    /* Rayleigh quotients of a random vector after steps of the power method, or of inverse iteration, lie inside of the
     * spectrum and near its ends. */
    random_vector(v, 61, ODD);
    for (i = 0; i < (end ? 40 : 10); i++) {
      double size = 0, along = 0;
      int k;
      operate(w, v, ODD, 0, 1), operate(u, w, ODD, 0, 0);
      for (k = 0; k < entries(); k++) size += pow(cabs(*at(v, k)), 2), along += creal(conj(*at(v, k)) * *at(u, k));
      CHECK(end ? along / size <= creal(value) + 1e-9 : along / size >= creal(value) - 1e-9);
      if (!end) set_vector(in[0], v, ODD, 0), invertQuda(in[0], in[0], &p), fine(), get_vector(u, in[0], ODD, 0);
      for (k = 0; k < entries(); k++) *at(v, k) = *at(u, k) / sqrt(size);
      last = along / size;
    }
    CHECK(fabs(last - creal(value)) < 0.1 * creal(value));
  }
  free(v), free(w), free(u);
}

static void mistakes(void) {
  QudaInvertParam p = invert_param(QUDA_CG_INVERTER, WHOLE), good = p;
  p.mu = newQudaInvertParam().mu;
  invertQuda(out[0], in[0], &p), refused(0, "invertQuda", "param.mu");
  p = good, p.twist_flavor = newQudaInvertParam().twist_flavor;
  invertQuda(out[0], in[0], &p), refused(0, "invertQuda", "param.twist_flavor");
  p = good, p.gamma_basis = QUDA_UKQCD_GAMMA_BASIS;
  invertQuda(out[0], in[0], &p), refused(0, "invertQuda", "param.gamma_basis");
  if (form.flavours == 2) {
    p = good, p.epsilon = newQudaInvertParam().epsilon;
    MatQuda(out[0], in[0], &p), refused(0, "MatQuda", "param.epsilon");
    p = good, p.dirac_order = QUDA_QDP_DIRAC_ORDER;
    MatQuda(out[0], in[0], &p), refused(0, "MatQuda", "QUDA_TWIST_NONDEG_DOUBLET");
  }
  if (form.clover) {
    p = good, p.return_clover_inverse = 1;
    loadCloverQuda(NULL, NULL, &p), refused(0, "loadCloverQuda", "return_clover_inverse");
  }
}

static void one_operator(void) {
  load_clover();
  operators();
  /* A new gauge field does not change the clover term on the device. */
  freeGaugeQuda(), fine();
  load_links();
  propagators();
  half_lattice();
  shifts();
  if (!brief) multigrid();
  if (!brief && form.clover) eigenvalues();
  mistakes();
  freeCloverQuda(), fine();
  if (form.clover) {
    QudaInvertParam p = invert_param(QUDA_CG_INVERTER, WHOLE);
    MatQuda(out[0], in[0], &p), refused(0, "MatQuda", "call loadCloverQuda first");
  }
}

int main(int argc, char **argv) {
  matrix *without = start(&argc, &argv);
  int i;
  if (rough()) tol = 1e-2;
  for (i = 0; i < SOURCES; i++) in[i] = room(2 * own * sizeof(spinor));
  for (i = 0; i < SOURCES + SHIFTS; i++) out[i] = room(2 * own * sizeof(spinor));
  for (i = 0; i < 5; i++) {
    const int rho = i == 4;
    form.clover = rho || i & 1, form.flavours = rho ? 1 : 1 + i / 2;
    form.mu = MU, form.epsilon = form.flavours == 2 ? EPSILON : 0, form.rho = rho ? RHO : 0;
    if (!rho) one_operator();
    else load_clover(), operators(), half_lattice(), shifts(), multigrid(), freeCloverQuda(), fine();
  }
  for (i = 0; i < SOURCES; i++) free(in[i]);
  for (i = 0; i < SOURCES + SHIFTS; i++) free(out[i]);
  freeGaugeQuda(), fine();
  endQuda(), fine();
  leave();
  free_arrays();
  free(without);
  return 0;
}
