/* Traces, action and force of closed paths against sums of the reference's products of links. */
#include <complex.h>

#include "lattice.h"
#include "reference.h"

typedef double complex number;
typedef struct {
  number e[3][3];
} matrix;

enum { PATHS = 3, MAX_STEPS = 6 };
static const int32_t steps[] = {0, 1, 7, 6, 2, 3, 3, 5, 4, 4, 3, 0, 6, 4, 7, 1};
static const int32_t lengths[PATHS] = {4, 6, 6};
static const double coefficients[PATHS] = {1.5, -0.25, 0.4};
static const int32_t extents[4] = {LX, LY, LZ, LT};

static matrix along(const double *links, int site, const int32_t *path, int length) {
  matrix m;
  reference_path(extents, links, site, path, (size_t)length, (double *)&m);
  return m;
}

int main(void) {
  plaq_context context = cpu_context();
  double *links = random_links(), *p = numbers(LINKS), traces[2 * PATHS], action, expected = 0;
  plaq_gauge_params gp = gauge_params();
  plaq_gauge gauge;
  plaq_momentum momentum;
  plaq_force_report report;
  const double step = 0.3;
  double size = 0;
  int32_t images[16 * MAX_STEPS], wrong[4] = {0, 1, 7, 7};
  int64_t count;
  int l, at, site, mu, k, i, j;
  gp.storage = PLAQ_STORAGE_SU3_18;
  OK(plaq_gauge_create(context, &gp, &gauge));
  OK(plaq_gauge_load(gauge, NULL, links));

  OK(plaq_gauge_path_traces(gauge, steps, lengths, PATHS, traces));
  OK(plaq_gauge_path_action(gauge, steps, lengths, coefficients, PATHS, &action));
  for (l = at = 0; l < PATHS; at += lengths[l++]) {
    number sum = 0;
    for (site = 0; site < VOLUME; site++) {
      const matrix m = along(links, site, steps + at, lengths[l]);
      sum += m.e[0][0] + m.e[1][1] + m.e[2][2];
    }
    CHECK(fabs(traces[2 * l] - creal(sum)) < 1e-10 && fabs(traces[2 * l + 1] - cimag(sum)) < 1e-10);
    expected += coefficients[l] * (VOLUME - creal(sum) / 3);
  }
  CHECK(fabs(action - expected) < 1e-10);

  /* F = (W - W^dagger) / 12 i without its trace, W the sum of the loops that begin with the link, in either
   * sense, with their coefficients. */
  OK(plaq_momentum_create(gauge, &momentum));
  OK(plaq_force_report_init(&report, sizeof report));
  OK(plaq_gauge_path_force(gauge, steps, lengths, coefficients, PATHS, momentum, step, &report));
  OK(plaq_momentum_save(momentum, PLAQ_MOMENTUM_MATRICES, PLAQ_SITE_ORDER_LEXICOGRAPHIC, 1, p));
  for (site = 0; site < VOLUME; site += 5)
    for (mu = 0; mu < 4; mu++) {
      matrix w = {{{0}}};
      number third;
      for (l = at = 0; l < PATHS; at += lengths[l++])
        for (k = 0; k < lengths[l]; k++) {
          const int n = lengths[l], forward = steps[at + k] < 4;
          int32_t turned[MAX_STEPS];
          matrix m;
          if ((forward ? steps[at + k] : 7 - steps[at + k]) != mu) continue;
          for (i = 0; i < n; i++)
            turned[i] = forward ? steps[at + (k + i) % n] : 7 - steps[at + (k - i + n) % n];
          m = along(links, site, turned, n);
          for (i = 0; i < 9; i++) w.e[i / 3][i % 3] += coefficients[l] * m.e[i / 3][i % 3];
        }
      third = I * cimag(w.e[0][0] + w.e[1][1] + w.e[2][2]) / 3;
      for (i = 0; i < 3; i++)
        for (j = 0; j < 3; j++) {
          const number f = ((w.e[i][j] - conj(w.e[j][i])) / 2 - (i == j ? third : 0)) / 6;
          const double *found = p + 18 * (4 * site + mu) + 6 * i + 2 * j;
          CHECK(cabs(found[0] + I * found[1] + step * f) < 1e-12);
        }
    }
  /* |F|^2 = 2 tr F^2, in the report and in the momenta. */
  for (i = 0; i < LINKS; i++) size += 2 * p[i] * p[i] / (step * step);
  CHECK(fabs(report.rms - sqrt(size / (4 * VOLUME))) < 1e-12);

  OK(plaq_path_images(steps, 4, images, 16, &count));
  CHECK(count == 6);
  REFUSED(PLAQ_BAD_PARAMETER, "path", plaq_gauge_path_traces(gauge, wrong, lengths, 1, traces));
  OK(plaq_momentum_destroy(momentum));
  OK(plaq_gauge_destroy(gauge));
  OK(plaq_context_destroy(context));
  free(links), free(p);
  return 0;
}
