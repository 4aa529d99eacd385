// Distance of a matrix from its group, the way back, and the exponential map.
#pragma once
#include "su2.h"

namespace PLAQ_NS {

// Rows 0 and 1 by Gram-Schmidt, row 2 = conj(row 0 x row 1).
template <class R> PLAQ_FN void reunitarise(Su3<R>& u) {
  const R one = splat<R>(1);
  R inv = one / vsqrt(norm2(u.e[0][0]) + norm2(u.e[0][1]) + norm2(u.e[0][2]));
  PLAQ_UNROLL for (int j = 0; j < 3; j++) u.e[0][j] = inv * u.e[0][j];
  cplx<R> along = mul_conj(u.e[0][0], u.e[1][0]);
  along = madd_conj(along, u.e[0][1], u.e[1][1]);
  along = madd_conj(along, u.e[0][2], u.e[1][2]);
  PLAQ_UNROLL for (int j = 0; j < 3; j++) u.e[1][j] = u.e[1][j] - along * u.e[0][j];
  inv = one / vsqrt(norm2(u.e[1][0]) + norm2(u.e[1][1]) + norm2(u.e[1][2]));
  PLAQ_UNROLL for (int j = 0; j < 3; j++) u.e[1][j] = inv * u.e[1][j];
  complete_rows(u);
}
template <class R> PLAQ_FN void reunitarise(Su2<R>& u) {
  const R *a = u.a, inv = splat<R>(1) / vsqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3]);
  PLAQ_UNROLL for (int i = 0; i < 4; i++) u.a[i] = inv * u.a[i];
}

// The largest modulus of an entry of U U^dagger - 1, and |det U - 1|.
template <class R> PLAQ_FN void violation(const Su3<R>& u, R& unitary, R& det) {
  const Su3<R> p = u * adj(u);
  const R one = splat<R>(1);
  R top = splat<R>(0);
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++) {
    const R re = i == j ? p.e[i][j].re - one : p.e[i][j].re;
    top = vmax(norm2(cplx<R>{re, p.e[i][j].im}), top);
  }
  unitary = vsqrt(top);
  Su3<R> c = u;
  complete_rows(c);
  cplx<R> d = mul_conj(c.e[2][0], u.e[2][0]);
  d = madd_conj(d, c.e[2][1], u.e[2][1]);
  d = madd_conj(d, c.e[2][2], u.e[2][2]);
  d.re = d.re - one;
  det = vsqrt(norm2(d));
}
template <class R> PLAQ_FN void violation(const Su2<R>& u, R& unitary, R& det) {
  const R* a = u.a;
  unitary = det = vabs(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3] - splat<R>(1));
}

// exp(i sum_a h_a T_a), tr T_a T_b = delta_ab / 2, T the halved Gell-Mann matrices in their usual
// order: scaling by 1/16, Taylor series, squaring. To rounding in double for |h| of order 1.
template <class R> PLAQ_FN void exp_generators(Su3<R>& u, const R (&h)[8]) {
  const R s = splat<R>(1.0 / 32), zero = splat<R>(0), root = splat<R>(0.57735026918962576);
  Su3<R> x;  // i h.T / 16
  const R d8 = root * h[7];
  x.e[0][0] = {zero, s * (h[2] + d8)}, x.e[1][1] = {zero, s * (d8 - h[2])}, x.e[2][2] = {zero, -(s + s) * d8};
  x.e[0][1] = {s * h[1], s * h[0]}, x.e[0][2] = {s * h[4], s * h[3]}, x.e[1][2] = {s * h[6], s * h[5]};
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < i; j++)
    x.e[i][j] = {-x.e[j][i].re, x.e[j][i].im};
  Su3<R> one;
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++)
    one.e[i][j] = {splat<R>(i == j ? 1 : 0), zero};
  u = one;
  for (int n = 14; n > 0; n--) {  // 1 + x (1 + x/2 (1 + x/3 (...)))
    const R f = splat<R>(1) / splat<R>(n);
    const Su3<R> y = x * u;
    PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++)
      u.e[i][j] = one.e[i][j] + f * y.e[i][j];
  }
  for (int n = 0; n < 4; n++) u = u * u;
  reunitarise(u);
}
// T_a = sigma_a / 2.
template <class R> PLAQ_FN void exp_generators(Su2<R>& u, const R (&h)[3]) {
  const R s = splat<R>(1.0 / 32), zero = splat<R>(0);
  const Su2<R> x = {{zero, s * h[0], s * h[1], s * h[2]}};
  u = {{splat<R>(1), zero, zero, zero}};
  for (int n = 14; n > 0; n--) {
    const R f = splat<R>(1) / splat<R>(n);
    const Su2<R> y = x * u;
    PLAQ_UNROLL for (int i = 0; i < 4; i++) u.a[i] = f * y.a[i];
    u.a[0] = u.a[0] + splat<R>(1);
  }
  for (int n = 0; n < 4; n++) u = u * u;
  reunitarise(u);
}

}  // namespace PLAQ_NS
