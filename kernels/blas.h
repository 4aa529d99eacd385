// Vector operations on spinor fields, with coefficients per right-hand side.
#pragma once
#include "su3.h"
#include "sums.h"

namespace PLAQ_NS {

// A piece of a vector: on the GPU, floating storage, one 16-byte load (the layout does not matter
// to element-wise work); else the 24 reals of a site.
template <class SX, class SY> struct Piece {
  static constexpr bool flat = PLAQ_GPU && !SX::fixed && sizeof(typename SX::T) == sizeof(typename SY::T) && !SY::fixed;
  static constexpr int N = flat ? 16 / (int)sizeof(typename SX::T) : 24;
};

template <bool FLAT, class S, int N, class R>
PLAQ_FN void get(R (&v)[N], const FieldView& f, int o, int lx, int batch) {
  const Plane p = plane(f, batch);
  Site s{};
  s.o = o, s.lx = lx;
  if constexpr (FLAT) load_raw<S>(v, p, s, N, 0, keep);
  else load<S>(v, p, s);
}
template <bool FLAT, class S, int N, class R>
PLAQ_FN void put(const R (&v)[N], const FieldView& f, int o, int lx, int batch) {
  const Plane p = plane(f, batch);
  Site s{};
  s.o = o, s.lx = lx;
  if constexpr (FLAT) store_raw<S>(v, p, s, N, 0);
  else store<S>(v, p, s);
}

// y += a x
template <int N, class R> PLAQ_FN void caxpy(R (&y)[N], cplx<R> a, const R (&x)[N]) {
  PLAQ_UNROLL for (int i = 0; i < N; i += 2) {
    const cplx<R> z = madd(cplx<R>{y[i], y[i + 1]}, a, cplx<R>{x[i], x[i + 1]});
    y[i] = z.re, y[i + 1] = z.im;
  }
}
// y = a y
template <int N, class R> PLAQ_FN void cscale(R (&y)[N], cplx<R> a) {
  PLAQ_UNROLL for (int i = 0; i < N; i += 2) {
    const cplx<R> z = a * cplx<R>{y[i], y[i + 1]};
    y[i] = z.re, y[i + 1] = z.im;
  }
}
template <class R> PLAQ_FN cplx<R> plain(const double* a, int rhs) { return {splat<R>(a[2 * rhs]), splat<R>(a[2 * rhs + 1])}; }
// A number that nothing writes in this launch: loops need not look again.
PLAQ_FN double unchanged(const double* at) {
#if PLAQ_GPU
  return __ldg(at);
#else
  return *at;
#endif
}
template <class R> struct Coefficient {
  cplx<R> value;
  bool used;
  // No vector that is left out may bring its NaN in.
  template <int N> PLAQ_FN void read(R (&v)[N]) const {
    if (!used) PLAQ_UNROLL for (int i = 0; i < N; i++) v[i] = splat<R>(0);
  }
};
// Number `rhs` of a, multiplied as `times` says with sums of an earlier launch, three of each plane.
template <class R> PLAQ_FN Coefficient<R> coefficient(const double* a, int rhs, int parities, int times, const char* sums) {
  double re = a[2 * rhs], im = a[2 * rhs + 1];
  if (times == TIMES_NOTHING) return {plain<R>(a, rhs), true};
  if (times != TIMES_ONE) {
    double s[3] = {0, 0, 0};
    for (int p = 0; p < parities; p++)
      for (int k = 0; k < 3; k++) s[k] += unchanged((const double*)sums + 3 * (rhs * parities + p) + k);
    if (times == TIMES_OVER_REAL) s[1] = 0;
    if (times == TIMES_OVER_DOT || times == TIMES_OVER_REAL) s[1] = -s[1], s[2] = s[0] * s[0] + s[1] * s[1];
    if (times == TIMES_OVER_NORM) s[0] = 1, s[1] = 0;
    const double inv = vrcp(s[2]), z = inv * (re * s[0] - im * s[1]);
    im = inv * (re * s[1] + im * s[0]), re = z;
  }
  const bool used = re - re == 0 && im - im == 0;
  return {{splat<R>(used ? re : 0), splat<R>(used ? im : 0)}, used};
}

// Operations that only write vectors; x and w are stored as SX, y and z as SY.
template <int W, class SX, class SY> struct Blas2 {
  typedef real<typename real_wider<typename SX::C, typename SY::C>::type, W> R;
  static constexpr bool flat = Piece<SX, SY>::flat;
  static constexpr int N = Piece<SX, SY>::N;
  static PLAQ_FN void site(const BlasArgs& a, int o, int lx, int batch) {
    const int rhs = batch / a.parities(), op = a.op();
    const Coefficient<R> first = coefficient<R>(a.a, rhs, a.parities(), a.times(), a.sums);
    const cplx<R> ca = first.value, cb = plain<R>(a.b, rhs), cc = plain<R>(a.c, rhs);
    R x[N], y[N], z[N];
    get<flat, SX>(x, a.x, o, lx, batch);
    first.read(x);
    if (op == BLAS_COPY) put<flat, SY>(x, a.y, o, lx, batch);
    if (op == BLAS_AXPBY) {
      get<flat, SY>(y, a.y, o, lx, batch);
      cscale(y, cb);
      caxpy(y, ca, x);
      put<flat, SY>(y, a.y, o, lx, batch);
    }
    if (op == BLAS_CG_UPDATE) {
      get<flat, SY>(y, a.y, o, lx, batch);
      get<flat, SY>(z, a.z, o, lx, batch);
      caxpy(z, ca, x);
      put<flat, SY>(z, a.z, o, lx, batch);
      cscale(x, cb);
      caxpy(x, cc, y);
      put<flat, SX>(x, a.x, o, lx, batch);
    }
    if (op == BLAS_AXPBYPCZ) {
      get<flat, SY>(y, a.y, o, lx, batch);
      get<flat, SY>(z, a.z, o, lx, batch);
      cscale(z, cc);
      caxpy(z, ca, x);
      caxpy(z, cb, y);
      put<flat, SY>(z, a.z, o, lx, batch);
    }
  }
};
template <int W, class S> struct Blas : Blas2<W, S, S> {};

// Operations with sums: <u, v> = sum conj(u) v.
template <int W, class S> struct BlasSum {
  typedef real<typename S::C, W> R;
  static constexpr bool flat = Piece<S, S>::flat;
  static constexpr int N = Piece<S, S>::N;
  // Products in the compute type are exact enough only for f64: sum in double.
  static PLAQ_FN void norm(Sums<3, W>& s, int k, const R (&x)[N]) {
    PLAQ_UNROLL for (int i = 0; i < N; i++) {
      const real<double, W> d = convert<real<double, W>>(x[i]);
      s.v[k] = fma_(d, d, s.v[k]);
    }
  }
  static PLAQ_FN void dot(Sums<3, W>& s, const R (&u)[N], const R (&v)[N]) {
    typedef real<double, W> D;
    PLAQ_UNROLL for (int i = 0; i < N; i += 2) {
      const D ur = convert<D>(u[i]), ui = convert<D>(u[i + 1]), vr = convert<D>(v[i]), vi = convert<D>(v[i + 1]);
      s.v[0] = fma_(ur, vr, fma_(ui, vi, s.v[0]));
      s.v[1] = fma_(ur, vi, fma_(-ui, vr, s.v[1]));
    }
  }
  static PLAQ_FN void site(const BlasArgs& a, int o, int lx, int batch, Sums<3, W>& s) {
    const int rhs = batch / a.parities(), op = a.op();
    const Coefficient<R> first = coefficient<R>(a.a, rhs, a.parities(), a.times(), a.sums);
    const cplx<R> ca = first.value;
    R x[N], y[N], z[N];
    get<flat, S>(x, a.x, o, lx, batch);
    first.read(x);
    if (op == BLAS_NORM) norm(s, 2, x);
    if (op == BLAS_DOT) {
      get<flat, S>(y, a.y, o, lx, batch);
      dot(s, x, y);
      norm(s, 2, x);
    }
    if (op == BLAS_AXPY_NORM || op == BLAS_AXPY_DOT) {
      get<flat, S>(y, a.y, o, lx, batch);
      caxpy(y, ca, x);
      put<flat, S>(y, a.y, o, lx, batch);
      norm(s, 2, y);
      if (op == BLAS_AXPY_DOT) {
        get<flat, S>(z, a.z, o, lx, batch);
        dot(s, z, y);
      }
    }
    if (op == BLAS_BICGSTAB) {
      const Coefficient<R> cb = coefficient<R>(a.b, rhs, a.parities(), a.times_bc(), a.sums_bc);
      const Coefficient<R> cc = coefficient<R>(a.c, rhs, a.parities(), a.times_bc(), a.sums_bc);
      R w[N];
      get<flat, S>(y, a.y, o, lx, batch);
      get<flat, S>(w, a.w, o, lx, batch);
      caxpy(w, ca, x);
      caxpy(w, cb.value, y);
      put<flat, S>(w, a.w, o, lx, batch);
      get<flat, S>(z, a.z, o, lx, batch);
      cc.read(z);
      caxpy(y, cc.value, z);
      put<flat, S>(y, a.y, o, lx, batch);
      get<flat, S>(z, a.v, o, lx, batch);
      dot(s, z, y);
      norm(s, 2, y);
    }
  }
};

// Heavy-quark residual: sums |x|^2, |r|^2 and sum_s |r(s)|^2 / |x(s)|^2; x = solution, y = residual.
template <int W, class S> struct HeavyQuark {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const BlasArgs& a, int o, int lx, int batch, Sums<3, W>& s) {
    typedef real<double, W> D;
    R x[24], r[24];
    get<false, S>(x, a.x, o, lx, batch);
    get<false, S>(r, a.y, o, lx, batch);
    D nx = splat<D>(0), nr = splat<D>(0);
    PLAQ_UNROLL for (int i = 0; i < 24; i++) {
      const D dx = convert<D>(x[i]), dr = convert<D>(r[i]);
      nx = fma_(dx, dx, nx), nr = fma_(dr, dr, nr);
    }
    const D zero = splat<D>(0), one = splat<D>(1);
    s.v[0] = s.v[0] + nx;
    s.v[1] = s.v[1] + nr;
    // A site where the solution vanishes counts as 1, as in QUDA's definition.
    s.v[2] = s.v[2] + select(nx > zero, nr / select(nx > zero, nx, one), one);
  }
};

// 16 bytes per element: the copy that bandwidth figures are compared with.
template <int W> struct StreamCopy {
  static PLAQ_FN void site(const StreamArgs& a, int o, int lx, int) {
#if PLAQ_GPU
    ((uint4*)a.dst)[o] = ((const uint4*)a.src)[o];
#else
    typedef long long V __attribute__((vector_size(16)));
    if (lx == 0) ((V*)a.dst)[o] = ((const V*)a.src)[o];
#endif
  }
};

}  // namespace PLAQ_NS
