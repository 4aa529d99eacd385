// The clover term A = 1 + c (i/4) sum sigma F as packed hermitian blocks, its inverse, its log det.
#pragma once
#include "leaves.h"

namespace PLAQ_NS {

// Index of element (i, j), i > j, of the strictly lower triangle stored column by column.
PLAQ_FN constexpr int lower(int i, int j) { return 6 + 2 * (j * 5 - j * (j - 1) / 2 + i - j - 1); }

// A from the links. With F_mu,nu and, per chirality e = +-1 (gamma5), the spin blocks
//   B00 = -B11 = (i/2)(F_xy - e F_zt),  B10 = -1/2 (F_xz + i e F_xt - i F_yz + e F_yt),
// which is (i/4) sum_mu,nu sigma F written out in the DeGrand-Rossi basis.
template <int W, class S, int RECON> struct CloverBuild {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const CloverArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    const Plane gauge[2] = {plane(a.gauge, 0), plane(a.gauge, 1)};
    const R cs = splat<R>(0.5 * a.coef_s), ct = splat<R>(0.5 * a.coef_t), zero = splat<R>(0);
    R b[2][36];
    PLAQ_UNROLL for (int ch = 0; ch < 2; ch++) PLAQ_UNROLL for (int i = 0; i < 36; i++) b[ch][i] = splat<R>(i < 6 ? 1 : 0);
    for (int p = 0; p < 6; p++) {  // one plane at a time keeps the code small
      const int mu = p < 3 ? 0 : p < 5 ? 1 : 2, nu = p < 3 ? p + 1 : p < 5 ? p - 1 : 3;
      const bool timelike = nu == 3;
      Su3<R> f;
      field_strength<S, RECON>(f, a.geom, gauge, x, mu, nu);
      const R c = timelike ? ct : cs;
      PLAQ_UNROLL for (int ch = 0; ch < 2; ch++) {
        // The lower chirality takes the timelike planes with the opposite sign.
        const R k = timelike && ch == 1 ? -c : c;
        R* B = b[ch];
        if (mu == 0 && nu == 1) diagonal(B, k, f);
        else if (mu == 2) diagonal(B, -k, f);
        else if (mu == 0 && nu == 2) off_diagonal(B, -k, zero, f);
        else if (mu == 0) off_diagonal(B, zero, -k, f);
        else if (nu == 2) off_diagonal(B, zero, k, f);
        else off_diagonal(B, -k, zero, f);
      }
    }
    store_blocks<S>(b, plane(a.out, parity), x);
  }
  // spin-diagonal: += k (i F) on spin 0 and -= on spin 1
  static PLAQ_FN void diagonal(R* B, R k, const Su3<R>& f) {
    PLAQ_UNROLL for (int i = 0; i < 3; i++) {
      B[i] = B[i] - k * f.e[i][i].im, B[3 + i] = B[3 + i] + k * f.e[i][i].im;
      PLAQ_UNROLL for (int j = 0; j < i; j++) {
        R *p = B + lower(i, j), *q = B + lower(3 + i, 3 + j);
        p[0] = p[0] - k * f.e[i][j].im, p[1] = p[1] + k * f.e[i][j].re;
        q[0] = q[0] + k * f.e[i][j].im, q[1] = q[1] - k * f.e[i][j].re;
      }
    }
  }
  // spin (1, 0): += (re + i im) F
  static PLAQ_FN void off_diagonal(R* B, R re, R im, const Su3<R>& f) {
    PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++) {
      R* p = B + lower(3 + i, j);
      p[0] = p[0] + re * f.e[i][j].re - im * f.e[i][j].im;
      p[1] = p[1] + re * f.e[i][j].im + im * f.e[i][j].re;
    }
  }
};

// LDL^dagger of a packed block in place: unit lower factor and pivots. Returns the smallest pivot.
template <class R> PLAQ_FN R factorise(R (&b)[36]) {
  R least = b[0];
  for (int j = 0; j < 6; j++) {
    for (int k = 0; k < j; k++) {
      const int p = lower(j, k);
      b[j] = b[j] - b[k] * (b[p] * b[p] + b[p + 1] * b[p + 1]);
    }
    least = select(b[j] < least, b[j], least);
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
  return least;
}

// Inverse of a packed hermitian positive block through its factors, column by column.
template <class R> PLAQ_FN R invert_block(R (&b)[36]) {
  const R least = factorise(b);
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
  return least;
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

// A^-1, or with twist A H and H = (A^2 + twist^2)^-1. Sums: sites whose block is not positive
// (A, or A^2 + twist^2), 0, 0.
template <int W, class S> struct CloverInvert {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const CloverArgs& a, int o, int lx, int parity, Sums<3, W>& sums) {
    const Site x = site_at(a.geom, o, parity, lx);
    R b[2][36], h[2][36];
    load_blocks<S>(b, plane(a.inp, parity), x);
    const R zero = splat<R>(0), one = splat<R>(1), tw = splat<R>(a.twist * a.twist);
    for (int ch = 0; ch < 2; ch++) {
      R least;
      if (a.twisted()) {
        multiply_blocks(h[ch], b[ch], b[ch]);
        PLAQ_UNROLL for (int i = 0; i < 6; i++) h[ch][i] = h[ch][i] + tw;
        least = invert_block(h[ch]);
        R p[36];
        multiply_blocks(p, b[ch], h[ch]);
        PLAQ_UNROLL for (int i = 0; i < 36; i++) b[ch][i] = p[i];
      } else {
        least = invert_block(b[ch]);
      }
      sums.add(0, select(least > zero, zero, one));
    }
    store_blocks<S>(b, plane(a.out, parity), x);
    if (a.twisted()) store_blocks<S>(h, plane(a.out, parity + 2), x);
  }
};

}  // namespace PLAQ_NS
