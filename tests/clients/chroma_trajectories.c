/* First trajectories of Chroma's inputs, of two flavours and of one by rational functions, with Chroma's random numbers: solves
 * are calls of its solver objects; forces and links, which Chroma has itself, are those of the native interface. Forces, the
 * change of both parts of H, and the plaquette are compared with Chroma's. */
#include "chroma.h"

#include "qdp.h"

#include "trajectory.h"

/* The seed of the weak field, which is also that of the first trajectory. */
enum { SEED = 11, STEPS = 5, KICKS = STEPS + 1 };

static const double BETA = 5.7, LENGTH = 0.1;

typedef struct {
  const char *name;
  /* flavours: two with ln det A, or one without it; whether the Schur complement is symmetric; mass, csw, and the
   * weight rho of one step of stout smearing. */
  int flavours, symmetric;
  double mass, csw, rho;
  /* Chroma's mean square, mean and maximum of the forces of quarks and of links, in each kick. */
  double forces[KICKS][2][3];
  /* Chroma's changes of the kinetic part and of the action, and its plaquette at the end. */
  double kinetic, potential, plaquette;
} trajectory_pair;

static const trajectory_pair TRAJECTORIES[] = {
    {"hmc-clover-cg", 2, 0, 0.1, 1.2, 0,
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
    {"hmc-seoprec", 2, 1, 0.05, 1.0, 0.125,
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
    {"hmc-rat", 1, 1, 0.05, 1.0, 0.125,
     {{{0.0460678089105848, 0.206077395759641, 0.437517223707901},
       {0.7667474802921, 0.835844728707044, 1.70061974579673}},
      {{0.0461632788389187, 0.206308576545467, 0.443199528366324},
       {0.916712182421127, 0.918493220095038, 1.917077691644}},
      {{0.0463094315161913, 0.206649883870414, 0.44911633978695},
       {1.36959591079323, 1.13049641281136, 2.38278050668665}},
      {{0.0465090929271589, 0.207106777302116, 0.455277070962236},
       {2.10995308035267, 1.40788604415743, 2.90097162934859}},
      {{0.0467669875999483, 0.207688490520762, 0.461682319956128},
       {3.11271137527147, 1.71247785244305, 3.44634208572925}},
      {{0.0470892207716058, 0.2084068413453, 0.468321881415452},
       {4.34472427868314, 2.02461731283047, 3.98249921674776}}},
     -445.607480156131, 446.17631269103, 0.96924129837836},
};

/* A rational approximation of x^(1/4), of degree eight. */
static const rational QUARTER_ROOT = {
    8, 0.25, 0.02, 40, 5.45527898846533349,
    {0.00319356518780563702, 0.0272627903784673796, 0.113887640907630213, 0.409832926466007067, 1.42763484746871939,
     5.06469938421094232, 19.954807851599982, 124.532106179245382},
    {0.00642404617206521336, 0.0400905889923593416, 0.157956067934451839, 0.560367380649503677, 1.95201495130810265,
     7.02446721720092997, 29.344024910665555, 250.503732647992733},
    {0}, 0};

static const trajectory_pair *now;
static rational root, inverse_root, of_force;
static plaq_gauge smeared;
static plaq_momentum force;
static plaq_spinor empty;
static spinor *phi, *x[ROOTS];
static plaq_system complement;

/* Checks that the function is the one of least relative error among those of its degree: it has 2 n + 2 extremes of
 * equal size and alternating sign (Chebyshev). */
static void set_rationals(void) {
  const int most = 20000;
  int i, extremes = 1;
  double before = 0, slope = 0;
  root = complete(QUARTER_ROOT), inverse_root = root;
  inverse_root.power = -root.power, inverse_root.factor = 1 / root.factor;
  memcpy(inverse_root.zero, root.root, sizeof root.root), memcpy(inverse_root.root, root.zero, sizeof root.zero);
  inverse_root = complete(inverse_root), of_force = inverse_root_of(6, root.low, root.high);
  for (i = 0; i <= most; i++) {
    const double y = root.low * pow(root.high / root.low, (double)i / most), off = value_at(&root, y) / pow(y, root.power) - 1;
    if (i > 1 && slope * (off - before) < 0) {
      CLOSE(before, extremes % 2 ? -root.error : root.error, 1e-5 * root.error);
      extremes++;
    }
    slope = off - before, before = off;
  }
  CLOSE(before, -root.error, 1e-5 * root.error);
  CHECK(root.error < 2.7e-7 && extremes + 1 == 2 * root.roots + 2);
}

/* Sets up the present links and those that quarks see, with their clover terms. */
static void set_quark_links(void) {
  const double antiperiodic[4] = {0, 0, 0, 1};
  PLAQ_INIT(plaq_layout_params, layout);
  OK(plaq_gauge_save(native.gauge, &layout, links));
  if (now->rho > 0) stout(now->rho);
  OK(plaq_gauge_load(smeared, &layout, links));
  twist(antiperiodic);
  set_terms(now->csw, 4 + now->mass);
}

/* x[k] = (M^dagger M + root_k)^-1 b of the odd sites, with the present links; without a function, x[0] = (M^dagger M)^-1 b. */
static void solve(const spinor *b, const rational *r) {
  QudaGaugeParam param = gauge_param(1);
  QudaInvertParam p = r ? shift_param(now->symmetric, r->roots, r->root) : clover_param(QUDA_CG_INVERTER);
  void *out[ROOTS];
  int k;
  set_quark_links();
  set_links(), set_clover(0, term), set_clover(1, inverse);
  load(&param, &p);
  set_spinor(source[0], b);
  for (k = 0; k < ROOTS; k++) out[k] = odd_half(solution[k]), memset(solution[k], 0, (size_t)own * sizeof(spinor));
  if (r) invertMultiShiftQuda(out, odd_half(source[0]), &p), fine();
  else {
    p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.compute_true_res = 0;
    if (now->symmetric) p.matpc_type = QUDA_MATPC_ODD_ODD;
    invertQuda(out[0], odd_half(source[0]), &p), fine();
  }
  CHECK(p.iter > 0 && p.iter < p.maxiter);
  for (k = 0; k < (r ? r->roots : 1); k++) get_spinor(x[k], solution[k]);
  freeGaugeQuda(), fine();
  freeCloverQuda(), fine();
}

/* b = r(M^dagger M) b of the odd sites. */
static void apply_rational(spinor *b, const rational *r) {
  int i, k;
  solve(b, r);
  for (i = 0; i < 12 * volume; i++) {
    for (k = 0; k < r->roots; k++) *at(b, i) += r->residue[k] * *at(x[k], i);
    *at(b, i) *= r->factor;
  }
}

/* ln det of A on the even sites. */
static double log_det(void) {
  double sum = 0;
  int site, n, i, j, k;
  for (site = 0; site < volume; site++)
    for (n = 0; n < 2 && !is_odd(site); n++) {
      number w[6][6];
      memcpy(w, term[site].b[n], sizeof w);
      for (k = 0; k < 6; k++) {
        sum += log(creal(w[k][k]));
        for (i = k + 1; i < 6; i++)
          for (j = 5; j >= k; j--) w[i][j] -= w[i][k] / w[k][k] * w[k][j];
      }
    }
  return sum;
}

/* The action: that of links + phi^dagger (M^dagger M)^-1 phi - 2 ln det A of the even sites, which Chroma includes with
 * both Schur complements, or + |(M^dagger M)^(-1/4) phi|^2. */
static double potential(void) {
  spinor *v = room(volume * sizeof *v);
  double sum;
  int i;
  OK(plaq_gauge_action(native.gauge, &native.action, &sum));
  memcpy(v, phi, volume * sizeof *v);
  if (now->flavours == 1) apply_rational(v, &inverse_root);
  else solve(phi, NULL), sum -= 2 * log_det();
  for (i = 0; i < 12 * volume; i++) sum += creal(conj(*at(v, i)) * *at(now->flavours == 1 ? v : x[0], i));
  free(v);
  return sum;
}

/* Mean square, mean and maximum over links of minus the force. */
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

/* Turns derivatives m by smeared links into those by the links before the smearing step U -> exp(X) U, where X is the
 * traceless part of loops C U^dagger. */
static void unsmear(double *m, double rho) {
  double ten[10];
  matrix *sum = room(4 * (size_t)volume * sizeof *sum), zero = {{{0}}};
  int site, mu, nu, n, k, at, end;
  PLAQ_INIT(plaq_layout_params, layout);
  OK(plaq_gauge_save(native.gauge, &layout, links));
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
      /* The series sum_n (-ad X)^n / (n + 1)! */
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
  const double scale = now->symmetric ? 1 : 4 + now->mass, nothing_of = 0;
  const rational *r = now->flavours == 1 ? &of_force : NULL;
  plaq_spinor shifted = native.vector[0], image = native.vector[1];
  int k;
  PLAQ_INIT(plaq_layout_params, layout);
  solve(phi, r);
  OK(plaq_dirac_update(native.dirac, smeared));
  OK(plaq_momentum_add(force, 0, native.momentum, 0));
  for (k = 0; k < (r ? r->roots : 1); k++) {
    const double weight = -scale * scale * (r ? r->factor * r->residue[k] : 1);
    OK(plaq_spinor_load(shifted, &layout, x[k]));
    OK(plaq_dirac_apply(native.dirac, complement, PLAQ_FORM_M, image, shifted));
    OK(plaq_dirac_schur_force(native.dirac, complement, force, 1, shifted, image, &weight, 1, 0));
  }
  if (!r) OK(plaq_dirac_clover_force(native.dirac, force, 1, empty, empty, &nothing_of, 1, -1, 0));
  if (now->rho > 0) {
    double *m = room(40 * (size_t)volume * sizeof *m);
    OK(plaq_momentum_save(force, PLAQ_MOMENTUM_TEN, PLAQ_SITE_ORDER_LEXICOGRAPHIC, 1, m));
    unsmear(m, now->rho);
    OK(plaq_momentum_load(force, PLAQ_MOMENTUM_TEN, PLAQ_SITE_ORDER_LEXICOGRAPHIC, 1, m));
    free(m);
  }
  compare_force(now->forces[n][0]);
  OK(plaq_momentum_add(native.momentum, 1, force, step));
  OK(plaq_momentum_add(force, 0, native.momentum, 0));
  OK(plaq_gauge_force(native.gauge, &native.action, force, 1, NULL));
  compare_force(now->forces[n][1]);
  OK(plaq_momentum_add(native.momentum, 1, force, step));
}

/* Momenta: traceless anti-hermitian parts of normal matrices, times sqrt(1/2); pseudofermions: phi = M^dagger eta or
 * (M^dagger M)^(1/4) eta. */
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
  OK(plaq_momentum_load(native.momentum, PLAQ_MOMENTUM_TEN, PLAQ_SITE_ORDER_LEXICOGRAPHIC, 1, m));
  normal_field(numbers, 12);
  for (i = 0; i < 12 * volume; i++) *at(eta, i) = is_odd(i / 12) ? sqrt(0.5) * numbers[i] : 0;
  set_quark_links();
  if (now->flavours == 1) memcpy(phi, eta, volume * sizeof *eta), apply_rational(phi, &root);
  else odd_operator(phi, now->symmetric, 1, eta);
  free(numbers), free(m), free(eta);
}

static void replay(const trajectory_pair *q) {
  double kinetic[2], start, space, time;
  int mu, n;
  PLAQ_INIT(plaq_gauge_params, shape);
  PLAQ_INIT(plaq_spinor_params, whole);
  PLAQ_INIT(plaq_dirac_params, quark);
  quark.normalisation = PLAQ_NORMALISATION_KAPPA;
  PLAQ_INIT(plaq_layout_params, layout);
  now = q, complement = q->symmetric ? PLAQ_SYSTEM_ODD_SYMMETRIC : PLAQ_SYSTEM_ODD_ASYMMETRIC;
  weak_field(SEED);
  quark.mass = q->mass, quark.csw = q->csw;
  open_native(BETA, 0, &quark);
  for (mu = 0; mu < 4; mu++) shape.extents[mu] = whole.extents[mu] = global[mu];
  OK(plaq_spinor_create(native.context, &whole, &empty));
  OK(plaq_gauge_create(native.context, &shape, &smeared));
  OK(plaq_momentum_create(native.gauge, &force));
  heat_bath();
  start = potential();
  OK(plaq_momentum_kinetic(native.momentum, &kinetic[0]));
  for (n = 0; n < KICKS; n++) {
    kick(n, LENGTH / STEPS * (n % STEPS ? 1 : 0.5));
    if (n < STEPS) OK(plaq_gauge_evolve(native.gauge, native.momentum, LENGTH / STEPS));
  }
  OK(plaq_momentum_kinetic(native.momentum, &kinetic[1]));
  CLOSE(kinetic[1] - kinetic[0], q->kinetic, 1e-8);
  CLOSE(potential() - start, q->potential, 1e-8);
  OK(plaq_gauge_save(native.gauge, &layout, links));
  plaquettes(&space, &time);
  CLOSE((space + time) / 2, q->plaquette, 1e-12);
  OK(plaq_context_destroy(native.context));
}

int main(int argc, char **argv) {
  const int extents[4] = {4, 4, 4, 8};
  size_t i;
  int k;
  join(&argc, &argv);
  tol = 1e-10;
  make_arrays(extents);
  phi = room(volume * sizeof *phi);
  for (k = 0; k < ROOTS; k++) x[k] = room(volume * sizeof(spinor));
  set_rationals();
  initQuda(-1);
  for (i = 0; i < COUNT(TRAJECTORIES); i++) replay(&TRAJECTORIES[i]);
  endQuda();
  leave();
  free(phi);
  for (k = 0; k < ROOTS; k++) free(x[k]);
  free_arrays();
  return 0;
}
