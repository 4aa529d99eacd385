/* A host's own code: a lattice that every rank holds as a whole, this rank's part of it in MILC's order, and what the
 * library is compared with, of which the operator and plaquettes are those of the reference of all tests. */
#ifndef LATTICE_H
#define LATTICE_H

#include "check.h"
#include "reference.h"

#include <complex.h>
#include <math.h>
#include <stdint.h>
#ifdef CLIENT_MPI
#include <mpi.h>
#endif

typedef double complex number;
typedef struct {
  number e[3][3];
} matrix;
typedef struct {
  number d[4][3];
} spinor;

/* Complex number i of an array of spinors: site slowest, then spin, colour fastest. */
static inline number *at(const spinor *v, int i) { return (number *)&v[i / 12].d[i % 12 / 3][i % 3]; }

static int global[4], ranks[4] = {1, 1, 1, 1}, place[4], local[4], volume, own;
/* Links of the whole lattice, 4 site + direction, x fastest. */
static matrix *links;
/* The gammas of DeGrand and Rossi and gamma5, [row][column]. */
static number gammas[5][4][4];

#ifdef CLIENT_MPI
/* Sets the place of this rank in the process grid of PLAQ_TEST_GRID; ranks run fastest in the first direction of
 * `order`. */
static inline int join_grid(int *argc, char ***argv, const int *order) {
  const char *grid = getenv("PLAQ_TEST_GRID");
  int rank, rest, k;
  CHECK(MPI_Init(argc, argv) == MPI_SUCCESS);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(grid && sscanf(grid, "%d,%d,%d,%d", &ranks[0], &ranks[1], &ranks[2], &ranks[3]) == 4);
  for (k = 0, rest = rank; k < 4; rest /= ranks[order[k++]]) place[order[k]] = rest % ranks[order[k]];
  return rank;
}
#endif

static void *room(size_t bytes) {
  void *p = calloc(1, bytes);
  CHECK(p != NULL);
  return p;
}

static void set_lattice(const int *extents) {
  int mu;
  volume = own = 1;
  for (mu = 0; mu < 4; mu++) {
    global[mu] = extents[mu];
    local[mu] = extents[mu] / ranks[mu];
    volume *= global[mu];
    own *= local[mu];
  }
  free(links);
  links = room(4 * (size_t)volume * sizeof *links);
  reference_gammas((double *)gammas);
}

static int lex(const int *x) {
  return x[0] + global[0] * (x[1] + global[1] * (x[2] + global[2] * x[3]));
}

static void coordinates(int site, int *x) {
  int mu;
  for (mu = 0; mu < 4; mu++) {
    x[mu] = site % global[mu];
    site /= global[mu];
  }
}

static int step(int site, int mu, int by) {
  int x[4];
  coordinates(site, x);
  x[mu] = (x[mu] + by + global[mu]) % global[mu];
  return lex(x);
}

static inline int is_odd(int site) {
  int x[4];
  coordinates(site, x);
  return (x[0] + x[1] + x[2] + x[3]) & 1;
}

/* Index of a site of the lattice in MILC's order of this rank's part, or -1 if another rank has it. */
static int milc_index(int site) {
  int x[4], mu, parity, index;
  coordinates(site, x);
  parity = (x[0] + x[1] + x[2] + x[3]) & 1;
  for (mu = 0; mu < 4; mu++) {
    if (x[mu] / local[mu] != place[mu]) return -1;
    x[mu] %= local[mu];
  }
  index = x[0] + local[0] * (x[1] + local[1] * (x[2] + local[2] * x[3]));
  return index / 2 + parity * (own / 2);
}

/* A random number in (-1, 1), the same on every rank. */
static double noise(uint64_t a, uint64_t b) {
  uint64_t z = (a * 1000003u + b + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) / 4503599627370496.0 - 1;
}

static matrix mul(matrix a, matrix b) {
  matrix c;
  int i, j, k;
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++)
      for (c.e[i][j] = 0, k = 0; k < 3; k++) c.e[i][j] += a.e[i][k] * b.e[k][j];
  return c;
}

static matrix dagger(matrix a) {
  matrix c;
  int i, j;
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++) c.e[i][j] = conj(a.e[j][i]);
  return c;
}

static matrix add(matrix a, number factor, matrix b) {
  int i;
  for (i = 0; i < 9; i++) a.e[i / 3][i % 3] += factor * b.e[i / 3][i % 3];
  return a;
}

static number trace(matrix a) { return a.e[0][0] + a.e[1][1] + a.e[2][2]; }

/* Orthonormalises two rows (Gram-Schmidt); the third one is the conjugate of their vector product. */
static matrix project(matrix a) {
  int i, r, j;
  for (r = 0; r < 2; r++) {
    double norm = 0;
    number along = 0;
    for (i = 0; r == 1 && i < 3; i++) along += conj(a.e[0][i]) * a.e[1][i];
    for (i = 0; i < 3; i++) a.e[r][i] -= r == 1 ? along * a.e[0][i] : 0;
    for (i = 0; i < 3; i++) norm += creal(a.e[r][i] * conj(a.e[r][i]));
    for (i = 0; i < 3; i++) a.e[r][i] /= sqrt(norm);
  }
  for (i = 0; i < 3; i++) {
    j = (i + 1) % 3;
    r = (i + 2) % 3;
    a.e[2][i] = conj(a.e[0][j] * a.e[1][r] - a.e[0][r] * a.e[1][j]);
  }
  return a;
}

/* Sets links near the unit matrix that are off the group by about `off`. */
static inline void random_links(double off) {
  int i, k;
  for (i = 0; i < 4 * volume; i++) {
    matrix m;
    for (k = 0; k < 9; k++)
      m.e[k / 3][k % 3] = (k % 4 == 0 ? 1.2 : 0) + noise(i, 2 * k) + I * noise(i, 2 * k + 1);
    m = project(m);
    for (k = 0; k < 9; k++) m.e[k / 3][k % 3] += off * noise(i, 100 + k);
    links[i] = m;
  }
}

/* Multiplies links that leave the last slices by the factors exp(i pi angle). */
static void twist(const double *angle) {
  int site, mu, x[4];
  matrix zero = {{{0}}};
  for (site = 0; site < volume; site++) {
    coordinates(site, x);
    for (mu = 0; mu < 4; mu++)
      if (x[mu] == global[mu] - 1)
        links[4 * site + mu] = add(zero, cexp(I * acos(-1) * angle[mu]), links[4 * site + mu]);
  }
}

/* The product of links along a path from a site, and the site where the path ends. */
static inline matrix along(int site, const int *path, int length, int *end) {
  matrix m;
  *end = reference_path(global, (const double *)links, site, path, (size_t)length, (double *)&m);
  return m;
}

/* The traceless anti-hermitian part of a matrix: entries 01, 02, 12, and the diagonal divided by i. */
static inline void traceless(double *to, matrix w) {
  const double third = (cimag(w.e[0][0]) + cimag(w.e[1][1]) + cimag(w.e[2][2])) / 3;
  int a, b, i = 0;
  for (a = 0; a < 3; a++)
    for (b = a + 1; b < 3; b++, i++) {
      const number z = (w.e[a][b] - conj(w.e[b][a])) / 2;
      to[2 * i] = creal(z), to[2 * i + 1] = cimag(z);
    }
  for (a = 0; a < 3; a++) to[6 + a] = cimag(w.e[a][a]) - third;
}

/* The anti-hermitian matrix that ten numbers of a momentum describe, and exp(eps times that matrix). */
static inline matrix of_ten(const double *m) {
  matrix a = {{{I * m[6], m[0] + I * m[1], m[2] + I * m[3]},
               {-m[0] + I * m[1], I * m[7], m[4] + I * m[5]},
               {-m[2] + I * m[3], -m[4] + I * m[5], I * m[8]}}};
  return a;
}

static inline matrix exponential(double eps, const double *ten) {
  matrix one = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, e = one, term = one, a = of_ten(ten), zero = {{{0}}};
  int k;
  for (k = 1; k < 30 && creal(trace(mul(dagger(term), term))) > 1e-40; k++) {
    term = add(zero, eps / k, mul(term, a));
    e = add(e, 1, term);
  }
  return e;
}

/* Multiplies links by MILC's staggered phases and the antiperiodic sign in time. */
static inline void staggered_phases(void) {
  const double antiperiodic[4] = {0, 0, 0, 1};
  int site, mu, x[4];
  matrix zero = {{{0}}};
  for (site = 0; site < volume; site++) {
    coordinates(site, x);
    for (mu = 0; mu < 3; mu++) {
      int sum = x[3] + (mu > 0 ? x[0] : 0) + (mu > 1 ? x[1] : 0);
      if (sum & 1) links[4 * site + mu] = add(zero, -1, links[4 * site + mu]);
    }
  }
  twist(antiperiodic);
}

/* ---- observables ---- */

static inline void plaquettes(double *space, double *time) {
  reference_plaquettes(global, (const double *)links, space, time);
}

static inline number polyakov_loop(void) {
  number loop;
  reference_polyakov(global, (const double *)links, (double *)&loop);
  return loop;
}

/* The functional and QUDA's theta, for the links in the first `directions` directions. */
static inline void gauge(int directions, double *functional, double *theta) {
  int site, mu, i;
  *functional = *theta = 0;
  for (site = 0; site < volume; site++) {
    matrix delta = {{{0}}};
    for (mu = 0; mu < directions; mu++) {
      *functional += creal(trace(links[4 * site + mu])) / (3.0 * directions * volume);
      delta = add(delta, 1, links[4 * step(site, mu, -1) + mu]);
      delta = add(delta, -1, links[4 * site + mu]);
    }
    delta = add(delta, -1, dagger(delta));
    number third = trace(delta) / 3;
    for (i = 0; i < 3; i++) delta.e[i][i] -= third;
    *theta += creal(trace(mul(delta, dagger(delta)))) / (3.0 * volume);
  }
}

/* ---- the clover operator M = A - kappa H ---- */

/* A gamma has one nonzero entry in each row: its column and its value. */
static inline int gamma_column(int mu, int row) {
  int column = 0;
  while (gammas[mu][row][column] == 0) column++;
  return column;
}

static inline number gamma_value(int mu, int row) { return gammas[mu][row][gamma_column(mu, row)]; }

typedef struct {
  number b[2][6][6];
} blocks;

/* A = 1 + 2 kappa csw (i/4) sum sigma F. */
static inline void clover_term(blocks *a, double kappa, double csw) {
  int i;
  reference_clover(global, (const double *)links, 2 * kappa * csw, (double *)a);
  for (i = 0; i < 12 * volume; i++) a[i / 12].b[i % 12 / 6][i % 6][i % 6] += 1;
}

static inline void invert_blocks(blocks *out, const blocks *a) {
  reference_inverse(2 * (size_t)volume, (const double *)a, (double *)out);
}

static void apply(spinor *out, const blocks *a, double kappa, const spinor *in) {
  reference_apply(global, (const double *)links, (const double *)a, kappa, (const double *)in, (double *)out);
}

/* The relative residual |b - M x| / |b|, and the heavy-quark residual. */
static inline void residuals(const blocks *a, double kappa, const spinor *x, const spinor *b, double *l2, double *hq) {
  spinor *image = room(volume * sizeof *image);
  double r2 = 0, b2 = 0;
  int site, k;
  apply(image, a, kappa, x);
  *hq = 0;
  for (site = 0; site < volume; site++) {
    double r = 0, here = 0;
    for (k = 0; k < 12; k++) {
      number source = b[site].d[k / 3][k % 3];
      r += pow(cabs(source - image[site].d[k / 3][k % 3]), 2);
      here += pow(cabs(x[site].d[k / 3][k % 3]), 2);
      b2 += pow(cabs(source), 2);
    }
    r2 += r;
    *hq += r / here / volume;
  }
  *l2 = sqrt(r2 / b2);
  *hq = sqrt(*hq);
  free(image);
}

/* ---- arrays in MILC's order ---- */

static void put(void *at, int precision, size_t i, double value) {
  if (precision == 2) memcpy((double *)at + i, &value, sizeof value);
  else ((float *)at)[i] = (float)value;
}

static double get(const void *at, int precision, size_t i) {
  return precision == 2 ? ((const double *)at)[i] : ((const float *)at)[i];
}

/* Adds up numbers of this rank's sites with those of the other ranks, so that all ranks have those of the whole
 * lattice. */
static void gather(double *all, size_t count) {
#ifdef CLIENT_MPI
  MPI_Allreduce(MPI_IN_PLACE, all, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#else
  (void)all;
  (void)count;
#endif
}

/* Copies `reals` numbers of each site into an array of structs of `size` bytes, at `offset`, and back. */
static inline void scatter_sites(void *to, int precision, size_t size, size_t offset, const double *from, int reals) {
  int site, i, k;
  for (site = 0; site < volume; site++)
    if ((i = milc_index(site)) >= 0)
      for (k = 0; k < reals; k++)
        put((char *)to + i * size + offset, precision, k, from[(size_t)site * reals + k]);
}

static inline void gather_sites(double *to, const void *from, int precision, size_t size, size_t offset, int reals) {
  int site, i, k;
  memset(to, 0, (size_t)volume * reals * sizeof *to);
  for (site = 0; site < volume; site++)
    if ((i = milc_index(site)) >= 0)
      for (k = 0; k < reals; k++)
        to[(size_t)site * reals + k] = get((const char *)from + i * size + offset, precision, k);
  gather(to, (size_t)volume * reals);
}

/* Packs a hermitian block: six numbers of the diagonal, then the elements below it column by column. */
static inline void pack(double *to, const blocks *a) {
  int site, n, i, j;
  for (site = 0; site < volume; site++)
    for (n = 0; n < 2; n++) {
      for (i = 0; i < 6; i++) *to++ = creal(a[site].b[n][i][i]);
      for (j = 0; j < 6; j++)
        for (i = j + 1; i < 6; i++) {
          *to++ = creal(a[site].b[n][i][j]);
          *to++ = cimag(a[site].b[n][i][j]);
        }
    }
}

#endif
