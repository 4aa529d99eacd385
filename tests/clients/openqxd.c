/* Calls the library as openQxD does: with its order of sites, its links on odd sites, its gammas and clover terms, its functions
 * and its input file. Operators and solutions are compared with those of an operator written here. With a folder of
 * arrays of openQCD in PLAQ_OPENQXD_DATA it compares with these. */
#include "lattice.h"

#include <quda_openqcd_interface.h>

#include "told.h"

enum { AXIS_T = 0, SPINOR = 24, LINK = 18, CLOVER = 72 };

static const double MASS = 0.3, CSW = 1.3;
static const int axis[4] = {3, 0, 1, 2};
static int brief, rank, bndry;

/* ---- openQxD's order ---- */

/* Indices of local sites, and the coordinates t, x, y, z of each index. */
static int *number_of, (*site_of)[4];
/* Numbers of the sites beyond the upper faces, in openQxD's count; -1 inside. */
static int (*beyond)[4];

static int extent(int mu) { return local[axis[mu]]; }

static int local_lex(const int *x) { return ((x[0] * extent(1) + x[1]) * extent(2) + x[2]) * extent(3) + x[3]; }

/* Goes through blocks, and through the sites of each, and gives numbers to even and odd ones. */
static void number_sites(void) {
  int c[4], n[4], b[4], y[4], x[4], mu, next[2], start[2][4], total = 0;
  number_of = room(own * sizeof *number_of), site_of = room(own * sizeof *site_of), beyond = room(own * sizeof *beyond);
  for (mu = 0; mu < 4; mu++) {
    const int l = extent(mu);
    c[mu] = mu == 0 ? l : l % 4 == 0 ? 4 : l % 3 == 0 ? 3 : l % 2 == 0 ? 2 : 1;
    n[mu] = l / c[mu];
  }
  next[0] = 0, next[1] = own / 2;
  for (b[0] = 0; b[0] < n[0]; b[0]++) for (b[1] = 0; b[1] < n[1]; b[1]++)
    for (b[2] = 0; b[2] < n[2]; b[2]++) for (b[3] = 0; b[3] < n[3]; b[3]++)
      for (y[0] = 0; y[0] < c[0]; y[0]++) for (y[1] = 0; y[1] < c[1]; y[1]++)
        for (y[2] = 0; y[2] < c[2]; y[2]++) for (y[3] = 0; y[3] < c[3]; y[3]++) {
          int i, parity = 0;
          for (mu = 0; mu < 4; mu++) x[mu] = b[mu] * c[mu] + y[mu], parity ^= x[mu] & 1;
          i = next[parity]++;
          number_of[local_lex(x)] = i;
          for (mu = 0; mu < 4; mu++) site_of[i][mu] = x[mu];
        }
  for (mu = 0; mu < 4; mu++) {
    const int half = ranks[axis[mu]] > 1 ? own / extent(mu) / 2 : 0;
    start[0][mu] = total + half, total += 2 * half;
  }
  bndry = 2 * total;
  for (mu = 0; mu < 4; mu++) {
    int i, count[2] = {0, 0};
    start[1][mu] = start[0][mu] + bndry / 2;
    for (i = 0; i < own; i++) {
      const int outside = i < own / 2;
      const int leaves = ranks[axis[mu]] > 1 && site_of[i][mu] == extent(mu) - 1;
      beyond[i][mu] = leaves ? own + start[outside][mu] + count[outside]++ : -1;
    }
  }
}

/* The site of the lattice at local coordinates. */
static int global_site(const int *x, int mu, int by) {
  int y[4], k;
  for (k = 0; k < 4; k++) y[axis[k]] = place[axis[k]] * local[axis[k]] + x[k];
  return mu < 0 ? lex(y) : step(lex(y), axis[mu], by);
}

static void put_link(double *to, int at, int site, int mu) {
  int k;
  for (k = 0; k < 9; k++) {
    to[LINK * (size_t)at + 2 * k] = creal(links[4 * site + axis[mu]].e[k / 3][k % 3]);
    to[LINK * (size_t)at + 2 * k + 1] = cimag(links[4 * site + axis[mu]].e[k / 3][k % 3]);
  }
}

/* Eight links on each odd site, then those that leave this rank from even sites; what comes behind is not to be read. */
static void set_links(double *to) {
  int i, mu, before = 0;
  for (i = 0; i < LINK * 4 * own + LINK * 7 * bndry / 4; i++) to[i] = NAN;
  for (mu = 0; mu < 4; mu++) {
    int count = 0;
    for (i = own / 2; i < own; i++) {
      put_link(to, 8 * (i - own / 2) + 2 * mu, global_site(site_of[i], -1, 0), mu);
      put_link(to, 8 * (i - own / 2) + 2 * mu + 1, global_site(site_of[i], mu, -1), mu);
    }
    for (i = 0; i < own / 2; i++)
      if (beyond[i][mu] >= 0) put_link(to, 4 * own + before + count++, global_site(site_of[i], -1, 0), mu);
    before += count;
  }
  CHECK(before == bndry / 4);
}

/* ---- openQxD's gammas ---- */

/* gamma_t, gamma_x, gamma_y, gamma_z: column and value of the entry in a row; gamma5 = diag(1, 1, -1, -1). */
static const int their_column[4][4] = {{2, 3, 0, 1}, {3, 2, 1, 0}, {3, 2, 1, 0}, {2, 3, 0, 1}};
static number their_value(int mu, int row) {
  const number values[4][4] = {{-1, -1, -1, -1}, {-I, -I, I, I}, {-1, 1, 1, -1}, {-I, I, I, -I}};
  return values[mu][row];
}

/* Spin s in the basis of lattice.h is so many times one of openQxD's. */
static const int their_spin[4] = {3, 2, 1, 0}, their_sign[4] = {-1, 1, 1, -1};

static void bases_belong_together(void) {
  int mu, s;
  for (mu = 0; mu < 4; mu++)
    for (s = 0; s < 4; s++) {
      const int theirs = their_spin[s], to = their_column[mu][theirs], ours = gamma_column[axis[mu]][s];
      CHECK(their_spin[ours] == to);
      CHECK(gamma_value(axis[mu], s) == their_sign[s] * their_value(mu, theirs) * their_sign[ours]);
    }
}

/* ---- arrays ---- */

static void set_spinor(double *to, const spinor *from) {
  int i, s, c;
  for (i = 0; i < own; i++)
    for (s = 0; s < 4; s++)
      for (c = 0; c < 3; c++) {
        const number z = their_sign[s] * from[global_site(site_of[i], -1, 0)].d[s][c];
        const int at = SPINOR * i + 6 * their_spin[s] + 2 * c;
        to[at] = creal(z), to[at + 1] = cimag(z);
      }
}

static void get_spinor(spinor *to, const double *from) {
  int i, s, c;
  memset(to, 0, volume * sizeof *to);
  for (i = 0; i < own; i++)
    for (s = 0; s < 4; s++)
      for (c = 0; c < 3; c++) {
        const int at = SPINOR * i + 6 * their_spin[s] + 2 * c;
        to[global_site(site_of[i], -1, 0)].d[s][c] = their_sign[s] * (from[at] + I * from[at + 1]);
      }
  gather((double *)to, (size_t)volume * SPINOR);
}

/* The blocks of upper and lower spins over 2 kappa: of each the diagonal, then what is above it row by row. */
static void set_clover(double *to, const blocks *a, double kappa) {
  int site, n, i, j;
  for (site = 0; site < own; site++)
    for (n = 0; n < 2; n++) {
      const blocks *here = &a[global_site(site_of[site], -1, 0)];
      number m[6][6];
      for (i = 0; i < 6; i++)
        for (j = 0; j < 6; j++) {
          const int s = 2 * (1 - n) + i / 3, t = 2 * (1 - n) + j / 3;
          const int row = 3 * (their_spin[s] - 2 * n) + i % 3, column = 3 * (their_spin[t] - 2 * n) + j % 3;
          m[row][column] = their_sign[s] * their_sign[t] * here->b[1 - n][i][j] / (2 * kappa);
        }
      for (i = 0; i < 6; i++) *to++ = creal(m[i][i]);
      for (i = 0; i < 6; i++)
        for (j = i + 1; j < 6; j++) *to++ = creal(m[i][j]), *to++ = cimag(m[i][j]);
    }
}

/* ---- the program's own functions ---- */

static double *host_links, *host_clover;
static blocks *term;
static int revision, links_asked, clover_asked, group = OPENQCD_GAUGE_SU3, boundary_type = 3;
static double mass, csw;

static bc_parms_t bc_parms(void) {
  bc_parms_t p;
  memset(&p, 0, sizeof p);
  p.type = boundary_type;
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
  return p;
}

static void *h_gauge(void) { return links_asked++, host_links; }
static void *h_sw(void) { return clover_asked++, host_clover; }
static void get_gfld_flags(int *ud, int *ad) { *ud = revision, *ad = 0; }

static int reordered;

/* What openQCD_qudaGaugeSave gives. */
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

/* (D_w + i mu gamma5) in. */
static void operate(spinor *out, const spinor *in, double mu) {
  int site, s;
  apply(out, term, kappa(), in);
  for (site = 0; site < volume; site++)
    for (s = 0; s < 12; s++) {
      /* openQxD's upper spins are the lower ones here. */
      const number twist_ = I * mu * (s < 6 ? -1 : 1) * in[site].d[s / 3][s % 3];
      out[site].d[s / 3][s % 3] = out[site].d[s / 3][s % 3] / (2 * kappa()) + twist_;
    }
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

/* A session that ends at once writes a line about arrays, if verbosity of `args` or, before it, of the file asks for it. */
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

/* Files that are wrong as a whole, and sections that are. */
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
  boundary_type = 0;
  openQCD_qudaDw(0, h_in, h_out), refused(PLAQ_UNSUPPORTED, "", "bc_parms().type");
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

/* Links with phases of U(1), and the term that the program has itself: any will do. */
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
    /* Other links: the multigrid is made anew. */
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
    /* M^dagger = gamma5 M gamma5, and the operator has no factor 1 / (2 kappa). */
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
  for (mu = 0; mu < 4; mu++) extents[mu] = (folder ? 8 : brief ? (mu == 1 ? 4 : 2) : extents[mu]) * ranks[mu];
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
