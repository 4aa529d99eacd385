// The clover term A = 1 + c (i/4) sum sigma F as packed hermitian blocks, its inverse, its log det.
#pragma once
#include "leaves.h"
#include "plaq_math.h"
#include "sums.h"

namespace PLAQ_NS {

// Index of element (i, j), i > j, of the strictly lower triangle stored column by column.
PLAQ_FN constexpr int lower(int i, int j) { return 6 + 2 * (j * 5 - j * (j - 1) / 2 + i - j - 1); }

// A from the links. With F_mu,nu and, per chirality e = +-1 (gamma5), the spin blocks
//   B00 = 1 + D, B11 = 1 - D, D = (i/2)(F_xy - e F_zt),  B10 = -1/2 (F_xz + i e F_xt - i F_yz + e F_yt),
// which is 1 + (i/4) sum_mu,nu sigma F written out in the DeGrand-Rossi basis.
template <int W, class S, int RECON> struct CloverBuild {
  typedef real<typename S::C, W> R;
  struct Chirality {
    R diagonal[3];
    cplx<R> lower[3], across[9];  // of D; B10
  };
  static PLAQ_FN void site(const CloverArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    const Plane gauge[2] = {plane(a.gauge, 0), plane(a.gauge, 1)};
    const R cs = splat<R>(0.5 * a.coef_s), ct = splat<R>(0.5 * a.coef_t), zero = splat<R>(0);
    Chirality d[2] = {};
    for (int p = 0; p < 6; p++) {  // one plane at a time keeps the code small
      const int mu = p < 3 ? 0 : p < 5 ? 1 : 2, nu = p < 3 ? p + 1 : p < 5 ? p - 1 : 3;
      const bool timelike = nu == 3;
      AntiHermitian<R> f;
      field_strength<S, RECON>(f, a.geom, gauge, x, mu, nu);
      const R c = timelike ? ct : cs;
      PLAQ_UNROLL for (int ch = 0; ch < 2; ch++) {
        // The lower chirality takes the timelike planes with the opposite sign.
        const R k = timelike && ch == 1 ? -c : c;
        if (mu == 0 && nu == 1) add_diagonal(d[ch], k, f);
        else if (mu == 2) add_diagonal(d[ch], -k, f);
        else if (mu == 0 && nu == 2) add_across(d[ch], -k, zero, f);
        else if (mu == 0) add_across(d[ch], zero, -k, f);
        else if (nu == 2) add_across(d[ch], zero, k, f);
        else add_across(d[ch], -k, zero, f);
      }
    }
    R b[2][36];
    PLAQ_UNROLL for (int ch = 0; ch < 2; ch++) pack(b[ch], d[ch]);
    store_blocks<S>(b, plane(a.out, parity), x);
  }
  // D += k i F
  static PLAQ_FN void add_diagonal(Chirality& d, R k, const AntiHermitian<R>& f) {
    PLAQ_UNROLL for (int i = 0; i < 3; i++) {
      d.diagonal[i] = d.diagonal[i] - k * f.diagonal[i];
      d.lower[i] = {d.lower[i].re - k * f.lower[i].im, d.lower[i].im + k * f.lower[i].re};
    }
  }
  // B10 += (re + i im) F
  static PLAQ_FN void add_across(Chirality& d, R re, R im, const AntiHermitian<R>& f) {
    const cplx<R> z = {re, im};
    PLAQ_UNROLL for (int i = 0; i < 3; i++) {
      d.across[4 * i] = madd(d.across[4 * i], z, cplx<R>{splat<R>(0), f.diagonal[i]});
      const int row = i ? 2 : 1, column = i == 2;
      const cplx<R> l = f.lower[i];
      d.across[3 * row + column] = madd(d.across[3 * row + column], z, l);
      d.across[3 * column + row] = madd(d.across[3 * column + row], z, cplx<R>{-l.re, l.im});
    }
  }
  static PLAQ_FN void pack(R (&b)[36], const Chirality& d) {
    PLAQ_UNROLL for (int i = 0; i < 3; i++) {
      b[i] = splat<R>(1) + d.diagonal[i], b[3 + i] = splat<R>(1) - d.diagonal[i];
      const int row = i ? 2 : 1, column = i == 2, p = lower(row, column), q = lower(3 + row, 3 + column);
      b[p] = d.lower[i].re, b[p + 1] = d.lower[i].im, b[q] = -d.lower[i].re, b[q + 1] = -d.lower[i].im;
    }
    PLAQ_UNROLL for (int i = 0; i < 9; i++) {
      const int p = lower(3 + i / 3, i % 3);
      b[p] = d.across[i].re, b[p + 1] = d.across[i].im;
    }
  }
};

// Smallest pivot of a factorisation, and the product of all: the determinant.
template <class R, int W> struct Pivots {
  R least;
  real<double, W> product;
};

// LDL^dagger of a packed block in place: unit lower factor and pivots.
template <int W, class R> PLAQ_FN Pivots<R, W> factorise(R (&b)[36]) {
  Pivots<R, W> pivots = {b[0], splat<real<double, W>>(1)};
  for (int j = 0; j < 6; j++) {
    for (int k = 0; k < j; k++) {
      const int p = lower(j, k);
      b[j] = b[j] - b[k] * (b[p] * b[p] + b[p + 1] * b[p + 1]);
    }
    pivots.least = select(pivots.least < b[j], pivots.least, b[j]);  // NaN stays
    pivots.product = pivots.product * convert<real<double, W>>(b[j]);
    const R inverse = splat<R>(1) / b[j];
    for (int i = j + 1; i < 6; i++) {
      const int q = lower(i, j);
      cplx<R> s = {b[q], b[q + 1]};
      for (int k = 0; k < j; k++) {
        const int m = lower(i, k), n = lower(j, k);
        s = s - b[k] * (cplx<R>{b[m], b[m + 1]} * cplx<R>{b[n], -b[n + 1]});
      }
      b[q] = s.re * inverse, b[q + 1] = s.im * inverse;
    }
  }
  return pivots;
}

// Inverse of a packed hermitian positive block in place, from its factors, column by column.
template <class R> PLAQ_FN void invert_factors(R (&b)[36]) {
  R out[36];
  for (int col = 0; col < 6; col++) {
    cplx<R> y[6];
    for (int i = 0; i < 6; i++) {
      y[i] = {splat<R>(i == col ? 1 : 0), splat<R>(0)};
      for (int k = 0; k < i; k++) y[i] = y[i] - cplx<R>{b[lower(i, k)], b[lower(i, k) + 1]} * y[k];
    }
    for (int i = 0; i < 6; i++) y[i] = {y[i].re / b[i], y[i].im / b[i]};
    for (int i = 5; i >= 0; i--)
      for (int k = i + 1; k < 6; k++) y[i] = y[i] - cplx<R>{b[lower(k, i)], -b[lower(k, i) + 1]} * y[k];
    out[col] = y[col].re;
    for (int i = col + 1; i < 6; i++) out[lower(i, col)] = y[i].re, out[lower(i, col) + 1] = y[i].im;
  }
  PLAQ_UNROLL for (int i = 0; i < 36; i++) b[i] = out[i];
}

template <class R> PLAQ_FN cplx<R> element(const R (&b)[36], int i, int j) {
  if (i == j) return {b[i], splat<R>(0)};
  if (i > j) return {b[lower(i, j)], b[lower(i, j) + 1]};
  return {b[lower(j, i)], -b[lower(j, i) + 1]};
}
// Product of two commuting hermitian blocks, hermitian again.
template <class R> PLAQ_FN void multiply_blocks(R (&out)[36], const R (&a)[36], const R (&b)[36]) {
  for (int j = 0; j < 6; j++)
    for (int i = j; i < 6; i++) {
      cplx<R> s = element(a, i, 0) * element(b, 0, j);
      for (int k = 1; k < 6; k++) s = madd(s, element(a, i, k), element(b, k, j));
      if (i == j) out[i] = s.re;
      else out[lower(i, j)] = s.re, out[lower(i, j) + 1] = s.im;
    }
}

// A^-1, or with twist A H and H = (A^2 + twist^2)^-1; without a field to write to, sums only. Sums:
// blocks (of A, or A^2 + twist^2) that are not positive; ln det, meaningless if there are such; 0.
template <int W, class S> struct CloverInvert {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const CloverArgs& a, int o, int lx, int parity, Sums<3, W>& sums) {
    const Site x = site_at(a.geom, o, parity, lx);
    R b[2][36], h[2][36];
    load_blocks<S>(b, plane(a.inp, parity), x);
    const R zero = splat<R>(0), one = splat<R>(1), tw = splat<R>(a.twist * a.twist);
    for (int ch = 0; ch < 2; ch++) {
      R(&m)[36] = a.twisted() ? h[ch] : b[ch];
      if (a.twisted()) {
        multiply_blocks(h[ch], b[ch], b[ch]);
        PLAQ_UNROLL for (int i = 0; i < 6; i++) h[ch][i] = h[ch][i] + tw;
      }
      const Pivots<R, W> pivots = factorise<W>(m);
      sums.add(0, select(pivots.least > zero, zero, one));
      sums.add(1, vlog(pivots.product));
      if (!a.write()) continue;
      invert_factors(m);
      if (!a.twisted()) continue;
      R p[36];
      multiply_blocks(p, b[ch], h[ch]);
      PLAQ_UNROLL for (int i = 0; i < 36; i++) b[ch][i] = p[i];
    }
    if (!a.write()) return;
    store_blocks<S>(b, plane(a.out, parity), x);
    if (a.twisted()) store_blocks<S>(h, plane(a.out, parity + 2), x);
  }
};

}  // namespace PLAQ_NS
