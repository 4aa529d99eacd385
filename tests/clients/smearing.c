/* A host of quda.h that measures the charge of every site, smears links and lets quark fields flow: each against loops over sites. */
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

/* F = (Q - Q^dagger) / 8 of the four plaquettes round a site, by paths. */
static matrix field_strength(int site, int mu, int nu) {
  const int leaves[4][4] = {{mu, nu, 7 - mu, 7 - nu}, {nu, 7 - mu, 7 - nu, mu}, {7 - mu, 7 - nu, mu, nu}, {7 - nu, mu, nu, 7 - mu}};
  matrix q = zero;
  int k, end;
  for (k = 0; k < 4; k++) q = add(q, 1, along(site, leaves[k], 4, &end));
  return times(0.125, add(q, -1, dagger(q)));
}

static double charge_at(int site) {
  const int pairs[3][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}};
  double q = 0;
  int k;
  for (k = 0; k < 3; k++) {
    const int *p = pairs[k];
    const double term = creal(trace(mul(field_strength(site, p[0], p[1]), field_strength(site, p[2], p[3]))));
    q += (k == 1 ? -1 : 1) * term / (-4 * acos(-1) * acos(-1));
  }
  return q;
}

static void observables(matrix *array) {
  const QudaPrecision precisions[2] = {QUDA_DOUBLE_PRECISION, QUDA_SINGLE_PRECISION};
  double *density = room((volume + 1) * sizeof *density), *expected = room(volume * sizeof *expected);
  double charge = 0, energy = 0;
  int site, mu, nu, n;
  for (site = 0; site < volume; site++) {
    charge += expected[milc_index(site)] = charge_at(site);
    for (nu = 1; nu < 4; nu++)
      for (mu = 0; mu < nu; mu++) {
        const matrix f = without_trace(field_strength(site, mu, nu));
        energy -= creal(trace(mul(f, f))) / volume;
      }
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
  free(density), free(expected);
}

/* ---- smearing ---- */

static int ignored;
static int inside(int mu) { return mu != ignored; }

/* The sum of both staples of a link in a plane, with separate links for sides and tops: matrices of direction d at 4
 * site + d. */
static matrix staples(const matrix *side, const matrix *top, int site, int mu, int nu) {
  const int up = step(site, nu, 1), down = step(site, nu, -1), ahead = step(site, mu, 1), corner = step(down, mu, 1);
  const matrix over = mul(mul(side[4 * site + nu], top[4 * up + mu]), dagger(side[4 * ahead + nu]));
  return add(over, 1, mul(mul(dagger(side[4 * down + nu]), top[4 * down + mu]), side[4 * corner + nu]));
}

/* The six paths of five links that close a rectangle with a link. */
static matrix rectangles(int site, int mu, int nu) {
  matrix sum = zero;
  int way, end;
  for (way = 0; way < 2; way++) {
    const int out = way ? nu : 7 - nu, home = 7 - out, back = 7 - mu;
    const int paths[3][5] = {{out, out, mu, home, home}, {out, mu, mu, home, back}, {back, out, mu, mu, home}};
    int k;
    for (k = 0; k < 3; k++) {
      sum = add(sum, 1, along(site, paths[k], 5, &end));
      CHECK(end == step(site, mu, 1));
    }
  }
  return sum;
}

static number determinant(matrix a) {
  number d = 0;
  int i;
  for (i = 0; i < 3; i++) d += a.e[0][i] * (a.e[1][(i + 1) % 3] * a.e[2][(i + 2) % 3] - a.e[1][(i + 2) % 3] * a.e[2][(i + 1) % 3]);
  return d;
}

static matrix inverse(matrix w) {
  matrix x = one;
  int i, j, n;
  for (i = 0; i < 3; i++) {
    const number pivot = w.e[i][i];
    for (j = 0; j < 3; j++) w.e[i][j] /= pivot, x.e[i][j] /= pivot;
    for (n = 0; n < 3; n++)
      if (n != i) {
        const number c = w.e[n][i];
        for (j = 0; j < 3; j++) w.e[n][j] -= c * w.e[i][j], x.e[n][j] -= c * x.e[i][j];
      }
  }
  return x;
}

/* The unitary factor X of V = X h, h hermitian and positive, without the phase of its determinant. */
static matrix polar(matrix v) {
  matrix x = v, h;
  int k;
  for (k = 0; k < 30; k++) x = times(0.5, add(x, 1, dagger(inverse(x))));
  h = mul(dagger(x), v);
  CHECK(size(add(mul(dagger(x), x), -1, one)) < 1e-13 && size(add(h, -1, dagger(h))) < 1e-13 && creal(trace(h)) > 0);
  return times(cexp(-I * carg(determinant(x)) / 3), x);
}

static matrix average(matrix u, matrix sum, double alpha, int staples_of) {
  return polar(add(times(1 - alpha, u), alpha / staples_of, sum));
}

static void expect_ape(matrix *to, double alpha) {
  int i, nu, planes = 0;
  for (nu = 0; nu < 4; nu++) planes += inside(nu);
  for (i = 0; i < 4 * volume; i++) {
    matrix sum = zero;
    for (nu = 0; nu < 4; nu++)
      if (nu != i % 4 && inside(nu)) sum = add(sum, 1, staples(links, links, i / 4, i % 4, nu));
    to[i] = inside(i % 4) ? average(links[i], sum, alpha, 2 * (planes - 1)) : links[i];
  }
}

static void expect_stout(matrix *to, double rho, double epsilon) {
  int i, nu, n;
  for (i = 0; i < 4 * volume; i++) {
    matrix c = zero, q, term = one, all = one;
    for (nu = 0; nu < 4; nu++)
      if (nu != i % 4 && inside(nu)) {
        c = add(c, rho * (5 - 2 * epsilon) / 3, staples(links, links, i / 4, i % 4, nu));
        c = add(c, -rho * (1 - epsilon) / 12, rectangles(i / 4, i % 4, nu));
      }
    q = mul(c, dagger(links[i]));
    q = without_trace(times(0.5, add(q, -1, dagger(q))));
    for (n = 1; n < 40; n++) all = add(all, 1, term = times(1.0 / n, mul(term, q)));
    to[i] = inside(i % 4) ? mul(all, links[i]) : links[i];
  }
}

/* Links of direction mu that were averaged with staples in direction eta alone are decorated[eta][4 site + mu]. */
static void expect_hyp(matrix *to, const double alpha[3]) {
  matrix *decorated[4], *second[4];
  int i, nu, rho;
  for (nu = 0; nu < 4; nu++) {
    decorated[nu] = room(4 * volume * sizeof(matrix)), second[nu] = room(4 * volume * sizeof(matrix));
    for (i = 0; i < 4 * volume; i++)
      if (i % 4 != nu) decorated[nu][i] = average(links[i], staples(links, links, i / 4, i % 4, nu), alpha[2], 2);
  }
  /* Averages with staples in all directions but nu, of links that were averaged in the fourth direction only. */
  for (nu = 0; nu < 4; nu++)
    for (i = 0; i < 4 * volume; i++) {
      matrix sum = zero;
      if (i % 4 == nu) continue;
      for (rho = 0; rho < 4; rho++)
        if (rho != i % 4 && rho != nu) {
          const matrix *all = decorated[6 - i % 4 - nu - rho];
          sum = add(sum, 1, staples(all, all, i / 4, i % 4, rho));
        }
      second[nu][i] = average(links[i], sum, alpha[1], 4);
    }
  for (i = 0; i < 4 * volume; i++) {
    matrix sum = zero;
    for (nu = 0; nu < 4; nu++)
      if (nu != i % 4) sum = add(sum, 1, staples(second[i % 4], second[nu], i / 4, i % 4, nu));
    if (ignored == 4) to[i] = average(links[i], sum, alpha[0], 6);
    else to[i] = inside(i % 4) ? second[ignored][i] : links[i];
  }
  for (nu = 0; nu < 4; nu++) free(decorated[nu]), free(second[nu]);
}

static void smearing(matrix *array) {
  const struct {
    QudaGaugeSmearType type;
    int dir_ignore, without;
  } cases[] = {
      {QUDA_GAUGE_SMEAR_APE, -1, 3},         {QUDA_GAUGE_SMEAR_APE, 1, 1},          {QUDA_GAUGE_SMEAR_APE, 4, 4},
      {QUDA_GAUGE_SMEAR_STOUT, -1, 3},       {QUDA_GAUGE_SMEAR_STOUT, 0, 0},        {QUDA_GAUGE_SMEAR_STOUT, 4, 4},
      {QUDA_GAUGE_SMEAR_OVRIMP_STOUT, -1, 4}, {QUDA_GAUGE_SMEAR_OVRIMP_STOUT, 3, 3}, {QUDA_GAUGE_SMEAR_OVRIMP_STOUT, 2, 2},
      {QUDA_GAUGE_SMEAR_HYP, -1, 4},         {QUDA_GAUGE_SMEAR_HYP, 4, 4},          {QUDA_GAUGE_SMEAR_HYP, 3, 3},
      {QUDA_GAUGE_SMEAR_HYP, 0, 0},
  };
  const double alpha[3] = {0.75, 0.6, 0.3};
  matrix *expected = room(4 * volume * sizeof *expected), *found = room(4 * volume * sizeof *found);
  QudaGaugeParam gauge = gauge_param(QUDA_DOUBLE_PRECISION);
  unsigned n;
  int i;
  for (n = 0; n < sizeof cases / sizeof *cases; n++) {
    QudaGaugeObservableParam observe[2] = {newQudaGaugeObservableParam(), newQudaGaugeObservableParam()};
    QudaGaugeSmearParam p = newQudaGaugeSmearParam();
    double worst = 0;
    p.smear_type = cases[n].type, p.n_steps = p.meas_interval = 1, p.dir_ignore = cases[n].dir_ignore;
    p.alpha = 0.6, p.rho = 0.07, p.epsilon = -0.25, p.alpha1 = alpha[0], p.alpha2 = alpha[1], p.alpha3 = alpha[2];
    ignored = cases[n].without;
    switch (p.smear_type) {
      case QUDA_GAUGE_SMEAR_APE: expect_ape(expected, p.alpha); break;
      case QUDA_GAUGE_SMEAR_HYP: expect_hyp(expected, alpha); break;
      default: expect_stout(expected, p.rho, p.smear_type == QUDA_GAUGE_SMEAR_STOUT ? 1 : p.epsilon);
    }
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
