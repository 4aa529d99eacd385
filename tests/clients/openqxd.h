/* openQxD's order of sites, its links on odd sites, its gamma matrices and its clover terms, written independently. */
#ifndef OPENQXD_H
#define OPENQXD_H

#include "lattice.h"

enum { AXIS_T = 0, SPINOR = 24, LINK = 18, CLOVER = 72 };

static const int axis[4] = {3, 0, 1, 2};
static int bndry;

/* ---- openQxD's order ---- */

/* Index of each local site, and coordinates t, x, y, z of each index. */
static int *number_of, (*site_of)[4];
/* Numbers of the sites beyond the upper faces in openQxD's count; -1 for sites inside. */
static int (*beyond)[4];

static int extent(int mu) { return local[axis[mu]]; }

static int local_lex(const int *x) { return ((x[0] * extent(1) + x[1]) * extent(2) + x[2]) * extent(3) + x[3]; }

/* Numbers the even and the odd sites, block by block and site by site in each block. */
static void number_sites(void) {
  int c[4], n[4], b[4], y[4], x[4], mu, next[2], start[2][4], total = 0;
  number_of = room(own * sizeof *number_of), site_of = room(own * sizeof *site_of), beyond = room(own * sizeof *beyond);
  for (mu = 0; mu < 4; mu++) {
    const int l = extent(mu);
    c[mu] = mu == 0 ? l : l % 4 == 0 ? 4 : l % 3 == 0 ? 3 : l % 2 == 0 ? 2 : 1;
    n[mu] = l / c[mu];
  }
  next[0] = 0, next[1] = own / 2;
  for (b[0] = 0; b[0] < n[0]; b[0]++) for (b[1] = 0; b[1] < n[1]; b[1]++)
    for (b[2] = 0; b[2] < n[2]; b[2]++) for (b[3] = 0; b[3] < n[3]; b[3]++)
      for (y[0] = 0; y[0] < c[0]; y[0]++) for (y[1] = 0; y[1] < c[1]; y[1]++)
        for (y[2] = 0; y[2] < c[2]; y[2]++) for (y[3] = 0; y[3] < c[3]; y[3]++) {
          int i, parity = 0;
          for (mu = 0; mu < 4; mu++) x[mu] = b[mu] * c[mu] + y[mu], parity ^= x[mu] & 1;
          i = next[parity]++;
          number_of[local_lex(x)] = i;
          for (mu = 0; mu < 4; mu++) site_of[i][mu] = x[mu];
        }
  for (mu = 0; mu < 4; mu++) {
    const int half = ranks[axis[mu]] > 1 ? own / extent(mu) / 2 : 0;
    start[0][mu] = total + half, total += 2 * half;
  }
  bndry = 2 * total;
  for (mu = 0; mu < 4; mu++) {
    int i, count[2] = {0, 0};
    start[1][mu] = start[0][mu] + bndry / 2;
    for (i = 0; i < own; i++) {
      const int outside = i < own / 2;
      const int leaves = ranks[axis[mu]] > 1 && site_of[i][mu] == extent(mu) - 1;
      beyond[i][mu] = leaves ? own + start[outside][mu] + count[outside]++ : -1;
    }
  }
}

/* The site of the whole lattice at local coordinates. */
static int global_site(const int *x, int mu, int by) {
  int y[4], k;
  for (k = 0; k < 4; k++) y[axis[k]] = place[axis[k]] * local[axis[k]] + x[k];
  return mu < 0 ? lex(y) : step(lex(y), axis[mu], by);
}

static void put_link(double *to, int at, int site, int mu) {
  int k;
  for (k = 0; k < 9; k++) {
    to[LINK * (size_t)at + 2 * k] = creal(links[4 * site + axis[mu]].e[k / 3][k % 3]);
    to[LINK * (size_t)at + 2 * k + 1] = cimag(links[4 * site + axis[mu]].e[k / 3][k % 3]);
  }
}

/* Eight links of each odd site, then those of even sites that leave this rank's part; memory behind these must not be
 * read. */
static void set_links(double *to) {
  int i, mu, before = 0;
  for (i = 0; i < LINK * 4 * own + LINK * 7 * bndry / 4; i++) to[i] = NAN;
  for (mu = 0; mu < 4; mu++) {
    int count = 0;
    for (i = own / 2; i < own; i++) {
      put_link(to, 8 * (i - own / 2) + 2 * mu, global_site(site_of[i], -1, 0), mu);
      put_link(to, 8 * (i - own / 2) + 2 * mu + 1, global_site(site_of[i], mu, -1), mu);
    }
    for (i = 0; i < own / 2; i++)
      if (beyond[i][mu] >= 0) put_link(to, 4 * own + before + count++, global_site(site_of[i], -1, 0), mu);
    before += count;
  }
  CHECK(before == bndry / 4);
}

/* ---- openQxD's gammas ---- */

/* gamma_t, gamma_x, gamma_y, gamma_z: column and value of the one entry in each row; gamma5 = diag(1, 1, -1, -1). */
static const int their_column[4][4] = {{2, 3, 0, 1}, {3, 2, 1, 0}, {3, 2, 1, 0}, {2, 3, 0, 1}};
static number their_value(int mu, int row) {
  const number values[4][4] = {{-1, -1, -1, -1}, {-I, -I, I, I}, {-1, 1, 1, -1}, {-I, I, I, -I}};
  return values[mu][row];
}

/* Spin s in the basis of lattice.h is this factor times one spin of openQxD's basis. */
static const int their_spin[4] = {3, 2, 1, 0}, their_sign[4] = {-1, 1, 1, -1};

static void bases_belong_together(void) {
  int mu, s;
  for (mu = 0; mu < 4; mu++)
    for (s = 0; s < 4; s++) {
      const int theirs = their_spin[s], to = their_column[mu][theirs], ours = gamma_column(axis[mu], s);
      CHECK(their_spin[ours] == to);
      CHECK(gamma_value(axis[mu], s) == their_sign[s] * their_value(mu, theirs) * their_sign[ours]);
    }
}

/* ---- arrays ---- */

static void set_spinor(double *to, const spinor *from) {
  int i, s, c;
  for (i = 0; i < own; i++)
    for (s = 0; s < 4; s++)
      for (c = 0; c < 3; c++) {
        const number z = their_sign[s] * from[global_site(site_of[i], -1, 0)].d[s][c];
        const int at = SPINOR * i + 6 * their_spin[s] + 2 * c;
        to[at] = creal(z), to[at + 1] = cimag(z);
      }
}

static void get_spinor(spinor *to, const double *from) {
  int i, s, c;
  memset(to, 0, volume * sizeof *to);
  for (i = 0; i < own; i++)
    for (s = 0; s < 4; s++)
      for (c = 0; c < 3; c++) {
        const int at = SPINOR * i + 6 * their_spin[s] + 2 * c;
        to[global_site(site_of[i], -1, 0)].d[s][c] = their_sign[s] * (from[at] + I * from[at + 1]);
      }
  gather((double *)to, (size_t)volume * SPINOR);
}

/* The blocks of the upper and of the lower spins, divided by 2 kappa: the diagonal, then the elements above it row by
 * row. */
static void set_clover(double *to, const blocks *a, double kappa) {
  int site, n, i, j;
  for (site = 0; site < own; site++)
    for (n = 0; n < 2; n++) {
      const blocks *here = &a[global_site(site_of[site], -1, 0)];
      number m[6][6];
      for (i = 0; i < 6; i++)
        for (j = 0; j < 6; j++) {
          const int s = 2 * (1 - n) + i / 3, t = 2 * (1 - n) + j / 3;
          const int row = 3 * (their_spin[s] - 2 * n) + i % 3, column = 3 * (their_spin[t] - 2 * n) + j % 3;
          m[row][column] = their_sign[s] * their_sign[t] * here->b[1 - n][i][j] / (2 * kappa);
        }
      for (i = 0; i < 6; i++) *to++ = creal(m[i][i]);
      for (i = 0; i < 6; i++)
        for (j = i + 1; j < 6; j++) *to++ = creal(m[i][j]), *to++ = cimag(m[i][j]);
    }
}

#endif
