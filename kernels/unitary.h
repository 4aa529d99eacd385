// Distance of a matrix from its group, projection to it, and the exponential map.
#pragma once
#include "su2.h"

namespace PLAQ_NS {

// Orthonormalises rows 0 and 1 (Gram-Schmidt), row 2 = conj(row 0 x row 1). Updates of links end with this function:
// another rounding would give other configurations for the same seed (tests/data).
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
  const R *a = u.a, inv = vrsqrt(dot(u.a, u.a));
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
  unitary = det = vabs(dot(u.a, u.a) - splat<R>(1));
}

// The first two rows of exp(i sum_a h_a T_a), tr T_a T_b = delta_ab / 2, T the halved Gell-Mann matrices in
// their usual order: Taylor series, to rounding. With q = h.T powers from the third on are combinations of the
// lower ones, q^3 = c1 q + c0 (Cayley and Hamilton):
//   q^n = c0 t_(n-1) + t_(n+1) q + t_n q^2,  t_(n+2) = c1 t_n + c0 t_(n-1),  t_1 = 0, t_2 = 1, t_3 = 0.
// Where an eigenvalue may be larger than 1/2 the series is that of q / 2, q / 4, .., which is squared again.
template <class R> PLAQ_FN void exp_rows(cplx<R> (&u)[2][3], const R (&h)[8]) {
  const R half = splat<R>(0.5), quarter = splat<R>(0.25), eighth = splat<R>(0.125);
  const R d8 = splat<R>(0.28867513459481288) * h[7], d[3] = {fma_(half, h[2], d8), fnma_(half, h[2], d8), -(d8 + d8)};
  const cplx<R> q01 = {half * h[0], -half * h[1]}, q02 = {half * h[3], -half * h[4]}, q12 = {half * h[5], -half * h[6]};
  const R n01 = norm2(q01), n02 = norm2(q02), n12 = norm2(q12);
  const R c1 = n01 + n02 + n12 - fma_(d[0], d[1], d[2] * (d[0] + d[1]));
  const R twist = (q01 * q12 * conj(q02)).re;
  const R c0 = fnma_(d[2], n01, fnma_(d[1], n02, fnma_(d[0], n12, fma_(d[0] * d[1], d[2], twist + twist))));
  // c1 and c0 for the scaled q, whose eigenvalues are at most sqrt(4 g1 / 3).
  R g1 = c1, g0 = c0;
  const R max = splat<R>(3.0 / 16);
  for (int n = 0; n < 64 && lane_max(g1 - max) > 0; n++) {
    const auto large = g1 > max;
    g1 = select(large, quarter * g1, g1), g0 = select(large, eighth * g0, g0);
  }
  constexpr int terms = sizeof(typename scalar_of<R>::type) == 8 ? 14 : 8;
  R t[terms + 2];
  t[4] = g1, t[5] = g0, t[6] = g1 * g1;
  PLAQ_UNROLL for (int n = 7; n < terms + 2; n++) t[n] = fma_(g1, t[n - 2], g0 * t[n - 3]);
  cplx<R> a = {}, b = {}, c = {};  // a + b q + c q^2; a without its first term and a factor g0
  double factorial = terms == 14 ? 87178291200.0 : 40320.0;
  PLAQ_UNROLL for (int n = terms; n > 3; n--) {
    const R f = splat<R>((n & 2 ? -1 : 1) / factorial);  // i^n / n!, but for an i
    factorial /= n;
    R &at = n & 1 ? a.im : a.re, &bt = n & 1 ? b.im : b.re, &ct = n & 1 ? c.im : c.re;
    if (n > 4) at = fma_(f, t[n - 1], at);
    bt = fma_(f, t[n + 1], bt), ct = fma_(f, t[n], ct);
  }
  const R sixth = splat<R>(-1.0 / 6), one = splat<R>(1);
  a = {fma_(g0, a.re, one), g0 * (a.im + sixth)}, b.im = fma_(sixth, g1, b.im) + one, c.re = c.re - half;
  while (lane_max(c1 - g1) > 0) {
    const auto scaled = g1 < c1;
    const cplx<R> half_bc = b * c, bc = half_bc + half_bc, cc = c * c, ab = a * b, ac = a * c;
    const cplx<R> low = madd(a * a, g0, bc), mid = madd(madd(ab + ab, g1, bc), g0, cc), high = madd(madd(ac + ac, b, b), g1, cc);
    a = {select(scaled, low.re, a.re), select(scaled, low.im, a.im)};
    b = {select(scaled, half * mid.re, b.re), select(scaled, half * mid.im, b.im)};
    c = {select(scaled, quarter * high.re, c.re), select(scaled, quarter * high.im, c.im)};
    g1 = select(scaled, splat<R>(4) * g1, g1), g0 = select(scaled, splat<R>(8) * g0, g0);
  }
  // Two rows of q^2.
  const cplx<R> z01 = madd(mul_conj(q12, q02), d[0] + d[1], q01), z02 = madd(q01 * q12, d[0] + d[2], q02);
  const cplx<R> z12 = madd(mul_conj(q01, q02), d[1] + d[2], q12);
  const R z00 = fma_(d[0], d[0], n01 + n02), z11 = fma_(d[1], d[1], n01 + n12);
  u[0][0] = madd(madd(a, d[0], b), z00, c), u[0][1] = madd(b * q01, c, z01), u[0][2] = madd(b * q02, c, z02);
  u[1][0] = madd(b * conj(q01), c, conj(z01)), u[1][1] = madd(madd(a, d[1], b), z11, c), u[1][2] = madd(b * q12, c, z12);
}
// exp(i sum_a h_a T_a) u for a u in the group, whose third row is not read.
template <class R> PLAQ_FN Su3<R> exp_times(const R (&h)[8], const Su3<R>& u) {
  cplx<R> e[2][3];
  exp_rows(e, h);
  Su3<R> v;
  PLAQ_UNROLL for (int i = 0; i < 2; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++)
    v.e[i][j] = madd(madd(e[i][0] * u.e[0][j], e[i][1], u.e[1][j]), e[i][2], u.e[2][j]);
  add_row(v);
  return v;
}
// The whole matrix exp(i sum_a h_a T_a), in the group to rounding.
template <class R> PLAQ_FN void exp_whole(Su3<R>& u, const R (&h)[8]) {
  cplx<R> rows[2][3];
  exp_rows(rows, h);
  PLAQ_UNROLL for (int i = 0; i < 6; i++) u.e[i / 3][i % 3] = rows[i / 3][i % 3];
  add_row(u);
}
template <class R> PLAQ_FN void exp_generators(Su3<R>& u, const R (&h)[8]) {
  exp_whole(u, h);
  reunitarise(u);
}
// SU(2): T_a = sigma_a / 2; the series is that of the exponent / 16, squared four times.
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
