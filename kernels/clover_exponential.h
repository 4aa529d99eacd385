// The exponentiated clover term A = exp(X), X = c (i/4) sum sigma F the traditional one less 1 (Francis, Fritzsch, Luscher,
// Rago, Comput. Phys. Commun. 255 (2020) 107355, Eq. (3.5)), and its part of fermion forces: d exp(X) is linear in dX, and
//   tr(B d exp(X)) = tr(L dX),  L = integral over s from 0 to 1 of exp(s X) B exp((1 - s) X),
// which is the derivative of exp at X in the direction B. Both are Taylor's series of X / 2^h, whose norm is at most 1,
// to the 18th power, the remainder of which is below 1e-17, squared h times.
#pragma once
#include "clover_force.h"

namespace PLAQ_NS {

// A hermitian block v, or one with the derivative d of it along a line.
template <class R> struct BlockValue {
  R v[36];
};
template <class R> struct BlockPair {
  R v[36], d[36];
};

// out += a b for hermitian blocks, of which only the lower triangle is computed: the product or the sum it belongs to is
// hermitian.
template <class R> PLAQ_FN void add_block_product(R (&out)[36], const R (&a)[36], const R (&b)[36]) {
  PLAQ_LOOP for (int j = 0; j < 6; j++) PLAQ_LOOP for (int i = j; i < 6; i++) {
    cplx<R> s = {splat<R>(0), splat<R>(0)};
    PLAQ_LOOP for (int k = 0; k < 6; k++) s = madd(s, element(a, i, k), element(b, k, j));
    if (i == j) {
      out[i] = out[i] + s.re;
    } else {
      const cplx<R> before = below(out, i, j);
      set_below(out, i, j, before + s);
    }
  }
}

template <class R> PLAQ_FN void clear_block(R (&a)[36]) {
  PLAQ_LOOP for (int i = 0; i < 36; i++) a[i] = splat<R>(0);
}
template <class R> PLAQ_FN void add_block(R (&out)[36], R c, const R (&a)[36]) {
  PLAQ_LOOP for (int i = 0; i < 36; i++) out[i] = fma_(c, a[i], out[i]);
}

// out = a b, a and b functions of the same block.
template <class R> PLAQ_FN void multiply(BlockValue<R>& out, const BlockValue<R>& a, const BlockValue<R>& b) {
  clear_block(out.v);
  add_block_product(out.v, a.v, b.v);
}
template <class R> PLAQ_FN void multiply(BlockPair<R>& out, const BlockPair<R>& a, const BlockPair<R>& b) {
  clear_block(out.v), clear_block(out.d);
  add_block_product(out.v, a.v, b.v);
  add_block_product(out.d, a.d, b.v);
  add_block_product(out.d, a.v, b.d);
}
template <class R> PLAQ_FN void add(BlockValue<R>& out, R c, const BlockValue<R>& a) { add_block(out.v, c, a.v); }
template <class R> PLAQ_FN void add(BlockPair<R>& out, R c, const BlockPair<R>& a) {
  add_block(out.v, c, a.v), add_block(out.d, c, a.d);
}
template <class R> PLAQ_FN void clear(BlockValue<R>& out) { clear_block(out.v); }
template <class R> PLAQ_FN void clear(BlockPair<R>& out) { clear_block(out.v), clear_block(out.d); }

// x = exp(x 2^h) for x of norm 1 at most: blocks of three powers by Horner's rule in the third one, then h squarings.
template <class R, template <class> class Block> PLAQ_FN void exponentiate(Block<R>& x, int halvings) {
  Block<R> two, three, sum, product;
  multiply(two, x, x);
  multiply(three, two, x);
  clear(sum);
  // 18!, and then the factorials below it, all of them exact.
  double factorial = 6402373705728000;
  add(sum, splat<R>(1 / factorial), three);
  PLAQ_LOOP for (int power = 15; power >= 0; power -= 3) {
    factorial = factorial / (power + 3);
    add(sum, splat<R>(1 / factorial), two);
    factorial = factorial / (power + 2);
    add(sum, splat<R>(1 / factorial), x);
    factorial = factorial / (power + 1);
    PLAQ_LOOP for (int i = 0; i < 6; i++) sum.v[i] = sum.v[i] + splat<R>(1 / factorial);
    if (power > 0) {
      multiply(product, sum, three);
      sum = product;
    }
  }
  PLAQ_LOOP for (int i = 0; i < halvings; i++) {
    multiply(product, sum, sum);
    sum = product;
  }
  x = sum;
}

// The factor 2^-h.
template <class R> PLAQ_FN R halved(int halvings) {
  double scale = 1;
  for (int i = 0; i < halvings; i++) scale = 0.5 * scale;
  return splat<R>(scale);
}

// Turns A = s + X into s exp(X), s = 1 but next to boundaries in time.
template <int W, class S> struct CloverExponential {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const CloverArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    const R scale = halved<R>(a.halvings), unit = clover_unit<R>(a, x);
    PLAQ_LOOP for (int ch = 0; ch < 2; ch++) {
      BlockValue<R> b;
      load_raw<S>(b.v, plane(a.inp, parity), x, 72, 36 * ch, keep);
      PLAQ_LOOP for (int i = 0; i < 6; i++) b.v[i] = b.v[i] - unit;
      PLAQ_LOOP for (int i = 0; i < 36; i++) b.v[i] = scale * b.v[i];
      exponentiate(b, a.halvings);
      PLAQ_LOOP for (int i = 0; i < 36; i++) b.v[i] = unit * b.v[i];
      store_raw<S>(b.v, plane(a.out, parity), x, 72, 36 * ch);
    }
  }
};

// Computes K of all planes as CloverInsertion does, for the exponential of `exponent` less 1.
template <int W, class S> struct CloverExponentialInsertion {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const CloverInsertionArgs& a, int o, int lx, int parity) {
    const Site x = site_at(a.geom, o, parity, lx);
    const R scale = halved<R>(a.halvings), factor = scale * clover_unit<R>(a, x);
    Insertion<R> t[2][3] = {};
    PLAQ_LOOP for (int ch = 0; ch < 2; ch++) {
      BlockPair<R> b;
      load_raw<S>(b.v, plane(a.exponent, parity), x, 72, 36 * ch, keep);
      PLAQ_LOOP for (int i = 0; i < 6; i++) b.v[i] = b.v[i] - splat<R>(1);
      PLAQ_LOOP for (int i = 0; i < 36; i++) b.v[i] = scale * b.v[i];
      clear_block(b.d);
      for (int k = 0; k < a.nrhs(); k++) {
        const R half = splat<R>(0.5 * a.coef[k]);
        R p[12], q[12];
        load_raw<S>(p, plane(a.x, 2 * k + parity), x, 24, 12 * ch, keep);
        load_raw<S>(q, plane(a.y, 2 * k + parity), x, 24, 12 * ch, keep);
        PLAQ_LOOP for (int j = 0; j < 6; j++) PLAQ_LOOP for (int i = j; i < 6; i++) {
          const cplx<R> pi = {p[2 * i], p[2 * i + 1]}, pj = {p[2 * j], p[2 * j + 1]};
          const cplx<R> qi = {q[2 * i], q[2 * i + 1]}, qj = {q[2 * j], q[2 * j + 1]};
          const cplx<R> z = mul_conj(qj, pi) + mul_conj(pj, qi);
          if (i == j) {
            b.d[i] = fma_(half, z.re, b.d[i]);
          } else {
            const int n = lower(i, j);
            b.d[n] = fma_(half, z.re, b.d[n]), b.d[n + 1] = fma_(half, z.im, b.d[n + 1]);
          }
        }
      }
      if (a.with_blocks() >> parity & 1) {
        R blocks[36];
        load_raw<S>(blocks, plane(parity ? a.odd : a.even, parity), x, 72, 36 * ch, keep);
        add_block(b.d, splat<R>(a.coef_blocks[parity]), blocks);
      }
      PLAQ_LOOP for (int i = 0; i < 36; i++) b.d[i] = factor * b.d[i];
      exponentiate(b, a.halvings);
      CloverInsertion<W, S>::add_blocks(t[ch], b.d, splat<R>(1));
    }
    CloverInsertion<W, S>::store_planes(a, x, parity, t);
  }
};

}  // namespace PLAQ_NS
