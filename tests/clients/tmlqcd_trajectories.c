/* Trajectories of tmLQCD's inputs from its configuration, with its monomials, integrators, solver parameters and calls,
 * and with momenta and pseudofermions of this file, as tmLQCD's random numbers are not available here. Each trajectory
 * is reversible and conserves H as well as its integrator should; if the native interface has the same action, it must
 * give the same trajectory. */
#include "tmlqcd.h"

#include "trajectory.h"

/* Monomials: links alone; DET or CLOVERDET; CLOVERDET with rho and CLOVERDETRATIO; RAT or NDRAT. */
typedef enum { LINKS, DETERMINANT, RATIO, RATIONAL } quark_kind;
enum { MONOMIALS = 2 };

typedef struct {
  const char *name;
  double beta, c1;
  quark_kind kind;
  int flavours, clover;
  double kappa, csw, mu, epsilon, rho; /* mu, epsilon and rho times 2 kappa */
  /* The interval of the rational function, and an eigenvalue that lies below it. */
  double spectrum[2], below;
  /* Number of steps of the links' level in each half of an outer step, and number of outer steps. */
  int inner, outer;
  double tau;
  /* Typical |Delta H| of tmLQCD's own trajectories. */
  double off;
} trajectory_pair;

static const trajectory_pair TRAJECTORIES[] = {
    {"hmc-gauge-iwasaki", 2.4, -0.331, LINKS, 1, 0, 0.13, 0, 0, 0, 0, {0}, 0, 6, 0, 1, 2},
    {"hmc-gauge-wilson", 5.6, 0, LINKS, 1, 0, 0.13, 0, 0, 0, 0, {0}, 0, 6, 0, 1, 2},
    {"hmc-tm-det", 5.8, 0, DETERMINANT, 1, 0, 0.15, 0, 0.12, 0, 0, {0}, 0, 2, 4, 0.2, 0.03},
    {"hmc-clover", 5.8, 0, DETERMINANT, 1, 1, 0.13, 1.6, 0, 0, 0, {0}, 0, 2, 4, 0.2, 0.03},
    {"hmc-tmclover-rho", 5.8, 0, RATIO, 1, 1, 0.138, 1.2, 0.01, 0, 0.1, {0}, 0, 2, 4, 0.2, 0.03},
    {"hmc-rat", 5.8, 0, RATIONAL, 1, 0, 0.14, 0, 0, 0, 0, {0.01, 4}, 0, 2, 4, 0.2, 0.03},
    {"hmc-ndrat", 5.8, 0, RATIONAL, 2, 0, 0.15, 0, 0.08, 0.06, 0, {0.02, 4}, 0.001374888 * 4, 2, 4, 0.2, 0.03},
};

static const trajectory_pair *now;
/* Momenta and forces: anti-hermitian matrices i sum_a p_a lambda_a as ten numbers for each link, with H = 1/2 sum p_a^2
 * + S. */
static double *momenta, *force;
static spinor *quarks[MONOMIALS];
/* Whether the links have changed since they, or the clover term, were copied to the device. */
static int stale;

/* tmLQCD's function approximates y^-1/2 for y divided by the largest eigenvalue; this factor makes it one of y itself.
 * */
static rational function;

static void set_rational(void) {
  function = inverse_root_of(ROOTS, now->spectrum[0], now->spectrum[1]);
  function.factor *= sqrt(now->spectrum[1]);
}

/* ---- solves: x = (P P^dagger + shift)^-1 b of the odd sites ---- */

static void refresh(double rho) {
  const trajectory_pair *q = now;
  if (stale) {
    freeGaugeQuda(), fine();
    set_links();
    load_links();
    if (q->clover) clover_term(term, q->kappa, q->csw);
  }
  stale = 0;
  form.kappa = q->kappa, form.csw = q->csw;
  use(q->flavours, -q->mu / (2 * q->kappa), q->epsilon / (2 * q->kappa), -rho / (2 * q->kappa), q->clover);
}

static QudaInvertParam squared_param(double precision) {
  QudaInvertParam p = invert_param(QUDA_CG_INVERTER, ODD);
  p.solution_type = QUDA_MATPCDAG_MATPC_SOLUTION, p.dagger = QUDA_DAG_YES, p.tol = sqrt(precision), p.maxiter = 5000;
  return p;
}

static void solve(spinor *x, const spinor *b, double precision) {
  double *in = room((size_t)own * sizeof(spinor)), *out = room((size_t)own * sizeof(spinor));
  QudaInvertParam p = squared_param(precision);
  set_vector(in, b, ODD, 0);
  invertQuda(out, in, &p), fine();
  CHECK(p.iter > 0 && p.iter < p.maxiter);
  get_vector(x, out, ODD, 0);
  free(in), free(out);
}

static void solve_shifts(spinor **x, const spinor *b, double precision) {
  double *in = room(2 * (size_t)own * sizeof(spinor));
  void *out[ROOTS];
  QudaInvertParam p = squared_param(precision);
  int i;
  set_vector(in, b, ODD, 0);
  p.num_offset = ROOTS, p.reliable_delta_refinement = 0.1;
  for (i = 0; i < ROOTS; i++) {
    p.offset[i] = function.root[i], p.tol_offset[i] = p.tol;
    out[i] = room(2 * (size_t)own * sizeof(spinor));
  }
  invertMultiShiftQuda(out, in, &p), fine();
  CHECK(p.iter > 0 && p.iter < p.maxiter);
  for (i = 0; i < ROOTS; i++) get_vector(x[i], out[i], ODD, 0), free(out[i]);
  free(in);
}

/* ---- actions ---- */

static spinor *copy_of(const spinor *v) {
  spinor *to = vector();
  memcpy(to, v, entries() / 12 * sizeof *v);
  return to;
}

static double gauge_action(void) {
  double sum = 0;
  int site, mu, nu, end;
  for (site = 0; site < volume; site++)
    for (mu = 0; mu < 4; mu++)
      for (nu = 0; nu < 4; nu++)
        if (mu != nu) {
          const int square[4] = {mu, nu, 7 - mu, 7 - nu}, long_one[6] = {mu, mu, nu, 7 - mu, 7 - mu, 7 - nu};
          if (mu < nu) sum += now->beta * (1 - 8 * now->c1) * (1 - creal(trace(along(site, square, 4, &end))) / 3);
          if (now->c1 != 0) sum += now->beta * now->c1 * (1 - creal(trace(along(site, long_one, 6, &end))) / 3);
        }
  return sum;
}

static double kinetic(void) {
  double sum = 0;
  int i;
  for (i = 0; i < 4 * volume; i++) {
    const matrix p = of_ten(momenta + 10 * (size_t)i);
    sum += 0.25 * creal(trace(mul(dagger(p), p)));
  }
  return sum;
}

/* Computes R(P P^dagger) b, and if asked for the solutions of the shifted systems. */
static spinor *apply_rational(const spinor *b, spinor **solutions, double precision) {
  spinor *x[ROOTS], *sum = copy_of(b);
  int i;
  for (i = 0; i < ROOTS; i++) x[i] = vector();
  solve_shifts(x, b, precision);
  for (i = 0; i < ROOTS; i++) {
    add_to(sum, function.residue[i], x[i]);
    if (solutions) solutions[i] = x[i];
    else free(x[i]);
  }
  for (i = 0; i < entries(); i++) *at(sum, i) *= function.factor;
  return sum;
}

/* The quark action: phi^dagger (P P^dagger)^-1 phi - ln |det A|^2 of the even sites; for the ratio phi^dagger P2^dagger
 * (P P^dagger)^-1 P2 phi; or for a rational function phi^dagger R phi. */
static double quark_action(void) {
  spinor *x = vector(), *b;
  double sum = 0;
  if (now->kind == LINKS) return free(x), 0;
  refresh(now->rho);
  if (now->kind == RATIONAL) {
    b = apply_rational(quarks[0], NULL, 1e-20);
    sum = creal(product(quarks[0], b));
    free(b);
  } else {
    solve(x, quarks[0], 1e-20);
    sum = creal(product(quarks[0], x));
    if (now->clover) sum -= log_det();
  }
  if (now->kind == RATIO) {
    b = vector();
    operate(b, quarks[1], ODD, 0, 0);
    refresh(0);
    solve(x, b, 1e-20);
    sum += creal(product(b, x));
    free(b);
  }
  free(x);
  return sum;
}

static double hamiltonian(void) { return kinetic() + gauge_action() + quark_action(); }

/* ---- forces: i sum_a lambda_a dS / dk_a for links exp(i k_a lambda_a) U, added to `force` ---- */

static void gauge_part(void) {
  set_links();
  gauge_force_of(force, now->beta, now->c1, now->c1 == 0 ? 6 : STAPLES);
}

static void add_force(const double *ten) {
  int i;
  for (i = 0; i < 40 * volume; i++) force[i] += ten[i];
}

/* Forces of CLOVERDET and CLOVERDETRATIO by the library, whose vectors are gamma5 times these. */
static void clover_part(const spinor *x, const spinor *x0) {
  QudaGaugeParam gauge = force_param();
  QudaInvertParam p = squared_param(1e-18);
  double coeff = 4 * form.kappa * form.kappa, *ten = room(40 * (size_t)volume * sizeof *ten);
  void *list[1], *zero[1];
  spinor *v;
  list[0] = room((size_t)own * sizeof(spinor)), zero[0] = room((size_t)own * sizeof(spinor));
  p.clover_csw = form.csw;
  v = copy_of(x), gamma5(v), set_vector(list[0], v, ODD, 0), free(v);
  v = vector();
  if (x0) add_to(v, -1, x0), set_vector(zero[0], v, ODD, 0);
  free(v);
  computeTMCloverForceQuda(host_momenta, list, x0 ? zero : list, &coeff, 1, &gauge, &p, x0 != NULL), fine();
  get_momenta(ten);
  add_force(ten);
  free(list[0]), free(zero[0]), free(ten);
}

/* Adds w d Re <a, H b> for a change of the links: a and b give the spin-projected products in the sum over links of Re
 * tr K (a(x) x b(x + mu) ...). */
static void hop_part(double *ten, double w, const spinor *a, const spinor *b) {
  int site, mu, f, way, s, r, i, j;
  for (site = 0; site < volume; site++)
    for (mu = 0; mu < 4; mu++) {
      const int near = step(site, mu, 1);
      matrix z = {{{0}}};
      double out[10] = {0};
      for (f = 0; f < form.flavours; f++)
        for (way = 1; way >= -1; way -= 2) {
          /* The vector at the other end of the link is multiplied by the link and projected. */
          const spinor *here = (way > 0 ? a : b) + f * volume + site, *there = (way > 0 ? b : a) + f * volume + near;
          spinor v, u;
          for (s = 0; s < 4; s++)
            for (i = 0; i < 3; i++)
              for (v.d[s][i] = 0, j = 0; j < 3; j++) v.d[s][i] += links[4 * site + mu].e[i][j] * there->d[s][j];
          for (s = 0; s < 4; s++)
            for (r = gamma_column(mu, s), i = 0; i < 3; i++) u.d[s][i] = v.d[s][i] - way * gamma_value(mu, s) * v.d[r][i];
          for (s = 0; s < 4; s++)
            for (i = 0; i < 3; i++)
              for (j = 0; j < 3; j++)
                z.e[i][j] += way > 0 ? u.d[s][i] * conj(here->d[s][j]) : -here->d[s][i] * conj(u.d[s][j]);
        }
      traceless(out, z);
      for (i = 0; i < 9; i++) ten[40 * (size_t)site + 10 * mu + i] -= 2 * w * out[i];
    }
}

/* Adds -2 w Re <x, dP P^dagger x> for operators without a clover term, which tmLQCD computes itself. */
static void host_part(const spinor *x, double w) {
  const double factor = 2 * form.kappa * form.kappa * w;
  spinor *y = vector(), *v = vector(), *u = vector();
  operate(y, x, ODD, 0, 1);
  hop(v, y, 0), site_term(v, form.mu, 0, 1);
  hop(u, x, 1), site_term(u, form.mu, 1, 1);
  hop_part(force, factor, x, v);
  hop_part(force, factor, u, y);
  free(y), free(v), free(u);
}

static void quark_part(void) {
  spinor *x[ROOTS], *b;
  int i;
  memset(force, 0, 40 * (size_t)volume * sizeof *force);
  refresh(now->rho);
  if (now->kind == RATIONAL) {
    free(apply_rational(quarks[0], x, 1e-18));
    for (i = 0; i < ROOTS; i++) {
      host_part(x[i], function.factor * function.residue[i]);
      free(x[i]);
    }
    return;
  }
  x[0] = vector();
  solve(x[0], quarks[0], 1e-18);
  if (now->clover) clover_part(x[0], NULL);
  else host_part(x[0], 1);
  if (now->kind == RATIO) {
    b = vector();
    operate(b, quarks[1], ODD, 0, 0);
    refresh(0);
    solve(x[0], b, 1e-18);
    clover_part(x[0], quarks[1]);
    free(b);
  }
  free(x[0]);
}

/* ---- the same by the native interface, on one rank: p = sum_a p_a lambda_a / 2, so that its unit of time is half of
 * tmLQCD's; links without phases, antiperiodic quarks ---- */

enum { PHI, X, Y };
static int natively;
static plaq_solver native_solver;

/* Multiplies vectors by exp(+-i pi t / T), which takes phases on all slices to an antiperiodic boundary and back. */
static void turn_slices(spinor *v, int sign) {
  int i, x[4];
  for (i = 0; i < 12 * volume; i++) {
    coordinates(i / 12, x);
    *at(v, i) *= cexp(sign * I * acos(-1) * x[3] / global[3]);
  }
}

static void native_open(void) {
  const double back[4] = {0, 0, 0, -1}, forth[4] = {0, 0, 0, 1};
  PLAQ_INIT(plaq_dirac_params, quark);
  quark.normalisation = PLAQ_NORMALISATION_KAPPA;
  PLAQ_INIT(plaq_solver_params, solver);
  PLAQ_INIT(plaq_layout_params, layout);
  quark.kappa = now->kappa, quark.csw = now->csw, quark.mu = form.mu;
  phases(back);
  open_native(now->beta, now->c1, &quark);
  phases(forth);
  OK(plaq_momentum_load(native.momentum, PLAQ_MOMENTUM_TEN, PLAQ_SITE_ORDER_LEXICOGRAPHIC, 2, momenta));
  solver.solver = PLAQ_SOLVER_CG, solver.solution = PLAQ_SOLUTION_PPDAG, solver.system = PLAQ_SYSTEM_ODD_ASYMMETRIC;
  solver.tol = 1e-10;
  OK(plaq_solver_create(native.dirac, &solver, &native_solver));
  turn_slices(quarks[0], 1);
  OK(plaq_spinor_load(native.vector[PHI], &layout, quarks[0]));
  turn_slices(quarks[0], -1);
}

static void native_solve(void) {
  PLAQ_INIT(plaq_solve_report, report);
  OK(plaq_dirac_update(native.dirac, native.gauge));
  OK(plaq_solver_solve(native_solver, native.vector[X], native.vector[PHI], NULL, NULL, &report, NULL));
  CHECK(report.converged);
}

static void native_kick(int level, double step) {
  const double minus = -1;
  if (!level) {
    OK(plaq_gauge_force(native.gauge, &native.action, native.momentum, step, NULL));
    return;
  }
  native_solve();
  OK(plaq_dirac_apply(native.dirac, PLAQ_SYSTEM_ODD_ASYMMETRIC, PLAQ_FORM_MDAG, native.vector[Y], native.vector[X]));
  OK(plaq_dirac_schur_force(native.dirac, PLAQ_SYSTEM_ODD_ASYMMETRIC, native.momentum, step, native.vector[Y], native.vector[X], &minus, 1,
                      now->clover ? -1 : 0));
}

/* The Hamiltonian of the native interface, minus ln |det A|^2. */
static double native_hamiltonian(void) {
  double kinetic_part, gauge_part, quark_part[2] = {0, 0};
  OK(plaq_momentum_kinetic(native.momentum, &kinetic_part));
  OK(plaq_gauge_action(native.gauge, &native.action, &gauge_part));
  if (now->kind == DETERMINANT) {
    native_solve();
    OK(plaq_spinor_dot(native.vector[PHI], native.vector[X], quark_part, 1));
  }
  return kinetic_part + gauge_part + quark_part[0];
}

/* ---- trajectories: second order, minimal norm, links inside of quarks ---- */

static void drift(double step) {
  int i;
  if (natively) {
    OK(plaq_gauge_evolve(native.gauge, native.momentum, 2 * step));
    return;
  }
  for (i = 0; i < 4 * volume; i++) links[i] = mul(exponential(step, momenta + 10 * (size_t)i), links[i]);
  stale = 1;
}

static void kick(int level, double step) {
  int i;
  if (natively) {
    native_kick(level, 2 * step);
    return;
  }
  if (level) quark_part();
  else gauge_part();
  for (i = 0; i < 40 * volume; i++) momenta[i] -= step * force[i];
}

static void integrate(int level, int steps, double tau) {
  const double lambda = 0.19, step = tau / steps;
  int n, half;
  kick(level, lambda * step);
  for (n = 0; n < steps; n++)
    for (half = 0; half < 2; half++) {
      if (level) integrate(0, now->inner, step / 2);
      else drift(step / 2);
      kick(level, (half == 0 ? 1 - 2 * lambda : n == steps - 1 ? lambda : 2 * lambda) * step);
    }
}

static void trajectory(int refine, double tau) {
  if (now->kind == LINKS) integrate(0, refine * now->inner, tau);
  else integrate(1, refine * now->outer, tau);
}

/* Random numbers with normal distribution of variance 1. */
static double normal(uint64_t a, uint64_t b) {
  return sqrt(-2 * log((noise(a, 2 * b) + 1) / 2)) * cos(acos(-1) * noise(a, 2 * b + 1));
}

static void heat_bath(void) {
  int i, k, n;
  for (i = 0; i < 4 * volume; i++) {
    double p[8], *m = momenta + 10 * (size_t)i;
    for (k = 0; k < 8; k++) p[k] = normal(91827 + k, i);
    m[0] = p[1], m[1] = p[0], m[2] = p[4], m[3] = p[3], m[4] = p[6], m[5] = p[5];
    m[6] = p[2] + p[7] / sqrt(3), m[7] = -p[2] + p[7] / sqrt(3), m[8] = -2 * p[7] / sqrt(3), m[9] = 0;
  }
  for (n = 0; n < MONOMIALS; n++) {
    for (i = 0; i < entries(); i++) *at(quarks[n], i) = (normal(100 + n, 2 * i) + I * normal(100 + n, 2 * i + 1)) / sqrt(2);
    keep(quarks[n], ODD);
  }
}

/* Pseudofermions from noise eta: P eta, or for the ratio P2^-1 P eta. Returns |eta|^2, the action less the determinant.
 * */
static double pseudofermions(void) {
  spinor *eta = vector();
  double sum = 0;
  if (now->kind == DETERMINANT || now->kind == RATIO) {
    sum += creal(product(quarks[0], quarks[0]));
    memcpy(eta, quarks[0], entries() / 12 * sizeof *eta);
    operate(quarks[0], eta, ODD, 0, 0);
    sum -= now->clover ? log_det() : 0;
  }
  if (now->kind == RATIO) {
    sum += creal(product(quarks[1], quarks[1]));
    form.rho = 0;
    operate(eta, quarks[1], ODD, 0, 0);
    refresh(now->rho);
    solve(quarks[1], eta, 1e-20);
    memcpy(eta, quarks[1], entries() / 12 * sizeof *eta);
    operate(quarks[1], eta, ODD, 0, 1);
  }
  free(eta);
  return sum;
}

static void turn_back(void) {
  int i;
  for (i = 0; i < 40 * volume; i++) momenta[i] = -momenta[i];
}

static double links_apart(const matrix *others) {
  double apart = 0;
  int i, k;
  for (i = 0; i < 4 * volume; i++)
    for (k = 0; k < 9; k++) apart = fmax(apart, cabs(links[i].e[k / 3][k % 3] - others[i].e[k / 3][k % 3]));
  return apart;
}

/* Checks R P P^dagger R phi = phi, up to the error of R. */
static void inverse_root(void) {
  spinor *once = apply_rational(quarks[0], NULL, 1e-20), *t = vector(), *image = vector(), *twice;
  double error = 2.1 * function.error;
  int i;
  operate(t, once, ODD, 0, 1), operate(image, t, ODD, 0, 0);
  twice = apply_rational(image, NULL, 1e-20);
  if (now->below > 0)
    error = fmax(error, fabs(pow(value_at(&function, now->below), 2) * now->below / now->spectrum[1] - 1));
  for (i = 0; i < entries(); i++) *at(twice, i) /= now->spectrum[1];
  CLOSE(distance(twice, quarks[0]), 0, error);
  free(once), free(t), free(image), free(twice);
}

/* Delta H of the trajectory by the native interface; `links` become those at its end. */
static double native_change(void) {
  const double forth[4] = {0, 0, 0, 1};
  double change, determinant;
  PLAQ_INIT(plaq_layout_params, layout);
  stale = 1, refresh(0);
  determinant = now->clover ? log_det() : 0;
  native_open(), natively = 1;
  change = -native_hamiltonian();
  trajectory(1, now->tau);
  change += native_hamiltonian();
  natively = 0;
  OK(plaq_gauge_save(native.gauge, &layout, links));
  phases(forth);
  stale = 1, refresh(0);
  OK(plaq_context_destroy(native.context));
  return change - (now->clover ? log_det() - determinant : 0);
}

static void replay(const trajectory_pair *q) {
  const size_t count = 4 * (size_t)volume;
  matrix *before = room(count * sizeof *before), *after = room(count * sizeof *after);
  double *start = room(10 * count * sizeof *start), h, off[2];
  int refine;
  now = q, stale = 1;
  memcpy(before, links, count * sizeof *before);
  if (q->kind == RATIONAL) set_rational();
  refresh(q->rho);
  heat_bath();
  h = pseudofermions();
  if (q->kind == DETERMINANT || q->kind == RATIO) CLOSE(quark_action(), h, 1e-9 * volume);
  if (q->kind == RATIONAL) inverse_root();
  memcpy(start, momenta, 10 * count * sizeof *start);
  h = hamiltonian();
  for (refine = brief ? 1 : 2; refine > 0; refine--) {
    memcpy(links, before, count * sizeof *before), memcpy(momenta, start, 10 * count * sizeof *start);
    stale = 1;
    trajectory(refine, q->tau);
    off[refine - 1] = hamiltonian() - h;
  }
  memcpy(after, links, count * sizeof *after);
  turn_back();
  trajectory(1, q->tau);
  printf("%s: H %.3f, changes by %.3e, with half of the steps %.3e; back to %.1e\n", q->name, h, off[0], brief ? 0 : off[1], links_apart(before));
  CHECK(fabs(off[0]) < 10 * q->off);
  if (!brief) CHECK(off[0] / off[1] > 2.5 && off[0] / off[1] < 8);
  CLOSE(links_apart(before), 0, 1e-9);
  CLOSE(hamiltonian(), h, 1e-11 * h);
  memcpy(links, before, count * sizeof *before);
  if (ranks[0] * ranks[1] * ranks[2] * ranks[3] == 1 && (q->kind == LINKS || q->kind == DETERMINANT)) {
    memcpy(momenta, start, 10 * count * sizeof *start);
    CLOSE(native_change(), off[0], 1e-10 * h);
    CLOSE(links_apart(after), 0, 5e-9);
    memcpy(links, before, count * sizeof *before);
  }
  free(before), free(after), free(start);
}

int main(int argc, char **argv) {
  size_t i;
  int n;
  join(&argc, &argv);
  open_lattice(4);
  momenta = room(40 * (size_t)volume * sizeof *momenta), force = room(40 * (size_t)volume * sizeof *force);
  form.flavours = 2;
  for (n = 0; n < MONOMIALS; n++) quarks[n] = vector();
  for (i = 0; i < COUNT(TRAJECTORIES); i += brief ? 2 : 1) replay(&TRAJECTORIES[i]);
  for (n = 0; n < MONOMIALS; n++) free(quarks[n]);
  free(momenta), free(force);
  close_lattice();
  leave();
  return 0;
}
