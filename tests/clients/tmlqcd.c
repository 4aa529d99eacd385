/* Calls the library as tmLQCD does, in its order and with its values: propagators, trajectories with forces of links and of
 * quarks, shifts, eigenvalues, multigrid and the flow. Every solution is put into operators written here, every force is
 * compared with the change of an action that is computed here. */
#include "tmlqcd.h"

enum { SHIFTS = 3 };

static spinor *noisy(int seed, int parity) {
  spinor *v = vector();
  random_vector(v, seed, parity);
  return v;
}

/* ---- solves ---- */

static void close_to(const spinor *image, const spinor *b) {
  const double off = distance(image, b);
  if (!(off <= 3 * tol)) fprintf(stderr, "residual %g\n", off);
  CHECK(off <= 3 * tol);
}

static void solved(const QudaInvertParam *p) {
  CHECK(p->iter > 0 && p->iter < p->maxiter && p->secs > 0 && p->gflops > 0);
}

/* Solves M x = b for propagators. */
static void whole_solve(QudaInvertParam *p) {
  double *in = room(2 * (size_t)own * sizeof(spinor)), *out = room(2 * (size_t)own * sizeof(spinor));
  spinor *b = noisy(3, WHOLE), *x = vector(), *image = vector();
  set_vector(in, b, WHOLE, 1);
  memset(out, 0x40, (size_t)form.flavours * own * sizeof(spinor));
  invertQuda(out, in, p), fine();
  solved(p);
  get_vector(x, out, WHOLE, 1);
  operate(image, x, WHOLE, 0, 0);
  close_to(image, b);
  free(in), free(out), free(b), free(x), free(image);
}

/* Log lines behind the prefix are written by the first rank alone: with QUDA_SUMMARIZE one line for a solve, with
 * QUDA_VERBOSE also one for each of its iterations. The level is that of the session, or during a call the call's own.
 * */
static void log_lines(void) {
  static const struct {
    QudaVerbosity session, call;
    int solves, iterations;
  } cases[] = {
      {QUDA_SUMMARIZE, QUDA_INVALID_VERBOSITY, 1, 0}, {QUDA_SUMMARIZE, QUDA_SUMMARIZE, 1, 0}, {QUDA_SUMMARIZE, QUDA_SILENT, 0, 0},
      {QUDA_SILENT, QUDA_SUMMARIZE, 1, 0},            {QUDA_SILENT, QUDA_VERBOSE, 1, 1},      {QUDA_SILENT, QUDA_INVALID_VERBOSITY, 0, 0},
      {QUDA_VERBOSE, QUDA_INVALID_VERBOSITY, 1, 1},   {QUDA_VERBOSE, QUDA_SUMMARIZE, 1, 0},
  };
  size_t i;
  int first = 1;
  QudaInvertParam p;
#ifdef CLIENT_MPI
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  first = rank == 0;
#endif
  for (i = 0; i < COUNT(cases); i++) {
    FILE *file = tmpfile();
    char line[200];
    int count, last = 0, solves = 0, iterations = 0;
    double residual, seconds;
    CHECK(file != NULL);
    setVerbosityQuda(cases[i].session, "# QUDA: ", file), fine();
    p = invert_param(QUDA_CG_INVERTER, WHOLE), p.verbosity = cases[i].call;
    whole_solve(&p);
    setVerbosityQuda(QUDA_SUMMARIZE, "# QUDA: ", stdout), fine();
    rewind(file);
    while (fgets(line, sizeof line, file)) {
      CHECK(strncmp(line, "# QUDA: ", 8) == 0);
      if (sscanf(line, "# QUDA: iteration %d: residual %lf", &count, &residual) == 2) {
        CHECK(count == ++iterations);
        last = residual <= tol;
      }
      if (sscanf(line, "# QUDA: solve: %d iterations, residual %lf, %lf s", &count, &residual, &seconds) == 3)
        CHECK(++solves && count == p.iter && residual <= tol && seconds > 0);
    }
    CHECK(solves == first * cases[i].solves);
    CHECK(iterations == first * cases[i].iterations * p.iter && last == (iterations > 0));
    fclose(file);
  }
  p.verbosity = (QudaVerbosity)7;
  invertQuda(NULL, NULL, &p);
  CHECK(strstr(told, "param.verbosity"));
}

/* Solves x = (P P^dagger)^-1 b on the odd sites, by CG in one solve, or as P(-mu)^-1 gamma5 P(mu)^-1 b in two, where
 * the second one begins in the array of the first: by BiCGStab, or by multigrid, which gets the other sign of mu in
 * between. */
static void squared_solve(int steps, void *made, QudaMultigridParam *levels) {
  double *in = room((size_t)own * sizeof(spinor)), *out = room((size_t)own * sizeof(spinor));
  spinor *b = noisy(5, ODD), *x = vector(), *t = vector(), *image = vector();
  QudaInvertParam p = invert_param(steps == 1 ? QUDA_CG_INVERTER : made ? QUDA_GCR_INVERTER : QUDA_BICGSTAB_INVERTER, ODD);
  if (made) p.inv_type_precondition = QUDA_MG_INVERTER, p.maxiter_precondition = 1, p.preconditioner = made;
  set_vector(in, b, ODD, 0);
  if (steps == 1) p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.dagger = QUDA_DAG_YES;
  invertQuda(out, in, &p), fine();
  solved(&p);
  get_vector(x, out, ODD, 0);
  if (steps == 1) {
    operate(t, x, ODD, 0, 1), operate(image, t, ODD, 0, 0);
    close_to(image, b);
  } else {
    operate(image, x, ODD, 0, 0);
    close_to(image, b);
    gamma5(x);
    set_vector(out, x, ODD, 0);
    p.mu = -p.mu, p.tm_rho = -p.tm_rho, form.mu = -form.mu, form.rho = -form.rho;
    if (made) levels->invert_param->mu = p.mu, updateMultigridQuda(made, levels), fine();
    invertQuda(out, out, &p), fine();
    solved(&p);
    get_vector(t, out, ODD, 0);
    operate(image, t, ODD, 0, 0);
    close_to(image, x);
    form.mu = -form.mu, form.rho = -form.rho;
  }
  free(in), free(out), free(b), free(x), free(t), free(image);
}

/* Solves (P P^dagger + offset) x = b for all offsets. */
static void shifts(void) {
  const double offsets[SHIFTS] = {1e-3, 0.05, 1.2};
  QudaInvertParam p = invert_param(QUDA_CG_INVERTER, ODD);
  double *in = room((size_t)own * sizeof(spinor));
  spinor *b = noisy(6, ODD), *x = vector(), *t = vector(), *image = vector();
  void *out[SHIFTS];
  int i;
  set_vector(in, b, ODD, 0);
  p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.dagger = QUDA_DAG_YES, p.num_offset = SHIFTS;
  p.reliable_delta_refinement = 0.1;
  for (i = 0; i < SHIFTS; i++) {
    p.offset[i] = offsets[i], p.tol_offset[i] = tol;
    out[i] = room((size_t)own * sizeof(spinor));
  }
  invertMultiShiftQuda(out, in, &p), fine();
  solved(&p);
  for (i = 0; i < SHIFTS; i++) {
    get_vector(x, out[i], ODD, 0);
    operate(t, x, ODD, 0, 1), operate(image, t, ODD, 0, 0);
    add_to(image, offsets[i], x);
    close_to(image, b);
    free(out[i]);
  }
  free(in), free(b), free(x), free(t), free(image);
}

/* Finds the largest and the smallest eigenvalue of P P^dagger: with eigenvectors, for which tmLQCD does not ask, and
 * without. */
static void eigenvalues(void) {
  int end;
  for (end = 0; end < 2; end++) {
    QudaInvertParam p = invert_param(QUDA_CG_INVERTER, ODD);
    QudaEigParam eig = eigen_param(&p, end);
    double *evec = room((size_t)own * sizeof(spinor));
    double _Complex found[2];
    void *list[1];
    spinor *x = vector(), *t = vector(), *image = vector();
    list[0] = evec;
    eig.tol = eig.qr_tol = 1e-7, eig.n_kr = 48, eig.poly_deg = 24, eig.a_min = 0.5, eig.a_max = 4;
    eigensolveQuda(NULL, found, &eig), fine();
    eigensolveQuda(list, found + 1, &eig), fine();
    CLOSE(creal(found[0]), creal(found[1]), 1e-6);
    get_vector(x, evec, ODD, 0);
    operate(t, x, ODD, 0, 1), operate(image, t, ODD, 0, 0);
    CLOSE(creal(product(x, image)) / creal(product(x, x)), creal(found[1]), 1e-9);
    add_to(image, -found[1], x);
    CLOSE(sqrt(creal(product(image, image)) / creal(product(x, x))), 0, 1e-5);
    free(evec), free(x), free(t), free(image);
  }
}

/* Multigrid by tmLQCD's calls; tmLQCD makes them for one flavour only. */
static void multigrid(int flavours) {
  const int block[4] = {2, 2, 2, 2};
  QudaInvertParam inner, p;
  QudaMultigridParam levels;
  void *made;
  int times;
  use(flavours, MU, flavours == 2 ? EPSILON : 0, 0, 1);
  p = invert_param(QUDA_GCR_INVERTER, WHOLE);
  set_levels(&levels, &inner, block, 8);
  made = newMultigridQuda(&levels), fine();
  p.inv_type_precondition = QUDA_MG_INVERTER, p.maxiter_precondition = 1, p.preconditioner = made;
  /* Solves for the up quark, for the down quark after an update with the other sign of mu, and after one that refines
   * null vectors. */
  for (times = 0; times < 3; times++) {
    if (times) {
      use(flavours, -form.mu, form.epsilon, 0, 1);
      p.mu = inner.mu = form.mu;
      levels.setup_maxiter_refresh[0] = times == 2 ? 50 : 0;
      updateMultigridQuda(made, &levels), fine();
    }
    whole_solve(&p);
    CHECK(p.iter < 40);
  }
  if (flavours == 1) squared_solve(2, made, &levels);
  destroyMultigridQuda(made), fine();
}

/* ---- forces ---- */

static void gauge_force(void) {
  int mu, i, n, k, site, end;
  double *found = room(40 * (size_t)volume * sizeof *found), want[9];
  for (n = 6; n <= STAPLES; n += STAPLES - 6) {
    set_links();
    gauge_force_of(found, 2.4, -0.331, n);
    for (site = 0; site < volume; site += 3)
      for (mu = 0; mu < 4; mu++) {
        matrix sum = {{{0}}};
        for (i = 0; i < n; i++) {
          const int at_end = step(site, mu, 1);
          sum = add(sum, -staple.coeff[i], mul(links[4 * site + mu], along(at_end, staple.path[mu][i], staple.length[i], &end)));
          CHECK(end == site);
        }
        traceless(want, sum);
        for (k = 0; k < 9; k++) CLOSE(found[40 * (size_t)site + 10 * mu + k], want[k], 1e-12);
      }
  }
  free(found);
}

/* The action whose derivative at fixed x and y is the force: sum of -2 w Re <y, R x>, less ln det of the site terms. */
static double action(spinor *const *x, spinor *const *y, const double *w, int count, int determinant) {
  spinor *t = vector();
  double sum = 0;
  int i;
  clover_term(term, form.kappa, form.csw);
  for (i = 0; i < count; i++) {
    operate(t, x[i], ODD, 0, 0);
    sum -= 2 * w[i] * creal(product(y[i], t));
  }
  free(t);
  return sum - determinant * log_det();
}

/* Compares a force with the change of the action when all links are multiplied by exp(eps K), K = i k_a lambda_a
 * random: the action changes by eps G_a k_a, and the library returns i G_a lambda_a. */
static void quark_force(int ratio, int count) {
  const double evmax = 1.7, eps = 2e-4;
  const double weight[4] = {-1, 8, -8, 1}, place_of[4] = {2, 1, -1, -2};
  QudaGaugeParam gauge = force_param();
  QudaInvertParam p = invert_param(QUDA_CG_INVERTER, ODD);
  double *found = room(40 * (size_t)volume * sizeof *found), coeff[SHIFTS], w[SHIFTS], scale = 0;
  matrix *before = room(4 * (size_t)volume * sizeof *before);
  spinor *x[SHIFTS], *y[SHIFTS], *x0 = noisy(40, ODD);
  void *list[SHIFTS], *zero[1];
  int i, k, n, kinds;
  memcpy(before, links, 4 * (size_t)volume * sizeof *before);
  p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.dagger = QUDA_DAG_YES, p.clover_csw = form.csw;
  if (form.flavours == 2) p.evmax = evmax;
  zero[0] = room((size_t)own * sizeof(spinor));
  set_vector(zero[0], x0, ODD, 0);
  /* In R, mu and rho have the other sign. */
  form.mu = -form.mu, form.rho = -form.rho;
  for (i = 0; i < count; i++) {
    x[i] = noisy(30 + i, ODD), y[i] = vector();
    operate(y[i], x[i], ODD, 0, 0);
    if (ratio && form.flavours == 1) gamma5(x0), add_to(y[i], 1, x0), gamma5(x0);
    w[i] = form.flavours == 2 ? 0.3 + i : 1;
    coeff[i] = 4 * form.kappa * form.kappa * w[i] * (form.flavours == 2 ? evmax : 1);
    p.offset[i] = 0.1 * i;
    list[i] = room((size_t)own * sizeof(spinor));
    set_vector(list[i], x[i], ODD, 0);
  }
  for (i = 0; i < 4; i++) memset(host_momenta[i], 0x40, (size_t)own * 80);
  computeTMCloverForceQuda(host_momenta, list, ratio && form.flavours == 1 ? zero : list, coeff, count, &gauge, &p, ratio), fine();
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
      change += weight[n] * action(x, y, w, count, !ratio) / (12 * eps);
    }
    CLOSE(given, change, 1e-8 * sqrt(scale));
    free(ten);
  }
  memcpy(links, before, 4 * (size_t)volume * sizeof *before);
  form.mu = -form.mu, form.rho = -form.rho;
  clover_term(term, form.kappa, form.csw);
  for (i = 0; i < count; i++) free(x[i]), free(y[i]), free(list[i]);
  free(zero[0]), free(x0), free(found), free(before);
}

/* ---- flow ---- */

/* The flow of U(3) links returns links of SU(3), which are those of the flow without phases. */
static void flow(const matrix *without) {
  enum { STEPS = 3 };
  QudaGaugeSmearParam p = newQudaGaugeSmearParam();
  QudaGaugeObservableParam observe[2][STEPS + 1];
  QudaGaugeParam smeared = gauge_param();
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
      load_links();
    }
    setVerbosityQuda(QUDA_SILENT, "# QUDA: ", stdout);
    performWFlowQuda(&p, observe[n]), fine();
    setVerbosityQuda(QUDA_SUMMARIZE, "# QUDA: ", stdout);
    for (mu = 0; mu < 4; mu++) arrays[mu] = flowed[n][mu] = room((size_t)own * sizeof(matrix));
    saveGaugeQuda(arrays, &smeared), fine();
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
  free(with);
}

/* ---- programs of tmLQCD ---- */

static void propagators(void) {
  QudaInvertParam p;
  int n;
  /* Up and down quark, for which the clover term is loaded again since mu changes. */
  for (n = 0; n < 2; n++) {
    use(1, n ? -MU : MU, 0, 0, 1);
    p = invert_param(QUDA_CG_INVERTER, WHOLE);
    whole_solve(&p);
  }
  log_lines();
  p.solve_type = QUDA_NORMOP_SOLVE;
  whole_solve(&p);
  /* tmLQCD's operators CLOVER, WILSON, TMWILSON, DBTMWILSON and DBCLOVER. */
  for (n = 0; n < 5 && !brief; n++) {
    use(n < 3 ? 1 : 2, n < 2 ? 0 : MU, n < 3 ? 0 : EPSILON, 0, n == 0 || n == 4);
    p = invert_param(QUDA_CG_INVERTER, WHOLE);
    whole_solve(&p);
  }
}

static void trajectories(void) {
  int n;
  /* The monomials CLOVERDET and CLOVERDETRATIO; the clover term stays valid when the same links are loaded again. */
  use(1, MU, 0, RHO, 1);
  gauge_force();
  freeGaugeQuda(), fine();
  set_links();
  load_links();
  squared_solve(1, NULL, NULL);
  quark_force(0, 1);
  quark_force(1, 1);
  if (brief) return;
  squared_solve(2, NULL, NULL);
  eigenvalues();
  /* The monomials CLOVERDET with rho alone and without mu, RAT, and DET. */
  for (n = 0; n < 4; n++) {
    use(1, n == 3 ? MU : 0, 0, n == 0 ? RHO : 0, n < 2);
    squared_solve(1, NULL, NULL);
    squared_solve(2, NULL, NULL);
    if (n < 2) quark_force(0, 1);
    else shifts();
  }
  /* The monomials NDRAT and NDCLOVERRAT. */
  for (n = 0; n < 2; n++) {
    use(2, MU, EPSILON, 0, n);
    shifts();
    eigenvalues();
  }
  quark_force(0, SHIFTS);
  quark_force(1, SHIFTS);
}

int main(int argc, char **argv) {
  matrix *without = start(&argc, &argv);
  int mu;
  for (mu = 0; mu < 4; mu++) host_momenta[mu] = room((size_t)own * 80);
  propagators();
  trajectories();
  if (!brief) multigrid(1), multigrid(2);
  flow(without);
  freeCloverQuda(), fine();
  freeGaugeQuda(), fine();
  endQuda(), fine();
  leave();
  free_arrays();
  for (mu = 0; mu < 4; mu++) free(host_momenta[mu]);
  free(without);
  return 0;
}
