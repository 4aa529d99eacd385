// Krylov spaces (krylov.h) of vectors in 16 bits with a unit for each site; their combination is added to vectors in
// single precision. Planes of a right-hand side are consecutive, and a site is a site of any of them. Or the vectors
// are columns in half precision (half_columns.h), which have no units; then only the first vector has some, by which
// sites are sampled.
#pragma once
#include "half_columns.h"
#include "sums.h"

namespace PLAQ_NS {

// Number of reals of a site that are read at a time, a load of 16 bytes.
constexpr int short_piece = 8;

PLAQ_FN Plane short_vector(const KrylovShortArgs& a, int k, int rhs) {
  return {a.x[k] + rhs * a.apart, (float*)(a.norm[k] + rhs * a.norm_apart), 0};
}
// Loads eight reals of a site from number c on, without multiplying by the unit.
template <class S, class R> PLAQ_FN void load_short(R (&v)[short_piece], const KrylovShortArgs& a, const Plane& p, const Site& at, int c) {
  if (a.columns()) load_colour(v, p.data, at, c / short_piece, a.columns(), 0);
  else load_raw<S>(v, p, at, a.reals(), c, keep);
}
template <class R> PLAQ_FN R load_unit(const KrylovShortArgs& a, const Plane& p, const Site& at) {
  return a.columns() ? splat<R>(1) : load_norm<R>(p, at);
}
PLAQ_FN Site short_site(int o, int lx) {
  Site s{};
  s.o = o, s.lx = lx;
  return s;
}

// The site to take for element o of a sample. Sites come in pairs that share sectors of memory; of each KRYLOV_SAMPLED
// pairs one is taken, chosen by the golden ratio, or one where the first vector is far larger than in the others, as
// next to a point source, so that it is not missed.
PLAQ_FN int sampled_site(const KrylovShortArgs& a, int o, int rhs) {
  constexpr int pairs = KRYLOV_SAMPLED;
  const u32 group = (u32)o / 2;
  const float* unit = (const float*)(a.norm[0] + rhs * a.norm_apart) + (i64)2 * pairs * group;
  float sum = 0, top = -1;
  int best = 0;
  PLAQ_UNROLL for (int i = 0; i < pairs; i++) {
    const float u = unit[2 * i] + unit[2 * i + 1];
    sum += u;
    if (u > top) top = u, best = i;
  }
  if (!(top > 4 * (sum - top))) best = (int)((u64)(group * 2654435769u) * pairs >> 32);
  return 2 * (pairs * (int)group + best) + o % 2;
}

// Products of vectors as KrylovGram (krylov.h). Within a site products of integers are summed in single precision, with
// a relative error of 2^-21, which is below that of storage in 16 bits.
template <int W, class S> struct KrylovShortGram {
  typedef real<typename S::C, W> R;
  typedef real<double, W> D;
  static constexpr int N = KRYLOV_TILE, V = short_piece;
  static PLAQ_FN void site(const KrylovShortArgs& a, int o, int lx, int batch, Sums<2 * N * N, W>& s) {
    const int rhs = batch / a.tiles;
    int row = batch % a.tiles, column = a.first / N;
    for (; row > column; column++) row -= column + 1;
    const Site at = short_site(a.sample() ? sampled_site(a, o, rhs) : o, lx);
    Plane x[N], y[N];
    PLAQ_UNROLL for (int i = 0; i < N; i++) {
      const int p = row * N + i, q = column * N + i;
      x[i] = short_vector(a, p < a.count ? p : a.count - 1, rhs), y[i] = short_vector(a, q < a.count ? q : a.count - 1, rhs);
    }
    R sum[2 * N * N];
    PLAQ_UNROLL for (int k = 0; k < 2 * N * N; k++) sum[k] = splat<R>(0);
    for (int c = 0; c < a.reals(); c += V) {
      R u[N][V];
      PLAQ_UNROLL for (int i = 0; i < N; i++) load_short<S>(u[i], a, x[i], at, c);
      PLAQ_UNROLL for (int j = 0; j < N; j++) {
        R v[V];
        load_short<S>(v, a, y[j], at, c);
        PLAQ_UNROLL for (int i = 0; i < N; i++) {
          const int k = 2 * (i * N + j);
          PLAQ_UNROLL for (int e = 0; e < V; e += 2) {
            sum[k] = fma_(u[i][e], v[e], fma_(u[i][e + 1], v[e + 1], sum[k]));
            sum[k + 1] = fma_(u[i][e], v[e + 1], fnma_(u[i][e + 1], v[e], sum[k + 1]));
          }
        }
      }
    }
    D left[N];
    PLAQ_UNROLL for (int i = 0; i < N; i++) left[i] = convert<D>(load_unit<R>(a, x[i], at));
    PLAQ_UNROLL for (int j = 0; j < N; j++) {
      const D right = convert<D>(load_unit<R>(a, y[j], at));
      PLAQ_UNROLL for (int i = 0; i < N; i++) {
        const D unit = left[i] * right;
        const int k = 2 * (i * N + j);
        s.v[k] = fma_(unit, convert<D>(sum[k]), s.v[k]);
        s.v[k + 1] = fma_(unit, convert<D>(sum[k + 1]), s.v[k + 1]);
      }
    }
  }
};

// For all vectors x_k of POWERS: y += sum c_k x_k, and z += sum d_k x_k - x_0. z is r in single precision and x_0 is r
// in 16 bits, so that what rounding took from x_0 stays in z.
template <int W, class S> struct KrylovShortCombine {
  typedef real<typename S::C, W> R;
  static constexpr int V = short_piece;
  // With columns, neighbouring threads of a GPU take the right-hand sides of one site.
  static PLAQ_FN void site(const KrylovShortArgs& a, Element o, int lx, int rhs) {
#if PLAQ_GPU
    if (a.columns()) rhs = (int)((Count)o % (u32)a.columns()), o = (Element)((Count)o / (u32)a.columns());
#endif
    const Site at = short_site((int)o, lx);
    const Plane py = {a.y + rhs * a.wide_apart, nullptr, 0}, pz = {a.z + rhs * a.wide_apart, nullptr, 0};
    const float* coef = (const float*)((const double*)a.coef + (i64)a.nrhs * 4 * KRYLOV_MAX_VECTORS) + (i64)rhs * 4 * KRYLOV_MAX_VECTORS;
    if (a.columns()) return add_columns(a, at, py, pz, coef, rhs);
    for (int c = 0; c < a.reals(); c += V) {
      R y[V], z[V];
      load_raw<f32>(y, py, at, a.reals(), c, keep);
      if (a.with_z()) load_raw<f32>(z, pz, at, a.reals(), c, keep);
      for (int k = 0; k < a.count; k++) {
        const Plane p = short_vector(a, k, rhs);
        R v[V];
        load_raw<S>(v, p, at, a.reals(), c, keep);
        const R unit = load_norm<R>(p, at);
        const float* from = coef + 2 * k;
        add(y, v, unit * from[0], unit * from[1]);
        from += 2 * KRYLOV_MAX_VECTORS;
        if (a.with_z()) add(z, v, unit * (from[0] - (k == 0 ? 1.0f : 0.0f)), unit * from[1]);
      }
      store_raw<f32>(y, py, at, a.reals(), c);
      if (a.with_z()) store_raw<f32>(z, pz, at, a.reals(), c);
    }
  }
  static PLAQ_FN void add(R (&y)[V], const R (&v)[V], R re, R im) {
    PLAQ_UNROLL for (int e = 0; e < V; e += 2) add_number(y[e], y[e + 1], v[e], v[e + 1], re, im);
  }
  static PLAQ_FN void add_number(R& yr, R& yi, R vr, R vi, R re, R im) {
    yr = fma_(re, vr, fnma_(im, vi, yr));
    yi = fma_(re, vi, fma_(im, vr, yi));
  }
  // For columns, which hold the four spins of a colour side by side, with spinors y and z.
  static PLAQ_FN void add_columns(const KrylovShortArgs& a, const Site& at, const Plane& py, const Plane& pz, const float* coef, int rhs) {
    const R unit = splat<R>(1 / ((const float*)a.scales)[rhs]);
    R y[24], z[24];
    load_raw<f32>(y, py, at, 24, 0, keep);
    if (a.with_z()) load_raw<f32>(z, pz, at, 24, 0, keep);
    for (int k = 0; k < a.count; k++) {
      const Plane p = short_vector(a, k, rhs);
      const float* from = coef + 2 * k;
      const R re = unit * from[0], im = unit * from[1];
      from += 2 * KRYLOV_MAX_VECTORS;
      PLAQ_UNROLL for (int c = 0; c < 3; c++) {
        R v[V];
        load_short<S>(v, a, p, at, c * V);
        PLAQ_UNROLL for (int s = 0; s < 4; s++) {
          const int e = 2 * (3 * s + c);
          add_number(y[e], y[e + 1], v[2 * s], v[2 * s + 1], re, im);
          if (a.with_z()) add_number(z[e], z[e + 1], v[2 * s], v[2 * s + 1], unit * (from[0] - (k == 0 ? 1.0f : 0.0f)), unit * from[1]);
        }
      }
    }
    store_raw<f32>(y, py, at, 24, 0);
    if (a.with_z()) store_raw<f32>(z, pz, at, 24, 0);
  }
};

}  // namespace PLAQ_NS
