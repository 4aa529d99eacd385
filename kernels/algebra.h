// Elements of su(3) as eight coefficients: h = sum_a h_a T_a, tr T_a T_b = delta_ab / 2, T_a half the Gell-Mann
// matrices in their usual order (docs/physics.md, HMC).
#pragma once
#include "recon.h"

namespace PLAQ_NS {

template <class R> struct Algebra {
  R a[8];
};
template <class R> PLAQ_FN Algebra<R> operator+(const Algebra<R>& x, const Algebra<R>& y) {
  Algebra<R> z;
  PLAQ_UNROLL for (int i = 0; i < 8; i++) z.a[i] = x.a[i] + y.a[i];
  return z;
}
template <class R> PLAQ_FN Algebra<R> operator-(const Algebra<R>& x, const Algebra<R>& y) {
  Algebra<R> z;
  PLAQ_UNROLL for (int i = 0; i < 8; i++) z.a[i] = x.a[i] - y.a[i];
  return z;
}
// x + c y
template <class R> PLAQ_FN Algebra<R> add_times(const Algebra<R>& x, R c, const Algebra<R>& y) {
  Algebra<R> z;
  PLAQ_UNROLL for (int i = 0; i < 8; i++) z.a[i] = fma_(c, y.a[i], x.a[i]);
  return z;
}
// sum_a x_a^2 = 2 tr x^2
template <class R> PLAQ_FN R norm2(const Algebra<R>& x) {
  R s = x.a[0] * x.a[0];
  PLAQ_UNROLL for (int i = 1; i < 8; i++) s = fma_(x.a[i], x.a[i], s);
  return s;
}

// A hermitian traceless matrix: diagonal, and the entries 01, 02, 12.
template <class R> struct Hermitian {
  R d[3];
  cplx<R> e01, e02, e12;
};
template <class R> PLAQ_FN Hermitian<R> matrix_of(const Algebra<R>& x) {
  const R half = splat<R>(0.5), d8 = splat<R>(0.28867513459481288) * x.a[7], d3 = half * x.a[2];
  Hermitian<R> h;
  h.d[0] = d8 + d3, h.d[1] = d8 - d3, h.d[2] = -(d8 + d8);
  h.e01 = {half * x.a[0], -half * x.a[1]}, h.e02 = {half * x.a[3], -half * x.a[4]}, h.e12 = {half * x.a[5], -half * x.a[6]};
  return h;
}
// Coefficients of h; a trace is dropped.
template <class R> PLAQ_FN Algebra<R> algebra_of(const Hermitian<R>& h) {
  const R two = splat<R>(2), root = splat<R>(0.57735026918962576);
  return {{two * h.e01.re, -two * h.e01.im, h.d[0] - h.d[1], two * h.e02.re, -two * h.e02.im, two * h.e12.re, -two * h.e12.im,
           root * (h.d[0] + h.d[1] - two * h.d[2])}};
}

// The traceless part of (W - W^dagger) / 2i: its coefficients are 2 Im tr T_a W.
template <class R> PLAQ_FN Algebra<R> imaginary(const Su3<R>& w) {
  const R root = splat<R>(0.57735026918962576);
  return {{w.e[0][1].im + w.e[1][0].im, w.e[0][1].re - w.e[1][0].re, w.e[0][0].im - w.e[1][1].im,
           w.e[0][2].im + w.e[2][0].im, w.e[0][2].re - w.e[2][0].re, w.e[1][2].im + w.e[2][1].im,
           w.e[1][2].re - w.e[2][1].re, root * (w.e[0][0].im + w.e[1][1].im - splat<R>(2) * w.e[2][2].im)}};
}

// U^dagger x U
template <class R> PLAQ_FN Algebra<R> turned_back(const Algebra<R>& x, const Su3<R>& u) {
  const Hermitian<R> h = matrix_of(x);
  Su3<R> p;  // h u
  PLAQ_UNROLL for (int j = 0; j < 3; j++) {
    p.e[0][j] = madd(madd(h.d[0] * u.e[0][j], h.e01, u.e[1][j]), h.e02, u.e[2][j]);
    p.e[1][j] = madd(madd_conj(h.d[1] * u.e[1][j], h.e01, u.e[0][j]), h.e12, u.e[2][j]);
    p.e[2][j] = madd_conj(madd_conj(h.d[2] * u.e[2][j], h.e02, u.e[0][j]), h.e12, u.e[1][j]);
  }
  const auto entry = [&](int i, int j) {
    return madd_conj(madd_conj(mul_conj(u.e[0][i], p.e[0][j]), u.e[1][i], p.e[1][j]), u.e[2][i], p.e[2][j]);
  };
  Hermitian<R> t;
  t.e01 = entry(0, 1), t.e02 = entry(0, 2), t.e12 = entry(1, 2);
  PLAQ_UNROLL for (int i = 0; i < 2; i++) {
    R s = add_products(u.e[0][i].re, p.e[0][i].re, u.e[0][i].im, p.e[0][i].im);
    PLAQ_UNROLL for (int k = 1; k < 3; k++) s = fma_(u.e[k][i].re, p.e[k][i].re, fma_(u.e[k][i].im, p.e[k][i].im, s));
    t.d[i] = s;
  }
  t.d[2] = -(t.d[0] + t.d[1]);
  return algebra_of(t);
}
// U x U^dagger
template <class R> PLAQ_FN Algebra<R> turned(const Algebra<R>& x, const Su3<R>& u) { return turned_back(x, adj(u)); }

// Element number k of the `count` elements of a site, in a field laid out as links are (`plane` belongs to the parity
// of the site).
template <class S, class R>
PLAQ_FN void load_algebra(Algebra<R>& x, const Plane& p, const Site& s, int k, int count = 4) {
  load_raw<S>(x.a, p, link_site(s), count * 8, k * 8, keep);
}
template <class S, class R>
PLAQ_FN void store_algebra(const Algebra<R>& x, const Plane& p, const Site& s, int k, int count = 4) {
  store_raw<S>(x.a, p, link_site(s), count * 8, k * 8);
}

}  // namespace PLAQ_NS
