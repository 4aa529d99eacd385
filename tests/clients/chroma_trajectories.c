/* First trajectories of Chroma's inputs with two flavours, with Chroma's random numbers: solves are calls of its solver objects; forces and links, which Chroma has itself, are those of the native interface. Forces, the
 * change of both parts of H, and the plaquette are compared with Chroma's. */
#include "chroma.h"

#include "qdp.h"

#define OK(call)                                                             \
  do {                                                                       \
    const plaq_status status_ = (call);                                      \
    if (status_ != PLAQ_SUCCESS) fprintf(stderr, "%s\n", plaq_last_error()); \
    CHECK(status_ == PLAQ_SUCCESS);                                          \
  } while (0)

/* The seed is that of the weak field, and again that of the first trajectory. */
enum { SEED = 11, STEPS = 5, KICKS = STEPS + 1 };

static const double BETA = 5.7, LENGTH = 0.1;

typedef struct {
  const char *name;
  /* Is the Schur complement symmetric; mass, csw and weight of one step of stout smearing. */
  int symmetric;
  double mass, csw, rho;
  /* Mean square, mean and maximum of the quarks' and of the links' force in each kick. */
  double forces[KICKS][2][3];
  /* Changes of the kinetic part and of the action, and the plaquette at the end. */
  double kinetic, potential, plaquette;
} trajectory_pair;

static const trajectory_pair TRAJECTORIES[] = {
    {"hmc-clover-cg", 0, 0.1, 1.2, 0,
     {{{1.29714121158904, 1.09300360513969, 2.36696183161939},
       {0.7667474802921, 0.835844728707044, 1.70061974579673}},
      {{1.2907389948132, 1.08987151470003, 2.3974507051632},
       {0.916681836222098, 0.918477982538584, 1.91775488262006}},
      {{1.28533180793154, 1.08713436662788, 2.43025407784296},
       {1.36944277124172, 1.13044107191429, 2.38309917376901}},
      {{1.28065393903286, 1.08470755420855, 2.45567805282018},
       {2.10948690291946, 1.40775882949037, 2.90102794664117}},
      {{1.27635830532604, 1.08247264223241, 2.4730854722552},
       {3.11158947464025, 1.7122282891052, 3.44094166374517}},
      {{1.27206880252915, 1.080295772838, 2.481971094463},
       {4.34242039201781, 2.02417944122703, 3.97570392139266}}},
     -450.852714238916, 451.444497861219, 0.969259460904147},
    {"hmc-seoprec", 1, 0.05, 1.0, 0.125,
     {{{0.256076808832484, 0.486080700904908, 1.03365664107184},
       {0.7667474802921, 0.835844728707044, 1.70061974579673}},
      {{0.257256428440475, 0.487043305078665, 1.03439363867704},
       {0.916711009590598, 0.918493291447572, 1.91710930081307}},
      {{0.258461206318628, 0.48802301693947, 1.04595626288494},
       {1.36960791113564, 1.1305026824854, 2.38288917374107}},
      {{0.259664697003737, 0.488994534519213, 1.06074454909281},
       {2.11001398525709, 1.40790715459564, 2.901367271957}},
      {{0.260855925787146, 0.489947332935924, 1.07366694789231},
       {3.11287206951211, 1.71252191073965, 3.44689728675897}},
      {{0.262036731814163, 0.490883525659125, 1.08469227072834},
       {4.34504365040933, 2.02469029929119, 3.98322230390643}}},
     -443.959588231577, 444.528697878952, 0.969240130192207},
};

static const trajectory_pair *now;
static plaq_context context;
static plaq_gauge field, smeared;
static plaq_momentum momentum, force;
static plaq_dirac dirac;
static plaq_spinor solution_x, image, empty;
static plaq_gauge_action_params action;
static spinor *phi, *x;
static plaq_system complement;

/* Links, and those that quarks see, with their terms, as they are now. */
static void set_quark_links(void) {
  const double antiperiodic[4] = {0, 0, 0, 1};
  PLAQ_INIT(plaq_layout_params, layout);
  OK(plaq_gauge_save(field, &layout, links));
  if (now->rho > 0) stout(now->rho);
  OK(plaq_gauge_load(smeared, &layout, links));
  twist(antiperiodic);
  set_terms(now->csw, 4 + now->mass);
}

/* (M^dagger M)^-1 phi of the odd sites, with the present links. */
static void solve(void) {
  QudaGaugeParam param = gauge_param(1);
  QudaInvertParam p = clover_param(QUDA_CG_INVERTER);
  set_quark_links();
  set_links(), set_clover(0, term), set_clover(1, inverse);
  load(&param, &p);
  set_spinor(source[0], phi);
  memset(solution[0], 0, (size_t)own * sizeof(spinor));
  p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.compute_true_res = 0;
  if (now->symmetric) p.matpc_type = QUDA_MATPC_ODD_ODD;
  invertQuda(odd_half(solution[0]), odd_half(source[0]), &p), fine();
  CHECK(p.iter > 0 && p.iter < p.maxiter);
  get_spinor(x, solution[0]);
  freeGaugeQuda(), fine();
  freeCloverQuda(), fine();
}

/* phi^dagger x - 2 ln det A of the even sites, which Chroma takes with both complements, + the links' action. */
static double potential(void) {
  double sum;
  int site, n, i, j, k;
  solve();
  OK(plaq_action_gauge(field, &action, &sum));
  for (i = 0; i < 12 * volume; i++) sum += creal(conj(phi[i / 12].d[i % 12 / 3][i % 3]) * x[i / 12].d[i % 12 / 3][i % 3]);
  for (site = 0; site < volume; site++)
    for (n = 0; n < 2 && !is_odd(site); n++) {
      number w[6][6];
      memcpy(w, term[site].b[n], sizeof w);
      for (k = 0; k < 6; k++) {
        sum -= 2 * log(creal(w[k][k]));
        for (i = k + 1; i < 6; i++)
          for (j = 5; j >= k; j--) w[i][j] -= w[i][k] / w[k][k] * w[k][j];
      }
    }
  return sum;
}

/* Of minus the force: mean square, mean and maximum of links. */
static void compare_force(const double *expected) {
  double *m = room(40 * (size_t)volume * sizeof *m), found[3] = {0};
  int i;
  OK(plaq_momentum_save(force, PLAQ_MOMENTUM_TEN, PLAQ_SITE_ORDER_LEXICOGRAPHIC, 1, m));
  for (i = 0; i < 4 * volume; i++) {
    const matrix f = of_ten(m + 10 * (size_t)i);
    const double square = 2 * creal(trace(mul(dagger(f), f)));
    found[0] += square / (4 * volume), found[1] += sqrt(square) / (4 * volume), found[2] = fmax(found[2], sqrt(square));
  }
  for (i = 0; i < 3; i++) CLOSE(found[i], expected[i], 1e-8 * expected[i]);
  free(m);
}

/* Derivatives by smeared links, m, become those by the links below: exp(X) U with X the traceless part of loops C U^dagger. */
static void unsmear(double *m, double rho) {
  double ten[10];
  matrix *sum = room(4 * (size_t)volume * sizeof *sum), zero = {{{0}}};
  int site, mu, nu, n, k, at, end;
  PLAQ_INIT(plaq_layout_params, layout);
  OK(plaq_gauge_save(field, &layout, links));
  for (site = 0; site < volume; site++)
    for (mu = 0; mu < 4; mu++) {
      matrix loops = zero, x_of, lambda = zero, nested = of_ten(m + 40 * (size_t)site + 10 * mu), turned;
      double factor = 1;
      for (nu = 0; nu < 8; nu++)
        if (nu != mu && nu != 7 - mu) {
          const int loop[4] = {nu, mu, 7 - nu, 7 - mu};
          loops = add(loops, rho, along(site, loop, 4, &end));
        }
      traceless(ten, loops), x_of = of_ten(ten);
      turned = mul(exponential(-1, ten), mul(nested, exponential(1, ten)));
      sum[4 * site + mu] = add(sum[4 * site + mu], 1, turned);
      /* sum_n (-ad X)^n / (n + 1)! */
      for (n = 1; n < 20; n++) {
        factor /= n;
        lambda = add(lambda, factor, nested);
        nested = add(mul(nested, x_of), -1, mul(x_of, nested));
      }
      for (nu = 0; nu < 8; nu++)
        if (nu != mu && nu != 7 - mu) {
          const int loop[4] = {nu, mu, 7 - nu, 7 - mu};
          for (k = 0; k < 4; k++) {
            const int back = loop[k] > 3, link = back ? 7 - loop[k] : loop[k];
            const matrix before = along(site, loop, k + back, &at), after = along(at, loop + k + back, 4 - k - back, &end);
            sum[4 * at + link] = add(sum[4 * at + link], back ? -rho : rho, mul(after, mul(lambda, before)));
          }
        }
    }
  for (n = 0; n < 4 * volume; n++) traceless(m + 10 * (size_t)n, sum[n]);
  free(sum);
}

static void kick(int n, double step) {
  const double scale = now->symmetric ? 1 : 4 + now->mass, weight = -scale * scale, nothing_of = 0;
  PLAQ_INIT(plaq_layout_params, layout);
  solve();
  OK(plaq_dirac_update(dirac, smeared));
  OK(plaq_spinor_load(solution_x, &layout, x));
  OK(plaq_dirac_apply(dirac, complement, PLAQ_FORM_M, image, solution_x));
  OK(plaq_momentum_add(force, 0, momentum, 0));
  OK(plaq_force_schur(dirac, complement, force, 1, solution_x, image, &weight, 1, 0));
  OK(plaq_force_clover(dirac, force, 1, empty, empty, &nothing_of, 1, -1, 0));
  if (now->rho > 0) {
    double *m = room(40 * (size_t)volume * sizeof *m);
    OK(plaq_momentum_save(force, PLAQ_MOMENTUM_TEN, PLAQ_SITE_ORDER_LEXICOGRAPHIC, 1, m));
    unsmear(m, now->rho);
    OK(plaq_momentum_load(force, PLAQ_MOMENTUM_TEN, PLAQ_SITE_ORDER_LEXICOGRAPHIC, 1, m));
    free(m);
  }
  compare_force(now->forces[n][0]);
  OK(plaq_momentum_add(momentum, 1, force, step));
  OK(plaq_momentum_add(force, 0, momentum, 0));
  OK(plaq_force_gauge(field, &action, force, 1, NULL));
  compare_force(now->forces[n][1]);
  OK(plaq_momentum_add(momentum, 1, force, step));
}

/* p: traceless anti-hermitian parts of normal matrices, times sqrt(1/2); phi = M^dagger eta. */
static void heat_bath(void) {
  number *numbers = room(12 * (size_t)volume * sizeof *numbers);
  double *m = room(40 * (size_t)volume * sizeof *m);
  spinor *eta = room(volume * sizeof *eta);
  int mu, site, i;
  generator = SEED;
  for (mu = 0; mu < 4; mu++) {
    normal_field(numbers, 9);
    for (site = 0; site < volume; site++) {
      matrix p;
      for (i = 0; i < 9; i++) p.e[i / 3][i % 3] = sqrt(0.5) * numbers[9 * site + i];
      traceless(m + 40 * (size_t)site + 10 * mu, p);
    }
  }
  OK(plaq_momentum_load(momentum, PLAQ_MOMENTUM_TEN, PLAQ_SITE_ORDER_LEXICOGRAPHIC, 1, m));
  normal_field(numbers, 12);
  for (i = 0; i < 12 * volume; i++) eta[i / 12].d[i % 12 / 3][i % 3] = is_odd(i / 12) ? sqrt(0.5) * numbers[i] : 0;
  set_quark_links();
  odd_operator(phi, now->symmetric, 1, eta);
  free(numbers), free(m), free(eta);
}

static void replay(const trajectory_pair *q) {
  double kinetic[2], start, space, time;
  int mu, n;
  PLAQ_INIT(plaq_gauge_params, shape);
  PLAQ_INIT(plaq_spinor_params, half);
  PLAQ_INIT(plaq_dirac_params, quark);
  PLAQ_INIT(plaq_layout_params, layout);
  now = q, complement = q->symmetric ? PLAQ_SYSTEM_ODD_SYMMETRIC : PLAQ_SYSTEM_ODD_ASYMMETRIC;
  weak_field(SEED);
  OK(plaq_context_create(NULL, &context));
  for (mu = 0; mu < 4; mu++) shape.extents[mu] = half.extents[mu] = global[mu];
  OK(plaq_spinor_create(context, &half, &empty));
  half.subset = PLAQ_SUBSET_ODD;
  OK(plaq_gauge_create(context, &shape, &field));
  OK(plaq_gauge_create(context, &shape, &smeared));
  OK(plaq_gauge_load(field, &layout, links));
  OK(plaq_gauge_load(smeared, &layout, links));
  OK(plaq_momentum_create(field, &momentum));
  OK(plaq_momentum_create(field, &force));
  OK(plaq_gauge_action_params_init(&action, (int64_t)sizeof action));
  action.beta[0] = action.beta[1] = BETA;
  quark.mass = q->mass, quark.csw = q->csw;
  OK(plaq_dirac_create(context, smeared, &quark, &dirac));
  OK(plaq_spinor_create(context, &half, &solution_x));
  OK(plaq_spinor_create(context, &half, &image));
  heat_bath();
  start = potential();
  OK(plaq_momentum_kinetic(momentum, &kinetic[0]));
  for (n = 0; n < KICKS; n++) {
    kick(n, LENGTH / STEPS * (n % STEPS ? 1 : 0.5));
    if (n < STEPS) OK(plaq_gauge_evolve(field, momentum, LENGTH / STEPS));
  }
  OK(plaq_momentum_kinetic(momentum, &kinetic[1]));
  CLOSE(kinetic[1] - kinetic[0], q->kinetic, 1e-8);
  CLOSE(potential() - start, q->potential, 1e-8);
  OK(plaq_gauge_save(field, &layout, links));
  plaquettes(&space, &time);
  CLOSE((space + time) / 2, q->plaquette, 1e-12);
  OK(plaq_context_destroy(context));
}

int main(int argc, char **argv) {
  const int extents[4] = {4, 4, 4, 8};
  size_t i;
  join(&argc, &argv);
  tol = 1e-10;
  make_arrays(extents);
  phi = room(volume * sizeof *phi), x = room(volume * sizeof *x);
  initQuda(-1);
  for (i = 0; i < sizeof TRAJECTORIES / sizeof *TRAJECTORIES; i++) replay(&TRAJECTORIES[i]);
  endQuda();
  leave();
  free(phi), free(x);
  free_arrays();
  return 0;
}
