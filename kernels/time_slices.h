// Vectors on time slices: products of pairs and linear combinations of colour vectors, factors of spinors that depend
// on time. Times are those of the lanes' pieces; where time is split over lanes, the lanes of the upper half have
// another time slice (contract.h).
#pragma once
#include "contract.h"

namespace PLAQ_NS {

// Sums conj(v_i) w_j over a time slice, for 4 vectors i and 4 vectors j, row by row. A batch is, fastest first, such a
// tile (columns fastest), parity, time. Vectors beyond the counts are not read; their sums mean nothing.
template <int W, class S> struct TimeSliceDots {
  typedef real<typename S::C, W> R;
  static PLAQ_FN void site(const TimeSliceArgs& a, int o, int lx, int batch, Sums<64, W>& sums) {
    const int across = (a.columns + 3) / 4, tiles = across * ((a.rows + 3) / 4);
    const int tile = batch % tiles, parity = batch / tiles & 1, row = tile / across * 4, column = tile % across * 4;
    const Site x = site_at(a.geom, o + (a.slice + batch / (2 * tiles)) * slice_sites(a.geom), parity, lx);
    R v[4][6];
    PLAQ_UNROLL for (int i = 0; i < 4; i++) load<S>(v[i], plane(a.v, 2 * (row + i < a.rows ? row + i : row) + parity), x);
    PLAQ_UNROLL for (int j = 0; j < 4; j++) {
      if (column + j >= a.columns) continue;
      R w[6];
      load<S>(w, plane(a.w, 2 * (column + j) + parity), x);
      PLAQ_UNROLL for (int i = 0; i < 4; i++) {
        cplx<R> s = {splat<R>(0), splat<R>(0)};
        PLAQ_UNROLL for (int c = 0; c < 6; c += 2) s = madd_conj(s, cplx<R>{v[i][c], v[i][c + 1]}, cplx<R>{w[c], w[c + 1]});
        add_by_half(sums, a.geom, 4 * i + j, s, lx);
      }
    }
  }
};

// w_j = (w_j with `add` +) sum_i v_i c_ij(t) for 4 vectors j, or with `diagonal` v_j c_jj(t) for the sum. A batch is a
// parity of these. c: complex doubles, times of this rank slowest, then i (without `diagonal`), then j.
template <int W, class S> struct TimeSliceUpdate {
  typedef real<typename S::C, W> R;
  typedef typename S::C C;
  static PLAQ_FN void site(const TimeSliceArgs& a, int o, int lx, int batch) {
    const int parity = batch & 1, column = batch / 2 * 4, time = o / slice_sites(a.geom), split = a.geom.lane_t();
    const int count = a.columns - column < 4 ? a.columns - column : 4, rows = a.diagonal() ? 1 : a.rows;
    const Site x = site_at(a.geom, o, parity, lx);
    // Times of the upper lanes follow those of the piece.
    const i64 all = 2 * (i64)rows * a.columns, upper = split ? a.geom.t() * all : 0;
    const double* coef = (const double*)a.coef + time * all + 2 * column;
    R w[4][6], v[6];
    PLAQ_UNROLL for (int j = 0; j < 4; j++) {
      PLAQ_UNROLL for (int c = 0; c < 6; c++) w[j][c] = splat<R>(0);
      if (a.add() && j < count) load<S>(w[j], plane(a.w, 2 * (column + j) + parity), x);
    }
    for (int i = 0; i < rows; i++, coef += 2 * a.columns) {
      if (!a.diagonal()) load<S>(v, plane(a.v, 2 * i + parity), x);
      PLAQ_UNROLL for (int j = 0; j < 4; j++) {
        if (j >= count) continue;
        if (a.diagonal()) load<S>(v, plane(a.v, 2 * (column + j) + parity), x);
        cplx<R> z;
        z.re = by_lane_bit(splat<R>((C)coef[2 * j]), splat<R>((C)coef[upper + 2 * j]), lx, split, false);
        z.im = by_lane_bit(splat<R>((C)coef[2 * j + 1]), splat<R>((C)coef[upper + 2 * j + 1]), lx, split, false);
        PLAQ_UNROLL for (int c = 0; c < 6; c += 2) {
          const cplx<R> s = madd(cplx<R>{w[j][c], w[j][c + 1]}, z, cplx<R>{v[c], v[c + 1]});
          w[j][c] = s.re, w[j][c + 1] = s.im;
        }
      }
    }
    PLAQ_UNROLL for (int j = 0; j < 4; j++)
      if (j < count) store<S>(w[j], plane(a.w, 2 * (column + j) + parity), x);
  }
};

// w = c(t) v for spinors; w and v may be the same field. A batch is a plane. There is one factor, a double, for each
// time of this rank.
template <int W, class S> struct TimeSliceScale {
  typedef real<typename S::C, W> R;
  typedef typename S::C C;
  static PLAQ_FN void site(const TimeSliceArgs& a, int o, int lx, int batch) {
    const Site x = site_at(a.geom, o, 0, lx);
    const int time = o / slice_sites(a.geom), split = a.geom.lane_t();
    const double* coef = (const double*)a.coef + time;
    const R c = by_lane_bit(splat<R>((C)coef[0]), splat<R>((C)coef[split ? a.geom.t() : 0]), lx, split, false);
    R v[24];
    load<S>(v, plane(a.v, batch), x);
    PLAQ_UNROLL for (int i = 0; i < 24; i++) v[i] = c * v[i];
    store<S>(v, plane(a.w, batch), x);
  }
};

}  // namespace PLAQ_NS
