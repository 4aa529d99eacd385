/* QDP++'s random numbers and the fields that Chroma makes of them. */
#ifndef QDP_H
#define QDP_H

#include "lattice.h"

/* ---- QDP++'s random numbers: of a field's site number i the generator's step i + 1 from a common place, which every
 * field moves on by one more step than there are sites ---- */

static const uint64_t MASK = (UINT64_C(1) << 47) - 1;
static uint64_t generator;

/* The integer of four parts with twelve bits each. */
static inline uint64_t parts(uint64_t a, uint64_t b, uint64_t c, uint64_t d) { return ((a << 12 | b) << 12 | c) << 12 | d; }

/* Between 0 and 1; in single precision, from the lowest part on. */
static double uniform(uint64_t z) {
  const float a = (float)(z & 4095) / 4096, b = ((float)(z >> 12 & 4095) + a) / 4096;
  return ((float)(z >> 36) + ((float)(z >> 24 & 4095) + b) / 4096) / 2048;
}

static void random_field(double *to) {
  const uint64_t factor = parts(1222, 1498, 712, 1645);
  uint64_t here = generator;
  int site;
  for (site = 0; site < volume; site++) {
    here = here * factor & MASK;
    to[site] = uniform(here);
  }
  generator = here * factor & MASK;
}

/* Products of three SU(2) matrices in subgroups of colours 01, 12 and 02, near 1. */
static void weak_field(uint64_t seed) {
  const int row[3] = {0, 1, 0}, column[3] = {1, 2, 2};
  const double width = 0.04 * acos(-1), half = 1 / sqrt(2);
  double *angle[2] = {room(volume * sizeof(double)), room(volume * sizeof(double))};
  int mu, k, site, i;
  generator = seed;
  for (mu = 0; mu < 4; mu++) {
    const matrix unit = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (site = 0; site < volume; site++) links[4 * site + mu] = unit;
    for (k = 0; k < 3; k++) {
      for (i = 0; i < 2; i++) random_field(angle[i]);
      for (site = 0; site < volume; site++) {
        const double a = width * angle[0][site], b = width * angle[1][site];
        matrix u = unit;
        u.e[row[k]][row[k]] = half * (cos(a) + I * sin(b)), u.e[row[k]][column[k]] = half * (cos(b) + I * sin(a));
        u.e[column[k]][row[k]] = half * (-cos(b) + I * sin(a)), u.e[column[k]][column[k]] = half * (cos(a) - I * sin(b));
        links[4 * site + mu] = mul(links[4 * site + mu], u);
      }
    }
  }
  free(angle[0]), free(angle[1]);
}

/* One step of stout smearing in all directions. */
static inline void stout(double rho) {
  const double alpha[3] = {rho};
  matrix *out = room(4 * (size_t)volume * sizeof *out);
  reference_smear(global, (const double *)links, REFERENCE_STOUT, alpha, 15, (double *)out);
  memcpy(links, out, 4 * (size_t)volume * sizeof *out);
  free(out);
}

/* Normal numbers of variance 1: real parts of two fields of uniform complex ones, `count` to a site, give both parts. */
static inline void normal_field(number *to, int count) {
  double *radius = room(count * (size_t)volume * sizeof *radius), *angle = room(volume * sizeof *angle);
  int n, i, site;
  for (n = 0; n < 2; n++)
    for (i = 0; i < count; i++) {
      random_field(angle);
      for (site = 0; site < volume; site++)
        if (n == 0) radius[count * site + i] = sqrt(-2 * log(angle[site]));
        else to[count * site + i] = radius[count * site + i] * cexp(I * 6.283185307 * angle[site]);
      random_field(angle);
    }
  free(radius), free(angle);
}

#endif
