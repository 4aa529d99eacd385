// Complex numbers and 3x3 matrices over lanes.
#pragma once
#include "field.h"

namespace PLAQ_NS {

template <class R> struct cplx {
  R re, im;
};
template <class R> PLAQ_FN cplx<R> operator+(cplx<R> a, cplx<R> b) { return {a.re + b.re, a.im + b.im}; }
template <class R> PLAQ_FN cplx<R> operator-(cplx<R> a, cplx<R> b) { return {a.re - b.re, a.im - b.im}; }
template <class R> PLAQ_FN cplx<R> operator*(cplx<R> a, cplx<R> b) {
  return {sub_products(a.re, b.re, a.im, b.im), add_products(a.re, b.im, a.im, b.re)};
}
template <class R> PLAQ_FN cplx<R> operator*(R a, cplx<R> b) { return {a * b.re, a * b.im}; }
template <class R> PLAQ_FN cplx<R> conj(cplx<R> a) { return {a.re, -a.im}; }
template <class R> PLAQ_FN R norm2(cplx<R> a) { return add_products(a.re, a.re, a.im, a.im); }
// acc + a b, and acc + conj(a) b
template <class R> PLAQ_FN cplx<R> madd(cplx<R> acc, cplx<R> a, cplx<R> b) {
  return {fnma_(a.im, b.im, fma_(a.re, b.re, acc.re)), fma_(a.im, b.re, fma_(a.re, b.im, acc.im))};
}
template <class R> PLAQ_FN cplx<R> madd_conj(cplx<R> acc, cplx<R> a, cplx<R> b) {
  return {fma_(a.im, b.im, fma_(a.re, b.re, acc.re)), fnma_(a.im, b.re, fma_(a.re, b.im, acc.im))};
}
template <class R> PLAQ_FN cplx<R> mul_conj(cplx<R> a, cplx<R> b) {  // conj(a) b
  return {add_products(a.re, b.re, a.im, b.im), sub_products(a.re, b.im, a.im, b.re)};
}
// a b and conj(a) b as the first terms of a sum, rounded as the terms that madd adds. In sweeps of gauge fixing the
// compiler needs fewer registers with these, in the hop with the operators above.
template <class R> PLAQ_FN cplx<R> first_term(cplx<R> a, cplx<R> b) {
  if constexpr (PLAQ_GPU) return a * b;
  else return {fnma_(a.im, b.im, a.re * b.re), fma_(a.im, b.re, a.re * b.im)};
}
template <class R> PLAQ_FN cplx<R> first_term_conj(cplx<R> a, cplx<R> b) {
  if constexpr (PLAQ_GPU) return mul_conj(a, b);
  else return {fma_(a.im, b.im, a.re * b.re), fnma_(a.im, b.re, a.re * b.im)};
}
// acc + a b for a real number a
template <class R> PLAQ_FN cplx<R> madd(cplx<R> acc, R a, cplx<R> b) { return {fma_(a, b.re, acc.re), fma_(a, b.im, acc.im)}; }

// acc - a b
template <class R> PLAQ_FN cplx<R> msub(cplx<R> acc, cplx<R> a, cplx<R> b) {
  return {fma_(a.im, b.im, fnma_(a.re, b.re, acc.re)), fnma_(a.im, b.re, fnma_(a.re, b.im, acc.im))};
}
// acc + conj(a b), and acc - conj(a b)
template <class R> PLAQ_FN cplx<R> madd_conj_both(cplx<R> acc, cplx<R> a, cplx<R> b) {
  return {fnma_(a.im, b.im, fma_(a.re, b.re, acc.re)), fnma_(a.im, b.re, fnma_(a.re, b.im, acc.im))};
}
template <class R> PLAQ_FN cplx<R> msub_conj_both(cplx<R> acc, cplx<R> a, cplx<R> b) {
  return {fma_(a.im, b.im, fnma_(a.re, b.re, acc.re)), fma_(a.im, b.re, fma_(a.re, b.im, acc.im))};
}

template <class R> struct Su3 {
  cplx<R> e[3][3];
};

// Third row of an SU(3) matrix: conj(row0 x row1).
template <class R> PLAQ_FN void complete_rows(Su3<R>& u) {
  PLAQ_UNROLL for (int j = 0; j < 3; j++) {
    const int k = (j + 1) % 3, l = (j + 2) % 3;
    const cplx<R> p = u.e[0][k] * u.e[1][l], q = u.e[0][l] * u.e[1][k];
    // Written as a difference with the sign turned, this takes fewer registers of a GPU in the hop.
    u.e[2][j] = PLAQ_GPU ? conj(p - q) : cplx<R>{p.re - q.re, q.im - p.im};
  }
}

// Computes the third row with one rounding less than `complete_rows`, with which the heat bath ends.
template <class R> PLAQ_FN void add_row(Su3<R>& u) {
  PLAQ_UNROLL for (int j = 0; j < 3; j++) {
    const int k = (j + 1) % 3, l = (j + 2) % 3;
    u.e[2][j] = msub_conj_both(conj(u.e[0][k] * u.e[1][l]), u.e[0][l], u.e[1][k]);
  }
}

template <class R> PLAQ_FN Su3<R> operator*(const Su3<R>& a, const Su3<R>& b) {
  Su3<R> c;
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++) {
    cplx<R> s = a.e[i][0] * b.e[0][j];
    s = madd(s, a.e[i][1], b.e[1][j]);
    c.e[i][j] = madd(s, a.e[i][2], b.e[2][j]);
  }
  return c;
}
template <class R> PLAQ_FN Su3<R> adj(const Su3<R>& a) {
  Su3<R> c;
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++) c.e[i][j] = conj(a.e[j][i]);
  return c;
}
template <class R> PLAQ_FN Su3<R> operator+(const Su3<R>& a, const Su3<R>& b) {
  Su3<R> c;
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++) c.e[i][j] = a.e[i][j] + b.e[i][j];
  return c;
}
template <class R> PLAQ_FN cplx<R> trace(const Su3<R>& a) { return a.e[0][0] + a.e[1][1] + a.e[2][2]; }
// Re tr(a b^dagger), with which closed loops end
template <class R> PLAQ_FN R re_trace_adj(const Su3<R>& a, const Su3<R>& b) {
  R s = splat<R>(0);
  PLAQ_UNROLL for (int i = 0; i < 3; i++) PLAQ_UNROLL for (int j = 0; j < 3; j++)
    s = fma_(a.e[i][j].im, b.e[i][j].im, fma_(a.e[i][j].re, b.e[i][j].re, s));
  return s;
}

template <class R> PLAQ_FN cplx<R> entry(const Su3<R>& x, int i, int j) { return x.e[i][j]; }

}  // namespace PLAQ_NS
