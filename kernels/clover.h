// The clover term A = 1 + c (i/4) sum sigma F (Sheikholeslami and Wohlert, Nucl. Phys. B259 (1985)
// 572) as packed hermitian blocks, its inverse and ln det.
#pragma once
#include "leaves.h"
#include "plaq_math.h"
#include "sums.h"

namespace PLAQ_NS {

// Index of element (i, j), i > j, of the strictly lower triangle stored column by column.
PLAQ_FN constexpr int lower(int i, int j) { return 6 + 2 * (j * 5 - j * (j - 1) / 2 + i - j - 1); }

// The multiple of the unit matrix in A: 1, but 1 + lower or 1 + upper on the slices next to those where quarks vanish.
template <class R, class Args> PLAQ_FN R clover_unit(const Args& a, const Site& x) {
  const R one = splat<R>(1);
  if (!a.bounds.kind()) return one;
  const R low = on_first(a.geom, x, splat<R>(1 + a.lower), one, 1);
  return on_last(a.geom, x, low + splat<R>(a.upper), low, a.bounds.kind() & BOUND_UPPER ? 1 : 0);
}

// Computes A from the links, A = 1 where quarks vanish. With F_mu,nu and the chirality e = +-1 (gamma5) the spin blocks are B00 = 1 + D, B11 = 1 -
// D, D = (i/2)(F_xy - e F_zt), B10 = -1/2 (F_xz + i e F_xt - i F_yz + e F_yt): 1 + (i/4) sum_mu,nu sigma F in the
// DeGrand-Rossi basis.
template <int W, class S, int RECON> struct CloverBuild {
  typedef real<typename S::C, W> R;
  struct Chirality {
    R diagonal[3];
    cplx<R> lower[3], across[9];  // of D; B10
  };
  static PLAQ_FN void site(const CloverArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    const Plane gauge[2] = {plane(a.gauge, 0), plane(a.gauge, 1)};
    const R zero = splat<R>(0);
    R cs = splat<R>(0.5 * a.coef_s), ct = splat<R>(0.5 * a.coef_t);
    if (some_vanish(a.bounds, a.geom, x)) {
      // On slices where quarks vanish F counts as 0.
      const R f = inside<R>(a.bounds, a.geom, x);
      cs = f * cs, ct = f * ct;
    }
    Chirality d[2] = {};
    for (int p = 0; p < 6; p++) {  // one plane at a time keeps the code small
      const int mu = p < 3 ? 0 : p < 5 ? 1 : 2, nu = p < 3 ? p + 1 : p < 5 ? p - 1 : 3;
      const bool timelike = nu == 3;
      AntiHermitian<R> f;
      field_strength<S, RECON>(f, a.bounds, a.geom, gauge, x, mu, nu);
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
    PLAQ_UNROLL for (int ch = 0; ch < 2; ch++) pack(b[ch], d[ch], clover_unit<R>(a, x));
    store_blocks<S>(b, plane(a.out, parity), x);
  }
  // D += k i F of the spin blocks (see above)
  static PLAQ_FN void add_diagonal(Chirality& d, R k, const AntiHermitian<R>& f) {
    PLAQ_UNROLL for (int i = 0; i < 3; i++) {
      d.diagonal[i] = fnma_(k, f.diagonal[i], d.diagonal[i]);
      d.lower[i] = {fnma_(k, f.lower[i].im, d.lower[i].re), fma_(k, f.lower[i].re, d.lower[i].im)};
    }
  }
  // B10 += (re + i im) F of the spin blocks (see above)
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
  static PLAQ_FN void pack(R (&b)[36], const Chirality& d, R unit) {
    PLAQ_UNROLL for (int i = 0; i < 3; i++) {
      b[i] = unit + d.diagonal[i], b[3 + i] = unit - d.diagonal[i];
      const int row = i ? 2 : 1, column = i == 2, p = lower(row, column), q = lower(3 + row, 3 + column);
      b[p] = d.lower[i].re, b[p + 1] = d.lower[i].im, b[q] = -d.lower[i].re, b[q + 1] = -d.lower[i].im;
    }
    PLAQ_UNROLL for (int i = 0; i < 9; i++) {
      const int p = lower(3 + i / 3, i % 3);
      b[p] = d.across[i].re, b[p + 1] = d.across[i].im;
    }
  }
};

// The smallest pivot of a factorisation, and the product of all pivots, which is the determinant.
template <class R, int W> struct Pivots {
  R least;
  real<double, W> product;
};

// Element (i, j), i > j, of a packed hermitian block.
template <class R> PLAQ_FN cplx<R> below(const R (&b)[36], int i, int j) { return {b[lower(i, j)], b[lower(i, j) + 1]}; }
template <class R> PLAQ_FN void set_below(R (&b)[36], int i, int j, cplx<R> z) { b[lower(i, j)] = z.re, b[lower(i, j) + 1] = z.im; }

// Factorises a packed block in place: LDL^dagger with unit lower factor L and inverse pivots. Row after row; rows below
// the current one still hold L D.
template <int W, class R> PLAQ_FN Pivots<R, W> factorise(R (&b)[36]) {
  Pivots<R, W> pivots = {b[0], splat<real<double, W>>(1)};
  PLAQ_UNROLL for (int j = 0; j < 6; j++) {
    PLAQ_UNROLL for (int k = 0; k < j; k++) {
      const cplx<R> g = below(b, j, k), l = b[k] * g;
      b[j] = fnma_(l.re, g.re, fnma_(l.im, g.im, b[j]));
      set_below(b, j, k, l);
      PLAQ_UNROLL for (int i = j + 1; i < 6; i++) set_below(b, i, j, msub(below(b, i, j), conj(l), below(b, i, k)));
    }
    pivots.least = select(pivots.least < b[j], pivots.least, b[j]);  // NaN stays
    pivots.product = pivots.product * convert<real<double, W>>(b[j]);
    b[j] = vrcp(b[j]);
  }
  return pivots;
}

// Inverse of a packed hermitian positive block in place, from its factors: M = L^-1, then M^dagger D^-1 M.
template <class R> PLAQ_FN void invert_factors(R (&b)[36]) {
  PLAQ_UNROLL for (int j = 0; j < 5; j++) PLAQ_UNROLL for (int i = j + 1; i < 6; i++) {
    cplx<R> m = {-b[lower(i, j)], -b[lower(i, j) + 1]};
    PLAQ_UNROLL for (int k = j + 1; k < i; k++) m = msub(m, below(b, i, k), below(b, k, j));
    set_below(b, i, j, m);
  }
  // Row i needs only the rows below it, which are still those of the factors.
  PLAQ_UNROLL for (int i = 0; i < 6; i++) {
    PLAQ_UNROLL for (int j = 0; j < i; j++) set_below(b, i, j, b[i] * below(b, i, j));
    PLAQ_UNROLL for (int k = i + 1; k < 6; k++) {
      const cplx<R> m = below(b, k, i), w = b[k] * m;
      b[i] = fma_(w.re, m.re, fma_(w.im, m.im, b[i]));
      PLAQ_UNROLL for (int j = 0; j < i; j++) set_below(b, i, j, madd_conj(below(b, i, j), w, below(b, k, j)));
    }
  }
}

template <class R> PLAQ_FN cplx<R> element(const R (&b)[36], int i, int j) {
  if (i == j) return {b[i], splat<R>(0)};
  return i > j ? below(b, i, j) : conj(below(b, j, i));
}
// The product of two commuting hermitian blocks, packed: it is hermitian again.
template <class R> PLAQ_FN void multiply_blocks(R (&out)[36], const R (&a)[36], const R (&b)[36]) {
  PLAQ_UNROLL for (int j = 0; j < 6; j++) PLAQ_UNROLL for (int i = j; i < 6; i++) {
    cplx<R> s = element(a, i, 0) * element(b, 0, j);
    PLAQ_UNROLL for (int k = 1; k < 6; k++) s = madd(s, element(a, i, k), element(b, k, j));
    if (i == j) out[i] = s.re;
    else set_below(out, i, j, s);
  }
}

// Computes A^-1, or for a twisted mass A H and H = (A^2 + square)^-1; with `write` 0 only sums. Sums: the number of
// blocks (of A, or of A^2 + square) that are not positive; ln det of all blocks, which has no meaning if some are not
// positive; 0.
template <int W, class S> struct CloverInvert {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const CloverArgs& a, int o, int lx, int parity, Sums<3, W>& sums) {
    const Site x = site_at(a.geom, o, parity, lx);
    const R zero = splat<R>(0), one = splat<R>(1), square = splat<R>(a.square);
    // One chirality at a time fits the registers; storages in floating point have no unit that both blocks
    // share.
    for (int ch = 0; ch < 2; ch++) {
      R b[36], h[36];
      load_raw<S>(b, plane(a.inp, parity), x, 72, 36 * ch, keep);
      R(&m)[36] = a.twisted() ? h : b;
      if (a.twisted()) {
        multiply_blocks(h, b, b);
        PLAQ_UNROLL for (int i = 0; i < 6; i++) h[i] = h[i] + square;
      }
      const Pivots<R, W> pivots = factorise<W>(m);
      sums.add(0, select(pivots.least > zero, zero, one));
      sums.add(1, vlog(pivots.product));
      if (!a.write()) continue;
      invert_factors(m);
      if (a.twisted()) {
        store_raw<S>(h, plane(a.out, parity + 2), x, 72, 36 * ch);
        R p[36];
        multiply_blocks(p, b, h);
        store_raw<S>(p, plane(a.out, parity), x, 72, 36 * ch);
      } else {
        store_raw<S>(b, plane(a.out, parity), x, 72, 36 * ch);
      }
    }
  }
};

// One step of Newton's iteration for an approximate inverse X of A: X + X (1 - A X), made hermitian again, which
// squares the error. X need not commute with A.
template <class R> PLAQ_FN void refine_inverse(R (&out)[36], const R (&a)[36], const R (&x)[36]) {
  cplx<R> e[36];
  PLAQ_LOOP for (int i = 0; i < 6; i++) PLAQ_LOOP for (int j = 0; j < 6; j++) {
    cplx<R> s = {splat<R>(i == j ? 1 : 0), splat<R>(0)};
    PLAQ_LOOP for (int k = 0; k < 6; k++) s = msub(s, element(a, i, k), element(x, k, j));
    e[6 * i + j] = s;
  }
  const R half = splat<R>(0.5);
  PLAQ_LOOP for (int j = 0; j < 6; j++) PLAQ_LOOP for (int i = j; i < 6; i++) {
    cplx<R> s = element(x, i, j), t = element(x, j, i);
    PLAQ_LOOP for (int k = 0; k < 6; k++) {
      s = madd(s, element(x, i, k), e[6 * k + j]);
      t = madd(t, element(x, j, k), e[6 * k + i]);
    }
    if (i == j) out[i] = s.re;
    else set_below(out, i, j, {half * (s.re + t.re), half * (s.im - t.im)});
  }
}

// Computes A^-1 = A (A^2)^-1 for A that need not be positive, in double, followed by a step of Newton's iteration.
// Sums: the number of singular blocks; ln |det A|; the number of blocks with det A < 0.
template <int W, class S> struct CloverInvertAny {
  typedef real<typename S::C, W> R;
  typedef real<double, W> D;
  static PLAQ_FN void site(const CloverArgs& a, int o, int lx, int parity, Sums<3, W>& sums) {
    const Site x = site_at(a.geom, o, parity, lx);
    const D zero = splat<D>(0), one = splat<D>(1);
    for (int ch = 0; ch < 2; ch++) {
      R stored[36];
      load_raw<S>(stored, plane(a.inp, parity), x, 72, 36 * ch, keep);
      D b[36], h[36], y[36], size = zero;
      PLAQ_UNROLL for (int i = 0; i < 36; i++) b[i] = h[i] = convert<D>(stored[i]);
      PLAQ_UNROLL for (int i = 0; i < 36; i++) size = size + b[i] * b[i];
      // Adds less to the diagonal than what counts as singular, so that no leading minor vanishes.
      const D little = splat<D>(1e-9) * vsqrt(size);
      PLAQ_UNROLL for (int i = 0; i < 6; i++) h[i] = h[i] + little;
      const D determinant = factorise<W>(h).product;
      multiply_blocks(h, b, b);
      const Pivots<D, W> pivots = factorise<W>(h);
      sums.add(0, select(pivots.least > splat<D>(1e-14) * size, zero, one));
      sums.add(1, splat<D>(0.5) * vlog(pivots.product));
      sums.add(2, select(determinant < zero, one, zero));
      if (!a.write()) continue;
      invert_factors(h);
      multiply_blocks(y, b, h);
      refine_inverse(h, b, y);
      PLAQ_UNROLL for (int i = 0; i < 36; i++) stored[i] = convert<R>(h[i]);
      store_raw<S>(stored, plane(a.out, parity), x, 72, 36 * ch);
    }
  }
};

}  // namespace PLAQ_NS
