/* Propagators of Chroma, input by input: links of its start WEAK_FIELD, made again from its random numbers, point sources,
 * calls and values of its solver objects, and correlators compared with those of Chroma's own solvers. */
#include "chroma.h"

#include "qdp.h"

enum { TIMES = 8, MESONS = 3 };

/* Even-odd operators: with A on the odd sites; with 1 there; with 1 there for sources times A^-1; and Wilson's. */
typedef enum { ASYMMETRIC, SYMMETRIC, MULTIGRID, WILSON } operator_kind;

typedef struct {
  const char *name;
  /* The first of the four numbers of Chroma's seed; the others are 11, 11, 0. */
  int seed;
  operator_kind kind;
  double mass, csw, boundary, rho;
  QudaInverterType solver;
  /* Number of sources in a call. */
  int columns;
  /* Chroma's values: the mean plaquette; the sums of |S|^2, of the vector current in x, and of the scalar. */
  double plaquette, mesons[MESONS][TIMES];
} pair;

static const pair PAIRS[] = {
    {"clover-cg", 11, ASYMMETRIC, 0.1, 1.2, -1, 0, QUDA_CG_INVERTER, 12, 0.994757001520594,
     {{0.82903594699992, 0.0522099927072457, 0.0105325083566104, 0.00497324938094128,
      0.00413847182877232, 0.00497505022700245, 0.0105408509537753, 0.0522236643871304},
      {0.733301168832635, 0.0409666511408418, 0.00880851980074016, 0.00470099314047252,
      0.00409211386485958, 0.00470393503153986, 0.00882067597257576, 0.0409898756153567},
      {0.54220220204522, -0.0374225366291774, -0.00907129268533536, -0.00475547428812188,
      -0.00408356321868516, -0.00475665301359572, -0.00908150646881247, -0.0374528406906894}}},
    {"clover-bicgstab", 12, ASYMMETRIC, 0.02, 1.1, -1, 0, QUDA_BICGSTAB_INVERTER, 12, 0.994758878838195,
     {{0.859324725759454, 0.0582117462742847, 0.0125691507950747, 0.00639691020536967,
      0.00548790409186358, 0.00640109770257098, 0.0125767975926995, 0.0582368470398887},
      {0.752806376360488, 0.0451874475364517, 0.0104981674706507, 0.00605658084158021,
      0.00542358399898385, 0.00606161321960214, 0.0105059156556754, 0.0452137140449716},
      {0.539969522597439, -0.0441456686347583, -0.0114654601361778, -0.00629793479910469,
      -0.00547702187200795, -0.0063019532582012, -0.0114697996548564, -0.0441576012133796}}},
    {"clover-gcr-periodic", 13, ASYMMETRIC, 0.1, 1.2, 1, 0, QUDA_GCR_INVERTER, 12, 0.994766584913408,
     {{0.856386236847651, 0.0662890799222298, 0.0226627075896078, 0.0160245146175999,
      0.0148414165384833, 0.0160213917459317, 0.0226588549882034, 0.0662686911404962},
      {0.756724010726049, 0.0516721277616744, 0.0178294769950325, 0.012781464083265,
      0.0118678607108932, 0.0127763934547472, 0.0178204230113933, 0.0516409886747619},
      {0.555592789478853, -0.0322507837515343, -0.00304683488205148, 0.00171540481684834,
      0.00252185946068678, 0.00170703110782474, -0.00303504982863281, -0.0322107319829501}}},
    {"clover-mg", 18, MULTIGRID, 0.02, 1.1, -1, 0, QUDA_GCR_INVERTER, 12, 0.994761949108233,
     {{0.859141907105015, 0.0582179273179049, 0.0125767319299825, 0.00640147027667655,
      0.00548556685908298, 0.00639360712435378, 0.0125545169399541, 0.0581763035237965},
      {0.752657327825514, 0.0451957847879991, 0.0105072329850428, 0.00606319337953047,
      0.00542406574469912, 0.0060574070393956, 0.0104922725243747, 0.0451734297915726},
      {0.539792534075341, -0.0441676891607227, -0.0114722791493819, -0.00630347937640818,
      -0.00547561676048026, -0.00629578685934385, -0.0114506318179419, -0.0441210489248926}}},
    {"seoprec-stout", 15, SYMMETRIC, 0.05, 1.0, -1, 0.125, QUDA_BICGSTAB_INVERTER, 1, 0.994720394432153,
     {{0.846875511862204, 0.055869096191056, 0.0118349545633228, 0.00592076965341581,
      0.00504590007998252, 0.00592305617749822, 0.0118382188072588, 0.055869058691878},
      {0.744624351302261, 0.043561711948968, 0.0099037770511816, 0.00561103362447799,
      0.00499272501528211, 0.00561232355753762, 0.00990553318645337, 0.0435604967473573},
      {0.539818332326205, -0.0417702891640558, -0.0106586005703558, -0.00579562966542496,
      -0.00502625324061681, -0.00579781132724409, -0.0106619656855514, -0.0417670405736057}}},
    {"wilson-cg", 17, WILSON, 0.1, 0, -1, 0, QUDA_CG_INVERTER, 1, 0.994812541110191,
     {{0.828568648160628, 0.0521247403485977, 0.0105053350784165, 0.00494932296979451,
      0.00411456258272015, 0.00494913284160069, 0.0105009540644608, 0.0520909161302523},
      {0.733110694769778, 0.0409540375169746, 0.00879903276764146, 0.00468288932381933,
      0.00407173175044523, 0.00468247496086933, 0.008793526907723, 0.0409277608763819},
      {0.542140543456243, -0.0373330938916929, -0.00902876510770926, -0.00472225217221466,
      -0.00405361576804621, -0.00472314202633343, -0.00902299191918513, -0.0372663328552419}}},
};

/* ---- propagators ---- */

static void add_to(spinor *y, double factor, const spinor *x) {
  int i;
  for (i = 0; i < 12 * volume; i++) *at(y, i) += factor * *at(x, i);
}

static void keep(spinor *v, int odd) {
  int site;
  for (site = 0; site < volume; site++)
    if (is_odd(site) != odd) memset(&v[site], 0, sizeof *v);
}

/* Solutions of the odd sites, by the calls of Chroma's solver objects. */
static void solve(const pair *q, double diagonal) {
  QudaGaugeParam gauge = gauge_param(1);
  QudaInvertParam p = q->kind == WILSON ? wilson_param(q->solver, diagonal) : clover_param(q->solver), inner;
  QudaMultigridParam levels;
  void *in[COLUMNS], *out[COLUMNS], *made = NULL;
  int i;
  gauge.t_boundary = q->boundary < 0 ? QUDA_ANTI_PERIODIC_T : QUDA_PERIODIC_T;
  set_links();
  set_clover(0, term), set_clover(1, inverse);
  load(&gauge, q->kind == WILSON ? NULL : &p);
  if (q->kind == SYMMETRIC) p.matpc_type = QUDA_MATPC_ODD_ODD;
  if (q->kind == MULTIGRID) made = new_multigrid(&levels, &inner, &p, 4, 24, 8);
  else if (q->solver == QUDA_GCR_INVERTER) inner_params(&p);
  for (i = 0; i < COLUMNS; i++) {
    set_spinor(source[i], sources[i]);
    memset(solution[i], 0, (size_t)own * sizeof(spinor));
    in[i] = odd_half(source[i]), out[i] = odd_half(solution[i]);
  }
  p.num_src = p.num_src_per_sub_partition = q->columns;
  for (i = 0; i < COLUMNS; i += q->columns) {
    if (q->columns > 1) invertMultiSrcQuda(out + i, in + i, &p);
    else invertQuda(out[i], in[i], &p);
    fine();
    CHECK(p.iter > 0 && p.iter < p.maxiter);
  }
  for (i = 0; i < q->columns; i++) CHECK(p.true_res[i] > 0 && p.true_res[i] <= tol);
  if (made) destroyMultigridQuda(made), fine();
  freeGaugeQuda(), fine();
  freeCloverQuda(), fine();
}

/* Computes column 3 s + c of a propagator, from spin s and colour c at the origin, which is even. */
static void propagator(const pair *q, spinor **columns) {
  spinor *v = room(volume * sizeof *v), *w = room(volume * sizeof *w);
  const double diagonal = 4 + q->mass;
  int n, site;
  if (q->kind == WILSON) set_diagonal(diagonal);
  else set_terms(q->csw, diagonal);
  for (n = 0; n < COLUMNS; n++) {
    memset(v, 0, volume * sizeof *v);
    v[0].d[n / 3][n % 3] = 1;
    multiply(w, inverse, v), hop(sources[n], w);
    if (q->kind == SYMMETRIC || q->kind == MULTIGRID)
      multiply(w, inverse, sources[n]), memcpy(sources[n], w, volume * sizeof *w);
    keep(sources[n], 1);
  }
  solve(q, diagonal);
  for (n = 0; n < COLUMNS; n++) {
    get_spinor(columns[n], solution[n]);
    hop(w, columns[n]), w[0].d[n / 3][n % 3] += 1;
    multiply(v, inverse, w), keep(v, 0);
    for (site = 0; site < volume; site++)
      if (is_odd(site)) CHECK(v[site].d[0][0] == 0);
    add_to(columns[n], 1, v);
  }
  free(v), free(w);
}

/* Sums tr gamma5 S^dagger gamma5 G S G over every time slice, for G = gamma5, gamma1 and 1. */
static void correlate(double to[MESONS][TIMES], spinor **columns) {
  int site, meson, s, r, k;
  memset(to, 0, MESONS * TIMES * sizeof(double));
  for (site = 0; site < volume; site++)
    for (meson = 0; meson < MESONS; meson++) {
      number sum = 0;
      for (s = 0; s < 4; s++)
        for (r = 0; r < 4; r++) {
          /* The element (s, r) of S, and that of G S G. */
          const int at = meson == 1 ? gamma_column(0, s) : s, from = meson == 1 ? gamma_column(0, r) : r;
          const double sign = (s < 2) == (r < 2) ? 1 : -1;
          number factor = meson == 0 ? 1 : sign;
          if (meson == 1) factor *= gamma_value(0, s) * gamma_value(0, from);
          for (k = 0; k < 9; k++)
            sum += conj(columns[3 * r + k / 3][site].d[s][k % 3]) * factor * columns[3 * from + k / 3][site].d[at][k % 3];
        }
      to[meson][site / (volume / TIMES)] += creal(sum);
    }
}

static void replay(const pair *q) {
  const double periods[4] = {0, 0, 0, q->boundary < 0};
  spinor *columns[COLUMNS];
  double found[MESONS][TIMES], space, time;
  int n, meson, t;
  for (n = 0; n < COLUMNS; n++) columns[n] = room(volume * sizeof(spinor));
  weak_field(parts(0, 11, 11, q->seed));
  plaquettes(&space, &time);
  CLOSE((space + time) / 2, q->plaquette, 1e-14);
  if (q->rho > 0) stout(q->rho);
  twist(periods);
  propagator(q, columns);
  correlate(found, columns);
  for (meson = 0; meson < MESONS; meson++) {
    double largest = 0, off = 0;
    for (t = 0; t < TIMES; t++) {
      largest = fmax(largest, fabs(q->mesons[meson][t]));
      off = fmax(off, fabs(found[meson][t] - q->mesons[meson][t]));
    }
    printf("%s: %d %.1e\n", q->name, meson, off / largest);
    for (t = 0; t < TIMES; t++) CLOSE(found[meson][t], q->mesons[meson][t], 1e-10 * largest);
  }
  for (n = 0; n < COLUMNS; n++) free(columns[n]);
}

int main(int argc, char **argv) {
  const int extents[4] = {8, 8, 8, TIMES};
  size_t i;
  join(&argc, &argv);
  tol = 1e-12;
  make_arrays(extents);
  initQuda(-1);
  for (i = 0; i < COUNT(PAIRS); i++) replay(&PAIRS[i]);
  endQuda();
  leave();
  free_arrays();
  return 0;
}
