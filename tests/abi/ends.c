/* Counts that would keep a call from ever ending are refused, and the message names the largest. */
#include "lattice.h"

static plaq_gauge warm(plaq_context context) {
  plaq_gauge_params p = gauge_params();
  plaq_gauge gauge;
  OK(plaq_gauge_create(context, &p, &gauge));
  OK(plaq_gauge_warm(gauge, 4, 0.3));
  return gauge;
}

/* Checks that `call` refuses `value` of a member of the struct p, set by `init`, with these words. */
#define REFUSES(init, member, value, words, call) \
  do {                                            \
    init;                                         \
    p.member = value;                             \
    REFUSED(PLAQ_BAD_PARAMETER, words, call);     \
  } while (0)

static void multigrid(plaq_dirac dirac) {
  plaq_multigrid_params p;
  plaq_multigrid made = {7};
  int64_t bytes = 7;
#define MULTIGRID(member, value, words) \
  REFUSES(OK(plaq_multigrid_params_init(&p, sizeof p)), member, value, words, plaq_multigrid_create(dirac, &p, NULL, NULL, &made))
  MULTIGRID(level[0].pre, 10001, "pre: expected 0 to 10000, found 10001");
  MULTIGRID(level[0].post, INT32_MAX, "post: expected 0 to 10000, found 2147483647");
  MULTIGRID(iterations, 100001, "iterations: expected 1 to 100000");
  MULTIGRID(coarsest_iterations, INT32_MAX, "coarsest_iterations: expected 1 to 100000");
  MULTIGRID(setup_iterations, INT32_MAX, "setup_iterations: expected 1 to 100000");
  MULTIGRID(refinements, 10001, "refinements: expected 0 to 10000");
  MULTIGRID(gather, -2, "gather: expected 0 to 65536, or -1 for auto, found -2");
  MULTIGRID(gather, 65537, "gather: expected 0 to 65536, or -1 for auto, found 65537");
  MULTIGRID(setup_iterations, 0, "setup_iterations");
  MULTIGRID(refinements, -1, "refinements");
  REFUSED(PLAQ_BAD_PARAMETER, "refinements", plaq_multigrid_memory(dirac, &p, &bytes));
  CHECK(made.id == 7 && bytes == 7);
  OK(plaq_multigrid_params_init(&p, sizeof p));
  p.setup_iterations = 2, p.refinements = 0, p.level[0].vectors = p.level[1].vectors = p.level[2].vectors = 2, p.levels = 2;
  OK(plaq_multigrid_create(dirac, &p, NULL, NULL, &made));
  REFUSED(PLAQ_BAD_PARAMETER, "passes: expected 1 to 10000",
          plaq_multigrid_update(made, dirac, PLAQ_REFRESH_REFINE, INT32_MAX, NULL, NULL));
  EXPECT(PLAQ_INVALID_ARGUMENT, plaq_multigrid_update(made, dirac, PLAQ_REFRESH_REFINE, 0, NULL, NULL));
  OK(plaq_multigrid_destroy(made));
}

static void eigenvectors(plaq_dirac dirac) {
  plaq_eigen_params p;
  plaq_eigen made = {7};
  plaq_spinor none = {0};
#define EIGEN(init, member, value, words) \
  REFUSES(init, member, value, words, plaq_eigen_create(dirac, &p, none, NULL, NULL, &made, NULL))
#define LANCZOS OK(plaq_eigen_params_init(&p, sizeof p)); p.from = 1; p.to = 2
#define RITZ OK(plaq_eigen_params_init(&p, sizeof p)); p.method = PLAQ_EIGEN_RITZ
  EIGEN(LANCZOS, degree, 100001, "degree: expected 0 to 100000, found 100001");
  EIGEN(LANCZOS, degree, -1, "degree");
  EIGEN(LANCZOS, max_restarts, 1000001, "max_restarts: expected 1 to 1000000");
  EIGEN(LANCZOS, max_restarts, 0, "max_restarts");
  EIGEN(LANCZOS, tol, 1e-17, "tol: expected 0 or 1e-16 to below 1");
  EIGEN(RITZ, tol, 1e-300, "tol: expected 0 or 1e-16");
  EIGEN(LANCZOS, block, INT32_MAX, "block: expected 1 to");
  EIGEN(RITZ, max_restarts, INT32_MAX, "expected 1 to 1000000");
  EIGEN(LANCZOS, max_seconds, -1, "max_seconds: expected 0 or more, found -1");
  EIGEN(RITZ, max_seconds, NAN, "max_seconds");
  CHECK(made.id == 7);
}

static void overlap(plaq_context context, plaq_gauge gauge) {
  plaq_overlap_params p;
  plaq_overlap made = {7};
  plaq_spinor none = {0};
#define OVERLAP(member, value, words)                                                          \
  REFUSES(OK(plaq_overlap_params_init(&p, sizeof p)); p.delta = 1e-3; p.modes = 2, member, value, words, \
          plaq_overlap_create(context, gauge, &p, none, NULL, NULL, &made))
  OVERLAP(modes, 10001, "modes: expected 0 to 10000");
  OVERLAP(modes, -2, "modes");
  OVERLAP(most_modes, INT32_MAX, "most_modes: expected 1 to 10000");
  OVERLAP(max_degree, 20001, "max_degree: expected 1 to 20000");
  OVERLAP(max_degree, 0, "max_degree");
  OVERLAP(modes_tol, 1e-17, "modes_tol: expected 0 or 1e-16");
  OVERLAP(smearing_steps, 100001, "smearing_steps: expected 0 to 100000");
  OVERLAP(high_modes, 0, "high_modes");
  OVERLAP(max_restarts, 1000001, "max_restarts: expected 1 to 1000000");
  OVERLAP(max_seconds, -1, "max_seconds: expected 0 or more, found -1");
  CHECK(made.id == 7);
}

static void flow(plaq_gauge gauge) {
  plaq_flow_params p;
  plaq_plaquette before, after;
  int64_t count = 7;
  OK(plaq_gauge_plaquette(gauge, &before));
#define FLOW(until, member, value, words)                                                  \
  REFUSES(OK(plaq_flow_params_init(&p, sizeof p)); p.time = until, member, value, words, \
          plaq_gauge_flow(gauge, &p, NULL, NULL, NULL, NULL, 0, &count))
  FLOW(1e5, step, 0.02, "at most 1000000 steps, found 5000000");
  FLOW(1, step, 1e-300, "at most 1000000 steps");
  FLOW(0.1, tolerance, 1e-200, "tolerance");
  OK(plaq_gauge_plaquette(gauge, &after));
  CHECK(before.total == after.total && count == 7);
}

static void trajectories(plaq_gauge gauge) {
  static const char INPUT[] =
      "length = 0.5\n[[monomial]]\nname = \"gauge\"\ntype = \"gauge\"\naction = \"wilson\"\nbeta = 5.5\n"
      "[[level]]\nintegrator = \"omelyan2\"\nsteps = %d\nmonomials = [\"gauge\"]\n"
      "[[level]]\nintegrator = \"leapfrog\"\nsteps = %d\nmonomials = []\n";
  char text[512];
  plaq_hmc made = {7};
  snprintf(text, sizeof text, INPUT, 10001, 1);
  REFUSED(PLAQ_BAD_PARAMETER, "level 0: steps: expected 1 to 10000, found 10001", plaq_hmc_create(gauge, text, &made));
  snprintf(text, sizeof text, INPUT, 1, 0);
  REFUSED(PLAQ_BAD_PARAMETER, "level 1: steps: expected 1 to 10000, found 0", plaq_hmc_create(gauge, text, &made));
  snprintf(text, sizeof text, INPUT, 10000, 10000);
  REFUSED(PLAQ_BAD_PARAMETER, "link updates of a trajectory: expected 1 to 1000000, found 200000000",
          plaq_hmc_create(gauge, text, &made));
  CHECK(made.id == 7);
  snprintf(text, sizeof text, INPUT, 100, 10);
  OK(plaq_hmc_create(gauge, text, &made));
  OK(plaq_hmc_destroy(made));
}

int main(void) {
  plaq_context context = cpu_context();
  plaq_gauge gauge = warm(context);
  plaq_dirac_params dp;
  plaq_dirac dirac;
  OK(plaq_dirac_params_init(&dp, sizeof dp));
  dp.kappa = 0.115;
  OK(plaq_dirac_create(context, gauge, &dp, &dirac));
  multigrid(dirac);
  eigenvectors(dirac);
  overlap(context, gauge);
  OK(plaq_dirac_destroy(dirac));
  flow(gauge);
  trajectories(gauge);
  OK(plaq_context_destroy(context));
  return 0;
}
