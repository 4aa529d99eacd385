/* Chroma's side of QUDA's interface: links with the boundary sign and the anisotropy in them, packed A and A^-1, kappa 1/2,
 * vectors of the odd sites; its arrays and parameters; QMP, to which the process grid is declared, as far as the library
 * asks for it. */
#ifndef CHROMA_H
#define CHROMA_H

#include "lattice.h"

#include <quda.h>

#include "plaq.h"

enum { COLUMNS = 12, SHIFTS = 4, WHOLE = 2 };

static double tol = 1e-11;

/* ---- QMP ---- */

#ifdef CLIENT_MPI
static MPI_Comm world;
static int asked;
int QMP_logical_topology_is_declared(void);
int QMP_get_logical_number_of_dimensions(void);
const int *QMP_get_logical_dimensions(void);
int QMP_get_node_number_from(const int *at);
void *QMP_comm_get_default(void);
void QMP_get_mpi_comm(void *comm, void **mpi);
int QMP_logical_topology_is_declared(void) { return 1; }
int QMP_get_logical_number_of_dimensions(void) { return 4; }
const int *QMP_get_logical_dimensions(void) { return ranks; }
int QMP_get_node_number_from(const int *at) {
  asked++;
  return at[0] + ranks[0] * (at[1] + ranks[1] * (at[2] + ranks[2] * at[3]));
}
void *QMP_comm_get_default(void) { return &asked; }
void QMP_get_mpi_comm(void *comm, void **mpi) {
  CHECK(comm == &asked);
  *mpi = &world;
}
#endif

/* ---- operators: K = H / 2 ---- */

static blocks *term, *inverse, *nothing;
/* Whether checks are brief, under tools that make everything slow. */
static int brief;

static void hop(spinor *out, const spinor *in) {
  int i;
  apply(out, nothing, 0.5, in);
  for (i = 0; i < 12 * volume; i++) *at(out, i) *= -1;
}

static void multiply(spinor *out, const blocks *a, const spinor *in) { apply(out, a, 0, in); }

static void gamma5(spinor *x) {
  int i;
  for (i = 0; i < 6 * volume; i++) x[i / 6].d[2 + i % 6 / 3][i % 3] *= -1;
}

/* Of the odd sites: A - K A^-1 K, or 1 - A^-1 K A^-1 K. */
static inline void odd_operator(spinor *out, int symmetric, int dagger, const spinor *in) {
  spinor *v = room(volume * sizeof *v), *w = room(volume * sizeof *w);
  int i;
  memcpy(v, in, volume * sizeof *v);
  if (dagger) gamma5(v);
  if (dagger && symmetric) multiply(w, inverse, v), memcpy(v, w, volume * sizeof *v);
  hop(w, v), multiply(v, inverse, w), hop(w, v);
  if (!dagger && symmetric) multiply(v, inverse, w), memcpy(w, v, volume * sizeof *v);
  memcpy(v, in, volume * sizeof *v);
  if (dagger) gamma5(v);
  if (!symmetric) multiply(out, term, v);
  else memcpy(out, v, volume * sizeof *v);
  for (i = 0; i < 12 * volume; i++) {
    number *here = at(out, i);
    *here = is_odd(i / 12) ? *here - *at(w, i) : 0;
  }
  if (dagger) gamma5(out);
  free(v), free(w);
}

/* ---- arrays in QDP++'s and in QDP-JIT's order ---- */

static int device_order;
static double *host_links[4], *host_clover[2][2];
static double *source[COLUMNS], *solution[SHIFTS + COLUMNS];
static spinor *sources[COLUMNS];

/* Place of a real in an array of QDP-JIT: outer index, parity, site of the parity. */
static size_t jit(int outer, int index) {
  const int half = own / 2;
  return (2 * (size_t)outer + index / half) * half + index % half;
}

static void set_links(void) {
  matrix *one = room(volume * sizeof *one);
  int mu, site, k;
  for (mu = 0; mu < 4; mu++) {
    double *plain = room(own * sizeof(matrix));
    for (site = 0; site < volume; site++) one[site] = links[4 * site + mu];
    scatter_sites(plain, 2, sizeof(matrix), 0, (double *)one, 18);
    for (site = 0; site < own; site++)
      for (k = 0; k < 18; k++)
        host_links[mu][device_order ? jit(9 * (k % 2) + k / 2, site) : (size_t)18 * site + k] = plain[18 * site + k];
    free(plain);
  }
  free(one);
}

static void set_clover(int which, const blocks *a) {
  static const int column[15] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4};
  static const int row[15] = {1, 2, 3, 4, 5, 2, 3, 4, 5, 3, 4, 5, 4, 5, 5};
  double *packed = room((size_t)volume * 72 * sizeof *packed), *plain = room((size_t)own * 72 * sizeof *plain);
  int site, k, n;
  pack(packed, a);
  scatter_sites(plain, 2, 72 * sizeof *plain, 0, packed, 72);
  if (!device_order) memcpy(host_clover[which][0], plain, (size_t)own * 72 * sizeof *plain);
  else
    for (site = 0; site < own; site++)
      for (n = 0; n < 2; n++)
        for (k = 0; k < 36; k++) {
          const int pair = (k - 6) / 2, part = k % 2, place = k < 6 ? 0 : row[pair] * (row[pair] - 1) / 2 + column[pair];
          host_clover[which][k < 6][k < 6 ? jit(2 * k + n, site) : jit(2 * (15 * part + place) + n, site)] =
              plain[72 * site + 36 * n + k];
        }
  free(packed), free(plain);
}

static size_t spinor_at(int index, int k) {
  return device_order ? jit(4 * (3 * (k % 2) + k / 2 % 3) + k / 6, index) : (size_t)24 * index + k;
}

static void set_spinor(double *to, const spinor *from) {
  double *plain = room((size_t)own * sizeof(spinor));
  int site, k;
  scatter_sites(plain, 2, sizeof(spinor), 0, (const double *)from, 24);
  for (site = 0; site < own; site++)
    for (k = 0; k < 24; k++) to[spinor_at(site, k)] = plain[24 * site + k];
  free(plain);
}

static void get_spinor(spinor *to, const double *from) {
  double *plain = room((size_t)own * sizeof(spinor));
  int site, k;
  for (site = 0; site < own; site++)
    for (k = 0; k < 24; k++) plain[24 * site + k] = from[spinor_at(site, k)];
  gather_sites((double *)to, plain, 2, sizeof(spinor), 0, 24);
  free(plain);
}

/* Where a vector of the odd sites begins: QDP-JIT's arrays are those of the whole lattice. */
static void *odd_half(double *vector) { return device_order ? vector : vector + (size_t)24 * (own / 2); }

/* ---- parameters, as the constructors of Chroma's solver objects set them ---- */

static void fine(void) {
  int32_t status;
  CHECK(plaq_quda_last_status(&status) == PLAQ_SUCCESS);
  if (status) fprintf(stderr, "%s\n", plaq_last_error());
  CHECK(status == 0);
}

static QudaGaugeParam gauge_param(double anisotropy) {
  QudaGaugeParam p = newQudaGaugeParam();
  memcpy(p.X, local, sizeof local);
  p.type = QUDA_WILSON_LINKS, p.t_boundary = QUDA_ANTI_PERIODIC_T, p.anisotropy = anisotropy;
  p.gauge_order = device_order ? QUDA_QDPJIT_GAUGE_ORDER : QUDA_QDP_GAUGE_ORDER;
  p.cpu_prec = p.cuda_prec = QUDA_DOUBLE_PRECISION;
  p.cuda_prec_sloppy = p.cuda_prec_precondition = QUDA_SINGLE_PRECISION;
  p.reconstruct = p.reconstruct_sloppy = p.reconstruct_precondition = QUDA_RECONSTRUCT_NO;
  p.gauge_fix = QUDA_GAUGE_FIXED_NO, p.ga_pad = own / 2;
  return p;
}

static QudaInvertParam clover_param(QudaInverterType type) {
  QudaInvertParam p = newQudaInvertParam();
  p.dslash_type = QUDA_CLOVER_WILSON_DSLASH, p.inv_type = type, p.kappa = 0.5, p.clover_coeff = 1;
  p.tol = tol, p.maxiter = 4000, p.reliable_delta = 0.01, p.pipeline = 1;
  p.solve_type = type == QUDA_CG_INVERTER ? QUDA_NORMOP_PC_SOLVE : QUDA_DIRECT_PC_SOLVE;
  p.solution_type = QUDA_MATPC_SOLUTION, p.matpc_type = QUDA_MATPC_ODD_ODD_ASYMMETRIC;
  p.dagger = QUDA_DAG_NO, p.mass_normalization = QUDA_KAPPA_NORMALIZATION;
  p.cpu_prec = p.cuda_prec = p.clover_cpu_prec = p.clover_cuda_prec = QUDA_DOUBLE_PRECISION;
  p.cuda_prec_sloppy = p.cuda_prec_precondition = QUDA_SINGLE_PRECISION;
  p.clover_cuda_prec_sloppy = p.clover_cuda_prec_precondition = QUDA_SINGLE_PRECISION;
  p.preserve_source = QUDA_PRESERVE_SOURCE_NO, p.gamma_basis = QUDA_DEGRAND_ROSSI_GAMMA_BASIS;
  p.dirac_order = device_order ? QUDA_QDPJIT_DIRAC_ORDER : QUDA_DIRAC_ORDER;
  p.clover_order = device_order ? QUDA_QDPJIT_CLOVER_ORDER : QUDA_PACKED_CLOVER_ORDER;
  p.inv_type_precondition = QUDA_INVALID_INVERTER, p.tol_precondition = 0.1, p.maxiter_precondition = 1000;
  p.verbosity_precondition = QUDA_SILENT, p.gcrNkrylov = 1, p.verbosity = QUDA_VERBOSE;
  return p;
}

static void load(QudaGaugeParam *gauge, QudaInvertParam *invert) {
  void *direct = host_clover[0], *of_inverse = host_clover[1];
  loadGaugeQuda((void *)host_links, gauge), fine();
  if (!device_order) direct = host_clover[0][0], of_inverse = host_clover[1][0];
  if (invert) loadCloverQuda(direct, of_inverse, invert), fine();
}

/* A, A^-1 of a number. */
static inline void set_diagonal(double diagonal) {
  int i;
  for (i = 0; i < 12 * volume; i++) {
    memset(term[i / 12].b[i % 12 / 6][i % 6], 0, 6 * sizeof(number));
    memset(inverse[i / 12].b[i % 12 / 6][i % 6], 0, 6 * sizeof(number));
    term[i / 12].b[i % 12 / 6][i % 6][i % 6] = diagonal;
    inverse[i / 12].b[i % 12 / 6][i % 6][i % 6] = 1 / diagonal;
  }
}

/* A = diagonal + clover term of the links, and A^-1. */
static inline void set_terms(double csw, double diagonal) {
  int i;
  clover_term(term, 0.5, csw);
  for (i = 0; i < 12 * volume; i++) term[i / 12].b[i % 12 / 6][i % 6][i % 6] += diagonal - 1;
  invert_blocks(inverse, term);
}

/* Wilson quarks: A is a number, and the operator's factor says so. */
static inline QudaInvertParam wilson_param(QudaInverterType type, double diagonal) {
  QudaInvertParam p = clover_param(type);
  p.dslash_type = QUDA_WILSON_DSLASH, p.kappa = 1 / (2 * diagonal), p.clover_coeff = 0;
  p.mass_normalization = QUDA_ASYMMETRIC_MASS_NORMALIZATION, p.matpc_type = QUDA_MATPC_ODD_ODD;
  p.preserve_source = QUDA_PRESERVE_SOURCE_YES;
  return p;
}

/* CG with shifts of the normal operator of odd sites. */
static inline QudaInvertParam shift_param(int symmetric, int count, const double *offset) {
  QudaInvertParam p = clover_param(QUDA_CG_INVERTER);
  int i;
  p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.num_offset = count, p.use_alternative_reliable = 1;
  if (symmetric) p.matpc_type = QUDA_MATPC_ODD_ODD;
  p.cuda_prec_refinement_sloppy = QUDA_SINGLE_PRECISION;
  for (i = 0; i < count; i++) p.offset[i] = offset[i], p.tol_offset[i] = tol;
  return p;
}

/* GCR's inner parameters. */
static inline void inner_params(QudaInvertParam *p) {
  p->inv_type_precondition = QUDA_MR_INVERTER, p->maxiter_precondition = 10, p->gcrNkrylov = 20;
  p->schwarz_type = QUDA_ADDITIVE_SCHWARZ, p->precondition_cycle = 1;
}

/* A multigrid of two levels, and what its solver object changes in the parameters of its solves. */
static inline void *new_multigrid(QudaMultigridParam *levels, QudaInvertParam *inner, QudaInvertParam *p, int block, int vectors, int post) {
  void *made;
  int i, mu;
  *levels = newQudaMultigridParam(), *inner = clover_param(QUDA_GCR_INVERTER);
  p->matpc_type = inner->matpc_type = QUDA_MATPC_ODD_ODD, p->gcrNkrylov = 20, p->inv_type_precondition = QUDA_MG_INVERTER;
  p->omega = 1, p->precondition_cycle = 1, p->residual_type = QUDA_L2_RELATIVE_RESIDUAL, p->Ls = 1;
  inner->solve_type = QUDA_DIRECT_SOLVE, inner->solution_type = QUDA_MAT_SOLUTION, inner->tol = 1e-10;
  inner->maxiter = 10000, inner->reliable_delta = 1e-10, inner->Ls = 1;
  levels->invert_param = inner, levels->n_level = 2;
  for (i = 0; i < 2; i++) {
    for (mu = 0; mu < 4; mu++) levels->geo_block_size[i][mu] = i ? 4 : block;
    levels->spin_block_size[i] = i ? 1 : 2, levels->n_vec[i] = vectors, levels->n_vec_batch[i] = 1, levels->nu_pre[i] = 0;
    levels->nu_post[i] = post, levels->smoother[i] = i ? QUDA_GCR_INVERTER : QUDA_CA_GCR_INVERTER;
    levels->smoother_tol[i] = 0.25, levels->coarse_solver[i] = QUDA_CA_GCR_INVERTER, levels->coarse_solver_tol[i] = 0.1;
    levels->coarse_solver_maxiter[i] = 12, levels->cycle_type[i] = QUDA_MG_CYCLE_RECURSIVE, levels->omega[i] = 1;
    levels->coarse_grid_solution_type[i] = QUDA_MATPC_SOLUTION, levels->smoother_solve_type[i] = QUDA_DIRECT_PC_SOLVE;
    levels->location[i] = levels->setup_location[i] = QUDA_CUDA_FIELD_LOCATION, levels->mu_factor[i] = 1;
    levels->setup_maxiter_refresh[i] = 100, levels->smoother_schwarz_type[i] = QUDA_INVALID_SCHWARZ;
  }
  levels->post_orthonormalize = QUDA_BOOLEAN_TRUE, levels->run_verify = QUDA_BOOLEAN_FALSE;
  levels->compute_null_vector = QUDA_COMPUTE_NULL_VECTOR_YES, levels->generate_all_levels = QUDA_BOOLEAN_TRUE;
  made = newMultigridQuda(levels), fine();
  p->preconditioner = made;
  return made;
}

/* ---- ranks and arrays ---- */

static void join(int *argc, char ***argv) {
  (void)argc, (void)argv;
#ifdef CLIENT_MPI
  join_grid(argc, argv, (int[4]){0, 1, 2, 3});
  CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &world) == MPI_SUCCESS);
#endif
  brief = getenv("PLAQ_TEST_BRIEF") != NULL;
}

static void leave(void) {
#ifdef CLIENT_MPI
  CHECK(asked >= ranks[0] * ranks[1] * ranks[2] * ranks[3]);
  MPI_Comm_free(&world);
  MPI_Finalize();
#endif
}

static void make_arrays(const int *extents) {
  int i;
  set_lattice(extents);
  term = room(volume * sizeof *term), inverse = room(volume * sizeof *term), nothing = room(volume * sizeof *term);
  for (i = 0; i < 4; i++) {
    host_links[i] = room(own * sizeof(matrix));
    host_clover[i / 2][i % 2] = room((size_t)own * 72 * sizeof(double));
  }
  for (i = 0; i < COLUMNS; i++) {
    sources[i] = room(volume * sizeof(spinor));
    source[i] = room(own * sizeof(spinor));
  }
  for (i = 0; i < SHIFTS + COLUMNS; i++) solution[i] = room(own * sizeof(spinor));
}

static void free_arrays(void) {
  int i;
  for (i = 0; i < 4; i++) free(host_links[i]), free(host_clover[i / 2][i % 2]);
  for (i = 0; i < COLUMNS; i++) free(sources[i]), free(source[i]);
  for (i = 0; i < SHIFTS + COLUMNS; i++) free(solution[i]);
  free(term), free(inverse), free(nothing), free(links);
  links = NULL;
}

#endif
