// Products with matrices of the gauge group by two of their columns: the third column of SU(3) is the conjugate of the
// vector product of these.
#pragma once
#include "recon.h"

namespace PLAQ_NS {

template <class R> struct Columns {
  cplx<R> e[3][2];
};

// The first two columns of g^dagger, or for SU(2) the whole of g^dagger.
template <class R> PLAQ_FN Columns<R> adjoint_columns(const Su3<R>& g) {
  Columns<R> v;
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 2; j++) v.e[i][j] = conj(g.e[j][i]);
  return v;
}
template <class R> PLAQ_FN Su2<R> adjoint_columns(const Su2<R>& g) { return adj(g); }

// Adds the matrix with these first two columns to w.
template <class R> PLAQ_FN void add_columns(Su3<R>& w, const Columns<R>& v) {
  PLAQ_UNROLL for (int i = 0; i < 3; i++) {
    const int k = (i + 1) % 3, l = (i + 2) % 3;
    w.e[i][0] = w.e[i][0] + v.e[i][0], w.e[i][1] = w.e[i][1] + v.e[i][1];
    w.e[i][2] = msub_conj_both(madd_conj_both(w.e[i][2], v.e[k][0], v.e[l][1]), v.e[l][0], v.e[k][1]);
  }
}
template <class R> PLAQ_FN void add_columns(Su2<R>& w, const Su2<R>& v) { w = w + v; }

// u v, or u^dagger v, for the matrix v with these two columns.
template <bool ADJOINT, class R> PLAQ_FN Columns<R> times(const Su3<R>& u, const Columns<R>& v) {
  Columns<R> c;
  PLAQ_UNROLL for (int j = 0; j < 2; j++) PLAQ_UNROLL for (int i = 0; i < 3; i++) {
    if constexpr (ADJOINT) c.e[i][j] = madd_conj(madd_conj(first_term_conj(u.e[0][i], v.e[0][j]), u.e[1][i], v.e[1][j]), u.e[2][i], v.e[2][j]);
    else c.e[i][j] = madd(madd(first_term(u.e[i][0], v.e[0][j]), u.e[i][1], v.e[1][j]), u.e[i][2], v.e[2][j]);
  }
  return c;
}
template <bool ADJOINT, class R> PLAQ_FN Su2<R> times(const Su2<R>& u, const Su2<R>& v) { return (ADJOINT ? adj(u) : u) * v; }

// A link of eight numbers (recon.h) as the product of two: its rows are a = -s e1 Q and, with orthogonal
// unit vectors r and r', (0, r) Q and (0, r') Q, of the unitary Q = 1 - t x^dagger x, t = 2 x1 / |x|^2 |x1|^2.
// det Q = -x1 / x1^* makes r' = s (x1^*)^2 / |x1|^2 (-r2^*, r1^*).
template <class R> struct Reflected {
  cplx<R> x[3], r[2][2];
  R h, f;
};
// u v, or u^dagger v, for a link u of eight numbers and the matrix v with these two columns.
template <bool ADJOINT, class R> PLAQ_FN Columns<R> times(const Reflected<R>& u, const Columns<R>& v) {
  const R s = vcopysign(splat<R>(1), u.f), tilt = u.x[0].im;
  Columns<R> c;
  PLAQ_UNROLL for (int j = 0; j < 2; j++) {
    cplx<R> m[3] = {v.e[0][j], v.e[1][j], v.e[2][j]};
    if (ADJOINT) {
      const cplx<R> p = madd_conj(mul_conj(u.r[0][0], m[1]), u.r[1][0], m[2]);
      m[2] = madd_conj(mul_conj(u.r[0][1], m[1]), u.r[1][1], m[2]);
      m[1] = p, m[0] = -s * m[0];
    }
    // <x^*, m>, x1 = 1 + i tilt
    const cplx<R> first = {fnma_(tilt, m[0].im, m[0].re), fma_(tilt, m[0].re, m[0].im)};
    const cplx<R> along = madd(madd(first, u.x[1], m[1]), u.x[2], m[2]);
    const R turn = ADJOINT ? -tilt : tilt;
    const cplx<R> y = u.h * cplx<R>{fnma_(turn, along.im, along.re), fma_(turn, along.re, along.im)};
    if (ADJOINT) c.e[0][j] = {m[0].re - fma_(tilt, y.im, y.re), m[0].im - fnma_(tilt, y.re, y.im)};
    else c.e[0][j] = {fma_(u.f, along.re, -s * m[0].re), fma_(u.f, along.im, -s * m[0].im)};
    PLAQ_UNROLL for (int i = 1; i < 3; i++) m[i] = msub(m[i], conj(u.x[i]), y);
    PLAQ_UNROLL for (int i = 1; i < 3; i++) c.e[i][j] = ADJOINT ? m[i] : madd(u.r[i - 1][0] * m[1], u.r[i - 1][1], m[2]);
  }
  return c;
}

// The type as which a link of a storage is read to be multiplied: a matrix or eight numbers.
template <int STORAGE, class R> struct FactorType { typedef LinkOf<STORAGE, R> type; };
template <class R> struct FactorType<R8, R> { typedef Reflected<R> type; };
template <int STORAGE, class R> using FactorOf = typename FactorType<STORAGE, R>::type;

template <class S, int STORAGE, class U>
PLAQ_FN void load_factor(U& u, const Plane& gauge, const Site& s, int mu, Hint hint) {
  load_link<S, STORAGE>(u, gauge, s, mu, hint);
}
template <class S, int STORAGE, class R>
PLAQ_FN void load_factor(Reflected<R>& u, const Plane& gauge, const Site& s, int mu, Hint hint) {
  R v[8];
  load_part<S>(v, gauge, link_site(s), 32, mu * 8, hint);
  Recon<R8>::Vectors<R> of;
  Recon<R8>::vectors(of, v);
  PLAQ_UNROLL for (int i = 0; i < 3; i++) u.x[i] = of.x[i];
  u.h = of.h, u.f = of.f, u.r[0][0] = of.r[0], u.r[0][1] = of.r[1];
  const R n = vcopysign(splat<R>(0.5) * of.h * of.all, of.f), twice = of.x[0].im + of.x[0].im;
  const cplx<R> phase = {n * (splat<R>(2) - of.first), -twice * n};
  u.r[1][0] = msub(cplx<R>{}, phase, conj(of.r[1])), u.r[1][1] = phase * conj(of.r[0]);
}

}  // namespace PLAQ_NS
