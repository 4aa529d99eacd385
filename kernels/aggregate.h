// Transfer between a level of multigrid and the next coarser one (Clark et al., arXiv:1612.07873,
// section 3): null vectors that are orthonormal on each aggregate of sites, for each chirality by
// itself, stored as [site][component][vector].
#pragma once
#include "rows.h"
#include "wilson.h"

namespace PLAQ_NS {

// Spinors to vectors [site][4 spins x 3 colours][column] and back. Even sites come first; the sites of each parity are
// in the order of half their lexicographic index.
PLAQ_FN i64 aggregate_site(const Geom& g, bool whole, const Site& s, int lane, int parity) {
  const int all = local_extent(g, 0) * local_extent(g, 1) * local_extent(g, 2) * local_extent(g, 3);
  return local_index(g, s, lane) / 2 + (whole && parity ? all / 2 : 0);
}
// Parity, right-hand side and plane of an element of the launch. On a GPU right-hand sides are the fastest index of
// elements, as they are in the vector, so that a warp reads and writes whole pieces of memory in the spinors and in the
// vector.
struct AggregatePlace {
  int parity, rhs, plane;
  template <class A> PLAQ_FN AggregatePlace(const A& a, Element& o, int batch) {
    const bool both = a.parities() == 2;
#if PLAQ_GPU
    const int count = a.count(), some = count % 8 == 0 ? 8 : 4, sites = 32 / some, each = sites * count;
    if (count % some == 0 && volume(a.geom) % sites == 0) {
      const int in = (int)(o % each);
      rhs = in / 32 * some + in % some, o = o / each * sites + in % 32 / some;
    } else {
      rhs = (int)(o % count), o /= count;
    }
    parity = both ? batch : a.parity;
    plane = rhs * a.parities() + batch;
#else
    rhs = batch / a.parities(), parity = both ? batch & 1 : a.parity, plane = batch;
#endif
  }
};
template <int W, class SF, class SV> struct AggregateFromSpinors {
  typedef typename SF::C C;
  static PLAQ_FN void site(const AggregateFieldArgs& a, Element o, int lx, int batch) {
    const AggregatePlace place(a, o, batch);
    const Site s = site_at(a.geom, o, place.parity, lx);
    Spinor<C> v;
    load<SF>(v.v, plane(a.field, place.plane), s);
    if (a.project != 0) {
      // (1 -+ gamma_mu)/2
      Spinor<C> w = {};
      HalfSpinor<C> h;
      PLAQ_UNROLL for (int mu = 0; mu < 4; mu++)
        if (a.project == mu + 1) {
          const C g = (C)a.sign;
          project(h, v, mu, g, PlainSum());
          unproject(w, h, mu, (C)0.5 * g, (C)0.5);
        }
      v = w;
    }
    put(a, place, s, lx, v);
  }
  static PLAQ_FN void put(const AggregateFieldArgs& a, const AggregatePlace& place, const Site& s, int lx, const Spinor<C>& v) {
    const i64 at = aggregate_site(a.geom, a.whole, s, lx, place.parity) * 12;
#if PLAQ_GPU
    if (a.columns() == 1) {
      // Two numbers in one store.
      PLAQ_UNROLL for (int c = 0; c < 12; c += 2)
        put_pair((typename SV::T*)a.data, at + c, cplx<C>{v.v[2 * c], v.v[2 * c + 1]}, cplx<C>{v.v[2 * c + 2], v.v[2 * c + 3]});
      return;
    }
#endif
    PLAQ_UNROLL for (int c = 0; c < 12; c++)
      put_number((typename SV::T*)a.data, (at + c) * a.columns() + a.first + place.rhs,
                 cplx<typename SV::C>{(typename SV::C)v.v[2 * c], (typename SV::C)v.v[2 * c + 1]});
  }
};
// Copies spinors like AggregateFromSpinors after applying a site operator to them; they are in the vector's precision.
template <int W, class S, class SA> struct AggregateFromSpinorsTimes {
  static PLAQ_FN void site(const AggregateSiteArgs& a, Element o, int lx, int batch) {
    const AggregatePlace place(a.to, o, batch);
    const Site s = site_at(a.to.geom, o, place.parity, lx);
    Spinor<typename S::C> v;
    Spinor<typename SA::C> w;
    load<S>(v.v, plane(a.to.field, place.plane), s);
    PLAQ_UNROLL for (int i = 0; i < 24; i++) w.v[i] = (typename SA::C)v.v[i];
    apply_site<SA>(w, a.site(), a.clover, s, place.parity, a.twist, a.twist_scale);
    PLAQ_UNROLL for (int i = 0; i < 24; i++) v.v[i] = (typename S::C)w.v[i];
    AggregateFromSpinors<W, S, S>::put(a.to, place, s, lx, v);
  }
};
template <int W, class SF, class SV> struct AggregateToSpinors {
  typedef typename SF::C C;
  static PLAQ_FN void site(const AggregateFieldArgs& a, Element o, int lx, int batch) {
    const AggregatePlace place(a, o, batch);
    const Site s = site_at(a.geom, o, place.parity, lx);
    const i64 at = aggregate_site(a.geom, a.whole, s, lx, place.parity) * 12;
    Spinor<C> v;
    PLAQ_UNROLL for (int c = 0; c < 12; c++) {
      const cplx<C> z = number<C>((const typename SV::T*)a.data, (at + c) * a.columns() + a.first + place.rhs);
      const bool in = a.chirality == 0 || (c < 6) == (a.chirality == 1);
      v.v[2 * c] = in ? z.re : 0, v.v[2 * c + 1] = in ? z.im : 0;
    }
    store<SF>(v.v, plane(a.field, place.plane), s);
  }
};

// The term of the hop that comes from x + mu, for sites whose neighbour x + mu is in another aggregate on this rank.
// The vector has the columns of `in`; other sites stay as they are.
template <int W, class S, int RECON> struct AggregateHop {
  typedef typename S::C C;
  static PLAQ_FN void site(const AggregateHopArgs& a, Element o, int lx, int batch) {
    const int columns = a.hop.nrhs();
#if PLAQ_GPU
    const int rhs = (int)(o % columns), parity = batch;
    o /= columns;
#else
    const int rhs = batch / 2, parity = batch & 1;
#endif
    const Site s = site_at(a.hop.geom, o, parity, lx);
    const i64 at = aggregate_site(a.hop.geom, true, s, lx, parity);
    if (!(((const int*)a.faces)[at] >> (2 * a.mu + 1) & 1)) return;
    const Plane in = plane(a.hop.inp, 2 * rhs + 1 - parity);
    Spinor<C> v = {};
    PLAQ_UNROLL for (int mu = 0; mu < 4; mu++) {
      if (a.mu != mu) continue;
#if PLAQ_GPU
      hop_direction<S, RECON>(v, a.hop, s, in, rhs, mu, true, a.hop.coef[mu], false);
#else
      hop_direction<true, S, RECON>(v, a.hop, s, in, rhs, mu, true, (C)1, a.hop.coef[mu], false);
#endif
    }
    PLAQ_UNROLL for (int c = 0; c < 12; c++)
      put_number((C*)a.data, (at * 12 + c) * columns + rhs, cplx<C>{v.v[2 * c], v.v[2 * c + 1]});
  }
};

// The numbers in which null vectors are stored. In cycles they may have 16 bits, since components of orthonormal
// vectors are at most 1: integers over 32767 on a CPU. Or they are integers of 8 bits, on a GPU plus 128, times a scale
// that all vectors' numbers of a component share.
template <class SV, class SC, class L> struct AggregateTypes {
  typedef typename SV::T T;
  typedef typename SC::T TC;
  typedef typename real_wider<typename SV::C, typename SC::C>::type C;
  static constexpr C unit = sizeof(L) == 2 ? (C)1 / 32767 : (C)1;
  // Scale of component `at`, counted over all sites.
  static PLAQ_FN C scale(const AggregateArgs& a, i64 at) { return sizeof(L) == 1 ? (C)((const float*)a.scales)[at] : unit; }
};
// Converts null vectors to 8 bits; an element is the numbers of a component. On a GPU four of them
// are read and written at a time.
template <int W, class S> struct AggregateShortenByte {
  template <class V, int N> struct alignas(N * sizeof(V)) Several {
    V v[N];
  };
  static PLAQ_FN void site(const CoarseShortenArgs& a, Element o, int lx, int) {
    if (lx != 0) return;
    if (PLAQ_GPU && a.rows() % 2 == 0) {
      shorten<4>(a, o);
    } else {
      shorten<1>(a, o);
    }
  }
  template <int N> static PLAQ_FN void shorten(const CoarseShortenArgs& a, Element o) {
    const int n = 2 * a.rows() / N;
    const auto* from = (const Several<typename S::T, N>*)a.inp + (i64)n * o;
    auto* to = (Several<signed char, N>*)a.out + (i64)n * o;
    float max = 0;
    for (int i = 0; i < n; i++) {
      const Several<typename S::T, N> some = from[i];
      PLAQ_UNROLL for (int k = 0; k < N; k++) max = vmax(max, vabs((float)some.v[k]));
    }
    const float over = max > 0 ? 127.0f / max : 0.0f;
    for (int i = 0; i < n; i++) {
      const Several<typename S::T, N> some = from[i];
      Several<signed char, N> out;
      PLAQ_UNROLL for (int k = 0; k < N; k++) {
        const float v = (float)some.v[k] * over;
        out.v[k] = (signed char)((int)(v + (v < 0 ? -0.5f : 0.5f)) + (PLAQ_GPU ? 128 : 0));
      }
      to[i] = out;
    }
    ((float*)a.scales)[o] = max / 127.0f;
  }
};
template <int W, class S> struct AggregateShorten {
  static PLAQ_FN void site(const CoarseShortenArgs& a, Element o, int lx, int) {
    const typename S::T* from = (const typename S::T*)a.inp;
#if PLAQ_GPU
    ((u32*)a.out)[o] = to_halves({(float)from[2 * (i64)o], (float)from[2 * (i64)o + 1]});
#else
    if (lx != 0) return;
    short* to = (short*)a.out;
    for (i64 i = (i64)2 * o * a.rows(); i < (i64)2 * (o + 1) * a.rows(); i++) {
      const float v = (float)from[i] * 32767.0f;
      to[i] = (short)(int)(v + (v < 0 ? -0.5f : 0.5f));
    }
#endif
  }
};

// coarse(aggregate, vector, column) = sum of conj(v) fine over sites of the aggregate and components of a chirality,
// for restriction, Gram matrices and coarse links. Only sites with a number below `limit` are summed over, and with
// `face` only those at that face of the aggregate.
template <int W, class SV, class SC, class L = typename SV::T> struct AggregateRestrict : AggregateTypes<SV, SC, L> {
  typedef AggregateTypes<SV, SC, L> Types;
  typedef typename Types::T T;
  typedef typename Types::TC TC;
  typedef typename Types::C C;
  // Calls f(number) for every site and component of the chirality.
  template <class F> static PLAQ_FN void each_number(const AggregateArgs& a, i64 aggregate, int chirality, const F& f) {
    each_site(a, aggregate, chirality, [&](i64 at) {
      for (int c = 0; c < a.m(); c++) f(at + c);
    });
  }
  template <class F> static PLAQ_FN void each_site(const AggregateArgs& a, i64 aggregate, int chirality, const F& f) {
    const int* sites = (const int*)a.sites + aggregate * a.block();
    for (int k = 0; k < a.block(); k++) {
      const int x = sites[k];
      if (x >= a.limit) break;
      if (a.face != 0 && !(((const int*)a.faces)[x] & a.face)) continue;
      f(((i64)2 * x + chirality) * a.m());
    }
  }
#if PLAQ_GPU
  // Computes K rows and B columns of the result in one thread.
  template <int B, int K = 1> static PLAQ_FN void some_columns(const AggregateArgs& a, Element o) {
    const int n = a.n(), columns = a.columns(), groups = columns / B, pieces = 2 * n / K;
    int row = (int)(o % pieces) * K, col = (int)((o / pieces) % groups) * B;
    i64 aggregate = o / pieces / groups;
    if (a.upper()) {
      // Of the upper triangle, the group of B columns from `col` on has col + B rows of each chirality; `row` counts
      // the rows of all groups.
      const int pairs = B * groups * (groups + 1) / K;
      aggregate = o / pairs, row = (int)(o % pairs) * K, col = 0;
      for (; row >= 2 * (col + B); col += B) row -= 2 * (col + B);
      if (row >= col + B) row += n - (col + B);
    }
    const int i = row % n;
    cplx<C> sum[K][B];
    PLAQ_UNROLL for (int k = 0; k < K; k++) PLAQ_UNROLL for (int b = 0; b < B; b++) sum[k][b] = {0, 0};
    const auto add = [&](i64 at) {
      cplx<C> p[K], z[B];
      numbers((const L*)a.v, at * n + i, p);
      numbers((const T*)a.fine, at * columns + col, z);
      if constexpr (sizeof(L) == 1) {
        const C scale = Types::scale(a, at);
        PLAQ_UNROLL for (int b = 0; b < B; b++) z[b] = scale * z[b];
      }
      PLAQ_UNROLL for (int k = 0; k < K; k++)
        PLAQ_UNROLL for (int b = 0; b < B; b++) sum[k][b] = madd_conj(sum[k][b], p[k], z[b]);
    };
    if constexpr (K < AGGREGATE_VECTORS) {
      each_number(a, aggregate, row / n, add);
    } else {
      // Loads of some components are in flight at a time, as far as registers allow.
      constexpr int some = sizeof(C) == 4 ? 3 : 1;
      each_site(a, aggregate, row / n, [&](i64 at) {
        _Pragma("unroll some") for (int c = 0; c < a.m(); c++) add(at + c);
      });
    }
    PLAQ_UNROLL for (int k = 0; k < K; k++)
      PLAQ_UNROLL for (int b = 0; b < B; b++)
        put_number((TC*)a.coarse, aggregate * a.step_site + (row + k) * a.step_row + (col + b) * a.step_column, sum[k][b]);
  }
#endif
  static PLAQ_FN void site(const AggregateArgs& a, Element o, int lx, int) {
    const int n = a.n(), columns = a.columns();
    const L* v = (const L*)a.v;
    const T* fine = (const T*)a.fine;
    TC* coarse = (TC*)a.coarse;
#if PLAQ_GPU
    // A thread takes AGGREGATE_COLUMNS columns where that number divides all columns.
    if (columns % AGGREGATE_COLUMNS == 0) {
      if (a.vectors() == AGGREGATE_VECTORS) some_columns<AGGREGATE_COLUMNS, AGGREGATE_VECTORS>(a, o);
      else some_columns<AGGREGATE_COLUMNS>(a, o);
    } else if (a.vectors() == 2) some_columns<1, 2>(a, o);
    else some_columns<1>(a, o);
#else
    if (lx != 0) return;
    constexpr int V = W < 2 ? 2 : W;
    const i64 aggregate = o / 2;
    const int chirality = (int)(o & 1);
    const auto store = [&](int i, int j, C re, C im) {
      TC* at = coarse + 2 * (aggregate * a.step_site + (chirality * n + i) * a.step_row + j * a.step_column);
      at[0] = (TC)re, at[1] = (TC)im;
    };
    if (2 * columns < V) {
      for (int j = 0; j < columns; j++)
        strips<4 * V>(2 * n, [&](auto width, int from) {
          Tile<C, W, decltype(width)::value, 1> tile;
          each_number(a, aggregate, chirality, [&](i64 at) { tile.add(v + 2 * at * n + from, fine + 2 * (at * columns + j), 1, Types::scale(a, at)); });
          for (int k = 0; k < tile.K; k++) {
            const auto r = tile.conj_vector(0, k);
            for (int i = 0; i < tile.V; i += 2) store((from + k * tile.V + i) / 2, j, r[i], r[i + 1]);
          }
        });
      return;
    }
    const auto some = [&](auto count, int i0) {
      constexpr int N = decltype(count)::value;
      strips<2 * V>(2 * columns, [&](auto width, int from) {
        Tile<C, W, decltype(width)::value, N> tile;
        each_number(a, aggregate, chirality, [&](i64 at) { tile.add(fine + 2 * at * columns + from, v + 2 * (at * n + i0), 1, Types::scale(a, at)); });
        for (int t = 0; t < N; t++)
          for (int k = 0; k < tile.K; k++) {
            const auto r = tile.conj_scalar(t, k);
            for (int j = 0; j < tile.V; j += 2) store(i0 + t, (from + k * tile.V + j) / 2, r[j], r[j + 1]);
          }
      });
    };
    int i = 0;
    for (; i + 4 <= n; i += 4) some(Width<4>{}, i);
    for (; i < n; i++) some(Width<1>{}, i);
#endif
  }
};
template <int W, class SV, class SC> struct AggregateRestrictShort : AggregateRestrict<W, SV, SC, short> {};
template <int W, class SV, class SC> struct AggregateRestrictByte : AggregateRestrict<W, SV, SC, signed char> {};

// fine(site, component, column) = sum over vectors of v coarse(aggregate, vector, column), optionally added to what is
// there.
template <int W, class SV, class SC, class L = typename SV::T> struct AggregateProlong : AggregateTypes<SV, SC, L> {
  typedef AggregateTypes<SV, SC, L> Types;
  typedef typename Types::T T;
  typedef typename Types::TC TC;
  typedef typename Types::C C;
#if PLAQ_GPU
  template <int B> static PLAQ_FN void put_columns(T* to, i64 at, cplx<C> (&v)[B], C scale) {
    if constexpr (sizeof(L) == 1) {
      PLAQ_UNROLL for (int b = 0; b < B; b++) v[b] = scale * v[b];
    }
    if constexpr (B % 2 == 0) {
      PLAQ_UNROLL for (int b = 0; b < B; b += 2) put_pair(to, at + b, v[b], v[b + 1]);
    } else {
      PLAQ_UNROLL for (int b = 0; b < B; b++) put_number(to, at + b, v[b]);
    }
  }
  // Computes B columns in one thread, from K vectors at a time.
  template <int B, int K> static PLAQ_FN void some_columns(const AggregateArgs& a, Element o) {
    const int n = a.n(), m = a.m(), columns = a.columns(), groups = columns / B;
    const int j = (int)(o % groups) * B, c = (int)((o / groups) % (2 * m));
    const i64 x = o / groups / (2 * m), at = x * 2 * m + c;
    const i64 from = ((i64)((const int*)a.sites)[x] * 2 + c / m) * n;
    cplx<C> sum[B];
    PLAQ_UNROLL for (int b = 0; b < B; b++) sum[b] = {0, 0};
    for (int i = 0; i < n; i += K) {
      // Where one factor has several numbers, the other one has a single one.
      cplx<C> p[K], z[B * K];
      numbers((const L*)a.v, at * n + i, p);
      numbers((const TC*)a.coarse, (from + i) * columns + j, z);
      PLAQ_UNROLL for (int b = 0; b < B * K; b++) sum[b % B] = madd(sum[b % B], p[b % K], z[b]);
    }
    put_columns<B>((T*)a.fine, at * columns + j, sum, Types::scale(a, at));
  }
  // Computes R components of a chirality and B columns in one thread, which needs few loads for its arithmetic. The
  // numbers of K vectors fill half a sector of memory or a whole one.
  template <int B, int R, int K> static PLAQ_FN void some_rows(const AggregateArgs& a, Element o) {
    const int n = a.n(), m = a.m(), columns = a.columns(), groups = columns / B;
    const int j = (int)(o % groups) * B, rows = a.upper() && j + B < n ? j + B : n, c = (int)((o / groups) % (2 * m / R)) * R;
    const i64 x = o / groups / (2 * m / R), at = x * 2 * m + c;
    const i64 from = ((i64)((const int*)a.sites)[x] * 2 + c / m) * n;
    cplx<C> sum[R][B];
    PLAQ_UNROLL for (int r = 0; r < R; r++) PLAQ_UNROLL for (int b = 0; b < B; b++) sum[r][b] = {0, 0};
    for (int i = 0; i < rows; i += K) {
      cplx<C> z[K][B];
      PLAQ_UNROLL for (int k = 0; k < K; k++) numbers((const TC*)a.coarse, (from + i + k) * columns + j, z[k]);
      PLAQ_UNROLL for (int r = 0; r < R; r++) {
        cplx<C> p[K];
        numbers((const L*)a.v, (at + r) * n + i, p);
        PLAQ_UNROLL for (int k = 0; k < K; k++)
          PLAQ_UNROLL for (int b = 0; b < B; b++) sum[r][b] = madd(sum[r][b], p[k], z[k][b]);
      }
    }
    PLAQ_UNROLL for (int r = 0; r < R; r++) put_columns<B>((T*)a.fine, (at + r) * columns + j, sum[r], Types::scale(a, at + r));
  }
#endif
  static PLAQ_FN void site(const AggregateArgs& a, Element o, int lx, int) {
    const int n = a.n(), m = a.m(), columns = a.columns();
    const L* v = (const L*)a.v;
    T* fine = (T*)a.fine;
#if PLAQ_GPU
    // In double one column is faster.
    if (sizeof(C) == 4 && columns % AGGREGATE_COLUMNS == 0 && m % AGGREGATE_ROWS == 0) {
      if (n % 4 == 0) some_rows<AGGREGATE_COLUMNS, AGGREGATE_ROWS, 4>(a, o);
      else if (n % 2 == 0) some_rows<AGGREGATE_COLUMNS, AGGREGATE_ROWS, 2>(a, o);
      else some_rows<AGGREGATE_COLUMNS, AGGREGATE_ROWS, 1>(a, o);
    } else if (sizeof(C) == 4 && columns % AGGREGATE_COLUMNS == 0) some_columns<AGGREGATE_COLUMNS, 1>(a, o);
    else if (columns == 1 && n % 8 == 0 && sizeof(L) == 1) some_columns<1, 8>(a, o);
    else if (columns == 1 && n % 4 == 0 && sizeof(L) <= 2) some_columns<1, 4>(a, o);
    else if (columns == 1 && n % 2 == 0) some_columns<1, 2>(a, o);
    else some_columns<1, 1>(a, o);
#else
    if (lx != 0) return;
    constexpr int V = W < 2 ? 2 : W;
    const i64 aggregate = ((const int*)a.sites)[o];
    for (int chirality = 0; chirality < 2; chirality++) {
      const TC* in = (const TC*)a.coarse + 2 * (aggregate * 2 + chirality) * n * columns;
      const i64 at = ((i64)2 * o + chirality) * m;
      if (2 * columns < V) {
        for (int j = 0; j < columns; j++)
          for (int c = 0; c < m; c++) {
            const L* row = v + 2 * (at + c) * n;
            C re = 0, im = 0;
            if (columns == 1) {
              typedef real<C, V> R;
              R p = {}, q = {};
              int i = 0;
              for (; i + V <= 2 * n; i += V) {
                const R r = lane_io<L, R>::load(row + i), z = lane_io<TC, R>::load(in + i);
                p = fma_(r, z, p), q = fma_(r, lane_xor(z, 1), q);
              }
              for (int k = 0; k < V; k += 2) re += p[k] - p[k + 1], im += q[k] + q[k + 1];
              for (; i < 2 * n; i += 2) {
                const C vr = (C)row[i], vi = (C)row[i + 1], zr = (C)in[i], zi = (C)in[i + 1];
                re += vr * zr - vi * zi, im += vr * zi + vi * zr;
              }
            } else {
              for (int i = 0; i < n; i++) {
                const cplx<C> p = number<C>(row, i), z = number<C>(in, i * columns + j);
                re += p.re * z.re - p.im * z.im, im += p.re * z.im + p.im * z.re;
              }
            }
            const C scale = Types::scale(a, at + c);
            put_number(fine, (at + c) * columns + j, cplx<C>{scale * re, scale * im});
          }
        continue;
      }
      const auto some = [&](auto count, int c0) {
        constexpr int N = decltype(count)::value;
        strips<2 * V>(2 * columns, [&](auto width, int from) {
          Tile<C, W, decltype(width)::value, N> tile;
          for (int i = 0; i < n; i++) tile.add(in + (i64)2 * i * columns + from, v + 2 * ((at + c0) * n + i), n);
          for (int t = 0; t < N; t++)
            for (int k = 0; k < tile.K; k++) {
              const auto sum = tile.plain(t, k) * Types::scale(a, at + c0 + t);
              lane_io<T, typename decltype(tile)::R>::store(fine + 2 * (at + c0 + t) * columns + from + k * tile.V, sum);
            }
        });
      };
      int c = 0;
      for (; c + 4 <= m; c += 4) some(Width<4>{}, c);
      for (; c < m; c++) some(Width<1>{}, c);
    }
#endif
  }
};

template <int W, class SV, class SC> struct AggregateProlongShort : AggregateProlong<W, SV, SC, short> {};
template <int W, class SV, class SC> struct AggregateProlongByte : AggregateProlong<W, SV, SC, signed char> {};

// For Gram matrices G = R^dagger R, one per aggregate and chirality: writes R^-1 in place and R itself at `fine`, if
// there is such an array; both are upper triangular. Sum: the number of matrices with a vector that depends on those
// before it. Maximum: |vector|^2 divided by what is left of it after orthogonalisation.
template <int W> struct AggregateCholesky {
  static PLAQ_FN bool independent(const AggregateArgs& a, double before, double left) {
    return left > before * a.tiny && before > 0 && before < 1e300;
  }
#if PLAQ_GPU
  // A warp shares a matrix: a lane has columns lane, lane + 32, ... of R, and the same rows of
  // R^-1.
  static PLAQ_FN void site(const AggregateArgs& a, Element o, int, int, Sums<2, W>& s) {
    constexpr unsigned all = 0xffffffffu;
    constexpr int U = 8;
    const int n = a.n(), lane = (int)(o & 31);
    double2* const g = (double2*)a.coarse + (i64)(o >> 5) * n * n;
    for (int k = 0; k < n; k++) {
      // What the elimination of the rows above has subtracted from the diagonal element.
      double taken = 0;
      for (int i = lane; i < k; i += 32) taken += g[i * n + k].x * g[i * n + k].x + g[i * n + k].y * g[i * n + k].y;
      for (int x = 16; x > 0; x /= 2) taken += __shfl_xor_sync(all, taken, x);
      double left = g[k * n + k].x;
      const double before = left + taken;
      if (independent(a, before, left)) {
        if (lane == 0) s.v[1] = vmax(s.v[1], before / left);
      } else {
        if (lane == 0) s.v[0] += 1;
        left = 1;
      }
      const double root = vsqrt(left);
      __syncwarp();
      for (int j = k + lane; j < n; j += 32) {
        const double2 z = g[k * n + j];
        g[k * n + j] = j == k ? double2{root, 0} : double2{z.x / root, z.y / root};
      }
      __syncwarp();
      for (int j = k + 1 + lane; j < n; j += 32) {
        const double2 p = g[k * n + j];
        for (int first = k + 1; first <= j; first += U) {
          double2 f[U], z[U];
          PLAQ_UNROLL for (int u = 0; u < U; u++) {
            const int i = first + u;
            f[u] = i <= j ? g[k * n + i] : double2{0, 0};
            z[u] = i <= j ? g[i * n + j] : double2{0, 0};
          }
          PLAQ_UNROLL for (int u = 0; u < U; u++) {
            if (first + u > j) continue;
            g[(first + u) * n + j] = {z[u].x - (f[u].x * p.x + f[u].y * p.y), z[u].y - (f[u].x * p.y - f[u].y * p.x)};
          }
        }
      }
      __syncwarp();
    }
    if (a.fine) {
      double2* const factor = (double2*)a.fine + (i64)(o >> 5) * n * n;
      for (int i = lane; i < n * n; i += 32) factor[i] = i / n <= i % n ? g[i] : double2{0, 0};
    }
    // Column j of R^-1 is that of R times the columns of R^-1 before it.
    for (int j = 0; j < n; j++) {
      const double d = 1 / g[j * n + j].x;
      for (int first = 0; first < j; first += 32) {
        const int i = first + lane;
        double x = 0, y = 0;
        for (int k = i; k < j; k++) {
          const double2 t = g[i * n + k], r = g[k * n + j];
          x -= t.x * r.x - t.y * r.y, y -= t.x * r.y + t.y * r.x;
        }
        // Rows that come later need nothing of this column.
        __syncwarp();
        if (i < j) g[i * n + j] = {x * d, y * d};
      }
      __syncwarp();
      for (int i = j + lane; i < n; i += 32) g[i * n + j] = {i == j ? d : 0, 0};
      __syncwarp();
    }
  }
#else
  static PLAQ_FN void site(const AggregateArgs& a, Element o, int lx, int, Sums<2, W>& s) {
    if (lx != 0) return;
    const int n = a.n();
    double* g = (double*)a.coarse + (i64)2 * o * n * n;
    const auto re = [&](int r, int c) -> double& { return g[2 * (r * n + c)]; };
    const auto im = [&](int r, int c) -> double& { return g[2 * (r * n + c) + 1]; };
    double worst = 0;
    for (int j = 0; j < n; j++) {
      // Column j of R above the diagonal, then what is left of the diagonal.
      const double before = re(j, j);
      for (int i = 0; i < j; i++) {
        double x = re(i, j), y = im(i, j);
        for (int k = 0; k < i; k++) {
          x -= re(k, i) * re(k, j) + im(k, i) * im(k, j);
          y -= re(k, i) * im(k, j) - im(k, i) * re(k, j);
        }
        re(i, j) = x / re(i, i), im(i, j) = y / re(i, i);
      }
      double left = before;
      for (int k = 0; k < j; k++) left -= re(k, j) * re(k, j) + im(k, j) * im(k, j);
      if (independent(a, before, left)) {
        worst = vmax(worst, before / left);
      } else {
        s.v[0] += 1;
        left = 1;
      }
      re(j, j) = vsqrt(left), im(j, j) = 0;
    }
    s.v[1] = vmax(s.v[1], splat<real<double, W>>(worst));
    if (a.fine) {
      double* factor = (double*)a.fine + (i64)2 * o * n * n;
      for (int i = 0; i < 2 * n * n; i++) factor[i] = i / 2 / n <= i / 2 % n ? g[i] : 0;
    }
    // R^-1 row by row from the last column backward.
    for (int j = n - 1; j >= 0; j--) {
      const double d = 1 / re(j, j);
      // Column j of the inverse needs R's columns up to j and the inverse's rows: solve R t = e_j.
      for (int i = j - 1; i >= 0; i--) {
        double x = -re(i, j) * d, y = -im(i, j) * d;
        for (int k = i + 1; k < j; k++) {
          x -= re(i, k) * re(k, j) - im(i, k) * im(k, j);
          y -= re(i, k) * im(k, j) + im(i, k) * re(k, j);
        }
        re(i, j) = x / re(i, i), im(i, j) = y / re(i, i);
      }
      re(j, j) = d;
      for (int i = j + 1; i < n; i++) re(i, j) = 0, im(i, j) = 0;
    }
  }
#endif
};

}  // namespace PLAQ_NS
