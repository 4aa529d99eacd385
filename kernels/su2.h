// SU(2) matrices a0 + i a.sigma and their real multiples: closed under sums and products, so that
// staples fit as well. Operations have the names of su3.h.
#pragma once
#include "su3.h"

namespace PLAQ_NS {

template <class R> struct Su2 {
  R a[4];
};

template <class R> PLAQ_FN Su2<R> operator*(const Su2<R>& x, const Su2<R>& y) {
  const R *p = x.a, *q = y.a;
  return {{fnma_(p[3], q[3], fnma_(p[2], q[2], fma_(p[0], q[0], -(p[1] * q[1])))),
           fma_(p[3], q[2], fnma_(p[2], q[3], fma_(p[0], q[1], p[1] * q[0]))),
           fma_(p[1], q[3], fnma_(p[3], q[1], fma_(p[0], q[2], p[2] * q[0]))),
           fma_(p[2], q[1], fnma_(p[1], q[2], fma_(p[0], q[3], p[3] * q[0])))}};
}
template <class R> PLAQ_FN Su2<R> adj(const Su2<R>& x) { return {{x.a[0], -x.a[1], -x.a[2], -x.a[3]}}; }
template <class R> PLAQ_FN Su2<R> operator+(const Su2<R>& x, const Su2<R>& y) {
  return {{x.a[0] + y.a[0], x.a[1] + y.a[1], x.a[2] + y.a[2], x.a[3] + y.a[3]}};
}
template <class R> PLAQ_FN cplx<R> trace(const Su2<R>& x) { return {x.a[0] + x.a[0], R{}}; }
template <class R> PLAQ_FN R dot(const R (&x)[4], const R (&y)[4]) {
  return fma_(x[3], y[3], fma_(x[2], y[2], fma_(x[0], y[0], x[1] * y[1])));
}
// Re tr(x y^dagger)
template <class R> PLAQ_FN R re_trace_adj(const Su2<R>& x, const Su2<R>& y) {
  const R s = dot(x.a, y.a);
  return s + s;
}

// Entry (i, j) of the 2x2 matrix a0 + i a.sigma.
template <class R> PLAQ_FN cplx<R> entry(const Su2<R>& x, int i, int j) {
  if (i == j) return {x.a[0], i == 0 ? x.a[3] : -x.a[3]};
  return {i == 0 ? x.a[2] : -x.a[2], x.a[1]};
}

}  // namespace PLAQ_NS
