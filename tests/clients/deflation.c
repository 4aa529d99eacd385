/* A host of quda.h whose solves are deflated by eigenvectors: the same solutions in fewer iterations, of one search that
 * lasts as long as the host wants, on one rank and on several. */
#include "twisted.h"

enum { MODES = 12, SOURCES = 2 };

static double *in[SOURCES], *out[SOURCES];
static spinor *source, *found;

static QudaEigParam eig_param(QudaInvertParam *p) {
  QudaEigParam e = newQudaEigParam();
  e.invert_param = p, e.eig_type = QUDA_EIG_TR_LANCZOS, e.spectrum = QUDA_SPECTRUM_SR_EIG, e.use_norm_op = QUDA_BOOLEAN_TRUE;
  e.n_ev = e.n_conv = MODES * form.flavours, e.n_kr = 4 * e.n_conv, e.tol = rough() ? 1e-2 : 1e-7, e.max_restarts = 100;
  e.preserve_deflation = QUDA_BOOLEAN_TRUE;
  return e;
}

/* Searches for eigenvectors in a solve of one or of all sources, as the log of the first rank has them. */
static int searches(QudaInvertParam *p, int count) {
  int screen, lines;
  FILE *file = begin_of_lines(&screen);
  p->num_src = count;
  if (count == 1) invertQuda(out[0], in[0], p);
  else invertMultiSrcQuda((void **)out, (void **)in, p);
  lines = end_of_lines(file, screen, "# QUDA: eigenvectors: ");
  return lines;
}

/* M x, or with the adjoint one, is the source. */
static void check(const double *x, int which, const QudaInvertParam *p) {
  const int half = p->solution_type >= QUDA_MATPC_SOLUTION, where = half ? p->matpc_type & 1 : WHOLE;
  get_vector(found, x, where, p->gamma_basis == QUDA_CHIRAL_GAMMA_BASIS);
  operate(source, found, where, p->matpc_type < 2, p->dagger == QUDA_DAG_YES);
  random_vector(found, 20 + which, where);
  CHECK(distance(source, found) < 3 * tol);
}

static void sources(const QudaInvertParam *p) {
  const int half = p->solution_type >= QUDA_MATPC_SOLUTION, where = half ? p->matpc_type & 1 : WHOLE;
  int i;
  for (i = 0; i < SOURCES; i++) {
    random_vector(source, 20 + i, where);
    set_vector(in[i], source, where, p->gamma_basis == QUDA_CHIRAL_GAMMA_BASIS);
  }
}

/* Checks that a solve takes fewer iterations than one without modes, and that it searches for modes `searched` times.
 * */
static void deflated(QudaInvertParam p, QudaEigParam *e, int searched, int count) {
  const int first = !place[0] && !place[1] && !place[2] && !place[3];
  /* Rounding brings low modes back where they are taken out of the start alone. */
  const double most = p.tol_restart > 0 ? 0.75 : 0.9;
  QudaInvertParam without = p;
  int i;
  sources(&p);
  without.eig_param = NULL;
  CHECK(searches(&without, count) == 0);
  fine();
  p.eig_param = e;
  CHECK(searches(&p, count) == searched * first);
  fine();
  if (p.iter > most * without.iter) fprintf(stderr, "%d iterations of %d\n", p.iter, without.iter);
  CHECK(p.iter > 0 && (rough() || p.iter <= most * without.iter) && p.true_res[count - 1] <= tol);
  for (i = 0; i < count; i++) check(out[i], i, &p);
}

static void one_operator(void) {
  QudaInvertParam p = invert_param(QUDA_CG_INVERTER, WHOLE), bad;
  QudaEigParam e = eig_param(&p), lost, wrong;
  void *space;
  load_clover();
  /* Found at the first solve; there for the next ones, of the adjoint operator, too, with some of the modes, too. */
  deflated(p, &e, 1, 1);
  space = e.preserve_deflation_space;
  CHECK(space != NULL);
  deflated(p, &e, 0, SOURCES);
  p.dagger = QUDA_DAG_YES;
  deflated(p, &e, 0, 1);
  p.dagger = QUDA_DAG_NO, p.inv_type = QUDA_GCR_INVERTER, p.solve_type = QUDA_DIRECT_PC_SOLVE, p.gcrNkrylov = 30;
  deflated(p, &e, 0, 1);
  p = invert_param(QUDA_CG_INVERTER, WHOLE), e.n_ev_deflate = MODES, p.tol_restart = 0;
  deflated(p, &e, 0, 1);
  e.n_ev_deflate = -1, p.tol_restart = newQudaInvertParam().tol_restart;
  CHECK(e.preserve_deflation_space == space);

  /* Other links, or another system: they are found again, and have the same place. */
  near_unit(7000);
  deflated(p, &e, 1, 1), deflated(p, &e, 0, 1);
  p.solve_type = QUDA_NORMOP_SOLVE, p.cuda_prec_eigensolver = QUDA_DOUBLE_PRECISION, e.compute_svd = QUDA_BOOLEAN_TRUE;
  deflated(p, &e, 1, 1);
  CHECK(e.preserve_deflation_space == space);

  /* They are gone after a solve that does not keep them. */
  lost = e, e.preserve_deflation = QUDA_BOOLEAN_FALSE;
  deflated(p, &e, 0, 1);
  CHECK(e.preserve_deflation_space == NULL);
  bad = p, bad.eig_param = &lost;
  searches(&bad, 1), refused(PLAQ_INVALID_HANDLE, "", "param.eig_param.preserve_deflation_space");
  deflated(p, &e, 1, 1), deflated(p, &e, 1, 1);
  CHECK(e.preserve_deflation_space == NULL);

  /* P^dagger of a parity, from P. */
  p = invert_param(QUDA_CG_INVERTER, ODD), p.dagger = QUDA_DAG_YES;
  deflated(p, &e, 1, 1);

  /* What fails leaves nothing behind. */
  p = invert_param(QUDA_CG_INVERTER, WHOLE), e = eig_param(&p), p.eig_param = &e;
  sources(&p), in[0][5] = NAN;
  searches(&p, 1), refused(PLAQ_NOT_FINITE, "", "invertQuda");
  CHECK(e.preserve_deflation_space == NULL);
  sources(&p), wrong = e, bad = p, bad.eig_param = &wrong;
  wrong.max_restarts = 1, wrong.n_kr = 1, wrong.tol = 1e-15, bad.cuda_prec_eigensolver = QUDA_DOUBLE_PRECISION;
  if (!brief) searches(&bad, 1), refused(PLAQ_NOT_CONVERGED, "", "param.eig_param.max_restarts");
  CHECK(wrong.preserve_deflation_space == NULL);
  bad = p, bad.eig_param = &wrong;
  wrong = e, wrong.n_conv = 0, searches(&bad, 1), refused(PLAQ_BAD_PARAMETER, "", "param.eig_param.n_conv");
  wrong = e, wrong.struct_size = 8, searches(&bad, 1), refused(PLAQ_INVALID_ARGUMENT, "", "param.eig_param.struct_size");
  wrong = e, wrong.n_ev_deflate = e.n_conv + 1, searches(&bad, 1), refused(PLAQ_INVALID_ARGUMENT, "", "n_ev_deflate");
  wrong = e, wrong.vec_infile[0] = 'a', searches(&bad, 1), refused(PLAQ_UNSUPPORTED, "", "param.eig_param.vec_infile");
  wrong = e, wrong.eig_type = QUDA_EIG_TR_LANCZOS_3D, searches(&bad, 1), refused(PLAQ_UNSUPPORTED, "", "param.eig_param.eig_type");
  wrong = e, wrong.preserve_deflation_space = &wrong, searches(&bad, 1);
  refused(PLAQ_INVALID_HANDLE, "", "param.eig_param.preserve_deflation_space");
  bad = p, bad.tol_restart = 1, searches(&bad, 1), refused(PLAQ_INVALID_ARGUMENT, "", "param.tol_restart");
  bad = p, bad.eig_param = NULL, bad.deflate = QUDA_BOOLEAN_TRUE;
  searches(&bad, 1), refused(PLAQ_INVALID_ARGUMENT, "", "param.deflate");
  bad = p, bad.solution_type = QUDA_MATDAG_MAT_SOLUTION, bad.solve_type = QUDA_NORMOP_SOLVE, bad.num_offset = 1;
  bad.tol_offset[0] = 1e-6;
  invertMultiShiftQuda((void **)out, in[0], &bad), refused(PLAQ_UNSUPPORTED, "", "param.eig_param");
  if (form.flavours == 1 && form.mu == 0) {
    bad = p, bad.distance_pc_alpha0 = 0.5, bad.distance_pc_t0 = 0;
    searches(&bad, 1), refused(PLAQ_UNSUPPORTED, "", "param.distance_pc_alpha0");
  }

  /* Fewer of them than are kept. */
  deflated(p, &e, 1, 1);
  CHECK(e.preserve_deflation_space != NULL);
  e.n_conv--;
  searches(&p, 1), refused(PLAQ_INVALID_ARGUMENT, "", "param.eig_param.n_conv");
}

/* Two operators, and their clover terms, on the same links in turn: each has an eigenspace, which is found once. */
static void in_turn(void) {
  const double kappas[2] = {form.kappa, 0.98 * form.kappa};
  QudaInvertParam p;
  QudaEigParam e[2];
  int i;
  for (i = 0; i < 4; i++) {
    form.kappa = kappas[i % 2];
    clover_term(term, form.kappa, form.csw), load_clover();
    p = invert_param(QUDA_CG_INVERTER, WHOLE);
    if (i < 2) e[i] = eig_param(&p);
    deflated(p, &e[i % 2], i < 2, 1);
  }
  CHECK(e[0].preserve_deflation_space != e[1].preserve_deflation_space);
  form.kappa = kappas[0];
}

int main(int argc, char **argv) {
  int extents[4] = {4, 4, 4, 8}, i, mu;
  join(&argc, &argv);
  if (rough()) tol = 1e-2;
  for (mu = 0; brief && mu < 4; mu++) extents[mu] = (mu == 3 ? 4 : 2) * ranks[mu];
  make_arrays(extents);
  for (i = 0; i < SOURCES; i++) in[i] = room(2 * own * sizeof(spinor)), out[i] = room(2 * own * sizeof(spinor));
  source = vector(), found = vector();
  open_library();
  for (i = 0; i < (brief ? 1 : 3); i++) {
    form.kappa = 0.1235, form.csw = 1, form.clover = i == 1, form.flavours = 1 + (i == 2);
    form.mu = i == 2 ? 0.02 : 0, form.epsilon = i == 2 ? 0.01 : 0;
    near_unit(i);
    one_operator();
    in_turn();
  }
  for (i = 0; i < SOURCES; i++) free(in[i]), free(out[i]);
  free(source), free(found);
  endQuda(), fine();
  leave();
  free_arrays();
  return 0;
}
