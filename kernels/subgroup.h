// Updates of matrices by their SU(2) subgroups (Cabibbo and Marinari, Phys. Lett. B119 (1982) 387):
// heat bath of Kennedy and Pendleton (Phys. Lett. B156 (1985) 393), reflection.
#pragma once
#include "philox.h"
#include "unitary.h"

namespace PLAQ_NS {

// Number of tries after which a link stays as it is, which does not change the distribution. The
// acceptance exceeds 0.35 for all alpha, so that this does not happen in practice (0.65^128 =
// 1e-24).
constexpr u32 max_tries = 128;

PLAQ_FN bool any(bool mask) { return mask; }
#if !PLAQ_GPU
template <class M> PLAQ_FN bool any(M mask) {
  auto r = mask[0];
  PLAQ_UNROLL for (int i = 1; i < (int)(sizeof(M) / sizeof(r)); i++) r |= mask[i];
  return r != 0;
}
#endif

template <class R> PLAQ_FN Su2<R> twice_block(const Su3<R>& w, int i, int j) {
  return {{w.e[i][i].re + w.e[j][j].re, w.e[i][j].im + w.e[j][i].im, w.e[i][j].re - w.e[j][i].re,
           w.e[i][i].im - w.e[j][j].im}};
}
template <class R> PLAQ_FN Su2<R> twice_block(const Su2<R>& w, int, int) { return w; }
// The real multiple of an SU(2) matrix in rows and columns i, j of w: Re tr(a w) is its product
// with every a of that subgroup.
template <class R> PLAQ_FN Su2<R> block(const Su3<R>& w, int i, int j) {
  const R h = splat<R>(0.5);
  const Su2<R> q = twice_block(w, i, j);
  return {{h * q.a[0], h * q.a[1], h * q.a[2], h * q.a[3]}};
}
// m = a m, where the SU(2) matrix a acts on rows i and j
template <int N, class R> PLAQ_FN void rotate(cplx<R> (&m)[N][N], const Su2<R>& a, int i, int j) {
  const cplx<R> p = {a.a[0], a.a[3]}, q = {a.a[2], a.a[1]};  // (p, q; -conj q, conj p)
  PLAQ_UNROLL for (int c = 0; c < N; c++) {
    const cplx<R> x = m[i][c], y = m[j][c];
    m[i][c] = madd(p * x, q, y);
    m[j][c] = mul_conj(p, y) - mul_conj(q, x);
  }
}
template <class R> PLAQ_FN void rotate(Su3<R>& u, const Su2<R>& a, int i, int j) { rotate(u.e, a, i, j); }

template <class R> PLAQ_FN Su2<R> block(const Su2<R>& w, int, int) { return w; }
template <class R> PLAQ_FN void rotate(Su2<R>& u, const Su2<R>& a, int, int) { u = a * u; }

// x0 in [-1, 1] with weight sqrt(1 - x0^2) exp(alpha x0), in the lanes where `open` is 0 on return:
// by Kennedy and Pendleton's method, or at small alpha, where that seldom accepts, by flat x0 with
// rejection.
template <int W, class R> PLAQ_FN R draw_x0(R alpha, const Draws<W>& draws, u32 n, R& open) {
  const R one = splat<R>(1), two = splat<R>(2), half = splat<R>(0.5), zero = splat<R>(0);
  const auto small = alpha < splat<R>(0.8);
  const R inv = vrcp(select(small, one, alpha));
  R x0 = zero;
  open = one;
  for (u32 t = 0; t < max_tries && any(open > zero); t++) {
    R u[4], s, c;
    draws.uniform(u, n + t);
    vsincospi(two * u[1], s, c);
    const R delta = -inv * fma_(c * c, vlog(u[2]), vlog(u[0]));
    R x = one - delta, bound = fnma_(half, delta, one);
    if (any(small)) {
      const R flat = fma_(two, u[0], -one);
      x = select(small, flat, x);
      bound = select(small, fnma_(flat, flat, one) * vexp(two * alpha * (flat - one)), bound);
    }
    const R now = select(u[3] * u[3] <= bound, open, zero);
    x0 = select(now > zero, x, x0);
    open = open - now;
  }
  return x0;
}

// The random SU(2) matrix a, drawn by the heat bath, that takes the block w of a subgroup to its new value a w.
template <int W, class R> PLAQ_RARE Su2<R> heat(const Su2<R> w, R factor, const Draws<W>& draws, u32 n) {
  const R one = splat<R>(1), two = splat<R>(2), zero = splat<R>(0);
  const R k = vsqrt(dot(w.a, w.a));
  R open, u[4], s, c;
  const R x0 = draw_x0(factor * k, draws, n, open);
  draws.uniform(u, n + max_tries);
  vsincospi(two * u[1], s, c);
  const R z = fma_(two, u[0], -one), r = vsqrt(vmax((one - x0) * (one + x0), zero));
  const R side = r * vsqrt((one - z) * (one + z));
  const Su2<R> x = {{x0, side * c, side * s, r * z}};
  const auto flat = k < splat<R>(1e-12f);
  const R inv = vrcp(select(flat, one, k));
  const Su2<R> back = {{select(flat, one, inv * w.a[0]), -inv * w.a[1], -inv * w.a[2], -inv * w.a[3]}};
  Su2<R> a = x * back;
  PLAQ_UNROLL for (int i = 0; i < 4; i++) a.a[i] = select(open > zero, i == 0 ? one : zero, a.a[i]);
  return a;
}
// Reflection: (q / |q|)^2; with q = w^dagger it keeps Re tr(a w) and moves as far as that allows.
template <class R> PLAQ_FN Su2<R> squared(const Su2<R>& q) {
  const R one = splat<R>(1), k2 = dot(q.a, q.a);
  const auto flat = k2 < splat<R>(1e-24f);
  const R inv = vrcp(select(flat, one, k2)), f = (inv + inv) * q.a[0];
  return {{select(flat, one, fma_(f, q.a[0], -one)), f * q.a[1], f * q.a[2], f * q.a[3]}};
}

}  // namespace PLAQ_NS
