/* The Laplacian of colour vectors and spinors: known spectrum, solves, shifts along paths, and misuse. */
#define FEW_CALLS
#include "lattice.h"

enum { COLOUR = 6 * VOLUME };

static plaq_spinor vectors(plaq_context context, int spins, const double *values) {
  int extents[4] = {LX, LY, LZ, LT}, mu;
  plaq_spinor_params p;
  plaq_spinor spinor;
  OK(plaq_spinor_params_init(&p, sizeof p));
  for (mu = 0; mu < 4; mu++) p.extents[mu] = extents[mu];
  p.spins = spins;
  OK(plaq_spinor_create(context, &p, &spinor));
  if (values != NULL) OK(plaq_spinor_load(spinor, NULL, values));
  return spinor;
}

static plaq_dirac laplacian(plaq_context context, plaq_gauge gauge, int spins, int directions, double mass2) {
  plaq_laplace_params p;
  plaq_dirac dirac;
  OK(plaq_laplace_params_init(&p, sizeof p));
  p.mass2 = mass2, p.directions = directions, p.spins = spins;
  OK(plaq_dirac_create_laplace(context, gauge, &p, &dirac));
  return dirac;
}

/* On unit links the lowest modes of each time slice are constant, one for each colour; then come those with the least
 * momentum, of eigenvalue 2 - 2 cos(2 pi / 4) = 2: two momenta in x and two in y. */
static void spectrum(plaq_context context) {
  double *links = unit_links(), values[5 * 3 * LT];
  plaq_gauge gauge = new_gauge(context, links);
  plaq_dirac dirac = laplacian(context, gauge, 1, 7, 1.0);
  plaq_eigen_params p;
  plaq_eigen_report r;
  plaq_eigen eigen;
  int i, zero = 3 * LT;
  OK(plaq_eigen_params_init(&p, sizeof p));
  OK(plaq_eigen_report_init(&r, sizeof r));
  p.count = 3 * LT + 6, p.block = 4;
  if (brief()) p.max_restarts = 1;
  OK(plaq_eigen_create(dirac, &p, (plaq_spinor){0}, NULL, NULL, &eigen, &r));
  CHECK(r.converged || brief());
  OK(plaq_eigen_values(eigen, values, NULL, NULL, r.count));
  for (i = 0; i < r.count && !brief(); i++) CHECK(fabs(values[i] - (i < zero ? 1.0 : 3.0)) < 1e-8);
  OK(plaq_eigen_destroy(eigen));

  /* The modes of each slice by itself: three constant ones and two more. */
  p.count = 5, p.time_slices = 1;
  OK(plaq_eigen_create(dirac, &p, (plaq_spinor){0}, NULL, NULL, &eigen, &r));
  CHECK(r.count == 5 && (r.converged || brief()));
  /* The fifth eigenvalue is 12-fold, and the iteration holds ten of its vectors. */
  CHECK(r.restarts < 30);
  OK(plaq_eigen_values(eigen, values, NULL, NULL, 5 * LT));
  for (i = 0; i < 5 * LT && !brief(); i++) CHECK(fabs(values[i] - (i % 5 < 3 ? 1.0 : 3.0)) < 1e-7);
  REFUSED(PLAQ_INVALID_ARGUMENT, "count", plaq_eigen_values(eigen, values, NULL, NULL, 5));
  REFUSED(PLAQ_UNSUPPORTED, "time slices", plaq_eigen_write(eigen, "modes.lime"));
  OK(plaq_eigen_destroy(eigen));
  OK(plaq_dirac_destroy(dirac));
  dirac = laplacian(context, gauge, 1, 15, 1.0);
  REFUSED(PLAQ_UNSUPPORTED, "time_slices", plaq_eigen_create(dirac, &p, (plaq_spinor){0}, NULL, NULL, &eigen, NULL));
  OK(plaq_dirac_destroy(dirac));
  OK(plaq_gauge_destroy(gauge));
  free(links);
}

/* Solves with every system: M x of the solution is the source. */
static void solves(plaq_context context, int spins) {
  const int size = COLOUR * spins;
  double *links = random_links(), *source = random_numbers(size);
  plaq_gauge gauge = new_gauge(context, links);
  plaq_dirac dirac = laplacian(context, gauge, spins, 15, 0.5);
  plaq_spinor b = vectors(context, spins, source), x = vectors(context, spins, NULL), y = vectors(context, spins, NULL);
  plaq_dirac_report d;
  plaq_solver_params p;
  OK(plaq_dirac_report_init(&d, sizeof d));
  OK(plaq_dirac_describe(dirac, &d));
  CHECK(fabs(d.mass - sqrt(0.5)) < 1e-15);
  OK(plaq_solver_params_init(&p, sizeof p));
  p.solver = PLAQ_SOLVER_CG;
  solve_every_system(dirac, p, x, y, b, source, size, 1e-9);
  OK(plaq_spinor_destroy(b));
  OK(plaq_spinor_destroy(x));
  OK(plaq_spinor_destroy(y));
  OK(plaq_dirac_destroy(dirac));
  OK(plaq_gauge_destroy(gauge));
  free(links), free(source);
}

/* Steps forward and back give the vector again. */
static void shifts(plaq_context context) {
  double *links = random_links(), *values = random_numbers(COLOUR), *back = numbers(COLOUR);
  plaq_gauge gauge = new_gauge(context, links);
  plaq_spinor x = vectors(context, 1, values), y = vectors(context, 1, NULL), z = vectors(context, 1, NULL);
  const int32_t there[] = {0, 3, 6}, home[] = {1, 4, 7}, up[] = {1}, bad[] = {8};
  int i;
  OK(plaq_spinor_shift(y, gauge, there, 3, x));
  OK(plaq_spinor_shift(z, gauge, home, 3, y));
  OK(plaq_spinor_save(z, NULL, back));
  for (i = 0; i < COLOUR; i++) CHECK(fabs(back[i] - values[i]) < 1e-13);
  REFUSED(PLAQ_BAD_PARAMETER, "steps", plaq_spinor_shift(y, gauge, bad, 1, x));
  REFUSED(PLAQ_BAD_PARAMETER, "length", plaq_spinor_shift(y, gauge, up, 0, x));
  OK(plaq_spinor_destroy(x));
  OK(plaq_spinor_destroy(y));
  OK(plaq_spinor_destroy(z));
  OK(plaq_gauge_destroy(gauge));
  free(links), free(values), free(back);
}

/* Colour vectors are refused as spinors, and so are objects made for one operator by another one. */
static void misuse(plaq_context context) {
  double *links = unit_links();
  plaq_gauge gauge = new_gauge(context, links);
  plaq_dirac dirac = laplacian(context, gauge, 1, 7, 1.0), none = {0};
  plaq_spinor colour = vectors(context, 1, NULL), other = vectors(context, 1, NULL), spinor = vectors(context, 4, NULL);
  plaq_laplace_params p;
  plaq_spinor_params s;
  plaq_multigrid_params m;
  plaq_multigrid multigrid;
  OK(plaq_laplace_params_init(&p, sizeof p));
  p.directions = 0;
  REFUSED(PLAQ_BAD_PARAMETER, "directions", plaq_dirac_create_laplace(context, gauge, &p, &none));
  p.directions = 7, p.spins = 2;
  REFUSED(PLAQ_INVALID_ARGUMENT, "spins", plaq_dirac_create_laplace(context, gauge, &p, &none));
  p.spins = 1, p.mass2 = NAN;
  REFUSED(PLAQ_BAD_PARAMETER, "mass", plaq_dirac_create_laplace(context, gauge, &p, &none));
  OK(plaq_spinor_params_init(&s, sizeof s));
  s.extents[0] = s.extents[1] = s.extents[2] = s.extents[3] = 4, s.spins = 3;
  REFUSED(PLAQ_INVALID_ARGUMENT, "spins", plaq_spinor_create(context, &s, &other));
  REFUSED(PLAQ_FIELD_MISMATCH, "y", plaq_dirac_apply(dirac, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, spinor, colour));
  REFUSED(PLAQ_FIELD_MISMATCH, "x", plaq_dirac_apply(dirac, PLAQ_SYSTEM_FULL, PLAQ_FORM_M, colour, spinor));
  OK(plaq_multigrid_params_init(&m, sizeof m));
  REFUSED(PLAQ_UNSUPPORTED, "Wilson", plaq_multigrid_create(dirac, &m, NULL, NULL, &multigrid));
  OK(plaq_spinor_destroy(colour));
  OK(plaq_spinor_destroy(spinor));
  OK(plaq_dirac_destroy(dirac));
  OK(plaq_gauge_destroy(gauge));
  free(links);
}

int main(void) {
  plaq_context context = cpu_context();
  spectrum(context);
  solves(context, 1);
  solves(context, 4);
  shifts(context);
  misuse(context);
  OK(plaq_context_destroy(context));
  return 0;
}
