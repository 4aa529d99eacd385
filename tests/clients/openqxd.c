/* Calls the library as openQxD does: with its order of sites, its links on odd sites, its gammas and clover terms, its functions
 * and its input file. Operators and solutions are compared with those of an operator written here. With a folder of
 * arrays of openQCD in PLAQ_OPENQXD_DATA it compares with these. */
#include "openqxd.h"

#include <quda_openqcd_interface.h>

#include "told.h"

static const double MASS = 0.3, CSW = 1.3;
static int brief, rank;

/* ---- the program's own functions ---- */

static double *host_links, *host_clover;
static blocks *term;
static int revision, links_asked, clover_asked, group = OPENQCD_GAUGE_SU3, boundary_type = 3;
static double mass, csw, angles[2][3], boundary_terms[2], theta[3];

static bc_parms_t bc_parms(void) {
  bc_parms_t p;
  memset(&p, 0, sizeof p);
  p.type = boundary_type;
  memcpy(p.phi3, angles, sizeof angles);
  return p;
}

static flds_parms_t flds_parms(void) {
  flds_parms_t p;
  p.gauge = group, p.nfl = 1;
  return p;
}

static dirac_parms_t dirac_parms(void) {
  dirac_parms_t p;
  memset(&p, 0, sizeof p);
  p.m0 = mass, p.su3csw = csw;
  memcpy(p.cF, boundary_terms, sizeof boundary_terms), memcpy(p.theta, theta, sizeof theta);
  return p;
}

static void *h_gauge(void) { return links_asked++, host_links; }
static void *h_sw(void) { return clover_asked++, host_clover; }
static void get_gfld_flags(int *ud, int *ad) { *ud = revision, *ad = 0; }

static int reordered;

/* The arrays that openQCD_qudaGaugeSave returns. */
static void reorder(void *given, void *wanted) {
  const double *from = given;
  int x[4], i, k, mu;
  for (x[1] = 0; x[1] < extent(1); x[1]++) for (x[2] = 0; x[2] < extent(2); x[2]++)
    for (x[3] = 0; x[3] < extent(3); x[3]++) for (x[0] = 0; x[0] < extent(0); x[0]++)
      for (mu = 1; mu < 5; mu++) {
        const matrix u = links[4 * global_site(x, -1, 0) + axis[mu % 4]];
        for (k = 0; k < 9; k++, from += 2) CHECK(cabs(from[0] + I * from[1] - u.e[k / 3][k % 3]) < 1e-14);
      }
  i = (int)(from - (const double *)given);
  CHECK(i == 4 * LINK * own && wanted == host_links);
  reordered++;
}

static double kappa(void) { return 1 / (2 * mass + 8); }

/* Whether quarks vanish on the slice of a site. */
static int vanishes(int site) {
  int x[4];
  coordinates(site, x);
  return boundary_type != 3 && (x[3] == 0 || (boundary_type == 0 && x[3] == global[3] - 1));
}

static void mask(spinor *v) {
  int site;
  for (site = 0; site < volume; site++)
    if (vanishes(site)) memset(&v[site], 0, sizeof *v);
}

/* (D_w + i mu gamma5) in, where numbers of `in` on slices where quarks vanish do not count. */
static void operate(spinor *out, const spinor *all, double mu) {
  int site, s;
  spinor *in = room(volume * sizeof *in);
  memcpy(in, all, volume * sizeof *in);
  mask(in);
  apply(out, term, kappa(), in);
  for (site = 0; site < volume; site++)
    for (s = 0; s < 12; s++) {
      /* The upper spins of openQxD are the lower ones here. */
      const number twist_ = I * mu * (s < 6 ? -1 : 1) * in[site].d[s / 3][s % 3];
      out[site].d[s / 3][s % 3] = out[site].d[s / 3][s % 3] / (2 * kappa()) + twist_;
    }
  mask(out);
  free(in);
}

static double norm2(const spinor *v) {
  double sum = 0;
  int i;
  for (i = 0; i < 12 * volume; i++) sum += pow(cabs(*at(v, i)), 2);
  return sum;
}

static double off(const spinor *a, const spinor *b) {
  double sum = 0;
  int i;
  for (i = 0; i < 12 * volume; i++) sum += pow(cabs(*at(a, i) - *at(b, i)), 2);
  return sqrt(sum / norm2(b));
}

static spinor *in, *out, *expected;
static double *h_in, *h_out;

static void same_operator(double mu) {
  void *d_in, *d_out;
  operate(expected, in, mu);
  set_spinor(h_in, in);
  memset(h_out, 0x40, own * sizeof(spinor));
  openQCD_qudaDw(mu, h_in, h_out), fine();
  get_spinor(out, h_out);
  CLOSE(off(out, expected), 0, 1e-13);
  d_in = openQCD_qudaH2D(h_in), fine();
  d_out = openQCD_qudaH2D(h_in), fine();
  openQCD_qudaDw_NoLoads(mu, d_in, d_out), fine();
  CLOSE(openQCD_qudaNorm_NoLoads(d_in) / norm2(in), 1, 1e-13);
  fine();
  openQCD_qudaD2H(d_out, h_out), fine();
  get_spinor(out, h_out);
  CLOSE(off(out, expected), 0, 1e-13);
  openQCD_qudaSpinorFree(&d_in), fine();
  CHECK(d_in == NULL);
  openQCD_qudaSpinorFree(&d_out), fine();
}

/* ---- sessions ---- */

static openQCD_QudaLayout_t layout;
static openQCD_QudaInitArgs_t args;
static int *data;

static void set_layout(void) {
  int mu, c[4], i = 5;
  data = room((5 + volume / own) * sizeof *data);
  for (mu = 0; mu < 4; mu++) {
    layout.L[mu] = local[mu], layout.nproc[mu] = data[1 + mu] = ranks[mu];
    layout.N[mu] = global[mu], layout.nproc_blk[mu] = 1;
  }
  for (c[0] = 0; c[0] < ranks[0]; c[0]++) for (c[1] = 0; c[1] < ranks[1]; c[1]++)
    for (c[2] = 0; c[2] < ranks[2]; c[2]++) for (c[3] = 0; c[3] < ranks[3]; c[3]++)
      data[i++] = ((c[3] * ranks[0] + c[0]) * ranks[1] + c[1]) * ranks[2] + c[2];
  layout.device = -1, layout.data = data;
  layout.bc_parms = bc_parms, layout.flds_parms = flds_parms, layout.dirac_parms = dirac_parms;
  layout.h_gauge = h_gauge, layout.h_sw = h_sw, layout.get_gfld_flags = get_gfld_flags;
  args.verbosity = QUDA_SILENT, args.volume = own, args.bndry = bndry, args.reorder_gauge_quda_to_openqcd = reorder;
}

static void meet(void) {
#ifdef CLIENT_MPI
  MPI_Barrier(MPI_COMM_WORLD);
#endif
}

/* Rank 0 writes an input file. */
static char *input(const char *text) {
  static char name[] = "openqxd.in";
  meet();
  if (rank == 0) {
    FILE *file = fopen(name, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
  }
  meet();
  return name;
}

static void refused_sessions(void) {
  static char nowhere[] = "no/such/file";
  openQCD_QudaLayout_t wrong = layout;
  openQCD_QudaInitArgs_t few = args;
  openQCD_qudaPlaquette(), refused(PLAQ_NOT_INITIALISED, "", "call openQCD_qudaInit first");
  openQCD_qudaSolverGetHandle(0), refused(PLAQ_NOT_INITIALISED, "", "call openQCD_qudaInit first");
  wrong.cstar = 2;
  openQCD_qudaInit(args, wrong, NULL), refused(PLAQ_UNSUPPORTED, "", "layout.cstar");
  wrong = layout, wrong.N[2]++;
  openQCD_qudaInit(args, wrong, NULL), refused(PLAQ_BAD_EXTENTS, "", "layout.N, L in z");
  wrong = layout, data[2] += 7;
  openQCD_qudaInit(args, wrong, NULL), refused(PLAQ_INVALID_ARGUMENT, "", "layout.data[1] to [4]");
  data[2] -= 7, few.volume--;
  openQCD_qudaInit(few, layout, NULL), refused(PLAQ_INVALID_ARGUMENT, "", "initargs.volume");
  few = args, few.bndry += 4;
  openQCD_qudaInit(few, layout, NULL), refused(PLAQ_INVALID_ARGUMENT, "", "initargs.bndry");
  openQCD_qudaInit(args, layout, nowhere), refused(PLAQ_INVALID_ARGUMENT, "", "no/such/file");
}

/* A session that ends at once writes a line about arrays if the verbosity of `args` asks for it, which counts before
 * that of the input file. */
static void log_lines(void) {
  static const struct {
    QudaVerbosity level;
    const char *text;
    int lines;
  } cases[] = {
      {QUDA_SILENT, "", 0},
      {QUDA_SUMMARIZE, "", 1},
      {QUDA_SUMMARIZE, "[QUDA]\nverbosity QUDA_SILENT\n", 0},
      {QUDA_SILENT, "[QUDA]\nverbosity QUDA_SUMMARIZE\n", 1},
  };
  openQCD_QudaInitArgs_t loud = args;
  size_t i;
  char line[200];
  for (i = 0; i < sizeof cases / sizeof *cases; i++) {
    FILE *file = tmpfile();
    int lines = 0;
    CHECK(file != NULL);
    loud.verbosity = cases[i].level, loud.logfile = file;
    openQCD_qudaInit(loud, layout, input(cases[i].text)), fine();
    openQCD_qudaFinalize(), fine();
    rewind(file);
    while (fgets(line, sizeof line, file)) lines += strncmp(line, "QUDA: arrays of the host: ", 26) == 0;
    CHECK(lines == (rank == 0) * cases[i].lines);
    fclose(file);
  }
  loud.verbosity = QUDA_INVALID_VERBOSITY;
  openQCD_qudaInit(loud, layout, NULL), refused(PLAQ_INVALID_ARGUMENT, "", "initargs.verbosity");
}

/* Input files that are wrong as a whole, and files with wrong sections. */
static void refused_inputs(void) {
  static const struct {
    const char *text, *words;
  } files[] = {
      {"[Solver 0\n", "line 1"},
      {"[Solver 0] x\n", "line 1"},
      {"[A]\n[A]\n", "[A] again"},
      {"\n[A]\nkey 1\nkey 2\n", "line 4"},
      {"[QUDA]\nverbosity LOUD\n", "[QUDA] verbosity"},
  };
  static const struct {
    const char *text, *words;
    int eigen;
  } sections[] = {
      {"", "[Solver 0]", 0},
      {"[Solver 1]\n", "found       [Solver 1]", 0},
      {"[Solver 0]\ntol 1\n", "expected    a key solver", 0},
      {"[Solver 0]\nsolver CGNE\n", "found       CGNE", 0},
      {"[Solver 0]\nsolver QUDA\ninv_type QUDA_GCX\n", "QUDA_GCR_INVERTER", 0},
      {"[Solver 0]\nsolver QUDA\ninv_type QUDA_GCX\n", "argument    [Solver 0] inv_type", 0},
      {"[Solver 0]\nsolver QUDA\ntol\n", "found       nothing", 0},
      {"[Solver 0]\nsolver QUDA\ntol 1e-9x\n", "found       1e-9x", 0},
      {"[Solver 0]\nsolver QUDA\nmaxiter 1.5\n", "a whole number", 0},
      {"[Solver 0]\nsolver QUDA\nmaxitr 15\n", "such as maxiter", 0},
      {"[Solver 0]\nsolver QUDA\npreconditioner 1\n", "as programs set this member", 0},
      {"[Solver 0]\nsolver QUDA\ndirac_order QUDA_QDP_DIRAC_ORDER\n", "QUDA_OPENQCD_DIRAC_ORDER", 0},
      {"[Solver 0]\nsolver QUDA\ninv_type_precondition QUDA_MG_INVERTER\n", "[Solver 0 Multigrid]", 0},
      {"[Solver 0]\nsolver QUDA\ninv_type_precondition QUDA_MG_INVERTER\n[Solver 0 Multigrid]\nn_level 9\n",
       "expected    2 to 5", 0},
      {"[Solver 0]\nsolver QUDA\ninv_type_precondition QUDA_MG_INVERTER\n[Solver 0 Multigrid]\nn_level 2\n",
       "[Solver 0 Multigrid Level 0]", 0},
      {"[Solver 0]\nsolver QUDA\ninv_type_precondition QUDA_MG_INVERTER\n[Solver 0 Multigrid]\nn_level 2\n"
       "[Solver 0 Multigrid Level 0]\nrun_verify yes\n",
       "one value for all levels", 0},
      {"[Solver 0]\nsolver QUDA\n[Eigensolver 0]\nuse_pc perhaps\n", "QUDA_BOOLEAN_TRUE, yes, no", 1},
      {"[Solver 0]\nsolver QUDA\n", "[Eigensolver 0]", 1},
  };
  unsigned i;
  for (i = 0; i < sizeof files / sizeof *files; i++) {
    openQCD_qudaInit(args, layout, input(files[i].text));
    CHECK(last_status() == PLAQ_INVALID_ARGUMENT || last_status() == PLAQ_BAD_PARAMETER);
    refused(last_status(), "", files[i].words);
  }
  for (i = 0; i < sizeof sections / sizeof *sections; i++) {
    openQCD_qudaInit(args, layout, input(sections[i].text)), fine();
    CHECK((sections[i].eigen ? openQCD_qudaEigensolverGetHandle(0, 0) : openQCD_qudaSolverGetHandle(0)) == NULL);
    CHECK(last_status() == PLAQ_INVALID_ARGUMENT || last_status() == PLAQ_BAD_PARAMETER);
    refused(last_status(), "", sections[i].words);
    openQCD_qudaFinalize(), fine();
  }
}

/* ---- what is compared ---- */

static void places(void) {
  int i, mu, x[4] = {0, 0, 0, 0};
  for (i = 0; i < own; i++) {
    CHECK(openQCD_qudaIndexIpt(site_of[i]) == i);
    for (mu = 0; mu < 4; mu++) {
      int y[4];
      memcpy(y, site_of[i], sizeof y);
      y[mu] = (y[mu] + 1) % extent(mu);
      CHECK(openQCD_qudaIndexIup(site_of[i], mu) == (beyond[i][mu] < 0 ? number_of[local_lex(y)] : beyond[i][mu]));
    }
  }
  x[2] = extent(2);
  openQCD_qudaIndexIpt(x), refused(PLAQ_INVALID_ARGUMENT, "", "x in y");
  x[2] = 0;
  openQCD_qudaIndexIup(x, 4), refused(PLAQ_INVALID_ARGUMENT, "", "mu");
}

static void vectors(void) {
  void *handle;
  int dir, i, s, c;
  set_spinor(h_in, in);
  memset(h_out, 0x40, own * sizeof(spinor));
  openQCD_back_and_forth(h_in, h_out), fine();
  CHECK(memcmp(h_in, h_out, own * sizeof(spinor)) == 0);
  CLOSE(openQCD_qudaNorm(h_in) / norm2(in), 1, 1e-13);
  fine();
  for (dir = 0; dir < 6; dir++) {
    openQCD_qudaGamma(dir, h_in, h_out), fine();
    for (i = 0; i < own; i++)
      for (s = 0; s < 4; s++)
        for (c = 0; c < 3; c++) {
          const double *from = h_in + SPINOR * i + 6 * (dir < 4 ? their_column[dir][s] : s) + 2 * c;
          const double *to = h_out + SPINOR * i + 6 * s + 2 * c;
          const number factor = dir < 4 ? their_value(dir, s) : s < 2 ? 1 : -1;
          CHECK(to[0] + I * to[1] == factor * (from[0] + I * from[1]));
        }
  }
  openQCD_qudaGamma(6, h_in, h_out), refused(PLAQ_INVALID_ARGUMENT, "", "dir");
  handle = openQCD_qudaH2D(h_in), fine();
  memset(h_out, 0, own * sizeof(spinor));
  openQCD_qudaD2H(handle, h_out), fine();
  CHECK(memcmp(h_in, h_out, own * sizeof(spinor)) == 0);
  openQCD_qudaSpinorFree(&handle), fine();
  openQCD_qudaSpinorFree(&handle), fine();
  handle = (void *)(uintptr_t)12345;
  openQCD_qudaNorm_NoLoads(handle), refused(PLAQ_INVALID_HANDLE, "", "openQCD_qudaH2D");
  openQCD_qudaH2D(NULL), refused(PLAQ_NULL_POINTER, "", "h_field");
}

static void fill_term(double by) { clover_term(term, kappa(), by); }

static void operators(void) {
  openQCD_QudaDiracParam_t p;
  double space, time;
  int asked;
  mass = MASS, csw = 0, fill_term(0);
  openQCD_qudaDw(0, h_in, h_out), refused(PLAQ_INVALID_ARGUMENT, "", "links");
  revision = 1;
  same_operator(0), same_operator(0.35);
  csw = CSW, fill_term(CSW);
  same_operator(0), same_operator(-0.2);
  asked = links_asked;
  CHECK(asked == 1 && clover_asked == 0);
  mass = 0.1, fill_term(CSW);
  same_operator(0);
  boundary_type = 4;
  openQCD_qudaDw(0, h_in, h_out), refused(PLAQ_INVALID_ARGUMENT, "", "bc_parms().type");
  boundary_type = 3;
  plaquettes(&space, &time);
  CLOSE(openQCD_qudaPlaquette(), 3 * (space + time) / 2, 1e-13);
  fine();
  CHECK(links_asked == asked);
  memset(&p, 0, sizeof p);
  p.kappa = kappa(), p.su3csw = CSW, p.mu = 0.4;
  operate(expected, in, p.mu);
  openQCD_qudaDw_deprecated(h_in, h_out, p), fine();
  get_spinor(out, h_out);
  CLOSE(off(out, expected), 0, 1e-13);
  p.qhat = 1;
  openQCD_qudaDw_deprecated(h_in, h_out, p), refused(PLAQ_UNSUPPORTED, "", "p.u1csw, p.qhat");
  openQCD_qudaGaugeSave(host_links, QUDA_DOUBLE_PRECISION, QUDA_RECONSTRUCT_NO, QUDA_ANTI_PERIODIC_T), fine();
  CHECK(reordered == 1);
  openQCD_qudaGaugeFree(), fine();
  revision = 0;
  openQCD_qudaDw(0, h_in, h_out), refused(PLAQ_INVALID_ARGUMENT, "", "links");
  openQCD_qudaGaugeLoad(host_links, QUDA_DOUBLE_PRECISION, QUDA_RECONSTRUCT_NO, QUDA_ANTI_PERIODIC_T), fine();
  set_clover(host_clover, term, kappa());
  openQCD_qudaCloverLoad(host_clover, kappa(), CSW), fine();
  same_operator(0);
  openQCD_qudaCloverFree(), fine();
  openQCD_qudaDw(0, h_in, h_out), refused(PLAQ_INVALID_ARGUMENT, "", "clover term");
  openQCD_qudaCloverLoad(host_clover, kappa(), 0), refused(PLAQ_INVALID_ARGUMENT, "", "csw");
}

/* Links with phases of U(1), and a clover term of the program's own, which may be any. */
static void with_charge(void) {
  int i, asked = clover_asked;
  matrix zero = {{{0}}};
  group = OPENQCD_GAUGE_SU3xU1;
  fill_term(0.7);
  set_clover(host_clover, term, kappa());
  for (i = 0; i < 4 * volume; i++) links[i] = add(zero, cexp(I * noise(i, 77)), links[i]);
  set_links(host_links);
  revision = 2;
  same_operator(0), same_operator(0.15);
  CHECK(links_asked == 2 && clover_asked == asked + 1);
}

static const char *SOLVERS =
    "[QUDA]\nverbosity QUDA_SUMMARIZE # of all\n"
    "[Solver 0]\nsolver QUDA\nmaxiter 2000\ngcrNkrylov 10\ntol 1e-11\ninv_type QUDA_GCR_INVERTER\n"
    "solution_type QUDA_MAT_SOLUTION\nsolve_type QUDA_DIRECT_SOLVE\nreliable_delta 1e-5\n"
    "[Solver 1]\nsolver QUDA\nmaxiter 200\ngcrNkrylov 10\ntol 1e-10\ninv_type QUDA_GCR_INVERTER\n"
    "inv_type_precondition QUDA_MG_INVERTER\n"
    "[Solver 1 Multigrid]\nn_level 2\ngenerate_all_levels yes\n"
    "[Solver 1 Multigrid Level 0]\ngeo_block_size 4 2 3 2\nn_vec 6\nnu_pre 0\nnu_post 4\n"
    "cycle_type QUDA_MG_CYCLE_RECURSIVE\nsmoother QUDA_CA_GCR_INVERTER\n"
    "[Solver 1 Multigrid Level 1]\ncoarse_solver_maxiter 50\n"
    "[Solver 31]\nsolver QUDA\nmaxiter 2\ntol 1e-11\ninv_type QUDA_BICGSTAB_INVERTER\nnmx 7\n"
    "[Eigensolver 0]\neig_type QUDA_EIG_TR_LANCZOS\nuse_norm_op true\nn_conv 2\nn_ev 2\nn_kr 24\ntol 1e-9\n"
    "max_restarts 100\nspectrum QUDA_SPECTRUM_SR_EIG\nuse_poly_acc off\nverbosity QUDA_SILENT\n";

static void solved(int id, double mu) {
  int status = -7;
  double residual;
  set_spinor(h_in, in);
  memset(h_out, 0x40, own * sizeof(spinor));
  residual = openQCD_qudaInvert(id, mu, h_in, h_out, &status), fine();
  get_spinor(out, h_out);
  operate(expected, out, mu);
  mask(in);
  CHECK(status > 0 && residual > 0);
  CLOSE(off(expected, in), 0, id == 1 ? 2e-10 : 2e-11);
  CLOSE(off(expected, in) / residual, 1, 0.2);
}

static void solvers(void) {
  QudaInvertParam *param;
  double residual;
  int status = 0, hash, id;
  CHECK(openQCD_qudaSolverGetHash(0) == 0);
  fine();
  openQCD_qudaSolverPrintSetup(0), fine();
  param = openQCD_qudaSolverGetHandle(0), fine();
  CHECK(param && param->maxiter == 2000 && param->gcrNkrylov == 10 && param->inv_type == QUDA_GCR_INVERTER);
  CLOSE(param->kappa, kappa(), 1e-15);
  CHECK(openQCD_qudaSolverGetHandle(0) == (void *)param);
  hash = openQCD_qudaSolverGetHash(0), fine();
  CHECK(hash != 0);
  solved(0, 0), solved(0, 0.3);
  CHECK(openQCD_qudaSolverGetHash(0) == hash);
  if (!brief) {
    solved(1, 0), solved(1, 0.25);
    CHECK(openQCD_qudaSolverGetHash(1) != hash);
    /* With other links the multigrid is set up anew. */
    random_links(0);
    twist((double[4]){0, 0, 0, 1});
    set_links(host_links);
    group = OPENQCD_GAUGE_SU3, revision = 3;
    fill_term(CSW);
    solved(1, 0);
  }
  residual = openQCD_qudaInvert(31, 0, h_in, h_out, &status), fine();
  CHECK(status == -1 && residual > 1e-11);
  CHECK(openQCD_qudaSolverGetHandle(-1) != NULL);
  fine();
  openQCD_qudaInvert(-1, 0, h_in, h_out, &status), refused(PLAQ_INVALID_ARGUMENT, "", "0 to 31");
  openQCD_qudaSolverGetHandle(32), refused(PLAQ_INVALID_ARGUMENT, "", "-1 (the Dirac operator) or 0 to 31");
  openQCD_qudaSolverGetHandle(2), refused(PLAQ_INVALID_ARGUMENT, "", "[Solver 2]");
  openQCD_qudaSolverPrintSetup(0), fine();
  openQCD_qudaSolverPrintSetup(1), fine();
  for (id = -1; id < 32; id++) openQCD_qudaSolverDestroy(id), fine();
  CHECK(openQCD_qudaSolverGetHash(0) == 0);
}

static void eigenvectors(void) {
  double _Complex values[2];
  double *vectors[2];
  spinor *image = room(volume * sizeof *image);
  QudaEigParam *param = openQCD_qudaEigensolverGetHandle(0, -1);
  int k, i;
  fine();
  CHECK(param && param->n_conv == 2 && param->use_norm_op == QUDA_BOOLEAN_TRUE && param->use_poly_acc == QUDA_BOOLEAN_FALSE);
  openQCD_qudaEigensolverPrintSetup(0, -1), fine();
  for (k = 0; k < 2; k++) vectors[k] = room(own * sizeof(spinor));
  openQCD_qudaEigensolve(0, -1, (void **)vectors, values), fine();
  CHECK(creal(values[0]) > 0 && creal(values[0]) < creal(values[1]));
  for (k = 0; k < 2; k++) {
    get_spinor(in, vectors[k]);
    CLOSE(norm2(in), 1, 1e-9);
    /* M^dagger = gamma5 M gamma5, and the operator has no factor of 1 / (2 kappa). */
    operate(out, in, 0);
    for (i = 0; i < 6 * volume; i++) out[i / 6].d[2 + i % 6 / 3][i % 3] *= -1;
    operate(image, out, 0);
    for (i = 0; i < 6 * volume; i++) image[i / 6].d[2 + i % 6 / 3][i % 3] *= -1;
    for (i = 0; i < 12 * volume; i++) {
      number *z = at(image, i);
      *z = 4 * kappa() * kappa() * *z - values[k] * *at(in, i);
    }
    CLOSE(sqrt(norm2(image)), 0, 1e-6);
    free(vectors[k]);
  }
  openQCD_qudaEigensolverDestroy(0), fine();
  openQCD_qudaEigensolverGetHandle(32, -1), refused(PLAQ_INVALID_ARGUMENT, "", "id");
  openQCD_qudaEigensolverGetHandle(0, -2), refused(PLAQ_INVALID_ARGUMENT, "", "solver_id");
  free(image);
}

/* ---- boundaries in time ---- */

static const double PHI[2][3] = {{-0.7, 0.15, 0.55}, {-2.1, 0.8, 1.3}}, CF[2] = {0.95, 1.04}, THETA[3] = {0.5, -0.4, 0.9};

static matrix standing(const double *phi, int length) {
  matrix m = {{{0}}};
  int i;
  for (i = 0; i < 3; i++) m.e[i][i] = cexp(I * phi[i] / length);
  return m;
}

/* Links of a lattice with fixed spatial links, including those of the slice behind the last one, without phases. */
static matrix *beyond_time(const matrix *bare) {
  const int slice = volume / global[3];
  matrix *all = room(4 * (size_t)(volume + slice) * sizeof *all);
  int i;
  memcpy(all, bare, 4 * (size_t)volume * sizeof *all);
  for (i = 0; boundary_type != 0 && i < 4 * slice; i++)
    if (i % 4 < 3) all[4 * volume + i] = standing(PHI[1], global[i % 4]);
  return all;
}

/* Clover term and the average plaquette: F = 0 and A = 1 / (4 + m0) on slices where quarks vanish, c_F - 1 and c_F' - 1 beside
 * them; spatial plaquettes of boundary slices count half. */
static double bounded_term(const matrix *bare) {
  const int slice = volume / global[3], inside_ = volume, last = boundary_type == 0 ? global[3] - 1 : global[3];
  matrix *all = beyond_time(bare), *kept = links;
  blocks *more = room((volume + slice) * sizeof *more);
  double sum = 0;
  int site, mu, nu, s;
  links = all, global[3]++, volume += slice;
  clover_term(more, kappa(), csw);
  for (site = 0; site < volume; site++) {
    const int t = site / slice;
    for (nu = 1; nu < 4; nu++)
      for (mu = 0; mu < nu; mu++) {
        matrix a = mul(links[4 * site + mu], links[4 * step(site, mu, 1) + nu]);
        matrix b = mul(links[4 * site + nu], links[4 * step(site, nu, 1) + mu]);
        const double weight = nu == 3 ? t < last : t > last ? 0 : t == 0 || t == last ? 0.5 : 1;
        sum += weight * creal(trace(mul(a, dagger(b))));
      }
  }
  links = kept, global[3]--, volume = inside_;
  for (site = 0; site < volume; site++) {
    const int t = site / slice;
    term[site] = more[site];
    if (vanishes(site)) memset(&term[site], 0, sizeof *term);
    for (s = 0; s < 12; s++) {
      number *diagonal = &term[site].b[s / 6][s % 6][s % 6];
      if (vanishes(site)) *diagonal = 2 * kappa();
      else *diagonal += 2 * kappa() * ((t == 1 ? CF[0] - 1 : 0) + (t == last - 1 ? CF[1] - 1 : 0));
    }
  }
  free(all), free(more);
  return sum / (6.0 * last * slice);
}

/* Makes links of a type, with phases in space (`bare`: without), and compares results for them. */
static void set_bounded(matrix *bare, int type) {
  matrix zero = {{{0}}};
  int i, x[4];
  boundary_type = type, group = OPENQCD_GAUGE_SU3;
  random_links(0);
  for (i = 0; i < 4 * volume; i++) {
    coordinates(i / 4, x);
    if (type == 0 && i % 4 == 3 && x[3] == global[3] - 1) links[i] = zero;
    if (type == 1 && i % 4 < 3 && x[3] == 0) links[i] = standing(PHI[0], global[i % 4]);
    bare[i] = links[i];
    if (i % 4 < 3) links[i] = add(zero, cexp(I * THETA[i % 4] / global[i % 4]), links[i]);
  }
  set_links(host_links);
}

static void refused_boundaries(int type) {
  const int asked = links_asked;
  int k = type == 1 ? 0 : 1;
  matrix u = links[3];
  boundary_type = 4 + type;
  openQCD_qudaDw(0, h_in, h_out), refused(PLAQ_INVALID_ARGUMENT, "", "bc_parms().type");
  boundary_type = type;
  if (type != 0) {
    angles[k][2] += 0.1;
    openQCD_qudaDw(0, h_in, h_out), refused(PLAQ_BAD_PARAMETER, "", k ? "bc_parms().phi3[1]" : "bc_parms().phi3[0]");
    angles[k][2] -= 0.1;
  }
  CHECK(links_asked == asked);
  if (type == 1) {
    angles[0][1] += 0.1, angles[0][2] -= 0.1;
    openQCD_qudaDw(0, h_in, h_out), refused(PLAQ_BAD_PARAMETER, "", "bc_parms().phi3[0]");
    angles[0][1] -= 0.1, angles[0][2] += 0.1;
  }
  boundary_type = type == 0 ? 3 : 0;
  openQCD_qudaDw(0, h_in, h_out), refused(PLAQ_BAD_PARAMETER, "", "direction t");
  boundary_type = type;
  memset(&links[3], 0, sizeof *links), set_links(host_links), revision++;
  openQCD_qudaDw(0, h_in, h_out), refused(PLAQ_BAD_PARAMETER, "", "gauge: link at [0, 0, 0, 0], direction t");
  links[3] = u, set_links(host_links), revision++;
}

static void boundaries(int type) {
  matrix *bare = room(4 * (size_t)volume * sizeof *bare), zero = {{{0}}};
  double average;
  int i;
  memcpy(angles, PHI, sizeof angles), memcpy(theta, THETA, sizeof theta), memcpy(boundary_terms, CF, sizeof CF);
  set_bounded(bare, type), revision++;
  for (i = 0; i < 12 * volume; i++) *at(in, i) = noise(i, 903) + I * noise(i, 904);
  mass = MASS, csw = 0, bounded_term(bare);
  same_operator(0), same_operator(0.35);
  csw = CSW, average = bounded_term(bare);
  same_operator(0), same_operator(-0.2);
  CLOSE(openQCD_qudaPlaquette(), average, 1e-13);
  fine();
  /* Other boundary coefficients change the clover term. */
  boundary_terms[0] = boundary_terms[1] = 1;
  openQCD_qudaDw(0, h_in, h_out), fine();
  get_spinor(out, h_out);
  operate(expected, in, 0);
  CHECK(off(out, expected) > 1e-4);
  memcpy(boundary_terms, CF, sizeof CF);
  same_operator(0);
  refused_boundaries(type);
  same_operator(0.1);
  openQCD_qudaGaugeSave(host_links, QUDA_DOUBLE_PRECISION, QUDA_RECONSTRUCT_NO, QUDA_PERIODIC_T), fine();
  CHECK(reordered == 2 + type);
  solved(0, 0), solved(0, 0.3);
  if (!brief) solved(1, 0.25);
  /* The program's own clover term, on links with phases of U(1). */
  group = OPENQCD_GAUGE_SU3xU1;
  set_clover(host_clover, term, kappa());
  for (i = 0; i < 4 * volume; i++) links[i] = add(zero, cexp(I * noise(i, 78)), links[i]);
  set_links(host_links), revision++;
  same_operator(0.15);
  if (type != 0) openQCD_qudaPlaquette(), refused(PLAQ_UNSUPPORTED, "", "flds_parms().gauge");
  for (i = 0; i < 2; i++) openQCD_qudaSolverDestroy(i), fine();
  boundary_type = 3, group = OPENQCD_GAUGE_SU3;
  memset(theta, 0, sizeof theta), memset(boundary_terms, 0, sizeof boundary_terms);
  free(bare);
}

/* ---- arrays of openQCD: 8^4, m0 -0.05, csw 1.9 ---- */

static void numbers_in(double *to, const char *folder, const char *name, size_t count) {
  char path[1024];
  FILE *file;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  file = fopen(path, "rb");
  CHECK(file && fread(to, sizeof *to, count, file) == count);
  fclose(file);
}

static double difference(const double *a, const double *b, int count) {
  double sum = 0, all = 0;
  int i;
  for (i = 0; i < count; i++) sum += (a[i] - b[i]) * (a[i] - b[i]), all += b[i] * b[i];
  return sqrt(sum / all);
}

static void of_openqcd(const char *folder) {
  double *theirs, deviation;
  openQCD_qudaInit(args, layout, input(SOLVERS)), fine();
  theirs = room(own * sizeof(spinor));
  numbers_in(host_links, folder, "links.bin", 4 * LINK * own), numbers_in(host_clover, folder, "sw.bin", CLOVER * own);
  numbers_in(h_in, folder, "source.bin", SPINOR * own), numbers_in(theirs, folder, "dw.bin", SPINOR * own);
  mass = -0.05, csw = 1.9;
  CLOSE(openQCD_qudaNorm(h_in), 4.912202444336384e+04, 1e-8);
  fine();
  for (group = OPENQCD_GAUGE_SU3; group <= OPENQCD_GAUGE_SU3xU1; group += 2) {
    revision++;
    openQCD_qudaDw(0, h_in, h_out), fine();
    deviation = difference(h_out, theirs, SPINOR * own);
    printf("D_w of openQCD, %s clover term: %.2g\n", group == OPENQCD_GAUGE_SU3 ? "plaq's" : "its", deviation);
    CLOSE(deviation, 0, 1e-14);
  }
  openQCD_qudaFinalize(), fine();
  free(theirs);
}

int main(int argc, char **argv) {
  const char *folder = getenv("PLAQ_OPENQXD_DATA");
  int extents[4] = {4, 6, 4, 4}, mu, i;
  (void)argc, (void)argv, (void)AXIS_T, (void)milc_index, (void)is_odd, (void)scatter_sites;
#ifdef CLIENT_MPI
  rank = join_grid(&argc, &argv, (int[4]){2, 1, 0, 3});
#endif
  brief = getenv("PLAQ_TEST_BRIEF") != NULL;
  for (mu = 0; mu < 4; mu++) extents[mu] = (folder ? 8 : brief ? (mu % 2 ? 4 : 2) : extents[mu]) * ranks[mu];
  set_lattice(extents);
  number_sites();
  bases_belong_together();
  hear_failures();
  set_layout();
  host_links = room((4 * own + 7 * bndry / 4) * LINK * sizeof(double)), host_clover = room(own * CLOVER * sizeof(double));
  h_in = room(own * sizeof(spinor)), h_out = room(own * sizeof(spinor));
  term = room(volume * sizeof *term);
  in = room(volume * sizeof *in), out = room(volume * sizeof *out), expected = room(volume * sizeof *out);
  random_links(0);
  twist((double[4]){0, 0, 0, 1});
  for (i = 0; i < 12 * volume; i++) *at(in, i) = noise(i, 901) + I * noise(i, 902);
  if (folder) {
    of_openqcd(folder);
  } else {
    set_links(host_links), set_spinor(h_in, in);
    refused_sessions();
    refused_inputs();
    log_lines();
    failures = 0;
    openQCD_qudaInit(args, layout, input(SOLVERS)), fine();
    openQCD_qudaInit(args, layout, NULL), fine();
    CHECK(failures == 0);
    places(), vectors(), operators(), with_charge(), solvers(), eigenvectors();
    for (i = 0; i < 3; i++) boundaries(i);
    openQCD_qudaFinalize(), fine();
    openQCD_qudaNorm(h_in), refused(PLAQ_NOT_INITIALISED, "", "openQCD_qudaInit");
  }
  free(number_of), free(site_of), free(beyond), free(data), free(host_links), free(host_clover), free(h_in), free(h_out);
  free(term), free(in), free(out), free(expected), free(links);
  if (rank == 0) remove("openqxd.in");
#ifdef CLIENT_MPI
  MPI_Finalize();
#endif
  return 0;
}
