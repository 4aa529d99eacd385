// Fourier-accelerated gauge fixing (Davies et al., Phys. Rev. D37 (1988) 1581): the gradient of the
// functional of traces, its product with p2max / p^2 in momentum space, steps along a direction.
// An element sum_a h_a T_a of the Lie algebra, tr T_a T_b = delta_ab / 2, is kept as numbers h_2k,
// h_2k+1 in complex array k: the factor is real and even in p, so that a transform takes two numbers.
// Sites are in lexicographic order with direction `time` slowest: what lies across it is contiguous.
#pragma once
#include "gaugefix.h"

namespace PLAQ_NS {

template <int N> constexpr int generators = N * N - 1;
template <int N> constexpr int algebra_arrays = N * N / 2;

template <class T> struct alignas(2 * sizeof(T)) Pair {
  T re, im;
};

template <class R> PLAQ_FN typename scalar_of<R>::type get_lane(const R& v, int lane) {
  if constexpr (lanes<R>::W == 1) return v;
  else return v[lane];
}
template <class R, class T> PLAQ_FN void set_lane(R& v, int lane, T x) {
  if constexpr (lanes<R>::W == 1) v = x;
  else v[lane] = x;
}

// Number of sites of a slice on this rank, and number of slices of this rank.
PLAQ_FN i64 slice_sites(const FourierArgs& a) {
  i64 n = 1;
  PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) n *= mu == a.fix.time() ? 1 : local_extent(a.fix.geom, mu);
  return n;
}
PLAQ_FN i64 all_sites(const FourierArgs& a) { return slice_sites(a) * local_extent(a.fix.geom, a.fix.time()); }

// Position of a lane of site s in an array.
PLAQ_FN i64 array_index(const FourierArgs& a, const Site& s, int lane) {
  const int time = a.fix.time();
  const Geom& g = a.fix.geom;
  i64 i = global_coordinate(g, s, lane, time) - g.origin[time];
  PLAQ_UNROLL for (int mu = 3; mu >= 0; mu--)
    if (mu != time) i = i * local_extent(g, mu) + global_coordinate(g, s, lane, mu) - g.origin[mu];
  return i;
}

// Loads M of a site's numbers for W lanes from an array.
template <class T, class R, int M> PLAQ_FN void load_algebra(R (&h)[M], const char* array, const FourierArgs& a, const Site& s) {
  const i64 sites = all_sites(a);
  PLAQ_UNROLL for (int lane = 0; lane < lanes<R>::W; lane++) {
    const Pair<T>* at = (const Pair<T>*)array + array_index(a, s, s.lx + lane);
    PLAQ_UNROLL for (int k = 0; k < M; k += 2) {
      const Pair<T> z = at[k / 2 * sites];
      set_lane(h[k], lane, z.re);
      if (k + 1 < M) set_lane(h[k + 1], lane, z.im);
    }
  }
}
template <class T, class R, int M> PLAQ_FN void store_algebra(const R (&h)[M], char* array, const FourierArgs& a, const Site& s) {
  const i64 sites = all_sites(a);
  PLAQ_UNROLL for (int lane = 0; lane < lanes<R>::W; lane++) {
    Pair<T>* at = (Pair<T>*)array + array_index(a, s, s.lx + lane);
    PLAQ_UNROLL for (int k = 0; k < M; k += 2) at[k / 2 * sites] = {get_lane(h[k], lane), k + 1 < M ? get_lane(h[k + 1], lane) : T(0)};
  }
}

// The gradient -Delta, Eq. (6), from w = g K, whose part w - w^dagger is 2i Delta: along exp(i
// sum_a h_a T_a) g the sum of traces over links grows by sum_a h_a G_a / 2.
template <class R> PLAQ_FN void gradient(R (&h)[8], const Su3<R>& w) {
  PLAQ_UNROLL for (int k = 0; k < 3; k++) {
    const int i = k == 2 ? 1 : 0, j = k == 0 ? 1 : 2, at = k == 0 ? 0 : 2 * k + 1;
    const cplx<R> v = conj(w.e[j][i]) - w.e[i][j];
    h[at] = v.im, h[at + 1] = v.re;
  }
  const R a = w.e[0][0].im, b = w.e[1][1].im;
  h[2] = b - a, h[7] = splat<R>(0.57735026918962576) * (w.e[2][2].im + w.e[2][2].im - a - b);
}
template <class R> PLAQ_FN void gradient(R (&h)[3], const Su2<R>& w) {
  PLAQ_UNROLL for (int k = 0; k < 3; k++) h[k] = -(w.a[k + 1] + w.a[k + 1]);
}

// Over one parity, per slice like GaugeQuality: sums of the functional, of the violation and, where
// there is a `vector`, of its product with the gradient; the largest violation.
template <int W, class S, int STORAGE> struct FourierGradient {
  typedef GaugeSite<W, S, STORAGE> At;
  typedef typename At::R R;
  typedef typename S::T T;
  static PLAQ_FN void site(const FourierArgs& a, int o, int lx, int slice, Sums<8, W>& sums) {
    const Site x = face_site(a.fix.geom, o, a.fix.time(), slice, a.fix.parity, lx);
    typename At::M g;
    load_matrix<S, At::G>(g, a.fix.g, x);
    typename At::Trace sum;
    At::gather(sum, a.fix, x, g);
    R h[generators<At::N>], v[3] = {sum.functional(), splat<R>(0), splat<R>(0)};
    gradient(h, sum.w);
    PLAQ_UNROLL for (int k = 0; k < generators<At::N>; k++) v[1] = fma_(splat<R>(0.5) * h[k], h[k], v[1]);
    if (a.write()) store_algebra<T>(h, a.gradient, a, x);
    if (a.vector) {
      R other[generators<At::N>];
      load_algebra<T>(other, a.vector, a, x);
      PLAQ_UNROLL for (int k = 0; k < generators<At::N>; k++) v[2] = fma_(h[k], other[k], v[2]);
    }
    const R zero = splat<R>(0);
    const int bit = lane_bit(a.fix.geom, a.fix.time());
    PLAQ_UNROLL for (int upper = 0; upper < (bit ? 2 : 1); upper++) {
      PLAQ_UNROLL for (int k = 0; k < 3; k++) sums.add(3 * upper + k, by_lane_bit(v[k], zero, x.lx, bit, upper));
      sums.max(6 + upper, by_lane_bit(v[1], zero, x.lx, bit, upper));
    }
  }
};

// g becomes exp(i c sum_a h_a T_a) g with c of the site's slice from `table`; where that is zero g
// stays as it is. Batches = parities.
template <int W, class S, int STORAGE> struct FourierUpdate {
  typedef GaugeSite<W, S, STORAGE> At;
  typedef typename At::R R;
  static PLAQ_FN void site(const FourierArgs& a, int o, int lx, int parity) {
    const Geom& geom = a.fix.geom;
    const Site x = site_at(geom, o, parity, lx);
    const int time = a.fix.time(), bit = lane_bit(geom, time);
    const double* step = (const double*)a.table + coordinate(x, time);
    const double lower = step[0], upper = bit ? step[extent(geom, time)] : lower;
    if (lower == 0 && upper == 0) return;
    typename At::M g, turn;
    load_matrix<S, At::G>(g, a.fix.g, x);
    R h[generators<At::N>];
    load_algebra<typename S::T>(h, a.direction, a, x);
    const R c = by_lane_bit(splat<R>(upper), splat<R>(lower), x.lx, bit, true);
    PLAQ_UNROLL for (int k = 0; k < generators<At::N>; k++) h[k] = c * h[k];
    exp_generators(turn, h);
    typename At::M moved = group_product(turn, g);
    reunitarise(moved);
    if (lower == 0 || upper == 0) moved = choose(moved, g, x.lx, bit, upper != 0);
    store_matrix<S, At::G>(moved, a.fix.g, x);
  }
};

// Element o of a slice of the arrays: sets its index i in the slice and its position `at` in the
// array; false past the end.
PLAQ_FN bool array_element(const FourierArgs& a, int o, int lx, int slice, i64& i, i64& at) {
  const i64 sites = slice_sites(a);
  i = (i64)o * PLAQ_LANES + lx;
  at = slice * sites + i;
  return i < sites;
}

// `vector` in momentum space times f = norm p2max / p^2, p2max = 4 for each direction of the
// functional; batches = slices or, with four directions, momenta of the slowest axis. Sums of
// f |vector|^2, by Parseval the product with what it is before. At p = 0 the gradient vanishes, since
// a constant transformation leaves the functional as it is; the factor 0 keeps its rounding out.
template <int W, class S, int STORAGE> struct FourierScale {
  static constexpr int N = Recon<STORAGE>::colours;
  typedef typename S::T T;
  static PLAQ_FN void site(const FourierArgs& a, int o, int lx, int slice, Sums<1, W>& sums) {
    i64 i, at;
    if (!array_element(a, o, lx, slice, i, at)) return;
    const double* sine = (const double*)a.table;
    double p2 = 0;
    int directions = 0;
    u32 rest = (u32)i;
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
      const u32 l = local_extent(a.fix.geom, mu);
      if (mu != a.fix.time()) p2 += sine[rest % l], rest /= l;
      else if (a.fix.directions() >> mu & 1) p2 += sine[slice];
      sine += l;
      directions += a.fix.directions() >> mu & 1;
    }
    const double f = p2 > 0 ? a.norm * 4 * directions / p2 : 0;
    double norm = 0;
    PLAQ_UNROLL for (int k = 0; k < algebra_arrays<N>; k++) {
      Pair<T>& z = ((Pair<T>*)a.vector)[k * all_sites(a) + at];
      const Pair<T> old = z;
      norm += (double)old.re * old.re + (double)old.im * old.im;
      z = {(T)(f * old.re), (T)(f * old.im)};
    }
    sums.v[0] += f * norm;
  }
};

// direction = c vector + d direction with the pairs c, d of the slices from `table`; sums of its
// product with the gradient, and the largest sum of its squares on a site.
template <int W, class S, int STORAGE> struct FourierDirection {
  static constexpr int N = Recon<STORAGE>::colours;
  typedef typename S::T T;
  static PLAQ_FN void site(const FourierArgs& a, int o, int lx, int slice, Sums<2, W>& sums) {
    i64 i, at;
    if (!array_element(a, o, lx, slice, i, at)) return;
    const double* table = (const double*)a.table + 2 * slice;
    const T c = (T)table[0], d = (T)table[1];
    double product = 0, square = 0;
    PLAQ_UNROLL for (int k = 0; k < algebra_arrays<N>; k++) {
      const i64 n = k * all_sites(a) + at;
      const Pair<T> z = ((const Pair<T>*)a.vector)[n], g = ((const Pair<T>*)a.gradient)[n];
      Pair<T>& s = ((Pair<T>*)a.direction)[n];
      const Pair<T> old = s, now = {fma_(c, z.re, d * old.re), fma_(c, z.im, d * old.im)};
      s = now;
      product += (double)now.re * g.re + (double)now.im * g.im;
      square += (double)now.re * now.re + (double)now.im * now.im;
    }
    sums.v[0] += product;
    sums.max(1, square);
  }
};

// Copies pairs of numbers into another order: to[i][j][k] = from[i s0 + j s1 + k s2].
template <int W, class S> struct TransposePairs {
  typedef Pair<typename S::T> P;
  static PLAQ_FN void site(const TransposeArgs& a, int o, int lx, int) {
    const i64 at = (i64)o * PLAQ_LANES + lx, rest = at / a.extents[2], i = rest / a.extents[1];
    if (i >= a.extents[0]) return;
    const i64 j = rest % a.extents[1], k = at % a.extents[2];
    ((P*)a.to)[at] = ((const P*)a.from)[i * a.strides[0] + j * a.strides[1] + k * a.strides[2]];
  }
};

}  // namespace PLAQ_NS
