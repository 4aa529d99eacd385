/* How multigrid smooths and solves its levels: options --mg-... of the examples (docs/multigrid.md). */
#ifndef CYCLE_H
#define CYCLE_H

static const choice CYCLES[] = {{"v", PLAQ_CYCLE_V}, {"w", PLAQ_CYCLE_W}, {"k", PLAQ_CYCLE_K}, {NULL, 0}};
static const choice DEEP_CYCLES[] = {
    {"same", -1}, {"v", PLAQ_CYCLE_V}, {"w", PLAQ_CYCLE_W}, {"k", PLAQ_CYCLE_K}, {NULL, 0}};
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
static const choice CYCLE_LINKS[] = {{"auto", 0},
                                     {"single", PLAQ_PRECISION_SINGLE},
                                     {"half", PLAQ_PRECISION_HALF},
                                     {"quarter", PLAQ_PRECISION_QUARTER},
                                     {NULL, 0}};

static const choice SETUP_SOLVERS[] = {{"bicgstab", PLAQ_SETUP_BICGSTAB},
                                       {"cg", PLAQ_SETUP_CG},
                                       {"gcr", PLAQ_SETUP_GCR},
                                       {NULL, 0}};

typedef struct cycle_options {
  int32_t cycle, deep_cycle, smoother, coarse_smoother, post, coarse_post, coarsest, modes, precision, links;
  int32_t vectors, setup, setup_solver, setup_columns, refinements, iterations, levels;
  int32_t aggregate[4][4]; /* 0: as the lattice suggests */
  double tol, coarsest_tol;
} cycle_options;

/* Aggregates x,y,z,t of levels from the finest on, with colons between. */
static void aggregate_list(const char *text, int32_t aggregate[4][4]) {
  int level = 0, used = 0;
  memset(aggregate, 0, 16 * sizeof(int32_t));
  if (!*text) return;
  for (;; level++, text += used + 1) {
    int32_t *a = level < 4 ? aggregate[level] : NULL;
    if (!a || sscanf(text, "%d,%d,%d,%d%n", a, a + 1, a + 2, a + 3, &used) != 4 || a[0] < 1 || a[1] < 1 || a[2] < 1 || a[3] < 1 ||
        (text[used] && text[used] != ':'))
      usage_error("--mg-aggregate", "expected x,y,z,t of up to 4 levels, with colons between");
    if (!text[used]) return;
  }
}

static cycle_options read_cycle(int argc, char **argv) {
  cycle_options c;
  c.cycle = choose(argc, argv, "--mg-cycle", "k", CYCLES);
  c.deep_cycle = choose(argc, argv, "--mg-deep-cycle", "same", DEEP_CYCLES);
  c.smoother = choose(argc, argv, "--mg-smoother", "ca-gcr", SMOOTHERS);
  c.coarse_smoother = choose(argc, argv, "--mg-coarse-smoother", "ca-gcr", SMOOTHERS);
  c.post = integer32(argc, argv, "--mg-post", "10");
  c.coarse_post = integer32(argc, argv, "--mg-coarse-post", "0");
  c.precision = choose(argc, argv, "--mg-precision", "auto", CYCLE_PRECISIONS);
  c.links = choose(argc, argv, "--mg-links", "auto", CYCLE_LINKS);
  c.coarsest = choose(argc, argv, "--mg-coarsest", "ca-gcr", COARSEST);
  c.modes = strcmp(option(argc, argv, "--mg-modes", "-1"), "-1") ? integer32(argc, argv, "--mg-modes", NULL) : -1;
  c.vectors = integer32(argc, argv, "--mg-vectors", "0");
  c.setup = integer32(argc, argv, "--mg-setup", "20");
  c.setup_solver = choose(argc, argv, "--mg-setup-solver", "bicgstab", SETUP_SOLVERS);
  c.setup_columns = integer32(argc, argv, "--mg-setup-columns", "8");
  c.levels = integer32(argc, argv, "--mg-levels", "0");
  aggregate_list(option(argc, argv, "--mg-aggregate", ""), c.aggregate);
  c.refinements = integer32(argc, argv, "--mg-refinements", "3");
  c.iterations = integer32(argc, argv, "--mg-iterations", "8");
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
  for (k = 0; k < 4; k++) {
    if (c->vectors > 0) build->level[k].vectors = c->vectors;
    build->level[k].post = k > 0 && c->coarse_post > 0 ? c->coarse_post : c->post;
    memcpy(build->level[k].block, c->aggregate[k], sizeof build->level[k].block);
  }
  build->smoother_precision = c->precision;
  build->link_precision = c->links;
  build->coarsest = c->coarsest;
  build->coarsest_modes = c->modes;
  build->levels = c->levels;
  build->setup_iterations = c->setup;
  build->setup_solver = c->setup_solver;
  build->setup_columns = c->setup_columns;
  build->refinements = c->refinements;
  build->iterations = c->iterations;
  build->tol = c->tol;
  build->coarsest_tol = c->coarsest_tol;
}

#endif
