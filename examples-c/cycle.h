/* How multigrid smooths and solves its levels: options --mg-... of the examples (docs/multigrid.md). */
#ifndef CYCLE_H
#define CYCLE_H

static const choice CYCLES[] = {{"same", -1}, {"v", PLAQ_CYCLE_V}, {"w", PLAQ_CYCLE_W}, {"k", PLAQ_CYCLE_K}, {NULL, 0}};
static const choice SMOOTHERS[] = {{"mr", PLAQ_SMOOTHER_MR},
                                   {"gcr", PLAQ_SMOOTHER_GCR},
                                   {"ca-gcr", PLAQ_SMOOTHER_CA_GCR},
                                   {"richardson", PLAQ_SMOOTHER_RICHARDSON},
                                   {"schwarz", PLAQ_SMOOTHER_SCHWARZ_ADDITIVE},
                                   {"red-black", PLAQ_SMOOTHER_SCHWARZ_MULTIPLICATIVE},
                                   {NULL, 0}};
static const choice COARSEST[] = {{"gcr", PLAQ_COARSEST_GCR},
                                  {"ca-gcr", PLAQ_COARSEST_CA_GCR},
                                  {"bicgstab", PLAQ_COARSEST_BICGSTAB},
                                  {"direct", PLAQ_COARSEST_DIRECT},
                                  {NULL, 0}};

static const choice CYCLE_PRECISIONS[] = {
    {"auto", 0}, {"single", PLAQ_PRECISION_SINGLE}, {"half", PLAQ_PRECISION_HALF}, {NULL, 0}};

typedef struct cycle_options {
  int32_t cycle, deep_cycle, smoother, coarse_smoother, post, coarse_post, coarsest, modes, precision, links;
  int32_t vectors, setup, refinements, iterations;
  double tol, coarsest_tol;
} cycle_options;

static cycle_options read_cycle(int argc, char **argv) {
  cycle_options c;
  c.cycle = choose(argc, argv, "--mg-cycle", "k", CYCLES + 1);
  c.deep_cycle = choose(argc, argv, "--mg-deep-cycle", "same", CYCLES);
  c.smoother = choose(argc, argv, "--mg-smoother", "ca-gcr", SMOOTHERS);
  c.coarse_smoother = choose(argc, argv, "--mg-coarse-smoother", "ca-gcr", SMOOTHERS);
  c.post = (int32_t)integer(argc, argv, "--mg-post", "10");
  c.coarse_post = (int32_t)integer(argc, argv, "--mg-coarse-post", "0");
  c.precision = choose(argc, argv, "--mg-precision", "auto", CYCLE_PRECISIONS);
  c.links = choose(argc, argv, "--mg-links", "auto", CYCLE_PRECISIONS);
  c.coarsest = choose(argc, argv, "--mg-coarsest", "ca-gcr", COARSEST);
  c.modes = (int32_t)integer(argc, argv, "--mg-modes", "-1");
  c.vectors = (int32_t)integer(argc, argv, "--mg-vectors", "0");
  c.setup = (int32_t)integer(argc, argv, "--mg-setup", "20");
  c.refinements = (int32_t)integer(argc, argv, "--mg-refinements", "3");
  c.iterations = (int32_t)integer(argc, argv, "--mg-iterations", "8");
  c.tol = number(argc, argv, "--mg-tol", "0.25");
  c.coarsest_tol = number(argc, argv, "--mg-coarsest-tol", "0.25");
  return c;
}

static void apply_cycle(const cycle_options *c, plaq_multigrid_params *build) {
  int k;
  build->cycle = c->cycle;
  build->deep_cycle = c->deep_cycle;
  build->smoother = c->smoother;
  build->coarse_smoother = c->coarse_smoother;
  build->post = c->post;
  build->coarse_post = c->coarse_post;
  build->smoother_precision = c->precision;
  build->link_precision = c->links;
  build->coarsest = c->coarsest;
  build->coarsest_modes = c->modes;
  for (k = 0; k < 4; k++) build->vectors[k] = c->vectors;
  build->setup_iterations = c->setup;
  build->refinements = c->refinements;
  build->iterations = c->iterations;
  build->tol = c->tol;
  build->coarsest_tol = c->coarsest_tol;
}

#endif
