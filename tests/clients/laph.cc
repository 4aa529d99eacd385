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
#include "color_spinor_field.h"
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

/* Declared as in a host that does not include util_quda.h. */
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

typedef std::vector<std::vector<complex>> Matrix;

static Matrix product(const Matrix &a, const Matrix &b) {
  Matrix c(4, std::vector<complex>(4));
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 4; k++) c[i][j] += a[i][k] * b[k][j];
  return c;
}

/* QUDA's sixteen gamma matrices of correlators, in the basis of DeGrand and Rossi. */
static std::vector<Matrix> gammas() {
  const complex i(0, 1), o = 0, e = 1;
  const std::vector<Matrix> g = {{{o, o, o, i}, {o, o, i, o}, {o, -i, o, o}, {-i, o, o, o}},
                                 {{o, o, o, -e}, {o, o, e, o}, {o, e, o, o}, {-e, o, o, o}},
                                 {{o, o, i, o}, {o, o, o, -i}, {-i, o, o, o}, {o, i, o, o}},
                                 {{o, o, e, o}, {o, o, o, e}, {e, o, o, o}, {o, e, o, o}}};
  const Matrix five = product(product(g[0], g[1]), product(g[2], g[3])), one = product(five, five);
  std::vector<Matrix> all = g;
  for (const Matrix &m : g) all.push_back(product(five, m));
  all.push_back(one), all.push_back(five);
  for (int a = 0; a < 4; a++)
    for (int b = a + 1; b < 4; b++) {
      Matrix sigma = product(g[a], g[b]);
      for (auto &row : sigma)
        for (complex &z : row) z *= i;
      all.push_back(sigma);
    }
  return all;
}

static quda::ColorSpinorParam field_param(int spins) {
  quda::ColorSpinorParam param;
  param.nColor = 3, param.nSpin = spins;
  for (int mu = 0; mu < 4; mu++) param.x[mu] = part[mu];
  param.setPrecision(QUDA_DOUBLE_PRECISION);
  return param;
}

static void sum_over_ranks(std::vector<complex> &numbers) {
#ifdef CLIENT_MPI
  MPI_Allreduce(MPI_IN_PLACE, numbers.data(), (int)(2 * numbers.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#else
  (void)numbers;
#endif
}

/* Compares contractFTQuda of twelve columns with twelve others, and of two colour vectors, with sums over sites, on a
 * lattice whose parts have these extents. */
static void contractions(const std::vector<void *> &columns, const std::vector<void *> &vectors, const int *source) {
  const int sites = part[0] * part[1] * part[2] * part[3], half = sites / 2, count = 2;
  const int lattice[4] = {part[0] * grid[0], part[1] * grid[1], part[2] * grid[2], part[3] * grid[3]};
  const int momenta[4 * count] = {0, 0, 0, 0, 1, 0, -1, 2};
  const QudaFFTSymmType kinds[4 * count] = {QUDA_FFT_SYMM_EO,  QUDA_FFT_SYMM_EO, QUDA_FFT_SYMM_EO,  QUDA_FFT_SYMM_EO,
                                            QUDA_FFT_SYMM_ODD, QUDA_FFT_SYMM_EO, QUDA_FFT_SYMM_EVEN, QUDA_FFT_SYMM_ODD};
  const std::vector<Matrix> all = gammas();
  const Matrix five = all[9];
  for (int kind = 0; kind < 3; kind++) {
    const int decay = kind == 2 ? 2 : 3, spins = kind == 0 ? 1 : 4, numbers = spins * spins;
    const int slices = lattice[decay];
    std::vector<complex> expected((size_t)count * slices * numbers);
    for (int site = 0; site < sites; site++) {
      const int parity = site / half, j = site % half;
      int r[4];
      r[1] = j / (part[0] / 2) % part[1], r[2] = j / (part[0] / 2 * part[1]) % part[2];
      r[3] = j / (part[0] / 2 * part[1] * part[2]);
      r[0] = 2 * (j % (part[0] / 2)) + ((r[1] + r[2] + r[3] + parity) & 1);
      for (int mu = 0; mu < 4; mu++) r[mu] += part[mu] * quda::commCoords(mu);
      complex x[4][3][4][3], y[4][3][4][3];
      for (int s = 0; spins == 4 && s < 4; s++)
        for (int c = 0; c < 3; c++)
          for (int k = 0; k < 12; k++) {
            x[k / 3][k % 3][s][c] = ((complex *)columns[3 * s + c])[12 * site + k];
            y[k / 3][k % 3][s][c] = ((complex *)columns[12 + 3 * s + c])[12 * site + k];
          }
      for (int p = 0; p < count; p++) {
        complex phase = 1;
        for (int mu = 0; mu < 4; mu++) {
          const double angle = 2 * M_PI * momenta[4 * p + mu] * (r[mu] - source[mu]) / lattice[mu];
          const QudaFFTSymmType part_of = kind == 0 ? kinds[4 * p + mu] : QUDA_FFT_SYMM_EO;
          phase *= part_of == QUDA_FFT_SYMM_EO ? std::polar(1.0, angle)
              : part_of == QUDA_FFT_SYMM_EVEN  ? complex(std::cos(angle))
                                               : complex(0, std::sin(angle));
        }
        complex *row = &expected[((size_t)p * slices + r[decay]) * numbers];
        for (int k = 0; spins == 1 && k < 3; k++)
          row[0] += phase * std::conj(((complex *)vectors[0])[3 * site + k]) * ((complex *)vectors[1])[3 * site + k];
        for (int n = 0; spins == 4 && n < 16; n++) {
          const Matrix g = product(five, all[n]);
          complex sum = 0;
          for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
              for (int s = 0; s < 4; s++)
                for (int t = 0; t < 4; t++)
                  for (int c = 0; g[a][b] * g[s][t] != complex(0) && c < 9; c++)
                    sum += g[a][b] * y[b][c % 3][s][c / 3] * g[s][t] * std::conj(x[a][c % 3][t][c / 3]);
          row[n] += phase * sum;
        }
      }
    }
    sum_over_ranks(expected);
    quda::ColorSpinorParam param = field_param(spins);
    /* The function adds its result to the array's contents. */
    std::vector<complex> found(expected.size(), 2.0);
    void *result = found.data();
    const QudaContractType what = kind == 0 ? QUDA_CONTRACT_TYPE_STAGGERED_FT_T
        : kind == 1                         ? QUDA_CONTRACT_TYPE_DR_FT_T
                                            : QUDA_CONTRACT_TYPE_DR_FT_Z;
    void **there = const_cast<void **>(spins == 1 ? vectors.data() : columns.data());
    contractFTQuda(there, there + (spins == 1 ? 1 : 12), &result, what, &param, spins == 1 ? 1 : 3, part, source, count, momenta, kinds);
    double largest = 0;
    for (const complex &z : expected) largest = std::fmax(largest, std::abs(z));
    for (size_t i = 0; i < found.size(); i++)
      if (!(std::abs(found[i] - 2.0 - expected[i]) < 1e-11 * (1 + largest)))
        errorQuda("contraction %d, number %d: %.15g %.15g, expected %.15g %.15g", kind, (int)i, found[i].real() - 2,
                  found[i].imag(), expected[i].real(), expected[i].imag());
  }
}

/* The same for random numbers, on a lattice of unequal extents that are not all divisible by four. */
static void contractions_of_unequal_extents(QudaGaugeParam gauge) {
  const int here[4] = {6, 4, 2, 10}, source[4] = {5, 3, 1, 7};
  int sites = 1;
  for (int mu = 0; mu < 4; mu++) sites *= gauge.X[mu] = part[mu] = here[mu];
  std::vector<double> units(18 * sites);
  for (int i = 0; i < 3 * sites; i++) units[18 * (i / 3) + 8 * (i % 3)] = 1;
  double *directions[4] = {units.data(), units.data(), units.data(), units.data()};
  gauge.t_boundary = QUDA_PERIODIC_T;
  loadGaugeQuda(directions, &gauge);
  srand(7 + (unsigned)quda::comm_rank());
  const auto number = [] { return rand() / (RAND_MAX + 1.0) - 0.5; };
  std::vector<std::vector<complex>> fields(26, std::vector<complex>(12 * sites));
  std::vector<void *> columns, vectors;
  for (auto &field : fields) {
    for (complex &z : field) z = complex(number(), number());
    (columns.size() < 24 ? columns : vectors).push_back(field.data());
  }
  contractions(columns, vectors, source);
  freeGaugeQuda();
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

/* Sums over modes of |tau|^2, [t][spin'][spin]. */
using Sums = std::vector<double>;

/* This matrix times sqrt(1/2) takes psi from the basis of Dirac and Pauli to that of DeGrand and Rossi. */
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

/* Links in QDP's order, and eigenvalues and sums, by plaq's own functions. */
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
  /* The host's links contain the antiperiodic sign. */
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

  /* Modes of every time-slice; the values are those of the Laplacian divided by 6. */
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

  /* Column 4 k + s has mode k on slice t0 in spin s. */
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

  /* A covariant shift one step forward and one back, and the memory that is kept for it. */
  std::vector<complex> ahead(12 * sites), back(12 * sites);
  covDevQuda(ahead.data(), x[0], 1, &invert);
  covDevQuda(back.data(), ahead.data(), 5, &invert);
  for (int i = 0; i < 12 * sites; i++) CHECK(std::abs(back[i] - solutions[0][i]) < 1e-9);
  shiftQuda(back.data(), x[0], 1, 1, &invert);
  flushPoolQuda(QUDA_MEMORY_DEVICE);
  const int place[4] = {1, 3, 2, 5};
  contractions(x, vector_list, place);
  /* Objects of QUDA's own class would have another layout in memory. */
  OK(plaq_quda_set_error_mode(PLAQ_QUDA_ERRORS_RETURN));
  int32_t status = 0;
  const int source[4] = {0, 0, 0, 0}, outside[4] = {0, 0, 0, 8}, momentum[4] = {0, 0, 0, 0};
  double room[8 * 32], *result = room;
  int foreign[64] = {17};
  quda::ColorSpinorParam good = field_param(4), wrong = field_param(1);
  struct {
    void *param;
    const int *source;
    int number;
    const char *told;
  } mistakes[] = {{foreign, source, PLAQ_INVALID_ARGUMENT, "color_spinor_field.h"},
                  {nullptr, source, PLAQ_NULL_POINTER, "cs_param_ptr"},
                  {&wrong, source, PLAQ_UNSUPPORTED, "cs_param_ptr.nSpin"},
                  {&good, outside, PLAQ_INVALID_ARGUMENT, "source_position"}};
  for (const auto &m : mistakes) {
    contractFTQuda(x.data(), x.data(), (void **)&result, QUDA_CONTRACT_TYPE_DR_FT_T, m.param, 3, part, m.source, 1, momentum, nullptr);
    OK(plaq_quda_last_status(&status));
    CHECK(status == m.number && strstr(plaq_last_error(), m.told));
  }
  freeGaugeSmearedQuda();
  eigensolveQuda(vector_list.data(), (double _Complex *)found.data(), &eigen);
  OK(plaq_quda_last_status(&status));
  CHECK(status == PLAQ_UNSUPPORTED && strstr(plaq_last_error(), "use_smeared_gauge"));
  OK(plaq_quda_set_error_mode(PLAQ_QUDA_ERRORS_END));
  freeGaugeQuda(), freeCloverQuda(), endQuda();
  initQuda(-1);
  contractions_of_unequal_extents(gauge);
  endQuda();
  printfQuda("agreement\n");
  quda::comm_finalize();
#ifdef CLIENT_MPI
  MPI_Finalize();
#endif
  return 0;
}
