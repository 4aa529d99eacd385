// Vector operations, with coefficients per right-hand side.
#pragma once
#include "su3.h"
#include "sums.h"

namespace PLAQ_NS {

// What a thread takes of a vector at a time. Vectors of floating storage are rows of numbers, whatever a
// site holds: on a GPU one 16-byte load, on a CPU eight numbers of all lanes; where right-hand sides are
// fastest one complex number. Else (fixed point, or on a GPU two storages) all numbers of a site.
template <class SX, class SY> struct Piece {
  static constexpr bool fixed = SX::fixed || SY::fixed;
  static constexpr bool same = sizeof(typename SX::T) == sizeof(typename SY::T);
  static constexpr bool flat = !fixed && (same || !PLAQ_GPU);
  static constexpr int N = PLAQ_GPU ? 16 / (int)sizeof(typename SX::T) : 8;
};
// Where a piece is: of `ns` numbers those from `off` on.
struct At {
  int o, lx, batch, ns, off;
};

template <bool SITE, class S, int N, class R> PLAQ_FN void get(R (&v)[N], const FieldView& f, const At& at) {
  const Plane p = plane(f, at.batch);
  Site s{};
  s.o = at.o, s.lx = at.lx;
  if constexpr (SITE) load<S>(v, p, s);
  else load_raw<S>(v, p, s, at.ns, at.off, keep);
}
template <bool SITE, class S, int N, class R> PLAQ_FN void put(const R (&v)[N], const FieldView& f, const At& at) {
  const Plane p = plane(f, at.batch);
  Site s{};
  s.o = at.o, s.lx = at.lx;
  if constexpr (SITE) store<S>(v, p, s);
  else store_raw<S>(v, p, s, at.ns, at.off);
}

// Runs body.run<N, SITE>(at, rhs) on all pieces of element o. Right-hand sides that are fastest come as
// batches where there are sums, else beside each other.
template <class SX, class SY, int W, class Body>
PLAQ_FN void pieces(const BlasArgs& a, int o, int lx, int batch, bool sums, const Body& body) {
  typedef Piece<SX, SY> P;
  if constexpr (!P::fixed && W == 1) {
    if (a.fastest()) {
      const int e = sums ? o : o / a.count, r = sums ? batch : o % a.count;
      body.template run<2, false>(At{e * a.rhs + r, 0, 0, 2, 0}, r);
      return;
    }
  }
  const int rhs = batch / a.parities();
  if constexpr (P::flat) {
    body.template run<P::N, false>(At{o, lx, batch, P::N, 0}, rhs);
  } else if constexpr (P::fixed) {
    if (a.reals() == 24) body.template run<24, true>(At{o, lx, batch, 24, 0}, rhs);
    else body.template run<6, true>(At{o, lx, batch, 6, 0}, rhs);
  } else if (a.reals() % 4 == 0) {
    for (int c = 0; c < a.reals(); c += 4) body.template run<4, false>(At{o, lx, batch, a.reals(), c}, rhs);
  } else {
    for (int c = 0; c < a.reals(); c += 2) body.template run<2, false>(At{o, lx, batch, a.reals(), c}, rhs);
  }
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
  const BlasArgs& a;
  template <int N, bool SITE> PLAQ_FN void run(const At& at, int rhs) const {
    const int op = a.op();
    const Coefficient<R> first = coefficient<R>(a.a, rhs, a.parities(), a.times(), a.sums);
    const cplx<R> ca = first.value, cb = plain<R>(a.b, rhs), cc = plain<R>(a.c, rhs);
    R x[N], y[N], z[N];
    get<SITE, SX>(x, a.x, at);
    first.read(x);
    if (op == BLAS_COPY) put<SITE, SY>(x, a.y, at);
    if (op == BLAS_AXPBY) {
      get<SITE, SY>(y, a.y, at);
      cscale(y, cb);
      caxpy(y, ca, x);
      put<SITE, SY>(y, a.y, at);
    }
    if (op == BLAS_CG_UPDATE) {
      get<SITE, SY>(y, a.y, at);
      get<SITE, SY>(z, a.z, at);
      caxpy(z, ca, x);
      put<SITE, SY>(z, a.z, at);
      cscale(x, cb);
      caxpy(x, cc, y);
      put<SITE, SX>(x, a.x, at);
    }
    if (op == BLAS_AXPBYPCZ) {
      get<SITE, SY>(y, a.y, at);
      get<SITE, SY>(z, a.z, at);
      cscale(z, cc);
      caxpy(z, ca, x);
      caxpy(z, cb, y);
      put<SITE, SY>(z, a.z, at);
    }
  }
  static PLAQ_FN void site(const BlasArgs& a, int o, int lx, int batch) {
    pieces<SX, SY, W>(a, o, lx, batch, false, Blas2{a});
  }
};
template <int W, class S> struct Blas : Blas2<W, S, S> {};

// Operations with sums: <u, v> = sum conj(u) v.
template <int W, class S> struct BlasSum {
  typedef real<typename S::C, W> R;
  const BlasArgs& a;
  Sums<3, W>& s;
  // Products in the compute type are exact enough only for f64: sum in double.
  template <int N> PLAQ_FN void norm(const R (&x)[N]) const {
    PLAQ_UNROLL for (int i = 0; i < N; i++) {
      const real<double, W> d = convert<real<double, W>>(x[i]);
      s.v[2] = fma_(d, d, s.v[2]);
    }
  }
  template <int N> PLAQ_FN void dot(const R (&u)[N], const R (&v)[N]) const {
    typedef real<double, W> D;
    PLAQ_UNROLL for (int i = 0; i < N; i += 2) {
      const D ur = convert<D>(u[i]), ui = convert<D>(u[i + 1]), vr = convert<D>(v[i]), vi = convert<D>(v[i + 1]);
      s.v[0] = fma_(ur, vr, fma_(ui, vi, s.v[0]));
      s.v[1] = fma_(ur, vi, fma_(-ui, vr, s.v[1]));
    }
  }
  template <int N, bool SITE> PLAQ_FN void run(const At& at, int rhs) const {
    const int op = a.op();
    const Coefficient<R> first = coefficient<R>(a.a, rhs, a.parities(), a.times(), a.sums);
    const cplx<R> ca = first.value;
    R x[N], y[N], z[N];
    get<SITE, S>(x, a.x, at);
    first.read(x);
    if (op == BLAS_NORM) norm(x);
    if (op == BLAS_DOT) {
      get<SITE, S>(y, a.y, at);
      dot(x, y);
      norm(x);
    }
    if (op == BLAS_AXPY_NORM || op == BLAS_AXPY_DOT) {
      get<SITE, S>(y, a.y, at);
      caxpy(y, ca, x);
      put<SITE, S>(y, a.y, at);
      norm(y);
      if (op == BLAS_AXPY_DOT) {
        get<SITE, S>(z, a.z, at);
        dot(z, y);
      }
    }
    if (op == BLAS_BICGSTAB) {
      const Coefficient<R> cb = coefficient<R>(a.b, rhs, a.parities(), a.times_bc(), a.sums_bc);
      const Coefficient<R> cc = coefficient<R>(a.c, rhs, a.parities(), a.times_bc(), a.sums_bc);
      R w[N];
      get<SITE, S>(y, a.y, at);
      get<SITE, S>(w, a.w, at);
      caxpy(w, ca, x);
      caxpy(w, cb.value, y);
      put<SITE, S>(w, a.w, at);
      get<SITE, S>(z, a.z, at);
      cc.read(z);
      caxpy(y, cc.value, z);
      put<SITE, S>(y, a.y, at);
      get<SITE, S>(z, a.v, at);
      dot(z, y);
      norm(y);
    }
  }
  static PLAQ_FN void site(const BlasArgs& a, int o, int lx, int batch, Sums<3, W>& s) {
    pieces<S, S, W>(a, o, lx, batch, true, BlasSum{a, s});
  }
};

// Heavy-quark residual: sums |x|^2, |r|^2 and sum_s |r(s)|^2 / |x(s)|^2; x = solution, y = residual.
template <int W, class S> struct HeavyQuark {
  typedef real<typename S::C, W> R;
  typedef real<double, W> D;
  template <int N, bool SITE> static PLAQ_FN void add(D& sum, const FieldView& f, const At& at) {
    R v[N];
    get<SITE, S>(v, f, at);
    PLAQ_UNROLL for (int i = 0; i < N; i++) {
      const D d = convert<D>(v[i]);
      sum = fma_(d, d, sum);
    }
  }
  static PLAQ_FN D norm(const BlasArgs& a, const FieldView& f, int o, int lx, int batch) {
    D sum = splat<D>(0);
    const int n = a.reals();
    if constexpr (S::fixed) {
      if (n == 24) add<24, true>(sum, f, At{o, lx, batch, 24, 0});
      else add<6, true>(sum, f, At{o, lx, batch, 6, 0});
    } else {
      if (W == 1 && a.fastest())
        for (int c = 0; c < n / 2; c++) add<2, false>(sum, f, At{(o * (n / 2) + c) * a.rhs + batch, 0, 0, 2, 0});
      else if (n % 4 == 0)
        for (int c = 0; c < n; c += 4) add<4, false>(sum, f, At{o, lx, batch, n, c});
      else
        for (int c = 0; c < n; c += 2) add<2, false>(sum, f, At{o, lx, batch, n, c});
    }
    return sum;
  }
  static PLAQ_FN void site(const BlasArgs& a, int o, int lx, int batch, Sums<3, W>& s) {
    const D nx = norm(a, a.x, o, lx, batch), nr = norm(a, a.y, o, lx, batch);
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
