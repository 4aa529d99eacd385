/* A host of quda.h that measures the charge of every site, smears links and lets quark fields flow: against the reference. */
#include "lattice.h"
#include "told.h"
#include "quda.h"

static const matrix zero, one = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

static matrix times(number factor, matrix a) { return add(zero, factor, a); }

static matrix without_trace(matrix a) { return add(a, -trace(a) / 3, one); }

static double size(matrix a) { return sqrt(creal(trace(mul(dagger(a), a)))); }

static QudaGaugeParam gauge_param(QudaPrecision device) {
  QudaGaugeParam p = newQudaGaugeParam();
  memcpy(p.X, global, sizeof p.X);
  p.type = QUDA_WILSON_LINKS, p.gauge_order = QUDA_MILC_GAUGE_ORDER, p.t_boundary = QUDA_PERIODIC_T;
  p.cpu_prec = QUDA_DOUBLE_PRECISION, p.cuda_prec = device, p.reconstruct = QUDA_RECONSTRUCT_NO;
  p.gauge_fix = QUDA_GAUGE_FIXED_NO, p.anisotropy = 1;
  return p;
}

/* Copies numbers into QUDA's order of sites, and back. */
static void set_links(matrix *to, const matrix *from) {
  int site;
  for (site = 0; site < volume; site++) memcpy(to + 4 * milc_index(site), from + 4 * site, 4 * sizeof *to);
}
static void get_links(matrix *to, const matrix *from) {
  int site;
  for (site = 0; site < volume; site++) memcpy(to + 4 * site, from + 4 * milc_index(site), 4 * sizeof *to);
}

/* ---- observables ---- */

static void observables(matrix *array) {
  const QudaPrecision precisions[2] = {QUDA_DOUBLE_PRECISION, QUDA_SINGLE_PRECISION};
  double *density = room((volume + 1) * sizeof *density), *expected = room(volume * sizeof *expected);
  matrix *f = room(volume * sizeof *f);
  double charge = 0, energy = 0;
  int site, mu, nu, n;
  reference_charge(global, (const double *)links, density);
  for (site = 0; site < volume; site++) charge += expected[milc_index(site)] = density[site];
  for (nu = 1; nu < 4; nu++)
    for (mu = 0; mu < nu; mu++) {
      reference_field_strength(global, (const double *)links, mu, nu, (double *)f);
      for (site = 0; site < volume; site++) energy += pow(size(without_trace(f[site])), 2) / volume;
    }
  set_links(array, links);
  for (n = 0; n < 2; n++) {
    const double error = n ? 1e-6 : 1e-14;
    QudaGaugeParam gauge = gauge_param(precisions[n]);
    QudaGaugeObservableParam p = newQudaGaugeObservableParam();
    loadGaugeQuda(array, &gauge), fine();
    p.compute_qcharge_density = QUDA_BOOLEAN_TRUE, p.qcharge_density = density;
    density[volume] = 7;
    gaugeObservablesQuda(&p), fine();
    /* The densities have the precision of the links on the device, and the array must not be written behind its last
     * site. */
    for (site = 0; site < volume; site++) CLOSE(n ? ((float *)density)[site] : density[site], expected[site], error);
    CHECK(density[volume] == 7);
    CLOSE(p.qcharge, charge, error * volume);
    CLOSE(p.energy[0], energy, 100 * error);
    p.qcharge_density = NULL;
    gaugeObservablesQuda(&p);
    CHECK(strstr(told_of, "gaugeObservablesQuda") && strstr(told, "param.qcharge_density"));
  }
  free(density), free(expected), free(f);
}

/* ---- smearing ---- */

static void smearing(matrix *array) {
  /* Parameters of each rule, and the direction that is left out, 4 where none is. */
  static const double ape[3] = {0.6}, stout[3] = {0.07, -0.25}, hyp[3] = {0.75, 0.6, 0.3};
  const struct {
    QudaGaugeSmearType type;
    int rule;
    const double *alpha;
    int dir_ignore, without;
  } cases[] = {
      {QUDA_GAUGE_SMEAR_APE, REFERENCE_APE, ape, -1, 3},
      {QUDA_GAUGE_SMEAR_APE, REFERENCE_APE, ape, 1, 1},
      {QUDA_GAUGE_SMEAR_APE, REFERENCE_APE, ape, 4, 4},
      {QUDA_GAUGE_SMEAR_STOUT, REFERENCE_STOUT, stout, -1, 3},
      {QUDA_GAUGE_SMEAR_STOUT, REFERENCE_STOUT, stout, 0, 0},
      {QUDA_GAUGE_SMEAR_STOUT, REFERENCE_STOUT, stout, 4, 4},
      {QUDA_GAUGE_SMEAR_OVRIMP_STOUT, REFERENCE_OVERIMPROVED, stout, -1, 4},
      {QUDA_GAUGE_SMEAR_OVRIMP_STOUT, REFERENCE_OVERIMPROVED, stout, 3, 3},
      {QUDA_GAUGE_SMEAR_OVRIMP_STOUT, REFERENCE_OVERIMPROVED, stout, 2, 2},
      {QUDA_GAUGE_SMEAR_HYP, REFERENCE_HYP, hyp, -1, 4},
      {QUDA_GAUGE_SMEAR_HYP, REFERENCE_HYP, hyp, 4, 4},
      {QUDA_GAUGE_SMEAR_HYP, REFERENCE_HYP, hyp, 3, 3},
      {QUDA_GAUGE_SMEAR_HYP, REFERENCE_HYP, hyp, 0, 0},
  };
  matrix *expected = room(4 * volume * sizeof *expected), *found = room(4 * volume * sizeof *found);
  QudaGaugeParam gauge = gauge_param(QUDA_DOUBLE_PRECISION);
  unsigned n;
  int i;
  for (n = 0; n < sizeof cases / sizeof *cases; n++) {
    QudaGaugeObservableParam observe[2] = {newQudaGaugeObservableParam(), newQudaGaugeObservableParam()};
    QudaGaugeSmearParam p = newQudaGaugeSmearParam();
    double worst = 0;
    p.smear_type = cases[n].type, p.n_steps = p.meas_interval = 1, p.dir_ignore = cases[n].dir_ignore;
    p.alpha = ape[0], p.rho = stout[0], p.epsilon = stout[1], p.alpha1 = hyp[0], p.alpha2 = hyp[1], p.alpha3 = hyp[2];
    reference_smear(global, (const double *)links, cases[n].rule, cases[n].alpha, 15 & ~(1 << cases[n].without),
                    (double *)expected);
    set_links(array, links);
    gauge.type = QUDA_WILSON_LINKS;
    loadGaugeQuda(array, &gauge), fine();
    performGaugeSmearQuda(&p, observe), fine();
    gauge.type = QUDA_SMEARED_LINKS;
    saveGaugeQuda(array, &gauge), fine();
    get_links(found, array);
    for (i = 0; i < 4 * volume; i++) worst = fmax(worst, size(add(found[i], -1, expected[i])));
    if (!(worst < 1e-13)) fprintf(stderr, "type %d, dir_ignore %d: off by %g\n", p.smear_type, p.dir_ignore, worst);
    CHECK(worst < 1e-13);
    p.dir_ignore = 5;
    performGaugeSmearQuda(&p, observe);
    CHECK(strstr(told_of, "performGaugeSmearQuda") && strstr(told, "smear_param.dir_ignore"));
    told[0] = 0;
    freeGaugeQuda(), fine();
  }
  free(expected), free(found);
}

/* ---- flow of quark fields ---- */

static void fill(spinor *v, int seed) {
  int i;
  for (i = 0; i < 12 * volume; i++) *at(v, i) = sin(1 + i * (seed + 1.3)) + I * cos(2 + i * (seed + 0.7));
}

static number product(const spinor *a, const spinor *b) {
  number sum = 0;
  int i;
  for (i = 0; i < 12 * volume; i++) sum += conj(*at(a, i)) * *at(b, i);
  return sum;
}

static void flow_of_quarks(matrix *array) {
  enum { N = 2 };
  matrix *flowed = room(4 * volume * sizeof *flowed);
  spinor *in[N], *out[N], *back[N], *shifted = room(volume * sizeof *shifted);
  QudaGaugeParam gauge = gauge_param(QUDA_DOUBLE_PRECISION);
  QudaInvertParam inv = newQudaInvertParam();
  QudaGaugeSmearParam p = newQudaGaugeSmearParam();
  int n, dir, i;
  double worst = 0, largest = 0;
  for (n = 0; n < N; n++) {
    in[n] = room(volume * sizeof **in), out[n] = room(volume * sizeof **in), back[n] = room(volume * sizeof **in);
    fill(in[n], n);
  }
  set_links(array, links);
  gauge.t_boundary = QUDA_ANTI_PERIODIC_T;
  for (i = 0; i < volume; i++) /* the host's links carry the sign */
    if (i / (volume / global[3]) == global[3] - 1) array[4 * milc_index(i) + 3] = times(-1, links[4 * i + 3]);
  loadGaugeQuda(array, &gauge), fine();
  inv.dslash_type = QUDA_WILSON_DSLASH, inv.cpu_prec = inv.cuda_prec = QUDA_DOUBLE_PRECISION;
  inv.dirac_order = QUDA_DIRAC_ORDER, inv.gamma_basis = QUDA_DEGRAND_ROSSI_GAMMA_BASIS;
  p.smear_type = QUDA_GAUGE_SMEAR_WILSON_FLOW, p.n_steps = 1, p.epsilon = 1e-6;
  /* A short flow agrees with one step of the Laplacian. */
  performGFlowQuda((void **)out, (void **)in, &inv, &p, NULL, N), fine();
  freeGaugeSmearedQuda(), fine();
  for (n = 0; n < N; n++) {
    for (i = 0; i < 12 * volume; i++) *at(back[n], i) = -8 * *at(in[n], i);
    for (dir = 0; dir < 8; dir++) {
      covDevQuda(shifted, in[n], dir, &inv), fine();
      for (i = 0; i < 12 * volume; i++) *at(back[n], i) += *at(shifted, i);
    }
    for (i = 0; i < 12 * volume; i++) {
      const number slope = (*at(out[n], i) - *at(in[n], i)) / p.epsilon;
      worst = fmax(worst, cabs(slope - *at(back[n], i))), largest = fmax(largest, cabs(*at(back[n], i)));
    }
  }
  CHECK(largest > 1 && worst < 1e-4 * largest);
  /* The adjoint flow has two names; links flow along with the quark fields. */
  p.n_steps = 5, p.epsilon = 0.02, p.adj_n_save = 1;
  performGFlowQuda((void **)out, (void **)in, &inv, &p, NULL, N), fine();
  gauge.type = QUDA_SMEARED_LINKS;
  saveGaugeQuda(array, &gauge), fine();
  get_links(flowed, array);
  performWFlowQuda(&p, NULL), fine();
  saveGaugeQuda(array, &gauge), fine();
  for (i = 0; i < 4 * volume; i++)
    CHECK(size(add(flowed[i], -1, array[4 * milc_index(i / 4) + i % 4])) < 1e-13);
  for (n = 0; n < 2; n++) {
    void **to = (void **)back, *from[N] = {in[1], in[0]};
    const double scale = sqrt(creal(product(in[0], in[0])) * creal(product(in[1], in[1])));
    if (n) performAdjGFlowHier(to, from, &inv, &p, N), fine();
    else performAdjGFlowSafe(to, from, &inv, &p, N), fine();
    CHECK(cabs(product(in[1], out[0]) - product(back[0], in[0])) < 1e-13 * scale);
    CHECK(cabs(product(in[0], out[0]) - product(back[1], in[0])) < 1e-13 * scale);
    CHECK(cabs(product(in[1], out[0]) - product(in[1], in[0])) > 1e-3 * scale);
  }
  performGFlowQuda((void **)out, (void **)in, &inv, &p, NULL, 0);
  CHECK(strstr(told_of, "performGFlowQuda") && strstr(told, "nSpinors"));
  p.rk_order = 4;
  performAdjGFlowSafe((void **)out, (void **)in, &inv, &p, 1);
  CHECK(strstr(told_of, "performAdjGFlowSafe") && strstr(told, "smear_param.rk_order"));
  told[0] = 0;
  freeGaugeQuda(), fine();
  for (n = 0; n < N; n++) free(in[n]), free(out[n]), free(back[n]);
  free(flowed), free(shifted);
}

int main(void) {
  const int extents[4] = {4, 2, 2, 6};
  matrix *array;
  hear_failures();
  set_lattice(extents);
  random_links(0);
  array = room(4 * volume * sizeof *array);
  initQuda(-1), fine();
  observables(array);
  smearing(array);
  flow_of_quarks(array);
  endQuda(), fine();
  free(array);
  return 0;
}
