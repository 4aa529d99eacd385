/* Smearing of spinors and links, against loops over sites. */
#include <complex.h>

#include "lattice.h"

typedef double complex number;
typedef struct {
  number e[3][3];
} matrix;

static const int extents[4] = {LX, LY, LZ, LT};

/* The neighbour of a site; sites are numbered with x fastest. */
static int next(int site, int mu, int forward) {
  int x[4], k, l, n = site;
  for (k = 0; k < 4; k++) x[k] = n % extents[k], n /= extents[k];
  l = extents[mu];
  x[mu] = (x[mu] + (forward ? 1 : l - 1)) % l;
  return ((x[3] * LZ + x[2]) * LY + x[1]) * LX + x[0];
}

static matrix link_of(const double *links, int site, int mu) {
  matrix u;
  memcpy(&u, links + 18 * (4 * site + mu), sizeof u);
  return u;
}

static matrix product(matrix a, matrix b) {
  matrix c;
  int i, j;
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++) c.e[i][j] = a.e[i][0] * b.e[0][j] + a.e[i][1] * b.e[1][j] + a.e[i][2] * b.e[2][j];
  return c;
}

static matrix adjoint(matrix a) {
  matrix c;
  int i, j;
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++) c.e[i][j] = conj(a.e[j][i]);
  return c;
}

static matrix sum(matrix a, number f, matrix b) {
  int i, j;
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++) a.e[i][j] += f * b.e[i][j];
  return a;
}

static number trace(matrix a) { return a.e[0][0] + a.e[1][1] + a.e[2][2]; }

static const matrix unit = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

static double largest(matrix a) {
  double worst = 0;
  int i, j;
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++) worst = fmax(worst, cabs(a.e[i][j]));
  return worst;
}

/* Sum of a link's staples in the planes of these directions. */
static matrix staples(const double *links, int site, int mu, int directions) {
  matrix s = {{{0}}};
  int nu;
  for (nu = 0; nu < 4; nu++) {
    int up = next(site, nu, 1), down = next(site, nu, 0), ahead = next(site, mu, 1);
    if (nu == mu || !(directions >> nu & 1)) continue;
    s = sum(s, 1, product(product(link_of(links, site, nu), link_of(links, up, mu)), adjoint(link_of(links, ahead, nu))));
    s = sum(s, 1, product(product(adjoint(link_of(links, down, nu)), link_of(links, down, mu)),
                          link_of(links, next(down, mu, 1), nu)));
  }
  return s;
}

static void smear(plaq_gauge gauge, int kind, const double alpha[3], int directions, int steps) {
  PLAQ_INIT(plaq_gauge_smear_params, p);
  p.kind = kind, p.directions = directions, p.steps = steps;
  memcpy(p.alpha, alpha, sizeof p.alpha);
  OK(plaq_gauge_smear(gauge, &p));
}

/* Projects W = V h exp(i phase) to V in SU(3), h hermitian and positive. */
static void check_projection(matrix v, matrix w) {
  matrix vv = sum(product(adjoint(v), v), -1, unit), h = product(adjoint(v), w);
  number t = trace(h);
  int i;
  CHECK(largest(vv) < 1e-13);
  h = product(h, (matrix){{{conj(t) / cabs(t), 0, 0}, {0, conj(t) / cabs(t), 0}, {0, 0, conj(t) / cabs(t)}}});
  CHECK(largest(sum(h, -1, adjoint(h))) < 1e-12);
  for (i = 0; i < 3; i++) CHECK(creal(h.e[i][i]) > 0);
}

static void gauge_fields(plaq_context context, const double *links) {
  static const double ape[3] = {0.4, 0, 0}, stout[3] = {0.08, 0, 0};
  const int masks[2] = {7, 15};
  double *found = numbers(LINKS), *twice = numbers(LINKS), *hyp = numbers(LINKS);
  int k, site, mu;
  for (k = 0; k < 2; k++) {
    int directions = masks[k], planes = k ? 6 : 4;
    plaq_gauge gauge = new_gauge(context, links);
    smear(gauge, PLAQ_SMEARING_APE, ape, directions, 1);
    OK(plaq_gauge_save(gauge, NULL, found));
    for (site = 0; site < VOLUME; site++)
      for (mu = 0; mu < 4; mu++) {
        matrix v = link_of(found, site, mu), u = link_of(links, site, mu), w;
        if (!(directions >> mu & 1)) {
          CHECK(largest(sum(v, -1, u)) == 0);
          continue;
        }
        w = sum(product(u, (matrix){{{0.6, 0, 0}, {0, 0.6, 0}, {0, 0, 0.6}}}), 0.4 / planes,
                staples(links, site, mu, directions));
        check_projection(v, w);
      }
    /* HYP smearing whose inner levels change nothing equals APE smearing in all directions. */
    if (directions == 15) {
      plaq_gauge other = new_gauge(context, links);
      smear(other, PLAQ_SMEARING_HYP, ape, 15, 1);
      OK(plaq_gauge_save(other, NULL, hyp));
      CHECK(distance(hyp, found, LINKS) < 1e-13);
      OK(plaq_gauge_destroy(other));
    }
    OK(plaq_gauge_load(gauge, NULL, links));
    smear(gauge, PLAQ_SMEARING_STOUT, stout, directions, 1);
    OK(plaq_gauge_save(gauge, NULL, found));
    for (site = 0; site < VOLUME; site++)
      for (mu = 0; mu < 4; mu++) {
        matrix u = link_of(links, site, mu), q = {{{0}}}, term = unit, all = unit;
        int n;
        if (directions >> mu & 1) {
          matrix c = product(staples(links, site, mu, directions), adjoint(u));
          q = sum(sum(q, 0.5, c), -0.5, adjoint(c));
          q = sum(q, -trace(q) / 3, unit);
        }
        for (n = 1; n < 30; n++) {
          term = product(term, sum((matrix){{{0}}}, stout[0] / n, q));
          all = sum(all, 1, term);
        }
        CHECK(largest(sum(link_of(found, site, mu), -1, product(all, u))) < 1e-13);
      }
    /* Two steps equal one step of links smeared by one step. */
    smear(gauge, PLAQ_SMEARING_STOUT, stout, directions, 1);
    OK(plaq_gauge_save(gauge, NULL, found));
    OK(plaq_gauge_load(gauge, NULL, links));
    smear(gauge, PLAQ_SMEARING_STOUT, stout, directions, 2);
    OK(plaq_gauge_save(gauge, NULL, twice));
    CHECK(distance(found, twice, LINKS) < 1e-14);
    OK(plaq_gauge_destroy(gauge));
  }
  free(found), free(twice), free(hyp);
}

static void spinors(plaq_context context, const double *links) {
  enum { NRHS = 2, STEPS = 3 };
  const double alpha = 0.7;
  const int masks[2] = {7, 15};
  double *start = random_numbers(NRHS * SPINOR), *found = numbers(NRHS * SPINOR);
  number *now = malloc(NRHS * SPINOR * sizeof(double)), *new = malloc(NRHS * SPINOR * sizeof(double));
  plaq_gauge gauge = new_gauge(context, links);
  int k, step, rhs, site, mu, spin, i, j;
  for (k = 0; k < 2; k++) {
    plaq_spinor spinor = new_spinor(context, NRHS, start);
    const double norm = 1 / (1 + 2 * (k ? 4 : 3) * alpha);
    PLAQ_INIT(plaq_spinor_smear_params, p);
    p.alpha = alpha, p.steps = STEPS, p.directions = masks[k];
    OK(plaq_spinor_smear(spinor, gauge, &p));
    OK(plaq_spinor_save(spinor, NULL, found));
    memcpy(now, start, NRHS * SPINOR * sizeof(double));
    for (step = 0; step < STEPS; step++) {
      for (rhs = 0; rhs < NRHS; rhs++)
        for (site = 0; site < VOLUME; site++)
          for (spin = 0; spin < 4; spin++)
            for (i = 0; i < 3; i++) {
              number *at = now + rhs * SPINOR / 2, h = 0;
              for (mu = 0; mu < 4; mu++) {
                int up = next(site, mu, 1), down = next(site, mu, 0);
                matrix u = link_of(links, site, mu), d = link_of(links, down, mu);
                if (!(masks[k] >> mu & 1)) continue;
                for (j = 0; j < 3; j++) {
                  h += u.e[i][j] * at[12 * up + 3 * spin + j];
                  h += conj(d.e[j][i]) * at[12 * down + 3 * spin + j];
                }
              }
              new[rhs * SPINOR / 2 + 12 * site + 3 * spin + i] = norm * (at[12 * site + 3 * spin + i] + alpha * h);
            }
      memcpy(now, new, NRHS * SPINOR * sizeof(double));
    }
    CHECK(distance(found, (const double *)now, NRHS * SPINOR) < 1e-13);
    /* Impossible parameters leave the field as it is. */
    p.alpha = HUGE_VAL;
    REFUSED(PLAQ_BAD_PARAMETER, "alpha", plaq_spinor_smear(spinor, gauge, &p));
    p.alpha = alpha, p.directions = 16;
    REFUSED(PLAQ_BAD_PARAMETER, "directions", plaq_spinor_smear(spinor, gauge, &p));
    OK(plaq_spinor_save(spinor, NULL, (double *)new));
    CHECK(distance(found, (const double *)new, NRHS * SPINOR) == 0);
    OK(plaq_spinor_destroy(spinor));
  }
  OK(plaq_gauge_destroy(gauge));
  free(start), free(found), free(now), free(new);
}

int main(void) {
  plaq_context context = cpu_context();
  double *links = random_links();
  gauge_fields(context, links);
  spinors(context, links);
  free(links);
  OK(plaq_context_destroy(context));
  return 0;
}
