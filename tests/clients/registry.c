/* A host of quda.h with several multigrids of different clover terms and links at once, each of which stays what it is, and
 * with null vectors in files, on one rank and on several. */
#include "twisted.h"

static double *in, *out, *again;
static spinor *b, *found;

static QudaMultigridParam levels_param(QudaInvertParam *operator) {
  QudaMultigridParam p = newQudaMultigridParam();
  int mu;
  p.invert_param = operator, p.n_level = 2, p.n_vec[0] = 6, p.nu_pre[0] = 0, p.nu_post[0] = 4;
  for (mu = 0; mu < 4; mu++) p.geo_block_size[0][mu] = local[mu] > 2 ? 2 : 1;
  p.cycle_type[0] = QUDA_MG_CYCLE_RECURSIVE, p.setup_maxiter_refresh[0] = 0;
  return p;
}

static void *new_multigrid(void) {
  QudaInvertParam inner = invert_param(QUDA_GCR_INVERTER, WHOLE);
  QudaMultigridParam levels = levels_param(&inner);
  void *made = newMultigridQuda(&levels);
  fine();
  CHECK(made != NULL);
  return made;
}

static void update(void *multigrid) {
  QudaInvertParam inner = invert_param(QUDA_GCR_INVERTER, WHOLE);
  QudaMultigridParam levels = levels_param(&inner);
  updateMultigridQuda(multigrid, &levels), fine();
}

/* Computes another clover term of the same links. */
static void set_csw(double csw) {
  form.csw = csw;
  clover_term(term, form.kappa, form.csw), load_clover();
}

/* Solves with the present operator, and checks the solution by applying the operator to it. */
static void solve(void *multigrid, double *x) {
  QudaInvertParam p = invert_param(QUDA_GCR_INVERTER, WHOLE);
  p.inv_type_precondition = QUDA_MG_INVERTER, p.preconditioner = multigrid;
  random_vector(b, 71, WHOLE), set_vector(in, b, WHOLE, 1);
  invertQuda(x, in, &p), fine();
  CHECK(p.iter > 0 && p.iter < 60);
  get_vector(found, x, WHOLE, 1), operate(b, found, WHOLE, 1, 0), random_vector(found, 71, WHOLE);
  CHECK(distance(b, found) < 3 * tol);
}

static int same(const double *x, const double *y) { return memcmp(x, y, own * sizeof(spinor)) == 0; }

static void several_at_once(void) {
  double *first = room(own * sizeof(spinor)), *second = room(own * sizeof(spinor));
  void *one, *two, *three;
  near_unit(0), set_csw(1);
  one = new_multigrid(), solve(one, first);
  set_csw(0.3);
  two = new_multigrid(), solve(two, second);
  /* The multigrid also preconditions an operator with another clover term, for which it was not made. */
  solve(one, out);
  CHECK(!same(out, second));
  set_csw(1), solve(two, out);
  CHECK(!same(out, first));
  /* With the clover term that it was made for it takes the iterations that it took before. */
  solve(one, out);
  CHECK(same(out, first));
  /* New links: a third multigrid is made for them, and the first one is updated; the second one is not. */
  near_unit(1);
  three = new_multigrid(), solve(three, out), solve(one, again);
  update(one), solve(one, out);
  CHECK(!same(out, again));
  near_unit(0), set_csw(0.3), solve(two, out);
  CHECK(same(out, second));
  solve(one, out), solve(three, out);
  CHECK(!same(out, second));
  destroyMultigridQuda(two), fine();
  solve(three, out), solve(one, out);
  destroyMultigridQuda(one), destroyMultigridQuda(three), fine();
  free(first), free(second);
}

/* A folder for this run, the same one on all ranks. */
static void make_folder(char *folder) {
  strcpy(folder, "/tmp/plaq_registry_XXXXXX");
  if (!place[0] && !place[1] && !place[2] && !place[3]) CHECK(mkdtemp(folder) != NULL);
#ifdef CLIENT_MPI
  MPI_Bcast(folder, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
#endif
}

static int there(const char *name) { return access(name, R_OK) == 0; }

static void files(void) {
  QudaInvertParam inner = invert_param(QUDA_GCR_INVERTER, WHOLE);
  QudaMultigridParam levels = levels_param(&inner), wrong;
  char folder[64], stored[128], dumped[128];
  void *fresh, *multigrid;
  const double csw = form.csw;
  int mu;
  make_folder(folder);
  snprintf(stored, sizeof stored, "%s/stored_level_0_nvec_6", folder);
  snprintf(dumped, sizeof dumped, "%s/dumped_level_0_nvec_6", folder);

  /* A file name without vec_store does nothing at the set-up. */
  snprintf(levels.vec_outfile[0], 256, "%s/stored", folder);
  fresh = newMultigridQuda(&levels), fine();
  solve(fresh, out);
  CHECK(!there(stored));
  /* Null vectors of another clover term are written to both files. */
  set_csw(csw + 1), inner = invert_param(QUDA_GCR_INVERTER, WHOLE);
  levels.vec_store[0] = QUDA_BOOLEAN_TRUE;
  multigrid = newMultigridQuda(&levels), fine();
  CHECK(there(stored));
  snprintf(levels.vec_outfile[0], 256, "%s/dumped", folder);
  dumpMultigridQuda(multigrid, &levels), fine();
  CHECK(there(dumped));
  destroyMultigridQuda(multigrid), fine();

  /* Null vectors are read from the files: the hierarchy is the same for both, and another one than from random vectors.
   * */
  set_csw(csw), inner = invert_param(QUDA_GCR_INVERTER, WHOLE);
  levels = levels_param(&inner);
  snprintf(levels.vec_infile[0], 256, "%s/stored", folder), levels.vec_load[0] = QUDA_BOOLEAN_TRUE;
  multigrid = newMultigridQuda(&levels), fine();
  solve(multigrid, again);
  CHECK(!same(again, out));
  destroyMultigridQuda(multigrid), fine();
  snprintf(levels.vec_infile[0], 256, "%s/dumped", folder);
  multigrid = newMultigridQuda(&levels), fine();
  solve(multigrid, out);
  CHECK(same(again, out));

  /* No such file, another number of vectors, no name, and an object that does not exist are errors; the process and the
   * other multigrids go on. */
  wrong = levels, wrong.n_vec[0] = 5;
  CHECK(newMultigridQuda(&wrong) == NULL);
  refused(PLAQ_FILE_OPEN, "", "dumped_level_0_nvec_5");
  wrong = levels, wrong.vec_infile[0][0] = 0, wrong.vec_infile[1][0] = 'a', wrong.n_level = 3, wrong.n_vec[1] = 4;
  for (mu = 0; mu < 4; mu++) wrong.geo_block_size[1][mu] = 2;
  CHECK(newMultigridQuda(&wrong) == NULL);
  refused(PLAQ_UNSUPPORTED, "", "param.vec_infile[1]");
  wrong = levels, memset(wrong.vec_infile[0], 'a', sizeof wrong.vec_infile[0]);
  CHECK(newMultigridQuda(&wrong) == NULL);
  refused(PLAQ_INVALID_ARGUMENT, "", "param.vec_infile[0]");
  dumpMultigridQuda(multigrid, &levels), refused(PLAQ_INVALID_ARGUMENT, "", "param.vec_outfile[0]");
  snprintf(levels.vec_outfile[0], 256, "%s/nowhere/dumped", folder);
  dumpMultigridQuda(multigrid, &levels), refused(PLAQ_FILE_WRITE, "", "nowhere");
  dumpMultigridQuda(&levels, &levels), refused(PLAQ_INVALID_HANDLE, "", "mg_instance");
  levels.struct_size = 8;
  dumpMultigridQuda(multigrid, &levels), refused(PLAQ_INVALID_ARGUMENT, "", "param.struct_size");
  solve(multigrid, again), solve(fresh, out);
  destroyMultigridQuda(multigrid), destroyMultigridQuda(fresh), fine();
#ifdef CLIENT_MPI
  MPI_Barrier(MPI_COMM_WORLD);
#endif
  if (!place[0] && !place[1] && !place[2] && !place[3]) remove(stored), remove(dumped), rmdir(folder);
}

int main(int argc, char **argv) {
  int extents[4] = {4, 4, 4, 8}, mu;
  join(&argc, &argv);
  if (rough()) tol = 1e-2;
  for (mu = 0; brief && mu < 4; mu++) extents[mu] = (rough() && mu % 3 ? 2 : 4) * (ranks[mu] > 1 && mu < 3 ? 2 : 1);
  make_arrays(extents);
  in = room(own * sizeof(spinor)), out = room(own * sizeof(spinor)), again = room(own * sizeof(spinor));
  b = vector(), found = vector();
  open_library();
  form.kappa = 0.1235, form.csw = 1, form.clover = 1, form.flavours = 1, form.mu = form.epsilon = form.rho = 0;
  several_at_once();
  files();
  free(in), free(out), free(again), free(b), free(found);
  endQuda(), fine();
  leave();
  free_arrays();
  return 0;
}
