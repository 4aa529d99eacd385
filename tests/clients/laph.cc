/* The calls of a program in C++ that makes perambulators by QUDA's interface: ranks, timers and messages of util_quda.h and
 * timer.h, modes of every time-slice, solves, sink projection. The numbers are those of plaq's own perambulators on the
 * same links: sums that do not depend on the basis of the modes. */
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#ifdef CLIENT_MPI
#include <mpi.h>
#endif

#include "plaq.h"
#include "quda.h"
#include "timer.h"
#include "util_quda.h"

using complex = std::complex<double>;

#define CHECK(claim)                                      \
  do {                                                    \
    if (!(claim)) errorQuda("not true: %s", #claim);      \
  } while (0)
#define OK(call)                                          \
  do {                                                    \
    if ((call) != PLAQ_SUCCESS) errorQuda("%s: %s", #call, plaq_last_error()); \
  } while (0)

static const int extents[4] = {4, 4, 4, 8}, modes = 6, times = 8, t0 = 3;
static int grid[4] = {1, 1, 1, 1}, part[4];

/* As a host declares it that does not include util_quda.h. */
extern QudaVerbosity getVerbosity();

static void begin(int *argc, char ***argv) {
#ifdef CLIENT_MPI
  const char *words = getenv("PLAQ_TEST_GRID");
  MPI_Init(argc, argv);
  if (!words || sscanf(words, "%d,%d,%d,%d", &grid[0], &grid[1], &grid[2], &grid[3]) != 4) exit(2);
#else
  (void)argc, (void)argv;
#endif
  initCommsGridQuda(4, grid, nullptr, nullptr);
}

static void ranks_and_timers() {
  int number = quda::comm_rank() == 0 ? 17 : 0, product = 1;
  quda::Timer<false> timer;
  timer.start();
  CHECK(timer.running);
  quda::comm_broadcast(&number, sizeof number, 0);
  CHECK(number == 17);
  const int last = (int)quda::comm_size() - 1;
  std::vector<double> many(5000, quda::comm_rank() == last ? 2.5 : 0);
  quda::comm_broadcast(many.data(), many.size() * sizeof(double), last);
  CHECK(many.front() == 2.5 && many.back() == 2.5);
  for (int mu = 0; mu < 4; mu++) {
    product *= grid[mu];
    CHECK(quda::commCoords(mu) >= 0 && quda::commCoords(mu) < grid[mu] && quda::commDim(mu) == grid[mu]);
  }
  CHECK((int)quda::comm_size() == product);
  quda::comm_barrier();
  timer.stop();
  CHECK(!timer.running && timer.time >= timer.last_interval && timer.last() > 0 && timer.count == 1);
  timer.reset(nullptr, nullptr, 0);
  CHECK(timer.time == 0);
  pushVerbosity(QUDA_VERBOSE);
  setVerbosity(QUDA_DEBUG_VERBOSE);
  CHECK(getVerbosity() == QUDA_DEBUG_VERBOSE);
  popVerbosity();
  CHECK(getVerbosity() == QUDA_SUMMARIZE);
}

/* The sums over modes of |tau|^2, [t][spin'][spin]. */
using Sums = std::vector<double>;

/* psi of DeGrand and Rossi is sqrt(1/2) times this times psi of Dirac and Pauli. */
static const int turn[4][4] = {{0, 1, 0, -1}, {-1, 0, 1, 0}, {0, 1, 0, 1}, {-1, 0, -1, 0}};

static plaq_context_params of_ranks() {
  plaq_context_params params;
  OK(plaq_context_params_init(&params, sizeof params));
#ifdef CLIENT_MPI
  params.communicator_kind = PLAQ_COMMUNICATOR_WORLD;
#endif
  for (int mu = 0; mu < 4; mu++) params.grid[mu] = grid[mu];
  return params;
}

/* Links in QDP's order, eigenvalues and sums by plaq's own functions. */
static Sums own(const char *file, std::vector<double> &links, std::vector<double> &values) {
  const plaq_context_params where = of_ranks();
  plaq_context context;
  plaq_gauge gauge, none = {};
  plaq_modes found;
  plaq_dirac dirac;
  plaq_solver solver;
  plaq_layout_params layout;
  plaq_modes_params wanted;
  plaq_dirac_params action;
  plaq_solver_params how;
  OK(plaq_layout_params_init(&layout, sizeof layout));
  OK(plaq_modes_params_init(&wanted, sizeof wanted));
  OK(plaq_dirac_params_init(&action, sizeof action));
  OK(plaq_solver_params_init(&how, sizeof how));
  OK(plaq_context_create(&where, &context));
  OK(plaq_gauge_read(context, file, nullptr, &gauge, nullptr));
  layout.order = PLAQ_ORDER_QDP;
  OK(plaq_gauge_save(gauge, &layout, links.data()));
  wanted.count = modes, wanted.tol = 1e-12, wanted.steps = 10, wanted.rho = 0.12;
  OK(plaq_modes_create(gauge, none, &wanted, nullptr, nullptr, &found, nullptr));
  OK(plaq_modes_values(found, values.data(), nullptr, modes * times, nullptr, times));
  action.kappa = 0.12, action.csw = 1.1, how.tol = 1e-12;
  OK(plaq_dirac_create(context, gauge, &action, &dirac));
  OK(plaq_solver_create(dirac, &how, &solver));
  const int64_t count = 16 * modes * modes * times;
  std::vector<complex> tau(count);
  int64_t finished = 0;
  OK(plaq_modes_perambulators(found, solver, &t0, 1, nullptr, nullptr, (double *)tau.data(), count, &finished, nullptr));
  CHECK(finished == 1);
  Sums sums(16 * times);
  for (int t = 0; t < times; t++)
    for (int i = 0; i < modes * modes; i++)
      for (int sink = 0; sink < 4; sink++)
        for (int source = 0; source < 4; source++) {
          complex z = 0;
          for (int a = 0; a < 4; a++)
            for (int c = 0; c < 4; c++)
              z += 0.5 * turn[a][sink] * turn[c][source] * tau[((t * 4 + a) * 4 + c) * modes * modes + i];
          sums[(t * 4 + sink) * 4 + source] += std::norm(z);
        }
  OK(plaq_context_destroy(context));
  return sums;
}

static QudaInvertParam invert_param() {
  QudaInvertParam p = newQudaInvertParam();
  p.dslash_type = QUDA_CLOVER_WILSON_DSLASH, p.inv_type = QUDA_BICGSTAB_INVERTER, p.kappa = 0.12;
  p.clover_csw = 1.1, p.clover_coeff = 0.12 * 1.1, p.compute_clover = 1, p.compute_clover_inverse = 1;
  p.clover_cpu_prec = p.clover_cuda_prec = QUDA_DOUBLE_PRECISION;
  p.clover_cuda_prec_sloppy = QUDA_SINGLE_PRECISION, p.clover_order = QUDA_PACKED_CLOVER_ORDER;
  p.solution_type = QUDA_MAT_SOLUTION, p.solve_type = QUDA_DIRECT_PC_SOLVE, p.matpc_type = QUDA_MATPC_EVEN_EVEN;
  p.dagger = QUDA_DAG_NO, p.mass_normalization = QUDA_MASS_NORMALIZATION, p.tol = 1e-12, p.maxiter = 1000;
  p.cpu_prec = p.cuda_prec = QUDA_DOUBLE_PRECISION, p.cuda_prec_sloppy = QUDA_SINGLE_PRECISION;
  p.dirac_order = QUDA_DIRAC_ORDER, p.gamma_basis = QUDA_DIRAC_PAULI_GAMMA_BASIS, p.reliable_delta = 0.1;
  p.verbosity = QUDA_SILENT;
  return p;
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  ranks_and_timers();
  const char *data = getenv("PLAQ_TEST_DATA");
  const std::string file = std::string(data ? data : "tests/data") + "/quenched-b6.0-4x4x4x8.ildg";
  int sites = 1;
  for (int mu = 0; mu < 4; mu++) sites *= part[mu] = extents[mu] / grid[mu];
  std::vector<double> links(4 * 18 * sites), values(modes * times);
  const Sums expected = own(file.c_str(), links, values);

  initQuda(-1);
  QudaGaugeParam gauge = newQudaGaugeParam();
  for (int mu = 0; mu < 4; mu++) gauge.X[mu] = part[mu];
  gauge.type = QUDA_WILSON_LINKS, gauge.gauge_order = QUDA_QDP_GAUGE_ORDER, gauge.t_boundary = QUDA_ANTI_PERIODIC_T;
  gauge.cpu_prec = gauge.cuda_prec = QUDA_DOUBLE_PRECISION, gauge.reconstruct = QUDA_RECONSTRUCT_NO;
  gauge.cuda_prec_sloppy = QUDA_SINGLE_PRECISION, gauge.reconstruct_sloppy = QUDA_RECONSTRUCT_12;
  gauge.gauge_fix = QUDA_GAUGE_FIXED_NO, gauge.anisotropy = 1;
  /* The host's links have the sign in them. */
  if (quda::commCoords(3) == grid[3] - 1)
    for (int parity = 0; parity < 2; parity++) {
      const int half = sites / 2, slice = half / part[3];
      for (int i = 18 * (parity * half + half - slice); i < 18 * (parity + 1) * half; i++) links[3 * 18 * sites + i] *= -1;
    }
  double *directions[4];
  for (int mu = 0; mu < 4; mu++) directions[mu] = links.data() + (size_t)mu * 18 * sites;
  loadGaugeQuda(directions, &gauge);
  QudaGaugeSmearParam smear = newQudaGaugeSmearParam();
  QudaGaugeObservableParam nothing = newQudaGaugeObservableParam();
  smear.smear_type = QUDA_GAUGE_SMEAR_STOUT, smear.n_steps = 10, smear.rho = 0.12, smear.dir_ignore = 3;
  smear.meas_interval = 20;
  performGaugeSmearQuda(&smear, &nothing);

  /* Modes of every time-slice; values are those of a Laplacian over 6. */
  QudaInvertParam laplace = invert_param();
  laplace.dslash_type = QUDA_LAPLACE_DSLASH, laplace.laplace3D = 3, laplace.kappa = 1 / 6.0;
  laplace.mass_normalization = QUDA_KAPPA_NORMALIZATION;
  QudaEigParam eigen = newQudaEigParam();
  eigen.invert_param = &laplace, eigen.eig_type = QUDA_EIG_TR_LANCZOS_3D, eigen.use_norm_op = QUDA_BOOLEAN_FALSE;
  eigen.spectrum = QUDA_SPECTRUM_SR_EIG, eigen.n_ev = eigen.n_conv = modes, eigen.n_kr = 60, eigen.tol = 1e-12;
  eigen.use_smeared_gauge = QUDA_BOOLEAN_TRUE, eigen.max_restarts = 300, eigen.ortho_dim = 3, eigen.ortho_dim_size_local = part[3];
  std::vector<std::vector<complex>> vectors(modes, std::vector<complex>(3 * sites));
  std::vector<void *> vector_list(modes);
  for (int k = 0; k < modes; k++) vector_list[k] = vectors[k].data();
  std::vector<complex> found(modes * times);
  eigensolveQuda(vector_list.data(), (double _Complex *)found.data(), &eigen);
  const int first = part[3] * quda::commCoords(3);
  for (int t = 0; t < part[3]; t++)
    for (int k = 0; k < modes; k++)
      CHECK(std::abs(6.0 * found[(first + t) * modes + k] - values[(first + t) * modes + k]) < 1e-9);

  /* Columns 4 k + s: spin s of mode k on slice t0. */
  const int columns = 4 * modes, half = sites / 2, slice = half / part[3];
  std::vector<std::vector<complex>> sources(columns, std::vector<complex>(12 * sites)), solutions = sources;
  std::vector<void *> b(columns), x(columns);
  for (int c = 0; c < columns; c++) {
    for (int i = 0; i < sites; i++)
      if (first + i % half / slice == t0)
        for (int colour = 0; colour < 3; colour++) sources[c][12 * i + 3 * (c % 4) + colour] = vectors[c / 4][3 * i + colour];
    b[c] = sources[c].data(), x[c] = solutions[c].data();
  }
  QudaInvertParam invert = invert_param();
  loadCloverQuda(nullptr, nullptr, &invert);
  invert.num_src = columns;
  for (int mu = 0; mu < 4; mu++) invert.split_grid[mu] = 1;
  invertMultiSrcQuda(x.data(), b.data(), &invert);
  invert.num_src = 1;
  std::vector<complex> sinks((size_t)columns * modes * times * 4);
  laphSinkProject((double _Complex *)sinks.data(), x.data(), columns, 5, vector_list.data(), modes, 4, &invert, part);
  Sums sums(16 * times);
  for (size_t i = 0; i < sinks.size(); i++) {
    const size_t spin = i % 4, t = i / 4 % times, column = i / (4 * times * modes);
    sums[(t * 4 + spin) * 4 + column % 4] += std::norm(sinks[i]);
  }
  double largest = 0;
  for (const double sum : expected) largest = std::fmax(largest, sum);
  for (size_t i = 0; i < sums.size(); i++)
    if (!(std::abs(sums[i] - expected[i]) < 1e-9 * largest))
      errorQuda("sum %d is %.15g, expected %.15g", (int)i, sums[i], expected[i]);

  /* One step forward and back, and the memory that is kept. */
  std::vector<complex> ahead(12 * sites), back(12 * sites);
  covDevQuda(ahead.data(), x[0], 1, &invert);
  covDevQuda(back.data(), ahead.data(), 5, &invert);
  for (int i = 0; i < 12 * sites; i++) CHECK(std::abs(back[i] - solutions[0][i]) < 1e-9);
  shiftQuda(back.data(), x[0], 1, 1, &invert);
  flushPoolQuda(QUDA_MEMORY_DEVICE);
  /* Its struct of parameters is an object of C++ that no other library has. */
  OK(plaq_quda_set_error_mode(PLAQ_QUDA_ERRORS_RETURN));
  contractFTQuda(x.data(), x.data(), nullptr, QUDA_CONTRACT_TYPE_DR_FT_T, nullptr, 3, part, nullptr, 1, nullptr, nullptr);
  int32_t status = 0;
  OK(plaq_quda_last_status(&status));
  CHECK(status == PLAQ_UNSUPPORTED);
  freeGaugeSmearedQuda();
  eigensolveQuda(vector_list.data(), (double _Complex *)found.data(), &eigen);
  OK(plaq_quda_last_status(&status));
  CHECK(status == PLAQ_UNSUPPORTED && strstr(plaq_last_error(), "use_smeared_gauge"));
  freeGaugeQuda(), freeCloverQuda(), endQuda();
  printfQuda("agreement\n");
  quda::comm_finalize();
#ifdef CLIENT_MPI
  MPI_Finalize();
#endif
  return 0;
}
