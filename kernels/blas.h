// Vector operations, with coefficients per right-hand side.
#pragma once
#include "element.h"
#include "su3.h"
#include "sums.h"

namespace PLAQ_NS {

// A piece: the numbers of a vector that a thread takes at a time. A floating-point vector is a row of numbers, whatever
// its sites hold; a piece is a load of 16 bytes on a GPU, eight reals of all lanes on a CPU, a complex number if
// right-hand sides are fastest in memory. In fixed point, or with two precisions on a GPU, it is a site.
template <class SX, class SY> struct Piece {
  static constexpr bool fixed = SX::fixed || SY::fixed;
  static constexpr bool same = sizeof(typename SX::T) == sizeof(typename SY::T);
  static constexpr bool flat = !fixed && (same || !PLAQ_GPU);
  static constexpr int N = PLAQ_GPU ? 16 / (int)sizeof(typename SX::T) : 8;
};
// Ways in which a kernel reads and writes a piece. rows: as it is stored; whole: a whole site with
// its unit; measure and part: a part of a site in fixed point with any number of numbers. Such
// parts are visited twice: `measure` finds the largest results, `part` stores them in the units
// that follow from these.
enum How { rows, whole, measure, part };

// Units of the at most two vectors that a body writes, and the largest numbers, from which the units are computed.
struct Units {
  // One value for each lane of a vector; a GPU has one lane.
  float value[2][PLAQ_GPU ? 1 : 16];
  template <class R> PLAQ_FN real<float, lanes<R>::W> get(int slot) const {
#if PLAQ_GPU
    return value[slot][0];
#else
    return lane_io<float, real<float, lanes<R>::W>>::load(value[slot]);
#endif
  }
  template <class F> PLAQ_FN void set(int slot, F v) {
#if PLAQ_GPU
    value[slot][0] = v;
#else
    lane_io<float, F>::store(value[slot], v);
#endif
  }
};
// Position of a piece: the numbers from `off` on, among the `ns` numbers of a site or of an
// element.
struct PiecePosition {
  int o, lx, batch, ns, off;
  Units* units;
  // Number of elements of `ns` numbers before it, where elements are counted instead of sites.
  i64 before = 0;
};
template <class S> PLAQ_FN Plane plane_at(const FieldView& f, const PiecePosition& at) {
  Plane p = plane(f, at.batch);
  p.data += at.before * (at.ns * PLAQ_LANES * (int)sizeof(typename S::T));
  return p;
}

template <How HOW, class S, int N, class R> PLAQ_FN void get(R (&v)[N], const FieldView& f, const PiecePosition& at) {
  const Plane p = plane_at<S>(f, at);
  Site s{};
  s.o = at.o, s.lx = at.lx;
  if constexpr (HOW == whole) load<S>(v, p, s);
  else load_raw<S>(v, p, s, at.ns, at.off, keep);
  if constexpr (S::fixed && HOW != whole) {
    const R unit = load_norm<R>(p, s);
    PLAQ_UNROLL for (int i = 0; i < N; i++) v[i] = v[i] * unit;
  }
}
// Stores a piece; `slot` is the number of the body's result.
template <How HOW, class S, int N, class R> PLAQ_FN void put(const R (&v)[N], const FieldView& f, const PiecePosition& at, int slot = 0) {
  typedef real<float, lanes<R>::W> F;
  const Plane p = plane_at<S>(f, at);
  Site s{};
  s.o = at.o, s.lx = at.lx;
  if constexpr (HOW == whole) {
    store<S>(v, p, s);
  } else if constexpr (!S::fixed) {
    if constexpr (HOW != measure) store_raw<S>(v, p, s, at.ns, at.off);
  } else if constexpr (HOW == measure) {
    F top = at.off == 0 ? splat<F>(0) : at.units->template get<F>(slot);
    PLAQ_UNROLL for (int i = 0; i < N; i++) top = vmax(top, vabs(convert<F>(v[i])));
    at.units->set(slot, top);
  } else {
    const F unit = fixed_unit(at.units->template get<F>(slot));
    const R scale = splat<R>(1) / convert<R>(unit);
    R q[N];
    PLAQ_UNROLL for (int i = 0; i < N; i++) q[i] = v[i] * scale;
    store_raw<S>(q, p, s, at.ns, at.off);
    // The new unit is stored with the last piece of a site, since reading the pieces takes the old one.
    if (at.off + N == at.ns) store_norm(unit, p, s);
  }
}

// Runs body.run<N, part>(at, rhs) on all parts of a site in fixed point, of any number of numbers. The parts have the
// size that a GPU moves at once, by which its layout is ordered (field.h).
template <int N, How HOW, class Body> PLAQ_FN void parts_of(PiecePosition at, int rhs, const Body& body) {
  for (at.off = 0; at.off < at.ns; at.off += N) body.template run<N, HOW>(at, rhs);
}
template <int N, class Body> PLAQ_FN void parts(const PiecePosition& at, int rhs, bool writes, const Body& body) {
  if (writes) parts_of<N, measure>(at, rhs, body);
  parts_of<N, part>(at, rhs, body);
}
template <class Body> PLAQ_FN void site_parts(int o, int lx, int batch, int ns, int rhs, bool writes, const Body& body) {
  Units units;
  const PiecePosition at{o, lx, batch, ns, 0, &units};
#if PLAQ_GPU
  constexpr int numbers = BlasArgs{}.reals();
  parts<numbers % 8 == 0 ? 8 : numbers % 4 == 0 ? 4 : 2>(at, rhs, writes, body);
#else
  parts<2>(at, rhs, writes, body);
#endif
}

// Runs body.run<N, HOW>(at, rhs) on all pieces of element o. With right-hand sides fastest in memory an element is one
// of their numbers: with `sums` the batch is the right-hand side, else o counts both, and a GPU's thread takes several
// numbers of one, as coefficients of neighbouring threads are read one by one. `writes`: results are stored.
template <class SX, class SY, int W, class Body>
PLAQ_FN void pieces(const BlasArgs& a, Element o, int lx, int batch, bool sums, bool writes, const Body& body) {
  typedef Piece<SX, SY> P;
  PLAQ_FIXED(BlasArgs, fixed, a);
  if constexpr (!P::fixed && W == 1) {
    PLAQ_IF (fixed.fastest()) {
      const Element e = sums ? o : o / a.count;
      const int r = sums ? batch : (int)(o % a.count);
#if PLAQ_GPU
      if (!sums && a.count > 1 && a.reals() % (2 * BLAS_NUMBERS) == 0) {
        PLAQ_UNROLL for (int k = 0; k < BLAS_NUMBERS; k++)
          body.template run<2, rows>(PiecePosition{0, 0, 0, 2, 0, nullptr, (i64)(BLAS_NUMBERS * e + k) * a.rhs + r}, r);
        return;
      }
#endif
      body.template run<2, rows>(PiecePosition{0, 0, 0, 2, 0, nullptr, (i64)e * a.rhs + r}, r);
      return;
    }
  }
  const int rhs = batch / a.parities();
  if constexpr (P::flat) {
    body.template run<P::N, rows>(PiecePosition{0, lx, batch, P::N, 0, nullptr, o}, rhs);
  } else if constexpr (P::fixed) {
    PLAQ_IF (fixed.reals() == 24) body.template run<24, whole>(PiecePosition{(int)o, lx, batch, 24, 0, nullptr}, rhs);
    else PLAQ_IF (fixed.reals() == 6) body.template run<6, whole>(PiecePosition{(int)o, lx, batch, 6, 0, nullptr}, rhs);
    else site_parts((int)o, lx, batch, a.reals(), rhs, writes, body);
  } else if (a.reals() % 4 == 0) {
    for (int c = 0; c < a.reals(); c += 4) body.template run<4, rows>(PiecePosition{(int)o, lx, batch, a.reals(), c, nullptr}, rhs);
  } else {
    for (int c = 0; c < a.reals(); c += 2) body.template run<2, rows>(PiecePosition{(int)o, lx, batch, a.reals(), c, nullptr}, rhs);
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
// Reads a number that nothing writes in this launch, so that loops need not read it again.
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
  // A vector that is not used must not bring in a NaN.
  template <int N> PLAQ_FN void read(R (&v)[N]) const {
    if (!used) PLAQ_UNROLL for (int i = 0; i < N; i++) v[i] = splat<R>(0);
  }
};
// Coefficient number `rhs` of a, multiplied by sums of earlier launches as `times` says (three
// coefficients for each plane).
template <class R>
PLAQ_FN Coefficient<R> coefficient(const double* a, int rhs, int parities, int times, const char* sums, const char* above) {
  double re = a[2 * rhs], im = a[2 * rhs + 1];
  if (times == TIMES_NOTHING) return {plain<R>(a, rhs), true};
  if (times == TIMES_NORM || times == TIMES_NORM_OVER_REAL || times == TIMES_NORM_OVER_NORM) {
    double norm = 0;
    for (int p = 0; p < parities; p++) norm += unchanged((const double*)above + 3 * (rhs * parities + p) + 2);
    re *= norm, im *= norm;
  }
  if (times != TIMES_ONE && times != TIMES_NORM) {
    double s[3] = {0, 0, 0};
    for (int p = 0; p < parities; p++)
      for (int k = 0; k < 3; k++) s[k] += unchanged((const double*)sums + 3 * (rhs * parities + p) + k);
    const bool real = times == TIMES_OVER_REAL || times == TIMES_NORM_OVER_REAL;
    if (real) s[1] = 0;
    if (times == TIMES_OVER_DOT || real) s[1] = -s[1], s[2] = s[0] * s[0] + s[1] * s[1];
    if (times == TIMES_OVER_NORM || times == TIMES_NORM_OVER_NORM) s[0] = 1, s[1] = 0;
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
  template <int N, How HOW> PLAQ_FN void run(const PiecePosition& at, int rhs) const {
    PLAQ_FIXED(BlasArgs, fixed, a);
    const Coefficient<R> first = coefficient<R>(a.a, rhs, a.parities(), a.times(), a.sums, a.above);
    const cplx<R> ca = first.value, cb = plain<R>(a.b, rhs), cc = plain<R>(a.c, rhs);
    R x[N], y[N], z[N];
    get<HOW, SX>(x, a.x, at);
    first.read(x);
    PLAQ_IF (fixed.op() == BLAS_COPY) put<HOW, SY>(x, a.y, at);
    PLAQ_IF (fixed.op() == BLAS_AXPBY) {
      get<HOW, SY>(y, a.y, at);
      cscale(y, cb);
      caxpy(y, ca, x);
      put<HOW, SY>(y, a.y, at);
    }
    PLAQ_IF (fixed.op() == BLAS_CG_UPDATE) {
      get<HOW, SY>(y, a.y, at);
      get<HOW, SY>(z, a.z, at);
      caxpy(z, ca, x);
      put<HOW, SY>(z, a.z, at);
      const Coefficient<R> second = coefficient<R>(a.b, rhs, a.parities(), a.times_bc(), a.sums_bc, a.above_bc);
      second.read(x);
      cscale(x, second.value);
      caxpy(x, cc, y);
      put<HOW, SX>(x, a.x, at, 1);
    }
    PLAQ_IF (fixed.op() == BLAS_AXPBYPCZ) {
      get<HOW, SY>(y, a.y, at);
      get<HOW, SY>(z, a.z, at);
      cscale(z, cc);
      caxpy(z, ca, x);
      caxpy(z, cb, y);
      put<HOW, SY>(z, a.z, at);
    }
  }
  static PLAQ_FN void site(const BlasArgs& a, Element o, int lx, int batch) {
    pieces<SX, SY, W>(a, o, lx, batch, false, true, Blas2{a});
  }
};
template <int W, class S> struct Blas : Blas2<W, S, S> {};

// Operations that return sums; <u, v> = sum conj(u) v.
template <int W, class S> struct BlasSum {
  typedef real<typename S::C, W> R;
  const BlasArgs& a;
  Sums<3, W>& s;
  // Sums in double: products in single precision are not exact enough.
  template <int N, How HOW> PLAQ_FN void norm(const R (&x)[N]) const {
    if (HOW == measure) return;
    PLAQ_UNROLL for (int i = 0; i < N; i++) {
      const real<double, W> d = convert<real<double, W>>(x[i]);
      s.v[2] = fma_(d, d, s.v[2]);
    }
  }
  template <int N, How HOW> PLAQ_FN void dot(const R (&u)[N], const R (&v)[N]) const {
    if (HOW == measure) return;
    typedef real<double, W> D;
    PLAQ_UNROLL for (int i = 0; i < N; i += 2) {
      const D ur = convert<D>(u[i]), ui = convert<D>(u[i + 1]), vr = convert<D>(v[i]), vi = convert<D>(v[i + 1]);
      s.v[0] = fma_(ur, vr, fma_(ui, vi, s.v[0]));
      s.v[1] = fma_(ur, vi, fnma_(ui, vr, s.v[1]));
    }
  }
  template <int N, How HOW> PLAQ_FN void run(const PiecePosition& at, int rhs) const {
    PLAQ_FIXED(BlasArgs, fixed, a);
    const Coefficient<R> first = coefficient<R>(a.a, rhs, a.parities(), a.times(), a.sums, a.above);
    const cplx<R> ca = first.value;
    R x[N], y[N], z[N];
    get<HOW, S>(x, a.x, at);
    first.read(x);
    PLAQ_IF (fixed.op() == BLAS_NORM) norm<N, HOW>(x);
    PLAQ_IF (fixed.op() == BLAS_DOT) {
      get<HOW, S>(y, a.y, at);
      dot<N, HOW>(x, y);
      norm<N, HOW>(x);
    }
    PLAQ_IF (fixed.op() == BLAS_AXPY_NORM || fixed.op() == BLAS_AXPY_DOT) {
      get<HOW, S>(y, a.y, at);
      caxpy(y, ca, x);
      put<HOW, S>(y, a.y, at);
      norm<N, HOW>(y);
      PLAQ_IF (fixed.op() == BLAS_AXPY_DOT) {
        get<HOW, S>(z, a.z, at);
        dot<N, HOW>(z, y);
      }
    }
    PLAQ_IF (fixed.op() == BLAS_BICGSTAB) {
      const Coefficient<R> cb = coefficient<R>(a.b, rhs, a.parities(), a.times_bc(), a.sums_bc, a.above_bc);
      const Coefficient<R> cc = coefficient<R>(a.c, rhs, a.parities(), a.times_bc(), a.sums_bc, a.above_bc);
      R w[N];
      get<HOW, S>(y, a.y, at);
      get<HOW, S>(w, a.w, at);
      caxpy(w, ca, x);
      caxpy(w, cb.value, y);
      put<HOW, S>(w, a.w, at, 1);
      get<HOW, S>(z, a.z, at);
      cc.read(z);
      caxpy(y, cc.value, z);
      put<HOW, S>(y, a.y, at);
      get<HOW, S>(z, a.v, at);
      dot<N, HOW>(z, y);
      norm<N, HOW>(y);
    }
  }
  static PLAQ_FN void site(const BlasArgs& a, Element o, int lx, int batch, Sums<3, W>& s) {
    const bool writes = a.op() != BLAS_NORM && a.op() != BLAS_DOT;
    pieces<S, S, W>(a, o, lx, batch, true, writes, BlasSum{a, s});
  }
};

// Heavy-quark residual: the number of sites s where the solution x vanishes, and the sum of |r(s)|^2 / |x(s)|^2 over the
// others; y = residual r. They are apart since the sum may be too small to be added to a number of sites.
template <int W, class S> struct HeavyQuark {
  typedef real<typename S::C, W> R;
  typedef real<double, W> D;
  template <int N, How HOW> static PLAQ_FN void add(D& sum, const FieldView& f, const PiecePosition& at) {
    R v[N];
    get<HOW, S>(v, f, at);
    PLAQ_UNROLL for (int i = 0; i < N; i++) {
      const D d = convert<D>(v[i]);
      sum = fma_(d, d, sum);
    }
  }
  template <int N> static PLAQ_FN void each(D& sum, const FieldView& f, PiecePosition at) {
    for (; at.off < at.ns; at.off += N) add<N, part>(sum, f, at);
  }
  static PLAQ_FN D norm(const BlasArgs& a, const FieldView& f, int o, int lx, int batch) {
    D sum = splat<D>(0);
    const int n = a.reals();
    if constexpr (S::fixed) {
      if (n == 24) add<24, whole>(sum, f, PiecePosition{o, lx, batch, 24, 0, nullptr});
      else if (PLAQ_GPU && n % 8 == 0) each<8>(sum, f, PiecePosition{o, lx, batch, n, 0, nullptr});
      else if (PLAQ_GPU && n % 4 == 0) each<4>(sum, f, PiecePosition{o, lx, batch, n, 0, nullptr});
      else each<2>(sum, f, PiecePosition{o, lx, batch, n, 0, nullptr});
    } else {
      if (W == 1 && a.fastest())
        for (int c = 0; c < n / 2; c++) add<2, rows>(sum, f, PiecePosition{0, 0, 0, 2, 0, nullptr, ((i64)o * (n / 2) + c) * a.rhs + batch});
      else if (n % 4 == 0)
        for (int c = 0; c < n; c += 4) add<4, rows>(sum, f, PiecePosition{o, lx, batch, n, c, nullptr});
      else
        for (int c = 0; c < n; c += 2) add<2, rows>(sum, f, PiecePosition{o, lx, batch, n, c, nullptr});
    }
    return sum;
  }
  static PLAQ_FN void site(const BlasArgs& a, int o, int lx, int batch, Sums<2, W>& s) {
    const D nx = norm(a, a.x, o, lx, batch), nr = norm(a, a.y, o, lx, batch);
    const D zero = splat<D>(0), one = splat<D>(1);
    s.v[0] = s.v[0] + select(nx > zero, zero, one);
    s.v[1] = s.v[1] + select(nx > zero, nr / select(nx > zero, nx, one), zero);
  }
};

// The sum of |x|^2 over sites and the largest one of a site.
template <int W, class S> struct SiteLargest {
  typedef real<double, W> D;
  static PLAQ_FN void site(const BlasArgs& a, int o, int lx, int batch, Sums<2, W>& s) {
    const D n = HeavyQuark<W, S>::norm(a, a.x, o, lx, batch);
    s.add(0, n);
    s.max(1, n);
  }
};

// Copies 16 bytes per element: the copy with which bandwidths are compared.
template <int W> struct StreamCopy {
  static PLAQ_FN void site(const StreamArgs& a, Element o, int lx, int) {
#if PLAQ_GPU
    ((uint4*)a.dst)[o] = ((const uint4*)a.src)[o];
#else
    typedef long long V __attribute__((vector_size(16)));
    if (lx == 0) ((V*)a.dst)[o] = ((const V*)a.src)[o];
#endif
  }
};

}  // namespace PLAQ_NS
