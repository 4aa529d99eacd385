// Distance of a matrix from its group, the way back, and the exponential map.
#pragma once
#include "su2.h"

namespace PLAQ_NS {

// Rows 0 and 1 by Gram-Schmidt, row 2 = conj(row 0 x row 1). Updates of links end here: other rounding
// gives other configurations for the same seed (tests/data).
template <class R> PLAQ_FN void reunitarise(Su3<R>& u) {
  R inv = vrsqrt(norm2(u.e[0][0]) + norm2(u.e[0][1]) + norm2(u.e[0][2]));
  PLAQ_UNROLL for (int j = 0; j < 3; j++) u.e[0][j] = inv * u.e[0][j];
  cplx<R> along = mul_conj(u.e[0][0], u.e[1][0]);
  along = madd_conj(along, u.e[0][1], u.e[1][1]);
  along = madd_conj(along, u.e[0][2], u.e[1][2]);
  PLAQ_UNROLL for (int j = 0; j < 3; j++) u.e[1][j] = u.e[1][j] - along * u.e[0][j];
  inv = vrsqrt(norm2(u.e[1][0]) + norm2(u.e[1][1]) + norm2(u.e[1][2]));
  PLAQ_UNROLL for (int j = 0; j < 3; j++) u.e[1][j] = inv * u.e[1][j];
  complete_rows(u);
}
template <class R> PLAQ_FN void reunitarise(Su2<R>& u) {
  const R *a = u.a, inv = vrsqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3]);
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
// order: scaling by 1/4, Taylor series, squaring. To rounding in double for |h| up to 8. With
// q = h.T / 4 powers from the third on are combinations of the lower ones, q^3 = c1 q + c0 (Cayley
// and Hamilton): series and squares are those of three coefficients.
template <class R> PLAQ_FN void exp_generators(Su3<R>& u, const R (&h)[8]) {
  const R s = splat<R>(0.125), zero = splat<R>(0), one = splat<R>(1), root = splat<R>(0.57735026918962576);
  const R d8 = s * root * h[7], d[3] = {s * h[2] + d8, d8 - s * h[2], -(d8 + d8)};
  const cplx<R> q01 = {s * h[0], -s * h[1]}, q02 = {s * h[3], -s * h[4]}, q12 = {s * h[5], -s * h[6]};
  const R n01 = norm2(q01), n02 = norm2(q02), n12 = norm2(q12);
  const R c1 = n01 + n02 + n12 - (d[0] * d[1] + d[2] * (d[0] + d[1]));
  const R twist = (q01 * q12 * conj(q02)).re;
  const R c0 = d[0] * d[1] * d[2] + twist + twist - d[0] * n12 - d[1] * n02 - d[2] * n01;
  cplx<R> a = {one, zero}, b = {zero, zero}, c = b;  // a + b q + c q^2
  PLAQ_UNROLL for (int n = 19; n > 0; n--) {  // 1 + iq (1 + iq/2 (1 + iq/3 (...)))
    const R f = splat<R>(1.0 / n);
    const cplx<R> low = (f * c0) * c, mid = f * (a + c1 * c), high = f * b;
    a = {one - low.im, low.re}, b = {-mid.im, mid.re}, c = {-high.im, high.re};
  }
  for (int n = 0; n < 2; n++) {
    const cplx<R> bc = b * c + b * c, cc = c * c, ab = a * b, ac = a * c;
    const cplx<R> low = a * a + c0 * bc, mid = ab + ab + c1 * bc + c0 * cc;
    c = ac + ac + b * b + c1 * cc, a = low, b = mid;
  }
  // Two rows of q^2; the third of the result follows from them.
  const cplx<R> z01 = (d[0] + d[1]) * q01 + mul_conj(q12, q02), z02 = (d[0] + d[2]) * q02 + q01 * q12;
  const cplx<R> z12 = (d[1] + d[2]) * q12 + mul_conj(q01, q02);
  const R z00 = d[0] * d[0] + n01 + n02, z11 = d[1] * d[1] + n01 + n12;
  u.e[0][0] = a + d[0] * b + z00 * c, u.e[0][1] = b * q01 + c * z01, u.e[0][2] = b * q02 + c * z02;
  u.e[1][0] = b * conj(q01) + c * conj(z01), u.e[1][1] = a + d[1] * b + z11 * c, u.e[1][2] = b * q12 + c * z12;
  reunitarise(u);
}
// T_a = sigma_a / 2; scaling by 1/16.
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
