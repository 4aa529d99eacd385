/* Momenta, gauge forces, trajectories and flows, and their misuse. */
#include "lattice.h"

static const char QUENCHED[] =
    "length = 0.5\nseed = 3\n[run]\nlattice = [4, 4, 4, 8]\nstart = \"hot\"\n"
    "[[monomial]]\nname = \"gauge\"\ntype = \"gauge\"\naction = \"wilson\"\nbeta = 5.5\n"
    "[[level]]\nintegrator = \"omelyan2\"\nsteps = 4\nmonomials = [\"gauge\"]\n";

static const char QUARKS[] =
    "length = 0.5\n[[monomial]]\nname = \"quarks\"\ntype = \"two_flavours\"\noperator = { mass = 0.3 }\n"
    "[[level]]\nintegrator = \"leapfrog\"\nsteps = 4\nmonomials = [\"quarks\"]\n";

/* A chain with one monomial of each kind. */
static const char EVERYTHING[] =
    "length = 0.1\nseed = 5\ntrajectory = 2\naccept_until = 9\nreversibility_every = 2\n"
    "[[monomial]]\nname = \"light\"\ntype = \"two_flavours\"\noperator = { kappa = 0.12, csw = 1.2, boundary = [0, 0, 0, 0.5] }\n"
    "preconditioner = { mass = 0.9, csw = 1.2 }\nsmearing = { rho = 0.1, levels = 1 }\n"
    "[monomial.solver]\nsolver = \"multigrid\"\ntolerance_force = 1e-7\nguesses = 2\n"
    "multigrid = { levels = 2, block = [[2, 2, 2, 2]], vectors = [4], post = 4, update = \"refine\", setup_iterations = 4 }\n"
    "[[monomial]]\nname = \"strange\"\ntype = \"one_flavour\"\noperator = { kappa = 0.11 }\nasymmetric = true\nparity = 1\n"
    "interval = [0.1, 4.0]\nerror_force = 1e-5\nerror_hamiltonian = 1e-7\ncheck_every = 0\nsolver = { sloppy_precision = \"single\" }\n"
    "[[monomial]]\nname = \"heavy\"\ntype = \"doublet\"\noperator = { kappa = 0.11, csw = 1.1, mu = 0.2, epsilon = 0.15 }\n"
    "interval = [0.1, 4.0]\nerror_force = 1e-5\nerror_hamiltonian = 1e-7\ncheck_every = 0\nsolver = { sloppy_precision = \"single\" }\n"
    "[[monomial]]\nname = \"loops\"\ntype = \"loops\"\nimages = false\n"
    "loops = [{ path = \"x y z -x -y -z\", coefficient = 0.4 }, { path = \"t x -t -x\", coefficient = -0.2 }]\n"
    "[[monomial]]\nname = \"gauge\"\ntype = \"gauge\"\naction = \"rectangle\"\nbeta = 5.0\nc1 = -0.125\n"
    "[[level]]\nintegrator = \"leapfrog\"\nsteps = 1\nmonomials = [\"light\", \"strange\", \"heavy\"]\n"
    "[[level]]\nintegrator = \"force_gradient\"\nsteps = 1\nmonomials = [\"loops\", \"gauge\"]\n";

/* Two flavours whose twisted masses stand on the sites of the Schur complement alone: a ratio, and a determinant. */
static const char TWISTED[] =
    "length = 0.2\nseed = 5\n"
    "[[monomial]]\nname = \"light\"\ntype = \"two_flavours\"\nasymmetric = true\n"
    "operator = { kappa = 0.12, csw = 1.2, mu_schur = 0.1 }\npreconditioner = { kappa = 0.12, csw = 1.2, mu_schur = 0.4 }\n"
    "[[monomial]]\nname = \"heavy\"\ntype = \"two_flavours\"\nasymmetric = true\nparity = 1\n"
    "operator = { kappa = 0.12, csw = 1.2, mu = 0.1, mu_schur = -0.4 }\n"
    "[[monomial]]\nname = \"gauge\"\ntype = \"gauge\"\naction = \"wilson\"\nbeta = 5.0\n"
    "[[level]]\nintegrator = \"omelyan2\"\nsteps = 2\nmonomials = [\"light\", \"heavy\", \"gauge\"]\n";

static plaq_gauge some_gauge(plaq_context context) {
  plaq_gauge_params p = gauge_params();
  plaq_gauge gauge;
  OK(plaq_gauge_create(context, &p, &gauge));
  return gauge;
}

/* openQCD's eight numbers for each link give its matrices times sqrt(2). */
static void openqcd(plaq_momentum p, plaq_momentum q, const double *matrices, double kinetic) {
  double *eight = numbers(32 * VOLUME), *again = numbers(32 * VOLUME), rest, worst = 0;
  const int order = PLAQ_SITE_ORDER_EVEN_ODD, form = PLAQ_MOMENTUM_OPENQCD;
  int n, i;
  OK(plaq_momentum_save(p, form, order, sqrt(2.0), eight));
  for (n = 0; n < 4 * VOLUME; n++) {
    static const int place[] = {2, 3, 4, 5, 10, 11}; /* entries 01, 02, 12 */
    const double *c = eight + 8 * n, *m = matrices + 18 * n;
    worst = fmax(worst, fabs(m[1] - (c[0] + c[1])));
    worst = fmax(worst, fabs(m[9] - (c[1] - 2 * c[0])));
    worst = fmax(worst, fabs(m[17] - (c[0] - 2 * c[1])));
    for (i = 0; i < 6; i++) worst = fmax(worst, fabs(m[place[i]] - c[2 + i]));
  }
  CHECK(worst < 1e-13);
  OK(plaq_momentum_load(q, form, order, sqrt(2.0), eight));
  OK(plaq_momentum_save(q, form, order, sqrt(2.0), again));
  CHECK(distance(eight, again, 32 * VOLUME) < 1e-13);
  OK(plaq_momentum_add(q, -1, p, 1));
  OK(plaq_momentum_kinetic(q, &rest));
  CHECK(rest < 1e-24 * kinetic);
  /* The order of sites matters. Calls that are refused change nothing. */
  OK(plaq_momentum_load(q, form, PLAQ_SITE_ORDER_LEXICOGRAPHIC, sqrt(2.0), eight));
  OK(plaq_momentum_save(q, form, order, sqrt(2.0), again));
  CHECK(distance(eight, again, 32 * VOLUME) > 0.1);
  OK(plaq_momentum_load(q, form, order, sqrt(2.0), eight));
  again[31] = INFINITY;
  REFUSED(PLAQ_NOT_FINITE, "finite", plaq_momentum_load(q, form, order, 1, again));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_momentum_load(q, form, order, 0, eight));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_momentum_load(q, form, order, NAN, eight));
  EXPECT(PLAQ_NULL_POINTER, plaq_momentum_save(q, form, order, 1, NULL));
  OK(plaq_momentum_add(q, -1, p, 1));
  OK(plaq_momentum_kinetic(q, &rest));
  CHECK(rest < 1e-24 * kinetic);
  free(eight);
  free(again);
}

/* Arrays in single precision, and eight links on each odd site. */
static void single_arrays(plaq_momentum p, plaq_momentum q, double kinetic) {
  const int n = 32 * VOLUME, form = PLAQ_MOMENTUM_OPENQCD;
  double *wide = numbers(n), rest, apart = 0;
  float *narrow = malloc((size_t)n * sizeof *narrow);
  int order, i;
  CHECK(narrow != NULL);
  for (order = PLAQ_SITE_ORDER_LEXICOGRAPHIC; order <= PLAQ_SITE_ORDER_OPENQCD; order++) {
    OK(plaq_momentum_save(p, form, order, 2, wide));
    OK(plaq_momentum_save_in(p, form, order, PLAQ_PRECISION_SINGLE, 2, narrow));
    for (i = 0; i < n; i++) CHECK(narrow[i] == (float)wide[i]);
    OK(plaq_momentum_load_in(q, form, order, PLAQ_PRECISION_SINGLE, 2, narrow));
    OK(plaq_momentum_add(q, -1, p, 1));
    OK(plaq_momentum_kinetic(q, &rest));
    CHECK(rest > 0 && rest < 1e-13 * kinetic);
    OK(plaq_momentum_load_in(q, form, order, PLAQ_PRECISION_DOUBLE, 2, wide));
    OK(plaq_momentum_add(q, -1, p, 1));
    OK(plaq_momentum_kinetic(q, &rest));
    CHECK(rest < 1e-24 * kinetic);
  }
  /* The order of the numbers differs from both orders before. */
  OK(plaq_momentum_load(q, form, PLAQ_SITE_ORDER_EVEN_ODD, 2, wide));
  OK(plaq_momentum_add(q, -1, p, 1));
  OK(plaq_momentum_kinetic(q, &apart));
  CHECK(apart > 0.1 * kinetic);
  OK(plaq_momentum_add(q, 0, p, 1));
  narrow[5] = NAN;
  REFUSED(PLAQ_NOT_FINITE, "finite", plaq_momentum_load_in(q, form, 0, PLAQ_PRECISION_SINGLE, 1, narrow));
  REFUSED(PLAQ_INVALID_ARGUMENT, "half", plaq_momentum_load_in(q, form, 0, PLAQ_PRECISION_HALF, 1, narrow));
  REFUSED(PLAQ_INVALID_ARGUMENT, "precision", plaq_momentum_save_in(q, form, 0, 3, 1, narrow));
  EXPECT(PLAQ_NULL_POINTER, plaq_momentum_load_in(q, form, 0, PLAQ_PRECISION_SINGLE, 1, NULL));
  OK(plaq_momentum_add(q, -1, p, 1));
  OK(plaq_momentum_kinetic(q, &rest));
  CHECK(rest == 0);
  free(wide), free(narrow);
}

/* Computes H before and after a trajectory of leapfrog steps, by single functions. */
static void single_steps(plaq_context context) {
  plaq_gauge gauge = some_gauge(context), none = {0};
  plaq_momentum p, q;
  plaq_gauge_action_params action;
  plaq_force_report force;
  double s[2], k[2], correction, *ten = numbers(40 * VOLUME), *matrices = numbers(72 * VOLUME), twice;
  int n;
  OK(plaq_gauge_warm(gauge, 4, 0.4));
  OK(plaq_momentum_create(gauge, &p));
  OK(plaq_momentum_create(gauge, &q));
  OK(plaq_gauge_action_params_init(&action, sizeof action));
  OK(plaq_force_report_init(&force, sizeof force));
  REFUSED(PLAQ_BAD_PARAMETER, "beta", plaq_gauge_action(gauge, &action, s));
  action.beta = 5.5;
  OK(plaq_momentum_gaussian(p, 9, 0));
  OK(plaq_momentum_kinetic(p, k));
  CHECK(fabs(k[0] / (16.0 * VOLUME) - 1) < 0.05);
  OK(plaq_gauge_action(gauge, &action, s));
  OK(plaq_gauge_force(gauge, &action, p, 0.01, &force));
  CHECK(force.rms > 0 && force.max >= force.rms && force.iterations == 0);
  for (n = 0; n < 10; n++) {
    OK(plaq_gauge_evolve(gauge, p, 0.02));
    OK(plaq_gauge_force(gauge, &action, p, n < 9 ? 0.02 : 0.01, NULL));
  }
  OK(plaq_gauge_reunitarise(gauge, &correction));
  CHECK(correction < 1e-13);
  OK(plaq_momentum_kinetic(p, k + 1));
  OK(plaq_gauge_action(gauge, &action, s + 1));
  CHECK(fabs(s[1] - s[0]) > 1 && fabs(k[1] + s[1] - k[0] - s[0]) < 0.02 * fabs(s[1] - s[0]));

  /* Momenta are saved in one form and loaded in another. */
  OK(plaq_momentum_save(p, PLAQ_MOMENTUM_TEN, PLAQ_SITE_ORDER_EVEN_ODD, sqrt(2.0), ten));
  OK(plaq_momentum_save(p, PLAQ_MOMENTUM_MATRICES, PLAQ_SITE_ORDER_EVEN_ODD, sqrt(2.0), matrices));
  for (n = 0; n < 4 * VOLUME; n++) CHECK(ten[10 * n] == matrices[18 * n + 2] && ten[10 * n + 8] == matrices[18 * n + 17]);
  OK(plaq_momentum_load(q, PLAQ_MOMENTUM_TEN, PLAQ_SITE_ORDER_EVEN_ODD, sqrt(2.0), ten));
  OK(plaq_momentum_add(q, -1, p, 1));
  OK(plaq_momentum_kinetic(q, &twice));
  CHECK(twice < 1e-24 * k[1]);
  openqcd(p, q, matrices, k[1]);
  single_arrays(p, q, k[1]);
  OK(plaq_momentum_add(p, 1, p, 1));
  OK(plaq_momentum_kinetic(p, &twice));
  CHECK(fabs(twice / k[1] - 4) < 1e-12);
  ten[17] = NAN;
  REFUSED(PLAQ_NOT_FINITE, "finite", plaq_momentum_load(q, PLAQ_MOMENTUM_TEN, PLAQ_SITE_ORDER_EVEN_ODD, 1, ten));
  REFUSED(PLAQ_INVALID_ARGUMENT, "form", plaq_momentum_load(q, 7, PLAQ_SITE_ORDER_EVEN_ODD, 1, ten));
  REFUSED(PLAQ_INVALID_ARGUMENT, "order", plaq_momentum_load(q, PLAQ_MOMENTUM_TEN, 7, 1, ten));
  EXPECT(PLAQ_NULL_POINTER, plaq_momentum_load(q, PLAQ_MOMENTUM_TEN, PLAQ_SITE_ORDER_EVEN_ODD, 1, NULL));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_gauge_evolve(gauge, p, NAN));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_momentum_create(none, &p));
  OK(plaq_momentum_destroy(q));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_momentum_kinetic(q, &twice));
  free(ten);
  free(matrices);
}

static int32_t stop_at_two(int64_t number, double dh, int32_t accepted, double plaquette, int64_t iterations, double seconds,
                           void *user) {
  plaq_plaquette p;
  CHECK(fabs(dh) < 5 && accepted >= 0 && plaquette > 0 && iterations == 0 && seconds >= 0);
  EXPECT(PLAQ_BUSY, plaq_gauge_plaquette(*(plaq_gauge *)user, &p));
  return number == 1;
}

static void trajectories(plaq_context context) {
  plaq_context foreign = cpu_context();
  plaq_gauge gauge = some_gauge(context), again = some_gauge(context), far = some_gauge(foreign);
  plaq_hmc hmc, other, none = {0};
  plaq_hmc_report report, second;
  plaq_monomial_report monomial;
  plaq_plaquette p, q;
  char name[16];
  int64_t seed, number;
  int32_t found;
  double value;
  OK(plaq_gauge_warm(gauge, 4, 0.4));
  OK(plaq_hmc_report_init(&report, sizeof report));
  OK(plaq_hmc_report_init(&second, sizeof second));
  OK(plaq_monomial_report_init(&monomial, sizeof monomial));
  OK(plaq_hmc_create(gauge, QUENCHED, &hmc));
  OK(plaq_hmc_run(hmc, gauge, 5, stop_at_two, &gauge, &report));
  CHECK(report.trajectories == 2 && report.stopped == 1 && report.next_trajectory == 2 && report.reversibility_links == -1);
  OK(plaq_hmc_monomials(hmc, &number));
  CHECK(number == 1);
  number = -1;
  OK(plaq_hmc_memory(hmc, gauge, &number));
  CHECK(number >= 0);
  EXPECT(PLAQ_NULL_POINTER, plaq_hmc_memory(hmc, gauge, NULL));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_hmc_memory(none, gauge, &number));
  OK(plaq_hmc_monomial(hmc, 0, name, sizeof name, &monomial));
  CHECK(!strcmp(name, "gauge") && monomial.kicks == 9 && monomial.rms > 0);
  REFUSED(PLAQ_INVALID_ARGUMENT, "index", plaq_hmc_monomial(hmc, 1, name, sizeof name, &monomial));
  REFUSED(PLAQ_INVALID_ARGUMENT, "capacity", plaq_hmc_monomial(hmc, 0, name, 3, &monomial));

  /* A chain that is loaded from a checkpoint goes on bit for bit. */
  OK(plaq_hmc_write(hmc, gauge, "chain.lime"));
  OK(plaq_hmc_run(hmc, gauge, 2, NULL, NULL, &report));
  OK(plaq_hmc_create(again, QUENCHED, &other));
  OK(plaq_hmc_read(other, again, "chain.lime"));
  OK(plaq_hmc_place(other, &seed, &number));
  CHECK(seed == 3 && number == 2);
  OK(plaq_hmc_run(other, again, 2, NULL, NULL, &second));
  OK(plaq_gauge_plaquette(gauge, &p));
  OK(plaq_gauge_plaquette(again, &q));
  CHECK(p.total == q.total && report.delta_h == second.delta_h);
  OK(plaq_hmc_set_place(other, 3, 0));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_hmc_set_place(other, 3, -1));
  EXPECT(PLAQ_FILE_OPEN, plaq_hmc_read(other, again, "not-there.lime"));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_hmc_run(other, again, 0, NULL, NULL, NULL));

  /* Quarks need memory during a trajectory; links of another context are refused. */
  OK(plaq_hmc_create(gauge, QUARKS, &other));
  OK(plaq_hmc_memory(other, gauge, &number));
  CHECK(number > (int64_t)(SPINOR * sizeof(double)));
  EXPECT(PLAQ_WRONG_CONTEXT, plaq_hmc_memory(other, far, &number));
  OK(plaq_hmc_destroy(other));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_hmc_memory(other, gauge, &number));
  OK(plaq_context_destroy(foreign));

  REFUSED(PLAQ_INVALID_ARGUMENT, "lenght", plaq_hmc_create(gauge, "lenght = 1", &other));
  EXPECT(PLAQ_NULL_POINTER, plaq_hmc_create(gauge, NULL, &other));
  OK(plaq_input_number(QUENCHED, "run.lattice.3", 0, &value, &found));
  CHECK(value == 8 && found == 1);
  OK(plaq_input_number(QUENCHED, "run.lattice.4", -1, &value, &found));
  CHECK(value == -1 && found == 0);
  OK(plaq_input_text(QUENCHED, "run.start", name, sizeof name, &found));
  CHECK(!strcmp(name, "hot") && found == 1);
  REFUSED(PLAQ_INVALID_ARGUMENT, "number", plaq_input_number(QUENCHED, "run.start", 0, &value, &found));
  OK(plaq_input_check(QUENCHED, "run", "start trajectories lattice"));
  OK(plaq_input_check(QUENCHED, "stop", ""));
  REFUSED(PLAQ_INVALID_ARGUMENT, "run.start: expected one of lattice, trajectories",
          plaq_input_check(QUENCHED, "run", "lattice trajectories"));
  OK(plaq_input_check_run(QUENCHED));
  OK(plaq_input_check_run("length = 1"));
  REFUSED(PLAQ_INVALID_ARGUMENT, "line 2: run.save_evry", plaq_input_check_run("[run]\nsave_evry = 2"));
  REFUSED(PLAQ_INVALID_ARGUMENT, "did you mean save_every?", plaq_input_check_run("[run]\nsave_evry = 2"));
  OK(plaq_hmc_destroy(hmc));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_hmc_run(hmc, gauge, 1, NULL, NULL, NULL));
}

/* The same chain, set up by functions instead of text. */
static plaq_hmc_parts everything(plaq_gauge gauge) {
  const int32_t steps[] = {0, 1, 2, 7, 6, 5, 3, 0, 4, 7}, lengths[] = {6, 4};
  const double coefficients[] = {0.4, -0.2};
  plaq_hmc_parts parts;
  plaq_hmc_params params;
  plaq_quarks_params quarks;
  plaq_dirac_params dirac, heavy;
  plaq_multigrid_params multigrid;
  plaq_gauge_action_params action;
  int k;
  OK(plaq_hmc_params_init(&params, sizeof params));
  OK(plaq_dirac_params_init(&dirac, sizeof dirac));
  OK(plaq_dirac_params_init(&heavy, sizeof heavy));
  OK(plaq_quarks_params_init(&quarks, sizeof quarks));
  OK(plaq_multigrid_params_init(&multigrid, sizeof multigrid));
  OK(plaq_gauge_action_params_init(&action, sizeof action));
  params.length = 0.1;
  params.seed = 5;
  params.trajectory = 2;
  params.accept_until = 9;
  params.reversibility_every = 2;
  OK(plaq_hmc_parts_create(gauge, &params, &parts));
  action.beta = 5;
  REFUSED(PLAQ_INVALID_ARGUMENT, "a level comes before", plaq_hmc_parts_add_gauge(parts, "gauge", &action));

  OK(plaq_hmc_parts_add_level(parts, PLAQ_INTEGRATOR_LEAPFROG, 1));
  dirac.kappa = 0.12;
  heavy.mass = 0.9;
  dirac.csw = heavy.csw = 1.2;
  dirac.boundary[3] = 0.5;
  quarks.smearing_rho = 0.1;
  quarks.smearing_levels = 1;
  quarks.multigrid = 1;
  quarks.tolerance_force = 1e-7;
  quarks.guesses = 2;
  quarks.refresh = PLAQ_REFRESH_REFINE;
  multigrid.levels = 2;
  for (k = 0; k < 4; k++) multigrid.level[0].block[k] = 2;
  multigrid.level[0].vectors = 4;
  multigrid.level[0].post = 4;
  multigrid.setup_iterations = 4;
  OK(plaq_hmc_parts_add_quarks(parts, "light", &quarks, &dirac, &heavy, &multigrid));
  quarks.flavours = 3;
  REFUSED(PLAQ_BAD_PARAMETER, "flavours", plaq_hmc_parts_add_quarks(parts, "three", &quarks, &dirac, NULL, NULL));
  OK(plaq_quarks_params_init(&quarks, sizeof quarks));
  OK(plaq_dirac_params_init(&dirac, sizeof dirac));
  dirac.kappa = 0.11;
  quarks.flavours = 1;
  quarks.system = PLAQ_SYSTEM_ODD_ASYMMETRIC;
  quarks.sloppy_precision = PLAQ_PRECISION_SINGLE;
  quarks.interval[0] = 0.1;
  quarks.interval[1] = 4;
  quarks.error_force = 1e-5;
  quarks.error_hamiltonian = 1e-7;
  quarks.check_every = 0;
  REFUSED(PLAQ_UNSUPPORTED, "preconditioner", plaq_hmc_parts_add_quarks(parts, "strange", &quarks, &dirac, &heavy, NULL));
  OK(plaq_hmc_parts_add_quarks(parts, "strange", &quarks, &dirac, NULL, NULL));
  quarks.epsilon = 0.15;
  REFUSED(PLAQ_BAD_PARAMETER, "epsilon", plaq_hmc_parts_add_quarks(parts, "heavy", &quarks, &dirac, NULL, NULL));
  quarks.flavours = 2;
  quarks.system = PLAQ_SYSTEM_EVEN_SYMMETRIC;
  dirac.csw = 1.1;
  dirac.mu = 0.2;
  OK(plaq_hmc_parts_add_quarks(parts, "heavy", &quarks, &dirac, NULL, NULL));

  OK(plaq_hmc_parts_add_level(parts, PLAQ_INTEGRATOR_FORCE_GRADIENT, 1));
  OK(plaq_hmc_parts_add_paths(parts, "loops", steps, lengths, coefficients, 2));
  action.action = PLAQ_GAUGE_ACTION_RECTANGLE;
  action.c1 = -0.125;
  OK(plaq_hmc_parts_add_gauge(parts, "gauge", &action));
  REFUSED(PLAQ_BAD_PARAMETER, "name: expected one that no other monomial has, found gauge",
          plaq_hmc_parts_add_gauge(parts, "gauge", &action));
  return parts;
}

/* The chain of TWISTED. Masses on the sites of the Schur complement alone are refused where there are none. */
static plaq_hmc_parts twisted(plaq_gauge gauge) {
  plaq_hmc_parts parts;
  plaq_hmc_params params;
  plaq_quarks_params quarks;
  plaq_dirac_params dirac;
  plaq_gauge_action_params action;
  OK(plaq_hmc_params_init(&params, sizeof params));
  OK(plaq_dirac_params_init(&dirac, sizeof dirac));
  OK(plaq_quarks_params_init(&quarks, sizeof quarks));
  OK(plaq_gauge_action_params_init(&action, sizeof action));
  params.length = 0.2;
  params.seed = 5;
  OK(plaq_hmc_parts_create(gauge, &params, &parts));
  OK(plaq_hmc_parts_add_level(parts, PLAQ_INTEGRATOR_OMELYAN2, 2));
  dirac.kappa = 0.12;
  dirac.csw = 1.2;
  quarks.mu_schur[0] = 0.1;
  quarks.mu_schur[1] = 0.4;
  REFUSED(PLAQ_BAD_PARAMETER,
          "mu_schur: expected 0, or an asymmetric Schur complement, found 0.1 and 0.4 with PLAQ_SYSTEM_EVEN_SYMMETRIC",
          plaq_hmc_parts_add_quarks(parts, "light", &quarks, &dirac, &dirac, NULL));
  quarks.system = PLAQ_SYSTEM_EVEN_ASYMMETRIC;
  REFUSED(PLAQ_BAD_PARAMETER, "mu_schur[1]: expected 0 without a preconditioner, found 0.4",
          plaq_hmc_parts_add_quarks(parts, "light", &quarks, &dirac, NULL, NULL));
  quarks.multigrid = 1;
  REFUSED(PLAQ_BAD_PARAMETER, "mu_schur: expected 0, or CG and an asymmetric Schur complement, found 0.1 and 0.4 with multigrid",
          plaq_hmc_parts_add_quarks(parts, "light", &quarks, &dirac, &dirac, NULL));
  quarks.multigrid = 0;
  OK(plaq_hmc_parts_add_quarks(parts, "light", &quarks, &dirac, &dirac, NULL));
  quarks.mu_schur[1] = -INFINITY;
  REFUSED(PLAQ_BAD_PARAMETER, "mu_schur[1]: expected a finite number, found -inf",
          plaq_hmc_parts_add_quarks(parts, "heavy", &quarks, &dirac, &dirac, NULL));
  quarks.mu_schur[0] = NAN;
  quarks.mu_schur[1] = 0;
  REFUSED(PLAQ_BAD_PARAMETER, "mu_schur[0]: expected a finite number, found NaN",
          plaq_hmc_parts_add_quarks(parts, "heavy", &quarks, &dirac, NULL, NULL));
  quarks.mu_schur[0] = -0.4;
  quarks.system = PLAQ_SYSTEM_ODD_ASYMMETRIC;
  dirac.mu = 0.1;
  quarks.epsilon = 0.15;
  REFUSED(PLAQ_BAD_PARAMETER, "mu_schur: expected 0, or two flavours of the same mass, found -0.4 and 0 with a doublet",
          plaq_hmc_parts_add_quarks(parts, "heavy", &quarks, &dirac, NULL, NULL));
  quarks.epsilon = 0;
  quarks.flavours = 1;
  REFUSED(PLAQ_BAD_PARAMETER, "mu_schur: expected 0, or two flavours of the same mass, found -0.4 and 0 with one flavour",
          plaq_hmc_parts_add_quarks(parts, "heavy", &quarks, &dirac, NULL, NULL));
  quarks.flavours = 2;
  OK(plaq_hmc_parts_add_quarks(parts, "heavy", &quarks, &dirac, NULL, NULL));
  action.beta = 5;
  OK(plaq_hmc_parts_add_gauge(parts, "gauge", &action));
  return parts;
}

/* A chain in parts is that of a text: it has the same energies and links bit for bit. */
static void the_same_chain(plaq_context context, const char *text, plaq_hmc_parts (*described)(plaq_gauge)) {
  plaq_gauge gauge = some_gauge(context), again = some_gauge(context);
  plaq_hmc by_text, in_parts, none = {0};
  plaq_hmc_report one, other;
  plaq_monomial_report m, n;
  plaq_hmc_parts parts;
  double *links = numbers(LINKS), *same = numbers(LINKS);
  int64_t count, k;
  char name[16], like[16];
  OK(plaq_gauge_warm(gauge, 4, 0.4));
  OK(plaq_gauge_warm(again, 4, 0.4));
  OK(plaq_hmc_report_init(&one, sizeof one));
  OK(plaq_hmc_report_init(&other, sizeof other));
  OK(plaq_monomial_report_init(&m, sizeof m));
  OK(plaq_monomial_report_init(&n, sizeof n));
  OK(plaq_hmc_create(gauge, text, &by_text));
  parts = described(again);
  OK(plaq_hmc_create_from(parts, &in_parts));
  REFUSED(PLAQ_INVALID_ARGUMENT, "a chain was made", plaq_hmc_create_from(parts, &none));
  if (!brief()) {
    OK(plaq_hmc_run(by_text, gauge, 1, NULL, NULL, &one));
    OK(plaq_hmc_run(in_parts, again, 1, NULL, NULL, &other));
    CHECK(one.delta_h == other.delta_h && one.plaquette == other.plaquette && one.iterations == other.iterations);
    CHECK(one.reversibility_links == other.reversibility_links && (one.reversibility_links >= 0) == (text == EVERYTHING));
    CHECK(fabs(one.delta_h) < 0.5);
    OK(plaq_hmc_monomials(by_text, &count));
    for (k = 0; k < count; k++) {
      OK(plaq_hmc_monomial(by_text, k, name, sizeof name, &m));
      OK(plaq_hmc_monomial(in_parts, k, like, sizeof like, &n));
      CHECK(!strcmp(name, like) && m.rms > 0 && m.rms == n.rms);
      CHECK(m.action_start == n.action_start && m.action_end == n.action_end && m.action_end != m.action_start);
    }
    OK(plaq_gauge_save(gauge, NULL, links));
    OK(plaq_gauge_save(again, NULL, same));
    CHECK(distance(links, same, LINKS) == 0);
  }
  OK(plaq_hmc_parts_destroy(parts));
  OK(plaq_hmc_destroy(by_text));
  OK(plaq_hmc_destroy(in_parts));
  OK(plaq_gauge_destroy(gauge));
  OK(plaq_gauge_destroy(again));
  free(links), free(same);
}

static void chains_in_parts(plaq_context context) {
  plaq_gauge gauge = some_gauge(context);
  plaq_hmc none = {0};
  plaq_hmc_parts parts, zero = {0};
  the_same_chain(context, EVERYTHING, everything);
  the_same_chain(context, TWISTED, twisted);
  OK(plaq_hmc_parts_destroy(zero));

  /* Parts that do not make a chain are not changed by the failure. */
  OK(plaq_hmc_parts_create(gauge, NULL, &parts));
  REFUSED(PLAQ_INVALID_ARGUMENT, "integrator", plaq_hmc_parts_add_level(parts, 9, 1));
  OK(plaq_hmc_parts_add_level(parts, PLAQ_INTEGRATOR_OMELYAN2, 0));
  REFUSED(PLAQ_BAD_PARAMETER, "steps", plaq_hmc_create_from(parts, &none));
  REFUSED(PLAQ_BAD_PARAMETER, "steps", plaq_hmc_create_from(parts, &none));
  EXPECT(PLAQ_BAD_PARAMETER, plaq_hmc_parts_add_gauge(parts, "gauge", NULL));
  OK(plaq_hmc_parts_destroy(parts));
  EXPECT(PLAQ_INVALID_HANDLE, plaq_hmc_create_from(parts, &none));
}

static int32_t end(double time, double t2e, double charge, void *user) {
  (void)charge;
  CHECK(t2e >= 0);
  return time > *(double *)user;
}

static void flows(plaq_context context) {
  plaq_gauge gauge = some_gauge(context);
  plaq_flow_params params;
  plaq_flow_report report;
  plaq_flow_point points[4];
  int64_t count;
  double limit = 0.03;
  OK(plaq_gauge_warm(gauge, 4, 0.4));
  OK(plaq_flow_params_init(&params, sizeof params));
  OK(plaq_flow_report_init(&report, sizeof report));
  REFUSED(PLAQ_BAD_PARAMETER, "time", plaq_gauge_flow(gauge, &params, NULL, NULL, &report, points, 4, &count));
  params.time = 0.1;
  params.every = 2;
  OK(plaq_gauge_flow(gauge, &params, NULL, NULL, &report, points, 4, &count));
  CHECK(report.steps == 5 && count == 4 && report.stopped == 0 && fabs(report.time - 0.1) < 1e-14);
  CHECK(points[0].time == 0 && points[3].plaquette_spatial > points[0].plaquette_spatial);
  params.kind = PLAQ_FLOW_ZEUTHEN;
  params.every = 1;
  OK(plaq_gauge_flow(gauge, &params, end, &limit, &report, NULL, 0, &count));
  CHECK(report.stopped == 1 && report.steps == 2 && count == 3);
  params.kind = 9;
  REFUSED(PLAQ_INVALID_ARGUMENT, "kind", plaq_gauge_flow(gauge, &params, NULL, NULL, &report, NULL, 0, &count));
}

/* Links far outside of the group, which a step takes out of range. */
static void refused_flow(plaq_context context) {
  plaq_gauge gauge = some_gauge(context);
  plaq_layout_params layout;
  plaq_flow_params params;
  double *links = random_links(), *back = numbers(LINKS);
  int64_t count = 7;
  int i;
  for (i = 0; i < LINKS; i++) links[i] *= 1e20;
  OK(plaq_layout_params_init(&layout, sizeof layout));
  layout.tolerance = -1;
  OK(plaq_gauge_load(gauge, &layout, links));
  OK(plaq_flow_params_init(&params, sizeof params));
  params.time = 0.1;
  REFUSED(PLAQ_NOT_FINITE, "not finite", plaq_gauge_flow(gauge, &params, NULL, NULL, NULL, NULL, 0, &count));
  OK(plaq_gauge_save(gauge, NULL, back));
  CHECK(count == 7 && distance(links, back, LINKS) == 0);
  free(links), free(back);
}

int main(void) {
  plaq_context context = cpu_context();
  single_steps(context);
  trajectories(context);
  chains_in_parts(context);
  flows(context);
  refused_flow(context);
  OK(plaq_context_destroy(context));
  return 0;
}
