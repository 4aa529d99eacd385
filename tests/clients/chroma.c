/* Calls the library as Chroma does, in its order and with its values. Every solution is put into operators written here. */
#include "chroma.h"

static const double MASS = 0.3, CSW = 1.2, XI = 1.3;

/* ---- solves ---- */

static double distance(const spinor *a, const spinor *b) {
  double off = 0, norm = 0;
  int i;
  for (i = 0; i < 12 * volume; i++) {
    const number x = *at(a, i), y = *at(b, i);
    off += pow(cabs(x - y), 2), norm += pow(cabs(y), 2);
  }
  return sqrt(off / norm);
}

/* The relative residual |b - M x| / |b|, where M is the operator of the odd sites, its normal operator plus a shift, or
 * the operator of all sites. */
static void check(const double *x, const spinor *b, int form, int dagger, int normal, double shift) {
  spinor *v = room(volume * sizeof *v), *w = room(volume * sizeof *w), *u = room(volume * sizeof *u);
  double off;
  int i;
  get_spinor(v, x);
  for (i = 0; form != WHOLE && i < 12 * volume; i++)
    if (!is_odd(i / 12)) CHECK(*at(v, i) == 0);
  if (form == WHOLE) apply(w, term, 0.5, v);
  else odd_operator(w, form, dagger, v);
  if (normal) odd_operator(u, form, 1, w), memcpy(w, u, volume * sizeof *w);
  for (i = 0; i < 12 * volume; i++) *at(w, i) += shift * *at(v, i);
  off = distance(w, b);
  if (off > 10 * tol) fprintf(stderr, "residual %g\n", off);
  CHECK(off <= 10 * tol);
  free(v), free(w), free(u);
}

/* Chroma asks for log lines by a member of its parameters alone, and gets them on stdout: one for each iteration, and
 * none without the member. */
static void told_lines(void) {
  const QudaVerbosity levels[3] = {QUDA_VERBOSE, QUDA_SUMMARIZE, QUDA_INVALID_VERBOSITY};
  int i, screen, first = 1;
#ifdef CLIENT_MPI
  int rank;
  MPI_Comm_rank(world, &rank);
  first = rank == 0;
#endif
  for (i = 0; i < 3; i++) {
    QudaInvertParam p = clover_param(QUDA_CG_INVERTER);
    FILE *file = begin_of_lines(&screen);
    p.verbosity = levels[i];
    invertQuda(odd_half(solution[0]), odd_half(source[0]), &p), fine();
    CHECK(end_of_lines(file, screen, i ? "solve: " : "iteration ") == first * (i == 0 ? p.iter : i == 1));
  }
}

static void solve_columns(QudaInvertParam p, int columns, int form) {
  void *in[COLUMNS], *out[COLUMNS];
  int i;
  for (i = 0; i < columns; i++) {
    memset(solution[i], 0, (size_t)own * sizeof(spinor));
    in[i] = form == WHOLE ? source[i] : odd_half(source[i]);
    out[i] = form == WHOLE ? solution[i] : odd_half(solution[i]);
  }
  p.num_src = p.num_src_per_sub_partition = columns;
  if (columns > 1) invertMultiSrcQuda(out, in, &p);
  else invertQuda(out[0], in[0], &p);
  fine();
  CHECK(p.iter > 0 && p.secs > 0 && p.gflops > 0);
  for (i = 0; i < columns; i++) {
    CHECK(p.true_res[i] > 0 && p.true_res[i] <= tol);
    if (!brief || i == columns - 1) check(solution[i], sources[i], form, p.dagger == QUDA_DAG_YES, 0, 0);
  }
}

/* Solves for sources of the odd sites, and for sources of all sites. */
static void set_sources(int whole) {
  int i, k;
  for (i = 0; i < COLUMNS; i++) {
    for (k = 0; k < 12 * volume; k++)
      *at(sources[i], k) =
          whole || is_odd(k / 12) ? noise(7 + i, 2 * k) + I * noise(7 + i, 2 * k + 1) : 0;
    set_spinor(source[i], sources[i]);
  }
}

static void shifts(int form) {
  const double offset[SHIFTS] = {0.0064, 0.07, 1.5, 40};
  QudaInvertParam p = shift_param(form, SHIFTS, offset);
  void *out[SHIFTS];
  int i;
  for (i = 0; i < SHIFTS; i++) {
    memset(solution[i], 0, (size_t)own * sizeof(spinor));
    out[i] = odd_half(solution[i]);
  }
  invertMultiShiftQuda(out, odd_half(source[0]), &p), fine();
  for (i = 0; i < SHIFTS; i++) check(solution[i], sources[0], form, 0, 1, offset[i]);
}

/* The operator on vectors with spin as the inner index and colour as the outer one gives the same numbers in that
 * order. */
static void spin_inside_colour(void) {
  QudaInvertParam p = clover_param(QUDA_CG_INVERTER);
  double *in = solution[2], *out = solution[3];
  int site, k;
  p.solution_type = QUDA_MAT_SOLUTION;
  MatQuda(solution[0], source[0], &p), fine();
  for (site = 0; site < own; site++)
    for (k = 0; k < 24; k++) in[24 * site + 8 * (k / 2 % 3) + 2 * (k / 6) + k % 2] = source[0][24 * site + k];
  p.dirac_order = QUDA_QDP_DIRAC_ORDER;
  MatQuda(out, in, &p), fine();
  for (site = 0; site < own; site++)
    for (k = 0; k < 24; k++)
      CHECK(out[24 * site + 8 * (k / 2 % 3) + 2 * (k / 6) + k % 2] == solution[0][24 * site + k]);
}

/* Former solutions: a source that is the sum of two former ones takes next to no iterations, and a channel that was
 * flushed knows no former solutions. The contents of the solution's array do not matter. */
static void predictor(void) {
  const QudaSolutionType kinds[2] = {QUDA_MATPCDAG_MATPC_SOLUTION, QUDA_MATPC_SOLUTION};
  int kind, i, iterations[4];
  for (kind = 0; kind < 2; kind++) {
    for (i = 0; i < 4; i++) {
      QudaInvertParam p = clover_param(QUDA_CG_INVERTER);
      p.solution_type = kinds[kind], p.chrono_make_resident = p.chrono_use_resident = 1;
      p.chrono_max_dim = 7, p.chrono_index = 4 + kind, p.chrono_precision = QUDA_DOUBLE_PRECISION;
      memset(solution[0], 0x40, (size_t)own * sizeof(spinor));
      if (i % 3 == 0) flushChronoQuda(p.chrono_index), fine();
      if (i == 2) {
        /* The source is the sum of the two former ones. */
        int k;
        spinor *sum = room(volume * sizeof *sum);
        for (k = 0; k < 12 * volume; k++)
          *at(sum, k) = *at(sources[0], k) + *at(sources[1], k);
        set_spinor(solution[1], sum);
        free(sum);
      }
      invertQuda(odd_half(solution[0]), odd_half(i == 2 ? solution[1] : source[i % 3]), &p), fine();
      iterations[i] = p.iter;
    }
    CHECK(iterations[0] > 10 && iterations[1] > 10 && iterations[2] < 4);
    CHECK(iterations[3] == iterations[0]);
  }
}

/* Solves (P^dagger P) x = b in one step with CG, or in two with BiCGStab, each from a guess of the host. */
static void normal(void) {
  QudaInvertParam p = clover_param(QUDA_CG_INVERTER);
  double *between = room((size_t)own * sizeof(spinor));
  memset(solution[0], 0, (size_t)own * sizeof(spinor));
  p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.compute_true_res = 0, p.use_init_guess = QUDA_USE_INIT_GUESS_YES;
  invertQuda(odd_half(solution[0]), odd_half(source[0]), &p), fine();
  check(solution[0], sources[0], 0, 0, 1, 0);
  p = clover_param(QUDA_BICGSTAB_INVERTER);
  p.dagger = QUDA_DAG_YES, p.tol = tol / 10, p.use_init_guess = QUDA_USE_INIT_GUESS_YES;
  invertQuda(odd_half(between), odd_half(source[0]), &p), fine();
  p.dagger = QUDA_DAG_NO;
  invertQuda(odd_half(solution[0]), odd_half(between), &p), fine();
  check(solution[0], sources[0], 0, 0, 1, 0);
  free(between);
}

static void multigrid(QudaGaugeParam *gauge) {
  QudaInvertParam p = clover_param(QUDA_GCR_INVERTER), inner;
  QudaMultigridParam levels;
  void *made = new_multigrid(&levels, &inner, &p, 2, 6, 4);
  printQudaMultigridParam(&levels), fine();
  solve_columns(p, COLUMNS, 1);
  /* Another solver object finds the multigrid in Chroma's map. */
  freeGaugeQuda(), fine();
  freeCloverQuda(), fine();
  load(gauge, &p);
  updateMultigridQuda(made, &levels), fine();
  p.solution_type = QUDA_MAT_SOLUTION;
  set_sources(1);
  solve_columns(p, 2, WHOLE);
  destroyMultigridQuda(made), fine();
  set_sources(0);
}

/* Makes solves of every solver object for a clover term A and links that `anisotropy` scales. */
static void solver_objects(double anisotropy) {
  QudaGaugeParam gauge = gauge_param(anisotropy);
  QudaInvertParam p = clover_param(QUDA_CG_INVERTER);
  int i;
  set_links();
  set_clover(0, term), set_clover(1, inverse);
  load(&gauge, &p);
  set_sources(0);
  solve_columns(p, COLUMNS, 0);
  p.matpc_type = QUDA_MATPC_ODD_ODD;
  solve_columns(p, 1, 1);
  for (i = 0; i < 2; i++) {
    p = clover_param(QUDA_BICGSTAB_INVERTER);
    p.matpc_type = i ? QUDA_MATPC_ODD_ODD : QUDA_MATPC_ODD_ODD_ASYMMETRIC;
    solve_columns(p, i ? 1 : COLUMNS, i);
    if (brief) break;
    p.dagger = QUDA_DAG_YES;
    solve_columns(p, 1, i);
    shifts(i);
  }
  /* GCR without inner parameters, and with those that Chroma sets. */
  p = clover_param(QUDA_GCR_INVERTER);
  solve_columns(p, 1, 0);
  inner_params(&p);
  solve_columns(p, COLUMNS, 0);
  normal();
  told_lines();
  if (!brief) predictor();
  if (!device_order) spin_inside_colour();
  /* The operator without even-odd preconditioning. */
  set_sources(1);
  p = clover_param(QUDA_CG_INVERTER);
  p.solution_type = QUDA_MAT_SOLUTION, p.matpc_type = QUDA_MATPC_ODD_ODD;
  solve_columns(p, COLUMNS, WHOLE);
  set_sources(0);
  if (!brief) multigrid(&gauge);
  /* The destructors of two solver objects, one after the other. */
  for (i = 0; i < 2; i++) {
    freeGaugeQuda(), fine();
    freeCloverQuda(), fine();
  }
}

static void wilson(double anisotropy) {
  const double diagonal = 1 + 3 / anisotropy + MASS;
  QudaGaugeParam gauge = gauge_param(anisotropy);
  QudaInvertParam p = wilson_param(QUDA_CG_INVERTER, diagonal);
  set_diagonal(diagonal);
  set_links();
  load(&gauge, NULL);
  solve_columns(p, 1, 0);
  p.inv_type = QUDA_BICGSTAB_INVERTER, p.solve_type = QUDA_DIRECT_PC_SOLVE;
  solve_columns(p, 1, 0);
  p.solution_type = QUDA_MAT_SOLUTION;
  set_sources(1);
  solve_columns(p, COLUMNS, WHOLE);
  freeGaugeQuda(), fine();
  freeCloverQuda(), fine();
}

int main(int argc, char **argv) {
  const double antiperiodic[4] = {0, 0, 0, 1};
  int extents[4] = {4, 4, 4, 8};
  int i, n, mu, site;
  join(&argc, &argv);
  if (brief) extents[1] = extents[2] = 2, extents[3] = 4;
  make_arrays(extents);
  initQuda(-1);
  for (n = 0; n < (brief ? 1 : 2); n++) {
    const double anisotropy = n ? 1 : XI;
    device_order = n;
    random_links(0);
    twist(antiperiodic);
    clover_term(term, 0.5, CSW);
    for (i = 0; i < 12 * volume; i++) term[i / 12].b[i % 12 / 6][i % 6][i % 6] += 3 / anisotropy + MASS;
    invert_blocks(inverse, term);
    for (site = 0; site < volume; site++)
      for (mu = 0; mu < 3; mu++)
        for (i = 0; i < 9; i++) links[4 * site + mu].e[i / 3][i % 3] /= anisotropy;
    solver_objects(anisotropy);
    wilson(anisotropy);
  }
  endQuda();
  leave();
  free_arrays();
  return 0;
}
